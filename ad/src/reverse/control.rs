//! Backward code of control flow: `for`, loops, `case`, calls; and what crosses their borders.

use std::collections::HashSet;
use std::sync::Arc;

use adl_core::build::Builder;
use adl_core::ir::{Arm, Atom, Block, Expr, Keep, LoopKind, Stmt, Var};
use adl_core::ty::{INT, Ix, PackTy, Ty};
use adl_core::walk::{self, FreeVars, Subst, Visit as _};

use super::Rev;
use super::scope::{Kind, Scope};
use crate::tangent::{acc_mode, tangent_of, zero};
use crate::{Error, residual};

/// The border of a body that runs many times.
pub(super) struct Border<'a> {
    /// Parameters of the forward body that the backward body does not have.
    pub(super) state: &'a [Var],
    /// The index, which both have.
    pub(super) index: &'a Var,
    /// The number of rounds.
    pub(super) size: &'a Atom,
    /// Parameters of the backward body.
    pub(super) bound: &'a [Var],
    /// Values of the body that are collected anyway, with their tables.
    pub(super) outputs: &'a [(Atom, Var)],
}

impl Rev<'_, '_> {
    /// Does the block add to an accumulator that is active? (Then it has backward code even where its
    /// results have no cotangent.)
    pub(super) fn writes(&self, block: &Block) -> bool {
        block.stmts.iter().any(|s| {
            let own = match &s.expr {
                Expr::AccAdd { acc, .. } => self.activity.atom(acc),
                Expr::Call { args, .. } => {
                    args.iter().any(|a| matches!(a.ty(), Ty::Acc(_)) && self.activity.atom(a))
                }
                _ => false,
            };
            own || walk::blocks(&s.expr).into_iter().any(|b| self.writes(b))
        })
    }

    pub(super) fn pull_for(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let Expr::For { ix, var, body } = &stmt.expr else { unreachable!("a `for`") };
        let bars: Vec<Option<Atom>> = stmt.vars.iter().map(|v| self.bar(v)).collect();
        if bars.iter().all(Option::is_none) && !self.writes(body) {
            return Ok(vec![stmt.clone()]);
        }
        let Ix::Fin(size) = ix else { unreachable!("first-order index sets are sizes") };
        let outputs: Vec<(Atom, Var)> = body.results.iter().cloned().zip(stmt.vars.iter().cloned()).collect();
        let (stmts, residuals) = self.loop_body(stmt.span, size, var, body, &outputs, |rev, i| {
            let b = &mut rev.cur().b;
            bars.iter()
                .map(|bar| bar.as_ref().map(|bar| b.index(bar, std::slice::from_ref(i), false)))
                .collect()
        })?;
        let (mut vars, mut results) = (stmt.vars.clone(), body.results.clone());
        for (saved, table) in residuals {
            results.push(saved);
            vars.push(table);
        }
        let expr = Expr::For { ix: ix.clone(), var: var.clone(), body: Block { stmts, results } };
        Ok(vec![Stmt { vars, expr, ..stmt.clone() }])
    }

