//! Shared by the tests: derivatives of first-order functions as functions, and comparison of values.

pub mod harness;
