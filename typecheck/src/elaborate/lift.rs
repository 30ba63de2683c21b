//! Local functions that refer to themselves become functions of the program: what they capture is passed to
//! them, in front of their own argument (lambda lifting: Johnsson, "Lambda lifting", FPCA 1985).

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

impl Ctx<'_> {
    pub(super) fn local_recursion(&mut self, rec: &TRec) {
        let Tk::Lambda(pat, body) = &rec.value.kind else { return };
        let Ty::Con(Con::Fun | Con::Lin, sides) = self.c.arena.head(&rec.value.ty) else { return };
        let name = self.c.locals[rec.id.0 as usize].name.to_string();
        let lifted = Func::local_name(&name);
        let func = self.e.reserve(&lifted, self.span);
        let outer = self.tparams.clone();

        let mut inside = self.caller(func, &outer, rec, &sides);
        let own = self.type_params(&rec.vars);
        let all: Vec<TyVar> = outer.iter().chain(&own).cloned().collect();
        if !rec.full {
            inside = Caller {
                func,
                given: all.clone(),
                taken: vec![],
                param: self.ty(&sides[0]),
                result: self.ty(&sides[1]),
            };
        }
        let whole = self.ty(&rec.value.ty);
        let itself = Var::named(&name, whole);
        self.e.locals.insert(rec.own, Atom::Var(itself.clone()));
        self.tparams.clone_from(&all);
        let param = self.param_var(pat);
        let body = self.block(|this| {
            this.bind_pattern(pat, Atom::Var(param.clone()));
            this.expr(body)
        });
        self.tparams.clone_from(&outer);

        let mut captured = walk::free_vars(&body);
        captured.retain(|v| *v != param && *v != itself);
        // Sizes first: the types of the others mention them.
        captured.sort_by_key(|v| *v.ty() != INT);
        let mut map = Subst::new();
        let mut fresh = vec![];
        for v in &captured {
            let new = v.with_ty(walk::subst_ty(v.ty(), &map));
            map.insert(v.clone(), Atom::Var(new.clone()));
            fresh.push(new);
        }
        let body = walk::rename_block(&body, &mut map);
        let parts = fresh.iter().map(|v| v.ty().clone()).chain([param.ty().clone()]).collect();
        let tuple = Var::new(CoreTy::Tuple(parts));
        let mut stmts = vec![];
        for (k, v) in (0..).zip(fresh.iter().chain([&param])) {
            stmts.push(self.stmt_of(v.clone(), Expr::Proj(Atom::from(&tuple), k)));
        }
        stmts.push(self.stmt_of(itself, self.calls(&inside, &fresh)));
        stmts.extend(body.stmts);
        let body = Block { stmts, results: body.results };
        self.e.funcs[func.0 as usize] =
            Func { name: lifted, tparams: all, params: vec![tuple], body, span: self.span };

        let outside = self.caller(func, &outer, rec, &sides);
        let ty = self.ty(&rec.value.ty);
        let atom = self.bind_named(&name, ty, self.calls(&outside, &captured));
        self.e.locals.insert(rec.id, atom);
    }

    /// For a lambda that is polymorphic in the variables of the function.
    fn caller(&mut self, func: FuncId, outer: &[TyVar], rec: &TRec, sides: &[Ty]) -> Caller {
        let taken = self.type_params(&rec.vars);
        let (param, result) = (self.ty(&sides[0]), self.ty(&sides[1]));
        Caller { func, given: outer.to_vec(), taken, param, result }
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
