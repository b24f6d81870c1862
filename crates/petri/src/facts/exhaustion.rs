//! Transitions that can fire only a number of times: then they are not live.
//!
//! # Idea
//! Let a sum of tokens, each place with a weight of 0 or more, never grow, and shrink whenever some transition fires. It is a
//! number of 0 or more at first, and an integer, so that the transition fires no more often than this number says, in
//! whatever run. A transition that is live can fire again for ever. (The weights are a certificate that no firing vector with this
//! transition leads back, or up: Farkas' lemma.)
//!
//! The weights are found by a linear program in floating point ([`simplex`](super::simplex)), rounded, and checked as
//! integers; what does not pass is forgotten. Each program tries to make all transitions shrink the sum that did not before.

use base::{Budget, Limit};
use language::Enabled;

use super::Facts;
use super::certificate::scales;
use super::simplex::{self, Program};
use crate::net::Transition;

/// So many programs are solved, with so many multiplications in all.
const MAX_PROGRAMS: usize = 16;
const WORK: u64 = 200_000_000;

impl Facts {
    /// Whether it is shown for one of these that it cannot be enabled again for ever.
    pub(super) fn runs_out(&self, each: &[Enabled], budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut is_finite = self.is_dead.clone();
        for transition in self.exhausted(budget)? {
            is_finite[self.numbers[transition].index()] = true;
        }
        Ok(each.iter().any(|its| its.actions.iter().all(|action| is_finite[action.index()])))
    }

    /// Transitions that can fire only a number of times, as they are numbered in the net without dead ones.
    fn exhausted(&self, budget: &mut Budget<'_>) -> Result<Vec<usize>, Limit> {
        let Some(effects) = self.equation.effects() else { return Ok(Vec::new()) };
        let n_places = self.initial.len();
        let (mut is_finite, mut work) = (vec![false; self.net.transitions.len()], WORK);
        let mut left: Vec<usize> = (0..effects.len()).collect();
        for _ in 0..MAX_PROGRAMS {
            let mut program = Program { rows: Vec::new(), limits: Vec::new(), cost: vec![0.0; n_places] };
            for effect in effects {
                program.rows.push(effect.iter().map(|&(place, change)| (place, change as f64)).collect());
                program.limits.push(0.0);
            }
            // Proportions alone matter.
            program.rows.push((0..n_places as u32).map(|place| (place, 1.0)).collect());
            program.limits.push(1.0);
            for &(place, change) in left.iter().flat_map(|&effect| &effects[effect]) {
                program.cost[place as usize] += change as f64;
            }
            let solved = simplex::minimize(&program, f64::NEG_INFINITY, &mut work, budget)?;
            let Some(solution) = solved.filter(|solution| solution.cost < -1e-6) else { break };
            let Some(shrinking) = scales(&[], &solution.values).find_map(|scale| {
                let weights: Vec<i128> =
                    solution.values.iter().map(|value| (value * scale).round() as i128).collect();
                shrinking(&weights, &self.net.transitions).filter(|shrinking| !shrinking.is_empty())
            }) else {
                break;
            };
            let before = left.len();
            shrinking.into_iter().for_each(|transition| is_finite[transition] = true);
            let shrinks = |effect: &usize| {
                let value: f64 = effects[*effect]
                    .iter()
                    .map(|&(place, change)| solution.values[place as usize] * change as f64)
                    .sum();
                value < -1e-7
            };
            left.retain(|effect| !shrinks(effect));
            if left.is_empty() || left.len() == before {
                break;
            }
        }
        Ok(is_finite.iter().enumerate().filter(|(_, is_finite)| **is_finite).map(|(at, _)| at).collect())
    }
}

/// The transitions that shrink a weighted sum, if no transition makes it grow and no weight is negative; all in exact numbers.
fn shrinking(weights: &[i128], transitions: &[Transition]) -> Option<Vec<usize>> {
    if weights.iter().any(|weight| *weight < 0) {
        return None;
    }
    let mut shrinking = Vec::new();
    for (number, transition) in transitions.iter().enumerate() {
        let change = transition.changes().try_fold(0_i128, |sum, (place, change)| {
            sum.checked_add(weights[place.index()].checked_mul(change.into())?)
        })?;
        match change {
            ..0 => shrinking.push(number),
            0 => {}
            1.. => return None,
        }
    }
    Some(shrinking)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::net::PlaceId;

    #[test]
    fn a_solver_that_lies_changes_no_answer() {
        let mut rng = Rng::with_seed(11);
        let (mut n_accepted, mut n_refused) = (0, 0);
        for _ in 0..20_000 {
            let n_places = rng.usize(2..4);
            let arcs = |rng: &mut Rng| -> Vec<(PlaceId, i64)> {
                (0..n_places)
                    .filter_map(|place| Some((PlaceId::new(place), rng.i64(0..3))).filter(|arc| arc.1 > 0))
                    .collect()
            };
            let transition = |rng: &mut Rng| Transition {
                id: String::new(),
                name: None,
                inputs: arcs(rng),
                outputs: arcs(rng),
            };
            let transitions: Vec<Transition> = (0..rng.usize(1..4)).map(|_| transition(&mut rng)).collect();
            let weights: Vec<i128> = (0..n_places).map(|_| rng.i128(-1..4)).collect();
            let Some(shrinking) = shrinking(&weights, &transitions) else {
                n_refused += 1;
                continue;
            };
            n_accepted += usize::from(!shrinking.is_empty());
            // No run fires one of these more often than the sum says.
            let mut marking: Vec<i64> = (0..n_places).map(|_| rng.i64(0..4)).collect();
            let value =
                |marking: &[i64]| marking.iter().zip(&weights).map(|(m, w)| i128::from(*m) * w).sum::<i128>();
            let (first, mut n_fired) = (value(&marking), 0);
            for _ in 0..60 {
                let number = rng.usize(0..transitions.len());
                if transitions[number].fire(&mut marking) {
                    n_fired += i128::from(shrinking.contains(&number));
                }
            }
            assert!(n_fired <= first, "{weights:?} {transitions:?}");
        }
        assert!(n_accepted > 500 && n_refused > 500, "{n_accepted} {n_refused}");
    }

    #[test]
    fn numbers_too_large_show_nothing() {
        let arcs = |place: usize, weight: i64| vec![(PlaceId::new(place), weight)];
        let step = Transition { id: String::new(), name: None, inputs: arcs(0, 4), outputs: arcs(0, 1) };
        assert_eq!(shrinking(&[1], std::slice::from_ref(&step)), Some(vec![0]));
        assert_eq!(shrinking(&[i128::MAX], &[step]), None);
    }
}
