//! What watches runs: a formula becomes the automaton of its negation, a claim is one already; both with what
//! is needed to search a model for a run that they accept, or a simpler model instead.

use automata::complement::complement;
use automata::stutter::{self, Proof};
use automata::translate::polish;
use automata::{AnyAutomaton, Config, Effort, GaveUp, Tgba, TooLarge};
use base::{Budget, Limit};
use check::decide::{Claim, Decision, Refusal, Settings};
use check::method::Method;
use check::search::{Evidence, ProductStop};
use language::{Model, Preserve, PropertyKind, Purpose, Simpler};
use ltl::{Formula, Formulas, Prop};
use model::{ExprId, Run, StepError};
use report::Remark;
use report::remark::Work;

use crate::clock::Clock;
use crate::error::Trouble;
use crate::options::Options;
use crate::question::observe;
use crate::session::{Attempt, refining};

/// To find out whether a property sees stuttering, automata may have this many states.
const MAX_STUTTERING: usize = 2_000;

/// So may the complement of a claim. Each of its states can take long to find.
const MAX_COMPLEMENT: usize = 300;

/// The stutter closure of an automaton may have this many states.
const MAX_CLOSURE_STATES: usize = 100_000;

/// Work that may be spent to make the automaton of a formula small, in the steps of
/// [`automata::Config::fuel`]: about a tenth of a second.
const FUEL: u64 = 3_000_000;

/// A formula about a system with the automaton of its negation; or such an automaton alone.
pub(crate) struct Watched {
    pub(crate) formula: Option<Formula>,
    /// The propositions, each with its expression.
    pub(crate) propositions: Vec<(Prop, ExprId)>,
    pub(crate) claim: Claim,
    /// Whether only infinite runs count, whatever the user says about runs that end.
    pub(super) ignores_ends: bool,
    /// The same claim about a simpler model, if there is one: then that is searched.
    pub(super) simplified: Option<Simplified>,
}

/// A claim about a simpler model.
pub(crate) struct Simplified {
    pub(crate) simpler: Simpler,
    pub(crate) claim: Claim,
    /// About how many bytes the simpler model takes.
    bytes: u64,
}

impl Watched {
    /// Translates the negation of a formula, and makes its propositions observable. The error says why there
    /// is no automaton.
    pub(crate) fn formula(
        model: &mut dyn Model,
        formula: Formula,
        propositions: &[(Prop, ExprId)],
        clock: &Clock<'_>,
    ) -> Result<Watched, Remark> {
        let formulas = model.formulas();
        let translate = |formulas: &mut Formulas, formula: Formula| {
            translate(formulas, formula, clock).map_err(|reason| match reason {
                GaveUp::TooLarge(what) => Remark::TooLarge(what),
                GaveUp::Limit(limit) => untranslated(limit),
            })
        };
        let negation = formulas.not(formula);
        let negated = translate(formulas, negation)?;
        let proof = formula_proof(formulas, formula, &negated, clock).map_err(untranslated)?;
        let numbered = observe(model, propositions);
        Ok(Watched {
            formula: Some(formula),
            propositions: propositions.to_vec(),
            claim: Claim::new(negated, numbered, proof),
            ignores_ends: false,
            simplified: None,
        })
    }

    /// Makes the propositions of an automaton observable.
    pub(crate) fn automaton(
        model: &mut dyn Model,
        written: AnyAutomaton,
        propositions: &[(Prop, ExprId)],
        clock: &Clock<'_>,
    ) -> Result<Watched, Remark> {
        let numbered = observe(model, propositions);
        let budget = &mut clock.budget();
        let mut limit = None;
        let find_proof = |tgba: &Tgba| {
            stutter_proof(tgba, clock).unwrap_or_else(|reached| {
                limit = Some(reached);
                None
            })
        };
        let claim = Claim::of_written(written, numbered, find_proof, budget).map_err(untranslated)?;
        if let Some(limit) = limit {
            return Err(untranslated(limit));
        }
        let propositions = propositions.to_vec();
        Ok(Watched { formula: None, propositions, claim, ignores_ends: false, simplified: None })
    }

    /// What is watched for a property; the error says why there is no automaton.
    pub(crate) fn of(
        model: &mut dyn Model,
        kind: &PropertyKind,
        clock: &Clock<'_>,
    ) -> Result<Watched, Remark> {
        match kind {
            PropertyKind::Ltl(ltl) | PropertyKind::Acceptance(ltl) => {
                Watched::formula(model, ltl.formula, &ltl.propositions, clock)
            }
            PropertyKind::Progress(ltl) => {
                // A run that ends is no cycle without progress, as in Spin; but it may be accepted.
                let watched = Watched::formula(model, ltl.formula, &ltl.propositions, clock)?;
                Ok(Watched { ignores_ends: true, ..watched })
            }
            PropertyKind::Claim(claim) => {
                Watched::automaton(model, claim.automaton.clone(), &claim.propositions, clock)
            }
            _ => Err(Remark::Unsupported("this is no question about runs".to_owned())),
        }
    }

