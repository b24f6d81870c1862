//! What never happens in a model, whatever is asked: told, and marked in the text.

use stubborn::{Options, Session};

use super::LAMP;

#[test]
fn what_never_happens_is_told() {
    let mut session = Session::of_text("process", LAMP).expect("a good model");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let text = report.to_string();
    assert!(report.complete && text.contains("never executed:\n  mend\n"), "{text}");
    assert!(text.contains("Lamp: never broken"), "{text}");
    let pml = "byte x;\nactive proctype P() {\n  do\n  :: x < 2 -> x++\n  :: x > 5 ->\n     x = 0\n  :: else -> break\n  od\n}\n";
    let mut session = Session::of_text("promela", pml).expect("a good model");
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let annotated = report.annotated(pml);
    assert!(annotated.lines().any(|line| line.starts_with("#####     6:")), "{annotated}\n{report}");
    assert!(!annotated.lines().any(|line| line.starts_with("#####     4:")), "{annotated}");
    assert!(report.to_html(Some(pml)).contains("<mark>    6  "), "the page marks it, too");
}

#[test]
fn moves_of_processes_that_never_happen_are_marked() {
    let text = "process Lamp {\n  off: press -> on;\n  on: press -> off\n    | burst -> broken when false;\n  broken: mend -> off\n    | press -> broken;\n}\nprocess Hand { idle: press -> idle; }\n";
    let text = text
        .replace(" when false", "")
        .replace("process Hand", "process Wall { alphabet burst; up: ; }\nprocess Hand");
    let mut session = Session::of_text("process", &text).expect("a good model");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    let report = session.coverage(&Options::default(), &clock).expect("a small model");
    let annotated = report.annotated(&text);
    let marked: Vec<usize> = annotated
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("#####"))
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(marked, [4, 5, 6], "{annotated}{report}");
    let shown = report.to_string();
    assert!(shown.contains("Lamp, line 4: burst -> broken (reached, but never possible)"), "{shown}");
    assert!(shown.contains("Lamp, line 6: press -> broken\n"), "the label happens, but not there: {shown}");
}
