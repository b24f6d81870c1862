//! Emptiness of a product by strong components.
//!
//! # Idea
//! One depth-first search keeps a stack of roots, one per partial strong component, each with the
//! union of the marks seen inside it. An edge back into the stack merges roots; when the merged
//! marks are all marks, an accepting cycle exists and the search stops at once. [couvreur.99.fm]
//!
//! # When should I use this?
//! By default, for TGBA, BA and TGTA, with any number of marks. It is also the first pass of
//! [`two_pass`](super::two_pass).
//!
//! # Requirements and limits
//! Any generalized Büchi acceptance with up to 64 marks, and any number of fairness constraints
//! ([`fairness`](crate::fairness)): the root stack holds the marks of all of them. An exact store, since
//! components must be told apart. Livelock acceptance is left to the second pass.
//!
//! # Differences from the paper
//! - The recursion is an explicit stack.
//! - Initial states that are known already are not searched again ([bensalem.12.topnoc]'s Algorithm 1 pushes
//!   them without looking).
//! - The counterexample is not the path on the stack: the shortest way to the component and a short
//!   cycle inside it are searched for, breadth first, in what was explored.
//! - Edges to states that are known are looked at when their source is entered, so that only edges to
//!   new states wait, and of the edges to a new state only the one by which it will be entered
//!   (module `path`). The marks of the others are not forgotten: a state that is left is expanded
//!   once more, if its component lacks marks that some edge of the state to a new state had.
//! - The stack of the path and that of the open states are lists through the states (module `path`),
//!   and the roots below the top are packed (module `roots`): eight bytes per state, and one to six
//!   per state on the path.
//! - For testing automata, Geldenhuys and Hansen's heuristic is tried as well: an edge that closes a
//!   cycle of silent steps among livelock states of the path is a livelock. Not under fairness, where
//!   that cycle may be unfair.
//! - Where the reduction asks for it, a component that is finished and not accepted is repaired before it is
//!   left (module `repair`): what its states left out for ever is taken, as if its root had these edges, and the
//!   search goes on.
//! - A component that lacks only strong fairness is looked into by [`streett`](super::streett) when it is
//!   finished; one that is fair already ends the search while it grows.
//!
//! # References
//! [couvreur.99.fm]; Algorithm 1 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

mod accepted;
mod edges;

use base::{Budget, Limit, Progress};
use fixedbitset::FixedBitSet;
use model::System;

use super::Stats;
use super::evidence::{ProductOutcome, Violation};
use super::found::{Found, Scope};
use super::path::{MAX_STATES, NEW, Path, Top};
use super::product_graph::{Edge, ProductGraph, Trouble, exact};
use super::repair::{Repairing, note, repair};
use super::roots::{EdgeMarks, Roots, pop_marks, push_marks};
use super::varints::Varints;
use crate::fairness::Acceptance;
use crate::observer::Observer;
use crate::product::{Expanded, Product, Visits};
use crate::store::packed::Packed;
use crate::store::{Products, StateId};

/// Looks for a run that the observer accepts by marks, at once, or by its end; if there are fairness
/// constraints, for a fair one.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let states = exact(product, budget);
    search_over(product, states, budget)
}

/// The same over a store of states, which is empty.
pub fn search_over<S: System, O: Observer, P: Products>(
    product: &mut Product<'_, S, O>,
    states: P,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut search = Search::new(product, states);
    let end = search.run(budget).err();
    search.outcome(end, budget)
}

/// Whether a search goes over what another one explored, edge by edge.
fn repeats<S: System, O: Observer, P: Products>(graph: &ProductGraph<'_, '_, S, O, P>, scope: Scope) -> bool {
    scope == Scope::Livelocks && graph.repair().is_some_and(|repair| repair.by_action)
}

/// An edge by which a state is entered: the number of its marks, and whether it is silent.
#[derive(Clone, Copy)]
struct Via {
    marks: u32,
    silent: bool,
}

impl Via {
    fn encode(self) -> u32 {
        self.marks << 1 | u32::from(self.silent)
    }

