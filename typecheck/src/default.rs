//! Generalisation, and what is assumed when nothing more is known.

use std::sync::Arc;

use adl_diag::Span;

use crate::{
    arena::Fail,
    arith::Shape,
    checker::Checker,
    constraint::{Arith, IndexSyntax, Kind},
    errors,
    types::{Class, Con, LitKind, Ty, V, VKind, Why, float, int, unit},
};

/// The phases of defaulting, in order.
const PHASES: [Phase; 5] = [
    Checker::step_index,
    Checker::step_tangent,
    Checker::step_overload,
    Checker::step_convert,
    Checker::step_literal,
];

type Phase = fn(&mut Checker, &Kind, &[V]) -> Option<Result<bool, Fail>>;

/// Open constraints that may be defaulted, in source order, for each phase its own.
#[derive(Default)]
struct Todo {
    ids: [Vec<usize>; PHASES.len()],
    /// How many at the front of each are done.
    done: [usize; PHASES.len()],
    /// How many of the active constraints have been looked at.
    seen: usize,
    /// The count of lowered variables then: whether a constraint touches an outer one may have changed since.
    lowered: u64,
}

impl Todo {
    fn push(&mut self, id: usize, kind: &Kind) {
        let phase = match kind {
            Kind::Index { .. } => 0,
            Kind::Tan { .. } => 1,
            Kind::Bin { .. } | Kind::Pow { .. } | Kind::Cmp { .. } | Kind::Neg { .. } => 2,
            Kind::Conv { .. } => 3,
            Kind::LitOf { .. } => 4,
            Kind::MatMul { .. } | Kind::Field { .. } | Kind::Size { .. } => return,
        };
        self.ids[phase].push(id);
    }
}

impl Checker {
    /// One step of defaulting, in the order of the phases; whether one was taken. The literals that belong to the
    /// variables in `keep` stay open.
    fn default_step(&mut self, todo: &mut Todo, keep: &[V]) -> bool {
        for (k, phase) in PHASES.iter().enumerate() {
            let ids = &todo.ids[k];
            while ids.get(todo.done[k]).is_some_and(|id| self.constraints[*id].done) {
                todo.done[k] += 1;
            }
            for id in &ids[todo.done[k]..] {
                if self.constraints[*id].done {
                    continue;
                }
                let constraint = self.constraints[*id].clone();
                let level = std::mem::replace(&mut self.level, constraint.level);
                self.current = constraint.span;
                let outcome = phase(self, &constraint.kind, keep);
                self.level = level;
                match outcome {
                    None => continue,
                    Some(Ok(done)) => self.constraints[*id].done = done,
                    Some(Err(fail)) => self.constraint_failed(*id, fail),
                }
                if !self.constraints[*id].done {
                    self.queue.push(std::cmp::Reverse((constraint.key, *id)));
                }
                self.solve(constraint.span);
                return true;
            }
        }
        false
    }

    /// Defaults what is open since `mark`, step by step. What touches an outer variable waits if `waits`.
    fn default_all(&mut self, mark: usize, waits: Option<bool>, keep: impl Fn(&Checker) -> Vec<V>) {
        let before = std::mem::replace(&mut self.arena.outer, self.level);
        self.default_each(mark, waits, keep);
        self.arena.outer = before;
    }

    fn default_each(&mut self, mark: usize, waits: Option<bool>, keep: impl Fn(&Checker) -> Vec<V>) {
        let mut todo = self.todo(mark, waits);
        let mut fresh = true;
        loop {
            if waits.is_some() && todo.lowered != self.arena.lowered {
                todo = self.todo(mark, waits);
                fresh = true;
            }
            // Steps make constraints.
            let new = self.own_constraints(todo.seen, waits);
            todo.seen = self.active.len();
            for id in new {
                todo.push(id, &self.constraints[id].kind);
            }
            let keep = keep(self);
            if self.default_step(&mut todo, &keep) {
                fresh = false;
            } else if fresh {
                return;
            } else {
                todo = self.todo(mark, waits);
                fresh = true;
            }
        }
    }

