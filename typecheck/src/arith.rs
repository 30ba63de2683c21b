//! The rules of arithmetic: which operands an operator takes, and what comes out.

use crate::{
    arena::Fail,
    checker::Checker,
    constraint::{Arith, Kind},
    errors,
    types::{Class, Con, LitKind, Ty, Why, float, int, table},
};

/// What a type is to the rules of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A number, or a type with `instance Num`.
    Num,
    /// The open type of a literal.
    Lit,
    /// An index of a known or rigid set.
    Index,
    /// An index of an open set.
    OpenIndex,
    Table,
    /// A struct or a tuple.
    Aggregate,
    /// A type variable of a signature.
    Rigid,
    /// A neutral or opaque tangent.
    Tangent,
    /// Nothing is known.
    Open,
    /// Nothing to calculate with.
    Bad,
}

impl Shape {
    pub(crate) fn is_index(self) -> bool {
        matches!(self, Shape::Index | Shape::OpenIndex)
    }

    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Shape::Num | Shape::Lit)
    }
}

impl Checker {
    pub(crate) fn shape(&self, t: &Ty) -> Shape {
        match self.arena.head(t) {
            Ty::Var(v) => {
                let data = self.arena.var(v);
                match (data.rigid, data.ix, data.lit) {
                    (true, true, _) => Shape::Index,
                    // A scalar, whichever it is.
                    (true, false, _) if self.arena.has(v, Class::Real) => Shape::Num,
                    (true, false, _) => Shape::Rigid,
                    (false, true, _) => Shape::OpenIndex,
                    (false, false, Some(_)) => Shape::Lit,
                    (false, false, None) => Shape::Open,
                }
            }
            Ty::Fin(_) => Shape::Index,
            Ty::Exists(_) | Ty::Error => Shape::Bad,
            Ty::Con(con, args) => match con {
                Con::Float | Con::F32 | Con::Int => Shape::Num,
                Con::Tangent => Shape::Tangent,
                Con::Table => Shape::Table,
                Con::Data(id) if self.arena.instances.contains(&(id, Class::Num)) => Shape::Num,
                Con::Data(id) if self.arena.decl(id).is_struct() => Shape::Aggregate,
                Con::Tuple if !args.is_empty() => Shape::Aggregate,
                Con::Tuple | Con::Data(_) | Con::Bool | Con::Str | Con::Key | Con::Fun | Con::Lin => {
                    Shape::Bad
                }
            },
        }
    }

    pub(crate) fn lit_kind(&self, t: &Ty) -> Option<LitKind> {
        self.arena.as_var(t).and_then(|v| self.arena.var(v).lit)
    }

    pub(crate) fn is_int(&self, t: &Ty) -> bool {
        self.arena.is(t, Con::Int)
    }

    fn elem(&self, t: &Ty) -> (Ty, Ty) {
        match self.arena.head(t) {
            Ty::Con(Con::Table, args) => (args[0].clone(), args[1].clone()),
            t @ (Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error) => (Ty::Error, t),
        }
    }

    fn bad(&self, op: Arith, left: &Ty, right: &Ty, hint: Option<&str>) -> Fail {
        let (l, r) = (self.arena.show(left), self.arena.show(right));
        Box::new(errors::bad_operands(op.symbol(), &l, &r, hint.map(str::to_string)))
    }

