//! The searches, compiled once for all models: over [`Erased`] programs, with a clock.

use base::budget::Watch;
use base::clock::Clock;
use base::threads::Threads;
use base::{Budget, Limit, Progress};
use check::choice::Wish;
use check::decide::{Claim, Decision, Refusal, Settings, TesterClaim};
use check::fairness::Constraint;
use check::method::StoreKind;
use check::search::{Evidence, ProductStop, Violation, bfs};
use check::store::{Fingerprints, Queue, SharedBits};
use check::{Bitstate, Coverage, Exploration, Goal, Space, parallel, walk};
use model::{Run, StepError, System as _};

use crate::numbered::Numbered;
use crate::program::{Erased, Part, Program};
use crate::run::Ending;

/// How far to go, who is told, and who helps: made once for a question, however often a search begins again.
pub(crate) struct Setup<'a> {
    pub(crate) clock: Clock<'a>,
    pub(crate) max_states: u64,
    pub(crate) threads: Threads,
    /// All threads begin at once, for tests.
    pub(crate) together: bool,
    pub(crate) store: StoreKind,
}

/// A clock that knows what a program holds beside the search.
struct Watching<'a> {
    setup: &'a Setup<'a>,
    program: &'a dyn Program,
}

impl Watching<'_> {
    fn budget(&self, max_states: u64) -> Budget<'_> {
        let Setup { clock, threads, .. } = self.setup;
        Budget::new(max_states, clock.max_bytes(), self).with_team(threads)
    }
}

impl Watch for Watching<'_> {
    fn look(&self, progress: &Progress) -> Result<(), Limit> {
        let clock = &self.setup.clock;
        let bytes = progress.bytes.saturating_add(self.program.bytes());
        if bytes > clock.max_bytes() {
            return Err(Limit::Memory(clock.max_bytes()));
        }
        clock.look(&Progress { bytes, ..*progress })
    }

    fn nanoseconds(&self) -> u64 {
        self.setup.clock.nanoseconds()
    }
}

/// Explores all states, breadth first, and looks for violations of goals.
pub(crate) fn states(program: &dyn Program, goals: &[Goal], setup: &Setup<'_>) -> Exploration {
    let watching = Watching { setup, program };
    let mut budget = watching.budget(setup.max_states);
    let watched = goals.iter().filter_map(|goal| match goal {
        Goal::Invariant(number) => Some(*number),
        Goal::Deadlock => None,
    });
    // Where nothing is asked, all states are wanted.
    let mut explored = if program.is_reduced() && !goals.is_empty() {
        over_store(&Part { whole: Erased(program), watched: watched.collect() }, goals, setup, &mut budget)
    } else if program.counts()
        && budget.team().n_workers() == 1
        && !matches!(setup.store, StoreKind::Bitstate { .. })
        && !setup.together
    {
        // Every step is taken and its target stored, so states have the same numbers there as here.
        bfs::search(&Erased(program), &mut Numbered::default(), goals, &mut budget)
    } else {
        over_store(&Erased(program), goals, setup, &mut budget)
    };
    explored.stats.peak_bytes += program.bytes();
    explored.coverage = together(explored.coverage, program);
    explored
}