    fn todo(&mut self, mark: usize, waits: Option<bool>) -> Todo {
        let mut todo = Todo::default();
        for id in self.own_constraints(mark, waits) {
            todo.push(id, &self.constraints[id].kind);
        }
        (todo.seen, todo.lowered) = (self.active.len(), self.arena.lowered);
        todo
    }

    /// Phase 1: an index of open type is an index of the table's own set, or an Int if it looks like one.
    fn step_index(&mut self, kind: &Kind, _: &[V]) -> Option<Result<bool, Fail>> {
        let Kind::Index { set, index, syntax } = kind else { return None };
        let wanted = if *syntax == IndexSyntax::Arithmetic { int() } else { set.clone() };
        Some(self.arena.unify(index, &wanted).map(|()| false))
    }

    /// Phase 2: a variable whose tangent is something known is a vector.
    fn step_tangent(&mut self, kind: &Kind, _: &[V]) -> Option<Result<bool, Fail>> {
        let Kind::Tan { left, right } = kind else { return None };
        // Tangents of one struct or enum are those of equal parameters.
        if let (Ty::Con(Con::Tangent, a), Ty::Con(Con::Tangent, b)) =
            (self.arena.head(left), self.arena.head(right))
            && self.arena.declared(&a[0]).is_some_and(|id| self.arena.declared(&b[0]) == Some(id))
        {
            return Some(self.arena.unify(&a[0], &b[0]).map(|()| true));
        }
        for side in [left, right] {
            if let Ty::Con(Con::Tangent, args) = self.arena.head(side)
                && let Ty::Var(v) = self.arena.prune(&args[0])
                && self.arena.is_open(v)
            {
                // Of the numbers only an Int has the tangent `()`.
                let other = if std::ptr::eq(side, left) { right } else { left };
                if self.arena.var(v).lit.is_some() && self.arena.same(other, &unit()) {
                    return Some(self.arena.unify(&args[0], &int()).map(|()| false));
                }
                let why = Why::of("as its tangent is used as a value");
                return Some(self.arena.need(Class::Vector, &args[0], &why).map(|()| false));
            }
        }
        None
    }

    /// Phase 3: what is still overloaded becomes homogeneous.
    fn step_overload(&mut self, kind: &Kind, _: &[V]) -> Option<Result<bool, Fail>> {
        match kind {
            Kind::Bin { op, left, right, result } => self.step_bin(*op, left, right, result),
            Kind::Pow { base, exponent, result } => {
                Some(self.homogeneous(base, exponent, Some(result), Class::Floating, "^"))
            }
            Kind::Cmp { op, class, left, right } => Some(self.homogeneous(left, right, None, *class, op)),
            Kind::Neg { operand, result } => Some(self.homogeneous(result, operand, None, Class::Add, "-")),
            Kind::Conv { .. }
            | Kind::MatMul { .. }
            | Kind::Index { .. }
            | Kind::Field { .. }
            | Kind::Tan { .. }
            | Kind::Size { .. }
            | Kind::LitOf { .. } => None,
        }
    }

    fn homogeneous(
        &mut self,
        left: &Ty,
        right: &Ty,
        result: Option<&Ty>,
        class: Class,
        op: &str,
    ) -> Result<bool, Fail> {
        self.arena.unify(right, left)?;
        if let Some(result) = result {
            self.arena.unify(result, left)?;
        }
        let why = Why::at(self.current, &format!("for `{op}`"));
        self.arena.need(class, left, &why)?;
        Ok(true)
    }

