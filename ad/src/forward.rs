//! Forward mode: each active variable also has its tangent, computed beside it.
//!
//! The shape of the program is kept: `for` gives tables of values and of tangents, loops carry both,
//! `case` chooses by the primal. A tangent that is statically zero is absent, and never made.

use std::collections::HashMap;

use adl_core::build::Builder;
use adl_core::bulk::{BulkDiff, Place};
use adl_core::ir::{Arm, Atom, Block, Expr, Func, FuncId, LoopKind, RedOp, Stmt, Var};
use adl_core::prim::{self, At, Diff, Partial, Prim};
use adl_core::ty::{Ix, Scalar, Ty};
use adl_core::walk::{self, Subst};

use crate::activity::Activity;
use crate::reverse::take_payload;
use crate::tangent::{add, take_apart, tangent_of, whole_ty, zero};
use crate::{Cx, Error, Forward, prepare};

impl Cx<'_> {
    pub(crate) fn forward(&mut self, id: FuncId, active: &[bool]) -> Result<Forward, Error> {
        let key = (id, active.to_vec());
        if let Some(known) = self.memo.forward.get(&key) {
            return Ok(known.clone());
        }
        if let Some(custom) = self.memo.custom.get(&id).cloned() {
            let made = self.custom_forward(id, active, custom)?;
            self.memo.forward.insert(key, made.clone());
            return Ok(made);
        }
        let results = self.call_activity(id, active)?.results;
        let func = prepare::prepare(&self.program.funcs[id.0 as usize]);
        let activity = self.activity(&func, active)?;
        let reserved = self.is_recursive(id).then(|| {
            let made =
                Forward { func: self.reserve_forward(&func, active, &results), results: results.clone() };
            self.memo.forward.insert(key.clone(), made.clone());
            made
        });
        let mut dual = Dual { cx: self, activity, tangents: HashMap::new(), b: Builder::new(func.span) };
        let made = dual.function(&func, active, &results)?;
        if let Some(reserved) = reserved {
            self.program.funcs[reserved.func.0 as usize] = made;
            return Ok(reserved);
        }
        let made = Forward { func: self.push(made), results };
        self.memo.forward.insert(key, made.clone());
        Ok(made)
    }

    /// The function by its signature, so that it can call itself.
    fn reserve_forward(&mut self, func: &Func, active: &[bool], results: &[bool]) -> FuncId {
        let on = |ty: &Ty, on: bool| (on && ty.is_active()).then(|| Var::new(tangent_of(ty)));
        let mut params = func.params.clone();
        params.extend(func.params.iter().zip(active).filter_map(|(p, active)| on(p.ty(), *active)));
        let mut outs = func.body.results.clone();
        let tangents = func.body.results.iter().zip(results).filter_map(|(r, active)| on(&r.ty(), *active));
        outs.extend(tangents.map(Atom::Var));
        self.reserve(&format!("{}_jvp", func.name), &params, &outs, func.span)
    }
}

struct Dual<'a, 'p> {
    cx: &'a mut Cx<'p>,
    activity: Activity,
    tangents: HashMap<Var, Atom>,
    b: Builder,
}

impl Dual<'_, '_> {
    fn function(&mut self, func: &Func, active: &[bool], results: &[bool]) -> Result<Func, Error> {
        let mut params = func.params.clone();
        for (p, _) in func.params.iter().zip(active).filter(|(p, on)| **on && p.ty().is_active()) {
            params.push(self.fresh(p));
        }
        let body = self.block(&func.body, results)?;
        let mut map = Subst::new();
        let params = params.iter().map(|p| walk::rename_var(p, &mut map)).collect();
        let body = walk::rename_block(&body, &mut map);
        Ok(Func { name: format!("{}_jvp", func.name), tparams: vec![], params, body, span: func.span })
    }

    /// A new variable for the tangent of `v`.
    fn fresh(&mut self, v: &Var) -> Var {
        let d = Var::named(&format!("d{}", v.name()), tangent_of(v.ty()));
        self.tangents.insert(v.clone(), Atom::Var(d.clone()));
        d
    }

