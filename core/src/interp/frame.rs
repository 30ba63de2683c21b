//! Frames: a block under way, and what becomes of its results.

use std::sync::Arc;

use adl_diag::Span;
use adl_math::order::{Fold, Op as Order};
use adl_math::{double, single};

use super::code::{Block, Combine, Item, Slot};
use super::table::Builder;
use crate::run::{RuntimeError, fail};
use crate::ty::{Scalar, Ty};
use crate::value::Value;

/// A block under way. The statement it belongs to is the current one of the frame below.
pub(super) struct Frame<'c> {
    pub(super) block: &'c Block,
    /// The statement to run next.
    pub(super) pc: usize,
    pub(super) then: Then<'c>,
}

/// What becomes of a block's results.
pub(super) enum Then<'c> {
    /// They are the results of a call.
    Return,
    /// They are the results of a `case`.
    Arm,
    /// An element each of the tables of a `for`.
    For { i: i64, n: i64, var: Slot, tables: Vec<Builder> },
    /// An element of a reduction.
    Reduce(Box<Reduction<'c>>),
    /// The next state of a loop, then what it collects; or the condition of a `while`.
    Loop(Box<Looping<'c>>),
}

/// A reduction under way.
pub(super) struct Reduction<'c> {
    pub(super) i: i64,
    pub(super) n: i64,
    pub(super) var: Slot,
    pub(super) body: &'c Block,
    pub(super) op: &'c Combine,
    /// One a result of the body; none for a custom operation.
    pub(super) folds: Vec<Folding>,
    /// What a custom operation has combined so far.
    pub(super) custom: Vec<Item>,
    /// Is the block that runs the one that combines?
    pub(super) combining: bool,
    /// The tables of prefixes, for a prefix.
    pub(super) prefixes: Option<Vec<Builder>>,
}

/// A loop under way.
pub(super) struct Looping<'c> {
    pub(super) state: &'c [Slot],
    pub(super) body: &'c Block,
    pub(super) tables: Vec<Builder>,
    /// Rounds done.
    pub(super) rounds: i64,
    pub(super) kind: Kind<'c>,
}

/// How a loop goes on.
pub(super) enum Kind<'c> {
    For { var: Slot, n: i64, reverse: bool },
    While { params: &'c [Slot], cond: &'c Block, testing: bool },
}

/// The elements of a reduction so far.
pub(super) enum Folding {
    /// Nothing yet; the first element tells the type.
    Start(Start),
    F64(Box<Fold<f64>>),
    F32(Box<Fold<f32>>),
    Int(Box<Fold<i64>>),
    /// One element after the other.
    Plain(Start, Value),
}

/// The operations that are not custom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
}

impl Folding {
    /// Takes an element.
    pub(super) fn push(&mut self, x: &Value) {
        if let Folding::Start(op) = self {
            *self = Folding::first(*op, x);
        }
        match (self, x) {
            (Folding::F64(fold), Value::F64(x)) => fold.push(*x),
            (Folding::F32(fold), Value::F32(x)) => fold.push(*x),
            (Folding::Int(fold), Value::Int(x)) => fold.push(*x),
            (Folding::Plain(op, acc), x) => *acc = combine(*op, acc, x),
            (Folding::Start(_) | Folding::F64(_) | Folding::F32(_) | Folding::Int(_), x) => {
                panic!("{x:?} does not fit its reduction")
            }
        }
    }

    fn first(op: Start, x: &Value) -> Folding {
        let order = match op {
            Start::Sum => Order::Sum,
            Start::Prod => Order::Prod,
            Start::Min | Start::Max | Start::And | Start::Or => {
                return Folding::Plain(op, x.clone());
            }
        };
        match x {
            Value::F32(_) => Folding::F32(Box::new(Fold::new(order))),
            Value::Int(_) => Folding::Int(Box::new(Fold::new(order))),
            Value::F64(_)
            | Value::Bool(_)
            | Value::Str(_)
            | Value::Key(_)
            | Value::Table(_)
            | Value::Sum(_)
            | Value::Pack(_)
            | Value::Box(_) => Folding::F64(Box::new(Fold::new(order))),
        }
    }

    /// Takes the next element of a prefix: one after the other, from the unit where there is one.
    pub(super) fn run_on(&mut self, x: &Value) {
        let next = match self {
            Folding::Start(op) => match empty(*op, &scalar_type(x), Span::default()) {
                Ok(unit) => Folding::Plain(*op, combine(*op, &unit, x)),
                Err(_) => Folding::Plain(*op, x.clone()),
            },
            Folding::Plain(op, acc) => Folding::Plain(*op, combine(*op, acc, x)),
            Folding::F64(_) | Folding::F32(_) | Folding::Int(_) => unreachable!("a prefix runs plainly"),
        };
        *self = next;
    }

