//! The JSON documents: their fields are promised by the `schema` number.

use serde_json::Value;

use crate::{Scratch, run};

/// What `explore` tells.
pub(crate) const EXPLORED: [&str; 11] = [
    "schema",
    "model",
    "complete",
    "reason",
    "states",
    "transitions",
    "deadlocks",
    "depth",
    "seconds",
    "peak_bytes",
    "state_bytes",
];

/// The names of an object's fields, in order.
fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("not an object: {value}")).keys().map(String::as_str).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn result<'v>(document: &'v Value, property: &str) -> &'v Value {
    let found = list(&document["results"]).iter().find(|result| result["property"] == property);
    found.unwrap_or_else(|| panic!("no {property} in {document}"))
}

fn assert_model(model: &Value, file: &str) {
    assert_eq!(fields(model), ["file", "language", "processes", "actions", "state_bytes"]);
    assert_eq!((&model["file"], &model["language"]), (&file.into(), &"process".into()));
    assert!(model["processes"].is_u64() && model["actions"].is_u64() && model["state_bytes"].is_u64());
}

#[test]
fn check_says_how_each_property_was_decided() {
    let finished = run("check models/dining.proc -D N=3 --json");
    assert_eq!((finished.code, finished.stderr.as_str()), (1, ""));
    let document = finished.json();
    assert_eq!(fields(&document), ["schema", "model", "results", "unreached"]);
    assert_eq!(document["unreached"], serde_json::json!([]));
    assert_eq!(document["schema"], 1);
    assert_model(&document["model"], "models/dining.proc");
    assert_eq!(document["model"]["processes"], 6);
    for result in list(&document["results"]) {
        assert_eq!(fields(result), ["property", "verdict", "reason", "method", "stats", "counterexample"]);
        let stats = &result["stats"];
        let expected =
            ["states", "transitions", "system_states", "observer_states", "depth", "seconds", "peak_bytes"];
        assert_eq!(fields(stats), expected);
        assert!(expected.iter().all(|name| stats[*name].is_number() || *name == "system_states"), "{stats}");
    }

    let holds = result(&document, "half_of_them_eat_at_most");
    assert_eq!((&holds["verdict"], &holds["reason"]), (&"holds".into(), &Value::Null));
    assert_eq!(holds["counterexample"], Value::Null);
    assert_eq!(fields(&holds["method"]), ["observer", "search", "reduction", "fairness", "store"]);
    assert_eq!(holds["method"]["search"], "mixed");
    assert_eq!(holds["stats"]["states"], 26);
    assert_eq!(holds["stats"]["system_states"], 26);

    let violated = result(&document, "deadlock-free");
    assert_eq!(violated["verdict"], "violated");
    let run = &violated["counterexample"];
    assert_eq!(fields(run), ["kind", "prefix", "cycle"]);
    assert_eq!(run["kind"], "deadlock");
    let steps = list(&run["prefix"]);
    assert_eq!((steps.len(), list(&run["cycle"]).len()), (4, 0));
    assert!(steps.iter().all(|step| fields(step) == ["action", "process", "state"]));
    assert_eq!((&steps[0]["action"], &steps[0]["process"]), (&Value::Null, &Value::Null));
    assert_eq!(steps[1]["action"], "take_left[0]");
    assert_eq!(steps[1]["process"], "Fork[0], Phil[0]");
    assert_eq!(fields(&steps[0]["state"]).len(), 6, "one entry for each process");
    assert_eq!(steps[3]["state"]["Phil[2]"], "left");
}

