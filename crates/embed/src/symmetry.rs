//! Equal actors: states that differ only in who is who are one state.
//!
//! A user says how many equal actors there are, and how a state is permuted. Searches keep, of all states that
//! permutations make of one, the least that is found: of all permutations if there are few, else by exchanging
//! neighbors. Any choice is sound, the least one is best.
//!
//! # Why it is sound
//! Let each permutation be an automorphism: a bijection of states that maps initial states to initial states and steps
//! to steps, and let no proposition tell a state from its permutations. Then a state and its permutations have the same
//! runs up to permutations, and the same words of valuations; so a search over representatives finds a run that
//! violates an invariant or a formula if and only if there is one
//! (Clarke, Enders, Filkorn and Jha, *Exploiting symmetry in temporal logic model checking*, 1996). Fairness tells actors apart: a run of
//! representatives does not say who moves, so it is refused.
//!
//! That permutations are automorphisms is what the user says, and it is not believed: in every representative that a
//! search expands, all permutations are tested, which is enough. By induction every reachable state is a permutation of
//! a representative that is expanded; so it has the same propositions, and the permuted steps. That takes time, not
//! memory. Who has tested it once, by [`Check::verify_symmetry`] in all states without symmetry, may have it believed
//! from then on ([`Check::trusting_symmetry`]).
//!
//! A run of representatives becomes a run of the model: from each state the step is taken that leads to a permutation
//! of the next representative. A cycle is gone through until a state comes again, since after one round actors may
//! have changed places.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::check::Check;
use crate::judge::{Given, Judge};
use crate::model::Model;
use crate::run::Ending;
use crate::verdict::Reason;

type Permute<'m, S> = Arc<dyn Fn(&S, &[usize]) -> S + Send + Sync + 'm>;

/// Up to this many actors, all permutations are tried for the least state.
const MAX_ALL: usize = 4;

/// Up to this many actors, all permutations are tested.
const MAX_TESTED: usize = 6;

/// A run goes round at most this often before a state must have come again.
const MAX_ROUNDS: usize = 5040;

/// Equal actors.
pub(crate) struct Symmetry<'m, S> {
    n_actors: usize,
    permute: Permute<'m, S>,
    compare: fn(&S, &S) -> Ordering,
    /// All permutations but the identity, if they are not too many.
    all: Arc<[Vec<usize>]>,
    /// Whether it is believed.
    pub(crate) is_trusted: bool,
}

impl<S> Clone for Symmetry<'_, S> {
    fn clone(&self) -> Self {
        let (permute, all) = (self.permute.clone(), self.all.clone());
        Symmetry { n_actors: self.n_actors, permute, compare: self.compare, all, is_trusted: self.is_trusted }
    }
}

/// All permutations of so many, the identity first.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    (1..n).fold(vec![vec![0; n.min(1)]], |shorter, last| {
        let longer = |permutation: &Vec<usize>| {
            let permutation = permutation.clone();
            (0..=last).rev().map(move |at| {
                let mut longer = permutation.clone();
                longer.insert(at, last);
                longer
            })
        };
        shorter.iter().flat_map(longer).collect()
    })
}

fn exchange(n: usize, i: usize) -> Vec<usize> {
    let mut permutation: Vec<usize> = (0..n).collect();
    permutation.swap(i, i + 1);
    permutation
}

impl<'m, S: Clone + Eq + Hash + Debug> Symmetry<'m, S> {
    pub(crate) fn new(
        n_actors: usize,
        permute: impl Fn(&S, &[usize]) -> S + Send + Sync + 'm,
    ) -> Symmetry<'m, S>
    where
        S: Ord,
    {
        Symmetry::ordered_by(n_actors, permute, S::cmp)
    }

