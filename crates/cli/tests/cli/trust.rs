//! Whether one may believe what passes, through the command: every method against every other, what a property rests on, and
//! what never happens in a model; as text, JSON, annotated source and a page.

use crate::{Scratch, run};

/// A lamp that never breaks.
const LAMP: &str = "process Lamp {
    off: press -> on;
    on: press -> off;
    broken: mend -> off;
}
process Bell { quiet: ring -> quiet; }
ltl mended = [] (Lamp@broken -> <> Lamp@on);
ltl lit = [] <> Lamp@on || [] <> Lamp@off;
";

#[test]
fn why_something_holds_is_told() {
    let scratch = Scratch::new();
    let model = scratch.file("lamp.proc", LAMP);
    let text = run(&format!("check {model} --why --property mended")).stdout;
    for line in [
        "why: `Lamp@broken` is never true: the implication is never triggered",
        "why: never executed: mend",
        "why: `Lamp` is never broken",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let json = run(&format!("check {model} --why --property mended --json")).json();
    let kinds: Vec<&str> = json["results"][0]["why"].as_array().expect("reasons").iter().map(kind).collect();
    for expected in ["constant", "never-triggered", "never-happens", "never-taken"] {
        assert!(kinds.contains(&expected), "{expected}: {kinds:?}");
    }
    // Without being asked, a hint where something is suspicious; nothing where nothing is.
    let hinted = run(&format!("check {model} --property mended")).stdout;
    assert!(hinted.contains("mended: holds (vacuous: `\"Lamp@broken\"` is never true)"), "{hinted}");
    assert!(!hinted.contains("why:"), "{hinted}");
    let plain = run("check models/peterson.proc --property mutual_exclusion --why").stdout;
    assert!(!plain.contains("vacuous"), "{plain}");
}

fn kind(because: &serde_json::Value) -> &str {
    because["kind"].as_str().unwrap_or_default()
}

#[test]
fn all_methods_are_compared() {
    let scratch = Scratch::new();
    let model = scratch.file("lamp.proc", LAMP);
    let crossed = run(&format!("check {model} --cross --property lit --timeout 60s"));
    assert_eq!(crossed.code, 0, "{}", crossed.stdout);
    for part in [
        "lit: holds",
        "tgba scc none",
        "ba nested",
        "ta two-pass",
        "lazy-tgta scc repaired",
        "chosen, static",
    ] {
        assert!(crossed.stdout.contains(part), "{part}: {}", crossed.stdout);
    }
    let json = run(&format!("check {model} --cross --property lit --timeout 60s --json")).json();
    let result = &json["results"][0];
    assert!(result["agrees"].as_bool() == Some(true) && result["verdict"] == "holds", "{json}");
    let methods = result["methods"].as_array().expect("a table");
    assert!(methods.len() > 50, "{}", methods.len());
    for row in methods {
        let known = row["method"].is_string() && row["states"].is_u64() && row["seconds"].is_number();
        assert!(known && row["verdict"] == "holds", "{row}");
    }
}

#[test]
fn what_never_happens_is_told_in_four_ways() {
    let scratch = Scratch::new();
    let model = scratch.file("lamp.proc", LAMP);
    let (annotated, page) = (scratch.path("lamp.txt"), scratch.path("lamp.html"));
    let files = format!("--annotated {} --report {}", annotated.display(), page.display());
    let told = run(&format!("explore {model} --coverage {files}"));
    assert!(told.code == 0 && told.stdout.contains("Lamp: never broken"), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("never executed:\n  mend\n"), "{}", told.stdout);
    let json = run(&format!("explore {model} --coverage --json")).json();
    assert!(json["complete"].as_bool() == Some(true) && json["states"] == 2, "{json}");
    assert_eq!(json["never_executed"][0]["action"], "mend");
    let moved = json["never_executed"].as_array().expect("a list").iter().find(|one| one["line"] == 4);
    assert_eq!(moved.expect("the move in line 4")["text"], "mend -> off");
    let lamp = json["never_taken"].as_array().expect("a list").iter().find(|one| one["variable"] == "Lamp");
    assert_eq!(lamp.expect("the lamp")["never"][0], "broken");
    let annotated = std::fs::read_to_string(annotated).expect("it was written");
    let marked: Vec<&str> = annotated.lines().filter(|line| line.starts_with("#####")).collect();
    assert!(marked.len() == 1 && marked[0].contains("broken: mend -> off;"), "{annotated}");
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("<mark>") && page.contains("never broken"), "{page}");
}

/// The statements of Promela that are never reached, with their lines.
#[test]
fn statements_that_are_never_reached_are_told() {
    let scratch = Scratch::new();
    let pml = "byte x;\nactive proctype P() {\n  do\n  :: x < 2 -> x++\n  :: x > 5 ->\n     x = 0\n  :: else -> break\n  od\n}\n";
    let model = scratch.file("model.pml", pml);
    let annotated = scratch.path("model.txt");
    let told = run(&format!("explore {model} --coverage --annotated {}", annotated.display()));
    assert!(told.code == 0 && told.stdout.contains("line 6"), "{}", told.stdout);
    let annotated = std::fs::read_to_string(annotated).expect("it was written");
    assert!(annotated.lines().any(|line| line.starts_with("#####     6:")), "{annotated}");
}
