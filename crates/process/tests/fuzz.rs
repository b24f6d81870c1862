//! Whatever the text, loading it ends: with a model or with errors that point into the text.

use std::path::Path;

use base::{Budget, SourceMap, Span};
use language::{Model as _, Trouble};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stubborn_process::{Limits, Options, load};

/// Small enough for no case to take long.
fn options() -> Options {
    let limits = Limits {
        processes: 200,
        states: 2_000,
        transitions: 5_000,
        copies: 5_000,
        actions: 500,
        cells: 20_000,
        nodes: 5_000,
    };
    Options { constants: Vec::new(), limits }
}

/// Loads a text, and resolves a proposition in what comes of it; all places must be in the text.
fn survive(text: &str, proposition: &str) {
    let mut sources = SourceMap::new();
    let source = sources.add("fuzz.proc", text.into()).unwrap();
    let other = sources.add("--ltl", proposition.into()).unwrap();
    let mut loader = |name: &str| match name.len() {
        0..4 => Err("no such file".to_owned()),
        _ => Ok(b"des (0, 2, 2)\n(0, \"a[ 0 ]\", 1)\n(1, tau, 0)\n".to_vec()),
    };
    match load(&mut sources, source, &options(), &mut loader, &mut Budget::unlimited()) {
        Ok(mut model) => {
            if let Err(errors) = model.resolve(proposition, other, 0) {
                assert!(errors.has_errors());
                let mut spans = errors.iter().filter_map(|error| error.span);
                assert!(spans.all(|span| is_in(span, &sources)), "{errors:?}");
            }
        }
        Err(Trouble::Limit(limit)) => panic!("{limit}"),
        Err(Trouble::Wrong(errors)) => {
            assert!(errors.has_errors());
            for error in &errors {
                let mut spans = error.related.iter().map(|(span, _)| *span).chain(error.span);
                assert!(spans.all(|span| is_in(span, &sources)), "{error:?}");
                assert!(!error.message.is_empty());
            }
        }
    }
}

fn is_in(span: Span, sources: &SourceMap) -> bool {
    sources.get(span.source).text.get(span.start as usize..span.end as usize).is_some()
}

/// Words and signs.
const WORDS: &str = "\
    const process tester spec ltl invariant fair weak strong deadlock-free extern initial alphabet \
    watch reject deadlock livelock infinite for when in tau true false forall exists count { } [ ] ( \
    ) ; : , | @ = -> <-> .. ..= + - * / % == != < <= > >= && || ! N P Q s t at a b i k 0 1 3 \
    9223372036854775807 \"x.aut\" \" /* */ // é &";

/// What is better not left to chance.
const PHRASES: [&str; 9] = [
    "\"a[ 0 ]\"",
    "\n",
    "process P {",
    "s: a -> s;",
    "at[k in 0..3]:",
    "a[k] -> at[k]",
    "const N = 3;",
    "process P[i in 0..N] { s: a[i] -> t; t: b -> s; }",
    "tester T { s: b -> s; reject s; }",
];

fn words() -> Vec<&'static str> {
    WORDS.split(' ').chain(PHRASES).collect()
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(words()), 0..60).prop_map(|words| words.join(" "))
}

/// The models of the project.
fn models() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "proc"));
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Words, signs and blanks: what a text is made of, roughly.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut last_is_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || c == '_';
        match pieces.last_mut() {
            Some(last) if is_word && last_is_word => last.push(c),
            _ => pieces.push(c.to_string()),
        }
        last_is_word = is_word;
    }
    pieces
}

/// A model with a few pieces removed, doubled, swapped or replaced.
fn mutant() -> impl Strategy<Value = String> {
    let change =
        (0..5u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(words()));
    (prop::sample::select(models()), prop::collection::vec(change, 1..6)).prop_map(|(text, changes)| {
        let mut pieces = pieces(&text);
        for (kind, at, other, word) in changes {
            let (at, other) = (at.index(pieces.len()), other.index(pieces.len()));
            match kind {
                0 => pieces[at].clear(),
                1 => pieces[at] = format!("{0} {0}", pieces[at]),
                2 => pieces.swap(at, other),
                3 => pieces[at] = format!(" {word} "),
                _ => pieces[at] = pieces[other].clone(),
            }
        }
        pieces.concat()
    })
}

fn config(seed: u64, cases: u32) -> Config {
    Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, cases, ..Config::default() }
}

proptest! {
    #![proptest_config(config(7, 5000))]

    #[test]
    fn random_words_are_survived(text in soup(), proposition in soup()) {
        survive(&text, &proposition);
        survive("process P[i in 0..3] { s: a[i] -> at[1]; at[k in 0..3]: b -> s; }", &proposition);
    }

    #[test]
    fn broken_models_are_survived(text in mutant(), proposition in soup()) {
        survive(&text, &proposition);
    }

    #[test]
    fn random_characters_are_survived(text in ".{0,80}") {
        survive(&text, &text);
    }
}

#[test]
fn monsters_are_survived() {
    for text in [
        format!("invariant x = {}", "(".repeat(1_000_000)),
        format!("invariant x = {}", "!".repeat(1_000_000)),
        format!("invariant x = {}", "-".repeat(1_000_000)),
        format!("invariant x = {}1", "1 -> ".repeat(1_000_000)),
        format!("invariant x = {}1;", "1 * ".repeat(1_000_000)),
        format!("invariant x = {}1;", "(1 * 1 * ".repeat(10_000)),
        format!("invariant x = {}1;", "a || b && c == d + e * (".repeat(10_000)),
        format!("invariant x = {}1;", "forall i in 0..1: ".repeat(10_000)),
        format!("const X = {};", "1 + ".repeat(1_000_000)),
        format!("process P {{ {}", "s: ".repeat(1_000_000)),
        format!("process P {}", "{".repeat(1_000_000)),
        format!("process P{}", "[i in 0..1]".repeat(100_000)),
        format!("process P {{ s: a{} -> s; }}", "[1]".repeat(100_000)),
        format!("process P {{ {} }}", "at[k in 0..2]: a -> at[0];".repeat(10_000)),
        "process ".repeat(1_000_000),
        "}".repeat(1_000_000),
        "\"".repeat(1_000_001),
        "/*".repeat(1_000_000),
        "é".repeat(5_000_000),
        format!("process P {{ s: {} -> nowhere; }}", "a".repeat(10_000_000)),
        (0..50_000).map(|i| format!("process P{i} {{ s: a -> t{i}; }}\n")).collect(),
        (0..50_000).map(|i| format!("const C{i} = C{};\n", i + 1)).collect(),
    ] {
        survive(&text, &text);
    }
}
