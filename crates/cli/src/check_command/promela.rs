//! What every model in Promela promises: its assertions, and that it does not get stuck. And what labels
//! promise: progress, and nothing that is accepted.
//!
//! Assertions and end states share one exploration. If an assertion fails there, end states are looked for
//! in another one, in which assertions are not looked at.

use std::cell::OnceCell;
use std::sync::Arc;

use base::{Budget, Diagnostics, Limit};
use check::{Goal, Stop};
use language::{Asked, Model as _, Property, PropertyKind, Purpose, Story, View};
use replay::Claim;
use report::outcome::Counterexample;
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::{
    Answers, Task, TaskKind, coverage_reason, internal_error, limit_reason, reduction_name, undecided,
};
use crate::args::CheckArguments;
use crate::exit::Failure;
use crate::input::{Input, Loaded};
use crate::property::{automaton_task, formula_task};
use crate::terminal::Clock;

/// The name of the property that is decided together with another one.
const END_STATES: &str = "end-states";

/// The proposition that is always true, by its number.
const TRUTH: usize = 0;

/// The systems that these properties are about, as far as they are needed.
#[derive(Default)]
pub(super) struct Safety {
    /// With assertions.
    asserting: OnceCell<View>,
    /// Without.
    ending: OnceCell<View>,
}

impl Safety {
    fn view(
        &self,
        model: &promela::Model,
        purpose: Purpose,
        budget: &mut Budget<'_>,
    ) -> Result<&View, Limit> {
        let cell = if purpose == Purpose::Assertions { &self.asserting } else { &self.ending };
        if let Some(view) = cell.get() {
            return Ok(view);
        }
        let mut view = model.view(purpose, budget)?;
        let system = Arc::make_mut(&mut view.system);
        let truth = system.exprs.int(1);
        system.add_proposition("true", truth);
        Ok(cell.get_or_init(|| view))
    }
}

/// Who can tell the runs of a model.
pub(super) fn story(model: &Loaded) -> Option<Arc<dyn Story>> {
    let Loaded::Promela(model) = model else { return None };
    model.view(Purpose::Runs, &mut Budget::unlimited()).ok()?.story
}

/// Lets somebody tell the runs that nobody tells yet.
pub(super) fn tell<'a>(results: &mut [PropertyResult<'a>], story: Option<&'a dyn Story>) {
    let Some(story) = story else { return };
    for found in results.iter_mut().filter_map(|result| result.counterexample.as_mut()) {
        if found.trace.story().is_none() {
            found.trace.tell(story);
        }
    }
}

/// What is asked, or everything that the file promises.
pub(super) fn select(
    input: &mut Input,
    properties: &[Property],
    arguments: &CheckArguments,
    clock: &mut Clock,
    is_asked: &dyn Fn(&str) -> bool,
) -> Result<Vec<Task>, Diagnostics> {
    let mut tasks = Vec::new();
    // Formulas of the command line come after those of the file.
    let is_behind =
        |property: &Property| !matches!(property.kind, PropertyKind::Ltl(_)) && property.span.is_some();
    let position =
        properties.iter().position(|property| is_behind(property) || property.asked == Asked::ByKind);
    let (before, behind) = properties.split_at(position.unwrap_or(properties.len()));
    let add = |model: &mut Loaded, property: &Property, tasks: &mut Vec<Task>, clock: &mut Clock| {
        let (system, formulas) = model.parts();
        let limits = &arguments.limits;
        let kind = match &property.kind {
            PropertyKind::Assertions if is_asked(&property.name) => TaskKind::Assertions,
            PropertyKind::EndStates if is_asked(&property.name) || arguments.deadlock_free => {
                TaskKind::EndStates
            }
            PropertyKind::Ltl(ltl) if is_asked(&property.name) => {
                formula_task(system, formulas, ltl.formula, &ltl.propositions, limits, clock).into()
            }
            PropertyKind::Claim(claim) if is_asked(&property.name) => {
                let (automaton, propositions) = (claim.automaton.clone(), claim.propositions.clone());
                let task = automaton_task(system, formulas, automaton, propositions, clock);
                TaskKind::Formula(Box::new(task))
            }
            PropertyKind::Progress(ltl) if arguments.nonprogress => {
                let mut task = formula_task(system, formulas, ltl.formula, &ltl.propositions, limits, clock);
                if let Ok(task) = &mut task {
                    // A run that ends is no cycle without progress, as in Spin.
                    task.ignores_ends = true;
                }
                task.into()
            }
            PropertyKind::Acceptance(ltl) if arguments.acceptance => {
                formula_task(system, formulas, ltl.formula, &ltl.propositions, limits, clock).into()
            }
            _ => return,
        };
        tasks.push(Task { name: property.name.clone(), kind });
    };
    before.iter().for_each(|property| add(&mut input.model, property, &mut tasks, clock));
    for text in &arguments.ltl {
        let source = input.sources.add("--ltl", text.clone().into_bytes())?;
        let ltl = input.model.formula(source, &input.sources)?;
        let (system, formulas) = input.model.parts();
        let task = formula_task(system, formulas, ltl.formula, &ltl.propositions, &arguments.limits, clock);
        tasks.push(Task { name: super::shortened(text), kind: task.into() });
    }
    behind.iter().for_each(|property| add(&mut input.model, property, &mut tasks, clock));
    Ok(tasks)
}

