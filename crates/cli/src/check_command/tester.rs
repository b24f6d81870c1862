//! Testers and specifications.

use automata::Tester;
use check::choice::Wish;
use check::decide::{Refusal, Settings, TesterClaim};
use check::product::Orders;
use check::rules::Rule;
use check::search::{Evidence, ProductOutcome, ProductStop, Violation};
use model::{ActionSystem, LabelId, StepError};
use replay::{Claim, TesterClaim as Illegal};
use report::outcome::{Counterexample, ReductionCheck};
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::fairness::Constraints;
use super::formula::{refuse, settings, store};
use super::{coverage_reason, internal_error, limit_reason, lost_run, reduction_name, undecided};
use crate::args::CheckArguments;
use crate::exit::Failure;
use crate::spelling;
use crate::terminal::Clock;

/// Whether a system does what a tester calls illegal.
pub(super) struct Question<'q, 'a> {
    pub(super) name: &'q str,
    pub(super) system: &'a ActionSystem,
    pub(super) tester: &'q Tester,
    pub(super) labels: &'q [LabelId],
    /// Which infinite runs count.
    pub(super) constraints: &'q Constraints,
}

impl<'a> Question<'_, 'a> {
    /// The answer. `fault` is set if the model goes wrong.
    pub(super) fn decide(
        &self,
        arguments: &CheckArguments,
        clock: &mut Clock,
        fault: &mut Option<StepError>,
    ) -> Result<PropertyResult<'a>, Failure> {
        let wish = Wish {
            reduction: arguments.reduce.into(),
            store: store(arguments)?,
            fair: !self.constraints.fairness.is_empty(),
            fairness_by: arguments.fairness_by.into(),
            ..Wish::default()
        };
        let chosen = match wish.complete_for_tester(&self.claim()) {
            Ok(choice) => choice.method,
            Err(why @ Refusal::Rule(Rule::TesterReduction)) => {
                return Ok(undecided(self.name, spelling::refusal(why)));
            }
            Err(why) => return Err(refuse(self.name, why, arguments)),
        };
        let reduces = chosen.reduction.is_some();
        let start = clock.seconds();
        let outcome = self.search(chosen, arguments, clock)?;
        clock.clear();
        let seconds = clock.seconds() - start;
        if let Some(ProductStop::Fault(error, _)) = &outcome.stop {
            fault.get_or_insert(*error);
        }
        let (verdict, reason, counterexample) = self.judge(&outcome);
        let method = Method {
            observer: chosen.observer.name(),
            search: chosen.search.name(),
            reduction: reduction_name(reduces),
            fairness: if self.is_about_fair_runs() { self.constraints.name() } else { "none" },
            store: arguments.search.store.name(),
        };
        let reduction_check = if reduces && arguments.verify_reduction {
            let full = self.search(check::method::Method { reduction: None, ..chosen }, arguments, clock)?;
            let found = |outcome: &ProductOutcome| matches!(outcome.stop, Some(ProductStop::Found(_)));
            Some(ReductionCheck {
                full_states: full.stats.states,
                reduced_states: outcome.stats.states,
                agrees: found(&full) == found(&outcome),
            })
        } else {
            None
        };
        Ok(PropertyResult {
            property: self.name.to_owned(),
            verdict,
            reason,
            method: Some(method),
            chosen: None,
            choice: Vec::new(),
            stats: self.statistics(&outcome, seconds),
            counterexample,
            reduction_check,
        })
    }

    fn claim(&self) -> TesterClaim<'_> {
        TesterClaim::new(self.tester, self.labels)
    }

    /// Whether there are fairness constraints, and it matters.
    fn is_about_fair_runs(&self) -> bool {
        self.claim().features(!self.constraints.fairness.is_empty()).fair
    }

    fn search(
        &self,
        method: check::method::Method,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<ProductOutcome, Failure> {
        let settings = Settings { orders: Orders::default(), ..settings(arguments, self.constraints) };
        let mut budget = clock.budget(&arguments.limits);
        match self.claim().search(self.system, method, &settings, &mut budget) {
            Ok(decision) => Ok(decision.outcome),
            Err(Refusal::Tester) => {
                let message = format!("tester `{}` is too large once its tau steps are removed", self.name);
                Err(Failure::plain("too-large", message, arguments.limits.json))
            }
            Err(why) => Err(refuse(self.name, why, arguments)),
        }
    }

    fn judge(&self, outcome: &ProductOutcome) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        match &outcome.stop {
            Some(ProductStop::Found(evidence)) => self.violated(evidence),
            Some(ProductStop::Limit(limit)) => (Verdict::Unknown, Some(limit_reason(*limit)), None),
            Some(ProductStop::Fault(error, run)) => {
                match replay::judge(self.system, run, Claim::Fault(error.fault)) {
                    Ok(replayed) => {
                        let trace = Trace::new(self.system, run.clone(), replayed);
                        let reason = format!("model error: {}", self.system.describe_fault(error));
                        (
                            Verdict::Unknown,
                            Some(reason),
                            Some(Counterexample {
                                kind: "error",
                                target: "the error",
                                trace,
                                cycle_start: None,
                                fairness: Vec::new(),
                            }),
                        )
                    }
                    Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
                }
            }
            Some(ProductStop::NoRun) => (Verdict::Unknown, Some(lost_run()), None),
            None => match outcome.coverage {
                Some(coverage) => (Verdict::Unknown, Some(coverage_reason(coverage)), None),
                None => (Verdict::Holds, self.vacuous(), None),
            },
        }
    }

    /// A tester without special states calls nothing illegal.
    fn vacuous(&self) -> Option<String> {
        let is_special = |state: &automata::tester::State| {
            state.reject || state.deadlock || state.livelock || state.infinite
        };
        let special = self.tester.states.iter().any(is_special);
        (!special)
            .then(|| "vacuous: the tester has no reject, deadlock, livelock or infinite state".to_owned())
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn violated(&self, evidence: &Evidence) -> (Verdict, Option<String>, Option<Counterexample<'a>>) {
        let Evidence { violation, run, cycle_start, observer_states } = evidence;
        let name = |state: u32| self.tester.states[state as usize].name.clone();
        let state = name(evidence.observer_state());
        let (claim, kind, reason) = match violation {
            Violation::AtOnce => {
                (Illegal::IllegalTrace, "prefix", format!("illegal trace: the tester reaches `{state}`"))
            }
            Violation::Deadlock => (
                Illegal::StableFailure,
                "deadlock",
                format!("illegal stable failure: the system refuses what the tester needs in `{state}`"),
            ),
            Violation::Livelock => (
                Illegal::Divergence,
                "lasso",
                format!("illegal divergence: the tester waits for ever in `{state}`"),
            ),
            Violation::Cycle => (
                Illegal::InfiniteTrace,
                "lasso",
                "illegal infinite trace: the tester leaves infinite states infinitely often".to_owned(),
            ),
        };
        match replay::judge_tester(self.system, self.tester, self.labels, run, *cycle_start, claim) {
            Ok(replayed) => {
                let fairness = match cycle_start {
                    Some(start) if self.is_about_fair_runs() => {
                        self.constraints.judge(self.system, run, &replayed, *start)
                    }
                    _ => Ok(Vec::new()),
                };
                let fairness = match fairness {
                    Ok(fairness) => fairness,
                    Err(why) => return (Verdict::Unknown, Some(internal_error(&why)), None),
                };
                let trace = Trace::new(self.system, run.clone(), replayed)
                    .with_observer(observer_states.iter().map(|&state| name(state)).collect());
                let target =
                    if kind == "deadlock" { "where it refuses to go on" } else { "where it is violated" };
                let counterexample =
                    Counterexample { kind, target, trace, cycle_start: *cycle_start, fairness };
                (Verdict::Violated, Some(reason), Some(counterexample))
            }
            Err(rejection) => (Verdict::Unknown, Some(internal_error(&rejection)), None),
        }
    }

    fn statistics(&self, outcome: &ProductOutcome, seconds: f64) -> Statistics {
        let stats = &outcome.stats;
        Statistics {
            states: stats.states,
            transitions: stats.transitions,
            system_states: outcome.system_states,
            observer_states: self.tester.states.len() as u64,
            depth: stats.depth,
            seconds,
            peak_bytes: stats.peak_bytes,
        }
    }
}
