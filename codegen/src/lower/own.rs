//! Blocks: who owns what, and until when.

use std::collections::HashMap;

use adl_core::ir::{Atom, Block, Expr, Stmt, Var};
use adl_core::walk;

use super::{Given, Lower, split};
use crate::loops::{Op, Reg};
use crate::repr::{self, Part};

impl Lower<'_> {
    /// Lowers a block that owns these variables of the surroundings, and hands its results to `finish`.
    pub(super) fn block(
        &mut self,
        block: &Block,
        owned: Vec<Var>,
        finish: impl FnOnce(&mut Self, Vec<Given>),
    ) {
        for (i, stmt) in block.stmts.iter().enumerate() {
            self.note_aliases(stmt);
            self.note_opened(block, i, stmt);
        }
        let (last, mark) = (self.last_uses(block), self.scratch.len());
        let (mut owned, unused): (Vec<Var>, Vec<Var>) = owned.into_iter().partition(|v| last.contains_key(v));
        unused.iter().for_each(|var| self.release(var));
        for (i, stmt) in block.stmts.iter().enumerate() {
            let (mut dying, rest): (Vec<Var>, Vec<Var>) = owned.into_iter().partition(|v| last[v] == i);
            owned = rest;
            self.at(stmt.span);
            let made = self.stmt(stmt, &mut dying);
            dying.iter().for_each(|var| self.release(var));
            for var in made {
                if last.contains_key(&var) {
                    owned.push(var);
                } else {
                    self.release(&var);
                }
            }
        }
        let results = self.results(&block.results, &mut owned);
        finish(self, results);
        owned.iter().for_each(|var| self.release(var));
        for ptr in self.scratch.split_off(mark) {
            self.emit(Op::Release { ptr });
        }
    }

    /// The results of a block; the last occurrence of what it owns is handed over.
    fn results(&mut self, atoms: &[Atom], owned: &mut Vec<Var>) -> Vec<Given> {
        let mut results: Vec<Given> = vec![];
        for atom in atoms.iter().rev() {
            let holder = atom.var().map(|var| self.canonical(var));
            let at = holder.and_then(|holder| owned.iter().position(|var| *var == holder));
            let is_owned = at.is_some();
            if let Some(at) = at {
                owned.remove(at);
            }
            results.push(Given { atom: atom.clone(), regs: vec![], owned: is_owned });
        }
        results.reverse();
        for given in &mut results {
            given.regs = self.atom(&given.atom);
        }
        results
    }

    /// The statement of the block at which each owner is used last, directly or through what is borrowed
    /// from it. The results of the block come after its statements.
    fn last_uses(&self, block: &Block) -> HashMap<Var, usize> {
        let mut last = HashMap::new();
        for (i, stmt) in block.stmts.iter().enumerate() {
            for var in walk::free_vars_expr(&stmt.expr) {
                self.note_use(&var, i, &mut last);
            }
        }
        for var in block.results.iter().filter_map(Atom::var) {
            self.note_use(var, block.stmts.len(), &mut last);
        }
        last
    }

    fn note_use(&self, var: &Var, i: usize, last: &mut HashMap<Var, usize>) {
        if !repr::is_counted(var.ty()) {
            return;
        }
        for holder in self.holders(var) {
            last.insert(holder, i);
        }
    }

    /// The owners that keep a variable alive: itself, if it is not borrowed.
    pub(super) fn holders(&self, var: &Var) -> Vec<Var> {
        let var = self.canonical(var);
        match self.roots.get(&var) {
            Some(roots) => roots.clone(),
            None => vec![var],
        }
    }

    fn canonical(&self, var: &Var) -> Var {
        self.canon.get(var).unwrap_or(var).clone()
    }

    fn note_aliases(&mut self, stmt: &Stmt) {
        let [var] = stmt.vars.as_slice() else { return };
        if !repr::is_counted(var.ty()) {
            return;
        }
        if let Expr::Atom(Atom::Var(of)) = &stmt.expr {
            let of = self.canonical(of);
            self.canon.insert(var.clone(), of);
        }
        if let Expr::Index { table: Atom::Var(table), .. } = &stmt.expr {
            let holders = self.holders(table);
            self.roots.insert(var.clone(), holders);
        }
    }

    /// The items of a bundle that is mentioned again are borrowed from it, or from what it is borrowed from.
    /// Otherwise they own what they hold once it is opened, if the block owns the bundle.
    fn note_opened(&mut self, block: &Block, i: usize, stmt: &Stmt) {
        let Expr::Open(Atom::Var(pack)) = &stmt.expr else { return };
        let pack = self.canonical(pack);
        let is_it = |var: &Var| repr::is_counted(var.ty()) && self.holders(var).contains(&pack);
        let later =
            block.stmts[i + 1..].iter().any(|stmt| walk::free_vars_expr(&stmt.expr).iter().any(is_it));
        let is_borrowed = self.roots.contains_key(&pack);
        if is_borrowed || later || block.results.iter().filter_map(Atom::var).any(is_it) {
            let holders = self.holders(&pack);
            for var in stmt.vars.iter().filter(|var| repr::is_counted(var.ty())) {
                self.roots.insert(var.clone(), holders.clone());
            }
        }
    }

    /// The registers of an operand that the operation takes over: handed on by a variable that dies here,
    /// or with one more holder.
    pub(super) fn consume(&mut self, atom: &Atom, dying: &mut Vec<Var>) -> Vec<Reg> {
        let regs = self.atom(atom);
        let Some(var) = atom.var() else { return regs };
        if !repr::is_counted(var.ty()) {
            return regs;
        }
        if self.dies(var, dying) {
            return regs;
        }
        self.retain(&repr::parts(var.ty()), &regs);
        regs
    }

    /// Takes a variable off the list of those that die here; was it there?
    pub(super) fn dies(&self, var: &Var, dying: &mut Vec<Var>) -> bool {
        let var = self.canonical(var);
        let at = dying.iter().position(|dead| *dead == var);
        if let Some(at) = at {
            dying.remove(at);
        }
        at.is_some()
    }

    /// The registers of a block's result, owned by whoever takes them.
    pub(super) fn take(&mut self, given: Given) -> Vec<Reg> {
        if !given.owned && repr::is_counted(&given.atom.ty()) {
            self.retain(&repr::parts(&given.atom.ty()), &given.regs);
        }
        given.regs
    }

    pub(super) fn retain(&mut self, parts: &[Part], regs: &[Reg]) {
        for (part, regs) in split(parts, regs) {
            if part.is_counted() {
                self.emit(Op::Retain { ptr: regs[0] });
            }
        }
    }

    pub(super) fn release(&mut self, var: &Var) {
        let regs = self.env.get(var).expect("an owned variable is bound").clone();
        self.release_parts(&repr::parts(var.ty()), &regs);
    }

    pub(super) fn release_parts(&mut self, parts: &[Part], regs: &[Reg]) {
        for (part, regs) in split(parts, regs) {
            if part.is_counted() {
                self.emit(Op::Release { ptr: regs[0] });
            }
        }
    }
}
