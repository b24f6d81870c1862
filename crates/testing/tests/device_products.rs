//! Searches of products on a device that is this processor, and by the kernel text where there is a C++ compiler: every observer and search,
//! with weak and strong fairness and justness, against brute force. Whatever a device decides is right by definition; what
//! holds, it decides; and its counts and valuations are those of one worker.

mod host;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use base::Budget;
use base::device::Device;
use check::decide::{Decision, OnDevice, Settings, TesterClaim};
use check::device::CpuDevice;
use check::fairness::Constraint;
use check::method::{FairnessBy, Method, SearchKind, StoreKind};
use check::product::AtDeadlock;
use generators::random;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, load};
use stubborn_testing::crew::Crew;
use stubborn_testing::judged::{constraints, counts, fail, judge_fair, judge_tester};
use stubborn_testing::methods;
use stubborn_testing::testers::{self, Recipe};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// How often a device has decided by each method: what holds, and what does not.
type Tally = RefCell<HashMap<Method, [u32; 2]>>;

/// A device searches everything, so it is tried with the methods that leave nothing out.
fn is_tried(method: Method) -> bool {
    method.reduction.is_none() && method.store == StoreKind::Exact && method.fairness_by == FairnessBy::Search
}

/// What a second pass does not count otherwise: states, steps, and deadlocks.
fn figures(method: Method, decision: &Decision) -> (u64, Option<u64>, u64) {
    let (states, transitions, deadlocks, _) = counts(&decision.outcome);
    let has_one_pass = matches!(method.search, SearchKind::Scc | SearchKind::OnePass);
    (states, has_one_pass.then_some(transitions), deadlocks)
}

/// Some of the methods, which depend on the case. Returns whether the formula is violated.
fn agree(
    mut case: Case,
    constraints: &[Constraint],
    at_deadlock: AtDeadlock,
    seed: u64,
    device: &dyn Device,
    tally: &Tally,
) -> Result<bool, TestCaseError> {
    const STEP: usize = 2;
    let violated = match constraints {
        [] => case.is_violated_naively(at_deadlock),
        _ => case.is_violated_fairly(constraints),
    };
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let is_stutter_invariant = claim.proof().is_some();
    let tried = methods::all().into_iter().filter(|method| is_tried(*method));
    for method in tried.skip(seed as usize % STEP).step_by(STEP) {
        let is_sound = match constraints {
            [] => methods::is_sound(method),
            _ => methods::is_sound_for_fair_runs(method),
        };
        if !is_sound || !is_stutter_invariant && !method.observer.is_by_value() {
            continue;
        }
        let settings = Settings { at_deadlock, fairness: constraints, ..Settings::default() };
        let context = || format!("{method:?}, {at_deadlock:?}, {}, {constraints:?}", case.text());
        let is_allowed = methods::is_allowed(&mut claim, method, &settings);
        let decided =
            claim.search(&case.system, method, &settings, &mut Budget::unlimited().with_device(Some(device)));
        let decided = methods::decided(method, is_allowed, decided)
            .map_err(|error| fail(format!("{error}: {}", context())))?;
        let Some(decision) = decided else { continue };
        let found = case.judge(formula, &decision.outcome);
        let found = found.map_err(|error| fail(format!("{error}: {}", context())))?;
        prop_assert_eq!(found, violated, "{}", context());
        if let (Some(evidence), false) = (decision.outcome.evidence(), constraints.is_empty()) {
            judge_fair(&case, evidence, constraints)
                .map_err(|error| fail(format!("{error}: {}", context())))?;
        }
        let is_decided = decision.on_device == Some(OnDevice::Decided);
        tally.borrow_mut().entry(method).or_default()[usize::from(found)] += u32::from(is_decided);
        if !found {
            prop_assert!(is_decided, "{:?}: {}", decision.on_device, context());
            let alone = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
            let alone = alone.map_err(fail)?;
            prop_assert_eq!(figures(method, &decision), figures(method, &alone), "{}", context());
            let sorted = |decision: &Decision| {
                let mut valuations = decision.valuations.clone();
                valuations.sort_unstable();
                valuations
            };
            prop_assert_eq!(sorted(&decision), sorted(&alone), "{}", context());
        }
    }
    Ok(violated)
}

const AT_DEADLOCK: [AtDeadlock; 3] = [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error];

/// Everything that can be asked of a device by a formula, so many times; says what was decided.
fn try_formulas(n_cases: u32, device: &dyn Device) -> Tally {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    run_cases(n_cases, &(networks::network(), any::<u64>(), 1..14u32), |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let violated = agree(case, &[], AT_DEADLOCK[seed as usize % 3], seed >> 8, device, &tally)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))?;
        n.borrow_mut()[usize::from(violated)] += 1;
        Ok(())
    });
    assert_met!(n.borrow().iter().all(|&n| n > n_cases / 8), "{n:?}");
    run_cases(
        n_cases,
        &(systems::recipe(true), systems::recipe_with_chains(), any::<u64>(), 1..14u32),
        |case| {
            let (data, chains, seed, size) = case;
            for recipe in [data, chains] {
                let draw = Draw { seed, size, operators: random::ALL };
                if let Some(case) = Case::of_recipe(&recipe, draw) {
                    agree(case, &[], AT_DEADLOCK[seed as usize % 3], seed >> 8, device, &tally)?;
                }
            }
            Ok(())
        },
    );
    tally
}

