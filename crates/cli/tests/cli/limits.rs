//! Exit codes and limits.

use serde_json::Value;

use crate::{Scratch, run};

#[test]
fn exit_codes_say_how_it_went() {
    assert_eq!(run("check models/buffer.proc").code, 0, "everything holds");
    assert_eq!(run("check models/dining.proc").code, 1, "something is violated");
    assert_eq!(run("check models/buffer.proc --max-states 5").code, 3, "undecided");
    assert_eq!(run("check models/nothing.proc").code, 2, "bad input");
    assert_eq!(run("check").code, 2, "bad usage");
    assert_eq!(run("explore models/dining.proc -D N=3").code, 0, "a deadlock is only counted");
    assert_eq!(run("--help").code, 0);
    assert_eq!(run("").code, 2);
}

#[test]
fn a_model_that_goes_wrong_is_bad_input() {
    let scratch = Scratch::new();
    let file = scratch.file("zero.proc", "process P { s: a -> t; t: ; } invariant x = 1 / P@s == 1;");
    let finished = run(&format!("check {file} --json"));
    assert_eq!(finished.code, 2);
    let result = finished.result();
    assert_eq!((&result["verdict"], &result["counterexample"]["kind"]), (&"unknown".into(), &"error".into()));
    assert!(result["reason"].as_str().is_some_and(|reason| reason.contains("division by zero")));
}

/// Whatever runs out: the answer is *unknown*, with a reason and with what was covered.
#[test]
fn running_out_is_an_answer() {
    let scratch = Scratch::new();
    // Enough states to need a few pages, so that a small limit on memory is felt.
    let file = scratch.file(
        "many.proc",
        "process P[i in 0..16] { s: a[i] -> t; t: b[i] -> s; }
         invariant x = forall i in 0..16: P[i]@s || P[i]@t;
         tester T { watch a[0]; s: a[0] -> s; livelock s; infinite s; reject r; r: ; }",
    );
    let limits =
        ["--max-states 10", "--max-states 0", "--max-memory 20k", "--timeout 0", "--timeout 0.001ms"];
    for limit in limits {
        for method in ["--order bfs", "--order dfs", "--order dfs --reduce stubborn"] {
            let finished = run(&format!("check {file} --property x --json {limit} {method}"));
            assert_eq!(finished.code, 3, "{limit} {method}: {}", finished.stdout);
            let result = finished.result();
            assert_eq!((&result["verdict"], &result["counterexample"]), (&"unknown".into(), &Value::Null));
            assert!(result["reason"].as_str().is_some_and(|reason| reason.contains("limit")), "{result}");
            // Reading the model and preparing a reduction may take all that there is.
            let at_least = u64::from(limit.contains("states") && !method.contains("stubborn"));
            assert!(result["stats"]["states"].as_u64() >= Some(at_least), "{result}");
        }
        let finished = run(&format!("explore {file} --json {limit}"));
        assert_eq!(finished.code, 3, "{limit}");
        let document = finished.json();
        assert_eq!(document["complete"], false);
        assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("limit")));
    }
    let finished = run(&format!("check {file} --property T --json --max-states 0"));
    assert_eq!((finished.code, &finished.result()["verdict"]), (3, &"unknown".into()));
}

#[test]
fn a_generous_limit_changes_nothing() {
    let limits = "--max-states 1000000 --max-memory 1G --timeout 1h";
    let limited = run(&format!("explore models/dining.proc -D N=7 --json {limits}")).json();
    assert_eq!((&limited["complete"], &limited["states"]), (&true.into(), &2186.into()));
}

