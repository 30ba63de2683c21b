//! Numbers that carry derivatives: plain ones, dual numbers, and numbers on a tape.
//!
//! Each kind but the plain one is made over another kind, so that levels nest: a dual number of taped
//! numbers, a tape of dual numbers. The levels are types, and so cannot be confused.
//!
//! Sources: Wengert, "A simple automatic derivative evaluation program" (CACM 1964); Griewank and Walther,
//! "Evaluating Derivatives" (SIAM 2008).

use adl_diag::Span;

use super::Stop;
use super::eval::Eval;
use crate::build::Builder;
use crate::ir::{Atom, Program, Var};
use crate::prim::{self, At, Diff, Partial, Prim, PrimDef, PrimError, S};
use crate::run::fail;
use crate::ty::{Scalar, Ty};

/// A float of the program, of either width.
#[derive(Clone, Copy, Debug)]
pub(super) enum Real {
    F64(f64),
    F32(f32),
}

impl Real {
    /// The number in the width of `scalar`.
    #[expect(clippy::cast_possible_truncation, reason = "rounding to F32 is what is asked for")]
    pub(super) fn of(scalar: Scalar, x: f64) -> Real {
        if scalar == Scalar::F32 { Real::F32(x as f32) } else { Real::F64(x) }
    }

    /// The number, exactly.
    pub(super) fn wide(self) -> f64 {
        match self {
            Real::F64(x) => x,
            Real::F32(x) => f64::from(x),
        }
    }

    /// Its type.
    pub(super) fn scalar(self) -> Scalar {
        match self {
            Real::F64(_) => Scalar::F64,
            Real::F32(_) => Scalar::F32,
        }
    }
}

/// A scalar: a float that may carry derivatives, or one that has none.
#[derive(Clone, Debug)]
pub(super) enum Leaf<N> {
    Float(N),
    Other(S),
}

impl<N: Num> Leaf<N> {
    /// Its type.
    pub(super) fn scalar(&self) -> Scalar {
        match self {
            Leaf::Float(x) => x.base().scalar(),
            Leaf::Other(s) => s.scalar(),
        }
    }

    fn float(&self) -> Option<&N> {
        if let Leaf::Float(x) = self { Some(x) } else { None }
    }

    fn map<M>(&self, f: impl FnOnce(&N) -> M) -> Leaf<M> {
        match self {
            Leaf::Float(x) => Leaf::Float(f(x)),
            Leaf::Other(s) => Leaf::Other(s.clone()),
        }
    }
}

/// A kind of number.
pub(super) trait Num: Clone {
    /// What numbers of this kind are recorded on.
    type Store: Default;

    /// A constant.
    fn constant(x: Real) -> Self;

    /// The number without derivatives.
    fn base(&self) -> Real;

    /// Applies a row of the primitive table.
    fn apply(store: &mut Self::Store, row: Prim, args: &[Leaf<Self>]) -> Result<Leaf<Self>, Stop>;

    /// Some numbers that are equal, as one: each has an equal share in its derivative.
    fn share(store: &mut Self::Store, of: &[Self]) -> Result<Self, Stop>;
}

/// Applies a row whose result is a float.
pub(super) fn float_row<N: Num>(store: &mut N::Store, row: &'static PrimDef, args: &[&N]) -> Result<N, Stop> {
    let args: Vec<Leaf<N>> = args.iter().map(|x| Leaf::Float((*x).clone())).collect();
    match N::apply(store, Prim(row), &args)? {
        Leaf::Float(x) => Ok(x),
        Leaf::Other(_) => Err(Stop::ill_formed("a row of floats gives no float")),
    }
}

impl Num for Real {
    type Store = ();

    fn constant(x: Real) -> Real {
        x
    }

    fn base(&self) -> Real {
        *self
    }

    fn apply((): &mut (), row: Prim, args: &[Leaf<Real>]) -> Result<Leaf<Real>, Stop> {
        let scalars: Vec<S> = args
            .iter()
            .map(|leaf| match leaf {
                Leaf::Float(Real::F64(x)) => S::F64(*x),
                Leaf::Float(Real::F32(x)) => S::F32(*x),
                Leaf::Other(s) => s.clone(),
            })
            .collect();
        let types: Vec<Scalar> = scalars.iter().map(S::scalar).collect();
        if row.0.result(&types).is_none() {
            return Err(Stop::ill_formed(&format!("operands of `{}` do not fit", row.0.name)));
        }
        match row.0.apply(&scalars) {
            Ok(S::F64(x)) => Ok(Leaf::Float(Real::F64(x))),
            Ok(S::F32(x)) => Ok(Leaf::Float(Real::F32(x))),
            Ok(s @ (S::Int(_) | S::Bool(_) | S::Str(_) | S::Key(_))) => Ok(Leaf::Other(s)),
            // The statement adds its place.
            Err(PrimError::DivZero) => Err(Stop::Failed(fail::division_by_zero(Span::default()))),
            Err(PrimError::IntRange) => {
                let x = args.first().and_then(Leaf::float).map_or(f64::NAN, |x| x.wide());
                Err(Stop::Failed(fail::conversion(Span::default(), x)))
            }
        }
    }

