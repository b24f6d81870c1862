//! What one worker does with a component that it has closed, while others go on elsewhere: it repairs it, and looks into it for strong
//! fairness.
//!
//! # Repairing
//! The worker that closed a set looks for cycles along which something that matters is left out, as the sequential search does (`search::repair`,
//! where the condition CYCLE is, and why it is enough). It may do so alone and without haste: *while the set is closed, all cycles of steps of sets through its
//! states lie in it as a whole, and nothing of that changes.* For all its states are tombs, so all their edges lead into the set or to
//! finished components; there is no union, and no state of it is expanded by anybody.
//!
//! What must be taken besides is put into the set as the edges of a new state, which belongs to the set and to no store. That changes no
//! strong component: the edges belong to states of the set, all of which reach each other. Workers go on with the new state, until the set, which may have
//! grown, is closed again. Then only states are looked at that were not before: a cycle through one that was lies in the set as it was then, and was cut, if
//! it had to be. So in the end CYCLE holds everywhere, and a component is finished only when it does.
//!
//! The marks of the new edges are collected by rule M, like all others. Strong fairness must not be told by them, as the new state
//! is no state of the product: there, each state has its own edges, with what it takes besides.
//!
//! # Strong fairness
//! Judged when the component is finished, by the worker that finished it, while others go on (`search::streett`). All edges inside a finished component are
//! final, so this needs no lock. Several components are looked into at once, each by one worker; large ones by all, in the next pass
//! ([`parts`](super::parts)).

use base::{Budget, Limit};
use model::{ActionId, System};

use super::explorer::{End, Explorer, Extra};
use super::members::Flag;
use super::union_find::UnionFind;
use crate::fairness::Acceptance;
use crate::observer::Observer;
use crate::reduction::Repair;
use crate::search::found::Found;
use crate::search::inside::Inside;
use crate::search::left_out::LeftOut;
use crate::search::product_graph::Trouble;
use crate::search::repair::{Part, Repairer, too_many};
use crate::search::roots::EdgeMarks;
use crate::search::streett::{Finished, fair_part};
use crate::store::shared::arena::Cell;
use crate::store::{Products, StateId};
use crate::sync::{Ordering, lock};

impl<S: System, O: Observer, A: Cell> Explorer<'_, '_, S, O, A> {
    /// The states of a set, in the order of their numbers.
    pub(super) fn members(&self, root: u32, is_wanted: impl Fn(u32) -> bool) -> Vec<StateId> {
        let members = self.common.sets.members(root).filter(|&state| is_wanted(state));
        let mut members: Vec<StateId> = members.map(|state| StateId::new(state as usize)).collect();
        members.sort_unstable();
        members
    }

    /// Repairs a set that was closed. Returns the state that has what is taken besides.
    pub(super) fn repair_set(&mut self, root: u32) -> Result<Option<u32>, End> {
        let sets = &self.common.sets;
        let states = self.members(root, |state| sets.is_flagged(state) && !sets.has(state, Flag::Second));
        if states.is_empty() {
            return Ok(None);
        }
        let mut budget = self.budget.share();
        budget.hold((states.len() * (Inside::<()>::STATE_BYTES + 16)) as u64)?;
        let mut inside = Inside::new(states.len());
        for &id in &states {
            let n_edges = inside.n_edges();
            self.edges_of(id.index() as u32)?;
            for edge in self.edges.iter().filter(|edge| self.graph.counts(id, edge, &[])) {
                if let Ok(local) = states.binary_search(&edge.target) {
                    inside.add(local as u32, ());
                }
            }
            inside.end();
            budget.hold(((inside.n_edges() - n_edges) * Inside::<()>::EDGE_BYTES) as u64)?;
            self.poll_alone(&mut budget)?;
        }
        let part = Part::repaired(self, states.clone(), inside, &mut budget)?;
        let mut repaired = lock(&self.common.repaired);
        let mut bytes = 0;
        let mut added = Vec::new();
        for (id, taken) in part.iter().flat_map(Part::taken) {
            let actions: Option<Vec<ActionId>> = taken.iter().map(|&(_, action)| action).collect();
            bytes += 64 + 8 * actions.as_ref().map_or(0, Vec::len) as u64;
            let state = id.index() as u32;
            repaired.extra.insert(state, actions.map_or(Extra::All, Extra::Actions));
            added.push(state);
        }
        // From now on, what they take besides is looked up.
        states.iter().for_each(|state| sets.flag(state.index() as u32, Flag::Second));
        self.common.counts.repair_bytes.fetch_add(bytes, Ordering::Relaxed);
        if added.is_empty() {
            return Ok(None);
        }
        repaired.added.push(added);
        let new = UnionFind::<A>::VIRTUAL as usize + repaired.added.len() - 1;
        if new >= UnionFind::<A>::VIRTUAL as usize * 2 - 2 {
            return Err(Limit::OutOfMemory.into());
        }
        Ok(Some(new as u32))
    }