    pub(crate) fn try_bin(&mut self, op: Arith, left: &Ty, right: &Ty, result: &Ty) -> Result<bool, Fail> {
        let (l, r) = (self.arena.head(left), self.arena.head(right));
        let (kl, kr) = (self.shape(&l), self.shape(&r));
        let why = Why::of(&format!("for `{}`", op.symbol()));
        if kl == Shape::Bad || kr == Shape::Bad {
            let bad = if kl == Shape::Bad { &l } else { &r };
            let fail = errors::bad_operand(op.symbol(), &self.arena.show(bad));
            let text = self.arena.is(bad, Con::Str) && op == Arith::Add;
            return Err(Box::new(if text { fail.help("texts are joined by `++`") } else { fail }));
        }
        if kl.is_index() || kr.is_index() {
            return self.bin_with_index(op, (&l, kl), (&r, kr), result);
        }
        if kl.is_scalar()
            && kr.is_scalar()
            && let Some(done) = self.bin_with_instance(op, &l, &r, result)?
        {
            return Ok(done);
        }
        if kl.is_scalar() && kr.is_scalar() {
            let alike = |l: &Ty, r: &Ty| match (l, r) {
                (Ty::Con(c, _), Ty::Con(d, _)) => c == d,
                (Ty::Var(_), Ty::Var(_)) => self.arena.same(l, r),
                _ => false,
            };
            // A Float scales whichever scalar a variable stands for, as it scales any vector.
            let is_float = |t: &Ty| self.arena.is(t, Con::Float);
            let of = match (&l, &r) {
                (Ty::Var(_), _) if is_float(&r) && matches!(op, Arith::Mul | Arith::Div) => Some(&l),
                (_, Ty::Var(_)) if is_float(&l) && op == Arith::Mul => Some(&r),
                _ => None,
            };
            if let Some(of) = of.filter(|of| self.shape(of) == Shape::Num) {
                self.arena.unify(result, of)?;
                return Ok(true);
            }
            if kl == Shape::Num && kr == Shape::Num && !alike(&l, &r) {
                return Err(self.bad(
                    op,
                    &l,
                    &r,
                    Some("numbers of two types do not mix: write `float(…)` or `int(…)`"),
                ));
            }
            self.arena.unify(&l, &r)?;
            // Before the result is known: where this fails, nothing is said of the result.
            self.arena.need(op.class(), &l, &why)?;
            self.arena.unify(result, &l)?;
            return Ok(true);
        }
        if kl == Shape::Table && kr == Shape::Table {
            if let Err(inner) = self.arena.unify(&l, &r) {
                let fail = self.bad(op, &l, &r, Some("axes are never broadcast: write `for i, j. …`"));
                return Err(Box::new(fail.note(inner.message.clone())));
            }
            self.arena.need(op.class(), &l, &why)?;
            self.arena.unify(result, &l)?;
            return Ok(true);
        }
        for left_first in [true, false] {
            let ((a, ka), (b, kb)) = if left_first { ((&l, kl), (&r, kr)) } else { ((&r, kr), (&l, kl)) };
            if let Some(done) = self.bin_one_side(op, (a, ka), (b, kb), left_first, result)? {
                return Ok(done);
            }
        }
        self.bin_rest(op, (&l, kl), (&r, kr), result, &why)
    }

    /// A Float scales a type with `instance Num` that is a Vector. An integer literal is of the type itself where
    /// its instance says how, and else scales too. `None` where the operands are other numbers.
    fn bin_with_instance(&mut self, op: Arith, l: &Ty, r: &Ty, result: &Ty) -> Result<Option<bool>, Fail> {
        let instance = |t: &Ty| if let Ty::Con(Con::Data(id), _) = t { Some(*id) } else { None };
        let (number, of, id, number_is_left) = match (instance(l), instance(r)) {
            (Some(id), None) => (r, l, id, false),
            (None, Some(id)) => (l, r, id, true),
            (Some(_), Some(_)) | (None, None) => return Ok(None),
        };
        let literal = self.lit_kind(number);
        let class = op.class();
        let own = literal == Some(LitKind::Int) && self.arena.from_int.contains(&id);
        if own && (self.arena.instances.contains(&(id, class)) || class == Class::Add) {
            return Ok(None);
        }
        let scales = op == Arith::Mul || (op == Arith::Div && !number_is_left);
        if !scales {
            let hint = if literal == Some(LitKind::Int) {
                "what a number is as a value of this type, `def from_int(k) = …` of its instance says"
            } else {
                "a number may only scale this type: stand on either side of `*` and right of `/`"
            };
            return Err(self.bad(op, l, r, Some(hint)));
        }
        if literal.is_some() {
            self.arena.unify(number, &float())?;
        } else if self.is_int(number) {
            return Err(self.bad(op, l, r, Some("it is scaled by a Float: write `float(…)`")));
        }
        self.arena.need(Class::Vector, of, &Why::of(&format!("for `{}` with a number", op.symbol())))?;
        self.arena.unify(result, of)?;
        Ok(Some(true))
    }

