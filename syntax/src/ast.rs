//! The surface syntax as plain data. Every node has a span.

use adl_diag::Span;

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// What it says in `language N`, when it begins so.
    pub language: Option<i64>,
    /// The items in order.
    pub items: Vec<Item>,
}

/// A name where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name; a qualified constructor or type has its module before a dot.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// An item with its documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The whole item.
    pub span: Span,
    /// The text of the `///` lines before it.
    pub docs: Option<String>,
    /// What it is.
    pub kind: ItemKind,
}

/// What stands at the top level of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `def f(x: a) -> b where C(a) = e`
    Def(Def),
    /// `let p: t = e`
    Let(Let),
    /// `struct S[n] derives Eq { x: t }`
    Struct(Struct),
    /// `enum E[a] { A, B(t) }`
    Enum(Enum),
    /// `type V[n] = n=>Float`
    Alias(Alias),
    /// `import path.to.m as n (a, b)`
    Import(Import),
    /// `param x: t = e`
    Param(Param),
    /// `test "…" { … }`
    Test(Test),
    /// `derivative reverse f(x) = e`
    Derivative(Derivative),
    /// `instance Num(C) { def mul(a, b) = … }`
    Instance(Instance),
    /// A bare expression.
    Expr(Expr),
    /// An item that could not be read. The names it would have defined are known all the same.
    Broken(Vec<Name>),
}

/// `def`, at the top level or in a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// From `def` to the end of the body.
    pub span: Span,
    /// The function.
    pub name: Name,
    /// `[n: Ix, a]`
    pub type_params: Vec<TypeParam>,
    /// The parameters.
    pub params: Vec<Pat>,
    /// The result type.
    pub result: Option<Type>,
    /// `where C(a), …`; `None` when not written.
    pub constraints: Option<Vec<Constraint>>,
    /// The body.
    pub body: Expr,
}

/// A parameter of a type or a `def`, perhaps with its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeParam {
    /// The parameter.
    pub name: Name,
    /// `Ix`, `Type` or `Int`.
    pub kind: Option<Type>,
}

/// `C(a)` in a `where`.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The whole.
    pub span: Span,
    /// The class.
    pub class: Name,
    /// Its arguments.
    pub args: Vec<Type>,
}

/// `let`, at the top level or in a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// From `let` to the end of the right side.
    pub span: Span,
    /// What is bound.
    pub pat: Pat,
    /// The right side.
    pub value: Expr,
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The type.
    pub name: Name,
    /// Its parameters.
    pub type_params: Vec<TypeParam>,
    /// The derived classes.
    pub derives: Vec<Name>,
    /// The fields in order.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The field.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// An enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The type.
    pub name: Name,
    /// Its parameters.
    pub type_params: Vec<TypeParam>,
    /// The derived classes.
    pub derives: Vec<Name>,
    /// The constructors in order.
    pub ctors: Vec<Ctor>,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Ctor {
    /// The constructor.
    pub name: Name,
    /// The types of what it holds.
    pub payload: Vec<Type>,
}

/// Another name for a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// Its parameters.
    pub type_params: Vec<TypeParam>,
    /// What it stands for.
    pub ty: Type,
}

/// An import.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The parts of the path.
    pub path: Vec<Name>,
    /// `as name`.
    pub alias: Option<Name>,
    /// `(a, b)`.
    pub names: Option<Vec<Name>>,
}

/// A parameter of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The parameter.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its value when the command line gives none.
    pub default: Expr,
}

/// A test.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// What the test says it shows.
    pub name: String,
    /// Its block.
    pub body: Expr,
}

/// A derivative rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivative {
    /// Whether it is `derivative reverse`.
    pub reverse: bool,
    /// The function it belongs to.
    pub name: Name,
    /// The parameters.
    pub params: Vec<Pat>,
    /// The rule.
    pub body: Expr,
}

/// An instance of a built-in class.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The class.
    pub class: Name,
    /// The type.
    pub ty: Type,
    /// The operations.
    pub defs: Vec<Def>,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Where.
    pub span: Span,
    /// How deep it is nested.
    pub depth: u32,
    /// What.
    pub kind: TypeKind,
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A lower-case name.
    Var(String),
    /// `_`
    Hole,
    /// A type with parameters, perhaps none.
    Con(Name, Vec<Type>),
    /// `Fin(e)`
    Fin(Box<Expr>),
    /// `(a, b)`; `()` too. One type in brackets is that type.
    Tuple(Vec<Type>),
    /// `n=>a`
    Table(Box<Type>, Box<Type>),
    /// `a -> b`
    Fun(Box<Type>, Box<Type>),
    /// `a -o b`
    Linear(Box<Type>, Box<Type>),
    /// `exists n, m. a`
    Exists(Vec<Name>, Box<Type>),
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pat {
    /// Where.
    pub span: Span,
    /// How deep it is nested.
    pub depth: u32,
    /// What.
    pub kind: PatKind,
}

