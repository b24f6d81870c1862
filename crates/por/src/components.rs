//! Strong components, in one pass, until one is found that will do.
//!
//! Tarjan's algorithm with an explicit stack [tarjan.72.sicomp]. It finishes components in an
//! order such that everything a component leads to was finished before it. So when a component
//! with an enabled action is finished and nothing below it has one, the enabled actions of its
//! closure are its own: a locally optimal stubborn set, as [valmari.93.cav] says before Algorithm 4.3.

use crate::query::{Neighbors, Query};

/// What a component must have, and what may not lie below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An enabled action.
    Enabled,
    /// An enabled action that does not move the observer.
    Silent,
    /// An enabled action, and none that moves the observer.
    OnlySilent,
    /// A key ([`Query::is_key`]), perhaps one that the observer blocks.
    Key,
}

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tarjan {
    /// Per vertex.
    marks: Vec<Mark>,
    epoch: u32,
    next_order: u32,
    frames: Vec<(u32, Neighbors)>,
    open: Vec<u32>,
    /// A vertex of the best component, and how many of its actions are enabled.
    best: Option<(u32, usize)>,
}

/// What is known of a vertex, if `epoch` is the current one.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    epoch: u32,
    /// When it was entered.
    order: u32,
    low: u32,
    /// Whether the component it is in is finished, and whether that leads to what is wanted.
    finished: bool,
    leads_to_wanted: bool,
}

impl Tarjan {
    pub(crate) fn new(n_vertices: usize) -> Tarjan {
        Tarjan { marks: vec![Mark::default(); n_vertices], ..Tarjan::default() }
    }

    /// A vertex of a component that has what is wanted while nothing below it has: of all
    /// such components, one with the fewest enabled actions.
    pub(crate) fn search(&mut self, query: &mut Query<'_>, roots: &[u32], wanted: Wanted) -> Option<u32> {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.marks.fill(Mark::default());
            self.epoch = 1;
        }
        self.next_order = 0;
        self.best = None;
        for &root in roots {
            if self.marks[root as usize].epoch != self.epoch && self.search_from(query, root, wanted) {
                break;
            }
        }
        self.frames.clear();
        self.open.clear();
        self.best.map(|(vertex, _)| vertex)
    }

    /// Returns whether the search may stop: no better component can be found.
    fn search_from(&mut self, query: &mut Query<'_>, root: u32, wanted: Wanted) -> bool {
        self.enter(query, root);
        while let Some((vertex, neighbors)) = self.frames.last_mut() {
            match query.next_neighbor(neighbors) {
                Some(next) => {
                    let vertex = *vertex;
                    self.follow(query, vertex, next);
                }
                None => {
                    let vertex = *vertex;
                    self.frames.pop();
                    if self.leave(vertex) && self.finish(query, vertex, wanted) {
                        return true;
                    }
                }
            }
        }
        false
    }

    fn enter(&mut self, query: &Query<'_>, vertex: u32) {
        self.next_order += 1;
        self.marks[vertex as usize] = Mark {
            epoch: self.epoch,
            order: self.next_order,
            low: self.next_order,
            finished: false,
            leads_to_wanted: false,
        };
        self.open.push(vertex);
        self.frames.push((vertex, query.neighbors(vertex)));
    }

    #[inline]
    fn follow(&mut self, query: &Query<'_>, vertex: u32, next: u32) {
        let to = self.marks[next as usize];
        if to.epoch != self.epoch {
            return self.enter(query, next);
        }
        let mark = &mut self.marks[vertex as usize];
        if to.finished {
            mark.leads_to_wanted |= to.leads_to_wanted;
        } else {
            mark.low = mark.low.min(to.order);
        }
    }

    /// Tells the vertex before about this one; returns whether it is the root of its component.
    fn leave(&mut self, vertex: u32) -> bool {
        let Mark { low, order, .. } = self.marks[vertex as usize];
        if let Some(&(before, _)) = self.frames.last() {
            let before = &mut self.marks[before as usize];
            before.low = before.low.min(low);
        }
        low == order
    }

    /// Finishes the component of a root; returns whether the search may stop.
    fn finish(&mut self, query: &Query<'_>, root: u32, wanted: Wanted) -> bool {
        let start = self.open.iter().rposition(|&vertex| vertex == root).unwrap_or(0);
        let component = &self.open[start..];
        let below = component.iter().any(|&vertex| self.marks[vertex as usize].leads_to_wanted);
        let enabled = component.iter().copied().filter(|&vertex| query.is_enabled(vertex));
        let has_wanted = match wanted {
            Wanted::Enabled | Wanted::OnlySilent => enabled.clone().next().is_some(),
            Wanted::Silent => enabled.clone().any(|action| !query.moves(action)),
            Wanted::Key => component.iter().any(|&vertex| query.is_key(vertex)),
        };
        let is_spoiled = wanted == Wanted::OnlySilent && enabled.clone().any(|action| query.moves(action));
        if has_wanted && !below && !is_spoiled {
            let n_enabled = enabled.count();
            if self.best.is_none_or(|(_, fewest)| n_enabled < fewest) {
                self.best = Some((root, n_enabled));
            }
        }
        for &vertex in component {
            let mark = &mut self.marks[vertex as usize];
            mark.finished = true;
            mark.leads_to_wanted = below || has_wanted;
        }
        // The vertex before the root, if any, leads to this component.
        if let Some(&(before, _)) = self.frames.last() {
            self.marks[before as usize].leads_to_wanted |= below || has_wanted;
        }
        self.open.truncate(start);
        self.best.is_some_and(|(_, fewest)| fewest <= 1 || fewest == query.n_enabled())
    }
}
