//! AST to Core: names, types, sizes, classes, linearity, elaboration.

mod arena;
mod arith;
mod ask;
mod builtins;
mod checker;
mod classes;
mod constraint;
mod data;
mod declare;
mod default;
mod derivative;
mod elaborate;
mod errors;
mod exhaustive;
mod imports;
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

pub use imports::{Loader, NoModules, Source};
pub use session::{Checked, Options, Session};

#[cfg(test)]
mod tests;
