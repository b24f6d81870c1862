//! Products of which a device takes what an observer leads to, on a device that is this processor and by the kernel text where there is a C++
//! compiler: against brute force, and in counts against the search of one worker by the same sets. The mistakes that were tried are
//! listed in [`forgetting_is_noticed`].

mod host;

use std::cell::Cell;

use base::Budget;
use base::device::Device;
use check::decide::{Decision, OnDevice, Refusal, Settings, TesterClaim};
use check::device::CpuDevice;
use check::method::{FairnessBy, Method, SearchKind, StoreKind};
use check::product::AtDeadlock;
use check::reduction::Method::Guided;
use check::rules::Rule;
use generators::random;
use ltl::{Formulas, Prop};
use por::steady::Forgotten;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, about_places as case, load};
use stubborn_testing::crew::Crew;
use stubborn_testing::judged::{counts, fail, judge_tester};
use stubborn_testing::methods;
use stubborn_testing::networks::{Network, Process};
use stubborn_testing::testers::{self, Recipe};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// What was met: what a device decided that holds and what does not, and how many states it left out.
#[derive(Default)]
struct Seen {
    holds: Cell<u32>,
    violated: Cell<u32>,
    saved: Cell<u64>,
}

fn add<N: Copy + std::ops::Add<Output = N>>(cell: &Cell<N>, n: N) {
    cell.set(cell.get() + n);
}

fn guided() -> impl Iterator<Item = Method> {
    let is_tried = |method: &Method| {
        (method.reduction, method.store, method.fairness_by)
            == (Some(Guided), StoreKind::Exact, FairnessBy::Search)
    };
    methods::all().into_iter().filter(is_tried)
}

type Decide<'d> = &'d mut dyn FnMut(Method, &Settings<'_>, &mut Budget<'_>) -> Result<Decision, Refusal>;

/// What a device finds by a method is right, and what one worker finds by the same sets.
fn compare(
    method: Method,
    settings: &Settings<'_>,
    is_violated: bool,
    device: &dyn Device,
    seen: &Seen,
    decide: Decide<'_>,
) -> Result<Option<Decision>, TestCaseError> {
    let alone = Settings { by_state_alone: true, ..*settings };
    let alone = match decide(method, &alone, &mut Budget::unlimited()) {
        Err(Refusal::Rule(Rule::OnePassBuchi)) => return Ok(None),
        decided => decided.map_err(|why| fail(format!("{why}: {method:?}")))?,
    };
    prop_assert_eq!(alone.outcome.found(), Some(is_violated), "{:?}", method);
    let mut budget = Budget::unlimited().with_device(Some(device));
    let found = decide(method, &Settings { reduces: true, ..*settings }, &mut budget).map_err(fail)?;
    prop_assert_eq!(found.outcome.found(), Some(is_violated), "{:?}", method);
    let is_led = found.on_device == Some(OnDevice::Led);
    if is_violated {
        add(&seen.violated, is_led.into());
        return Ok(Some(found));
    }
    prop_assert!(is_led, "{:?}: {:?}", found.on_device, method);
    let figures = |decision: &Decision| {
        let (states, transitions, deadlocks, _) = counts(&decision.outcome);
        // A second pass counts steps again.
        let has_one_pass = matches!(method.search, SearchKind::Scc | SearchKind::OnePass);
        (states, has_one_pass.then_some(transitions), deadlocks)
    };
    prop_assert_eq!(figures(&found), figures(&alone), "{:?}", method);
    let sorted = |decision: &Decision| {
        let mut valuations = decision.valuations.clone();
        valuations.sort_unstable();
        valuations
    };
    prop_assert_eq!(sorted(&found), sorted(&alone), "{:?}", method);
    let whole =
        decide(Method { reduction: None, ..method }, settings, &mut Budget::unlimited()).map_err(fail)?;
    prop_assert!(counts(&found.outcome).0 <= counts(&whole.outcome).0, "{:?}", method);
    add(&seen.holds, 1);
    add(&seen.saved, counts(&whole.outcome).0 - counts(&found.outcome).0);
    Ok(Some(found))
}

const AT_DEADLOCK: [AtDeadlock; 3] = [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error];

fn compare_formula(mut case: Case, seed: u64, device: &dyn Device, seen: &Seen) -> Result<(), TestCaseError> {
    let settings = Settings { at_deadlock: AT_DEADLOCK[seed as usize % 3], ..Settings::default() };
    let is_violated = case.is_violated_naively(settings.at_deadlock);
    let formula = case.formula;
    let mut claim = case.claim(formula);
    if claim.proof().is_none() {
        return Ok(());
    }
    // A device looks for no deadlock of the system.
    let seen = if settings.at_deadlock == AtDeadlock::Error && is_violated { &Seen::default() } else { seen };
    for method in guided().filter(|method| methods::is_sound(*method)) {
        let mut decide = |method: Method, settings: &Settings<'_>, budget: &mut Budget<'_>| {
            claim.search(&case.system, method, settings, budget)
        };
        let context = |error| fail(format!("{error}, {}", case.text()));
        let found = compare(method, &settings, is_violated, device, seen, &mut decide).map_err(context)?;
        if let Some(found) = found {
            case.judge(formula, &found.outcome).map_err(context)?;
        }
    }
    Ok(())
}

