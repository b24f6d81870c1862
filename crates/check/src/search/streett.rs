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
//! Memory for the edges of one component, eight bytes each.
//!
//! # Differences from the paper
//! - The recursion is a work list.
//! - The first line of Algorithms 15 and 16 must say that there is *no* transition: trivial components are
//!   passed over.
//! - Acceptance is generalized, and weak constraints are part of it.

use automata::scc::Components;
use base::{Budget, Limit};
use model::System;
use rustc_hash::FxHashSet;

use super::couvreur::{End, Search};
use super::inside::Inside;
use super::roots::EdgeMarks;
use crate::fairness::add;
use crate::observer::Observer;
use crate::store::{Products, StateId};

/// Finds a part of a component, given by its states in the order in which they were entered, that is accepted and fair.
pub(super) fn fair_part<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    members: &[StateId],
    budget: &mut Budget<'_>,
) -> Result<Option<FxHashSet<u32>>, End> {
    let bytes_before = budget.max_bytes;
    let mut component = Component::new(search, members, budget)?;
    let mut found = None;
    let mut work: Vec<Vec<u32>> = vec![(0..members.len() as u32).collect()];
    while let Some(part) = work.pop()
        && found.is_none()
    {
        let inner = component.inside.components(&part, budget)?;
        for inside in Inside::<u32>::split(&part, &inner) {
            let Some(marks) = component.marks(&inside, &inner, &search.edge_marks, budget)? else { continue };
            if search.acceptance.holds(&marks) {
                found = Some(inside.iter().map(|&state| members[state as usize].index() as u32).collect());
                break;
            }
            if search.acceptance.may_hold(&marks) {
                let is_good = |&state: &u32| !search.acceptance.is_bad(component.state(state), &marks);
                work.push(inside.into_iter().filter(is_good).collect());
            }
        }
    }
    budget.max_bytes = bytes_before;
    Ok(found)
}

/// A component, with its edges inside.
struct Component {
    n_words: usize,
    /// Per state, its marks.
    states: Vec<u32>,
    /// The edges, with the numbers of their marks.
    inside: Inside<u32>,
}

impl Component {
    fn new<S: System, O: Observer, P: Products>(
        search: &mut Search<'_, '_, S, O, P>,
        members: &[StateId],
        budget: &mut Budget<'_>,
    ) -> Result<Component, End> {
        let n_words = search.graph.fairness().n_words();
        let state_bytes = n_words * size_of::<u32>() + Inside::<u32>::STATE_BYTES;
        let first = search.order_of(members[0]);
        let states = Vec::with_capacity(n_words * members.len());
        let mut component = Component { n_words, states, inside: Inside::new(members.len()) };
        for &member in members {
            search.expand(member)?;
            component.states.extend_from_slice(search.graph.state_marks());
            let mut edge_bytes = 0;
            for index in 0..search.edges.len() {
                let edge = search.edges[index];
                let order = search.order_of(edge.target);
                // Members were entered one after the other.
                if let Some(local) = order.checked_sub(first)
                    && (local as usize) < members.len()
                {
                    component.inside.add(local, search.marks_of(&edge));
                    edge_bytes += Inside::<u32>::EDGE_BYTES;
                }
            }
            component.inside.end();
            budget.hold((state_bytes + edge_bytes) as u64)?;
            search.poll(budget)?;
        }
        Ok(component)
    }

    fn state(&self, state: u32) -> &[u32] {
        &self.states[state as usize * self.n_words..][..self.n_words]
    }

    /// The marks of one of the components that were found last, if there is an edge inside.
    fn marks(
        &self,
        inside: &[u32],
        found: &Components,
        edge_marks: &EdgeMarks,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<u32>>, Limit> {
        let mut marks = vec![0; self.n_words];
        let mut has_edge = false;
        for &state in inside {
            budget.tick()?;
            add(&mut marks, self.state(state));
            for number in self.inside.edges_within(state, found) {
                add(&mut marks, edge_marks.get(number));
                has_edge = true;
            }
        }
        Ok(has_edge.then_some(marks))
    }
}
