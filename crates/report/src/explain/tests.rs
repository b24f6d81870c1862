//! What is said of small runs, word for word.

use std::sync::Arc;

use model::{Action, ActionId, Builder, Guard, Run, Stmt, VarId, Variable};
use replay::{Reason, Subject};
use serde_json::json;

use super::*;
use crate::method::{Fairness, Method, Observer, Reduction, Search, Store};
use crate::outcome::{Counterexample, FairTo, Kind, Statistics, Target};
use crate::story::{Item, Position, Statement, Story, Unreached};
use crate::trace::Trace;

fn step(action: &str, process: &str, x: i64, p: bool) -> Value {
    json!({ "action": action, "process": process, "state": { "x": x }, "propositions": { "p": p } })
}

fn initial(x: i64, p: bool) -> Value {
    json!({ "action": null, "process": null, "state": { "x": x }, "propositions": { "p": p } })
}

fn told(kind: &str, prefix: &[Value], cycle: &[Value]) -> Vec<String> {
    let run = json!({ "kind": kind, "prefix": prefix, "cycle": cycle });
    let result = json!({ "property": "q", "verdict": "violated", "reason": null, "counterexample": run });
    Explanation::of_json(&result, None, &Spelling::default()).unwrap().explanation
}

#[test]
fn a_cycle_is_told_by_process() {
    let prefix = vec![initial(0, false), step("go", "A", 1, true)];
    let cycle =
        vec![step("turn", "B, C", 2, false), step("turn", "B, C", 3, false), step("back", "B", 1, true)];
    assert_eq!(
        told("lasso", &prefix, &cycle),
        [
            "First: `go` (A).",
            "After step 1, 3 steps repeat for ever.",
            "B does `turn` twice, `back` again and again.",
            "C does `turn` twice again and again.",
            "A never moves again after step 1.",
            "`p` becomes true and false again and again.",
        ]
    );
}

#[test]
fn propositions_are_told_by_their_last_change() {
    let cycle = |p: bool| vec![step("turn", "B", 1, p)];
    let last = |sentences: Vec<String>| sentences.last().unwrap().clone();
    let prefix = vec![initial(0, true), step("go", "A", 1, false)];
    let never_again = last(told("lasso", &prefix, &cycle(false)));
    assert_eq!(never_again, "`p` becomes false in step 1, and never true again.");
    let prefix = vec![initial(0, false), step("go", "A", 1, true)];
    assert_eq!(last(told("lasso", &prefix, &cycle(true))), "`p` is true from step 1 on.");
    assert_eq!(last(told("lasso", &[initial(1, false)], &cycle(false))), "`p` is never true.");
    assert_eq!(last(told("lasso", &[initial(1, true)], &cycle(true))), "`p` is always true.");
}

#[test]
fn the_last_step_of_a_finite_run_is_told() {
    let prefix = vec![initial(0, true), step("go", "A", 1, true), step("fall", "A, B", 7, false)];
    let sentences = [
        "First: `go` (A).",
        "Step 2 breaks it: `fall` (A and B) changes x from 1 to 7.",
        "With it, `p` becomes false.",
    ];
    assert_eq!(told("prefix", &prefix, &[]), sentences);
    let at_once = told("prefix", &[initial(0, true)], &[]);
    assert_eq!(at_once, ["It is so from the start: the initial state already breaks it."]);
    let error = told("error", &[initial(0, true), step("go", "A", 1, true)], &[]);
    assert_eq!(error.last().unwrap(), "After 1 step, the model goes wrong.");
}

#[test]
fn what_is_no_result_is_refused() {
    for bad in
        [json!(null), json!({}), json!({ "property": "p", "verdict": "violated", "counterexample": 3 })]
    {
        assert!(Explanation::of_json(&bad, None, &Spelling::default()).is_none(), "{bad}");
    }
    let holds = json!({ "property": "p", "verdict": "holds", "reason": null, "counterexample": null });
    assert_eq!(Explanation::of_json(&holds, None, &Spelling::default()).unwrap().to_text(), "p: holds\n");
}

