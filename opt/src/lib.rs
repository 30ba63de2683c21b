//! Core to Core: specialise, expand derivatives, simplify.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "rules name the few forms they are about; the transformations themselves list all forms"
)]

mod cse;
mod dce;
mod expand;
mod inline;
mod last_use;
pub mod link;
pub mod pipeline;
mod simplify;
pub mod specialise;
