//! Questions about markings: what is reachable, and what is not.

use check::reduced::Reduced;
use check::{Exact, Exploration, Goal, Stop, search};
use model::{ActionSystem, BinaryOp, ExprId, Run, StepError, System};
use petri::structural::{Keep, Preserve};
use replay::Claim;

use super::{Contest, EXPLICIT, REDUCED, ROUNDS, SIMPLIFIED};
use crate::markings;
use crate::simpler::{Simpler, make_room, widening};

/// A question about one goal.
pub(super) struct Asked {
    id: String,
    goal: Goal,
    /// Whether it is asked if the goal can be violated, rather than if it cannot.
    possible: bool,
    /// A net that has the same answer, with the goal there: once it was looked for, and if there is one.
    simpler: Option<Option<(Simpler, Goal)>>,
}

impl Asked {
    pub(super) fn new(system: &mut ActionSystem, id: String, expr: ExprId, possible: bool) -> Asked {
        let goal = markings::goal(system, &id, expr, possible);
        Asked { id, goal, possible, simpler: None }
    }

    /// Whether a marking without enabled transitions can be reached.
    fn deadlock() -> Asked {
        Asked { id: "ReachabilityDeadlock".to_owned(), goal: Goal::Deadlock, possible: true, simpler: None }
    }
}

/// How a goal is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    BreadthFirst,
    DepthFirst,
}

