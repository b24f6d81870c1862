//! Components are repaired: nothing that matters is left out for ever along a cycle.
//!
//! # Idea
//! A small stubborn set is taken in every state, whether it closes cycles or not. What a set leaves out may be
//! taken later; but a run that goes round a cycle all of whose states leave it out never takes it. The usual
//! remedy is a condition for each state, while the search is there: no step of a small set leads back onto the
//! path. Who keeps it must be careful with cycles that some other state leaves anyway, and takes *everything*
//! where it fails. But a search by strong components knows when a component is finished, and then one can look.
//! If nothing is left out in all states of a cycle, all is well. Otherwise it is taken in one state of the cycle,
//! and the search goes on there, until the component, which may have grown, is finished again.
//!
//! # When should I use this?
//! [`couvreur`](super::couvreur) does, where the reduction asks for it (`reduction::Repair`).
//!
//! # Requirements and limits
//! An exact store. Some states are expanded again, and must then take the same set. Memory for the states and
//! edges of sets in components that are not finished, about twelve bytes per state.
//!
//! # The condition
//! In a state (s, q) of the product let T be the set that is taken, and E the actions that are taken besides,
//! since the component was repaired.
//!
//! **CYCLE.** There is no action b that matters and no cycle of steps of sets T, in each state of which b can
//! happen in the product and is neither in T nor in E.
//!
//! A step stands for the action that it begins with, as in `por`: whoever takes one takes all that begin so.
//!
//! When a component is finished for the first time, all steps of its sets are explored, and none leads out to a
//! state that is still open. So a cycle of such steps through one of its states lies in it as a whole. Steps by E
//! close no cycle that counts. Hence every state needs to be looked at once only, though the component may grow
//! by what is taken besides: cycles through states that were looked at were looked at then. In the end CYCLE
//! holds everywhere.
//!
//! Looking is cheap if no states that left anything out lie on a cycle, as in most components. Otherwise, for
//! each b, the cycles of the states that leave out b are cut: one state after the other takes b until no cycle is
//! left, those first that lead to states that are known, and that take much already. After very many tries, all
//! states of a cycle take everything.
//!
//! # Why it is enough: sets blind to the observer
//! These are for automata by value in waiting form (`por::Demand::Words`). A set T that is not everything is
//! closed, has something enabled, and nothing that is enabled in it flips a proposition. All actions matter.
//!
//! Let r be a run of the system from s whose word is accepted from q, read lazily (`automata::waiting`). A run r′
//! of what is explored is built step by step; ρ is what is left of r. Let b be the first action of ρ.
//!
//! 1. If b is in T or E, it is taken.
//! 2. Otherwise T is not everything. If ρ has actions of T, the first of them can be moved to the front, since T
//!    is closed, and is taken.
//! 3. If it has none, any enabled action a of T is taken. It commutes with all of ρ, so ρ can happen after it.
//!
//! In the last two cases the step is silent, and the order of visible actions stays as it is. So the word of r′
//! is that of r, as far as it goes and up to stuttering, and the automaton goes along lazily: it moves with the
//! first step of each block of equal letters, and then waits.
//!
//! *Nothing is lost.* Until b is taken, it stays the first action of ρ. So it is enabled, and can happen in the
//! product: an automaton by value goes along with every step or with none. If it were never taken, r′ would
//! consist, from some point on, of silent steps of sets that leave out b, while the automaton waits in one state.
//! As there are finitely many states, some of these steps would be a cycle that CYCLE forbids. So all actions of
//! r are taken some day, and r′ has the word of r. If r ends in a deadlock, r′ comes to the same one: the third
//! case does not arise, as a would be enabled there. If r is infinite, so is r′.
//!
//! This also shows which cycles count: only steps of sets matter, not those by E; and only those that are silent
//! and leave the automaton where it is (`Repair::silent`).
//!
//! *All actions matter*, also those on which nothing visible ever depends. With those others left out for ever,
//! r′ might end where r does not, and some runs that end do not count (`AtDeadlock::Ignore`); and where r goes on
//! for ever by such actions alone, r′ might find none of them enabled. (Where that does not matter, `statics`
//! removes them before.)
//!
//! # Why it is enough: sets led by the observer
//! These are for observers by change (`por::Demand::Observer`, hybrid). Where waiting is accepted, no condition
//! is needed. Elsewhere let G be the guided set, and T a smaller one. T is closed, has something enabled, and all
//! of that is silent: with one move of the observer come all, so that T would be as large as G. Let ρ be
//! accepted. It moves the observer some day, for the first time by m.
//!
//! 1. In a state that takes G, the first action of ρ in G can be moved to the front, and is m or comes before m:
//!    m comes closer (`por`).
//! 2. In a state that takes T, if ρ up to m has actions of T, the same is true of the first of them.
//! 3. Otherwise an enabled action of T commutes with ρ up to m. It is taken: moved to the front if ρ has it later
//!    on, put in front if not. It is silent, and m is as far away as before.
//!
//! (If ρ is accepted because it ends in a deadlock, it has actions of any closed set with something enabled, and
//! the first of them can be moved to the front: what is left becomes shorter with every step.)
//!
//! So m is put off for ever only along a cycle of silent steps of smaller sets; and there CYCLE is more than
//! enough. But most of what is left out has nothing to do with m. So repairing takes G in one state of each such
//! cycle, instead of single actions, whatever it is that was left out (`Repair::by_action`).
//!
//! # Why it is enough: sets that keep fair runs
//! The proof is at the head of por's module `fair` (`por::Demand::Fair`). Steps that the observer sees count in
//! cycles, too; and actions on which nothing depends may be left out for ever, since the proof lets r′ go on by
//! other such actions where r does. Systems with [`Dependencies`](crate::reduction::Dependencies) have sets that are
//! blind and keep fair runs; for these the paragraphs on blind sets hold, too, so that all actions matter and only silent
//! steps count.
//!
//! # Differences from other conditions
//! Valmari's condition S asks that whatever is enabled in a component be taken somewhere in it. That is enough
//! for what can be reached, but not for runs: b may be taken where it leads astray, and be left out along the one
//! cycle that is needed. So cycles must be looked at, not components (t: `trap` of `reductions.rs`).

