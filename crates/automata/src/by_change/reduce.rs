//! Smaller testing automata than those of the papers.
//!
//! # Idea
//! - Acceptance is first made as uniform as the language allows. What is not on a cycle accepts
//!   nothing; in a component all of whose cycles have a mark, all steps may carry it.
//! - A state of a TGTA in which one can wait for an accepting stuttering component may have a fully marked
//!   stuttering loop itself, if all cycles through its component are accepting, or there are none:
//!   Property 5.2's jumps are needed only from the others. Where they are needed, they may lead to one
//!   new state that only waits, instead of to the places that stuttering would lead to; both are tried.
//! - A word may be read as a stuttering variant of itself: with its first letter twice, or with each letter
//!   twice. So runs may begin after a stuttering step, and moving steps may be followed by one; states that
//!   are left at once by stuttering need not be there.
//! - Then states are merged by bisimulation and by simulation until nothing changes.
//!
//! Each step keeps the language. The a U Gb of 003's figures shrinks from four states to three, in both kinds:
//! the state 3 that is only left once accepts as state 4 does.

use fixedbitset::FixedBitSet;

use super::expand::{Explosion, Limits};
use super::graph::{Graph, PropSet, Step};
use super::levels::{Seen, to_levels, with_livelock_loops};
use super::simulation::{Preorder, Side, redirect};
use super::ta::{Acceptance, Ta};
use super::tgta::Tgta;
use super::{to_ta, to_tgta};
use crate::scc::Components;
use crate::tgba::{Marks, State, Tgba};

/// A small TA for an automaton whose language does not see stuttering: the smallest of what comes by way of
/// its Büchi automaton, as in [`to_ta`], and by way of a TGTA with livelock loops.
pub fn small_ta(tgba: &Tgba, limits: &Limits) -> Result<Ta, Explosion> {
    let mut candidates = vec![];
    if tgba.n_marks() == 1 && tgba.is_state_based() {
        let pairs = Ta::from_ba(tgba, limits)?;
        candidates.push(pairs.begin_later().without_stuttering().trim().even_out().merge_bisimilar());
    }
    let pairs = Tgta::from_tgba(tgba, limits)?;
    let n_steps = pairs.n_steps();
    let mut readings = vec![pairs.clone().read_more(Reading::FirstTwice)];
    if n_steps <= READ_MORE_MAX_STEPS {
        readings.extend([pairs.read_more(Reading::EachTwice)]);
    }
    for pairs in readings {
        let marked = with_livelock_loops(pairs).trim().reduce();
        let order: Vec<u32> = (0..marked.n_marks()).collect();
        let backwards: Vec<u32> = order.iter().rev().copied().collect();
        let leveled =
            |order: &[u32], seen| to_levels(&marked, order, seen).trim().even_out().merge_bisimilar();
        candidates.push(leveled(&order, Seen::OnArrival));
        candidates.push(leveled(&order, Seen::Twice));
        if order.len() > 1 {
            candidates.push(leveled(&backwards, Seen::OnArrival));
            candidates.push(leveled(&backwards, Seen::Twice));
        }
    }
    let size = |ta: &Ta| (ta.n_states(), ta.n_steps());
    candidates.sort_by_key(size);
    candidates.dedup();
    let smallest = candidates.into_iter().take(n_reduced(n_steps)).map(Ta::reduce).min_by_key(size);
    smallest.map_or_else(|| to_ta(tgba, limits), Ok)
}

/// The TGTA of [`to_tgta`], reduced further.
pub fn small_tgta(tgba: &Tgba, limits: &Limits) -> Result<Tgta, Explosion> {
    let pairs = Tgta::from_tgba(tgba, limits)?;
    let n_steps = pairs.n_steps();
    let mut readings = vec![pairs.clone().read_more(Reading::FirstTwice)];
    if n_steps <= READ_MORE_MAX_STEPS {
        let each = pairs.clone().read_more(Reading::EachTwice);
        readings.extend([each.clone().read_more(Reading::EachTwice), each, pairs]);
    }
    let mut candidates = vec![];
    for pairs in readings {
        for waiting in [Waiting::Where, Waiting::Apart] {
            candidates.push(pairs.clone().with_own_loops(waiting).trim().even_out().merge_bisimilar());
        }
    }
    // Those that are small by bisimulation are likely to stay so.
    let size = |tgta: &Tgta| (tgta.n_states(), tgta.n_steps());
    candidates.sort_by_key(size);
    candidates.dedup();
    let reduced = candidates.into_iter().take(n_reduced(n_steps)).map(Tgta::reduce);
    reduced.min_by_key(size).map_or_else(|| to_tgta(tgba, limits), Ok)
}

