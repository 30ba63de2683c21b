//! Turns a failure of the parser into plain words: what was expected, and what the user may have meant.
#![expect(clippy::wildcard_enum_match_arm, reason = "of the many tokens a few matter in each place")]

use adl_diag::{Diagnostic, FileId, Span};

use crate::{errors, lexer::Spanned, token::Tok};

/// The message for an unexpected token `tokens[at]` (or the end of the item), given the parser's terminals.
pub(crate) fn explain(file: FileId, tokens: &[Spanned], at: usize, expected: &[String]) -> Diagnostic {
    let end = tokens.last().map_or(0, |(_, _, end)| *end);
    let (start, found, stop) = match tokens.get(at) {
        Some(&(start, tok, stop)) => (start, Some(tok), stop),
        None => (end, None, end),
    };
    let span = Span::new(file, start, stop);
    let before = at.checked_sub(1).and_then(|at| tokens.get(at)).copied();
    if let Some(foreign) = foreign(file, tokens, at) {
        return foreign;
    }
    let has = |terminal: &str| expected.iter().any(|e| e.trim_matches('"') == terminal);
    let after_value = before.is_some_and(|(_, tok, _)| tok.ends_expression());
    let words = expectation(&has, after_value);
    let hint = hint(tokens, at, found, before.map(|(_, tok, _)| tok), &has).or_else(|| {
        let open = words == NEXT || words == NEXT_IN_BLOCK;
        if open { juxtaposed(before?.1, found?) } else { None }
    });
    errors::unexpected(span, &describe(found), words, hint)
}

/// What the token is called.
fn describe(tok: Option<Tok>) -> String {
    match tok {
        None => "the end".into(),
        Some(Tok::Semi) => "the end of the statement".into(),
        Some(Tok::Id(s) | Tok::Up(s) | Tok::QualUp(s)) => format!("`{s}`"),
        Some(Tok::Int(s) | Tok::Float(s)) => format!("the number {s}"),
        Some(Tok::Str(_)) => "a string".into(),
        Some(tok) => format!("`{}`", text(tok)),
    }
}

/// How a token with one spelling is written.
fn text(tok: Tok) -> &'static str {
    SPELLINGS.iter().find(|(t, _)| *t == tok).map_or("?", |(_, s)| s)
}

