//! Words, numbers and marks of Core text.

use super::{ParseError, Result};
use crate::ir::Lit;

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// Words, numbers, strings and single marks; `;` starts a comment up to the end of the line, except before
/// `dies`.
pub(super) fn lex(text: &str) -> Result<Vec<Token<'_>>> {
    let bytes = text.as_bytes();
    let mut out = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        let start = at;
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if c == b';' && !text[at..].starts_with("; dies") && !text[at..].starts_with("; %") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let number = c.is_ascii_digit()
            || (c == b'-' && bytes.get(at + 1).is_some_and(|d| d.is_ascii_digit() || *d == b'i'));
        if c == b'"' {
            at += 1;
            while at < bytes.len() && bytes[at] != b'"' {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            if at >= bytes.len() {
                return Err(ParseError { message: "a text is not closed".into(), at: start });
            }
            at += 1;
        } else if number {
            at += 1;
            while at < bytes.len()
                && (bytes[at].is_ascii_alphanumeric()
                    || bytes[at] == b'.'
                    || (bytes[at] == b'-' && bytes[at - 1] == b'e'))
            {
                at += 1;
            }
        } else if c == b'%' || c == b'@' {
            at += 1;
            while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
                at += 1;
            }
        } else if c.is_ascii_alphabetic() || c == b'_' {
            at += 1;
            let word = |b: u8| b.is_ascii_alphanumeric() || b"_.#'".contains(&b);
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
        } else if ["->", "+=", "-o"].iter().any(|t| text[at..].starts_with(t)) {
            at += 2;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
        if !text.is_char_boundary(at) {
            return Err(ParseError { message: "a text breaks off".into(), at: start });
        }
        out.push(Token { text: &text[start..at], at: start });
    }
    Ok(out)
}

/// A number as a constant: with a `.` or exponent a float.
fn number(t: &str) -> Option<Lit> {
    let digits = t.strip_prefix('-').unwrap_or(t);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(single) = t.strip_suffix("f32") {
        return single.parse().ok().map(Lit::F32);
    }
    if t.contains(['.', 'e']) { t.parse().ok().map(Lit::F64) } else { t.parse().ok().map(Lit::Int) }
}

/// Is it a variable, `%0` or `@0`?
pub(super) fn is_var(t: &str) -> bool {
    t.starts_with(['%', '@'])
}

/// A constant that is one word; not a text in quotes.
pub(super) fn literal(t: &str) -> Option<Lit> {
    Some(match t {
        "true" => Lit::Bool(true),
        "false" => Lit::Bool(false),
        "unit" => Lit::Unit,
        "inf" => Lit::F64(f64::INFINITY),
        "-inf" => Lit::F64(f64::NEG_INFINITY),
        "NaN" => Lit::F64(f64::NAN),
        "inff32" => Lit::F32(f32::INFINITY),
        "-inff32" => Lit::F32(f32::NEG_INFINITY),
        "NaNf32" => Lit::F32(f32::NAN),
        _ => return number(t),
    })
}
