//! Places that always have enough tokens.
//!
//! # Idea
//! Let *p* be a place, *a* > 0, and let other places *q* have weights *k* ≥ 0 such that no transition
//! decreases `a·p - Σ k·q`. Then that never falls below its initial value *c*. If a transition needs *w*
//! tokens of *p* and *v* of each *q*, with `a·w ≤ c + Σ k·v`, then wherever its other inputs are there,
//! *p* has enough. If that is so for all transitions that need *p*, it never matters, and can go. With no
//! *q* at all: a place that nobody needs, or that never has less than what is needed.
//!
//! The weights are guessed, and only the check counts: as long as some transition decreases the
//! difference, one of its other inputs is added to the sum.
//!
//! # What it preserves
//! Everything: by induction, the same transitions can fire in the same order. For
//! [`Preserve::Stuttering`](super::Preserve), a place whose tokens are neither determined by the others nor
//! bounded stays, although its removal would be right: else a cycle of the reduced net might be a run of
//! the original that never comes back, and could not be shown.
//!
//! # References
//! Redundant places: Berthelot, *Transformations and decompositions of nets* (1987), definition and
//! proof. The published rule asks for any nonnegative weights, found by linear programming (Colom and
//! Silva, *Improving the linearly based characterization of P/T nets*, 1991); here, only some are tried; [`redundant`](super::redundant) solves the program.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::work::{PlaceState, Work};
use crate::sparse::number_of;

/// Why a place is implicit: `times · p ≥ Σ weight · q + c`.
pub(super) struct Proof {
    pub(super) times: i64,
    pub(super) others: Vec<(u32, i64)>,
}

/// Places with more neighbors are left alone, except that nobody may need them.
const MAX_DEGREE: usize = 200;
/// So many places are added to a sum, and so many first ones are tried.
const MAX_ADDED: usize = 24;
const MAX_TRIED: usize = 6;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    for place in work.place_list() {
        budget.tick()?;
        if !work.is_observed(place) && is_redundant(work, place) {
            work.remove_place(place, PlaceState::Removed);
            work.n_applied += 1;
        }
    }
    Ok(())
}

fn is_redundant(work: &Work<'_>, place: u32) -> bool {
    is_implicit(work, place, &Proof { times: 1, others: Vec::new() })
        || (work.degree(place) <= MAX_DEGREE
            && (0..MAX_TRIED).any(|first| match guess(work, place, first) {
                Some(others) => is_implicit(work, place, &Proof { times: 1, others }),
                None => false,
            }))
}

/// Places whose weighted sum might not grow faster than this place; `first` says where to begin.
fn guess(work: &Work<'_>, place: u32, first: usize) -> Option<Vec<(u32, i64)>> {
    let mut others: Vec<(u32, i64)> = Vec::new();
    // By how much transitions change the difference; and those that decrease it, or did.
    let mut difference: FxHashMap<u32, i64> = FxHashMap::default();
    let mut open: Vec<u32> = Vec::new();
    for (index, step) in work.neighbors(place) {
        let change = number_of(&step.changes, place);
        difference.insert(index, change);
        open.extend((change < 0).then_some(index));
    }
    while let Some(&index) = open.last() {
        let lost = difference.get(&index).copied().unwrap_or(0);
        if lost >= 0 {
            open.pop();
            continue;
        }
        let step = work.get(index)?;
        let is_other = |&&(other, change): &&(u32, i64)| {
            change < 0 && other != place && others.iter().all(|(known, _)| *known != other)
        };
        let inputs: Vec<&(u32, i64)> = step.changes.iter().filter(is_other).collect();
        let &&(other, change) = if others.is_empty() {
            inputs.get(first)?
        } else {
            // The fewer producers, the fewer new transitions to be made up for.
            inputs.iter().min_by_key(|(other, _)| work.degree(*other))?
        };
        if others.len() == MAX_ADDED || work.degree(other) > MAX_DEGREE {
            return None;
        }
        // Rounded up: change and lost are negative.
        let weight = lost.checked_add(change)?.checked_add(1)?.checked_div(change)?;
        others.push((other, weight));
        for (neighbor, step) in work.neighbors(other) {
            let lost = number_of(&step.changes, other).checked_mul(weight)?;
            let of_neighbor = difference.entry(neighbor).or_insert(0);
            *of_neighbor = of_neighbor.checked_sub(lost)?;
            open.extend((*of_neighbor < 0).then_some(neighbor));
        }
    }
    others.sort_unstable();
    Some(others)
}

/// Checks a proof.
pub(super) fn is_implicit(work: &Work<'_>, place: u32, proof: &Proof) -> bool {
    check(work, place, proof).unwrap_or(false)
}

/// Nothing if numbers get too large.
fn check(work: &Work<'_>, place: u32, proof: &Proof) -> Option<bool> {
    // The value of `times · p - Σ weight · q`, where tokens are given by a function.
    let difference = |tokens: &dyn Fn(u32) -> i64| {
        let of_place = i128::from(tokens(place)).checked_mul(proof.times.into())?;
        proof.others.iter().try_fold(of_place, |value, &(other, weight)| {
            value.checked_sub(i128::from(tokens(other)).checked_mul(weight.into())?)
        })
    };
    let initial = difference(&|place| work.initial(place))?;
    let mut is_determined = true;
    for touched in std::iter::once(place).chain(proof.others.iter().map(|(other, _)| *other)) {
        for (_, step) in work.neighbors(touched) {
            let change = difference(&|place| number_of(&step.changes, place))?;
            is_determined &= change == 0;
            if change < 0 {
                return Some(false);
            }
        }
    }
    for (_, step) in work.consumers(place) {
        let needed = difference(&|place| number_of(&step.inputs, place))?;
        if needed > initial {
            return Some(false);
        }
    }
    Some(is_determined || work.may_lose(place))
}