    /// An index is an operand: the result is an Int.
    fn bin_with_index(
        &mut self,
        op: Arith,
        l: (&Ty, Shape),
        r: (&Ty, Shape),
        result: &Ty,
    ) -> Result<bool, Fail> {
        if op == Arith::Div {
            let help = "write `div(int(i), k)`, or `float(i) / x`";
            return Err(Box::new(errors::index_operand("/", help)));
        }
        let (other, shape) = if l.1.is_index() { r } else { l };
        match shape {
            Shape::Index | Shape::OpenIndex => {}
            Shape::Lit if self.lit_kind(other) == Some(LitKind::Dec) => {
                return Err(Box::new(errors::index_operand(
                    op.symbol(),
                    "an index meets a decimal number: write `float(i)`",
                )));
            }
            Shape::Lit => self.arena.unify(other, &int())?,
            Shape::Num if self.is_int(other) => {}
            Shape::Open => return Ok(false),
            Shape::Num => return Err(Box::new(errors::index_operand(op.symbol(), "write `float(i)`"))),
            Shape::Table | Shape::Aggregate | Shape::Rigid | Shape::Tangent | Shape::Bad => {
                return Err(Box::new(errors::index_operand(op.symbol(), "write `int(i)` or `float(i)`")));
            }
        }
        self.arena.unify(result, &int())?;
        Ok(true)
    }