    pub(super) fn pull_loop(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let Expr::Loop { kind, state, init, body, keep } = &stmt.expr else { unreachable!("a loop") };
        let n = state.len();
        let counted = usize::from(matches!(kind, LoopKind::While { .. }));
        let (finals, collected) = (&stmt.vars[..n], &stmt.vars[n + counted..]);
        let final_bars: Vec<Option<Atom>> = finals.iter().map(|v| self.bar(v)).collect();
        let bars: Vec<Option<Atom>> = collected.iter().map(|v| self.bar(v)).collect();
        if final_bars.iter().chain(&bars).all(Option::is_none) && !self.writes(body) {
            return Ok(vec![stmt.clone()]);
        }
        let (size, index, reverse) = match kind {
            LoopKind::For { ix: Ix::Fin(size), var, reverse } => (size.clone(), var.clone(), !reverse),
            LoopKind::For { .. } => unreachable!("first-order index sets are sizes"),
            LoopKind::While { .. } => (Atom::Var(stmt.vars[n].clone()), Var::named("i", INT), true),
        };
        // Cotangents of the active states are the state of the backward loop.
        let on: Vec<usize> = (0..n).filter(|k| self.activity.has(&state[*k])).collect();
        let mut bwd_init = vec![];
        for k in &on {
            bwd_init.push(match &final_bars[*k] {
                Some(ct) => ct.clone(),
                None => zero(&mut self.cur().b, &tangent_of(state[*k].ty())),
            });
        }
        let bwd_state: Vec<Var> = on.iter().map(|k| Var::named("ct", tangent_of(state[*k].ty()))).collect();
        let mut scope = Scope::new(Kind::Loop, stmt.span);
        scope.own(state);
        scope.own(std::slice::from_ref(&index));
        let mut cts: Vec<Option<Atom>> = vec![None; n];
        for (k, ct) in on.iter().zip(&bwd_state) {
            cts[*k] = Some(Atom::Var(ct.clone()));
        }
        for bar in &bars {
            let i = Atom::Var(index.clone());
            cts.push(bar.as_ref().map(|bar| scope.b.index(bar, &[i], false)));
        }
        let (mut fwd, inner) = self.block(body, scope, &cts)?;
        self.scopes.push(inner);
        let results: Vec<Atom> = on.iter().map(|k| self.bar_or_zero(&state[*k])).collect();
        let mut inner = self.scopes.pop().expect("the scope pushed above");
        let bwd = Block { stmts: self.leave_loop(&mut inner), results };
        let outputs: Vec<(Atom, Var)> =
            body.results[n..].iter().cloned().zip(collected.iter().cloned()).collect();
        let border = Border { state, index: &index, size: &size, bound: &bwd_state, outputs: &outputs };
        let (bwd, residuals) = self.save(&bwd, &border, &mut fwd);

        let out: Vec<Var> = bwd_state.iter().map(|v| Var::named("ct", v.ty().clone())).collect();
        let back = LoopKind::For { ix: Ix::Fin(size), var: index, reverse };
        let expr = Expr::Loop { kind: back, state: bwd_state, init: bwd_init, body: bwd, keep: Keep::All };
        self.cur().b.emit(out.clone(), expr);
        for (k, ct) in on.iter().zip(out) {
            self.add_ct(&init[*k], Atom::Var(ct));
        }
        self.collect_cells();

        let (mut vars, mut results) = (stmt.vars.clone(), body.results.clone());
        for (saved, table) in residuals {
            results.push(saved);
            vars.push(table);
        }
        let (kind, keep) = (kind.clone(), *keep);
        let body = Block { stmts: fwd, results };
        let expr = Expr::Loop { kind, state: state.clone(), init: init.clone(), body, keep };
        Ok(vec![Stmt { vars, expr, ..stmt.clone() }])
    }

