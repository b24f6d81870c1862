//! Expressions about markings: their text becomes an expression of the action system.
//!
//! Operators wait on one stack and operands on another until it is known what belongs together, so
//! that parentheses may be nested to any depth without recursion. Long sums, conjunctions and
//! disjunctions are gathered in lists and become balanced trees.

use base::{SourceId, Span};
use model::{BinaryOp, ExprId, Exprs, UnaryOp};

use crate::errors::{Fail, fail, shown};
use crate::lexer::{Kind, Token, tokens};
use crate::lookup::{place, transition};
use crate::net::{Lookup, Net, PlaceId};
use crate::predicates;

/// Expressions higher than this are refused: the interpreter is compiled by recursion.
const MAX_HEIGHT: u32 = 500;
/// An expression may have this many nodes, `fireable` and `deadlock` written out.
const MAX_NODES: u64 = 10_000_000;

/// Turns the text of an expression into an expression.
pub(crate) fn resolve(
    net: &Net,
    exprs: &mut Exprs,
    text: &str,
    source: SourceId,
    offset: usize,
) -> Result<ExprId, Fail> {
    let tokens = tokens(text, source, offset);
    Parser { net, exprs, tokens, next: 0, pending: Vec::new(), values: Vec::new(), nodes: 0 }.run()
}

/// What waits for its last operand. The numbers say how tightly operators bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Open,
    Not,
    Negate,
    Binary(Operator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equivalent,
    Implies,
    Plain(BinaryOp),
}

impl Operator {
    fn of(kind: Kind) -> Option<Operator> {
        Some(Operator::Plain(match kind {
            Kind::Equivalent => return Some(Operator::Equivalent),
            Kind::Implies => return Some(Operator::Implies),
            Kind::Or => BinaryOp::Or,
            Kind::And => BinaryOp::And,
            Kind::Equal => BinaryOp::Eq,
            Kind::NotEqual => BinaryOp::Ne,
            Kind::Less => BinaryOp::Lt,
            Kind::LessEqual => BinaryOp::Le,
            Kind::Greater => BinaryOp::Gt,
            Kind::GreaterEqual => BinaryOp::Ge,
            Kind::Plus => BinaryOp::Add,
            Kind::Minus => BinaryOp::Sub,
            Kind::Times => BinaryOp::Mul,
            _ => return None,
        }))
    }

    fn level(self) -> u8 {
        match self {
            Operator::Equivalent => 1,
            Operator::Implies => 2,
            Operator::Plain(BinaryOp::Or) => 3,
            Operator::Plain(BinaryOp::And) => 4,
            Operator::Plain(BinaryOp::Add | BinaryOp::Sub) => 7,
            Operator::Plain(BinaryOp::Mul) => 8,
            Operator::Plain(_) => COMPARE,
        }
    }
}

/// The level of comparisons.
const COMPARE: u8 = 6;

impl Pending {
    fn level(self) -> u8 {
        match self {
            Pending::Open => 0,
            Pending::Not => COMPARE - 1,
            Pending::Negate => 9,
            Pending::Binary(operator) => operator.level(),
        }
    }
}

/// An operand: one expression, or the operands so far of a sum, a conjunction or a disjunction.
struct Value {
    op: BinaryOp,
    terms: Vec<ExprId>,
    height: u32,
}

struct Parser<'a> {
    net: &'a Net,
    exprs: &'a mut Exprs,
    tokens: Vec<Token<'a>>,
    next: usize,
    pending: Vec<(Pending, Span)>,
    values: Vec<Value>,
    nodes: u64,
}

