//! Expressions in Core text.

use std::sync::Arc;

use super::lex::{is_var, literal};
use super::{Parser, Result};
use crate::bulk::{self, Bulk};
use crate::ir::{Arm, Atom, Axes, Expr, Keep, LoopKind, RedOp, Var};
use crate::prim::{self, Prim};
use crate::ty::{Ix, Scalar, Ty};

impl Parser<'_> {
    /// `name[…]` after an optional `?`.
    pub(super) fn indexed(&mut self) -> Result<(Atom, Vec<Atom>, bool)> {
        let check = self.is("?");
        let base = self.atom()?;
        Ok((base, self.atoms_in("[", "]")?, check))
    }

    pub(super) fn typed_suffix(&mut self) -> Result<Ty> {
        self.word(":")?;
        self.ty()
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn expr(&mut self) -> Result<Expr> {
        let t = self.peek();
        if is_var(t) || t.starts_with('"') || literal(t).is_some() {
            return Ok(Expr::Atom(self.atom()?));
        }
        self.at += 1;
        if let Some(id) = t.strip_prefix("box#") {
            let ty = self.cell(id)?;
            return Ok(Expr::BoxNew { ty, args: self.atoms_in("(", ")")? });
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
            "bulk" => {
                let row = self.bulk_row()?;
                Expr::Bulk(row, self.some(Self::atom)?)
            }
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
                let func = self.func_name()?;
                let tys = self.ty_args()?;
                Expr::Call { func, tys, args: self.atoms_in("(", ")")?, checkpoint: t == "checkpoint" }
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
                (None, Some(p)) => self.prim(p)?,
                (None, None) => self.higher(t)?,
            },
        })
    }

    fn prim(&mut self, p: Prim) -> Result<Expr> {
        let args = self.some(Self::atom)?;
        let scalars: Option<Vec<Scalar>> = args.iter().map(|a| a.ty().scalar()).collect();
        if scalars.and_then(|s| p.0.result(&s)).is_none() {
            return self.fail(format!("the operands do not fit `{}`", p.0.name));
        }
        Ok(Expr::Prim(p, args))
    }

    pub(super) fn bulk_row(&mut self) -> Result<Bulk> {
        let name = self.next()?;
        match bulk::by_name(name) {
            Some(row) => Ok(row),
            None => self.fail(format!("`{name}` is no bulk primitive")),
        }
    }

    pub(super) fn two_in_parens(&mut self) -> Result<(Atom, Atom)> {
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
        Ok((self.ix()?, var))
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
        let a = self.axes()?;
        self.word(",")?;
        let b = self.axes()?;
        self.word("->")?;
        let out = self.axes()?;
        let x = self.atom()?;
        self.word(",")?;
        let y = self.atom()?;
        Ok(Expr::Contract { a: x, b: y, spec: Axes { a, b, out } })
    }

    /// `ab`: a letter an axis; nothing for a scalar.
    fn axes(&mut self) -> Result<Vec<u8>> {
        if [",", "->"].contains(&self.peek()) || is_var(self.peek()) {
            return Ok(vec![]);
        }
        let letters = self.next()?;
        if letters.bytes().all(|b| b.is_ascii_lowercase()) {
            return Ok(letters.bytes().map(|b| b - b'a').collect());
        }
        self.fail("expected axes, a small letter each")
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
