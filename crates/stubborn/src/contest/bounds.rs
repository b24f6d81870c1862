//! Greatest values: what can be reached, and what cannot be exceeded.

use std::ops::ControlFlow;

use language::{Argument, Model, Preserve, PropertyKind};
use model::{BinaryOp, ExprId};

use super::diagrams::Effort;
use super::markings::Asked;
use super::strolls::is_found_by_equation;
use super::{Contest, ContestAnswer, Open, ROUNDS, Solver, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::maxima;
use crate::decide::states::{Aim, Lead};
use crate::session::refining;

/// A question about the greatest value of an expression.
pub(super) struct Greatest {
    pub(super) id: String,
    pub(super) expr: ExprId,
    /// A value that it never exceeds, what shows that, and whether it reaches it.
    bound: Option<(i64, Argument, Asked)>,
    is_answered: bool,
}

impl Contest<'_> {
    /// The greatest values: by a walk to what they cannot exceed, for all at once; by a diagram; each by itself on a simpler net, within limits;
    /// then all together.
    pub(super) fn decide_maxima(&mut self, asked: Vec<(String, ExprId)>) {
        let clock = self.clock.clone();
        let mut asked: Vec<Greatest> =
            asked.into_iter().map(|(id, expr)| self.solver().greatest(id, expr, &clock.part(0.02))).collect();
        asked.retain(|asked| {
            let Some((bound, by, _)) = &asked.bound else { return true };
            let initial =
                self.facts.as_ref().and_then(|facts| facts.initially(&self.model.system().exprs, asked.expr));
            let is_reached = initial == Some(*bound);
            if is_reached {
                (self.hears)(&asked.id, &ContestAnswer::Number(*bound), Technique::Facts(*by));
            }
            !is_reached
        });
        let bounded = asked.iter().filter_map(|asked| Some(asked.bound.as_ref()?.2.aim));
        let mut found = self.stroll_to(&bounded.collect::<Vec<Aim>>()).into_iter();
        asked.retain(|asked| {
            let Some((bound, ..)) = &asked.bound else { return true };
            let is_found = found.next() == Some(true);
            if is_found {
                (self.hears)(&asked.id, &ContestAnswer::Number(*bound), Technique::Walk);
            }
            !is_found
        });
        self.maxima_by_diagram(&mut asked, Effort::Little);
        let (across, model, parts, hears) = self.lanes();
        let run = |model: &mut Box<dyn Model>, asked: &mut Greatest, begun: &Begun<'_, '_>| {
            let (mut solver, clock) = (Solver { model, parts }, begun.part(0.6));
            match solver.reaches_bound(asked, &clock) {
                Some(greatest) => Ok(greatest),
                None => solver.maximum_of_simpler(asked.expr, &clock),
            }
        };
        across.run(
            model,
            &mut asked,
            |asked| asked.id.clone(),
            run,
            |asked, found| {
                if let Ok((maximum, technique)) = found {
                    hears(&asked.id, &ContestAnswer::Number(maximum), technique);
                    asked.is_answered = true;
                }
                ControlFlow::Continue(())
            },
        );
        asked.retain(|asked| !asked.is_answered);
        self.maxima_by_diagram(&mut asked, Effort::Share(0.5));
        let open: Vec<(String, ExprId)> = asked.into_iter().map(|asked| (asked.id, asked.expr)).collect();
        self.decide_maxima_together(&open);
    }

    /// The greatest values, in one exploration.
    fn decide_maxima_together(&mut self, asked: &[(String, ExprId)]) {
        if asked.is_empty() {
            return;
        }
        let exprs: Vec<ExprId> = asked.iter().map(|(_, expr)| *expr).collect();
        let space = self.explore_all().filter(|space| space.exploration.stop.is_none());
        let maxima = space.and_then(|space| space.maxima(&exprs, &mut self.clock.budget()).ok());
        for (number, (id, _)) in asked.iter().enumerate() {
            match &maxima {
                Some(maxima) => {
                    (self.hears)(id, &ContestAnswer::Number(maxima[number]), Technique::Explicit);
                }
                None => self.cannot_compute(id),
            }
        }
    }
}

impl Solver<'_> {
    /// A question, with what is known about it.
    fn greatest(&mut self, id: String, expr: ExprId, clock: &Clock<'_>) -> Greatest {
        let facts = self.parts.facts;
        let system = self.model.parts().0;
        let bound = facts
            .and_then(|facts| facts.upper_bound(&system.exprs, expr, &mut clock.budget()).ok()?)
            .and_then(|(bound, by)| {
                let least = system.exprs.int(bound);
                let goal = system.exprs.binary(BinaryOp::Ge, expr, least);
                let asked = Asked::new(system, String::new(), &PropertyKind::Possible(goal))?;
                Some((bound, by, asked))
            });
        Greatest { id, expr, bound, is_answered: false }
    }

    /// Looks for a marking in which an expression has the greatest value that it can have.
    fn reaches_bound(&mut self, asked: &mut Greatest, clock: &Clock<'_>) -> Option<(i64, Technique)> {
        let [few, more, _] = ROUNDS;
        let (bound, _, goal) = asked.bound.as_mut()?;
        if is_found_by_equation(&mut **self.model, self.parts, goal, &clock.part(0.1)).is_ok() {
            return Some((*bound, Technique::Parikh));
        }
        // Whoever has very many tokens to move needs very many states.
        let rounds = [(few, 0.2), (more, 0.3)];
        let is_reached = rounds.into_iter().find_map(|(max_states, part)| {
            self.find(goal, Lead::Distance, &clock.part(part).at_most(max_states)).ok()
        })?;
        is_reached.then(|| (*bound, goal.technique()))
    }

    /// The greatest value of an expression, in a simpler net.
    fn maximum_of_simpler(&mut self, expr: ExprId, clock: &Clock<'_>) -> Result<(i64, Technique), Open> {
        let rules = &self.parts.options.structural;
        let simpler = self.model.simplify(Preserve::Reachability, &[expr], rules, &mut clock.budget());
        let mut simpler = simpler.ok_or(Open::Otherwise)?;
        let space = refining(&mut simpler.model, clock, |model| maxima::explore(&mut **model, clock))?;
        if space.exploration.stop.is_some() {
            return Err(Open::after(&space.exploration));
        }
        let maxima = space.maxima(&simpler.exprs, &mut clock.budget()).map_err(|_| Open::Otherwise)?;
        let maximum = maxima.first().ok_or(Open::Otherwise)?;
        Ok((*maximum, Technique::Simplified))
    }
}
