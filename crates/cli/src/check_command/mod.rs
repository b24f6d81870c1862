//! `stubborn check`: decides the properties of a model.
//!
//! Deadlock freedom and invariants without reduction share one exploration; everything else has a
//! search of its own. See [`safety`], [`tester`], [`formula`] and [`contest`].

mod contest;
mod fairness;
mod formula;
mod page;
mod promela;
mod safety;
mod simplified;
mod tester;
mod vacuity;

use std::path::Path;

use automata::Tester;
use base::{Budget, Diagnostic, Diagnostics, Limit};
use check::Goal;
use ltl::Formulas;
use model::{ActionSystem, ExprId, LabelId, StepError};
use process::PropertyKind;
use report::outcome::SCHEMA;
use report::{CheckReport, PropertyResult, Statistics, Verdict};

use self::fairness::Constraints;
use self::simplified::Simplified;
use crate::args::{CheckArguments, Reduce};
use crate::exit::{Exit, Failure};
use crate::explain_command;
use crate::input::{self, Input, Loaded, Outcome, Questions};
use crate::property::{FormulaTask, claim_task, formula_task};
use crate::terminal::{self, Clock};

pub(crate) use contest::read_properties;
pub(crate) use safety::explore;

/// The name of the property that every model has.
const DEADLOCK_FREEDOM: &str = "deadlock-free";

/// The tester of a specification may have this many states and transitions.
const MAX_TESTER_SIZE: usize = 2_000_000;

/// A property to be decided.
struct Task {
    name: String,
    kind: TaskKind,
}

enum TaskKind {
    Safety(Goal),
    /// Whether the goal can be violated.
    Possible(Goal),
    /// The greatest value of an expression.
    Maximum(ExprId),
    /// No assertion of a model in Promela fails, and nothing else goes wrong.
    Assertions,
    /// No process of a model in Promela gets stuck where it may not.
    EndStates,
    Tester(Tester, Vec<LabelId>),
    Formula(Box<FormulaTask>),
    /// The structure of a net decides it.
    Proved(Verdict),
    /// It cannot be decided, for this reason.
    Undecided(String),
}

impl From<Result<FormulaTask, String>> for TaskKind {
    fn from(task: Result<FormulaTask, String>) -> TaskKind {
        match task {
            Ok(task) => TaskKind::Formula(Box::new(task)),
            Err(reason) => TaskKind::Undecided(reason),
        }
    }
}

/// The answers so far, in the order of the tasks.
struct Answers<'a> {
    results: Vec<Option<PropertyResult<'a>>>,
    /// How the model went wrong, if it did; the first way.
    fault: Option<StepError>,
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// The answers and the runs.
    Answers,
    /// The runs in words.
    Words,
}

pub(crate) fn run(arguments: &CheckArguments, telling: Telling) -> Result<Exit, Failure> {
    let json = arguments.limits.json;
    if arguments.verify_reduction && arguments.reduce == Reduce::None {
        let message = "--verify-reduction needs a reduction: leave out --reduce none";
        return Err(Failure::plain("usage", message, json));
    }
    let questions = Questions { formulas: arguments.ltl.clone(), claims: arguments.claim.clone() };
    let mut input = input::load_for(&arguments.model, &questions, json)?;
    terminal::catch_interrupts();
    let mut clock = Clock::start(&arguments.limits);
    input.until_complete(json, |input| decide_all(input, arguments, telling, &mut clock))
}

