//! A product, stored as it is explored.
//!
//! The states are in any store of [`Products`]: their numbers say nothing about when they were found.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::chain::first;
use model::{ActionId, StepError, System};
use por::Effort;
use rustc_hash::FxHashMap;

use super::sample::Sample;
use crate::fairness::Fairness;
use crate::observer::{Observer, Portable, Stance};
use crate::product::{ExpandError, Expanded, Path, Product, ProductStep, ProductSteps, Target};
use crate::reduction::{Method, Repair};
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
    /// What is taken besides, if the search repairs its components.
    extras: Option<Extras>,
    /// How many states were expanded for the first time, and where steps lead that were left out of some of them.
    n_expanded: u64,
    sample: Sample,
    /// In how many of the later states before others may go on it was given up to look for a set.
    n_given_up: u64,
}

/// What is taken in states since their components were repaired.
#[derive(Default)]
struct Extras {
    /// Where no set is taken, but what is taken where none is accepted; also where it was given up to look for one.
    all: FixedBitSet,
    /// Where a set was looked for in one pass only.
    plain: FixedBitSet,
    /// Actions beside the set.
    actions: FxHashMap<StateId, Vec<ActionId>>,
    bytes: u64,
}

impl Extras {
    fn bytes(&self) -> u64 {
        self.bytes + (self.all.len() + self.plain.len()) as u64 / 8
    }
}

/// An empty store for the states of a product.
pub(crate) fn exact<S: System, O: Observer>(product: &Product<'_, S, O>, budget: &Budget<'_>) -> Paired {
    Paired::new(product.width() - 1, product.observer().n_states(), budget.room())
}

impl<'a, S: System, O: Portable, P> ProductGraph<'_, 'a, S, O, P> {
    /// Takes note of what another worker's product has met.
    pub(crate) fn absorb(&mut self, worker: &Product<'a, S, O>) {
        self.product.absorb(worker);
    }
}

impl<'p, 'a, S: System, O: Observer, P: Products> ProductGraph<'p, 'a, S, O, P> {
    /// A product of which nothing was explored, over a store that is empty.
    pub(crate) fn new(product: &'p mut Product<'a, S, O>, states: P) -> ProductGraph<'p, 'a, S, O, P> {
        let steps = product.new_steps();
        let state = vec![0; product.width() - 1];
        ProductGraph {
            product,
            states,
            state,
            steps,
            ids: Vec::new(),
            initial: Vec::new(),
            extras: None,
            n_expanded: 0,
            sample: Sample::default(),
            n_given_up: 0,
        }
    }

    /// The same for a search that repairs its components, if the product needs it.
    pub(crate) fn repaired(mut self) -> ProductGraph<'p, 'a, S, O, P> {
        self.extras = self.product.repair().map(|_| Extras::default());
        self
    }

    /// What the search must see to, if it repairs its components.
    pub(crate) fn repair(&self) -> Option<&Repair> {
        self.product.repair().filter(|_| self.extras.is_some())
    }

    /// The same, whatever the search does.
    pub(crate) fn product_repair(&self) -> Option<&Repair> {
        self.product.repair()
    }

    /// The actions that are taken in a state beside its set.
    pub(crate) fn extra(&self, id: StateId) -> &[ActionId] {
        self.extras.as_ref().and_then(|extras| extras.actions.get(&id)).map_or(&[], Vec::as_slice)
    }

    /// Whether an edge of a state that takes some actions besides counts in a cycle: it is a step of the set, and if sets
    /// hold only steps that the observer does not see, this stays where it is.
    pub(crate) fn counts(&self, from: StateId, edge: &Edge, extra: &[ActionId]) -> bool {
        let Some(Repair { matters, silent, .. }) = self.product.repair() else { return false };
        let stays = || self.states.observer_state(from) == self.states.observer_state(edge.target);
        let is_extra = edge.action.is_some_and(|step| extra.contains(&first(step, matters.len())));
        !is_extra && (!silent || edge.silent && stays())
    }

    /// From now on an action is taken in a state, beside its set; or all that is taken where no set is accepted.
    pub(crate) fn take_extra(&mut self, id: StateId, action: Option<ActionId>) {
        let Some(extras) = &mut self.extras else { return };
        match action {
            None => extras.all.grow_and_insert(id.index()),
            Some(action) => {
                let actions = extras.actions.entry(id).or_default();
                // An entry of a table that is half full, and a list.
                let new = if actions.is_empty() { 2 * size_of::<(StateId, Vec<ActionId>)>() } else { 0 };
                extras.bytes += (new + 2 * size_of::<ActionId>()) as u64;
                actions.push(action);
            }
        }
    }

