//! The oracle: a second opinion on derivatives.
//!
//! A small evaluator of first-order Core that differentiates by itself, and shares nothing with the crate
//! `ad` but the partial derivatives of the primitive table. Forward mode carries dual numbers in its values;
//! reverse mode records each scalar operation on a tape and sweeps it backwards. It is simple, not fast.
//!
//! Inputs and results are the floats of arguments and results, in order: tables row-major, payloads and
//! items from left to right, floats in cells of recursive types left out.
//!
//! Not covered (it says so where it meets them): arguments that are cells, texts of cells, files, extremes
//! of texts, very deep recursion, and higher-order Core.

mod acc;
mod bulk;
mod eval;
mod forms;
mod num;
mod reduce;
mod show;
mod value;

use std::fmt;

use adl_diag::Span;

use crate::ir::{FuncId, Program};
use crate::run::RuntimeError;
use crate::value::Value;
use eval::Eval;
use num::{Dual, Num, Real, Tape, Taped};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The program failed.
    Failed(RuntimeError),
    /// A value that depends on the input goes through a primitive without a derivative.
    NoDerivative {
        /// The primitive.
        row: &'static str,
        /// Its reason.
        why: &'static str,
    },
    /// The oracle does not cover this.
    NotCovered(String),
    /// As many tangents or cotangents are asked for as there are floats; these many were given.
    Count {
        /// Floats.
        wanted: usize,
        /// Tangents or cotangents.
        given: usize,
    },
}

impl Stop {
    /// The program breaks an invariant of Core; the lint says which.
    fn ill_formed(what: &str) -> Stop {
        Stop::NotCovered(format!("ill-formed Core: {what}"))
    }

    /// The same at a place, where it has none yet.
    fn at(self, span: Span) -> Stop {
        match self {
            Stop::Failed(error) if error.span.is_dummy() => Stop::Failed(RuntimeError { span, ..error }),
            Stop::Failed(_) | Stop::NoDerivative { .. } | Stop::NotCovered(_) | Stop::Count { .. } => self,
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Failed(error) => write!(f, "{error}"),
            Stop::NoDerivative { row, why } => write!(f, "`{row}` has no derivative: {why}"),
            Stop::NotCovered(what) => write!(f, "the oracle does not cover {what}"),
            Stop::Count { wanted, given } => write!(f, "{wanted} floats, but {given} derivatives"),
        }
    }
}

impl std::error::Error for Stop {}

/// The ways to nest two levels of which the inner or outer one is a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Dual numbers of taped numbers: reverse mode of a tangent.
    DualOverTape,
    /// A tape of dual numbers: the tangent of a gradient.
    TapeOverDual,
    /// A tape of taped numbers: the gradient of a gradient.
    TapeOverTape,
}

impl Nesting {
    /// All of them.
    pub const ALL: [Nesting; 3] = [Nesting::DualOverTape, Nesting::TapeOverDual, Nesting::TapeOverTape];
}

/// The floats of the results.
///
/// # Errors
///
/// The program's own failures, and [`Stop::NotCovered`].
pub fn run(program: &Program, func: FuncId, args: &[Value]) -> Result<Vec<f64>, Stop> {
    let x = reals(args)?;
    Ok(wide(&outputs::<Real>(program, func, args, &x, &mut ())?))
}

/// The tangents of the results, by dual numbers: `J·v`.
///
/// # Errors
///
/// As [`run`], and where something has no derivative.
pub fn jvp(program: &Program, func: FuncId, args: &[Value], v: &[f64]) -> Result<Vec<f64>, Stop> {
    let x = reals(args)?;
    let inputs = duals(&x, &constants::<Real>(&x, v)?);
    let ys = outputs(program, func, args, &inputs, &mut ())?;
    Ok(wide(&ys.iter().map(tangent).collect::<Vec<Real>>()))
}

/// The cotangents of the floats of the arguments, by a tape: `Jᵀ·w`.
///
/// # Errors
///
/// As [`jvp`].
pub fn vjp(program: &Program, func: FuncId, args: &[Value], w: &[f64]) -> Result<Vec<f64>, Stop> {
    let x = reals(args)?;
    let (_, cts) = pullback::<Real>(program, func, args, &x, &mut Tape::default(), |ys| constants(ys, w))?;
    Ok(wide(&cts))
}

/// The second derivatives of the results in two directions, by dual numbers of dual numbers: `∂²f(v, u)`.
///
/// # Errors
///
/// As [`jvp`].
pub fn second_tangent(
    program: &Program,
    func: FuncId,
    args: &[Value],
    v: &[f64],
    u: &[f64],
) -> Result<Vec<f64>, Stop> {
    let x = reals(args)?;
    let inner = duals(&x, &constants::<Real>(&x, v)?);
    let inputs = duals(&inner, &constants::<Dual<Real>>(&x, u)?);
    let ys = outputs(program, func, args, &inputs, &mut ())?;
    Ok(wide(&ys.iter().map(|y| tangent(&tangent(y))).collect::<Vec<Real>>()))
}

