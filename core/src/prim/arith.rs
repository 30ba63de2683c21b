//! Arithmetic: `+ - * / %`, powers, absolute value, least and greatest, bits.

use super::compare::{EQ, LT};
use super::{At, Diff, FLOATS, Inst, Kernel, NUMBERS, Partial, PrimDef, Sig, edge, f1, f2, row};
use crate::build::Builder;
use crate::ir::Atom;
use crate::prim::transcendental::LOG;
use crate::ty::Scalar;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] = &[
    &ADD, &SUB, &MUL, &DIV, &NEG, &REM, &ABS, &SIGN, &MIN, &MAX, &POSITIVE, &RELU, &POWI, &POW, &INT_ABS,
    &INT_MIN, &INT_MAX, &INT_SIGN, &INT_DIV, &INT_MOD, &INT_QUOT, &INT_REM, &INT_POW, &BIT_AND, &BIT_OR,
    &BIT_XOR, &BIT_NOT, &SHL, &SHR, &STOP, &PARAMETER,
];

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const INTS: &[Scalar] = &[Scalar::Int];

row! { ADD "add" "Sum. `2.0 + 3.0` is `5.0`.";
Sig::Same(2, NUMBERS); 1; Kernel::Inst(Inst::Add);
Diff::Partials(&[Partial::One, Partial::One]);
&[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[INF, -INF], NAN, &[1.0, 1.0], "IEEE: the limit is indeterminate")] }

row! { SUB "sub" "Difference. `2.0 - 3.0` is `-1.0`.";
Sig::Same(2, NUMBERS); 1; Kernel::Inst(Inst::Sub);
Diff::Partials(&[Partial::One, Partial::MinusOne]);
&[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[INF, INF], NAN, &[1.0, -1.0], "IEEE: the limit is indeterminate")] }

row! { MUL "mul" "Product. `2.0 * 3.0` is `6.0`.";
Sig::Same(2, NUMBERS); 1; Kernel::Inst(Inst::Mul);
// d(x·y) = y·dx + x·dy
Diff::Partials(&[Partial::Expr(|_, p| p.x[1].clone()), Partial::Expr(|_, p| p.x[0].clone())]);
&[(-4.0, 4.0), (0.5, 3.0)];
&[edge(&[0.0, INF], NAN, &[INF, 0.0], "IEEE: 0·∞ is indeterminate")] }

// 1/y
fn recip_y(b: &mut Builder, p: &At) -> Atom {
    b.prim(&DIV, &[p.c(1.0), p.x[1].clone()])
}
// -(x/y)/y
fn minus_quotient_over_y(b: &mut Builder, p: &At) -> Atom {
    let q = b.prim(&DIV, &[p.y.clone(), p.x[1].clone()]);
    b.prim(&NEG, &[q])
}
row! { DIV "div" "Quotient of floats. `1.0 / 4.0` is `0.25`.";
Sig::Same(2, FLOATS); 4; Kernel::Inst(Inst::Div);
// d(x/y) = dx/y - (x/y)/y·dy
Diff::Partials(&[Partial::Expr(recip_y), Partial::Expr(minus_quotient_over_y)]);
&[(-4.0, 4.0), (0.5, 3.0)];
&[edge(&[1.0, 0.0], INF, &[], "IEEE: a pole"), edge(&[0.0, 0.0], NAN, &[], "IEEE: indeterminate")] }

row! { NEG "neg" "Sign change. `-(2.0)` is `-2.0`.";
Sig::Same(1, NUMBERS); 1; Kernel::Inst(Inst::Neg);
Diff::Partials(&[Partial::MinusOne]);
&[(-4.0, 4.0)];
&[edge(&[0.0], -0.0, &[-1.0], "IEEE")] }

