//! Components are repaired: nothing that matters is left out for ever along a cycle.
//!
//! # Idea
//! A small stubborn set is taken in every state, whether it closes cycles or not. What a set leaves out may be taken
//! later, but a run that goes round and round a cycle all of whose states leave it out never takes it. The usual remedy
//! is a condition for each state while the search is there: no step of a small set leads back onto the path.
//! It must be careful with cycles that some other state leaves anyway, and where it fails, *everything* is taken.
//! But a search by strong components knows when a component is finished, and then one can look: if what was left out in
//! its states is left out all along no cycle, all is well. Otherwise it is taken in one state of the cycle, the search
//! goes on there, and looks again when the component, which may have grown, is finished.
//!
//! # When should I use this?
//! [`couvreur`](super::couvreur) does, where the reduction asks for it (`reduction::Repair`).
//!
//! # Requirements and limits
//! An exact store. States are expanded again, so the choice of sets depends on the state alone. Memory for the
//! edges of one component.
//!
//! # The condition
//! In a state (s, q) of the product let T be the set and E what is taken since the component was repaired.
//!
//! **CYCLE.** There is no action b that matters and no cycle of steps of sets T, in each state of which b can happen in the
//! product and is neither in T nor in E.
//!
//! Such a cycle lies in one component, and when this is finished for the first time all of its sets are explored. Steps by
//! E close no cycle that counts. So if the condition holds in a component it holds there for good, and though the component may grow
//! by what is taken besides, every state needs to be looked at once only: a cycle through one that was looked at
//! was looked at as a whole, because all of it can be reached from there by sets, so was in the component, too.
//!
//! First it is seen whether the new states of a finished component that left out anything have a cycle at all. If they do, then for each b the cycles
//! of the states that leave out b: in each of them one state after the other takes b until no cycle is left, those first that
//! lead to states that are known, and that take much already. After very many tries all states of a cycle take everything.
//!
//! # Why it is enough
//! *Sets blind to the observer* (`por::Demand::Words`, for automata in waiting form). A set T that is not everything is closed,
//! has something enabled, and none of what is enabled in it flips a proposition. All actions matter. Let r be a run of
//! the system from s whose word is accepted from q, read lazily (`automata::waiting`). A run r′ of what is explored
//! is built step by step; ρ is what is left of r. If the first action b of ρ is in T or E, it is taken. Otherwise T is not
//! everything. If ρ has actions of T, the first of them is enabled, and can be moved to the front; it is taken. If it has none, any
//! enabled action a of T is taken, and ρ can happen after it, since it commutes with all of ρ. Both are silent, so r′ has
//! the word of r so far, up to stuttering, and the automaton can go along lazily: it moves with the first step of each block
//! and then waits.
//!
//! *Nothing is lost.* As long as the first action b of ρ is not taken, it stays the first of ρ: so it stays enabled, and the
//! automaton goes along with it, as it does with every step from (s, q) by value. If it were never taken, r′ would go on for
//! ever with silent steps of sets that leave b out, and after the first of them the automaton waits in one state. There
//! are finitely many states, so r′ would come back to one of them: a cycle that CYCLE forbids.
//! So every action of r is taken some day, visible ones in their order, and r′ has the word of r, up to stuttering. If r ends in a
//! deadlock, so does r′: the third case cannot arise, since a would be enabled in the end. Here b
//! stands for a step by the action that it begins with: whoever takes one takes all.
//!
//! *Only steps of sets count* in a cycle, and only those that leave the observer where it is, since r′ has no others while b waits.
//!
//! *Why all actions matter here.* One might forget actions that no visible action ever depends on. But a run may end,
//! or go on for ever by such actions alone, and whether it can is lost with them: where runs that end
//! do not count, that would be wrong. (Static reductions leave out such actions before, where it is sound.)
//!
//! *Sets led by the observer* (`por::Demand::Observer`, hybrid). Where waiting is accepted, a set is valid whatever it closes:
//! who goes round there is accepted. Elsewhere a set T smaller than the guided one G is closed, has something enabled, and all of that
//! is silent, as a set with a move has all moves and so is not smaller. Let ρ be accepted, and m its first action that moves the observer. If T
//! has an action of ρ up to m, the first is moved to the front, and m comes closer. Otherwise an enabled action of T is taken
//! that commutes with all of ρ up to m: moved to the front if it comes later, put in front if it does not come. Then m is as far away as before. In a state
//! that takes G, m comes closer, too (`por`). So m may be put off for ever only along a cycle of silent steps of smaller sets. Here
//! G is the remedy: not a single action, since of those that are left out few lead to m.
//! One state of each such cycle takes G: all cycles count whose states leave out anything.
//!
//! *Sets that keep fair runs* (`por::Demand::Fair`): the proof is at the head of por's module `fair`. Steps that the observer sees count
//! in cycles, too, and only relevant actions matter.
//!
//! # References
//! Valmari's condition S [valmari.92.fmsd] looks at components, too, but asks only that nothing be left out in all of a
//! component: enough for what can be reached, not for runs. For those cycles must be looked at: in one component b
//! may be taken where it leads astray, and left out along the one cycle that is needed.

