//! The parser: operator precedence with an explicit stack.
//!
//! # Idea
//! Values wait on one stack, operators on another, and an operator is applied as soon as a looser
//! one, a closing parenthesis or the end follows (Floyd, *Syntactic analysis and operator
//! precedence*, JACM 1963; also known as Dijkstra's shunting yard). Nothing recurses, so parentheses
//! may be nested to any depth. What waits as a value, and when a term becomes a proposition, is in
//! [`operand`](crate::operand).

use base::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use crate::errors;
use crate::formula::{Formulas, Op, Prop};
use crate::lexer::{Place, Token};
use crate::operand::{Value, What, unescape};
use crate::parse::Parsed;
use crate::syntax::{Kind, Level};

/// An operator whose operands are not all known yet, or an open parenthesis.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) what: Waiting,
    pub(crate) token: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Parenthesis,
    Prefix(Op),
    Infix(Op),
    Arithmetic(Level),
    Sign,
}

impl Waiting {
    /// A parenthesis has no level: no operator after it reaches across it.
    fn level(self) -> Option<Level> {
        match self {
            Waiting::Parenthesis => None,
            Waiting::Prefix(_) => Some(Level::Prefix),
            Waiting::Infix(op) => Some(Level::of(op)),
            Waiting::Arithmetic(level) => Some(level),
            Waiting::Sign => Some(Level::Sign),
        }
    }
}

pub(crate) struct Parser<'p> {
    pub(crate) formulas: &'p mut Formulas,
    pub(crate) text: &'p str,
    pub(crate) place: Place,
    pub(crate) tokens: Vec<Token>,
    pub(crate) next: usize,
    pub(crate) pending: Vec<Pending>,
    pub(crate) values: Vec<Value>,
    /// The propositions met so far, as a set and in order.
    pub(crate) seen: FxHashSet<Prop>,
    pub(crate) propositions: Vec<(Prop, Span)>,
}

