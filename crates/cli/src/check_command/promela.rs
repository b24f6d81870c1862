//! What every model in Promela promises: its assertions, and that it does not get stuck. And what labels
//! promise: progress, and nothing that is accepted.
//!
//! Assertions and end states share one exploration. If an assertion fails there, end states are looked for
//! in another one, in which assertions are not looked at.

use automata::AnyAutomaton;
use base::Diagnostics;
use check::{Goal, Stop};
use ltl::Formulas;
use model::{ExprId, StepError};
use promela::lower::Code;
use replay::Claim;
use report::outcome::Counterexample;
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::{
    Answers, Task, TaskKind, coverage_reason, internal_error, limit_reason, reduction_name, undecided,
};
use crate::args::CheckArguments;
use crate::exit::Failure;
use crate::input::{Input, Loaded, PromelaModel};
use crate::property::{automaton_task, formula_task};
use crate::story::PromelaStory;
use crate::terminal::Clock;

/// The names of the properties that every model has, and of those that labels make.
pub(super) const ASSERTIONS: &str = "assertions";
pub(super) const END_STATES: &str = "end-states";
const PROGRESS: &str = "progress";
const ACCEPTANCE: &str = "acceptance";

/// The proposition that is always true, by its number.
const TRUTH: usize = 0;

/// The code that these properties are about.
pub(super) struct Safety {
    /// With assertions.
    asserting: Code,
    /// Without.
    ending: Code,
}

impl Safety {
    pub(super) fn new(model: &PromelaModel) -> Result<Safety, Diagnostics> {
        let mut safety = Safety { asserting: model.model.safety()?, ending: model.model.ends()? };
        for code in [&mut safety.asserting, &mut safety.ending] {
            let truth = code.system.exprs.int(1);
            code.system.add_proposition("true", truth);
        }
        Ok(safety)
    }

    /// Whether a fault only says that code is missing.
    pub(super) fn can_extend(&self, error: &StepError) -> bool {
        self.asserting.can_extend(error) || self.ending.can_extend(error)
    }
}

/// Those who can tell the runs of a model: of its formulas, of its assertions, and of its end states.
pub(super) fn stories<'a>(input: &'a Input, safety: Option<&'a Safety>) -> Vec<PromelaStory<'a>> {
    let (Loaded::Promela(model), Some(safety)) = (&input.model, safety) else { return Vec::new() };
    let (sources, file) = (&input.sources, input.file.as_str());
    let codes = [&model.model.code, &safety.asserting, &safety.ending];
    codes.map(|code| PromelaStory { code, sources, file }).into()
}

/// Lets them tell what was found.
pub(super) fn tell<'a>(results: &mut [PropertyResult<'a>], stories: &'a [PromelaStory<'a>]) {
    for found in results.iter_mut().filter_map(|result| result.counterexample.as_mut()) {
        let is_its =
            |story: &&PromelaStory<'a>| std::ptr::eq(&raw const story.code.system, found.trace.system());
        if let Some(story) = stories.iter().find(is_its) {
            found.trace.tell(story);
        }
    }
}

/// What is asked, or everything that the file promises.
pub(super) fn select(
    model: &mut PromelaModel,
    arguments: &CheckArguments,
    clock: &mut Clock,
    is_asked: &dyn Fn(&str) -> bool,
) -> Result<Vec<Task>, Diagnostics> {
    let limits = &arguments.limits;
    let mut tasks = Vec::new();
    if is_asked(ASSERTIONS) {
        tasks.push(Task { name: ASSERTIONS.to_owned(), kind: TaskKind::Assertions });
    }
    if is_asked(END_STATES) || arguments.deadlock_free {
        tasks.push(Task { name: END_STATES.to_owned(), kind: TaskKind::EndStates });
    }
    let (declared, asked) = model.properties.split_at(model.n_declared);
    let declared = declared.iter().filter(|property| is_asked(&property.name));
    let shown = |name: &str, index: Option<usize>| match index {
        Some(index) => super::shortened(&arguments.ltl[index]),
        None => name.to_owned(),
    };
    let declared = declared.map(|property| (property, None));
    let asked = asked.iter().enumerate().map(|(index, property)| (property, Some(index)));
    for (property, index) in declared.chain(asked) {
        let (system, formulas) = (&mut model.model.code.system, &mut model.model.formulas);
        let task = formula_task(system, formulas, property.formula, &property.propositions, limits, clock);
        tasks.push(Task { name: shown(&property.name, index), kind: task.into() });
    }
    for (name, claim) in model.model.claims()? {
        if is_asked(&name) {
            let formulas = &mut model.model.formulas;
            let task = automaton_task(
                &mut model.model.code.system,
                formulas,
                AnyAutomaton::Tgba(claim.automaton),
                claim.propositions,
                clock,
            );
            tasks.push(Task { name, kind: TaskKind::Formula(Box::new(task)) });
        }
    }
    if arguments.nonprogress {
        let expr = model.model.code.non_progress()?;
        tasks.push(again_and_again(model, PROGRESS, "np_", expr, false, arguments, clock));
    }
    if arguments.acceptance {
        let expr = model.model.code.accepts()?;
        tasks.push(again_and_again(model, ACCEPTANCE, "accept_", expr, true, arguments, clock));
    }
    Ok(tasks)
}

