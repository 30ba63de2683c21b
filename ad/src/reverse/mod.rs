//! Reverse mode: a function becomes a forward function, which also gives residuals, and a backward
//! function, which is linear in the cotangents of the results.
//!
//! The statements of a block are taken from last to first. Each emits its backward code, and comes back
//! in the form the forward function needs (with residuals as further results). Backward code names
//! forward variables directly; where it crosses the border of a loop body, branch or function, what it
//! names is saved or computed again there ([`crate::residual`]).
//!
//! Invariants (cost, Note [Accumulators]): (a) backward code of a statement costs at most a constant
//! times the statement; (b) an accumulator is made only for a variable whose definition paid for its
//! size; (c) a cotangent that is statically zero is never made.

mod accum;
mod control;
mod rules;
mod scope;

use std::collections::HashSet;

use adl_core::ir::{Atom, Block, Expr, Func, FuncId, Stmt, Var};
use adl_core::ty::{INT, Ty};
use adl_core::walk::{self, FreeVars, Subst, Visit as _};

use crate::activity::Activity;
use crate::tangent::{acc_mode, tangent_of, zero};
use crate::{Cx, Error, Reverse, prepare, residual};
pub(crate) use rules::take_payload;
use scope::{Kind, Scope};

/// The transformation of one function.
pub(crate) struct Rev<'a, 'p> {
    pub(crate) cx: &'a mut Cx<'p>,
    pub(crate) activity: Activity,
    /// Tables that may be updated in place, so that reading them again would force a copy.
    pub(crate) consumed: HashSet<Var>,
    /// From the function's body inwards.
    pub(crate) scopes: Vec<Scope>,
}

impl Cx<'_> {
    pub(crate) fn reverse(&mut self, id: FuncId, active: &[bool]) -> Result<Reverse, Error> {
        let key = (id, active.to_vec());
        if let Some(known) = self.memo.reverse.get(&key) {
            return Ok(known.clone());
        }
        if let Some(custom) = self.memo.custom.get(&id).cloned() {
            let made = self.custom_reverse(id, active, custom)?;
            self.memo.reverse.insert(key, made.clone());
            return Ok(made);
        }
        let results = self.call_activity(id, active)?.results;
        let func = prepare::prepare(&self.program.funcs[id.0 as usize]);
        let activity = self.activity(&func, active)?;
        let mut consumed = HashSet::new();
        residual::consumed(&func.body.stmts, &mut consumed);
        let mut rev = Rev { cx: self, activity, consumed, scopes: vec![] };
        let (fwd, bwd, n_residuals) = rev.function(&func, active, &results)?;
        let base = u32::try_from(self.program.funcs.len()).expect("fewer than 2^32 functions");
        self.program.funcs.push(fwd);
        self.program.funcs.push(bwd);
        let made = Reverse { fwd: FuncId(base), bwd: FuncId(base + 1), results, n_residuals };
        self.memo.reverse.insert(key, made.clone());
        Ok(made)
    }
}

impl Rev<'_, '_> {
    /// The forward and backward functions, and the number of residuals.
    fn function(
        &mut self,
        func: &Func,
        active: &[bool],
        results: &[bool],
    ) -> Result<(Func, Func, usize), Error> {
        let mut scope = Scope::new(Kind::Func, func.span);
        scope.own(&func.params);
        let mut tail_params = vec![];
        let mut cts = vec![];
        for (result, is_active) in func.body.results.iter().zip(results) {
            let ct = is_active.then(|| Var::named("ct", tangent_of(&result.ty())));
            tail_params.extend(ct.clone());
            cts.push(ct.map(Atom::Var));
        }
        let is_on = |p: &Var, on: bool| on && p.ty().is_active();
        let on: Vec<bool> = func.params.iter().zip(active).map(|(p, on)| is_on(p, *on)).collect();
        let is_acc = |p: &Var| matches!(p.ty(), Ty::Acc(_));
        let params = || func.params.iter().zip(&on).filter(|(_, on)| **on).map(|(p, _)| p);
        for p in params().filter(|p| !is_acc(p) && acc_mode(p.ty())) {
            let acc = Var::named("acc", Ty::Acc(Box::new(tangent_of(p.ty()))));
            tail_params.push(acc.clone());
            scope.accs.insert(p.clone(), Atom::Var(acc));
        }
        for p in params().filter(|p| is_acc(p)) {
            let Ty::Acc(read) = tangent_of(p.ty()) else { unreachable!("tangent of an accumulator type") };
            let rd = Var::named("rd", *read);
            tail_params.push(rd.clone());
            scope.rds.insert(p.clone(), Atom::Var(rd));
        }
        let (fwd, mut scope) = self.block(&func.body, scope, &cts)?;
        let mut results = vec![];
        for p in params().filter(|p| !is_acc(p) && !acc_mode(p.ty())) {
            let ct = scope.cts.remove(p);
            results.push(ct.unwrap_or_else(|| zero(&mut scope.b, &tangent_of(p.ty()))));
        }
        let bwd = Block { stmts: std::mem::take(&mut scope.b.stmts), results };
        Ok(close_function(func, fwd, &bwd, &tail_params))
    }

