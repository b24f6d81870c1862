//! Formula files of the Model Checking Contest, about nets.

use std::path::Path;

use base::{Diagnostic, Diagnostics};
use check::{Exact, Stop, search};
use language::{Known, Ltl, Model as _, Property, PropertyKind};
use model::{ActionSystem, ExprId, System as _};
use petri::structural::Rules;
use report::{Method, PropertyResult, Statistics, Verdict};

use super::{Answers, Task, TaskKind, limit_reason, undecided};
use crate::args::CheckArguments;
use crate::input::{self, Input, Loaded};
use crate::markings::{self, Trouble};
use crate::property::formula_task;
use crate::terminal::Clock;

/// The tasks of a formula file; of those that were picked, if some were.
pub(super) fn tasks(
    input: &mut Input,
    path: &Path,
    arguments: &CheckArguments,
    clock: &mut Clock,
) -> Result<Vec<Task>, Diagnostics> {
    let Loaded::Petri(model) = &mut input.model else {
        return Err(Diagnostic::error("usage", "--mcc is for Petri nets").into());
    };
    let properties = read_properties(model, path, &mut input.sources)?;
    let mut tasks = Vec::new();
    let facts = match arguments.structural {
        Rules::NONE => None,
        _ => model.facts(&mut clock.budget(&arguments.limits)).ok().flatten(),
    };
    for Property { name: id, kind: question, .. } in pick(properties, &arguments.only)? {
        let petri::Model { system, formulas, .. } = &mut **model;
        let known = facts.as_ref().and_then(|facts| {
            let budget = &mut clock.budget(&arguments.limits);
            facts.answer(&system.exprs, formulas, &question, budget).ok().flatten()
        });
        if let Some(verdict) = known.and_then(|known| without_run(&question, known)) {
            tasks.push(Task { name: id, kind: TaskKind::Proved(verdict) });
            continue;
        }
        let (system, formulas) = model.parts();
        let kind = match question {
            PropertyKind::Invariant(expr) => TaskKind::Safety(markings::goal(system, &id, expr, false)),
            PropertyKind::Possible(expr) => TaskKind::Possible(markings::goal(system, &id, expr, true)),
            PropertyKind::Ltl(Ltl { formula, propositions }) => {
                formula_task(system, formulas, formula, &propositions, &arguments.limits, clock).into()
            }
            PropertyKind::Maximum(expr) => TaskKind::Maximum(expr),
            PropertyKind::Unsupported(why) => TaskKind::Undecided(why),
            // No file asks these.
            _ => TaskKind::Undecided("this question is not supported in files".to_owned()),
        };
        tasks.push(Task { name: id, kind });
    }
    Ok(tasks)
}

/// The verdict, if the answer that is known needs no run to show it.
fn without_run(question: &PropertyKind, known: Known) -> Option<Verdict> {
    match (question, known) {
        (PropertyKind::Invariant(_) | PropertyKind::Ltl(_), Known::Truth(true)) => Some(Verdict::Holds),
        (PropertyKind::Possible(_), Known::Truth(false)) => Some(Verdict::Violated),
        _ => None,
    }
}

/// The properties of a formula file.
pub(crate) fn read_properties(
    model: &mut petri::Model,
    path: &Path,
    sources: &mut base::SourceMap,
) -> Result<Vec<Property>, Diagnostics> {
    let source = input::add_xml(path, input::read(path)?, sources)?;
    let text = &sources.get(source).text;
    model.read_formulas(text, source, &mut base::Budget::unlimited()).map_err(input::mistakes)
}

/// The properties with these ids, or with these numbers at the end of their ids.
fn pick(properties: Vec<Property>, only: &[String]) -> Result<Vec<Property>, Diagnostic> {
    if only.is_empty() {
        return Ok(properties);
    }
    let number = |id: &str| id.rsplit('-').next().and_then(|end| end.parse::<u64>().ok());
    let is_meant = |property: &Property, wanted: &String| {
        let wanted_number = wanted.parse::<u64>().ok();
        property.name == *wanted || wanted_number.is_some() && number(&property.name) == wanted_number
    };
    for wanted in only {
        if !properties.iter().any(|property| is_meant(property, wanted)) {
            let message = format!("the file has no formula `{wanted}`");
            let error = Diagnostic::error("unknown-property", message);
            return Err(error.suggesting(wanted, properties.iter().map(|property| property.name.as_str())));
        }
    }
    let is_picked = |property: &Property| only.iter().any(|wanted| is_meant(property, wanted));
    Ok(properties.into_iter().filter(is_picked).collect())
}

/// Finds all greatest values, in one exploration.
pub(super) fn decide_maxima(
    system: &ActionSystem,
    tasks: &[Task],
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers<'_>,
) {
    let asked = tasks.iter().enumerate().filter_map(|(index, task)| match task.kind {
        TaskKind::Maximum(expr) => Some((index, expr)),
        _ => None,
    });
    let (indices, exprs): (Vec<usize>, Vec<ExprId>) = asked.unzip();
    if indices.is_empty() {
        return;
    }
    let start = clock.seconds();
    let mut budget = clock.budget(&arguments.limits);
    let mut store = Exact::new(system.width(), budget.max_bytes);
    let explored = search::bfs::search(system, &mut store, &[], &mut budget);
    let maxima = markings::maxima(system, &store, &exprs, &mut budget);
    clock.clear();
    if let Some(Stop::Fault(error, _)) = &explored.stop {
        answers.fault = answers.fault.or(Some(*error));
    }
    let stats = Statistics {
        states: explored.stats.states,
        transitions: explored.stats.transitions,
        system_states: Some(explored.stats.states),
        observer_states: 0,
        depth: explored.stats.depth,
        seconds: clock.seconds() - start,
        peak_bytes: explored.stats.peak_bytes,
    };
    let method =
        Method { observer: "none", search: "bfs", reduction: "none", fairness: "none", store: "exact" };
    for (number, index) in indices.into_iter().enumerate() {
        let maximum = maxima.as_ref().ok().map(|maxima| maxima[number]);
        let why = match (&explored.stop, &maxima) {
            (Some(Stop::Limit(limit)), _) | (None, Err(Trouble::Limit(limit))) => Some(limit_reason(*limit)),
            (Some(Stop::Fault(error, _)), _) => {
                Some(format!("model error: {}", system.describe_fault(error)))
            }
            (_, Err(Trouble::Fault(fault))) => Some(format!("model error: {fault}")),
            _ => None,
        };
        let (verdict, reason) = match (maximum, why) {
            (Some(maximum), None) => (Verdict::Holds, format!("the maximum is {maximum}")),
            (Some(maximum), Some(why)) => (Verdict::Unknown, format!("at least {maximum}; {why}")),
            (None, why) => (Verdict::Unknown, why.unwrap_or_default()),
        };
        answers.results[index] = Some(PropertyResult {
            verdict,
            method: Some(method.clone()),
            stats,
            ..undecided(&tasks[index].name, reason)
        });
    }
}