impl Parser<'_> {
    fn run(mut self) -> Result<ExprId, Fail> {
        loop {
            self.operand()?;
            while self.token().kind == Kind::Close && self.close()? {}
            let token = self.token();
            match Operator::of(token.kind) {
                Some(operator) => self.operator(operator, token.span)?,
                None if token.kind == Kind::End => break,
                None => return Err(unexpected(&token, "an operator")),
            }
        }
        self.reduce(1)?;
        if let Some((_, open)) = self.pending.last() {
            return Err(fail("syntax", "this `(` is never closed", *open, ""));
        }
        let end = self.token().span;
        self.pop(end)
    }

    fn token(&self) -> Token<'_> {
        self.tokens[self.next]
    }

    fn bump(&mut self) {
        // The last token is the end, and stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    /// Prefix operators, parentheses, and an operand after them.
    fn operand(&mut self) -> Result<(), Fail> {
        loop {
            let Token { kind, span, .. } = self.token();
            let prefix = match kind {
                Kind::Open => Pending::Open,
                Kind::Not => Pending::Not,
                Kind::Minus => Pending::Negate,
                _ => return self.atom(),
            };
            let outer = self.pending.last().map_or(0, |(outer, _)| outer.level());
            if prefix == Pending::Not && outer >= COMPARE {
                let error = fail("syntax", "it is not clear how far this `!` reaches", span, "");
                return Err(Box::new(error.with_help("add parentheses, as in `a == (!b)`")));
            }
            self.pending.push((prefix, span));
            self.bump();
        }
    }

    fn atom(&mut self) -> Result<(), Fail> {
        let token = self.token();
        let (kind, span) = (token.kind, token.span);
        let is_called = |word: &str| {
            token.kind == Kind::Name
                && token.text == word
                && self.tokens.get(self.next + 1).is_some_and(|next| next.kind == Kind::Open)
        };
        let (fireable, deadlock) = (is_called("fireable"), is_called("deadlock"));
        let (expr, height) = match kind {
            Kind::Number => match token.text.parse() {
                Ok(number) => (self.exprs.int(number), 1),
                Err(_) => {
                    let message = format!("this number is too large: the greatest is {}", i64::MAX);
                    return Err(fail("too-large", message, span, ""));
                }
            },
            Kind::True | Kind::False => (self.exprs.int(i64::from(kind == Kind::True)), 1),
            Kind::Name if fireable => return self.fireable(span),
            Kind::Name if deadlock || token.text == "deadlock" => return self.deadlock(deadlock, span),
            Kind::Name | Kind::Quoted => {
                let places: Vec<PlaceId> = place(self.net, &token)?.iter().collect();
                let nodes = 2 * places.len() as u64;
                self.check_nodes(nodes, span)?;
                (predicates::tokens(self.exprs, &places), 1 + depth(nodes))
            }
            _ => return Err(unexpected(&token, "a place, a number or `fireable(…)`")),
        };
        self.bump();
        self.push(expr, height, 1, span)
    }

    /// `fireable(t, u, …)`: one of these transitions is enabled.
    fn fireable(&mut self, start: Span) -> Result<(), Fail> {
        self.bump();
        let mut transitions = Vec::new();
        loop {
            self.bump(); // The parenthesis or the comma.
            let token = self.token();
            if !matches!(token.kind, Kind::Name | Kind::Quoted | Kind::True | Kind::False) {
                return Err(unexpected(&token, "the name of a transition"));
            }
            transitions.extend(transition(self.net, &token)?.iter());
            self.bump();
            match self.token().kind {
                Kind::Comma => {}
                Kind::Close => break,
                _ => return Err(unexpected(&self.token(), "`,` or `)`")),
            }
        }
        self.bump();
        let inputs =
            transitions.iter().map(|&transition| self.net.transition(transition).inputs.len() as u64);
        let nodes = inputs.sum::<u64>().saturating_mul(4);
        self.check_nodes(nodes, start)?;
        let expr = predicates::fireable(self.net, self.exprs, &transitions);
        self.push(expr, 2 + depth(nodes), 0, start)
    }

    /// `deadlock` or `deadlock()`: no transition is enabled.
    fn deadlock(&mut self, is_called: bool, start: Span) -> Result<(), Fail> {
        if !is_called && self.net.find_place("deadlock") != Lookup::Unknown {
            let error = fail("ambiguous-name", "`deadlock` is also the name of a place", start, "");
            return Err(Box::new(
                error.with_help("write `'deadlock'` for the place, `deadlock()` if no transition is enabled"),
            ));
        }
        self.bump();
        if is_called {
            self.bump();
            if self.token().kind != Kind::Close {
                return Err(unexpected(&self.token(), "`)`"));
            }
            self.bump();
        }
        let nodes = (self.net.n_arcs() as u64).saturating_mul(4);
        self.check_nodes(nodes, start)?;
        let expr = predicates::deadlock(self.net, self.exprs);
        self.push(expr, 2 + 2 * depth(nodes), 0, start)
    }

    /// A closing parenthesis after an operand; returns whether another one follows.
    fn close(&mut self) -> Result<bool, Fail> {
        let span = self.token().span;
        self.reduce(1)?;
        if self.pending.pop().is_none() {
            return Err(fail("syntax", "this `)` closes nothing", span, ""));
        }
        let height = self.values.last().map_or(1, Value::height);
        let expr = self.pop(span)?;
        self.push(expr, height, 0, span)?;
        self.bump();
        Ok(self.token().kind == Kind::Close)
    }

    fn operator(&mut self, operator: Operator, span: Span) -> Result<(), Fail> {
        let level = operator.level();
        // `a -> b -> c` is `a -> (b -> c)`; all others group from the left.
        self.reduce(if operator == Operator::Implies {
            level + 1
        } else {
            level + u8::from(level == COMPARE)
        })?;
        if level == COMPARE && self.pending.last().is_some_and(|(pending, _)| pending.level() == COMPARE) {
            let error = fail("syntax", "comparisons cannot be chained", span, "");
            return Err(Box::new(error.with_help("write `a < b && b < c`")));
        }
        self.pending.push((Pending::Binary(operator), span));
        self.bump();
        Ok(())
    }

    /// Applies the operators that bind at least as tightly as `level`, back to the last parenthesis.
    fn reduce(&mut self, level: u8) -> Result<(), Fail> {
        while let Some(&(pending, span)) = self.pending.last()
            && pending.level() >= level
        {
            self.pending.pop();
            self.nodes += 1;
            let height = 1 + self.values.last().map_or(0, Value::height);
            match pending {
                Pending::Not | Pending::Negate => {
                    let op = if pending == Pending::Not { UnaryOp::Not } else { UnaryOp::Neg };
                    let operand = self.pop(span)?;
                    let expr = self.exprs.unary(op, operand);
                    self.push(expr, height, 1, span)?;
                }
                Pending::Binary(operator) => self.apply(operator, span)?,
                Pending::Open => {}
            }
        }
        Ok(())
    }

    fn apply(&mut self, operator: Operator, span: Span) -> Result<(), Fail> {
        let height = self.values.last().map_or(1, Value::height);
        let right = self.pop(span)?;
        let (group, right, height) = match operator {
            Operator::Plain(op @ (BinaryOp::Add | BinaryOp::And | BinaryOp::Or)) => (op, right, height),
            Operator::Plain(BinaryOp::Sub) => {
                (BinaryOp::Add, self.exprs.unary(UnaryOp::Neg, right), height + 1)
            }
            _ => return self.apply_plain(operator, right, height, span),
        };
        match self.values.last_mut() {
            Some(left) if left.op == group || left.terms.len() == 1 => {
                left.op = group;
                left.terms.push(right);
                left.height = left.height.max(height);
            }
            _ => {
                let left_height = self.values.last().map_or(1, Value::height);
                let left = self.pop(span)?;
                self.values.push(Value {
                    op: group,
                    terms: vec![left, right],
                    height: left_height.max(height),
                });
            }
        }
        Ok(())
    }

    fn apply_plain(
        &mut self,
        operator: Operator,
        right: ExprId,
        height: u32,
        span: Span,
    ) -> Result<(), Fail> {
        let height = 2 + height.max(self.values.last().map_or(1, Value::height));
        let left = self.pop(span)?;
        let exprs = &mut *self.exprs;
        let expr = match operator {
            Operator::Plain(op) => exprs.binary(op, left, right),
            Operator::Implies => {
                let not_left = exprs.unary(UnaryOp::Not, left);
                exprs.binary(BinaryOp::Or, not_left, right)
            }
            Operator::Equivalent => {
                // Numbers count as truths: compare whether they are 0.
                let (left, right) = (exprs.unary(UnaryOp::Not, left), exprs.unary(UnaryOp::Not, right));
                exprs.binary(BinaryOp::Eq, left, right)
            }
        };
        self.push(expr, height, 2, span)
    }

    fn push(&mut self, expr: ExprId, height: u32, nodes: u64, span: Span) -> Result<(), Fail> {
        self.check_nodes(nodes, span)?;
        if height > MAX_HEIGHT {
            let error = fail("too-deep", "the expression is nested too deeply", span, "");
            return Err(Box::new(error.with_help(format!("at most {MAX_HEIGHT} levels are read"))));
        }
        self.values.push(Value { op: BinaryOp::Eq, terms: vec![expr], height });
        Ok(())
    }

    /// The last operand. There is one: operands and operators take turns.
    fn pop(&mut self, span: Span) -> Result<ExprId, Fail> {
        let value =
            self.values.pop().ok_or_else(|| fail("syntax", "an operand is missing here", span, ""))?;
        Ok(self.exprs.fold(value.op, 0, &value.terms))
    }

    fn check_nodes(&mut self, nodes: u64, span: Span) -> Result<(), Fail> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("the expression is too large: at most {MAX_NODES} nodes are made");
        Err(fail("too-large", message, span, ""))
    }
}

impl Value {
    /// The height of the tree that the terms become.
    fn height(&self) -> u32 {
        self.height + depth(self.terms.len() as u64 - 1)
    }
}

/// The height of a balanced tree of so many nodes.
fn depth(nodes: u64) -> u32 {
    64 - nodes.leading_zeros()
}

fn unexpected(token: &Token<'_>, expected: &str) -> Fail {
    if token.kind == Kind::Unknown && token.text.starts_with(['"', '\'']) {
        return fail("syntax", "this quotation mark is never closed", token.span, "");
    }
    let found = match token.kind {
        Kind::Unknown => format!("`{}`", shown(token.text)),
        kind => kind.to_string(),
    };
    fail("syntax", format!("expected {expected}, found {found}"), token.span, "")
}