/// Automata with more steps are read in one way only.
const READ_MORE_MAX_STEPS: usize = 100_000;

/// How many candidates are reduced by simulation, for an automaton of so many steps.
fn n_reduced(n_steps: usize) -> usize {
    if n_steps <= READ_MORE_MAX_STEPS { 3 } else { 1 }
}

/// How often letters of a word without stuttering are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The first letter twice, the others once.
    FirstTwice,
    /// Each letter twice.
    EachTwice,
}

/// Where a TGTA waits if it cannot do so where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Where stuttering leads to, as in Property 5.2.
    Where,
    /// In a state of its own, which has no other steps.
    Apart,
}

impl Ta {
    /// Lets runs begin where a stuttering step leads to from where they began: the first letter is read
    /// twice. There must still be stuttering steps.
    #[must_use]
    pub fn begin_later(mut self) -> Ta {
        self.graph.initial = later(&self.graph);
        self.graph.normalize();
        self
    }

    /// All reductions, until nothing changes. There must be no stuttering steps.
    #[must_use]
    pub fn reduce(self) -> Ta {
        let mut ta = self.even_out().merge_bisimilar();
        loop {
            let before = (ta.n_states(), ta.n_steps());
            ta = ta.merge_similar().trim().even_out().redirect_equal().trim().even_out().merge_bisimilar();
            if before == (ta.n_states(), ta.n_steps()) {
                return ta;
            }
        }
    }

    /// Makes Büchi acceptance uniform: no state that is not on a cycle is in F, and all of a component are if
    /// no cycle of it avoids F.
    #[must_use]
    pub fn even_out(mut self) -> Ta {
        let found = self.graph.components(|_, _| true);
        let acceptance = &self.acceptance;
        let inner = |state: State, step: &Step| found.of[state.index()] == found.of[step.target.index()];
        let avoiding = |state: State, step: &Step| inner(state, step) && !acceptance[state.index()].buchi;
        let avoids = cyclic_components(&self.graph, &found, avoiding);
        let cyclic = cyclic_components(&self.graph, &found, inner);
        for (state, own) in self.acceptance.iter_mut().enumerate() {
            own.buchi = cyclic[found.of[state]] && (own.buchi || !avoids[found.of[state]]);
        }
        self
    }

    /// Makes states that simulate each other one, and drops steps that others do better.
    #[must_use]
    pub fn merge_similar(self) -> Ta {
        let color: Vec<u8> = self.acceptance.iter().map(|own| own.color()).collect();
        let side = Side { graph: &self.graph, color: &color };
        let Some(preorder) = Preorder::new(side, side) else { return self };
        let (class, n_classes) = preorder.classes();
        let mut ta = self.quotient(&class, n_classes);
        preorder.quotient(&class, n_classes).drop_dominated(&mut ta.graph);
        ta
    }

    /// Redirects steps to states of the same language in lower components.
    #[must_use]
    pub fn redirect_equal(mut self) -> Ta {
        let found = self.graph.components(|_, _| true);
        let inner = |state: State, step: &Step| found.of[state.index()] == found.of[step.target.index()];
        let cyclic = cyclic_components(&self.graph, &found, inner);
        let color = |buchi: bool| -> Vec<u8> {
            let own = self.acceptance.iter().enumerate();
            let assume = |(state, &own): (usize, &Acceptance)| {
                let buchi = if cyclic[found.of[state]] { own.buchi } else { buchi };
                Acceptance { buchi, ..own }.color()
            };
            own.map(assume).collect()
        };
        let (lower, upper) = (color(false), color(true));
        let preorder = Preorder::new(
            Side { graph: &self.graph, color: &lower },
            Side { graph: &self.graph, color: &upper },
        );
        if let Some(preorder) = preorder {
            redirect(&mut self.graph, &preorder.lower_equals(&found));
        }
        self
    }
}

