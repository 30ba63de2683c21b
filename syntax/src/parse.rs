//! Tokens to AST, item by item, with recovery at items and statements.
#![expect(clippy::wildcard_enum_match_arm, reason = "of the many tokens a few matter in each place")]

use adl_diag::{Diagnostic, FileId, Span};
use lalrpop_util::ParseError;

use crate::{
    ast::{Item, ItemKind, Module, Name},
    build::{Fail, int},
    explain::explain,
    grammar::{ExprParser, ItemParser},
    lexer::{Lexed, Spanned, lex},
    token::Tok,
};

/// At most this many syntax errors are reported in one item.
const MAX_ERRORS_PER_ITEM: usize = 20;

/// Parses a file. Never fails: it gives what could be read, and what is wrong with the rest.
pub fn parse(file: FileId, text: &str) -> (Module, Vec<Diagnostic>) {
    let Lexed { tokens, docs, mut diagnostics, patched, open_string, .. } = lex(file, text);
    let mut chunks = split(&tokens);
    let mut module = Module::default();
    if let Some([(_, Tok::Id("language"), _), (_, Tok::Int(n), _)]) = chunks.first() {
        module.language = Some(int(n));
        chunks.remove(0);
    }
    let parser = ItemParser::new();
    let mut before = 0;
    let mut failed = false;
    for chunk in chunks {
        let (start, end) = bounds(chunk);
        let doc: Vec<&str> = docs
            .iter()
            .filter(|(at, _)| (before..start).contains(at))
            .map(|(_, text)| text.as_str())
            .collect();
        // Indented lines after a failure are its consequence: they belonged to the item that failed.
        let indented = text[..start].chars().next_back().is_some_and(|c| c != '\n');
        let silent = (failed && indented) || patched.iter().any(|at| (start..=end).contains(at));
        let reported = diagnostics.len();
        let kind = item(file, &parser, chunk, silent, &mut diagnostics);
        failed = silent || diagnostics.len() > reported;
        let docs = if doc.is_empty() { None } else { Some(doc.join("\n")) };
        module.items.push(Item { span: Span::new(file, start, end), docs, kind });
        before = end;
    }
    diagnostics.sort_by_key(|d| d.span().start);
    // After a string that does not end, texts and code have changed places: the rest is its consequence.
    if let Some(at) = open_string {
        diagnostics.retain(|d| d.span().start <= at);
    }
    (module, diagnostics)
}

/// Parses one expression that is the whole text.
pub fn parse_expr(file: FileId, text: &str) -> Result<crate::ast::Expr, Vec<Diagnostic>> {
    let Lexed { tokens, diagnostics, .. } = lex(file, text);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let tokens = split(&tokens).into_iter().next().unwrap_or(&[]);
    ExprParser::new()
        .parse(file, tokens.iter().map(|t| Ok::<_, Box<Diagnostic>>(*t)))
        .map_err(|failure| vec![report(file, tokens, failure).0])
}

/// Whether a text is the beginning of something longer, so that a prompt should ask for another line.
pub fn is_incomplete(text: &str) -> bool {
    let file = FileId::default();
    let lexed = lex(file, text);
    if lexed.unclosed {
        return true;
    }
    // Documentation waits for what it documents.
    let after = lexed.tokens.iter().rfind(|(_, t, _)| *t != Tok::Semi).map_or(0, |(_, _, end)| *end);
    if lexed.docs.iter().any(|(at, _)| after <= *at) {
        return true;
    }
    let Some((_, last, _)) = lexed.tokens.last() else { return false };
    let chunk = split(&lexed.tokens).pop().unwrap_or(&[]);
    if !last.ends_expression() && *last != Tok::Semi {
        return !chunk.is_empty();
    }
    let parsed = ItemParser::new().parse(file, chunk.iter().map(|t| Ok::<_, Box<Diagnostic>>(*t)));
    matches!(parsed, Err(ParseError::UnrecognizedEof { .. }))
}

