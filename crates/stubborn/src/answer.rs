//! What is said about a property: a verdict, its reason, and a run that was replayed before it is shown.

use base::Limit;
use check::Stats;
use check::decide::Decision;
use check::method::{FairnessBy, Method as Chosen, ObserverKind, StoreKind};
use language::View;
use model::{Run, StepError};
use replay::{Doubt, Ending, Evidence, Judged, Question};
use report::method::{Fairness, Method, Observer, Reduction, Search, Store};
use report::outcome::{Counterexample, Kind, Target};
use report::{PropertyResult, Statistics, Trace, Verdict};

use crate::clock::Clock;
use crate::options::{Options, Order};

/// An answer about one property.
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) reason: Option<String>,
    pub(crate) counterexample: Option<Counterexample>,
    /// How the model goes wrong, if that is why nothing is known.
    pub(crate) fault: Option<StepError>,
}

/// How an answer was found, and what it took.
#[derive(Clone)]
pub(crate) struct Figures {
    pub(crate) method: Option<Method>,
    pub(crate) stats: Statistics,
}

impl Answer {
    pub(crate) fn holds(reason: Option<String>) -> Answer {
        Answer { verdict: Verdict::Holds, reason, counterexample: None, fault: None }
    }

    pub(crate) fn unknown(reason: impl Into<String>) -> Answer {
        Answer { verdict: Verdict::Unknown, reason: Some(reason.into()), counterexample: None, fault: None }
    }

    pub(crate) fn limit(limit: Limit) -> Answer {
        Answer::unknown(limit_reason(limit))
    }

    /// There is a run to what was looked for, but it was lost: a mistake of ours.
    pub(crate) fn lost() -> Answer {
        Answer::unknown("internal error, please report it: no run leads to what was found")
    }

    /// This run breaks the property.
    pub(crate) fn shown(counterexample: Counterexample, reason: Option<String>) -> Answer {
        let counterexample = Some(counterexample);
        Answer { verdict: Verdict::Violated, reason, counterexample, fault: None }
    }

    /// A finite run breaks the property, if the judge of evidence agrees.
    pub(crate) fn violated(
        view: &View,
        run: &Run,
        question: Question<'_>,
        kind: Kind,
        target: Target,
        clock: &Clock<'_>,
    ) -> Answer {
        match judge(view, &question, &Evidence::new(run, Ending::Open), clock) {
            Ok(judged) => {
                let trace = Trace::new(view.clone(), judged.replayed);
                Answer::shown(Counterexample::finite(kind, target, trace), None)
            }
            Err(why) => Answer::unknown(why),
        }
    }

    /// The model goes wrong at the end of a run, so that nothing is known.
    pub(crate) fn faulty(view: &View, error: &StepError, run: &Run, clock: &Clock<'_>) -> Answer {
        let answer =
            Answer::violated(view, run, Question::Fault(error.fault), Kind::Error, Target::Error, clock);
        let reason = match &answer.counterexample {
            Some(_) => Some(format!("model error: {}", view.system.describe_fault(error))),
            None => answer.reason,
        };
        Answer {
            verdict: Verdict::Unknown,
            reason,
            counterexample: answer.counterexample,
            fault: Some(*error),
        }
    }

    /// The model goes wrong at the end of a run, which it has promised not to.
    pub(crate) fn error(view: &View, error: &StepError, run: &Run, clock: &Clock<'_>) -> Answer {
        let mut answer =
            Answer::violated(view, run, Question::Fault(error.fault), Kind::Error, Target::Error, clock);
        if let Some(found) = &mut answer.counterexample {
            let told = view.story.as_ref().and_then(|story| story.fault(error));
            answer.reason = Some(told.unwrap_or_else(|| view.system.describe_fault(error)));
            if let Some(action) = error.action {
                found.trace.fails(action);
            }
        }
        answer
    }

    pub(crate) fn result(self, name: &str, figures: &Figures) -> PropertyResult {
        PropertyResult {
            property: name.to_owned(),
            verdict: self.verdict,
            reason: self.reason,
            method: figures.method,
            chosen: None,
            choice: Vec::new(),
            stats: figures.stats,
            counterexample: self.counterexample,
            reduction_check: None,
            refusal: None,
            fault: self.fault,
            watcher: None,
        }
    }
}

impl Figures {
    /// Nothing was searched.
    pub(crate) fn none() -> Figures {
        Figures { method: None, stats: Statistics::default() }
    }

    /// Of an exploration of states.
    pub(crate) fn of_states(stats: &Stats, reduces: bool, options: &Options, seconds: f64) -> Figures {
        let method = Method {
            observer: Observer::None,
            search: match options.order {
                Order::Bfs => Search::Bfs,
                Order::Dfs => Search::Dfs,
            },
            reduction: if reduces { Reduction::Stubborn } else { Reduction::None },
            fairness: Fairness::None,
            store: store(options.store),
        };
        let stats = statistics(stats, Some(stats.states), 0, seconds);
        Figures { method: Some(method), stats }
    }

    /// Of the search of a product.
    pub(crate) fn of_product(
        chosen: &Chosen,
        fairness: Fairness,
        decision: &Decision,
        seconds: f64,
    ) -> Figures {
        let is_monitored = chosen.fairness_by == FairnessBy::Monitors && fairness != Fairness::None;
        let method = Method {
            observer: chosen.observer.into(),
            search: if is_monitored { Search::NestedWithMonitor } else { chosen.search.into() },
            reduction: match chosen.reduction {
                // There is one for testers.
                Some(_) if chosen.observer == ObserverKind::Tester => Reduction::Stubborn,
                reduction => reduction.into(),
            },
            fairness,
            store: store(chosen.store),
        };
        let Decision { outcome, observer_states, .. } = decision;
        let stats = statistics(&outcome.stats, outcome.system_states, *observer_states, seconds);
        Figures { method: Some(method), stats }
    }
}

fn statistics(stats: &Stats, system_states: Option<u64>, observer_states: u64, seconds: f64) -> Statistics {
    Statistics {
        states: stats.states,
        transitions: stats.transitions,
        system_states,
        observer_states,
        depth: stats.depth,
        seconds,
        peak_bytes: stats.peak_bytes,
    }
}

fn store(store: StoreKind) -> Store {
    match store {
        StoreKind::Exact => Store::Exact,
        StoreKind::Bitstate { .. } => Store::Bitstate,
    }
}

/// Lets the judge of evidence look at a run. The error is what to say instead of a verdict.
pub(crate) fn judge(
    view: &View,
    question: &Question<'_>,
    evidence: &Evidence<'_>,
    clock: &Clock<'_>,
) -> Result<Judged, String> {
    replay::judge(&view.system, question, evidence, &mut clock.with_grace().budget()).map_err(|doubt| {
        match doubt {
            Doubt::Rejected(rejection) => {
                format!(
                    "internal error, please report it: the run found does not stand up to replay: {rejection}"
                )
            }
            Doubt::Limit(limit) => format!("{} while the run was replayed", limit_reason(limit)),
        }
    })
}

/// Why a search ended early, in a few words.
pub fn limit_reason(limit: Limit) -> String {
    match limit {
        Limit::Memory(u64::MAX) => "out of memory".to_owned(),
        Limit::Memory(bytes) => format!("memory limit of {} reached", report::human_bytes(bytes)),
        _ => limit.to_string(),
    }
}

/// What an incomplete store lets one say.
pub(crate) fn coverage_reason(coverage: f64) -> String {
    let percent = (coverage * 1e4).floor() / 100.0;
    format!("no violation found, but bitstate may miss states: estimated coverage {percent} %")
}
