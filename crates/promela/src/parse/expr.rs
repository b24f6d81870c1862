//! Expressions, by precedence climbing. Operators bind as in C.

use base::Span;

use crate::ast::{Expr, ExprKind, RecvArg, VarRef};
use crate::errors::{fail, fail_with_help};
use crate::lexer::Kind;
use crate::program::{BinaryOp, ChannelTest, UnaryOp};
use crate::words::Word;

use super::{MAX_HEIGHT, Parsed, Parser, join};

/// How tightly the weakest operator of formulas binds, then `||`, `&&`, and those of `U`.
pub(super) const IMPLIES_LEVEL: u8 = 0;
const OR_LEVEL: u8 = 1;
const AND_LEVEL: u8 = 2;
pub(super) const UNTIL_LEVEL: u8 = 3;

fn binary_op(kind: Kind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Kind::Or => (BinaryOp::Or, OR_LEVEL),
        Kind::And => (BinaryOp::And, AND_LEVEL),
        Kind::BitOr => (BinaryOp::BitOr, 4),
        Kind::BitXor => (BinaryOp::BitXor, 5),
        Kind::BitAnd => (BinaryOp::BitAnd, 6),
        Kind::Equal => (BinaryOp::Eq, 7),
        Kind::NotEqual => (BinaryOp::Ne, 7),
        Kind::Less => (BinaryOp::Lt, 8),
        Kind::LessEqual => (BinaryOp::Le, 8),
        Kind::Greater => (BinaryOp::Gt, 8),
        Kind::GreaterEqual => (BinaryOp::Ge, 8),
        Kind::ShiftLeft => (BinaryOp::Shl, 9),
        Kind::ShiftRight => (BinaryOp::Shr, 9),
        Kind::Plus => (BinaryOp::Add, 10),
        Kind::Minus => (BinaryOp::Sub, 10),
        Kind::Star => (BinaryOp::Mul, 11),
        Kind::Slash => (BinaryOp::Div, 11),
        Kind::Percent => (BinaryOp::Rem, 11),
        _ => return None,
    })
}

/// Whether a chain may be grouped in any way. Values are taken modulo 2³², so sums may.
fn is_associative(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, And | Or | BitAnd | BitOr | BitXor | Add | Mul)
}

/// How high the indices of a variable are.
fn index_height(variable: &VarRef) -> u32 {
    variable.parts.iter().filter_map(|(_, index)| Some(index.as_ref()?.height)).max().unwrap_or(0)
}

