//! The C preprocessor, as far as models use it: `#define` with and without parameters, `#undef`,
//! conditionals, `#include "file"` and line markers.
//!
//! It works on tokens, so every token keeps its place: one that stands in a text has that place,
//! one out of a macro the place where the macro is used, with the definition noted in its
//! [`Origin`]. Files are read by the caller's loader.
//!
//! Deviations from C: a macro call must end before the next directive; there are no variadic
//! macros, and no predefined ones.

mod condition;
mod expand;

use std::sync::Arc;

use base::{Diagnostic, SourceId, SourceMap, Span};
use rustc_hash::FxHashMap;

use crate::cost::Cost;
use crate::errors::{Fail, Sink, fail, fail_with_help, suggest};
use crate::lexer::{Kind, Origin, Token, tokens, tokens_within};
use crate::options::{Limits, Options};
use crate::words::Word;

/// Reads a file named by `#include "file"`, relative to the model's folder; the error is the end
/// of a sentence, like `no such file`.
pub type Loader<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// What a token, its text and what is made of it take while a model is read.
pub(crate) const TOKEN_BYTES: usize = 400;

/// The tokens of a model, all macros expanded, and what they were expanded from.
#[derive(Debug)]
pub(crate) struct Preprocessed {
    /// The last one is [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// The first one is a dummy: 0 means no origin.
    pub(crate) origins: Vec<Origin>,
}

/// Preprocesses a text. Errors go to the sink; what could be read is returned, with the macros at the end.
pub(crate) fn preprocess(
    sources: &mut SourceMap,
    source: SourceId,
    options: &Options,
    loader: &mut Loader<'_>,
    sink: &mut Sink,
    cost: &dyn Cost,
) -> (Preprocessed, Macros) {
    let macros = Macros::new(&options.limits);
    let mut preprocessor =
        Preprocessor { sources, loader, sink, cost, macros, output: Vec::new(), open: Vec::new() };
    for (name, text) in &options.defines {
        preprocessor.define_from_outside(name, text);
    }
    preprocessor.file(source, "");
    let Preprocessor { output, mut macros, .. } = preprocessor;
    let length = sources.get(source).text.len();
    (macros.finish(output, Span::new(source, length, length)), macros)
}

#[derive(Clone, Debug)]
struct Macro {
    /// `None`: used without parentheses.
    parameters: Option<Vec<Arc<str>>>,
    body: Arc<[Token]>,
    /// Where its name stands in the definition.
    span: Span,
}

/// An `#if` that is not closed yet.
struct Conditional {
    span: Span,
    /// Whether the text around it counts.
    outer: bool,
    /// Whether the current part counts.
    active: bool,
    /// Whether some part has counted.
    taken: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    loader: &'a mut Loader<'a>,
    sink: &'a mut Sink,
    cost: &'a dyn Cost,
    macros: Macros,
    output: Vec<Token>,
    /// The files that are being read, outermost first: how each is called.
    open: Vec<Arc<str>>,
}

/// The macros that are defined, and what was made of them.
#[derive(Clone, Debug)]
pub(crate) struct Macros {
    named: FxHashMap<Arc<str>, Macro>,
    /// What tokens were expanded from; the first one is a dummy.
    origins: Vec<Origin>,
    /// Steps of expansion that are left.
    left: usize,
    max_steps: usize,
    max_nesting: usize,
}

impl Macros {
    fn new(limits: &Limits) -> Macros {
        Macros {
            named: FxHashMap::default(),
            origins: Vec::new(),
            left: limits.tokens,
            max_steps: limits.tokens,
            max_nesting: limits.nesting,
        }
    }

    /// The tokens of a text that has no directives, all macros expanded; its first byte is at `offset`.
    pub(crate) fn question(
        &mut self,
        text: &str,
        source: SourceId,
        offset: usize,
    ) -> Result<Preprocessed, Fail> {
        let mut list = tokens(text, source);
        for token in &mut list {
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            token.span = Span::new(source, start + offset, end + offset);
        }
        let end = list.last().map_or(Span::new(source, offset, offset), |last| last.span);
        list.retain(|token| !matches!(token.kind, Kind::Newline | Kind::End));
        self.left = self.max_steps;
        let expanded = self.expand(list)?;
        Ok(self.finish(expanded, end))
    }

    /// Tokens that were expanded: words are known, and the end is marked.
    fn finish(&mut self, mut tokens: Vec<Token>, end: Span) -> Preprocessed {
        for token in &mut tokens {
            if token.is(Kind::Name)
                && let Some(word) = Word::named(&token.text)
            {
                token.kind = Kind::Keyword(word);
            }
        }
        tokens.push(Token { kind: Kind::End, text: "".into(), span: end, first: true, origin: 0 });
        Preprocessed { tokens, origins: std::mem::take(&mut self.origins) }
    }
}

