//! The arena of variables, and what follows links: heads, free variables, substitution, tangents.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function asks for one shape; everything else is the other case"
)]

use std::{collections::HashMap, sync::Arc};

use adl_diag::{Code, Diagnostic, Span};

use crate::{
    data::{Body, Data},
    types::{
        Atom, Class, Con, DataId, Exists, Link, MAX_MONOMIALS, Poly, Ty, V, VKind, VarData, table,
        tangent_of, tuple, unit,
    },
};

/// What fails without a place; the caller adds it.
pub(crate) type Fail = Box<Diagnostic>;

/// What stands for a variable in a substitution.
#[derive(Clone, Debug)]
pub(crate) enum Sub {
    Ty(Ty),
    Size(Poly),
}

/// Substitutions map variables.
pub(crate) type Subst = HashMap<V, Sub>;

/// All variables and declared types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    pub(crate) vars: Vec<VarData>,
    pub(crate) data: Vec<Data>,
    /// The classes that `instance`s give.
    pub(crate) instances: Vec<(DataId, Class)>,
    /// What is being shown of recursive types, and may be assumed meanwhile.
    pub(crate) assumed: Vec<(Class, Ty)>,
    /// The types whose `instance Num` says what an integer literal is.
    pub(crate) from_int: Vec<DataId>,
    /// How many variables [`Arena::compress`] has seen.
    compressed: usize,
    /// Where what is unified stands.
    pub(crate) place: Span,
    /// Counts bindings, so that a caller can tell whether something moved.
    pub(crate) bindings: u64,
    /// The level outside of what is being closed, and how many variables were given to it since.
    pub(crate) outer: i32,
    pub(crate) lowered: u64,
    /// Constraints to run again.
    pub(crate) woken: Vec<usize>,
    /// Constraints that unification makes.
    pub(crate) pending: Vec<Pending>,
}

/// A constraint made by unification; the checker gives it a place.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    Tan(Ty, Ty),
    Size(Poly, Poly),
}

/// How often a type may contain itself at larger arguments before no more floats are expected in it.
const MAX_GROWTH: usize = 4;

impl Arena {
    pub(crate) fn fresh(&mut self, level: i32) -> V {
        let v = V(u32::try_from(self.vars.len()).expect("fewer than 2^32 variables"));
        self.vars.push(VarData {
            level,
            name: None,
            kind: VKind::Type,
            ix: false,
            lit: None,
            rigid: false,
            given: None,
            classes: vec![],
            link: Link::Open,
            origin: None,
            watch: vec![],
        });
        v
    }

    pub(crate) fn var(&self, v: V) -> &VarData {
        &self.vars[v.0 as usize]
    }

    pub(crate) fn var_mut(&mut self, v: V) -> &mut VarData {
        &mut self.vars[v.0 as usize]
    }

    pub(crate) fn decl(&self, id: DataId) -> &Data {
        &self.data[id.0 as usize]
    }

    /// Follows links of variables.
    pub(crate) fn prune(&self, t: &Ty) -> Ty {
        let mut t = t;
        while let Ty::Var(v) = t {
            match &self.var(*v).link {
                Link::Ty(next) => t = next,
                Link::Open | Link::Size(_) => break,
            }
        }
        t.clone()
    }

    /// Makes every link since the last call point at the end of its chain, so that reading is cheap.
    pub(crate) fn compress(&mut self) {
        for k in self.compressed..self.vars.len() {
            let mut path = vec![];
            let mut at = k;
            while let Link::Ty(Ty::Var(next)) = self.vars[at].link {
                path.push(at);
                at = next.0 as usize;
            }
            let end = V(u32::try_from(at).expect("an index of a variable"));
            for v in path {
                self.vars[v].link = Link::Ty(Ty::Var(end));
            }
        }
        self.compressed = self.vars.len();
    }

    /// The type with its outermost constructor known: links followed, tangents reduced.
    pub(crate) fn head(&self, t: &Ty) -> Ty {
        match self.prune(t) {
            Ty::Con(Con::Tangent, args) => self.tangent(&args[0]),
            t => t,
        }
    }

