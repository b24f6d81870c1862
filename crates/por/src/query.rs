//! The choice of a stubborn set in one state: what each vertex of the graph leads to there, and the sets that may be taken.

use model::{Fault, Guard};

use crate::choose::{Scratch, StubbornSets};
use crate::components::{Tarjan, Wanted};
use crate::demand::{Demand, Rule, Situation};
use crate::fair::{Fair, Why};
use crate::graph::{List, Vertex};
use crate::memory::Sets;
use crate::patience::Effort;

/// Where a list of neighbors is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Pool,
    Beyond,
    /// All that is enabled.
    Enabled,
    /// What an action needs under fairness.
    Companions,
    /// What the observer follows.
    Observer,
}

/// The neighbors of a vertex that are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbors {
    source: Source,
    at: u32,
    end: u32,
    /// The action whose companions come after these, or none.
    then: u32,
    /// One more after these, or none.
    last: u32,
}

const NONE: u32 = u32::MAX;

/// The choice in one state.
///
/// A disabled action leads to its reason alone, so it is never visited: who would go there goes to the
/// reason at once.
pub(crate) struct Query<'a> {
    pub(crate) sets: &'a StubbornSets<'a>,
    pub(crate) situation: &'a Situation<'a>,
    pub(crate) demand: Demand<'a>,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) fault: Option<Fault>,
}

