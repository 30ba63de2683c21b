//! The messages of lexer and parser: one constructor a mistake.

use adl_diag::{Code, Diagnostic, Span};

use crate::{ast::Name, build::MAX_DEPTH};

pub(crate) fn unknown_character(span: Span, text: &str) -> Diagnostic {
    let found = Diagnostic::error(Code::E0101, format!("`{}` means nothing in adl", text.escape_debug()))
        .label(span, "this character");
    let help = match text.chars().next() {
        Some('&') => "`&&` is the logical and",
        Some('|') => "`||` is the logical or, `|>` passes a value on",
        Some('#') => "comments begin with `//`",
        Some('\'') => "strings stand between double quotes, `\"…\"`",
        Some('×' | '·') => "multiplication is `*`",
        Some('−' | '–' | '—') => "the minus sign is `-`",
        Some('λ') => "a lambda is written `\\x. x + 1`",
        Some('“' | '”' | '„') => "strings stand between straight quotes, `\"…\"`",
        Some('≤') => "write `<=`",
        Some('≥') => "write `>=`",
        Some('≠' | '~') => "write `!=` for “not equal”, `!` for “not”",
        Some('²') => "write `^2`",
        Some('→') => "write `->`",
        Some('?') => "write `if c then a else b`",
        Some(_) | None => return found,
    };
    found.help(help)
}

pub(crate) fn open_string(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0102, "this string does not end")
        .label(span, "a string ends on its line")
        .help("close it with `\"`; a line break inside is written `\\n`")
}

pub(crate) fn unknown_escape(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error(Code::E0102, format!("`{text}` is no escape"))
        .label(span, "in this string")
        .help("the escapes are `\\n \\t \\r \\0 \\\" \\\\ \\u{1F600}`; a backslash is `\\\\`")
}

pub(crate) fn open_comment(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0103, "this comment does not end")
        .label(span, "opened here")
        .help("each `/*` needs its own `*/`")
}

pub(crate) fn integer_too_large(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0104, "this integer does not fit in 64 bits")
        .label(span, "at most 9223372036854775807")
        .help("a Float literal has a `.`, as in `1e30`")
}

pub(crate) fn bad_number(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0104, "this is not a number").label(span, "the exponent has no digits")
}

pub(crate) fn unclosed(open: Span, bracket: char) -> Diagnostic {
    Diagnostic::error(Code::E0105, format!("this `{bracket}` is never closed"))
        .label(open, "opened here")
        .help(format!("put `{}` where it ends", closing(bracket)))
}

pub(crate) fn unopened(span: Span, bracket: char) -> Diagnostic {
    Diagnostic::error(Code::E0105, format!("this `{bracket}` closes nothing"))
        .label(span, "no bracket is open here")
        .help("delete it, or open a bracket before it")
}

pub(crate) fn mismatched(open: Span, opened: char, close: Span, closed: char) -> Diagnostic {
    Diagnostic::error(Code::E0105, format!("`{opened}` is closed by `{closed}`"))
        .label(close, "closed here")
        .label(open, "opened here")
        .help(format!("close it with `{}`", closing(opened)))
}

/// The bracket that closes this one.
fn closing(opened: char) -> char {
    match opened {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0107, format!("nested more than {MAX_DEPTH} deep"))
        .label(span, "here")
        .help("give inner parts a name with `let`")
}

pub(crate) fn empty_index(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0106, "an index is missing")
        .label(span, "nothing between the brackets")
        .help("write `a[i]`")
}

pub(crate) fn missing_comma(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0106, "a `,` is missing between two lists")
        .label(span, "here")
        .help("write `[[1, 2], [3, 4]]`; an element of a list is `[1, 2][i]`, without a space")
}

pub(crate) fn expected_word(found: &Name, wanted: &str) -> Diagnostic {
    Diagnostic::error(Code::E0106, format!("expected `{wanted}`, found `{}`", found.text))
        .label(found.span, "here")
}

/// Something else was expected.
pub(crate) fn unexpected(span: Span, found: &str, expected: &str, hint: Option<String>) -> Diagnostic {
    let message = if expected.is_empty() {
        format!("unexpected {found}")
    } else {
        format!("expected {expected}, found {found}")
    };
    let diagnostic = Diagnostic::error(Code::E0106, message).label(span, "here");
    match hint {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    }
}

/// A word of another language.
pub(crate) fn foreign(span: Span, word: &str, hint: &str) -> Diagnostic {
    Diagnostic::error(Code::E0108, format!("`{word}` is not a word of adl")).label(span, "here").help(hint)
}
