//! Formulas and claims: what may be combined, what is refused, and what is told.

use serde_json::Value;

use crate::{OBSERVERS, SEARCHES, Scratch, pnml, run, run_ltl, run_with};

const SAFE: &str = "[] !(Phil[0]@eat && Phil[1]@eat)";
const FED: &str = "[] (Phil[0]@left -> <> Phil[0]@eat)";
const DINING: &str = "models/dining.proc -D N=3";

fn reason(result: &Value) -> &str {
    result["reason"].as_str().unwrap_or("")
}

/// Number of steps of a counterexample.
fn length(result: &Value) -> usize {
    let run = &result["counterexample"];
    let n_steps = |part: &str| run[part].as_array().map_or(0, Vec::len);
    n_steps("prefix") + n_steps("cycle") - 1
}

#[test]
fn every_observer_with_every_search() {
    for (formula, code) in [(SAFE, 0), (FED, 1)] {
        for observer in OBSERVERS {
            for search in SEARCHES {
                let options = format!("--observer {observer} --search {search}");
                let finished = run_ltl("check", DINING, formula, &format!("{options} --json"));
                let fits = match search {
                    "scc" => !observer.ends_with("-ta") && observer != "ta",
                    "nested" => matches!(observer, "ba" | "extended"),
                    "two-pass" => matches!(observer, "ta" | "lazy-ta"),
                    // What is never safe again has no Büchi states; to be fed has some.
                    _ => observer == "ta" && formula == SAFE,
                };
                if !fits {
                    finished.refusal(&options);
                    continue;
                }
                assert_eq!(finished.code, code, "{formula} {options}: {}", finished.stderr);
                let method = &finished.result()["method"];
                assert_eq!((&method["observer"], &method["search"]), (&observer.into(), &search.into()));
            }
        }
    }
}

#[test]
fn every_reduction_agrees_or_is_refused() {
    for (formula, code) in [(SAFE, 0), (FED, 1)] {
        for observer in OBSERVERS {
            for reduction in ["stubborn", "guided", "hybrid", "classical", "repaired", "closure"] {
                let options = format!("--observer {observer} --reduce {reduction}");
                let finished =
                    run_ltl("check", DINING, formula, &format!("{options} --verify-reduction --json"));
                let is_testing = observer.ends_with("ta");
                let fits = match reduction {
                    "guided" | "hybrid" => is_testing,
                    "classical" => matches!(observer, "tgba" | "ba"),
                    _ => observer != "extended",
                };
                if !fits {
                    finished.refusal(&options);
                    continue;
                }
                assert_eq!(finished.code, code, "{formula} {options}: {}", finished.stderr);
                let result = finished.result();
                assert_eq!(result["reduction_check"]["agrees"], true, "{result}");
                assert_ne!(result["method"]["reduction"], "none", "{result}");
            }
        }
    }
}

