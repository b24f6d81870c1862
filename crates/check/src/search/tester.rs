//! Decides whether a system does what a tester calls illegal.
//!
//! Algorithm 3.4 ([`one_pass`]) looks for C1, C2 and C3; if the tester has
//! infinite-trace states, [`nested_dfs`] looks for C1, C2 and C4 as well. Both
//! must find nothing before the answer is that nothing is wrong: under reduction an error C4 may
//! survive only as C3 (001, Theorem 4.1).

use base::{Budget, Limit, Progress};
use model::{ActionId, Run, StepError};

use super::{Stats, nested_dfs, one_pass};
use crate::paged::{OutOfMemory, Paged};
use crate::product::TesterProduct;
use crate::store::Planes;

/// What went wrong, named after the conditions of Theorem 3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// C1: the tester is in a reject state.
    IllegalTrace,
    /// C2: system and tester are stuck, and the tester is in a deadlock state.
    StableFailure,
    /// C3: the system runs for ever without visible actions, and the tester is in a livelock state.
    Divergence,
    /// C4: the tester leaves infinite-trace states infinitely often.
    InfiniteTrace,
}

/// An error and the run that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What went wrong.
    pub violation: Violation,
    /// The run. Where there is a cycle, its last state is the one that the cycle starts in.
    pub run: Run,
    /// Number of steps before the cycle.
    pub cycle_start: Option<usize>,
    /// The state of the tester at the end.
    pub tester_state: u32,
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TesterStop {
    /// An error was found.
    Found(Evidence),
    /// The budget is spent.
    Limit(Limit),
    /// The model went wrong at the end of this run.
    Fault(StepError, Run),
}

/// The outcome of the searches.
#[derive(Clone, Debug)]
pub struct TesterOutcome {
    /// What was explored, both searches added up.
    pub stats: Stats,
    /// Distinct system states, if known.
    pub system_states: Option<u64>,
    /// Why they ended early; `None` if they saw everything (that their store let them see).
    pub stop: Option<TesterStop>,
    /// The estimated share of the states that the store told apart; `None` if all of them.
    pub coverage: Option<f64>,
}

impl TesterOutcome {
    /// The outcome of one search that ended with these figures.
    pub(crate) fn new<P: Planes>(
        mut stats: Stats,
        mut progress: Progress,
        planes: &P,
        stop: Option<TesterStop>,
    ) -> TesterOutcome {
        progress.states = planes.n_states();
        stats.record(&progress);
        TesterOutcome { stats, system_states: planes.n_system_states(), stop, coverage: planes.coverage() }
    }
}

/// The order of the work set of Algorithm 3.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkSet {
    /// First in, first out: short prefixes.
    Queue,
    /// Last in, first out.
    Stack,
}

/// Runs the searches that the tester needs. `new_planes` gives an empty pair of sets; if it has
/// none to give, it says why.
pub fn check<P: Planes>(
    product: &TesterProduct<'_>,
    work_set: WorkSet,
    mut new_planes: impl FnMut() -> P,
    budget: &mut Budget<'_>,
) -> TesterOutcome {
    let has_infinite = product.tester().states.iter().any(|state| state.infinite);
    let first = one_pass::search(product, work_set, &mut new_planes(), budget);
    if first.stop.is_some() || !has_infinite {
        return first;
    }
    let second = nested_dfs::search(product, &mut new_planes(), budget);
    let (a, b) = (&first.stats, &second.stats);
    let stats = Stats {
        states: a.states.max(b.states),
        transitions: a.transitions + b.transitions,
        deadlocks: a.deadlocks.max(b.deadlocks),
        depth: a.depth.max(b.depth),
        peak_bytes: a.peak_bytes.max(b.peak_bytes),
    };
    let system_states = first.system_states.max(second.system_states);
    let coverage = first.coverage.zip(second.coverage).map(|(a, b)| a.min(b));
    TesterOutcome { stats, system_states, stop: second.stop, coverage }
}

/// How each state was found first: its parent in the log, and the action between them.
pub(crate) struct Log {
    records: Paged,
}

impl Log {
    /// Parent of states that were found first: the number of an initial state stands beside it.
    pub(crate) const ROOT: u32 = u32::MAX;

    pub(crate) fn new() -> Log {
        Log { records: Paged::new(2) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.records.bytes()
    }

    /// Notes how a state was found; returns the number of the note.
    pub(crate) fn add(&mut self, parent: u32, action: u32) -> Result<u32, OutOfMemory> {
        let number = u32::try_from(self.records.len()).ok().filter(|&number| number != Log::ROOT);
        self.records.push(&[parent, action])?;
        number.ok_or(OutOfMemory)
    }

    /// Length of the longest run that was noted.
    pub(crate) fn depth(&self) -> u64 {
        let mut depths: Vec<u32> = Vec::with_capacity(self.records.len());
        for number in 0..self.records.len() {
            // Parents come first.
            let parent = self.records.get(number)[0];
            depths.push(if parent == Log::ROOT { 0 } else { depths[parent as usize] + 1 });
        }
        depths.into_iter().max().map_or(0, u64::from)
    }

    /// The run to the state of a note.
    pub(crate) fn run_to(&self, mut number: u32) -> Run {
        let mut actions = Vec::new();
        loop {
            let record = self.records.get(number as usize);
            if record[0] == Log::ROOT {
                actions.reverse();
                return Run { initial: record[1] as usize, actions };
            }
            actions.push(ActionId::new(record[1] as usize));
            number = record[0];
        }
    }
}
