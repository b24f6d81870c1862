//! `stubborn explore`: counts the states of a model or of a product, and exports the state space.

use std::io::Write as _;

use automata::by_change::small_ta;
use base::{Diagnostic, Diagnostics};
use check::choice::{ReductionWish, Wish};
use check::decide::{Decision, Refusal, Settings};
use check::method::ObserverKind;
use check::search::ProductStop;
use check::{Exact, Stats, Stop, search};
use model::{ActionSystem, Run, StepError, System as _};
use report::ExploreReport;
use report::drawing::{TooLarge, space as space_drawing};
use report::outcome::{ProductInfo, SCHEMA};
use report::space::Space;

use crate::args::{ExploreArguments, ObserverArgument, Order, StoreKind};
use crate::check_command::{explore, limit_reason, shortened};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input, Outcome};
use crate::output;
use crate::property::{FormulaTask, claim_task, formula_task};
use crate::terminal::{self, Clock};

pub(crate) fn run(arguments: &ExploreArguments) -> Result<Exit, Failure> {
    let json = arguments.limits.json;
    let exports = arguments.exports().next().is_some();
    let is_plain = (arguments.search.store, arguments.search.order) == (StoreKind::Exact, Order::Bfs);
    if exports && !is_plain {
        let message = "exporting needs all states, numbered breadth first: use --store exact and --order bfs";
        return Err(Failure::plain("cannot-export", message, json));
    }
    for (at, (option, file)) in arguments.exports().enumerate() {
        if let Some((other, _)) = arguments.exports().take(at).find(|(_, known)| *known == file) {
            let message = format!("{other} and {option} name the same file");
            return Err(Failure::plain("cannot-export", message, json));
        }
    }
    let has_property = arguments.ltl.is_some() || arguments.claim.is_some();
    if has_property && !is_plain {
        let message = "a product is counted breadth first, with all its states: use --store exact and \
                       --order bfs";
        return Err(Failure::plain("usage", message, json));
    }
    if !has_property && arguments.observer != ObserverArgument::Auto {
        let message = "--observer is for the product with a property: give one by --ltl or --claim";
        return Err(Failure::plain("usage", message, json));
    }
    let mut input = input::load(&arguments.model, json)?;
    terminal::catch_interrupts();
    let mut clock = Clock::start(&arguments.limits);
    let explored = input.until_complete(json, |input| explore_all(arguments, input, &mut clock))?;
    let system = input.model.system();
    let seconds = clock.seconds();
    drop(clock);
    if let Some((error, run)) = &explored.fault {
        let n_steps = report::count(run.actions.len() as u64, "step");
        let message = format!("after {n_steps}: {}", system.describe_fault(error));
        return Err(Failure::plain("model-error", message, json));
    }
    Ok(print(arguments, &input, explored, seconds))
}

/// Counts everything.
fn explore_all(
    arguments: &ExploreArguments,
    input: &mut Input,
    clock: &mut Clock,
) -> Result<Outcome<Explored>, Failure> {
    let mut subject = match subject(arguments, input, clock) {
        Ok(subject) => subject,
        Err(diagnostics) => {
            let sources = std::mem::take(&mut input.sources);
            return Err(Failure::new(sources, diagnostics, arguments.limits.json));
        }
    };
    loop {
        let system = input.model.system();
        let explored = match &mut subject {
            Subject::System => explore_system(arguments, system, clock)?,
            Subject::Product(name, task) => explore_product(arguments, system, name, task, clock)?,
            Subject::Untranslated(reason) => {
                Explored { notes: vec![std::mem::take(reason)], ..Explored::default() }
            }
        };
        match explored.fault {
            // With more room, from the beginning: counts are never wrong.
            Some((error, _)) if input.model.widen(&error) => {}
            Some((error, _)) if input.model.can_extend(&error) => return Ok(Outcome::Incomplete(error)),
            _ => return Ok(Outcome::Done(explored)),
        }
    }
}

/// What was counted.
#[derive(Default)]
struct Explored {
    stats: Stats,
    /// Nothing was left out.
    complete: bool,
    /// The model went wrong at the end of this run.
    fault: Option<(StepError, Run)>,
    product: Option<ProductInfo>,
    /// What was left out, or is remarkable.
    notes: Vec<String>,
}

fn explore_system(
    arguments: &ExploreArguments,
    system: &ActionSystem,
    clock: &mut Clock,
) -> Result<Explored, Failure> {
    let exports = arguments.exports().next().is_some();
    let (exploration, store) = if exports {
        let mut budget = clock.budget(&arguments.limits);
        let mut store = Exact::new(system.width(), budget.max_bytes);
        (search::bfs::search(system, &mut store, &[], &mut budget), Some(store))
    } else {
        (explore(system, &[], &arguments.search, &arguments.limits, clock)?, None)
    };
    clock.clear();
    let complete = exploration.stop.is_none() && exploration.coverage.is_none();
    let mut notes = Vec::new();
    let mut fault = None;
    match exploration.stop {
        Some(Stop::Limit(limit)) => notes.push(limit_reason(limit)),
        Some(Stop::Fault(error, run)) => fault = Some((error, run)),
        Some(Stop::AllViolated) | None => {}
    }
    if let (Some(store), true) = (&store, complete) {
        let space = Space { system, store, n_transitions: exploration.stats.transitions };
        export(arguments, &space, &mut notes)?;
    } else if exports {
        notes.push("nothing was exported".to_owned());
    }
    if let Some(coverage) = exploration.coverage {
        let percent = (coverage * 1e4).floor() / 100.0;
        notes.push(format!("bitstate may miss states: estimated coverage {percent} %"));
    }
    Ok(Explored { stats: exploration.stats, complete, fault, product: None, notes })
}

