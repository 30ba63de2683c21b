//! Types of Core: scalars, tables with their index sets, sums, and what only higher-order Core has.
//!
//! First-order Core (what `specialise` gives) has scalars, [`Ty::Table`] over [`Ix::Fin`] of an atom,
//! [`Ty::Sum`], [`Ty::Pack`], [`Ty::Box`] and [`Ty::Acc`]. Everything else occurs before it only.

use std::sync::Arc;

use crate::ir::{Atom, Var};

/// A scalar: the leaves of every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// 64-bit IEEE float, `Float` in the language.
    F64,
    /// 32-bit IEEE float.
    F32,
    /// 64-bit signed integer; also every index, as its ordinal, in first-order Core.
    Int,
    /// Truth value.
    Bool,
    /// Immutable text.
    Str,
    /// Key of the counter-based random generator.
    Key,
}

impl Scalar {
    /// Does a value of this type have a tangent?
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F64 | Scalar::F32)
    }

    /// Can values of this type be added up?
    pub fn is_number(self) -> bool {
        self.is_float() || self == Scalar::Int
    }
}

/// What a type parameter of a higher-order function stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A type.
    Type,
    /// An index set.
    Ix,
    /// A size: an Int written `n` in `Fin(n)`.
    Size,
}

/// A type parameter of a polymorphic function or lambda. Equal when it is the same object.
#[derive(Clone, Debug)]
pub struct TyVar(pub Arc<TyVarData>);

/// What a [`TyVar`] carries.
#[derive(Debug)]
pub struct TyVarData {
    /// Its name in the source.
    pub name: String,
    /// What it stands for.
    pub kind: Kind,
}

impl TyVar {
    /// A new parameter, different from all others.
    pub fn new(name: &str, kind: Kind) -> TyVar {
        TyVar(Arc::new(TyVarData { name: name.to_string(), kind }))
    }
}

impl PartialEq for TyVar {
    fn eq(&self, other: &TyVar) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for TyVar {}
impl std::hash::Hash for TyVar {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (Arc::as_ptr(&self.0) as usize).hash(state);
    }
}

/// A declared struct or enum, an index into `Program::types`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A sum of products of sizes with integer coefficients. Only in higher-order Core.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Poly(pub Vec<Mono>);

/// `coef * atoms[0] * atoms[1] * …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mono {
    /// The integer factor.
    pub coef: i64,
    /// The factors that are sizes.
    pub atoms: Vec<SizeAtom>,
}

/// One unknown of a size polynomial.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SizeAtom {
    /// An Int variable in scope.
    Var(Var),
    /// A size parameter (`Kind::Size`), or the size of an index-set parameter (`Kind::Ix`).
    Param(TyVar),
}

/// An index set.
#[derive(Clone, Debug, PartialEq)]
pub enum Ix {
    /// `0 .. size - 1`; the only kind in first-order Core.
    Fin(Atom),
    /// `Fin` of a polynomial (higher-order Core only).
    Poly(Poly),
    /// `()`, of size 1.
    Unit,
    /// `false, true`.
    Bool,
    /// A payload-free enum.
    Enum(TypeId),
    /// Tuples of indices, row-major.
    Tuple(Vec<Ix>),
    /// A parameter of kind [`Kind::Ix`].
    Var(TyVar),
}

/// What stands for a type parameter at a use.
#[derive(Clone, Debug, PartialEq)]
pub enum TyArg {
    /// For [`Kind::Type`].
    Ty(Ty),
    /// For [`Kind::Ix`].
    Ix(Ix),
    /// For [`Kind::Size`].
    Size(Poly),
}

/// An existential bundle: sizes that are part of the value, and items whose types mention them.
#[derive(Clone, Debug)]
pub struct PackTy {
    /// Binders (type Int) of the sizes; they stand for whatever the value holds.
    pub sizes: Vec<Var>,
    /// The items; their types may mention `sizes`.
    pub items: Vec<Ty>,
}

/// A kind of heap cells. The type tells what passes ask most, so that they need no program for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoxTy {
    /// What `Program::boxes` has at this number is in the cells of order 0.
    pub id: u32,
    /// A cell of the next order holds the tangents of what a cell of this one holds.
    pub order: u8,
    /// Do the cells have a tangent?
    pub has_floats: bool,
}

impl BoxTy {
    /// A kind of cells of order 0 whose contents may have tangents.
    pub fn new(id: u32) -> BoxTy {
        BoxTy { id, order: 0, has_floats: true }
    }

