//! Searches by several processes: the same answers, counts and runs as by one machine, whatever the number of processes, on
//! random networks and on random systems with data, chains and faults. (Processes are threads here; `hosts.rs` of `cli` has
//! real ones.)

use std::cell::Cell;
use std::sync::Arc;

use base::budget::Patience;
use base::{Budget, Limit, Peers};
use check::parallel::{self, Joins};
use check::reduced::Reduced;
use check::{Exact, Exploration, Goal, Space, Stop, search};
use model::{ActionSystem, Run, StepError, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use replay::{Ending, Evidence, Question};
use stubborn_testing::claims::load;
use stubborn_testing::crew::Crew;
use stubborn_testing::hall::together;
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// Numbers of processes.
const NUMBERS: [usize; 3] = [1, 2, 3];

type Found = (Vec<Option<Run>>, Vec<Option<(StepError, Run)>>, Option<Stop>);

fn found(explored: &Exploration) -> Found {
    (explored.violations.clone(), explored.faults.clone(), explored.stop.clone())
}

type Counts = (u64, u64, u64, u64, Vec<bool>);

fn counts(explored: &Exploration) -> Counts {
    let stats = explored.stats;
    (stats.states, stats.transitions, stats.deadlocks, stats.depth, explored.taken.clone())
}

/// A deadlock, and every proposition.
fn goals(system: &ActionSystem) -> Vec<Goal> {
    let invariants = (0..system.propositions().len()).map(Goal::Invariant);
    std::iter::once(Goal::Deadlock).chain(invariants).collect()
}

/// What all processes say, which must be the same.
fn spread<S: Space + Sync>(space: &S, goals: &[Goal], n: usize) -> Result<Exploration, TestCaseError> {
    let mut all = together(n, |peers| {
        let mut budget = Budget::unlimited().with_peers(Some(peers));
        parallel::bfs(space, goals, &mut budget)
    });
    let last = all.pop().expect("there is a process");
    for other in &all {
        prop_assert_eq!((found(&last), counts(&last)), (found(other), counts(other)));
    }
    Ok(last)
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

fn alone(system: &ActionSystem, goals: &[Goal], max_states: u64) -> Exploration {
    let mut budget = Budget::unlimited();
    budget.max_states = max_states;
    search::bfs::search(system, &mut Exact::new(system.width(), u64::MAX), goals, &mut budget)
}

fn check_unreduced(system: &ActionSystem) -> Result<u32, TestCaseError> {
    let mut n_runs = 0;
    let all = goals(system);
    for goals in [&[][..], &all[..1], &all[..]] {
        let expected = alone(system, goals, u64::MAX);
        for n in NUMBERS {
            let explored = spread(system, goals, n)?;
            prop_assert_eq!(found(&expected), found(&explored), "{} processes", n);
            n_runs += replayed(system, goals, &explored)?;
            if expected.stop.is_none() {
                prop_assert_eq!(counts(&expected), counts(&explored), "{} processes", n);
            }
        }
    }
    Ok(n_runs)
}

/// A part of a system is the same for any number of processes as for several threads.
fn check_reduced<S: Space<Whole = ActionSystem> + Sync>(
    space: &S,
    goals: &[Goal],
    saved: &Cell<u64>,
) -> Result<(), TestCaseError> {
    let full = alone(space.whole(), goals, u64::MAX);
    let joins = Joins { bfs: 0, mixed: 0, few: 0 };
    let crew = Crew(2);
    let expected = parallel::bfs_joined(joins, space, goals, &mut Budget::unlimited().with_team(&crew));
    for n in NUMBERS {
        let explored = spread(space, goals, n)?;
        replayed(space.whole(), goals, &explored)?;
        prop_assert_eq!(found(&expected), found(&explored), "{} processes", n);
        prop_assert_eq!(counts(&expected), counts(&explored), "{} processes", n);
    }
    if full.stop.is_none() {
        saved.set(saved.get() + full.stats.states - expected.stats.states);
    }
    Ok(())
}

fn check_all(system: &ActionSystem, saved: &Cell<u64>) -> Result<u32, TestCaseError> {
    let mut budget = Budget::unlimited();
    let goals = goals(system);
    let safety = Reduced::for_safety(system, &goals, &mut budget).unwrap();
    check_reduced(&safety, &goals, saved)?;
    let deadlocks = Reduced::for_deadlocks(system, &mut budget).unwrap();
    check_reduced(&deadlocks, &[Goal::Deadlock], saved)?;
    if !system.propositions().is_empty() {
        let invariant = Reduced::for_invariant(system, 0, &mut budget).unwrap();
        check_reduced(&invariant, &[Goal::Invariant(0)], saved)?;
    }
    check_unreduced(system)
}

#[test]
fn networks_have_the_same_states_and_runs() {
    let (n_runs, saved) = (Cell::new(0), Cell::new(0));
    run_cases(15, &networks::network(), |network| {
        let system = load(&network.to_text()).system;
        n_runs.set(n_runs.get() + check_all(&system, &saved)?);
        Ok(())
    });
    assert_met!(n_runs.get() > 5 && saved.get() > 30, "{n_runs:?}, {saved:?}");
}

#[test]
fn systems_with_data_have_the_same_states_runs_and_faults() {
    let (n_runs, n_faults, saved) = (Cell::new(0), Cell::new(0), Cell::new(0));
    run_cases(40, &systems::recipe(false), |recipe| {
        let system = recipe.build();
        match alone(&system, &[], 500).stop {
            // Some are endless.
            Some(Stop::Limit(_)) => return Ok(()),
            Some(Stop::Fault(..)) => n_faults.set(n_faults.get() + 1),
            _ => {}
        }
        n_runs.set(n_runs.get() + check_all(&system, &saved)?);
        Ok(())
    });
    assert_met!(n_runs.get() > 50 && n_faults.get() > 5, "{n_runs:?} {n_faults:?}");
}

#[test]
fn systems_with_chains_have_the_same_states_and_runs() {
    let (n_runs, saved) = (Cell::new(0), Cell::new(0));
    run_cases(15, &systems::recipe_with_chains(), |recipe| {
        let system = recipe.build();
        if matches!(alone(&system, &[], 500).stop, Some(Stop::Limit(_))) {
            return Ok(());
        }
        n_runs.set(n_runs.get() + check_all(&system, &saved)?);
        Ok(())
    });
    assert_met!(n_runs.get() > 20, "{n_runs:?}");
}

/// A network of a few thousand states.
fn counters() -> Arc<ActionSystem> {
    load("process P[i in 0..6] { a: x[i] -> b; b: y[i] -> c; c: z[i] -> d; d: w[i] -> a; }").system
}

#[test]
fn what_one_process_reaches_ends_the_search_for_all() {
    let system = counters();
    let all = alone(&system, &[], u64::MAX).stats.states;
    assert!(all > 1000, "{all}");
    let bfs = |peers: &dyn Peers, budget: Budget<'_>| {
        parallel::bfs(&*system, &[Goal::Deadlock], &mut budget.share().with_peers(Some(peers)))
    };
    // The limit is on all states together.
    let limited = together(3, |peers| {
        let mut budget = Budget::unlimited();
        budget.max_states = all / 2;
        bfs(peers, budget)
    });
    for explored in limited {
        assert_eq!(explored.stop, Some(Stop::Limit(Limit::States(all / 2))));
        assert!(explored.stats.states > all / 2 && explored.stats.states < all);
    }
    // One of them has had enough.
    let interrupted = together(3, |peers| {
        let patience = Patience::new(if peers.me().index == 1 { 2 } else { u64::MAX });
        bfs(peers, Budget::new(u64::MAX, u64::MAX, &patience)).stop
    });
    assert_eq!(interrupted, vec![Some(Stop::Limit(Limit::Interrupt)); 3]);
    // One has no room.
    let crowded = together(2, |peers| {
        let patience = Patience::new(u64::MAX);
        let room = if peers.me().index == 1 { 10_000 } else { u64::MAX };
        bfs(peers, Budget::new(u64::MAX, room, &patience)).stop
    });
    assert!(matches!(crowded[..], [Some(Stop::Limit(Limit::Memory(10_000))), Some(_)]), "{crowded:?}");
    assert_eq!(crowded[0], crowded[1]);
}

#[test]
fn who_is_gone_or_does_something_else_ends_the_search() {
    let system = counters();
    let seen = together(3, |peers| {
        if peers.me().index == 1 {
            return None;
        }
        let mut budget = Budget::unlimited().with_peers(Some(peers));
        parallel::bfs(&*system, &[], &mut budget).stop
    });
    // Who notices first is gone for the others.
    assert!(matches!(seen[0], Some(Stop::Limit(Limit::Process(1 | 2)))), "{seen:?}");
    assert!(matches!(seen[2], Some(Stop::Limit(Limit::Process(0 | 1)))), "{seen:?}");
    let seen = together(2, |peers| {
        let goals = if peers.me().index == 1 { &[Goal::Deadlock][..] } else { &[] };
        let mut budget = Budget::unlimited().with_peers(Some(peers));
        parallel::bfs(&*system, goals, &mut budget).stop
    });
    assert_eq!(seen, [1, 0].map(|other| Some(Stop::Limit(Limit::Apart(other)))));
}
