//! Questions about markings: what is reachable, and what is not.

use std::ops::ControlFlow;

use check::search::bfs::Reached;
use check::{Exact, Exploration, Goal, parallel, search};
use language::{Model, Preserve, PropertyKind, Purpose, View};
use model::{ActionSystem, BinaryOp, ExprId, System as _};
use replay::{Ending, Evidence};

use super::{Contest, ContestAnswer, Open, ROUNDS, Solver, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::maxima::{self, Space};
use crate::decide::states::{Aim, Simplified, fault, find};
use crate::error::Trouble;
use crate::options::{Options, Order};
use crate::session::{Attempt, refining};

/// A question about one aim.
pub(super) struct Asked {
    id: String,
    aim: Aim,
    /// Whether it is asked if the aim can be reached, rather than if it cannot.
    possible: bool,
    /// The same in a simpler net: once it was looked for, and if there is one.
    simplified: Option<Option<Simplified>>,
    is_answered: bool,
}

impl Asked {
    pub(super) fn new(system: &mut ActionSystem, id: String, kind: &PropertyKind) -> Option<Asked> {
        let (aim, possible) = Aim::of(kind, system)?;
        Some(Asked { id, aim, possible, simplified: None, is_answered: false })
    }

    /// Whether what is known of the simpler net, if there is one, shows that the aim cannot be reached.
    fn is_impossible(&mut self, clock: &Clock<'_>) -> bool {
        let simplified = self.simplified.as_mut().and_then(Option::as_mut);
        simplified.and_then(|simplified| simplified.is_impossible(clock)) == Some(true)
    }

    fn technique(&self) -> Technique {
        match self.simplified {
            Some(Some(_)) => Technique::Simplified,
            _ => Technique::Reduced,
        }
    }
}

impl Contest<'_> {
    /// Decides each question by itself with reduction, within limits; then all together without it;
    /// then, with what is left, each by itself.
    pub(super) fn decide_markings(&mut self, mut asked: Vec<Asked>) {
        let [few, more, all] = ROUNDS;
        self.decide_each(&mut asked, few, 0.1, Order::Bfs);
        self.refute_each(&mut asked);
        self.decide_each(&mut asked, more, 0.2, Order::Bfs);
        self.decide_together(&mut asked);
        self.decide_each(&mut asked, all, 1.0, Order::Dfs);
        asked.iter().for_each(|asked| self.cannot_compute(&asked.id));
    }

    /// Removes what cannot be reached by what is known of the simpler net, in a tenth of the time that is left.
    fn refute_each(&mut self, asked: &mut Vec<Asked>) {
        let mut n_left = asked.len();
        for mut question in std::mem::take(asked) {
            let clock = self.clock.part(0.1 / n_left as f64);
            n_left -= 1;
            if question.is_impossible(&clock) {
                self.truth(&question.id, !question.possible, Technique::Facts);
            } else {
                asked.push(question);
            }
        }
    }

    /// Removes what could be answered, in a share of the time that is left.
    fn decide_each(&mut self, asked: &mut Vec<Asked>, max_states: u64, share: f64, order: Order) {
        let (across, model, parts, hears) = self.lanes();
        let run = |model: &mut Box<dyn Model>, asked: &mut Asked, begun: &Begun<'_, '_>| {
            Solver { model, parts }.find(asked, order, &begun.part(share).at_most(max_states))
        };
        across.run(
            model,
            asked,
            |asked| asked.id.clone(),
            run,
            |asked, found| {
                if let Ok(found) = found {
                    hears(&asked.id, &ContestAnswer::Truth(found == asked.possible), asked.technique());
                    asked.is_answered = true;
                }
                ControlFlow::Continue(())
            },
        );
        asked.retain(|asked| !asked.is_answered);
    }
}

