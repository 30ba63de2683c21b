//! Expressions, by form; expected types only reach lambdas, tuples, blocks, branches and packs.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use adl_diag::{Code, Span};
use adl_syntax::ast::{BinOp, Expr, ExprKind, Link, Lit};

use crate::{
    checker::{Checker, Entry, Scheme, Target, TypeName},
    constraint::{Arith, Kind},
    errors,
    imports::Found,
    tree::{TLink, Tk, Tx},
    types::{Class, Con, LitKind, Poly, Ty, V, VKind, boolean, fun, int, string, table, tuple},
};

/// When sizes of an annotation are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// By the checker, except sizes opened just now.
    Known,
    /// At run time, where the checker does not know that they agree.
    AtRunTime,
}

impl Checker {
    /// The typed expression; what is wrong is reported and has the type that fits everywhere.
    pub(crate) fn infer(&mut self, e: &Expr) -> Tx {
        let span = e.span;
        match &e.kind {
            ExprKind::Error => Tx::error(span),
            ExprKind::Hole => {
                let help = "`_` marks where `|>` puts its value: `xs |> map(f, _)`";
                self.report(errors::misplaced(span, Code::E0106, "`_` is no value here", help));
                Tx::error(span)
            }
            ExprKind::Paren(inner) => self.infer(inner),
            ExprKind::Var(name) => self.variable(name, span),
            ExprKind::Ctor(name) => self.constructor(name, span),
            ExprKind::Lit(lit) => self.literal(lit, span),
            ExprKind::Tuple(es) => {
                let parts: Vec<Tx> = es.iter().map(|e| self.infer(e)).collect();
                Tx::new(span, tuple(parts.iter().map(|t| t.ty.clone()).collect()), Tk::Tuple(parts))
            }
            ExprKind::List(es) => self.list(es, span),
            ExprKind::Annot(inner, t) => self.annotated(inner, t, span),
            ExprKind::Chain(first, links) => self.chain(first, links, span),
            ExprKind::Pipe(first, rest) => self.pipe(first, rest),
            ExprKind::Neg(inner) => self.negation(inner, span),
            ExprKind::Not(inner) => {
                let inner = self.check(inner, &boolean());
                Tx::new(span, boolean(), Tk::Not(Box::new(inner)))
            }
            ExprKind::Call(f, args) => self.call(f, args, span),
            ExprKind::Index(a, indices) => self.index(a, indices, span),
            ExprKind::Field(value, name) => self.field(value, name, span),
            ExprKind::With(value, updates) => self.with(value, updates, span),
            ExprKind::Build(name, fields) => self.build(name, fields, span),
            ExprKind::Lambda(p, body) => self.lambda(p, body, span),
            ExprKind::For(binders, body) => self.for_(binders, body, span),
            ExprKind::If(c, a, b) => self.if_(c, a, b, None, span),
            ExprKind::When(c, body) => self.when(c, body, span),
            ExprKind::Loop(l) => self.loop_(l, span),
            ExprKind::Accum(refs, body) => self.accum(refs, body, span),
            ExprKind::PlusAssign(target, value) => self.plus_assign(target, value, span),
            ExprKind::Block(stmts) => self.block(stmts, None, span),
            ExprKind::Case(scrutinee, arms) => self.case(scrutinee, arms, None, span),
        }
    }

    /// An expression where a type is expected.
    pub(crate) fn check(&mut self, e: &Expr, want: &Ty) -> Tx {
        let head = self.arena.head(want);
        if let Some(value) = self.check_tangent(e, &head) {
            return value;
        }
        match (&e.kind, &head) {
            (ExprKind::Paren(inner), _) => self.check(inner, want),
            (ExprKind::Lambda(p, body), Ty::Con(Con::Fun | Con::Lin, _)) => {
                self.check_lambda(p, body, &head, e.span)
            }
            (ExprKind::Tuple(es), Ty::Con(Con::Tuple, wants)) if es.len() == wants.len() => {
                let parts: Vec<Tx> = es.iter().zip(wants.iter()).map(|(e, w)| self.check(e, w)).collect();
                Tx::new(e.span, head.clone(), Tk::Tuple(parts))
            }
            (ExprKind::Block(stmts), _) => self.block(stmts, Some(want), e.span),
            // A table may come from a pack, which stays closed as a branch.
            (ExprKind::If(..) | ExprKind::Case(..), Ty::Con(Con::Table, _)) => {
                let value = self.infer(e);
                self.coerce(value, want)
            }
            (ExprKind::If(c, a, b), Ty::Con(..) | Ty::Exists(_)) => self.if_(c, a, b, Some(want), e.span),
            (ExprKind::Case(s, arms), Ty::Con(..) | Ty::Exists(_)) => self.case(s, arms, Some(want), e.span),
            (ExprKind::Call(f, args), _) if self.is_load(f) => {
                let loaded = self.load(args, &head, e.span);
                self.coerce(loaded, want)
            }
            _ => {
                let value = self.infer(e);
                self.coerce(value, want)
            }
        }
    }

