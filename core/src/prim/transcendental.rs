//! Elementary functions of floats.

use super::arith::{ADD, DIV, MUL, NEG, SUB};
use super::{At, Diff, FLOATS, Inst, Kernel, Partial, PrimDef, Sig, edge, f1, f2, row};
use crate::build::Builder;
use crate::ir::Atom;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] = &[
    &SQRT, &CBRT, &EXP, &EXPM1, &LOG, &LOG1P, &LOG2, &LOG10, &SIN, &COS, &TAN, &ASIN, &ACOS, &ATAN, &ATAN2,
    &SINH, &COSH, &TANH, &ASINH, &ACOSH, &ATANH, &HYPOT, &SIGMOID, &SOFTPLUS,
];

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// `num / den`.
fn over(b: &mut Builder, num: Atom, den: Atom) -> Atom {
    b.prim(&DIV, &[num, den])
}
/// `1 + sign·x²`.
fn one_and_square(b: &mut Builder, p: &At, row: &'static PrimDef) -> Atom {
    let square = b.prim(&MUL, &[p.x[0].clone(), p.x[0].clone()]);
    b.prim(row, &[p.c(1.0), square])
}
/// `1/sqrt(inner)`.
fn rsqrt(b: &mut Builder, p: &At, inner: Atom) -> Atom {
    let root = b.prim(&SQRT, &[inner]);
    over(b, p.c(1.0), root)
}

