//! Formulas that say what is always true: states decide them, where they can, and a run to a state is all there is to show.

use check::decide::Decision;
use check::method::StoreKind;
use check::product::AtDeadlock;
use check::reduced::Reduced;
use check::search::{Evidence, ProductOutcome, ProductStop, Violation};
use check::{Exploration, Goal, Stop, parallel};
use ltl::Node;
use model::Run;

use super::deciding::Deciding;
use super::runs::sees_no_difference;
use super::shorten::{LONG, shorten};
use super::states::explore_part;
use crate::error::Trouble;

impl Deciding<'_> {
    /// What a formula says to be always true, if that is all it says.
    fn invariant(&self) -> Option<Goal> {
        let invariant = self.watched.formula.and_then(|formula| match self.formulas.node(formula) {
            Node::Globally(inside) => match self.formulas.node(inside) {
                Node::Prop(prop) => Some(prop),
                _ => None,
            },
            _ => None,
        });
        let [(prop, number)] = *self.watched.claim.propositions() else { return None };
        (self.watched.simplified.is_none() && invariant == Some(prop)).then_some(Goal::Invariant(number))
    }

    /// The same if states tell whether it is true.
    pub(super) fn goal(&self) -> Option<Goal> {
        let is_plain = self.options.store == StoreKind::Exact
            && sees_no_difference(self.watched, self.constraints, self.options);
        self.invariant().filter(|_| is_plain)
    }

    /// Of a formula that says what is always true: looks for a state where it is not. Nothing if it is another formula, or the
    /// states may not tell.
    pub(super) fn search_states(&self) -> Result<Option<Decision>, Trouble> {
        let Some(goal) = self.goal() else { return Ok(None) };
        let (system, mut budget) = (self.searched.system(), self.clock.budget());
        let reduced = Reduced::for_safety(system, &[goal], &mut budget);
        let (found, _) = explore_part(Some(reduced), system, &[goal], false, self.options, &mut budget)?;
        let found = self.searched.exploration(found, self.clock);
        let (stats, coverage) = (found.stats, found.coverage);
        let outcome =
            ProductOutcome { stats, system_states: Some(stats.states), stop: stop_of(found), coverage };
        Ok(Some(Decision { outcome, observer_states: 0, valuations: vec![vec![true]], on_device: None }))
    }

    /// The same if it was found to be false, and a shortest run to a state that shows it was asked for: a shortest run with a
    /// cycle need not begin with one.
    pub(super) fn shortest_goal(&self, decision: &Decision) -> Option<Goal> {
        let is_plain = self.constraints.is_empty() && self.at_deadlock() == AtDeadlock::Stutter;
        let goal = self.invariant().filter(|_| self.options.shortest && is_plain)?;
        self.bad_prefix(&decision.outcome.evidence()?.run).map(|_| goal)
    }

    /// With a shortest run, or with a shorter one if that takes too long.
    pub(super) fn shortest_to(&self, goal: Goal, decision: Decision) -> Decision {
        let mut decision = self.shorten_to(goal, decision);
        let explored = parallel::bfs(&*self.view.system, &[goal], &mut self.clock.budget());
        if let Some(run) = explored.violations.into_iter().flatten().next() {
            decision.outcome.stop = Some(ProductStop::Found(at_once(run)));
        }
        decision
    }

    /// With a shorter run to a state where something is not true that should always be, if there is one.
    pub(super) fn shorten_to(&self, goal: Goal, mut decision: Decision) -> Decision {
        let (violation, stop) = match &decision.outcome.stop {
            Some(ProductStop::Found(evidence)) => match self.bad_prefix(&evidence.run) {
                // Where an observer has something to say about a short run, that is kept.
                Some(run) if evidence.observer_states.is_empty() || run.actions.len() > LONG => {
                    (Some(run), None)
                }
                _ => return decision,
            },
            Some(ProductStop::Fault(error, run)) => (None, Some(Stop::Fault(*error, run.clone()))),
            _ => return decision,
        };
        let (stats, taken) = (decision.outcome.stats, Vec::new());
        let mut found = Exploration {
            stats,
            violations: vec![violation],
            faults: vec![None],
            stop,
            coverage: None,
            taken,
        };
        shorten(&self.view.system, &[goal], &mut found, self.options, self.clock);
        decision.outcome.stop = stop_of(found);
        decision
    }
}

/// How a search of states for one goal ended.
fn stop_of(found: Exploration) -> Option<ProductStop> {
    match (found.violations.into_iter().next().flatten(), found.stop) {
        (Some(run), _) => Some(ProductStop::Found(at_once(run))),
        (None, Some(Stop::Fault(error, run))) => Some(ProductStop::Fault(error, run)),
        (None, Some(Stop::Limit(limit))) => Some(ProductStop::Limit(limit)),
        (None, None | Some(Stop::AllViolated)) => {
            let fault = found.faults.into_iter().next().flatten();
            fault.map(|(error, run)| ProductStop::Fault(error, run))
        }
    }
}

/// Evidence of a run after which it does not matter what follows.
fn at_once(run: Run) -> Evidence {
    let (violation, cycle_start, observer_states) = (Violation::AtOnce, None, Vec::new());
    Evidence { violation, run, cycle_start, observer_states }
}
