//! The scopes of the backward code: whose cotangents and accumulators live where.

use std::collections::{HashMap, HashSet};

use adl_core::build::Builder;
use adl_core::ir::{Atom, Expr, Var};
use adl_diag::Span;

/// How contributions to variables of the surroundings leave a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The body of the function: there are none.
    Func,
    /// A body that runs many times: they are added to accumulators outside.
    Loop,
    /// A branch: they are results of the branch.
    Arm,
}

/// One block under transformation.
pub(crate) struct Scope {
    pub(crate) kind: Kind,
    /// The backward code so far.
    pub(crate) b: Builder,
    /// Parameters and variables defined in the block.
    owned: HashSet<Var>,
    /// Definitions from which accumulators are derived (Note [Accumulators]), with all their variables.
    pub(crate) defs: HashMap<Var, (Expr, Vec<Var>)>,
    /// Cotangents of value-mode variables; absent means zero.
    pub(crate) cts: HashMap<Var, Atom>,
    /// Accumulators of accumulator-mode variables; absent means zero so far.
    pub(crate) accs: HashMap<Var, Atom>,
    /// For accumulators of the primal: the cotangent of what they are frozen to.
    pub(crate) rds: HashMap<Var, Atom>,
    /// Contributions to value-mode variables of the surroundings, in order.
    pub(crate) outer: Vec<(Var, Atom)>,
    /// Accumulators of this block for contributions that leave a loop inside it.
    pub(crate) cells: Vec<(Var, Atom)>,
    /// For sums in accumulator mode that are built here: accumulators of their scalar payload.
    pub(crate) payload_cells: Vec<(Var, Vec<(Atom, Atom)>)>,
}

impl Scope {
    pub(crate) fn new(kind: Kind, span: Span) -> Scope {
        Scope {
            kind,
            b: Builder::new(span),
            owned: HashSet::new(),
            defs: HashMap::new(),
            cts: HashMap::new(),
            accs: HashMap::new(),
            rds: HashMap::new(),
            outer: vec![],
            cells: vec![],
            payload_cells: vec![],
        }
    }

    pub(crate) fn own(&mut self, vars: &[Var]) {
        self.owned.extend(vars.iter().cloned());
    }

    pub(crate) fn owns(&self, v: &Var) -> bool {
        self.owned.contains(v)
    }
}

/// Is the accumulator (or read value) of what this defines derived from that of its operands?
pub(crate) fn derives(expr: &Expr) -> bool {
    match expr {
        Expr::Index { .. }
        | Expr::Atom(_)
        | Expr::Inject { .. }
        | Expr::AccView { .. }
        | Expr::AccPayload { .. }
        | Expr::AccInj { .. } => true,
        Expr::Case { arms, .. } => arms.iter().all(|a| a.body.stmts.is_empty()),
        _ => false,
    }
}