fn compare_formulas(n_cases: u32, device: &dyn Device) -> Seen {
    let seen = Seen::default();
    let draw = |seed, size| Draw { seed, size, operators: random::ALL };
    run_cases(n_cases, &(networks::network(), any::<u64>(), 1..14u32), |(network, seed, size)| {
        let Some(case) = Case::of_network(&network, draw(seed, size)) else { return Ok(()) };
        compare_formula(case, seed, device, &seen)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))
    });
    let recipes = (systems::recipe(true), systems::recipe_with_chains(), any::<u64>(), 1..14u32);
    run_cases(n_cases, &recipes, |(data, chains, seed, size)| {
        for recipe in [data, chains] {
            if let Some(case) = Case::of_recipe(&recipe, draw(seed, size)) {
                compare_formula(case, seed, device, &seen)?;
            }
        }
        Ok(())
    });
    seen
}

fn compare_tester(
    network: &Network,
    recipe: &Recipe,
    device: &dyn Device,
    seen: &Seen,
) -> Result<(), TestCaseError> {
    let (model, tester) = (load(&network.to_text()), recipe.tester(network));
    let system = &*model.system;
    let labels = testers::label_ids(system, &tester.letters);
    let is_violated =
        testers::conditions(&network.explore(), &tester, &recipe.labels(network)).contains(&true);
    let claim = TesterClaim::new(&tester, &labels);
    let is_sound = |method: &Method| methods::is_sound_for_testers(*method, claim.has_infinite_states());
    for method in guided().filter(is_sound) {
        let mut decide = |method: Method, settings: &Settings<'_>, budget: &mut Budget<'_>| {
            claim.search(system, method, settings, budget)
        };
        let found = compare(method, &Settings::default(), is_violated, device, seen, &mut decide)?;
        if let Some(evidence) = found.as_ref().and_then(|found| found.outcome.evidence()) {
            judge_tester(system, &tester, &labels, evidence)?;
        }
    }
    Ok(())
}

fn compare_testers(n_cases: u32, device: &dyn Device) -> Seen {
    let seen = Seen::default();
    run_cases(n_cases, &(networks::network(), testers::recipe()), |(network, recipe)| {
        compare_tester(&network, &recipe, device, &seen)
    });
    seen
}

fn assert_seen(seen: &Seen, at_least: u32, saved: u64) {
    let Seen { holds, violated, saved: its } = seen;
    let is_enough = holds.get() > at_least && violated.get() > at_least && its.get() >= saved;
    assert_met!(is_enough, "{holds:?} {violated:?} {its:?}");
}

const BYTES: u64 = 1 << 20;

#[test]
fn a_device_is_led_by_testing_automata() {
    assert_seen(&compare_formulas(150, &CpuDevice::new(BYTES)), 50, 30);
}

#[test]
fn a_device_is_led_by_testers_with_several_workers() {
    let crew = Crew(2);
    assert_seen(&compare_testers(200, &CpuDevice::with_team(BYTES, &crew)), 50, 500);
}

#[test]
fn kernels_are_led() {
    let Some(device) = host::device("led-kernels", 2) else { return };
    assert_seen(&compare_formulas(25, &device), 3, 0);
    assert_seen(&compare_testers(30, &device), 3, 50);
}

