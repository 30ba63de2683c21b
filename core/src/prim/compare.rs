//! Comparison and logic.

use super::{Diff, Inst, Kernel, PrimDef, Sig, edge, row};
use crate::ty::Scalar;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] = &[&EQ, &NE, &LT, &LE, &AND, &OR, &NOT, &IS_NAN, &IS_FINITE];

const ANY: &[Scalar] = &[Scalar::F64, Scalar::F32, Scalar::Int, Scalar::Bool, Scalar::Str, Scalar::Key];
const ORDERED: &[Scalar] = &[Scalar::F64, Scalar::F32, Scalar::Int, Scalar::Bool, Scalar::Str];
const BOOLS: &[Scalar] = &[Scalar::Bool];
const NAN: f64 = f64::NAN;

row! { EQ "eq" "Equality; IEEE on floats. `1.0 == 1.0` is `true`.";
Sig::To(2, ANY, Scalar::Bool); 1; Kernel::Inst(Inst::Eq); Diff::Zero; &[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[NAN, NAN], 0.0, &[], "NaN equals nothing"), edge(&[0.0, -0.0], 1.0, &[], "IEEE")] }
row! { NE "ne" "Not equal. `1.0 != 2.0` is `true`.";
Sig::To(2, ANY, Scalar::Bool); 1; Kernel::Inst(Inst::Ne); Diff::Zero; &[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[NAN, NAN], 1.0, &[], "NaN equals nothing")] }
row! { LT "lt" "Less. `1.0 < 2.0` is `true`.";
Sig::To(2, ORDERED, Scalar::Bool); 1; Kernel::Inst(Inst::Lt); Diff::Zero; &[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[NAN, 1.0], 0.0, &[], "NaN is in no order")] }
row! { LE "le" "Less or equal. `2.0 <= 2.0` is `true`.";
Sig::To(2, ORDERED, Scalar::Bool); 1; Kernel::Inst(Inst::Le); Diff::Zero; &[(-4.0, 4.0), (-4.0, 4.0)];
&[edge(&[1.0, NAN], 0.0, &[], "NaN is in no order")] }
row! { AND "and" "Both. `true && false` is `false`.";
Sig::Same(2, BOOLS); 1; Kernel::Inst(Inst::And); Diff::Zero; &[(0.0, 1.0), (0.0, 1.0)]; &[] }
row! { OR "or" "Either. `true || false` is `true`.";
Sig::Same(2, BOOLS); 1; Kernel::Inst(Inst::Or); Diff::Zero; &[(0.0, 1.0), (0.0, 1.0)]; &[] }
row! { NOT "not" "The other truth value. `!true` is `false`.";
Sig::Same(1, BOOLS); 1; Kernel::Inst(Inst::Not); Diff::Zero; &[(0.0, 1.0)]; &[] }
row! { IS_NAN "is_nan" "Is it NaN? `is_nan(0.0)` is `false`.";
Sig::To(1, super::FLOATS, Scalar::Bool); 1; Kernel::Inst(Inst::IsNan); Diff::Zero; &[(-4.0, 4.0)];
&[edge(&[NAN], 1.0, &[], "it is")] }
row! { IS_FINITE "is_finite" "Is it neither NaN nor infinite? `is_finite(0.0)` is `true`.";
Sig::To(1, super::FLOATS, Scalar::Bool); 1; Kernel::Inst(Inst::IsFinite); Diff::Zero; &[(-4.0, 4.0)];
&[edge(&[f64::INFINITY], 0.0, &[], "infinite")] }
