//! The kernel text for graphics processors, built by the C++ compiler of this machine and run by threads, against the sequential
//! search on random systems. Where there is no compiler, that is said and nothing is tested.

mod host;
mod steady;

use std::cell::Cell;

use base::Budget;
use base::device::Device;
use check::{Exact, Exploration, Goal, parallel, search};
use model::{ActionSystem, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::load;
use stubborn_testing::{assert_met, naive, networks, run_cases, systems};

fn compare(system: &ActionSystem, device: &dyn Device) -> Result<u32, TestCaseError> {
    let invariants = (0..system.propositions().len()).map(Goal::Invariant);
    let goals: Vec<Goal> = std::iter::once(Goal::Deadlock).chain(invariants).collect();
    let mut n_runs = 0;
    for goals in [&[][..], &goals[..]] {
        let mut store = Exact::new(system.width(), u64::MAX);
        let expected = search::bfs::search(system, &mut store, goals, &mut Budget::unlimited());
        let found = parallel::bfs(system, goals, &mut Budget::unlimited().with_device(Some(device)));
        prop_assert_eq!(&expected.violations, &found.violations);
        prop_assert_eq!(&expected.faults, &found.faults);
        prop_assert_eq!(&expected.stop, &found.stop);
        n_runs += expected.violations.iter().flatten().count() as u32;
        if expected.stop.is_none() {
            let counts = |it: &Exploration| {
                (it.stats.states, it.stats.transitions, it.stats.deadlocks, it.stats.depth)
            };
            prop_assert_eq!(counts(&expected), counts(&found));
            prop_assert_eq!(&expected.taken, &found.taken);
        }
    }
    Ok(n_runs)
}

fn try_all(
    n_cases: u32,
    recipes: &impl Strategy<Value = systems::Recipe>,
    device: &dyn Device,
) -> (u32, u32) {
    let (n_compared, n_runs) = (Cell::new(0u32), Cell::new(0u32));
    run_cases(n_cases, recipes, |mut recipe| {
        for is_wide in [false, true] {
            if is_wide {
                recipe.ranges.extend([(-5, i64::MAX / 2); 2]);
                recipe.initial.iter_mut().for_each(|offsets| offsets.extend([3, 5]));
            }
            let system = recipe.build();
            if let Ok(None) = naive::explore(&system, 300) {
                continue;
            }
            n_runs.set(n_runs.get() + compare(&system, device)?);
            n_compared.set(n_compared.get() + 1);
        }
        Ok(())
    });
    (n_compared.get(), n_runs.get())
}

#[test]
fn kernels_find_what_the_sequential_search_finds() {
    let Some(device) = host::device("kernels", 1) else { return };
    let (n_compared, n_runs) = try_all(150, &systems::recipe(false), &device);
    assert_met!(n_compared > 100 && n_runs > 50, "{n_compared} {n_runs}");
    let (n_compared, n_runs) = try_all(150, &systems::recipe_with_chains(), &device);
    assert_met!(n_compared > 100 && n_runs > 50, "{n_compared} {n_runs}");
}

#[test]
fn kernels_find_the_same_with_threads_that_race() {
    let Some(device) = host::device("racing-kernels", 4) else { return };
    let (n_compared, n_runs) = try_all(60, &systems::recipe(true), &device);
    assert_met!(n_compared > 40 && n_runs > 20, "{n_compared} {n_runs}");
}

#[test]
fn kernels_leave_out_what_the_sequential_search_leaves_out() {
    let Some(device) = host::device("kernels-of-sets", 2) else { return };
    let seen = steady::Seen::default();
    run_cases(40, &networks::network(), |network| {
        steady::compare(&load(&network.to_text()).system, &device, &seen)
    });
    run_cases(60, &systems::recipe(true), |recipe| steady::compare(&recipe.build(), &device, &seen));
    run_cases(60, &systems::recipe_with_chains(), |recipe| steady::compare(&recipe.build(), &device, &seen));
    let steady::Seen { holds, violated, saved } = &seen;
    assert_met!(
        holds.get() > 50 && violated.get() > 50 && saved.get() > 300,
        "{holds:?} {violated:?} {saved:?}"
    );
}
