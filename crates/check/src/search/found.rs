//! What a search by strong components has found, and the run that shows it: for one worker
//! ([`couvreur`](super::couvreur)) and for several ([`components`](crate::parallel::components)).

use base::{Budget, Limit, Progress};
use fixedbitset::FixedBitSet;
use model::System;

use super::evidence::{Evidence, ProductStop, Violation};
use super::lasso::Runs;
use super::product_graph::{ProductGraph, Trouble};
use crate::fairness::Acceptance;
use crate::observer::Observer;
use crate::paged::OutOfMemory;
use crate::store::{Products, StateId};

/// Which edges are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them; the observer's marks are required.
    All,
    /// Silent ones between livelock states; no marks of the observer are required.
    Livelocks,
}

impl Scope {
    /// What an accepted cycle is.
    pub(crate) fn violation(self) -> Violation {
        match self {
            Scope::All => Violation::Cycle,
            Scope::Livelocks => Violation::Livelock,
        }
    }

    /// Of the observer's marks, those that count.
    #[inline]
    pub(crate) fn marks(self, marks: u64) -> u64 {
        if self == Scope::All { marks } else { 0 }
    }
}

/// Why a search ends early.
pub(crate) enum Found {
    /// This state accepts at once, or is an error because the run ends there.
    State(Violation, StateId),
    /// Trouble in this state.
    Trouble(Trouble, Option<StateId>),
    /// There is a cycle that is accepted.
    Inside(Box<Cycle>),
}

/// A cycle among some states.
pub(crate) struct Cycle {
    violation: Violation,
    acceptance: Acceptance,
    inside: FixedBitSet,
}

impl From<Limit> for Found {
    fn from(limit: Limit) -> Found {
        Found::Trouble(Trouble::Limit(limit), None)
    }
}

impl From<OutOfMemory> for Found {
    fn from(OutOfMemory: OutOfMemory) -> Found {
        Limit::OutOfMemory.into()
    }
}

impl Found {
    /// There is an accepted cycle among these states.
    pub(crate) fn inside(violation: Violation, acceptance: Acceptance, inside: FixedBitSet) -> Found {
        Found::Inside(Box::new(Cycle { violation, acceptance, inside }))
    }

    /// An answer with a run, in what was explored.
    pub(crate) fn explain<S: System, O: Observer, P: Products>(
        self,
        graph: &mut ProductGraph<'_, '_, S, O, P>,
        progress: Progress,
        budget: &mut Budget<'_>,
    ) -> ProductStop {
        self.with_run(graph, progress, budget).unwrap_or_else(|stop| stop)
    }

    fn with_run<S: System, O: Observer, P: Products>(
        self,
        graph: &mut ProductGraph<'_, '_, S, O, P>,
        progress: Progress,
        budget: &mut Budget<'_>,
    ) -> Result<ProductStop, ProductStop> {
        match self {
            Found::Trouble(Trouble::Limit(limit), _) => Ok(limit.into()),
            Found::Trouble(Trouble::Fault(error), None) => Ok(error.into()),
            Found::Trouble(Trouble::Fault(error), Some(state)) => {
                let (run, _) = Runs::new(graph, progress, budget)?.run_to(state)?;
                Ok(ProductStop::Fault(error, run))
            }
            Found::State(violation, state) => {
                let (run, observer_states) = Runs::new(graph, progress, budget)?.run_to(state)?;
                Ok(ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states }))
            }
            Found::Inside(cycle) => {
                let Cycle { violation, acceptance, inside } = *cycle;
                let is_inside = |state: StateId| inside.contains(state.index());
                let mut runs = Runs::new(graph, progress, budget)?;
                Ok(ProductStop::Found(runs.lasso(violation, &acceptance, &is_inside)?))
            }
        }
    }
}
