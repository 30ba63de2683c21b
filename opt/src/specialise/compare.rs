//! `==`, `<`, `<=` by the structure of their operands.

use adl_core::ir::{Atom, Expr, Lit, Method, RedOp, Var};
use adl_core::prim;
use adl_core::ty::{BOOL, INT, Ix};
use adl_diag::Code;

use super::shape::{Shape, Val};
use super::{Result, Spec};

/// The number of a constructor, and its payload as a tuple.
type Alternative<'a> = (usize, &'a Val);

impl Spec<'_> {
    /// Structural equality; IEEE on floats.
    pub(crate) fn equal(&mut self, a: &Val, b: &Val) -> Result<Atom> {
        if let Some(same) = self.by_instance(Method::Eq, &[a.clone(), b.clone()])? {
            return Ok(same);
        }
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
            (Shape::Enum(..), Shape::Enum(..)) if a.leaves[0].ty() != INT => {
                self.by_constructors(a, b, &|s, (j, x), (k, y)| {
                    if j == k { s.equal(x, y) } else { Ok(Atom::Lit(Lit::Bool(false))) }
                })
            }
            (Shape::Rec(..), _) => self.equal_cells(a, b),
            (Shape::Packed(_), _) | (_, Shape::Packed(_)) => {
                let (a, b) = (self.unpacked(a), self.unpacked(b));
                self.equal(&a, &b)
            }
            (Shape::Fun(_) | Shape::Arrow(_) | Shape::Acc(_) | Shape::Raw(_) | Shape::Tangent(..), _) => {
                self.error(Code::E0399, "these values cannot be compared", None)
            }
            _ => Ok(self.prim(&prim::EQ, &[a.leaves[0].clone(), b.leaves[0].clone()])),
        }
    }

    /// What `each` gives for the constructors that two values of an enum have, with their payloads as tuples.
    pub(super) fn by_constructors(
        &mut self,
        a: &Val,
        b: &Val,
        each: &dyn Fn(&mut Self, Alternative, Alternative) -> Result<Atom>,
    ) -> Result<Atom> {
        let (Shape::Enum(_, xs), Shape::Enum(_, ys)) = (&a.shape, &b.shape) else { panic!("two enums") };
        let mut outer = vec![];
        for (j, x) in xs.iter().enumerate() {
            let (px, vx) = payload(x);
            self.open_with(&px);
            let mut inner = vec![];
            for (k, y) in ys.iter().enumerate() {
                let (py, vy) = payload(y);
                self.open_with(&py);
                let val = Val::scalar(each(self, (j, &vx), (k, &vy))?);
                inner.push(self.suspend(py, val));
            }
            let val = self.case_of(b.leaves[0].clone(), inner)?;
            outer.push(self.suspend(px, val));
        }
        Ok(self.case_of(a.leaves[0].clone(), outer)?.leaves.swap_remove(0))
    }

    /// `<`, `<=` or the total order; lexicographic on tuples and structs. Enums are ordered by constructor, then by
    /// what they hold.
    pub(crate) fn less(&mut self, method: Method, a: &Val, b: &Val) -> Result<Atom> {
        let turned = method == Method::Le;
        let operands = if turned { [b.clone(), a.clone()] } else { [a.clone(), b.clone()] };
        if let Some(less) = self.by_instance(Method::Lt, &operands)? {
            return Ok(if turned { self.prim(&prim::NOT, &[less]) } else { less });
        }
        let def = if method == Method::Le { &prim::LE } else { &prim::LT };
        match &a.shape {
            Shape::Tuple(parts) | Shape::Struct(_, parts) if !parts.is_empty() => {
                let (xs, ys) = (a.parts(), b.parts());
                let last = xs.len() - 1;
                let mut out = self.less(method, &xs[last], &ys[last])?;
                for (x, y) in xs.iter().zip(&ys).take(last).rev() {
                    let strictly = if method == Method::Before { method } else { Method::Lt };
                    let before = self.less(strictly, x, y)?;
                    let same = if method == Method::Before {
                        let after = self.less(method, y, x)?;
                        self.prim(&prim::NOT, &[after])
                    } else {
                        self.equal(x, y)?
                    };
                    let rest = self.prim(&prim::AND, &[same, out]);
                    out = self.prim(&prim::OR, &[before, rest]);
                }
                Ok(out)
            }
            Shape::Tuple(_) | Shape::Struct(..) => Ok(Atom::Lit(Lit::Bool(method == Method::Le))),
            Shape::Scalar(s) if s.is_float() && method == Method::Before => {
                self.float_before(&a.leaves[0], &b.leaves[0])
            }
            Shape::Scalar(_) | Shape::Index(_) => {
                Ok(self.prim(def, &[a.leaves[0].clone(), b.leaves[0].clone()]))
            }
            Shape::Enum(..) if a.leaves[0].ty() == INT => {
                Ok(self.prim(def, &[a.leaves[0].clone(), b.leaves[0].clone()]))
            }
            Shape::Enum(..) => self.by_constructors(a, b, &|s, (j, x), (k, y)| {
                if j == k { s.less(method, x, y) } else { Ok(Atom::Lit(Lit::Bool(j < k))) }
            }),
            Shape::Rec(..) => self.less_cells(method, a, b),
            Shape::Packed(_) => {
                let (a, b) = (self.unpacked(a), self.unpacked(b));
                self.less(method, &a, &b)
            }
            Shape::Tangent(..)
            | Shape::Table(..)
            | Shape::Fun(_)
            | Shape::Arrow(_)
            | Shape::Acc(_)
            | Shape::Raw(_) => self.error(Code::E0399, "these values have no order", None),
        }
    }
}

impl Spec<'_> {
    /// `a` comes before `b`: numbers in order, -0 before +0, and NaN last.
    fn float_before(&mut self, a: &Atom, b: &Atom) -> Result<Atom> {
        let not_less = self.prim(&prim::LE, &[b.clone(), a.clone()]);
        self.open();
        let number = self.prim(&prim::EQ, &[a.clone(), a.clone()]);
        let less_or_nan = self.suspend(vec![], Val::scalar(number));
        self.open();
        // The quotient tells the zeros apart.
        let s = a.ty().scalar().expect("a float");
        let one = Atom::float(s, 1.0);
        let equal = self.prim(&prim::EQ, &[a.clone(), b.clone()]);
        let [over_a, over_b] = [a, b].map(|x| self.prim(&prim::DIV, &[one.clone(), x.clone()]));
        let signs = self.prim(&prim::LT, &[over_a, over_b]);
        let zeros = self.prim(&prim::AND, &[equal, signs]);
        let zeros = self.suspend(vec![], Val::scalar(zeros));
        Ok(self.case_of(not_less, vec![less_or_nan, zeros])?.leaves.swap_remove(0))
    }
}

/// Variables for a payload, and it as a tuple of them.
fn payload(parts: &[Shape]) -> (Vec<Var>, Val) {
    let vars: Vec<Var> = parts.iter().flat_map(Shape::leaf_tys).map(Var::new).collect();
    let leaves = vars.iter().map(Atom::from).collect();
    (vars, Val { shape: Shape::Tuple(parts.to_vec()), leaves })
}
