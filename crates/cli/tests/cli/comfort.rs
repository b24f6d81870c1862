//! What makes every day easier: models to start from, completions, manual pages, formats of services.

use std::fs;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

use crate::{run, run_with, stubborn};

/// The model in Rust that `init` writes, which is a test.
#[path = "../../init/model.rs"]
mod start_in_rust;

/// Every model to start from can be checked, and all is well; and none is overwritten.
#[test]
fn models_to_start_from_hold() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for name in ["model.proc", "model.pml", "model.pnml", "model.rs"] {
        let language = match name {
            "model.pml" => "promela",
            "model.pnml" => "petri",
            "model.rs" => "rust",
            _ => "process",
        };
        let init = || stubborn().current_dir(folder.path()).args(["init", "--language", language]).output();
        assert!(init().expect("it runs").status.success(), "{name}");
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, text.clone() + "\n").expect("it can be written");
        let again = init().expect("it runs");
        assert_eq!(again.status.code(), Some(2), "nothing is overwritten");
        assert!(String::from_utf8_lossy(&again.stderr).contains("is not overwritten"));
        assert_eq!(fs::read_to_string(&path).expect("it is there"), text + "\n");
        if language != "rust" {
            let path = path.display().to_string();
            let checked = run_with(["check", &path, "--timeout", "60"]);
            assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{}", checked.stdout);
            assert!(!checked.stdout.contains("never executed"), "{}", checked.stdout);
        }
    }
    // The language is known by the name, too.
    let other = folder.path().join("other.pml").display().to_string();
    assert_eq!(run_with(["init", &other]).code, 0);
    assert_eq!(run_with(["check", &other]).code, 0);
    // A language stands for itself, and what was written is said.
    let named = tempfile::tempdir().expect("a folder can be made");
    for (language, name, kind) in
        [("promela", "model.pml", "in Promela"), ("petri", "model.pnml", "Petri net")]
    {
        let init = stubborn().current_dir(named.path()).args(["init", language]).output().expect("it runs");
        let told = String::from_utf8_lossy(&init.stdout).into_owned();
        assert!(init.status.success() && told.contains(name) && told.contains(kind), "{told}");
        assert!(named.path().join(name).exists() && !named.path().join(language).exists());
    }
    let init = ["init", "promela", "--language", "process"];
    let init = stubborn().current_dir(named.path()).args(init).output().expect("it runs");
    assert!(
        String::from_utf8_lossy(&init.stdout).contains("wrote promela, a process network"),
        "it was said"
    );
    let unknown = folder.path().join("other.tla").display().to_string();
    assert_eq!(run_with(["init", &unknown]).code, 2);
    assert!(!Path::new(&unknown).exists());
}

/// An agent is served until it says no more; what it can do is tested beside the server.
#[test]
fn an_agent_is_served() {
    let lines = [
        "this is no message",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check","arguments":{"model":{"path":"dining.proc","definitions":{"N":2}}}}}"#,
        "",
    ];
    let folder = tempfile::tempdir().expect("a folder can be made");
    let input = folder.path().join("input");
    fs::write(&input, lines.join("\n")).expect("it can be written");
    let input = fs::File::open(input).expect("it is there");
    let served = stubborn().args(["mcp", "--folder", "models"]).stdin(input).output().expect("it runs");
    assert!(served.status.success());
    let told: Vec<Value> = String::from_utf8_lossy(&served.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("nothing else is printed"))
        .collect();
    assert_eq!((&told[0]["id"], &told[1]["id"]), (&1.into(), &2.into()));
    assert_eq!(told[1]["result"]["structuredContent"]["verdict"], "violated", "{}", told[1]);
    assert_eq!(run("mcp --folder no/such/folder").code, 2);
}

#[test]
fn shells_and_manual_pages_know_all_commands() {
    let commands =
        ["check", "explain", "explore", "simulate", "draw", "translate", "init", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&format!("completions {shell}"));
        assert_eq!(script.code, 0);
        for word in commands {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
        assert!(script.stdout.contains("emit-test"), "{shell} knows options");
    }
    assert_eq!(run("completions cmd").code, 2);
    let folder = tempfile::tempdir().expect("a folder can be made");
    assert_eq!(run_with(["man", &folder.path().display().to_string()]).code, 0);
    for command in commands {
        let page = fs::read_to_string(folder.path().join(format!("stubborn-{command}.1")));
        assert!(page.expect("there is a page").contains(".SH NAME"), "{command}");
    }
    assert_eq!(run("man nowhere/at/all").code, 2);
}

/// What the schema of SARIF 2.1.0 requires of the parts that are used.
fn check_sarif(document: &Value) -> &Vec<Value> {
    assert_eq!(document["version"], "2.1.0");
    let runs = document["runs"].as_array().expect("there are runs");
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().expect("there are rules");
    let results = runs[0]["results"].as_array().expect("there are results");
    for result in results {
        let rule = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let (kind, level) = (result["kind"].as_str(), result["level"].as_str());
        assert!(matches!(
            (kind, level),
            (Some("fail"), Some("error" | "warning")) | (Some("pass" | "open"), Some("none"))
        ));
        for place in result["locations"].as_array().expect("a list") {
            let place = &place["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].is_string());
            for bound in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(place["region"][bound].as_u64() >= Some(1), "{place}");
            }
        }
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            let steps = flow["threadFlows"][0]["locations"].as_array().expect("at least one is required");
            assert!(!steps.is_empty());
            assert!(steps.iter().all(|step| step["location"]["message"]["text"].is_string()));
        }
    }
    results
}

