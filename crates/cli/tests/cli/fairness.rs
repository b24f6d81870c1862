//! Fairness: what `--fair` and `fair …;` mean, who is meant by it, and what is refused.

use serde_json::Value;

use crate::{Scratch, run, run_ltl, run_with};

const SERVED: &str = "check models/semaphore.proc -p served";
const GETS_IN: &str = "check models/peterson_n.proc -p gets_in";

/// Processes with two indices, of which the file treats two fairly.
const CELLS: &str = "
    process Cell[i in 0..2, j in 0..2] { off: flip[i, j] -> on; on: flip[i, j] -> off; }
    fair weak Cell[*, 1];
    ltl left  = [] <> Cell[0, 0]@on;
    ltl right = [] <> Cell[0, 1]@on;";

/// The result of a check, which must not have been refused.
fn check(arguments: &str) -> Value {
    let finished = run(&format!("{arguments} --json"));
    assert!(finished.code < 2, "{arguments}: {}{}", finished.stdout, finished.stderr);
    finished.result()
}

fn holds(arguments: &str) -> bool {
    check(arguments)["verdict"] == "holds"
}

/// The message of a refusal.
fn refusal(arguments: &str) -> String {
    run(&format!("{arguments} --json")).refusal(arguments)
}

#[test]
fn peterson_needs_weak_fairness_and_the_semaphore_strong() {
    for (fair, gets_in, served) in [("none", false, false), ("weak", true, false), ("strong", true, true)] {
        assert_eq!(holds(&format!("{GETS_IN} --fair {fair}")), gets_in, "{fair}");
        assert_eq!(holds(&format!("{SERVED} --fair {fair}")), served, "{fair}");
        assert_eq!(check(&format!("{SERVED} --fair {fair}"))["method"]["fairness"], fair);
    }
    // Each file asks for what it needs.
    for (command, kind) in [(GETS_IN, "weak"), (SERVED, "strong")] {
        let result = check(command);
        assert_eq!((&result["verdict"], &result["method"]["fairness"]), (&"holds".into(), &kind.into()));
    }
    assert!(holds(&format!("{SERVED} --fair none --fair strong")), "`none` adds nothing");
}

#[test]
fn some_processes_are_enough_if_they_are_the_right_ones() {
    for (fair, served) in [
        ("strong:Worker[0]", true),
        ("strong:Worker", true),
        ("strong:Worker[*],Semaphore", true),
        ("strong:Semaphore", false),
        ("strong:Worker[1],Worker[2]", false),
        ("weak:Worker[*]", false),
        // One of them happens; each of them does; this one does.
        ("strong-action:acquire", false),
        ("strong-action:acquire[*]", true),
        ("strong-action:acquire[0]", true),
        ("strong-action:acquire[1],acquire[2]", false),
        ("weak-action:acquire[*]", false),
    ] {
        assert_eq!(holds(&format!("{SERVED} --fair {fair}")), served, "{fair}");
    }
    let both = check(&format!("{SERVED} --fair weak --fair strong-action:acquire[0]"));
    assert_eq!((&both["verdict"], &both["method"]["fairness"]), (&"holds".into(), &"weak+strong".into()));
}

#[test]
fn every_index_can_be_left_open() {
    let scratch = Scratch::new();
    let file = scratch.file("cells.proc", CELLS);
    let verdicts = |fair: &[&str]| {
        let finished = run_with(["check", &file, "--json"].into_iter().chain(fair.iter().copied()));
        assert!(finished.code < 2, "{fair:?}: {}", finished.stderr);
        let document = finished.json();
        [0, 1].map(|index| document["results"][index]["verdict"] == "holds")
    };
    assert_eq!(verdicts(&[]), [false, true]);
    assert_eq!(verdicts(&["--fair", "none"]), [false, false]);
    assert_eq!(verdicts(&["--fair", "weak"]), [true, true]);
    assert_eq!(verdicts(&["--fair", "weak:Cell[*,0]"]), [true, false]);
    assert_eq!(verdicts(&["--fair", "weak:Cell[*][0]"]), [true, false]);
    assert_eq!(verdicts(&["--fair", "weak:Cell[0, 0], Cell[0, 1]"]), [true, true]);
    assert_eq!(verdicts(&["--fair", "weak:Cell[0,0]", "--fair", "strong:Cell[0,1]"]), [true, true]);
    assert_eq!(verdicts(&["--fair", "weak-action:flip"]), [false, false]);
    assert_eq!(verdicts(&["--fair", "weak-action:flip[*]"]), [true, true]);
    assert_eq!(verdicts(&["--fair", "weak-action:flip[*,1]"]), [false, true]);
}

