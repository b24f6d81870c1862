//! Questions about markings: what is reachable, and what is not.

use std::ops::ControlFlow;

use check::search::bfs::Reached;
use check::{Exact, Exploration, Goal, parallel, search};
use language::{Argument, Extent, Known, Model, PropertyKind, Purpose, View};
use model::{ActionSystem, ExprId, System as _};
use replay::{Ending, Evidence};

use super::diagrams::Effort;
use super::{Contest, ContestAnswer, Open, ROUNDS, Solver, Technique};
use crate::across::Begun;
use crate::clock::Clock;
use crate::decide::maxima::{self, Space};
use crate::decide::states::{Aim, Lead, Simplified, fault, find};
use crate::error::Trouble;
use crate::options::Order;
use crate::session::{Attempt, refining};

/// So many markings are listed before anything else is tried.
const LISTED_AT_ONCE: u64 = 100_000;

/// A question about one aim.
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) aim: Aim,
    /// Whether it is asked if the aim can be reached, rather than if it cannot.
    pub(super) possible: bool,
    /// What is asked.
    pub(super) kind: PropertyKind,
    /// The same in a simpler net: once it was looked for, and if there is one.
    simplified: Option<Option<Simplified>>,
    pub(super) is_answered: bool,
}

impl Asked {
    pub(super) fn new(system: &mut ActionSystem, id: String, kind: &PropertyKind) -> Option<Asked> {
        let (aim, possible) = Aim::of(kind, system)?;
        Some(Asked { id, aim, possible, kind: kind.clone(), simplified: None, is_answered: false })
    }

    /// What shows that the aim cannot be reached, if what is known of the simpler net does.
    fn is_impossible(&mut self, clock: &Clock<'_>) -> Option<Argument> {
        let simplified = self.simplified.as_mut().and_then(Option::as_mut);
        simplified.and_then(|simplified| simplified.is_impossible(clock))
    }

    pub(super) fn technique(&self) -> Technique {
        match self.simplified {
            Some(Some(_)) => Technique::Simplified,
            _ => Technique::Reduced,
        }
    }
}

