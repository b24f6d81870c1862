//! The parser: tokens to syntax tree, by recursive descent.
//!
//! A function that fails returns the error; whoever can go on (the list of units, a sequence of
//! statements) keeps it and skips to the next `;`, `}` or `::`. What was skipped is remembered as
//! *broken*, so that nobody complains about names that are missing because of it.
//!
//! Calls of inlines are expanded here, see [`inline`]. As in Spin since version 6.3, the end of a
//! line may stand for a semicolon.

mod decl;
mod expr;
mod inline;
mod ltl;
mod recover;
mod stmt;
mod unit;

use std::sync::Arc;

use base::{Diagnostic, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Expr, Model, Name};
use crate::cost::Cost;
use crate::errors::{Fail, Sink, fail, fail_with_help};
use crate::lexer::{Kind, Origin, Token};
use crate::options::Limits;
use crate::preprocess::Preprocessed;
use crate::words::Word;

use inline::Inline;

type Parsed<T> = Result<T, Fail>;

/// Statements and expressions may be nested this deep; nothing that is made from them is deeper.
const MAX_DEPTH: u32 = 128;

/// Expressions may be this high. Long chains of `&&` and `||` are balanced, so they are not high.
const MAX_HEIGHT: u32 = 300;

/// Longer names are refused.
const MAX_NAME_BYTES: usize = 500;

/// Reads a model. Broken parts are left out of the tree, each with an error.
pub(crate) fn model(
    input: Preprocessed,
    sources: &SourceMap,
    limits: &Limits,
    sink: &mut Sink,
    cost: &dyn Cost,
) -> (Model, Kinds) {
    let mut parser = Parser::new(input, sources, limits, sink, cost);
    parser.read_inlines();
    parser.read_names();
    (parser.model(), parser.kinds)
}

/// Reads a text that is one formula, or one expression, and nothing else.
pub(crate) fn question(
    input: Preprocessed,
    kinds: &mut Kinds,
    limits: &Limits,
    sink: &mut Sink,
    cost: &dyn Cost,
    may_be_temporal: bool,
) -> Result<Expr, Fail> {
    let sources = SourceMap::new();
    let mut parser = Parser::new(input, &sources, limits, sink, cost);
    parser.kinds = std::mem::take(kinds);
    let read = parser.question(may_be_temporal);
    *kinds = parser.kinds;
    read
}

/// What names are, as far as that decides how they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    typedefs: FxHashSet<Arc<str>>,
    proctypes: FxHashSet<Arc<str>>,
}

struct Parser<'a> {
    sources: &'a SourceMap,
    sink: &'a mut Sink,
    cost: &'a dyn Cost,
    tokens: Arc<[Token]>,
    at: usize,
    origins: Vec<Origin>,
    inlines: FxHashMap<Arc<str>, Arc<Inline>>,
    kinds: Kinds,
    /// The inlines that are being expanded, outermost first.
    expanding: Vec<Arc<str>>,
    /// How many calls for nested statements and expressions are open.
    depth: u32,
    /// How many parentheses are open, inside which the end of a line means nothing.
    parens: u32,
    /// Whether a formula is being read.
    in_formula: bool,
    broken: bool,
    /// Tokens that inlines may still produce.
    budget: usize,
    max_nesting: usize,
}

