//! Expressions of the program as expressions of the action system.
//!
//! Values are 32-bit integers. The action system computes with 64 bits, so a result that may leave 32 bits
//! is cut where it is made; what a variable keeps of a value is cut where it is stored.

mod channels;
mod possible;
mod priorities;
mod processes;
mod variables;

use base::{Diagnostic, Limit, Span};
use language::Trouble;
use model::{BinaryOp, Expr, ExprId, Exprs, UnaryOp, VarId};

pub(crate) use self::possible::{Receiver, receivers};
use super::facts::is_passed;
use super::world::World;
use crate::cost::Cost;
use crate::flow::{Flow, LocationId};
use crate::program::{self, ExprKind, Program, Type};

/// Whose names are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of a process, by its number in the plan.
    Process(usize),
    /// Global names only.
    Global,
}

/// Lowers expressions.
pub(crate) struct Lowering<'a> {
    pub(crate) program: &'a Program,
    pub(crate) flows: &'a [Flow<'a>],
    pub(crate) world: &'a World,
    pub(crate) exprs: &'a mut Exprs,
    pub(crate) cost: &'a dyn Cost,
    /// What `timeout` is.
    pub(crate) timeout: bool,
}

/// What an expression takes in its pool.
pub(crate) const EXPR_BYTES: usize = 3 * size_of::<Expr>();

pub(crate) type Lowered<T> = Result<T, Trouble>;

/// An error about something that is legal, but not supported.
pub(crate) fn not_supported(span: Span, what: &str) -> Trouble {
    Diagnostic::error("not-supported", format!("{what} is not supported")).at(span, "here").into()
}

impl<'a> Lowering<'a> {
    /// A small piece of work that makes an expression or two.
    pub(crate) fn pay(&self) -> Result<(), Limit> {
        self.cost.keep(2 * EXPR_BYTES)
    }

    pub(crate) fn int(&mut self, value: i64) -> ExprId {
        self.exprs.int(value)
    }

