//! Functions that code mentions: which, and under other numbers.

use std::collections::{BTreeMap, HashMap};

use crate::ir::{Atom, Block, Expr, Func, FuncId, Item, Program, Stmt, Var};
use crate::walk::{self, Rebuild};

/// The functions that a block mentions, nested blocks included.
pub fn mentioned(block: &Block) -> Vec<FuncId> {
    let mut out = vec![];
    let mut todo = vec![block];
    while let Some(b) = todo.pop() {
        for s in &b.stmts {
            if let Expr::Call { func, .. } | Expr::FuncRef { func, .. } = &s.expr {
                out.push(*func);
            }
            todo.extend(walk::blocks(&s.expr));
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// The block with the functions it mentions under new numbers.
pub fn renumber(block: &Block, map: &HashMap<FuncId, FuncId>) -> Block {
    Renumber(map).block(block)
}

struct Renumber<'a>(&'a HashMap<FuncId, FuncId>);

impl Rebuild for Renumber<'_> {
    fn atom(&mut self, atom: &Atom) -> Atom {
        atom.clone()
    }
    fn bind(&mut self, var: &Var) -> Var {
        var.clone()
    }
    fn block(&mut self, block: &Block) -> Block {
        let stmt = |s: &Stmt| {
            let mut expr = walk::rebuild(&s.expr, self);
            if let Expr::Call { func, .. } | Expr::FuncRef { func, .. } = &mut expr {
                *func = self.0[func];
            }
            Stmt { expr, ..s.clone() }
        };
        Block { stmts: block.stmts.iter().map(stmt).collect(), results: block.results.clone() }
    }
}

/// The part of a higher-order program that its items, the operations of its types and the functions to
/// `keep` need, in the same order: a program that stands alone.
pub fn needed(p: &Program, keep: impl Fn(&Func) -> bool) -> Program {
    let id = |k: usize| FuncId(u32::try_from(k).expect("fewer than 2^32 functions"));
    let mut todo: Vec<FuncId> = (0..p.funcs.len()).filter(|k| keep(&p.funcs[*k])).map(id).collect();
    todo.extend(p.types.iter().flat_map(|t| t.methods.iter().map(|(_, f)| *f)));
    todo.extend(p.items.iter().flat_map(|item| mentioned(&item.body)));
    let mut found = BTreeMap::new();
    while let Some(f) = todo.pop() {
        let func = &p.funcs[f.0 as usize];
        if found.insert(f, func).is_none() {
            todo.extend(mentioned(&func.body));
        }
    }
    let map: HashMap<FuncId, FuncId> = found.keys().enumerate().map(|(k, f)| (*f, id(k))).collect();
    let mut out = Program { types: p.types.clone(), boxes: p.boxes.clone(), ..Program::default() };
    for (_, f) in out.types.iter_mut().flat_map(|t| &mut t.methods) {
        *f = map[f];
    }
    out.funcs = found.values().map(|f| Func { body: renumber(&f.body, &map), ..(*f).clone() }).collect();
    out.items = p.items.iter().map(|i| Item { body: renumber(&i.body, &map), ..i.clone() }).collect();
    out
}