/// What is to be counted.
enum Subject {
    System,
    /// The product with a property of this name.
    Product(String, Box<FormulaTask>),
    /// The product with a property that has no automaton, for this reason.
    Untranslated(String),
}

fn subject(
    arguments: &ExploreArguments,
    input: &mut Input,
    clock: &mut Clock,
) -> Result<Subject, Diagnostics> {
    if let Some(text) = &arguments.ltl {
        let source = input.sources.add("--ltl", text.clone().into_bytes())?;
        let parsed = ltl::parse(input.model.formulas(), text, source, 0)?;
        let propositions = input.model.resolve_propositions(&parsed, &input.sources)?;
        let (system, formulas) = input.model.parts();
        let task = formula_task(system, formulas, parsed.formula, &propositions, &arguments.limits, clock);
        return Ok(match task {
            Ok(task) => Subject::Product(shortened(text), Box::new(task)),
            Err(reason) => Subject::Untranslated(reason),
        });
    }
    let Some(path) = &arguments.claim else { return Ok(Subject::System) };
    let mut claims = input::read_automata(path, input.model.formulas(), &mut input.sources)?;
    match (claims.pop(), claims.len()) {
        (Some((name, claim)), 0) => {
            Ok(Subject::Product(name, Box::new(claim_task(input, path, claim, clock)?)))
        }
        (_, n_others) => {
            let message = format!("`{}` contains {} automata: give one", path.display(), n_others + 1);
            Err(Diagnostic::error("usage", message).into())
        }
    }
}

fn explore_product(
    arguments: &ExploreArguments,
    system: &ActionSystem,
    name: &str,
    task: &mut FormulaTask,
    clock: &mut Clock,
) -> Result<Explored, Failure> {
    let refuse = |why: Refusal| {
        let message = format!("`{name}` cannot be watched this way: {why}");
        Failure::plain("method", message, arguments.limits.json)
    };
    let wish =
        Wish { observer: arguments.observer.kind(), reduction: ReductionWish::None, ..Wish::default() };
    let observer = task.choose(wish).map_err(refuse)?.method.observer;
    if observer == ObserverKind::Ta && task.written.is_none() {
        // As it is used for a search, it stops where it has seen enough.
        let limits = automata::by_change::Limits::default();
        task.claim.forms.ta = small_ta(&task.claim.tgba, &limits, &mut clock.budget(&arguments.limits)).ok();
    }
    let mut budget = clock.budget(&arguments.limits);
    let counted = task.claim.count(system, observer, &Settings::default(), &mut budget);
    clock.clear();
    let Decision { outcome, observer_states, .. } = counted.map_err(refuse)?;
    let mut explored = Explored {
        stats: outcome.stats,
        complete: outcome.stop.is_none(),
        product: Some(ProductInfo {
            observer: observer.name(),
            system_states: outcome.system_states.unwrap_or(0),
            observer_states,
        }),
        ..Explored::default()
    };
    match outcome.stop {
        Some(ProductStop::Limit(limit)) => explored.notes.push(limit_reason(limit)),
        Some(ProductStop::Fault(error, run)) => explored.fault = Some((error, run)),
        Some(ProductStop::Found(_) | ProductStop::NoRun) | None => {}
    }
    Ok(explored)
}

fn print(arguments: &ExploreArguments, input: &Input, explored: Explored, seconds: f64) -> Exit {
    let Explored { stats, complete, product, notes, .. } = explored;
    let model = input.info();
    let report = ExploreReport {
        schema: SCHEMA,
        complete,
        reason: (!notes.is_empty()).then(|| notes.join("; ")),
        states: stats.states,
        transitions: stats.transitions,
        deadlocks: stats.deadlocks,
        depth: stats.depth,
        seconds,
        peak_bytes: stats.peak_bytes,
        state_bytes: model.state_bytes,
        model,
        product,
    };
    if arguments.limits.json {
        let document = serde_json::to_string_pretty(&report).unwrap_or_default();
        terminal::print_stdout(&(document + "\n"));
    } else {
        terminal::print_stdout(&report.to_text());
    }
    if complete { Exit::Success } else { Exit::Undecided }
}

fn export(arguments: &ExploreArguments, space: &Space<'_>, notes: &mut Vec<String>) -> Result<(), Failure> {
    let json = arguments.limits.json;
    // First, since there may be none.
    let picture = arguments.svg.as_ref().map(|path| Ok((path, picture(space, json)?))).transpose()?;
    if let Some(path) = &arguments.aut {
        let n_initial = space.initial().len();
        if n_initial > 1 {
            notes.push(format!("{n_initial} initial states: state 0 of the .aut file is artificial"));
        }
        output::write(path, json, |out| space.write_aut(out))?;
    }
    if let Some(path) = &arguments.dot {
        output::write(path, json, |out| space.write_dot(out))?;
    }
    if let Some((path, picture)) = picture {
        output::write(path, json, |out| out.write_all(picture.as_bytes()))?;
    }
    Ok(())
}

fn picture(space: &Space<'_>, json: bool) -> Result<String, Failure> {
    let too_large =
        |reason: TooLarge| Failure::plain("too-large", format!("{reason}: use --dot instead of --svg"), json);
    space_drawing::check_size(space).map_err(too_large)?;
    let drawing = space_drawing::draw(space, "states")
        .map_err(|error| Failure::plain("model-error", error.to_string(), json))?;
    drawing.to_svg().map_err(too_large)
}
