//! Tables made element by element.

use std::sync::Arc;

use crate::account::{Account, Charge, OutOfMemory};
use crate::ty::Ty;
use crate::value::{Leaves, Table, Value};

/// A table under construction: `push` its elements in order, then `finish`.
#[derive(Debug)]
pub(super) struct Builder {
    leaves: Leaves,
    charge: Charge,
    /// Leaves that the charge covers.
    paid: usize,
    /// Sizes of an element; those of the first one, once there is one.
    inner: Vec<usize>,
    n: usize,
}

impl Builder {
    /// A table with elements of the sizes `inner` around leaves of type `leaf`, and room for `n`.
    pub(super) fn new(
        leaf: &Ty,
        inner: Vec<usize>,
        n: usize,
        account: &Arc<Account>,
    ) -> Result<Builder, OutOfMemory> {
        let too_much = |asked: u64| OutOfMemory { asked, held: account.held(), limit: account.limit() };
        let empty = Leaves::with_capacity(leaf, 0).unwrap_or(Leaves::F64(vec![]));
        let total = inner.iter().try_fold(n, |n, d| n.checked_mul(*d)).ok_or(too_much(u64::MAX))?;
        let bytes = (total as u64).checked_mul(empty.leaf_bytes() as u64).ok_or(too_much(u64::MAX))?;
        let charge = account.charge(bytes)?;
        let leaves = Leaves::with_capacity(leaf, total).ok_or(too_much(bytes))?;
        Ok(Builder { leaves, charge, paid: total, inner, n: 0 })
    }

    /// Adds an element.
    pub(super) fn push(&mut self, value: &Value) -> Result<(), OutOfMemory> {
        if let Value::Table(table) = value
            && self.inner != table.dims()
        {
            self.inner = table.dims().to_vec();
        }
        let more = if let Value::Table(table) = value { table.len() } else { 1 };
        let need = self.leaves.len() + more;
        if self.paid < need {
            let room = need.max(2 * self.paid).max(16);
            self.charge.grow(((room - self.paid) * self.leaves.leaf_bytes()) as u64)?;
            self.paid = room;
        }
        self.leaves.push(value);
        self.n += 1;
        Ok(())
    }

    /// The table of elements that came from last to first.
    pub(super) fn finish_reversed(mut self) -> Value {
        let width: usize = self.inner.iter().product();
        reverse_groups(&mut self.leaves, width);
        self.finish()
    }

    /// The table.
    pub(super) fn finish(self) -> Value {
        let mut dims = vec![self.n];
        dims.extend(self.inner);
        Value::Table(Table::charged(&dims, self.leaves, self.charge))
    }
}

/// Reverses the order of groups of `width` leaves.
fn reverse_groups(leaves: &mut Leaves, width: usize) {
    fn go<T>(xs: &mut [T], width: usize) {
        xs.reverse();
        if 1 < width {
            xs.chunks_mut(width).for_each(<[T]>::reverse);
        }
    }
    match leaves {
        Leaves::F64(xs) => go(xs, width),
        Leaves::F32(xs) => go(xs, width),
        Leaves::Int(xs) => go(xs, width),
        Leaves::Bool(xs) => go(xs, width),
        Leaves::Key(xs) => go(xs, width),
        Leaves::Value(xs) => go(xs, width),
    }
}
