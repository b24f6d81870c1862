//! Runs without their types: what others need who show them, as documents, pages and words.

use crate::changes::table;
use crate::model::Model;
use crate::run::Run;

/// A step of a run in texts. The first one is no step, but where the run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToldStep {
    /// What happens.
    pub action: Option<String>,
    /// Who does it.
    pub process: Option<String>,
    /// The parts of the state after it, by names that are the same in all steps, and their values.
    pub state: Vec<(String, String)>,
    /// What is watched, and whether it is true after it.
    pub propositions: Vec<(String, bool)>,
}

impl<M: Model> Run<M> {
    /// The run in texts.
    pub fn told(&self) -> Vec<ToldStep> {
        let texts: Vec<String> = (0..=self.steps.len()).map(|at| format!("{:?}", self.state(at))).collect();
        let (names, rows) = table(&texts);
        let told = |(at, row): (usize, Vec<&str>)| {
            let step = at.checked_sub(1).map(|last| &self.steps[last]);
            let action = step.map(|step| match &step.action {
                Some(action) => format!("{action:?}"),
                None => "(nothing happens)".to_owned(),
            });
            let values = row.into_iter().map(str::to_owned);
            ToldStep {
                action,
                process: step.and_then(|step| step.by.clone()),
                state: names.iter().cloned().zip(values).collect(),
                propositions: self.watched().iter().cloned().zip(self.values(at).iter().copied()).collect(),
            }
        };
        rows.into_iter().enumerate().map(told).collect()
    }
}
