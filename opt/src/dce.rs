//! Removes statements none of whose variables is used. Effects stay, and what adds to an accumulator.

use std::collections::HashSet;

use adl_core::ir::{Block, Expr, Func, Stmt, Var};
use adl_core::ty::Ty;
use adl_core::walk::{self, FreeVars, Rebuild, Visit as _};

/// The function without dead statements.
pub fn dce(func: Func) -> Func {
    let mut used = HashSet::new();
    let body = live(&mut used, &func.body);
    Func { body, ..func }
}

/// Walks backwards, so that each use is seen before its definition.
fn live(used: &mut HashSet<Var>, block: &Block) -> Block {
    used.extend(block.results.iter().filter_map(|a| a.var().cloned()));
    let mut kept = Vec::with_capacity(block.stmts.len());
    for stmt in block.stmts.iter().rev() {
        if !stmt.vars.iter().any(|v| used.contains(v)) && !has_effect(stmt) {
            continue;
        }
        let expr = walk::rebuild(&stmt.expr, &mut Inside { used });
        let mut free = FreeVars::default();
        walk::visit(&expr, &mut free);
        stmt.vars.iter().for_each(|v| free.bind(v));
        used.extend(free.vars);
        kept.push(Stmt { expr, ..stmt.clone() });
    }
    kept.reverse();
    Block { stmts: kept, results: block.results.clone() }
}

struct Inside<'a> {
    used: &'a mut HashSet<Var>,
}

impl Rebuild for Inside<'_> {
    fn atom(&mut self, atom: &adl_core::ir::Atom) -> adl_core::ir::Atom {
        atom.clone()
    }
    fn bind(&mut self, var: &Var) -> Var {
        var.clone()
    }
    fn block(&mut self, block: &Block) -> Block {
        live(self.used, block)
    }
}

/// Must the statement stay even if nothing reads its variables?
pub(crate) fn has_effect(stmt: &Stmt) -> bool {
    match &stmt.expr {
        Expr::Effect(_) | Expr::AccAdd { .. } => true,
        // A call may trace or fail by an effect inside.
        Expr::Call { args, .. } => args.iter().any(|a| matches!(a.ty(), Ty::Acc(_))) || stmt.vars.is_empty(),
        e => walk::blocks(e).into_iter().any(|b| b.stmts.iter().any(has_effect)),
    }
}
