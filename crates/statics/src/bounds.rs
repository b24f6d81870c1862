//! Which values expressions can have, and whether evaluating them can go wrong.

use fixedbitset::FixedBitSet;
use model::{BinaryOp, Expr, ExprId, Range, Stmt, UnaryOp, VarId, Variable};

use crate::draft::Draft;

/// The least and the greatest value.
type Interval = (i64, i64);

/// Per expression: its values, if it can be evaluated in every state.
pub(crate) struct Bounds {
    exprs: Vec<Option<Interval>>,
    /// Per variable.
    variables: Vec<Option<Interval>>,
    /// The variables that never get a value that does not fit.
    proved: FixedBitSet,
}

impl Bounds {
    pub(crate) fn new(draft: &Draft<'_>) -> Bounds {
        let all = &draft.parts.variables;
        let certain = |variable: &Variable| variable.range.is_certain().then_some((variable.lo, variable.hi));
        let proved = (0..all.len()).filter(|&index| all[index].range == Range::Proved).collect();
        let exprs = Vec::with_capacity(draft.exprs.nodes().len());
        let mut bounds = Bounds { exprs, variables: all.iter().map(certain).collect(), proved };
        for &node in draft.exprs.nodes() {
            let interval = bounds.of_node(node);
            bounds.exprs.push(interval);
        }
        bounds
    }

    /// Whether an expression can be evaluated in every state.
    pub(crate) fn is_total(&self, expr: ExprId) -> bool {
        self.exprs[expr.index()].is_some()
    }

    /// Whether the value of an expression always fits a variable.
    pub(crate) fn fits(&self, expr: ExprId, var: VarId) -> bool {
        match (self.exprs[expr.index()], self.variables[var.index()]) {
            (Some((lo, hi)), Some((from, to))) => self.proved.contains(var.index()) || from <= lo && hi <= to,
            _ => false,
        }
    }

    /// Whether a statement never goes wrong, and always ends.
    pub(crate) fn is_harmless(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Assign(var, expr) => self.fits(*expr, *var),
            Stmt::AssignElement { first, len, index, value } => {
                self.is_within(*index, *len)
                    && (0..*len as usize).all(|at| self.fits(*value, VarId::new(first.index() + at)))
            }
            Stmt::Set(var, value) => {
                self.variables[var.index()].is_some_and(|(lo, hi)| (lo..=hi).contains(value))
            }
            Stmt::Map(var, table) => self.variables[var.index()].is_some_and(|(lo, hi)| {
                (hi.wrapping_sub(lo) as u64) < table.len() as u64
                    && table.iter().all(|value| value.is_some_and(|value| (lo..=hi).contains(&value)))
            }),
            Stmt::If(condition, yes, no) => {
                self.is_total(*condition) && yes.iter().chain(no).all(|stmt| self.is_harmless(stmt))
            }
            Stmt::Add(..) | Stmt::While(..) | Stmt::Assert(..) => false,
        }
    }

    fn is_within(&self, index: ExprId, len: u32) -> bool {
        self.exprs[index.index()].is_some_and(|(lo, hi)| lo >= 0 && hi < i64::from(len))
    }

    fn of_node(&self, node: Expr) -> Option<Interval> {
        let of = |expr: ExprId| self.exprs[expr.index()];
        match node {
            Expr::Int(value) => Some((value, value)),
            Expr::Var(var) => self.variables[var.index()],
            Expr::Element { first, len, index } => {
                let elements = first.index()..first.index() + len as usize;
                let mut elements = elements.map(|var| self.variables[var]).take(len as usize);
                if !self.is_within(index, len) {
                    return None;
                }
                let start = elements.next()??;
                elements.try_fold(start, |all, one| Some(hull(all, one?)))
            }
            Expr::Unary(op, x) => of_unary(op, of(x)?),
            Expr::Binary(op, x, y) => of_binary(op, of(x)?, of(y)?),
            Expr::Cond(condition, x, y) => of(condition).and(Some(hull(of(x)?, of(y)?))),
        }
    }
}

fn hull(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

fn of_unary(op: UnaryOp, (lo, hi): Interval) -> Option<Interval> {
    Some(match op {
        UnaryOp::Neg => (hi.checked_neg()?, lo.checked_neg()?),
        UnaryOp::Not => (0, 1),
        UnaryOp::BitNot => (!hi, !lo),
        UnaryOp::Truncate { bits, signed } => {
            let bits = u32::from(bits.clamp(1, 64));
            let all = match (signed, bits) {
                (true, _) => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
                (false, 64) => (i64::MIN, i64::MAX),
                (false, _) => (0, ((1u64 << bits) - 1) as i64),
            };
            if all.0 <= lo && hi <= all.1 { (lo, hi) } else { all }
        }
    })
}

fn of_binary(op: BinaryOp, x: Interval, y: Interval) -> Option<Interval> {
    const ALL: Interval = (i64::MIN, i64::MAX);
    let corners = |apply: fn(i64, i64) -> Option<i64>| {
        let corners = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)].map(|(x, y)| apply(x, y));
        let [a, b, c, d] = corners;
        let (a, b, c, d) = (a?, b?, c?, d?);
        Some((a.min(b).min(c).min(d), a.max(b).max(c).max(d)))
    };
    match op {
        BinaryOp::Add => corners(i64::checked_add),
        BinaryOp::Sub => corners(i64::checked_sub),
        BinaryOp::Mul => corners(i64::checked_mul),
        // Not further from zero than what is divided.
        BinaryOp::Div | BinaryOp::Rem if y.0 > 0 || y.1 < 0 => {
            let most = x.0.checked_abs()?.max(x.1.checked_abs()?);
            Some((-most, most))
        }
        BinaryOp::Div | BinaryOp::Rem => None,
        BinaryOp::And | BinaryOp::Or => Some((0, 1)),
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            Some((0, 1))
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor if x.0 >= 0 && y.0 >= 0 => {
            let most = (x.1 | y.1) as u64;
            Some((0, (u64::MAX >> most.leading_zeros().min(63)) as i64))
        }
        BinaryOp::Shr if x.0 >= 0 => Some((0, x.1)),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr => Some(ALL),
    }
}