    /// Makes the backward body of a loop name only what it has: saved values are read from tables by the
    /// index, cheap ones are computed again. Gives what the forward body has to collect, and where.
    pub(super) fn save(
        &self,
        bwd: &Block,
        border: &Border,
        fwd: &mut Vec<Stmt>,
    ) -> (Block, Vec<(Atom, Var)>) {
        let mut inside: HashSet<Var> = fwd.iter().flat_map(|s| s.vars.iter().cloned()).collect();
        inside.extend(border.state.iter().cloned());
        let mut free = FreeVars::default();
        border.bound.iter().for_each(|v| free.bind(v));
        free.block(bwd);
        let need: Vec<Var> = free.vars.into_iter().filter(|v| inside.contains(v)).collect();
        let plan = residual::plan(&need, border.state, fwd, &self.consumed);

        let i = Atom::Var(border.index.clone());
        let mut head = Builder::new(self.scopes.last().map_or_else(Default::default, |s| s.b.span));
        let mut residuals: Vec<(Atom, Var)> = vec![];
        let ragged = |v: &Var| walk::ty_vars(v.ty()).iter().any(|s| inside.contains(s));
        let (packed, plain): (Vec<Var>, Vec<Var>) = plan.saved.into_iter().partition(ragged);
        let sizes = packed_sizes(&packed, &inside);
        for v in plain.iter().filter(|v| !sizes.contains(v)) {
            let atom = Atom::Var(v.clone());
            let known = border.outputs.iter().find(|(a, _)| *a == atom).map(|(_, t)| t.clone());
            let table = known.unwrap_or_else(|| {
                let table = Var::named("saved", Ty::table(border.size.clone(), v.ty().clone()));
                residuals.push((atom, table.clone()));
                table
            });
            let read = Expr::Index { table: table.into(), index: vec![i.clone()], check: false };
            head.emit(vec![v.clone()], read);
        }
        if !packed.is_empty() {
            let (pack, stmt) = pack_of(&sizes, &packed, head.span);
            fwd.push(stmt);
            let table = Var::named("saved", Ty::table(border.size.clone(), pack.ty().clone()));
            residuals.push((Atom::Var(pack), table.clone()));
            let read = head.index(&table.into(), std::slice::from_ref(&i), false);
            head.emit(sizes.iter().chain(&packed).cloned().collect(), Expr::Open(read));
        }
        let again = plan.again.into_iter().filter(|s| !s.vars.iter().any(|v| sizes.contains(v)));
        let stmts = head.stmts.into_iter().chain(again).chain(bwd.stmts.iter().cloned()).collect();
        // The same variables are now bound in forward and backward code: rename the latter.
        let block = Block { stmts, results: bwd.results.clone() };
        (walk::rename_block(&block, &mut Subst::new()), residuals)
    }

    pub(super) fn pull_case(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let Expr::Case { scrut, arms } = &stmt.expr else { unreachable!("a case") };
        let mut bars: Vec<Option<Atom>> = vec![];
        for (k, v) in stmt.vars.iter().enumerate() {
            let alias = self.activity.has(v) && self.is_choice(v, k, arms) || matches!(v.ty(), Ty::Acc(_));
            bars.push(if alias { None } else { self.bar(v) });
        }
        if bars.iter().all(Option::is_none) && !arms.iter().any(|a| self.writes(&a.body)) {
            return Ok(vec![stmt.clone()]);
        }
        let active = self.activity.atom(scrut);
        let scrut_acc = active && acc_mode(&scrut.ty());
        let acc = match scrut.var() {
            Some(v) if scrut_acc => Some(self.acc_of(&v.clone())),
            _ => None,
        };
        let mut parts = vec![];
        for (tag, arm) in (0_u32..).zip(arms) {
            parts.push(self.pull_arm(stmt, tag, arm, acc.as_ref(), &bars)?);
        }
        // Every branch gives the contributions of all branches, zero where it has none.
        let mut outer: Vec<Var> = vec![];
        for (v, _) in parts.iter().flat_map(|(_, s)| &s.outer) {
            if !outer.contains(v) {
                outer.push(v.clone());
            }
        }
        let by_value = active && !scrut_acc;
        let mut bwd_arms = vec![];
        for ((tag, arm), (_, scope)) in (0_u32..).zip(arms).zip(&mut parts) {
            let mut results = vec![];
            for v in &outer {
                let own = scope.outer.iter().find(|(w, _)| w == v).map(|(_, ct)| ct.clone());
                results.push(own.unwrap_or_else(|| zero(&mut scope.b, &tangent_of(v.ty()))));
            }
            if by_value {
                let ty = tangent_of(&scrut.ty());
                let mut args = vec![];
                for p in arm.params.iter().filter(|p| p.ty().is_active()) {
                    let ct = scope.cts.remove(p);
                    args.push(ct.unwrap_or_else(|| zero(&mut scope.b, &tangent_of(p.ty()))));
                }
                results.push(scope.b.bind(ty.clone(), Expr::Inject { ty, tag: tag + 1, args }));
            }
            bwd_arms.push(Block { stmts: std::mem::take(&mut scope.b.stmts), results });
        }
        let fwd_arms: Vec<Vec<Stmt>> = parts.into_iter().map(|(fwd, _)| fwd).collect();
        let (fwd, scrut_bwd, arms_bwd) = self.close_case(stmt, scrut, arms, fwd_arms, bwd_arms);

        let mut tys: Vec<Ty> = outer.iter().map(|v| tangent_of(v.ty())).collect();
        if by_value {
            tys.push(tangent_of(&scrut.ty()));
        }
        if tys.is_empty() && arms_bwd.iter().all(|a| a.body.stmts.is_empty()) {
            return Ok(vec![fwd]);
        }
        let mut cts = self.cur().b.bind_all(&tys, Expr::Case { scrut: scrut_bwd, arms: arms_bwd });
        if by_value && let Some(ct) = cts.pop() {
            self.add_ct(scrut, ct);
        }
        for (v, ct) in outer.into_iter().zip(cts) {
            self.add_ct(&Atom::Var(v), ct);
        }
        Ok(vec![fwd])
    }

