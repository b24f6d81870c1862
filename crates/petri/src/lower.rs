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

use std::sync::Arc;

use base::{Diagnostic, Diagnostics, SourceId, SourceMap};
use ltl::{Formulas, Prop};
use model::{
    Action, ActionSystem, Builder, ExprId, Exprs, Fault, Guard, ProcessId, StepError, Stmt, VarId, Variable,
};

use crate::bounds::Bounds;
use crate::net::{Net, PlaceId, Transition};
use crate::proposition;

/// A net, ready to be explored and checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The net as an action system: variable *i* is place *i*, action *i* is transition *i*.
    pub system: ActionSystem,
    /// The formulas of properties.
    pub formulas: Formulas,
    net: Arc<Net>,
    bounds: Bounds,
}

impl Net {
    /// The net as an action system, with room for so many tokens in each place (or for the initial
    /// ones, if these are more).
    pub fn lower(self: &Arc<Net>, bounds: Bounds) -> Model {
        let system = system(self, &bounds, Exprs::new());
        Model { system, formulas: Formulas::new(), net: self.clone(), bounds }
    }
}

impl Model {
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
    pub fn widen(&mut self, error: &StepError) -> bool {
        let Some((place, value)) = self.too_small(error) else { return false };
        self.bounds.raise(place, value);
        self.lower_again();
        true
    }

    fn lower_again(&mut self) {
        let propositions = self.system.propositions().to_vec();
        self.system = system(&self.net, &self.bounds, std::mem::take(&mut self.system.exprs));
        for proposition in propositions {
            self.system.add_proposition(proposition.name, proposition.expr);
        }
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

    /// Turns the text of an expression about markings, like `p + q >= 2 && !fireable(t)`, into an
    /// expression of the system. `offset` is where the text begins in its source. The language is
    /// described at the head of the crate.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn resolve(&mut self, text: &str, source: SourceId, offset: usize) -> Result<ExprId, Diagnostic> {
        proposition::resolve(&self.net, &mut self.system.exprs, text, source, offset).map_err(|error| *error)
    }

    /// The propositions of a formula that was parsed into [`Model::formulas`], each with the
    /// expression of the system that says when it is true.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub fn resolve_propositions(
        &mut self,
        parsed: &ltl::Parsed,
        sources: &SourceMap,
    ) -> Result<Vec<(Prop, ExprId)>, Diagnostics> {
        let mut resolved = Vec::with_capacity(parsed.propositions.len());
        let mut errors = Diagnostics::new();
        for &(prop, span) in &parsed.propositions {
            let (written, start) = (sources.slice(span), span.start as usize);
            // What is written, so that places are right; but quotation marks may hide escapes.
            let expr = if written.starts_with('"') {
                let text = self.formulas.text(prop).to_owned();
                self.resolve(&text, span.source, start + 1)
            } else {
                self.resolve(written, span.source, start)
            };
            match expr {
                Ok(expr) => resolved.push((prop, expr)),
                Err(error) => errors.push(error),
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(resolved) }
    }
}

/// The action system of a net; expressions that were made before are kept.
fn system(net: &Net, bounds: &Bounds, exprs: Exprs) -> ActionSystem {
    let mut builder = Builder::new();
    builder.exprs = exprs;
    let mut initial = Vec::with_capacity(net.places.len());
    for (index, place) in net.places.iter().enumerate() {
        let (id, bound) = (PlaceId::new(index), bounds.get(PlaceId::new(index)).max(place.initial));
        let possible = (0, bounds.most(id).unwrap_or(i64::MAX));
        builder.variable(Variable::guessed(place.id.as_str(), (0, bound), possible));
        initial.push(place.initial);
    }
    builder.initial(&initial);
    let unit_processes = unit_processes(net, &mut builder);
    for transition in &net.transitions {
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
    builder.finish().expect("every place has room for its initial tokens, and there is one initial marking")
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