    /// What a cell holds, given what the cells of order 0 hold.
    ///
    /// # Panics
    ///
    /// If there is no box of that number, which lint reports.
    pub fn content(self, boxes: &[Vec<Ty>]) -> Vec<Ty> {
        let mut tys = boxes[self.id as usize].clone();
        for _ in 0..self.order {
            tys = tys.iter().filter_map(Ty::tangent).collect();
        }
        tys
    }
}

/// A type of Core.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// A scalar.
    Scalar(Scalar),
    /// A table: for each index of the set one element. Dense and row-major when nested.
    Table(Ix, Box<Ty>),
    /// A sum: for each alternative the types of its payload (first-order form of enums and of sets of
    /// closures). A payload-free sum does not occur: it is an Int.
    Sum(Vec<Vec<Ty>>),
    /// An existential bundle (`exists n. …`), compared by what it binds.
    Pack(Arc<PackTy>),
    /// A heap cell of a recursive type.
    Box(BoxTy),
    /// A write-only accumulator of values of this (float, table or sum) type. Second class.
    Acc(Box<Ty>),
    /// A tuple; `()` is the empty one. Higher-order only.
    Tuple(Vec<Ty>),
    /// A declared struct or enum. Higher-order only.
    Named(TypeId, Vec<TyArg>),
    /// An index of this set. Higher-order only; Int afterwards.
    Index(Ix),
    /// A function. Higher-order only.
    Fn(Box<Ty>, Box<Ty>),
    /// A linear map. Higher-order only.
    Lin(Box<Ty>, Box<Ty>),
    /// The tangent type of a type parameter (or of a type that mentions one). Higher-order only.
    Tangent(Box<Ty>),
    /// A type parameter. Higher-order only.
    Var(TyVar),
}

impl PackTy {
    /// The pack of the tangents of the items with floats, with the same sizes.
    pub fn tangent(&self) -> Arc<PackTy> {
        let items = self.items.iter().filter_map(Ty::tangent).collect();
        Arc::new(PackTy { sizes: self.sizes.clone(), items })
    }
}

impl PartialEq for PackTy {
    fn eq(&self, other: &PackTy) -> bool {
        self.sizes.len() == other.sizes.len() && self.items.len() == other.items.len() && {
            let map: crate::walk::Subst =
                other.sizes.iter().cloned().zip(self.sizes.iter().cloned().map(Atom::Var)).collect();
            self.items.iter().zip(&other.items).all(|(a, b)| *a == crate::walk::subst_ty(b, &map))
        }
    }
}

/// In types of higher-order Core: the first size that a pack binds. The value of the pack has it. (Sizes computed
/// from it are as far below zero.)
pub const UNKNOWN_SIZE: i64 = -(1 << 60);

/// The same for the size of this number.
pub fn unknown_size(k: usize) -> i64 {
    UNKNOWN_SIZE - i64::try_from(k).unwrap_or(0) * (1 << 40)
}

/// The type of 64-bit floats.
pub const F64: Ty = Ty::Scalar(Scalar::F64);
/// The type of 32-bit floats.
pub const F32: Ty = Ty::Scalar(Scalar::F32);
/// The type of integers.
pub const INT: Ty = Ty::Scalar(Scalar::Int);
/// The type of truth values.
pub const BOOL: Ty = Ty::Scalar(Scalar::Bool);
/// The type of texts.
pub const STR: Ty = Ty::Scalar(Scalar::Str);
/// The type of random keys.
pub const KEY: Ty = Ty::Scalar(Scalar::Key);

impl Ty {
    /// `[size] elem`.
    pub fn table(size: Atom, elem: Ty) -> Ty {
        Ty::Table(Ix::Fin(size), Box::new(elem))
    }

    /// The scalar, where it is one.
    pub fn scalar(&self) -> Option<Scalar> {
        if let Ty::Scalar(s) = self { Some(*s) } else { None }
    }

    /// The size and element type of a first-order table.
    pub fn as_table(&self) -> Option<(&Atom, &Ty)> {
        if let Ty::Table(Ix::Fin(size), elem) = self { Some((size, elem)) } else { None }
    }

    /// Sizes of all nested tables from the outside in, and the element that is not a table.
    pub fn dims(&self) -> (Vec<&Atom>, &Ty) {
        let (mut dims, mut ty) = (vec![], self);
        while let Some((size, elem)) = ty.as_table() {
            dims.push(size);
            ty = elem;
        }
        (dims, ty)
    }

    /// Is it a table (first-order)?
    pub fn is_table(&self) -> bool {
        matches!(self, Ty::Table(..))
    }

