//! A product, stored as it is explored.
//!
//! The states are in any store of [`Products`]: their numbers say nothing about when they were found.

use base::{Budget, Limit};
use model::{ActionId, StepError, System};

use crate::fairness::Fairness;
use crate::observer::{Observer, Stance};
use crate::product::{ExpandError, Expanded, Path, Product, ProductStep, ProductSteps};
use crate::store::{Paired, Products, StateId};

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

impl Edge {
    #[inline]
    fn new(step: &ProductStep, target: StateId, is_new: bool) -> Edge {
        Edge { target, is_new, marks: step.marks, action: step.action, silent: step.silent }
    }
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
        error.limit().map_or(Trouble::Fault(error), Trouble::Limit)
    }
}

impl From<ExpandError> for Trouble {
    fn from(error: ExpandError) -> Trouble {
        match error {
            ExpandError::Step(error) => error.into(),
            ExpandError::Limit(limit) => Trouble::Limit(limit),
        }
    }
}

/// The product as far as it was explored.
pub(crate) struct ProductGraph<'p, 'a, S: System, O, P> {
    product: &'p mut Product<'a, S, O>,
    pub(crate) states: P,
    state: Vec<u32>,
    steps: ProductSteps,
    ids: Vec<(StateId, bool)>,
    /// The initial states, each with the number of the system's initial state in it.
    pub(crate) initial: Vec<(usize, StateId)>,
}

/// An empty store for the states of a product.
pub(crate) fn exact<S: System, O: Observer>(product: &Product<'_, S, O>, budget: &Budget<'_>) -> Paired {
    Paired::new(product.width() - 1, product.observer().n_states(), budget.room())
}

impl<'p, 'a, S: System, O: Observer, P: Products> ProductGraph<'p, 'a, S, O, P> {
    /// A product of which nothing was explored, over a store that is empty.
    pub(crate) fn new(product: &'p mut Product<'a, S, O>, states: P) -> ProductGraph<'p, 'a, S, O, P> {
        let steps = product.new_steps();
        let state = vec![0; product.width() - 1];
        ProductGraph { product, states, state, steps, ids: Vec::new(), initial: Vec::new() }
    }

    /// The observer.
    pub(crate) fn observer(&self) -> &O {
        self.product.observer()
    }

    pub(crate) fn fairness(&self) -> &Fairness {
        self.product.fairness()
    }

    /// The marks of the state that was expanded last.
    pub(crate) fn state_marks(&self) -> &[u32] {
        &self.steps.state_marks
    }

    /// Adds the initial states.
    pub(crate) fn begin(&mut self) -> Result<(), Trouble> {
        for (index, state) in self.product.initial_states()? {
            let (system, observer) = state.split_at(state.len() - 1);
            let (id, is_new) = self.states.insert(system, observer[0])?;
            if is_new {
                self.initial.push((index, id));
            }
        }
        Ok(())
    }

    /// How the observer accepts in a state.
    pub(crate) fn stance(&mut self, id: StateId) -> Result<Stance, Trouble> {
        let observer_state = self.states.get(id, &mut self.state);
        Ok(self.product.stance(&self.state, observer_state)?)
    }

    /// Puts the edges out of a state into `out`. States that are new are added. A depth-first search says
    /// which states are on its path.
    pub(crate) fn expand(
        &mut self,
        id: StateId,
        is_on_path: Option<&dyn Fn(StateId) -> bool>,
        out: &mut Vec<Edge>,
    ) -> Result<Expanded, Trouble> {
        out.clear();
        let observer_state = self.states.get(id, &mut self.state);
        let ProductGraph { product, states, state, steps, ids, .. } = self;
        let expanded = match is_on_path {
            None => product.expand(state, observer_state, Path::Unknown, steps)?,
            Some(is_on_path) => {
                let mut is_on_path =
                    |system: &[u32], observer: u32| states.find(system, observer).is_some_and(is_on_path);
                product.expand(state, observer_state, Path::Known(&mut is_on_path), steps)?
            }
        };
        let pairs = steps.steps.iter().map(|step| (step.system, step.observer));
        states.insert_all(steps.systems.targets(), state.len(), pairs, ids)?;
        let edges = steps.steps.iter().zip(ids.iter());
        out.extend(edges.map(|(step, &(target, is_new))| Edge::new(step, target, is_new)));
        Ok(expanded)
    }

    /// Puts all edges of the unreduced product from a state to states that were found into `out`. A step that
    /// goes wrong, though the search left it out, has none.
    pub(crate) fn known_edges(&mut self, id: StateId, out: &mut Vec<Edge>) -> Result<(), Trouble> {
        out.clear();
        let observer_state = self.states.get(id, &mut self.state);
        self.product.expand_fully(&self.state, observer_state, &mut self.steps)?;
        for step in &self.steps.steps {
            let target = self.steps.systems.target(step.system as usize);
            if let Some(target) = self.states.find(target, step.observer) {
                out.push(Edge::new(step, target, false));
            }
        }
        Ok(())
    }
}
