//! Types and index sets of higher-order Core under an environment.

use std::rc::Rc;

use adl_core::ir::{Atom, TypeBody, Var};
use adl_core::prim;
use adl_core::ty::{Ix, Poly, SizeAtom, Ty, TyArg, TyVar, TypeId};
use adl_diag::Code;

use super::shape::{IxShape, Shape, TyVal, Val};
use super::{Env, Result, Spec};

impl Spec<'_> {
    /// The value of a size polynomial.
    pub(crate) fn poly(&mut self, p: &Poly, env: &Env) -> Result<Atom> {
        let mut total = Atom::int(0);
        for m in &p.0 {
            let mut product = Atom::int(m.coef);
            for a in &m.atoms {
                let a = self.size_atom(a, env)?;
                product = self.size_prim(&prim::MUL, &[product, a]);
            }
            total = self.size_prim(&prim::ADD, &[total, product]);
        }
        Ok(total)
    }

    fn size_atom(&mut self, a: &SizeAtom, env: &Env) -> Result<Atom> {
        match a {
            SizeAtom::Var(v) => {
                let val = self.var(v, env)?;
                Ok(val.leaves[0].clone())
            }
            SizeAtom::Param(t) => match env.ty(t) {
                Some(TyVal::Size(a)) => Ok(a.clone()),
                Some(TyVal::Ix(ix)) => {
                    let ix = ix.clone();
                    Ok(ix.size())
                }
                Some(TyVal::Ty(_)) | None => panic!("size parameter `{}` has no value", t.0.name),
            },
        }
    }

    pub(crate) fn ix(&mut self, ix: &Ix, env: &Env) -> Result<IxShape> {
        Ok(match ix {
            Ix::Fin(Atom::Var(v)) => IxShape::Fin(self.var(v, env)?.leaves[0].clone()),
            Ix::Fin(a) => IxShape::Fin(a.clone()),
            Ix::Poly(p) => IxShape::Fin(self.poly(p, env)?),
            Ix::Unit => IxShape::Unit,
            Ix::Bool => IxShape::Bool,
            Ix::Enum(id) => IxShape::Enum(*id, self.n_constructors(*id)),
            Ix::Tuple(xs) => {
                let mut out = vec![];
                for x in xs {
                    out.push(self.ix(x, env)?);
                }
                self.tuple_ix(out)
            }
            Ix::Var(t) => match env.ty(t) {
                Some(TyVal::Ix(ix)) => ix.clone(),
                Some(TyVal::Ty(_) | TyVal::Size(_)) | None => {
                    panic!("index set `{}` has no value", t.0.name)
                }
            },
        })
    }

    /// The set of tuples of these sets.
    pub(crate) fn tuple_ix(&mut self, parts: Vec<IxShape>) -> IxShape {
        let mut total = Atom::int(1);
        for x in &parts {
            total = self.size_prim(&prim::MUL, &[total, x.size()]);
        }
        IxShape::Tuple(parts, total)
    }

    /// The index set whose indices have this type.
    pub(crate) fn ix_of_ty(&mut self, ty: &Ty, env: &Env) -> Result<IxShape> {
        if let Ty::Index(ix) = ty {
            return self.ix(ix, env);
        }
        let shape = self.ty_shape(ty, env)?;
        self.ix_of_shape(&shape)
    }

    fn ix_of_shape(&mut self, shape: &Shape) -> Result<IxShape> {
        Ok(match shape {
            Shape::Index(ix) => ix.clone(),
            Shape::Scalar(adl_core::ty::Scalar::Bool) => IxShape::Bool,
            Shape::Enum(id, alts) if alts.iter().all(Vec::is_empty) => {
                IxShape::Enum(*id, self.n_constructors(*id))
            }
            Shape::Tuple(parts) if parts.is_empty() => IxShape::Unit,
            Shape::Tuple(parts) => {
                let mut out = vec![];
                for p in parts {
                    out.push(self.ix_of_shape(p)?);
                }
                self.tuple_ix(out)
            }
            _ => return self.error(Code::E0399, "this type is not an index set", None),
        })
    }

    fn n_constructors(&self, id: TypeId) -> i64 {
        match &self.s.source.types[id.0 as usize].body {
            TypeBody::Enum(cs) => i64::try_from(cs.len()).expect("few constructors"),
            TypeBody::Struct(_) => panic!("a struct is no index set"),
        }
    }

    /// The shape of an index of the set.
    pub(crate) fn index_shape(&self, ix: &IxShape) -> Shape {
        match ix {
            IxShape::Fin(_) => Shape::Index(ix.clone()),
            IxShape::Unit => Shape::Tuple(vec![]),
            IxShape::Bool => Shape::Scalar(adl_core::ty::Scalar::Bool),
            IxShape::Enum(id, k) => {
                Shape::Enum(*id, vec![vec![]; usize::try_from(*k).expect("few constructors")])
            }
            IxShape::Tuple(xs, _) => Shape::Tuple(xs.iter().map(|x| self.index_shape(x)).collect()),
        }
    }

    /// What stands for type arguments.
    pub(crate) fn ty_args(&mut self, args: &[TyArg], env: &Env) -> Result<Vec<TyVal>> {
        let mut out = vec![];
        for a in args {
            out.push(match a {
                TyArg::Ty(t) => TyVal::Ty(self.ty_shape(t, env)?),
                TyArg::Ix(ix) => TyVal::Ix(self.ix(ix, env)?),
                TyArg::Size(p) => TyVal::Size(self.poly(p, env)?),
            });
        }
        Ok(out)
    }

    /// The shape of values of a type. Functions have no known lambda, so values of such a shape can be made
    /// only where no function is needed.
    pub(crate) fn ty_shape(&mut self, ty: &Ty, env: &Env) -> Result<Shape> {
        Ok(match ty {
            Ty::Scalar(s) => Shape::Scalar(*s),
            Ty::Table(ix, elem) => {
                let ix = self.ix(ix, env)?;
                Shape::Table(ix, Box::new(self.ty_shape(elem, env)?))
            }
            Ty::Tuple(ts) => Shape::Tuple(self.ty_shapes(ts, env)?),
            Ty::Named(id, args) => {
                let args = self.ty_args(args, env)?;
                self.named_shape(*id, args)?
            }
            Ty::Index(ix) => {
                let ix = self.ix(ix, env)?;
                self.index_shape(&ix)
            }
            Ty::Fn(a, b) | Ty::Lin(a, b) => {
                let sides = (self.ty_shape(a, env)?.skeleton(), self.ty_shape(b, env)?.skeleton());
                Shape::Arrow(Box::new(sides))
            }
            Ty::Tangent(t) => {
                let shape = self.ty_shape(t, env)?;
                self.no_recursive_tangent(&shape)?;
                shape.tangent()
            }
            Ty::Var(t) => match env.ty(t) {
                Some(TyVal::Ty(s)) => s.clone(),
                Some(TyVal::Ix(ix)) => {
                    let ix = ix.clone();
                    self.index_shape(&ix)
                }
                Some(TyVal::Size(_)) | None => panic!("type parameter `{}` has no value", t.0.name),
            },
            Ty::Acc(t) => Shape::Acc(Box::new(self.ty_shape(t, env)?)),
            Ty::Pack(_) => return self.error(Code::E0399, "packs of this kind are not supported yet", None),
            Ty::Sum(_) | Ty::Box(_) => Shape::Raw(ty.clone()),
        })
    }

    fn ty_shapes(&mut self, ts: &[Ty], env: &Env) -> Result<Vec<Shape>> {
        ts.iter().map(|t| self.ty_shape(t, env)).collect()
    }

    fn named_shape(&mut self, id: TypeId, args: Vec<TyVal>) -> Result<Shape> {
        let tparams = self.s.source.types[id.0 as usize].tparams.clone();
        let args: Vec<(TyVar, TyVal)> = tparams.into_iter().zip(args).collect();
        if self.s.is_recursive_type(id) { self.recursive(id, args) } else { self.body_shape(id, args) }
    }

    /// Fields or constructors of a declared type.
    pub(super) fn body_shape(&mut self, id: TypeId, args: Vec<(TyVar, TyVal)>) -> Result<Shape> {
        let decl = self.s.source.types[id.0 as usize].clone();
        let env = Env { tys: Rc::new(args), ..Env::default() };
        Ok(match &decl.body {
            TypeBody::Struct(fields) => {
                let tys: Vec<Ty> = fields.iter().map(|(_, t)| t.clone()).collect();
                Shape::Struct(id, self.ty_shapes(&tys, &env)?)
            }
            TypeBody::Enum(cs) => {
                let mut alts = vec![];
                for (_, tys) in cs {
                    alts.push(self.ty_shapes(tys, &env)?);
                }
                Shape::Enum(id, alts)
            }
        })
    }

    /// The value of a variable.
    pub(crate) fn var(&mut self, v: &Var, env: &Env) -> Result<Val> {
        if let Some(val) = env.vars.get(v).or_else(|| self.globals.get(v)) {
            return Ok(val.clone());
        }
        let message = format!("`{}` is read before it has a value", v.name());
        self.error(Code::E0399, message, None)
    }

    pub(crate) fn atom(&mut self, a: &Atom, env: &Env) -> Result<Val> {
        match a {
            Atom::Var(v) => self.var(v, env),
            Atom::Lit(adl_core::ir::Lit::Unit) => Ok(Val::unit()),
            Atom::Lit(_) => Ok(Val::scalar(a.clone())),
        }
    }

    pub(crate) fn atoms(&mut self, atoms: &[Atom], env: &Env) -> Result<Vec<Val>> {
        atoms.iter().map(|a| self.atom(a, env)).collect()
    }
}