const SPELLINGS: &[(Tok<'static>, &str)] = &[
    (Tok::True, "true"),
    (Tok::False, "false"),
    (Tok::Underscore, "_"),
    (Tok::Def, "def"),
    (Tok::Let, "let"),
    (Tok::Struct, "struct"),
    (Tok::Enum, "enum"),
    (Tok::Type, "type"),
    (Tok::Import, "import"),
    (Tok::Test, "test"),
    (Tok::Param, "param"),
    (Tok::Derivative, "derivative"),
    (Tok::Instance, "instance"),
    (Tok::If, "if"),
    (Tok::Then, "then"),
    (Tok::Else, "else"),
    (Tok::Case, "case"),
    (Tok::Of, "of"),
    (Tok::For, "for"),
    (Tok::Loop, "loop"),
    (Tok::While, "while"),
    (Tok::Do, "do"),
    (Tok::Accum, "accum"),
    (Tok::When, "when"),
    (Tok::With, "with"),
    (Tok::Where, "where"),
    (Tok::Exists, "exists"),
    (Tok::Semi, ";"),
    (Tok::Comma, ","),
    (Tok::Colon, ":"),
    (Tok::Dot, "."),
    (Tok::Equals, "="),
    (Tok::PlusEq, "+="),
    (Tok::Arrow, "->"),
    (Tok::Lolli, "-o"),
    (Tok::FatArrow, "=>"),
    (Tok::Pipe, "|>"),
    (Tok::OrOr, "||"),
    (Tok::AndAnd, "&&"),
    (Tok::EqEq, "=="),
    (Tok::NotEq, "!="),
    (Tok::Less, "<"),
    (Tok::LessEq, "<="),
    (Tok::Greater, ">"),
    (Tok::GreaterEq, ">="),
    (Tok::Concat, "++"),
    (Tok::Plus, "+"),
    (Tok::Minus, "-"),
    (Tok::Star, "*"),
    (Tok::Slash, "/"),
    (Tok::Percent, "%"),
    (Tok::At, "@"),
    (Tok::Caret, "^"),
    (Tok::Bang, "!"),
    (Tok::Backslash, "\\"),
    (Tok::ParenOpen, "("),
    (Tok::ParenClose, ")"),
    (Tok::SquareOpen, "["),
    (Tok::SquareClose, "]"),
    (Tok::BraceOpen, "{"),
    (Tok::BraceClose, "}"),
];

const NEXT: &str = "an operator or the end of the statement";
const NEXT_IN_BLOCK: &str = "the end of the statement or `}`";

/// What could stand here, in words, from the set of terminals.
fn expectation(has: &dyn Fn(&str) -> bool, after_value: bool) -> &'static str {
    const ONE: &[(&str, &str)] = &[
        ("then", "`then`"),
        ("else", "`else`"),
        ("of", "`of` and the arms of the `case`"),
        ("do", "`do`"),
        ("=", "`=`"),
        (".", "`.`"),
        ("->", "`->`"),
        ("str", "a string"),
        ("{", "`{`"),
        (":", "`:`"),
        ("(", "`(`"),
    ];
    if has("\\\\") && has("int") {
        return if has("let") { "a statement" } else { "an expression" };
    }
    if has("int") && has("true") {
        return "a pattern";
    }
    if has("exists") {
        return "a type";
    }
    // Inside an expression every operator is possible too; what closes the form is the news.
    let operators = has("+") && has("^");
    for (terminal, words) in ONE {
        let also_operator = matches!(*terminal, "." | "(" | "{" | ":");
        if has(terminal) && !(operators && also_operator) {
            return words;
        }
    }
    match (has("id"), has("Up")) {
        (true, false) if !operators => return "a name",
        (false, true) if !operators => return "a name that begins with a capital letter",
        (true, true) if !operators => return "a name",
        _ => {}
    }
    match (has(","), has(")"), has("]"), has("}")) {
        (true, true, _, _) => "`,` or `)`",
        (true, _, true, _) => "`,` or `]`",
        (true, _, _, true) => "`,` or `}`",
        (false, true, _, _) => "`)`",
        (false, _, true, _) => "`]`",
        (false, _, _, true) => NEXT_IN_BLOCK,
        (true, ..) => "`,`",
        _ if operators || after_value => NEXT,
        _ => "",
    }
}

