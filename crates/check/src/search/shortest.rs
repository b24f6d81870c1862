//! The shortest accepted lasso of a product.
//!
//! # Idea
//! The product is explored breadth first, with all its edges. From each state of an accepting strong
//! component, nearest first, the shortest cycle with all marks is looked for, breadth first over pairs of
//! a state and the marks seen; never further than what would still be shorter than the best lasso so
//! far.
//!
//! # When should I use this?
//! When a violation is known and a person is to read it (`--shortest`): it takes the whole product, and
//! perhaps many small searches in it. Whoever wants a short run for little work says how much: then as much of the
//! product is explored, and the lasso is a shortest in there, or nearly.
//!
//! # Requirements and limits
//! An observer that accepts by marks alone; no reduction. The lasso is a shortest one of this product;
//! another automaton for the same property may accept the same run later or earlier.

use base::{Budget, Limit, Progress};
use model::System;
use rustc_hash::FxHashMap;

use super::evidence::{Evidence, Violation};
use super::product_graph::{Edge, ProductGraph, Trouble, exact};
use crate::observer::Observer;
use crate::product::Product;
use crate::store::{Products, StateId};

/// A shortest accepted lasso; nothing if there is none, or the budget is spent first. With no more `work` than to look at
/// so many edges twice: a short one, if there is one nearby.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    work: Option<u64>,
    budget: &mut Budget<'_>,
) -> Option<Evidence> {
    let states = exact(product, budget);
    let mut search = Search {
        graph: ProductGraph::new(product, states),
        found: Vec::new(),
        number_of: Vec::new(),
        first_edge: vec![0],
        edges: Vec::new(),
        parents: Vec::new(),
        distances: Vec::new(),
        progress: Progress::default(),
    };
    match search.explore(work, budget) {
        Err(_) if work.is_none() => return None,
        // What was not expanded leads nowhere.
        _ => search.first_edge.resize(search.found.len() + 1, search.edges.len()),
    }
    search.shortest(work, budget)
}

struct Search<'p, 'a, S: System, O, P> {
    graph: ProductGraph<'p, 'a, S, O, P>,
    /// The states in the order in which they were found. Below, a state is its place here.
    found: Vec<StateId>,
    /// Per number of the graph, that place.
    number_of: Vec<u32>,
    /// The edges of state `s` are `edges[first_edge[s]..first_edge[s + 1]]`.
    first_edge: Vec<usize>,
    edges: Vec<Edge>,
    /// Per state, the edge by which it was found; none if it is initial.
    parents: Vec<Option<(u32, Edge)>>,
    /// Per state, the number of actions on the way to it.
    distances: Vec<u32>,
    progress: Progress,
}

impl<S: System, O: Observer, P: Products> Search<'_, '_, S, O, P> {
    fn explore(&mut self, work: Option<u64>, budget: &mut Budget<'_>) -> Result<(), Trouble> {
        self.graph.begin()?;
        for index in 0..self.graph.initial.len() {
            self.add(self.graph.initial[index].1, None, 0);
        }
        let mut edges = Vec::new();
        let mut next = 0;
        while next < self.found.len() && work.is_none_or(|work| (self.edges.len() as u64) < work) {
            self.graph.expand(self.found[next], None, &mut edges)?;
            for edge in &mut edges {
                if edge.is_new {
                    let distance = self.distances[next] + u32::from(edge.action.is_some());
                    self.add(edge.target, Some((next as u32, *edge)), distance);
                }
                edge.target = StateId::new(self.number_of[edge.target.index()] as usize);
            }
            self.edges.extend_from_slice(&edges);
            self.first_edge.push(self.edges.len());
            self.progress.transitions = self.edges.len() as u64;
            next += 1;
            self.poll(budget)?;
        }
        Ok(())
    }

    /// Adds a state that was just found, and how.
    fn add(&mut self, state: StateId, parent: Option<(u32, Edge)>, distance: u32) {
        let number = StateId::new(self.found.len());
        self.number_of.resize(self.graph.states.n_ids(), 0);
        self.number_of[state.index()] = number.index() as u32;
        self.found.push(state);
        self.parents.push(parent.map(|(from, edge)| (from, Edge { target: number, ..edge })));
        self.distances.push(distance);
    }

    fn observer_state(&self, number: usize) -> u32 {
        self.graph.states.observer_state(self.found[number])
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let n_states = self.graph.states.n_states();
        self.progress.states = n_states;
        let edge_bytes = self.edges.capacity() * size_of::<Edge>();
        self.progress.bytes = self.graph.bytes() + edge_bytes as u64 + 56 * n_states;
        budget.poll(&self.progress)
    }

