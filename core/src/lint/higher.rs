//! Lint of higher-order Core: scopes (C1, C2) and the number of things (C3). Types are not compared: what the
//! checker found equal need not be equal in form.

#![expect(clippy::wildcard_enum_match_arm, reason = "few forms have more to check than their scope")]

use std::collections::HashSet;

use super::{Check, Violation, fail};
use crate::ir::{Arm, Atom, Block, Expr, FuncId, ItemKind, Program, Stmt, TypeBody, Var};
use crate::ty::{Ix, Kind, Poly, Scalar, SizeAtom, Ty, TyArg, TyVar, TypeId};
use crate::walk::{self, Visit};

/// Checks a whole higher-order program.
///
/// # Errors
///
/// The first broken invariant.
pub fn higher_order(p: &Program) -> Check {
    let mut lint = Lint { program: p, vars: HashSet::new(), ty_vars: HashSet::new(), seen: HashSet::new() };
    for decl in &p.types {
        lint.ty_params(&decl.tparams)?;
        match &decl.body {
            TypeBody::Struct(fields) => fields.iter().try_for_each(|(_, t)| lint.ty(t))?,
            TypeBody::Enum(ctors) => ctors.iter().flat_map(|(_, ts)| ts).try_for_each(|t| lint.ty(t))?,
        }
        decl.methods.iter().try_for_each(|(_, f)| lint.func_id(*f).map(|_| ()))?;
        lint.ty_vars.clear();
    }
    for rule in &p.rules {
        let own = lint.func_id(rule.of)?.len();
        count("type parameters of a rule", lint.func_id(rule.func)?.len(), own)?;
    }
    for item in &p.items {
        lint.block(&item.body).map_err(|v| within("an item", v))?;
        let (vars, gives) = match &item.kind {
            ItemKind::Let(vars) => (vars.as_slice(), vars.len()),
            ItemKind::Param(_, var) => (std::slice::from_ref(var), 1),
            ItemKind::Show | ItemKind::Test(_) => (&[][..], 1),
        };
        count("results of an item", item.body.results.len(), gives)?;
        lint.binders(vars)?;
    }
    // A function is called from items, and reads what items before the call have bound.
    p.funcs.iter().try_for_each(|f| {
        count(&format!("parameters of `{}`", f.name), f.params.len(), 1)?;
        count(&format!("results of `{}`", f.name), f.body.results.len(), 1)?;
        let outer = lint.scope();
        let out = lint
            .ty_params(&f.tparams)
            .and_then(|()| lint.binders(&f.params))
            .and_then(|()| lint.block(&f.body))
            .map_err(|v| within(&f.name, v));
        lint.restore(outer);
        out
    })
}

fn within(what: &str, v: Violation) -> Violation {
    Violation { message: format!("in {what}: {}", v.message), ..v }
}

fn count(what: &str, found: usize, want: usize) -> Check {
    if found == want { Ok(()) } else { fail("C3", format!("{found} {what}, not {want}")) }
}

struct Lint<'a> {
    program: &'a Program,
    /// In scope.
    vars: HashSet<Var>,
    ty_vars: HashSet<TyVar>,
    /// Bound anywhere so far.
    seen: HashSet<Var>,
}

