//! One message to the user.

use crate::{codes::Code, span::Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The program cannot run, or its run ended.
    Error,
    /// The program runs, and probably does not do what is meant.
    Warning,
}

/// One message. The first label is the place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code; `adl explain CODE` says more.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// Lower case, no full stop, names the things involved.
    pub message: String,
    /// Places, with what each shows.
    pub labels: Vec<(Span, String)>,
    /// What to type, in one sentence.
    pub help: Option<String>,
    /// Further facts.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error without labels.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![],
            help: None,
            notes: vec![],
        }
    }

    /// A warning without labels.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Adds a place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }

    /// Sets the help.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The first place, or a dummy.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::default(), |(span, _)| *span)
    }
}
