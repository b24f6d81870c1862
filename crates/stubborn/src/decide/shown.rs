//! How a formula or a claim is answered by what a search found: evidence is judged, and shown.

use check::decide::Decision;
use check::product::AtDeadlock;
use check::search::{Evidence, ProductStop, Violation};
use ltl::{Prop, Valuation};
use model::{ExprId, Run, System as _, reference};
use replay::{Ending, Question};
use report::outcome::{Counterexample, FairTo, Kind, Target};
use report::remark::End;
use report::{Remark, Trace};

use super::deciding::Deciding;
use super::watched::Watched;
use crate::answer::{Answer, judge};

impl Deciding<'_> {
    /// A violation is reported only if the judge of evidence agrees.
    pub(super) fn judge(&self, decision: &Decision) -> Answer {
        let outcome = &decision.outcome;
        match &outcome.stop {
            None => match outcome.coverage {
                Some(coverage) => Answer::unknown(Remark::NoneFound(coverage)),
                None => Answer::holds(None),
            },
            Some(ProductStop::Limit(limit)) => Answer::limit(*limit),
            Some(ProductStop::NoRun) => Answer::lost(),
            Some(ProductStop::Fault(error, run)) => Answer::faulty(self.view, error, run, self.clock),
            Some(ProductStop::Found(evidence)) => self.show(evidence).unwrap_or_else(Answer::unknown),
        }
    }

    /// What a run is said to show: by the formula's own semantics, or by the automaton as it was written.
    fn claimed(&self) -> Option<Question<'_>> {
        let Watched { formula, propositions, claim, .. } = &*self.watched;
        match *formula {
            Some(formula) => Some(Question::Formula { formulas: self.formulas, formula, propositions }),
            None => claim.written().map(|automaton| Question::Claim { automaton, propositions }),
        }
    }

    /// The beginning of a run that is enough: after it, the automaton accepts whatever follows.
    pub(super) fn bad_prefix(&self, run: &Run) -> Option<Run> {
        let tgba = self.watched.claim.tgba();
        let is_enough = |&state: &automata::State| tgba.accepts_everything(state);
        if !tgba.states().any(|state| is_enough(&state)) {
            return None;
        }
        let system = &*self.view.system;
        let (mut state, mut scratch) = (system.initial().nth(run.initial)?.to_vec(), system.new_scratch());
        let mut here = vec![tgba.initial()];
        let clock = self.clock.with_grace();
        let mut budget = clock.budget();
        for n_steps in 0..=run.actions.len() {
            budget.tick().ok()?;
            let values = system.layout().decode(&state);
            let mut letter = Valuation::new();
            for &(prop, expr) in &self.watched.propositions {
                letter.set(prop, reference::value(system, expr, &values).ok()? != 0);
            }
            let reads = |edge: &&automata::Edge| tgba.labels().holds(edge.label, &letter);
            let edges = here.iter().flat_map(|&from| tgba.edges(from)).filter(reads);
            here = edges.map(|edge| edge.target).collect();
            here.sort_unstable();
            here.dedup();
            if here.iter().any(is_enough) {
                return Some(Run { initial: run.initial, actions: run.actions[..n_steps].to_vec() });
            }
            system.fire(&mut state, *run.actions.get(n_steps)?, &mut scratch).ok()?;
        }
        None
    }

    /// A run with a cycle, if it can be continued to one soon.
    pub(super) fn to_lasso(&self, run: &Run) -> Option<(Run, usize)> {
        let clock = self.clock.with_grace();
        check::walk::to_lasso(&*self.view.system, run, &mut clock.budget()).unwrap_or_else(|error| {
            self.fault.set(Some(error));
            None
        })
    }

    /// Judges evidence, and shows it.
    pub(super) fn show(&self, evidence: &Evidence) -> Result<Answer, Remark> {
        let Evidence { violation, run, cycle_start, .. } = evidence;
        let deadlock_is_error = self.options.at_deadlock == AtDeadlock::Error;
        let mut question = self.claimed().ok_or_else(|| Remark::Internal("nothing is claimed".to_owned()))?;
        let is_fair = !self.constraints.is_empty();
        let bad_prefix = match violation {
            Violation::AtOnce | Violation::Livelock | Violation::Cycle if !is_fair => self.bad_prefix(run),
            _ => None,
        };
        let (run, ending) = match (violation, cycle_start) {
            _ if bad_prefix.is_some() => (bad_prefix.unwrap_or_default(), Ending::Open),
            (Violation::AtOnce, _) => match self.to_lasso(run) {
                Some((run, start)) => (run, Ending::Cycle(start)),
                // It goes on for very long, maybe without ever coming back: in an unbounded net.
                None => (run.clone(), Ending::Open),
            },
            (_, Some(start)) => (run.clone(), Ending::Cycle(*start)),
            (Violation::Cycle | Violation::Livelock, None) => {
                return Err(Remark::Internal("an infinite run without a cycle".to_owned()));
            }
            (Violation::Deadlock, None) => {
                if deadlock_is_error || !self.watched.claim.owns_deadlocks() {
                    question = Question::Deadlock;
                }
                (run.clone(), Ending::Deadlock)
            }
        };
        let fair = &self.constraints.named;
        let claimed = replay::Evidence { fair_to: fair, ..replay::Evidence::new(&run, ending) };
        let judged = judge(self.view, &question, &claimed, self.clock)?;
        let (kind, target, end) = match ending {
            Ending::Cycle(_) => (Kind::Lasso, Target::Deadlock, None),
            Ending::Open => (Kind::Prefix, Target::Violation, Some(End::WhateverFollows)),
            Ending::Deadlock if deadlock_is_error => (Kind::Deadlock, Target::Deadlock, Some(End::Deadlock)),
            Ending::Deadlock => (Kind::Deadlock, Target::Deadlock, Some(End::Accepted)),
        };
        let text = |&(prop, expr): &(Prop, ExprId)| (self.formulas.text(prop).to_owned(), expr);
        let propositions = self.watched.propositions.iter().map(text).collect();
        let mut observer_states = evidence.observer_states.clone();
        observer_states.truncate(run.actions.len() + 1);
        let trace = Trace::new(self.view.clone(), judged.replayed)
            .with_propositions(propositions)
            .with_observer(observer_states, Vec::new());
        let cycle_start = match ending {
            Ending::Cycle(start) => Some(start),
            Ending::Open | Ending::Deadlock => None,
        };
        let fairness = FairTo::each(fair, &judged.fairness);
        let found = Counterexample { cycle_start, fairness, ..Counterexample::finite(kind, target, trace) };
        Ok(Answer::shown(found, end.map(Remark::Ends)))
    }
}
