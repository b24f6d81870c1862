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
//! Any generalized Büchi acceptance with up to 64 marks; an exact store, since components must be
//! told apart. Livelock acceptance is left to the second pass.
//!
//! # Differences from the paper
//! - The recursion is an explicit stack.
//! - Initial states that are known already are not searched again (003's Algorithm 1 pushes them
//!   without looking).
//! - The counterexample is not the path on the stack: the shortest way to the component and a short
//!   cycle inside it are searched for, breadth first, in what was explored.
//! - Edges to states that are known are looked at when their source is entered, so that only edges to
//!   new states wait.
//! - For testing automata, Geldenhuys and Hansen's heuristic is tried as well: an edge that closes a
//!   cycle of silent steps among livelock states of the path is a livelock.
//!
//! # References
//! [couvreur.99.fm]; Algorithm 1 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

use base::{Budget, Limit, Progress};
use model::System;
use rustc_hash::FxHashMap;

use super::Stats;
use super::evidence::{Evidence, ProductOutcome, ProductStop, Violation};
use super::lasso::{lasso, run_to};
use super::product_graph::{Edge, ProductGraph, Trouble};
use crate::observer::Observer;
use crate::paged::{OutOfMemory, Paged};
use crate::product::Product;
use crate::store::StateId;

/// Looks for a run that the observer accepts by marks, at once, or by its end.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut search = Search::new(product, budget.max_bytes);
    let end = search.run(budget).err();
    search.outcome(end)
}

/// Why the main loop ends early.
pub(super) enum End {
    /// The states whose order is at least this are an accepting component.
    Accepting(u32),
    /// The states on the path from this one on make up a livelock.
    Livelock(StateId),
    /// This state accepts at once, or is an error because the run ends there.
    State(Violation, StateId),
    /// Trouble in this state.
    Trouble(Trouble, Option<StateId>),
    Limit(Limit),
}

impl From<Limit> for End {
    fn from(limit: Limit) -> End {
        End::Limit(limit)
    }
}

impl From<OutOfMemory> for End {
    fn from(OutOfMemory: OutOfMemory) -> End {
        End::Limit(Limit::Memory(u64::MAX))
    }
}

/// Sets of marks, numbered: there are few different ones.
#[derive(Default)]
struct MarkSets {
    numbers: FxHashMap<u64, u32>,
    sets: Vec<u64>,
    /// What was asked for last.
    last: u32,
}

impl MarkSets {
    #[inline]
    fn number(&mut self, marks: u64) -> u32 {
        if let Some(last) = self.sets.get(self.last as usize)
            && *last == marks
        {
            return self.last;
        }
        self.last = self.look_up(marks);
        self.last
    }

    fn look_up(&mut self, marks: u64) -> u32 {
        let sets = &mut self.sets;
        *self.numbers.entry(marks).or_insert_with(|| {
            sets.push(marks);
            sets.len() as u32 - 1
        })
    }
}

/// In `order`: not entered yet.
const NEW: u32 = 0;
/// In `order`: its component is finished.
const DEAD: u32 = u32::MAX;

/// A group of edges with the same marks that wait to be followed: the number of their marks, and how many
/// there are.
#[derive(Clone, Copy)]
struct Group {
    marks: u32,
    silent: bool,
    n_edges: u32,
}

impl Group {
    const FLAG: u32 = 1 << 31;
    const SILENT: u32 = 1 << 30;
    const MAX_EDGES: u32 = (1 << 14) - 1;
    const MAX_MARKS: u32 = 1 << 16;

    fn encode(self) -> u32 {
        let silent = if self.silent { Group::SILENT } else { 0 };
        Group::FLAG | silent | self.marks << 14 | self.n_edges
    }

    fn decode(word: u32) -> Option<Group> {
        let marks = word >> 14 & (Group::MAX_MARKS - 1);
        (word & Group::FLAG != 0).then_some(Group {
            marks,
            silent: word & Group::SILENT != 0,
            n_edges: word & Group::MAX_EDGES,
        })
    }
}

