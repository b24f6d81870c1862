//! Reading labels and acceptance conditions of the HOA format.

use base::{Diagnostic, Span};

use crate::gave_up::Unread;
use crate::hoa::lexer::Token;
use crate::hoa::reader::{Condition, Reader, fail, once};
use crate::label::Label;
use crate::tgba::MAX_MARKS;

/// Labels nested deeper are refused.
const MAX_DEPTH: usize = 200;

/// Labels.
impl Reader<'_, '_> {
    pub(super) fn label(&mut self, depth: usize) -> Result<Label, Unread> {
        if depth > MAX_DEPTH {
            let message = format!("labels nested deeper than {MAX_DEPTH} are refused");
            return fail(self.span(), "hoa-limit", message);
        }
        let mut any = self.label_conjunction(depth)?;
        while self.eat('|') {
            let next = self.label_conjunction(depth)?;
            any = self.labels.with(self.budget).or(any, next)?;
        }
        if self.labels.is_exhausted() {
            return fail(self.span(), "hoa-limit", "the labels are too large");
        }
        Ok(any)
    }

    pub(super) fn label_conjunction(&mut self, depth: usize) -> Result<Label, Unread> {
        let mut all = self.label_atom(depth)?;
        while self.eat('&') {
            let next = self.label_atom(depth)?;
            all = self.labels.with(self.budget).and(all, next)?;
        }
        Ok(all)
    }

    pub(super) fn label_atom(&mut self, depth: usize) -> Result<Label, Unread> {
        let mut negated = false;
        while self.eat('!') {
            negated = !negated;
        }
        let (token, span) = self.next();
        let label = match token {
            Token::Identifier(name) if name == "t" => Label::TRUE,
            Token::Identifier(name) if name == "f" => Label::FALSE,
            Token::Number(number) => {
                let propositions = self.propositions.as_deref().unwrap_or_default();
                match propositions.get(usize::try_from(*number).unwrap_or(usize::MAX)) {
                    Some(&prop) => self.labels.prop(prop),
                    None => return fail(*span, "hoa-count", format!("there is no proposition {number}")),
                }
            }
            Token::Alias(name) => match self.aliases.get(name) {
                Some(&label) => label,
                None => {
                    let error = Diagnostic::error("hoa-alias", format!("the alias `@{name}` is not defined"));
                    let mut known: Vec<&str> = self.aliases.keys().map(String::as_str).collect();
                    known.sort_unstable();
                    return Err(error.at(*span, "").suggesting(name, known).into());
                }
            },
            Token::Punctuation('(') => {
                let label = self.label(depth + 1)?;
                self.expect(')')?;
                label
            }
            found => return fail(*span, "hoa-syntax", format!("expected a label, found {found}")),
        };
        Ok(if negated { self.labels.with(self.budget).not(label)? } else { label })
    }

    pub(super) fn label_in_brackets(&mut self) -> Result<Option<Label>, Unread> {
        if !self.eat('[') {
            return Ok(None);
        }
        let label = self.label(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }
}

/// Acceptance.
impl Reader<'_, '_> {
    /// `t`, `f`, or a conjunction of `Inf(i)`, with parentheses where they do no harm.
    pub(super) fn read_acceptance(&mut self, span: Span) -> Result<(), Unread> {
        let (count, place) = self.number("the number of acceptance sets")?;
        if count > u64::from(MAX_MARKS) {
            return fail(place, "hoa-limit", format!("more than {MAX_MARKS} acceptance sets"));
        }
        let mut ours: Vec<Option<u32>> = vec![None; count as usize];
        let mut n_marks = 0;
        let mut depth = 0usize;
        loop {
            while self.eat('(') {
                depth += 1;
            }
            self.acceptance_atom(&mut ours, &mut n_marks)?;
            while depth > 0 && self.eat(')') {
                depth -= 1;
            }
            if *self.peek() == Token::Punctuation('|') {
                let message = "only Büchi and generalized Büchi acceptance are supported, without `|`";
                return fail(self.span(), "hoa-acceptance", message);
            }
            if !self.eat('&') {
                break;
            }
        }
        if depth > 0 {
            return self.unexpected("`)`");
        }
        once(&mut self.acceptance, Condition { ours, n_marks, span }, "Acceptance", span)
    }

    pub(super) fn acceptance_atom(
        &mut self,
        ours: &mut [Option<u32>],
        n_marks: &mut u32,
    ) -> Result<(), Unread> {
        let (token, span) = self.next();
        match token {
            Token::Identifier(name) if name == "t" => return Ok(()),
            Token::Identifier(name) if name == "f" => {
                // A mark that is on no edge.
                if *n_marks >= MAX_MARKS {
                    return fail(*span, "hoa-limit", format!("more than {MAX_MARKS} acceptance sets"));
                }
                *n_marks += 1;
                return Ok(());
            }
            Token::Identifier(name) if name == "Inf" => {}
            Token::Identifier(name) if name == "Fin" => {
                let message = "only Büchi and generalized Büchi acceptance are supported, without `Fin`";
                return fail(*span, "hoa-acceptance", message);
            }
            found => {
                return fail(*span, "hoa-syntax", format!("expected an acceptance condition, found {found}"));
            }
        }
        self.expect('(')?;
        if *self.peek() == Token::Punctuation('!') {
            return fail(self.span(), "hoa-acceptance", "complemented acceptance sets are not supported");
        }
        let (set, span) = self.number("the number of an acceptance set")?;
        let Some(entry) = ours.get_mut(set as usize) else {
            return fail(span, "hoa-count", format!("there is no acceptance set {set}"));
        };
        if entry.is_none() {
            *entry = Some(*n_marks);
            *n_marks += 1;
        }
        self.expect(')')
    }
}
