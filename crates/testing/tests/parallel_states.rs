//! Searches of states by several workers: the same answers, counts and runs as by one, whatever the number of workers, on random
//! networks and on random systems with data, chains and faults.

use std::cell::Cell;

use base::budget::Patience;
use base::{Budget, Limit};
use check::parallel::{self, Joins};
use check::reduced::Reduced;
use check::store::SharedBits;
use check::{Exact, Exploration, Goal, Space, StateId, Stop, Store as _, Visited as _, search};
use model::{ActionSystem, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use replay::{Ending, Evidence, Question};
use stubborn_testing::claims::load;
use stubborn_testing::crew::Crew;
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// Numbers of workers.
const CREWS: [Crew; 3] = [Crew(2), Crew(3), Crew(8)];

/// When the others join: at once, or a little later.
const JOINS: [usize; 2] = [0, 30];

/// All that does not depend on the number of workers.
type Found = (Vec<Option<model::Run>>, Vec<Option<(model::StepError, model::Run)>>, Option<Stop>);

fn found(explored: &Exploration) -> Found {
    (explored.violations.clone(), explored.faults.clone(), explored.stop.clone())
}

fn limited(max_states: u64) -> Budget<'static> {
    let mut budget = Budget::unlimited();
    budget.max_states = max_states;
    budget
}

/// A deadlock, and every proposition.
fn goals(system: &ActionSystem) -> Vec<Goal> {
    let invariants = (0..system.propositions().len()).map(Goal::Invariant);
    std::iter::once(Goal::Deadlock).chain(invariants).collect()
}

fn replayed(system: &ActionSystem, goals: &[Goal], explored: &Exploration) -> Result<u32, TestCaseError> {
    let mut n_runs = 0;
    for (goal, run) in goals.iter().zip(&explored.violations) {
        let Some(run) = run else { continue };
        let question = match goal {
            Goal::Deadlock => Question::Deadlock,
            Goal::Invariant(number) => Question::Violates(system.propositions()[*number].expr),
        };
        replay::judge(system, &question, &Evidence::new(run, Ending::Open), &mut Budget::unlimited())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        n_runs += 1;
    }
    Ok(n_runs)
}

/// Everything is explored, or some goals are looked for. Returns how many runs were found.
fn check_unreduced(system: &ActionSystem) -> Result<u32, TestCaseError> {
    let mut n_runs = 0;
    let all = goals(system);
    for goals in [&[][..], &all[..1], &all[..]] {
        let alone = search::bfs::search(
            system,
            &mut Exact::new(system.width(), u64::MAX),
            goals,
            &mut Budget::unlimited(),
        );
        for crew in &CREWS {
            for bfs in JOINS {
                let joins = Joins { bfs, mixed: bfs, few: bfs / 10 };
                let mut budget = Budget::unlimited().with_team(crew);
                let together = parallel::bfs_joined(joins, system, goals, &mut budget);
                prop_assert_eq!(found(&alone), found(&together), "{:?}, {}", crew, bfs);
                n_runs += replayed(system, goals, &together)?;
                if alone.stop.is_none() {
                    let counts = |explored: &Exploration| {
                        let stats = explored.stats;
                        (
                            stats.states,
                            stats.transitions,
                            stats.deadlocks,
                            stats.depth,
                            explored.taken.clone(),
                        )
                    };
                    prop_assert_eq!(counts(&alone), counts(&together), "{:?}, {}", crew, bfs);
                }
                if goals.is_empty() {
                    check_kept(system, &alone, joins, &mut budget)?;
                }
                let mixed = parallel::mixed_joined(joins, system, goals, &mut budget);
                let is_found = |explored: &Exploration| -> Vec<bool> {
                    explored.violations.iter().map(Option::is_some).collect()
                };
                if !matches!(alone.stop, Some(Stop::Fault(..))) && !alone.faults.iter().any(Option::is_some) {
                    prop_assert_eq!(is_found(&alone), is_found(&mixed));
                }
                replayed(system, goals, &mixed)?;
            }
        }
    }
    Ok(n_runs)
}

