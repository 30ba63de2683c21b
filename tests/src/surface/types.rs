//! Types of random programs, and what is in scope.

use std::fmt;

use super::Gen;

/// An index set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ix {
    Fin(usize),
    Named(String),
    Bool,
    Color,
    Pair,
}

/// A type without variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum T {
    Float,
    Int,
    Bool,
    Str,
    Tuple(Vec<T>),
    Table(Ix, Box<T>),
    P,
    Pair(Box<T>, Box<T>),
    Opt(Box<T>),
    Shape,
    Color,
    List(Box<T>),
    Tree,
    Fun(Box<T>, Box<T>),
}

impl fmt::Display for Ix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ix::Fin(k) => write!(f, "Fin({k})"),
            Ix::Named(n) => write!(f, "{n}"),
            Ix::Bool => write!(f, "Bool"),
            Ix::Color => write!(f, "Color"),
            Ix::Pair => write!(f, "(Fin(2), Bool)"),
        }
    }
}

impl fmt::Display for T {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            T::Float => write!(f, "Float"),
            T::Int => write!(f, "Int"),
            T::Bool => write!(f, "Bool"),
            T::Str => write!(f, "String"),
            T::Tuple(ts) => {
                let parts: Vec<String> = ts.iter().map(T::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
            T::Table(ix, t) => write!(f, "{ix}=>{}", t.inner()),
            T::P => write!(f, "P"),
            T::Pair(a, b) => write!(f, "Pair[{a}, {b}]"),
            T::Opt(a) => write!(f, "Opt[{a}]"),
            T::Shape => write!(f, "Shape"),
            T::Color => write!(f, "Color"),
            T::List(a) => write!(f, "List[{a}]"),
            T::Tree => write!(f, "Tree"),
            T::Fun(a, b) => write!(f, "{} -> {b}", a.inner()),
        }
    }
}

impl T {
    /// In brackets where it is a function.
    fn inner(&self) -> String {
        if let T::Fun(..) = self { format!("({self})") } else { self.to_string() }
    }

    /// The type with its named index sets at this size.
    pub(super) fn at_size(self, n: usize) -> T {
        let T::Table(ix, elem) = self else { return self };
        let ix = if let Ix::Named(_) = ix { Ix::Fin(n) } else { ix };
        T::Table(ix, Box::new(elem.at_size(n)))
    }

    /// Has it `==`, and a text that reads back?
    pub(super) fn is_data(&self) -> bool {
        match self {
            T::Fun(..) => false,
            T::Float | T::Int | T::Bool | T::Str | T::P | T::Shape | T::Color | T::Tree => true,
            T::Tuple(ts) => ts.iter().all(T::is_data),
            T::Table(_, t) | T::Opt(t) | T::List(t) => t.is_data(),
            T::Pair(a, b) => a.is_data() && b.is_data(),
        }
    }

    /// Does it hold recursive data?
    pub(super) fn has_cells(&self) -> bool {
        match self {
            T::List(_) | T::Tree => true,
            T::Float | T::Int | T::Bool | T::Str | T::P | T::Shape | T::Color => false,
            T::Tuple(ts) => ts.iter().any(T::has_cells),
            T::Table(_, t) | T::Opt(t) => t.has_cells(),
            T::Pair(a, b) | T::Fun(a, b) => a.has_cells() || b.has_cells(),
        }
    }
}

/// Variables in scope, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) vars: Vec<(String, T)>,
    /// Indices, by their set.
    pub(super) indices: Vec<(String, Ix)>,
    /// Index sets with a name.
    pub(super) sets: Vec<String>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: &str, t: T) {
        self.vars.push((name.to_string(), t));
    }

    pub(super) fn with(&self, name: &str, t: &T) -> Scope {
        let mut scope = self.clone();
        scope.bind(name, t.clone());
        scope
    }
}

impl Gen<'_> {
    pub(super) fn ix(&mut self) -> Ix {
        match self.pick(8) {
            0..3 => Ix::Fin(2 + self.pick(2)),
            3 => Ix::Fin(self.pick(2)),
            4 => Ix::Bool,
            5 => Ix::Color,
            6 => Ix::Pair,
            _ => Ix::Fin(3),
        }
    }

    /// A type of at most this depth.
    pub(super) fn any_type(&mut self, depth: usize) -> T {
        if depth > 0 && self.pick(6) == 0 {
            let a = self.simple();
            return T::Fun(Box::new(a), Box::new(self.printable(depth - 1)));
        }
        self.printable(depth)
    }

    fn simple(&mut self) -> T {
        match self.pick(4) {
            0 | 1 => T::Float,
            2 => T::Int,
            _ => T::Bool,
        }
    }

    /// A type of data.
    pub(super) fn printable(&mut self, depth: usize) -> T {
        if depth == 0 {
            return self.simple();
        }
        let inner = |g: &mut Self| Box::new(g.printable(depth - 1));
        let t = match self.pick(16) {
            0..3 => T::Float,
            3 => T::Int,
            4 => T::Bool,
            5 => T::Str,
            6 => T::Tuple(vec![*inner(self), *inner(self)]),
            7 | 8 => T::Table(self.ix(), inner(self)),
            9 => T::P,
            10 => T::Pair(inner(self), inner(self)),
            11 => T::Opt(inner(self)),
            12 => T::Shape,
            13 => T::Color,
            14 => T::List(inner(self)),
            _ => T::Tree,
        };
        if self.in_derivative && t.has_cells() { T::Float } else { t }
    }
}

/// The kinds of expressions that are counted.
pub const KINDS: &[&str] = &[
    "variable",
    "literal",
    "if",
    "let",
    "tuple pattern",
    "case",
    "guard",
    "nested pattern",
    "call",
    "lambda",
    "projection",
    "field",
    "index",
    "loop",
    "while",
    "fold",
    "local recursion",
    "recursive function",
    "closure",
    "function in data",
    "for",
    "table literal",
    "update",
    "accum",
    "when",
    "record",
    "with",
    "constructor",
    "recursive data",
    "recursive call",
    "continuation",
    "comparison",
    "equality",
    "arithmetic",
    "lifting",
    "reduction",
    "pack",
    "text",
    "grad",
    "jvp",
    "higher-order call",
    "size",
];

/// How often each kind of expression occurs.
#[derive(Clone, Debug)]
pub struct Kinds(pub Vec<usize>);

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds(vec![0; KINDS.len()])
    }
}

impl Kinds {
    pub(super) fn note(&mut self, kind: &str) {
        let k = KINDS.iter().position(|k| *k == kind).expect("a kind that is listed");
        self.0[k] += 1;
    }

    /// How many expressions use recursion in some form.
    pub(super) fn recursive(&self) -> usize {
        let kinds =
            ["recursive function", "local recursion", "recursive data", "recursive call", "function in data"];
        KINDS.iter().zip(&self.0).filter(|(k, _)| kinds.contains(k)).map(|(_, n)| n).sum()
    }

    /// Adds the counts of another program.
    pub fn add(&mut self, other: &Kinds) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// Kinds that never occurred.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        KINDS.iter().zip(&self.0).filter(|(_, n)| **n == 0).map(|(k, _)| *k).collect()
    }
}

impl std::fmt::Display for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts: Vec<String> = KINDS.iter().zip(&self.0).map(|(k, n)| format!("{k} {n}")).collect();
        f.write_str(&counts.join(", "))
    }
}
