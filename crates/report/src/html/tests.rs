//! Pages are XML with nothing in them that was not escaped, ask nobody for anything, and stay small.

use automata::tester::{Edge, State};
use automata::{Effort, Tester};
use base::Budget;
use base::SourceMap;
use model::{Action, ActionSystem, Builder, ExprId, Guard, Run, Stmt, VarId, Variable};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::method::{Fairness, Method, Observer, Reduction, Search, Store};
use crate::outcome::{Kind, ModelInfo, SCHEMA, Statistics, Target};
use crate::trace::Trace;
use crate::{Remark, Spelling};

/// Letters that must not get through.
const EVIL: &str = "<script>alert('&\"]]></script>";

/// A counter that two processes turn round together, and one that never moves. All names are evil.
fn counter(hi: i64) -> (ActionSystem, ExprId) {
    let mut builder = Builder::new();
    let owners = vec![builder.process(format!("A{EVIL}")), builder.process("B, C")];
    builder.process("idle");
    let x = builder.variable(Variable::new(format!("x{EVIL}"), 0, hi));
    let y = builder.variable(Variable::new("y", 0, 1));
    let (up, down) = (builder.label(format!("up{EVIL}")), builder.label("down"));
    let below = builder.guard(Guard::one_of(x, 0..hi));
    let top = builder.guard(Guard::equals(x, hi));
    builder.action(Action {
        label: up,
        guards: vec![below],
        effect: vec![Stmt::Add(x, 1)],
        owners: owners.clone(),
    });
    builder.action(Action { label: down, guards: vec![top], effect: vec![Stmt::set(x, 0)], owners });
    builder.initial(&[0, 0]);
    assert_eq!(y, VarId::new(1));
    let mut system = builder.finish().unwrap();
    let (x, one) = (system.exprs.var(x), system.exprs.int(1));
    let is_one = system.exprs.binary(model::BinaryOp::Eq, x, one);
    (system, is_one)
}

/// The run that goes round once, after so many steps.
fn round_trip(system: &ActionSystem, is_one: ExprId, hi: usize) -> Counterexample {
    let mut actions = vec![model::ActionId::new(0); hi];
    actions.push(model::ActionId::new(1));
    let run = Run { initial: 0, actions };
    let trace = Trace::replayed(system.clone(), &run).with_propositions(vec![(format!("p{EVIL}"), is_one)]);
    Counterexample { cycle_start: Some(0), ..Counterexample::finite(Kind::Lasso, Target::Violation, trace) }
}

fn report(counterexample: Option<Counterexample>) -> CheckReport {
    let result = PropertyResult {
        property: format!("property{EVIL}"),
        place: None,
        verdict: Verdict::Violated,
        remarks: vec![Remark::Unsupported(format!("a reason in `{EVIL}`"))],
        method: Some(Method {
            observer: Observer::Tgba,
            search: Search::Scc,
            reduction: Reduction::None,
            fairness: Fairness::None,
            store: Store::Exact,
        }),
        chosen: None,
        choice: vec![EVIL.to_owned()],
        stats: Statistics { states: 59_048, ..Statistics::default() },
        counterexample,
        reduction_check: None,
        fault: None,
        certificate: None,
        why: None,
        watcher: None,
    };
    let model = ModelInfo {
        file: format!("{EVIL}.proc"),
        language: "process",
        processes: 3,
        actions: 2,
        state_bytes: 4,
    };
    CheckReport { schema: SCHEMA, model, results: vec![result], unreached: None }
}

fn page(report: &mut CheckReport, watcher: Option<Watcher>) -> String {
    report.results[0].watcher = watcher;
    let explanations: Vec<Explanation> =
        report.results.iter().map(|result| Explanation::of_result(result, &Spelling::default())).collect();
    let source = format!("const N = 3; // {EVIL}\n");
    Page { report, source: Some(&source), explanations: &explanations }.to_html()
}