    /// The backward code of one arm, in its scope.
    fn pull_arm(
        &mut self,
        stmt: &Stmt,
        tag: u32,
        arm: &Arm,
        acc: Option<&Atom>,
        bars: &[Option<Atom>],
    ) -> Result<(Vec<Stmt>, Scope), Error> {
        let mut scope = Scope::new(Kind::Arm, stmt.span);
        scope.own(&arm.params);
        let active: Vec<Var> = arm.params.iter().filter(|p| p.ty().is_active()).cloned().collect();
        let mut cells = vec![];
        if let Some(acc) = acc {
            let views: Vec<Var> =
                active.iter().map(|p| Var::new(Ty::Acc(Box::new(tangent_of(p.ty()))))).collect();
            scope.b.emit(views.clone(), Expr::AccPayload { acc: acc.clone(), tag: tag + 1 });
            for (p, view) in active.iter().zip(views) {
                if acc_mode(p.ty()) {
                    scope.accs.insert(p.clone(), Atom::Var(view));
                } else {
                    cells.push((p.clone(), view));
                }
            }
        }
        let (fwd, mut scope) = self.block(&arm.body, scope, bars)?;
        for (p, cell) in cells {
            if let Some(value) = scope.cts.remove(&p) {
                let add = Expr::AccAdd { acc: cell.into(), index: vec![], value, check: false };
                scope.b.emit(vec![], add);
            }
        }
        Ok((fwd, scope))
    }

