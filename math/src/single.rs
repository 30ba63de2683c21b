//! Scalar functions of `f32`.
//!
//! `libm` has its own body for most of them; the others round the `f64` result.

use crate::double;

/// Each name with the `libm` function behind it.
macro_rules! delegate {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),+) = $body:path;)*) => {
        $($(#[$doc])* #[must_use] pub fn $name($($arg: f32),+) -> f32 { $body($($arg),+) })*
    };
}

/// Each name computed in `f64` and rounded once.
macro_rules! rounded {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),+);)*) => {
        $($(#[$doc])* #[must_use] pub fn $name($($arg: f32),+) -> f32 {
            double::$name($(f64::from($arg)),+) as f32
        })*
    };
}

delegate! {
    /// `e^x`.
    exp(x) = libm::expf;
    /// `e^x - 1`, accurate near 0.
    expm1(x) = libm::expm1f;
    /// Natural logarithm.
    log(x) = libm::logf;
    /// `log(1 + x)`, accurate near 0.
    log1p(x) = libm::log1pf;
    /// Logarithm to base 2.
    log2(x) = libm::log2f;
    /// Logarithm to base 10.
    log10(x) = libm::log10f;
    /// Sine of an angle in radians.
    sin(x) = libm::sinf;
    /// Cosine of an angle in radians.
    cos(x) = libm::cosf;
    /// Tangent of an angle in radians.
    tan(x) = libm::tanf;
    /// Inverse sine, in `[-pi/2, pi/2]`.
    asin(x) = libm::asinf;
    /// Inverse cosine, in `[0, pi]`.
    acos(x) = libm::acosf;
    /// Inverse tangent, in `[-pi/2, pi/2]`.
    atan(x) = libm::atanf;
    /// The angle of the point `(x, y)`, in `[-pi, pi]`.
    atan2(y, x) = libm::atan2f;
    /// Hyperbolic sine.
    sinh(x) = libm::sinhf;
    /// Hyperbolic cosine.
    cosh(x) = libm::coshf;
    /// Hyperbolic tangent.
    tanh(x) = libm::tanhf;
    /// Inverse hyperbolic sine.
    asinh(x) = libm::asinhf;
    /// Inverse hyperbolic cosine.
    acosh(x) = libm::acoshf;
    /// Inverse hyperbolic tangent.
    atanh(x) = libm::atanhf;
    /// Cube root.
    cbrt(x) = libm::cbrtf;
    /// `sqrt(x^2 + y^2)` without overflow on the way.
    hypot(x, y) = libm::hypotf;
    /// `x^y`; `pow(x, 0)` is 1.
    pow(x, y) = libm::powf;
    /// The error function.
    erf(x) = libm::erff;
    /// `1 - erf(x)`, accurate for large `x`.
    erfc(x) = libm::erfcf;
    /// Logarithm of the absolute value of the gamma function.
    lgamma(x) = libm::lgammaf;
}

rounded! {
    /// The inverse of the error function.
    erf_inv(x);
    /// The derivative of `lgamma`; NaN at its poles.
    digamma(x);
    /// The derivative of `digamma`.
    trigamma(x);
    /// Logarithm of the absolute value of the beta function.
    lbeta(x, y);
    /// `log(exp(x) + exp(y))`.
    logaddexp(x, y);
    /// The logistic function.
    sigmoid(x);
    /// `log(1 + exp(x))`.
    softplus(x);
    /// The smaller of two; NaN if either is, and -0 is below +0.
    min(x, y);
    /// The larger of two; NaN if either is, and +0 is above -0.
    max(x, y);
    /// -1, 0 or 1 by the sign of `x`; zeros keep their sign and NaN stays NaN.
    sign(x);
}

/// The `k`-th derivative of `digamma`; NaN for a negative `k`.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "rounded to F32")]
pub fn polygamma(x: f32, k: i64) -> f32 {
    double::polygamma(f64::from(x), k) as f32
}

/// Square root, correctly rounded.
#[must_use]
pub fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// The largest whole number not above `x`.
#[must_use]
pub fn floor(x: f32) -> f32 {
    x.floor()
}

/// The smallest whole number not below `x`.
#[must_use]
pub fn ceil(x: f32) -> f32 {
    x.ceil()
}

/// The nearest whole number; halves go to the even one.
#[must_use]
pub fn round(x: f32) -> f32 {
    x.round_ties_even()
}

/// `x` without its fraction.
#[must_use]
pub fn trunc(x: f32) -> f32 {
    x.trunc()
}

/// The remainder that takes the sign of the divisor: `x - floor(x/y)*y`, as written.
#[must_use]
pub fn rem_floor(x: f32, y: f32) -> f32 {
    x - (x / y).floor() * y
}

/// `x^k` by repeated squaring; `powi(x, 0)` is 1, and a negative `k` inverts the power.
#[must_use]
pub fn powi(x: f32, k: i64) -> f32 {
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

    #[test]
    fn agree_with_double_to_a_few_ulp() {
        type Pair = (fn(f32) -> f32, fn(f64) -> f64);
        let pairs: [Pair; 8] = [
            (exp, double::exp),
            (log, double::log),
            (sin, double::sin),
            (tanh, double::tanh),
            (erf, double::erf),
            (cbrt, double::cbrt),
            (softplus, double::softplus),
            (digamma, double::digamma),
        ];
        for (single, double) in pairs {
            for x in [0.25_f32, 0.5, 1.0, 2.75, 9.0] {
                let want = double(f64::from(x));
                assert!((f64::from(single(x)) - want).abs() <= 4.0 * f64::from(f32::EPSILON) * want.abs());
            }
        }
    }

    #[test]
    fn zeros_keep_their_order() {
        assert!(min(0.0, -0.0).is_sign_negative() && max(-0.0, 0.0).is_sign_positive());
        assert_eq!([powi(2.0, 3), round(2.5), rem_floor(-7.0, 3.0)], [8.0, 2.0, 2.0]);
    }
}
