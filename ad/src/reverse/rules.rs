//! Backward code of straight-line forms: primitives, tables, sums, packs, contractions, reductions.

use adl_core::bulk::{BulkDiff, Place};
use adl_core::ir::{Arm, Atom, Axes, Block, Expr, RedOp, Stmt, Var};
use adl_core::prim::{self, At, Diff, Partial, Prim};
use adl_core::ty::{INT, Ix, Ty};

use super::Rev;
use super::control::Border;
use super::scope::{Kind, Scope};
use crate::Error;
use crate::tangent::{acc_mode, take_apart, tangent_of, whole_ty, zero};

/// What each round of a loop saves, and the table it goes to.
pub(super) type Saved = Vec<(Atom, Var)>;

impl Rev<'_, '_> {
    /// `x̄_j += ∂_j(x)·ȳ`.
    pub(super) fn pull_prim(&mut self, p: Prim, args: &[Atom], y: &Var) {
        let Some(ct) = self.bar(y) else { return };
        let Diff::Partials(partials) = p.0.diff else { return };
        let at_y = Atom::Var(y.clone());
        for (k, partial) in partials.iter().enumerate() {
            let Some(s) = args[k].ty().scalar().filter(|s| s.is_float()) else { continue };
            if !self.activity.atom(&args[k]) {
                continue;
            }
            // The cotangent has the width of the result, the contribution that of the operand.
            let b = &mut self.cur().b;
            let ct = match *partial {
                Partial::Zero => continue,
                Partial::One => ct.clone(),
                Partial::MinusOne => b.prim(&prim::NEG, std::slice::from_ref(&ct)),
                Partial::Expr(build) => {
                    let d = build(b, &At { x: args, y: &at_y, s });
                    b.prim(&prim::MUL, &[ct.clone(), d])
                }
            };
            let ct = to_width(&mut self.cur().b, ct, s);
            self.add_ct(&args[k], ct);
        }
    }

    /// Backward code of forms that build, select and move.
    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    pub(super) fn pull_structure(&mut self, stmt: &Stmt) {
        let y = stmt.vars.first();
        match &stmt.expr {
            Expr::Atom(x) => {
                if let Some(ct) = y.and_then(|y| self.bar_unless_alias(y)) {
                    self.add_ct(x, ct);
                }
            }
            Expr::Dup(x) => {
                for y in &stmt.vars {
                    if let Some(ct) = self.bar(y) {
                        self.add_ct(x, ct);
                    }
                }
            }
            Expr::AddCt(x, z) => {
                if let Some(ct) = y.and_then(|y| self.bar(y)) {
                    self.add_ct(x, ct.clone());
                    self.add_ct(z, ct);
                }
            }
            Expr::Index { table, index, check } => {
                let y = &stmt.vars[0];
                if acc_mode(y.ty()) {
                    return; // a view: contributions are in the table's accumulator already
                }
                if let Some(ct) = self.bar(y)
                    && let Some(t) = table.var().cloned()
                {
                    let acc = self.acc_of(&t);
                    // The primal read may be dead, and its check with it.
                    self.emit(Expr::AccAdd { acc, index: index.clone(), value: ct, check: *check });
                }
            }
            Expr::Update { table, index, value, check } => {
                let Some(ct) = self.bar(&stmt.vars[0]) else { return };
                if self.activity.atom(value) {
                    let part = self.cur().b.index(&ct, index, *check);
                    self.add_ct(value, part);
                }
                if self.activity.atom(table) {
                    // What was overwritten does not count: read, clear, pass on.
                    let t = tangent_of(&value.ty());
                    let b = &mut self.cur().b;
                    let zero = zero(b, &t);
                    let update =
                        Expr::Update { table: ct.clone(), index: index.clone(), value: zero, check: *check };
                    let rest = b.bind(ct.ty(), update);
                    self.add_ct(table, rest);
                }
            }
            Expr::TableLit { items, .. } => {
                let Some(ct) = self.bar(&stmt.vars[0]) else { return };
                for (k, x) in items.iter().enumerate() {
                    if self.activity.atom(x) {
                        let k = Atom::int(i64::try_from(k).expect("few items"));
                        let part = self.cur().b.index(&ct, &[k], false);
                        self.add_ct(x, part);
                    }
                }
            }
            Expr::Contract { a, b, spec } => {
                let Some(ct) = self.bar(&stmt.vars[0]) else { return };
                let back = |other: &[u8], this: &[u8]| Axes {
                    a: spec.out.clone(),
                    b: other.to_vec(),
                    out: this.to_vec(),
                };
                for (x, other, spec) in [(a, b, back(&spec.b, &spec.a)), (b, a, back(&spec.a, &spec.b))] {
                    if self.activity.atom(x) {
                        let contract = Expr::Contract { a: ct.clone(), b: other.clone(), spec };
                        let part = self.cur().b.bind(tangent_of(&x.ty()), contract);
                        self.add_ct(x, part);
                    }
                }
            }
            Expr::Bulk(row, args) => {
                let Some(ct) = self.bar(&stmt.vars[0]) else { return };
                let BulkDiff::Rule { vjp, .. } = row.0.diff else { return };
                let tables = &args[row.0.ints..];
                let wanted: Vec<bool> = tables.iter().map(|a| self.activity.atom(a)).collect();
                let result = Atom::from(&stmt.vars[0]);
                let b = &mut self.cur().b;
                let parts = vjp(b, &Place { args, result: &result }, &ct, &wanted);
                for (x, part) in tables.iter().zip(parts) {
                    if let Some(part) = part {
                        self.add_ct(x, part);
                    }
                }
            }
            Expr::Inject { tag, args, .. } => self.pull_inject(&stmt.vars[0], *tag, args),
            Expr::Pack { items, .. } | Expr::BoxNew { args: items, .. } => {
                self.pull_whole(&stmt.vars[0], items)
            }
            Expr::Open(p) | Expr::Unbox(p) => self.pull_parts(p, &stmt.vars),
            other => unreachable!("not structural: {other:?}"),
        }
    }