    /// Transforms a block inside `scope` (new, with its parameters owned), given the cotangents of its
    /// results. Gives the forward statements, and the scope with the backward code in its builder.
    pub(crate) fn block(
        &mut self,
        block: &Block,
        mut scope: Scope,
        cts: &[Option<Atom>],
    ) -> Result<(Vec<Stmt>, Scope), Error> {
        for stmt in &block.stmts {
            scope.own(&stmt.vars);
            for v in &stmt.vars {
                if scope::derives(&stmt.expr) {
                    scope.defs.insert(v.clone(), (stmt.expr.clone(), stmt.vars.clone()));
                }
            }
        }
        self.scopes.push(scope);
        for (result, ct) in block.results.iter().zip(cts) {
            if let Some(ct) = ct {
                self.add_ct(result, ct.clone());
            }
        }
        let mut fwd: Vec<Vec<Stmt>> = vec![];
        for stmt in block.stmts.iter().rev() {
            self.cur().b.span = stmt.span;
            fwd.push(self.pull(stmt)?);
        }
        let scope = self.scopes.pop().expect("the scope pushed above");
        Ok((fwd.into_iter().rev().flatten().collect(), scope))
    }

    /// The innermost scope.
    pub(crate) fn cur(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a scope is open")
    }

    /// Emits the backward code of a statement, and gives the statements for the forward function.
    fn pull(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let same = || Ok(vec![stmt.clone()]);
        match &stmt.expr {
            Expr::For { .. } => self.pull_for(stmt),
            Expr::Loop { .. } => self.pull_loop(stmt),
            Expr::Case { .. } => self.pull_case(stmt),
            Expr::Reduce { .. } => self.pull_reduce(stmt),
            Expr::Call { .. } => self.pull_call(stmt),
            Expr::Prefix { .. } => unreachable!("`prepare` made prefixes loops"),
            Expr::Prim(p, args) => {
                self.pull_prim(*p, args, &stmt.vars[0]);
                same()
            }
            Expr::Atom(_)
            | Expr::Inject { .. }
            | Expr::Index { .. }
            | Expr::Contract { .. }
            | Expr::Bulk(..)
            | Expr::Update { .. }
            | Expr::TableLit { .. }
            | Expr::Pack { .. }
            | Expr::Open(_)
            | Expr::AddCt(..)
            | Expr::Dup(_) => {
                self.pull_structure(stmt);
                same()
            }
            Expr::AccFreeze(_) | Expr::AccAdd { .. } | Expr::AccFrom(_) => {
                self.pull_accum(stmt);
                same()
            }
            Expr::Zero(_)
            | Expr::Drop(_)
            | Expr::Effect(_)
            | Expr::Show { .. }
            | Expr::AccNew(_)
            | Expr::AccView { .. }
            | Expr::AccInj { .. }
            | Expr::AccPayload { .. } => same(),
            Expr::BoxNew { .. }
            | Expr::Unbox(_)
            | Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => unreachable!("not in the Core that `ad` takes: {:?}", stmt.expr),
        }
    }
}

/// Splits into forward and backward function: what the backward code names of the forward code becomes
/// residuals, sizes first.
fn close_function(func: &Func, fwd: Vec<Stmt>, bwd: &Block, tail_params: &[Var]) -> (Func, Func, usize) {
    let mut free = FreeVars::default();
    tail_params.iter().for_each(|p| free.bind(p));
    free.block(bwd);
    let mut residuals = free.vars;
    // Sizes in the types of residuals are residuals too.
    for size in residuals.clone().iter().flat_map(|v| walk::ty_vars(v.ty())) {
        if !residuals.contains(&size) {
            residuals.push(size);
        }
    }
    residuals.sort_by_key(|v| *v.ty() != INT);
    let mut results = func.body.results.clone();
    results.extend(residuals.iter().cloned().map(Atom::Var));

    let mut map = Subst::new();
    let params = func.params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
    let body = walk::rename_block(&Block { stmts: fwd, results }, &mut map);
    let named = |suffix: &str| format!("{}_{suffix}", func.name);
    let forward = Func { name: named("fwd"), tparams: vec![], params, body, span: func.span };

    let mut map = Subst::new();
    let n_residuals = residuals.len();
    let params = residuals.iter().chain(tail_params).map(|p| walk::rename_var(p, &mut map)).collect();
    let body = walk::rename_block(bwd, &mut map);
    (forward, Func { name: named("bwd"), tparams: vec![], params, body, span: func.span }, n_residuals)
}
