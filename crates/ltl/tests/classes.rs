//! The syntactic classes: known formulas, and what each class promises about words.

mod common;

use common::{config, formula, shown, tape};
use generators::random;
use ltl::{Formulas, Hierarchy, Lasso, satisfies};
use proptest::prelude::*;

#[test]
fn known_formulas() {
    let cases = [
        ("a & X b", Hierarchy::Bottom),
        ("G (a -> X b)", Hierarchy::Safety),
        ("a W b", Hierarchy::Safety),
        ("!F a", Hierarchy::Safety),
        ("a U b", Hierarchy::Guarantee),
        ("a M X b", Hierarchy::Guarantee),
        ("F a -> F b", Hierarchy::Obligation),
        ("(G a) U b", Hierarchy::Obligation),
        ("F G a", Hierarchy::Persistence),
        ("a U G b", Hierarchy::Persistence),
        ("G F a", Hierarchy::Recurrence),
        ("G (a -> F b)", Hierarchy::Recurrence),
        ("G (a U b)", Hierarchy::Recurrence),
        ("G F a -> G F b", Hierarchy::Reactivity),
        ("G F a ^ b", Hierarchy::Reactivity),
    ];
    for (text, expected) in cases {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        assert_eq!(formulas.classes(formula).hierarchy(), expected, "{text}");
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

/// The word with each letter repeated once, twice or three times.
fn stuttered(lasso: &Lasso, draw: &mut impl FnMut(u32) -> u32) -> Lasso {
    let mut repeat = |part: &[ltl::Valuation]| {
        part.iter().flat_map(|letter| std::iter::repeat_n(letter.clone(), 1 + draw(3) as usize)).collect()
    };
    Lasso::new(repeat(lasso.prefix()), repeat(lasso.cycle())).unwrap()
}

proptest! {
    #![proptest_config(config(12_000))]

    #[test]
    fn classes_keep_their_promises(tape in tape(), size in 1u32..9) {
        let mut formulas = Formulas::new();
        let propositions = random::propositions(&mut formulas, 2);
        let mut draw = random::from_tape(&tape);
        let formula = random::formula(&mut formulas, &propositions, random::ALL, size, &mut draw);
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
            prop_assert_eq!(holds(&word), holds(&stuttered(&word, &mut draw)), "next-free: {}", text);
        }
    }
}