    /// The prefix that [`Folding::run_on`] has reached.
    pub(super) fn so_far(&self) -> Option<Value> {
        match self {
            Folding::Plain(_, acc) => Some(acc.clone()),
            Folding::Start(_) | Folding::F64(_) | Folding::F32(_) | Folding::Int(_) => None,
        }
    }

    /// What was formed, of this type.
    pub(super) fn finish(self, ty: &Ty, span: Span) -> Result<Value, RuntimeError> {
        Ok(match self {
            Folding::Start(op) => empty(op, ty, span)?,
            Folding::F64(fold) => Value::F64(fold.finish()),
            Folding::F32(fold) => Value::F32(fold.finish()),
            Folding::Int(fold) => Value::Int(fold.finish()),
            Folding::Plain(_, acc) => acc,
        })
    }
}

impl Start {
    /// The name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Start::Sum => "sum",
            Start::Prod => "product",
            Start::Min => "minimum",
            Start::Max => "maximum",
            Start::And => "conjunction",
            Start::Or => "disjunction",
        }
    }
}

/// Two elements as one.
pub(super) fn combine(op: Start, x: &Value, y: &Value) -> Value {
    match (op, x, y) {
        (Start::Sum, Value::F64(x), Value::F64(y)) => Value::F64(x + y),
        (Start::Sum, Value::F32(x), Value::F32(y)) => Value::F32(x + y),
        (Start::Sum, Value::Int(x), Value::Int(y)) => Value::Int(x.wrapping_add(*y)),
        (Start::Prod, Value::F64(x), Value::F64(y)) => Value::F64(x * y),
        (Start::Prod, Value::F32(x), Value::F32(y)) => Value::F32(x * y),
        (Start::Prod, Value::Int(x), Value::Int(y)) => Value::Int(x.wrapping_mul(*y)),
        (Start::Min, Value::F64(x), Value::F64(y)) => Value::F64(double::min(*x, *y)),
        (Start::Min, Value::F32(x), Value::F32(y)) => Value::F32(single::min(*x, *y)),
        (Start::Min, Value::Int(x), Value::Int(y)) => Value::Int(*x.min(y)),
        (Start::Min | Start::And, Value::Bool(x), Value::Bool(y)) => Value::Bool(*x && *y),
        (Start::Max, Value::F64(x), Value::F64(y)) => Value::F64(double::max(*x, *y)),
        (Start::Max, Value::F32(x), Value::F32(y)) => Value::F32(single::max(*x, *y)),
        (Start::Max, Value::Int(x), Value::Int(y)) => Value::Int(*x.max(y)),
        (Start::Max | Start::Or, Value::Bool(x), Value::Bool(y)) => Value::Bool(*x || *y),
        (Start::Min, Value::Str(x), Value::Str(y)) => Value::Str(Arc::clone(x.min(y))),
        (Start::Max, Value::Str(x), Value::Str(y)) => Value::Str(Arc::clone(x.max(y))),
        (op, x, y) => panic!("no {} of {x:?} and {y:?}", op.name()),
    }
}

fn scalar_type(x: &Value) -> Ty {
    match x {
        Value::F64(_) => crate::ty::F64,
        Value::F32(_) => crate::ty::F32,
        Value::Bool(_) => crate::ty::BOOL,
        Value::Str(_) => crate::ty::STR,
        Value::Key(_) => crate::ty::KEY,
        Value::Int(_) | Value::Table(_) | Value::Sum(_) | Value::Pack(_) | Value::Box(_) => crate::ty::INT,
    }
}

/// The reduction of nothing.
fn empty(op: Start, ty: &Ty, span: Span) -> Result<Value, RuntimeError> {
    let number = |k: i64| match ty.scalar() {
        Some(Scalar::F32) => Value::F32(k as f32),
        Some(Scalar::F64) => Value::F64(k as f64),
        Some(_) | None => Value::Int(k),
    };
    match op {
        Start::Sum => Ok(number(0)),
        Start::Prod => Ok(number(1)),
        Start::And => Ok(Value::Bool(true)),
        Start::Or => Ok(Value::Bool(false)),
        Start::Min | Start::Max => Err(fail::empty_reduction(span, op.name())),
    }
}
