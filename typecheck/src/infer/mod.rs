//! Inference: from the syntax tree to the typed tree.

mod call;
mod control;
mod dependent;
mod expr;
mod item;
mod pattern;
mod structure;

pub(crate) use item::Checked;