/// Decides everything, and says so.
fn decide_all(
    input: &mut Input,
    arguments: &CheckArguments,
    telling: Telling,
    clock: &mut Clock,
) -> Result<Outcome<Exit>, Failure> {
    let json = arguments.limits.json;
    let failure = |input: &mut Input, diagnostics: Diagnostics| {
        Failure::new(std::mem::take(&mut input.sources), diagnostics, json)
    };
    let mut tasks = match select(input, arguments, clock) {
        Ok(tasks) => tasks,
        Err(diagnostics) => return Err(failure(input, diagnostics)),
    };
    clock.clear();
    let constraints = match Constraints::new(&input.model, &arguments.fair) {
        Ok(constraints) => constraints,
        Err(diagnostic) => return Err(failure(input, diagnostic.into())),
    };
    input.model.settle();
    let safety = match &input.model {
        Loaded::Promela(model) => match promela::Safety::new(model) {
            Ok(safety) => Some(safety),
            Err(diagnostics) => return Err(failure(input, diagnostics)),
        },
        _ => None,
    };
    let mut simplified = simplified::simplify(&mut input.model, &tasks, &constraints, arguments, clock);
    let is_simplified = simplified.iter().any(Option::is_some);
    let spacious = is_simplified.then(|| simplified::spacious(&input.model)).flatten();
    let mut formulas = std::mem::take(input.model.formulas());
    let answers = loop {
        let model = &input.model;
        let safety = safety.as_ref();
        let systems = Systems {
            plain: model.system(),
            spacious: spacious.as_ref().map_or(model.system(), |model| &model.system),
            safety,
        };
        let mut session = Session { formulas: &mut formulas, constraints: &constraints, arguments, clock };
        let answers = decide(model, systems, &mut session, &mut tasks, &mut simplified)?;
        match answers.fault {
            Some(error) if model.can_widen(&error) => {
                // Everything that was found is about states that are packed in another way.
                drop(answers);
                input.model.widen(&error);
            }
            Some(error) if safety.is_some_and(|safety| safety.can_extend(&error)) => {
                drop(answers);
                *input.model.formulas() = formulas;
                return Ok(Outcome::Incomplete(error));
            }
            _ => break answers,
        }
    };
    clock.clear();
    let stories = promela::stories(input, safety.as_ref());
    let answered = answers.results.iter().zip(&tasks).filter(|(result, _)| result.is_some());
    let watchers = page::watchers(answered.map(|(_, task)| task), &formulas);
    let mut results: Vec<PropertyResult<'_>> = answers.results.into_iter().flatten().collect();
    promela::tell(&mut results, &stories);
    let exit = exit_code(&results, answers.fault.is_some());
    let report = CheckReport { schema: SCHEMA, model: input.info(), results };
    match (telling, json) {
        (Telling::Words, _) => explain_command::print(&report, json),
        (Telling::Answers, true) => {
            let document = serde_json::to_string_pretty(&report).unwrap_or_default();
            terminal::print_stdout(&(document + "\n"));
        }
        (Telling::Answers, false) => terminal::print_stdout(&to_text(&report)),
    }
    if let Some(prefix) = &arguments.chart {
        write_charts(prefix, &report, json)?;
    }
    if let Some(path) = &arguments.report {
        page::write(path, &report, &watchers, input, json)?;
    }
    Ok(Outcome::Done(exit))
}

/// Runs as message sequence charts.
fn write_charts(prefix: &str, report: &CheckReport<'_>, json: bool) -> Result<(), Failure> {
    let runs = report.results.iter().filter_map(|result| Some((result, result.counterexample.as_ref()?)));
    for (number, (result, counterexample)) in runs.enumerate() {
        if prefix == "-" {
            let chart = report::chart::to_text(&counterexample.trace);
            terminal::print_stdout(&format!("\n{}:\n{chart}", result.property));
            continue;
        }
        let path = format!("{prefix}-{}.svg", number + 1);
        let chart = report::chart::to_svg(&counterexample.trace);
        std::fs::write(&path, chart).map_err(|error| {
            Failure::plain("cannot-write", format!("cannot write `{path}`: {error}"), json)
        })?;
    }
    Ok(())
}

/// The systems that a model gives rise to.
#[derive(Clone, Copy)]
struct Systems<'a> {
    plain: &'a ActionSystem,
    /// With room in every place: for runs that were found on simpler nets.
    spacious: &'a ActionSystem,
    safety: Option<&'a promela::Safety>,
}

/// What all questions of a command share.
struct Session<'s> {
    formulas: &'s mut Formulas,
    constraints: &'s Constraints,
    arguments: &'s CheckArguments,
    clock: &'s mut Clock,
}