impl Query<'_> {
    /// All sets that may be taken; `chosen` is working memory.
    pub(crate) fn choose(&mut self, tarjan: &mut Tarjan, chosen: &mut Vec<u32>, out: &mut Sets) {
        let mut roots = std::mem::take(&mut self.scratch.roots);
        let sets = self.sets;
        match self.demand {
            Demand::Deadlocks => self.smallest(tarjan, &roots, Wanted::Enabled, chosen),
            Demand::Safety => {
                self.smallest(tarjan, &roots, Wanted::Silent, chosen);
                if chosen.is_empty() {
                    chosen.extend(0..roots.len() as u32);
                }
            }
            Demand::Goal(actions) => self.close(actions, chosen),
            Demand::Fair { .. } => {
                self.fair(tarjan, &mut roots, chosen);
                let n_enabled = self.n_enabled();
                if chosen.len() < n_enabled {
                    out.push(chosen.iter().copied());
                    chosen.clear();
                    chosen.extend(0..n_enabled as u32);
                }
            }
            Demand::Observer { may_wait, .. } if may_wait || !sets.has(Rule::Progress) => {
                if sets.has(Rule::Waiting) {
                    self.smallest(tarjan, &roots, Wanted::Silent, chosen);
                }
                if chosen.is_empty() {
                    self.smallest(tarjan, &roots, Wanted::Enabled, chosen);
                }
            }
            Demand::Observer { deadlock, hybrid, .. } => {
                self.guided(chosen);
                // Where nothing of it is enabled, the observer will never move again.
                if chosen.is_empty() && deadlock {
                    self.smallest(tarjan, &roots, Wanted::Enabled, chosen);
                } else if hybrid && chosen.len() > 1 {
                    self.offer_smaller(tarjan, &roots, chosen, out);
                }
            }
            Demand::Words => {
                let wanted = if sets.has(Rule::Invisible) { Wanted::OnlySilent } else { Wanted::Enabled };
                self.smallest(tarjan, &roots, wanted, chosen);
                if !chosen.is_empty() && chosen.len() < roots.len() {
                    out.push(chosen.iter().copied());
                }
                chosen.clear();
                chosen.extend(0..roots.len() as u32);
            }
        }
        out.push(chosen.iter().copied());
        self.scratch.roots = roots;
    }

    /// The closure of all that the observer follows.
    fn guided(&mut self, chosen: &mut Vec<u32>) {
        self.close(&[self.sets.graph.number(Vertex::Observer)], chosen);
    }

    /// Offers smaller sets than that led by the observer: the smallest of all, and the smallest inside it.
    fn offer_smaller(&mut self, tarjan: &mut Tarjan, roots: &[u32], chosen: &[u32], out: &mut Sets) {
        let [mut inside_roots, mut inside, mut smallest] = std::mem::take(&mut self.scratch.spare);
        inside_roots.clear();
        inside_roots.extend(chosen.iter().map(|&index| roots[index as usize]));
        smallest.clear();
        self.smallest(tarjan, &inside_roots, Wanted::Enabled, &mut inside);
        if inside.len() > 1 {
            self.smallest(tarjan, roots, Wanted::Enabled, &mut smallest);
        }
        if !smallest.is_empty() && smallest.len() < inside.len() && smallest.len() < chosen.len() {
            out.push(smallest.iter().copied());
        }
        if inside.len() < chosen.len() {
            out.push(inside.iter().copied());
        }
        self.scratch.spare = [inside_roots, inside, smallest];
    }

    /// The closure of the smallest component that has what is wanted; nothing if there is none.
    fn smallest(&mut self, tarjan: &mut Tarjan, roots: &[u32], wanted: Wanted, chosen: &mut Vec<u32>) {
        match tarjan.search(self, roots, wanted) {
            None => chosen.clear(),
            Some(start) => self.close(&[start], chosen),
        }
    }

    /// A set that keeps fair runs: the closure of the smallest component with a key, a smaller set if one can be grown, or
    /// all. If nothing of it is enabled, what the observer blocks would have to happen: no fair run is accepted.
    fn fair(&mut self, tarjan: &mut Tarjan, roots: &mut Vec<u32>, chosen: &mut Vec<u32>) {
        let Some(fair) = &self.sets.fair else { return chosen.extend(0..roots.len() as u32) };
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let state = self.situation.state;
        let n_enabled = roots.len();
        roots.extend(self.situation.blocked.iter().map(|action| system.first(*action).index() as u32));
        roots.sort_by_cached_key(|&action| fair.is_at_home(system, graph, state, action));
        if self.is_led() {
            roots.push(graph.number(Vertex::Observer));
        }
        let n_looks = self.scratch.n_looks;
        match tarjan.search(self, roots, Wanted::Key) {
            None => {
                chosen.clear();
                chosen.extend(0..n_enabled as u32);
            }
            Some(start) => {
                self.close(&[start], chosen);
                if self.scratch.effort == Effort::Grown {
                    self.grow_smaller(roots, self.scratch.n_looks - n_looks, chosen);
                }
            }
        }
        if chosen.is_empty() && matches!(self.demand, Demand::Fair { ends: true, .. }) {
            chosen.extend(0..n_enabled as u32);
        }
    }

    /// Whether each accepted fair run has the observer see something from here on: then it is enough that a set has all
    /// that the observer may follow first.
    fn is_led(&self) -> bool {
        matches!(self.demand, Demand::Fair { may_wait, .. } if !may_wait || !self.sets.has(Rule::Waiting))
    }

    /// Whether a vertex lets a set be taken, which is what leads an accepted run on, or else an action. Either that would be
    /// enabled for ever, and its constraint never taken: there is no run that has no action of the set. Or it does no harm to
    /// go before everything else.
    pub(crate) fn is_key(&self, vertex: u32) -> bool {
        let at = vertex as usize;
        if vertex == self.sets.graph.number(Vertex::Observer) {
            return self.is_led();
        }
        let is_enabled = self.is_enabled(vertex);
        if !self.sets.has(Rule::Key) {
            return is_enabled;
        }
        let may_happen = is_enabled || vertex < self.sets.graph.n_actions && self.is_blocked(vertex);
        let of = |fair: &Fair| {
            fair.forced.contains(at) || is_enabled && !self.moves(vertex) && fair.harmless.contains(at)
        };
        may_happen && self.sets.fair.as_ref().is_some_and(of)
    }

    /// The enabled actions, by their indices, in all that can be reached from these vertices.
    fn close(&mut self, from: &[u32], chosen: &mut Vec<u32>) {
        self.scratch.next_generation();
        let generation = self.scratch.generation;
        let mut work = std::mem::take(&mut self.scratch.work);
        // What leads to what is not made yet is in every set.
        for &vertex in from.iter().chain(&self.sets.graph.open) {
            if let Some(vertex) = self.resolved(vertex)
                && self.scratch.reached[vertex as usize] != generation
            {
                self.scratch.reached[vertex as usize] = generation;
                work.push(vertex);
            }
        }
        while let Some(vertex) = work.pop() {
            let mut neighbors = self.neighbors(vertex);
            while let Some(next) = self.next_neighbor(&mut neighbors) {
                if self.scratch.reached[next as usize] != generation {
                    self.scratch.reached[next as usize] = generation;
                    work.push(next);
                }
            }
        }
        self.scratch.work = work;
        self.reached_enabled(chosen);
    }

    /// The enabled actions that were reached, by their indices.
    pub(crate) fn reached_enabled(&self, chosen: &mut Vec<u32>) {
        let generation = self.scratch.generation;
        chosen.clear();
        for (index, action) in self.situation.enabled.iter().enumerate() {
            if self.scratch.reached[self.sets.system.first(*action).index()] == generation {
                chosen.push(index as u32);
            }
        }
    }

    /// The neighbors of a vertex that [`resolved`](Query::resolved) gives.
    #[inline]
    pub(crate) fn neighbors(&self, vertex: u32) -> Neighbors {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let state = self.situation.state;
        let some = |source, (at, end)| Neighbors { source, at, end, then: NONE, last: NONE };
        let pool = |list: List| some(Source::Pool, (list.start, list.end));
        match graph.vertex(vertex) {
            Vertex::Action(action) => {
                let observer = graph.number(Vertex::Observer);
                let last = if self.needs_observer(action) { observer } else { NONE };
                let then = if matches!(self.demand, Demand::Fair { .. }) { action } else { NONE };
                Neighbors { then, last, ..pool(graph.needs(action)) }
            }
            Vertex::Writers(control) => pool(graph.writers(system, state, control)),
            Vertex::Users(control) => pool(graph.users(system, state, control)),
            Vertex::Beyond(control) => some(Source::Beyond, self.scratch.reasons.beyond(control)),
            Vertex::Enablers(guard) if system.guards()[guard as usize] == Guard::Quiet => {
                some(Source::Enabled, (0, self.situation.enabled.len() as u32))
            }
            Vertex::Enablers(guard) => pool(graph.enablers(system, state, guard)),
            Vertex::Hub(hub) => pool(graph.hubs[hub as usize]),
            Vertex::Observer => match self.demand {
                Demand::Observer { offer, .. } | Demand::Fair { offer, .. } => {
                    some(Source::Observer, (0, offer.follows.len() as u32))
                }
                Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => pool(List::default()),
            },
        }
    }

    /// The next neighbor, where a disabled action stands for its reason.
    #[inline]
    pub(crate) fn next_neighbor(&mut self, neighbors: &mut Neighbors) -> Option<u32> {
        loop {
            let next = self.next_need(neighbors)?;
            if let Some(next) = self.resolved(next) {
                return Some(next);
            }
        }
    }

    /// The next neighbor, which may be a disabled action.
    #[inline]
    pub(crate) fn next_need(&mut self, neighbors: &mut Neighbors) -> Option<u32> {
        self.scratch.n_looks += 1;
        loop {
            if neighbors.at == neighbors.end {
                let then = std::mem::replace(&mut neighbors.then, NONE);
                if let (Some(fair), true) = (&self.sets.fair, then != NONE) {
                    neighbors.source = Source::Companions;
                    (neighbors.at, neighbors.end) = fair.companions_of(then);
                    continue;
                }
                let last = std::mem::replace(&mut neighbors.last, NONE);
                return (last != NONE).then_some(last);
            }
            let at = neighbors.at;
            neighbors.at += 1;
            return Some(match neighbors.source {
                Source::Pool => {
                    if let Some((guard, n_actions)) = self.sets.graph.pool.group(at) {
                        neighbors.at += 1;
                        if let Some(reason) = self.reason_without_enabled(guard) {
                            neighbors.at += n_actions;
                            return Some(reason);
                        }
                        continue;
                    }
                    self.sets.graph.pool.item(at)
                }
                Source::Beyond => self.scratch.reasons.beyond_item(at),
                Source::Enabled => self.sets.system.first(self.situation.enabled[at as usize]).index() as u32,
                Source::Companions => match self.companion(at) {
                    Some(vertex) => vertex,
                    None => continue,
                },
                Source::Observer => match self.demand {
                    Demand::Observer { offer, .. } | Demand::Fair { offer, .. } => offer.follows[at as usize],
                    Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => continue,
                },
            });
        }
    }

    /// What an action needs under fairness, if it does in this state.
    fn companion(&mut self, at: u32) -> Option<u32> {
        let companion = self.sets.fair.as_ref()?.companion(at);
        let is_needed = match companion.why {
            Why::Shut => self.sets.has(Rule::Shut),
            Why::Flip(set) => self.counts(set),
        };
        is_needed.then_some(companion.vertex)
    }

    /// Whether a watched set of a constraint counts in this state.
    fn counts(&mut self, set: u32) -> bool {
        let epoch = self.scratch.epoch;
        if !matches!(self.demand, Demand::Fair { passing: false, .. }) || !self.sets.has(Rule::Flip) {
            return false;
        }
        if let (known, counts) = self.scratch.counts_now[set as usize]
            && known == epoch
        {
            return counts;
        }
        let StubbornSets { fair, system, graph, .. } = self.sets;
        let found = fair.as_ref().and_then(|fair| fair.set_in(system, graph, self.situation.state, set));
        let counts =
            found.is_some_and(|set| set.conditions.iter().all(|&(guard, value)| self.holds(guard) == value));
        self.scratch.counts_now[set as usize] = (epoch, counts);
        counts
    }

    /// A vertex itself; for an action that is disabled, what it needs.
    #[inline]
    fn resolved(&mut self, vertex: u32) -> Option<u32> {
        if self.is_disabled(vertex) { self.reason(vertex) } else { Some(vertex) }
    }

    /// Whether a vertex is an action that cannot happen now, whatever the observer does.
    #[inline]
    pub(crate) fn is_disabled(&self, vertex: u32) -> bool {
        vertex < self.sets.graph.n_actions && !self.is_enabled(vertex) && !self.is_blocked_for_now(vertex)
    }

    /// Whether the observer alone blocks an action, but might not after others that leave it where
    /// it is. Then those must come along as if the action were enabled.
    #[inline]
    fn is_blocked_for_now(&self, action: u32) -> bool {
        let at = action as usize;
        let may_happen = match self.demand {
            Demand::Observer { offer, .. } => {
                !offer.refuses.contains(at) && self.sets.has(Rule::RefusedForGood)
            }
            Demand::Fair { .. } => true,
            Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => false,
        };
        self.is_blocked(action) && may_happen
    }

    /// Whether the observer alone blocks an action.
    #[inline]
    pub(crate) fn is_blocked(&self, action: u32) -> bool {
        self.scratch.blocked[action as usize] == self.scratch.epoch
    }

    /// Whether an enabled or blocked action moves the observer, or waits for it.
    #[inline]
    fn needs_observer(&self, action: u32) -> bool {
        let rule = match self.demand {
            Demand::Observer { .. } => Rule::OneMovesAllMove,
            Demand::Fair { .. } => Rule::Order,
            Demand::Deadlocks | Demand::Safety | Demand::Goal(_) | Demand::Words => return false,
        };
        (self.moves(action) || !self.is_enabled(action)) && self.sets.has(rule)
    }

    /// Whether a vertex is an enabled action.
    #[inline]
    pub(crate) fn is_enabled(&self, vertex: u32) -> bool {
        self.scratch.enabled.get(vertex as usize) == Some(&self.scratch.epoch)
    }

    /// Whether an action is enabled and moves the observer.
    #[inline]
    pub(crate) fn moves(&self, action: u32) -> bool {
        self.scratch.moves[action as usize] == self.scratch.epoch
    }

    /// Number of enabled actions.
    pub(crate) fn n_enabled(&self) -> usize {
        self.situation.enabled.len()
    }
}
