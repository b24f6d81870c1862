//! Strongly fair parts of a component.
//!
//! # Idea
//! Inside a strong component, a constraint that is enabled somewhere and taken nowhere spoils each
//! cycle through a state that enables it. These states are taken away, and the strong components of
//! what is left are looked at in the same way. A component that has what is required, and takes every strong
//! constraint that it enables, has a fair accepted cycle. [malinen.03.fairness], Algorithm 16, after
//! Lichtenstein and Pnueli.
//!
//! # When should I use this?
//! [`couvreur`](super::couvreur) does, on finished components that lack nothing but strong fairness.
//!
//! # Requirements and limits
//! Memory for the edges of one component.
//!
//! # Differences from the paper
//! - The recursion is a work list.
//! - The first line of Algorithms 15 and 16 must say that there is *no* transition: trivial components are
//!   passed over.
//! - Acceptance is generalized, and weak constraints are part of it.

use automata::scc::components;
use base::Budget;
use model::System;
use rustc_hash::FxHashSet;

use super::couvreur::{End, Search};
use crate::fairness::add;
use crate::observer::Observer;
use crate::store::{Products, StateId};

/// A component, with its edges inside.
struct Component {
    n_words: usize,
    /// Per state, its marks.
    states: Vec<u32>,
    /// Per state, targets and marks of its edges.
    edges: Vec<Vec<(u32, Vec<u32>)>>,
}

/// Finds a part of a component, given by its states in the order in which they were entered, that is accepted and fair.
pub(super) fn fair_part<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    members: &[StateId],
) -> Result<Option<FxHashSet<u32>>, End> {
    let component = Component::new(search, members)?;
    let mut work: Vec<Vec<usize>> = vec![(0..members.len()).collect()];
    while let Some(part) = work.pop() {
        for inside in component.parts(&part) {
            let Some(marks) = component.marks(&inside) else { continue };
            if search.acceptance.holds(&marks) {
                return Ok(Some(inside.iter().map(|&state| members[state].index() as u32).collect()));
            }
            if search.acceptance.may_hold(&marks) {
                let is_good = |&state: &usize| !search.acceptance.is_bad(component.state(state), &marks);
                work.push(inside.into_iter().filter(is_good).collect());
            }
        }
    }
    Ok(None)
}

impl Component {
    fn new<S: System, O: Observer, P: Products>(
        search: &mut Search<'_, '_, S, O, P>,
        members: &[StateId],
    ) -> Result<Component, End> {
        let first = search.order_of(members[0]);
        let mut component = Component { n_words: 0, states: Vec::new(), edges: Vec::new() };
        for &member in members {
            search.expand(member)?;
            component.n_words = search.graph.state_marks().len();
            component.states.extend_from_slice(search.graph.state_marks());
            let mut row = Vec::new();
            for index in 0..search.edges.len() {
                let edge = search.edges[index];
                let order = search.order_of(edge.target);
                // Members were entered one after the other.
                if let Some(local) = order.checked_sub(first)
                    && (local as usize) < members.len()
                {
                    row.push((local, search.marks(&edge).to_vec()));
                }
            }
            component.edges.push(row);
        }
        Ok(component)
    }

    fn state(&self, state: usize) -> &[u32] {
        &self.states[state * self.n_words..(state + 1) * self.n_words]
    }

    /// The strong components of a part.
    fn parts(&self, part: &[usize]) -> Vec<Vec<usize>> {
        let mut local = vec![usize::MAX; self.edges.len()];
        part.iter().enumerate().for_each(|(index, &state)| local[state] = index);
        let successors = |&state: &usize| -> Vec<usize> {
            let targets = self.edges[state].iter().map(|edge| local[edge.0 as usize]);
            targets.filter(|&target| target != usize::MAX).collect()
        };
        let successors: Vec<Vec<usize>> = part.iter().map(successors).collect();
        let found = components(&successors, |_, &next| Some(next), &mut Budget::unlimited());
        let found = found.expect("a budget without limits is never spent");
        let mut parts = vec![Vec::new(); found.n];
        part.iter().enumerate().for_each(|(index, &state)| parts[found.of[index]].push(state));
        parts
    }

    /// The marks of a part, if there is an edge inside.
    fn marks(&self, part: &[usize]) -> Option<Vec<u32>> {
        let inside: FxHashSet<usize> = part.iter().copied().collect();
        let mut marks = vec![0; self.n_words];
        let mut has_edge = false;
        for &state in part {
            add(&mut marks, self.state(state));
            for (_, edge) in self.edges[state].iter().filter(|edge| inside.contains(&(edge.0 as usize))) {
                add(&mut marks, edge);
                has_edge = true;
            }
        }
        has_edge.then_some(marks)
    }
}
