//! The pool of formulas: every formula is stored once and named by a number.
//!
//! # Idea
//! Formulas are *hash-consed*: building the same formula twice gives the same [`Formula`], so
//! equality is a comparison of two numbers and equal subformulas are shared. Operands are made
//! before the formula that uses them; a subformula therefore always has a smaller number. Hence any
//! bottom-up computation is a loop over [`Formulas::subformulas`] and needs no recursion: formulas
//! may be nested deeper than any call stack.
//!
//! # What the constructors already do
//! Every formula of a pool obeys these laws, so nobody else has to check them:
//! - the operands of `And` and `Or` are flat (no `And` directly inside `And`), sorted, without
//!   duplicates, and at least two; the two operands of `Equivalent` and `Xor` are sorted;
//! - a constant is never an operand (`true U a` is `F a`, `a W false` is `G a`, and so on);
//! - negation is never applied to a negation.
//!
//! Everything else is left as it was written; [`simplify`](crate::simplify()) goes further.

use std::sync::Arc;

use base::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classes::Classes;

base::define_id! {
    /// A proposition of a pool of [`Formulas`]: something that holds or does not hold in a state.
    pub struct Prop;
}

base::define_id! {
    /// A formula of a pool of [`Formulas`]. Two formulas of one pool are the same formula iff
    /// their ids are equal.
    pub struct Formula;
}

impl Formula {
    /// The formula that every word satisfies; the same in every pool.
    pub const TRUE: Formula = Formula(0);
    /// The formula that no word satisfies; the same in every pool.
    pub const FALSE: Formula = Formula(1);

    /// Whether this is `true` or `false`.
    pub fn is_constant(self) -> bool {
        self == Formula::TRUE || self == Formula::FALSE
    }
}

/// What stands at the root of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// `true`.
    True,
    /// `false`.
    False,
    /// A proposition.
    Prop(Prop),
    /// `!a`.
    Not,
    /// `X a`: at the next position.
    Next,
    /// `F a`: now or at some later position.
    Finally,
    /// `G a`: now and at every later position.
    Globally,
    /// `a & b & …`: two operands or more.
    And,
    /// `a | b | …`: two operands or more.
    Or,
    /// `a -> b`.
    Implies,
    /// `a <-> b`.
    Equivalent,
    /// `a ^ b`: exactly one of the two.
    Xor,
    /// `a U b`: `b` comes, and `a` holds until just before it.
    Until,
    /// `a R b`: `b` holds up to and including the moment when `a` comes, which may be never.
    Release,
    /// `a W b`: `a U b`, or `a` for ever.
    WeakUntil,
    /// `a M b`: `a R b`, and `a` does come.
    StrongRelease,
}

/// A formula taken apart, to be matched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'p> {
    /// `true`.
    True,
    /// `false`.
    False,
    /// A proposition.
    Prop(Prop),
    /// `!a`.
    Not(Formula),
    /// `X a`.
    Next(Formula),
    /// `F a`.
    Finally(Formula),
    /// `G a`.
    Globally(Formula),
    /// `a & b & …`: sorted, no duplicates, at least two.
    And(&'p [Formula]),
    /// `a | b | …`: sorted, no duplicates, at least two.
    Or(&'p [Formula]),
    /// `a -> b`.
    Implies(Formula, Formula),
    /// `a <-> b`.
    Equivalent(Formula, Formula),
    /// `a ^ b`.
    Xor(Formula, Formula),
    /// `a U b`.
    Until(Formula, Formula),
    /// `a R b`.
    Release(Formula, Formula),
    /// `a W b`.
    WeakUntil(Formula, Formula),
    /// `a M b`.
    StrongRelease(Formula, Formula),
}

/// What makes a formula this one and not another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    op: Op,
    operands: Arc<[Formula]>,
}