    /// The same, where states are compared in some way: what is least for it is kept.
    pub(crate) fn ordered_by(
        n_actors: usize,
        permute: impl Fn(&S, &[usize]) -> S + Send + Sync + 'm,
        compare: fn(&S, &S) -> Ordering,
    ) -> Symmetry<'m, S> {
        let all = match n_actors {
            2..=MAX_TESTED => permutations(n_actors).split_off(1),
            _ => Vec::new(),
        };
        Symmetry { n_actors, permute: Arc::new(permute), compare, all: all.into(), is_trusted: false }
    }

    /// All permutations but the identity; nothing if they are too many to be tested.
    pub(crate) fn all(&self) -> Option<&[Vec<usize>]> {
        (self.n_actors <= MAX_TESTED).then_some(&*self.all)
    }

    /// The exchanges of neighbors, which generate all permutations.
    fn exchanges(&self) -> impl Iterator<Item = Vec<usize>> {
        let n = self.n_actors;
        (1..n).map(move |i| exchange(n, i - 1))
    }

    pub(crate) fn permuted(&self, state: &S, permutation: &[usize]) -> S {
        (self.permute)(state, permutation)
    }

    /// The state that is kept for a state.
    pub(crate) fn representative(&self, state: &S) -> S {
        let is_less = |one: &S, other: &S| (self.compare)(one, other) == Ordering::Less;
        let mut least = state.clone();
        if self.n_actors <= MAX_ALL {
            for permutation in &*self.all {
                let permuted = self.permuted(state, permutation);
                if is_less(&permuted, &least) {
                    least = permuted;
                }
            }
            return least;
        }
        // Exchanges that make it less, until there is none.
        let exchanges: Vec<Vec<usize>> = self.exchanges().collect();
        let mut n_failed = 0;
        for exchange in exchanges.iter().cycle() {
            let permuted = self.permuted(&least, exchange);
            n_failed = if is_less(&permuted, &least) { 0 } else { n_failed + 1 };
            if n_failed == 0 {
                least = permuted;
            } else if n_failed == exchanges.len() {
                break;
            }
        }
        least
    }

    /// Whether one state is a permutation of another: there is no shortcut.
    fn is_permutation(&self, one: &S, other: &S) -> bool {
        let mut met = vec![one.clone()];
        let mut next = 0;
        while next < met.len() {
            if met[next] == *other {
                return true;
            }
            for exchange in self.exchanges() {
                let permuted = self.permuted(&met[next], &exchange);
                if !met.contains(&permuted) {
                    met.push(permuted);
                }
            }
            next += 1;
        }
        false
    }

    /// Why a permutation is none of this model, in a state.
    pub(crate) fn doubt<M: Model<State = S>>(
        &self,
        model: &M,
        state: &S,
        permutation: &[usize],
        tells_apart: impl Fn(&S, &S) -> Option<String>,
    ) -> Option<String> {
        let permuted = self.permuted(state, permutation);
        let inverse: Vec<usize> = (0..self.n_actors)
            .map(|actor| permutation.iter().position(|&to| to == actor).unwrap_or(actor))
            .collect();
        if self.permuted(&permuted, &inverse) != *state {
            return Some(format!("permuted by {permutation:?} and back, the state {state:?} is another one"));
        }
        if let Some(name) = tells_apart(state, &permuted) {
            return Some(format!("`{name}` tells the state {state:?} from {permuted:?}"));
        }
        let successors = |state: &S| {
            let mut actions = Vec::new();
            model.actions(state, &mut actions);
            let after = |action: &M::Action| {
                let mut after = state.clone();
                model.step(&mut after, action);
                after
            };
            actions.iter().map(after).collect::<Vec<S>>()
        };
        let (one, other) = (successors(state), successors(&permuted));
        let missing =
            one.iter().map(|after| self.permuted(after, permutation)).find(|after| !other.contains(after));
        let too_much = || other.iter().find(|after| !one.contains(&self.permuted(after, &inverse))).cloned();
        let after = missing.or_else(too_much)?;
        Some(format!(
            "the state {state:?} and its permutation {permuted:?} do not do the same: only one leads to {after:?}"
        ))
    }

    /// The actions of a run of the model that goes through permutations of the states of a run of representatives.
    pub(crate) fn unfold<M: Model<State = S>>(
        &self,
        judge: &Judge<'_, M>,
        given: &Given<M::Action>,
    ) -> Result<Given<M::Action>, Reason> {
        let lost = || Reason::Unconfirmed("a run of representatives is none of the model".to_owned());
        let mut quotient = judge.model.initial().into_iter().nth(given.initial).ok_or_else(lost)?;
        let mut state = quotient.clone();
        quotient = self.representative(&quotient);
        let mut actions = Vec::new();
        let mut step = |state: &mut S, quotient: &mut S, action: &Option<M::Action>| -> Result<(), Reason> {
            let Some(action) = action else {
                actions.push(None);
                return Ok(());
            };
            let next = judge.after(quotient, action)?;
            for offered in judge.offered(state)? {
                let after = judge.after(state, &offered)?;
                if self.is_permutation(&after, &next) {
                    actions.push(Some(offered));
                    (*state, *quotient) = (after, self.representative(&next));
                    return Ok(());
                }
            }
            Err(lost())
        };
        let start = match given.ending {
            Ending::Cycle(start) => start,
            Ending::Open | Ending::Deadlock | Ending::Refusal => given.actions.len(),
        };
        for action in &given.actions[..start] {
            step(&mut state, &mut quotient, action)?;
        }
        if start == given.actions.len() {
            let ending = given.ending;
            return Ok(Given { initial: given.initial, actions, ending });
        }
        // Round and round, until it comes to a state that it began a round with.
        let mut begun = Vec::new();
        while begun.len() < MAX_ROUNDS {
            if let Some(round) = begun.iter().position(|known| *known == state) {
                let start = start + round * (given.actions.len() - start);
                return Ok(Given { initial: given.initial, actions, ending: Ending::Cycle(start) });
            }
            begun.push(state.clone());
            for action in &given.actions[start..] {
                step(&mut state, &mut quotient, action)?;
            }
        }
        Err(Reason::Refused("a cycle of representatives takes too many rounds to close".to_owned()))
    }
}

