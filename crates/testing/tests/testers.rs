//! Testers, specifications and stubborn sets on random networks: every search, store and order,
//! with and without reduction, against the definitions of [valmari.93.cav].

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use automata::Tester;
use base::Budget;
use check::decide::tester::product;
use check::decide::{Settings, TesterClaim};
use check::method::StoreKind;
use check::reduced::Reduced;
use check::search::one_pass::WorkSet;
use check::search::{self, ProductOutcome, ProductStop, Violation, nested_dfs, one_pass};
use check::store::ExactPlanes;
use check::{Exact, Goal, Visited as _};
use language::Model as _;
use model::{ActionSystem, LabelId, System as _};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use replay::{Ending, Question, TesterClaim as Illegal};
use stubborn_testing::claims::load;
use stubborn_testing::methods::{self, Tally};
use stubborn_testing::networks::{self, Network};
use stubborn_testing::testers::{self, Conditions, Recipe};
use stubborn_testing::{assert_met, run_cases};

fn claim(violation: Violation) -> Illegal {
    match violation {
        Violation::AtOnce => Illegal::IllegalTrace,
        Violation::Deadlock => Illegal::StableFailure,
        Violation::Livelock => Illegal::Divergence,
        Violation::Cycle => Illegal::InfiniteTrace,
    }
}

/// Checks an outcome against the conditions that the search can find.
fn judge(
    name: &str,
    system: &ActionSystem,
    tester: &Tester,
    labels: &[LabelId],
    outcome: &ProductOutcome,
    conditions: Conditions,
    can_find: Conditions,
) -> Result<bool, TestCaseError> {
    let expected = conditions.iter().zip(can_find).any(|(&holds, can_find)| holds && can_find);
    match &outcome.stop {
        None => prop_assert!(!expected, "{} missed one of {:?}", name, conditions),
        Some(ProductStop::Found(evidence)) => {
            let violation = evidence.violation;
            prop_assert!(
                conditions[violation as usize],
                "{} claims {:?}, true are {:?}",
                name,
                violation,
                conditions
            );
            let question = Question::Tester { tester, labels, claim: claim(violation) };
            let ending = match (violation, evidence.cycle_start) {
                (_, Some(start)) => Ending::Cycle(start),
                (Violation::Deadlock, None) => Ending::Deadlock,
                (_, None) => Ending::Open,
            };
            let run = replay::Evidence::new(&evidence.run, ending);
            replay::judge(system, &question, &run, &mut Budget::unlimited()).map_err(|error| {
                TestCaseError::fail(format!("{name}: {violation:?} does not replay: {error}"))
            })?;
        }
        Some(stop) => return Err(TestCaseError::fail(format!("{name}: {stop:?}"))),
    }
    Ok(expected)
}

const C123: Conditions = [true, true, true, false];
const C124: Conditions = [true, true, false, true];
const ALL: Conditions = [true; 4];

/// Every sound method in every order, while every other is refused; returns whether something is wrong.
fn check_everything(
    system: &ActionSystem,
    tester: &Tester,
    labels: &[LabelId],
    conditions: Conditions,
    tally: &Tally,
) -> Result<bool, TestCaseError> {
    let mut full = product(system, tester, labels, &mut Budget::unlimited()).expect("a small tester");
    let width = full.width();
    let exact = || ExactPlanes::new(width, u64::MAX);
    let claim = TesterClaim::new(tester, labels);
    let mut budget = Budget::unlimited();
    let mut wrong = false;
    for work_set in [WorkSet::Queue, WorkSet::Stack] {
        let judge = |name: &str, outcome: &ProductOutcome, can_find| {
            judge(&format!("{name} {work_set:?}"), system, tester, labels, outcome, conditions, can_find)
        };
        judge("one-pass", &one_pass::search(&mut full, work_set, &mut exact(), &mut budget), C123)?;
        judge("nested", &nested_dfs::search(&mut full, &mut exact(), &mut budget), C124)?;
        let settings = Settings { work_set, ..Settings::default() };
        let mut n_full = HashMap::new();
        for method in methods::all() {
            let Some(decision) = tally.search_tester(&claim, system, method, &settings)? else { continue };
            let outcome = decision.outcome;
            wrong = judge(&format!("{method:?}"), &outcome, ALL)?;
            if wrong || method.store != StoreKind::Exact {
                continue;
            }
            let n_states = *n_full.entry(method.search).or_insert(outcome.stats.states);
            prop_assert!(outcome.stats.states <= n_states, "a reduced space is never larger");
        }
    }
    Ok(wrong)
}

/// The tester with only one kind of special states.
fn only(tester: &Tester, kind: usize) -> Tester {
    let mut tester = tester.clone();
    for state in &mut tester.states {
        state.reject &= kind == 0;
        state.deadlock &= kind == 1;
        state.livelock &= kind == 2;
        state.infinite &= kind == 3;
    }
    tester
}

