//! Runs in what was explored of a product: shortest ways, and short cycles.
//!
//! They are looked for breadth first among the states that were found, along all edges of the
//! unreduced product: a reduction made the search small, but it need not make the run long. The tree takes
//! eight bytes per state, since only parents are kept: which edge led from one to the other is found out
//! again, on the few states of the way.

use base::{Budget, Progress};
use model::{Run, System};

use super::evidence::{Evidence, ProductStop, Violation};
use super::product_graph::{Edge, ProductGraph, Trouble};
use crate::fairness::{Acceptance, add};
use crate::observer::Observer;
use crate::paged::{OutOfMemory, Paged};
use crate::store::{Products, StateId};

/// Looks for runs.
pub(crate) struct Runs<'r, 'p, 'a, 'w, S: System, O, P> {
    graph: &'r mut ProductGraph<'p, 'a, S, O, P>,
    budget: &'r mut Budget<'w>,
    progress: Progress,
    tree: Tree,
    edges: Vec<Edge>,
}

/// An edge with its marks, and those of the state that it leaves.
struct Step<'m> {
    edge: Edge,
    marks: &'m [u32],
}

/// A walk over edges.
struct Walked {
    edges: Vec<Edge>,
    /// All marks on the way.
    marks: Vec<u32>,
}

impl<'r, 'p, 'a, 'w, S: System, O: Observer, P: Products> Runs<'r, 'p, 'a, 'w, S, O, P> {
    /// Runs in a graph that was explored so far. The clock of the budget is looked at meanwhile.
    pub(crate) fn new(
        graph: &'r mut ProductGraph<'p, 'a, S, O, P>,
        mut progress: Progress,
        budget: &'r mut Budget<'w>,
    ) -> Result<Runs<'r, 'p, 'a, 'w, S, O, P>, OutOfMemory> {
        // What was allowed while exploring is not asked for again.
        progress.states = progress.states.min(budget.max_states);
        progress.bytes = progress.bytes.min(budget.max_bytes);
        let tree = Tree::new(graph.states.n_ids())?;
        Ok(Runs { graph, budget, progress, tree, edges: Vec::new() })
    }

    /// A shortest run to a state, and the observer's states on the way.
    pub(crate) fn run_to(&mut self, state: StateId) -> Result<(Run, Vec<u32>), ProductStop> {
        let (run, observer_states, _) = self.path(&|found| found == state)?;
        Ok((run, observer_states))
    }

    /// The shortest way to one of these states, and from there a short cycle inside them that is accepted;
    /// for a livelock, one of silent edges.
    pub(crate) fn lasso(
        &mut self,
        violation: Violation,
        acceptance: &Acceptance,
        is_inside: &dyn Fn(StateId) -> bool,
    ) -> Result<Evidence, ProductStop> {
        let (mut run, mut observer_states, entry) = self.path(is_inside)?;
        let cycle_start = run.actions.len();
        let silent = violation == Violation::Livelock;
        let is_allowed = |edge: &Edge| is_inside(edge.target) && (edge.silent || !silent);
        let mut cycle: Vec<Edge> = Vec::new();
        let mut at = entry;
        let mut marks = vec![0; self.graph.fairness().n_words()];
        loop {
            let helps = |step: &Step<'_>| acceptance.helps(step.marks, &marks);
            // As long as something helps, go there; then back. What lies on the way may call for more.
            let walked = match self.walk(at, &is_allowed, &helps)? {
                Some(walked) if !acceptance.holds(&marks) => walked,
                _ if at != entry || cycle.is_empty() => self
                    .walk(at, &is_allowed, &|step| step.edge.target == entry)?
                    .ok_or(ProductStop::NoRun)?,
                _ => break,
            };
            add(&mut marks, &walked.marks);
            at = walked.edges.last().ok_or(ProductStop::NoRun)?.target;
            cycle.extend(walked.edges);
            if at == entry && acceptance.holds(&marks) {
                break;
            }
        }
        if !acceptance.holds(&marks) {
            return Err(ProductStop::NoRun);
        }
        // The stuttering of a deadlock is no action: then the cycle is empty.
        for edge in &cycle {
            if let Some(action) = edge.action {
                run.actions.push(action);
                observer_states.push(self.graph.states.observer_state(edge.target));
            }
        }
        Ok(Evidence { violation, run, cycle_start: Some(cycle_start), observer_states })
    }

    /// A shortest run to a state that is wanted, the observer's states on the way, and the state.
    pub(crate) fn path(
        &mut self,
        wanted: &dyn Fn(StateId) -> bool,
    ) -> Result<(Run, Vec<u32>, StateId), ProductStop> {
        self.tree.clear();
        for &(_, state) in &self.graph.initial {
            self.tree.add(state, None)?;
        }
        let found = loop {
            let state = self.tree.next().ok_or(ProductStop::NoRun)?;
            if wanted(state) {
                break state;
            }
            self.look_at(state)?;
            for edge in &self.edges {
                self.tree.add(edge.target, Some(state))?;
            }
        };
        let way = self.tree.way_to(found);
        let initial = self.graph.initial.iter().find(|initial| initial.1 == way[0]);
        let mut run = Run { initial: initial.ok_or(ProductStop::NoRun)?.0, actions: Vec::new() };
        let mut observers = vec![self.graph.states.observer_state(way[0])];
        for edge in self.edges_along(&way, &|_| true)?.edges {
            if let Some(action) = edge.action {
                run.actions.push(action);
                observers.push(self.graph.states.observer_state(edge.target));
            }
        }
        Ok((run, observers, found))
    }

