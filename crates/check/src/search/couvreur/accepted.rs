//! What [`couvreur`](super) found: the states among which there is an accepted cycle, in the component that grows, on the path, or in
//! a strongly fair part of a component that is finished.

use base::Budget;
use fixedbitset::FixedBitSet;
use model::System;

use super::Search;
use crate::fairness::Acceptance;
use crate::observer::Observer;
use crate::search::Violation;
use crate::search::found::Found;
use crate::search::inside::Inside;
use crate::search::path::DEAD;
use crate::search::roots::EdgeMarks;
use crate::search::streett::{Finished, fair_part};
use crate::store::{Products, StateId};

impl<S: System, O: Observer, P: Products> Search<'_, '_, S, O, P> {
    /// The component on top is accepted.
    #[cold]
    pub(super) fn accepted(&self) -> Found {
        let orders = self.roots.order()..DEAD;
        self.inside(|state| orders.contains(&self.order_of(state)))
    }

    /// The states on the path from this one on make up a livelock.
    #[cold]
    pub(super) fn livelock(&self, start: StateId) -> Found {
        let first = self.order_of(start);
        let inside = self.states(|state| self.path.is_on_path(state) && self.order_of(state) >= first);
        Found::inside(Violation::Livelock, self.graph.fairness().acceptance(0), inside)
    }

    /// Looks for a strongly fair part of the component on top, which was left, and whose first state has this order.
    pub(super) fn look_for_fair_part(&mut self, order: u32, budget: &mut Budget<'_>) -> Result<(), Found> {
        let mut members: Vec<StateId> = self.path.left_since(order).collect();
        members.sort_unstable_by_key(|&state| self.order_of(state));
        match fair_part(&mut Members { search: self, members: &members }, budget)? {
            None => Ok(()),
            Some(part) => {
                let part = part.into_iter().map(|state| members[state as usize].index()).collect();
                Err(Found::inside(self.scope.violation(), self.acceptance.clone(), part))
            }
        }
    }

    fn inside(&self, is_so: impl Fn(StateId) -> bool) -> Found {
        Found::inside(self.scope.violation(), self.acceptance.clone(), self.states(is_so))
    }

    /// The states that are so.
    fn states(&self, is_so: impl Fn(StateId) -> bool) -> FixedBitSet {
        let mut states = FixedBitSet::with_capacity(self.graph.states.n_ids());
        states.extend(self.graph.states.ids().filter(|&state| is_so(state)).map(StateId::index));
        states
    }
}

/// A finished component, given by its states in the order in which they were entered.
struct Members<'m, 'p, 'a, S: System, O, P> {
    search: &'m mut Search<'p, 'a, S, O, P>,
    members: &'m [StateId],
}

impl<S: System, O: Observer, P: Products> Finished for Members<'_, '_, '_, S, O, P> {
    type End = Found;

    fn n_states(&self) -> usize {
        self.members.len()
    }

    fn acceptance(&self) -> &Acceptance {
        &self.search.acceptance
    }

    fn edge_marks(&self) -> &EdgeMarks {
        &self.search.edge_marks
    }

    fn look(
        &mut self,
        state: usize,
        marks: &mut Vec<u32>,
        inside: &mut Inside<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<(), Found> {
        let Members { search, members } = self;
        let first = search.order_of(members[0]);
        search.expand(members[state])?;
        marks.extend_from_slice(search.graph.state_marks());
        for index in 0..search.edges.len() {
            let edge = search.edges[index];
            // Members were entered one after the other.
            if let Some(local) = search.order_of(edge.target).checked_sub(first)
                && (local as usize) < members.len()
            {
                inside.add(local, search.marks_of(&edge));
            }
        }
        search.poll(budget)
    }
}
