//! Searches of products by several workers: every observer, search, reduction and kind of fairness for which there is one, with
//! teams of several sizes, against brute force. Where nothing is found and nothing is left out, the counts are those of one
//! worker. Every run that is found is judged.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use base::budget::{Patience, Watch};
use base::{Budget, Limit, Progress};
use check::decide::{Decision, Refusal, Settings, TesterClaim};
use check::fairness::Constraint;
use check::method::{Method, ObserverKind, SearchKind, StoreKind};
use check::product::{AtDeadlock, ObserverOrder, Orders, StepOrder};
use check::reduction::Method as Reduction;
use check::search::ProductStop;
use generators::random;
use model::ActionId;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, load};
use stubborn_testing::crew::Crew;
use stubborn_testing::judged::{constraints, counts, fail, judge_fair, judge_tester};
use stubborn_testing::methods;
use stubborn_testing::testers::{self, Recipe};
use stubborn_testing::{assert_met, networks, run_cases, systems};

const CREWS: [Crew; 3] = [Crew(2), Crew(3), Crew(8)];

/// How often each method was tried by a team.
type Tally = RefCell<HashMap<Method, u32>>;

fn note(tally: &Tally, method: Method) {
    *tally.borrow_mut().entry(method).or_default() += 1;
}

fn assert_each(tally: &Tally, is_sound: impl Fn(Method) -> bool, at_least: u32) {
    let mut tried = tally.borrow().clone();
    for method in methods::all().into_iter().filter(|method| method.has_team() && is_sound(*method)) {
        let n = tried.remove(&method).unwrap_or(0);
        assert_met!(n >= at_least, "{method:?} was tried {n} times");
    }
    assert!(tried.is_empty(), "{tried:?}");
}

/// Rounds were tried first so often.
fn assert_by_rounds(at_least: u32) {
    let n = BY_ROUNDS.take();
    assert_met!(n >= at_least, "{n}");
}

thread_local! {
    /// How often rounds were tried first.
    static BY_ROUNDS: RefCell<u32> = const { RefCell::new(0) };
}

/// Whether a method may go by rounds.
fn tries_rounds(method: Method) -> bool {
    method.store == StoreKind::Exact
        && matches!(method.search, SearchKind::Scc | SearchKind::TwoPass)
        && matches!(method.reduction, None | Some(Reduction::Guided))
}

/// All methods, with a team whose size depends on the case and the method.
fn agree(
    mut case: Case,
    once: &[Constraint],
    at_deadlock: AtDeadlock,
    seed: u64,
    tally: &Tally,
) -> Result<bool, TestCaseError> {
    let violated = match once {
        [] => case.is_violated_naively(at_deadlock),
        _ => case.is_violated_fairly(once),
    };
    // Said so often that marks do not fit in narrow words, or not even in wide ones.
    let times = [1, 1, 8, 30][seed as usize >> 4 & 3];
    let constraints: Vec<Constraint> = once.iter().cycle().take(times * once.len()).cloned().collect();
    let constraints = constraints.as_slice();
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let is_stutter_invariant = claim.proof().is_some();
    let mut full: HashMap<ObserverKind, u64> = HashMap::new();
    for (index, method) in methods::all().into_iter().filter(Method::has_team).enumerate() {
        let is_sound = match constraints {
            [] => methods::is_sound(method),
            _ => methods::is_sound_for_fair_runs(method),
        };
        let by_value = method.observer.is_by_value();
        if !(is_sound && (is_stutter_invariant || by_value && method.reduction.is_none())) {
            continue;
        }
        let crew = CREWS[(seed as usize + index) % CREWS.len()];
        let orders = match seed >> 8 & 1 {
            0 => Orders::default(),
            _ => Orders { steps: StepOrder::Reverse, observer: ObserverOrder::AcceptingFirst },
        };
        let by_rounds = seed >> 9 & 1 == 1;
        let settings = Settings {
            at_deadlock,
            fairness: constraints,
            orders,
            together: true,
            by_rounds,
            ..Settings::default()
        };
        let context =
            || format!("{method:?}, {crew:?}, {at_deadlock:?}, {}, {once:?} {times} times", case.text());
        let is_allowed = methods::is_allowed(&mut claim, method, &settings);
        let decided =
            claim.search(&case.system, method, &settings, &mut Budget::unlimited().with_team(&crew));
        let decided = methods::decided(method, is_allowed, decided)
            .map_err(|error| fail(format!("{error}: {}", context())))?;
        let Some(Decision { outcome, mut valuations, .. }) = decided else { continue };
        note(tally, method);
        if by_rounds && tries_rounds(method) {
            BY_ROUNDS.with_borrow_mut(|n| *n += 1);
        }
        let found = case.judge(formula, &outcome);
        let found = found.map_err(|error| fail(format!("{error}: {}", context())))?;
        prop_assert_eq!(found, violated, "{}", context());
        if let (Some(evidence), false) = (outcome.evidence(), constraints.is_empty()) {
            judge_fair(&case, evidence, constraints)
                .map_err(|error| fail(format!("{error}: {}", context())))?;
        }
        if found {
            continue;
        }
        if method.store != StoreKind::Exact {
            continue;
        }
        if method.reduction.is_none() {
            // By another search.
            let settings = Settings { together: false, ..settings };
            let alone = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
            let mut alone = alone.map_err(fail)?;
            prop_assert_eq!(counts(&outcome), counts(&alone.outcome), "{}", context());
            valuations.sort_unstable();
            alone.valuations.sort_unstable();
            prop_assert_eq!(valuations, alone.valuations, "{}", context());
            full.insert(method.observer, outcome.stats.states);
        } else if !by_value && let Some(&full) = full.get(&method.observer) {
            prop_assert!(outcome.stats.states <= full, "a reduced space is never larger: {}", context());
        }
    }
    Ok(violated)
}

