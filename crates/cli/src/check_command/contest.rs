//! Formula files of the Model Checking Contest, about nets.

use std::path::Path;

use base::{Diagnostic, Diagnostics};
use check::{Exact, Stop, search};
use model::{ActionSystem, ExprId, System as _};
use petri::facts::{Answer, Facts};
use petri::mcc::{Ltl, Property, Question};
use petri::structural::Rules;
use report::method::{Fairness, Method, Observer, Reduction, Search, Store};
use report::{PropertyResult, Statistics, Verdict};

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
    let facts = (arguments.structural != Rules::NONE).then(|| {
        let net = model.net().clone();
        Facts::new(&net, &mut clock.budget(&arguments.limits))
    });
    for Property { id, question, .. } in pick(properties, &arguments.only)? {
        let petri::Model { system, formulas, .. } = &mut **model;
        let known = facts.as_ref().and_then(|facts| facts.answer(&system.exprs, formulas, &question));
        if let Some(verdict) = known.and_then(|known| without_run(&question, known)) {
            tasks.push(Task { name: id, kind: TaskKind::Proved(verdict) });
            continue;
        }
        let (system, formulas) = (&mut model.system, &mut model.formulas);
        let kind = match question {
            Question::Invariant(expr) => TaskKind::Safety(markings::goal(system, &id, expr, false)),
            Question::Possible(expr) => TaskKind::Possible(markings::goal(system, &id, expr, true)),
            Question::Ltl(Ltl { formula, propositions }) => {
                formula_task(system, formulas, formula, &propositions, &arguments.limits, clock).into()
            }
            Question::Maximum(expr) => TaskKind::Maximum(expr),
            Question::Unsupported(why) => TaskKind::Undecided(why.message),
            // No file asks these.
            Question::AllPossible(_) | Question::SomeInvariant(_) | Question::AllLive(_) => {
                TaskKind::Undecided("this question is not supported in files".to_owned())
            }
        };
        tasks.push(Task { name: id, kind });
    }
    Ok(tasks)
}

/// The verdict, if the answer that is known needs no run to show it.
fn without_run(question: &Question, known: Answer) -> Option<Verdict> {
    match (question, known) {
        (Question::Invariant(_) | Question::Ltl(_), Answer::Truth(true)) => Some(Verdict::Holds),
        (Question::Possible(_), Answer::Truth(false)) => Some(Verdict::Violated),
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
    model.read_formulas(&sources.get(source).text, source)
}

/// The properties with these ids, or with these numbers at the end of their ids.
fn pick(properties: Vec<Property>, only: &[String]) -> Result<Vec<Property>, Diagnostic> {
    if only.is_empty() {
        return Ok(properties);
    }
    let number = |id: &str| id.rsplit('-').next().and_then(|end| end.parse::<u64>().ok());
    let is_meant = |property: &Property, wanted: &String| {
        let wanted_number = wanted.parse::<u64>().ok();
        property.id == *wanted || wanted_number.is_some() && number(&property.id) == wanted_number
    };
    for wanted in only {
        if !properties.iter().any(|property| is_meant(property, wanted)) {
            let message = format!("the file has no formula `{wanted}`");
            let error = Diagnostic::error("unknown-property", message);
            return Err(error.suggesting(wanted, properties.iter().map(|property| property.id.as_str())));
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
    answers: &mut Answers,
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
    let method = Method {
        observer: Observer::None,
        search: Search::Bfs,
        reduction: Reduction::None,
        fairness: Fairness::None,
        store: Store::Exact,
    };
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
            method: Some(method),
            stats,
            ..undecided(&tasks[index].name, reason)
        });
    }
}
