//! What a row computes, on scalar values: the meaning that every executor has to match.

use std::sync::Arc;

use super::{Inst, Kernel, PrimDef};
use crate::ty::Scalar;

/// A scalar value.
#[derive(Clone, Debug)]
pub enum S {
    /// 64-bit float.
    F64(f64),
    /// 32-bit float.
    F32(f32),
    /// Integer.
    Int(i64),
    /// Truth value.
    Bool(bool),
    /// Text.
    Str(Arc<str>),
    /// The bits of a random key.
    Key(u64),
}

/// Why a primitive failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimError {
    /// Integer division by zero.
    DivZero,
    /// A float that has no Int.
    IntRange,
}

impl S {
    /// Its type.
    pub fn scalar(&self) -> Scalar {
        match self {
            S::F64(_) => Scalar::F64,
            S::F32(_) => Scalar::F32,
            S::Int(_) => Scalar::Int,
            S::Bool(_) => Scalar::Bool,
            S::Str(_) => Scalar::Str,
            S::Key(_) => Scalar::Key,
        }
    }

    /// 64 bits of an Int or a key.
    #[expect(clippy::cast_possible_wrap, reason = "bits of a key travel as an Int")]
    fn bits(&self) -> i64 {
        match self {
            S::Int(i) => *i,
            S::Key(k) => *k as i64,
            S::F64(_) | S::F32(_) | S::Bool(_) | S::Str(_) => unreachable!("not 64-bit integers: {self:?}"),
        }
    }

    #[expect(clippy::cast_sign_loss, reason = "bits of a key travel as an Int")]
    fn from_bits(bits: i64, scalar: Scalar) -> S {
        if scalar == Scalar::Key { S::Key(bits as u64) } else { S::Int(bits) }
    }
}

impl PrimDef {
    /// Applies the row to operands of types it takes.
    ///
    /// # Errors
    ///
    /// [`PrimError`] for rows that can fail.
    ///
    /// # Panics
    ///
    /// If the operands do not fit the row, which is a mistake of the compiler.
    pub fn apply(&self, x: &[S]) -> Result<S, PrimError> {
        let result = || {
            let scalars: Vec<Scalar> = x.iter().map(S::scalar).collect();
            self.result(&scalars).unwrap_or_else(|| panic!("operands of `{}` do not fit: {x:?}", self.name))
        };
        Ok(match (&self.kernel, x) {
            (Kernel::Inst(inst), _) => return inst.apply(x),
            (Kernel::F1(f, _), [S::F64(x)]) => S::F64(f(*x)),
            (Kernel::F1(_, f), [S::F32(x)]) => S::F32(f(*x)),
            (Kernel::F2(f, _), [S::F64(x), S::F64(y)]) => S::F64(f(*x, *y)),
            (Kernel::F2(_, f), [S::F32(x), S::F32(y)]) => S::F32(f(*x, *y)),
            (Kernel::FInt(f, _), [S::F64(x), S::Int(k)]) => S::F64(f(*x, *k)),
            (Kernel::FInt(_, f), [S::F32(x), S::Int(k)]) => S::F32(f(*x, *k)),
            (Kernel::I1(f), [a]) => S::from_bits(f(a.bits()), result()),
            (Kernel::I2(f), [a, b]) => S::from_bits(f(a.bits(), b.bits()), result()),
            (Kernel::I3(f), [a, b, c]) => S::from_bits(f(a.bits(), b.bits(), c.bits()), result()),
            (Kernel::I2F(f), [a, b]) => S::F64(f(a.bits(), b.bits())),
            (Kernel::StrCat, [S::Str(a), S::Str(b)]) => S::Str(format!("{a}{b}").into()),
            _ => panic!("operands of `{}` do not fit: {x:?}", self.name),
        })
    }
}

