//! Emptiness of the product with a generalized Büchi automaton, by strong components.
//!
//! # Idea
//! One depth-first search keeps a stack of roots, one per partial strong component, each with the
//! union of the marks seen inside it. An edge back into the stack merges roots; when the merged
//! marks are all marks, an accepting cycle exists and the search stops at once. [couvreur.99.fm]
//!
//! # When should I use this?
//! By default, for any number of marks.
//!
//! # Requirements and limits
//! Any generalized Büchi acceptance with up to 64 marks; an exact store, since components must be
//! told apart.
//!
//! # Differences from the paper
//! - The recursion is an explicit stack.
//! - Initial states that are known already are not searched again (003's Algorithm 1 pushes them
//!   without looking).
//! - The counterexample is not the path on the stack: the shortest way to the component and a short
//!   cycle inside it are searched for, breadth first, in what was explored.
//!
//! # References
//! [couvreur.99.fm]; Algorithm 1 of [bensalem.12.topnoc].

use base::{Budget, Limit, Progress};
use model::{ActionId, Run, StepError, System};

use super::Stats;
use super::product_graph::{AtDeadlock, Edge, ProductGraph, Trouble};
use crate::observer::{Observer, Valuations};
use crate::paged::{OutOfMemory, Paged};
use crate::store::StateId;

