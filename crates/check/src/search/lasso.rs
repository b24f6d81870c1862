//! Runs in what was explored of a product: shortest ways, and short cycles.
//!
//! They are looked for breadth first among the states that were found, along all edges of the
//! unreduced product: a reduction made the search small, but it need not make the run long.

use model::{ActionId, Run, System};
use rustc_hash::FxHashMap;

use super::evidence::{Evidence, Violation};
use super::product_graph::{Edge, ProductGraph};
use crate::fairness::{Acceptance, add};
use crate::observer::Observer;
use crate::store::StateId;

/// A shortest run to a state, and the observer's states on the way.
pub(super) fn run_to<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    state: StateId,
) -> Option<(Run, Vec<u32>)> {
    let (run, observer_states, _) = path(graph, &|found| found == state)?;
    Some((run, observer_states))
}

/// The shortest way to one of these states, and from there a short cycle inside them that is accepted;
/// for a livelock, one of silent edges.
pub(super) fn lasso<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    violation: Violation,
    acceptance: &Acceptance,
    is_inside: &dyn Fn(StateId) -> bool,
) -> Option<Evidence> {
    let (mut run, mut observer_states, entry) = path(graph, is_inside)?;
    let cycle_start = run.actions.len();
    let silent = violation == Violation::Livelock;
    let is_allowed = |edge: &Edge| is_inside(edge.target) && (edge.silent || !silent);
    let mut cycle: Vec<Edge> = Vec::new();
    let mut at = entry;
    let mut marks = vec![0; graph.fairness().n_words()];
    loop {
        let helps = |step: &Step<'_>| acceptance.helps(step.marks, &marks);
        // As long as something helps, go there; then back. What lies on the way may call for more.
        let walked = match walk(graph, at, &is_allowed, &helps) {
            Some(walked) if !acceptance.holds(&marks) => walked,
            _ if at != entry || cycle.is_empty() => {
                walk(graph, at, &is_allowed, &|step| step.edge.target == entry)?
            }
            _ => break,
        };
        add(&mut marks, &walked.marks);
        at = walked.edges.last()?.target;
        cycle.extend(walked.edges);
        if at == entry && acceptance.holds(&marks) {
            break;
        }
    }
    if !acceptance.holds(&marks) {
        return None;
    }
    // The stuttering of a deadlock is no action: then the cycle is empty.
    for edge in &cycle {
        if let Some(action) = edge.action {
            run.actions.push(action);
            observer_states.push(graph.observer_state(edge.target));
        }
    }
    Some(Evidence { violation, run, cycle_start: Some(cycle_start), observer_states })
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

/// A shortest run to a state that is wanted, the observer's states on the way, and the state.
pub(super) fn path<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    wanted: &dyn Fn(StateId) -> bool,
) -> Option<(Run, Vec<u32>, StateId)> {
    let mut parents: FxHashMap<StateId, Option<(StateId, Option<ActionId>)>> = FxHashMap::default();
    let mut queue: Vec<StateId> = graph.initial.iter().map(|initial| initial.1).collect();
    queue.iter().for_each(|&state| {
        parents.insert(state, None);
    });
    let mut next = 0;
    let mut edges = Vec::new();
    let found = loop {
        let state = *queue.get(next)?;
        next += 1;
        if wanted(state) {
            break state;
        }
        graph.known_edges(state, &mut edges);
        for edge in &edges {
            parents.entry(edge.target).or_insert_with(|| {
                queue.push(edge.target);
                Some((state, edge.action))
            });
        }
    };
    let (mut actions, mut observers) = (Vec::new(), Vec::new());
    let mut state = found;
    while let Some(Some((parent, action))) = parents.get(&state) {
        if let Some(action) = action {
            actions.push(*action);
            observers.push(graph.observer_state(state));
        }
        state = *parent;
    }
    observers.push(graph.observer_state(state));
    actions.reverse();
    observers.reverse();
    let initial = graph.initial.iter().find(|initial| initial.1 == state)?.0;
    Some((Run { initial, actions }, observers, found))
}

/// A shortest walk of at least one edge, over edges that are allowed, that ends with one that is wanted.
fn walk<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    from: StateId,
    is_allowed: &dyn Fn(&Edge) -> bool,
    is_wanted: &dyn Fn(&Step<'_>) -> bool,
) -> Option<Walked> {
    let mut parents: FxHashMap<StateId, (StateId, Edge)> = FxHashMap::default();
    let mut queue = vec![from];
    let mut next = 0;
    let (mut edges, mut marks) = (Vec::new(), Vec::new());
    loop {
        let state = *queue.get(next)?;
        next += 1;
        graph.known_edges(state, &mut edges);
        for edge in edges.iter().filter(|edge| is_allowed(edge)) {
            graph.fairness().step_marks(edge.marks, edge.action, &mut marks);
            add(&mut marks, graph.state_marks());
            if is_wanted(&Step { edge: *edge, marks: &marks }) {
                let mut walk = vec![(state, *edge)];
                let mut at = state;
                while at != from {
                    let (parent, edge) = parents[&at];
                    walk.push((parent, edge));
                    at = parent;
                }
                walk.reverse();
                return Some(walked(graph, &walk));
            }
            if edge.target != from && !parents.contains_key(&edge.target) {
                parents.insert(edge.target, (state, *edge));
                queue.push(edge.target);
            }
        }
    }
}

/// Sums up a walk, given as edges with the states that they leave.
fn walked<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    walk: &[(StateId, Edge)],
) -> Walked {
    let mut all = vec![0; graph.fairness().n_words()];
    let (mut edges, mut marks) = (Vec::new(), Vec::new());
    for (state, edge) in walk {
        graph.known_edges(*state, &mut edges);
        graph.fairness().step_marks(edge.marks, edge.action, &mut marks);
        add(&mut all, &marks);
        add(&mut all, graph.state_marks());
    }
    Walked { edges: walk.iter().map(|(_, edge)| *edge).collect(), marks: all }
}
