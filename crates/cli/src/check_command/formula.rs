//! Formulas of linear temporal logic, and claims.
//!
//! The negated formula becomes an automaton that watches the run; a run that it accepts violates the
//! formula. A claim is such an automaton, written by the user. Which kind of automaton, search and
//! reduction are used is chosen by `check::choice`, where the user does not say.

use automata::{AnyAutomaton, GaveUp, stutter};
use base::Budget;
use check::choice::{Choice, ReductionWish, Wish};
use check::decide::{Claim, Decision, Refusal, Settings, StoreChoice};
use check::method::{Method, ObserverKind, SearchKind};
use check::product::AtDeadlock;
use check::search::one_pass::WorkSet;
use check::search::{Evidence, ProductStop, Violation, bfs};
use check::{Exact, Goal};
use ltl::{Formulas, Lasso, Prop};
use model::{ActionSystem, ExprId, Run, StepError, System as _};
use replay::Replayed;
use report::outcome::{Counterexample, ReductionCheck};
use report::{PropertyResult, Statistics, Trace, Verdict};

use super::fairness::Constraints;
use super::safety::{bitstate_size, cannot_allocate};
use super::simplified::{Asked, Simplified};
use super::vacuity;
use super::{coverage_reason, internal_error, limit_reason, lost_run};
use crate::args::{CheckArguments, Deadlock, FairnessBy, Order, Reduce, StoreKind};
use crate::exit::Failure;
use crate::property::FormulaTask;
use crate::simpler::{Simpler, widening};
use crate::terminal::Clock;

/// The stutter closure of an automaton may have this many states.
const MAX_CLOSURE_STATES: usize = 100_000;

/// Whether every run of a system satisfies a formula.
pub(super) struct Question<'q, 'a> {
    pub(super) name: &'q str,
    pub(super) system: &'a ActionSystem,
    pub(super) formulas: &'q mut Formulas,
    pub(super) task: &'q mut FormulaTask,
    /// Which infinite runs count.
    pub(super) constraints: &'q Constraints,
    /// The same question about a simpler net, if there is one: then that is searched.
    pub(super) simplified: Option<&'q mut Simplified>,
}

/// A verdict with its reason and its run.
type Answer<'a> = (Verdict, Option<String>, Option<Counterexample<'a>>);

