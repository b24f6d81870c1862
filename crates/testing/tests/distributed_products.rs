//! Searches of products by several processes: every observer and search, with and without guided sets and fairness, against brute
//! force. All processes say the same, whatever their number; where nothing is found, the counts are those of one worker; and every run is
//! judged. (Processes are threads here; `hosts.rs` of `cli` has real ones.)
//!
//! Mistakes that were tried by hand in `distributed::fixpoint` and `piece`, and which of the tests below noticed each:
//!
//! | mistake | noticed on |
//! |---|---|
//! | marks are not passed on | testers |
//! | one word of marks less is required | testers, networks, under fairness |
//! | who enables a strong constraint that is never taken is kept | under fairness |
//! | who does not enable one is removed as well | under fairness |
//! | removed states are not told to the owners of their successors | testers |
//! | states that are not reached are removed without telling their successors | testers, networks |
//! | one round, whatever was removed in it | testers, networks, data, under fairness |
//! | a phase ends after its first step | testers, networks, under fairness |
//! | states without predecessor are kept at first | testers, networks, data |
//! | a state is removed with one predecessor left | testers, networks, data, under fairness |
//! | livelocks go along steps that are seen | testers |
//! | livelocks are looked for in all states | testers, networks, data, under fairness |
//! | marks of states do not count | under fairness |
//! | marks of one word stay for the next | testers, under fairness |

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Mutex;

use base::budget::Patience;
use base::{Budget, Limit, Peers};
use check::decide::{Claim, Decision, Refusal, Settings, TesterClaim};
use check::fairness::Constraint;
use check::method::{Method, SearchKind, StoreKind};
use check::product::AtDeadlock;
use check::search::{Evidence, ProductOutcome, ProductStop};
use generators::random;
use model::ActionSystem;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, load};
use stubborn_testing::hall::together;
use stubborn_testing::judged::{constraints, counts, fail, judge_fair, judge_tester};
use stubborn_testing::methods;
use stubborn_testing::testers::{self, Recipe};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// How often each method was tried.
type Tally = RefCell<HashMap<Method, u32>>;

/// What everybody must say.
type Said = (Option<Evidence>, (u64, u64, u64, Option<u64>), Vec<Vec<bool>>);

fn said(decision: &Decision) -> Said {
    let outcome = &decision.outcome;
    (outcome.evidence().cloned(), counts(outcome), decision.valuations.clone())
}

/// What 1, 2 and 3 processes say, which must be the same.
fn spread(
    search: impl Fn(&dyn Peers) -> Result<Decision, Refusal> + Sync,
) -> Result<Result<Decision, Refusal>, TestCaseError> {
    let mut first: Option<Said> = None;
    let mut last = None;
    for n in [1, 2, 3] {
        for decided in together(n, &search) {
            if let Ok(decision) = &decided {
                let said = said(decision);
                let first = first.get_or_insert_with(|| said.clone());
                prop_assert_eq!(&*first, &said, "{} processes", n);
            }
            last = Some(decided);
        }
    }
    last.ok_or_else(|| fail("nobody has searched"))
}

/// What is the same for one worker. A second pass goes over some steps twice.
fn figures(method: Method, outcome: &ProductOutcome) -> (u64, Option<u64>, u64, Option<u64>) {
    let (states, transitions, deadlocks, system_states) = counts(outcome);
    let has_one_pass = matches!(method.search, SearchKind::Scc | SearchKind::OnePass);
    (states, has_one_pass.then_some(transitions), deadlocks, system_states)
}

/// Each process has a claim of its own.
fn search_claim(
    claims: &[Mutex<Claim>],
    system: &ActionSystem,
    method: Method,
    settings: &Settings<'_>,
) -> Result<Result<Decision, Refusal>, TestCaseError> {
    spread(|peers| {
        let mut claim = claims[peers.me().index].lock().unwrap();
        claim.search(system, method, settings, &mut Budget::unlimited().with_peers(Some(peers)))
    })
}