impl Contest<'_> {
    /// Walks about, looks at what is known, and decides each question by itself with reduction, within limits: led by a distance, then
    /// by solutions of the state equation, then breadth first; then all together, by a diagram, or without reduction; then, with what is
    /// left, each by itself.
    pub(super) fn decide_markings(&mut self, mut asked: Vec<Asked>) {
        let [few, more, all] = ROUNDS;
        self.stroll(&mut asked);
        self.tell_known(&mut asked);
        self.decide_each(&mut asked, few, 0.1, Lead::Distance);
        self.refute_each(&mut asked);
        self.stroll_to_each(&mut asked);
        self.decide_by_diagram(&mut asked, Effort::Little);
        self.decide_each(&mut asked, more, 0.2, Lead::Order(Order::Bfs));
        self.decide_each(&mut asked, more, 0.1, Lead::Distance);
        self.decide_by_diagram(&mut asked, Effort::Share(0.3));
        self.decide_together(&mut asked);
        self.decide_each(&mut asked, all, 1.0, Lead::Order(Order::Dfs));
        asked.iter().for_each(|asked| self.cannot_compute(&asked.id));
    }

    /// Removes what cannot be reached by what is known of the simpler net, in a tenth of the time that is left.
    fn refute_each(&mut self, asked: &mut Vec<Asked>) {
        let mut n_left = asked.len();
        for mut question in std::mem::take(asked) {
            let clock = self.clock.part(0.1 / n_left as f64);
            n_left -= 1;
            match question.is_impossible(&clock) {
                Some(by) => self.truth(&question.id, !question.possible, Technique::Facts(by)),
                None => asked.push(question),
            }
        }
    }

    /// Removes what could be answered, in a share of the time that is left.
    fn decide_each(&mut self, asked: &mut Vec<Asked>, max_states: u64, share: f64, lead: Lead) {
        let (across, model, parts, hears) = self.lanes();
        let run = |model: &mut Box<dyn Model>, asked: &mut Asked, begun: &Begun<'_, '_>| {
            Solver { model, parts }.find(asked, lead, &begun.part(share).at_most(max_states))
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
    pub(super) fn find(&mut self, asked: &mut Asked, lead: Lead, clock: &Clock<'_>) -> Result<bool, Open> {
        let options = self.parts.options.clone();
        let aim = asked.aim;
        let simplified =
            asked.simplified.get_or_insert_with(|| Simplified::new(&mut **self.model, aim, &options, clock));
        let (explored, purpose) = match simplified {
            Some(simplified) => (simplified.find_by(lead, &options, clock)?.0, Purpose::Replay),
            None => {
                let explored = refining(self.model, clock, |model| {
                    let goal = aim.goal("", model.parts().0);
                    let view = model.view(Purpose::Runs, &mut clock.budget())?;
                    let (explored, _) = find(&view.system, goal, lead, &options, clock)?;
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

    /// Whether it is known without a search that the aim of a question about markings can be reached; and what shows it.
    fn known(&mut self, kind: &PropertyKind, clock: &Clock<'_>) -> Option<(bool, Argument)> {
        let facts = self.parts.facts?;
        let (system, formulas) = self.model.parts();
        let known = facts.answer(&system.exprs, formulas, kind, &mut clock.budget()).ok()??;
        let is_possible = matches!(kind, PropertyKind::Possible(_));
        Some(((known.answer == Known::Truth(true)) == is_possible, known.by))
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
    pub(super) fn explore_all(&mut self) -> Option<Space> {
        let clock = self.clock.clone();
        refining(self.model, &clock, |model| maxima::explore(&mut **model, &clock)).ok()
    }

    /// Whether a marking without enabled transitions can be reached, which is what this question asks.
    pub(super) fn deadlock(&mut self, id: &str, question: Option<&PropertyKind>) {
        if self.stroll_to(&[Aim::Deadlock])[0] {
            return self.truth(id, true, Technique::Walk);
        }
        if let Some(by) = self.shows_no_deadlock() {
            return self.truth(id, false, Technique::Facts(by));
        }
        if question.is_some_and(|kind| self.tell_if_known(id, kind)) {
            return;
        }
        let mut asked = deadlock(id);
        match self.finds_deadlock(&mut asked, 1.0) {
            Some((truth, technique)) => self.truth(id, truth, technique),
            None => self.cannot_compute(id),
        }
    }

    /// What shows that there is no deadlock, if siphons do.
    fn shows_no_deadlock(&mut self) -> Option<Argument> {
        let (system, formulas) = self.model.parts();
        let clock = self.clock.part(0.1);
        let (facts, kind) = (self.facts.as_deref()?, PropertyKind::DeadlockFree);
        let known = facts.answer(&system.exprs, formulas, &kind, &mut clock.budget());
        known.ok().flatten().map(|decided| decided.by)
    }

    /// The same, if that can be found out in a share of the time that is left.
    pub(super) fn finds_deadlock(&mut self, asked: &mut Asked, share: f64) -> Option<(bool, Technique)> {
        let [few, _, all] = ROUNDS;
        let [bfs, dfs] = [Order::Bfs, Order::Dfs].map(Lead::Order);
        let rounds = [(few, 0.2, Lead::Distance), (all, 0.5, dfs), (all, 1.0, bfs)];
        rounds.into_iter().enumerate().find_map(|(round, (max_states, part, lead))| {
            if round == 1
                && let Some(by) = asked.is_impossible(&self.clock.part(0.1 * share))
            {
                return Some((false, Technique::Facts(by)));
            }
            let clock = self.clock.part(part * share).at_most(max_states);
            let found = self.solver().find(asked, lead, &clock).ok();
            let found = found.map(|found| (found, asked.technique()));
            found.or_else(|| {
                let effort = match round {
                    0 => Effort::Little,
                    1 => Effort::Share(0.5 * share),
                    _ => return None,
                };
                Some((self.deadlock_by_diagram(effort)?, Technique::Diagram))
            })
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
        // Most of them are met on a walk.
        let aims: Vec<Aim> = asked.iter().map(|asked| asked.aim).collect();
        let mut is_open = self.stroll_to(&aims).into_iter().map(|is_found| !is_found);
        asked.retain(|_| is_open.next().unwrap_or(true));
        if asked.is_empty() {
            return self.truth(id, possible, Technique::Walk);
        }
        if let Some((all_found, technique)) = self.each_of_all(&mut asked) {
            return self.truth(id, all_found == possible, technique);
        }
        let aims: Vec<Aim> = asked.iter().map(|asked| asked.aim).collect();
        if let Some(all_found) = self.all_by_diagram(&aims, Effort::Share(0.4)) {
            return self.truth(id, all_found == possible, Technique::Diagram);
        }
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
    fn each_of_all(&mut self, asked: &mut [Asked]) -> Option<(bool, Technique)> {
        let [few, ..] = ROUNDS;
        let whole = self.clock.part(1.0 / 3.0);
        let (mut is_open, mut technique) = (false, Technique::Reduced);
        let n_asked = asked.len();
        for (number, asked) in asked.iter_mut().enumerate() {
            let mut solver = self.solver();
            let known = solver.known(&asked.kind, &whole);
            let found = known.map(|(found, _)| found).or_else(|| {
                let clock = whole.part(1.0 / (n_asked - number) as f64).at_most(few);
                (!clock.is_over()).then(|| solver.find(asked, Lead::Distance, &clock).ok()).flatten()
            });
            if let Some((_, by)) = known {
                technique = Technique::Facts(by);
            }
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

    /// How large the state space is, and how many tokens there are: listed if there are few, counted without if that is
    /// possible, or else listed after all.
    pub(super) fn state_space(&mut self, id: &str) {
        let whole = self.clock.clone();
        self.clock = whole.part(0.2).at_most(LISTED_AT_ONCE);
        let is_listed = self.list_space(id);
        self.clock = whole;
        if is_listed {
            return;
        }
        match self.extent_by_diagram(Effort::Share(0.5)) {
            Some(Extent { states, transitions, most_together, most }) => {
                let answer =
                    ContestAnswer::Space { states, transitions, in_marking: most_together, in_place: most };
                (self.hears)(id, &answer, Technique::Diagram);
            }
            None if self.list_space(id) => {}
            None => self.cannot_compute(id),
        }
    }

    /// The same by a list of all markings, if that can be made.
    fn list_space(&mut self, id: &str) -> bool {
        let Some(space) = self.explore_all().filter(|space| space.exploration.stop.is_none()) else {
            return false;
        };
        let collected = space.collect(&self.clock.budget(), <(i64, i128)>::default, |most, marking| {
            most.0 = most.0.max(marking.iter().copied().max().unwrap_or(0));
            most.1 = most.1.max(marking.iter().map(|&tokens| i128::from(tokens)).sum());
            Ok(())
        });
        let Ok(collected) = collected else { return false };
        let in_place = collected.iter().map(|most| most.0).max().unwrap_or(0);
        let in_marking = collected.iter().map(|most| most.1).max().unwrap_or(0);
        let stats = &space.exploration.stats;
        let (states, transitions) = (stats.states.into(), stats.transitions.into());
        let answer = ContestAnswer::Space { states, transitions, in_marking, in_place };
        (self.hears)(id, &answer, Technique::Explicit);
        true
    }
}

/// Whether a marking without enabled transitions can be reached.
pub(super) fn deadlock(id: &str) -> Asked {
    let (aim, kind) = (Aim::Deadlock, PropertyKind::DeadlockFree);
    Asked { id: id.to_owned(), aim, possible: true, kind, simplified: None, is_answered: false }
}

/// Whether an aim can be reached, if that was found out, and stands up to replay.
pub(super) fn truth(
    view: &View,
    explored: &Exploration,
    aim: Aim,
    number: usize,
    clock: &Clock<'_>,
) -> Option<bool> {
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
