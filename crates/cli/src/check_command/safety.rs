//! Deadlock freedom and invariants; and the other way round, what is possible.

use check::reduced::Reduced;
use check::{Bitstate, Exact, Exploration, Goal, Space, Stop, search, store};
use model::{ActionSystem, Expr, Run, StepError, System};
use replay::Claim;
use report::outcome::{Counterexample, ReductionCheck};
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::simplified::{Asked, Simplified};
use super::{
    Answers, Systems, Task, TaskKind, coverage_reason, internal_error, limit_reason, reduction_name,
};
use crate::args::{CheckArguments, Limits, Order, SearchArguments, StoreKind};
use crate::exit::Failure;
use crate::simpler::{Simpler, widening};
use crate::terminal::Clock;

/// Decides all safety tasks: without reduction in one exploration, with it in one for each.
pub(super) fn decide<'a>(
    systems: Systems<'a>,
    tasks: &[Task],
    simplified: &mut [Option<Simplified>],
    arguments: &CheckArguments,
    clock: &mut Clock,
    answers: &mut Answers<'a>,
) -> Result<(), Failure> {
    let safety: Vec<(usize, &Task, Goal)> = tasks
        .iter()
        .enumerate()
        .filter_map(|(index, task)| match task.kind {
            TaskKind::Safety(goal) | TaskKind::Possible(goal) => Some((index, task, goal)),
            _ => None,
        })
        .collect();
    let system = systems.plain;
    if arguments.reduces_safety() {
        for (index, task, goal) in safety {
            let mut judge = match &mut simplified[index] {
                Some(Simplified { simpler, asked: Asked::States(its_goal) }) => {
                    Judge::explore_simpler(systems.spacious, simpler, *its_goal, arguments, clock)?
                }
                _ => Judge::explore(system, &[goal], true, arguments, clock)?,
            };
            let mut result = judge.answer(task, goal, 0);
            if arguments.verify_reduction {
                let full = Judge::explore(system, &[goal], false, arguments, clock)?;
                result.reduction_check = Some(judge.compare(&full, goal));
                answers.fault = answers.fault.or(full.fault());
            }
            answers.fault = answers.fault.or(judge.fault());
            answers.results[index] = Some(result);
        }
    } else if !safety.is_empty() {
        let goals: Vec<Goal> = safety.iter().map(|(_, _, goal)| *goal).collect();
        let mut judge = Judge::explore(system, &goals, false, arguments, clock)?;
        for (number, (index, task, goal)) in safety.into_iter().enumerate() {
            answers.results[index] = Some(judge.answer(task, goal, number));
        }
        answers.fault = answers.fault.or(judge.fault());
    }
    Ok(())
}

/// Explores with the search and the store that were asked for.
pub(crate) fn explore<S: Space>(
    space: &S,
    goals: &[Goal],
    method: &SearchArguments,
    limits: &Limits,
    clock: &mut Clock,
) -> Result<Exploration, Failure> {
    let mut budget = clock.budget(limits);
    let width = space.whole().width();
    Ok(match method.store {
        StoreKind::Exact => {
            let mut store = Exact::new(width, budget.max_bytes);
            match method.order {
                Order::Bfs => search::bfs::search(space, &mut store, goals, &mut budget),
                Order::Dfs => search::dfs::search(space, &mut store, goals, &mut budget),
            }
        }
        StoreKind::Bitstate => {
            let size = bitstate_size(method, budget.max_bytes, limits.json)?;
            let bits = Bitstate::new(size, method.bitstate_hashes);
            let mut bits = bits.ok_or_else(|| cannot_allocate(size, limits.json))?;
            match method.order {
                Order::Bfs => {
                    let mut queue = store::Queue::new(bits, width);
                    search::bfs::search(space, &mut queue, goals, &mut budget)
                }
                Order::Dfs => search::dfs::search(space, &mut bits, goals, &mut budget),
            }
        }
    })
}

/// The size of the bit array, if it fits the limits.
pub(super) fn bitstate_size(method: &SearchArguments, max_bytes: u64, json: bool) -> Result<u64, Failure> {
    let size = method.bitstate_size;
    if size > max_bytes {
        let size = report::human_bytes(size);
        let message =
            format!("a bit array of {size} does not fit the memory limit; choose a smaller --bitstate-size");
        return Err(Failure::plain("bitstate-size", message, json));
    }
    Ok(size)
}

pub(super) fn cannot_allocate(size: u64, json: bool) -> Failure {
    let message = format!("a bit array of {} cannot be allocated", report::human_bytes(size));
    Failure::plain("bitstate-size", message, json)
}

/// Turns the outcome of an exploration into verdicts.
struct Judge<'a> {
    system: &'a ActionSystem,
    exploration: Exploration,
    method: Method,
    seconds: f64,
}

impl<'a> Judge<'a> {
    fn explore(
        system: &'a ActionSystem,
        goals: &[Goal],
        reduces: bool,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<Judge<'a>, Failure> {
        let start = clock.seconds();
        let CheckArguments { search, limits, .. } = arguments;
        let exploration = match (reduces, goals) {
            (true, [Goal::Invariant(number)]) => {
                explore(&Reduced::for_invariant(system, *number), goals, search, limits, clock)?
            }
            (true, _) => explore(&Reduced::for_deadlocks(system), goals, search, limits, clock)?,
            (false, _) => explore(system, goals, search, limits, clock)?,
        };
        clock.clear();
        let method = Method {
            observer: "none",
            search: search.order.name(),
            reduction: reduction_name(reduces),
            fairness: "none",
            store: search.store.name(),
        };
        Ok(Judge { system, exploration, method, seconds: clock.seconds() - start })
    }