use base::{Budget, Limit};
use model::{ActionId, System};

use super::couvreur::Search;
use super::found::Found;
use super::inside::Inside;
use super::left_out::LeftOut;
use super::path::Top;
use super::product_graph::{Edge, Trouble};
use crate::observer::Observer;
use crate::reduction::Repair;
use crate::store::{Products, StateId};

/// In so many states of a cycle it is tried where everything leads.
const TRIES: usize = 64;
/// To look at so many states of a cycle counts as a try.
const LOOKS: usize = 16;
/// So often is it tried, for each state that there is; and so often besides. Then everything is taken.
const MOST_TRIES: u64 = 8;
const FREE_TRIES: u64 = 10_000;

/// More tries than this are too many, where there are so many states.
pub(crate) fn too_many(n_states: u64) -> u64 {
    MOST_TRIES * n_states + FREE_TRIES
}

/// What a search that repairs its components knows.
#[derive(Default)]
pub(super) struct Repairing {
    /// The states that left something out, and were not looked at since, in the order in which they were entered.
    states: Vec<StateId>,
    /// Where their edges end that count in cycles; those of the next one begin there.
    ends: Vec<usize>,
    edges: Vec<StateId>,
    /// States that take something besides, since their component was finished with a root of this order. The marks
    /// of these edges are looked at again when the root is left.
    repaired: Vec<(u32, StateId)>,
    n_tries: u64,
}

impl Repairing {
    pub(super) fn bytes(&self) -> u64 {
        let words = self.states.capacity() + self.edges.capacity() + 2 * self.repaired.capacity();
        (words * size_of::<StateId>() + self.ends.capacity() * size_of::<usize>()) as u64
    }