impl Solver<'_> {
    /// Whether an aim can be reached, if that could be found out with reduction.
    fn find(&mut self, asked: &mut Asked, order: Order, clock: &Clock<'_>) -> Result<bool, Open> {
        let options = Options { order: Some(order), ..self.parts.options.clone() };
        let aim = asked.aim;
        let simplified =
            asked.simplified.get_or_insert_with(|| Simplified::new(&mut **self.model, aim, &options, clock));
        let (explored, purpose) = match simplified {
            Some(simplified) => (simplified.find(&options, clock)?, Purpose::Replay),
            None => {
                let explored = refining(self.model, clock, |model| {
                    let goal = aim.goal("", model.parts().0);
                    let view = model.view(Purpose::Runs, &mut clock.budget())?;
                    let explored = find(&view.system, goal, &options, clock)?;
                    Ok(match fault(&explored).filter(|error| model.can_refine(error)) {
                        Some(error) => Attempt::TooSmall(error),
                        None => Attempt::Done(explored),
                    })
                });
                (explored?, Purpose::Runs)
            }
        };
        let view = self.model.view(purpose, &mut clock.budget()).map_err(Trouble::from)?;
        truth(&view, &explored, aim, 0, clock).ok_or_else(|| Open::after(&explored))
    }

    /// Whether it is known without a search that an expression is true in some marking; or false in some.
    fn known(&self, expr: ExprId, possible: bool, clock: &Clock<'_>) -> Option<bool> {
        let (facts, exprs) = (self.parts.facts?, &self.model.system().exprs);
        let always = facts.always(exprs, expr, &mut clock.budget()).ok()?;
        match (always, facts.initially(exprs, expr).map(|value| value != 0)) {
            (Some(truth), _) => Some(truth == possible),
            (None, Some(truth)) if truth == possible => Some(true),
            _ => None,
        }
    }

    /// Looks for a marking in which an expression has the greatest value that facts allow.
    fn greatest_possible(&mut self, expr: ExprId, clock: &Clock<'_>) -> Option<(i64, Technique)> {
        let system = self.model.parts().0;
        let bound = self.parts.facts?.upper_bound(&system.exprs, expr, &mut clock.budget()).ok()??;
        let least = system.exprs.int(bound);
        let goal = system.exprs.binary(BinaryOp::Ge, expr, least);
        let mut asked = Asked::new(system, String::new(), &PropertyKind::Possible(goal))?;
        let [few, ..] = ROUNDS;
        let is_reached = self.find(&mut asked, Order::Bfs, &clock.part(0.4).at_most(few)).ok()?;
        is_reached.then(|| (bound, asked.technique()))
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
        let maxima = space.maxima(&simpler.exprs, &clock.budget()).map_err(|_| Open::Otherwise)?;
        let maximum = maxima.first().ok_or(Open::Otherwise)?;
        Ok((*maximum, Technique::Simplified))
    }
}

