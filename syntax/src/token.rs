//! The tokens.

use logos::{Lexer, Logos};

/// A token of adl; white space and comments are tokens here, and [`crate::lexer`] drops them.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'s> {
    #[regex(r"[ \t\r\u{feff}]+")]
    Space,
    #[token("\n")]
    Newline,
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment(&'s str),
    /// `false` when it does not end.
    #[token("/*", block_comment)]
    BlockComment(bool),

    #[regex(r"[\p{Ll}_][\p{L}\p{N}_']*", priority = 3)]
    Id(&'s str),
    #[regex(r"[\p{Lu}][\p{L}\p{N}_']*")]
    Up(&'s str),
    #[regex(r"([\p{Ll}_][\p{L}\p{N}_']*\.)+[\p{Lu}][\p{L}\p{N}_']*", priority = 20)]
    QualUp(&'s str),
    #[regex(r"[0-9][0-9_]*")]
    #[regex(r"0[xX][0-9a-fA-F_]+")]
    #[regex(r"0[bB][0-9_]+")]
    #[regex(r"0[oO][0-9_]+")]
    Int(&'s str),
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9_]+)?")]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9_]+")]
    Float(&'s str),
    /// With its quotes and escapes; the closing quote may be missing.
    #[regex(r#""([^"\\\n]|\\[^\n])*"?"#)]
    Str(&'s str),

    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("_", priority = 10)]
    Underscore,
    #[token("def")]
    Def,
    #[token("let")]
    Let,
    #[token("struct")]
    Struct,
    #[token("enum")]
    Enum,
    #[token("type")]
    Type,
    #[token("import")]
    Import,
    #[token("test")]
    Test,
    #[token("param")]
    Param,
    #[token("derivative")]
    Derivative,
    #[token("instance")]
    Instance,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("else")]
    Else,
    #[token("case")]
    Case,
    #[token("of")]
    Of,
    #[token("for")]
    For,
    #[token("loop")]
    Loop,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("accum")]
    Accum,
    #[token("when")]
    When,
    #[token("with")]
    With,
    #[token("where")]
    Where,
    #[token("exists")]
    Exists,

    #[token(";")]
    Semi,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("=")]
    Equals,
    #[token("+=")]
    PlusEq,
    #[token("->")]
    Arrow,
    /// Made by the lexer from `-` and `o`, see there.
    Lolli,
    #[token("=>")]
    FatArrow,
    #[token("|>")]
    Pipe,
    #[token("||")]
    OrOr,
    #[token("&&")]
    AndAnd,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEq,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEq,
    #[token("++")]
    Concat,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("@")]
    At,
    #[token("^")]
    Caret,
    #[token("!")]
    Bang,
    #[token("\\")]
    Backslash,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("[")]
    SquareOpen,
    #[token("]")]
    SquareClose,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    /// A statement that could not be read; put in by recovery.
    Broken,
}

/// Reads to the end of a block comment; block comments nest.
fn block_comment<'s>(lexer: &mut Lexer<'s, Tok<'s>>) -> bool {
    let rest = lexer.remainder().as_bytes();
    let (mut depth, mut at) = (1usize, 0usize);
    while at < rest.len() {
        match &rest[at..(at + 2).min(rest.len())] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    lexer.bump(at);
                    return true;
                }
            }
            _ => at += 1,
        }
    }
    lexer.bump(rest.len());
    false
}

impl Tok<'_> {
    /// Whether an expression can end with it.
    pub(crate) fn ends_expression(self) -> bool {
        matches!(
            self,
            Tok::Id(_)
                | Tok::Up(_)
                | Tok::QualUp(_)
                | Tok::Int(_)
                | Tok::Float(_)
                | Tok::Str(_)
                | Tok::True
                | Tok::False
                | Tok::Underscore
                | Tok::ParenClose
                | Tok::SquareClose
                | Tok::BraceClose
                | Tok::Broken
        )
    }

    /// Whether, at the start of a line, it goes on with what stands before. The lexer adds the cases of `-`
    /// and of loop headers.
    pub(crate) fn continues(self) -> bool {
        matches!(
            self,
            Tok::PlusEq
                | Tok::Arrow
                | Tok::Lolli
                | Tok::FatArrow
                | Tok::Pipe
                | Tok::OrOr
                | Tok::AndAnd
                | Tok::EqEq
                | Tok::NotEq
                | Tok::Less
                | Tok::LessEq
                | Tok::Greater
                | Tok::GreaterEq
                | Tok::Concat
                | Tok::Plus
                | Tok::Minus
                | Tok::Star
                | Tok::Slash
                | Tok::Percent
                | Tok::At
                | Tok::Caret
                | Tok::Dot
                | Tok::Comma
                | Tok::ParenClose
                | Tok::SquareClose
                | Tok::BraceClose
                | Tok::Then
                | Tok::Else
                | Tok::Of
                | Tok::Do
                | Tok::With
                | Tok::Where
                | Tok::While
                | Tok::Equals
                | Tok::Colon
        )
    }

    /// Whether an item can begin with it, other than an expression.
    pub(crate) fn begins_item(self) -> bool {
        matches!(
            self,
            Tok::Def
                | Tok::Let
                | Tok::Struct
                | Tok::Enum
                | Tok::Type
                | Tok::Import
                | Tok::Test
                | Tok::Param
                | Tok::Derivative
                | Tok::Instance
        )
    }

    /// Whether it is a word that cannot be a name.
    pub(crate) fn is_keyword(self) -> bool {
        self.begins_item()
            || matches!(
                self,
                Tok::If
                    | Tok::Then
                    | Tok::Else
                    | Tok::Case
                    | Tok::Of
                    | Tok::For
                    | Tok::Loop
                    | Tok::While
                    | Tok::Do
                    | Tok::Accum
                    | Tok::When
                    | Tok::With
                    | Tok::Where
                    | Tok::Exists
                    | Tok::True
                    | Tok::False
            )
    }
}
