//! The sets that keep fair runs, apart from any search: the ways to get them wrong that are known are named tests, random
//! systems are searched by `repaired` and by brute force, and a rule that is left out is noticed.

use std::cell::{Cell, RefCell};

use base::Budget;
use base::peers::Hall;
use check::decide::{Claim, Settings};
use check::fairness::Constraint;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{Orders, StepOrder};
use check::reduction;
use generators::random;
use model::fairness::Kind;
use model::{ActionId, ActionSystem, Relations};
use por::Rule;
use proptest::prelude::*;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::repaired::{How, search};
use stubborn_testing::toys::{Act, Effect, Fair, Test, Toy, act, any_toy, meetings, shared};
use stubborn_testing::{assert_met, naive, run_cases, systems, tell_count};

const OBSERVERS: [ObserverKind; 3] = [ObserverKind::Tgba, ObserverKind::Tgta, ObserverKind::LazyTgta];

/// All ways to search.
fn ways(without: Option<Rule>) -> impl Iterator<Item = How> {
    OBSERVERS.into_iter().flat_map(move |observer| {
        [false, true].into_iter().flat_map(move |reverse| {
            (0..2).map(move |seed| How { observer, reverse, seed, without, sets: reduction::Method::Fair })
        })
    })
}

/// Whether a search by strong components finds a run, in one pass and in two; if so, it stands up to the judge.
fn is_found(
    case: &Case,
    claim: &mut Claim,
    constraints: &[Constraint],
    how: How,
) -> Result<bool, TestCaseError> {
    let steps = if how.reverse { StepOrder::Reverse } else { StepOrder::Forward };
    let orders = Orders { steps, ..Orders::default() };
    let settings = Settings { fairness: constraints, orders, ..Settings::default() };
    let in_two = match how.observer {
        ObserverKind::Tgta => Some((ObserverKind::Ta, SearchKind::TwoPass)),
        ObserverKind::LazyTgta => Some((ObserverKind::LazyTa, SearchKind::TwoPass)),
        _ => None,
    };
    let mut found = None;
    for (observer, search) in [(how.observer, SearchKind::Scc)].into_iter().chain(in_two) {
        let method = Method::new(observer, search, Some(reduction::Method::Fair));
        let decision = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
        let decision = decision.map_err(|why| TestCaseError::fail(format!("{observer:?}: {why}")))?;
        let is_found = case.judge(case.formula, &decision.outcome)?;
        // The same where states are sorted, as several processes do it.
        let hall = Hall::new(1);
        let seat = hall.seat(0);
        let sorted =
            claim.search(&case.system, method, &settings, &mut Budget::unlimited().with_peers(Some(&seat)));
        let sorted = sorted.map_err(|why| TestCaseError::fail(format!("{observer:?}: {why}")))?;
        let is_found_sorted = case.judge(case.formula, &sorted.outcome)?;
        prop_assert_eq!(is_found, is_found_sorted, "{:?}, sorted", observer);
        prop_assert_eq!(*found.get_or_insert(is_found), is_found, "{:?} and {:?}", how.observer, observer);
    }
    Ok(found == Some(true))
}

/// A fair run violates the formula, which every way finds, and some do not without the rule.
fn needs_rule(toy: &Toy, formula: &str, rule: Rule) {
    let make = |formulas: &mut ltl::Formulas, _: &[ltl::Prop]| {
        ltl::parse(formulas, formula, base::SourceId::new(0), 0).expect("a good formula").formula
    };
    let mut case = toy.case(make).expect("a small system");
    let constraints = toy.constraints(&case.system);
    assert!(case.is_violated_fairly(&toy.defined_constraints()), "{formula} is violated");
    let mut claim = case.claim(case.formula);
    for how in ways(None) {
        assert!(search(&case, &claim, &constraints, how).run, "{how:?}");
        let is_found = is_found(&case, &mut claim, &constraints, how).expect("a good run");
        assert!(is_found, "by the search, {how:?}");
    }
    let n_wrong = ways(Some(rule)).filter(|how| !search(&case, &claim, &constraints, *how).run).count();
    assert!(n_wrong > 0, "{formula} without {rule:?}");
}

fn toy(variables: &[(i64, i64)], n_processes: usize, actions: Vec<Act>, p: &[Test], fair: Vec<Fair>) -> Toy {
    Toy { variables: variables.to_vec(), n_processes, actions, propositions: p.to_vec(), fair }
}

fn all(kind: Kind, n: usize) -> Vec<Fair> {
    (0..n).map(|process| Fair::Process(kind, process)).collect()
}

fn at(process: usize, location: u8) -> Test {
    Test::In(process, 1 << location)
}

