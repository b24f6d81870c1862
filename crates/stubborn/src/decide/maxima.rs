//! Greatest values of expressions, in one exploration.

use base::{Budget, Limit, Progress};
use check::{Exact, Exploration, StateId, Stop, Store as _, Visited as _, search};
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
    pub(crate) store: Exact,
}

/// Explores everything, breadth first, and keeps it.
pub(crate) fn explore(model: &mut dyn Model, clock: &Clock<'_>) -> Result<Attempt<Space>, Trouble> {
    let mut budget = clock.budget();
    let view = model.view(Purpose::Runs, &mut budget)?;
    let mut store = Exact::new(view.system.width(), budget.room());
    let exploration = search::bfs::search(&*view.system, &mut store, &[], &mut budget);
    Ok(match fault(&exploration).filter(|error| model.can_refine(error)) {
        Some(error) => Attempt::TooSmall(error),
        None => Attempt::Done(Space { view, exploration, store }),
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

    /// How far a look at all states has come.
    pub(crate) fn progress(&self) -> Progress {
        Progress { states: self.store.n_states(), bytes: self.store.bytes(), ..Progress::default() }
    }

    /// Looks at the values of the variables in every state.
    pub(crate) fn for_each(
        &self,
        budget: &mut Budget<'_>,
        mut look: impl FnMut(&[i64]) -> Result<(), Fault>,
    ) -> Result<(), Why> {
        let mut state = vec![0; self.system().width()];
        let progress = self.progress();
        for index in 0..self.store.n_states() {
            budget.poll(&progress)?;
            self.store.get(StateId::new(index as usize), &mut state);
            look(&self.system().layout().decode(&state))?;
        }
        Ok(())
    }

    /// The greatest values of expressions in any state; there is at least one.
    pub(crate) fn maxima(&self, exprs: &[ExprId], budget: &mut Budget<'_>) -> Result<Vec<i64>, Why> {
        let mut maxima = vec![i64::MIN; exprs.len()];
        self.for_each(budget, |values| {
            for (maximum, &expr) in maxima.iter_mut().zip(exprs) {
                *maximum = (*maximum).max(reference::value(self.system(), expr, values)?);
            }
            Ok(())
        })?;
        Ok(maxima)
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
    let maxima = space.maxima(&exprs, &mut clock.budget());
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
