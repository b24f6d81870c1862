//! Every construction ends when its budget is spent, wherever it is, and what a budget allows is what there
//! would be without one. The inputs are of families on which the construction in question explodes.

mod common;

use base::budget::Patience;
use base::{Budget, Limit, SourceId};
use common::formula;
use ltl::{Formula, Formulas};
use stubborn_automata::by_change::{
    Limits, small_ta, small_tgta, to_ta, to_tgta, translate_ta, translate_tgta,
};
use stubborn_automata::complement::{complement, separating_word};
use stubborn_automata::extended::Extended;
use stubborn_automata::simulation::{Direction, Relation, reduce};
use stubborn_automata::stutter::{closure, formula_stuttering, stuttering};
use stubborn_automata::tester::Edge;
use stubborn_automata::translate::polish;
use stubborn_automata::waiting::waiting_form;
use stubborn_automata::{Effort, Placement, Spec, TauFree, Tgba, to_ba, translate, translate_ba};
use stubborn_automata::{accepting_lasso, hoa, never, product};

/// Runs a construction with more and more patience, then with more and more memory, until it comes to its end.
/// It has to run out of both at first, and must leave no byte held.
fn exhaust<T, E: std::fmt::Debug>(
    what: &str,
    run: impl Fn(&mut Budget<'_>) -> Result<T, E>,
    same: impl Fn(&T, &T) -> bool,
) {
    let Ok(expected) = run(&mut Budget::unlimited()) else { panic!("{what}: it ends without limits") };
    let mut n_interrupted = 0;
    for looks in [0, 1, 2, 4, 8, 16, 1 << 40] {
        let watch = Patience::new(looks);
        let mut budget = Budget::new(u64::MAX, u64::MAX, &watch);
        match run(&mut budget) {
            Ok(found) => assert!(same(&found, &expected), "{what}: other than without limits"),
            Err(error) => {
                assert!(is(&error, Limit::Interrupt), "{what}: {error:?}");
                n_interrupted += 1;
            }
        }
        assert_eq!(budget.max_bytes, u64::MAX, "{what}: bytes are still held");
    }
    assert!(n_interrupted > 3, "{what}: looked at only {n_interrupted} times");
    let watch = Patience::new(u64::MAX);
    let mut n_too_little = 0;
    for bytes in (0..40).step_by(5).map(|power| 1 << power) {
        let mut budget = Budget::new(u64::MAX, bytes, &watch);
        match run(&mut budget) {
            Ok(found) => assert!(same(&found, &expected), "{what}: other than without limits"),
            Err(error) => {
                assert!(is(&error, Limit::Memory(bytes)), "{what}: {error:?}");
                n_too_little += 1;
            }
        }
        assert_eq!(budget.max_bytes, bytes, "{what}: bytes are still held");
    }
    assert!((2..8).contains(&n_too_little), "{what}: {n_too_little} sizes were too little");
}

/// Whether this limit is what ended it, whatever the error is called.
fn is(error: &impl std::fmt::Debug, limit: Limit) -> bool {
    format!("{error:?}").contains(&format!("{limit:?}"))
}

/// A construction that begins with a formula.
fn with_formula<T>(
    text: impl Into<String>,
    make: impl Fn(&mut Formulas, Formula, &mut Budget<'_>) -> T,
) -> impl Fn(&mut Budget<'_>) -> T {
    let text = text.into();
    move |budget| {
        let mut formulas = named();
        let formula = formula(&mut formulas, &text);
        make(&mut formulas, formula, budget)
    }
}

fn alike(a: &Tgba, b: &Tgba) -> bool {
    let shown = |tgba: &Tgba| hoa::write(tgba, &named(), None).to_string();
    shown(a) == shown(b)
}

/// A pool that knows all the propositions of this file.
fn named() -> Formulas {
    let mut formulas = Formulas::new();
    (0..40).for_each(|i| _ = formulas.proposition(&format!("p{i}")));
    formulas
}

fn automaton(text: &str, effort: Effort) -> Tgba {
    let mut formulas = named();
    let formula = formula(&mut formulas, text);
    translate(&mut formulas, formula, effort, &mut Budget::unlimited()).unwrap()
}

/// `(G F p0 | F G p1) & …`: many marks, and exponentially many states.
fn pairs(n: usize) -> String {
    let pairs: Vec<String> = (0..n).map(|i| format!("(G F p{} | F G p{})", 2 * i, 2 * i + 1)).collect();
    pairs.join(" & ")
}

/// `F (p0 & F (p1 & …))`, in any order.
fn orders(n: usize) -> String {
    (0..n).map(|i| format!("F (p{i} & F p{})", (i + 1) % n)).collect::<Vec<_>>().join(" & ")
}

#[test]
fn translations_end() {
    for (text, effort) in [(pairs(3), Effort::High), (orders(4), Effort::Medium), (orders(6), Effort::Low)] {
        let run =
            with_formula(&text, |formulas, formula, budget| translate(formulas, formula, effort, budget));
        exhaust(&text, run, alike);
    }
    let run = with_formula(pairs(2), |formulas, formula, budget| {
        translate_ba(formulas, formula, Effort::High, Placement::States, budget)
    });
    exhaust("translate_ba", run, alike);
    // Sums of products in a bad order: the label alone has 2^12 nodes, made by one operation after the other.
    let text = format!(
        "({}) & ({})",
        (0..24).map(|i| format!("(p{i} | !p{i})")).collect::<Vec<_>>().join(" & "),
        (0..12).map(|i| format!("(p{i} & p{})", i + 12)).collect::<Vec<_>>().join(" | ")
    );
    let run =
        with_formula(&text, |formulas, formula, budget| translate(formulas, formula, Effort::Low, budget));
    exhaust("a large label", run, alike);
}

#[test]
fn reductions_end() {
    let large = automaton(&orders(5), Effort::Low);
    for direction in [Direction::Forward, Direction::Backward] {
        let run = |budget: &mut Budget<'_>| reduce(large.clone(), direction, Relation::Simulation, budget);
        exhaust("simulation", run, alike);
    }
    exhaust("polish", |budget| polish(large.clone(), Effort::High, budget), alike);
    let marked = automaton(&pairs(3), Effort::Low);
    let run = |budget: &mut Budget<'_>| to_ba(&marked, Effort::Medium, Placement::States, budget);
    exhaust("to_ba", run, alike);
}

#[test]
fn complements_and_comparisons_end() {
    let (tgba, other) = (automaton(&orders(4), Effort::Low), automaton(&pairs(2), Effort::High));
    exhaust("complement", |budget| complement(&tgba, 100_000, budget), alike);
    let ranked = automaton("F G p0", Effort::Low);
    exhaust("ranks", |budget| complement(&ranked, 100_000, budget), alike);
    exhaust("product", |budget| product(&tgba, &other, 100_000, budget), alike);
    let run = |budget: &mut Budget<'_>| separating_word(&tgba, &tgba, 100_000, budget);
    exhaust("separating_word", run, |a, b| a == b);
    exhaust("accepting_lasso", |budget| accepting_lasso(&tgba, budget), |a, b| a == b);
}

#[test]
fn stuttering_ends() {
    let tgba = automaton("F (p0 & X (p1 & X (p2 & X (p3 & X p4))))", Effort::Low);
    exhaust("closure", |budget| closure(&tgba, 100_000, budget).map(|closed| closed.0), alike);
    let free = automaton(&orders(4), Effort::Low);
    exhaust("waiting_form", |budget| waiting_form(&free, 100_000, budget), alike);
    let not = complement(&free, 100_000, &mut Budget::unlimited()).unwrap();
    exhaust("stuttering", |budget| stuttering(&free, &not, 1_000_000, budget), |a, b| a == b);
    let run = with_formula("F (p0 & X (!p0 & p1 & F (p2 & X !p2)))", |formulas, formula, budget| {
        formula_stuttering(formulas, formula, Effort::High, budget)
    });
    exhaust("formula_stuttering", run, |a, b| a == b);
}

#[test]
fn testing_automata_end() {
    let tgba = automaton(&orders(4), Effort::High);
    let limits = Limits::default();
    exhaust("to_ta", |budget| to_ta(&tgba, &limits, budget), |a, b| a == b);
    exhaust("to_tgta", |budget| to_tgta(&tgba, &limits, budget), |a, b| a == b);
    exhaust("small_ta", |budget| small_ta(&tgba, &limits, budget), |a, b| a == b);
    exhaust("small_tgta", |budget| small_tgta(&tgba, &limits, budget), |a, b| a == b);
    let ta = to_ta(&tgba, &limits, &mut Budget::unlimited()).unwrap();
    exhaust("back to values", |budget| ta.to_tgba(budget), alike);
    let run = with_formula(orders(3), |formulas, formula, budget| {
        translate_ta(formulas, formula, Effort::High, &limits, budget)
    });
    exhaust("translate_ta", run, |a, b| a == b);
    let run = with_formula(orders(3), |formulas, formula, budget| {
        translate_tgta(formulas, formula, Effort::High, &limits, budget)
    });
    exhaust("translate_tgta", run, |a, b| a == b);
    let ba = to_ba(&tgba, Effort::Low, Placement::States, &mut Budget::unlimited()).unwrap();
    exhaust("extended", |budget| Extended::from_ba(&ba, 1 << 16, budget), |a, b| a == b);
}

/// Its states remember the last `n` letters: determinized, there are 2^n sets of them.
fn remembering(n: u32) -> Spec {
    let mut edges: Vec<Edge> = (0..2).map(|letter| Edge { from: 0, letter: Some(letter), to: 0 }).collect();
    edges.push(Edge { from: 0, letter: Some(0), to: 1 });
    edges.extend((1..n).flat_map(|at| (0..2).map(move |letter| (at, letter))).map(|(at, letter)| Edge {
        from: at,
        letter: Some(letter),
        to: at + 1,
    }));
    edges.push(Edge { from: n, letter: None, to: 0 });
    let states = (0..=n).map(|state| format!("s{state}")).collect();
    Spec { letters: vec!["a".into(), "b".into()], states, initial: 0, edges }
}

#[test]
fn testers_end() {
    let spec = remembering(8);
    let run = |budget: &mut Budget<'_>| spec.to_tester(1_000_000, budget);
    exhaust("to_tester", run, |a, b| a == b);
    let tester = run(&mut Budget::unlimited()).unwrap();
    let run = |budget: &mut Budget<'_>| TauFree::new(&tester, budget);
    exhaust("tau", run, |a, b| a.initial() == b.initial());
}

#[test]
fn reading_ends() {
    let tgba = automaton(&orders(4), Effort::Low);
    let text = hoa::write(&tgba, &named(), None).to_string();
    let run = |budget: &mut Budget<'_>| hoa::read_any(&mut named(), &text, SourceId::new(0), budget);
    let shown = |found: &[hoa::Named]| hoa::write_any(&found[0].automaton, &named(), None).to_string();
    exhaust("HOA", run, |a, b| shown(a) == shown(b));
    let ba = to_ba(&tgba, Effort::Low, Placement::States, &mut Budget::unlimited()).unwrap();
    let text = never::write(&ba, &named(), None).unwrap().to_string();
    let run = |budget: &mut Budget<'_>| never::read(&mut named(), &text, SourceId::new(0), budget);
    exhaust("a never claim", run, alike);
}