    /// Ends a case: where its arms need nothing of their own in the backward code beyond what is cheap, the
    /// backward case tests the same scrutinee; else the forward case also gives a sum that holds what the
    /// branch taken saved, and the backward case takes that apart.
    fn close_case(
        &self,
        stmt: &Stmt,
        scrut: &Atom,
        arms: &[Arm],
        mut fwd: Vec<Vec<Stmt>>,
        bwd: Vec<Block>,
    ) -> (Stmt, Atom, Vec<Arm>) {
        let mut plans = vec![];
        let mut by_scrutinee = true;
        for ((arm, fwd), bwd) in arms.iter().zip(&fwd).zip(&bwd) {
            let inside: HashSet<Var> = fwd.iter().flat_map(|s| s.vars.iter().cloned()).collect();
            let need = walk::free_vars(bwd);
            let own: Vec<Var> = need.iter().filter(|v| inside.contains(v)).cloned().collect();
            let plan = residual::plan(&own, &[], fwd, &self.consumed);
            by_scrutinee &= plan.saved.is_empty();
            let all: Vec<Var> =
                need.into_iter().filter(|v| inside.contains(v) || arm.params.contains(v)).collect();
            plans.push((plan, all, inside));
        }
        if by_scrutinee {
            let mut out = vec![];
            for ((arm, bwd), (plan, _, _)) in arms.iter().zip(bwd).zip(plans) {
                let stmts = plan.again.into_iter().chain(bwd.stmts).collect();
                let mut map = Subst::new();
                let params = arm.params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
                let body = walk::rename_block(&Block { stmts, results: bwd.results }, &mut map);
                out.push(Arm { params, body });
            }
            let arms = arms.iter().zip(fwd).map(|(a, stmts)| Arm {
                params: a.params.clone(),
                body: Block { stmts, results: a.body.results.clone() },
            });
            let expr = Expr::Case { scrut: scrut.clone(), arms: arms.collect() };
            return (Stmt { expr, ..stmt.clone() }, scrut.clone(), out);
        }
        let mut alts = vec![];
        let mut bodies = vec![];
        for (((arm, fwd), bwd), (_, need, mut inside)) in arms.iter().zip(&mut fwd).zip(bwd).zip(plans) {
            inside.extend(arm.params.iter().cloned());
            let (saved, body) = self.save_arm(arm, fwd, &bwd, &need, &inside, stmt.span);
            alts.push(saved);
            bodies.push(body);
        }
        let ty = Ty::Sum(alts.iter().map(|a| a.iter().map(|v| v.ty().clone()).collect()).collect());
        let sum = Var::named("branch", ty.clone());
        let mut fwd_arms = vec![];
        for (tag, ((arm, mut stmts), saved)) in (0_u32..).zip(arms.iter().zip(fwd).zip(&alts)) {
            let made = Var::new(ty.clone());
            let args = saved.iter().map(Atom::from).collect();
            let expr = Expr::Inject { ty: ty.clone(), tag, args };
            stmts.push(Stmt { vars: vec![made.clone()], expr, span: stmt.span, dies: vec![] });
            let mut results = arm.body.results.clone();
            results.push(made.into());
            fwd_arms.push(Arm { params: arm.params.clone(), body: Block { stmts, results } });
        }
        let mut vars = stmt.vars.clone();
        vars.push(sum.clone());
        let expr = Expr::Case { scrut: scrut.clone(), arms: fwd_arms };
        (Stmt { vars, expr, ..stmt.clone() }, sum.into(), bodies)
    }

    /// What one arm saves in the sum, and its backward arm.
    fn save_arm(
        &self,
        arm: &Arm,
        fwd: &mut Vec<Stmt>,
        bwd: &Block,
        need: &[Var],
        inside: &HashSet<Var>,
        span: adl_diag::Span,
    ) -> (Vec<Var>, Arm) {
        let plan = residual::plan(need, &arm.params, fwd, &self.consumed);
        let ragged = |v: &Var| walk::ty_vars(v.ty()).iter().any(|s| inside.contains(s));
        let (packed, plain): (Vec<Var>, Vec<Var>) = plan.saved.into_iter().partition(ragged);
        let sizes = packed_sizes(&packed, inside);
        let mut saved: Vec<Var> = plain.into_iter().filter(|v| !sizes.contains(v)).collect();
        let mut head = Builder::new(span);
        let mut map = Subst::new();
        let mut params: Vec<Var> = saved.iter().map(|v| walk::rename_var(v, &mut map)).collect();
        if !packed.is_empty() {
            let (pack, stmt) = pack_of(&sizes, &packed, span);
            fwd.push(stmt);
            let param = walk::rename_var(&pack, &mut map);
            head.emit(sizes.iter().chain(&packed).cloned().collect(), Expr::Open((&pack).into()));
            saved.push(pack);
            params.push(param);
        }
        let again = plan.again.into_iter().filter(|s| !s.vars.iter().any(|v| sizes.contains(v)));
        let stmts = head.stmts.into_iter().chain(again).chain(bwd.stmts.iter().cloned()).collect();
        let body = walk::rename_block(&Block { stmts, results: bwd.results.clone() }, &mut map);
        (saved, Arm { params, body })
    }

