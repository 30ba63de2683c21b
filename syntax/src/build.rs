//! What the grammar's actions call: one function a form, with the limit on nesting.

use adl_diag::{Code, Diagnostic, FileId, Span};
use lalrpop_util::ParseError;

use crate::ast::{BinOp, Expr, ExprKind, Link, LoopKind, Name, Pat, PatKind, Stmt, Type, TypeKind, Update};
use crate::token::Tok;

/// How deep forms may be nested.
pub(crate) const MAX_DEPTH: u32 = 1_000;

/// How an action fails.
pub(crate) type Fail<'t> = ParseError<usize, Tok<'t>, Box<Diagnostic>>;

/// An operator with its place.
pub(crate) type Op = (BinOp, Span);

fn fail<'t>(diagnostic: Diagnostic) -> Fail<'t> {
    ParseError::User { error: Box::new(diagnostic) }
}

fn checked<'t>(span: Span, depth: u32) -> Result<u32, Fail<'t>> {
    if depth <= MAX_DEPTH { Ok(depth) } else { Err(fail(crate::errors::too_deep(span))) }
}

pub(crate) fn span(file: FileId, l: usize, r: usize) -> Span {
    Span::new(file, l, r)
}

pub(crate) fn name(file: FileId, l: usize, text: &str, r: usize) -> Name {
    Name { text: text.to_string(), span: span(file, l, r) }
}

pub(crate) fn push<T>(mut list: Vec<T>, item: T) -> Vec<T> {
    list.push(item);
    list
}

/// A word that is one only in its place, such as `derives`.
pub(crate) fn word<'t>(found: &Name, wanted: &str) -> Result<(), Fail<'t>> {
    if found.text == wanted { Ok(()) } else { Err(fail(crate::errors::expected_word(found, wanted))) }
}

pub(crate) fn op(file: FileId, l: usize, op: BinOp, r: usize) -> Op {
    (op, span(file, l, r))
}

pub(crate) fn expr<'t>(file: FileId, l: usize, kind: ExprKind, r: usize) -> Result<Expr, Fail<'t>> {
    let span = span(file, l, r);
    let depth = checked(span, 1 + deepest(&kind))?;
    Ok(Expr { span, depth, kind })
}

fn deepest(kind: &ExprKind) -> u32 {
    fn all<'a>(es: impl IntoIterator<Item = &'a Expr>) -> u32 {
        es.into_iter().map(|e| e.depth).max().unwrap_or(0)
    }
    match kind {
        ExprKind::Var(_) | ExprKind::Ctor(_) | ExprKind::Lit(_) | ExprKind::Hole | ExprKind::Error => 0,
        ExprKind::Tuple(es) | ExprKind::List(es) => all(es),
        ExprKind::Paren(e) | ExprKind::Neg(e) | ExprKind::Not(e) | ExprKind::Field(e, _) => e.depth,
        ExprKind::Annot(e, t) => e.depth.max(t.depth),
        ExprKind::Chain(e, links) => links.iter().map(|l| l.right.depth).max().unwrap_or(0).max(e.depth),
        ExprKind::Pipe(e, es) | ExprKind::Call(e, es) | ExprKind::Index(e, es) => e.depth.max(all(es)),
        ExprKind::With(e, us) => us
            .iter()
            .map(|u| match u {
                Update::Field(_, e) => e.depth,
                Update::Index(_, es, e) => all(es).max(e.depth),
            })
            .max()
            .unwrap_or(0)
            .max(e.depth),
        ExprKind::Build(_, fs) => all(fs.iter().map(|(_, e)| e)),
        ExprKind::Lambda(p, e) => p.depth.max(e.depth),
        ExprKind::For(ps, e) => ps.iter().map(|p| p.depth).max().unwrap_or(0).max(e.depth),
        ExprKind::If(c, a, b) => c.depth.max(a.depth).max(b.depth),
        ExprKind::When(a, b) | ExprKind::PlusAssign(a, b) => a.depth.max(b.depth),
        ExprKind::Loop(l) => l.pat.depth.max(l.init.depth).max(l.body.depth).max(match &l.kind {
            LoopKind::For(p) => p.depth,
            LoopKind::While(e) => e.depth,
        }),
        ExprKind::Accum(rs, e) => rs.iter().map(|(_, t)| t.depth).max().unwrap_or(0).max(e.depth),
        ExprKind::Block(ss) => ss
            .iter()
            .map(|s| match s {
                Stmt::Let(l) => l.pat.depth.max(l.value.depth),
                Stmt::Def(d) => d.params.iter().map(|p| p.depth).max().unwrap_or(0).max(d.body.depth),
                Stmt::Expr(e) => e.depth,
            })
            .max()
            .unwrap_or(0),
        ExprKind::Case(e, arms) => arms
            .iter()
            .map(|a| a.body.depth.max(a.pat.depth).max(a.guard.as_ref().map_or(0, |g| g.depth)))
            .max()
            .unwrap_or(0)
            .max(e.depth),
    }
}

