//! The searches.
//!
//! A search explores a system, and looks for violations of some [`Goal`]s on the way: several in
//! one pass. It ends when the space is exhausted, every goal is violated, or the budget is spent.
//!
//! | search | finds | stack or queue | when to use it |
//! |---|---|---|---|
//! | [`bfs`] | shortest runs | none: the exact store *is* the queue | by default |
//! | [`mixed`] | some run, short or long | nothing to speak of | where runs need not be shortest: under reduction |
//! | [`nearest`] | some run, to where a distance leads | 4 bytes per state, and the states that wait | where something is likely to be found, and there are many states |
//! | [`stroll`] | some run, perhaps very long | none: nothing is kept | before everything else: much is found soon |
//! | [`dfs`] | some run, perhaps long | as deep as the longest path | to hurry into deep states; with little memory, over [`Bitstate`](crate::Bitstate) |
//! | [`couvreur`] | cycles with all marks: violations of LTL | as deep as the longest path | for TGBA, BA and TGTA |
//! | [`two_pass`] | the same, and livelocks | as deep as the longest path, twice | for TA |
//! | [`one_pass`] | livelocks, and what is accepted at once or by a deadlock | a work set, and a stack of silent steps | for testers, and for TA without Büchi states |
//! | [`product_bfs`] | nothing: it counts the whole product | none: everything is kept | to know how large a product is |
//! | [`shortest`] | a shortest cycle with all marks | none: everything is kept | to show people a violation that is known |
//! | [`nested_dfs`] | cycles with a marked step | as deep as the longest path, twice | for BA in little memory; for testers with infinite-trace states, after [`one_pass`] |

mod batch;
pub mod bfs;
pub mod couvreur;
pub mod dfs;
pub mod evidence;
pub(crate) mod found;
pub(crate) mod frontier;
pub(crate) mod inside;
pub(crate) mod lasso;
pub(crate) mod left_out;
mod log;
pub mod mixed;
pub mod nearest;
pub mod nested_dfs;
pub mod one_pass;
mod path;
pub mod product_bfs;
pub(crate) mod product_graph;
pub(crate) mod repair;
pub(crate) mod roots;
mod sample;
pub mod shortest;
mod space;
pub(crate) mod stack;
pub mod streett;
pub mod stroll;
pub mod two_pass;
pub(crate) mod varints;

pub use evidence::{Evidence, ProductOutcome, ProductStop, Violation};
pub use space::{Extent, Space};

use base::{Limit, Progress};
use model::{Run, StepError, System};

/// What must not be reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A state without enabled actions.
    Deadlock,
    /// A state where this proposition is false.
    Invariant(usize),
}

/// What was explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct states stored.
    pub states: u64,
    /// Transitions generated; parallel actions between the same states count separately.
    pub transitions: u64,
    /// States without enabled actions.
    pub deadlocks: u64,
    /// Breadth-first: the longest of all shortest runs. Depth-first: the longest path. From both ends: as far as known.
    pub depth: u64,
    /// Bytes held at most.
    pub peak_bytes: u64,
}

/// Why a search ended before it had seen everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every goal is violated, or cannot be evaluated: there was nothing left to look for.
    AllViolated,
    /// The budget is spent.
    Limit(Limit),
    /// The model went wrong at the end of this run, in a step from there.
    Fault(StepError, Run),
}

impl Stop {
    /// A state could not be expanded, and this run leads there.
    fn trouble(error: StepError, run: impl FnOnce() -> Run) -> Stop {
        error.limit().map_or_else(|| Stop::Fault(error, run()), Stop::Limit)
    }
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// What was explored.
    pub stats: Stats,
    /// For each goal, a run to the first violation found.
    pub violations: Vec<Option<Run>>,
    /// For each goal, the run to a state where it could not be evaluated; it was not looked at any
    /// further.
    pub faults: Vec<Option<(StepError, Run)>>,
    /// Why the search ended early; `None` if it saw everything (that its store let it see).
    pub stop: Option<Stop>,
    /// The share of the states that were found, as estimated; `None` if the store forgets none.
    pub coverage: Option<crate::Coverage>,
    /// Per action, whether it happened, alone or within a step; empty if the system does not keep account.
    pub taken: Vec<bool>,
}

impl Exploration {
    /// The outcome of a search for so many goals that could not begin.
    pub fn limited(n_goals: usize, limit: Limit) -> Exploration {
        Exploration {
            stats: Stats::default(),
            violations: vec![None; n_goals],
            faults: vec![None; n_goals],
            stop: Some(Stop::Limit(limit)),
            coverage: None,
            taken: Vec::new(),
        }
    }

    /// Whether a goal is violated, if that is known.
    pub fn found(&self, goal: usize) -> Option<bool> {
        match (&self.violations[goal], &self.faults[goal], &self.stop, self.coverage) {
            (Some(_), ..) => Some(true),
            (None, None, None, None) => Some(false),
            _ => None,
        }
    }
}

/// The goals of a search that are still to be looked at.
struct OpenGoals<'a> {
    goals: &'a [Goal],
    closed: Vec<bool>,
    n_open: usize,
}

impl<'a> OpenGoals<'a> {
    fn new(goals: &'a [Goal]) -> OpenGoals<'a> {
        OpenGoals { goals, closed: vec![false; goals.len()], n_open: goals.len() }
    }

    /// Whether there were goals and none is left.
    fn all_closed(&self) -> bool {
        self.n_open == 0 && !self.goals.is_empty()
    }

    /// Looks at a state that was just found; calls `found` for each goal that it violates first, or
    /// that cannot be evaluated there.
    fn look_at<S: System>(
        &mut self,
        system: &S,
        state: &[u32],
        scratch: &mut S::Scratch,
        mut found: impl FnMut(usize, Option<StepError>),
    ) {
        if self.n_open == 0 {
            return;
        }
        for (index, goal) in self.goals.iter().enumerate() {
            if let Goal::Invariant(proposition) = goal
                && !self.closed[index]
            {
                let error = match system.holds(*proposition, state, scratch) {
                    Ok(true) => continue,
                    Ok(false) => None,
                    Err(error) => Some(error),
                };
                self.closed[index] = true;
                self.n_open -= 1;
                found(index, error);
            }
        }
    }

    /// Tells that a state has no successors; calls `found` for each goal it violates first.
    fn deadlock(&mut self, mut found: impl FnMut(usize)) {
        for index in 0..self.goals.len() {
            if self.goals[index] == Goal::Deadlock && !self.closed[index] {
                self.closed[index] = true;
                self.n_open -= 1;
                found(index);
            }
        }
    }
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Stop {
        Stop::Limit(limit)
    }
}

impl Stats {
    /// Takes over a snapshot, and remembers the largest memory use.
    fn record(&mut self, progress: &Progress) {
        self.states = progress.states;
        self.transitions = progress.transitions;
        self.depth = progress.depth;
        self.peak_bytes = self.peak_bytes.max(progress.bytes);
    }
}
