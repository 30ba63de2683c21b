//! Link: one function of a growing program with all that it calls, as a program of its own, optimised.

use std::collections::HashMap;

use adl_core::ir::{Func, FuncId, Program};
use adl_core::reach;

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
    roots.iter().for_each(|r| visit(program, *r, &mut order, &mut open));
    let number = |k: usize| FuncId(u32::try_from(k).expect("fewer than 2^32 functions"));
    let map: HashMap<FuncId, FuncId> = order.iter().enumerate().map(|(k, id)| (*id, number(k))).collect();
    let renumbered = |f: &Func| Func { body: reach::renumber(&f.body, &map), ..f.clone() };
    let funcs = order.iter().map(|id| renumbered(&program.funcs[id.0 as usize])).collect();
    (Program { funcs, boxes: program.boxes.clone(), ..Program::default() }, map)
}

fn visit(program: &Program, id: FuncId, order: &mut Vec<FuncId>, open: &mut Vec<FuncId>) {
    if order.contains(&id) || open.contains(&id) {
        return;
    }
    open.push(id);
    for callee in reach::mentioned(&program.funcs[id.0 as usize].body) {
        visit(program, callee, order, open);
    }
    open.pop();
    order.push(id);
}