/// Two processes change a variable each, then meet. Only if the second one is first once, and the first one the other time,
/// the watcher is disabled again and again.
#[test]
fn toggles_weak() {
    let actions = vec![
        act(0, 0, 1).and(3, Effect::Next),
        act(1, 0, 1).and(4, Effect::Next),
        act(0, 1, 0).with(1, 1, 0),
        act(2, 0, 1).when(3, 1),
        act(2, 0, 1).when(4, 0),
    ];
    let variables = [(2, 0), (2, 0), (2, 0), (2, 0), (2, 0)];
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], all(Kind::Weak, 3)), "F p0", Rule::Flip);
}

/// The same, where the watcher must never see both.
#[test]
fn toggles_strong() {
    let actions = vec![
        act(0, 0, 1).and(3, Effect::Next),
        act(1, 0, 1).and(4, Effect::Next),
        act(0, 1, 0).with(1, 1, 0),
        act(2, 0, 1).when(3, 1).when(4, 1),
    ];
    let variables = [(2, 0), (2, 0), (2, 0), (2, 0), (2, 1)];
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], all(Kind::Strong, 3)), "F p0", Rule::Flip);
}

/// A silent action wakes somebody who is fair.
#[test]
fn alarm() {
    let actions = vec![act(0, 0, 1).and(3, Effect::Set(1)), act(1, 0, 0), act(2, 0, 1).when(3, 1)];
    let variables = [(2, 0), (1, 0), (2, 0), (2, 0)];
    let fair = vec![Fair::Process(Kind::Weak, 2)];
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], fair), "F p0", Rule::Key);
}

/// Sets that are led by the observer take what nobody sees, also if it wakes somebody: so they are refused, and where waiting is
/// accepted, sets that keep fair runs are not led either.
#[test]
fn guided_sets_lose_fair_runs() {
    let mut n_lost = [0; 2];
    // Who sets may come first, or who idles.
    for (sets, idles) in [(0, 1), (1, 0)] {
        let actions = vec![
            act(sets, 0, 1).and(3, Effect::Set(1)),
            // Somebody might look at what this one does, so that it is no better than the other.
            act(idles, 0, 0).and(4, Effect::Next),
            act(2, 0, 1).when(3, 1),
            act(2, 1, 1).when(4, 1),
        ];
        let variables = [(2, 0), (2, 0), (2, 0), (2, 0), (2, 0)];
        let fair = vec![Fair::Process(Kind::Weak, 2)];
        let toy = toy(&variables, 3, actions, &[at(2, 1)], fair);
        let make = |formulas: &mut ltl::Formulas, _: &[ltl::Prop]| {
            ltl::parse(formulas, "F p0", base::SourceId::new(0), 0).expect("a good formula").formula
        };
        let mut case = toy.case(make).expect("a small system");
        let constraints = toy.constraints(&case.system);
        assert!(case.is_violated_fairly(&toy.defined_constraints()));
        let claim = case.claim(case.formula);
        for how in ways(None).filter(|how| how.observer != ObserverKind::Tgba) {
            let guided = How { sets: reduction::Method::Guided, ..how };
            let led = How { without: Some(Rule::Waiting), ..how };
            for (lost, how) in n_lost.iter_mut().zip([guided, led]) {
                *lost += usize::from(!search(&case, &claim, &constraints, how).run);
            }
        }
    }
    assert!(n_lost[0] > 0, "a guided set loses the run");
    assert!(n_lost[1] > 0, "a set that is led loses the run");
}

/// A constraint is served by another action of it.
#[test]
fn share() {
    let actions = vec![act(0, 0, 1), act(1, 0, 0)];
    let fair = vec![Fair::Actions(Kind::Weak, vec![0, 1])];
    needs_rule(&toy(&[(2, 0), (1, 0)], 2, actions, &[at(0, 1)], fair), "F p0", Rule::Shut);
}

/// One loop alone is unfair.
#[test]
fn two_loops() {
    let actions = vec![act(0, 0, 0), act(1, 0, 0)];
    needs_rule(&toy(&[(1, 0), (2, 0)], 2, actions, &[at(1, 1)], all(Kind::Weak, 2)), "F p0", Rule::Cycle);
}

/// What is left out is taken somewhere in the component, but only where that shuts somebody in.
#[test]
fn trap() {
    let actions = vec![
        act(0, 0, 0).with(2, 0, 1),
        act(0, 0, 1),
        act(0, 1, 0).when(1, 0),
        act(1, 0, 1),
        act(2, 1, 2),
        act(2, 2, 0),
    ];
    let toy = toy(&[(2, 0), (2, 0), (3, 0)], 3, actions, &[at(2, 2)], all(Kind::Weak, 3));
    needs_rule(&toy, "F G !p0", Rule::Cycle);
}

