//! Petri nets: all commands know them, places grow as they need to, and the contest gets its answers.

use std::path::Path;
use std::{env, fs};

use crate::{Finished, Scratch, pnml, run, run_ltl};

/// Tokens go to and fro between two places. At random, few of them ever get away: the places have too
/// little room at first.
fn to_and_fro() -> String {
    pnml(
        &[("here", 0), ("there", 2000)],
        &["come", "go"],
        &[("there", "come", 1), ("come", "here", 1), ("here", "go", 1), ("go", "there", 1)],
    )
}

/// A place that grows for ever.
fn endless() -> String {
    pnml(&[("p", 0)], &["t"], &[("t", "p", 1)])
}

/// A formula file of the contest.
fn property_set(properties: &[(&str, &str)]) -> String {
    let property = |(id, formula): &(&str, &str)| {
        format!("<property><id>{id}</id><formula>{formula}</formula></property>\n")
    };
    let all: String = properties.iter().map(property).collect();
    format!("<property-set xmlns=\"http://mcc.lip6.fr/\">\n{all}</property-set>\n")
}

fn at_most(place: &str, bound: u64) -> String {
    let tokens = format!("<tokens-count><place>{place}</place></tokens-count>");
    format!("<integer-le>{tokens}<integer-constant>{bound}</integer-constant></integer-le>")
}

#[test]
fn all_commands_know_nets() {
    let scratch = Scratch::new();
    // A file that begins like XML is a net, whatever it is called.
    for name in ["net.pnml", "net.xml", "net"] {
        let file = scratch.file(name, to_and_fro());
        let explored = run(&format!("explore {file} --json")).json();
        assert_eq!(explored["model"]["language"], "petri");
        assert_eq!((&explored["states"], &explored["transitions"]), (&2001.into(), &4000.into()));
    }
    let file = scratch.file("small.pnml", pnml(&[("p", 2)], &["t"], &[("p", "t", 1)]));
    let walked = run(&format!("simulate {file} --random --seed 1 --json")).json();
    assert_eq!((&walked["end"], walked["steps"].as_array().unwrap().len()), (&"deadlock".into(), 3));
    let checked = run(&format!("check {file}"));
    assert_eq!(checked.code, 1);
    assert!(checked.stdout.contains("deadlock-free: VIOLATED"), "{}", checked.stdout);
    assert_eq!(run_ltl("check", &file, "<> deadlock && [] p <= 2", "").code, 0);
    assert_eq!(run_ltl("check", &file, "[] fireable(t)", "--fair weak --shortest").code, 1);
    assert_eq!(run_ltl("explore", &file, "[] p >= 1", "").code, 0);
    let claim = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"p == 0\"\nAcceptance: 1 Inf(0)\n--BODY--\n\
                 State: 0 {0}\n[!0] 0\n--END--\n";
    let claim = scratch.file("claim.hoa", claim);
    assert_eq!(run(&format!("check {file} --claim {claim}")).code, 0);
}

#[test]
fn places_grow_as_they_need_to() {
    let scratch = Scratch::new();
    let file = scratch.file("net.pnml", to_and_fro());
    let reductions = ["", "--reduce none", "--verify-reduction", "--observer tgba", "--observer ba"];
    for arguments in reductions {
        for (formula, code) in [
            ("[] here <= 2000", 0),
            ("[] here <= 1999", 1),
            ("<> here >= 1", 0),
            ("<> here >= 2000", 1),
            ("[] (here == 1500 -> <> here == 1499)", 1),
        ] {
            let checked = run_ltl("check", &file, formula, arguments);
            assert_eq!(checked.code, code, "{formula} {arguments}: {}", checked.stdout);
            assert!(!checked.stdout.contains("ANOTHER"), "{formula} {arguments}");
        }
    }
    let file = scratch.file("endless.pnml", endless());
    let explored = run(&format!("explore {file} --max-states 50000"));
    assert!(explored.code == 3 && explored.stdout.starts_with(&file), "{}", explored.stdout);
    assert!(explored.stdout.contains("50 001 states"), "{}", explored.stdout);
    for (formula, arguments, code) in [
        ("[] p <= 7000", "", 1),
        ("[] p <= 7000", "--reduce none", 1),
        ("<> p == 7000", "", 0),
        ("<> [] p <= 7000", "--max-states 20000", 3),
    ] {
        let checked = run_ltl("check", &file, formula, arguments);
        assert_eq!(checked.code, code, "{formula} {arguments}: {}", checked.stdout);
    }
}