    fn step_bin(&mut self, op: Arith, left: &Ty, right: &Ty, result: &Ty) -> Option<Result<bool, Fail>> {
        let (l, r) = (self.arena.head(left), self.arena.head(right));
        let (kl, kr) = (self.shape(&l), self.shape(&r));
        let why = Why::at(self.current, &format!("for `{}`", op.symbol()));
        for (a, ka, b, kb, a_is_left) in [(&l, kl, &r, kr, true), (&r, kr, &l, kl, false)] {
            let scale = op == Arith::Mul || (op == Arith::Div && !a_is_left);
            if ka == Shape::Lit && matches!(kb, Shape::Open | Shape::Tangent) {
                let kind = self.lit_kind(a);
                let class = match (scale, op) {
                    (true, Arith::Mul) if kind == Some(LitKind::Int) => Class::Add,
                    (true, _) => Class::Vector,
                    (false, Arith::Div) => Class::Floating,
                    (false, _) if kind == Some(LitKind::Dec) => Class::Floating,
                    (false, _) => Class::Num,
                };
                let step = self.arena.unify(result, b).and_then(|()| self.arena.need(class, b, &why));
                self.emit_like(Kind::LitOf { lit: a.clone(), ty: b.clone(), scale });
                return Some(step.map(|()| true));
            }
            let structure = matches!(ka, Shape::Aggregate | Shape::Tangent);
            if structure && kb == Shape::Open && (op == Arith::Mul || (op == Arith::Div && a_is_left)) {
                return Some(self.arena.unify(b, &float()).map(|()| false));
            }
        }
        match (kl, kr) {
            (Shape::OpenIndex | Shape::Index, Shape::Open) => {
                Some(self.arena.unify(&r, &int()).map(|()| false))
            }
            (Shape::Open, Shape::OpenIndex | Shape::Index) => {
                Some(self.arena.unify(&l, &int()).map(|()| false))
            }
            (Shape::Open | Shape::Tangent, _) | (_, Shape::Open | Shape::Tangent) => {
                Some(self.homogeneous(&l, &r, Some(result), op.class(), op.symbol()))
            }
            _ => None,
        }
    }

    /// Phase 4: `float` of something open is of an Int, `int` of a Float.
    fn step_convert(&mut self, kind: &Kind, _: &[V]) -> Option<Result<bool, Fail>> {
        let Kind::Conv { target, operand, .. } = kind else { return None };
        let from = if self.is_int(target) { float() } else { int() };
        Some(self.arena.unify(operand, &from).map(|()| false))
    }

    /// Phase 5: a literal takes its default; one of a quantified type stays, as `lit`.
    fn step_literal(&mut self, kind: &Kind, keep: &[V]) -> Option<Result<bool, Fail>> {
        let Kind::LitOf { lit, ty, scale } = kind else { return None };
        let t = self.arena.prune(ty);
        let kept = self.arena.free_vars(&t).iter().any(|v| keep.contains(v));
        let literal = self.lit_kind(lit)?;
        let scalar = match (&t, *scale) {
            (_, true) if kept && literal == LitKind::Int => int(),
            (_, true) if kept => float(),
            (Ty::Var(_), false) if kept => t.clone(),
            (Ty::Var(v), _) => self.default_type(*v),
            (Ty::Con(..) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error, _) => float(),
        };
        Some(self.arena.unify(lit, &scalar).map(|()| true))
    }

    /// The type of a number that nothing determines.
    pub(crate) fn default_type(&self, v: V) -> Ty {
        let floating = self.arena.has(v, Class::Floating) || self.arena.has(v, Class::Vector);
        if self.arena.var(v).lit == Some(LitKind::Dec) || floating { float() } else { int() }
    }

    // ---- end of an item -----------------------------------------------------------------------------

