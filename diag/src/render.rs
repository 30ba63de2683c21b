//! Diagnostics as text for people and as JSON for programs.

use std::fmt;

use ariadne::{Cache, Config, IndexType, Label, Report, ReportKind, Source};
use serde_json::{Value, json};

use crate::{
    diagnostic::{Diagnostic, Severity},
    source::{SourceMap, clamp},
    span::{FileId, Span},
};

/// Whether the text carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// With colours, for a terminal.
    On,
    /// Without, for files and tests.
    Off,
}

/// The report as text, ending in a newline. Takes any span: what lies outside its file is cut.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: Color) -> String {
    let code = diagnostic.code.name();
    let labels: Vec<&(Span, String)> =
        diagnostic.labels.iter().filter(|(span, _)| span.file != FileId::default()).collect();
    if labels.is_empty() {
        return plain(diagnostic);
    }
    let at = |span: Span| {
        let (start, end) = clamp(&sources.file(span.file).text, span);
        (span.file, start..end)
    };
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
    };
    let config = Config::default().with_color(color == Color::On).with_index_type(IndexType::Byte);
    let mut report = Report::build(kind, at(labels[0].0))
        .with_config(config)
        .with_code(code)
        .with_message(&diagnostic.message);
    for (order, (span, text)) in labels.iter().enumerate() {
        let label = Label::new(at(*span)).with_order(i32::try_from(order).unwrap_or(i32::MAX));
        let label = if text.is_empty() { label } else { label.with_message(text) };
        let paint = if order == 0 { ariadne::Color::Red } else { ariadne::Color::Blue };
        report = report.with_label(label.with_color(paint));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    for note in &diagnostic.notes {
        report = report.with_note(note);
    }
    let mut out = Vec::new();
    if report.finish().write(Files::new(sources), &mut out).is_err() {
        return plain(diagnostic);
    }
    let text = String::from_utf8_lossy(&out);
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// The report without a picture of the source.
fn plain(diagnostic: &Diagnostic) -> String {
    let kind = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let mut out = format!("[{}] {kind}: {}\n", diagnostic.code.name(), diagnostic.message);
    if let Some(help) = &diagnostic.help {
        out += &format!("  Help: {help}\n");
    }
    for note in &diagnostic.notes {
        out += &format!("  Note: {note}\n");
    }
    out
}

/// The diagnostic as one JSON object; lines and columns count from 1.
pub fn to_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let place = |span: Span, text: &str| {
        let (line, column) = sources.line_col(span);
        let (end_line, end_column) = sources.line_col(span.end_point());
        json!({
            "file": sources.file(span.file).name, "start": span.start, "end": span.end,
            "line": line, "column": column, "end_line": end_line, "end_column": end_column,
            "text": text,
        })
    };
    json!({
        "code": diagnostic.code.name(),
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": diagnostic.message,
        "labels": diagnostic.labels.iter().map(|(span, text)| place(*span, text)).collect::<Vec<_>>(),
        "help": diagnostic.help,
        "notes": diagnostic.notes,
    })
}

/// The source map as ariadne wants it.
struct Files<'a> {
    map: &'a SourceMap,
    parsed: Vec<(FileId, Source<&'a str>)>,
}

impl<'a> Files<'a> {
    fn new(map: &'a SourceMap) -> Files<'a> {
        Files { map, parsed: vec![] }
    }
}

impl<'a> Cache<FileId> for Files<'a> {
    type Storage = &'a str;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<&'a str>, impl fmt::Debug> {
        let at = match self.parsed.iter().position(|(file, _)| file == id) {
            Some(at) => at,
            None => {
                self.parsed.push((*id, Source::from(self.map.file(*id).text.as_str())));
                self.parsed.len() - 1
            }
        };
        Ok::<_, fmt::Error>(&self.parsed[at].1)
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl fmt::Display + 'b> {
        Some(self.map.file(*id).name.clone())
    }
}
