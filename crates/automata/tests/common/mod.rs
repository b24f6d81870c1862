//! What the tests share: parsing without ceremony, deterministic property tests, random words.

#![allow(dead_code, reason = "each test file uses a part")]

mod csv;

use automata::{Tgba, accepts};
use base::SourceId;
use ltl::{Formula, Formulas, Lasso, Prop, Spelling, parse, random, satisfies};
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
    words.iter().find(|word| accepts(tgba, word) != satisfies(formulas, formula, word))
}

/// Where the corpus is.
pub(crate) const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/ltl");

/// A formula of the corpus, with the number of states of Spot's automata for its negation.
pub(crate) struct Row {
    pub(crate) number: String,
    pub(crate) source: String,
    pub(crate) text: String,
    pub(crate) tgba: Option<usize>,
    pub(crate) ba: Option<usize>,
}

/// The corpus, or nothing (said plainly) where it is missing.
pub(crate) fn corpus() -> Option<Vec<Row>> {
    let Ok(text) = std::fs::read_to_string(format!("{CORPUS}/reference.csv")) else {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("SKIPPED: the corpus {CORPUS} does not exist");
        }
        return None;
    };
    let mut lines = text.lines().map(csv::fields);
    let header = lines.next()?;
    let column = |name: &str| header.iter().position(|column| column == name);
    let places = ["row", "source", "formula", "neg_tgba_states", "neg_ba_states"].map(column);
    let [Some(number), Some(source), Some(formula), Some(tgba), Some(ba)] = places else { return None };
    let row = |fields: Vec<String>| Row {
        number: fields[number].clone(),
        source: fields[source].clone(),
        text: fields[formula].clone(),
        tgba: fields[tgba].parse().ok(),
        ba: fields[ba].parse().ok(),
    };
    Some(lines.map(row).collect())
}
