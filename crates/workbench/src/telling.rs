//! What the page is told: messages with their places, and answers with their runs, as documents.

use serde_json::{Value, json};
use stubborn::base::{Diagnostics, Severity, SourceMap, Span};
use stubborn::report::explain::record::{Ending, Record};
use stubborn::report::html::Picture;
use stubborn::report::outcome::{FairTo, Kind, Target};
use stubborn::report::story::Unreached;
use stubborn::report::{
    Counterexample, Explanation, ModelInfo, PropertyResult, Remark, Spelling, Trace, WalkReport, human_bytes,
};
use stubborn::{CheckReport, Choice, Class, Error, Folded, PathStep, Place, WalkEnd};

/// Of a longer run, the middle is left out.
const MAX_STEPS: usize = 4_000;

/// Messages about texts; those about the model's own have places that the editor knows.
pub(crate) fn messages(sources: &SourceMap, diagnostics: &Diagnostics, model: Option<&str>) -> Vec<Value> {
    let message = |it: &stubborn::base::Diagnostic| {
        let mut told = json!({
            "severity": match it.severity { Severity::Warning => "warning", Severity::Error => "error" },
            "code": it.code, "message": it.message, "label": it.label, "help": it.help,
        });
        if let Some(span) = it.span {
            let source = sources.get(span.source);
            let (line, column) = source.position(span.start);
            told["line"] = line.into();
            told["column"] = column.into();
            if model == Some(source.name.as_str()) {
                let (from, to) = units(&source.text, span);
                told["from"] = from.into();
                told["to"] = to.into();
            } else {
                told["source"] = source.name.as_str().into();
                told["excerpt"] = source.text.lines().nth(line - 1).unwrap_or_default().into();
            }
        }
        told
    };
    diagnostics.iter().map(message).collect()
}

