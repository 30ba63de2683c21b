//! Deferred constraints: what an operator, an index or a field waits for.

use std::cmp::Reverse;

use adl_diag::Span;

use crate::{
    arena::{Fail, Pending},
    checker::Checker,
    errors,
    types::{Class, Link, Poly, Ty, VKind},
};

/// An arithmetic operator, or a function of two numbers that meets tables like one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// `max`, `atan2` …, with the class it needs.
    Lift(&'static str, Class),
}

impl Arith {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Arith::Add => "+",
            Arith::Sub => "-",
            Arith::Mul => "*",
            Arith::Div => "/",
            Arith::Rem => "%",
            Arith::Lift(name, _) => name,
        }
    }

    pub(crate) fn class(self) -> Class {
        match self {
            Arith::Add | Arith::Sub => Class::Add,
            Arith::Mul | Arith::Rem => Class::Num,
            Arith::Div => Class::Floating,
            Arith::Lift(_, class) => class,
        }
    }

    pub(crate) fn is_sum(self) -> bool {
        matches!(self, Arith::Add | Arith::Sub)
    }
}

/// What an index expression looks like; decides when nothing else does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexSyntax {
    /// A literal or arithmetic.
    Arithmetic,
    Other,
}

/// The forms of constraints.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `left op right = result`
    Bin {
        op: Arith,
        left: Ty,
        right: Ty,
        result: Ty,
    },
    /// `base ^ exponent = result`
    Pow {
        base: Ty,
        exponent: Ty,
        result: Ty,
    },
    /// A comparison; the class is `Eq` or `Ord`.
    Cmp {
        op: &'static str,
        class: Class,
        left: Ty,
        right: Ty,
    },
    /// `- operand = result`
    Neg {
        operand: Ty,
        result: Ty,
    },
    /// `float(operand) = result` and the like, with the scalar it gives.
    Conv {
        target: Ty,
        operand: Ty,
        result: Ty,
    },
    /// `left @ right = result`
    MatMul {
        left: Ty,
        right: Ty,
        result: Ty,
    },
    /// An index of a table over `set`.
    Index {
        set: Ty,
        index: Ty,
        syntax: IndexSyntax,
    },
    /// `value.name = result`
    Field {
        value: Ty,
        name: String,
        result: Ty,
    },
    /// Two types of which one is a neutral tangent.
    Tan {
        left: Ty,
        right: Ty,
    },
    Size {
        left: Poly,
        right: Poly,
    },
    /// A literal that is a scalar of `ty`; `scale`: it multiplies or divides it.
    LitOf {
        lit: Ty,
        ty: Ty,
        scale: bool,
    },
}

/// A constraint with its place.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub(crate) kind: Kind,
    pub(crate) level: i32,
    /// Where to report it.
    pub(crate) span: Span,
    /// The operands, where there are two.
    pub(crate) operands: Option<(Span, Span)>,
    pub(crate) done: bool,
    /// The order of solving.
    pub(crate) key: u64,
}

impl Constraint {
    /// The types it mentions.
    pub(crate) fn types(&self) -> Vec<Ty> {
        match &self.kind {
            Kind::Bin { left, right, result, .. } | Kind::MatMul { left, right, result } => {
                vec![left.clone(), right.clone(), result.clone()]
            }
            Kind::Pow { base, exponent, result } => vec![base.clone(), exponent.clone(), result.clone()],
            Kind::Cmp { left, right, .. } | Kind::Tan { left, right } => vec![left.clone(), right.clone()],
            Kind::Neg { operand, result } | Kind::Conv { operand, result, .. } => {
                vec![operand.clone(), result.clone()]
            }
            Kind::Index { set, index, .. } => vec![set.clone(), index.clone()],
            Kind::Field { value, result, .. } => vec![value.clone(), result.clone()],
            Kind::Size { left, right } => vec![Ty::Fin(left.clone()), Ty::Fin(right.clone())],
            Kind::LitOf { lit, ty, .. } => vec![lit.clone(), ty.clone()],
        }
    }

    /// The type it gives, to be poisoned when it fails.
    fn result(&self) -> Option<&Ty> {
        match &self.kind {
            Kind::Bin { result, .. }
            | Kind::Pow { result, .. }
            | Kind::Neg { result, .. }
            | Kind::Conv { result, .. }
            | Kind::MatMul { result, .. }
            | Kind::Field { result, .. } => Some(result),
            Kind::Cmp { .. }
            | Kind::Index { .. }
            | Kind::Tan { .. }
            | Kind::Size { .. }
            | Kind::LitOf { .. } => None,
        }
    }
}

impl Checker {
    /// Adds a constraint; [`Checker::solve`] tries it.
    pub(crate) fn emit(&mut self, kind: Kind, span: Span, operands: Option<(Span, Span)>) -> usize {
        let id = self.constraints.len();
        let key = self.next_key();
        self.constraints.push(Constraint { kind, level: self.level, span, operands, done: false, key });
        self.active.push(id);
        self.queue.push(Reverse((key, id)));
        id
    }