pub(super) struct Search<'p, 'a, S: System, O> {
    pub(super) graph: ProductGraph<'p, 'a, S, O>,
    all_marks: u64,
    looks_for_livelocks: bool,
    /// Some livelock state was entered (003's Gseen).
    pub(super) saw_livelock: bool,
    /// Per state: when it was entered, counted from 1; or `NEW` or `DEAD`. H in the paper.
    order: Paged,
    is_on_path: Vec<u64>,
    /// The partial components on the path: order of the first state, the marks seen inside, and the marks
    /// of the edge that led there, as numbers.
    roots: Paged,
    mark_sets: MarkSets,
    /// The states of all partial components, in the order in which they were entered.
    open: Paged,
    /// Per state on the path: itself, and above it groups of edges that wait: their targets, and above
    /// these what they have in common. So on top of it is a group or a state.
    path: Paged,
    depth: u64,
    /// For testing automata, per state on the path: the order of the first state of its suffix of silent
    /// steps among livelock states (0: it is not a livelock state).
    livelock_since: Paged,
    edges: Vec<Edge>,
    pub(super) stats: Stats,
    pub(super) progress: Progress,
}

impl<'p, 'a, S: System, O: Observer> Search<'p, 'a, S, O> {
    pub(super) fn new(product: &'p mut Product<'a, S, O>, max_bytes: u64) -> Search<'p, 'a, S, O> {
        product.expands_once(true);
        let looks_for_livelocks = product.observer().has_livelocks();
        let graph = ProductGraph::new(product, max_bytes);
        Search {
            all_marks: graph.all_marks(),
            looks_for_livelocks,
            saw_livelock: false,
            graph,
            order: Paged::new(1),
            is_on_path: Vec::new(),
            roots: Paged::new(3),
            mark_sets: MarkSets::default(),
            open: Paged::new(1),
            path: Paged::new(1),
            depth: 0,
            livelock_since: Paged::new(1),
            edges: Vec::new(),
            stats: Stats::default(),
            progress: Progress::default(),
        }
    }

