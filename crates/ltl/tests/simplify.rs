//! Negation normal form, syntactic implication and simplification, against the reference semantics.

mod common;

use base::Budget;
use common::{all_lassos, config, difference, formula, shown, tape};
use generators::random;
use proptest::prelude::*;
use stubborn_ltl::{
    Formula, Formulas, Node, Op, negation_normal_form, satisfies, simplify, syntactically_implies,
};

fn is_normal(formulas: &Formulas, formula: Formula) -> bool {
    formulas.subformulas(formula).into_iter().all(|sub| match formulas.node(sub) {
        Node::Not(a) => matches!(formulas.op(a), Op::Prop(_)),
        Node::Implies(..) | Node::Equivalent(..) | Node::Xor(..) => false,
        _ => true,
    })
}

/// The conditions on a simplification, on one formula.
fn check_simplification(formulas: &mut Formulas, before: Formula) -> Result<(), TestCaseError> {
    let budget = &mut Budget::unlimited();
    let propositions = formulas.propositions(before);
    let after = simplify(formulas, before, budget).unwrap();
    let context = format!("{} became {}", shown(formulas, before), shown(formulas, after));
    prop_assert!(formulas.size(after) <= formulas.size(before), "larger: {}", context);
    prop_assert_eq!(difference(formulas, before, after, &propositions), None, "not equivalent: {}", context);
    prop_assert_eq!(simplify(formulas, after, budget).unwrap(), after, "not idempotent: {}", context);
    Ok(())
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn simplification_keeps_the_meaning_never_grows_and_is_idempotent(tape in tape(), size in 1u32..16) {
        let mut draw = random::from_tape(&tape);
        let (mut formulas, _, formula) = random::pool(2, random::ALL, size, &mut draw);
        check_simplification(&mut formulas, formula)?;
        let normal = negation_normal_form(&mut formulas, formula, &mut Budget::unlimited()).unwrap();
        check_simplification(&mut formulas, normal)?;
    }

    #[test]
    fn normal_form_is_normal_and_equivalent(tape in tape(), size in 1u32..24) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(3, random::ALL, size, &mut random::from_tape(&tape));
        let normal = negation_normal_form(&mut formulas, formula, budget).unwrap();
        prop_assert!(is_normal(&formulas, normal), "{}", shown(&formulas, normal));
        prop_assert_eq!(difference(&formulas, formula, normal, &propositions), None);
        prop_assert_eq!(negation_normal_form(&mut formulas, normal, budget).unwrap(), normal);
    }
}

proptest! {
    #![proptest_config(config(25_000))]

    /// Larger formulas, one random word each.
    #[test]
    fn simplification_of_larger_formulas(tape in tape(), size in 10u32..60) {
        let budget = &mut Budget::unlimited();
        let mut draw = random::from_tape(&tape);
        let (mut formulas, propositions, before) = random::pool(3, random::ALL, size, &mut draw);
        let lasso = random::lasso(&propositions, 4, 4, &mut draw);
        let after = simplify(&mut formulas, before, budget).unwrap();
        prop_assert!(formulas.size(after) <= formulas.size(before));
        prop_assert_eq!(simplify(&mut formulas, after, budget).unwrap(), after);
        prop_assert_eq!(satisfies(&formulas, before, &lasso), satisfies(&formulas, after, &lasso));
    }
}

/// Random pairs seldom imply each other, so they are small and of few propositions, and there are
/// many; every word of up to two positions before and in the cycle is tried.
#[test]
fn implications_seen_are_real() {
    let mut formulas = Formulas::new();
    let propositions = random::propositions(&mut formulas, 2);
    let words = all_lassos(&propositions, 2, 2);
    // Formulas in negation normal form are made of these: most rules are about them.
    let is_normal = |op: &Op| !matches!(op, Op::Not | Op::Implies | Op::Equivalent | Op::Xor);
    let normal: Vec<Op> = random::ALL.iter().copied().filter(is_normal).collect();
    let mut draw = random::seeded(2000);
    let (mut n_seen, mut n_missed) = (0, 0);
    for case in 0..6_000u32 {
        let operators = if case % 2 == 0 { &normal } else { random::ALL };
        let mut side = || {
            let size = 1 + draw(7);
            random::formula(&mut formulas, &propositions, operators, size, &mut draw)
        };
        let (f, g) = (side(), side());
        if f.is_constant() || g.is_constant() || f == g {
            continue;
        }
        let seen = syntactically_implies(&formulas, f, g);
        if !seen && case % 8 != 0 {
            continue; // Nothing to judge; a part is judged to count what is missed.
        }
        let broken =
            words.iter().find(|word| satisfies(&formulas, f, word) && !satisfies(&formulas, g, word));
        assert!(!seen || broken.is_none(), "{} does not imply {}", shown(&formulas, f), shown(&formulas, g));
        n_seen += usize::from(seen);
        n_missed += usize::from(!seen && broken.is_none());
    }
    assert!(n_seen > 400, "only {n_seen} implications seen");
    assert!(n_missed < n_seen, "{n_missed} implications missed in an eighth of the cases");
}

