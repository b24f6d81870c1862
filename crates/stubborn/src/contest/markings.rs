//! Questions about markings: what is reachable, and what is not.

use check::search::bfs::Reached;
use check::{Exact, Exploration, Goal, parallel, search};
use language::{Preserve, PropertyKind, Purpose, View};
use model::{ActionSystem, BinaryOp, ExprId, System as _};
use replay::{Ending, Evidence};

use super::{Contest, ContestAnswer, ROUNDS, Technique};
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
}

impl Asked {
    pub(super) fn new(system: &mut ActionSystem, id: String, kind: &PropertyKind) -> Option<Asked> {
        let (aim, possible) = Aim::of(kind, system)?;
        Some(Asked { id, aim, possible, simplified: None })
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
        let mut n_left = asked.len();
        for mut question in std::mem::take(asked) {
            let clock = self.clock.part(share / n_left as f64).at_most(max_states);
            let found = self.find(&mut question, order, &clock);
            n_left -= 1;
            match found {
                Some(found) => self.truth(&question.id, found == question.possible, question.technique()),
                None => asked.push(question),
            }
        }
    }

    /// Whether an aim can be reached, if that could be found out with reduction.
    fn find(&mut self, asked: &mut Asked, order: Order, clock: &Clock<'_>) -> Option<bool> {
        let options = Options { order: Some(order), ..self.options.clone() };
        let aim = asked.aim;
        let simplified =
            asked.simplified.get_or_insert_with(|| Simplified::new(&mut **self.model, aim, &options, clock));
        let (explored, purpose) = match simplified {
            Some(simplified) => (simplified.find(&options, clock).ok()?, Purpose::Replay),
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
                (explored.ok()?, Purpose::Runs)
            }
        };
        let view = self.model.view(purpose, &mut clock.budget()).ok()?;
        truth(&view, &explored, aim, 0, clock)
    }

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

    /// Explores everything, and keeps it.
    pub(super) fn explore(&mut self) -> Option<Space> {
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
            self.find(asked, order, &clock)
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
            let found = self.known(expr, asked.possible, &whole).or_else(|| {
                let clock = whole.part(1.0 / (n_asked - number) as f64).at_most(few);
                (!clock.is_over()).then(|| self.find(asked, Order::Bfs, &clock)).flatten()
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

    /// Whether it is known without a search that an expression is true in some marking; or false in some.
    fn known(&self, expr: ExprId, possible: bool, clock: &Clock<'_>) -> Option<bool> {
        let (facts, exprs) = (self.facts.as_ref()?, &self.model.system().exprs);
        let always = facts.always(exprs, expr, &mut clock.budget()).ok()?;
        match (always, facts.initially(exprs, expr).map(|value| value != 0)) {
            (Some(truth), _) => Some(truth == possible),
            (None, Some(truth)) if truth == possible => Some(true),
            _ => None,
        }
    }

    /// The greatest values: each by itself on a simpler net, within limits; then all together.
    pub(super) fn decide_maxima(&mut self, asked: Vec<(String, ExprId)>) {
        let mut open = Vec::new();
        let n_asked = asked.len();
        for (number, (id, expr)) in asked.into_iter().enumerate() {
            let clock = self.clock.part(0.6 / (n_asked - number) as f64);
            match self.greatest_possible(expr, &clock).or_else(|| self.maximum_of_simpler(expr, &clock)) {
                Some((maximum, technique)) => (self.hears)(&id, &ContestAnswer::Number(maximum), technique),
                None => open.push((id, expr)),
            }
        }
        self.decide_maxima_together(&open);
    }

    /// Looks for a marking in which an expression has the greatest value that facts allow.
    fn greatest_possible(&mut self, expr: ExprId, clock: &Clock<'_>) -> Option<(i64, Technique)> {
        let system = self.model.parts().0;
        let facts = self.facts.as_ref()?;
        let bound = facts.upper_bound(&system.exprs, expr, &mut clock.budget()).ok()??;
        let least = system.exprs.int(bound);
        let goal = system.exprs.binary(BinaryOp::Ge, expr, least);
        let mut asked = Asked::new(system, String::new(), &PropertyKind::Possible(goal))?;
        let [few, ..] = ROUNDS;
        let is_reached = self.find(&mut asked, Order::Bfs, &clock.part(0.4).at_most(few))?;
        is_reached.then(|| (bound, asked.technique()))
    }

    fn maximum_of_simpler(&mut self, expr: ExprId, clock: &Clock<'_>) -> Option<(i64, Technique)> {
        let rules = &self.options.structural;
        let mut simpler = self.model.simplify(Preserve::Reachability, &[expr], rules, &mut clock.budget())?;
        let space = refining(&mut simpler.model, clock, |model| maxima::explore(&mut **model, clock)).ok()?;
        if space.exploration.stop.is_some() {
            return None;
        }
        let maxima = space.maxima(&simpler.exprs, &mut clock.budget()).ok()?;
        Some((*maxima.first()?, Technique::Simplified))
    }

    /// The greatest values, in one exploration.
    fn decide_maxima_together(&mut self, asked: &[(String, ExprId)]) {
        if asked.is_empty() {
            return;
        }
        let exprs: Vec<ExprId> = asked.iter().map(|(_, expr)| *expr).collect();
        let space = self.explore().filter(|space| space.exploration.stop.is_none());
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

    /// How large the state space is, and how many tokens there are.
    pub(super) fn state_space(&mut self, id: &str) {
        let Some(space) = self.explore().filter(|space| space.exploration.stop.is_none()) else {
            return self.cannot_compute(id);
        };
        let (mut in_place, mut in_marking) = (0, 0);
        let looked_at = space.for_each(&mut self.clock.budget(), |marking| {
            in_place = in_place.max(marking.iter().copied().max().unwrap_or(0));
            in_marking = in_marking.max(marking.iter().map(|&tokens| i128::from(tokens)).sum());
            Ok(())
        });
        if looked_at.is_err() {
            return self.cannot_compute(id);
        }
        let stats = &space.exploration.stats;
        let (states, transitions) = (stats.states, stats.transitions);
        let answer = ContestAnswer::Space { states, transitions, in_marking, in_place };
        (self.hears)(id, &answer, Technique::Explicit);
    }
}

/// Whether a marking without enabled transitions can be reached.
pub(super) fn deadlock(id: &str) -> Asked {
    Asked { id: id.to_owned(), aim: Aim::Deadlock, possible: true, simplified: None }
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
