//! Tokens: what a Promela text is made of, before and after preprocessing.
//!
//! Nothing is refused here: a character that belongs to no token, a text without its closing mark
//! and a comment without its end become tokens of their own, and the parser complains when it
//! meets one. Words are names here, whatever they mean: a macro may be called like a keyword.

use std::sync::Arc;

use base::{Limit, SourceId, Span};
use logos::{Filter, Lexer, Logos};

use crate::words::Word;

base::define_tokens! {
    /// The kinds of tokens.
    #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
    #[logos(skip r"[ \t\r\f\u{b}\u{feff}]+")]
    #[logos(skip r"\\\r?\n")]
    #[logos(skip(r"//[^\n]*", allow_greedy = true))]
    pub(crate) enum Kind {
        #[regex("[A-Za-z_][A-Za-z0-9_]*")]
        Name = "a name",
        /// A keyword; the preprocessor makes these of names when all macros are expanded.
        Keyword(word: Word) = format_args!("`{word}`"),
        #[regex("[0-9][A-Za-z0-9_]*")]
        Number = "a number",
        /// `"any text"`, possibly over several lines.
        #[regex(r#""([^"\\]|\\[\s\S])*""#)]
        Text = "a text in quotation marks",
        /// A text that is never closed: its mark and the first word.
        #[regex(r#""[^"\s]*"#)]
        OpenText = "a text in quotation marks",
        /// `'a'` or `'\n'`.
        #[regex(r"'([^'\\\n]|\\[^\n])'")]
        Char = "a character",
        /// A comment that is never closed; those that are closed are skipped.
        #[token("/*", skip_comment)]
        OpenComment = "a comment",
        /// The end of a line; only the preprocessor sees it.
        #[token("\n")]
        Newline = "the end of the line",
        /// A run of characters without a meaning.
        Unknown = "an unknown character",
        /// The end of the text.
        End = "the end of the text",
    }
    signs {
        Hash = "#",
        HashHash = "##",
        OpenBrace = "{",
        CloseBrace = "}",
        OpenBracket = "[",
        CloseBracket = "]",
        OpenParen = "(",
        CloseParen = ")",
        Semicolon = ";",
        Option = "::",
        Colon = ":",
        Comma = ",",
        DotDot = "..",
        Dot = ".",
        At = "@",
        Assign = "=",
        Arrow = "->",
        /// The same; nobody sees it outside of here.
        LongArrow = "-->",
        Increment = "++",
        Decrement = "--",
        Plus = "+",
        Minus = "-",
        Star = "*",
        Slash = "/",
        Percent = "%",
        ShiftLeft = "<<",
        ShiftRight = ">>",
        LessEqual = "<=",
        GreaterEqual = ">=",
        Less = "<",
        Greater = ">",
        Equal = "==",
        NotEqual = "!=",
        And = "&&",
        Or = "||",
        BitAnd = "&",
        BitOr = "|",
        BitXor = "^",
        Tilde = "~",
        BangBang = "!!",
        Bang = "!",
        QueryQuery = "??",
        Query = "?",
        /// Only in formulas: `/\` and `\/`.
        Backslash = "\\",
    }
}

/// Skips a comment; one that is never closed becomes a token that reaches to the end.
fn skip_comment(lexer: &mut Lexer<'_, Kind>) -> Filter<()> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Filter::Skip
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Filter::Emit(())
        }
    }
}

/// A token, its text and its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: Arc<str>,
    /// Where it stands, or, if it comes out of a macro, where the macro is used.
    pub(crate) span: Span,
    /// Whether it is the first of its line.
    pub(crate) first: bool,
    /// What it comes out of; 0 if it stands in the text itself.
    pub(crate) origin: u32,
}

impl Token {
    pub(crate) fn is(&self, kind: Kind) -> bool {
        self.kind == kind
    }
}

/// What a token was expanded from: a macro or an inline.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) name: Arc<str>,
    /// Where a macro is defined, or where an inline is called.
    pub(crate) place: Span,
    pub(crate) is_inline: bool,
    /// What this one was expanded from, or 0.
    pub(crate) parent: u32,
}

/// Whether there is an end of a line that is not continued.
fn ends_a_line(blank: &str) -> bool {
    blank.match_indices('\n').any(|(at, _)| !blank[..at].trim_end_matches('\r').ends_with('\\'))
}

/// All tokens of a text, ends of lines included; the last one is [`Kind::End`].
pub(crate) fn tokens(text: &str, source: SourceId) -> Vec<Token> {
    tokens_within(text, source, &mut || Ok(())).unwrap_or_default()
}

/// The same, as long as each token can be paid for.
pub(crate) fn tokens_within(
    text: &str,
    source: SourceId,
    pay: &mut dyn FnMut() -> Result<(), Limit>,
) -> Result<Vec<Token>, Limit> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut first = true;
    let mut end_of_last = 0;
    for (kind, range) in Kind::lexer(text).spanned() {
        pay()?;
        let kind = match kind.unwrap_or(Kind::Unknown) {
            Kind::LongArrow => Kind::Arrow,
            kind => kind,
        };
        // A comment may contain the end of a line.
        first |= ends_a_line(&text[end_of_last..range.start]);
        end_of_last = range.end;
        let span = Span::new(source, range.start, range.end);
        if let Some(last) = tokens.last_mut()
            && kind == Kind::Unknown
            && last.kind == kind
            && last.span.end == span.start
        {
            last.span.end = span.end;
            last.text = text[last.span.start as usize..range.end].into();
            continue;
        }
        // A long comment that is never closed is not worth keeping.
        let text = if kind == Kind::OpenComment { "/*" } else { &text[range] };
        tokens.push(Token { kind, text: text.into(), span, first, origin: 0 });
        first = kind == Kind::Newline;
    }
    let span = Span::new(source, text.len(), text.len());
    tokens.push(Token { kind: Kind::End, text: "".into(), span, first: true, origin: 0 });
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text, SourceId::new(0)).iter().map(|token| token.kind).collect()
    }

    #[test]
    fn the_longest_token_wins_and_comments_are_skipped() {
        use Kind::*;
        assert_eq!(kinds("a!!b??c"), [Name, BangBang, Name, QueryQuery, Name, End]);
        assert_eq!(
            kinds("1..3 // c\n::x:y"),
            [Number, DotDot, Number, Newline, Option, Name, Colon, Name, End]
        );
        assert_eq!(kinds("x--y /* \n */ '\\n' 'a'"), [Name, Decrement, Name, Char, Char, End]);
        assert_eq!(kinds("\"a\nb\" \"open\n"), [Text, OpenText, Newline, End]);
        assert_eq!(kinds("a \\\n b /* never closed"), [Name, Name, OpenComment, End]);
        assert_eq!(kinds("é$ x"), [Unknown, Name, End]);
    }

    #[test]
    fn tokens_know_whether_they_begin_a_line() {
        let first = |text: &str| -> Vec<bool> {
            tokens(text, SourceId::new(0)).iter().map(|token| token.first).collect()
        };
        assert_eq!(first("a b\nc"), [true, false, false, true, true]);
        assert_eq!(first("a /* \n */ b"), [true, true, true]);
        assert_eq!(first("a \\\n b"), [true, false, true]);
    }
}
