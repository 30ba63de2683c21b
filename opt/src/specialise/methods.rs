//! Overloaded operations other than arithmetic: constants, random values, joining, moving.

use adl_core::ir::{Atom, Block, Effect, Expr, Lit, Method, Var};
use adl_core::prim::{self, Prim};
use adl_core::ty::{INT, Ix, Scalar, Ty};
use adl_diag::Code;

use super::shape::{IxShape, Shape, Val, unzip};
use super::{Env, Result, Spec};

/// What is done with a tangent whose constructor is not that of its value.
#[derive(Clone, Copy)]
enum Others {
    /// It is added to one that has it, which fails.
    Compare,
    /// There is none.
    Impossible,
}

impl Spec<'_> {
    /// One overloaded operation.
    pub(crate) fn method(&mut self, method: Method, ty: &Ty, args: Vec<Val>, env: &Env) -> Result<Val> {
        match method {
            Method::Add
            | Method::Sub
            | Method::Mul
            | Method::Div
            | Method::Rem
            | Method::Pow
            | Method::PowInt => self.arith_at(method, ty, &args, env),
            Method::Neg => self.neg(&args[0]),
            Method::Zero => {
                let shape = self.ty_shape(ty, env)?;
                self.zero(&shape)
            }
            Method::One => {
                let shape = self.ty_shape(ty, env)?;
                self.literal(&Val::scalar(Atom::int(1)), &shape)
            }
            Method::Lit => {
                let shape = self.ty_shape(ty, env)?;
                self.literal(&args[0], &shape)
            }
            Method::Lift(p) => self.lift(p, &args),
            Method::Eq => Ok(Val::scalar(self.equal(&args[0], &args[1])?)),
            Method::Lt | Method::Le | Method::Before => {
                Ok(Val::scalar(self.less(method, &args[0], &args[1])?))
            }
            Method::MatMul => self.matmul(&args[0], &args[1]),
            Method::Show => {
                let text = self.show(&args[0])?;
                Ok(Val::scalar(text))
            }
            Method::Ordinal => {
                let k = match ty {
                    Ty::Index(ix) => {
                        let ix = self.ix(ix, env)?;
                        self.ordinal_in(&args[0], &ix)
                    }
                    _ => self.ordinal(&args[0]),
                };
                Ok(Val::scalar(k))
            }
            Method::FromOrdinal => self.index_from_ordinal(ty, &args[0], env),
            Method::Sum | Method::Prod | Method::Minimum | Method::Maximum | Method::All | Method::Any => {
                self.reduce_table(method, &args[0])
            }
            Method::Argmin | Method::Argmax => self.arg_extremum(method, &args[0]),
            Method::Dot => self.dot(&args[0], &args[1]),
            Method::Move => self.move_by(&args[0], &args[1]),
            Method::Random(normal) => {
                let shape = self.ty_shape(ty, env)?;
                self.random(normal, &shape, &args[0].leaves[0])
            }
            Method::StopGradient => self.stop_gradient(&args[0]),
            Method::Concat => self.concat(&args[0], &args[1]),
            Method::Bulk(row) => self.bulk(row, &args),
        }
    }

    /// Arithmetic; where the result is a structure and both operands are numbers, the declared type says so.
    fn arith_at(&mut self, method: Method, ty: &Ty, args: &[Val], env: &Env) -> Result<Val> {
        let both_scalar = args.iter().all(|a| matches!(a.shape, Shape::Scalar(_)));
        if both_scalar && matches!(ty, Ty::Named(..)) {
            let shape = self.ty_shape(ty, env)?;
            let a = self.literal(&args[0], &shape)?;
            return self.arith(method, &a, &args[1]);
        }
        if method == Method::PowInt && !matches!(args[0].shape, Shape::Scalar(_) | Shape::Table(..)) {
            return self.power_by_squaring(&args[0], &args[1]);
        }
        self.arith(method, &args[0], &args[1])
    }

    /// `x^k` of a value with an instance of `Num`, for a constant k.
    fn power_by_squaring(&mut self, x: &Val, k: &Val) -> Result<Val> {
        let Some(k) = k.leaves[0].as_int().filter(|k| 0 <= *k) else {
            return self.error(
                Code::E0399,
                "a power of this type needs a constant exponent of at least 0",
                None,
            );
        };
        let mut acc: Option<Val> = None;
        let mut square = x.clone();
        let mut rest = k;
        while rest > 0 {
            if rest & 1 == 1 {
                acc = Some(match acc {
                    Some(acc) => self.arith(Method::Mul, &acc, &square)?,
                    None => square.clone(),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.arith(Method::Mul, &square, &square)?;
            }
        }
        match acc {
            Some(acc) => Ok(acc),
            None => self.literal(&Val::scalar(Atom::int(1)), &x.shape),
        }
    }

    /// The additive zero.
    pub(crate) fn zero(&mut self, shape: &Shape) -> Result<Val> {
        self.constant(shape, &mut |s, leaf| s.zero_leaf(leaf))
    }

    fn zero_leaf(&mut self, s: Scalar) -> Result<Atom> {
        match s {
            Scalar::F64 | Scalar::F32 => Ok(Atom::float(s, 0.0)),
            Scalar::Int => Ok(Atom::int(0)),
            Scalar::Bool | Scalar::Str | Scalar::Key => {
                self.error(Code::E0399, "this type has no zero", None)
            }
        }
    }

    /// A number at a type: a scalar converted, or at an instance its `from_int`, or in each element.
    pub(crate) fn literal(&mut self, number: &Val, shape: &Shape) -> Result<Val> {
        let atom = number.leaves[0].clone();
        if let Shape::Struct(id, _) = shape {
            let method = self.s.source.types[id.0 as usize].methods.iter().find(|(m, _)| *m == Method::Lit);
            if let Some((_, func)) = method.cloned() {
                let f = self.operation(func, shape)?;
                return self.apply(&f, number.clone());
            }
            let name = self.s.source.types[id.0 as usize].name.clone();
            let message = format!("the instance of `{name}` does not say what a number is as a value of it");
            return self.error(Code::E0213, message, Some("add `def from_int(k) = …` to the instance"));
        }
        self.constant(shape, &mut |spec, s| {
            let is_float = atom.ty().scalar().is_some_and(Scalar::is_float);
            match s {
                Scalar::F64 | Scalar::F32 if !is_float => Ok(spec.float_of(atom.clone(), s)),
                Scalar::F32 if atom.ty() == adl_core::ty::F64 => {
                    Ok(spec.prim(&prim::NARROW, std::slice::from_ref(&atom)))
                }
                Scalar::F64 | Scalar::F32 => Ok(atom.clone()),
                Scalar::Int if !is_float => Ok(atom.clone()),
                Scalar::Int | Scalar::Bool | Scalar::Str | Scalar::Key => {
                    spec.error(Code::E0399, "a number cannot stand for a value of this type", None)
                }
            }
        })
    }

    /// A value of the shape with the same scalar in every leaf.
    fn constant(
        &mut self,
        shape: &Shape,
        leaf: &mut dyn FnMut(&mut Self, Scalar) -> Result<Atom>,
    ) -> Result<Val> {
        match shape {
            Shape::Scalar(s) => {
                let a = leaf(self, *s)?;
                Ok(Val { shape: shape.clone(), leaves: vec![a] })
            }
            Shape::Tuple(parts) | Shape::Struct(_, parts) => {
                let mut vals = vec![];
                for p in parts {
                    vals.push(self.constant(p, leaf)?);
                }
                let (_, leaves) = unzip(vals);
                Ok(Val { shape: shape.clone(), leaves })
            }
            Shape::Table(ix, elem) => self.tabulate(ix, |s, _| s.constant(elem, leaf)),
            Shape::Tangent(..) => {
                let leaf = self.inject(shape, 0, vec![]);
                Ok(Val { shape: shape.clone(), leaves: vec![leaf] })
            }
            Shape::Raw(t) => {
                let t = t.clone();
                let leaf = self.with_builder(|b| adl_ad::zero(b, &t));
                Ok(Val { shape: shape.clone(), leaves: vec![leaf] })
            }
            Shape::Index(_)
            | Shape::Enum(..)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Rec(..)
            | Shape::Packed(_) => self.error(Code::E0399, "this type has no such constant", None),
        }
    }

    /// A table of what `each` gives for each ordinal.
    pub(crate) fn tabulate(
        &mut self,
        ix: &IxShape,
        each: impl FnOnce(&mut Self, Atom) -> Result<Val>,
    ) -> Result<Val> {
        let i = Var::named("i", INT);
        self.open_with(std::slice::from_ref(&i));
        let val = each(self, Atom::Var(i.clone()))?;
        let body = self.close(val.leaves);
        let shape = Shape::Table(ix.clone(), Box::new(val.shape));
        let leaves = self.bind_all(shape.leaf_tys(), Expr::For { ix: Ix::Fin(ix.size()), var: i, body });
        Ok(Val { shape, leaves })
    }

    fn index_from_ordinal(&mut self, ty: &Ty, ordinal: &Val, env: &Env) -> Result<Val> {
        let ix = self.ix_of_ty(ty, env)?;
        let n = ix.size();
        let k = ordinal.leaves[0].clone();
        let low = self.prim(&prim::LE, &[Atom::int(0), k.clone()]);
        let high = self.prim(&prim::LT, &[k.clone(), n.clone()]);
        let ok = self.prim(&prim::AND, &[low, high]);
        // Out of range, a read of a table of that size fails as any index out of bounds does.
        self.open();
        let i = Var::named("i", INT);
        let body = Block { stmts: vec![], results: vec![Atom::Var(i.clone())] };
        let all = self.bind(Ty::table(n.clone(), INT), Expr::For { ix: Ix::Fin(n), var: i, body });
        let read = self.index(&all, std::slice::from_ref(&k), true);
        let outside = self.suspend(vec![], Val::scalar(read));
        self.open();
        let inside = self.suspend(vec![], Val::scalar(k));
        let k = self.case_of(ok, vec![outside, inside])?.leaves.swap_remove(0);
        Ok(self.index_of(&ix, k))
    }

    /// `p` with the tangent added to its float leaves.
    fn move_by(&mut self, p: &Val, dp: &Val) -> Result<Val> {
        match &p.shape {
            Shape::Scalar(s) if s.is_float() => self.arith(Method::Add, p, dp),
            Shape::Scalar(_) | Shape::Index(_) | Shape::Fun(_) | Shape::Arrow(_) => Ok(p.clone()),
            Shape::Tuple(_) | Shape::Struct(..) => {
                let mut vals = vec![];
                for (x, dx) in p.parts().iter().zip(dp.parts()) {
                    vals.push(self.move_by(x, &dx)?);
                }
                let (_, leaves) = unzip(vals);
                Ok(Val { shape: p.shape.clone(), leaves })
            }
            Shape::Table(..) if p.shape.is_active() => self.over_table(p, dp, |s, x, dx| s.move_by(x, dx)),
            Shape::Table(..) => Ok(p.clone()),
            Shape::Enum(..) if !p.shape.is_active() => Ok(p.clone()),
            Shape::Enum(_, alts) => self.move_enum(p, alts, dp),
            Shape::Tangent(..) | Shape::Raw(_) => self.arith(Method::Add, p, dp),
            Shape::Packed(_) => {
                self.error(Code::E0399, "`move` of tables of different sizes is not supported yet", None)
            }
            Shape::Rec(..) => self.error(Code::E0399, "`move` of recursive data is not supported yet", None),
            Shape::Acc(_) => panic!("an accumulator is no value"),
        }
    }

    /// `move` of an enum: the payload moves by that of the tangent, which has to have the same constructor.
    fn move_enum(&mut self, p: &Val, alts: &[Vec<Shape>], dp: &Val) -> Result<Val> {
        let mut branches = vec![];
        for (tag, alt) in alts.iter().enumerate() {
            let params: Vec<Var> = alt.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
            self.open_with(&params);
            let leaves = params.iter().map(Atom::from).collect();
            let payload = Val { shape: Shape::Tuple(alt.clone()), leaves };
            let moved = self.move_payload(p, tag, &payload, dp, Others::Compare)?;
            branches.push(self.suspend(params, moved));
        }
        self.case_of(p.leaves[0].clone(), branches)
    }

    /// `p`, which has the constructor `tag` with this payload, moved by `dp`.
    fn move_payload(&mut self, p: &Val, tag: usize, payload: &Val, dp: &Val, others: Others) -> Result<Val> {
        let Shape::Tangent(_, tangents) = &dp.shape else { panic!("the tangent of an enum") };
        let mut branches = vec![];
        for (at, tangent) in tangents.iter().enumerate() {
            let params: Vec<Var> = tangent.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
            self.open_with(&params);
            let val = if at == 0 {
                p.clone()
            } else if at == tag + 1 {
                let leaves = params.iter().map(Atom::from).collect();
                let by = Val { shape: Shape::Tuple(tangent.clone()), leaves };
                let moved = self.move_by(payload, &by)?;
                let leaf = self.inject(&p.shape, tag, moved.leaves);
                Val { shape: p.shape.clone(), leaves: vec![leaf] }
            } else {
                self.other_constructor(p, tag, payload, dp, others)?
            };
            branches.push(self.suspend(params, val));
        }
        self.case_of(dp.leaves[0].clone(), branches)
    }

    /// A tangent with another constructor than its value: the sum with a tangent of the right one fails. What
    /// looks at the sum cannot be dropped, so the failure happens.
    fn other_constructor(
        &mut self,
        p: &Val,
        tag: usize,
        payload: &Val,
        dp: &Val,
        others: Others,
    ) -> Result<Val> {
        match others {
            Others::Compare => {
                let mut zeros = vec![];
                for part in payload.parts() {
                    zeros.extend(self.zero(&part.shape.tangent())?.leaves);
                }
                let right = self.inject(&dp.shape, tag + 1, zeros);
                let right = Val { shape: dp.shape.clone(), leaves: vec![right] };
                let sum = self.arith(Method::Add, &right, dp)?;
                self.move_payload(p, tag, payload, &sum, Others::Impossible)
            }
            Others::Impossible => {
                let vars: Vec<Var> = p.shape.leaf_tys().into_iter().map(Var::new).collect();
                let message =
                    Atom::Lit(Lit::Str("the sum of two tangents has the constructor of both".into()));
                self.emit(vars.clone(), Expr::Effect(Effect::Error(message)));
                Ok(Val { shape: p.shape.clone(), leaves: vars.into_iter().map(Atom::Var).collect() })
            }
        }
    }

    fn stop_gradient(&mut self, a: &Val) -> Result<Val> {
        if !a.shape.is_active() {
            return Ok(a.clone());
        }
        match &a.shape {
            Shape::Scalar(_) => self.lift(Prim(&prim::STOP), std::slice::from_ref(a)),
            Shape::Table(..) => self.map_tables(std::slice::from_ref(a), |s, xs| s.stop_gradient(&xs[0])),
            Shape::Tuple(_) | Shape::Struct(..) => {
                let mut vals = vec![];
                for x in a.parts() {
                    vals.push(self.stop_gradient(&x)?);
                }
                let (_, leaves) = unzip(vals);
                Ok(Val { shape: a.shape.clone(), leaves })
            }
            Shape::Enum(..) | Shape::Tangent(..) => self.map_payload(a, |s, x| s.stop_gradient(x)),
            Shape::Index(_)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Rec(..)
            | Shape::Packed(_)
            | Shape::Raw(_) => {
                self.error(Code::E0399, "`stop_gradient` of this value is not supported yet", None)
            }
        }
    }

    /// Random values: element number i of the value, leaves one after the other, is draw number i.
    fn random(&mut self, normal: bool, shape: &Shape, key: &Atom) -> Result<Val> {
        let mut base = Atom::int(0);
        self.random_from(normal, shape, key, &mut base)
    }

    fn random_from(&mut self, normal: bool, shape: &Shape, key: &Atom, base: &mut Atom) -> Result<Val> {
        match shape {
            Shape::Scalar(s) if s.is_float() => {
                let def = if normal { &prim::NORMAL_AT } else { &prim::UNIFORM_AT };
                let x = self.prim(def, &[key.clone(), base.clone()]);
                let x = if *s == Scalar::F32 { self.prim(&prim::NARROW, &[x]) } else { x };
                *base = self.prim(&prim::ADD, &[base.clone(), Atom::int(1)]);
                Ok(Val { shape: shape.clone(), leaves: vec![x] })
            }
            Shape::Tuple(parts) | Shape::Struct(_, parts) => {
                let mut vals = vec![];
                for p in parts {
                    vals.push(self.random_from(normal, p, key, base)?);
                }
                let (_, leaves) = unzip(vals);
                Ok(Val { shape: shape.clone(), leaves })
            }
            Shape::Table(ix, elem) => {
                let per = self.count(elem);
                let start = base.clone();
                let n = ix.size();
                let val = self.tabulate(ix, |s, i| {
                    let skip = s.prim(&prim::MUL, &[i, per.clone()]);
                    let mut at = s.prim(&prim::ADD, &[start.clone(), skip]);
                    s.random_from(normal, elem, key, &mut at)
                })?;
                let all = self.prim(&prim::MUL, &[n, per]);
                *base = self.prim(&prim::ADD, &[base.clone(), all]);
                Ok(val)
            }
            Shape::Scalar(_)
            | Shape::Index(_)
            | Shape::Enum(..)
            | Shape::Tangent(..)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Rec(..)
            | Shape::Packed(_)
            | Shape::Raw(_) => self.error(Code::E0399, "there are no random values of this type", None),
        }
    }

    /// How many floats a value of the shape holds.
    fn count(&mut self, shape: &Shape) -> Atom {
        match shape {
            Shape::Tuple(parts) | Shape::Struct(_, parts) => {
                let mut total = Atom::int(0);
                for p in parts {
                    let n = self.count(p);
                    total = self.size_prim(&prim::ADD, &[total, n]);
                }
                total
            }
            Shape::Table(ix, elem) => {
                let n = self.count(elem);
                self.size_prim(&prim::MUL, &[ix.size(), n])
            }
            _ => Atom::int(1),
        }
    }

    /// Texts or tables, one after the other.
    fn concat(&mut self, a: &Val, b: &Val) -> Result<Val> {
        let (Shape::Table(ix, elem), Shape::Table(iy, _)) = (&a.shape, &b.shape) else {
            return Ok(Val::scalar(self.prim(&prim::STR_CAT, &[a.leaves[0].clone(), b.leaves[0].clone()])));
        };
        let n = ix.size();
        let total = self.size_prim(&prim::ADD, &[n.clone(), iy.size()]);
        let (elem, b) = ((**elem).clone(), b.clone());
        self.tabulate(&IxShape::Fin(total), |s, i| {
            let first = s.prim(&prim::LT, &[i.clone(), n.clone()]);
            s.open();
            let k = s.prim(&prim::SUB, &[i.clone(), n]);
            let val = s.index_val(&b, &[Val::scalar(k)], false)?;
            let second_arm = s.suspend(vec![], val);
            s.open();
            let val = s.index_val(a, &[Val::scalar(i)], false)?;
            debug_assert!(super::join::same_layout(&val.shape, &elem), "elements of the first table");
            let first_arm = s.suspend(vec![], val);
            s.case_of(first, vec![second_arm, first_arm])
        })
    }
}
