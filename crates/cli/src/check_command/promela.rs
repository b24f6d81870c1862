//! What every model in Promela promises: its assertions, and that it does not get stuck. And what labels
//! promise: progress, and nothing that is accepted.
//!
//! Assertions and end states share one exploration. If an assertion fails there, end states are looked for
//! in another one, in which assertions are not looked at.

use automata::AnyAutomaton;
use base::{Diagnostics, SourceMap};
use check::{Goal, Stop};
use ltl::Formulas;
use model::{ExprId, Run, StepError};
use promela::lower::Code;
use replay::{Doubt, Question};
use report::method::{Fairness, Method, Observer};
use report::outcome::{Counterexample, Kind, Target};
use report::{PropertyResult, Statistics, Trace, Verdict};

use super::judge;
use super::{Answers, Task, TaskKind, coverage_reason, internal_error, limit_reason, reduction, undecided};
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
    sources: SourceMap,
    file: String,
}

impl Safety {
    pub(super) fn new(model: &PromelaModel, sources: &SourceMap, file: &str) -> Result<Safety, Diagnostics> {
        let (asserting, ending) = (model.model.safety()?, model.model.ends()?);
        let (sources, file) = (sources.clone(), file.to_owned());
        let mut safety = Safety { asserting, ending, sources, file };
        for code in [&mut safety.asserting, &mut safety.ending] {
            let truth = code.system.exprs.int(1);
            code.system.add_proposition("true", truth);
        }
        Ok(safety)
    }

    /// A run as it is told.
    fn trace(&self, code: &Code, question: &Question<'_>, run: &Run) -> Result<Trace, Doubt> {
        let mut trace = judge::finite(&code.system, question, run)?;
        trace.tell(PromelaStory::new(code, &self.sources, &self.file));
        Ok(trace)
    }

    /// Whether a fault only says that code is missing.
    pub(super) fn can_extend(&self, error: &StepError) -> bool {
        self.asserting.can_extend(error) || self.ending.can_extend(error)
    }
}

/// Lets the code of formulas tell what was found in its runs.
pub(super) fn tell(results: &mut [PropertyResult], input: &Input) {
    let Loaded::Promela(model) = &input.model else { return };
    let found = results.iter_mut().filter_map(|result| result.counterexample.as_mut());
    for found in found.filter(|found| found.trace.story().is_none()) {
        found.trace.tell(PromelaStory::new(&model.model.code, &input.sources, &input.file));
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
pub(super) fn decide(
    safety: &Safety,
    tasks: &[Task],
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let position = |wanted: fn(&TaskKind) -> bool| tasks.iter().position(|task| wanted(&task.kind));
    let assertions = position(|kind| matches!(kind, TaskKind::Assertions));
    let ends = position(|kind| matches!(kind, TaskKind::EndStates));
    if let Some(index) = assertions {
        let wants = ends.filter(|_| !arguments.reduces_safety()).is_some();
        let (result, end) = explore(safety, ASSERTIONS, wants, false, arguments, clock, answers)?;
        answers.results[index] = Some(result);
        if let (Some(ends), Some(end)) = (ends, end) {
            answers.results[ends] = Some(end);
        }
    }
    if let Some(ends) = ends.filter(|&ends| answers.results[ends].is_none() && answers.fault.is_none()) {
        let reduces = arguments.reduces_safety();
        let (other, end) = explore(safety, END_STATES, true, reduces, arguments, clock, answers)?;
        // The model goes wrong before an invalid end state is found.
        let wrong = PropertyResult { verdict: Verdict::Unknown, ..other };
        answers.results[ends] = Some(end.unwrap_or(wrong));
    }
    Ok(())
}

type Results = (PropertyResult, Option<PropertyResult>);

/// One exploration: what it says about errors, and about end states if that is wanted and known.
fn explore(
    safety: &Safety,
    name: &str,
    wants_ends: bool,
    reduces: bool,
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers,
) -> Result<Results, Failure> {
    let start = clock.seconds();
    let code = if name == ASSERTIONS { &safety.asserting } else { &safety.ending };
    let system = &code.system;
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
        observer: Observer::None,
        search: arguments.search.order.kind(),
        reduction: reduction(reduces),
        fairness: Fairness::None,
        store: arguments.search.store.kind(),
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
        method: Some(method),
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
            match safety.trace(code, &Question::Fault(error.fault), run) {
                Ok(mut trace) => {
                    if let Some(action) = error.action {
                        trace.fails(action);
                    }
                    let counterexample = Counterexample::finite(Kind::Error, Target::Error, trace);
                    result(name, Verdict::Violated, Some(code.describe(error)), Some(counterexample))
                }
                Err(doubt) => result(name, Verdict::Unknown, Some(internal_error(&doubt)), None),
            }
        }
        _ => match &limited {
            Some(reason) => result(name, Verdict::Unknown, Some(reason.clone()), None),
            None => result(name, complete.0, complete.1.clone(), None),
        },
    };
    let ends = wants_ends.then(|| match (&explored.violations[0], &explored.stop) {
        (Some(run), _) => Some(match safety.trace(code, &Question::Deadlock, run) {
            Ok(trace) => {
                let counterexample = Counterexample::finite(Kind::Deadlock, Target::InvalidEnd, trace);
                result(END_STATES, Verdict::Violated, None, Some(counterexample))
            }
            Err(doubt) => result(END_STATES, Verdict::Unknown, Some(internal_error(&doubt)), None),
        }),
        (None, Some(Stop::Fault(..))) => None,
        (None, _) => Some(match &limited {
            Some(reason) => result(END_STATES, Verdict::Unknown, Some(reason.clone()), None),
            None => result(END_STATES, complete.0, complete.1.clone(), None),
        }),
    });
    Ok((errors, ends.flatten()))
}