/// Whether several processes search by it, not just several threads.
fn is_spread(method: Method) -> bool {
    method.has_team() && method.store == StoreKind::Exact && method.search != SearchKind::Nested
}

/// Some of the methods, which depend on the case.
fn agree(
    mut case: Case,
    constraints: &[Constraint],
    at_deadlock: AtDeadlock,
    seed: u64,
    tally: &Tally,
) -> Result<bool, TestCaseError> {
    const STEP: usize = 3;
    let violated = match constraints {
        [] => case.is_violated_naively(at_deadlock),
        _ => case.is_violated_fairly(constraints),
    };
    let formula = case.formula;
    let claims: Vec<Mutex<Claim>> = (0..3).map(|_| Mutex::new(case.claim(formula))).collect();
    let is_stutter_invariant = claims[0].lock().unwrap().proof().is_some();
    let tried = methods::all().into_iter().filter(|method| is_spread(*method));
    for method in tried.skip(seed as usize % STEP).step_by(STEP) {
        let is_sound = match constraints {
            [] => methods::is_sound(method),
            _ => methods::is_sound_for_fair_runs(method),
        };
        let by_value = method.observer.is_by_value();
        if !(is_sound && (is_stutter_invariant || by_value && method.reduction.is_none())) {
            continue;
        }
        // Cycles are looked for early, or only in the end.
        let together = seed >> 8 & 1 == 0;
        let settings = Settings { at_deadlock, fairness: constraints, together, ..Settings::default() };
        let context = || format!("{method:?}, {at_deadlock:?}, {}, {constraints:?}", case.text());
        let decided = search_claim(&claims, &case.system, method, &settings)
            .map_err(|error| fail(format!("{error}: {}", context())))?;
        let is_allowed = methods::is_allowed(&mut claims[0].lock().unwrap(), method, &settings);
        let decided = methods::decided(method, is_allowed, decided)
            .map_err(|error| fail(format!("{error}: {}", context())))?;
        let Some(Decision { outcome, valuations, .. }) = decided else { continue };
        *tally.borrow_mut().entry(method).or_default() += 1;
        let found = case.judge(formula, &outcome);
        let found = found.map_err(|error| fail(format!("{error}: {}", context())))?;
        prop_assert_eq!(found, violated, "{}", context());
        if let (Some(evidence), false) = (outcome.evidence(), constraints.is_empty()) {
            judge_fair(&case, evidence, constraints)
                .map_err(|error| fail(format!("{error}: {}", context())))?;
        }
        if !found && method.reduction.is_none() {
            let mut claim = claims[0].lock().unwrap();
            let alone = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
            let mut alone = alone.map_err(fail)?;
            prop_assert_eq!(figures(method, &outcome), figures(method, &alone.outcome), "{}", context());
            alone.valuations.sort_unstable();
            prop_assert_eq!(valuations, alone.valuations, "{}", context());
        }
    }
    Ok(violated)
}

const AT_DEADLOCK: [AtDeadlock; 3] = [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error];

fn assert_each(tally: &Tally, is_sound: impl Fn(Method) -> bool, at_least: u32) {
    for method in methods::all().into_iter().filter(|method| is_spread(*method) && is_sound(*method)) {
        let n = tally.borrow().get(&method).copied().unwrap_or(0);
        assert_met!(n >= at_least, "{method:?} was tried {n} times");
    }
}

#[test]
fn processes_agree_with_the_definition_on_networks() {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    run_cases(90, &(networks::network(), any::<u64>(), 1..14u32), |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let violated = agree(case, &[], AT_DEADLOCK[seed as usize % 3], seed, &tally)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))?;
        n.borrow_mut()[usize::from(violated)] += 1;
        Ok(())
    });
    assert_met!(n.borrow().iter().all(|&n| n > 15), "{n:?}");
    assert_each(&tally, methods::is_sound, 3);
}

#[test]
fn processes_agree_with_the_definition_on_systems_with_data_and_chains() {
    let tally = Tally::default();
    run_cases(40, &(systems::recipe(true), systems::recipe_with_chains(), any::<u64>(), 1..14u32), |case| {
        let (data, chains, seed, size) = case;
        for recipe in [data, chains] {
            let Some(case) = Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) else {
                continue;
            };
            agree(case, &[], AT_DEADLOCK[seed as usize % 3], seed, &tally)?;
        }
        Ok(())
    });
    assert_met!(tally.borrow().len() > 10);
}

