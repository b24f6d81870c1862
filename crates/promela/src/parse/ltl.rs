//! Formulas: expressions with temporal operators among them. Operators associate as in Spin, that
//! is to the left. Prefix operators bind more tightly than `&&`, but not than `==`: there Spin 6.5.2
//! makes something meaningless of the formula.
//!
//! A word like `U` or `X` is an operator only where one fits, so variables may be called so.

use base::{Diagnostic, Span};

use crate::ast::{Expr, ExprKind};
use crate::errors::{fail, fail_with_help};
use crate::lexer::Kind;
use crate::program::{BinaryOp, TemporalOp, UnaryOp};

use super::expr::{IMPLIES_LEVEL, UNTIL_LEVEL};
use super::{Parsed, Parser, join};

impl Parser<'_> {
    /// A whole formula.
    pub(super) fn formula(&mut self) -> Parsed<Expr> {
        self.in_formula = true;
        let formula = self.expr();
        self.in_formula = false;
        formula
    }

    /// A text that is one formula, or one expression without temporal operators.
    pub(super) fn question(&mut self, may_be_temporal: bool) -> Parsed<Expr> {
        let formula = self.formula()?;
        if may_be_temporal {
            self.eat(Kind::Semicolon);
        }
        if self.peek() != Kind::End {
            return Err(self.unexpected("an operator or the end of the text"));
        }
        let formula = self.checked_formula(formula)?;
        match first_temporal(&formula).filter(|_| !may_be_temporal) {
            None => Ok(formula),
            Some(span) => {
                let message = "a temporal operator stands where an expression about one state is needed";
                Err(fail("misplaced-temporal", message, span, ""))
            }
        }
    }

    /// Reads a temporal prefix operator, if one comes next.
    pub(super) fn temporal_prefix(&mut self) -> Option<TemporalOp> {
        let (op, length) = match self.peek() {
            Kind::OpenBracket if self.peek_at(1) == Kind::CloseBracket => (TemporalOp::Always, 2),
            Kind::Less if self.adjacent() == Some(Kind::Greater) => (TemporalOp::Eventually, 2),
            Kind::Name => {
                let op = match &*self.token().text {
                    "always" => TemporalOp::Always,
                    "eventually" => TemporalOp::Eventually,
                    "next" | "X" => TemporalOp::Next,
                    _ => return None,
                };
                // A variable is followed by something else.
                let begins_operand = matches!(
                    self.peek_at(1),
                    Kind::Name | Kind::Number | Kind::OpenParen | Kind::Bang | Kind::Keyword(_) | Kind::Less
                ) || (self.peek_at(1), self.peek_at(2))
                    == (Kind::OpenBracket, Kind::CloseBracket);
                if !begins_operand {
                    return None;
                }
                (op, 1)
            }
            _ => return None,
        };
        self.at += length;
        Some(op)
    }

    /// What a temporal prefix operator applies to: a comparison is read as one operand.
    pub(super) fn temporal_operand(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let first = self.unary()?;
        let before = self.at;
        let operand = self.binary(first, UNTIL_LEVEL + 1)?;
        if self.at > before {
            let message = "this comparison is taken as the operand of the temporal operator";
            let warning = Diagnostic::warning("formula-grouping", message).at(self.since(start), "");
            self.warn(warning.with_help("Spin misreads it; write `[] (x == 1)`, not `[] x == 1`"));
        }
        Ok(operand)
    }

    /// The temporal operator between formulas that comes next, its level and its length.
    fn peek_temporal_infix(&self) -> Option<(TemporalOp, u8, usize)> {
        Some(match self.peek() {
            Kind::Arrow => (TemporalOp::Implies, IMPLIES_LEVEL, 1),
            Kind::Less if self.adjacent() == Some(Kind::Arrow) => (TemporalOp::Equivalent, IMPLIES_LEVEL, 2),
            Kind::Name => match &*self.token().text {
                "implies" => (TemporalOp::Implies, IMPLIES_LEVEL, 1),
                "equivalent" => (TemporalOp::Equivalent, IMPLIES_LEVEL, 1),
                "U" | "until" | "stronguntil" => (TemporalOp::Until, UNTIL_LEVEL, 1),
                "W" | "weakuntil" => (TemporalOp::WeakUntil, UNTIL_LEVEL, 1),
                "V" | "R" | "release" => (TemporalOp::Release, UNTIL_LEVEL, 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Reads a temporal operator and its second operand, if one comes next that binds tightly
    /// enough; takes the first operand then.
    pub(super) fn temporal_infix(&mut self, left: &mut Expr, least: u8) -> Parsed<Option<Expr>> {
        let Some((op, level, length)) = self.peek_temporal_infix().filter(|&(_, level, _)| level >= least)
        else {
            return Ok(None);
        };
        let start = self.at;
        self.at += length;
        let right = self.nested(|this| {
            let first = this.unary()?;
            this.binary(first, level + 1)
        })?;
        let placeholder = Expr { kind: ExprKind::Int(0), span: left.span, height: 1 };
        let left = std::mem::replace(left, placeholder);
        if let Some((_, next, _)) = self.peek_temporal_infix()
            && next == level
        {
            let span = self.tokens[start].span;
            let message = "operators of a formula are grouped from the left here, as Spin does it";
            let warning = Diagnostic::warning("formula-grouping", message).at(span, "this one comes first");
            self.warn(warning.with_help("write parentheses to say what is meant"));
        }
        let (span, height) = (join(left.span, right.span), left.height.max(right.height));
        self.made(ExprKind::Temporal(op, vec![left, right]), span, height).map(Some)
    }

    /// Refuses temporal operators inside arithmetic, as in `[] x == 1`.
    pub(super) fn checked_formula(&mut self, formula: Expr) -> Parsed<Expr> {
        match misplaced_temporal(&formula) {
            None => Ok(formula),
            Some(span) => {
                let message = "a temporal operator stands inside an arithmetic expression";
                let help = "its operands are numbers, and a formula is none";
                Err(fail_with_help("misplaced-temporal", message, span, help))
            }
        }
    }
}

/// Where a temporal operator is an operand of something that needs a number.
fn misplaced_temporal(formula: &Expr) -> Option<Span> {
    let mut pending = vec![(formula, true)];
    while let Some((expr, may_be_temporal)) = pending.pop() {
        match &expr.kind {
            ExprKind::Temporal(_, operands) if may_be_temporal => {
                pending.extend(operands.iter().map(|operand| (operand, true)));
            }
            ExprKind::Temporal(..) => return Some(expr.span),
            ExprKind::Unary(op, operand) => pending.push((operand, may_be_temporal && *op == UnaryOp::Not)),
            ExprKind::Binary(op, operands) => {
                let is_logical = matches!(op, BinaryOp::And | BinaryOp::Or);
                pending.push((&operands.0, may_be_temporal && is_logical));
                pending.push((&operands.1, may_be_temporal && is_logical));
            }
            _ => {}
        }
    }
    None
}

/// A temporal operator in a formula; what both logics have is none.
fn first_temporal(formula: &Expr) -> Option<Span> {
    match &formula.kind {
        ExprKind::Temporal(TemporalOp::Implies | TemporalOp::Equivalent, operands) => {
            operands.iter().find_map(first_temporal)
        }
        ExprKind::Temporal(..) => Some(formula.span),
        ExprKind::Unary(_, operand) => first_temporal(operand),
        ExprKind::Binary(_, operands) => first_temporal(&operands.0).or_else(|| first_temporal(&operands.1)),
        _ => None,
    }
}
