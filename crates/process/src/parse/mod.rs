//! The parser: tokens to syntax tree, by recursive descent with one token of lookahead, and a
//! second one where a word is special only in its place.
//!
//! A function that fails returns the error; whoever can go on (the list of declarations, the
//! list of states) keeps it and skips to the next `;` or `}`. What was skipped is remembered as
//! *broken*, so that nobody complains about names that are missing because of it.

mod body;
mod expr;
mod item;

use base::{Fail, SourceId, Span, fail};

use crate::ast::{Binder, Expr, File, Name, Place, Range};
use crate::lexer::{Kind, Token, tokens};
use crate::meter::Meter;

type Parsed<T> = Result<T, Fail>;

/// More variables than this in one `for`, `forall` or list of parameters are refused.
const MAX_BINDERS: usize = 16;

/// Longer names are refused.
const MAX_NAME_BYTES: usize = 1000;

/// As many errors are collected, then the parser gives up.
const MAX_ERRORS: usize = 100;

/// Reads a whole file. Broken parts are left out of the tree, each with an error.
/// If the budget is spent, nothing but the meter says so.
pub(crate) fn file<'a, 'm>(text: &'a str, source: SourceId, meter: &'m Meter<'m>) -> (File<'a>, Vec<Fail>) {
    let mut parser = Parser::new(text, source, 0, meter);
    let file = parser.file();
    (file, parser.errors)
}

/// Reads a text that is one expression.
pub(crate) fn expression<'a, 'm>(
    text: &'a str,
    source: SourceId,
    offset: usize,
    meter: &'m Meter<'m>,
) -> Parsed<Expr<'a>> {
    let mut parser = Parser::new(text, source, offset, meter);
    let expr = parser.expr()?;
    match parser.peek() {
        Kind::End => Ok(expr),
        _ => Err(parser.unexpected("an operator or the end of the proposition")),
    }
}

