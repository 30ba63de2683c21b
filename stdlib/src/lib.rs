//! The library of adl, written in adl.

/// What every program has without an import.
pub const PRELUDE: &str = include_str!("../adl/prelude.adl");
