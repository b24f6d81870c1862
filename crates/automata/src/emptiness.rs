//! Emptiness of an explicit automaton, with a word it accepts.
//!
//! # Idea
//! An automaton accepts something iff an accepting component can be reached. The word leads there on
//! a shortest path and then around the component, on shortest paths from each mark that is still
//! missing to the next, and back.

use std::collections::VecDeque;

use ltl::{Lasso, Valuation};

use crate::label::Label;
use crate::scc::Sccs;
use crate::tgba::{Edge, Marks, State, Tgba};

/// Whether the automaton accepts no word.
pub fn is_empty(tgba: &Tgba) -> bool {
    accepting_lasso(tgba).is_none()
}

/// A word that the automaton accepts, if there is one.
///
/// ```
/// # use automata::{Marks, Tgba, accepting_lasso, accepts, label::Label};
/// let mut tgba = Tgba::new(1);
/// assert!(accepting_lasso(&tgba).is_none());
/// tgba.add_edge(tgba.initial(), Label::TRUE, Marks::single(0), tgba.initial());
/// let word = accepting_lasso(&tgba).unwrap();
/// assert!(accepts(&tgba, &word));
/// ```
pub fn accepting_lasso(tgba: &Tgba) -> Option<Lasso> {
    let sccs = Sccs::of(tgba);
    let good: Vec<bool> = (0..sccs.n()).map(|component| sccs.is_accepting(component, tgba)).collect();
    if good[sccs.component(tgba.initial())] {
        return cycle(tgba, &sccs, tgba.initial(), vec![]);
    }
    let (prefix, entry) = path(tgba, tgba.initial(), |_, _| true, |edge| good[sccs.component(edge.target)])?;
    cycle(tgba, &sccs, entry, prefix)
}

/// The word that follows the prefix and then goes around the component of `entry`.
fn cycle(tgba: &Tgba, sccs: &Sccs, entry: State, prefix: Vec<Label>) -> Option<Lasso> {
    let inner = |source: State, edge: &Edge| sccs.is_inner(source, edge);
    let mut state = entry;
    let mut missing = tgba.all_marks();
    let mut labels = vec![];
    while missing != Marks::NONE {
        let is_goal = |edge: &Edge| edge.marks.intersection(missing) != Marks::NONE;
        let (steps, seen, target) = marked_path(tgba, state, inner, is_goal)?;
        labels.extend(steps);
        missing = missing.minus(seen);
        state = target;
    }
    if state != entry || labels.is_empty() {
        labels.extend(path(tgba, state, inner, |edge| edge.target == entry)?.0);
    }
    let letters = |labels: Vec<Label>| -> Option<Vec<Valuation>> {
        labels.into_iter().map(|label| tgba.labels().pick(label)).collect()
    };
    Lasso::new(letters(prefix)?, letters(labels)?)
}

/// A shortest path, not empty, over allowed edges to an edge that is a goal: its labels and its end.
fn path(
    tgba: &Tgba,
    from: State,
    allowed: impl Fn(State, &Edge) -> bool,
    is_goal: impl Fn(&Edge) -> bool,
) -> Option<(Vec<Label>, State)> {
    marked_path(tgba, from, allowed, is_goal).map(|(labels, _, end)| (labels, end))
}

/// The same, with the marks seen on the way.
fn marked_path(
    tgba: &Tgba,
    from: State,
    allowed: impl Fn(State, &Edge) -> bool,
    is_goal: impl Fn(&Edge) -> bool,
) -> Option<(Vec<Label>, Marks, State)> {
    let mut came_by: Vec<Option<(State, Edge)>> = vec![None; tgba.n_states()];
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for edge in tgba.edges(state).iter().filter(|edge| allowed(state, edge)) {
            if is_goal(edge) {
                return Some(unwind(&came_by, from, state, *edge));
            }
            let entry = &mut came_by[edge.target.index()];
            if entry.is_none() && edge.target != from {
                *entry = Some((state, *edge));
                queue.push_back(edge.target);
            }
        }
    }
    None
}

fn unwind(
    came_by: &[Option<(State, Edge)>],
    from: State,
    mut state: State,
    last: Edge,
) -> (Vec<Label>, Marks, State) {
    let (mut labels, mut marks) = (vec![last.label], last.marks);
    while let Some((source, edge)) = came_by[state.index()].filter(|_| state != from) {
        labels.push(edge.label);
        marks = marks.union(edge.marks);
        state = source;
    }
    labels.reverse();
    (labels, marks, last.target)
}