impl Contest<'_> {
    /// Decides each question by itself with reduction, within limits; then all together without it;
    /// then, with what is left, each by itself.
    pub(super) fn decide_markings(&mut self, mut asked: Vec<Asked>) {
        self.model.settle();
        let [few, more, all] = ROUNDS;
        for (max_states, share) in [(few, 0.1), (more, 0.2)] {
            self.decide_each(&mut asked, max_states, share, Order::BreadthFirst);
        }
        self.decide_together(&mut asked);
        self.decide_each(&mut asked, all, 1.0, Order::DepthFirst);
        asked.iter().for_each(|asked| self.cannot_compute(&asked.id));
    }

    /// Removes what could be answered, in a share of the time that is left.
    fn decide_each(&mut self, asked: &mut Vec<Asked>, max_states: u64, share: f64, order: Order) {
        let mut n_left = asked.len();
        for mut question in std::mem::take(asked) {
            let found = self.find(&mut question, max_states, share / n_left as f64, order);
            n_left -= 1;
            let techniques = if matches!(question.simpler, Some(Some(_))) { SIMPLIFIED } else { REDUCED };
            match found {
                Some(violated) => self.answer_truth(&question.id, violated == question.possible, techniques),
                None => asked.push(question),
            }
        }
    }

    /// Makes the net simpler for a question.
    fn simplify(&mut self, goal: Goal, share: f64) -> Option<(Simpler, Goal)> {
        let Contest { model, reducer, rules, limits, clock, .. } = self;
        let clock = clock.part(share);
        let mut budget = clock.budget(limits);
        let (keep, about) = match goal {
            Goal::Deadlock => (Keep::deadlocks(), Vec::new()),
            Goal::Invariant(number) => {
                let expr = model.system.propositions()[number].expr;
                let net = model.net().clone();
                (Keep::of(&net, &mut model.system.exprs, Preserve::Reachability, &[expr]), vec![expr])
            }
        };
        let (mut simpler, carried) = Simpler::new(model, reducer, &keep, &about, *rules, &mut budget)?;
        let goal = match carried.first() {
            None => Goal::Deadlock,
            Some(&expr) => Goal::Invariant(simpler.model.system.add_proposition("goal", expr)),
        };
        simpler.model.settle();
        Some((simpler, goal))
    }

    /// Whether the goal of a question can be violated, if that could be found out.
    fn find(&mut self, asked: &mut Asked, max_states: u64, share: f64, order: Order) -> Option<bool> {
        if asked.simpler.is_none() {
            asked.simpler = Some(self.simplify(asked.goal, share));
        }
        let Contest { model, limits, clock, .. } = self;
        let clock = clock.part(share);
        let (searched, goal) = match &mut asked.simpler {
            Some(Some((simpler, goal))) => (&mut simpler.model, *goal),
            _ => (&mut *model, asked.goal),
        };
        let explored = widening(searched, |system| {
            let reduced = match goal {
                Goal::Deadlock => Reduced::for_deadlocks(system),
                Goal::Invariant(number) => Reduced::for_invariant(system, number),
            };
            let mut budget = clock.budget(limits);
            budget.max_states = budget.max_states.min(max_states);
            let mut store = Exact::new(system.width(), budget.max_bytes);
            let explored = match order {
                Order::BreadthFirst => search::bfs::search(&reduced, &mut store, &[goal], &mut budget),
                Order::DepthFirst => search::dfs::search(&reduced, &mut store, &[goal], &mut budget),
            };
            let fault = fault(&explored);
            (explored, fault)
        });
        let Some(Some((simpler, _))) = &asked.simpler else {
            return truth(&model.system, &explored, goal, 0);
        };
        match &explored.violations[0] {
            Some(run) => {
                let run = simpler.original_run(run, goal == Goal::Deadlock)?;
                make_room(model, &run);
                shows(&model.system, &run, asked.goal).then_some(true)
            }
            None => (explored.stop.is_none() && explored.faults[0].is_none()).then_some(false),
        }
    }

    /// Decides in one exploration what is still open, and removes it.
    fn decide_together(&mut self, asked: &mut Vec<Asked>) {
        if asked.is_empty() {
            return;
        }
        let goals: Vec<Goal> = asked.iter().map(|asked| asked.goal).collect();
        let explored = self.explore(&goals, 0.6).0;
        for (number, question) in std::mem::take(asked).into_iter().enumerate() {
            match truth(&self.model.system, &explored, question.goal, number) {
                Some(violated) => self.answer_truth(&question.id, violated == question.possible, EXPLICIT),
                None => asked.push(question),
            }
        }
    }

    /// Explores without reduction, in a share of the time that is left.
    pub(super) fn explore(&mut self, goals: &[Goal], share: f64) -> (Exploration, Exact) {
        let Contest { model, limits, clock, .. } = self;
        let clock = clock.part(share);
        widening(model, |system| {
            let mut budget = clock.budget(limits);
            let mut store = Exact::new(system.width(), budget.max_bytes);
            let explored = search::bfs::search(system, &mut store, goals, &mut budget);
            let fault = fault(&explored);
            ((explored, store), fault)
        })
    }

    /// Whether a marking without enabled transitions can be reached.
    pub(super) fn deadlock(&mut self) {
        match self.finds_deadlock(1.0) {
            Some(truth) => self.answer_truth("ReachabilityDeadlock", truth, SIMPLIFIED),
            None => self.cannot_compute("ReachabilityDeadlock"),
        }
    }

    /// The same, if that can be found out in a share of the time that is left.
    pub(super) fn finds_deadlock(&mut self, share: f64) -> Option<bool> {
        let [few, _, all] = ROUNDS;
        let mut asked = Asked::deadlock();
        self.find(&mut asked, few, 0.2 * share, Order::BreadthFirst)
            .or_else(|| self.find(&mut asked, all, 0.5 * share, Order::DepthFirst))
            .or_else(|| self.find(&mut asked, all, share, Order::BreadthFirst))
    }

    /// Whether each of these is true in some marking; or whether one of these is true in every
    /// marking.
    pub(super) fn one_of_all(&mut self, id: &str, exprs: &[ExprId], possible: bool) {
        if let Some(all_violated) = self.each_of_all(exprs, possible) {
            return self.answer_truth(id, all_violated == possible, SIMPLIFIED);
        }
        let system = &mut self.model.system;
        let goals: Vec<Goal> = exprs.iter().map(|&expr| markings::goal(system, id, expr, possible)).collect();
        let (explored, _) = self.explore(&goals, 1.0);
        // No single run answers this, and to replay all of them may take longer than the search.
        let all_violated = match explored.stop {
            _ if explored.violations.iter().all(Option::is_some) => Some(true),
            None if explored.faults.iter().all(Option::is_none) => Some(false),
            _ => None,
        };
        match all_violated {
            Some(all_violated) => self.answer_truth(id, all_violated == possible, EXPLICIT),
            None => self.cannot_compute(id),
        }
    }

    /// Whether all these goals can be violated, if each of them can be decided by itself with little effort;
    /// or one is found that cannot be.
    fn each_of_all(&mut self, exprs: &[ExprId], possible: bool) -> Option<bool> {
        let [few, ..] = ROUNDS;
        let start = self.clock.remaining();
        let mut is_open = false;
        for (number, &expr) in exprs.iter().enumerate() {
            let initially = self.facts.initially(&self.model.system.exprs, expr).map(|value| value != 0);
            let always = self.facts.always(&self.model.system.exprs, expr);
            let known = match (always, initially) {
                (Some(truth), _) => Some(truth == possible),
                (None, Some(truth)) if truth == possible => Some(true),
                _ => None,
            };
            let found = known.or_else(|| {
                // A third of the time for all of them.
                let spent = match (start, self.clock.remaining()) {
                    (Some(start), Some(left)) => 1.0 - left.as_secs_f64() / start.as_secs_f64().max(1e-9),
                    _ => 0.0,
                };
                let n_left = (exprs.len() - number) as f64;
                let share = ((1.0 / 3.0 - spent) / n_left).max(0.0);
                let mut asked = Asked::new(&mut self.model.system, String::new(), expr, possible);
                (share > 0.0).then(|| self.find(&mut asked, few, share, Order::BreadthFirst)).flatten()
            });
            match found {
                Some(false) => return Some(false),
                Some(true) => {}
                None => is_open = true,
            }
        }
        (!is_open).then_some(true)
    }

    /// The greatest values: each by itself on a simpler net, within limits; then all together.
    pub(super) fn decide_maxima(&mut self, asked: Vec<(String, ExprId)>) {
        let mut open = Vec::new();
        let n_asked = asked.len();
        for (number, (id, expr)) in asked.into_iter().enumerate() {
            match self.maximum(expr, 0.6 / (n_asked - number) as f64) {
                Some(maximum) => self.answer(&id, maximum, SIMPLIFIED),
                None => open.push((id, expr)),
            }
        }
        self.decide_maxima_together(&open);
    }

    /// The greatest value of an expression: found as the greatest that there can be, or by exploring a
    /// simpler net.
    fn maximum(&mut self, expr: ExprId, share: f64) -> Option<i64> {
        let clock = self.clock.part(share);
        let whole = std::mem::replace(&mut self.clock, clock);
        let found = self.greatest_possible(expr).or_else(|| self.maximum_of_simpler(expr));
        self.clock = whole;
        found
    }

    /// Looks for a marking in which an expression has the greatest value that facts allow.
    fn greatest_possible(&mut self, expr: ExprId) -> Option<i64> {
        let bound = self.facts.upper_bound(&self.model.system.exprs, expr)?;
        let exprs = &mut self.model.system.exprs;
        let least = exprs.int(bound);
        let goal = exprs.binary(BinaryOp::Ge, expr, least);
        let mut asked = Asked::new(&mut self.model.system, String::new(), goal, true);
        let [few, ..] = ROUNDS;
        self.find(&mut asked, few, 0.4, Order::BreadthFirst)?.then_some(bound)
    }

    fn maximum_of_simpler(&mut self, expr: ExprId) -> Option<i64> {
        let Contest { model, reducer, rules, limits, clock, .. } = self;
        let mut budget = clock.budget(limits);
        let net = model.net().clone();
        let keep = Keep::of(&net, &mut model.system.exprs, Preserve::Reachability, &[expr]);
        let (mut simpler, carried) = Simpler::new(model, reducer, &keep, &[expr], *rules, &mut budget)?;
        let (explored, store) = widening(&mut simpler.model, |system| {
            let mut budget = clock.budget(limits);
            let mut store = Exact::new(system.width(), budget.max_bytes);
            let explored = search::bfs::search(system, &mut store, &[], &mut budget);
            let fault = fault(&explored);
            ((explored, store), fault)
        });
        if explored.stop.is_some() {
            return None;
        }
        let mut budget = clock.budget(limits);
        let maxima = markings::maxima(&simpler.model.system, &store, &carried, &mut budget).ok()?;
        maxima.first().copied()
    }

    /// The greatest values, in one exploration.
    fn decide_maxima_together(&mut self, asked: &[(String, ExprId)]) {
        if asked.is_empty() {
            return;
        }
        let (explored, store) = self.explore(&[], 1.0);
        let exprs: Vec<ExprId> = asked.iter().map(|(_, expr)| *expr).collect();
        let mut budget = self.clock.budget(&self.limits);
        let maxima = match explored.stop {
            None => markings::maxima(&self.model.system, &store, &exprs, &mut budget).ok(),
            Some(_) => None,
        };
        for (number, (id, _)) in asked.iter().enumerate() {
            match &maxima {
                Some(maxima) => self.answer(id, maxima[number], EXPLICIT),
                None => self.cannot_compute(id),
            }
        }
    }

    /// How large the state space is, and how many tokens there are.
    pub(super) fn state_space(&mut self) {
        let (explored, store) = self.explore(&[], 1.0);
        let (mut in_place, mut in_marking) = (0, 0);
        let mut budget = self.clock.budget(&self.limits);
        let looked_at = markings::for_each(&self.model.system, &store, &mut budget, |marking| {
            in_place = in_place.max(marking.iter().copied().max().unwrap_or(0));
            in_marking = in_marking.max(marking.iter().map(|&tokens| i128::from(tokens)).sum());
            Ok(())
        });
        if explored.stop.is_some() || looked_at.is_err() {
            self.all_answered = false;
            return self.say("CANNOT_COMPUTE");
        }
        let figures = [
            ("STATES", i128::from(explored.stats.states)),
            ("TRANSITIONS", i128::from(explored.stats.transitions)),
            ("MAX_TOKEN_PER_MARKING", in_marking),
            ("MAX_TOKEN_IN_PLACE", i128::from(in_place)),
        ];
        for (what, figure) in figures {
            self.say(&format!("STATE_SPACE {what} {figure} TECHNIQUES {EXPLICIT}"));
        }
    }
}

/// How an exploration went wrong, if it did.
fn fault(explored: &Exploration) -> Option<StepError> {
    match &explored.stop {
        Some(Stop::Fault(error, _)) => Some(*error),
        _ => None,
    }
}

/// Whether a goal can be violated, if that was found out, and stands up to replay.
fn truth(system: &ActionSystem, explored: &Exploration, goal: Goal, number: usize) -> Option<bool> {
    match (&explored.violations[number], &explored.faults[number], &explored.stop) {
        (Some(run), _, _) => shows(system, run, goal).then_some(true),
        (None, None, None) => Some(false),
        _ => None,
    }
}

/// Whether a run stands up to replay.
fn shows(system: &ActionSystem, run: &Run, goal: Goal) -> bool {
    let claim = match goal {
        Goal::Deadlock => Claim::Deadlock,
        Goal::Invariant(number) => Claim::Violates(system.propositions()[number].expr),
    };
    replay::judge(system, run, claim).is_ok()
}
