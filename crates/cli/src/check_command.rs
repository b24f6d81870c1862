//! `stubborn check`: decides the properties of a model.

use base::{Diagnostic, Limit};
use check::{Bitstate, Exact, Exploration, Goal, Stop, search, store};
use model::{ActionSystem, Expr, Run, System as _};
use process::PropertyKind;
use replay::Claim;
use report::outcome::{Counterexample, SCHEMA};
use report::{CheckReport, Method, PropertyResult, Statistics, Trace, Verdict};

use crate::args::{CheckArguments, Limits, Order, SearchArguments, StoreKind};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input};
use crate::terminal::{self, Clock};

/// The name of the property that every model has.
const DEADLOCK_FREEDOM: &str = "deadlock-free";

/// A property to be decided: in the exploration, or not at all.
struct Task {
    name: String,
    goal: Result<Goal, &'static str>,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit, Failure> {
    let json = arguments.limits.json;
    let mut input = input::load(&arguments.model, json)?;
    let tasks = match select(&mut input, arguments) {
        Ok(tasks) => tasks,
        Err(diagnostic) => return Err(Failure::new(input.sources, diagnostic, json)),
    };
    terminal::catch_interrupts();
    let system = &input.model.system;
    let goals: Vec<Goal> = tasks.iter().filter_map(|task| task.goal.ok()).collect();
    let mut clock = Clock::start(&arguments.limits);
    let exploration = explore(system, &goals, &arguments.search, &arguments.limits, &mut clock)?;
    let seconds = clock.seconds();
    drop(clock);
    let judge = Judge { system, exploration: &exploration, search: &arguments.search, seconds };
    let mut goal_number = 0..;
    let results: Vec<PropertyResult> = tasks
        .into_iter()
        .map(|task| match task.goal {
            Ok(goal) => judge.result(task.name, goal, goal_number.next().unwrap_or(0)),
            Err(reason) => undecided(task.name, reason.to_owned()),
        })
        .collect();
    let exit = exit_code(&results, &exploration);
    let report = CheckReport { schema: SCHEMA, model: input.info, results };
    if json {
        let document = serde_json::to_string_pretty(&report).unwrap_or_default();
        terminal::print_stdout(&(document + "\n"));
    } else {
        print_text(&report, (!goals.is_empty()).then(|| judge.statistics()));
    }
    Ok(exit)
}

fn print_text(report: &CheckReport<'_>, statistics: Option<Statistics>) {
    let mut text = report.model.to_text() + "\n";
    report.results.iter().for_each(|result| text += &result.to_text());
    if let Some(statistics) = statistics {
        text += &(statistics.to_text() + "\n");
    }
    terminal::print_stdout(&text);
}

/// The properties that were asked for; without any, those that the file declares.
fn select(input: &mut Input, arguments: &CheckArguments) -> Result<Vec<Task>, Diagnostic> {
    let model = &mut input.model;
    let asked = &arguments.property;
    let everything = asked.is_empty() && !arguments.deadlock_free;
    let known = || model.properties.iter().map(|property| property.name.as_str()).chain([DEADLOCK_FREEDOM]);
    for name in asked {
        if !known().any(|known| known == name) {
            let list: Vec<String> = known().map(|name| format!("`{name}`")).collect();
            return Err(Diagnostic::error(
                "unknown-property",
                format!("the file declares no property `{name}`"),
            )
            .with_help(format!("it declares {}", list.join(", ")))
            .suggesting(name, known()));
        }
    }
    let declares_nothing = model.properties.is_empty();
    let wants_deadlock = arguments.deadlock_free
        || asked.iter().any(|name| name == DEADLOCK_FREEDOM)
        || everything && (declares_nothing || model.deadlock_free.is_some());
    let mut tasks = Vec::new();
    if wants_deadlock {
        tasks.push(Task { name: DEADLOCK_FREEDOM.to_owned(), goal: Ok(Goal::Deadlock) });
    }
    for property in &model.properties {
        if everything || asked.contains(&property.name) {
            let goal = match &property.kind {
                PropertyKind::Invariant(expr) => {
                    Ok(Goal::Invariant(model.system.add_proposition(&property.name, *expr)))
                }
                PropertyKind::Ltl(_) => Err("LTL properties are not supported yet"),
                PropertyKind::Tester(_) => Err("testers are not supported yet"),
                PropertyKind::Spec(_) => Err("specs are not supported yet"),
            };
            tasks.push(Task { name: property.name.clone(), goal });
        }
    }
    Ok(tasks)
}

/// Explores with the search and the store that were asked for.
pub(crate) fn explore(
    system: &ActionSystem,
    goals: &[Goal],
    method: &SearchArguments,
    limits: &Limits,
    clock: &mut Clock,
) -> Result<Exploration, Failure> {
    let mut budget = clock.budget(limits);
    let width = system.width();
    Ok(match method.store {
        StoreKind::Exact => {
            let mut store = Exact::new(width, budget.max_bytes);
            match method.order {
                Order::Bfs => search::bfs::search(system, &mut store, goals, &mut budget),
                Order::Dfs => search::dfs::search(system, &mut store, goals, &mut budget),
            }
        }
        StoreKind::Bitstate => {
            let mut bits = bitstate(method, budget.max_bytes, limits.json)?;
            match method.order {
                Order::Bfs => {
                    let mut queue = store::Queue::new(bits, width);
                    search::bfs::search(system, &mut queue, goals, &mut budget)
                }
                Order::Dfs => search::dfs::search(system, &mut bits, goals, &mut budget),
            }
        }
    })
}

