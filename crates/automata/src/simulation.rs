//! Reduction by simulation, forwards and backwards.
//!
//! # Idea
//! A state *q'* simulates *q* if it can do all that *q* can: each edge of *q* is matched, letter by
//! letter, by one of *q'* with the same or more marks, to a state that simulates *q*'s target.
//! States that simulate each other are merged, and an edge is dropped if another one with the
//! same letter is at least as good. Backwards, the same is asked of incoming edges and of being
//! initial; it also keeps the language.
//!
//! The relation is computed by refining classes of states. The *signature* of a state is a diagram:
//! the disjunction over its edges of the letters, the missing marks, and the classes that are
//! at least as good as the target's. It is monotone in the latter two, so *q'* simulates *q* as
//! far as the classes can tell iff *q*'s signature implies that of *q'*; equal signatures are equal
//! numbers. When nothing changes any more, the edges of the smaller automaton are the prime
//! implicants of the signatures [babiak.13.spin].
//!
//! With [`Relation::Bisimulation`] a class is at least as good only as itself: less is merged, in
//! less time.
//!
//! # References
//! [etessami.01.icalp] for direct simulation and the dropping of edges, [somenzi.00.cav] for the reverse.

use rustc_hash::FxHashMap;

use crate::clean::trim;
use crate::label::{FIRST_HIDDEN, Label, Labels};
use crate::tgba::{Marks, State, Tgba};

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// What can still happen.
    Forward,
    /// What can have happened.
    Backward,
}

/// What makes one class of states at least as good as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Being the same.
    Bisimulation,
    /// Simulating it.
    Simulation,
}

/// Being initial, in backward signatures.
const INITIAL: u32 = FIRST_HIDDEN;
/// Having marks on all outgoing edges, in backward signatures of state-based automata.
const ACCEPTING: u32 = FIRST_HIDDEN + 1;
const FIRST_MARK: u32 = FIRST_HIDDEN + 2;
const FIRST_CLASS: u32 = FIRST_MARK + 64;

/// A smaller automaton with the same language, and state-based if the given one is.
#[must_use]
pub fn reduce(mut tgba: Tgba, direction: Direction, relation: Relation) -> Tgba {
    let labels = tgba.take_labels();
    let mut refinement = Refinement::new(&tgba, labels, direction, relation);
    while refinement.refine() {}
    trim(refinement.quotient(&tgba))
}

struct Refinement {
    labels: Labels,
    direction: Direction,
    relation: Relation,
    n_marks: u32,
    /// For each state its edges (forward: outgoing): letters with missing marks, and the other end.
    edges: Vec<Vec<(Label, usize)>>,
    /// For each state what its signature contains besides edges.
    base: Vec<Label>,
    /// The class of each state.
    class: Vec<usize>,
    /// The classes that are at least as good as a class, itself included, sorted.
    better: Vec<Vec<usize>>,
    /// The signature of each class.
    signature: Vec<Label>,
}

impl Refinement {
    fn new(tgba: &Tgba, mut labels: Labels, direction: Direction, relation: Relation) -> Refinement {
        let n = tgba.n_states();
        let mut edges = vec![vec![]; n];
        for state in tgba.states() {
            for edge in tgba.edges(state) {
                let missing = tgba.all_marks().minus(edge.marks);
                let missing = labels.cube(missing.iter().map(|mark| FIRST_MARK + mark));
                let label = labels.and(edge.label, missing);
                let (source, target) = (state.index(), edge.target.index());
                match direction {
                    Direction::Forward => edges[source].push((label, target)),
                    Direction::Backward => edges[target].push((label, source)),
                }
            }
        }
        let mut base = vec![Label::FALSE; n];
        if direction == Direction::Backward {
            let initial = &mut base[tgba.initial().index()];
            *initial = labels.variable(INITIAL);
            add_state_marks(tgba, &mut labels, &mut base);
        }
        let (class, better, signature) = (vec![0; n], vec![vec![0]], vec![]);
        let n_marks = tgba.n_marks();
        Refinement { labels, direction, relation, n_marks, edges, base, class, better, signature }
    }

