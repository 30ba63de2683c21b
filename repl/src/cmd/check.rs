//! `adl check FILE`: checks a program without running it.

use adl::{Config, Session};

use crate::host::{RealHost, module_path};
use crate::{Exit, report};

/// Options of `adl check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write diagnostics as JSON, one a line.
    #[arg(long)]
    json: bool,
    /// The program (`-` for standard input).
    file: String,
}

/// Checks it.
pub(crate) fn run(args: &Args) -> Exit {
    let text = match report::source(&args.file) {
        Ok(text) => text,
        Err(d) => return report::refuse(d, args.json),
    };
    let mut session = Session::new(Config { module_path: module_path(), ..Config::default() });
    let outcome = session.check(&args.file, &text, &mut RealHost::beside(&args.file));
    report::all(&outcome.diagnostics, &session.sources, args.json);
    report::exit_of(&outcome)
}