impl Inst {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "conversions round")]
    fn apply(self, x: &[S]) -> Result<S, PrimError> {
        use adl_math::int;
        Ok(match (self, x) {
            (Inst::Add, [S::F64(x), S::F64(y)]) => S::F64(x + y),
            (Inst::Add, [S::F32(x), S::F32(y)]) => S::F32(x + y),
            (Inst::Add, [S::Int(x), S::Int(y)]) => S::Int(x.wrapping_add(*y)),
            (Inst::Sub, [S::F64(x), S::F64(y)]) => S::F64(x - y),
            (Inst::Sub, [S::F32(x), S::F32(y)]) => S::F32(x - y),
            (Inst::Sub, [S::Int(x), S::Int(y)]) => S::Int(x.wrapping_sub(*y)),
            (Inst::Mul, [S::F64(x), S::F64(y)]) => S::F64(x * y),
            (Inst::Mul, [S::F32(x), S::F32(y)]) => S::F32(x * y),
            (Inst::Mul, [S::Int(x), S::Int(y)]) => S::Int(x.wrapping_mul(*y)),
            (Inst::Div, [S::F64(x), S::F64(y)]) => S::F64(x / y),
            (Inst::Div, [S::F32(x), S::F32(y)]) => S::F32(x / y),
            (Inst::Neg, [S::F64(x)]) => S::F64(-x),
            (Inst::Neg, [S::F32(x)]) => S::F32(-x),
            (Inst::Neg, [S::Int(x)]) => S::Int(x.wrapping_neg()),
            (Inst::Abs, [S::F64(x)]) => S::F64(x.abs()),
            (Inst::Abs, [S::F32(x)]) => S::F32(x.abs()),
            (Inst::Abs, [S::Int(x)]) => S::Int(x.wrapping_abs()),
            (Inst::Sqrt, [S::F64(x)]) => S::F64(adl_math::double::sqrt(*x)),
            (Inst::Sqrt, [S::F32(x)]) => S::F32(adl_math::single::sqrt(*x)),
            (Inst::IntDiv, [S::Int(x), S::Int(y)]) => {
                S::Int(int::div_floor(*x, *y).ok_or(PrimError::DivZero)?)
            }
            (Inst::IntMod, [S::Int(x), S::Int(y)]) => {
                S::Int(int::mod_floor(*x, *y).ok_or(PrimError::DivZero)?)
            }
            (Inst::IntQuot, [S::Int(x), S::Int(y)]) => S::Int(int::quot(*x, *y).ok_or(PrimError::DivZero)?),
            (Inst::IntRem, [S::Int(x), S::Int(y)]) => S::Int(int::rem(*x, *y).ok_or(PrimError::DivZero)?),
            (Inst::IntPow, [S::Int(x), S::Int(k)]) => S::Int(int::powi(*x, *k).ok_or(PrimError::DivZero)?),
            (Inst::IntMin, [S::Int(x), S::Int(y)]) => S::Int(*x.min(y)),
            (Inst::IntMax, [S::Int(x), S::Int(y)]) => S::Int(*x.max(y)),
            (Inst::IntSign, [S::Int(x)]) => S::Int(x.signum()),
            (Inst::Eq, [a, b]) => S::Bool(equal(a, b)),
            (Inst::Ne, [a, b]) => S::Bool(!equal(a, b)),
            (Inst::Lt, [a, b]) => S::Bool(order(a, b) == Some(std::cmp::Ordering::Less)),
            (Inst::Le, [a, b]) => S::Bool(matches!(order(a, b), Some(o) if o != std::cmp::Ordering::Greater)),
            (Inst::And, [S::Bool(x), S::Bool(y)]) => S::Bool(*x && *y),
            (Inst::Or, [S::Bool(x), S::Bool(y)]) => S::Bool(*x || *y),
            (Inst::Not, [S::Bool(x)]) => S::Bool(!x),
            (Inst::And, [S::Int(x), S::Int(y)]) => S::Int(x & y),
            (Inst::Or, [S::Int(x), S::Int(y)]) => S::Int(x | y),
            (Inst::Xor, [S::Int(x), S::Int(y)]) => S::Int(x ^ y),
            (Inst::Not, [S::Int(x)]) => S::Int(!x),
            (Inst::Shl, [S::Int(x), S::Int(k)]) => S::Int(x << (k & 63)),
            (Inst::Shr, [S::Int(x), S::Int(k)]) => S::Int(x >> (k & 63)),
            (Inst::ToF64, [S::Int(x)]) => S::F64(*x as f64),
            (Inst::ToF64, [S::Bool(x)]) => S::F64(f64::from(u8::from(*x))),
            (Inst::ToF64, [S::F32(x)]) => S::F64(f64::from(*x)),
            (Inst::ToF32, [S::Int(x)]) => S::F32(*x as f32),
            (Inst::ToF32, [S::Bool(x)]) => S::F32(f32::from(u8::from(*x))),
            (Inst::ToF32, [S::F64(x)]) => S::F32(*x as f32),
            (Inst::ToInt, [S::F64(x)]) => S::Int(int::from_f64(*x).ok_or(PrimError::IntRange)?),
            (Inst::ToInt, [S::F32(x)]) => S::Int(int::from_f32(*x).ok_or(PrimError::IntRange)?),
            (Inst::ToInt, [S::Bool(x)]) => S::Int(i64::from(*x)),
            (Inst::IsNan, [S::F64(x)]) => S::Bool(x.is_nan()),
            (Inst::IsNan, [S::F32(x)]) => S::Bool(x.is_nan()),
            (Inst::IsFinite, [S::F64(x)]) => S::Bool(x.is_finite()),
            (Inst::IsFinite, [S::F32(x)]) => S::Bool(x.is_finite()),
            (Inst::Copy, [x]) => x.clone(),
            (inst, x) => panic!("operands of {inst:?} do not fit: {x:?}"),
        })
    }
}

/// IEEE on floats, equality elsewhere.
fn equal(a: &S, b: &S) -> bool {
    match (a, b) {
        (S::F64(x), S::F64(y)) => x == y,
        (S::F32(x), S::F32(y)) => x == y,
        (S::Key(x), S::Key(y)) => x == y,
        (S::F64(_) | S::F32(_) | S::Int(_) | S::Bool(_) | S::Str(_) | S::Key(_), _) => {
            order(a, b) == Some(std::cmp::Ordering::Equal)
        }
    }
}

/// The order of two values of one type; `None` where NaN takes part.
fn order(a: &S, b: &S) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (S::F64(x), S::F64(y)) => x.partial_cmp(y),
        (S::F32(x), S::F32(y)) => x.partial_cmp(y),
        (S::Int(x), S::Int(y)) => Some(x.cmp(y)),
        (S::Bool(x), S::Bool(y)) => Some(x.cmp(y)),
        (S::Str(x), S::Str(y)) => Some(x.as_bytes().cmp(y.as_bytes())),
        (a, b) => panic!("not ordered: {a:?} and {b:?}"),
    }
}
