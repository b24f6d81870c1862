//! Testing automata that are made while they watch.
//!
//! # Idea
//! A state of a testing automaton is a state of a TGBA together with a valuation. In a product the
//! valuation is known from the state of the system, so the observer's state is that of the TGBA alone,
//! and the automaton is never written down: 2^|AP| is no problem. For each valuation that is met, the
//! TGBA is restricted to the edges that read it:
//! - a state *can wait* if from it a cycle with all marks can be reached there (G in [bensalem.12.topnoc]);
//! - a state *waits* if it lies on such a cycle;
//! - states with the same edges to the same targets are one, since there is nothing to tell them apart.
//!
//! When the valuation changes, a state takes its edges for the old one. That loses nothing, since
//! the language does not see stuttering: a word is accepted iff it is with each letter read once, unless
//! one letter repeats for ever.
//!
//! A state with a single edge for the new valuation, to a state that has a loop there, is left at once: the
//! letter is read twice, which the language does not see either. So what a formula waits for is noticed
//! when it happens, not when something else does.
//!
//! As a TA, states that can wait are livelock states. As a TGTA, states that wait have a stuttering loop
//! with all marks, and whoever steps into a state that can wait, but does not, may step to the one extra
//! state instead, which does nothing but wait.
//!
//! # Requirements and limits
//! The language of the TGBA must not see stuttering.
//!
//! # Differences from the paper
//! [bensalem.12.topnoc] builds pairs of states and valuations (Properties 2 to 5), and adds a step to each
//! state of the cycles that can be reached (Property 5.2). One state that waits is enough: a run that leaves
//! a cycle again is a run of the states that did not jump. Marks may be any number, also for TA.
//!
//! # References
//! [bensalem.12.topnoc], Sections 2.3 and 3.

use automata::tgba::{State, Tgba};
use fixedbitset::FixedBitSet;
use ltl::Prop;
use rustc_hash::FxHashMap;

use super::by_value::{on_accepting_cycles, recurrent_states, universal_states, valuation};
use super::{Event, Observer, ObserverStep, Stance, Valuations, Watches};

/// Which testing automaton is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With livelock states.
    Ta,
    /// With marks on stuttering loops.
    Tgta,
}

/// A testing automaton, made from a TGBA while it watches a run.
#[derive(Clone)]
pub struct Lazy<'a> {
    tgba: &'a Tgba,
    kind: Kind,
    propositions: Vec<Prop>,
    /// An automaton without marks gets one, on all steps with a change.
    all_marks: u64,
    /// The states that accept at once.
    at_once: FixedBitSet,
    /// The states of the TGBA that accepted runs may come back to for ever.
    recurrent: FixedBitSet,
    views: Vec<View>,
    /// Per state and pair of valuations, the range of `steps`.
    rows: FxHashMap<(u32, u32, u32), (u32, u32)>,
    steps: Vec<ObserverStep>,
}

/// What the automaton is under one valuation.
#[derive(Clone)]
struct View {
    /// Per state, its edges: target and marks.
    edges: Vec<Vec<ObserverStep>>,
    /// Per state, where it is left for at once, by the only edge that it has.
    left_for: Vec<Option<ObserverStep>>,
    /// Per state, the first state that is just like it.
    same_as: Vec<u32>,
    waits: FixedBitSet,
    can_wait: FixedBitSet,
    /// The states that stand for one that accepted runs may come back to for ever.
    recurrent: FixedBitSet,
}

impl<'a> Lazy<'a> {
    /// An observer whose valuations have these propositions, in the order of their bits.
    pub fn new(tgba: &'a Tgba, kind: Kind, propositions: Vec<Prop>) -> Lazy<'a> {
        Lazy {
            tgba,
            kind,
            propositions,
            all_marks: tgba.all_marks().0.max(1),
            at_once: FixedBitSet::new(),
            recurrent: recurrent_states(tgba),
            views: Vec::new(),
            rows: FxHashMap::default(),
            steps: Vec::new(),
        }
    }

    /// The same, which accepts at once in states from which everything is accepted. That is right only if
    /// every run goes on for ever.
    #[must_use]
    pub fn stopping(mut self) -> Lazy<'a> {
        self.at_once = universal_states(self.tgba);
        self
    }

    /// The extra state of a TGTA.
    fn waiting(&self) -> u32 {
        self.tgba.n_states() as u32
    }

    fn look_at(&mut self, number: u32, valuations: &Valuations) {
        while self.views.len() <= number as usize {
            let valuation = valuation(self.views.len() as u32, valuations, &self.propositions);
            let labels = self.tgba.labels();
            // Without marks every edge has the one that was added.
            let added = if self.tgba.n_marks() == 0 { 1 } else { 0 };
            let edges = |state: State| {
                let fits = self.tgba.edges(state).iter().filter(|edge| labels.holds(edge.label, &valuation));
                let step = |edge: &automata::Edge| ObserverStep {
                    to: edge.target.index() as u32,
                    marks: edge.marks.0 | added,
                };
                fits.map(step).collect()
            };
            let edges = self.tgba.states().map(edges).collect();
            self.views.push(View::new(edges, self.all_marks, &self.recurrent));
        }
    }

