//! Core to Core: specialise, expand derivatives, simplify.

mod cse;
mod dce;
mod expand;
mod inline;
mod last_use;
pub mod link;
pub mod pipeline;
mod simplify;
pub mod specialise;
