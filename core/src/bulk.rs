//! Bulk primitives: functions of whole tables, which the runtime computes at once. One row says all there is to say.
//!
//! A row takes Ints first, then tables of one float type. Only what adl itself cannot say well is a row; the
//! functions that users call are written in adl over them, most with a rule for their derivative.

mod linalg;

pub use linalg::*;

use crate::build::Builder;
use crate::ir::Atom;
use crate::ty::{INT, Ix, Scalar, Ty};

/// A row of the table; equal to itself only.
#[derive(Clone, Copy)]
pub struct Bulk(pub &'static BulkDef);

impl PartialEq for Bulk {
    fn eq(&self, other: &Bulk) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Bulk {}
impl std::hash::Hash for Bulk {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
impl std::fmt::Debug for Bulk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Ints and tables to results, or why there are none.
pub type Kernel = fn(&[i64], &[Operand]) -> Result<Vec<Made>, &'static str>;
/// Tangents of the tables to that of the result.
pub type Jvp = fn(&mut Builder, &Place, &[Option<Atom>]) -> Atom;
/// The cotangent of the result to those of the tables that are asked for.
pub type Vjp = fn(&mut Builder, &Place, &Atom, &[bool]) -> Vec<Option<Atom>>;

/// One bulk primitive.
pub struct BulkDef {
    /// Its name in Core text; unique.
    pub name: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// How many Ints it takes.
    pub ints: usize,
    /// The tables it takes.
    pub tables: &'static [Rank],
    /// The tables it gives.
    pub results: &'static [Given],
    /// The number of operations for these sizes of the tables.
    pub cost: fn(&[&[usize]]) -> u64,
    /// What it computes, on row-major elements. F32 is computed as F64 and rounded.
    pub kernel: Kernel,
    /// Its derivative.
    pub diff: BulkDiff,
}

/// What a table operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// A matrix.
    Matrix,
    /// A table of any number of dimensions, at least one.
    Rows,
}

/// A table that a row gives.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Of Ints, else of the float type of the operands.
    pub ints: bool,
    /// Its dimensions.
    pub dims: Dims,
}

/// Dimensions of a result.
#[derive(Clone, Copy, Debug)]
pub enum Dims {
    /// Those of a table operand.
    As(usize),
    /// Each that of a table operand: which operand, and its axis.
    Each(&'static [(usize, usize)]),
}

/// A table operand at run time.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Its sizes.
    pub dims: Vec<usize>,
    /// Its elements, row-major.
    pub data: Vec<f64>,
}

/// A result at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// Floats, row-major.
    Floats(Vec<f64>),
    /// Ints, row-major.
    Ints(Vec<i64>),
}

/// How a row is differentiated.
#[derive(Clone, Copy)]
pub enum BulkDiff {
    /// Not by itself; the function of the library that uses it has a rule. The reason, for the message.
    Undefined(&'static str),
    /// By these.
    Rule {
        /// The tangent of the result, from those of the tables (`None` is zero; one at least is not).
        jvp: Jvp,
        /// The cotangents of the tables that are asked for.
        vjp: Vjp,
        /// The table in which it is linear.
        linear_in: usize,
    },
}

/// Where a row with one result is differentiated.
pub struct Place<'a> {
    /// The operands.
    pub args: &'a [Atom],
    /// The result.
    pub result: &'a Atom,
}

impl BulkDef {
    /// The float type and the tables among the operands; `None` if the operands do not fit.
    fn fitting<'a>(&self, args: &'a [Atom]) -> Option<(Scalar, &'a [Atom])> {
        let (ints, tables) = args.split_at_checked(self.ints)?;
        let leaf = |a: &Atom| a.ty().dims().1.scalar().filter(|s| s.is_float());
        let s = leaf(tables.first()?)?;
        let fits = |(a, rank): (&Atom, &Rank)| {
            let ty = a.ty();
            let dims = ty.dims().0.len();
            let enough = match rank {
                Rank::Matrix => dims == 2,
                Rank::Rows => 1 <= dims,
            };
            enough && leaf(a) == Some(s)
        };
        let all = tables.len() == self.tables.len() && tables.iter().zip(self.tables).all(fits);
        (all && ints.iter().all(|a| a.ty() == INT)).then_some((s, tables))
    }

    /// The types of the results; `None` if the operands do not fit.
    #[must_use]
    pub fn result_tys(&self, args: &[Atom]) -> Option<Vec<Ty>> {
        let (s, tables) = self.fitting(args)?;
        let ty = |given: &Given| {
            let sizes: Option<Vec<Atom>> = match given.dims {
                Dims::As(k) => tables.get(k).map(|t| sizes(&t.ty())),
                Dims::Each(axes) => {
                    axes.iter().map(|(k, axis)| sizes(&tables.get(*k)?.ty()).get(*axis).cloned()).collect()
                }
            };
            let leaf = if given.ints { INT } else { Ty::Scalar(s) };
            Some(sizes?.into_iter().rev().fold(leaf, |elem, n| Ty::table(n, elem)))
        };
        self.results.iter().map(ty).collect()
    }

    /// The sizes of the results for these of the operands.
    #[must_use]
    pub fn result_dims(&self, operands: &[&[usize]]) -> Vec<Vec<usize>> {
        let dims = |given: &Given| match given.dims {
            Dims::As(k) => operands[k].to_vec(),
            Dims::Each(axes) => axes.iter().map(|(k, axis)| operands[*k][*axis]).collect(),
        };
        self.results.iter().map(dims).collect()
    }
}

/// The sizes of a table type.
pub(crate) fn sizes(ty: &Ty) -> Vec<Atom> {
    let mut out = vec![];
    let mut ty = ty;
    while let Ty::Table(Ix::Fin(n), elem) = ty {
        out.push(n.clone());
        ty = elem;
    }
    out
}

/// All rows.
pub fn table() -> impl Iterator<Item = Bulk> {
    linalg::TABLE.iter().map(|def| Bulk(def))
}

/// The row of this name.
#[must_use]
pub fn by_name(name: &str) -> Option<Bulk> {
    table().find(|row| row.0.name == name)
}