    fn decode(number: u32) -> Via {
        Via { marks: number >> 1, silent: number & 1 == 1 }
    }
}

pub(super) struct Search<'p, 'a, S: System, O, P> {
    pub(super) graph: ProductGraph<'p, 'a, S, O, P>,
    scope: Scope,
    pub(super) acceptance: Acceptance,
    looks_for_livelocks: bool,
    /// The livelock states that were entered ([bensalem.12.topnoc]'s Gseen says whether there are some).
    pub(super) livelocks: FixedBitSet,
    pub(super) path: Path,
    /// Per state that waits: the edge by which it will be entered.
    via: Packed,
    /// The partial components on the path.
    pub(super) roots: Roots,
    pub(super) edge_marks: EdgeMarks,
    /// Per state on the path: for testing automata, what `livelock_since` was below it, if it is not the
    /// same; and the marks of its edges to states that were new.
    frames: Varints,
    waiting_marks: Vec<u32>,
    /// The order of the first state of the path's suffix of silent steps among livelock states; 0 if the
    /// state on top is not a livelock state.
    livelock_since: u32,
    /// What is known about states that left something out, if components are repaired.
    pub(super) repairing: Option<Repairing>,
    pub(super) edges: Vec<Edge>,
    pub(super) stats: Stats,
    pub(super) progress: Progress,
    /// How often the bytes were not counted since they were.
    n_uncounted: u32,
}

/// So often are bytes not counted.
const UNCOUNTED: u32 = 15;

impl<'p, 'a, S: System, O: Observer, P: Products> Search<'p, 'a, S, O, P> {
    pub(super) fn new(product: &'p mut Product<'a, S, O>, states: P) -> Search<'p, 'a, S, O, P> {
        product.begin(Visits::Once);
        Search::on(ProductGraph::new(product, states).repaired(), Scope::All)
    }

    fn on(graph: ProductGraph<'p, 'a, S, O, P>, scope: Scope) -> Search<'p, 'a, S, O, P> {
        let fairness = graph.fairness();
        let (acceptance, looks_for_livelocks) = match scope {
            Scope::All => (
                fairness.acceptance(graph.observer().all_marks()),
                graph.observer().has_livelocks() && fairness.is_empty(),
            ),
            Scope::Livelocks => (fairness.acceptance(0), false),
        };
        Search {
            scope,
            acceptance,
            looks_for_livelocks,
            livelocks: FixedBitSet::new(),
            path: Path::new(),
            via: Packed::new(),
            roots: Roots::new(fairness.n_words()),
            edge_marks: EdgeMarks::default(),
            frames: Varints::default(),
            waiting_marks: vec![0; fairness.n_words()],
            livelock_since: 0,
            repairing: graph.repair().filter(|_| !repeats(&graph, scope)).map(|_| Repairing::default()),
            graph,
            edges: Vec::new(),
            stats: Stats::default(),
            progress: Progress::default(),
            n_uncounted: UNCOUNTED,
        }
    }

    /// A search for livelocks in what was explored.
    pub(super) fn for_livelocks(self) -> Search<'p, 'a, S, O, P> {
        let Search { graph, stats, progress, livelocks, .. } = self;
        Search { stats, progress, livelocks, ..Search::on(graph, Scope::Livelocks) }
    }

