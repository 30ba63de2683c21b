//! Removes statements none of whose variables is used, and the results of loops and branches that nobody
//! reads. Effects stay, and what adds to an accumulator that is read.

use std::collections::{HashMap, HashSet};

use adl_core::ir::{Arm, Atom, Block, Expr, Func, FuncId, LoopKind, Program, RedOp, Stmt, Var};
use adl_core::ty::Ty;
use adl_core::walk::{self, FreeVars, Visit as _};

/// The function without dead statements.
pub(crate) fn dce(program: &Program, func: Func) -> Func {
    let mut pass = Dce { program, used: HashSet::new(), roots: HashMap::new() };
    // Accumulators of the caller are read by the caller.
    pass.used.extend(func.params.iter().filter(|p| matches!(p.ty(), Ty::Acc(_))).cloned());
    pass.find_roots(&func.body);
    let body = pass.block(func.body);
    Func { body, ..func }
}

struct Dce<'a> {
    program: &'a Program,
    used: HashSet<Var>,
    /// What a derived accumulator adds to.
    roots: HashMap<Var, Vec<Var>>,
}

impl Dce<'_> {
    fn find_roots(&mut self, block: &Block) {
        for stmt in &block.stmts {
            let sources: Vec<Atom> = match &stmt.expr {
                Expr::AccView { acc, .. } | Expr::AccPayload { acc, .. } | Expr::Atom(acc) => {
                    vec![acc.clone()]
                }
                Expr::AccInj { accs, .. } => accs.clone(),
                Expr::Case { arms, .. } => arms.iter().flat_map(|a| a.body.results.clone()).collect(),
                _ => vec![],
            };
            let is_acc = |v: &&Var| matches!(v.ty(), Ty::Acc(_));
            let sources: Vec<Var> = sources.iter().filter_map(Atom::var).filter(is_acc).cloned().collect();
            for v in stmt.vars.iter().filter(is_acc) {
                self.roots.entry(v.clone()).or_default().extend(sources.iter().cloned());
            }
            walk::blocks(&stmt.expr).into_iter().for_each(|b| self.find_roots(b));
        }
    }

    /// Is the accumulator, or one it adds to, read later?
    fn is_read(&self, acc: &Var) -> bool {
        self.used.contains(acc) || self.roots.get(acc).is_some_and(|rs| rs.iter().any(|r| self.is_read(r)))
    }

    fn note(&mut self, atoms: &[Atom]) {
        self.used.extend(atoms.iter().filter_map(|a| a.var().cloned()));
    }

    /// Walks backwards, so that each use is seen before its definition.
    fn block(&mut self, block: Block) -> Block {
        self.note(&block.results);
        let mut kept = Vec::with_capacity(block.stmts.len());
        for stmt in block.stmts.into_iter().rev() {
            if !stmt.vars.iter().any(|v| self.used.contains(v)) && !self.has_effect(&stmt) {
                continue;
            }
            // Sizes that the statement itself binds are needed where the types of its other variables are.
            let sizes: Vec<Var> = stmt
                .vars
                .iter()
                .filter(|v| self.used.contains(*v))
                .flat_map(|v| walk::ty_vars(v.ty()))
                .collect();
            self.used.extend(sizes);
            let stmt = self.trim(stmt);
            let expr = self.inside(stmt.expr);
            let mut free = FreeVars::default();
            walk::visit(&expr, &mut free);
            stmt.vars.iter().for_each(|v| free.bind(v));
            self.used.extend(free.vars);
            kept.push(Stmt { expr, vars: stmt.vars, span: stmt.span, dies: stmt.dies });
        }
        kept.reverse();
        Block { stmts: kept, results: block.results }
    }

    /// Drops results that nobody reads.
    fn trim(&self, stmt: Stmt) -> Stmt {
        let live = |k: usize| stmt.vars.get(k).is_none_or(|v| self.used.contains(v));
        let Stmt { vars, expr, span, dies } = stmt.clone();
        if (0..vars.len()).all(live) {
            return stmt;
        }
        let keep_vars = |vars: Vec<Var>| -> Vec<Var> {
            vars.into_iter().enumerate().filter(|(k, _)| live(*k)).map(|(_, v)| v).collect()
        };
        let keep = |b: Block| Block {
            stmts: b.stmts,
            results: b.results.into_iter().enumerate().filter(|(k, _)| live(*k)).map(|(_, r)| r).collect(),
        };
        match expr {
            Expr::For { ix, var, body } => {
                Stmt { vars: keep_vars(vars), expr: Expr::For { ix, var, body: keep(body) }, span, dies }
            }
            Expr::Case { scrut, arms } => {
                let arms = arms.into_iter().map(|a| Arm { params: a.params, body: keep(a.body) }).collect();
                Stmt { vars: keep_vars(vars), expr: Expr::Case { scrut, arms }, span, dies }
            }
            Expr::Reduce { op, ix, var, body } if !matches!(op, RedOp::Custom { .. }) => {
                let expr = Expr::Reduce { op, ix, var, body: keep(body) };
                Stmt { vars: keep_vars(vars), expr, span, dies }
            }
            Expr::Loop { kind, state, init, body, keep: policy } => {
                // States stay (the next round may read them); what is collected may go.
                let n = state.len();
                let counted = usize::from(matches!(kind, LoopKind::While { .. }));
                let vars = vars
                    .into_iter()
                    .enumerate()
                    .filter(|(k, _)| *k < n + counted || live(*k))
                    .map(|(_, v)| v)
                    .collect();
                let results = body.results.into_iter().enumerate();
                let results = results.filter(|(k, _)| *k < n || live(*k + counted)).map(|(_, r)| r).collect();
                let body = Block { stmts: body.stmts, results };
                Stmt { vars, expr: Expr::Loop { kind, state, init, body, keep: policy }, span, dies }
            }
            _ => stmt,
        }
    }

    /// Dead code inside the blocks of an expression.
    fn inside(&mut self, expr: Expr) -> Expr {
        struct In<'a, 'b>(&'a mut Dce<'b>);
        impl walk::Rebuild for In<'_, '_> {
            fn atom(&mut self, atom: &Atom) -> Atom {
                atom.clone()
            }
            fn bind(&mut self, var: &Var) -> Var {
                var.clone()
            }
            fn block(&mut self, block: &Block) -> Block {
                self.0.block(block.clone())
            }
        }
        if walk::blocks(&expr).is_empty() { expr } else { walk::rebuild(&expr, &mut In(self)) }
    }

    /// Must the statement stay even if nothing reads its variables?
    fn has_effect(&self, stmt: &Stmt) -> bool {
        match &stmt.expr {
            Expr::Effect(_) => true,
            // What nobody reads need not be added to.
            Expr::AccAdd { acc, .. } => acc.var().is_none_or(|v| self.is_read(v)),
            Expr::AccView { .. } | Expr::AccPayload { .. } => false,
            Expr::Call { func, args, .. } => {
                let writes =
                    |a: &Atom| matches!(a.ty(), Ty::Acc(_)) && a.var().is_some_and(|v| self.is_read(v));
                args.iter().any(writes) || effects(*func, self.program)
            }
            e => walk::blocks(e).into_iter().any(|b| b.stmts.iter().any(|s| self.has_effect(s))),
        }
    }
}

/// Does a function trace, print or fail by an effect, itself or through those it calls?
fn effects(func: FuncId, program: &Program) -> bool {
    let (mut seen, mut todo) = (vec![], vec![func]);
    while let Some(next) = todo.pop() {
        let Some(f) = program.funcs.get(next.0 as usize).filter(|_| !seen.contains(&next)) else { continue };
        seen.push(next);
        let mut blocks = vec![&f.body];
        while let Some(block) = blocks.pop() {
            for s in &block.stmts {
                match &s.expr {
                    Expr::Effect(_) => return true,
                    Expr::Call { func, .. } => todo.push(*func),
                    e => blocks.extend(walk::blocks(e)),
                }
            }
        }
    }
    false
}