impl Lint<'_> {
    fn scope(&self) -> (HashSet<Var>, HashSet<TyVar>) {
        (self.vars.clone(), self.ty_vars.clone())
    }

    fn restore(&mut self, scope: (HashSet<Var>, HashSet<TyVar>)) {
        (self.vars, self.ty_vars) = scope;
    }

    fn ty_params(&mut self, params: &[TyVar]) -> Check {
        params.iter().try_for_each(|t| {
            if self.ty_vars.insert(t.clone()) {
                Ok(())
            } else {
                fail("C1", format!("the type parameter {} is bound twice", t.0.name))
            }
        })
    }

    fn binders(&mut self, vars: &[Var]) -> Check {
        vars.iter().try_for_each(|v| {
            if !self.seen.insert(v.clone()) {
                return fail("C1", format!("a variable {} is bound twice", v.name()));
            }
            self.ty(v.ty())?;
            self.vars.insert(v.clone());
            Ok(())
        })
    }

    fn block(&mut self, b: &Block) -> Check {
        let outer = self.scope();
        let stmts = b.stmts.iter().try_for_each(|s| self.stmt(s));
        let out = stmts.and_then(|()| b.results.iter().try_for_each(|a| self.atom(a)));
        self.restore(outer);
        out
    }

    fn stmt(&mut self, s: &Stmt) -> Check {
        let outer = self.scope();
        let mut parts = Parts { lint: self, found: Ok(()) };
        if let Expr::Lambda(l) = &s.expr {
            parts.found = parts.lint.ty_params(&l.tparams);
        }
        walk::visit(&s.expr, &mut parts);
        parts.found?;
        self.form(&s.expr)?;
        // The type of a polymorphic function mentions the type parameters of the lambda.
        self.vars = outer.0;
        let bound = self.binders(&s.vars);
        self.ty_vars = outer.1;
        bound
    }

    fn atom(&self, a: &Atom) -> Check {
        match a {
            Atom::Var(v) if !self.vars.contains(v) => {
                let ty = super::text(v.ty());
                fail("C2", format!("a variable {} of type {ty} is used before it is bound", v.name()))
            }
            Atom::Var(_) | Atom::Lit(_) => Ok(()),
        }
    }

    /// What a form says beside its operands and blocks.
    fn form(&self, e: &Expr) -> Check {
        match e {
            Expr::Prim(p, args) => {
                let scalars: Option<Vec<Scalar>> = args.iter().map(|a| a.ty().scalar()).collect();
                match scalars.and_then(|s| p.0.result(&s)) {
                    Some(_) => Ok(()),
                    None => fail("C3", format!("the operands do not fit `{}`", p.0.name)),
                }
            }
            Expr::Inject { ty, tag, args } => {
                self.ty(ty)?;
                match self.payloads(ty).map(|ps| ps.get(*tag as usize).copied()) {
                    Some(Some(n)) => count("values of a constructor", args.len(), n),
                    Some(None) => fail("C3", format!("{} has no constructor {tag}", super::text(ty))),
                    None => fail("C3", format!("{} is no enum", super::text(ty))),
                }
            }
            Expr::Record { ty, fields } => {
                self.ty(ty)?;
                match self.decl(ty) {
                    Some(TypeBody::Struct(own)) => count("fields of a struct", fields.len(), own.len()),
                    _ => fail("C3", format!("{} is no struct", super::text(ty))),
                }
            }
            Expr::Case { scrut, arms } => self.arms(&scrut.ty(), arms),
            Expr::For { ix, .. } | Expr::Reduce { ix, .. } | Expr::Prefix { ix, .. } | Expr::SizeOf(ix) => {
                self.ix(ix)
            }
            Expr::SizeVal(p) => self.poly(p),
            Expr::TableLit { elem: ty, .. } | Expr::Method { ty, .. } | Expr::AccNew(ty) | Expr::Zero(ty) => {
                self.ty(ty)
            }
            Expr::Call { func, tys, args, .. } => {
                count("arguments of a call", args.len(), 1)?;
                self.ty_args(tys, Some(self.func_id(*func)?))
            }
            Expr::FuncRef { func, tys } => self.ty_args(tys, Some(self.func_id(*func)?)),
            Expr::Apply { tys, .. } => self.ty_args(tys, None),
            Expr::Lambda(l) => count("results of a lambda", l.body.results.len(), 1),
            _ => Ok(()),
        }
    }

    fn arms(&self, scrut: &Ty, arms: &[Arm]) -> Check {
        let params: Vec<usize> = arms.iter().map(|a| a.params.len()).collect();
        let want = match scrut {
            Ty::Scalar(Scalar::Bool) => Some(vec![0, 0]),
            ty => self.payloads(ty),
        };
        match want {
            Some(want) if want != params => {
                fail("C3", format!("arms of a case take {params:?} values, not {want:?}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn decl(&self, ty: &Ty) -> Option<&TypeBody> {
        match ty {
            Ty::Named(id, _) | Ty::Index(Ix::Enum(id)) => {
                self.program.types.get(id.0 as usize).map(|d| &d.body)
            }
            Ty::Tangent(t) => self.decl(t),
            _ => None,
        }
    }

    /// How many values each constructor of an enum takes. The tangent of an enum begins with `Zero`.
    fn payloads(&self, ty: &Ty) -> Option<Vec<usize>> {
        let TypeBody::Enum(ctors) = self.decl(ty)? else { return None };
        let zero = matches!(ty, Ty::Tangent(_)).then_some(0);
        Some(zero.into_iter().chain(ctors.iter().map(|(_, ts)| ts.len())).collect())
    }

    /// The type parameters of a function.
    fn func_id(&self, id: FuncId) -> Result<&[TyVar], Violation> {
        match self.program.funcs.get(id.0 as usize) {
            Some(f) => Ok(&f.tparams),
            None => fail("C3", "there is no such function"),
        }
    }

    fn type_id(&self, id: TypeId) -> Result<&[TyVar], Violation> {
        match self.program.types.get(id.0 as usize) {
            Some(d) => Ok(&d.tparams),
            None => fail("C3", "there is no such type"),
        }
    }

    /// Arguments for type parameters, where these are known.
    fn ty_args(&self, args: &[TyArg], params: Option<&[TyVar]>) -> Check {
        let kinds = args.iter().map(|a| match a {
            TyArg::Ty(t) => self.ty(t).map(|()| Kind::Type),
            TyArg::Ix(ix) => self.ix(ix).map(|()| Kind::Ix),
            TyArg::Size(p) => self.poly(p).map(|()| Kind::Size),
        });
        let kinds = kinds.collect::<Result<Vec<Kind>, Violation>>()?;
        match params {
            Some(params) if !params.iter().map(|t| t.0.kind).eq(kinds.iter().copied()) => fail(
                "C3",
                format!("{} arguments {kinds:?} for {} type parameters", kinds.len(), params.len()),
            ),
            Some(_) | None => Ok(()),
        }
    }

    fn ty(&self, ty: &Ty) -> Check {
        match ty {
            Ty::Scalar(_) => Ok(()),
            Ty::Table(ix, elem) => self.ix(ix).and_then(|()| self.ty(elem)),
            Ty::Acc(t) | Ty::Tangent(t) => self.ty(t),
            Ty::Tuple(ts) => ts.iter().try_for_each(|t| self.ty(t)),
            Ty::Named(id, args) => self.ty_args(args, Some(self.type_id(*id)?)),
            Ty::Index(ix) => self.ix(ix),
            Ty::Fn(a, b) | Ty::Lin(a, b) => self.ty(a).and_then(|()| self.ty(b)),
            Ty::Var(v) => self.ty_var(v, Kind::Type),
            Ty::Sum(_) | Ty::Pack(_) | Ty::Box(_) => {
                fail("C6", format!("{} is first-order", super::text(ty)))
            }
        }
    }

    fn ix(&self, ix: &Ix) -> Check {
        match ix {
            Ix::Fin(a) => self.atom(a),
            Ix::Poly(p) => self.poly(p),
            Ix::Unit | Ix::Bool => Ok(()),
            Ix::Enum(id) => self.type_id(*id).map(|_| ()),
            Ix::Tuple(xs) => xs.iter().try_for_each(|x| self.ix(x)),
            Ix::Var(v) => self.ty_var(v, Kind::Ix),
        }
    }

    fn poly(&self, p: &Poly) -> Check {
        p.0.iter().flat_map(|m| &m.atoms).try_for_each(|a| match a {
            SizeAtom::Var(v) => self.atom(&Atom::Var(v.clone())),
            SizeAtom::Param(v) if v.0.kind == Kind::Ix => self.ty_var(v, Kind::Ix),
            SizeAtom::Param(v) => self.ty_var(v, Kind::Size),
        })
    }

    fn ty_var(&self, v: &TyVar, kind: Kind) -> Check {
        if !self.ty_vars.contains(v) {
            return fail("C2", format!("the type parameter {} is used where it is not bound", v.0.name));
        }
        if v.0.kind != kind {
            return fail("C3", format!("the type parameter {} is no {kind:?}", v.0.name));
        }
        Ok(())
    }
}

/// Checks operands, binders and blocks of an expression; keeps the first violation.
struct Parts<'a, 'b> {
    lint: &'a mut Lint<'b>,
    found: Check,
}

impl Visit for Parts<'_, '_> {
    fn atom(&mut self, atom: &Atom) {
        if self.found.is_ok() {
            self.found = self.lint.atom(atom);
        }
    }
    fn bind(&mut self, var: &Var) {
        if self.found.is_ok() {
            self.found = self.lint.binders(std::slice::from_ref(var));
        }
    }
    fn block(&mut self, block: &Block) {
        if self.found.is_ok() {
            self.found = self.lint.block(block);
        }
    }
}