    pub(super) fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), Found> {
        self.graph.begin().map_err(|trouble| Found::Trouble(trouble, None))?;
        for index in 0..self.graph.initial.len() {
            let state = self.graph.initial[index].1;
            self.search_from(state, budget)?;
        }
        Ok(())
    }

    /// Searches from the livelock states that were found. Others are not expanded.
    ///
    /// Under reduction, other sets may be taken in a state than in the first pass, and states be found that
    /// it did not find: this is sound. Let the first pass have found nothing. If something is accepted, what it
    /// explored has a livelock (`por`: by what it took, whatever it was, an accepted run is preserved, perhaps
    /// as a livelock), so a state x from which the system can go on for ever without moving the
    /// observer. Whatever stubborn set is taken in x now, it has an action that does not move the
    /// observer (R2: waiting is accepted here). If the run has an action of the set, the first of
    /// them can be moved to its front; if it has none, that other action can be put in front of it.
    /// Neither changes what is seen of any action. So a silent step is taken from x to a state of which
    /// the same is true, and so on: these steps come to a cycle, and that is found, since within this pass each
    /// state is expanded once. New states are reached from x, so they need no start of their own.
    ///
    /// That is for sets led by the observer. Sets that keep fair runs are taken as in the first pass, whose components are
    /// repaired: the fair run that `por`'s module `fair` builds waits in the end, in that very graph, for ever.
    pub(super) fn run_from_livelocks(&mut self, budget: &mut Budget<'_>) -> Result<(), Found> {
        let found = std::mem::take(&mut self.livelocks);
        found.ones().map(StateId::new).try_for_each(|state| self.search_from(state, budget))
    }

    fn search_from(&mut self, state: StateId, budget: &mut Budget<'_>) -> Result<(), Found> {
        if self.order_of(state) != NEW {
            return Ok(());
        }
        self.enter(state, None, budget)?;
        while let Some(top) = self.path.top() {
            match top {
                Top::State(state) => self.leave(state, budget)?,
                Top::Waiting(state) => {
                    let via = Via::decode(self.via.get(state.index()));
                    self.enter(state, Some(via), budget)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn order_of(&self, state: StateId) -> u32 {
        self.path.order_of(state)
    }

    /// The edges that were taken in a state and are in scope, once more, into `edges`.
    pub(super) fn expand(&mut self, state: StateId) -> Result<(), Found> {
        self.expand_again(state).map(|_| ())
    }

    fn expand_again(&mut self, state: StateId) -> Result<Expanded, Found> {
        let expanded = self.graph.expand(state, None, &mut self.edges);
        self.in_scope(state, expanded)
    }

    /// The edges of a state that are in scope, into `edges`.
    fn expand_new(&mut self, state: StateId) -> Result<Expanded, Found> {
        if repeats(&self.graph, self.scope) {
            self.expand_again(state)
        } else {
            let path = &self.path;
            let expanded = self.graph.expand(state, Some(&|state| path.is_on_path(state)), &mut self.edges);
            self.in_scope(state, expanded)
        }
    }

    fn in_scope(&mut self, state: StateId, expanded: Result<Expanded, Trouble>) -> Result<Expanded, Found> {
        let expanded = expanded.map_err(|trouble| Found::Trouble(trouble, Some(state)))?;
        if self.scope == Scope::Livelocks {
            // The observer stays where it is, so both ends are livelock states.
            self.edges.retain(|edge| edge.silent);
        }
        Ok(expanded)
    }

    /// Makes room for what is known about the states of the graph.
    #[inline]
    fn make_room(&mut self) -> Result<(), Found> {
        let n_ids = self.graph.states.n_ids();
        if n_ids > MAX_STATES as usize {
            return Err(Limit::States(u64::from(MAX_STATES)).into());
        }
        self.path.make_room(n_ids)?;
        while self.via.len() < n_ids {
            self.via.push(0)?;
        }
        Ok(())
    }

    /// Enters a state: a component of its own, for the time being.
    fn enter(&mut self, state: StateId, via: Option<Via>, budget: &mut Budget<'_>) -> Result<(), Found> {
        self.make_room()?;
        // A state is on the path already when it is expanded: a loop closes a cycle.
        let order = self.path.enter(state);
        let expanded = self.expand_new(state)?;
        self.make_room()?;
        self.roots.push(order, via.map_or(0, |via| via.marks), self.graph.state_marks())?;
        if self.looks_for_livelocks {
            self.enter_livelock(order, expanded.stance.livelock, via.is_some_and(|via| via.silent))?;
        }
        if expanded.stance.livelock && self.scope == Scope::All {
            self.livelocks.grow_and_insert(state.index());
        }
        self.stats.deadlocks += u64::from(expanded.is_deadlock && self.scope == Scope::All);
        if expanded.stance.at_once {
            return Err(Found::State(Violation::AtOnce, state));
        }
        if expanded.is_error {
            return Err(Found::State(Violation::Deadlock, state));
        }
        self.progress.transitions += self.edges.len() as u64;
        note(self, state);
        self.look_at_edges()?;
        self.progress.depth = self.progress.depth.max(self.path.depth() - 1);
        self.poll(budget)
    }

    fn enter_livelock(&mut self, order: u32, is_livelock: bool, is_silent: bool) -> Result<(), Found> {
        let before = self.livelock_since;
        if is_livelock && is_silent && before != 0 {
            return Ok(());
        }
        self.livelock_since = if is_livelock { order } else { 0 };
        Ok(self.frames.push(u64::from(if before == 0 { 0 } else { order - before }))?)
    }

    fn leave_livelock(&mut self, order: u32) {
        if self.livelock_since == 0 || self.livelock_since == order {
            let back = self.frames.pop() as u32;
            self.livelock_since = if back == 0 { 0 } else { order - back };
        }
    }

    pub(super) fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), Found> {
        self.progress.states = self.graph.states.n_states();
        self.progress.pending = self.path.n_waiting();
        self.n_uncounted += 1;
        if self.n_uncounted > UNCOUNTED {
            self.count_bytes();
        }
        Ok(budget.poll(&self.progress)?)
    }

    fn count_bytes(&mut self) {
        self.n_uncounted = 0;
        self.progress.bytes = self.graph.bytes()
            + self.path.bytes()
            + self.via.bytes()
            + self.roots.bytes()
            + self.edge_marks.bytes()
            + self.frames.bytes()
            + self.livelocks.len() as u64 / 8
            + self.repairing.as_ref().map_or(0, Repairing::bytes);
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
    }

    /// Whether a silent edge from the top of the path to a state of this order closes a cycle of silent
    /// steps among livelock states: the state lies on the path, in the same suffix of such steps.
    fn closes_livelock(&self, target: StateId, order: u32) -> bool {
        let since = self.livelock_since;
        self.looks_for_livelocks && since != 0 && order >= since && self.path.is_on_path(target)
    }

    /// Leaves the state on top of the path; if it is the root of its component, that is finished.
    fn leave(&mut self, state: StateId, budget: &mut Budget<'_>) -> Result<(), Found> {
        let order = self.order_of(state);
        pop_marks(&mut self.frames, &mut self.waiting_marks);
        // States that were entered since then, and are not finished, belong to the same component.
        let has_members = self.path.n_open() > order;
        let helps = has_members && self.acceptance.helps(&self.waiting_marks, self.roots.marks());
        if helps {
            self.look_again(state, order)?;
        }
        while let Some(state) = self.repairing.as_mut().and_then(|known| known.repaired_for(order)) {
            if helps {
                self.look_again(state, self.order_of(state))?;
            }
        }
        // A component that is accepted ends the search before it is repaired.
        if self.roots.order() == order && repair(self, state, budget)? {
            return Ok(push_marks(&mut self.frames, &self.waiting_marks)?);
        }
        if self.looks_for_livelocks {
            self.leave_livelock(order);
        }
        self.path.leave();
        if self.roots.order() == order {
            if self.graph.fairness().has_strong() && self.acceptance.may_hold(self.roots.marks()) {
                self.look_for_fair_part(order, budget)?;
            }
            self.roots.pop();
            self.path.finish(order);
        }
        Ok(())
    }

    /// The outcome of a search that ended so.
    pub(super) fn outcome(mut self, end: Option<Found>, budget: &mut Budget<'_>) -> ProductOutcome {
        self.progress.states = self.graph.states.n_states();
        self.count_bytes();
        self.stats.record(&self.progress);
        let stats = self.stats;
        let system_states = Some(self.graph.states.n_system_states());
        // The path is forgotten: its memory is needed for runs.
        let Search { mut graph, progress, .. } = self;
        let stop = end.map(|end| end.explain(&mut graph, progress, budget));
        ProductOutcome { stats, system_states, stop, coverage: None }
    }
}
