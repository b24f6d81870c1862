//! What the tests share: parsing without ceremony, deterministic property tests, random words.

#![allow(dead_code, reason = "each test file uses a part")]

use base::Budget;
use base::SourceId;
use generators::random;
use ltl::{Formula, Formulas, Lasso, Prop, Spelling, Valuation, parse, satisfies};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stubborn_automata::{AnyAutomaton, Tgba, Unread, accepts, hoa};

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

pub(crate) const SOURCE: fn() -> SourceId = || SourceId::new(0);

/// The only automaton of a text in the HOA format.
pub(crate) fn read_one(formulas: &mut Formulas, text: &str) -> AnyAutomaton {
    match &hoa::read_any(formulas, text, SOURCE(), &mut Budget::unlimited()).expect(text)[..] {
        [only] => only.automaton.clone(),
        several => panic!("{} automata in {text}", several.len()),
    }
}

/// The same, which must be a TGBA.
pub(crate) fn read_tgba(formulas: &mut Formulas, text: &str) -> Tgba {
    let AnyAutomaton::Tgba(tgba) = read_one(formulas, text) else { panic!("not a TGBA: {text}") };
    tgba
}

/// Why a text in the HOA format is refused, with the help.
pub(crate) fn hoa_error(text: &str) -> String {
    let read = hoa::read_any(&mut Formulas::new(), text, SOURCE(), &mut Budget::unlimited());
    let Err(Unread::Wrong(error)) = read else { panic!("{text}") };
    assert!(error.span.is_some(), "no place: {}", error.message);
    format!("{} {}", error.message, error.help.unwrap_or_default())
}

/// Each case replaces a part of the text by something, which is refused with a message that contains the last.
pub(crate) fn assert_refused(good: &str, cases: &[(&str, &str, &str)]) {
    for (from, to, expected) in cases {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let message = hoa_error(&text);
        assert!(message.contains(expected), "{to}: {message}");
    }
}

/// Some texts that differ from this one in a few characters.
pub(crate) fn mutations(text: &str, n: usize) -> impl Iterator<Item = String> {
    let mut draw = random::seeded(5);
    (0..n).map(move |_| {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=draw(3) {
            let at = draw(bytes.len() as u32) as usize;
            match draw(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = draw(128) as u8,
                _ => bytes.insert(at, b"()[]{}:;!&|0a\"@-> "[draw(18) as usize]),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The finite word, with its last letter repeated for ever.
pub(crate) fn repeated(word: &[Valuation]) -> Lasso {
    Lasso::new(word.to_vec(), vec![word.last().unwrap().clone()]).unwrap()
}
