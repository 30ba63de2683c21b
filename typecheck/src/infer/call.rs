//! Calls: arity, built-ins with rules of their own, functions whose result has the size of an argument.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::sync::Arc;

use adl_diag::{Code, Span};
use adl_syntax::ast::{Expr, ExprKind};

use crate::{
    builtins::{Op, TABLE},
    checker::{Checker, Entry, Scheme, Target},
    constraint::Kind,
    errors,
    tree::{Tk, Tx},
    types::{Con, Exists, Ty, VKind, boolean, fun, int, string, table, tuple, unit},
};

impl Checker {
    /// `x |> f` is `f(x)`, `x |> g(a, _)` is `g(a, x)`.
    pub(crate) fn pipe(&mut self, first: &Expr, rest: &[Expr]) -> Tx {
        let mut value = first.clone();
        for stage in rest {
            let span = value.span.to(stage.span);
            let depth = 1 + value.depth.max(stage.depth);
            let is_hole = |e: &&Expr| matches!(e.kind, ExprKind::Hole);
            let kind = match &stage.kind {
                ExprKind::Call(f, args) if args.iter().filter(is_hole).count() == 1 => {
                    let place = args.iter().position(|e| is_hole(&e)).unwrap_or(0);
                    let mut args = args.clone();
                    args[place] = value;
                    ExprKind::Call(f.clone(), args)
                }
                _ => ExprKind::Call(Box::new(stage.clone()), vec![value]),
            };
            value = Expr { span, depth, kind };
        }
        self.infer(&value)
    }

    pub(crate) fn call(&mut self, f: &Expr, args: &[Expr], span: Span) -> Tx {
        let name = self.name_of(f);
        let entry = match &f.kind {
            ExprKind::Var(_) | ExprKind::Field(..) => self.lookup(&name).cloned(),
            _ => None,
        };
        if let Some(Entry { target: Target::Builtin(k), .. }) = &entry
            && let Some(value) = self.special_call(*k, args, f.span, span)
        {
            return value;
        }
        if let Some(entry @ Entry { target: Target::Func(_) | Target::Local(_), .. }) = &entry
            && !entry.scheme.dep.is_empty()
        {
            return self.dependent_call(entry, f, args, span);
        }
        let callee = self.used(f);
        self.apply(callee, &name, args, span)
    }

    /// Applies a function to arguments as they are written.
    pub(crate) fn apply(&mut self, callee: Tx, name: &str, args: &[Expr], span: Span) -> Tx {
        let mut ty = self.arena.head(&callee.ty);
        if let Ty::Var(v) = &ty
            && self.arena.is_open(*v)
        {
            let (a, b) = (self.meta(), self.meta());
            self.unify_at(&ty, &fun(a, b), callee.span);
            ty = self.arena.head(&ty);
        }
        let Ty::Con(Con::Fun | Con::Lin, sides) = &ty else {
            if !matches!(ty, Ty::Error) {
                let is_table = matches!(ty, Ty::Con(Con::Table, _));
                self.report(errors::not_a_function(callee.span, &self.arena.show(&ty), is_table));
            }
            args.iter().for_each(|e| drop(self.infer(e)));
            return Tx::error(span);
        };
        let before = self.errors();
        let Some(arg) = self.arguments(name, &ty, &sides[0], args, callee.span) else {
            return Tx::error(span);
        };
        self.solve(span);
        if self.errors() > before {
            self.note_callee(name, &callee);
        }
        Tx::new(span, sides[1].clone(), Tk::Call(Box::new(callee), Box::new(arg)))
    }

    /// Adds the type of the function to a message about its arguments.
    fn note_callee(&mut self, name: &str, callee: &Tx) {
        let named = matches!(callee.kind, Tk::Func(..) | Tk::Local(..) | Tk::Builtin(_));
        let Some(entry) = self.lookup(name).filter(|e| named && !self.arena.is_error(&e.scheme.ty)) else {
            return;
        };
        let note = format!("`{name}` has type `{}`", self.show_scheme(&entry.scheme));
        let about_types = [Code::E0201, Code::E0202, Code::E0203, Code::E0204, Code::E0213];
        if let Some(last) = self.diagnostics.last_mut()
            && about_types.contains(&last.code)
            && last.notes.is_empty()
        {
            last.notes.push(note);
        }
    }

