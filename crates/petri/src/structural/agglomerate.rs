//! Two transitions in a row become one: post-agglomeration, pre-agglomeration, free agglomeration.
//!
//! Let *H* be the transitions that put tokens into a place *p*, and *F* those that take some; no transition
//! is both, and *p* has initially too few tokens for anyone in *F*. (It is not observed, since those who
//! must be invisible change it.) *H* and *F* are
//! replaced by "some of *H*, then some of *F*", and *p* goes.
//!
//! # Post-agglomeration
//! Conditions: those in *F* need nothing but *p*, all the same number *b* of tokens, and change nothing
//! observed; those in *H* give multiples of *b*. Then an *h* and as many *f* as its tokens are for become one
//! transition, for every choice of these.
//!
//! Why: let a run be given, infinite or ending in a deadlock. After an *h*, its *f* can fire at once: they
//! need nothing else, and what they give does not harm. So put them there; if an *f* never comes, insert
//! one. (If the run ends, every *f* has come: it was enabled.) Only invisible steps were moved, so the word
//! stays. The run stays infinite: *F* alone cannot go on for ever, since nobody in *F* gives tokens to *p*.
//! Where the reduced net is dead, so is the original, and vice versa: `h f…` needs what *h* needs. That
//! preserves words, deadlocks and, since the *f* that are still to come are invisible, markings. If |*F*| = 1
//! and *p* has tokens at first, *f* fires as long as it can before everything else (the prologue).
//!
//! # Pre-agglomeration
//! Conditions: those in *H* give nothing but the same number *a* of tokens to *p*, change nothing observed,
//! need something, and no other transition takes tokens from the places that an *h* takes tokens from; those
//! in *F* need multiples of *a*.
//!
//! Why: let a run be given. An *h* can wait until its tokens are needed: what it needs stays there, since
//! only *h* takes it. If they are never needed, leave it out. The run stays infinite, since *H* alone cannot
//! go on for ever. If the run ends in a deadlock *m*, the reduced one ends in *m'*, where the inputs of *h*
//! that were left out are still there. No `h… f` is enabled in *m'*: as many *h* as could fire in *m'* did
//! fire before *m*, and no *f* is enabled there. Nothing else is: nobody else takes tokens from the inputs of
//! *H*. Conversely, if the reduced net is dead, the original fires *h* as long as it can, and then is
//! dead, too: these firings are the [leftovers](super::work::Work::leftovers).
//!
//! # Free agglomeration
//! The same, but others may take tokens from the inputs of *h*, and *h* may need nothing. An *h* that
//! waits still leaves more tokens for others, so runs in which all *h* are used are as before, and those
//! that are not used can be left out, as far as only the markings of observed places count
//! ([`Reachability`](super::Preserve::Reachability)). But with its inputs left, others may be enabled:
//! deadlocks and words are not preserved.
//!
//! # Not if deadlocks are observed together with something else
//! Between *h* and *f*, the net is not dead, and that may be seen.
//!
//! # References
//! Berthelot, *Transformations and decompositions of nets* (1987); Poitrenaud and Pradat-Peyre, *Pre- and
//! post-agglomerations for LTL model checking* (ICATPN 2000); Haddad and Pradat-Peyre, *New efficient Petri
//! nets reductions for parallel programs verification* (2006), whose algebraic conditions are wider; free
//! agglomeration: Thierry-Mieg, *Structural reductions revisited* (Petri Nets 2020). Weights other than 1
//! and initial tokens are ours, with the proofs above.

use std::collections::VecDeque;

use base::{Budget, Limit};
use language::Preserve;

use super::parts::PartId;
use super::work::{PlaceState, Step, Work};
use crate::sparse::number_of;

/// Which of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Post,
    Pre,
    Free,
}

/// Places with more neighbors are left alone.
pub(super) const MAX_DEGREE: usize = 400;
/// So many transitions may be more than before.
const MAX_MORE: usize = 4;
/// No transition is repeated more often than that.
const MAX_REPEATED: i64 = 64;

