//! Tables made by a `for`: each round writes its slice of the outer buffer.

use std::collections::HashSet;

use adl_core::ir::{Block, Expr, Var};
use adl_core::ty::{Ix, Ty};

use super::Lower;
use super::element::Target;
use crate::loops::{Op, Reg};
use crate::repr::{self, Kind, Part};

impl Lower<'_> {
    /// The size of an index set, checked not to be negative.
    pub(super) fn checked_size(&mut self, ix: &Ix) -> Reg {
        let Ix::Fin(atom) = ix else { unreachable!("lint: index sets are sizes in first-order Core (C6)") };
        let size = self.scalar(atom);
        if repr::constant(atom).is_none_or(|k| k < 0) {
            self.check_size(size);
        }
        size
    }

    pub(super) fn build(&mut self, vars: &[Var], ix: &Ix, var: &Var, body: &Block) -> Vec<Var> {
        let n = self.checked_size(ix);
        let mut owned = vec![];
        let mut targets = vec![];
        for result in vars {
            let dest = self.dest.remove(result);
            let is_placed = dest.is_some();
            let regs = match dest {
                Some(regs) => regs,
                None => self.alloc(result.ty(), false),
            };
            self.bind(std::slice::from_ref(result), regs.clone());
            owned.extend(self.owned_unless_placed(std::slice::from_ref(result), is_placed));
            targets.push(Target { parts: repr::parts(result.ty()), regs, rank: 1 });
        }
        let i = self.reg(Kind::I64);
        self.env.insert(var.clone(), vec![i]);
        let body = self.scoped(|this| {
            let here = this.place_results(body, &targets, i);
            this.block(body, vec![], |this, results| this.collect(&targets, i, results, &here));
        });
        self.emit(Op::For { var: i, n, reverse: false, body });
        owned
    }

    /// Lets tables that the body makes as its results be made in the slices where they shall lie; gives
    /// their variables.
    pub(super) fn place_results(&mut self, body: &Block, targets: &[Target], linear: Reg) -> Vec<Var> {
        let made: HashSet<&Var> = body
            .stmts
            .iter()
            .filter(|stmt| matches!(stmt.expr, Expr::For { .. } | Expr::Contract { .. } | Expr::Zero(_)))
            .flat_map(|stmt| &stmt.vars)
            .collect();
        let mut here = vec![];
        let skip = body.results.len() - targets.len();
        for (atom, target) in body.results[skip..].iter().zip(targets) {
            let Some(var) = atom.var() else { continue };
            let is_alone = body.results.iter().filter(|other| other.var() == Some(var)).count() == 1;
            if !is_alone || !made.contains(var) || !matches!(var.ty(), Ty::Table(..)) {
                continue;
            }
            let regs = self.slices(target, linear);
            self.dest.insert(var.clone(), regs);
            here.push(var.clone());
        }
        here
    }

    /// The slice of a table that belongs to the element with this number.
    fn slices(&mut self, target: &Target, linear: Reg) -> Vec<Reg> {
        let mut regs = vec![];
        let parts = target.parts.clone();
        for (part, own) in super::split(&parts, &target.regs) {
            let Part::Table { elem, dims, .. } = part else {
                unreachable!("the parts of a table are tables")
            };
            let data = self.element_ptr(*elem, &dims[target.rank..], own[1], linear);
            regs.extend([own[0], data]);
        }
        regs
    }
}