impl<'a> Question<'_, 'a> {
    /// The answer. `fault` is set if the model goes wrong.
    pub(super) fn decide(
        &mut self,
        arguments: &CheckArguments,
        clock: &mut Clock,
        fault: &mut Option<StepError>,
    ) -> Result<PropertyResult<'a>, Failure> {
        let start = clock.seconds();
        let constraints = self.constraints;
        let mut settings = settings(arguments)?;
        if self.task.ignores_ends {
            settings.at_deadlock = AtDeadlock::Ignore;
        }
        match arguments.fairness_by {
            FairnessBy::Search => settings.fairness = Some(&constraints.fairness),
            FairnessBy::Monitor => settings.monitors = Some(constraints.list()),
        }
        let mut notes = Vec::new();
        let mut found = None;
        let mut wish = self.wish(arguments);
        let closes = arguments.reduce == Reduce::Closure && !self.task.claim.stutter_invariant;
        if closes {
            found = self.search_closure(arguments, &settings, clock, &mut notes)?;
            wish.reduction = ReductionWish::None;
        } else if arguments.reduce == Reduce::Closure && self.task.owns_deadlocks() {
            // There may be no reduction for it, and no other form.
            wish.reduction = ReductionWish::Auto;
        }
        let (choice, decision) = match found {
            Some(found) => found,
            None => {
                let choice = match self.task.choose(wish) {
                    // What was asked for may fit the closure only.
                    Err(Refusal::Rule(_)) if closes => self.task.choose(unreduced(&wish)),
                    choice => choice,
                };
                let mut choice = choice.map_err(|why| self.refuse(&why, arguments))?;
                explain_monitors(&mut choice, arguments);
                choice.reasons.extend(self.simplified.as_ref().map(|it| it.simpler.describe()));
                if let (true, Some(last)) = (closes, choice.reasons.last_mut()) {
                    *last = "reduction: none, since the closure did not decide the matter".to_owned();
                }
                let decision = self.search(choice.method, &settings, None, arguments, clock)?;
                (choice, self.shorten(decision, &settings, arguments, clock))
            }
        };
        clock.clear();
        *fault = fault.or(fault_of(&decision));
        let seconds = clock.seconds() - start;
        let (verdict, mut reason, counterexample) = self.judge(&decision, arguments);
        if verdict == Verdict::Holds && reason.is_none() {
            reason = vacuity::of_decision(self, &decision, settings.at_deadlock, arguments, clock);
        }
        notes.extend(reason);
        if arguments.shortest && verdict == Verdict::Violated && !self.constraints.fairness.is_empty() {
            notes.push("not shortened: the shortest run need not be fair".to_owned());
        }
        let reduction_check =
            self.verify_reduction(&choice, &decision, &settings, arguments, clock, fault)?;
        Ok(PropertyResult {
            property: self.name.to_owned(),
            verdict,
            reason: (!notes.is_empty()).then(|| notes.join("; ")),
            method: Some(self.describe(choice.method, arguments)),
            chosen: self.one_line(&choice, arguments),
            choice: if arguments.explain_choice { choice.reasons } else { Vec::new() },
            stats: statistics(&decision, seconds),
            counterexample,
            reduction_check,
        })
    }

    /// What the user asked for.
    fn wish(&self, arguments: &CheckArguments) -> Wish {
        let fair = !self.constraints.fairness.is_empty();
        let mut wish = Wish {
            observer: arguments.observer.kind(),
            search: arguments.algorithm.kind(),
            reduction: arguments.reduce.into(),
            bitstate: arguments.search.store == StoreKind::Bitstate,
            fair: fair && arguments.fairness_by == FairnessBy::Search,
            ignores_ends: arguments.deadlock == Deadlock::Ignore || self.task.ignores_ends,
        };
        if arguments.fairness_by == FairnessBy::Monitor {
            wish.observer = wish.observer.or(Some(ObserverKind::Ba));
            wish.search = wish.search.or(Some(SearchKind::Nested));
            if wish.reduction == ReductionWish::Auto {
                wish.reduction = ReductionWish::None;
            }
        }
        wish
    }

    /// Why the method was chosen, in one line, if the user left it open and does not want to know more.
    fn one_line(&self, choice: &Choice, arguments: &CheckArguments) -> Option<String> {
        let Wish { bitstate, fair, ignores_ends, .. } = self.wish(arguments);
        let open = Wish { bitstate, fair, ignores_ends, ..Wish::default() };
        if arguments.explain_choice || self.wish(arguments) != open {
            return None;
        }
        let observer = choice.reasons.iter().find_map(|reason| reason.strip_prefix("observer: "));
        let why = observer?;
        let dropped = if fair { "; no reduction, since only fair runs count" } else { "" };
        Some(format!("chosen: {why}{dropped}"))
    }

    fn describe(&self, method: Method, arguments: &CheckArguments) -> report::Method {
        report::Method {
            observer: method.observer.name(),
            search: match arguments.fairness_by {
                FairnessBy::Monitor if !self.constraints.fairness.is_empty() => "nested+monitor",
                _ => method.search.name(),
            },
            reduction: method.reduction.map_or("none", check::reduction::Method::name),
            fairness: self.constraints.name(),
            store: arguments.search.store.name(),
        }
    }

    fn refuse(&self, why: &impl std::fmt::Display, arguments: &CheckArguments) -> Failure {
        let message = format!("`{}` cannot be checked this way: {why}", self.name);
        Failure::plain("method", message, arguments.limits.json)
    }

    /// Searches for a run that the claim accepts, or another claim instead of it.
    fn search(
        &mut self,
        method: Method,
        settings: &Settings<'_>,
        closed: Option<&mut Claim>,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<Decision, Failure> {
        let decided = match (closed, &mut self.simplified) {
            (None, Some(Simplified { simpler, asked: Asked::Runs(claim) })) => {
                let decided = widening(&mut simpler.model, |system| {
                    let mut budget = clock.budget(&arguments.limits);
                    let decided = claim.search(system, method, settings, &mut budget);
                    let fault = decided.as_ref().ok().and_then(fault_of);
                    (decided, fault)
                });
                decided.map(|decision| on_original(simpler, decision))
            }
            (closed, _) => {
                let claim = closed.unwrap_or(&mut self.task.claim);
                claim.search(self.system, method, settings, &mut clock.budget(&arguments.limits))
            }
        };
        decided.map_err(|refusal| match (refusal, settings.store) {
            (Refusal::NoMemory, StoreChoice::Bitstate(size, _)) => {
                cannot_allocate(size, arguments.limits.json)
            }
            (refusal, _) => self.refuse(&refusal, arguments),
        })
    }

    /// With a shorter run, if that was asked for and there is one.
    fn shorten(
        &self,
        mut decision: Decision,
        settings: &Settings<'_>,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Decision {
        let Some(found) = decision.outcome.evidence().filter(|_| arguments.shortest) else { return decision };
        let mut budget = clock.budget(&arguments.limits);
        if found.violation == Violation::Deadlock && arguments.deadlock == Deadlock::Error {
            let mut store = Exact::new(self.system.width(), budget.max_bytes);
            let explored = bfs::search(self.system, &mut store, &[Goal::Deadlock], &mut budget);
            if let Some(run) = explored.violations.into_iter().flatten().next() {
                let shorter = Evidence { run, observer_states: Vec::new(), ..found.clone() };
                decision.outcome.stop = Some(ProductStop::Found(shorter));
            }
            return decision;
        }
        // A shortest run by value may be one that ends, of which only the automaton as it was written
        // knows whether it is accepted.
        if found.violation == Violation::Deadlock || self.task.owns_deadlocks() {
            return decision;
        }
        let length = match found.violation {
            Violation::AtOnce => check::walk::to_lasso(self.system, &found.run).map(|(run, _)| run),
            _ => Some(found.run.clone()),
        };
        let length = length.map_or(usize::MAX, |run| run.actions.len());
        if let Some(shorter) = self.task.claim.shortest(self.system, settings, &mut budget)
            && shorter.run.actions.len() < length
        {
            // The observer's states would be those of another automaton.
            let shorter = Evidence { observer_states: Vec::new(), ..shorter };
            decision.outcome.stop = Some(ProductStop::Found(shorter));
        }
        decision
    }

    /// [holzmann.96.closure]: checks the stutter closure with reduction. Nothing if that does not decide the
    /// matter.
    fn search_closure(
        &mut self,
        arguments: &CheckArguments,
        settings: &Settings<'_>,
        clock: &mut Clock,
        notes: &mut Vec<String>,
    ) -> Result<Option<(Choice, Decision)>, Failure> {
        if self.task.owns_deadlocks() {
            notes.push("its deadlock states have no closure: checked without reduction".to_owned());
            return Ok(None);
        }
        let budget = &mut clock.budget(&arguments.limits);
        let closure = match stutter::closure(&self.task.claim.tgba, MAX_CLOSURE_STATES, budget) {
            Ok(closure) => closure,
            // The search without reduction will say so.
            Err(GaveUp::Limit(_)) => return Ok(None),
            Err(GaveUp::TooLarge(_)) => {
                notes.push("its stutter closure is too large: checked without reduction".to_owned());
                return Ok(None);
            }
        };
        let mut closed = Claim::new(closure, self.task.claim.propositions.clone(), true);
        let choice = self.wish(arguments).complete(&mut closed, &mut Budget::unlimited());
        let mut choice = choice.map_err(|why| self.refuse(&why, arguments))?;
        choice.reasons[0] =
            "property: it may see stuttering, so its closure under stuttering is watched".to_owned();
        let decision = self.search(choice.method, settings, Some(&mut closed), arguments, clock)?;
        if let Some(evidence) = decision.outcome.evidence()
            && self.judge_evidence(evidence, arguments).is_err()
        {
            notes.push("it is not closed under stuttering: checked again without reduction".to_owned());
            return Ok(None);
        }
        let decision = self.shorten(decision, settings, arguments, clock);
        Ok(Some((choice, decision)))
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn judge(&self, decision: &Decision, arguments: &CheckArguments) -> Answer<'a> {
        let outcome = &decision.outcome;
        match &outcome.stop {
            None => match outcome.coverage {
                Some(coverage) => (Verdict::Unknown, Some(coverage_reason(coverage)), None),
                None => (Verdict::Holds, None, None),
            },
            Some(ProductStop::Limit(limit)) => (Verdict::Unknown, Some(limit_reason(*limit)), None),
            Some(ProductStop::NoRun) => (Verdict::Unknown, Some(lost_run()), None),
            Some(ProductStop::Fault(error, run)) => {
                match replay::judge(self.system, run, replay::Claim::Fault(error.fault)) {
                    Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
                    Ok(replayed) => {
                        let reason = format!("model error: {}", self.system.describe_fault(error));
                        let trace = Trace::new(self.system, run.clone(), replayed);
                        let counterexample = Counterexample {
                            kind: "error",
                            target: "the error",
                            trace,
                            cycle_start: None,
                            fairness: Vec::new(),
                        };
                        (Verdict::Unknown, Some(reason), Some(counterexample))
                    }
                }
            }
            Some(ProductStop::Found(evidence)) => match self.judge_evidence(evidence, arguments) {
                Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
                Ok((run, replayed, cycle_start)) => {
                    let fairness = match cycle_start {
                        None => Ok(Vec::new()),
                        Some(start) => self.constraints.judge(self.system, &run, &replayed, start),
                    };
                    let fairness = match fairness {
                        Ok(fairness) => fairness,
                        Err(why) => return (Verdict::Unknown, Some(internal_error(&why)), None),
                    };
                    let mut trace = self.trace(run, replayed);
                    // Where it accepts at once, the observer has seen enough; then it stays where it is.
                    if let Some(last) = evidence.observer_states.last() {
                        let states = evidence.observer_states.iter().chain(std::iter::repeat(last));
                        let names = states.take(trace.len() + 1).map(|state| format!("q{state}"));
                        trace = trace.with_observer(names.collect());
                    }
                    let (kind, target, reason) = match cycle_start {
                        Some(_) => ("lasso", "a deadlock", None),
                        None if evidence.violation == Violation::AtOnce => {
                            ("prefix", "where it is violated", Some("whatever follows".to_owned()))
                        }
                        None if arguments.deadlock == Deadlock::Error => {
                            ("deadlock", "a deadlock", Some("the system comes to a deadlock".to_owned()))
                        }
                        None => ("deadlock", "a deadlock", Some("it accepts that the run ends".to_owned())),
                    };
                    let counterexample = Counterexample { kind, target, trace, cycle_start, fairness };
                    (Verdict::Violated, reason, Some(counterexample))
                }
            },
        }
    }

    fn trace(&self, run: Run, replayed: Replayed) -> Trace<'a> {
        let text = |&(prop, expr): &(Prop, ExprId)| (self.formulas.text(prop).to_owned(), expr);
        Trace::new(self.system, run, replayed)
            .with_propositions(self.task.propositions.iter().map(text).collect())
    }

    /// The run as it is shown, and the number of steps before its cycle.
    fn judge_evidence(
        &self,
        evidence: &Evidence,
        arguments: &CheckArguments,
    ) -> Result<(Run, Replayed, Option<usize>), String> {
        let FormulaTask { formula, written, propositions, claim, .. } = &*self.task;
        let Evidence { violation, run, cycle_start, .. } = evidence;
        let deadlock_is_error = arguments.deadlock == Deadlock::Error;
        let (run, cycle_start) = match (violation, cycle_start) {
            (Violation::AtOnce, _) => match check::walk::to_lasso(self.system, run) {
                Some(continued) => continued,
                // It goes on for very long, maybe without ever coming back: in an unbounded net.
                None => {
                    let is_bad = |word: &Lasso| match (formula, written) {
                        (Some(formula), _) => !ltl::satisfies(self.formulas, *formula, word),
                        (None, Some(written)) => written.accepts(word, &mut Budget::unlimited()) == Ok(true),
                        (None, None) => {
                            automata::accepts(&claim.tgba, word, &mut Budget::unlimited()) == Ok(true)
                        }
                    };
                    let replayed = replay::judge_prefix(self.system, propositions, run, is_bad);
                    return Ok((run.clone(), replayed.map_err(|rejection| rejection.to_string())?, None));
                }
            },
            (_, Some(cycle_start)) => (run.clone(), *cycle_start),
            (Violation::Deadlock, None) => {
                let replayed = match written {
                    Some(claim) if self.task.owns_deadlocks() && !deadlock_is_error => {
                        replay::judge_deadlock_claim(self.system, claim, propositions, run)
                    }
                    _ => replay::judge(self.system, run, replay::Claim::Deadlock),
                };
                let replayed = replayed.map_err(|rejection| rejection.to_string())?;
                return Ok((run.clone(), replayed, None));
            }
            (_, None) => return Err("an infinite run without a cycle".to_owned()),
        };
        let replayed = match (formula, written) {
            (Some(formula), _) => {
                let formula = *formula;
                let question = replay::formula::Question { formulas: self.formulas, formula, propositions };
                replay::judge_formula(self.system, &question, &run, cycle_start)
            }
            (None, Some(written)) => {
                replay::judge_claim(self.system, written, propositions, &run, cycle_start)
            }
            (None, None) => {
                let tgba = AnyAutomaton::Tgba(claim.tgba.clone());
                replay::judge_claim(self.system, &tgba, propositions, &run, cycle_start)
            }
        };
        let replayed = replayed.map_err(|rejection| rejection.to_string())?;
        Ok((run, replayed, Some(cycle_start)))
    }

    /// The same check without reduction, compared, if that was asked for.
    fn verify_reduction(
        &mut self,
        choice: &Choice,
        decision: &Decision,
        settings: &Settings<'_>,
        arguments: &CheckArguments,
        clock: &mut Clock,
        fault: &mut Option<StepError>,
    ) -> Result<Option<ReductionCheck>, Failure> {
        if !arguments.verify_reduction || choice.method.reduction.is_none() {
            return Ok(None);
        }
        let mut method = Method { reduction: None, ..choice.method };
        if !self.task.claim.stutter_invariant {
            // The closure was checked, maybe by an observer that the claim itself cannot have.
            let choice = self.task.choose(unreduced(&self.wish(arguments)));
            method = choice.map_err(|why| self.refuse(&why, arguments))?.method;
        }
        self.simplified = None;
        let full = self.search(method, settings, None, arguments, clock)?;
        *fault = fault.or(fault_of(&full));
        let found = |decision: &Decision| decision.outcome.evidence().is_some();
        Ok(Some(ReductionCheck {
            full_states: full.outcome.stats.states,
            reduced_states: decision.outcome.stats.states,
            agrees: found(&full) == found(decision),
        }))
    }
}