#[test]
fn every_kind_of_evidence_has_its_shape() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "kinds.proc",
        "process P { idle: ask -> busy; busy: tau -> busy | answer -> idle | crash -> dead; dead: ; }
         invariant alive = !P@dead;
         tester Trace   { watch crash; s: crash -> t; t: ; reject t; }
         tester Failure { watch ask, answer; s: ask -> t; t: answer -> s; deadlock t; }
         tester Hangs   { watch ask, answer; s: ask -> t; t: answer -> s; livelock t; }
         tester Endless { watch answer; s: answer -> s; infinite s; }
         spec Service   { s: ask -> t; t: answer -> s; }
         spec Anything  { watch ask; s: ask -> s | tau -> t; t: tau -> t | tau -> end; end: ; }",
    );
    let document = run(&format!("check {file} --json")).json();
    let kinds = [
        ("alive", "prefix", None),
        ("Trace", "prefix", Some("illegal trace")),
        ("Failure", "deadlock", Some("illegal stable failure")),
        ("Hangs", "lasso", Some("illegal divergence")),
        ("Endless", "lasso", Some("illegal infinite trace")),
    ];
    for (name, kind, reason) in kinds {
        let result = result(&document, name);
        assert_eq!(result["verdict"], "violated", "{name}");
        assert_eq!(result["counterexample"]["kind"], kind, "{name}");
        assert_eq!(list(&result["counterexample"]["cycle"]).is_empty(), kind != "lasso", "{name}");
        match reason {
            Some(reason) => assert!(result["reason"].as_str().is_some_and(|text| text.contains(reason))),
            None => assert_eq!(result["reason"], Value::Null),
        }
    }
    assert_eq!(result(&document, "Trace")["method"]["observer"], "tester");
    assert_eq!(result(&document, "Trace")["method"]["reduction"], "stubborn");
    assert_eq!(result(&document, "Endless")["method"]["search"], "one-pass+nested");
    assert_eq!(result(&document, "Service")["verdict"], "violated");
    assert_eq!(result(&document, "Anything")["verdict"], "holds");
    let cycle = list(&result(&document, "Hangs")["counterexample"]["cycle"]);
    assert!(cycle.iter().all(|step| step["action"] == "tau" && step["state"]["P"] == "busy"));
}

#[test]
fn a_verified_reduction_is_reported() {
    let arguments = "check models/counters.proc --json --reduce stubborn --verify-reduction";
    let document = run(arguments).json();
    for result in list(&document["results"]) {
        assert_eq!(result["verdict"], "holds");
        let check = &result["reduction_check"];
        assert_eq!(fields(check), ["full_states", "reduced_states", "agrees"]);
        assert_eq!((&check["full_states"], &check["agrees"]), (&4096.into(), &true.into()));
        assert!(check["reduced_states"].as_u64() < Some(4096), "{result}");
    }
}

#[test]
fn explore_counts() {
    let finished = run("explore models/dining.proc -D N=7 --json");
    assert_eq!(finished.code, 0);
    let document = finished.json();
    assert_eq!(fields(&document), EXPLORED);
    assert_model(&document["model"], "models/dining.proc");
    let counts = ["states", "deadlocks"].map(|name| document[name].as_u64());
    assert_eq!(counts, [Some(2186), Some(1)]);
    assert_eq!((&document["complete"], &document["reason"]), (&true.into(), &Value::Null));
}

#[test]
fn the_figures_of_the_paper_are_met() {
    let document = run("explore models/dining.proc --json").json();
    assert_eq!([&document["states"], &document["deadlocks"]], [59_048, 1]);
}

#[test]
fn simulate_tells_the_run() {
    let document = run("simulate models/dining.proc -D N=2 --random --seed 7 --length 50 --json").json();
    assert_eq!(fields(&document), ["schema", "model", "seed", "end", "steps"]);
    assert_model(&document["model"], "models/dining.proc");
    assert_eq!((&document["seed"], &document["end"]), (&7.into(), &"deadlock".into()));
    assert!(list(&document["steps"]).iter().all(|step| fields(step) == ["action", "process", "state"]));
}

#[test]
fn errors_are_told_as_json_too() {
    let scratch = Scratch::new();
    let file = scratch.file("typo.proc", "process P {\n    s: a -> tt;\n    t: b -> s;\n}\n");
    for command in ["check", "explore", "simulate"] {
        let finished = run(&format!("{command} {file} --json"));
        assert_eq!(finished.code, 2);
        assert!(finished.stderr.contains("error[unknown-state]"), "people are told on stderr");
        let document = finished.json();
        assert_eq!(fields(&document), ["schema", "errors"]);
        let errors = list(&document["errors"]);
        assert_eq!(errors.len(), 1);
        assert_eq!(fields(&errors[0]), ["severity", "code", "message", "file", "line", "column", "help"]);
        assert_eq!((&errors[0]["severity"], &errors[0]["code"]), (&"error".into(), &"unknown-state".into()));
        assert_eq!((&errors[0]["line"], &errors[0]["column"]), (&2.into(), &13.into()));
        assert_eq!(errors[0]["file"], file.as_str());
    }
}

#[test]
fn warnings_do_not_disturb_the_document() {
    let scratch = Scratch::new();
    let file = scratch.file("unused.proc", "const N = 3; process P { s: a -> s; }");
    let finished = run(&format!("check {file} --json"));
    assert_eq!(finished.code, 0);
    assert!(finished.stderr.contains("warning[unused-constant]"));
    assert_eq!(list(&finished.json()["results"]).len(), 1);
}