    pub(super) fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.graph.begin().map_err(|trouble| End::Trouble(trouble, None))?;
        for index in 0..self.graph.initial.len() {
            let state = self.graph.initial[index].1;
            if self.order_of(state) == NEW {
                self.push(state, 0, false, budget)?;
                self.search_from_top(budget)?;
            }
        }
        Ok(())
    }

    fn search_from_top(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        while let Some(top) = self.path.len().checked_sub(1) {
            match Group::decode(self.path.get(top)[0]) {
                None => self.pop(),
                Some(group) => {
                    let target = self.next_edge(group)?;
                    let marks = self.mark_sets.sets[group.marks as usize];
                    match self.order_of(target) {
                        NEW => self.push(target, marks, group.silent, budget)?,
                        DEAD => {}
                        order => self.close(target, order, marks, group.silent)?,
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn order_of(&self, state: StateId) -> u32 {
        if state.index() < self.order.len() { self.order.get(state.index())[0] } else { NEW }
    }

    fn is_on_path(is_on_path: &[u64], state: StateId) -> bool {
        let at = state.index();
        is_on_path.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn flip_on_path(&mut self, state: usize) {
        if state / 64 >= self.is_on_path.len() {
            self.is_on_path.resize(state / 64 + 1, 0);
        }
        self.is_on_path[state / 64] ^= 1 << (state % 64);
    }

    /// Enters a state: a component of its own, for the time being.
    fn push(
        &mut self,
        state: StateId,
        incoming: u64,
        silent: bool,
        budget: &mut Budget<'_>,
    ) -> Result<(), End> {
        // A state is on the path already when it is expanded: a loop closes a cycle.
        self.flip_on_path(state.index());
        let mut edges = std::mem::take(&mut self.edges);
        let is_on_path = &self.is_on_path;
        let expanded = self.graph.expand(state, |state| Self::is_on_path(is_on_path, state), &mut edges);
        self.edges = edges;
        while self.order.len() <= state.index().max(self.graph.n_states() as usize - 1) {
            self.order.push(&[NEW])?;
        }
        let order = self.open.len() as u32 + 1;
        self.order.get_mut(state.index())[0] = order;
        self.open.push(&[state.index() as u32])?;
        let (none, incoming) = (self.mark_sets.number(0), self.mark_sets.number(incoming));
        self.roots.push(&[order, none, incoming])?;
        let expanded = expanded.map_err(|trouble| End::Trouble(trouble, Some(state)))?;
        self.path.push(&[state.index() as u32])?;
        if self.looks_for_livelocks {
            let since = match self.livelock_since.len() {
                _ if !expanded.stance.livelock => 0,
                0 => order,
                len => match self.livelock_since.get(len - 1)[0] {
                    since if silent && since != 0 => since,
                    _ => order,
                },
            };
            self.livelock_since.push(&[since])?;
        }
        self.depth += 1;
        self.saw_livelock |= expanded.stance.livelock;
        self.stats.deadlocks += u64::from(expanded.is_deadlock);
        if expanded.stance.at_once {
            return Err(End::State(Violation::AtOnce, state));
        }
        if expanded.is_error {
            return Err(End::State(Violation::Deadlock, state));
        }
        self.progress.transitions += self.edges.len() as u64;
        self.look_at_edges()?;
        self.progress.depth = self.progress.depth.max(self.depth - 1);
        self.poll(budget)
    }

    /// Looks at the edges of the state that was just entered. Those to new states wait.
    fn look_at_edges(&mut self) -> Result<(), End> {
        let mut group = Group { marks: 0, silent: false, n_edges: 0 };
        for index in (0..self.edges.len()).rev() {
            let Edge { target, marks, silent, .. } = self.edges[index];
            match self.order_of(target) {
                NEW => {
                    let marks = self.mark_sets.number(marks);
                    let is_alike = (group.marks, group.silent) == (marks, silent);
                    if group.n_edges > 0 && (!is_alike || group.n_edges == Group::MAX_EDGES) {
                        self.path.push(&[group.encode()])?;
                        group.n_edges = 0;
                    }
                    if marks >= Group::MAX_MARKS || target.index() as u32 >= Group::FLAG {
                        return Err(End::Limit(Limit::States(u64::from(Group::FLAG))));
                    }
                    self.path.push(&[target.index() as u32])?;
                    group = Group { marks, silent, n_edges: group.n_edges + 1 };
                }
                DEAD => {}
                order => self.close(target, order, marks, silent)?,
            }
        }
        if group.n_edges > 0 {
            self.path.push(&[group.encode()])?;
        }
        Ok(())
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.progress.states = self.graph.n_states();
        self.progress.pending = self.path.len() as u64 - self.depth;
        self.progress.bytes = self.graph.bytes()
            + self.open.bytes()
            + self.path.bytes()
            + self.livelock_since.bytes()
            + self.order.bytes()
            + self.roots.bytes()
            + 8 * self.is_on_path.capacity() as u64;
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// Takes the next edge of the group on top of the path.
    #[inline]
    fn next_edge(&mut self, group: Group) -> Result<StateId, OutOfMemory> {
        self.path.pop();
        let target = self.path.get(self.path.len() - 1)[0] as usize;
        self.path.pop();
        if group.n_edges > 1 {
            self.path.push(&[Group { n_edges: group.n_edges - 1, ..group }.encode()])?;
        }
        Ok(StateId::new(target))
    }

    /// An edge leads back to a state of this order.
    #[inline]
    fn close(&mut self, target: StateId, order: u32, marks: u64, silent: bool) -> Result<(), End> {
        if silent && self.closes_livelock(target, order) {
            return Err(End::Livelock(target));
        }
        self.merge(order, marks)
    }

    /// Whether a silent edge from the top of the path to a state of this order closes a cycle of silent
    /// steps among livelock states: the state lies on the path, in the same suffix of such steps.
    fn closes_livelock(&self, target: StateId, order: u32) -> bool {
        if !self.looks_for_livelocks {
            return false;
        }
        let since = self.livelock_since.get(self.livelock_since.len() - 1)[0];
        since != 0 && order >= since && Self::is_on_path(&self.is_on_path, target)
    }

    /// An edge leads back to a state of this order: everything since then is one component.
    #[inline]
    fn merge(&mut self, order: u32, marks: u64) -> Result<(), End> {
        let mut marks = marks;
        while let Some(top) = self.roots.len().checked_sub(1) {
            let [root_order, inside, incoming] = *self.roots.get(top) else { break };
            marks |= self.mark_sets.sets[inside as usize];
            if root_order <= order {
                if marks & self.all_marks == self.all_marks {
                    return Err(End::Accepting(root_order));
                }
                self.roots.get_mut(top)[1] = self.mark_sets.number(marks);
                break;
            }
            marks |= self.mark_sets.sets[incoming as usize];
            self.roots.pop();
        }
        Ok(())
    }

    /// Leaves the state on top of the path; if it is the root of its component, that is finished.
    fn pop(&mut self) {
        let state = self.path.get(self.path.len() - 1)[0] as usize;
        let order = self.order.get(state)[0];
        self.path.pop();
        self.livelock_since.pop();
        self.depth -= 1;
        self.flip_on_path(state);
        let top = self.roots.len() - 1;
        if self.roots.get(top)[0] == order {
            self.roots.pop();
            for at in (order as usize - 1..self.open.len()).rev() {
                let state = self.open.get(at)[0];
                self.order.get_mut(state as usize)[0] = DEAD;
            }
            self.open.truncate(order as usize - 1);
        }
    }

    /// The outcome of a search that ended so.
    pub(super) fn outcome(mut self, end: Option<End>) -> ProductOutcome {
        self.progress.states = self.graph.n_states();
        self.stats.record(&self.progress);
        let system_states = Some(self.graph.n_system_states());
        let stop = end.map(|end| self.explain(&end).unwrap_or(ProductStop::NoRun));
        ProductOutcome { stats: self.stats, system_states, stop, coverage: None }
    }

    /// Turns the end of the main loop into an answer with a run.
    fn explain(&mut self, end: &End) -> Option<ProductStop> {
        let (order, graph) = (&self.order, &mut self.graph);
        Some(match *end {
            End::Limit(limit) | End::Trouble(Trouble::Limit(limit), _) => ProductStop::Limit(limit),
            End::Trouble(Trouble::Fault(error), state) => {
                let run = match state {
                    Some(state) => run_to(graph, state)?.0,
                    None => model::Run::default(),
                };
                ProductStop::Fault(error, run)
            }
            End::State(violation, state) => {
                let (run, observer_states) = run_to(graph, state)?;
                ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states })
            }
            End::Accepting(root) => {
                let is_inside = |state: StateId| {
                    let order = if state.index() < order.len() { order.get(state.index())[0] } else { NEW };
                    order != DEAD && order >= root
                };
                ProductStop::Found(lasso(graph, Violation::Cycle, &is_inside)?)
            }
            End::Livelock(start) => {
                // The states on the path that were entered since then.
                let first = order.get(start.index())[0];
                let is_on_path = &self.is_on_path;
                let is_inside = |state: StateId| {
                    Self::is_on_path(is_on_path, state) && order.get(state.index())[0] >= first
                };
                ProductStop::Found(lasso(graph, Violation::Livelock, &is_inside)?)
            }
        })
    }
}
