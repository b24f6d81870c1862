//! Sets that are grown from one action, whose reasons depend on what is in them already.
//!
//! Of the false guards of a disabled action any may stand for it (rule 1). Where one reason is fixed per action and state
//! (module `reason`), all sets are closures in one graph, and a smallest one is found in one pass (module `components`).
//! But a reason costs a set nothing if what must happen first is in it anyway, and that differs from set to set. So where
//! the one pass finds no set of a single action, a set is grown from every enabled action: first all that enabled actions
//! need, then, one by one, the disabled ones, each with a reason that adds the fewest enabled actions to what is
//! there. It is given up as soon as it is no smaller than the best one so far; and all of them, where systems are large, when
//! that has taken much longer than the one pass.
//!
//! That is done under fairness ([`Demand::Fair`](crate::Demand::Fair)), where it leaves a quarter of the states of ten
//! philosophers. For other demands it was tried, and changed the number of states by less than a hundredth.
//!
//! *Why it is sound.* The rules ask for a closed set with a key, not for a component: whatever reason stands for a disabled
//! action, the set is closed in the end, and a key is looked for in all of it.
//!
//! What is chosen depends on the same things as with fixed reasons, so that it may be remembered.

use model::GuardId;

use crate::graph::Vertex;
use crate::query::Query;

/// Growing may take so many times the looks of the one pass, and so many besides.
const MOST_TIMES: u64 = 16;
const FREE_LOOKS: u64 = 1 << 13;

/// A set that is grown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// Vertices whose neighbors are to come, and disabled actions whose reasons are.
    work: Vec<u32>,
    disabled: Vec<u32>,
    n_enabled: usize,
    /// It is given up with more enabled actions than this.
    most: usize,
    /// All of them are given up after so many looks.
    last_look: u64,
    /// Its enabled actions, by their indices.
    chosen: Vec<u32>,
}

impl Query<'_> {
    /// Looks for a set with a [key](Query::is_key) that is smaller than `chosen`, from each of these actions. To find
    /// `chosen` has taken so many looks.
    pub(crate) fn grow_smaller(&mut self, roots: &[u32], n_looks: u64, chosen: &mut Vec<u32>) {
        let mut growth = std::mem::take(&mut self.scratch.growth);
        growth.last_look = self.scratch.n_looks + MOST_TIMES * n_looks + FREE_LOOKS;
        for &root in roots {
            if chosen.len() < 2 {
                break;
            }
            growth.most = chosen.len() - 1;
            if self.grow(root, &mut growth) && self.has_key() {
                self.reached_enabled(&mut growth.chosen);
                if growth.chosen.len() < chosen.len() {
                    chosen.clone_from(&growth.chosen);
                }
            }
        }
        self.scratch.growth = growth;
    }

    /// Whether the set became whole.
    fn grow(&mut self, root: u32, growth: &mut Growth) -> bool {
        self.scratch.next_generation();
        growth.work.clear();
        growth.disabled.clear();
        growth.n_enabled = 0;
        // What leads to what is not made yet is in every set.
        let mut fits = self.sets.graph.open.is_none_or(|open| self.admit(open, growth));
        fits = fits && self.admit(root, growth);
        while fits && self.scratch.n_looks <= growth.last_look {
            if let Some(vertex) = growth.work.pop() {
                let mut neighbors = self.neighbors(vertex);
                while let (true, Some(next)) = (fits, self.next_need(&mut neighbors)) {
                    fits = self.admit(next, growth);
                }
            } else if let Some(action) = growth.disabled.pop() {
                let reason = self.cheapest_reason(action, (growth.most - growth.n_enabled) as u32);
                fits = reason.is_some_and(|reason| self.admit(reason, growth));
            } else {
                return true;
            }
        }
        false
    }

    /// Adds a vertex; returns whether the set is still small enough.
    fn admit(&mut self, vertex: u32, growth: &mut Growth) -> bool {
        let Query { scratch, .. } = self;
        if std::mem::replace(&mut scratch.reached[vertex as usize], scratch.generation) == scratch.generation
        {
            return true;
        }
        if self.is_disabled(vertex) {
            growth.disabled.push(vertex);
            return true;
        }
        growth.work.push(vertex);
        growth.n_enabled += usize::from(self.is_enabled(vertex));
        growth.n_enabled <= growth.most
    }

    /// Whether the set that was grown has a key.
    fn has_key(&self) -> bool {
        let actions = self.situation.enabled.iter().chain(self.situation.blocked);
        let firsts = actions.map(|&action| self.sets.system.first(action).index() as u32);
        let mut vertices = firsts.chain([self.sets.graph.number(Vertex::Observer)]);
        vertices.any(|vertex| self.is_reached(vertex) && self.is_key(vertex))
    }

    fn is_reached(&self, vertex: u32) -> bool {
        self.scratch.reached[vertex as usize] == self.scratch.generation
    }

    /// Of all that a disabled action may wait for, what adds the fewest enabled actions to the set; nothing if all of it adds
    /// more than so many, or something went wrong.
    fn cheapest_reason(&mut self, action: u32, most: u32) -> Option<u32> {
        let graph = &self.sets.graph;
        // What is not there costs one more than what it adds.
        let (mut best, mut bound) = (None, most + 2);
        // Expressions may rely on the simple guards: they are looked at only if those are true.
        for guards in graph.guards(action as usize) {
            let mut is_false = false;
            for &guard in guards {
                let Some(known) = self.reason_if_false(GuardId::new(guard as usize)) else { continue };
                is_false = true;
                let others = [
                    graph.uses_enablers(guard).then_some(Vertex::Enablers(guard)),
                    graph.control_of_guard(GuardId::new(guard as usize)).map(Vertex::Writers),
                ];
                let others = others.into_iter().flatten().filter(|_| known.n_enabled > 0);
                let others = others.map(|vertex| graph.number(vertex));
                for vertex in std::iter::once(known.vertex).chain(others) {
                    if self.is_reached(vertex) {
                        return Some(vertex);
                    }
                    let n_new = if known.n_enabled == 0 { 0 } else { self.n_new(vertex, bound - 1) };
                    if 1 + n_new < bound {
                        (best, bound) = (Some(vertex), 1 + n_new);
                    }
                }
            }
            if is_false {
                break;
            }
        }
        best
    }

    /// How many enabled actions behind a vertex are not in the set; of very many, so many.
    fn n_new(&mut self, vertex: u32, most: u32) -> u32 {
        let mut neighbors = self.neighbors(vertex);
        let mut n_new = 0;
        while n_new < most
            && let Some(next) = self.next_need(&mut neighbors)
        {
            n_new += match self.sets.graph.vertex(next) {
                _ if self.is_reached(next) => 0,
                Vertex::Hub(_) => self.n_new(next, most - n_new),
                _ => u32::from(self.is_enabled(next)),
            };
        }
        n_new
    }
}
