//! Expressions: one function per level would cost a stack frame per level, so that operators are
//! read by precedence climbing.

use base::{Fail, Span, fail};

use model::{BinaryOp, UnaryOp};

use super::{Parsed, Parser};
use crate::ast::{Expr, ExprKind, Operator, Quantifier};
use crate::lexer::Kind;

/// Expressions nested deeper than this are refused: they are read by recursion.
const MAX_HEIGHT: u32 = 500;
/// Calls that may be open at once; a pair of parentheses takes two.
const MAX_DEPTH: u32 = 2 * MAX_HEIGHT;

/// The level of `==` and its like, of which only one may stand in a row.
const COMPARE: u8 = 4;
/// More than the level of any operator.
const TIGHTEST: u8 = 7;

/// The operator that a token stands for, and how tightly it binds.
fn operator(kind: Kind) -> Option<(Operator, u8)> {
    let (op, level) = match kind {
        Kind::Equivalent => return Some((Operator::Equivalent, 0)),
        Kind::Arrow => return Some((Operator::Implies, 1)),
        Kind::Or => (BinaryOp::Or, 2),
        Kind::And => (BinaryOp::And, 3),
        Kind::Equal => (BinaryOp::Eq, COMPARE),
        Kind::NotEqual => (BinaryOp::Ne, COMPARE),
        Kind::Less => (BinaryOp::Lt, COMPARE),
        Kind::LessEqual => (BinaryOp::Le, COMPARE),
        Kind::Greater => (BinaryOp::Gt, COMPARE),
        Kind::GreaterEqual => (BinaryOp::Ge, COMPARE),
        Kind::Plus => (BinaryOp::Add, 5),
        Kind::Minus => (BinaryOp::Sub, 5),
        Kind::Star => (BinaryOp::Mul, 6),
        Kind::Slash => (BinaryOp::Div, 6),
        Kind::Percent => (BinaryOp::Rem, 6),
        _ => return None,
    };
    Some((Operator::Plain(op), level))
}

