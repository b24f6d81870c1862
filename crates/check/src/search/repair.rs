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
//! *Parts* of a finished component are the states that leave out b, for each b; if none of them has a cycle, the condition
//! holds in the component. Every cycle of what is explored lies in one component, and what is taken in a finished
//! component does not change any more. So it holds everywhere in the end. Steps by E close no cycle that counts, so what is
//! taken in a state of a cycle makes no other necessary at once: in each part, one state after the other takes b until no
//! cycle is left, those first that lead to known states. After very many looks (`LOOKS`) all states of cycles
//! take everything.
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
use fixedbitset::FixedBitSet;

/// As many states may be looked at again, for each state that there is, before everything is taken.
const LOOKS: u64 = 8;
/// And so many more.
const FREE_LOOKS: u64 = 10_000;
/// In so many states of a part it is tried where an action leads.
const TRIES: usize = 64;

/// What a search that repairs its components knows.
#[derive(Default)]
pub(super) struct Repairing {
    /// States that left something out, and may still.
    pub(super) reduced: FixedBitSet,
    /// Those with an edge to themselves.
    pub(super) loops: FixedBitSet,
    /// States of open components that were repaired, in the order of components.
    pub(super) repaired: Vec<StateId>,
    /// The component that was looked at last: its root, and how many states were open.
    looked_at: Option<(StateId, u32)>,
    n_looks: u64,
}

impl Repairing {
    pub(super) fn bytes(&self) -> u64 {
        (self.reduced.len() + self.loops.len()) as u64 / 8 + 4 * self.repaired.capacity() as u64
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
    let n_open = search.path.n_open();
    let Some(known) = &mut search.repairing else { return Ok(false) };
    let has_cycle = n_open > order || known.loops.contains(root.index());
    if !has_cycle || known.looked_at == Some((root, n_open)) {
        return Ok(false);
    }
    let members = search.path.left_since(order).chain([root]);
    let mut members: Vec<StateId> = members.filter(|state| known.reduced.contains(state.index())).collect();
    if members.is_empty() {
        return Ok(false);
    }
    known.looked_at = Some((root, n_open));
    members.sort_unstable_by_key(|&state| search.path.order_of(state));
    let bytes_before = budget.max_bytes;
    let mut part = Part::new(search, members, budget)?;
    let repairs = part.repairs(search, budget)?;
    for &(state, action) in &repairs {
        search.graph.take_extra(part.members[state as usize], action);
    }
    for of_state in repairs.chunk_by(|one, other| one.0 == other.0) {
        let state = part.members[of_state[0].0 as usize];
        search.look_at_repaired(state, of_state)?;
        search.poll(budget)?;
    }
    budget.max_bytes = bytes_before;
    Ok(search.roots.order() < order || matches!(search.path.top(), Some(Top::Waiting(_))))
}

/// A state of a part takes an action besides, or everything.
pub(super) type Taken = (u32, Option<ActionId>);

/// The states of a component that leave something out.
struct Part {
    members: Vec<StateId>,
    /// Cycles of these edges count.
    inside: Inside<()>,
    /// Per state, how many edges it has.
    n_taken: Vec<u32>,
}

impl Part {
    /// `members` are in the order in which they were entered.
    fn new<S: System, O: Observer, P: Products>(
        search: &mut Search<'_, '_, S, O, P>,
        members: Vec<StateId>,
        budget: &mut Budget<'_>,
    ) -> Result<Part, End> {
        let orders: Vec<u32> = members.iter().map(|&member| search.order_of(member)).collect();
        let mut part = Part { inside: Inside::new(members.len()), n_taken: Vec::new(), members };
        let state_bytes = Inside::<()>::STATE_BYTES + 3 * size_of::<u32>();
        for &member in &part.members {
            search.expand(member)?;
            let is_reduced = search.leaves_out().next().is_some();
            if let Some(known) = &mut search.repairing {
                known.n_looks += 1;
                known.reduced.set(member.index(), is_reduced);
            }
            let mut edge_bytes = 0;
            for edge in search.edges.iter().filter(|edge| is_reduced && counts(search, member, edge)) {
                if let Ok(local) = orders.binary_search(&search.order_of(edge.target)) {
                    part.inside.add(local as u32, ());
                    edge_bytes += Inside::<()>::EDGE_BYTES;
                }
            }
            part.inside.end();
            part.n_taken.push(search.edges.len() as u32);
            budget.hold((state_bytes + edge_bytes) as u64)?;
            search.poll(budget)?;
        }
        Ok(part)
    }

    /// What must be taken besides, by states.
    fn repairs<S: System, O: Observer, P: Products>(
        &mut self,
        search: &mut Search<'_, '_, S, O, P>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Taken>, End> {
        let all: Vec<u32> = (0..self.members.len() as u32).collect();
        let cyclic = self.inside.cyclic(&all, budget)?;
        let n_states = search.graph.states.n_states();
        let (Some(known), Some(repair)) = (&search.repairing, search.graph.repair()) else {
            return Ok(Vec::new());
        };
        let gives_up = known.n_looks > LOOKS * n_states + FREE_LOOKS;
        let mut repairs = Vec::new();
        if repair.by_action && gives_up {
            repairs.extend(cyclic.concat().into_iter().map(|state| (state, None)));
        } else if repair.by_action {
            self.by_action(search, &cyclic.concat(), &mut repairs, budget)?;
        } else {
            let mut work = cyclic;
            while let Some(part) = work.pop() {
                // The first that is left: the path has come round from there.
                let state = part[part.len() - 1];
                repairs.push((state, None));
                work.extend(self.inside.cyclic(&part[..part.len() - 1], budget)?);
            }
        }
        repairs.sort_unstable();
        Ok(repairs)
    }

    /// Takes left-out actions, each in as few of these states as it can.
    fn by_action<S: System, O: Observer, P: Products>(
        &mut self,
        search: &mut Search<'_, '_, S, O, P>,
        states: &[u32],
        repairs: &mut Vec<Taken>,
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        let mut left_out: Vec<(ActionId, u32)> = Vec::new();
        for &state in states {
            search.expand(self.members[state as usize])?;
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
            let mut work = self.inside.cyclic(&part, budget)?;
            while let Some(part) = work.pop() {
                let mut best = None;
                for &state in part.iter().step_by(part.len().div_ceil(TRIES)) {
                    search.expand(self.members[state as usize])?;
                    let n_unknown = search.graph.n_unknown(action);
                    let cost = (n_unknown, u32::MAX - self.n_taken[state as usize], state);
                    best = Some(best.map_or(cost, |best: (usize, u32, u32)| best.min(cost)));
                    search.poll(budget)?;
                }
                let Some((_, _, state)) = best else { break };
                self.n_taken[state as usize] += 1;
                repairs.push((state, Some(action)));
                let rest: Vec<u32> = part.into_iter().filter(|&other| other != state).collect();
                work.extend(self.inside.cyclic(&rest, budget)?);
            }
        }
        Ok(())
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
