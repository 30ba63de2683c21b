//! Traversal: the two matches over all forms that passes share – one that reads, one that rebuilds –
//! and what follows from them: substitution, fresh copies, free variables.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ir::{Arm, Atom, Block, Effect, Expr, Lambda, LoopKind, RedOp, Stmt, Var};
use crate::ty::{Ix, Mono, PackTy, Poly, SizeAtom, Ty, TyArg};

/// What stands for a variable.
pub type Subst = HashMap<Var, Atom>;

/// Reads an expression: its operands, types, binders and blocks, in order.
pub trait Visit {
    /// An operand, or a size in a type or index set.
    fn atom(&mut self, atom: &Atom);
    /// A variable bound inside the expression (not by its statement).
    fn bind(&mut self, _var: &Var) {}
    /// A nested block; its binders have been visited.
    fn block(&mut self, block: &Block);
}

/// Rebuilds an expression.
pub trait Rebuild {
    /// An operand, or a size.
    fn atom(&mut self, atom: &Atom) -> Atom;
    /// A variable bound inside the expression.
    fn bind(&mut self, var: &Var) -> Var;
    /// A nested block; its binders have been rebuilt.
    fn block(&mut self, block: &Block) -> Block;
}

/// Visits the sizes in a type.
pub fn visit_ty(ty: &Ty, v: &mut dyn Visit) {
    match ty {
        Ty::Scalar(_) | Ty::Box(_) | Ty::Var(_) => {}
        Ty::Table(ix, elem) => {
            visit_ix(ix, v);
            visit_ty(elem, v);
        }
        Ty::Sum(alts) => alts.iter().flatten().for_each(|t| visit_ty(t, v)),
        Ty::Pack(p) => {
            p.sizes.iter().for_each(|s| v.bind(s));
            p.items.iter().for_each(|t| visit_ty(t, v));
        }
        Ty::Acc(t) | Ty::Tangent(t) => visit_ty(t, v),
        Ty::Tuple(ts) => ts.iter().for_each(|t| visit_ty(t, v)),
        Ty::Named(_, args) => visit_args(args, v),
        Ty::Index(ix) => visit_ix(ix, v),
        Ty::Fn(a, b) | Ty::Lin(a, b) => {
            visit_ty(a, v);
            visit_ty(b, v);
        }
    }
}

fn visit_args(args: &[TyArg], v: &mut dyn Visit) {
    for arg in args {
        match arg {
            TyArg::Ty(t) => visit_ty(t, v),
            TyArg::Ix(ix) => visit_ix(ix, v),
            TyArg::Size(p) => visit_poly(p, v),
        }
    }
}

fn visit_poly(poly: &Poly, v: &mut dyn Visit) {
    for atom in poly.0.iter().flat_map(|m| &m.atoms) {
        match atom {
            SizeAtom::Var(var) => v.atom(&Atom::Var(var.clone())),
            SizeAtom::Param(_) => {}
        }
    }
}

fn visit_ix(ix: &Ix, v: &mut dyn Visit) {
    match ix {
        Ix::Fin(a) => v.atom(a),
        Ix::Poly(p) => visit_poly(p, v),
        Ix::Tuple(xs) => xs.iter().for_each(|x| visit_ix(x, v)),
        Ix::Unit | Ix::Bool | Ix::Enum(_) | Ix::Var(_) => {}
    }
}

fn visit_op(op: &RedOp, v: &mut dyn Visit) {
    match op {
        RedOp::Custom { unit, left, right, body } => {
            unit.iter().for_each(|a| v.atom(a));
            left.iter().chain(right).for_each(|x| v.bind(x));
            v.block(body);
        }
        RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => {}
    }
}

