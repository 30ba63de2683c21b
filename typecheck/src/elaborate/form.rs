//! Forms with blocks: lambdas, `for`, branches, loops, accumulators, packs.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::sync::Arc;

use adl_core::{
    ir::{Arm, Atom, Block, Effect, Expr, Keep, Lambda, Lit, LoopKind, Stmt, Var},
    ty::{INT, Scalar, Ty as CoreTy},
};

use super::Ctx;
use crate::{
    builtins::{Op, TABLE},
    tree::{LocalId, TLoop, TLoopKind, TStmt, Tk, Tp, TpKind, Tx},
    types::{Con, Poly, Ty, V},
};

const UNIT: Atom = Atom::Lit(Lit::Unit);

impl Ctx<'_> {
    pub(crate) fn control(&mut self, e: &Tx) -> Atom {
        match &e.kind {
            Tk::Lambda(pat, body) => self.lambda(pat, body, &e.ty, &[], ""),
            Tk::For(pat, body) => {
                let ix = self.ix(&pat.ty);
                let var = self.param_var(pat);
                let body = self.block(|this| {
                    this.bind_pattern(pat, Atom::Var(var.clone()));
                    this.expr(body)
                });
                let ty = self.ty(&e.ty);
                self.bind(ty, Expr::For { ix, var, body })
            }
            Tk::If(c, a, b) => {
                let scrut = self.expr(c);
                let then = self.block(|this| this.expr(a));
                let orelse = self.block(|this| this.expr(b));
                let ty = self.ty(&e.ty);
                self.choose(ty, scrut, then, orelse)
            }
            Tk::When(c, body) => {
                let scrut = self.expr(c);
                let then = self.block(|this| {
                    this.expr(body);
                    UNIT
                });
                let nothing = Block { stmts: vec![], results: vec![UNIT] };
                self.choose(CoreTy::Tuple(vec![]), scrut, then, nothing)
            }
            Tk::Loop(l) => self.loop_(l, &e.ty),
            Tk::Accum(accs, body) => self.accum(accs, body, &e.ty),
            Tk::PlusAssign(id, indices, of, value) => {
                let (index, check) = self.indices(of, indices);
                let value = self.expr(value);
                let acc = self.e.locals.get(id).cloned().unwrap_or(UNIT);
                self.run(Expr::AccAdd { acc, index, value, check });
                UNIT
            }
            Tk::Block(stmts, last) => {
                for stmt in stmts {
                    self.stmt(stmt);
                }
                last.as_ref().map_or(UNIT, |e| self.expr(e))
            }
            Tk::Case(scrutinee, arms) => {
                let value = self.expr(scrutinee);
                let ty = self.ty(&e.ty);
                self.case(value, scrutinee, arms, &ty)
            }
            Tk::Pack(vars, inner) => self.pack(vars, inner, &e.ty),
            Tk::Open(vars, inner) => self.open(vars, inner, &e.ty),
            Tk::CheckSizes(checks, inner) => {
                let value = self.expr(inner);
                for (left, right) in checks {
                    self.check_size(left, right);
                }
                value
            }
            Tk::WithSizes(sizes, inner) => {
                for (v, e) in sizes {
                    let value = self.expr(e);
                    let var = self.as_var(value);
                    self.name_size(*v, var);
                }
                self.expr(inner)
            }
            _ => UNIT,
        }
    }

    pub(crate) fn choose(&mut self, ty: CoreTy, scrut: Atom, then: Block, orelse: Block) -> Atom {
        let arms = vec![Arm { params: vec![], body: orelse }, Arm { params: vec![], body: then }];
        self.bind(ty, Expr::Case { scrut, arms })
    }

    fn check_size(&mut self, left: &Poly, right: &Poly) {
        let what =
            format!("sizes `{}` and `{}`", self.c.arena.show_poly(left), self.c.arena.show_poly(right));
        let (left, right) = (self.size_value(left), self.size_value(right));
        self.run(Expr::Effect(Effect::CheckSize { left, right, what: Arc::from(what) }));
    }

    /// A lambda, polymorphic in `vars`.
    fn lambda(&mut self, pat: &Tp, body: &Tx, ty: &Ty, vars: &[V], name: &str) -> Atom {
        let tparams = self.type_params(vars);
        let mark = self.tparams.len();
        self.tparams.extend(tparams.iter().cloned());
        let param = self.param_var(pat);
        let body = self.block(|this| {
            this.bind_pattern(pat, Atom::Var(param.clone()));
            this.expr(body)
        });
        self.tparams.truncate(mark);
        let lambda = Lambda { tparams, param, body, span: self.span };
        let ty = self.ty(ty);
        self.bind_named(name, ty, Expr::Lambda(Arc::new(lambda)))
    }

    fn stmt(&mut self, stmt: &TStmt) {
        match stmt {
            TStmt::Let(pat, value) => {
                let atom = self.expr(value);
                let named = match (&pat.kind, &atom) {
                    // A literal or another variable keeps its own name.
                    (TpKind::Var(_), _) | (_, Atom::Var(_) | Atom::Lit(_)) => atom,
                };
                self.bind_pattern(pat, named);
            }
            TStmt::Expr(value) => {
                self.expr(value);
            }
            TStmt::Poly(id, vars, value) => {
                let name = self.c.locals[id.0 as usize].name.to_string();
                let atom = match &value.kind {
                    Tk::Lambda(pat, body) => self.lambda(pat, body, &value.ty, vars, &name),
                    _ => self.alias(vars, value, &name),
                };
                self.e.locals.insert(*id, atom);
            }
            TStmt::Rec(recs) => self.local_recursion(recs),
        }
    }

    /// Another name for a polymorphic function: a lambda that calls it.
    fn alias(&mut self, vars: &[V], value: &Tx, name: &str) -> Atom {
        let tparams = self.type_params(vars);
        let Ty::Con(Con::Fun | Con::Lin, sides) = self.c.arena.head(&value.ty) else {
            return self.expr(value);
        };
        let param = {
            let ty = self.ty(&sides[0]);
            Var::named("x", ty)
        };
        let result = self.ty(&sides[1]);
        let arg = Atom::Var(param.clone());
        let body = self.block(|this| {
            let f = this.expr(value);
            this.bind(result, Expr::Apply { f, tys: vec![], arg })
        });
        let ty = self.ty(&value.ty);
        let lambda = Lambda { tparams, param, body, span: self.span };
        self.bind_named(name, ty, Expr::Lambda(Arc::new(lambda)))
    }

    // ---- loops, accumulators ----------------------------------------------------------------------------

    fn loop_(&mut self, l: &TLoop, ty: &Ty) -> Atom {
        let init = self.expr(&l.init);
        let keep = match l.keep.as_ref().map(|k| (k.policy.text.as_str(), k.every)) {
            Some(("none", _)) => Keep::None,
            Some(("sqrt", _)) => Keep::Sqrt,
            Some(("log", _)) => Keep::Log,
            Some(("every", Some(k))) => Keep::Every(k),
            Some(_) | None => Keep::All,
        };
        let state = self.param_var(&l.pat);
        let kind = match &l.kind {
            TLoopKind::For(pat) => {
                let ix = self.ix(&pat.ty);
                LoopKind::For { ix, var: self.param_var(pat), reverse: false }
            }
            TLoopKind::While(pat, cond) => {
                let param = self.param_var(pat);
                let cond = self.block(|this| {
                    this.bind_pattern(pat, Atom::Var(param.clone()));
                    this.expr(cond)
                });
                LoopKind::While { params: vec![param], cond }
            }
        };
        let body = self.block(|this| {
            if let (TLoopKind::For(pat), LoopKind::For { var, .. }) = (&l.kind, &kind) {
                this.bind_pattern(pat, Atom::Var(var.clone()));
            }
            this.bind_pattern(&l.pat, Atom::Var(state.clone()));
            this.expr(&l.body)
        });
        let ty = self.ty(ty);
        self.bind(ty, Expr::Loop { kind, state: vec![state], init: vec![init], body, keep })
    }

    fn accum(&mut self, accs: &[(LocalId, Ty)], body: &Tx, ty: &Ty) -> Atom {
        let mut handles = vec![];
        for (id, t) in accs {
            let core = self.ty(t);
            let name = self.c.locals[id.0 as usize].name.to_string();
            let acc = self.bind_named(&name, CoreTy::Acc(Box::new(core.clone())), Expr::AccNew(core.clone()));
            self.e.locals.insert(*id, acc.clone());
            handles.push((acc, core));
        }
        self.expr(body);
        let mut tables: Vec<Atom> =
            handles.into_iter().map(|(acc, core)| self.bind(core, Expr::AccFreeze(acc))).collect();
        if tables.len() == 1
            && let Some(table) = tables.pop()
        {
            return table;
        }
        let ty = self.ty(ty);
        self.bind(ty, Expr::Tuple(tables))
    }

    // ---- packs --------------------------------------------------------------------------------------------

    fn pack(&mut self, vars: &[V], inner: &Tx, ty: &Ty) -> Atom {
        let item = self.expr(inner);
        let sizes: Vec<Atom> = vars
            .iter()
            .map(|v| {
                let atom = match self.c.arena.var(*v).kind {
                    crate::types::VKind::Size => crate::types::Atom::Size(*v),
                    crate::types::VKind::Type => crate::types::Atom::SizeOf(*v),
                };
                self.size_value(&Poly::atom(atom))
            })
            .collect();
        let parts: Vec<Atom> = sizes.into_iter().chain([item]).collect();
        let core = self.ty(ty);
        self.bind(core, Expr::Tuple(parts))
    }

    fn open(&mut self, vars: &[V], inner: &Tx, ty: &Ty) -> Atom {
        let names: Vec<String> = vars
            .iter()
            .map(|v| self.c.arena.var(*v).name.as_deref().filter(|n| *n != "_").unwrap_or("n").to_string())
            .collect();
        if let Tk::Call(f, path) = &inner.kind
            && matches!(f.kind, Tk::Builtin(k) if matches!(TABLE[k].op, Op::LoadNpy))
        {
            let path = self.expr(path);
            let load = self.load(path, &inner.ty);
            let sizes: Vec<Var> = names.iter().map(|n| Var::named(n, INT)).collect();
            for (v, var) in vars.iter().zip(&sizes) {
                self.name_size(*v, var.clone());
            }
            let core = self.ty(ty);
            let item = Var::new(core);
            let vars = sizes.into_iter().chain([item.clone()]).collect();
            self.stmts.push(Stmt { vars, expr: load, span: self.span, dies: vec![] });
            return Atom::Var(item);
        }
        let pack = self.expr(inner);
        for ((k, v), name) in (0u32..).zip(vars).zip(&names) {
            let size = self.bind_named(name, INT, Expr::Proj(pack.clone(), k));
            let var = self.as_var(size);
            self.name_size(*v, var);
        }
        let core = self.ty(ty);
        self.bind(core, Expr::Proj(pack, u32::try_from(vars.len()).unwrap_or(0)))
    }

    /// Reads a file: rank and element from the pack's type.
    pub(crate) fn load(&mut self, path: Atom, ty: &Ty) -> Expr {
        let mut leaf = match self.c.arena.head(ty) {
            Ty::Exists(pack) => self.c.arena.head(&pack.body),
            other => other,
        };
        let mut rank = 0;
        while let Ty::Con(Con::Table, args) = &leaf {
            rank += 1;
            leaf = self.c.arena.head(&args[1]);
        }
        let elem = self.ty(&leaf).scalar().unwrap_or(Scalar::F64);
        Expr::Effect(Effect::LoadNpy { path, rank, elem })
    }
}