    /// Reports a constraint that nothing can solve any more.
    fn stuck(&mut self, id: usize) {
        let constraint = self.constraints[id].clone();
        self.constraints[id].done = true;
        if self.item_is_wrong() || constraint.types().iter().any(|t| self.mentions_error(t)) {
            return;
        }
        let show = |t: &Ty| self.arena.show(t);
        let d = match &constraint.kind {
            Kind::MatMul { .. } => errors::open_matmul(),
            Kind::Field { name, .. } => {
                let has = |d: &&crate::data::Data| match &d.body {
                    crate::data::Body::Struct(fields) => fields.iter().any(|(n, _)| &**n == name),
                    crate::data::Body::Enum(_) => false,
                };
                let structs: Vec<String> =
                    self.arena.data.iter().filter(has).map(|d| d.name.to_string()).collect();
                errors::open_field(name, &structs)
            }
            Kind::Size { left, right } => {
                errors::open_size(&self.arena.show_poly(left), &self.arena.show_poly(right))
            }
            Kind::Tan { left, right } => errors::open_tangent(&show(left), &show(right)),
            Kind::Bin { op, left, right, .. } => {
                let (l, r) = (show(left), show(right));
                let tangent = l.contains("Tangent[") || r.contains("Tangent[");
                let hint = tangent.then(|| "add `where Vector(a)`, or use `move(p, dp)`".to_string());
                errors::bad_operands(op.symbol(), &l, &r, hint)
            }
            Kind::Pow { .. } => errors::open_overload("`^`"),
            Kind::Cmp { op, .. } => errors::open_overload(&format!("`{op}`")),
            Kind::Neg { .. } => errors::open_overload("`-`"),
            Kind::Conv { .. } => errors::open_overload("the conversion"),
            Kind::Index { .. } => errors::open_overload("the index"),
            Kind::LitOf { .. } => return,
        };
        self.report(errors::at(d, constraint.span, "here"));
    }

    fn open_since(&self, mark: usize) -> Vec<usize> {
        self.active[mark..].iter().copied().filter(|id| !self.constraints[*id].done).collect()
    }

    /// Of the open constraints since `mark` those that touch an outer variable wait, and pin theirs; the rest. With
    /// nothing outside (`None`) none waits.
    fn own_constraints(&mut self, mark: usize, waits: Option<bool>) -> Vec<usize> {
        let open = self.open_since(mark);
        let Some(top) = waits else { return open };
        loop {
            let (mut own, mut lowered) = (vec![], false);
            for id in &open {
                let vars: Vec<V> = self.constraints[*id]
                    .types()
                    .iter()
                    .flat_map(|t| self.arena.free_vars(t))
                    .filter(|v| self.arena.is_open(*v))
                    .collect();
                let outer = vars.iter().any(|v| self.arena.var(*v).level <= self.level);
                let kind = &self.constraints[*id].kind;
                let pins =
                    !top && matches!(kind, Kind::MatMul { .. } | Kind::Field { .. } | Kind::Size { .. });
                if !outer && !pins {
                    own.push(*id);
                    continue;
                }
                for v in vars {
                    if self.arena.var(v).level > self.level {
                        self.arena.var_mut(v).level = self.level;
                        self.arena.lowered += 1;
                        lowered = true;
                    }
                }
            }
            if !lowered {
                return own;
            }
        }
    }

    /// Closes a definition at the outer level: defaults what is its own, and gives what it is quantified over.
    pub(crate) fn generalise(&mut self, t: &Ty, mark: usize, top: bool, rigid: &[V], span: Span) -> Vec<V> {
        self.solve(span);
        let level = self.level;
        self.default_all(mark, Some(top), |this| {
            let is_inner = |v: &V| this.arena.is_open(*v) && this.arena.var(*v).level > level;
            this.arena.free_vars(t).into_iter().filter(is_inner).collect()
        });
        if top {
            for id in self.open_since(mark) {
                self.stuck(id);
            }
        }
        let rest = self.open_since(mark);
        self.active.truncate(mark);
        self.active.extend(rest);
        let mut quantified = vec![];
        for v in self.arena.free_vars(t) {
            if rigid.contains(&v) {
                quantified.push(v);
            } else if self.is_inner(v) {
                self.quantify(v, t);
                quantified.push(v);
            }
        }
        quantified
    }

    fn is_inner(&self, v: V) -> bool {
        self.arena.is_open(v) && self.arena.var(v).level > self.level
    }

