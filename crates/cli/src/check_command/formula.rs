//! Formulas of linear temporal logic, and claims.
//!
//! The negated formula becomes an automaton that watches the run; a run that it accepts violates the
//! formula. A claim is such an automaton, written by the user. Which kind of automaton, search and
//! reduction are used is chosen by `check::choice`, where the user does not say.

use automata::{AnyAutomaton, stutter};
use check::choice::{Choice, ReductionWish, Wish};
use check::decide::{Claim, Decision, Refusal, Settings, StoreChoice};
use check::method::{Method, ObserverKind};
use check::search::one_pass::WorkSet;
use check::search::{Evidence, ProductStop, Violation};
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, ExprId, Run};
use replay::Replayed;
use report::outcome::{Counterexample, ReductionCheck};
use report::{PropertyResult, Statistics, Trace, Verdict};

use super::safety::{bitstate_size, cannot_allocate};
use super::vacuity;
use super::{coverage_reason, internal_error, limit_reason, lost_run};
use crate::args::{CheckArguments, Order, Reduce, StoreKind};
use crate::exit::Failure;
use crate::terminal::Clock;

/// The stutter closure of an automaton may have this many states.
const MAX_CLOSURE_STATES: usize = 100_000;

/// A formula about a system with the automaton of its negation; or such an automaton alone.
pub(super) struct FormulaTask {
    pub(super) formula: Option<Formula>,
    /// The automaton as the user wrote it, if there is no formula.
    pub(super) written: Option<AnyAutomaton>,
    /// The propositions, each with its expression.
    pub(super) propositions: Vec<(Prop, ExprId)>,
    /// The propositions, each with its number in the system.
    pub(super) numbered: Vec<(Prop, usize)>,
    pub(super) claim: Claim,
}

/// Whether every run of a system satisfies a formula.
pub(super) struct Question<'q, 'a> {
    pub(super) name: &'q str,
    pub(super) system: &'a ActionSystem,
    pub(super) formulas: &'q mut Formulas,
    pub(super) task: &'q mut FormulaTask,
}

/// A verdict with its reason and its run.
type Answer<'a> = (Verdict, Option<String>, Option<Counterexample<'a>>);

