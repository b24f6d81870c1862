//! Certificates: whatever holds can be certified, by a checker that shares nothing with the search; whatever is
//! corrupted is refused, and mistakes of a search are noticed.
//!
//! Here is whatever holds of random systems. `mistakes` has searches that err, `model` one model of which everything is
//! certified, and `corrupted` what becomes of its certificates if they are changed.

mod corrupted;
mod mistakes;
mod model;

use std::cell::RefCell;

use ::model::fairness::{Constraint, Kind};
use ::model::{ActionId, System};
use base::Budget;
use certify::{Certified, Claim, Claimed, Ends, Proof, Refusal, What};
use check::product::AtDeadlock;
use generators::random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn::certificate::{Failed, prove, words, write};
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::toys::{kind_of, searched};
use stubborn_testing::{assert_met, networks, run_cases, systems, tell_count};

fn claim<'c>(case: &'c mut Case, ends: Ends, constraints: &'c [Constraint]) -> Claim<'c> {
    let Case { formulas, formula, propositions, system, .. } = case;
    Claim { system, what: What::Formula { formulas, formula: *formula, propositions }, ends, constraints }
}

/// Proves the formula of a case by whoever runs the system, and lets the checker look at the proof as a file has it.
fn certified<S: System>(
    runner: &S,
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
) -> Result<Result<Certified, Refusal>, Failed> {
    certified_though(runner, constraints, case, ends, constraints)
}

/// The same, where who proves it takes other constraints for those that are meant.
fn certified_though<S: System>(
    runner: &S,
    taken_for: &[Constraint],
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
) -> Result<Result<Certified, Refusal>, Failed> {
    let words = words(Claimed::Ltl(case.text()));
    let proof = prove(runner, claim(case, ends, taken_for), words, &mut Budget::unlimited())?;
    let mut file = Vec::new();
    write(&proof, &mut file).expect("proofs can be written");
    let proofs = Proof::read_all(&file).expect("what was written can be read");
    assert_eq!(proofs, [proof]);
    Ok(certify::check(claim(case, ends, constraints), &proofs[0], &mut Budget::unlimited()))
}

/// What holds is certified; what is violated has no proof.
fn agrees(
    case: &mut Case,
    ends: Ends,
    constraints: &[Constraint],
    violated: bool,
) -> Result<(), TestCaseError> {
    let system = case.system.clone();
    match certified(&system, case, ends, constraints) {
        Ok(checked) => {
            prop_assert!(!violated, "{} is violated, but has a proof", case.text());
            prop_assert!(checked.is_ok(), "{}: {:?} {:?}", case.text(), checked, constraints);
        }
        Err(Failed::Violated) => prop_assert!(violated, "{} holds, but has no proof", case.text()),
        Err(failed) => prop_assert!(false, "{}: {:?}", case.text(), failed),
    }
    Ok(())
}

fn constraints(case: &Case, kinds: &[u8]) -> Vec<Constraint> {
    let of_process = |process: usize| -> Vec<ActionId> {
        let all = (0..case.system.actions().len()).map(ActionId::new);
        all.filter(|&action| case.system.action(action).owners.iter().any(|owner| owner.index() == process))
            .collect()
    };
    let fair =
        kinds.iter().enumerate().filter_map(|(process, &kind)| Some((kind_of(kind)?, of_process(process))));
    let fair: Vec<(Kind, Vec<ActionId>)> = fair.filter(|(_, actions)| !actions.is_empty()).collect();
    searched(&case.system, &fair)
}

/// A case with every way to treat ends, and under fairness; counts what holds.
fn check_case(mut case: Case, kinds: &[u8], counts: &RefCell<[u32; 4]>) -> Result<(), TestCaseError> {
    let violated = case.is_violated_naively(AtDeadlock::Stutter);
    agrees(&mut case, Ends::Stutter, &[], violated)?;
    let on_infinite = case.is_violated_naively(AtDeadlock::Ignore);
    agrees(&mut case, Ends::Ignore, &[], on_infinite)?;
    let constraints = constraints(&case, kinds);
    let fairly = case.is_violated_fairly(&constraints);
    agrees(&mut case, Ends::Stutter, &constraints, fairly)?;
    let mut counts = counts.borrow_mut();
    counts[0] += u32::from(!violated);
    counts[1] += u32::from(!on_infinite && violated);
    counts[2] += u32::from(!fairly && violated);
    counts[3] += u32::from(violated);
    Ok(())
}

#[test]
fn whatever_holds_of_networks_is_certified() {
    let counts = RefCell::default();
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(4000, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        check_case(case, &kinds[..network.processes.len()], &counts)
            .map_err(|error| TestCaseError::fail(format!("{error} on\n{}", network.to_text())))
    });
    let [holds, ends, fairly, violated] = *counts.borrow();
    tell_count("networks", holds, violated);
    tell_count(
        "networks, only runs without end, or only fair ones",
        ends + fairly,
        2 * violated - ends - fairly,
    );
    assert_met!(holds > 1000 && ends > 20 && fairly > 30 && violated > 300, "{counts:?}");
}

#[test]
fn whatever_holds_of_systems_with_data_is_certified() {
    let counts = RefCell::default();
    let recipes = prop_oneof![systems::recipe(true), systems::recipe_with_chains()];
    let strategy = (recipes, any::<u64>(), 1..12u32, vec(0..4u8, 3));
    run_cases(4000, &strategy, |(recipe, seed, size, kinds)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(case) => check_case(case, &kinds, &counts),
            None => Ok(()),
        }
    });
    let [holds, ends, fairly, violated] = *counts.borrow();
    tell_count("systems with data", holds, violated);
    tell_count(
        "systems with data, only runs without end, or only fair ones",
        ends + fairly,
        2 * violated - ends - fairly,
    );
    assert_met!(holds > 300 && fairly > 1 && violated > 300, "{counts:?}");
}
