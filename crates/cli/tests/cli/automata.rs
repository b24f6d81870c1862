//! `translate` and `automaton`, one after the other: what one writes the other reads.

use std::fs;

use crate::{Finished, run_with};

fn translate(formula: &str, options: &[&str]) -> String {
    let finished = run_with(["translate", formula].into_iter().chain(options.iter().copied()));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    finished.stdout
}

fn automaton(arguments: &[&str]) -> Finished {
    run_with(["automaton"].into_iter().chain(arguments.iter().copied()))
}

#[test]
fn what_is_translated_can_be_read_and_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let formula = "[] (a -> <> b)";
    fs::write(path("tgba"), translate(formula, &[])).unwrap();
    fs::write(path("ba"), translate(formula, &["--to", "ba", "--effort", "low"])).unwrap();
    fs::write(path("never"), translate(formula, &["--format", "spin"])).unwrap();
    fs::write(path("other"), translate("<> b", &[])).unwrap();
    for same in ["ba", "never"] {
        let answer = automaton(&[&path("tgba"), &path(same), "--equivalent"]);
        assert_eq!((answer.code, answer.stdout.as_str()), (0, "equivalent: yes\n"), "{same}");
    }
    let answer = automaton(&[&path("tgba"), &path("other"), "--equivalent"]);
    assert!(answer.code == 1 && answer.stdout.contains("only: "), "{}", answer.stdout);
    let answer = automaton(&[&path("tgba"), "--accepts", "a; cycle{!b}"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (1, "accepts: no\n"));
    let answer = automaton(&[&path("tgba"), "--stutter-invariant", "--empty", "--json"]);
    let document = answer.json();
    assert_eq!((answer.code, &document["answers"][1]["answer"]), (1, &serde_json::json!(true)));
    let answer =
        automaton(&[&path("tgba"), &path("other"), "--product", "--complement", "--to", "ba", "--stats"]);
    assert!(answer.code == 0 && answer.stdout.starts_with("{\"states\":"), "{}", answer.stdout);
}

/// Testing automata, too, also where something converts them.
#[test]
fn testing_automata_can_be_read_and_compared() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let formula = "a U [] b";
    fs::write(path("tgba"), translate(formula, &[])).unwrap();
    fs::write(path("ta"), translate(formula, &["--to", "ta"])).unwrap();
    fs::write(path("tgta"), translate(formula, &["--to", "tgta"])).unwrap();
    fs::write(path("extended"), translate(formula, &["--to", "extended"])).unwrap();
    let answer = automaton(&[&path("tgba"), &path("extended"), "--equivalent"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "equivalent: yes\n"));
    let answer = automaton(&[&path("ta"), "--to", "extended", "--stats"]);
    assert!(answer.code == 0 && answer.stdout.starts_with("{\"states\":"), "{}", answer.stderr);
    let kinds = ["ta", "tgta"];
    for kind in kinds {
        let answer = automaton(&[&path("tgba"), &path(kind), "--equivalent"]);
        assert_eq!((answer.code, answer.stdout.as_str()), (0, "equivalent: yes\n"), "{kind}");
        // What is written again is the same, but for the name, which is that of the file or of the text.
        let answer = automaton(&[&path(kind)]);
        assert_eq!((answer.code, answer.stdout), (0, fs::read_to_string(path(kind)).unwrap()), "{kind}");
        let answer = automaton(&[&path(kind), "--simplify", "--stats"]);
        assert_eq!((answer.code, answer.stdout), (0, automaton(&[&path(kind), "--stats"]).stdout), "{kind}");
        for (word, code) in [("a; cycle{b}", 0), ("a; cycle{a & !b}", 1)] {
            let answer = automaton(&[&path(kind), "--accepts", word]);
            assert_eq!(answer.code, code, "{kind}: {}", answer.stdout);
        }
        for other in kinds {
            fs::write(path("again"), automaton(&[&path(kind), "--to", other]).stdout).unwrap();
            let answer = automaton(&[&path("tgba"), &path("again"), "--equivalent"]);
            assert_eq!((answer.code, answer.stdout.as_str()), (0, "equivalent: yes\n"), "{kind} to {other}");
        }
        let answer = automaton(&[&path(kind), "--format", "spin"]);
        assert!(answer.code == 2 && answer.stderr.contains("reads changes"), "{}", answer.stderr);
        let answer = automaton(&[&path(kind), &path("tgba"), "--complement", "--product", "--empty"]);
        assert_eq!(answer.code, 1, "{}", answer.stdout);
        let answer = automaton(&[&path(kind), "--to", "ba", "--format", "spin"]);
        assert!(answer.code == 0 && answer.stdout.starts_with("never {"), "{}", answer.stdout);
    }
}

#[test]
fn bad_automata_are_refused_with_the_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bad.hoa").display().to_string();
    for text in [
        "",
        "HOA: v1\nStates: 1\nStart: 0\nAcceptance: 1 Fin(0)\n--BODY--\n--END--\n",
        "never { T0: if",
        "HOA: v1",
    ] {
        fs::write(&path, text).unwrap();
        let answer = automaton(&[&path]);
        assert!(answer.code == 2 && answer.stderr.starts_with("error["), "{text}: {}", answer.stderr);
    }
}

/// A claim says what must not happen: the automaton of a negated formula gives the formula's answer.
#[test]
fn claims_give_the_answers_of_formulas() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("claim").display().to_string();
    let check = |options: &[&str]| {
        let fixed = ["check", "models/dining.proc", "-D", "N=3", "--json"].into_iter();
        let finished = run_with(fixed.chain(options.iter().copied()));
        (finished.code, finished.result()["verdict"].clone())
    };
    for (formula, code) in
        [("[] (Phil[0]@left -> <> Phil[0]@eat)", 1), ("[] !(Phil[0]@eat && Phil[1]@eat)", 0)]
    {
        for (to, format) in
            [("tgba", "hoa"), ("tgba", "spin"), ("ta", "hoa"), ("tgta", "hoa"), ("extended", "hoa")]
        {
            fs::write(&path, translate(formula, &["--negate", "--to", to, "--format", format])).unwrap();
            assert_eq!(check(&["--claim", &path]), check(&["--ltl", formula]), "{formula}, {to}, {format}");
            assert_eq!(check(&["--claim", &path]).0, code, "{formula}, {to}, {format}");
        }
    }
    fs::write(&path, translate("<> Phil[9]@eat", &[])).unwrap();
    let finished = run_with(["check", "models/dining.proc", "--claim", &path]);
    assert!(finished.code == 0 || finished.code == 1, "{}", finished.stderr);
    fs::write(&path, translate("<> Phil[0]@sleep", &[])).unwrap();
    let finished = run_with(["check", "models/dining.proc", "--claim", &path]);
    assert!(finished.code == 2 && finished.stderr.contains("sleep"), "{}", finished.stderr);
}
