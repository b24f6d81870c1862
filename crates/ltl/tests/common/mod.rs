//! What the tests share: parsing without ceremony, deterministic property tests, small words.

#![allow(dead_code, reason = "each test file uses a part")]

use base::SourceId;
use generators::random;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stubborn_ltl::{Formula, Formulas, Lasso, Prop, Spelling, Valuation, parse, satisfies};

/// A property test that is the same in every run.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1977),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Numbers to draw from; they shrink towards small formulas over the first proposition.
pub(crate) fn tape() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..160)
}

/// Parses a text that must be right.
pub(crate) fn formula(formulas: &mut Formulas, text: &str) -> Formula {
    match parse(formulas, text, SourceId::new(0), 0) {
        Ok(parsed) => parsed.formula,
        Err(error) => panic!("{text}: {} {:?}", error.message, error.span),
    }
}

/// The formula in Spot's spelling.
pub(crate) fn shown(formulas: &Formulas, formula: Formula) -> String {
    formulas.display(formula, Spelling::Spot).to_string()
}

/// All lassos over these propositions with at most so many positions before and in the cycle.
pub(crate) fn all_lassos(propositions: &[Prop], max_prefix: usize, max_cycle: usize) -> Vec<Lasso> {
    let cycles: Vec<_> = (1..=max_cycle).flat_map(|len| all_words(propositions, len)).collect();
    let prefixes: Vec<_> = (0..=max_prefix).flat_map(|len| all_words(propositions, len)).collect();
    let pairs = prefixes.iter().flat_map(|prefix| cycles.iter().map(move |cycle| (prefix, cycle)));
    pairs.filter_map(|(prefix, cycle)| Lasso::new(prefix.clone(), cycle.clone())).collect()
}

fn all_words(propositions: &[Prop], len: usize) -> Vec<Vec<Valuation>> {
    let letters: Vec<Valuation> = (0..1u64 << propositions.len())
        .map(|bits| {
            let chosen = propositions.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
            chosen.map(|(_, &prop)| prop).collect()
        })
        .collect();
    (0..len).fold(vec![vec![]], |words, _| {
        let longer = words.iter().flat_map(|word| letters.iter().map(move |letter| (word, letter)));
        longer.map(|(word, letter)| [&word[..], std::slice::from_ref(letter)].concat()).collect()
    })
}

/// A word that satisfies exactly one of two formulas: all small ones are tried, then random ones.
pub(crate) fn difference(
    formulas: &Formulas,
    a: Formula,
    b: Formula,
    propositions: &[Prop],
) -> Option<Lasso> {
    let mut draw = random::seeded(a.index() as u64);
    let larger = (0..60).map(|_| random::lasso(propositions, 6, 6, &mut draw));
    all_lassos(&propositions[..propositions.len().min(2)], 1, 2)
        .into_iter()
        .chain(larger)
        .find(|lasso| satisfies(formulas, a, lasso) != satisfies(formulas, b, lasso))
}
