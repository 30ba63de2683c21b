//! The subcommands.

pub(crate) mod check;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod repl;
pub(crate) mod run;
pub(crate) mod test;
