//! Forms with scopes: lambdas, `for`, branches, loops, accumulators, blocks.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_diag::Span;
use adl_syntax::ast::{Arm, Expr, ExprKind, Keep, Let, Loop, LoopKind, Name, Pat, PatKind, Stmt, Type};

use crate::{
    checker::{Checker, Scheme, Target},
    errors,
    infer::expr::Sizes,
    tree::{TArm, TLoop, TLoopKind, TStmt, Tk, Tp, Tx},
    types::{Class, Con, Ty, boolean, fun, lin, tuple, unit},
};

/// What is expected of the branches of a form.
type Branch<'a> = Option<&'a Ty>;

impl Checker {
    // ---- lambdas --------------------------------------------------------------------------------------

    pub(crate) fn lambda(&mut self, p: &Pat, body: &Expr, span: Span) -> Tx {
        let param = self.meta();
        let (pat, body) = self.lambda_body(p, &param, body, None);
        Tx::new(span, fun(param, body.ty.clone()), Tk::Lambda(Box::new(pat), Box::new(body)))
    }

    fn lambda_body(&mut self, p: &Pat, param: &Ty, body: &Expr, want: Branch) -> (Tp, Tx) {
        let mut pat = None;
        self.lambdas += 1;
        let body = self.scoped(|this| {
            pat = Some(this.binder(p, param));
            match want {
                Some(want) => this.check(body, want),
                None => this.infer(body),
            }
        });
        self.lambdas -= 1;
        let wild = || Tp { ty: param.clone(), span: p.span, kind: crate::tree::TpKind::Wild };
        (pat.unwrap_or_else(wild), body)
    }

    /// A lambda where `a -> b` or `a -o b` is expected.
    pub(crate) fn check_lambda(&mut self, p: &Pat, body: &Expr, want: &Ty, span: Span) -> Tx {
        let Ty::Con(arrow, sides) = want else { return Tx::error(span) };
        let (pat, typed) = self.lambda_body(p, &sides[0], body, Some(&sides[1]));
        let lambda = Tx::new(span, want.clone(), Tk::Lambda(Box::new(pat), Box::new(typed)));
        if *arrow == Con::Lin {
            self.linear.push(lambda.clone());
            return Tx { ty: lin(sides[0].clone(), sides[1].clone()), ..lambda };
        }
        lambda
    }

    // ---- for ------------------------------------------------------------------------------------------

    pub(crate) fn for_(&mut self, binders: &[Pat], body: &Expr, span: Span) -> Tx {
        let [binder, rest @ ..] = binders else { return self.infer(body) };
        let mark = self.value_sizes.len();
        let (p, set) = self.index_binder(binder);
        let sizes = self.value_sizes.split_off(mark);
        let mut pat = None;
        let body = self.scoped(|this| {
            pat = Some(this.index_pattern(p, &set));
            if rest.is_empty() { this.infer(body) } else { this.for_(rest, body, span) }
        });
        let Some(pat) = pat else { return Tx::error(span) };
        let ty = crate::types::table(set, body.ty.clone());
        self.value_sizes.extend(sizes);
        self.with_sizes(mark, Tx::new(span, ty, Tk::For(Box::new(pat), Box::new(body))))
    }