    /// An expression whose value is used here: a pack is opened.
    pub(crate) fn used(&mut self, e: &Expr) -> Tx {
        let value = self.infer(e);
        self.open(value)
    }

    /// Opens a pack: its sizes get names of their own in this scope.
    pub(crate) fn open(&mut self, value: Tx) -> Tx {
        let Ty::Exists(pack) = self.arena.head(&value.ty) else { return value };
        let mut map = crate::arena::Subst::new();
        let mut opened: Vec<V> = vec![];
        for v in &pack.vars {
            let old = self.arena.var(*v).clone();
            let name = self.name_apart(old.name.as_deref().unwrap_or("_"));
            let fresh = self.rigid(&name, old.kind, old.ix);
            self.arena.var_mut(fresh).origin = Some(value.span);
            map.insert(*v, crate::arena::Sub::Ty(Ty::Var(fresh)));
            opened.push(fresh);
        }
        let ty = self.arena.subst(&pack.body, &map);
        Tx::new(value.span, ty, Tk::Open(opened, Box::new(value)))
    }

    /// A name for an opened size that no other size here has.
    fn name_apart(&mut self, name: &str) -> String {
        let mut name = name.to_string();
        while name != "_" && (self.opened.contains(&name) || self.lookup_type_var(&name).is_some()) {
            name.push('\'');
        }
        self.opened.push(name.clone());
        name
    }

    /// Makes a value fit where `want` is expected: packs close or open, linear maps become functions.
    pub(crate) fn coerce(&mut self, value: Tx, want: &Ty) -> Tx {
        let (t, w) = (self.arena.head(&value.ty), self.arena.head(want));
        if let Ty::Exists(pack) = &w {
            if let Ty::Exists(_) = &t {
                self.unify_at(&t, &w, value.span);
                return value;
            }
            let mut map = crate::arena::Subst::new();
            let mut sizes = vec![];
            for v in &pack.vars {
                let fresh = self.fresh();
                let (kind, ix) = (self.arena.var(*v).kind, self.arena.var(*v).ix);
                let data = self.arena.var_mut(fresh);
                (data.kind, data.ix) = (kind, ix);
                map.insert(*v, crate::arena::Sub::Ty(Ty::Var(fresh)));
                sizes.push(fresh);
            }
            let body = self.arena.subst(&pack.body, &map);
            let inner = self.coerce(value, &body);
            return Tx::new(inner.span, w, Tk::Pack(sizes, Box::new(inner)));
        }
        if let Ty::Exists(_) = &t {
            let opened = self.open(value);
            return self.coerce(opened, want);
        }
        match (&t, &w) {
            (Ty::Con(Con::Tuple, ts), Ty::Con(Con::Tuple, ws)) if ts.len() == ws.len() => {
                for (t, w) in ts.iter().zip(ws.iter()) {
                    self.coerce_type(t, w, value.span);
                }
            }
            _ => self.coerce_type(&t, &w, value.span),
        }
        Tx { ty: want.clone(), ..value }
    }

    fn coerce_type(&mut self, t: &Ty, w: &Ty, span: Span) {
        match (self.arena.head(t), self.arena.head(w)) {
            (Ty::Con(Con::Lin, ts), Ty::Con(Con::Fun, ws)) => {
                self.unify_at(&ts[0], &ws[0], span);
                self.unify_at(&ts[1], &ws[1], span);
            }
            (t @ Ty::Con(Con::Fun, _), w @ Ty::Con(Con::Lin, _)) => {
                let d = errors::not_known_linear(&self.arena.show(&t), &self.arena.show(&w));
                self.report(
                    errors::at(d, span, "here")
                        .help("annotate it where it is made: `let l: Float -o Float = …`"),
                );
            }
            (t, w) => self.unify_at(&t, &w, span),
        }
    }