const DIRECTIVES: [&str; 13] = [
    "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "include", "line", "error",
    "warning", "pragma",
];

impl Preprocessor<'_> {
    fn define_from_outside(&mut self, name: &str, text: &str) {
        let Ok(source) = self.sources.add(format!("-D {name}"), text.as_bytes().to_vec()) else { return };
        let mut body = tokens(text, source);
        body.retain(|token| !matches!(token.kind, Kind::Newline | Kind::End));
        let span = Span::new(source, 0, text.len());
        self.macros.named.insert(name.into(), Macro { parameters: None, body: body.into(), span });
    }

    /// The tokens of a file, if they can be paid for.
    fn lexed(&mut self, text: &str, source: SourceId) -> Option<Vec<Token>> {
        // The text was read before it could be asked what it costs; a copy is looked at.
        self.sink.pay(self.cost.hold(text.len()));
        let tokens = tokens_within(text, source, &mut || self.cost.keep(TOKEN_BYTES));
        self.sink.pay(tokens.as_ref().map_or_else(|limit| Err(*limit), |_| Ok(())));
        tokens.ok().filter(|_| !self.sink.is_full())
    }

    fn file(&mut self, source: SourceId, name: &str) {
        self.open.push(name.into());
        let text = self.sources.get(source).text.clone();
        let Some(tokens) = self.lexed(&text, source) else { return };
        let mut open: Vec<Conditional> = Vec::new();
        let mut at = 0;
        while at < tokens.len() && !tokens[at].is(Kind::End) && !self.sink.is_full() {
            let is_active = open.last().is_none_or(|conditional| conditional.active);
            if tokens[at].is(Kind::Hash) && tokens[at].first {
                let length = tokens[at..].iter().take_while(|t| !matches!(t.kind, Kind::Newline | Kind::End));
                let line = &tokens[at..at + length.count()];
                at += line.len();
                if let Err(error) = self.directive(line, is_active, &mut open) {
                    self.sink.push(*error);
                }
                continue;
            }
            let length =
                tokens[at..].iter().take_while(|t| !(t.is(Kind::End) || t.is(Kind::Hash) && t.first));
            let chunk = &tokens[at..at + length.count()];
            at += chunk.len();
            if is_active {
                let chunk = chunk.iter().filter(|token| !token.is(Kind::Newline)).cloned().collect();
                match self.macros.expand(chunk) {
                    Ok(expanded) => {
                        self.sink.pay(self.cost.hold(expanded.len() * TOKEN_BYTES));
                        self.output.extend(expanded);
                    }
                    Err(error) => self.sink.push(*error),
                }
            }
        }
        for conditional in open {
            let error = fail("unclosed-if", "this conditional is never closed", conditional.span, "");
            self.sink.push(error.with_help("close it with `#endif`"));
        }
        self.open.pop();
    }

    fn directive(&mut self, line: &[Token], active: bool, open: &mut Vec<Conditional>) -> Result<(), Fail> {
        let [hash, rest @ ..] = line else { return Ok(()) };
        // `#` alone is nothing, `# 12 "file"` a line marker.
        let [name, rest @ ..] = rest else { return Ok(()) };
        let span = hash.span.to(name.span);
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let mut conditional =
                    Conditional { span, outer: active, active: false, taken: false, has_else: false };
                let holds = if active { self.macros.condition(name, rest) } else { Ok(false) };
                conditional.taken = *holds.as_ref().unwrap_or(&true);
                conditional.active = active && conditional.taken;
                open.push(conditional);
                holds.map(|_| ())
            }
            "elif" | "else" => {
                let Some(conditional) = open.last_mut() else { return Err(stray(name, span)) };
                if conditional.has_else {
                    let error = fail("stray-directive", "this comes after `#else`", span, "");
                    return Err(Box::new(
                        error.with_related(conditional.span, "the conditional begins here"),
                    ));
                }
                conditional.has_else = &*name.text == "else";
                let may = conditional.outer && !conditional.taken;
                conditional.active = false;
                let holds = may && (&*name.text == "else" || self.macros.condition(name, rest)?);
                if let Some(conditional) = open.last_mut().filter(|_| holds) {
                    (conditional.active, conditional.taken) = (true, true);
                }
                Ok(())
            }
            "endif" => open.pop().map(|_| ()).ok_or_else(|| stray(name, span)),
            _ if !active => Ok(()),
            "define" => self.define(rest, span),
            "undef" => match rest {
                [name, ..] if name.is(Kind::Name) => {
                    self.macros.named.remove(&name.text);
                    Ok(())
                }
                _ => Err(fail("bad-directive", "`#undef` needs the name of a macro", span, "")),
            },
            "include" => self.include(rest, span),
            "error" => {
                let text: Vec<&str> = rest.iter().map(|token| &*token.text).collect();
                Err(fail("error-directive", format!("the model says: {}", text.join(" ")), span, ""))
            }
            "line" | "pragma" | "warning" => Ok(()),
            _ if name.is(Kind::Number) => Ok(()),
            text => {
                let error = fail("unknown-directive", format!("there is no directive `#{text}`"), span, "");
                Err(suggest(error, text, DIRECTIVES))
            }
        }
    }

    fn define(&mut self, rest: &[Token], span: Span) -> Result<(), Fail> {
        let [name, rest @ ..] = rest else {
            return Err(fail("bad-directive", "`#define` needs a name", span, ""));
        };
        if !name.is(Kind::Name) {
            return Err(fail("bad-directive", "`#define` needs a name", name.span, "this is none"));
        }
        let mut parameters = None;
        let mut body = rest;
        if let [open, inner @ ..] = rest
            && open.is(Kind::OpenParen)
            && open.span.start == name.span.end
        {
            let names;
            (names, body) = parameter_list(inner, open.span)?;
            parameters = Some(names);
        }
        let defined = Macro { parameters, body: body.into(), span: name.span };
        if let Some(old) = self.macros.named.get(&name.text)
            && !same_macro(old, &defined)
        {
            let message = format!("the macro `{}` is defined again, as something else", name.text);
            let warning = Diagnostic::warning("macro-redefined", message).at(name.span, "");
            self.sink.push(warning.with_related(old.span, "it was defined here"));
        }
        self.macros.named.insert(name.text.clone(), defined);
        Ok(())
    }

    fn include(&mut self, rest: &[Token], span: Span) -> Result<(), Fail> {
        let expanded = self.macros.expand(rest.to_vec())?;
        let Some(name) = expanded.first().filter(|token| token.is(Kind::Text)) else {
            let help = "write the name of the file in quotation marks";
            return Err(fail_with_help("bad-include", "`#include` needs the name of a file", span, help));
        };
        let span = name.span;
        let file = relative(self.open.last().map_or("", |open| open), name.text.trim_matches('"'));
        if self.open.iter().any(|open| **open == *file) {
            return Err(fail(
                "endless-include",
                format!("{file} includes itself"),
                span,
                "is being read already",
            ));
        }
        if self.open.len() >= self.macros.max_nesting {
            let levels = self.macros.max_nesting;
            let message = format!("files are included more than {levels} levels deep");
            return Err(fail("endless-include", message, span, ""));
        }
        let text = (self.loader)(&file)
            .map_err(|reason| fail("cannot-include", format!("cannot read {file}: {reason}"), span, ""))?;
        self.macros.left = self.macros.left.saturating_sub(1 + text.len() / 16);
        let source = self.sources.add(file.as_str(), text).map_err(Box::new)?;
        self.file(source, &file);
        Ok(())
    }
}