/// What monitors need was not asked for, if the user left it open.
fn explain_monitors(choice: &mut Choice, arguments: &CheckArguments) {
    let open = [
        ("observer: ", arguments.observer.kind().is_none(), "ba, which monitors can be added to"),
        ("search: ", arguments.algorithm.kind().is_none(), "nested, which monitors are for"),
        ("reduction: ", arguments.reduce == Reduce::Auto, "none, fair runs cannot be told apart with it"),
    ];
    for (what, is_open, why) in open {
        let mut reasons = choice.reasons.iter_mut();
        let reason = reasons.find(|reason| reason.starts_with(what) && reason.ends_with("as asked"));
        if let (Some(reason), true) = (reason, is_open && arguments.fairness_by == FairnessBy::Monitor) {
            *reason = format!("{what}{why}");
        }
    }
}

/// Whatever fits, without reduction.
fn unreduced(wish: &Wish) -> Wish {
    Wish { observer: None, search: None, reduction: ReductionWish::None, ..*wish }
}

/// With the run on the original net.
fn on_original(simpler: &Simpler, mut decision: Decision) -> Decision {
    if let Some(ProductStop::Found(evidence)) = &decision.outcome.stop {
        decision.outcome.stop = match simpler.original_evidence(evidence) {
            Some(evidence) => Some(ProductStop::Found(evidence)),
            None => Some(ProductStop::NoRun),
        };
    }
    decision
}

