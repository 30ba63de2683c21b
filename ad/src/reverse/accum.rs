//! Cotangents and accumulators: how contributions reach the variables they belong to.

use adl_core::build::Builder;
use adl_core::ir::{Arm, Atom, Block, Expr, Stmt, Var};
use adl_core::ty::Ty;

use super::Rev;
use super::scope::Kind;
use crate::tangent::{acc_mode, add, tangent_of, zero};

impl Rev<'_, '_> {
    /// Adds a contribution to the cotangent of `x`.
    pub(crate) fn add_ct(&mut self, x: &Atom, ct: Atom) {
        let Some(v) = x.var().filter(|v| self.activity.has(v)).cloned() else { return };
        if acc_mode(v.ty()) {
            self.add_whole(&v, ct);
            return;
        }
        let scope = self.cur();
        if scope.owns(&v) {
            let sum = match scope.cts.remove(&v) {
                Some(old) => add(&mut scope.b, old, ct),
                None => ct,
            };
            scope.cts.insert(v, sum);
        } else if let Some(k) = scope.outer.iter().position(|(w, _)| *w == v) {
            let old = scope.outer[k].1.clone();
            scope.outer[k].1 = add(&mut scope.b, old, ct);
        } else {
            scope.outer.push((v, ct));
        }
    }

    /// Adds a whole value to the accumulator of `v`; the first one may become the accumulator.
    fn add_whole(&mut self, v: &Var, ct: Atom) {
        let scope = self.cur();
        if scope.owns(v) && !scope.accs.contains_key(v) && !scope.defs.contains_key(v) {
            let ty = Ty::Acc(Box::new(ct.ty()));
            let acc = scope.b.bind(ty, Expr::AccFrom(ct));
            scope.accs.insert(v.clone(), acc);
            return;
        }
        let acc = self.acc_of(v);
        self.emit(Expr::AccAdd { acc, index: vec![], value: ct, check: false });
    }

    /// A statement without variables.
    pub(crate) fn emit(&mut self, expr: Expr) {
        self.cur().b.emit(vec![], expr);
    }

    /// The accumulator of an active variable in accumulator mode. It is made where the variable is
    /// defined, or derived from the accumulators of what it is an alias of.
    pub(crate) fn acc_of(&mut self, v: &Var) -> Atom {
        let at = self.scopes.iter().rposition(|s| s.owns(v)).expect("each variable is owned by a scope");
        if let Some(acc) = self.scopes[at].accs.get(v) {
            return acc.clone();
        }
        // Code for the accumulator goes to the scope that owns the variable.
        let inner = self.scopes.split_off(at + 1);
        let def = self.cur().defs.get(v).cloned();
        let ty = Ty::Acc(Box::new(tangent_of(v.ty())));
        let derived = match def {
            Some((Expr::Index { table, index, check }, _)) => {
                self.acc_of_atom(&table).map(|acc| Expr::AccView { acc, index, check })
            }
            Some((Expr::Atom(x), _)) => self.acc_of_atom(&x).map(Expr::Atom),
            Some((Expr::Inject { tag, args, .. }, _)) => Some(self.acc_of_inject(v, tag, &args)),
            Some((Expr::Case { scrut, arms }, vars)) => self.acc_of_choice(v, &scrut, &arms, &vars),
            Some(_) | None => None,
        };
        let acc = match derived {
            Some(Expr::Atom(acc)) => acc,
            Some(expr) => self.cur().b.bind(ty, expr),
            None => self.cur().b.bind(ty, Expr::AccNew(tangent_of(v.ty()))),
        };
        self.cur().accs.insert(v.clone(), acc.clone());
        self.scopes.extend(inner);
        acc
    }

    fn acc_of_atom(&mut self, x: &Atom) -> Option<Atom> {
        let v = x.var().filter(|v| self.activity.has(v))?.clone();
        Some(self.acc_of(&v))
    }

    /// A sum in accumulator mode: the accumulators of its payload, with cells for scalars.
    fn acc_of_inject(&mut self, v: &Var, tag: u32, args: &[Atom]) -> Expr {
        let mut accs = vec![];
        let mut cells = vec![];
        for x in args.iter().filter(|x| x.ty().is_active()) {
            if acc_mode(&x.ty())
                && let Some(acc) = self.acc_of_atom(x)
            {
                accs.push(acc);
                continue;
            }
            let t = tangent_of(&x.ty());
            let cell = self.cur().b.bind(Ty::Acc(Box::new(t.clone())), Expr::AccNew(t));
            cells.push((x.clone(), cell.clone()));
            accs.push(cell);
        }
        self.cur().payload_cells.push((v.clone(), cells));
        Expr::AccInj { ty: tangent_of(v.ty()), tag: tag + 1, accs }
    }