    /// Fresh tangents of those that are active.
    fn fresh_all(&mut self, vars: &[Var]) -> Vec<Var> {
        vars.iter()
            .filter(|v| self.activity.has(v))
            .cloned()
            .collect::<Vec<_>>()
            .iter()
            .map(|v| self.fresh(v))
            .collect()
    }

    fn d(&self, a: &Atom) -> Option<Atom> {
        self.tangents.get(a.var()?).cloned()
    }

    fn d_or_zero(&mut self, a: &Atom) -> Atom {
        match self.d(a) {
            Some(d) => d,
            None => zero(&mut self.b, &tangent_of(&a.ty())),
        }
    }

    fn set(&mut self, v: &Var, d: Option<Atom>) {
        if let Some(d) = d {
            self.tangents.insert(v.clone(), d);
        }
    }

    /// The block with the tangents of the wanted results after its results.
    fn block(&mut self, block: &Block, want: &[bool]) -> Result<Block, Error> {
        let span = self.b.span;
        let outer = std::mem::replace(&mut self.b, Builder::new(span));
        for stmt in &block.stmts {
            self.b.span = stmt.span;
            self.stmt(stmt)?;
        }
        let mut results = block.results.clone();
        for (r, want) in block.results.iter().zip(want) {
            if *want {
                let d = self.d_or_zero(r);
                results.push(d);
            }
        }
        let inner = std::mem::replace(&mut self.b, outer);
        Ok(inner.finish(results))
    }

    /// Which variables of a statement are active.
    fn wants(&self, vars: &[Var]) -> Vec<bool> {
        vars.iter().map(|v| self.activity.has(v)).collect()
    }

