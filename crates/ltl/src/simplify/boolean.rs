//! Rules for negation, implication, equivalence and exclusive or.

use crate::formula::{Formula, Node, Op};
use crate::implication::Signed;
use crate::nnf::dual;
use crate::simplify::Simplifier;

impl Simplifier<'_, '_, '_> {
    /// Pushes a negation inwards where that does not cost more negations than it saves.
    pub(super) fn not(&mut self, a: Formula) -> Option<Formula> {
        match self.formulas.node(a) {
            Node::Equivalent(b, c) => return Some(self.formulas.xor(b, c)),
            Node::Xor(b, c) => return Some(self.formulas.equivalent(b, c)),
            Node::Implies(b, c) => {
                let c = self.formulas.not(c);
                return Some(self.formulas.and([b, c]));
            }
            _ => {}
        }
        let operands = self.formulas.operands(a).to_vec();
        let n_negated = operands.iter().filter(|&&operand| self.formulas.op(operand) == Op::Not).count();
        if operands.is_empty() || operands.len() - n_negated > n_negated + 1 {
            return None;
        }
        let op = dual(self.formulas.op(a));
        let negations: Vec<Formula> = operands.iter().map(|&operand| self.formulas.not(operand)).collect();
        Some(self.formulas.apply(op, &negations))
    }

    pub(super) fn implies(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        // !c -> b = c | b
        if let Node::Not(c) = self.formulas.node(a) {
            return Some(self.formulas.or([c, b]));
        }
        if self.sees(a, b) {
            Some(Formula::TRUE)
        } else if self.sees_disjoint(a, b) {
            Some(self.formulas.not(a))
        } else {
            self.sees_cover(a, b).then_some(b)
        }
    }

    pub(super) fn equivalent(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        match (self.formulas.node(a), self.formulas.node(b)) {
            (Node::Not(c), Node::Not(d)) => return Some(self.formulas.equivalent(c, d)),
            (Node::Not(c), _) => return Some(self.formulas.xor(c, b)),
            (_, Node::Not(d)) => return Some(self.formulas.xor(a, d)),
            _ => {}
        }
        let (disjoint, cover) = (self.sees_disjoint(a, b), self.sees_cover(a, b));
        match (self.sees(a, b), self.sees(b, a)) {
            (true, true) => Some(Formula::TRUE),
            _ if disjoint && cover => Some(Formula::FALSE),
            (true, false) => Some(self.formulas.implies(b, a)),
            (false, true) => Some(self.formulas.implies(a, b)),
            (false, false) => cover.then(|| self.formulas.and([a, b])),
        }
    }

    pub(super) fn xor(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        match (self.formulas.node(a), self.formulas.node(b)) {
            (Node::Not(c), Node::Not(d)) => return Some(self.formulas.xor(c, d)),
            (Node::Not(c), _) => return Some(self.formulas.equivalent(c, b)),
            (_, Node::Not(d)) => return Some(self.formulas.equivalent(a, d)),
            _ => {}
        }
        if self.sees(a, b) && self.sees(b, a) {
            return Some(Formula::FALSE);
        }
        match (self.sees_disjoint(a, b), self.sees_cover(a, b)) {
            (true, true) => Some(Formula::TRUE),
            (true, false) => Some(self.formulas.or([a, b])),
            _ => None,
        }
    }

    /// Whether `a` is seen to imply `b`.
    fn sees(&mut self, a: Formula, b: Formula) -> bool {
        self.sees_signed((a, false), (b, false))
    }

    /// Whether `a & b` is seen to be `false`.
    fn sees_disjoint(&mut self, a: Formula, b: Formula) -> bool {
        self.sees_signed((a, false), (b, true))
    }

    /// Whether `a | b` is seen to be `true`.
    fn sees_cover(&mut self, a: Formula, b: Formula) -> bool {
        self.sees_signed((a, true), (b, false))
    }

    fn sees_signed(&mut self, a: (Formula, bool), b: (Formula, bool)) -> bool {
        let [a, b] = [a, b].map(|(formula, negated)| Signed::new(self.formulas, formula, negated));
        self.implication.holds(self.formulas, a, b)
    }
}
