//! Large and nasty inputs under small limits: an answer or *unknown*, whatever takes long.
//!
//! Every command gets one second and 60 MB. The operating system ends it with a signal if it uses twenty
//! times as much of either; a debug build needs some room, and a machine that is busy does not matter, since
//! only the processor's time is counted.

use std::process::{Command, Stdio};

use crate::{Finished, Scratch, pnml};

/// Runs a command under limits, its own and the system's.
fn run_limited(arguments: &[&str]) -> Finished {
    let limits = ["--timeout", "1s", "--max-memory", "60M"];
    let output = Command::new("sh")
        .args(["-c", "ulimit -t 20; ulimit -v 1200000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_stubborn")])
        .args(arguments)
        .args(limits)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::null())
        .output();
    Finished::from(output.expect("a shell"))
}

/// It ends by itself, and says what it knows.
fn check(arguments: &[&str]) {
    let finished = run_limited(arguments);
    let shown: String = arguments.join(" ").chars().take(200).collect();
    assert!(matches!(finished.code, 0 | 1 | 3), "{shown}: {} {}", finished.code, finished.stderr);
    if finished.code == 3 {
        let says_why = ["limit", "too large", "too many"].iter().any(|why| finished.stdout.contains(why));
        assert!(says_why, "{shown}: {}", finished.stdout);
    }
}

/// A net of places with these tokens, and transitions that move tokens.
fn net(places: &[u64], transitions: &[(Vec<usize>, Vec<usize>)]) -> String {
    let place = |number: usize| format!("p{number}");
    let transition = |number: usize| format!("t{number}");
    let mut arcs = Vec::new();
    for (number, (from, to)) in transitions.iter().enumerate() {
        arcs.extend(from.iter().map(|&source| (place(source), transition(number), 1)));
        arcs.extend(to.iter().map(|&target| (transition(number), place(target), 1)));
    }
    let places: Vec<_> = places.iter().enumerate().map(|(number, &tokens)| (place(number), tokens)).collect();
    pnml(&places, &(0..transitions.len()).map(transition).collect::<Vec<_>>(), &arcs)
}

#[test]
fn one_resource_with_thousands_of_users() {
    let n_users = 4_000;
    let mut places = vec![1];
    let mut transitions = Vec::new();
    for user in 0..n_users {
        places.extend([1, 0]);
        transitions.push((vec![0, 2 * user + 1], vec![2 * user + 2]));
        transitions.push((vec![2 * user + 2], vec![0, 2 * user + 1]));
    }
    let scratch = Scratch::new();
    let file = scratch.file("resource.pnml", net(&places, &transitions));
    check(&["check", &file]);
    check(&["check", &file, "--reduce", "stubborn"]);
    check(&["check", &file, "--ltl", "[] <> (p1 >= 1)"]);
    check(&["check", &file, "--ltl", "[] <> (p1 >= 1)", "--fair", "weak", "--structural", "none"]);
    check(&["explore", &file]);
}

#[test]
fn long_pipelines_and_independent_loops() {
    let scratch = Scratch::new();
    let steps: Vec<_> = (0..8_000).map(|at| (vec![at], vec![at + 1])).collect();
    let mut tokens = vec![0; 8_001];
    tokens[0] = 1;
    let pipe = scratch.file("pipe.pnml", net(&tokens, &steps));
    let around = |at: usize| [(vec![2 * at], vec![2 * at + 1]), (vec![2 * at + 1], vec![2 * at])];
    let loops: Vec<_> = (0..1_000).flat_map(around).collect();
    let many = scratch.file("loops.pnml", net(&[1, 0].repeat(1_000), &loops));
    for file in [&pipe, &many] {
        check(&["check", file]);
        check(&["check", file, "--reduce", "stubborn"]);
        check(&["check", file, "--ltl", "<> (p1 >= 1)", "--reduce", "none", "--fair", "weak"]);
        check(&["explore", file]);
    }
}

#[test]
fn large_state_vectors_and_many_statements() {
    let scratch = Scratch::new();
    let vector = scratch.file(
        "vector.pml",
        "byte a[60000]; byte b[60000]; byte c[60000];
         active proctype P() { int i; do :: i < 60000 -> a[i] = 1; b[i] = a[i]; i++ :: else -> break od }",
    );
    let statements = "x = x + 1; g = g + x; ".repeat(200);
    let processes: String =
        (0..20).map(|at| format!("active proctype P{at}() {{ byte x; {statements} }}\n")).collect();
    let actions = scratch.file("actions.pml", format!("int g;\n{processes}"));
    for file in [&vector, &actions] {
        check(&["check", file]);
        check(&["check", file, "--reduce", "stubborn"]);
        check(&["check", file, "--ltl", "[] <> true"]);
        check(&["explore", file]);
    }
}

#[test]
fn long_runs_are_replayed_within_the_limits() {
    let scratch = Scratch::new();
    let text =
        "process C { at[i in 0..300000]: tick -> at[i + 1] when i + 1 < 300000; } ltl l = [] <> C@at[0];";
    let file = scratch.file("long.proc", text);
    check(&["check", &file]);
    check(&["check", &file, "--deadlock-free"]);
    check(&["check", &file, "--ltl", "<> C@at[5]", "--observer", "ba", "--search", "nested"]);
}

#[test]
fn formulas_and_claims_that_explode() {
    let scratch = Scratch::new();
    let model = scratch.file("ring.proc", "process P { s[i in 0..20]: go -> s[(i + 1) % 20]; }");
    let sides: Vec<String> =
        (0..12).map(|at| format!("([] <> P@s[{at}] || <> [] P@s[{}])", at + 1)).collect();
    let large = sides.join(" && ");
    let deep = "X ".repeat(3_000) + "P@s[0]";
    for formula in [&large, &deep] {
        check(&["check", &model, "--ltl", formula]);
        check(&["check", &model, "--ltl", formula, "--reduce", "closure"]);
        check(&["explore", &model, "--ltl", formula]);
    }
}