impl<'p> Parser<'p> {
    pub(crate) fn new(
        formulas: &'p mut Formulas,
        text: &'p str,
        place: Place,
        tokens: Vec<Token>,
    ) -> Parser<'p> {
        Parser {
            formulas,
            text,
            place,
            tokens,
            next: 0,
            pending: Vec::new(),
            values: Vec::new(),
            seen: FxHashSet::default(),
            propositions: Vec::new(),
        }
    }

    pub(crate) fn run(mut self) -> Result<Parsed, Diagnostic> {
        self.operand()?;
        while self.operator()? {
            self.operand()?;
        }
        self.apply_while(|_| true)?;
        if let Some(open) = self.pending.last() {
            return Err(errors::unclosed(&self, open.token));
        }
        let formula = self.pop_formula()?;
        Ok(Parsed { formula, propositions: self.propositions })
    }

    pub(crate) fn peek(&self) -> Option<Kind> {
        self.tokens.get(self.next).map(|token| token.kind)
    }

    pub(crate) fn token_text(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.text[token.start..token.end])
    }

    /// The place of the tokens `first..=last`; the end of the text if there are no such tokens.
    pub(crate) fn span(&self, first: usize, last: usize) -> Span {
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(first), Some(last)) => self.place.span(first.start, last.end),
            _ => self.place.span(self.text.len(), self.text.len()),
        }
    }

    /// Reads prefix operators and opening parentheses up to the first operand, and it.
    fn operand(&mut self) -> Result<(), Diagnostic> {
        loop {
            let token = self.next;
            let what = match self.peek() {
                Some(Kind::Prefix(op)) => Waiting::Prefix(op),
                Some(Kind::Open) => Waiting::Parenthesis,
                Some(Kind::Arithmetic(Level::Sum)) if self.token_text(token) == "-" => Waiting::Sign,
                Some(Kind::Name) => return self.model_name(),
                Some(Kind::Quoted) => return self.quoted(),
                Some(Kind::Constant(_) | Kind::Number) => {
                    self.next += 1;
                    self.push(What::Term(token, token), token, token);
                    return Ok(());
                }
                _ => return Err(errors::expected_formula(self)),
            };
            self.next += 1;
            self.pending.push(Pending { what, token });
        }
    }

    /// Reads closing parentheses after an operand and the operator of two operands that follows;
    /// `false` at the end of the text.
    fn operator(&mut self) -> Result<bool, Diagnostic> {
        loop {
            let token = self.next;
            let what = match self.peek() {
                None => return Ok(false),
                Some(Kind::Close) => {
                    self.close()?;
                    continue;
                }
                Some(Kind::Infix(op)) => Waiting::Infix(op),
                Some(Kind::Arithmetic(level)) => Waiting::Arithmetic(level),
                _ => return Err(errors::expected_operator(self)),
            };
            self.next += 1;
            self.reduce_before(what, token)?;
            self.pending.push(Pending { what, token });
            return Ok(true);
        }
    }

    /// A name and what hangs on it: `P[1]@label`, `a.b[i + 1]`, `fireable(t1, t2)`.
    fn model_name(&mut self) -> Result<(), Diagnostic> {
        let first = self.next;
        self.next += 1;
        loop {
            match self.peek() {
                Some(Kind::Access) => {
                    self.next += 1;
                    if self.peek() != Some(Kind::Name) {
                        return Err(errors::expected_name(self));
                    }
                    self.next += 1;
                }
                Some(Kind::OpenBracket) => self.skip_brackets()?,
                // `p (q)` is a missing operator, `len(q)` is a term.
                Some(Kind::Open) if self.touches_previous() => self.skip_brackets()?,
                _ => break,
            }
        }
        self.push(What::Term(first, self.next - 1), first, self.next - 1);
        Ok(())
    }

    fn touches_previous(&self) -> bool {
        self.tokens[self.next - 1].end == self.tokens[self.next].start
    }

    /// Skips from an opening bracket to the one that closes it, whatever is between.
    fn skip_brackets(&mut self) -> Result<(), Diagnostic> {
        let mut open = Vec::new();
        loop {
            match self.peek() {
                None => return Err(errors::unclosed(self, open.last().copied().unwrap_or(self.next))),
                Some(Kind::Open | Kind::OpenBracket) => open.push(self.next),
                Some(Kind::Close) => self.match_bracket(open.pop(), Kind::Open)?,
                Some(Kind::CloseBracket) => self.match_bracket(open.pop(), Kind::OpenBracket)?,
                Some(_) => {}
            }
            self.next += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn match_bracket(&self, open: Option<usize>, expected: Kind) -> Result<(), Diagnostic> {
        match open {
            Some(open) if self.tokens[open].kind == expected => Ok(()),
            open => Err(errors::unopened(self, open)),
        }
    }

    /// Text in double quotes: a proposition, never a part of a term.
    fn quoted(&mut self) -> Result<(), Diagnostic> {
        let token = self.next;
        self.next += 1;
        let written = self.token_text(token);
        let text = unescape(&written[1..written.len() - 1]);
        if text.trim().is_empty() {
            return Err(errors::blank_proposition(self.span(token, token)));
        }
        let formula = self.proposition(&text, token, token);
        self.push(What::Formula(formula), token, token);
        Ok(())
    }

    /// A closing parenthesis: the value inside may still be a term.
    fn close(&mut self) -> Result<(), Diagnostic> {
        self.apply_while(|_| true)?;
        let Some(open) = self.pending.pop() else { return Err(errors::unopened(self, None)) };
        if let Some(value) = self.values.last_mut() {
            value.first = open.token;
            value.last = self.next;
        }
        self.next += 1;
        Ok(())
    }

    /// Applies the operators that bind tighter than the new one, and makes its left operand what it
    /// needs.
    fn reduce_before(&mut self, what: Waiting, token: usize) -> Result<(), Diagnostic> {
        let new = what.level().unwrap_or(Level::Implication);
        self.apply_while(|old| {
            old > new || (old == new && !new.associates_right() && new != Level::Comparison)
        })?;
        match what {
            Waiting::Infix(_) => self.make_last_formula(),
            _ => self.check_term(token),
        }?;
        match self.pending.last() {
            Some(last) if last.what == what && new == Level::Comparison => {
                Err(errors::chained_comparison(self, last.token, token))
            }
            _ => Ok(()),
        }
    }

    /// Applies pending operators, last first, down to a parenthesis or a level that is refused.
    fn apply_while(&mut self, accept: impl Fn(Level) -> bool) -> Result<(), Diagnostic> {
        while let Some(&last) = self.pending.last() {
            if !last.what.level().is_some_and(&accept) {
                break;
            }
            self.pending.pop();
            self.apply(last)?;
        }
        Ok(())
    }

    fn apply(&mut self, Pending { what, token }: Pending) -> Result<(), Diagnostic> {
        match what {
            Waiting::Parenthesis => Ok(()),
            Waiting::Prefix(op) => {
                let (last, operand) = (self.last_token(), self.pop_formula()?);
                let formula = self.build(op, &[operand], token)?;
                self.push(What::Formula(formula), token, last);
                Ok(())
            }
            Waiting::Infix(op @ (Op::And | Op::Or)) => self.join_chain(op, token),
            Waiting::Infix(op) => {
                let (last, right) = (self.last_token(), self.pop_formula()?);
                let (first, left) = (self.first_token(), self.pop_formula()?);
                let formula = self.build(op, &[left, right], token)?;
                self.push(What::Formula(formula), first, last);
                Ok(())
            }
            Waiting::Arithmetic(_) => {
                let (_, last) = self.pop_term(token)?;
                let (first, _) = self.pop_term(token)?;
                self.push(What::Term(first, last), first, last);
                Ok(())
            }
            Waiting::Sign => {
                let (_, last) = self.pop_term(token)?;
                self.push(What::Term(token, last), token, last);
                Ok(())
            }
        }
    }
}
