//! `explore --ltl` and `explore --claim`: the whole product.

use serde_json::Value;

use crate::json::EXPLORED;
use crate::{OBSERVERS, SEARCHES, Scratch, run, run_ltl, run_with};

/// Whatever searches the product without reduction and finds nothing has seen all of it.
#[test]
fn the_product_is_the_same_whatever_searches_it() {
    for (model, formula) in [
        ("models/dining.proc -D N=4", "[] !(Phil[0]@eat && Phil[1]@eat)"),
        ("models/dining.proc -D N=4", "[] (Phil[0]@eat && <> Phil[0]@think -> <> Phil[0]@right)"),
        ("models/peterson.proc", "[] (Peer[0]@critical -> !Peer[1]@critical)"),
        ("models/peterson.proc", "[] (Peer[0]@waiting -> <> Peer[0]@critical) || <> [] !Peer[0]@idle"),
        ("models/token_ring.proc -D N=3", "[] <> !Station[0]@token[0] || <> Station[0]@token[0]"),
    ] {
        let mut n_compared = 0;
        for observer in OBSERVERS {
            let whole = run_ltl("explore", model, formula, &format!("--observer {observer} --json")).json();
            assert_eq!((&whole["complete"], &whole["observer"]), (&true.into(), &observer.into()), "{whole}");
            for search in SEARCHES {
                let options = format!("--observer {observer} --search {search} --reduce none --json");
                let finished = run_ltl("check", model, formula, &options);
                if finished.code == 2 {
                    continue;
                }
                assert_eq!(finished.code, 0, "{formula} {options}");
                let stats = &finished.json()["results"][0]["stats"];
                for figure in ["states", "system_states", "observer_states"] {
                    assert_eq!(stats[figure], whole[figure], "{figure} of {formula} {options}");
                }
                if search == "scc" {
                    assert_eq!(stats["transitions"], whole["transitions"], "{formula} {options}");
                }
                n_compared += 1;
            }
        }
        assert!(n_compared >= 8, "{formula}: {n_compared}");
    }
}

/// All of it is counted, violated or not.
#[test]
fn a_violated_property_does_not_end_it() {
    let formula = "[] !Phil[0]@left";
    let figures = |observer: &str| {
        let options = format!("--observer {observer} --json");
        let finished = run_ltl("explore", "models/dining.proc -D N=4", formula, &options);
        assert_eq!(finished.code, 0, "{}", finished.stderr);
        let document = finished.json();
        ["states", "transitions", "deadlocks", "depth", "system_states"].map(|name| document[name].clone())
    };
    // 54 states without it; then it may be noticed, or not yet.
    assert_eq!(figures("tgba"), [134, 358, 2, 13, 80].map(Value::from));
    for observer in OBSERVERS {
        assert_eq!(figures(observer)[4], 80, "{observer}: every state of the system is in the product");
    }
}

/// A run that ends goes on in the product, by a step that repeats its last state.
#[test]
fn deadlocks_stutter() {
    let scratch = Scratch::new();
    let model = scratch.file("stops.proc", "process P { a: go -> b; b: ; }");
    let document = run_ltl("explore", &model, "<> P@b", "--observer tgba --json").json();
    assert_eq!((&document["states"], &document["transitions"]), (&2.into(), &1.into()), "{document}");
    let document = run_ltl("explore", &model, "[] P@a", "--observer tgba --json").json();
    let fields: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields[..EXPLORED.len()], EXPLORED);
    assert_eq!(fields[EXPLORED.len()..], ["observer", "system_states", "observer_states"]);
    // Not seen: a, b. Seen: b, and its loop.
    assert_eq!((&document["states"], &document["system_states"]), (&3.into(), &2.into()), "{document}");
}

#[test]
fn claims_have_products_too() {
    let scratch = Scratch::new();
    for kind in ["tgba", "ta", "tgta"] {
        let formula = "[] (\"Phil[0]@left\" -> <> \"Phil[0]@eat\")";
        let claim =
            scratch.file("claim.hoa", run_with(["translate", formula, "--negate", "--to", kind]).stdout);
        let finished = run(&format!("explore models/dining.proc -D N=4 --claim {claim} --json"));
        let document = finished.json();
        assert_eq!((finished.code, &document["complete"]), (0, &true.into()), "{}", finished.stderr);
        if kind != "tgba" {
            assert_eq!(document["observer"], kind, "as it was written");
        }
        assert_eq!(document["system_states"], 80);
    }
}

#[test]
fn limits_and_bad_usage() {
    let formula = "[] !Phil[0]@left";
    let model = "models/dining.proc -D N=8";
    for limit in ["--max-states 10", "--max-memory 2k"] {
        let finished = run_ltl("explore", model, formula, &format!("--json {limit}"));
        let document = finished.json();
        assert_eq!((finished.code, &document["complete"]), (3, &false.into()), "{limit}");
        assert!(document["reason"].as_str().is_some_and(|reason| reason.contains("limit")), "{document}");
    }
    for options in
        ["--order dfs", "--store bitstate", "--aut x.aut", "--dot x.dot", "--claim x.hoa", "--observer attic"]
    {
        let finished = run_ltl("explore", model, formula, options);
        assert!(finished.code == 2 && finished.stdout.is_empty(), "{options}: {}", finished.stdout);
    }
    assert_eq!(run("explore models/dining.proc --observer ta").code, 2);
    let finished = run_ltl("explore", model, "X Phil[0]@eat", "--observer ta");
    assert!(finished.code == 2 && finished.stderr.contains("sees stuttering"), "{}", finished.stderr);
    let scratch = Scratch::new();
    let zero = scratch.file("zero.proc", "process P { s: a -> t; t: ; }");
    let finished = run_ltl("explore", &zero, "[] \"1 / P@s == 1\"", "--observer tgba");
    assert!(finished.code == 2 && finished.stdout.contains("after 1 step"), "{}", finished.stdout);
}
