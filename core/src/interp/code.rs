//! Resolved code: the forms of first-order Core with slots instead of variables.

use std::collections::HashMap;
use std::sync::Arc;

use adl_diag::Span;

use super::acc::AccRef;
use crate::bulk::Bulk;
use crate::ir::{Axes, Fmt, FuncId, Var};
use crate::prim::Prim;
use crate::ty::{Scalar, Ty};
use crate::value::Value;

/// A place in the frame of a call.
pub(super) type Slot = usize;

/// A function.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) n_slots: usize,
    pub(super) params: Vec<Slot>,
    pub(super) body: Block,
    pub(super) span: Span,
    /// For the sizes in types.
    pub(super) slots: HashMap<Var, Slot>,
}

/// A block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) ops: Vec<Op>,
    pub(super) results: Vec<Src>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct Op {
    pub(super) form: Form,
    /// The operands, in the order of the form.
    pub(super) args: Vec<Src>,
    pub(super) outs: Vec<Out>,
    /// Slots whose values are dead after this statement.
    pub(super) clear: Vec<Slot>,
    pub(super) span: Span,
}

/// What a statement binds.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) slot: Slot,
    pub(super) ty: Ty,
}

/// An operand.
#[derive(Debug)]
pub(super) enum Src {
    /// What the slot holds.
    Slot(Slot),
    /// The same, and the slot is empty afterwards: this is the last use.
    Take(Slot),
    /// A constant.
    Const(Value),
}

/// What a slot holds.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Nothing yet, or no longer.
    Empty,
    /// A value.
    Value(Value),
    /// An accumulator, or a part of one.
    Acc(AccRef),
}

/// What combines the elements of a reduction.
#[derive(Debug)]
pub(super) enum Combine {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
    /// The operands of the statement hold the unit.
    Custom {
        left: Vec<Slot>,
        right: Vec<Slot>,
        body: Block,
    },
}

/// A form. Comments name the operands in order.
#[derive(Debug)]
pub(super) enum Form {
    /// The atom.
    Copy,
    Prim(Prim),
    /// The payload.
    Inject(u32),
    /// The scrutinee.
    Case(Vec<(Vec<Slot>, Block)>),
    /// The size.
    For {
        var: Slot,
        body: Block,
    },
    /// The table, the indices.
    Index {
        check: bool,
    },
    /// The size, the unit of a custom operation.
    Reduce {
        op: Combine,
        var: Slot,
        body: Block,
        prefix: bool,
    },
    /// The two tables.
    Contract(Axes),
    Bulk(Bulk),
    /// The size, the initial state.
    LoopFor {
        var: Slot,
        reverse: bool,
        state: Vec<Slot>,
        body: Block,
    },
    /// The initial state.
    LoopWhile {
        params: Vec<Slot>,
        cond: Block,
        state: Vec<Slot>,
        body: Block,
    },
    /// The table, the indices, the value.
    Update {
        check: bool,
    },
    /// The items.
    TableLit,
    /// The sizes, the items.
    Pack {
        n_sizes: usize,
    },
    /// The bundle.
    Open,
    /// What the cell holds.
    BoxNew,
    /// The cell.
    Unbox,
    /// The arguments.
    Call(FuncId),
    Zero(Ty),
    /// The two values.
    AddCt,
    /// The value, which is given twice.
    Dup,
    /// The value.
    Drop,
    /// The message.
    Error,
    /// The condition, the message.
    Assert,
    /// The two sizes.
    CheckSize(Arc<str>),
    /// The size.
    CheckNonNegative,
    /// The text.
    Trace,
    /// The text.
    Print,
    /// The path.
    LoadNpy {
        rank: u32,
        elem: Scalar,
    },
    /// The leaves.
    Show(Arc<Fmt>),
    AccNew(Ty),
    /// The value.
    AccFrom,
    /// The accumulator, the indices.
    AccView {
        check: bool,
    },
    /// The accumulator, the indices, the value.
    AccAdd {
        check: bool,
    },
    /// The accumulator.
    AccFreeze,
    /// The accumulators of the payload.
    AccInj {
        tag: u32,
    },
    /// The accumulator.
    AccPayload {
        tag: u32,
    },
}