    /// The cotangent of a copy; nothing where the copy is an alias of an accumulator.
    fn bar_unless_alias(&mut self, y: &Var) -> Option<Atom> {
        if acc_mode(y.ty()) { None } else { self.bar(y) }
    }

    /// The cotangent of a pack or cell is taken apart where it is not `zero`.
    fn pull_whole(&mut self, y: &Var, items: &[Atom]) {
        let Some(ct) = self.bar(y) else { return };
        let active: Vec<&Atom> = items.iter().filter(|x| x.ty().is_active()).collect();
        let mut accs = vec![];
        for x in active.iter().filter(|x| acc_mode(&x.ty())) {
            let v = x.var().filter(|v| self.activity.has(v)).cloned();
            accs.push(v.map(|v| self.acc_of(&v)));
        }
        let single: Vec<&Atom> = active.iter().filter(|x| !acc_mode(&x.ty())).copied().collect();
        let tys: Vec<Ty> = single.iter().map(|x| tangent_of(&x.ty())).collect();
        let all: Vec<Ty> = active.iter().map(|x| tangent_of(&x.ty())).collect();
        let b = &mut self.cur().b;
        let nothing = b.block(|b| tys.iter().map(|t| zero(b, t)).collect());
        let whole = Var::new(whole_ty(&ct.ty()));
        let body = b.block(|b| {
            let parts = take_apart(b, &(&whole).into(), &all);
            let mut accs = accs.into_iter();
            let mut results = vec![];
            for (x, part) in active.iter().zip(parts) {
                if !acc_mode(&x.ty()) {
                    results.push(part);
                } else if let Some(Some(acc)) = accs.next() {
                    b.emit(vec![], Expr::AccAdd { acc, index: vec![], value: part, check: false });
                }
            }
            results
        });
        let arms = vec![Arm { params: vec![], body: nothing }, Arm { params: vec![whole], body }];
        let cts = b.bind_all(&tys, Expr::Case { scrut: ct, arms });
        for (x, ct) in single.into_iter().zip(cts) {
            self.add_ct(x, ct);
        }
    }