    /// Another state that was repaired when the state of this order was the root, and that is forgotten now.
    pub(super) fn repaired_for(&mut self, order: u32) -> Option<StateId> {
        self.repaired.pop_if(|repaired| repaired.0 == order).map(|(_, state)| state)
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
    if search.leaves_out().next().is_none() {
        return;
    }
    let Some(mut known) = search.repairing.take() else { return };
    let n_edges = known.edges.len();
    let counting = search.edges.iter().filter(|edge| counts(search, state, edge));
    known.edges.extend(counting.map(|edge| edge.target));
    if known.edges.len() > n_edges {
        known.states.push(state);
        known.ends.push(known.edges.len());
    }
    search.repairing = Some(known);
}

/// Repairs the finished component of the root on top. Returns whether there is something to search now: states wait, or the
/// component is not finished.
pub(super) fn repair<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    root: StateId,
    budget: &mut Budget<'_>,
) -> Result<bool, Found> {
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
    let bytes = states.len() * (Inside::<()>::STATE_BYTES + 16) + n_edges * Inside::<()>::EDGE_BYTES;
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
    if let Some(part) = Part::repaired(search, states, inside, budget)? {
        take(search, &part, order, budget)?;
    }
    budget.max_bytes = bytes_before;
    let goes_on = search.roots.order() < order || matches!(search.path.top(), Some(Top::Waiting(_)));
    if let Some(known) = &mut search.repairing
        && !goes_on
    {
        // No edge leads to a state that was new: all marks were seen.
        while known.repaired_for(order).is_some() {}
    }
    Ok(goes_on)
}

/// A state of a part takes an action besides, or everything.
pub(crate) type Taken = (u32, Option<ActionId>);

/// Who can look at the states of a part once more.
pub(crate) trait Repairer {
    /// Why looking may end early.
    type End: From<Limit>;

    /// What must be seen to.
    fn repair(&self) -> Option<&Repair>;

    /// Notes what a state leaves out and matters; returns how much it takes.
    fn left_out(&mut self, state: StateId, out: &mut LeftOut) -> Result<usize, Self::End>;

    /// How many states are found if a state takes everything.
    fn n_unknown(&mut self, state: StateId) -> Result<usize, Self::End>;

    /// Whether so many more tries are too many.
    fn gives_up(&mut self, n_more: usize) -> bool;

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), Self::End>;
}

/// The states of a component that left something out.
pub(crate) struct Part {
    states: Vec<StateId>,
    /// Cycles of these edges count.
    inside: Inside<()>,
    /// Per state, how much is taken there.
    n_taken: Vec<usize>,
    /// Per state that leaves out the action in question: where that leads.
    leads_to: Vec<(u32, u32)>,
    /// What is to be taken besides.
    taken: Vec<Taken>,
}

impl Part {
    /// These states, with the edges between them that count in cycles. Nothing if there is no cycle.
    pub(crate) fn repaired<R: Repairer>(
        repairer: &mut R,
        states: Vec<StateId>,
        mut inside: Inside<()>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Part>, R::End> {
        let all: Vec<u32> = (0..states.len() as u32).collect();
        let cyclic = inside.cyclic(&all, budget)?;
        if cyclic.is_empty() {
            return Ok(None);
        }
        let (n_taken, leads_to) = (vec![0; states.len()], vec![(0, 0); states.len()]);
        let mut part = Part { n_taken, leads_to, states, inside, taken: Vec::new() };
        part.repair(repairer, cyclic, budget)?;
        part.taken.sort_unstable();
        part.taken.dedup();
        Ok(Some(part))
    }

    /// What is to be taken besides, by state.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (StateId, &[Taken])> {
        let by_state = self.taken.chunk_by(|one, other| one.0 == other.0);
        by_state.map(|taken| (self.states[taken[0].0 as usize], taken))
    }

    /// Finds out what must be taken besides, by states on cycles.
    fn repair<R: Repairer>(
        &mut self,
        repairer: &mut R,
        cyclic: Vec<Vec<u32>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), R::End> {
        if repairer.repair().is_some_and(|repair| !repair.by_action) {
            return self.cut_by_all(repairer, cyclic, budget);
        }
        let mut left_out = LeftOut::default();
        for state in cyclic.concat() {
            let bytes = left_out.look_at(state);
            self.n_taken[state as usize] = repairer.left_out(self.states[state as usize], &mut left_out)?;
            budget.hold(left_out.bytes() - bytes)?;
            repairer.poll(budget)?;
        }
        let entries = left_out.by_action();
        for of_action in entries.chunk_by(|one, other| one.0 == other.0) {
            let part: Vec<u32> = of_action.iter().map(|entry| entry.1).collect();
            for &(_, state, begin, end) in of_action {
                self.leads_to[state as usize] = (begin, end);
            }
            let cyclic = self.inside.cyclic(&part, budget)?;
            self.cut(repairer, cyclic, (of_action[0].0, &mut left_out), budget)?;
        }
        Ok(())
    }

