//! Core: the typed IR, its printer, parser, lint, primitive table and reference interpreter.

pub mod account;
pub mod build;
pub mod bulk;
pub mod host;
pub mod interp;
pub mod ir;
pub mod linear;
pub mod lint;
pub mod npy;
pub mod oracle;
pub mod parse;
pub mod prim;
pub mod print;
pub mod reach;
pub mod rule;
pub mod run;
pub mod show;
pub mod ty;
pub mod value;
pub mod walk;
