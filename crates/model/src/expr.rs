//! Integer expressions over the variables of a state.
//!
//! Values are `i64`; truth is 1 and falsehood 0, and any number but 0 counts as true. Overflow,
//! division by zero and an index out of bounds are [`Fault`]s of the model, never
//! wrapped or ignored; a language with fixed-width arithmetic says [`UnaryOp::Truncate`].
//! `And`, `Or` and `Cond` evaluate only the operands that they need.
//!
//! Expressions are hash-consed in a pool: equal expressions have equal ids.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::VarId;
use crate::system::Fault;

base::define_id! {
    /// An expression of a pool.
    pub struct ExprId;
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Neg,
    /// 1 if the operand is 0, else 0.
    Not,
    /// Bitwise complement.
    BitNot,
    /// The lowest bits, read as an unsigned or (two's complement) signed number.
    Truncate {
        /// How many bits are kept: 1 to 64.
        bits: u8,
        /// Whether the highest of them is the sign.
        signed: bool,
    },
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the operators.
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Division, rounded toward zero.
    Div,
    /// Remainder of [`BinaryOp::Div`].
    Rem,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitAnd,
    BitOr,
    BitXor,
    /// Shift left; bits shifted out are lost. A count outside 0..=63 gives 0.
    Shl,
    /// Arithmetic shift right. A count outside 0..=63 gives 0 or, for a negative number, -1.
    Shr,
}

/// One node. Operands have smaller ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// The value of a variable.
    Var(VarId),
    /// The value of an element of the array that starts at `first`.
    Element {
        /// Variable of index 0.
        first: VarId,
        /// Number of elements.
        len: u32,
        /// Which element.
        index: ExprId,
    },
    /// One operand.
    Unary(UnaryOp, ExprId),
    /// Two operands.
    Binary(BinaryOp, ExprId, ExprId),
    /// The second operand if the first is true, else the third.
    Cond(ExprId, ExprId, ExprId),
}

impl Expr {
    /// Its operands, in order.
    pub fn operands(self) -> impl Iterator<Item = ExprId> {
        let operands = match self {
            Expr::Int(_) | Expr::Var(_) => [None; 3],
            Expr::Element { index: x, .. } | Expr::Unary(_, x) => [Some(x), None, None],
            Expr::Binary(_, x, y) => [Some(x), Some(y), None],
            Expr::Cond(condition, x, y) => [Some(condition), Some(x), Some(y)],
        };
        operands.into_iter().flatten()
    }
}

impl UnaryOp {
    /// Applies the operator.
    #[inline]
    pub fn apply(self, x: i64) -> Result<i64, Fault> {
        Ok(match self {
            UnaryOp::Neg => x.checked_neg().ok_or(Fault::Overflow)?,
            UnaryOp::Not => i64::from(x == 0),
            UnaryOp::BitNot => !x,
            UnaryOp::Truncate { bits, signed } => {
                let unused = 64 - u32::from(bits.clamp(1, 64));
                if signed { x << unused >> unused } else { ((x as u64) << unused >> unused) as i64 }
            }
        })
    }
}

impl BinaryOp {
    /// Applies the operator to two values. (`And` and `Or` normally never get here with both.)
    #[inline]
    pub fn apply(self, x: i64, y: i64) -> Result<i64, Fault> {
        let exact = |result: Option<i64>| result.ok_or(Fault::Overflow);
        Ok(match self {
            BinaryOp::Add => exact(x.checked_add(y))?,
            BinaryOp::Sub => exact(x.checked_sub(y))?,
            BinaryOp::Mul => exact(x.checked_mul(y))?,
            BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(Fault::DivisionByZero),
            BinaryOp::Div => exact(x.checked_div(y))?,
            BinaryOp::Rem => x.wrapping_rem(y),
            BinaryOp::And => i64::from(x != 0 && y != 0),
            BinaryOp::Or => i64::from(x != 0 || y != 0),
            BinaryOp::Eq => i64::from(x == y),
            BinaryOp::Ne => i64::from(x != y),
            BinaryOp::Lt => i64::from(x < y),
            BinaryOp::Le => i64::from(x <= y),
            BinaryOp::Gt => i64::from(x > y),
            BinaryOp::Ge => i64::from(x >= y),
            BinaryOp::BitAnd => x & y,
            BinaryOp::BitOr => x | y,
            BinaryOp::BitXor => x ^ y,
            BinaryOp::Shl => u32::try_from(y).ok().and_then(|y| x.checked_shl(y)).unwrap_or(0),
            BinaryOp::Shr => u32::try_from(y).ok().and_then(|y| x.checked_shr(y)).unwrap_or(x >> 63),
        })
    }
}

/// A pool of expressions.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Vec<Expr>,
    ids: FxHashMap<Expr, ExprId>,
}

impl Exprs {
    /// An empty pool.
    pub fn new() -> Exprs {
        Exprs::default()
    }

    /// The node of an id.
    #[inline]
    pub fn get(&self, id: ExprId) -> Expr {
        self.nodes[id.index()]
    }

    /// All nodes, by their ids: operands come first.
    pub fn nodes(&self) -> &[Expr] {
        &self.nodes
    }