/// How the model goes wrong, if it does.
fn fault_of(decision: &Decision) -> Option<StepError> {
    match &decision.outcome.stop {
        Some(ProductStop::Fault(error, _)) => Some(*error),
        _ => None,
    }
}

/// How to search, besides the method.
fn settings<'f>(arguments: &CheckArguments) -> Result<Settings<'f>, Failure> {
    let CheckArguments { search, limits, .. } = arguments;
    let store = match search.store {
        StoreKind::Exact => StoreChoice::Exact,
        StoreKind::Bitstate => {
            let size = bitstate_size(search, limits.max_bytes(), limits.json)?;
            StoreChoice::Bitstate(size, search.bitstate_hashes)
        }
    };
    Ok(Settings {
        at_deadlock: arguments.deadlock.into(),
        orders: arguments.orders.orders(),
        work_set: match search.order {
            Order::Bfs => WorkSet::Queue,
            Order::Dfs => WorkSet::Stack,
        },
        store,
        ..Settings::default()
    })
}

fn statistics(decision: &Decision, seconds: f64) -> Statistics {
    let stats = &decision.outcome.stats;
    Statistics {
        states: stats.states,
        transitions: stats.transitions,
        system_states: decision.outcome.system_states,
        observer_states: decision.observer_states,
        depth: stats.depth,
        seconds,
        peak_bytes: stats.peak_bytes,
    }
}
