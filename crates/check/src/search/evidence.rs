//! What searches of products say: what was explored, and the run that shows a violation.

use base::{Limit, Progress};
use model::{Run, StepError};

use super::Stats;
use crate::paged::OutOfMemory;
use crate::product::ExpandError;
use crate::store::Planes;

/// How a run is accepted by an observer, that is, what goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// Whatever follows, it is accepted (C1 of testers; F_fin).
    AtOnce,
    /// It ends, where that is an error (C2 of testers; F_dl).
    Deadlock,
    /// It goes on for ever without moving the observer, where that is accepted (C3 of testers; G of
    /// TA).
    Livelock,
    /// It sees all marks infinitely often (C4 of testers).
    Cycle,
}

/// A violation and the run that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What goes wrong.
    pub violation: Violation,
    /// The run. Where there is a cycle, its last state is the one that the cycle starts in.
    pub run: Run,
    /// Number of steps before the cycle. If it is all of them, the run ends in a deadlock, whose
    /// state repeats for ever.
    pub cycle_start: Option<usize>,
    /// The states of the observer, before the first step and after each.
    pub observer_states: Vec<u32>,
}

impl Evidence {
    /// The state of the observer at the end.
    pub fn observer_state(&self) -> u32 {
        self.observer_states.last().copied().unwrap_or(0)
    }
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProductStop {
    /// Something goes wrong.
    Found(Evidence),
    /// The budget is spent.
    Limit(Limit),
    /// The model itself goes wrong at the end of this run.
    Fault(StepError, Run),
    /// Something was found, but the run to it was not: a mistake in the search.
    NoRun,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct ProductOutcome {
    /// What was explored.
    pub stats: Stats,
    /// Distinct system states, if known.
    pub system_states: Option<u64>,
    /// Why it ended early; `None` if it saw everything (that its store let it see).
    pub stop: Option<ProductStop>,
    /// The estimated share of the states that the store told apart; `None` if all of them.
    pub coverage: Option<crate::Coverage>,
}

impl ProductOutcome {
    /// The outcome of a search over planes that ended with these figures.
    pub(crate) fn new<P: Planes>(
        mut stats: Stats,
        mut progress: Progress,
        planes: &P,
        stop: Option<ProductStop>,
    ) -> ProductOutcome {
        progress.states = planes.n_states();
        stats.record(&progress);
        ProductOutcome { stats, system_states: planes.n_system_states(), stop, coverage: planes.coverage() }
    }

    /// The outcome of this search, which found nothing, and of another one after it.
    pub(crate) fn and(self, second: ProductOutcome) -> ProductOutcome {
        let (a, b) = (&self.stats, &second.stats);
        let stats = Stats {
            states: a.states.max(b.states),
            transitions: a.transitions + b.transitions,
            deadlocks: a.deadlocks.max(b.deadlocks),
            depth: a.depth.max(b.depth),
            peak_bytes: a.peak_bytes.max(b.peak_bytes),
        };
        let system_states = self.system_states.max(second.system_states);
        let coverage = self.coverage.zip(second.coverage).map(|(a, b)| a.min(b));
        ProductOutcome { stats, system_states, stop: second.stop, coverage }
    }

    /// The outcome of a search that could not begin.
    pub fn limited(limit: Limit) -> ProductOutcome {
        let stop = Some(ProductStop::Limit(limit));
        ProductOutcome { stats: Stats::default(), system_states: None, stop, coverage: None }
    }

    /// Whether something goes wrong, if that is known.
    pub fn found(&self) -> Option<bool> {
        match (&self.stop, self.coverage) {
            (Some(ProductStop::Found(_)), _) => Some(true),
            (None, None) => Some(false),
            _ => None,
        }
    }

    /// What goes wrong, if that was found.
    pub fn evidence(&self) -> Option<&Evidence> {
        match &self.stop {
            Some(ProductStop::Found(evidence)) => Some(evidence),
            _ => None,
        }
    }
}

impl From<Limit> for ProductStop {
    fn from(limit: Limit) -> ProductStop {
        ProductStop::Limit(limit)
    }
}

impl From<OutOfMemory> for ProductStop {
    fn from(OutOfMemory: OutOfMemory) -> ProductStop {
        ProductStop::Limit(Limit::OutOfMemory)
    }
}

impl From<StepError> for ProductStop {
    /// The model goes wrong in an initial state.
    fn from(error: StepError) -> ProductStop {
        ProductStop::trouble(error.into(), Run::default)
    }
}

impl ProductStop {
    /// A state could not be expanded, and this run leads there.
    pub(crate) fn trouble(error: ExpandError, run: impl FnOnce() -> Run) -> ProductStop {
        match error {
            ExpandError::Step(error) => {
                error.limit().map_or_else(|| ProductStop::Fault(error, run()), ProductStop::Limit)
            }
            ExpandError::Limit(limit) => ProductStop::Limit(limit),
        }
    }
}