/// Words of other languages, at the place of the error or right before it.
fn foreign(file: FileId, tokens: &[Spanned], at: usize) -> Option<Diagnostic> {
    const WORDS: &[(&str, &str)] = &[
        ("fn", "a function is `def f(x) = …`, a lambda `\\x. …`"),
        ("fun", "a function is `def f(x) = …`, a lambda `\\x. …`"),
        ("func", "a function is `def f(x) = …`, a lambda `\\x. …`"),
        ("function", "a function is `def f(x) = …`, a lambda `\\x. …`"),
        ("lambda", "a lambda is written `\\x. x + 1`"),
        ("return", "the last expression of a block is its value"),
        ("and", "write `&&`"),
        ("or", "write `||`"),
        ("not", "write `!c`"),
        ("match", "write `case e of { pattern -> value }`"),
        ("switch", "write `case e of { pattern -> value }`"),
        ("elif", "write `else if`"),
        ("elsif", "write `else if`"),
        ("in", "a `let` stands in a block: `{ let x = 1; x + x }`; a loop is `for i: n. …`"),
        ("var", "write `let x = …`; a value that changes is the state of a `loop`"),
        ("mut", "values do not change; a value that changes is the state of a `loop`"),
        ("const", "write `let x = …`"),
        ("val", "write `let x = …`"),
        ("data", "write `enum E { A, B(Float) }`"),
        ("class", "write `struct S { x: Float }`"),
        ("module", "a file is a module"),
        ("from", "write `import m (a, b)`"),
        ("use", "write `import m (a, b)`"),
        ("end", "blocks stand in braces, `{ … }`"),
        ("begin", "blocks stand in braces, `{ … }`"),
    ];
    for k in [Some(at), at.checked_sub(1)].into_iter().flatten() {
        if let Some(&(start, Tok::Id(word), end)) = tokens.get(k)
            && let Some((_, hint)) = WORDS.iter().find(|(w, _)| *w == word)
        {
            return Some(errors::foreign(Span::new(file, start, end), word, hint));
        }
    }
    // `fn(x) x`: the word stands before the brackets.
    if let Some(close) = at.checked_sub(1)
        && tokens[close].1 == Tok::ParenClose
        && let Some(k) = innermost_open(tokens, close).and_then(|k| k.checked_sub(1))
        && let (start, Tok::Id(word), end) = tokens[k]
        && let Some((_, hint)) = WORDS[..5].iter().find(|(w, _)| *w == word)
    {
        return Some(errors::foreign(Span::new(file, start, end), word, hint));
    }
    let pair = at.checked_sub(1).and_then(|k| Some((tokens.get(k)?, tokens.get(at)?)));
    match pair {
        Some((&(start, Tok::Star, mid), &(next, Tok::Star, end))) if mid == next => {
            Some(errors::foreign(Span::new(file, start, end), "**", "a power is written `x^2`"))
        }
        Some((&(start, Tok::Colon, mid), &(next, Tok::Equals, end))) if mid == next => {
            Some(errors::foreign(Span::new(file, start, end), ":=", "write `let x = …`"))
        }
        _ => None,
    }
}

fn hint(
    tokens: &[Spanned],
    at: usize,
    found: Option<Tok>,
    before: Option<Tok>,
    has: &dyn Fn(&str) -> bool,
) -> Option<String> {
    if has("else") {
        return Some("`if` has a value, so it needs `else`; a statement is `when c do …`".into());
    }
    if let Some(hint) = foreign_form(tokens, at, has) {
        return Some(hint);
    }
    match (found, before) {
        (Some(Tok::Arrow), _) if in_lambda(tokens, at) => Some("a lambda has a dot: `\\x. x + 1`".into()),
        (Some(Tok::Arrow | Tok::FatArrow), _) if has("+") => Some("a lambda is written `\\x. x + 1`".into()),
        (Some(Tok::Lolli), _) if has("+") => Some("for a difference write `- o`, with a space".into()),
        (Some(Tok::Equals), _) if has("==") || has(":") => Some(
            if has(":") {
                "the type of a field stands after `:`"
            } else {
                "`==` compares; `let x = …` binds"
            }
            .into(),
        ),
        (Some(Tok::FatArrow), _) if has("->") => Some("an arm is `pattern -> value`".into()),
        (Some(Tok::Less | Tok::LessEq | Tok::Greater | Tok::GreaterEq | Tok::EqEq | Tok::NotEq), _)
            if before.is_some_and(Tok::ends_expression) =>
        {
            Some("comparisons do not chain: write `a < b && b < c`".into())
        }
        (Some(Tok::Dot), _) if matches!(tokens.get(at + 1), Some((_, Tok::Int(_), _))) => {
            Some("a number has digits on both sides of its point: `0.5`".into())
        }
        (_, Some(Tok::Dot)) if at > 1 && matches!(tokens[at - 2].1, Tok::Int(_)) => {
            Some("a number has digits on both sides of its point: `1.0`".into())
        }
        (Some(Tok::Up(name)), _) if has("id") => {
            Some(format!("names of values begin with a lower-case letter: `{}`", name.to_lowercase()))
        }
        (Some(Tok::Id(name)), _) if has("Up") && !has("id") => {
            let mut chars = name.chars();
            let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
            Some(format!("names of types and constructors begin with a capital: `{first}{}`", chars.as_str()))
        }
        (Some(Tok::QualUp(_)), _) if has(".") => {
            Some("write a space after the dot of a lambda or `for`".into())
        }
        (Some(tok), _) if tok.is_keyword() && has("id") => {
            Some(format!("`{}` is a word of the language and cannot be a name", text(tok)))
        }
        (Some(Tok::BraceOpen), Some(_)) if has("then") || has("do") => None,
        (Some(Tok::Id(_) | Tok::Equals), _) if is_def_header(tokens, at) && has("(") => {
            Some("parameters stand in brackets: `def f(x) = …`; a value is `let x = …`".into())
        }
        _ => None,
    }
}

