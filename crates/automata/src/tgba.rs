//! Automata on infinite words: transition-based generalized Büchi automata.
//!
//! # Idea
//! A TGBA reads a word letter by letter, where a letter is a valuation of propositions. An edge
//! carries the set of letters it may be taken with (its [`Label`]), a set of *marks*, and a target.
//! A run is accepting iff it sees each mark infinitely often; without marks every infinite run
//! is [giannakopoulou.02.forte]. A Büchi automaton (BA) is one with a single mark that each
//! state has on all of its outgoing edges or on none: see [`Tgba::is_state_based`].
//!
//! An automaton owns the pool of its labels, so it can be moved about freely; propositions are those
//! of a pool of formulas, which gives them names.

use base::{Budget, Limit};
use ltl::Prop;
use rustc_hash::FxHashMap;

use crate::label::{Label, Labels};
use crate::work::holding;

/// More marks than this are refused.
pub const MAX_MARKS: u32 = 64;

base::define_id! {
    /// A state of an automaton.
    pub struct State;
}

/// A set of marks, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks(pub u64);

impl Marks {
    /// No marks.
    pub const NONE: Marks = Marks(0);

    /// The marks `0..n`.
    pub fn all(n: u32) -> Marks {
        Marks(if n >= 64 { u64::MAX } else { (1 << n) - 1 })
    }

    /// The mark alone.
    pub fn single(mark: u32) -> Marks {
        Marks(1 << mark)
    }

    /// Whether the mark is in the set.
    pub fn contains(self, mark: u32) -> bool {
        mark < 64 && self.0 >> mark & 1 == 1
    }

    /// Whether all marks of `other` are in the set.
    pub fn includes(self, other: Marks) -> bool {
        other.0 & !self.0 == 0
    }

    /// The marks in one of the two.
    #[must_use]
    pub fn union(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// The marks in both.
    #[must_use]
    pub fn intersection(self, other: Marks) -> Marks {
        Marks(self.0 & other.0)
    }

    /// The marks in this set but not in the other.
    #[must_use]
    pub fn minus(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }

    /// The marks, smallest first.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..64).filter(move |&mark| self.contains(mark))
    }
}

/// An edge, kept with the state it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// Where it leads.
    pub target: State,
    /// What it contributes to acceptance.
    pub marks: Marks,
    /// The letters it may be taken with; never [`Label::FALSE`].
    pub label: Label,
}

/// A transition-based generalized Büchi automaton. See the head of the module.
#[derive(Clone, Debug)]
pub struct Tgba {
    labels: Labels,
    propositions: Vec<Prop>,
    edges: Vec<Vec<Edge>>,
    initial: State,
    n_marks: u32,
}

/// Building.
impl Tgba {
    /// An automaton with one state, which is initial, and no edges.
    ///
    /// # Panics
    /// If there are more than [`MAX_MARKS`] marks.
    pub fn new(n_marks: u32) -> Tgba {
        Tgba::with_labels(Labels::new(), n_marks)
    }

    pub(crate) fn with_labels(labels: Labels, n_marks: u32) -> Tgba {
        assert!(n_marks <= MAX_MARKS, "at most {MAX_MARKS} marks");
        Tgba { labels, propositions: vec![], edges: vec![vec![]], initial: State::new(0), n_marks }
    }

    /// A new state without edges.
    pub fn add_state(&mut self) -> State {
        self.edges.push(vec![]);
        State::new(self.edges.len() - 1)
    }

    /// So many new states without edges.
    pub(crate) fn add_states(&mut self, n: usize) {
        self.edges.resize(self.edges.len() + n, vec![]);
    }

    /// Adds an edge, unless no letter fits it. Edges with the same target and marks become one.
    ///
    /// # Panics
    /// If a state or mark does not exist.
    pub fn add_edge(&mut self, source: State, label: Label, marks: Marks, target: State) {
        assert!(target.index() < self.edges.len() && Marks::all(self.n_marks).includes(marks));
        if label == Label::FALSE {
            return;
        }
        let edges = &mut self.edges[source.index()];
        match edges.iter_mut().find(|edge| edge.target == target && edge.marks == marks) {
            Some(edge) => edge.label = self.labels.or(edge.label, label),
            None => edges.push(Edge { target, marks, label }),
        }
    }

    /// The same, ended by a budget that is spent: to look for the same target and marks takes time.
    pub(crate) fn add(&mut self, source: State, edge: Edge, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let Edge { target, marks, label } = edge;
        if label == Label::FALSE {
            return Ok(());
        }
        let edges = &mut self.edges[source.index()];
        (0..=edges.len() / EDGES_PER_TICK).try_for_each(|_| budget.tick())?;
        match edges.iter_mut().find(|edge| edge.target == target && edge.marks == marks) {
            Some(edge) => edge.label = self.labels.with(budget).or(edge.label, label)?,
            None => {
                budget.hold(size_of::<Edge>() as u64)?;
                edges.push(edge);
            }
        }
        Ok(())
    }