    /// Explores a simpler net; what is found is about the original one.
    fn explore_simpler(
        system: &'a ActionSystem,
        simpler: &mut Simpler,
        goal: Goal,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<Judge<'a>, Failure> {
        let start = clock.seconds();
        let (mut exploration, method) = widening(&mut simpler.model, |system| {
            let judge = Judge::explore(system, &[goal], true, arguments, clock);
            let fault = judge.as_ref().ok().and_then(Judge::fault);
            (judge.map(|judge| (judge.exploration, judge.method)), fault)
        })?;
        for run in exploration.violations.iter_mut().flatten() {
            // A run that cannot be brought back does not stand up to replay.
            *run = simpler.original_run(run, goal == Goal::Deadlock).unwrap_or_default();
        }
        Ok(Judge { system, exploration, method, seconds: clock.seconds() - start })
    }

    /// How the model goes wrong, if it does.
    fn fault(&self) -> Option<StepError> {
        match &self.exploration.stop {
            Some(Stop::Fault(error, _)) => Some(*error),
            _ => self.exploration.faults.iter().flatten().map(|(error, _)| *error).next(),
        }
    }

    fn answer(&mut self, task: &Task, goal: Goal, number: usize) -> PropertyResult<'a> {
        let result = self.result(&task.name, goal, number);
        match task.kind {
            TaskKind::Possible(_) => witness(result),
            _ => result,
        }
    }

    fn result(&mut self, name: &str, goal: Goal, number: usize) -> PropertyResult<'a> {
        let Exploration { violations, faults, .. } = &self.exploration;
        let (verdict, reason, counterexample) = match (&violations[number], &faults[number]) {
            (Some(run), _) => self.violated(goal, run),
            (None, Some((error, run))) => self.faulty(error, run),
            (None, None) => self.not_violated(goal),
        };
        PropertyResult {
            property: name.to_owned(),
            verdict,
            reason,
            method: Some(self.method.clone()),
            chosen: None,
            choice: Vec::new(),
            stats: self.statistics(),
            counterexample,
            reduction_check: None,
        }
    }

    /// Compares an exploration that was reduced with one that was not.
    fn compare(&self, full: &Judge<'_>, goal: Goal) -> ReductionCheck {
        let (ours, theirs) = (&self.exploration, &full.exploration);
        let found = |exploration: &Exploration| exploration.violations[0].is_some();
        // Where both have seen everything, a search for deadlocks has counted them.
        let comparable = goal == Goal::Deadlock && ours.stop.is_none() && theirs.stop.is_none();
        ReductionCheck {
            full_states: theirs.stats.states,
            reduced_states: ours.stats.states,
            agrees: found(ours) == found(theirs)
                && (!comparable || ours.stats.deadlocks == theirs.stats.deadlocks),
        }
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn violated(&self, goal: Goal, run: &Run) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        let (kind, target, claim) = match goal {
            Goal::Deadlock => ("deadlock", "a deadlock", Claim::Deadlock),
            Goal::Invariant(number) => {
                let expr = self.system.propositions()[number].expr;
                ("prefix", "where it is violated", Claim::Violates(expr))
            }
        };
        match replay::judge(self.system, run, claim) {
            Ok(replayed) => {
                let trace = Trace::new(self.system, run.clone(), replayed);
                (
                    Verdict::Violated,
                    None,
                    Some(Counterexample { kind, target, trace, cycle_start: None, fairness: Vec::new() }),
                )
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
                    let counterexample = Counterexample {
                        kind: "error",
                        target: "the error",
                        trace,
                        cycle_start: None,
                        fairness: Vec::new(),
                    };
                    (Verdict::Unknown, Some(reason), Some(counterexample))
                }
                Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
            },
            Some(Stop::AllViolated) | None => match self.exploration.coverage {
                Some(coverage) => (Verdict::Unknown, Some(coverage_reason(coverage)), None),
                None => (Verdict::Holds, self.vacuous(goal), None),
            },
        }
    }

    /// The model goes wrong at the end of a run.
    fn faulty(&self, error: &StepError, run: &Run) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        match replay::judge(self.system, run, Claim::Fault(error.fault)) {
            Ok(replayed) => {
                let trace = Trace::new(self.system, run.clone(), replayed);
                let reason = format!("model error: {}", self.system.describe_fault(error));
                let counterexample = Counterexample {
                    kind: "error",
                    target: "the error",
                    trace,
                    cycle_start: None,
                    fairness: Vec::new(),
                };
                (Verdict::Unknown, Some(reason), Some(counterexample))
            }
            Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
        }
    }

    /// An invariant that does not look at the state says nothing.
    fn vacuous(&self, goal: Goal) -> Option<String> {
        let Goal::Invariant(number) = goal else { return None };
        let expr = self.system.propositions()[number].expr;
        let constant = matches!(self.system.exprs.get(expr), Expr::Int(_));
        constant.then(|| "vacuous: the invariant is constant".to_owned())
    }

    fn statistics(&self) -> Statistics {
        let stats = &self.exploration.stats;
        Statistics {
            states: stats.states,
            transitions: stats.transitions,
            system_states: Some(stats.states),
            observer_states: 0,
            depth: stats.depth,
            seconds: self.seconds,
            peak_bytes: stats.peak_bytes,
        }
    }
}

/// The answer about what is possible, from that about its being impossible.
fn witness(mut result: PropertyResult<'_>) -> PropertyResult<'_> {
    match result.verdict {
        Verdict::Violated => {
            result.verdict = Verdict::Holds;
            if let Some(run) = &mut result.counterexample {
                run.target = "where it is true";
            }
        }
        Verdict::Holds => {
            result.verdict = Verdict::Violated;
            result.reason = Some("it is true nowhere".to_owned());
        }
        Verdict::Unknown => {}
    }
    result
}