    /// Takes an action in states of these strong parts until no cycle is left.
    fn cut<R: Repairer>(
        &mut self,
        repairer: &mut R,
        mut cyclic: Vec<Vec<u32>>,
        (action, left_out): (ActionId, &mut LeftOut),
        budget: &mut Budget<'_>,
    ) -> Result<(), R::End> {
        while let Some(part) = cyclic.pop() {
            if repairer.gives_up(part.len().div_ceil(LOOKS)) {
                self.taken.extend(part.into_iter().map(|state| (state, None)));
                continue;
            }
            // Best where it leads to nothing new, then where much is taken already.
            let rank = |&state: &u32| {
                let n_unknown = left_out.n_unknown(self.leads_to[state as usize]);
                (n_unknown, usize::MAX - self.n_taken[state as usize], state)
            };
            let Some(state) = part.iter().copied().min_by_key(rank) else { continue };
            self.n_taken[state as usize] += 1;
            self.taken.push((state, Some(action)));
            left_out.take(self.leads_to[state as usize]);
            self.go_on(&mut cyclic, part, state, budget)?;
            repairer.poll(budget)?;
        }
        Ok(())
    }

    /// The same by taking everything.
    fn cut_by_all<R: Repairer>(
        &mut self,
        repairer: &mut R,
        mut cyclic: Vec<Vec<u32>>,
        budget: &mut Budget<'_>,
    ) -> Result<(), R::End> {
        while let Some(part) = cyclic.pop() {
            if repairer.gives_up(part.len().min(TRIES)) {
                self.taken.extend(part.into_iter().map(|state| (state, None)));
                continue;
            }
            let mut best = (usize::MAX, u32::MAX);
            for &state in part.iter().step_by(part.len().div_ceil(TRIES)) {
                best = best.min((repairer.n_unknown(self.states[state as usize])?, state));
                repairer.poll(budget)?;
            }
            self.taken.push((best.1, None));
            self.go_on(&mut cyclic, part, best.1, budget)?;
        }
        Ok(())
    }

    /// The parts that are left of one without a state.
    fn go_on(
        &mut self,
        cyclic: &mut Vec<Vec<u32>>,
        mut part: Vec<u32>,
        without: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), Limit> {
        part.retain(|&state| state != without);
        cyclic.extend(self.inside.cyclic(&part, budget)?);
        Ok(())
    }
}

/// Takes all of it, as if the root of this order did.
fn take<S: System, O: Observer, P: Products>(
    search: &mut Search<'_, '_, S, O, P>,
    part: &Part,
    root: u32,
    budget: &mut Budget<'_>,
) -> Result<(), Found> {
    for (state, taken) in part.taken() {
        search.look_at_repaired(state, taken)?;
        search.repairing.as_mut().into_iter().for_each(|known| known.repaired.push((root, state)));
        search.poll(budget)?;
    }
    Ok(())
}

impl<S: System, O: Observer, P: Products> Repairer for Search<'_, '_, S, O, P> {
    type End = Found;

    fn repair(&self) -> Option<&Repair> {
        self.graph.repair()
    }

    fn left_out(&mut self, state: StateId, out: &mut LeftOut) -> Result<usize, Found> {
        self.expand(state)?;
        let actions: Vec<ActionId> = self.leaves_out().collect();
        out.note(&mut self.graph, &actions);
        Ok(self.edges.len())
    }

    fn n_unknown(&mut self, state: StateId) -> Result<usize, Found> {
        match self.graph.n_unknown_by_all(state) {
            // What goes wrong here goes wrong again when it is taken.
            Err(Trouble::Fault(_)) => Ok(usize::MAX),
            n_unknown => n_unknown.map_err(|trouble| Found::Trouble(trouble, Some(state))),
        }
    }

    fn gives_up(&mut self, n_more: usize) -> bool {
        let n_states = self.graph.states.n_states();
        self.repairing.as_mut().is_some_and(|known| {
            known.n_tries += n_more as u64;
            known.n_tries > too_many(n_states)
        })
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), Found> {
        Search::poll(self, budget)
    }
}

/// Whether an edge counts in a cycle: it is a step of the set, and if sets hold only steps that the observer does not see, this
/// stays where it is.
fn counts<S: System, O: Observer, P: Products>(
    search: &Search<'_, '_, S, O, P>,
    from: StateId,
    edge: &Edge,
) -> bool {
    search.graph.counts(from, edge, search.graph.extra(from))
}
