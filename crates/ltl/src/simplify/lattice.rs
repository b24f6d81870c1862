//! Rules for `|`; in the mirror for `&`.

use crate::formula::{Formula, Op};
use crate::simplify::MAX_COMPARED;
use crate::simplify::mirror::Mirror;

impl Mirror<'_, '_, '_, '_> {
    pub(super) fn or(&mut self, operands: &[Formula]) -> Option<Formula> {
        if self.has_complements(operands) {
            return Some(self.top());
        }
        if operands.len() > MAX_COMPARED {
            return None;
        }
        for (index, &a) in operands.iter().enumerate() {
            for (other, &b) in operands.iter().enumerate().filter(|&(other, _)| other != index) {
                let joined = self.join(a, b);
                if let Some(joined) = joined {
                    return Some(self.replace(operands, index, other, joined));
                }
            }
        }
        None
    }

    /// Whether both a formula and its negation are among the (sorted) operands.
    fn has_complements(&self, operands: &[Formula]) -> bool {
        operands.iter().any(|&operand| match self.unary(operand) {
            Some((Op::Not, inner)) => operands.binary_search(&inner).is_ok(),
            _ => false,
        })
    }

    /// The disjunction with two operands replaced by one formula.
    fn replace(&mut self, operands: &[Formula], first: usize, second: usize, joined: Formula) -> Formula {
        let others = operands.iter().enumerate().filter(|&(index, _)| index != first && index != second);
        let mut parts: Vec<Formula> = others.map(|(_, &operand)| operand).collect();
        parts.push(joined);
        self.build(Op::Or, &parts)
    }

    /// A formula not larger than `a | b` that is equivalent to it. Asked for both orders.
    fn join(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.implies(a, b) {
            return Some(b);
        }
        if self.covers(a, b) {
            return Some(self.top());
        }
        self.absorb(a, b)
            .or_else(|| self.join_unary(a, b))
            .or_else(|| self.join_until(a, b))
            .or_else(|| self.join_release(a, b))
            .or_else(|| self.join_limit(a, b))
            .or_else(|| self.roll_up(a, b))
    }

    /// a | (b & c) = a | c if !a implies b.
    fn absorb(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.op(b) != Op::And || self.operands(b).len() > MAX_COMPARED {
            return None;
        }
        let all = self.operands(b).to_vec();
        let kept: Vec<Formula> = all.iter().copied().filter(|&part| !self.covers(a, part)).collect();
        if kept.len() == all.len() {
            return None;
        }
        let rest = self.build(Op::And, &kept);
        Some(self.build(Op::Or, &[a, rest]))
    }

    fn join_unary(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        let ((a_op, a_inner), (b_op, b_inner)) = (self.unary(a)?, self.unary(b)?);
        match (a_op, b_op) {
            // F a | F b = F (a | b), X a | X b = X (a | b)
            (Op::Finally, Op::Finally) | (Op::Next, Op::Next) => {
                let either = self.build(Op::Or, &[a_inner, b_inner]);
                Some(self.build(a_op, &[either]))
            }
            // G F a | G F b = G F (a | b)
            (Op::Globally, Op::Globally) => match (self.unary(a_inner)?, self.unary(b_inner)?) {
                ((Op::Finally, c), (Op::Finally, d)) => {
                    let either = self.build(Op::Or, &[c, d]);
                    let infinitely_often = self.build(Op::Finally, &[either]);
                    Some(self.build(Op::Globally, &[infinitely_often]))
                }
                _ => None,
            },
            // a | X F a = F a is in `roll_up`.
            _ => None,
        }
    }

    /// (c U d) | (c U e) = c U (d | e), and W if one of them is W.
    fn join_until(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        let ((a_op, c, d), (b_op, same, e)) = (self.binary(a)?, self.binary(b)?);
        let op = match (a_op, b_op) {
            (Op::Until, Op::Until) => Op::Until,
            (Op::Until | Op::WeakUntil, Op::Until | Op::WeakUntil) => Op::WeakUntil,
            _ => return None,
        };
        (c == same).then(|| {
            let either = self.build(Op::Or, &[d, e]);
            self.build(op, &[c, either])
        })
    }

    /// (c M e) | (d M e) = (c | d) M e, and R if one of them is R.
    fn join_release(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        let ((a_op, c, e), (b_op, d, same)) = (self.binary(a)?, self.binary(b)?);
        let op = match (a_op, b_op) {
            (Op::StrongRelease, Op::StrongRelease) => Op::StrongRelease,
            (Op::Release | Op::StrongRelease, Op::Release | Op::StrongRelease) => Op::Release,
            _ => return None,
        };
        (e == same).then(|| {
            let either = self.build(Op::Or, &[c, d]);
            self.build(op, &[either, e])
        })
    }

    /// G c | (c U d) = c W d, and G d | (c M d) = c R d.
    fn join_limit(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        let (Op::Globally, held) = self.unary(a)? else { return None };
        match self.binary(b)? {
            (Op::Until, c, d) if c == held => Some(self.build(Op::WeakUntil, &[c, d])),
            (Op::StrongRelease, c, d) if d == held => Some(self.build(Op::Release, &[c, d])),
            _ => None,
        }
    }

    /// The expansion laws backwards: a | X F a = F a, and a | (c & X (c U a)) = c U a, also with W.
    fn roll_up(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if let Some((Op::Next, inner)) = self.unary(b) {
            let rolled = self.unary(inner)?;
            return (rolled == (Op::Finally, a)).then_some(inner);
        }
        let (Op::And, first, second) = self.binary(b)? else { return None };
        [(first, second), (second, first)].into_iter().find_map(|(c, next)| {
            let (Op::Next, inner) = self.unary(next)? else { return None };
            match self.binary(inner)? {
                (Op::Until | Op::WeakUntil, held, end) if held == c && end == a => Some(inner),
                _ => None,
            }
        })
    }
}
