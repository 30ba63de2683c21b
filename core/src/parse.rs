//! The parser of Core text, for first-order programs: what [`crate::print`] prints, it reads.

mod effect;
mod fmt;
mod lex;

use std::collections::HashMap;
use std::sync::Arc;

use adl_diag::Span;

use crate::ir::{Arm, Atom, Axes, Block, Expr, Func, FuncId, Keep, Lit, LoopKind, Program, RedOp, Stmt, Var};
use crate::prim;
use crate::ty::{INT, Ix, PackTy, Scalar, Ty};
use lex::{Token, lex, number};

/// What is wrong with a text, and at which byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// In words.
    pub message: String,
    /// Byte offset.
    pub at: usize,
}

type Result<T> = std::result::Result<T, ParseError>;

/// The nesting of blocks and types that is accepted.
const MAX_DEPTH: usize = 500;

/// Reads a program: `core 1`, then functions. Functions may call those that stand later.
///
/// # Errors
///
/// The first thing that is not Core text.
pub fn program(text: &str) -> Result<Program> {
    let tokens = lex(text)?;
    let mut names = HashMap::new();
    for pair in tokens.windows(2) {
        if pair[0].text == "fn" && !pair[1].text.starts_with('%') {
            let id = FuncId(u32::try_from(names.len()).unwrap_or(u32::MAX));
            names.entry(pair[1].text.to_string()).or_insert(id);
        }
    }
    let mut p = Parser { tokens, at: 0, end: text.len(), vars: HashMap::new(), funcs: names, depth: 0 };
    p.word("core")?;
    p.word("1")?;
    let mut out = Program::default();
    while !p.done() {
        p.vars.clear();
        out.funcs.push(p.func()?);
    }
    Ok(out)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    end: usize,
    vars: HashMap<&'a str, Var>,
    funcs: HashMap<String, FuncId>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |t| t.text)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        let at = self.tokens.get(self.at).map_or(self.end, |t| t.at);
        Err(ParseError { message: message.into(), at })
    }

    fn next(&mut self) -> Result<&'a str> {
        let Some(t) = self.tokens.get(self.at) else { return self.fail("the text breaks off") };
        self.at += 1;
        Ok(t.text)
    }

    fn is(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.is(word) { Ok(()) } else { self.fail(format!("expected `{word}`")) }
    }

    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        let out = f(self);
        self.depth -= 1;
        out
    }

    /// Items between commas up to `close`.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut out = vec![];
        while !self.is(close) {
            if !out.is_empty() {
                self.word(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    /// Items between commas, at least one.
    fn some<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut out = vec![item(self)?];
        while self.is(",") {
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn func(&mut self) -> Result<Func> {
        self.word("fn")?;
        let name = self.next()?.to_string();
        self.word("(")?;
        let params = self.list(")", Self::binder)?;
        let body = self.block()?;
        Ok(Func { name, tparams: vec![], params, body, span: Span::default() })
    }

    fn binder(&mut self) -> Result<Var> {
        let linear = self.is("lin");
        let name = self.next()?;
        if !name.starts_with('%') {
            return self.fail("expected a variable");
        }
        self.word(":")?;
        let ty = self.ty()?;
        let v = if linear { Var::linear(ty) } else { Var::new(ty) };
        if self.vars.insert(name, v.clone()).is_some() {
            return self.fail(format!("`{name}` is bound twice"));
        }
        Ok(v)
    }

    /// A variable that the printer leaves without a type: an index.
    fn index_var(&mut self) -> Result<Var> {
        let name = self.next()?;
        let v = Var::new(INT);
        self.vars.insert(name, v.clone());
        Ok(v)
    }

    fn used(&mut self) -> Result<Var> {
        let name = self.next()?;
        match self.vars.get(name) {
            Some(v) => Ok(v.clone()),
            None => self.fail(format!("`{name}` is not bound")),
        }
    }

    fn atom(&mut self) -> Result<Atom> {
        let t = self.peek();
        if t.starts_with('%') {
            return Ok(Atom::Var(self.used()?));
        }
        self.at += 1;
        let lit = match t {
            "true" => Lit::Bool(true),
            "false" => Lit::Bool(false),
            "inf" => Lit::F64(f64::INFINITY),
            "-inf" => Lit::F64(f64::NEG_INFINITY),
            "NaN" => Lit::F64(f64::NAN),
            "inff32" => Lit::F32(f32::INFINITY),
            "-inff32" => Lit::F32(f32::NEG_INFINITY),
            "NaNf32" => Lit::F32(f32::NAN),
            _ if t.starts_with('"') => Lit::Str(self.unquote(t)?.into()),
            _ => match number(t) {
                Some(lit) => lit,
                None => {
                    self.at -= 1;
                    return self.fail(format!("`{t}` is no operand"));
                }
            },
        };
        Ok(Atom::Lit(lit))
    }

    fn unquote(&self, t: &str) -> Result<String> {
        let inner = &t[1..t.len() - 1];
        let mut out = String::new();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('0') => out.push('\0'),
                Some('u') => {
                    let hex: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
                        Some(c) => out.push(c),
                        None => return self.fail("no such character"),
                    }
                }
                Some(c) => out.push(c),
                None => return self.fail("a text breaks off"),
            }
        }
        Ok(out)
    }

    fn atoms_in(&mut self, open: &str, close: &str) -> Result<Vec<Atom>> {
        self.word(open)?;
        self.list(close, Self::atom)
    }

    fn one_in_parens(&mut self) -> Result<Atom> {
        self.word("(")?;
        let a = self.atom()?;
        self.word(")")?;
        Ok(a)
    }

    fn int<T: std::str::FromStr>(&mut self) -> Result<T> {
        let t = self.next()?;
        match t.parse() {
            Ok(k) => Ok(k),
            Err(_) => self.fail(format!("`{t}` is not a number that fits here")),
        }
    }

    fn scalar(name: &str) -> Option<Scalar> {
        Some(match name {
            "F64" => Scalar::F64,
            "F32" => Scalar::F32,
            "Int" => Scalar::Int,
            "Bool" => Scalar::Bool,
            "Str" => Scalar::Str,
            "Key" => Scalar::Key,
            _ => return None,
        })
    }

    fn ty(&mut self) -> Result<Ty> {
        self.deeper(Self::ty_inner)
    }

    fn ty_inner(&mut self) -> Result<Ty> {
        let t = self.next()?;
        if let Some(s) = Self::scalar(t) {
            return Ok(Ty::Scalar(s));
        }
        if let Some(id) = t.strip_prefix("Box#") {
            return match id.parse() {
                Ok(id) => Ok(Ty::Box(id)),
                Err(_) => self.fail("a box needs a number"),
            };
        }
        match t {
            "[" => {
                let size = self.atom()?;
                self.word("]")?;
                Ok(Ty::table(size, self.ty()?))
            }
            "<" => {
                let mut alts = vec![];
                loop {
                    let mut alt = vec![];
                    while !["|", ">"].contains(&self.peek()) {
                        if !alt.is_empty() {
                            self.word(",")?;
                        }
                        alt.push(self.ty()?);
                    }
                    alts.push(alt);
                    if self.next()? == ">" {
                        return Ok(Ty::Sum(alts));
                    }
                }
            }
            "Acc" => {
                self.word("(")?;
                let t = self.ty()?;
                self.word(")")?;
                Ok(Ty::Acc(Box::new(t)))
            }
            "exists" => Ok(Ty::Pack(self.pack_ty()?)),
            _ => {
                self.at -= 1;
                self.fail(format!("`{t}` is no type of first-order Core"))
            }
        }
    }

    /// After `exists`.
    fn pack_ty(&mut self) -> Result<Arc<PackTy>> {
        let mut sizes = vec![];
        let mut shadowed = vec![];
        while !self.is(".") {
            if !sizes.is_empty() {
                self.word(",")?;
            }
            let name = self.next()?;
            let v = Var::new(INT);
            shadowed.push((name, self.vars.insert(name, v.clone())));
            sizes.push(v);
        }
        self.word("(")?;
        let items = self.list(")", Self::ty)?;
        for (name, old) in shadowed {
            match old {
                Some(old) => self.vars.insert(name, old),
                None => self.vars.remove(name),
            };
        }
        Ok(Arc::new(PackTy { sizes, items }))
    }

    fn block(&mut self) -> Result<Block> {
        self.deeper(|p| {
            p.word("{")?;
            let mut stmts = vec![];
            while !p.is("yield") {
                stmts.push(p.stmt()?);
            }
            let results = if p.peek() == "}" { vec![] } else { p.some(Self::atom)? };
            p.word("}")?;
            Ok(Block { stmts, results })
        })
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let start = self.at;
        let binds = self.peek() == "lin" || self.peek().starts_with('%');
        // The sizes in a later binder may be bound by an earlier one.
        let vars = if binds && self.binds_here() { self.some(Self::binder)? } else { vec![] };
        if !vars.is_empty() {
            self.word("=")?;
        }
        let expr = self.expr()?;
        let mut dies = vec![];
        if self.is(";") {
            self.word("dies")?;
            dies = self.some(Self::used)?;
        }
        debug_assert!(start < self.at, "a statement has tokens");
        Ok(Stmt { vars, expr, span: Span::default(), dies })
    }

    /// Is this `%k: …` rather than an operand?
    fn binds_here(&self) -> bool {
        let skip = usize::from(self.peek() == "lin");
        self.tokens.get(self.at + skip + 1).is_some_and(|t| t.text == ":")
    }

    /// `name[…]` after an optional `?`.
    fn indexed(&mut self) -> Result<(Atom, Vec<Atom>, bool)> {
        let check = self.is("?");
        let base = self.atom()?;
        Ok((base, self.atoms_in("[", "]")?, check))
    }

    fn typed_suffix(&mut self) -> Result<Ty> {
        self.word(":")?;
        self.ty()
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn expr(&mut self) -> Result<Expr> {
        let t = self.peek();
        if t.starts_with('%') || t.starts_with('"') || number(t).is_some() || ["true", "false"].contains(&t) {
            return Ok(Expr::Atom(self.atom()?));
        }
        self.at += 1;
        if let Some(id) = t.strip_prefix("box#") {
            let Ok(id) = id.parse() else { return self.fail("a box needs a number") };
            return Ok(Expr::BoxNew { id, args: self.atoms_in("(", ")")? });
        }
        Ok(match t {
            "inject" => {
                let tag = self.int()?;
                let args = self.atoms_in("(", ")")?;
                Expr::Inject { ty: self.typed_suffix()?, tag, args }
            }
            "case" => self.case()?,
            "for" => {
                let (ix, var) = self.counted()?;
                Expr::For { ix, var, body: self.block()? }
            }
            "index" => {
                let (table, index, check) = self.indexed()?;
                Expr::Index { table, index, check }
            }
            "reduce" | "prefix" => {
                let op = self.red_op()?;
                let (ix, var) = self.counted()?;
                let body = self.block()?;
                if t == "reduce" {
                    Expr::Reduce { op, ix, var, body }
                } else {
                    Expr::Prefix { op, ix, var, body }
                }
            }
            "contract" => self.contract()?,
            "loop" => self.looped()?,
            "update" => {
                let (table, index, check) = self.indexed()?;
                self.word("=")?;
                Expr::Update { table, index, value: self.atom()?, check }
            }
            "table" => Expr::TableLit { elem: self.ty()?, items: self.atoms_in("(", ")")? },
            "pack" => {
                let sizes = self.atoms_in("(", ")")?;
                let items = self.atoms_in("(", ")")?;
                self.word(":")?;
                self.word("exists")?;
                Expr::Pack { ty: self.pack_ty()?, sizes, items }
            }
            "open" => Expr::Open(self.one_in_parens()?),
            "unbox" => Expr::Unbox(self.one_in_parens()?),
            "dup" => Expr::Dup(self.one_in_parens()?),
            "drop" => Expr::Drop(self.one_in_parens()?),
            "acc_freeze" => Expr::AccFreeze(self.one_in_parens()?),
            "acc_from" => Expr::AccFrom(self.one_in_parens()?),
            "call" | "checkpoint" => {
                let name = self.next()?;
                let Some(func) = self.funcs.get(name).copied() else {
                    return self.fail(format!("there is no function `{name}`"));
                };
                let args = self.atoms_in("(", ")")?;
                Expr::Call { func, tys: vec![], args, checkpoint: t == "checkpoint" }
            }
            "zero" => Expr::Zero(self.ty_in_parens()?),
            "acc_new" => Expr::AccNew(self.ty_in_parens()?),
            "addct" => {
                let (a, b) = self.two_in_parens()?;
                Expr::AddCt(a, b)
            }
            "show" => Expr::Show { fmt: Arc::new(self.fmt()?), args: self.atoms_in("(", ")")? },
            "acc_view" => {
                let (acc, index, check) = self.indexed()?;
                Expr::AccView { acc, index, check }
            }
            "acc_add" => {
                let (acc, index, check) = self.indexed()?;
                self.word("+=")?;
                Expr::AccAdd { acc, index, value: self.atom()?, check }
            }
            "acc_inj" => {
                let tag = self.int()?;
                let accs = self.atoms_in("(", ")")?;
                Expr::AccInj { ty: self.typed_suffix()?, tag, accs }
            }
            "acc_payload" => {
                let tag = self.int()?;
                Expr::AccPayload { acc: self.atom()?, tag }
            }
            _ => match (self.effect(t)?, prim::by_name(t)) {
                (Some(effect), _) => Expr::Effect(effect),
                (None, Some(p)) => {
                    let args = self.some(Self::atom)?;
                    let scalars: Option<Vec<Scalar>> = args.iter().map(|a| a.ty().scalar()).collect();
                    if scalars.and_then(|s| p.0.result(&s)).is_none() {
                        return self.fail(format!("the operands do not fit `{t}`"));
                    }
                    Expr::Prim(p, args)
                }
                (None, None) => {
                    self.at -= 1;
                    return self.fail(format!("`{t}` is no form of first-order Core"));
                }
            },
        })
    }

    fn ty_in_parens(&mut self) -> Result<Ty> {
        self.word("(")?;
        let t = self.ty()?;
        self.word(")")?;
        Ok(t)
    }

    fn two_in_parens(&mut self) -> Result<(Atom, Atom)> {
        self.word("(")?;
        let a = self.atom()?;
        self.word(",")?;
        let b = self.atom()?;
        self.word(")")?;
        Ok((a, b))
    }

    fn case(&mut self) -> Result<Expr> {
        let scrut = self.atom()?;
        let mut arms = vec![];
        while self.is("(") {
            let params = self.list(")", Self::binder)?;
            arms.push(Arm { params, body: self.block()? });
        }
        Ok(Expr::Case { scrut, arms })
    }

    fn counted(&mut self) -> Result<(Ix, Var)> {
        let var = self.index_var()?;
        self.word("<")?;
        Ok((Ix::Fin(self.atom()?), var))
    }

    fn red_op(&mut self) -> Result<RedOp> {
        let t = self.next()?;
        Ok(match t {
            "sum" => RedOp::Sum,
            "prod" => RedOp::Prod,
            "min" => RedOp::Min,
            "max" => RedOp::Max,
            "and" => RedOp::And,
            "or" => RedOp::Or,
            "custom" => {
                let unit = self.atoms_in("(", ")")?;
                self.word("(")?;
                let left = self.list(";", Self::binder)?;
                let right = self.list(")", Self::binder)?;
                RedOp::Custom { unit, left, right, body: self.block()? }
            }
            _ => return self.fail(format!("`{t}` is no reduction")),
        })
    }

    fn contract(&mut self) -> Result<Expr> {
        let letters = |t: &str| t.bytes().map(|b| b.wrapping_sub(b'a')).collect::<Vec<u8>>();
        let a = letters(self.next()?);
        self.word(",")?;
        let b = letters(self.next()?);
        self.word("->")?;
        let next = self.peek();
        let mut out = vec![];
        if !next.starts_with('%') {
            out = letters(self.next()?);
        }
        let x = self.atom()?;
        self.word(",")?;
        let y = self.atom()?;
        Ok(Expr::Contract { a: x, b: y, spec: Axes { a, b, out } })
    }

    fn looped(&mut self) -> Result<Expr> {
        let state = if self.peek() == "=" { vec![] } else { self.some(Self::binder)? };
        self.word("=")?;
        let ends = ["for", "downfor", "while"];
        let init = if ends.contains(&self.peek()) { vec![] } else { self.some(Self::atom)? };
        let kind = match self.next()? {
            "while" => {
                self.word("(")?;
                let params = self.list(")", Self::binder)?;
                LoopKind::While { params, cond: self.block()? }
            }
            word @ ("for" | "downfor") => {
                let (ix, var) = self.counted()?;
                LoopKind::For { ix, var, reverse: word == "downfor" }
            }
            _ => return self.fail("expected `for`, `downfor` or `while`"),
        };
        let keep = if self.is("keep") { self.keep()? } else { Keep::All };
        self.word("do")?;
        Ok(Expr::Loop { kind, state, init, body: self.block()?, keep })
    }

    fn keep(&mut self) -> Result<Keep> {
        Ok(match self.next()? {
            "none" => Keep::None,
            "sqrt" => Keep::Sqrt,
            "log" => Keep::Log,
            "every" => Keep::Every(self.int()?),
            _ => return self.fail("expected a policy"),
        })
    }
}
