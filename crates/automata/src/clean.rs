//! Cleaning: states that cannot matter, and marks that say nothing.
//!
//! # Idea
//! - A state matters iff it can be reached and can reach an accepting component.
//! - Marks matter only on edges inside accepting components: a run leaves all others for good.
//! - Inside a component a mark is superfluous if another one never comes without it, and if no cycle
//!   avoids any mark, every run is accepting: then all edges may carry all marks.
//! - Each component numbers the marks it needs from 0; the automaton has as many as the component
//!   that needs most.
//!
//! # References
//! [babiak.13.spin] does the same in Spot (`scc_filter`), with less sharing of marks.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;

use crate::scc::{Sccs, components};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// Drops the states that no accepting run visits, except the initial one, and renumbers the others in
/// the order of a breadth-first search.
///
/// # Errors
/// The budget is spent.
pub fn trim(tgba: Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    holding(budget, |budget| trim_states(tgba, budget))
}

fn trim_states(mut tgba: Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    budget.hold(tgba.bytes())?;
    let useful = useful_states(&tgba, budget)?;
    let mut new = vec![None; tgba.n_states()];
    let mut order = vec![tgba.initial()];
    new[tgba.initial().index()] = Some(State::new(0));
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for edge in tgba.edges(state).iter().filter(|edge| useful.contains(edge.target.index())) {
            budget.tick()?;
            new[edge.target.index()].get_or_insert_with(|| {
                order.push(edge.target);
                State::new(order.len() - 1)
            });
        }
    }
    let renumber = |edge: &Edge| {
        let target = new[edge.target.index()].filter(|_| useful.contains(edge.target.index()))?;
        Some(Edge { target, ..*edge })
    };
    let propositions = tgba.propositions().to_vec();
    let mut kept = Tgba::with_labels(tgba.take_labels(), tgba.n_marks());
    kept.declare(propositions);
    kept.add_states(order.len() - 1);
    for (index, &state) in order.iter().enumerate() {
        budget.tick()?;
        *kept.edges_mut(index) = tgba.edges(state).iter().filter_map(renumber).collect();
    }
    kept.compact(budget)
}

/// The states from which some accepting component can be reached.
fn useful_states(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
    let sccs = Sccs::of(tgba, budget)?;
    let mut useful = FixedBitSet::with_capacity(tgba.n_states());
    for (component, members) in sccs.members().iter().enumerate() {
        budget.tick()?;
        let mut edges = members.iter().flat_map(|&state| tgba.edges(state));
        let leads_on = edges.any(|edge| useful.contains(edge.target.index()));
        if leads_on || sccs.is_accepting(component, tgba) {
            useful.extend(members.iter().map(|state| state.index()));
        }
    }
    Ok(useful)
}

/// Drops marks that say nothing, and afterwards unused ones. The language stays the same; the
/// automaton should be [trimmed](trim).
///
/// # Errors
/// The budget is spent.
pub fn simplify_marks(tgba: Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    holding(budget, |budget| drop_marks(tgba, budget))
}

fn drop_marks(tgba: Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let sccs = Sccs::of(&tgba, budget)?;
    let members = sccs.members();
    let mut kinds = vec![Kind::Irrelevant; sccs.n()];
    let mut has_rejecting = false;
    for (component, kind) in kinds.iter_mut().enumerate() {
        if sccs.is_accepting(component, &tgba) {
            *kind = Kind::Accepting(needed_marks(&tgba, &sccs, &members[component], budget)?);
        } else {
            has_rejecting |= !sccs.is_trivial(component);
        }
    }
    let needs = kinds.iter().map(|kind| match kind {
        Kind::Accepting(needed) => needed.len() as u32,
        Kind::Irrelevant => 0,
    });
    let n_marks = needs.max().unwrap_or(0).max(u32::from(has_rejecting));
    renumber_marks(tgba, &sccs, &kinds, n_marks, budget)
}

#[derive(Clone)]
enum Kind {
    /// No run that stays here is accepting.
    Irrelevant,
    /// These marks suffice; none if every run that stays here is accepting.
    Accepting(Vec<u32>),
}

fn renumber_marks(
    mut tgba: Tgba,
    sccs: &Sccs,
    kinds: &[Kind],
    n_marks: u32,
    budget: &mut Budget<'_>,
) -> Result<Tgba, Limit> {
    for state in tgba.states() {
        let component = sccs.component(state);
        for edge in tgba.edges_mut(state.index()) {
            budget.tick()?;
            let inner = component == sccs.component(edge.target);
            edge.marks = match &kinds[component] {
                Kind::Accepting(needed) if inner => {
                    let missing =
                        (0..needed.len() as u32).filter(|&new| !edge.marks.contains(needed[new as usize]));
                    missing.fold(Marks::all(n_marks), |marks, new| marks.minus(Marks::single(new)))
                }
                _ => Marks::NONE,
            };
        }
    }
    tgba.set_n_marks(n_marks);
    merge_edges(tgba, budget)
}

