//! The parts of a model: declarations, proctypes, claims, formulas.

use base::Span;

use crate::ast::{Active, BodyKind, Declaration, Ltl, Model, Name, Proctype, Unit};
use crate::errors::{fail, fail_with_help};
use crate::lexer::Kind;
use crate::words::Word;

use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn model(&mut self) -> Model {
        let mut units = Vec::new();
        while !self.eat_separators_to_end() {
            let before = self.at;
            match self.unit() {
                Ok(unit) => units.push(unit),
                Err(error) => {
                    self.complain(error);
                    self.skip_unit(before);
                }
            }
        }
        Model { units, broken: self.broken }
    }

    fn eat_separators_to_end(&mut self) -> bool {
        self.eat_separators();
        self.peek() == Kind::End
    }

    /// After an error: skips to what may be the next part.
    fn skip_unit(&mut self, start: usize) {
        let mut level = 0usize;
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::OpenBrace => level += 1,
                Kind::CloseBrace => level = level.saturating_sub(1),
                Kind::Semicolon if level == 0 => return,
                Kind::Keyword(word) if self.at > start && begins_unit(word) => return,
                Kind::Keyword(word)
                    if self.at > start && level == 0 && self.token().first && word.begins_declaration() =>
                {
                    return;
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn unit(&mut self) -> Parsed<Unit> {
        if self.at_mtype_list() {
            return self.mtype_list().map(Unit::Mtype);
        }
        if self.at_declaration() {
            return self.declaration().map(Unit::Declaration);
        }
        let start = self.span();
        match self.peek() {
            Kind::Keyword(Word::Typedef) => self.typedef().map(Unit::Typedef),
            Kind::Keyword(Word::Ltl) => self.ltl().map(Unit::Ltl),
            Kind::Keyword(word) if begins_unit(word) => {
                self.proctype(start).map(|proctype| Unit::Proctype(Box::new(proctype)))
            }
            Kind::Name if self.peek_name("D") && self.peek_at(1) == Kind::Keyword(Word::Proctype) => {
                self.bump();
                let proctype = self.proctype(start)?;
                Ok(Unit::Proctype(Box::new(Proctype { deterministic: true, ..proctype })))
            }
            Kind::Name if self.peek_at(1) == Kind::Name => {
                let token = self.token();
                let message = format!("there is no type `{}`", token.text);
                let error = fail("unknown-type", message, token.span, "");
                if matches!(&*token.text, "float" | "double" | "long" | "char" | "string") {
                    return Err(Box::new(error.with_help("the widest type of Promela is `int`")));
                }
                let mut known: Vec<&str> = self.kinds.typedefs.iter().map(|name| &**name).collect();
                known.sort_unstable();
                known.extend(["bit", "bool", "byte", "short", "int", "unsigned", "chan", "mtype", "pid"]);
                known.extend(["proctype", "active", "typedef", "init", "never"]);
                Err(crate::errors::suggest(error, &token.text, known))
            }
            Kind::CloseBrace => {
                Err(fail("syntax", "this `}` closes nothing", start, "there is no `{` that belongs to it"))
            }
            _ => Err(self.unexpected("a declaration, a proctype, `init`, `ltl` or `never`")),
        }
    }

    /// A proctype, `init`, a never claim or a trace.
    fn proctype(&mut self, start: Span) -> Parsed<Proctype> {
        let mut active = None;
        if self.eat_word(Word::Active) {
            let count = if self.eat(Kind::OpenBracket) { Some(self.bracketed()?) } else { None };
            active = Some(Active { count, span: self.since(start) });
        }
        let word = self.bump();
        let kind = match word.kind {
            Kind::Keyword(Word::Proctype | Word::DProctype) => BodyKind::Proctype,
            Kind::Keyword(Word::Init) if active.is_none() => BodyKind::Init,
            Kind::Keyword(Word::Never) if active.is_none() => BodyKind::Never,
            Kind::Keyword(Word::Trace) if active.is_none() => BodyKind::Trace,
            Kind::Keyword(Word::Notrace) if active.is_none() => BodyKind::NoTrace,
            _ => {
                self.at = self.at.saturating_sub(1);
                return Err(self.unexpected("`proctype`"));
            }
        };
        let has_name = kind == BodyKind::Proctype || (kind == BodyKind::Never && self.peek() == Kind::Name);
        let name = if has_name {
            self.name("a proctype")?
        } else {
            Name { text: word.text.clone(), span: word.span }
        };
        let mut parameters = Vec::new();
        if kind == BodyKind::Proctype {
            self.expect(Kind::OpenParen)?;
            parameters = self.in_parens(Self::parameters)?;
        }
        let priority = if self.eat_word(Word::Priority) { Some(self.primary()?) } else { None };
        let mut provided = None;
        if kind == BodyKind::Proctype && self.eat_word(Word::Provided) {
            self.expect(Kind::OpenParen)?;
            provided = Some(self.in_parens(Self::expr)?);
        }
        let open = self.span();
        if self.peek() == Kind::OpenBrace && self.peek_at(1) == Kind::CloseBrace {
            let help = "`skip` is a statement that does nothing";
            return Err(fail_with_help("no-statement", "the body has no statement", open, help));
        }
        let body = self.block("the body")?;
        Ok(Proctype {
            kind,
            name,
            active,
            deterministic: word.is(Kind::Keyword(Word::DProctype)),
            parameters,
            priority,
            provided,
            body,
            span: self.since(start),
        })
    }

    /// `byte a, b; chan c`.
    fn parameters(&mut self) -> Parsed<Vec<Declaration>> {
        let mut parameters = Vec::new();
        self.eat_separators();
        while self.peek() != Kind::CloseParen {
            if !self.at_declaration() {
                let error = self.unexpected("the type of a parameter");
                let help = "`(byte a, b; chan c)`: parameters of different types are separated by `;`";
                return Err(if error.code == "syntax" { Box::new(error.with_help(help)) } else { error });
            }
            parameters.push(self.parameter_group()?);
            if !self.eat(Kind::Semicolon) && self.peek() != Kind::CloseParen {
                return Err(self.unexpected("`;` or `)`"));
            }
        }
        Ok(parameters)
    }

    /// A declaration; `byte a, chan c` is a common slip.
    fn parameter_group(&mut self) -> Parsed<Declaration> {
        self.declaration().map_err(|error| {
            if error.code == "keyword-as-name" {
                Box::new(error.with_help("parameters of different types are separated by `;`"))
            } else {
                error
            }
        })
    }

    /// `ltl name { formula }`.
    fn ltl(&mut self) -> Parsed<Ltl> {
        let start = self.bump().span;
        let name = if self.peek() == Kind::Name { Some(self.name("a formula")?) } else { None };
        let open = self.expect(Kind::OpenBrace)?;
        let formula = self.formula()?;
        self.eat(Kind::Semicolon);
        self.close(Kind::CloseBrace, open.span)?;
        let formula = self.checked_formula(formula)?;
        Ok(Ltl { name, formula, span: self.since(start) })
    }
}

fn begins_unit(word: Word) -> bool {
    use Word::*;
    matches!(word, Active | Proctype | DProctype | Init | Never | Trace | Notrace | Typedef | Ltl)
}
