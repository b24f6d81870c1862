//! Rewriting for translation: equivalent formulas that may be larger, but whose automata are often smaller.
//!
//! # Idea
//! A *pure eventuality* `e` holds now if it holds later, a *pure universality* `u` holds later if it
//! holds now. A formula that is both, such as `G F a`, is as good as a constant: it may be pulled
//! out of any temporal operator. What is left under the operator is smaller, and what was pulled
//! out costs marks instead of states. The laws:
//!
//! ```text
//! X s = s                 F (a & s) = F a & s         G (a | s) = G a | s
//! G F (a & e) = G F a & G e             F G (a | u) = F G a | F u
//! a W e = G a | e         u W a = u | a               a U (b & s) = (a U b) & s     … and so on
//! a M u = F a & u         e M a = e & a               e R a = (e & a) | G a
//! ```
//!
//! In the other direction, `F a | F b | e = F (a | b | e)`: one state waits for all of them.
//!
//! Unlike the rules of [`ltl::simplify`], these may make a formula larger, and the automaton too:
//! the translation tries the formula both ways.
//!
//! # References
//! [etessami.00.concur], [babiak.12.tacas], [babiak.13.spin]

use base::{Budget, Limit};
use ltl::{Formula, Formulas, Node, Op};
use rustc_hash::FxHashMap;

/// Rounds of rewriting; each goes over the whole formula, and few formulas need two.
const MAX_ROUNDS: usize = 4;