    fn edges_of(&self, state: u32) -> &[Edge] {
        &self.edges[self.first_edge[state as usize]..self.first_edge[state as usize + 1]]
    }

    fn shortest(&mut self, work: Option<u64>, budget: &mut Budget<'_>) -> Option<Evidence> {
        let n_states = self.parents.len() as u32;
        let targets = |state: u32| self.edges_of(state).iter().map(|edge| edge.target.index()).collect();
        let successors: Vec<Vec<usize>> = (0..n_states).map(targets).collect();
        let found = automata::scc::components(&successors, |_, &next| Some(next), budget).ok()?;
        let inside = |state: u32, edge: &Edge| found.of[state as usize] == found.of[edge.target.index()];
        let all = self.graph.observer().all_marks();
        let mut marks: Vec<Option<u64>> = vec![None; found.n];
        for state in 0..n_states {
            for edge in self.edges_of(state).iter().filter(|edge| inside(state, edge)) {
                *marks[found.of[state as usize]].get_or_insert(0) |= edge.marks;
            }
        }
        let mut starts: Vec<u32> =
            (0..n_states).filter(|&state| marks[found.of[state as usize]] == Some(all)).collect();
        starts.sort_by_key(|&state| self.distances[state as usize]);
        let mut best: Option<(u32, u32, Vec<Edge>)> = None;
        let mut left = work.unwrap_or(u64::MAX);
        for start in starts {
            let distance = self.distances[start as usize];
            let limit = best.as_ref().map_or(u32::MAX, |best| best.0 - 1);
            if distance > limit || self.poll(budget).is_err() {
                break;
            }
            let is_inside = |edge: &Edge| found.of[edge.target.index()] == found.of[start as usize];
            if let Some(cycle) = self.cycle(start, all, limit - distance, &is_inside, &mut left) {
                let length = cycle.iter().filter(|edge| edge.action.is_some()).count() as u32;
                if distance + length <= limit {
                    best = Some((distance + length, start, cycle));
                }
            }
        }
        let (_, start, cycle) = best?;
        self.evidence(start, &cycle)
    }

    /// A shortest cycle from a state that sees all marks, of at most this many steps; nothing if no work is left.
    fn cycle(
        &self,
        start: u32,
        all: u64,
        max_steps: u32,
        is_inside: &dyn Fn(&Edge) -> bool,
        left: &mut u64,
    ) -> Option<Vec<Edge>> {
        type Node = (u32, u64);
        let mut parents: FxHashMap<Node, (Node, Edge)> = FxHashMap::default();
        let mut level: Vec<Node> = vec![(start, 0)];
        // At a deadlock a cycle of any length is no step at all.
        let n_levels = max_steps.max(1).saturating_add(64);
        for _ in 0..n_levels {
            let mut next = Vec::new();
            for &(state, marks) in &level {
                *left = left.checked_sub(1 + self.edges_of(state).len() as u64)?;
                for edge in self.edges_of(state).iter().filter(|edge| is_inside(edge)) {
                    let node = (edge.target.index() as u32, marks | edge.marks);
                    if parents.contains_key(&node) {
                        continue;
                    }
                    parents.insert(node, ((state, marks), *edge));
                    if node == (start, all) {
                        let mut cycle = vec![*edge];
                        let mut at = (state, marks);
                        while at != (start, 0) {
                            let (before, edge) = parents[&at];
                            cycle.push(edge);
                            at = before;
                        }
                        cycle.reverse();
                        return Some(cycle);
                    }
                    next.push(node);
                }
            }
            if next.is_empty() {
                return None;
            }
            level = next;
        }
        None
    }

    fn evidence(&self, start: u32, cycle: &[Edge]) -> Option<Evidence> {
        let mut prefix = Vec::new();
        let mut at = start;
        while let Some((parent, edge)) = self.parents[at as usize] {
            prefix.push(edge);
            at = parent;
        }
        let initial = self.graph.initial.iter().find(|initial| initial.1 == self.found[at as usize])?.0;
        let mut run = model::Run { initial, actions: Vec::new() };
        let mut observer_states = vec![self.observer_state(at as usize)];
        let mut cycle_start = 0;
        for (index, edge) in prefix.iter().rev().chain(cycle).enumerate() {
            if index == prefix.len() {
                cycle_start = run.actions.len();
            }
            if let Some(action) = edge.action {
                run.actions.push(action);
                observer_states.push(self.observer_state(edge.target.index()));
            }
        }
        Some(Evidence { violation: Violation::Cycle, run, cycle_start: Some(cycle_start), observer_states })
    }
}