    /// Looks for a fair part of a component that is finished, and lacks only strong fairness. These are its states, sorted.
    pub(super) fn look_for_fair_part(&mut self, states: &[StateId]) -> Result<(), End> {
        let mut budget = self.budget.share();
        match fair_part(&mut Component { explorer: self, states }, &mut budget)? {
            Some(part) => {
                let part = part.into_iter().map(|local| states[local as usize].index()).collect();
                let common = self.common;
                let found = Found::inside(common.scope.violation(), common.acceptance.clone(), part);
                Err(End::Found(found))
            }
            None => Ok(()),
        }
    }
}

/// A finished component, whose states are in the order of their numbers.
struct Component<'c, 'e, 'a, S: System, O, A> {
    explorer: &'c mut Explorer<'e, 'a, S, O, A>,
    states: &'c [StateId],
}

impl<S: System, O: Observer, A: Cell> Finished for Component<'_, '_, '_, S, O, A> {
    type End = End;

    fn n_states(&self) -> usize {
        self.states.len()
    }

    fn acceptance(&self) -> &Acceptance {
        &self.explorer.common.acceptance
    }

    fn edge_marks(&self) -> &EdgeMarks {
        &self.explorer.edge_marks
    }

    fn look(
        &mut self,
        state: usize,
        marks: &mut Vec<u32>,
        inside: &mut Inside<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        let Component { explorer, states } = self;
        explorer.edges_of(states[state].index() as u32)?;
        let Explorer { graph, edges, edge_marks, common, .. } = &mut **explorer;
        marks.extend_from_slice(graph.state_marks());
        for edge in edges {
            if let Ok(local) = states.binary_search(&edge.target) {
                let marks = common.scope.marks(edge.marks);
                inside.add(local as u32, edge_marks.number(graph.fairness(), marks, edge.action));
            }
        }
        explorer.poll_alone(budget)
    }
}

impl<S: System, O: Observer, A: Cell> Repairer for Explorer<'_, '_, S, O, A> {
    type End = End;

    fn repair(&self) -> Option<&Repair> {
        self.graph.product_repair()
    }

    fn left_out(&mut self, state: StateId, out: &mut LeftOut) -> Result<usize, End> {
        self.edges_of(state.index() as u32)?;
        let actions: Vec<ActionId> = self.graph.left_out().map(|(action, _)| action).collect();
        out.note(&mut self.graph, &actions);
        Ok(self.edges.len())
    }

    fn n_unknown(&mut self, state: StateId) -> Result<usize, End> {
        match self.graph.n_unknown_by_all(state) {
            // What goes wrong here goes wrong again when it is taken.
            Err(Trouble::Fault(_)) => Ok(usize::MAX),
            n_unknown => n_unknown.map_err(|trouble| End::trouble(trouble, state.index() as u32)),
        }
    }

    fn gives_up(&mut self, n_more: usize) -> bool {
        self.n_tries += n_more as u64;
        self.n_tries > too_many(self.graph.states.n_states())
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.poll_alone(budget)
    }
}