    // ---- leaves -------------------------------------------------------------------------------------

    fn literal(&mut self, lit: &Lit, span: Span) -> Tx {
        let ty = match lit {
            Lit::Bool(_) => boolean(),
            Lit::Str(_) => string(),
            Lit::Int(_) | Lit::Float(_) => {
                let v = self.fresh();
                let kind = if matches!(lit, Lit::Int(_)) { LitKind::Int } else { LitKind::Dec };
                self.arena.var_mut(v).lit = Some(kind);
                Ty::Var(v)
            }
        };
        Tx::new(span, ty, Tk::Lit(lit.clone()))
    }

    pub(crate) fn variable(&mut self, name: &str, span: Span) -> Tx {
        let Some(entry) = self.lookup(name).cloned() else {
            // In a signature's scope a size is a value too.
            if let Some(Ty::Var(v)) = self.lookup_type_var(name).map(|t| self.arena.prune(&t))
                && self.arena.var(v).ix
            {
                let d = errors::unknown_name(span, name, None);
                self.report(d.help(format!("`{name}` is an index set; its size is `size({name})`")));
                return Tx::error(span);
            }
            if name == "progress" {
                let d = errors::unsupported(span, "`progress`");
                self.report(d.help("`trace(label, x)` shows a value while the program runs"));
                return Tx::error(span);
            }
            let near = self.near_value(name);
            self.report(errors::unknown_name(span, name, near));
            return Tx::error(span);
        };
        self.entry_value(entry, name, span)
    }

    /// The use of a name that is in scope.
    pub(crate) fn entry_value(&mut self, entry: Entry, name: &str, span: Span) -> Tx {
        match entry.target {
            Target::Poison => Tx::error(span),
            Target::Module(_) => {
                self.report(errors::module_as_value(span, name));
                Tx::error(span)
            }
            Target::Accumulator(_) => {
                self.report(errors::accumulator_read(span, name));
                Tx::error(span)
            }
            Target::Later(place) => {
                self.report(errors::used_above(span, name, place));
                Tx::error(span)
            }
            Target::Size(v) => Tx::new(span, int(), Tk::SizeVal(Poly::atom(crate::types::Atom::Size(v)))),
            Target::Builtin(k) => self.builtin_value(k, &entry.scheme, span),
            Target::Local(_) | Target::Func(_) if !entry.scheme.dep.is_empty() => {
                self.dependent_value(&entry, name, span)
            }
            Target::Local(id) => {
                let (ty, inst) = self.instantiate(&entry.scheme, name);
                Tx::new(span, ty, Tk::Local(id, inst))
            }
            Target::Func(k) => self.func_value(k, &entry.scheme, name, span),
        }
    }

    pub(crate) fn func_value(&mut self, k: usize, scheme: &Scheme, name: &str, span: Span) -> Tx {
        let (ty, inst) = self.instantiate(scheme, name);
        Tx::new(span, ty, Tk::Func(k, inst))
    }

    fn constructor(&mut self, name: &str, span: Span) -> Tx {
        let ctor = match self.ctor_named(name, span) {
            Found::Known(ctor) => ctor,
            Found::Wrong => return Tx::error(span),
            Found::Unknown => {
                match self.peek_type(name) {
                    Some(TypeName::Poison) => {}
                    Some(TypeName::Data(_)) => {
                        let help = format!("a struct is built by `{name} {{ field = value }}`");
                        self.report(errors::unknown_ctor(span, name, None).help(help));
                    }
                    Some(TypeName::Alias(_)) | None => self.unknown_ctor(name, span),
                }
                return Tx::error(span);
            }
        };
        let (whole, payload) = self.ctor_types(ctor);
        let ty = if payload.is_empty() { whole } else { fun(tuple(payload), whole) };
        Tx::new(span, ty, Tk::Ctor(ctor))
    }

    fn list(&mut self, es: &[Expr], span: Span) -> Tx {
        let elem = self.meta();
        self.list_of(es, elem, span)
    }

    pub(crate) fn list_of(&mut self, es: &[Expr], elem: Ty, span: Span) -> Tx {
        let items: Vec<Tx> = es
            .iter()
            .map(|e| {
                let item = self.check(e, &elem);
                self.solve(e.span);
                item
            })
            .collect();
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        Tx::new(span, table(Ty::Fin(Poly::constant(size)), elem), Tk::List(items))
    }