/// The initial states after one stuttering step.
fn later(graph: &Graph) -> Vec<(PropSet, State)> {
    let after = |&(valuation, state): &(PropSet, State)| {
        let stuttering = graph.steps[state.index()].iter().filter(|step| step.change.is_empty());
        stuttering.map(move |step| (valuation, step.target)).collect::<Vec<_>>()
    };
    graph.initial.iter().flat_map(after).collect()
}

/// Which components have a cycle of selected steps.
fn cyclic_components(
    graph: &Graph,
    found: &Components,
    selected: impl Fn(State, &Step) -> bool,
) -> Vec<bool> {
    let finer = graph.components(&selected);
    let mut cyclic = vec![false; found.n];
    for state in graph.states() {
        let stays =
            |step: &Step| selected(state, step) && finer.of[step.target.index()] == finer.of[state.index()];
        cyclic[found.of[state.index()]] |= graph.steps[state.index()].iter().any(stays);
    }
    cyclic
}

impl Tgta {
    /// Reads letters once more than before: each moving step is followed by a stuttering one at once, and runs
    /// begin where a stuttering step leads to. There must still be stuttering steps.
    #[must_use]
    pub fn read_more(mut self, reading: Reading) -> Tgta {
        self.graph.initial = later(&self.graph);
        if reading == Reading::EachTwice {
            let old = self.graph.steps.clone();
            for steps in &mut self.graph.steps {
                let moving: Vec<Step> =
                    steps.iter().filter(|step| !step.change.is_empty()).copied().collect();
                steps.retain(|step| step.change.is_empty());
                for step in moving {
                    let more = old[step.target.index()].iter().filter(|more| more.change.is_empty());
                    let longer = |more: &Step| Step {
                        marks: step.marks.union(more.marks),
                        target: more.target,
                        change: step.change,
                    };
                    steps.extend(more.map(longer));
                }
            }
        }
        self.graph.normalize();
        self
    }

    /// Properties 5.1 to 5.3, with jumps only where a state cannot have the loop itself.
    #[must_use]
    pub fn with_own_loops(mut self, waiting: Waiting) -> Tgta {
        let n = self.n_states();
        let accepting = self.accepting_stuttering_states();
        let stutters = self.graph.can_reach(&accepting, |step| step.change.is_empty());
        let mut entries = self.stuttering_entries(&accepting);
        let free = match waiting {
            // A jump may close a cycle, so the cycles are those with all jumps there may be.
            Waiting::Where => {
                let mut jumping = self.clone();
                jumping.jump(|state| &entries[state.index()]);
                jumping.free_states()
            }
            Waiting::Apart => {
                self.graph.steps.push(vec![]);
                entries = (0..=n).map(|_| vec![State::new(n)]).collect();
                self.free_states()
            }
        };
        let waits =
            |&state: &usize| accepting.contains(state) || (stutters.contains(state) && free.contains(state));
        let own: FixedBitSet = (0..n).filter(waits).collect();
        for (state, entries) in entries.iter_mut().enumerate() {
            if own.contains(state) || !stutters.contains(state) {
                entries.clear();
            }
        }
        self.jump(|state| &entries[state.index()]);
        let all = self.all_marks();
        self.replace_stuttering(|state| if state >= n || own.contains(state) { all } else { Marks::NONE });
        self
    }

    /// The states all of whose cycles of moving steps have all marks, because those of their component do.
    fn free_states(&self) -> FixedBitSet {
        let found = self.graph.components(|_, step| !step.change.is_empty());
        let free = self.free_components(&found);
        (0..self.n_states()).filter(|&state| free[found.of[state]]).collect()
    }

    /// Which components of moving steps have all marks on each cycle, or no cycle.
    fn free_components(&self, found: &Components) -> Vec<bool> {
        let mut free = vec![true; found.n];
        for mark in 0..self.n_marks {
            let avoids = self.avoiding_components(found, mark);
            free.iter_mut().zip(avoids).for_each(|(free, avoids)| *free &= !avoids);
        }
        free
    }