/// Makes edges of the same source, target and marks one.
fn merge_edges(mut tgba: Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let mut labels = tgba.take_labels();
    for state in tgba.states() {
        let mut edges = std::mem::take(tgba.edges_mut(state.index()));
        edges.sort_unstable();
        let merged: &mut Vec<Edge> = tgba.edges_mut(state.index());
        for edge in edges {
            budget.tick()?;
            match merged.last_mut().filter(|kept| (kept.target, kept.marks) == (edge.target, edge.marks)) {
                Some(kept) => kept.label = labels.with(budget).or(kept.label, edge.label)?,
                None => merged.push(edge),
            }
        }
    }
    *tgba.labels_mut() = labels;
    tgba.compact(budget)
}

/// Marks that imply all others in the component of these states; none if no cycle can avoid any mark.
fn needed_marks(
    tgba: &Tgba,
    sccs: &Sccs,
    states: &[State],
    budget: &mut Budget<'_>,
) -> Result<Vec<u32>, Limit> {
    let mut avoidable: Vec<u32> = vec![];
    for mark in 0..tgba.n_marks() {
        if some_cycle_avoids(tgba, sccs, states, mark, budget)? {
            avoidable.push(mark);
        }
    }
    let inner = states.iter().flat_map(|&state| {
        tgba.edges(state).iter().filter(move |edge| sccs.is_inner(state, edge)).map(|edge| edge.marks)
    });
    let mut sets: Vec<Marks> = inner.collect();
    sets.sort_unstable();
    sets.dedup();
    let never_without = |a: u32, b: u32| sets.iter().all(|set| !set.contains(a) || set.contains(b));
    let mut needed = avoidable.clone();
    for &mark in &avoidable {
        if needed.iter().any(|&other| other != mark && never_without(other, mark)) {
            needed.retain(|&kept| kept != mark);
        }
        budget.tick()?;
    }
    Ok(needed)
}

/// Whether the component, which has these states, has a cycle on which the mark is missing.
fn some_cycle_avoids(
    tgba: &Tgba,
    sccs: &Sccs,
    states: &[State],
    mark: u32,
    budget: &mut Budget<'_>,
) -> Result<bool, Limit> {
    let place = |state: State| states.binary_search(&state).ok();
    let mut successors: Vec<Vec<usize>> = vec![];
    for (node, &state) in states.iter().enumerate() {
        budget.tick()?;
        let avoiding = |edge: &&Edge| sccs.is_inner(state, edge) && !edge.marks.contains(mark);
        let edges = tgba.edges(state).iter().filter(avoiding);
        successors.push(edges.filter_map(|edge| place(edge.target)).collect());
        if successors[node].contains(&node) {
            return Ok(true);
        }
    }
    Ok(components(&successors, |_, &next| Some(next), budget)?.n < states.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;

    #[test]
    fn dead_states_and_superfluous_marks_go() {
        let mut tgba = Tgba::new(2);
        let [good, dead, unreachable] = std::array::from_fn(|_| tgba.add_state());
        let start = tgba.initial();
        tgba.add_edge(start, Label::TRUE, Marks::all(2), dead);
        tgba.add_edge(start, Label::TRUE, Marks::all(2), good);
        tgba.add_edge(dead, Label::TRUE, Marks::single(1), dead);
        tgba.add_edge(unreachable, Label::TRUE, Marks::all(2), good);
        tgba.add_edge(good, Label::TRUE, Marks::all(2), good);
        let budget = &mut Budget::unlimited();
        let tgba = simplify_marks(trim(tgba, budget).unwrap(), budget).unwrap();
        assert_eq!((tgba.n_states(), tgba.n_edges(), tgba.n_marks()), (2, 2, 0));
    }

    #[test]
    fn a_mark_that_always_comes_with_another_goes() {
        let mut tgba = Tgba::new(2);
        let start = tgba.initial();
        let other = tgba.add_state();
        tgba.add_edge(start, Label::TRUE, Marks::NONE, start);
        tgba.add_edge(start, Label::TRUE, Marks::single(1), other);
        tgba.add_edge(other, Label::TRUE, Marks::all(2), start);
        let tgba = simplify_marks(tgba, &mut Budget::unlimited()).unwrap();
        assert_eq!(tgba.n_marks(), 1);
        assert_eq!(tgba.edges(start).iter().filter(|edge| edge.marks == Marks::NONE).count(), 2);
    }
}
