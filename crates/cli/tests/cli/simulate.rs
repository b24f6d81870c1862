//! Walking through a model.

use crate::{run, run_with_input};

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
