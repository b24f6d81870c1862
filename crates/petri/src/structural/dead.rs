//! Transitions that can never fire.
//!
//! # Idea
//! Two reasons are looked for. First, start from the initial marking and believe of every transition
//! that may fire that it can give any number of tokens to the places that it increases; what cannot
//! fire even so never can (the places that stay too empty are a siphon that has too few tokens). Second,
//! a transition that needs more of a weighted sum of tokens than there ever is can never fire
//! (`invariants`).
//!
//! # What it preserves
//! Everything: a transition that never fires is in no run, and makes no marking other than a deadlock.
//!
//! # References
//! Rule E of Bønneland, Dyhr, Jensen, Johannsen and Srba, *Stubborn versus structural reductions for
//! Petri nets* (JLAMP 2019), which knows only places that nothing can fill.

use base::{Budget, Limit};

use super::work::Work;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    let may_fire = may_fire(work, budget)?;
    let mut dead: Vec<u32> = work.step_list().into_iter().filter(|&step| !may_fire[step as usize]).collect();
    dead.extend(exceeding(work, budget)?);
    dead.sort_unstable();
    dead.dedup();
    dead.iter().for_each(|&step| work.remove_step(step));
    work.n_applied += dead.len();
    Ok(())
}

/// The transitions that can fire if places that can grow have as many tokens as one likes.
fn may_fire(work: &Work<'_>, budget: &mut Budget<'_>) -> Result<Vec<bool>, Limit> {
    let steps = work.step_list();
    let n_steps = steps.last().map_or(0, |last| *last as usize + 1);
    let mut may_fire = vec![false; n_steps];
    // Per transition, how many of its input places are too empty.
    let mut missing = vec![0u32; n_steps];
    let mut grows = vec![false; work.places.len()];
    let mut open = Vec::new();
    for &step in &steps {
        let Some(it) = work.get(step) else { continue };
        let lacks = it.inputs.iter().filter(|&&(place, weight)| work.initial(place) < weight);
        missing[step as usize] = lacks.count() as u32;
        if missing[step as usize] == 0 {
            open.push(step);
        }
    }
    while let Some(step) = open.pop() {
        budget.tick()?;
        may_fire[step as usize] = true;
        let Some(it) = work.get(step) else { continue };
        for &(place, _) in it.changes.iter().filter(|(_, change)| *change > 0) {
            if std::mem::replace(&mut grows[place as usize], true) {
                continue;
            }
            for (consumer, other) in work.consumers(place) {
                if crate::sparse::number_of(&other.inputs, place) > work.initial(place) {
                    missing[consumer as usize] -= 1;
                    if missing[consumer as usize] == 0 {
                        open.push(consumer);
                    }
                }
            }
        }
    }
    Ok(may_fire)
}

/// The transitions that need more of a sum than there is.
fn exceeding(work: &Work<'_>, budget: &mut Budget<'_>) -> Result<Vec<u32>, Limit> {
    let mut needed: Vec<i128> = vec![0; work.step_list().last().map_or(0, |last| *last as usize + 1)];
    let mut dead = Vec::new();
    for sum in work.sums {
        budget.tick()?;
        // Tokens of a place that was merged with another are not counted: they may be the other's.
        let counts = |(place, _): &&(u32, i64)| work.is_here(*place) && !work.is_joined(*place);
        for &(place, weight) in sum.places.iter().filter(counts) {
            for (step, it) in work.consumers(place) {
                let tokens = i128::from(crate::sparse::number_of(&it.inputs, place));
                let needed = &mut needed[step as usize];
                *needed = needed.saturating_add(tokens.saturating_mul(i128::from(weight)));
                if *needed > sum.total {
                    dead.push(step);
                }
            }
        }
        for &(place, _) in sum.places.iter().filter(counts) {
            work.consumers(place).for_each(|(step, _)| needed[step as usize] = 0);
        }
    }
    Ok(dead)
}