/// Decides all tasks, or as many as can be until a place has too little room.
fn decide<'a>(
    model: &'a Loaded,
    systems: Systems<'a>,
    session: &mut Session<'_>,
    tasks: &mut [Task],
    simplified: &mut [Option<Simplified>],
) -> Result<Answers<'a>, Failure> {
    let Systems { plain: system, spacious, safety } = systems;
    let Session { formulas, constraints, arguments, clock } = session;
    let mut answers = Answers { results: tasks.iter().map(|_| None).collect(), fault: None };
    safety::decide(systems, tasks, simplified, arguments, clock, &mut answers)?;
    if let Some(safety) = safety {
        promela::decide(safety, tasks, arguments, clock, &mut answers)?;
    }
    contest::decide_maxima(system, tasks, arguments, clock, &mut answers);
    for (index, (task, simplified)) in tasks.iter_mut().zip(simplified).enumerate() {
        let is_incomplete = |error: StepError| {
            model.can_widen(&error) || safety.is_some_and(|safety| safety.can_extend(&error))
        };
        if answers.fault.is_some_and(is_incomplete) {
            break;
        }
        let name = &task.name;
        let result = match &mut task.kind {
            TaskKind::Safety(_)
            | TaskKind::Possible(_)
            | TaskKind::Maximum(_)
            | TaskKind::Assertions
            | TaskKind::EndStates => continue,
            TaskKind::Tester(tester, labels) => {
                let question = tester::Question { name, system, tester, labels, constraints };
                question.decide(arguments, clock, &mut answers.fault)?
            }
            TaskKind::Formula(task) => {
                let system = if simplified.is_some() { spacious } else { system };
                let simplified = simplified.as_mut();
                let mut question =
                    formula::Question { name, system, formulas, task, constraints, simplified };
                question.decide(arguments, clock, &mut answers.fault)?
            }
            TaskKind::Proved(verdict) => {
                let reason = "by the structure of the net and its first marking, without a search";
                PropertyResult { verdict: *verdict, ..undecided(name, reason.to_owned()) }
            }
            TaskKind::Undecided(reason) => undecided(name, reason.clone()),
        };
        answers.results[index] = Some(result);
    }
    Ok(answers)
}

/// The results, with the figures of a search after the last result it gave.
fn to_text(report: &CheckReport<'_>) -> String {
    let mut text = report.model.to_text() + "\n";
    let shares_search = |a: &PropertyResult<'_>, b: &PropertyResult<'_>| {
        let observer = |result: &PropertyResult<'_>| result.method.as_ref().map(|method| method.observer);
        observer(a) == Some("none") && observer(b) == Some("none") && a.stats == b.stats
    };
    for (index, result) in report.results.iter().enumerate() {
        text += &result.to_text();
        let is_last = report.results.get(index + 1).is_none_or(|next| !shares_search(result, next));
        if let (Some(method), true) = (&result.method, is_last) {
            text += &format!("  {} ({})\n", result.stats.to_text(), method.to_text());
        }
    }
    text
}

/// The properties that were asked for; without any, those that the file declares.
fn select(
    input: &mut Input,
    arguments: &CheckArguments,
    clock: &mut Clock,
) -> Result<Vec<Task>, Diagnostics> {
    let limits = &arguments.limits;
    let model = &mut input.model;
    let declared = model.properties().to_vec();
    let asked = &arguments.property;
    let everything = asked.is_empty()
        && arguments.ltl.is_empty()
        && arguments.claim.is_empty()
        && arguments.mcc.is_none()
        && !(arguments.deadlock_free || arguments.nonprogress || arguments.acceptance);
    let of_promela = match model {
        Loaded::Promela(model) => model.names(),
        _ => vec![DEADLOCK_FREEDOM.to_owned()],
    };
    let known = || {
        let declared = declared.iter().map(|property| property.name.as_str());
        declared.chain(of_promela.iter().map(String::as_str))
    };
    for name in asked {
        if !known().any(|known| is_named(known, name)) {
            let list: Vec<String> = known().map(|name| format!("`{name}`")).collect();
            return Err(Diagnostic::error(
                "unknown-property",
                format!("the file declares no property `{name}`"),
            )
            .with_help(format!("known are {}", list.join(", ")))
            .suggesting(name, known())
            .into());
        }
    }
    if let Loaded::Promela(model) = model {
        let is_asked = |name: &str| everything || asked.iter().any(|asked| is_named(name, asked));
        let mut tasks = promela::select(model, arguments, clock, &is_asked)?;
        for path in &arguments.claim {
            tasks.extend(claim_tasks(input, path, clock)?);
        }
        return Ok(tasks);
    }
    if arguments.nonprogress || arguments.acceptance {
        let message = "--nonprogress and --acceptance are for models in Promela";
        return Err(Diagnostic::error("usage", message).into());
    }
    let wants_deadlock = arguments.deadlock_free
        || asked.iter().any(|name| name == DEADLOCK_FREEDOM)
        || everything && (declared.is_empty() || model.is_deadlock_free());
    let mut tasks = Vec::new();
    if wants_deadlock {
        tasks.push(Task { name: DEADLOCK_FREEDOM.to_owned(), kind: TaskKind::Safety(Goal::Deadlock) });
    }
    let is_asked = |name: &str| everything || asked.iter().any(|asked| is_named(name, asked));
    for property in declared.into_iter().filter(|property| is_asked(&property.name)) {
        let (system, formulas) = model.parts();
        let kind = match property.kind {
            PropertyKind::Invariant(expr) => {
                TaskKind::Safety(Goal::Invariant(system.add_proposition(&property.name, expr)))
            }
            PropertyKind::Tester(observed) => TaskKind::Tester(observed.process, observed.labels),
            PropertyKind::Spec(observed) => {
                match observed.process.to_tester(MAX_TESTER_SIZE, &mut Budget::unlimited()) {
                    Ok(tester) => TaskKind::Tester(tester, observed.labels),
                    Err(_) => {
                        let message = format!("the tester of spec `{}` would be too large", property.name);
                        return Err(Diagnostic::error("too-large", message).at(property.span, "").into());
                    }
                }
            }
            PropertyKind::Ltl(ltl) => {
                formula_task(system, formulas, ltl.formula, &ltl.propositions, limits, clock).into()
            }
        };
        tasks.push(Task { name: property.name, kind });
    }
    for text in &arguments.ltl {
        let source = input.sources.add("--ltl", text.clone().into_bytes())?;
        let parsed = ltl::parse(model.formulas(), text, source, 0)?;
        let propositions = model.resolve_propositions(&parsed, &input.sources)?;
        let (system, formulas) = model.parts();
        let task = formula_task(system, formulas, parsed.formula, &propositions, limits, clock);
        tasks.push(Task { name: shortened(text), kind: task.into() });
    }
    for path in &arguments.claim {
        tasks.extend(claim_tasks(input, path, clock)?);
    }
    if let Some(path) = &arguments.mcc {
        tasks.extend(contest::tasks(input, path, arguments, clock)?);
    }
    Ok(tasks)
}