/// What may be missing by the fault of a store or of a program.
fn together(coverage: Option<Coverage>, program: &dyn Program) -> Option<Coverage> {
    match (coverage, program.coverage()) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn over_store<'a, S: Space<Whole = Erased<'a>> + Sync>(
    space: &S,
    goals: &[Goal],
    setup: &Setup<'_>,
    budget: &mut Budget<'_>,
) -> Exploration {
    let width = space.whole().width();
    let none = || Exploration::limited(goals.len(), Limit::OutOfMemory);
    match setup.store {
        StoreKind::Exact if setup.together => {
            let joins = parallel::Joins { bfs: 1, mixed: 1, few: 0 };
            parallel::bfs_joined(joins, space, goals, budget)
        }
        StoreKind::Exact => parallel::bfs(space, goals, budget),
        StoreKind::Bitstate { bytes, n_hashes } if budget.team().n_workers() > 1 => {
            match SharedBits::new(bytes, n_hashes) {
                Ok(bits) => parallel::bitstate(space, bits, goals, budget),
                Err(_) => none(),
            }
        }
        StoreKind::Bitstate { bytes, n_hashes } => match Bitstate::new(bytes, n_hashes) {
            Some(bits) => bfs::search(space, &mut Queue::new(bits, width), goals, budget),
            None => none(),
        },
        StoreKind::Fingerprint => {
            bfs::search(space, &mut Queue::new(Fingerprints::default(), width), goals, budget)
        }
    }
}

/// What a search for a run came to.
pub(crate) enum Found {
    /// There is none.
    Nothing(Decision),
    /// This one, how it goes on, and what about it is wrong.
    Run(Run, Ending, Violation),
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

fn settings<'c>(constraints: &'c [Constraint], setup: &Setup<'_>) -> Settings<'c> {
    Settings { fairness: constraints, together: setup.together, ..Settings::default() }
}

/// Looks for a run that a claim accepts.
pub(crate) fn runs(
    program: &dyn Program,
    claim: &mut Claim,
    wish: &Wish,
    constraints: &[Constraint],
    setup: &Setup<'_>,
) -> Result<Found, Refusal> {
    let watching = Watching { setup, program };
    let system = Erased(program);
    let budget = || watching.budget(setup.max_states);
    let choice = wish.complete(claim, &mut budget())?;
    let settings = settings(constraints, setup);
    let decision = claim.search(&system, choice.method, &settings, &mut budget())?;
    let evidence = match evidence(program, decision) {
        Ok(evidence) => evidence,
        Err(found) => return Ok(found),
    };
    let is_long = |run: &Run| run.actions.len() > LONG;
    let shorter = (is_long(&evidence.run) && evidence.cycle_start.is_some() && !claim.owns_deadlocks())
        .then(|| claim.shortest(&system, &settings, None, &mut watching.budget(MAX_SMALL)))
        .flatten()
        .filter(|shorter| shorter.run.actions.len() < evidence.run.actions.len());
    let Evidence { violation, run, cycle_start, .. } = shorter.unwrap_or(evidence);
    Ok(match (violation, cycle_start) {
        (Violation::AtOnce, _) => match walk::to_lasso(&system, &run, &mut budget()) {
            Ok(Some((run, start))) => Found::Run(run, Ending::Cycle(start), violation),
            // It goes on for very long, or wrong: what matters has happened.
            Ok(None) | Err(_) => Found::Run(run, Ending::Open, violation),
        },
        (Violation::Deadlock, None) => Found::Run(run, Ending::Deadlock, violation),
        (_, Some(start)) => Found::Run(run, Ending::Cycle(start), violation),
        (_, None) => Found::Lost,
    })
}

/// Looks for a run that a tester calls illegal.
pub(crate) fn illegal_runs(
    program: &dyn Program,
    claim: &TesterClaim<'_>,
    wish: &Wish,
    constraints: &[Constraint],
    setup: &Setup<'_>,
) -> Result<Found, Refusal> {
    let watching = Watching { setup, program };
    let choice = wish.complete_for_tester(claim)?;
    let settings = settings(constraints, setup);
    let mut budget = watching.budget(setup.max_states);
    let decision = claim.search(&Erased(program), choice.method, &settings, &mut budget)?;
    Ok(match evidence(program, decision) {
        Err(found) => found,
        Ok(Evidence { violation, run, cycle_start, .. }) => match (violation, cycle_start) {
            (Violation::AtOnce, _) => Found::Run(run, Ending::Open, violation),
            (Violation::Deadlock, _) => Found::Run(run, Ending::Refusal, violation),
            (_, Some(start)) => Found::Run(run, Ending::Cycle(start), violation),
            (_, None) => Found::Lost,
        },
    })
}

/// What was found, if it is a run.
fn evidence(program: &dyn Program, mut decision: Decision) -> Result<Evidence, Found> {
    decision.outcome.stats.peak_bytes += program.bytes();
    decision.outcome.coverage = together(decision.outcome.coverage, program);
    Err(match decision.outcome.stop {
        None => Found::Nothing(decision),
        Some(ProductStop::Limit(limit)) => Found::Limit(limit),
        Some(ProductStop::Fault(error, run)) => Found::Fault(error, run),
        Some(ProductStop::NoRun) => Found::Lost,
        Some(ProductStop::Found(evidence)) => return Ok(evidence),
    })
}