    /// The place in the order of solving: the order of making, or any order when that is asked for.
    fn next_key(&mut self) -> u64 {
        match &mut self.shuffle {
            None => self.constraints.len() as u64,
            Some(state) => {
                // xorshift64
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *state
            }
        }
    }

    /// Takes over what unification left behind: new constraints and woken ones.
    fn take_pending(&mut self, span: Span) {
        for pending in std::mem::take(&mut self.arena.pending) {
            let kind = match pending {
                Pending::Tan(left, right) => Kind::Tan { left, right },
                Pending::Size(left, right) => Kind::Size { left, right },
            };
            self.emit(kind, span, None);
        }
        for id in std::mem::take(&mut self.arena.woken) {
            if !self.constraints[id].done {
                self.queue.push(Reverse((self.constraints[id].key, id)));
            }
        }
    }

    /// Runs woken constraints in order until none can move.
    pub(crate) fn solve(&mut self, span: Span) {
        self.take_pending(span);
        while let Some(Reverse((_, id))) = self.queue.pop() {
            if self.constraints[id].done {
                continue;
            }
            let level = std::mem::replace(&mut self.level, self.constraints[id].level);
            let before = self.arena.bindings;
            let place = self.constraints[id].span;
            self.current = place;
            self.arena.place = place;
            let kind = self.constraints[id].kind.clone();
            let outcome = self.attempt(id, &kind);
            match outcome {
                Ok(true) => self.constraints[id].done = true,
                Ok(false) if self.arena.bindings != before => {
                    self.queue.push(Reverse((self.constraints[id].key, id)));
                }
                Ok(false) => self.watch(id),
                Err(fail) => self.constraint_failed(id, fail),
            }
            self.take_pending(place);
            self.level = level;
        }
    }

    fn watch(&mut self, id: usize) {
        for t in self.constraints[id].types() {
            for v in self.arena.free_vars(&t) {
                let list = &mut self.arena.var_mut(v).watch;
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
    }

    #[expect(clippy::boxed_local, reason = "failures are boxed everywhere")]
    pub(crate) fn constraint_failed(&mut self, id: usize, fail: Fail) {
        let constraint = &mut self.constraints[id];
        constraint.done = true;
        let (span, operands) = (constraint.span, constraint.operands);
        let result = constraint.result().cloned();
        let types = constraint.types();
        let diagnostic = match operands {
            Some((left, right)) => {
                let text = |t: &Ty| format!("this is `{}`", self.arena.show(t));
                let labelled = errors::at(*fail, left, &text(&types[0]));
                errors::at(labelled, right, &text(&types[1]))
            }
            None => errors::at(*fail, span, "here"),
        };
        let diagnostic = match types.as_slice() {
            [left, right, ..] => self.with_origins(diagnostic, left, right),
            _ => diagnostic,
        };
        if !types.iter().any(|t| self.mentions_error(t)) {
            self.report(diagnostic);
        }
        if let Some(result) = result {
            self.poison(&result);
        }
    }

    /// Makes an open type the type of what is wrong.
    pub(crate) fn poison(&mut self, t: &Ty) {
        if let Ty::Var(v) = self.arena.prune(t)
            && self.arena.is_open(v)
            && self.arena.var(v).kind == VKind::Type
        {
            self.arena.var_mut(v).link = Link::Ty(Ty::Error);
            self.arena.bindings += 1;
            self.arena.wake(v);
        }
    }

    /// Whether something wrong is part of the type, so that its failures are consequences.
    pub(crate) fn mentions_error(&self, t: &Ty) -> bool {
        match self.arena.prune(t) {
            Ty::Error => true,
            Ty::Con(_, args) => args.iter().any(|a| self.mentions_error(a)),
            Ty::Exists(e) => self.mentions_error(&e.body),
            Ty::Var(_) | Ty::Fin(_) => false,
        }
    }

    /// Tries one constraint: done, stuck, or wrong.
    fn attempt(&mut self, id: usize, kind: &Kind) -> Result<bool, Fail> {
        if self.constraints[id].types().iter().any(|t| self.arena.is_error(t)) {
            if let Some(result) = self.constraints[id].result().cloned() {
                self.poison(&result);
            }
            return Ok(true);
        }
        match kind {
            Kind::Bin { op, left, right, result } => self.try_bin(*op, left, right, result),
            Kind::Pow { base, exponent, result } => self.try_pow(base, exponent, result),
            Kind::Cmp { op, class, left, right } => self.try_cmp(op, *class, left, right),
            Kind::Neg { operand, result } => self.try_neg(operand, result),
            Kind::Conv { target, operand, result } => self.try_conv(target, operand, result),
            Kind::MatMul { left, right, result } => self.try_matmul(left, right, result),
            Kind::Index { set, index, .. } => self.try_index(set, index),
            Kind::Field { value, name, result } => self.try_field(value, name, result),
            Kind::Tan { left, right } => self.try_tan(left, right),
            Kind::Size { left, right } => self.try_size(left, right),
            Kind::LitOf { lit, ty, scale } => self.try_lit_of(lit, ty, *scale),
        }
    }
}
