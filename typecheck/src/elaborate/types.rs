//! Types of the checker in Core: parameters, sizes as polynomials, index sets.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_core::{
    ir::{Atom, Expr, TypeBody, TypeDecl},
    ty::{
        INT, Ix, Kind, Mono, Poly as CorePoly, Scalar, SizeAtom, Ty as CoreTy, TyArg, TyVar, TypeId,
        unknown_size,
    },
};

use super::Ctx;
use crate::{
    data::Body,
    types::{self, Con, Link, Poly, Ty, V, VKind, unit},
};

impl Ctx<'_> {
    /// The quantified variables of a scheme as type parameters.
    pub(crate) fn type_params(&mut self, vars: &[V]) -> Vec<TyVar> {
        vars.iter().map(|v| self.type_param(*v)).collect()
    }

    fn type_param(&mut self, v: V) -> TyVar {
        let data = self.c.arena.var(v);
        let kind = match (data.kind, data.ix) {
            (VKind::Size, _) => Kind::Size,
            (VKind::Type, true) => Kind::Ix,
            (VKind::Type, false) => Kind::Type,
        };
        let param = TyVar::new(data.name.as_deref().unwrap_or("a"), kind);
        self.e.params.insert(v, param.clone());
        param
    }

    /// What stands for the variables of a scheme at a use.
    pub(crate) fn type_args(&mut self, inst: &[V]) -> Vec<TyArg> {
        inst.iter().map(|v| self.type_arg(*v)).collect()
    }

    /// The same for a top-level function. Inside its own group it stands at its own variables.
    pub(crate) fn func_args(&mut self, k: usize, inst: &[V]) -> Vec<TyArg> {
        let own = self.e.func_vars.get(&k).cloned().unwrap_or_default();
        let all: Vec<V> = inst.iter().chain(own.iter().skip(inst.len())).copied().collect();
        let mut args = self.type_args(&all);
        // An index set may stand for any type, as the elements of a table.
        for (arg, v) in args.iter_mut().zip(&own) {
            if let (TyArg::Ix(ix), false) = (&*arg, self.c.arena.var(*v).ix) {
                *arg = TyArg::Ty(CoreTy::Index(ix.clone()));
            }
        }
        args
    }

    fn type_arg(&mut self, v: V) -> TyArg {
        let data = self.c.arena.var(v);
        match (data.kind, data.ix) {
            (VKind::Size, _) => TyArg::Size(self.poly(&Poly::atom(types::Atom::Size(v)))),
            (VKind::Type, true) => TyArg::Ix(self.ix(&Ty::Var(v))),
            (VKind::Type, false) => TyArg::Ty(self.ty(&Ty::Var(v))),
        }
    }

    /// A type that nothing determined takes its default, or `()`.
    fn settle(&mut self, v: V) -> Ty {
        let numeric = self.c.arena.var(v).lit.is_some()
            || [types::Class::Num, types::Class::Vector].iter().any(|c| self.c.arena.has(v, *c));
        let ty = if numeric { self.c.default_type(v) } else { unit() };
        self.c.arena.var_mut(v).link = Link::Ty(ty.clone());
        ty
    }

    pub(crate) fn ty(&mut self, t: &Ty) -> CoreTy {
        match self.c.arena.head(t) {
            Ty::Error => CoreTy::Tuple(vec![]),
            t @ Ty::Fin(_) => CoreTy::Index(self.ix(&t)),
            Ty::Var(v) => match self.e.params.get(&v).cloned() {
                Some(param) if param.0.kind == Kind::Ix => CoreTy::Index(Ix::Var(param)),
                Some(param) => CoreTy::Var(param),
                None if self.c.arena.var(v).rigid => CoreTy::Index(self.ix(&Ty::Var(v))),
                None => {
                    let settled = self.settle(v);
                    self.ty(&settled)
                }
            },
            Ty::Exists(pack) => {
                // A pack is a tuple of its sizes and its item: sizes are values, and types only say what they are.
                let mark = self.e.unknown.len();
                self.e.unknown.extend(&pack.vars);
                let item = self.ty(&pack.body);
                self.e.unknown.truncate(mark);
                CoreTy::Tuple(pack.vars.iter().map(|_| INT).chain([item]).collect())
            }
            Ty::Con(con, args) => self.con(con, &args),
        }
    }

    fn con(&mut self, con: Con, args: &[Ty]) -> CoreTy {
        let two = |this: &mut Self| (Box::new(this.ty(&args[0])), Box::new(this.ty(&args[1])));
        match con {
            Con::Float => CoreTy::Scalar(Scalar::F64),
            Con::F32 => CoreTy::Scalar(Scalar::F32),
            Con::Int => CoreTy::Scalar(Scalar::Int),
            Con::Bool => CoreTy::Scalar(Scalar::Bool),
            Con::Str => CoreTy::Scalar(Scalar::Str),
            Con::Key => CoreTy::Scalar(Scalar::Key),
            Con::Tuple => CoreTy::Tuple(args.iter().map(|a| self.ty(a)).collect()),
            Con::Table => {
                let ix = self.ix(&args[0]);
                CoreTy::Table(ix, Box::new(self.ty(&args[1])))
            }
            Con::Fun => {
                let (a, b) = two(self);
                CoreTy::Fn(a, b)
            }
            Con::Lin => {
                let (a, b) = two(self);
                CoreTy::Lin(a, b)
            }
            Con::Tangent => CoreTy::Tangent(Box::new(self.ty(&args[0]))),
            Con::Data(id) => {
                let params = self.c.arena.decl(id).params.clone();
                let args =
                    params
                        .iter()
                        .zip(args)
                        .map(|(p, a)| {
                            if self.c.arena.var(*p).ix {
                                TyArg::Ix(self.ix(a))
                            } else {
                                TyArg::Ty(self.ty(a))
                            }
                        })
                        .collect();
                CoreTy::Named(TypeId(id.0), args)
            }
        }
    }

    /// An index set.
    pub(crate) fn ix(&mut self, t: &Ty) -> Ix {
        match self.c.arena.head(t) {
            Ty::Error | Ty::Exists(_) => Ix::Unit,
            Ty::Fin(p) => Ix::Poly(self.poly(&p)),
            Ty::Var(v) => match self.e.params.get(&v).cloned() {
                Some(param) => Ix::Var(param),
                None if self.c.arena.var(v).rigid => Ix::Poly(self.poly(&Poly::atom(types::Atom::SizeOf(v)))),
                None => {
                    self.c.arena.var_mut(v).link = Link::Ty(unit());
                    Ix::Unit
                }
            },
            Ty::Con(con, args) => match con {
                Con::Bool => Ix::Bool,
                Con::Tuple if args.is_empty() => Ix::Unit,
                Con::Tuple => Ix::Tuple(args.iter().map(|a| self.ix(a)).collect()),
                Con::Data(id) => Ix::Enum(TypeId(id.0)),
                Con::Float
                | Con::F32
                | Con::Int
                | Con::Str
                | Con::Key
                | Con::Table
                | Con::Fun
                | Con::Lin
                | Con::Tangent => Ix::Unit,
            },
        }
    }

    /// A size. What is a field of a variable is read here.
    pub(crate) fn poly(&mut self, p: &Poly) -> CorePoly {
        let mut monomials: Vec<Mono> = vec![];
        for (monomial, factor) in self.c.arena.normed(p).0 {
            let mut mono = Mono { coef: factor, atoms: vec![] };
            for atom in monomial {
                match self.size_atom(atom) {
                    Ok(atom) => mono.atoms.push(atom),
                    Err(constant) => mono.coef = mono.coef.wrapping_mul(constant),
                }
            }
            monomials.push(mono);
        }
        monomials.retain(|m| m.coef != 0);
        CorePoly(monomials)
    }

    /// One unknown of a size, or the constant that stands for one that nothing determined.
    fn size_atom(&mut self, atom: types::Atom) -> Result<SizeAtom, i64> {
        let v = atom.var();
        if let Some(k) = self.e.unknown.iter().position(|u| *u == v) {
            return Err(unknown_size(k));
        }
        if let Some(param) = self.e.params.get(&v) {
            return Ok(SizeAtom::Param(param.clone()));
        }
        if let Some(var) = self.e.sizes.get(&v) {
            return Ok(SizeAtom::Var(var.clone()));
        }
        if let Some(def) = self.c.size_defs.get(&v).cloned() {
            let Some(root) = self.e.locals.get(&def.local).cloned() else { return Err(0) };
            let mut ty = self.c.locals[def.local.0 as usize].ty.clone();
            let mut value = root;
            for field in &def.path {
                let (k, field_ty) = self.field_number(&ty, field);
                let core = self.ty(&field_ty);
                value = self.bind(core, Expr::Proj(value, k));
                ty = field_ty;
            }
            return match value {
                Atom::Lit(_) => value.as_int().map_or(Err(0), Err),
                Atom::Var(var) => Ok(SizeAtom::Var(var)),
            };
        }
        Err(match atom {
            types::Atom::Size(_) => 0,
            types::Atom::SizeOf(_) => 1,
        })
    }

    /// The number and type of a field or component.
    pub(crate) fn field_number(&mut self, t: &Ty, name: &str) -> (u32, Ty) {
        let head = self.c.arena.head(t);
        let head = match &head {
            Ty::Con(Con::Tangent, args) => self.c.arena.head(&args[0]),
            _ => head,
        };
        if let (Ok(k), Ty::Con(Con::Tuple, args)) = (name.parse::<u32>(), &head) {
            return (k, args.get(k as usize).cloned().unwrap_or(Ty::Error));
        }
        let fields = match &head {
            Ty::Con(Con::Data(_), _) => self.c.arena.payloads(&head),
            _ => Body::Struct(vec![]),
        };
        let Body::Struct(fields) = fields else { return (0, Ty::Error) };
        let found = (0u32..).zip(fields).find(|(_, (n, _))| &**n == name);
        found.map_or((0, Ty::Error), |(k, (_, ty))| (k, ty))
    }

    /// A declared type.
    pub(crate) fn declaration(&mut self, k: usize) -> TypeDecl {
        let data = self.c.arena.data[k].clone();
        let tparams = self.type_params(&data.params);
        let body = match &data.body {
            Body::Struct(fields) => {
                TypeBody::Struct(fields.iter().map(|(n, t)| (n.to_string(), self.ty(t))).collect())
            }
            Body::Enum(ctors) => TypeBody::Enum(
                ctors
                    .iter()
                    .map(|(n, ts)| (n.to_string(), ts.iter().map(|t| self.ty(t)).collect()))
                    .collect(),
            ),
        };
        TypeDecl { name: data.name.to_string(), tparams, body, methods: vec![] }
    }
}
