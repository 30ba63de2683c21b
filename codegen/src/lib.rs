//! First-order Core to loops to machine code by Cranelift, and the runtime.
//!
//! [`compile`] gives a [`Compiled`] program; [`Compiled::run`] runs a function of it with the same values,
//! limits and errors as the reference interpreter.

mod abi;
mod call;
mod clif;
mod compiled;
mod jit;
pub mod loops;
pub mod loops_interp;
mod lower;
mod repr;
mod runtime;
pub mod stack;
#[cfg(test)]
mod tests;

pub use compiled::{CompileError, Compiled, compile};
pub use loops_interp::{Interpreted, interpret};
pub use lower::{Unsupported, lower};
pub use repr::{Elem, Kind};