/// The derivative of the gradient `J(x)ᵀ·w` in the direction `v`: `(Σ w_i H_i)·v`, where `H_i` is the matrix
/// of second derivatives of result `i`.
///
/// # Errors
///
/// As [`jvp`].
pub fn hvp(
    nesting: Nesting,
    program: &Program,
    func: FuncId,
    args: &[Value],
    v: &[f64],
    w: &[f64],
) -> Result<Vec<f64>, Stop> {
    let x = reals(args)?;
    match nesting {
        Nesting::DualOverTape => {
            let mut tape = Tape::<Real>::default();
            let inner: Vec<Taped<Real>> = x.iter().map(|x| tape.input(*x)).collect();
            let inputs = duals(&inner, &constants::<Taped<Real>>(&x, v)?);
            let ys = outputs(program, func, args, &inputs, &mut tape)?;
            let dys: Vec<Taped<Real>> = ys.iter().map(tangent).collect();
            Ok(wide(&swept(&mut tape, &dys, &constants::<Real>(&dys, w)?, &inner)?))
        }
        Nesting::TapeOverDual => {
            let inputs = duals(&x, &constants::<Real>(&x, v)?);
            let tape = &mut Tape::default();
            let (_, cts) = pullback(program, func, args, &inputs, tape, |ys| constants(ys, w))?;
            Ok(wide(&cts.iter().map(tangent).collect::<Vec<Real>>()))
        }
        Nesting::TapeOverTape => {
            let mut tape = Tape::<Taped<Real>>::default();
            let inputs: Vec<Taped<Real>> = x.iter().map(|x| tape.inner.input(*x)).collect();
            let (_, cts) = pullback(program, func, args, &inputs, &mut tape, |ys| constants(ys, w))?;
            Ok(wide(&swept(&mut tape.inner, &cts, &constants::<Real>(&x, v)?, &inputs)?))
        }
    }
}

/// The floats of these values, in order.
fn reals(values: &[Value]) -> Result<Vec<Real>, Stop> {
    let mut found = vec![];
    for v in values {
        value::import::<Real>(v, &mut |x| {
            found.push(x);
            x
        })?;
    }
    Ok(found)
}

fn wide(xs: &[Real]) -> Vec<f64> {
    xs.iter().map(|x| x.wide()).collect()
}

/// Constants, one for each of the numbers in `like`, in their widths.
fn constants<N: Num>(like: &[impl Num], xs: &[f64]) -> Result<Vec<N>, Stop> {
    if like.len() != xs.len() {
        return Err(Stop::Count { wanted: like.len(), given: xs.len() });
    }
    Ok(like.iter().zip(xs).map(|(y, x)| N::constant(Real::of(y.base().scalar(), *x))).collect())
}

fn duals<N: Num>(x: &[N], dx: &[N]) -> Vec<Dual<N>> {
    x.iter().zip(dx).map(|(x, dx)| Dual { x: x.clone(), dx: Some(dx.clone()) }).collect()
}

/// The tangent, zero where there is none.
fn tangent<N: Num>(y: &Dual<N>) -> N {
    y.dx.clone().unwrap_or_else(|| N::constant(Real::of(y.base().scalar(), 0.0)))
}

/// The floats of the results, when those of the arguments are `inputs`.
fn outputs<N: Num>(
    program: &Program,
    func: FuncId,
    args: &[Value],
    inputs: &[N],
    store: &mut N::Store,
) -> Result<Vec<N>, Stop> {
    let mut inputs = inputs.iter();
    let mut next = |x: Real| inputs.next().cloned().unwrap_or_else(|| N::constant(x));
    let args: Result<Vec<value::Val<N>>, Stop> = args.iter().map(|v| value::import(v, &mut next)).collect();
    let mut ys = vec![];
    for value in Eval::run(program, store, func, args?)? {
        value.floats(&mut ys);
    }
    Ok(ys)
}

/// The floats of the results, and the cotangents of `inputs` for what `seed` makes of them.
fn pullback<N: Num>(
    program: &Program,
    func: FuncId,
    args: &[Value],
    inputs: &[N],
    tape: &mut Tape<N>,
    seed: impl FnOnce(&[Taped<N>]) -> Result<Vec<N>, Stop>,
) -> Result<(Vec<N>, Vec<N>), Stop> {
    let xs: Vec<Taped<N>> = inputs.iter().map(|x| tape.input(x.clone())).collect();
    let ys = outputs(program, func, args, &xs, tape)?;
    let w = seed(&ys)?;
    let cts = swept(tape, &ys, &w, &xs)?;
    Ok((ys.into_iter().map(|y| y.x).collect(), cts))
}

/// The cotangents of `xs`, when those of `ys` are `w`.
fn swept<N: Num>(tape: &mut Tape<N>, ys: &[Taped<N>], w: &[N], xs: &[Taped<N>]) -> Result<Vec<N>, Stop> {
    let seeds: Vec<(Option<usize>, N)> = ys.iter().zip(w).map(|(y, w)| (y.node, w.clone())).collect();
    let cts = tape.sweep(&seeds)?;
    let zero = |x: &Taped<N>| N::constant(Real::of(x.base().scalar(), 0.0));
    Ok(xs.iter().map(|x| x.node.and_then(|k| cts[k].clone()).unwrap_or_else(|| zero(x))).collect())
}
