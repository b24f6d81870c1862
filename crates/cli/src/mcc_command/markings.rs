//! Questions about markings: what is reachable, and what is not.

use check::reduced::Reduced;
use check::{Exact, Exploration, Goal, Stop, search};
use model::{ActionSystem, ExprId, Run, StepError, System};
use replay::Claim;

use super::{Contest, EXPLICIT, REDUCED, ROUNDS, widening};
use crate::markings;

/// A question about one goal.
pub(super) struct Asked {
    id: String,
    goal: Goal,
    /// Whether it is asked if the goal can be violated, rather than if it cannot.
    possible: bool,
}

impl Asked {
    pub(super) fn new(system: &mut ActionSystem, id: String, expr: ExprId, possible: bool) -> Asked {
        let goal = markings::goal(system, &id, expr, possible);
        Asked { id, goal, possible }
    }
}

/// How a goal is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    BreadthFirst,
    DepthFirst,
}

impl Contest {
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
        for question in std::mem::take(asked) {
            let found = self.find(question.goal, max_states, share / n_left as f64, order);
            n_left -= 1;
            match found {
                Some(violated) => self.answer_truth(&question.id, violated == question.possible, REDUCED),
                None => asked.push(question),
            }
        }
    }

    /// Whether a goal can be violated, if that could be found out.
    fn find(&mut self, goal: Goal, max_states: u64, share: f64, order: Order) -> Option<bool> {
        let Contest { model, limits, clock, .. } = self;
        let mut clock = clock.part(share);
        let explored = widening(model, |system| {
            let reduced = match goal {
                Goal::Deadlock => Reduced::for_deadlocks(system),
                Goal::Invariant(number) => Reduced::for_invariant(system, number),
            };
            let mut budget = clock.budget(limits);
            budget.max_states = budget.max_states.min(max_states);
            let mut store = Exact::new(reduced.width(), budget.max_bytes);
            let explored = match order {
                Order::BreadthFirst => search::bfs::search(&reduced, &mut store, &[goal], &mut budget),
                Order::DepthFirst => search::dfs::search(&reduced, &mut store, &[goal], &mut budget),
            };
            let fault = fault(&explored);
            (explored, fault)
        });
        truth(&model.system, &explored, goal, 0)
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
        let mut clock = clock.part(share);
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
        let [few, _, all] = ROUNDS;
        let found = self
            .find(Goal::Deadlock, few, 0.2, Order::BreadthFirst)
            .or_else(|| self.find(Goal::Deadlock, all, 0.5, Order::DepthFirst))
            .or_else(|| self.find(Goal::Deadlock, all, 1.0, Order::BreadthFirst));
        match found {
            Some(truth) => self.answer_truth("ReachabilityDeadlock", truth, REDUCED),
            None => self.cannot_compute("ReachabilityDeadlock"),
        }
    }

    /// Whether each of these is true in some marking; or whether one of these is true in every
    /// marking.
    pub(super) fn one_of_all(&mut self, id: &str, exprs: &[ExprId], possible: bool) {
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

    /// The greatest values, in one exploration.
    pub(super) fn decide_maxima(&mut self, asked: &[(String, ExprId)]) {
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
    let accepts = |run: &Run| {
        let claim = match goal {
            Goal::Deadlock => Claim::Deadlock,
            Goal::Invariant(number) => Claim::Violates(system.propositions()[number].expr),
        };
        replay::judge(system, run, claim).is_ok()
    };
    match (&explored.violations[number], &explored.faults[number], &explored.stop) {
        (Some(run), _, _) => accepts(run).then_some(true),
        (None, None, None) => Some(false),
        _ => None,
    }
}
