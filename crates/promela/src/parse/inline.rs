//! Inlines: definitions are taken out of the text before anything else is read; a call is replaced
//! by the body's tokens, with arguments in the place of parameters, and read as a block.
//!
//! As in Spin the replacement is by tokens, so an argument may be `a[i]`, `x.f`, a channel, a
//! label or an expression. Tokens of the body keep their places in the body, those of arguments
//! theirs in the call.

use std::sync::Arc;

use base::Span;
use rustc_hash::FxHashMap;

use crate::ast::{Stmt, StmtKind};
use crate::errors::{count, fail, fail_with_help};
use crate::lexer::{Kind, Origin, Token};
use crate::preprocess::TOKEN_BYTES;
use crate::words::Word;

use super::{Parsed, Parser};

/// `inline name(parameters) { body }`.
#[derive(Debug)]
pub(super) struct Inline {
    parameters: Vec<Arc<str>>,
    /// What stands between the braces.
    body: Vec<Token>,
    /// Where its name stands.
    span: Span,
}

impl Parser<'_> {
    /// Takes all definitions of inlines out of the tokens.
    pub(super) fn read_inlines(&mut self) {
        let mut rest: Vec<Token> = Vec::new();
        while self.peek() != Kind::End {
            if self.peek() != Kind::Keyword(Word::Inline) {
                rest.push(self.bump());
                continue;
            }
            if let Err(error) = self.inline_definition() {
                self.complain(error);
            }
        }
        rest.push(self.token().clone());
        self.tokens = rest.into();
        self.at = 0;
    }

    fn inline_definition(&mut self) -> Parsed<()> {
        self.bump();
        let name = self.name("an inline")?;
        self.expect(Kind::OpenParen)?;
        let mut parameters = Vec::new();
        if self.peek() != Kind::CloseParen {
            parameters = self.list(|this| Ok(this.name("a parameter")?.text))?;
        }
        self.expect(Kind::CloseParen)?;
        let open = self.expect(Kind::OpenBrace)?;
        let mut body = Vec::new();
        let mut level = 0usize;
        loop {
            match self.peek() {
                Kind::End => {
                    let message = format!("the body of the inline `{}` is never closed", name.text);
                    return Err(fail("unclosed", message, open.span, "opened here"));
                }
                Kind::CloseBrace if level == 0 => break,
                Kind::CloseBrace => level -= 1,
                Kind::OpenBrace => level += 1,
                _ => {}
            }
            body.push(self.bump());
        }
        self.bump();
        let inline = Inline { parameters, body, span: name.span };
        if let Some(old) = self.inlines.insert(name.text.clone(), Arc::new(inline)) {
            let error =
                fail("redeclared", format!("the inline `{}` is declared twice", name.text), name.span, "");
            return Err(Box::new(error.with_related(old.span, "it was declared here")));
        }
        Ok(())
    }

    /// Whether the next tokens are a call of an inline.
    pub(super) fn at_inline_call(&self) -> bool {
        self.peek() == Kind::Name
            && self.peek_at(1) == Kind::OpenParen
            && self.inlines.contains_key(&self.token().text)
    }

    /// Reads a call, and the body as a block. `target` is what `return e` assigns to.
    pub(super) fn inline_call(&mut self, target: &[Token]) -> Parsed<Stmt> {
        let start = self.at;
        let origin = self.token().origin;
        let name = self.name("an inline")?;
        let Some(inline) = self.inlines.get(&name.text).cloned() else {
            return Err(fail("unknown-inline", format!("there is no inline `{}`", name.text), name.span, ""));
        };
        let mut arguments = self.inline_arguments()?;
        let span = self.since(name.span);
        if inline.parameters.is_empty() && arguments.iter().all(Vec::is_empty) {
            arguments.clear();
        }
        if arguments.len() != inline.parameters.len() {
            let (wanted, given) = (count(inline.parameters.len(), "argument"), arguments.len());
            let message = format!("the inline `{}` takes {wanted}, but is called with {given}", name.text);
            let error = fail("wrong-arguments", message, span, "");
            return Err(Box::new(error.with_related(inline.span, "it is declared here")));
        }
        if self.expanding.contains(&name.text) || self.expanding.len() >= self.max_nesting {
            let message = format!("the inline `{}` calls itself", name.text);
            let help = "an inline is replaced by its body; use a proctype for recursion";
            return Err(fail_with_help("recursive-inline", message, span, help));
        }
        let text = self.text_since(start);
        self.origins.push(Origin { name: name.text.clone(), place: span, is_inline: true, parent: origin });
        let origin = (self.origins.len() - 1) as u32;
        let body = self.substituted(&inline, &arguments, target, origin, span)?;
        let body = self.expanded(&name.text, body)?;
        Ok(Stmt { kind: StmtKind::Inlined { name, body }, labels: Vec::new(), span, text })
    }

    /// The tokens of each argument; the parenthesis comes next.
    fn inline_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let open = self.expect(Kind::OpenParen)?;
        let mut arguments = vec![Vec::new()];
        let mut level = 0usize;
        loop {
            match self.peek() {
                Kind::End => return Err(fail("unclosed", "this call is never closed", open.span, "")),
                Kind::CloseParen if level == 0 => break,
                Kind::Comma if level == 0 => {
                    self.bump();
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::OpenParen | Kind::OpenBracket | Kind::OpenBrace => level += 1,
                Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace => level = level.saturating_sub(1),
                _ => {}
            }
            let token = self.bump();
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
        self.bump();
        Ok(arguments)
    }

    fn substituted(
        &mut self,
        inline: &Inline,
        arguments: &[Vec<Token>],
        target: &[Token],
        origin: u32,
        span: Span,
    ) -> Parsed<Vec<Token>> {
        let by_name: FxHashMap<&str, &Vec<Token>> =
            inline.parameters.iter().map(|name| &**name).zip(arguments).collect();
        let mut tokens: Vec<Token> = Vec::new();
        let mut after_dot = false;
        for token in &inline.body {
            let replaced = match token.kind {
                Kind::Name if !after_dot => by_name.get(&*token.text).map(|argument| &argument[..]),
                Kind::Keyword(Word::Return) if !target.is_empty() => Some(target),
                _ => None,
            };
            after_dot = token.is(Kind::Dot);
            let length = replaced.map_or(1, |argument| argument.len() + 1);
            let Some(left) = self.budget.checked_sub(length) else {
                let message = "the inlines of this model expand to too many tokens";
                return Err(fail("inline-too-large", message, span, "the limit is reached in this call"));
            };
            self.budget = left;
            match replaced {
                Some(argument) => tokens.extend(argument.iter().enumerate().map(|(position, argument)| {
                    Token { first: position == 0 && token.first, origin, ..argument.clone() }
                })),
                None => tokens.push(Token { origin, ..token.clone() }),
            }
            if token.is(Kind::Keyword(Word::Return)) && !target.is_empty() {
                tokens.push(Token {
                    kind: Kind::Assign,
                    text: "=".into(),
                    first: false,
                    origin,
                    ..token.clone()
                });
            }
        }
        let end = Token { kind: Kind::End, text: "".into(), span, first: true, origin };
        tokens.push(end);
        self.pay(tokens.len() * TOKEN_BYTES);
        Ok(tokens)
    }

    /// Reads the tokens of an expanded body as statements.
    fn expanded(&mut self, name: &Arc<str>, body: Vec<Token>) -> Parsed<Vec<Stmt>> {
        let outer_tokens = std::mem::replace(&mut self.tokens, body.into());
        let outer_at = std::mem::take(&mut self.at);
        let outer_parens = std::mem::take(&mut self.parens);
        self.expanding.push(name.clone());
        let mut result = self.nested(|this| this.sequence("the body of the inline"));
        if result.is_ok() && self.peek() != Kind::End {
            result = Err(self.unexpected("`;`"));
        }
        self.expanding.pop();
        self.parens = outer_parens;
        let is_given_up = self.sink.is_full();
        self.tokens = outer_tokens;
        self.at = if is_given_up { self.tokens.len() - 1 } else { outer_at };
        result
    }
}
