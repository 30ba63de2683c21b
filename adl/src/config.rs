//! How programs are run.

use adl_core::run::Limits;

/// What executes a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// Machine code.
    #[default]
    Machine,
    /// The interpreter of loops: the form just before machine code.
    Loops,
    /// The reference interpreter.
    Interpreter,
}

/// Settings of a [`crate::Session`].
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What executes.
    pub backend: Backend,
    /// Memory, depth, cancellation.
    pub limits: Limits,
    /// Values for `param`s, as written on the command line; a Bool without a value is true.
    pub params: Vec<(String, Option<String>)>,
    /// Folders in which modules are looked for, after the folder of the file that imports.
    pub module_path: Vec<String>,
}
