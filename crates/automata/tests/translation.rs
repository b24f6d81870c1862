//! Translation and every reduction, against the reference semantics.

mod common;

use base::budget::Patience;
use base::{Budget, Limit};
use common::{config, disagreement, formula, shown, tape, words};
use generators::random;
use ltl::{Formulas, Lasso, Valuation, satisfies};
use proptest::prelude::*;
use stubborn_automata::GaveUp;
use stubborn_automata::clean::{simplify_marks, trim};
use stubborn_automata::simulation::{Direction, Relation, reduce};
use stubborn_automata::{
    Config, Effort, Placement, Tgba, TooLarge, accepting_lasso, accepts, degeneralize, is_empty, product,
    to_ba, translate, translate_ba, union,
};

const EFFORTS: [Effort; 3] = [Effort::Low, Effort::Medium, Effort::High];

/// Everything that can be made of an automaton without changing its language.
fn variants(tgba: &Tgba) -> Result<Vec<(&'static str, Tgba)>, Limit> {
    use Direction::{Backward, Forward};
    use Relation::{Bisimulation, Simulation};
    let budget = &mut Budget::unlimited();
    let order: Vec<u32> = (0..tgba.n_marks()).collect();
    let backwards: Vec<u32> = order.iter().rev().copied().collect();
    let ba = degeneralize(tgba, Placement::States, &order, budget)?;
    Ok(vec![
        ("trim", trim(tgba.clone(), budget)?),
        ("marks", simplify_marks(trim(tgba.clone(), budget)?, budget)?),
        ("forward bisimulation", reduce(tgba.clone(), Forward, Bisimulation, budget)?),
        ("backward bisimulation", reduce(tgba.clone(), Backward, Bisimulation, budget)?),
        ("forward simulation", reduce(tgba.clone(), Forward, Simulation, budget)?),
        ("backward simulation", reduce(tgba.clone(), Backward, Simulation, budget)?),
        ("degeneralized on edges", degeneralize(tgba, Placement::Edges, &order, budget)?),
        ("degeneralized on states, reversed", degeneralize(tgba, Placement::States, &backwards, budget)?),
        ("BA, simulated", reduce(ba.clone(), Forward, Simulation, budget)?),
        ("BA, simulated backwards", reduce(ba.clone(), Backward, Simulation, budget)?),
        ("BA", to_ba(tgba, Effort::High, Placement::States, budget)?),
        ("TBA", to_ba(tgba, Effort::Medium, Placement::Edges, budget)?),
        ("degeneralized on states", ba),
    ])
}

