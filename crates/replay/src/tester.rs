//! Judges runs that are said to show an error of a tester [valmari.93.cav].
//!
//! The tester is taken as it was written, τ and all, and run as a set of possible states along the
//! labels of the run: nothing of the product that found the run is used.

use std::collections::{BTreeMap, BTreeSet};

use automata::Tester;
use automata::scc::components;
use automata::tester::Edge;
use base::Budget;
use model::{ActionId, ActionSystem, LabelId, reference};

use crate::{Doubt, Ending, Evidence, Watcher, rejected, unjudged};

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

/// The tester as the run is repeated.
pub(crate) struct Judge<'a> {
    system: &'a ActionSystem,
    tester: &'a Tester,
    claim: TesterClaim,
    /// Per label of the system, the letter that it is.
    letters: Vec<Option<u32>>,
    /// The edges of the tester, by source and letter.
    edges: Vec<Edge>,
    /// Where the tester can be; not followed into the cycle.
    states: States,
    /// Steps before the cycle that were not looked at so far.
    n_left: usize,
    cycle: &'a [ActionId],
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        system: &'a ActionSystem,
        tester: &'a Tester,
        labels: &[LabelId],
        claim: TesterClaim,
        evidence: &Evidence<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Judge<'a>, Doubt> {
        let actions = &evidence.run.actions[..];
        let n_left = match (claim, evidence.ending) {
            (TesterClaim::IllegalTrace, Ending::Open) | (TesterClaim::StableFailure, Ending::Deadlock) => {
                actions.len()
            }
            (TesterClaim::Divergence | TesterClaim::InfiniteTrace, Ending::Cycle(start)) => {
                if start >= actions.len() {
                    return Err(rejected("the cycle does not return to the state it starts in"));
                }
                start
            }
            _ => return Err(rejected("the run has the wrong shape for what is claimed")),
        };
        let mut letters = vec![None; system.labels().len()];
        for (letter, label) in labels.iter().enumerate().rev() {
            letters[label.index()] = Some(letter as u32);
        }
        budget.hold(size_of_val(&tester.edges[..]) as u64)?;
        let mut edges = tester.edges.clone();
        edges.sort_unstable();
        let cycle = &actions[n_left..];
        let mut judge = Judge { system, tester, claim, letters, edges, states: States::new(), n_left, cycle };
        judge.states = judge.closure([tester.initial].into(), budget)?;
        Ok(judge)
    }

    fn letter(&self, action: ActionId) -> Option<u32> {
        self.letters[self.system.action(action).label.index()]
    }

    /// The edges between two places of their order.
    fn edges(&self, from: (u32, Option<u32>), to: (u32, Option<u32>)) -> &[Edge] {
        let place = |at| self.edges.partition_point(|edge| (edge.from, edge.letter) < at);
        &self.edges[place(from)..place(to)]
    }

    fn successors(&self, state: u32, letter: Option<u32>) -> impl Iterator<Item = u32> {
        // τ comes before all letters.
        let next = Some(letter.map_or(0, |letter| letter + 1));
        self.edges((state, letter), (state, next)).iter().map(|edge| edge.to)
    }

    /// All states that τ leads to.
    fn closure(&self, mut states: States, budget: &mut Budget<'_>) -> Result<States, Doubt> {
        let mut work: Vec<u32> = states.iter().copied().collect();
        while let Some(state) = work.pop() {
            budget.tick()?;
            work.extend(self.successors(state, None).filter(|&to| states.insert(to)));
        }
        Ok(states)
    }

    fn any(&self, is_so: impl Fn(&automata::tester::State) -> bool) -> bool {
        self.states.iter().any(|&state| is_so(&self.tester.states[state as usize]))
    }

    fn is_stable_failure(&self, values: &[i64]) -> Result<bool, Doubt> {
        let enabled = reference::enabled(self.system, values);
        let enabled = enabled.map_err(|fault| unjudged("the last state", fault))?;
        let offered: Option<BTreeSet<u32>> = enabled.iter().map(|&action| self.letter(action)).collect();
        // An invisible action is enabled: not stable.
        let Some(offered) = offered else { return Ok(false) };
        let refuses = |&state: &u32| {
            let mut letters =
                self.edges((state, None), (state + 1, None)).iter().filter_map(|edge| edge.letter);
            !letters.any(|letter| offered.contains(&letter))
        };
        Ok(self.states.iter().any(|state| self.tester.states[*state as usize].deadlock && refuses(state)))
    }

    /// Looks for a loop of the tester along the cycle that leaves an infinite-trace state: for a move out of
    /// such a state within a component of the graph of all positions.
    fn is_infinite_trace(&self, budget: &mut Budget<'_>) -> Result<bool, Doubt> {
        let mut numbers: BTreeMap<Position, usize> = BTreeMap::new();
        let mut positions: Vec<Position> = Vec::new();
        for &state in &self.states {
            numbers.insert((state, 0), positions.len());
            positions.push((state, 0));
        }
        let (mut successors, mut moves) = (Vec::new(), Vec::new());
        while let Some(&position) = positions.get(successors.len()) {
            budget.tick()?;
            let mut targets = Vec::new();
            for (to, is_move) in self.steps(position) {
                let number = *numbers.entry(to).or_insert_with(|| {
                    positions.push(to);
                    positions.len() - 1
                });
                // Leaving by τ or by a letter counts; staying where one is does not.
                if is_move && self.tester.states[position.0 as usize].infinite {
                    moves.push((successors.len(), number));
                }
                targets.push(number);
            }
            // The position, its number, its list, and what components are found by.
            budget.hold(96 + 24 * targets.len() as u64)?;
            successors.push(targets);
        }
        let found = components(&successors, |_, &target| Some(target), budget)?;
        Ok(moves.iter().any(|&(from, to)| found.of[from] == found.of[to]))
    }

    /// The positions after one, with whether the tester moved.
    fn steps(&self, (state, at): Position) -> impl Iterator<Item = (Position, bool)> {
        let next = (at + 1) % self.cycle.len();
        let letter = self.letter(self.cycle[at]);
        let stays = letter.is_none().then_some(((state, next), false));
        let follows = letter.into_iter().flat_map(move |letter| self.successors(state, Some(letter)));
        let tau = self.successors(state, None).map(move |to| ((to, at), true));
        stays.into_iter().chain(follows.map(move |to| ((to, next), true))).chain(tau)
    }
}

/// A state of the tester, and how many steps of the cycle were taken.
type Position = (u32, usize);

impl Watcher for Judge<'_> {
    fn step(&mut self, action: ActionId, budget: &mut Budget<'_>) -> Result<(), Doubt> {
        if self.n_left > 0 {
            self.n_left -= 1;
            if let letter @ Some(_) = self.letter(action) {
                let after = self.states.iter().flat_map(|&state| self.successors(state, letter)).collect();
                self.states = self.closure(after, budget)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, last: &[i64], budget: &mut Budget<'_>) -> Result<(), Doubt> {
        let is_illegal = match self.claim {
            TesterClaim::IllegalTrace => self.any(|state| state.reject),
            TesterClaim::StableFailure => self.is_stable_failure(last)?,
            TesterClaim::Divergence => {
                self.cycle.iter().all(|&action| self.letter(action).is_none())
                    && self.any(|state| state.livelock)
            }
            TesterClaim::InfiniteTrace => self.is_infinite_trace(budget)?,
        };
        if is_illegal { Ok(()) } else { Err(rejected("the tester does not call this run illegal")) }
    }
}
