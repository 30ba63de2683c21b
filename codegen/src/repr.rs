//! How values of first-order Core lie in registers and memory.
//!
//! A value is a list of *parts*. A scalar is one register. A table of scalars is a pointer to its first
//! element and the *owner*, the counted buffer that keeps it alive. A sum is its tag, then the parts of
//! all its alternatives side by side; those of the others are zero. A bundle is its sizes, then its items.
//! A table of sums or bundles is one buffer a part. What has sizes of its own (an item of a bundle in a
//! table, anything in a cell) is stored as a pointer to a buffer, which is then counted.

use adl_core::ir::{Atom, Lit};
use adl_core::ty::{Ix, Scalar, Ty};

/// The type of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// 64-bit float.
    F64,
    /// 32-bit float.
    F32,
    /// Integer, index, tag, key, text handle, pointer.
    I64,
    /// Truth value.
    I8,
}

impl Kind {
    /// Bytes in memory.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Kind::F64 | Kind::I64 => 8,
            Kind::F32 => 4,
            Kind::I8 => 1,
        }
    }

    /// The register of a scalar.
    #[must_use]
    pub fn of(scalar: Scalar) -> Kind {
        match scalar {
            Scalar::F64 => Kind::F64,
            Scalar::F32 => Kind::F32,
            Scalar::Int | Scalar::Str | Scalar::Key => Kind::I64,
            Scalar::Bool => Kind::I8,
        }
    }
}

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// Scalars.
    Kind(Kind),
    /// Pointers to counted buffers; null where there is none.
    Ref,
}

impl Elem {
    /// Bytes of an element.
    #[must_use]
    pub fn bytes(self) -> u32 {
        match self {
            Elem::Kind(kind) => kind.bytes(),
            Elem::Ref => 8,
        }
    }

    /// The register an element is loaded into.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Elem::Kind(kind) => kind,
            Elem::Ref => Kind::I64,
        }
    }
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// One register.
    Scalar(Kind),
    /// Two registers, owner and first element. `maybe`: both are null where another alternative is there.
    Table {
        /// What the buffer holds.
        elem: Elem,
        /// Sizes from the outside in; none for the cell of an accumulator.
        dims: Vec<Atom>,
        /// May it be absent?
        maybe: bool,
    },
    /// One register, a pointer to a counted cell.
    Cell,
}

impl Part {
    /// The registers it takes.
    #[must_use]
    pub(crate) fn kinds(&self) -> &'static [Kind] {
        match self {
            Part::Scalar(Kind::F64) => &[Kind::F64],
            Part::Scalar(Kind::F32) => &[Kind::F32],
            Part::Scalar(Kind::I8) => &[Kind::I8],
            Part::Scalar(Kind::I64) | Part::Cell => &[Kind::I64],
            Part::Table { .. } => &[Kind::I64, Kind::I64],
        }
    }

    /// Does it hold a counted pointer?
    #[must_use]
    pub(crate) fn is_counted(&self) -> bool {
        match self {
            Part::Scalar(_) => false,
            Part::Table { .. } | Part::Cell => true,
        }
    }
}

/// The parts of a value of this type.
///
/// # Panics
///
/// On types of higher-order Core, which is a mistake of the compiler.
#[must_use]
pub(crate) fn parts(ty: &Ty) -> Vec<Part> {
    match ty {
        Ty::Scalar(scalar) => vec![Part::Scalar(Kind::of(*scalar))],
        Ty::Table(..) => table(ty),
        Ty::Sum(alts) => {
            let payload = alts.iter().flatten().flat_map(parts).map(absent);
            std::iter::once(Part::Scalar(Kind::I64)).chain(payload).collect()
        }
        Ty::Pack(pack) => {
            let sizes = pack.sizes.iter().map(|_| Part::Scalar(Kind::I64));
            sizes.chain(pack.items.iter().flat_map(parts)).collect()
        }
        Ty::Box(_) => vec![Part::Cell],
        Ty::Acc(ty) => accumulator(ty),
        Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => {
            panic!("lint: {ty:?} is not a type of first-order Core (C6)")
        }
    }
}

/// Does a value of this type hold counted pointers? Accumulators do not count.
#[must_use]
pub(crate) fn is_counted(ty: &Ty) -> bool {
    match ty {
        Ty::Acc(_) | Ty::Scalar(_) => false,
        Ty::Table(..) | Ty::Box(_) => true,
        Ty::Sum(alts) => alts.iter().flatten().any(is_counted),
        Ty::Pack(pack) => pack.items.iter().any(is_counted),
        Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => {
            panic!("lint: {ty:?} is not a type of first-order Core (C6)")
        }
    }
}