/// A stored formula, with what is asked about it again and again.
#[derive(Clone, Debug)]
struct Entry {
    term: Term,
    depth: u32,
    size: u64,
    classes: Classes,
}

/// A stored proposition.
#[derive(Clone, Debug)]
struct Proposition {
    text: Arc<str>,
    span: Option<Span>,
}

/// A pool of formulas and of the propositions they speak about. See the head of the module.
#[derive(Clone, Debug)]
pub struct Formulas {
    entries: Vec<Entry>,
    unique: FxHashMap<Term, Formula>,
    propositions: Vec<Proposition>,
    by_text: FxHashMap<Arc<str>, Prop>,
}

impl Default for Formulas {
    fn default() -> Formulas {
        Formulas::new()
    }
}

/// Looking at formulas.
impl Formulas {
    /// A pool with the two constants and no proposition.
    pub fn new() -> Formulas {
        let mut formulas = Formulas {
            entries: Vec::new(),
            unique: FxHashMap::default(),
            propositions: Vec::new(),
            by_text: FxHashMap::default(),
        };
        let constants = (formulas.intern(Op::True, &[]), formulas.intern(Op::False, &[]));
        debug_assert_eq!(constants, (Formula::TRUE, Formula::FALSE));
        formulas
    }

    /// The formula taken apart.
    pub fn node(&self, formula: Formula) -> Node<'_> {
        let Term { op, operands } = &self.entries[formula.index()].term;
        match (op, &**operands) {
            (Op::False, _) => Node::False,
            (Op::Prop(prop), _) => Node::Prop(*prop),
            (Op::And, list) => Node::And(list),
            (Op::Or, list) => Node::Or(list),
            (Op::Not, &[a]) => Node::Not(a),
            (Op::Next, &[a]) => Node::Next(a),
            (Op::Finally, &[a]) => Node::Finally(a),
            (Op::Globally, &[a]) => Node::Globally(a),
            (Op::Implies, &[a, b]) => Node::Implies(a, b),
            (Op::Equivalent, &[a, b]) => Node::Equivalent(a, b),
            (Op::Xor, &[a, b]) => Node::Xor(a, b),
            (Op::Until, &[a, b]) => Node::Until(a, b),
            (Op::Release, &[a, b]) => Node::Release(a, b),
            (Op::WeakUntil, &[a, b]) => Node::WeakUntil(a, b),
            (Op::StrongRelease, &[a, b]) => Node::StrongRelease(a, b),
            // Only `true` is left: the constructors give every operator its number of operands.
            _ => Node::True,
        }
    }

    /// What stands at the root.
    pub fn op(&self, formula: Formula) -> Op {
        self.entries[formula.index()].term.op
    }

    /// The operands of the root; none for constants and propositions.
    pub fn operands(&self, formula: Formula) -> &[Formula] {
        &self.entries[formula.index()].term.operands
    }

    /// How deep operators are nested; 0 for constants and propositions.
    pub fn depth(&self, formula: Formula) -> u32 {
        self.entries[formula.index()].depth
    }

    /// Number of operators, propositions and constants, shared subformulas counted each time, and
    /// an `And` or `Or` of *n* operands as *n* − 1 operators.
    pub fn size(&self, formula: Formula) -> u64 {
        self.entries[formula.index()].size
    }

    /// What the shape of the formula shows about it.
    pub fn classes(&self, formula: Formula) -> Classes {
        self.entries[formula.index()].classes
    }

    /// Number of formulas in the pool, the constants included.
    pub fn n_formulas(&self) -> usize {
        self.entries.len()
    }

    /// The formula and all its subformulas, each once, operands before what uses them.
    pub fn subformulas(&self, formula: Formula) -> Vec<Formula> {
        let mut seen = FxHashSet::from_iter([formula]);
        let mut found = vec![formula];
        let mut next = 0;
        while let Some(&formula) = found.get(next) {
            next += 1;
            found.extend(self.operands(formula).iter().filter(|&&operand| seen.insert(operand)));
        }
        found.sort_unstable();
        found
    }

    /// The propositions that occur in the formula, sorted.
    pub fn propositions(&self, formula: Formula) -> Vec<Prop> {
        let occurring = self.subformulas(formula).into_iter().filter_map(|sub| match self.op(sub) {
            Op::Prop(prop) => Some(prop),
            _ => None,
        });
        let mut propositions: Vec<Prop> = occurring.collect();
        propositions.sort_unstable();
        propositions
    }
}