    fn same(&mut self, stmt: &Stmt) {
        self.b.stmts.push(stmt.clone());
    }

    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Error> {
        match &stmt.expr {
            Expr::Prim(p, args) => {
                self.same(stmt);
                self.prim(*p, args, &stmt.vars[0]);
            }
            Expr::For { ix, var, body } => {
                let body = self.block(body, &self.wants(&stmt.vars))?;
                let vars = self.with_tangents(&stmt.vars);
                self.b.emit(vars, Expr::For { ix: ix.clone(), var: var.clone(), body });
            }
            Expr::Reduce { op, ix, var, body } => self.reduce(stmt, op, ix, var, body)?,
            Expr::Loop { .. } => self.looped(stmt)?,
            Expr::Case { scrut, arms } => self.case(stmt, scrut, arms)?,
            Expr::Call { .. } => self.call(stmt)?,
            Expr::AccAdd { acc, index, value, check } => {
                self.same(stmt);
                if let (Some(acc), Some(value)) = (self.d(acc), self.d(value)) {
                    let (index, check) = (index.clone(), *check);
                    self.b.emit(vec![], Expr::AccAdd { acc, index, value, check });
                }
            }
            Expr::AccNew(_) => {
                self.same(stmt);
                if self.activity.has(&stmt.vars[0]) {
                    let Ty::Acc(t) = tangent_of(stmt.vars[0].ty()) else { unreachable!("an accumulator") };
                    let d = self.fresh(&stmt.vars[0]);
                    self.b.emit(vec![d], Expr::AccNew(*t));
                }
            }
            Expr::Inject { tag, args, .. } => {
                self.same(stmt);
                self.like(stmt, |s, ty| {
                    let args = s.active_of(args);
                    Expr::Inject { ty, tag: tag + 1, args }
                });
            }
            Expr::AccInj { tag, accs, .. } => {
                self.same(stmt);
                self.like(stmt, |s, ty| {
                    let Ty::Acc(ty) = ty else { unreachable!("an accumulator") };
                    Expr::AccInj { ty: *ty, tag: tag + 1, accs: s.active_of(accs) }
                });
            }
            Expr::AccPayload { acc, tag } => {
                self.same(stmt);
                if let Some(acc) = self.d(acc) {
                    let vars = stmt.vars.iter().map(|v| self.fresh(v)).collect();
                    self.b.emit(vars, Expr::AccPayload { acc, tag: tag + 1 });
                }
            }
            Expr::TableLit { items, .. } => {
                self.same(stmt);
                self.like(stmt, |s, ty| {
                    let Ty::Table(_, elem) = ty else { unreachable!("a table") };
                    Expr::TableLit { elem: *elem, items: s.active_of(items) }
                });
            }
            Expr::Pack { ty, sizes, items } => {
                self.same(stmt);
                self.like(stmt, |s, sum| {
                    let ty = ty.tangent();
                    let items = s.active_of(items);
                    let pack = Expr::Pack { ty: ty.clone(), sizes: sizes.clone(), items };
                    let pack = s.b.bind(Ty::Pack(ty), pack);
                    Expr::Inject { ty: sum, tag: 1, args: vec![pack] }
                });
            }
            Expr::BoxNew { args, .. } => {
                self.same(stmt);
                self.like(stmt, |s, ty| {
                    let args = s.active_of(args);
                    let cell = whole_ty(&ty);
                    let Ty::Box(kind) = cell else { unreachable!("a cell") };
                    let cell = s.b.bind(cell, Expr::BoxNew { ty: kind, args });
                    Expr::Inject { ty, tag: 1, args: vec![cell] }
                });
            }
            Expr::Open(p) | Expr::Unbox(p) => {
                self.same(stmt);
                if let Some(d) = self.d(p) {
                    self.taken_apart(&d, &stmt.vars);
                }
            }
            Expr::Update { table, index, value, check } => {
                self.same(stmt);
                self.like(stmt, |s, _| {
                    let (table, value) = (s.d_or_zero(table), s.d_or_zero(value));
                    Expr::Update { table, index: index.clone(), value, check: *check }
                });
            }
            Expr::Contract { a, b, spec } => {
                self.same(stmt);
                let ty = stmt.vars[0].ty().clone();
                let one = |s: &mut Self, a: Atom, b: Atom| {
                    s.b.bind(ty.clone(), Expr::Contract { a, b, spec: spec.clone() })
                };
                let first = self.d(a).map(|da| one(self, da, b.clone()));
                let second = self.d(b).map(|db| one(self, a.clone(), db));
                let d = self.sum(first, second);
                self.set(&stmt.vars[0], d);
            }
            Expr::Bulk(row, args) => {
                self.same(stmt);
                let tangents: Vec<Option<Atom>> = args[row.0.ints..].iter().map(|a| self.d(a)).collect();
                if let BulkDiff::Rule { jvp, .. } = row.0.diff
                    && tangents.iter().any(Option::is_some)
                {
                    let result = Atom::from(&stmt.vars[0]);
                    let d = jvp(&mut self.b, &Place { args, result: &result }, &tangents);
                    self.set(&stmt.vars[0], Some(d));
                }
            }
            Expr::AddCt(x, y) => {
                self.same(stmt);
                let d = self.sum(self.d(x), self.d(y));
                self.set(&stmt.vars[0], d);
            }
            Expr::Dup(x) => {
                self.same(stmt);
                for v in &stmt.vars {
                    let d = self.d(x);
                    self.set(v, d);
                }
            }
            Expr::Atom(_)
            | Expr::Index { .. }
            | Expr::AccView { .. }
            | Expr::AccFreeze(_)
            | Expr::AccFrom(_) => {
                self.same(stmt);
                self.unary(stmt);
            }
            Expr::Zero(_) | Expr::Drop(_) | Expr::Effect(_) | Expr::Show { .. } => self.same(stmt),
            Expr::Prefix { .. } => unreachable!("`prepare` made prefixes loops"),
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
        Ok(())
    }

    /// The same form on the tangent of its first operand.
    fn unary(&mut self, stmt: &Stmt) {
        let operand = match &stmt.expr {
            Expr::Atom(a)
            | Expr::AccFreeze(a)
            | Expr::AccFrom(a)
            | Expr::Index { table: a, .. }
            | Expr::AccView { acc: a, .. } => a.clone(),
            other => unreachable!("not unary: {other:?}"),
        };
        let Some(d) = self.d(&operand) else { return };
        let expr = match stmt.expr.clone() {
            Expr::Atom(_) => Expr::Atom(d),
            Expr::AccFreeze(_) => Expr::AccFreeze(d),
            Expr::AccFrom(_) => Expr::AccFrom(d),
            Expr::Index { index, check, .. } => Expr::Index { table: d, index, check },
            Expr::AccView { index, check, .. } => Expr::AccView { acc: d, index, check },
            other => unreachable!("not unary: {other:?}"),
        };
        let v = self.fresh(&stmt.vars[0]);
        self.b.emit(vec![v], expr);
    }

    /// A form of the same kind on tangents, where the statement is active.
    fn like(&mut self, stmt: &Stmt, expr: impl FnOnce(&mut Self, Ty) -> Expr) {
        let v = &stmt.vars[0];
        if self.activity.has(v) {
            let expr = expr(self, tangent_of(v.ty()));
            let d = self.fresh(v);
            self.b.emit(vec![d], expr);
        }
    }

    /// The tangents of what is in a pack or cell; zeros where its tangent is `zero`.
    fn taken_apart(&mut self, d: &Atom, vars: &[Var]) {
        let items: Vec<Var> = vars.iter().filter(|v| v.ty().is_active()).cloned().collect();
        let tys: Vec<Ty> = items.iter().map(|v| tangent_of(v.ty())).collect();
        let nothing = self.b.block(|b| tys.iter().map(|t| zero(b, t)).collect());
        let whole = Var::new(whole_ty(&d.ty()));
        let body = self.b.block(|b| take_apart(b, &(&whole).into(), &tys));
        let arms = vec![Arm { params: vec![], body: nothing }, Arm { params: vec![whole], body }];
        let vars = items.iter().map(|v| self.fresh(v)).collect();
        self.b.emit(vars, Expr::Case { scrut: d.clone(), arms });
    }

    /// Tangents of the operands whose type has them.
    fn active_of(&mut self, args: &[Atom]) -> Vec<Atom> {
        args.iter().filter(|a| a.ty().is_active()).map(|a| self.d_or_zero(a)).collect()
    }

    fn sum(&mut self, x: Option<Atom>, y: Option<Atom>) -> Option<Atom> {
        match (x, y) {
            (Some(x), Some(y)) => Some(add(&mut self.b, x, y)),
            (one, None) | (None, one) => one,
        }
    }

    fn with_tangents(&mut self, vars: &[Var]) -> Vec<Var> {
        let tangents = self.fresh_all(vars);
        vars.iter().cloned().chain(tangents).collect()
    }

    /// `dy = Σ ∂_j(x)·dx_j`.
    fn prim(&mut self, p: Prim, args: &[Atom], y: &Var) {
        let Diff::Partials(partials) = p.0.diff else { return };
        let at_y = Atom::Var(y.clone());
        let width = y.ty().scalar();
        let mut total = None;
        for (k, partial) in partials.iter().enumerate() {
            let (Some(d), Some(s)) = (self.d(&args[k]), args[k].ty().scalar()) else { continue };
            let term = match *partial {
                Partial::Zero => continue,
                Partial::One => self.in_width(d, width),
                Partial::MinusOne => self.b.prim(&prim::NEG, &[d]),
                Partial::Expr(build) => {
                    let partial = build(&mut self.b, &At { x: args, y: &at_y, s });
                    self.b.prim(&prim::MUL, &[partial, d])
                }
            };
            total = self.sum(total, Some(term));
        }
        self.set(y, total);
    }

    fn in_width(&mut self, d: Atom, width: Option<Scalar>) -> Atom {
        match (d.ty().scalar(), width) {
            (Some(Scalar::F64), Some(Scalar::F32)) => self.b.prim(&prim::NARROW, &[d]),
            (Some(Scalar::F32), Some(Scalar::F64)) => self.b.prim(&prim::WIDEN, &[d]),
            _ => d,
        }
    }

    fn reduce(&mut self, stmt: &Stmt, op: &RedOp, ix: &Ix, var: &Var, body: &Block) -> Result<(), Error> {
        let wants = self.wants(&stmt.vars);
        if !wants.contains(&true) {
            self.same(stmt);
            return Ok(());
        }
        match op {
            RedOp::Sum => {
                let body = self.block(body, &wants)?;
                let vars = self.with_tangents(&stmt.vars);
                let (op, ix, var) = (op.clone(), ix.clone(), var.clone());
                self.b.emit(vars, Expr::Reduce { op, ix, var, body });
            }
            RedOp::Prod | RedOp::Min | RedOp::Max => {
                self.same(stmt);
                self.weighted(stmt, op, ix, var, body, &wants)?;
            }
            RedOp::And | RedOp::Or | RedOp::Custom { .. } => {
                unreachable!("not active, or made a loop by `prepare`")
            }
        }
        Ok(())
    }

    /// Products and extrema: the tangent is a sum of the elements' tangents with weights (the product of
    /// the others; the share among ties).
    fn weighted(
        &mut self,
        stmt: &Stmt,
        op: &RedOp,
        ix: &Ix,
        var: &Var,
        body: &Block,
        wants: &[bool],
    ) -> Result<(), Error> {
        let Ix::Fin(size) = ix else { unreachable!("first-order index sets are sizes") };
        let dual = self.block(body, wants)?;
        let n = body.results.len();
        for (at, (k, v)) in (n..).zip(stmt.vars.iter().enumerate().filter(|(k, _)| wants[*k])) {
            let s = v.ty().scalar().expect("elements are scalars");
            let mut map = Subst::new();
            let i = walk::rename_var(var, &mut map);
            let copy = walk::rename_block(&dual, &mut map);
            let (x, dx) = (copy.results[k].clone(), copy.results[at].clone());
            let d = if *op == RedOp::Prod {
                self.product_rule(size, &i, copy.stmts, x, dx, s)
            } else {
                let mut inner = Builder { stmts: copy.stmts, span: stmt.span };
                let tie = inner.prim(&prim::EQ, &[x, v.into()]);
                let one = inner.float_of(tie.clone(), s);
                let dx = inner.select(tie, dx, Atom::float(s, 0.0));
                let body = inner.finish(vec![one, dx]);
                let expr = Expr::Reduce { op: RedOp::Sum, ix: ix.clone(), var: i, body };
                let sums = self.b.bind_all(&[Ty::Scalar(s), Ty::Scalar(s)], expr);
                self.b.prim(&prim::DIV, &[sums[1].clone(), sums[0].clone()])
            };
            self.set(v, Some(d));
        }
        Ok(())
    }

    /// `(p, dp) ← (p·x, dp·x + p·dx)`.
    fn product_rule(&mut self, size: &Atom, i: &Var, stmts: Vec<Stmt>, x: Atom, dx: Atom, s: Scalar) -> Atom {
        let state: Vec<Var> = (0..2).map(|_| Var::new(Ty::Scalar(s))).collect();
        let (p, dp) = (Atom::from(&state[0]), Atom::from(&state[1]));
        let mut inner = Builder { stmts, span: self.b.span };
        let first = inner.prim(&prim::MUL, &[dp, x.clone()]);
        let second = inner.prim(&prim::MUL, &[p.clone(), dx]);
        let next = inner.prim(&prim::ADD, &[first, second]);
        let product = inner.prim(&prim::MUL, &[p, x]);
        let body = inner.finish(vec![product, next]);
        let kind = LoopKind::For { ix: Ix::Fin(size.clone()), var: i.clone(), reverse: false };
        let init = vec![Atom::float(s, 1.0), Atom::float(s, 0.0)];
        let expr = Expr::Loop { kind, state, init, body, keep: adl_core::ir::Keep::All };
        self.b.bind_all(&[Ty::Scalar(s), Ty::Scalar(s)], expr).swap_remove(1)
    }

    fn looped(&mut self, stmt: &Stmt) -> Result<(), Error> {
        let Expr::Loop { kind, state, init, body, keep } = &stmt.expr else { unreachable!("a loop") };
        let n = state.len();
        let counted = usize::from(matches!(kind, LoopKind::While { .. }));
        let mut init = init.clone();
        for (s, x) in state.iter().zip(init.clone()) {
            if self.activity.has(s) {
                init.push(self.d_or_zero(&x));
            }
        }
        let full_state = self.with_tangents(state);
        let (finals, rest) = stmt.vars.split_at(n);
        let collected = &rest[counted..];
        let kind = match kind {
            LoopKind::For { .. } => kind.clone(),
            LoopKind::While { params, cond } => {
                // The condition reads primal values only.
                let extra = full_state[n..].iter().map(|v| Var::new(v.ty().clone()));
                LoopKind::While { params: params.iter().cloned().chain(extra).collect(), cond: cond.clone() }
            }
        };
        let mut want: Vec<bool> = state.iter().map(|s| self.activity.has(s)).collect();
        want.extend(self.wants(collected));
        let body = self.block(body, &want)?;
        // Order of a loop's results: states with their tangents first, then what is collected.
        let (values, tangents) = body.results.split_at(n + collected.len());
        let n_dstate = full_state.len() - n;
        let mut results = values[..n].to_vec();
        results.extend_from_slice(&tangents[..n_dstate]);
        results.extend_from_slice(&values[n..]);
        results.extend_from_slice(&tangents[n_dstate..]);
        let body = Block { stmts: body.stmts, results };
        // A state may become active only inside the loop; its final value then is active as well.
        let mut vars = finals.to_vec();
        for (s, v) in state.iter().zip(finals) {
            if self.activity.has(s) {
                vars.push(self.fresh(v));
            }
        }
        vars.extend_from_slice(&rest[..counted]);
        let collected = self.with_tangents(collected);
        vars.extend(collected);
        self.b.emit(vars, Expr::Loop { kind, state: full_state, init, body, keep: *keep });
        Ok(())
    }

    fn case(&mut self, stmt: &Stmt, scrut: &Atom, arms: &[Arm]) -> Result<(), Error> {
        let wants = self.wants(&stmt.vars);
        let dscrut = self.d(scrut);
        let mut duals = vec![];
        for (tag, arm) in (0_u32..).zip(arms) {
            let mut head = vec![];
            if let Some(ds) = &dscrut {
                let active: Vec<Var> = arm.params.iter().filter(|p| p.ty().is_active()).cloned().collect();
                let tys: Vec<Ty> = active.iter().map(|p| tangent_of(p.ty())).collect();
                let mut b = Builder::new(stmt.span);
                if !active.is_empty() {
                    let parts = take_payload(&mut b, ds, tag + 1, &tys);
                    for (p, d) in active.iter().zip(parts) {
                        self.set(p, Some(d));
                    }
                }
                head = b.stmts;
            }
            let Block { stmts, results } = self.block(&arm.body, &wants)?;
            head.extend(stmts);
            duals.push(Arm { params: arm.params.clone(), body: Block { stmts: head, results } });
        }
        let vars = self.with_tangents(&stmt.vars);
        self.b.emit(vars, Expr::Case { scrut: scrut.clone(), arms: duals });
        Ok(())
    }

    fn call(&mut self, stmt: &Stmt) -> Result<(), Error> {
        let Expr::Call { func, args, .. } = &stmt.expr else { unreachable!("a call") };
        let mask: Vec<bool> = args.iter().map(|a| self.activity.atom(a)).collect();
        if !mask.contains(&true) {
            self.same(stmt);
            return Ok(());
        }
        let made = self.cx.forward(*func, &mask)?;
        let mut all = args.clone();
        for (a, _) in args.iter().zip(&mask).filter(|(_, on)| **on) {
            let d = self.d_or_zero(a);
            all.push(d);
        }
        let mut vars = stmt.vars.clone();
        for (v, _) in stmt.vars.iter().zip(&made.results).filter(|(_, on)| **on) {
            vars.push(self.fresh(v));
        }
        let expr = Expr::Call { func: made.func, tys: vec![], args: all, checkpoint: false };
        self.b.emit(vars, expr);
        Ok(())
    }
}
