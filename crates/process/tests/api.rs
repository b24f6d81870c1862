//! What callers rely on: limits, deep expressions, propositions from elsewhere, fairness.

mod common;

use base::{Budget, SourceMap};
use common::{load_plain, load_text, mistakes, show};
use language::{Model as _, PropertyKind};
use model::fairness::Kind;
use model::{System, reference};
use stubborn_process::{Limits, Model, Options, load};

const RING: &str = "
    const N = 3;
    process P[i in 0..N] { a: x[i] -> b; b: y[i] -> a; at[k in 0..2]: x[i] -> a; }
";

fn ring() -> (Model, SourceMap) {
    let mut sources = SourceMap::new();
    let source = sources.add("ring.proc", RING.into()).unwrap();
    let model = load(
        &mut sources,
        source,
        &Options::default(),
        &mut |_| Err(String::new()),
        &mut Budget::unlimited(),
    )
    .unwrap();
    (model, sources)
}

/// Resolves a text that stands after `padding` in its source.
fn resolve(text: &str, padding: usize) -> Result<i64, String> {
    let (mut model, mut sources) = ring();
    let source = sources.add("--ltl", format!("{}{text}", " ".repeat(padding)).into()).unwrap();
    match model.resolve(text, source, padding) {
        Ok(expr) => {
            let initial = &reference::initial(&model.system)[0];
            Ok(reference::value(&model.system, expr, initial).unwrap())
        }
        Err(errors) => Err(show(&errors, &sources).concat()),
    }
}

#[test]
fn propositions_are_resolved_with_their_places() {
    assert_eq!(resolve("P[0]@a + P[1]@a + P[2]@a", 0), Ok(3));
    assert_eq!(resolve("P[N - 1]@b || P[0]@at[*]", 0), Ok(0));
    assert_eq!(resolve("count i in 0..N: P[i]@a == N", 0), Ok(1));
    let message = |text: &str| resolve(text, 4).unwrap_err();
    assert_eq!(
        message("P[3]@a"),
        "1:5 out-of-range: the process `P[3]` does not exist (`P` is declared for the indices 0 to 2)"
    );
    assert_eq!(message("P[0]@c"), "1:10 unknown-state: `P` has no state `c` (did you mean `a`?)");
    assert_eq!(message("M == 3"), "1:5 unknown-name: unknown name `M` (did you mean `N`?)");
    assert_eq!(
        message("P[0]@a b"),
        "1:12 syntax: expected an operator or the end of the proposition, found `b`"
    );
    assert_eq!(message(""), "1:5 syntax: expected an expression, found the end of the text");
}

#[test]
fn formulas_from_elsewhere_are_resolved_with_their_places() {
    let (mut model, mut sources) = ring();
    let mut propositions = |text: &str| {
        let source = sources.add("--ltl", text.into()).unwrap();
        let formula = model.formula(source, &sources);
        formula.map(|ltl| ltl.propositions.len()).map_err(|errors| show(&errors, &sources))
    };
    assert_eq!(propositions("[] (P[0]@a -> <> P[0]@b) && <> \"exists i in 0..N: P[i]@b\""), Ok(3));
    assert_eq!(
        propositions("<> P[0] @ /* here */ nowhere && <> \"P[0]@a && P[7]@a\"").unwrap_err(),
        [
            "1:22 unknown-state: `P` has no state `nowhere` (its states are `a`, `b`, `at`)",
            "1:47 out-of-range: the process `P[7]` does not exist (`P` is declared for the indices 0 to 2)"
        ]
    );
}

#[test]
fn fairness_names_processes() {
    let text = format!("{RING} fair weak P[2], P[0], P[2]; fair strong P[*];");
    let model = load_plain(&text).unwrap();
    let processes = |at: usize| -> Vec<usize> {
        model.fairness[at].processes.iter().map(|process| process.index()).collect()
    };
    assert_eq!((model.fairness[0].kind, processes(0)), (Kind::Weak, vec![0, 2]));
    assert_eq!((model.fairness[1].kind, processes(1)), (Kind::Strong, vec![0, 1, 2]));
}

#[test]
fn the_last_definition_of_a_constant_counts() {
    let mut no_files = |_: &str| Err(String::new());
    let model = load_text(RING, &[("N", 5), ("N", 2)], &mut no_files).unwrap();
    assert_eq!(model.system.processes().len(), 2);
    let errors = load_text(RING, &[("N", -1), ("n", 2)], &mut no_files).unwrap_err();
    assert_eq!(
        errors,
        [
            "unknown-constant: the model has no constant `n` that could be set (did you mean `N`?)",
            "3:20 empty-range: there is no process `P`: the range is empty (`0..N` goes from 0 to N - 1)"
        ]
    );
}