use base::Budget;
use model::chain::first;
use model::{ActionId, System};

use super::couvreur::{End, Search};
use super::inside::Inside;
use super::path::Top;
use super::product_graph::Edge;
use crate::observer::Observer;
use crate::reduction::Repair;
use crate::store::{Products, StateId};

/// In so many states of a cycle it is tried where an action leads.
const TRIES: usize = 64;
/// So often is it tried, for each state that there is; and so often besides. Then everything is taken.
const MOST_TRIES: u64 = 8;
const FREE_TRIES: u64 = 10_000;

/// What a search that repairs its components knows.
#[derive(Default)]
pub(super) struct Repairing {
    /// The states that left something out, and were not looked at since, in the order in which they were entered.
    states: Vec<StateId>,
    /// Where their edges end that count in cycles; those of the next one begin there.
    ends: Vec<usize>,
    edges: Vec<StateId>,
    /// States of open components that take something besides.
    pub(super) repaired: Vec<StateId>,
    n_tries: u64,
}

impl Repairing {
    pub(super) fn bytes(&self) -> u64 {
        let words = self.states.capacity() + self.edges.capacity() + self.repaired.capacity();
        (words * size_of::<StateId>() + self.ends.capacity() * size_of::<usize>()) as u64
    }

    fn edges(&self, index: usize) -> &[StateId] {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.edges[begin..self.ends[index]]
    }
}

/// Notes a state that was just entered and expanded, if it left something out.
pub(super) fn note<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    state: StateId,
) {
    if search.repairing.is_none() || search.leaves_out().next().is_none() {
        return;
    }
    let counting = search.edges.iter().filter(|edge| counts(search, state, edge)).map(|edge| edge.target);
    let counting: Vec<StateId> = counting.collect();
    if let Some(known) = &mut search.repairing
        && !counting.is_empty()
    {
        known.states.push(state);
        known.edges.extend(counting);
        known.ends.push(known.edges.len());
    }
}

/// Repairs the finished component of the root on top. Returns whether there is something to search now: states wait, or the
/// component is not finished.
pub(super) fn repair<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    root: StateId,
    budget: &mut Budget<'_>,
) -> Result<bool, End> {
    let order = search.order_of(root);
    let Some(known) = &mut search.repairing else { return Ok(false) };
    let begin = known.states.partition_point(|&state| search.path.order_of(state) < order);
    let states = known.states.split_off(begin);
    if states.is_empty() {
        return Ok(false);
    }
    let bytes_before = budget.max_bytes;
    let orders: Vec<u32> = states.iter().map(|&state| search.path.order_of(state)).collect();
    let n_edges = known.edges.len() - begin.checked_sub(1).map_or(0, |before| known.ends[before]);
    let bytes = states.len() * (Inside::<()>::STATE_BYTES + 8) + n_edges * Inside::<()>::EDGE_BYTES;
    budget.hold(bytes as u64)?;
    let mut inside = Inside::new(states.len());
    for index in begin..begin + states.len() {
        for &target in known.edges(index) {
            if let Ok(local) = orders.binary_search(&search.path.order_of(target)) {
                inside.add(local as u32, ());
            }
        }
        inside.end();
    }
    known.ends.truncate(begin);
    known.edges.truncate(known.ends.last().copied().unwrap_or(0));
    let all: Vec<u32> = (0..states.len() as u32).collect();
    let cyclic = inside.cyclic(&all, budget)?;
    if !cyclic.is_empty() {
        let mut part = Part { states, inside, taken: Vec::new() };
        part.repair(search, cyclic, budget)?;
        part.take(search, budget)?;
    }
    budget.max_bytes = bytes_before;
    Ok(search.roots.order() < order || matches!(search.path.top(), Some(Top::Waiting(_))))
}

/// A state of a part takes an action besides, or everything.
pub(super) type Taken = (u32, Option<ActionId>);