    fn intern(&mut self, node: Expr) -> ExprId {
        *self.ids.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            ExprId::new(self.nodes.len() - 1)
        })
    }

    /// A constant.
    pub fn int(&mut self, value: i64) -> ExprId {
        self.intern(Expr::Int(value))
    }

    /// The value of a variable.
    pub fn var(&mut self, var: VarId) -> ExprId {
        self.intern(Expr::Var(var))
    }

    /// The element `index` of the array of `len` variables that starts at `first`.
    pub fn element(&mut self, first: VarId, len: u32, index: ExprId) -> ExprId {
        match self.get(index) {
            Expr::Int(i) if (0..i64::from(len)).contains(&i) => {
                self.var(VarId::new(first.index() + i as usize))
            }
            _ => self.intern(Expr::Element { first, len, index }),
        }
    }

    /// One operand; folded if it is constant and the result is defined.
    pub fn unary(&mut self, op: UnaryOp, x: ExprId) -> ExprId {
        let folded = match self.get(x) {
            Expr::Int(value) => op.apply(value).ok(),
            _ => None,
        };
        match folded {
            Some(value) => self.int(value),
            None => self.intern(Expr::Unary(op, x)),
        }
    }

    /// Two operands; folded if both are constant and the result is defined.
    pub fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        let folded = match (op, self.get(x), self.get(y)) {
            (_, Expr::Int(x), Expr::Int(y)) => op.apply(x, y).ok(),
            (BinaryOp::And, Expr::Int(0), _) => Some(0),
            (BinaryOp::Or, Expr::Int(x), _) if x != 0 => Some(1),
            _ => None,
        };
        match folded {
            Some(value) => self.int(value),
            None => self.intern(Expr::Binary(op, x, y)),
        }
    }

    /// `x` if `condition` is true, else `y`.
    pub fn cond(&mut self, condition: ExprId, x: ExprId, y: ExprId) -> ExprId {
        match self.get(condition) {
            Expr::Int(0) => y,
            Expr::Int(_) => x,
            _ => self.intern(Expr::Cond(condition, x, y)),
        }
    }

    /// Folds many operands with an associative operator, as a balanced tree: a sum over 10^5
    /// processes is 17 levels deep. No operands give `unit`.
    pub fn fold(&mut self, op: BinaryOp, unit: i64, operands: &[ExprId]) -> ExprId {
        match operands {
            [] => self.int(unit),
            [one] => *one,
            _ => {
                let (left, right) = operands.split_at(operands.len() / 2);
                let (left, right) = (self.fold(op, unit, left), self.fold(op, unit, right));
                self.binary(op, left, right)
            }
        }
    }

    /// Adds the variables that the value of `expr` may depend on (an array element: all of the
    /// array's), unsorted and possibly more than once. Every shared part is looked at once.
    pub fn reads(&self, expr: ExprId, out: &mut Vec<VarId>) {
        // Operands have smaller ids: who is taken out in falling order is met with all its equals.
        let mut work = BinaryHeap::from([expr]);
        while let Some(expr) = work.pop() {
            while work.peek() == Some(&expr) {
                work.pop();
            }
            let node = self.get(expr);
            match node {
                Expr::Var(var) => out.push(var),
                Expr::Element { first, len, .. } => {
                    out.extend((0..len as usize).map(|i| VarId::new(first.index() + i)));
                }
                _ => {}
            }
            work.extend(node.operands());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact_or_a_fault() {
        assert_eq!(BinaryOp::Add.apply(i64::MAX, 1), Err(Fault::Overflow));
        assert_eq!(BinaryOp::Div.apply(1, 0), Err(Fault::DivisionByZero));
        assert_eq!(BinaryOp::Div.apply(i64::MIN, -1), Err(Fault::Overflow));
        assert_eq!(BinaryOp::Rem.apply(i64::MIN, -1), Ok(0));
        assert_eq!(BinaryOp::Rem.apply(-7, 3), Ok(-1));
        assert_eq!(BinaryOp::Shl.apply(1, 64), Ok(0));
        assert_eq!(BinaryOp::Shr.apply(-8, 99), Ok(-1));
        let truncate = |bits, signed, x| UnaryOp::Truncate { bits, signed }.apply(x);
        assert_eq!(truncate(8, false, 258), Ok(2));
        assert_eq!(truncate(16, true, 40_000), Ok(40_000 - 65_536));
        assert_eq!(truncate(64, true, -5), Ok(-5));
    }

    #[test]
    fn shared_parts_are_looked_at_once() {
        let mut exprs = Exprs::new();
        let (x, y) = (VarId::new(3), VarId::new(1));
        let mut sum = exprs.var(x);
        for _ in 0..100 {
            sum = exprs.binary(BinaryOp::Add, sum, sum);
        }
        let other = exprs.var(y);
        let condition = exprs.cond(other, sum, other);
        let mut reads = Vec::new();
        exprs.reads(condition, &mut reads);
        reads.sort_unstable();
        assert_eq!(reads, [y, x], "as a tree it has 2^100 leaves");
    }

    #[test]
    fn folding_keeps_faults_for_run_time() {
        let mut exprs = Exprs::new();
        let (one, zero) = (exprs.int(1), exprs.int(0));
        let quotient = exprs.binary(BinaryOp::Div, one, zero);
        assert!(matches!(exprs.get(quotient), Expr::Binary(..)));
        let guarded = exprs.binary(BinaryOp::And, zero, quotient);
        assert_eq!(exprs.get(guarded), Expr::Int(0));
        let sum = exprs.fold(BinaryOp::Add, 0, &[one; 5]);
        assert_eq!(exprs.get(sum), Expr::Int(5));
    }
}
