//! Bodies: the states and clauses of a process, tester or spec.

use base::fail;
use base::suggest::nearest;

use super::{Parsed, Parser};
use crate::ast::{Action, Alternative, Binder, Body, Copies, Entry, Mark, State, StateIndex};
use crate::lexer::Kind;

/// Whose body it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Process,
    Tester,
    Spec,
}

/// The words that begin a clause, where neither `:` nor `[` follows: then it is a state's name.
const CLAUSE_WORDS: [&str; 7] =
    ["initial", "alphabet", "watch", "reject", "deadlock", "livelock", "infinite"];

impl<'a, 'm> Parser<'a, 'm> {
    /// `[i in 0..N]`, or nothing.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Binder<'a>>> {
        let mut parameters = Vec::new();
        while self.eat(Kind::OpenBracket) {
            self.binders(&mut parameters)?;
            if self.peek() != Kind::CloseBracket {
                return Err(self.unexpected("an operator, `,` or `]`"));
            }
            self.bump();
        }
        Ok(parameters)
    }

    pub(super) fn body(&mut self, role: Role) -> Parsed<Body<'a>> {
        let open = self.expect(Kind::OpenBrace)?.span;
        let mut body = Body::default();
        loop {
            if self.eat(Kind::CloseBrace) {
                return Ok(body);
            }
            if self.peek() == Kind::End || self.at_item() {
                let error = self.unexpected("`}`");
                self.complain(Box::new(error.with_related(open, "the brace that is not closed")));
                body.broken = true;
                return Ok(body);
            }
            let start = self.at;
            if let Err(error) = self.part(role, &mut body) {
                body.broken = true;
                self.skip_part(start);
                self.complain(error);
            }
        }
    }

    /// Goes on after the `;` that ends a state that cannot be read, or at the end of the body.
    fn skip_part(&mut self, start: usize) {
        self.depth = 0;
        while !matches!(self.peek(), Kind::CloseBrace | Kind::End) {
            if self.at > start && self.at_line_start() && self.at_item() {
                return;
            }
            if self.bump().kind == Kind::Semicolon {
                return;
            }
        }
    }

    /// A state or a clause.
    fn part(&mut self, role: Role, body: &mut Body<'a>) -> Parsed<()> {
        let is_state = matches!(self.peek_second(), Kind::Colon | Kind::OpenBracket);
        if self.peek() == Kind::Name && !is_state && CLAUSE_WORDS.contains(&self.word()) {
            return self.clause(role, body);
        }
        let state = self.state()?;
        body.states.push(state);
        Ok(())
    }

    fn clause(&mut self, role: Role, body: &mut Body<'a>) -> Parsed<()> {
        let start = self.bump().span;
        let mark = match self.slice(start) {
            "initial" => {
                let initial = self.place("the name of a state")?;
                self.semicolon("`;`")?;
                if let Some(first) = &body.initial {
                    let error = fail("duplicate-initial", "a second `initial`", initial.span, "one too many");
                    return Err(Box::new(error.with_related(first.span, "the first one")));
                }
                body.initial = Some(initial);
                return Ok(());
            }
            word @ ("alphabet" | "watch") => {
                if role == Role::Process && word == "watch" {
                    let error =
                        fail("misplaced", "`watch` is for testers and specs", start, "not in a process");
                    return Err(Box::new(error.with_help("a process says `alphabet`")));
                }
                body.alphabet_span.get_or_insert(start);
                return self.entries(&mut body.alphabet, Parser::action);
            }
            "reject" => Mark::Reject,
            "deadlock" => Mark::Deadlock,
            "livelock" => Mark::Livelock,
            _ => Mark::Infinite,
        };
        if role != Role::Tester {
            let message = format!("`{}` is for testers", self.slice(start));
            return Err(fail("misplaced", message, start, "not in a process or spec"));
        }
        let mut places = Vec::new();
        self.entries(&mut places, |parser| parser.place("the name of a state"))?;
        body.marks.extend(places.into_iter().map(|place| (mark, place)));
        Ok(())
    }

    /// A list with commas up to the semicolon; each entry may be followed by `for` and `when`.
    fn entries<T>(
        &mut self,
        entries: &mut Vec<Entry<'a, T>>,
        mut read: impl FnMut(&mut Parser<'a, 'm>) -> Parsed<T>,
    ) -> Parsed<()> {
        loop {
            let what = read(self)?;
            let copies = self.copies()?;
            entries.push(Entry { what, copies });
            if !self.eat(Kind::Comma) {
                return self.semicolon("`,`, `for`, `when` or `;`");
            }
        }
    }

    fn state(&mut self) -> Parsed<State<'a>> {
        let name = self.name("the name of a state or `}`")?;
        let indices = self.state_indices()?;
        if !self.eat(Kind::Colon) {
            let wanted = if indices.is_empty() { "`:` after the name of a state" } else { "`:`" };
            let error = self.unexpected(wanted);
            return Err(match nearest(name.text, CLAUSE_WORDS) {
                Some(word) if self.peek() == Kind::Name => {
                    Box::new(error.with_help(format!("did you mean `{word}`?")))
                }
                _ => error,
            });
        }
        let mut alternatives = Vec::new();
        if !matches!(self.peek(), Kind::Semicolon | Kind::CloseBrace) {
            alternatives.push(self.alternative()?);
            while self.eat(Kind::Bar) {
                alternatives.push(self.alternative()?);
            }
        }
        let wanted = match alternatives.last() {
            None => "an action or `;`",
            Some(last) if last.copies.conditions.is_empty() => "`|`, `for`, `when` or `;`",
            Some(_) => "an operator, `|` or `;`",
        };
        self.semicolon(wanted)?;
        Ok(State { name, indices, alternatives, span: self.since(name.span) })
    }

    /// `[k in 0..N, 0]`, or nothing.
    fn state_indices(&mut self) -> Parsed<Vec<StateIndex<'a>>> {
        let mut n_indices = 0;
        self.bracketed(|parser| {
            let index = if parser.peek() == Kind::Name && parser.peek_second() == Kind::In {
                let name = parser.name("the name of a variable")?;
                parser.bump();
                StateIndex::Binder(Binder { name, range: parser.range()? })
            } else {
                StateIndex::Value(parser.expr()?)
            };
            n_indices += 1;
            if n_indices > super::MAX_BINDERS {
                let message = format!("a state can have at most {} indices", super::MAX_BINDERS);
                return Err(fail("too-many-variables", message, parser.end_of_last(), "one too many"));
            }
            Ok(index)
        })
    }

    fn alternative(&mut self) -> Parsed<Alternative<'a>> {
        let start = self.token().span;
        let action = self.action()?;
        if !self.eat(Kind::Arrow) {
            return Err(self.unexpected("`->` and the next state"));
        }
        let target = self.place("the name of a state")?;
        let copies = self.copies()?;
        Ok(Alternative { action, target, copies, extent: self.since(start) })
    }

    fn action(&mut self) -> Parsed<Action<'a>> {
        match self.peek() {
            Kind::Tau => Ok(Action::Tau(self.bump().span)),
            Kind::Text => {
                let quoted = self.quoted("an action")?;
                Ok(if quoted.text == "tau" { Action::Tau(quoted.span) } else { Action::Quoted(quoted) })
            }
            kind if kind.is_reserved() => {
                let error = self.unexpected("an action");
                Err(Box::new(error.with_help("an action may have any name in quotation marks, like \"in\"")))
            }
            _ => Ok(Action::Indexed(self.place("an action")?)),
        }
    }

    /// `for …` and `when …`, in any order, as often as they come.
    fn copies(&mut self) -> Parsed<Copies<'a>> {
        let mut copies = Copies::default();
        loop {
            if self.eat(Kind::For) {
                self.binders(&mut copies.binders)?;
            } else if self.eat(Kind::When) {
                copies.conditions.push(self.expr()?);
            } else {
                return Ok(copies);
            }
        }
    }
}
