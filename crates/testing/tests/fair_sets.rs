//! The sets that keep fair runs, apart from any search: the ways to get them wrong that are known are named tests, random
//! systems are searched by [`repaired`] and by brute force, and a rule that is left out is noticed.

use std::cell::{Cell, RefCell};

use check::method::ObserverKind;
use generators::random;
use por::Rule;
use proptest::prelude::*;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::repaired::{How, search};
use stubborn_testing::toys::{Act, Effect, Fair, Test, Toy, act, any_toy, meetings};
use stubborn_testing::{repaired, run_cases};

/// All ways to search.
fn ways(without: Option<Rule>) -> impl Iterator<Item = How> {
    [ObserverKind::Tgba, ObserverKind::LazyTgta].into_iter().flat_map(move |observer| {
        [false, true]
            .into_iter()
            .flat_map(move |reverse| (0..2).map(move |seed| How { observer, reverse, seed, without }))
    })
}

/// A fair run violates the formula, which every way finds, and some do not without the rule.
fn needs_rule(toy: &Toy, formula: &str, rule: Rule) {
    let make = |formulas: &mut ltl::Formulas, _: &[ltl::Prop]| {
        ltl::parse(formulas, formula, base::SourceId::new(0), 0).expect("a good formula").formula
    };
    let mut case = toy.case(make).expect("a small system");
    let constraints = toy.constraints();
    assert!(case.is_violated_fairly(&constraints), "{formula} is violated");
    for how in ways(None) {
        assert!(search(&mut case, &constraints, how).run, "{how:?}");
    }
    let n_wrong = ways(Some(rule)).filter(|how| !search(&mut case, &constraints, *how).run).count();
    assert!(n_wrong > 0, "{formula} without {rule:?}");
}

fn toy(variables: &[(i64, i64)], n_processes: usize, actions: Vec<Act>, p: &[Test], fair: Vec<Fair>) -> Toy {
    Toy { variables: variables.to_vec(), n_processes, actions, propositions: p.to_vec(), fair }
}

fn all(strong: bool, n: usize) -> Vec<Fair> {
    (0..n).map(|process| Fair::Process(strong, process)).collect()
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
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], all(false, 3)), "F p0", Rule::Flip);
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
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], all(true, 3)), "F p0", Rule::Flip);
}

/// A silent action wakes somebody who is fair.
#[test]
fn alarm() {
    let actions = vec![act(0, 0, 1).and(3, Effect::Set(1)), act(1, 0, 0), act(2, 0, 1).when(3, 1)];
    let variables = [(2, 0), (1, 0), (2, 0), (2, 0)];
    let fair = vec![Fair::Process(false, 2)];
    needs_rule(&toy(&variables, 3, actions, &[at(2, 1)], fair), "F p0", Rule::Key);
}

/// A constraint is served by another action of it.
#[test]
fn share() {
    let actions = vec![act(0, 0, 1), act(1, 0, 0)];
    let fair = vec![Fair::Actions(false, vec![0, 1])];
    needs_rule(&toy(&[(2, 0), (1, 0)], 2, actions, &[at(0, 1)], fair), "F p0", Rule::Shut);
}

/// One loop alone is unfair.
#[test]
fn two_loops() {
    let actions = vec![act(0, 0, 0), act(1, 0, 0)];
    needs_rule(&toy(&[(1, 0), (2, 0)], 2, actions, &[at(1, 1)], all(false, 2)), "F p0", Rule::Cycle);
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
    let toy = toy(&[(2, 0), (2, 0), (3, 0)], 3, actions, &[at(2, 2)], all(false, 3));
    needs_rule(&toy, "F G !p0", Rule::Cycle);
}

/// Who is not fair must not be forgotten either.
#[test]
fn left_out() {
    let actions = vec![act(0, 0, 0), act(1, 0, 1)];
    let fair = vec![Fair::Process(false, 0)];
    needs_rule(&toy(&[(1, 0), (2, 0)], 2, actions, &[at(1, 1)], fair), "G !p0", Rule::Cycle);
}

