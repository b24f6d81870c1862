//! Lowering: a net becomes an action system.
//!
//! Place *i* is variable *i*, transition *i* is action *i* and label *i*, under their ids. A
//! transition is enabled if each of its input places holds enough tokens, and then adds to each place
//! what it gives minus what it takes: of a place that is tested (an arc in both directions) it needs
//! the tokens and leaves them.
//!
//! How much room a place has is a guess ([`Bounds`]), and reductions conclude nothing from it: for sure is only
//! what place invariants prove.
//!
//! Who owns an action matters for fairness and for traces. The units of a nested-unit net that have
//! places of their own are processes, and a transition is owned by those whose places it touches; every
//! other transition is a process by itself.

use std::sync::{Arc, OnceLock};

use base::{Budget, Limit};
use ltl::Formulas;
use model::{
    Action, ActionSystem, Builder, Exprs, Fault, Guard, ProcessId, StepError, Stmt, VarId, Variable,
};

use crate::bounds::Bounds;
use crate::net::{Net, PlaceId, Transition};
use crate::structural::Reducer;

/// A net, ready to be explored and checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The net as an action system: variable *i* is place *i*, action *i* is transition *i*.
    pub system: Arc<ActionSystem>,
    /// The formulas of properties.
    pub formulas: Formulas,
    net: Arc<Net>,
    bounds: Bounds,
    /// What is known about the net, once somebody wants to know.
    reducer: OnceLock<Arc<Reducer>>,
    /// How often it got more room.
    pub(crate) n_widened: u32,
}

impl Net {
    /// The net as an action system, with room for so many tokens in each place (or for the initial
    /// ones, if these are more).
    ///
    /// # Errors
    /// The budget is spent.
    pub fn lower(self: &Arc<Net>, bounds: Bounds, budget: &mut Budget<'_>) -> Result<Model, Limit> {
        let system = Arc::new(system(self, &bounds, Exprs::new(), budget)?);
        let (formulas, net, reducer) = (Formulas::new(), self.clone(), OnceLock::new());
        Ok(Model { system, formulas, net, bounds, reducer, n_widened: 0 })
    }
}

impl Model {
    /// A net with room that is probably enough.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn new(net: &Arc<Net>, budget: &mut Budget<'_>) -> Result<Model, Limit> {
        let reducer = Reducer::new(net.clone(), budget)?;
        let bounds = Bounds::guess_knowing(net, reducer.bounds().to_vec(), budget)?;
        let model = net.lower(bounds, budget)?;
        Ok(Model { reducer: Arc::new(reducer).into(), ..model })
    }

    /// What makes the net smaller. It is found once.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reducer(&self, budget: &mut Budget<'_>) -> Result<Arc<Reducer>, Limit> {
        if let Some(known) = self.reducer.get() {
            return Ok(known.clone());
        }
        let reducer = Arc::new(Reducer::new(self.net.clone(), budget)?);
        Ok(self.reducer.get_or_init(|| reducer).clone())
    }

    /// The net.
    pub fn net(&self) -> &Arc<Net> {
        &self.net
    }

    /// How many tokens each place has room for.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Makes room where a search found too little: if `error` is that a place would have to hold more
    /// tokens than it has room for, its bound is raised, the net is lowered again, and a search that
    /// starts anew gets further. Expressions, propositions and actions keep their numbers; states do
    /// not keep their words.
    ///
    /// Returns whether that helps. It does not for other faults, nor where 64 bits are not enough.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn widen(&mut self, error: &StepError, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let Some((place, value)) = self.too_small(error) else { return Ok(false) };
        self.bounds.raise(place, value);
        self.system = Arc::new(self.lowered(&self.bounds, &mut budget.share())?);
        self.n_widened += 1;
        Ok(true)
    }

    /// The system with other bounds. Expressions and propositions have the same numbers.
    pub(crate) fn lowered(&self, bounds: &Bounds, budget: &mut Budget<'_>) -> Result<ActionSystem, Limit> {
        let mut system = system(&self.net, bounds, self.system.exprs.clone(), budget)?;
        for known in self.system.propositions() {
            system.add_proposition(known.name.clone(), known.expr);
        }
        Ok(system)
    }

    /// Whether [`Model::widen`] would help.
    pub fn can_widen(&self, error: &StepError) -> bool {
        self.too_small(error).is_some()
    }

    /// The place that has too little room, and the number of tokens that it would have to hold.
    fn too_small(&self, error: &StepError) -> Option<(PlaceId, i64)> {
        let Fault::OutOfRange { var, value } = error.fault else { return None };
        let place = PlaceId::new(var.index());
        (value > self.bounds.get(place).max(self.net.place(place).initial)).then_some((place, value))
    }
}

/// What a place or transition takes in an action system, about.
const NODE_BYTES: u64 = 400;
/// What an arc takes there.
const ARC_BYTES: u64 = 100;

/// The action system of a net; expressions that were made before are kept.
fn system(net: &Net, bounds: &Bounds, exprs: Exprs, budget: &mut Budget<'_>) -> Result<ActionSystem, Limit> {
    let mut builder = Builder::new();
    builder.exprs = exprs;
    let mut initial = Vec::with_capacity(net.places.len());
    for (index, place) in net.places.iter().enumerate() {
        budget.tick()?;
        budget.hold(NODE_BYTES + 2 * place.id.len() as u64)?;
        let (id, bound) = (PlaceId::new(index), bounds.get(PlaceId::new(index)).max(place.initial));
        let possible = (0, bounds.most(id).unwrap_or(i64::MAX));
        builder.variable(Variable::guessed(place.id.as_str(), (0, bound), possible));
        initial.push(place.initial);
    }
    builder.initial(&initial);
    let unit_processes = unit_processes(net, &mut builder);
    for transition in &net.transitions {
        budget.tick()?;
        let n_arcs = (transition.inputs.len() + transition.outputs.len()) as u64;
        budget.hold(NODE_BYTES + 4 * transition.id.len() as u64 + ARC_BYTES * n_arcs)?;
        let mut owners: Vec<ProcessId> =
            touched(transition).filter_map(|place| unit_processes[place.index()]).collect();
        owners.sort_unstable();
        owners.dedup();
        if owners.is_empty() {
            owners.push(builder.process(transition.id.as_str()));
        }
        let guard =
            |&(place, weight): &(PlaceId, i64)| builder.guard(Guard::at_least(variable(place), weight));
        let guards = transition.inputs.iter().map(guard).collect();
        let effect = transition.changes().map(|(place, change)| Stmt::Add(variable(place), change)).collect();
        let label = builder.label(transition.id.as_str());
        builder.action(Action { label, guards, effect, owners });
    }
    Ok(builder
        .finish()
        .expect("every place has room for its initial tokens, and there is one initial marking"))
}

/// The variable of a place.
pub(crate) fn variable(place: PlaceId) -> VarId {
    VarId::new(place.index())
}

fn touched(transition: &Transition) -> impl Iterator<Item = PlaceId> {
    transition.inputs.iter().chain(&transition.outputs).map(|(place, _)| *place)
}

/// Makes the units processes; returns the process of each place that has one.
fn unit_processes(net: &Net, builder: &mut Builder) -> Vec<Option<ProcessId>> {
    let mut processes = vec![None; net.places.len()];
    for unit in net.units.iter().flat_map(|units| &units.units).filter(|unit| !unit.places.is_empty()) {
        let process = builder.process(unit.id.as_str());
        unit.places.iter().for_each(|place| processes[place.index()] = Some(process));
    }
    processes
}