/// Who is not fair must not be forgotten either.
#[test]
fn left_out() {
    let actions = vec![act(0, 0, 0), act(1, 0, 1)];
    let fair = vec![Fair::Process(Kind::Weak, 0)];
    needs_rule(&toy(&[(1, 0), (2, 0)], 2, actions, &[at(1, 1)], fair), "G !p0", Rule::Cycle);
}

/// Of two fair actions that are seen, both orders are.
#[test]
fn order() {
    let actions = vec![act(0, 0, 1), act(1, 0, 1)];
    let p = [at(0, 1), at(1, 1)];
    needs_rule(
        &toy(&[(2, 0), (2, 0)], 2, actions.clone(), &p, all(Kind::Weak, 2)),
        "G (p0 -> p1)",
        Rule::Order,
    );
    needs_rule(&toy(&[(2, 0), (2, 0)], 2, actions, &p, all(Kind::Weak, 2)), "G (p1 -> p0)", Rule::Order);
}

/// What nobody sees by itself may matter to what is seen: it changes what another action makes of a proposition.
#[test]
fn unseen_but_relevant() {
    // The first prepares, the second makes both true at once if that is done before it.
    let actions = vec![
        act(0, 0, 1).and(4, Effect::Set(1)).when(3, 0),
        act(1, 0, 1).and(3, Effect::Set(1)),
        act(2, 0, 0),
    ];
    let variables = [(2, 0), (2, 0), (1, 0), (2, 0), (2, 0)];
    let fair = vec![Fair::Process(Kind::Weak, 2)];
    let toy = toy(&variables, 3, actions, &[Test::Both(3, 4)], fair);
    needs_rule(&toy, "G !p0", Rule::Cycle);
}

/// Justness: what interferes with a key for ever need not disable it, and keeps it from happening.
#[test]
fn just_shut() {
    let actions = vec![
        act(0, 0, 1).when(4, 1).and(5, Effect::Set(1)),
        act(1, 0, 0).and(4, Effect::Set(1)),
        act(2, 0, 1).when(5, 1),
        // Never happens, but makes a number of what is tested.
        act(3, 1, 0).and(4, Effect::Copy(5)),
    ];
    let variables = [(2, 0), (1, 0), (2, 0), (2, 0), (2, 1), (2, 0)];
    needs_rule(&toy(&variables, 4, actions, &[at(2, 1)], all(Kind::Just, 3)), "F p0", Rule::Shut);
}

/// Justness: what nobody interferes with may be woken, and must happen then.
#[test]
fn just_alarm() {
    let actions = vec![act(0, 0, 1).and(3, Effect::Set(1)), act(1, 0, 0), act(2, 0, 1).when(3, 1)];
    let variables = [(2, 0), (1, 0), (2, 0), (2, 0)];
    let fair = vec![Fair::Process(Kind::Just, 2)];
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], fair), "F p0", Rule::Key);
}

/// Justness: nobody is left out for ever.
#[test]
fn just_two_loops() {
    let actions = vec![act(0, 0, 0), act(1, 0, 0)];
    needs_rule(&toy(&[(1, 0), (2, 0)], 2, actions, &[at(1, 1)], all(Kind::Just, 2)), "F p0", Rule::Cycle);
}

/// As many cases of a kind agree with brute force, each with one of the observers: the sets by themselves, and as a search
/// uses them.
fn all_agree(test: &str, n_cases: u32, toys: impl Strategy<Value = Toy>) {
    let counts = Cell::new([0u32; 2]);
    let strategy = (toys, any::<u64>(), 1..8u32, 0..OBSERVERS.len());
    run_cases(n_cases, &strategy, |(toy, seed, size, observer)| {
        let Some(Drawn { mut case, mut claim, constraints, defined }) = drawn(&toy, seed, size) else {
            return Ok(());
        };
        let violated = case.is_violated_fairly(&defined);
        let [holds, is_violated] = counts.get();
        counts.set([holds + u32::from(!violated), is_violated + u32::from(violated)]);
        let observer = OBSERVERS[observer];
        let context = |case: &Case| format!("{observer:?}: {} on\n{toy:?}", case.text());
        let how =
            How { observer, reverse: seed & 1 == 1, seed, without: None, sets: reduction::Method::Fair };
        let found = search(&case, &claim, &constraints, how).run;
        prop_assert_eq!(found, violated, "the sets, {}", context(&case));
        let found = is_found(&case, &mut claim, &constraints, how)?;
        prop_assert_eq!(found, violated, "the search, {}", context(&case));
        Ok(())
    });
    let [holds, violated] = counts.get();
    tell_count(test, holds, violated);
    assert_met!(holds > n_cases / 10 && violated > n_cases / 4, "{holds} hold, {violated} are violated");
}

/// A case and its claim; its constraints as searches get them, and by the definitions.
struct Drawn {
    case: Case,
    claim: Claim,
    constraints: Vec<Constraint>,
    defined: Vec<Constraint>,
}

