//! Models in Promela: verdicts and figures are Spin's.
#![expect(clippy::print_stderr, reason = "tests say what they skip and what they found")]

mod reduction;
mod spin;
mod steps;

use serde_json::Value;

use crate::{Scratch, run, run_ltl};

/// The number that an environment variable gives.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The corpus beside the project.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/promela/dev");

/// Where Spin is wrong, or says something else than yes or no: model, what was asked, why.
const SPIN_IS_WRONG: [(&str, &str, &str); 2] = [
    (
        "gagansh717_starvation_freedom",
        "acceptance-fair:p1",
        "Spin reads `_last==1` in the formula as `333==1`, which is never true: see the never claim it makes",
    ),
    (
        "ubinixwaru_test",
        "safety-endstates-only",
        "a message has too few fields: Spin stops there, and we say so under `assertions`",
    ),
];

/// Models with an assertion that fails, and its line as `spin -t` names it. No other one can fail there.
const FAILING_LINES: [(&str, u64); 4] = [
    ("case_second", 11),
    ("reg_atomic_nondet_loss", 24),
    ("spin_hajek", 36),
    ("wyounas_santa_bug_deliver_and_consult_simultaneously", 90),
];

#[test]
fn a_process_that_starts_late_is_not_left_out() {
    // The model is not run far enough beforehand to find it, and nothing that is known writes `x`.
    let scratch = Scratch::new();
    let program = "int x, n;
        proctype Late() { x = 1; assert(false) }
        active proctype Early() { do :: n < 40000 -> n++ :: else -> break od; run Late() }";
    let file = scratch.file("late.pml", program);
    for reduction in ["none", "guided", "hybrid", "classical", "repaired", "auto"] {
        let found = run_ltl("check", &file, "[] (x == 0)", &format!("--reduce {reduction} --quiet"));
        assert_eq!(found.code, 1, "{reduction}: {}", found.stdout);
    }
    let found = run(&format!("check {file} --property assertions --quiet"));
    assert_eq!(found.code, 1, "{}", found.stdout);
}

#[test]
fn who_is_started_is_no_obstacle_to_reduction() {
    // Two who work for themselves, and one who asks: in all orders there are some thousands of states.
    let scratch = Scratch::new();
    let program = "byte x; chan done = [2] of { byte };
        proctype Work(byte n) { byte i, j; do :: i < 40 -> i++; j = i * n :: else -> break od; done!n }
        init { byte a, b; atomic { run Work(1); run Work(2) }; done?a; done?b; assert(a + b == 3) }";
    let file = scratch.file("work.pml", program);
    let found = run(&format!("check {file} --property assertions --json --quiet"));
    let json: Value = serde_json::from_str(&found.stdout).expect("JSON");
    let states = json["results"][0]["stats"]["states"].as_u64().unwrap_or(u64::MAX);
    assert_eq!(found.code, 0, "{}", found.stdout);
    assert!(states < 400, "{states}");
}

#[test]
fn what_only_assertions_need_is_refused_and_not_left_out() {
    let scratch = Scratch::new();
    let program = "byte x; proctype P() { x = 1 }
        init { x = 2; assert(false); assert((run P()) > 0) }";
    let file = scratch.file("needs.pml", program);
    let finished = run(&format!("check {file}"));
    assert!(finished.code == 2 && finished.stderr.contains("not-supported"), "{}", finished.stdout);
}

#[test]
fn what_an_automaton_can_do_without_is_there_for_the_judge() {
    // The formula is about `_last`, which is made only where somebody looks at it; its automaton does not.
    let finished =
        run_ltl("check", "models/peterson.pml", "[] <> ((_last == 0) U <> (turn == 0))", "--quiet");
    assert_eq!(finished.code, 1, "{}", finished.stdout);
}

#[test]
fn a_run_ends_at_the_assertion_that_spin_names() {
    for (name, line) in FAILING_LINES {
        let model = format!("{CORPUS}/{name}/model.pml");
        if !std::path::Path::new(&model).exists() {
            eprintln!("SKIPPED: {model} does not exist");
            continue;
        }
        let said = run(&format!("check {model} --json --quiet --property assertions")).json();
        let failing = &said["results"][0]["counterexample"]["failing"];
        let last = failing.as_array().and_then(|all| all.last()).unwrap_or(&Value::Null);
        assert_eq!(last["line"].as_u64(), Some(line), "{name}");
    }
}

/// Questions are one formula, or one expression for a proposition, and nothing else.
/// One step may change thousands of variables; a person wants to see the next one, too.
#[test]
fn of_very_many_changes_the_first_are_shown() {
    let scratch = Scratch::new();
    let text = "byte a[200]; init { byte i; d_step { for (i : 0 .. 199) { a[i] = 7 } } assert(a[3] == 0) }";
    let path = scratch.file("many.pml", text);
    let told = run(&format!("check {path}"));
    assert_eq!(told.code, 1, "{}", told.stderr);
    let shown = "a[59]: 0 -> 7,\n           … and 141 more (--json shows all)";
    assert!(told.stdout.contains(shown), "{}", told.stdout);
    let json = run(&format!("check {path} --json")).stdout;
    assert!(json.contains("\"a[199]\":7") || json.contains("\"a[199]\": 7"), "{json}");
}