    /// A shortest walk of at least one edge, over edges that are allowed, that ends with one that is wanted.
    fn walk(
        &mut self,
        from: StateId,
        is_allowed: &dyn Fn(&Edge) -> bool,
        is_wanted: &dyn Fn(&Step<'_>) -> bool,
    ) -> Result<Option<Walked>, ProductStop> {
        self.tree.clear();
        self.tree.add(from, None)?;
        let mut marks = Vec::new();
        while let Some(state) = self.tree.next() {
            self.look_at(state)?;
            for edge in self.edges.iter().filter(|edge| is_allowed(edge)) {
                self.graph.fairness().step_marks(edge.marks, edge.action, &mut marks);
                add(&mut marks, self.graph.state_marks());
                if is_wanted(&Step { edge: *edge, marks: &marks }) {
                    let last = *edge;
                    let way = self.tree.way_to(state);
                    let mut walked = self.edges_along(&way, is_allowed)?;
                    add(&mut walked.marks, &marks);
                    walked.edges.push(last);
                    return Ok(Some(walked));
                }
                self.tree.add(edge.target, Some(state))?;
            }
        }
        Ok(None)
    }

    /// The edges between states that follow each other: of several, the first that is allowed.
    fn edges_along(
        &mut self,
        way: &[StateId],
        is_allowed: &dyn Fn(&Edge) -> bool,
    ) -> Result<Walked, ProductStop> {
        let mut walked = Walked { edges: Vec::new(), marks: vec![0; self.graph.fairness().n_words()] };
        let mut marks = Vec::new();
        for pair in way.windows(2) {
            self.look_at(pair[0])?;
            let edge = self.edges.iter().find(|edge| edge.target == pair[1] && is_allowed(edge));
            let edge = edge.ok_or(ProductStop::NoRun)?;
            self.graph.fairness().step_marks(edge.marks, edge.action, &mut marks);
            add(&mut walked.marks, &marks);
            add(&mut walked.marks, self.graph.state_marks());
            walked.edges.push(*edge);
        }
        Ok(walked)
    }

    /// The edges of a state, into `edges`. A state in which the model goes wrong may have been met and not expanded: nothing was
    /// found from there.
    fn look_at(&mut self, state: StateId) -> Result<(), ProductStop> {
        match self.graph.known_edges(state, &mut self.edges) {
            Ok(()) => {}
            Err(Trouble::Limit(limit)) => return Err(ProductStop::Limit(limit)),
            Err(Trouble::Fault(_)) => self.edges.clear(),
        }
        Ok(self.budget.poll(&self.progress)?)
    }
}

/// A breadth-first search tree.
struct Tree {
    /// Per state: `UNSEEN`, `ROOT`, or its parent.
    parents: Paged,
    queue: Paged,
    next: usize,
}

const UNSEEN: u32 = u32::MAX;
const ROOT: u32 = u32::MAX - 1;

impl Tree {
    fn new(n_ids: usize) -> Result<Tree, OutOfMemory> {
        let mut tree = Tree { parents: Paged::new(1), queue: Paged::new(1), next: 0 };
        for _ in 0..n_ids {
            tree.parents.push(&[UNSEEN])?;
        }
        Ok(tree)
    }

    fn clear(&mut self) {
        for at in 0..self.queue.len() {
            self.parents.get_mut(self.queue.get(at)[0] as usize)[0] = UNSEEN;
        }
        self.queue.truncate(0);
        self.next = 0;
    }

    /// Adds a state that was not seen yet.
    fn add(&mut self, state: StateId, parent: Option<StateId>) -> Result<(), OutOfMemory> {
        let known = &mut self.parents.get_mut(state.index())[0];
        if *known == UNSEEN {
            *known = parent.map_or(ROOT, |parent| parent.index() as u32);
            self.queue.push(&[state.index() as u32])?;
        }
        Ok(())
    }

    /// The next state whose edges are to be looked at.
    fn next(&mut self) -> Option<StateId> {
        (self.next < self.queue.len()).then(|| {
            self.next += 1;
            StateId::new(self.queue.get(self.next - 1)[0] as usize)
        })
    }

    /// The states from a root to this one.
    fn way_to(&self, state: StateId) -> Vec<StateId> {
        let mut way = vec![state];
        let mut at = state.index();
        while let parent = self.parents.get(at)[0]
            && parent < ROOT
        {
            at = parent as usize;
            way.push(StateId::new(at));
        }
        way.reverse();
        way
    }
}
