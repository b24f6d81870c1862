//! Simplification by rewriting: an equivalent formula that is never larger, and often smaller or
//! easier to translate into an automaton.
//!
//! # Idea
//! Subformulas first, every formula is rewritten by the first rule that applies to its root, until
//! none does. Rules are local identities; many hold only if one operand
//! [implies](crate::syntactically_implies) another, or is a pure eventuality or universality.
//!
//! Temporal logic is symmetric under negation: to every rule for `F`, `U`, `W` and `|` belongs one
//! for `G`, `R`, `M` and `&`. Each rule is therefore written once and read through a `Mirror`,
//! which turns operators, implications and classes into their duals where needed.
//!
//! # Why it ends, and does not undo itself
//! No rule makes a formula larger. Those that keep the size replace an equivalence by a simpler
//! operator, or else push a negation inwards, or else make a temporal operator other than `X` go
//! away or span less. So each step makes this list of numbers smaller, compared from the left: the
//! size; the number of `<->` and `^`; the sum of the sizes of all negated formulas; the sum of the
//! sizes of all formulas that begin with a temporal operator other than `X`. In the result no rule
//! applies anywhere, so simplifying it again does nothing.
//!
//! # Requirements and limits
//! Any formula. Before translation it pays to simplify twice, once as it is written and once its
//! [negation normal form](crate::negation_normal_form): the latter may grow, so it should start from
//! a small formula, but rules see more of it (not through `<->`, `^`, and negations that would grow when
//! pushed inwards). Conjunctions and disjunctions of more than [`MAX_COMPARED`] operands are only
//! searched for contradictory pairs.
//!
//! # References
//! Etessami, Holzmann, *Optimizing Büchi automata*, CONCUR 2000; Somenzi, Bloem, *Efficient Büchi
//! automata from LTL formulae*, CAV 2000; Babiak, Křetínský, Řehák, Strejček, *LTL to Büchi automata
//! translation: fast and more deterministic*, TACAS 2012. Rules of these papers that can make a
//! formula larger (`a W e = G a | e`) are left out.

mod boolean;
mod lattice;
mod mirror;
mod temporal;

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::formula::{Formula, Formulas, Op};
use crate::implication::Implication;

/// The operands of longer conjunctions and disjunctions are not compared pairwise.
pub const MAX_COMPARED: usize = 32;

/// An equivalent formula that is not larger. Doing it twice does no more than doing it once.
///
/// ```
/// # use stubborn_ltl::{Formulas, Spelling, parse, simplify};
/// # let mut formulas = Formulas::new();
/// # let source = base::SourceId::new(0);
/// let formula = parse(&mut formulas, "F (a U G F b) & (a W G F b | !a)", source, 0).unwrap().formula;
/// let simple = simplify(&mut formulas, formula, &mut base::Budget::unlimited()).unwrap();
/// assert_eq!(formulas.display(simple, Spelling::Spot).to_string(), "G F b");
/// ```
///
/// # Errors
/// The budget is spent.
pub fn simplify(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Formula, Limit> {
    let implication = Implication::new(budget);
    Simplifier { formulas, implication, simple: FxHashMap::default() }.run(formula)
}

struct Simplifier<'p, 'b, 'w> {
    formulas: &'p mut Formulas,
    implication: Implication<'b, 'w>,
    /// What is known to be the simplest form of a formula; such forms map to themselves.
    simple: FxHashMap<Formula, Formula>,
}

impl Simplifier<'_, '_, '_> {
    /// The call stack is explicit, since formulas may be deep: a formula waits on the stack until
    /// its operands, and then what it was rewritten to, are simple.
    fn run(mut self, formula: Formula) -> Result<Formula, Limit> {
        let mut rewritten: FxHashMap<Formula, Formula> = FxHashMap::default();
        let mut stack = vec![formula];
        while let Some(&current) = stack.last() {
            self.implication.tick()?;
            if self.simple.contains_key(&current) {
                stack.pop();
            } else if let Some(next) = rewritten.get(&current) {
                match self.simple.get(next) {
                    Some(&simple) => drop(self.simple.insert(current, simple)),
                    None => stack.push(*next),
                }
            } else if !self.push_operands(current, &mut stack) {
                let next = self.step(current);
                debug_assert!(self.formulas.size(next) <= self.formulas.size(current));
                if next == current {
                    self.simple.insert(current, current);
                } else {
                    rewritten.insert(current, next);
                }
            }
        }
        self.implication.tick()?;
        Ok(self.simple[&formula])
    }

    /// Pushes the operands that are not simplified yet; whether there were any.
    fn push_operands(&self, formula: Formula, stack: &mut Vec<Formula>) -> bool {
        let before = stack.len();
        let operands = self.formulas.operands(formula).iter();
        stack.extend(operands.filter(|operand| !self.simple.contains_key(operand)));
        stack.len() > before
    }

    /// One step of rewriting: operands by their simple forms, or else the root by a rule.
    fn step(&mut self, formula: Formula) -> Formula {
        let operands: Vec<Formula> =
            self.formulas.operands(formula).iter().map(|operand| self.simple[operand]).collect();
        let op = self.formulas.op(formula);
        if operands != self.formulas.operands(formula) {
            return self.formulas.apply(op, &operands);
        }
        self.rule(op, &operands).unwrap_or(formula)
    }

    /// The first rule that applies to the root.
    fn rule(&mut self, op: Op, operands: &[Formula]) -> Option<Formula> {
        match (op, operands) {
            (Op::Not, &[a]) => self.not(a),
            (Op::Implies, &[a, b]) => self.implies(a, b),
            (Op::Equivalent, &[a, b]) => self.equivalent(a, b),
            (Op::Xor, &[a, b]) => self.xor(a, b),
            (Op::Next, &[a]) => self.mirror(false).next(a),
            (Op::Finally, &[a]) => self.mirror(false).finally(a),
            (Op::Globally, &[a]) => self.mirror(true).finally(a),
            (Op::Until, &[a, b]) => self.mirror(false).until(a, b),
            (Op::Release, &[a, b]) => self.mirror(true).until(a, b),
            (Op::WeakUntil, &[a, b]) => self.mirror(false).weak_until(a, b),
            (Op::StrongRelease, &[a, b]) => self.mirror(true).weak_until(a, b),
            (Op::Or, operands) => self.mirror(false).or(operands),
            (Op::And, operands) => self.mirror(true).or(operands),
            _ => None,
        }
    }
}