impl Contest<'_> {
    /// Decides in one exploration what is still open, and removes it.
    fn decide_together(&mut self, asked: &mut Vec<Asked>) {
        if asked.is_empty() {
            return;
        }
        let aims: Vec<Aim> = asked.iter().map(|asked| asked.aim).collect();
        let clock = self.clock.part(0.6);
        let Ok((view, explored)) = self.explore_for(&aims, &clock) else { return };
        for (number, question) in std::mem::take(asked).into_iter().enumerate() {
            match truth(&view, &explored, question.aim, number, &self.clock) {
                Some(found) => self.truth(&question.id, found == question.possible, Technique::Explicit),
                None => asked.push(question),
            }
        }
    }

    /// Explores without reduction, looking for all aims at once.
    fn explore_for(&mut self, aims: &[Aim], clock: &Clock<'_>) -> Result<(View, Exploration), Trouble> {
        refining(self.model, clock, |model| {
            let goals: Vec<Goal> = aims.iter().map(|aim| aim.goal("", model.parts().0)).collect();
            let mut budget = clock.budget();
            let view = model.view(Purpose::Runs, &mut budget)?;
            let explored = parallel::bfs(&*view.system, &goals, &mut budget);
            Ok(match fault(&explored).filter(|error| model.can_refine(error)) {
                Some(error) => Attempt::TooSmall(error),
                None => Attempt::Done((view, explored)),
            })
        })
    }

    /// The same without runs: no single one answers a question about all aims, and to read and replay all of
    /// them may take longer than the search.
    fn reach(&mut self, aims: &[Aim], clock: &Clock<'_>) -> Result<Reached, Trouble> {
        refining(self.model, clock, |model| {
            let goals: Vec<Goal> = aims.iter().map(|aim| aim.goal("", model.parts().0)).collect();
            let mut budget = clock.budget();
            let view = model.view(Purpose::Runs, &mut budget)?;
            let mut store = Exact::new(view.system.width(), budget.room());
            let reached = search::bfs::reach(&*view.system, &mut store, &goals, &mut budget);
            let in_goals = reached.goals.iter().flatten().filter_map(|goal| goal.err());
            let fault = reached.fault.into_iter().chain(in_goals).find(|error| model.can_refine(error));
            Ok(match fault {
                Some(error) => Attempt::TooSmall(error),
                None => Attempt::Done(reached),
            })
        })
    }

    /// Explores everything, with all threads, and keeps it.
    fn explore_all(&mut self) -> Option<Space> {
        let clock = self.clock.clone();
        refining(self.model, &clock, |model| maxima::explore(&mut **model, &clock)).ok()
    }

    /// Whether a marking without enabled transitions can be reached.
    pub(super) fn deadlock(&mut self, id: &str) {
        let mut asked = deadlock(id);
        match self.finds_deadlock(&mut asked, 1.0) {
            Some(truth) => self.truth(id, truth, asked.technique()),
            None => self.cannot_compute(id),
        }
    }

    /// The same, if that can be found out in a share of the time that is left.
    pub(super) fn finds_deadlock(&mut self, asked: &mut Asked, share: f64) -> Option<bool> {
        let [few, _, all] = ROUNDS;
        let rounds = [(few, 0.2, Order::Bfs), (all, 0.5, Order::Dfs), (all, 1.0, Order::Bfs)];
        rounds.into_iter().enumerate().find_map(|(round, (max_states, part, order))| {
            if round == 1 && asked.is_impossible(&self.clock.part(0.1 * share)) {
                return Some(false);
            }
            let clock = self.clock.part(part * share).at_most(max_states);
            self.solver().find(asked, order, &clock).ok()
        })
    }

    /// Whether each of these is true in some marking; or whether one of these is true in every
    /// marking.
    pub(super) fn one_of_all(&mut self, id: &str, exprs: &[ExprId], possible: bool) {
        let system = self.model.parts().0;
        let kind = |&expr: &ExprId| match possible {
            true => PropertyKind::Possible(expr),
            false => PropertyKind::Invariant(expr),
        };
        let asked = exprs.iter().filter_map(|expr| Asked::new(system, String::new(), &kind(expr)));
        let mut asked: Vec<Asked> = asked.collect();
        if let Some((all_found, technique)) = self.each_of_all(exprs, &mut asked) {
            return self.truth(id, all_found == possible, technique);
        }
        let aims: Vec<Aim> = asked.iter().map(|asked| asked.aim).collect();
        let clock = self.clock.clone();
        let Ok(reached) = self.reach(&aims, &clock) else { return self.cannot_compute(id) };
        let all_found = match reached.is_complete {
            _ if reached.goals.iter().all(|goal| *goal == Some(Ok(()))) => Some(true),
            true if reached.goals.iter().all(|goal| !matches!(goal, Some(Err(_)))) => Some(false),
            _ => None,
        };
        match all_found {
            Some(all_found) => self.truth(id, all_found == possible, Technique::Explicit),
            None => self.cannot_compute(id),
        }
    }

    /// Whether all these aims can be reached, if each of them can be decided by itself with little effort;
    /// or one is found that cannot be. A third of the time is for all of them.
    fn each_of_all(&mut self, exprs: &[ExprId], asked: &mut [Asked]) -> Option<(bool, Technique)> {
        let [few, ..] = ROUNDS;
        let whole = self.clock.part(1.0 / 3.0);
        let (mut is_open, mut technique) = (false, Technique::Reduced);
        let n_asked = asked.len();
        for (number, (&expr, asked)) in exprs.iter().zip(asked).enumerate() {
            let mut solver = self.solver();
            let found = solver.known(expr, asked.possible, &whole).or_else(|| {
                let clock = whole.part(1.0 / (n_asked - number) as f64).at_most(few);
                (!clock.is_over()).then(|| solver.find(asked, Order::Bfs, &clock).ok()).flatten()
            });
            // There may be very many simpler nets: none is kept.
            if asked.simplified.take().flatten().is_some() {
                technique = Technique::Simplified;
            }
            match found {
                Some(false) => return Some((false, technique)),
                Some(true) => {}
                None => is_open = true,
            }
        }
        (!is_open).then_some((true, technique))
    }

    /// The greatest values: each by itself on a simpler net, within limits; then all together.
    pub(super) fn decide_maxima(&mut self, asked: Vec<(String, ExprId)>) {
        let mut asked: Vec<(String, ExprId, bool)> =
            asked.into_iter().map(|(id, expr)| (id, expr, false)).collect();
        let (across, model, parts, hears) = self.lanes();
        let run = |model: &mut Box<dyn Model>, asked: &mut (String, ExprId, bool), begun: &Begun<'_, '_>| {
            let (mut solver, clock) = (Solver { model, parts }, begun.part(0.6));
            match solver.greatest_possible(asked.1, &clock) {
                Some(greatest) => Ok(greatest),
                None => solver.maximum_of_simpler(asked.1, &clock),
            }
        };
        across.run(
            model,
            &mut asked,
            |asked| asked.0.clone(),
            run,
            |(id, _, is_answered), found| {
                if let Ok((maximum, technique)) = found {
                    hears(id, &ContestAnswer::Number(maximum), technique);
                    *is_answered = true;
                }
                ControlFlow::Continue(())
            },
        );
        asked.retain(|asked| !asked.2);
        let open: Vec<(String, ExprId)> = asked.into_iter().map(|(id, expr, _)| (id, expr)).collect();
        self.decide_maxima_together(&open);
    }

    /// The greatest values, in one exploration.
    fn decide_maxima_together(&mut self, asked: &[(String, ExprId)]) {
        if asked.is_empty() {
            return;
        }
        let exprs: Vec<ExprId> = asked.iter().map(|(_, expr)| *expr).collect();
        let space = self.explore_all().filter(|space| space.exploration.stop.is_none());
        let maxima = space.and_then(|space| space.maxima(&exprs, &self.clock.budget()).ok());
        for (number, (id, _)) in asked.iter().enumerate() {
            match &maxima {
                Some(maxima) => {
                    (self.hears)(id, &ContestAnswer::Number(maxima[number]), Technique::Explicit);
                }
                None => self.cannot_compute(id),
            }
        }
    }

    /// How large the state space is, and how many tokens there are.
    pub(super) fn state_space(&mut self, id: &str) {
        let Some(space) = self.explore_all().filter(|space| space.exploration.stop.is_none()) else {
            return self.cannot_compute(id);
        };
        let collected = space.collect(&self.clock.budget(), <(i64, i128)>::default, |most, marking| {
            most.0 = most.0.max(marking.iter().copied().max().unwrap_or(0));
            most.1 = most.1.max(marking.iter().map(|&tokens| i128::from(tokens)).sum());
            Ok(())
        });
        let Ok(collected) = collected else { return self.cannot_compute(id) };
        let in_place = collected.iter().map(|most| most.0).max().unwrap_or(0);
        let in_marking = collected.iter().map(|most| most.1).max().unwrap_or(0);
        let stats = &space.exploration.stats;
        let (states, transitions) = (stats.states, stats.transitions);
        let answer = ContestAnswer::Space { states, transitions, in_marking, in_place };
        (self.hears)(id, &answer, Technique::Explicit);
    }
}

/// Whether a marking without enabled transitions can be reached.
pub(super) fn deadlock(id: &str) -> Asked {
    Asked { id: id.to_owned(), aim: Aim::Deadlock, possible: true, simplified: None, is_answered: false }
}

/// Whether an aim can be reached, if that was found out, and stands up to replay.
fn truth(view: &View, explored: &Exploration, aim: Aim, number: usize, clock: &Clock<'_>) -> Option<bool> {
    match (&explored.violations[number], &explored.faults[number], &explored.stop) {
        (Some(run), _, _) => {
            let evidence = Evidence::new(run, Ending::Open);
            let judged = replay::judge(&view.system, &aim.claim(), &evidence, &mut clock.budget());
            judged.is_ok().then_some(true)
        }
        (None, None, None) => Some(false),
        _ => None,
    }
}