    fn share((): &mut (), of: &[Real]) -> Result<Real, Stop> {
        of.first().copied().ok_or_else(|| Stop::ill_formed("a share of nothing"))
    }
}

/// A number and its tangent; none where it does not depend on the input.
#[derive(Clone, Debug)]
pub(super) struct Dual<N> {
    pub(super) x: N,
    pub(super) dx: Option<N>,
}

impl<N: Num> Num for Dual<N> {
    type Store = N::Store;

    fn constant(x: Real) -> Dual<N> {
        Dual { x: N::constant(x), dx: None }
    }

    fn base(&self) -> Real {
        self.x.base()
    }

    fn apply(store: &mut N::Store, row: Prim, args: &[Leaf<Dual<N>>]) -> Result<Leaf<Dual<N>>, Stop> {
        let inner: Vec<Leaf<N>> = args.iter().map(|leaf| leaf.map(|d| d.x.clone())).collect();
        let tangents: Vec<Option<&N>> =
            args.iter().map(|leaf| leaf.float().and_then(|d| d.dx.as_ref())).collect();
        let y = match N::apply(store, row, &inner)? {
            Leaf::Float(y) => y,
            Leaf::Other(s) => return Ok(Leaf::Other(s)),
        };
        let active: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let mut dy = None;
        // dy = Σ ∂y/∂x_k · dx_k
        for (k, slope) in slopes(store, row, &inner, &y, &active)? {
            let Some(dx) = tangents[k] else { continue };
            let term = slope.times(store, dx, y.base().scalar())?;
            dy = Some(sum(store, dy, term)?);
        }
        Ok(Leaf::Float(Dual { x: y, dx: dy }))
    }

    fn share(store: &mut N::Store, of: &[Dual<N>]) -> Result<Dual<N>, Stop> {
        let values: Vec<N> = of.iter().map(|d| d.x.clone()).collect();
        let x = N::share(store, &values)?;
        let part = part_of(&x, of.len());
        let mut dx = None;
        for d in of {
            if let Some(one) = &d.dx {
                let term = float_row(store, &prim::MUL, &[&part, one])?;
                dx = Some(sum(store, dx, term)?);
            }
        }
        Ok(Dual { x, dx })
    }
}

/// A number, and its node on the tape; none where it does not depend on the input.
#[derive(Clone, Debug)]
pub(super) struct Taped<N> {
    pub(super) x: N,
    pub(super) node: Option<usize>,
}

/// What was computed, in order.
#[derive(Debug)]
pub(super) struct Tape<N: Num> {
    nodes: Vec<Node<N>>,
    /// What the numbers below are recorded on.
    pub(super) inner: N::Store,
}

/// One operation: its width, and how it changes with operands before it.
#[derive(Debug)]
struct Node<N> {
    scalar: Scalar,
    operands: Vec<(usize, Slope<N>)>,
}

impl<N: Num> Default for Tape<N> {
    fn default() -> Tape<N> {
        Tape { nodes: vec![], inner: N::Store::default() }
    }
}

impl<N: Num> Tape<N> {
    /// An input, of which derivatives are taken.
    pub(super) fn input(&mut self, x: N) -> Taped<N> {
        self.record(x, vec![])
    }

    fn record(&mut self, x: N, operands: Vec<(usize, Slope<N>)>) -> Taped<N> {
        self.nodes.push(Node { scalar: x.base().scalar(), operands });
        Taped { x, node: Some(self.nodes.len() - 1) }
    }

    /// The cotangents of all nodes, from those of some numbers.
    pub(super) fn sweep(&mut self, seeds: &[(Option<usize>, N)]) -> Result<Vec<Option<N>>, Stop> {
        let Tape { nodes, inner } = self;
        let mut cts: Vec<Option<N>> = vec![None; nodes.len()];
        for (node, ct) in seeds {
            if let Some(k) = *node {
                let before = cts[k].take();
                cts[k] = Some(sum(inner, before, ct.clone())?);
            }
        }
        for (at, node) in nodes.iter().enumerate().rev() {
            let Some(ct) = cts[at].clone() else { continue };
            for (operand, slope) in &node.operands {
                let term = slope.times(inner, &ct, nodes[*operand].scalar)?;
                let before = cts[*operand].take();
                cts[*operand] = Some(sum(inner, before, term)?);
            }
        }
        Ok(cts)
    }
}

impl<N: Num> Num for Taped<N> {
    type Store = Tape<N>;

    fn constant(x: Real) -> Taped<N> {
        Taped { x: N::constant(x), node: None }
    }

    fn base(&self) -> Real {
        self.x.base()
    }