    /// `(e : t)`: sizes that are not known to agree are compared at run time.
    fn annotated(&mut self, inner: &Expr, t: &adl_syntax::ast::Type, span: Span) -> Tx {
        let sizes = self.value_sizes.len();
        let want = self.annotation(t);
        let value = self.check_against(inner, &want, Sizes::AtRunTime);
        self.with_sizes(sizes, Tx { span, ..value })
    }

    /// A value for an annotation. Sizes opened just now are compared at run time; of others `sizes` says.
    pub(crate) fn check_against(&mut self, e: &Expr, want: &Ty, sizes: Sizes) -> Tx {
        let head = self.arena.head(want);
        if let Some(value) = self.check_tangent(e, &head) {
            return value;
        }
        if matches!(head, Ty::Exists(_)) || matches!(e.kind, ExprKind::Lambda(..) | ExprKind::Tuple(_)) {
            return self.check(e, want);
        }
        let value = match &e.kind {
            ExprKind::Call(f, args) if self.is_load(f) => self.load(args, &head, e.span),
            ExprKind::Block(_) | ExprKind::If(..) | ExprKind::Case(..)
                if !matches!(head, Ty::Con(Con::Table, _)) =>
            {
                return self.check(e, want);
            }
            _ => self.infer(e),
        };
        let value = self.open(value);
        let opened = match (&value.kind, sizes) {
            (_, Sizes::AtRunTime) => None,
            (Tk::Open(vars, _), Sizes::Known) => Some(vars.clone()),
            (_, Sizes::Known) => Some(vec![]),
        };
        self.solve(e.span);
        self.fitted_with(value, want, opened.as_deref(), e.span)
    }

    /// A value as one of this type; sizes that are not known to agree are compared at run time.
    pub(crate) fn fitted(&mut self, value: Tx, want: &Ty, span: Span) -> Tx {
        self.fitted_with(value, want, None, span)
    }

    fn fitted_with(&mut self, value: Tx, want: &Ty, opened: Option<&[V]>, span: Span) -> Tx {
        let mut checks = vec![];
        let (t, w) = (value.ty.clone(), want.clone());
        if !self.loosely(&t, &w, opened, &mut checks, span) {
            return Tx::error(span);
        }
        let value = if matches!(self.arena.head(&w), Ty::Con(Con::Table, _)) {
            Tx { ty: w, ..value }
        } else {
            self.coerce(value, &w)
        };
        if checks.is_empty() {
            return value;
        }
        let (span, ty) = (value.span, value.ty.clone());
        Tx::new(span, ty, Tk::CheckSizes(checks, Box::new(value)))
    }

    /// Unifies tables; sizes that are `opened` (all, for `None`) may be compared at run time. Whether it agrees.
    fn loosely(
        &mut self,
        t: &Ty,
        w: &Ty,
        opened: Option<&[V]>,
        checks: &mut Vec<(Poly, Poly)>,
        span: Span,
    ) -> bool {
        let (Ty::Con(Con::Table, ts), Ty::Con(Con::Table, ws)) = (self.arena.head(t), self.arena.head(w))
        else {
            if matches!(self.arena.head(w), Ty::Con(Con::Table, _)) {
                let before = self.errors();
                self.unify_at(t, w, span);
                return self.errors() == before;
            }
            return true;
        };
        let (from, to) = (self.arena.prune(&ts[0]), self.arena.prune(&ws[0]));
        let open = |set: &Ty| self.arena.free_vars(set).iter().any(|v| self.arena.is_open(*v));
        let plain = |set: &Ty| matches!(set, Ty::Fin(_) | Ty::Var(_));
        if !self.arena.same(&from, &to) {
            let known_wrong = |this: &Checker| {
                let (Ok(p), Ok(q)) = (this.arena.size_of(&from), this.arena.size_of(&to)) else {
                    return true;
                };
                p.sub(&q).as_constant().is_some_and(|k| k != 0)
            };
            let late = opened.is_none_or(|vars| matches!(&from, Ty::Var(v) if vars.contains(v)));
            if !late || open(&from) || open(&to) || !plain(&from) || !plain(&to) || known_wrong(self) {
                let before = self.errors();
                self.unify_at(&from, &to, span);
                if self.errors() > before {
                    return false;
                }
            } else if let (Ok(p), Ok(q)) = (self.arena.size_of(&from), self.arena.size_of(&to)) {
                checks.push((p, q));
            }
        }
        if let (Ty::Con(Con::Table, _), _) | (_, Ty::Con(Con::Table, _)) =
            (self.arena.head(&ts[1]), self.arena.head(&ws[1]))
        {
            return self.loosely(&ts[1], &ws[1], opened, checks, span);
        }
        let before = self.errors();
        self.unify_at(&ts[1], &ws[1], span);
        self.errors() == before
    }

