//! What a certificate claims: from its words and the model that somebody brings, to a system and what is said of it.

use base::{Budget, Diagnostics, SourceId, SourceMap};
use language::{Model, Property, PropertyKind, Purpose};
use ltl::{Formula, Formulas, Prop};
use model::fairness::{Constraint, Interference, Kind};
use model::{ActionId, ActionSystem, ExprId, Label, ProcessId};

use crate::Refusal;
use crate::check::{Certified, check};
use crate::proof::{Claimed, Ends, Fair, Proof, fingerprint};

/// What is said of a system.
pub enum What<'c> {
    /// Every run satisfies a formula.
    Formula {
        /// The pool of the formula.
        formulas: &'c mut Formulas,
        /// The formula.
        formula: Formula,
        /// Its propositions, each with the expression that says when it is true.
        propositions: &'c [(Prop, ExprId)],
    },
    /// This is true in every state.
    Invariant(ExprId),
    /// Something can happen in every state.
    DeadlockFree,
    /// No step goes wrong.
    FaultFree,
}

/// A system, and what is said of it.
pub struct Claim<'c> {
    /// The system.
    pub system: &'c ActionSystem,
    /// What is said of it.
    pub what: What<'c>,
    /// What is said of runs that end.
    pub ends: Ends,
    /// Which infinite runs count.
    pub constraints: &'c [Constraint],
}

/// Of which system something is shown for a property; nothing if there are no certificates for such properties.
pub fn purpose(kind: &PropertyKind) -> Option<Purpose> {
    match kind {
        PropertyKind::Ltl(_)
        | PropertyKind::Acceptance(_)
        | PropertyKind::Progress(_)
        | PropertyKind::Invariant(_)
        | PropertyKind::DeadlockFree => Some(Purpose::Runs),
        PropertyKind::Assertions => Some(Purpose::Assertions),
        PropertyKind::EndStates => Some(Purpose::EndStates),
        _ => None,
    }
}

/// Whether runs that end count, for a property, whatever the user says of them.
pub fn ignores_ends(kind: &PropertyKind) -> bool {
    matches!(kind, PropertyKind::Progress(_))
}

/// What is said of a system by a property that has a [`purpose`].
pub fn what<'c>(kind: &'c PropertyKind, formulas: &'c mut Formulas) -> What<'c> {
    match kind {
        PropertyKind::Ltl(ltl) | PropertyKind::Acceptance(ltl) | PropertyKind::Progress(ltl) => {
            What::Formula { formulas, formula: ltl.formula, propositions: &ltl.propositions }
        }
        PropertyKind::Invariant(expr) => What::Invariant(*expr),
        PropertyKind::Assertions => What::FaultFree,
        _ => What::DeadlockFree,
    }
}

/// Checks a certificate against a model that was read as the certificate says. The model's text is the first source.
///
/// # Errors
/// Why it is not certified.
pub fn certify(
    model: &mut dyn Model,
    sources: &mut SourceMap,
    proof: &Proof,
    budget: &mut Budget<'_>,
) -> Result<Certified, Refusal> {
    for step in &proof.refinements {
        let system = model.system();
        let is_there = (step.variable as usize) < system.variables().len()
            && step.action.is_none_or(|action| (action as usize) < system.actions().len())
            && (0..i64::MAX / 2).contains(&step.value);
        let error = step.error();
        if !is_there || !model.can_refine(&error) {
            return Err("it is about another model: this one need not be made larger as it says".into());
        }
        model.refine(&error, budget)?;
    }
    let kind = resolve(model, sources, &proof.property)?;
    if ignores_ends(&kind) && proof.ends != Ends::Ignore {
        return Err("it says of runs that end what the property does not".into());
    }
    let purpose = purpose(&kind).ok_or("there are no certificates for such properties")?;
    let view = model.view(purpose, budget)?;
    let text = &sources.get(SourceId::new(0)).text;
    if fingerprint(text, &view.system) != proof.fingerprint {
        return Err("it is about another model".into());
    }
    let constraints = constraints(&view.system, &proof.fairness, budget)?;
    let what = what(&kind, model.formulas());
    check(Claim { system: &view.system, what, ends: proof.ends, constraints: &constraints }, proof, budget)
}

fn resolve(
    model: &mut dyn Model,
    sources: &mut SourceMap,
    property: &Claimed,
) -> Result<PropertyKind, Refusal> {
    let mut add = |text: &str| {
        let source = sources.add("the certificate", text.as_bytes().to_vec());
        source.map_err(|error| Refusal::from(Diagnostics::from(error)))
    };
    Ok(match property {
        Claimed::Declared(name) => {
            let all = model.properties()?.into_iter();
            let mut named = all.filter(|known: &Property| known.name == *name);
            match (named.next(), named.next()) {
                (Some(known), None) => known.kind,
                (None, _) => return Err(format!("the model declares no `{name}`").into()),
                (Some(_), Some(_)) => return Err(format!("the model declares several `{name}`").into()),
            }
        }
        Claimed::Invariant(text) => PropertyKind::Invariant(model.resolve(text, add(text)?, 0)?),
        Claimed::Ltl(text) => {
            let source = add(text)?;
            PropertyKind::Ltl(model.formula(source, sources)?)
        }
    })
}

/// The constraints that names stand for.
///
/// # Errors
/// Something has not this name; or the budget is spent.
pub fn constraints(
    system: &ActionSystem,
    fairness: &[Fair],
    budget: &mut Budget<'_>,
) -> Result<Vec<Constraint>, Refusal> {
    let actions = || (0..system.actions().len()).map(ActionId::new);
    let (mut constraints, mut just) = (Vec::new(), Vec::new());
    for fair in fairness {
        let kind = Kind::of_name(&fair.kind).ok_or("it names a kind of fairness that there is not")?;
        let chosen: Vec<ActionId> = match &fair.process {
            Some(name) => {
                let is_meant = |owner: &ProcessId| system.processes()[owner.index()].name == *name;
                if system.processes().iter().filter(|process| process.name == *name).count() != 1 {
                    return Err(format!("the model has not one process `{name}`").into());
                }
                actions().filter(|&action| system.movers(action).iter().any(is_meant)).collect()
            }
            None => {
                let label = |action: &ActionId| &system.labels()[system.action(*action).label.index()];
                let is_meant = |label: &Label| !label.internal && fair.labels.contains(&label.name);
                actions().filter(|action| is_meant(label(action))).collect()
            }
        };
        if chosen.is_empty() {
            return Err("it assumes fairness to something that the model has not".into());
        }
        match kind {
            Kind::Just => just.extend(chosen),
            Kind::Weak | Kind::Strong => constraints.push(Constraint::new(kind == Kind::Strong, chosen)),
        }
    }
    if !just.is_empty() {
        just.sort_unstable();
        just.dedup();
        constraints.extend(Interference::new(system, budget)?.constraints(just, budget)?);
    }
    Ok(constraints)
}
