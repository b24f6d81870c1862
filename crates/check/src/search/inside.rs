//! The edges inside a strong component, and the strong components of parts of it.
//!
//! States of the component are numbered from 0. A part is a list of them.

use automata::scc::{Components, components_by};
use base::{Budget, Limit};

/// The edges inside a component, each with something.
pub(crate) struct Inside<E> {
    /// Per state, where its edges end; those of the next one begin there.
    ends: Vec<usize>,
    /// Targets.
    edges: Vec<(u32, E)>,
    /// Per state, where it is in the part that is looked at.
    places: Vec<u32>,
    /// That part.
    part: Vec<u32>,
}

const ELSEWHERE: u32 = u32::MAX;

impl<E: Copy> Inside<E> {
    /// What a state takes, with what parts take: the list of a part, that of a part of it, its number, and room for a vector.
    pub(crate) const STATE_BYTES: usize =
        4 * size_of::<u32>() + 2 * size_of::<usize>() + size_of::<Vec<u32>>();
    /// What an edge takes.
    pub(crate) const EDGE_BYTES: usize = size_of::<(u32, E)>();

    /// A component of so many states, the edges of which are added one after the other.
    pub(crate) fn new(n_states: usize) -> Inside<E> {
        let ends = Vec::with_capacity(n_states);
        Inside { ends, edges: Vec::new(), places: vec![ELSEWHERE; n_states], part: Vec::new() }
    }

    /// One more edge of the present state.
    pub(crate) fn add(&mut self, target: u32, edge: E) {
        self.edges.push((target, edge));
    }

    /// How many edges there are so far.
    pub(crate) fn n_edges(&self) -> usize {
        self.edges.len()
    }

    /// These were all edges of the present state.
    pub(crate) fn end(&mut self) {
        self.ends.push(self.edges.len());
    }

    fn edges(&self, state: u32) -> &[(u32, E)] {
        let begin = state.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.edges[begin..self.ends[state as usize]]
    }

    /// The strong components of a part, which is looked at from now on.
    pub(crate) fn components(&mut self, part: &[u32], budget: &mut Budget<'_>) -> Result<Components, Limit> {
        for &state in &self.part {
            self.places[state as usize] = ELSEWHERE;
        }
        self.part.clear();
        self.part.extend_from_slice(part);
        for (&state, place) in part.iter().zip(0..) {
            self.places[state as usize] = place;
        }
        let target = |place: usize, number: usize| {
            let target = self.places[self.edges(part[place]).get(number)?.0 as usize];
            Some((target != ELSEWHERE).then_some(target as usize))
        };
        components_by(part.len(), target, budget)
    }

    /// A part by its components.
    pub(crate) fn split(part: &[u32], found: &Components) -> Vec<Vec<u32>> {
        let mut insides = vec![Vec::new(); found.n];
        part.iter().zip(&found.of).for_each(|(&state, &of)| insides[of].push(state));
        insides
    }

    /// The edges from a state of the part that is looked at to its own component.
    pub(crate) fn edges_within<'i>(
        &'i self,
        state: u32,
        found: &'i Components,
    ) -> impl Iterator<Item = E> + 'i {
        let component_of = |state: u32| found.of.get(self.places[state as usize] as usize);
        let own = component_of(state);
        self.edges(state).iter().filter(move |edge| component_of(edge.0) == own).map(|edge| edge.1)
    }

    /// The strong components of a part that have an edge.
    pub(crate) fn cyclic(&mut self, part: &[u32], budget: &mut Budget<'_>) -> Result<Vec<Vec<u32>>, Limit> {
        let found = self.components(part, budget)?;
        let mut insides = Self::split(part, &found);
        insides.retain(|inside| self.edges_within(inside[0], &found).next().is_some());
        Ok(insides)
    }
}
