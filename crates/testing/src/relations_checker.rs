//! Watches a system run and checks that nothing happens that its relations do not list: the idea
//! of LTSmin's `pins2pins-check`.

use base::Budget;
use model::reference::{self, Values};
use model::relations::Change;
use model::{ActionId, ActionSystem, Guard, GuardId, QueueUse, Relations, ValueSet, VarId};
use por::StubbornSets;

/// Checks the relations in all the given states and on the steps from them. States and steps in
/// which the model goes wrong are passed over.
pub fn check(system: &ActionSystem, states: &[Values]) -> Result<(), String> {
    let budget = &mut Budget::unlimited();
    let relations = Relations::new(system, budget).map_err(|limit| limit.to_string())?;
    let sets = StubbornSets::new(system, &relations, budget).map_err(|limit| limit.to_string())?;
    check_interference(system, &relations)?;
    for state in states {
        check_needs(system, &relations, &sets, state)?;
        let Ok(enabled) = reference::enabled(system, state) else { continue };
        for (action, target) in reference::successors(system, state).unwrap_or_default() {
            check_step(system, &relations, state, system.first(action), &target)?;
        }
        check_pairs(system, &relations, state, &enabled)?;
    }
    for pair in states.windows(2) {
        check_reads(system, &relations, &pair[0], &pair[1])?;
    }
    Ok(())
}

fn check_step(
    system: &ActionSystem,
    relations: &Relations,
    state: &Values,
    action: ActionId,
    target: &Values,
) -> Result<(), String> {
    for (var, (before, after)) in state.iter().zip(target).enumerate() {
        if before != after && !relations.writes(action).iter().any(|written| written.index() == var) {
            return Err(format!("{action:?} writes variable {var}, in {state:?}"));
        }
    }
    for (id, guard) in system.guards().iter().enumerate() {
        let id = GuardId::new(id);
        let holds = |values: &Values| reference::guard_holds(system, guard, values);
        let listed = match (holds(state), holds(target)) {
            (Ok(false), Ok(true)) => relations.enablers(id),
            (Ok(true), Ok(false)) => relations.disablers(id),
            _ => continue,
        };
        if !relations.is_among(listed, action) {
            return Err(format!("{action:?} flips {id:?} ({guard:?}), in {state:?}"));
        }
    }
    for id in (0..system.guards().len()).map(GuardId::new) {
        let Some((len, listed)) = relations.enablers_in_front(system, id) else { continue };
        let holds = |values: &Values| reference::guard_holds(system, &system.guards()[id.index()], values);
        let flips = holds(state) == Ok(false) && holds(target) == Ok(true);
        if state[len.index()] > 0 && (flips || target[len.index()] == 0) && !listed.contains(&action) {
            return Err(format!("{action:?} flips {id:?} in front or empties the queue, in {state:?}"));
        }
    }
    Ok(())
}

/// Two actions interfere as the definition says, in which nothing is put together by variables.
fn check_interference(system: &ActionSystem, relations: &Relations) -> Result<(), String> {
    let passed = |a: ActionId, b: ActionId| match (relations.queue_use(a), relations.queue_use(b)) {
        (Some(QueueUse::Put(to)), Some(QueueUse::Take(from))) if to == from => Some(to),
        (Some(QueueUse::Take(from)), Some(QueueUse::Put(to))) if to == from => Some(to),
        _ => None,
    };
    let counts = |var: &VarId, passed: Option<u32>| passed.is_none() || system.queue_of(*var) != passed;
    let disables = |a: ActionId, b: ActionId| {
        system.action(b).guards.iter().any(|&guard| {
            let mut others = relations.guard_reads(guard).iter().filter(|var| counts(var, passed(a, b)));
            let is_quiet = system.guards()[guard.index()] == Guard::Quiet;
            relations.is_among(relations.disablers(guard), a)
                && (is_quiet || others.any(|var| relations.writes(a).contains(var)))
        })
    };
    let conflict = |a: ActionId, b: ActionId| {
        relations.writes(a).iter().filter(|var| counts(var, passed(a, b))).any(|&var| {
            let is_read = relations.effect_reads(b).contains(&var);
            let is_used = is_read || relations.writes(b).contains(&var);
            is_used
                && match (relations.change(system, a, var), relations.change(system, b, var)) {
                    (Change::By(_), Change::By(_)) => false,
                    (Change::To(x), Change::To(y)) => x != y || is_read,
                    _ => true,
                }
        })
    };
    let sets = |action: ActionId| {
        system.action(action).guards.iter().filter_map(|guard| match &system.guards()[guard.index()] {
            Guard::In(var, set) => Some((*var, set)),
            Guard::True(_) | Guard::Quiet => None,
        })
    };
    let is_apart = |a: ActionId, b: ActionId| {
        let first = |var: VarId| sets(b).find(|(its, _)| *its == var).map(|(_, set)| set);
        sets(a).any(|(var, set)| {
            let values = |set: &ValueSet| set.values_within(-64, 64).collect::<Vec<i64>>();
            first(var).is_some_and(|other| !values(set).iter().any(|value| other.contains(*value)))
        })
    };
    for a in (0..system.actions().len()).map(ActionId::new) {
        for b in (0..system.actions().len()).map(ActionId::new).filter(|&b| b != a) {
            let expected = system.is_quiet(a) == system.is_quiet(b)
                && !is_apart(a, b)
                && (disables(a, b) || disables(b, a) || conflict(a, b) || conflict(b, a));
            if relations.interferes(system, a, b) != expected {
                return Err(format!("{a:?} and {b:?} interfere: {expected}"));
            }
        }
    }
    Ok(())
}

