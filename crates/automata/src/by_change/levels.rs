//! From marks on steps to Büchi states: a TA by way of an automaton with several marks.
//!
//! # Idea
//! In a TA, Büchi acceptance matters only for words that change infinitely often, and waiting for ever is
//! decided by livelock states. So one may stay with the marks of a TGBA for as long as possible: give each
//! pair of a state and a valuation a stuttering loop, with all marks iff the pair is a livelock state, and
//! reduce this like a TGTA (without Property 5.2's jumps, since the loops are not meant to be left).
//! Only then are the marks turned into Büchi states: each state is copied for *levels*, as in
//! [degeneralization](mod@crate::degeneralize). At level *i* a run waits for the *i*-th mark; at the last
//! level it has seen all, is in F, and begins anew. Rejecting components have one level outside F, those
//! whose steps all have all marks one in F; the others are entered only where all levels come by again.

use base::{Budget, Limit};

use super::graph::{Graph, Step};
use super::ta::{Acceptance, Ta};
use super::tgta::Tgta;
use crate::degeneralize::{Kind, Levels};
use crate::scc::Components;
use crate::tgba::{Marks, State};
use crate::work::holding;

/// Gives each state a stuttering loop, with all marks iff waiting there may be accepting.
pub(crate) fn with_livelock_loops(mut pairs: Tgta, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
    let accepting = pairs.accepting_stuttering_states(budget)?;
    let stutters = pairs.graph.can_reach(accepting, |step| step.change.is_empty(), budget)?;
    let all = pairs.all_marks();
    let marks = |state| if stutters.contains(state) { all } else { Marks::NONE };
    pairs.replace_stuttering(marks, budget)?;
    Ok(pairs)
}

/// When a mark that all steps of a state have is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// On arrival in the state and on the step.
    Twice,
    /// On arrival alone, in components where all steps of a state have the same marks.
    OnArrival,
}

/// The TA of an automaton made by [`with_livelock_loops`], with levels in this order of the marks.
pub(crate) fn to_levels(
    marked: &Tgta,
    order: &[u32],
    seen: Seen,
    budget: &mut Budget<'_>,
) -> Result<Ta, Limit> {
    holding(budget, |budget| Leveling::new(marked, order, seen, budget)?.run(budget))
}

struct Leveling<'a> {
    marked: &'a Tgta,
    levels: Levels<'a>,
    /// For each component whether marks are seen on arrival alone.
    on_arrival: Vec<bool>,
    /// For each copy its inner steps.
    inner: Vec<Vec<Step>>,
}

impl<'a> Leveling<'a> {
    fn new(
        marked: &'a Tgta,
        order: &'a [u32],
        seen: Seen,
        budget: &mut Budget<'_>,
    ) -> Result<Leveling<'a>, Limit> {
        let found = marked.graph.components(|_, step| !step.change.is_empty(), budget)?;
        let moving = |_, step: &Step| (!step.change.is_empty()).then_some((step.target.index(), step.marks));
        let levels = Levels::new(order, found, &marked.graph.steps, moving, budget)?;
        let mut on_arrival = vec![seen == Seen::OnArrival; levels.found.n];
        for state in marked.states() {
            let alike = |step: &Step| step.marks == levels.common[state.index()];
            on_arrival[levels.found.of[state.index()]] &=
                inner_steps(marked, &levels.found, state).iter().all(alike);
        }
        Ok(Leveling { marked, levels, on_arrival, inner: vec![] })
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        // The first copies are those of all states, in order.
        for state in self.marked.states() {
            let level = self.arrive(0, state);
            self.levels.copy(state, level);
        }
        while let Some(&(state, level)) = self.levels.copies.get(self.inner.len()) {
            let mut inner = vec![];
            for step in inner_steps(self.marked, &self.levels.found, state) {
                budget.tick()?;
                let level = if level == self.levels.last() { 0 } else { level };
                let on_arrival = self.on_arrival[self.levels.found.of[state.index()]];
                let passed = if on_arrival { level } else { self.levels.pass(level, step.marks) };
                let level = self.arrive(passed, step.target);
                let target = self.levels.copy(step.target, level);
                inner.push(Step { marks: Marks::NONE, target, ..step });
            }
            budget.hold((Levels::BYTES_PER_COPY + 2 * size_of_val(&inner[..])) as u64)?;
            self.inner.push(inner);
        }
        let entries = self.levels.entries(&self.inner, |step| step.target, budget)?;
        self.build(&entries, budget)
    }

    /// The level at which a state is when a run comes to it with this level.
    fn arrive(&self, level: usize, state: State) -> usize {
        match self.levels.kind(state) {
            Kind::Rejecting => 0,
            Kind::AllAccepting => self.levels.last(),
            Kind::Leveled => self.levels.pass(level, self.levels.common[state.index()]),
        }
    }

    fn build(self, entries: &[State], budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let Leveling { marked, levels, inner: mut steps, .. } = self;
        let enter = |state: State| entries[state.index()];
        let component = |state: State| levels.found.of[state.index()];
        for (copy, &(state, _)) in levels.copies.iter().enumerate() {
            budget.tick()?;
            let leaving = marked.steps(state).iter();
            let leaving = leaving.filter(|step| component(step.target) != component(state));
            let entering = |step: &Step| Step { marks: Marks::NONE, target: enter(step.target), ..*step };
            steps[copy].extend(leaving.map(entering));
        }
        let initial = marked.initial().iter().map(|&(valuation, state)| (valuation, enter(state))).collect();
        let accepts = |&(state, level): &(State, usize)| {
            let waits = marked.accepts_stuttering(state);
            let buchi = level == levels.last() && levels.kind(state) != Kind::Rejecting;
            Acceptance { buchi, livelock: waits, finite: false, deadlock: waits }
        };
        let acceptance = levels.copies.iter().map(accepts).collect();
        let mut graph = Graph { propositions: marked.propositions().to_vec(), initial, steps };
        graph.normalize(budget)?;
        Ok(Ta { graph, acceptance })
    }
}

/// The moving steps that stay in the component of the state.
fn inner_steps(marked: &Tgta, found: &Components, state: State) -> Vec<Step> {
    let stays = |step: &&Step| found.of[step.target.index()] == found.of[state.index()];
    let moving = marked.steps(state).iter().filter(|step| !step.change.is_empty());
    moving.filter(stays).copied().collect()
}
