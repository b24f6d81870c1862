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
//! Each step keeps the language. The a U Gb of the figures of [bensalem.12.topnoc] shrinks from four states
//! to three, in both kinds: the state 3 that is only left once accepts as state 4 does.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;

use super::expand::Limits;
use super::graph::{Graph, PropSet, Step, normalize};
use super::levels::{Seen, to_levels, with_livelock_loops};
use super::simulation::{Preorder, Side, redirect};
use super::ta::{Acceptance, Ta};
use super::tgta::Tgta;
use super::{to_ta, to_tgta};
use crate::gave_up::GaveUp;
use crate::scc::Components;
use crate::tgba::{Marks, State, Tgba};
use crate::work::holding;

/// A small TA for an automaton whose language does not see stuttering: the smallest of what comes by way of
/// its Büchi automaton, as in [`to_ta`], and by way of a TGTA with livelock loops.
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn small_ta(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Ta, GaveUp> {
    holding(budget, |budget| {
        let (candidates, n_steps) = ta_candidates(tgba, limits, budget)?;
        let size = |ta: &Ta| (ta.n_states(), ta.n_steps());
        let smallest = reduced(candidates, n_reduced(n_steps), size, Ta::reduce, budget)?;
        smallest.map_or_else(|| to_ta(tgba, limits, budget), Ok)
    })
}

/// TA merged by bisimulation, and how many steps the first of all automata had.
fn ta_candidates(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<(Vec<Ta>, usize), GaveUp> {
    let mut candidates = vec![];
    if tgba.n_marks() == 1 && tgba.is_state_based() {
        let pairs = Ta::from_ba(tgba, limits, budget)?.begin_later(budget)?;
        let moving = pairs.without_stuttering(budget)?.trim(budget)?;
        candidates.push(moving.even_out(budget)?.merge_bisimilar(budget)?);
    }
    let pairs = Tgta::from_tgba(tgba, limits, budget)?;
    let n_steps = pairs.n_steps();
    // They are copied, and their copies are reduced.
    budget.hold(4 * pairs.graph.bytes())?;
    let mut readings = vec![pairs.clone().read_more(Reading::FirstTwice, budget)?];
    if n_steps <= READ_MORE_MAX_STEPS {
        readings.push(pairs.read_more(Reading::EachTwice, budget)?);
    }
    for pairs in readings {
        let marked = with_livelock_loops(pairs, budget)?.trim(budget)?.reduce(budget)?;
        let order: Vec<u32> = (0..marked.n_marks()).collect();
        let backwards: Vec<u32> = order.iter().rev().copied().collect();
        let orders = if order.len() > 1 { vec![order, backwards] } else { vec![order] };
        for (order, seen) in orders.iter().flat_map(|order| SEEN.map(|seen| (order, seen))) {
            let leveled = to_levels(&marked, order, seen, budget)?.trim(budget)?;
            candidates.push(leveled.even_out(budget)?.merge_bisimilar(budget)?);
        }
    }
    Ok((candidates, n_steps))
}

/// Both are tried.
const SEEN: [Seen; 2] = [Seen::OnArrival, Seen::Twice];

/// The TGTA of [`to_tgta`], reduced further.
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn small_tgta(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Tgta, GaveUp> {
    holding(budget, |budget| {
        let (candidates, n_steps) = tgta_candidates(tgba, limits, budget)?;
        let size = |tgta: &Tgta| (tgta.n_states(), tgta.n_steps());
        let smallest = reduced(candidates, n_reduced(n_steps), size, Tgta::reduce, budget)?;
        smallest.map_or_else(|| to_tgta(tgba, limits, budget), Ok)
    })
}

/// TGTA merged by bisimulation, and how many steps the first of all automata had.
fn tgta_candidates(
    tgba: &Tgba,
    limits: &Limits,
    budget: &mut Budget<'_>,
) -> Result<(Vec<Tgta>, usize), GaveUp> {
    let pairs = Tgta::from_tgba(tgba, limits, budget)?;
    let n_steps = pairs.n_steps();
    // They are copied, and their copies are reduced.
    budget.hold(6 * pairs.graph.bytes())?;
    let mut readings = vec![pairs.clone().read_more(Reading::FirstTwice, budget)?];
    if n_steps <= READ_MORE_MAX_STEPS {
        let each = pairs.clone().read_more(Reading::EachTwice, budget)?;
        readings.extend([each.clone().read_more(Reading::EachTwice, budget)?, each, pairs]);
    }
    let mut candidates = vec![];
    for pairs in readings {
        for waiting in [Waiting::Where, Waiting::Apart] {
            let looping = pairs.clone().with_own_loops(waiting, budget)?.trim(budget)?;
            candidates.push(looping.even_out(budget)?.merge_bisimilar(budget)?);
        }
    }
    Ok((candidates, n_steps))
}

/// The smallest of what the `n` smallest candidates are reduced to: what is small by bisimulation is likely
/// to stay so.
fn reduced<T: PartialEq>(
    mut candidates: Vec<T>,
    n: usize,
    size: impl Fn(&T) -> (usize, usize),
    reduce: impl Fn(T, &mut Budget<'_>) -> Result<T, Limit>,
    budget: &mut Budget<'_>,
) -> Result<Option<T>, Limit> {
    candidates.sort_by_key(&size);
    candidates.dedup();
    let made = candidates.into_iter().take(n).map(|candidate| reduce(candidate, budget));
    let made: Vec<T> = made.collect::<Result<_, _>>()?;
    Ok(made.into_iter().min_by_key(size))
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
    ///
    /// # Errors
    /// The budget is spent.
    pub fn begin_later(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        self.graph.initial = later(&self.graph);
        self.graph.normalize(budget)?;
        Ok(self)
    }

    /// All reductions, until nothing changes. There must be no stuttering steps.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reduce(self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let mut ta = self.even_out(budget)?.merge_bisimilar(budget)?;
        loop {
            let before = (ta.n_states(), ta.n_steps());
            ta = ta.merge_similar(budget)?.trim(budget)?.even_out(budget)?.redirect_equal(budget)?;
            ta = ta.trim(budget)?.even_out(budget)?.merge_bisimilar(budget)?;
            if before == (ta.n_states(), ta.n_steps()) {
                return Ok(ta);
            }
        }
    }

    /// Makes Büchi acceptance uniform: no state that is not on a cycle is in F, and all of a component are if
    /// no cycle of it avoids F.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn even_out(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let found = self.graph.components(|_, _| true, budget)?;
        let acceptance = &self.acceptance;
        let inner = |state: State, step: &Step| found.of[state.index()] == found.of[step.target.index()];
        let avoiding = |state: State, step: &Step| inner(state, step) && !acceptance[state.index()].buchi;
        let avoids = cyclic_components(&self.graph, &found, avoiding, budget)?;
        let cyclic = cyclic_components(&self.graph, &found, inner, budget)?;
        for (state, own) in self.acceptance.iter_mut().enumerate() {
            own.buchi = cyclic[found.of[state]] && (own.buchi || !avoids[found.of[state]]);
        }
        Ok(self)
    }

    /// Makes states that simulate each other one, and drops steps that others do better.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn merge_similar(self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let color: Vec<u8> = self.acceptance.iter().map(|own| own.color()).collect();
        let side = Side { graph: &self.graph, color: &color };
        let Some(preorder) = Preorder::new(side, side, budget)? else { return Ok(self) };
        let (class, n_classes) = preorder.classes(budget)?;
        let mut ta = self.quotient(&class, n_classes, budget)?;
        preorder.quotient(&class, n_classes, budget)?.drop_dominated(&mut ta.graph, budget)?;
        Ok(ta)
    }

    /// Redirects steps to states of the same language in lower components.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn redirect_equal(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let found = self.graph.components(|_, _| true, budget)?;
        let inner = |state: State, step: &Step| found.of[state.index()] == found.of[step.target.index()];
        let cyclic = cyclic_components(&self.graph, &found, inner, budget)?;
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
            budget,
        )?;
        if let Some(preorder) = preorder {
            let lower = preorder.lower_equals(&found, budget)?;
            redirect(&mut self.graph, &lower, budget)?;
        }
        Ok(self)
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
    budget: &mut Budget<'_>,
) -> Result<Vec<bool>, Limit> {
    let finer = graph.components(&selected, budget)?;
    let step = |state: usize, step: &Step| {
        selected(State::new(state), step).then_some((step.target.index(), Marks::NONE))
    };
    let marks = finer.marks(&graph.steps, step, budget)?;
    let mut cyclic = vec![false; found.n];
    for state in graph.states() {
        cyclic[found.of[state.index()]] |= marks[finer.of[state.index()]].is_some();
    }
    Ok(cyclic)
}

