//! adl from Rust: compile, run and differentiate adl programs.
