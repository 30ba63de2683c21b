//! Loops: the representation between Core and machine code. Typed registers, buffers, loops and scalar
//! operations; nothing is implicit.
//!
//! Invariants (checked by [`lint::check`]):
//! - L1: a register is written before it is read, on every path.
//! - L2: operands and results have the kinds their operation takes.
//! - L3: each call passes and takes what the function's signature says.

pub mod lint;
pub mod print;

use std::sync::Arc;

use adl_core::bulk::Bulk;
use adl_core::ir::{Axes, Fmt};
use adl_core::prim::{Inst, Kernel};
use adl_core::ty::{Scalar, Ty};
use adl_diag::Span;

use crate::repr::{Elem, Kind};

/// A register of a function; it may be written many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A reduction of a function that is under way in the fixed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FoldId(pub u32);

/// A place in the source, an index into [`Program::sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site(pub u32);

/// A program.
#[derive(Default)]
pub struct Program {
    /// Functions, with the numbers they have in Core.
    pub funcs: Vec<Func>,
    /// Places that operations name.
    pub sites: Vec<Span>,
    /// Texts that constants name by their number.
    pub texts: Vec<Arc<str>>,
    /// Services that operations name by their number.
    pub services: Vec<Service>,
    /// What is compared, for sizes that differ.
    pub whats: Vec<Arc<str>>,
    /// What the cells of recursive types hold.
    pub boxes: Vec<Vec<Ty>>,
}

/// A function.
pub struct Func {
    /// For people.
    pub name: String,
    /// The kinds of all registers.
    pub regs: Vec<Kind>,
    /// Take the arguments.
    pub params: Vec<Reg>,
    /// What it gives.
    pub results: Vec<Reg>,
    /// The element types of its reductions.
    pub folds: Vec<(Kind, FoldOp)>,
    /// What it does.
    pub body: Vec<Op>,
}

/// A reduction whose order the spec fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldOp {
    /// A sum.
    Sum,
    /// A product.
    Prod,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Const {
    /// 64-bit float.
    F64(f64),
    /// 32-bit float.
    F32(f32),
    /// Integer.
    I64(i64),
    /// Truth value.
    I8(bool),
}

impl Const {
    /// The kind of register it fits.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Const::F64(_) => Kind::F64,
            Const::F32(_) => Kind::F32,
            Const::I64(_) => Kind::I64,
            Const::I8(_) => Kind::I8,
        }
    }
}

