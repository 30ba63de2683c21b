//! The intermediate representation. READ FIRST.
//!
//! One typed IR in A-normal form serves all stages. A *block* is a list of statements
//! `let vars = expr` and its results. *Higher-order* Core (what elaboration gives) binds one variable a
//! statement and has functions as values, tuples, structs and type parameters. *First-order* Core (what
//! `opt::specialise` gives) has none of these: functions take and give any number of values, each a
//! scalar, a table (of tables …) of scalars or sums, a sum, a pack, or an accumulator.
//!
//! Invariants (checked by [`crate::lint`] after every pass):
//! - C1: each variable is bound once in the whole program.
//! - C2: every variable that an expression or a type mentions is bound before, in this block or an
//!   enclosing one (sizes in the types of a statement's own variables may also be bound by it).
//! - C3: the variables of a statement agree in number and type with what its expression gives.
//! - C4: accumulators are second class: only `Acc*` forms, `Call` arguments and block scopes mention
//!   them; they are never elements or payloads, and are frozen in the block that made them. A `Case`
//!   may give one only if each arm yields an accumulator of the surroundings (a choice of aliases).
//! - C8: in a contraction each axis occurs in at least two of the three lists, at most once in each.
//! - C5: a backward function is linear in its cotangents (checked by [`crate::linear`]).
//! - C6 (first order): no type, form or variable of higher-order Core occurs.
//! - C7: the size in a table's type is the size of the table at run time. Two sizes that are equal may
//!   be different atoms; that they are equal is the checker's business, or a `CheckSize` before.

use std::sync::Arc;

use adl_diag::Span;

use crate::bulk::Bulk;
use crate::prim::Prim;
use crate::rule::Rule;
use crate::ty::{BoxTy, Ix, PackTy, Poly, Scalar, Ty, TyArg, TyVar};

/// A variable. It carries its type, and is equal only to itself.
#[derive(Clone, Debug)]
pub struct Var(Arc<VarData>);

/// What a [`Var`] carries.
#[derive(Debug)]
pub struct VarData {
    /// Its type.
    pub ty: Ty,
    /// Is it linear (a tangent or cotangent in code that must be linear in it)?
    pub linear: bool,
    /// A name for people; printers number variables and may use it.
    pub name: String,
}

impl Var {
    /// A new ordinary variable.
    pub fn new(ty: Ty) -> Var {
        Var::named("", ty)
    }
    /// A new ordinary variable with a name for people.
    pub fn named(name: &str, ty: Ty) -> Var {
        Var(Arc::new(VarData { ty, linear: false, name: name.to_string() }))
    }
    /// A new linear variable.
    pub fn linear(ty: Ty) -> Var {
        Var(Arc::new(VarData { ty, linear: true, name: String::new() }))
    }
    /// A fresh variable like this one, of another type.
    pub fn with_ty(&self, ty: Ty) -> Var {
        Var(Arc::new(VarData { ty, linear: self.0.linear, name: self.0.name.clone() }))
    }
    /// Its type.
    pub fn ty(&self) -> &Ty {
        &self.0.ty
    }
    /// Is it linear?
    pub fn is_linear(&self) -> bool {
        self.0.linear
    }
    /// Its name for people, perhaps empty.
    pub fn name(&self) -> &str {
        &self.0.name
    }
    /// An address, for hashing and equality only; it differs from run to run.
    fn addr(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Var {}
impl std::hash::Hash for Var {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.addr().hash(state);
    }
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// 64-bit float.
    F64(f64),
    /// 32-bit float.
    F32(f32),
    /// Integer.
    Int(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Arc<str>),
    /// `()` (higher-order only).
    Unit,
}

/// An operand: a variable or a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A constant.
    Lit(Lit),
}

