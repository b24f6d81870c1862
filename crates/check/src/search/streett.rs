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

use super::inside::Inside;
use super::roots::EdgeMarks;
use crate::fairness::{Acceptance, add};

/// A finished component: its states have numbers from 0.
pub(crate) trait Finished {
    /// Why looking at it may end early.
    type End: From<Limit>;

    fn n_states(&self) -> usize;

    /// What a part must have.
    fn acceptance(&self) -> &Acceptance;

    /// The marks that edges have.
    fn edge_marks(&self) -> &EdgeMarks;

    /// Appends the marks of a state, and adds its edges inside, with the numbers of their marks.
    fn look(
        &mut self,
        state: usize,
        marks: &mut Vec<u32>,
        inside: &mut Inside<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<(), Self::End>;
}

/// Finds a part of a component that is accepted and fair.
pub(crate) fn fair_part<F: Finished>(
    finished: &mut F,
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<u32>>, F::End> {
    let bytes_before = budget.max_bytes;
    let mut component = Component::new(finished, budget)?;
    let (acceptance, edge_marks) = (finished.acceptance(), finished.edge_marks());
    let mut found = None;
    let mut work: Vec<Vec<u32>> = vec![(0..finished.n_states() as u32).collect()];
    while let Some(part) = work.pop()
        && found.is_none()
    {
        let inner = component.inside.components(&part, budget)?;
        for inside in Inside::<u32>::split(&part, &inner) {
            let Some(marks) = component.marks(&inside, &inner, edge_marks, budget)? else { continue };
            if acceptance.holds(&marks) {
                found = Some(inside);
                break;
            }
            if acceptance.may_hold(&marks) {
                let is_good = |&state: &u32| !acceptance.is_bad(component.state(state), &marks);
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
    fn new<F: Finished>(finished: &mut F, budget: &mut Budget<'_>) -> Result<Component, F::End> {
        let n_states = finished.n_states();
        let mut component = Component { n_words: 0, states: Vec::new(), inside: Inside::new(n_states) };
        for state in 0..n_states {
            let n_edges = component.inside.n_edges();
            finished.look(state, &mut component.states, &mut component.inside, budget)?;
            component.inside.end();
            component.n_words = component.states.len() / (state + 1);
            let state_bytes = component.n_words * size_of::<u32>() + Inside::<u32>::STATE_BYTES;
            let edge_bytes = (component.inside.n_edges() - n_edges) * Inside::<u32>::EDGE_BYTES;
            budget.hold((state_bytes + edge_bytes) as u64)?;
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
