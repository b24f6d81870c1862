//! What is said about a property: a verdict, its reason, and a run that was replayed before it is shown.

use base::Limit;
use check::Stats;
use check::decide::{Decision, OnDevice};
use check::method::{FairnessBy, Method as Chosen, ObserverKind, StoreKind};
use language::View;
use model::{Run, StepError};
use replay::{Doubt, Ending, Evidence, Judged, Question};
use report::method::{Fairness, Method, Observer, Reduction, Search, Store};
use report::outcome::{Counterexample, Kind, Target};
use report::remark::Work;
use report::{PropertyResult, Remark, Statistics, Trace, Verdict};

use crate::clock::Clock;
use crate::options::{Options, Order};

/// An answer about one property.
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) counterexample: Option<Counterexample>,
    /// How the model goes wrong, if that is why nothing is known.
    pub(crate) fault: Option<StepError>,
}

/// How an answer was found, and what it took.
#[derive(Clone)]
pub(crate) struct Figures {
    pub(crate) method: Option<Method>,
    pub(crate) stats: Statistics,
    /// Whether a device was used, or why not, if it should have been.
    pub(crate) on_processor: Option<Remark>,
}

impl Answer {
    pub(crate) fn holds(remark: Option<Remark>) -> Answer {
        let remarks = remark.into_iter().collect();
        Answer { verdict: Verdict::Holds, remarks, counterexample: None, fault: None }
    }

    pub(crate) fn unknown(why: Remark) -> Answer {
        Answer { verdict: Verdict::Unknown, remarks: vec![why], counterexample: None, fault: None }
    }

    pub(crate) fn limit(limit: Limit) -> Answer {
        Answer::unknown(Remark::Limit(limit, Work::Search))
    }

    /// There is a run to what was looked for, but it was lost: a mistake of ours.
    pub(crate) fn lost() -> Answer {
        Answer::unknown(Remark::Internal("no run leads to what was found".to_owned()))
    }

    /// This run breaks the property.
    pub(crate) fn shown(counterexample: Counterexample, remark: Option<Remark>) -> Answer {
        let (remarks, counterexample) = (remark.into_iter().collect(), Some(counterexample));
        Answer { verdict: Verdict::Violated, remarks, counterexample, fault: None }
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
        let remarks = match &answer.counterexample {
            Some(_) => vec![Remark::ModelError(told(view, error))],
            None => answer.remarks,
        };
        Answer { verdict: Verdict::Unknown, remarks, fault: Some(*error), ..answer }
    }

    /// The model goes wrong at the end of a run, which it has promised not to.
    pub(crate) fn error(view: &View, error: &StepError, run: &Run, clock: &Clock<'_>) -> Answer {
        let mut answer =
            Answer::violated(view, run, Question::Fault(error.fault), Kind::Error, Target::Error, clock);
        if let Some(found) = &mut answer.counterexample {
            answer.remarks = vec![Remark::Broken(told(view, error))];
            if let Some(action) = error.action {
                found.trace.fails(action);
            }
        }
        answer
    }

    pub(crate) fn result(self, name: &str, figures: &Figures) -> PropertyResult {
        PropertyResult {
            property: name.to_owned(),
            place: None,
            verdict: self.verdict,
            remarks: self.remarks.into_iter().chain(figures.on_processor.clone()).collect(),
            method: figures.method,
            chosen: None,
            choice: Vec::new(),
            stats: figures.stats,
            counterexample: self.counterexample,
            reduction_check: None,
            fault: self.fault,
            watcher: None,
            certificate: None,
            why: None,
        }
    }
}

impl Figures {
    /// Nothing was searched.
    pub(crate) fn none() -> Figures {
        Figures { method: None, stats: Statistics::default(), on_processor: None }
    }

    /// Of an exploration of states.
    pub(crate) fn of_states(stats: &Stats, reduces: bool, options: &Options, seconds: f64) -> Figures {
        let method = Method {
            observer: Observer::None,
            search: match options.order() {
                Order::Bfs => Search::Bfs,
                Order::Dfs => Search::Dfs,
                Order::Mixed => Search::Mixed,
            },
            reduction: if reduces { Reduction::Stubborn } else { Reduction::None },
            fairness: Fairness::None,
            store: store(options.store),
        };
        let stats = statistics(stats, Some(stats.states), 0, seconds);
        Figures { method: Some(method), stats, on_processor: None }
    }

    /// Of the search of a product.
    pub(crate) fn of_product(
        chosen: &Chosen,
        fairness: Fairness,
        decision: &Decision,
        seconds: f64,
    ) -> Figures {
        let is_led = decision.on_device == Some(OnDevice::Led);
        let is_on_device = is_led || decision.on_device == Some(OnDevice::Decided);
        let is_monitored = chosen.fairness_by == FairnessBy::Monitors && fairness != Fairness::None;
        let method = Method {
            observer: chosen.observer.into(),
            search: match chosen.search {
                _ if is_on_device => Search::Fixpoint,
                _ if is_monitored => Search::NestedWithMonitor,
                search => search.into(),
            },
            reduction: match chosen.reduction {
                _ if is_on_device && !is_led => Reduction::None,
                // There is one for testers.
                Some(_) if chosen.observer == ObserverKind::Tester => Reduction::Stubborn,
                reduction => reduction.into(),
            },
            fairness,
            store: if is_on_device { Store::Exact } else { store(chosen.store) },
        };
        let Decision { outcome, observer_states, .. } = decision;
        let stats = statistics(&outcome.stats, outcome.system_states, *observer_states, seconds);
        let on_processor = decision.on_device.map(told_of_device);
        Figures { method: Some(method), stats, on_processor }
    }
}

/// Who has searched, where there is a device.
pub(crate) fn told_of_device(did: OnDevice) -> Remark {
    match did {
        OnDevice::Decided | OnDevice::Led => Remark::OnDevice,
        OnDevice::Left(why) => Remark::OnProcessor(why.to_owned()),
    }
}

/// What goes wrong, in the words of the language if it has some.
pub(crate) fn told(view: &View, error: &StepError) -> String {
    let told = view.story.as_ref().and_then(|story| story.fault(error));
    told.unwrap_or_else(|| view.system.describe_fault(error))
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
        StoreKind::Fingerprint => Store::Fingerprint,
    }
}

/// Lets the judge of evidence look at a run. The error says why there is no verdict.
pub(crate) fn judge(
    view: &View,
    question: &Question<'_>,
    evidence: &Evidence<'_>,
    clock: &Clock<'_>,
) -> Result<Judged, Remark> {
    replay::judge(&view.system, question, evidence, &mut clock.with_grace().budget()).map_err(|doubt| {
        match doubt {
            Doubt::Rejected(why) => {
                Remark::Internal(format!("the run found does not stand up to replay: {why}"))
            }
            Doubt::Limit(limit) => Remark::Limit(limit, Work::Replay),
        }
    })
}