    /// The same on another copy of the model, where its propositions may have other numbers, or none yet. A simpler model goes
    /// with the claim.
    pub(crate) fn observe_again(&mut self, model: &mut dyn Model) {
        if self.simplified.is_none() {
            self.claim = self.claim.about(observe(model, &self.propositions));
        }
    }

    /// The closure of the claim under stuttering.
    pub(super) fn closure(&self, clock: &Clock<'_>) -> Result<Claim, GaveUp> {
        self.claim.closure(MAX_CLOSURE_STATES, &mut clock.budget())
    }

    /// The same about the closure of the claim under stuttering, and about a simpler model: what does not violate the closure does not violate
    /// the claim. Nothing if the closure is too large.
    pub(crate) fn closed(
        &self,
        model: &mut dyn Model,
        options: &Options,
        clock: &Clock<'_>,
    ) -> Option<Watched> {
        let claim = self.closure(clock).ok().filter(|_| !self.claim.owns_deadlocks())?;
        let propositions = self.propositions.clone();
        let (formula, ignores_ends, simplified) = (None, self.ignores_ends, None);
        let mut closed = Watched { formula, propositions, claim, ignores_ends, simplified };
        closed.simplify(model, options, clock);
        Some(closed)
    }

    /// The expressions that are watched.
    pub(crate) fn about(&self) -> Vec<ExprId> {
        self.propositions.iter().map(|(_, expr)| *expr).collect()
    }

    /// Looks for a simpler model, for a claim that sees no difference.
    pub(crate) fn simplify(&mut self, model: &mut dyn Model, options: &Options, clock: &Clock<'_>) {
        let about = self.about();
        let mut budget = clock.budget();
        let simpler = model.simplify(Preserve::Stuttering, &about, &options.structural, &mut budget);
        self.simplified = simpler.map(|mut simpler| {
            let system = simpler.model.parts().0;
            let props = self.propositions.iter().map(|(prop, _)| *prop);
            let numbered =
                props.zip(&simpler.exprs).map(|(prop, &expr)| (prop, system.add_proposition("", expr)));
            let claim = self.claim.about(numbered.collect());
            let bytes = clock.without_what_is_missing(&budget).held() - clock.held();
            Simplified { simpler, claim, bytes }
        });
    }
}

impl Watched {
    /// Whether a simpler model is searched.
    pub(crate) fn is_simplified(&self) -> bool {
        self.simplified.is_some()
    }

    /// Searches the simpler model for a run that the claim accepts; it becomes a run of the original.
    pub(super) fn search_simpler(
        &mut self,
        method: Method,
        settings: &Settings<'_>,
        clock: &Clock<'_>,
    ) -> Result<Result<Decision, Refusal>, Trouble> {
        let Some(Simplified { simpler, claim, bytes }) = &mut self.simplified else {
            return Ok(Err(Refusal::NoMemory(0)));
        };
        let clock = clock.holding(clock.held() + *bytes);
        let found = search(&mut simpler.model, claim, method, settings, &clock)?;
        Ok(found.map(|decision| on_original(simpler, decision)))
    }

    /// Searches a model, or the simpler one, for a run that the claim accepts.
    pub(crate) fn search(
        &mut self,
        model: &mut Box<dyn Model>,
        method: Method,
        settings: &Settings<'_>,
        clock: &Clock<'_>,
    ) -> Result<Result<Decision, Refusal>, Trouble> {
        match self.simplified {
            Some(_) => self.search_simpler(method, settings, clock),
            None => search(model, &mut self.claim, method, settings, clock),
        }
    }
}

impl Simplified {
    /// Searches the simpler model, as it is, for a run that another claim about the same propositions accepts; nothing if
    /// that cannot be done, or it is too small.
    pub(super) fn search_for_another(
        &self,
        claim: &Claim,
        method: Method,
        settings: &Settings<'_>,
        budget: &mut Budget<'_>,
    ) -> Option<Decision> {
        budget.hold(self.bytes).ok()?;
        let view = self.simpler.model.view(Purpose::Runs, budget).ok()?;
        let mut claim = claim.about(self.claim.propositions().to_vec());
        claim.search(&*view.system, method, settings, budget).ok().filter(|found| fault(found).is_none())
    }
}