/// The states of a component that left something out.
struct Part {
    states: Vec<StateId>,
    /// Cycles of these edges count.
    inside: Inside<()>,
    /// What is to be taken besides.
    taken: Vec<Taken>,
}

impl Part {
    /// Finds out what must be taken besides, by states on cycles.
    fn repair<S: System, O: Observer, P: Products>(
        &mut self,
        search: &mut Search<'_, '_, S, O, P>,
        mut cyclic: Vec<Vec<u32>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        if search.graph.repair().is_some_and(|repair| repair.by_action) {
            return self.by_action(search, &cyclic.concat(), budget);
        }
        while let Some(part) = cyclic.pop() {
            // The one that was entered last: the path has come round there.
            let (&last, rest) = part.split_last().unwrap_or((&0, &[]));
            self.taken.push((last, None));
            cyclic.extend(self.inside.cyclic(rest, budget)?);
        }
        Ok(())
    }

    /// Takes left-out actions, each in as few of these states as it can.
    fn by_action<S: System, O: Observer, P: Products>(
        &mut self,
        search: &mut Search<'_, '_, S, O, P>,
        states: &[u32],
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        let mut left_out: Vec<(ActionId, u32)> = Vec::new();
        let mut n_taken = vec![0; self.states.len()];
        for &state in states {
            search.expand(self.states[state as usize])?;
            n_taken[state as usize] = search.edges.len();
            let n_before = left_out.len();
            left_out.extend(search.leaves_out().map(|action| (action, state)));
            budget.hold(((left_out.len() - n_before) * size_of::<(ActionId, u32)>()) as u64)?;
            search.poll(budget)?;
        }
        left_out.sort_unstable();
        left_out.dedup();
        for of_action in left_out.chunk_by(|one, other| one.0 == other.0) {
            let action = of_action[0].0;
            let part: Vec<u32> = of_action.iter().map(|&(_, state)| state).collect();
            let mut cyclic = self.inside.cyclic(&part, budget)?;
            while let Some(part) = cyclic.pop() {
                if search.gives_up(part.len().min(TRIES)) {
                    self.taken.extend(part.into_iter().map(|state| (state, None)));
                    continue;
                }
                let mut best: Option<(usize, usize, u32)> = None;
                for &state in part.iter().step_by(part.len().div_ceil(TRIES)) {
                    search.expand(self.states[state as usize])?;
                    let n_unknown = search.graph.n_unknown(action);
                    let cost = (n_unknown, usize::MAX - n_taken[state as usize], state);
                    best = Some(best.map_or(cost, |best| best.min(cost)));
                    search.poll(budget)?;
                }
                let Some((_, _, state)) = best else { break };
                n_taken[state as usize] += 1;
                self.taken.push((state, Some(action)));
                let rest: Vec<u32> = part.into_iter().filter(|&other| other != state).collect();
                cyclic.extend(self.inside.cyclic(&rest, budget)?);
            }
        }
        Ok(())
    }

    /// Takes all of it.
    fn take<S: System, O: Observer, P: Products>(
        &mut self,
        search: &mut Search<'_, '_, S, O, P>,
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        self.taken.sort_unstable();
        self.taken.dedup();
        for taken in self.taken.chunk_by(|one, other| one.0 == other.0) {
            let state = self.states[taken[0].0 as usize];
            for &(_, action) in taken {
                search.graph.take_extra(state, action);
            }
            search.look_at_repaired(state, taken)?;
            search.poll(budget)?;
        }
        Ok(())
    }
}

impl<S: System, O: Observer, P: Products> Search<'_, '_, S, O, P> {
    /// Whether so many more tries are too many.
    fn gives_up(&mut self, n_more: usize) -> bool {
        let n_states = self.graph.states.n_states();
        self.repairing.as_mut().is_some_and(|known| {
            known.n_tries += n_more as u64;
            known.n_tries > MOST_TRIES * n_states + FREE_TRIES
        })
    }
}

/// Whether an edge counts in a cycle: it is a step of the set, and if sets hold only steps that the observer does not see, this
/// stays where it is.
fn counts<S: System, O: Observer, P: Products>(
    search: &Search<'_, '_, S, O, P>,
    from: StateId,
    edge: &Edge,
) -> bool {
    let graph = &search.graph;
    let Some(Repair { matters, silent, .. }) = graph.repair() else { return false };
    let stays = || graph.states.observer_state(from) == graph.states.observer_state(edge.target);
    let is_extra = edge.action.is_some_and(|step| graph.extra(from).contains(&first(step, matters.len())));
    !is_extra && (!silent || edge.silent && stays())
}
