//! Which steps out of a state seem to lead soonest to a run that the observer accepts.
//!
//! # Idea
//! A state of an automaton is so many edges away from a strong component that accepts. A step is the better the fewer
//! are left after it; among equal ones, the less has to change until the next edge on a shortest way can be taken
//! (inside of such a component: the next edge with a mark). How much has to change is said by the label of the edge: a
//! cube is as far away as its literals together, of the cubes the nearest counts.
//!
//! # References
//! Distances of automaton and query together: P. G. Jensen, J. Srba, N. J. Ulrik, S. M. Virenfeldt, *Automata-driven partial
//! order reduction and guided search for LTL model checking* (VMCAI 2022). That marks lead inside of components is ours.

use std::sync::Arc;

use automata::Label;
use automata::tgba::Tgba;
use base::{Budget, Limit};
use ltl::Prop;
use rustc_hash::FxHashMap;

use crate::observer::recurrent_states;

/// How far a state of the system is from one where a proposition has some truth.
pub type Distance<'a> = Box<dyn Fn(&[u32]) -> u64 + Send + Sync + 'a>;

/// How far a state of a product with an automaton seems to be from an accepted run.
#[derive(Clone)]
pub(crate) struct Lead<'a>(Arc<Ways<'a>>);

struct Ways<'a> {
    /// Of each proposition: to where it is false, and true; if that is known.
    literals: Vec<[Option<Distance<'a>>; 2]>,
    /// Of each state of the automaton: how many edges are left, and the next ones, as conjunctions of literals.
    states: Vec<(u64, Vec<Cube>)>,
}

/// Propositions by number, with the truth they should have.
type Cube = Vec<(usize, bool)>;

/// What an edge counts; literals do not add up to more.
const EDGE: u64 = 1 << 32;
/// So many cubes are looked at in each state of the automaton.
const MAX_CUBES: usize = 16;

impl<'a> Lead<'a> {
    /// `distance` says how far a state is from one where a proposition, given by its place in the list, has some truth.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn new(
        tgba: &Tgba,
        propositions: &[Prop],
        mut distance: impl FnMut(usize, bool) -> Result<Option<Distance<'a>>, Limit>,
        budget: &mut Budget<'_>,
    ) -> Result<Lead<'a>, Limit> {
        let left = edges_left(tgba, budget)?;
        let number: FxHashMap<Prop, usize> = propositions.iter().copied().zip(0..).collect();
        let mut states = Vec::with_capacity(left.len());
        for state in tgba.states() {
            budget.tick()?;
            let its = left[state.index()];
            let leads_on = |edge: &&automata::tgba::Edge| match its {
                0 => {
                    left[edge.target.index()] == 0
                        && (tgba.n_marks() == 0 || edge.marks.iter().next().is_some())
                }
                _ => left[edge.target.index()] < its,
            };
            let labels = tgba.edges(state).iter().filter(leads_on).map(|edge| edge.label);
            let cubes =
                labels.filter(|label| *label != Label::FALSE).flat_map(|label| tgba.labels().cubes(label));
            let cube = |cube: Vec<(Prop, bool)>| {
                cube.into_iter().filter_map(|(prop, truth)| Some((*number.get(&prop)?, truth))).collect()
            };
            states.push((its, cubes.take(MAX_CUBES).map(cube).collect()));
        }
        let mut literals = Vec::with_capacity(propositions.len());
        for proposition in 0..propositions.len() {
            literals.push([distance(proposition, false)?, distance(proposition, true)?]);
        }
        Ok(Lead(Arc::new(Ways { literals, states })))
    }

    /// How far a state is.
    pub(super) fn distance(&self, state: &[u32], observer_state: u32) -> u64 {
        let Ways { literals, states } = &*self.0;
        let Some((left, cubes)) = states.get(observer_state as usize) else { return 0 };
        let of_literal = |&(number, truth): &(usize, bool)| {
            literals[number][usize::from(truth)].as_ref().map_or(0, |distance| distance(state))
        };
        let of_cube = |cube: &Cube| cube.iter().map(of_literal).fold(0u64, u64::saturating_add);
        let nearest = cubes.iter().map(of_cube).min().unwrap_or(0).min(EDGE - 1);
        left.saturating_mul(EDGE).saturating_add(nearest)
    }
}

/// How many edges each state is away from a component that accepts; one more than there are states, if there is no way.
fn edges_left(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Vec<u64>, Limit> {
    let accepts = recurrent_states(tgba);
    let none = tgba.n_states() as u64 + 1;
    let mut left: Vec<u64> =
        (0..tgba.n_states()).map(|state| if accepts.contains(state) { 0 } else { none }).collect();
    let mut is_done = false;
    // Automata are small: as many rounds as the longest way has edges.
    while !is_done {
        is_done = true;
        for state in tgba.states() {
            budget.tick()?;
            let next = tgba.edges(state).iter().map(|edge| left[edge.target.index()].saturating_add(1)).min();
            if let Some(next) = next.filter(|next| *next < left[state.index()]) {
                (left[state.index()], is_done) = (next, false);
            }
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use automata::tgba::Marks;

    use super::*;

    #[test]
    fn edges_count_more_than_literals_and_marks_lead_inside_of_a_component() {
        let mut tgba = Tgba::new(1);
        let [start, inside, lost] = [(); 3].map(|()| tgba.add_state());
        let [a, b] = [0, 1].map(|prop| tgba.labels_mut().prop(Prop::new(prop)));
        let none = Marks::all(0);
        tgba.add_edge(start, Label::TRUE, none, start);
        tgba.add_edge(start, Label::TRUE, none, lost);
        tgba.add_edge(start, a, none, inside);
        tgba.add_edge(inside, Label::TRUE, none, inside);
        tgba.add_edge(inside, b, Marks::single(0), inside);
        // A proposition is true where its number has come to 10.
        let distance = |number: usize, truth: bool| {
            let distance: Distance<'_> = Box::new(move |state: &[u32]| {
                u64::from(if truth { 10 - state[number] } else { state[number] })
            });
            Ok(Some(distance))
        };
        let budget = &mut Budget::unlimited();
        let lead = Lead::new(&tgba, &[0, 1].map(Prop::new), distance, budget).unwrap();
        let far = |state: [u32; 2], at: automata::tgba::State| lead.distance(&state, at.index() as u32);
        assert_eq!(far([4, 0], start), EDGE + 6);
        assert_eq!(far([4, 3], inside), 7);
        assert!(far([10, 10], lost) > far([0, 0], start));
    }
}
