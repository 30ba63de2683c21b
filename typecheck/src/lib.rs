//! AST to Core: names, types, sizes, classes, linearity, elaboration.

mod arena;
mod arith;
mod builtins;
mod checker;
mod classes;
mod constraint;
mod data;
mod default;
mod errors;
mod exhaustive;
mod infer;
mod resolve;
mod rules;
mod show;
mod signature;
mod tree;
mod types;
mod unify;