    /// One round; whether it changed anything.
    fn refine(&mut self) -> bool {
        let better = std::mem::take(&mut self.better);
        let cubes: Vec<Label> = better
            .iter()
            .map(|classes| self.labels.cube(classes.iter().map(|&class| FIRST_CLASS + class as u32)))
            .collect();
        let mut numbers: FxHashMap<Label, usize> = FxHashMap::default();
        let mut old_class = vec![];
        let mut class = Vec::with_capacity(self.class.len());
        self.signature.clear();
        for state in 0..self.class.len() {
            let signature = self.signature_of(state, &cubes);
            class.push(*numbers.entry(signature).or_insert_with(|| {
                self.signature.push(signature);
                old_class.push(self.class[state]);
                old_class.len() - 1
            }));
        }
        self.class = class;
        self.better = self.order(&better, &old_class);
        self.better.len() != better.len() || self.better != better
    }

    fn signature_of(&mut self, state: usize, cubes: &[Label]) -> Label {
        let mut signature = self.base[state];
        for &(label, end) in &self.edges[state] {
            let edge = self.labels.and(label, cubes[self.class[end]]);
            signature = self.labels.or(signature, edge);
        }
        signature
    }

    /// For each class those at least as good; only pairs that were ordered before can be.
    fn order(&mut self, old: &[Vec<usize>], old_class: &[usize]) -> Vec<Vec<usize>> {
        let n = self.signature.len();
        if self.relation == Relation::Bisimulation {
            return (0..n).map(|class| vec![class]).collect();
        }
        let mut order = Vec::with_capacity(n);
        for a in 0..n {
            let above = &old[old_class[a]];
            let better = (0..n).filter(|&b| {
                above.binary_search(&old_class[b]).is_ok()
                    && self.labels.implies(self.signature[a], self.signature[b])
            });
            order.push(better.collect());
        }
        order
    }

    /// The automaton of the classes.
    fn quotient(mut self, tgba: &Tgba) -> Tgba {
        let names: FxHashMap<Vec<usize>, usize> =
            self.better.iter().enumerate().map(|(class, better)| (better.clone(), class)).collect();
        let mut edges = vec![];
        for (class, &signature) in self.signature.iter().enumerate() {
            for (letters, leaf) in self.labels.leaves(signature) {
                for prime in self.labels.primes(leaf) {
                    let (marks, classes) = self.read(&prime);
                    if let Some(&end) = names.get(&classes) {
                        edges.push((class, letters, marks, end));
                    }
                }
            }
        }
        let mut quotient = Tgba::with_labels(self.labels, self.n_marks);
        quotient.declare(tgba.propositions().iter().copied());
        quotient.add_states(self.signature.len() - 1);
        for (class, letters, marks, end) in edges {
            let (source, target) = match self.direction {
                Direction::Forward => (class, end),
                Direction::Backward => (end, class),
            };
            quotient.add_edge(State::new(source), letters, marks, State::new(target));
        }
        quotient.set_initial(State::new(self.class[tgba.initial().index()]));
        quotient
    }

    /// The marks and the classes of a prime implicant.
    fn read(&self, prime: &[u32]) -> (Marks, Vec<usize>) {
        let mut marks = Marks::all(self.n_marks);
        let mut classes = vec![];
        for &variable in prime {
            if variable >= FIRST_CLASS {
                classes.push((variable - FIRST_CLASS) as usize);
            } else if variable >= FIRST_MARK {
                marks = marks.minus(Marks::single(variable - FIRST_MARK));
            }
        }
        (marks, classes)
    }
}

/// Where marks belong to states, a state is only as good as one with the same marks or more.
fn add_state_marks(tgba: &Tgba, labels: &mut Labels, base: &mut [Label]) {
    if tgba.n_marks() != 1 || !tgba.is_state_based() {
        return;
    }
    let accepting = labels.variable(ACCEPTING);
    for state in tgba.states().filter(|&state| tgba.common_marks(state) == tgba.all_marks()) {
        let base = &mut base[state.index()];
        *base = labels.or(*base, accepting);
    }
}
