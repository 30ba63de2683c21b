//! Special functions that `libm` lacks: the inverse error function, digamma and trigamma.

use std::f64::consts::PI;

/// Horner's rule, the constant term first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |acc, c| acc * x + c)
}

/// The inverse of `erf` on (-1, 1); infinite at the ends, NaN outside.
///
/// Source: start by Giles, "Approximating the erfinv function", GPU Computing Gems (2010), the
/// single-precision polynomials; then three steps of Halley's method, which triples the digits
/// each time.
pub(crate) fn erf_inv(x: f64) -> f64 {
    if x.is_nan() || 1.0 < x.abs() {
        return f64::NAN;
    }
    if x.abs() == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if x.abs() < 1e-9 {
        // The next term of the series is x^3 pi/12, below half a unit in the last place.
        return x * 0.886_226_925_452_758;
    }
    let size = x.abs();
    let w = -libm::log((1.0 - size) * (1.0 + size));
    let start = if w < 5.0 { polynomial(w - 2.5, &NEAR) } else { polynomial(w.sqrt() - 3.0, &TAIL) };
    let mut y = start * size;
    for _ in 0..3 {
        // The complement keeps all digits where erf is near 1.
        let miss = if size < 0.5 { libm::erf(y) - size } else { (1.0 - size) - libm::erfc(y) };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-y * y);
        let newton = miss / slope;
        y -= newton / (1.0 + y * newton);
    }
    y.copysign(x)
}

const NEAR: [f64; 9] = [
    1.501_409_41,
    0.246_640_727,
    -0.004_177_681_64,
    -0.001_253_725_03,
    0.000_218_580_87,
    -4.391_506_54e-06,
    -3.523_387_7e-06,
    3.432_739_39e-07,
    2.810_226_36e-08,
];

const TAIL: [f64; 9] = [
    2.832_976_82,
    1.001_674_06,
    0.009_438_870_47,
    -0.007_622_461_3,
    0.005_739_507_73,
    -0.003_673_428_44,
    0.001_349_343_22,
    0.000_100_950_558,
    -0.000_200_214_257,
];

/// The logarithmic derivative of the gamma function; NaN at 0, -1, -2, …
///
/// Source: Abramowitz and Stegun (1964), 6.3.7 (reflection), 6.3.5 (recurrence) and 6.3.18
/// (asymptotic series).
pub(crate) fn digamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.0 {
        // The fraction keeps the argument of tan small, where it is accurate.
        let fraction = x - x.floor();
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    let (mut y, mut shift) = (x, 0.0);
    while y < 10.0 {
        shift += 1.0 / y;
        y += 1.0;
    }
    if y == f64::INFINITY {
        return y;
    }
    let u = 1.0 / (y * y);
    libm::log(y) - 0.5 / y - u * polynomial(u, &DIGAMMA) - shift
}

const DIGAMMA: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];

/// The derivative of [`digamma`]; positive infinity at 0, -1, -2, …
///
/// Source: Abramowitz and Stegun (1964), 6.4.7, 6.4.6 and 6.4.12.
pub(crate) fn trigamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x < 0.0 {
        let s = libm::sin(PI * (x - x.floor()));
        return (PI / s) * (PI / s) - trigamma(1.0 - x);
    }
    let (mut y, mut shift) = (x, 0.0);
    while y < 10.0 {
        shift += 1.0 / (y * y);
        y += 1.0;
    }
    let u = 1.0 / (y * y);
    shift + 1.0 / y + 0.5 * u + u / y * polynomial(u, &TRIGAMMA)
}

const TRIGAMMA: [f64; 7] =
    [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, rel: f64) {
        assert!((got - want).abs() <= rel * want.abs(), "{got} is not {want}");
    }

    #[test]
    fn erf_inv_inverts_erf() {
        for x in [-0.999_999_9, -0.9, -0.5, -1e-3, 1e-12, 0.1, 0.499, 0.501, 0.75, 0.999, 0.999_999_999_999] {
            let y = erf_inv(x);
            // An error e in y moves erf by its slope, so compare there.
            let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-y * y);
            assert!((libm::erf(y) - x).abs() <= 4e-16 * (slope * y.abs() + x.abs()), "at {x}");
        }
        // By mpmath 1.3: erfinv(0.5).
        close(erf_inv(0.5), 0.476_936_276_204_469_9, 2e-16);
        assert_eq!([erf_inv(1.0), erf_inv(-1.0), erf_inv(0.0)], [f64::INFINITY, f64::NEG_INFINITY, 0.0]);
        assert!(erf_inv(1.5).is_nan() && erf_inv(-0.0).is_sign_negative());
    }

    #[test]
    fn digamma_known_values() {
        // psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi(-1/2) = psi(1/2) + 2.
        let gamma = 0.577_215_664_901_532_9;
        close(digamma(1.0), -gamma, 1e-15);
        close(digamma(0.5), -gamma - 2.0 * std::f64::consts::LN_2, 1e-15);
        close(digamma(-0.5), 0.036_489_973_978_576_52, 1e-13);
        assert!(digamma(0.0).is_nan() && digamma(-3.0).is_nan() && digamma(-1e300).is_nan());
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        close(digamma(1e10), 23.025_850_929_890_457, 1e-15);
    }

    #[test]
    fn trigamma_known_values() {
        close(trigamma(1.0), PI * PI / 6.0, 1e-15);
        close(trigamma(0.5), PI * PI / 2.0, 1e-15);
        close(trigamma(-0.5), PI * PI / 2.0 + 4.0, 1e-14);
        assert_eq!(trigamma(-2.0), f64::INFINITY);
        assert_eq!(trigamma(f64::INFINITY), 0.0);
    }
}
