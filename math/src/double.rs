//! Scalar functions of `f64`.
//!
//! Most bodies are `libm`'s, which are plain Rust and give the same bits on every platform.

use crate::special;

/// Each name with the `libm` function behind it.
macro_rules! delegate {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),+) = $body:path;)*) => {
        $($(#[$doc])* #[must_use] pub fn $name($($arg: f64),+) -> f64 { $body($($arg),+) })*
    };
}

delegate! {
    /// `e^x`.
    exp(x) = libm::exp;
    /// `e^x - 1`, accurate near 0.
    expm1(x) = libm::expm1;
    /// Natural logarithm.
    log(x) = libm::log;
    /// `log(1 + x)`, accurate near 0.
    log1p(x) = libm::log1p;
    /// Logarithm to base 2.
    log2(x) = libm::log2;
    /// Logarithm to base 10.
    log10(x) = libm::log10;
    /// Sine of an angle in radians.
    sin(x) = libm::sin;
    /// Cosine of an angle in radians.
    cos(x) = libm::cos;
    /// Tangent of an angle in radians.
    tan(x) = libm::tan;
    /// Inverse sine, in `[-pi/2, pi/2]`.
    asin(x) = libm::asin;
    /// Inverse cosine, in `[0, pi]`.
    acos(x) = libm::acos;
    /// Inverse tangent, in `[-pi/2, pi/2]`.
    atan(x) = libm::atan;
    /// The angle of the point `(x, y)`, in `[-pi, pi]`.
    atan2(y, x) = libm::atan2;
    /// Hyperbolic sine.
    sinh(x) = libm::sinh;
    /// Hyperbolic cosine.
    cosh(x) = libm::cosh;
    /// Hyperbolic tangent.
    tanh(x) = libm::tanh;
    /// Inverse hyperbolic sine.
    asinh(x) = libm::asinh;
    /// Inverse hyperbolic cosine.
    acosh(x) = libm::acosh;
    /// Inverse hyperbolic tangent.
    atanh(x) = libm::atanh;
    /// Cube root.
    cbrt(x) = libm::cbrt;
    /// `sqrt(x^2 + y^2)` without overflow on the way.
    hypot(x, y) = libm::hypot;
    /// `x^y`; `pow(x, 0)` is 1.
    pow(x, y) = libm::pow;
    /// The error function.
    erf(x) = libm::erf;
    /// `1 - erf(x)`, accurate for large `x`.
    erfc(x) = libm::erfc;
    /// Logarithm of the absolute value of the gamma function.
    lgamma(x) = libm::lgamma;
    /// The inverse of the error function.
    erf_inv(x) = special::erf_inv;
    /// The derivative of `lgamma`; NaN at its poles.
    digamma(x) = special::digamma;
    /// The derivative of `digamma`.
    trigamma(x) = special::trigamma;
    /// Logarithm of the absolute value of the beta function.
    lbeta(x, y) = special::lbeta;
}

/// The `k`-th derivative of `digamma`; NaN for a negative `k`.
#[must_use]
pub fn polygamma(x: f64, k: i64) -> f64 {
    special::polygamma(x, k)
}

/// `log(exp(x) + exp(y))`, without overflow.
#[must_use]
pub fn logaddexp(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    if low == high { high + std::f64::consts::LN_2 } else { high + log1p(exp(low - high)) }
}

/// Square root, correctly rounded.
#[must_use]
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// The logistic function `1 / (1 + exp(-x))`, without overflow at either end.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    let e = exp(-x.abs());
    if 0.0 <= x { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// `log(1 + exp(x))`, without overflow.
#[must_use]
pub fn softplus(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    (if 0.0 < x { x } else { 0.0 }) + log1p(exp(-x.abs()))
}

/// The largest whole number not above `x`.
#[must_use]
pub fn floor(x: f64) -> f64 {
    x.floor()
}

/// The smallest whole number not below `x`.
#[must_use]
pub fn ceil(x: f64) -> f64 {
    x.ceil()
}

/// The nearest whole number; halves go to the even one.
#[must_use]
pub fn round(x: f64) -> f64 {
    x.round_ties_even()
}

/// `x` without its fraction.
#[must_use]
pub fn trunc(x: f64) -> f64 {
    x.trunc()
}

/// The remainder that takes the sign of the divisor: `x - floor(x/y)*y`, as written.
#[must_use]
pub fn rem_floor(x: f64, y: f64) -> f64 {
    x - (x / y).floor() * y
}

/// The smaller of two; NaN if either is, and -0 is below +0.
#[must_use]
pub fn min(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x < y || (x == y && x.is_sign_negative()) { x } else { y }
}

/// The larger of two; NaN if either is, and +0 is above -0.
#[must_use]
pub fn max(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if y < x || (x == y && x.is_sign_positive()) { x } else { y }
}

/// -1, 0 or 1 by the sign of `x`; zeros keep their sign and NaN stays NaN.
#[must_use]
pub fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { 1.0_f64.copysign(x) }
}

/// `x^k` by repeated squaring; `powi(x, 0)` is 1, and a negative `k` inverts the power.
#[must_use]
pub fn powi(x: f64, k: i64) -> f64 {
    let (mut base, mut left, mut acc) = (x, k.unsigned_abs(), 1.0);
    while left != 0 {
        if left & 1 == 1 {
            acc *= base;
        }
        left >>= 1;
        if left != 0 {
            base *= base;
        }
    }
    if k < 0 { 1.0 / acc } else { acc }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, rel: f64) {
        assert!((got - want).abs() <= rel * want.abs(), "{got} is not {want}");
    }

    #[test]
    fn round_goes_to_even() {
        assert_eq!([0.5, 1.5, 2.5, -0.5, -1.5].map(round), [0.0, 2.0, 2.0, -0.0, -2.0]);
    }

    #[test]
    fn min_and_max_order_zeros_and_spread_nan() {
        assert!(min(0.0, -0.0).is_sign_negative() && min(-0.0, 0.0).is_sign_negative());
        assert!(max(0.0, -0.0).is_sign_positive() && max(-0.0, 0.0).is_sign_positive());
        assert!(min(f64::NAN, 1.0).is_nan() && max(1.0, f64::NAN).is_nan());
        assert_eq!((min(1.0, 2.0), max(1.0, 2.0)), (1.0, 2.0));
    }

    #[test]
    fn rem_takes_the_sign_of_the_divisor() {
        assert_eq!([rem_floor(7.0, 3.0), rem_floor(-7.0, 3.0), rem_floor(7.0, -3.0)], [1.0, 2.0, -2.0]);
    }

    #[test]
    fn powi_at_its_edges() {
        assert_eq!([powi(0.0, 0), powi(2.0, 10), powi(2.0, -2), powi(-3.0, 3)], [1.0, 1024.0, 0.25, -27.0]);
        assert_eq!(powi(2.0, i64::MIN), 0.0);
    }

    #[test]
    fn pow_at_its_edges() {
        assert_eq!([pow(0.0, 0.0), pow(f64::NAN, 0.0), pow(1.0, f64::NAN)], [1.0, 1.0, 1.0]);
        assert!(pow(-1.0, 0.5).is_nan());
    }

    #[test]
    fn logistic_pair_does_not_overflow() {
        assert_eq!([sigmoid(1e3), sigmoid(-1e3), softplus(1e3), softplus(-1e3)], [1.0, 0.0, 1e3, 0.0]);
        // Values by 40-digit decimal arithmetic.
        close(sigmoid(0.5), 0.622_459_331_201_854_6, 2e-16);
        close(softplus(0.5), 0.974_076_984_180_106_7, 2e-16);
        assert!(sigmoid(f64::NAN).is_nan() && softplus(f64::NAN).is_nan());
    }
}
