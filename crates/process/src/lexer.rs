//! Tokens: what the text of a `.proc` file is made of.
//!
//! Nothing is refused here. A character that belongs to no token, a text without its closing
//! quotation mark and a comment without its end become tokens of their own, and the parser
//! complains when it meets one: formulas have characters that nothing else has.

use base::{SourceId, Span};
use logos::{Filter, Lexer, Logos};

use crate::meter::Meter;

base::define_tokens! {
    /// The kinds of tokens.
    #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
    #[logos(skip r"[ \t\r\n\f\u{feff}]+")]
    #[logos(skip(r"//[^\n]*", allow_greedy = true))]
    pub(crate) enum Kind {
        /// A name, or a word that is special only in its place, like `process`.
        #[regex("[A-Za-z_][A-Za-z0-9_]*")]
        Name = "a name",
        #[regex("[0-9]+")]
        Number = "a number",
        /// `"any text"`.
        #[regex(r#""[^"\n]*""#)]
        Text = "a quoted text",
        /// A text that is never closed, up to where it probably should have been.
        #[regex(r#""[^"\s;{}|]*"#)]
        OpenText = "a quoted text",
        /// A comment that is never closed; those that are closed are skipped.
        #[token("/*", skip_comment)]
        OpenComment = "a comment",
        /// Characters that belong to no token, as many as stand together.
        Unknown = "an unknown character",
        /// The end of the text.
        End = "the end of the text",
    }
    signs {
        For = "for",
        When = "when",
        In = "in",
        Tau = "tau",
        True = "true",
        False = "false",
        Forall = "forall",
        Exists = "exists",
        Count = "count",
        OpenBrace = "{",
        CloseBrace = "}",
        OpenBracket = "[",
        CloseBracket = "]",
        OpenParen = "(",
        CloseParen = ")",
        Semicolon = ";",
        Colon = ":",
        Comma = ",",
        Bar = "|",
        At = "@",
        Assign = "=",
        Arrow = "->",
        Equivalent = "<->",
        DotDot = "..",
        DotDotEqual = "..=",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        And = "&&",
        Or = "||",
        Not = "!",
    }
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
    /// Whether the token is a word that is never a name.
    pub(crate) fn is_reserved(self) -> bool {
        self.sign().is_some_and(|sign| sign.as_bytes()[0].is_ascii_alphabetic())
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
    fn every_sign_is_read_as_its_token() {
        for word in "for when in tau true false forall exists count".split(' ') {
            assert_eq!(kinds(word)[0].sign(), Some(word));
            assert!(kinds(word)[0].is_reserved());
        }
        for sign in "{ } [ ] ( ) ; : , | @ = -> <-> .. ..= + - * / % == != < <= > >= && || !".split(' ') {
            assert_eq!(kinds(sign)[0].sign(), Some(sign));
            assert!(!kinds(sign)[0].is_reserved());
        }
    }
}