    /// The pattern of a `for` and its index set.
    fn index_binder<'a>(&mut self, binder: &'a Pat) -> (&'a Pat, Ty) {
        if let PatKind::Typed(p, t) = &binder.kind {
            return (p, self.set_annotation(t));
        }
        let set = self.meta_ix();
        self.for_sets.push((set.clone(), binder.span, binder_name(binder)));
        (binder, set)
    }

    fn index_pattern(&mut self, p: &Pat, set: &Ty) -> Tp {
        if let PatKind::Tuple(ps) = &p.kind {
            let known = matches!(self.arena.head(set), Ty::Con(Con::Tuple, args) if args.len() == ps.len());
            if !known {
                let sets: Vec<Ty> = ps.iter().map(|_| self.meta_ix()).collect();
                self.unify_at(set, &tuple(sets), p.span);
            }
        }
        self.pattern(p, set)
    }

    // ---- branches ---------------------------------------------------------------------------------------

    pub(crate) fn if_(&mut self, c: &Expr, a: &Expr, b: &Expr, want: Branch, span: Span) -> Tx {
        let cond = self.check(c, &boolean());
        self.solve(c.span);
        let then = self.branch(a, want);
        let orelse = self.branch(b, want);
        let ty = match want {
            Some(want) => want.clone(),
            None => self.join(&then.ty, &orelse.ty, b.span, Some(a.span)),
        };
        Tx::new(span, ty, Tk::If(Box::new(cond), Box::new(then), Box::new(orelse)))
    }

    fn branch(&mut self, e: &Expr, want: Branch) -> Tx {
        self.scoped(|this| match want {
            Some(want) => this.check(e, want),
            None => this.infer(e),
        })
    }

    /// The type of two branches: a linear map and a function give a function.
    fn join(&mut self, first: &Ty, second: &Ty, span: Span, first_span: Option<Span>) -> Ty {
        let (x, y) = (self.arena.head(first), self.arena.head(second));
        if let (Ty::Con(c, xs), Ty::Con(d, ys)) = (&x, &y)
            && matches!((c, d), (Con::Fun, Con::Lin) | (Con::Lin, Con::Fun))
        {
            self.unify_at(&ys[0], &xs[0], span);
            self.unify_at(&ys[1], &xs[1], span);
            return fun(xs[0].clone(), xs[1].clone());
        }
        if let Err(fail) = self.arena.unify(&y, &x) {
            let fail = self.in_whole(fail, &y, &x);
            let mut d = errors::at(*fail, span, "this branch differs");
            if let Some(first) = first_span {
                d = d.label(first, format!("this branch is `{}`", self.arena.show(&x)));
            }
            self.report(d);
            return Ty::Error;
        }
        first.clone()
    }

    pub(crate) fn when(&mut self, c: &Expr, body: &Expr, span: Span) -> Tx {
        let cond = self.check(c, &boolean());
        let body = self.branch(body, None);
        self.want_unit(&body);
        Tx::new(span, unit(), Tk::When(Box::new(cond), Box::new(body)))
    }

    pub(crate) fn case(&mut self, scrutinee: &Expr, arms: &[Arm], want: Branch, span: Span) -> Tx {
        let value = self.used(scrutinee);
        self.solve(scrutinee.span);
        let mut result: Option<(Ty, Span)> = None;
        let mut typed: Vec<TArm> = vec![];
        for arm in arms {
            let (mut pat, mut guard) = (None, None);
            let body = self.scoped(|this| {
                pat = Some(this.pattern(&arm.pat, &value.ty));
                guard = arm.guard.as_ref().map(|g| this.check(g, &boolean()));
                match want {
                    Some(want) => this.check(&arm.body, want),
                    None => this.infer(&arm.body),
                }
            });
            let ty = match (&result, want) {
                (_, Some(want)) => want.clone(),
                (Some((ty, first)), None) => self.join(&ty.clone(), &body.ty, arm.body.span, Some(*first)),
                (None, None) => body.ty.clone(),
            };
            let first = result.map_or(arm.body.span, |(_, first)| first);
            result = Some((ty, first));
            typed.extend(pat.map(|pat| TArm { pat, guard, body }));
        }
        self.check_arms(&value.ty, &typed, span);
        let ty = result.map_or(Ty::Error, |(ty, _)| ty);
        Tx::new(span, ty, Tk::Case(Box::new(value), typed))
    }

    // ---- loops, accumulators --------------------------------------------------------------------------------

    pub(crate) fn loop_(&mut self, l: &Loop, span: Span) -> Tx {
        if let Some(keep) = &l.keep {
            self.loop_policy(keep);
        }
        let mark = self.value_sizes.len();
        let (p, init) = match &l.pat.kind {
            PatKind::Typed(p, t) => {
                let want = self.annotation(t);
                (&**p, self.check_against(&l.init, &want, Sizes::Known))
            }
            // A pack with one name stays closed: its sizes may change from round to round.
            PatKind::Var(_) => (&l.pat, self.infer(&l.init)),
            _ => (&l.pat, self.used(&l.init)),
        };
        let state = init.ty.clone();
        let index = match &l.kind {
            LoopKind::For(binder) => Some(match &binder.kind {
                PatKind::Typed(p, t) => (&**p, self.set_annotation(t)),
                _ => {
                    let set = self.meta_ix();
                    self.for_sets.push((set.clone(), binder.span, binder_name(binder)));
                    (binder, set)
                }
            }),
            LoopKind::While(_) => None,
        };
        let sizes = self.value_sizes.split_off(mark);
        let while_ = match &l.kind {
            LoopKind::For(_) => None,
            LoopKind::While(c) => {
                let mut pat = None;
                let cond = self.scoped(|this| {
                    pat = Some(this.binder(p, &state));
                    this.check(c, &boolean())
                });
                pat.map(|pat| TLoopKind::While(pat, cond))
            }
        };
        let (mut pat, mut kind) = (None, while_);
        let body = self.scoped(|this| {
            pat = Some(this.binder(p, &state));
            if let Some((ip, set)) = &index {
                kind = Some(TLoopKind::For(this.index_pattern(ip, set)));
            }
            this.check(&l.body, &state)
        });
        let (Some(pat), Some(kind)) = (pat, kind) else { return Tx::error(span) };
        self.value_sizes.extend(sizes);
        let typed = TLoop { pat, init, kind, keep: l.keep.clone(), body };
        self.with_sizes(mark, Tx::new(span, state, Tk::Loop(Box::new(typed))))
    }

    /// What reverse mode keeps of a loop: everything, so far.
    fn loop_policy(&mut self, keep: &Keep) {
        const POLICIES: [&str; 5] = ["all", "none", "sqrt", "every", "log"];
        let name = &keep.policy;
        if !POLICIES.contains(&name.text.as_str()) {
            self.report(errors::unknown_policy(name.span, &name.text));
        } else if name.text != "all" {
            self.report(errors::unsupported(name.span, "this policy of a loop (it keeps all)"));
        }
    }

    pub(crate) fn accum(&mut self, refs: &[(Name, Type)], body: &Expr, span: Span) -> Tx {
        let mark = self.value_sizes.len();
        let types: Vec<Ty> = refs.iter().map(|(_, t)| self.annotation(t)).collect();
        let sizes = self.value_sizes.split_off(mark);
        for ((_, t), ty) in refs.iter().zip(&types) {
            self.need_at(Class::Add, ty, "for an accumulator", t.span);
        }
        let mut accs = vec![];
        let body = self.scoped(|this| {
            for ((name, _), ty) in refs.iter().zip(&types) {
                let id = this.new_local(&name.text, ty);
                this.bind_name(&name.text, Target::Accumulator(id), Scheme::mono(ty.clone()));
                accs.push((id, ty.clone()));
            }
            this.infer(body)
        });
        if !self.is_unit_like(&body.ty) && !self.is_variable(&body.ty) {
            self.report(errors::discarded(body.span, &self.arena.show(&body.ty)));
        }
        self.value_sizes.extend(sizes);
        self.with_sizes(mark, Tx::new(span, tuple(types), Tk::Accum(accs, Box::new(body))))
    }

    pub(crate) fn plus_assign(&mut self, target: &Expr, value: &Expr, span: Span) -> Tx {
        let (mut root, mut indices) = (target, vec![]);
        while let ExprKind::Index(inner, list) = &root.kind {
            indices.splice(0..0, list.iter());
            root = inner;
        }
        let entry = match &root.kind {
            ExprKind::Var(name) => self.lookup(name).cloned(),
            _ => None,
        };
        let Some((id, entry)) = entry.and_then(|e| match e.target {
            Target::Accumulator(id) => Some((id, e)),
            _ => None,
        }) else {
            self.report(errors::not_an_accumulator(target.span));
            self.infer(value);
            return Tx::error(span);
        };
        if entry.lambdas != self.lambdas {
            self.report(errors::accumulator_in_function(target.span));
            return Tx::error(span);
        }
        let owned: Vec<Expr> = indices.into_iter().cloned().collect();
        let (ty, indices) = self.index_into(&entry.scheme.ty, &owned, target.span);
        let value = self.check(value, &ty);
        self.solve(span);
        self.need_at(Class::Add, &ty, "for `+=`", target.span);
        let acc = entry.scheme.ty.clone();
        Tx::new(span, unit(), Tk::PlusAssign(id, indices, acc, Box::new(value)))
    }

    // ---- blocks -----------------------------------------------------------------------------------------

    pub(crate) fn block(&mut self, stmts: &[Stmt], want: Branch, span: Span) -> Tx {
        self.scoped(|this| {
            let mut typed = vec![];
            let mut last = None;
            for (k, stmt) in stmts.iter().enumerate() {
                match stmt {
                    Stmt::Let(l) => typed.push(this.let_(l, false)),
                    // The first of those that follow one another stands for all.
                    Stmt::Def(_) if k > 0 && matches!(stmts[k - 1], Stmt::Def(_)) => {}
                    Stmt::Def(_) => {
                        typed.extend(this.local_defs(&crate::resolve::first_defs(&stmts[k..])));
                    }
                    Stmt::Expr(e) if k + 1 == stmts.len() => {
                        let value = match want {
                            Some(want) => this.check(e, want),
                            None => this.infer(e),
                        };
                        last = Some(Box::new(value));
                    }
                    Stmt::Expr(e) => {
                        let value = this.infer(e);
                        this.solve(e.span);
                        if !this.is_unit_like(&value.ty) && !is_trace(e) {
                            this.report(errors::discarded(e.span, &this.arena.show(&value.ty)));
                        }
                        typed.push(TStmt::Expr(value));
                    }
                }
            }
            let ty = match (&last, want) {
                (Some(value), _) => value.ty.clone(),
                (None, Some(want)) => {
                    this.unify_at(&unit(), want, span);
                    unit()
                }
                (None, None) => unit(),
            };
            Tx::new(span, ty, Tk::Block(typed, last))
        })
    }

    /// A `let` in a block or at the top level. A lambda or a name is generalised.
    pub(crate) fn let_(&mut self, l: &Let, top: bool) -> TStmt {
        let (p, annotation) = match &l.pat.kind {
            PatKind::Typed(p, t) => (&**p, Some(t)),
            _ => (&l.pat, None),
        };
        if let PatKind::Var(name) = &p.kind
            && annotation.is_none()
            && self.generalises(&l.value)
        {
            return self.generalised_let(name, &l.value, top, l.span);
        }
        let mark = self.value_sizes.len();
        let value = match annotation {
            Some(t) => {
                let want = self.annotation(t);
                let value = self.check_against(&l.value, &want, Sizes::Known);
                self.open(value)
            }
            None => self.used(&l.value),
        };
        let value = self.with_sizes(mark, value);
        self.solve(l.span);
        let pat = self.binder(p, &value.ty);
        if let PatKind::Var(name) = &p.kind {
            let known = self.known_size(&l.value, &value.ty);
            if let Some(entry) = self.frame().values.get_mut(name) {
                entry.poly = known;
            }
        }
        TStmt::Let(pat, value)
    }

    /// The polynomial of a `let` whose right side is one over known Ints.
    fn known_size(&mut self, e: &Expr, ty: &Ty) -> Option<crate::types::Poly> {
        let literal = self.lit_kind(ty) == Some(crate::types::LitKind::Int);
        if !self.is_int(ty) && !literal {
            return None;
        }
        looks_like_size(e).then(|| self.poly(e)).flatten()
    }

    pub(crate) fn generalises(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Lambda(..) => true,
            ExprKind::Paren(inner) => self.generalises(inner),
            ExprKind::Var(_) | ExprKind::Field(..) => match self.lookup(&self.name_of(value)) {
                Some(entry) => {
                    let function = matches!(self.arena.head(&entry.scheme.ty), Ty::Con(Con::Fun, _));
                    function && !entry.scheme.vars.is_empty() && entry.scheme.dep.is_empty()
                }
                None => false,
            },
            _ => false,
        }
    }

    fn generalised_let(&mut self, name: &str, value: &Expr, top: bool, span: Span) -> TStmt {
        let mark = self.active.len();
        let sets = self.for_sets.len();
        self.level += 1;
        self.env.push(crate::checker::Frame::default());
        let value = self.infer(value);
        self.env.pop();
        self.level -= 1;
        let vars = self.generalise(&value.ty, mark, top, &[], span);
        if top {
            self.check_for_sets(sets);
        } else {
            self.check_for_sets_in(sets);
        }
        let id = self.new_local(name, &value.ty);
        self.bind_name(
            name,
            Target::Local(id),
            Scheme { vars: vars.clone(), ty: value.ty.clone(), dep: vec![] },
        );
        TStmt::Poly(id, vars, value)
    }

    /// Sets of inner `for`s may still be determined by the enclosing item.
    fn check_for_sets_in(&mut self, mark: usize) {
        let waiting = self.for_sets.split_off(mark);
        for (set, span, name) in waiting {
            let open = matches!(self.arena.prune(&set), Ty::Var(v) if self.arena.is_open(v));
            if open {
                self.for_sets.push((set, span, name));
            }
        }
    }
}

/// What the index is called in messages.
pub(crate) fn binder_name(p: &Pat) -> String {
    match &p.kind {
        PatKind::Var(name) => name.clone(),
        _ => "_".into(),
    }
}

/// Whether an expression may be a size: literals, arithmetic, fields, `size(n)`.
fn looks_like_size(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Lit(adl_syntax::ast::Lit::Int(_)) | ExprKind::Var(_) | ExprKind::Field(..) => true,
        ExprKind::Paren(inner) => looks_like_size(inner),
        ExprKind::Chain(first, links) => {
            looks_like_size(first) && links.iter().all(|l| looks_like_size(&l.right))
        }
        ExprKind::Call(f, _) => crate::signature::is_var(f, "size"),
        _ => false,
    }
}

/// Is it a call of `trace`, which is written for its effect?
fn is_trace(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call(f, _) if matches!(&f.kind, ExprKind::Var(name) if name == "trace"))
}