/// A run that the observer accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedRun {
    /// Prefix and one round of the cycle.
    pub run: Run,
    /// Number of steps before the cycle. If it is all of them, the run ends in a deadlock, whose
    /// state repeats for ever.
    pub cycle_start: usize,
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmptinessStop {
    /// The observer accepts a run.
    Accepted(AcceptedRun),
    /// A run to a deadlock, where that is an error.
    Deadlock(Run),
    /// The budget is spent.
    Limit(Limit),
    /// The model went wrong at the end of this run.
    Fault(StepError, Run),
    /// Something was found, but the run to it was not: a mistake in this search.
    NoRun,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct EmptinessOutcome {
    /// What was explored.
    pub stats: Stats,
    /// Distinct system states.
    pub system_states: u64,
    /// Why it ended early; `None` if the observer accepts no run.
    pub stop: Option<EmptinessStop>,
}

/// Looks for a run of `system` that `observer` accepts.
pub fn search<S: System, O: Observer>(
    system: &S,
    observer: O,
    valuations: Valuations,
    at_deadlock: AtDeadlock,
    budget: &mut Budget<'_>,
) -> EmptinessOutcome {
    let mut search = Search {
        graph: ProductGraph::new(system, observer, valuations, at_deadlock, budget.max_bytes),
        initial: Vec::new(),
        order: Vec::new(),
        roots: Vec::new(),
        open: Paged::new(1),
        frames: Paged::new(3),
        pending: Paged::new(3),
        edges: Vec::new(),
        stats: Stats::default(),
        progress: Progress::default(),
    };
    let end = search.run(budget).err();
    search.progress.states = search.graph.n_states();
    search.stats.deadlocks = search.graph.n_deadlocks;
    search.stats.record(&search.progress);
    let stop = end.map(|end| search.explain(&end).unwrap_or(EmptinessStop::NoRun));
    EmptinessOutcome { stats: search.stats, system_states: search.graph.n_system_states(), stop }
}

/// Why the main loop ends early.
enum End {
    /// The states whose order is at least this are an accepting component.
    Accepting(u32),
    /// Trouble in this state.
    Trouble(Trouble, StateId),
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

/// A partial component.
#[derive(Clone, Copy)]
struct Root {
    /// Order of its first state.
    order: u32,
    /// Marks seen inside it.
    marks: u64,
    /// Marks of the edge that led to its first state.
    incoming: u64,
}

/// In `order`: not entered yet.
const NEW: u32 = 0;
/// In `order`: its component is finished.
const DEAD: u32 = u32::MAX;

struct Search<'a, S: System, O: Observer> {
    graph: ProductGraph<'a, S, O>,
    initial: Vec<(usize, StateId)>,
    /// Per state: when it was entered, counted from 1; or `NEW` or `DEAD`. H in the paper.
    order: Vec<u32>,
    /// The partial components on the path.
    roots: Vec<Root>,
    /// The states of all partial components, in the order in which they were entered.
    open: Paged,
    /// Per state on the path: itself, and the number of its edges in `pending`.
    frames: Paged,
    /// Target and marks of edges still to be followed.
    pending: Paged,
    edges: Vec<Edge>,
    stats: Stats,
    progress: Progress,
}

impl<S: System, O: Observer> Search<'_, S, O> {
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.initial = self.graph.initial()?;
        for index in 0..self.initial.len() {
            let state = self.initial[index].1;
            if self.order_of(state) == NEW {
                self.push(state, 0, budget)?;
                self.search_from_top(budget)?;
            }
        }
        Ok(())
    }

    fn search_from_top(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        while !self.frames.is_empty() {
            match self.next_edge() {
                None => self.pop(),
                Some((target, marks)) => match self.order_of(target) {
                    NEW => self.push(target, marks, budget)?,
                    DEAD => {}
                    order => self.merge(order, marks)?,
                },
            }
        }
        Ok(())
    }

    #[inline]
    fn order_of(&self, state: StateId) -> u32 {
        self.order.get(state.index()).copied().unwrap_or(NEW)
    }

    /// Enters a state: a component of its own, for the time being.
    fn push(&mut self, state: StateId, incoming: u64, budget: &mut Budget<'_>) -> Result<(), End> {
        let mut edges = std::mem::take(&mut self.edges);
        let expanded = self.graph.expand(state, &mut edges);
        self.edges = edges;
        let order = self.open.len() as u32 + 1;
        if state.index() >= self.order.len() {
            self.order.resize(self.graph.n_states() as usize, NEW);
        }
        self.order[state.index()] = order;
        self.open.push(&[state.index() as u32])?;
        self.roots.push(Root { order, marks: 0, incoming });
        self.frames.push(&[state.index() as u32, self.edges.len() as u32, order])?;
        expanded.map_err(|trouble| End::Trouble(trouble, state))?;
        for edge in self.edges.iter().rev() {
            let [low, high] = [edge.marks as u32, (edge.marks >> 32) as u32];
            self.pending.push(&[edge.target.index() as u32, low, high])?;
        }
        self.progress.transitions += self.edges.len() as u64;
        self.progress.depth = self.progress.depth.max(self.frames.len() as u64 - 1);
        self.poll(budget)
    }

    fn poll(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        self.progress.states = self.graph.n_states();
        self.progress.pending = self.pending.len() as u64;
        self.progress.bytes = self.graph.bytes()
            + self.open.bytes()
            + self.frames.bytes()
            + self.pending.bytes()
            + 4 * self.order.capacity() as u64;
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.progress.bytes);
        Ok(budget.poll(&self.progress)?)
    }

    /// Takes the next edge of the state on top of the path.
    fn next_edge(&mut self) -> Option<(StateId, u64)> {
        let top = self.frames.len() - 1;
        let n_pending = &mut self.frames.get_mut(top)[1];
        *n_pending = n_pending.checked_sub(1)?;
        let record = self.pending.get(self.pending.len() - 1);
        let edge = (StateId::new(record[0] as usize), u64::from(record[1]) | u64::from(record[2]) << 32);
        self.pending.pop();
        Some(edge)
    }

    /// An edge leads back to a state of this order: everything since then is one component.
    fn merge(&mut self, order: u32, mut marks: u64) -> Result<(), End> {
        while let Some(&root) = self.roots.last()
            && root.order > order
        {
            marks |= root.marks | root.incoming;
            self.roots.pop();
        }
        let all = self.graph.all_marks();
        match self.roots.last_mut() {
            Some(root) => {
                root.marks |= marks;
                if root.marks & all == all { Err(End::Accepting(root.order)) } else { Ok(()) }
            }
            None => Ok(()),
        }
    }

    /// Leaves the state on top of the path; if it is the root of its component, that is finished.
    fn pop(&mut self) {
        let order = self.frames.get(self.frames.len() - 1)[2];
        self.frames.pop();
        if self.roots.last().is_some_and(|root| root.order == order) {
            self.roots.pop();
            for at in (order as usize - 1..self.open.len()).rev() {
                let state = self.open.get(at)[0];
                self.order[state as usize] = DEAD;
            }
            self.open.truncate(order as usize - 1);
        }
    }

    /// Turns the end of the main loop into an answer with a run.
    fn explain(&mut self, end: &End) -> Option<EmptinessStop> {
        Some(match *end {
            End::Limit(limit) | End::Trouble(Trouble::Limit(limit), _) => EmptinessStop::Limit(limit),
            End::Trouble(Trouble::Fault(error), state) => EmptinessStop::Fault(error, self.run_to(state)?),
            End::Trouble(Trouble::Deadlock, state) => EmptinessStop::Deadlock(self.run_to(state)?),
            End::Accepting(root) => EmptinessStop::Accepted(self.accepted_run(root)?),
        })
    }

    /// A shortest run to a state.
    fn run_to(&mut self, state: StateId) -> Option<Run> {
        Some(self.path_to(|_, found| found == state)?.0)
    }

    fn is_open_since(&self, root: u32, state: StateId) -> bool {
        let order = self.order_of(state);
        order != DEAD && order >= root
    }

    /// The shortest way to the component of a root, and a short cycle there with all marks.
    fn accepted_run(&mut self, root: u32) -> Option<AcceptedRun> {
        let (mut run, entry) = self.path_to(|search, state| search.is_open_since(root, state))?;
        let cycle_start = run.actions.len();
        let mut missing = self.graph.all_marks();
        let mut at = entry;
        let mut cycle = Vec::new();
        while missing != 0 {
            let (edges, seen) = self.walk(at, root, |_, edge| edge.marks & missing != 0)?;
            at = seen;
            missing &= !edges.iter().fold(0, |marks, edge| marks | edge.marks);
            cycle.extend(edges);
        }
        if at != entry || cycle.is_empty() {
            cycle.extend(self.walk(at, root, |_, edge| edge.target == entry)?.0);
        }
        // The stuttering of a deadlock is no action: then the cycle is empty.
        run.actions.extend(cycle.iter().filter_map(|edge| edge.action));
        Some(AcceptedRun { run, cycle_start })
    }

    /// A shortest run to a state that is wanted, among the states that were entered.
    fn path_to(&mut self, wanted: impl Fn(&Self, StateId) -> bool) -> Option<(Run, StateId)> {
        let mut parents: Vec<Option<(StateId, Option<ActionId>)>> =
            vec![None; self.graph.n_states() as usize];
        let mut queue = Vec::new();
        let mut root_of: Vec<(StateId, usize)> = Vec::new();
        for &(index, state) in &self.initial {
            if !queue.contains(&state) {
                queue.push(state);
                root_of.push((state, index));
            }
        }
        let is_root = |state: StateId| root_of.iter().find(|root| root.0 == state).map(|root| root.1);
        let mut next = 0;
        let mut edges = Vec::new();
        let found = loop {
            let state = *queue.get(next)?;
            next += 1;
            if wanted(self, state) {
                break state;
            }
            // What went wrong before goes wrong again: such states have no edges here.
            _ = self.graph.expand(state, &mut edges);
            for edge in &edges {
                let target = edge.target;
                let is_new =
                    parents.get(target.index()).is_some_and(Option::is_none) && is_root(target).is_none();
                if is_new && self.order_of(target) != NEW {
                    parents[target.index()] = Some((state, edge.action));
                    queue.push(target);
                }
            }
        };
        let mut actions = Vec::new();
        let mut state = found;
        while let Some((parent, action)) = parents[state.index()] {
            actions.extend(action);
            state = parent;
        }
        actions.reverse();
        Some((Run { initial: is_root(state).unwrap_or(0), actions }, found))
    }

    /// A shortest walk of at least one edge inside the component of a root that ends with an edge
    /// that is wanted.
    fn walk(
        &mut self,
        from: StateId,
        root: u32,
        wanted: impl Fn(&Self, &Edge) -> bool,
    ) -> Option<(Vec<Edge>, StateId)> {
        let mut parents: rustc_hash::FxHashMap<StateId, (StateId, Edge)> = rustc_hash::FxHashMap::default();
        let mut queue = vec![from];
        let mut next = 0;
        let mut edges = Vec::new();
        loop {
            let state = *queue.get(next)?;
            next += 1;
            _ = self.graph.expand(state, &mut edges);
            for edge in edges.iter().filter(|edge| self.is_open_since(root, edge.target)) {
                if wanted(self, edge) {
                    let mut walk = vec![*edge];
                    let mut at = state;
                    while at != from {
                        let (parent, edge) = parents[&at];
                        walk.push(edge);
                        at = parent;
                    }
                    walk.reverse();
                    return Some((walk, edge.target));
                }
                if edge.target != from && !parents.contains_key(&edge.target) {
                    parents.insert(edge.target, (state, *edge));
                    queue.push(edge.target);
                }
            }
        }
    }
}
