//! Puts the bodies of functions where they are called, when they are small or called once. Functions with
//! a `checkpoint` call stay calls.

use std::collections::HashMap;

use adl_core::ir::{Atom, Block, Expr, Func, FuncId, Program, Stmt, Var};
use adl_core::walk::{self, Rebuild, Subst};

/// Bodies of at most this many statements are copied to every call.
const SMALL: usize = 40;
/// Bodies above this many statements stay functions even when they are called once, so that code is
/// compiled in pieces.
const LARGE: usize = 4_000;

/// The function with calls replaced by bodies.
pub(crate) fn inline(program: &Program, func: Func) -> Func {
    let mut counts = HashMap::new();
    count_calls(&func.body, &mut counts);
    if counts.is_empty() {
        return func;
    }
    let mut pass = Inline { program, counts, stack: vec![] };
    let body = pass.block(&func.body);
    Func { body, ..func }
}

fn count_calls(block: &Block, counts: &mut HashMap<FuncId, usize>) {
    for stmt in &block.stmts {
        if let Expr::Call { func, .. } = &stmt.expr {
            *counts.entry(*func).or_default() += 1;
        }
        walk::blocks(&stmt.expr).into_iter().for_each(|b| count_calls(b, counts));
    }
}

struct Inline<'a> {
    program: &'a Program,
    counts: HashMap<FuncId, usize>,
    stack: Vec<FuncId>,
}

impl Inline<'_> {
    fn wants(&self, id: FuncId) -> bool {
        let size = crate::specialise::size_of_block(&self.program.funcs[id.0 as usize].body);
        let once = self.counts.get(&id).is_none_or(|n| *n <= 1);
        !self.stack.contains(&id) && (size <= SMALL || (once && size <= LARGE)) && !self.goes_back(id)
    }

    /// Callees come before their callers, except where functions call each other in a circle.
    fn goes_back(&self, id: FuncId) -> bool {
        let mut counts = HashMap::new();
        count_calls(&self.program.funcs[id.0 as usize].body, &mut counts);
        counts.keys().any(|callee| id <= *callee)
    }
}

impl Rebuild for Inline<'_> {
    fn atom(&mut self, atom: &Atom) -> Atom {
        atom.clone()
    }
    fn bind(&mut self, var: &Var) -> Var {
        var.clone()
    }
    fn block(&mut self, block: &Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            match &stmt.expr {
                Expr::Call { func, args, checkpoint: false, .. } if self.wants(*func) => {
                    self.stack.push(*func);
                    let callee = &self.program.funcs[func.0 as usize];
                    let mut map: Subst = callee.params.iter().cloned().zip(args.iter().cloned()).collect();
                    let body = self.block(&walk::rename_block(&callee.body, &mut map));
                    self.stack.pop();
                    stmts.extend(body.stmts);
                    for (v, result) in stmt.vars.iter().zip(body.results) {
                        let expr = Expr::Atom(result);
                        stmts.push(Stmt { vars: vec![v.clone()], expr, span: stmt.span, dies: vec![] });
                    }
                }
                expr => stmts.push(Stmt { expr: walk::rebuild(expr, self), ..stmt.clone() }),
            }
        }
        Block { stmts, results: block.results.clone() }
    }
}