#[test]
fn all_ways_to_search_agree() {
    for order in ["bfs", "dfs"] {
        let document = run(&format!("explore models/dining.proc -D N=7 --json --order {order}")).json();
        assert_eq!([&document["states"], &document["deadlocks"]], [2186, 1]);
        for (store, code) in [("exact", 0), ("bitstate --bitstate-size 4M", 3)] {
            for reduce in ["auto", "none", "stubborn"] {
                let method = format!("--order {order} --store {store} --reduce {reduce}");
                let finished = run(&format!("check models/scheduler.proc {method}"));
                assert_eq!(finished.code, code, "{method}: {}", finished.stdout);
                let finished = run(&format!("check models/token_ring.proc --property Waits {method}"));
                assert_eq!(finished.code, 1, "{method}: {}", finished.stdout);
            }
        }
    }
}

/// What is missing behind states that were dropped is not in the estimate, so that it is an upper bound; where there is
/// room, it is close.
#[test]
fn bitstate_says_how_much_it_may_have_found() {
    for model in
        ["models/dining.proc -D N=8", "models/leader.pml", "models/peterson_n.proc", "models/fischer.proc"]
    {
        let all = run(&format!("explore {model} --json")).json()["states"].as_f64().expect("a number");
        for bits_per_state in [2.0, 4.0, 16.0, 64.0] {
            for order in ["bfs", "dfs"] {
                let size = (all * bits_per_state / 8.0).ceil() as u64;
                let said = run(&format!(
                    "explore {model} --json --store bitstate --bitstate-size {size} --order {order}"
                ));
                let said = said.json();
                let (found, reason) = (said["states"].as_f64(), said["reason"].as_str());
                let truth = 100.0 * found.expect("a number") / all;
                let (_, rest) = reason.and_then(|reason| reason.split_once("at most ")).expect("an estimate");
                let most: f64 = rest.split(' ').next().and_then(|most| most.parse().ok()).expect("a number");
                assert!(truth < most + 3.0, "{model} {order}: {truth} % were found, {reason:?}");
                assert!(
                    bits_per_state < 16.0 || truth > most - 3.0,
                    "{model} {order}: {truth} %, {reason:?}"
                );
            }
        }
    }
}

#[test]
fn bitstate_never_says_that_something_holds() {
    let finished = run("check models/buffer.proc --store bitstate --bitstate-size 1M --json");
    assert_eq!(finished.code, 3);
    for result in finished.json()["results"].as_array().expect("a list") {
        assert_eq!(result["verdict"], "unknown");
        assert!(result["reason"].as_str().is_some_and(|reason| reason.contains("coverage")));
        assert_eq!(result["method"]["store"], "bitstate");
    }
    let document = run("explore models/buffer.proc --store bitstate --bitstate-size 1M --json");
    assert_eq!((document.code, &document.json()["complete"]), (3, &false.into()));
}

#[test]
fn a_bit_array_that_does_not_fit_is_refused() {
    for arguments in ["--bitstate-size 100T", "--bitstate-size 100T --max-memory 200T", "--max-memory 1M"] {
        let finished = run(&format!("check models/buffer.proc --store bitstate {arguments}"));
        assert_eq!(finished.code, 2, "{arguments}");
        assert!(finished.stderr.contains("bit array"), "{}", finished.stderr);
    }
}

#[test]
fn the_same_input_gives_the_same_run() {
    for arguments in
        ["check models/token_ring.proc", "check models/dining.proc --order dfs", "check models/vending.proc"]
    {
        let results = || {
            let mut document = run(&format!("{arguments} --json")).json();
            for result in document["results"].as_array_mut().expect("a list") {
                result["stats"]["seconds"] = Value::Null;
            }
            document
        };
        assert_eq!(results(), results());
    }
}

#[test]
fn constants_can_be_set() {
    let states = |definitions: &str| {
        run(&format!("explore models/buffer.proc --json {definitions}")).json()["states"].clone()
    };
    // A buffer of K + 1 values, and two states for each producer and each consumer.
    assert_eq!(states("-D K=1 -D P=1 -D C=1"), 8);
    assert_eq!(states("-D K=9 -DP=1 --define C=1"), 40);
    assert_eq!(states("-D K=1 -D K=9 -D P=1 -D C=1"), 40, "the last one counts");
}
