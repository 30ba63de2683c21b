//! The layout of programs, by tokens. Line breaks are the writer's; white space inside lines and the start of each line
//! follow rules. Comments stay where they are. The tokens, and so the program, are those of the text.
//!
//! - A statement of a block stands two columns right of the line that opens the block, an item at the margin.
//! - Other lines keep their distance from the first line of their statement, or from the line that opened their
//!   bracket, but stand at least two columns right of it.
//! - Operators that bind tightly (`^ * / % @ + -` and `=>`) have spaces on both sides or on none, as written.
#![expect(clippy::wildcard_enum_match_arm, reason = "of the many tokens a few matter in each place")]

use adl_diag::{Diagnostic, FileId};
use logos::Logos;

use crate::{lexer, parse, token::Tok};

/// How far a line moves in.
const STEP: usize = 2;

/// The text in the layout of the language.
///
/// # Errors
///
/// The errors of a text that is no program.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics) = parse(file, text);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let out = Layout::new(file, text).write();
    // A layout may not change what is said; where it would, the writer's stands.
    Ok(if same_program(file, text, &out) { out } else { text.to_string() })
}

fn same_program(file: FileId, old: &str, new: &str) -> bool {
    let (a, b) = (lexer::lex(file, old), lexer::lex(file, new));
    let words = |lexed: &lexer::Lexed| -> Vec<String> {
        lexed.tokens.iter().map(|(_, tok, _)| format!("{tok:?}")).collect()
    };
    words(&a) == words(&b) && a.docs.iter().map(|d| &d.1).eq(b.docs.iter().map(|d| &d.1))
}

/// A token or comment with what stood before it.
struct Piece<'s> {
    tok: Tok<'s>,
    text: &'s str,
    start: usize,
    /// Line breaks before it.
    breaks: usize,
    /// Columns of white space before it on its line.
    space: usize,
}

impl Piece<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.tok, Tok::LineComment(_) | Tok::BlockComment(_))
    }
}

/// A line whose start others are measured from: its column as written, and as laid out.
#[derive(Clone, Copy, Default)]
struct Line {
    old: usize,
    new: usize,
}

struct Open<'s> {
    tok: Tok<'s>,
    /// The line that opened it.
    line: Line,
    /// The first line of the statement inside that is being read.
    statement: Line,
}

struct Layout<'s> {
    pieces: Vec<Piece<'s>>,
    /// Where statements begin, by the newline rule.
    starts: Vec<usize>,
    open: Vec<Open<'s>>,
    /// The first line of the item.
    item: Line,
    /// The line being written.
    line: Line,
    out: String,
}

/// The tokens and comments of a text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out: Vec<Piece<'_>> = vec![];
    let mut lexer = Tok::lexer(text);
    let (mut breaks, mut space) = (0, 0);
    while let Some(tok) = lexer.next() {
        let (mut tok, start, mut end) = (tok.unwrap_or(Tok::Broken), lexer.span().start, lexer.span().end);
        match tok {
            Tok::Space => {
                space += text[start..end].chars().filter(|c| matches!(c, ' ' | '\t')).count();
                continue;
            }
            Tok::Newline => {
                breaks += 1;
                space = 0;
                continue;
            }
            Tok::Minus if lexer::is_lolli(text, start, end) => {
                lexer.bump(1);
                (tok, end) = (Tok::Lolli, end + 1);
            }
            _ => {}
        }
        out.push(Piece { tok, text: text[start..end].trim_end(), start, breaks, space });
        (breaks, space) = (0, 0);
    }
    out
}

