//! Diagnostics and other lines for people, to stderr.

use std::io::{IsTerminal as _, Write as _};

use adl::{Code, Color, Diagnostic, SourceMap};

use crate::Exit;

/// Writes a line to stderr. A closed stderr is nobody's problem.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes text to stdout. A reader that has seen enough closes the pipe: that is no failure.
pub(crate) fn out(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Writes diagnostics with their source, or as JSON lines.
pub(crate) fn all(diagnostics: &[Diagnostic], sources: &SourceMap, json: bool) {
    for d in diagnostics {
        line(&if json { adl::to_json(d, sources).to_string() } else { rendered(d, sources) });
    }
}

/// A diagnostic with its source, coloured where stderr is a terminal.
pub(crate) fn rendered(d: &Diagnostic, sources: &SourceMap) -> String {
    let colored = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    adl::render(d, sources, if colored { Color::On } else { Color::Off }).trim_end().to_string()
}

/// One diagnostic without a place.
pub(crate) fn one(code: Code, message: String, help: &str) {
    refuse(Diagnostic::error(code, message).help(help), false);
}

/// One diagnostic without a place, of what keeps a command from starting.
pub(crate) fn refuse(d: Diagnostic, json: bool) -> Exit {
    all(&[d], &SourceMap::new(), json);
    Exit::Usage
}

/// Reads a source file, or says what is wrong with it.
pub(crate) fn source(path: &str) -> Result<String, Diagnostic> {
    let bytes = if path == "-" {
        let mut bytes = vec![];
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| {
        Diagnostic::error(Code::E0801, format!("cannot read `{path}`: {e}")).help("check the path")
    })?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let message = format!("`{path}` is not UTF-8 text (byte {at})");
        Diagnostic::error(Code::E0801, message).help("save the file as UTF-8")
    })
}

/// The exit code of an outcome.
pub(crate) fn exit_of(outcome: &adl::Outcome) -> Exit {
    if outcome.rejected {
        Exit::Usage
    } else if outcome.diagnostics.iter().any(|d| d.code == Code::E0902) {
        Exit::Interrupted
    } else if outcome.failed {
        Exit::Failed
    } else {
        Exit::Ok
    }
}
