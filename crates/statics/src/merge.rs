//! Steps that nobody notices become part of the step before them.
//!
//! A step is *silent* if it is the only one that its process can take where it is, can always be taken there, cannot go
//! wrong, and concerns nobody: while the process is there, nobody else reads or writes what it writes, or
//! writes what it reads, and nothing that it writes is in question. An action that brings a process to such a place
//! does the silent step at once; so the place is never seen, and neither is what comes between.
//!
//! Why that keeps deadlocks, reachable values and words up to stuttering: from a state in which a process has a silent
//! step, that step is possible whatever the others do, commutes with all that they do, and changes nothing in
//! question. So in every run in which it is taken at some time it can be taken at once, with the same word up to
//! stuttering. A run in which it is never taken, though others go on for ever, is one with it, too: it can be
//! inserted, and changes nothing that others see. No state with a silent step is a deadlock. Where silent steps go round
//! for ever, each step leads to another one: only so many are merged as come before a place is met again.
//!
//! In the same step (`atomic`), what the process itself does next is merged in the same way.

use base::{Budget, Limit};
use model::{Guard, GuardId, ProcessId, Stmt, VarId};

use crate::Rule;
use crate::bounds::Bounds;
use crate::draft::{Draft, Turn, Uses};
use model::ActionId;

/// An action stands for no more than this many.
const MAX_MERGED: usize = 32;

/// A silent step out of a place.
#[derive(Clone, Copy)]
struct Silent {
    action: usize,
    process: ProcessId,
    /// Where it leads.
    to: i64,
}

/// Applies the rule.
pub(crate) fn apply(draft: &mut Draft<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    let uses = Uses::new(draft, budget)?;
    let silent = find(draft, &uses, budget)?;
    let mut merged = Vec::new();
    for action in 0..draft.parts.actions.len() {
        budget.tick()?;
        let followers = followers(draft, &uses, &silent, action);
        if !followers.is_empty() {
            merged.push((action, followers));
        }
    }
    let effects: Vec<(usize, Vec<Stmt>)> = merged
        .iter()
        .map(|(action, followers)| (*action, joined(draft, &uses, *action, followers)))
        .collect();
    let goes_on = draft.parts.goes_on.clone();
    for ((action, effect), (_, followers)) in effects.into_iter().zip(&merged) {
        draft.parts.actions[action].effect = effect;
        if goes_on[action].is_some() {
            let last_of_chain = followers.iter().find(|&&follower| goes_on[follower].is_none());
            draft.parts.goes_on[action] = match last_of_chain {
                Some(_) => None,
                None => goes_on[action],
            };
        }
        let all = std::iter::once(&action).chain(followers);
        draft.stands_for[action] = all.map(|&part| ActionId::new(part)).collect();
    }
    draft.note(Rule::MergedSteps, merged.len());
    Ok(())
}

/// Per variable that steers and value of it, counted from the least: the silent step there.
fn find(draft: &Draft<'_>, uses: &Uses, budget: &mut Budget<'_>) -> Result<Vec<Vec<Option<Silent>>>, Limit> {
    let parts = &draft.parts;
    let bounds = Bounds::new(draft);
    // Per variable and value: the actions that may happen there, as far as one is needed.
    let mut at: Vec<Vec<Vec<u32>>> = vec![Vec::new(); parts.variables.len()];
    for action in 0..parts.actions.len() {
        for &(var, _) in &uses.tests[action] {
            let (lo, hi) = draft.range(var);
            let places = &mut at[var.index()];
            places.resize((hi - lo + 1) as usize, Vec::new());
            for value in uses.test(draft, action, var).into_iter().flat_map(|set| set.values_within(lo, hi)) {
                budget.tick()?;
                let here = &mut places[(value - lo) as usize];
                if here.len() < 2 {
                    here.push(action as u32);
                }
            }
        }
    }
    // Per process: the actions that it takes part in, each with the variables that it tests.
    let mut owned: Vec<Vec<u32>> = Vec::new();
    for (index, action) in parts.actions.iter().enumerate() {
        for owner in &action.owners {
            if owned.len() <= owner.index() {
                owned.resize(owner.index() + 1, Vec::new());
            }
            owned[owner.index()].push(index as u32);
        }
    }
    let mut silent = vec![Vec::new(); parts.variables.len()];
    for (index, places) in at.iter().enumerate() {
        let var = VarId::new(index);
        if draft.fixed.contains(index) {
            continue;
        }
        let lo = draft.range(var).0;
        for (place, here) in places.iter().enumerate() {
            budget.tick()?;
            let found = match here[..] {
                [action] => {
                    let place = lo + place as i64;
                    is_silent(draft, uses, &bounds, &owned, var, place, action as usize)
                }
                _ => None,
            };
            silent[index].push(found);
        }
    }
    Ok(silent)
}