impl<M: Model> Check<'_, M> {
    /// Whether the permutations that were declared are what they must be, in every reachable state: that what is asked
    /// under them is right. Explores all states, without symmetry.
    ///
    /// # Errors
    /// They are not, or that is not known.
    pub fn verify_symmetry(&self) -> Result<(), Reason> {
        let Some(symmetry) = &self.symmetry else { return Ok(()) };
        let propositions = &self.propositions;
        let model = self.model;
        let initial = model.initial();
        let exchanges: Vec<Vec<usize>> = symmetry.exchanges().collect();
        for (state, exchange) in initial.iter().flat_map(|state| exchanges.iter().map(move |by| (state, by)))
        {
            if !initial.contains(&symmetry.permuted(state, exchange)) {
                return Err(Reason::Refused(format!(
                    "a permutation of the initial state {state:?} is not initial"
                )));
            }
        }
        self.in_all_states(|state| {
            let doubt = |exchange: &Vec<usize>| {
                symmetry.doubt(model, state, exchange, |one, other| propositions.tells_apart(one, other))
            };
            exchanges.iter().find_map(doubt)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_permutations_as_there_should_be() {
        for (n, expected) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24)] {
            let mut all = permutations(n);
            assert!(all[0].iter().copied().eq(0..n), "the identity is first: {all:?}");
            all.sort();
            all.dedup();
            assert_eq!(all.len(), expected);
        }
    }

    #[test]
    fn representatives_are_sorted() {
        let permute = |state: &Vec<u8>, permutation: &[usize]| {
            let mut permuted = state.clone();
            permutation.iter().enumerate().for_each(|(from, &to)| permuted[to] = state[from]);
            permuted
        };
        for state in [vec![], vec![1], vec![2, 1], vec![3, 1, 2, 0], vec![5, 4, 3, 1, 2, 0]] {
            let symmetry = Symmetry::new(state.len(), permute);
            let mut sorted = state.clone();
            sorted.sort();
            assert!(symmetry.is_permutation(&state, &sorted));
            assert_eq!(symmetry.representative(&state), sorted);
        }
    }
}