#[test]
fn answers_as_sarif() {
    let finished = run("check models/dining.proc -D N=2 --format sarif");
    assert_eq!(finished.code, 1);
    let document = finished.json();
    let results = check_sarif(&document);
    let violated = results.iter().find(|result| result["kind"] == "fail").expect("there is a deadlock");
    assert_eq!(violated["ruleId"], "deadlock-free");
    let text = fs::read_to_string("../../models/dining.proc").expect("it is there");
    let line = text.lines().position(|line| line.starts_with("deadlock-free")).expect("it is declared") + 1;
    assert_eq!(violated["locations"][0]["physicalLocation"]["region"]["startLine"], line);
    assert_eq!(violated["codeFlows"][0]["threadFlows"][0]["locations"].as_array().map(Vec::len), Some(3));
    // Statements have places.
    let finished = run("check models/peterson.pml -D BROKEN=1 --property assertions --format sarif");
    let document = finished.json();
    let results = check_sarif(&document);
    let step = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"][1]["location"];
    assert_eq!(step["physicalLocation"]["artifactLocation"]["uri"], "models/peterson.pml");
    // Limits and bad input are told, too.
    let unknown = run("check models/dining.proc -D N=12 --max-states 10 --format sarif");
    assert_eq!((unknown.code, &check_sarif(&unknown.json())[0]["kind"]), (3, &"open".into()));
    for (arguments, code) in
        [("models/missing.proc", "cannot-read"), ("models/dining.proc -D M=1", "unknown-constant")]
    {
        let wrong = run(&format!("check {arguments} --format sarif"));
        let document = wrong.json();
        assert_eq!((wrong.code, &check_sarif(&document)[0]["ruleId"]), (2, &code.into()));
        assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], false);
    }
}

/// The names and the attributes of the elements, in order; the document is well formed.
fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut found = Vec::new();
    loop {
        match reader.read_event().expect("it is well formed") {
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name().as_ref().to_owned();
                let attributes = element.attributes().map(|attribute| {
                    let attribute = attribute.expect("it is well formed");
                    let key = attribute.key.as_ref().to_owned();
                    (key, attribute.value.into_owned())
                });
                found.push((name, attributes.collect()));
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

#[test]
fn answers_as_junit() {
    let attribute = |element: &(String, Vec<(String, String)>), name: &str| {
        element.1.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let finished = run(
        "check models/dining.proc -D N=2 --property deadlock-free --property half_of_them_eat_at_most --format junit",
    );
    assert_eq!(finished.code, 1);
    let found = elements(&finished.stdout);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["testsuites", "testsuite"]);
    let suite = &found[1];
    let n_cases = names.iter().filter(|name| **name == "testcase").count();
    assert_eq!(attribute(suite, "tests"), n_cases.to_string());
    assert_eq!((attribute(suite, "failures"), attribute(suite, "errors")), ("1".into(), "0".into()));
    assert_eq!(names.iter().filter(|name| **name == "failure").count(), 1);
    assert!(finished.stdout.contains("a run of 2 steps to a deadlock"), "{}", finished.stdout);
    assert!(found.iter().any(|element| attribute(element, "name") == "deadlock-free"));
    // Names of properties may be anything.
    let formula = run_with([
        "check",
        "models/dining.proc",
        "--ltl",
        "[] (Phil[0]@eat -> <> !Phil[0]@eat)",
        "--format",
        "junit",
    ]);
    assert!(elements(&formula.stdout).iter().any(|element| attribute(element, "name").contains("-&gt;")));
    for (arguments, code) in [("models/missing.proc", 2), ("models/dining.proc -D N=12 --max-states 10", 3)] {
        let other = run(&format!("check {arguments} --format junit"));
        assert_eq!(other.code, code);
        assert!(elements(&other.stdout).iter().any(|(name, _)| name == "error"), "{}", other.stdout);
    }
    assert_eq!(run("explain models/dining.proc --format junit").code, 2);
    assert_eq!(run("check models/dining.proc --format junit --json").code, 2);
}

/// `--count` is `--errors`: here for deadlocks, each in a state of its own.
#[test]
fn several_different_counterexamples() {
    let text = "process P { a: x -> b | y -> c | z -> d; b: ; c: ; d: ; }";
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("three.proc");
    fs::write(&path, text).expect("it can be written");
    let path = path.display().to_string();
    for (count, n_runs) in [("1", 1), ("2", 2), ("5", 3), ("all", 3)] {
        let document = run_with(["check", &path, "--count", count, "--json"]).json();
        let ends: std::collections::BTreeSet<String> = document["results"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|result| result["counterexample"]["prefix"][1]["state"].to_string())
            .collect();
        assert_eq!(ends.len(), n_runs, "{document:#}");
    }
}
