//! Walking through a model.

use serde_json::Value;

use crate::{Scratch, run, run_with_input};

#[test]
fn a_seed_repeats_a_run() {
    let walk =
        |seed: &str| run(&format!("simulate models/peterson.proc --random --length 30 --seed {seed}")).stdout;
    assert_eq!(walk("7"), walk("7"));
    assert_ne!(walk("7"), walk("8"));
    assert!(walk("7").ends_with("30 steps; repeat this run with --seed 7\n"));
}

#[test]
fn a_run_without_a_seed_says_how_to_repeat_it() {
    let first = run("simulate models/peterson.proc --random --length 30").stdout;
    let (_, seed) = first.trim_end().rsplit_once("--seed ").expect("the seed is told");
    let second = run(&format!("simulate models/peterson.proc --random --length 30 --seed {seed}")).stdout;
    assert_eq!(first, second);
}

#[test]
fn a_random_run_stops_at_a_deadlock_or_when_it_is_long_enough() {
    let finished = run("simulate models/dining.proc -D N=2 --random --seed 7 --length 1000");
    assert_eq!(finished.code, 0);
    assert!(finished.stdout.contains("then deadlock"), "{}", finished.stdout);
    let finished = run("simulate models/dining.proc --random --seed 7 --length 0");
    assert!(finished.stdout.ends_with("0 steps; repeat this run with --seed 7\n"), "{}", finished.stdout);
}

/// The positions after each command, as `goto` and the others show them.
#[test]
fn the_run_is_what_was_chosen_and_not_undone() {
    let input = b"1\n1\nundo\nundo\nredo\ngoto 2\ngoto 1\n2\nquit\n";
    let finished = run_with_input("simulate models/dining.proc -D N=3 --json", input);
    assert_eq!(finished.code, 0);
    let document = finished.json();
    let actions: Vec<&str> = document["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|step| step["action"].as_str())
        .collect();
    // After the first step, the second choice is another than the first one was.
    assert_eq!(actions.len(), 2);
    assert_eq!(actions[0], "take_left[0]");
    assert!(finished.stderr.contains("2) "), "prompts go to stderr");
}

#[test]
fn strange_input_does_no_harm() {
    let inputs: [&[u8]; 9] = [
        b"",
        b"\n\n",
        b"99\n0\n-1\n1.5\n",
        b"goto\ngoto x\ngoto 99\nundo\nundo 99\nredo\nredo 99\nrandom x\n",
        b"18446744073709551616\ngoto 18446744073709551615\nundo 18446744073709551615\nredo 18446744073709551615\n",
        b"flood\n\t1\t\n\x1b[A\n",
        b"1",
        b"1\r\nquit\r\n",
        b"\xff\xfe\n1\n",
    ];
    for input in inputs {
        let finished = run_with_input("simulate models/dining.proc -D N=2", input);
        assert_eq!(finished.code, 0, "{input:?}");
        assert!(finished.stdout.contains("1) "), "{}", finished.stdout);
    }
}

#[test]
fn an_initial_state_that_does_not_exist_is_an_error() {
    let finished = run("simulate models/dining.proc --initial 1 --random");
    assert_eq!(finished.code, 2);
    assert!(finished.stderr.contains("no initial state 1"), "{}", finished.stderr);
}

#[test]
fn options_for_random_runs_need_random() {
    assert_eq!(run("simulate models/dining.proc --seed 1").code, 2);
    assert_eq!(run("simulate models/dining.proc --length 1").code, 2);
}

/// The steps of a run, as far as everybody sees them.
fn seen(steps: &[Value]) -> Vec<Value> {
    let fields = ["action", "process", "state", "statements"];
    steps.iter().map(|step| fields.iter().map(|field| step[field].clone()).collect()).collect()
}

#[test]
fn runs_that_were_found_are_followed() {
    let scratch = Scratch::new();
    // Two steps that look the same, of which one leads on; an assertion that fails on the way; a late process.
    let tricky = scratch.file(
        "tricky.pml",
        "byte x; proctype Late(byte n) { x = n; atomic { assert(x == 9); x++ } }
         #define AGAIN x++
         init { if :: AGAIN; x == 7 :: AGAIN; x = 2 fi; run Late(x); (x == 3); x = 0; (false) }",
    );
    let mut n_followed = 0;
    for (model, arguments) in [
        ("models/dining.proc -D N=3", "--deadlock-free"),
        ("models/dining.proc -D N=3", ""),
        ("models/peterson.pml -D BROKEN=1", ""),
        ("models/leader.pml", "--ltl false"),
        ("models/clients.pml", "--ltl false"),
        (&tricky, ""),
    ] {
        let said = run(&format!("check {model} --json {arguments}")).json();
        let file = scratch.file("run.json", said.to_string());
        for result in said["results"].as_array().expect("a list") {
            let run_of = &result["counterexample"];
            let Some(prefix) = run_of["prefix"].as_array() else { continue };
            let steps = [&prefix[..], run_of["cycle"].as_array().expect("a list")].concat();
            let property = result["property"].as_str().expect("a name");
            let follow = format!("simulate {model} --input {file} --property {property} --random --seed 1");
            let followed = run(&format!("{follow} --length 0 --json")).json();
            assert_eq!(
                seen(followed["steps"].as_array().expect("a list")),
                seen(&steps),
                "{model} {property}"
            );
            let longer = run(&format!("{follow} --length 3"));
            let goes_wrong = longer.stderr.contains("assertion violated");
            assert!(longer.code == 0 || goes_wrong, "{}", longer.stderr);
            n_followed += 1;
        }
    }
    assert!(n_followed > 6, "{n_followed}");
}

#[test]
fn what_is_no_run_of_the_model_is_not_followed() {
    let scratch = Scratch::new();
    let said = run("check models/dining.proc -D N=3 --deadlock-free --json");
    let file = scratch.file("run.json", &said.stdout);
    for (arguments, message) in [
        ("models/dining.proc -D N=4", "does not begin in an initial state"),
        ("models/peterson.proc", "does not begin in an initial state"),
        ("models/dining_asymmetric.proc -D N=3", "step 1 of the run"),
        ("models/dining.proc -D N=3 --property fed", "there is no run of `fed`"),
    ] {
        let finished = run(&format!("simulate {arguments} --input {file} --random"));
        assert_eq!(finished.code, 2, "{arguments}");
        assert!(finished.stderr.contains(message), "{arguments}: {}", finished.stderr);
    }
    for text in [
        "",
        "[]",
        "{}",
        "{\"results\": []}",
        "{\"steps\": []}",
        "{\"steps\": [1]}",
        "{\"results\": [{\"counterexample\": null}]}",
    ] {
        let file = scratch.file("run.json", text);
        let finished = run(&format!("simulate models/dining.proc --input {file} --random"));
        assert_eq!(finished.code, 2, "{text}: {}", finished.stderr);
    }
    assert_eq!(run("simulate models/dining.proc --input nowhere.json --random").code, 2);
}
