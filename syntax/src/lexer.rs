//! Text to tokens: the newline rule, `-o`, digits after a dot, documentation, and balanced brackets.
#![expect(clippy::wildcard_enum_match_arm, reason = "of the many tokens a few matter in each place")]

use adl_diag::{Diagnostic, FileId, Span};
use logos::{Lexer, Logos};

use crate::{
    build::{MAX_DEPTH, escape, parse_int},
    errors,
    token::Tok,
};

/// A token with its place in bytes.
pub(crate) type Spanned<'s> = (usize, Tok<'s>, usize);

/// What the lexer makes of a text.
#[derive(Debug, Default)]
pub(crate) struct Lexed<'s> {
    /// The tokens, with `;` put in at line ends, brackets always balanced.
    pub(crate) tokens: Vec<Spanned<'s>>,
    /// The `///` lines: where each starts, and its text.
    pub(crate) docs: Vec<(usize, String)>,
    /// Where the first string opens that does not end on its line.
    pub(crate) open_string: Option<u32>,
    /// What went wrong.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Where tokens were put in or left out to balance brackets; errors there are consequences.
    pub(crate) patched: Vec<usize>,
    /// Whether the text ends inside a bracket or a comment.
    pub(crate) unclosed: bool,
}

/// Reads a whole text. Never fails: what cannot be read is reported and left out.
pub(crate) fn lex(file: FileId, text: &str) -> Lexed<'_> {
    let first = run(file, text, Items::Ignore);
    // A bracket that is never closed swallows the rest of the file, unless items at the left margin end it.
    if first.unclosed { Lexed { unclosed: true, ..run(file, text, Items::CloseAtMargin) } } else { first }
}

/// What an item's first word at the left margin does to open brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    Ignore,
    CloseAtMargin,
}

/// An open bracket.
struct Open<'s> {
    tok: Tok<'s>,
    at: usize,
    /// The headers `loop … do`, `accum … do`, `when … do` open directly inside.
    heads: Vec<Tok<'s>>,
}

struct Ctx<'s> {
    file: FileId,
    text: &'s str,
    items: Items,
    open: Vec<Open<'s>>,
    /// Open headers outside all brackets.
    heads: Vec<Tok<'s>>,
    out: Lexed<'s>,
    newline: bool,
    /// A bracket was wrong in this item: what is wrong with others up to its end follows from that.
    misled: bool,
}

fn run(file: FileId, text: &str, items: Items) -> Lexed<'_> {
    let out = Lexed::default();
    let mut ctx = Ctx { file, text, items, open: vec![], heads: vec![], out, newline: false, misled: false };
    let mut lexer = Tok::lexer(text);
    while let Some(tok) = lexer.next() {
        let at = lexer.span();
        match tok {
            Err(()) => ctx.unknown(at.start, at.end),
            Ok(tok) => ctx.token(&mut lexer, tok),
        }
        if ctx.open.len() > MAX_DEPTH as usize {
            let span = ctx.span(at.start, at.end);
            ctx.out.diagnostics.push(errors::too_deep(span));
            ctx.close_all(at.end);
            return ctx.out;
        }
    }
    if let Some(open) = ctx.open.last() {
        let span = ctx.span(open.at, open.at + 1);
        let wrong = errors::unclosed(span, opener(open.tok));
        ctx.out.unclosed = true;
        ctx.bracket(wrong);
        ctx.close_all(text.len());
    }
    ctx.out
}