impl Atom {
    /// An integer constant.
    pub fn int(k: i64) -> Atom {
        Atom::Lit(Lit::Int(k))
    }
    /// A 64-bit float constant.
    pub fn f64(x: f64) -> Atom {
        Atom::Lit(Lit::F64(x))
    }
    /// The float constant `x` of the type `s` (F32 when `s` is, else F64).
    pub fn float(s: Scalar, x: f64) -> Atom {
        #[expect(clippy::cast_possible_truncation, reason = "rounding to F32 is what is asked for")]
        if s == Scalar::F32 { Atom::Lit(Lit::F32(x as f32)) } else { Atom::f64(x) }
    }
    /// The variable, where it is one.
    pub fn var(&self) -> Option<&Var> {
        if let Atom::Var(v) = self { Some(v) } else { None }
    }
    /// The integer, where it is a constant one.
    pub fn as_int(&self) -> Option<i64> {
        if let Atom::Lit(Lit::Int(k)) = self { Some(*k) } else { None }
    }
    /// Its type.
    pub fn ty(&self) -> Ty {
        match self {
            Atom::Var(v) => v.ty().clone(),
            Atom::Lit(Lit::F64(_)) => Ty::Scalar(Scalar::F64),
            Atom::Lit(Lit::F32(_)) => Ty::Scalar(Scalar::F32),
            Atom::Lit(Lit::Int(_)) => Ty::Scalar(Scalar::Int),
            Atom::Lit(Lit::Bool(_)) => Ty::Scalar(Scalar::Bool),
            Atom::Lit(Lit::Str(_)) => Ty::Scalar(Scalar::Str),
            Atom::Lit(Lit::Unit) => Ty::Tuple(vec![]),
        }
    }
}

impl From<Var> for Atom {
    fn from(v: Var) -> Atom {
        Atom::Var(v)
    }
}
impl From<&Var> for Atom {
    fn from(v: &Var) -> Atom {
        Atom::Var(v.clone())
    }
}

/// Statements, then results.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// In order.
    pub stmts: Vec<Stmt>,
    /// What the block gives.
    pub results: Vec<Atom>,
}

/// `let vars = expr`.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Bound here; none for a pure effect.
    pub vars: Vec<Var>,
    /// What computes them.
    pub expr: Expr,
    /// Where in the source it comes from.
    pub span: Span,
    /// Variables whose last use is this statement (the `last-use` pass fills it; empty before). The
    /// executors may take them apart: an `Update` of a table that dies here writes in place.
    pub dies: Vec<Var>,
}

/// A function: top-level `def`, or made by a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Its name for people and dumps; unique in the program.
    pub name: String,
    /// Type parameters (higher-order only).
    pub tparams: Vec<TyVar>,
    /// Parameters. The types of later ones may mention earlier ones (sizes).
    pub params: Vec<Var>,
    /// Its body. In the types of the results, each size is a constant, a parameter, or itself one of
    /// the results.
    pub body: Block,
    /// Where it is defined.
    pub span: Span,
}

impl Func {
    /// The name of a function made of a local one that refers to itself.
    pub fn local_name(name: &str) -> String {
        format!("{name}.local")
    }
    /// Was it made of a local one? Then its source is part of another function's.
    pub fn is_local(&self) -> bool {
        self.name.ends_with(".local")
    }
}

/// A function of the program, an index into `Program::funcs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);

/// A declared struct or enum.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDecl {
    /// Its name in the source.
    pub name: String,
    /// Its parameters.
    pub tparams: Vec<TyVar>,
    /// Fields or constructors.
    pub body: TypeBody,
    /// The functions of its instances (`instance Num(S) { … }`), by method.
    pub methods: Vec<(Method, FuncId)>,
}

/// What a [`TypeDecl`] declares.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeBody {
    /// Field names and types, in order.
    Struct(Vec<(String, Ty)>),
    /// Constructor names and payload types, in order.
    Enum(Vec<(String, Vec<Ty>)>),
}

/// A program, or one part of it that has been checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Structs and enums.
    pub types: Vec<TypeDecl>,
    /// Functions.
    pub funcs: Vec<Func>,
    /// Derivatives that users wrote (higher-order only).
    pub rules: Vec<Rule>,
    /// For each recursive type of first-order Core, what its cell holds.
    pub boxes: Vec<Vec<Ty>>,
    /// What runs, in order (higher-order only).
    pub items: Vec<Item>,
}

