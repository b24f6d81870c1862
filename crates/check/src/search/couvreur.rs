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
//! - Initial states that are known already are not searched again (003's Algorithm 1 pushes them
//!   without looking).
//! - The counterexample is not the path on the stack: the shortest way to the component and a short
//!   cycle inside it are searched for, breadth first, in what was explored.
//! - Edges to states that are known are looked at when their source is entered, so that only edges to
//!   new states wait.
//! - For testing automata, Geldenhuys and Hansen's heuristic is tried as well: an edge that closes a
//!   cycle of silent steps among livelock states of the path is a livelock. Not under fairness, where
//!   that cycle may be unfair.
//! - A component that lacks only strong fairness is looked into by [`streett`](super::streett) when it is
//!   finished; one that is fair already ends the search while it grows.
//!
//! # References
//! [couvreur.99.fm]; Algorithm 1 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

use base::{Budget, Limit, Progress};
use model::{ActionId, System};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Stats;
use super::evidence::{Evidence, ProductOutcome, ProductStop, Violation};
use super::lasso::{lasso, run_to};
use super::product_graph::{Edge, ProductGraph, Trouble};
use super::streett::fair_part;
use crate::fairness::{Acceptance, Fairness, add};
use crate::observer::Observer;
use crate::paged::{OutOfMemory, Paged};
use crate::product::{Expanded, Product};
use crate::store::StateId;

/// Looks for a run that the observer accepts by marks, at once, or by its end; if there are fairness
/// constraints, for a fair one.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut search = Search::new(product, budget.max_bytes);
    let end = search.run(budget).err();
    search.outcome(end)
}

/// Which edges are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of them; the observer's marks are required.
    All,
    /// Silent ones between livelock states; no marks of the observer are required.
    Livelocks,
}

/// Why the main loop ends early.
pub(super) enum End {
    /// The states whose order is at least this are an accepting component.
    Accepting(u32),
    /// The states on the path from this one on make up a livelock.
    Livelock(StateId),
    /// These states are a part of a component that is strongly fair.
    FairPart(FxHashSet<u32>),
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

/// The marks of edges, numbered: there are few different ones.
#[derive(Default)]
struct EdgeMarks {
    numbers: FxHashMap<(u64, Option<ActionId>), u32>,
    /// So many words each.
    n_words: usize,
    words: Vec<u32>,
    /// What was asked for last.
    last: Option<((u64, Option<ActionId>), u32)>,
    buffer: Vec<u32>,
}

impl EdgeMarks {
    /// The number of the marks of an edge.
    #[inline]
    fn number(&mut self, fairness: &Fairness, marks: u64, action: Option<ActionId>) -> u32 {
        let key = (marks, if fairness.is_empty() { None } else { action });
        match self.last {
            Some((last, number)) if last == key => number,
            _ => self.look_up(fairness, key),
        }
    }

    fn look_up(&mut self, fairness: &Fairness, key: (u64, Option<ActionId>)) -> u32 {
        let number = *self.numbers.entry(key).or_insert_with(|| {
            fairness.step_marks(key.0, key.1, &mut self.buffer);
            self.n_words = self.buffer.len();
            self.words.extend_from_slice(&self.buffer);
            (self.words.len() / self.n_words) as u32 - 1
        });
        self.last = Some((key, number));
        number
    }

    #[inline]
    fn get(&self, number: u32) -> &[u32] {
        &self.words[number as usize * self.n_words..(number as usize + 1) * self.n_words]
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
    scope: Scope,
    pub(super) acceptance: Acceptance,
    looks_for_livelocks: bool,
    /// Some livelock state was entered (003's Gseen).
    pub(super) saw_livelock: bool,
    /// Per state: when it was entered, counted from 1; or `NEW` or `DEAD`. H in the paper.
    order: Paged,
    is_on_path: Vec<u64>,
    /// The partial components on the path: order of the first state, number of the marks of the edge that
    /// led there, and the marks seen inside.
    roots: Paged,
    root: Vec<u32>,
    edge_marks: EdgeMarks,
    /// The states of all partial components, in the order in which they were entered.
    open: Paged,
    /// Per state on the path: itself, and above it groups of edges that wait: their targets, and above
    /// these what they have in common. So on top of it is a group or a state.
    path: Paged,
    depth: u64,
    /// For testing automata, per state on the path: the order of the first state of its suffix of silent
    /// steps among livelock states (0: it is not a livelock state).
    livelock_since: Paged,
    pub(super) edges: Vec<Edge>,
    pub(super) stats: Stats,
    pub(super) progress: Progress,
}

impl<'p, 'a, S: System, O: Observer> Search<'p, 'a, S, O> {
    pub(super) fn new(product: &'p mut Product<'a, S, O>, max_bytes: u64) -> Search<'p, 'a, S, O> {
        product.expands_once(true);
        Search::on(ProductGraph::new(product, max_bytes), Scope::All)
    }

