//! Emptiness of the product with a testing automaton, in two passes.
//!
//! # Idea
//! A testing automaton accepts in two ways. The first pass looks for cycles with all marks, by strong
//! components ([`couvreur`](super::couvreur)). The second looks for livelocks: cycles of silent steps
//! among livelock states, which may hide inside a component that has other steps as well.
//!
//! # When should I use this?
//! For testing automata with Büchi states; those without are better off with
//! [`one_pass`](super::one_pass).
//!
//! # Requirements and limits
//! An exact store. No fairness.
//!
//! # Differences from the paper
//! - The second pass starts in the livelock states that the first one found, one after the other,
//!   instead of going through the product again from its initial states (*init* of Algorithm 3). It
//!   looks at silent edges between livelock states only: all states on a cycle of silent steps have the
//!   same observer state, so they are all livelock states, or none is.
//! - If the first pass saw no livelock state, there is no second one (*Gseen*). The optimization for
//!   livelock states without successors is contained in Geldenhuys and Hansen's heuristic, which the first
//!   pass uses: `shared` trap 19 says how it is read here.
//! - A cycle is found when an edge leads back onto the path of a depth-first search; components are not
//!   needed for that.
//!
//! # References
//! Algorithms 2 and 3 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

use base::Budget;
use model::System;

use super::couvreur::{End, Search};
use super::evidence::{ProductOutcome, Violation};
use super::lasso::lasso;
use super::product_graph::Edge;
use crate::observer::Observer;
use crate::product::Product;
use crate::search::evidence::ProductStop;
use crate::store::StateId;

/// Looks for a run that the observer accepts, in whatever way.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut first = Search::new(product, budget.max_bytes);
    let end = first.run(budget).err();
    if end.is_some() || !first.saw_livelock {
        return first.outcome(end);
    }
    let mut second = SecondPass { first, colors: Vec::new(), path: Vec::new(), pending: Vec::new() };
    let found = second.run(budget);
    let SecondPass { mut first, path, .. } = second;
    match found {
        Ok(None) => first.outcome(None),
        Err(end) => first.outcome(Some(end)),
        Ok(Some(start)) => {
            let cycle: Vec<u32> =
                path.iter().map(|frame| frame.0).skip_while(|&state| state != start).collect();
            let is_inside = |state: StateId| cycle.contains(&(state.index() as u32));
            let evidence = lasso(&mut first.graph, Violation::Livelock, &is_inside);
            let mut outcome = first.outcome(None);
            outcome.stop = Some(evidence.map_or(ProductStop::NoRun, ProductStop::Found));
            outcome
        }
    }
}

/// Bits per state: entered, on the path.
const ENTERED: u8 = 1;
const ON_PATH: u8 = 2;

struct SecondPass<'p, 'a, S: System, O> {
    first: Search<'p, 'a, S, O>,
    colors: Vec<u8>,
    /// States, each with the number of its edges in `pending`.
    path: Vec<(u32, u32)>,
    pending: Vec<u32>,
}

impl<S: System, O: Observer> SecondPass<'_, '_, S, O> {
    /// Returns the state in which a livelock closes.
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<Option<u32>, End> {
        let mut next = 0;
        while next < self.first.graph.n_states() as u32 {
            if self.color(next) == 0 {
                self.enter(next, budget)?;
                if let Some(start) = self.search_from_top(budget)? {
                    return Ok(Some(start));
                }
            }
            next += 1;
        }
        Ok(None)
    }

    fn search_from_top(&mut self, budget: &mut Budget<'_>) -> Result<Option<u32>, End> {
        while let Some((state, n_pending)) = self.path.last_mut() {
            if *n_pending == 0 {
                let state = *state;
                self.path.pop();
                self.colors[state as usize] = ENTERED;
                continue;
            }
            *n_pending -= 1;
            let Some(target) = self.pending.pop() else { break };
            match self.color(target) {
                0 => self.enter(target, budget)?,
                color if color & ON_PATH != 0 => return Ok(Some(target)),
                _ => {}
            }
        }
        Ok(None)
    }

    fn color(&mut self, state: u32) -> u8 {
        if state as usize >= self.colors.len() {
            self.colors.resize(self.first.graph.n_states() as usize, 0);
        }
        self.colors[state as usize]
    }

    /// Enters a state; if it is no livelock state, it has no edges here.
    fn enter(&mut self, state: u32, budget: &mut Budget<'_>) -> Result<(), End> {
        self.colors[state as usize] = ENTERED | ON_PATH;
        let id = StateId::new(state as usize);
        let mut edges: Vec<Edge> = Vec::new();
        let expanded = self.first.graph.expand(id, |_| false, &mut edges);
        let expanded = expanded.map_err(|trouble| End::Trouble(trouble, Some(id)))?;
        if !expanded.stance.livelock {
            edges.clear();
        }
        edges.retain(|edge| edge.silent);
        self.path.push((state, edges.len() as u32));
        self.pending.extend(edges.iter().rev().map(|edge| edge.target.index() as u32));
        self.first.progress.transitions += edges.len() as u64;
        self.first.progress.states = self.first.graph.n_states();
        Ok(budget.poll(&self.first.progress)?)
    }
}