    fn apply(tape: &mut Tape<N>, row: Prim, args: &[Leaf<Taped<N>>]) -> Result<Leaf<Taped<N>>, Stop> {
        let inner: Vec<Leaf<N>> = args.iter().map(|leaf| leaf.map(|t| t.x.clone())).collect();
        let nodes: Vec<Option<usize>> = args.iter().map(|leaf| leaf.float().and_then(|t| t.node)).collect();
        let y = match N::apply(&mut tape.inner, row, &inner)? {
            Leaf::Float(y) => y,
            Leaf::Other(s) => return Ok(Leaf::Other(s)),
        };
        let active: Vec<bool> = nodes.iter().map(Option::is_some).collect();
        let slopes = slopes(&mut tape.inner, row, &inner, &y, &active)?;
        let operands: Vec<(usize, Slope<N>)> =
            slopes.into_iter().filter_map(|(k, slope)| Some((nodes[k]?, slope))).collect();
        Ok(Leaf::Float(if operands.is_empty() {
            Taped { x: y, node: None }
        } else {
            tape.record(y, operands)
        }))
    }

    fn share(tape: &mut Tape<N>, of: &[Taped<N>]) -> Result<Taped<N>, Stop> {
        let values: Vec<N> = of.iter().map(|t| t.x.clone()).collect();
        let x = N::share(&mut tape.inner, &values)?;
        let part = part_of(&x, of.len());
        let operands: Vec<(usize, Slope<N>)> =
            of.iter().filter_map(|t| Some((t.node?, Slope::Times(part.clone())))).collect();
        Ok(if operands.is_empty() { Taped { x, node: None } } else { tape.record(x, operands) })
    }
}

/// One of `n` equal parts, in the width of `like`.
fn part_of<N: Num>(like: &N, n: usize) -> N {
    N::constant(Real::of(like.base().scalar(), 1.0 / n as f64))
}

fn sum<N: Num>(store: &mut N::Store, before: Option<N>, term: N) -> Result<N, Stop> {
    match before {
        Some(before) => float_row(store, &prim::ADD, &[&before, &term]),
        None => Ok(term),
    }
}

/// A partial derivative at a point.
#[derive(Clone, Debug)]
enum Slope<N> {
    One,
    MinusOne,
    Times(N),
}

impl<N: Num> Slope<N> {
    /// The product with a tangent or cotangent, in the width asked for.
    fn times(&self, store: &mut N::Store, d: &N, scalar: Scalar) -> Result<N, Stop> {
        let product = match self {
            Slope::One => d.clone(),
            Slope::MinusOne => float_row(store, &prim::NEG, &[d])?,
            Slope::Times(slope) => float_row(store, &prim::MUL, &[slope, d])?,
        };
        match (product.base().scalar(), scalar) {
            (Scalar::F64, Scalar::F32) => float_row(store, &prim::NARROW, &[&product]),
            (Scalar::F32, Scalar::F64) => float_row(store, &prim::WIDEN, &[&product]),
            _ => Ok(product),
        }
    }
}

/// The partial derivatives of a row in the operands that are active, but for those that are 0 always.
fn slopes<N: Num>(
    store: &mut N::Store,
    row: Prim,
    args: &[Leaf<N>],
    y: &N,
    active: &[bool],
) -> Result<Vec<(usize, Slope<N>)>, Stop> {
    if !active.contains(&true) {
        return Ok(vec![]);
    }
    let partials = match row.0.diff {
        Diff::Partials(partials) => partials,
        Diff::Zero => return Ok(vec![]),
        Diff::Undefined(why) => return Err(Stop::NoDerivative { row: row.0.name, why }),
    };
    let mut found = vec![];
    for (k, partial) in partials.iter().enumerate().filter(|(k, _)| active[*k]) {
        match partial {
            Partial::Zero => {}
            Partial::One => found.push((k, Slope::One)),
            Partial::MinusOne => found.push((k, Slope::MinusOne)),
            Partial::Expr(build) => found.push((k, Slope::Times(built(store, args, y, k, *build)?))),
        }
    }
    Ok(found)
}

/// What the partial derivative in operand `k` is here: its code, evaluated on numbers one level below.
fn built<N: Num>(
    store: &mut N::Store,
    args: &[Leaf<N>],
    y: &N,
    k: usize,
    build: fn(&mut Builder, &At) -> Atom,
) -> Result<N, Stop> {
    let fresh = |leaf: &Leaf<N>| Var::new(Ty::Scalar(leaf.scalar()));
    let result = Leaf::Float(y.clone());
    let (vars, y_var) = (args.iter().map(fresh).collect::<Vec<Var>>(), fresh(&result));
    let atoms: Vec<Atom> = vars.iter().map(Atom::from).collect();
    let mut b = Builder::default();
    let atom = build(&mut b, &At { x: &atoms, y: &Atom::from(&y_var), s: args[k].scalar() });
    let block = b.finish(vec![atom]);
    let given = vars.into_iter().zip(args.iter().cloned()).chain([(y_var, result)]);
    match Eval::scratch(&Program::default(), store, given, &block)? {
        Leaf::Float(x) => Ok(x),
        Leaf::Other(_) => Err(Stop::ill_formed("a partial derivative that is no float")),
    }
}
