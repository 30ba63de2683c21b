//! Copies, constants and exact identities: what needs no analysis. Every rule is exact for all IEEE
//! values, so results do not change by a bit.

use std::collections::HashMap;

use adl_core::build;
use adl_core::ir::{Arm, Atom, Block, Expr, Func, Lit, Program, Stmt, Var};
use adl_core::ty::Ty;
use adl_core::walk::{self, Rebuild, Subst};

/// The simplified function.
pub(crate) fn simplify(_: &Program, func: Func) -> Func {
    let mut pass = Simplify { map: Subst::new(), known: HashMap::new() };
    let body = pass.block(&func.body);
    Func { body, ..func }
}

struct Simplify {
    /// What stands for a variable.
    map: Subst,
    /// How a variable was made, where a rule looks at it.
    known: HashMap<Var, Expr>,
}

impl Rebuild for Simplify {
    fn atom(&mut self, atom: &Atom) -> Atom {
        walk::subst_atom(atom, &self.map)
    }
    fn bind(&mut self, var: &Var) -> Var {
        self.var(var)
    }
    fn block(&mut self, block: &Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            self.stmt(stmt, &mut stmts);
        }
        Block { stmts, results: block.results.iter().map(|a| self.atom(a)).collect() }
    }
}

impl Simplify {
    /// The variable with the sizes in its type replaced.
    fn var(&mut self, var: &Var) -> Var {
        let sizes = walk::ty_vars(var.ty());
        if sizes.iter().all(|s| !self.map.contains_key(s)) {
            return var.clone();
        }
        let ty = walk::subst_ty(var.ty(), &self.map);
        let new = var.with_ty(ty);
        self.map.insert(var.clone(), Atom::Var(new.clone()));
        new
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let expr = walk::rebuild(&stmt.expr, self);
        if let [v] = stmt.vars.as_slice()
            && let Some(atom) = self.value(&expr)
            && !matches!(v.ty(), Ty::Acc(_))
        {
            self.map.insert(v.clone(), atom);
            return;
        }
        if let Expr::Case { scrut, arms } = &expr
            && let Some(arm) = chosen(scrut, arms)
        {
            let arm = arm.clone();
            self.take(stmt, arm.body, out);
            return;
        }
        if let Expr::Case { scrut: Atom::Var(s), arms } = &expr
            && let Some(Expr::Inject { tag, args, .. }) = self.known.get(s)
        {
            let mut arm = arms[*tag as usize].clone();
            let mut map: Subst = arm.params.iter().cloned().zip(args.iter().cloned()).collect();
            arm.body = walk::rename_block(&arm.body, &mut map);
            self.take(stmt, arm.body, out);
            return;
        }
        let vars: Vec<Var> = stmt.vars.iter().map(|v| self.var(v)).collect();
        if let ([v], Expr::Inject { .. } | Expr::Prim(..)) = (vars.as_slice(), &expr) {
            self.known.insert(v.clone(), expr.clone());
        }
        out.push(Stmt { vars, expr, span: stmt.span, dies: vec![] });
    }

    /// The statements of a branch in place of the case; its results are the variables.
    fn take(&mut self, stmt: &Stmt, body: Block, out: &mut Vec<Stmt>) {
        out.extend(body.stmts);
        for (v, r) in stmt.vars.iter().zip(body.results) {
            if matches!(v.ty(), Ty::Acc(_)) {
                let v = self.var(v);
                out.push(Stmt { vars: vec![v], expr: Expr::Atom(r), span: stmt.span, dies: vec![] });
            } else {
                self.map.insert(v.clone(), r);
            }
        }
    }

    /// An atom that an expression equals.
    fn value(&self, expr: &Expr) -> Option<Atom> {
        match expr {
            Expr::Atom(a) => Some(a.clone()),
            Expr::Prim(p, args) => build::fold(p.0, args),
            Expr::Index { table, index, .. } if index.is_empty() => Some(table.clone()),
            Expr::Zero(Ty::Scalar(s)) if s.is_float() => Some(Atom::float(*s, 0.0)),
            Expr::Case { arms, .. } => {
                // All branches give the same without doing anything.
                let first = arms.first()?;
                let [result] = first.body.results.as_slice() else { return None };
                let same = arms.iter().all(|a| {
                    a.body.stmts.is_empty()
                        && a.body.results[0] == *result
                        && result.var().is_none_or(|v| !a.params.contains(v))
                });
                let is_nan = matches!(result, Atom::Lit(Lit::F64(x)) if x.is_nan());
                (same && !is_nan).then(|| result.clone())
            }
            _ => None,
        }
    }
}

/// The arm that a constant chooses.
fn chosen<'a>(scrut: &Atom, arms: &'a [Arm]) -> Option<&'a Arm> {
    match scrut {
        Atom::Lit(Lit::Bool(b)) => arms.get(usize::from(*b)),
        Atom::Lit(Lit::Int(k)) => arms.get(usize::try_from(*k).ok()?),
        Atom::Lit(_) | Atom::Var(_) => None,
    }
}
