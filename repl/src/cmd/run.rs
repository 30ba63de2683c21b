//! `adl run FILE`: runs a program.

use adl::{Backend, Config, Session};

use crate::host::{RealHost, limits};
use crate::{Exit, report};

/// Options of `adl run`; they stand before FILE.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use the reference interpreter.
    #[arg(long)]
    interp: bool,
    /// Say where the time went.
    #[arg(long)]
    time: bool,
    /// Write diagnostics as JSON, one a line.
    #[arg(long)]
    json: bool,
    /// The program (`-` for standard input).
    file: String,
    /// For the program: `--name value` for each `param`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs it.
pub(crate) fn run(args: &Args) -> Exit {
    let text = match report::source(&args.file) {
        Ok(text) => text,
        Err(exit) => return exit,
    };
    let params = match params(&args.rest) {
        Ok(params) => params,
        Err(message) => {
            report::one(adl::Code::E0901, message, "give parameters as `--name value`");
            return Exit::Usage;
        }
    };
    let backend = if args.interp { Backend::Interpreter } else { Backend::Machine };
    let mut session = Session::new(Config { backend, params, limits: limits() });
    let mut host = RealHost::beside(&args.file);
    let outcome = session.run(&args.file, &text, &mut host);
    if host.closed {
        return Exit::Ok;
    }
    report::all(&outcome.diagnostics, &session.sources, args.json);
    if args.time {
        report::line(&session.timing.to_string());
    }
    report::exit_of(&outcome)
}

/// `--name value` and `--name=value`.
fn params(rest: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut out = vec![];
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix("--").filter(|n| !n.is_empty()) else {
            return Err(format!("`{word}` is not a parameter"));
        };
        match name.split_once('=') {
            Some((name, value)) => out.push((name.to_string(), value.to_string())),
            None => match words.next() {
                Some(value) => out.push((name.to_string(), value.clone())),
                None => return Err(format!("`{word}` has no value")),
            },
        }
    }
    Ok(out)
}
