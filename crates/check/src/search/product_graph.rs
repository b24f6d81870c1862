//! The product of a system and an observer by value, stored as it is explored.
//!
//! A system state is stored once, however many observer states it meets; a state of the product is
//! the number of a system state and an observer state.

use base::Limit;
use model::{ActionId, StepError, System};

use crate::observer::{Observer, Valuations};
use crate::store::{Exact, StateId, Store as _, Visited as _};

/// What happens to a run that comes to a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtDeadlock {
    /// Its last state repeats for ever.
    Stutter,
    /// It is dropped.
    Ignore,
    /// It is an error, whatever the property says.
    Error,
}

/// An edge of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) target: StateId,
    pub(crate) marks: u64,
    /// None is the stuttering of a deadlock.
    pub(crate) action: Option<ActionId>,
}

/// Why a state could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Limit(Limit),
    Fault(StepError),
    /// A deadlock that is an error.
    Deadlock,
}

impl From<Limit> for Trouble {
    fn from(limit: Limit) -> Trouble {
        Trouble::Limit(limit)
    }
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Trouble {
        Trouble::Fault(error)
    }
}

/// The product as far as it was explored.
pub(crate) struct ProductGraph<'a, S: System, O: Observer> {
    system: &'a S,
    scratch: S::Scratch,
    observer: O,
    valuations: Valuations,
    at_deadlock: AtDeadlock,
    systems: Exact,
    products: Exact,
    state: Vec<u32>,
    target: Vec<u32>,
    enabled: Vec<ActionId>,
    pub(crate) n_deadlocks: u64,
}

impl<'a, S: System, O: Observer> ProductGraph<'a, S, O> {
    pub(crate) fn new(
        system: &'a S,
        observer: O,
        valuations: Valuations,
        at_deadlock: AtDeadlock,
        max_bytes: u64,
    ) -> ProductGraph<'a, S, O> {
        let width = system.width();
        ProductGraph {
            system,
            scratch: system.new_scratch(),
            observer,
            valuations,
            at_deadlock,
            systems: Exact::new(width, max_bytes),
            products: Exact::new(2, max_bytes),
            state: vec![0; width],
            target: vec![0; width],
            enabled: Vec::new(),
            n_deadlocks: 0,
        }
    }

    pub(crate) fn all_marks(&self) -> u64 {
        self.observer.all_marks()
    }

    pub(crate) fn n_states(&self) -> u64 {
        self.products.n_states()
    }

    pub(crate) fn n_system_states(&self) -> u64 {
        self.systems.n_states()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.systems.bytes() + self.products.bytes()
    }

    /// The initial states, each with the number of the system's initial state in it.
    pub(crate) fn initial(&mut self) -> Result<Vec<(usize, StateId)>, Limit> {
        let mut words = Vec::new();
        self.system.initial_states(&mut words);
        let mut initial = Vec::new();
        for (index, state) in words.chunks_exact(self.system.width()).enumerate() {
            for observer_state in self.observer.initial() {
                initial.push((index, self.insert(state, observer_state)?));
            }
        }
        Ok(initial)
    }

    fn insert(&mut self, state: &[u32], observer_state: u32) -> Result<StateId, Limit> {
        let (system, _) = self.systems.insert_id(state)?;
        Ok(self.products.insert_id(&[system.index() as u32, observer_state])?.0)
    }

    /// Puts the edges out of a state into `out`. States that are new are added.
    pub(crate) fn expand(&mut self, id: StateId, out: &mut Vec<Edge>) -> Result<(), Trouble> {
        out.clear();
        let mut pair = [0; 2];
        self.products.get(id, &mut pair);
        let [system_id, observer_state] = pair;
        self.systems.get(StateId::new(system_id as usize), &mut self.state);
        let valuation = self.valuations.number_of(self.system, &self.state, &mut self.scratch)?;
        self.enabled.clear();
        self.system.enabled(&self.state, &mut self.scratch, &mut self.enabled)?;
        let observer_steps = self.observer.steps(observer_state, valuation, &self.valuations);
        if self.enabled.is_empty() {
            self.n_deadlocks += 1;
            match self.at_deadlock {
                AtDeadlock::Ignore => {}
                AtDeadlock::Error => return Err(Trouble::Deadlock),
                AtDeadlock::Stutter => {
                    for step in observer_steps {
                        let (target, _) = self.products.insert_id(&[system_id, step.to])?;
                        out.push(Edge { target, marks: step.marks, action: None });
                    }
                }
            }
            return Ok(());
        }
        if observer_steps.is_empty() {
            return Ok(());
        }
        for &action in &self.enabled {
            self.target.copy_from_slice(&self.state);
            self.system.fire(&mut self.target, action, &mut self.scratch)?;
            let (system, _) = self.systems.insert_id(&self.target)?;
            for step in observer_steps {
                let (target, _) = self.products.insert_id(&[system.index() as u32, step.to])?;
                out.push(Edge { target, marks: step.marks, action: Some(action) });
            }
        }
        Ok(())
    }
}
