//! Formulas on random networks: every observer, search, reduction and store that may be combined, against
//! a naive search with another automaton, against all short lassos of the system, and against the
//! negated formula. Every counterexample is judged by the semantics of the formula.

use std::cell::RefCell;
use std::collections::HashMap;

use check::decide::Settings;
use check::method::{FairnessBy, ObserverKind, SearchKind, StoreKind};
use check::product::{AtDeadlock, ObserverOrder, Orders, StepOrder};
use check::search::one_pass::WorkSet;
use generators::random;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::methods::{self, Tally};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// Every method that is sound says the same, every other is refused, and what is reduced is not larger.
fn check_all_methods(
    case: &mut Case,
    violated: bool,
    at_deadlock: AtDeadlock,
    tally: &Tally,
) -> Result<(), TestCaseError> {
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let mut full: HashMap<ObserverKind, u64> = HashMap::new();
    let mut full_edges: HashMap<ObserverKind, u64> = HashMap::new();
    let plain = Settings { at_deadlock, ..Settings::default() };
    let orders = [StepOrder::Reverse, StepOrder::Led, StepOrder::Shuffled(7)];
    for (number, method) in methods::all().into_iter().enumerate() {
        // Over many cases, each method has each order.
        let steps = orders[(number + case.system.actions().len()) % orders.len()];
        let orders = Orders { steps, observer: ObserverOrder::AcceptingFirst };
        let other = Settings { orders, work_set: WorkSet::Stack, ..plain };
        for settings in [plain, other] {
            let Some(decision) = tally.search(&mut claim, &case.system, method, &settings)? else { break };
            let outcome = decision.outcome;
            let found = case.judge(formula, &outcome);
            let found =
                found.map_err(|error| TestCaseError::fail(format!("{method:?} {settings:?}: {error}")))?;
            prop_assert_eq!(found, violated, "{:?} {:?}", method, settings);
            // Monitors have states of their own, and another automaton is used for the classical reduction.
            let is_comparable = method.store == StoreKind::Exact
                && method.fairness_by == FairnessBy::Search
                && (method.reduction.is_none() || !method.observer.is_by_value());
            if found || !is_comparable {
                continue;
            }
            // Two passes go over the same edges twice.
            if method.search == SearchKind::Scc {
                let edges = outcome.stats.transitions;
                let full = *full_edges.entry(method.observer).or_insert(edges);
                prop_assert!(edges <= full, "{:?}: {} edges of {}", method, edges, full);
            }
            let states = outcome.stats.states;
            match (method.reduction, full.get(&method.observer)) {
                (None, Some(&full)) => {
                    prop_assert_eq!(full, states, "{:?}: the full product is always the same", method);
                }
                (None, None) => _ = full.insert(method.observer, states),
                (Some(_), full) => {
                    let is_larger = full.is_some_and(|&full| full < states);
                    prop_assert!(!is_larger, "{:?}: a reduced space is never larger", method);
                }
            }
        }
    }
    Ok(())
}

/// What was seen: formulas that hold, that are violated, and that a short lasso violates; and by which methods.
#[derive(Default)]
struct Seen {
    counts: RefCell<[u32; 3]>,
    tally: Tally,
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
        check_all_methods(&mut case, violated, at_deadlock, &seen.tally)
            .map_err(|error| TestCaseError::fail(format!("{formula}, {at_deadlock:?}: {error}")))?;
    }
    seen.counts.borrow_mut()[usize::from(violated)] += 1;
    seen.counts.borrow_mut()[2] += u32::from(by_lasso);
    Ok(())
}

/// So many cases about these things; `of` makes a formula about one. `least` says how many hold, are violated,
/// and are violated by a short lasso, at least.
fn check_cases<T: std::fmt::Debug>(
    n_cases: u32,
    things: impl Strategy<Value = T>,
    of: impl Fn(&T, Draw) -> Option<Case>,
    least: [u32; 3],
) {
    let seen = Seen::default();
    run_cases(n_cases, &(things, any::<u64>(), 1..14u32), |(thing, seed, size)| {
        match of(&thing, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &seen),
            None => Ok(()),
        }
    });
    let found = seen.counts.into_inner();
    assert_met!(found.iter().zip(least).all(|(&found, least)| found > least), "{found:?}");
    seen.tally.assert_each(methods::all().into_iter().filter(|method| methods::is_sound(*method)), 300);
}

#[test]
fn all_methods_agree_with_the_definition_on_networks() {
    check_cases(1500, networks::network(), Case::of_network, [250, 250, 150]);
}

#[test]
fn all_methods_agree_with_the_definition_on_systems_with_data() {
    check_cases(1500, systems::recipe(true), Case::of_recipe, [100; 3]);
}

#[test]
fn all_methods_agree_on_formulas_with_next_that_do_not_see_stuttering() {
    let seen = Seen::default();
    let strategy = (networks::network(), any::<u64>(), 1..8u32, 0..4u8);
    run_cases(400, &strategy, |(network, seed, size, form)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let (formulas, inner, some) = (&mut case.formulas, case.formula, case.propositions[0].0);
        let some = formulas.prop(some);
        let next = match form {
            // F X G f, G F X f.
            0 => formulas.globally(inner),
            1 => inner,
            // F (a & X (!a & f)).
            2 => {
                let other = formulas.not(some);
                formulas.and([other, inner])
            }
            // F (a & X !a).
            _ => formulas.not(some),
        };
        let next = formulas.next(next);
        case.formula = match form {
            0 => formulas.finally(next),
            1 => {
                let often = formulas.finally(next);
                formulas.globally(often)
            }
            _ => {
                let change = formulas.and([some, next]);
                formulas.finally(change)
            }
        };
        if case.formulas.classes(case.formula).is_next_free() {
            return Ok(()); // Something in it was trivial.
        }
        let formula = case.formula;
        prop_assert!(case.claim(formula).proof().is_some(), "{}", case.text());
        check_case(case, &seen)
    });
    let [holds, violated, _] = *seen.counts.borrow();
    assert_met!(holds > 30 && violated > 30, "{:?}", seen.counts);
    seen.tally.assert_each(methods::all().into_iter().filter(|method| methods::is_sound(*method)), 100);
}

#[test]
fn all_methods_agree_with_the_definition_where_steps_are_chains() {
    check_cases(2500, systems::recipe_with_chains(), Case::of_recipe, [100; 3]);
}