/// The automata of a file.
fn claim_tasks(input: &mut Input, path: &Path, clock: &Clock) -> Result<Vec<Task>, Diagnostics> {
    let mut tasks = Vec::new();
    for (name, claim) in input::read_automata(path, input.model.formulas(), &mut input.sources)? {
        let task = claim_task(input, path, claim, clock)?;
        tasks.push(Task { name, kind: TaskKind::Formula(Box::new(task)) });
    }
    Ok(tasks)
}

/// The text of a formula as a name: of a very long one the beginning.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_LETTERS: usize = 300;
    let mut name: String = text.chars().take(MAX_LETTERS).collect();
    if name.len() < text.len() {
        name.push('…');
    }
    name
}

/// Whether a property is meant by a name: its own, or that of all instances with parameters.
fn is_named(property: &str, name: &str) -> bool {
    property.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

fn undecided(property: &str, reason: String) -> PropertyResult<'static> {
    PropertyResult {
        property: property.to_owned(),
        verdict: Verdict::Unknown,
        reason: Some(reason),
        method: None,
        chosen: None,
        choice: Vec::new(),
        stats: Statistics::default(),
        counterexample: None,
        reduction_check: None,
    }
}

fn internal_error(rejection: &impl std::fmt::Display) -> String {
    format!("internal error, please report it: the run found does not stand up to replay: {rejection}")
}

fn lost_run() -> String {
    "internal error, please report it: no run leads to what was found".to_owned()
}

/// Why a search ended early, in a few words.
pub(crate) fn limit_reason(limit: Limit) -> String {
    match limit {
        Limit::Memory(u64::MAX) => "out of memory".to_owned(),
        Limit::Memory(bytes) => format!("memory limit of {} reached", report::human_bytes(bytes)),
        _ => limit.to_string(),
    }
}

/// What an incomplete store lets one say.
fn coverage_reason(coverage: f64) -> String {
    let percent = (coverage * 1e4).floor() / 100.0;
    format!("no violation found, but bitstate may miss states: estimated coverage {percent} %")
}

fn reduction_name(reduces: bool) -> &'static str {
    if reduces { "stubborn" } else { "none" }
}

fn exit_code(results: &[PropertyResult<'_>], has_fault: bool) -> Exit {
    let some = |verdict| results.iter().any(|result| result.verdict == verdict);
    if some(Verdict::Violated) {
        Exit::Violated
    } else if has_fault {
        Exit::BadInput
    } else if some(Verdict::Unknown) {
        Exit::Undecided
    } else {
        Exit::Success
    }
}