    /// A choice between variables of the surroundings: the same choice between their accumulators.
    fn acc_of_choice(&mut self, v: &Var, scrut: &Atom, arms: &[Arm], vars: &[Var]) -> Option<Expr> {
        let k = vars.iter().position(|w| w == v)?;
        let sources: Option<Vec<Var>> = arms
            .iter()
            .map(|a| {
                a.body.results[k].var().filter(|x| self.activity.has(x) && !a.params.contains(x)).cloned()
            })
            .collect();
        let arms = sources?
            .iter()
            .zip(arms)
            .map(|(x, arm)| {
                let acc = self.acc_of(x);
                Arm { params: arm.params.clone(), body: Block { stmts: vec![], results: vec![acc] } }
            })
            .collect();
        Some(Expr::Case { scrut: scrut.clone(), arms })
    }

    /// Is the accumulator of this result of a case derived, so that the case passes no cotangent on?
    pub(crate) fn is_choice(&self, v: &Var, k: usize, arms: &[Arm]) -> bool {
        acc_mode(v.ty())
            && arms.iter().all(|a| {
                a.body.stmts.is_empty()
                    && a.body.results[k].var().is_some_and(|x| self.activity.has(x) && !a.params.contains(x))
            })
    }

    /// The cotangent of a variable of the current block, once all its uses are done; `None` is zero.
    /// Nothing for variables whose contributions went to the accumulators of others.
    pub(crate) fn bar(&mut self, v: &Var) -> Option<Atom> {
        if !self.activity.has(v) {
            return None;
        }
        let scope = self.cur();
        if !acc_mode(v.ty()) {
            return scope.cts.remove(v);
        }
        let acc = scope.accs.remove(v)?;
        Some(scope.b.bind(tangent_of(v.ty()), Expr::AccFreeze(acc)))
    }

    /// Like [`Rev::bar`], with zero made explicit.
    pub(crate) fn bar_or_zero(&mut self, v: &Var) -> Atom {
        match self.bar(v) {
            Some(ct) => ct,
            None => zero(&mut self.cur().b, &tangent_of(v.ty())),
        }
    }

    /// What may be read of the cotangent of a primal accumulator; `None` is zero.
    pub(crate) fn rd_of(&mut self, acc: &Var) -> Option<Atom> {
        let at = self.scopes.iter().rposition(|s| s.owns(acc)).expect("each variable is owned by a scope");
        if let Some(rd) = self.scopes[at].rds.get(acc) {
            return Some(rd.clone());
        }
        let (def, vars) = self.scopes[at].defs.get(acc).cloned()?;
        let Ty::Acc(ty) = tangent_of(acc.ty()) else { unreachable!("an accumulator") };
        match def {
            Expr::AccView { acc: base, index, check } => {
                let base = self.rd_of_atom(&base)?;
                Some(self.cur().b.index(&base, &index, check))
            }
            Expr::AccPayload { acc: base, tag } => {
                let k = vars.iter().position(|v| v == acc)?;
                let base = self.rd_of_atom(&base)?;
                Some(payload(&mut self.cur().b, &base, tag + 1, k, &ty))
            }
            Expr::AccInj { ty, tag, accs } => {
                let mut args = vec![];
                for a in &accs {
                    let rd = self.rd_of_atom(a);
                    let Ty::Acc(t) = a.ty() else { unreachable!("an accumulator") };
                    args.push(match rd {
                        Some(rd) => rd,
                        None => zero(&mut self.cur().b, &tangent_of(&t)),
                    });
                }
                let tangent = tangent_of(&ty);
                Some(self.cur().b.bind(tangent.clone(), Expr::Inject { ty: tangent, tag: tag + 1, args }))
            }
            Expr::Case { scrut, arms } => {
                let k = vars.iter().position(|v| v == acc)?;
                let mut chosen = vec![];
                for arm in &arms {
                    let rd = self.rd_of_atom(&arm.body.results[k]);
                    let rd = match rd {
                        Some(rd) => rd,
                        None => zero(&mut self.cur().b, &ty),
                    };
                    chosen.push(Arm {
                        params: arm.params.clone(),
                        body: Block { stmts: vec![], results: vec![rd] },
                    });
                }
                Some(self.cur().b.bind(*ty, Expr::Case { scrut, arms: chosen }))
            }
            _ => None,
        }
    }