    pub(crate) fn constant(&self, expr: ExprId) -> Option<i64> {
        match self.exprs.get(expr) {
            Expr::Int(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.exprs.binary(op, x, y)
    }

    pub(crate) fn not(&mut self, x: ExprId) -> ExprId {
        self.exprs.unary(UnaryOp::Not, x)
    }

    pub(crate) fn equals(&mut self, var: VarId, value: i64) -> ExprId {
        let (var, value) = (self.exprs.var(var), self.exprs.int(value));
        self.exprs.binary(BinaryOp::Eq, var, value)
    }

    pub(crate) fn all(&mut self, parts: &[ExprId]) -> ExprId {
        self.exprs.fold(BinaryOp::And, 1, parts)
    }

    pub(crate) fn any(&mut self, parts: &[ExprId]) -> ExprId {
        self.exprs.fold(BinaryOp::Or, 0, parts)
    }

    /// The values that an expression may have.
    pub(crate) fn range(&self, expr: ExprId) -> (i64, i64) {
        const ALL: (i64, i64) = (i64::MIN, i64::MAX);
        match self.exprs.get(expr) {
            Expr::Int(value) => (value, value),
            Expr::Var(var) => self.world.ranges.get(var.index()).copied().unwrap_or(ALL),
            Expr::Element { first, len, .. } => {
                let ranges = &self.world.ranges[first.index()..first.index() + len as usize];
                let lo = ranges.iter().map(|range| range.0).min().unwrap_or(i64::MIN);
                (lo, ranges.iter().map(|range| range.1).max().unwrap_or(i64::MAX))
            }
            Expr::Unary(UnaryOp::Not, _) => (0, 1),
            Expr::Unary(UnaryOp::Truncate { bits, signed: false }, _) if bits < 63 => (0, (1 << bits) - 1),
            Expr::Unary(UnaryOp::Truncate { bits, signed: true }, _) if bits < 63 => {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            }
            Expr::Unary(UnaryOp::Neg, x) => {
                let (lo, hi) = self.range(x);
                (hi.saturating_neg(), lo.saturating_neg())
            }
            Expr::Unary(..) => ALL,
            Expr::Binary(op, x, y) => {
                let ((a, b), (c, d)) = (self.range(x), self.range(y));
                match op {
                    BinaryOp::Add => (a.saturating_add(c), b.saturating_add(d)),
                    BinaryOp::Sub => (a.saturating_sub(d), b.saturating_sub(c)),
                    BinaryOp::Mul => {
                        let all = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.saturating_mul(y));
                        (all.into_iter().min().unwrap_or(a), all.into_iter().max().unwrap_or(b))
                    }
                    BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge => (0, 1),
                    BinaryOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
                    BinaryOp::Rem if a >= 0 && c > 0 => (0, b.min(d - 1)),
                    BinaryOp::Div if a >= 0 && c > 0 => (0, b),
                    BinaryOp::Shr if a >= 0 => (0, b),
                    BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 && b < 1 << 40 && d < 1 << 40 => {
                        let bits = 64 - (b | d).leading_zeros();
                        (0, (1i64 << bits) - 1)
                    }
                    _ => ALL,
                }
            }
            Expr::Cond(_, x, y) => {
                let ((a, b), (c, d)) = (self.range(x), self.range(y));
                (a.min(c), b.max(d))
            }
        }
    }

    /// Whether an expression may go wrong: by an index, or by a division.
    pub(crate) fn can_fail(&self, expr: ExprId) -> bool {
        match self.exprs.get(expr) {
            Expr::Int(_) | Expr::Var(_) => false,
            Expr::Element { len, index, .. } => {
                let (lo, hi) = self.range(index);
                lo < 0 || hi >= i64::from(len) || self.can_fail(index)
            }
            Expr::Unary(_, x) => self.can_fail(x),
            Expr::Binary(op, x, y) => {
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                let by = if divides { self.range(y) } else { (1, 1) };
                by.0 <= 0 && 0 <= by.1 || self.can_fail(x) || self.can_fail(y)
            }
            Expr::Cond(condition, x, y) => self.can_fail(condition) || self.can_fail(x) || self.can_fail(y),
        }
    }

    /// The value, cut to a number of bits if it may need more.
    pub(crate) fn cut(&mut self, expr: ExprId, ty: Type) -> ExprId {
        let (lo, hi) = ty.range();
        let range = self.range(expr);
        if i64::from(lo) <= range.0 && range.1 <= i64::from(hi) {
            return expr;
        }
        let (bits, signed) = match ty {
            Type::Bit | Type::Bool => (1, false),
            Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (8, false),
            Type::Short => (16, true),
            Type::Int | Type::Struct(_) => (32, true),
            Type::Unsigned(bits) => (bits, false),
        };
        self.exprs.unary(UnaryOp::Truncate { bits, signed }, expr)
    }

    /// An expression.
    pub(crate) fn expr(&mut self, scope: Scope, expr: &program::Expr) -> Lowered<ExprId> {
        self.pay()?;
        Ok(match &expr.kind {
            ExprKind::Int(value) | ExprKind::Symbol(_, value) => self.int(i64::from(*value)),
            ExprKind::Load(place) => self.load(scope, place)?,
            ExprKind::Pid => match scope {
                Scope::Process(process) => {
                    let slot = self.world.processes[process].instance.slot;
                    self.int(i64::from(slot))
                }
                Scope::Global => return Err(not_supported(expr.span, "`_pid` outside of a process")),
            },
            ExprKind::NrPr => self.exprs.var(self.world.n_processes),
            ExprKind::Last => match self.world.last {
                Some(last) => self.exprs.var(last),
                None => self.missing(),
            },
            ExprKind::Priority => match scope {
                Scope::Process(process) => self.priority(process),
                Scope::Global => return Err(not_supported(expr.span, "`_priority` outside of a process")),
            },
            ExprKind::GetPriority(pid) => self.priority_of(scope, pid)?,
            ExprKind::NonProgress => self.non_progress()?,
            ExprKind::Timeout => self.int(i64::from(self.timeout)),
            ExprKind::Unary(op, x) => {
                let x = self.expr(scope, x)?;
                let op = match op {
                    program::UnaryOp::Not => UnaryOp::Not,
                    program::UnaryOp::Neg => UnaryOp::Neg,
                    program::UnaryOp::Complement => UnaryOp::BitNot,
                };
                let result = self.exprs.unary(op, x);
                self.cut_result(result, op != UnaryOp::Not)
            }
            ExprKind::Binary(op, operands) => {
                let x = self.expr(scope, &operands.0)?;
                let y = self.expr(scope, &operands.1)?;
                let op = binary_op(*op);
                let result = self.binary(op, x, y);
                self.cut_result(
                    result,
                    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl),
                )
            }
            ExprKind::Conditional(parts) => {
                let condition = self.expr(scope, &parts.0)?;
                let (x, y) = (self.expr(scope, &parts.1)?, self.expr(scope, &parts.2)?);
                self.exprs.cond(condition, x, y)
            }
            ExprKind::ChannelTest(test, place) => {
                self.over_channels(scope, place, |this, channel| Ok(this.channel_test(*test, channel)))?
            }
            ExprKind::Poll { channel, random, args } => {
                let tests = args
                    .iter()
                    .map(|arg| arg.as_ref().map(|arg| self.expr(scope, arg)).transpose())
                    .collect::<Lowered<Vec<_>>>()?;
                self.over_channels(scope, channel, |this, channel| {
                    this.has_message(channel, &tests, *random)
                })?
            }
            ExprKind::Run { .. } => {
                return Err(not_supported(expr.span, "`run` inside a larger expression"));
            }
            ExprKind::Enabled(pid) => self.enabled(scope, pid)?,
            ExprKind::PcValue(pid) => {
                let pid = self.expr(scope, pid)?;
                // One of these at most is true, so that the others add nothing.
                let (none, mut values) = (self.int(0), Vec::new());
                for process in 0..self.world.processes.len() {
                    for (index, location) in self.flow_of(process).locations.iter().enumerate() {
                        self.pay()?;
                        let here = self.is_at(process, LocationId::new(index));
                        let meant = self.is_process(pid, process);
                        let here = self.all(&[meant, here]);
                        let number = self.int(i64::from(location.number));
                        values.push(self.exprs.cond(here, number, none));
                    }
                }
                self.exprs.fold(BinaryOp::Add, 0, &values)
            }
            ExprKind::RemoteLabel { proctype, pid, label } => {
                if is_passed(self.program, *proctype, *label) {
                    return Ok(self.missing());
                }
                let Some(location) = self.flows[proctype.index()].labels[label.index()] else {
                    return Ok(self.int(0));
                };
                let mut parts = Vec::new();
                for process in self.processes_of(*proctype) {
                    let here = self.is_at(process, location);
                    let meant = self.is_meant(scope, pid.as_deref(), process)?;
                    parts.push(self.all(&[meant, here]));
                }
                self.any(&parts)
            }
            ExprKind::RemoteVar { proctype, pid, place } => {
                let mut value = self.int(0);
                for process in self.processes_of(*proctype) {
                    let lives = self.lives(process);
                    let meant = self.is_meant(scope, pid.as_deref(), process)?;
                    let condition = self.all(&[meant, lives]);
                    let loaded = self.load(Scope::Process(process), place)?;
                    value = self.exprs.cond(condition, loaded, value);
                }
                value
            }
        })
    }

