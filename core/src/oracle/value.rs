//! Values of the oracle: nested lists of numbers.

use std::rc::Rc;

use adl_diag::Span;

use super::Stop;
use super::acc::AccRef;
use super::num::{Leaf, Num, Real, float_row};
use crate::prim::{self, S};
use crate::run::fail;
use crate::value::Value;

/// The alternative of a tangent sum that stands for zero.
pub(super) const ZERO_TAG: u32 = 0;

/// A value. Parts are shared and copied when written.
#[derive(Clone, Debug)]
pub(super) enum Val<N> {
    Leaf(Leaf<N>),
    Table(Rc<Vec<Val<N>>>),
    Sum(u32, Rc<Vec<Val<N>>>),
    Pack(Vec<i64>, Rc<Vec<Val<N>>>),
    Cell(Rc<Vec<Val<N>>>),
    Acc(AccRef),
}

impl<N: Num> Val<N> {
    pub(super) fn int(k: i64) -> Val<N> {
        Val::Leaf(Leaf::Other(S::Int(k)))
    }

    pub(super) fn table(items: Vec<Val<N>>) -> Val<N> {
        Val::Table(Rc::new(items))
    }

    pub(super) fn as_int(&self) -> Result<i64, Stop> {
        let Val::Leaf(Leaf::Other(S::Int(k))) = self else {
            return Err(Stop::ill_formed(&format!("{} is no Int", self.kind())));
        };
        Ok(*k)
    }

    pub(super) fn as_bool(&self) -> Result<bool, Stop> {
        let Val::Leaf(Leaf::Other(S::Bool(b))) = self else {
            return Err(Stop::ill_formed(&format!("{} is no Bool", self.kind())));
        };
        Ok(*b)
    }

    pub(super) fn into_leaf(self) -> Result<Leaf<N>, Stop> {
        let kind = self.kind();
        let Val::Leaf(leaf) = self else { return Err(Stop::ill_formed(&format!("{kind} is no scalar"))) };
        Ok(leaf)
    }

    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Val::Leaf(Leaf::Float(_)) => "a float",
            Val::Leaf(Leaf::Other(_)) => "a scalar without floats",
            Val::Table(_) => "a table",
            Val::Sum(..) => "a sum",
            Val::Pack(..) => "a pack",
            Val::Cell(_) => "a cell",
            Val::Acc(_) => "an accumulator",
        }
    }

    /// The element or sub-table at an index.
    pub(super) fn at(&self, index: &[i64]) -> Result<&Val<N>, Stop> {
        let Some((first, rest)) = index.split_first() else { return Ok(self) };
        let Val::Table(items) = self else { return Err(Stop::ill_formed("an index of what is no table")) };
        items[position(*first, items.len())?].at(rest)
    }

    /// The place of an element or sub-table, to write to.
    pub(super) fn at_mut(&mut self, index: &[i64]) -> Result<&mut Val<N>, Stop> {
        let Some((first, rest)) = index.split_first() else { return Ok(self) };
        let Val::Table(items) = self else { return Err(Stop::ill_formed("an index of what is no table")) };
        let at = position(*first, items.len())?;
        Rc::make_mut(items)[at].at_mut(rest)
    }

    /// Adds its floats, in order; those in cells do not count.
    pub(super) fn floats(&self, out: &mut Vec<N>) {
        match self {
            Val::Leaf(Leaf::Float(x)) => out.push(x.clone()),
            Val::Table(items) | Val::Sum(_, items) | Val::Pack(_, items) => {
                items.iter().for_each(|item| item.floats(out));
            }
            Val::Leaf(Leaf::Other(_)) | Val::Cell(_) | Val::Acc(_) => {}
        }
    }
}

/// The position that an index is, or the failure.
pub(super) fn position(i: i64, n: usize) -> Result<usize, Stop> {
    let fits = usize::try_from(i).ok().filter(|at| *at < n);
    fits.ok_or_else(|| Stop::Failed(fail::out_of_bounds(Span::default(), i, n as i64)))
}