    /// Wraps a form in the values of the sizes that its annotations named since `mark`.
    pub(crate) fn with_sizes(&mut self, mark: usize, value: Tx) -> Tx {
        let sizes = self.value_sizes.split_off(mark);
        if sizes.is_empty() {
            return value;
        }
        let (span, ty) = (value.span, value.ty.clone());
        Tx::new(span, ty, Tk::WithSizes(sizes, Box::new(value)))
    }

    // ---- operators ----------------------------------------------------------------------------------

    fn chain(&mut self, first: &Expr, links: &[Link], span: Span) -> Tx {
        let first = match links.first().map(|l| l.op) {
            Some(BinOp::And | BinOp::Or) => self.check(first, &boolean()),
            _ => self.used(first),
        };
        let mut ty = first.ty.clone();
        let mut typed = Vec::with_capacity(links.len());
        let mut left_span = first.span;
        for link in links {
            let right = match link.op {
                BinOp::And | BinOp::Or => self.check(&link.right, &boolean()),
                _ => self.used(&link.right),
            };
            let operands = (left_span, right.span);
            ty = self.operator(link.op, &ty, &right.ty, link.op_span, operands);
            self.solve(link.op_span);
            left_span = left_span.to(right.span);
            typed.push(TLink { op: link.op, span: link.op_span, result: ty.clone(), right });
        }
        Tx::new(span, ty, Tk::Chain(Box::new(first), typed))
    }

    fn operator(&mut self, op: BinOp, left: &Ty, right: &Ty, span: Span, operands: (Span, Span)) -> Ty {
        let (left, right) = (left.clone(), right.clone());
        let arith = match op {
            BinOp::And | BinOp::Or => return boolean(),
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                let class = if matches!(op, BinOp::Eq | BinOp::Ne) { Class::Eq } else { Class::Ord };
                self.emit(Kind::Cmp { op: op.symbol(), class, left, right }, span, Some(operands));
                return boolean();
            }
            BinOp::Concat => return self.concat(&left, &right, operands),
            BinOp::MatMul => {
                let result = self.meta();
                self.emit(Kind::MatMul { left, right, result: result.clone() }, span, Some(operands));
                return result;
            }
            BinOp::Pow => {
                let result = self.meta();
                let kind = Kind::Pow { base: left, exponent: right, result: result.clone() };
                self.emit(kind, span, Some(operands));
                return result;
            }
            BinOp::Add => Arith::Add,
            BinOp::Sub => Arith::Sub,
            BinOp::Mul => Arith::Mul,
            BinOp::Div => Arith::Div,
            BinOp::Rem => Arith::Rem,
        };
        let result = self.meta();
        self.emit(Kind::Bin { op: arith, left, right, result: result.clone() }, span, Some(operands));
        result
    }

    /// `a ++ b`: two texts, or two tables one after the other.
    fn concat(&mut self, left: &Ty, right: &Ty, (l, r): (Span, Span)) -> Ty {
        if self.arena.is(left, Con::Str) || self.arena.is(right, Con::Str) {
            self.unify_at(left, &string(), l);
            self.unify_at(right, &string(), r);
            return string();
        }
        let elem = self.meta();
        let mut size = Poly::constant(0);
        for (ty, span) in [(left, l), (right, r)] {
            let set = match self.arena.head(ty) {
                Ty::Con(Con::Table, args) => args[0].clone(),
                _ => {
                    let v = self.fresh();
                    self.arena.var_mut(v).kind = VKind::Size;
                    Ty::Fin(Poly::atom(crate::types::Atom::Size(v)))
                }
            };
            self.unify_at(ty, &table(set.clone(), elem.clone()), span);
            size = size.add(&self.size_or_report(&set, span));
        }
        table(Ty::Fin(size), elem)
    }

    fn negation(&mut self, inner: &Expr, span: Span) -> Tx {
        let operand = self.used(inner);
        let result = self.meta();
        self.emit(Kind::Neg { operand: operand.ty.clone(), result: result.clone() }, span, None);
        self.solve(span);
        Tx::new(span, result, Tk::Neg(Box::new(operand)))
    }
}
