//! Formulas of linear temporal logic.

use check::choice::Wish;
use check::decide::Settings;
use check::product::AtDeadlock;
use check::search::{Evidence, ProductStop};
use ltl::{Formula, Lasso, Prop};
use model::{ExprId, Run};

use super::{Contest, EXPLICIT, REDUCED, ROUNDS, widening};
use crate::property::{FormulaTask, formula_task};

/// A question about all runs.
pub(super) struct Asked {
    id: String,
    formula: Formula,
    propositions: Vec<(Prop, ExprId)>,
    /// With its automaton, once there is one.
    task: Option<FormulaTask>,
}

impl Asked {
    pub(super) fn new(id: String, formula: Formula, propositions: Vec<(Prop, ExprId)>) -> Asked {
        Asked { id, formula, propositions, task: None }
    }
}

impl Contest {
    /// Decides the formulas one after another, in rounds: the easy ones first.
    pub(super) fn decide_runs(&mut self, mut asked: Vec<Asked>) {
        for (round, max_states) in ROUNDS.into_iter().enumerate() {
            let rest = (ROUNDS.len() - round) as f64;
            let mut n_left = asked.len();
            for mut question in std::mem::take(&mut asked) {
                let share = 1.0 / (rest * n_left as f64);
                n_left -= 1;
                match self.holds(&mut question, max_states, share) {
                    Some((truth, techniques)) => self.answer_truth(&question.id, truth, techniques),
                    None => asked.push(question),
                }
            }
        }
        asked.iter().for_each(|asked| self.cannot_compute(&asked.id));
    }

    /// Whether all runs satisfy a formula, if that could be found out; and how.
    fn holds(&mut self, asked: &mut Asked, max_states: u64, share: f64) -> Option<(bool, &'static str)> {
        let Contest { model, limits, clock, .. } = self;
        let mut clock = clock.part(share);
        if asked.task.is_none() {
            let (system, formulas) = (&mut model.system, &mut model.formulas);
            let Asked { formula, propositions, .. } = &*asked;
            asked.task = formula_task(system, formulas, *formula, propositions, limits, &mut clock).ok();
            model.settle();
        }
        let task = asked.task.as_mut()?;
        let method = task.choose(Wish::default()).ok()?.method;
        let settings = Settings { at_deadlock: AtDeadlock::Stutter, ..Settings::default() };
        let decision = widening(model, |system| {
            let mut budget = clock.budget(limits);
            budget.max_states = budget.max_states.min(max_states);
            let decision = task.claim.search(system, method, &settings, &mut budget).ok();
            let fault = match decision.as_ref().and_then(|decision| decision.outcome.stop.as_ref()) {
                Some(ProductStop::Fault(error, _)) => Some(*error),
                _ => None,
            };
            (decision, fault)
        });
        let techniques = if method.reduction.is_some() { REDUCED } else { EXPLICIT };
        match decision?.outcome.stop {
            None => Some((true, techniques)),
            Some(ProductStop::Found(evidence)) => {
                self.accepts(asked, &evidence).then_some((false, techniques))
            }
            Some(_) => None,
        }
    }

    /// Whether a run that was found stands up to replay.
    fn accepts(&mut self, asked: &Asked, evidence: &Evidence) -> bool {
        let Asked { formula, propositions, .. } = asked;
        let formulas = &self.model.formulas;
        let Some((run, cycle_start)) = self.lasso(evidence) else {
            // All continuations violate the formula, and each of them goes on for very long.
            let is_bad = |word: &Lasso| !ltl::satisfies(formulas, *formula, word);
            return replay::judge_prefix(&self.model.system, propositions, &evidence.run, is_bad).is_ok();
        };
        let question = replay::formula::Question { formulas, formula: *formula, propositions };
        replay::judge_formula(&self.model.system, &question, &run, cycle_start).is_ok()
    }

    /// The run with its cycle, which it may have to be continued to.
    fn lasso(&self, evidence: &Evidence) -> Option<(Run, usize)> {
        match evidence.cycle_start {
            Some(cycle_start) => Some((evidence.run.clone(), cycle_start)),
            None => check::walk::to_lasso(&self.model.system, &evidence.run),
        }
    }
}
