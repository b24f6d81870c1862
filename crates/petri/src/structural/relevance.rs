//! Transitions that cannot matter to a question about markings, and transitions that need nothing.
//!
//! # Irrelevant transitions
//! A transition matters if it changes an observed place, or adds tokens to a place that a transition that
//! matters needs. Leave out all others of a run: what is left can still fire, since none of what was left
//! out gave a token that is needed, and the observed places end with the same tokens. So they can go, and
//! so can the places that nobody needs then. This preserves
//! [`Reachability`](super::Preserve::Reachability), but neither deadlocks (which transitions are enabled
//! is changed) nor words (runs that end are changed).
//!
//! # Source transitions
//! A transition that needs nothing can fire at any time, as often as one likes. For
//! [`Reachability`](super::Preserve::Reachability): if it changes nothing observed, the places that it
//! fills never lack tokens, and can go; whoever takes tokens from them stands for as many firings of the
//! source as it needs, and then itself. For [`Deadlocks`](super::Preserve::Deadlocks): there are none, and
//! all but the source can go. Not for words: the source can be repeated for ever.
//!
//! # References
//! Relevance: rule I of Bønneland, Dyhr, Jensen, Johannsen and Srba, *Stubborn versus structural reductions
//! for Petri nets* (JLAMP 2019). Sources: Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020).

use base::{Budget, Limit};
use language::Preserve;

use super::work::{PlaceState, Step, Work};
use crate::sparse::number_of;

/// Whether only the markings of observed places count.
fn is_about_markings(work: &Work<'_>) -> bool {
    work.preserve == Preserve::Reachability && !work.observes_deadlock
}

pub(super) fn apply_irrelevant(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if !is_about_markings(work) {
        return Ok(());
    }
    work.tidy_up();
    let steps = work.step_list();
    let mut matters = vec![false; steps.last().map_or(0, |last| *last as usize + 1)];
    let mut is_needed = work.observed.clone();
    let mut open: Vec<u32> = Vec::new();
    for &step in &steps {
        if work.get(step).is_some_and(|it| work.is_visible(it)) {
            matters[step as usize] = true;
            open.push(step);
        }
    }
    while let Some(step) = open.pop() {
        budget.tick()?;
        let Some(it) = work.get(step) else { continue };
        for &(place, _) in &it.inputs {
            if work.is_observed(place) || std::mem::replace(&mut is_needed[place as usize], true) {
                continue;
            }
            for (producer, its) in work.producers(place) {
                if number_of(&its.changes, place) > 0 && !matters[producer as usize] {
                    matters[producer as usize] = true;
                    open.push(producer);
                }
            }
        }
    }
    for step in steps.into_iter().filter(|&step| !matters[step as usize]) {
        work.remove_step(step);
        work.n_applied += 1;
    }
    for place in work.place_list().into_iter().filter(|&place| !is_needed[place as usize]) {
        work.remove_place(place, PlaceState::Removed);
        work.n_applied += 1;
    }
    Ok(())
}

pub(super) fn apply_sources(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    let is_source = |work: &Work<'_>, step: u32| {
        work.get(step).is_some_and(|it| it.inputs.is_empty() && !work.is_visible(it))
    };
    if work.preserve == Preserve::Deadlocks {
        let steps = work.step_list();
        let source =
            steps.iter().copied().find(|&step| work.get(step).is_some_and(|it| it.inputs.is_empty()));
        source.into_iter().for_each(|source| keep_only(work, source));
        return Ok(());
    }
    if !is_about_markings(work) {
        return Ok(());
    }
    for step in work.step_list() {
        budget.tick()?;
        if is_source(work, step) && remove_source(work, step).is_some() {
            work.n_applied += 1;
        }
    }
    Ok(())
}

/// Removes everything but a transition that is always enabled.
fn keep_only(work: &mut Work<'_>, source: u32) {
    let before = work.n_changes;
    for step in work.step_list().into_iter().filter(|&step| step != source) {
        work.remove_step(step);
    }
    for place in work.place_list() {
        if work.is_observed(place) {
            continue;
        }
        work.remove_place(place, PlaceState::Removed);
    }
    work.n_applied += usize::from(work.n_changes > before);
}

/// Nothing if sequences get too long.
fn remove_source(work: &mut Work<'_>, source: u32) -> Option<()> {
    let it = work.get(source)?.clone();
    let mut takers: Vec<u32> =
        it.outputs.iter().flat_map(|&(place, _)| work.consumers(place)).map(|(index, _)| index).collect();
    takers.sort_unstable();
    takers.dedup();
    let mut replaced = Vec::with_capacity(takers.len());
    for taker in takers {
        let step = work.get(taker)?.clone();
        // How often the source must fire for one place: rounded up.
        let times =
            |&(place, given): &(u32, i64)| (number_of(&step.inputs, place) as u64).div_ceil(given as u64);
        let times = it.outputs.iter().map(times).max().unwrap_or(0);
        let part = work.parts.sequence(&[(it.part, times), (step.part, 1)])?;
        replaced.push((taker, Step { part, ..step }));
    }
    for (old, new) in replaced {
        work.remove_step(old);
        work.add(new);
    }
    it.outputs.iter().for_each(|&(place, _)| work.remove_place(place, PlaceState::Removed));
    work.remove_step(source);
    Some(())
}
