//! Is a lambda linear in its argument? Looks at the typed tree, once types are final.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::collections::BTreeSet;

use adl_core::{bulk::BulkDiff, ir::Method};
use adl_diag::Span;
use adl_syntax::ast::{BinOp, Lit};

use crate::{
    builtins::{Op, TABLE},
    checker::Checker,
    errors,
    tree::{LocalId, TLoopKind, TStmt, TUpdate, Tk, Tp, TpKind, Tx},
    types::{Con, Ty},
};

type Vars = BTreeSet<LocalId>;

/// Why something is not linear, and where.
type Broken = (Span, String);

impl Checker {
    /// Reports a lambda that was checked against `-o` and is not linear.
    pub(crate) fn check_linear(&mut self, lambda: &Tx) {
        let Tk::Lambda(pat, body) = &lambda.kind else { return };
        let mut vars = Vars::new();
        bind(pat, &mut vars);
        if let Err((span, why)) = self.linear_in(body, &vars)
            && !self.mentions_error(&lambda.ty)
        {
            self.report(errors::not_linear(span, &why));
        }
    }

    fn is_nothing(&self, t: &Ty) -> bool {
        self.is_unit_like(&self.arena.tangent(t))
    }

    fn linear_in(&self, e: &Tx, vars: &Vars) -> Result<(), Broken> {
        let no = |why: &str| Err((e.span, why.to_string()));
        let uses = |e: &Tx| mentions(e, vars);
        if !uses(e) {
            let structural = matches!(
                e.kind,
                Tk::Tuple(_) | Tk::If(..) | Tk::Block(..) | Tk::For(..) | Tk::List(_) | Tk::Build(..)
            );
            // A constructor without payload, `Zero` too, has nothing to be linear in.
            let bare = matches!(e.kind, Tk::Ctor(_)) && self.arena.is(&e.ty, Con::Tangent);
            if bare || is_zero(e) || self.is_nothing(&e.ty) {
                return Ok(());
            }
            if !structural {
                return no("this does not contain the variable (only `zero` may be added)");
            }
        }
        match &e.kind {
            Tk::Error | Tk::Local(..) | Tk::Lit(_) => Ok(()),
            Tk::Neg(inner) | Tk::Field(inner, _) | Tk::CheckSizes(_, inner) | Tk::WithSizes(_, inner) => {
                self.linear_in(inner, vars)
            }
            Tk::Tuple(es) | Tk::List(es) => es.iter().try_for_each(|e| self.linear_in(e, vars)),
            Tk::Build(_, fields) => fields.iter().try_for_each(|(_, e)| self.linear_in(e, vars)),
            Tk::Chain(first, links) => self.linear_chain(first, links, vars),
            Tk::Index(table, indices) => {
                if indices.iter().any(uses) {
                    return no("the variable is in an index");
                }
                self.linear_in(table, vars)
            }
            Tk::For(_, body) => self.linear_in(body, vars),
            Tk::If(c, a, b) => {
                if uses(c) {
                    return Err((c.span, "the variable is tested".into()));
                }
                self.linear_in(a, vars)?;
                self.linear_in(b, vars)
            }
            Tk::Case(scrutinee, arms) => {
                if uses(scrutinee) || arms.iter().any(|a| a.guard.as_ref().is_some_and(uses)) {
                    return Err((scrutinee.span, "the variable is tested".into()));
                }
                arms.iter().try_for_each(|a| self.linear_in(&a.body, vars))
            }
            Tk::Block(stmts, last) => self.linear_block(stmts, last.as_deref(), vars),
            Tk::Call(f, arg) => self.linear_call(e, f, arg, vars),
            Tk::Accum(accs, body) => {
                let mut inner = vars.clone();
                inner.extend(accs.iter().map(|(id, _)| *id));
                self.linear_writes(body, &inner, vars)
            }
            _ => no("this form is not allowed on a linear variable"),
        }
    }