/// Where a span is, in the units that browsers count.
pub(crate) fn units(text: &str, span: Span) -> (usize, usize) {
    let floor = |at: u32| {
        (0..=(at as usize).min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    };
    let count = |part: &str| part.encode_utf16().count();
    let (start, end) = (floor(span.start), floor(span.end.max(span.start)));
    let from = count(&text[..start]);
    (from, from + count(&text[start..end]))
}

/// Why there is no answer.
pub(crate) fn trouble(error: &Error, model: Option<&str>) -> Value {
    json!({ "messages": messages(error.sources(), &error.diagnostics(), model), "limit": error.limit().map(|l| l.to_string()) })
}

/// A report.
pub(crate) fn report(report: &CheckReport) -> Value {
    let unreached: Option<Vec<String>> =
        report.unreached.as_ref().map(|all| all.iter().take(200).map(Unreached::to_text).collect());
    json!({
        "model": report.model,
        "results": report.results.iter().map(result).collect::<Vec<_>>(),
        "unreached": unreached,
    })
}

fn result(result: &PropertyResult) -> Value {
    let stats = &result.stats;
    let run = result.counterexample.as_ref();
    let record = run.map(|run| Record::of_run(run, MAX_STEPS));
    let picture = result
        .watcher
        .as_ref()
        .and_then(|watcher| Picture::new(watcher, &result.property, record.as_ref()))
        .map(|picture| json!({ "svg": picture.svg, "caption": picture.caption, "way": picture.way }));
    let reasons: Vec<&String> = result.chosen.iter().chain(&result.choice).collect();
    json!({
        "property": result.property,
        "verdict": result.verdict,
        "reason": Remark::join(&result.remarks),
        "method": result.method.as_ref().map(ToString::to_string),
        "reasons": reasons,
        "figures": result.method.as_ref().map(|_| json!({
            "states": stats.states, "transitions": stats.transitions, "depth": stats.depth,
            "seconds": stats.seconds, "memory": human_bytes(stats.peak_bytes),
        })),
        "words": Explanation::of_result(result, &spelling()).explanation,
        "run": run.zip(record.as_ref()).map(|(run, record)| told_run(run, record)),
        "fairness": run.map_or_else(Vec::new, |run| run.fairness.iter().map(FairTo::to_text).collect()),
        "picture": picture,
    })
}

/// How the page spells what texts refer to.
fn spelling() -> Spelling {
    Spelling { shows_all: "the exported run has all", ..Spelling::default() }
}

fn told_run(run: &Counterexample, record: &Record) -> Value {
    let (ending, cycle) = match record.ending {
        Ending::Cycle(start) => ("cycle", record.steps.iter().position(|step| step.number >= start)),
        Ending::Deadlock => ("deadlock", None),
        Ending::Prefix => ("prefix", None),
        Ending::Error => ("error", None),
    };
    steps(record, &run.trace, ending, cycle)
}

/// A run: texts once, and of each step only what changes.
fn steps(record: &Record, trace: &Trace, ending: &str, cycle: Option<usize>) -> Value {
    let step = |index: usize| {
        let it = &record.steps[index];
        let changes: Vec<(usize, &str)> =
            record.changed(index).map(|at| (at, record.value(index, at))).collect();
        let truths: Vec<bool> = (0..record.propositions.len()).map(|at| record.holds(index, at)).collect();
        let statements = trace.statements(it.number);
        let messages: Vec<Value> = statements
            .iter()
            .filter_map(|statement| {
                let mut message = serde_json::to_value(statement.message.as_ref()?).ok()?;
                message["process"] = statement.process.as_str().into();
                Some(message)
            })
            .collect();
        let lines: Vec<(&str, usize)> = statements
            .iter()
            .filter(|one| one.file.is_none())
            .map(|one| (one.process.as_str(), one.line))
            .collect();
        json!({
            "n": it.number, "action": it.action, "who": it.processes, "changes": changes, "truths": truths,
            "observer": it.observer, "notes": it.notes, "messages": messages, "lines": lines,
        })
    };
    let n_variables = record.variables().len();
    json!({
        "length": record.n_steps,
        "ending": ending,
        "cycle": cycle,
        "processes": record.processes(),
        "variables": record.variables(),
        "initial": (0..n_variables).map(|at| record.value(0, at)).collect::<Vec<_>>(),
        "propositions": record.propositions,
        "failing": record.failing,
        "steps": (0..record.steps.len()).map(step).collect::<Vec<_>>(),
    })
}

/// A walk, as the run explorer shows runs; and as `stubborn simulate --input` reads it.
pub(crate) fn walked(trace: Trace, model: ModelInfo) -> Value {
    let document =
        serde_json::to_value(WalkReport { model, seed: None, end: None, trace: &trace }).unwrap_or_default();
    let run = Counterexample::finite(Kind::Prefix, Target::Truth, trace);
    let record = Record::of_run(&run, MAX_STEPS);
    json!({ "run": told_run(&run, &record), "document": document })
}

/// Where a walk is.
pub(crate) fn place(place: &Place) -> Value {
    let choice = |choice: &Choice| {
        let mut told = json!({
            "step": step(&choice.step), "who": choice.processes, "action": choice.action,
            "changes": choice.changes, "lines": choice.lines, "fails": choice.fails,
        });
        match &choice.leads_to {
            Ok(id) => told["to"] = id_text(*id).into(),
            Err(fault) => told["fault"] = fault.as_str().into(),
        }
        told
    };
    json!({
        "id": id_text(place.id), "state": place.state, "positions": place.positions, "lit": place.lit,
        "choices": place.choices.iter().take(MAX_CHOICES).map(choice).collect::<Vec<_>>(),
        "more": place.choices.len().saturating_sub(MAX_CHOICES),
        "watched": place.watched, "may_end": place.may_end,
    })
}

/// Of more choices, only the first are shown.
const MAX_CHOICES: usize = 500;

/// The id of a state, which is too long for a number of a browser.
pub(crate) fn id_text(id: u128) -> String {
    format!("{id:032x}")
}

/// Steps of a path.
pub(crate) fn steps_text(all: &[PathStep]) -> Vec<Value> {
    all.iter().map(step).collect()
}

fn step(step: &PathStep) -> Value {
    json!([step.number, format!("{:016x}", step.key)])
}

/// Why a walk at random ended.
pub(crate) fn walk_end(end: &WalkEnd) -> Value {
    match end {
        WalkEnd::Enough => json!({ "end": "enough" }),
        WalkEnd::Deadlock => json!({ "end": "deadlock" }),
        WalkEnd::Breakpoint(at) => json!({ "end": "breakpoint", "at": at }),
        WalkEnd::Fault(what) => json!({ "end": "fault", "what": what }),
    }
}

/// A state space in classes.
pub(crate) fn folded(folded: &Folded) -> Value {
    let class = |class: &Class| {
        let path = class.path.as_ref();
        json!({
            "number": class.number, "label": class.label, "states": class.states, "deadlocks": class.deadlocks,
            "initial": class.initial, "inner": class.has_inner_steps, "id": id_text(class.first),
            "path": path.map(|path| json!({ "initial": path.initial, "steps": steps_text(&path.steps) })),
        })
    };
    let edges: Vec<Value> = folded
        .edges
        .iter()
        .map(|edge| json!({ "from": edge.from, "to": edge.to, "steps": edge.steps, "labels": edge.labels }))
        .collect();
    json!({
        "states": folded.states, "transitions": folded.transitions, "cut": folded.cut.map(|limit| limit.to_string()),
        "classes": folded.classes.iter().map(class).collect::<Vec<_>>(), "others": folded.n_others, "edges": edges,
    })
}
