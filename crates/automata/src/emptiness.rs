//! Emptiness of an explicit automaton, with a word it accepts.
//!
//! # Idea
//! An automaton accepts something iff an accepting component can be reached. The word leads there on
//! a shortest path and then around the component, on shortest paths from each mark that is still
//! missing to the next, and back.

use std::collections::VecDeque;

use base::{Budget, Limit};
use ltl::{Lasso, Valuation};

use crate::label::Label;
use crate::scc::Sccs;
use crate::tgba::{Edge, Marks, State, Tgba};

/// Whether the automaton accepts no word.
///
/// # Errors
/// The budget is spent.
pub fn is_empty(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    Ok(accepting_lasso(tgba, budget)?.is_none())
}

/// A word that the automaton accepts, if there is one.
///
/// ```
/// # use stubborn_automata::{Marks, Tgba, accepting_lasso, accepts, label::Label};
/// let mut tgba = Tgba::new(1);
/// let budget = &mut base::Budget::unlimited();
/// assert!(accepting_lasso(&tgba, budget).unwrap().is_none());
/// tgba.add_edge(tgba.initial(), Label::TRUE, Marks::single(0), tgba.initial());
/// let word = accepting_lasso(&tgba, budget).unwrap().unwrap();
/// assert_eq!(accepts(&tgba, &word, budget), Ok(true));
/// ```
///
/// # Errors
/// The budget is spent.
pub fn accepting_lasso(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Option<Lasso>, Limit> {
    let sccs = Sccs::of(tgba, budget)?;
    let good: Vec<bool> = (0..sccs.n()).map(|component| sccs.is_accepting(component, tgba)).collect();
    if good[sccs.component(tgba.initial())] {
        return cycle(tgba, &sccs, tgba.initial(), vec![], budget);
    }
    let is_good = |edge: &Edge| good[sccs.component(edge.target)];
    match path(tgba, tgba.initial(), |_, _| true, is_good, budget)? {
        Some((prefix, _, entry)) => cycle(tgba, &sccs, entry, prefix, budget),
        None => Ok(None),
    }
}

/// The word that follows the prefix and then goes around the component of `entry`.
fn cycle(
    tgba: &Tgba,
    sccs: &Sccs,
    entry: State,
    prefix: Vec<Label>,
    budget: &mut Budget<'_>,
) -> Result<Option<Lasso>, Limit> {
    let inner = |source: State, edge: &Edge| sccs.is_inner(source, edge);
    let mut state = entry;
    let mut missing = tgba.all_marks();
    let mut labels = vec![];
    while missing != Marks::NONE {
        let is_goal = |edge: &Edge| edge.marks.intersection(missing) != Marks::NONE;
        let found = path(tgba, state, inner, is_goal, budget)?;
        let Some((steps, seen, target)) = found else { return Ok(None) };
        labels.extend(steps);
        missing = missing.minus(seen);
        state = target;
    }
    if state != entry || labels.is_empty() {
        let back = path(tgba, state, inner, |edge| edge.target == entry, budget)?;
        labels.extend(back.into_iter().flat_map(|(steps, ..)| steps));
    }
    let letters = |labels: Vec<Label>| -> Option<Vec<Valuation>> {
        labels.into_iter().map(|label| tgba.labels().pick(label)).collect()
    };
    Ok(letters(prefix).zip(letters(labels)).and_then(|(prefix, cycle)| Lasso::new(prefix, cycle)))
}

/// A shortest path, not empty, over allowed edges to an edge that is a goal: its labels, the marks seen on the
/// way, and its end.
fn path(
    tgba: &Tgba,
    from: State,
    allowed: impl Fn(State, &Edge) -> bool,
    is_goal: impl Fn(&Edge) -> bool,
    budget: &mut Budget<'_>,
) -> Result<Option<(Vec<Label>, Marks, State)>, Limit> {
    let mut came_by: Vec<Option<(State, Edge)>> = vec![None; tgba.n_states()];
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for edge in tgba.edges(state).iter().filter(|edge| allowed(state, edge)) {
            budget.tick()?;
            if is_goal(edge) {
                return Ok(Some(unwind(&came_by, from, state, *edge)));
            }
            let entry = &mut came_by[edge.target.index()];
            if entry.is_none() && edge.target != from {
                *entry = Some((state, *edge));
                queue.push_back(edge.target);
            }
        }
    }
    Ok(None)
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
