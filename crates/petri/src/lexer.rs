//! Tokens of expressions about markings.

use base::{SourceId, Span};
use logos::Logos;

base::define_tokens! {
    /// The kinds of tokens.
    #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
    #[logos(skip r"[ \t\r\n\f]+")]
    pub(crate) enum Kind {
        /// The id or name of a node, or a word like `fireable`.
        #[regex(r"[\p{L}_][\p{L}\p{N}_.]*")]
        Name = "a name",
        /// An id or name that could not be written otherwise.
        #[regex(r#"'([^'\\]|\\[^\n])*'"#)]
        #[regex(r#""([^"\\]|\\[^\n])*""#)]
        Quoted = "a name",
        #[regex("[0-9]+")]
        Number = "a number",
        /// What belongs to no token.
        Unknown = "an unknown character",
        /// The end of the text.
        End = "the end of the text",
    }
    signs {
        True = "true",
        False = "false",
        Open = "(",
        Close = ")",
        Comma = ",",
        Equivalent = "<->",
        Implies = "->",
        Or = "||",
        And = "&&",
        Not = "!",
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        Plus = "+",
        Minus = "-",
        Times = "*",
    }
}

/// A token, its text and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    pub(crate) span: Span,
}

impl Token<'_> {
    /// The name that is written, without quotation marks; `\` protects the character after it.
    pub(crate) fn name(&self) -> String {
        if self.kind != Kind::Quoted {
            return self.text.to_owned();
        }
        let mut inside = self.text[1..self.text.len() - 1].chars();
        let mut name = String::with_capacity(self.text.len());
        while let Some(c) = inside.next() {
            name.push(if c == '\\' { inside.next().unwrap_or(c) } else { c });
        }
        name
    }
}

/// All tokens of a text that stands at `offset` in its source; the last one is [`Kind::End`].
pub(crate) fn tokens(text: &str, source: SourceId, offset: usize) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    for (kind, range) in Kind::lexer(text).spanned() {
        let span = Span::new(source, offset + range.start, offset + range.end);
        tokens.push(Token { kind: kind.unwrap_or(Kind::Unknown), text: &text[range], span });
    }
    let end = offset + text.len();
    tokens.push(Token { kind: Kind::End, text: "", span: Span::new(source, end, end) });
    tokens
}

/// A name as an expression can be written with: quoted if it must be.
pub(crate) fn written(name: &str) -> String {
    let mut lexer = Kind::lexer(name);
    let is_plain = lexer.next() == Some(Ok(Kind::Name)) && lexer.slice().len() == name.len();
    if is_plain && !matches!(name, "deadlock" | "fireable") {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_being_written() {
        for name in
            ["p", "p.1_x", "Straße", "a b", "it's", "true", "deadlock", "1a", "a-b", r"\", "", "a\\'b"]
        {
            let text = written(name);
            let tokens = tokens(&text, SourceId::new(0), 0);
            assert_eq!(tokens.len(), 2, "{text}");
            assert_eq!(tokens[0].name(), name);
        }
        let kinds: Vec<Kind> =
            tokens("a<->'b'->1 <=x #", SourceId::new(0), 0).iter().map(|t| t.kind).collect();
        use Kind::*;
        assert_eq!(kinds, [Name, Equivalent, Quoted, Implies, Number, LessEqual, Name, Unknown, End]);
    }
}
