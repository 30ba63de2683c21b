//! Activity: which variables of a function depend, through floats, on its active parameters.
//!
//! A fixpoint over the whole body. Loops and accumulators may make an earlier variable active, so the
//! walk repeats until nothing changes; two or three rounds are the rule.

use std::collections::HashSet;

use adl_core::bulk::BulkDiff;
use adl_core::ir::{Arm, Atom, Block, Effect, Expr, Func, FuncId, LoopKind, RedOp, Stmt, Var};
use adl_core::prim::{Diff, Partial};

use crate::Error;

/// The active variables of one function.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    vars: HashSet<Var>,
}

impl Activity {
    /// Is the variable active?
    pub(crate) fn has(&self, v: &Var) -> bool {
        self.vars.contains(v)
    }

    /// Is the operand active? Constants are not.
    pub(crate) fn atom(&self, a: &Atom) -> bool {
        a.var().is_some_and(|v| self.has(v))
    }
}

/// What a call makes active.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CallActivity {
    /// Which results.
    pub(crate) results: Vec<bool>,
    /// Which arguments, as far as they are accumulators that the function adds active values to.
    pub(crate) written: Vec<bool>,
}

/// Tells what a call makes active, from its active arguments.
pub(crate) type CallResults<'a> = dyn FnMut(FuncId, &[bool]) -> Result<CallActivity, Error> + 'a;

/// The activity of `func` when the marked parameters are active.
///
/// # Errors
///
/// E0501 where an active value goes through a primitive without a derivative.
pub(crate) fn analyse(func: &Func, active: &[bool], calls: &mut CallResults) -> Result<Activity, Error> {
    let mut a = Analysis { activity: Activity::default(), changed: true, roots: Vec::new(), calls };
    for (param, active) in func.params.iter().zip(active) {
        a.mark(param, *active);
    }
    while a.changed {
        a.changed = false;
        a.block(&func.body)?;
    }
    Ok(a.activity)
}

struct Analysis<'a, 'c> {
    activity: Activity,
    changed: bool,
    /// For each derived accumulator, what it is derived from.
    roots: Vec<(Var, Var)>,
    calls: &'a mut CallResults<'c>,
}

impl Analysis<'_, '_> {
    fn mark(&mut self, v: &Var, active: bool) {
        if active && v.ty().is_active() && self.activity.vars.insert(v.clone()) {
            self.changed = true;
        }
    }

    fn block(&mut self, block: &Block) -> Result<Vec<bool>, Error> {
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        Ok(block.results.iter().map(|a| self.activity.atom(a)).collect())
    }

    /// Marks an accumulator and all it is derived from.
    fn mark_acc(&mut self, acc: &Atom) {
        let mut todo: Vec<Var> = acc.var().cloned().into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(v) = todo.pop() {
            self.mark(&v, true);
            if seen.insert(v.clone()) {
                todo.extend(self.roots.iter().filter(|(d, _)| *d == v).map(|(_, root)| root.clone()));
            }
        }
    }

    fn derive(&mut self, stmt: &Stmt, root: &Atom) {
        let (Some(v), Some(root)) = (stmt.vars.first(), root.var()) else { return };
        if !self.roots.iter().any(|(d, r)| d == v && r == root) {
            self.roots.push((v.clone(), root.clone()));
        }
        self.mark(v, self.activity.has(root));
    }

    fn all(&mut self, stmt: &Stmt, active: bool) {
        for v in &stmt.vars {
            self.mark(v, active);
        }
    }