/// An equivalent formula in which eventualities and universalities are pulled out. The formula is in
/// negation normal form, and so is the result.
pub(crate) fn pull_out(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Formula, Limit> {
    let mut current = formula;
    let max_subformulas = 8 + 4 * formulas.subformulas(formula).len();
    for _ in 0..MAX_ROUNDS {
        let next = rewrite(formulas, current, Set::PullOut, budget)?;
        if next == current || formulas.subformulas(next).len() > max_subformulas {
            break;
        }
        current = next;
    }
    Ok(current)
}

/// Drops the `F` of `F (a R e)` and the `G` of `G (a U u)`, which say nothing, and does nothing else.
pub(crate) fn drop_redundant(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Formula, Limit> {
    rewrite(formulas, formula, Set::Redundant, budget)
}

/// Which rules to apply.
#[derive(Clone, Copy)]
enum Set {
    PullOut,
    Redundant,
}

/// Rewrites every subformula once, operands first.
fn rewrite(
    formulas: &mut Formulas,
    formula: Formula,
    set: Set,
    budget: &mut Budget<'_>,
) -> Result<Formula, Limit> {
    let mut done: FxHashMap<Formula, Formula> = FxHashMap::default();
    for subformula in formulas.subformulas(formula) {
        budget.tick()?;
        let operands: Vec<Formula> = formulas.operands(subformula).iter().map(|a| done[a]).collect();
        let op = formulas.op(subformula);
        let mut rules = Rules { formulas };
        let result = match set {
            Set::PullOut => rules.apply(op, &operands),
            Set::Redundant => rules.without_redundant(op, &operands),
        };
        done.insert(subformula, result);
    }
    Ok(done[&formula])
}

struct Rules<'p> {
    formulas: &'p mut Formulas,
}

impl Rules<'_> {
    fn apply(&mut self, op: Op, operands: &[Formula]) -> Formula {
        let rewritten = match (op, operands) {
            (Op::Next, &[a]) => self.is_both(a).then_some(a),
            (Op::Finally, &[a]) => self.finally(a),
            (Op::Globally, &[a]) => self.globally(a),
            (Op::Until, &[a, b]) => self.until(a, b),
            (Op::Release, &[a, b]) => self.release(a, b),
            (Op::WeakUntil, &[a, b]) => self.weak_until(a, b),
            (Op::StrongRelease, &[a, b]) => self.strong_release(a, b),
            (Op::Or, list) => self.or(list),
            _ => None,
        };
        rewritten.unwrap_or_else(|| self.formulas.apply(op, operands))
    }

    fn without_redundant(&mut self, op: Op, operands: &[Formula]) -> Formula {
        if let &[a] = operands {
            match (op, self.formulas.node(a)) {
                (Op::Finally, Node::Release(_, e)) if self.is_eventuality(e) => return a,
                (Op::Globally, Node::Until(_, u)) if self.is_universality(u) => return a,
                _ => {}
            }
        }
        self.formulas.apply(op, operands)
    }

    fn is_eventuality(&self, a: Formula) -> bool {
        self.formulas.classes(a).is_pure_eventuality()
    }

    fn is_universality(&self, a: Formula) -> bool {
        self.formulas.classes(a).is_pure_universality()
    }

    fn is_both(&self, a: Formula) -> bool {
        self.is_eventuality(a) && self.is_universality(a)
    }

    /// The operands of a conjunction or disjunction, those that satisfy the condition first; nothing if
    /// there are none.
    fn partition(
        &self,
        op: Op,
        a: Formula,
        condition: impl Fn(&Self, Formula) -> bool,
    ) -> Option<(Vec<Formula>, Vec<Formula>)> {
        if self.formulas.op(a) != op {
            return None;
        }
        let (yes, no): (Vec<Formula>, Vec<Formula>) =
            self.formulas.operands(a).iter().partition(|&&operand| condition(self, operand));
        (!yes.is_empty()).then_some((yes, no))
    }

    fn finally(&mut self, a: Formula) -> Option<Formula> {
        if self.is_eventuality(a) {
            return Some(a);
        }
        if let Some((mut pulled, rest)) = self.partition(Op::And, a, Self::is_both) {
            let rest = self.formulas.and(rest);
            pulled.push(self.formulas.finally(rest));
            return Some(self.formulas.and(pulled));
        }
        match self.formulas.node(a) {
            Node::Next(inner) => {
                let finally = self.apply(Op::Finally, &[inner]);
                Some(self.apply(Op::Next, &[finally]))
            }
            Node::Globally(inner) => self.almost_always(inner),
            Node::Or(list) => {
                let list = list.to_vec();
                self.finally_some(&list)
            }
            _ => None,
        }
    }

    /// `F (a & s | b)` is `F (F a & s | b)`, where the first operand has lost its `s` to the outside.
    fn finally_some(&mut self, list: &[Formula]) -> Option<Formula> {
        let mut changed = false;
        let mut parts = vec![];
        for &part in list {
            let pulled = match self.partition(Op::And, part, Self::is_both) {
                Some(_) if !self.is_eventuality(part) => self.finally(part),
                _ => None,
            };
            changed |= pulled.is_some();
            parts.push(pulled.unwrap_or(part));
        }
        changed.then(|| {
            let any = self.formulas.or(parts);
            self.formulas.finally(any)
        })
    }

    fn almost_always(&mut self, inner: Formula) -> Option<Formula> {
        if let Node::Next(inner) = self.formulas.node(inner) {
            let always = self.formulas.globally(inner);
            return Some(self.formulas.finally(always));
        }
        if let Some((eventual, rest)) = self.partition(Op::And, inner, Self::is_eventuality) {
            let rest = self.formulas.and(rest);
            let always = self.formulas.globally(rest);
            let mut parts = vec![self.formulas.finally(always)];
            parts.extend(eventual.into_iter().map(|e| self.apply(Op::Globally, &[e])).collect::<Vec<_>>());
            return Some(self.formulas.and(parts));
        }
        let (universal, rest) = self.partition(Op::Or, inner, Self::is_universality)?;
        let rest = self.formulas.or(rest);
        let mut parts = vec![self.formulas.globally(rest)];
        parts.extend(universal);
        let parts = self.formulas.or(parts);
        Some(self.formulas.finally(parts))
    }

    fn globally(&mut self, a: Formula) -> Option<Formula> {
        if self.is_universality(a) {
            return Some(a);
        }
        if let Some((mut pulled, rest)) = self.partition(Op::Or, a, Self::is_both) {
            let rest = self.formulas.or(rest);
            pulled.push(self.formulas.globally(rest));
            return Some(self.formulas.or(pulled));
        }
        match self.formulas.node(a) {
            Node::And(list) => {
                let parts: Vec<Formula> = list.to_vec();
                let parts: Vec<Formula> =
                    parts.into_iter().map(|part| self.apply(Op::Globally, &[part])).collect();
                Some(self.formulas.and(parts))
            }
            Node::Or(list) if self.is_eventuality(a) => {
                let list = list.to_vec();
                let parts: Vec<Formula> = list.iter().map(|&part| self.without_next(part)).collect();
                (parts != list).then(|| {
                    let parts = self.formulas.or(parts);
                    self.formulas.globally(parts)
                })
            }
            Node::Next(e) if self.is_eventuality(e) => Some(self.apply(Op::Globally, &[e])),
            Node::Next(inner) => {
                let globally = self.apply(Op::Globally, &[inner]);
                Some(self.apply(Op::Next, &[globally]))
            }
            Node::Finally(inner) => self.infinitely_often(inner),
            _ => None,
        }
    }

    fn without_next(&self, mut a: Formula) -> Formula {
        while let Node::Next(inner) = self.formulas.node(a) {
            a = inner;
        }
        a
    }

    fn infinitely_often(&mut self, a: Formula) -> Option<Formula> {
        if let Node::Next(inner) = self.formulas.node(a) {
            let finally = self.formulas.finally(inner);
            return Some(self.formulas.globally(finally));
        }
        if self.is_eventuality(a) {
            return Some(self.apply(Op::Globally, &[a]));
        }
        let (eventual, rest) = self.partition(Op::And, a, Self::is_eventuality)?;
        let rest = self.formulas.and(rest);
        let finally = self.formulas.finally(rest);
        let mut parts = vec![self.formulas.globally(finally)];
        parts.extend(eventual.into_iter().map(|e| self.apply(Op::Globally, &[e])).collect::<Vec<_>>());
        Some(self.formulas.and(parts))
    }

    fn until(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.is_eventuality(b) {
            return Some(b);
        }
        if self.is_universality(a) {
            let finally = self.apply(Op::Finally, &[b]);
            let stay = self.formulas.and([a, finally]);
            return Some(self.formulas.or([b, stay]));
        }
        self.pull_right(Op::Until, a, b)
    }

    fn release(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.is_universality(b) {
            return Some(b);
        }
        if self.is_eventuality(b) {
            let globally = self.apply(Op::Globally, &[b]);
            let both = self.formulas.and([a, b]);
            let finally = self.apply(Op::Finally, &[both]);
            return Some(self.apply(Op::Or, &[globally, finally]));
        }
        if self.is_eventuality(a) {
            let globally = self.apply(Op::Globally, &[b]);
            let now = self.formulas.and([a, b]);
            return Some(self.formulas.or([now, globally]));
        }
        self.pull_right(Op::Release, a, b)
    }

    fn weak_until(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.is_universality(a) {
            return Some(self.formulas.or([a, b]));
        }
        if self.is_eventuality(b) {
            let globally = self.apply(Op::Globally, &[a]);
            return Some(self.formulas.or([globally, b]));
        }
        if self.is_universality(b) {
            let either = self.formulas.or([a, b]);
            return Some(self.apply(Op::Globally, &[either]));
        }
        self.pull_disjuncts(Op::WeakUntil, a, b)
    }

    fn strong_release(&mut self, a: Formula, b: Formula) -> Option<Formula> {
        if self.is_eventuality(a) {
            return Some(self.formulas.and([a, b]));
        }
        if self.is_universality(b) {
            let finally = self.apply(Op::Finally, &[a]);
            return Some(self.formulas.and([finally, b]));
        }
        if self.is_eventuality(b) {
            let both = self.formulas.and([a, b]);
            return Some(self.apply(Op::Finally, &[both]));
        }
        self.pull_conjuncts(Op::StrongRelease, a, b)
    }

    /// For `U` and `R` both kinds of operands can be pulled out of the right side.
    fn pull_right(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        self.pull_conjuncts(op, a, b).or_else(|| self.pull_disjuncts(op, a, b))
    }

    fn pull_conjuncts(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        let (mut pulled, rest) = self.partition(Op::And, b, Self::is_both)?;
        let rest = self.formulas.and(rest);
        pulled.push(self.formulas.apply(op, &[a, rest]));
        Some(self.formulas.and(pulled))
    }

    fn pull_disjuncts(&mut self, op: Op, a: Formula, b: Formula) -> Option<Formula> {
        let (mut pulled, rest) = self.partition(Op::Or, b, Self::is_both)?;
        let rest = self.formulas.or(rest);
        pulled.push(self.formulas.apply(op, &[a, rest]));
        Some(self.formulas.or(pulled))
    }

    /// `F a | F b | e` becomes `F (a | b | e)`.
    fn or(&mut self, list: &[Formula]) -> Option<Formula> {
        let waits = |rules: &Self, a: Formula| matches!(rules.formulas.node(a), Node::Finally(_));
        let (joined, rest): (Vec<Formula>, Vec<Formula>) =
            list.iter().partition(|&&a| waits(self, a) || self.is_eventuality(a));
        if joined.len() < 2 || !joined.iter().any(|&a| waits(self, a)) {
            return None;
        }
        let inner: Vec<Formula> = joined
            .iter()
            .map(|&a| match self.formulas.node(a) {
                Node::Finally(inner) => inner,
                _ => a,
            })
            .collect();
        let inner = self.formulas.or(inner);
        let mut parts = rest;
        parts.push(self.formulas.finally(inner));
        Some(self.formulas.or(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use generators::random;
    use ltl::{Spelling, negation_normal_form, satisfies};

    fn pulled(text: &str) -> String {
        let mut formulas = Formulas::new();
        let formula = ltl::parse(&mut formulas, text, base::SourceId::new(0), 0).unwrap().formula;
        let formula = pull_out(&mut formulas, formula, &mut Budget::unlimited()).unwrap();
        formulas.display(formula, Spelling::Spot).to_string()
    }

    #[test]
    fn eventualities_are_pulled_out() {
        assert_eq!(pulled("G F (a & F b)"), "G F a & G F b");
        assert_eq!(pulled("G (a & X F (b & X F c))"), "G a & G F b & G F c");
        assert_eq!(pulled("F a W F b"), "F (b | G F a)");
        assert_eq!(pulled("F G a | G F b"), "F (G a | G F b)");
        assert_eq!(pulled("X X G F a"), "G F a");
    }

    #[test]
    fn the_meaning_stays_the_same() {
        let mut draw = random::seeded(6);
        for _ in 0..4_000 {
            let size = 2 + draw(14);
            let (mut formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut draw);
            let budget = &mut Budget::unlimited();
            let normal = negation_normal_form(&mut formulas, formula, budget).unwrap();
            let others =
                [pull_out, drop_redundant].map(|rewrite| rewrite(&mut formulas, normal, budget).unwrap());
            for _ in 0..12 {
                let word = random::lasso(&propositions, 4, 4, &mut draw);
                let expected = satisfies(&formulas, normal, &word);
                for other in others {
                    let shown = [normal, other].map(|f| formulas.display(f, Spelling::Spot).to_string());
                    assert_eq!(satisfies(&formulas, other, &word), expected, "{shown:?} {word:?}");
                }
            }
        }
    }
}