/// An operation.
pub enum Op {
    /// `dst = value`.
    Const {
        /// Written.
        dst: Reg,
        /// The constant.
        value: Const,
    },
    /// `dst = src`.
    Move {
        /// Written.
        dst: Reg,
        /// Read.
        src: Reg,
    },
    /// An instruction on scalars; may fail at its site.
    Inst {
        /// Written.
        dst: Reg,
        /// Which one.
        inst: Inst,
        /// The type of the operands, which tells apart what registers do not.
        of: Scalar,
        /// Operands.
        args: Vec<Reg>,
        /// Where it fails.
        site: Site,
    },
    /// A function on scalars.
    Kernel {
        /// Written.
        dst: Reg,
        /// The function.
        kernel: Kernel,
        /// For people.
        name: &'static str,
        /// Operands.
        args: Vec<Reg>,
    },
    /// `dst = base[index]`.
    Load {
        /// Written.
        dst: Reg,
        /// Pointer.
        base: Reg,
        /// In elements.
        index: Reg,
    },
    /// `base[index] = src`.
    Store {
        /// Read.
        src: Reg,
        /// Pointer.
        base: Reg,
        /// In elements.
        index: Reg,
    },
    /// `dst = base + index * bytes`, a pointer into the same buffer.
    Offset {
        /// Written.
        dst: Reg,
        /// Pointer.
        base: Reg,
        /// In elements.
        index: Reg,
        /// Of an element.
        bytes: u32,
    },
    /// Two ways.
    If {
        /// A truth value.
        cond: Reg,
        /// Where it holds.
        then: Vec<Op>,
        /// Where it does not.
        orelse: Vec<Op>,
    },
    /// `var` from 0 to `n - 1`, or backwards. The body does not write `var` or `n`.
    For {
        /// Counts.
        var: Reg,
        /// How often.
        n: Reg,
        /// Backwards?
        reverse: bool,
        /// Each time.
        body: Vec<Op>,
    },
    /// While `test` holds after `cond`.
    While {
        /// Computes the test.
        cond: Vec<Op>,
        /// A truth value.
        test: Reg,
        /// Each time.
        body: Vec<Op>,
    },
    /// A call.
    Call {
        /// Index into [`Program::funcs`].
        func: u32,
        /// Arguments.
        args: Vec<Reg>,
        /// Results.
        dsts: Vec<Reg>,
        /// Where it is too deep.
        site: Site,
    },
    /// One more holder of a buffer; nothing for null.
    Retain {
        /// The owner.
        ptr: Reg,
    },
    /// One holder less; the last frees it. Nothing for null.
    Release {
        /// The owner.
        ptr: Reg,
    },
    /// Is there one holder only?
    Unique {
        /// Written.
        dst: Reg,
        /// The owner.
        ptr: Reg,
    },
    /// A new buffer with one holder. Pointers in it are null, scalars are anything unless `zero`.
    Alloc {
        /// Written.
        dst: Reg,
        /// Sizes, whose product is the number of elements; none for one element.
        dims: Vec<Reg>,
        /// What it holds.
        elem: Elem,
        /// All zero?
        zero: bool,
        /// Where it fails.
        site: Site,
    },
    /// A new cell of words with one holder; the first `refs` are null pointers.
    AllocCell {
        /// Written.
        dst: Reg,
        /// How many words are counted pointers.
        refs: u32,
        /// Words in all.
        words: u32,
        /// Where it fails.
        site: Site,
    },
    /// Copies elements; the ranges may overlap. `counted`: it is the copy an update could not avoid.
    Copy {
        /// Pointer.
        dst: Reg,
        /// Pointer.
        src: Reg,
        /// Elements.
        n: Reg,
        /// Of an element.
        bytes: u32,
        /// Does the counter of copies see it?
        counted: bool,
    },
    /// Sets elements to zero.
    Clear {
        /// Pointer.
        dst: Reg,
        /// Elements.
        n: Reg,
        /// Of an element.
        bytes: u32,
    },
    /// Begins a reduction.
    FoldNew {
        /// Which.
        fold: FoldId,
    },
    /// Takes the next element.
    FoldPush {
        /// Which.
        fold: FoldId,
        /// The element.
        src: Reg,
    },
    /// Ends a reduction.
    FoldEnd {
        /// Written.
        dst: Reg,
        /// Which.
        fold: FoldId,
    },
    /// Asks the runtime, by an index into [`Program::services`]; may fail at its site.
    Service {
        /// Which.
        service: u32,
        /// Words.
        args: Vec<Reg>,
        /// Words.
        dsts: Vec<Reg>,
        /// Where it fails.
        site: Site,
    },
    /// Ends the run with a failure.
    Fail {
        /// Which.
        fail: Fail,
        /// What its message shows.
        args: Vec<Reg>,
        /// Where.
        site: Site,
    },
}

/// A failure, with the operands its message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    /// Index and size.
    OutOfBounds,
    /// Two sizes; what they are of is an index into [`Program::whats`].
    SizesDiffer(u32),
    /// None.
    DivisionByZero,
    /// A text.
    Error,
    /// A text.
    Assertion,
    /// None; the minimum of nothing.
    EmptyMinimum,
    /// None; the maximum of nothing.
    EmptyMaximum,
    /// The float, of 64 bits.
    Conversion,
    /// The size.
    NegativeSize,
    /// None.
    Constructors,
}

/// What the runtime does on words. Values are words in order of their parts: a scalar is one, a table its
/// first element and its sizes, a cell its pointer.
#[derive(Clone, Debug)]
pub enum Service {
    /// The text of values of these types.
    Show(Arc<Fmt>, Vec<Ty>),
    /// A line of output.
    Print,
    /// A line of trace.
    Trace,
    /// Reads a file: sizes, then a buffer.
    LoadNpy(u32, Scalar),
    /// Two texts as one.
    StrCat,
    /// Compares two texts: -1, 0 or 1.
    StrCompare,
    /// A contraction of tables with elements of this kind: the two operands with their sizes, then the
    /// result.
    Contract(Axes, Kind),
    /// A bulk primitive on tables of floats of this kind: its Ints, its tables with their sizes, then the
    /// results. The number of dimensions of each table.
    Bulk(Bulk, Kind, Vec<usize>),
}
