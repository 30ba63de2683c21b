//! From Core to resolved code: each variable of a function gets a slot, and each operand learns whether
//! it is the last use.

use std::collections::{HashMap, HashSet};

use super::code::{Block, Code, Combine, Form, Op, Out, Slot, Src};
use crate::ir::{self, Atom, Effect, Expr, Func, Lit, LoopKind, RedOp, Stmt, Var};
use crate::ty::{Ix, Ty};
use crate::value::Value;

/// Resolves a function.
pub(super) fn func(func: &Func) -> Code {
    let mut names = Names::default();
    let params = names.bind_all(&func.params);
    let body = block(&mut names, &func.body, &func.params);
    Code { n_slots: names.slots.len(), params, body, span: func.span, slots: names.slots }
}

#[derive(Default)]
struct Names {
    slots: HashMap<Var, Slot>,
}

impl Names {
    fn bind(&mut self, var: &Var) -> Slot {
        let next = self.slots.len();
        *self.slots.entry(var.clone()).or_insert(next)
    }

    fn bind_all(&mut self, vars: &[Var]) -> Vec<Slot> {
        vars.iter().map(|var| self.bind(var)).collect()
    }

    fn src(&self, atom: &Atom) -> Src {
        match atom {
            Atom::Var(var) => Src::Slot(*self.slots.get(var).expect("lint: bound before use (C2)")),
            Atom::Lit(lit) => Src::Const(constant(lit)),
        }
    }
}

/// The value of a constant.
pub(super) fn constant(lit: &Lit) -> Value {
    match lit {
        Lit::F64(x) => Value::F64(*x),
        Lit::F32(x) => Value::F32(*x),
        Lit::Int(k) => Value::Int(*k),
        Lit::Bool(b) => Value::Bool(*b),
        Lit::Str(text) => Value::Str(text.clone()),
        Lit::Unit => unreachable!("lint: no unit in first-order Core (C6)"),
    }
}

/// Scalars are copied anyway, and sizes are read by types long after their last use as operands.
fn is_counted(ty: &Ty) -> bool {
    ty.scalar().is_none()
}

/// Resolves a block whose binders (parameters of an arm, state of a loop) are given.
fn block(names: &mut Names, block: &ir::Block, binders: &[Var]) -> Block {
    let ops = block.stmts.iter().map(|stmt| op(names, stmt)).collect();
    let mut results: Vec<Src> = block.results.iter().map(|atom| names.src(atom)).collect();
    // What the block itself binds is dead after it, so its last result takes it.
    let bound = block.stmts.iter().flat_map(|stmt| &stmt.vars).chain(binders);
    let local: HashSet<Slot> = bound.filter(|var| is_counted(var.ty())).map(|var| names.slots[var]).collect();
    take_last(&mut results, &local);
    Block { ops, results }
}

/// Makes the last occurrence of each of these slots a `Take`; the slots taken.
fn take_last(args: &mut [Src], dead: &HashSet<Slot>) -> HashSet<Slot> {
    let mut taken = HashSet::new();
    for arg in args.iter_mut().rev() {
        if let Src::Slot(slot) = arg
            && dead.contains(slot)
            && taken.insert(*slot)
        {
            *arg = Src::Take(*slot);
        }
    }
    taken
}

fn op(names: &mut Names, stmt: &Stmt) -> Op {
    let mut args = operands(names, &stmt.expr);
    let form = form(names, stmt);
    let outs: Vec<Out> =
        stmt.vars.iter().map(|var| Out { slot: names.bind(var), ty: var.ty().clone() }).collect();
    let mut clear = vec![];
    let dead: Vec<Slot> = stmt
        .dies
        .iter()
        .filter(|var| is_counted(var.ty()))
        .filter_map(|var| names.slots.get(var))
        .copied()
        .collect();
    if !dead.is_empty() {
        let set = dead.iter().copied().collect();
        let taken = take_last(&mut args, &set);
        clear = dead.into_iter().filter(|slot| !taken.contains(slot)).collect();
    }
    Op { form, args, outs, clear, span: stmt.span }
}

