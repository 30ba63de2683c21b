//! Local functions that refer to themselves or to each other become functions of the program: what they capture is
//! passed to them, in front of their own argument (lambda lifting: Johnsson, "Lambda lifting", FPCA 1985).

use std::sync::Arc;

use adl_core::{
    ir::{Atom, Block, Expr, Func, FuncId, Lambda, Stmt, Var},
    ty::{INT, Ix, Kind, Mono, Poly, SizeAtom, Ty as CoreTy, TyArg, TyVar},
    walk::{self, Subst},
};

use super::Ctx;
use crate::{
    tree::{TRec, Tk},
    types::{Con, Ty},
};

/// How the function that was made of a local one is called somewhere.
struct Caller {
    func: FuncId,
    /// Type parameters in scope, which it takes first.
    given: Vec<TyVar>,
    /// Type parameters that the lambda around the call takes, and passes on.
    taken: Vec<TyVar>,
    param: CoreTy,
    result: CoreTy,
}

/// A function of a group, before it is known what the group captures.
struct Draft {
    tparams: Vec<TyVar>,
    param: Var,
    body: Block,
    /// What stands for the functions of the group in its body, and how each is called there.
    names: Vec<(Var, Caller)>,
}

impl Ctx<'_> {
    /// Functions that refer to each other: each takes what any of them captures, to pass it on.
    pub(super) fn local_recursion(&mut self, recs: &[TRec]) {
        let outer = self.tparams.clone();
        let mut funcs = vec![];
        for rec in recs {
            let name = self.c.locals[rec.id.0 as usize].name.to_string();
            funcs.push(self.e.reserve(&Func::local_name(&name), self.span));
        }
        let mut drafts = vec![];
        for rec in recs {
            drafts.extend(self.draft(recs, &funcs, rec, &outer));
        }
        let mut captured: Vec<Var> = vec![];
        for draft in &drafts {
            for v in walk::free_vars(&draft.body) {
                let own = v == draft.param || draft.names.iter().any(|(name, _)| *name == v);
                if !own && !captured.contains(&v) {
                    captured.push(v);
                }
            }
        }
        // Sizes first: the types of the others mention them.
        captured.sort_by_key(|v| *v.ty() != INT);
        for (draft, func) in drafts.into_iter().zip(&funcs) {
            self.write(draft, *func, &captured);
        }
        for (rec, func) in recs.iter().zip(&funcs) {
            let Some(outside) = self.caller(*func, &outer, rec) else { continue };
            let name = self.c.locals[rec.id.0 as usize].name.to_string();
            let ty = self.ty(&rec.value.ty);
            let atom = self.bind_named(&name, ty, self.calls(&outside, &captured));
            self.e.locals.insert(rec.id, atom);
        }
    }

    fn draft(&mut self, recs: &[TRec], funcs: &[FuncId], rec: &TRec, outer: &[TyVar]) -> Option<Draft> {
        let Tk::Lambda(pat, body) = &rec.value.kind else { return None };
        // One that is polymorphic in its own body takes type parameters there, other than its own.
        let polymorphic = if rec.full { self.caller(funcs[0], outer, rec) } else { None };
        let own = self.type_params(&rec.vars);
        let all: Vec<TyVar> = outer.iter().chain(&own).cloned().collect();
        let mut names = vec![];
        for (other, func) in recs.iter().zip(funcs) {
            let sides = self.sides(other)?;
            let [param, result] = [self.ty(&sides[0]), self.ty(&sides[1])];
            let here = Caller { func: *func, given: all.clone(), taken: vec![], param, result };
            let name = self.c.locals[other.id.0 as usize].name.to_string();
            let ty = self.ty(&other.value.ty);
            let var = Var::named(&name, ty);
            self.e.locals.insert(other.own, Atom::Var(var.clone()));
            names.push((var, here));
        }
        if let (Some(polymorphic), [(_, here)]) = (polymorphic, names.as_mut_slice()) {
            *here = polymorphic;
        }
        self.tparams.clone_from(&all);
        let param = self.param_var(pat);
        let body = self.block(|this| {
            this.bind_pattern(pat, Atom::Var(param.clone()));
            this.expr(body)
        });
        self.tparams = outer.to_vec();
        Some(Draft { tparams: all, param, body, names })
    }

    /// The function of the program: it takes apart what it is given, and binds the names of its group.
    fn write(&mut self, draft: Draft, func: FuncId, captured: &[Var]) {
        let mut map = Subst::new();
        let mut fresh = vec![];
        for v in captured {
            let new = v.with_ty(walk::subst_ty(v.ty(), &map));
            map.insert(v.clone(), Atom::Var(new.clone()));
            fresh.push(new);
        }
        let body = walk::rename_block(&draft.body, &mut map);
        let parts = fresh.iter().chain([&draft.param]).map(|v| v.ty().clone()).collect();
        let tuple = Var::new(CoreTy::Tuple(parts));
        let mut stmts = vec![];
        for (k, v) in (0..).zip(fresh.iter().chain([&draft.param])) {
            stmts.push(self.stmt_of(v.clone(), Expr::Proj(Atom::from(&tuple), k)));
        }
        let used = walk::free_vars(&body);
        for (name, caller) in draft.names {
            if used.contains(&name) {
                let lambda = self.calls(&caller, &fresh);
                stmts.push(self.stmt_of(name, lambda));
            }
        }
        stmts.extend(body.stmts);
        let body = Block { stmts, results: body.results };
        let name = self.e.funcs[func.0 as usize].name.clone();
        self.e.funcs[func.0 as usize] =
            Func { name, tparams: draft.tparams, params: vec![tuple], body, span: self.span };
    }

    /// The types of its argument and its result.
    fn sides(&self, rec: &TRec) -> Option<[Ty; 2]> {
        let Ty::Con(Con::Fun | Con::Lin, sides) = self.c.arena.head(&rec.value.ty) else { return None };
        Some([sides[0].clone(), sides[1].clone()])
    }

    /// For a lambda that is polymorphic in the variables of the function.
    fn caller(&mut self, func: FuncId, outer: &[TyVar], rec: &TRec) -> Option<Caller> {
        let sides = self.sides(rec)?;
        let taken = self.type_params(&rec.vars);
        let (param, result) = (self.ty(&sides[0]), self.ty(&sides[1]));
        Some(Caller { func, given: outer.to_vec(), taken, param, result })
    }

    /// A lambda that calls the function with what was captured.
    fn calls(&self, caller: &Caller, captured: &[Var]) -> Expr {
        let tys = caller.given.iter().chain(&caller.taken).map(itself).collect();
        let x = Var::named("x", caller.param.clone());
        let parts = captured.iter().map(|v| v.ty().clone()).chain([x.ty().clone()]).collect();
        let tuple = Var::new(CoreTy::Tuple(parts));
        let args = captured.iter().chain([&x]).map(Atom::from).collect();
        let result = Var::new(caller.result.clone());
        let call = Expr::Call { func: caller.func, tys, args: vec![Atom::from(&tuple)], checkpoint: false };
        let stmts = vec![self.stmt_of(tuple, Expr::Tuple(args)), self.stmt_of(result.clone(), call)];
        let body = Block { stmts, results: vec![Atom::Var(result)] };
        Expr::Lambda(Arc::new(Lambda { tparams: caller.taken.clone(), param: x, body, span: self.span }))
    }

    fn stmt_of(&self, var: Var, expr: Expr) -> Stmt {
        Stmt { vars: vec![var], expr, span: self.span, dies: vec![] }
    }
}

/// A type parameter as the argument for itself.
fn itself(t: &TyVar) -> TyArg {
    match t.0.kind {
        Kind::Type => TyArg::Ty(CoreTy::Var(t.clone())),
        Kind::Ix => TyArg::Ix(Ix::Var(t.clone())),
        Kind::Size => TyArg::Size(Poly(vec![Mono { coef: 1, atoms: vec![SizeAtom::Param(t.clone())] }])),
    }
}