/// Visits the parts of an expression in order.
#[expect(clippy::too_many_lines, reason = "one arm a form")]
pub fn visit(expr: &Expr, v: &mut dyn Visit) {
    let atoms = |v: &mut dyn Visit, xs: &[Atom]| xs.iter().for_each(|a| v.atom(a));
    match expr {
        Expr::Atom(a)
        | Expr::Open(a)
        | Expr::Unbox(a)
        | Expr::Dup(a)
        | Expr::Drop(a)
        | Expr::AccFreeze(a)
        | Expr::AccFrom(a)
        | Expr::Proj(a, _)
        | Expr::AccPayload { acc: a, .. }
        | Expr::Deriv { f: a, .. } => v.atom(a),
        Expr::Prim(_, args)
        | Expr::Bulk(_, args)
        | Expr::BoxNew { args, .. }
        | Expr::Show { args, .. }
        | Expr::Tuple(args) => atoms(v, args),
        Expr::Inject { ty, args, .. }
        | Expr::AccInj { ty, accs: args, .. }
        | Expr::Record { ty, fields: args }
        | Expr::TableLit { elem: ty, items: args }
        | Expr::Method { ty, args, .. } => {
            visit_ty(ty, v);
            atoms(v, args);
        }
        Expr::Case { scrut, arms } => {
            v.atom(scrut);
            for arm in arms {
                arm.params.iter().for_each(|p| v.bind(p));
                v.block(&arm.body);
            }
        }
        Expr::For { ix, var, body } => {
            visit_ix(ix, v);
            v.bind(var);
            v.block(body);
        }
        Expr::Index { table: t, index, .. } | Expr::AccView { acc: t, index, .. } => {
            v.atom(t);
            atoms(v, index);
        }
        Expr::Reduce { op, ix, var, body } | Expr::Prefix { op, ix, var, body } => {
            visit_op(op, v);
            visit_ix(ix, v);
            v.bind(var);
            v.block(body);
        }
        Expr::Contract { a, b, .. } | Expr::AddCt(a, b) => {
            v.atom(a);
            v.atom(b);
        }
        Expr::Loop { kind, state, init, body, .. } => {
            atoms(v, init);
            match kind {
                LoopKind::For { ix, var, .. } => {
                    visit_ix(ix, v);
                    v.bind(var);
                }
                LoopKind::While { params, cond } => {
                    params.iter().for_each(|p| v.bind(p));
                    v.block(cond);
                }
            }
            state.iter().for_each(|s| v.bind(s));
            v.block(body);
        }
        Expr::Update { table: t, index, value, .. } | Expr::AccAdd { acc: t, index, value, .. } => {
            v.atom(t);
            atoms(v, index);
            v.atom(value);
        }
        Expr::Pack { ty, sizes, items } => {
            visit_ty(&Ty::Pack(ty.clone()), v);
            atoms(v, sizes);
            atoms(v, items);
        }
        Expr::Call { tys, args, .. } => {
            visit_args(tys, v);
            atoms(v, args);
        }
        Expr::Zero(ty) | Expr::AccNew(ty) => visit_ty(ty, v),
        Expr::Effect(e) => visit_effect(e, v),
        Expr::Lambda(l) => {
            v.bind(&l.param);
            v.block(&l.body);
        }
        Expr::Apply { f, tys, arg } => {
            v.atom(f);
            visit_args(tys, v);
            v.atom(arg);
        }
        Expr::FuncRef { tys, .. } => visit_args(tys, v),
        Expr::SizeOf(ix) => visit_ix(ix, v),
        Expr::SizeVal(p) => visit_poly(p, v),
    }
}

fn visit_effect(e: &Effect, v: &mut dyn Visit) {
    match e {
        Effect::Error(a) | Effect::CheckNonNegative(a) | Effect::Trace(a) | Effect::Print(a) => v.atom(a),
        Effect::Assert { cond: a, msg: b } | Effect::CheckSize { left: a, right: b, .. } => {
            v.atom(a);
            v.atom(b);
        }
        Effect::LoadNpy { path, .. } => v.atom(path),
    }
}

