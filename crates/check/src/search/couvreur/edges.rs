//! The edges of a state, as [`couvreur`](super) looks at them: when it is entered, when its component was repaired, and once
//! more when it is left, if the component lacks marks that an edge had.

use base::Limit;
use model::{ActionId, System};

use super::{Search, Via};
use crate::fairness::add;
use crate::observer::Observer;
use crate::search::found::{Found, Scope};
use crate::search::path::{DEAD, NEW};
use crate::search::product_graph::Edge;
use crate::search::repair::Taken;
use crate::search::roots::push_marks;
use crate::store::{Products, StateId};

impl<S: System, O: Observer, P: Products> Search<'_, '_, S, O, P> {
    /// The number of the marks of an edge.
    #[inline]
    pub(super) fn marks_of(&mut self, edge: &Edge) -> u32 {
        self.edge_marks.number(self.graph.fairness(), self.scope.marks(edge.marks), edge.action)
    }

    /// Looks at the edges of the state that was just entered. Those to new states wait.
    pub(super) fn look_at_edges(&mut self) -> Result<(), Found> {
        self.waiting_marks.fill(0);
        for index in (0..self.edges.len()).rev() {
            self.look_at(self.edges[index])?;
        }
        Ok(push_marks(&mut self.frames, &self.waiting_marks)?)
    }

    /// Looks at an edge from the component on top.
    fn look_at(&mut self, edge: Edge) -> Result<(), Found> {
        let Edge { target, silent, .. } = edge;
        let marks = self.marks_of(&edge);
        match self.order_of(target) {
            NEW => {
                if marks > u32::MAX >> 1 {
                    return Err(Limit::OutOfMemory.into());
                }
                self.path.wait(target);
                self.via.set(target.index(), Via { marks, silent }.encode())?;
                add(&mut self.waiting_marks, self.edge_marks.get(marks));
            }
            DEAD => {}
            order => {
                if silent && self.closes_livelock(target, order) {
                    return Err(self.livelock(target));
                }
                self.roots.merge(order, self.edge_marks.get(marks), &self.edge_marks);
                self.accept()?;
            }
        }
        Ok(())
    }

    /// The actions that matter and were left out of the state that was expanded last.
    pub(in crate::search) fn leaves_out(&self) -> impl Iterator<Item = ActionId> {
        let scope = self.scope;
        let left_out = self.graph.left_out().filter(move |&(_, is_seen)| scope == Scope::All || !is_seen);
        left_out.map(|(action, _)| action)
    }

    /// From now on these are taken besides, in a state of the component on top: looks at them as if its root had these
    /// edges. But they do not go on from the path.
    pub(in crate::search) fn look_at_repaired(
        &mut self,
        state: StateId,
        taken: &[Taken],
    ) -> Result<(), Found> {
        self.expand(state)?;
        let before = std::mem::take(&mut self.edges);
        for &(_, action) in taken {
            self.graph.take_extra(state, action);
        }
        self.expand(state)?;
        self.make_room()?;
        for index in (0..self.edges.len()).rev() {
            let edge = self.edges[index];
            // What was taken before was looked at, and is not counted again.
            let is_same = |known: &Edge| (known.target, known.action) == (edge.target, edge.action);
            if !before.iter().any(is_same) {
                self.progress.transitions += 1;
                self.look_at(Edge { silent: false, ..edge })?;
            }
        }
        Ok(())
    }

    /// Ends the search if the component on top is accepted.
    #[inline]
    fn accept(&self) -> Result<(), Found> {
        let accepted = self.acceptance.holds(self.roots.marks());
        if accepted { Err(self.accepted()) } else { Ok(()) }
    }

    /// Adds the marks of all edges from a state of this order to states of its component that were entered
    /// later. These are edges of the unreduced product, which is no harm.
    pub(super) fn look_again(&mut self, state: StateId, order: u32) -> Result<(), Found> {
        let mut edges = std::mem::take(&mut self.edges);
        let known = self.graph.known_edges(state, &mut edges);
        known.map_err(|trouble| Found::Trouble(trouble, Some(state)))?;
        let scope = self.scope;
        for edge in edges.iter().filter(|edge| scope == Scope::All || edge.silent) {
            let target = self.order_of(edge.target);
            if target != DEAD && target > order {
                let marks = self.marks_of(edge);
                self.roots.add(self.edge_marks.get(marks));
            }
        }
        self.edges = edges;
        self.accept()
    }
}