    /// The open or rigid variable that the type is, if it is one.
    pub(crate) fn as_var(&self, t: &Ty) -> Option<V> {
        if let Ty::Var(v) = self.head(t) { Some(v) } else { None }
    }

    pub(crate) fn is_open(&self, v: V) -> bool {
        !self.var(v).rigid && matches!(self.var(v).link, Link::Open)
    }

    // ---- sizes ------------------------------------------------------------------------------------

    /// The size of an index set.
    pub(crate) fn size_of(&self, t: &Ty) -> Result<Poly, Fail> {
        match self.prune(t) {
            Ty::Var(v) => Ok(Poly::atom(Atom::SizeOf(v))),
            Ty::Fin(p) => self.norm(&p),
            Ty::Con(Con::Tuple, args) => {
                args.iter().try_fold(Poly::constant(1), |p, a| self.limited(p.mul(&self.size_of(a)?)))
            }
            Ty::Con(Con::Bool, _) => Ok(Poly::constant(2)),
            Ty::Con(Con::Data(id), _) if self.decl(id).is_index_set() => match &self.decl(id).body {
                Body::Enum(ctors) => Ok(Poly::constant(i64::try_from(ctors.len()).unwrap_or(i64::MAX))),
                Body::Struct(_) => Err(self.not_an_index_set(t)),
            },
            Ty::Error => Ok(Poly::default()),
            Ty::Con(..) | Ty::Exists(_) => Err(self.not_an_index_set(t)),
        }
    }

    pub(crate) fn not_an_index_set(&self, t: &Ty) -> Fail {
        Box::new(crate::errors::not_an_index_set(&self.show(t)))
    }

    fn limited(&self, p: Poly) -> Result<Poly, Fail> {
        if p.0.len() <= MAX_MONOMIALS {
            return Ok(p);
        }
        let message = format!("a size has more than {MAX_MONOMIALS} terms");
        Err(Box::new(Diagnostic::error(Code::E0219, message).help("give parts of it a name with `let`")))
    }

    /// The polynomial with solved sizes put in.
    pub(crate) fn norm(&self, p: &Poly) -> Result<Poly, Fail> {
        let solved = |a: Atom| !matches!(self.var(a.var()).link, Link::Open);
        if !p.atoms().any(solved) {
            return Ok(p.clone());
        }
        let mut sum = Poly::default();
        for (monomial, factor) in &p.0 {
            let mut term = Poly::constant(*factor);
            for atom in monomial {
                let value = match (atom, &self.var(atom.var()).link) {
                    (Atom::Size(_), Link::Size(q)) => self.norm(q)?,
                    (Atom::SizeOf(v), Link::Ty(_)) => self.size_of(&Ty::Var(*v))?,
                    (_, Link::Open | Link::Size(_) | Link::Ty(_)) => Poly::atom(*atom),
                };
                term = self.limited(term.mul(&value))?;
            }
            sum = self.limited(sum.add(&term))?;
        }
        Ok(sum)
    }

    /// [`Arena::norm`], or the polynomial as it is where that fails.
    pub(crate) fn normed(&self, p: &Poly) -> Poly {
        self.norm(p).unwrap_or_else(|_| p.clone())
    }

    // ---- tangents -----------------------------------------------------------------------------------

    /// The normal form of `Tangent[t]`; a [`Con::Tangent`] where it is neutral or opaque.
    pub(crate) fn tangent(&self, t: &Ty) -> Ty {
        self.tangent_within(t, &mut vec![])
    }

