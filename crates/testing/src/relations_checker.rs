//! Watches a system run and checks that nothing happens that its relations do not list: the idea
//! of LTSmin's `pins2pins-check`.

use model::reference::{self, Values};
use model::{ActionId, ActionSystem, Guard, GuardId, Relations};

/// Checks the relations in all the given states and on the steps from them. States and steps in
/// which the model goes wrong are passed over.
pub fn check(system: &ActionSystem, states: &[Values]) -> Result<(), String> {
    let relations = Relations::new(system);
    for state in states {
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
        if !listed.contains(&action) {
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
        let mut listed = Vec::new();
        relations.interfering(system, a, &mut listed);
        for &b in enabled {
            let interferes = relations.interferes(system, a, b);
            if a != b && interferes != listed.contains(&b) {
                return Err(format!("{a:?} and {b:?}: listed and asked for differ"));
            }
            if a >= b || interferes {
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