/// Cases in which a kernel that keeps more than it must is found out by its counts: if it forgets that what the observer refuses for good
/// is a reason to wait, if it looks for that reason only where a step is not possible anyway, or if it looks for one wherever a step is
/// not possible.
#[test]
fn kernels_keep_no_more_than_they_must() {
    let Some(device) = host::device("led-kernels-keep", 2) else { return };
    let seen = Seen::default();
    let network = "process P0 { s0: tau -> s0 | l2 -> s1; s1: ; } process P1 { s0: l3 -> s0; s1: ; s2: ; }";
    let texts = ["P0@s0", "P0@s0 == 0 && P1@s0 == 1"];
    for seed in 0..3 {
        let formula = |formulas: &mut Formulas, props: &[Prop]| {
            let [before, after] = [props[0], props[1]].map(|prop| formulas.prop(prop));
            formulas.weak_until(before, after)
        };
        let case = Case::of_model(load(network), &texts, formula).unwrap();
        compare_formula(case, seed, &device, &seen).unwrap();
    }
    let process = |n_states, extra: &[usize], edges: &[_]| Process {
        n_states,
        edges: edges.to_vec(),
        extra_alphabet: extra.to_vec(),
    };
    let waits = [
        process(2, &[], &[(0, 1, 0), (0, 15, 0), (0, 15, 1)]),
        process(2, &[], &[(0, 2, 0), (0, 3, 0), (0, 25, 1)]),
        process(1, &[], &[(0, 4, 0)]),
    ];
    let refused = [
        process(1, &[2], &[(0, 0, 0), (0, 3, 0)]),
        process(2, &[], &[(0, 1, 1), (0, 2, 0), (1, 3, 0), (1, 4, 1)]),
    ];
    let waiting = [false, true, false, false];
    let cases = [
        (waits.to_vec(), Recipe { letters: vec![1, 2], states: vec![waiting], edges: vec![] }),
        (
            refused.to_vec(),
            Recipe { letters: vec![2, 1, 0], states: vec![[false; 4]], edges: vec![(0, 4, 0)] },
        ),
    ];
    for (processes, recipe) in cases {
        compare_tester(&Network { processes }, &recipe, &device, &seen).unwrap();
    }
    assert!(seen.holds.get() > 5, "{:?}", seen.holds);
}

/// How many answers about testers are wrong if a part of the sets is forgotten.
fn wrong_without(forgotten: Forgotten) -> u32 {
    let n_wrong = Cell::new(0);
    run_cases(300, &(networks::network(), testers::recipe()), |(network, recipe)| {
        let recipe: Recipe = recipe;
        let model = load(&network.to_text());
        let (system, tester) = (&*model.system, recipe.tester(&network));
        let labels = testers::label_ids(system, &tester.letters);
        let is_violated =
            testers::conditions(&network.explore(), &tester, &recipe.labels(&network)).contains(&true);
        let claim = TesterClaim::new(&tester, &labels);
        let is_sound = |method: &Method| methods::is_sound_for_testers(*method, claim.has_infinite_states());
        for method in guided().filter(is_sound) {
            let settings =
                Settings { by_state_alone: true, forgotten: Some(forgotten), ..Settings::default() };
            let decided = claim.search(system, method, &settings, &mut Budget::unlimited()).map_err(fail)?;
            add(&n_wrong, u32::from(decided.outcome.found() != Some(is_violated)));
        }
        Ok(())
    });
    n_wrong.get()
}

#[test]
fn forgetting_is_noticed() {
    for forgotten in [Forgotten::Needs, Forgotten::Enablers, Forgotten::Follows, Forgotten::Progress] {
        let n_wrong = wrong_without(forgotten);
        assert_met!(n_wrong > 3, "{forgotten:?}: {n_wrong}");
    }
}

/// Whether each method finds a violation, on a device and by the same sets on the processor; and whether it does if a part of the sets is
/// forgotten.
fn finds(mut case: Case, forgotten: Forgotten) {
    assert!(case.is_violated_naively(AtDeadlock::Stutter), "{} is violated", case.text());
    let mut claim = case.claim(case.formula);
    let mut n_missed = 0;
    for method in guided().filter(|method| methods::is_sound(*method)) {
        let mut is_found = |settings: Settings<'_>, device: Option<&dyn Device>| {
            let mut budget = Budget::unlimited().with_device(device);
            let decided = claim.search(&case.system, method, &settings, &mut budget);
            if matches!(decided, Err(Refusal::Rule(Rule::OnePassBuchi))) {
                return true;
            }
            decided.expect("an allowed method").outcome.found() == Some(true)
        };
        let settings = Settings { by_state_alone: true, reduces: true, ..Settings::default() };
        assert!(is_found(settings, None), "{method:?}");
        assert!(is_found(settings, Some(&CpuDevice::new(BYTES))), "{method:?}");
        n_missed += u32::from(!is_found(Settings { forgotten: Some(forgotten), ..settings }, None));
    }
    assert!(n_missed > 0, "{} without {forgotten:?}", case.text());
}

/// Refused is what the observer refuses whatever silent steps do first: `b` turns what `a` changes into something that it follows.
#[test]
fn refused_for_good() {
    let network = "process P0 { s0: a -> s1; s1: ; }
        process P1 { s0: a -> s1 | b -> s2; s1: ; s2: a -> s0; }
        process P2 { s0: c -> s0; }";
    finds(case(network, "!(F P0_1 & G !P1_1)"), Forgotten::ForGood);
}

/// Where waiting is accepted, a way to wait is not lost. (The last process never moves; the observer follows `a` in the hope that it
/// does.)
#[test]
fn a_way_to_wait() {
    let network = "process P0 { s0: a -> s1; s1: ; } process P1 { s0: c -> s0; } process P2 { s0: ; s1: ; }";
    finds(case(network, "!(G !P0_1 | F (P0_1 & F P2_1))"), Forgotten::Waiting);
}
