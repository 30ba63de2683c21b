//! Run-time values of first-order Core.
//!
//! A table is dense and row-major: nested tables of scalars are one buffer with several sizes. Buffers
//! are shared and counted; a sub-table is a view into the buffer of its table. Writing needs a buffer
//! that nobody else holds, and copies it otherwise.

use std::mem;
use std::sync::Arc;

use crate::account::{Account, Charge, OutOfMemory};
use crate::ty::{Scalar, Ty};

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    /// 64-bit float.
    F64(f64),
    /// 32-bit float.
    F32(f32),
    /// Integer, and every index.
    Int(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Arc<str>),
    /// Random key, its words as one.
    Key(u64),
    /// Table.
    Table(Table),
    /// Alternative of a sum, with its payload.
    Sum(Arc<Tagged>),
    /// Existential bundle.
    Pack(Arc<Bundle>),
    /// Heap cell of a recursive type.
    Box(Arc<Cell>),
}

/// An alternative and its payload.
#[derive(Debug)]
pub struct Tagged {
    /// Which alternative.
    pub tag: u32,
    /// Its payload.
    pub payload: Vec<Value>,
}

/// Sizes, and items whose types mention them.
#[derive(Debug)]
pub struct Bundle {
    /// The sizes.
    pub sizes: Vec<i64>,
    /// The items.
    pub items: Vec<Value>,
}

/// What a box holds. Long chains of cells are dropped without recursion.
#[derive(Debug)]
pub struct Cell {
    items: Vec<Value>,
    _charge: Charge,
}

/// The elements of a table that are not tables themselves.
#[derive(Clone, Debug)]
pub enum Leaves {
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 32-bit floats.
    F32(Vec<f32>),
    /// Integers.
    Int(Vec<i64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Keys.
    Key(Vec<u64>),
    /// Texts, sums, bundles and boxes.
    Value(Vec<Value>),
}

/// A buffer and what it takes of the account.
#[derive(Debug)]
struct Store {
    leaves: Leaves,
    _charge: Charge,
}

/// A table, or a view into one.
#[derive(Clone, Debug)]
pub struct Table {
    store: Arc<Store>,
    /// The first leaf of the view.
    offset: usize,
    /// Sizes from the outside in; the first `skip` belong to the tables this is a part of.
    dims: Arc<[usize]>,
    skip: usize,
}

impl Value {
    /// A cell on an account.
    ///
    /// # Errors
    ///
    /// If the limit on memory is reached.
    pub fn cell(items: Vec<Value>, account: &Arc<Account>) -> Result<Value, OutOfMemory> {
        let bytes = mem::size_of::<Cell>() + items.len() * mem::size_of::<Value>();
        Ok(Value::Box(Arc::new(Cell { items, _charge: account.charge(bytes as u64)? })))
    }

    /// The integer, where it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Value::Int(k) = self { Some(*k) } else { None }
    }

    /// The truth value, where it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(b) = self { Some(*b) } else { None }
    }

    /// The table, where it is one.
    #[must_use]
    pub fn as_table(&self) -> Option<&Table> {
        if let Value::Table(t) = self { Some(t) } else { None }
    }

    /// The number of leaves that are scalars, through all structure: the cost of a whole use.
    #[must_use]
    pub fn weight(&self) -> u64 {
        match self {
            Value::Table(t) => t.len() as u64,
            Value::Sum(s) => s.payload.iter().map(Value::weight).sum::<u64>() + 1,
            Value::Pack(p) => p.items.iter().map(Value::weight).sum(),
            Value::F64(_)
            | Value::F32(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Key(_)
            | Value::Box(_) => 1,
        }
    }

    /// Are the two the same value: bit for bit, with all NaN alike?
    #[must_use]
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::F64(x), Value::F64(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
            (Value::F32(x), Value::F32(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
            (Value::Int(x), Value::Int(y)) => x == y,
            (Value::Bool(x), Value::Bool(y)) => x == y,
            (Value::Str(x), Value::Str(y)) => x == y,
            (Value::Key(x), Value::Key(y)) => x == y,
            (Value::Table(x), Value::Table(y)) => {
                x.dims() == y.dims() && (0..x.len()).all(|i| x.leaf(i).same(&y.leaf(i)))
            }
            (Value::Sum(x), Value::Sum(y)) => x.tag == y.tag && all_same(&x.payload, &y.payload),
            (Value::Pack(x), Value::Pack(y)) => x.sizes == y.sizes && all_same(&x.items, &y.items),
            (Value::Box(x), Value::Box(y)) => Arc::ptr_eq(x, y) || all_same(&x.items, &y.items),
            (
                Value::F64(_)
                | Value::F32(_)
                | Value::Int(_)
                | Value::Bool(_)
                | Value::Str(_)
                | Value::Key(_)
                | Value::Table(_)
                | Value::Sum(_)
                | Value::Pack(_)
                | Value::Box(_),
                _,
            ) => false,
        }
    }
}

fn all_same(x: &[Value], y: &[Value]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.same(y))
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::F64(x)
    }
}
impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::Int(x)
    }
}
impl From<bool> for Value {
    fn from(x: bool) -> Value {
        Value::Bool(x)
    }
}
impl From<Table> for Value {
    fn from(x: Table) -> Value {
        Value::Table(x)
    }
}