// -floor(x/y)
fn rem_by_y(b: &mut Builder, p: &At) -> Atom {
    let q = b.prim(&DIV, &[p.x[0].clone(), p.x[1].clone()]);
    let f = b.prim(&super::convert::FLOOR, &[q]);
    b.prim(&NEG, &[f])
}
row! { REM "rem" "Floor remainder of floats, `x - floor(x/y)*y`. `5.5 % 2.0` is `1.5`.";
Sig::Same(2, FLOATS); 8; f2!(rem_floor);
Diff::Partials(&[Partial::One, Partial::Expr(rem_by_y)]);
&[(0.1, 0.9), (1.5, 1.9)];
&[edge(&[-1.0, 3.0], 2.0, &[1.0, 1.0], "the sign of the divisor"), edge(&[1.0, 0.0], NAN, &[], "no quotient")] }

row! { ABS "abs" "Absolute value. `abs(-2.0)` is `2.0`.";
Sig::Same(1, FLOATS); 1; Kernel::Inst(Inst::Abs);
// abs' = sign, 0 at 0
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&SIGN, &[p.x[0].clone()]))]);
&[(0.5, 4.0)];
&[edge(&[0.0], 0.0, &[0.0], "a kink: the mean of both sides"), edge(&[-3.0], 3.0, &[-1.0], "left branch")] }

row! { SIGN "sign" "Sign: -1, 0 or 1. `sign(-2.0)` is `-1.0`.";
Sig::Same(1, FLOATS); 1; f1!(sign);
Diff::Zero;
&[(0.5, 4.0)];
&[edge(&[0.0], 0.0, &[], "neither"), edge(&[NAN], NAN, &[], "NaN stays NaN")] }

// 1 where x < y, 1/2 at a tie, 0 else; `flip` for the other operand or for max
fn share(b: &mut Builder, p: &At, first: usize, second: usize) -> Atom {
    let less = b.prim(&LT, &[p.x[first].clone(), p.x[second].clone()]);
    let tie = b.prim(&EQ, &[p.x[0].clone(), p.x[1].clone()]);
    let (less, tie) = (b.float_of(less, p.s), b.float_of(tie, p.s));
    let half = b.prim(&MUL, &[p.c(0.5), tie]);
    b.prim(&ADD, &[less, half])
}
row! { MIN "min" "Lesser of two floats; NaN wins, -0.0 is below 0.0. `min(1.0, 2.0)` is `1.0`.";
Sig::Same(2, FLOATS); 1; f2!(min);
Diff::Partials(&[Partial::Expr(|b, p| share(b, p, 0, 1)), Partial::Expr(|b, p| share(b, p, 1, 0))]);
&[(-4.0, -1.0), (1.0, 4.0)];
&[edge(&[1.0, 1.0], 1.0, &[0.5, 0.5], "a tie is shared"), edge(&[NAN, 1.0], NAN, &[], "NaN wins")] }

row! { MAX "max" "Greater of two floats; NaN wins, -0.0 is below 0.0. `max(1.0, 2.0)` is `2.0`.";
Sig::Same(2, FLOATS); 1; f2!(max);
Diff::Partials(&[Partial::Expr(|b, p| share(b, p, 1, 0)), Partial::Expr(|b, p| share(b, p, 0, 1))]);
&[(-4.0, -1.0), (1.0, 4.0)];
&[edge(&[1.0, 1.0], 1.0, &[0.5, 0.5], "a tie is shared"), edge(&[1.0, NAN], NAN, &[], "NaN wins")] }

extern "C" fn positive_wide(x: f64) -> f64 {
    if 0.0 < x { 1.0 } else { 0.0 }
}
extern "C" fn positive_narrow(x: f32) -> f32 {
    if 0.0 < x { 1.0 } else { 0.0 }
}
extern "C" fn relu_wide(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}
extern "C" fn relu_narrow(x: f32) -> f32 {
    if x <= 0.0 { 0.0 } else { x }
}
row! { POSITIVE "positive" "1 above 0, else 0 (NaN gives 0): the derivative of `relu`. `positive(2.0)` is `1.0`.";
Sig::Same(1, FLOATS); 1; Kernel::F1(positive_wide, positive_narrow);
Diff::Zero;
&[(0.5, 4.0)];
&[edge(&[0.0], 0.0, &[], "as relu'(0) = 0")] }

