//! Testers and specifications.

use automata::{GaveUp, Tester};
use check::search::one_pass::WorkSet;
use check::search::{Evidence, ProductOutcome, ProductStop, Violation, tester, two_pass};
use check::store::{BitstatePlanes, ExactPlanes};
use model::{ActionSystem, LabelId, StepError};
use replay::{Claim, TesterClaim};
use report::outcome::{Counterexample, ReductionCheck};
use report::{Method, PropertyResult, Statistics, Trace, Verdict};

use super::fairness::Constraints;
use super::safety::{bitstate_size, cannot_allocate};
use super::{coverage_reason, internal_error, limit_reason, lost_run, reduction_name, undecided};
use crate::args::{CheckArguments, FairnessBy, Order, Reduce, StoreKind};
use crate::exit::Failure;
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
        let Some(reduces) = arguments.reduces_testers() else {
            let reason = "this reduction is for LTL and claims: use --reduce stubborn for testers";
            return Ok(undecided(self.name, reason.to_owned()));
        };
        let is_fair = self.is_about_fair_runs();
        if let Some(why) = self.refusal(is_fair, arguments) {
            let message = format!("`{}` cannot be checked this way: {why}", self.name);
            return Err(Failure::plain("method", message, arguments.limits.json));
        }
        let reduces = reduces && !is_fair;
        let start = clock.seconds();
        let outcome = self.search(reduces, arguments, clock)?;
        clock.clear();
        let seconds = clock.seconds() - start;
        if let Some(ProductStop::Fault(error, _)) = &outcome.stop {
            fault.get_or_insert(*error);
        }
        let (verdict, reason, counterexample) = self.judge(&outcome);
        let has_infinite = self.tester.states.iter().any(|state| state.infinite);
        let method = Method {
            observer: "tester",
            search: match (is_fair, has_infinite) {
                (true, _) => "two-pass",
                (false, true) => "one-pass+nested",
                (false, false) => "one-pass",
            },
            reduction: reduction_name(reduces),
            fairness: if is_fair { self.constraints.name() } else { "none" },
            store: arguments.search.store.name(),
        };
        let reduction_check = if reduces && arguments.verify_reduction {
            let full = self.search(false, arguments, clock)?;
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

    /// Whether there are fairness constraints, and it matters: only infinite runs can be unfair.
    fn is_about_fair_runs(&self) -> bool {
        let is_infinite = |state: &automata::tester::State| state.livelock || state.infinite;
        !self.constraints.fairness.is_empty() && self.tester.states.iter().any(is_infinite)
    }

    /// Why it cannot be checked as was asked for, if so.
    fn refusal(&self, is_fair: bool, arguments: &CheckArguments) -> Option<&'static str> {
        if !is_fair {
            return None;
        }
        if matches!(arguments.reduce, Reduce::Stubborn | Reduce::Guided) {
            return Some(
                "a reduction does not keep enough interleavings to tell fair runs: use --reduce none",
            );
        }
        if arguments.search.store == StoreKind::Bitstate {
            return Some(
                "fair runs are told by components, for which the store must be exact: use --store exact",
            );
        }
        (arguments.fairness_by == FairnessBy::Monitor)
            .then_some("monitors are for LTL: use --fairness-by search for testers")
    }

    fn search(
        &self,
        reduces: bool,
        arguments: &CheckArguments,
        clock: &mut Clock,
    ) -> Result<ProductOutcome, Failure> {
        let CheckArguments { search, limits, .. } = arguments;
        let max_bytes = limits.max_bytes();
        let product =
            tester::product(self.system, self.tester, self.labels, reduces, &mut clock.budget(limits));
        let product = match product {
            Ok(product) => product,
            Err(GaveUp::Limit(limit)) => return Ok(ProductOutcome::not_begun(limit)),
            Err(GaveUp::TooLarge(_)) => {
                let message = format!("tester `{}` is too large once its tau steps are removed", self.name);
                return Err(Failure::plain("too-large", message, limits.json));
            }
        };
        let mut product = product.with_max_bytes(max_bytes);
        let width = product.width();
        let work_set = match search.order {
            Order::Bfs => WorkSet::Queue,
            Order::Dfs => WorkSet::Stack,
        };
        let mut budget = clock.budget(limits);
        if self.is_about_fair_runs() {
            let mut product = product.under(self.constraints.fairness.clone());
            return Ok(two_pass::search(&mut product, &mut budget));
        }
        Ok(match search.store {
            StoreKind::Exact => {
                tester::check(&mut product, work_set, || ExactPlanes::new(width, max_bytes), &mut budget)
            }
            StoreKind::Bitstate => {
                let size = bitstate_size(search, max_bytes, limits.json)?;
                let planes = BitstatePlanes::new(size, search.bitstate_hashes);
                let planes = planes.ok_or_else(|| cannot_allocate(size, limits.json))?;
                tester::check(&mut product, work_set, || planes.clone(), &mut budget)
            }
        })
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
                (TesterClaim::IllegalTrace, "prefix", format!("illegal trace: the tester reaches `{state}`"))
            }
            Violation::Deadlock => (
                TesterClaim::StableFailure,
                "deadlock",
                format!("illegal stable failure: the system refuses what the tester needs in `{state}`"),
            ),
            Violation::Livelock => (
                TesterClaim::Divergence,
                "lasso",
                format!("illegal divergence: the tester waits for ever in `{state}`"),
            ),
            Violation::Cycle => (
                TesterClaim::InfiniteTrace,
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
