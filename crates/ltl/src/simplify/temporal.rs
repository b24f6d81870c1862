//! Rules for `X`, `F`, `U` and `W`; in the mirror for `X`, `G`, `R` and `M`.
//!
//! In comments *e* is a pure eventuality, *u* a pure universality, *q* both.

use crate::formula::{Formula, Op};
use crate::simplify::mirror::Mirror;

impl Mirror<'_, '_, '_, '_> {
    pub(super) fn next(&mut self, a: Formula) -> Option<Formula> {
        // X q = q
        (self.is_eventuality(a) && self.is_universality(a)).then_some(a)
    }

    pub(super) fn finally(&mut self, a: Formula) -> Option<Formula> {
        // F e = e
        if self.is_eventuality(a) {
            return Some(a);
        }
        match (self.op(a), self.operands(a)) {
            // F X b = X F b
            (Op::Next, &[b]) => {
                let inner = self.build(Op::Finally, &[b]);
                Some(self.build(Op::Next, &[inner]))
            }
            // F (b U c) = F c
            (Op::Until, &[_, c]) => Some(self.build(Op::Finally, &[c])),
            // F (b M c) = F (b & c)
            (Op::StrongRelease, &[b, c]) => {
                let both = self.build(Op::And, &[b, c]);
                Some(self.build(Op::Finally, &[both]))
            }
            // F (b | e) = F b | e
            (Op::Or, _) => self.pull_out(a, Op::Or, Mirror::is_eventuality),
            // F (b & q) = F b & q
            (Op::And, _) => {
                self.pull_out(a, Op::And, |mirror, b| mirror.is_eventuality(b) && mirror.is_universality(b))
            }
            _ => None,
        }
    }

    /// Moves operands that pass the test out of `F (… op …)`.
    fn pull_out(&mut self, a: Formula, op: Op, test: impl Fn(&Self, Formula) -> bool) -> Option<Formula> {
        let (mut out, rest) = self.partition(a, test);
        if out.is_empty() {
            return None;
        }
        let rest = self.build(op, &rest);
        out.push(self.build(Op::Finally, &[rest]));
        Some(self.build(op, &out))
    }

    pub(super) fn until(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        // a U e = e, and a U b = b if a implies b.
        if self.is_eventuality(b) || self.implies(a, b) {
            return Some(b);
        }
        // a U b = F b if !b implies a.
        if self.covers(b, a) {
            return Some(self.build(Op::Finally, &[b]));
        }
        self.either_until(Op::Until, a, b)
    }

    pub(super) fn weak_until(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        // a W b = b if a implies b.
        if self.implies(a, b) {
            return Some(b);
        }
        // a W b = true if !b implies a.
        if self.covers(b, a) {
            return Some(self.top());
        }
        // u W b = u | b
        if self.is_universality(a) {
            return Some(self.build(Op::Or, &[a, b]));
        }
        self.either_until(Op::WeakUntil, a, b)
    }

    /// Rules shared by `U` and `W`; `op` is one of the two.
    fn either_until(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        // X c U X d = X (c U d)
        if let (Some((Op::Next, c)), Some((Op::Next, d))) = (self.unary(a), self.unary(b)) {
            let inner = self.build(op, &[c, d]);
            return Some(self.build(Op::Next, &[inner]));
        }
        // a U (c | e) = (a U c) | e. Something must be left: a W e = G a | e would make it larger.
        if self.op(b) == Op::Or {
            let (mut out, rest) = self.partition(b, Mirror::is_eventuality);
            if !out.is_empty() && !rest.is_empty() {
                let rest = self.build(Op::Or, &rest);
                out.push(self.build(op, &[a, rest]));
                return Some(self.build(Op::Or, &out));
            }
        }
        self.nested_right(op, a, b).or_else(|| self.nested_left(op, a, b))
    }

    /// `a op (c U d)` or `a op (c W d)`.
    fn nested_right(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        let (inner, c, d) = self.binary(b).filter(|(inner, ..)| is_until(*inner))?;
        // a U (c U d) = c U d, a U (c W d) = c W d and a W (c W d) = c W d if a implies c. But not
        // a W (c U d): there a may go on for ever without d.
        if (op, inner) != (Op::WeakUntil, Op::Until) && self.implies(a, c) {
            return Some(b);
        }
        // a U (c U d) = a U d, a W (c U d) = a W d and a W (c W d) = a W d if c implies a. But not
        // a U (c W d): there c may go on for ever without d.
        if (op, inner) != (Op::Until, Op::WeakUntil) && self.implies(c, a) {
            return Some(self.build(op, &[a, d]));
        }
        None
    }

    /// `(c U d) op b` or `(c W d) op b`.
    fn nested_left(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        let (inner, c, d) = self.binary(a).filter(|(inner, ..)| is_until(*inner))?;
        // (c U d) U b = d U b if c implies b, also with W for either: before b there is no c.
        if self.implies(c, b) {
            return Some(self.build(op, &[d, b]));
        }
        // (c U d) U b = (c U d) | b if d implies b, also with W for the outer or both: b comes with
        // d. But not (c W d) U b, where neither may come.
        if (op, inner) != (Op::Until, Op::WeakUntil) && self.implies(d, b) {
            return Some(self.build(Op::Or, &[a, b]));
        }
        None
    }
}

fn is_until(op: Op) -> bool {
    matches!(op, Op::Until | Op::WeakUntil)
}