/// The page as XML: the number of elements of each name, and all text outside of scripts and styles.
fn parse(page: &str) -> (std::collections::BTreeMap<String, usize>, String) {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = true;
    let (mut names, mut text, mut is_code) = (std::collections::BTreeMap::new(), String::new(), false);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error} at {}", reader.buffer_position())) {
            Event::Eof => return (names, text),
            Event::Start(tag) | Event::Empty(tag) => {
                let name = tag.name().as_ref().to_owned();
                is_code = name == "script" || name == "style";
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    let key = attribute.key.as_ref().to_owned();
                    assert!(!key.starts_with("on"), "{key}");
                }
                *names.entry(name).or_default() += 1;
            }
            Event::End(_) => is_code = false,
            Event::Text(piece) if !is_code => text += &piece,
            Event::GeneralRef(reference) if !is_code => {
                text += &format!("&{};", &*reference);
            }
            _ => {}
        }
    }
}

#[test]
fn a_page_is_xml_and_nothing_gets_through() {
    let (system, is_one) = counter(3);
    let mut report = report(Some(round_trip(&system, is_one, 3)));
    let mut formulas = ltl::Formulas::new();
    let name = format!("p{EVIL}");
    let text = format!("<> \"{}\"", name.replace('"', "\\\""));
    let mut sources = SourceMap::new();
    let source = sources.add("test", text.clone().into_bytes()).unwrap();
    let tgba = ltl::parse(&mut formulas, &text, source, 0)
        .map(|parsed| {
            automata::translate(&mut formulas, parsed.formula, Effort::High, &mut Budget::unlimited())
                .unwrap()
        })
        .unwrap();
    let page = page(&mut report, Some(Watcher::Claim(tgba.into(), formulas.into())));
    let (names, text) = parse(&page);
    assert_eq!(names["script"], 2, "the data of the run, and what steps through it");
    assert!(!page.contains("<script>alert") && !page.contains("http"), "{page}");
    assert!(text.contains("alert"), "names are shown");
    // Five states of the run, one table of answers.
    assert_eq!((names["table"], page.matches("<tr id=\"p1-s").count()), (2, 5));
    assert!(page.contains("data-run=\"1\"") && page.contains("repeats for ever"));
    // The automaton is drawn, and the way through it is known.
    let data = data(&page);
    assert_eq!(data["way"].as_array().unwrap().len(), 5);
    assert!(page.contains("<title>state 0</title>"));
    assert_eq!(data["cycle"], 0);
    assert_eq!(data["variables"][0], format!("x{EVIL}"));
    assert_eq!(data["steps"][2]["c"], serde_json::json!([[0, "2"]]));
    assert_eq!(
        data["steps"].as_array().unwrap().iter().map(|step| step["p"].as_str().unwrap()).collect::<String>(),
        "01000"
    );
    // Two lanes, as a comma outside of brackets separates names, and a line between them.
    assert!(page.contains("class=\"lane from-left\"") && page.contains("takes part"));
}

/// What the script gets.
fn data(page: &str) -> serde_json::Value {
    let start = page.find("class=\"data\">").unwrap() + "class=\"data\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn a_long_run_makes_no_large_page() {
    let n = 100_000;
    let (system, is_one) = counter(n);
    let mut report = report(Some(round_trip(&system, is_one, n as usize)));
    let page = page(&mut report, None);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("<tr id=\"p1-s").count(), run::MAX_STEPS);
    assert!(page.contains("… 98 002 steps left out"), "the gap is told");
    assert!(
        page.contains("id=\"p1-s999\"")
            && page.contains("id=\"p1-s99002\"")
            && page.contains("id=\"p1-s100001\"")
    );
    parse(&page);
}