    /// Which components of moving steps have a cycle of moving steps without the mark.
    fn avoiding_components(&self, found: &Components, mark: u32) -> Vec<bool> {
        cyclic_components(&self.graph, found, |state, step| {
            !step.change.is_empty()
                && found.of[state.index()] == found.of[step.target.index()]
                && !step.marks.contains(mark)
        })
    }

    /// All reductions, until nothing changes. Stuttering steps must be loops.
    #[must_use]
    pub fn reduce(self) -> Tgta {
        let mut tgta = self.even_out().merge_bisimilar();
        loop {
            let before = (tgta.n_states(), tgta.n_steps());
            tgta =
                tgta.merge_similar().trim().even_out().redirect_equal().trim().even_out().merge_bisimilar();
            if before == (tgta.n_states(), tgta.n_steps()) {
                return tgta;
            }
        }
    }

    /// Makes marks of moving steps uniform: none between components and in rejecting ones; in the others a
    /// mark is on all steps if no cycle avoids it. Stuttering must be loops.
    #[must_use]
    pub fn even_out(mut self) -> Tgta {
        let found = self.graph.components(|_, step| !step.change.is_empty());
        let inner = |state: usize, step: &Step| found.of[state] == found.of[step.target.index()];
        let mut seen = vec![Marks::NONE; found.n];
        for (state, steps) in self.graph.steps.iter().enumerate() {
            let inner = steps.iter().filter(|step| inner(state, step));
            inner.for_each(|step| seen[found.of[state]] = seen[found.of[state]].union(step.marks));
        }
        let mut forced = vec![Marks::NONE; found.n];
        for mark in 0..self.n_marks {
            let avoids = self.avoiding_components(&found, mark);
            for (forced, avoids) in forced.iter_mut().zip(avoids) {
                *forced = if avoids { *forced } else { forced.union(Marks::single(mark)) };
            }
        }
        let all = self.all_marks();
        for (state, steps) in self.graph.steps.iter_mut().enumerate() {
            let component = found.of[state];
            for step in steps.iter_mut().filter(|step| !step.change.is_empty()) {
                let stays = inner(state, step) && seen[component] == all;
                step.marks = if stays { step.marks.union(forced[component]) } else { Marks::NONE };
            }
        }
        self.graph.normalize();
        self
    }

    /// Makes states that simulate each other one, and drops steps that others do better.
    #[must_use]
    pub fn merge_similar(self) -> Tgta {
        let color = vec![0; self.n_states()];
        let side = Side { graph: &self.graph, color: &color };
        let Some(preorder) = Preorder::new(side, side) else { return self };
        let (class, n_classes) = preorder.classes();
        let mut graph = self.graph.quotient(&class, n_classes);
        preorder.quotient(&class, n_classes).drop_dominated(&mut graph);
        Tgta { graph, ..self }
    }

    /// Redirects steps to states of the same language in lower components.
    #[must_use]
    pub fn redirect_equal(mut self) -> Tgta {
        let found = self.graph.components(|_, _| true);
        let assume = |marks: Marks| {
            let mut graph = self.graph.clone();
            for (state, steps) in graph.steps.iter_mut().enumerate() {
                let between =
                    steps.iter_mut().filter(|step| found.of[state] != found.of[step.target.index()]);
                between.for_each(|step| step.marks = marks);
            }
            graph
        };
        let (lower, upper) = (assume(Marks::NONE), assume(self.all_marks()));
        let color = vec![0; self.n_states()];
        let preorder =
            Preorder::new(Side { graph: &lower, color: &color }, Side { graph: &upper, color: &color });
        if let Some(preorder) = preorder {
            redirect(&mut self.graph, &preorder.lower_equals(&found));
        }
        self
    }

    /// Whether each state has exactly one stuttering step, a loop with all marks or none.
    pub fn is_finished(&self) -> bool {
        self.states().all(|state| {
            let mut stuttering = self.steps(state).iter().filter(|step| step.change == PropSet::EMPTY);
            let fits = |step: &Step| {
                step.target == state && (step.marks == Marks::NONE || step.marks == self.all_marks())
            };
            stuttering.next().is_some_and(fits) && stuttering.next().is_none()
        })
    }
}