impl<'a> Question<'_, 'a> {
    /// The answer. `has_fault` is set if the model goes wrong.
    pub(super) fn decide(
        &mut self,
        arguments: &CheckArguments,
        clock: &mut Clock,
        has_fault: &mut bool,
    ) -> Result<PropertyResult<'a>, Failure> {
        let start = clock.seconds();
        let settings = self.settings(arguments)?;
        let closes = arguments.reduce == Reduce::Closure && !self.task.claim.stutter_invariant;
        let mut notes = Vec::new();
        let mut found = None;
        if closes {
            found = self.search_closure(arguments, &settings, clock, &mut notes)?;
        }
        let (choice, decision) = match found {
            Some(found) => found,
            None => {
                let mut wish = self.wish(arguments);
                if closes {
                    wish.reduction = ReductionWish::None;
                }
                let choice = self.choose(&wish, &mut None, arguments)?;
                let decision = self.search(choice.method, &settings, &mut None, arguments, clock)?;
                (choice, decision)
            }
        };
        clock.clear();
        *has_fault |= matches!(decision.outcome.stop, Some(ProductStop::Fault(..)));
        let seconds = clock.seconds() - start;
        let (verdict, mut reason, counterexample) = self.judge(&decision, arguments);
        if verdict == Verdict::Holds && reason.is_none() {
            reason = vacuity::of_decision(self, &decision, settings.at_deadlock, arguments, clock);
        }
        notes.extend(reason);
        let reduction_check = self.verify_reduction(&choice, &decision, &settings, arguments, clock)?;
        Ok(PropertyResult {
            property: self.name.to_owned(),
            verdict,
            reason: (!notes.is_empty()).then(|| notes.join("; ")),
            method: Some(describe(choice.method, arguments)),
            choice: if arguments.explain_choice { choice.reasons } else { Vec::new() },
            stats: statistics(&decision, seconds),
            counterexample,
            reduction_check,
        })
    }

    fn settings(&self, arguments: &CheckArguments) -> Result<Settings, Failure> {
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

    /// What the user asked for. An automaton that was written in some form is used in that form.
    fn wish(&self, arguments: &CheckArguments) -> Wish {
        let written = match &self.task.written {
            Some(AnyAutomaton::Ta(_)) => Some(ObserverKind::Ta),
            Some(AnyAutomaton::Tgta(_)) if self.task.claim.stutter_invariant => Some(ObserverKind::Tgta),
            Some(AnyAutomaton::Extended(_)) => Some(ObserverKind::Extended),
            _ => None,
        };
        Wish {
            observer: arguments.observer.kind().or(written),
            search: arguments.algorithm.kind(),
            reduction: arguments.reduce.into(),
            bitstate: arguments.search.store == StoreKind::Bitstate,
        }
    }

    fn choose(
        &mut self,
        wish: &Wish,
        closed: &mut Option<Claim>,
        arguments: &CheckArguments,
    ) -> Result<Choice, Failure> {
        let owns_deadlocks =
            self.task.written.as_ref().is_some_and(|written| !written.accepts_deadlocks_like_stuttering());
        let refuse = |why: &dyn std::fmt::Display| {
            let message = format!("`{}` cannot be checked this way: {why}", self.name);
            Failure::plain("method", message, arguments.limits.json)
        };
        let written = self.wish(arguments).observer;
        let is_own = matches!(written, Some(ObserverKind::Ta | ObserverKind::Extended))
            && arguments.observer.kind().is_none_or(|kind| Some(kind) == written);
        if owns_deadlocks && !is_own {
            return Err(refuse(&"only the automaton as it was written knows its deadlock states"));
        }
        let claim = closed.as_mut().unwrap_or(&mut self.task.claim);
        wish.complete(claim).map_err(|refusal| refuse(&refusal))
    }

    fn search(
        &mut self,
        method: Method,
        settings: &Settings,
        closed: &mut Option<Claim>,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<Decision, Failure> {
        let mut budget = clock.budget(&arguments.limits);
        let claim = closed.as_mut().unwrap_or(&mut self.task.claim);
        let decided = claim.search(self.system, method, settings, &mut budget);
        let mut decision = decided.map_err(|refusal| match (refusal, settings.store) {
            (Refusal::NoMemory, StoreChoice::Bitstate(size, _)) => {
                cannot_allocate(size, arguments.limits.json)
            }
            (refusal, _) => {
                let message = format!("`{}` cannot be checked this way: {refusal}", self.name);
                Failure::plain("method", message, arguments.limits.json)
            }
        })?;
        let is_lasso =
            decision.outcome.evidence().is_some_and(|found| found.violation != Violation::Deadlock);
        if arguments.shortest && is_lasso && closed.is_none() {
            let mut budget = clock.budget(&arguments.limits);
            if let Some(shorter) = self.task.claim.shortest(self.system, settings, &mut budget) {
                decision.outcome.stop = Some(ProductStop::Found(shorter));
            }
        }
        Ok(decision)
    }

    /// 004: checks the stutter closure with reduction. Nothing if that does not decide the matter.
    fn search_closure(
        &mut self,
        arguments: &CheckArguments,
        settings: &Settings,
        clock: &mut Clock,
        notes: &mut Vec<String>,
    ) -> Result<Option<(Choice, Decision)>, Failure> {
        let Some(closure) = stutter::closure(&self.task.claim.tgba, MAX_CLOSURE_STATES) else {
            notes.push("its stutter closure is too large: checked without reduction".to_owned());
            return Ok(None);
        };
        let closed = Claim::new(closure, self.task.claim.propositions.clone(), true);
        let mut closed = Some(closed);
        let mut choice = self.choose(&self.wish(arguments), &mut closed, arguments)?;
        choice.reasons[0] =
            "property: it may see stuttering, so its closure under stuttering is watched (004)".to_owned();
        let decision = self.search(choice.method, settings, &mut closed, arguments, clock)?;
        let Some(ProductStop::Found(evidence)) = &decision.outcome.stop else {
            return Ok(Some((choice, decision)));
        };
        if self.judge_evidence(evidence).is_ok() {
            return Ok(Some((choice, decision)));
        }
        notes.push("it is not closed under stuttering: checked again without reduction".to_owned());
        Ok(None)
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
                        let counterexample =
                            Counterexample { kind: "error", target: "the error", trace, cycle_start: None };
                        (Verdict::Unknown, Some(reason), Some(counterexample))
                    }
                }
            }
            Some(ProductStop::Found(evidence)) => match self.judge_evidence(evidence) {
                Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
                Ok((run, replayed, cycle_start)) => {
                    let mut trace = self.trace(run, replayed);
                    if !arguments.shortest && evidence.observer_states.len() == trace.len() + 1 {
                        let name = |state: &u32| format!("q{state}");
                        trace = trace.with_observer(evidence.observer_states.iter().map(name).collect());
                    }
                    let kind = if cycle_start.is_some() { "lasso" } else { "deadlock" };
                    let counterexample = Counterexample { kind, target: "a deadlock", trace, cycle_start };
                    (Verdict::Violated, None, Some(counterexample))
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
    fn judge_evidence(&self, evidence: &Evidence) -> Result<(Run, Replayed, Option<usize>), String> {
        let FormulaTask { formula, written, propositions, claim, .. } = &*self.task;
        let Evidence { violation, run, cycle_start, .. } = evidence;
        let (run, cycle_start) = match (violation, cycle_start) {
            (Violation::AtOnce, _) => {
                let continued = check::walk::to_lasso(self.system, run);
                continued.ok_or_else(|| "no way to go on from the prefix was found".to_owned())?
            }
            (_, Some(cycle_start)) => (run.clone(), *cycle_start),
            (Violation::Deadlock, None) => {
                let replayed = match written {
                    Some(claim) if !claim.accepts_deadlocks_like_stuttering() => {
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
        settings: &Settings,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<Option<ReductionCheck>, Failure> {
        if !arguments.verify_reduction || choice.method.reduction.is_none() {
            return Ok(None);
        }
        let method = Method { reduction: None, ..choice.method };
        let full = self.search(method, settings, &mut None, arguments, clock)?;
        let found = |decision: &Decision| decision.outcome.evidence().is_some();
        Ok(Some(ReductionCheck {
            full_states: full.outcome.stats.states,
            reduced_states: decision.outcome.stats.states,
            agrees: found(&full) == found(decision),
        }))
    }
}

fn describe(method: Method, arguments: &CheckArguments) -> report::Method {
    report::Method {
        observer: method.observer.name(),
        search: method.search.name(),
        reduction: method.reduction.map_or("none", check::reduction::Method::name),
        fairness: "none",
        store: arguments.search.store.name(),
    }
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
