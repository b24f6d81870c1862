//! Formulas of linear temporal logic.

use std::ops::ControlFlow;

use check::choice::Wish;
use check::decide::Settings;
use check::method::ObserverKind;
use check::product::{ObserverOrder, Orders, StepOrder};
use check::search::{Evidence, ProductStop};
use language::{Ltl, Model, Purpose};
use ltl::{Formula, Formulas, Node};
use model::{ActionSystem, BinaryOp, ExprId, Run, UnaryOp};
use replay::{Ending, Question};
use rustc_hash::FxHashMap;

use super::{Contest, ContestAnswer, Open, ROUNDS, Solver, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::watched::Watched;
use crate::error::Trouble;

/// The same seed, the same orders.
const SEED: u64 = 1;

/// A question about all runs.
pub(super) struct Asked {
    id: String,
    /// As it was written.
    written: Ltl,
    /// Without propositions that never change.
    simple: Ltl,
    /// With its automaton, once there is one; about a simpler net, if there is one.
    watched: Option<Watched>,
    /// If it may see stuttering: the closure under it, until that has a run that is no answer.
    closed: Option<Watched>,
    is_answered: bool,
}

impl Asked {
    pub(super) fn new(id: String, written: Ltl, simple: Ltl) -> Asked {
        Asked { id, written, simple, watched: None, closed: None, is_answered: false }
    }
}

/// What a formula says to be always true, if that is all that it says: states decide it.
pub(super) fn invariant(system: &mut ActionSystem, formulas: &Formulas, ltl: &Ltl) -> Option<ExprId> {
    let Node::Globally(inside) = formulas.node(ltl.formula) else { return None };
    let exprs = &mut system.exprs;
    let mut said: FxHashMap<Formula, ExprId> = FxHashMap::default();
    for formula in formulas.subformulas(inside) {
        let of = |formula: &Formula| said[formula];
        let expr = match formulas.node(formula) {
            Node::True => exprs.int(1),
            Node::False => exprs.int(0),
            Node::Prop(prop) => ltl.propositions.iter().find(|(its, _)| *its == prop)?.1,
            Node::Not(a) => exprs.unary(UnaryOp::Not, of(&a)),
            Node::And(list) => exprs.fold(BinaryOp::And, 1, &list.iter().map(of).collect::<Vec<_>>()),
            Node::Or(list) => exprs.fold(BinaryOp::Or, 0, &list.iter().map(of).collect::<Vec<_>>()),
            Node::Implies(a, b) => {
                let not = exprs.unary(UnaryOp::Not, of(&a));
                exprs.binary(BinaryOp::Or, not, of(&b))
            }
            _ => return None,
        };
        said.insert(formula, expr);
    }
    said.get(&inside).copied()
}

impl Contest<'_> {
    /// Decides the formulas each by itself, in rounds: the easy ones first. Depth first, it matters much where a search goes at
    /// first, so that another order has its turns.
    pub(super) fn decide_runs(&mut self, mut asked: Vec<Asked>) {
        let [few, more, all] = ROUNDS;
        let order = |steps, observer| Orders { steps, observer };
        let as_is = Orders::default();
        let led = order(StepOrder::Led, ObserverOrder::AsIs);
        let other = order(StepOrder::Reverse, ObserverOrder::AcceptingFirst);
        let by_chance = order(StepOrder::Shuffled(SEED), ObserverOrder::AsIs);
        let rounds = [(few, as_is), (few, led), (few, by_chance), (more, led), (more, as_is), (all, other)];
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
            None => {
                asked.watched = self.prepare(asked, clock);
                let open = asked.watched.as_ref().filter(|watched| watched.claim.proof().is_none());
                asked.closed = open
                    .and_then(|open| open.closed(&mut **self.model, self.parts.options, &clock.part(0.5)));
            }
        }
        let watched = asked.watched.as_mut().ok_or(Open::Otherwise)?;
        if let Some(closed) = &mut asked.closed {
            closed.observe_again(&mut **self.model);
            match self.search(&asked.id, &asked.written, closed, orders, &clock.part(0.5)) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => asked.closed = None,
                Err(_) => {}
            }
        }
        self.search(&asked.id, &asked.written, watched, orders, clock)?.ok_or(Open::Otherwise)
    }

    /// Searches for a run that violates a formula. Nothing if one was found that does not stand up to replay.
    fn search(
        &mut self,
        id: &str,
        written: &Ltl,
        watched: &mut Watched,
        orders: Orders,
        clock: &Clock<'_>,
    ) -> Result<Option<(bool, Technique)>, Open> {
        // Automata by value can be led.
        let observer = (orders.steps == StepOrder::Led).then_some(ObserverKind::Tgba);
        let wish = Wish { observer, ..Wish::default() };
        let choice = wish.complete(&mut watched.claim, &mut clock.budget());
        let method = choice.map_err(|_| Open::Otherwise)?.method;
        let technique = match (watched.is_simplified(), method.reduction) {
            (true, _) => Technique::Simplified,
            (false, Some(_)) => Technique::Reduced,
            (false, None) => Technique::Explicit,
        };
        let settings = Settings { orders, ..Settings::default() };
        let decision = watched.search(self.model, method, &settings, clock)?;
        let decision = decision.map_err(|why| Open::from(Trouble::refused(id, why)))?;
        match decision.outcome.stop {
            None => Ok(Some((true, technique))),
            Some(ProductStop::Found(evidence)) => {
                Ok(self.accepts(written, &evidence, clock).then_some((false, technique)))
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
