//! From text to tokens.
//!
//! Five rules go beyond "the longest symbol wins":
//! - `[` and `]` with nothing but blanks between them are *always*; otherwise they enclose an index.
//! - After `.`, `@` or `:` every word is a name of the model, also `P@next` or `x.F`.
//! - An operator word is a name where it cannot be an operator: `[] W@crit`, `X == 2`.
//! - `weak until`, `strong until` and `strong release` are one operator, but only after an operand:
//!   `weak` and `strong` are names elsewhere.
//! - Prefix operators may be glued to the front of a word; [`parse`](mod@crate::parse) says when.

use base::{Diagnostic, SourceId, Span};

use crate::errors;
use crate::syntax::{Kind, SYMBOLS, word, word_pair};

/// A token, and the bytes of the text it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Where the text stands in its source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) source: SourceId,
    pub(crate) offset: usize,
}

impl Place {
    pub(crate) fn span(self, start: usize, end: usize) -> Span {
        Span::new(self.source, self.offset.saturating_add(start), self.offset.saturating_add(end))
    }
}

/// All tokens of a text. Only quotes and comments that do not end are errors here.
pub(crate) fn tokenize(text: &str, place: Place) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), place };
    loop {
        lexer.skip_blanks()?;
        let Some(first) = lexer.rest().chars().next() else { return Ok(lexer.tokens) };
        let (kind, len) = match first {
            '"' => (Kind::Quoted, lexer.quoted_len()?),
            '[' => lexer.bracket(),
            _ if first.is_ascii_digit() => (Kind::Number, len_while(lexer.rest(), |c| c.is_ascii_digit())),
            _ if begins_word(first) => lexer.word()?,
            _ => symbol(lexer.rest(), first),
        };
        lexer.tokens.push(Token { kind, start: lexer.at, end: lexer.at + len });
        lexer.at += len;
    }
}

/// Whether the text reads as one name, so that it needs no quotes.
pub(crate) fn is_plain_name(text: &str) -> bool {
    let place = Place { source: SourceId::new(0), offset: 0 };
    let whole = Token { kind: Kind::Name, start: 0, end: text.len() };
    tokenize(text, place).is_ok_and(|tokens| tokens == [whole])
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
    place: Place,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let blanks = len_while(rest, char::is_whitespace);
            if blanks > 0 {
                self.at += blanks;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let unclosed = || errors::unclosed_comment(self.place.span(self.at, self.at + 2));
                self.at += comment.find("*/").ok_or_else(unclosed)? + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// Length of a quoted text, quotes included. A backslash protects the next character.
    fn quoted_len(&self) -> Result<usize, Diagnostic> {
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok(at + 1),
                '\\' => drop(chars.next()),
                _ => {}
            }
        }
        Err(errors::unclosed_quote(self.place.span(self.at, self.at + 1)))
    }

    fn bracket(&self) -> (Kind, usize) {
        let inside = &self.rest()[1..];
        let blanks = len_while(inside, char::is_whitespace);
        if inside[blanks..].starts_with(']') { (word("always"), blanks + 2) } else { (Kind::OpenBracket, 1) }
    }

    /// A word: an operator, a name, or the operators glued to its front.
    fn word(&mut self) -> Result<(Kind, usize), Diagnostic> {
        let len = len_while(self.rest(), continues_word);
        let text = &self.rest()[..len];
        match self.tokens.last().map(|token| token.kind) {
            Some(Kind::Access) => return Ok((Kind::Name, len)),
            Some(kind) if kind.ends_operand() && matches!(text, "weak" | "strong") => {
                return self.word_pair(text);
            }
            _ => {}
        }
        if self.must_be_name(text)? {
            return Ok((Kind::Name, len));
        }
        let glued = glued_operators(text, self.rest()[len..].chars().next());
        self.push_letters(glued);
        Ok((word(&text[glued..]), len - glued))
    }

    /// Whether a word that spells operators can only be a name here: an operand is expected, and what follows goes on
    /// with a term, and begins none.
    fn must_be_name(&self, text: &str) -> Result<bool, Diagnostic> {
        let is_glued = text.chars().all(|c| matches!(c, 'F' | 'G' | 'X'));
        let is_prefix = is_glued || matches!(word(text), Kind::Prefix(_));
        let is_infix = matches!(word(text), Kind::Infix(_));
        let follows_operand = self.tokens.last().is_some_and(|token| token.kind.ends_operand());
        if follows_operand || !(is_prefix || is_infix) {
            return Ok(false);
        }
        let mut ahead = self.ahead(text.len());
        ahead.skip_blanks()?;
        let next = match ahead.rest().chars().next() {
            Some('[') => ahead.bracket().0,
            Some(first) => symbol(ahead.rest(), first).0,
            None => return Ok(false),
        };
        // `X -y > 0` has a sign.
        let may_be_sign = is_prefix && ahead.rest().starts_with('-');
        Ok(match next {
            Kind::Access | Kind::OpenBracket => true,
            Kind::Arithmetic(_) => !may_be_sign,
            _ => false,
        })
    }

    /// A lexer that is `len` bytes ahead of this one.
    fn ahead(&self, len: usize) -> Lexer<'t> {
        Lexer { text: self.text, at: self.at + len, tokens: Vec::new(), place: self.place }
    }

    /// Makes the next `n` letters one operator each.
    fn push_letters(&mut self, n: usize) {
        for _ in 0..n {
            let kind = word(&self.rest()[..1]);
            self.tokens.push(Token { kind, start: self.at, end: self.at + 1 });
            self.at += 1;
        }
    }

    /// `weak` or `strong`: half an operator if the right word follows, else a name.
    fn word_pair(&self, first: &str) -> Result<(Kind, usize), Diagnostic> {
        let mut ahead = self.ahead(first.len());
        ahead.skip_blanks()?;
        let second = &ahead.rest()[..len_while(ahead.rest(), continues_word)];
        match word_pair(first, second) {
            Some(kind) => Ok((kind, ahead.at + second.len() - self.at)),
            None => Ok((Kind::Name, first.len())),
        }
    }
}

/// How many letters at the front of a word are operators of their own; see the head of `parse`.
fn glued_operators(word: &str, next: Option<char>) -> usize {
    let letters = len_while(word, |c| matches!(c, 'F' | 'G' | 'X'));
    let mut rest = word[letters..].chars();
    let Some(first) = rest.next() else {
        return letters.saturating_sub(1); // The last letter is the word that is left.
    };
    let goes_on = matches!(next, Some('[' | '(' | '.' | '@' | ':'));
    let short = rest.all(|c| c.is_ascii_digit());
    let splits = first.is_ascii_lowercase() && !goes_on && (letters > 1 || short);
    if splits { letters } else { 0 }
}

fn symbol(rest: &str, first: char) -> (Kind, usize) {
    let known = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol));
    known.map_or((Kind::Other, first.len_utf8()), |(symbol, kind)| (*kind, symbol.len()))
}

fn len_while(text: &str, accept: impl Fn(char) -> bool) -> usize {
    text.find(|c| !accept(c)).unwrap_or(text.len())
}

fn begins_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
