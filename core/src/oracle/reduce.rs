//! Reductions and contractions, one element after the other.

use adl_diag::Span;

use super::Stop;
use super::eval::Eval;
use super::num::{Leaf, Num, Real};
use super::value::Val;
use crate::ir::{Atom, Axes, RedOp};
use crate::prim::{self, Prim, PrimDef, S};
use crate::run::fail;
use crate::ty::{Scalar, Ty};

/// The reduction of scalars of this type. Sums run in plain order, which differs from the order of the spec
/// by rounding.
pub(super) fn fold<N: Num>(
    store: &mut N::Store,
    op: &RedOp,
    column: &[Val<N>],
    scalar: Scalar,
) -> Result<Val<N>, Stop> {
    let leaves: Result<Vec<Leaf<N>>, Stop> = column.iter().map(|value| value.clone().into_leaf()).collect();
    let leaves = leaves?;
    let reduced = match op {
        RedOp::Sum => in_order::<N>(store, &prim::ADD, number(scalar, 0), &leaves)?,
        RedOp::Prod => in_order::<N>(store, &prim::MUL, number(scalar, 1), &leaves)?,
        RedOp::And => in_order::<N>(store, &prim::AND, Leaf::Other(S::Bool(true)), &leaves)?,
        RedOp::Or => in_order::<N>(store, &prim::OR, Leaf::Other(S::Bool(false)), &leaves)?,
        RedOp::Min => extreme(store, "minimum", [&prim::MIN, &prim::INT_MIN, &prim::AND], &leaves)?,
        RedOp::Max => extreme(store, "maximum", [&prim::MAX, &prim::INT_MAX, &prim::OR], &leaves)?,
        RedOp::Custom { .. } => return Err(Stop::ill_formed("a custom reduction by itself")),
    };
    Ok(Val::Leaf(reduced))
}

fn number<N: Num>(scalar: Scalar, k: i64) -> Leaf<N> {
    if scalar.is_float() {
        Leaf::Float(N::constant(Real::of(scalar, k as f64)))
    } else {
        Leaf::Other(S::Int(k))
    }
}

fn in_order<N: Num>(
    store: &mut N::Store,
    row: &'static PrimDef,
    start: Leaf<N>,
    leaves: &[Leaf<N>],
) -> Result<Leaf<N>, Stop> {
    leaves.iter().try_fold(start, |acc, x| N::apply(store, Prim(row), &[acc, x.clone()]))
}

/// The least or greatest element, by the rows for floats, Ints and Bools.
fn extreme<N: Num>(
    store: &mut N::Store,
    name: &str,
    [floats, ints, bools]: [&'static PrimDef; 3],
    leaves: &[Leaf<N>],
) -> Result<Leaf<N>, Stop> {
    let Some((first, rest)) = leaves.split_first() else {
        return Err(Stop::Failed(fail::empty_reduction(Span::default(), name)));
    };
    match first.scalar() {
        Scalar::F64 | Scalar::F32 => shared_extreme(store, floats, leaves),
        Scalar::Int => in_order(store, ints, first.clone(), rest),
        Scalar::Bool => in_order(store, bools, first.clone(), rest),
        Scalar::Str | Scalar::Key => Err(Stop::NotCovered(format!("the {name} of texts or keys"))),
    }
}

/// The extreme of floats. All elements that equal it share equally in its derivative.
fn shared_extreme<N: Num>(
    store: &mut N::Store,
    row: &'static PrimDef,
    leaves: &[Leaf<N>],
) -> Result<Leaf<N>, Stop> {
    let mut floats: Vec<N> = vec![];
    for leaf in leaves {
        match leaf {
            Leaf::Float(x) => floats.push(x.clone()),
            Leaf::Other(_) => return Err(Stop::ill_formed("an extreme of floats and others")),
        }
    }
    let bases: Vec<Leaf<Real>> = floats.iter().map(|x| Leaf::Float(x.base())).collect();
    let best = match in_order(&mut (), row, bases[0].clone(), &bases[1..])? {
        Leaf::Float(x) => x.wide(),
        Leaf::Other(_) => return Err(Stop::ill_formed("an extreme that is no float")),
    };
    let is_best = |x: &N| {
        let x = x.base().wide();
        x == best || (x.is_nan() && best.is_nan())
    };
    let mut tied: Vec<N> = floats.into_iter().filter(is_best).collect();
    // Of the zeros the one with the right sign gives the value.
    if let Some(at) = tied.iter().position(|x| x.base().wide().to_bits() == best.to_bits()) {
        tied.swap(0, at);
    }
    Ok(Leaf::Float(N::share(store, &tied)?))
}

impl<N: Num> Eval<'_, N> {
    /// The sum of products over the axes that are not in the result.
    pub(super) fn contract(&mut self, a: &Atom, b: &Atom, spec: &Axes) -> Result<Val<N>, Stop> {
        let mut labels: Vec<(u8, i64)> = vec![];
        let mut scalar = Scalar::F64;
        for (atom, axes) in [(a, &spec.a), (b, &spec.b)] {
            let mut ty = &atom.ty();
            for axis in axes {
                let Ty::Table(ix, elem) = ty else { return Err(Stop::ill_formed("an axis of no table")) };
                let n = self.size_in_type(ix)? as i64;
                match labels.iter().find(|(label, _)| label == axis) {
                    Some((_, m)) if *m != n => {
                        let what = "the sizes of a contracted axis";
                        return Err(Stop::Failed(fail::sizes_differ(Span::default(), what, *m, n)));
                    }
                    Some(_) => {}
                    None => labels.push((*axis, n)),
                }
                ty = elem;
            }
            scalar = ty.scalar().ok_or_else(|| Stop::ill_formed("a contraction of no scalars"))?;
        }
        // The axes of the result from the outside in, then those that are summed.
        let (out, summed): (Vec<_>, Vec<_>) = labels.into_iter().partition(|(l, _)| spec.out.contains(l));
        let mut axes = vec![];
        for label in &spec.out {
            let found = out.iter().find(|(l, _)| l == label);
            axes.push(*found.ok_or_else(|| Stop::ill_formed("an axis of no operand"))?);
        }
        axes.extend(summed);
        let operands = [(self.atom(a)?, &spec.a), (self.atom(b)?, &spec.b)];
        self.contracted(&operands, &axes, spec.out.len(), scalar, &mut vec![])
    }

    /// The part of a contraction where the first axes have these indices.
    fn contracted(
        &mut self,
        operands: &[(Val<N>, &Vec<u8>); 2],
        axes: &[(u8, i64)],
        n_out: usize,
        scalar: Scalar,
        at: &mut Vec<i64>,
    ) -> Result<Val<N>, Stop> {
        let Some((_, n)) = axes.get(at.len()) else {
            let mut factors = vec![];
            for (value, labels) in operands {
                let place = |label: &u8| axes.iter().position(|(l, _)| l == label).map(|k| at[k]);
                let index: Vec<i64> = labels.iter().filter_map(place).collect();
                factors.push(value.at(&index)?.clone().into_leaf()?);
            }
            return Ok(Val::Leaf(N::apply(self.store, Prim(&prim::MUL), &factors)?));
        };
        let is_out = at.len() < n_out;
        let mut parts = vec![];
        for i in 0..*n {
            at.push(i);
            parts.push(self.contracted(operands, axes, n_out, scalar, at)?);
            at.pop();
        }
        if is_out { Ok(Val::table(parts)) } else { fold(self.store, &RedOp::Sum, &parts, scalar) }
    }
}