impl Tgta {
    /// Reads letters once more than before: each moving step is followed by a stuttering one at once, and
    /// runs begin where a stuttering step leads to. There must still be stuttering steps.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn read_more(mut self, reading: Reading, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        self.graph.initial = later(&self.graph);
        if reading == Reading::EachTwice {
            let old = self.graph.steps.clone();
            for steps in &mut self.graph.steps {
                let moving: Vec<Step> =
                    steps.iter().filter(|step| !step.change.is_empty()).copied().collect();
                steps.retain(|step| step.change.is_empty());
                for step in moving {
                    budget.tick()?;
                    let more = old[step.target.index()].iter().filter(|more| more.change.is_empty());
                    let longer = |more: &Step| Step {
                        marks: step.marks.union(more.marks),
                        target: more.target,
                        change: step.change,
                    };
                    steps.extend(more.map(longer));
                }
                // They may be many more than before, until they are sorted.
                normalize(steps);
            }
        }
        self.graph.normalize(budget)?;
        Ok(self)
    }

    /// Properties 5.1 to 5.3, with jumps only where a state cannot have the loop itself.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn with_own_loops(mut self, waiting: Waiting, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let n = self.n_states();
        let accepting = self.accepting_stuttering_states(budget)?;
        let stutters = self.graph.can_reach(accepting.clone(), |step| step.change.is_empty(), budget)?;
        let mut entries = self.stuttering_entries(&accepting, budget)?;
        let free = match waiting {
            // A jump may close a cycle, so the cycles are those with all jumps there may be.
            Waiting::Where => {
                let mut jumping = self.clone();
                jumping.jump(|state| &entries[state.index()], budget)?;
                jumping.free_states(budget)?
            }
            Waiting::Apart => {
                self.graph.steps.push(vec![]);
                entries = (0..=n).map(|_| vec![State::new(n)]).collect();
                self.free_states(budget)?
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
        self.jump(|state| &entries[state.index()], budget)?;
        let all = self.all_marks();
        let marks = |state| if state >= n || own.contains(state) { all } else { Marks::NONE };
        self.replace_stuttering(marks, budget)?;
        Ok(self)
    }

    /// The states all of whose cycles of moving steps have all marks, because those of their component do.
    fn free_states(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        let found = self.graph.components(|_, step| !step.change.is_empty(), budget)?;
        let free = self.free_components(&found, budget)?;
        Ok((0..self.n_states()).filter(|&state| free[found.of[state]]).collect())
    }

    /// Which components of moving steps have all marks on each cycle, or no cycle.
    fn free_components(&self, found: &Components, budget: &mut Budget<'_>) -> Result<Vec<bool>, Limit> {
        let mut free = vec![true; found.n];
        for mark in 0..self.n_marks {
            let avoids = self.avoiding_components(found, mark, budget)?;
            free.iter_mut().zip(avoids).for_each(|(free, avoids)| *free &= !avoids);
        }
        Ok(free)
    }

    /// Which components of moving steps have a cycle of moving steps without the mark.
    fn avoiding_components(
        &self,
        found: &Components,
        mark: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<bool>, Limit> {
        let avoids = |state: State, step: &Step| {
            !step.change.is_empty()
                && found.of[state.index()] == found.of[step.target.index()]
                && !step.marks.contains(mark)
        };
        cyclic_components(&self.graph, found, avoids, budget)
    }

    /// All reductions, until nothing changes. Stuttering steps must be loops.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reduce(self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let mut tgta = self.even_out(budget)?.merge_bisimilar(budget)?;
        loop {
            let before = (tgta.n_states(), tgta.n_steps());
            tgta = tgta.merge_similar(budget)?.trim(budget)?.even_out(budget)?.redirect_equal(budget)?;
            tgta = tgta.trim(budget)?.even_out(budget)?.merge_bisimilar(budget)?;
            if before == (tgta.n_states(), tgta.n_steps()) {
                return Ok(tgta);
            }
        }
    }

    /// Makes marks of moving steps uniform: none between components and in rejecting ones; in the others a
    /// mark is on all steps if no cycle avoids it. Stuttering must be loops.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn even_out(mut self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let found = self.graph.components(|_, step| !step.change.is_empty(), budget)?;
        let inner = |state: usize, step: &Step| found.of[state] == found.of[step.target.index()];
        let step = |_, step: &Step| Some((step.target.index(), step.marks));
        let seen = found.marks(&self.graph.steps, step, budget)?;
        let mut forced = vec![Marks::NONE; found.n];
        for mark in 0..self.n_marks {
            let avoids = self.avoiding_components(&found, mark, budget)?;
            for (forced, avoids) in forced.iter_mut().zip(avoids) {
                *forced = if avoids { *forced } else { forced.union(Marks::single(mark)) };
            }
        }
        let all = self.all_marks();
        for (state, steps) in self.graph.steps.iter_mut().enumerate() {
            let component = found.of[state];
            for step in steps.iter_mut().filter(|step| !step.change.is_empty()) {
                let stays = inner(state, step) && seen[component] == Some(all);
                step.marks = if stays { step.marks.union(forced[component]) } else { Marks::NONE };
            }
        }
        self.graph.normalize(budget)?;
        Ok(self)
    }

    /// Makes states that simulate each other one, and drops steps that others do better.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn merge_similar(self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let color = vec![0; self.n_states()];
        let side = Side { graph: &self.graph, color: &color };
        let Some(preorder) = Preorder::new(side, side, budget)? else { return Ok(self) };
        let (class, n_classes) = preorder.classes(budget)?;
        let mut graph = self.graph.quotient(&class, n_classes, budget)?;
        preorder.quotient(&class, n_classes, budget)?.drop_dominated(&mut graph, budget)?;
        Ok(Tgta { graph, ..self })
    }

    /// Redirects steps to states of the same language in lower components.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn redirect_equal(mut self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let found = self.graph.components(|_, _| true, budget)?;
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
        let (lower, upper) = (Side { graph: &lower, color: &color }, Side { graph: &upper, color: &color });
        if let Some(preorder) = Preorder::new(lower, upper, budget)? {
            let lower = preorder.lower_equals(&found, budget)?;
            redirect(&mut self.graph, &lower, budget)?;
        }
        Ok(self)
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
