//! Greatest values of expressions, in one exploration.

use base::{Budget, Limit};
use check::parallel::{self, Kept};
use check::{Exploration, Stop};
use language::{Model, PropertyKind, Purpose, View};
use model::{ActionSystem, ExprId, Fault, StepError, System as _, reference};
use report::remark::Work;
use report::{PropertyResult, Remark, Verdict};

use super::Asked;
use super::states::fault;
use crate::answer::{Answer, Figures};
use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::Options;
use crate::session::Attempt;

/// All states of a model, as far as they could be explored.
pub(crate) struct Space {
    pub(crate) view: View,
    pub(crate) exploration: Exploration,
    states: Kept,
}

/// Explores everything, breadth first, and keeps it.
pub(crate) fn explore(model: &mut dyn Model, clock: &Clock<'_>) -> Result<Attempt<Space>, Trouble> {
    let mut budget = clock.budget();
    let view = model.view(Purpose::Runs, &mut budget)?;
    let (exploration, states) = parallel::keep(&*view.system, &mut budget);
    Ok(match fault(&exploration).filter(|error| model.can_refine(error)) {
        Some(error) => Attempt::TooSmall(error),
        None => Attempt::Done(Space { view, exploration, states }),
    })
}

/// Why there is no answer.
pub(crate) enum Why {
    Limit(Limit),
    Fault(Fault),
}

impl From<Limit> for Why {
    fn from(limit: Limit) -> Why {
        Why::Limit(limit)
    }
}

impl From<Fault> for Why {
    fn from(fault: Fault) -> Why {
        Why::Fault(fault)
    }
}

impl From<StepError> for Why {
    fn from(error: StepError) -> Why {
        Why::Fault(error.fault)
    }
}

impl Space {
    pub(crate) fn system(&self) -> &ActionSystem {
        &self.view.system
    }

    /// Looks at the values of the variables in every state, with all workers: what each of them has collected.
    pub(crate) fn collect<T: Send>(
        &self,
        budget: &Budget<'_>,
        new: impl Fn() -> T + Sync,
        look: impl Fn(&mut T, &[i64]) -> Result<(), Fault> + Sync,
    ) -> Result<Vec<T>, Why> {
        let layout = self.system().layout();
        self.states
            .collect(self.system().width(), budget, new, |own, state| Ok(look(own, &layout.decode(state))?))
    }

    /// The greatest values of expressions in any state; there is at least one.
    pub(crate) fn maxima(&self, exprs: &[ExprId], budget: &Budget<'_>) -> Result<Vec<i64>, Why> {
        let least = || vec![i64::MIN; exprs.len()];
        let all = self.collect(budget, least, |maxima, values| {
            for (maximum, &expr) in maxima.iter_mut().zip(exprs) {
                *maximum = (*maximum).max(reference::value(self.system(), expr, values)?);
            }
            Ok(())
        })?;
        let greatest =
            |one: Vec<i64>, other: Vec<i64>| one.into_iter().zip(other).map(|(a, b)| a.max(b)).collect();
        Ok(all.into_iter().fold(least(), greatest))
    }
}

/// Finds greatest values.
pub(super) fn decide(
    asked: &mut Asked<'_>,
    job: &[usize],
    clock: &Clock<'_>,
) -> Result<Attempt<Vec<PropertyResult>>, Trouble> {
    let start = clock.seconds();
    let expr = |&index: &usize| match asked.property(index) {
        PropertyKind::Maximum(expr) => Some(*expr),
        _ => None,
    };
    let exprs: Vec<ExprId> = job.iter().filter_map(expr).collect();
    let space = match explore(asked.model(), clock)? {
        Attempt::Done(space) => space,
        Attempt::TooSmall(error) => return Ok(Attempt::TooSmall(error)),
    };
    let maxima = space.maxima(&exprs, &clock.budget());
    let stats = &space.exploration.stats;
    let figures = Figures::of_states(stats, false, &Options::default(), clock.seconds() - start);
    let why = match (&space.exploration.stop, &maxima) {
        (Some(Stop::Limit(limit)), _) | (None, Err(Why::Limit(limit))) => {
            Some(Remark::Limit(*limit, Work::Search))
        }
        (Some(Stop::Fault(error, _)), _) => Some(Remark::ModelError(space.system().describe_fault(error))),
        (_, Err(Why::Fault(fault))) => Some(Remark::ModelError(fault.to_string())),
        _ => None,
    };
    let answer = |(number, &index): (usize, &usize)| {
        let value = maxima.as_ref().ok().map(|maxima| maxima[number]);
        let mut answer = match (value, &why) {
            (Some(value), None) => Answer::holds(Some(Remark::Maximum(value))),
            _ => Answer { verdict: Verdict::Unknown, ..Answer::holds(value.map(Remark::AtLeast)) },
        };
        answer.remarks.extend(why.clone());
        let fault = fault(&space.exploration);
        Answer { fault, ..answer }.result(asked.name(index), &figures)
    };
    Ok(Attempt::Done(job.iter().enumerate().map(answer).collect()))
}
