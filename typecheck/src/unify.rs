//! Unification: of types, of index sets, of sizes.

use crate::{
    arena::{Arena, Fail, Pending, Sub, Subst},
    errors,
    types::{Atom, Class, Con, Exists, Link, LitKind, Poly, Ty, V, VKind, Why},
};

impl Arena {
    /// Makes `found` and `wanted` equal, or says why they cannot be.
    pub(crate) fn unify(&mut self, found: &Ty, wanted: &Ty) -> Result<(), Fail> {
        let (a, b) = (self.head(found), self.head(wanted));
        if let (Ty::Var(v), Ty::Var(w)) = (&a, &b)
            && v == w
        {
            return Ok(());
        }
        if matches!(a, Ty::Error) || matches!(b, Ty::Error) {
            self.poison(&a);
            self.poison(&b);
            return Ok(());
        }
        let tangent = |t: &Ty| matches!(t, Ty::Con(Con::Tangent, _));
        let (ta, tb) = (tangent(&a), tangent(&b));
        match (&a, &b) {
            (Ty::Var(v), _) if self.is_open(*v) && !tb => return self.bind(*v, &b),
            (_, Ty::Var(v)) if self.is_open(*v) && !ta => return self.bind(*v, &a),
            _ => {}
        }
        if ta || tb {
            return self.unify_tangent(&a, &b, ta);
        }
        self.unify_heads(&a, &b)
    }

    /// What is still open in a wrong type fits everywhere.
    fn poison(&mut self, t: &Ty) {
        for v in self.free_vars(t) {
            if self.is_open(v) && self.var(v).kind == VKind::Type {
                self.var_mut(v).link = Link::Ty(Ty::Error);
                self.bindings += 1;
                self.wake(v);
            }
        }
    }

    fn unify_tangent(&mut self, a: &Ty, b: &Ty, a_is_tangent: bool) -> Result<(), Fail> {
        if self.same(a, b) {
            return Ok(());
        }
        let (tangent, other) = if a_is_tangent { (a, b) } else { (b, a) };
        let Ty::Con(_, args) = tangent else { return Ok(()) };
        if let Ty::Var(v) = other {
            // A number waits until the tangent type is known.
            let literal = self.var(*v).lit.is_some();
            if self.is_open(*v) && !literal && !self.free_vars(tangent).contains(v) {
                return self.bind(*v, tangent);
            }
            // T[a] = a is Vector(a).
            if let Ty::Var(inner) = self.prune(&args[0])
                && inner == *v
            {
                return self.need(
                    Class::Vector,
                    other,
                    &Why::of("as its tangent is used as a value of its type"),
                );
            }
        }
        self.pending.push(Pending::Tan(a.clone(), b.clone()));
        Ok(())
    }

    fn unify_heads(&mut self, a: &Ty, b: &Ty) -> Result<(), Fail> {
        match (a, b) {
            (Ty::Fin(p), Ty::Fin(q)) => self.unify_size(p, q),
            (Ty::Exists(x), Ty::Exists(y)) => self.unify_exists(x, y),
            (Ty::Con(c, xs), Ty::Con(d, ys)) if c == d && xs.len() == ys.len() => {
                for (x, y) in xs.clone().iter().zip(ys.iter()) {
                    self.unify(x, y)?;
                }
                Ok(())
            }
            (Ty::Con(Con::Lin, _), Ty::Con(Con::Fun, _)) | (Ty::Con(Con::Fun, _), Ty::Con(Con::Lin, _)) => {
                Err(Box::new(errors::linear_and_function(&self.show(a), &self.show(b))))
            }
            (Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Con(..) | Ty::Error, _) => {
                let d = errors::mismatch(&self.show(b), &self.show(a));
                let index = |t: &Ty| match t {
                    Ty::Var(v) => self.var(*v).ix,
                    Ty::Fin(_) => true,
                    Ty::Con(..) | Ty::Exists(_) | Ty::Error => false,
                };
                let number = |t: &Ty| matches!(t, Ty::Con(Con::Int, _));
                Err(Box::new(match (index(a) && number(b), number(a) && index(b)) {
                    (true, _) => d.help("the ordinal of an index is `int(i)`"),
                    (_, true) => d.help("an Int is no index of this set; a table may be indexed with either"),
                    (false, false) => d,
                }))
            }
        }
    }

    fn unify_exists(&mut self, x: &Exists, y: &Exists) -> Result<(), Fail> {
        if x.vars.len() != y.vars.len() {
            let (a, b) = (self.show(&x.body), self.show(&y.body));
            return Err(Box::new(errors::mismatch(&b, &a)));
        }
        let (mut left, mut right) = (Subst::new(), Subst::new());
        for (v, w) in x.vars.iter().zip(&y.vars) {
            let fresh = self.fresh(0);
            let like = self.var(*v).clone();
            let data = self.var_mut(fresh);
            (data.name, data.kind, data.ix, data.rigid) = (like.name, like.kind, like.ix, true);
            left.insert(*v, Sub::Ty(Ty::Var(fresh)));
            right.insert(*w, Sub::Ty(Ty::Var(fresh)));
        }
        let (a, b) = (self.subst(&x.body, &left), self.subst(&y.body, &right));
        self.unify(&a, &b)
    }