fn check_shape(name: &str, tgba: &Tgba) -> Result<(), TestCaseError> {
    if name.contains("BA") || name.contains("states") {
        prop_assert_eq!(tgba.n_marks(), 1, "{}", name);
    }
    if name == "BA" || name.contains("BA,") || name.contains("states") {
        prop_assert!(tgba.is_state_based(), "{}", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn every_stage_has_the_language_of_the_formula(tape in tape(), size in 1u32..13, n in 1usize..4) {
        let (mut formulas, propositions, formula) = random::pool(n, random::ALL, size, &mut random::from_tape(&tape));
        let words = words(&propositions, 24, u64::from(size));
        for effort in EFFORTS {
            let tgba = translate(&mut formulas, formula, effort, &mut Budget::unlimited()).unwrap();
            let wrong = disagreement(&formulas, formula, &tgba, &words);
            prop_assert_eq!(wrong, None, "{:?}: {}", effort, shown(&formulas, formula));
            if effort == Effort::Low || size < 8 {
                for (name, variant) in variants(&tgba).unwrap() {
                    let wrong = disagreement(&formulas, formula, &variant, &words);
                    prop_assert_eq!(wrong, None, "{}: {}", name, shown(&formulas, formula));
                    check_shape(name, &variant)?;
                }
            }
        }
    }

    #[test]
    fn a_formula_and_its_negation_share_no_word(tape in tape(), size in 1u32..15) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, _, formula) = random::pool(3, random::ALL, size, &mut random::from_tape(&tape));
        let negation = formulas.not(formula);
        for effort in [Effort::Low, Effort::High] {
            let [yes, no] = [formula, negation].map(|f| translate(&mut formulas, f, effort, budget).unwrap());
            let both = product(&yes, &no, usize::MAX, budget).unwrap();
            prop_assert!(is_empty(&both, budget).unwrap(), "{}", shown(&formulas, formula));
            for (f, tgba) in [(formula, &yes), (negation, &no)] {
                if let Some(word) = accepting_lasso(tgba, budget).unwrap() {
                    prop_assert!(satisfies(&formulas, f, &word) && accepts(tgba, &word, budget).unwrap());
                }
            }
        }
    }

    #[test]
    fn büchi_automata_are_exact(tape in tape(), size in 1u32..14) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(3, random::ALL, size, &mut random::from_tape(&tape));
        let negation = formulas.not(formula);
        let words = words(&propositions, 24, 7);
        for placement in [Placement::States, Placement::Edges] {
            let ba = translate_ba(&mut formulas, formula, Effort::High, placement, budget).unwrap();
            let no = translate(&mut formulas, negation, Effort::Medium, budget).unwrap();
            prop_assert_eq!(disagreement(&formulas, formula, &ba, &words), None, "{}", shown(&formulas, formula));
            prop_assert!(is_empty(&product(&ba, &no, usize::MAX, budget).unwrap(), budget).unwrap(), "{}", shown(&formulas, formula));
            prop_assert!(placement == Placement::Edges || ba.is_state_based());
        }
    }

    #[test]
    fn product_and_union_are_and_and_or(tape in tape(), size in 1u32..9) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, a) = random::pool(2, random::ALL, size, &mut random::from_tape(&tape));
        let b = random::formula(&mut formulas, &propositions, random::ALL, size, &mut random::seeded(u64::from(size)));
        let words = words(&propositions, 16, 11);
        let [left, right] = [a, b].map(|f| translate(&mut formulas, f, Effort::Medium, budget).unwrap());
        let (and, or) = (formulas.and([a, b]), formulas.or([a, b]));
        let both = product(&left, &right, usize::MAX, budget).unwrap();
        prop_assert_eq!(disagreement(&formulas, and, &both, &words), None);
        prop_assert_eq!(disagreement(&formulas, or, &union(&left, &right, budget).unwrap(), &words), None);
    }
}

/// Fuel decides how small the automaton is, never what it accepts.
#[test]
fn an_automaton_without_fuel_is_exact_too() {
    let budget = &mut Budget::unlimited();
    let mut draw = random::seeded(12);
    let (mut n_refused, mut n_larger) = (0, 0);
    for _ in 0..400 {
        let size = 6 + draw(10);
        let (mut formulas, propositions, formula) = random::pool(3, random::ALL, size, &mut draw);
        let words = words(&propositions, 20, 9);
        let config = Config { fuel: u64::from(draw(4_000)), ..Config::default() };
        for placement in [None, Some(Placement::States)] {
            let mut make = |config| match placement {
                None => translate(&mut formulas, formula, config, budget),
                Some(placement) => translate_ba(&mut formulas, formula, config, placement, budget),
            };
            let best = make(Config::default()).unwrap();
            match make(config) {
                Ok(tgba) => {
                    n_larger += usize::from(tgba.n_states() > best.n_states());
                    let wrong = disagreement(&formulas, formula, &tgba, &words);
                    assert_eq!(wrong, None, "{config:?} {}", shown(&formulas, formula));
                    assert!(placement.is_none() || tgba.is_state_based() && tgba.n_marks() == 1);
                }
                Err(reason) => {
                    assert_eq!(reason, TooLarge::Work.into());
                    n_refused += 1;
                }
            }
        }
    }
    assert!(n_refused > 5 && n_larger > 5, "{n_refused} {n_larger}");
}

#[test]
fn a_spent_budget_ends_a_translation_wherever_it_is() {
    let mut formulas = Formulas::new();
    let text = (1..=5).map(|i| format!("(G F a{i} | F G b{i})")).collect::<Vec<_>>().join(" & ");
    let formula = formula(&mut formulas, &text);
    let mut n_ended = 0;
    for looks in (0..12).map(|power| (1 << power) - 1) {
        let watch = Patience::new(looks);
        let mut budget = Budget::new(u64::MAX, u64::MAX, &watch);
        let result = translate_ba(&mut formulas, formula, Effort::High, Placement::States, &mut budget);
        match result {
            Ok(ba) => {
                assert!(
                    !accepts(
                        &ba,
                        &Lasso::new(vec![], vec![Valuation::new()]).unwrap(),
                        &mut Budget::unlimited()
                    )
                    .unwrap()
                );
                break;
            }
            Err(reason) => assert_eq!(reason, GaveUp::Limit(Limit::Interrupt)),
        }
        n_ended += 1;
    }
    assert!(n_ended > 3, "the budget ended {n_ended} translations");
}