row! { RELU "relu" "The positive part. `relu(-1.0)` is `0.0`.";
Sig::Same(1, FLOATS); 1; Kernel::F1(relu_wide, relu_narrow);
Diff::Partials(&[Partial::Expr(|b, p| b.prim(&POSITIVE, &[p.x[0].clone()]))]);
&[(0.5, 4.0)];
&[edge(&[0.0], 0.0, &[0.0], "relu'(0) = 0 by definition"), edge(&[NAN], NAN, &[], "NaN stays NaN")] }

// k·x^(k-1), and 0 at k = 0
fn powi_by_x(b: &mut Builder, p: &At) -> Atom {
    let (x, k) = (p.x[0].clone(), p.x[1].clone());
    match k.as_int() {
        Some(0) => return p.c(0.0),
        Some(1) => return p.c(1.0),
        Some(2) => return b.prim(&MUL, &[p.c(2.0), x]),
        Some(_) | None => {}
    }
    // k = 0: 0·x^0 = 0, also at x = 0.
    let zero = b.prim(&EQ, &[k.clone(), Atom::int(0)]);
    let zero = b.prim(&super::convert::TO_INT, &[zero]);
    let less = b.prim(&SUB, &[k.clone(), Atom::int(1)]);
    let less = b.prim(&ADD, &[less, zero]);
    let power = b.prim(&POWI, &[x, less]);
    let k = b.float_of(k, p.s);
    b.prim(&MUL, &[k, power])
}
extern "C" fn powi_wide(x: f64, k: i64) -> f64 {
    adl_math::double::powi(x, k)
}
extern "C" fn powi_narrow(x: f32, k: i64) -> f32 {
    adl_math::single::powi(x, k)
}
row! { POWI "powi" "A float to an Int power, by repeated squaring. `2.0 ^ 10` is `1024.0`.";
Sig::FloatInt; 8; Kernel::FInt(powi_wide, powi_narrow);
Diff::Partials(&[Partial::Expr(powi_by_x), Partial::Zero]);
&[(0.5, 2.0), (3.0, 3.0)];
&[edge(&[0.0, 0.0], 1.0, &[0.0, 0.0], "0^0 = 1, constant in x"), edge(&[0.0, 1.0], 0.0, &[1.0, 0.0], "the line x"),
  edge(&[0.0, 2.0], 0.0, &[0.0, 0.0], "the parabola")] }

// y·x^(y-1), 0 where y = 0
fn pow_by_x(b: &mut Builder, p: &At) -> Atom {
    let less = b.prim(&SUB, &[p.x[1].clone(), p.c(1.0)]);
    let power = b.prim(&POW, &[p.x[0].clone(), less]);
    let d = b.prim(&MUL, &[p.x[1].clone(), power]);
    let flat = b.prim(&EQ, &[p.x[1].clone(), p.c(0.0)]);
    b.select(flat, p.c(0.0), d)
}
// x^y·log x, 0 where x = 0 and y > 0
fn pow_by_y(b: &mut Builder, p: &At) -> Atom {
    let log = b.prim(&LOG, &[p.x[0].clone()]);
    let d = b.prim(&MUL, &[p.y.clone(), log]);
    let flat = b.prim(&EQ, &[p.y.clone(), p.c(0.0)]);
    b.select(flat, p.c(0.0), d)
}
row! { POW "pow" "A float to a float power. `4.0 ^ 0.5` is `2.0`.";
Sig::Same(2, FLOATS); 8; f2!(pow);
Diff::Partials(&[Partial::Expr(pow_by_x), Partial::Expr(pow_by_y)]);
&[(0.5, 3.0), (-2.0, 2.0)];
&[edge(&[0.0, 2.0], 0.0, &[0.0, 0.0], "flat in both"), edge(&[0.0, 0.0], 1.0, &[0.0, -INF], "0^0 = 1; falls off at once in y"),
  edge(&[2.0, 0.0], 1.0, &[0.0, std::f64::consts::LN_2], "constant in x"), edge(&[-2.0, 0.5], NAN, &[], "not real")] }

