//! The syntactic classes: known formulas, and what each class promises about words.

mod common;

use common::{config, formula, shown, tape};
use generators::random;
use proptest::prelude::*;
use stubborn_ltl::{Formulas, Lasso, satisfies};

#[test]
fn known_formulas() {
    // Text, safety, guarantee, obligation.
    let cases = [
        ("a & X b", true, true, true),
        ("G (a -> X b)", true, false, true),
        ("a W b", true, false, true),
        ("!F a", true, false, true),
        ("a U b", false, true, true),
        ("a M X b", false, true, true),
        ("F a -> F b", false, false, true),
        ("(G a) U b", false, false, true),
        ("F G a", false, false, false),
        ("a U G b", false, false, false),
        ("G F a", false, false, false),
        ("G (a U b)", false, false, false),
        ("G F a -> G F b", false, false, false),
    ];
    for (text, safety, guarantee, obligation) in cases {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let classes = formulas.classes(formula);
        let found = (classes.is_safety(), classes.is_guarantee(), classes.is_obligation());
        assert_eq!(found, (safety, guarantee, obligation), "{text}");
    }
}

#[test]
fn pure_and_next_free_formulas() {
    // Text, pure eventuality, pure universality, free of X.
    let cases = [
        ("a", false, false, true),
        ("true", true, true, true),
        ("F a", true, false, true),
        ("G a", false, true, true),
        ("G F a", true, true, true),
        ("a U F b", true, false, true),
        ("a U b", false, false, true),
        ("X F a", true, false, false),
        ("!G a & F b", true, false, true),
        ("G a -> F b", true, false, true),
        ("b R G a", false, true, true),
        ("(F a) W (G F b)", true, false, true),
    ];
    for (text, eventuality, universality, next_free) in cases {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let classes = formulas.classes(formula);
        assert_eq!(classes.is_pure_eventuality(), eventuality, "{text}");
        assert_eq!(classes.is_pure_universality(), universality, "{text}");
        assert_eq!(classes.is_next_free(), next_free, "{text}");
    }
}

/// The word with a tail in place of all but many turns of its cycle.
fn cut(lasso: &Lasso, tail: &Lasso) -> Lasso {
    let turns = std::iter::repeat_n(lasso.cycle(), 40).flatten();
    let prefix = lasso.prefix().iter().chain(turns).chain(tail.prefix()).cloned().collect();
    Lasso::new(prefix, tail.cycle().to_vec()).unwrap()
}

/// The word with a letter in front.
fn behind(lasso: &Lasso, letter: &Lasso) -> Lasso {
    let prefix = letter.positions()[..1].iter().chain(lasso.prefix()).cloned().collect();
    Lasso::new(prefix, lasso.cycle().to_vec()).unwrap()
}

proptest! {
    #![proptest_config(config(12_000))]

    #[test]
    fn classes_keep_their_promises(tape in tape(), size in 1u32..9) {
        let mut draw = random::from_tape(&tape);
        let (formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut draw);
        let (word, tail) =
            (random::lasso(&propositions, 2, 3, &mut draw), random::lasso(&propositions, 2, 2, &mut draw));
        let holds = |word: &Lasso| satisfies(&formulas, formula, word);
        let classes = formulas.classes(formula);
        let text = shown(&formulas, formula);
        if classes.is_safety() && !holds(&word) {
            prop_assert!(!holds(&cut(&word, &tail)), "safety: {}", text);
        }
        if classes.is_guarantee() && holds(&word) {
            prop_assert!(holds(&cut(&word, &tail)), "guarantee: {}", text);
        }
        if classes.is_pure_eventuality() && holds(&word) {
            prop_assert!(holds(&behind(&word, &tail)), "pure eventuality: {}", text);
        }
        if classes.is_pure_universality() && holds(&behind(&word, &tail)) {
            prop_assert!(holds(&word), "pure universality: {}", text);
        }
        if classes.is_propositional() {
            let other = behind(&tail, &word);
            prop_assert_eq!(holds(&word), holds(&other), "propositional: {}", text);
        }
        if classes.is_next_free() {
            prop_assert_eq!(holds(&word), holds(&random::stretched(&word, &mut draw)), "next-free: {}", text);
        }
    }
}
