//! Runs without what they can do without, of random systems: each is a run by the definition, it leads to what the longer
//! one led to, and no single step of it can be left out.

use std::cell::Cell;

use base::Budget;
use check::Goal;
use check::thin::{End, thin};
use model::reference::{self, Values};
use model::{ActionId, ActionSystem, Run, Steps, System as _};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::{assert_met, run_cases, systems};

const MAX_STEPS: usize = 120;

/// A random run to something that can be looked for.
fn walk(system: &ActionSystem, random: &[usize]) -> Option<(Run, End)> {
    let n_propositions = system.n_propositions();
    let mut initial = Vec::new();
    system.initial_states(&mut initial);
    let mut state = initial.chunks_exact(system.width()).next()?.to_vec();
    let (mut scratch, mut steps) = (system.new_scratch(), Steps::new(system.width()));
    let (mut actions, mut best) = (Vec::new(), None);
    for &random in random {
        steps.clear();
        let run = || Run { initial: 0, actions: actions.clone() };
        if let Err(error) = system.successors(&state, &mut scratch, &mut steps) {
            return Some((run(), End::Fault(error)));
        }
        if steps.is_empty() {
            return Some((run(), End::Goal(Goal::Deadlock)));
        }
        if n_propositions > 0 {
            let number = random % n_propositions;
            if system.holds(number, &state, &mut scratch) == Ok(false) {
                best = Some((run(), End::Goal(Goal::Invariant(number))));
            }
        }
        let chosen = random % steps.len();
        actions.push(steps.actions()[chosen]);
        state = steps.target(chosen).to_vec();
    }
    best
}

/// The state that a run leads to, by the definition, as far as every step is possible.
fn last(system: &ActionSystem, actions: &[ActionId]) -> Option<Values> {
    let mut state = reference::initial(system).into_iter().next()?;
    for &action in actions {
        state = reference::parts(system, action, &state).ok()??.1;
    }
    Some(state)
}

/// Whether a run leads there.
fn leads_to(system: &ActionSystem, actions: &[ActionId], end: End) -> bool {
    let Some(state) = last(system, actions) else { return false };
    match end {
        End::Goal(Goal::Deadlock) => {
            reference::successors(system, &state).is_ok_and(|successors| successors.is_empty())
        }
        End::Goal(Goal::Invariant(number)) => {
            reference::value(system, system.propositions()[number].expr, &state) == Ok(0)
        }
        End::Fault(error) => {
            let (mut scratch, mut steps) = (system.new_scratch(), Steps::new(system.width()));
            let Ok(state) = system.layout().encode(&state) else { return false };
            system.successors(&state, &mut scratch, &mut steps) == Err(error)
        }
    }
}

#[test]
fn what_is_left_is_needed() {
    // Per kind of end: runs, and their steps before and after.
    let seen = Cell::new([[0_usize; 3]; 3]);
    for recipes in [systems::recipe_with_chains().boxed(), systems::recipe(false).boxed()] {
        run_cases(600, &(recipes, vec(any::<usize>(), MAX_STEPS)), |(recipe, random)| {
            let system = recipe.build();
            let Some((run, end)) = walk(&system, &random) else { return Ok(()) };
            let budget = &mut Budget::unlimited();
            prop_assert!(leads_to(&system, &run.actions, end), "the walk");
            let thinned = thin(&system, &run, end, u64::MAX, budget);
            let short = thinned.clone().unwrap_or_else(|| run.clone());
            prop_assert!(thinned.is_none() || short.actions.len() < run.actions.len());
            prop_assert!(leads_to(&system, &short.actions, end), "{:?} of {:?}", short, run);
            for left_out in 0..short.actions.len() {
                let mut less = short.actions.clone();
                less.remove(left_out);
                prop_assert!(!leads_to(&system, &less, end), "step {} of {:?}", left_out, short);
            }
            // With little work, it is a run all the same.
            let hasty = thin(&system, &run, end, 2 * run.actions.len() as u64, budget).unwrap_or(run.clone());
            prop_assert!(leads_to(&system, &hasty.actions, end), "{:?} of {:?}", hasty, run);
            let kind = match end {
                End::Goal(Goal::Deadlock) => 0,
                End::Goal(Goal::Invariant(_)) => 1,
                End::Fault(_) => 2,
            };
            let mut all = seen.get();
            let [runs, before, after] = &mut all[kind];
            (*runs, *before, *after) = (*runs + 1, *before + run.actions.len(), *after + short.actions.len());
            seen.set(all);
            Ok::<(), TestCaseError>(())
        });
    }
    let is_good = |[runs, before, after]: [usize; 3]| runs > 50 && after < before;
    assert_met!(seen.get().into_iter().all(is_good), "{:?}", seen.get());
}
