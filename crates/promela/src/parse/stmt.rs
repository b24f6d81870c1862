//! Statements and sequences of statements.

use std::sync::Arc;

use base::Span;

use crate::ast::{Name, Range, Stmt, StmtKind, VarRef};
use crate::errors::{fail, fail_with_help};
use crate::lexer::Kind;
use crate::words::Word;

use super::{Parsed, Parser};

impl Parser<'_> {
    /// Reads any number of `;` and `->`; whether there was one.
    pub(super) fn eat_separators(&mut self) -> bool {
        let start = self.at;
        while self.eat(Kind::Semicolon) || self.eat(Kind::Arrow) {}
        self.at > start
    }

    /// Whether a sequence cannot go on.
    pub(super) fn at_end_of_sequence(&self) -> bool {
        matches!(
            self.peek(),
            Kind::End | Kind::CloseBrace | Kind::Option | Kind::Keyword(Word::Fi | Word::Od)
        )
    }

    /// Statements up to what ends the sequence. `what` says whose, like `an option`.
    pub(super) fn sequence(&mut self, what: &str) -> Parsed<Vec<Stmt>> {
        let mut statements = Vec::new();
        let mut is_broken = false;
        self.eat_separators();
        let start = self.span();
        while !self.at_end_of_sequence() {
            let before = self.at;
            match self.step() {
                Ok(step) => {
                    statements.push(step);
                    self.separator();
                }
                Err(error) => {
                    is_broken = true;
                    self.complain(error);
                    self.skip_statement(before);
                }
            }
        }
        if statements.is_empty() && !is_broken {
            let message = format!("{what} has no statement");
            return Err(fail_with_help(
                "no-statement",
                message,
                start,
                "`skip` is a statement that does nothing",
            ));
        }
        Ok(statements)
    }

    /// A declaration, or a statement with what it is escaped by.
    fn step(&mut self) -> Parsed<Stmt> {
        let start = (self.at, self.span());
        if self.at_mtype_list() {
            let help = "write it before the proctype";
            let message = "sets of symbolic names are declared globally";
            return Err(fail_with_help("misplaced", message, start.1, help));
        }
        if self.at_declaration() {
            let declaration = self.declaration()?;
            return Ok(self.made_stmt(StmtKind::Declaration(declaration), start));
        }
        if let Some(word @ (Word::Xr | Word::Xs)) = self.peek_word() {
            self.bump();
            let channels = self.list(Self::var_ref)?;
            let kind = StmtKind::Exclusive { is_send: word == Word::Xs, channels };
            return Ok(self.made_stmt(kind, start));
        }
        let mut first = self.nested(Self::labeled)?;
        if self.eat_word(Word::Unless) {
            let labels = std::mem::take(&mut first.labels);
            let escape = self.nested(Self::labeled)?;
            let unless = self.made_stmt(StmtKind::Unless(Box::new((first, escape))), start);
            // As in Spin, a label goes to a block around it.
            first = if labels.is_empty() {
                unless
            } else {
                Stmt { labels, ..self.made_stmt(StmtKind::Block(vec![unless]), start) }
            };
        }
        Ok(first)
    }

    fn made_stmt(&self, kind: StmtKind, (at, span): (usize, Span)) -> Stmt {
        let text = if is_compound(&kind) { "".into() } else { self.text_since(at) };
        Stmt { kind, labels: Vec::new(), span: self.since(span), text }
    }

    /// A statement with its labels.
    fn labeled(&mut self) -> Parsed<Stmt> {
        let mut labels: Vec<Name> = Vec::new();
        while self.peek() == Kind::Name
            && self.peek_at(1) == Kind::Colon
            && !self.kinds.proctypes.contains(&self.token().text)
        {
            labels.push(self.name("a label")?);
            self.bump();
        }
        let start = (self.at, self.span());
        let is_alone = self.at_end_of_sequence() || matches!(self.peek(), Kind::Semicolon | Kind::Arrow);
        if !labels.is_empty() && is_alone {
            // A label before nothing is a label before `skip`.
            let kind = StmtKind::Expr(crate::ast::Expr {
                kind: crate::ast::ExprKind::Int(1),
                span: labels[0].span,
                height: 1,
            });
            let (span, text) = (labels[0].span, "skip".into());
            return Ok(Stmt { kind, labels, span, text });
        }
        if !labels.is_empty() && self.at_declaration() {
            let help = "write the declaration first";
            return Err(fail_with_help(
                "misplaced",
                "a label cannot stand before a declaration",
                start.1,
                help,
            ));
        }
        let statement = self.statement()?;
        Ok(Stmt { labels, ..statement })
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let start = (self.at, self.span());
        let kind = match self.peek() {
            Kind::OpenBrace => StmtKind::Block(self.block("a block")?),
            Kind::Keyword(word) => match self.keyword_statement(word)? {
                Some(kind) => kind,
                None => StmtKind::Expr(self.expr()?),
            },
            Kind::Name if self.at_inline_call() => return self.inline_call(&[]),
            Kind::Name if self.starts_with_variable() => return self.variable_statement(start),
            _ => StmtKind::Expr(self.expr()?),
        };
        Ok(self.made_stmt(kind, start))
    }

    fn starts_with_variable(&self) -> bool {
        !self.at_remote()
    }

    /// A statement that begins with a keyword, unless it is an expression.
    fn keyword_statement(&mut self, word: Word) -> Parsed<Option<StmtKind>> {
        Ok(Some(match word {
            Word::If => StmtKind::If(self.options(Word::Fi)?),
            Word::Do => StmtKind::Do(self.options(Word::Od)?),
            Word::For => self.for_statement()?,
            Word::Select => self.select_statement()?,
            Word::Atomic => {
                self.bump();
                StmtKind::Atomic(self.block("an atomic sequence")?)
            }
            Word::DStep => {
                self.bump();
                StmtKind::DStep(self.block("a d_step sequence")?)
            }
            Word::Else => {
                self.bump();
                StmtKind::Else
            }
            Word::Break => {
                self.bump();
                StmtKind::Break
            }
            Word::Goto => {
                self.bump();
                StmtKind::Goto(self.name("a label")?)
            }
            Word::Assert => {
                self.bump();
                StmtKind::Assert(self.expr()?)
            }
            Word::Printf => self.printf()?,
            Word::Printm => {
                self.bump();
                self.expect(Kind::OpenParen)?;
                StmtKind::PrintM(self.in_parens(Self::expr)?)
            }
            Word::SetPriority => {
                self.bump();
                self.expect(Kind::OpenParen)?;
                let (pid, priority) = self.in_parens(|this| {
                    let pid = this.expr()?;
                    this.expect(Kind::Comma)?;
                    Ok((pid, this.expr()?))
                })?;
                StmtKind::SetPriority(pid, priority)
            }
            Word::Return => {
                let help = "it is for inlines that are called as `x = name(…)`";
                return Err(fail_with_help("misplaced", "`return` cannot be used here", self.span(), help));
            }
            _ => return Ok(None),
        }))
    }

    /// A statement that begins with a variable.
    fn variable_statement(&mut self, start: (usize, Span)) -> Parsed<Stmt> {
        let variable = self.var_ref()?;
        if let [(name, None)] = &variable.parts[..]
            && &*name.text == "STDIN"
            && matches!(self.peek(), Kind::Query | Kind::QueryQuery)
        {
            let message = "`STDIN` cannot be read in a model that is checked";
            return Err(fail("no-stdin", message, name.span, "a state space has no input"));
        }
        let kind = match self.peek() {
            Kind::Assign => {
                let target = self.tokens[start.0..self.at].to_vec();
                self.bump();
                if self.at_inline_call() {
                    return self.inline_call(&target);
                }
                StmtKind::Assign(variable, self.expr()?)
            }
            Kind::Increment | Kind::Decrement => {
                let by = if self.bump().is(Kind::Increment) { 1 } else { -1 };
                StmtKind::Step(variable, by)
            }
            Kind::Bang | Kind::BangBang if !self.at_new_line() => self.send(variable)?,
            Kind::Query | Kind::QueryQuery if self.peek_at(1) != Kind::OpenBracket => {
                self.receive(variable)?
            }
            Kind::OpenParen if variable.parts.len() == 1 && !self.at_new_line() => {
                let name = &variable.parts[0].0;
                let error =
                    fail("unknown-inline", format!("there is no inline `{}`", name.text), name.span, "");
                let known: Vec<&str> = self.inlines.keys().map(|name| &**name).collect();
                return Err(crate::errors::suggest(error, &name.text, sorted(known)));
            }
            _ => {
                let first = self.var_expr(variable)?;
                StmtKind::Expr(self.binary(first, 0)?)
            }
        };
        Ok(self.made_stmt(kind, start))
    }

    fn send(&mut self, channel: VarRef) -> Parsed<StmtKind> {
        let sorted = self.bump().is(Kind::BangBang);
        let first = self.expr()?;
        let mut args = vec![first];
        if self.peek() == Kind::OpenParen && !self.at_new_line() {
            self.bump();
            args.extend(self.in_parens(|this| this.list(Self::expr))?);
        } else {
            while self.eat(Kind::Comma) {
                args.push(self.expr()?);
            }
        }
        Ok(StmtKind::Send { channel, sorted, args })
    }

    fn receive(&mut self, channel: VarRef) -> Parsed<StmtKind> {
        let random = self.bump().is(Kind::QueryQuery);
        let keep = self.eat(Kind::Less);
        let args = self.recv_args()?;
        if keep {
            self.expect(Kind::Greater)?;
        }
        Ok(StmtKind::Receive { channel, random, keep, args })
    }

    /// `{ … }`.
    pub(super) fn block(&mut self, what: &str) -> Parsed<Vec<Stmt>> {
        let open = self.expect(Kind::OpenBrace)?;
        let outer_parens = std::mem::take(&mut self.parens);
        let body = self.nested(|this| this.sequence(what));
        self.parens = outer_parens;
        let body = body?;
        self.close(Kind::CloseBrace, open.span)?;
        Ok(body)
    }

    /// What closes something that was opened.
    pub(super) fn close(&mut self, kind: Kind, open: Span) -> Parsed<Span> {
        if self.peek() == kind {
            return Ok(self.bump().span);
        }
        let error = self.unexpected(&kind.to_string());
        Err(Box::new(error.with_related(open, "opened here")))
    }

    /// `if :: … fi`; the keyword comes next.
    fn options(&mut self, end: Word) -> Parsed<Vec<Vec<Stmt>>> {
        let open = self.bump();
        let mut options = Vec::new();
        if self.peek() != Kind::Option {
            return Err(self.unexpected("`::`"));
        }
        while self.eat(Kind::Option) {
            options.push(self.nested(|this| this.sequence("an option"))?);
        }
        self.close(Kind::Keyword(end), open.span)?;
        Ok(options)
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Kind::OpenParen)?;
        let header = self.in_parens(|this| {
            let start = this.at;
            let variable = this.var_ref()?;
            let text = this.text_since(start);
            if !this.peek_name("in") {
                return this.range(variable, text).map(Ok);
            }
            this.bump();
            let start = this.at;
            let range = this.var_ref()?;
            Ok(Err((variable, range, [text, this.text_since(start)])))
        })?;
        self.eat(Kind::Semicolon);
        let body = self.block("the body of a loop")?;
        Ok(match header {
            Ok(range) => StmtKind::ForRange { range, body },
            Err((variable, range, texts)) => StmtKind::ForIn { variable, range, body, texts },
        })
    }

    /// `: from .. to`.
    fn range(&mut self, variable: VarRef, text: Arc<str>) -> Parsed<Range> {
        self.expect(Kind::Colon)?;
        let start = self.at;
        let from = self.expr()?;
        let from_text = self.text_since(start);
        self.expect(Kind::DotDot)?;
        let start = self.at;
        let to = self.expr()?;
        Ok(Range { variable, from, to, texts: [text, from_text, self.text_since(start)] })
    }

    fn select_statement(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let start = self.at;
        self.expect(Kind::OpenParen)?;
        let range = self.in_parens(|this| {
            let start = this.at;
            let variable = this.var_ref()?;
            let text = this.text_since(start);
            this.range(variable, text)
        })?;
        // Spin's scanner takes `(name: 1 .. 2)` for options only on one line, outside of inlines, and
        // with a name of letters and digits.
        let tokens = &self.tokens[start..self.at];
        let kinds = tokens.iter().map(|token| token.kind);
        let is_plain = self.expanding.is_empty()
            && kinds.eq([
                Kind::OpenParen,
                Kind::Name,
                Kind::Colon,
                Kind::Number,
                Kind::DotDot,
                Kind::Number,
                Kind::CloseParen,
            ])
            && tokens.iter().all(|token| !token.first && !token.text.contains('_'));
        Ok(StmtKind::Select { range, is_plain })
    }

    fn printf(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Kind::OpenParen)?;
        self.in_parens(|this| {
            let format = this.expect(Kind::Text)?;
            let mut args = Vec::new();
            while this.eat(Kind::Comma) {
                args.push(this.expr()?);
            }
            Ok(StmtKind::Print { format: Name { text: format.text, span: format.span }, args })
        })
    }
}

/// Whether a statement consists of others, which have texts of their own.
fn is_compound(kind: &StmtKind) -> bool {
    use StmtKind::*;
    matches!(
        kind,
        If(_) | Do(_) | ForRange { .. } | ForIn { .. } | Atomic(_) | DStep(_) | Block(_) | Unless(_)
    )
}

/// In the order of the alphabet, whatever the order in a hash table.
fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}
