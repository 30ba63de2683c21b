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
mod closing;
mod control;
mod rules;
mod scope;

use std::collections::HashSet;

use adl_core::ir::{Atom, Block, Expr, Func, FuncId, Stmt, Var};
use adl_core::ty::{BoxTy, Ty};
use adl_core::walk;

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
        let signature = Signature::of(&func, active, &results);
        let reserved = self.is_recursive(id).then(|| {
            let (made, cell) = self.reserve_reverse(&func, &signature, &results);
            self.memo.reverse.insert(key.clone(), made.clone());
            (made, cell)
        });
        let mut consumed = HashSet::new();
        residual::consumed(&func.body.stmts, &mut consumed);
        if reserved.is_some() {
            // A table that each call keeps costs its size each time the backward pass is differentiated: what is
            // read of it is kept instead.
            consumed.extend(func.params.iter().filter(|p| p.ty().has_table()).cloned());
        }
        let mut rev = Rev { cx: self, activity, consumed, scopes: vec![] };
        let (fwd, bwd) = rev.function(&func, &signature)?;
        if let Some((made, cell)) = reserved {
            let closed = closing::recursive(&func, fwd, &bwd, &signature, cell);
            self.program.boxes[cell.id as usize] = closed.content;
            self.program.funcs[made.fwd.0 as usize] = closed.fwd;
            self.program.funcs[made.bwd.0 as usize] = closed.bwd;
            return Ok(made);
        }
        let (fwd, bwd, n_residuals) = closing::function(&func, fwd, &bwd, &signature.tail);
        let made = Reverse { fwd: self.push(fwd), bwd: self.push(bwd), results, n_residuals };
        self.memo.reverse.insert(key, made.clone());
        Ok(made)
    }

    /// Both functions by their signatures, so that they can call themselves, and the kind of cells that holds the
    /// residuals.
    fn reserve_reverse(&mut self, func: &Func, signature: &Signature, results: &[bool]) -> (Reverse, BoxTy) {
        let id = u32::try_from(self.program.boxes.len()).expect("fewer than 2^32 recursive types");
        self.program.boxes.push(vec![]);
        let cell = BoxTy::new(id);
        let residuals = || signature.sizes.iter().cloned().chain([Var::new(Ty::Box(cell))]);
        let named = |suffix: &str| format!("{}_{suffix}", func.name);
        let outs: Vec<Atom> = func.body.results.iter().cloned().chain(residuals().map(Atom::Var)).collect();
        let fwd = self.reserve(&named("fwd"), &func.params, &outs, func.span);
        let params: Vec<Var> = residuals().chain(signature.tail.iter().cloned()).collect();
        let cts: Vec<Atom> =
            signature.by_value.iter().map(|p| Atom::Var(Var::new(tangent_of(p.ty())))).collect();
        let bwd = self.reserve(&named("bwd"), &params, &cts, func.span);
        let n_residuals = signature.sizes.len() + 1;
        (Reverse { fwd, bwd, results: results.to_vec(), n_residuals }, cell)
    }
}

/// What the backward function takes and gives, apart from residuals.
struct Signature {
    /// Its parameters behind the residuals: cotangents, accumulators, read values.
    tail: Vec<Var>,
    /// The sizes in their types.
    sizes: Vec<Var>,
    /// For each result of the primal its cotangent.
    cts: Vec<Option<Atom>>,
    /// For parameters of the primal in accumulator mode, the accumulators.
    accs: Vec<(Var, Var)>,
    /// For accumulators among the parameters of the primal, what may be read.
    rds: Vec<(Var, Var)>,
    /// The other active parameters of the primal, whose cotangents are the results.
    by_value: Vec<Var>,
}

impl Signature {
    fn of(func: &Func, active: &[bool], results: &[bool]) -> Signature {
        let mut cts = vec![];
        for (result, is_active) in func.body.results.iter().zip(results) {
            cts.push(is_active.then(|| Var::named("ct", tangent_of(&result.ty()))));
        }
        let (mut accs, mut rds, mut by_value) = (vec![], vec![], vec![]);
        for (p, on) in func.params.iter().zip(active) {
            if !on || !p.ty().is_active() {
                continue;
            }
            match tangent_of(p.ty()) {
                Ty::Acc(read) => rds.push((p.clone(), Var::named("rd", *read))),
                ty if acc_mode(p.ty()) => accs.push((p.clone(), Var::named("acc", Ty::Acc(Box::new(ty))))),
                _ => by_value.push(p.clone()),
            }
        }
        let extra = accs.iter().chain(&rds).map(|(_, v)| v.clone());
        let tail: Vec<Var> = cts.iter().flatten().cloned().chain(extra).collect();
        let mut sizes = vec![];
        for size in tail.iter().flat_map(|v| walk::ty_vars(v.ty())) {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        let cts = cts.into_iter().map(|ct| ct.map(Atom::Var)).collect();
        Signature { tail, sizes, cts, accs, rds, by_value }
    }
}

impl Rev<'_, '_> {
    /// The statements of the forward function, and the body of the backward function.
    fn function(&mut self, func: &Func, signature: &Signature) -> Result<(Vec<Stmt>, Block), Error> {
        let mut scope = Scope::new(Kind::Func, func.span);
        scope.own(&func.params);
        let with_atom = |(p, v): &(Var, Var)| (p.clone(), Atom::from(v));
        scope.accs.extend(signature.accs.iter().map(with_atom));
        scope.rds.extend(signature.rds.iter().map(with_atom));
        let (fwd, mut scope) = self.block(&func.body, scope, &signature.cts)?;
        let mut results = vec![];
        for p in &signature.by_value {
            let ct = scope.cts.remove(p);
            results.push(ct.unwrap_or_else(|| zero(&mut scope.b, &tangent_of(p.ty()))));
        }
        let bwd = Block { stmts: std::mem::take(&mut scope.b.stmts), results };
        Ok((fwd, bwd))
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
            | Expr::BoxNew { .. }
            | Expr::Unbox(_)
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
            Expr::Tuple(_)
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
