//! Whole values: zeros and contractions.

use std::sync::Arc;

use adl_diag::Span;
use adl_math::contract::Plan;

use crate::account::Account;
use crate::ir::Axes;
use crate::run::{RuntimeError, fail};
use crate::ty::{Scalar, Ty};
use crate::value::{Bundle, Leaves, Table, Tagged, Value};

/// The alternative of a tangent sum that stands for zero.
pub(super) const ZERO_TAG: u32 = 0;

/// Where a value is made: on which account, and for which statement.
pub(super) struct Maker<'a> {
    pub(super) account: &'a Arc<Account>,
    pub(super) span: Span,
    /// Elements made or read, for the cost counter.
    pub(super) touched: u64,
}

impl Maker<'_> {
    /// The zero of a type; `dims` gives the sizes of its outer tables.
    pub(super) fn zero(&mut self, ty: &Ty, dims: &dyn Fn(&Ty) -> Vec<usize>) -> Result<Value, RuntimeError> {
        Ok(match ty {
            Ty::Scalar(Scalar::F64) => Value::F64(0.0),
            Ty::Scalar(Scalar::F32) => Value::F32(0.0),
            Ty::Scalar(Scalar::Int) => Value::Int(0),
            Ty::Scalar(Scalar::Bool) => Value::Bool(false),
            Ty::Scalar(Scalar::Key) => Value::Key(0),
            Ty::Scalar(Scalar::Str) => Value::Str("".into()),
            Ty::Table(..) => {
                let (leaf, sizes) = (ty.dims().1.clone(), dims(ty));
                let one = self.zero(&leaf, dims)?;
                let n = sizes.iter().product();
                let leaves = self.filled(&leaf, &one, n)?;
                self.touched += n as u64;
                self.table(&sizes, leaves)?
            }
            Ty::Sum(_) => Value::Sum(Arc::new(Tagged { tag: ZERO_TAG, payload: vec![] })),
            // The zero of any size; adding gives the other.
            Ty::Pack(pack) => {
                let none = |ty: &Ty| vec![0; ty.dims().0.len()];
                let items: Result<Vec<Value>, _> = pack.items.iter().map(|ty| self.zero(ty, &none)).collect();
                Value::Pack(Arc::new(Bundle { sizes: vec![0; pack.sizes.len()], items: items? }))
            }
            Ty::Box(_)
            | Ty::Acc(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => unreachable!("lint: no zero of {ty:?} in first-order Core"),
        })
    }

    fn filled(&self, leaf: &Ty, one: &Value, n: usize) -> Result<Leaves, RuntimeError> {
        let mut leaves = Leaves::with_capacity(leaf, n).ok_or_else(|| self.too_much(u64::MAX))?;
        for _ in 0..n {
            leaves.push(one);
        }
        Ok(leaves)
    }

    fn too_much(&self, asked: u64) -> RuntimeError {
        let (held, limit) = (self.account.held(), self.account.limit());
        crate::account::OutOfMemory { asked, held, limit }.at(self.span)
    }

    /// A table of these leaves on the account.
    pub(super) fn table(&self, dims: &[usize], leaves: Leaves) -> Result<Value, RuntimeError> {
        let bytes = (leaves.len() * leaves.leaf_bytes()) as u64;
        let charge = self.account.charge(bytes).map_err(|error| error.at(self.span))?;
        Ok(Value::Table(Table::charged(dims, leaves, charge)))
    }

    /// A contraction in its reference order: results row-major, each a sum in the fixed order over the
    /// contracted axes, row-major in order of their labels' first occurrence.
    pub(super) fn contract(&mut self, spec: &Axes, a: &Value, b: &Value) -> Result<Value, RuntimeError> {
        let dims = |v: &Value| v.as_table().map_or(vec![], |t| t.dims().to_vec());
        let plan =
            Plan::new((&spec.a, &spec.b, &spec.out), (&dims(a), &dims(b))).map_err(|(left, right)| {
                fail::sizes_differ(self.span, "the sizes of a contracted axis", left as i64, right as i64)
            })?;
        self.touched += plan.cost();
        let sizes = plan.sizes();
        let leaves = match (floats(a), floats(b)) {
            (Floats::F64(x), Floats::F64(y)) => Leaves::F64(plan.run_f64(x, y)),
            (Floats::F32(x), Floats::F32(y)) => Leaves::F32(plan.run_f32(x, y)),
            (Floats::F64(_) | Floats::F32(_), _) => panic!("operands of a contraction have one type"),
        };
        if sizes.is_empty() {
            return Ok(leaves.get(0));
        }
        self.table(&sizes, leaves)
    }
}

enum Floats<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
}

fn floats(value: &Value) -> Floats<'_> {
    match value {
        Value::F64(x) => Floats::F64(std::slice::from_ref(x)),
        Value::F32(x) => Floats::F32(std::slice::from_ref(x)),
        Value::Table(table) => {
            let ((leaves, at), n) = (table.buffer(), table.len());
            match leaves {
                Leaves::F64(x) => Floats::F64(&x[at..at + n]),
                Leaves::F32(x) => Floats::F32(&x[at..at + n]),
                Leaves::Int(_) | Leaves::Bool(_) | Leaves::Key(_) | Leaves::Value(_) => {
                    panic!("a contraction is of floats")
                }
            }
        }
        Value::Int(_)
        | Value::Bool(_)
        | Value::Str(_)
        | Value::Key(_)
        | Value::Sum(_)
        | Value::Pack(_)
        | Value::Box(_) => {
            panic!("a contraction is of floats")
        }
    }
}