    fn tangent_within(&self, t: &Ty, inside: &mut Vec<Ty>) -> Ty {
        match self.prune(t) {
            Ty::Var(v) if self.var(v).ix => unit(),
            Ty::Var(v) if self.has(v, Class::Vector) => Ty::Var(v),
            Ty::Var(v) => tangent_of(Ty::Var(v)),
            Ty::Fin(_) => unit(),
            Ty::Error => Ty::Error,
            t @ Ty::Exists(_) => tangent_of(t),
            Ty::Con(con, args) => match con {
                Con::Float | Con::F32 => Ty::Con(con, args),
                Con::Int | Con::Bool | Con::Str | Con::Key => unit(),
                Con::Tuple => tuple(args.iter().map(|a| self.tangent_within(a, inside)).collect()),
                Con::Table => table(args[0].clone(), self.tangent_within(&args[1], inside)),
                // A tangent is its own tangent.
                Con::Tangent => self.tangent_within(&args[0], inside),
                Con::Fun | Con::Lin => tangent_of(Ty::Con(con, args)),
                Con::Data(_) => self.tangent_of_data(&Ty::Con(con, args), inside),
            },
        }
    }

    fn tangent_of_data(&self, t: &Ty, inside: &mut Vec<Ty>) -> Ty {
        match self.payloads(t) {
            Body::Struct(fields) => {
                if self.is_inside(t, inside) || self.grows(t, inside) {
                    return t.clone();
                }
                inside.push(t.clone());
                let own = fields.iter().all(|(_, f)| self.same(&self.tangent_within(f, inside), f));
                inside.pop();
                if own { t.clone() } else { tangent_of(t.clone()) }
            }
            Body::Enum(_) => {
                if self.has_tangent(t, &mut vec![], &mut vec![]) {
                    tangent_of(t.clone())
                } else {
                    unit()
                }
            }
        }
    }

    /// Has a type a tangent that is not `()`? `seen` are the enums met so far, `path` those around this type.
    fn has_tangent(&self, t: &Ty, seen: &mut Vec<Ty>, path: &mut Vec<Ty>) -> bool {
        match self.prune(t) {
            Ty::Var(v) => !self.var(v).ix,
            Ty::Fin(_) | Ty::Error => false,
            Ty::Exists(_) => true,
            Ty::Con(con, args) => match con {
                Con::Int | Con::Bool | Con::Str | Con::Key => false,
                Con::Float | Con::F32 | Con::Table | Con::Fun | Con::Lin => true,
                Con::Tuple => !args.is_empty(),
                Con::Tangent => self.has_tangent(&args[0], seen, path),
                Con::Data(_) => {
                    let t = Ty::Con(con, args);
                    let Body::Enum(ctors) = self.payloads(&t) else { return true };
                    if self.is_inside(&t, seen) || self.grows(&t, path) {
                        return false;
                    }
                    seen.push(t.clone());
                    path.push(t);
                    let has = |part| self.has_tangent(part, seen, path);
                    let found = ctors.iter().flat_map(|(_, parts)| parts).any(has);
                    path.pop();
                    found
                }
            },
        }
    }

    /// Is the type among these, sizes apart?
    fn is_inside(&self, t: &Ty, others: &[Ty]) -> bool {
        others.iter().any(|other| self.alike(other, t))
    }

    /// Does a type contain itself at ever larger arguments?
    fn grows(&self, t: &Ty, path: &[Ty]) -> bool {
        let smaller =
            |other: &&Ty| self.declared(other) == self.declared(t) && self.n_parts(other) < self.n_parts(t);
        MAX_GROWTH < path.iter().filter(smaller).count()
    }

    fn n_parts(&self, t: &Ty) -> usize {
        let Ty::Con(_, args) = self.prune(t) else { return 1 };
        1 + args.iter().map(|arg| self.n_parts(arg)).sum::<usize>()
    }

