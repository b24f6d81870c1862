//! Places that always have enough tokens, as linear programs find them.
//!
//! # Idea
//! What makes a place *implicit* is said, and checked, in [`implicit`](super::implicit): weights `a > 0` of the place and
//! `k ≥ 0` of others such that no transition decreases `a·p - Σ k·q`, and such that everyone who needs *p* needs so much of
//! the others that *p* has enough. These are linear inequalities in *a* and *k*. There, some weights are guessed; here, a
//! linear program looks for any, in floating point. What it finds is scaled, rounded, and checked in exact numbers: a
//! solver that is wrong finds nothing.
//!
//! Only places nearby are given weights, and transitions that touch none of them do not matter.
//!
//! # What it preserves
//! Everything, as [`implicit`](super::implicit).
//!
//! # References
//! Colom and Silva, *Improving the linearly based characterization of P/T nets* (1991); for reductions: Thierry-Mieg,
//! *Structural reductions revisited* (Petri Nets 2020), where an SMT solver looks for them, without a certificate.

use base::{Budget, Limit};
use rustc_hash::{FxHashMap, FxHashSet};

use super::implicit::{Proof, is_implicit};
use super::work::{PlaceState, Work};
use crate::facts::{Program, minimize, scales};
use crate::sparse::number_of;

/// So many places get weights, and so many transitions are next to them.
const MAX_PLACES: usize = 80;
const MAX_STEPS: usize = 160;
/// What another place costs, compared with finding anything: few places make short proofs.
const PRICE: f64 = 1e-4;
/// A solution that is better than that is one.
const ENOUGH: f64 = -0.5;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    for place in work.place_list() {
        budget.tick()?;
        if work.is_observed(place) || !may_be_redundant(work, place) {
            continue;
        }
        // The proof was checked.
        if proof(work, place, budget)?.is_some() {
            work.remove_place(place, PlaceState::Removed);
            work.n_applied += 1;
        }
        if work.programs_left == 0 {
            break;
        }
    }
    Ok(())
}

/// Whether everyone who needs the place needs something else, and somebody decreases it. (What needs nothing else is
/// hardly ever enabled without it.)
fn may_be_redundant(work: &Work<'_>, place: u32) -> bool {
    let mut is_decreased = false;
    work.consumers(place).all(|(_, step)| {
        is_decreased |= number_of(&step.changes, place) < 0;
        step.inputs.len() > 1
    }) && is_decreased
}

/// The places around one, nearest first, and the transitions next to them; the place itself is not among them.
fn around(work: &Work<'_>, place: u32) -> (Vec<u32>, Vec<u32>) {
    let (mut places, mut steps) = (vec![place], Vec::new());
    let (mut met, mut met_steps) = (FxHashSet::default(), FxHashSet::default());
    met.insert(place);
    let mut next = 0;
    while let Some(&place) = places.get(next) {
        next += 1;
        for (index, step) in work.neighbors(place) {
            if !met_steps.insert(index) {
                continue;
            }
            steps.push(index);
            for &(other, _) in step.inputs.iter().chain(&step.outputs) {
                if places.len() <= MAX_PLACES && met.insert(other) {
                    places.push(other);
                }
            }
        }
    }
    (places.split_off(1), steps)
}

/// Weights that a program finds, if they are a proof.
fn proof(work: &mut Work<'_>, place: u32, budget: &mut Budget<'_>) -> Result<Option<Proof>, Limit> {
    let (others, steps) = around(work, place);
    if steps.len() > MAX_STEPS || others.is_empty() {
        return Ok(None);
    }
    let columns: FxHashMap<u32, u32> =
        others.iter().enumerate().map(|(column, &other)| (other, column as u32)).collect();
    let own = others.len() as u32;
    let mut rows = Vec::with_capacity(2 * steps.len() + 1);
    for &index in &steps {
        let Some(step) = work.get(index) else { continue };
        // Nobody decreases the difference.
        let term = |&(its, change): &(u32, i64)| match its == place {
            true => Some((own, -change as f64)),
            false => columns.get(&its).map(|&column| (column, change as f64)),
        };
        rows.push(step.changes.iter().filter_map(term).collect::<Vec<(u32, f64)>>());
        let needed = number_of(&step.inputs, place);
        if needed > 0 {
            // What it needs is there, even if the difference is as at first.
            let missing = |&other: &u32| work.initial(other) - number_of(&step.inputs, other);
            let mut row: Vec<(u32, f64)> =
                others.iter().zip(0..).map(|(other, column)| (column, missing(other) as f64)).collect();
            row.retain(|(_, factor)| *factor != 0.0);
            row.push((own, (needed - work.initial(place)) as f64));
            rows.push(row);
        }
    }
    // Proportions alone matter.
    rows.push(vec![(own, 1.0)]);
    let mut limits = vec![0.0; rows.len()];
    limits[rows.len() - 1] = 1.0;
    let mut cost = vec![PRICE; others.len()];
    cost.push(-1.0);
    let size = (rows.len() * cost.len()) as u64;
    work.programs_left = work.programs_left.saturating_sub(size);
    let found = minimize(&Program { rows, limits, cost }, ENOUGH, &mut work.programs_left, budget)?;
    let Some(solution) = found.filter(|solution| solution.cost < ENOUGH) else { return Ok(None) };
    let (weights, times) = solution.values.split_at(others.len());
    let proof = scales(times, weights).find_map(|scale| {
        let round = |number: f64| Some((number * scale).round()).filter(|number| number.abs() < 1e9);
        let times = round(times[0])? as i64;
        let mut proof = Proof { times, others: Vec::new() };
        for (&other, &weight) in others.iter().zip(weights) {
            let weight = round(weight)? as i64;
            proof.others.extend((weight > 0).then_some((other, weight)));
        }
        (times > 0 && is_implicit(work, place, &proof)).then_some(proof)
    });
    Ok(proof)
}
