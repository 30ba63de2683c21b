//! Special functions.

use super::arith::{ADD, MUL, NEG, SUB};
use super::compare::EQ;
use super::transcendental::{EXP, SIGMOID};
use super::{At, Diff, FLOATS, Kernel, Partial, PrimDef, Sig, edge, f1, f2, row};
use crate::build::Builder;
use crate::ir::Atom;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] =
    &[&ERF, &ERFC, &ERF_INV, &LGAMMA, &DIGAMMA, &TRIGAMMA, &POLYGAMMA, &LBETA, &LOGADDEXP];

// 2/sqrt(pi)·exp(-x²)
fn gauss(b: &mut Builder, p: &At, x: &Atom, factor: f64) -> Atom {
    let square = b.prim(&MUL, &[x.clone(), x.clone()]);
    let minus = b.prim(&NEG, &[square]);
    let e = b.prim(&EXP, &[minus]);
    b.prim(&MUL, &[p.c(factor), e])
}

row! { ERF "erf" "Error function. `erf(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(erf);
Diff::Partials(&[Partial::Expr(|b, p| gauss(b, p, &p.x[0], std::f64::consts::FRAC_2_SQRT_PI))]);
&[(-2.0, 2.0)]; &[edge(&[f64::INFINITY], 1.0, &[0.0], "limit")] }
row! { ERFC "erfc" "`1 - erf(x)`, accurate for large x. `erfc(0.0)` is `1.0`.";
Sig::Same(1, FLOATS); 8; f1!(erfc);
Diff::Partials(&[Partial::Expr(|b, p| gauss(b, p, &p.x[0], -std::f64::consts::FRAC_2_SQRT_PI))]);
&[(-2.0, 2.0)]; &[edge(&[f64::INFINITY], 0.0, &[-0.0], "limit")] }
row! { ERF_INV "erf_inv" "Inverse of `erf`. `erf_inv(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 16; f1!(erf_inv);
// sqrt(pi)/2·exp(y²)
Diff::Partials(&[Partial::Expr(|b, p| {
    let square = b.prim(&MUL, &[p.y.clone(), p.y.clone()]);
    let e = b.prim(&EXP, &[square]);
    b.prim(&MUL, &[p.c(1.0 / std::f64::consts::FRAC_2_SQRT_PI), e])
})]);
&[(-0.8, 0.8)]; &[edge(&[1.0], f64::INFINITY, &[f64::INFINITY], "a pole")] }
row! { LGAMMA "lgamma" "Logarithm of |gamma(x)|. `lgamma(1.0)` is `0.0`.";
Sig::Same(1, FLOATS); 16; f1!(lgamma);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&DIGAMMA, &[p.x[0].clone()]))]);
&[(0.5, 4.0)]; &[edge(&[0.0], f64::INFINITY, &[], "a pole")] }
row! { DIGAMMA "digamma" "Derivative of `lgamma`. `digamma(1.0)` is `-0.5772156649015329`.";
Sig::Same(1, FLOATS); 16; f1!(digamma);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&TRIGAMMA, &[p.x[0].clone()]))]);
&[(0.5, 4.0)]; &[] }
row! { TRIGAMMA "trigamma" "Derivative of `digamma`. `trigamma(1.0)` is `1.6449340668482264`.";
Sig::Same(1, FLOATS); 16; f1!(trigamma);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&POLYGAMMA, &[p.x[0].clone(), Atom::int(2)]))]);
&[(0.5, 4.0)]; &[] }
extern "C" fn polygamma_wide(x: f64, k: i64) -> f64 {
    adl_math::double::polygamma(x, k)
}
extern "C" fn polygamma_narrow(x: f32, k: i64) -> f32 {
    adl_math::single::polygamma(x, k)
}
row! { POLYGAMMA "polygamma" "The k-th derivative of `digamma`. `polygamma(1, 1.0)` is `1.6449340668482264`.";
Sig::FloatInt; 32; Kernel::FInt(polygamma_wide, polygamma_narrow);
Diff::Partials(&[
    Partial::Expr(|b, p| {
        let next = b.prim(&ADD, &[p.x[1].clone(), Atom::int(1)]);
        b.prim(&POLYGAMMA, &[p.x[0].clone(), next])
    }),
    Partial::Zero,
]);
&[(0.5, 4.0), (2.0, 4.0)];
&[edge(&[-2.0, 2.0], f64::NAN, &[], "the sides of the pole disagree"),
  edge(&[-2.0, 3.0], f64::INFINITY, &[], "a pole"), edge(&[f64::INFINITY, 2.0], 0.0, &[0.0, 0.0], "limit")] }

// digamma(x_k) - digamma(x + y)
fn lbeta_by(b: &mut Builder, p: &At, k: usize) -> Atom {
    let sum = b.prim(&ADD, &[p.x[0].clone(), p.x[1].clone()]);
    let own = b.prim(&DIGAMMA, &[p.x[k].clone()]);
    let both = b.prim(&DIGAMMA, &[sum]);
    b.prim(&SUB, &[own, both])
}
row! { LBETA "lbeta" "Logarithm of |beta(x, y)|. `lbeta(1.0, 1.0)` is `0.0`.";
Sig::Same(2, FLOATS); 48; f2!(lbeta);
Diff::Partials(&[Partial::Expr(|b, p| lbeta_by(b, p, 0)), Partial::Expr(|b, p| lbeta_by(b, p, 1))]);
&[(0.5, 4.0), (0.5, 4.0)];
&[edge(&[0.0, 1.0], f64::INFINITY, &[], "a pole"), edge(&[1.0, f64::INFINITY], f64::NEG_INFINITY, &[], "limit")] }

// The weight of x against y: 1/(1 + exp(y - x)), and a half where they are equal, infinite ones too.
fn weight(b: &mut Builder, p: &At, k: usize) -> Atom {
    let ahead = b.prim(&SUB, &[p.x[k].clone(), p.x[1 - k].clone()]);
    let equal = b.prim(&EQ, &[p.x[0].clone(), p.x[1].clone()]);
    let ahead = b.select(equal, p.c(0.0), ahead);
    b.prim(&SIGMOID, &[ahead])
}
row! { LOGADDEXP "logaddexp" "`log(exp(x) + exp(y))` without overflow. `logaddexp(1000.0, 0.0)` is `1000.0`.";
Sig::Same(2, FLOATS); 16; f2!(logaddexp);
Diff::Partials(&[Partial::Expr(|b, p| weight(b, p, 0)), Partial::Expr(|b, p| weight(b, p, 1))]);
&[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[f64::NEG_INFINITY, 1.0], 1.0, &[0.0, 1.0], "the other alone"),
  edge(&[f64::NEG_INFINITY, f64::NEG_INFINITY], f64::NEG_INFINITY, &[0.5, 0.5], "equal ones share"),
  edge(&[f64::INFINITY, 1.0], f64::INFINITY, &[1.0, 0.0], "limit")] }