/// Searches a model for a run that a claim accepts, and makes the model larger where it is too small.
fn search(
    model: &mut Box<dyn Model>,
    claim: &mut Claim,
    method: Method,
    settings: &Settings<'_>,
    clock: &Clock<'_>,
) -> Result<Result<Decision, Refusal>, Trouble> {
    refining(model, clock, |model| {
        let view = model.view(Purpose::Runs, &mut clock.budget())?;
        let found = claim.search(&*view.system, method, settings, &mut clock.budget());
        let error = found.as_ref().ok().and_then(fault).filter(|error| model.can_refine(error));
        Ok(error.map_or(Attempt::Done(found), Attempt::TooSmall))
    })
}

/// Why there is no automaton.
fn untranslated(limit: Limit) -> Remark {
    Remark::Limit(limit, Work::Translation)
}

/// A small automaton if that is not too hard to find, else any.
pub(crate) fn translate(
    formulas: &mut Formulas,
    formula: Formula,
    clock: &Clock<'_>,
) -> Result<Tgba, GaveUp> {
    let config = Config { fuel: FUEL, ..Config::from(Effort::High) };
    match automata::translate(formulas, formula, config, &mut clock.budget()) {
        Err(GaveUp::TooLarge(TooLarge::Work)) => {
            automata::translate(formulas, formula, Effort::Low, &mut clock.budget())
        }
        translated => translated,
    }
}

/// What was made, if it was not too large. Without the memory for it one can go on, but not without time.
fn in_time<T>(made: Result<T, GaveUp>) -> Result<Option<T>, Limit> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(GaveUp::Limit(limit @ (Limit::Time | Limit::Interrupt))) => Err(limit),
        Err(_) => Ok(None),
    }
}

/// That a formula, whose negation is this automaton, does not see stuttering, if that can be found out.
pub(super) fn formula_proof(
    formulas: &mut Formulas,
    formula: Formula,
    negated: &Tgba,
    clock: &Clock<'_>,
) -> Result<Option<Proof>, Limit> {
    let proof = Proof::of_next_free(formulas, formula);
    if proof.is_some() || negated.n_states() > MAX_STUTTERING {
        return Ok(proof);
    }
    let Some(translated) = in_time(translate(formulas, formula, clock))? else { return Ok(None) };
    let found = stutter::stuttering(&translated, negated, MAX_STUTTERING, &mut clock.budget());
    Ok(in_time(found)?.and_then(|found| found.proof()))
}

/// That an automaton does not see stuttering, if that can be found out.
fn stutter_proof(tgba: &Tgba, clock: &Clock<'_>) -> Result<Option<Proof>, Limit> {
    let mut budget = clock.budget();
    let Some(tgba) = in_time(polish(tgba.clone(), Effort::High, &mut budget).map_err(GaveUp::from))? else {
        return Ok(None);
    };
    let Some(complement) = in_time(complement(&tgba, MAX_COMPLEMENT, &mut budget))? else {
        return Ok(None);
    };
    let found = in_time(stutter::stuttering(&tgba, &complement, MAX_STUTTERING, &mut budget))?;
    Ok(found.and_then(|found| found.proof()))
}

/// With the run on the original model.
fn on_original(simpler: &Simpler, mut decision: Decision) -> Decision {
    if let Some(ProductStop::Found(evidence)) = &decision.outcome.stop {
        decision.outcome.stop = match original_evidence(simpler, evidence) {
            Some(evidence) => Some(ProductStop::Found(evidence)),
            None => Some(ProductStop::NoRun),
        };
    }
    decision
}

/// A run of a simpler model as one of the original. What the observer did is not known there.
fn original_evidence(simpler: &Simpler, evidence: &Evidence) -> Option<Evidence> {
    let Evidence { run, cycle_start, .. } = evidence;
    let (run, cycle_start) = match *cycle_start {
        Some(start) if start < run.actions.len() => {
            let (prefix, cycle) = run.actions.split_at(start);
            let prefix = Run { initial: run.initial, actions: prefix.to_vec() };
            let (whole, start) = simpler.back.lasso(&prefix, cycle)?;
            (whole, Some(start))
        }
        // The last state repeats for ever: it is a deadlock.
        Some(_) => {
            let whole = simpler.back.run(run, true)?;
            let start = whole.actions.len();
            (whole, Some(start))
        }
        None => (simpler.back.run(run, false)?, None),
    };
    Some(Evidence { run, cycle_start, observer_states: Vec::new(), ..evidence.clone() })
}

/// How the model goes wrong, if it does.
pub(super) fn fault(decision: &Decision) -> Option<StepError> {
    match &decision.outcome.stop {
        Some(ProductStop::Fault(error, _)) => Some(*error),
        _ => None,
    }
}
