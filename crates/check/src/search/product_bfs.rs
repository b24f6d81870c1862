//! The whole product, breadth first.
//!
//! # Idea
//! Every state of the product is expanded once, in the order in which it was found, whether or not a run to
//! it is accepted.
//!
//! # When should I use this?
//! To know how large a product is (`explore --ltl`). A search that finds nothing and reduces nothing has
//! stored the same states.
//!
//! # Requirements and limits
//! No reduction, and memory for all states. A state in which the observer accepts at once has no steps, so
//! the observer should be one that does not.

use base::{Budget, Progress};
use model::System;

use super::Stats;
use super::evidence::{ProductOutcome, ProductStop};
use super::log::Log;
use super::product_graph::{Edge, ProductGraph, Trouble, exact};
use crate::observer::Observer;
use crate::paged::Paged;
use crate::product::Product;
use crate::store::{Products, StateId};

/// Explores all of a product that is not reduced. Stutter loops count as transitions; deadlocks are states in
/// which the system is in a deadlock.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let states = exact(product, budget);
    let mut search = Search {
        graph: ProductGraph::new(product, states),
        found: Paged::new(1),
        log: Log::new(),
        edges: Vec::new(),
        stats: Stats::default(),
    };
    let stop = search.run(budget).err();
    search.stats.states = search.graph.states.n_states();
    let system_states = Some(search.graph.states.n_system_states());
    ProductOutcome { stats: search.stats, system_states, stop, coverage: None }
}

struct Search<'p, 'a, S: System, O, P> {
    graph: ProductGraph<'p, 'a, S, O, P>,
    /// The states in the order in which they were found, and how: the notes have the same order.
    found: Paged,
    log: Log,
    edges: Vec<Edge>,
    stats: Stats,
}

impl<S: System, O: Observer, P: Products> Search<'_, '_, S, O, P> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        self.graph.begin().map_err(|trouble| match trouble {
            Trouble::Limit(limit) => ProductStop::Limit(limit),
            Trouble::Fault(error) => error.into(),
        })?;
        for (initial, id) in &self.graph.initial {
            self.found.push(&[id.index() as u32])?;
            self.log.add(Log::ROOT, *initial as u32, self.graph.states.observer_state(*id))?;
        }
        self.poll(0, budget)?;
        let mut level_end = self.graph.states.n_states();
        let mut next = 0;
        while next < self.graph.states.n_states() {
            if next == level_end {
                self.stats.depth += 1;
                level_end = self.graph.states.n_states();
            }
            self.expand(next)?;
            next += 1;
            self.poll(next, budget)?;
        }
        Ok(())
    }

    fn expand(&mut self, number: u64) -> Result<(), ProductStop> {
        let Search { graph, found, log, edges, stats } = self;
        let state = StateId::new(found.get(number as usize)[0] as usize);
        let expanded = graph.expand(state, None, edges);
        let expanded = expanded.map_err(|trouble| match trouble {
            Trouble::Limit(limit) => ProductStop::Limit(limit),
            Trouble::Fault(error) => ProductStop::Fault(error, log.run_to(number as u32).0),
        })?;
        stats.deadlocks += u64::from(expanded.is_deadlock);
        stats.transitions += edges.len() as u64;
        for edge in edges.iter().filter(|edge| edge.is_new) {
            // Nothing goes wrong after a deadlock, so the run over such an edge is never asked for.
            let action = edge.action.map_or(0, |action| action.index() as u32);
            found.push(&[edge.target.index() as u32])?;
            log.add(number as u32, action, graph.states.observer_state(edge.target))?;
        }
        Ok(())
    }

    fn poll(&mut self, n_expanded: u64, budget: &mut Budget<'_>) -> Result<(), ProductStop> {
        let states = self.graph.states.n_states();
        let edge_bytes = self.edges.capacity() * size_of::<Edge>();
        let progress = Progress {
            states,
            transitions: self.stats.transitions,
            depth: self.stats.depth,
            pending: states - n_expanded,
            bytes: self.graph.bytes() + self.found.bytes() + self.log.bytes() + edge_bytes as u64,
            workers: 1,
        };
        self.stats.record(&progress);
        Ok(budget.poll(&progress)?)
    }
}