row! { INT_ABS "iabs" "Absolute value of an Int. `abs(-2)` is `2`.";
Sig::Same(1, INTS); 1; Kernel::Inst(Inst::Abs); Diff::Zero; &[(-9.0, 9.0)]; &[] }
row! { INT_MIN "imin" "Lesser of two Ints. `min(1, 2)` is `1`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::IntMin); Diff::Zero; &[(-9.0, 9.0), (-9.0, 9.0)]; &[] }
row! { INT_MAX "imax" "Greater of two Ints. `max(1, 2)` is `2`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::IntMax); Diff::Zero; &[(-9.0, 9.0), (-9.0, 9.0)]; &[] }
row! { INT_SIGN "isign" "Sign of an Int. `sign(-2)` is `-1`.";
Sig::Same(1, INTS); 1; Kernel::Inst(Inst::IntSign); Diff::Zero; &[(-9.0, 9.0)]; &[] }
row! { INT_DIV "idiv" "Floor quotient of Ints; by 0 an error. `div(-7, 2)` is `-4`.";
Sig::Same(2, INTS); 4; Kernel::Inst(Inst::IntDiv); Diff::Zero; &[(-9.0, 9.0), (1.0, 9.0)]; &[] }
row! { INT_MOD "imod" "Floor remainder of Ints, with the sign of the divisor. `mod(-7, 2)` is `1`.";
Sig::Same(2, INTS); 4; Kernel::Inst(Inst::IntMod); Diff::Zero; &[(-9.0, 9.0), (1.0, 9.0)]; &[] }
row! { INT_QUOT "iquot" "Truncated quotient of Ints. `quot(-7, 2)` is `-3`.";
Sig::Same(2, INTS); 4; Kernel::Inst(Inst::IntQuot); Diff::Zero; &[(-9.0, 9.0), (1.0, 9.0)]; &[] }
row! { INT_REM "irem" "Truncated remainder of Ints. `rem(-7, 2)` is `-1`.";
Sig::Same(2, INTS); 4; Kernel::Inst(Inst::IntRem); Diff::Zero; &[(-9.0, 9.0), (1.0, 9.0)]; &[] }
row! { INT_POW "ipow" "An Int to an Int power, wrapping; of 0 to a negative power fails. `2 ^ 10` is `1024`.";
Sig::Same(2, INTS); 8; Kernel::Inst(Inst::IntPow); Diff::Zero; &[(-3.0, 3.0), (0.0, 5.0)]; &[] }
row! { BIT_AND "bit_and" "Bitwise and. `bit_and(6, 3)` is `2`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::And); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { BIT_OR "bit_or" "Bitwise or. `bit_or(6, 3)` is `7`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::Or); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { BIT_XOR "bit_xor" "Bitwise exclusive or. `bit_xor(6, 3)` is `5`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::Xor); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { BIT_NOT "bit_not" "All bits flipped. `bit_not(0)` is `-1`.";
Sig::Same(1, INTS); 1; Kernel::Inst(Inst::Not); Diff::Zero; &[(0.0, 9.0)]; &[] }
row! { SHL "shift_left" "Shift left by k mod 64. `shift_left(1, 4)` is `16`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::Shl); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { SHR "shift_right" "Arithmetic shift right by k mod 64. `shift_right(-16, 2)` is `-4`.";
Sig::Same(2, INTS); 1; Kernel::Inst(Inst::Shr); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { STOP "stop" "The float itself, constant to derivatives. `stop_gradient(2.0)` is `2.0`.";
Sig::Same(1, FLOATS); 1; Kernel::Inst(Inst::Copy); Diff::Zero; &[(-4.0, 4.0)]; &[] }
row! { PARAMETER "parameter" "The float itself, the parameter of a discrete draw. `bernoulli(1.0, key(1))` is `true`.";
Sig::Same(1, FLOATS); 1; Kernel::Inst(Inst::Copy);
Diff::Undefined("a discrete draw has no derivative in its parameters; take them by `stop_gradient` if that is meant");
&[(-4.0, 4.0)]; &[] }