/// The parts of alternative `tag` of a sum: where they begin among its parts, and they.
#[must_use]
pub(crate) fn alternative(alts: &[Vec<Ty>], tag: u32) -> (usize, Vec<Part>) {
    let count = |alt: &Vec<Ty>| alt.iter().map(|ty| parts(ty).len()).sum::<usize>();
    let start = 1 + alts.iter().take(tag as usize).map(count).sum::<usize>();
    let own = alts[tag as usize].iter().flat_map(parts).map(absent).collect();
    (start, own)
}

/// The number of registers of these parts.
#[must_use]
pub(crate) fn width(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.kinds().len()).sum()
}

/// Outer sizes, and the element that is not a table.
#[must_use]
pub(crate) fn dims(ty: &Ty) -> (Vec<Atom>, &Ty) {
    let (mut sizes, mut ty) = (vec![], ty);
    while let Ty::Table(ix, elem) = ty {
        let Ix::Fin(size) = ix else { panic!("lint: index sets are sizes in first-order Core (C6)") };
        sizes.push(size.clone());
        ty = elem;
    }
    (sizes, ty)
}

/// A size that is the same in every program.
#[must_use]
pub(crate) fn constant(atom: &Atom) -> Option<i64> {
    if let Atom::Lit(Lit::Int(k)) = atom { Some(*k) } else { None }
}

fn table(ty: &Ty) -> Vec<Part> {
    let (outer, leaf) = dims(ty);
    stored(leaf, false)
        .into_iter()
        .map(|(elem, inner, maybe)| Part::Table {
            elem,
            dims: outer.iter().cloned().chain(inner).collect(),
            maybe,
        })
        .collect()
}

/// How an element of a table is stored: for each part a buffer, perhaps with sizes of its own.
fn stored(leaf: &Ty, maybe: bool) -> Vec<(Elem, Vec<Atom>, bool)> {
    match leaf {
        Ty::Sum(alts) => {
            let payload = alts.iter().flatten().flat_map(|ty| stored(ty, true));
            std::iter::once((Elem::Kind(Kind::I64), vec![], maybe)).chain(payload).collect()
        }
        Ty::Pack(pack) => {
            let sizes = pack.sizes.iter().map(|_| (Elem::Kind(Kind::I64), vec![], maybe));
            let items = pack.items.iter().flat_map(parts).map(|part| match part {
                Part::Scalar(kind) => (Elem::Kind(kind), vec![], maybe),
                Part::Table { .. } | Part::Cell => (Elem::Ref, vec![], maybe),
            });
            sizes.chain(items).collect()
        }
        Ty::Scalar(_)
        | Ty::Table(..)
        | Ty::Box(_)
        | Ty::Acc(_)
        | Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => parts(leaf)
            .into_iter()
            .map(|part| match part {
                Part::Scalar(kind) => (Elem::Kind(kind), vec![], maybe),
                Part::Table { elem, dims, .. } => (elem, dims, maybe),
                Part::Cell => (Elem::Ref, vec![], maybe),
            })
            .collect(),
    }
}

fn absent(part: Part) -> Part {
    match part {
        Part::Table { elem, dims, .. } => Part::Table { elem, dims, maybe: true },
        part @ (Part::Scalar(_) | Part::Cell) => part,
    }
}

/// The parts of an accumulator, all of them tables. A scalar is one without sizes; so is an item of a bundle,
/// whose buffer is made by the first addition, when its sizes are known.
fn accumulator(ty: &Ty) -> Vec<Part> {
    let cell = |elem: Elem| Part::Table { elem, dims: vec![], maybe: false };
    match ty {
        Ty::Table(..) => parts(ty),
        Ty::Sum(alts) => {
            let payload = alts.iter().flatten().flat_map(accumulator).map(absent);
            std::iter::once(cell(Elem::Kind(Kind::I64))).chain(payload).collect()
        }
        Ty::Pack(pack) => {
            let sizes = pack.sizes.iter().map(|_| cell(Elem::Kind(Kind::I64)));
            let item = |part| match part {
                Part::Scalar(kind) => cell(Elem::Kind(kind)),
                Part::Table { .. } | Part::Cell => cell(Elem::Ref),
            };
            sizes.chain(pack.items.iter().flat_map(parts).map(item)).collect()
        }
        Ty::Scalar(_)
        | Ty::Box(_)
        | Ty::Acc(_)
        | Ty::Tuple(_)
        | Ty::Named(..)
        | Ty::Index(_)
        | Ty::Fn(..)
        | Ty::Lin(..)
        | Ty::Tangent(_)
        | Ty::Var(_) => parts(ty)
            .into_iter()
            .map(|part| match part {
                Part::Scalar(kind) => cell(Elem::Kind(kind)),
                part @ Part::Table { .. } => part,
                Part::Cell => cell(Elem::Ref),
            })
            .collect(),
    }
}
