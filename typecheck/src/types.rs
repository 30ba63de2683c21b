//! Types of the checker: variables in an arena, constructors, size polynomials.

use std::{collections::BTreeMap, sync::Arc};

use adl_diag::Span;

/// A variable: of a type, an index set or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct V(pub(crate) u32);

/// A declared struct or enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DataId(pub(crate) u32);

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    /// A variable, perhaps solved.
    Var(V),
    /// A constructor with its arguments.
    Con(Con, Arc<[Ty]>),
    /// `Fin(p)`.
    Fin(Poly),
    /// `exists n. t`.
    Exists(Arc<Exists>),
    /// The type of what is wrong and already reported: it fits everywhere.
    Error,
}

/// `exists vars. body`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exists {
    pub(crate) vars: Vec<V>,
    pub(crate) body: Ty,
}

/// The constructors of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Con {
    Float,
    F32,
    Int,
    Bool,
    Str,
    Key,
    /// Any number but one; `()` is the empty one.
    Tuple,
    /// Index set, element.
    Table,
    /// `a -> b`.
    Fun,
    /// `a -o b`.
    Lin,
    /// `Tangent[a]`, kept only where it is neutral or opaque.
    Tangent,
    Data(DataId),
}

/// The built-in classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    Add,
    Num,
    Vector,
    Floating,
    Real,
    Ord,
    Eq,
    Ix,
    Show,
}

impl Class {
    pub(crate) const ALL: [Class; 9] = [
        Class::Add,
        Class::Num,
        Class::Vector,
        Class::Floating,
        Class::Real,
        Class::Ord,
        Class::Eq,
        Class::Ix,
        Class::Show,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Add => "Add",
            Class::Num => "Num",
            Class::Vector => "Vector",
            Class::Floating => "Floating",
            Class::Real => "Real",
            Class::Ord => "Ord",
            Class::Eq => "Eq",
            Class::Ix => "Ix",
            Class::Show => "Show",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The classes it implies, itself left out.
    pub(crate) fn supers(self) -> &'static [Class] {
        match self {
            Class::Num | Class::Vector => &[Class::Add],
            Class::Floating => &[Class::Num, Class::Vector, Class::Add],
            Class::Real => {
                &[Class::Floating, Class::Num, Class::Vector, Class::Add, Class::Ord, Class::Eq, Class::Show]
            }
            Class::Ord => &[Class::Eq],
            Class::Add | Class::Eq | Class::Ix | Class::Show => &[],
        }
    }
}

/// Why a class is needed, for messages: `for `+`` and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Why {
    pub(crate) span: Span,
    pub(crate) text: Arc<str>,
}

/// The literal that a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LitKind {
    Int,
    Dec,
}

/// What a variable ranges over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VKind {
    /// Types, index sets among them.
    Type,
    /// Sizes.
    Size,
}

/// What a variable was solved to.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    Open,
    Ty(Ty),
    Size(Poly),
}

/// What is known of a variable.
#[derive(Clone, Debug)]
pub(crate) struct VarData {
    pub(crate) level: i32,
    /// Its name in the source, for messages.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) kind: VKind,
    /// Known to be an index set.
    pub(crate) ix: bool,
    pub(crate) lit: Option<LitKind>,
    /// Stands for itself only.
    pub(crate) rigid: bool,
    /// The classes of a `where`; `None` when they are inferred.
    pub(crate) given: Option<Vec<Class>>,
    pub(crate) classes: Vec<(Class, Why)>,
    pub(crate) link: Link,
    /// Where it was named, if it stands for itself; else where it was solved.
    pub(crate) origin: Option<Span>,
    /// Constraints to wake when it is solved.
    pub(crate) watch: Vec<usize>,
}

/// An unknown of a size polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A size variable.
    Size(V),
    /// The size of an index-set variable.
    SizeOf(V),
}

impl Atom {
    pub(crate) fn var(self) -> V {
        match self {
            Atom::Size(v) | Atom::SizeOf(v) => v,
        }
    }
}

/// A polynomial over sizes with integer coefficients: sorted monomials, none with factor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Poly(pub(crate) BTreeMap<Vec<Atom>, i64>);

impl Poly {
    pub(crate) fn constant(k: i64) -> Poly {
        let mut p = Poly::default();
        p.add_term(vec![], k);
        p
    }

    pub(crate) fn atom(atom: Atom) -> Poly {
        let mut p = Poly::default();
        p.add_term(vec![atom], 1);
        p
    }

    pub(crate) fn add_term(&mut self, monomial: Vec<Atom>, factor: i64) {
        let slot = self.0.entry(monomial.clone()).or_insert(0);
        *slot = slot.wrapping_add(factor);
        if *slot == 0 {
            self.0.remove(&monomial);
        }
    }

    pub(crate) fn scale_add(&self, other: &Poly, factor: i64) -> Poly {
        let mut sum = self.clone();
        for (monomial, k) in &other.0 {
            sum.add_term(monomial.clone(), k.wrapping_mul(factor));
        }
        sum
    }

    pub(crate) fn add(&self, other: &Poly) -> Poly {
        self.scale_add(other, 1)
    }

    pub(crate) fn sub(&self, other: &Poly) -> Poly {
        self.scale_add(other, -1)
    }

    pub(crate) fn mul(&self, other: &Poly) -> Poly {
        let mut product = Poly::default();
        for (m, a) in &self.0 {
            for (n, b) in &other.0 {
                let mut atoms = [m.as_slice(), n.as_slice()].concat();
                atoms.sort_unstable();
                product.add_term(atoms, a.wrapping_mul(*b));
            }
        }
        product
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, where it is a constant.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get([].as_slice()).copied(),
            _ => None,
        }
    }

    pub(crate) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.keys().flatten().copied()
    }
}

/// The limit on the size of size polynomials.
pub(crate) const MAX_MONOMIALS: usize = 64;

pub(crate) fn con(con: Con) -> Ty {
    Ty::Con(con, Arc::from([]))
}
pub(crate) fn float() -> Ty {
    con(Con::Float)
}
pub(crate) fn int() -> Ty {
    con(Con::Int)
}
pub(crate) fn boolean() -> Ty {
    con(Con::Bool)
}
pub(crate) fn string() -> Ty {
    con(Con::Str)
}
pub(crate) fn unit() -> Ty {
    con(Con::Tuple)
}
/// A tuple; one type alone is itself.
pub(crate) fn tuple(mut types: Vec<Ty>) -> Ty {
    if types.len() == 1
        && let Some(ty) = types.pop()
    {
        return ty;
    }
    Ty::Con(Con::Tuple, types.into())
}
pub(crate) fn table(ix: Ty, elem: Ty) -> Ty {
    Ty::Con(Con::Table, Arc::from([ix, elem]))
}
pub(crate) fn fun(a: Ty, b: Ty) -> Ty {
    Ty::Con(Con::Fun, Arc::from([a, b]))
}
pub(crate) fn lin(a: Ty, b: Ty) -> Ty {
    Ty::Con(Con::Lin, Arc::from([a, b]))
}
pub(crate) fn tangent_of(a: Ty) -> Ty {
    Ty::Con(Con::Tangent, Arc::from([a]))
}
