//! Strong components, in one pass, until one is found that will do.
//!
//! Tarjan's algorithm with an explicit stack [tarjan.72.sicomp]. It finishes components in an
//! order such that everything a component leads to was finished before it. So when a component
//! with an enabled action is finished and nothing below it has one, the enabled actions of its
//! closure are its own: a locally optimal stubborn set, as 001 says before Algorithm 4.3.

use crate::choose::Query;

/// What a component must have, and what may not lie below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An enabled action.
    Enabled,
    /// An enabled action that does not move the observer.
    Silent,
    /// An enabled action, and none that moves the observer.
    OnlySilent,
}

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tarjan {
    /// Per vertex: when it was entered, counted from 1; 0 is never. Valid if `entered_in` is the
    /// current epoch.
    order: Vec<u32>,
    low: Vec<u32>,
    epoch_of: Vec<u32>,
    /// Whether the component it is in is finished, and whether that leads to what is wanted.
    finished: Vec<bool>,
    leads_to_wanted: Vec<bool>,
    epoch: u32,
    next_order: u32,
    frames: Vec<(u32, u32)>,
    open: Vec<u32>,
    best: Vec<u32>,
}

impl Tarjan {
    pub(crate) fn new(n_vertices: usize) -> Tarjan {
        Tarjan {
            order: vec![0; n_vertices],
            low: vec![0; n_vertices],
            epoch_of: vec![0; n_vertices],
            finished: vec![false; n_vertices],
            leads_to_wanted: vec![false; n_vertices],
            ..Tarjan::default()
        }
    }

    /// Enabled actions of a component that has what is wanted while nothing below it has: of all
    /// such components, one with the fewest enabled actions. Empty if there is none.
    pub(crate) fn search(&mut self, query: &mut Query<'_>, roots: &[u32], wanted: Wanted) -> &[u32] {
        self.epoch += 1;
        self.next_order = 0;
        self.best.clear();
        for &root in roots {
            if self.epoch_of[root as usize] != self.epoch && self.search_from(query, root, wanted) {
                break;
            }
        }
        self.frames.clear();
        self.open.clear();
        &self.best
    }

    /// Returns whether the search may stop: no better component can be found.
    fn search_from(&mut self, query: &mut Query<'_>, root: u32, wanted: Wanted) -> bool {
        self.enter(root);
        while let Some(&mut (vertex, ref mut cursor)) = self.frames.last_mut() {
            match query.neighbor(vertex, *cursor) {
                Some(next) => {
                    *cursor += 1;
                    self.follow(vertex, next);
                }
                None => {
                    self.frames.pop();
                    if self.leave(vertex) && self.finish(query, vertex, wanted) {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn enter(&mut self, vertex: u32) {
        let at = vertex as usize;
        self.next_order += 1;
        self.epoch_of[at] = self.epoch;
        self.order[at] = self.next_order;
        self.low[at] = self.next_order;
        self.finished[at] = false;
        self.leads_to_wanted[at] = false;
        self.open.push(vertex);
        self.frames.push((vertex, 0));
    }

    #[inline]
    fn follow(&mut self, vertex: u32, next: u32) {
        let (at, to) = (vertex as usize, next as usize);
        if self.epoch_of[to] != self.epoch {
            self.enter(next);
        } else if self.finished[to] {
            self.leads_to_wanted[at] |= self.leads_to_wanted[to];
        } else {
            self.low[at] = self.low[at].min(self.order[to]);
        }
    }

    /// Tells the vertex before about this one; returns whether it is the root of its component.
    fn leave(&mut self, vertex: u32) -> bool {
        let at = vertex as usize;
        if let Some(&(before, _)) = self.frames.last() {
            let before = before as usize;
            self.low[before] = self.low[before].min(self.low[at]);
        }
        self.low[at] == self.order[at]
    }

    /// Finishes the component of a root; returns whether the search may stop.
    fn finish(&mut self, query: &Query<'_>, root: u32, wanted: Wanted) -> bool {
        let start = self.open.iter().rposition(|&vertex| vertex == root).unwrap_or(0);
        let component = &self.open[start..];
        let below = component.iter().any(|&vertex| self.leads_to_wanted[vertex as usize]);
        let enabled = component.iter().copied().filter(|&vertex| query.is_enabled(vertex));
        let has_wanted = match wanted {
            Wanted::Enabled | Wanted::OnlySilent => enabled.clone().next().is_some(),
            Wanted::Silent => enabled.clone().any(|action| !query.moves(action)),
        };
        let is_spoiled = wanted == Wanted::OnlySilent && enabled.clone().any(|action| query.moves(action));
        if has_wanted && !below && !is_spoiled {
            let n_enabled = enabled.clone().count();
            if self.best.is_empty() || n_enabled < self.best.len() {
                self.best.clear();
                self.best.extend(enabled);
            }
        }
        for &vertex in component {
            self.finished[vertex as usize] = true;
            self.leads_to_wanted[vertex as usize] = below || has_wanted;
        }
        // The vertex before the root, if any, leads to this component.
        if let Some(&(before, _)) = self.frames.last() {
            self.leads_to_wanted[before as usize] |= below || has_wanted;
        }
        self.open.truncate(start);
        self.best.len() == 1 || self.best.len() == query.n_enabled()
    }
}