#[test]
fn processes_agree_with_brute_force_under_fairness() {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(160, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let constraints = constraints(&case, &kinds[..network.processes.len()]);
        if constraints.is_empty() {
            return Ok(());
        }
        let violated = agree(case, &constraints, AtDeadlock::Stutter, seed, &tally)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))?;
        n.borrow_mut()[usize::from(violated)] += 1;
        Ok(())
    });
    assert_met!(n.borrow().iter().all(|&n| n > 15), "{n:?}");
    assert_each(&tally, methods::is_sound_for_fair_runs, 5);
}

#[test]
fn processes_agree_with_the_definition_of_testers() {
    let n_found = Cell::new(0);
    run_cases(80, &(networks::network(), testers::recipe()), |(network, recipe)| {
        let recipe: Recipe = recipe;
        let model = load(&network.to_text());
        let (system, tester) = (&*model.system, recipe.tester(&network));
        let labels = testers::label_ids(system, &tester.letters);
        let conditions = testers::conditions(&network.explore(), &tester, &recipe.labels(&network));
        let claim = TesterClaim::new(&tester, &labels);
        for method in methods::all().into_iter().filter(|method| is_spread(*method)) {
            if !methods::is_sound_for_testers(method, claim.has_infinite_states()) {
                continue;
            }
            let settings = Settings { together: true, ..Settings::default() };
            let alone = claim.search(system, method, &settings, &mut Budget::unlimited()).map_err(fail)?;
            let several = spread(|peers| {
                claim.search(system, method, &settings, &mut Budget::unlimited().with_peers(Some(peers)))
            })?;
            let several = several.map_err(fail)?.outcome;
            prop_assert_eq!(several.found(), Some(conditions.contains(&true)), "{:?}", method);
            if let Some(evidence) = several.evidence() {
                judge_tester(system, &tester, &labels, evidence)?;
                n_found.set(n_found.get() + 1);
            }
            if several.found() == Some(false) && method.reduction.is_none() {
                prop_assert_eq!(figures(method, &alone.outcome), figures(method, &several), "{:?}", method);
            }
        }
        Ok(())
    });
    assert_met!(n_found.get() > 30, "{n_found:?}");
}

/// The whole product has the size that it has by one worker.
#[test]
fn processes_count_products_like_one() {
    run_cases(30, &(networks::network(), any::<u64>(), 1..10u32), |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let formula = case.formula;
        let claims: Vec<Mutex<Claim>> = (0..3).map(|_| Mutex::new(case.claim(formula))).collect();
        let observer = check::method::ObserverKind::Tgba;
        let settings = Settings::default();
        let count = |claim: &mut Claim, budget: Budget<'_>| {
            claim.count(&case.system, observer, &settings, &mut budget.share())
        };
        let several = spread(|peers| {
            let mut claim = claims[peers.me().index].lock().unwrap();
            count(&mut claim, Budget::unlimited().with_peers(Some(peers)))
        })?;
        let alone = count(&mut claims[0].lock().unwrap(), Budget::unlimited()).map_err(fail)?.outcome;
        let several = several.map_err(fail)?.outcome;
        prop_assert_eq!(&several.stop, &alone.stop);
        prop_assert_eq!(counts(&several), counts(&alone));
        prop_assert_eq!(several.stats.depth, alone.stats.depth);
        Ok(())
    });
}

/// A network with a few hundred states, and a formula that is violated.
fn some_case() -> Case {
    let network =
        "process P { x: a -> y | d -> w; w: e -> x; y: b -> x; } process Q { s: f -> t; t: g -> s; }
        process R { u: h -> v; v: i -> u; } process S { m: j -> n; n: k -> m; }";
    Case::of_model(load(network), &["P@w", "Q@t"], |formulas, props| {
        let (w, t) = (formulas.prop(props[0]), formulas.prop(props[1]));
        let both = formulas.and([w, t]);
        let eventually = formulas.finally(both);
        formulas.globally(eventually)
    })
    .expect("a small network")
}