/// A top-level item that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its code. It may mention the variables that earlier `Let` items bind.
    pub body: Block,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of [`Item`].
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `let`: these variables take the results of the body, one each.
    Let(Vec<Var>),
    /// A bare expression: the single result is printed, unless its type is `()`.
    Show,
    /// `test "name" { … }`.
    Test(String),
    /// `param name: T = …`: the variable takes the result, or the value from the command line.
    Param(String, Var),
}

/// Everything that can stand right of an `=`.
///
/// Forms are few and closed: a new one must break every pass at compile time. Primitives are many and
/// open: a new one is a row in [`crate::prim`].
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the line above each form explains its fields")]
pub enum Expr {
    // ---- both stages ------------------------------------------------------------------------------
    /// The atom itself.
    Atom(Atom),
    /// A row of the primitive table. In higher-order Core operands are scalars of the row's type; what
    /// lifts over tables and structs is [`Expr::Method`].
    Prim(Prim, Vec<Atom>),
    /// Alternative `tag` of the sum (or, higher-order, of the enum) type `ty`.
    Inject { ty: Ty, tag: u32, args: Vec<Atom> },
    /// Chooses an arm by the scrutinee: a Bool (arm 0 is `false`, arm 1 `true`), an Int (the ordinal of a
    /// payload-free enum), or a sum (the arm's parameters take the payload). Only that arm runs.
    Case { scrut: Atom, arms: Vec<Arm> },
    /// Tables of what the body gives for each index; iterations are independent. With no results it runs
    /// for its accumulations. `var` is the index (Int in first-order Core).
    For { ix: Ix, var: Var, body: Block },
    /// An element or sub-table. `check`: the indices may be out of range and are compared at run time.
    Index { table: Atom, index: Vec<Atom>, check: bool },
    /// Reduces what the body gives for each index, in the fixed order of the spec. In first-order Core
    /// the results of the body are scalars; several results are reduced side by side, each by itself
    /// (with [`RedOp::Custom`] together).
    Reduce { op: RedOp, ix: Ix, var: Var, body: Block },
    /// Inclusive prefixes of the same; the result is a table.
    Prefix { op: RedOp, ix: Ix, var: Var, body: Block },
    /// Sum of products over the axes of `a` and `b` that are not in `out` (an einsum of two operands of
    /// equal float type). Axes are labels; a label's size is that of the operand axis that has it.
    Contract { a: Atom, b: Atom, spec: Axes },
    /// A row of the table of bulk primitives: Ints first, then tables of one float type.
    Bulk(Bulk, Vec<Atom>),
    /// A sequential loop: `state` starts as `init`; the body gives the next state, then values that are
    /// collected, one of each a round (at the index of the round, also when the loop runs downwards). Gives the final state, then (while) the number of rounds, then the
    /// tables of collected values.
    Loop { kind: LoopKind, state: Vec<Var>, init: Vec<Atom>, body: Block, keep: Keep },
    /// The table with one element (or sub-table) replaced.
    Update { table: Atom, index: Vec<Atom>, value: Atom, check: bool },
    /// A table of these elements, all of the type `elem`.
    TableLit { elem: Ty, items: Vec<Atom> },
    /// Builds an existential bundle: one atom a size, then the items.
    Pack { ty: Arc<PackTy>, sizes: Vec<Atom>, items: Vec<Atom> },
    /// Takes one apart: binds its sizes, then its items.
    Open(Atom),
    /// A new heap cell of the recursive type.
    BoxNew { ty: BoxTy, args: Vec<Atom> },
    /// What a cell holds.
    Unbox(Atom),
    /// A call of a top-level function. `tys` instantiates its type parameters (higher-order only).
    Call { func: FuncId, tys: Vec<TyArg>, args: Vec<Atom>, checkpoint: bool },
    /// The zero of a type with a tangent.
    Zero(Ty),
    /// Sum of two values of one such type.
    AddCt(Atom, Atom),
    /// Two copies of a linear value.
    Dup(Atom),
    /// Throws a linear value away.
    Drop(Atom),
    /// Something that is neither dropped, duplicated nor reordered.
    Effect(Effect),
    /// Text of a value: its leaves by the template.
    Show { fmt: Arc<Fmt>, args: Vec<Atom> },
    // ---- accumulators -----------------------------------------------------------------------------
    /// A new accumulator of this type, all zero.
    AccNew(Ty),
    /// A new accumulator that starts as this value; it takes the value over where that dies.
    AccFrom(Atom),
    /// The accumulator of a sub-table.
    AccView { acc: Atom, index: Vec<Atom>, check: bool },
    /// `acc[index…] += value`; the value may be a sub-table, or all of it when `index` is empty.
    AccAdd { acc: Atom, index: Vec<Atom>, value: Atom, check: bool },
    /// The final value. The accumulator may not be used afterwards.
    AccFreeze(Atom),
    /// The accumulator of alternative `tag` made of those of its payload.
    AccInj { ty: Ty, tag: u32, accs: Vec<Atom> },
    /// The accumulators of the payload of alternative `tag`.
    AccPayload { acc: Atom, tag: u32 },
    // ---- higher-order Core only -------------------------------------------------------------------
    /// A tuple.
    Tuple(Vec<Atom>),
    /// A struct.
    Record { ty: Ty, fields: Vec<Atom> },
    /// Component `k` of a tuple or struct.
    Proj(Atom, u32),
    /// `\param. body`, perhaps polymorphic when it is bound by a `let` or is a local `def`.
    Lambda(Arc<Lambda>),
    /// Application; `tys` instantiates a polymorphic local function.
    Apply { f: Atom, tys: Vec<TyArg>, arg: Atom },
    /// A top-level function as a value.
    FuncRef { func: FuncId, tys: Vec<TyArg> },
    /// An overloaded operation, lifted over tables, tuples and structs as its method says; resolved by
    /// `specialise` from the operands. `ty` is the type of the result.
    Method { method: Method, ty: Ty, args: Vec<Atom> },
    /// The size of an index set, an Int.
    SizeOf(Ix),
    /// The value of a size polynomial, an Int.
    SizeVal(Poly),
    /// A derivative operator applied to a function.
    Deriv { kind: Deriv, f: Atom },
}

