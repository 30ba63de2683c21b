//! Special functions that `libm` lacks: the inverse error function, polygamma functions, the beta function.

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

/// The k-th derivative of [`digamma`]; NaN for k < 0, and infinite at 0, -1, -2, … where both sides agree, else NaN.
///
/// Source: Abramowitz and Stegun (1964), 6.4.10 (the zeta function of Hurwitz, here by the formula of Euler and
/// Maclaurin, 23.1.30) and 6.4.7 (reflection).
pub(crate) fn polygamma(x: f64, k: i64) -> f64 {
    match k {
        0 => return digamma(x),
        1 => return trigamma(x),
        _ if k < 0 || x.is_nan() || x == f64::NEG_INFINITY => return f64::NAN,
        _ => {}
    }
    let even = k % 2 == 0;
    if x <= 0.0 && x == x.floor() {
        return if even { f64::NAN } else { f64::INFINITY };
    }
    if x < 0.0 {
        // (-1)^k·ψ_k(1 - x) = ψ_k(x) + π·(the k-th derivative of cot πx)
        let mirrored = polygamma(1.0 - x, k);
        return (if even { mirrored } else { -mirrored }) - PI * cotangent_derivative(x - x.floor(), k);
    }
    let (s, sign) = (k as f64 + 1.0, if even { -1.0 } else { 1.0 });
    let factorial = libm::exp(libm::lgamma(s));
    let exact = if k <= 20 { (1..=k).fold(1.0, |product, j| product * j as f64) } else { factorial };
    sign * exact * hurwitz(s, x)
}

/// `sum over j of (x + j)^-s`, for s ≥ 2 and x > 0.
fn hurwitz(s: f64, x: f64) -> f64 {
    let (mut sum, mut a) = (0.0, x);
    while a < s + 12.0 {
        sum += libm::pow(a, -s);
        a += 1.0;
    }
    if a == f64::INFINITY {
        return sum;
    }
    let power = libm::pow(a, -s);
    let mut term = s / a * power;
    let mut tail = power * a / (s - 1.0) + 0.5 * power;
    for (j, b) in (0_u8..).zip(BERNOULLI) {
        tail += b * term;
        let up = s + 2.0 * f64::from(j) + 1.0;
        term *= up * (up + 1.0) / (a * a);
    }
    sum + tail
}

/// The Bernoulli numbers of even index, divided by the factorial of the index.
const BERNOULLI: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -8.267_195_767_195_767e-7,
    2.087_675_698_786_81e-8,
    -5.284_190_138_687_493e-10,
    1.338_253_653_068_467_9e-11,
    -3.389_680_296_322_583e-13,
    8.586_062_056_277_845e-15,
    -2.174_868_698_558_062e-16,
    5.509_002_828_360_23e-18,
    -1.395_446_468_581_252_3e-19,
];

/// The k-th derivative of `cot(πx)`, a polynomial in the cotangent: that of `c` is `-π(1 + c²)`.
fn cotangent_derivative(fraction: f64, k: i64) -> f64 {
    let c = 1.0 / libm::tan(PI * fraction);
    let mut p = vec![0.0, 1.0];
    for _ in 0..k {
        let mut next = vec![0.0; p.len() + 1];
        for (power, coefficient) in p.iter().enumerate().skip(1) {
            let slope = -PI * coefficient * power as f64;
            next[power - 1] += slope;
            next[power + 1] += slope;
        }
        p = next;
    }
    polynomial(c, &p)
}

/// What the logarithm of the gamma function has beyond the formula of Stirling, for x ≥ 10.
///
/// Source: Abramowitz and Stegun (1964), 6.1.41.
fn stirling_rest(x: f64) -> f64 {
    polynomial(1.0 / (x * x), &STIRLING) / x
}

const STIRLING: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];

/// The logarithm of the absolute value of the beta function, without cancellation for large arguments.
///
/// Source: Didonato and Morris, "Algorithm 708: significant digit computation of the incomplete beta function ratios",
/// ACM TOMS 18 (1992), the cases by size.
pub(crate) fn lbeta(x: f64, y: f64) -> f64 {
    let (p, q) = if y < x { (y, x) } else { (x, y) };
    if q == f64::INFINITY && 0.0 < p {
        return f64::NEG_INFINITY;
    }
    if 10.0 <= p {
        let rest = stirling_rest(p) + stirling_rest(q) - stirling_rest(p + q);
        let ratio = p / (p + q);
        return -0.5 * libm::log(q)
            + 0.918_938_533_204_672_8
            + rest
            + (p - 0.5) * libm::log(ratio)
            + q * libm::log1p(-ratio);
    }
    if 10.0 <= q && 0.0 < p {
        let rest = stirling_rest(q) - stirling_rest(p + q);
        return libm::lgamma(p) + rest + p - p * libm::log(p + q) + (q - 0.5) * libm::log1p(-p / (p + q));
    }
    libm::lgamma(p) + libm::lgamma(q) - libm::lgamma(p + q)
}

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
    fn polygamma_known_values() {
        // By mpmath 1.3: psi(k, x).
        close(polygamma(1.0, 2), -2.404_113_806_319_188_6, 4e-16);
        close(polygamma(0.5, 3), 97.409_091_034_002_44, 4e-16);
        close(polygamma(2.5, 4), -0.313_755_999_506_731_34, 8e-16);
        close(polygamma(30.0, 2), -0.001_148_765_203_728_6, 4e-16);
        close(polygamma(-1.5, 2), -0.236_204_051_641_727_4, 1e-12);
        close(polygamma(-0.25, 3), 1_555.763_312_534_850_6, 1e-13);
        close(polygamma(1e-3, 5), 1.2e20, 1e-13);
        assert!(polygamma(1.0, -1).is_nan() && polygamma(-3.0, 2).is_nan());
        assert_eq!([polygamma(-3.0, 3), polygamma(f64::INFINITY, 2)], [f64::INFINITY, 0.0]);
    }

    #[test]
    fn lbeta_known_values() {
        // By mpmath 1.3: log(beta(x, y)).
        close(lbeta(2.0, 3.0), -2.484_906_649_788_000_3, 4e-16);
        close(lbeta(0.5, 0.5), 1.144_729_885_849_400_2, 4e-16);
        close(lbeta(12.5, 30.0), -25.908_683_991_310_075, 4e-16);
        close(lbeta(1.5, 1e10), -34.659_558_632_583_43, 4e-16);
        close(lbeta(1e5, 1e6), -335_104.496_952_430_4, 4e-16);
        assert_eq!([lbeta(0.0, 1.0), lbeta(1.0, f64::INFINITY)], [f64::INFINITY, f64::NEG_INFINITY]);
        assert!(lbeta(f64::NAN, 20.0).is_nan());
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