#[test]
fn implication_rules() {
    let implied = [
        ("G a", "a"),
        ("G a", "X X a"),
        ("a", "F a"),
        ("X a", "F a"),
        ("X F a", "F a"),
        ("G a", "a W b"),
        ("G a", "b R a"),
        ("a U b", "a W b"),
        ("a U b", "F b"),
        ("a U b", "a | b"),
        ("a M b", "a R b"),
        ("a M b", "F a"),
        ("a M b", "b U a"),
        ("a M b", "b W (a | c)"),
        ("a R b", "b W a"),
        ("(a & c) U b", "a U (b | d)"),
        ("(a & c) R b", "a R (b | d)"),
        ("a U (a U b)", "a U b"),
        ("G F a", "G F (a | b)"),
        ("F G a", "G F a"),
        ("!(a U b)", "!b"),
        ("!(a W b)", "!(a U b)"),
        ("!(a <-> b)", "a ^ b"),
        ("G (a & b)", "G a & F b"),
    ];
    let not_implied = [
        ("F a", "a"),
        ("a W b", "F b"),
        ("a W b", "a U b"),
        ("X a", "a"),
        ("G F a", "F G a"),
        ("a | b", "a"),
    ];
    for (list, expected) in [(&implied[..], true), (&not_implied[..], false)] {
        for (f, g) in list {
            let mut formulas = Formulas::new();
            let (f_id, g_id) = (formula(&mut formulas, f), formula(&mut formulas, g));
            assert_eq!(syntactically_implies(&formulas, f_id, g_id), expected, "{f} and {g}");
        }
    }
}

#[test]
fn rules() {
    let cases = [
        // Pure eventualities and universalities.
        ("F F a", "F a"),
        ("G F G F a", "G F a"),
        ("F G F a", "G F a"),
        ("a U F b", "F b"),
        ("a R G b", "G b"),
        ("X G F a", "G F a"),
        ("F (a & G F b)", "F a & G F b"),
        ("G (a | F G b)", "G a | F G b"),
        ("a U (b | F c)", "a U b | F c"),
        ("a M (b & G c)", "a M b & G c"),
        ("G a W b", "b | G a"),
        ("F a M b", "b & F a"),
        // X.
        ("F X a", "X F a"),
        ("X a U X b", "X (a U b)"),
        ("X a & X b & c", "c & X (a & b)"),
        // Nested until.
        ("a U (a U b)", "a U b"),
        ("(a U b) U b", "a U b"),
        ("(a U b) W b", "a U b"),
        ("a W (a U b)", "a W b"),
        ("F (a U b)", "F b"),
        ("G (a R b)", "G b"),
        ("G (a W b)", "G (a | b)"),
        ("F (a M b)", "F (a & b)"),
        ("!b U b", "F b"),
        ("!b W b", "1"),
        ("!b R b", "G b"),
        ("!b M b", "0"),
        // Joining.
        ("F a | F b", "F (a | b)"),
        ("G a & G b", "G (a & b)"),
        ("G F a | G F b", "G F (a | b)"),
        ("F G a & F G b", "F G (a & b)"),
        ("(a U c) & (b U c)", "(a & b) U c"),
        ("(a U c) & (b W c)", "(a & b) U c"),
        ("(a R b) | (c M b)", "(a | c) R b"),
        ("(a U b) | (a W c)", "a W (b | c)"),
        ("(a R b) & (a M c)", "a M (b & c)"),
        ("F b & (a W b)", "a U b"),
        ("G a | (a U b)", "a W b"),
        ("F a & (a R b)", "a M b"),
        ("a | X F a", "F a"),
        ("a & X G a", "G a"),
        ("b | (a & X (a U b))", "a U b"),
        ("b & (a | X (a R b))", "a R b"),
        ("a & (!a | b)", "a & b"),
        ("a & !a & b", "0"),
        ("a & G a", "G a"),
        ("a | (a & b)", "a"),
        // Boolean operators.
        ("!(a <-> b)", "a ^ b"),
        ("!a <-> b", "a ^ b"),
        ("!a -> b", "a | b"),
        ("G a -> a", "1"),
        ("a <-> a", "1"),
        ("a ^ !a", "1"),
        ("G a <-> a", "a -> G a"),
        ("!X F a", "X G !a"),
        ("!(a U !b)", "!a R b"),
        ("!(a U b)", "!(a U b)"),
    ];
    for (before, after) in cases {
        let mut formulas = Formulas::new();
        let formula_before = formula(&mut formulas, before);
        let simple = simplify(&mut formulas, formula_before, &mut Budget::unlimited()).unwrap();
        let expected = formula(&mut formulas, after);
        assert_eq!(simple, expected, "{before} became {}, not {after}", shown(&formulas, simple));
    }
}

