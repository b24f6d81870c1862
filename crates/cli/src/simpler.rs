//! Nets made simpler for one question, and their runs as runs of the net that was asked about.

use std::str::FromStr as _;

use base::{Budget, Diagnostic};
use check::search::Evidence;
use language::{Preserve, WayBack as _};
use model::{ActionSystem, ExprId, Fault, Run, StepError, VarId};
use petri::structural::{Rule, Rules};
use petri::{Smaller, TransitionId, Way};

/// A net with fewer places and transitions that has the same answer to a question.
pub(crate) struct Simpler {
    pub(crate) model: petri::Model,
    way: Way,
}

impl Simpler {
    /// The net, with these expressions about it; nothing if it cannot be made simpler.
    pub(crate) fn new(
        original: &mut petri::Model,
        preserve: Preserve,
        about: &[ExprId],
        rules: Rules,
        budget: &mut Budget<'_>,
    ) -> Option<(Simpler, Vec<ExprId>)> {
        let Smaller { model, exprs, way } = original.smaller(preserve, about, rules, budget)?;
        Some((Simpler { model, way }, exprs))
    }

    /// What was done, in a few words.
    pub(crate) fn describe(&self) -> String {
        self.way.describe()
    }

    /// A run as one of the original net; with a deadlock at its end, if that is what it shows.
    pub(crate) fn original_run(&self, run: &Run, ends: bool) -> Option<Run> {
        self.way.run(run, ends)
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
                whole.actions.extend(self.way.part(cycle));
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
            // Without limits it always ends well.
            _ = model.widen(&StepError { fault, action: None }, &mut Budget::unlimited());
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
            (_, Some(error)) if model.widen(&error, &mut Budget::unlimited()) == Ok(true) => {}
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