    /// The argument, a tuple where there are several; `None` when their number is wrong.
    fn arguments(&mut self, name: &str, of: &Ty, param: &Ty, args: &[Expr], place: Span) -> Option<Tx> {
        let whole = args.iter().map(|e| e.span).reduce(Span::to).unwrap_or(place.end_point());
        let head = self.arena.head(param);
        let wanted = match &head {
            Ty::Con(Con::Tuple, parts) => Some(parts.len()),
            Ty::Var(_) | Ty::Error => None,
            Ty::Con(Con::Tangent, _) => None,
            Ty::Con(..) | Ty::Fin(_) | Ty::Exists(_) => Some(1),
        };
        if let Some(wanted) = wanted
            && wanted != args.len()
        {
            // One argument may be the whole tuple.
            if let [one] = args
                && let ExprKind::Tuple(parts) = &strip(one).kind
                && parts.len() == wanted
            {
                return Some(self.check(one, param));
            }
            if args.len() == 1 && !matches!(strip(&args[0]).kind, ExprKind::Lit(_) | ExprKind::List(_)) {
                let value = self.used(&args[0]);
                let t = self.arena.head(&value.ty);
                if matches!(&t, Ty::Var(_) | Ty::Error | Ty::Con(Con::Tuple | Con::Tangent, _)) {
                    return Some(self.coerce(value, param));
                }
            } else {
                args.iter().for_each(|e| drop(self.infer(e)));
            }
            let shown = self.arena.show(of);
            self.report(errors::arity(place, name, wanted, args.len(), &shown));
            return None;
        }
        if args.len() == 1 {
            return Some(self.check(&args[0], param));
        }
        let parts = match &head {
            Ty::Con(Con::Tuple, parts) => parts.to_vec(),
            _ => args.iter().map(|_| self.meta()).collect(),
        };
        let known = matches!(&head, Ty::Con(Con::Tuple, _));
        let mut typed = vec![];
        for (e, want) in args.iter().zip(&parts) {
            typed.push(if known { self.check(e, want) } else { self.used(e) });
            self.solve(e.span);
        }
        let ty = tuple(typed.iter().map(|t| t.ty.clone()).collect());
        let value = Tx::new(whole, ty.clone(), Tk::Tuple(typed));
        if !known {
            self.unify_at(&ty, param, whole);
        }
        Some(value)
    }

    // ---- built-ins ------------------------------------------------------------------------------------

    /// A built-in as a value.
    pub(crate) fn builtin_value(&mut self, k: usize, scheme: &Scheme, span: Span) -> Tx {
        let builtin = &TABLE[k];
        let ty = if let Some(target) = builtin.target() {
            let (operand, result) = (self.meta(), self.meta());
            let kind = Kind::Conv { target, operand: operand.clone(), result: result.clone() };
            self.emit(kind, span, None);
            fun(operand, result)
        } else if let Some(op) = builtin.arith() {
            let (left, right, result) = (self.meta(), self.meta(), self.meta());
            let kind = Kind::Bin { op, left: left.clone(), right: right.clone(), result: result.clone() };
            self.emit(kind, span, None);
            fun(tuple(vec![left, right]), result)
        } else if matches!(builtin.op, Op::Size) {
            self.report(errors::misplaced(span, Code::E0310, "`size` takes an index set", "write `size(n)`"));
            Ty::Error
        } else if matches!(builtin.op, Op::LoadNpy) {
            self.report(errors::misplaced(
                span,
                Code::E0214,
                "`load_npy` is not a value",
                "call it where the type is known: `let x: n=>Float = load_npy(\"x.npy\")`",
            ));
            Ty::Error
        } else {
            self.instantiate(scheme, builtin.name).0
        };
        Tx::new(span, ty, Tk::Builtin(k))
    }

