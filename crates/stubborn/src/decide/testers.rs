//! Testers and specifications.

use std::sync::Arc;

use automata::GaveUp;
use base::Diagnostic;
use check::choice::Wish;
use check::decide::{Decision, Settings, TesterClaim};
use check::rules::Rule;
use check::search::{Evidence, ProductStop, Violation};
use language::{Observed, PropertyKind, Purpose, View};
use replay::{Ending, Question, TesterClaim as Illegal};
use report::method::Fairness;
use report::outcome::{Counterexample, FairTo, Kind, ReductionCheck, Target, Watcher};
use report::remark::Vacuity;
use report::{PropertyResult, Remark, Trace, Verdict};

use super::Asked;
use super::reached;
use super::searched::Searched;
use super::states::exact_by_rounds;
use super::why::unneeded;
use crate::answer::{Answer, Figures, judge};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::fairness::Constraints;
use crate::options::Options;
use crate::session::Attempt;

/// The tester of a specification may have this many states and transitions.
const MAX_TESTER_SIZE: usize = 2_000_000;

/// Decides whether the system does what a tester calls illegal.
pub(super) fn decide(
    asked: &mut Asked<'_>,
    task: usize,
    options: &Options,
    clock: &Clock<'_>,
) -> Result<Attempt<Vec<PropertyResult>>, Trouble> {
    exact_by_rounds(options, clock)?;
    let name = asked.name(task).to_owned();
    let observed = match asked.property(task) {
        PropertyKind::Tester(observed) => observed.clone(),
        PropertyKind::Spec(observed) => {
            let process = match observed.process.to_tester(MAX_TESTER_SIZE, &mut clock.budget()) {
                Ok(process) => process,
                Err(GaveUp::Limit(limit)) => return Err(limit.into()),
                Err(GaveUp::TooLarge(_)) => {
                    let message = format!("the tester of spec `{name}` would be too large");
                    let error = Diagnostic::error("too-large", message);
                    return Err(asked.tasks[task]
                        .span
                        .map_or(error.clone(), |span| error.at(span, ""))
                        .into());
                }
            };
            Observed { process, labels: observed.labels.clone() }
        }
        _ => return Ok(Attempt::Done(Vec::new())),
    };
    let constraints = Constraints::new(asked.model(), &options.fair, &mut clock.budget())?;
    let view = asked.model().view(Purpose::Runs, &mut clock.budget())?;
    let Observed { process: tester, labels } = &observed;
    let claim = TesterClaim::new(tester, labels);
    let wish = Wish {
        reduction: options.reduce,
        store: options.store,
        fair: !constraints.is_empty(),
        fairness_by: options.fairness_by,
        ..Wish::default()
    };
    let choice = match wish.complete_for_tester(&claim) {
        Ok(choice) => choice,
        Err(refusal) if refusal == Rule::TesterReduction.into() => {
            let answer = Answer::unknown(Remark::Refused(refusal, String::new()));
            return Ok(Attempt::Done(vec![answer.result(&name, &Figures::none())]));
        }
        Err(refusal) => return Err(Trouble::refused(&name, refusal)),
    };
    let start = clock.seconds();
    let settings = Settings {
        work_set: options.work_set(),
        reduces: options.wants_reduction(),
        fairness: &constraints.unnamed,
        ..Settings::default()
    };
    let search = |searched: &Searched<'_>, method| {
        let found = claim.search(searched.system(), method, &settings, &mut clock.budget());
        found.map_err(|refusal| Trouble::refused(&name, refusal))
    };
    let full = Searched::as_written(&view);
    let searched = Searched::new(&view, None, &[], &options.static_rules(), clock)?;
    let decision = match searched.decision(search(&searched, choice.method)?, clock) {
        Some(decision) => decision,
        // A cycle that is none in the model, since counters that nobody reads go on.
        None => search(&full, choice.method)?,
    };
    if let Some(ProductStop::Fault(error, _)) = &decision.outcome.stop
        && asked.model().can_refine(error)
    {
        return Ok(Attempt::TooSmall(*error));
    }
    let is_fair = !constraints.is_empty() && claim.is_about_infinite_runs();
    let kind = if is_fair { constraints.kind() } else { Fairness::None };
    let figures = Figures::of_product(&choice.method, kind, &decision, clock.seconds() - start);
    let testing = Testing { view: &view, observed: &observed, constraints: &constraints, is_fair, clock };
    let answer = testing.judge(&decision);
    let mut result = answer.result(&name, &figures);
    result.watcher = Some(Watcher::Tester(Arc::new(tester.clone())));
    if options.why && result.verdict == Verdict::Holds {
        let mut found = Vec::new();
        if is_fair {
            found = unneeded(&constraints, |less| {
                let wish = Wish { fair: !less.is_empty(), ..wish };
                let settings = Settings { fairness: less, ..Settings::default() };
                let choice = wish.complete_for_tester(&claim);
                let found = choice
                    .map(|choice| claim.search(full.system(), choice.method, &settings, &mut clock.budget()));
                matches!(found, Ok(Ok(decision)) if decision.outcome.stop.is_none() && decision.outcome.coverage.is_none())
            });
        }
        if matches!(asked.property(task), PropertyKind::Tester(_)) {
            found.extend(reached::unreached(&view.system, &observed, clock));
        }
        result.why = Some(found);
    }
    if choice.method.reduction.is_some() && options.verify_reduction {
        let full = search(&full, check::method::Method { reduction: None, ..choice.method })?;
        result.reduction_check = Some(ReductionCheck {
            full_states: full.outcome.stats.states,
            reduced_states: decision.outcome.stats.states,
            agrees: full.outcome.found().zip(decision.outcome.found()).map(|(full, reduced)| full == reduced),
        });
    }
    Ok(Attempt::Done(vec![result]))
}