/// A turns round; B needs x = 1, which is so in every other state; C could always move; D never can.
#[test]
fn who_never_moves_is_told_with_the_reason() {
    let mut builder = Builder::new();
    let [a, b, c, d] = ["A", "B", "C", "D"].map(|name| builder.process(name));
    let x = builder.variable(Variable::new("x", 0, 5));
    let at = builder.variable(Variable::named("D", ["home".to_owned(), "away".to_owned()].into()));
    let guards = [0, 1, 5].map(|value| builder.guard(Guard::equals(x, value)));
    let home = builder.guard(Guard::equals(at, 0));
    let mut add = |name: &str, owner, guards: Vec<model::GuardId>, effect| {
        let label = builder.label(name);
        builder.action(Action { label, guards, effect, owners: vec![owner] })
    };
    let up = add("up", a, vec![guards[0]], vec![Stmt::set(x, 1)]);
    let down = add("down", a, vec![guards[1]], vec![Stmt::set(x, 0)]);
    add("take", b, vec![guards[1]], vec![]);
    add("idle", c, vec![], vec![]);
    add("leave", d, vec![guards[2], home], vec![]);
    builder.initial(&[0, 0]);
    let system = builder.finish().unwrap();
    let run = Run { initial: 0, actions: vec![up, down] };
    let fair = FairTo {
        constraint: Subject::Process("A".to_owned()),
        kind: model::fairness::Kind::Weak,
        reason: Reason::Taken(1),
    };
    let run = Counterexample {
        kind: Kind::Lasso,
        target: Target::Violation,
        trace: Trace::replayed(system.clone(), &run),
        cycle_start: Some(0),
        fairness: vec![fair],
    };
    let method = Method {
        observer: Observer::Ba,
        search: Search::Scc,
        reduction: Reduction::None,
        fairness: Fairness::None,
        store: Store::Exact,
    };
    let result = PropertyResult {
        property: "q".to_owned(),
        place: None,
        verdict: Verdict::Violated,
        remarks: Vec::new(),
        method: Some(method),
        chosen: None,
        choice: Vec::new(),
        stats: Statistics::default(),
        counterexample: Some(run),
        reduction_check: None,
        fault: None,
        certificate: None,
        why: None,
        watcher: None,
    };
    let spelling = Spelling { weak_fairness: Some("--fair weak"), ..Spelling::default() };
    let explanation = Explanation::of_result(&result, &spelling);
    assert_eq!(
        explanation.explanation,
        [
            "From the beginning, 2 steps repeat for ever.",
            "A does `up`, `down` again and again.",
            "B never moves, although it could again and again: by `take` after step 1.",
            "C never moves, although it always could: by `idle`.",
            "D never moves. It never can: in `home`, it waits for `leave`.",
            "Under weak fairness (`--fair weak`), this run would not count.",
            "The run is fair: A moves in step 1.",
        ]
    );
    // The JSON document tells the same, with the same system.
    let json = serde_json::to_value(&result).unwrap();
    let again = Explanation::of_json(&json, Some(&system), &spelling).unwrap();
    assert_eq!(again.explanation, explanation.explanation);
    assert!(explanation.to_text().lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn at_a_deadlock_everybody_says_what_is_missing() {
    let mut builder = Builder::new();
    let (a, b) = (builder.process("A"), builder.process("B"));
    let names = || ["one".to_owned(), "two".to_owned()].into();
    let at =
        [builder.variable(Variable::named("A", names())), builder.variable(Variable::named("B", names()))];
    let x = builder.variable(Variable::new("x", 0, 9));
    let guard =
        |builder: &mut Builder, process: usize, value| builder.guard(Guard::equals(at[process], value));
    let label = builder.label("meet");
    let guards = vec![guard(&mut builder, 0, 0), guard(&mut builder, 1, 1)];
    builder.action(Action { label, guards, effect: vec![], owners: vec![a, b] });
    let label = builder.label("pay");
    let guards =
        vec![guard(&mut builder, 1, 0), builder.guard(Guard::at_least(x, 3)), guard(&mut builder, 0, 1)];
    builder.action(Action { label, guards, effect: vec![], owners: vec![b] });
    builder.initial(&[0, 0, 2]);
    let system = builder.finish().unwrap();
    let run = json!({
        "kind": "deadlock",
        "prefix": [{ "action": null, "process": null, "state": { "A": "one", "B": "one", "x": 2 } }],
        "cycle": [],
    });
    let result = json!({ "property": "q", "verdict": "violated", "counterexample": run });
    assert_eq!(
        Explanation::of_json(&result, Some(&system), &Spelling::default()).unwrap().explanation,
        [
            "In the initial state, nothing can happen any more.",
            "A is in `one` and waits for `meet`, for which B would have to be in `two` (it is in `one`).",
            "B is in `one` and waits for `pay`, for which x would have to be at least 3 (it is 2) and A would \
             have to be in `two` (it is in `one`).",
            "They wait for each other in a circle: A for B and B for A.",
        ]
    );
}

/// Processes `A(0)` and `B(1)`, which meet by `c!1` and `c?1`, and what is told of them.
struct Meeting;

impl Story for Meeting {
    fn statements(&self, action: ActionId, _: &[i64]) -> Vec<Statement> {
        let statement = |process: &str, line, text: &str| Statement {
            process: process.to_owned(),
            file: None,
            line,
            text: text.to_owned(),
            output: None,
            message: None,
            mark: None,
        };
        match action.index() {
            0 => vec![statement("A(0)", 3, "c!1"), statement("B(1)", 8, "c?1")],
            1 => vec![statement("B(1)", 7, "d?x")],
            _ => vec![statement("A(0)", 4, "skip")],
        }
    }

    fn items(&self, state: &[i64]) -> Vec<Item> {
        let value = format!("[{}]", vec!["7"; state[2] as usize].join(","));
        vec![Item { name: "d".to_owned(), value, is_channel: true }]
    }

    fn places(&self, state: &[i64]) -> Vec<Position> {
        let position = |process: &str, line, is_over| Position {
            process: process.to_owned(),
            file: None,
            line,
            text: "…".to_owned(),
            may_stay: false,
            is_over,
        };
        vec![position("A(0)", 3, state[0] == 2), position("B(1)", 7, false)]
    }

    fn unreached(&self, _: &[bool]) -> Vec<Unreached> {
        Vec::new()
    }

    fn location(&self, process: &str) -> Option<VarId> {
        Some(VarId::new(usize::from(process == "B(1)")))
    }
}

#[test]
fn statements_are_waited_for() {
    let mut builder = Builder::new();
    let (a, b) = (builder.process("A(0)"), builder.process("B(1)"));
    let at =
        [builder.variable(Variable::new("_pc[0]", 0, 2)), builder.variable(Variable::new("_pc[1]", 0, 2))];
    let length = builder.variable(Variable::new("len(d)", 0, 1));
    let mut action = |label: &str, guards: Vec<Guard>, effect, owners| {
        let label = builder.label(label);
        let guards = guards.into_iter().map(|guard| builder.guard(guard)).collect();
        builder.action(Action { label, guards, effect, owners });
    };
    let (a_at, b_at) = (|value| Guard::equals(at[0], value), |value| Guard::equals(at[1], value));
    action("c!1", vec![a_at(0), b_at(1)], vec![], vec![a, b]);
    action("d?x", vec![b_at(0), Guard::at_least(length, 1)], vec![], vec![b]);
    action("skip", vec![a_at(1)], vec![Stmt::set(at[0], 2)], vec![a]);
    builder.initial(&[0, 0, 0]);
    builder.initial(&[1, 0, 0]);
    let system = builder.finish().unwrap();
    let told = |initial: usize, actions: Vec<ActionId>| {
        let run = Run { initial, actions };
        let mut trace = Trace::replayed(system.clone(), &run);
        trace.tell(Arc::new(Meeting));
        let run = Counterexample::finite(Kind::Deadlock, Target::Deadlock, trace);
        let spelling = Spelling::default();
        explain(&Record::of_run(&run, 10), Some(&Known::of_trace(&run.trace, &spelling)), &Value::Null)
    };
    let waits = "B(1) waits for `d?x` (line 7), for which `d` would have to hold a message (it is empty).";
    assert_eq!(
        told(0, vec![]),
        [
            "In the initial state, nothing can happen any more.",
            "A(0) waits for `c!1` (line 3), for which B(1) (which is at line 7) would have to be at `c?1` in \
             line 8.",
            waits,
        ]
    );
    assert_eq!(
        told(1, vec![ActionId::new(2)]),
        [
            "First: `skip` (A(0), line 4).",
            "After 1 step, nothing can happen any more.",
            waits,
            "A(0) is at its end.",
        ]
    );
}
