//! Special functions.

use super::arith::{MUL, NEG};
use super::transcendental::EXP;
use super::{At, Diff, FLOATS, Kernel, Partial, PrimDef, Sig, edge, f1, row};
use crate::build::Builder;
use crate::ir::Atom;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] = &[&ERF, &ERFC, &ERF_INV, &LGAMMA, &DIGAMMA, &TRIGAMMA];

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
Diff::Undefined("the derivative of `trigamma` needs `polygamma`, which adl does not have yet");
&[(0.5, 4.0)]; &[] }