#[test]
fn what_one_process_reaches_ends_the_search_for_all() {
    let mut case = some_case();
    let formula = case.formula;
    let claims: Vec<Mutex<Claim>> = (0..3).map(|_| Mutex::new(case.claim(formula))).collect();
    let constraints = [Constraint::new(true, vec![model::ActionId::new(0)])];
    let mut n_limited = 0;
    let stop_of = |decided: Result<Decision, Refusal>| match decided {
        Ok(decision) => Some(decision.outcome.stop),
        Err(Refusal::Limit(_)) => None,
        Err(why) => panic!("refused: {why}"),
    };
    for method in methods::all().into_iter().filter(|method| is_spread(*method)) {
        let fairness = if methods::is_sound_for_fair_runs(method) { &constraints[..] } else { &[] };
        let settings = Settings { together: true, fairness, ..Settings::default() };
        if !methods::is_allowed(&mut claims[0].lock().unwrap(), method, &settings) {
            continue;
        }
        for looks in 0..8 {
            let stops = together(3, |peers| {
                let patience = Patience::new(if peers.me().index == 1 { looks } else { u64::MAX });
                let mut claim = claims[peers.me().index].lock().unwrap();
                let mut budget = Budget::new(u64::MAX, u64::MAX, &patience).with_peers(Some(peers));
                stop_of(claim.search(&case.system, method, &settings, &mut budget))
            });
            // One that may prepare nothing does not even begin; the first always may.
            let stop = stops[0].as_ref().expect("the first process begins");
            let is_gone =
                |stop: &Option<ProductStop>| matches!(stop, Some(ProductStop::Limit(Limit::Process(_))));
            let agrees = |other: &Option<ProductStop>| other == stop || is_gone(other) || is_gone(stop);
            assert!(stops.iter().flatten().all(agrees), "{stops:?}");
            n_limited += u32::from(*stop == Some(ProductStop::Limit(Limit::Interrupt)));
        }
        let stops = together(3, |peers| {
            let mut claim = claims[peers.me().index].lock().unwrap();
            let mut budget = Budget::unlimited().with_peers(Some(peers));
            budget.max_states = 3;
            stop_of(claim.search(&case.system, method, &settings, &mut budget)).expect("it begins")
        });
        assert!(stops.iter().all(|stop| *stop == stops[0] && stop.is_some()), "{stops:?}");
    }
    assert!(n_limited > 20, "{n_limited}");
}

#[test]
fn who_is_gone_or_does_something_else_ends_the_search() {
    let mut case = some_case();
    let formula = case.formula;
    let method = Method::new(check::method::ObserverKind::Tgba, SearchKind::Scc, None);
    let claims: Vec<Mutex<Claim>> = (0..3).map(|_| Mutex::new(case.claim(formula))).collect();
    let search = |peers: &dyn Peers, method| {
        let mut claim = claims[peers.me().index].lock().unwrap();
        let mut budget = Budget::unlimited().with_peers(Some(peers));
        let decided = claim.search(&case.system, method, &Settings::default(), &mut budget);
        decided.unwrap_or_else(|why| panic!("refused: {why}")).outcome.stop
    };
    let stops = together(3, |peers| if peers.me().index == 1 { None } else { search(peers, method) });
    assert!(matches!(stops[0], Some(ProductStop::Limit(Limit::Process(1 | 2)))), "{stops:?}");
    assert!(matches!(stops[2], Some(ProductStop::Limit(Limit::Process(0 | 1)))), "{stops:?}");
    let other = Method::new(check::method::ObserverKind::Ta, SearchKind::TwoPass, None);
    let stops = together(2, |peers| search(peers, if peers.me().index == 1 { other } else { method }));
    let apart = |number| Some(ProductStop::Limit(Limit::Apart(number)));
    assert_eq!(stops, [apart(1), apart(0)]);
}