    pub(crate) fn rd_of_atom(&mut self, acc: &Atom) -> Option<Atom> {
        let v = acc.var().filter(|v| self.activity.has(v))?.clone();
        self.rd_of(&v)
    }

    /// Backward code of the forms that accumulate: what is written is read back.
    pub(crate) fn pull_accum(&mut self, stmt: &Stmt) {
        match &stmt.expr {
            Expr::AccFreeze(Atom::Var(acc)) => {
                if let Some(ct) = self.bar(&stmt.vars[0]) {
                    let owner = self.scopes.iter_mut().rev().find(|s| s.owns(acc)).expect("a scope owns it");
                    owner.rds.insert(acc.clone(), ct);
                }
            }
            Expr::AccAdd { acc, index, value, check } => {
                if self.activity.atom(value)
                    && let Some(rd) = self.rd_of_atom(acc)
                {
                    let ct = self.cur().b.index(&rd, index, *check);
                    self.add_ct(value, ct);
                }
            }
            Expr::AccFrom(x) => {
                if self.activity.atom(x)
                    && let Some(rd) = self.rd_of(&stmt.vars[0])
                {
                    self.add_ct(x, rd);
                }
            }
            other => unreachable!("not an accumulation: {other:?}"),
        }
    }

    /// Ends the backward code of a body that runs many times: contributions to variables of the
    /// surroundings are added to cells there. Gives the statements of the body.
    pub(crate) fn leave_loop(&mut self, inner: &mut super::Scope) -> Vec<Stmt> {
        debug_assert!(inner.kind == Kind::Loop, "only bodies of loops leave by cells");
        for (v, value) in std::mem::take(&mut inner.outer) {
            let known = self.cur().cells.iter().find(|(w, _)| *w == v).map(|(_, cell)| cell.clone());
            let cell = known.unwrap_or_else(|| {
                let t = tangent_of(v.ty());
                let scope = self.cur();
                let cell = scope.b.bind(Ty::Acc(Box::new(t.clone())), Expr::AccNew(t));
                scope.cells.push((v, cell.clone()));
                cell
            });
            inner.b.emit(vec![], Expr::AccAdd { acc: cell, index: vec![], value, check: false });
        }
        std::mem::take(&mut inner.b.stmts)
    }

    /// After the loop: what the cells hold goes to the variables.
    pub(crate) fn collect_cells(&mut self) {
        for (v, cell) in std::mem::take(&mut self.cur().cells) {
            let ct = self.cur().b.bind(tangent_of(v.ty()), Expr::AccFreeze(cell));
            self.add_ct(&Atom::Var(v), ct);
        }
    }
}

/// Component `k` of the payload of alternative `tag` of a sum of cotangents; zero where it is `zero`.
pub(crate) fn payload(b: &mut Builder, sum: &Atom, tag: u32, k: usize, ty: &Ty) -> Atom {
    let Ty::Sum(alts) = sum.ty() else { unreachable!("a sum of cotangents") };
    let mut arms = vec![];
    for (j, alt) in alts.iter().enumerate() {
        let params: Vec<Var> = alt.iter().cloned().map(Var::new).collect();
        let body = if u32::try_from(j).is_ok_and(|j| j == tag) {
            Block { stmts: vec![], results: vec![Atom::Var(params[k].clone())] }
        } else {
            b.block(|b| vec![zero(b, ty)])
        };
        arms.push(Arm { params, body });
    }
    b.bind(ty.clone(), Expr::Case { scrut: sum.clone(), arms })
}

// Note [Accumulators]
//
// A cotangent of a table is never a value that is rebuilt at each use: uses add to an accumulator, whose
// transpose is a read (Paszke et al. 2021, section 6). An accumulator costs its size to make, so one is
// made only for a variable whose definition made that many elements. What merely names part of something
// else – a row, a copy, a choice between variables, a sum around tables – takes a view of the accumulator of
// what it names. Without this rule `xs[i]` in a loop over rows would cost the size of the row each time.