    /// The cotangents of what was in a pack or cell become one.
    fn pull_parts(&mut self, p: &Atom, vars: &[Var]) {
        if !self.activity.atom(p) {
            return;
        }
        let n_sizes = if let Ty::Pack(ty) = p.ty() { ty.sizes.len() } else { 0 };
        let (sizes, items) = vars.split_at(n_sizes);
        let bars: Vec<(Option<Atom>, Ty)> =
            items.iter().filter(|v| v.ty().is_active()).map(|v| (self.bar(v), tangent_of(v.ty()))).collect();
        if bars.iter().all(|(bar, _)| bar.is_none()) {
            return;
        }
        let b = &mut self.cur().b;
        let items = bars.into_iter().map(|(bar, t)| bar.unwrap_or_else(|| zero(b, &t))).collect();
        let ty = tangent_of(&p.ty());
        let whole = whole_ty(&ty);
        let expr = match &whole {
            Ty::Pack(ty) => {
                Expr::Pack { ty: ty.clone(), sizes: sizes.iter().map(Atom::from).collect(), items }
            }
            Ty::Box(ty) => Expr::BoxNew { ty: *ty, args: items },
            other => unreachable!("no pack and no cell: {other:?}"),
        };
        let whole = b.bind(whole, expr);
        let ct = b.bind(ty.clone(), Expr::Inject { ty, tag: 1, args: vec![whole] });
        self.add_ct(p, ct);
    }

    fn pull_inject(&mut self, y: &Var, tag: u32, args: &[Atom]) {
        if acc_mode(y.ty()) {
            let cells = &mut self.cur().payload_cells;
            let Some(at) = cells.iter().position(|(v, _)| v == y) else { return };
            let (_, cells) = cells.remove(at);
            self.cur().accs.remove(y);
            for (x, cell) in cells {
                let ct = self.cur().b.bind(tangent_of(&x.ty()), Expr::AccFreeze(cell));
                self.add_ct(&x, ct);
            }
            return;
        }
        let Some(ct) = self.bar(y) else { return };
        let active: Vec<&Atom> = args.iter().filter(|x| x.ty().is_active()).collect();
        if !active.iter().any(|x| self.activity.atom(x)) {
            return;
        }
        let tys: Vec<Ty> = active.iter().map(|x| tangent_of(&x.ty())).collect();
        let parts = take_payload(&mut self.cur().b, &ct, tag + 1, &tys);
        for (x, part) in active.into_iter().zip(parts) {
            self.add_ct(x, part);
        }
    }

