//! What the tests share: parsing without ceremony, deterministic property tests, random words.

#![allow(dead_code, reason = "each test file uses a part")]

use automata::{Tgba, accepts};
use base::Budget;
use base::SourceId;
use generators::random;
use ltl::{Formula, Formulas, Lasso, Prop, Spelling, parse, satisfies};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A property test that is the same in every run, unless `STUBBORN_CASES` asks for so many times as many
/// cases, or `STUBBORN_SEED` for others.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    ProptestConfig {
        cases: cases.saturating_mul(number("STUBBORN_CASES").unwrap_or(1)),
        rng_seed: RngSeed::Fixed(number("STUBBORN_SEED").unwrap_or(1999).into()),
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

/// Words of many shapes over these propositions.
pub(crate) fn words(propositions: &[Prop], n: usize, seed: u64) -> Vec<Lasso> {
    let mut draw = random::seeded(seed);
    (0..n)
        .map(|index| random::lasso(propositions, index as u32 % 5, 1 + index as u32 % 4, &mut draw))
        .collect()
}

/// A word that the automaton and the formula judge differently.
pub(crate) fn disagreement<'w>(
    formulas: &Formulas,
    formula: Formula,
    tgba: &Tgba,
    words: &'w [Lasso],
) -> Option<&'w Lasso> {
    words.iter().find(|word| {
        accepts(tgba, word, &mut Budget::unlimited()).unwrap() != satisfies(formulas, formula, word)
    })
}
