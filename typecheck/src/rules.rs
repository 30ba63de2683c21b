//! The rules of the other constraints: powers, comparisons, conversions, `@`, indices, fields, tangents, sizes.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use crate::{
    arena::{Fail, Pending},
    arith::Shape,
    checker::Checker,
    constraint::Kind,
    data::Body,
    errors,
    types::{Class, Con, LitKind, Poly, Ty, Why, float, int, table},
};

impl Checker {
    pub(crate) fn try_pow(&mut self, base: &Ty, exponent: &Ty, result: &Ty) -> Result<bool, Fail> {
        let why = Why::of("for `^`");
        let (b, e) = (self.arena.head(base), self.arena.head(exponent));
        let kb = self.shape(&b);
        let mut ke = self.shape(&e);
        if kb.is_index() || ke.is_index() {
            return Err(Box::new(errors::index_operand("^", "write `int(i)` or `float(i)`")));
        }
        if ke == Shape::Lit && self.lit_kind(&e) == Some(LitKind::Int) {
            self.arena.unify(&e, &int())?;
            ke = Shape::Num;
        }
        if ke == Shape::Num && self.is_int(&e) {
            self.arena.unify(result, &b)?;
            self.arena.need(Class::Num, &b, &why)?;
            return Ok(true);
        }
        match (kb, ke) {
            (Shape::Bad | Shape::Aggregate, _) | (_, Shape::Bad | Shape::Aggregate) => {
                let (b, e) = (self.arena.show(&b), self.arena.show(&e));
                Err(Box::new(errors::bad_operands("^", &b, &e, None)))
            }
            (_, Shape::Lit) => {
                self.arena.unify(result, &b)?;
                self.arena.need(Class::Floating, &b, &why)?;
                self.emit_like(Kind::LitOf { lit: e, ty: b, scale: false });
                Ok(true)
            }
            (Shape::Num | Shape::Lit, Shape::Num) => {
                self.arena.unify(&b, &e)?;
                self.arena.unify(result, &b)?;
                self.arena.need(Class::Floating, &b, &why)?;
                Ok(true)
            }
            (Shape::Table, Shape::Num) => self.pow_lifted(&b, result, |inner| (inner, e.clone())),
            (Shape::Num | Shape::Lit, Shape::Table) => {
                self.pow_lifted(&e, result, |inner| (b.clone(), inner))
            }
            (Shape::Table, Shape::Table) | (Shape::Rigid, Shape::Rigid) => {
                self.arena.unify(&b, &e)?;
                self.arena.unify(result, &b)?;
                self.arena.need(Class::Floating, &b, &why)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn pow_lifted(
        &mut self,
        over: &Ty,
        result: &Ty,
        operands: impl FnOnce(Ty) -> (Ty, Ty),
    ) -> Result<bool, Fail> {
        let Ty::Con(Con::Table, args) = self.arena.head(over) else { return Ok(false) };
        let inner = Ty::Var(self.fresh());
        self.arena.unify(result, &table(args[0].clone(), inner.clone()))?;
        let (base, exponent) = operands(args[1].clone());
        self.emit_like(Kind::Pow { base, exponent, result: inner });
        Ok(true)
    }

    pub(crate) fn try_cmp(&mut self, op: &str, class: Class, left: &Ty, right: &Ty) -> Result<bool, Fail> {
        let (l, r) = (self.arena.head(left), self.arena.head(right));
        let (kl, kr) = (self.shape(&l), self.shape(&r));
        for (ka, b, kb) in [(kl, &r, kr), (kr, &l, kl)] {
            if ka.is_index() && kb.is_scalar() {
                if kb == Shape::Lit && self.lit_kind(b) == Some(LitKind::Int) {
                    self.arena.unify(b, &int())?;
                }
                if !self.is_int(b) {
                    return Err(Box::new(errors::index_operand(op, "write `float(i)`")));
                }
                return Ok(true);
            }
        }
        if class == Class::Ord && (kl == Shape::Table || kr == Shape::Table) {
            return Err(Box::new(errors::compare_tables()));
        }
        if kl.is_index() && kr.is_index() {
            self.arena.unify(&l, &r)?;
            return Ok(true);
        }
        let waits = |k: Shape, t: &Ty, this: &Checker| {
            k.is_index() || matches!(k, Shape::Open | Shape::Lit) || (k == Shape::Num && this.is_int(t))
        };
        if (kl == Shape::Open && waits(kr, &r, self)) || (kr == Shape::Open && waits(kl, &l, self)) {
            return Ok(false);
        }
        self.arena.unify(&r, &l)?;
        self.arena.need(class, &l, &Why::of(&format!("for `{op}`")))?;
        Ok(true)
    }

    pub(crate) fn try_neg(&mut self, operand: &Ty, result: &Ty) -> Result<bool, Fail> {
        match self.shape(operand) {
            Shape::Index | Shape::OpenIndex => self.arena.unify(result, &int())?,
            Shape::Open => return Ok(false),
            Shape::Bad => {
                return Err(Box::new(errors::bad_operand("-", &self.arena.show(operand))));
            }
            Shape::Num | Shape::Lit | Shape::Table | Shape::Aggregate | Shape::Rigid | Shape::Tangent => {
                self.arena.unify(result, operand)?;
                self.arena.need(Class::Add, operand, &Why::of("for `-`"))?;
            }
        }
        Ok(true)
    }

    pub(crate) fn try_lit_of(&mut self, lit: &Ty, ty: &Ty, scale: bool) -> Result<bool, Fail> {
        let Some(kind) = self.lit_kind(lit).filter(|_| self.shape(lit) == Shape::Lit) else {
            return Ok(true);
        };
        let t = self.arena.head(ty);
        match self.shape(&t) {
            Shape::Table => {
                let Ty::Con(_, args) = &t else { return Ok(true) };
                self.try_lit_of(lit, &args[1], scale)
            }
            Shape::Num | Shape::Lit => self.arena.unify(lit, &t).map(|()| true),
            Shape::Rigid if !scale => self.arena.unify(lit, &t).map(|()| true),
            Shape::Rigid | Shape::Aggregate | Shape::Tangent => {
                let scalar = if kind == LitKind::Int { int() } else { float() };
                self.arena.unify(lit, &scalar).map(|()| true)
            }
            Shape::Index | Shape::OpenIndex | Shape::Bad => Ok(true),
            Shape::Open => Ok(false),
        }
    }

    pub(crate) fn try_conv(&mut self, target: &Ty, operand: &Ty, result: &Ty) -> Result<bool, Fail> {
        let a = self.arena.head(operand);
        match (self.shape(&a), &a) {
            (Shape::Num | Shape::Lit | Shape::Index | Shape::OpenIndex, _) => {
                self.arena.unify(result, target)?
            }
            (Shape::Bad, Ty::Con(Con::Bool, _)) => self.arena.unify(result, target)?,
            (Shape::Bad, Ty::Con(Con::Data(id), _)) if self.arena.decl(*id).is_index_set() => {
                self.arena.unify(result, target)?;
            }
            (Shape::Aggregate, Ty::Con(Con::Tuple, _)) if self.arena.need_ix(&a).is_ok() => {
                self.arena.unify(result, target)?;
            }
            (Shape::Table, Ty::Con(_, args)) => {
                let inner = Ty::Var(self.fresh());
                self.arena.unify(result, &table(args[0].clone(), inner.clone()))?;
                self.emit_like(Kind::Conv {
                    target: target.clone(),
                    operand: args[1].clone(),
                    result: inner,
                });
            }
            (Shape::Open, _) => return Ok(false),
            _ => {
                let name = format!("{}(…)", self.arena.show(target).to_lowercase());
                return Err(Box::new(errors::bad_operand(&name, &self.arena.show(&a))));
            }
        }
        Ok(true)
    }

    pub(crate) fn try_index(&mut self, set: &Ty, index: &Ty) -> Result<bool, Fail> {
        let i = self.arena.head(index);
        match self.shape(&i) {
            Shape::Lit if self.lit_kind(&i) == Some(LitKind::Dec) => Err(Box::new(errors::decimal_index())),
            Shape::Lit => self.arena.unify(&i, &int()).map(|()| true),
            Shape::Num if self.is_int(&i) => Ok(true),
            Shape::Num => Err(Box::new(errors::bad_index(&self.arena.show(&i)))),
            Shape::Open => Ok(false),
            Shape::Aggregate if self.has_ints(&i, set) => {
                let (Ty::Con(_, parts), Ty::Con(_, sets)) = (&i, self.arena.head(set)) else {
                    return Ok(true);
                };
                for (index, set) in parts.iter().zip(sets.iter()) {
                    let (index, set) = (index.clone(), set.clone());
                    self.emit_like(Kind::Index { set, index, syntax: crate::constraint::IndexSyntax::Other });
                }
                Ok(true)
            }
            Shape::Index
            | Shape::OpenIndex
            | Shape::Table
            | Shape::Aggregate
            | Shape::Rigid
            | Shape::Tangent
            | Shape::Bad => {
                let fail = match self.arena.unify(&i, set) {
                    Ok(()) => return Ok(true),
                    Err(fail) => fail,
                };
                let (found, over) = (self.arena.show(&i), self.arena.show(set));
                if self.arena.need_ix(&i).is_err() {
                    return Err(Box::new(errors::bad_index(&found)));
                }
                let sizes = fail.code == adl_diag::Code::E0202;
                Err(Box::new(errors::wrong_index(&found, &over, sizes.then(|| fail.message.clone()))))
            }
        }
    }

    /// Whether an index of a set of tuples has Ints among its components.
    fn has_ints(&self, index: &Ty, set: &Ty) -> bool {
        let (Ty::Con(Con::Tuple, parts), Ty::Con(Con::Tuple, sets)) = (index, self.arena.head(set)) else {
            return false;
        };
        let int = |t: &Ty| self.is_int(t) || self.lit_kind(t) == Some(LitKind::Int);
        let inner = |(t, s): (&Ty, &Ty)| int(t) || self.has_ints(&self.arena.head(t), s);
        parts.len() == sets.len() && parts.iter().zip(sets.iter()).any(inner)
    }

    /// The index sets of a table from the outside in, its element, and what that is.
    fn axes(&self, t: &Ty) -> (Vec<Ty>, Ty, Shape) {
        let mut axes = vec![];
        let mut t = self.arena.head(t);
        while let Ty::Con(Con::Table, args) = &t {
            axes.push(args[0].clone());
            t = self.arena.head(&args[1]);
        }
        let shape = self.shape(&t);
        (axes, t, shape)
    }

    pub(crate) fn try_matmul(&mut self, left: &Ty, right: &Ty, result: &Ty) -> Result<bool, Fail> {
        let (al, el, kl) = self.axes(left);
        let (ar, er, kr) = self.axes(right);
        let ranks =
            |this: &Checker| Box::new(errors::matmul_ranks(&this.arena.show(left), &this.arena.show(right)));
        if kl == Shape::Open || kr == Shape::Open {
            if al.len() > 2 || ar.len() > 2 {
                return Err(ranks(self));
            }
            // The inner set is known from one side.
            if kl != Shape::Open && !al.is_empty() && ar.is_empty() {
                let elem = Ty::Var(self.fresh());
                self.arena.unify(right, &table(al[al.len() - 1].clone(), elem))?;
            }
            return Ok(false);
        }
        if al.is_empty() || ar.is_empty() || al.len() > 2 || ar.len() > 2 {
            return Err(ranks(self));
        }
        let inner = al[al.len() - 1].clone();
        if self.arena.unify(&ar[0], &inner).is_err() {
            let (l, r) = (self.arena.show(&inner), self.arena.show(&ar[0]));
            return Err(Box::new(errors::inner_sets(&l, &r)));
        }
        self.arena.unify(&er, &el)?;
        self.arena.need(Class::Num, &el, &Why::of("for `@`"))?;
        let outer = al[..al.len() - 1].iter().chain(&ar[1..]);
        let ty = outer.rev().fold(el, |elem, ix| table(ix.clone(), elem));
        self.arena.unify(result, &ty)?;
        Ok(true)
    }

    pub(crate) fn try_field(&mut self, value: &Ty, name: &str, result: &Ty) -> Result<bool, Fail> {
        let t = self.arena.head(value);
        let (t, tangent) = match &t {
            Ty::Con(Con::Tangent, args) => (self.arena.head(&args[0]), true),
            _ => (t, false),
        };
        let Some(found) = self.field_type(&t, name)? else { return Ok(false) };
        let found = if tangent { self.arena.tangent(&found) } else { found };
        self.arena.unify(result, &found)?;
        Ok(true)
    }

    /// The type of a field, if the type of the whole is known.
    pub(crate) fn field_type(&self, t: &Ty, name: &str) -> Result<Option<Ty>, Fail> {
        let shown = self.arena.show(t);
        if let Ty::Var(v) = t {
            if self.arena.is_open(*v) {
                return Ok(None);
            }
            let d = adl_diag::Diagnostic::error(
                adl_diag::Code::E0212,
                format!("`{shown}` is a type variable, it has no field `{name}`"),
            );
            return Err(Box::new(d));
        }
        let plain = |code, message: String| Box::new(adl_diag::Diagnostic::error(code, message));
        if let Ok(k) = name.parse::<usize>() {
            return match t {
                Ty::Con(Con::Tuple, args) if k < args.len() => Ok(Some(args[k].clone())),
                _ => Err(plain(adl_diag::Code::E0212, format!("`{shown}` has no component {name}"))),
            };
        }
        let fields = match t {
            Ty::Con(Con::Data(_), _) => self.arena.payloads(t),
            _ => Body::Struct(vec![]),
        };
        let Body::Struct(fields) = fields else {
            return Err(plain(adl_diag::Code::E0212, format!("`{shown}` has no field `{name}`; use `case`")));
        };
        match fields.iter().find(|(n, _)| &**n == name) {
            Some((_, ty)) => Ok(Some(ty.clone())),
            None => {
                let names: Vec<&str> = fields.iter().map(|(n, _)| &**n).collect();
                let d = plain(adl_diag::Code::E0212, format!("`{shown}` has no field `{name}`"));
                let list = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
                Err(if names.is_empty() { d } else { Box::new(d.help(format!("its fields are {list}"))) })
            }
        }
    }

    pub(crate) fn try_tan(&mut self, left: &Ty, right: &Ty) -> Result<bool, Fail> {
        let (a, b) = (self.arena.head(left), self.arena.head(right));
        let tangent = |t: &Ty| matches!(t, Ty::Con(Con::Tangent, _));
        if (tangent(&a) && tangent(&b)
            || tangent(&a) && !self.is_variable(&b)
            || tangent(&b) && !self.is_variable(&a))
            && !self.arena.same(&a, &b)
        {
            return self.settled_tangents(&a, &b);
        }
        let before = self.arena.pending.len();
        self.arena.unify(&a, &b)?;
        let stuck = self.arena.pending.len() > before
            && matches!(self.arena.pending.last(), Some(Pending::Tan(..)))
            && (tangent(&a) || tangent(&b));
        if stuck {
            self.arena.pending.pop();
        }
        Ok(!stuck)
    }

    /// Two tangents, or a tangent and a known type: stuck while a variable may still reduce it, else different.
    fn settled_tangents(&mut self, a: &Ty, b: &Ty) -> Result<bool, Fail> {
        let open = |t: &Ty| self.arena.free_vars(t).into_iter().any(|v| self.arena.is_open(v));
        if open(a) || open(b) {
            return Ok(false);
        }
        if let (Ty::Con(Con::Tangent, x), Ty::Con(Con::Tangent, y)) = (a, b)
            && !self.is_variable(&x[0])
            && !self.is_variable(&y[0])
        {
            return self.arena.unify(&x[0], &y[0]).map(|()| true);
        }
        Ok(false)
    }

    pub(crate) fn is_variable(&self, t: &Ty) -> bool {
        matches!(self.arena.prune(t), Ty::Var(_))
    }

    pub(crate) fn try_size(&mut self, left: &Poly, right: &Poly) -> Result<bool, Fail> {
        let before = self.arena.pending.len();
        self.arena.unify_size(left, right)?;
        let stuck = self.arena.pending.len() > before;
        self.arena.pending.truncate(before);
        Ok(!stuck)
    }
}
