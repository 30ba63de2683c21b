//! adl from Rust: compile, run and differentiate adl programs.
//!
//! A [`Session`] holds what has been defined; [`Session::run`] checks a text and runs it. Nothing here prints
//! or reads a file: what a program may ask of the outside goes through a [`Host`].

mod config;
mod dump;
mod modules;
mod params;
mod rebuild;
mod session;
mod suite;
mod timing;

pub use adl_core::host::{Closed, Host};
pub use adl_core::run::Limits;
pub use adl_diag::{Code, Color, Diagnostic, Severity, SourceMap, render, to_json};
pub use config::{Backend, Config};
pub use dump::{Stage, stages};
pub use params::{Manual, Parameter};
pub use rebuild::Rebuilt;
pub use session::{Outcome, Session};
pub use suite::{Suite, Verdict, tests_in};
pub use timing::Timing;

/// The version of the language and its compiler.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Does the text break off in the middle, so that another line may complete it?
pub fn is_incomplete(text: &str) -> bool {
    adl_syntax::is_incomplete(text)
}

/// A program in the layout of the language; `sources` gets its text, for messages.
///
/// # Errors
///
/// The errors of a text that is no program.
pub fn format(sources: &mut SourceMap, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
    adl_syntax::format(sources.add(name, text), text)
}

/// Runs work on a thread whose stack is large enough for deep recursion of a program.
///
/// # Errors
///
/// If the system refuses the thread.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    const STACK_BYTES: usize = 1 << 30;
    adl_codegen::stack::on_stack(STACK_BYTES, work)
}
