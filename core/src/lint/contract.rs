//! Contractions.

use super::{Violation, fail, text};
use crate::ir::{Atom, Axes};
use crate::ty::Ty;

/// The type of a contraction (C8).
pub(super) fn contraction(a: &Ty, b: &Ty, spec: &Axes) -> Result<Ty, Violation> {
    let ((da, ea), (db, eb)) = (a.dims(), b.dims());
    if da.len() != spec.a.len()
        || db.len() != spec.b.len()
        || ea != eb
        || !ea.is_active()
        || ea.scalar().is_none()
    {
        return fail("C3", format!("operands of a contraction are {} and {}", text(a), text(b)));
    }
    for axis in spec.a.iter().chain(&spec.b).chain(&spec.out) {
        let lists = [&spec.a, &spec.b, &spec.out];
        let counts: Vec<usize> = lists.iter().map(|l| l.iter().filter(|x| *x == axis).count()).collect();
        if counts.iter().any(|c| *c > 1) || counts.iter().sum::<usize>() < 2 {
            return fail("C8", "an axis of a contraction occurs once only, or twice in one list");
        }
    }
    let size = |axis: &u8| {
        let at = |list: &[u8], dims: &[&Atom]| list.iter().position(|x| x == axis).map(|k| dims[k].clone());
        at(&spec.a, &da).or_else(|| at(&spec.b, &db)).expect("it occurs in an operand")
    };
    Ok(spec.out.iter().rev().fold(ea.clone(), |t, axis| Ty::table(size(axis), t)))
}
