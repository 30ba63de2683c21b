//! Text to AST: lexer with the newline rule, LALR(1) grammar, recovery.

pub mod ast;
mod build;
mod errors;
mod explain;
mod format;
mod lexer;
mod parse;
mod token;

/// Made from `grammar.lalrpop`; see there.
#[expect(
    clippy::all,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "generated"
)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/grammar.rs"));
}

pub use format::format;
pub use parse::{is_incomplete, parse, parse_expr};

#[cfg(test)]
mod tests;
