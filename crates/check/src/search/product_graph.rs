//! A product, stored as it is explored.
//!
//! A system state is stored once, however many observer states it meets; a state of the product is
//! the number of a system state and an observer state. Its own number says nothing about when it was found.

use base::Limit;
use model::{ActionId, StepError, System};

use crate::fairness::Fairness;
use crate::observer::Observer;
use crate::product::{ExpandError, Expanded, Product, ProductSteps};
use crate::store::{Exact, Pairs, StateId, Store as _, Visited as _};

/// An edge of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) target: StateId,
    /// The target was found by this edge.
    pub(crate) is_new: bool,
    pub(crate) marks: u64,
    /// None is the stuttering of a deadlock.
    pub(crate) action: Option<ActionId>,
    /// The observer sees nothing of it.
    pub(crate) silent: bool,
}

/// Why a state could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Limit(Limit),
    Fault(StepError),
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

impl From<ExpandError> for Trouble {
    fn from(error: ExpandError) -> Trouble {
        match error {
            ExpandError::Step(error) => Trouble::Fault(error),
            ExpandError::OutOfMemory => Trouble::Limit(Limit::Memory(u64::MAX)),
        }
    }
}

/// The product as far as it was explored.
pub(crate) struct ProductGraph<'p, 'a, S: System, O> {
    product: &'p mut Product<'a, S, O>,
    systems: Exact,
    products: Pairs,
    state: Vec<u32>,
    steps: ProductSteps,
    system_ids: Vec<StateId>,
    ids: Vec<(StateId, bool)>,
    pairs: Vec<u32>,
    /// The initial states, each with the number of the system's initial state in it.
    pub(crate) initial: Vec<(usize, StateId)>,
}

impl<'p, 'a, S: System, O: Observer> ProductGraph<'p, 'a, S, O> {
    /// A product of which nothing was explored.
    pub(crate) fn new(product: &'p mut Product<'a, S, O>, max_bytes: u64) -> ProductGraph<'p, 'a, S, O> {
        let width = product.width() - 1;
        ProductGraph {
            steps: product.new_steps(),
            products: Pairs::new(product.observer().n_states(), max_bytes),
            product,
            systems: Exact::new(width, max_bytes),
            state: vec![0; width],
            system_ids: Vec::new(),
            ids: Vec::new(),
            pairs: Vec::new(),
            initial: Vec::new(),
        }
    }

    pub(crate) fn all_marks(&self) -> u64 {
        self.product.observer().all_marks()
    }

    pub(crate) fn has_livelocks(&self) -> bool {
        self.product.observer().has_livelocks()
    }

    pub(crate) fn fairness(&self) -> &Fairness {
        self.product.fairness()
    }

    /// The marks of the state that was expanded last.
    pub(crate) fn state_marks(&self) -> &[u32] {
        &self.steps.state_marks
    }

    pub(crate) fn n_states(&self) -> u64 {
        self.products.n_states()
    }

    /// All numbers of states are smaller than this.
    #[inline]
    pub(crate) fn n_ids(&self) -> usize {
        self.products.n_ids()
    }

    /// The numbers of all states.
    pub(crate) fn ids(&self) -> impl Iterator<Item = StateId> {
        self.products.ids()
    }

    pub(crate) fn n_system_states(&self) -> u64 {
        self.systems.n_states()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.systems.bytes() + self.products.bytes()
    }

    /// The observer's part of a state.
    pub(crate) fn observer_state(&self, id: StateId) -> u32 {
        self.products.get(id)[1]
    }

    /// Adds the initial states.
    pub(crate) fn begin(&mut self) -> Result<(), Trouble> {
        for (index, state) in self.product.initial_states()? {
            let (system, observer) = state.split_at(state.len() - 1);
            let (system, _) = self.systems.insert_id(system)?;
            let (id, is_new) = self.products.insert([system.index() as u32, observer[0]])?;
            if is_new {
                self.initial.push((index, id));
            }
        }
        Ok(())
    }

    /// Puts the edges out of a state into `out`. States that are new are added.
    pub(crate) fn expand(
        &mut self,
        id: StateId,
        is_on_path: impl Fn(StateId) -> bool,
        out: &mut Vec<Edge>,
    ) -> Result<Expanded, Trouble> {
        out.clear();
        let [system_id, observer_state] = self.products.get(id);
        self.systems.get(StateId::new(system_id as usize), &mut self.state);
        let ProductGraph { product, systems, products, state, steps, system_ids, ids, pairs, .. } = self;
        let mut is_on_path = |system: &[u32], observer: u32| {
            let system = systems.find(system);
            let id = system.and_then(|system| products.find([system.index() as u32, observer]));
            id.is_some_and(&is_on_path)
        };
        let expanded = product.expand(state, observer_state, &mut is_on_path, steps)?;
        systems.insert_ids(steps.systems.targets(), state.len(), system_ids)?;
        pairs.clear();
        for step in &steps.steps {
            pairs.extend([system_ids[step.system as usize].index() as u32, step.observer]);
        }
        products.insert_all(pairs, ids)?;
        let edges = steps.steps.iter().zip(ids.iter());
        out.extend(edges.map(|(step, &(target, is_new))| Edge {
            target,
            is_new,
            marks: step.marks,
            action: step.action,
            silent: step.silent,
        }));
        Ok(expanded)
    }

    /// Puts all edges of the unreduced product from a state to states that were found into `out`. What
    /// goes wrong has no edges.
    pub(crate) fn known_edges(&mut self, id: StateId, out: &mut Vec<Edge>) {
        out.clear();
        let pair = self.products.get(id);
        self.systems.get(StateId::new(pair[0] as usize), &mut self.state);
        if self.product.expand_fully(&self.state, pair[1], &mut self.steps).is_err() {
            return;
        }
        for step in &self.steps.steps {
            let system = self.systems.find(self.steps.systems.target(step.system as usize));
            let known = system.and_then(|system| self.products.find([system.index() as u32, step.observer]));
            if let Some(target) = known {
                out.push(Edge {
                    target,
                    is_new: false,
                    marks: step.marks,
                    action: step.action,
                    silent: step.silent,
                });
            }
        }
    }
}