    fn linear_chain(&self, first: &Tx, links: &[crate::tree::TLink], vars: &Vars) -> Result<(), Broken> {
        let uses = |e: &Tx| mentions(e, vars);
        let mut left_uses = uses(first);
        let sums = links.iter().all(|l| matches!(l.op, BinOp::Add | BinOp::Sub));
        if sums {
            self.linear_in(first, vars)?;
            return links.iter().try_for_each(|l| self.linear_in(&l.right, vars));
        }
        if left_uses {
            self.linear_in(first, vars)?;
        }
        for link in links {
            let right = uses(&link.right);
            let broken = |why: String| Err((link.span, why));
            match link.op {
                BinOp::Mul | BinOp::MatMul if left_uses && right => {
                    return broken(format!(
                        "`{}` of two terms that both contain the variable",
                        link.op.symbol()
                    ));
                }
                BinOp::Mul | BinOp::MatMul => {}
                BinOp::Div if right => return broken("division by the variable".into()),
                BinOp::Div => {}
                _ => return broken(format!("the variable is under `{}`", link.op.symbol())),
            }
            if right {
                self.linear_in(&link.right, vars)?;
            }
            left_uses |= right;
        }
        Ok(())
    }

    fn linear_block(&self, stmts: &[TStmt], last: Option<&Tx>, vars: &Vars) -> Result<(), Broken> {
        let mut vars = vars.clone();
        for stmt in stmts {
            match stmt {
                TStmt::Let(pat, value) => {
                    if mentions(value, &vars) {
                        self.linear_in(value, &vars)?;
                        bind(pat, &mut vars);
                    }
                }
                TStmt::Poly(_, _, value) | TStmt::Expr(value) => {
                    if mentions(value, &vars) {
                        return Err((value.span, "the variable is captured or thrown away".into()));
                    }
                }
                TStmt::Rec(recs) => {
                    if let Some(rec) = recs.iter().find(|rec| mentions(&rec.value, &vars)) {
                        return Err((rec.value.span, "the variable is captured".into()));
                    }
                }
            }
        }
        last.map_or(Ok(()), |e| self.linear_in(e, &vars))
    }

    fn linear_call(&self, call: &Tx, f: &Tx, arg: &Tx, vars: &Vars) -> Result<(), Broken> {
        if mentions(f, vars) {
            return Err((f.span, "the variable is in the function that is called".into()));
        }
        if let Tk::Builtin(k) = f.kind {
            let builtin = &TABLE[k];
            let parts: Vec<&Tx> = match &arg.kind {
                Tk::Tuple(es) => es.iter().filter(|e| mentions(e, vars)).collect(),
                _ => vec![arg],
            };
            match builtin.op {
                Op::Method(Method::Sum | Method::Concat) => return self.linear_in(arg, vars),
                Op::Convert(Con::Float | Con::F32) => return self.linear_in(arg, vars),
                Op::Method(Method::Dot) if parts.len() > 1 => {
                    return Err((call.span, "`dot` of two terms that both contain the variable".into()));
                }
                Op::Method(Method::Dot) => {
                    return parts.into_iter().try_for_each(|e| self.linear_in(e, vars));
                }
                Op::Method(Method::Bulk(row)) => {
                    if let (BulkDiff::Rule { linear_in, .. }, Tk::Tuple(es)) = (row.0.diff, &arg.kind) {
                        let place = row.0.ints + linear_in;
                        if es.iter().enumerate().all(|(k, e)| k == place || !mentions(e, vars)) {
                            return self.linear_in(&es[place], vars);
                        }
                    }
                }
                _ => {}
            }
            return Err((call.span, format!("the variable is passed to a `->`, `{}`", builtin.name)));
        }
        if matches!(f.kind, Tk::Ctor(_)) && self.arena.is(&call.ty, Con::Tangent) {
            return self.linear_in(arg, vars);
        }
        match self.arena.head(&f.ty) {
            Ty::Con(Con::Lin, _) => self.linear_in(arg, vars),
            _ => Err((call.span, "the variable is passed to a `->`".into())),
        }
    }

    /// The body of an `accum`: what is added has to be linear.
    fn linear_writes(&self, e: &Tx, all: &Vars, vars: &Vars) -> Result<(), Broken> {
        match &e.kind {
            Tk::PlusAssign(_, indices, _, value) => {
                if indices.iter().any(|i| mentions(i, vars)) {
                    return Err((e.span, "the variable is in an index".into()));
                }
                self.linear_in(value, vars)
            }
            Tk::For(_, body) => self.linear_writes(body, all, vars),
            Tk::When(c, body) if !mentions(c, vars) => self.linear_writes(body, all, vars),
            Tk::Block(stmts, last) => {
                for stmt in stmts {
                    match stmt {
                        TStmt::Expr(e) => self.linear_writes(e, all, vars)?,
                        TStmt::Let(_, value) | TStmt::Poly(_, _, value) if mentions(value, vars) => {
                            return Err((value.span, "bind it outside the `accum`".into()));
                        }
                        TStmt::Rec(recs) => {
                            if let Some(rec) = recs.iter().find(|rec| mentions(&rec.value, vars)) {
                                return Err((rec.value.span, "define it outside the `accum`".into()));
                            }
                        }
                        TStmt::Let(..) | TStmt::Poly(..) => {}
                    }
                }
                last.as_ref().map_or(Ok(()), |e| self.linear_writes(e, all, vars))
            }
            _ if !mentions(e, all) => Ok(()),
            _ => Err((e.span, "this form is not allowed on a linear variable".into())),
        }
    }
}