/// The sum of two tangents.
pub(super) fn add<N: Num>(store: &mut N::Store, x: &Val<N>, y: &Val<N>) -> Result<Val<N>, Stop> {
    Ok(match (x, y) {
        (Val::Leaf(Leaf::Float(x)), Val::Leaf(Leaf::Float(y))) => {
            Val::Leaf(Leaf::Float(float_row(store, &prim::ADD, &[x, y])?))
        }
        (Val::Table(a), Val::Table(b)) => {
            if a.len() != b.len() {
                let (left, right) = (a.len() as i64, b.len() as i64);
                let error = fail::sizes_differ(Span::default(), "the sizes of two tangents", left, right);
                return Err(Stop::Failed(error));
            }
            Val::Table(add_all(store, a, b)?)
        }
        (Val::Sum(s, a), Val::Sum(t, b)) => match (*s, *t) {
            (ZERO_TAG, _) => y.clone(),
            (_, ZERO_TAG) => x.clone(),
            (s, t) if s == t => Val::Sum(s, add_all(store, a, b)?),
            _ => return Err(Stop::Failed(fail::constructors_differ(Span::default()))),
        },
        // The zero of a pack has no elements; adding gives the other.
        (Val::Pack(m, a), Val::Pack(n, b)) => {
            if m == n {
                Val::Pack(m.clone(), add_all(store, a, b)?)
            } else if m.iter().all(|size| *size == 0) {
                y.clone()
            } else {
                x.clone()
            }
        }
        (Val::Cell(a), Val::Cell(b)) => Val::Cell(add_all(store, a, b)?),
        // What has no tangent stays as it is.
        (Val::Leaf(Leaf::Other(_)), Val::Leaf(Leaf::Other(_))) => x.clone(),
        (Val::Leaf(_) | Val::Table(_) | Val::Sum(..) | Val::Pack(..) | Val::Cell(_) | Val::Acc(_), _) => {
            return Err(Stop::ill_formed(&format!("the sum of {} and {}", x.kind(), y.kind())));
        }
    })
}

fn add_all<N: Num>(store: &mut N::Store, a: &[Val<N>], b: &[Val<N>]) -> Result<Rc<Vec<Val<N>>>, Stop> {
    let sums: Result<Vec<Val<N>>, Stop> = a.iter().zip(b).map(|(x, y)| add(store, x, y)).collect();
    Ok(Rc::new(sums?))
}

/// A value from outside; `float` gives each float its number.
pub(super) fn import<N: Num>(value: &Value, float: &mut impl FnMut(Real) -> N) -> Result<Val<N>, Stop> {
    let other = |s: S| Ok(Val::Leaf(Leaf::Other(s)));
    match value {
        Value::F64(x) => Ok(Val::Leaf(Leaf::Float(float(Real::F64(*x))))),
        Value::F32(x) => Ok(Val::Leaf(Leaf::Float(float(Real::F32(*x))))),
        Value::Int(k) => other(S::Int(*k)),
        Value::Bool(b) => other(S::Bool(*b)),
        Value::Str(text) => other(S::Str(text.clone())),
        Value::Key(bits) => other(S::Key(*bits)),
        Value::Table(table) => {
            let mut items: Vec<Val<N>> = vec![];
            let n = table.dims().first().copied().unwrap_or(0);
            for i in 0..n {
                items.push(import(&table.at(&[i]), float)?);
            }
            Ok(Val::table(items))
        }
        Value::Sum(sum) => Ok(Val::Sum(sum.tag, import_all(&sum.payload, float)?)),
        Value::Pack(pack) => Ok(Val::Pack(pack.sizes.clone(), import_all(&pack.items, float)?)),
        Value::Box(_) => Err(Stop::NotCovered("an argument that is a cell".to_string())),
    }
}

fn import_all<N: Num>(values: &[Value], float: &mut impl FnMut(Real) -> N) -> Result<Rc<Vec<Val<N>>>, Stop> {
    let mut items = vec![];
    for value in values {
        items.push(import(value, float)?);
    }
    Ok(Rc::new(items))
}