/// A file named in another one is looked for beside that one.
fn relative(current: &str, name: &str) -> String {
    match current.rfind('/') {
        Some(slash) if !name.starts_with('/') => format!("{}{name}", &current[..=slash]),
        _ => name.to_owned(),
    }
}

fn stray(name: &Token, span: Span) -> Fail {
    fail("stray-directive", format!("`#{}` without `#if`", name.text), span, "")
}

/// The parameters of a macro, and what comes after them.
fn parameter_list(inner: &[Token], open: Span) -> Result<(Vec<Arc<str>>, &[Token]), Fail> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut rest = inner;
    loop {
        match rest {
            [close, body @ ..] if close.is(Kind::CloseParen) && names.is_empty() => return Ok((names, body)),
            [name, close, body @ ..] if name.is(Kind::Name) && close.is(Kind::CloseParen) => {
                names.push(name.text.clone());
                return Ok((names, body));
            }
            [name, comma, after @ ..] if name.is(Kind::Name) && comma.is(Kind::Comma) => {
                names.push(name.text.clone());
                rest = after;
            }
            _ => {
                let place = rest.first().map_or(open, |token| token.span);
                let message = "the parameters of a macro are names with commas between them, and a `)`";
                return Err(fail("bad-directive", message, place, ""));
            }
        }
    }
}

/// Whether two definitions say the same.
fn same_macro(a: &Macro, b: &Macro) -> bool {
    let texts = |body: &[Token]| body.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    a.parameters == b.parameters && texts(&a.body) == texts(&b.body)
}