#[test]
fn every_small_formula_keeps_its_meaning() {
    let mut formulas = Formulas::new();
    let propositions = random::propositions(&mut formulas, 2);
    let words = all_lassos(&propositions, 1, 2);
    let mut small: Vec<Formula> = propositions.iter().map(|&prop| formulas.prop(prop)).collect();
    for _ in 0..2 {
        let before = small.clone();
        for &a in &before {
            for op in [Op::Not, Op::Next, Op::Finally, Op::Globally] {
                small.push(formulas.apply(op, &[a]));
            }
        }
        for (&a, &b) in before.iter().flat_map(|a| before.iter().map(move |b| (a, b))) {
            small.extend(random::ALL[4..].iter().map(|&op| formulas.apply(op, &[a, b])));
        }
        small.sort_unstable();
        small.dedup();
    }
    assert!(small.len() > 5_000, "{}", small.len());
    for &before in &small {
        let after = simplify(&mut formulas, before, &mut Budget::unlimited()).unwrap();
        assert!(formulas.size(after) <= formulas.size(before));
        let broken =
            words.iter().find(|word| satisfies(&formulas, before, word) != satisfies(&formulas, after, word));
        assert_eq!(broken, None, "{} became {}", shown(&formulas, before), shown(&formulas, after));
    }
}

/// The rules that compare two temporal formulas need three propositions to show their conditions.
#[test]
fn every_pair_of_untils_keeps_its_meaning() {
    const UNTILS: [Op; 4] = [Op::Until, Op::Release, Op::WeakUntil, Op::StrongRelease];
    let mut formulas = Formulas::new();
    let propositions = random::propositions(&mut formulas, 3);
    let mut draw = random::seeded(2012);
    let words: Vec<_> = (0..80).map(|_| random::lasso(&propositions, 2, 3, &mut draw)).collect();
    let atoms: Vec<Formula> = propositions.iter().map(|&prop| formulas.prop(prop)).collect();
    let mut parts = Vec::new();
    for (&a, &b) in atoms.iter().flat_map(|a| atoms.iter().map(move |b| (a, b))) {
        parts.extend(UNTILS.map(|op| formulas.apply(op, &[a, b])));
    }
    for &a in &atoms {
        parts.extend([Op::Finally, Op::Globally].map(|op| formulas.apply(op, &[a])));
    }
    let mut n_changed = 0;
    for (&a, &b) in parts.iter().flat_map(|a| parts.iter().map(move |b| (a, b))) {
        for op in UNTILS.into_iter().chain([Op::And, Op::Or]) {
            let before = formulas.apply(op, &[a, b]);
            let after = simplify(&mut formulas, before, &mut Budget::unlimited()).unwrap();
            if after == before {
                continue;
            }
            n_changed += 1;
            let differs = words
                .iter()
                .find(|word| satisfies(&formulas, before, word) != satisfies(&formulas, after, word));
            assert_eq!(differs, None, "{} became {}", shown(&formulas, before), shown(&formulas, after));
        }
    }
    assert!(n_changed > 1_000, "{n_changed}");
}

#[test]
fn deep_and_wide_formulas_are_simplified_too() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let (a, b) = (formulas.atom("a"), formulas.atom("b"));
    let mut deep = a;
    for level in 0..30_000 {
        deep = if level % 2 == 0 { formulas.until(b, deep) } else { formulas.next(deep) };
    }
    let negated = formulas.not(deep);
    let normal = negation_normal_form(&mut formulas, negated, budget).unwrap();
    let simple = simplify(&mut formulas, normal, budget).unwrap();
    assert!(formulas.size(simple) <= formulas.size(normal));
    let wide: Vec<Formula> = (0..20_000).map(|index| formulas.atom(&format!("p{index}"))).collect();
    let not_last = formulas.not(wide[19_999]);
    let wide = formulas.and(wide);
    let empty = formulas.and([wide, not_last]);
    assert_eq!(simplify(&mut formulas, wide, budget).unwrap(), wide);
    assert_eq!(simplify(&mut formulas, empty, budget).unwrap(), Formula::FALSE);
}
