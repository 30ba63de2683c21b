//! Elementary and special functions, the fixed order of sums, and random numbers: one definition
//! each, so that every executor gives the same bits.
//!
//! - [`double`] and [`single`]: the scalar functions of `f64` and `f32`.
//! - [`int`]: division, remainders and conversions that never trap.
//! - [`contract`]: sums of products over the axes of two tables.
//! - [`order`]: the order in which sums and products are formed.
//! - [`random`]: Threefry-2x32 keys and the distributions built on them.
//!
//! This is the only crate that calls a transcendental function of the platform or of `libm`.

pub mod contract;
pub mod double;
pub mod int;
pub mod order;
pub mod random;
pub mod single;
mod special;
