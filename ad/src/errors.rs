//! What can go wrong in a derivative, as far as a user can cause it.

use adl_diag::{Code, Span};

/// Why a function has no derivative, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// E0501, or E0505 where a rule of the user is in the way.
    pub code: Code,
    /// In words, for the user.
    pub message: String,
    /// What to do instead.
    pub help: String,
    /// The operation that has none.
    pub span: Span,
}

impl Error {
    /// An active value goes through a primitive that has no derivative.
    pub(crate) fn no_derivative(name: &str, why: &str, span: Span) -> Error {
        Error {
            code: Code::E0501,
            message: format!("`{name}` has no derivative: {why}"),
            help: "keep it constant with `stop_gradient`, or write the derivative as a rule".into(),
            span,
        }
    }

    /// A rule of the user that cannot give the derivative.
    pub fn rule(message: String, help: &str, span: Span) -> Error {
        Error { code: Code::E0505, message, help: help.to_string(), span }
    }
}