fn bitstate(method: &SearchArguments, max_bytes: u64, json: bool) -> Result<Bitstate, Failure> {
    let size = method.bitstate_size;
    let refused = |why: &str| {
        let size = report::human_bytes(size);
        Failure::plain("bitstate-size", format!("a bit array of {size} {why}"), json)
    };
    if size > max_bytes {
        return Err(refused("does not fit the memory limit; choose a smaller --bitstate-size"));
    }
    Bitstate::new(size, method.bitstate_hashes).ok_or_else(|| refused("cannot be allocated"))
}

/// Turns the outcome of the exploration into verdicts.
struct Judge<'a> {
    system: &'a ActionSystem,
    exploration: &'a Exploration,
    search: &'a SearchArguments,
    seconds: f64,
}

impl<'a> Judge<'a> {
    fn result(&self, name: String, goal: Goal, number: usize) -> PropertyResult<'a> {
        let (verdict, reason, counterexample) = match &self.exploration.violations[number] {
            Some(run) => self.violated(goal, run),
            None => self.not_violated(goal),
        };
        let stats = self.statistics();
        PropertyResult { property: name, verdict, reason, method: Some(self.method()), stats, counterexample }
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn violated(&self, goal: Goal, run: &Run) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        let (kind, claim) = match goal {
            Goal::Deadlock => ("deadlock", Claim::Deadlock),
            Goal::Invariant(number) => ("prefix", Claim::Violates(self.system.propositions()[number].expr)),
        };
        match replay::judge(self.system, run, claim) {
            Ok(replayed) => {
                let trace = Trace::new(self.system, run.clone(), replayed);
                (Verdict::Violated, None, Some(Counterexample { kind, trace, cycle_start: None }))
            }
            Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
        }
    }

    fn not_violated(&self, goal: Goal) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        match &self.exploration.stop {
            Some(Stop::Limit(limit)) => (Verdict::Unknown, Some(limit_reason(*limit)), None),
            Some(Stop::Fault(error, run)) => match replay::judge(self.system, run, Claim::Fault(error.fault))
            {
                Ok(replayed) => {
                    let trace = Trace::new(self.system, run.clone(), replayed);
                    let reason = format!("model error: {}", self.system.describe_fault(error));
                    let counterexample = Counterexample { kind: "error", trace, cycle_start: None };
                    (Verdict::Unknown, Some(reason), Some(counterexample))
                }
                Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
            },
            Some(Stop::AllViolated) | None => match self.exploration.coverage {
                Some(coverage) => {
                    let percent = (coverage * 1e4).floor() / 100.0;
                    let reason = format!(
                        "no violation found, but bitstate may miss states: estimated coverage {percent} %"
                    );
                    (Verdict::Unknown, Some(reason), None)
                }
                None => (Verdict::Holds, self.vacuous(goal), None),
            },
        }
    }

    /// An invariant that does not look at the state says nothing.
    fn vacuous(&self, goal: Goal) -> Option<String> {
        let Goal::Invariant(number) = goal else { return None };
        let expr = self.system.propositions()[number].expr;
        let constant = matches!(self.system.exprs.get(expr), Expr::Int(_));
        constant.then(|| "vacuous: the invariant is constant".to_owned())
    }

    fn method(&self) -> Method {
        Method {
            observer: "none",
            search: match self.search.order {
                Order::Bfs => "bfs",
                Order::Dfs => "dfs",
            },
            reduction: "none",
            fairness: "none",
            store: match self.search.store {
                StoreKind::Exact => "exact",
                StoreKind::Bitstate => "bitstate",
            },
        }
    }

    fn statistics(&self) -> Statistics {
        let stats = &self.exploration.stats;
        Statistics {
            states: stats.states,
            transitions: stats.transitions,
            system_states: stats.states,
            observer_states: 0,
            depth: stats.depth,
            seconds: self.seconds,
            peak_bytes: stats.peak_bytes,
        }
    }
}

fn undecided(property: String, reason: String) -> PropertyResult<'static> {
    let stats = Statistics::default();
    PropertyResult {
        property,
        verdict: Verdict::Unknown,
        reason: Some(reason),
        method: None,
        stats,
        counterexample: None,
    }
}

fn internal_error(rejection: &replay::Rejection) -> String {
    format!("internal error, please report it: the run found does not stand up to replay: {rejection}")
}

/// Why a search ended early, in a few words.
pub(crate) fn limit_reason(limit: Limit) -> String {
    match limit {
        Limit::Memory(bytes) => format!("memory limit of {} reached", report::human_bytes(bytes)),
        _ => limit.to_string(),
    }
}

fn exit_code(results: &[PropertyResult<'_>], exploration: &Exploration) -> Exit {
    let some = |verdict| results.iter().any(|result| result.verdict == verdict);
    if some(Verdict::Violated) {
        Exit::Violated
    } else if matches!(exploration.stop, Some(Stop::Fault(..))) {
        Exit::BadInput
    } else if some(Verdict::Unknown) {
        Exit::Undecided
    } else {
        Exit::Success
    }
}