pub(super) fn apply(work: &mut Work<'_>, kind: Kind, budget: &mut Budget<'_>) -> Result<(), Limit> {
    if !is_right(work, kind) {
        return Ok(());
    }
    work.tidy_up();
    let mut open: VecDeque<u32> = work.place_list().into();
    let mut is_open = vec![false; work.places.len()];
    open.iter().for_each(|&place| is_open[place as usize] = true);
    while let Some(place) = open.pop_front() {
        budget.tick()?;
        is_open[place as usize] = false;
        let Some(near) = agglomerate(work, kind, place) else { continue };
        work.n_applied += 1;
        for place in near.into_iter().filter(|&place| work.is_here(place)) {
            if !std::mem::replace(&mut is_open[place as usize], true) {
                open.push_back(place);
            }
        }
    }
    Ok(())
}

/// Whether the rule is right for what is kept.
pub(super) fn is_right(work: &Work<'_>, kind: Kind) -> bool {
    let is_about_markings = work.preserve == Preserve::Reachability;
    !work.observes_deadlock && (kind != Kind::Free || is_about_markings)
}

/// The transitions around a place.
pub(super) struct Around {
    pub(super) before: Vec<(u32, Step)>,
    pub(super) after: Vec<(u32, Step)>,
}

/// Applies the rule to a place, if it is right there and pays; returns the places nearby.
fn agglomerate(work: &mut Work<'_>, kind: Kind, place: u32) -> Option<Vec<u32>> {
    if !work.is_here(place) || work.degree(place) > MAX_DEGREE {
        return None;
    }
    let unit = match kind {
        Kind::Post => post_unit(work, place)?,
        Kind::Pre | Kind::Free => pre_unit(work, place, kind)?,
    };
    let owned = |(index, step): (u32, &Step)| (index, step.clone());
    let around = Around {
        before: work.producers(place).map(owned).collect(),
        after: work.consumers(place).map(owned).collect(),
    };
    if around.before.is_empty() || around.after.is_empty() {
        return None;
    }
    // Initial tokens that are enough for somebody must be used up first, and there must be no choice.
    let first = work.initial(place) / unit;
    let may_start = first == 0 || (kind == Kind::Post && around.after.len() == 1);
    let merged = may_start.then(|| merge(work, kind, place, unit, &around)).flatten()?;
    start(work, place, unit, first, &around.after[0].1)?;
    Some(replace(work, kind, place, around, merged))
}

/// How many tokens everybody takes, if post-agglomeration is right.
fn post_unit(work: &Work<'_>, place: u32) -> Option<i64> {
    let unit = unit_after(work, place)?;
    work.producers(place).all(|(_, step)| number_of(&step.outputs, place) % unit == 0).then_some(unit)
}

/// The same, whatever the others give.
pub(super) fn unit_after(work: &Work<'_>, place: u32) -> Option<i64> {
    let mut unit = None;
    for (_, step) in work.consumers(place) {
        let [(_, weight)] = step.inputs[..] else { return None };
        let is_alike = *unit.get_or_insert(weight) == weight;
        if !is_alike || work.is_visible(step) || number_of(&step.outputs, place) != 0 {
            return None;
        }
    }
    unit
}

/// How many tokens everybody gives, if pre-agglomeration or free agglomeration is right.
fn pre_unit(work: &Work<'_>, place: u32, kind: Kind) -> Option<i64> {
    let unit = unit_before(work, place, kind)?;
    work.consumers(place).all(|(_, step)| number_of(&step.inputs, place) % unit == 0).then_some(unit)
}

/// The same, whatever the others take.
pub(super) fn unit_before(work: &Work<'_>, place: u32, kind: Kind) -> Option<i64> {
    let mut unit = None;
    for (index, step) in work.producers(place) {
        let [(_, weight)] = step.outputs[..] else { return None };
        let is_alike = *unit.get_or_insert(weight) == weight;
        if !is_alike || work.is_visible(step) || number_of(&step.inputs, place) != 0 {
            return None;
        }
        let is_alone = |&(input, _): &(u32, i64)| work.consumers(input).all(|(other, _)| other == index);
        if kind == Kind::Pre && (step.inputs.is_empty() || !step.inputs.iter().all(is_alone)) {
            return None;
        }
    }
    unit
}