    /// Sums spread the cotangent; products and extrema follow their rules (elements are in a table).
    pub(super) fn pull_reduce(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>, Error> {
        let Expr::Reduce { op, ix, var, body } = &stmt.expr else { unreachable!("a reduction") };
        let bars: Vec<Option<Atom>> = stmt.vars.iter().map(|v| self.bar(v)).collect();
        if bars.iter().all(Option::is_none) && !self.writes(body) {
            return Ok(vec![stmt.clone()]);
        }
        let Ix::Fin(size) = ix else { unreachable!("first-order index sets are sizes") };
        match op {
            RedOp::Sum => self.pull_body(stmt, size, var, body, |_, _| bars.clone()),
            RedOp::Prod => {
                let others: Vec<Option<(Atom, Atom)>> = (0..bars.len())
                    .map(|k| bars[k].is_some().then(|| self.products_of_others(size, var, body, k)))
                    .collect();
                self.pull_body(stmt, size, var, body, |rev, i| {
                    let b = &mut rev.cur().b;
                    let each = bars.iter().zip(&others).map(|(bar, others)| {
                        let ((left, right), bar) = (others.as_ref()?, bar.clone()?);
                        let left = b.index(left, std::slice::from_ref(i), false);
                        let right = b.index(right, std::slice::from_ref(i), false);
                        let rest = b.prim(&prim::MUL, &[left, right]);
                        Some(b.prim(&prim::MUL, &[bar, rest]))
                    });
                    each.collect()
                })
            }
            RedOp::Min | RedOp::Max => {
                let shares: Vec<Option<Atom>> = (0..bars.len())
                    .map(|k| {
                        bars[k].clone().map(|bar| self.share_of_ties(size, var, body, &stmt.vars[k], k, bar))
                    })
                    .collect();
                self.pull_body(stmt, size, var, body, |rev, _| {
                    let b = &mut rev.cur().b;
                    let each = shares.iter().enumerate().map(|(k, share)| {
                        let share = share.clone()?;
                        let s = share.ty().scalar()?;
                        let tie =
                            b.prim(&prim::EQ, &[body.results[k].clone(), Atom::Var(stmt.vars[k].clone())]);
                        Some(b.select(tie, share, Atom::float(s, 0.0)))
                    });
                    each.collect()
                })
            }
            RedOp::And | RedOp::Or => Ok(vec![stmt.clone()]),
            RedOp::Custom { .. } => unreachable!("`prepare` made general reductions loops"),
        }
    }

    /// The backward loop of a reduction, whose body results have the cotangents that `cts` gives inside.
    fn pull_body(
        &mut self,
        stmt: &Stmt,
        size: &Atom,
        var: &Var,
        body: &Block,
        cts: impl FnOnce(&mut Self, &Atom) -> Vec<Option<Atom>>,
    ) -> Result<Vec<Stmt>, Error> {
        let Expr::Reduce { op, ix, .. } = &stmt.expr else { unreachable!("a reduction") };
        let (fwd, residuals) = self.loop_body(stmt.span, size, var, body, &[], cts)?;
        if residuals.is_empty() {
            let body = Block { stmts: fwd, results: body.results.clone() };
            let expr = Expr::Reduce { op: op.clone(), ix: ix.clone(), var: var.clone(), body };
            return Ok(vec![Stmt { expr, ..stmt.clone() }]);
        }
        // Residuals need a table: elements first, then the reduction of the tables.
        let mut b = adl_core::build::Builder::new(stmt.span);
        let mut results = body.results.clone();
        let mut tables: Vec<Var> =
            results.iter().map(|r| Var::new(Ty::table(size.clone(), r.ty()))).collect();
        let n = tables.len();
        for (saved, table) in residuals {
            results.push(saved);
            tables.push(table);
        }
        let body = Block { stmts: fwd, results };
        b.emit(tables.clone(), Expr::For { ix: ix.clone(), var: var.clone(), body });
        let i = Var::named("i", INT);
        let read = b.block(|b| {
            tables[..n].iter().map(|t| b.index(&t.into(), &[Atom::Var(i.clone())], false)).collect()
        });
        b.emit(stmt.vars.clone(), Expr::Reduce { op: op.clone(), ix: ix.clone(), var: i, body: read });
        Ok(b.stmts)
    }

    /// For each element the products of those left of it and of those right of it: exact at zeros, and
    /// for all orders.
    fn products_of_others(&mut self, size: &Atom, var: &Var, body: &Block, k: usize) -> (Atom, Atom) {
        let ty = body.results[k].ty();
        let s = ty.scalar().expect("a product of scalars");
        let b = &mut self.cur().b;
        let mut side = |reverse: bool| {
            let mut map = adl_core::walk::Subst::new();
            let var = adl_core::walk::rename_var(var, &mut map);
            let copy = adl_core::walk::rename_block(body, &mut map);
            let state = Var::new(ty.clone());
            let next = Var::new(ty.clone());
            let mul = Expr::Prim(Prim(&prim::MUL), vec![(&state).into(), copy.results[k].clone()]);
            let mut stmts = copy.stmts;
            stmts.push(Stmt { vars: vec![next.clone()], expr: mul, span: b.span, dies: vec![] });
            let results = vec![Atom::Var(next), Atom::Var(state.clone())];
            let kind = adl_core::ir::LoopKind::For { ix: Ix::Fin(size.clone()), var, reverse };
            let body = Block { stmts, results };
            let expr = Expr::Loop {
                kind,
                state: vec![state],
                init: vec![Atom::float(s, 1.0)],
                body,
                keep: adl_core::ir::Keep::All,
            };
            b.bind_all(&[ty.clone(), Ty::table(size.clone(), ty.clone())], expr).swap_remove(1)
        };
        (side(false), side(true))
    }

    /// The cotangent of an extremum divided by the number of elements that reach it.
    fn share_of_ties(&mut self, size: &Atom, var: &Var, body: &Block, y: &Var, k: usize, bar: Atom) -> Atom {
        let s = bar.ty().scalar().expect("an extremum of scalars");
        let mut map = adl_core::walk::Subst::new();
        let var = adl_core::walk::rename_var(var, &mut map);
        let copy = adl_core::walk::rename_block(body, &mut map);
        let b = &mut self.cur().b;
        let mut inner = adl_core::build::Builder::new(b.span);
        inner.stmts = copy.stmts;
        let tie = inner.prim(&prim::EQ, &[copy.results[k].clone(), y.into()]);
        let one = inner.float_of(tie, s);
        let body = inner.finish(vec![one]);
        let reduce = Expr::Reduce { op: RedOp::Sum, ix: Ix::Fin(size.clone()), var, body };
        let count = b.bind(Ty::Scalar(s), reduce);
        b.prim(&prim::DIV, &[bar, count])
    }

    /// The backward `for` of a body: emits it in the current scope, and gives the forward statements of the
    /// body with what each iteration saves and the table it is saved to.
    pub(super) fn loop_body(
        &mut self,
        span: adl_diag::Span,
        size: &Atom,
        var: &Var,
        body: &Block,
        outputs: &[(Atom, Var)],
        cts: impl FnOnce(&mut Self, &Atom) -> Vec<Option<Atom>>,
    ) -> Result<(Vec<Stmt>, Saved), Error> {
        let mut scope = Scope::new(Kind::Loop, span);
        scope.own(std::slice::from_ref(var));
        self.scopes.push(scope);
        let cts = cts(self, &Atom::Var(var.clone()));
        let scope = self.scopes.pop().expect("the scope pushed above");
        let (mut fwd, mut inner) = self.block(body, scope, &cts)?;
        let stmts = self.leave_loop(&mut inner);
        let bwd = Block { stmts, results: vec![] };
        let border = Border { state: &[], index: var, size, bound: &[], outputs };
        let (bwd, residuals) = self.save(&bwd, &border, &mut fwd);
        if !bwd.stmts.is_empty() {
            let expr = Expr::For { ix: Ix::Fin(size.clone()), var: var.clone(), body: bwd };
            self.emit(expr);
        }
        self.collect_cells();
        Ok((fwd, residuals))
    }
}

/// The cotangent with the float width of the operand it belongs to (`widen` and `narrow` change it).
fn to_width(b: &mut adl_core::build::Builder, ct: Atom, s: adl_core::ty::Scalar) -> Atom {
    use adl_core::ty::Scalar;
    match (ct.ty().scalar(), s) {
        (Some(Scalar::F64), Scalar::F32) => b.prim(&prim::NARROW, &[ct]),
        (Some(Scalar::F32), Scalar::F64) => b.prim(&prim::WIDEN, &[ct]),
        _ => ct,
    }
}

/// The payload of alternative `tag` of a sum of cotangents; zeros where it is `zero`. Another constructor is an error
/// at run time, that of the sum with a tangent of the right one.
pub(crate) fn take_payload(b: &mut adl_core::build::Builder, sum: &Atom, tag: u32, tys: &[Ty]) -> Vec<Atom> {
    let Ty::Sum(alts) = sum.ty() else { unreachable!("a sum of cotangents") };
    let mut arms = vec![];
    for (j, alt) in alts.iter().enumerate() {
        let params: Vec<Var> = alt.iter().cloned().map(Var::new).collect();
        let body = if u32::try_from(j).is_ok_and(|j| j == tag) {
            Block { stmts: vec![], results: params.iter().map(Atom::from).collect() }
        } else if j == 0 {
            b.block(|b| tys.iter().map(|t| zero(b, t)).collect())
        } else {
            b.block(|b| other_constructor(b, sum, tag, tys))
        };
        arms.push(Arm { params, body });
    }
    b.bind_all(tys, Expr::Case { scrut: sum.clone(), arms })
}

/// What is never reached: the sum with a tangent of alternative `tag` fails, and its payload is asked for.
fn other_constructor(b: &mut adl_core::build::Builder, sum: &Atom, tag: u32, tys: &[Ty]) -> Vec<Atom> {
    let Ty::Sum(alts) = sum.ty() else { unreachable!("a sum of cotangents") };
    let args = tys.iter().map(|t| zero(b, t)).collect();
    let right = b.bind(sum.ty(), Expr::Inject { ty: sum.ty(), tag, args });
    let whole = b.bind(sum.ty(), Expr::AddCt(right, sum.clone()));
    let arm = |(j, alt): (usize, &Vec<Ty>)| {
        let params: Vec<Var> = alt.iter().cloned().map(Var::new).collect();
        let body = if u32::try_from(j).is_ok_and(|j| j == tag) {
            Block { stmts: vec![], results: params.iter().map(Atom::from).collect() }
        } else {
            b.block(|b| tys.iter().map(|t| zero(b, t)).collect())
        };
        Arm { params, body }
    };
    let arms = alts.iter().enumerate().map(arm).collect();
    b.bind_all(tys, Expr::Case { scrut: whole, arms })
}