    /// The bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.states.bytes()
            + self.steps.bytes()
            + self.product.bytes()
            + self.extras.as_ref().map_or(0, Extras::bytes)
    }

    /// The actions that matter and were left out of the state that was expanded last, where cycles may be closed
    /// without them; and whether the observer sees them.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (ActionId, bool)> {
        self.product.left_out()
    }

    /// How many states would be added if all were taken in a state that is taken where no set is accepted.
    pub(crate) fn n_unknown_by_all(&mut self, id: StateId) -> Result<usize, Trouble> {
        let observer_state = self.states.get(id, &mut self.state);
        self.product.expand(&self.state, observer_state, Path::Unknown, &mut self.steps)?;
        let ProductSteps { systems, steps, .. } = &self.steps;
        let is_unknown = |step: &&ProductStep| {
            self.states.find(systems.target(step.system as usize), step.observer).is_none()
        };
        Ok(steps.iter().filter(is_unknown).count())
    }

    /// The states that an action would add that was left out of the state that was expanded last.
    pub(crate) fn for_each_unknown(&mut self, action: ActionId, visit: &mut dyn FnMut(Target<'_>)) {
        let ProductGraph { product, states, state, .. } = self;
        let is_known = |system: &[u32], observer| states.find(system, observer).is_some();
        product.for_each_unknown(state, action, is_known, visit);
    }

    /// How the product is reduced.
    pub(crate) fn method(&self) -> Option<Method> {
        self.product.method()
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
    /// which states are on its path; or nothing where it expands a state again, and repairs its components.
    pub(crate) fn expand(
        &mut self,
        id: StateId,
        is_on_path: Option<&dyn Fn(StateId) -> bool>,
        out: &mut Vec<Edge>,
    ) -> Result<Expanded, Trouble> {
        out.clear();
        let observer_state = self.states.get(id, &mut self.state);
        let ProductGraph { product, states, state, steps, ids, extras, .. } = self;
        let known: &P = states;
        let is_by_action = product.repair().is_some_and(|repair| repair.by_action);
        let is_first = is_on_path.is_some();
        let mut is_on_path = is_on_path.map(|is_on_path| {
            move |system: &[u32], observer: u32| known.find(system, observer).is_some_and(is_on_path)
        });
        let path = match (&*extras, &mut is_on_path) {
            (Some(extras), _) if extras.all.contains(id.index()) && is_by_action => Path::Everything,
            (Some(extras), _) if extras.all.contains(id.index()) => Path::Unknown,
            (Some(extras), is_on_path) => {
                let extra: &[ActionId] = extras.actions.get(&id).map_or(&[], Vec::as_slice);
                let effort = if extras.plain.contains(id.index()) { Effort::Plain } else { Effort::Grown };
                Path::Repaired { extra, again: is_on_path.is_none().then_some(effort) }
            }
            (None, None) => Path::Unknown,
            (None, Some(is_on_path)) => Path::Known(is_on_path),
        };
        let expanded = product.expand(state, observer_state, path, steps)?;
        if let Some(extras) = extras {
            if product.gave_up() {
                extras.all.grow_and_insert(id.index());
            } else if is_first && product.effort() == Effort::Plain {
                extras.plain.grow_and_insert(id.index());
            }
        }
        add_targets(states, steps, state.len(), ids, out)?;
        if is_first && extras.is_some() {
            self.n_expanded += 1;
            if Sample::is_due(self.n_expanded) {
                self.take_sample(expanded.is_full);
            }
            if let Some(after) = self.product.hands_over() {
                self.hand_over(after)?;
            }
        }
        Ok(expanded)
    }

    /// Ends the search after so many states, if sets were of no use: if it was given up to look for one in three quarters of the later half.
    fn hand_over(&mut self, after: u64) -> Result<(), Limit> {
        let is_later = self.n_expanded > after / 2;
        self.n_given_up += u64::from(is_later && self.product.gave_up());
        let is_over = self.n_expanded == after && self.n_given_up > after / 8 * 3;
        if is_over { Err(Limit::States(after)) } else { Ok(()) }
    }

    /// Looks for what was noted when half of the states were expanded. If steps were left out of the state that was
    /// expanded last, notes where one of them leads.
    fn take_sample(&mut self, is_full: bool) {
        let ProductGraph { product, states, state, sample, n_expanded, .. } = self;
        while let Some(noted) = sample.next(*n_expanded) {
            let (system, observer) = noted.split_at(noted.len() - 1);
            product.learn(states.find(system, observer[0]).is_some());
        }
        if let Some(number) = sample.n_noted().filter(|_| !is_full)
            && let Some(target) = product.left_out_target(state, number)
        {
            sample.note(2 * *n_expanded, target);
        }
    }

    /// The same where all that is known of the path, or of what the state took before, is this.
    pub(crate) fn expand_by(
        &mut self,
        id: StateId,
        path: Path<'_>,
        out: &mut Vec<Edge>,
    ) -> Result<Expanded, Trouble> {
        out.clear();
        let observer_state = self.states.get(id, &mut self.state);
        let ProductGraph { product, states, state, steps, ids, .. } = self;
        let expanded = product.expand(state, observer_state, path, steps)?;
        add_targets(states, steps, state.len(), ids, out)?;
        Ok(expanded)
    }

    /// The same where the first set that is offered is taken, if no silent step of it leads to one of some states that are
    /// known; and no other. Returns whether it was.
    pub(crate) fn expand_once(
        &mut self,
        id: StateId,
        is_one_of: &dyn Fn(StateId) -> bool,
        out: &mut Vec<Edge>,
    ) -> Result<(Expanded, bool), Trouble> {
        out.clear();
        let observer_state = self.states.get(id, &mut self.state);
        let ProductGraph { product, states, state, steps, ids, .. } = self;
        let known: &P = states;
        let mut is_there =
            |system: &[u32], observer: u32| known.find(system, observer).is_some_and(is_one_of);
        let expanded = product.expand(state, observer_state, Path::Offered(&mut is_there), steps)?;
        let is_small = product.is_conditional();
        add_targets(states, steps, state.len(), ids, out)?;
        Ok((expanded, is_small))
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

/// Adds the targets of steps, and the edges to them.
#[inline]
fn add_targets<P: Products>(
    states: &mut P,
    steps: &ProductSteps,
    width: usize,
    ids: &mut Vec<(StateId, bool)>,
    out: &mut Vec<Edge>,
) -> Result<(), Limit> {
    let pairs = steps.steps.iter().map(|step| (step.system, step.observer));
    states.insert_all(steps.systems.targets(), width, pairs, ids)?;
    let edges = steps.steps.iter().zip(ids.iter());
    out.extend(edges.map(|(step, &(target, is_new))| Edge::new(step, target, is_new)));
    Ok(())
}