/// The tier of an operator: operators of one tier chain.
fn tier(op: BinOp) -> u8 {
    match op {
        BinOp::Or => 0,
        BinOp::And => 1,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => 2,
        BinOp::Concat => 3,
        BinOp::Add | BinOp::Sub => 4,
        BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::MatMul => 5,
        BinOp::Pow => 6,
    }
}

/// `a op b`, appended to the chain that `a` may already be.
pub(crate) fn chain<'t>(a: Expr, (op, op_span): Op, b: Expr) -> Result<Expr, Fail<'t>> {
    let span = a.span.to(b.span);
    let depth = checked(span, (b.depth + 1).max(a.depth))?;
    let link = Link { op, op_span, right: b };
    let same =
        matches!(&a.kind, ExprKind::Chain(_, links) if links.first().is_some_and(|l| tier(l.op) == tier(op)));
    if same && let ExprKind::Chain(first, links) = a.kind {
        return Ok(Expr { span, depth, kind: ExprKind::Chain(first, push(links, link)) });
    }
    let depth = checked(span, depth.max(a.depth + 1))?;
    Ok(Expr { span, depth, kind: ExprKind::Chain(Box::new(a), vec![link]) })
}

/// `a |> b`, appended to the pipe that `a` may already be.
pub(crate) fn pipe<'t>(a: Expr, b: Expr) -> Result<Expr, Fail<'t>> {
    let span = a.span.to(b.span);
    let depth = checked(span, 1 + a.depth.max(b.depth))?;
    if let ExprKind::Pipe(first, rest) = a.kind {
        return Ok(Expr { span, depth, kind: ExprKind::Pipe(first, push(rest, b)) });
    }
    Ok(Expr { span, depth, kind: ExprKind::Pipe(Box::new(a), vec![b]) })
}

pub(crate) fn index<'t>(
    file: FileId,
    l: usize,
    a: Expr,
    (bracket, xs): (usize, Vec<Expr>),
    r: usize,
) -> Result<Expr, Fail<'t>> {
    let end = a.span.end as usize;
    if matches!(a.kind, ExprKind::List(_)) && end < bracket {
        return Err(fail(crate::errors::missing_comma(span(file, end, bracket))));
    }
    if xs.is_empty() {
        return Err(fail(crate::errors::empty_index(span(file, l, r))));
    }
    expr(file, l, ExprKind::Index(Box::new(a), xs), r)
}

pub(crate) fn tuple_expr(mut es: Vec<Expr>) -> ExprKind {
    if es.len() == 1
        && let Some(e) = es.pop()
    {
        return ExprKind::Paren(Box::new(e));
    }
    ExprKind::Tuple(es)
}

pub(crate) fn shorthand<'t>(x: Name) -> Result<(Name, Expr), Fail<'t>> {
    let value = Expr { span: x.span, depth: 1, kind: ExprKind::Var(x.text.clone()) };
    Ok((x, value))
}

pub(crate) fn pat<'t>(file: FileId, l: usize, kind: PatKind, r: usize) -> Result<Pat, Fail<'t>> {
    let span = span(file, l, r);
    let deepest = match &kind {
        PatKind::Var(_) | PatKind::Wild | PatKind::Lit(_) => 0,
        PatKind::Tuple(ps) | PatKind::Ctor(_, ps) => ps.iter().map(|p| p.depth).max().unwrap_or(0),
        PatKind::Struct(_, fs) => fs.iter().map(|(_, p)| p.depth).max().unwrap_or(0),
        PatKind::Typed(p, t) => p.depth.max(t.depth),
    };
    Ok(Pat { span, depth: checked(span, 1 + deepest)?, kind })
}