    /// Are two types the same, sizes apart?
    fn alike(&self, a: &Ty, b: &Ty) -> bool {
        match (self.prune(a), self.prune(b)) {
            (Ty::Fin(_), Ty::Fin(_)) => true,
            (Ty::Con(c, xs), Ty::Con(d, ys)) => {
                c == d && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.alike(x, y))
            }
            (a, b) => self.same(&a, &b),
        }
    }

    /// Fields or constructors of a struct or enum type, its parameters put in.
    pub(crate) fn payloads(&self, t: &Ty) -> Body {
        let Ty::Con(Con::Data(id), args) = t else { return Body::Struct(vec![]) };
        let decl = self.decl(*id);
        let map: Subst = decl.params.iter().copied().zip(args.iter().cloned().map(Sub::Ty)).collect();
        match &decl.body {
            Body::Struct(fields) => {
                Body::Struct(fields.iter().map(|(n, t)| (n.clone(), self.subst(t, &map))).collect())
            }
            Body::Enum(ctors) => Body::Enum(
                ctors
                    .iter()
                    .map(|(n, ts)| (n.clone(), ts.iter().map(|t| self.subst(t, &map)).collect()))
                    .collect(),
            ),
        }
    }

    /// The constructors of an enum with what they hold, in the order of their tags. The tangent of an enum has
    /// `Zero`, then the constructors of the enum with tangents inside. Other types have none.
    pub(crate) fn alternatives(&self, t: &Ty) -> Vec<(Arc<str>, Vec<Ty>)> {
        let head = self.head(t);
        let Ty::Con(Con::Tangent, args) = &head else {
            return match self.payloads(&head) {
                Body::Enum(ctors) => ctors,
                Body::Struct(_) => vec![],
            };
        };
        let ctors = self.alternatives(&args[0]);
        if ctors.is_empty() {
            return vec![];
        }
        let tangents = |ts: Vec<Ty>| ts.iter().map(|t| self.tangent(t)).collect();
        let zero = (Arc::from("Zero"), vec![]);
        std::iter::once(zero).chain(ctors.into_iter().map(|(n, ts)| (n, tangents(ts)))).collect()
    }

    /// The fields of a struct, or of the tangent of one.
    pub(crate) fn fields(&self, t: &Ty) -> Option<Vec<(Arc<str>, Ty)>> {
        match self.head(t) {
            Ty::Con(Con::Tangent, args) => {
                let fields = self.fields(&args[0])?;
                Some(fields.into_iter().map(|(n, t)| (n, self.tangent(&t))).collect())
            }
            t @ Ty::Con(Con::Data(_), _) => match self.payloads(&t) {
                Body::Struct(fields) => Some(fields),
                Body::Enum(_) => None,
            },
            Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error => None,
        }
    }

    /// The declaration that the type is of, or the tangent of.
    pub(crate) fn declared(&self, t: &Ty) -> Option<DataId> {
        match self.head(t) {
            Ty::Con(Con::Data(id), _) => Some(id),
            Ty::Con(Con::Tangent, args) => self.declared(&args[0]),
            Ty::Con(..) | Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Error => None,
        }
    }

    /// The tangent of a struct or enum that is no type of its own.
    pub(crate) fn is_tangent_of_data(&self, t: &Ty) -> bool {
        self.is(t, Con::Tangent) && self.declared(t).is_some()
    }

    // ---- traversals -----------------------------------------------------------------------------------

    /// The type with all links followed.
    pub(crate) fn zonk(&self, t: &Ty) -> Ty {
        match self.prune(t) {
            t @ (Ty::Var(_) | Ty::Error) => t,
            Ty::Fin(p) => Ty::Fin(self.normed(&p)),
            Ty::Exists(e) => Ty::Exists(Arc::new(Exists { vars: e.vars.clone(), body: self.zonk(&e.body) })),
            Ty::Con(Con::Tangent, args) => match self.tangent(&args[0]) {
                Ty::Con(Con::Tangent, inner) => tangent_of(self.zonk(&inner[0])),
                t => self.zonk(&t),
            },
            Ty::Con(con, args) if args.is_empty() => Ty::Con(con, args),
            Ty::Con(con, args) => Ty::Con(con, args.iter().map(|a| self.zonk(a)).collect()),
        }
    }

    pub(crate) fn subst(&self, t: &Ty, map: &Subst) -> Ty {
        match self.prune(t) {
            Ty::Error => Ty::Error,
            Ty::Var(v) => match map.get(&v) {
                Some(Sub::Ty(t)) => t.clone(),
                Some(Sub::Size(p)) => Ty::Fin(p.clone()),
                None => Ty::Var(v),
            },
            Ty::Fin(p) => Ty::Fin(self.subst_poly(&p, map)),
            Ty::Exists(e) => {
                Ty::Exists(Arc::new(Exists { vars: e.vars.clone(), body: self.subst(&e.body, map) }))
            }
            Ty::Con(con, args) if args.is_empty() => Ty::Con(con, args),
            Ty::Con(con, args) => Ty::Con(con, args.iter().map(|a| self.subst(a, map)).collect()),
        }
    }

    pub(crate) fn subst_poly(&self, p: &Poly, map: &Subst) -> Poly {
        let mut sum = Poly::default();
        for (monomial, factor) in &self.normed(p).0 {
            let mut term = Poly::constant(*factor);
            for atom in monomial {
                let value = match (atom, map.get(&atom.var())) {
                    (_, Some(Sub::Size(p))) => p.clone(),
                    (Atom::SizeOf(_), Some(Sub::Ty(t))) => self.size_of(t).unwrap_or_default(),
                    (Atom::Size(_), Some(Sub::Ty(Ty::Var(v)))) => Poly::atom(Atom::Size(*v)),
                    (Atom::Size(_), Some(Sub::Ty(_))) | (_, None) => Poly::atom(*atom),
                };
                term = term.mul(&value);
            }
            sum = sum.add(&term);
        }
        sum
    }

    /// The unsolved variables in order of appearance.
    pub(crate) fn free_vars(&self, t: &Ty) -> Vec<V> {
        let mut found = vec![];
        self.collect_vars(t, &mut found);
        found
    }

    pub(crate) fn collect_vars(&self, t: &Ty, found: &mut Vec<V>) {
        match self.prune(t) {
            Ty::Error => {}
            Ty::Var(v) => {
                if !found.contains(&v) {
                    found.push(v);
                }
            }
            Ty::Fin(p) => self.collect_poly_vars(&p, found),
            Ty::Exists(e) => {
                let mut inner = vec![];
                self.collect_vars(&e.body, &mut inner);
                for v in inner {
                    if !e.vars.contains(&v) && !found.contains(&v) {
                        found.push(v);
                    }
                }
            }
            Ty::Con(_, args) => args.iter().for_each(|a| self.collect_vars(a, found)),
        }
    }

    pub(crate) fn collect_poly_vars(&self, p: &Poly, found: &mut Vec<V>) {
        for atom in self.normed(p).atoms() {
            if !found.contains(&atom.var()) {
                found.push(atom.var());
            }
        }
    }

    /// Whether two types are equal as they stand.
    pub(crate) fn same(&self, a: &Ty, b: &Ty) -> bool {
        match (self.head(a), self.head(b)) {
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Var(v), Ty::Var(w)) => v == w,
            (Ty::Fin(p), Ty::Fin(q)) => self.normed(&p) == self.normed(&q),
            (Ty::Exists(x), Ty::Exists(y)) => Arc::ptr_eq(&x, &y),
            (Ty::Con(c, xs), Ty::Con(d, ys)) => {
                c == d && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.same(x, y))
            }
            (Ty::Var(_) | Ty::Fin(_) | Ty::Exists(_) | Ty::Con(..), _) => false,
        }
    }

    pub(crate) fn is(&self, t: &Ty, con: Con) -> bool {
        matches!(self.head(t), Ty::Con(c, _) if c == con)
    }

    pub(crate) fn is_error(&self, t: &Ty) -> bool {
        matches!(self.prune(t), Ty::Error)
    }

    /// Marks the constraints that wait for `v` to run again.
    pub(crate) fn wake(&mut self, v: V) {
        let waiting = std::mem::take(&mut self.var_mut(v).watch);
        self.woken.extend(waiting);
    }
}
