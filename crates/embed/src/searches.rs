//! The searches, compiled once for all models: over [`Erased`] programs, with a clock.

use base::budget::Watch;
use base::clock::{Clock, Limits, Watcher};
use base::{Budget, Limit, Progress};
use check::choice::Wish;
use check::decide::{Claim, Decision, Refusal, Settings};
use check::fairness::Constraint;
use check::method::StoreKind;
use check::search::{ProductStop, Violation, bfs};
use check::store::Queue;
use check::{Bitstate, Exact, Exploration, Goal, Space, walk};
use model::{Run, StepError, System as _};

use crate::program::{Erased, Part, Program};
use crate::run::Ending;

/// How far to go, and who is told.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) limits: Limits,
    pub(crate) watcher: Option<&'a dyn Watcher>,
    pub(crate) store: StoreKind,
}

/// A clock that knows what a program holds beside the search.
struct Watching<'a> {
    clock: Clock<'a>,
    program: &'a dyn Program,
}

impl<'a> Watching<'a> {
    fn new(program: &'a dyn Program, setup: &Setup<'a>) -> Watching<'a> {
        let clock = Clock::start(&setup.limits);
        let clock = setup.watcher.map_or(clock.clone(), |watcher| clock.watched_by(watcher));
        Watching { clock, program }
    }

    fn budget(&self, max_states: Option<u64>) -> Budget<'_> {
        Budget::new(max_states.unwrap_or(u64::MAX), self.clock.max_bytes(), self)
    }
}

impl Watch for Watching<'_> {
    fn look(&self, progress: &Progress) -> Result<(), Limit> {
        let max = self.clock.max_bytes();
        let bytes = progress.bytes.saturating_add(self.program.bytes());
        if bytes > max {
            return Err(Limit::Memory(max));
        }
        self.clock.look(&Progress { bytes, ..*progress })
    }

    fn nanoseconds(&self) -> u64 {
        self.clock.nanoseconds()
    }
}

/// Explores all states, breadth first, and looks for violations of goals.
pub(crate) fn states(program: &dyn Program, goals: &[Goal], setup: &Setup<'_>) -> Exploration {
    let watching = Watching::new(program, setup);
    let mut budget = watching.budget(setup.limits.states);
    let watched = goals.iter().filter_map(|goal| match goal {
        Goal::Invariant(number) => Some(*number),
        Goal::Deadlock => None,
    });
    // Where nothing is asked, all states are wanted.
    let mut explored = if program.is_reduced() && !goals.is_empty() {
        over_store(&Part { whole: Erased(program), watched: watched.collect() }, goals, setup, &mut budget)
    } else {
        over_store(&Erased(program), goals, setup, &mut budget)
    };
    explored.stats.peak_bytes += program.bytes();
    explored
}

fn over_store<'a, S: Space<Whole = Erased<'a>>>(
    space: &S,
    goals: &[Goal],
    setup: &Setup<'_>,
    budget: &mut Budget<'_>,
) -> Exploration {
    let width = space.whole().width();
    match setup.store {
        StoreKind::Exact => bfs::search(space, &mut Exact::new(width, budget.room()), goals, budget),
        StoreKind::Bitstate { bytes, n_hashes } => match Bitstate::new(bytes, n_hashes) {
            Some(bits) => bfs::search(space, &mut Queue::new(bits, width), goals, budget),
            None => Exploration::limited(goals.len(), Limit::OutOfMemory),
        },
    }
}

/// What a search for an infinite run came to.
pub(crate) enum Found {
    /// There is none.
    Nothing(Decision),
    /// This one, and how it goes on.
    Run(Run, Ending),
    /// The model goes wrong in a step from the end of this one.
    Fault(StepError, Run),
    /// A limit was reached.
    Limit(Limit),
    /// The run was lost: a mistake in a search.
    Lost,
}

/// Runs with more steps are long, and products with more states not small: a shorter run is looked for in these only.
const LONG: usize = 12;
const MAX_SMALL: u64 = 50_000;

/// Looks for a run that a claim accepts.
pub(crate) fn runs(
    program: &dyn Program,
    claim: &mut Claim,
    wish: &Wish,
    constraints: &[Constraint],
    setup: &Setup<'_>,
) -> Result<Found, Refusal> {
    let watching = Watching::new(program, setup);
    let system = Erased(program);
    let budget = || watching.budget(setup.limits.states);
    let choice = wish.complete(claim, &mut budget())?;
    let settings = Settings { fairness: constraints, ..Settings::default() };
    let mut decision = claim.search(&system, choice.method, &settings, &mut budget())?;
    decision.outcome.stats.peak_bytes += program.bytes();
    let evidence = match decision.outcome.stop {
        None => return Ok(Found::Nothing(decision)),
        Some(ProductStop::Limit(limit)) => return Ok(Found::Limit(limit)),
        Some(ProductStop::Fault(error, run)) => return Ok(Found::Fault(error, run)),
        Some(ProductStop::NoRun) => return Ok(Found::Lost),
        Some(ProductStop::Found(evidence)) => evidence,
    };
    let is_long = |run: &Run| run.actions.len() > LONG;
    let shorter = (is_long(&evidence.run) && evidence.cycle_start.is_some() && !claim.owns_deadlocks())
        .then(|| claim.shortest(&system, &settings, None, &mut watching.budget(Some(MAX_SMALL))))
        .flatten()
        .filter(|shorter| shorter.run.actions.len() < evidence.run.actions.len());
    let evidence = shorter.unwrap_or(evidence);
    Ok(match (evidence.violation, evidence.cycle_start) {
        (Violation::AtOnce, _) => match walk::to_lasso(&system, &evidence.run, &mut budget()) {
            Ok(Some((run, start))) => Found::Run(run, Ending::Cycle(start)),
            // It goes on for very long, or wrong: what matters has happened.
            Ok(None) | Err(_) => Found::Run(evidence.run, Ending::Open),
        },
        (Violation::Deadlock, None) => Found::Run(evidence.run, Ending::Deadlock),
        (_, Some(start)) => Found::Run(evidence.run, Ending::Cycle(start)),
        (_, None) => Found::Lost,
    })
}
