//! Derivatives that users write for functions, in higher-order Core.

use crate::ir::FuncId;

/// A derivative that a user wrote. Its function has the parameters and type parameters of the function that it
/// belongs to, `a -> b`, and gives the value with a map of tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Belongs to this function.
    pub of: FuncId,
    /// The rule.
    pub func: FuncId,
    /// What the map is.
    pub kind: RuleKind,
}

/// The kinds of [`Rule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// `a -> (b, T[a] -o T[b])`.
    Forward,
    /// `a -> (b, T[b] -o T[a])`.
    Reverse,
    /// `a -> (b, T[b] -> T[a])`: it cannot be transposed, and serves reverse mode only.
    ReverseOnly,
}