/// Refuses names that would fill the screen in every message about them.
fn bounded(name: Name<'_>) -> Parsed<Name<'_>> {
    if name.text.len() <= MAX_NAME_BYTES {
        return Ok(name);
    }
    let message = format!("this name is too long: it has {} bytes", name.text.len());
    let error = fail("name-too-long", message, name.span, "");
    Err(Box::new(error.with_help(format!("at most {MAX_NAME_BYTES} are allowed"))))
}

struct Parser<'a, 'm> {
    text: &'a str,
    /// Where the text begins in its source.
    offset: usize,
    tokens: Vec<Token>,
    at: usize,
    /// How many calls for subexpressions are open.
    depth: u32,
    errors: Vec<Fail>,
    meter: &'m Meter<'m>,
}

impl<'a, 'm> Parser<'a, 'm> {
    fn new(text: &'a str, source: SourceId, offset: usize, meter: &'m Meter<'m>) -> Parser<'a, 'm> {
        let tokens = tokens(text, source, offset, meter);
        Parser { text, offset, tokens, at: 0, depth: 0, errors: Vec::new(), meter }
    }

    /// Keeps an error. After very many the rest of the text is not worth reading.
    fn complain(&mut self, error: Fail) {
        self.errors.push(error);
        if self.errors.len() >= MAX_ERRORS {
            self.at = self.tokens.len() - 1;
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek(&self) -> Kind {
        self.token().kind
    }

    /// The kind of the token after the next one.
    fn peek_second(&self) -> Kind {
        self.tokens.get(self.at + 1).map_or(Kind::End, |token| token.kind)
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if self.meter.take(0).is_err() {
            self.at = self.tokens.len() - 1;
        } else if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Kind) -> Parsed<Token> {
        if self.peek() == kind { Ok(self.bump()) } else { Err(self.unexpected(&kind.to_string())) }
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize - self.offset..span.end as usize - self.offset]
    }

    /// The text of the next token.
    fn word(&self) -> &'a str {
        self.slice(self.token().span)
    }

    /// The place just after the last token that was read.
    fn end_of_last(&self) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        Span { start: last.end, ..last }
    }

    /// From a token that was read to the last one that was.
    fn since(&self, start: Span) -> Span {
        Span { end: self.end_of_last().end.max(start.end), ..start }
    }

    /// Whether the next token is the first of its line.
    fn at_line_start(&self) -> bool {
        let Some(last) = self.at.checked_sub(1).map(|last| self.tokens[last].span) else { return true };
        self.slice(Span { start: last.end, end: self.token().span.start, ..last }).contains('\n')
    }

    /// The next token is not what it should be.
    fn unexpected(&self, wanted: &str) -> Fail {
        let Token { kind, span } = self.token();
        let shown: String = self.slice(span).chars().take(30).collect();
        match kind {
            Kind::Unknown => self.unknown_character(&shown, span),
            Kind::OpenText => fail(
                "unterminated-text",
                "a quotation mark is not closed on its line",
                span,
                "this text never ends",
            ),
            Kind::OpenComment => {
                let start = Span { end: span.start + 2, ..span };
                let error = fail("unterminated-comment", "a comment is not closed", start, "begins here");
                Box::new(error.with_help("close it with `*/`, or begin it with `//`"))
            }
            _ => {
                let found = match kind {
                    Kind::End => "the end of the text".to_owned(),
                    _ if kind.is_reserved() => format!("the reserved word `{shown}`"),
                    _ => format!("`{shown}`"),
                };
                let label = format!("expected {wanted}");
                fail("syntax", format!("expected {wanted}, found {found}"), span, &label)
            }
        }
    }

    fn unknown_character(&self, shown: &str, span: Span) -> Fail {
        let error = fail("unknown-character", format!("`{shown}` has no meaning here"), span, "");
        let help = match shown {
            "&" => "write `&&`",
            "~" => "write `!`",
            "." => "a range is written `0..N`",
            _ if !shown.is_ascii() => {
                "names consist of the letters a to z and A to Z, digits and `_`; the name of an action may be \
                 any text in quotation marks"
            }
            _ => return error,
        };
        Box::new(error.with_help(help))
    }

    /// The semicolon at the end of something. If it is missing at the end of a line, that is an
    /// error, but what was read is good.
    fn semicolon(&mut self, wanted: &str) -> Parsed<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let error = self.unexpected(wanted);
        let forgotten = self.at_line_start() || matches!(self.peek(), Kind::CloseBrace | Kind::End);
        if !forgotten || error.code != "syntax" {
            return Err(error);
        }
        let place = self.end_of_last();
        let label = format!("expected {wanted}");
        self.complain(fail("syntax", error.message.clone(), place, &label));
        Ok(())
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'a>> {
        match self.peek() {
            Kind::Name => {
                let span = self.bump().span;
                bounded(Name { text: self.slice(span), span })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A text in quotation marks, without them.
    fn quoted(&mut self, what: &str) -> Parsed<Name<'a>> {
        if self.peek() != Kind::Text {
            return Err(self.unexpected(what));
        }
        let span = self.bump().span;
        let text = self.slice(span);
        bounded(Name { text: &text[1..text.len() - 1], span })
    }

    /// A name and its indices, if it has any.
    fn place(&mut self, what: &str) -> Parsed<Place<'a>> {
        let name = self.name(what)?;
        let indices = self.indices()?;
        Ok(Place { name, indices, span: self.since(name.span) })
    }

    /// `[e1, e2]`, `[e1][e2]`, or nothing.
    fn indices(&mut self) -> Parsed<Vec<Expr<'a>>> {
        self.bracketed(Parser::index)
    }

    /// What stands in brackets, separated by commas or in brackets of its own.
    fn bracketed<T>(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        while self.eat(Kind::OpenBracket) {
            all.push(read(self)?);
            while self.eat(Kind::Comma) {
                all.push(read(self)?);
            }
            if self.peek() != Kind::CloseBracket {
                return Err(self.unexpected("an operator, `,` or `]`"));
            }
            self.bump();
        }
        Ok(all)
    }

    /// `i in 0..N`, as often as it is repeated with commas.
    fn binders(&mut self, binders: &mut Vec<Binder<'a>>) -> Parsed<()> {
        loop {
            let name = self.name("the name of a variable")?;
            self.expect(Kind::In)?;
            let range = self.range()?;
            if binders.len() == MAX_BINDERS {
                let message = format!("at most {MAX_BINDERS} variables can be introduced at once");
                return Err(fail("too-many-variables", message, name.span, "one too many"));
            }
            binders.push(Binder { name, range });
            // A comma may also separate whole entries: only `x in` goes on here.
            let after_comma = |ahead: usize| self.tokens.get(self.at + ahead).map(|token| token.kind);
            let more = self.peek() == Kind::Comma
                && after_comma(1) == Some(Kind::Name)
                && after_comma(2) == Some(Kind::In);
            if !more {
                return Ok(());
            }
            self.bump();
        }
    }

    fn range(&mut self) -> Parsed<Range<'a>> {
        let from = self.expr()?;
        let inclusive = self.peek() == Kind::DotDotEqual;
        if !inclusive && self.peek() != Kind::DotDot {
            return Err(self.unexpected("`..`"));
        }
        self.bump();
        let to = self.expr()?;
        let span = from.span.to(to.span);
        Ok(Range { from, to, inclusive, span })
    }
}
