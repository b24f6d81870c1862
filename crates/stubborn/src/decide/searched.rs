//! The system that is searched: that of the model, or one with fewer states that has the same answer ([`statics`]).
//! Whatever is found there becomes a run of the model's own system before anybody looks at it.

use base::{Budget, Limit};
use check::decide::Decision;
use check::search::{Evidence, ProductStop};
use check::{Exploration, Stop};
use language::{Preserve, Rules, View};
use model::{ActionSystem, ExprId, Run};
use statics::{Rule, Smaller};

use crate::clock::Clock;

/// What is searched for a question.
pub(crate) struct Searched<'v> {
    view: &'v View,
    smaller: Option<Smaller>,
}

impl<'v> Searched<'v> {
    /// For a question about these expressions; if nothing is to be preserved in particular, everything is.
    pub(crate) fn new(
        view: &'v View,
        preserve: Option<Preserve>,
        about: &[ExprId],
        rules: &Rules,
        clock: &Clock<'_>,
    ) -> Result<Searched<'v>, Limit> {
        let smaller = statics::reduce(&view.system, preserve, about, rules, &mut clock.budget())?;
        Ok(Searched { view, smaller })
    }

    /// The system of the model.
    pub(crate) fn as_written(view: &'v View) -> Searched<'v> {
        Searched { view, smaller: None }
    }

    /// The system to be searched.
    pub(crate) fn system(&self) -> &ActionSystem {
        self.smaller.as_ref().map_or(&self.view.system, |smaller| &smaller.system)
    }

    /// Whether it has fewer states than that of the model.
    pub(crate) fn is_smaller(&self) -> bool {
        self.smaller.is_some()
    }

    /// What was done to it, in a few words.
    pub(crate) fn what(&self) -> Option<String> {
        self.smaller.as_ref().map(Smaller::describe)
    }

    /// Whether cycles may be found that do not close soon in the system of the model.
    pub(crate) fn may_not_close(&self) -> bool {
        self.smaller.as_ref().is_some_and(|smaller| smaller.uses(Rule::UnreadVariables))
    }

    /// What was found, with runs and actions of the model's system. A run that is lost does not stand up to replay.
    pub(crate) fn exploration(&self, mut found: Exploration, clock: &Clock<'_>) -> Exploration {
        let Some(smaller) = &self.smaller else { return found };
        found.taken = smaller.taken(&found.taken).unwrap_or_default();
        let mut budget = clock.budget();
        let mut limit = None;
        let mut bring_back = |run: &mut Run| {
            match smaller.run(&self.view.system, run, &mut budget) {
                Ok(brought) => *run = brought.unwrap_or_default(),
                Err(reached) => limit = Some(reached),
            };
        };
        found.violations.iter_mut().flatten().for_each(&mut bring_back);
        found.faults.iter_mut().flatten().for_each(|(_, run)| bring_back(run));
        if let Some(Stop::Fault(_, run)) = &mut found.stop {
            bring_back(run);
        }
        match limit {
            None => found,
            Some(limit) => {
                Exploration { stats: found.stats, ..Exploration::limited(found.violations.len(), limit) }
            }
        }
    }

    /// What was found, with a run of the model's system; nothing if a cycle does not close there.
    pub(crate) fn decision(&self, mut found: Decision, clock: &Clock<'_>) -> Option<Decision> {
        let Some(smaller) = &self.smaller else { return Some(found) };
        let mut budget = clock.budget();
        let brought = match &found.outcome.stop {
            Some(ProductStop::Found(evidence)) => {
                let brought = self.evidence(smaller, evidence, &mut budget);
                brought.map(|brought| brought.map(ProductStop::Found))
            }
            Some(ProductStop::Fault(error, run)) => {
                let brought = smaller.run(&self.view.system, run, &mut budget);
                brought.map(|run| run.map(|run| ProductStop::Fault(*error, run)))
            }
            _ => return Some(found),
        };
        found.outcome.stop = Some(match brought {
            Ok(brought) => brought?,
            Err(limit) => ProductStop::Limit(limit),
        });
        Some(found)
    }

    fn evidence(
        &self,
        smaller: &Smaller,
        evidence: &Evidence,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Evidence>, Limit> {
        let (system, before) = (&self.view.system, evidence.run.actions.len());
        let brought = match evidence.cycle_start {
            Some(start) if start < before => {
                smaller.lasso(system, &evidence.run, start, budget)?.map(|(run, start)| (run, Some(start)))
            }
            // The last state repeats for ever.
            ends => smaller.run(system, &evidence.run, budget)?.map(|run| {
                let end = ends.map(|_| run.actions.len());
                (run, end)
            }),
        };
        Ok(brought.map(|(run, cycle_start)| {
            // What the observer did is known only if the steps are the same.
            let is_same = run.actions.len() == before;
            let observer_states = if is_same { evidence.observer_states.clone() } else { Vec::new() };
            Evidence { violation: evidence.violation, run, cycle_start, observer_states }
        }))
    }
}