impl<'a> Parser<'a> {
    fn new(
        input: Preprocessed,
        sources: &'a SourceMap,
        limits: &Limits,
        sink: &'a mut Sink,
        cost: &'a dyn Cost,
    ) -> Parser<'a> {
        Parser {
            sources,
            sink,
            cost,
            budget: limits.tokens.saturating_sub(input.tokens.len()),
            max_nesting: limits.nesting,
            tokens: input.tokens.into(),
            at: 0,
            origins: input.origins,
            inlines: FxHashMap::default(),
            kinds: Kinds::default(),
            expanding: Vec::new(),
            depth: 0,
            parens: 0,
            in_formula: false,
            broken: false,
        }
    }

    /// Notes the names of typedefs and proctypes: what a name is decides how it is read.
    fn read_names(&mut self) {
        for pair in self.tokens.windows(2) {
            let names = match pair[0].kind {
                Kind::Keyword(Word::Typedef) => &mut self.kinds.typedefs,
                Kind::Keyword(Word::Proctype | Word::DProctype) => &mut self.kinds.proctypes,
                _ => continue,
            };
            if pair[1].is(Kind::Name) {
                names.insert(pair[1].text.clone());
            }
        }
    }

    /// Keeps an error.
    #[expect(clippy::boxed_local, reason = "errors travel boxed")]
    fn complain(&mut self, error: Fail) {
        self.broken = true;
        self.sink.push(*error);
        self.pay(0);
    }

    fn warn(&mut self, warning: Diagnostic) {
        self.sink.push(warning);
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn peek(&self) -> Kind {
        self.token().kind
    }

    /// The kind of the token that is `n` after the next one.
    fn peek_at(&self, n: usize) -> Kind {
        self.tokens.get(self.at + n).map_or(Kind::End, |token| token.kind)
    }

    /// The keyword that comes next, if one does.
    fn peek_word(&self) -> Option<Word> {
        match self.peek() {
            Kind::Keyword(word) => Some(word),
            _ => None,
        }
    }

    /// Whether the next token is this name.
    fn peek_name(&self, text: &str) -> bool {
        self.peek() == Kind::Name && &*self.token().text == text
    }

    fn span(&self) -> Span {
        self.token().span
    }

    fn bump(&mut self) -> Token {
        let token = self.token().clone();
        if token.kind != Kind::End {
            self.at += 1;
        }
        self.pay(0);
        token
    }

    /// A piece of work that keeps so many bytes; if there is no more budget, the text is over.
    fn pay(&mut self, bytes: usize) {
        self.sink.pay(self.cost.keep(bytes));
        if self.sink.is_full() {
            self.at = self.tokens.len() - 1;
        }
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: Word) -> bool {
        self.eat(Kind::Keyword(word))
    }

    fn expect(&mut self, kind: Kind) -> Parsed<Token> {
        if self.peek() == kind { Ok(self.bump()) } else { Err(self.unexpected(&kind.to_string())) }
    }

    /// The place just after the last token that was read.
    fn end_of_last(&self) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        Span { start: last.end, ..last }
    }

    /// From a place where reading began to the last token that was read.
    fn since(&self, start: Span) -> Span {
        join(start, self.tokens[self.at.saturating_sub(1)].span)
    }

    /// Whether the next token begins a line, so that a statement may begin here, too.
    fn at_new_line(&self) -> bool {
        self.token().first && self.parens == 0 && !self.in_formula
    }

    /// Reads something that is nested.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("this is nested more than {MAX_DEPTH} levels deep");
            return Err(fail("too-deep", message, self.span(), ""));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads something between parentheses; the opening one was read.
    fn in_parens<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.parens += 1;
        let result = read(self);
        self.parens -= 1;
        let value = result?;
        self.expect(Kind::CloseParen)?;
        Ok(value)
    }

    /// Reads a list with commas.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.eat(Kind::Comma) {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// A name; `what` says of what, like `a variable`.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Kind::Name => {
                let token = self.bump();
                if token.text.len() > MAX_NAME_BYTES {
                    let message = format!("this name is too long: it has {} bytes", token.text.len());
                    let help = format!("at most {MAX_NAME_BYTES} are allowed");
                    return Err(fail_with_help("name-too-long", message, token.span, help));
                }
                Ok(Name { text: token.text, span: token.span })
            }
            Kind::Keyword(word) => {
                let message = format!("`{word}` is a keyword and cannot be the name of {what}");
                Err(self.with_origin(fail("keyword-as-name", message, self.span(), "")))
            }
            _ => Err(self.unexpected(&format!("the name of {what}"))),
        }
    }

    /// The next token is not what it should be.
    fn unexpected(&self, wanted: &str) -> Fail {
        let Token { kind, span, text, .. } = self.token();
        let span = *span;
        let shown: String = text.chars().take(30).collect();
        let error = match kind {
            Kind::Unknown => fail("unknown-character", format!("`{shown}` has no meaning here"), span, ""),
            Kind::OpenText => {
                fail("unterminated-text", "a quotation mark is never closed", span, "this text never ends")
            }
            Kind::OpenComment => {
                let start = Span { end: span.start + 2, ..span };
                let error = fail("unterminated-comment", "a comment is not closed", start, "begins here");
                Box::new(error.with_help("close it with `*/`"))
            }
            Kind::Keyword(word) if word.is_embedded_c() => {
                let message = format!("embedded C code (`{word}`) is not supported");
                fail("embedded-c", message, span, "only Promela itself is read")
            }
            _ => {
                let found = match kind {
                    Kind::End => "the end of the text".to_owned(),
                    Kind::Keyword(_) => format!("the keyword `{shown}`"),
                    _ => format!("`{shown}`"),
                };
                let label = format!("expected {wanted}");
                fail("syntax", format!("expected {wanted}, found {found}"), span, &label)
            }
        };
        self.with_origin(error)
    }

    /// Says which macro or inline the next token comes out of.
    fn with_origin(&self, mut error: Fail) -> Fail {
        const MAX_SHOWN: usize = 3;
        let mut origin = self.token().origin;
        for _ in 0..MAX_SHOWN {
            let Some(found) = self.origins.get(origin as usize).filter(|_| origin != 0) else { break };
            let what = if found.is_inline { "in this call of" } else { "in the macro" };
            error.related.push((found.place, format!("{what} `{}`", found.name)));
            origin = found.parent;
        }
        error
    }

    /// How the tokens from `start` to the last one that was read look in a trace: as they stand in
    /// the source, or joined if they come out of a macro or an inline's argument.
    fn text_since(&self, start: usize) -> Arc<str> {
        const MAX_CHARS: usize = 200;
        let tokens = &self.tokens[start..self.at.max(start)];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return "".into() };
        let in_order = tokens.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start);
        let of_one = tokens.iter().all(|t| t.origin == first.origin && t.span.source == first.span.source);
        let mut text = if in_order && of_one {
            self.sources.slice(first.span.to(last.span)).to_owned()
        } else {
            String::new()
        };
        if text.is_empty() || text.contains(['\n', '\\']) || text.contains("/*") || text.contains("//") {
            text = joined(tokens);
        }
        if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
            text.truncate(end);
            text.push('…');
        }
        text.into()
    }
}

/// The tokens with blanks where a person would write them.
fn joined(tokens: &[Token]) -> String {
    use Kind::*;
    let mut text = String::new();
    let mut sticks = true;
    for token in tokens {
        let is_operation = matches!(token.kind, Dot | At | Query | QueryQuery | Bang | BangBang);
        let is_call = token.is(OpenParen) && text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let closes =
            matches!(token.kind, CloseParen | CloseBracket | OpenBracket | Comma | Increment | Decrement);
        if !(sticks || is_operation || closes || is_call) {
            text.push(' ');
        }
        text.push_str(&token.text);
        sticks = is_operation || matches!(token.kind, OpenParen | OpenBracket);
    }
    text
}

/// The span from one place to a later one; the first one, if the places are not in this order.
fn join(start: Span, end: Span) -> Span {
    if start.source == end.source && start.start <= end.end { start.to(end) } else { start }
}