/// Larger formulas, low effort against high.
#[test]
fn large_formulas_are_exact_too() {
    let mut draw = random::seeded(3);
    for _ in 0..150 {
        let size = 14 + draw(10);
        let (mut formulas, propositions, formula) = random::pool(4, random::ALL, size, &mut draw);
        let words = words(&propositions, 30, 5);
        let Ok(tgba) = translate(&mut formulas, formula, Effort::High, &mut Budget::unlimited()) else {
            continue;
        };
        assert_eq!(disagreement(&formulas, formula, &tgba, &words), None, "{}", shown(&formulas, formula));
    }
}

fn sizes(text: &str) -> (usize, usize) {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let formula = formula(&mut formulas, text);
    let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
    let ba = translate_ba(&mut formulas, formula, Effort::High, Placement::States, budget).unwrap();
    (tgba.n_states(), ba.n_states())
}

#[test]
fn well_known_formulas_have_well_known_sizes() {
    assert_eq!(sizes("true"), (1, 1));
    assert_eq!(sizes("false"), (1, 1));
    assert_eq!(sizes("a U G b"), (2, 2));
    assert_eq!(sizes("G F a & G F b"), (1, 3));
    assert_eq!(sizes("F G a"), (2, 2));
    assert_eq!(sizes("!G (req -> F ack)"), (2, 2));
    assert_eq!(sizes("G (req -> F ack)"), (2, 2));
    assert_eq!(sizes("G p1 | G p2 | G p3"), (4, 4));
}

#[test]
fn seventy_propositions_are_no_problem() {
    let budget = &mut Budget::unlimited();
    let text = |op: &str| (0..70).map(|i| format!("p{i}")).collect::<Vec<_>>().join(op);
    let mut formulas = Formulas::new();
    let together = formula(&mut formulas, &format!("G F ({}) & F G ({})", text(" & "), text(" | ")));
    let tgba = translate(&mut formulas, together, Effort::High, budget).unwrap();
    assert_eq!(tgba.n_states(), 2);
    let word = accepting_lasso(&tgba, budget).unwrap().unwrap();
    assert!(satisfies(&formulas, together, &word));
}

#[test]
fn what_is_too_large_is_refused() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let many = (0..70).map(|i| format!("G F p{i}")).collect::<Vec<_>>().join(" & ");
    let many = formula(&mut formulas, &many);
    assert_eq!(translate(&mut formulas, many, Effort::High, budget).unwrap_err(), TooLarge::Marks.into());
    let deep = (0..9_000).fold(formulas.atom("a"), |f, _| formulas.next(f));
    assert_eq!(translate(&mut formulas, deep, Effort::High, budget).unwrap_err(), TooLarge::Formula.into());
    let wide = (0..40).map(|i| format!("(a{i} U b{i})")).collect::<Vec<_>>().join(" & ");
    let wide = formula(&mut formulas, &wide);
    assert!(translate(&mut formulas, wide, Effort::Low, budget).is_err());
}

/// The tableau of the whole has too many labels; those of its parts have not.
#[test]
fn a_disjunction_that_is_too_large_is_translated_part_by_part() {
    let budget = &mut Budget::unlimited();
    let parts: Vec<String> = (0..20).map(|i| format!("(a{i} -> F b{i})")).collect();
    let text = format!("!(G ({}))", parts.join(" & "));
    let mut formulas = Formulas::new();
    let formula = ltl::parse(&mut formulas, &text, base::SourceId::new(0), 0).unwrap().formula;
    let tgba = translate(&mut formulas, formula, Effort::Low, budget).unwrap();
    assert!(tgba.n_states() <= 2 * 20 + 1, "{}", tgba.n_states());
    let propositions = formulas.propositions(formula);
    for word in words(&propositions, 100, 5) {
        assert_eq!(accepts(&tgba, &word, budget).unwrap(), satisfies(&formulas, formula, &word));
    }
}