#[test]
fn any_action_can_be_named() {
    let scratch = Scratch::new();
    let text = r#"process P { s: tau -> s | "SEND !1" -> s | "to: t, u" -> t; t: back -> s; }"#;
    let file = scratch.file("quoted.proc", text);
    for (fair, code) in [
        ("strong-action:SEND !1", 1),
        (r#"strong-action:"SEND !1""#, 1),
        (r#"strong-action:"to: t, u""#, 0),
        (r#"strong-action: back , "to: t, u""#, 0),
    ] {
        let finished = run_with(["check", &file, "--ltl", "[] <> P@t", "--fair", fair]);
        assert_eq!(finished.code, code, "{fair}: {}{}", finished.stdout, finished.stderr);
    }
}

#[test]
fn who_is_unknown_is_told() {
    for (fair, help) in [
        ("weak:Wroker", "did you mean `Worker`?"),
        ("weak:Worker[0],Semafore", "did you mean `Semaphore`?"),
        ("strong:Wroker[1]", "did you mean `Worker[1]`?"),
        ("strong-action:aquire", "did you mean `acquire`?"),
        ("strong-action:aquire[2]", "did you mean `acquire[2]`?"),
    ] {
        let finished = run(&format!("{SERVED} --fair {fair} --json"));
        assert_eq!(finished.code, 2, "{fair}");
        let error = &finished.json()["errors"][0];
        assert_eq!((&error["code"], &error["help"]), (&"unknown-fairness".into(), &help.into()), "{fair}");
    }
    for fair in ["weak:Worker[3]", "weak:Worker[*,*]", "weak:*", "strong-action:tau", "strong-action:xyz"] {
        let finished = run(&format!("{SERVED} --fair {fair}"));
        assert_eq!(finished.code, 2, "{fair}");
        assert!(finished.stderr.contains("the model has no"), "{}", finished.stderr);
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    for (fair, message) in [
        ("fair", "expected weak, strong"),
        ("none:Worker", "expected weak, strong"),
        ("weak-action", "say which actions, as in weak-action:send"),
        ("strong-action:", "a name is missing"),
        ("weak:", "a name is missing"),
        ("weak:Worker[0],", "a name is missing"),
        ("weak:,", "a name is missing"),
    ] {
        let finished = run(&format!("{SERVED} --fair {fair}"));
        assert_eq!(finished.code, 2, "{fair}");
        assert!(finished.stderr.contains(message), "{fair}: {}", finished.stderr);
    }
    for fair in ["weak:]],[[", "weak:Worker[0", "weak:Worker]0[", "weak:[*]", "strong-action:\"", "weak::"] {
        assert_eq!(run(&format!("{SERVED} --fair {fair}")).code, 2, "{fair}");
    }
}

#[test]
fn what_knows_no_fairness_is_refused() {
    for how in ["guided", "hybrid", "classical", "repaired"] {
        let message = refusal(&format!("{SERVED} --reduce {how}"));
        assert!(message.contains("this reduction does not keep enough interleavings"), "{how}: {message}");
    }
    let message = refusal(&format!("{SERVED} --reduce fair --observer extended"));
    assert!(message.contains("needs an automaton that waits"), "{message}");
    for how in ["one-pass", "nested"] {
        let message = refusal(&format!("{SERVED} --search {how}"));
        assert!(message.contains("cannot tell whether they are fair"), "{how}: {message}");
    }
    refusal(&format!("{SERVED} --store bitstate"));
    for how in ["--search scc", "--observer tgba --search scc", "--reduce stubborn"] {
        refusal(&format!("{SERVED} --fairness-by monitor {how}"));
    }
    let waits = "check models/token_ring.proc -p Waits --fair strong";
    for how in ["--reduce guided", "--store bitstate", "--fairness-by monitor"] {
        refusal(&format!("{waits} {how}"));
    }
    // Without fairness all of that is possible.
    assert!(!holds(&format!("{SERVED} --fair none --reduce stubborn")));
    assert!(!holds(&format!("{SERVED} --fair none --search nested")));
}

#[test]
fn what_is_reduced_is_told() {
    let explained = check(&format!("{SERVED} --explain-choice"));
    assert_eq!(explained["method"]["reduction"], "fair");
    let has = |result: &Value, reason: &str| {
        result["choice"].as_array().is_some_and(|reasons| reasons.contains(&reason.into()))
    };
    assert!(has(&explained, "reduction: fair, which keeps fair runs"), "{explained}");
    for how in ["--search two-pass", "--observer tgta", "--observer lazy-ta"] {
        let result = check(&format!("{SERVED} --explain-choice {how}"));
        assert!(has(&result, "reduction: fair, which keeps fair runs"), "{result}");
    }
    let extended = check(&format!("{SERVED} --explain-choice --observer extended"));
    assert!(has(&extended, "reduction: none, fair runs cannot be told apart with it"), "{extended}");
    let tester = check("check models/token_ring.proc -p Waits --fair strong");
    assert_eq!(tester["method"]["reduction"], "stubborn");
    let monitored = check(&format!("{SERVED} --explain-choice --fairness-by monitor"));
    assert!(has(&monitored, "reduction: none, fair runs cannot be told apart with it"), "{monitored}");
    assert!(has(&monitored, "search: nested, which monitors are for"), "{monitored}");
    let asked = check(&format!("{SERVED} --explain-choice --fairness-by monitor --search nested"));
    assert!(has(&asked, "search: nested, as asked"), "{asked}");
}

#[test]
fn all_methods_agree() {
    let methods = [
        "",
        "--reduce none",
        "--reduce stubborn",
        "--reduce closure",
        "--reduce fair --observer ba",
        "--reduce none --observer ta",
        "--observer tgba",
        "--observer ba",
        "--observer ta",
        "--observer tgta",
        "--observer lazy-ta",
        "--observer lazy-tgta",
        "--observer extended",
        "--search two-pass",
        "--fairness-by monitor",
    ];
    for formula in [
        "[] (Worker[0]@trying -> <> Worker[0]@critical[*])",
        "[] <> Worker[0]@idle",
        "<> [] !Worker[0]@critical[*]",
        "[] !Worker[0]@critical[*]",
    ] {
        for fair in ["none", "weak", "strong", "just", "strong-action:acquire[*]"] {
            let codes = methods.map(|method| {
                let arguments = format!("--fair {fair} {method}");
                run_ltl("check", "models/semaphore.proc -D N=2", formula, &arguments).code
            });
            assert!(
                codes[0] < 2 && codes.iter().all(|code| *code == codes[0]),
                "{formula} {fair}: {codes:?}"
            );
        }
    }
}

/// Whoever only reads keeps nobody from writing, and whoever competes may lose.
#[test]
fn justness_is_enough_where_nobody_interferes() {
    const AGAIN: &str = "check models/peterson.proc -p again";
    for (fair, again) in [("none", false), ("just", true), ("just:Peer", true), ("just:Peer[1]", false)] {
        assert_eq!(holds(&format!("{AGAIN} --fair {fair}")), again, "{fair}");
        assert_eq!(holds(&format!("{AGAIN} --fair {fair} --reduce none")), again, "{fair}");
    }
    let served = check(&format!("{SERVED} --fair just"));
    assert_eq!((&served["verdict"], &served["method"]["fairness"]), (&"violated".into(), &"just".into()));
    let reasons = served["counterexample"]["fairness"].as_array().cloned().unwrap_or_default();
    assert!(reasons.iter().all(|reason| reason["kind"] == "just"), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason["because"] == "interfered with"), "{reasons:?}");
    let all = check(&format!("{SERVED} --fair just --fair weak:Semaphore --fair strong:Worker[0]"));
    assert_eq!((&all["verdict"], &all["method"]["fairness"]), (&"holds".into(), &"just+weak+strong".into()));
    assert!(!holds(&format!("{SERVED} --fair just-action:acquire[*]")));
}

/// A process that is only asked takes part for ever, which is enough for weak fairness.
#[test]
fn who_is_only_asked_is_not_interfered_with() {
    let scratch = Scratch::new();
    let text = "process Asked { s: ask -> s | go -> t; t: ask -> t; }
        process Asking { x: ask -> y; y: back -> x; }
        process Idle { i: tick -> i; }
        fair just Asked;
        ltl goes = <> Asked@t;
        ltl asks = [] <> Asking@x;";
    let file = scratch.file("asked.proc", text);
    for (fair, expected) in [
        (vec![], [true, false]),
        (vec!["--fair", "weak"], [false, true]),
        (vec!["--fair", "just"], [true, true]),
        (vec!["--fair", "just-action:go"], [true, false]),
    ] {
        for more in [&[][..], &["--reduce", "none"], &["--fairness-by", "monitor"]] {
            let arguments =
                ["check", &file, "--json"].into_iter().chain(fair.clone()).chain(more.iter().copied());
            let finished = run_with(arguments);
            assert!(finished.code < 2, "{fair:?} {more:?}: {}", finished.stderr);
            let document = finished.json();
            let holds = [0, 1].map(|index| document["results"][index]["verdict"] == "holds");
            assert_eq!(holds, expected, "{fair:?} {more:?}");
        }
    }
}

/// Fairness is decided on the way.
#[test]
fn fairness_adds_no_state() {
    for observer in ["tgba", "ba", "tgta", "lazy-tgta", "ta", "extended"] {
        let states = |fair: &str| {
            let formula = "[] (Peer[0]@critical -> !Peer[1]@critical)";
            let arguments = format!("--fair {fair} --observer {observer} --reduce none --json");
            let finished = run_ltl("check", "models/peterson_n.proc", formula, &arguments);
            assert_eq!(finished.code, 0);
            finished.result()["stats"]["states"].as_u64()
        };
        let without = states("none");
        assert!(without > Some(1000));
        assert_eq!((states("weak"), states("strong")), (without, without), "{observer}");
    }
}

#[test]
fn the_document_says_why_a_run_is_fair() {
    let result = check(&format!("{SERVED} --fair weak"));
    let reasons = result["counterexample"]["fairness"].as_array().cloned().unwrap_or_default();
    let names: Vec<&Value> = reasons.iter().map(|reason| &reason["constraint"]).collect();
    assert_eq!(names, ["Semaphore", "Worker[0]", "Worker[1]", "Worker[2]"]);
    assert!(reasons.iter().all(|reason| reason["kind"] == "weak"));
    // Who waits is disabled now and then, in the part that repeats.
    let n_steps = |part: &str| result["counterexample"][part].as_array().map_or(0, Vec::len) as u64;
    let (before, all) = (n_steps("prefix") - 1, n_steps("prefix") - 1 + n_steps("cycle"));
    assert_eq!(reasons[1]["because"], "disabled");
    for reason in &reasons {
        assert!(reason["step"].as_u64().is_some_and(|step| (before..=all).contains(&step)), "{reason}");
    }
    let action = check(&format!("{SERVED} --fair strong-action:acquire"));
    let reason = &action["counterexample"]["fairness"][0];
    assert_eq!((&reason["constraint"], &reason["kind"]), (&"action acquire".into(), &"strong".into()));
    assert_eq!(reason["because"], "taken");
    // Where fairness does not matter, nothing is said.
    assert_eq!(check(&format!("{SERVED} --fair none"))["counterexample"]["fairness"], Value::Null);
    let safety = check("check models/semaphore.proc -p mutual_exclusion --fair strong");
    assert_eq!(safety["method"]["fairness"], "none");
}

#[test]
fn a_deadlock_is_fair() {
    let scratch = Scratch::new();
    let text = "process P { s: go -> t | stop -> d; t: back -> s; d: ; } process Still { e: ; }";
    let file = scratch.file("stops.proc", text);
    for how in ["--fair weak", "--fair strong", "--fair strong --fairness-by monitor", "--fair weak:Still"] {
        let finished = run_ltl("check", &file, "[] <> P@t", &format!("{how} --json"));
        assert_eq!(finished.code, 1, "{how}");
        let run = finished.result()["counterexample"].clone();
        assert_eq!(
            (&run["kind"], run["cycle"].as_array().map(Vec::len)),
            (&"lasso".into(), Some(0)),
            "{how}"
        );
        // Who has no actions is not worth a word.
        let n_reasons = if how.contains("Still") { None } else { Some(1) };
        assert_eq!(run["fairness"].as_array().map(Vec::len), n_reasons, "{how}");
        if n_reasons.is_some() {
            assert_eq!(run["fairness"][0]["because"], "never enabled", "{how}");
            assert_eq!(run["fairness"][0]["step"], Value::Null, "{how}");
        }
    }
    let ignored = run_ltl("check", &file, "[] <> P@t", "--fair strong --deadlock ignore");
    assert_eq!(ignored.code, 0, "{}", ignored.stdout);
}

#[test]
fn testers_see_fair_runs_only() {
    let waits = "check models/token_ring.proc -p Waits";
    for (fair, expected) in [
        ("none", false),
        ("weak", false),
        ("strong", true),
        // Another customer may come again and again, so that the token stays there.
        ("strong:Customer[0]", false),
        ("strong:Customer[0],Station[*]", true),
    ] {
        assert_eq!(holds(&format!("{waits} --fair {fair}")), expected, "{fair}");
    }
    let fair = check(&format!("{waits} --fair weak"));
    assert_eq!(
        (&fair["method"]["search"], &fair["method"]["reduction"]),
        (&"two-pass".into(), &"stubborn".into())
    );
    assert!(fair["counterexample"]["fairness"].as_array().is_some_and(|reasons| reasons.len() == 8));
    // Unfair or not, a prefix is a prefix: nothing changes for a tester that rejects.
    let overtaken = "check models/semaphore.proc -p Overtaken[1]";
    let fair = check(&format!("{overtaken} --fair strong"));
    let unfair = check(&format!("{overtaken} --fair none"));
    assert_eq!((&fair["verdict"], &fair["method"]["reduction"]), (&"violated".into(), &"stubborn".into()));
    assert_eq!((&fair["method"], &fair["counterexample"]), (&unfair["method"], &unfair["counterexample"]));
    assert_eq!(fair["method"]["fairness"], "none");
    assert!(!holds(&format!("{overtaken} --reduce stubborn")));
}

#[test]
fn claims_are_about_fair_runs() {
    let scratch = Scratch::new();
    // From some point on, worker 0 waits for ever.
    let hoa = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"Worker[0]@trying\"\nacc-name: Buchi\n\
               Acceptance: 1 Inf(0)\n--BODY--\nState: 0\n[t] 0\n[0] 1\nState: 1\n[0] 1 {0}\n--END--\n";
    let file = scratch.file("waits.hoa", hoa);
    for (fair, expected) in [("none", false), ("weak", false), ("strong", true)] {
        let command = format!("check models/semaphore.proc --claim {file} --fair {fair}");
        assert_eq!(holds(&command), expected, "{fair}");
        assert_eq!(holds(&format!("{command} --fairness-by monitor")), expected, "{fair}");
    }
}
