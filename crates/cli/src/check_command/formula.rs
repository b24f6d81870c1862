//! Formulas of linear temporal logic, and claims.
//!
//! The negated formula is translated to a TGBA, which watches the run; a run that it accepts
//! violates the formula. A claim is such an automaton, written by the user.

use automata::Tgba;
use check::observer::{ByValue, Valuations};
use check::search::AtDeadlock;
use check::search::couvreur::{self, AcceptedRun, EmptinessOutcome, EmptinessStop};
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, ExprId, Run};
use replay::{Claim, Rejection, Replayed};
use report::outcome::Counterexample;
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::{internal_error, limit_reason, undecided};
use crate::args::{CheckArguments, Reduce, StoreKind};
use crate::terminal::Clock;

/// A formula about a system, and the automaton of its negation; or such an automaton alone.
pub(super) struct FormulaTask {
    pub(super) formula: Option<Formula>,
    /// The propositions, each with its expression and its number in the system.
    pub(super) propositions: Vec<(Prop, ExprId, usize)>,
    pub(super) negation: Tgba,
}

/// Whether every run of a system satisfies a formula.
pub(super) struct Question<'q, 'a> {
    pub(super) name: &'q str,
    pub(super) system: &'a ActionSystem,
    pub(super) formulas: &'q Formulas,
    pub(super) task: &'q FormulaTask,
}

impl<'a> Question<'_, 'a> {
    /// The answer. `has_fault` is set if the model goes wrong.
    pub(super) fn decide(
        &self,
        arguments: &CheckArguments,
        clock: &mut Clock,
        has_fault: &mut bool,
    ) -> PropertyResult<'a> {
        // Said rather than done another way: an option is never silently ignored.
        if arguments.reduce == Reduce::Stubborn || arguments.verify_reduction {
            return undecided(
                self.name,
                "reduction is not supported yet for LTL: use --reduce none or auto".to_owned(),
            );
        }
        if arguments.search.store == StoreKind::Bitstate {
            let reason =
                "the bitstate store is not supported for LTL: components must be told apart".to_owned();
            return undecided(self.name, reason);
        }
        let start = clock.seconds();
        let mut budget = clock.budget(&arguments.limits);
        let props = self.task.propositions.iter().map(|(prop, ..)| *prop).collect();
        let numbers = self.task.propositions.iter().map(|(_, _, number)| *number).collect();
        let observer = ByValue::new(&self.task.negation, props);
        let at_deadlock = arguments.deadlock.into();
        let outcome =
            couvreur::search(self.system, observer, Valuations::new(numbers), at_deadlock, &mut budget);
        clock.clear();
        *has_fault |= matches!(outcome.stop, Some(EmptinessStop::Fault(..)));
        let (verdict, reason, counterexample) = self.judge(&outcome, at_deadlock);
        let stats = self.statistics(&outcome, clock.seconds() - start);
        let method =
            Method { observer: "tgba", search: "scc", reduction: "none", fairness: "none", store: "exact" };
        PropertyResult {
            property: self.name.to_owned(),
            verdict,
            reason,
            method: Some(method),
            stats,
            counterexample,
            reduction_check: None,
        }
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn judge(
        &self,
        outcome: &EmptinessOutcome,
        at_deadlock: AtDeadlock,
    ) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        let propositions: Vec<(Prop, ExprId)> =
            self.task.propositions.iter().map(|&(prop, expr, _)| (prop, expr)).collect();
        let (run, replayed, kind, cycle_start) = match &outcome.stop {
            None => return (Verdict::Holds, self.vacuous(outcome, at_deadlock), None),
            Some(EmptinessStop::Limit(limit)) => return (Verdict::Unknown, Some(limit_reason(*limit)), None),
            Some(EmptinessStop::NoRun) => {
                let reason = "internal error, please report it: no run leads to what was found".to_owned();
                return (Verdict::Unknown, Some(reason), None);
            }
            Some(EmptinessStop::Accepted(accepted)) => {
                let replayed = self.judge_accepted(accepted, &propositions);
                (&accepted.run, replayed, "lasso", Some(accepted.cycle_start))
            }
            Some(EmptinessStop::Deadlock(run)) => {
                (run, replay::judge(self.system, run, Claim::Deadlock), "deadlock", None)
            }
            Some(EmptinessStop::Fault(error, run)) => {
                (run, replay::judge(self.system, run, Claim::Fault(error.fault)), "error", None)
            }
        };
        let trace = |run: &Run, replayed| Trace::new(self.system, run.clone(), replayed);
        match (replayed, &outcome.stop) {
            (Err(rejection), _) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
            (Ok(replayed), Some(EmptinessStop::Fault(error, _))) => {
                let reason = format!("model error: {}", self.system.describe_fault(error));
                let trace = trace(run, replayed);
                let counterexample = Counterexample { kind, target: "the error", trace, cycle_start };
                (Verdict::Unknown, Some(reason), Some(counterexample))
            }
            (Ok(replayed), _) => {
                let trace = trace(run, replayed);
                let counterexample = Counterexample { kind, target: "a deadlock", trace, cycle_start };
                (Verdict::Violated, None, Some(counterexample))
            }
        }
    }

    fn judge_accepted(
        &self,
        accepted: &AcceptedRun,
        propositions: &[(Prop, ExprId)],
    ) -> Result<Replayed, Rejection> {
        let AcceptedRun { run, cycle_start } = accepted;
        match self.task.formula {
            Some(formula) => {
                let question = replay::formula::Question { formulas: self.formulas, formula, propositions };
                replay::judge_formula(self.system, &question, run, *cycle_start)
            }
            None => replay::judge_claim(self.system, &self.task.negation, propositions, run, *cycle_start),
        }
    }

    /// A formula about no run says nothing.
    fn vacuous(&self, outcome: &EmptinessOutcome, at_deadlock: AtDeadlock) -> Option<String> {
        if self.task.negation.states().all(|state| self.task.negation.edges(state).is_empty()) {
            return Some("vacuous: no word violates it".to_owned());
        }
        let only_deadlocks = at_deadlock == AtDeadlock::Ignore && outcome.stats.transitions == 0;
        only_deadlocks.then(|| "vacuous: there is no infinite run".to_owned())
    }

    fn statistics(&self, outcome: &EmptinessOutcome, seconds: f64) -> Statistics {
        let stats = &outcome.stats;
        Statistics {
            states: stats.states,
            transitions: stats.transitions,
            system_states: Some(outcome.system_states),
            observer_states: self.task.negation.n_states() as u64,
            depth: stats.depth,
            seconds,
            peak_bytes: stats.peak_bytes,
        }
    }
}