    fn cut_result(&mut self, result: ExprId, may_grow: bool) -> ExprId {
        let (lo, hi) = self.range(result);
        if may_grow && (lo < i64::from(i32::MIN) || hi > i64::from(i32::MAX)) {
            return self.cut(result, Type::Int);
        }
        result
    }
}

fn binary_op(op: program::BinaryOp) -> BinaryOp {
    match op {
        program::BinaryOp::Or => BinaryOp::Or,
        program::BinaryOp::And => BinaryOp::And,
        program::BinaryOp::BitOr => BinaryOp::BitOr,
        program::BinaryOp::BitXor => BinaryOp::BitXor,
        program::BinaryOp::BitAnd => BinaryOp::BitAnd,
        program::BinaryOp::Eq => BinaryOp::Eq,
        program::BinaryOp::Ne => BinaryOp::Ne,
        program::BinaryOp::Lt => BinaryOp::Lt,
        program::BinaryOp::Le => BinaryOp::Le,
        program::BinaryOp::Gt => BinaryOp::Gt,
        program::BinaryOp::Ge => BinaryOp::Ge,
        program::BinaryOp::Shl => BinaryOp::Shl,
        program::BinaryOp::Shr => BinaryOp::Shr,
        program::BinaryOp::Add => BinaryOp::Add,
        program::BinaryOp::Sub => BinaryOp::Sub,
        program::BinaryOp::Mul => BinaryOp::Mul,
        program::BinaryOp::Div => BinaryOp::Div,
        program::BinaryOp::Rem => BinaryOp::Rem,
    }
}