/// How high an argument of a receive is.
fn arg_height(arg: &RecvArg) -> u32 {
    match arg {
        RecvArg::Var(variable) => index_height(variable),
        RecvArg::Eval(expr) | RecvArg::Const(expr) => expr.height,
    }
}

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let first = self.unary()?;
        self.binary(first, 0)
    }

    /// The operator that comes next, if it binds at least so tightly.
    fn next_op(&self, least: u8) -> Option<(BinaryOp, u8)> {
        // At the start of a line a `-` begins a statement.
        let begins_statement = self.at_new_line() && self.peek() == Kind::Minus;
        let op = if self.in_formula { self.formula_binary_op() } else { binary_op(self.peek()) };
        op.filter(|&(_, level)| level >= least && !begins_statement)
    }

    /// `/\` and `\/` are operators in formulas; `<` is not one where it begins `<>` or `<->`.
    fn formula_binary_op(&self) -> Option<(BinaryOp, u8)> {
        let adjacent = self.adjacent();
        match (self.peek(), adjacent) {
            (Kind::Slash, Some(Kind::Backslash)) => Some((BinaryOp::And, AND_LEVEL)),
            (Kind::Backslash, Some(Kind::Slash)) => Some((BinaryOp::Or, OR_LEVEL)),
            (Kind::Less, Some(Kind::Greater | Kind::Arrow)) => None,
            (kind, _) => binary_op(kind),
        }
    }

    /// The kind of the token after the next one, if there is no blank between them.
    pub(super) fn adjacent(&self) -> Option<Kind> {
        let next = self.tokens.get(self.at + 1)?;
        let this = self.token();
        let touches = next.span.source == this.span.source && next.span.start == this.span.end;
        // Out of a macro all tokens have one place.
        (touches || next.span == this.span).then_some(next.kind)
    }

    fn bump_op(&mut self) {
        if matches!((self.peek(), self.peek_at(1)), (Kind::Slash, Kind::Backslash))
            || self.peek() == Kind::Backslash
        {
            self.bump();
        }
        self.bump();
    }

    /// What follows a first operand, as far as operators bind at least so tightly.
    pub(super) fn binary(&mut self, first: Expr, least: u8) -> Parsed<Expr> {
        let mut left = first;
        loop {
            if self.in_formula
                && let Some(next) = self.temporal_infix(&mut left, least)?
            {
                left = next;
                continue;
            }
            let Some((op, level)) = self.next_op(least) else { return Ok(left) };
            let mut operands = vec![left];
            while self.next_op(level).is_some_and(|(next, _)| next == op) {
                self.bump_op();
                let right = self.nested(|this| {
                    let first = this.unary()?;
                    this.binary(first, level + 1)
                })?;
                operands.push(right);
                if !is_associative(op) {
                    break;
                }
            }
            left = self.balanced(op, operands)?;
        }
    }

    /// A tree of one operator that is not higher than it must be.
    fn balanced(&mut self, op: BinaryOp, mut operands: Vec<Expr>) -> Parsed<Expr> {
        while operands.len() > 1 {
            let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
            let mut rest = operands.into_iter();
            while let Some(left) = rest.next() {
                pairs.push(match rest.next() {
                    Some(right) => {
                        let (span, height) = (join(left.span, right.span), left.height.max(right.height));
                        self.made(ExprKind::Binary(op, Box::new((left, right))), span, height)?
                    }
                    None => left,
                });
            }
            operands = pairs;
        }
        operands.pop().ok_or_else(|| self.unexpected("an expression"))
    }

    /// A node over operands of some height.
    pub(super) fn made(&self, kind: ExprKind, span: Span, height: u32) -> Parsed<Expr> {
        if height >= MAX_HEIGHT {
            return Err(fail(
                "too-deep",
                format!("this expression is more than {MAX_HEIGHT} levels high"),
                span,
                "",
            ));
        }
        Ok(Expr { kind, span, height: height + 1 })
    }

    pub(super) fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.in_formula
            && let Some(op) = self.temporal_prefix()
        {
            let operand = self.nested(Self::temporal_operand)?;
            let (span, height) = (self.since(start), operand.height);
            return self.made(ExprKind::Temporal(op, vec![operand]), span, height);
        }
        let op = match self.peek() {
            Kind::Bang => UnaryOp::Not,
            Kind::BangBang => {
                // Not a sorted send, but two negations.
                self.bump();
                let operand = self.nested(Self::unary)?;
                let (span, height) = (self.since(start), operand.height);
                let inner = self.made(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), span, height)?;
                return self.made(ExprKind::Unary(UnaryOp::Not, Box::new(inner)), span, height + 1);
            }
            Kind::Minus => UnaryOp::Neg,
            Kind::Tilde => UnaryOp::Complement,
            _ => return self.primary(),
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        let (span, height) = (self.since(start), operand.height);
        self.made(ExprKind::Unary(op, Box::new(operand)), span, height)
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token().clone();
        let start = token.span;
        let leaf = |kind| Ok(Expr { kind, span: start, height: 1 });
        match token.kind {
            Kind::Number => {
                self.bump();
                let value = token.text.parse::<i64>().ok().filter(|&value| value <= i64::from(u32::MAX));
                let Some(value) = value else {
                    let message = format!("`{}` is not a number that fits 32 bits", token.text);
                    return Err(fail("bad-number", message, start, "numbers are decimal"));
                };
                leaf(ExprKind::Int(value as i32))
            }
            Kind::Char => {
                self.bump();
                leaf(ExprKind::Int(char_value(&token.text)))
            }
            Kind::OpenParen => {
                self.bump();
                self.nested(|this| this.in_parens(Self::parenthesized))
                    .map(|expr| Expr { span: self.since(start), ..expr })
            }
            Kind::Keyword(word) => self.keyword_expr(word, start),
            Kind::Name => self.name_expr(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `e` or `c -> a : b`.
    fn parenthesized(&mut self) -> Parsed<Expr> {
        let condition = self.expr()?;
        if self.in_formula || !self.eat(Kind::Arrow) {
            return Ok(condition);
        }
        let then = self.expr()?;
        self.expect(Kind::Colon)?;
        let otherwise = self.expr()?;
        let height = condition.height.max(then.height).max(otherwise.height);
        let span = join(condition.span, otherwise.span);
        self.made(ExprKind::Conditional(Box::new((condition, then, otherwise))), span, height)
    }

    fn keyword_expr(&mut self, word: Word, start: Span) -> Parsed<Expr> {
        let leaf = |kind| Ok(Expr { kind, span: start, height: 1 });
        let test = match word {
            Word::Skip | Word::True => {
                self.bump();
                return leaf(ExprKind::Int(1));
            }
            Word::False => {
                self.bump();
                return leaf(ExprKind::Int(0));
            }
            Word::Timeout => {
                self.bump();
                return leaf(ExprKind::Timeout);
            }
            Word::Np => {
                self.bump();
                return leaf(ExprKind::NonProgress);
            }
            Word::Run => return self.run(start),
            Word::Enabled => return self.function(ExprKind::Enabled),
            Word::PcValue => return self.function(ExprKind::PcValue),
            Word::GetPriority => return self.function(ExprKind::GetPriority),
            Word::Len => ChannelTest::Len,
            Word::Empty => ChannelTest::Empty,
            Word::Nempty => ChannelTest::NonEmpty,
            Word::Full => ChannelTest::Full,
            Word::Nfull => ChannelTest::NonFull,
            Word::Eval => {
                let help = "`eval` is for the arguments of a receive statement";
                return Err(fail_with_help("misplaced", "`eval` cannot be used here", start, help));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.bump();
        self.expect(Kind::OpenParen)?;
        let channel = self.nested(|this| this.in_parens(Self::var_ref))?;
        let (span, height) = (self.since(start), index_height(&channel));
        self.made(ExprKind::ChannelTest(test, channel), span, height)
    }

    /// `enabled(e)` and the like.
    fn function(&mut self, make: fn(Box<Expr>) -> ExprKind) -> Parsed<Expr> {
        let start = self.span();
        self.bump();
        self.expect(Kind::OpenParen)?;
        let operand = self.nested(|this| this.in_parens(Self::expr))?;
        let (span, height) = (self.since(start), operand.height);
        self.made(make(Box::new(operand)), span, height)
    }

    fn run(&mut self, start: Span) -> Parsed<Expr> {
        self.bump();
        let name = self.name("a proctype")?;
        self.expect(Kind::OpenParen)?;
        let args = self.nested(|this| this.in_parens(Self::arguments))?;
        let mut priority = None;
        if self.eat_word(Word::Priority) {
            priority = Some(Box::new(self.primary()?));
        }
        let height = args.iter().map(|arg| arg.height).max().unwrap_or(0);
        let span = self.since(start);
        self.made(ExprKind::Run { name, args, priority }, span, height)
    }

    /// Expressions with commas, possibly none.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        if self.peek() == Kind::CloseParen { Ok(Vec::new()) } else { self.list(Self::expr) }
    }

    /// Whether a reference to another process begins here.
    pub(super) fn at_remote(&self) -> bool {
        let is_proctype = self.kinds.proctypes.contains(&self.token().text);
        self.peek_at(1) == Kind::At
            || is_proctype && matches!(self.peek_at(1), Kind::OpenBracket | Kind::Colon)
    }

    /// A variable, a poll, or a reference to another process.
    fn name_expr(&mut self) -> Parsed<Expr> {
        if self.at_remote() {
            return self.remote();
        }
        let token = self.token().clone();
        if self.inlines.contains_key(&token.text) && self.peek_at(1) == Kind::OpenParen {
            let message = format!("the inline `{}` cannot be called in an expression", token.text);
            let help = "call it as a statement, or as `x = name(…)` if it has a `return`";
            return Err(fail_with_help("misplaced", message, token.span, help));
        }
        let variable = self.nested(Self::var_ref)?;
        self.var_expr(variable)
    }

    /// A variable that was read, or a poll of it.
    pub(super) fn var_expr(&mut self, variable: VarRef) -> Parsed<Expr> {
        let span = variable.span;
        let height = index_height(&variable);
        let random = self.peek() == Kind::QueryQuery;
        if !(random || self.peek() == Kind::Query) || self.peek_at(1) != Kind::OpenBracket {
            return self.made(ExprKind::Var(variable), span, height);
        }
        self.bump();
        self.bump();
        let args = self.recv_args()?;
        self.expect(Kind::CloseBracket)?;
        let span = self.since(span);
        let height = args.iter().map(arg_height).fold(height, u32::max);
        self.made(ExprKind::Poll { channel: variable, random, args }, span, height)
    }

    /// `P[e]@label`, `P@label`, `P[e]:x`, `P:x`.
    fn remote(&mut self) -> Parsed<Expr> {
        let proctype = self.name("a proctype")?;
        let start = proctype.span;
        let mut pid = None;
        if self.eat(Kind::OpenBracket) {
            pid = Some(Box::new(self.nested(Self::bracketed)?));
        }
        let mut height = pid.as_ref().map_or(0, |pid| pid.height);
        let kind = match self.peek() {
            Kind::At => {
                self.bump();
                let label = self.name("a label")?;
                ExprKind::RemoteLabel { proctype, pid, label }
            }
            Kind::Colon => {
                self.bump();
                let variable = self.nested(Self::var_ref)?;
                height = height.max(index_height(&variable));
                ExprKind::RemoteVar { proctype, pid, variable }
            }
            _ => return Err(self.unexpected("`@` and a label, or `:` and a variable")),
        };
        let span = self.since(start);
        self.made(kind, span, height)
    }

    /// `a[i].b[j]`.
    pub(super) fn var_ref(&mut self) -> Parsed<VarRef> {
        let start = self.span();
        let mut parts = Vec::new();
        loop {
            let name = self.name("a variable")?;
            let mut index = None;
            // An index stands on the line of its variable.
            if self.peek() == Kind::OpenBracket && !self.at_new_line() {
                self.bump();
                index = Some(self.nested(Self::bracketed)?);
            }
            parts.push((name, index));
            if !self.eat(Kind::Dot) {
                return Ok(VarRef { parts, span: self.since(start) });
            }
        }
    }

    /// The arguments of a receive: `a,b`, `a(b,c)` or `(a,b)`.
    pub(super) fn recv_args(&mut self) -> Parsed<Vec<RecvArg>> {
        if self.eat(Kind::OpenParen) {
            return self.nested(|this| this.in_parens(Self::recv_args));
        }
        let mut args = vec![self.recv_arg()?];
        if self.peek() == Kind::OpenParen && !self.at_new_line() {
            self.bump();
            args.extend(self.nested(|this| this.in_parens(Self::recv_args))?);
            return Ok(args);
        }
        while self.eat(Kind::Comma) {
            args.push(self.recv_arg()?);
        }
        Ok(args)
    }

    fn recv_arg(&mut self) -> Parsed<RecvArg> {
        match self.peek() {
            Kind::Keyword(Word::Eval) => {
                self.bump();
                self.expect(Kind::OpenParen)?;
                self.nested(|this| this.in_parens(Self::expr)).map(RecvArg::Eval)
            }
            Kind::Name => self.nested(Self::var_ref).map(RecvArg::Var),
            Kind::Number
            | Kind::Char
            | Kind::Minus
            | Kind::Keyword(Word::True | Word::False | Word::Skip) => self.unary().map(RecvArg::Const),
            _ => {
                let error = self.unexpected("a variable, a constant or `eval(…)`");
                Err(if error.code == "syntax" {
                    Box::new(error.with_help("a message is compared with an expression by `eval(e)`"))
                } else {
                    error
                })
            }
        }
    }
}

/// The value of `'a'` or `'\n'`.
fn char_value(text: &str) -> i32 {
    let mut chars = text.chars().skip(1);
    let value = match (chars.next(), chars.next()) {
        (Some('\\'), Some('n')) => '\n',
        (Some('\\'), Some('r')) => '\r',
        (Some('\\'), Some('t')) => '\t',
        (Some('\\'), Some('f')) => '\u{c}',
        (Some('\\'), Some(other)) => other,
        (first, _) => first.unwrap_or('\0'),
    };
    value as i32
}
