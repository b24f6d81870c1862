//! Syntactic implication: a quick, sound and incomplete test whether every word that satisfies one
//! formula satisfies another.
//!
//! # Idea
//! Rules compare two formulas by their shapes: `a U b` implies `g` if `a` and `b` both do; a
//! disjunction implies what all its parts imply. Three things keep the list short:
//! - Formulas carry a sign and are looked at through it, so negation needs no rules: `!(a U b)` is
//!   seen as `!a R !b`, and `a -> b` as `!a | b`.
//! - `f` implies `g` iff `!g` implies `!f`. So there are only rules that take `f` apart; taking `g`
//!   apart is the same with the signs turned.
//! - All of `U`, `W`, `R` and `M` say that something holds *until* something: one rule compares them.
//!
//! # Requirements and limits
//! Each rule asks about smaller formulas, so the test ends; answers are remembered, so it takes at
//! most the product of the two sizes. Larger pairs than [`MAX_SIZE`] or deeper ones than
//! [`MAX_DEPTH`] are not compared. "No" means "not seen".
//!
//! # References
//! Somenzi, Bloem, *Efficient Büchi automata from LTL formulae*, CAV 2000, introduced it; pure
//! eventualities and universalities as in Babiak, Křetínský, Řehák, Strejček, *LTL to Büchi automata
//! translation: fast and more deterministic*, TACAS 2012.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::classes::Classes;
use crate::formula::{Formula, Formulas, Node, Op};
use crate::nnf::dual;

/// Pairs of formulas whose sizes add up to more are not compared: time is what they cost.
const MAX_SIZE: u64 = 200;
/// Pairs of formulas whose depths add up to more are not compared: the rules recurse.
const MAX_DEPTH: u32 = 100;
/// When so many answers are remembered, all are forgotten.
const MAX_KNOWN: usize = 1 << 20;

/// Whether the shapes of the formulas show that every word that satisfies `f` satisfies `g`.
///
/// ```
/// # use stubborn_ltl::{Formulas, parse, syntactically_implies};
/// # let mut formulas = Formulas::new();
/// # let source = base::SourceId::new(0);
/// let mut formula = |text| parse(&mut formulas, text, source, 0).unwrap().formula;
/// let (f, g, h) = (formula("G a & b"), formula("a W c"), formula("F c"));
/// assert!(syntactically_implies(&formulas, f, g));
/// assert!(!syntactically_implies(&formulas, g, h));
/// ```
pub fn syntactically_implies(formulas: &Formulas, f: Formula, g: Formula) -> bool {
    let (f, g) = (Signed::new(formulas, f, false), Signed::new(formulas, g, false));
    Implication::new(&mut Budget::unlimited()).holds(formulas, f, g)
}

/// A formula or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Signed {
    /// Never a `Not`.
    formula: Formula,
    negated: bool,
}

impl Signed {
    pub(crate) fn new(formulas: &Formulas, formula: Formula, negated: bool) -> Signed {
        match formulas.node(formula) {
            Node::Not(inner) => Signed { formula: inner, negated: !negated },
            _ => Signed { formula, negated },
        }
    }

    pub(crate) fn not(self) -> Signed {
        Signed { negated: !self.negated, ..self }
    }

    pub(crate) fn classes(self, formulas: &Formulas) -> Classes {
        let classes = formulas.classes(self.formula);
        if self.negated { Classes::not(classes) } else { classes }
    }

    /// The operator and operands as seen through the sign. `<->` and `^` cannot be seen through.
    fn view(self, formulas: &Formulas) -> (Op, Vec<Signed>) {
        let sign = |operand: Formula, negated| Signed::new(formulas, operand, negated);
        let all = || formulas.operands(self.formula).iter().map(|&a| sign(a, self.negated)).collect();
        match (formulas.node(self.formula), self.negated) {
            (Node::Implies(a, b), false) => (Op::Or, vec![sign(a, true), sign(b, false)]),
            (Node::Implies(a, b), true) => (Op::And, vec![sign(a, false), sign(b, true)]),
            (_, false) => (formulas.op(self.formula), all()),
            (_, true) => (dual(formulas.op(self.formula)), all()),
        }
    }

    /// The same formula, up to `!(a <-> b)` being `a ^ b`.
    fn same(self, other: Signed, formulas: &Formulas) -> bool {
        let equivalence = |op| matches!(op, Op::Equivalent | Op::Xor);
        let ops = (formulas.op(self.formula), formulas.op(other.formula));
        self == other
            || (equivalence(ops.0)
                && equivalence(ops.1)
                && formulas.operands(self.formula) == formulas.operands(other.formula)
                && (ops.0 == ops.1) == (self.negated == other.negated))
    }
}

/// The test, with the answers given so far. Once the budget is spent, nothing is seen any more: whoever asks
/// learns of it by the next [tick](Implication::tick).
pub(crate) struct Implication<'b, 'w> {
    known: FxHashMap<(Signed, Signed), bool>,
    budget: &'b mut Budget<'w>,
    /// What the budget said at last.
    state: Result<(), Limit>,
}

