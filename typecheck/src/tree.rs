//! The typed tree: what inference makes of expressions, and elaboration reads.

use adl_diag::Span;
use adl_syntax::ast::{BinOp, Keep, Lit};

use crate::{
    data::CtorRef,
    types::{DataId, Poly, Ty, V},
};

/// A variable bound in the source; each binding has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LocalId(pub(crate) u32);

/// An expression with its type.
#[derive(Clone, Debug)]
pub(crate) struct Tx {
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    pub(crate) kind: Tk,
}

impl Tx {
    pub(crate) fn new(span: Span, ty: Ty, kind: Tk) -> Tx {
        Tx { ty, span, kind }
    }

    /// What stands for something wrong.
    pub(crate) fn error(span: Span) -> Tx {
        Tx { ty: Ty::Error, span, kind: Tk::Error }
    }
}

/// An operator of a chain, with the type of the result up to it.
#[derive(Clone, Debug)]
pub(crate) struct TLink {
    pub(crate) op: BinOp,
    pub(crate) span: Span,
    pub(crate) result: Ty,
    pub(crate) right: Tx,
}

/// The forms of typed expressions.
#[derive(Clone, Debug)]
pub(crate) enum Tk {
    Error,
    Lit(Lit),
    /// A variable; the second part instantiates a polymorphic local function.
    Local(LocalId, Vec<V>),
    /// A top-level function, an index into the session's list.
    Func(usize, Vec<V>),
    /// A built-in, an index into the table.
    Builtin(usize),
    Ctor(CtorRef),
    /// `size(n)`
    SizeOf(Ty),
    /// A size used as a value.
    SizeVal(Poly),
    Tuple(Vec<Tx>),
    List(Vec<Tx>),
    Chain(Box<Tx>, Vec<TLink>),
    Neg(Box<Tx>),
    Not(Box<Tx>),
    Call(Box<Tx>, Box<Tx>),
    Index(Box<Tx>, Vec<Tx>),
    Field(Box<Tx>, String),
    With(Box<Tx>, Vec<TUpdate>),
    /// Fields in the order they are written, with their numbers.
    Build(DataId, Vec<(usize, Tx)>),
    Lambda(Box<Tp>, Box<Tx>),
    /// Index pattern and set; body.
    For(Box<Tp>, Box<Tx>),
    If(Box<Tx>, Box<Tx>, Box<Tx>),
    When(Box<Tx>, Box<Tx>),
    Loop(Box<TLoop>),
    Accum(Vec<(LocalId, Ty)>, Box<Tx>),
    PlusAssign(LocalId, Vec<Tx>, Ty, Box<Tx>),
    Block(Vec<TStmt>, Option<Box<Tx>>),
    Case(Box<Tx>, Vec<TArm>),
    /// Closes a pack: its sizes are what these variables were solved to.
    Pack(Vec<V>, Box<Tx>),
    /// Opens a pack: these variables stand for its sizes.
    Open(Vec<V>, Box<Tx>),
    /// Sizes that have to agree at run time.
    CheckSizes(Vec<(Poly, Poly)>, Box<Tx>),
    /// Sizes that are the values of Int expressions.
    WithSizes(Vec<(V, Tx)>, Box<Tx>),
}

#[derive(Clone, Debug)]
pub(crate) enum TUpdate {
    Field(String, Tx),
    Index(Vec<Tx>, Tx),
}

#[derive(Clone, Debug)]
pub(crate) struct TLoop {
    pub(crate) pat: Tp,
    pub(crate) init: Tx,
    pub(crate) kind: TLoopKind,
    pub(crate) keep: Option<Keep>,
    pub(crate) body: Tx,
}

#[derive(Clone, Debug)]
pub(crate) enum TLoopKind {
    For(Tp),
    /// The state once more, as the condition sees it.
    While(Tp, Tx),
}

#[derive(Clone, Debug)]
pub(crate) struct TArm {
    pub(crate) pat: Tp,
    pub(crate) guard: Option<Tx>,
    pub(crate) body: Tx,
}

#[derive(Clone, Debug)]
pub(crate) enum TStmt {
    Let(Tp, Tx),
    /// A local function: polymorphic in these variables.
    Poly(LocalId, Vec<V>, Tx),
    /// A local function that refers to itself, or to others that refer to it.
    Rec(Vec<TRec>),
    Expr(Tx),
}

/// A local function that refers to itself, or to others that refer to it.
#[derive(Clone, Debug)]
pub(crate) struct TRec {
    /// Its name below.
    pub(crate) id: LocalId,
    /// Its name in its own body, and in those of its group.
    pub(crate) own: LocalId,
    /// Is it polymorphic in its own body, too?
    pub(crate) full: bool,
    /// It is polymorphic in these.
    pub(crate) vars: Vec<V>,
    /// A lambda.
    pub(crate) value: Tx,
}

/// A pattern with its type.
#[derive(Clone, Debug)]
pub(crate) struct Tp {
    pub(crate) ty: Ty,
    pub(crate) span: Span,
    pub(crate) kind: TpKind,
}

#[derive(Clone, Debug)]
pub(crate) enum TpKind {
    Wild,
    Var(LocalId),
    Lit(Lit),
    Tuple(Vec<Tp>),
    Ctor(CtorRef, Vec<Tp>),
    Struct(DataId, Vec<(usize, Tp)>),
}

impl Tp {
    /// The variables it binds, in order.
    pub(crate) fn locals(&self) -> Vec<LocalId> {
        match &self.kind {
            TpKind::Wild | TpKind::Lit(_) => vec![],
            TpKind::Var(id) => vec![*id],
            TpKind::Tuple(ps) | TpKind::Ctor(_, ps) => ps.iter().flat_map(Tp::locals).collect(),
            TpKind::Struct(_, fields) => fields.iter().flat_map(|(_, p)| p.locals()).collect(),
        }
    }
}