impl<'s> Layout<'s> {
    fn new(file: FileId, text: &'s str) -> Layout<'s> {
        let tokens = lexer::lex(file, text).tokens;
        // A statement begins after a `;` that the lexer put in or the writer wrote.
        let begins = tokens.windows(2).filter(|pair| pair[0].1 == Tok::Semi).map(|pair| pair[1].0);
        let starts = tokens.first().map(|first| first.0).into_iter().chain(begins).collect();
        let (item, line) = (Line::default(), Line::default());
        Layout { pieces: pieces(text), starts, open: vec![], item, line, out: String::new() }
    }

    fn write(mut self) -> String {
        for k in 0..self.pieces.len() {
            let piece = &self.pieces[k];
            if k == 0 || piece.breaks > 0 {
                if k > 0 {
                    // One empty line at most, and none at the start of a block or before its end.
                    let at_edge = self.pieces[k - 1].tok == Tok::BraceOpen || piece.tok == Tok::BraceClose;
                    self.out.push_str(if piece.breaks > 1 && !at_edge { "\n\n" } else { "\n" });
                }
                self.begin_line(k);
            } else {
                let gap = self.gap(k);
                self.out.extend(std::iter::repeat_n(' ', gap));
            }
            let (tok, text) = (self.pieces[k].tok, self.pieces[k].text);
            self.out.push_str(text);
            match tok {
                Tok::ParenOpen | Tok::SquareOpen | Tok::BraceOpen => {
                    self.open.push(Open { tok, line: self.line, statement: self.line });
                }
                Tok::ParenClose | Tok::SquareClose | Tok::BraceClose => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// The token after any comments.
    fn after_comments(&self, k: usize) -> Option<&Piece<'s>> {
        self.pieces[k..].iter().find(|p| !p.is_comment())
    }

    /// Does a line that begins with this piece begin a statement, an arm or a field?
    fn begins(&self, k: usize) -> bool {
        let before = self.pieces[..k].iter().rev().find(|p| !p.is_comment()).map(|p| p.tok);
        if matches!(before, None | Some(Tok::BraceOpen | Tok::Semi)) {
            return true;
        }
        let in_block = self.open.last().is_some_and(|open| open.tok == Tok::BraceOpen);
        if in_block && before == Some(Tok::Comma) {
            return true;
        }
        self.after_comments(k).is_some_and(|next| self.starts.binary_search(&next.start).is_ok())
    }

    /// Writes the white space at the start of a line.
    fn begin_line(&mut self, k: usize) {
        let piece = &self.pieces[k];
        let old = piece.space;
        let closes = matches!(piece.tok, Tok::ParenClose | Tok::SquareClose | Tok::BraceClose);
        let from = |line: Line| line.new + STEP.max(old.saturating_sub(line.old));
        // A comment before the end of the file or of a block stands like a statement.
        let ends =
            piece.is_comment() && self.after_comments(k).is_none_or(|next| next.tok == Tok::BraceClose);
        let begins = self.begins(k) || ends;
        let new = match self.open.last() {
            Some(open) if closes => open.line.new,
            Some(open) if open.tok != Tok::BraceOpen => from(open.line),
            Some(open) if begins => open.line.new + STEP,
            Some(open) => from(open.statement),
            None if begins => 0,
            None => from(self.item),
        };
        self.line = Line { old, new };
        if begins && !closes {
            match self.open.last_mut() {
                Some(open) if open.tok == Tok::BraceOpen => open.statement = self.line,
                Some(_) => {}
                None => self.item = self.line,
            }
        }
        self.out.extend(std::iter::repeat_n(' ', new));
    }

    /// The columns between this piece and the one before on its line.
    fn gap(&self, k: usize) -> usize {
        let (before, piece) = (&self.pieces[k - 1], &self.pieces[k]);
        if piece.is_comment() || before.is_comment() {
            return piece.space.max(1);
        }
        let spaced = piece.space.min(1);
        let next_spaced = self.pieces.get(k + 1).is_some_and(|p| p.space > 0 || p.breaks > 0);
        match (before.tok, piece.tok) {
            (Tok::ParenOpen | Tok::SquareOpen | Tok::Backslash | Tok::Bang, _) => 0,
            (_, Tok::ParenClose | Tok::SquareClose | Tok::Comma | Tok::Semi) => 0,
            (Tok::BraceOpen, Tok::BraceClose) => 0,
            (Tok::Comma | Tok::Semi, _) => 1,
            // After a binder's dot there is white space, after that of a field none.
            (Tok::Dot, _) => spaced,
            (Tok::Int(_) | Tok::Float(_), Tok::Dot) => spaced,
            (_, Tok::Dot) => 0,
            (_, Tok::Colon) => spaced,
            (Tok::Colon, _) => 1,
            // A sign stands at its number.
            (Tok::Minus, _) if self.is_sign(k - 1) => spaced,
            (Tok::Minus, _) if self.starts_line(k - 1) => spaced,
            (_, Tok::Minus) if self.is_sign(k) => self.after_word(k, spaced),
            (_, op) if is_tight(op) => usize::from(spaced == 1 || next_spaced),
            (op, _) if is_tight(op) => usize::from(spaced == 1 || before.space > 0 || before.breaks > 0),
            (_, Tok::ParenOpen) if self.imports(k) => 1,
            (Tok::BraceClose, Tok::ParenOpen | Tok::SquareOpen) => spaced,
            (last, Tok::ParenOpen | Tok::SquareOpen) if last.ends_expression() => 0,
            _ => 1,
        }
    }

    /// The space before a sign: as any operand has it.
    fn after_word(&self, k: usize, spaced: usize) -> usize {
        let before = self.pieces[k - 1].tok;
        if is_tight(before) {
            let (op, next) = (&self.pieces[k - 1], &self.pieces[k]);
            return usize::from(op.space > 0 || op.breaks > 0 || next.space > 0);
        }
        if before == Tok::Dot { spaced } else { 1 }
    }

    /// Is this the list of an import?
    fn imports(&self, k: usize) -> bool {
        let line = (0..k).rev().find(|j| self.starts_line(*j)).unwrap_or(0);
        self.pieces[line].tok == Tok::Import
    }

    fn starts_line(&self, k: usize) -> bool {
        k == 0 || self.pieces[k].breaks > 0
    }

    /// Is this minus a sign, not a difference?
    fn is_sign(&self, k: usize) -> bool {
        self.pieces[k].tok == Tok::Minus
            && !self.pieces[..k]
                .iter()
                .rev()
                .find(|p| !p.is_comment())
                .is_some_and(|p| p.tok.ends_expression())
    }
}

/// Operators that stand with or without spaces, as written.
fn is_tight(tok: Tok<'_>) -> bool {
    matches!(
        tok,
        Tok::Caret | Tok::Star | Tok::Slash | Tok::Percent | Tok::At | Tok::Plus | Tok::Minus | Tok::FatArrow
    )
}