row! { SQRT "sqrt" "Square root. `sqrt(4.0)` is `2.0`.";
Sig::Same(1, FLOATS); 4; Kernel::Inst(Inst::Sqrt);
// sqrt' = 1/(2·sqrt)
Diff::Partials(&[Partial::Expr(|b, p| { let d = b.prim(&MUL, &[p.c(2.0), p.y.clone()]); over(b, p.c(1.0), d) })]);
&[(0.5, 4.0)];
&[edge(&[0.0], 0.0, &[INF], "vertical tangent"), edge(&[-1.0], NAN, &[], "not real")] }
row! { CBRT "cbrt" "Cube root. `cbrt(8.0)` is `2.0`.";
Sig::Same(1, FLOATS); 8; f1!(cbrt);
// cbrt' = 1/(3·cbrt²)
Diff::Partials(&[Partial::Expr(|b, p| {
    let square = b.prim(&MUL, &[p.y.clone(), p.y.clone()]);
    let d = b.prim(&MUL, &[p.c(3.0), square]);
    over(b, p.c(1.0), d)
})]);
&[(0.5, 4.0)]; &[edge(&[0.0], 0.0, &[INF], "vertical tangent"), edge(&[-8.0], -2.0, &[], "odd")] }
row! { EXP "exp" "Exponential. `exp(0.0)` is `1.0`.";
Sig::Same(1, FLOATS); 8; f1!(exp);
// exp' = exp
Diff::Partials(&[Partial::Expr(|_, p| p.y.clone())]);
&[(-2.0, 2.0)]; &[edge(&[-INF], 0.0, &[0.0], "limit"), edge(&[INF], INF, &[INF], "limit")] }
row! { EXPM1 "expm1" "`exp(x) - 1`, accurate near 0. `expm1(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(expm1);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&ADD, &[p.y.clone(), p.c(1.0)]))]);
&[(-2.0, 2.0)]; &[edge(&[0.0], 0.0, &[1.0], "slope 1")] }
row! { LOG "log" "Natural logarithm. `log(1.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(log);
// log' = 1/x
Diff::Partials(&[Partial::Expr(|b, p| over(b, p.c(1.0), p.x[0].clone()))]);
&[(0.5, 4.0)]; &[edge(&[0.0], -INF, &[INF], "limit from the right"), edge(&[-1.0], NAN, &[], "not real")] }
row! { LOG1P "log1p" "`log(1 + x)`, accurate near 0. `log1p(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(log1p);
Diff::Partials(&[Partial::Expr(|b, p| { let d = b.prim(&ADD, &[p.c(1.0), p.x[0].clone()]); over(b, p.c(1.0), d) })]);
&[(-0.5, 3.0)]; &[edge(&[-1.0], -INF, &[INF], "limit from the right")] }
row! { LOG2 "log2" "Logarithm to base 2. `log2(8.0)` is `3.0`.";
Sig::Same(1, FLOATS); 8; f1!(log2);
Diff::Partials(&[Partial::Expr(|b, p| {
    let d = b.prim(&MUL, &[p.x[0].clone(), p.c(std::f64::consts::LN_2)]);
    over(b, p.c(1.0), d)
})]);
&[(0.5, 4.0)]; &[edge(&[0.0], -INF, &[INF], "limit from the right")] }
row! { LOG10 "log10" "Logarithm to base 10. `log10(100.0)` is `2.0`.";
Sig::Same(1, FLOATS); 8; f1!(log10);
Diff::Partials(&[Partial::Expr(|b, p| {
    let d = b.prim(&MUL, &[p.x[0].clone(), p.c(std::f64::consts::LN_10)]);
    over(b, p.c(1.0), d)
})]);
&[(0.5, 4.0)]; &[edge(&[0.0], -INF, &[INF], "limit from the right")] }
row! { SIN "sin" "Sine, in radians. `sin(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(sin);
// sin' = cos
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&COS, &[p.x[0].clone()]))]);
&[(-4.0, 4.0)]; &[edge(&[0.0], 0.0, &[1.0], "slope 1"), edge(&[INF], NAN, &[], "no limit")] }
row! { COS "cos" "Cosine, in radians. `cos(0.0)` is `1.0`.";
Sig::Same(1, FLOATS); 8; f1!(cos);
// cos' = -sin
Diff::Partials(&[Partial::Expr(|b, p| { let s = b.prim(&SIN, &[p.x[0].clone()]); b.prim(&NEG, &[s]) })]);
&[(-4.0, 4.0)]; &[edge(&[0.0], 1.0, &[-0.0], "a maximum")] }
row! { TAN "tan" "Tangent, in radians. `tan(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(tan);
// tan' = 1 + tan²
Diff::Partials(&[Partial::Expr(|b, p| {
    let square = b.prim(&MUL, &[p.y.clone(), p.y.clone()]);
    b.prim(&ADD, &[p.c(1.0), square])
})]);
&[(-1.0, 1.0)]; &[edge(&[0.0], 0.0, &[1.0], "slope 1")] }
row! { ASIN "asin" "Inverse sine. `asin(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(asin);
Diff::Partials(&[Partial::Expr(|b, p| { let i = one_and_square(b, p, &SUB); rsqrt(b, p, i) })]);
&[(-0.8, 0.8)]; &[edge(&[1.0], std::f64::consts::FRAC_PI_2, &[INF], "vertical tangent"), edge(&[2.0], NAN, &[], "not real")] }
row! { ACOS "acos" "Inverse cosine. `acos(1.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(acos);
Diff::Partials(&[Partial::Expr(|b, p| {
    let i = one_and_square(b, p, &SUB);
    let r = rsqrt(b, p, i);
    b.prim(&NEG, &[r])
})]);
&[(-0.8, 0.8)]; &[edge(&[1.0], 0.0, &[-INF], "vertical tangent")] }
row! { ATAN "atan" "Inverse tangent. `atan(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(atan);
Diff::Partials(&[Partial::Expr(|b, p| { let i = one_and_square(b, p, &ADD); over(b, p.c(1.0), i) })]);
&[(-4.0, 4.0)]; &[edge(&[INF], std::f64::consts::FRAC_PI_2, &[0.0], "limit")] }