    /// Makes an open variable a parameter.
    fn quantify(&mut self, v: V, within: &Ty) {
        if let Some(lit) = self.arena.var_mut(v).lit.take() {
            let class = if lit == LitKind::Dec { Class::Floating } else { Class::Num };
            self.arena.var_mut(v).classes.push((class, Why::of("for a number literal")));
        }
        let used: Vec<Arc<str>> =
            self.arena.free_vars(within).into_iter().filter_map(|w| self.arena.var(w).name.clone()).collect();
        let data = self.arena.var(v);
        let letters = if data.ix || data.kind == VKind::Size { "nmkjlpqrst" } else { "abcdefgh" };
        let name = data.name.clone().unwrap_or_else(|| {
            let plain = letters.chars().map(String::from);
            let numbered = (1..).map(|k| format!("{}{k}", &letters[..1]));
            let free = plain.chain(numbered).find(|n| !used.iter().any(|u| **u == **n));
            Arc::from(free.unwrap_or_default())
        });
        let data = self.arena.var_mut(v);
        (data.rigid, data.name, data.given) = (true, Some(name), None);
    }

    /// Closes a top-level item that is not generalised.
    pub(crate) fn close(&mut self, t: &Ty, mark: usize, span: Span) {
        self.close_constraints(mark, span);
        self.determine(t, span);
    }

    /// Closes a top-level expression. No one uses its value, so that a type of which nothing is asked may be
    /// any: `error("…")`, `\x. x`.
    pub(crate) fn close_unused(&mut self, t: &Ty, mark: usize, span: Span) {
        self.close_constraints(mark, span);
        for v in self.arena.free_vars(t) {
            let data = self.arena.var(v);
            let plain = data.kind == VKind::Type && !data.ix && data.lit.is_none();
            if plain && self.arena.is_open(v) && self.arena.closure(v).is_empty() {
                self.arena.var_mut(v).link = crate::types::Link::Ty(crate::types::unit());
            }
        }
        self.determine(t, span);
    }

    /// Solves and defaults what is open since `mark`; what stays open is reported.
    fn close_constraints(&mut self, mark: usize, span: Span) {
        self.solve(span);
        self.default_all(mark, None, |_| vec![]);
        for id in self.open_since(mark) {
            self.stuck(id);
        }
        self.active.truncate(mark);
    }

    /// Gives the type variables of a top-level value their defaults.
    fn determine(&mut self, t: &Ty, span: Span) {
        for v in self.arena.free_vars(t) {
            // The set of a `for` has a message of its own.
            let of_for =
                |(set, ..): &(Ty, Span, String)| matches!(self.arena.prune(set), Ty::Var(w) if w == v);
            if !self.arena.is_open(v) || self.for_sets.iter().any(of_for) {
                continue;
            }
            let numeric = [Class::Num, Class::Floating, Class::Vector].iter().any(|c| self.arena.has(v, *c));
            if self.arena.var(v).lit.is_some() || numeric {
                let ty = self.default_type(v);
                self.unify_at(&Ty::Var(v), &ty, span);
            } else {
                if !self.item_is_wrong() {
                    let shown = self.arena.show(t);
                    self.report(errors::undetermined(span, &shown));
                }
                let wrong = if self.arena.var(v).kind == VKind::Type { Ty::Error } else { continue };
                self.arena.var_mut(v).link = crate::types::Link::Ty(wrong);
            }
        }
        self.solve(span);
    }

    /// The sets of `for`s since `mark` have to be known, or quantified.
    pub(crate) fn check_for_sets(&mut self, mark: usize) {
        for (set, span, name) in self.for_sets.split_off(mark) {
            if let Ty::Var(v) = self.arena.prune(&set)
                && self.is_inner(v)
            {
                if !self.item_is_wrong() {
                    self.report(match &self.arena.var(v).name {
                        Some(set) if name.is_empty() => errors::named_set_undetermined(span, set),
                        _ => errors::set_undetermined(span, &name),
                    });
                }
                self.poison(&set);
            }
        }
    }
}