    /// Calls with rules of their own.
    fn special_call(&mut self, k: usize, args: &[Expr], place: Span, span: Span) -> Option<Tx> {
        let builtin = &TABLE[k];
        match (builtin.op, args) {
            (Op::Size, [e]) => {
                let ExprKind::Var(name) = &strip(e).kind else {
                    self.report(errors::misplaced(
                        e.span,
                        Code::E0310,
                        "`size` takes the name of an index set",
                        "name the set in the signature: `xs: n=>a`, then `size(n)`",
                    ));
                    return Some(Tx::error(span));
                };
                let set = self.named_set(name, e.span);
                if self.arena.is_error(&set) {
                    return Some(Tx::error(span));
                }
                Some(Tx::new(span, int(), Tk::SizeOf(set)))
            }
            (Op::Pairwise(..), [l, r]) => {
                let (left, right) = (self.used(l), self.used(r));
                let result = self.meta();
                let op = builtin.arith()?;
                let kind =
                    Kind::Bin { op, left: left.ty.clone(), right: right.ty.clone(), result: result.clone() };
                self.emit(kind, place, Some((left.span, right.span)));
                self.solve(span);
                let callee = Tx::new(
                    place,
                    fun(tuple(vec![left.ty.clone(), right.ty.clone()]), result.clone()),
                    Tk::Builtin(k),
                );
                let arg_ty = tuple(vec![left.ty.clone(), right.ty.clone()]);
                let arg = Tx::new(span, arg_ty, Tk::Tuple(vec![left, right]));
                Some(Tx::new(span, result, Tk::Call(Box::new(callee), Box::new(arg))))
            }
            (Op::Pairwise(..), _) => {
                args.iter().for_each(|e| drop(self.infer(e)));
                self.report(errors::arity(place, builtin.name, 2, args.len(), "(a, a) -> a"));
                Some(Tx::error(span))
            }
            (Op::Assert, [cond]) => {
                let cond = self.check(cond, &boolean());
                let message = Tx::new(
                    span,
                    string(),
                    Tk::Lit(adl_syntax::ast::Lit::Str("the assertion failed".into())),
                );
                let ty = tuple(vec![boolean(), string()]);
                let callee = Tx::new(place, fun(ty.clone(), unit()), Tk::Builtin(k));
                let arg = Tx::new(span, ty, Tk::Tuple(vec![cond, message]));
                Some(Tx::new(span, unit(), Tk::Call(Box::new(callee), Box::new(arg))))
            }
            (Op::LoadNpy, _) => {
                let want = self.meta();
                Some(self.load(args, &want, span))
            }
            _ => None,
        }
    }

    /// What a callee is called: its name in scope, or what stands in for one in messages.
    pub(crate) fn name_of(&self, f: &Expr) -> String {
        match &f.kind {
            ExprKind::Var(name) | ExprKind::Ctor(name) => name.clone(),
            // A dot in front: no name in scope looks like that.
            ExprKind::Field(value, name) => {
                self.qualified_name(value, name).unwrap_or_else(|| format!(".{}", name.text))
            }
            _ => "the function".into(),
        }
    }

    pub(crate) fn is_load(&self, f: &Expr) -> bool {
        let ExprKind::Var(name) = &f.kind else { return false };
        match self.lookup(name).map(|e| e.target) {
            Some(Target::Builtin(k)) => matches!(TABLE[k].op, Op::LoadNpy),
            Some(_) | None => false,
        }
    }

    /// `load_npy(path)` where a table is expected: rank and element are those of the annotation.
    pub(crate) fn load(&mut self, args: &[Expr], want: &Ty, span: Span) -> Tx {
        let [path] = args else {
            self.report(errors::arity(span, "load_npy", 1, args.len(), "String -> exists n. n=>Float"));
            return Tx::error(span);
        };
        let path = self.check(path, &string());
        let mut rank = 0;
        let mut leaf = match self.arena.head(want) {
            Ty::Exists(pack) => self.arena.head(&pack.body),
            head => head,
        };
        while let Ty::Con(Con::Table, args) = &leaf {
            rank += 1;
            leaf = self.arena.head(&args[1]);
        }
        let scalar = matches!(&leaf, Ty::Con(Con::Float | Con::F32 | Con::Int | Con::Bool, _));
        if rank == 0 || !scalar {
            self.report(errors::misplaced(
                span,
                Code::E0214,
                "the type of the table in the file is not known here",
                "annotate it: `let x: n=>d=>Float = load_npy(\"x.npy\")`",
            ));
            return Tx::error(span);
        }
        let mut vars = vec![];
        for _ in 0..rank {
            let v = self.rigid("_", VKind::Type, true);
            vars.push(v);
        }
        let body = vars.iter().rev().fold(leaf, |elem, v| table(Ty::Var(*v), elem));
        let ty = Ty::Exists(Arc::new(Exists { vars, body }));
        let k = TABLE.iter().position(|b| matches!(b.op, Op::LoadNpy)).unwrap_or(0);
        let callee = Tx::new(span, fun(string(), ty.clone()), Tk::Builtin(k));
        Tx::new(span, ty, Tk::Call(Box::new(callee), Box::new(path)))
    }
}

fn strip(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Paren(inner) => strip(inner),
        _ => e,
    }
}
