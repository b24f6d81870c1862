//! Places whose tokens can do the same become one place.
//!
//! # Idea
//! Let *p* and *q* be places that are not observed, and let whoever takes tokens from one of them take one at a time. If each
//! transition that needs *p* has one that needs *q* in its place, and else needs and gives the same (what it gives back to *p*, that one
//! gives back to *q*), and the other way round, then a token in *p* is as good as one in *q*. Both become one place *r*: who gives tokens
//! to *p* or *q* gives them to *r*, and of two transitions that mirror each other one stays.
//!
//! # What it preserves
//! Everything. Put all tokens of *p* and *q* into *r*: that relates the markings of both nets one to one, step by step. A transition that
//! needs *r* is enabled if *p* or *q* has a token, and then the one of the two that is enabled leads to a related marking; all else is
//! the same. So a transition of the smaller net stands for one of two (or more), whichever can fire
//! ([`Parts::either`](super::parts::Parts::either)): that is chosen when a run is told, from the marking that it has come to. What is a
//! cycle there may have to be gone around several times here, until the tokens are where they were: there are finitely many ways to
//! spread them, since there are as many of them whenever the cycle is closed.
//!
//! That tokens of *p* are taken one at a time cannot be left out: two tokens in *r* may be one in *p* and one in *q*. That neither is in
//! the arcs of the other's transitions follows from what is asked: the mirror image would have another arc.
//!
//! # References
//! *Future equivalent places* of Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020), for markings and deadlocks; that words
//! are kept, and how runs are told, is ours.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::agglomerate::MAX_DEGREE;
use super::parts::PartId;
use super::work::{PlaceState, Step, Work};
use crate::sparse::Sparse;

/// A transition that takes a token from a place, without that place: what else it needs and gives, and how many tokens it gives back.
type Future = (Sparse, Sparse, i64);

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    let mut groups: FxHashMap<Vec<Future>, Vec<u32>> = FxHashMap::default();
    for place in work.place_list() {
        budget.tick()?;
        if let Some(futures) = futures(work, place) {
            groups.entry(futures).or_default().push(place);
        }
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    // Places that are alike stay so when others are merged: what is put in a place's stead is the same for both.
    for group in groups {
        budget.tick()?;
        if merge(work, &group).is_some() {
            work.n_applied += group.len() - 1;
        }
    }
    Ok(())
}

/// What tokens of a place can do; nothing if that is not to be looked at.
fn futures(work: &Work<'_>, place: u32) -> Option<Vec<Future>> {
    if work.is_observed(place) || work.degree(place) > MAX_DEGREE {
        return None;
    }
    let mut futures = Vec::new();
    for (_, step) in work.consumers(place) {
        let (needed, inputs) = without(&step.inputs, place);
        let (back, outputs) = without(&step.outputs, place);
        if needed != 1 {
            return None;
        }
        futures.push((inputs, outputs, back));
    }
    futures.sort_unstable();
    futures.dedup();
    (!futures.is_empty()).then_some(futures)
}

/// The weight of a place, and the other arcs.
fn without(arcs: &Sparse, place: u32) -> (i64, Sparse) {
    let weight = crate::sparse::number_of(arcs, place);
    (weight, arcs.iter().copied().filter(|(its, _)| *its != place).collect())
}

/// Merges places that are alike into the first; nothing if numbers get too large.
fn merge(work: &mut Work<'_>, places: &[u32]) -> Option<()> {
    let root = places[0];
    let mut total = 0i64;
    let mut alike: FxHashMap<Future, Vec<PartId>> = FxHashMap::default();
    let mut removed = Vec::new();
    for &place in places {
        total = total.checked_add(work.initial(place))?;
        for (index, step) in work.consumers(place) {
            let ((_, inputs), (back, outputs)) =
                (without(&step.inputs, place), without(&step.outputs, place));
            alike.entry((inputs, outputs, back)).or_default().push(step.part);
            removed.push(index);
        }
    }
    let mut added = Vec::new();
    for (_, step) in work.consumers(root) {
        let ((_, inputs), (back, outputs)) = (without(&step.inputs, root), without(&step.outputs, root));
        // Of transitions that do the same, one stays.
        if let Some(parts) = alike.remove(&(inputs, outputs, back)) {
            added.push((step.clone(), parts));
        }
    }
    let mut given = Vec::new();
    for &place in &places[1..] {
        given.extend(work.producers(place).map(|(index, _)| index).filter(|index| !removed.contains(index)));
    }
    given.sort_unstable();
    given.dedup();
    let mut replaced = Vec::with_capacity(given.len());
    for &index in &given {
        let step = work.get(index)?;
        let mut outputs: Sparse =
            step.outputs.iter().copied().filter(|(its, _)| !places.contains(its)).collect();
        let mut to_places = step.outputs.iter().filter(|(its, _)| places.contains(its));
        let weight = to_places.try_fold(0i64, |sum, (_, weight)| sum.checked_add(*weight))?;
        outputs.push((root, weight));
        outputs.sort_unstable();
        replaced.push(Step::new(step.inputs.clone(), outputs, step.part));
    }
    for (step, parts) in added {
        let part = work.parts.either(&parts)?;
        replaced.push(Step { part, ..step });
    }
    removed.into_iter().chain(given).for_each(|index| work.remove_step(index));
    work.initial[root as usize] = total;
    work.join(root, &places[1..]);
    places[1..].iter().for_each(|&place| work.remove_place(place, PlaceState::Removed));
    replaced.into_iter().for_each(|step| {
        work.add(step);
    });
    Some(())
}