impl Cell {
    /// What it holds.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        drop_all(mem::take(&mut self.items));
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Leaves::Value(values) = &mut self.leaves {
            drop_all(mem::take(values));
        }
    }
}

/// Drops values, and what only they hold, from a list instead of the stack.
fn drop_all(mut todo: Vec<Value>) {
    while let Some(value) = todo.pop() {
        match value {
            Value::Box(cell) => {
                if let Some(mut cell) = Arc::into_inner(cell) {
                    todo.append(&mut cell.items);
                }
            }
            Value::Sum(sum) => {
                if let Some(mut sum) = Arc::into_inner(sum) {
                    todo.append(&mut sum.payload);
                }
            }
            Value::Pack(pack) => {
                if let Some(mut pack) = Arc::into_inner(pack) {
                    todo.append(&mut pack.items);
                }
            }
            Value::Table(table) => {
                if let Some(mut store) = Arc::into_inner(table.store)
                    && let Leaves::Value(values) = &mut store.leaves
                {
                    todo.append(values);
                }
            }
            Value::F64(_)
            | Value::F32(_)
            | Value::Int(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Key(_) => {}
        }
    }
}

impl Leaves {
    /// No leaves yet of this element type, with room for `n`; `None` if that much cannot be had.
    #[must_use]
    pub fn with_capacity(elem: &Ty, n: usize) -> Option<Leaves> {
        fn room<T>(n: usize) -> Option<Vec<T>> {
            let mut items = Vec::new();
            items.try_reserve_exact(n).ok()?;
            Some(items)
        }
        Some(match elem.scalar() {
            Some(Scalar::F64) => Leaves::F64(room(n)?),
            Some(Scalar::F32) => Leaves::F32(room(n)?),
            Some(Scalar::Int) => Leaves::Int(room(n)?),
            Some(Scalar::Bool) => Leaves::Bool(room(n)?),
            Some(Scalar::Key) => Leaves::Key(room(n)?),
            Some(Scalar::Str) | None => Leaves::Value(room(n)?),
        })
    }

    /// The number of leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Leaves::F64(v) => v.len(),
            Leaves::F32(v) => v.len(),
            Leaves::Int(v) => v.len(),
            Leaves::Bool(v) => v.len(),
            Leaves::Key(v) => v.len(),
            Leaves::Value(v) => v.len(),
        }
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes a leaf takes.
    #[must_use]
    pub fn leaf_bytes(&self) -> usize {
        match self {
            Leaves::F64(_) | Leaves::Int(_) | Leaves::Key(_) => 8,
            Leaves::F32(_) => 4,
            Leaves::Bool(_) => 1,
            Leaves::Value(_) => mem::size_of::<Value>(),
        }
    }

    /// Leaf `i` as a value.
    #[must_use]
    pub fn get(&self, i: usize) -> Value {
        match self {
            Leaves::F64(v) => Value::F64(v[i]),
            Leaves::F32(v) => Value::F32(v[i]),
            Leaves::Int(v) => Value::Int(v[i]),
            Leaves::Bool(v) => Value::Bool(v[i]),
            Leaves::Key(v) => Value::Key(v[i]),
            Leaves::Value(v) => v[i].clone(),
        }
    }

    /// A copy of the leaves `from .. to`.
    #[must_use]
    pub fn part(&self, from: usize, to: usize) -> Leaves {
        match self {
            Leaves::F64(v) => Leaves::F64(v[from..to].to_vec()),
            Leaves::F32(v) => Leaves::F32(v[from..to].to_vec()),
            Leaves::Int(v) => Leaves::Int(v[from..to].to_vec()),
            Leaves::Bool(v) => Leaves::Bool(v[from..to].to_vec()),
            Leaves::Key(v) => Leaves::Key(v[from..to].to_vec()),
            Leaves::Value(v) => Leaves::Value(v[from..to].to_vec()),
        }
    }

    /// Adds a value's leaves at the end: a scalar's one, or all of a table.
    ///
    /// # Panics
    ///
    /// If the kinds differ, which is a mistake of the compiler.
    pub fn push(&mut self, value: &Value) {
        if let Value::Table(table) = value {
            return self.extend(table);
        }
        match (self, value) {
            (Leaves::F64(v), Value::F64(x)) => v.push(*x),
            (Leaves::F32(v), Value::F32(x)) => v.push(*x),
            (Leaves::Int(v), Value::Int(x)) => v.push(*x),
            (Leaves::Bool(v), Value::Bool(x)) => v.push(*x),
            (Leaves::Key(v), Value::Key(x)) => v.push(*x),
            (Leaves::Value(v), x) => v.push(x.clone()),
            (Leaves::F64(_) | Leaves::F32(_) | Leaves::Int(_) | Leaves::Bool(_) | Leaves::Key(_), x) => {
                panic!("{x:?} does not fit its table")
            }
        }
    }

    /// Overwrites the leaves from `at` on by those of the value.
    ///
    /// # Panics
    ///
    /// If the kinds differ, which is a mistake of the compiler.
    pub fn write(&mut self, at: usize, value: &Value) {
        if let Value::Table(table) = value {
            return self.write_table(at, table);
        }
        match (self, value) {
            (Leaves::F64(v), Value::F64(x)) => v[at] = *x,
            (Leaves::F32(v), Value::F32(x)) => v[at] = *x,
            (Leaves::Int(v), Value::Int(x)) => v[at] = *x,
            (Leaves::Bool(v), Value::Bool(x)) => v[at] = *x,
            (Leaves::Key(v), Value::Key(x)) => v[at] = *x,
            (Leaves::Value(v), x) => v[at] = x.clone(),
            (Leaves::F64(_) | Leaves::F32(_) | Leaves::Int(_) | Leaves::Bool(_) | Leaves::Key(_), x) => {
                panic!("{x:?} does not fit its table")
            }
        }
    }

    fn extend(&mut self, table: &Table) {
        let (from, to) = (table.offset, table.offset + table.len());
        match (self, &table.store.leaves) {
            (Leaves::F64(v), Leaves::F64(x)) => v.extend_from_slice(&x[from..to]),
            (Leaves::F32(v), Leaves::F32(x)) => v.extend_from_slice(&x[from..to]),
            (Leaves::Int(v), Leaves::Int(x)) => v.extend_from_slice(&x[from..to]),
            (Leaves::Bool(v), Leaves::Bool(x)) => v.extend_from_slice(&x[from..to]),
            (Leaves::Key(v), Leaves::Key(x)) => v.extend_from_slice(&x[from..to]),
            (Leaves::Value(v), Leaves::Value(x)) => v.extend_from_slice(&x[from..to]),
            (
                Leaves::F64(_)
                | Leaves::F32(_)
                | Leaves::Int(_)
                | Leaves::Bool(_)
                | Leaves::Key(_)
                | Leaves::Value(_),
                _,
            ) => panic!("a table of another element type"),
        }
    }

    fn write_table(&mut self, at: usize, table: &Table) {
        let (from, to) = (table.offset, table.offset + table.len());
        let end = at + table.len();
        match (self, &table.store.leaves) {
            (Leaves::F64(v), Leaves::F64(x)) => v[at..end].copy_from_slice(&x[from..to]),
            (Leaves::F32(v), Leaves::F32(x)) => v[at..end].copy_from_slice(&x[from..to]),
            (Leaves::Int(v), Leaves::Int(x)) => v[at..end].copy_from_slice(&x[from..to]),
            (Leaves::Bool(v), Leaves::Bool(x)) => v[at..end].copy_from_slice(&x[from..to]),
            (Leaves::Key(v), Leaves::Key(x)) => v[at..end].copy_from_slice(&x[from..to]),
            (Leaves::Value(v), Leaves::Value(x)) => v[at..end].clone_from_slice(&x[from..to]),
            (
                Leaves::F64(_)
                | Leaves::F32(_)
                | Leaves::Int(_)
                | Leaves::Bool(_)
                | Leaves::Key(_)
                | Leaves::Value(_),
                _,
            ) => panic!("a table of another element type"),
        }
    }
}