    fn on(graph: ProductGraph<'p, 'a, S, O>, scope: Scope) -> Search<'p, 'a, S, O> {
        let fairness = graph.fairness();
        let (acceptance, looks_for_livelocks) = match scope {
            Scope::All => {
                (fairness.acceptance(graph.all_marks()), graph.has_livelocks() && fairness.is_empty())
            }
            Scope::Livelocks => (fairness.acceptance(0), false),
        };
        Search {
            scope,
            acceptance,
            looks_for_livelocks,
            saw_livelock: false,
            roots: Paged::new(2 + fairness.n_words()),
            root: Vec::new(),
            edge_marks: EdgeMarks::default(),
            graph,
            order: Paged::new(1),
            is_on_path: Vec::new(),
            open: Paged::new(1),
            path: Paged::new(1),
            depth: 0,
            livelock_since: Paged::new(1),
            edges: Vec::new(),
            stats: Stats::default(),
            progress: Progress::default(),
        }
    }

    /// A search for livelocks in what was explored.
    pub(super) fn for_livelocks(self) -> Search<'p, 'a, S, O> {
        let Search { graph, stats, progress, .. } = self;
        Search { stats, progress, ..Search::on(graph, Scope::Livelocks) }
    }

    pub(super) fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.graph.begin().map_err(|trouble| End::Trouble(trouble, None))?;
        for index in 0..self.graph.initial.len() {
            let state = self.graph.initial[index].1;
            self.search_from(state, budget)?;
        }
        Ok(())
    }

    /// Searches from all states that were found.
    pub(super) fn run_from_all(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        let mut next = 0;
        while next < self.graph.n_states() as usize {
            self.search_from(StateId::new(next), budget)?;
            next += 1;
        }
        Ok(())
    }

    fn search_from(&mut self, state: StateId, budget: &mut Budget<'_>) -> Result<(), End> {
        if self.order_of(state) == NEW {
            self.push(state, None, budget)?;
            self.search_from_top(budget)?;
        }
        Ok(())
    }