/// The same for fair runs. Constraints are of processes: weak, strong, or just.
fn try_fair_formulas(n_cases: u32, device: &dyn Device) -> Tally {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(n_cases, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let constraints = constraints(&case, &kinds[..network.processes.len()]);
        if constraints.is_empty() {
            return Ok(());
        }
        let violated = agree(case, &constraints, AtDeadlock::Stutter, seed, device, &tally)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))?;
        n.borrow_mut()[usize::from(violated)] += 1;
        Ok(())
    });
    assert_met!(n.borrow().iter().all(|&n| n > n_cases / 12), "{n:?}");
    tally
}

/// Testers, with fairness or without. Returns how often a device has decided: what holds, and what does not.
fn try_testers(n_cases: u32, device: &dyn Device) -> [u32; 2] {
    let n_decided = Cell::new([0; 2]);
    run_cases(n_cases, &(networks::network(), testers::recipe()), |(network, recipe)| {
        let recipe: Recipe = recipe;
        let model = load(&network.to_text());
        let (system, tester) = (&*model.system, recipe.tester(&network));
        let labels = testers::label_ids(system, &tester.letters);
        let conditions = testers::conditions(&network.explore(), &tester, &recipe.labels(&network));
        let claim = TesterClaim::new(&tester, &labels);
        for method in methods::all().into_iter().filter(|method| is_tried(*method)) {
            if !methods::is_sound_for_testers(method, claim.has_infinite_states()) {
                continue;
            }
            let settings = Settings::default();
            let alone = claim.search(system, method, &settings, &mut Budget::unlimited()).map_err(fail)?;
            let mut budget = Budget::unlimited().with_device(Some(device));
            let decision = claim.search(system, method, &settings, &mut budget).map_err(fail)?;
            let found = conditions.contains(&true);
            prop_assert_eq!(decision.outcome.found(), Some(found), "{:?}", method);
            if let Some(evidence) = decision.outcome.evidence() {
                judge_tester(system, &tester, &labels, evidence)?;
            }
            let is_decided = decision.on_device == Some(OnDevice::Decided);
            let mut n = n_decided.get();
            n[usize::from(found)] += u32::from(is_decided);
            n_decided.set(n);
            if !found {
                prop_assert!(is_decided, "{:?}", decision.on_device);
                prop_assert_eq!(figures(method, &decision), figures(method, &alone), "{:?}", method);
            }
        }
        Ok(())
    });
    n_decided.get()
}

/// Every method was decided so often, where something holds; and so often in all, where something is violated.
fn assert_each(tally: &Tally, is_sound: impl Fn(Method) -> bool, at_least: u32, violated: u32) {
    for method in methods::all().into_iter().filter(|method| is_tried(*method) && is_sound(*method)) {
        let [n_held, _] = tally.borrow().get(&method).copied().unwrap_or_default();
        assert_met!(n_held >= at_least, "{method:?} was decided {n_held} times");
    }
    let n_violated: u32 = tally.borrow().values().map(|[_, n_violated]| n_violated).sum();
    assert_met!(n_violated >= violated, "{n_violated}");
}

const BYTES: u64 = 1 << 20;

#[test]
fn a_device_agrees_with_the_definition() {
    assert_each(&try_formulas(200, &CpuDevice::new(BYTES)), methods::is_sound, 5, 5);
}

#[test]
fn a_device_with_several_workers_agrees_with_brute_force_under_fairness() {
    let crew = Crew(2);
    let tally = try_fair_formulas(300, &CpuDevice::with_team(BYTES, &crew));
    assert_each(&tally, methods::is_sound_for_fair_runs, 5, 0);
}

#[test]
fn a_device_agrees_with_the_definition_of_testers() {
    let [n_held, n_violated] = try_testers(200, &CpuDevice::new(BYTES));
    assert_met!(n_held > 30 && n_violated > 30, "{n_held} {n_violated}");
}

#[test]
fn kernels_agree_with_the_definition() {
    let Some(device) = host::device("product-kernels", 2) else { return };
    assert_each(&try_formulas(30, &device), |_| false, 0, 1);
    assert_each(&try_fair_formulas(50, &device), |_| false, 0, 0);
    let [n_held, n_violated] = try_testers(20, &device);
    assert_met!(n_held > 3 && n_violated > 3, "{n_held} {n_violated}");
}