/// Rebuilds a type: its sizes go through `atom`.
pub fn rebuild_ty(ty: &Ty, r: &mut dyn Rebuild) -> Ty {
    let list = |r: &mut dyn Rebuild, ts: &[Ty]| -> Vec<Ty> { ts.iter().map(|t| rebuild_ty(t, r)).collect() };
    match ty {
        Ty::Scalar(_) | Ty::Box(_) | Ty::Var(_) => ty.clone(),
        Ty::Table(ix, elem) => Ty::Table(rebuild_ix(ix, r), Box::new(rebuild_ty(elem, r))),
        Ty::Sum(alts) => Ty::Sum(alts.iter().map(|a| list(r, a)).collect()),
        Ty::Pack(p) => Ty::Pack(Arc::new(PackTy { sizes: p.sizes.clone(), items: list(r, &p.items) })),
        Ty::Acc(t) => Ty::Acc(Box::new(rebuild_ty(t, r))),
        Ty::Tangent(t) => Ty::Tangent(Box::new(rebuild_ty(t, r))),
        Ty::Tuple(ts) => Ty::Tuple(list(r, ts)),
        Ty::Named(id, args) => Ty::Named(*id, rebuild_args(args, r)),
        Ty::Index(ix) => Ty::Index(rebuild_ix(ix, r)),
        Ty::Fn(a, b) => Ty::Fn(Box::new(rebuild_ty(a, r)), Box::new(rebuild_ty(b, r))),
        Ty::Lin(a, b) => Ty::Lin(Box::new(rebuild_ty(a, r)), Box::new(rebuild_ty(b, r))),
    }
}

fn rebuild_args(args: &[TyArg], r: &mut dyn Rebuild) -> Vec<TyArg> {
    args.iter()
        .map(|arg| match arg {
            TyArg::Ty(t) => TyArg::Ty(rebuild_ty(t, r)),
            TyArg::Ix(ix) => TyArg::Ix(rebuild_ix(ix, r)),
            TyArg::Size(p) => TyArg::Size(rebuild_poly(p, r)),
        })
        .collect()
}

fn rebuild_poly(poly: &Poly, r: &mut dyn Rebuild) -> Poly {
    let mono = |r: &mut dyn Rebuild, m: &Mono| {
        let mut out = Mono { coef: m.coef, atoms: vec![] };
        for atom in &m.atoms {
            match atom {
                SizeAtom::Param(_) => out.atoms.push(atom.clone()),
                SizeAtom::Var(v) => match r.atom(&Atom::Var(v.clone())) {
                    Atom::Var(w) => out.atoms.push(SizeAtom::Var(w)),
                    lit @ Atom::Lit(_) => out.coef *= lit.as_int().expect("a size is an Int"),
                },
            }
        }
        out
    };
    Poly(poly.0.iter().map(|m| mono(r, m)).collect())
}

fn rebuild_ix(ix: &Ix, r: &mut dyn Rebuild) -> Ix {
    match ix {
        Ix::Fin(a) => Ix::Fin(r.atom(a)),
        Ix::Poly(p) => Ix::Poly(rebuild_poly(p, r)),
        Ix::Tuple(xs) => Ix::Tuple(xs.iter().map(|x| rebuild_ix(x, r)).collect()),
        Ix::Unit | Ix::Bool | Ix::Enum(_) | Ix::Var(_) => ix.clone(),
    }
}

fn rebuild_op(op: &RedOp, r: &mut dyn Rebuild) -> RedOp {
    match op {
        RedOp::Custom { unit, left, right, body } => RedOp::Custom {
            unit: unit.iter().map(|a| r.atom(a)).collect(),
            left: left.iter().map(|v| r.bind(v)).collect(),
            right: right.iter().map(|v| r.bind(v)).collect(),
            body: r.block(body),
        },
        RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => op.clone(),
    }
}

