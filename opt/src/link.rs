//! Link: one function of a growing program with all that it calls, as a program of its own, optimised.

use std::collections::HashMap;

use adl_core::ir::{Block, Expr, Func, FuncId, Program};
use adl_core::walk::{self, Rebuild};

use crate::pipeline::{self, Pass};

/// The program of `root` (which becomes its last function) after these passes. Callees come first, so that what
/// is inlined is optimised already.
pub fn link(target: &Program, root: FuncId, passes: &[Pass]) -> (Program, FuncId) {
    let mut out = collect(target, &[root]);
    for k in 0..out.0.funcs.len() {
        let func = pipeline::run(passes, &out.0, out.0.funcs[k].clone());
        out.0.funcs[k] = func;
    }
    // Functions that were inlined everywhere are not reached any more.
    let root = FuncId(u32::try_from(out.0.funcs.len() - 1).expect("fewer than 2^32 functions"));
    let (program, map) = collect(&out.0, &[root]);
    (program, map[&root])
}

/// The functions reached from the roots, callees first, and their new numbers.
fn collect(program: &Program, roots: &[FuncId]) -> (Program, HashMap<FuncId, FuncId>) {
    let mut order = vec![];
    let mut open = vec![];
    roots.iter().for_each(|r| reach(program, *r, &mut order, &mut open));
    let number = |k: usize| FuncId(u32::try_from(k).expect("fewer than 2^32 functions"));
    let map: HashMap<FuncId, FuncId> = order.iter().enumerate().map(|(k, id)| (*id, number(k))).collect();
    let funcs = order.iter().map(|id| renumber(&program.funcs[id.0 as usize], &map)).collect();
    (Program { funcs, boxes: program.boxes.clone(), ..Program::default() }, map)
}

fn reach(program: &Program, id: FuncId, order: &mut Vec<FuncId>, open: &mut Vec<FuncId>) {
    if order.contains(&id) || open.contains(&id) {
        return;
    }
    open.push(id);
    let mut todo: Vec<&Block> = vec![&program.funcs[id.0 as usize].body];
    while let Some(block) = todo.pop() {
        for stmt in &block.stmts {
            if let Expr::Call { func, .. } = &stmt.expr {
                reach(program, *func, order, open);
            }
            todo.extend(walk::blocks(&stmt.expr));
        }
    }
    open.pop();
    order.push(id);
}

/// The function with its calls under new numbers.
fn renumber(func: &Func, map: &HashMap<FuncId, FuncId>) -> Func {
    struct Calls<'a>(&'a HashMap<FuncId, FuncId>);
    impl Rebuild for Calls<'_> {
        fn atom(&mut self, atom: &adl_core::ir::Atom) -> adl_core::ir::Atom {
            atom.clone()
        }
        fn bind(&mut self, var: &adl_core::ir::Var) -> adl_core::ir::Var {
            var.clone()
        }
        fn block(&mut self, block: &Block) -> Block {
            let mut block = block.clone();
            for stmt in &mut block.stmts {
                stmt.expr = match &stmt.expr {
                    Expr::Call { func, tys, args, checkpoint } => Expr::Call {
                        func: self.0[func],
                        tys: tys.clone(),
                        args: args.clone(),
                        checkpoint: *checkpoint,
                    },
                    expr => walk::rebuild(expr, self),
                };
            }
            block
        }
    }
    Func { body: Calls(map).block(&func.body), ..func.clone() }
}