/// A tester, and what its runs are judged by.
struct Testing<'t> {
    view: &'t View,
    observed: &'t Observed<automata::Tester>,
    constraints: &'t Constraints,
    is_fair: bool,
    clock: &'t Clock<'t>,
}

impl Testing<'_> {
    fn judge(&self, decision: &Decision) -> Answer {
        match &decision.outcome.stop {
            Some(ProductStop::Found(evidence)) => self.violated(evidence),
            Some(ProductStop::Limit(limit)) => Answer::limit(*limit),
            Some(ProductStop::Fault(error, run)) => Answer::faulty(self.view, error, run, self.clock),
            Some(ProductStop::NoRun) => Answer::lost(),
            None => match decision.outcome.coverage {
                Some(coverage) => Answer::unknown(Remark::NoneFound(coverage)),
                None => Answer::holds(self.vacuous()),
            },
        }
    }

    /// A tester without special states calls nothing illegal.
    fn vacuous(&self) -> Option<Remark> {
        let is_special = |state: &automata::tester::State| {
            state.reject || state.deadlock || state.livelock || state.infinite
        };
        let special = self.observed.process.states.iter().any(is_special);
        (!special).then_some(Remark::Vacuous(Vacuity::Tester))
    }

    /// A violation is reported only if the judge of evidence agrees.
    fn violated(&self, evidence: &Evidence) -> Answer {
        let Observed { process: tester, labels } = self.observed;
        let Evidence { violation, run, cycle_start, observer_states } = evidence;
        let last = evidence.observer_state();
        let (claim, kind, target) = match violation {
            Violation::AtOnce => (Illegal::IllegalTrace, Kind::Prefix, Target::Violation),
            Violation::Deadlock => (Illegal::StableFailure, Kind::Deadlock, Target::Refusal),
            Violation::Livelock => (Illegal::Divergence, Kind::Lasso, Target::Violation),
            Violation::Cycle => (Illegal::InfiniteTrace, Kind::Lasso, Target::Violation),
        };
        let ending = match (violation, *cycle_start) {
            (_, Some(start)) => Ending::Cycle(start),
            (Violation::Deadlock, None) => Ending::Deadlock,
            (_, None) => Ending::Open,
        };
        let fair = if self.is_fair { &self.constraints.named[..] } else { &[] };
        let evidence = replay::Evidence { fair_to: fair, ..replay::Evidence::new(run, ending) };
        match judge(self.view, &Question::Tester { tester, labels, claim }, &evidence, self.clock) {
            Ok(judged) => {
                let names = tester.states.iter().map(|state| state.name.clone()).collect();
                let trace = Trace::new(self.view.clone(), judged.replayed)
                    .with_observer(observer_states.clone(), names);
                let counterexample = Counterexample {
                    cycle_start: *cycle_start,
                    fairness: FairTo::each(fair, &judged.fairness),
                    ..Counterexample::finite(kind, target, trace)
                };
                let state = tester.states[last as usize].name.clone();
                Answer::shown(counterexample, Some(Remark::Illegal(claim, state)))
            }
            Err(why) => Answer::unknown(why),
        }
    }
}