impl Table {
    /// A table of these sizes with these leaves, off any account.
    ///
    /// # Panics
    ///
    /// If the number of leaves is not the product of the sizes.
    #[must_use]
    pub fn new(dims: &[usize], leaves: Leaves) -> Table {
        Table::charged(dims, leaves, Charge::default())
    }

    /// A table whose buffer is paid for by the charge.
    ///
    /// # Panics
    ///
    /// If the number of leaves is not the product of the sizes.
    #[must_use]
    pub fn charged(dims: &[usize], leaves: Leaves, charge: Charge) -> Table {
        assert_eq!(dims.iter().product::<usize>(), leaves.len(), "sizes and leaves of a table agree");
        Table { store: Arc::new(Store { leaves, _charge: charge }), offset: 0, dims: dims.into(), skip: 0 }
    }

    /// A table of 64-bit floats, off any account.
    #[must_use]
    pub fn of_f64(xs: &[f64]) -> Table {
        Table::new(&[xs.len()], Leaves::F64(xs.to_vec()))
    }

    /// A table of integers, off any account.
    #[must_use]
    pub fn of_int(xs: &[i64]) -> Table {
        Table::new(&[xs.len()], Leaves::Int(xs.to_vec()))
    }

    /// Sizes from the outside in.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims[self.skip..]
    }

    /// The number of leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dims().iter().product()
    }

    /// Are there no leaves?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Does anyone else hold the buffer?
    #[must_use]
    pub fn is_shared(&self) -> bool {
        1 < Arc::strong_count(&self.store)
    }

    /// Leaf `i` in row-major order.
    #[must_use]
    pub fn leaf(&self, i: usize) -> Value {
        self.store.leaves.get(self.offset + i)
    }

    /// The whole buffer, and where this table begins in it.
    #[must_use]
    pub fn buffer(&self) -> (&Leaves, usize) {
        (&self.store.leaves, self.offset)
    }

    /// The leaves alone, without a copy where nobody else holds the buffer.
    #[must_use]
    pub fn into_leaves(mut self) -> Leaves {
        let (from, to) = (self.offset, self.offset + self.len());
        if let Some(store) = Arc::get_mut(&mut self.store)
            && store.leaves.len() == to - from
        {
            return mem::replace(&mut store.leaves, Leaves::Bool(vec![]));
        }
        self.store.leaves.part(from, to)
    }

    /// The leaves as 64-bit floats, where they are.
    #[must_use]
    pub fn f64s(&self) -> Option<&[f64]> {
        match &self.store.leaves {
            Leaves::F64(v) => Some(&v[self.offset..self.offset + self.len()]),
            Leaves::F32(_) | Leaves::Int(_) | Leaves::Bool(_) | Leaves::Key(_) | Leaves::Value(_) => None,
        }
    }

    /// The element or sub-table at an index that is in bounds.
    #[must_use]
    pub fn at(&self, index: &[usize]) -> Value {
        let (mut offset, dims) = (0, self.dims());
        for (i, n) in index.iter().zip(dims) {
            offset = offset * n + i;
        }
        let rest = &dims[index.len()..];
        offset = self.offset + offset * rest.iter().product::<usize>();
        if rest.is_empty() {
            return self.store.leaves.get(offset);
        }
        let skip = self.skip + index.len();
        Value::Table(Table { store: Arc::clone(&self.store), offset, dims: Arc::clone(&self.dims), skip })
    }

    /// This table with the element or sub-table at an index in bounds replaced, and the bytes copied:
    /// none if nobody else holds the buffer.
    ///
    /// # Errors
    ///
    /// If a copy is needed and the limit on memory is reached.
    pub fn updated(
        mut self,
        index: &[usize],
        value: &Value,
        account: &Arc<Account>,
    ) -> Result<(Table, u64), OutOfMemory> {
        let mut at = 0;
        for (i, n) in index.iter().zip(self.dims()) {
            at = at * n + i;
        }
        at *= self.dims()[index.len()..].iter().product::<usize>();
        let mut copied = 0;
        if Arc::get_mut(&mut self.store).is_none() {
            self = self.copied(account)?;
            copied = (self.len() * self.store.leaves.leaf_bytes()) as u64;
        }
        at += self.offset;
        Arc::get_mut(&mut self.store).expect("nobody else holds a fresh copy").leaves.write(at, value);
        Ok((self, copied))
    }

    /// A copy in a buffer of its own.
    fn copied(&self, account: &Arc<Account>) -> Result<Table, OutOfMemory> {
        let bytes = (self.len() * self.store.leaves.leaf_bytes()) as u64;
        let charge = account.charge(bytes)?;
        let (from, to) = (self.offset, self.offset + self.len());
        Ok(Table::charged(self.dims(), self.store.leaves.part(from, to), charge))
    }
}

#[cfg(test)]
mod tests;
