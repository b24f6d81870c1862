//! Whether a tester calls a run illegal, by the definition [valmari.93.cav]: for who judges what searches found.
//!
//! The tester is taken as it was written, τ and all, and followed as the set of states that it can be in, along the
//! letters of the run. What a letter is, and what the system offers, is up to who knows the system.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Limit};

use crate::scc::components;
use crate::tester::{Edge, State, Tester};

/// What a run is said to show: the conditions C1 to C4 of [valmari.93.cav], Theorem 3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Illegal {
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

/// A tester that follows a run.
#[derive(Clone, Debug)]
pub struct Follower<'t> {
    tester: &'t Tester,
    /// Its edges, by source and letter.
    edges: Vec<Edge>,
    /// Where it can be.
    states: States,
}

/// A state of the tester, and how many steps of the cycle were taken.
type Position = (u32, usize);

impl<'t> Follower<'t> {
    /// A tester at the beginning of a run. Its edges are held.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn new(tester: &'t Tester, budget: &mut Budget<'_>) -> Result<Follower<'t>, Limit> {
        budget.hold(size_of_val(&tester.edges[..]) as u64)?;
        let mut edges = tester.edges.clone();
        edges.sort_unstable();
        let mut follower = Follower { tester, edges, states: States::new() };
        follower.states = follower.closure([tester.initial].into(), budget)?;
        Ok(follower)
    }

    /// Follows a step of the run: a letter, or nothing that the tester sees.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn follow(&mut self, letter: Option<u32>, budget: &mut Budget<'_>) -> Result<(), Limit> {
        if letter.is_some() {
            let after = self.states.iter().flat_map(|&state| self.successors(state, letter)).collect();
            self.states = self.closure(after, budget)?;
        }
        Ok(())
    }

    /// Whether what it has seen is illegal, whatever follows.
    pub fn rejects(&self) -> bool {
        self.any(|state| state.reject)
    }

    /// Whether it is illegal that the system offers these letters, and nothing else that can happen.
    pub fn refuses(&self, offered: &BTreeSet<u32>) -> bool {
        let is_stuck = |&state: &u32| {
            let mut letters =
                self.edges((state, None), (state + 1, None)).iter().filter_map(|edge| edge.letter);
            !letters.any(|letter| offered.contains(&letter))
        };
        self.states.iter().any(|state| self.tester.states[*state as usize].deadlock && is_stuck(state))
    }

    /// Whether it is illegal that these steps repeat for ever, and it sees none of them.
    pub fn diverges(&self, cycle: &[Option<u32>]) -> bool {
        cycle.iter().all(Option::is_none) && self.any(|state| state.livelock)
    }

    /// Whether it is illegal that these steps repeat for ever, since a loop of the tester along them leaves an
    /// infinite-trace state: there is a move out of such a state within a component of the graph of all positions.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn leaves_for_ever(&self, cycle: &[Option<u32>], budget: &mut Budget<'_>) -> Result<bool, Limit> {
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
            for (to, is_move) in self.steps(position, cycle) {
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
    fn steps(&self, (state, at): Position, cycle: &[Option<u32>]) -> impl Iterator<Item = (Position, bool)> {
        let next = (at + 1) % cycle.len();
        let letter = cycle[at];
        let stays = letter.is_none().then_some(((state, next), false));
        let follows = letter.into_iter().flat_map(move |letter| self.successors(state, Some(letter)));
        let tau = self.successors(state, None).map(move |to| ((to, at), true));
        stays.into_iter().chain(follows.map(move |to| ((to, next), true))).chain(tau)
    }

    fn any(&self, is_so: impl Fn(&State) -> bool) -> bool {
        self.states.iter().any(|&state| is_so(&self.tester.states[state as usize]))
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
    fn closure(&self, mut states: States, budget: &mut Budget<'_>) -> Result<States, Limit> {
        let mut work: Vec<u32> = states.iter().copied().collect();
        while let Some(state) = work.pop() {
            budget.tick()?;
            work.extend(self.successors(state, None).filter(|&to| states.insert(to)));
        }
        Ok(states)
    }
}