/// The literal 0 and `zero`.
fn is_zero(e: &Tx) -> bool {
    match &e.kind {
        Tk::Lit(Lit::Int(0)) => true,
        Tk::Lit(Lit::Float(x)) => *x == 0.0,
        Tk::Builtin(k) => matches!(TABLE[*k].op, Op::Method(Method::Zero)),
        _ => false,
    }
}

fn bind(p: &Tp, vars: &mut Vars) {
    match &p.kind {
        TpKind::Wild | TpKind::Lit(_) => {}
        TpKind::Var(id) => {
            vars.insert(*id);
        }
        TpKind::Tuple(ps) | TpKind::Ctor(_, ps) => ps.iter().for_each(|p| bind(p, vars)),
        TpKind::Struct(_, fields) => fields.iter().for_each(|(_, p)| bind(p, vars)),
    }
}

/// Whether the expression mentions one of the variables.
pub(crate) fn mentions(e: &Tx, vars: &Vars) -> bool {
    let any = |es: &[Tx]| es.iter().any(|e| mentions(e, vars));
    match &e.kind {
        Tk::Error
        | Tk::Lit(_)
        | Tk::Func(..)
        | Tk::Builtin(_)
        | Tk::Ctor(_)
        | Tk::SizeOf(_)
        | Tk::SizeVal(_) => false,
        Tk::Local(id, _) => vars.contains(id),
        Tk::Tuple(es) | Tk::List(es) => any(es),
        Tk::Chain(first, links) => mentions(first, vars) || links.iter().any(|l| mentions(&l.right, vars)),
        Tk::Neg(e)
        | Tk::Not(e)
        | Tk::Field(e, _)
        | Tk::Lambda(_, e)
        | Tk::For(_, e)
        | Tk::Pack(_, e)
        | Tk::Open(_, e)
        | Tk::CheckSizes(_, e)
        | Tk::Accum(_, e) => mentions(e, vars),
        Tk::Call(a, b) | Tk::When(a, b) => mentions(a, vars) || mentions(b, vars),
        Tk::Index(a, es) => mentions(a, vars) || any(es),
        Tk::With(a, updates) => {
            mentions(a, vars)
                || updates.iter().any(|u| match u {
                    TUpdate::Field(_, e) => mentions(e, vars),
                    TUpdate::Index(es, e) => any(es) || mentions(e, vars),
                })
        }
        Tk::Build(_, fields) => fields.iter().any(|(_, e)| mentions(e, vars)),
        Tk::If(a, b, c) => mentions(a, vars) || mentions(b, vars) || mentions(c, vars),
        Tk::Loop(l) => {
            let cond = match &l.kind {
                TLoopKind::For(_) => false,
                TLoopKind::While(_, c) => mentions(c, vars),
            };
            cond || mentions(&l.init, vars) || mentions(&l.body, vars)
        }
        Tk::PlusAssign(id, es, _, e) => vars.contains(id) || any(es) || mentions(e, vars),
        Tk::Block(stmts, last) => {
            let stmt = |s: &TStmt| match s {
                TStmt::Let(_, e) | TStmt::Poly(_, _, e) | TStmt::Expr(e) => mentions(e, vars),
                TStmt::Rec(recs) => recs.iter().any(|rec| mentions(&rec.value, vars)),
            };
            stmts.iter().any(stmt) || last.as_ref().is_some_and(|e| mentions(e, vars))
        }
        Tk::Case(e, arms) => {
            let arm = |a: &crate::tree::TArm| {
                a.guard.as_ref().is_some_and(|g| mentions(g, vars)) || mentions(&a.body, vars)
            };
            mentions(e, vars) || arms.iter().any(arm)
        }
        Tk::WithSizes(sizes, e) => sizes.iter().any(|(_, e)| mentions(e, vars)) || mentions(e, vars),
    }
}
