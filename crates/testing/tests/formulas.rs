//! Formulas on random networks: every observer, search, reduction and store that may be combined, against
//! a naive search with another automaton, against all short lassos of the system, and against the
//! negated formula. Every counterexample is judged by the semantics of the formula.

use std::cell::Cell;
use std::collections::HashMap;

use base::Budget;
use check::decide::{Settings, StoreChoice};
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{AtDeadlock, ObserverOrder, Orders};
use check::reduction;
use check::search::one_pass::WorkSet;
use generators::random;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::{networks, run_cases, systems};

/// All that may be combined, allowed or not.
fn all_methods() -> Vec<(Method, Settings<'static>)> {
    let observers = [
        ObserverKind::Tgba,
        ObserverKind::Ba,
        ObserverKind::Ta,
        ObserverKind::Tgta,
        ObserverKind::LazyTa,
        ObserverKind::LazyTgta,
        ObserverKind::Extended,
    ];
    let searches = [SearchKind::Scc, SearchKind::Nested, SearchKind::OnePass, SearchKind::TwoPass];
    let reductions = [
        None,
        Some(reduction::Method::Guided),
        Some(reduction::Method::Hybrid),
        Some(reduction::Method::Classical),
    ];
    let mut methods = Vec::new();
    for observer in observers {
        for search in searches {
            for reduction in reductions {
                for bitstate in [false, true] {
                    let store = if bitstate { StoreChoice::Bitstate(1 << 15, 3) } else { StoreChoice::Exact };
                    let settings = Settings { store, ..Settings::default() };
                    let method = Method { observer, search, reduction, bitstate };
                    methods.push((method, settings));
                    let orders = Orders { reverse: true, observer: ObserverOrder::AcceptingFirst };
                    let work_set = WorkSet::Stack;
                    methods.push((method, Settings { orders, work_set, ..settings }));
                }
            }
        }
    }
    methods
}

/// Every method that is allowed says the same, and what is reduced is not larger.
fn check_all_methods(
    case: &mut Case,
    violated: bool,
    at_deadlock: AtDeadlock,
    n_combinations: &Cell<u32>,
) -> Result<(), TestCaseError> {
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let mut full: HashMap<ObserverKind, u64> = HashMap::new();
    for (method, settings) in all_methods() {
        let mut budget = Budget::unlimited();
        let settings = Settings { at_deadlock, ..settings };
        let Ok(decision) = claim.search(&case.system, method, &settings, &mut budget) else {
            continue;
        };
        n_combinations.set(n_combinations.get() + 1);
        let outcome = decision.outcome;
        let found = case.judge(formula, &outcome);
        let found =
            found.map_err(|error| TestCaseError::fail(format!("{method:?} {settings:?}: {error}")))?;
        prop_assert_eq!(found, violated, "{:?} {:?}", method, settings);
        if found || method.bitstate || method.reduction == Some(reduction::Method::Classical) {
            continue; // Another automaton is used for the classical reduction.
        }
        let key = method.observer;
        match method.reduction {
            None => {
                let known = *full.entry(key).or_insert(outcome.stats.states);
                prop_assert_eq!(
                    known,
                    outcome.stats.states,
                    "{:?}: the full product is always the same",
                    method
                );
            }
            Some(_) => {
                if let Some(&full) = full.get(&key) {
                    prop_assert!(
                        outcome.stats.states <= full,
                        "{:?}: a reduced space is never larger",
                        method
                    );
                }
            }
        }
    }
    Ok(())
}

/// What was seen: formulas that hold, that are violated, and that a short lasso violates; and how many
/// combinations of methods.
#[derive(Default)]
struct Seen {
    counts: Cell<[u32; 3]>,
    n_combinations: Cell<u32>,
}

/// Compares all methods with the definition, and counterexamples with the semantics of the formula.
fn check_case(mut case: Case, seen: &Seen) -> Result<(), TestCaseError> {
    let violated = case.is_violated(case.formula)?;
    let formula = case.text();
    prop_assert_eq!(violated, case.is_violated_naively(AtDeadlock::Stutter), "{}", formula);
    let by_lasso = case.short_lasso_violates(6);
    prop_assert!(violated || !by_lasso, "a lasso violates {}", formula);
    let negation = case.formulas.not(case.formula);
    let both_hold = !violated && !case.is_violated(negation)?;
    prop_assert!(!both_hold, "{} and its negation hold", formula);
    for at_deadlock in [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error] {
        let violated = case.is_violated_naively(at_deadlock);
        check_all_methods(&mut case, violated, at_deadlock, &seen.n_combinations)
            .map_err(|error| TestCaseError::fail(format!("{formula}, {at_deadlock:?}: {error}")))?;
    }
    let mut counts = seen.counts.get();
    counts[usize::from(violated)] += 1;
    counts[2] += u32::from(by_lasso);
    seen.counts.set(counts);
    Ok(())
}

#[test]
fn all_methods_agree_with_the_definition_on_networks() {
    let seen = Seen::default();
    let strategy = (networks::network(), any::<u64>(), 1..14u32);
    run_cases(1500, &strategy, |(network, seed, size)| {
        match Case::of_network(&network, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &seen)
                .map_err(|error| TestCaseError::fail(format!("{}\n{error}", network.to_text()))),
            None => Ok(()),
        }
    });
    let [holds, violated, by_lasso] = seen.counts.get();
    assert!(holds > 250 && violated > 250 && by_lasso > 150, "{:?}", seen.counts);
    assert!(seen.n_combinations.get() > 100_000, "{:?} combinations", seen.n_combinations);
}

#[test]
fn all_methods_agree_with_the_definition_on_systems_with_data() {
    let seen = Seen::default();
    let strategy = (systems::recipe(true), any::<u64>(), 1..14u32);
    run_cases(1500, &strategy, |(recipe, seed, size)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &seen),
            None => Ok(()),
        }
    });
    let [holds, violated, by_lasso] = seen.counts.get();
    assert!(holds > 100 && violated > 100 && by_lasso > 100, "{:?}", seen.counts);
}

#[test]
fn all_methods_agree_with_the_definition_where_steps_are_chains() {
    let seen = Seen::default();
    let strategy = (systems::recipe_with_chains(), any::<u64>(), 1..14u32);
    run_cases(2500, &strategy, |(recipe, seed, size)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &seen),
            None => Ok(()),
        }
    });
    let [holds, violated, by_lasso] = seen.counts.get();
    assert!(holds > 100 && violated > 100 && by_lasso > 100, "{:?}", seen.counts);
}
