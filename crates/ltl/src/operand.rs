//! The operands of the parser: terms, formulas, and lists that grow.
//!
//! A value is a *term* as long as only names, numbers, arithmetic and comparison were met, and
//! becomes a proposition where a formula is needed. Operands of `&` and `|` are gathered in lists
//! first, so that long chains cost no quadratic time.

use base::Diagnostic;

use crate::errors;
use crate::formula::{Formula, Op};
use crate::parse::MAX_DEPTH;
use crate::parser::Parser;
use crate::syntax::Kind;

/// An operand: what it is, and its tokens `first..=last` with the parentheses around it.
pub(crate) struct Value {
    pub(crate) what: What,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

pub(crate) enum What {
    /// A model expression, and its tokens without parentheses around it.
    Term(usize, usize),
    Formula(Formula),
    /// Operands of `And` or `Or` that may become more, and the token of one of the operators.
    Chain(Op, Vec<Formula>, usize),
}

impl Parser<'_> {
    pub(crate) fn push(&mut self, what: What, first: usize, last: usize) {
        self.values.push(Value { what, first, last });
    }

    /// The operator at `token` applied to its operands, unless it is nested too deep.
    pub(crate) fn build(
        &mut self,
        op: Op,
        operands: &[Formula],
        token: usize,
    ) -> Result<Formula, Diagnostic> {
        let formula = self.formulas.apply(op, operands);
        if self.formulas.depth(formula) <= MAX_DEPTH {
            Ok(formula)
        } else {
            Err(errors::too_deep(self.span(token, token), MAX_DEPTH))
        }
    }

    /// The last value must be a term, since the operator at `token` needs one.
    pub(crate) fn check_term(&self, token: usize) -> Result<(), Diagnostic> {
        match self.values.last() {
            Some(Value { what: What::Formula(_) | What::Chain(..), first, last }) => {
                Err(errors::formula_as_term(self, token, self.span(*first, *last)))
            }
            _ => Ok(()),
        }
    }

    /// Takes a term, the operand of the operator at `token`; returns its tokens.
    pub(crate) fn pop_term(&mut self, token: usize) -> Result<(usize, usize), Diagnostic> {
        self.check_term(token)?;
        Ok(self.values.pop().map_or((token, token), |value| (value.first, value.last)))
    }

    pub(crate) fn first_token(&self) -> usize {
        self.values.last().map_or(0, |value| value.first)
    }

    pub(crate) fn last_token(&self) -> usize {
        self.values.last().map_or(0, |value| value.last)
    }

    pub(crate) fn pop_formula(&mut self) -> Result<Formula, Diagnostic> {
        self.values.pop().map_or(Ok(Formula::TRUE), |value| self.formula_of(value))
    }

    /// A term before a Boolean operator will never grow: it is a proposition. Doing this at once
    /// numbers propositions in the order in which they are written.
    pub(crate) fn make_last_formula(&mut self) -> Result<(), Diagnostic> {
        match self.values.pop() {
            Some(value @ Value { what: What::Term(..), first, last }) => {
                let formula = self.formula_of(value)?;
                self.push(What::Formula(formula), first, last);
            }
            value => self.values.extend(value),
        }
        Ok(())
    }

    fn formula_of(&mut self, value: Value) -> Result<Formula, Diagnostic> {
        match value.what {
            What::Formula(formula) => Ok(formula),
            What::Chain(op, operands, token) => self.build(op, &operands, token),
            What::Term(first, last) => self.proposition_of(first, last),
        }
    }

    fn proposition_of(&mut self, first: usize, last: usize) -> Result<Formula, Diagnostic> {
        if first == last {
            match (self.tokens[first].kind, self.token_text(first)) {
                (Kind::Constant(value), _) => return Ok(self.formulas.constant(value)),
                (Kind::Number, "0") => return Ok(Formula::FALSE),
                (Kind::Number, "1") => return Ok(Formula::TRUE),
                (Kind::Number, _) => return Err(errors::number_as_formula(self, first)),
                _ => {}
            }
        }
        let text = self.term_text(first, last);
        Ok(self.proposition(&text, first, last))
    }

    /// The tokens as they were written, with one blank where there was any gap.
    fn term_text(&self, first: usize, last: usize) -> String {
        let mut text = String::new();
        for token in first..=last {
            if token > first && self.tokens[token - 1].end < self.tokens[token].start {
                text.push(' ');
            }
            text.push_str(self.token_text(token));
        }
        text
    }

    pub(crate) fn proposition(&mut self, text: &str, first: usize, last: usize) -> Formula {
        let prop = self.formulas.proposition(text);
        if self.seen.insert(prop) {
            let span = self.span(first, last);
            self.formulas.note_place(prop, span);
            self.propositions.push((prop, span));
        }
        self.formulas.prop(prop)
    }

    /// Joins the two last values into one list of operands, the shorter into the longer.
    pub(crate) fn join_chain(&mut self, op: Op, token: usize) -> Result<(), Diagnostic> {
        let (last, mut right) = (self.last_token(), self.pop_operands(op)?);
        let (first, mut left) = (self.first_token(), self.pop_operands(op)?);
        if left.len() < right.len() {
            std::mem::swap(&mut left, &mut right);
        }
        left.append(&mut right);
        self.push(What::Chain(op, left, token), first, last);
        Ok(())
    }

    fn pop_operands(&mut self, op: Op) -> Result<Vec<Formula>, Diagnostic> {
        match self.values.pop() {
            Some(Value { what: What::Chain(chain, operands, _), .. }) if chain == op => Ok(operands),
            Some(value) => Ok(vec![self.formula_of(value)?]),
            None => Ok(Vec::new()),
        }
    }
}

/// Drops the backslashes that protect characters.
pub(crate) fn unescape(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}