#[test]
fn a_tester_is_drawn_with_the_states_that_the_run_names() {
    let (system, is_one) = counter(1);
    let mut run = round_trip(&system, is_one, 1);
    run.trace = run.trace.with_observer(vec![0, 1, 1], ["calm", "bad"].map(str::to_owned).to_vec());
    let state = |name: &str, reject| State { name: name.to_owned(), reject, ..State::default() };
    let tester = Tester {
        letters: vec![EVIL.to_owned()],
        states: vec![state("calm", false), state("bad", true), state("never", false)],
        initial: 0,
        edges: vec![Edge { from: 0, letter: Some(0), to: 1 }, Edge { from: 0, letter: None, to: 1 }],
    };
    let mut report = report(Some(run));
    let page = page(&mut report, Some(Watcher::Tester(tester.into())));
    parse(&page);
    assert_eq!(data(&page)["way"], serde_json::json!([0, 1, 1]));
    assert!(page.contains("(reject)") && page.contains(">tau<") && page.contains("<td>bad</td>"));
    // Two of the three states are on the way.
    assert_eq!(page.matches("class=\"node initial\"").count(), 3, "one has a double line");
}

#[test]
fn without_a_run_there_are_only_answers() {
    let page = page(&mut report(None), None);
    let (names, text) = parse(&page);
    assert_eq!((names["table"], names["script"]), (1, 1));
    assert!(!names.contains_key("svg") && text.contains("59 048"));
}

/// A model in Rust that counts to three and round again, with evil names.
struct Evil;

impl embed::Model for Evil {
    type State = (String, u8);
    type Action = String;

    fn initial(&self) -> Vec<(String, u8)> {
        vec![(EVIL.to_owned(), 0)]
    }

    fn actions(&self, _: &(String, u8), out: &mut Vec<String>) {
        out.push(EVIL.to_owned());
    }

    fn step(&self, state: &mut (String, u8), _: &String) {
        state.1 = (state.1 + 1) % 4;
    }

    fn processes(&self) -> Vec<String> {
        vec![EVIL.to_owned()]
    }

    fn process(&self, _: &String) -> Option<usize> {
        Some(0)
    }
}

#[test]
fn the_page_of_a_model_in_rust_tells_its_runs() {
    let check = embed::Check::new(&Evil).prop("two", |state| state.1 == 2).prop("five", |state| state.1 == 5);
    let check = check.weakly_fair();
    let answers = crate::Answers::new(EVIL)
        .with(EVIL, &check.never("two"))
        .with("<> five", &check.ltl("<> five"))
        .with("[] <> two", &check.ltl("[] <> two"))
        .with("<> six", &check.ltl("<> six"));
    let page = answers.to_html();
    let (names, text) = parse(&page);
    assert!(!page.contains("<script>alert") && !page.contains("http"), "{page}");
    assert!(text.contains("alert") && text.contains("Weakly fair to"), "{text}");
    let n = |text: &str| page.matches(text).count();
    assert_eq!((n("class=\"result\""), n("data-run="), names["table"]), (4, 2, 2), "{names:?}");
    let data = data(&page);
    assert_eq!(data["variables"].as_array().unwrap().len(), 2, "the parts of the pair");
    assert_eq!(
        data["steps"].as_array().unwrap().iter().map(|step| step["c"].clone()).collect::<Vec<_>>()[1..],
        [serde_json::json!([[1, "1"]]), serde_json::json!([[1, "2"]])]
    );
    let document: serde_json::Value = serde_json::from_str(&answers.to_json()).expect("it is JSON");
    let results = document["results"].as_array().unwrap();
    let verdicts: Vec<&str> = results.iter().map(|result| result["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["violated", "violated", "holds", "unknown"]);
    assert_eq!(results[0]["counterexample"]["prefix"][2]["propositions"]["two"], true);
    assert_eq!(results[1]["counterexample"]["cycle"].as_array().unwrap().len(), 4);
    assert_eq!(results[1]["counterexample"]["fairness"][0]["because"], "taken");
    assert!(results[2]["stats"]["states"].as_u64() > Some(0));
    let words = answers.to_text();
    for sentence in ["Step 2 breaks it", "repeat", "there is no proposition `six`"] {
        assert!(words.contains(sentence), "`{sentence}` is not in\n{words}");
    }
}