/// Propositions.
impl Formulas {
    /// The proposition of this text. Blanks at both ends are dropped, other runs of blanks become
    /// one, so that the same text broken over lines is the same proposition. The text should not be
    /// all blank: no spelling can express that.
    pub fn proposition(&mut self, text: &str) -> Prop {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(&prop) = self.by_text.get(text.as_str()) {
            return prop;
        }
        let prop = Prop::new(self.propositions.len());
        let text: Arc<str> = text.into();
        self.by_text.insert(text.clone(), prop);
        self.propositions.push(Proposition { text, span: None });
        prop
    }

    /// Remembers where a proposition was written, unless a place is known already.
    pub(crate) fn note_place(&mut self, prop: Prop, span: Span) {
        self.propositions[prop.index()].span.get_or_insert(span);
    }

    /// The text of a proposition, for a front end to resolve.
    pub fn text(&self, prop: Prop) -> &str {
        &self.propositions[prop.index()].text
    }

    /// Where the proposition was first written, if it came from a text.
    pub fn place(&self, prop: Prop) -> Option<Span> {
        self.propositions[prop.index()].span
    }

    /// Number of propositions in the pool; their ids are `0..n_propositions()`.
    pub fn n_propositions(&self) -> usize {
        self.propositions.len()
    }
}

impl Formulas {
    /// Stores a formula that obeys the laws of the head, or finds it.
    pub(crate) fn intern(&mut self, op: Op, operands: &[Formula]) -> Formula {
        let term = Term { op, operands: operands.into() };
        if let Some(&formula) = self.unique.get(&term) {
            return formula;
        }
        let formula = Formula::new(self.entries.len());
        self.entries.push(Entry {
            depth: operands.iter().map(|&operand| self.depth(operand) + 1).max().unwrap_or(0),
            size: operands
                .iter()
                .fold(own_size(op, operands), |size, &operand| size.saturating_add(self.size(operand))),
            classes: self.classes_of(op, operands),
            term: term.clone(),
        });
        self.unique.insert(term, formula);
        formula
    }

    fn classes_of(&self, op: Op, operands: &[Formula]) -> Classes {
        let classes = |index: usize| self.classes(operands[index]);
        match op {
            Op::True | Op::False => Classes::CONSTANT,
            Op::Prop(_) => Classes::PROPOSITION,
            Op::Not => Classes::not(classes(0)),
            Op::Next => Classes::next(classes(0)),
            Op::Finally => Classes::finally(classes(0)),
            Op::Globally => Classes::globally(classes(0)),
            Op::And | Op::Or => {
                operands.iter().map(|&a| self.classes(a)).fold(Classes::CONSTANT, Classes::both)
            }
            Op::Implies => Classes::implies(classes(0), classes(1)),
            Op::Equivalent | Op::Xor => Classes::equivalent(classes(0), classes(1)),
            Op::Until => Classes::until(classes(0), classes(1)),
            Op::Release => Classes::release(classes(0), classes(1)),
            Op::WeakUntil => Classes::weak_until(classes(0), classes(1)),
            Op::StrongRelease => Classes::strong_release(classes(0), classes(1)),
        }
    }
}

/// What the root adds to the size of the operands.
fn own_size(op: Op, operands: &[Formula]) -> u64 {
    match op {
        Op::And | Op::Or => operands.len() as u64 - 1,
        _ => 1,
    }
}
