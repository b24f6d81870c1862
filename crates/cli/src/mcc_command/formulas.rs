//! Formulas of linear temporal logic.

use check::choice::Wish;
use check::decide::Settings;
use check::product::AtDeadlock;
use check::search::{Evidence, ProductStop};
use ltl::Lasso;
use model::Run;
use petri::mcc::Ltl;
use petri::structural::{Keep, Preserve};

use super::{Contest, EXPLICIT, REDUCED, ROUNDS, SIMPLIFIED};
use crate::property::{FormulaTask, formula_task};
use crate::simpler::{Simpler, make_room, widening};

/// A question about all runs.
pub(super) struct Asked {
    id: String,
    /// As it was written.
    written: Ltl,
    /// Without propositions that never change.
    simple: Ltl,
    /// A net that has the same answer, if there is a simpler one.
    simpler: Option<Simpler>,
    /// With its automaton, once there is one; about the simpler net, if there is one.
    task: Option<FormulaTask>,
}

impl Asked {
    pub(super) fn new(id: String, written: Ltl, simple: Ltl) -> Asked {
        Asked { id, written, simple, simpler: None, task: None }
    }
}

impl Contest<'_> {
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

    /// Makes the automaton of a formula, and the net simpler if the formula does not see it.
    fn prepare(&mut self, asked: &mut Asked, share: f64) {
        let Contest { model, reducer, rules, limits, clock, .. } = self;
        let mut clock = clock.part(share);
        let Ltl { formula, propositions } = &asked.simple;
        let mut carried = propositions.clone();
        if model.formulas.classes(*formula).is_next_free() {
            let exprs: Vec<_> = propositions.iter().map(|(_, expr)| *expr).collect();
            let net = model.net().clone();
            let keep = Keep::of(&net, &mut model.system.exprs, Preserve::Stuttering, &exprs);
            let mut budget = clock.budget(limits);
            if let Some((simpler, exprs)) = Simpler::new(model, reducer, &keep, &exprs, *rules, &mut budget) {
                carried.iter_mut().zip(exprs).for_each(|((_, expr), new)| *expr = new);
                asked.simpler = Some(simpler);
            }
        }
        let (system, formulas) = match &mut asked.simpler {
            Some(simpler) => (&mut simpler.model.system, &mut model.formulas),
            None => (&mut model.system, &mut model.formulas),
        };
        asked.task = formula_task(system, formulas, *formula, &carried, limits, &mut clock).ok();
    }

    /// Whether all runs satisfy a formula, if that could be found out; and how.
    fn holds(&mut self, asked: &mut Asked, max_states: u64, share: f64) -> Option<(bool, &'static str)> {
        if asked.task.is_none() {
            self.prepare(asked, share);
        }
        let clock = self.clock.part(share);
        let Contest { model, limits, .. } = self;
        let task = asked.task.as_mut()?;
        let method = task.choose(Wish::default()).ok()?.method;
        let settings = Settings { at_deadlock: AtDeadlock::Stutter, ..Settings::default() };
        let (model, techniques) = match &mut asked.simpler {
            Some(simpler) => (&mut simpler.model, SIMPLIFIED),
            None => (model, if method.reduction.is_some() { REDUCED } else { EXPLICIT }),
        };
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
        match decision?.outcome.stop {
            None => Some((true, techniques)),
            Some(ProductStop::Found(evidence)) => {
                let evidence = match &asked.simpler {
                    Some(simpler) => simpler.original_evidence(&evidence)?,
                    None => evidence,
                };
                self.accepts(asked, &evidence).then_some((false, techniques))
            }
            Some(_) => None,
        }
    }

    /// Whether a run that was found stands up to replay.
    fn accepts(&mut self, asked: &Asked, evidence: &Evidence) -> bool {
        let Ltl { formula, propositions } = &asked.written;
        make_room(&mut self.model, &evidence.run);
        let Some((run, cycle_start)) = self.lasso(evidence) else {
            // All continuations violate the formula, and each of them goes on for very long.
            let formulas = &self.model.formulas;
            let is_bad = |word: &Lasso| !ltl::satisfies(formulas, *formula, word);
            return replay::judge_prefix(&self.model.system, propositions, &evidence.run, is_bad).is_ok();
        };
        let question =
            replay::formula::Question { formulas: &self.model.formulas, formula: *formula, propositions };
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
