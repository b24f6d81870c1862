//! Expressions of the checked program: constants, and visiting all parts.

use crate::program::{BinaryOp, Expr, ExprKind, Place, Step, UnaryOp};

/// The value of a constant expression; `None` if it is not constant, or divides by zero.
pub fn constant(expr: &Expr) -> Option<i32> {
    constant_given(expr, &mut |_| None)
}

/// The value of an expression, given those of places. Recursion is as deep as the expression,
/// which the parser limits.
pub fn constant_given(expr: &Expr, load: &mut dyn FnMut(&Place) -> Option<i32>) -> Option<i32> {
    match &expr.kind {
        ExprKind::Int(value) | ExprKind::Symbol(_, value) => Some(*value),
        ExprKind::Load(place) => load(place),
        ExprKind::Unary(op, operand) => Some(unary(*op, constant_given(operand, load)?)),
        ExprKind::Binary(op, operands) => {
            let (a, b) = (constant_given(&operands.0, load)?, constant_given(&operands.1, load)?);
            binary(*op, a, b)
        }
        ExprKind::Conditional(parts) => {
            let (condition, then, otherwise) = &**parts;
            let taken = if constant_given(condition, load)? != 0 { then } else { otherwise };
            constant_given(taken, load)
        }
        _ => None,
    }
}

/// What an operator does to a value.
pub fn unary(op: UnaryOp, value: i32) -> i32 {
    match op {
        UnaryOp::Not => i32::from(value == 0),
        UnaryOp::Neg => value.wrapping_neg(),
        UnaryOp::Complement => !value,
    }
}

/// What an operator makes of two values, as C does on common machines; `None` if it divides by
/// zero. Shifts by a negative or large number are taken modulo 32, as the machine does.
pub fn binary(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Or => i32::from(a != 0 || b != 0),
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitAnd => a & b,
        BinaryOp::Eq => i32::from(a == b),
        BinaryOp::Ne => i32::from(a != b),
        BinaryOp::Lt => i32::from(a < b),
        BinaryOp::Le => i32::from(a <= b),
        BinaryOp::Gt => i32::from(a > b),
        BinaryOp::Ge => i32::from(a >= b),
        BinaryOp::Shl => a.wrapping_shl(b as u32),
        BinaryOp::Shr => a.wrapping_shr(b as u32),
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => return None,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
    })
}

/// Calls `look` for an expression and all its parts, those of indices included.
pub fn visit<'e>(expr: &'e Expr, look: &mut dyn FnMut(&'e Expr)) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        look(expr);
        match &expr.kind {
            ExprKind::Int(_)
            | ExprKind::Symbol(..)
            | ExprKind::Pid
            | ExprKind::NrPr
            | ExprKind::Last
            | ExprKind::Priority
            | ExprKind::NonProgress
            | ExprKind::Timeout => {}
            ExprKind::Load(place) => pending.extend(indices(place)),
            ExprKind::Unary(_, operand)
            | ExprKind::Enabled(operand)
            | ExprKind::PcValue(operand)
            | ExprKind::GetPriority(operand) => pending.push(operand),
            ExprKind::Binary(_, operands) => pending.extend([&operands.1, &operands.0]),
            ExprKind::Conditional(parts) => pending.extend([&parts.2, &parts.1, &parts.0]),
            ExprKind::ChannelTest(_, place) => pending.extend(indices(place)),
            ExprKind::Poll { channel, args, .. } => {
                pending.extend(args.iter().flatten());
                pending.extend(indices(channel));
            }
            ExprKind::Run { args, .. } => pending.extend(args),
            ExprKind::RemoteLabel { pid, .. } => pending.extend(pid.as_deref()),
            ExprKind::RemoteVar { pid, place, .. } => {
                pending.extend(pid.as_deref());
                pending.extend(indices(place));
            }
        }
    }
}

/// The indices of a place.
pub fn indices(place: &Place) -> impl Iterator<Item = &Expr> {
    place.steps.iter().filter_map(|step| match step {
        Step::Index(index) => Some(index),
        Step::Field(_) => None,
    })
}
