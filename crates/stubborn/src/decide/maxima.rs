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

    /// The greatest values of expressions in any state that any process has; there is at least one.
    pub(crate) fn maxima(&self, exprs: &[ExprId], budget: &mut Budget<'_>) -> Result<Vec<i64>, Why> {
        let least = || Greatest { values: vec![i64::MIN; exprs.len()], unclear: None };
        let all = self.collect(budget, least, |own, state| {
            for (index, &expr) in exprs.iter().enumerate() {
                match reference::value(self.system(), expr, state) {
                    Ok(value) => own.values[index] = own.values[index].max(value),
                    Err(_) => own.cannot_be_told(state),
                }
            }
            Ok(())
        });
        let own = all.map(|all| all.into_iter().fold(least(), Greatest::and));
        let words = match &own {
            Ok(own) => own.to_words(),
            Err(_) => Vec::new(),
        };
        let said = check::say(&words, budget)?;
        let mut greatest = own?;
        for words in &said {
            // Somebody has reached a limit, which is told by whoever it was; here, too, not everything is known.
            greatest = greatest.and(Greatest::of_words(words, exprs.len()).ok_or(Limit::Time)?);
        }
        match greatest.unclear {
            None => Ok(greatest.values),
            Some(state) => {
                let told = exprs.iter().find_map(|&expr| reference::value(self.system(), expr, &state).err());
                told.map_or(Ok(greatest.values), |fault| Err(fault.into()))
            }
        }
    }
}

/// The greatest values that somebody has seen, and the first state in which there is none, by the values of its variables.
struct Greatest {
    values: Vec<i64>,
    unclear: Option<Vec<i64>>,
}

impl Greatest {
    fn cannot_be_told(&mut self, state: &[i64]) {
        if self.unclear.as_ref().is_none_or(|first| state < &first[..]) {
            self.unclear = Some(state.to_vec());
        }
    }

    fn and(mut self, other: Greatest) -> Greatest {
        let both = self.values.iter_mut().zip(other.values);
        both.for_each(|(value, other)| *value = (*value).max(other));
        if let Some(state) = other.unclear {
            self.cannot_be_told(&state);
        }
        self
    }

    fn to_words(&self) -> Vec<u32> {
        let numbers = self.values.iter().chain(self.unclear.iter().flatten());
        let words = numbers.flat_map(|&number| [number as u32, (number >> 32) as u32]);
        std::iter::once(self.unclear.is_some().into()).chain(words).collect()
    }

    fn of_words(words: &[u32], n_values: usize) -> Option<Greatest> {
        let (&is_unclear, words) = words.split_first()?;
        let mut values: Vec<i64> =
            words.chunks_exact(2).map(|two| i64::from(two[0]) | i64::from(two[1]) << 32).collect();
        let state = (values.len() >= n_values).then(|| values.split_off(n_values))?;
        Some(Greatest { values, unclear: (is_unclear != 0).then_some(state) })
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