/// The silent step that an action is, if it is the only one that tests a variable for this value.
fn is_silent(
    draft: &Draft<'_>,
    uses: &Uses,
    bounds: &Bounds,
    owned: &[Vec<u32>],
    var: VarId,
    place: i64,
    action: usize,
) -> Option<Silent> {
    let parts = &draft.parts;
    let its = &parts.actions[action];
    // Nobody goes on alone right after a step that nobody goes on after.
    let is_about_holder = |guard: &GuardId| match parts.guards[guard.index()] {
        Guard::In(tested, _) => Some(tested) == draft.holder,
        _ => false,
    };
    let guards: Vec<GuardId> = its.guards.iter().copied().filter(|guard| !is_about_holder(guard)).collect();
    let ([guard], [process], Some(Turn::To(to))) = (&guards[..], &its.owners[..], uses.turn(action, var))
    else {
        return None;
    };
    let only_test = |guard: &GuardId| {
        uses.tests[action].iter().any(|(tested, at)| *tested == var && *at == guard.index())
    };
    let reads = &uses.effect_reads[action];
    if !only_test(guard) || reads.contains(&var) || !its.effect.iter().all(|stmt| bounds.is_harmless(stmt)) {
        return None;
    }
    // Whoever may act while the process is there.
    let is_apart = |user: u32| {
        user as usize == action
            || uses.test(draft, user as usize, var).is_some_and(|values| !values.contains(place))
    };
    let users = |var: &VarId| uses.users[var.index()].iter().copied();
    let writers = |var: &VarId| {
        let var = *var;
        users(&var).filter(move |&user| uses.writes[user as usize].binary_search(&var).is_ok())
    };
    let is_free = |var: &VarId| !draft.fixed.contains(var.index()) && !draft.queued.contains(var.index());
    let concerns_nobody = uses.writes[action].iter().all(|var| is_free(var) && users(var).all(is_apart))
        && reads.iter().all(|var| writers(var).all(is_apart));
    // Nothing else is possible for the process there.
    let is_alone = owned[process.index()].iter().all(|&action| uses.tests(action as usize, var));
    (concerns_nobody && is_alone).then_some(Silent { action, process: *process, to })
}

/// The silent steps that an action is followed by, in order.
fn followers(draft: &Draft<'_>, uses: &Uses, silent: &[Vec<Option<Silent>>], action: usize) -> Vec<usize> {
    let goes_on = &draft.parts.goes_on;
    let mut places: Vec<(VarId, i64)> = uses.turns[action]
        .iter()
        .filter(|(var, _)| is_last_word(draft, action, *var))
        .filter_map(|(var, turn)| match turn {
            Turn::To(to) => Some((*var, *to)),
            Turn::Map(_) => None,
        })
        .collect();
    let mut passed = places.clone();
    let mut followers = Vec::new();
    let mut chain = goes_on[action];
    let mut at = 0;
    while let Some((var, place)) = places.get(at).copied() {
        let lo = draft.range(var).0;
        let step = silent[var.index()].get((place - lo) as usize).copied().flatten();
        let next = step.filter(|step| match chain {
            // Only who goes on may act.
            Some(process) => step.process == process,
            None => goes_on[step.action].is_none(),
        });
        match next {
            Some(step) if followers.len() < MAX_MERGED && !passed.contains(&(var, step.to)) => {
                followers.push(step.action);
                chain = goes_on[step.action];
                passed.push((var, step.to));
                places[at].1 = step.to;
                // Others may have waited for the chain to end.
                at = 0;
            }
            _ => at += 1,
        }
    }
    followers
}

/// Whether an action sets a variable at the top of its effect and does not look at it afterwards.
fn is_last_word(draft: &Draft<'_>, action: usize, var: VarId) -> bool {
    let effect = &draft.parts.actions[action].effect;
    let Some(at) = effect.iter().rposition(|stmt| matches!(stmt, Stmt::Set(set, _) if *set == var)) else {
        return false;
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    model::relations::uses(draft.exprs, &effect[at + 1..], &mut reads, &mut writes);
    !reads.contains(&var)
}

/// The effect of an action and its followers. That a place was passed is left out: the last word stands.
fn joined(draft: &Draft<'_>, uses: &Uses, action: usize, followers: &[usize]) -> Vec<Stmt> {
    let mut effect: Vec<Stmt> = draft.parts.actions[action].effect.clone();
    for &follower in followers {
        let moved: Vec<VarId> = uses.turns[follower].iter().map(|(var, _)| *var).collect();
        let place = uses.tests[follower].iter().map(|(var, _)| *var).find(|&var| Some(var) != draft.holder);
        if let Some(place) = place.filter(|place| moved.contains(place)) {
            effect.retain(|stmt| !matches!(stmt, Stmt::Set(var, _) if *var == place));
        }
        effect.extend(draft.parts.actions[follower].effect.iter().cloned());
    }
    effect
}