/// The forms of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatKind {
    /// A name that is bound.
    Var(String),
    /// `_`
    Wild,
    /// A literal.
    Lit(Lit),
    /// `(p, q)`; `()` too.
    Tuple(Vec<Pat>),
    /// `C` and `C(p, q)`
    Ctor(Name, Vec<Pat>),
    /// `S { x, y = p }`
    Struct(Name, Vec<(Name, Pat)>),
    /// `p: t`
    Typed(Box<Pat>, Type),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Lit {
    /// An integer.
    Int(i64),
    /// A decimal number.
    Float(f64),
    /// A string, escapes resolved.
    Str(String),
    /// `true` or `false`
    Bool(bool),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where.
    pub span: Span,
    /// How deep it is nested, for the limit.
    pub depth: u32,
    /// What.
    pub kind: ExprKind,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `++`
    Concat,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `@`
    MatMul,
    /// `^`
    Pow,
}

impl BinOp {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Or => "||",
            BinOp::And => "&&",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::Concat => "++",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::MatMul => "@",
            BinOp::Pow => "^",
        }
    }
}

/// An operator with its right operand, in a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The operator.
    pub op: BinOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The right operand.
    pub right: Expr,
}

/// The forms of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A value's name.
    Var(String),
    /// A constructor's name.
    Ctor(String),
    /// A literal.
    Lit(Lit),
    /// `_`, the hole of `|>`.
    Hole,
    /// Something that could not be read; already reported.
    Error,
    /// `(a, b)`; `()` too. One expression in brackets is `Paren`.
    Tuple(Vec<Expr>),
    /// `(e)`
    Paren(Box<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `(e : t)`
    Annot(Box<Expr>, Type),
    /// `a + b - c`: operators of one tier, applied from the left. Long chains are flat, so that no pass nests.
    Chain(Box<Expr>, Vec<Link>),
    /// `x |> f |> g(_, 1)`, from the left.
    Pipe(Box<Expr>, Vec<Expr>),
    /// `-e`
    Neg(Box<Expr>),
    /// `!e`
    Not(Box<Expr>),
    /// `f(a, b)`
    Call(Box<Expr>, Vec<Expr>),
    /// `a[i, j]`
    Index(Box<Expr>, Vec<Expr>),
    /// `e.name` and `e.0`
    Field(Box<Expr>, Name),
    /// `e with { x = a, [i] = b }`
    With(Box<Expr>, Vec<Update>),
    /// `S { x = a, y }`
    Build(Name, Vec<(Name, Expr)>),
    /// `\x. e`
    Lambda(Box<Pat>, Box<Expr>),
    /// `for i: n, j. e`
    For(Vec<Pat>, Box<Expr>),
    /// `if c then a else b`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `when c do e`
    When(Box<Expr>, Box<Expr>),
    /// `loop p = e for i: n do b`, `loop p = e while c do b`
    Loop(Box<Loop>),
    /// `accum h: t do e`
    Accum(Vec<(Name, Type)>, Box<Expr>),
    /// `h[i] += e`
    PlusAssign(Box<Expr>, Box<Expr>),
    /// `{ s; s; e }`
    Block(Vec<Stmt>),
    /// `case e of { p -> a, q if c -> b }`
    Case(Box<Expr>, Vec<Arm>),
}

/// A part of `with`.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// `x = e`
    Field(Name, Expr),
    /// `[i, j] = e`
    Index(Span, Vec<Expr>, Expr),
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The state.
    pub pat: Pat,
    /// Its first value.
    pub init: Expr,
    /// How often.
    pub kind: LoopKind,
    /// `keep sqrt`: which states reverse mode keeps.
    pub keep: Option<Keep>,
    /// One round.
    pub body: Expr,
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// `for i: n`
    For(Pat),
    /// `while c`
    While(Expr),
}

/// The policy of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// `all none sqrt every log`
    pub policy: Name,
    /// The number of `every k`.
    pub every: Option<i64>,
}

/// An arm of a `case`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pat: Pat,
    /// `if c`
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
}

/// What stands in a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A binding.
    Let(Let),
    /// A local function.
    Def(Def),
    /// An expression; the last one is the value.
    Expr(Expr),
}
