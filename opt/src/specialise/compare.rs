//! `==`, `<`, `<=` by the structure of their operands.

use adl_core::ir::{Atom, Expr, Lit, Method, RedOp, Var};
use adl_core::prim;
use adl_core::ty::{BOOL, INT, Ix};
use adl_diag::Code;

use super::shape::{Shape, Val};
use super::{Result, Spec};

impl Spec<'_> {
    /// Structural equality; IEEE on floats.
    pub(crate) fn equal(&mut self, a: &Val, b: &Val) -> Result<Atom> {
        match (&a.shape, &b.shape) {
            (Shape::Tuple(_) | Shape::Struct(..), _) => {
                let mut all = Atom::Lit(Lit::Bool(true));
                for (x, y) in a.parts().iter().zip(b.parts()) {
                    let one = self.equal(x, &y)?;
                    all = self.prim(&prim::AND, &[all, one]);
                }
                Ok(all)
            }
            (Shape::Table(ix, _), Shape::Table(..)) => {
                let n = ix.size();
                let i = Var::named("i", INT);
                self.open_with(std::slice::from_ref(&i));
                let index = Val::scalar(Atom::Var(i.clone()));
                let x = self.index_val(a, std::slice::from_ref(&index), false)?;
                let y = self.index_val(b, std::slice::from_ref(&index), false)?;
                let one = self.equal(&x, &y)?;
                let body = self.close(vec![one]);
                Ok(self.bind(BOOL, Expr::Reduce { op: RedOp::And, ix: Ix::Fin(n), var: i, body }))
            }
            (Shape::Enum(_, xs), Shape::Enum(_, ys)) if a.leaves[0].ty() != INT => {
                self.equal_enums(a, xs, b, ys)
            }
            (Shape::Fun(_) | Shape::Acc(_) | Shape::Raw(_) | Shape::Tangent(..), _) => {
                self.error(Code::E0399, "these values cannot be compared", None)
            }
            _ => Ok(self.prim(&prim::EQ, &[a.leaves[0].clone(), b.leaves[0].clone()])),
        }
    }

    fn equal_enums(&mut self, a: &Val, xs: &[Vec<Shape>], b: &Val, ys: &[Vec<Shape>]) -> Result<Atom> {
        let mut outer = vec![];
        for (j, x) in xs.iter().enumerate() {
            let px: Vec<Var> = x.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
            self.open_with(&px);
            let mut inner = vec![];
            for (k, y) in ys.iter().enumerate() {
                let py: Vec<Var> = y.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
                self.open_with(&py);
                let same = if j == k {
                    let atoms = |vs: &[Var]| vs.iter().map(Atom::from).collect();
                    let va = Val { shape: Shape::Tuple(x.clone()), leaves: atoms(&px) };
                    let vb = Val { shape: Shape::Tuple(y.clone()), leaves: atoms(&py) };
                    self.equal(&va, &vb)?
                } else {
                    Atom::Lit(Lit::Bool(false))
                };
                inner.push(self.suspend(py, Val::scalar(same)));
            }
            let val = self.case_of(b.leaves[0].clone(), inner)?;
            outer.push(self.suspend(px, val));
        }
        Ok(self.case_of(a.leaves[0].clone(), outer)?.leaves.swap_remove(0))
    }

    /// `<` or `<=`; lexicographic on tuples.
    pub(crate) fn less(&mut self, method: Method, a: &Val, b: &Val) -> Result<Atom> {
        let def = if method == Method::Lt { &prim::LT } else { &prim::LE };
        match &a.shape {
            Shape::Tuple(parts) if !parts.is_empty() => {
                let (xs, ys) = (a.parts(), b.parts());
                let last = xs.len() - 1;
                let mut out = self.less(method, &xs[last], &ys[last])?;
                for (x, y) in xs.iter().zip(&ys).take(last).rev() {
                    let before = self.less(Method::Lt, x, y)?;
                    let same = self.equal(x, y)?;
                    let rest = self.prim(&prim::AND, &[same, out]);
                    out = self.prim(&prim::OR, &[before, rest]);
                }
                Ok(out)
            }
            Shape::Tuple(_) => Ok(Atom::Lit(Lit::Bool(method == Method::Le))),
            Shape::Scalar(_) | Shape::Index(_) => {
                Ok(self.prim(def, &[a.leaves[0].clone(), b.leaves[0].clone()]))
            }
            Shape::Enum(..) if a.leaves[0].ty() == INT => {
                Ok(self.prim(def, &[a.leaves[0].clone(), b.leaves[0].clone()]))
            }
            Shape::Enum(..)
            | Shape::Struct(..)
            | Shape::Tangent(..)
            | Shape::Table(..)
            | Shape::Fun(_)
            | Shape::Acc(_)
            | Shape::Raw(_) => self.error(Code::E0399, "these values have no order yet", None),
        }
    }
}
