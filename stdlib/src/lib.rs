//! The library of adl, written in adl.