#[test]
fn questions_are_read_to_their_end() {
    let scratch = Scratch::new();
    let model = scratch.file("model.pml", "byte x; active proctype P() { x = 1; x = 0 }");
    let claim = |text: &str| {
        let head = "HOA: v1\nStates: 2\nStart: 0\nAcceptance: 1 Inf(0)\nacc-name: Buchi\n";
        let body = "--BODY--\nState: 0\n[t] 0\n[0] 1\nState: 1 {0}\n[t] 1\n--END--\n";
        scratch.file("claim.hoa", format!("{head}AP: 1 \"{text}\"\n{body}"))
    };
    for (finished, said) in [
        (run_ltl("explore", &model, "[] (nosuchthing > 3)", ""), "--ltl:1:5"),
        (run_ltl("explore", &model, "[] (nosuchthing > 3)", "--observer ta"), "--ltl:1:5"),
        (run_ltl("check", &model, "x == 0 } ltl other { [] (x == 0)", ""), "--ltl:1:8"),
        (run(&format!("check {model} --claim {}", claim("[] (x == 0)"))), "misplaced-temporal"),
    ] {
        assert_eq!(finished.code, 2, "{}", finished.stdout);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
    }
    let explored = run(&format!("explore {model} --json --claim {}", claim("x == 1")));
    assert_eq!((explored.code, explored.json()["system_states"].as_u64()), (0, Some(4)));
}

/// A claim that sees stuttering, which is closed before it is reduced.
#[test]
fn the_closure_of_a_never_claim() {
    let scratch = Scratch::new();
    let model = scratch.file(
        "model.pml",
        "bool b; byte y; init { b = !b }
         never f { do :: (y < 2) -> break :: true od; b; accept: do :: (y < 2) od }",
    );
    for observer in ["tgba", "ba", "ta", "tgta", "lazy-ta", "lazy-tgta"] {
        let finished = run(&format!("check {model} --property f --reduce closure --observer {observer}"));
        assert_eq!(finished.code, 1, "{observer}: {} {}", finished.stdout, finished.stderr);
    }
}

/// What `expected.json` says, and how we are asked the same.
fn question(key: &str) -> Option<String> {
    let (kind, claim) = key.split_once(':').unwrap_or((key, ""));
    Some(match kind {
        "safety-assertions-only" => "--property assertions".to_owned(),
        "safety-endstates-only" => "--property end-states".to_owned(),
        "acceptance" => format!("--property {claim}"),
        "acceptance-fair" => format!("--property {claim} --fair weak"),
        "acceptance-labels" => "--acceptance".to_owned(),
        "acceptance-labels-fair" => "--acceptance --fair weak".to_owned(),
        "non-progress" => "--nonprogress".to_owned(),
        "non-progress-fair" => "--nonprogress --fair weak".to_owned(),
        _ => return None,
    })
}

/// Verdicts are Spin's. By default of small models; `STUBBORN_CASES=100` takes those with up to a hundred
/// times as many states, which needs a release build.
#[test]
fn verdicts_are_those_of_spin() {
    let Ok(folders) = std::fs::read_dir(CORPUS) else {
        eprintln!("SKIPPED: the corpus {CORPUS} does not exist");
        return;
    };
    let factor = number("STUBBORN_CASES").unwrap_or(1);
    let mut names: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let (mut n, mut wrong) = (0, Vec::new());
    for name in names {
        let Ok(text) = std::fs::read_to_string(format!("{CORPUS}/{name}/expected.json")) else { continue };
        let expected: Value = serde_json::from_str(&text).unwrap();
        let states = expected["full_statespace"]["o1o2o3"]["states"].as_u64();
        if states.is_none_or(|states| states > 20_000 * factor) {
            continue;
        }
        for (key, said) in expected["verdicts"].as_object().unwrap() {
            let Some(arguments) = question(key) else { continue };
            let spin = match said["verdict"].as_str() {
                Some("none") => "holds",
                Some("timeout" | "incomplete") | None => continue,
                Some(_) => "violated",
            };
            let is_known = |(model, what, _): &&(&str, &str, &str)| *model == name && what == key;
            let known = SPIN_IS_WRONG.iter().find(is_known);
            // Fairness and reduction do not go together.
            let reductions: &[&str] = if key.contains("-fair") { &["auto"] } else { &["none", "stubborn"] };
            for reduction in reductions {
                let finished = run(&format!(
                    "check {CORPUS}/{name}/model.pml --json --quiet {arguments} --reduce {reduction}"
                ));
                let ours = finished.json()["results"][0]["verdict"].as_str().unwrap_or_default().to_owned();
                n += 1;
                if (ours != spin) != known.is_some() {
                    wrong.push(format!("{name} {key} {reduction}: {ours}, {spin} in Spin"));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(n > 200, "{n} verdicts were compared");
}
