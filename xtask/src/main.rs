//! Tasks of the house: `cargo xtask ci | quick | tidy | bless`.

mod sentences;
mod steps;
mod tidy;
mod tree;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask TASK

  ci      everything that must hold before a change lands
  quick   the everyday part of it: format, lints, tidy, unit tests
  tidy    the rules of the house that no compiler checks
  bless   run the tests and accept what they print; then read the diff";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let outcome = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci"] => steps::ci(&root()),
        ["quick"] => steps::quick(&root()),
        ["tidy"] => steps::tidy(&root()),
        ["bless"] => steps::bless(&root()),
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace, wherever the task was started.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
