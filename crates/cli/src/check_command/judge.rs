//! What is shown is replayed first.

use std::sync::Arc;

use base::Budget;
use language::View;
use model::{ActionSystem, Run, StepError};
use replay::{Doubt, Ending, Evidence, Judged, Question};
use report::outcome::{Counterexample, Kind, Target};
use report::{Trace, Verdict};

use super::internal_error;

/// What is said of a property: the verdict, why, and the run that shows it.
pub(super) type Answer = (Verdict, Option<String>, Option<Counterexample>);

/// Asks the judge of evidence.
pub(super) fn judge(
    system: &ActionSystem,
    question: &Question<'_>,
    evidence: &Evidence<'_>,
) -> Result<Judged, Doubt> {
    replay::judge(system, question, evidence, &mut Budget::unlimited())
}

/// The run that shows something in its last state, as it is told.
pub(super) fn finite(system: &ActionSystem, question: &Question<'_>, run: &Run) -> Result<Trace, Doubt> {
    let judged = judge(system, question, &Evidence::new(run, Ending::Open))?;
    Ok(trace(system, judged))
}

/// A run that was judged, as it is told.
pub(super) fn trace(system: &ActionSystem, judged: Judged) -> Trace {
    Trace::new(View { system: Arc::new(system.clone()), story: None }, judged.replayed)
}

/// The model goes wrong at the end of a run.
pub(super) fn faulty(system: &ActionSystem, error: &StepError, run: &Run) -> Answer {
    match finite(system, &Question::Fault(error.fault), run) {
        Ok(trace) => {
            let reason = format!("model error: {}", system.describe_fault(error));
            let counterexample = Counterexample::finite(Kind::Error, Target::Error, trace);
            (Verdict::Unknown, Some(reason), Some(counterexample))
        }
        Err(doubt) => (Verdict::Unknown, Some(internal_error(&doubt)), None),
    }
}