/// One arm of a `case`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Take the payload.
    pub params: Vec<Var>,
    /// Runs when the arm is chosen.
    pub body: Block,
}

/// A function value of higher-order Core.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Type parameters.
    pub tparams: Vec<TyVar>,
    /// The parameter (a tuple where the source has several).
    pub param: Var,
    /// One result. Free variables are captured.
    pub body: Block,
    /// Where it stands.
    pub span: Span,
}

/// What a reduction or prefix combines with.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the line above each variant explains its fields")]
pub enum RedOp {
    /// Sum, from +0.
    Sum,
    /// Product, from 1.
    Prod,
    /// Least element; NaN wins; nothing is an error.
    Min,
    /// Greatest element; NaN wins; nothing is an error.
    Max,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// An associative function of two values with its unit. In order of the index.
    Custom { unit: Vec<Atom>, left: Vec<Var>, right: Vec<Var>, body: Block },
}

/// Axes of a contraction; equal labels are one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Of the first operand.
    pub a: Vec<u8>,
    /// Of the second.
    pub b: Vec<u8>,
    /// Of the result.
    pub out: Vec<u8>,
}

/// How a loop goes on.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the line above each variant explains its fields")]
pub enum LoopKind {
    /// Once for each index, in order, or from last to first.
    For { ix: Ix, var: Var, reverse: bool },
    /// While the condition (one Bool result) holds; it reads `params`, which take the state.
    While { params: Vec<Var>, cond: Block },
}

/// What reverse mode stores of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The residuals of each round.
    All,
    /// Nothing: only inputs.
    None,
    /// About √n states.
    Sqrt,
    /// Each k-th state.
    Every(i64),
    /// Logarithmically many states.
    Log,
}

