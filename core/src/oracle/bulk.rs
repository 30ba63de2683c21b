//! Triangular systems, by substitution on numbers that carry derivatives. The decompositions have none by themselves.

use std::rc::Rc;

use adl_linalg::Triangle;

use super::Stop;
use super::num::{Leaf, Num, float_row};
use super::value::Val;
use crate::bulk::{self, Bulk};
use crate::prim::{self, PrimDef};

/// A bulk primitive on values.
pub(super) fn apply<N: Num>(store: &mut N::Store, row: Bulk, args: &[Val<N>]) -> Result<Val<N>, Stop> {
    if row != Bulk(&bulk::TRI_SOLVE) {
        return Err(Stop::NotCovered(format!("`{}`", row.0.name)));
    }
    let part = Triangle::from_bits(args[0].as_int()?);
    let (Val::Table(matrix), Val::Table(right)) = (&args[1], &args[2]) else {
        return Err(Stop::ill_formed("a system without tables"));
    };
    let n = matrix.len() as i64;
    let entry = |i: i64, j: i64| -> Result<N, Stop> {
        let at = if part.transposed { [j, i] } else { [i, j] };
        match args[1].at(&at)?.clone().into_leaf()? {
            Leaf::Float(x) => Ok(x),
            Leaf::Other(_) => Err(Stop::ill_formed("a matrix without floats")),
        }
    };
    let forward = part.lower != part.transposed;
    let order: Vec<i64> = if forward { (0..n).collect() } else { (0..n).rev().collect() };
    let mut x = right.to_vec();
    for (k, i) in order.iter().enumerate() {
        for j in &order[..k] {
            let t = entry(*i, *j)?;
            let known = x[*j as usize].clone();
            let product = scaled(store, &prim::MUL, &known, &t)?;
            x[*i as usize] = minus(store, &x[*i as usize], &product)?;
        }
        if !part.unit {
            x[*i as usize] = scaled(store, &prim::DIV, &x[*i as usize], &entry(*i, *i)?)?;
        }
    }
    Ok(Val::Table(Rc::new(x)))
}

/// Each number of `x` with `by`, by a row.
fn scaled<N: Num>(store: &mut N::Store, row: &'static PrimDef, x: &Val<N>, by: &N) -> Result<Val<N>, Stop> {
    match x {
        Val::Leaf(Leaf::Float(x)) => Ok(Val::Leaf(Leaf::Float(float_row(store, row, &[x, by])?))),
        Val::Table(xs) => {
            let all: Result<Vec<Val<N>>, Stop> = xs.iter().map(|x| scaled(store, row, x, by)).collect();
            Ok(Val::table(all?))
        }
        other @ (Val::Leaf(_) | Val::Sum(..) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_)) => {
            Err(Stop::ill_formed(&format!("{} in a right side", other.kind())))
        }
    }
}

fn minus<N: Num>(store: &mut N::Store, x: &Val<N>, y: &Val<N>) -> Result<Val<N>, Stop> {
    match (x, y) {
        (Val::Leaf(Leaf::Float(x)), Val::Leaf(Leaf::Float(y))) => {
            Ok(Val::Leaf(Leaf::Float(float_row(store, &prim::SUB, &[x, y])?)))
        }
        (Val::Table(xs), Val::Table(ys)) => {
            let all: Result<Vec<Val<N>>, Stop> =
                xs.iter().zip(ys.iter()).map(|(x, y)| minus(store, x, y)).collect();
            Ok(Val::table(all?))
        }
        (
            other
            @ (Val::Leaf(_) | Val::Table(_) | Val::Sum(..) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_)),
            _,
        ) => Err(Stop::ill_formed(&format!("{} in a right side", other.kind()))),
    }
}