impl<'s> Ctx<'s> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// A character that is no token; those that touch are one error.
    fn unknown(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        if let Some(last) = self.out.diagnostics.last_mut()
            && last.code == adl_diag::Code::E0101
            && let Some((place, _)) = last.labels.first_mut()
            && place.end == span.start
        {
            *place = place.to(span);
        } else {
            self.out.diagnostics.push(errors::unknown_character(span, &self.text[start..end]));
        }
        self.out.patched.push(start);
    }

    fn token(&mut self, lexer: &mut Lexer<'s, Tok<'s>>, tok: Tok<'s>) {
        let (start, end) = (lexer.span().start, lexer.span().end);
        match tok {
            Tok::Space => {}
            Tok::Newline => self.newline = true,
            Tok::LineComment(comment) => {
                if let Some(doc) = comment.strip_prefix("///").filter(|doc| !doc.starts_with('/')) {
                    let doc = doc.strip_prefix(' ').unwrap_or(doc).trim_end();
                    self.out.docs.push((start, doc.to_string()));
                }
            }
            Tok::BlockComment(closed) => {
                if !closed {
                    let span = self.span(start, start + 2);
                    self.out.diagnostics.push(errors::open_comment(span));
                    self.out.unclosed = true;
                }
                self.newline |= self.text[start..end].contains('\n');
            }
            Tok::Minus if self.is_lolli(start, end) => {
                lexer.bump(1);
                self.push((start, Tok::Lolli, end + 1));
            }
            Tok::Float(number) if self.follows_dot(start) => self.digits_after_dot(start, number),
            Tok::Int(number) => {
                if parse_int(number).is_none() {
                    let span = self.span(start, end);
                    self.out.diagnostics.push(errors::integer_too_large(span));
                }
                self.push((start, tok, end));
            }
            Tok::Float(number) => {
                if crate::build::float(number).is_nan() {
                    let span = self.span(start, end);
                    self.out.diagnostics.push(errors::bad_number(span));
                }
                self.push((start, tok, end));
            }
            Tok::Str(literal) => {
                self.string(start, literal);
                self.push((start, tok, end));
            }
            other => self.push((start, other, end)),
        }
    }

    fn is_lolli(&self, start: usize, end: usize) -> bool {
        is_lolli(self.text, start, end)
    }

    fn follows_dot(&self, start: usize) -> bool {
        matches!(self.out.tokens.last(), Some((_, Tok::Dot, end)) if *end == start)
    }

    /// `t.0.1` is two projections: right after a dot, digits are an Int.
    fn digits_after_dot(&mut self, start: usize, number: &'s str) {
        match number.split_once('.') {
            Some((a, b)) if b.bytes().all(|c| c.is_ascii_digit()) => {
                let dot = start + a.len();
                self.push((start, Tok::Int(a), dot));
                self.push((dot, Tok::Dot, dot + 1));
                self.push((dot + 1, Tok::Int(b), start + number.len()));
            }
            Some(_) | None => self.push((start, Tok::Float(number), start + number.len())),
        }
    }

    fn string(&mut self, start: usize, literal: &str) {
        let mut at = 1;
        let mut closed = false;
        while at < literal.len() {
            match literal.as_bytes()[at] {
                b'\\' => {
                    let (found, len) = escape(&literal[at..]);
                    if found.is_none() {
                        let end = (at + len).min(literal.len());
                        let span = self.span(start + at, start + end);
                        self.out.diagnostics.push(errors::unknown_escape(span, &literal[at..end]));
                    }
                    at += len;
                }
                b'"' => {
                    closed = true;
                    at += 1;
                }
                _ => at += 1,
            }
        }
        if !closed {
            let span = self.span(start, start + literal.len());
            self.out.open_string.get_or_insert(span.start);
            self.out.diagnostics.push(errors::open_string(span));
        }
    }

    /// Adds a token, with the newline rule before it and the account of brackets.
    fn push(&mut self, (start, tok, end): Spanned<'s>) {
        let newline = std::mem::take(&mut self.newline);
        let at_margin = start == 0 || self.text.as_bytes().get(start - 1) == Some(&b'\n');
        if newline && at_margin && tok.begins_item() && self.items == Items::CloseAtMargin {
            self.close_at_item(start);
        } else if newline && self.ends_statement(start, tok, end) {
            self.out.tokens.push((start, Tok::Semi, start));
            self.heads().clear();
        }
        let closes = matches!(tok, Tok::ParenClose | Tok::SquareClose | Tok::BraceClose);
        if at_margin && !closes && (self.open.is_empty() || tok.begins_item()) {
            self.misled = false;
        }
        match tok {
            Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => {
                self.open.push(Open { tok, at: start, heads: vec![] });
            }
            Tok::ParenClose | Tok::SquareClose | Tok::BraceClose if !self.close(tok, start, end) => return,
            Tok::Loop | Tok::Accum | Tok::When => self.heads().push(tok),
            Tok::Do => {
                self.heads().pop();
            }
            _ => {}
        }
        self.out.tokens.push((start, tok, end));
    }

    fn heads(&mut self) -> &mut Vec<Tok<'s>> {
        match self.open.last_mut() {
            Some(open) => &mut open.heads,
            None => &mut self.heads,
        }
    }

    /// The newline rule: whether a line that begins with `tok` begins a statement.
    fn ends_statement(&mut self, start: usize, tok: Tok<'s>, end: usize) -> bool {
        let in_list = self.open.last().is_some_and(|open| open.tok != Tok::BraceOpen);
        let last = self.out.tokens.last().map(|(_, last, _)| *last);
        if !in_list && tok.begins_item() && !matches!(last, None | Some(Tok::Semi | Tok::BraceOpen)) {
            return true;
        }
        if in_list || !last.is_some_and(Tok::ends_expression) {
            return false;
        }
        let spaced = self.text[end..].chars().next().is_none_or(char::is_whitespace);
        if tok == Tok::Minus && !spaced {
            return !self.is_lolli(start, end);
        }
        let in_header = self.heads().last() == Some(&Tok::Loop);
        let continues_header = in_header && (tok == Tok::For || tok == Tok::Id("keep"));
        !tok.continues() && !continues_header
    }

    /// Takes a closing bracket off the stack; whether the token is kept.
    fn close(&mut self, tok: Tok<'s>, start: usize, end: usize) -> bool {
        let span = self.span(start, end);
        let matches = |open: &Open| closer(open.tok) == tok;
        if self.open.last().is_some_and(matches) {
            self.open.pop();
            return true;
        }
        self.out.patched.push(start);
        let Some((opening, at)) = self.open.last().map(|open| (open.tok, open.at)) else {
            self.bracket(errors::unopened(span, opener(tok)));
            return false;
        };
        let opened = self.span(at, at + 1);
        self.bracket(errors::mismatched(opened, opener(opening), span, opener(tok)));
        if !self.open.iter().any(matches) {
            self.out.tokens.push((start, closer(opening), end));
            self.open.pop();
            return false;
        }
        while let Some(open) = self.open.pop() {
            if matches(&open) {
                break;
            }
            self.out.tokens.push((start, closer(open.tok), start));
        }
        true
    }

    /// A wrong bracket, unless it follows from one before.
    fn bracket(&mut self, wrong: Diagnostic) {
        if !std::mem::replace(&mut self.misled, true) {
            self.out.diagnostics.push(wrong);
        }
    }

    /// An item at the left margin while a bracket is open: the bracket is what is wrong.
    fn close_at_item(&mut self, start: usize) {
        if let Some(open) = self.open.last() {
            let span = self.span(open.at, open.at + 1);
            self.bracket(errors::unclosed(span, opener(open.tok)));
            self.close_all(start);
        }
        self.out.tokens.push((start, Tok::Semi, start));
        self.heads.clear();
    }

    fn close_all(&mut self, at: usize) {
        if !self.open.is_empty() {
            self.out.patched.push(at);
        }
        while let Some(open) = self.open.pop() {
            self.out.tokens.push((at, closer(open.tok), at));
        }
    }
}

/// `-o` is one token with white space before it and no name character after.
pub(crate) fn is_lolli(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let mut after = text[end..].chars();
    before.is_none_or(char::is_whitespace) && after.next() == Some('o') && !after.next().is_some_and(in_name)
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

fn closer<'s>(open: Tok<'s>) -> Tok<'s> {
    match open {
        Tok::ParenOpen => Tok::ParenClose,
        Tok::SquareOpen => Tok::SquareClose,
        _ => Tok::BraceClose,
    }
}

/// How a bracket is written.
fn opener(tok: Tok<'_>) -> char {
    match tok {
        Tok::ParenOpen => '(',
        Tok::SquareOpen => '[',
        Tok::BraceOpen => '{',
        Tok::ParenClose => ')',
        Tok::SquareClose => ']',
        _ => '}',
    }
}