    fn search_from_top(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        while let Some(top) = self.path.len().checked_sub(1) {
            match Group::decode(self.path.get(top)[0]) {
                None => self.pop()?,
                Some(group) => {
                    let target = self.next_edge(group)?;
                    match self.order_of(target) {
                        NEW => self.push(target, Some(group), budget)?,
                        DEAD => {}
                        order => self.close(target, order, group.marks, group.silent)?,
                    }
                }
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn order_of(&self, state: StateId) -> u32 {
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

    /// The edges of a state that are in scope, into `edges`.
    pub(super) fn expand(&mut self, state: StateId) -> Result<Expanded, End> {
        let is_on_path = &self.is_on_path;
        let expanded = self.graph.expand(state, |state| Self::is_on_path(is_on_path, state), &mut self.edges);
        let expanded = expanded.map_err(|trouble| End::Trouble(trouble, Some(state)))?;
        if self.scope == Scope::Livelocks {
            let livelock = expanded.stance.livelock;
            self.edges.retain(|edge| livelock && edge.silent);
        }
        Ok(expanded)
    }

    /// Enters a state, by an edge of a group: a component of its own, for the time being.
    fn push(&mut self, state: StateId, via: Option<Group>, budget: &mut Budget<'_>) -> Result<(), End> {
        // A state is on the path already when it is expanded: a loop closes a cycle.
        self.flip_on_path(state.index());
        let expanded = self.expand(state);
        while self.order.len() <= state.index().max(self.graph.n_states() as usize - 1) {
            self.order.push(&[NEW])?;
        }
        let order = self.open.len() as u32 + 1;
        self.order.get_mut(state.index())[0] = order;
        self.open.push(&[state.index() as u32])?;
        let expanded = expanded?;
        self.root.clear();
        self.root.extend([order, via.map_or(0, |via| via.marks)]);
        self.root.extend_from_slice(self.graph.state_marks());
        self.roots.push(&self.root)?;
        self.path.push(&[state.index() as u32])?;
        if self.looks_for_livelocks {
            let is_silent = via.is_some_and(|via| via.silent);
            let since = match self.livelock_since.len() {
                _ if !expanded.stance.livelock => 0,
                0 => order,
                len => match self.livelock_since.get(len - 1)[0] {
                    since if is_silent && since != 0 => since,
                    _ => order,
                },
            };
            self.livelock_since.push(&[since])?;
        }
        self.depth += 1;
        self.saw_livelock |= expanded.stance.livelock;
        self.stats.deadlocks += u64::from(expanded.is_deadlock && self.scope == Scope::All);
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

    /// The number of the marks of an edge.
    #[inline]
    fn marks_of(&mut self, edge: &Edge) -> u32 {
        let marks = if self.scope == Scope::All { edge.marks } else { 0 };
        self.edge_marks.number(self.graph.fairness(), marks, edge.action)
    }

    /// The marks of a number.
    pub(super) fn marks(&mut self, edge: &Edge) -> &[u32] {
        let number = self.marks_of(edge);
        self.edge_marks.get(number)
    }

    /// Looks at the edges of the state that was just entered. Those to new states wait.
    fn look_at_edges(&mut self) -> Result<(), End> {
        let mut group = Group { marks: 0, silent: false, n_edges: 0 };
        for index in (0..self.edges.len()).rev() {
            let edge = self.edges[index];
            let Edge { target, silent, .. } = edge;
            let marks = self.marks_of(&edge);
            match self.order_of(target) {
                NEW => {
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
    fn close(&mut self, target: StateId, order: u32, marks: u32, silent: bool) -> Result<(), End> {
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

    /// An edge with marks of this number leads back to a state of this order: everything since then is one
    /// component.
    #[inline]
    fn merge(&mut self, order: u32, marks: u32) -> Result<(), End> {
        let Some(mut top) = self.roots.len().checked_sub(1) else { return Ok(()) };
        if self.roots.get(top)[0] <= order {
            // Nothing is merged: this is the usual case.
            let inside = &mut self.roots.get_mut(top)[2..];
            add(inside, self.edge_marks.get(marks));
        } else {
            self.root.clear();
            self.root.extend_from_slice(self.edge_marks.get(marks));
            while self.roots.get(top)[0] > order {
                let root = self.roots.get(top);
                add(&mut self.root, &root[2..]);
                add(&mut self.root, self.edge_marks.get(root[1]));
                self.roots.pop();
                top -= 1;
            }
            add(&mut self.roots.get_mut(top)[2..], &self.root);
        }
        let root = self.roots.get(top);
        if self.acceptance.holds(&root[2..]) { Err(End::Accepting(root[0])) } else { Ok(()) }
    }

    /// Leaves the state on top of the path; if it is the root of its component, that is finished.
    fn pop(&mut self) -> Result<(), End> {
        let state = self.path.get(self.path.len() - 1)[0] as usize;
        let order = self.order.get(state)[0];
        self.path.pop();
        self.livelock_since.pop();
        self.depth -= 1;
        self.flip_on_path(state);
        let top = self.roots.len() - 1;
        if self.roots.get(top)[0] == order {
            if self.graph.fairness().has_strong() && self.acceptance.may_hold(&self.roots.get(top)[2..]) {
                let members: Vec<u32> =
                    (order as usize - 1..self.open.len()).map(|at| self.open.get(at)[0]).collect();
                if let Some(part) = fair_part(self, &members)? {
                    return Err(End::FairPart(part));
                }
            }
            self.roots.pop();
            for at in (order as usize - 1..self.open.len()).rev() {
                let state = self.open.get(at)[0];
                self.order.get_mut(state as usize)[0] = DEAD;
            }
            self.open.truncate(order as usize - 1);
        }
        Ok(())
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
        let (order, graph, acceptance) = (&self.order, &mut self.graph, &self.acceptance);
        let accepted = match self.scope {
            Scope::All => Violation::Cycle,
            Scope::Livelocks => Violation::Livelock,
        };
        Some(match end {
            End::Limit(limit) | End::Trouble(Trouble::Limit(limit), _) => ProductStop::Limit(*limit),
            End::Trouble(Trouble::Fault(error), state) => {
                let run = match state {
                    Some(state) => run_to(graph, *state)?.0,
                    None => model::Run::default(),
                };
                ProductStop::Fault(*error, run)
            }
            End::State(violation, state) => {
                let (run, observer_states) = run_to(graph, *state)?;
                let violation = *violation;
                ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states })
            }
            End::Accepting(root) => {
                let is_inside = |state: StateId| {
                    let order = if state.index() < order.len() { order.get(state.index())[0] } else { NEW };
                    order != DEAD && order >= *root
                };
                ProductStop::Found(lasso(graph, accepted, acceptance, &is_inside)?)
            }
            End::FairPart(part) => {
                let is_inside = |state: StateId| part.contains(&(state.index() as u32));
                ProductStop::Found(lasso(graph, accepted, acceptance, &is_inside)?)
            }
            End::Livelock(start) => {
                // The states on the path that were entered since then.
                let first = order.get(start.index())[0];
                let is_on_path = &self.is_on_path;
                let is_inside = |state: StateId| {
                    Self::is_on_path(is_on_path, state) && order.get(state.index())[0] >= first
                };
                let acceptance = graph.fairness().acceptance(0);
                ProductStop::Found(lasso(graph, Violation::Livelock, &acceptance, &is_inside)?)
            }
        })
    }
}
