//! Random keys and draws (Threefry-2x32-20, counter-based), and text.

use adl_math::random::Key;

use super::{Diff, Kernel, PrimDef, Sig, row};
use crate::ty::Scalar;

/// All rows of this file.
pub(super) static TABLE: &[&PrimDef] =
    &[&KEY_NEW, &SPLIT_LEFT, &SPLIT_RIGHT, &FOLD_IN, &UNIFORM_AT, &NORMAL_AT, &BELOW_AT, &STR_CAT];

#[expect(clippy::cast_possible_wrap, reason = "bits of a key travel as an Int")]
fn bits(key: Key) -> i64 {
    key.to_bits() as i64
}
#[expect(clippy::cast_sign_loss, reason = "bits of a key travel as an Int")]
fn key(bits: i64) -> Key {
    Key::from_bits(bits as u64)
}
#[expect(clippy::cast_sign_loss, reason = "a counter")]
fn counter(i: i64) -> u64 {
    i as u64
}

extern "C" fn new(seed: i64) -> i64 {
    bits(Key::new(seed))
}
extern "C" fn left(k: i64) -> i64 {
    bits(key(k).split().0)
}
extern "C" fn right(k: i64) -> i64 {
    bits(key(k).split().1)
}
extern "C" fn fold_in(k: i64, data: i64) -> i64 {
    bits(key(k).fold_in(data))
}
extern "C" fn uniform(k: i64, i: i64) -> f64 {
    key(k).uniform(counter(i))
}
extern "C" fn normal(k: i64, i: i64) -> f64 {
    key(k).normal(counter(i))
}
extern "C" fn below(k: i64, i: i64, n: i64) -> i64 {
    if n <= 0 { 0 } else { key(k).below(counter(i), n) }
}

const K: Scalar = Scalar::Key;
const I: Scalar = Scalar::Int;

row! { KEY_NEW "key" "The key of a seed. `key(1) == key(1)` is `true`.";
Sig::Fixed(&[I], K); 20; Kernel::I1(new); Diff::Zero; &[(0.0, 9.0)]; &[] }
row! { SPLIT_LEFT "split_left" "First of the two keys a key splits into.";
Sig::Fixed(&[K], K); 20; Kernel::I1(left); Diff::Zero; &[(0.0, 9.0)]; &[] }
row! { SPLIT_RIGHT "split_right" "Second of the two keys a key splits into.";
Sig::Fixed(&[K], K); 20; Kernel::I1(right); Diff::Zero; &[(0.0, 9.0)]; &[] }
row! { FOLD_IN "fold_in" "The key of a key and a number. `fold_in(key(1), 2) == fold_in(key(1), 2)` is `true`.";
Sig::Fixed(&[K, I], K); 20; Kernel::I2(fold_in); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { UNIFORM_AT "uniform_at" "Number i of the uniform draws in [0, 1) of a key.";
Sig::Fixed(&[K, I], Scalar::F64); 20; Kernel::I2F(uniform); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { NORMAL_AT "normal_at" "Number i of the standard normal draws of a key.";
Sig::Fixed(&[K, I], Scalar::F64); 40; Kernel::I2F(normal); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0)]; &[] }
row! { BELOW_AT "below_at" "Number i of the draws from 0, …, n-1 of a key.";
Sig::Fixed(&[K, I, I], I); 20; Kernel::I3(below); Diff::Zero; &[(0.0, 9.0), (0.0, 9.0), (1.0, 9.0)]; &[] }
row! { STR_CAT "str_cat" "Two texts, one after the other. `\"a\" ++ \"b\"` is `ab`.";
Sig::Fixed(&[Scalar::Str, Scalar::Str], Scalar::Str); 4; Kernel::StrCat; Diff::Zero; &[(0.0, 1.0), (0.0, 1.0)]; &[] }