pub(crate) fn tuple_pat(mut ps: Vec<Pat>) -> PatKind {
    if ps.len() == 1
        && let Some(p) = ps.pop()
    {
        return p.kind;
    }
    PatKind::Tuple(ps)
}

pub(crate) fn shorthand_pat<'t>(x: Name) -> Result<(Name, Pat), Fail<'t>> {
    let pat = Pat { span: x.span, depth: 1, kind: PatKind::Var(x.text.clone()) };
    Ok((x, pat))
}

pub(crate) fn ty<'t>(file: FileId, l: usize, kind: TypeKind, r: usize) -> Result<Type, Fail<'t>> {
    let span = span(file, l, r);
    let deepest = match &kind {
        TypeKind::Var(_) | TypeKind::Hole => 0,
        TypeKind::Con(_, ts) | TypeKind::Tuple(ts) => ts.iter().map(|t| t.depth).max().unwrap_or(0),
        TypeKind::Fin(e) => e.depth,
        TypeKind::Table(a, b) | TypeKind::Fun(a, b) | TypeKind::Linear(a, b) => a.depth.max(b.depth),
        TypeKind::Exists(_, t) => t.depth,
    };
    Ok(Type { span, depth: checked(span, 1 + deepest)?, kind })
}

pub(crate) fn tuple_type(mut ts: Vec<Type>) -> TypeKind {
    if ts.len() == 1
        && let Some(t) = ts.pop()
    {
        return t.kind;
    }
    TypeKind::Tuple(ts)
}

/// `Fin(e)`: the only type that takes an expression.
pub(crate) fn fin<'t>(con: Name, e: Expr) -> Result<TypeKind, Fail<'t>> {
    if con.text == "Fin" {
        return Ok(TypeKind::Fin(Box::new(e)));
    }
    Err(fail(
        Diagnostic::error(Code::E0106, format!("`{}(…)` is not a type", con.text))
            .label(con.span, "type parameters stand in square brackets")
            .help(format!("write `{}[…]`", con.text)),
    ))
}

/// The value of an integer literal; the lexer has reported what does not fit.
pub(crate) fn int(text: &str) -> i64 {
    parse_int(text).unwrap_or(0)
}

/// The value of an integer literal, or `None` when it does not fit.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let radix = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0b") => 2,
        Some("0o") => 8,
        Some(_) | None => return digits.parse().ok(),
    };
    u64::from_str_radix(&digits[2..], radix).ok().map(u64::cast_signed)
}

/// The value of a decimal literal; the lexer has reported what is malformed.
pub(crate) fn float(text: &str) -> f64 {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    digits.parse().unwrap_or(f64::NAN)
}

/// The text of a string literal; the lexer has reported unknown escapes.
pub(crate) fn unescape(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (found, len) = escape(&rest[at..]);
        out.extend(found);
        rest = &rest[at + len..];
    }
    out.push_str(rest);
    out
}

/// The character that the escape at the start of `text` stands for, if it is one, and its length in bytes.
pub(crate) fn escape(text: &str) -> (Option<char>, usize) {
    let mut chars = text.chars().skip(1);
    let Some(c) = chars.next() else { return (None, text.len()) };
    let plain = 1 + c.len_utf8();
    match c {
        'n' => (Some('\n'), plain),
        't' => (Some('\t'), plain),
        'r' => (Some('\r'), plain),
        '0' => (Some('\0'), plain),
        '\\' => (Some('\\'), plain),
        '"' => (Some('"'), plain),
        'u' => {
            let Some(body) = text[plain..].strip_prefix('{') else { return (None, plain) };
            let Some(close) = body.find('}') else { return (None, plain) };
            let code = u32::from_str_radix(&body[..close], 16).ok();
            (code.and_then(char::from_u32), plain + close + 2)
        }
        _ => (None, plain),
    }
}
