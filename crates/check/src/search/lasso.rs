//! Runs in what was explored of a product: shortest ways, and short cycles.
//!
//! They are looked for breadth first among the states that were found, along all edges of the
//! unreduced product: a reduction made the search small, but it need not make the run long.

use model::{ActionId, Run, System};
use rustc_hash::FxHashMap;

use super::evidence::{Evidence, Violation};
use super::product_graph::{Edge, ProductGraph};
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

/// The shortest way to one of these states, and from there a short cycle inside them that has all marks;
/// or, for a livelock, one of silent edges.
pub(super) fn lasso<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    violation: Violation,
    is_inside: &dyn Fn(StateId) -> bool,
) -> Option<Evidence> {
    let (mut run, mut observer_states, entry) = path(graph, is_inside)?;
    let cycle_start = run.actions.len();
    let silent = violation == Violation::Livelock;
    let is_allowed = |edge: &Edge| is_inside(edge.target) && (edge.silent || !silent);
    let mut missing = if silent { 0 } else { graph.all_marks() };
    let mut at = entry;
    let mut cycle = Vec::new();
    while missing != 0 {
        let (edges, seen) = walk(graph, at, &is_allowed, &|edge| edge.marks & missing != 0)?;
        at = seen;
        missing &= !edges.iter().fold(0, |marks, edge| marks | edge.marks);
        cycle.extend(edges);
    }
    if at != entry || cycle.is_empty() {
        cycle.extend(walk(graph, at, &is_allowed, &|edge| edge.target == entry)?.0);
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

/// A shortest walk of at least one edge, over edges that are allowed, that ends with one that is wanted;
/// and where it ends.
fn walk<S: System, O: Observer>(
    graph: &mut ProductGraph<'_, '_, S, O>,
    from: StateId,
    is_allowed: &dyn Fn(&Edge) -> bool,
    wanted: &dyn Fn(&Edge) -> bool,
) -> Option<(Vec<Edge>, StateId)> {
    let mut parents: FxHashMap<StateId, (StateId, Edge)> = FxHashMap::default();
    let mut queue = vec![from];
    let mut next = 0;
    let mut edges = Vec::new();
    loop {
        let state = *queue.get(next)?;
        next += 1;
        graph.known_edges(state, &mut edges);
        for edge in edges.iter().filter(|edge| is_allowed(edge)) {
            if wanted(edge) {
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
