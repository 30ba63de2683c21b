//! Core: the typed IR, its printer, parser, lint, primitive table and reference interpreter.

pub mod build;
pub mod ir;
pub mod prim;
pub mod print;
pub mod ty;
pub mod walk;