/// The new transitions; nothing if there are too many, or numbers get too large.
pub(super) fn merge(
    work: &mut Work<'_>,
    kind: Kind,
    place: u32,
    unit: i64,
    around: &Around,
) -> Option<Vec<Step>> {
    let Around { before, after } = around;
    let max_new = before.len() + after.len() + MAX_MORE;
    let (single, many) = if kind == Kind::Post { (before, after) } else { (after, before) };
    let mut merged: Vec<Step> = Vec::new();
    for (_, one) in single {
        let weight = number_of(if kind == Kind::Post { &one.outputs } else { &one.inputs }, place);
        for choice in choices(many.len(), weight / unit, max_new.checked_sub(merged.len())?)? {
            let chosen = || many.iter().map(|(_, step)| step).zip(choice.iter().copied());
            let mut repeated = chosen().flat_map(|(step, times)| std::iter::repeat_n(step, times as usize));
            let mut parts: Vec<(PartId, u64)> =
                chosen().map(|(step, times)| (step.part, times as u64)).collect();
            let step = if kind == Kind::Post {
                parts.insert(0, (one.part, 1));
                repeated.try_fold(one.clone(), |all, next| all.then(next))?
            } else {
                parts.push((one.part, 1));
                let first = repeated.next()?.clone();
                repeated.chain([one]).try_fold(first, |all, next| all.then(next))?
            };
            let part = work.parts.sequence(&parts)?;
            merged.push(Step { part, ..step });
        }
    }
    let arcs = |steps: &mut dyn Iterator<Item = &Step>| {
        steps.map(|step| step.inputs.len() + step.outputs.len()).sum::<usize>()
    };
    let old = arcs(&mut before.iter().chain(after).map(|(_, step)| step));
    let new = arcs(&mut merged.iter());
    (new <= old || (new <= 2 * old && work.n_arcs + new <= work.max_arcs)).then_some(merged)
}

/// All ways to choose `n` out of some, with repetition and in no order: how often each is chosen.
/// Nothing if there are more than `max`, or too many are chosen.
fn choices(some: usize, n: i64, max: usize) -> Option<Vec<Vec<i64>>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), n)];
    while let Some((chosen, left)) = open.pop() {
        if n > MAX_REPEATED || found.len() + open.len() > max {
            return None;
        }
        if chosen.len() + 1 == some {
            found.push(chosen.into_iter().chain([left]).collect());
            continue;
        }
        open.extend((0..=left).map(|times| {
            let mut chosen = chosen.clone();
            chosen.push(times);
            (chosen, left - times)
        }));
    }
    (found.len() <= max).then_some(found)
}

/// Lets the only transition that takes tokens from a place fire first, as often as it can.
fn start(work: &mut Work<'_>, place: u32, unit: i64, times: i64, after: &Step) -> Option<()> {
    if times > 0 {
        let mut initial = Vec::with_capacity(after.outputs.len());
        for &(output, weight) in &after.outputs {
            initial.push((output, work.initial(output).checked_add(weight.checked_mul(times)?)?));
        }
        let part = work.parts.sequence(&[(after.part, times as u64)])?;
        work.prologue.push(part);
        initial.into_iter().for_each(|(output, tokens)| work.initial[output as usize] = tokens);
        work.initial[place as usize] %= unit;
    }
    Some(())
}

fn replace(work: &mut Work<'_>, kind: Kind, place: u32, around: Around, merged: Vec<Step>) -> Vec<u32> {
    let mut near: Vec<u32> = Vec::new();
    for (_, step) in around.before.iter().chain(&around.after) {
        near.extend(step.inputs.iter().chain(&step.outputs).map(|(place, _)| *place));
    }
    near.sort_unstable();
    near.dedup();
    for (index, step) in around.before {
        work.remove_step(index);
        if kind == Kind::Pre {
            work.leftovers.push(step.part);
        }
    }
    around.after.iter().for_each(|(index, _)| work.remove_step(*index));
    merged.into_iter().for_each(|step| {
        work.add(step);
    });
    work.remove_place(place, PlaceState::Removed);
    near
}

#[cfg(test)]
mod tests {
    use super::choices;

    #[test]
    fn choices_are_all_and_not_too_many() {
        let mut found = choices(2, 2, 10).unwrap();
        found.sort();
        assert_eq!(found, [[0, 2], [1, 1], [2, 0]]);
        assert_eq!(choices(1, 5, 1).unwrap(), [[5]]);
        assert_eq!(choices(3, 2, 6).unwrap().len(), 6);
        assert_eq!(choices(3, 2, 5), None);
        assert_eq!(choices(1, 65, 10), None);
    }
}
