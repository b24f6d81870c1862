//! Nets made simpler for one question, and their runs as runs of the net that was asked about.

use std::str::FromStr as _;
use std::sync::Arc;

use base::{Budget, Diagnostic};
use check::search::Evidence;
use model::{ActionId, ActionSystem, ExprId, Exprs, Fault, Run, StepError, VarId};
use petri::structural::{Keep, Reduced, Reducer, Rule, Rules};
use petri::{Net, TransitionId};

/// A net with fewer places and transitions that has the same answer to a question.
pub(crate) struct Simpler {
    pub(crate) model: petri::Model,
    reduced: Reduced,
    original: Arc<Net>,
}

impl Simpler {
    /// The net, with these expressions about it; nothing if it cannot be made simpler.
    pub(crate) fn new(
        original: &mut petri::Model,
        reducer: &Reducer<'_>,
        keep: &Keep,
        about: &[ExprId],
        rules: Rules,
        budget: &mut Budget<'_>,
    ) -> Option<(Simpler, Vec<ExprId>)> {
        if rules == Rules::NONE {
            return None;
        }
        let reduced = reducer.reduce(keep, rules, budget);
        if !reduced.is_changed() {
            return None;
        }
        let model = Arc::new(reduced.net.clone()).lower(reduced.bounds());
        let net = original.net().clone();
        let mut simpler = Simpler { model, reduced, original: net };
        let exprs: &mut Exprs = &mut original.system.exprs;
        let mut carry = |&expr: &ExprId| {
            let to = &mut simpler.model.system.exprs;
            simpler.reduced.carry(&simpler.original, exprs, expr, to)
        };
        let carried = about.iter().map(&mut carry).collect::<Option<Vec<ExprId>>>()?;
        Some((simpler, carried))
    }

    /// What was done, in a few words.
    pub(crate) fn describe(&self) -> String {
        let rules: Vec<String> =
            self.reduced.applied.iter().map(|(rule, count)| format!("{} ({count})", rule.name())).collect();
        let (before, after) = (&self.original, &self.reduced.net);
        format!(
            "{} places and {} transitions instead of {} and {}, by {}",
            after.places.len(),
            after.transitions.len(),
            before.places.len(),
            before.transitions.len(),
            rules.join(", ")
        )
    }

    /// A run as one of the original net; with a deadlock at its end, if that is what it shows.
    pub(crate) fn original_run(&self, run: &Run, ends: bool) -> Option<Run> {
        let steps = transitions(&run.actions);
        let steps = match ends {
            true => self.reduced.path_to_deadlock(&self.original, &steps)?,
            false => self.reduced.path(&steps),
        };
        Some(Run { initial: run.initial, actions: actions(&steps) })
    }

    /// The same for a run with a cycle. What the observer did is not known there.
    pub(crate) fn original_evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        let Evidence { run, cycle_start, .. } = evidence;
        let (run, cycle_start) = match *cycle_start {
            Some(start) if start < run.actions.len() => {
                let (prefix, cycle) = run.actions.split_at(start);
                let mut whole =
                    self.original_run(&Run { initial: run.initial, actions: prefix.to_vec() }, false)?;
                let start = whole.actions.len();
                whole.actions.extend(actions(&self.reduced.expand(&transitions(cycle))));
                (whole, Some(start))
            }
            // The last state repeats for ever: it is a deadlock.
            Some(_) => {
                let whole = self.original_run(run, true)?;
                let start = whole.actions.len();
                (whole, Some(start))
            }
            None => (self.original_run(run, false)?, None),
        };
        Some(Evidence { run, cycle_start, observer_states: Vec::new(), ..evidence.clone() })
    }
}

/// Transitions have the numbers of their actions.
fn transitions(actions: &[ActionId]) -> Vec<TransitionId> {
    actions.iter().map(|action| TransitionId::new(action.index())).collect()
}

fn actions(transitions: &[TransitionId]) -> Vec<ActionId> {
    transitions.iter().map(|transition| ActionId::new(transition.index())).collect()
}

/// Makes so much room in the places of a net that a run fits.
pub(crate) fn make_room(model: &mut petri::Model, run: &Run) {
    let net = model.net().clone();
    let mut marking: Vec<i64> = net.places.iter().map(|place| place.initial).collect();
    let mut most = marking.clone();
    for action in &run.actions {
        for (place, change) in net.transition(TransitionId::new(action.index())).changes() {
            let tokens = &mut marking[place.index()];
            *tokens = tokens.saturating_add(change);
            most[place.index()] = most[place.index()].max(*tokens);
        }
    }
    for (place, value) in most.into_iter().enumerate() {
        let fault = Fault::OutOfRange { var: VarId::new(place), value };
        if model.bounds().get(petri::PlaceId::new(place)) < value {
            model.widen(&StepError { fault, action: None });
        }
    }
}

/// Searches again and again, until every place has enough room.
pub(crate) fn widening<T>(
    model: &mut petri::Model,
    mut search: impl FnMut(&ActionSystem) -> (T, Option<StepError>),
) -> T {
    loop {
        match search(&model.system) {
            (_, Some(error)) if model.widen(&error) => {}
            (found, _) => return found,
        }
    }
}

/// `all`, `none`, names of rules, or `all` without some: `all,-pre-agglomeration`.
pub(crate) fn parse_rules(text: &str) -> Result<Rules, String> {
    let mut rules = Rules::NONE;
    for (index, part) in text.split(',').map(str::trim).enumerate() {
        let rule = |name: &str| {
            Rule::from_str(name).map_err(|Diagnostic { message, help, .. }| {
                let known = Rule::ALL.map(Rule::name).join(", ");
                format!("{message}; {}", help.unwrap_or(format!("there are {known}")))
            })
        };
        match part {
            "all" if index == 0 => rules = Rules::ALL,
            "none" if index == 0 => rules = Rules::NONE,
            _ => match part.strip_prefix('-') {
                Some(name) => rules = rules.without(rule(name)?),
                None => rules = rules.with(rule(part)?),
            },
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_chosen_by_their_names() {
        assert_eq!(parse_rules("none"), Ok(Rules::NONE));
        assert_eq!(parse_rules("all"), Ok(Rules::ALL));
        let some = parse_rules("dead-transitions,parallel-places").unwrap();
        assert!(some.has(Rule::DeadTransitions) && some.has(Rule::ParallelPlaces));
        assert!(!some.has(Rule::PreAgglomeration));
        let most = parse_rules("all,-pre-agglomeration").unwrap();
        assert_eq!(most, Rules::ALL.without(Rule::PreAgglomeration));
        assert!(parse_rules("dead-transition").unwrap_err().contains("did you mean"));
    }
}