const AT_DEADLOCK: [AtDeadlock; 3] = [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error];

#[test]
fn teams_agree_with_the_definition_on_networks() {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    run_cases(250, &(networks::network(), any::<u64>(), 1..14u32), |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let at_deadlock = AT_DEADLOCK[seed as usize % 3];
        let violated = agree(case, &[], at_deadlock, seed, &tally)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))?;
        n.borrow_mut()[usize::from(violated)] += 1;
        Ok(())
    });
    assert_met!(n.borrow().iter().all(|&n| n > 50), "{n:?}");
    assert_each(&tally, methods::is_sound, 30);
    assert_by_rounds(300);
}

#[test]
fn teams_agree_with_the_definition_on_systems_with_data_and_chains() {
    let tally = Tally::default();
    run_cases(120, &(systems::recipe(true), systems::recipe_with_chains(), any::<u64>(), 1..14u32), |case| {
        let (data, chains, seed, size) = case;
        for recipe in [data, chains] {
            let Some(case) = Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) else {
                continue;
            };
            agree(case, &[], AT_DEADLOCK[seed as usize % 3], seed, &tally)?;
        }
        Ok(())
    });
    assert_each(&tally, methods::is_sound, 20);
}

#[test]
fn teams_agree_with_brute_force_under_fairness() {
    let (tally, n) = (Tally::default(), RefCell::new([0; 2]));
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(500, &strategy, |(network, seed, size, kinds)| {
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
    assert_met!(n.borrow().iter().all(|&n| n > 50), "{n:?}");
    assert_each(&tally, methods::is_sound_for_fair_runs, 30);
    assert_by_rounds(300);
}

#[test]
fn a_search_that_is_stopped_says_so() {
    let network =
        "process P { x: a -> y | d -> w; w: e -> x; y: b -> x; } process Q { s: f -> t; t: g -> s; }
        process R { u: h -> v; v: i -> u; }";
    let mut case = Case::of_model(load(network), &["P@w", "Q@t"], |formulas, props| {
        let (w, t) = (formulas.prop(props[0]), formulas.prop(props[1]));
        let both = formulas.and([w, t]);
        let eventually = formulas.finally(both);
        formulas.globally(eventually)
    })
    .expect("a small network");
    let mut claim = case.claim(case.formula);
    for method in methods::all().into_iter().filter(Method::has_team) {
        if !methods::is_allowed(&mut claim, method, &Settings::default()) {
            continue;
        }
        let mut n_begun = 0;
        for looks in 0..6 {
            for crew in CREWS {
                let patience = Patience::new(looks);
                let mut budget = Budget::new(u64::MAX, u64::MAX, &patience).with_team(&crew);
                let settings = Settings { together: true, ..Settings::default() };
                let decided = match claim.search(&case.system, method, &settings, &mut budget) {
                    Err(Refusal::Limit(Limit::Interrupt)) => continue,
                    decided => decided.unwrap_or_else(|why| panic!("{method:?} is refused: {why}")),
                };
                let stop = decided.outcome.stop.expect("the formula is violated");
                n_begun += 1;
                assert!(
                    matches!(stop, ProductStop::Found(_) | ProductStop::Limit(Limit::Interrupt)),
                    "{stop:?}"
                );
            }
        }
        let mut budget = Budget::unlimited().with_team(&CREWS[1]);
        budget.max_bytes = 1000;
        let decided = claim.search(
            &case.system,
            method,
            &Settings { together: true, ..Settings::default() },
            &mut budget,
        );
        assert!(n_begun > 0, "{method:?} never begins");
        let stop = match decided {
            Ok(decided) => decided.outcome.stop,
            Err(Refusal::Limit(limit)) => Some(ProductStop::Limit(limit)),
            Err(why) => panic!("{method:?} is refused: {why}"),
        };
        assert!(matches!(stop, Some(ProductStop::Limit(Limit::Memory(_)))), "{method:?} {stop:?}");
    }
}

/// A long way to a violation: who finds it has left no state, and tells all the same what was seen on the way.
#[test]
fn a_search_that_ends_early_tells_its_steps() {
    const LENGTH: u64 = 250;
    let steps: Vec<String> = (0..LENGTH).map(|at| format!("s{at}: a -> s{};", at + 1)).collect();
    let network = format!("process P {{ {} s{LENGTH}: b -> s{LENGTH}; }}", steps.concat());
    let last = format!("P@s{LENGTH}");
    let mut case = Case::of_model(load(&network), &[&last], |formulas, props| {
        let last = formulas.prop(props[0]);
        let not = formulas.not(last);
        formulas.globally(not)
    })
    .expect("a small network");
    let mut claim = case.claim(case.formula);
    let is_meant = |method: &Method| {
        let is_deep = matches!(method.search, SearchKind::Scc | SearchKind::TwoPass);
        is_deep && method.reduction.is_none() && method.has_team() && methods::is_sound(*method)
    };
    let mut n_tried = 0;
    for (method, crew) in
        methods::all().into_iter().filter(is_meant).flat_map(|method| CREWS.map(|crew| (method, crew)))
    {
        let mut budget = Budget::unlimited().with_team(&crew);
        let settings = Settings { together: true, ..Settings::default() };
        let outcome = claim.search(&case.system, method, &settings, &mut budget).expect("it fits").outcome;
        assert!(matches!(outcome.stop, Some(ProductStop::Found(_))), "{method:?} {:?}", outcome.stop);
        // Of the last states, nobody may have gone on.
        let (states, transitions) = (outcome.stats.states, outcome.stats.transitions);
        assert!(states >= LENGTH && transitions + 2 >= states, "{method:?} {states} {transitions}");
        n_tried += 1;
    }
    assert!(n_tried >= 9, "{n_tried}");
}

/// A watch that panics at one of its looks, whoever looks then.
struct Faulty(AtomicU64);

impl Watch for Faulty {
    fn look(&self, _: &Progress) -> Result<(), Limit> {
        assert_ne!(self.0.fetch_sub(1, Ordering::Relaxed), 0, "a mistake");
        Ok(())
    }
}

/// Nobody waits for a worker that was thrown out, whatever it had begun; and nobody takes what is left for an answer.
#[test]
fn a_mistake_of_one_worker_ends_the_search_of_all() {
    let network =
        "process P { x: a -> y | d -> w; w: e -> x; y: b -> x; } process Q { s: f -> t; t: g -> s; }
        process R { u: h -> v; v: i -> u; } process S { m: j -> n; n: k -> m; }";
    let mut case = Case::of_model(load(network), &["P@w"], |formulas, props| {
        let w = formulas.prop(props[0]);
        let not = formulas.not(w);
        let either = formulas.or([w, not]);
        let next = formulas.finally(either);
        formulas.globally(next)
    })
    .expect("a small network");
    let constraints = [Constraint::new(true, vec![ActionId::new(0)])];
    let n_ended = RefCell::new(0);
    for method in methods::all().into_iter().filter(|method| method.has_team() && methods::is_sound(*method))
    {
        for (looks, crew) in (1..9).flat_map(|looks| CREWS.map(|crew| (looks, crew))) {
            let fairness = if methods::is_sound_for_fair_runs(method) { &constraints[..] } else { &[] };
            let mut claim = case.claim(case.formula);
            let watch = Faulty(AtomicU64::new(looks));
            let decided = catch_unwind(AssertUnwindSafe(|| {
                let mut budget = Budget::new(u64::MAX, u64::MAX, &watch).with_team(&crew);
                let settings = Settings { together: true, fairness, ..Settings::default() };
                claim.search(&case.system, method, &settings, &mut budget)
            }));
            match decided {
                Err(_) => *n_ended.borrow_mut() += 1,
                Ok(Err(_)) => {}
                Ok(Ok(decided)) => {
                    let found = decided.outcome.found();
                    let is_exact = method.store == StoreKind::Exact;
                    assert_eq!(found, is_exact.then_some(false), "{method:?} {looks} {crew:?}");
                }
            }
        }
    }
    assert_met!(n_ended.into_inner() > 100);
}

#[test]
fn teams_agree_with_the_definition_of_testers() {
    let tally = Tally::default();
    run_cases(300, &(networks::network(), testers::recipe(), any::<u64>()), |(network, recipe, seed)| {
        let recipe: Recipe = recipe;
        let model = load(&network.to_text());
        let (system, tester) = (&*model.system, recipe.tester(&network));
        let labels = testers::label_ids(system, &tester.letters);
        let conditions = testers::conditions(&network.explore(), &tester, &recipe.labels(&network));
        let claim = TesterClaim::new(&tester, &labels);
        for (index, method) in methods::all().into_iter().filter(Method::has_team).enumerate() {
            if !methods::is_sound_for_testers(method, claim.has_infinite_states()) {
                continue;
            }
            let crew = CREWS[(seed as usize + index) % CREWS.len()];
            let alone = claim.search(system, method, &Settings::default(), &mut Budget::unlimited());
            let alone = alone.map_err(fail)?;
            let settings = Settings { together: true, ..Settings::default() };
            let mut budget = Budget::unlimited().with_team(&crew);
            let together = claim.search(system, method, &settings, &mut budget).map_err(fail)?;
            note(&tally, method);
            let (alone, together) = (alone.outcome, together.outcome);
            let is_illegal = conditions.contains(&true);
            // Over bits, that nothing was found says nothing.
            let expected = (is_illegal || method.store == StoreKind::Exact).then_some(is_illegal);
            prop_assert_eq!(together.found(), expected, "{:?} {:?}", method, crew);
            if let Some(evidence) = together.evidence() {
                judge_tester(system, &tester, &labels, evidence)?;
            }
            // The nested search goes over some steps twice.
            let is_comparable = method.reduction.is_none() && method.search != SearchKind::OnePassAndNested;
            if together.found() == Some(false) && is_comparable {
                prop_assert_eq!(counts(&alone), counts(&together), "{:?} {:?}", method, crew);
            }
        }
        Ok(())
    });
    assert_each(&tally, |method| methods::is_sound_for_testers(method, false), 100);
}

/// Layers are built in whatever order, but what is found does not depend on it.
#[test]
fn layers_find_the_same_run_whoever_is_faster() {
    let n_found = RefCell::new(0);
    run_cases(60, &(networks::network(), testers::recipe()), |(network, recipe)| {
        let recipe: Recipe = recipe;
        let model = load(&network.to_text());
        let (system, tester) = (&*model.system, recipe.tester(&network));
        let labels = testers::label_ids(system, &tester.letters);
        let claim = TesterClaim::new(&tester, &labels);
        let method = methods::all().into_iter().find(|method| {
            methods::is_sound_for_testers(*method, false)
                && (method.search, method.has_team()) == (SearchKind::OnePass, true)
        });
        let Some(method) = method.filter(|_| !claim.has_infinite_states()) else { return Ok(()) };
        let settings = Settings { together: true, ..Settings::default() };
        let mut first = None;
        for crew in CREWS.into_iter().cycle().take(20) {
            let mut budget = Budget::unlimited().with_team(&crew);
            let outcome = claim.search(system, method, &settings, &mut budget).map_err(fail)?.outcome;
            let found = (outcome.evidence().cloned(), outcome.stats.states, outcome.stats.transitions);
            let first = first.get_or_insert_with(|| found.clone());
            prop_assert_eq!(&*first, &found);
        }
        *n_found.borrow_mut() += u32::from(first.is_some_and(|first| first.0.is_some()));
        Ok(())
    });
    assert_met!(n_found.into_inner() > 5);
}