/// Of two fair actions that are seen, both orders are.
#[test]
fn order() {
    let actions = vec![act(0, 0, 1), act(1, 0, 1)];
    let p = [at(0, 1), at(1, 1)];
    needs_rule(&toy(&[(2, 0), (2, 0)], 2, actions.clone(), &p, all(false, 2)), "G (p0 -> p1)", Rule::Order);
    needs_rule(&toy(&[(2, 0), (2, 0)], 2, actions, &p, all(false, 2)), "G (p1 -> p0)", Rule::Order);
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
    let fair = vec![Fair::Process(false, 2)];
    let toy = toy(&variables, 3, actions, &[Test::Both(3, 4)], fair);
    needs_rule(&toy, "G !p0", Rule::Cycle);
}

/// What is told of a hunt.
#[derive(Clone, Copy, Debug, Default)]
struct Hunt {
    holds: u32,
    violated: u32,
    n_reduced: u64,
    n_full: u64,
}

fn agree(mut case: Case, toy: &Toy, seed: u64, hunt: &Cell<Hunt>) -> Result<(), TestCaseError> {
    if case.claim(case.formula).proof().is_none() {
        return Ok(());
    }
    let constraints = toy.constraints();
    if constraints.len() > 12 {
        return Ok(());
    }
    let violated = case.is_violated_fairly(&constraints);
    let mut now = hunt.get();
    now.holds += u32::from(!violated);
    now.violated += u32::from(violated);
    for how in ways(None) {
        let how = How { seed: seed ^ how.seed, ..how };
        let found = search(&mut case, &constraints, how);
        now.n_reduced += found.n_states as u64;
        prop_assert_eq!(found.run, violated, "{:?}: {} on\n{:?}", how, case.text(), toy);
    }
    hunt.set(now);
    Ok(())
}

#[test]
fn random_systems_under_fairness() {
    let hunt = Cell::new(Hunt::default());
    let strategy = (any_toy(), any::<u64>(), 1..8u32);
    run_cases(3000, &strategy, |(toy, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        toy.draw(draw).map_or(Ok(()), |case| agree(case, &toy, seed, &hunt))
    });
    println!("{:?}", hunt.get());
}

#[test]
fn meetings_and_watchers() {
    let hunt = Cell::new(Hunt::default());
    let strategy = (meetings(), any::<u64>(), 1..8u32);
    run_cases(1500, &strategy, |(toy, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        toy.draw(draw).map_or(Ok(()), |case| agree(case, &toy, seed, &hunt))
    });
    println!("{:?}", hunt.get());
}

/// Without a rule, random systems that are violated are said to hold.
#[test]
fn a_dropped_rule_is_noticed() {
    const RULES: [Rule; 5] = [Rule::Flip, Rule::Key, Rule::Shut, Rule::Order, Rule::Cycle];
    let n_noticed = RefCell::new([0u32; RULES.len()]);
    let n_violated = Cell::new(0u32);
    let strategy = (prop_oneof![meetings(), any_toy()], any::<u64>(), 1..8u32);
    run_cases(1500, &strategy, |(toy, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let Some(mut case) = toy.draw(draw) else { return Ok(()) };
        let constraints = toy.constraints();
        let is_fit = constraints.len() <= 12 && case.claim(case.formula).proof().is_some();
        if !is_fit || !case.is_violated_fairly(&constraints) {
            return Ok(());
        }
        n_violated.set(n_violated.get() + 1);
        for (count, rule) in n_noticed.borrow_mut().iter_mut().zip(RULES) {
            let is_wrong = |how: How| !repaired::search(&mut case, &constraints, how).run;
            *count += u32::from(ways(Some(rule)).any(is_wrong));
        }
        Ok(())
    });
    println!("{n_noticed:?} of {n_violated:?}");
    assert!(n_noticed.borrow().iter().all(|&n| n > 0), "{n_noticed:?} of {n_violated:?}");
}
