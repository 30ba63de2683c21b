//! What a program should do, in its own comments: `//> text`, `//~ number rel tolerance`, `//! CODE line:column`.

use std::path::Path;

use adl::{Backend, Config, Limits, Session};
use adl_tests::host::Beside;

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expected {
    /// A printed line.
    Text(String),
    /// A printed number, up to a relative tolerance.
    Near(f64, f64),
    /// A diagnostic with this code, its first label at this place.
    Diagnostic(String),
}

/// The expectations in a text, in order.
pub(crate) fn of(text: &str) -> Result<Vec<Expected>, String> {
    let mut out = vec![];
    for line in text.lines().map(str::trim_start) {
        if let Some(rest) = line.strip_prefix("//>") {
            out.push(Expected::Text(rest.strip_prefix(' ').unwrap_or(rest).to_string()));
        } else if let Some(rest) = line.strip_prefix("//~") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            match words.as_slice() {
                [x, "rel", tol] => match (x.parse(), tol.parse()) {
                    (Ok(x), Ok(tol)) => out.push(Expected::Near(x, tol)),
                    _ => return Err(format!("not a number with a tolerance: {line}")),
                },
                _ => return Err(format!("write `//~ number rel tolerance`: {line}")),
            }
        } else if let Some(rest) = line.strip_prefix("//!") {
            out.push(Expected::Diagnostic(rest.trim().to_string()));
        }
    }
    Ok(out)
}

/// What a program did: printed lines with the source line each belongs to, then diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) lines: Vec<(usize, String)>,
    pub(crate) diagnostics: Vec<(usize, String)>,
    pub(crate) rendered: String,
}

/// What a program may hold.
const MEMORY_BYTES: u64 = 4 << 30;

/// Runs a text as a file of this folder.
pub(crate) fn run(folder: &Path, name: &str, text: &str, backend: Backend) -> Found {
    let limits = Limits { memory: MEMORY_BYTES, ..Limits::default() };
    let mut session = Session::new(Config { backend, limits, ..Config::default() });
    let mut host = Beside::new(folder);
    let outcome = session.run(name, text, &mut host);
    let mut found = Found::default();
    for (k, line) in host.output.into_iter().enumerate() {
        let at = outcome.shown.get(k).map_or(0, |span| session.sources.line_col(span.end_point()).0);
        found.lines.push((at, line));
    }
    for d in &outcome.diagnostics {
        let (line, column) = session.sources.line_col(d.span());
        let file = &session.sources.file(d.span().file).name;
        let place = if file == name { format!("{line}:{column}") } else { format!("{file} {line}:{column}") };
        found.diagnostics.push((line, format!("{} {place}", d.code)));
        found.rendered.push_str(&adl::render(d, &session.sources, adl::Color::Off));
    }
    found
}

/// Compares; the error says where they differ.
pub(crate) fn compare(expected: &[Expected], found: &Found) -> Result<(), String> {
    let mut lines = found.lines.iter();
    let mut diagnostics = found.diagnostics.iter();
    for e in expected {
        match e {
            Expected::Text(text) => match lines.next() {
                Some((_, line)) if line == text => {}
                other => return Err(differs(text, other, found)),
            },
            Expected::Near(x, tol) => match lines.next() {
                Some((_, line)) if line.parse().is_ok_and(|y: f64| (y - x).abs() <= tol * x.abs()) => {}
                other => return Err(differs(&format!("{x} up to {tol}"), other, found)),
            },
            Expected::Diagnostic(text) => match diagnostics.next() {
                Some((_, d)) if d == text => {}
                other => return Err(differs(text, other, found)),
            },
        }
    }
    match (lines.next(), diagnostics.next()) {
        (None, None) => Ok(()),
        (Some((at, line)), _) => Err(format!("line {at} prints `{line}`, which nothing expects")),
        (None, Some((_, d))) => Err(format!("a diagnostic that nothing expects: {d}\n{}", found.rendered)),
    }
}

fn differs(expected: &str, found: Option<&(usize, String)>, all: &Found) -> String {
    match found {
        Some((at, line)) => format!("line {at}: expected `{expected}`, found `{line}`\n{}", all.rendered),
        None => format!("expected `{expected}`, found nothing\n{}", all.rendered),
    }
}