impl<'a> Parser<'a, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr<'a>> {
        self.binary(0)
    }

    /// An index: an expression, or `*`.
    pub(super) fn index(&mut self) -> Parsed<Expr<'a>> {
        if self.peek() == Kind::Star && matches!(self.peek_second(), Kind::Comma | Kind::CloseBracket) {
            let span = self.bump().span;
            return Ok(leaf(ExprKind::All, span));
        }
        self.expr()
    }

    /// An expression whose operators outside parentheses bind at least as tightly as `min`.
    fn binary(&mut self, min: u8) -> Parsed<Expr<'a>> {
        self.enter()?;
        let first = self.unary(min)?;
        let whole = self.climb(first, min)?;
        self.depth -= 1;
        Ok(whole)
    }

    /// The operators that follow a first operand.
    fn climb(&mut self, mut left: Expr<'a>, min: u8) -> Parsed<Expr<'a>> {
        while let Some((_, level)) = operator(self.peek()).filter(|&(_, level)| level >= min) {
            let rest = self.operands(level)?;
            left = chain(left, rest)?;
        }
        if self.peek() == Kind::Assign {
            return Err(Box::new(
                self.unexpected("an operator").with_help("equality is written `==`, implication `->`"),
            ));
        }
        Ok(left)
    }

    /// Operators of one level with their right operands, as many as there are.
    fn operands(&mut self, level: u8) -> Parsed<Vec<(Operator, Expr<'a>)>> {
        let mut operands = Vec::new();
        while let Some((op, _)) = operator(self.peek()).filter(|&(_, its)| its == level) {
            if level == COMPARE && !operands.is_empty() {
                let error = fail("syntax", "comparisons cannot be chained", self.token().span, "");
                return Err(Box::new(error.with_help("write `a < b && b < c`")));
            }
            self.bump();
            // `a -> b -> c` is `a -> (b -> c)`; all others group from the left.
            let right = self.binary(if op == Operator::Implies { level } else { level + 1 })?;
            operands.push((op, right));
        }
        Ok(operands)
    }

    /// An operand of an operator of level `min`. As in formulas, `!` binds less tightly than
    /// comparisons: `!x == 1` is `!(x == 1)`. Beside arithmetic that would be a trap, and needs
    /// parentheses.
    fn unary(&mut self, min: u8) -> Parsed<Expr<'a>> {
        let is_not = match self.peek() {
            Kind::Not => true,
            Kind::Minus => false,
            _ => return self.atom(),
        };
        let start = self.bump().span;
        self.enter()?;
        let (op, operand) = if is_not {
            let first = self.unary(COMPARE)?;
            let next = operator(self.peek()).map_or(0, |(_, level)| level);
            if next > COMPARE || (next == COMPARE && min > COMPARE) {
                return Err(unclear_not(start));
            }
            (UnaryOp::Not, self.climb(first, COMPARE)?)
        } else {
            (UnaryOp::Neg, self.unary(TIGHTEST)?)
        };
        self.depth -= 1;
        let span = start.to(operand.span);
        let height = operand.height + 1;
        checked(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span, height })
    }

    fn atom(&mut self) -> Parsed<Expr<'a>> {
        let start = self.token().span;
        match self.peek() {
            Kind::Number => {
                self.bump();
                match self.slice(start).parse() {
                    Ok(number) => Ok(leaf(ExprKind::Int(number), start)),
                    Err(_) => {
                        let message = format!("this number does not fit: the greatest is {}", i64::MAX);
                        Err(fail("overflow", message, start, "too large"))
                    }
                }
            }
            Kind::True | Kind::False => {
                let value = i64::from(self.bump().kind == Kind::True);
                Ok(leaf(ExprKind::Int(value), start))
            }
            Kind::OpenParen => {
                self.bump();
                let inner = self.expr()?;
                if self.peek() != Kind::CloseParen {
                    let error = self.unexpected("an operator or `)`");
                    return Err(Box::new(error.with_related(start, "the parenthesis that is not closed")));
                }
                self.bump();
                Ok(Expr { span: self.since(start), ..inner })
            }
            Kind::Forall | Kind::Exists | Kind::Count => self.quantified(start),
            Kind::Name => self.name_or_at(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `x`, or `process@state`.
    fn name_or_at(&mut self) -> Parsed<Expr<'a>> {
        let place = self.place("an expression")?;
        if self.eat(Kind::At) {
            let state = self.place("the name of a state")?;
            let span = place.span.to(state.span);
            return Ok(leaf(ExprKind::At(Box::new((place, state))), span));
        }
        if place.indices.is_empty() {
            return Ok(leaf(ExprKind::Name(place.name.text), place.span));
        }
        let help = format!("whether a process is in a state is written `{}@state`", self.slice(place.span));
        Err(Box::new(self.unexpected("`@` and a state").with_help(help)))
    }

    /// `forall i in 0..N: e` reaches as far as it can; `count i in 0..N: e` takes one operand,
    /// so that what is counted can be compared.
    fn quantified(&mut self, start: Span) -> Parsed<Expr<'a>> {
        let quantifier = match self.bump().kind {
            Kind::Forall => Quantifier::Forall,
            Kind::Exists => Quantifier::Exists,
            _ => Quantifier::Count,
        };
        let mut binders = Vec::new();
        self.binders(&mut binders)?;
        if !self.eat(Kind::Colon) {
            return Err(self.unexpected("`:` and what is quantified"));
        }
        let body = match quantifier {
            Quantifier::Count => {
                self.enter()?;
                let body = self.unary(TIGHTEST)?;
                self.depth -= 1;
                body
            }
            Quantifier::Forall | Quantifier::Exists => self.expr()?,
        };
        let height = body.height + 1;
        let kind = ExprKind::Quantified(quantifier, binders, Box::new(body));
        checked(Expr { kind, span: self.since(start), height })
    }

    /// One more call is open. Not undone on errors: those end the whole expression, and who
    /// recovers from one starts again with nothing open.
    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(self.token().span)) } else { Ok(()) }
    }
}

fn leaf(kind: ExprKind<'_>, span: Span) -> Expr<'_> {
    Expr { kind, span, height: 1 }
}

fn unclear_not(span: Span) -> Fail {
    let error = fail("syntax", "it is not clear how far this `!` reaches", span, "");
    Box::new(error.with_help("add parentheses, as in `(!a) + b` or `!(a + b)`"))
}

fn too_deep(span: Span) -> Fail {
    let error = fail("too-deep", "the expression is nested too deeply", span, "too deep here");
    Box::new(error.with_help(format!("at most {MAX_HEIGHT} levels are read")))
}

fn checked(expr: Expr<'_>) -> Parsed<Expr<'_>> {
    if expr.height > MAX_HEIGHT { Err(too_deep(expr.span)) } else { Ok(expr) }
}

/// A first operand and what is done to it.
fn chain<'a>(first: Expr<'a>, rest: Vec<(Operator, Expr<'a>)>) -> Parsed<Expr<'a>> {
    let span = rest.last().map_or(first.span, |(_, last)| first.span.to(last.span));
    let highest = rest.iter().map(|(_, operand)| operand.height).fold(first.height, u32::max);
    // Long sums, conjunctions and disjunctions become balanced trees; the others lean to the left.
    let n = u32::try_from(rest.len()).unwrap_or(u32::MAX);
    let is_balanced = |(op, _): &(Operator, Expr<'_>)| {
        matches!(op, Operator::Plain(BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::Or))
    };
    let balanced = rest.iter().all(is_balanced);
    let own = if balanced { n.ilog2() + 1 } else { n };
    let height = highest.saturating_add(own);
    checked(Expr { kind: ExprKind::Chain(Box::new(first), rest), span, height })
}