/// An answer takes so many bytes, in a table that is not full.
const BYTES_PER_ANSWER: u64 = 2 * size_of::<(Signed, Signed, bool)>() as u64;

impl Drop for Implication<'_, '_> {
    fn drop(&mut self) {
        self.forget();
    }
}

impl<'b, 'w> Implication<'b, 'w> {
    /// Nothing is known yet.
    pub(crate) fn new(budget: &'b mut Budget<'w>) -> Implication<'b, 'w> {
        Implication { known: FxHashMap::default(), budget, state: Ok(()) }
    }

    /// A piece of work was done, here or by the one who asks.
    pub(crate) fn tick(&mut self) -> Result<(), Limit> {
        self.state = self.state.and_then(|()| self.budget.tick());
        self.state
    }

    fn forget(&mut self) {
        self.budget.release(self.known.len() as u64 * BYTES_PER_ANSWER);
        self.known.clear();
    }

    /// Whether `f` is seen to imply `g`.
    pub(crate) fn holds(&mut self, formulas: &Formulas, f: Signed, g: Signed) -> bool {
        if f.same(g, formulas) {
            return true;
        }
        if !comparable(formulas, f.formula, g.formula) {
            return false;
        }
        if let Some(&answer) = self.known.get(&(f, g)) {
            return answer;
        }
        if self.tick().is_err() {
            return false;
        }
        let answer = self.take_apart(formulas, f, g)
            || self.take_apart(formulas, g.not(), f.not())
            || self.compare(formulas, f, g);
        if self.known.len() >= MAX_KNOWN {
            self.forget();
        }
        self.state = self.state.and_then(|()| self.budget.hold(BYTES_PER_ANSWER));
        if self.state.is_ok() {
            self.known.insert((f, g), answer);
        }
        answer
    }

    /// Rules that only look at the root of `f`.
    fn take_apart(&mut self, formulas: &Formulas, f: Signed, g: Signed) -> bool {
        let (op, operands) = f.view(formulas);
        let eventuality = g.classes(formulas).is_pure_eventuality();
        let mut holds = |part: Signed| self.holds(formulas, part, g);
        match (op, &operands[..]) {
            (Op::False, _) => true,
            (Op::Or, parts) => parts.iter().all(|&part| holds(part)),
            (Op::And, parts) => parts.iter().any(|&part| holds(part)),
            (Op::Globally, &[a]) => holds(a),
            // `F g` and `X g` imply a pure eventuality `g`.
            (Op::Finally | Op::Next, &[a]) => eventuality && holds(a),
            (Op::Until, &[a, b]) => holds(b) && (eventuality || holds(a)),
            (Op::WeakUntil, &[a, b]) => holds(a) && holds(b),
            (Op::Release, &[_, b]) => holds(b),
            (Op::StrongRelease, &[a, b]) => holds(b) || (eventuality && holds(a)),
            _ => false,
        }
    }

    /// Rules that look at both roots.
    fn compare(&mut self, formulas: &Formulas, f: Signed, g: Signed) -> bool {
        let ((f_op, f_operands), (g_op, g_operands)) = (f.view(formulas), g.view(formulas));
        if let (Op::Next, &[a], Op::Next, &[b]) = (f_op, &f_operands[..], g_op, &g_operands[..]) {
            return self.holds(formulas, a, b);
        }
        let (Some(f_until), Some(g_until)) = (Until::new(f_op, &f_operands), Until::new(g_op, &g_operands))
        else {
            return false;
        };
        // Before `f` ends, what it holds must keep `g` going; where it ends, `g` must hold. If `f`
        // need not end, neither may `g` have to.
        (f_until.must_end || !g_until.must_end)
            && self.holds(formulas, f_until.hold, g_until.hold)
            && (self.any_holds(formulas, f_until.end, g)
                || g_until.end.iter().all(|&end| self.any_holds(formulas, f_until.end, end)))
    }

    /// Whether one of the formulas is seen to imply `g`, and so does their conjunction.
    fn any_holds(&mut self, formulas: &Formulas, any: &[Signed], g: Signed) -> bool {
        any.iter().any(|&f| self.holds(formulas, f, g))
    }
}

fn comparable(formulas: &Formulas, f: Formula, g: Formula) -> bool {
    formulas.size(f).saturating_add(formulas.size(g)) <= MAX_SIZE
        && formulas.depth(f) + formulas.depth(g) <= MAX_DEPTH
}

/// `U`, `W`, `R` or `M`: `hold` holds until all of `end` hold. Note that `a R b` is `b W (a & b)`.
struct Until<'a> {
    hold: Signed,
    end: &'a [Signed],
    must_end: bool,
}

impl Until<'_> {
    fn new(op: Op, operands: &[Signed]) -> Option<Until<'_>> {
        let &[a, b] = operands else { return None };
        let (hold, end) = match op {
            Op::Until | Op::WeakUntil => (a, &operands[1..]),
            Op::Release | Op::StrongRelease => (b, operands),
            _ => return None,
        };
        Some(Until { hold, end, must_end: matches!(op, Op::Until | Op::StrongRelease) })
    }
}
