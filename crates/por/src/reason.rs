//! Why a disabled action cannot happen yet: the vertex that stands for all that must happen first (rule 1).
//!
//! Of all that would do, the first behind which nothing is enabled is taken; if there is none, one
//! with the fewest enabled actions behind it. What is found for a guard holds for all actions that have it,
//! so it is kept as long as the state is the same.

use model::{Fault, Guard, GuardId};

use crate::demand::{Demand, Offer, Rule};
use crate::graph::{Graph, List, Vertex};
use crate::query::Query;

/// What is known of the present state.
#[derive(Clone, Debug)]
pub(crate) struct Reasons {
    /// Per action.
    of_action: Vec<Known>,
    /// Per guard.
    of_guard: Vec<Known>,
    /// Per hub that does not depend on the state.
    of_hub: Vec<Known>,
    regions: Regions,
}

/// A vertex and how much behind it is enabled, if `epoch` is the current one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    epoch: u32,
    pub(crate) n_enabled: u32,
    pub(crate) vertex: u32,
}

/// How much is enabled behind a guard that holds, which is no reason.
const HOLDS: u32 = u32::MAX;

/// The values that a control variable can take by enabled actions alone, and who leads it further.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    epoch: u32,
    /// Range of `Regions::rows`.
    rows: (u32, u32),
    /// Range of `Regions::actions`; none if the region is too large to be looked into.
    actions: Option<(u32, u32)>,
}

/// The regions that were asked for in the present state.
#[derive(Clone, Debug, Default)]
struct Regions {
    of_control: Vec<Region>,
    rows: Vec<u32>,
    actions: Vec<u32>,
}

impl Regions {
    const MAX_ROWS: usize = 64;

    /// The region of a control variable, computed if it was not yet.
    fn get(&mut self, control: u32, epoch: u32, first: usize, graph: &Graph, enabled: &[u32]) -> Region {
        let known = self.of_control[control as usize];
        if known.epoch == epoch {
            return known;
        }
        let (first_row, first_action) = (self.rows.len(), self.actions.len());
        self.rows.push(first as u32);
        let mut next = first_row;
        let mut too_large = false;
        while next < self.rows.len() {
            for (action, to) in graph.moves(self.rows[next] as usize) {
                if enabled[action as usize] != epoch {
                    self.actions.push(action);
                } else if !self.rows[first_row..].contains(&to) {
                    self.rows.push(to);
                }
            }
            next += 1;
            too_large = self.rows.len() - first_row > Regions::MAX_ROWS;
            if too_large {
                break;
            }
        }
        let region = Region {
            epoch,
            rows: (first_row as u32, self.rows.len() as u32),
            actions: (!too_large).then_some((first_action as u32, self.actions.len() as u32)),
        };
        self.of_control[control as usize] = region;
        region
    }
}

impl Reasons {
    pub(crate) fn new(graph: &Graph) -> Reasons {
        let of_control = vec![Region::default(); graph.controls.len()];
        Reasons {
            of_action: vec![Known::default(); graph.n_actions as usize],
            of_guard: vec![Known::default(); graph.n_guards as usize],
            of_hub: vec![Known::default(); graph.hubs.len()],
            regions: Regions { of_control, ..Regions::default() },
        }
    }

    /// Forgets the last state.
    pub(crate) fn clear(&mut self) {
        self.regions.rows.clear();
        self.regions.actions.clear();
    }

    /// Forgets all epochs.
    pub(crate) fn forget(&mut self) {
        let known = self.of_action.iter_mut().chain(&mut self.of_guard).chain(&mut self.of_hub);
        known.for_each(|known| known.epoch = 0);
        self.regions.of_control.iter_mut().for_each(|region| region.epoch = 0);
    }

    /// Who leads a control variable out of its region, as a range for `beyond_item`.
    #[inline]
    pub(crate) fn beyond(&self, control: u32) -> (u32, u32) {
        self.regions.of_control[control as usize].actions.unwrap_or_default()
    }

