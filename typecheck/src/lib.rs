//! AST to Core: names, types, sizes, classes, linearity, elaboration.

mod arena;
mod arith;
mod builtins;
mod checker;
mod classes;
mod constraint;
mod data;
mod declare;
mod default;
mod elaborate;
mod errors;
mod exhaustive;
mod infer;
mod instance;
mod linear;
mod module;
mod resolve;
mod rules;
mod session;
mod show;
mod signature;
mod tree;
mod types;
mod unify;

pub use session::{Checked, Options, Session};

#[cfg(test)]
mod tests;
