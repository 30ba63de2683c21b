//! Whole-number division and the conversions between whole and floating numbers.
//!
//! Nothing here traps: a zero divisor and a number out of range are `None`, and the one quotient
//! that overflows wraps.

/// `x / y` rounded towards minus infinity; `None` if `y` is 0.
#[must_use]
pub fn div_floor(x: i64, y: i64) -> Option<i64> {
    if y == 0 {
        return None;
    }
    let (q, r) = (x.wrapping_div(y), x.wrapping_rem(y));
    Some(if r != 0 && (r < 0) != (y < 0) { q - 1 } else { q })
}

/// The remainder of [`div_floor`], which has the sign of `y`; `None` if `y` is 0.
#[must_use]
pub fn mod_floor(x: i64, y: i64) -> Option<i64> {
    if y == 0 {
        return None;
    }
    let r = x.wrapping_rem(y);
    Some(if r != 0 && (r < 0) != (y < 0) { r + y } else { r })
}

/// `x / y` rounded towards 0; `None` if `y` is 0.
#[must_use]
pub fn quot(x: i64, y: i64) -> Option<i64> {
    (y != 0).then(|| x.wrapping_div(y))
}

/// The remainder of [`quot`], which has the sign of `x`; `None` if `y` is 0.
#[must_use]
pub fn rem(x: i64, y: i64) -> Option<i64> {
    (y != 0).then(|| x.wrapping_rem(y))
}

/// `x^k` by repeated squaring, wrapping. A negative `k` has a whole result for 1 and -1 only;
/// it is `None` for 0 and 0 for all others, the inverse rounded towards 0.
#[must_use]
pub fn powi(x: i64, k: i64) -> Option<i64> {
    if k < 0 {
        return match x {
            0 => None,
            1 => Some(1),
            -1 => Some(if k % 2 == 0 { 1 } else { -1 }),
            _ => Some(0),
        };
    }
    let (mut base, mut left, mut acc) = (x, k.unsigned_abs(), 1_i64);
    while left != 0 {
        if left & 1 == 1 {
            acc = acc.wrapping_mul(base);
        }
        left >>= 1;
        base = base.wrapping_mul(base);
    }
    Some(acc)
}

/// `x` without its fraction; `None` if it is NaN or does not fit.
#[must_use]
pub fn from_f64(x: f64) -> Option<i64> {
    // -2^63 fits and 2^63 does not; both are exact floats.
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x).then_some(x as i64)
}

/// `x` without its fraction; `None` if it is NaN or does not fit.
#[must_use]
pub fn from_f32(x: f32) -> Option<i64> {
    from_f64(f64::from(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_and_truncation_differ_on_mixed_signs() {
        let pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2)];
        assert_eq!(pairs.map(|(x, y)| div_floor(x, y).unwrap()), [3, -4, -4, 3]);
        assert_eq!(pairs.map(|(x, y)| mod_floor(x, y).unwrap()), [1, 1, -1, -1]);
        assert_eq!(pairs.map(|(x, y)| quot(x, y).unwrap()), [3, -3, -3, 3]);
        assert_eq!(pairs.map(|(x, y)| rem(x, y).unwrap()), [1, -1, 1, -1]);
    }

    #[test]
    fn no_division_traps() {
        assert_eq!([div_floor(1, 0), mod_floor(1, 0), quot(1, 0), rem(1, 0)], [None; 4]);
        assert_eq!(div_floor(i64::MIN, -1), Some(i64::MIN));
        assert_eq!(quot(i64::MIN, -1), Some(i64::MIN));
        assert_eq!((mod_floor(i64::MIN, -1), rem(i64::MIN, -1)), (Some(0), Some(0)));
    }

    #[test]
    fn powers() {
        assert_eq!([powi(0, 0), powi(3, 4), powi(-2, 3)], [Some(1), Some(81), Some(-8)]);
        assert_eq!([powi(0, -1), powi(-1, -3), powi(5, -1)], [None, Some(-1), Some(0)]);
    }

    #[test]
    fn conversions_are_checked_at_both_ends() {
        assert_eq!([from_f64(2.9), from_f64(-2.9)], [Some(2), Some(-2)]);
        assert_eq!(from_f64(-9.223_372_036_854_776e18), Some(i64::MIN));
        assert_eq!([from_f64(9.223_372_036_854_776e18), from_f64(f64::NAN)], [None, None]);
        assert_eq!(from_f32(f32::INFINITY), None);
    }
}
