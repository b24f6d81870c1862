//! Sets that must close no cycle, chosen by several processes, which sort states topologically: nothing is lost, and something
//! is where nothing is sorted. (Whether all methods agree is asked by `distributed_products.rs`.)
//!
//! Ways to get it wrong that were tried by hand in `distributed::{sets, fixpoint, piece}`, and what noticed each:
//!
//! | mistake | noticed by |
//! |---|---|
//! | a step that leads to a state of the same round does not lead back | all of them |
//! | an enlarged state no longer takes its small set | `proviso` |
//! | states are sorted once | `two_loops`, `one_cycle_behind_the_other` |
//! | the way back to a state does not go through who was enlarged for it | all but the random cases |
//! | what is enlarged is not expanded | all of them |
//! | no state leaves anything out | all of them |
//! | under fairness, steps that are seen close no cycle | `fair_sets.rs`: `trap`, toys |
//! | an interrupted search sorts again what was sorted | `kept.rs` |

use std::cell::Cell;
use std::sync::Mutex;

use base::Budget;
use check::decide::{Claim, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::product::AtDeadlock;
use check::reduction;
use generators::random;
use por::Rule;
use proptest::prelude::*;
use stubborn_testing::claims::{Case, Draw, about_places as case, critical};
use stubborn_testing::hall::together;
use stubborn_testing::{assert_met, networks, run_cases};

/// Those that need that, one for each kind of observer.
fn methods() -> [Method; 7] {
    use ObserverKind::{Ba, LazyTgta, Ta, Tgba, Tgta};
    use SearchKind::{Nested, Scc, TwoPass};
    use reduction::Method::{Classical, Hybrid, Repaired};
    [
        (Ta, TwoPass, Hybrid),
        (Tgta, Scc, Hybrid),
        (Tgba, Scc, Classical),
        (Ba, Nested, Classical),
        (Tgba, Scc, Repaired),
        (Ta, TwoPass, Repaired),
        (LazyTgta, Scc, Repaired),
    ]
    .map(|(observer, search, reduction)| Method::new(observer, search, Some(reduction)))
}

/// Whether several processes find a violation, which is judged; all say the same.
fn is_found(case: &Case, claims: &[Mutex<Claim>], method: Method, settings: &Settings<'_>) -> bool {
    let said = together(claims.len(), |peers| {
        let mut claim = claims[peers.me().index].lock().unwrap();
        let mut budget = Budget::unlimited().with_peers(Some(peers));
        let decision = claim.search(&case.system, method, settings, &mut budget).expect("an allowed method");
        case.judge(case.formula, &decision.outcome).expect("a good run")
    });
    assert!(said.iter().all(|found| *found == said[0]), "{method:?}: {said:?}");
    said[0]
}

fn claims(case: &mut Case, n_processes: usize) -> Vec<Mutex<Claim>> {
    let formula = case.formula;
    (0..n_processes).map(|_| Mutex::new(case.claim(formula))).collect()
}

/// Each of some methods needs it.
fn needs_sorting(mut case: Case, at_deadlock: AtDeadlock, is_meant: impl Fn(Method) -> bool) {
    assert!(case.is_violated_naively(at_deadlock), "{} is violated", case.text());
    for n_processes in 1..=3 {
        let claims = claims(&mut case, n_processes);
        for method in methods().into_iter().filter(|method| is_meant(*method)) {
            let found = [None, Some(Rule::Proviso)].map(|without_rule| {
                let settings = Settings { without_rule, at_deadlock, ..Settings::default() };
                is_found(&case, &claims, method, &settings)
            });
            assert_eq!(found, [true, false], "{method:?} by {n_processes}");
        }
    }
}

/// A smaller set that is always chosen must not put the rest off for ever.
#[test]
fn proviso() {
    let network = "process P0 { s0: a -> s1 | d -> s2; s1: x -> s3; s2: e -> s2; s3: ; }
        process P1 { s0: c -> s0; }";
    needs_sorting(case(network, "G !P0_3"), AtDeadlock::Stutter, |_| true);
}

/// What a loop of somebody else leaves out is not left out for ever.
#[test]
fn left_out() {
    let network = "process P0 { s0: c -> s0; } process P1 { s0: a -> s1 | d -> s2; s1: ; s2: ; }";
    needs_sorting(case(network, "G !P1_1"), AtDeadlock::Stutter, |_| true);
}

/// Two loops, each of which leaves out the other: only who takes both in turn comes to see both.
#[test]
fn two_loops() {
    let network = "process P0 { s0: a -> s1; s1: b -> s0; } process P1 { s0: c -> s1; s1: d -> s0; }
        process P2 { s0: e -> s0; }";
    needs_sorting(case(network, "!(G F P0_1 & G F P1_1)"), AtDeadlock::Stutter, |_| true);
}

/// It is not enough that what is left out is taken somewhere in the component (`reductions.rs` has the story).
#[test]
fn trap() {
    let network = "process P0 { s0: x -> s0 | y -> s1; s1: back -> s0; }
        process P1 { s0: back -> s0 | b -> s1; s1: ; }";
    needs_sorting(case(network, "G !P1_1"), AtDeadlock::Ignore, |_| true);
}

/// A cycle that is found only after another one was cut is sorted in its turn.
#[test]
fn one_cycle_behind_the_other() {
    let network = "process P0 { s0: a -> s0; } process P1 { s0: b -> s1; s1: c -> s2; s2: d -> s1; }
        process P2 { s0: e -> s1; s1: ; }";
    needs_sorting(case(network, "!(F P1_1 & F P2_1)"), AtDeadlock::Stutter, |_| true);
}

#[test]
fn critical_violations_survive_and_are_lost_where_nothing_is_sorted() {
    let (n_cases, n_noticed) = (Cell::new(0_u32), Cell::new([0_u32; 7]));
    let strategy = (networks::network(), any::<u64>(), 1..10u32);
    run_cases(500, &strategy, |(network, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let Some(critical) = critical(&network, draw) else { return Ok(()) };
        let Some(mut case) = Case::of_network(&critical, draw) else { return Ok(()) };
        if !case.is_violated_naively(AtDeadlock::Stutter) {
            return Ok(());
        }
        n_cases.set(n_cases.get() + 1);
        let claims = claims(&mut case, 1 + seed as usize % 3);
        if claims[0].lock().unwrap().proof().is_none() {
            return Ok(());
        }
        let mut noticed = n_noticed.get();
        for (method, noticed) in methods().into_iter().zip(&mut noticed) {
            // Cycles are looked for early, or only in the end.
            let settings = Settings { together: seed >> 8 & 1 == 0, ..Settings::default() };
            let context = || format!("{method:?}: {} on\n{}", case.text(), critical.to_text());
            prop_assert!(is_found(&case, &claims, method, &settings), "{}", context());
            let settings = Settings { without_rule: Some(Rule::Proviso), ..settings };
            *noticed += u32::from(!is_found(&case, &claims, method, &settings));
        }
        n_noticed.set(noticed);
        Ok(())
    });
    // Others are missed more rarely; they have tests of their own above.
    let by_value = methods().map(|method| method.observer.is_by_value());
    let mut noticed = n_noticed.get().into_iter().zip(by_value);
    assert_met!(noticed.all(|(n, by_value)| n > 5 || !by_value), "{n_noticed:?} of {n_cases:?}");
}
