//! Judges runs that are said to show an error of a tester.
//!
//! The tester is taken as it was written, τ and all, and run as a set of possible states along the
//! labels of the run: nothing of the product that found the run is used.

use std::collections::BTreeSet;

use automata::Tester;
use model::{ActionId, ActionSystem, LabelId, Run, reference};

use crate::{Rejection, Replayed, repeat};

/// What a run is said to show: the conditions C1 to C4 of [valmari.93.cav], Theorem 3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesterClaim {
    /// The trace leads the tester into a reject state.
    IllegalTrace,
    /// The system is stuck in a way that a deadlock state calls illegal.
    StableFailure,
    /// The cycle is invisible, and the tester can be in a livelock state.
    Divergence,
    /// Along the cycle the tester can leave infinite-trace states for ever.
    InfiniteTrace,
}

type States = BTreeSet<u32>;

struct Judge<'a> {
    system: &'a ActionSystem,
    tester: &'a Tester,
    labels: &'a [LabelId],
}

/// Repeats `run`, whose steps from `cycle_start` on repeat for ever if that is given, and checks
/// the claim about the tester whose letters are `labels`.
pub fn judge_tester(
    system: &ActionSystem,
    tester: &Tester,
    labels: &[LabelId],
    run: &Run,
    cycle_start: Option<usize>,
    claim: TesterClaim,
) -> Result<Replayed, Rejection> {
    let replayed = repeat(system, run)?;
    let judge = Judge { system, tester, labels };
    let n_steps = run.actions.len();
    let reject = |why: &str| Err(Rejection(why.to_owned()));
    let cycle_start = match (claim, cycle_start) {
        (TesterClaim::IllegalTrace | TesterClaim::StableFailure, None) => n_steps,
        (TesterClaim::Divergence | TesterClaim::InfiniteTrace, Some(start)) => {
            if start >= n_steps || replayed.state(start) != replayed.state(n_steps) {
                return reject("the cycle does not return to the state it starts in");
            }
            start
        }
        _ => return reject("the run has the wrong shape for what is claimed"),
    };
    let (prefix, cycle) = run.actions.split_at(cycle_start);
    let states = prefix
        .iter()
        .fold(judge.closure([tester.initial].into()), |states, &action| judge.step(&states, action));
    let last = replayed.state(n_steps);
    let holds = match claim {
        TesterClaim::IllegalTrace => states.iter().any(|&state| tester.states[state as usize].reject),
        TesterClaim::StableFailure => judge.is_stable_failure(&states, last)?,
        TesterClaim::Divergence => {
            cycle.iter().all(|&action| judge.letter(action).is_none())
                && states.iter().any(|&state| tester.states[state as usize].livelock)
        }
        TesterClaim::InfiniteTrace => judge.is_infinite_trace(&states, cycle),
    };
    if holds { Ok(replayed) } else { reject("the tester does not call this run illegal") }
}

impl Judge<'_> {
    fn letter(&self, action: ActionId) -> Option<u32> {
        let label = self.system.action(action).label;
        self.labels.iter().position(|known| *known == label).map(|letter| letter as u32)
    }

    fn successors(&self, state: u32, letter: Option<u32>) -> impl Iterator<Item = u32> {
        let edges = self.tester.edges.iter();
        edges.filter(move |edge| edge.from == state && edge.letter == letter).map(|edge| edge.to)
    }

    /// All states that τ leads to.
    fn closure(&self, mut states: States) -> States {
        let mut work: Vec<u32> = states.iter().copied().collect();
        while let Some(state) = work.pop() {
            for to in self.successors(state, None) {
                if states.insert(to) {
                    work.push(to);
                }
            }
        }
        states
    }

    /// The states the tester can be in after an action.
    fn step(&self, states: &States, action: ActionId) -> States {
        match self.letter(action) {
            None => states.clone(),
            letter => self.closure(states.iter().flat_map(|&state| self.successors(state, letter)).collect()),
        }
    }

    fn is_stable_failure(&self, states: &States, values: &[i64]) -> Result<bool, Rejection> {
        let enabled = reference::enabled(self.system, values);
        let enabled =
            enabled.map_err(|fault| Rejection(format!("the last state cannot be judged: {fault}")))?;
        let offered: Option<BTreeSet<u32>> = enabled.iter().map(|&action| self.letter(action)).collect();
        // An invisible action is enabled: not stable.
        let Some(offered) = offered else { return Ok(false) };
        let refuses = |&state: &u32| {
            let mut letters =
                self.tester.edges.iter().filter(|edge| edge.from == state).filter_map(|edge| edge.letter);
            !letters.any(|letter| offered.contains(&letter))
        };
        Ok(states.iter().any(|state| self.tester.states[*state as usize].deadlock && refuses(state)))
    }

    /// Looks for a loop of the tester along the cycle that leaves an infinite-trace state.
    fn is_infinite_trace(&self, states: &States, cycle: &[ActionId]) -> bool {
        let start = states.iter().map(|&state| (state, 0));
        let reachable = self.reachable(start.collect(), cycle);
        let is_source = |node: &&(u32, usize)| self.tester.states[node.0 as usize].infinite;
        reachable.iter().filter(is_source).any(|&node| {
            // Leaving by τ or by a letter counts; staying where one is does not.
            let leaving = self.moves(node, cycle).filter(|(_, moves)| *moves).map(|(to, _)| to);
            self.reachable(leaving.collect(), cycle).contains(&node)
        })
    }

    /// The positions after (tester state, position in the cycle), with whether the tester moved.
    fn moves<'c>(
        &'c self,
        (state, at): (u32, usize),
        cycle: &'c [ActionId],
    ) -> impl Iterator<Item = ((u32, usize), bool)> + 'c {
        let next = (at + 1) % cycle.len();
        let letter = self.letter(cycle[at]);
        let stays = letter.is_none().then_some(((state, next), false));
        let follows = letter.into_iter().flat_map(move |letter| self.successors(state, Some(letter)));
        let tau = self.successors(state, None).map(move |to| ((to, at), true));
        stays.into_iter().chain(follows.map(move |to| ((to, next), true))).chain(tau)
    }

    fn reachable(&self, mut found: BTreeSet<(u32, usize)>, cycle: &[ActionId]) -> BTreeSet<(u32, usize)> {
        let mut work: Vec<(u32, usize)> = found.iter().copied().collect();
        while let Some(node) = work.pop() {
            for (to, _) in self.moves(node, cycle) {
                if found.insert(to) {
                    work.push(to);
                }
            }
        }
        found
    }
}
