//! Marks, on each statement, the variables whose last use it is. Executors take these apart in place: an
//! update of a table that dies there does not copy.
//!
//! A variable of an enclosing block dies at the statement of its own block that holds its last use, not
//! inside a body that may run again. It runs last: every pass before it may move uses.

use std::collections::HashSet;

use adl_core::ir::{Arm, Block, Expr, Func, LoopKind, Program, RedOp, Stmt, Var};
use adl_core::walk;

/// The function with its marks.
pub(crate) fn last_use(_: &Program, func: Func) -> Func {
    let body = mark(func.body, &func.params);
    Func { body, ..func }
}

/// Marks a block whose parameters are `own`: they die inside it.
fn mark(block: Block, own: &[Var]) -> Block {
    let mut mine: HashSet<Var> = own.iter().cloned().collect();
    mine.extend(block.stmts.iter().flat_map(|s| s.vars.iter().cloned()));
    let mut later: HashSet<Var> = block.results.iter().filter_map(|a| a.var().cloned()).collect();
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for stmt in block.stmts.into_iter().rev() {
        let mut dies = vec![];
        for v in walk::free_vars_expr(&stmt.expr) {
            if mine.contains(&v) && later.insert(v.clone()) && !read_while_taken(&stmt.expr, &v) {
                dies.push(v);
            }
        }
        let expr = inner(stmt.expr, &dies);
        stmts.push(Stmt { expr, dies, ..stmt });
    }
    stmts.reverse();
    Block { stmts, results: block.results }
}

/// Is the variable an operand of the expression, and read by a block inside it as well? Then taking it as
/// an operand would leave the block without it.
fn read_while_taken(expr: &Expr, v: &Var) -> bool {
    let blocks = walk::blocks(expr);
    !blocks.is_empty()
        && blocks.iter().any(|b| walk::free_vars(b).contains(v))
        && walk::operands(expr).iter().any(|a| a.var() == Some(v))
}

/// Marks the blocks inside an expression. A branch of a case runs at most once: what dies at the case may be
/// taken at its last use in the branch.
fn inner(expr: Expr, dying: &[Var]) -> Expr {
    match expr {
        Expr::Case { scrut, arms } => {
            let arm = |a: Arm| {
                let own: Vec<Var> = a.params.iter().chain(dying).cloned().collect();
                Arm { body: mark(a.body, &own), params: a.params }
            };
            Expr::Case { scrut, arms: arms.into_iter().map(arm).collect() }
        }
        Expr::For { ix, var, body } => Expr::For { ix, body: mark(body, std::slice::from_ref(&var)), var },
        Expr::Reduce { op, ix, var, body } => {
            let body = mark(body, std::slice::from_ref(&var));
            Expr::Reduce { op: inner_op(op), ix, var, body }
        }
        Expr::Prefix { op, ix, var, body } => {
            let body = mark(body, std::slice::from_ref(&var));
            Expr::Prefix { op: inner_op(op), ix, var, body }
        }
        Expr::Loop { kind, state, init, body, keep } => {
            let mut own = state.clone();
            let kind = match kind {
                LoopKind::For { ix, var, reverse } => {
                    own.push(var.clone());
                    LoopKind::For { ix, var, reverse }
                }
                LoopKind::While { params, cond } => {
                    let cond = mark(cond, &params);
                    LoopKind::While { params, cond }
                }
            };
            Expr::Loop { kind, state, init, body: mark(body, &own), keep }
        }
        other => other,
    }
}

fn inner_op(op: RedOp) -> RedOp {
    match op {
        RedOp::Custom { unit, left, right, body } => {
            let own: Vec<Var> = left.iter().chain(&right).cloned().collect();
            RedOp::Custom { unit, body: mark(body, &own), left, right }
        }
        RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => op,
    }
}