    /// The rules that look at one operand `a` with the other, `b`, in either order.
    #[expect(clippy::too_many_lines, reason = "one arm a pair of shapes")]
    fn bin_one_side(
        &mut self,
        op: Arith,
        (a, ka): (&Ty, Shape),
        (b, kb): (&Ty, Shape),
        a_is_left: bool,
        result: &Ty,
    ) -> Result<Option<bool>, Fail> {
        let why = Why::of(&format!("for `{}`", op.symbol()));
        let scales = op == Arith::Mul || (op == Arith::Div && !a_is_left);
        match (ka, kb) {
            (Shape::Num | Shape::Lit, Shape::Table) => {
                let (ix, elem) = self.elem(b);
                let inner = Ty::Var(self.fresh());
                self.arena.unify(result, &table(ix, inner.clone()))?;
                let (left, right) = if a_is_left { (a.clone(), elem) } else { (elem, a.clone()) };
                self.emit_like(Kind::Bin { op, left, right, result: inner });
                Ok(Some(true))
            }
            (Shape::Num | Shape::Lit, Shape::Aggregate | Shape::Tangent) if scales => {
                if ka == Shape::Lit {
                    self.arena.unify(a, &float())?;
                } else if self.is_int(a) {
                    let hint = "a structure is scaled by a Float: write `float(…)`";
                    let (l, r) = if a_is_left { (a, b) } else { (b, a) };
                    return Err(self.bad(op, l, r, Some(hint)));
                }
                self.arena.need(Class::Vector, b, &why)?;
                self.arena.unify(result, b)?;
                Ok(Some(true))
            }
            (Shape::Num | Shape::Lit, Shape::Tangent) => Ok(Some(false)),
            (Shape::Num | Shape::Lit, Shape::Aggregate) => {
                let (l, r) = if a_is_left { (a, b) } else { (b, a) };
                let hint =
                    "with structs and tuples a number may only stand on either side of `*` and right of `/`";
                Err(self.bad(op, l, r, Some(hint)))
            }
            (Shape::Lit, Shape::Rigid) => {
                self.literal_with_rigid(op, a, b, scales, &why)?;
                self.arena.unify(result, b)?;
                Ok(Some(true))
            }
            (Shape::Num, Shape::Rigid) => {
                if scales && !self.is_int(a) {
                    self.arena.need(Class::Vector, b, &why)?;
                    self.arena.unify(result, b)?;
                    return Ok(Some(true));
                }
                let (l, r) = if a_is_left { (a, b) } else { (b, a) };
                Err(self.bad(
                    op,
                    l,
                    r,
                    Some("a type variable may be any type; a number may only scale it, if it is a Vector"),
                ))
            }
            (Shape::Aggregate, Shape::Open) if op.is_sum() => {
                self.arena.unify(b, a)?;
                Ok(Some(false))
            }
            (Shape::Aggregate, Shape::Open) => {
                self.arena.unify(result, a)?;
                Ok(Some(false))
            }
            (Shape::Rigid, Shape::Open) if op.is_sum() => {
                self.arena.unify(b, a)?;
                Ok(Some(false))
            }
            (Shape::Lit, Shape::Open) if self.lit_kind(a) == Some(LitKind::Dec) => {
                self.arena.unify(result, b)?;
                Ok(None)
            }
            (Shape::Table, Shape::Open) if self.leaf_is_number(a) => {
                self.arena.unify(result, a)?;
                Ok(None)
            }
            (Shape::Tangent, Shape::Rigid) if op.is_sum() => {
                self.arena.unify(a, b)?;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn leaf_is_number(&self, t: &Ty) -> bool {
        match self.shape(t) {
            Shape::Table => self.leaf_is_number(&self.elem(t).1),
            Shape::Num => true,
            Shape::Lit
            | Shape::Index
            | Shape::OpenIndex
            | Shape::Aggregate
            | Shape::Rigid
            | Shape::Tangent
            | Shape::Open
            | Shape::Bad => false,
        }
    }

    /// A literal with a type variable of a signature: an integer may scale what has `Add`; to scale by a decimal
    /// needs `Vector`; else the literal is of the variable's type.
    fn literal_with_rigid(
        &mut self,
        op: Arith,
        lit: &Ty,
        rigid: &Ty,
        scales: bool,
        why: &Why,
    ) -> Result<(), Fail> {
        let kind = self.lit_kind(lit);
        let vector = self.arena.as_var(rigid).is_some_and(|v| self.arena.has(v, Class::Vector));
        if !scales {
            let class =
                if op == Arith::Div || kind == Some(LitKind::Dec) { Class::Floating } else { Class::Num };
            self.arena.need(class, rigid, why)?;
            return self.arena.unify(lit, rigid);
        }
        if op == Arith::Mul && kind == Some(LitKind::Int) && !vector {
            self.arena.need(Class::Add, rigid, why)?;
            return self.arena.unify(lit, &int());
        }
        self.arena.need(Class::Vector, rigid, why)?;
        self.arena.unify(lit, &float())
    }

    fn bin_rest(
        &mut self,
        op: Arith,
        (l, kl): (&Ty, Shape),
        (r, kr): (&Ty, Shape),
        result: &Ty,
        why: &Why,
    ) -> Result<bool, Fail> {
        match (kl, kr) {
            (Shape::Aggregate, Shape::Aggregate) => {
                self.arena.unify(l, r)?;
                let class = if op.is_sum() { Class::Add } else { op.class() };
                self.arena.need(class, l, why)?;
                self.arena.unify(result, l)?;
                Ok(true)
            }
            (Shape::Rigid, Shape::Rigid) => {
                if !self.arena.same(l, r) {
                    return Err(self.bad(op, l, r, Some("these are two different type variables")));
                }
                self.arena.need(op.class(), l, why)?;
                self.arena.unify(result, l)?;
                Ok(true)
            }
            (Shape::Tangent, Shape::Tangent) if op.is_sum() => {
                self.arena.unify(l, r)?;
                self.arena.unify(result, l)?;
                Ok(true)
            }
            (Shape::Open, _) | (_, Shape::Open) => Ok(false),
            (Shape::Tangent, _) | (_, Shape::Tangent) if op.is_sum() => {
                self.arena.unify(l, r)?;
                self.arena.unify(result, l)?;
                Ok(self.arena.same(l, r))
            }
            (Shape::Table, Shape::Rigid) | (Shape::Rigid, Shape::Table) => {
                Err(self.bad(op, l, r, Some("a type variable may itself be a table: write `for i. …`")))
            }
            (Shape::Tangent, _) | (_, Shape::Tangent) => {
                let open = |t: &Ty| self.arena.free_vars(t).into_iter().any(|v| self.arena.is_open(v));
                if open(l) || open(r) { Ok(false) } else { Err(self.bad(op, l, r, None)) }
            }
            _ => {
                let hint = "only a number as a whole meets a table, and only to scale it; write `for i. …`";
                Err(self.bad(op, l, r, (kl == Shape::Table || kr == Shape::Table).then_some(hint)))
            }
        }
    }
}
