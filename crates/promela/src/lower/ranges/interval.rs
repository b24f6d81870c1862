//! Arithmetic of intervals, as all values are 32-bit integers that wrap around.

use std::collections::BTreeSet;

use crate::program::{BinaryOp, Type};

/// Least and greatest value.
pub(crate) type Interval = (i64, i64);

pub(super) const INT: Interval = (i32::MIN as i64, i32::MAX as i64);
pub(super) const BIT: Interval = (0, 1);
pub(super) const BYTE: Interval = (0, 255);

pub(super) fn join(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

/// What a variable keeps.
pub(super) fn kept(value: Interval, ty: Type) -> Interval {
    let (lo, hi) = ty.range();
    let (lo, hi) = (i64::from(lo), i64::from(hi));
    if lo <= value.0 && value.1 <= hi { value } else { (lo, hi) }
}

/// Joins a value to a slot; bounds that grow go to the next stop.
pub(super) fn grow(slot: &mut Interval, value: Interval, stops: &BTreeSet<i64>, grows: &mut bool) {
    if value.0 < slot.0 {
        slot.0 = stops.range(..=value.0).next_back().copied().unwrap_or(INT.0);
        *grows = true;
    }
    if value.1 > slot.1 {
        slot.1 = stops.range(value.1..).next().copied().unwrap_or(INT.1);
        *grows = true;
    }
}

/// All integers, if something may have wrapped around.
pub(super) fn as_int(value: Interval) -> Interval {
    if INT.0 <= value.0 && value.1 <= INT.1 { value } else { INT }
}

pub(super) fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        BinaryOp::Eq | BinaryOp::Ne => op,
        _ => return None,
    })
}

/// What an operator can make of values between these.
pub(super) fn binary(op: BinaryOp, x: Interval, y: Interval) -> Interval {
    let are_natural = x.0 >= 0 && y.0 >= 0;
    match op {
        BinaryOp::Or
        | BinaryOp::And
        | BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge => BIT,
        BinaryOp::Add => as_int((x.0 + y.0, x.1 + y.1)),
        BinaryOp::Sub => as_int((x.0 - y.1, x.1 - y.0)),
        BinaryOp::Mul => {
            let products = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
            as_int(products.iter().fold((i64::MAX, i64::MIN), |so_far, &value| join(so_far, (value, value))))
        }
        BinaryOp::BitAnd if are_natural => (0, x.1.min(y.1)),
        BinaryOp::BitOr | BinaryOp::BitXor if are_natural => {
            let bits = 64 - x.1.max(y.1).leading_zeros();
            (0, (1i64 << bits) - 1)
        }
        BinaryOp::Shr | BinaryOp::Div if are_natural => (0, x.1),
        BinaryOp::Rem if y.0 > 0 && x.0 >= 0 && x.1 < y.0 => x,
        BinaryOp::Rem if y.0 > 0 => {
            let most = y.1 - 1;
            (if x.0 < 0 { (-most).max(x.0) } else { 0 }, most.min(x.1.max(0)))
        }
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Div
        | BinaryOp::Rem => INT,
    }
}