/// That an expression is false again and again; or, for ever from some point on.
fn again_and_again(
    model: &mut PromelaModel,
    name: &str,
    text: &str,
    expr: ExprId,
    for_ever: bool,
    arguments: &CheckArguments,
    clock: &mut Clock,
) -> Task {
    let formulas: &mut Formulas = &mut model.model.formulas;
    let prop = formulas.proposition(text);
    let holds = formulas.prop(prop);
    let fails = formulas.not(holds);
    let formula = if for_ever {
        let always = formulas.globally(fails);
        formulas.finally(always)
    } else {
        let some_day = formulas.finally(fails);
        formulas.globally(some_day)
    };
    let system = &mut model.model.code.system;
    let mut task = formula_task(system, formulas, formula, &[(prop, expr)], &arguments.limits, clock);
    if let (Ok(task), false) = (&mut task, for_ever) {
        // A run that ends is no cycle without progress, as in Spin; but it may be accepted.
        task.ignores_ends = true;
    }
    Task { name: name.to_owned(), kind: task.into() }
}

/// Decides assertions and end states.
pub(super) fn decide<'a>(
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
        let (result, end) =
            explore(&safety.asserting, &tasks[index].name, wants, false, arguments, clock, answers)?;
        answers.results[index] = Some(result);
        if let (Some(ends), Some(end)) = (ends, end) {
            answers.results[ends] = Some(end);
        }
    }
    if let Some(ends) = ends.filter(|&ends| answers.results[ends].is_none() && answers.fault.is_none()) {
        let reduces = arguments.reduces_safety();
        let (other, end) = explore(&safety.ending, END_STATES, true, reduces, arguments, clock, answers)?;
        // The model goes wrong before an invalid end state is found.
        let wrong = PropertyResult { verdict: Verdict::Unknown, ..other };
        answers.results[ends] = Some(end.unwrap_or(wrong));
    }
    Ok(())
}

type Results<'a> = (PropertyResult<'a>, Option<PropertyResult<'a>>);

/// One exploration: what it says about errors, and about end states if that is wanted and known.
fn explore<'a>(
    code: &'a Code,
    name: &str,
    wants_ends: bool,
    reduces: bool,
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers<'_>,
) -> Result<Results<'a>, Failure> {
    let start = clock.seconds();
    let system = &code.system;
    // The second goal is never reached: the search goes on after a bad end state.
    let both = [Goal::Deadlock, Goal::Invariant(TRUTH)];
    let goals = if wants_ends { &both[..] } else { &both[1..] };
    let explored = if reduces {
        let mut budget = clock.budget(&arguments.limits);
        match check::reduced::Reduced::for_deadlocks(system, &mut budget) {
            Ok(reduced) => super::explore(&reduced, goals, &arguments.search, &arguments.limits, clock)?,
            Err(limit) => check::Exploration::limited(goals.len(), limit),
        }
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
            if code.can_extend(error) {
                answers.fault = Some(*error);
            }
            match replay::judge(system, run, Claim::Fault(error.fault)) {
                Ok(replayed) => {
                    let mut trace = Trace::new(system, run.clone(), replayed);
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
                    result(name, Verdict::Violated, Some(code.describe(error)), Some(counterexample))
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
                    trace: Trace::new(system, run.clone(), replayed),
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
