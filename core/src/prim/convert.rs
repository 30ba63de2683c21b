//! Conversion and rounding.

use super::{Diff, Inst, Kernel, Partial, PrimDef, Sig, edge, f1, row};
use crate::ty::Scalar;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] =
    &[&TO_F64, &TO_F32, &TO_INT, &WIDEN, &NARROW, &FLOOR, &CEIL, &ROUND, &TRUNC, &INT_COPY];

row! { TO_F64 "to_f64" "An Int or Bool as an F64. `float(2)` is `2.0`.";
Sig::To(1, &[Scalar::Int, Scalar::Bool], Scalar::F64); 1; Kernel::Inst(Inst::ToF64); Diff::Zero; &[(-9.0, 9.0)]; &[] }
row! { TO_F32 "to_f32" "An Int or Bool as an F32. `f32(2)` is `2.0`.";
Sig::To(1, &[Scalar::Int, Scalar::Bool], Scalar::F32); 1; Kernel::Inst(Inst::ToF32); Diff::Zero; &[(-9.0, 9.0)]; &[] }
row! { TO_INT "to_int" "A float truncated to an Int (NaN or out of range fails), or a Bool as 0 or 1. `int(2.7)` is `2`.";
Sig::To(1, &[Scalar::F64, Scalar::F32, Scalar::Bool], Scalar::Int); 1; Kernel::Inst(Inst::ToInt); Diff::Zero;
&[(-9.0, 9.0)]; &[edge(&[-2.7], -2.0, &[], "toward zero")] }
row! { WIDEN "widen" "An F32 as an F64, exactly. `f64(f32(0.5))` is `0.5`.";
Sig::Fixed(&[Scalar::F32], Scalar::F64); 1; Kernel::Inst(Inst::ToF64);
Diff::Partials(&[Partial::One]); &[(-4.0, 4.0)]; &[] }
row! { NARROW "narrow" "An F64 rounded to an F32. `f32(0.5)` is `0.5`.";
Sig::Fixed(&[Scalar::F64], Scalar::F32); 1; Kernel::Inst(Inst::ToF32);
Diff::Partials(&[Partial::One]); &[(-4.0, 4.0)]; &[edge(&[1e300], f64::INFINITY, &[], "out of range of F32")] }
row! { FLOOR "floor" "Greatest whole number not above. `floor(-1.5)` is `-2.0`.";
Sig::Same(1, super::FLOATS); 1; f1!(floor); Diff::Zero; &[(0.1, 0.9)]; &[edge(&[2.0], 2.0, &[], "itself")] }
row! { CEIL "ceil" "Least whole number not below. `ceil(-1.5)` is `-1.0`.";
Sig::Same(1, super::FLOATS); 1; f1!(ceil); Diff::Zero; &[(0.1, 0.9)]; &[edge(&[2.0], 2.0, &[], "itself")] }
row! { ROUND "round" "Nearest whole number, half to even. `round(2.5)` is `2.0`.";
Sig::Same(1, super::FLOATS); 1; f1!(round); Diff::Zero; &[(0.6, 0.9)]; &[edge(&[3.5], 4.0, &[], "half to even")] }
row! { TRUNC "trunc" "Whole part, toward zero. `trunc(-1.5)` is `-1.0`.";
Sig::Same(1, super::FLOATS); 1; f1!(trunc); Diff::Zero; &[(0.1, 0.9)]; &[edge(&[-2.5], -2.0, &[], "toward zero")] }
row! { INT_COPY "icopy" "An Int itself. `int(2)` is `2`.";
Sig::Same(1, &[Scalar::Int]); 1; Kernel::Inst(Inst::Copy); Diff::Zero; &[(-9.0, 9.0)]; &[] }
