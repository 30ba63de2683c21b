//! Spans, sources, codes and reports: what every other crate uses to talk to the user.

mod codes;
mod diagnostic;
mod nearest;
mod render;
mod source;
mod span;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Severity};
pub use nearest::nearest;
pub use render::{Color, render, to_json};
pub use source::{SourceFile, SourceMap};
pub use span::{FileId, Span};

#[cfg(test)]
mod tests;