/// What the reduction brings along with an action is all that interferes with it, but for those that one of their
/// guards on a single variable keeps from happening now; and nothing that has no variable in common with it.
fn check_needs(
    system: &ActionSystem,
    relations: &Relations,
    sets: &StubbornSets<'_>,
    state: &Values,
) -> Result<(), String> {
    let Ok(packed) = system.layout().encode(state) else { return Ok(()) };
    let holds = |guard: &GuardId| match &system.guards()[guard.index()] {
        Guard::In(var, set) => set.contains(state[var.index()]),
        Guard::True(_) | Guard::Quiet => true,
    };
    let mentions = |action: ActionId, var: VarId| {
        let guards = &system.action(action).guards;
        relations.writes(action).contains(&var)
            || relations.effect_reads(action).contains(&var)
            || guards.iter().any(|guard| relations.guard_reads(*guard).contains(&var))
    };
    let meet = |a: ActionId, b: ActionId| {
        let vars = (0..system.variables().len()).map(VarId::new);
        let is_common =
            |var: VarId| mentions(a, var) && mentions(b, var) && !relations.writers(var).is_empty();
        vars.into_iter().any(is_common) || system.is_quiet(a) && system.is_quiet(b)
    };
    for a in (0..system.actions().len()).map(ActionId::new) {
        let needs = sets.needs(&packed, a);
        for b in (0..system.actions().len()).map(ActionId::new).filter(|&b| b != a) {
            let is_needed = needs.binary_search(&b).is_ok();
            let must_be = relations.interferes(system, a, b) && system.action(b).guards.iter().all(holds);
            if must_be && !is_needed || is_needed && !meet(a, b) {
                return Err(format!("{a:?} brings along {b:?}: {is_needed}, in {state:?}"));
            }
        }
    }
    Ok(())
}

/// Enabled actions that do not interfere can be taken in both orders, to the same end.
fn check_pairs(
    system: &ActionSystem,
    relations: &Relations,
    state: &Values,
    enabled: &[ActionId],
) -> Result<(), String> {
    let both = |first: ActionId, second: ActionId| {
        let mut ends = Vec::new();
        for middle in targets(system, first, state).ok()? {
            let mut last = targets(system, second, &middle).ok()?;
            if last.is_empty() {
                return Some(None);
            }
            ends.append(&mut last);
        }
        ends.sort_unstable();
        ends.dedup();
        Some(Some(ends))
    };
    for &a in enabled {
        for &b in enabled {
            if a >= b || relations.interferes(system, a, b) {
                continue;
            }
            // A fault in one order only is no disagreement about the relations.
            if let (Some(ab), Some(ba)) = (both(a, b), both(b, a))
                && (ab.is_none() || ab != ba)
            {
                return Err(format!("{a:?} and {b:?} disturb each other, in {state:?}: {ab:?}, {ba:?}"));
            }
        }
    }
    Ok(())
}

/// The states after all steps that begin with an action.
fn targets(system: &ActionSystem, action: ActionId, state: &Values) -> Result<Vec<Values>, model::Fault> {
    let steps = reference::successors(system, state)?.into_iter();
    Ok(steps.filter(|(step, _)| system.first(*step) == action).map(|(_, target)| target).collect())
}

/// States that agree on what is read agree on what follows. (Of chains, only the first action.)
fn check_reads(system: &ActionSystem, relations: &Relations, s: &Values, t: &Values) -> Result<(), String> {
    let guards = system.guards().iter().enumerate();
    for (id, guard) in guards.filter(|(_, guard)| **guard != Guard::Quiet) {
        // Take over from `s` everything that the guard reads: then it must have the same value.
        let mut mixed = t.clone();
        relations.guard_reads(GuardId::new(id)).iter().for_each(|var| mixed[var.index()] = s[var.index()]);
        if reference::guard_holds(system, guard, &mixed) != reference::guard_holds(system, guard, s) {
            return Err(format!("guard {id} reads more than it says, in {s:?} and {mixed:?}"));
        }
    }
    for id in (0..system.actions().len()).map(ActionId::new) {
        let mut mixed = t.clone();
        relations.effect_reads(id).iter().for_each(|var| mixed[var.index()] = s[var.index()]);
        let (after_s, after_mixed) = (reference::act(system, id, s), reference::act(system, id, &mixed));
        let (Ok(after_s), Ok(after_mixed)) = (&after_s, &after_mixed) else {
            if after_s != after_mixed {
                return Err(format!("{id:?} reads more than it says, in {s:?} and {mixed:?}"));
            }
            continue;
        };
        for var in relations.writes(id).iter().map(|var| var.index()) {
            let unchanged = after_s[var] == s[var] && after_mixed[var] == mixed[var];
            if after_s[var] != after_mixed[var] && !unchanged {
                return Err(format!("{id:?} reads more than it says, in {s:?} and {mixed:?}"));
            }
        }
    }
    Ok(())
}
