//! Common subexpressions: a pure scalar computation or element read that is in scope is not repeated.

use std::collections::HashMap;

use adl_core::bulk::Bulk;
use adl_core::ir::{Atom, Block, Expr, Func, Lit, Program, Stmt, Var};
use adl_core::prim::Prim;
use adl_core::ty::INT;
use adl_core::walk::{self, Rebuild, Subst};

/// The function without repeated computations.
pub(crate) fn cse(_: &Program, func: Func) -> Func {
    let mut pass = Cse { map: Subst::new(), seen: HashMap::new() };
    let body = pass.block(&func.body);
    Func { body, ..func }
}

/// An operand that can be compared and hashed: floats by their bits.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Operand {
    Var(Var),
    F64(u64),
    F32(u32),
    Int(i64),
    Bool(bool),
    Str(std::sync::Arc<str>),
    Unit,
}

/// A computation.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Prim(Prim, Vec<Operand>),
    Bulk(Bulk, Vec<Operand>),
    Index(Vec<Operand>),
}

struct Cse {
    map: Subst,
    seen: HashMap<Key, Var>,
}

impl Rebuild for Cse {
    fn atom(&mut self, atom: &Atom) -> Atom {
        walk::subst_atom(atom, &self.map)
    }
    fn bind(&mut self, var: &Var) -> Var {
        let sizes = walk::ty_vars(var.ty());
        if sizes.iter().all(|s| !self.map.contains_key(s)) {
            return var.clone();
        }
        let new = var.with_ty(walk::subst_ty(var.ty(), &self.map));
        self.map.insert(var.clone(), Atom::Var(new.clone()));
        new
    }
    fn block(&mut self, block: &Block) -> Block {
        let outer = self.seen.clone();
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            let expr = walk::rebuild(&stmt.expr, self);
            if let (Some(key), [v]) = (key(&expr), stmt.vars.as_slice()) {
                if let Some(known) = self.seen.get(&key) {
                    self.map.insert(v.clone(), Atom::Var(known.clone()));
                    continue;
                }
                let v = self.bind(v);
                self.seen.insert(key, v.clone());
                stmts.push(Stmt { vars: vec![v], expr, span: stmt.span, dies: vec![] });
                continue;
            }
            let vars = stmt.vars.iter().map(|v| self.bind(v)).collect();
            stmts.push(Stmt { vars, expr, span: stmt.span, dies: vec![] });
        }
        self.seen = outer;
        Block { stmts, results: block.results.iter().map(|a| self.atom(a)).collect() }
    }
}

fn key(expr: &Expr) -> Option<Key> {
    match expr {
        Expr::Bulk(row, args) => Some(Key::Bulk(*row, args.iter().map(operand).collect())),
        Expr::Prim(p, args) => Some(Key::Prim(*p, args.iter().map(operand).collect())),
        // A checked read counts as equal to an unchecked one of the same element only if it comes first.
        Expr::Index { table, index, check: false } if index.iter().all(|i| i.ty() == INT) => {
            Some(Key::Index(std::iter::once(table).chain(index).map(operand).collect()))
        }
        _ => None,
    }
}

fn operand(a: &Atom) -> Operand {
    match a {
        Atom::Var(v) => Operand::Var(v.clone()),
        Atom::Lit(Lit::F64(x)) => Operand::F64(x.to_bits()),
        Atom::Lit(Lit::F32(x)) => Operand::F32(x.to_bits()),
        Atom::Lit(Lit::Int(x)) => Operand::Int(*x),
        Atom::Lit(Lit::Bool(x)) => Operand::Bool(*x),
        Atom::Lit(Lit::Str(x)) => Operand::Str(x.clone()),
        Atom::Lit(Lit::Unit) => Operand::Unit,
    }
}