    pub(super) fn pull_call(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let Expr::Call { func, args, checkpoint, .. } = &stmt.expr else { unreachable!("a call") };
        let bars: Vec<Option<Atom>> = stmt.vars.iter().map(|v| self.bar(v)).collect();
        let is_acc = |a: &Atom| matches!(a.ty(), Ty::Acc(_));
        let mask: Vec<bool> = args.iter().map(|a| self.activity.atom(a)).collect();
        let writes = args.iter().zip(&mask).any(|(a, on)| *on && is_acc(a));
        if bars.iter().all(Option::is_none) && !writes {
            return Ok(vec![stmt.clone()]);
        }
        let made = self.cx.reverse(*func, &mask)?;
        let fwd_func = self.cx.program.funcs[made.fwd.0 as usize].clone();
        let mut call = Builder::new(stmt.span);
        let outs = call.call(made.fwd, &fwd_func, args.clone());
        let residuals = &outs[stmt.vars.len()..];
        let fwd = if *checkpoint {
            // The forward function runs again in the backward code, for its residuals.
            self.cur().b.stmts.append(&mut call.stmts);
            stmt.clone()
        } else {
            let mut vars = stmt.vars.clone();
            let mut map: Subst =
                outs.iter().zip(&stmt.vars).filter_map(|(o, v)| Some((o.var()?.clone(), v.into()))).collect();
            let mut renamed = vec![];
            for r in residuals {
                renamed.push(walk::rename_var(r.var().expect("a fresh variable"), &mut map));
            }
            vars.extend(renamed);
            let expr = Expr::Call { func: made.fwd, tys: vec![], args: args.clone(), checkpoint: false };
            Stmt { vars, expr, ..stmt.clone() }
        };
        let mut bwd_args: Vec<Atom> = if *checkpoint {
            residuals.to_vec()
        } else {
            fwd.vars[stmt.vars.len()..].iter().map(Atom::from).collect()
        };
        for ((v, bar), on) in stmt.vars.iter().zip(bars).zip(&made.results) {
            if *on {
                bwd_args.push(match bar {
                    Some(ct) => ct,
                    None => zero(&mut self.cur().b, &tangent_of(v.ty())),
                });
            }
        }
        let on: Vec<Atom> = args.iter().zip(&mask).filter(|(_, on)| **on).map(|(a, _)| a.clone()).collect();
        for a in on.iter().filter(|a| !is_acc(a) && acc_mode(&a.ty())) {
            let v = a.var().expect("constants are not active").clone();
            bwd_args.push(self.acc_of(&v));
        }
        for a in on.iter().filter(|a| is_acc(a)) {
            let rd = self.rd_of_atom(a);
            let Ty::Acc(t) = tangent_of(&a.ty()) else { unreachable!("an accumulator") };
            bwd_args.push(match rd {
                Some(rd) => rd,
                None => zero(&mut self.cur().b, &t),
            });
        }
        let bwd_func = self.cx.program.funcs[made.bwd.0 as usize].clone();
        let cts = self.cur().b.call(made.bwd, &bwd_func, bwd_args);
        for (a, ct) in on.iter().filter(|a| !is_acc(a) && !acc_mode(&a.ty())).zip(cts) {
            self.add_ct(a, ct);
        }
        Ok(vec![fwd])
    }
}

/// Sizes, defined inside, that the types of these variables mention.
fn packed_sizes(packed: &[Var], inside: &HashSet<Var>) -> Vec<Var> {
    let mut sizes: Vec<Var> = vec![];
    for s in packed.iter().flat_map(|v| walk::ty_vars(v.ty())) {
        if inside.contains(&s) && !sizes.contains(&s) {
            sizes.push(s);
        }
    }
    sizes
}

/// A bundle of these variables and the sizes in their types, and the statement that builds it.
pub(super) fn pack_of(sizes: &[Var], items: &[Var], span: adl_diag::Span) -> (Var, Stmt) {
    let mut map = Subst::new();
    let binders: Vec<Var> = sizes.iter().map(|s| walk::rename_var(s, &mut map)).collect();
    let tys = items.iter().map(|v| walk::subst_ty(v.ty(), &map)).collect();
    let ty = Arc::new(PackTy { sizes: binders, items: tys });
    let pack = Var::named("pack", Ty::Pack(ty.clone()));
    let sizes = sizes.iter().map(Atom::from).collect();
    let expr = Expr::Pack { ty, sizes, items: items.iter().map(Atom::from).collect() };
    (pack.clone(), Stmt { vars: vec![pack], expr, span, dies: vec![] })
}
