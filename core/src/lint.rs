//! Lint: checks the invariants of first-order Core (listed in [`crate::ir`]) after every pass.
//!
//! Sizes are compared by form only (C7): two different atoms may be the same number, two different
//! constants may not.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not the one form expected is a violation")]

mod contract;
mod higher;

pub use higher::higher_order;

use std::collections::HashSet;

use crate::ir::{Arm, Atom, Block, Effect, Expr, Func, LoopKind, Program, RedOp, Stmt, Var};
use crate::ty::{BOOL, INT, Ix, STR, Scalar, Ty, fits, meet_all};
use crate::walk::{self, Subst};

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its number, `C1` … `C8`.
    pub rule: &'static str,
    /// What is wrong, in words and Core text.
    pub message: String,
}

type Check = Result<(), Violation>;

/// Checks a whole first-order program.
///
/// # Errors
///
/// The first broken invariant.
pub fn program(p: &Program) -> Check {
    let mut seen = HashSet::new();
    p.funcs.iter().try_for_each(|f| Lint { program: p, bound: HashSet::new(), seen: &mut seen }.func(f))
}

/// Checks one function of a program (without C1 across functions).
///
/// # Errors
///
/// The first broken invariant.
pub fn func(f: &Func, p: &Program) -> Check {
    Lint { program: p, bound: HashSet::new(), seen: &mut HashSet::new() }.func(f)
}

struct Lint<'a> {
    program: &'a Program,
    /// In scope.
    bound: HashSet<Var>,
    /// Bound anywhere so far.
    seen: &'a mut HashSet<Var>,
}

fn fail<T>(rule: &'static str, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation { rule, message: message.into() })
}