/// Rebuilds an expression in the order of [`visit`].
#[expect(clippy::too_many_lines, reason = "one arm a form")]
pub fn rebuild(expr: &Expr, r: &mut dyn Rebuild) -> Expr {
    let atoms = |r: &mut dyn Rebuild, xs: &[Atom]| -> Vec<Atom> { xs.iter().map(|a| r.atom(a)).collect() };
    match expr {
        Expr::Atom(a) => Expr::Atom(r.atom(a)),
        Expr::Open(a) => Expr::Open(r.atom(a)),
        Expr::Unbox(a) => Expr::Unbox(r.atom(a)),
        Expr::Dup(a) => Expr::Dup(r.atom(a)),
        Expr::Drop(a) => Expr::Drop(r.atom(a)),
        Expr::AccFreeze(a) => Expr::AccFreeze(r.atom(a)),
        Expr::AccFrom(a) => Expr::AccFrom(r.atom(a)),
        Expr::Proj(a, k) => Expr::Proj(r.atom(a), *k),
        Expr::AccPayload { acc, tag } => Expr::AccPayload { acc: r.atom(acc), tag: *tag },
        Expr::Deriv { kind, f } => Expr::Deriv { kind: *kind, f: r.atom(f) },
        Expr::Prim(p, args) => Expr::Prim(*p, atoms(r, args)),
        Expr::Bulk(p, args) => Expr::Bulk(*p, atoms(r, args)),
        Expr::BoxNew { ty, args } => Expr::BoxNew { ty: *ty, args: atoms(r, args) },
        Expr::Show { fmt, args } => Expr::Show { fmt: fmt.clone(), args: atoms(r, args) },
        Expr::Tuple(args) => Expr::Tuple(atoms(r, args)),
        Expr::Inject { ty, tag, args } => {
            Expr::Inject { ty: rebuild_ty(ty, r), tag: *tag, args: atoms(r, args) }
        }
        Expr::AccInj { ty, tag, accs } => {
            Expr::AccInj { ty: rebuild_ty(ty, r), tag: *tag, accs: atoms(r, accs) }
        }
        Expr::Record { ty, fields } => Expr::Record { ty: rebuild_ty(ty, r), fields: atoms(r, fields) },
        Expr::TableLit { elem, items } => {
            Expr::TableLit { elem: rebuild_ty(elem, r), items: atoms(r, items) }
        }
        Expr::Method { method, ty, args } => {
            Expr::Method { method: *method, ty: rebuild_ty(ty, r), args: atoms(r, args) }
        }
        Expr::Case { scrut, arms } => Expr::Case {
            scrut: r.atom(scrut),
            arms: arms
                .iter()
                .map(|arm| Arm {
                    params: arm.params.iter().map(|p| r.bind(p)).collect(),
                    body: r.block(&arm.body),
                })
                .collect(),
        },
        Expr::For { ix, var, body } => {
            Expr::For { ix: rebuild_ix(ix, r), var: r.bind(var), body: r.block(body) }
        }
        Expr::Index { table, index, check } => {
            Expr::Index { table: r.atom(table), index: atoms(r, index), check: *check }
        }
        Expr::AccView { acc, index, check } => {
            Expr::AccView { acc: r.atom(acc), index: atoms(r, index), check: *check }
        }
        Expr::Reduce { op, ix, var, body } => Expr::Reduce {
            op: rebuild_op(op, r),
            ix: rebuild_ix(ix, r),
            var: r.bind(var),
            body: r.block(body),
        },
        Expr::Prefix { op, ix, var, body } => Expr::Prefix {
            op: rebuild_op(op, r),
            ix: rebuild_ix(ix, r),
            var: r.bind(var),
            body: r.block(body),
        },
        Expr::Contract { a, b, spec } => Expr::Contract { a: r.atom(a), b: r.atom(b), spec: spec.clone() },
        Expr::AddCt(a, b) => Expr::AddCt(r.atom(a), r.atom(b)),
        Expr::Loop { kind, state, init, body, keep } => {
            let init = atoms(r, init);
            let kind = match kind {
                LoopKind::For { ix, var, reverse } => {
                    LoopKind::For { ix: rebuild_ix(ix, r), var: r.bind(var), reverse: *reverse }
                }
                LoopKind::While { params, cond } => LoopKind::While {
                    params: params.iter().map(|p| r.bind(p)).collect(),
                    cond: r.block(cond),
                },
            };
            let state = state.iter().map(|s| r.bind(s)).collect();
            Expr::Loop { kind, state, init, body: r.block(body), keep: *keep }
        }
        Expr::Update { table, index, value, check } => {
            Expr::Update { table: r.atom(table), index: atoms(r, index), value: r.atom(value), check: *check }
        }
        Expr::AccAdd { acc, index, value, check } => {
            Expr::AccAdd { acc: r.atom(acc), index: atoms(r, index), value: r.atom(value), check: *check }
        }
        Expr::Pack { ty, sizes, items } => {
            let items_ty = ty.items.iter().map(|t| rebuild_ty(t, r)).collect();
            let ty = Arc::new(PackTy { sizes: ty.sizes.clone(), items: items_ty });
            Expr::Pack { ty, sizes: atoms(r, sizes), items: atoms(r, items) }
        }
        Expr::Call { func, tys, args, checkpoint } => Expr::Call {
            func: *func,
            tys: rebuild_args(tys, r),
            args: atoms(r, args),
            checkpoint: *checkpoint,
        },
        Expr::Zero(ty) => Expr::Zero(rebuild_ty(ty, r)),
        Expr::AccNew(ty) => Expr::AccNew(rebuild_ty(ty, r)),
        Expr::Effect(e) => Expr::Effect(rebuild_effect(e, r)),
        Expr::Lambda(l) => Expr::Lambda(Arc::new(Lambda {
            tparams: l.tparams.clone(),
            param: r.bind(&l.param),
            body: r.block(&l.body),
            span: l.span,
        })),
        Expr::Apply { f, tys, arg } => {
            Expr::Apply { f: r.atom(f), tys: rebuild_args(tys, r), arg: r.atom(arg) }
        }
        Expr::FuncRef { func, tys } => Expr::FuncRef { func: *func, tys: rebuild_args(tys, r) },
        Expr::SizeOf(ix) => Expr::SizeOf(rebuild_ix(ix, r)),
        Expr::SizeVal(p) => Expr::SizeVal(rebuild_poly(p, r)),
    }
}

