//! Formulas of linear temporal logic.

use std::ops::ControlFlow;

use check::choice::Wish;
use check::decide::Settings;
use check::product::{ObserverOrder, Orders};
use check::search::{Evidence, ProductStop};
use language::{Ltl, Model, Purpose};
use model::Run;
use replay::{Ending, Question};

use super::{Contest, ContestAnswer, Open, ROUNDS, Solver, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::watched::Watched;
use crate::error::Trouble;

/// A question about all runs.
pub(super) struct Asked {
    id: String,
    /// As it was written.
    written: Ltl,
    /// Without propositions that never change.
    simple: Ltl,
    /// With its automaton, once there is one; about a simpler net, if there is one.
    watched: Option<Watched>,
    is_answered: bool,
}

impl Asked {
    pub(super) fn new(id: String, written: Ltl, simple: Ltl) -> Asked {
        Asked { id, written, simple, watched: None, is_answered: false }
    }
}

impl Contest<'_> {
    /// Decides the formulas each by itself, in rounds: the easy ones first. Depth first, it matters much where a search goes at
    /// first, so that another order has its turns.
    pub(super) fn decide_runs(&mut self, mut asked: Vec<Asked>) {
        let [few, more, all] = ROUNDS;
        let (as_is, other) =
            (Orders::default(), Orders { reverse: true, observer: ObserverOrder::AcceptingFirst });
        let rounds = [(few, as_is), (few, other), (more, as_is), (all, other)];
        for (round, (max_states, orders)) in rounds.into_iter().enumerate() {
            let rest = (rounds.len() - round) as f64;
            let (across, model, parts, hears) = self.lanes();
            let run = |model: &mut Box<dyn Model>, asked: &mut Asked, begun: &Begun<'_, '_>| {
                Solver { model, parts }.holds(asked, orders, &begun.part(1.0 / rest).at_most(max_states))
            };
            across.run(
                model,
                &mut asked,
                |asked| asked.id.clone(),
                run,
                |asked, found| {
                    if let Ok((truth, technique)) = found {
                        hears(&asked.id, &ContestAnswer::Truth(truth), technique);
                        asked.is_answered = true;
                    }
                    ControlFlow::Continue(())
                },
            );
            asked.retain(|asked| !asked.is_answered);
        }
        asked.iter().for_each(|asked| self.cannot_compute(&asked.id));
    }
}

impl Solver<'_> {
    /// Makes the automaton of a formula, and the net simpler if the formula does not see it.
    fn prepare(&mut self, asked: &Asked, clock: &Clock<'_>) -> Option<Watched> {
        let Ltl { formula, propositions } = &asked.simple;
        let mut watched = Watched::formula(&mut **self.model, *formula, propositions, clock).ok()?;
        if watched.claim.proof().is_some() {
            watched.simplify(&mut **self.model, self.parts.options, clock);
        }
        Some(watched)
    }

    /// Whether all runs satisfy a formula, if that could be found out; and how.
    fn holds(
        &mut self,
        asked: &mut Asked,
        orders: Orders,
        clock: &Clock<'_>,
    ) -> Result<(bool, Technique), Open> {
        match &mut asked.watched {
            // It was made in another round, or before the model was made larger: on another copy.
            Some(watched) => watched.observe_again(&mut **self.model),
            None => asked.watched = self.prepare(asked, clock),
        }
        let watched = asked.watched.as_mut().ok_or(Open::Otherwise)?;
        let choice = Wish::default().complete(&mut watched.claim, &mut clock.budget());
        let method = choice.map_err(|_| Open::Otherwise)?.method;
        let technique = match (watched.is_simplified(), method.reduction) {
            (true, _) => Technique::Simplified,
            (false, Some(_)) => Technique::Reduced,
            (false, None) => Technique::Explicit,
        };
        let settings = Settings { orders, ..Settings::default() };
        let decision = watched.search(self.model, method, &settings, clock)?;
        let decision = decision.map_err(|why| Open::from(Trouble::refused(&asked.id, why)))?;
        match decision.outcome.stop {
            None => Ok((true, technique)),
            Some(ProductStop::Found(evidence)) if self.accepts(&asked.written, &evidence, clock) => {
                Ok((false, technique))
            }
            Some(ProductStop::Limit(limit)) => Err(Open::at(limit)),
            Some(_) => Err(Open::Otherwise),
        }
    }

    /// Whether a run that was found stands up to replay.
    fn accepts(&mut self, written: &Ltl, evidence: &Evidence, clock: &Clock<'_>) -> bool {
        let Ok(view) = self.model.view(Purpose::Replay, &mut clock.budget()) else { return false };
        let Ltl { formula, propositions } = written;
        let formulas = &*self.model.formulas();
        let question = Question::Formula { formulas, formula: *formula, propositions };
        let clock = clock.with_grace();
        let shows = |run: &Run, ending: Ending| {
            let evidence = replay::Evidence::new(run, ending);
            replay::judge(&view.system, &question, &evidence, &mut clock.budget()).is_ok()
        };
        if let Some(start) = evidence.cycle_start {
            return shows(&evidence.run, Ending::Cycle(start));
        }
        // All continuations violate the formula; to see that, one of them may do.
        shows(&evidence.run, Ending::Open)
            || match check::walk::to_lasso(&*view.system, &evidence.run, &mut clock.budget()) {
                Ok(Some((run, start))) => shows(&run, Ending::Cycle(start)),
                _ => false,
            }
    }
}
