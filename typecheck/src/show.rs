//! Types in the words of the language.

use adl_diag::Span;

use crate::{
    arena::Arena,
    types::{Atom, Con, Link, LitKind, Poly, Ty, V, VKind},
};

/// How tightly the surroundings bind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Prec {
    Arrow,
    Table,
    Atom,
}

impl Arena {
    /// The type as the user would write it.
    pub(crate) fn show(&self, t: &Ty) -> String {
        self.show_at(&self.zonk(t), Prec::Arrow)
    }

    fn show_at(&self, t: &Ty, prec: Prec) -> String {
        let wrap = |own: Prec, text: String| if prec > own { format!("({text})") } else { text };
        match t {
            Ty::Error => "_".into(),
            Ty::Var(v) => self.show_var(*v),
            Ty::Fin(p) => format!("Fin({})", self.show_poly(p)),
            Ty::Exists(e) => {
                let names: Vec<String> = e.vars.iter().map(|v| self.show_var(*v)).collect();
                wrap(
                    Prec::Arrow,
                    format!("exists {}. {}", names.join(", "), self.show_at(&e.body, Prec::Arrow)),
                )
            }
            Ty::Con(con, args) => match con {
                Con::Float => "Float".into(),
                Con::F32 => "F32".into(),
                Con::Int => "Int".into(),
                Con::Bool => "Bool".into(),
                Con::Str => "String".into(),
                Con::Key => "Key".into(),
                Con::Tuple => format!("({})", self.show_list(args)),
                Con::Table => wrap(
                    Prec::Table,
                    format!(
                        "{}=>{}",
                        self.show_at(&args[0], Prec::Atom),
                        self.show_at(&args[1], Prec::Table)
                    ),
                ),
                Con::Fun | Con::Lin => {
                    let arrow = if *con == Con::Fun { "->" } else { "-o" };
                    let (a, b) = (self.show_at(&args[0], Prec::Table), self.show_at(&args[1], Prec::Arrow));
                    wrap(Prec::Arrow, format!("{a} {arrow} {b}"))
                }
                Con::Tangent => format!("Tangent[{}]", self.show_at(&args[0], Prec::Arrow)),
                Con::Data(id) => {
                    let name = &self.decl(*id).name;
                    if args.is_empty() {
                        name.to_string()
                    } else {
                        format!("{name}[{}]", self.show_list(args))
                    }
                }
            },
        }
    }

    fn show_list(&self, types: &[Ty]) -> String {
        types.iter().map(|t| self.show_at(t, Prec::Arrow)).collect::<Vec<_>>().join(", ")
    }

    fn show_var(&self, v: V) -> String {
        let data = self.var(v);
        match (&data.link, &data.name, data.lit) {
            (Link::Ty(t), ..) => self.show_at(&self.zonk(t), Prec::Atom),
            (Link::Open | Link::Size(_), Some(name), _) => name.to_string(),
            (Link::Open | Link::Size(_), None, Some(LitKind::Dec)) => "Float".into(),
            (Link::Open | Link::Size(_), None, Some(LitKind::Int)) => "number".into(),
            (Link::Open | Link::Size(_), None, None) => "_".into(),
        }
    }

    /// The size as the user would write it.
    pub(crate) fn show_poly(&self, p: &Poly) -> String {
        let p = self.normed(p);
        let mut terms: Vec<_> = p.0.iter().collect();
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(monomial.len()));
        let mut out = String::new();
        for (monomial, factor) in terms {
            let atoms: Vec<String> = monomial.iter().map(|a| self.show_atom(*a)).collect();
            let body = match (factor.unsigned_abs(), atoms.is_empty()) {
                (k, true) => k.to_string(),
                (1, false) => atoms.join("*"),
                (k, false) => format!("{k}*{}", atoms.join("*")),
            };
            let sign = match (*factor < 0, out.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            out += sign;
            out += &body;
        }
        if out.is_empty() { "0".into() } else { out }
    }

    fn show_atom(&self, atom: Atom) -> String {
        let name = self.show_var(atom.var());
        match (atom, self.var(atom.var()).kind) {
            (Atom::Size(_), _) | (_, VKind::Size) => name,
            (Atom::SizeOf(_), VKind::Type) => format!("size({name})"),
        }
    }
}

/// An index set, and where it comes from.
type Origin = (Ty, Option<Span>);

impl Arena {
    /// The first two index sets that differ between types of one form, each with where it was named or solved.
    pub(crate) fn differing_sets(&self, a: &Ty, b: &Ty) -> Option<[Origin; 2]> {
        let ((a, from_a), (b, from_b)) = (self.traced(a), self.traced(b));
        if let (Ty::Con(c, xs), Ty::Con(d, ys)) = (&a, &b)
            && c == d
            && xs.len() == ys.len()
            && *c != Con::Tuple
        {
            return xs.iter().zip(ys.iter()).find_map(|(x, y)| self.differing_sets(x, y));
        }
        let is_set = |t: &Ty| match t {
            Ty::Fin(_) => true,
            Ty::Var(v) => self.var(*v).ix,
            Ty::Con(..) | Ty::Exists(_) | Ty::Error => false,
        };
        let differ = is_set(&a) && is_set(&b) && !self.same(&a, &b);
        differ.then_some([(a, from_a), (b, from_b)])
    }

    /// The type behind links, and where the last of them was made.
    fn traced(&self, t: &Ty) -> Origin {
        let (mut t, mut origin) = (t.clone(), None);
        while let Ty::Var(v) = t {
            let data = self.var(v);
            origin = data.origin.or(origin);
            match &data.link {
                Link::Ty(next) => t = next.clone(),
                Link::Open | Link::Size(_) => break,
            }
        }
        if let Ty::Fin(p) = &t {
            origin = origin.or_else(|| p.atoms().find_map(|a| self.var(a.var()).origin));
        }
        (t, origin)
    }
}
