//! The fast path against the reference semantics, and the relations against what happens, on
//! random action systems.

use std::cell::Cell;

use check::{Exact, Store as _, Visited as _, search};
use model::reference;
use model::{ActionId, ActionSystem, Fault, ProcessId, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::{assert_met, naive, relations_checker, run_cases, systems};

/// Some states of a system, reachable without faults.
fn some_states(system: &ActionSystem, n: usize) -> Vec<Vec<i64>> {
    let mut states = reference::initial(system);
    let mut next = 0;
    while next < states.len() && states.len() < n {
        for id in (0..system.actions().len()).map(ActionId::new) {
            let enabled = reference::is_enabled(system, system.action(id), &states[next]);
            if enabled == Ok(true)
                && let Ok(target) = reference::act(system, id, &states[next])
                && !states.contains(&target)
            {
                states.push(target);
            }
        }
        next += 1;
    }
    states
}

#[test]
fn packed_code_does_what_the_reference_semantics_says() {
    let (n_steps, n_faults) = (Cell::new(0u32), Cell::new(0u32));
    run_cases(5000, &systems::recipe(false), |recipe| {
        let system = recipe.build();
        let mut scratch = system.new_scratch();
        for values in some_states(&system, 30) {
            let state = system.layout().encode(&values).expect("in range");
            prop_assert_eq!(&system.layout().decode(&state), &values);
            let mut enabled = Vec::new();
            let fast = system.enabled(&state, &mut scratch, &mut enabled);
            enabled.sort_unstable();
            match reference::enabled(&system, &values) {
                Ok(expected) => {
                    prop_assert_eq!(fast, Ok(()));
                    prop_assert_eq!(&enabled, &expected);
                }
                Err(_) => {
                    prop_assert!(fast.is_err());
                    continue;
                }
            }
            for &action in &enabled {
                let mut target = state.clone();
                let fast = system.fire(&mut target, action, &mut scratch);
                match reference::act(&system, action, &values) {
                    Ok(expected) => {
                        n_steps.set(n_steps.get() + 1);
                        prop_assert_eq!(fast, Ok(()));
                        prop_assert_eq!(system.layout().decode(&target), expected);
                    }
                    Err(fault) => {
                        n_faults.set(n_faults.get() + 1);
                        prop_assert_eq!(fast.map_err(|error| error.fault), Err(fault));
                    }
                }
            }
            for (number, proposition) in system.propositions().iter().enumerate() {
                let expected = reference::value(&system, proposition.expr, &values).map(|value| value != 0);
                prop_assert_eq!(
                    system.holds(number, &state, &mut scratch).map_err(|error| error.fault),
                    expected
                );
            }
        }
        Ok(())
    });
    assert_met!(n_steps.get() > 10_000 && n_faults.get() > 500, "{n_steps:?} steps, {n_faults:?} faults");
}

#[test]
fn nothing_happens_that_the_relations_do_not_list() {
    run_cases(2000, &systems::recipe(true), |recipe| {
        let system = recipe.build();
        relations_checker::check(&system, &some_states(&system, 30)).map_err(TestCaseError::fail)
    });
}

#[test]
fn nothing_happens_in_chains_that_the_relations_do_not_list() {
    run_cases(3000, &systems::recipe_with_chains(), |recipe| {
        let system = recipe.build();
        let Ok(Some(space)) = naive::explore(&system, 300) else { return Ok(()) };
        relations_checker::check(&system, &space.states[..space.states.len().min(30)])
            .map_err(TestCaseError::fail)
    });
}

#[test]
fn both_searches_count_what_the_naive_explorer_counts() {
    let (n_compared, _) = count_with_both_searches(2000, &systems::recipe(true));
    assert_met!(n_compared > 300, "{n_compared} systems of more than three states");
}

#[test]
fn both_searches_count_what_the_naive_explorer_counts_with_chains() {
    let (n_compared, n_chains) = count_with_both_searches(4000, &systems::recipe_with_chains());
    assert_met!(n_compared > 300, "{n_compared} systems of more than three states");
    assert_met!(n_chains > 300, "{n_chains} steps that begin like another");
}

/// Returns how many systems of more than three states were compared, and how many steps began like another.
fn count_with_both_searches(n_cases: u32, recipes: &impl Strategy<Value = systems::Recipe>) -> (u32, u32) {
    let (n_compared, n_chains) = (Cell::new(0u32), Cell::new(0u32));
    run_cases(n_cases, recipes, |recipe| {
        let system = recipe.build();
        // A system that goes wrong or on and on is not counted.
        let Ok(Some(space)) = naive::explore(&system, 300) else { return Ok(()) };
        n_compared.set(n_compared.get() + u32::from(space.states.len() > 3));
        let mut budget = base::Budget::unlimited();
        let mut store = Exact::new(system.width(), u64::MAX);
        let bfs = search::bfs::search(&system, &mut store, &[], &mut budget);
        let dfs = search::dfs::search(&system, &mut Exact::new(system.width(), u64::MAX), &[], &mut budget);
        for stats in [bfs.stats, dfs.stats] {
            prop_assert_eq!(stats.states, space.states.len() as u64);
            prop_assert_eq!(stats.transitions, space.transitions.len() as u64);
            prop_assert_eq!(stats.deadlocks, space.deadlocks);
        }
        prop_assert_eq!(bfs.stats.depth, space.distance.iter().copied().max().unwrap_or(0));
        prop_assert_eq!((bfs.stop, dfs.stop), (None, None));
        // Stored exactly these states.
        prop_assert_eq!(store.n_states(), space.states.len() as u64);
        let mut state = vec![0; system.width()];
        // Another copy of the system meets the states in another order.
        let (twin, mut twin_scratch) = (recipe.build(), system.new_scratch());
        for id in (0..space.states.len()).rev().map(check::StateId::new) {
            store.get(id, &mut state);
            let values = system.layout().decode(&state);
            prop_assert!(space.states.contains(&values));
            // Steps have the numbers of the definition, and can be taken again by these alone, at once or later.
            let (mut enabled, mut scratch) = (Vec::new(), system.new_scratch());
            let mut steps = model::Steps::new(system.width());
            prop_assert_eq!(system.enabled(&state, &mut scratch, &mut enabled), Ok(()));
            prop_assert_eq!(system.successors(&state, &mut scratch, &mut steps), Ok(()));
            prop_assert_eq!(steps.actions(), &enabled[..]);
            for (action, target) in steps.iter() {
                for (system, scratch) in [(&system, &mut scratch), (&twin, &mut twin_scratch)] {
                    let mut again = state.clone();
                    prop_assert_eq!(system.fire(&mut again, action, scratch), Ok(()));
                    prop_assert_eq!(&again[..], target);
                }
                n_chains.set(n_chains.get() + u32::from(action.index() >= system.actions().len()));
            }
            let by_number = |(action, target): (ActionId, &[u32])| (action, system.layout().decode(target));
            let mut found: Vec<_> = steps.iter().map(by_number).collect();
            let mut expected = reference::successors(&system, &values).expect("no fault");
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
        Ok(())
    });
    (n_compared.get(), n_chains.get())
}

/// A state, and who goes on alone, if somebody does.
type Node = (Vec<i64>, Option<ProcessId>);

/// What single actions lead to, where nobody else acts while somebody goes on.
fn by_single_actions(system: &ActionSystem, (values, goes_on): &Node) -> Result<Vec<Node>, Fault> {
    let is_its_turn = |action: &ActionId| {
        let owner = system.action(*action).owners.first();
        goes_on.is_none_or(|process| owner == Some(&process) && !system.is_quiet(*action))
    };
    let mut nodes = Vec::new();
    for action in reference::enabled(system, values)?.into_iter().filter(is_its_turn) {
        nodes.push((reference::act(system, action, values)?, system.next_process(action)));
    }
    if nodes.is_empty() && goes_on.is_some() {
        nodes.push((values.clone(), None));
    }
    Ok(nodes)
}

/// All nodes, with the numbers of those that come next; none if there are too many, or something goes wrong.
fn all_single_actions(system: &ActionSystem) -> Option<(Vec<Node>, Vec<Vec<usize>>)> {
    let mut nodes: Vec<Node> = reference::initial(system).into_iter().map(|values| (values, None)).collect();
    let mut next: Vec<Vec<usize>> = Vec::new();
    while next.len() < nodes.len() {
        let mut targets = Vec::new();
        for node in by_single_actions(system, &nodes[next.len()]).ok()? {
            let known = nodes.iter().position(|known| *known == node);
            targets.push(known.unwrap_or(nodes.len()));
            if known.is_none() {
                nodes.push(node);
            }
        }
        next.push(targets);
        if nodes.len() > 400 {
            return None;
        }
    }
    Some((nodes, next))
}

#[test]
fn chains_are_what_they_are_made_of() {
    let (n_rounds, n_others) = (Cell::new(0), Cell::new(0));
    run_cases(3000, &systems::recipe_with_chains(), |recipe| {
        if recipe.goes_on.is_empty() {
            return Ok(());
        }
        let system = recipe.build();
        let Some((nodes, next)) = all_single_actions(&system) else { return Ok(()) };
        let Ok(Some(space)) = naive::explore(&system, 400) else { return Ok(()) };
        // Those where nobody goes on, and those to which somebody comes back without a pause.
        let comes_back = |node: usize| {
            let mut met = vec![false; nodes.len()];
            let mut work = vec![node];
            while let Some(at) = work.pop() {
                for &to in next[at].iter().filter(|&&to| nodes[to].1.is_some()) {
                    if !std::mem::replace(&mut met[to], true) {
                        work.push(to);
                    }
                }
            }
            met[node]
        };
        let mut expected = Vec::new();
        for (index, (values, goes_on)) in nodes.iter().enumerate() {
            if goes_on.is_some() && !comes_back(index) {
                continue;
            }
            let mut values = values.clone();
            // The holder is the last variable.
            *values.last_mut().expect("a holder") = goes_on.map_or(0, |process| process.index() as i64 + 1);
            expected.push(values);
            let count = if goes_on.is_some() { &n_rounds } else { &n_others };
            count.set(count.get() + 1);
        }
        let mut found = space.states;
        found.sort_unstable();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(found, expected);
        Ok(())
    });
    assert_met!(n_rounds.get() > 300 && n_others.get() > 1000, "{n_rounds:?} {n_others:?}");
}

#[test]
fn several_initial_states_are_exported_behind_an_artificial_one() {
    let n_several = Cell::new(0u32);
    run_cases(500, &systems::recipe(true), |recipe| {
        let system = recipe.build();
        let Ok(Some(space)) = naive::explore(&system, 300) else { return Ok(()) };
        let mut store = Exact::new(system.width(), u64::MAX);
        let stats = search::bfs::search(&system, &mut store, &[], &mut base::Budget::unlimited()).stats;
        let export =
            report::space::Space { system: &system, store: &store, n_transitions: stats.transitions };
        let n_initial = export.initial().len();
        prop_assert_eq!(n_initial, space.distance.iter().filter(|&&distance| distance == 0).count());
        let mut text = Vec::new();
        export.write_aut(&mut text).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let text = String::from_utf8(text).expect("text");
        let lts = model::aut::parse(&text, base::SourceId::new(0), &mut base::Budget::unlimited())
            .unwrap()
            .expect("what is written can be read");
        let (extra_states, extra_edges) = if n_initial > 1 { (1, n_initial) } else { (0, 0) };
        prop_assert_eq!(lts.n_states as usize, space.states.len() + extra_states);
        prop_assert_eq!(lts.edges.len(), space.transitions.len() + extra_edges);
        let from_initial = lts.edges.iter().filter(|edge| edge.0 == lts.initial);
        let inits =
            from_initial.filter(|edge| lts.labels[edge.1 as usize].as_deref() == Some("init")).count();
        prop_assert_eq!(inits, extra_edges);
        n_several.set(n_several.get() + u32::from(n_initial > 1));
        Ok(())
    });
    assert_met!(n_several.get() > 50, "{n_several:?} systems with several initial states");
}
