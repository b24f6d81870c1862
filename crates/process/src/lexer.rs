//! Tokens: what the text of a `.proc` file is made of.
//!
//! Nothing is refused here. A character that belongs to no token, a text without its closing
//! quotation mark and a comment without its end become tokens of their own, and the parser
//! complains when it meets one: formulas have characters that nothing else has.

use std::fmt;

use base::{SourceId, Span};
use logos::{Filter, Lexer, Logos};

use crate::meter::Meter;

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(crate) enum Kind {
    /// A name, or a word that is special only in its place, like `process`.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex("[0-9]+")]
    Number,
    /// `"any text"`.
    #[regex(r#""[^"\n]*""#)]
    Text,
    /// A text that is never closed, up to where it probably should have been.
    #[regex(r#""[^"\s;{}|]*"#)]
    OpenText,
    /// A comment that is never closed; those that are closed are skipped.
    #[token("/*", skip_comment)]
    OpenComment,
    #[token("for")]
    For,
    #[token("when")]
    When,
    #[token("in")]
    In,
    #[token("tau")]
    Tau,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("forall")]
    Forall,
    #[token("exists")]
    Exists,
    #[token("count")]
    Count,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("=")]
    Assign,
    #[token("->")]
    Arrow,
    #[token("<->")]
    Equivalent,
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEqual,
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
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    /// Characters that belong to no token, as many as stand together.
    Unknown,
    /// The end of the text.
    End,
}

/// Skips to the end of a comment that has just begun.
fn skip_comment(lexer: &mut Lexer<'_, Kind>) -> Filter<()> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + "*/".len());
            Filter::Skip
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Filter::Emit(())
        }
    }
}

impl Kind {
    /// The spelling of a token that has only one.
    fn spelling(self) -> Option<&'static str> {
        Some(match self {
            Kind::For => "for",
            Kind::When => "when",
            Kind::In => "in",
            Kind::Tau => "tau",
            Kind::True => "true",
            Kind::False => "false",
            Kind::Forall => "forall",
            Kind::Exists => "exists",
            Kind::Count => "count",
            Kind::OpenBrace => "{",
            Kind::CloseBrace => "}",
            Kind::OpenBracket => "[",
            Kind::CloseBracket => "]",
            Kind::OpenParen => "(",
            Kind::CloseParen => ")",
            Kind::Semicolon => ";",
            Kind::Colon => ":",
            Kind::Comma => ",",
            Kind::Bar => "|",
            Kind::At => "@",
            Kind::Assign => "=",
            Kind::Arrow => "->",
            Kind::Equivalent => "<->",
            Kind::DotDot => "..",
            Kind::DotDotEqual => "..=",
            Kind::Plus => "+",
            Kind::Minus => "-",
            Kind::Star => "*",
            Kind::Slash => "/",
            Kind::Percent => "%",
            Kind::Equal => "==",
            Kind::NotEqual => "!=",
            Kind::Less => "<",
            Kind::LessEqual => "<=",
            Kind::Greater => ">",
            Kind::GreaterEqual => ">=",
            Kind::And => "&&",
            Kind::Or => "||",
            Kind::Not => "!",
            Kind::Name
            | Kind::Number
            | Kind::Text
            | Kind::OpenText
            | Kind::OpenComment
            | Kind::Unknown
            | Kind::End => return None,
        })
    }

    /// Whether the token is a word that is never a name.
    pub(crate) fn is_reserved(self) -> bool {
        self.spelling().is_some_and(|spelling| spelling.as_bytes()[0].is_ascii_alphabetic())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.spelling(), self) {
            (Some(spelling), _) => write!(f, "`{spelling}`"),
            (None, Kind::Name) => write!(f, "a name"),
            (None, Kind::Number) => write!(f, "a number"),
            (None, Kind::Text | Kind::OpenText) => write!(f, "a quoted text"),
            (None, Kind::OpenComment) => write!(f, "a comment"),
            (None, Kind::End) => write!(f, "the end of the text"),
            (None, _) => write!(f, "an unknown character"),
        }
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// What a token takes, and the part of a syntax tree that comes of it.
pub(crate) const TOKEN_BYTES: u64 = 100;

/// All tokens of a text that stands at `offset` in its source; the last one is [`Kind::End`]. It comes early
/// if the budget is spent.
pub(crate) fn tokens(text: &str, source: SourceId, offset: usize, meter: &Meter<'_>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (kind, range) in Kind::lexer(text).spanned() {
        if meter.take(TOKEN_BYTES).is_err() {
            break;
        }
        let kind = kind.unwrap_or(Kind::Unknown);
        let span = Span::new(source, offset + range.start, offset + range.end);
        match tokens.last_mut() {
            Some(last) if kind == Kind::Unknown && last.kind == kind && last.span.end == span.start => {
                last.span.end = span.end;
            }
            _ => tokens.push(Token { kind, span }),
        }
    }
    let end = offset + text.len();
    tokens.push(Token { kind: Kind::End, span: Span::new(source, end, end) });
    tokens
}

#[cfg(test)]
mod tests {
    use base::Budget;

    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text, SourceId::new(0), 0, &Meter::new(Budget::unlimited()))
            .iter()
            .map(|token| token.kind)
            .collect()
    }

    #[test]
    fn the_longest_token_wins_and_comments_are_skipped() {
        use Kind::*;
        assert_eq!(
            kinds("0..N // c\n0..=1 /* * / */ a"),
            [Number, DotDot, Name, Number, DotDotEqual, Number, Name, End]
        );
        assert_eq!(
            kinds("a<->b->c<=d<e"),
            [Name, Equivalent, Name, Arrow, Name, LessEqual, Name, Less, Name, End]
        );
        assert_eq!(kinds("information in for form"), [Name, In, For, Name, End]);
        assert_eq!(kinds("\"a b\" \"open\n x"), [Text, OpenText, Name, End]);
        assert_eq!(kinds("a /* never closed"), [Name, OpenComment, End]);
        assert_eq!(kinds("é#$ x"), [Unknown, Name, End]);
        assert_eq!(kinds("/**/ /***/ x // no newline"), [Name, End]);
    }

    #[test]
    fn every_spelling_is_read_as_its_token() {
        for word in "for when in tau true false forall exists count".split(' ') {
            assert_eq!(kinds(word)[0].spelling(), Some(word));
            assert!(kinds(word)[0].is_reserved());
        }
        for sign in "{ } [ ] ( ) ; : , | @ = -> <-> .. ..= + - * / % == != < <= > >= && || !".split(' ') {
            assert_eq!(kinds(sign)[0].spelling(), Some(sign));
            assert!(!kinds(sign)[0].is_reserved());
        }
    }
}
