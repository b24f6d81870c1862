//! The words of the HOA format.

use base::{Budget, Diagnostic, SourceId, Span};

use crate::gave_up::Unread;

/// A word of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `States:` and so on, without the colon.
    Header(String),
    Identifier(String),
    /// `@name`, without the `@`.
    Alias(String),
    Text(String),
    Number(u64),
    /// One of `! & | ( ) [ ] { }`.
    Punctuation(char),
    /// `--BODY--` and so on, without the dashes.
    Mark(&'static str),
    /// The text is over.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Header(name) => write!(f, "`{name}:`"),
            Token::Identifier(name) => write!(f, "`{name}`"),
            Token::Alias(name) => write!(f, "`@{name}`"),
            Token::Text(text) => write!(f, "\"{text}\""),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Punctuation(character) => write!(f, "`{character}`"),
            Token::Mark(name) => write!(f, "`--{name}--`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// The words of a text, the last of which is [`Token::End`].
pub(crate) fn tokens(
    text: &str,
    source: SourceId,
    budget: &mut Budget<'_>,
) -> Result<Vec<(Token, Span)>, Unread> {
    let mut lexer = Lexer { text, source, at: 0 };
    let mut found = vec![];
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.next()?;
        let is_last = token == Token::End;
        budget.tick()?;
        budget.hold(size_of::<(Token, Span)>() as u64)?;
        found.push((token, lexer.span(start)));
        if is_last {
            return Ok(found);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    source: SourceId,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }

    fn error(&self, start: usize, message: impl Into<String>) -> Diagnostic {
        let end = (start + 1).min(self.text.len()).max(start);
        let end = (end..=self.text.len()).find(|&end| self.text.is_char_boundary(end)).unwrap_or(end);
        Diagnostic::error("hoa-syntax", message).at(Span::new(self.source, start, end), "")
    }

    /// Skips blanks and comments, which may be nested.
    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            let start = self.at;
            let mut depth = 0;
            loop {
                if self.rest().starts_with("/*") {
                    depth += 1;
                    self.at += 2;
                } else if self.rest().starts_with("*/") {
                    depth -= 1;
                    self.at += 2;
                } else {
                    let Some(next) = self.rest().chars().next() else {
                        return Err(self.error(start, "this comment is never closed"));
                    };
                    self.at += next.len_utf8();
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }

    fn take_while(&mut self, accepted: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        self.at += self.rest().find(|c| !accepted(c)).unwrap_or(self.rest().len());
        &self.text[start..self.at]
    }

    fn next(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(Token::End) };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match first {
            '"' => self.text_in_quotes(),
            '0'..='9' => {
                let digits = self.take_while(|c| c.is_ascii_digit()).parse();
                digits.map(Token::Number).map_err(|_| self.error(start, "this number is too large"))
            }
            '@' => {
                self.at += 1;
                let name = self.take_while(is_name).to_owned();
                if name.is_empty() {
                    Err(self.error(start, "`@` without a name"))
                } else {
                    Ok(Token::Alias(name))
                }
            }
            '-' => {
                let mark = ["BODY", "END", "ABORT"].into_iter().find(|name| {
                    self.rest()[1..].strip_prefix('-').is_some_and(|rest| {
                        rest.strip_prefix(name).is_some_and(|rest| rest.starts_with("--"))
                    })
                });
                let mark = mark.ok_or_else(|| self.error(start, "unexpected `-`"))?;
                self.at += mark.len() + 4;
                Ok(Token::Mark(mark))
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = self.take_while(is_name).to_owned();
                if self.rest().starts_with(':') {
                    self.at += 1;
                    return Ok(Token::Header(name));
                }
                Ok(Token::Identifier(name))
            }
            '!' | '&' | '|' | '(' | ')' | '[' | ']' | '{' | '}' => {
                self.at += 1;
                Ok(Token::Punctuation(first))
            }
            _ => Err(self.error(start, format!("unexpected character `{}`", first.escape_debug()))),
        }
    }

    fn text_in_quotes(&mut self) -> Result<Token, Diagnostic> {
        let start = self.at;
        let mut text = String::new();
        let mut characters = self.text[start + 1..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return Ok(Token::Text(text));
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => text.push(character),
            }
        }
        Err(self.error(start, "the text in double quotes does not end"))
    }
}
