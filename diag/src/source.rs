//! The texts that spans point into.

use crate::span::{FileId, Span};

/// One text with the name it is reported under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path, or a made-up name such as `<repl 3>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// All texts of a run. File 0 is the empty file of dummy spans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl Default for SourceMap {
    fn default() -> Self {
        SourceMap::new()
    }
}

impl SourceMap {
    /// A map that holds only the file of dummy spans.
    pub fn new() -> SourceMap {
        SourceMap { files: vec![SourceFile { name: "<nowhere>".into(), text: String::new() }] }
    }

    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = u32::try_from(self.files.len()).expect("fewer than 2^32 files");
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(id)
    }

    /// The file; an unknown id gives the file of dummy spans.
    pub fn file(&self, id: FileId) -> &SourceFile {
        self.files.get(id.0 as usize).unwrap_or(&self.files[0])
    }

    /// The text under a span, cut to what exists.
    pub fn snippet(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        let (start, end) = clamp(text, span);
        &text[start..end]
    }

    /// Line and column of the start of a span, both from 1; columns count characters.
    pub fn line_col(&self, span: Span) -> (usize, usize) {
        let text = &self.file(span.file).text;
        let (start, _) = clamp(text, span);
        let before = &text[..start];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// The span as a range of bytes that exists in `text` and splits no character.
pub(crate) fn clamp(text: &str, span: Span) -> (usize, usize) {
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (start, end)
}
