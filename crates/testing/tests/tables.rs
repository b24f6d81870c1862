//! Tables against the system that they were made of, on random systems.

use std::cell::Cell;

use model::tables::{Hard, Refusal, Tables};
use model::{Action, ActionSystem, Builder, Guard, Steps, Stmt, System as _, Variable};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::{assert_met, run_cases, systems};

/// How often things were met.
#[derive(Default)]
struct Met {
    steps: Cell<u32>,
    hard: Cell<u32>,
    chains: Cell<u32>,
}

fn add(cell: &Cell<u32>, n: usize) {
    cell.set(cell.get() + n as u32);
}

/// Explores up to `max` states by the system, and compares what the tables say in each.
fn compare(system: &ActionSystem, max: usize, met: &Met) -> Result<(), TestCaseError> {
    let tables = match Tables::of(system) {
        Ok(tables) => tables,
        Err(Refusal::Wide(_) | Refusal::Deep) => return Ok(()),
        Err(Refusal::Large) => return Err(TestCaseError::fail("too large")),
    };
    let program = tables.program();
    let (mut scratch, mut steps) = (system.new_scratch(), Steps::new(system.width()));
    let mut states: Vec<Vec<u32>> = system.initial().map(<[u32]>::to_vec).collect();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        next += 1;
        steps.clear();
        let exact = system.successors(&state, &mut scratch, &mut steps);
        let mut found: Vec<(usize, Vec<u32>)> = Vec::new();
        let done =
            program.for_each_step(&state, |action, target| found.push((action, target.to_vec())), |_| ());
        let mut expected: Vec<(usize, Vec<u32>)> =
            steps.iter().map(|(step, target)| (system.first(step).index(), target.to_vec())).collect();
        expected.sort();
        found.sort();
        match (done, exact) {
            (Ok(n), Ok(())) => {
                prop_assert_eq!(n as usize, found.len());
                prop_assert_eq!(&found, &expected);
                add(&met.steps, found.len());
                add(
                    &met.chains,
                    found
                        .iter()
                        .filter(|it| system.next_process(model::ActionId::new(it.0)).is_some())
                        .count(),
                );
            }
            (Ok(_), Err(error)) => {
                return Err(TestCaseError::fail(format!("tables do not see {error:?}")));
            }
            (Err(Hard), Err(_)) => add(&met.hard, 1),
            (Err(Hard), Ok(())) => {
                add(&met.hard, 1);
                prop_assert!(system.has_chains(), "hard without a reason");
                prop_assert!(found.iter().all(|step| expected.contains(step)));
            }
        }
        for number in 0..system.n_propositions() {
            let exact = system.holds(number, &state, &mut scratch).map_err(|_| Hard);
            prop_assert_eq!(program.holds(number, &state), exact);
        }
        if exact.is_ok() {
            for (_, target) in steps.iter() {
                if states.len() < max && !states.iter().any(|known| known == target) {
                    states.push(target.to_vec());
                }
            }
        }
    }
    Ok(())
}

#[test]
fn tables_do_what_the_system_does() {
    let met = Met::default();
    run_cases(4000, &systems::recipe(false), |recipe| compare(&recipe.build(), 30, &met));
    assert_met!(met.steps.get() > 5000 && met.hard.get() > 500, "{} {}", met.steps.get(), met.hard.get());
}

#[test]
fn tables_do_what_the_system_does_with_chains() {
    let met = Met::default();
    run_cases(4000, &systems::recipe_with_chains(), |recipe| compare(&recipe.build(), 30, &met));
    assert_met!(met.chains.get() > 500 && met.hard.get() > 100, "{} {}", met.chains.get(), met.hard.get());
}

/// A system of one action on variables with the given ranges.
fn wide(ranges: &[(i64, i64)]) -> ActionSystem {
    let mut builder = Builder::new();
    let owner = builder.process("P");
    let vars: Vec<_> = ranges.iter().map(|&(lo, hi)| builder.variable(Variable::new("x", lo, hi))).collect();
    let label = builder.label("up");
    for &var in &vars {
        let hi = ranges[var.index()].1;
        let guards = vec![builder.guard(Guard::In(var, model::ValueSet::Range(i64::MIN, hi - 1)))];
        let members = [ranges[var.index()].0, ranges[var.index()].0 + 1, ranges[var.index()].0 + 70];
        let some = vec![builder.guard(Guard::one_of(var, members))];
        builder.action(Action { label, guards, effect: vec![Stmt::Add(var, 1)], owners: vec![owner] });
        builder.action(Action { label, guards: some, effect: vec![Stmt::Add(var, 35)], owners: vec![owner] });
    }
    builder.initial(&ranges.iter().map(|range| range.0).collect::<Vec<_>>());
    builder.finish().expect("it is a system")
}

#[test]
fn wide_fields_and_large_sets() {
    let met = Met::default();
    let system = wide(&[(i64::MIN, i64::MAX), (-5, 1 << 40), (-3, 200), (0, 63)]);
    compare(&system, 300, &met).expect("the same");
    assert!(met.steps.get() > 1000);
    assert_eq!(Tables::of(&wide(&[(0, i64::MAX - 1); 9])).err(), Some(Refusal::Wide(18)));
}