    #[inline]
    pub(crate) fn beyond_item(&self, at: u32) -> u32 {
        self.regions.actions[at as usize]
    }
}

/// The better of two reasons: the first, if both are as good.
fn better(first: Option<Known>, second: Known) -> Known {
    match first {
        Some(first) if first.n_enabled <= second.n_enabled => first,
        _ => second,
    }
}

impl Query<'_> {
    /// The vertex that a disabled action needs; nothing if something went wrong.
    #[inline]
    pub(crate) fn reason(&mut self, action: u32) -> Option<u32> {
        let epoch = self.scratch.epoch;
        let known = self.scratch.reasons.of_action[action as usize];
        if known.epoch == epoch {
            return Some(known.vertex);
        }
        match self.find_reason(action as usize) {
            Ok(found) => {
                let found = found?;
                self.scratch.reasons.of_action[action as usize] = Known { epoch, ..found };
                Some(found.vertex)
            }
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    fn find_reason(&mut self, action: usize) -> Result<Option<Known>, Fault> {
        let mut best = self.refusal(action);
        if best.is_some_and(|best| best.n_enabled == 0) {
            return Ok(best);
        }
        let [simple, expressions] = self.sets.graph.guards(action);
        for &guard in simple {
            let known = self.reason_of_guard(GuardId::new(guard as usize))?;
            if known.n_enabled != HOLDS {
                best = Some(better(best, known));
            }
            if known.n_enabled == 0 {
                return Ok(best);
            }
        }
        // Expressions may rely on the guards before them: they are looked at only if those are true.
        for &guard in expressions {
            if best.is_some() {
                break;
            }
            let known = self.reason_of_guard(GuardId::new(guard as usize))?;
            best = (known.n_enabled != HOLDS).then_some(known);
        }
        Ok(best)
    }

    /// The observer, if it refuses an action for good.
    fn refusal(&self, action: usize) -> Option<Known> {
        let Demand::Observer { offer, .. } = self.demand else { return None };
        let is_blocked = self.is_blocked(action as u32) && !self.sets.has(Rule::RefusedForGood);
        let Offer { follows, refuses } = offer;
        (refuses.contains(action) || is_blocked).then(|| Known {
            epoch: 0,
            n_enabled: self.n_enabled_of(follows),
            vertex: self.sets.graph.number(Vertex::Observer),
        })
    }

    fn n_enabled_of(&self, list: &[u32]) -> u32 {
        list.iter().filter(|&&action| self.is_enabled(action)).count() as u32
    }

    /// How many actions of a list in the pool are enabled.
    fn n_enabled_in(&mut self, list: List) -> u32 {
        let (graph, system) = (&self.sets.graph, self.sets.system);
        let pool = &graph.pool;
        let (mut at, mut n_enabled) = (list.start, 0);
        while at < list.end {
            match pool.group(at) {
                Some((guard, n_actions)) => {
                    let holds = match &system.guards()[guard as usize] {
                        Guard::In(var, set) => {
                            set.contains(system.layout().field(*var).value(self.situation.state))
                        }
                        Guard::True(_) | Guard::Quiet => true,
                    };
                    at += if holds { 2 } else { 2 + n_actions };
                }
                None => {
                    n_enabled += match graph.vertex(pool.item(at)) {
                        Vertex::Hub(hub) => self.n_enabled_behind(hub as usize),
                        _ => u32::from(self.is_enabled(pool.item(at))),
                    };
                    at += 1;
                }
            }
        }
        n_enabled
    }

    /// The same for a hub.
    fn n_enabled_behind(&mut self, hub: usize) -> u32 {
        let (epoch, known) = (self.scratch.epoch, self.scratch.reasons.of_hub[hub]);
        if known.epoch == epoch {
            return known.n_enabled;
        }
        let n_enabled = self.n_enabled_in(self.sets.graph.hubs[hub]);
        self.scratch.reasons.of_hub[hub] = Known { epoch, n_enabled, vertex: 0 };
        n_enabled
    }

    /// What a guard on a control variable needs that is false, if nothing behind that is enabled.
    #[inline]
    pub(crate) fn reason_without_enabled(&mut self, guard: u32) -> Option<u32> {
        let known = self.reason_of_guard(GuardId::new(guard as usize)).ok()?;
        (known.n_enabled == 0).then_some(known.vertex)
    }

    /// What must happen before a guard can become true that is false.
    pub(crate) fn reason_if_false(&mut self, guard: GuardId) -> Option<Known> {
        match self.reason_of_guard(guard) {
            Ok(known) => (known.n_enabled != HOLDS).then_some(known),
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    /// Whether a guard holds.
    pub(crate) fn holds(&mut self, guard: GuardId) -> bool {
        match self.reason_of_guard(guard) {
            Ok(known) => known.n_enabled == HOLDS,
            Err(fault) => {
                self.fault = Some(fault);
                false
            }
        }
    }

    #[inline]
    fn reason_of_guard(&mut self, guard: GuardId) -> Result<Known, Fault> {
        let epoch = self.scratch.epoch;
        let known = self.scratch.reasons.of_guard[guard.index()];
        if known.epoch == epoch {
            return Ok(known);
        }
        self.find_out_guard(guard)
    }

    #[inline(never)]
    fn find_out_guard(&mut self, guard: GuardId) -> Result<Known, Fault> {
        let epoch = self.scratch.epoch;
        let holds = self.sets.system.guard_holds(guard, self.situation.state, &mut self.scratch.model)?;
        let about = (self.sets.system, &self.sets.graph);
        self.scratch.memory.note(about, self.situation.state, guard, holds);
        let found = if holds {
            Known { epoch, n_enabled: HOLDS, vertex: 0 }
        } else {
            Known { epoch, ..self.find_reason_of_guard(guard) }
        };
        self.scratch.reasons.of_guard[guard.index()] = found;
        Ok(found)
    }

    /// What must happen before a guard that is false can become true.
    fn find_reason_of_guard(&mut self, guard: GuardId) -> Known {
        let sets = self.sets;
        let (graph, system) = (&sets.graph, sets.system);
        let state = self.situation.state;
        let number = guard.index() as u32;
        let of = |n_enabled, vertex| Known { epoch: 0, n_enabled, vertex: graph.number(vertex) };
        if system.guards()[guard.index()] == Guard::Quiet {
            return of(self.situation.enabled.len() as u32, Vertex::Enablers(number));
        }
        let mut best = None;
        if graph.uses_enablers(number) {
            let n_enabled = self.n_enabled_in(graph.enablers(system, state, number));
            best = Some(of(n_enabled, Vertex::Enablers(number)));
        }
        let Some(control) =
            graph.control_of_guard(guard).filter(|_| best.is_none_or(|best| best.n_enabled > 0))
        else {
            return best.unwrap_or(of(0, Vertex::Enablers(number)));
        };
        let n_enabled = self.n_enabled_in(graph.writers(system, state, control));
        let best = better(best, of(n_enabled, Vertex::Writers(control)));
        if best.n_enabled == 0 {
            return best;
        }
        let scratch = &mut *self.scratch;
        let row = graph.row(system, state, control);
        let Reasons { regions, .. } = &mut scratch.reasons;
        let region = regions.get(control, scratch.epoch, row, graph, &scratch.enabled);
        let Guard::In(_, set) = &system.guards()[guard.index()] else { return best };
        let rows = &regions.rows[region.rows.0 as usize..region.rows.1 as usize];
        let is_outside = |&row: &u32| !set.contains(graph.value_of_row(system, control, row));
        if region.actions.is_some() && rows.iter().all(is_outside) {
            // By its construction nothing in it is enabled.
            return of(0, Vertex::Beyond(control));
        }
        best
    }
}
