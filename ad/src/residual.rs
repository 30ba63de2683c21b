//! What the backward pass of a loop body or branch needs of the forward pass: saved, or computed again.
//!
//! Only scalar straight-line code that costs at most 32 is computed again, and only tables of the
//! surroundings that nothing updates are read again, so that nesting cannot blow the cost up.

use std::collections::{HashMap, HashSet};

use adl_core::ir::{Atom, Expr, Stmt, Var};
use adl_core::prim::Kernel;
use adl_core::walk;

/// The dearest scalar code that is computed again.
const MAX_COST: u32 = 32;

/// What to do.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Kept, in the order of their definition.
    pub(crate) saved: Vec<Var>,
    /// Statements that compute the rest from these and the surroundings, in order.
    pub(crate) again: Vec<Stmt>,
}

/// Plans for the variables `need` of a body with parameters `params` and statements `fwd`. `consumed` are
/// tables that an update may take over.
pub(crate) fn plan(need: &[Var], params: &[Var], fwd: &[Stmt], consumed: &HashSet<Var>) -> Plan {
    let mut planner = Planner {
        defs: fwd.iter().enumerate().flat_map(|(k, s)| s.vars.iter().map(move |v| (v.clone(), k))).collect(),
        params: params.iter().cloned().collect(),
        fwd,
        consumed,
        given: HashSet::new(),
    };
    // What cannot be computed from the surroundings alone is saved, and then serves the others.
    let must: Vec<Var> = need.iter().filter(|v| planner.cost(v, MAX_COST).is_none()).cloned().collect();
    let mut saved = vec![];
    for v in &must {
        // Scalars of a chain may follow from earlier saved ones.
        if planner.cost(v, MAX_COST).is_none() {
            planner.given.insert(v.clone());
            saved.push(v.clone());
        }
    }
    let mut again = vec![false; fwd.len()];
    for v in need {
        planner.demand(v, &mut again);
    }
    let position = |v: &Var| planner.defs.get(v).map_or(0, |k| k + 1);
    saved.sort_by_key(position);
    let again = fwd.iter().zip(again).filter(|(_, a)| *a).map(|(s, _)| s.clone()).collect();
    Plan { saved, again }
}

struct Planner<'a> {
    defs: HashMap<Var, usize>,
    params: HashSet<Var>,
    fwd: &'a [Stmt],
    consumed: &'a HashSet<Var>,
    given: HashSet<Var>,
}

impl Planner<'_> {
    /// Cost to compute `v` again, if at most `budget`.
    fn cost(&self, v: &Var, budget: u32) -> Option<u32> {
        if self.given.contains(v) {
            return Some(0);
        }
        if self.params.contains(v) {
            return None;
        }
        let Some(k) = self.defs.get(v) else { return Some(0) };
        let stmt = &self.fwd[*k];
        let own = self.own_cost(stmt)?;
        let mut total = own;
        for operand in walk::free_vars_expr(&stmt.expr) {
            total += self.cost(&operand, budget.checked_sub(total)?)?;
        }
        (total <= budget).then_some(total)
    }

    /// Cost of one statement by itself, if it may be repeated at all.
    fn own_cost(&self, stmt: &Stmt) -> Option<u32> {
        match &stmt.expr {
            Expr::Atom(Atom::Var(v)) if v.ty().scalar().is_some() => Some(0),
            Expr::Prim(p, _) => match p.0.kernel {
                Kernel::Inst(_) | Kernel::F1(..) | Kernel::F2(..) | Kernel::FInt(..) => {
                    (!p.0.can_fail()).then_some(p.0.cost)
                }
                Kernel::I1(_) | Kernel::I2(_) | Kernel::I3(_) | Kernel::I2F(_) | Kernel::StrCat => None,
            },
            // An element, or a row (a view), of a table of the surroundings.
            Expr::Index { table: Atom::Var(t), .. }
                if !self.defs.contains_key(t) && !self.params.contains(t) && !self.consumed.contains(t) =>
            {
                Some(1)
            }
            Expr::Case { arms, .. }
                if stmt.vars.iter().all(|v| v.ty().scalar().is_some())
                    && arms.iter().all(|a| a.params.is_empty() && a.body.stmts.is_empty()) =>
            {
                Some(1)
            }
            _ => None,
        }
    }

    /// Marks the statements that compute `v` again.
    fn demand(&self, v: &Var, again: &mut [bool]) {
        if self.given.contains(v) || self.params.contains(v) {
            return;
        }
        let Some(k) = self.defs.get(v) else { return };
        if std::mem::replace(&mut again[*k], true) {
            return;
        }
        for operand in walk::free_vars_expr(&self.fwd[*k].expr) {
            self.demand(&operand, again);
        }
    }
}

/// Tables of a function that an update may take over: operands of updates, initial states of loops, and
/// what accumulators start from.
pub(crate) fn consumed(stmts: &[Stmt], out: &mut HashSet<Var>) {
    let mut note = |a: &Atom| {
        if let Atom::Var(v) = a
            && v.ty().has_table()
        {
            out.insert(v.clone());
        }
    };
    for stmt in stmts {
        match &stmt.expr {
            Expr::Update { table, .. } => note(table),
            Expr::Loop { init, .. } => init.iter().for_each(&mut note),
            Expr::AccFrom(a) => note(a),
            _ => {}
        }
    }
    for stmt in stmts {
        for block in walk::blocks(&stmt.expr) {
            consumed(&block.stmts, out);
        }
    }
}