/// The states that are kept are those that one worker finds, each once.
fn check_kept(
    system: &ActionSystem,
    alone: &Exploration,
    joins: Joins,
    budget: &mut Budget<'_>,
) -> Result<(), TestCaseError> {
    let (explored, kept) = parallel::keep_joined(joins, system, budget);
    prop_assert_eq!(found(alone), found(&explored));
    let look = |own: &mut Vec<Vec<u32>>, state: &[u32]| -> Result<(), Limit> {
        own.push(state.to_vec());
        Ok(())
    };
    let collected = kept.collect(system.width(), budget, Vec::new, look);
    let mut together = collected.map_err(|limit| TestCaseError::fail(limit.to_string()))?.concat();
    together.sort_unstable();
    prop_assert_eq!(together.len() as u64, kept.n_states());
    if alone.stop.is_none() {
        let mut store = Exact::new(system.width(), u64::MAX);
        search::bfs::search(system, &mut store, &[], &mut Budget::unlimited());
        let mut state = vec![0; system.width()];
        let mut expected: Vec<Vec<u32>> = Vec::new();
        for number in 0..store.n_states() {
            store.get(StateId::new(number as usize), &mut state);
            expected.push(state.clone());
        }
        expected.sort_unstable();
        prop_assert_eq!(&together, &expected);
    }
    let spent =
        kept.collect(system.width(), &Budget::new(0, u64::MAX, &Patience::new(0)), || (), |(), _| Ok(()));
    prop_assert_eq!(spent.err(), (kept.n_states() > 0).then_some(Limit::States(0)));
    Ok(())
}

/// The same for a part of a system: the answers of one worker, the counts of several among each other.
fn check_reduced<S: Space<Whole = ActionSystem> + Sync>(
    space: &S,
    goals: &[Goal],
) -> Result<(u64, u64), TestCaseError> {
    let system = space.whole();
    let mut store = Exact::new(system.width(), u64::MAX);
    let full = search::bfs::search(system, &mut store, goals, &mut Budget::unlimited());
    let goes_wrong = matches!(full.stop, Some(Stop::Fault(..))) || full.faults.iter().any(Option::is_some);
    let mut expected = None;
    for crew in &CREWS {
        for order in ["bfs", "mixed"] {
            let mut budget = Budget::unlimited().with_team(crew);
            let joins = Joins { bfs: 0, mixed: 0, few: 0 };
            let together = match order {
                "bfs" => parallel::bfs_joined(joins, space, goals, &mut budget),
                _ => parallel::mixed_joined(joins, space, goals, &mut budget),
            };
            replayed(system, goals, &together)?;
            if !goes_wrong {
                for (one, other) in full.violations.iter().zip(&together.violations) {
                    prop_assert_eq!(one.is_some(), other.is_some(), "{:?}, {}", crew, order);
                }
            }
            let stats = together.stats;
            let seen = (found(&together), stats.states, stats.transitions, stats.deadlocks, stats.depth);
            prop_assert_eq!(expected.get_or_insert(seen.clone()), &seen, "{:?}, {}", crew, order);
        }
    }
    let n_left = expected.map_or(0, |seen| seen.1);
    Ok(if full.stop.is_none() { (full.stats.states, n_left) } else { (0, 0) })
}

fn check_all_sets(system: &ActionSystem, saved: &Cell<u64>) -> Result<(), TestCaseError> {
    let mut budget = Budget::unlimited();
    let add = |(full, left): (u64, u64)| saved.set(saved.get() + full.saturating_sub(left));
    let safety = Reduced::for_safety(system, &goals(system), &mut budget).unwrap();
    add(check_reduced(&safety, &goals(system))?);
    let deadlocks = Reduced::for_deadlocks(system, &mut budget).unwrap();
    add(check_reduced(&deadlocks, &[Goal::Deadlock])?);
    if !system.propositions().is_empty() {
        let invariant = Reduced::for_invariant(system, 0, &mut budget).unwrap();
        add(check_reduced(&invariant, &[Goal::Invariant(0)])?);
    }
    Ok(())
}