/// The stretches between the `;` that stand in no bracket, empty ones left out.
fn split<'a, 's>(tokens: &'a [Spanned<'s>]) -> Vec<&'a [Spanned<'s>]> {
    let (mut depth, mut from, mut out) = (0usize, 0, vec![]);
    for (at, (_, tok, _)) in tokens.iter().enumerate() {
        match tok {
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => depth += 1,
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => depth = depth.saturating_sub(1),
            Tok::Semi if depth == 0 => {
                out.push(&tokens[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&tokens[from..]);
    out.retain(|chunk| !chunk.is_empty());
    out
}

fn bounds(tokens: &[Spanned]) -> (usize, usize) {
    (tokens.first().map_or(0, |t| t.0), tokens.last().map_or(0, |t| t.2))
}

/// Parses an item; where it fails, reports, replaces the statement that failed and tries again.
fn item(
    file: FileId,
    parser: &ItemParser,
    tokens: &[Spanned],
    silent: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> ItemKind {
    let mut tokens = tokens.to_vec();
    for _ in 0..MAX_ERRORS_PER_ITEM {
        let failure = match parser.parse(file, tokens.iter().map(|t| Ok::<_, Box<Diagnostic>>(*t))) {
            Ok(kind) => return kind,
            Err(failure) => failure,
        };
        let (diagnostic, at) = report(file, &tokens, failure);
        if !silent {
            diagnostics.push(diagnostic);
        }
        let Some((from, to)) = broken_range(&tokens, at) else { break };
        let place = (tokens[from].0, Tok::Broken, tokens[to - 1].2);
        tokens.splice(from..to, [place]);
    }
    ItemKind::Broken(names(file, &tokens))
}

/// The message for a failure, and the token where it is.
fn report<'t>(file: FileId, tokens: &[Spanned], failure: Fail<'t>) -> (Diagnostic, usize) {
    let find = |start: usize| tokens.iter().position(|t| t.0 >= start).unwrap_or(tokens.len());
    match failure {
        ParseError::UnrecognizedToken { token, expected } => {
            let at = tokens.iter().position(|t| (t.0, t.2) == (token.0, token.2)).unwrap_or(tokens.len());
            (explain(file, tokens, at, &expected), at)
        }
        ParseError::UnrecognizedEof { expected, .. } => {
            (explain(file, tokens, tokens.len(), &expected), tokens.len())
        }
        ParseError::ExtraToken { token } => (explain(file, tokens, find(token.0), &[]), find(token.0)),
        ParseError::InvalidToken { location } => (explain(file, tokens, find(location), &[]), find(location)),
        ParseError::User { error } => {
            let at = find(error.span().start as usize);
            (*error, at)
        }
    }
}

/// The tokens to replace after a failure at `at`: the innermost statement around it, or the right side of the
/// item. `None` when nothing smaller than the item is left.
fn broken_range(tokens: &[Spanned], at: usize) -> Option<(usize, usize)> {
    let mut blocks: Vec<Option<usize>> = vec![];
    for k in 0..at.min(tokens.len()) {
        match tokens[k].1 {
            Tok::BraceOpen => blocks.push(is_block(tokens, k).then_some(k)),
            Tok::ParenOpen | Tok::SquareOpen => blocks.push(None),
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => {
                blocks.pop();
            }
            _ => {}
        }
    }
    let whole = (0, tokens.len());
    blocks
        .iter()
        .rev()
        .flatten()
        .map(|open| statement(tokens, *open, at))
        .chain([whole])
        .filter_map(|(from, to)| right_side(tokens, from, to, at, (from, to) == whole))
        .find(|(from, to)| to > from && tokens[*from..*to].iter().any(|t| t.1 != Tok::Broken))
}

/// Whether the brace opens a block, and not arms, updates or fields.
fn is_block(tokens: &[Spanned], brace: usize) -> bool {
    let before = brace.checked_sub(1).map(|k| tokens[k].1);
    let declares = matches!(tokens.first().map(|t| t.1), Some(Tok::Struct | Tok::Enum | Tok::Instance));
    !declares && !matches!(before, Some(Tok::Of | Tok::With | Tok::Up(_) | Tok::QualUp(_)))
}

/// The statement around `at` in the block that opens at `open`.
fn statement(tokens: &[Spanned], open: usize, at: usize) -> (usize, usize) {
    let (mut from, mut depth) = (open + 1, 0usize);
    for (k, (_, tok, _)) in tokens.iter().enumerate().skip(open + 1) {
        match tok {
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => depth += 1,
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose if depth == 0 => return (from, k),
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => depth -= 1,
            Tok::Semi if depth == 0 && k >= at => return (from, k),
            Tok::Semi if depth == 0 => from = k + 1,
            _ => {}
        }
    }
    (from, tokens.len())
}

/// Of a `let`, `def` or `param` that failed right of its `=`, that right side; else the whole statement. A
/// whole item cannot be replaced.
fn right_side(
    tokens: &[Spanned],
    from: usize,
    to: usize,
    at: usize,
    is_item: bool,
) -> Option<(usize, usize)> {
    let binds =
        matches!(tokens.get(from).map(|t| t.1), Some(Tok::Def | Tok::Let | Tok::Param | Tok::Derivative));
    let mut depth = 0usize;
    let equals = tokens[from..to].iter().position(|(_, tok, _)| {
        match tok {
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => depth += 1,
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => depth = depth.saturating_sub(1),
            _ => {}
        }
        *tok == Tok::Equals && depth == 0
    });
    match equals.map(|k| from + k + 1).filter(|k| binds && *k <= at && *k < to) {
        Some(right) => Some((right, to)),
        None if is_item => None,
        None => Some((from, to)),
    }
}

/// The names that an unreadable item would have defined.
fn names(file: FileId, tokens: &[Spanned]) -> Vec<Name> {
    let named = |t: &Spanned| match t.1 {
        Tok::Id(s) | Tok::Up(s) => Some(Name { text: s.to_string(), span: Span::new(file, t.0, t.2) }),
        _ => None,
    };
    match tokens.first().map(|t| t.1) {
        Some(Tok::Def | Tok::Struct | Tok::Type | Tok::Param) => {
            tokens.get(1).and_then(named).into_iter().collect()
        }
        Some(Tok::Enum | Tok::Import) => tokens[1..].iter().filter_map(named).collect(),
        Some(Tok::Let) => tokens[1..].iter().take_while(|t| t.1 != Tok::Equals).filter_map(named).collect(),
        Some(_) | None => vec![],
    }
}