    /// Makes another state initial.
    ///
    /// # Panics
    /// If the state does not exist.
    pub fn set_initial(&mut self, state: State) {
        assert!(state.index() < self.edges.len());
        self.initial = state;
    }

    /// The pool to make labels in.
    pub fn labels_mut(&mut self) -> &mut Labels {
        &mut self.labels
    }

    /// Declares propositions, beyond those that occur in labels.
    pub fn declare(&mut self, propositions: impl IntoIterator<Item = Prop>) {
        self.propositions.extend(propositions);
        self.propositions.sort_unstable();
        self.propositions.dedup();
    }

    /// The pool, taken out to work in it; the automaton's labels live in it.
    pub(crate) fn take_labels(&mut self) -> Labels {
        std::mem::take(&mut self.labels)
    }

    pub(crate) fn edges_mut(&mut self, state: usize) -> &mut Vec<Edge> {
        &mut self.edges[state]
    }

    pub(crate) fn set_n_marks(&mut self, n_marks: u32) {
        self.n_marks = n_marks;
    }
}

/// Looking.
impl Tgba {
    /// The pool of the labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The propositions it may look at, sorted.
    pub fn propositions(&self) -> &[Prop] {
        &self.propositions
    }

    /// Where runs begin.
    pub fn initial(&self) -> State {
        self.initial
    }

    /// Number of marks, all of which an accepting run sees infinitely often.
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// The set of all marks.
    pub fn all_marks(&self) -> Marks {
        Marks::all(self.n_marks)
    }

    /// Number of states; at least one.
    pub fn n_states(&self) -> usize {
        self.edges.len()
    }

    /// Whether a state obviously accepts every word: it can stay for ever, and sees all marks.
    pub fn accepts_everything(&self, state: State) -> bool {
        let stays =
            |edge: &Edge| edge.target == state && edge.label == Label::TRUE && edge.marks == self.all_marks();
        self.edges(state).iter().any(stays)
    }

    /// The states.
    pub fn states(&self) -> impl Iterator<Item = State> + use<> {
        (0..self.edges.len()).map(State::new)
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// The edges that leave a state.
    pub fn edges(&self, state: State) -> &[Edge] {
        &self.edges[state.index()]
    }

    /// The edges that leave each state.
    pub(crate) fn all_edges(&self) -> &[Vec<Edge>] {
        &self.edges
    }

    /// Bytes that states and edges take, about.
    pub(crate) fn bytes(&self) -> u64 {
        (self.n_states() * size_of::<Vec<Edge>>() + self.n_edges() * size_of::<Edge>()) as u64
    }

    /// Whether at most one edge can be taken in each state with each letter.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_deterministic(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        Ok(self.n_nondeterministic_states(budget)? == 0)
    }

    /// Number of states in which some letter leaves a choice.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn n_nondeterministic_states(&self, budget: &mut Budget<'_>) -> Result<usize, Limit> {
        holding(budget, |budget| {
            let mut labels = self.labels.clone();
            let mut n_states = 0;
            for edges in &self.edges {
                let mut letters = edges.iter().map(|edge| edge.label);
                n_states += usize::from(!labels.with(budget).are_disjoint(&mut letters)?);
            }
            Ok(n_states)
        })
    }

    /// Whether every state can go on with every letter.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_complete(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        holding(budget, |budget| {
            let mut labels = self.labels.clone();
            for edges in &self.edges {
                if labels.with(budget).any(edges.iter().map(|edge| edge.label))? != Label::TRUE {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Whether the marks belong to states: all edges that leave a state carry the same.
    pub fn is_state_based(&self) -> bool {
        self.edges.iter().all(|edges| edges.iter().all(|edge| edge.marks == edges[0].marks))
    }

    /// The marks on all edges that leave the state.
    pub fn common_marks(&self, state: State) -> Marks {
        self.edges(state).iter().fold(self.all_marks(), |common, edge| common.intersection(edge.marks))
    }

    /// The same automaton with a pool that holds only its labels, and edges in order.
    pub(crate) fn compact(mut self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let mut labels = Labels::new();
        let mut memo = FxHashMap::default();
        for edges in &mut self.edges {
            for edge in edges.iter_mut() {
                budget.tick()?;
                edge.label = labels.import(&self.labels, edge.label, &mut memo);
                labels.tell(budget)?;
            }
            edges.sort_unstable();
        }
        self.labels = labels;
        Ok(self)
    }
}

/// Looking at so many edges takes about as long as one tick stands for.
const EDGES_PER_TICK: usize = 64;
