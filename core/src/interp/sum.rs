//! The sum of two tangents. Chains of cells may be very deep, so they are followed with a list of what is to be done
//! instead of the stack.

use std::sync::Arc;

use super::data::{Maker, ZERO_TAG};
use crate::run::{RuntimeError, fail};
use crate::value::{Bundle, Leaves, Table, Tagged, Value};

/// What is to be done. The sums of parts lie on a stack in order; what is made of them takes them from there.
enum Task {
    Add(Value, Value),
    Sum(u32, usize),
    Pack(Vec<i64>, usize),
    Table(Vec<usize>, usize),
    Cell(usize),
}

impl Maker<'_> {
    /// The sum of two tangents.
    pub(super) fn add(&mut self, x: &Value, y: &Value) -> Result<Value, RuntimeError> {
        let mut todo = vec![Task::Add(x.clone(), y.clone())];
        let mut done: Vec<Value> = vec![];
        while let Some(task) = todo.pop() {
            let value = match task {
                Task::Add(x, y) => match self.add_whole(&x, &y, &mut todo)? {
                    Some(value) => value,
                    None => continue,
                },
                Task::Sum(tag, n) => Value::Sum(Arc::new(Tagged { tag, payload: last(&mut done, n) })),
                Task::Pack(sizes, n) => Value::Pack(Arc::new(Bundle { sizes, items: last(&mut done, n) })),
                Task::Table(dims, n) => self.table(&dims, Leaves::Value(last(&mut done, n)))?,
                Task::Cell(n) => {
                    Value::cell(last(&mut done, n), self.account).map_err(|error| error.at(self.span))?
                }
            };
            done.push(value);
        }
        Ok(done.pop().expect("the sum of the first task"))
    }

    /// The sum, where it does not need those of parts first; else these are to be done.
    fn add_whole(
        &mut self,
        x: &Value,
        y: &Value,
        todo: &mut Vec<Task>,
    ) -> Result<Option<Value>, RuntimeError> {
        Ok(Some(match (x, y) {
            (Value::F64(x), Value::F64(y)) => Value::F64(x + y),
            (Value::F32(x), Value::F32(y)) => Value::F32(x + y),
            (Value::Table(a), Value::Table(b)) => return self.add_tables(a, b, todo),
            (Value::Sum(a), Value::Sum(b)) => match (a.tag, b.tag) {
                (ZERO_TAG, _) => y.clone(),
                (_, ZERO_TAG) => x.clone(),
                (s, t) if s == t => {
                    todo.push(Task::Sum(s, a.payload.len()));
                    add_parts(&a.payload, &b.payload, todo);
                    return Ok(None);
                }
                _ => return Err(fail::constructors_differ(self.span)),
            },
            (Value::Pack(a), Value::Pack(b)) => {
                if a.sizes != b.sizes {
                    // The zero of a pack has no sizes.
                    return Ok(Some(if a.sizes.iter().all(|n| *n == 0) { y.clone() } else { x.clone() }));
                }
                todo.push(Task::Pack(a.sizes.clone(), a.items.len()));
                add_parts(&a.items, &b.items, todo);
                return Ok(None);
            }
            (Value::Box(a), Value::Box(b)) => {
                todo.push(Task::Cell(a.items().len()));
                add_parts(a.items(), b.items(), todo);
                return Ok(None);
            }
            // What has no tangent stays as it is.
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
            ) => x.clone(),
        }))
    }

    fn add_tables(
        &mut self,
        a: &Table,
        b: &Table,
        todo: &mut Vec<Task>,
    ) -> Result<Option<Value>, RuntimeError> {
        if a.dims() != b.dims() {
            let size = |t: &Table| t.dims().first().map_or(0, |n| *n as i64);
            return Err(fail::sizes_differ(self.span, "the sizes of two tangents", size(a), size(b)));
        }
        let n = a.len();
        self.touched += n as u64;
        let ((xs, i), (ys, j)) = (a.buffer(), b.buffer());
        let leaves = match (xs, ys) {
            (Leaves::F64(x), Leaves::F64(y)) => Leaves::F64(zip(&x[i..i + n], &y[j..j + n], |x, y| x + y)),
            (Leaves::F32(x), Leaves::F32(y)) => Leaves::F32(zip(&x[i..i + n], &y[j..j + n], |x, y| x + y)),
            (
                Leaves::F64(_)
                | Leaves::F32(_)
                | Leaves::Int(_)
                | Leaves::Bool(_)
                | Leaves::Key(_)
                | Leaves::Value(_),
                _,
            ) => {
                todo.push(Task::Table(a.dims().to_vec(), n));
                let parts = |t: &Table| (0..n).map(|k| t.leaf(k)).collect::<Vec<Value>>();
                add_parts(&parts(a), &parts(b), todo);
                return Ok(None);
            }
        };
        Ok(Some(self.table(a.dims(), leaves)?))
    }
}

/// The task on top is done first, and its sum lies lowest.
fn add_parts(x: &[Value], y: &[Value], todo: &mut Vec<Task>) {
    todo.extend(x.iter().zip(y).rev().map(|(x, y)| Task::Add(x.clone(), y.clone())));
}

/// Takes the last `n`, in order.
fn last(done: &mut Vec<Value>, n: usize) -> Vec<Value> {
    done.split_off(done.len() - n)
}

fn zip<T: Copy>(x: &[T], y: &[T], f: impl Fn(T, T) -> T) -> Vec<T> {
    x.iter().zip(y).map(|(x, y)| f(*x, *y)).collect()
}