/// Stuttering matters here, so neither testing automata nor reduction may be used.
#[test]
fn what_sees_stuttering_is_watched_by_value() {
    let formula = "[] (Phil[0]@think -> X (Phil[0]@think || Phil[0]@left)) && X Phil[0]@think";
    for options in ["--observer ta", "--observer lazy-tgta", "--reduce stubborn", "--reduce classical"] {
        let finished = run_ltl("check", DINING, formula, &format!("{options} --json"));
        finished.refusal(options);
    }
    for options in ["", "--observer ba --search nested", "--observer extended", "--reduce closure"] {
        let finished = run_ltl("check", DINING, formula, &format!("{options} --json"));
        assert_eq!(finished.code, 1, "{options}: {}", finished.stderr);
    }
    // There is an X, but no stuttering can be seen by it.
    let harmless = "[] (Phil[0]@eat -> <> (Phil[0]@eat && X !Phil[0]@eat))";
    let finished = run_ltl("check", DINING, harmless, "--observer ta --reduce guided --json");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

#[test]
fn a_few_bits_are_enough_for_nested_and_one_pass() {
    let bitstate = "--store bitstate --bitstate-size 1M --json";
    for (options, observer, search) in
        [("--search nested", "ba", "nested"), ("--search one-pass", "ta", "one-pass")]
    {
        let finished = run_ltl("check", DINING, SAFE, &format!("{bitstate} {options}"));
        let safe = finished.result();
        assert_eq!((finished.code, &safe["verdict"]), (3, &"unknown".into()));
        assert!(reason(&safe).contains("coverage"), "{safe}");
        let method = &safe["method"];
        assert_eq!((&method["observer"], &method["search"]), (&observer.into(), &search.into()));
        let finished = run_ltl("check", DINING, "[] !Phil[0]@eat", &format!("{bitstate} {options}"));
        assert_eq!(finished.code, 1, "{options}: {}", finished.stdout);
    }
    // Not for what needs to know components.
    for options in
        ["--search scc", "--search two-pass", "--observer tgta", "--search nested --reduce stubborn"]
    {
        let finished = run_ltl("check", DINING, SAFE, &format!("{bitstate} {options}"));
        finished.refusal(options);
    }
    let finished = run_ltl("check", DINING, FED, bitstate);
    assert_eq!(finished.code, 1, "auto finds something that fits: {}", finished.stdout);
}

/// `X` where it does not see stuttering changes nothing, by default or as asked for.
#[test]
fn next_without_stuttering_is_reduced() {
    for (with, without) in [
        ("<> X [] Phil[0]@eat", "<> [] Phil[0]@eat"),
        ("[] <> X Phil[0]@eat", "[] <> Phil[0]@eat"),
        ("[] (Phil[0]@left -> <> X [] Phil[0]@eat)", "[] (Phil[0]@left -> <> [] Phil[0]@eat)"),
    ] {
        for options in
            ["", "--observer tgta --reduce guided", "--observer ta --reduce stubborn", "--reduce classical"]
        {
            let [said, expected] = [with, without].map(|formula| {
                let finished = run_ltl("check", DINING, formula, &format!("{options} --json"));
                let result = finished.result();
                (finished.code, result["method"].clone())
            });
            assert_eq!(said, expected, "{with} {options}");
            assert_ne!(said.1["reduction"], "none", "{with} {options}");
        }
    }
}

#[test]
fn the_shortest_run_is_not_longer() {
    for (model, formula) in [
        (DINING, FED),
        (DINING, "[] !Phil[0]@eat"),
        (DINING, "<> [] Phil[1]@think"),
        ("models/token_ring.proc -D N=3", "[] (Customer[0]@waiting -> <> Customer[0]@idle)"),
        ("models/peterson.proc", "[] <> Peer[0]@critical"),
        ("models/peterson.proc", "<> X Peer[0]@critical"),
    ] {
        for options in ["", "--observer tgba", "--observer ba --search nested", "--deadlock error"] {
            let found = run_ltl("check", model, formula, &format!("{options} --json"));
            let shortest = run_ltl("check", model, formula, &format!("{options} --shortest --json"));
            assert_eq!((found.code, shortest.code), (1, 1), "{formula} {options}: {}", found.stderr);
            let lengths = (length(&shortest.result()), length(&found.result()));
            assert!(lengths.0 <= lengths.1, "{formula} {options}: {lengths:?}");
        }
    }
}

#[test]
fn orders_change_the_search_but_not_the_answer() {
    for observer in ["ba --search nested", "ta --search two-pass", "tgba"] {
        for successors in ["forward", "reverse"] {
            for order in ["as-is", "accepting-first", "accepting-last"] {
                let options = format!(
                    "--observer {observer} --successors {successors} --observer-order {order} --reduce none"
                );
                for (formula, code) in [(SAFE, 0), (FED, 1)] {
                    assert_eq!(run_ltl("check", DINING, formula, &options).code, code, "{formula} {options}");
                }
            }
        }
    }
}

#[test]
fn the_choice_is_explained() {
    for (formula, first) in
        [(FED, "property: it does not see stuttering"), ("X X Phil[0]@eat", "property: it may see")]
    {
        let finished = run_ltl("check", DINING, formula, "--explain-choice --json");
        let result = finished.result();
        let choice: Vec<&str> =
            result["choice"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(choice.len(), 4, "{choice:?}");
        assert!(choice[0].starts_with(first), "{choice:?}");
        for (reason, part) in choice[1..].iter().zip(["observer", "search", "reduction"]) {
            let chosen = result["method"][part].as_str().unwrap_or("?");
            assert!(reason.starts_with(&format!("{part}: {chosen}, ")), "{reason}");
        }
        let text = run_ltl("check", DINING, formula, "--explain-choice").stdout;
        assert!(choice.iter().all(|reason| text.contains(reason)), "{text}");
        // Without the question there is one line for people, and nothing for programs.
        let text = run_ltl("check", DINING, formula, "").stdout;
        assert_eq!(text.matches("\n  chosen: ").count(), 1, "{text}");
        assert!(run_ltl("check", DINING, formula, "--json").json()["results"][0]["choice"].is_null());
    }
}

#[test]
fn runs_tell_what_the_property_sees() {
    for observer in OBSERVERS {
        let finished = run_ltl("check", DINING, FED, &format!("--observer {observer} --json"));
        let result = finished.result();
        let run = &result["counterexample"];
        assert_eq!(run["kind"], "lasso");
        for step in ["prefix", "cycle"].iter().flat_map(|part| run[part].as_array().expect("a list")) {
            let at = step["state"]["Phil[0]"].as_str().expect("a name");
            assert_eq!(step["propositions"]["Phil[0]@left"], at == "left", "{step}");
            assert_eq!(step["propositions"]["Phil[0]@eat"], at == "eat", "{step}");
            assert!(step["observer"].as_str().is_some_and(|name| name.starts_with('q')), "{step}");
        }
    }
    // Also where the observer has seen enough before the run is shown to go on for ever.
    let finished = run_ltl("check", DINING, "[] !Phil[0]@eat", "--observer ta --json");
    let run = &finished.result()["counterexample"];
    assert!(
        run["cycle"].as_array().expect("a list").iter().all(|step| step["observer"].is_string()),
        "{run}"
    );
}

#[test]
fn deadlocks_stutter_are_ignored_or_are_errors() {
    let scratch = Scratch::new();
    let stops = scratch.file("stops.proc", "process P { a: go -> b | stay -> a; b: ; }");
    for observer in ["tgba", "ba", "tgta", "lazy-ta", "lazy-tgta", "extended"] {
        let ask = |formula: &str, deadlock: &str| {
            let options = format!("--observer {observer} --deadlock {deadlock} --json");
            let finished = run_ltl("check", &stops, formula, &options);
            (finished.code, finished.result())
        };
        let check = |deadlock: &str| ask("[] P@a", deadlock);
        let (code, stutters) = check("stutter");
        assert_eq!((code, &stutters["counterexample"]["kind"]), (1, &"prefix".into()), "{observer}");
        let (code, stays) = ask("<> P@a && [] <> P@a", "stutter");
        assert_eq!((code, &stays["counterexample"]["kind"]), (1, &"lasso".into()), "{observer}");
        assert_eq!(stays["counterexample"]["cycle"], Value::Array(Vec::new()), "{observer}");
        let (code, ignored) = check("ignore");
        assert_eq!((code, &ignored["verdict"], reason(&ignored)), (0, &"holds".into(), ""), "{observer}");
        let (code, error) = check("error");
        assert_eq!((code, &error["counterexample"]["kind"]), (1, &"deadlock".into()), "{observer}");
        assert!(reason(&error).contains("deadlock"), "{error}");
    }
    let all_end = scratch.file("ends.proc", "process P { a: go -> b; b: ; }");
    let finished = run_ltl("check", &all_end, "[] P@a", "--deadlock ignore --json");
    assert_eq!((finished.code, reason(&finished.result())), (0, "vacuous: there is no infinite run"));
}

#[test]
fn what_holds_for_no_good_reason_is_told() {
    let scratch = Scratch::new();
    let model = scratch.file(
        "vacuous.proc",
        "process P { a: x -> b; b: y -> a; c: z -> a; } process Q { s: x -> s | y -> s; }",
    );
    for (formula, expected) in [
        ("[] (P@c -> <> P@a)", "vacuous: `\"P@c\"` is never true"),
        ("[] (P@a || P@b || Q@s)", "vacuous: `Q@s` is always true, and it does not matter"),
        ("[] (P@a || !P@a)", "vacuous: no word violates it"),
        ("[] (P@a -> <> P@b)", ""),
        ("[] Q@s", ""),
    ] {
        for options in ["", "--observer tgba --reduce none"] {
            let finished = run_ltl("check", &model, formula, &format!("{options} --json"));
            let result = finished.result();
            assert_eq!((finished.code, reason(&result)), (0, expected), "{formula} {options}");
        }
    }
}

/// As many states as the question took must do to find out, so what the question did without is left out there, too: `k`
/// makes a million states out of few, and so do the net's other lanes.
#[test]
fn what_holds_for_no_good_reason_is_told_of_what_was_simplified_too() {
    let scratch = Scratch::new();
    let model = scratch.file(
        "unread.pml",
        "byte busy, done; proctype P() { byte k; do :: atomic { busy == 0 -> busy++ }; busy--; k = (k + 3) % 100 od }
         init { atomic { run P(); run P(); run P() } }",
    );
    let finished = run_ltl("check", &model, "[] (busy > 1 -> <> (done == 1))", "--json");
    assert_eq!(reason(&finished.result()), "vacuous: `\"busy > 1\"` is never true", "{}", finished.stdout);
    let (places, mut arcs) = (14, Vec::new());
    let place = |number: usize, lane: usize| format!("p{number}_{lane}");
    for lane in 0..12 {
        for number in 0..places {
            let transition = format!("t{number}_{lane}");
            arcs.push((place(number, lane), transition.clone(), 1));
            arcs.push((transition, place((number + 1) % places, lane), 1));
        }
    }
    let marked: Vec<_> = (0..12)
        .flat_map(|lane| (0..places).map(move |number| (place(number, lane), u64::from(number == 0))))
        .collect();
    let transitions: Vec<_> =
        (0..12).flat_map(|lane| (0..places).map(move |number| format!("t{number}_{lane}"))).collect();
    let net = scratch.file("lanes.pnml", pnml(&marked, &transitions, &arcs));
    let finished = run_ltl("check", &net, "[] (p3_0 + p4_0 > 1 -> <> (p5_1 > 0))", "--reduce none --json");
    assert_eq!(finished.code, 0, "{}", finished.stdout);
    assert!(reason(&finished.result()).starts_with("vacuous"), "{}", finished.stdout);
}

#[test]
fn unknown_names_are_errors_with_suggestions() {
    for (formula, code, help) in [
        ("[] Phil[0]@eats", "unknown-state", "`eat`"),
        ("[] Phill[0]@eat", "unknown-process", "`Phil`"),
        ("<> Phil[7]@eat", "out-of-range", "0 to 2"),
    ] {
        let finished = run_ltl("check", DINING, formula, "--json");
        assert_eq!(finished.code, 2, "{formula}: {}", finished.stdout);
        let error = &finished.json()["errors"][0];
        assert_eq!(
            (&error["code"], &error["file"], &error["line"]),
            (&code.into(), &"--ltl".into(), &1.into())
        );
        let text = format!("{} {}", error["message"], error["help"]);
        assert!(text.contains(help), "{text}");
    }
}

/// `--timeout` and Ctrl-C end a translation, too.
#[test]
fn a_translation_can_run_out_of_time() {
    // The model is read long before that, and this takes minutes.
    let sides = (0..5).map(|i| format!("([] <> Phil[{i}]@eat || <> [] Phil[{i}]@left)"));
    let more = (0..5).map(|i| format!("([] <> Phil[{i}]@think || <> [] !Phil[{i}]@eat)"));
    let large = sides.chain(more).collect::<Vec<String>>().join(" && ");
    let limits = "--timeout 700ms --json";
    let finished = run_ltl("check", "models/dining.proc -D N=5", &large, limits);
    let result = finished.result();
    assert_eq!((finished.code, &result["verdict"]), (3, &"unknown".into()), "{}", finished.stderr);
    assert_eq!(reason(&result), "time limit reached while it was translated");
    let finished = run_ltl("explore", "models/dining.proc -D N=5", &large, limits);
    let document = finished.json();
    assert_eq!((finished.code, &document["complete"]), (3, &false.into()));
    assert_eq!(document["reason"], "time limit reached while it was translated");
}

/// Each kind of automaton can be a claim. Those that know deadlocks are asked about them.
#[test]
fn claims_of_all_kinds() {
    let scratch = Scratch::new();
    let stops_lit =
        scratch.file("lit.proc", "process P { off: on -> lit; lit: out -> off | stop -> end; end: ; }");
    let blinks = scratch.file("blinks.proc", "process P { off: on -> lit; lit: out -> off; }");
    let claim = |kind: &str, sets: &str, body: &str| {
        let kind = if kind.is_empty() { String::new() } else { format!("stubborn-kind: {kind}\n") };
        let text =
            format!("HOA: v1\nname: \"c\"\n{kind}AP: 1 \"P@lit\"\n{sets}\n--BODY--\n{body}\n--END--\n");
        scratch.file("claim.hoa", text)
    };
    // In all of them: at last P stays dark.
    let tgba = ("", "Start: 0\nAcceptance: 1 Inf(0)", "State: 0 [t] 0 [!0] 1 State: 1 [!0] 1 {0}");
    let ta = (
        "TA",
        "Start: 0 Start: 1\nSets: livelock\nAcceptance: 1 f",
        "State: [!0] 0 {0} [0] 1 State: [0] 1 [0] 0",
    );
    let tgta = (
        "TGTA",
        "Start: 0 Start: 1 Start: 2\nAcceptance: 1 Inf(0)",
        "State: [0] 0 [0] 1 [0] 2 State: [!0] 1 [0] 0 State: [!0] 2 [!0] 2 {0}",
    );
    let extended = (
        "extended",
        "Start: 0 Start: 1\nSets: buchi\nAcceptance: 1 Inf(0)",
        "State: [t] 0 0 1 State: [!0] 1 {0} 1",
    );
    for (kind, sets, body) in [tgba, ta, tgta, extended] {
        let file = claim(kind, sets, body);
        for (model, code) in [(&stops_lit, 1), (&blinks, 0)] {
            for options in ["", "--reduce none", "--reduce stubborn", "--observer tgba", "--search scc"] {
                let finished = run(&format!("check {model} --claim {file} --json {options}"));
                assert_eq!(finished.code, code, "{kind} {options}: {}{}", finished.stdout, finished.stderr);
            }
        }
    }
    // Only to end in the dark is wrong: that is no word, so only the automaton itself knows.
    let own = [
        (
            "TA",
            "Start: 0 Start: 1\nSets: deadlock\nAcceptance: 1 f",
            "State: [!0] 0 {0} [0] 1 State: [0] 1 [0] 0",
        ),
        (
            "extended",
            "Start: 0 Start: 1\nSets: deadlock\nAcceptance: 1 f",
            "State: [!0] 0 {0} 0 1 State: [0] 1 0 1",
        ),
    ];
    for (kind, sets, body) in own {
        let file = claim(kind, sets, body);
        let finished = run(&format!("check {stops_lit} --claim {file} --json"));
        let violated = finished.result();
        assert_eq!(
            (finished.code, &violated["counterexample"]["kind"]),
            (1, &"deadlock".into()),
            "{violated}"
        );
        assert_eq!(reason(&violated), "it accepts that the run ends");
        let finished = run(&format!("check {blinks} --claim {file} --json"));
        assert_eq!((finished.code, reason(&finished.result())), (0, ""), "{}", finished.stdout);
        for options in ["--observer tgba", "--observer lazy-ta", "--observer ba --search nested"] {
            let finished = run(&format!("check {stops_lit} --claim {file} --json {options}"));
            let message = finished.json()["errors"][0]["message"].to_string();
            assert!(finished.code == 2 && message.contains("deadlock states"), "{kind} {options}: {message}");
        }
    }
}

/// [holzmann.96.closure]: the closure is checked with reduction, and what that finds is asked whether it is a
/// violation.
#[test]
fn claims_that_see_stuttering_are_checked_through_their_closure() {
    let scratch = Scratch::new();
    let clock = "process Clock { at[k in 0..3]: tick -> at[k + 1] when k < 2; }";
    let lamp = "process Lamp { off: on -> lit; lit: out -> off; }";
    let alone = scratch.file("alone.proc", lamp);
    let both = scratch.file("both.proc", format!("{lamp} {clock}"));
    let translate = |name: &str, formula: &str| scratch.file(name, run_with(["translate", formula]).stdout);
    let twice = translate("twice.hoa", "F (\"Lamp@lit\" & X \"Lamp@lit\")");
    let at_first = translate("at_first.hoa", "\"Lamp@lit\" & X \"Lamp@lit\"");
    let not_closed = "it is not closed under stuttering: checked again without reduction";
    for (model, claim, code, told, reduces) in [
        // The closure accepts no run at all.
        (&both, &at_first, 0, "", true),
        // The lamp alone is never lit for two states, but the closure cannot know that.
        (&alone, &twice, 0, not_closed, false),
    ] {
        let finished =
            run(&format!("check {model} --claim {claim} --reduce closure --explain-choice --json"));
        let result = finished.result();
        assert_eq!((finished.code, reason(&result)), (code, told), "{result}");
        assert_eq!(result["method"]["reduction"] != "none", reduces, "{result}");
        let finished = run(&format!("check {model} --claim {claim} --reduce closure --verify-reduction"));
        assert_eq!(finished.code, code, "{}", finished.stdout);
    }
    // With a clock beside it the lamp is. Whether the first run found shows that or not, the answer is
    // definite.
    for options in
        ["", "--observer ta", "--observer tgta", "--observer tgba", "--order dfs", "--successors reverse"]
    {
        let finished = run(&format!("check {both} --claim {twice} --reduce closure --json {options}"));
        assert_eq!(finished.code, 1, "{options}: {}{}", finished.stdout, finished.stderr);
    }
    let finished = run(&format!("check {both} --claim {twice} --reduce stubborn --json"));
    finished.refusal("reduction of a claim that sees stuttering");
}

/// Processes and variables may be called like operators; where that cannot be told apart, the message has the place and
/// what to do.
#[test]
fn names_that_operators_have() {
    let scratch = Scratch::new();
    let network = "process W { idle: enter -> crit; crit: leave -> idle; }
                   process X[i in 0..2] { a: go[i] -> b; b: back[i] -> a; }";
    let model =
        scratch.file("names.proc", format!("{network}\nltl own = [] (W@crit -> X (W@crit || W@idle));"));
    assert_eq!(run(&format!("check {model}")).code, 0);
    for (formula, code) in [
        ("[] (W@idle || W@crit)", 0),
        ("[] W@idle", 1),
        ("<> X[1]@b", 1),
        ("W@idle W W@crit", 0),
        ("[] !(X[0]@a U W@crit)", 1),
        ("[] \"W@idle\"", 1),
    ] {
        let finished = run_ltl("check", &model, formula, "");
        assert_eq!(finished.code, code, "{formula}: {}{}", finished.stdout, finished.stderr);
    }
    let program = "byte W; active proctype P() { do :: W = 1 - W od }";
    let model = scratch.file("names.pml", format!("{program}\nltl own {{ [] (W < 2) && []<> (W == 1) }}"));
    assert_eq!(run(&format!("check {model}")).code, 0);
    assert_eq!(run_ltl("check", &model, "[] (W)", "").code, 1, "in Promela it can only be the variable");
    let broken = scratch.file("broken.proc", format!("{network}\nltl own = [] (W);"));
    let messages = [
        run(&format!("check {broken}")),
        run_ltl("check", "models/dining.proc", "[] (W)", ""),
        run_ltl("explore", "models/dining.proc", "[] (W)", ""),
        run_with(["translate", "[] (W)"]),
    ];
    for message in messages {
        let text = &message.stderr;
        assert_eq!(message.code, 2, "{text}");
        assert!(text.contains("`W` is an operator") && text.contains("in double quotes"), "{text}");
        assert!(
            text.contains("[] (W)") && text.contains("^ expected a formula here"),
            "the place is shown: {text}"
        );
    }
}
