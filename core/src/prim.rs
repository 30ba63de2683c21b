//! The primitive table: what a primitive is. The rows stand in the files beside this one, by family.
//!
//! One row says all there is to say about a scalar primitive: type, cost, meaning, derivative, sample
//! range and edge points. Passes read columns; they never ask for a primitive by name.

mod arith;
mod compare;
mod convert;
mod eval;
mod random;
mod special;
mod transcendental;

pub use arith::*;
pub use compare::*;
pub use convert::*;
pub use eval::{PrimError, S};
pub use random::*;
pub use special::*;
pub use transcendental::*;

use crate::build::Builder;
use crate::ir::Atom;
use crate::ty::{Scalar, Ty};

/// A row of the table; equal to itself only.
#[derive(Clone, Copy)]
pub struct Prim(pub &'static PrimDef);

impl PartialEq for Prim {
    fn eq(&self, other: &Prim) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Prim {}
impl std::hash::Hash for Prim {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
impl std::fmt::Debug for Prim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// One primitive.
pub struct PrimDef {
    /// Its name in Core text; unique.
    pub name: &'static str,
    /// For people: meaning, then an example that holds.
    pub doc: &'static str,
    /// Types of operands and result.
    pub sig: Sig,
    /// Cost of one application, in units of an addition (the cost counter).
    pub cost: u32,
    /// What it computes, for interpreter and machine alike.
    pub kernel: Kernel,
    /// Its derivative, once for both modes.
    pub diff: Diff,
    /// For each operand an interval where the derivative holds and is tame (tests sample it).
    pub sample: &'static [(f64, f64)],
    /// Values and partial derivatives at special points, with the reason.
    pub edges: &'static [Edge],
}

/// What a primitive does at a special point.
pub struct Edge {
    /// Operands.
    pub at: &'static [f64],
    /// Value (NaN means any NaN).
    pub value: f64,
    /// Partial derivatives, one an operand; empty where none are claimed.
    pub partials: &'static [f64],
    /// Why it is so.
    pub why: &'static str,
}

/// Types of operands and result.
#[derive(Clone, Copy)]
pub enum Sig {
    /// All operands and the result have one scalar type, one of these.
    Same(usize, &'static [Scalar]),
    /// All operands have one scalar type, one of the list; the result is the last.
    To(usize, &'static [Scalar], Scalar),
    /// A float and an Int give the float type.
    FloatInt,
    /// As written.
    Fixed(&'static [Scalar], Scalar),
}

/// How it is computed. Interpreter and machine call the same function, so that they agree bit for bit.
#[derive(Clone, Copy)]
pub enum Kernel {
    /// An instruction every executor has.
    Inst(Inst),
    /// A function of one float.
    F1(extern "C" fn(f64) -> f64, extern "C" fn(f32) -> f32),
    /// A function of two floats.
    F2(extern "C" fn(f64, f64) -> f64, extern "C" fn(f32, f32) -> f32),
    /// A function of a float and an Int.
    FInt(extern "C" fn(f64, i64) -> f64, extern "C" fn(f32, i64) -> f32),
    /// A function of one 64-bit integer (Int or Key bits).
    I1(extern "C" fn(i64) -> i64),
    /// A function of two 64-bit integers (Int or Key bits).
    I2(extern "C" fn(i64, i64) -> i64),
    /// A function of three 64-bit integers.
    I3(extern "C" fn(i64, i64, i64) -> i64),
    /// A function of two 64-bit integers that gives an F64.
    I2F(extern "C" fn(i64, i64) -> f64),
    /// Two texts, one after the other.
    StrCat,
}

/// Instructions. The operand type chooses between float and integer forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inst {
    /// IEEE or wrapping sum.
    Add,
    /// IEEE or wrapping difference.
    Sub,
    /// IEEE or wrapping product.
    Mul,
    /// IEEE quotient (floats only).
    Div,
    /// Sign change.
    Neg,
    /// Absolute value (wrapping for Int).
    Abs,
    /// Correctly rounded square root.
    Sqrt,
    /// Floor division; by 0 fails.
    IntDiv,
    /// Floor remainder (sign of the divisor); by 0 fails.
    IntMod,
    /// Truncated quotient; by 0 fails.
    IntQuot,
    /// Truncated remainder; by 0 fails.
    IntRem,
    /// Power of Ints; 0 to a negative power fails.
    IntPow,
    /// Less of two Ints.
    IntMin,
    /// Greater of two Ints.
    IntMax,
    /// Sign of an Int.
    IntSign,
    /// IEEE on floats, equality elsewhere.
    Eq,
    /// Not [`Inst::Eq`].
    Ne,
    /// Less; `false` before `true`; strings by bytes.
    Lt,
    /// Less or equal.
    Le,
    /// Conjunction of Bools, or of bits of Ints.
    And,
    /// Disjunction.
    Or,
    /// Exclusive or.
    Xor,
    /// Negation of a Bool, or of all bits.
    Not,
    /// To F64 from Int, F32, F64 or Bool.
    ToF64,
    /// To F32, rounded.
    ToF32,
    /// To Int: from a float truncated, NaN or out of range fails; from Bool 0 or 1.
    ToInt,
    /// Is it NaN?
    IsNan,
    /// Is it neither NaN nor infinite?
    IsFinite,
    /// The first operand (a copy); used by `stop_gradient`.
    Copy,
    /// Shift left, by the second operand mod 64.
    Shl,
    /// Arithmetic shift right.
    Shr,
}

/// How a primitive is differentiated. Both modes follow from one entry.
#[derive(Clone, Copy)]
pub enum Diff {
    /// One partial derivative an operand (`Partial::Zero` for operands without a tangent).
    Partials(&'static [Partial]),
    /// Locally constant where defined, or not a float: the derivative is zero by definition.
    Zero,
    /// Has no derivative; differentiating through it is E0501 with this reason.
    Undefined(&'static str),
}

/// A partial derivative.
#[derive(Clone, Copy)]
pub enum Partial {
    /// 0, symbolically.
    Zero,
    /// 1.
    One,
    /// -1.
    MinusOne,
    /// Built from the operands and the result.
    Expr(fn(&mut Builder, &At) -> Atom),
}

/// Where a partial derivative is taken.
pub struct At<'a> {
    /// The operands.
    pub x: &'a [Atom],
    /// The result.
    pub y: &'a Atom,
    /// The float type.
    pub s: Scalar,
}

impl At<'_> {
    /// The constant `c` of the float type at hand.
    pub fn c(&self, c: f64) -> Atom {
        Atom::float(self.s, c)
    }
}

/// Float types.
pub const FLOATS: &[Scalar] = &[Scalar::F64, Scalar::F32];
/// Number types.
pub const NUMBERS: &[Scalar] = &[Scalar::F64, Scalar::F32, Scalar::Int];

impl PrimDef {
    /// The result type for these operand types; `None` if they do not fit.
    pub fn result(&self, args: &[Scalar]) -> Option<Scalar> {
        let same = |n: usize, of: &[Scalar]| {
            args.len() == n && args.iter().all(|a| *a == args[0]) && of.contains(&args[0])
        };
        match self.sig {
            Sig::Same(n, of) => same(n, of).then(|| args[0]),
            Sig::To(n, of, result) => same(n, of).then_some(result),
            Sig::FloatInt => {
                (args.len() == 2 && args[0].is_float() && args[1] == Scalar::Int).then(|| args[0])
            }
            Sig::Fixed(of, result) => (args == of).then_some(result),
        }
    }

    /// Number of operands.
    pub fn arity(&self) -> usize {
        match self.sig {
            Sig::Same(n, _) | Sig::To(n, _, _) => n,
            Sig::FloatInt => 2,
            Sig::Fixed(of, _) => of.len(),
        }
    }

    /// All operand types it takes.
    pub fn instances(&self) -> Vec<Vec<Scalar>> {
        match self.sig {
            Sig::Same(n, of) | Sig::To(n, of, _) => of.iter().map(|s| vec![*s; n]).collect(),
            Sig::FloatInt => FLOATS.iter().map(|s| vec![*s, Scalar::Int]).collect(),
            Sig::Fixed(of, _) => vec![of.to_vec()],
        }
    }

    /// Does the row say about each operand how it is differentiated? (For the test of the table.)
    pub fn is_complete(&self) -> bool {
        match self.diff {
            Diff::Partials(partials) => {
                partials.len() == self.arity() && !partials.iter().all(|p| matches!(p, Partial::Zero))
            }
            Diff::Zero | Diff::Undefined(_) => true,
        }
    }

    /// Can it fail at run time?
    pub fn can_fail(&self) -> bool {
        matches!(
            self.kernel,
            Kernel::Inst(
                Inst::IntDiv | Inst::IntMod | Inst::IntQuot | Inst::IntRem | Inst::IntPow | Inst::ToInt
            )
        )
    }
}

impl Prim {
    /// The result type for operand atoms.
    ///
    /// # Panics
    ///
    /// If the operands do not fit the row, which is a mistake of the compiler.
    pub fn result_ty(self, args: &[Atom]) -> Ty {
        let scalars: Option<Vec<Scalar>> = args.iter().map(|a| a.ty().scalar()).collect();
        let result = scalars.as_deref().and_then(|s| self.0.result(s));
        Ty::Scalar(result.unwrap_or_else(|| panic!("operands of `{}` do not fit: {args:?}", self.0.name)))
    }
}

/// All rows.
pub fn table() -> impl Iterator<Item = Prim> {
    [arith::TABLE, compare::TABLE, convert::TABLE, transcendental::TABLE, special::TABLE, random::TABLE]
        .into_iter()
        .flatten()
        .map(|d| Prim(d))
}

/// The row of this name.
pub fn by_name(name: &str) -> Option<Prim> {
    table().find(|p| p.0.name == name)
}

/// Writes a row with all its columns in order.
macro_rules! row {
    ($(#[$doc:meta])* $id:ident $name:literal $doc_text:literal; $sig:expr; $cost:literal; $kernel:expr; $diff:expr; $sample:expr; $edges:expr) => {
        $(#[$doc])*
        #[doc = $doc_text]
        pub static $id: PrimDef = PrimDef {
            name: $name,
            doc: $doc_text,
            sig: $sig,
            cost: $cost,
            kernel: $kernel,
            diff: $diff,
            sample: $sample,
            edges: $edges,
        };
    };
}
pub(crate) use row;

/// The kernel of a function of one float that `adl_math` defines for both widths.
macro_rules! f1 {
    ($name:ident) => {{
        extern "C" fn wide(x: f64) -> f64 {
            adl_math::double::$name(x)
        }
        extern "C" fn narrow(x: f32) -> f32 {
            adl_math::single::$name(x)
        }
        Kernel::F1(wide, narrow)
    }};
}
pub(crate) use f1;

/// The kernel of a function of two floats.
macro_rules! f2 {
    ($name:ident) => {{
        extern "C" fn wide(x: f64, y: f64) -> f64 {
            adl_math::double::$name(x, y)
        }
        extern "C" fn narrow(x: f32, y: f32) -> f32 {
            adl_math::single::$name(x, y)
        }
        Kernel::F2(wide, narrow)
    }};
}
pub(crate) use f2;

/// An [`Edge`].
pub(crate) const fn edge(
    at: &'static [f64],
    value: f64,
    partials: &'static [f64],
    why: &'static str,
) -> Edge {
    Edge { at, value, partials, why }
}