    fn each(&mut self, stmt: &Stmt, active: &[bool]) {
        for (v, active) in stmt.vars.iter().zip(active) {
            self.mark(v, *active);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Error> {
        let any = |a: &Self, xs: &[Atom]| xs.iter().any(|x| a.activity.atom(x));
        match &stmt.expr {
            Expr::Prim(p, args) => {
                let active = match p.0.diff {
                    Diff::Zero => false,
                    Diff::Undefined(why) => {
                        if any(self, args) {
                            return Err(Error::no_derivative(p.0.name, why, stmt.span));
                        }
                        false
                    }
                    Diff::Partials(partials) => args
                        .iter()
                        .zip(partials)
                        .any(|(x, p)| !matches!(p, Partial::Zero) && self.activity.atom(x)),
                };
                self.all(stmt, active);
            }
            Expr::Bulk(row, args) => {
                let active = any(self, args);
                if let (true, BulkDiff::Undefined(why)) = (active, row.0.diff) {
                    return Err(Error::no_derivative(row.0.name, why, stmt.span));
                }
                self.all(stmt, active);
            }
            Expr::Atom(a)
            | Expr::Open(a)
            | Expr::Unbox(a)
            | Expr::Dup(a)
            | Expr::AccFreeze(a)
            | Expr::Index { table: a, .. } => {
                let active = self.activity.atom(a);
                self.all(stmt, active);
            }
            Expr::Inject { args, .. }
            | Expr::BoxNew { args, .. }
            | Expr::TableLit { items: args, .. }
            | Expr::Pack { items: args, .. } => {
                let active = any(self, args);
                self.all(stmt, active);
            }
            Expr::AddCt(a, b) | Expr::Contract { a, b, .. } | Expr::Update { table: a, value: b, .. } => {
                let active = self.activity.atom(a) || self.activity.atom(b);
                self.all(stmt, active);
            }
            Expr::Case { scrut, arms } => self.case(stmt, scrut, arms)?,
            Expr::For { body, .. } => {
                let active = self.block(body)?;
                self.each(stmt, &active);
            }
            Expr::Reduce { op, body, .. } | Expr::Prefix { op, body, .. } => {
                let mut active = self.block(body)?;
                match op {
                    RedOp::Custom { left, right, body, unit } => {
                        let one = active.iter().any(|a| *a) || any(self, unit);
                        for v in left.iter().chain(right) {
                            self.mark(v, one);
                        }
                        let inner = self.block(body)?;
                        active = active.iter().zip(inner).map(|(a, b)| *a || b).collect();
                    }
                    RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => {}
                }
                self.each(stmt, &active);
            }
            Expr::Loop { kind, state, init, body, .. } => {
                for (s, x) in state.iter().zip(init) {
                    self.mark(s, self.activity.atom(x));
                }
                if let LoopKind::While { params, cond } = kind {
                    for (p, s) in params.iter().zip(state) {
                        self.mark(p, self.activity.has(s));
                    }
                    self.block(cond)?;
                }
                let results = self.block(body)?;
                for (s, active) in state.iter().zip(&results) {
                    self.mark(s, *active);
                }
                let counted = usize::from(matches!(kind, LoopKind::While { .. }));
                for (k, v) in stmt.vars.iter().enumerate() {
                    let active = match state.get(k) {
                        Some(s) => self.activity.has(s),
                        None => k >= state.len() + counted && results[k - counted],
                    };
                    self.mark(v, active);
                }
            }
            Expr::Call { func, args, .. } => {
                let mask: Vec<bool> = args.iter().map(|a| self.activity.atom(a)).collect();
                if mask.iter().any(|a| *a) {
                    let made = (self.calls)(*func, &mask)?;
                    self.each(stmt, &made.results);
                    for (a, _) in args.iter().zip(&made.written).filter(|(_, w)| **w) {
                        self.mark_acc(a);
                    }
                }
            }
            Expr::AccView { acc, .. } | Expr::AccPayload { acc, .. } => self.derive(stmt, acc),
            Expr::AccInj { accs, .. } => {
                for acc in accs {
                    self.derive(stmt, acc);
                }
            }
            Expr::AccFrom(a) => {
                let active = self.activity.atom(a);
                self.all(stmt, active);
            }
            Expr::AccAdd { acc, value, .. } => {
                if self.activity.atom(value) {
                    self.mark_acc(acc);
                }
            }
            Expr::Effect(
                Effect::Error(_)
                | Effect::Assert { .. }
                | Effect::CheckSize { .. }
                | Effect::CheckNonNegative(_)
                | Effect::Trace(_)
                | Effect::Print(_)
                | Effect::LoadNpy { .. },
            )
            | Expr::Zero(_)
            | Expr::Drop(_)
            | Expr::Show { .. }
            | Expr::AccNew(_) => {}
            Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => unreachable!("higher-order Core in `ad`: {:?}", stmt.expr),
        }
        Ok(())
    }

    fn case(&mut self, stmt: &Stmt, scrut: &Atom, arms: &[Arm]) -> Result<(), Error> {
        let scrut = self.activity.atom(scrut);
        for arm in arms {
            for p in &arm.params {
                self.mark(p, scrut);
            }
            let active = self.block(&arm.body)?;
            self.each(stmt, &active);
            for (v, result) in stmt.vars.iter().zip(&arm.body.results) {
                if matches!(v.ty(), adl_core::ty::Ty::Acc(_)) {
                    self.derive_choice(v, result);
                }
            }
        }
        Ok(())
    }

    /// An accumulator chosen by a case is derived from each candidate.
    fn derive_choice(&mut self, v: &Var, candidate: &Atom) {
        let Some(root) = candidate.var() else { return };
        if !self.roots.iter().any(|(d, r)| d == v && r == root) {
            self.roots.push((v.clone(), root.clone()));
        }
        if self.activity.has(v) {
            self.mark_acc(candidate);
        }
    }
}
