//! Functions and types that code mentions: which, and functions under other numbers.

use std::collections::{BTreeMap, HashMap};

use crate::ir::{Atom, Block, Expr, Func, FuncId, Item, Program, Stmt, Var};
use crate::rule::Rule;
use crate::ty::{Ix, Ty, TyArg, TypeId};
use crate::walk::{self, Rebuild, Visit};

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

/// The declared types in the types of these variables and of all that a block binds.
pub fn types_mentioned(block: &Block, vars: &[Var]) -> Vec<TypeId> {
    struct Types(Vec<TypeId>);
    impl Visit for Types {
        fn atom(&mut self, _: &Atom) {}
        fn bind(&mut self, var: &Var) {
            named(var.ty(), &mut self.0);
        }
        fn block(&mut self, block: &Block) {
            for s in &block.stmts {
                walk::visit(&s.expr, self);
                s.vars.iter().for_each(|v| self.bind(v));
            }
        }
    }
    let mut types = Types(vec![]);
    vars.iter().for_each(|v| types.bind(v));
    types.block(block);
    types.0.sort_unstable();
    types.0.dedup();
    types.0
}

fn named(ty: &Ty, out: &mut Vec<TypeId>) {
    match ty {
        Ty::Scalar(_) | Ty::Box(_) | Ty::Var(_) => {}
        Ty::Table(ix, elem) => {
            named_ix(ix, out);
            named(elem, out);
        }
        Ty::Sum(alts) => alts.iter().flatten().for_each(|t| named(t, out)),
        Ty::Pack(p) => p.items.iter().for_each(|t| named(t, out)),
        Ty::Acc(t) | Ty::Tangent(t) => named(t, out),
        Ty::Tuple(ts) => ts.iter().for_each(|t| named(t, out)),
        Ty::Named(id, args) => {
            out.push(*id);
            for arg in args {
                match arg {
                    TyArg::Ty(t) => named(t, out),
                    TyArg::Ix(ix) => named_ix(ix, out),
                    TyArg::Size(_) => {}
                }
            }
        }
        Ty::Index(ix) => named_ix(ix, out),
        Ty::Fn(a, b) | Ty::Lin(a, b) => {
            named(a, out);
            named(b, out);
        }
    }
}

fn named_ix(ix: &Ix, out: &mut Vec<TypeId>) {
    match ix {
        Ix::Enum(id) => out.push(*id),
        Ix::Tuple(xs) => xs.iter().for_each(|x| named_ix(x, out)),
        Ix::Fin(_) | Ix::Poly(_) | Ix::Unit | Ix::Bool | Ix::Var(_) => {}
    }
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
            todo.extend(p.rules.iter().filter(|r| r.of == f).map(|r| r.func));
        }
    }
    let map: HashMap<FuncId, FuncId> = found.keys().enumerate().map(|(k, f)| (*f, id(k))).collect();
    let mut out = Program { types: p.types.clone(), boxes: p.boxes.clone(), ..Program::default() };
    for (_, f) in out.types.iter_mut().flat_map(|t| &mut t.methods) {
        *f = map[f];
    }
    out.funcs = found.values().map(|f| Func { body: renumber(&f.body, &map), ..(*f).clone() }).collect();
    let rules = p.rules.iter().filter(|r| map.contains_key(&r.of));
    out.rules = rules.map(|r| Rule { of: map[&r.of], func: map[&r.func], ..*r }).collect();
    out.items = p.items.iter().map(|i| Item { body: renumber(&i.body, &map), ..i.clone() }).collect();
    out
}
