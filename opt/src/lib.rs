//! Core to Core: specialise, expand derivatives, simplify.

mod dce;
mod expand;
mod pipeline;
pub mod specialise;