fn size(ix: &Ix) -> &Atom {
    match ix {
        Ix::Fin(atom) => atom,
        Ix::Poly(_) | Ix::Unit | Ix::Bool | Ix::Enum(_) | Ix::Tuple(_) | Ix::Var(_) => {
            unreachable!("lint: index sets are sizes in first-order Core (C6)")
        }
    }
}

/// The operands in the order the form documents.
fn operands(names: &Names, expr: &Expr) -> Vec<Src> {
    let one = |a: &Atom| vec![names.src(a)];
    let all = |atoms: &[Atom]| atoms.iter().map(|a| names.src(a)).collect::<Vec<_>>();
    let headed = |a: &Atom, rest: &[Atom]| std::iter::once(a).chain(rest).map(|a| names.src(a)).collect();
    match expr {
        Expr::Atom(a)
        | Expr::Case { scrut: a, .. }
        | Expr::Open(a)
        | Expr::Unbox(a)
        | Expr::Dup(a)
        | Expr::Drop(a)
        | Expr::AccFreeze(a)
        | Expr::AccFrom(a)
        | Expr::AccPayload { acc: a, .. } => one(a),
        Expr::Prim(_, args)
        | Expr::Bulk(_, args)
        | Expr::Inject { args, .. }
        | Expr::TableLit { items: args, .. }
        | Expr::BoxNew { args, .. }
        | Expr::Call { args, .. }
        | Expr::Show { args, .. }
        | Expr::AccInj { accs: args, .. } => all(args),
        Expr::For { ix, .. } => one(size(ix)),
        Expr::Index { table: a, index, .. } | Expr::AccView { acc: a, index, .. } => headed(a, index),
        Expr::Reduce { op, ix, .. } | Expr::Prefix { op, ix, .. } => match op {
            RedOp::Custom { unit, .. } => headed(size(ix), unit),
            RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => one(size(ix)),
        },
        Expr::Contract { a, b, .. } | Expr::AddCt(a, b) => all(&[a.clone(), b.clone()]),
        Expr::Loop { kind, init, .. } => match kind {
            LoopKind::For { ix, .. } => headed(size(ix), init),
            LoopKind::While { .. } => all(init),
        },
        Expr::Update { table: a, index, value, .. } | Expr::AccAdd { acc: a, index, value, .. } => {
            let mut args: Vec<Src> = headed(a, index);
            args.push(names.src(value));
            args
        }
        Expr::Pack { sizes, items, .. } => sizes.iter().chain(items).map(|a| names.src(a)).collect(),
        Expr::Effect(effect) => match effect {
            Effect::Error(a) | Effect::CheckNonNegative(a) | Effect::Trace(a) | Effect::Print(a) => one(a),
            Effect::LoadNpy { path, .. } => one(path),
            Effect::Assert { cond: a, msg: b } | Effect::CheckSize { left: a, right: b, .. } => {
                all(&[a.clone(), b.clone()])
            }
        },
        Expr::Zero(_) | Expr::AccNew(_) => vec![],
        Expr::Tuple(_)
        | Expr::Record { .. }
        | Expr::Proj(..)
        | Expr::Lambda(_)
        | Expr::Apply { .. }
        | Expr::FuncRef { .. }
        | Expr::Method { .. }
        | Expr::SizeOf(_)
        | Expr::SizeVal(_)
        | Expr::Deriv { .. } => unreachable!("lint: no higher-order form is left (C6)"),
    }
}

