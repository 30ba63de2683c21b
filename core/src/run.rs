//! What every executor shares: limits, run-time errors and the counts of a run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use adl_diag::{Code, Span};

/// A failure of the program while it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError {
    /// Its stable code, E07 or E08.
    pub code: Code,
    /// Where in the source.
    pub span: Span,
    /// What happened, in lower case and without a full stop.
    pub message: String,
}

impl RuntimeError {
    /// A failure at a place.
    #[must_use]
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> RuntimeError {
        RuntimeError { code, span, message: message.into() }
    }

    /// Was the run stopped from outside?
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.code == Code::E0902
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)
    }
}

impl std::error::Error for RuntimeError {}

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes that tables and cells may hold.
    pub memory: u64,
    /// Calls that may be open at once.
    pub depth: u64,
    /// Set from another thread, it ends the run at the next back edge of a loop or the next call.
    pub cancel: Arc<AtomicBool>,
}

impl Default for Limits {
    /// No limit on memory, four million calls.
    fn default() -> Limits {
        Limits { memory: u64::MAX / 2, depth: 4_000_000, cancel: Arc::default() }
    }
}

impl Limits {
    /// Has the run been cancelled?
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations, in units of an addition: a primitive counts its cost, each element of a table that
    /// is read or written counts 1.
    pub ops: u64,
    /// Bytes of tables that an update copied because it could not write in place.
    pub copied: u64,
    /// The most bytes held at once.
    pub peak: u64,
    /// Allocations.
    pub allocations: u64,
}

/// The failures all executors report in the same words.
pub mod fail {
    use super::{Code, RuntimeError, Span};

    /// E0701.
    #[must_use]
    pub fn out_of_bounds(span: Span, index: i64, size: i64) -> RuntimeError {
        RuntimeError::new(Code::E0701, span, format!("index {index} is out of bounds for size {size}"))
    }

    /// E0702.
    #[must_use]
    pub fn sizes_differ(span: Span, what: &str, left: i64, right: i64) -> RuntimeError {
        RuntimeError::new(Code::E0702, span, format!("{what}: {left} and {right} differ"))
    }

    /// E0703.
    #[must_use]
    pub fn division_by_zero(span: Span) -> RuntimeError {
        RuntimeError::new(Code::E0703, span, "division by zero")
    }

    /// E0704.
    #[must_use]
    pub fn error(span: Span, message: &str) -> RuntimeError {
        RuntimeError::new(Code::E0704, span, message)
    }

    /// E0705.
    #[must_use]
    pub fn assertion(span: Span, message: &str) -> RuntimeError {
        RuntimeError::new(Code::E0705, span, message)
    }

    /// E0707.
    #[must_use]
    pub fn too_deep(span: Span, depth: u64) -> RuntimeError {
        RuntimeError::new(Code::E0707, span, format!("more than {depth} calls are open at once"))
    }

    /// E0708.
    #[must_use]
    pub fn empty_reduction(span: Span, name: &str) -> RuntimeError {
        RuntimeError::new(Code::E0708, span, format!("the {name} of nothing"))
    }

    /// E0709.
    #[must_use]
    pub fn conversion(span: Span, x: f64) -> RuntimeError {
        let x = crate::show::float(x);
        RuntimeError::new(Code::E0709, span, format!("{x} has no whole number"))
    }

    /// E0710.
    #[must_use]
    pub fn negative_size(span: Span, size: i64) -> RuntimeError {
        RuntimeError::new(Code::E0710, span, format!("a table of size {size}"))
    }

    /// E0711.
    #[must_use]
    pub fn constructors_differ(span: Span) -> RuntimeError {
        RuntimeError::new(Code::E0711, span, "a tangent has another constructor than its value")
    }

    /// E0712.
    #[must_use]
    pub fn no_result(span: Span, why: &str) -> RuntimeError {
        RuntimeError::new(Code::E0712, span, why)
    }

    /// E0902.
    #[must_use]
    pub fn cancelled(span: Span) -> RuntimeError {
        RuntimeError::new(Code::E0902, span, "stopped")
    }
}
