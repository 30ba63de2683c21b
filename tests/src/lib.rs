//! Shared by the tests: derivatives of first-order functions as functions, comparison of values, and random
//! programs.

pub mod generate;
pub mod harness;
pub mod host;
pub mod surface;
