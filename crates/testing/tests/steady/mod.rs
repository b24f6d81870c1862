//! Searches that leave something out by sets that depend on the state alone: on a device, by the sequential search, and what a naive
//! one says.
#![allow(dead_code)] // Not every test needs all of it.

use std::cell::Cell;

use base::Budget;
use base::device::Device;
use check::reduced::Reduced;
use check::{Exact, Exploration, Goal, parallel, search};
use model::{ActionSystem, System as _, reference};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::naive;

/// What was met: how many answers of each kind, and how many states were left out.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) holds: Cell<u32>,
    pub(crate) violated: Cell<u32>,
    pub(crate) saved: Cell<u64>,
}

pub(crate) fn add<N: Copy + std::ops::Add<Output = N>>(cell: &Cell<N>, n: N) {
    cell.set(cell.get() + n);
}

/// What is looked for, whether it can be reached, and what is left of the system for it.
pub(crate) type Asked<'a> = (Goal, bool, Reduced<'a>);

/// Everything that can be asked about a state, with the sets for it, and the answer of a naive search. Nothing if the system goes wrong
/// somewhere, or is too large.
pub(crate) fn questions(system: &ActionSystem) -> Option<(u64, Vec<Asked<'_>>)> {
    let space = naive::explore(system, 300).ok()??;
    let budget = &mut Budget::unlimited();
    let mut questions =
        vec![(Goal::Deadlock, space.deadlocks > 0, Reduced::for_deadlocks(system, budget).ok()?)];
    for (number, proposition) in system.propositions().iter().enumerate() {
        let value = |state: &Vec<i64>| reference::value(system, proposition.expr, state);
        let values: Vec<i64> = space.states.iter().map(value).collect::<Result<_, _>>().ok()?;
        let reduced = Reduced::for_invariant(system, number, budget).ok()?;
        questions.push((Goal::Invariant(number), values.contains(&0), reduced));
    }
    Some((space.states.len() as u64, questions))
}

pub(crate) fn alone(reduced: &Reduced<'_>, width: usize, goal: Goal) -> Exploration {
    search::bfs::search(reduced, &mut Exact::new(width, u64::MAX), &[goal], &mut Budget::unlimited())
}

pub(crate) fn compare(system: &ActionSystem, device: &dyn Device, seen: &Seen) -> Result<(), TestCaseError> {
    let Some((n_states, questions)) = questions(system) else { return Ok(()) };
    for (goal, is_reached, reduced) in questions {
        let reduced = reduced.by_state_alone(&mut Budget::unlimited()).unwrap();
        prop_assert_eq!(check::device::refusal_of_sets(&reduced, device), None);
        let expected = alone(&reduced, system.width(), goal);
        let mut budget = Budget::unlimited().with_device(Some(device));
        let found = parallel::bfs(&reduced, &[goal], &mut budget);
        prop_assert_eq!(found.violations[0].is_some(), is_reached, "{:?}", goal);
        prop_assert_eq!(&expected.violations, &found.violations);
        prop_assert_eq!(&expected.faults, &found.faults);
        prop_assert_eq!(&expected.stop, &found.stop);
        if is_reached {
            add(&seen.violated, 1);
        } else {
            let counts = |it: &Exploration| {
                (it.stats.states, it.stats.transitions, it.stats.deadlocks, it.stats.depth)
            };
            prop_assert_eq!(counts(&expected), counts(&found));
            prop_assert!(found.stats.states <= n_states);
            add(&seen.holds, 1);
            add(&seen.saved, n_states - found.stats.states);
        }
    }
    Ok(())
}