#[test]
fn networks_have_the_same_states_and_runs() {
    let (n_runs, saved) = (Cell::new(0), Cell::new(0));
    run_cases(40, &networks::network(), |network| {
        let system = load(&network.to_text()).system;
        n_runs.set(n_runs.get() + check_unreduced(&system)?);
        check_all_sets(&system, &saved)
    });
    assert_met!(n_runs.get() > 10 && saved.get() > 100, "{n_runs:?}, {saved:?}");
}

#[test]
fn systems_with_data_have_the_same_states_runs_and_faults() {
    let (n_runs, n_faults, saved) = (Cell::new(0), Cell::new(0), Cell::new(0));
    run_cases(80, &systems::recipe(false), |recipe| {
        let system = recipe.build();
        // Some are endless.
        let mut store = Exact::new(system.width(), u64::MAX);
        let explored = search::bfs::search(&system, &mut store, &[], &mut limited(1000));
        match explored.stop {
            Some(Stop::Limit(_)) => return Ok(()),
            Some(Stop::Fault(..)) => n_faults.set(n_faults.get() + 1),
            _ => {}
        }
        n_runs.set(n_runs.get() + check_unreduced(&system)?);
        check_all_sets(&system, &saved)
    });
    assert_met!(n_runs.get() > 100 && n_faults.get() > 10, "{n_runs:?} {n_faults:?}");
}

#[test]
fn systems_with_chains_have_the_same_states_and_runs() {
    let (n_runs, saved) = (Cell::new(0), Cell::new(0));
    run_cases(30, &systems::recipe_with_chains(), |recipe| {
        let system = recipe.build();
        let mut store = Exact::new(system.width(), u64::MAX);
        if matches!(
            search::bfs::search(&system, &mut store, &[], &mut limited(1000)).stop,
            Some(Stop::Limit(_))
        ) {
            return Ok(());
        }
        n_runs.set(n_runs.get() + check_unreduced(&system)?);
        check_all_sets(&system, &saved)
    });
    assert_met!(n_runs.get() > 50, "{n_runs:?}");
}

/// Twelve counters, each up to so many: many states, and several ways to each.
fn grid(n_counters: usize, most: i64) -> ActionSystem {
    use model::{Action, BinaryOp, Builder, Guard, Stmt, ValueSet, Variable};
    let mut builder = Builder::new();
    let vars: Vec<_> =
        (0..n_counters).map(|index| builder.variable(Variable::new(format!("x{index}"), 0, most))).collect();
    let mut sum = builder.exprs.int(0);
    for &var in &vars {
        let guard = builder.guard(Guard::In(var, ValueSet::Range(0, most - 1)));
        let (label, owner) = (builder.label("up"), builder.process("up"));
        builder.action(Action {
            label,
            guards: vec![guard],
            effect: vec![Stmt::Add(var, 1)],
            owners: vec![owner],
        });
        let value = builder.exprs.var(var);
        sum = builder.exprs.binary(BinaryOp::Add, sum, value);
    }
    builder.initial(&vec![0; n_counters]);
    let mut system = builder.finish().unwrap();
    for at in [n_counters as i64 * most - 3, n_counters as i64 * most + 1] {
        let at = system.exprs.int(at);
        let less = system.exprs.binary(BinaryOp::Lt, sum, at);
        system.add_proposition("less", less);
    }
    system
}

