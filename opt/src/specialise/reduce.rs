//! Reductions over the outermost index set, inner products and matrix products.

use adl_core::ir::{Atom, Axes, Block, Expr, Keep, LoopKind, Method, RedOp, Var};
use adl_core::prim;
use adl_core::ty::{INT, Ix, Scalar, Ty};
use adl_diag::Code;

use super::shape::{IxShape, Shape, Val};
use super::{Result, Spec};

impl Spec<'_> {
    /// `sum prod minimum maximum all any` of a table.
    pub(crate) fn reduce_table(&mut self, method: Method, xs: &Val) -> Result<Val> {
        let Shape::Table(ix, elem) = &xs.shape else { panic!("a reduction of a table") };
        let op = match method {
            Method::Sum => RedOp::Sum,
            Method::Prod => RedOp::Prod,
            Method::Minimum => RedOp::Min,
            Method::Maximum => RedOp::Max,
            Method::All => RedOp::And,
            _ => RedOp::Or,
        };
        if matches!(method, Method::Minimum | Method::Maximum) && !is_number(elem) {
            return Ok(self.extremum(method == Method::Maximum, xs)?.0);
        }
        if self.has_instance(elem) {
            return self.fold_elements(method, ix, xs);
        }
        let n = ix.size();
        let mut leaves = vec![];
        for leaf in &xs.leaves {
            let Ty::Table(_, elem_ty) = leaf.ty() else { panic!("leaves of a table are tables") };
            leaves.push(self.reduce_leaf(&op, leaf, &n, &elem_ty, &mut vec![])?);
        }
        Ok(Val { shape: (**elem).clone(), leaves })
    }

    /// Reduces the outermost index of a leaf; inner tables are kept, element by element.
    fn reduce_leaf(
        &mut self,
        op: &RedOp,
        leaf: &Atom,
        n: &Atom,
        elem: &Ty,
        inner: &mut Vec<Atom>,
    ) -> Result<Atom> {
        match elem {
            Ty::Table(Ix::Fin(m), rest) => {
                let j = Var::named("j", INT);
                self.open_with(std::slice::from_ref(&j));
                inner.push(Atom::Var(j.clone()));
                let out = self.reduce_leaf(op, leaf, n, rest, inner)?;
                inner.pop();
                let body = self.close(vec![out]);
                Ok(self.bind(elem.clone(), Expr::For { ix: Ix::Fin(m.clone()), var: j, body }))
            }
            Ty::Scalar(_) => {
                let i = Var::named("i", INT);
                self.open_with(std::slice::from_ref(&i));
                let mut index = vec![Atom::Var(i.clone())];
                index.extend(inner.iter().cloned());
                let x = self.index(leaf, &index, false);
                let body = self.close(vec![x]);
                let ix = Ix::Fin(n.clone());
                Ok(self.bind(elem.clone(), Expr::Reduce { op: op.clone(), ix, var: i, body }))
            }
            _ => self.error(Code::E0399, "a reduction of these elements is not supported yet", None),
        }
    }

    fn has_instance(&self, elem: &Shape) -> bool {
        let arithmetic = |m: &Method| !matches!(m, Method::Eq | Method::Lt | Method::Show);
        let methods = |id: &adl_core::ty::TypeId| &self.s.source.types[id.0 as usize].methods;
        matches!(elem, Shape::Struct(id, _) if methods(id).iter().any(|(m, _)| arithmetic(m)))
    }

    /// Elements with an instance of their own are combined in order by it.
    fn fold_elements(&mut self, method: Method, ix: &IxShape, xs: &Val) -> Result<Val> {
        let Shape::Table(_, elem) = &xs.shape else { panic!("a table") };
        let (op, start) = match method {
            Method::Sum => (Method::Add, self.zero(elem)?),
            Method::Prod => (Method::Mul, self.literal(&Val::scalar(Atom::int(1)), elem)?),
            _ => return self.error(Code::E0399, "these elements have no order", None),
        };
        let i = Var::named("i", INT);
        let state: Vec<Var> = elem.leaf_tys().into_iter().map(Var::new).collect();
        let bound: Vec<Var> = [i.clone()].into_iter().chain(state.iter().cloned()).collect();
        self.open_with(&bound);
        let acc = Val { shape: (**elem).clone(), leaves: state.iter().map(Atom::from).collect() };
        let x = self.index_val(xs, &[Val::scalar(Atom::Var(i.clone()))], false)?;
        let next = self.arith(op, &acc, &x)?;
        let body = self.close(next.leaves);
        let kind = LoopKind::For { ix: Ix::Fin(ix.size()), var: i, reverse: false };
        let expr = Expr::Loop { kind, state, init: start.leaves, body, keep: Keep::All };
        let leaves = self.bind_all(elem.leaf_tys(), expr);
        Ok(Val { shape: (**elem).clone(), leaves })
    }

    /// The index of the first least (or greatest) element; NaN comes last.
    pub(crate) fn arg_extremum(&mut self, method: Method, xs: &Val) -> Result<Val> {
        let Shape::Table(ix, elem) = &xs.shape else { panic!("a table") };
        let Shape::Scalar(s) = **elem else {
            let ordinal = self.extremum(method == Method::Argmax, xs)?.1;
            let ix = ix.clone();
            return Ok(self.index_of(&ix, ordinal));
        };
        let n = ix.size();
        let first = self.first_of(&n);
        let table = &xs.leaves[0];
        let start = self.index(table, &[first], false);
        let i = Var::named("i", INT);
        let best = Var::named("best", Ty::Scalar(s));
        let at = Var::named("at", INT);
        self.open_with(&[i.clone(), best.clone(), at.clone()]);
        let x = self.index(table, &[Atom::Var(i.clone())], false);
        let (old, new) = (Atom::Var(best.clone()), x.clone());
        let less = if method == Method::Argmin { [new, old] } else { [old, new] };
        let mut better = self.prim(&prim::LT, &less);
        if s.is_float() {
            let was_nan = self.prim(&prim::IS_NAN, &[Atom::Var(best.clone())]);
            let is_nan = self.prim(&prim::IS_NAN, std::slice::from_ref(&x));
            let is_number = self.prim(&prim::NOT, &[is_nan]);
            let after_nan = self.prim(&prim::AND, &[was_nan, is_number]);
            better = self.prim(&prim::OR, &[better, after_nan]);
        }
        let keep = vec![Atom::Var(best.clone()), Atom::Var(at.clone())];
        let take = vec![x, Atom::Var(i.clone())];
        let results = self.choose(better, vec![Ty::Scalar(s), INT], vec![keep, take]);
        let body = self.close(results);
        let kind = LoopKind::For { ix: Ix::Fin(n), var: i, reverse: false };
        let init = vec![start, Atom::int(0)];
        let expr = Expr::Loop { kind, state: vec![best, at], init, body, keep: Keep::All };
        let ordinal = self.bind_all(vec![Ty::Scalar(s), INT], expr).swap_remove(1);
        let ix = ix.clone();
        Ok(self.index_of(&ix, ordinal))
    }

    /// The ordinal 0; of an empty set there is none, as there is no least element.
    fn first_of(&mut self, n: &Atom) -> Atom {
        let i = Var::named("i", INT);
        let body = Block { stmts: vec![], results: vec![Atom::Var(i.clone())] };
        self.bind(INT, Expr::Reduce { op: RedOp::Min, ix: Ix::Fin(n.clone()), var: i, body })
    }

    /// The least (or greatest) element by the order of its type, the first of equals, and its ordinal.
    fn extremum(&mut self, greatest: bool, xs: &Val) -> Result<(Val, Atom)> {
        let Shape::Table(ix, elem) = &xs.shape else { panic!("a table") };
        let n = ix.size();
        let first = self.first_of(&n);
        let start = self.index_val(xs, &[Val::scalar(first.clone())], false)?;
        let i = Var::named("i", INT);
        let best: Vec<Var> = elem.leaf_tys().into_iter().map(Var::new).collect();
        let at = Var::named("at", INT);
        let state: Vec<Var> = best.iter().cloned().chain([at.clone()]).collect();
        self.open_with(&[std::slice::from_ref(&i), state.as_slice()].concat());
        let old = Val { shape: (**elem).clone(), leaves: best.iter().map(Atom::from).collect() };
        let x = self.index_val(xs, &[Val::scalar(Atom::Var(i.clone()))], false)?;
        let (low, high) = if greatest { (&old, &x) } else { (&x, &old) };
        let better = self.less(Method::Lt, low, high)?;
        let tys: Vec<Ty> = state.iter().map(|v| v.ty().clone()).collect();
        let keep = state.iter().map(Atom::from).collect();
        let take = x.leaves.into_iter().chain([Atom::Var(i.clone())]).collect();
        let results = self.choose(better, tys.clone(), vec![keep, take]);
        let body = self.close(results);
        let kind = LoopKind::For { ix: Ix::Fin(n), var: i, reverse: false };
        let init = start.leaves.into_iter().chain([first]).collect();
        let mut leaves = self.bind_all(tys, Expr::Loop { kind, state, init, body, keep: Keep::All });
        let ordinal = leaves.pop().expect("the ordinal is the last of the state");
        Ok((Val { shape: (**elem).clone(), leaves }, ordinal))
    }

    /// Sum of products of all float leaves.
    pub(crate) fn dot(&mut self, a: &Val, b: &Val) -> Result<Val> {
        let mut total: Option<Atom> = None;
        for (x, y) in a.leaves.iter().zip(&b.leaves) {
            let ty = x.ty();
            let (dims, elem) = ty.dims();
            let Some(s) = elem.scalar().filter(|s| s.is_float()) else { continue };
            let part = if dims.is_empty() {
                self.prim(&prim::MUL, &[x.clone(), y.clone()])
            } else {
                let axes: Vec<u8> = (0..u8::try_from(dims.len()).expect("few axes")).collect();
                let spec = Axes { a: axes.clone(), b: axes, out: vec![] };
                self.bind(Ty::Scalar(s), Expr::Contract { a: x.clone(), b: y.clone(), spec })
            };
            let part = if s == Scalar::F32 { self.prim(&prim::WIDEN, &[part]) } else { part };
            total = Some(match total {
                Some(t) => self.prim(&prim::ADD, &[t, part]),
                None => part,
            });
        }
        Ok(Val::scalar(total.unwrap_or_else(|| Atom::f64(0.0))))
    }

    /// `@`: dot, matrix–vector, vector–matrix or matrix product.
    pub(crate) fn matmul(&mut self, a: &Val, b: &Val) -> Result<Val> {
        let (Shape::Table(ia, ea), Shape::Table(ib, eb)) = (&a.shape, &b.shape) else {
            return self.error(Code::E0399, "`@` needs two tables", None);
        };
        let (spec, shape) = match (&**ea, &**eb) {
            (Shape::Table(_, s), Shape::Table(jb, _)) => {
                let spec = Axes { a: vec![0, 1], b: vec![1, 2], out: vec![0, 2] };
                (spec, Shape::Table(ia.clone(), Box::new(Shape::Table(jb.clone(), s.clone()))))
            }
            (Shape::Table(_, s), _) => {
                let spec = Axes { a: vec![0, 1], b: vec![1], out: vec![0] };
                (spec, Shape::Table(ia.clone(), s.clone()))
            }
            (_, Shape::Table(jb, s)) => {
                let spec = Axes { a: vec![0], b: vec![0, 1], out: vec![1] };
                (spec, Shape::Table(jb.clone(), s.clone()))
            }
            (s, _) => (Axes { a: vec![0], b: vec![0], out: vec![] }, s.clone()),
        };
        let is_float = |v: &Val| v.leaves[0].ty().dims().1.scalar().is_some_and(Scalar::is_float);
        if a.leaves.len() == 1 && b.leaves.len() == 1 && is_float(a) {
            let ty = shape.leaf_tys().swap_remove(0);
            let expr = Expr::Contract { a: a.leaves[0].clone(), b: b.leaves[0].clone(), spec };
            return Ok(Val { shape, leaves: vec![self.bind(ty, expr)] });
        }
        let ib = ib.clone();
        self.matmul_by_sums(a, b, &ib)
    }

    /// `@` of elements that are not floats, by its definition.
    fn matmul_by_sums(&mut self, a: &Val, b: &Val, inner: &IxShape) -> Result<Val> {
        let rank2 = |v: &Val| match &v.shape {
            Shape::Table(ix, e) => match &**e {
                Shape::Table(jx, _) => Some((ix.clone(), jx.clone())),
                _ => None,
            },
            _ => None,
        };
        if let Some((rows, _)) = rank2(a) {
            return self.tabulate(&rows, |s, i| {
                let row = s.index_val(a, &[Val::scalar(i)], false)?;
                s.matmul(&row, b)
            });
        }
        if let Some((_, columns)) = rank2(b) {
            return self.tabulate(&columns, |s, j| {
                let column =
                    s.tabulate(inner, |s, k| s.index_val(b, &[Val::scalar(k), Val::scalar(j)], false))?;
                s.matmul(a, &column)
            });
        }
        let products = self.over_table(a, b, |s, x, y| s.arith(Method::Mul, x, y))?;
        self.reduce_table(Method::Sum, &products)
    }
}

/// Whether values of the shape are numbers, or as good as: one leaf whose order is the order of the type.
fn is_number(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(s) => *s == Scalar::Int || s.is_float(),
        Shape::Index(_) => true,
        Shape::Enum(..) => shape.leaf_tys() == [INT],
        Shape::Tuple(_)
        | Shape::Struct(..)
        | Shape::Tangent(..)
        | Shape::Table(..)
        | Shape::Fun(_)
        | Shape::Arrow(_)
        | Shape::Acc(_)
        | Shape::Rec(..)
        | Shape::Packed(_)
        | Shape::Raw(_) => false,
    }
}