#[test]
fn testers_say_what_the_definitions_say() {
    let (n_wrong, tally) = (RefCell::new([0u32; 2]), Tally::default());
    run_cases(4000, &(networks::network(), testers::recipe()), |(network, recipe): (Network, Recipe)| {
        let model = load(&network.to_text());
        let (tester, labels) = (recipe.tester(&network), recipe.labels(&network));
        prop_assert_eq!(tester.flaw(), None);
        let ids = testers::label_ids(&model.system, &tester.letters);
        let conditions = testers::conditions(&network.explore(), &tester, &labels);
        let wrong = check_everything(&model.system, &tester, &ids, conditions, &tally)?;
        n_wrong.borrow_mut()[usize::from(wrong)] += 1;
        Ok(())
    });
    let [right, wrong] = n_wrong.into_inner();
    assert_met!(right > 300 && wrong > 300, "{right} systems right, {wrong} wrong");
    let sound = methods::all().into_iter().filter(|method| methods::is_sound_for_testers(*method, false));
    tally.assert_each(sound, 300);
}

#[test]
fn each_single_condition_is_found() {
    let (n_found, tally) = (RefCell::new([0u32; 4]), Tally::default());
    run_cases(3000, &(networks::network(), testers::recipe()), |(network, recipe): (Network, Recipe)| {
        let model = load(&network.to_text());
        let (all, labels) = (recipe.tester(&network), recipe.labels(&network));
        let ids = testers::label_ids(&model.system, &all.letters);
        let space = network.explore();
        for kind in 0..4 {
            let tester = only(&all, kind);
            let conditions = testers::conditions(&space, &tester, &labels);
            if check_everything(&model.system, &tester, &ids, conditions, &tally)? {
                n_found.borrow_mut()[kind] += 1;
            }
        }
        Ok(())
    });
    assert_met!(n_found.borrow().iter().all(|&n| n > 100), "{n_found:?}");
}

#[test]
fn specifications_allow_what_the_definitions_allow() {
    let (n_conforming, tally) = (RefCell::new([0u32; 2]), Tally::default());
    run_cases(4000, &(networks::network(), testers::recipe()), |(network, recipe): (Network, Recipe)| {
        let model = load(&network.to_text());
        let (spec, labels) = (recipe.spec(&network), recipe.labels(&network));
        let tester = spec.to_tester(10_000, &mut Budget::unlimited()).expect("a small tester");
        prop_assert_eq!(tester.flaw(), None);
        let ids = testers::label_ids(&model.system, &tester.letters);
        let space = network.explore();
        let conforms = testers::conforms(&space, &spec, &labels);
        let conditions = testers::conditions(&space, &tester, &labels);
        prop_assert_eq!(conforms, !conditions.contains(&true));
        check_everything(&model.system, &tester, &ids, conditions, &tally)?;
        n_conforming.borrow_mut()[usize::from(conforms)] += 1;
        Ok(())
    });
    let [no, yes] = n_conforming.into_inner();
    assert_met!(no > 300 && yes > 100, "{yes} conform, {no} do not");
}

#[test]
fn reduction_keeps_deadlocks_and_violated_invariants() {
    let n_smaller = Cell::new(0u32);
    run_cases(4000, &(networks::network(), 0..4usize, 0..4usize), |(network, a, b)| {
        let mut model = load(&network.to_text());
        let n = network.processes.len();
        let (a, b) = (a % network.processes[0].n_states, b % network.processes[n - 1].n_states);
        let text = format!("!(P0@s{a} && P{}@s{b})", n - 1);
        let expr = model.resolve(&text, base::SourceId::new(0), 0).expect("a good expression");
        let goal = Goal::Invariant(model.parts().0.add_proposition(text, expr));
        let Goal::Invariant(number) = goal else { return Ok(()) };
        let system = &*model.system;
        let mut budget = Budget::unlimited();
        let exact = || Exact::new(system.width(), u64::MAX);
        let full = search::bfs::search(system, &mut exact(), &[], &mut budget);
        let deadlocks = Reduced::for_deadlocks(system, &mut Budget::unlimited()).unwrap();
        let mut store = exact();
        let reduced = search::bfs::search(&deadlocks, &mut store, &[], &mut budget);
        prop_assert_eq!(reduced.stats.deadlocks, full.stats.deadlocks);
        prop_assert!(store.n_states() <= full.stats.states);
        n_smaller.set(n_smaller.get() + u32::from(reduced.stats.states < full.stats.states));
        let violated =
            search::bfs::search(system, &mut exact(), &[goal], &mut budget).violations[0].is_some();
        let invariant = Reduced::for_invariant(system, number, &mut Budget::unlimited()).unwrap();
        for outcome in [
            search::bfs::search(&invariant, &mut exact(), &[goal], &mut budget),
            search::dfs::search(&invariant, &mut exact(), &[goal], &mut budget),
        ] {
            prop_assert_eq!(outcome.violations[0].is_some(), violated);
            if let Some(run) = &outcome.violations[0] {
                let run = replay::Evidence::new(run, Ending::Open);
                replay::judge(system, &Question::Violates(expr), &run, &mut budget)
                    .map_err(|error| TestCaseError::fail(error.to_string()))?;
            }
        }
        Ok(())
    });
    assert_met!(n_smaller.get() > 500, "{n_smaller:?} systems became smaller");
}