    /// The steps into `target` under a valuation, by an edge with these marks.
    fn enter(&mut self, target: u32, marks: u64, valuation: u32) {
        let view = &self.views[valuation as usize];
        let (at, marks) = match view.left_for[target as usize] {
            Some(step) => (step.to as usize, marks | step.marks),
            None => (target as usize, marks),
        };
        if view.edges[at].is_empty() {
            return;
        }
        let to = view.same_as[at];
        // Waiting is tried first: where it is accepted, nothing else need be.
        if self.kind == Kind::Tgta && view.can_wait.contains(at) && !view.waits.contains(at) {
            self.steps.push(ObserverStep { to: self.waiting(), marks });
        }
        self.steps.push(ObserverStep { to, marks });
    }

    fn compute(&mut self, state: u32, event: Event) -> (u32, u32) {
        let start = self.steps.len();
        if event.from == event.to {
            let waits = self.kind == Kind::Tgta
                && (state == self.waiting()
                    || self.views[event.from as usize].waits.contains(state as usize));
            let marks = if waits { self.all_marks } else { 0 };
            self.steps.push(ObserverStep { to: state, marks });
        } else if state != self.waiting() {
            let edges = std::mem::take(&mut self.views[event.from as usize].edges[state as usize]);
            edges.iter().for_each(|edge| self.enter(edge.to, edge.marks, event.to));
            self.views[event.from as usize].edges[state as usize] = edges;
            drop_repeated(&mut self.steps, start);
        }
        (start as u32, self.steps.len() as u32)
    }
}

/// Drops, from a place on, steps that do nothing another one does not.
fn drop_repeated(steps: &mut Vec<ObserverStep>, start: usize) {
    let all = steps.split_off(start);
    for (index, step) in all.iter().enumerate() {
        let says_more = |(other_index, other): (usize, &ObserverStep)| {
            let is_equal = other.marks == step.marks;
            other.to == step.to
                && other.marks | step.marks == other.marks
                && (!is_equal || other_index < index)
        };
        if !all.iter().enumerate().any(says_more) {
            steps.push(*step);
        }
    }
}

impl View {
    fn new(mut edges: Vec<Vec<ObserverStep>>, all_marks: u64, of_tgba: &FixedBitSet) -> View {
        for row in &mut edges {
            row.sort_unstable_by_key(|step| (step.to, step.marks));
            row.dedup();
        }
        let waits = on_accepting_cycles(&edges, all_marks);
        let can_wait = can_reach(&edges, &waits);
        let mut first = FxHashMap::default();
        let mut same_as = Vec::new();
        for (state, row) in edges.iter().enumerate() {
            let row: Vec<(u32, u64)> = row.iter().map(|step| (step.to, step.marks)).collect();
            let key = (row, waits.contains(state), can_wait.contains(state));
            same_as.push(*first.entry(key).or_insert(state as u32));
        }
        let has_loop = |state: u32| edges[state as usize].iter().any(|step| step.to == state);
        let left_for = |(state, row): (usize, &Vec<ObserverStep>)| match row[..] {
            [step] if step.to as usize != state && has_loop(step.to) => Some(step),
            _ => None,
        };
        let left_for = edges.iter().enumerate().map(left_for).collect();
        let recurrent = of_tgba.ones().map(|state| same_as[state] as usize).collect();
        View { edges, left_for, same_as, waits, can_wait, recurrent }
    }
}

fn can_reach(edges: &[Vec<ObserverStep>], goal: &FixedBitSet) -> FixedBitSet {
    let mut reached = goal.clone();
    reached.grow(edges.len());
    loop {
        let next = |state: &usize| {
            !reached.contains(*state) && edges[*state].iter().any(|step| reached.contains(step.to as usize))
        };
        let found: Vec<usize> = (0..edges.len()).filter(next).collect();
        if found.is_empty() {
            return reached;
        }
        reached.extend(found);
    }
}

impl Observer for Lazy<'_> {
    fn watches(&self) -> Watches {
        Watches::Changes
    }

    fn all_marks(&self) -> u64 {
        self.all_marks
    }

    fn n_states(&self) -> u64 {
        self.tgba.n_states() as u64 + u64::from(self.kind == Kind::Tgta)
    }

    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>) {
        self.look_at(valuation, valuations);
        let start = self.steps.len();
        self.enter(self.tgba.initial().index() as u32, 0, valuation);
        out.extend(self.steps.drain(start..).map(|step| step.to));
    }

    #[inline]
    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        let key = (state, event.from, event.to);
        let (from, to) = match self.rows.get(&key) {
            Some(range) => *range,
            None => {
                self.look_at(event.from.max(event.to), valuations);
                let range = self.compute(state, event);
                self.rows.insert(key, range);
                range
            }
        };
        &self.steps[from as usize..to as usize]
    }

    #[inline]
    fn stance(&mut self, state: u32, valuation: u32, valuations: &Valuations) -> Stance {
        self.look_at(valuation, valuations);
        let (view, at) = (&self.views[valuation as usize], state as usize);
        let at_once = self.at_once.contains(at);
        let passing = state != self.waiting() && !view.recurrent.contains(at);
        match self.kind {
            Kind::Ta => {
                let livelock = view.can_wait.contains(at);
                Stance {
                    at_once,
                    livelock,
                    may_wait: livelock,
                    passing: passing && !livelock,
                    ..Stance::default()
                }
            }
            Kind::Tgta => {
                let may_wait = state == self.waiting() || view.waits.contains(at);
                Stance { at_once, may_wait, passing: passing && !may_wait, ..Stance::default() }
            }
        }
    }

    fn has_livelocks(&self) -> bool {
        self.kind == Kind::Ta
    }
}
