//! `adl run FILE`: runs a program.

use adl::{Backend, Code, Config, Diagnostic, Session};

use crate::host::{RealHost, limits, module_path};
use crate::{Exit, report};

/// Options of `adl run`; they stand before FILE.
#[derive(clap::Args)]
#[command(override_usage = "adl run [OPTIONS] <FILE> [--name value]…")]
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
    /// The program (`-` for standard input), then what belongs to it: `--name value` for each `param`, or
    /// `--help`.
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_name = "FILE")]
    words: Vec<String>,
}

/// Runs it.
pub(crate) fn run(args: &Args) -> Exit {
    let Some((file, rest)) = args.words.split_first() else { return Exit::Usage };
    let text = match report::source(file) {
        Ok(text) => text,
        Err(d) => return report::refuse(d, args.json),
    };
    let params = match params(rest) {
        Ok(params) => params,
        Err(message) => {
            let d = Diagnostic::error(Code::E0901, message).help("give parameters as `--name value`");
            return report::refuse(d, args.json);
        }
    };
    if params.iter().any(|(name, _)| name == "help") {
        return help(file, &text, args.json);
    }
    let backend = if args.interp { Backend::Interpreter } else { Backend::Machine };
    let mut session = Session::new(Config { backend, params, limits: limits(), module_path: module_path() });
    let mut host = RealHost::beside(file);
    let outcome = session.run(file, &text, &mut host);
    if host.closed {
        return Exit::Ok;
    }
    report::all(&outcome.diagnostics, &session.sources, args.json);
    if args.time {
        report::line(&session.timing.to_string());
    }
    report::exit_of(&outcome)
}

/// `--name value`, `--name=value` and `--flag`.
fn params(rest: &[String]) -> Result<Vec<(String, Option<String>)>, String> {
    let mut out = vec![];
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        if word == "-h" {
            out.push(("help".to_string(), None));
            continue;
        }
        let Some(name) = word.strip_prefix("--").filter(|n| !n.is_empty()) else {
            return Err(format!("`{word}` is not a parameter"));
        };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (name, words.next_if(|w| !w.starts_with("--")).cloned()),
        };
        out.push((name.to_string(), value));
    }
    Ok(out)
}

/// What the program says of itself, and its parameters.
fn help(file: &str, text: &str, json: bool) -> Exit {
    let mut session = Session::new(Config::default());
    let manual = match session.manual(file, text) {
        Ok(manual) => manual,
        Err(diagnostics) => {
            report::all(&diagnostics, &session.sources, json);
            return Exit::Usage;
        }
    };
    let mut out = String::new();
    if let Some(docs) = &manual.docs {
        out += &format!("{docs}\n\n");
    }
    out +=
        &format!("Usage: adl run {file}{}\n", if manual.params.is_empty() { "" } else { " [--name value]…" });
    let heads: Vec<String> = manual.params.iter().map(|p| format!("--{} {}", p.name, p.ty)).collect();
    let width = heads.iter().map(|h| h.chars().count()).max().unwrap_or(0);
    for (p, head) in manual.params.iter().zip(&heads) {
        let gap = if p.docs.is_some() { " " } else { "" };
        let docs = p.docs.as_deref().unwrap_or_default().replace('\n', " ");
        out += &format!("\n  {head:width$}  {docs}{gap}(default: {})", p.default);
    }
    out += if manual.params.is_empty() { "" } else { "\n" };
    report::out(&out);
    Exit::Ok
}
