//! Looking at formulas as they are, or with every operator replaced by its dual.
//!
//! A rule `f(a, b) = g(a, b)` that holds for all formulas also holds for their negations. Pushing
//! the negation inwards on both sides gives the rule for the dual operators. A mirror does that on
//! the fly: the rule says `Until`, and in the mirror that reads and builds `Release`; the rule asks
//! whether `a` implies `b`, and in the mirror that asks whether `!a` implies `!b`.

use crate::formula::{Formula, Op};
use crate::implication::Signed;
use crate::nnf::dual;
use crate::simplify::Simplifier;

/// A simplifier, seen directly or in the mirror.
pub(super) struct Mirror<'s, 'p, 'b, 'w> {
    simplifier: &'s mut Simplifier<'p, 'b, 'w>,
    dual: bool,
}

impl<'p, 'b, 'w> Simplifier<'p, 'b, 'w> {
    pub(super) fn mirror(&mut self, dual: bool) -> Mirror<'_, 'p, 'b, 'w> {
        Mirror { simplifier: self, dual }
    }
}

impl Mirror<'_, '_, '_, '_> {
    /// What stands at the root.
    pub(super) fn op(&self, formula: Formula) -> Op {
        self.turn(self.simplifier.formulas.op(formula))
    }

    /// The operands of the root; they do not depend on the mirror.
    pub(super) fn operands(&self, formula: Formula) -> &[Formula] {
        self.simplifier.formulas.operands(formula)
    }

    /// The operator and the operand of the root, if it has exactly one.
    pub(super) fn unary(&self, formula: Formula) -> Option<(Op, Formula)> {
        match self.operands(formula) {
            &[a] => Some((self.op(formula), a)),
            _ => None,
        }
    }

    /// The operator and the operands of the root, if it has exactly two.
    pub(super) fn binary(&self, formula: Formula) -> Option<(Op, Formula, Formula)> {
        match self.operands(formula) {
            &[a, b] => Some((self.op(formula), a, b)),
            _ => None,
        }
    }

    /// An operator applied to operands.
    pub(super) fn build(&mut self, op: Op, operands: &[Formula]) -> Formula {
        let op = self.turn(op);
        self.simplifier.formulas.apply(op, operands)
    }

    /// `true`, or what it is in the mirror.
    pub(super) fn top(&self) -> Formula {
        if self.dual { Formula::FALSE } else { Formula::TRUE }
    }

    /// Whether `a` is seen to imply `b`.
    pub(super) fn implies(&mut self, a: Formula, b: Formula) -> bool {
        let (a, b) = (self.sign(a), self.sign(b));
        self.simplifier.implication.holds(self.simplifier.formulas, a, b)
    }

    /// Whether `a | b` is seen to be `true`, that is, whether `!a` implies `b`.
    pub(super) fn covers(&mut self, a: Formula, b: Formula) -> bool {
        let (a, b) = (self.sign(a), self.sign(b));
        self.simplifier.implication.holds(self.simplifier.formulas, a.not(), b)
    }

    /// Whether the formula is a pure eventuality.
    pub(super) fn is_eventuality(&self, formula: Formula) -> bool {
        self.sign(formula).classes(self.simplifier.formulas).is_pure_eventuality()
    }

    /// Whether the formula is a pure universality.
    pub(super) fn is_universality(&self, formula: Formula) -> bool {
        self.sign(formula).classes(self.simplifier.formulas).is_pure_universality()
    }

    /// Splits operands into those that satisfy the test and the others.
    pub(super) fn partition(
        &self,
        formula: Formula,
        test: impl Fn(&Self, Formula) -> bool,
    ) -> (Vec<Formula>, Vec<Formula>) {
        self.operands(formula).iter().partition(|&&operand| test(self, operand))
    }

    fn sign(&self, formula: Formula) -> Signed {
        Signed::new(self.simplifier.formulas, formula, self.dual)
    }

    fn turn(&self, op: Op) -> Op {
        if self.dual { dual(op) } else { op }
    }
}
