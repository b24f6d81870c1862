//! Transitions that others can replace: one other (parallel transitions), or two one after the other
//! (redundant transitions).
//!
//! # Parallel transitions
//! If *t* and *u* change the same places by as much, and *t* needs no place more than *u* does, then *t*
//! can fire wherever *u* can, with the same result, and *u* can go. This preserves everything.
//!
//! # Redundant transitions
//! If *t* and then *v* together do what *u* does, and need no more, then *u* can go. The same markings
//! are reached, and where *u* is enabled, so is *t*: deadlocks and markings are preserved. Words are,
//! too, if *t* or *v* changes nothing that is observed, since then `t v` and `u` differ by a repeated
//! letter only; and *u* for ever becomes `t v` for ever. If it is observed whether a marking is a
//! deadlock, *t* must be the one: that *v* is still enabled after *t* would be seen.
//!
//! # References
//! Identical transitions: Berthelot, *Transformations and decompositions of nets* (1987). Two at a time:
//! Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020), for markings and deadlocks; the
//! condition for words is ours.

use base::{Budget, Limit};
use language::Preserve;
use rustc_hash::FxHashMap;

use super::work::{Step, Work};
use crate::sparse::{Sparse, combine};

/// Each transition is compared with so many of those with the same effect.
const MAX_COMPARED: usize = 64;
/// Comparisons of arcs, roughly, in one pass.
const WORK: usize = 3_000_000;

pub(super) fn apply_parallel(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    let mut alike: FxHashMap<Sparse, Vec<u32>> = FxHashMap::default();
    for step in work.step_list() {
        budget.tick()?;
        let Some(it) = work.get(step).cloned() else { continue };
        let others = alike.entry(it.changes.clone()).or_default();
        if others.iter().any(|&other| work.get(other).is_some_and(|other| other.needs_at_most(&it))) {
            work.remove_step(step);
            work.n_applied += 1;
            continue;
        }
        others.retain(|&other| {
            let is_worse = work.get(other).is_none_or(|other| it.needs_at_most(other));
            if is_worse {
                work.remove_step(other);
                work.n_applied += 1;
            }
            !is_worse
        });
        if others.len() < MAX_COMPARED {
            others.push(step);
        }
    }
    Ok(())
}

pub(super) fn apply_redundant(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    let steps = work.step_list();
    let mut by_changes: FxHashMap<Sparse, Vec<u32>> = FxHashMap::default();
    let mut sources = Vec::new();
    for &step in &steps {
        let Some(it) = work.get(step) else { continue };
        by_changes.entry(it.changes.clone()).or_default().push(step);
        sources.extend(it.inputs.is_empty().then_some(step));
    }
    let mut left = WORK;
    for step in steps {
        budget.tick()?;
        let Some(it) = work.get(step) else { continue };
        if is_replaceable(work, step, it, &by_changes, &sources, &mut left) {
            work.remove_step(step);
            work.n_applied += 1;
        }
        if left == 0 {
            break;
        }
    }
    Ok(())
}

fn is_replaceable(
    work: &Work<'_>,
    index: u32,
    step: &Step,
    by_changes: &FxHashMap<Sparse, Vec<u32>>,
    sources: &[u32],
    left: &mut usize,
) -> bool {
    let consumers = step.inputs.iter().flat_map(|&(place, _)| work.consumers(place));
    let sources = sources.iter().filter_map(|&source| Some((source, work.get(source)?)));
    for (first, it) in consumers.chain(sources) {
        *left = left.saturating_sub(it.inputs.len() + it.changes.len());
        if *left == 0 {
            return false;
        }
        // That it needs no more is implied by what is asked below, and asked first because it is cheap.
        if first == index || !it.needs_at_most(step) {
            continue;
        }
        let Some(rest) = combine(&step.changes, &it.changes, i64::checked_sub) else { continue };
        // Where nothing is left to do, they are parallel.
        let seconds = by_changes.get(&rest).filter(|_| !rest.is_empty()).map_or(&[][..], Vec::as_slice);
        for &second in seconds.iter().take(MAX_COMPARED).filter(|&&second| second != index) {
            let Some(second) = work.get(second) else { continue };
            *left = left.saturating_sub(second.inputs.len() + it.outputs.len());
            if keeps_words(work, it, second) && it.then(second).is_some_and(|both| both.needs_at_most(step)) {
                return true;
            }
        }
    }
    false
}

fn keeps_words(work: &Work<'_>, first: &Step, second: &Step) -> bool {
    work.preserve != Preserve::Stuttering
        || !work.is_visible(first)
        || (!work.is_visible(second) && !work.observes_deadlock)
}
