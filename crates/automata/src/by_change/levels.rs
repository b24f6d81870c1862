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
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet, Step};
use super::ta::{Acceptance, Ta};
use super::tgta::Tgta;
use crate::scc::{Components, components};
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
    holding(budget, |budget| Levels::new(marked, order, seen, budget)?.run(budget))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rejecting,
    AllAccepting,
    Leveled,
}

/// A copy is in a list and in a table, and has steps.
const BYTES_PER_COPY: usize = 4 * size_of::<(State, usize, State)>() + size_of::<Vec<Step>>();

struct Levels<'a> {
    marked: &'a Tgta,
    order: &'a [u32],
    found: Components,
    kinds: Vec<Kind>,
    /// The marks on all inner steps of a state.
    common: Vec<Marks>,
    /// For each component whether marks are seen on arrival alone.
    on_arrival: Vec<bool>,
    copies: Vec<(State, usize)>,
    numbers: FxHashMap<(State, usize), State>,
    /// For each copy its inner steps.
    inner: Vec<Vec<Step>>,
}

impl<'a> Levels<'a> {
    fn new(
        marked: &'a Tgta,
        order: &'a [u32],
        seen_when: Seen,
        budget: &mut Budget<'_>,
    ) -> Result<Levels<'a>, Limit> {
        let found = marked.graph.components(|_, step| !step.change.is_empty(), budget)?;
        let mut seen = vec![(Marks::NONE, marked.all_marks()); found.n];
        let mut common = vec![marked.all_marks(); marked.n_states()];
        for state in marked.states() {
            let (union, all) = &mut seen[found.of[state.index()]];
            for step in inner_steps(marked, &found, state) {
                budget.tick()?;
                *union = union.union(step.marks);
                *all = all.intersection(step.marks);
                common[state.index()] = common[state.index()].intersection(step.marks);
            }
        }
        let mut on_arrival = vec![seen_when == Seen::OnArrival; found.n];
        for state in marked.states() {
            let mut inner = inner_steps(marked, &found, state);
            on_arrival[found.of[state.index()]] &= inner.all(|step| step.marks == common[state.index()]);
        }
        let kind = |&(union, all): &(Marks, Marks)| match () {
            () if union != marked.all_marks() => Kind::Rejecting,
            () if all == marked.all_marks() => Kind::AllAccepting,
            () => Kind::Leveled,
        };
        let kinds = seen.iter().map(kind).collect();
        let (copies, numbers, inner) = (vec![], FxHashMap::default(), vec![]);
        Ok(Levels { marked, order, found, kinds, common, on_arrival, copies, numbers, inner })
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        for state in self.marked.states() {
            let level = self.arrive(0, state);
            self.copy(state, level);
        }
        while let Some(&(state, level)) = self.copies.get(self.inner.len()) {
            let mut inner = vec![];
            for step in inner_steps(self.marked, &self.found, state).copied().collect::<Vec<_>>() {
                budget.tick()?;
                let level = if level == self.order.len() { 0 } else { level };
                let on_arrival = self.on_arrival[self.found.of[state.index()]];
                let passed = if on_arrival { level } else { self.pass(level, step.marks) };
                let level = self.arrive(passed, step.target);
                inner.push(Step {
                    change: step.change,
                    marks: Marks::NONE,
                    target: self.copy(step.target, level),
                });
            }
            budget.hold((BYTES_PER_COPY + 2 * size_of_val(&inner[..])) as u64)?;
            self.inner.push(inner);
        }
        let entries = self.entries(budget)?;
        self.build(&entries, budget)
    }

    fn copy(&mut self, state: State, level: usize) -> State {
        *self.numbers.entry((state, level)).or_insert_with(|| {
            self.copies.push((state, level));
            State::new(self.copies.len() - 1)
        })
    }

    /// The level after passing the marks that come next in the order.
    fn pass(&self, level: usize, marks: Marks) -> usize {
        level + self.order[level..].iter().take_while(|&&mark| marks.contains(mark)).count()
    }

    /// The level at which a state is when a run comes to it with this level.
    fn arrive(&self, level: usize, state: State) -> usize {
        match self.kinds[self.found.of[state.index()]] {
            Kind::Rejecting => 0,
            Kind::AllAccepting => self.order.len(),
            Kind::Leveled => self.pass(level, self.common[state.index()]),
        }
    }

    /// For each state the copy by which it is entered from other components: one in the smallest closed part
    /// of the copies of its component.
    fn entries(&self, budget: &mut Budget<'_>) -> Result<Vec<State>, Limit> {
        let parts = components(&self.inner, |_, step| Some(step.target.index()), budget)?;
        let (mut size, mut closed) = (vec![0; parts.n], vec![true; parts.n]);
        for (copy, steps) in self.inner.iter().enumerate() {
            budget.tick()?;
            size[parts.of[copy]] += 1;
            closed[parts.of[copy]] &=
                steps.iter().all(|step| parts.of[step.target.index()] == parts.of[copy]);
        }
        let mut best: Vec<Option<usize>> = vec![None; self.found.n];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            let part = parts.of[copy];
            let best = &mut best[self.found.of[state.index()]];
            if closed[part] && best.is_none_or(|best| (size[part], part) < (size[best], best)) {
                *best = Some(part);
            }
        }
        // The first copies are those of all states, in order; they are replaced by what is in the best parts.
        let mut entries: Vec<Option<State>> = vec![None; self.marked.n_states()];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            if best[self.found.of[state.index()]] == Some(parts.of[copy]) {
                entries[state.index()].get_or_insert(State::new(copy));
            }
        }
        let entries = entries.into_iter().enumerate();
        Ok(entries.map(|(state, entry)| entry.unwrap_or(State::new(state))).collect())
    }

    fn build(self, entries: &[State], budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let enter = |state: State| entries[state.index()];
        let mut steps = self.inner;
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            budget.tick()?;
            let component = self.found.of[state.index()];
            let leaving = self
                .marked
                .steps(state)
                .iter()
                .filter(|step| self.found.of[step.target.index()] != component);
            let enter =
                |step: &Step| Step { change: step.change, marks: Marks::NONE, target: enter(step.target) };
            steps[copy].extend(leaving.map(enter));
        }
        let initial =
            self.marked.initial().iter().map(|&(valuation, state)| (valuation, enter(state))).collect();
        let last = self.order.len();
        let accepts = |&(state, level): &(State, usize)| {
            let waits = self.marked.accepts_stuttering(state);
            let buchi = level == last && self.kinds[self.found.of[state.index()]] != Kind::Rejecting;
            Acceptance { buchi, livelock: waits, finite: false, deadlock: waits }
        };
        let acceptance = self.copies.iter().map(accepts).collect();
        let mut graph = Graph { propositions: self.marked.propositions().to_vec(), initial, steps };
        graph.normalize(budget)?;
        Ok(Ta { graph, acceptance })
    }
}

/// The moving steps that stay in the component of the state.
fn inner_steps<'t>(marked: &'t Tgta, found: &Components, state: State) -> impl Iterator<Item = &'t Step> {
    let inner = |step: &&Step| {
        step.change != PropSet::EMPTY && found.of[step.target.index()] == found.of[state.index()]
    };
    marked.steps(state).iter().filter(inner).collect::<Vec<_>>().into_iter()
}
