//! The parser of Core text: what [`crate::print`] prints, it reads.
//!
//! A text is `core 1`, then in any order, each before it is mentioned unless said otherwise:
//!
//! ```text
//! struct P[a'0: Type, n'1: Ix] { w: [n'1]a'0 } with Add = add_p     ; instances: method = function
//! enum E { A(), B(F64, E) }                    ; may be mentioned before
//! box#0 (F64, Box#0)                           ; what the cells of recursive type 0 hold
//! var @0: [3]F64                               ; a variable that an item binds
//! fn f[a'0: Type](%0: (a'0, a'0)) { … }        ; may be mentioned before
//! rule f = f.derivative forward                ; its derivative by the user: forward, reverse, reverse_only
//! let @0, @1 { … }     show { … }     test "name" { … }     param steps @2 { … }
//! ```
//!
//! A block is `{ statement … yield atom, … }`, a statement `%1: TYPE, … = FORM ; dies %0, …` (without binders,
//! `=` or `dies` where it has none), a variable `%0` (`lin %0: F64` binds a linear one) or, of the top level,
//! `@0`. Two functions or types of one name have their numbers behind it: `f#7`. Constants are `1` (Int),
//! `1.0`, `1.0f32`, `true`, `"…"`, `unit`.
//!
//! Types: `F64 F32 Int Bool Str Key`, `[IX]T` a table, `<A, B | C>` a sum, `exists %0. (T)` a pack, `Box#0` a
//! cell (`Box#0'` one of its tangents, `Box#0.plain` one that has none), `Acc(T)`, `(A, B)`, `(A -> B)`, `(A -o B)`, `Index(IX)`, `T(A)` the tangent, `P[F64, ix Bool, size 3]`, `a'0`.
//! Index sets: an Int atom, `Fin(2*%0 + 1*n'0 + 3)`, `()`, `Bool`, `E`, `(IX, IX)`, `n'0`. Arguments for type
//! parameters stand behind the function: `call f[F64](%0)`.
//!
//! Formats of `show`: `_` a leaf, `raw` a text, `"text"`, `hidden 2 "text"` for two leaves, `[F]`, `(F, F)`,
//! `P{x: F}`, `names(A, B)`, `sum(A(), B(F))`, `cell 0`, and `where(F, F)`, whose later ones are those of the cells.

mod decl;
mod effect;
mod fmt;
mod forms;
mod higher;
mod lex;
mod types;

use std::collections::HashMap;

use adl_diag::Span;

use crate::ir::{Atom, Block, Func, FuncId, Lit, Program, Stmt, Var};
use crate::print::plain;
use crate::ty::{INT, TyVar, TypeId};
use lex::{Token, is_var, lex, literal};

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

/// Reads a program of either stage.
///
/// # Errors
///
/// The first thing that is not Core text.
pub fn program(text: &str) -> Result<Program> {
    let mut p = Parser { tokens: lex(text)?, end: text.len(), ..Parser::default() };
    p.word("core")?;
    p.word("1")?;
    p.announce()?;
    let mut out = Program::default();
    while !p.done() {
        p.top(&mut out)?;
    }
    Ok(out)
}

#[derive(Default)]
struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    end: usize,
    /// Of the function or item at hand, `%0`, and of the top level, `@0`.
    vars: HashMap<&'a str, Var>,
    globals: HashMap<&'a str, Var>,
    ty_vars: HashMap<&'a str, TyVar>,
    funcs: HashMap<&'a str, FuncId>,
    types: HashMap<&'a str, TypeId>,
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

    /// After `fn`.
    fn func(&mut self) -> Result<Func> {
        let name = plain(self.next()?).to_string();
        let tparams = self.ty_params()?;
        self.word("(")?;
        let params = self.list(")", Self::binder)?;
        let body = self.block()?;
        Ok(Func { name, tparams, params, body, span: Span::default() })
    }

    fn binder(&mut self) -> Result<Var> {
        let linear = self.is("lin");
        let name = self.next()?;
        if !is_var(name) {
            return self.fail("expected a variable");
        }
        self.word(":")?;
        let ty = self.ty()?;
        self.bind(name, if linear { Var::linear(ty) } else { Var::new(ty) })
    }

    fn bind(&mut self, name: &'a str, v: Var) -> Result<Var> {
        let vars = if name.starts_with('@') { &mut self.globals } else { &mut self.vars };
        match vars.insert(name, v.clone()) {
            None => Ok(v),
            Some(_) => self.fail(format!("`{name}` is bound twice")),
        }
    }

    /// An index: without a type it is an Int.
    fn index_var(&mut self) -> Result<Var> {
        if self.binds_here() {
            return self.binder();
        }
        let name = self.next()?;
        if !name.starts_with('%') {
            return self.fail("expected a variable");
        }
        self.bind(name, Var::new(INT))
    }

    fn used(&mut self) -> Result<Var> {
        let name = self.next()?;
        match self.vars.get(name).or_else(|| self.globals.get(name)) {
            Some(v) => Ok(v.clone()),
            None => self.fail(format!("`{name}` is not bound")),
        }
    }

    fn atom(&mut self) -> Result<Atom> {
        let t = self.peek();
        if is_var(t) {
            return Ok(Atom::Var(self.used()?));
        }
        if t.starts_with('"') {
            return Ok(Atom::Lit(Lit::Str(self.text()?.into())));
        }
        match literal(t) {
            Some(lit) => {
                self.at += 1;
                Ok(Atom::Lit(lit))
            }
            None => self.fail(format!("`{t}` is no operand")),
        }
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<String> {
        if !self.peek().starts_with('"') {
            return self.fail("expected a text in quotes");
        }
        let quoted = self.next()?;
        self.unquote(quoted)
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
        let starts = |k: usize, mark| self.tokens.get(self.at + k).is_some_and(|t| t.text.starts_with(mark));
        let (vars, expr) = if starts(0, '%') && starts(1, '[') {
            let (v, lambda) = self.polymorphic()?;
            (vec![v], lambda)
        } else if self.binds_here() {
            // The sizes in a later binder may be bound by an earlier one.
            let vars = self.some(Self::binder)?;
            self.word("=")?;
            (vars, self.expr()?)
        } else {
            (vec![], self.expr()?)
        };
        let mut dies = vec![];
        if self.is(";") {
            self.word("dies")?;
            dies = self.some(Self::used)?;
        }
        Ok(Stmt { vars, expr, span: Span::default(), dies })
    }

    /// Is this `%k: …` rather than an operand?
    fn binds_here(&self) -> bool {
        let skip = usize::from(self.peek() == "lin");
        let is = |k: usize, f: fn(&str) -> bool| self.tokens.get(self.at + k).is_some_and(|t| f(t.text));
        is(skip, |t| t.starts_with('%')) && is(skip + 1, |t| t == ":")
    }
}
