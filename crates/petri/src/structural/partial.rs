//! Agglomeration of one transition at a time, where a place must stay.
//!
//! [`agglomerate`](super::agglomerate) replaces all transitions around a place, and removes the place. Where that is not
//! right (initial tokens, weights that do not fit) or makes too many transitions, one of them may still be merged with those
//! on the other side; the place and all others stay.
//!
//! # Post-agglomeration of one
//! Those that take tokens from a place *p* need nothing else, all the same number *b*, change nothing observed and give
//! nothing to *p*. Some *h* gives *b* tokens or more. Then *h* is replaced by "*h*, then as many of them as its tokens are
//! for", for every choice. Tokens that were there at first, that are left over, or that others give stay for those who
//! take them, as before.
//!
//! Why: as for all of them. After each *h*, move as many of those that come next and were not moved before to where it is;
//! they can fire there, and what they give does not harm. If too few come, insert some: at the end of a run, all have
//! come. Between *h* and where they were, nobody else takes tokens of *p*. What is inserted or moved is invisible, and none
//! of it can go on for ever by itself.
//!
//! # Free agglomeration of one
//! Those that give tokens to *p* give nothing else, all the same number *a*, and change nothing observed; *p* has fewer
//! than *a* at first, and somebody *f* takes a multiple of *a*. Then *f* is replaced by "as many of them as it needs, then
//! *f*". The others take the tokens that are given alone.
//!
//! Why: match each *f*, as a closing parenthesis, with those before it that give tokens to *p*, as opening ones, and let
//! these wait until just before *f*. Others still find their tokens in *p*: at some moment, let *h* be so many that have
//! come, *r* of them matched, with *f* up to then or later, and let *x* be taken by others. When the last of these *f* has
//! come, all that came in between is matched in between; so there was no more than `a·(h - r)` and what was there at first,
//! at the end, for all that others had taken, and *x* is no more than that. What waits leaves more tokens elsewhere until
//! then, which harms nobody. Conversely, what is written out is a run. Only markings are preserved ([`Reachability`](super::Preserve::Reachability)), as by free agglomeration of all.
//!
//! # Not if deadlocks are observed together with something else
//! As for all of them.
//!
//! # References
//! Rules R and S of verifypn, the engine of TAPAAL: *atomic* post- and free agglomeration, which go by one transition at a
//! time (N. Johansen, K. Larsen, J. Srba and others, in its source). Leftovers of weights, words, and the proofs are ours.

use base::{Budget, Limit};

use super::agglomerate::{Around, Kind, MAX_DEGREE, is_right, merge, unit_after, unit_before};
use super::work::Work;
use crate::sparse::number_of;

/// One transition becomes no more than these.
const MAX_MERGED: usize = 4;

pub(super) fn apply(work: &mut Work<'_>, kind: Kind, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if !is_right(work, kind) {
        return Ok(());
    }
    work.tidy_up();
    for place in work.place_list() {
        budget.tick()?;
        if work.degree(place) > MAX_DEGREE {
            continue;
        }
        let unit = if kind == Kind::Post { unit_after(work, place) } else { unit_before(work, place, kind) };
        let Some(unit) = unit else { continue };
        if kind == Kind::Free && work.initial(place) >= unit {
            continue;
        }
        let ones: Vec<u32> = match kind {
            Kind::Post => work.producers(place).map(|(index, _)| index).collect(),
            Kind::Pre | Kind::Free => work.consumers(place).map(|(index, _)| index).collect(),
        };
        for one in ones {
            work.n_applied += usize::from(merge_one(work, kind, place, unit, one).is_some());
        }
    }
    Ok(())
}

/// Merges one transition with those on the other side of a place.
fn merge_one(work: &mut Work<'_>, kind: Kind, place: u32, unit: i64, one: u32) -> Option<()> {
    let step = work.get(one)?.clone();
    let weight = number_of(if kind == Kind::Post { &step.outputs } else { &step.inputs }, place);
    // What is left over must be nothing for who takes; who gives may give more.
    if weight < unit || (kind != Kind::Post && weight % unit != 0) {
        return None;
    }
    let owned = |(index, step): (u32, &super::work::Step)| (index, step.clone());
    let single = vec![(one, step)];
    let around = match kind {
        Kind::Post => Around { before: single, after: work.consumers(place).map(owned).collect() },
        Kind::Pre | Kind::Free => {
            Around { before: work.producers(place).map(owned).collect(), after: single }
        }
    };
    let others = if kind == Kind::Post { &around.after } else { &around.before };
    if others.is_empty() {
        return None;
    }
    let merged = merge(work, kind, place, unit, &around).filter(|merged| merged.len() <= MAX_MERGED)?;
    work.remove_step(one);
    merged.into_iter().for_each(|step| {
        work.add(step);
    });
    Some(())
}
