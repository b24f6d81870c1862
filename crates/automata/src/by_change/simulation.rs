//! Simulation of testing automata: merging, dropping steps, redirecting steps.
//!
//! # Idea
//! A state *q'* simulates *q* if it accepts wherever *q* does, and matches each step of *q* by one with the
//! same change and at least the same marks, to a state that simulates *q*'s target. States that simulate
//! each other are merged, and a step is dropped if another one with the same change is at least as good.
//!
//! What a run sees only finitely often does not matter for infinite acceptance, so on what lies between
//! components the simulated state may be taken to have no marks, and the simulating one to have all. The
//! relation that allows this still implies inclusion of languages, but is not transitive, and states
//! may not be merged by it. Yet if two states have the same language, all steps to the one may be
//! *redirected* to the other, provided that they lead downwards in the order of components: a run is
//! redirected finitely often.
//!
//! # Requirements and limits
//! Time grows with the number of pairs of states times their steps; large automata are left alone.
//!
//! # References
//! [etessami.01.icalp] for direct simulation and the dropping of steps.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;

use super::bisimulation::number_by_first;
use super::graph::{Graph, Step};
use crate::scc::Components;
use crate::tgba::State;

/// Larger products of states, states and steps per state are not compared.
const MAX_WORK: usize = 60_000_000;

/// Steps, and the way states accept, as bits.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) color: &'a [u8],
}

/// For each state the states that simulate it.
pub(crate) struct Preorder {
    above: Vec<FixedBitSet>,
}

impl Preorder {
    /// The largest simulation, where states of `lower` are simulated by states of `upper`; none if
    /// that would take too long.
    pub(crate) fn new(
        lower: Side<'_>,
        upper: Side<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Preorder>, Limit> {
        let n = lower.graph.n_states();
        if n.saturating_mul(lower.graph.n_steps().max(n)) > MAX_WORK {
            return Ok(None);
        }
        budget.hold((n * n / 8) as u64)?;
        let fits = |state: usize, other: usize| lower.color[state] & !upper.color[other] == 0;
        let mut preorder = Preorder { above: vec![] };
        for state in 0..n {
            (0..=n / PAIRS_PER_TICK).try_for_each(|_| budget.tick())?;
            let mut row = FixedBitSet::with_capacity(n);
            row.extend((0..n).filter(|&other| fits(state, other)));
            preorder.above.push(row);
        }
        while preorder.refine(lower.graph, upper.graph, budget)? {}
        Ok(Some(preorder))
    }

    fn refine(&mut self, lower: &Graph, upper: &Graph, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut changed = false;
        // Targets come late in breadth-first numbering, so going backwards needs fewer rounds.
        for state in (0..self.above.len()).rev() {
            let steps = &lower.steps[state];
            let mut wrong: Vec<usize> = vec![];
            for other in self.above[state].ones() {
                budget.tick()?;
                if !self.all_matched(steps, &upper.steps[other]) {
                    wrong.push(other);
                }
            }
            changed |= !wrong.is_empty();
            wrong.into_iter().for_each(|other| self.above[state].set(other, false));
        }
        Ok(changed)
    }

    /// Both lists are sorted by change.
    fn all_matched(&self, steps: &[Step], others: &[Step]) -> bool {
        let mut from = 0;
        steps.iter().all(|step| {
            while others.get(from).is_some_and(|other| other.change < step.change) {
                from += 1;
            }
            let alike = others[from..].iter().take_while(|other| other.change == step.change);
            alike
                .into_iter()
                .any(|other| other.marks.includes(step.marks) && self.le(step.target, other.target))
        })
    }

    /// Whether the second simulates the first.
    pub(crate) fn le(&self, a: State, b: State) -> bool {
        self.above[a.index()].contains(b.index())
    }

    fn equivalent(&self, a: usize, b: usize) -> bool {
        self.above[a].contains(b) && self.above[b].contains(a)
    }

    /// The classes of states that simulate each other, if the relation is transitive.
    pub(crate) fn classes(&self, budget: &mut Budget<'_>) -> Result<(Vec<usize>, usize), Limit> {
        let mut first = vec![];
        for state in 0..self.above.len() {
            (0..=state / PAIRS_PER_TICK).try_for_each(|_| budget.tick())?;
            let equal = (0..=state).find(|&other| self.equivalent(state, other));
            first.push(equal.unwrap_or(state));
        }
        Ok(number_by_first(&first))
    }

    /// The relation between the classes.
    pub(crate) fn quotient(
        &self,
        class: &[usize],
        n_classes: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Preorder, Limit> {
        let mut first = vec![usize::MAX; n_classes];
        class.iter().enumerate().rev().for_each(|(state, &class)| first[class] = state);
        let mut above = vec![];
        for &a in &first {
            (0..=n_classes / PAIRS_PER_TICK).try_for_each(|_| budget.tick())?;
            let mut row = FixedBitSet::with_capacity(n_classes);
            row.extend((0..n_classes).filter(|&class| self.above[a].contains(first[class])));
            above.push(row);
        }
        Ok(Preorder { above })
    }

    /// For each state one of the same language in a lower component, or itself.
    pub(crate) fn lower_equals(
        &self,
        found: &Components,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<State>, Limit> {
        let mut lowest = vec![];
        for state in 0..self.above.len() {
            (0..=self.above.len() / PAIRS_PER_TICK).try_for_each(|_| budget.tick())?;
            let equal = (0..self.above.len()).filter(|&other| self.equivalent(state, other));
            let lower = equal.filter(|&other| found.of[other] < found.of[state]);
            lowest.push(State::new(lower.min_by_key(|&other| found.of[other]).unwrap_or(state)));
        }
        Ok(lowest)
    }

    /// Drops steps and initial states if others are better; no two different states may simulate each other.
    pub(crate) fn drop_dominated(&self, graph: &mut Graph, budget: &mut Budget<'_>) -> Result<(), Limit> {
        for steps in &mut graph.steps {
            steps.iter().try_for_each(|_| budget.tick())?;
            let all = steps.clone();
            steps.retain(|step| {
                let from = all.partition_point(|other| other.change < step.change);
                let alike = all[from..].iter().take_while(|other| other.change == step.change);
                !alike.into_iter().any(|other| {
                    other != step && other.marks.includes(step.marks) && self.le(step.target, other.target)
                })
            });
        }
        let all = graph.initial.clone();
        let better = |one: &(_, State), other: &(_, State)| {
            one != other && one.0 == other.0 && self.le(one.1, other.1)
        };
        graph.initial.retain(|one| !all.iter().any(|other| better(one, other)));
        Ok(())
    }
}

/// Looking at so many pairs takes about as long as one tick stands for.
const PAIRS_PER_TICK: usize = 64;

/// Lets all steps and initial states lead to these states instead.
pub(crate) fn redirect(graph: &mut Graph, to: &[State], budget: &mut Budget<'_>) -> Result<(), Limit> {
    let end = |mut state: State| {
        while to[state.index()] != state {
            state = to[state.index()];
        }
        state
    };
    for (source, steps) in graph.steps.iter_mut().enumerate() {
        // The stuttering loop of a state stays its own.
        let moving = steps.iter_mut().filter(|step| step.target.index() != source || !step.change.is_empty());
        moving.for_each(|step| step.target = end(step.target));
    }
    graph.initial.iter_mut().for_each(|(_, state)| *state = end(*state));
    graph.normalize(budget)
}