// x² + y²
fn squares(b: &mut Builder, p: &At) -> Atom {
    let first = b.prim(&MUL, &[p.x[0].clone(), p.x[0].clone()]);
    let second = b.prim(&MUL, &[p.x[1].clone(), p.x[1].clone()]);
    b.prim(&ADD, &[first, second])
}
row! { ATAN2 "atan2" "Angle of the point (x, y), from y and x. `atan2(0.0, 1.0)` is `0.0`.";
Sig::Same(2, FLOATS); 8; f2!(atan2);
// d atan2(y, x) = (x·dy - y·dx)/(x² + y²)
Diff::Partials(&[
    Partial::Expr(|b, p| { let d = squares(b, p); over(b, p.x[1].clone(), d) }),
    Partial::Expr(|b, p| { let d = squares(b, p); let q = over(b, p.x[0].clone(), d); b.prim(&NEG, &[q]) }),
]);
&[(-4.0, 4.0), (0.5, 4.0)]; &[edge(&[0.0, -1.0], std::f64::consts::PI, &[], "the negative axis")] }
row! { SINH "sinh" "Hyperbolic sine. `sinh(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(sinh);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&COSH, &[p.x[0].clone()]))]);
&[(-2.0, 2.0)]; &[edge(&[0.0], 0.0, &[1.0], "slope 1")] }
row! { COSH "cosh" "Hyperbolic cosine. `cosh(0.0)` is `1.0`.";
Sig::Same(1, FLOATS); 8; f1!(cosh);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&SINH, &[p.x[0].clone()]))]);
&[(-2.0, 2.0)]; &[edge(&[0.0], 1.0, &[0.0], "a minimum")] }
row! { TANH "tanh" "Hyperbolic tangent. `tanh(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(tanh);
// tanh' = 1 - tanh²
Diff::Partials(&[Partial::Expr(|b, p| {
    let square = b.prim(&MUL, &[p.y.clone(), p.y.clone()]);
    b.prim(&SUB, &[p.c(1.0), square])
})]);
&[(-2.0, 2.0)]; &[edge(&[INF], 1.0, &[0.0], "limit")] }
row! { ASINH "asinh" "Inverse hyperbolic sine. `asinh(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(asinh);
Diff::Partials(&[Partial::Expr(|b, p| { let i = one_and_square(b, p, &ADD); rsqrt(b, p, i) })]);
&[(-4.0, 4.0)]; &[edge(&[0.0], 0.0, &[1.0], "slope 1")] }
row! { ACOSH "acosh" "Inverse hyperbolic cosine. `acosh(1.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(acosh);
// 1/(sqrt(x-1)·sqrt(x+1))
Diff::Partials(&[Partial::Expr(|b, p| {
    let less = b.prim(&SUB, &[p.x[0].clone(), p.c(1.0)]);
    let more = b.prim(&ADD, &[p.x[0].clone(), p.c(1.0)]);
    let (less, more) = (b.prim(&SQRT, &[less]), b.prim(&SQRT, &[more]));
    let d = b.prim(&MUL, &[less, more]);
    over(b, p.c(1.0), d)
})]);
&[(1.5, 4.0)]; &[edge(&[1.0], 0.0, &[INF], "vertical tangent")] }
row! { ATANH "atanh" "Inverse hyperbolic tangent. `atanh(0.0)` is `0.0`.";
Sig::Same(1, FLOATS); 8; f1!(atanh);
Diff::Partials(&[Partial::Expr(|b, p| { let i = one_and_square(b, p, &SUB); over(b, p.c(1.0), i) })]);
&[(-0.8, 0.8)]; &[edge(&[1.0], INF, &[INF], "a pole")] }

// x/y where y is the result, 0 at the origin
fn hypot_by(b: &mut Builder, p: &At, k: usize) -> Atom {
    let d = over(b, p.x[k].clone(), p.y.clone());
    let origin = b.prim(&super::compare::EQ, &[p.y.clone(), p.c(0.0)]);
    b.select(origin, p.c(0.0), d)
}
row! { HYPOT "hypot" "Length of (x, y) without overflow. `hypot(3.0, 4.0)` is `5.0`.";
Sig::Same(2, FLOATS); 8; f2!(hypot);
Diff::Partials(&[Partial::Expr(|b, p| hypot_by(b, p, 0)), Partial::Expr(|b, p| hypot_by(b, p, 1))]);
&[(-4.0, 4.0), (0.5, 4.0)]; &[edge(&[0.0, 0.0], 0.0, &[0.0, 0.0], "as the norm at 0")] }
row! { SIGMOID "sigmoid" "Logistic function, `1/(1 + exp(-x))`. `sigmoid(0.0)` is `0.5`.";
Sig::Same(1, FLOATS); 8; f1!(sigmoid);
// sigmoid' = s·(1 - s)
Diff::Partials(&[Partial::Expr(|b, p| {
    let rest = b.prim(&SUB, &[p.c(1.0), p.y.clone()]);
    b.prim(&MUL, &[p.y.clone(), rest])
})]);
&[(-4.0, 4.0)]; &[edge(&[-INF], 0.0, &[0.0], "limit"), edge(&[INF], 1.0, &[0.0], "limit")] }
row! { SOFTPLUS "softplus" "`log(1 + exp(x))` without overflow. `softplus(1000.0)` is `1000.0`.";
Sig::Same(1, FLOATS); 8; f1!(softplus);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&SIGMOID, &[p.x[0].clone()]))]);
&[(-4.0, 4.0)]; &[edge(&[-INF], 0.0, &[0.0], "limit"), edge(&[1000.0], 1000.0, &[1.0], "the line x")] }
