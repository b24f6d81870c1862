//! Searches that leave something out, on a device: by sets that depend on the state alone, against the sequential search by the same
//! sets, in counts and runs, and against naive exploration. The mistakes that were tried are listed in [`forgetting_is_noticed`].

mod steady;

use std::cell::Cell;

use base::Budget;
use base::device::Device;
use check::Goal;
use check::device::CpuDevice;
use check::reduced::Reduced;
use model::{Action, ActionSystem, Builder, Guard, Stmt, System as _, Variable};
use por::steady::Forgotten;
use proptest::prelude::*;
use stubborn_testing::claims::load;
use stubborn_testing::crew::Crew;
use stubborn_testing::{assert_met, networks, run_cases, systems};

use steady::{Seen, add, alone, compare, questions};

const BYTES: u64 = 1 << 20;

fn compare_all(n_cases: u32, recipes: &impl Strategy<Value = systems::Recipe>, device: &dyn Device) -> Seen {
    let seen = Seen::default();
    run_cases(n_cases, recipes, |mut recipe| {
        for is_wide in [false, true] {
            if is_wide {
                // Two more variables that fill two words each.
                recipe.ranges.extend([(-5, i64::MAX / 2); 2]);
                recipe.initial.iter_mut().for_each(|offsets| offsets.extend([3, 5]));
            }
            compare(&recipe.build(), device, &seen)?;
        }
        Ok(())
    });
    seen
}

#[test]
fn a_device_leaves_out_what_the_processor_leaves_out() {
    let seen = compare_all(300, &systems::recipe(true), &CpuDevice::new(BYTES));
    let Seen { holds, violated, saved } = &seen;
    assert_met!(
        holds.get() > 100 && violated.get() > 100 && saved.get() > 100,
        "{holds:?} {violated:?} {saved:?}"
    );
}

#[test]
fn a_device_leaves_out_the_same_of_chains_with_several_workers() {
    let crew = Crew(2);
    let seen = compare_all(150, &systems::recipe_with_chains(), &CpuDevice::with_team(BYTES, &crew));
    let Seen { holds, violated, saved } = &seen;
    assert_met!(
        holds.get() > 50 && violated.get() > 50 && saved.get() > 50,
        "{holds:?} {violated:?} {saved:?}"
    );
}

#[test]
fn a_device_leaves_out_the_same_of_networks() {
    let (seen, device) = (Seen::default(), CpuDevice::new(BYTES));
    run_cases(150, &networks::network(), |network| compare(&load(&network.to_text()).system, &device, &seen));
    let Seen { holds, violated, saved } = &seen;
    assert_met!(
        holds.get() > 50 && violated.get() > 5 && saved.get() > 500,
        "{holds:?} {violated:?} {saved:?}"
    );
}

/// How many answers are wrong if a part of the sets is forgotten.
fn wrong_without(forgotten: Forgotten) -> u32 {
    let n_wrong = Cell::new(0);
    let look = |system: &ActionSystem| {
        for (goal, is_reached, reduced) in questions(system).into_iter().flat_map(|it| it.1) {
            let reduced = reduced.by_state_alone(&mut Budget::unlimited()).unwrap().forgetting(forgotten);
            let found = alone(&reduced, system.width(), goal);
            add(&n_wrong, u32::from(found.violations[0].is_some() != is_reached));
        }
        Ok(())
    };
    run_cases(150, &networks::network(), |network| look(&load(&network.to_text()).system));
    run_cases(300, &systems::recipe(true), |recipe| look(&recipe.build()));
    n_wrong.get()
}

/// Who is at 0 may go to 1 and stay there, or to 2, which is the end, if the other one has moved: a deadlock, if it waits for that.
fn waiting() -> ActionSystem {
    let mut builder = Builder::new();
    let label = builder.label("step");
    let [waits, moves] = ["Waits", "Moves"].map(|name| builder.process(name));
    let [at, other] = [2, 1].map(|hi| builder.variable(Variable::new("at", 0, hi)));
    for (owner, guards, effect) in [
        (waits, vec![Guard::equals(at, 0)], Stmt::set(at, 1)),
        (waits, vec![Guard::equals(at, 1)], Stmt::set(at, 1)),
        (waits, vec![Guard::equals(at, 0), Guard::equals(other, 1)], Stmt::set(at, 2)),
        (moves, vec![Guard::equals(other, 0)], Stmt::set(other, 1)),
    ] {
        let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
        builder.action(Action { label, guards, effect: vec![effect], owners: vec![owner] });
    }
    builder.initial(&[0, 0]);
    builder.finish().expect("it is a system")
}

#[test]
fn forgetting_is_noticed() {
    for forgotten in [Forgotten::Needs, Forgotten::Goal] {
        let n_wrong = wrong_without(forgotten);
        assert_met!(n_wrong > 3, "{forgotten:?}: {n_wrong}");
    }
    let system = waiting();
    let steady = || {
        let budget = &mut Budget::unlimited();
        Reduced::for_deadlocks(&system, budget).unwrap().by_state_alone(budget).unwrap()
    };
    assert!(alone(&steady(), system.width(), Goal::Deadlock).violations[0].is_some());
    for forgotten in [Forgotten::Enablers, Forgotten::Moves] {
        let wrong = steady().forgetting(forgotten);
        assert!(alone(&wrong, system.width(), Goal::Deadlock).violations[0].is_none(), "{forgotten:?}");
    }
}