fn rebuild_effect(e: &Effect, r: &mut dyn Rebuild) -> Effect {
    match e {
        Effect::Error(a) => Effect::Error(r.atom(a)),
        Effect::CheckNonNegative(a) => Effect::CheckNonNegative(r.atom(a)),
        Effect::Trace(a) => Effect::Trace(r.atom(a)),
        Effect::Print(a) => Effect::Print(r.atom(a)),
        Effect::Assert { cond, msg } => Effect::Assert { cond: r.atom(cond), msg: r.atom(msg) },
        Effect::CheckSize { left, right, what } => {
            Effect::CheckSize { left: r.atom(left), right: r.atom(right), what: what.clone() }
        }
        Effect::LoadNpy { path, rank, elem } => {
            Effect::LoadNpy { path: r.atom(path), rank: *rank, elem: *elem }
        }
    }
}

/// Makes a copy in which every bound variable is new.
struct Renamer<'a> {
    map: &'a mut Subst,
}

impl Rebuild for Renamer<'_> {
    fn atom(&mut self, atom: &Atom) -> Atom {
        match atom {
            Atom::Var(v) => self.map.get(v).cloned().unwrap_or_else(|| atom.clone()),
            Atom::Lit(_) => atom.clone(),
        }
    }
    fn bind(&mut self, var: &Var) -> Var {
        let fresh = var.with_ty(rebuild_ty(var.ty(), self));
        self.map.insert(var.clone(), Atom::Var(fresh.clone()));
        fresh
    }
    fn block(&mut self, block: &Block) -> Block {
        let stmts = block.stmts.iter().map(|s| self.stmt(s)).collect();
        Block { stmts, results: block.results.iter().map(|a| self.atom(a)).collect() }
    }
}

impl Renamer<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let expr = rebuild(&stmt.expr, self);
        let dies = stmt.dies.iter().filter_map(|v| self.atom(&Atom::Var(v.clone())).var().cloned()).collect();
        Stmt { vars: stmt.vars.iter().map(|v| self.bind(v)).collect(), expr, span: stmt.span, dies }
    }
}

/// A copy of the block with new bound variables; `map` is applied to its free ones and then holds what
/// stands for the bound ones.
pub fn rename_block(block: &Block, map: &mut Subst) -> Block {
    Renamer { map }.block(block)
}

/// A copy of the variable for a copy of its scope: its type under `map`, which then maps it.
pub fn rename_var(var: &Var, map: &mut Subst) -> Var {
    Renamer { map }.bind(var)
}

/// The atom under `map`.
pub fn subst_atom(atom: &Atom, map: &Subst) -> Atom {
    match atom {
        Atom::Var(v) => map.get(v).cloned().unwrap_or_else(|| atom.clone()),
        Atom::Lit(_) => atom.clone(),
    }
}

/// The type with its sizes under `map`.
pub fn subst_ty(ty: &Ty, map: &Subst) -> Ty {
    struct Apply<'a>(&'a Subst);
    impl Rebuild for Apply<'_> {
        fn atom(&mut self, atom: &Atom) -> Atom {
            subst_atom(atom, self.0)
        }
        fn bind(&mut self, var: &Var) -> Var {
            var.clone()
        }
        fn block(&mut self, block: &Block) -> Block {
            block.clone()
        }
    }
    rebuild_ty(ty, &mut Apply(map))
}

