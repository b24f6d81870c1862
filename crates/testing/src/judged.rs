//! Judges of what searches of products found, by the definitions, for tests that compare them.

use base::Budget;
use check::fairness::Constraint;
use check::search::{Evidence, ProductOutcome, Violation};
use model::fairness::Kind;
use model::{ActionId, ActionSystem, LabelId};
use proptest::test_runner::TestCaseError;
use replay::{Ending, Question, TesterClaim as Illegal};

use crate::claims::Case;
use crate::toys::{kind_of, searched};

/// A case fails for this reason.
pub fn fail(error: impl std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

/// What must be the same whoever searches, where nothing is found.
pub fn counts(outcome: &ProductOutcome) -> (u64, u64, u64, Option<u64>) {
    let stats = &outcome.stats;
    (stats.states, stats.transitions, stats.deadlocks, outcome.system_states)
}

/// The run is fair, by the definitions.
///
/// # Errors
/// It is not.
pub fn judge_fair(case: &Case, evidence: &Evidence, constraints: &[Constraint]) -> Result<(), TestCaseError> {
    let constraint = |known: &Constraint| replay::fairness::Constraint {
        subject: replay::Subject::Process("P".to_owned()),
        kind: match known.strong {
            _ if known.is_just() => Kind::Just,
            true => Kind::Strong,
            false => Kind::Weak,
        },
        actions: known.actions.clone(),
    };
    let constraints: Vec<_> = constraints.iter().map(constraint).collect();
    let ending = Ending::Cycle(evidence.cycle_start.ok_or_else(|| fail("no cycle"))?);
    let fair = replay::Evidence { run: &evidence.run, ending, fair_to: &constraints };
    let judged = replay::judge(&case.system, &Question::Possible, &fair, &mut Budget::unlimited());
    judged.map_err(fail)?;
    Ok(())
}

/// The run is illegal, by the definitions.
///
/// # Errors
/// It is not.
pub fn judge_tester(
    system: &ActionSystem,
    tester: &automata::Tester,
    labels: &[LabelId],
    evidence: &Evidence,
) -> Result<(), TestCaseError> {
    let claim = match evidence.violation {
        Violation::AtOnce => Illegal::IllegalTrace,
        Violation::Deadlock => Illegal::StableFailure,
        Violation::Livelock => Illegal::Divergence,
        Violation::Cycle => Illegal::InfiniteTrace,
    };
    let question = Question::Tester { tester, labels, claim };
    let ending = match (evidence.violation, evidence.cycle_start) {
        (_, Some(start)) => Ending::Cycle(start),
        (Violation::Deadlock, None) => Ending::Deadlock,
        (_, None) => Ending::Open,
    };
    let run = replay::Evidence::new(&evidence.run, ending);
    replay::judge(system, &question, &run, &mut Budget::unlimited()).map_err(fail)?;
    Ok(())
}

/// Fairness to some of the processes: per process none, weak, strong, or just.
pub fn constraints(case: &Case, kinds: &[u8]) -> Vec<Constraint> {
    let of_process = |process: usize| -> Vec<ActionId> {
        let actions = case.system.actions().iter().enumerate();
        let owned = actions.filter(|(_, action)| action.owners.iter().any(|owner| owner.index() == process));
        owned.map(|(index, _)| ActionId::new(index)).collect()
    };
    let fair_to =
        kinds.iter().enumerate().filter_map(|(process, &kind)| Some((kind_of(kind)?, of_process(process))));
    let fair_to: Vec<_> = fair_to.filter(|(_, actions)| !actions.is_empty()).collect();
    searched(&case.system, &fair_to)
}