/// Decides assertions and end states.
pub(super) fn decide<'a>(
    model: &promela::Model,
    safety: &'a Safety,
    tasks: &[Task],
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers<'a>,
) -> Result<(), Failure> {
    let position = |wanted: fn(&TaskKind) -> bool| tasks.iter().position(|task| wanted(&task.kind));
    let assertions = position(|kind| matches!(kind, TaskKind::Assertions));
    let ends = position(|kind| matches!(kind, TaskKind::EndStates));
    if let Some(index) = assertions {
        let wants = ends.filter(|_| !arguments.reduces_safety()).is_some();
        let name = &tasks[index].name;
        let view = safety.view(model, Purpose::Assertions, &mut clock.budget(&arguments.limits));
        let (result, end) = match view {
            Ok(view) => explore((model, view), name, wants, false, arguments, clock, answers)?,
            Err(limit) => (undecided(name, limit_reason(limit)), None),
        };
        answers.results[index] = Some(result);
        if let (Some(ends), Some(end)) = (ends, end) {
            answers.results[ends] = Some(end);
        }
    }
    if let Some(ends) = ends.filter(|&ends| answers.results[ends].is_none() && answers.fault.is_none()) {
        let reduces = arguments.reduces_safety();
        let view = safety.view(model, Purpose::EndStates, &mut clock.budget(&arguments.limits));
        let (other, end) = match view {
            Ok(view) => explore((model, view), END_STATES, true, reduces, arguments, clock, answers)?,
            Err(limit) => (undecided(END_STATES, limit_reason(limit)), None),
        };
        // The model goes wrong before an invalid end state is found.
        let wrong = PropertyResult { verdict: Verdict::Unknown, ..other };
        answers.results[ends] = Some(end.unwrap_or(wrong));
    }
    Ok(())
}

type Results<'a> = (PropertyResult<'a>, Option<PropertyResult<'a>>);

/// One exploration: what it says about errors, and about end states if that is wanted and known.
fn explore<'a>(
    (model, view): (&promela::Model, &'a View),
    name: &str,
    wants_ends: bool,
    reduces: bool,
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers<'_>,
) -> Result<Results<'a>, Failure> {
    let start = clock.seconds();
    let system = &*view.system;
    // The second goal is never reached: the search goes on after a bad end state.
    let both = [Goal::Deadlock, Goal::Invariant(TRUTH)];
    let goals = if wants_ends { &both[..] } else { &both[1..] };
    let explored = if reduces {
        let reduced = check::reduced::Reduced::for_deadlocks(system);
        super::explore(&reduced, goals, &arguments.search, &arguments.limits, clock)?
    } else {
        super::explore(system, goals, &arguments.search, &arguments.limits, clock)?
    };
    clock.clear();
    let method = Method {
        observer: "none",
        search: arguments.search.order.name(),
        reduction: reduction_name(reduces),
        fairness: "none",
        store: arguments.search.store.name(),
    };
    let stats = Statistics {
        states: explored.stats.states,
        transitions: explored.stats.transitions,
        system_states: Some(explored.stats.states),
        observer_states: 0,
        depth: explored.stats.depth,
        seconds: clock.seconds() - start,
        peak_bytes: explored.stats.peak_bytes,
    };
    let result = |name: &str, verdict, reason, counterexample| PropertyResult {
        verdict,
        reason,
        method: Some(method.clone()),
        stats,
        counterexample,
        ..undecided(name, String::new())
    };
    let complete = match explored.coverage {
        Some(coverage) => (Verdict::Unknown, Some(coverage_reason(coverage))),
        None => (Verdict::Holds, None),
    };
    let limited = match &explored.stop {
        Some(Stop::Limit(limit)) => Some(limit_reason(*limit)),
        _ => None,
    };
    let errors = match &explored.stop {
        Some(Stop::Fault(error, run)) => {
            if model.can_refine(error) {
                answers.fault = Some(*error);
            }
            match replay::judge(system, run, Claim::Fault(error.fault)) {
                Ok(replayed) => {
                    let mut trace = told(Trace::new(system, run.clone(), replayed), view);
                    if let Some(action) = error.action {
                        trace.fails(action);
                    }
                    let counterexample = Counterexample {
                        kind: "error",
                        target: "the error",
                        trace,
                        cycle_start: None,
                        fairness: Vec::new(),
                    };
                    let what = view.story.as_ref().and_then(|story| story.fault(error));
                    result(name, Verdict::Violated, what, Some(counterexample))
                }
                Err(rejection) => result(name, Verdict::Unknown, Some(internal_error(&rejection)), None),
            }
        }
        _ => match &limited {
            Some(reason) => result(name, Verdict::Unknown, Some(reason.clone()), None),
            None => result(name, complete.0, complete.1.clone(), None),
        },
    };
    let ends = wants_ends.then(|| match (&explored.violations[0], &explored.stop) {
        (Some(run), _) => Some(match replay::judge(system, run, Claim::Deadlock) {
            Ok(replayed) => {
                let counterexample = Counterexample {
                    kind: "deadlock",
                    target: "an invalid end state",
                    trace: told(Trace::new(system, run.clone(), replayed), view),
                    cycle_start: None,
                    fairness: Vec::new(),
                };
                result(END_STATES, Verdict::Violated, None, Some(counterexample))
            }
            Err(rejection) => result(END_STATES, Verdict::Unknown, Some(internal_error(&rejection)), None),
        }),
        (None, Some(Stop::Fault(..))) => None,
        (None, _) => Some(match &limited {
            Some(reason) => result(END_STATES, Verdict::Unknown, Some(reason.clone()), None),
            None => result(END_STATES, complete.0, complete.1.clone(), None),
        }),
    });
    Ok((errors, ends.flatten()))
}

/// A run, told in the words of its system.
fn told<'a>(mut trace: Trace<'a>, view: &'a View) -> Trace<'a> {
    if let Some(story) = &view.story {
        trace.tell(&**story);
    }
    trace
}