/// Forms of other languages: arguments with names, slices, assignments, arrows of lambdas, numbers as sets.
fn foreign_form(tokens: &[Spanned], at: usize, has: &dyn Fn(&str) -> bool) -> Option<String> {
    let found = tokens.get(at)?.1;
    let before = tokens.get(at.checked_sub(1)?)?.1;
    if let (Tok::Int(n), Tok::Colon) = (found, before)
        && has("exists")
    {
        return Some(format!("the index set of {n} elements is `Fin({n})`"));
    }
    if !before.ends_expression() {
        return None;
    }
    let open = innermost_open(tokens, at);
    let bracket = open.map(|k| tokens[k].1);
    let called = open.and_then(|k| tokens.get(k.checked_sub(1)?)).map(|t| t.1);
    match (found, before, bracket) {
        (Tok::Equals, Tok::Id(name), Some(Tok::ParenOpen)) if called.is_some_and(Tok::ends_expression) => {
            Some(format!(
                "arguments have no names: write the value alone, or take a struct, `f(Options {{ {name} = … }})`"
            ))
        }
        (Tok::Colon, _, Some(Tok::SquareOpen)) if called.is_some_and(Tok::ends_expression) => {
            Some("a part of a table is `slice(xs, start, count)`".into())
        }
        (Tok::Equals, Tok::SquareClose, None | Some(Tok::BraceOpen)) => {
            Some("values do not change: `a with { [i] = x }` is the table with one element replaced".into())
        }
        (Tok::Arrow, _, _) if !has("->") && !in_lambda(tokens, at) => {
            Some("a lambda is written `\\x. x + 1`".into())
        }
        _ => None,
    }
}

/// The bracket around the token.
fn innermost_open(tokens: &[Spanned], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (k, (_, tok, _)) in tokens[..at].iter().enumerate().rev() {
        match tok {
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => depth += 1,
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen if depth == 0 => return Some(k),
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A value right after a value.
fn juxtaposed(before: Tok, found: Tok) -> Option<String> {
    if let (Tok::Id(f), Tok::Id(_) | Tok::Int(_) | Tok::Float(_) | Tok::Str(_) | Tok::Up(_)) = (before, found)
    {
        return Some(format!("a function is called with brackets: `{f}({})`", argument(found)));
    }
    let two = before.ends_expression() && starts_value(found);
    two.then(|| "two values follow each other: an operator, a comma or a new line is missing".into())
}

fn argument(tok: Tok<'_>) -> &str {
    match tok {
        Tok::Id(s) | Tok::Int(s) | Tok::Float(s) | Tok::Up(s) | Tok::Str(s) => s,
        _ => "x",
    }
}

fn starts_value(tok: Tok) -> bool {
    matches!(tok, Tok::Id(_) | Tok::Up(_) | Tok::QualUp(_) | Tok::Int(_) | Tok::Float(_) | Tok::Str(_))
        || matches!(tok, Tok::BraceOpen | Tok::True | Tok::False | Tok::Backslash)
}

/// Whether a `\` opens right before, with only a pattern in between.
fn in_lambda(tokens: &[Spanned], at: usize) -> bool {
    tokens[..at].iter().rev().take(12).map(|t| t.1).find(|t| !is_pattern(*t)) == Some(Tok::Backslash)
}

fn is_pattern(tok: Tok) -> bool {
    matches!(tok, Tok::Id(_) | Tok::Underscore | Tok::Comma | Tok::ParenOpen | Tok::ParenClose)
}

fn is_def_header(tokens: &[Spanned], at: usize) -> bool {
    at >= 2 && tokens[at - 2].1 == Tok::Def
}