/// Ordered effects.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the line above each variant explains its fields")]
pub enum Effect {
    /// Fails with this message. Its statement may bind variables of any type (it never gives them).
    Error(Atom),
    /// Fails with the message unless the Bool holds.
    Assert { cond: Atom, msg: Atom },
    /// Fails unless two sizes agree; `what` says in words what was compared.
    CheckSize { left: Atom, right: Atom, what: Arc<str> },
    /// Fails if a size is negative.
    CheckNonNegative(Atom),
    /// A line to the trace (stderr).
    Trace(Atom),
    /// A line to the output (stdout).
    Print(Atom),
    /// Reads a `.npy` file of this rank and element type; gives one Int a dimension, then the table.
    LoadNpy { path: Atom, rank: u32, elem: Scalar },
}

/// How to print leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Fmt {
    /// The next leaf, a scalar or a table of scalars; strings are quoted.
    Leaf,
    /// The next leaf is the ordinal of a payload-free enum with these constructors.
    Names(Vec<String>),
    /// The next leaf is a sum with these constructors and payload formats; one without a name prints as what it holds.
    Sum(Vec<(String, Vec<Fmt>)>),
    /// A table whose elements have this format: the leaves are tables.
    Table(Box<Fmt>),
    /// `(…, …)`.
    Tuple(Vec<Fmt>),
    /// `Name { field = …, … }`.
    Struct(String, Vec<(String, Fmt)>),
    /// A string leaf as it is.
    Raw,
    /// Fixed text (functions print as their type).
    Text(String),
    /// A format that passes over so many leaves first.
    After(u32, Box<Fmt>),
    /// The next leaf is a pack, whose items print by this format.
    Pack(Box<Fmt>),
    /// Fixed text that stands for so many leaves.
    Hidden(u32, String),
    /// The next leaf is a cell, which prints by this format of the enclosing [`Fmt::Where`].
    Cell(u32),
    /// A format, and those of the cells in it.
    Where(Box<Fmt>, Vec<Fmt>),
}

/// Overloaded operations of higher-order Core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `+` through tables, tuples, structs. A scalar may meet a table.
    Add,
    /// `-`.
    Sub,
    /// Prefix `-`.
    Neg,
    /// `*`: scalars, elementwise on equal tables, a scalar with a structure (scaling), instances.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Rem,
    /// `^` with a float exponent.
    Pow,
    /// `^` with an Int exponent (the second operand).
    PowInt,
    /// The additive zero of `ty`.
    Zero,
    /// The multiplicative one of `ty`.
    One,
    /// The literal (an Int or F64 atom) at the type `ty`, perhaps a structure or an instance.
    Lit,
    /// A scalar primitive lifted elementwise; scalar operands meet tables.
    Lift(Prim),
    /// `==`, structural.
    Eq,
    /// `<` on scalars, tuples, enums.
    Lt,
    /// `<=`.
    Le,
    /// `@`, by the ranks of its operands.
    MatMul,
    /// Text of any value.
    Show,
    /// Ordinal of an index.
    Ordinal,
    /// The index of the set in `ty` with the ordinal given, checked.
    FromOrdinal,
    /// Sum over the outermost index set.
    Sum,
    /// Product over the outermost index set.
    Prod,
    /// Least element of a table of scalars.
    Minimum,
    /// Greatest element.
    Maximum,
    /// Index of the least element (first of equals).
    Argmin,
    /// Index of the greatest.
    Argmax,
    /// Do all hold?
    All,
    /// Does any hold?
    Any,
    /// Sum of products of all float leaves.
    Dot,
    /// A value with a tangent added (`move`).
    Move,
    /// Uniform or normal random values of a `Vector` type, from a key (`Random(true)` is normal).
    Random(bool),
    /// The same value, constant to derivatives.
    StopGradient,
    /// Two tables, or two texts, one after the other.
    Concat,
    /// Does one value come before another in the total order: NaN after all numbers, -0 before +0.
    Before,
    /// A row of the table of bulk primitives; the elements of its last table may be structures.
    Bulk(Bulk),
}

/// Derivative operators as functions on functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deriv {
    /// `(a, T[a]) -> (b, T[b])`.
    Jvp,
    /// `a -> (b, T[b] -o T[a])`.
    Vjp,
    /// `a -> (b, T[a] -o T[b])`.
    Linearize,
    /// The same function; reverse mode keeps only its inputs.
    Checkpoint,
}