    /// Solves the open variable `v` by `t`.
    pub(crate) fn bind(&mut self, v: V, t: &Ty) -> Result<(), Fail> {
        let (mut v, mut t) = (v, self.prune(t));
        // Of two open variables the outer one stays.
        if let Ty::Var(w) = t
            && self.is_open(w)
            && self.var(v).level < self.var(w).level
            && !(self.var(v).lit.is_some() && self.var(w).lit.is_none())
        {
            (v, t) = (w, Ty::Var(v));
        }
        if matches!(t, Ty::Exists(_)) {
            return Err(Box::new(errors::pack_for_variable(&self.show(&t))));
        }
        let inside = self.free_vars(&t);
        if inside.contains(&v) {
            return Err(Box::new(errors::infinite(&self.show(&Ty::Var(v)), &self.show(&t))));
        }
        let level = self.var(v).level;
        for w in inside {
            self.lower(w, level, &t)?;
        }
        if let Some(lit) = self.var(v).lit {
            self.bind_lit(lit, &t)?;
        }
        if self.var(v).ix {
            self.need_ix(&t)?;
        }
        let origin = Some(self.place);
        let data = self.var_mut(v);
        (data.link, data.origin) = (Link::Ty(t.clone()), origin);
        self.bindings += 1;
        self.wake(v);
        let classes = self.var(v).classes.clone();
        for (class, why) in classes {
            self.need(class, &t, &why)?;
        }
        Ok(())
    }

    /// `w` becomes part of something at `level`; a size opened further inside may not.
    pub(crate) fn lower(&mut self, w: V, level: i32, within: &Ty) -> Result<(), Fail> {
        if self.var(w).level <= level {
            return Ok(());
        }
        self.lowered += u64::from(level <= self.outer && self.outer < self.var(w).level);
        if self.var(w).rigid {
            let name = self.show(&Ty::Var(w));
            return Err(Box::new(errors::escape(&name, &self.show(within))));
        }
        self.var_mut(w).level = level;
        Ok(())
    }

    fn bind_lit(&mut self, lit: LitKind, t: &Ty) -> Result<(), Fail> {
        let why = Why::of("for a number literal");
        match t {
            Ty::Var(w) if self.is_open(*w) => {
                let slot = &mut self.var_mut(*w).lit;
                *slot = Some(slot.map_or(lit, |old| old.max(lit)));
                // What waits for it may go on: it is a number now.
                self.wake(*w);
                Ok(())
            }
            Ty::Var(w) if self.var(*w).ix => Err(Box::new(errors::literal_as_index(&self.show(t)))),
            Ty::Var(_) => self.need(if lit == LitKind::Dec { Class::Floating } else { Class::Num }, t, &why),
            Ty::Con(Con::Float | Con::F32, _) => Ok(()),
            Ty::Con(Con::Int, _) if lit == LitKind::Int => Ok(()),
            Ty::Con(Con::Data(id), _) if lit == LitKind::Int && self.from_int.contains(id) => Ok(()),
            Ty::Con(..) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error => {
                Err(Box::new(errors::literal_type(lit == LitKind::Dec, &self.show(t), self.is(t, Con::Int))))
            }
        }
    }

    /// Makes sure that `t` is an index set.
    pub(crate) fn need_ix(&mut self, t: &Ty) -> Result<(), Fail> {
        let t = self.prune(t);
        match &t {
            Ty::Var(v) if self.var(*v).ix => Ok(()),
            Ty::Var(v) if self.is_open(*v) && self.var(*v).lit.is_none() => {
                self.var_mut(*v).ix = true;
                self.wake(*v);
                Ok(())
            }
            Ty::Fin(_) | Ty::Error | Ty::Con(Con::Bool, _) => Ok(()),
            Ty::Con(Con::Tuple, args) => args.iter().try_for_each(|a| self.need_ix(a)),
            Ty::Con(Con::Data(id), _) if self.decl(*id).is_index_set() => Ok(()),
            Ty::Var(_) | Ty::Con(..) | Ty::Exists(_) => Err(self.not_an_index_set(&t)),
        }
    }

    /// Solves `p = q` where a size stands alone in it; else it waits, or is an error.
    pub(crate) fn unify_size(&mut self, p: &Poly, q: &Poly) -> Result<(), Fail> {
        let difference = self.norm(&p.sub(q))?;
        if difference.is_zero() {
            return Ok(());
        }
        let candidate = difference
            .0
            .iter()
            .filter_map(|(monomial, factor)| match monomial.as_slice() {
                [Atom::Size(v)] if self.is_open(*v) && factor.abs() == 1 => Some((*v, *factor)),
                _ => None,
            })
            .filter(|(v, _)| difference.0.keys().filter(|m| m.contains(&Atom::Size(*v))).count() == 1)
            .max_by_key(|(v, _)| (self.var(*v).level, std::cmp::Reverse(*v)));
        if let Some((v, factor)) = candidate {
            let mut rest = Poly::default();
            for (monomial, k) in &difference.0 {
                if monomial.as_slice() != [Atom::Size(v)] {
                    rest.add_term(monomial.clone(), k.wrapping_mul(-factor));
                }
            }
            let level = self.var(v).level;
            let within = Ty::Fin(rest.clone());
            for w in self.free_vars(&within) {
                self.lower(w, level, &within)?;
            }
            let origin = Some(self.place);
            let data = self.var_mut(v);
            (data.link, data.origin) = (Link::Size(rest), origin);
            self.bindings += 1;
            self.wake(v);
            return Ok(());
        }
        if difference.atoms().any(|a| self.is_open(a.var())) {
            self.pending.push(Pending::Size(p.clone(), q.clone()));
            return Ok(());
        }
        Err(Box::new(errors::size_mismatch(&self.show_poly(q), &self.show_poly(p))))
    }
}