/// Where every continuation is bad, the run is shown as far as that is so, whether it could come back or not.
#[test]
fn bad_prefixes_are_shown_and_not_continued() {
    let scratch = Scratch::new();
    let arcs = [("p", "t", 1), ("t", "p", 1), ("t", "q", 1), ("q", "u", 70), ("u", "q", 3)];
    let endless = scratch.file("endless.pnml", pnml(&[("p", 1), ("q", 0)], &["t", "u"], &arcs));
    let finished = run_ltl("check", &endless, "[] (q < 3)", "--timeout 20s --max-memory 50M --json");
    let result = finished.result();
    assert_eq!((finished.code, &result["counterexample"]["kind"]), (1, &"prefix".into()), "{result}");
    let bounded =
        scratch.file("bounded.pnml", pnml(&[("p", 300), ("q", 0)], &["t"], &[("p", "t", 1), ("t", "q", 1)]));
    let finished = run_ltl("check", &bounded, "[] (q < 2)", "--structural none --json");
    let result = finished.result();
    assert_eq!((finished.code, &result["counterexample"]["kind"]), (1, &"prefix".into()), "{result}");
}

#[test]
fn formula_files_of_the_contest_are_checked() {
    let scratch = Scratch::new();
    let net = scratch.file("model.pnml", to_and_fro());
    let invariant = |bound| format!("<all-paths><globally>{}</globally></all-paths>", at_most("here", bound));
    let possible =
        |bound| format!("<exists-path><finally>{}</finally></exists-path>", at_most("there", bound));
    let deadlock = "<exists-path><finally><negation><is-fireable><transition>come</transition>\
                    <transition>go</transition></is-fireable></negation></finally></exists-path>";
    let next = format!("<all-paths><next>{}</next></all-paths>", at_most("there", 1999));
    let branching = format!("<exists-path><next>{}</next></exists-path>", at_most("there", 1999));
    let bound = "<place-bound><place>here</place></place-bound>";
    let formulas = property_set(&[
        ("net-00", &invariant(1999)),
        ("net-01", &invariant(2000)),
        ("net-02", &possible(0)),
        ("net-03", deadlock),
        ("net-04", &next),
        ("net-05", &branching),
        ("net-06", bound),
    ]);
    let file = scratch.file("UpperBounds.xml", &formulas);
    let checked = run(&format!("check {net} --mcc {file} --json"));
    assert_eq!(checked.code, 1);
    let document = checked.json();
    let results = document["results"].as_array().unwrap();
    let verdicts: Vec<&str> = results.iter().map(|result| result["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["violated", "holds", "holds", "violated", "holds", "unknown", "holds"]);
    assert_eq!(results[6]["reason"], "the maximum is 2000");
    assert_eq!(results[2]["counterexample"]["prefix"].as_array().unwrap().len(), 2001);
    assert_eq!(run(&format!("check {net} --mcc {file} --only 1,net-02,06")).code, 0);
    assert_eq!(run(&format!("check {net} --mcc {file} --only 7")).code, 2);
    assert_eq!(run(&format!("check models/dining.proc --mcc {file}")).code, 2);

    let folder = scratch.0.path().display();
    let answers = run(&format!("mcc {folder} UpperBounds"));
    assert_eq!(answers.code, 3);
    let found: Vec<(&str, &str)> = answers.stdout.lines().map(answer).collect();
    for expected in [
        ("net-00", "FALSE"),
        ("net-01", "TRUE"),
        ("net-02", "TRUE"),
        ("net-03", "FALSE"),
        ("net-04", "TRUE"),
        ("net-05", "CANNOT_COMPUTE"),
        ("net-06", "2000"),
    ] {
        assert!(found.contains(&expected), "{}", answers.stdout);
    }
    for (examination, expected) in [
        ("OneSafe", "FALSE"),
        ("StableMarking", "FALSE"),
        ("QuasiLiveness", "TRUE"),
        ("Liveness", "TRUE"),
        ("ReachabilityDeadlock", "FALSE"),
    ] {
        let answers = run(&format!("mcc {folder} {examination} --timeout 60"));
        assert_eq!((answers.code, answer(&answers.stdout)), (0, (examination, expected)));
    }
    let answers = run(&format!("mcc {folder} CTLFireability"));
    assert_eq!((answers.code, answers.stdout.as_str()), (3, "DO_NOT_COMPETE\n"));
}

#[test]
fn nothing_is_concluded_from_the_room_that_was_guessed() {
    // At random, a place that is emptied in so many ways never gets the tokens that `t` needs: the room that is
    // guessed for it is less, and in no marking that fits does anything make `t` enabled.
    let scratch = Scratch::new();
    let drains: Vec<String> = (0..12).map(|number| format!("drain{number}")).collect();
    let mut transitions = vec!["fill", "t"];
    transitions.extend(drains.iter().map(String::as_str));
    let mut arcs = vec![("fill", "p", 1), ("p", "t", 9)];
    arcs.extend(drains.iter().map(|drain| ("p", drain.as_str(), 1)));
    let file = scratch.file("model.pnml", pnml(&[("p", 0)], &transitions, &arcs));
    let folder = scratch.0.path().display();
    for rules in ["none", "dead-transitions"] {
        let answers = run(&format!("mcc {folder} QuasiLiveness --structural {rules} --timeout 60"));
        assert_eq!((answers.code, answer(&answers.stdout)), (0, ("QuasiLiveness", "TRUE")), "{rules}");
        assert!(!answers.stdout.contains("STRUCTURAL_REDUCTION"), "nothing was reduced: {}", answers.stdout);
    }
    for reduction in ["none", "stubborn"] {
        let found =
            run_ltl("check", &file, "[] !fireable(t)", &format!("--structural none --reduce {reduction}"));
        assert_eq!(found.code, 1, "{reduction}: {}", found.stdout);
    }
}

#[test]
fn what_cannot_be_computed_is_said() {
    let scratch = Scratch::new();
    scratch.file("model.pnml", endless());
    let folder = scratch.0.path().display();
    let answers = run(&format!("mcc {folder} StateSpace --max-memory 1M"));
    assert_eq!((answers.code, answers.stdout.as_str()), (3, "CANNOT_COMPUTE\n"));
    // Both places grow. Of the first net its siphons tell that it is live; the choice of the second is not asymmetric, but it
    // can always come home. What has a place more, whose tokens stay, cannot.
    let growing = [("t", "p", 1), ("p", "u", 1), ("u", "q", 1)];
    scratch.file("model.pnml", pnml(&[("p", 0), ("q", 0)], &["t", "u"], &growing));
    let answers = run(&format!("mcc {folder} Liveness"));
    assert_eq!(answer(&answers.stdout), ("Liveness", "TRUE"));
    let growing = [("t", "p", 1), ("s", "q", 1), ("p", "a", 1), ("p", "b", 1), ("q", "b", 1), ("q", "c", 1)];
    scratch.file("model.pnml", pnml(&[("p", 0), ("q", 0)], &["t", "s", "a", "b", "c"], &growing));
    let answers = run(&format!("mcc {folder} Liveness"));
    assert_eq!(answer(&answers.stdout), ("Liveness", "TRUE"));
    let staying = [("t", "z", 1), ("z", "d", 2), ("p", "d", 1), ("q", "d", 1), ("d", "z", 3)];
    let places = [("p", 0), ("q", 0), ("z", 0)];
    scratch.file(
        "model.pnml",
        pnml(&places, &["t", "s", "a", "b", "c", "d"], &[&growing[..], &staying].concat()),
    );
    let answers = run(&format!("mcc {folder} Liveness --timeout 200ms"));
    assert_eq!((answers.code, answers.stdout.as_str()), (3, "FORMULA Liveness CANNOT_COMPUTE\n"));
    let answers = run(&format!("mcc {folder} OneSafe"));
    assert_eq!(answer(&answers.stdout), ("OneSafe", "FALSE"));
}

#[test]
fn bad_nets_and_questions_are_refused() {
    let scratch = Scratch::new();
    let good = to_and_fro();
    let refused = |finished: Finished, code: &str| {
        assert_eq!(finished.code, 2, "{code}: {}", finished.stdout);
        assert!(finished.stderr.contains(&format!("error[{code}]")), "{}", finished.stderr);
    };
    for (name, text) in [
        ("empty", String::new()),
        ("words", "a net, with places and arcs".to_owned()),
        ("nothing", "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"/>".to_owned()),
        ("nowhere", good.replace("target=\"here\"", "target=\"hare\"")),
        ("negative", good.replace("<text>2000<", "<text>-1<")),
        ("large", good.replace("<text>2000<", "<text>99999999999999999999<")),
        ("cut", good[..good.len() / 2].to_owned()),
    ] {
        let file = scratch.file(&format!("{name}.pnml"), text);
        for command in ["explore", "simulate --random", "check"] {
            let finished = run(&format!("{command} {file}"));
            assert_eq!(finished.code, 2, "{command} {name}: {}", finished.stdout);
            assert!(finished.stderr.starts_with("error["), "{name}: {}", finished.stderr);
        }
    }
    let net = scratch.file("model.pnml", &good);
    refused(run(&format!("check {net} -D N=3")), "unknown-constant");
    refused(run(&format!("check {net} --property fed")), "unknown-property");
    refused(run_ltl("check", &net, "[] fireable(coem)", ""), "unknown-transition");
    let formulas = property_set(&[("a-0", &format!("<all-paths>{}</all-paths>", at_most("hare", 1)))]);
    let formulas = scratch.file("LTLCardinality.xml", formulas);
    let folder = scratch.0.path().display();
    refused(run(&format!("check {net} --mcc {formulas}")), "unknown-place");
    refused(run(&format!("mcc {folder} LTLCardinality")), "unknown-place");
    refused(run(&format!("mcc {folder} LTLFireability")), "cannot-read");
    refused(run(&format!("mcc {folder} LTLCardinalty")), "unknown-examination");
    refused(run(&format!("mcc {folder}/nowhere StateSpace")), "cannot-read");
}

/// A chain of places that can be merged, and a choice at its end.
fn chain() -> String {
    pnml(
        &[("p0", 1), ("p1", 0), ("p2", 0), ("p3", 0), ("p4", 0), ("p5", 0)],
        &["t0", "t1", "t2", "t3", "t4", "t5"],
        &[
            ("p0", "t0", 1),
            ("t0", "p1", 1),
            ("p1", "t1", 1),
            ("t1", "p2", 1),
            ("p2", "t2", 1),
            ("t2", "p3", 1),
            ("p3", "t3", 1),
            ("t3", "p4", 1),
            ("p3", "t4", 1),
            ("t4", "p5", 1),
            ("p4", "t5", 1),
            ("t5", "p0", 1),
        ],
    )
}

#[test]
fn simpler_nets_give_the_same_verdicts_and_runs_of_the_original() {
    let scratch = Scratch::new();
    let file = scratch.file("chain.pnml", chain());
    for formula in
        ["[] <> p4 == 1", "<> p5 == 1", "[] (p4 == 1 -> <> p0 == 1)", "[] p5 == 0", "<> [] deadlock"]
    {
        let plain = run_ltl("check", &file, formula, "--structural none --json");
        let simpler = run_ltl("check", &file, formula, "--json");
        assert_eq!(plain.code, simpler.code, "{formula}");
        // What is shown was replayed on the original net: its steps are single transitions.
        let document = simpler.json();
        let trace = &document["results"][0]["counterexample"];
        for step in ["prefix", "cycle"].iter().filter_map(|part| trace[part].as_array()).flatten() {
            assert!(!step["action"].as_str().unwrap_or("").contains('.'), "{formula}: {step}");
        }
    }
    let explained = run_ltl("check", &file, "<> p5 == 1", "--explain-choice");
    assert!(explained.stdout.contains("2 places and 2 transitions instead of 6 and 6, by free-cycles"));
    let explained = run_ltl("check", &file, "<> p5 == 1", "--explain-choice --structural all,-free-cycles");
    assert!(explained.stdout.contains("agglomeration") && !explained.stdout.contains("free-cycles"));
    for arguments in ["--reduce stubborn", "--reduce stubborn --structural none"] {
        assert_eq!(run(&format!("check {file} --deadlock-free {arguments}")).code, 1);
    }
    let wrong = run_ltl("check", &file, "<> p5 == 1", "--structural agglomeration");
    assert!(wrong.code == 2 && wrong.stderr.contains("there is no rule"), "{}", wrong.stderr);
}

/// Some of the contest's nets, if they are there: every answer must be the known one.
#[test]
#[allow(clippy::print_stderr)] // Whoever looks should know what was not tested.
fn answers_for_the_contest_are_right() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mcc");
    if !corpus.is_dir() {
        eprintln!("skipped: there is no {}", corpus.display());
        return;
    }
    let mut n_answers = 0;
    for net in ["ResAllocation-PT-R005C002", "FMS-PT-00002", "PhaseVariation-PT-D02CS010"] {
        let folder = corpus.join(net);
        let expected = fs::read_to_string(folder.join("expected.csv")).unwrap();
        for examination in [
            "StateSpace",
            "OneSafe",
            "StableMarking",
            "QuasiLiveness",
            "Liveness",
            "ReachabilityDeadlock",
            "UpperBounds",
            "ReachabilityCardinality",
            "ReachabilityFireability",
            "LTLCardinality",
            "LTLFireability",
        ] {
            n_answers += compare(&folder, examination, &expected);
        }
    }
    assert!(n_answers > 240, "{n_answers}");
}

/// Compares all answers of an examination; returns how many there were.
fn compare(folder: &Path, examination: &str, expected: &str) -> usize {
    let answers = run(&format!("mcc {} {examination} --timeout 60", folder.display()));
    assert_eq!(answers.code, 0, "{}{}", answers.stdout, answers.stderr);
    let found: Vec<(&str, &str)> = answers.stdout.lines().map(answer).collect();
    let mut n_answers = 0;
    for line in expected.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[0] == examination && fields[2] != "?" {
            let known = match fields[2] {
                "T" => "TRUE",
                "F" => "FALSE",
                figure => figure,
            };
            assert!(found.contains(&(fields[1], known)), "{line}\n{}", answers.stdout);
            n_answers += 1;
        }
    }
    n_answers
}

/// What an output line is about, and what it says.
fn answer(line: &str) -> (&str, &str) {
    let mut words = line.split_whitespace().skip(1);
    (words.next().unwrap_or(""), words.next().unwrap_or(""))
}

/// Formulas that are not decided in the first round are asked again, about another copy of the net.
#[test]
fn later_rounds_ask_the_same_questions() {
    let scratch = Scratch::new();
    let arcs = [
        ("a", "t", 1),
        ("t", "b", 1),
        ("b", "u", 1),
        ("u", "a", 1),
        ("c", "v", 1),
        ("v", "d", 1),
        ("d", "w", 1),
        ("w", "c", 1),
    ];
    // 151 times 151 markings are more than the first round looks at.
    let net = pnml(&[("a", 150), ("b", 0), ("c", 150), ("d", 0)], &["t", "u", "v", "w"], &arcs);
    scratch.file("model.pnml", net);
    // A step moves one token, so there are two of these at most that are not so.
    let next = |place: &str, before, after| {
        let (now, then) = (at_most(place, before), at_most(place, after));
        let implies = format!("<disjunction><negation>{now}</negation><next>{then}</next></disjunction>");
        format!("<all-paths><globally>{implies}</globally></all-paths>")
    };
    let properties = [
        ("net-00", next("a", 5, 6)),
        ("net-01", next("c", 7, 8)),
        ("net-02", next("a", 5, 5)),
        ("net-03", next("d", 9, 10)),
        ("net-04", next("d", 9, 9)),
        ("net-05", next("b", 3, 4)),
    ];
    let properties: Vec<(&str, &str)> = properties.iter().map(|(id, text)| (*id, text.as_str())).collect();
    scratch.file("LTLCardinality.xml", property_set(&properties));
    let folder = scratch.0.path().display();
    for threads in [1, 2, 3] {
        let answers = run(&format!("mcc {folder} LTLCardinality -t {threads}"));
        assert_eq!(answers.code, 0, "{}", answers.stderr);
        let mut found: Vec<(&str, &str)> = answers.stdout.lines().map(answer).collect();
        found.sort_unstable();
        let verdicts: Vec<&str> = found.iter().map(|(_, verdict)| *verdict).collect();
        assert_eq!(verdicts, ["TRUE", "TRUE", "FALSE", "TRUE", "FALSE", "TRUE"], "{threads} threads");
    }
}