/// Variables in order of first occurrence.
#[derive(Default)]
pub struct FreeVars {
    /// In order.
    pub vars: Vec<Var>,
    seen: HashSet<Var>,
    bound: HashSet<Var>,
}

impl Visit for FreeVars {
    fn atom(&mut self, atom: &Atom) {
        if let Atom::Var(v) = atom
            && !self.bound.contains(v)
            && self.seen.insert(v.clone())
        {
            self.vars.push(v.clone());
        }
    }
    fn bind(&mut self, var: &Var) {
        visit_ty(var.ty(), self);
        self.bound.insert(var.clone());
    }
    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            visit(&stmt.expr, self);
            stmt.vars.iter().for_each(|v| self.bind(v));
        }
        block.results.iter().for_each(|a| self.atom(a));
    }
}

/// The free variables of a block, those in types included, in order of first occurrence.
pub fn free_vars(block: &Block) -> Vec<Var> {
    let mut free = FreeVars::default();
    free.block(block);
    free.vars
}

/// The free variables of an expression, those in types included.
pub fn free_vars_expr(expr: &Expr) -> Vec<Var> {
    let mut free = FreeVars::default();
    visit(expr, &mut free);
    free.vars
}

/// The operands of an expression itself: not those of its blocks, nor sizes in types that blocks bind.
pub fn operands(expr: &Expr) -> Vec<Atom> {
    struct Operands(Vec<Atom>);
    impl Visit for Operands {
        fn atom(&mut self, atom: &Atom) {
            self.0.push(atom.clone());
        }
        fn block(&mut self, _: &Block) {}
    }
    let mut operands = Operands(vec![]);
    visit(expr, &mut operands);
    operands.0
}

/// The variables that a type mentions.
pub fn ty_vars(ty: &Ty) -> Vec<Var> {
    let mut free = FreeVars::default();
    visit_ty(ty, &mut free);
    free.vars
}

/// All blocks directly inside an expression.
pub fn blocks(expr: &Expr) -> Vec<&Block> {
    match expr {
        Expr::Case { arms, .. } => arms.iter().map(|a| &a.body).collect(),
        Expr::For { body, .. } => vec![body],
        Expr::Reduce { op, body, .. } | Expr::Prefix { op, body, .. } => match op {
            RedOp::Custom { body: combine, .. } => vec![combine, body],
            RedOp::Sum | RedOp::Prod | RedOp::Min | RedOp::Max | RedOp::And | RedOp::Or => vec![body],
        },
        Expr::Loop { kind, body, .. } => match kind {
            LoopKind::While { cond, .. } => vec![cond, body],
            LoopKind::For { .. } => vec![body],
        },
        Expr::Lambda(l) => vec![&l.body],
        Expr::Atom(_)
        | Expr::Prim(..)
        | Expr::Bulk(..)
        | Expr::Inject { .. }
        | Expr::Index { .. }
        | Expr::Contract { .. }
        | Expr::Update { .. }
        | Expr::TableLit { .. }
        | Expr::Pack { .. }
        | Expr::Open(_)
        | Expr::BoxNew { .. }
        | Expr::Unbox(_)
        | Expr::Call { .. }
        | Expr::Zero(_)
        | Expr::AddCt(..)
        | Expr::Dup(_)
        | Expr::Drop(_)
        | Expr::Effect(_)
        | Expr::Show { .. }
        | Expr::AccNew(_)
        | Expr::AccFrom(_)
        | Expr::AccView { .. }
        | Expr::AccAdd { .. }
        | Expr::AccFreeze(_)
        | Expr::AccInj { .. }
        | Expr::AccPayload { .. }
        | Expr::Tuple(_)
        | Expr::Record { .. }
        | Expr::Proj(..)
        | Expr::Apply { .. }
        | Expr::FuncRef { .. }
        | Expr::Method { .. }
        | Expr::SizeOf(_)
        | Expr::SizeVal(_)
        | Expr::Deriv { .. } => vec![],
    }
}
