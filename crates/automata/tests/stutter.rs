//! Stuttering, complement and equivalence, against brute force and the reference semantics.

mod common;

use base::Budget;
use common::{config, disagreement, formula, shown, tape, words};
use generators::random;
use ltl::{Formulas, Lasso, Valuation, satisfies};
use proptest::prelude::*;
use stubborn_automata::complement::{complement, separating_word};
use stubborn_automata::stutter::{Stuttering, closure, formula_stuttering, shrink, stretch};
use stubborn_automata::{Effort, accepts, is_empty, product, translate};

/// The word with each finite block of equal letters made one letter, and a constant end kept; as its
/// letters before the cycle and in it, in a form that depends on the word only.
fn shortest(word: &Lasso) -> Vec<Valuation> {
    let mut letters = vec![];
    let mut position = 0;
    // Enough turns to see every change twice.
    for _ in 0..word.n_positions() * 4 + 24 {
        let letter = &word.positions()[position];
        if letters.last() != Some(letter) {
            letters.push(letter.clone());
        }
        position = word.next(position);
    }
    letters
}

/// Whether two words are stutter-equivalent: their shortest forms agree as far as both were computed,
/// and both change for ever or both stop.
fn equivalent(a: &Lasso, b: &Lasso) -> bool {
    let (x, y) = (shortest(a), shortest(b));
    let is_constant = |word: &Lasso| word.cycle().iter().all(|letter| *letter == word.cycle()[0]);
    if is_constant(a) != is_constant(b) {
        return false;
    }
    let n = x.len().min(y.len());
    x[..n] == y[..n] && (!is_constant(a) || x.len() == y.len())
}

proptest! {
    #![proptest_config(config(250))]

    #[test]
    fn witnesses_are_witnesses_and_invariant_means_invariant(tape in tape(), size in 1u32..10) {
        let (mut formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut random::from_tape(&tape));
        let mut draw = random::seeded(u64::from(size));
        match formula_stuttering(&mut formulas, formula, Effort::Medium, &mut Budget::unlimited()).unwrap() {
            Stuttering::Invariant(_) => {
                for word in words(&propositions, 20, 8) {
                    let other = random::stretched(&word, &mut draw);
                    prop_assert!(equivalent(&word, &other));
                    let verdicts = [&word, &other].map(|word| satisfies(&formulas, formula, word));
                    prop_assert_eq!(verdicts[0], verdicts[1], "{} {:?}", shown(&formulas, formula), word);
                }
            }
            Stuttering::Sensitive { accepted, rejected } => {
                prop_assert!(!formulas.classes(formula).is_next_free());
                prop_assert!(satisfies(&formulas, formula, &accepted), "{}", shown(&formulas, formula));
                prop_assert!(!satisfies(&formulas, formula, &rejected), "{}", shown(&formulas, formula));
                prop_assert!(equivalent(&accepted, &rejected), "{:?} {:?}", accepted, rejected);
            }
        }
    }

    /// By definition a word is in the closure iff some equivalent word is in the language. Random equivalent
    /// words show one direction; the other follows from a word of the closure that shrinks to none.
    #[test]
    fn the_closure_is_the_closure(tape in tape(), size in 1u32..9) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut random::from_tape(&tape));
        let negation = formulas.not(formula);
        let tgba = translate(&mut formulas, formula, Effort::Medium, budget).unwrap();
        let negated = translate(&mut formulas, negation, Effort::Medium, budget).unwrap();
        let (closed, _) = closure(&tgba, 100_000, budget).unwrap();
        let mut draw = random::seeded(3);
        for word in words(&propositions, 16, 21) {
            let other = random::stretched(&word, &mut draw);
            prop_assert_eq!(accepts(&closed, &word, budget).unwrap(), accepts(&closed, &other, budget).unwrap(), "closed: {}", shown(&formulas, formula));
            if satisfies(&formulas, formula, &word) {
                prop_assert!(accepts(&closed, &word, budget).unwrap() && accepts(&closed, &other, budget).unwrap());
                prop_assert!(accepts(&stretch(&tgba, 100_000, budget).unwrap(), &other, budget).unwrap());
            }
            if satisfies(&formulas, formula, &other) {
                prop_assert!(accepts(&shrink(&tgba, budget).unwrap(), &word, budget).unwrap());
            }
        }
        // Nothing is invented: the closure adds a word iff the language sees stuttering.
        let adds = !is_empty(&product(&closed, &negated, usize::MAX, budget).unwrap(), budget).unwrap();
        let sees = formula_stuttering(&mut formulas, formula, Effort::Medium, budget).unwrap().proof().is_none();
        prop_assert_eq!(adds, sees, "{}", shown(&formulas, formula));
    }

    #[test]
    fn complements_are_exact(tape in tape(), size in 1u32..10) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut random::from_tape(&tape));
        let negation = formulas.not(formula);
        let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
        let Ok(other) = complement(&tgba, 3_000, budget) else { return Ok(()) };
        let wrong = disagreement(&formulas, negation, &other, &words(&propositions, 24, 6)).cloned();
        prop_assert_eq!(wrong, None, "{}", shown(&formulas, formula));
        let negated = translate(&mut formulas, negation, Effort::Low, budget).unwrap();
        prop_assert!(is_empty(&product(&tgba, &other, usize::MAX, budget).unwrap(), budget).unwrap());
        prop_assert_eq!(separating_word(&negated, &other, 3_000, budget).ok().flatten(), None, "{}", shown(&formulas, formula));
        if let Ok(Some(word)) = separating_word(&tgba, &negated, 3_000, budget) {
            prop_assert!(accepts(&tgba, &word, budget).unwrap() != accepts(&negated, &word, budget).unwrap());
        }
    }
}

/// The trap of [holzmann.96.closure]: for a → b(F) → c → a the closure must not accept a·b^ω.
#[test]
fn waiting_for_ever_is_not_accepted() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let text = "a & !b & !c & G ((a & !b & !c -> X (b & !a & !c)) & (b & !a & !c -> X (c & !a & !b)) \
        & (c & !a & !b -> X (a & !b & !c)))";
    let cycle = formula(&mut formulas, text);
    let tgba = translate(&mut formulas, cycle, Effort::High, budget).unwrap();
    let (closed, _) = closure(&tgba, 1_000, budget).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| Valuation::from_iter([formulas.proposition(name)]));
    let word = |prefix: &[&Valuation], cycle: &[&Valuation]| {
        let own = |letters: &[&Valuation]| letters.iter().map(|&letter| letter.clone()).collect();
        Lasso::new(own(prefix), own(cycle)).unwrap()
    };
    assert!(accepts(&closed, &word(&[], &[&a, &b, &c]), budget).unwrap());
    assert!(accepts(&closed, &word(&[&a, &a], &[&b, &b, &b, &c, &a, &a]), budget).unwrap());
    assert!(!accepts(&closed, &word(&[&a], &[&b]), budget).unwrap());
}

#[test]
fn all_three_complements_are_used() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    for text in ["G F a & G F b", "F G a", "F G a | G F b", "G (a -> X F b)", "(a U G b) | X X !a"] {
        let formula = formula(&mut formulas, text);
        let negation = formulas.not(formula);
        let [yes, no] =
            [formula, negation].map(|f| translate(&mut formulas, f, Effort::High, budget).unwrap());
        for (automaton, expected) in [(&yes, negation), (&no, formula)] {
            let other = complement(automaton, 20_000, budget).expect(text);
            let words = words(&formulas.propositions(formula), 60, 6);
            assert_eq!(disagreement(&formulas, expected, &other, &words), None, "{text}");
        }
    }
}