#[expect(clippy::too_many_lines, reason = "one arm a form")]
fn form(names: &mut Names, stmt: &Stmt) -> Form {
    match &stmt.expr {
        Expr::Atom(_) => Form::Copy,
        Expr::Prim(prim, _) => Form::Prim(*prim),
        Expr::Inject { tag, .. } => Form::Inject(*tag),
        Expr::Case { arms, .. } => {
            let arm = |arm: &ir::Arm| {
                let params = names.bind_all(&arm.params);
                (params, block(names, &arm.body, &arm.params))
            };
            Form::Case(arms.iter().map(arm).collect())
        }
        Expr::For { var, body, .. } => {
            let var = names.bind(var);
            Form::For { var, body: block(names, body, &[]) }
        }
        Expr::Index { check, .. } => Form::Index { check: *check },
        Expr::Reduce { op, var, body, .. } => reduction(names, op, var, body, false),
        Expr::Prefix { op, var, body, .. } => reduction(names, op, var, body, true),
        Expr::Contract { spec, .. } => Form::Contract(spec.clone()),
        Expr::Bulk(row, _) => Form::Bulk(*row),
        Expr::Loop { kind, state, body, .. } => match kind {
            LoopKind::For { var, reverse, .. } => {
                let (var, slots) = (names.bind(var), names.bind_all(state));
                let body = block(names, body, state);
                Form::LoopFor { var, reverse: *reverse, state: slots, body }
            }
            LoopKind::While { params, cond } => {
                let (cond_slots, slots) = (names.bind_all(params), names.bind_all(state));
                let cond = block(names, cond, params);
                let body = block(names, body, state);
                Form::LoopWhile { params: cond_slots, cond, state: slots, body }
            }
        },
        Expr::Update { check, .. } => Form::Update { check: *check },
        Expr::TableLit { .. } => Form::TableLit,
        Expr::Pack { sizes, .. } => Form::Pack { n_sizes: sizes.len() },
        Expr::Open(_) => Form::Open,
        Expr::BoxNew { .. } => Form::BoxNew,
        Expr::Unbox(_) => Form::Unbox,
        Expr::Call { func, .. } => Form::Call(*func),
        Expr::Zero(ty) => Form::Zero(ty.clone()),
        Expr::AddCt(..) => Form::AddCt,
        Expr::Dup(_) => Form::Dup,
        Expr::Drop(_) => Form::Drop,
        Expr::Effect(effect) => match effect {
            Effect::Error(_) => Form::Error,
            Effect::Assert { .. } => Form::Assert,
            Effect::CheckSize { what, .. } => Form::CheckSize(what.clone()),
            Effect::CheckNonNegative(_) => Form::CheckNonNegative,
            Effect::Trace(_) => Form::Trace,
            Effect::Print(_) => Form::Print,
            Effect::LoadNpy { rank, elem, .. } => Form::LoadNpy { rank: *rank, elem: *elem },
        },
        Expr::Show { fmt, .. } => Form::Show(fmt.clone()),
        Expr::AccNew(ty) => Form::AccNew(ty.clone()),
        Expr::AccView { check, .. } => Form::AccView { check: *check },
        Expr::AccAdd { check, .. } => Form::AccAdd { check: *check },
        Expr::AccFreeze(_) => Form::AccFreeze,
        Expr::AccFrom(_) => Form::AccFrom,
        Expr::AccInj { tag, .. } => Form::AccInj { tag: *tag },
        Expr::AccPayload { tag, .. } => Form::AccPayload { tag: *tag },
        Expr::Tuple(_)
        | Expr::Record { .. }
        | Expr::Proj(..)
        | Expr::Lambda(_)
        | Expr::Apply { .. }
        | Expr::FuncRef { .. }
        | Expr::Method { .. }
        | Expr::SizeOf(_)
        | Expr::SizeVal(_)
        | Expr::Deriv { .. } => unreachable!("lint: no higher-order form is left (C6)"),
    }
}

fn reduction(names: &mut Names, op: &RedOp, var: &Var, body: &ir::Block, prefix: bool) -> Form {
    let op = match op {
        RedOp::Sum => Combine::Sum,
        RedOp::Prod => Combine::Prod,
        RedOp::Min => Combine::Min,
        RedOp::Max => Combine::Max,
        RedOp::And => Combine::And,
        RedOp::Or => Combine::Or,
        RedOp::Custom { left, right, body, .. } => {
            let (left_slots, right_slots) = (names.bind_all(left), names.bind_all(right));
            let binders: Vec<Var> = left.iter().chain(right).cloned().collect();
            Combine::Custom { left: left_slots, right: right_slots, body: block(names, body, &binders) }
        }
    };
    let var = names.bind(var);
    Form::Reduce { op, var, body: block(names, body, &[]), prefix }
}