#[test]
fn expressions_may_be_long_and_nested() {
    // As deep as allowed, and used: what is made of it is not much deeper.
    let nested = format!("{}P@s{}", "(!P@s || ".repeat(160), ")".repeat(160));
    let remainders = format!("{}P@s{}", "3 % (1 + ".repeat(5), ")".repeat(5));
    let sum = format!("P@s{} == 20001", " + P@s".repeat(20_000));
    let all = format!("P@s{}", " && P@s".repeat(20_000));
    for text in [nested, remainders + " >= 0", sum, all, "count i in 0..20000: P@s == 20000".to_owned()] {
        let mut model = load_plain(&format!("process P {{ s: a -> s; }} invariant x = {text};")).unwrap();
        let PropertyKind::Invariant(expr) = model.properties[0].kind else { panic!() };
        let proposition = model.parts().0.add_proposition("x", expr);
        let mut initial = Vec::new();
        model.system.initial_states(&mut initial);
        let mut scratch = model.system.new_scratch();
        assert!(model.system.holds(proposition, &initial, &mut scratch).unwrap(), "{text:.40}");
    }
}

#[test]
fn names_have_a_greatest_length() {
    for (length, fits) in [(1000, true), (1001, false), (1_000_000, false)] {
        let name = "a".repeat(length);
        for text in
            [format!("process P {{ s: {name} -> s; }}"), format!("process P {{ s: \"{name}\" -> s; }}")]
        {
            match load_plain(&text) {
                Ok(_) => assert!(fits),
                Err(errors) => {
                    assert!(!fits);
                    assert!(errors[0].starts_with("1:16 name-too-long: this name is too long"), "{errors:?}");
                }
            }
        }
    }
}

#[test]
fn remainders_of_remainders_do_not_explode() {
    let text = format!("{}P@s{}", "3 % (1 + ".repeat(160), ")".repeat(160));
    let errors = load_plain(&format!("process P {{ s: a -> s; }} invariant x = {text} >= 0;")).err().unwrap();
    assert!(
        errors[0].contains("too-large: the model is too large: it has more than 10000000 nodes"),
        "{errors:?}"
    );
}

/// A text that needs exactly so much is read within that limit, and refused within one less.
#[test]
fn every_limit_is_kept() {
    /// A limit on something, how much of it is needed, and by what.
    type Case = (fn(u64) -> Limits, u64, &'static str);
    let tight = |limits: Limits, text: &str| {
        let mut sources = SourceMap::new();
        let source = sources.add("test.proc", text.into()).unwrap();
        let options = Options { limits, ..Options::default() };
        let file = &mut |_: &str| Ok(b"des (0, 0, 11)".to_vec());
        let loaded = load(&mut sources, source, &options, file, &mut Budget::unlimited());
        loaded.map(|_| ()).map_err(|trouble| show(&mistakes(trouble), &sources).join("\n"))
    };
    let processes = |processes| Limits { processes, ..Limits::default() };
    let states = |states| Limits { states, ..Limits::default() };
    let transitions = |transitions| Limits { transitions, ..Limits::default() };
    let copies = |copies| Limits { copies, ..Limits::default() };
    let actions = |actions| Limits { actions, ..Limits::default() };
    let cells = |cells| Limits { cells, ..Limits::default() };
    let nodes = |nodes| Limits { nodes, ..Limits::default() };
    let choice = "process P[i in 0..4] { s: a -> s | a -> t; t: ; }";
    let cases: [Case; 11] = [
        (processes, 10, "process P[i in 0..10] { s: a -> s; }"),
        (processes, 10, "process P[i in 0..5, j in 0..2] { s: a -> s; }"),
        (states, 10, "process P { at[k in 0..10]: a -> at[k]; }"),
        (states, 11, "process P = extern \"x\";"),
        (transitions, 10, "process P { s: a[i] -> s for i in 0..10; }"),
        (transitions, 10, "process P { s: a[i] -> s for i in 0..10 when i >= 0; }"),
        (copies, 10, "process P { s: a[i] -> s for i in 0..10 when i < 2; }"),
        (actions, 10, "process P { s: a[i] -> s for i in 0..10; }"),
        (actions, 16, choice),
        (cells, 64, choice),
        (nodes, 11, "process P { s: a -> s; } invariant x = forall i in 0..10: true;"),
    ];
    for (limits, needed, text) in cases {
        assert_eq!(tight(limits(needed), text), Ok(()), "{text}");
        let errors = tight(limits(needed - 1), text).unwrap_err();
        assert!(errors.contains("too-large: the model is too large: it has more than"), "{text}: {errors}");
    }
}
