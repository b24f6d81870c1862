//! Steps that nobody notices become part of the step before them.
//!
//! A step is *silent* if it is the only one that its process can take where it is, can always be taken there, cannot go
//! wrong, and concerns nobody (see [`local`](crate::local)). An action that brings a process to such a place
//! does the silent step at once; so the place is never seen, and neither is what comes between.
//!
//! Why that keeps deadlocks, reachable values and words up to stuttering: from a state in which a process has a silent
//! step, that step is possible whatever the others do, commutes with all that they do, and changes nothing in
//! question. So in every run in which it is taken at some time it can be taken at once, with the same word up to
//! stuttering. A run in which it is never taken, though others go on for ever, is one with it, too: it can be
//! inserted, and changes nothing that others see. No state with a silent step is a deadlock. Where silent steps go round
//! for ever, each step leads to another one: only so many are merged as come before a place is met again.
//!
//! In the same step (`atomic`), what the process itself does next is merged in the same way; whom it concerns does not
//! matter there, since nobody sees what comes between. But where a process may go round in a step, states to which it
//! comes back are seen: so there it does.
//!
//! # Choices
//! Where a process has several steps of which one at most is possible, none concerns anybody, and what they wait for is
//! its own, it is known where the process goes on as soon as it gets there. So it goes on in the step before
//! (`merged-choices`), as after an action of an `atomic` sequence. The argument is the same, but that the process may
//! also stay where it is for ever; then nothing that others do changes that. On every round of such places it stops once.

use std::collections::BTreeMap;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{ActionId, ProcessId, Stmt, VarId};

use crate::Rule;
use crate::draft::{Draft, Turn, Uses};
use crate::local::{Local, Places};

/// An action stands for no more than this many.
const MAX_MERGED: usize = 32;

/// Which rules may be applied.
pub(crate) struct Rules {
    pub(crate) steps: bool,
    pub(crate) choices: bool,
}

/// Applies the rules.
pub(crate) fn apply(draft: &mut Draft<'_>, rules: &Rules, budget: &mut Budget<'_>) -> Result<(), Limit> {
    let uses = Uses::new(draft, budget)?;
    let places = Places::new(draft, &uses, budget)?;
    let mut ways = Vec::with_capacity(draft.parts.actions.len());
    for action in 0..draft.parts.actions.len() {
        budget.tick()?;
        ways.push(Way::new(draft, &uses, &places, rules, action));
    }
    if rules.choices {
        let goes_on = choices(draft, &places, &ways);
        for &(action, process) in &goes_on {
            ways[action].goes_on = Some(process);
        }
        draft.note(Rule::MergedChoices, goes_on.len());
    }
    let is_merged = |(_, way): &(usize, &Way)| !way.followers.is_empty();
    let merged: Vec<(usize, Vec<Stmt>)> = ways
        .iter()
        .enumerate()
        .filter(is_merged)
        .map(|(action, way)| (action, joined(draft, &uses, action, &way.followers)))
        .collect();
    draft.note(Rule::MergedSteps, merged.len());
    for (action, effect) in merged {
        draft.parts.actions[action].effect = effect;
        let all = std::iter::once(&action).chain(&ways[action].followers);
        draft.stands_for[action] = all.map(|&part| ActionId::new(part)).collect();
    }
    draft.parts.goes_on = ways.into_iter().map(|way| way.goes_on).collect();
    Ok(())
}

/// What an action does at once.
struct Way {
    /// The silent steps that follow it, in order.
    followers: Vec<usize>,
    /// Where it leads with these.
    places: Vec<(VarId, i64)>,
    /// Who goes on then.
    goes_on: Option<ProcessId>,
}

impl Way {
    fn new(draft: &Draft<'_>, uses: &Uses, all: &Places, rules: &Rules, action: usize) -> Way {
        let mut places: Vec<(VarId, i64)> = uses.turns[action]
            .iter()
            .filter(|(var, _)| is_last_word(draft, action, *var))
            .filter_map(|(var, turn)| match turn {
                Turn::To(to) => Some((*var, *to)),
                Turn::Map(_) => None,
            })
            .collect();
        let goes_on = &draft.parts.goes_on;
        let mut passed = places.clone();
        let mut followers = Vec::new();
        let mut chain = goes_on[action];
        let mut at = 0;
        while let Some((var, place)) = places.get(at).copied().filter(|_| rules.steps) {
            let next = all.only(var, place).filter(|step| match chain {
                // Only who goes on may act.
                Some(process) => step.process == process,
                None => step.concerns_nobody && goes_on[step.action].is_none(),
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
        Way { followers, places, goes_on: chain }
    }
}

/// The actions after which a process goes on, since it gets to a choice that concerns nobody.
fn choices(draft: &Draft<'_>, places: &Places, ways: &[Way]) -> Vec<(usize, ProcessId)> {
    let is_choice = |(var, place): (VarId, i64)| {
        let local = places.get(var, place)?;
        // What others do in the same step may concern anybody.
        let ends = |step: &Local| draft.parts.goes_on[step.action].is_none();
        let all_end = local.len() > 1 && local.iter().all(ends);
        all_end.then(|| local[0].process)
    };
    // Where an action leads to such a place, if the step ends there.
    let next = |action: usize| {
        let way = &ways[action];
        let found = way.places.iter().find_map(|&place| Some((place, is_choice(place)?)));
        found.filter(|_| way.goes_on.is_none())
    };
    let mut found = Vec::new();
    let mut is_inside = FixedBitSet::with_capacity(ways.len());
    for ((var, place), local) in places.all() {
        if is_choice((var, place)).is_some() {
            is_inside.extend(local.iter().map(|step| step.action));
        }
    }
    for action in (0..ways.len()).filter(|&action| !is_inside.contains(action)) {
        found.extend(next(action).map(|(_, process)| (action, process)));
    }
    // From choice to choice: depth first, and never back to where the search is.
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Open,
        Done,
    }
    let (mut marks, mut between) = (BTreeMap::new(), Vec::new());
    // An action may be there at several places, and closes a round at some of them.
    let mut closes = FixedBitSet::with_capacity(ways.len());
    for (root, _) in places.all().filter(|(place, _)| is_choice(*place).is_some()) {
        let mut work = vec![(root, 0)];
        while let Some((place, at)) = work.pop() {
            if at == 0 && marks.contains_key(&place) {
                continue;
            }
            marks.insert(place, Mark::Open);
            let Some(step) = places.get(place.0, place.1).and_then(|local| local.get(at)) else {
                marks.insert(place, Mark::Done);
                continue;
            };
            work.push((place, at + 1));
            match next(step.action) {
                Some((to, _)) if marks.get(&to) == Some(&Mark::Open) => closes.insert(step.action),
                Some((to, process)) => {
                    between.push((step.action, process));
                    work.push((to, 0));
                }
                None => {}
            }
        }
    }
    found.extend(between.into_iter().filter(|(action, _)| !closes.contains(*action)));
    found
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