    /// Does a value of this type hold floats, so that it has a tangent? First-order types only.
    pub fn is_active(&self) -> bool {
        match self {
            Ty::Scalar(s) => s.is_float(),
            Ty::Table(_, elem) => elem.is_active(),
            Ty::Sum(alts) => alts.iter().flatten().any(Ty::is_active),
            Ty::Pack(p) => p.items.iter().any(Ty::is_active),
            Ty::Acc(t) => t.is_active(),
            Ty::Box(cell) => cell.has_floats,
            Ty::Tuple(ts) => ts.iter().any(Ty::is_active),
            Ty::Named(..) | Ty::Fn(..) | Ty::Lin(..) | Ty::Tangent(_) | Ty::Var(_) => true,
            Ty::Index(_) => false,
        }
    }

    /// The type of tangents and cotangents of this one; `None` where there are none. First-order types only.
    ///
    /// A sum with floats in it becomes `zero | T payload …`, with the alternatives of the primal shifted by
    /// one. Payload components without floats are left out. A pack becomes `zero | pack of tangents`: only a
    /// value knows its sizes, so its zero cannot be made from the type. So does a cell, since a zero of its own
    /// shape would have no end.
    pub fn tangent(&self) -> Option<Ty> {
        if !self.is_active() {
            return None;
        }
        Some(match self {
            Ty::Scalar(_) => self.clone(),
            Ty::Table(ix, elem) => Ty::Table(ix.clone(), Box::new(elem.tangent()?)),
            Ty::Sum(alts) => {
                let payloads = alts.iter().map(|alt| alt.iter().filter_map(Ty::tangent).collect());
                Ty::Sum(std::iter::once(vec![]).chain(payloads).collect())
            }
            Ty::Pack(p) => Ty::Sum(vec![vec![], vec![Ty::Pack(p.tangent())]]),
            Ty::Box(cell) => {
                let of_tangents = BoxTy { order: cell.order + 1, ..*cell };
                Ty::Sum(vec![vec![], vec![Ty::Box(of_tangents)]])
            }
            Ty::Acc(t) => Ty::Acc(Box::new(t.tangent()?)),
            Ty::Tuple(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => unreachable!("higher-order types do not reach derivatives: {self:?}"),
        })
    }

    /// Does it contain a table (outside boxes)? Such types are in *accumulator mode* in reverse mode.
    pub fn has_table(&self) -> bool {
        match self {
            Ty::Table(..) => true,
            Ty::Sum(alts) => alts.iter().flatten().any(Ty::has_table),
            Ty::Pack(p) => p.items.iter().any(Ty::has_table),
            Ty::Tuple(ts) => ts.iter().any(Ty::has_table),
            Ty::Acc(t) => t.has_table(),
            Ty::Scalar(_)
            | Ty::Box(_)
            | Ty::Named(..)
            | Ty::Index(_)
            | Ty::Fn(..)
            | Ty::Lin(..)
            | Ty::Tangent(_)
            | Ty::Var(_) => false,
        }
    }
}

/// The type of what is of one or the other type: where constant sizes differ, the size is unknown.
fn meet(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Table(Ix::Fin(n), x), Ty::Table(Ix::Fin(m), y)) => {
            let size = match (n.as_int(), m.as_int()) {
                (Some(n), Some(m)) if n != m => Atom::Var(Var::new(INT)),
                (Some(_), None) => m.clone(),
                (Some(_), Some(_)) | (None, _) => n.clone(),
            };
            Some(Ty::table(size, meet(x, y)?))
        }
        (Ty::Sum(xs), Ty::Sum(ys)) if xs.len() == ys.len() => {
            let alts: Option<Vec<Vec<Ty>>> = xs.iter().zip(ys).map(|(x, y)| meet_all(x, y)).collect();
            alts.map(Ty::Sum)
        }
        (a, b) => fits(a, b).then(|| a.clone()),
    }
}

/// The same for lists of types.
pub fn meet_all(xs: &[Ty], ys: &[Ty]) -> Option<Vec<Ty>> {
    if xs.len() == ys.len() { xs.iter().zip(ys).map(|(x, y)| meet(x, y)).collect() } else { None }
}

/// Are the types alike, sizes apart (unless both are constants)?
pub fn fits(a: &Ty, b: &Ty) -> bool {
    let all = |xs: &[Ty], ys: &[Ty]| xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| fits(x, y));
    match (a, b) {
        (Ty::Table(Ix::Fin(n), x), Ty::Table(Ix::Fin(m), y)) => {
            (n.as_int().is_none() || m.as_int().is_none() || n == m) && fits(x, y)
        }
        (Ty::Sum(xs), Ty::Sum(ys)) => xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| all(x, y)),
        (Ty::Pack(p), Ty::Pack(q)) => p.sizes.len() == q.sizes.len() && all(&p.items, &q.items),
        (Ty::Acc(x), Ty::Acc(y)) => fits(x, y),
        (a, b) => a == b,
    }
}