fn drawn(toy: &Toy, seed: u64, size: u32) -> Option<Drawn> {
    let defined = toy.defined_constraints();
    let n_strong = defined.iter().filter(|constraint| constraint.strong).count();
    let draw = Draw { seed, size, operators: random::NEXT_FREE };
    let mut case = toy.draw(draw).filter(|_| n_strong <= 12 && defined.len() <= 31)?;
    let claim = case.claim(case.formula);
    Some(Drawn { claim, constraints: toy.constraints(&case.system), case, defined })
}

#[test]
fn any_toys_under_fairness() {
    all_agree("any toys", 8000, any_toy());
}

#[test]
fn shared_constraints_under_fairness() {
    all_agree("shared constraints", 4000, shared());
}

#[test]
fn meetings_and_watchers_under_fairness() {
    all_agree("meetings and watchers", 6000, meetings());
}

/// Without these rules, some systems of a kind that are violated are said to hold.
fn are_noticed(n_cases: u32, toys: impl Strategy<Value = Toy>, rules: &[Rule]) {
    let n_noticed = RefCell::new(vec![0u32; rules.len()]);
    let strategy = (toys, any::<u64>(), 1..8u32);
    run_cases(n_cases, &strategy, |(toy, seed, size)| {
        let Some(Drawn { mut case, claim, constraints, defined }) = drawn(&toy, seed, size) else {
            return Ok(());
        };
        if !case.is_violated_fairly(&defined) {
            return Ok(());
        }
        for (count, &rule) in n_noticed.borrow_mut().iter_mut().zip(rules) {
            let mut ways = ways(Some(rule)).filter(|how| how.seed == 0);
            *count += u32::from(ways.any(|how| !search(&case, &claim, &constraints, how).run));
        }
        Ok(())
    });
    assert_met!(n_noticed.borrow().iter().all(|&n| n > 0), "{n_noticed:?} of {rules:?}");
}

#[test]
fn a_dropped_rule_is_noticed_in_any_toys() {
    are_noticed(1000, any_toy(), &[Rule::Key, Rule::Order, Rule::Cycle]);
}

#[test]
fn a_dropped_rule_is_noticed_where_constraints_are_shared() {
    are_noticed(1000, shared(), &[Rule::Key, Rule::Shut, Rule::Cycle]);
}

#[test]
fn a_dropped_rule_is_noticed_in_meetings() {
    are_noticed(1000, meetings(), &[Rule::Flip, Rule::Key]);
}

/// Whatever is on a cycle without some actions may recur without them. Returns how many do not.
fn what_recurs_is_known(system: &ActionSystem, bits: u16) -> Result<usize, TestCaseError> {
    let Ok(Some(space)) = naive::explore(system, 300) else { return Ok(0) };
    let n_actions = system.actions().len();
    let actions = (0..n_actions).map(ActionId::new);
    let without: Vec<ActionId> = actions.filter(|action| bits >> (action.index() % 16) & 1 == 1).collect();
    let budget = &mut Budget::unlimited();
    let relations = Relations::new(system, budget).expect("no limit");
    let recurrent = por::recurrent(system, &relations, &without, budget).expect("no limit");
    let mut edges: Vec<Vec<(usize, ActionId)>> = vec![Vec::new(); space.states.len()];
    for &(from, action, to) in &space.transitions {
        let first = system.first(action);
        if !without.contains(&first) {
            edges[from].push((to, first));
        }
    }
    let found = automata::scc::components(&edges, |_, edge| Some(edge.0), budget).expect("no limit");
    for (from, row) in edges.iter().enumerate() {
        for (_, action) in row.iter().filter(|edge| found.of[edge.0] == found.of[from]) {
            prop_assert!(recurrent.contains(action.index()), "{action:?} recurs without {without:?}");
        }
    }
    Ok(n_actions - without.len() - recurrent.count_ones(..))
}

#[test]
fn what_may_recur_is_all_that_does() {
    let n_once = Cell::new(0);
    run_cases(1500, &(any_toy(), meetings(), any::<u16>()), |(toy, meeting, bits)| {
        for toy in [toy, meeting] {
            n_once.set(n_once.get() + what_recurs_is_known(&toy.build().0, bits)?);
        }
        Ok(())
    });
    assert_met!(n_once.get() > 1000, "{n_once:?} do not recur");
}

#[test]
fn what_may_recur_is_all_that_does_with_data() {
    let n_once = Cell::new(0);
    let recipes = prop_oneof![systems::recipe(true), systems::recipe_with_chains()];
    run_cases(2000, &(recipes, any::<u16>()), |(recipe, bits)| {
        n_once.set(n_once.get() + what_recurs_is_known(&recipe.build(), bits)?);
        Ok(())
    });
    assert_met!(n_once.get() > 20, "{n_once:?} do not recur");
}