#[test]
fn bits_give_the_same_answers_where_there_are_enough() {
    let n_runs = Cell::new(0);
    run_cases(25, &networks::network(), |network| {
        let system = load(&network.to_text()).system;
        let goals = goals(&system);
        let mut store = Exact::new(system.width(), u64::MAX);
        let exact = search::bfs::search(&*system, &mut store, &goals, &mut Budget::unlimited());
        for crew in &CREWS {
            let bits = || SharedBits::new(1 << 20, 3).unwrap();
            let mut budget = Budget::unlimited().with_team(crew);
            let explored = parallel::bitstate_shared(0, &*system, bits(), &goals, &mut budget);
            n_runs.set(n_runs.get() + replayed(&system, &goals, &explored)?);
            for (one, other) in exact.violations.iter().zip(&explored.violations) {
                prop_assert_eq!(one.is_some(), other.is_some());
            }
            let all = parallel::bitstate_shared(0, &*system, bits(), &[], &mut budget);
            prop_assert!(all.stop.is_none() && all.coverage.is_some());
            if exact.stop.is_none() {
                // A state that two find at once counts twice.
                prop_assert!(all.stats.states >= exact.stats.states && all.stats.depth == exact.stats.depth);
            }
            let reduced = Reduced::for_safety(&system, &goals, &mut budget).unwrap();
            let explored = parallel::bitstate_shared(0, &reduced, bits(), &goals, &mut budget);
            for (one, other) in exact.violations.iter().zip(&explored.violations) {
                prop_assert_eq!(one.is_some(), other.is_some());
            }
        }
        Ok(())
    });
    assert_met!(n_runs.get() > 3, "{n_runs:?}");
}

#[test]
fn twenty_times_the_same_run_for_every_number_of_workers() {
    let system = grid(5, 6);
    let goals = [Goal::Deadlock, Goal::Invariant(0), Goal::Invariant(1)];
    let alone = search::bfs::search(
        &system,
        &mut Exact::new(system.width(), u64::MAX),
        &goals,
        &mut Budget::unlimited(),
    );
    assert_eq!((alone.stats.states, alone.stats.depth), (7u64.pow(5), 30));
    assert!(alone.violations[0].is_some() && alone.violations[1].is_some() && alone.violations[2].is_none());
    for crew in [Crew(1), Crew(2), Crew(3), Crew(5), Crew(8)] {
        for _ in 0..20 {
            let mut budget = Budget::unlimited().with_team(&crew);
            let together =
                parallel::bfs_joined(Joins { bfs: 100, mixed: 100, few: 20 }, &system, &goals, &mut budget);
            assert_eq!(found(&alone), found(&together), "{crew:?}");
            assert_eq!(alone.stats.transitions, together.stats.transitions, "{crew:?}");
        }
    }
}

#[test]
fn limits_stop_all_workers() {
    let system = grid(5, 8);
    let crew = Crew(3);
    let joins = Joins { bfs: 100, mixed: 100, few: 20 };
    let all = 9u64.pow(5);
    for max_states in [10, 100, 5000, all - 1] {
        let mut budget = limited(max_states).with_team(&crew);
        let explored = parallel::bfs_joined(joins, &system, &[], &mut budget);
        assert_eq!(explored.stop, Some(Stop::Limit(Limit::States(max_states))));
        assert!(explored.stats.states > max_states);
    }
    assert_eq!(parallel::bfs_joined(joins, &system, &[], &mut limited(all).with_team(&crew)).stop, None);
    for looks in [0, 5, 50] {
        let patience = Patience::new(looks);
        let mut budget = Budget::new(u64::MAX, u64::MAX, &patience).with_team(&crew);
        let explored = parallel::bfs_joined(joins, &system, &[Goal::Invariant(1)], &mut budget);
        assert_eq!(explored.stop, Some(Stop::Limit(Limit::Interrupt)));
        let patience = Patience::new(u64::MAX);
        let mut budget = Budget::new(u64::MAX, 500_000, &patience).with_team(&crew);
        let explored = parallel::bfs_joined(joins, &system, &[], &mut budget);
        assert_eq!(explored.stop, Some(Stop::Limit(Limit::Memory(500_000))));
        assert!(explored.stats.peak_bytes <= 600_000, "{}", explored.stats.peak_bytes);
    }
}