impl Lint<'_> {
    fn func(&mut self, f: &Func) -> Check {
        if !f.tparams.is_empty() {
            return fail("C6", format!("`{}` has type parameters", f.name));
        }
        self.bind_all(&f.params)?;
        self.block(&f.body)
            .map(|_| ())
            .map_err(|v| Violation { message: format!("in `{}`: {}", f.name, v.message), ..v })
    }

    fn bind_all(&mut self, vars: &[Var]) -> Check {
        vars.iter().try_for_each(|v| self.bind(v))
    }

    fn bind(&mut self, v: &Var) -> Check {
        if !self.seen.insert(v.clone()) {
            return fail("C1", format!("a variable of type {} is bound twice", text(v.ty())));
        }
        self.bound.insert(v.clone());
        self.ty(v.ty())
    }

    fn ty(&mut self, ty: &Ty) -> Check {
        match ty {
            Ty::Scalar(_) => Ok(()),
            Ty::Table(Ix::Fin(n), elem) => {
                self.atom(n)?;
                if n.ty() != INT {
                    return fail("C3", "a size is not an Int");
                }
                if matches!(**elem, Ty::Acc(_)) {
                    return fail("C4", "a table of accumulators");
                }
                self.ty(elem)
            }
            Ty::Sum(alts) => alts.iter().flatten().try_for_each(|t| self.ty(t)),
            Ty::Pack(p) => {
                let new: Vec<&Var> = p.sizes.iter().filter(|s| self.bound.insert((*s).clone())).collect();
                let out = p.items.iter().try_for_each(|t| self.ty(t));
                for s in new {
                    self.bound.remove(s);
                }
                out
            }
            Ty::Box(cell) if (cell.id as usize) < self.program.boxes.len() => Ok(()),
            Ty::Acc(t) => self.ty(t),
            Ty::Table(..)
            | Ty::Box(_)
            | Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => fail("C6", format!("the type {} is not first-order", text(ty))),
        }
    }

    fn atom(&self, a: &Atom) -> Check {
        match a {
            Atom::Var(v) if !self.bound.contains(v) => fail(
                "C2",
                format!("a variable {} of type {} is used before it is bound", v.name(), text(v.ty())),
            ),
            Atom::Var(_) | Atom::Lit(_) => Ok(()),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Check {
        atoms.iter().try_for_each(|a| self.atom(a))
    }

    fn value(&self, atoms: &[Atom]) -> Check {
        self.atoms(atoms)?;
        match atoms.iter().find(|a| matches!(a.ty(), Ty::Acc(_))) {
            Some(a) => fail("C4", format!("an accumulator {} is used as a value", text(&a.ty()))),
            None => Ok(()),
        }
    }

    /// The types of the results; what the block binds is out of scope afterwards.
    fn block(&mut self, b: &Block) -> Result<Vec<Ty>, Violation> {
        let outer = self.bound.clone();
        for s in &b.stmts {
            self.stmt(s)?;
        }
        self.atoms(&b.results)?;
        self.bound = outer;
        Ok(b.results.iter().map(Atom::ty).collect())
    }

    fn stmt(&mut self, s: &Stmt) -> Check {
        let tys = self.expr(&s.expr)?;
        self.bind_all(&s.vars)?;
        let Some(tys) = tys else { return Ok(()) };
        let expected: Vec<String> = tys.iter().map(text).collect();
        let found: Vec<String> = s.vars.iter().map(|v| text(v.ty())).collect();
        if tys.len() != s.vars.len() || !tys.iter().zip(&s.vars).all(|(t, v)| fits(t, v.ty())) {
            return fail(
                "C3",
                format!(
                    "an expression gives ({}), bound as ({}): {}",
                    expected.join(", "),
                    found.join(", "),
                    form(&s.expr)
                ),
            );
        }
        Ok(())
    }

    fn expect(&self, what: &str, found: &Ty, want: &Ty) -> Check {
        if fits(found, want) {
            Ok(())
        } else {
            fail("C3", format!("{what} is {}, expected {}", text(found), text(want)))
        }
    }

    fn ix(&self, ix: &Ix) -> Result<Atom, Violation> {
        match ix {
            Ix::Fin(n) => {
                self.atom(n)?;
                self.expect("a size", &n.ty(), &INT)?;
                Ok(n.clone())
            }
            Ix::Poly(_) | Ix::Unit | Ix::Bool | Ix::Enum(_) | Ix::Tuple(_) | Ix::Var(_) => {
                fail("C6", "an index set that is not a size")
            }
        }
    }

    /// The element type under these indices.
    fn element(&self, ty: &Ty, index: &[Atom]) -> Result<Ty, Violation> {
        self.atoms(index)?;
        let mut ty = ty.clone();
        for i in index {
            self.expect("an index", &i.ty(), &INT)?;
            match ty {
                Ty::Table(_, elem) => ty = *elem,
                other => return fail("C3", format!("index into {}", text(&other))),
            }
        }
        Ok(ty)
    }

    /// The types an expression gives; `None` where its variables say.
    #[expect(clippy::too_many_lines, reason = "one arm a form")]
    fn expr(&mut self, e: &Expr) -> Result<Option<Vec<Ty>>, Violation> {
        let one = |t: Ty| Ok(Some(vec![t]));
        match e {
            Expr::Atom(a) => {
                self.atom(a)?;
                one(a.ty())
            }
            Expr::Prim(p, args) => {
                self.value(args)?;
                let scalars: Option<Vec<Scalar>> = args.iter().map(|a| a.ty().scalar()).collect();
                match scalars.and_then(|s| p.0.result(&s)) {
                    Some(s) => one(Ty::Scalar(s)),
                    None => fail("C3", format!("operands of `{}` do not fit", p.0.name)),
                }
            }
            Expr::Inject { ty, tag, args } => {
                self.value(args)?;
                self.ty(ty)?;
                let payload = alternative(ty, *tag)?;
                self.same("payload", args, &payload)?;
                one(ty.clone())
            }
            Expr::Case { scrut, arms } => self.case(scrut, arms).map(Some),
            Expr::For { ix, var, body } => {
                let n = self.ix(ix)?;
                self.bind(var)?;
                let tys = self.block(body)?;
                self.bound.remove(var);
                if body.results.iter().any(|r| matches!(r.ty(), Ty::Acc(_))) {
                    return fail("C4", "a `for` gives accumulators");
                }
                Ok(Some(tys.into_iter().map(|t| Ty::table(n.clone(), t)).collect()))
            }
            Expr::Index { table, index, .. } => {
                self.value(std::slice::from_ref(table))?;
                one(self.element(&table.ty(), index)?)
            }
            Expr::Reduce { op, ix, var, body } => {
                let (_, tys) = self.reduction(op, ix, var, body)?;
                Ok(Some(tys))
            }
            Expr::Prefix { op, ix, var, body } => {
                let (n, tys) = self.reduction(op, ix, var, body)?;
                Ok(Some(tys.into_iter().map(|t| Ty::table(n.clone(), t)).collect()))
            }
            Expr::Contract { a, b, spec } => {
                self.value(&[a.clone(), b.clone()])?;
                one(contract::contraction(&a.ty(), &b.ty(), spec)?)
            }
            Expr::Bulk(row, args) => {
                self.value(args)?;
                match row.0.result_tys(args) {
                    Some(tys) => Ok(Some(tys)),
                    None => fail("C3", format!("operands of `{}` do not fit", row.0.name)),
                }
            }
            Expr::Loop { kind, state, init, body, .. } => self.looped(kind, state, init, body).map(Some),
            Expr::Update { table, index, value, .. } => {
                self.value(&[table.clone(), value.clone()])?;
                let elem = self.element(&table.ty(), index)?;
                self.expect("the new element", &value.ty(), &elem)?;
                one(table.ty())
            }
            Expr::TableLit { elem, items } => {
                self.value(items)?;
                self.ty(elem)?;
                for i in items {
                    self.expect("an element", &i.ty(), elem)?;
                }
                one(Ty::table(Atom::int(i64::try_from(items.len()).unwrap_or(i64::MAX)), elem.clone()))
            }
            Expr::Pack { ty, sizes, items } => {
                self.value(sizes)?;
                self.value(items)?;
                self.ty(&Ty::Pack(ty.clone()))?;
                let map: Subst = ty.sizes.iter().cloned().zip(sizes.iter().cloned()).collect();
                let tys: Vec<Ty> = ty.items.iter().map(|t| walk::subst_ty(t, &map)).collect();
                self.same("items", items, &tys)?;
                one(Ty::Pack(ty.clone()))
            }
            Expr::Open(a) => {
                self.atom(a)?;
                let Ty::Pack(p) = a.ty() else { return fail("C3", "open of no pack") };
                Ok(Some(p.sizes.iter().map(|_| INT).chain(p.items.iter().cloned()).collect()))
            }
            Expr::BoxNew { ty, args } => {
                self.value(args)?;
                self.ty(&Ty::Box(*ty))?;
                self.same("a cell's items", args, &ty.content(&self.program.boxes))?;
                one(Ty::Box(*ty))
            }
            Expr::Unbox(a) => {
                self.atom(a)?;
                let Ty::Box(cell) = a.ty() else { return fail("C3", "unbox of no cell") };
                Ok(Some(cell.content(&self.program.boxes)))
            }
            Expr::Call { func, tys, args, .. } => {
                self.atoms(args)?;
                if !tys.is_empty() {
                    return fail("C6", "a call with type arguments");
                }
                let Some(f) = self.program.funcs.get(func.0 as usize) else {
                    return fail("C3", "a call of no function");
                };
                let map: Subst = f.params.iter().cloned().zip(args.iter().cloned()).collect();
                let want: Vec<Ty> = f.params.iter().map(|p| walk::subst_ty(p.ty(), &map)).collect();
                self.same(&format!("arguments of `{}`", f.name), args, &want)?;
                Ok(Some(f.body.results.iter().map(|r| walk::subst_ty(&r.ty(), &map)).collect()))
            }
            Expr::Zero(ty) => {
                self.ty(ty)?;
                one(ty.clone())
            }
            Expr::AddCt(a, b) => {
                self.value(&[a.clone(), b.clone()])?;
                self.expect("the second summand", &b.ty(), &a.ty())?;
                one(a.ty())
            }
            Expr::Dup(a) => {
                self.value(std::slice::from_ref(a))?;
                Ok(Some(vec![a.ty(), a.ty()]))
            }
            Expr::Drop(a) => {
                self.atom(a)?;
                Ok(Some(vec![]))
            }
            Expr::Effect(e) => self.effect(e),
            Expr::Show { args, .. } => {
                self.value(args)?;
                one(STR)
            }
            Expr::AccNew(ty) => {
                self.ty(ty)?;
                one(Ty::Acc(Box::new(ty.clone())))
            }
            Expr::AccFrom(a) => {
                self.value(std::slice::from_ref(a))?;
                one(Ty::Acc(Box::new(a.ty())))
            }
            Expr::AccView { acc, index, .. } => {
                let inner = self.acc(acc)?;
                one(Ty::Acc(Box::new(self.element(&inner, index)?)))
            }
            Expr::AccAdd { acc, index, value, .. } => {
                let inner = self.acc(acc)?;
                self.value(std::slice::from_ref(value))?;
                let elem = self.element(&inner, index)?;
                self.expect("what is added", &value.ty(), &elem)?;
                Ok(Some(vec![]))
            }
            Expr::AccFreeze(a) => one(self.acc(a)?),
            Expr::AccInj { ty, tag, accs } => {
                self.atoms(accs)?;
                self.ty(ty)?;
                let payload = alternative(ty, *tag)?;
                let tys: Vec<Ty> = payload.into_iter().map(|t| Ty::Acc(Box::new(t))).collect();
                self.same("accumulators", accs, &tys)?;
                one(Ty::Acc(Box::new(ty.clone())))
            }
            Expr::AccPayload { acc, tag } => {
                let inner = self.acc(acc)?;
                let payload = alternative(&inner, *tag)?;
                Ok(Some(payload.into_iter().map(|t| Ty::Acc(Box::new(t))).collect()))
            }
            Expr::Tuple(_)
            | Expr::Record { .. }
            | Expr::Proj(..)
            | Expr::Lambda(_)
            | Expr::Apply { .. }
            | Expr::FuncRef { .. }
            | Expr::Method { .. }
            | Expr::SizeOf(_)
            | Expr::SizeVal(_)
            | Expr::Deriv { .. } => fail("C6", format!("not first-order: {}", form(e))),
        }
    }

    fn same(&self, what: &str, found: &[Atom], want: &[Ty]) -> Check {
        if found.len() != want.len() {
            return fail("C3", format!("{what}: {} found, {} expected", found.len(), want.len()));
        }
        found.iter().zip(want).try_for_each(|(a, t)| self.expect(what, &a.ty(), t))
    }

    fn acc(&self, a: &Atom) -> Result<Ty, Violation> {
        self.atom(a)?;
        match a.ty() {
            Ty::Acc(t) => Ok(*t),
            other => fail("C4", format!("{} is no accumulator", text(&other))),
        }
    }

    fn case(&mut self, scrut: &Atom, arms: &[Arm]) -> Result<Vec<Ty>, Violation> {
        self.value(std::slice::from_ref(scrut))?;
        let payloads: Vec<Vec<Ty>> = match scrut.ty() {
            Ty::Sum(alts) => alts,
            Ty::Scalar(Scalar::Bool) => vec![vec![]; 2],
            Ty::Scalar(Scalar::Int) => vec![vec![]; arms.len()],
            other => return fail("C3", format!("a case on {}", text(&other))),
        };
        if payloads.len() != arms.len() {
            return fail("C3", format!("{} arms for {} alternatives", arms.len(), payloads.len()));
        }
        let mut out: Option<Vec<Ty>> = None;
        for (arm, payload) in arms.iter().zip(payloads) {
            self.bind_all(&arm.params)?;
            let params: Vec<Atom> = arm.params.iter().map(Atom::from).collect();
            self.same("parameters of an arm", &params, &payload)?;
            let tys = self.block(&arm.body)?;
            for p in &arm.params {
                self.bound.remove(p);
            }
            match &out {
                None => out = Some(tys),
                Some(first) if meet_all(first, &tys).is_some() => out = meet_all(first, &tys),
                Some(first) => {
                    let list = |ts: &[Ty]| ts.iter().map(text).collect::<Vec<_>>().join(", ");
                    return fail("C3", format!("arms give ({}) and ({})", list(first), list(&tys)));
                }
            }
        }
        Ok(out.unwrap_or_default())
    }

    fn reduction(
        &mut self,
        op: &RedOp,
        ix: &Ix,
        var: &Var,
        body: &Block,
    ) -> Result<(Atom, Vec<Ty>), Violation> {
        let n = self.ix(ix)?;
        self.bind(var)?;
        let tys = self.block(body)?;
        self.bound.remove(var);
        match op {
            RedOp::Custom { unit, left, right, body } => {
                self.value(unit)?;
                self.same("units", unit, &tys)?;
                self.bind_all(left)?;
                self.bind_all(right)?;
                let out = self.block(body)?;
                if out.len() != tys.len() || left.len() != tys.len() || right.len() != tys.len() {
                    return fail("C3", "a reduction combines another number of values than it has");
                }
            }
            RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max => {
                let number = |t: &Ty| t.scalar().is_some_and(|s| s.is_float() || s == Scalar::Int);
                if !tys.iter().all(number) {
                    return fail("C3", "a reduction of values that are not numbers");
                }
            }
            RedOp::And | RedOp::Or => {
                if tys.iter().any(|t| *t != BOOL) {
                    return fail("C3", "`and` and `or` reduce truth values");
                }
            }
        }
        Ok((n, tys))
    }

    fn looped(
        &mut self,
        kind: &LoopKind,
        state: &[Var],
        init: &[Atom],
        body: &Block,
    ) -> Result<Vec<Ty>, Violation> {
        self.value(init)?;
        let state_tys: Vec<Ty> = state.iter().map(|v| v.ty().clone()).collect();
        self.same("initial states", init, &state_tys)?;
        let mut index = None;
        let size = match kind {
            LoopKind::For { ix, var, .. } => {
                let n = self.ix(ix)?;
                self.bind(var)?;
                index = Some(var);
                Some(n)
            }
            LoopKind::While { params, cond } => {
                self.bind_all(params)?;
                let atoms: Vec<Atom> = params.iter().map(Atom::from).collect();
                self.same("parameters of a condition", &atoms, &state_tys)?;
                if self.block(cond)? != [BOOL] {
                    return fail("C3", "a condition is not one truth value");
                }
                None
            }
        };
        self.bind_all(state)?;
        let mut tys = self.block(body)?;
        if tys.len() < state.len() || !tys.iter().zip(&state_tys).all(|(a, b)| fits(a, b)) {
            return fail("C3", "the body of a loop does not give the next state");
        }
        let collected = tys.split_off(state.len());
        for v in state.iter().chain(index) {
            self.bound.remove(v);
        }
        let mut out = state_tys;
        match size {
            Some(n) => out.extend(collected.into_iter().map(|t| Ty::table(n.clone(), t))),
            None => {
                out.push(INT);
                // The number of rounds is bound by the statement itself.
                let rounds = Var::new(INT);
                out.extend(collected.into_iter().map(|t| Ty::table(Atom::Var(rounds.clone()), t)));
            }
        }
        Ok(out)
    }

    fn effect(&mut self, e: &Effect) -> Result<Option<Vec<Ty>>, Violation> {
        match e {
            Effect::Error(a) => {
                self.atom(a)?;
                self.expect("a message", &a.ty(), &STR)?;
                Ok(None)
            }
            Effect::Assert { cond, msg } => {
                self.atoms(&[cond.clone(), msg.clone()])?;
                self.expect("an assertion", &cond.ty(), &BOOL)?;
                self.expect("a message", &msg.ty(), &STR)?;
                Ok(Some(vec![]))
            }
            Effect::CheckSize { left, right, .. } => {
                self.atoms(&[left.clone(), right.clone()])?;
                self.expect("a size", &left.ty(), &INT)?;
                self.expect("a size", &right.ty(), &INT)?;
                Ok(Some(vec![]))
            }
            Effect::CheckNonNegative(a) => {
                self.atom(a)?;
                self.expect("a size", &a.ty(), &INT)?;
                Ok(Some(vec![]))
            }
            Effect::Trace(a) | Effect::Print(a) => {
                self.atom(a)?;
                self.expect("a line", &a.ty(), &STR)?;
                Ok(Some(vec![]))
            }
            Effect::LoadNpy { path, rank, elem } => {
                self.atom(path)?;
                self.expect("a path", &path.ty(), &STR)?;
                let sizes: Vec<Var> = (0..*rank).map(|_| Var::new(INT)).collect();
                let table = sizes.iter().rev().fold(Ty::Scalar(*elem), |t, s| Ty::table(Atom::from(s), t));
                Ok(Some(sizes.iter().map(|_| INT).chain([table]).collect()))
            }
        }
    }
}

/// The payload of an alternative.
fn alternative(ty: &Ty, tag: u32) -> Result<Vec<Ty>, Violation> {
    match ty {
        Ty::Sum(alts) => match alts.get(tag as usize) {
            Some(alt) => Ok(alt.clone()),
            None => fail("C3", format!("{} has no alternative {tag}", text(ty))),
        },
        _ => fail("C3", format!("{} is no sum", text(ty))),
    }
}

fn text(ty: &Ty) -> String {
    crate::print::ty_text(ty)
}

/// The form of an expression in a few words, for messages.
fn form(e: &Expr) -> String {
    let text = format!("{e:?}");
    text.chars().take(60).collect()
}
