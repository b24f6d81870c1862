//! Passes that say nothing.
//!
//! A formula may hold because of what never happens: there is no infinite run, an antecedent is never
//! true, or a proposition never changes and it would hold if that had the other value, too. What the
//! search has met rules most of that out; the rest is asked of the system, as a formula of its own. All of
//! that together may take as long and store as much as the search did, and a little more.

use std::time::Duration;

use check::choice::Wish;
use check::decide::{Claim, Decision, Refusal, Settings};
use check::fairness::Constraint;
use check::product::AtDeadlock;
use check::search::ProductStop;
use ltl::{Formula, Node, Prop, Spelling};
use report::remark::Vacuity;
use report::why::Because;

use super::deciding::Deciding;
use super::watched::{formula_proof, translate};
use crate::clock::Clock;

/// Larger formulas are not looked into.
const MAX_DEPTH: u32 = 100;

/// What may be spent at least.
const MIN_STATES: u64 = 10_000;
const MIN_SECONDS: f64 = 0.1;

/// Why it says nothing that a property holds, if so. It was decided in so many seconds.
pub(super) fn of_decision(question: &mut Deciding<'_>, decision: &Decision, seconds: f64) -> Option<Vacuity> {
    let claim = &question.watched.claim;
    let tgba = claim.tgba();
    let accepts_nothing = tgba.states().all(|state| tgba.edges(state).is_empty());
    if accepts_nothing && !claim.owns_deadlocks() {
        return Some(Vacuity::NoWord);
    }
    let formula = question.watched.formula;
    let at_deadlock = question.at_deadlock();
    // Several processes must ask the same: what they may spend is a matter of states.
    let clock = match question.clock.goes_by_rounds() {
        true => question.clock.clone(),
        false => question.clock.for_at_most(Duration::from_secs_f64(seconds.max(MIN_SECONDS))),
    };
    let states_left = decision.outcome.stats.states + MIN_STATES;
    let mut doubt = Doubt { question, decision, at_deadlock, clock: &clock, states_left };
    if at_deadlock == AtDeadlock::Ignore && doubt.has_no_run() {
        return Some(Vacuity::NoInfiniteRun);
    }
    let formula = formula?;
    if doubt.question.formulas.depth(formula) > MAX_DEPTH || decision.outcome.coverage.is_some() {
        return None;
    }
    doubt.antecedent(formula).or_else(|| doubt.constant(formula))
}

/// What a formula or a claim that holds rests on, as far as the clock allows to ask. It was decided so.
pub(super) fn reasons(question: &mut Deciding<'_>, decision: &Decision) -> Vec<Because> {
    if decision.outcome.coverage.is_some() {
        return Vec::new();
    }
    let (formula, at_deadlock, clock) = (question.watched.formula, question.at_deadlock(), question.clock);
    let mut doubt = Doubt { question, decision, at_deadlock, clock, states_left: u64::MAX };
    match formula {
        Some(formula) => doubt.reasons(formula),
        None => doubt.reasons_of_claim(),
    }
}

pub(super) struct Doubt<'d, 'q> {
    pub(super) question: &'d mut Deciding<'q>,
    pub(super) decision: &'d Decision,
    at_deadlock: AtDeadlock,
    clock: &'d Clock<'d>,
    /// States that may still be stored.
    states_left: u64,
}

impl Doubt<'_, '_> {
    /// Whether it is known that all runs end.
    fn has_no_run(&mut self) -> bool {
        let never = self.question.formulas.constant(false);
        self.holds(never)
    }

    /// Of `G (a -> …)`, an `a` that is never true.
    fn antecedent(&mut self, formula: Formula) -> Option<Vacuity> {
        let formulas = &self.question.formulas;
        let conjuncts = match formulas.node(formula) {
            Node::And(operands) => operands.to_vec(),
            _ => vec![formula],
        };
        let antecedent = |conjunct: &Formula| {
            let Node::Globally(inside) = formulas.node(*conjunct) else { return None };
            let Node::Implies(antecedent, _) = formulas.node(inside) else { return None };
            formulas.classes(antecedent).is_propositional().then_some(antecedent)
        };
        let antecedents: Vec<Formula> = conjuncts.iter().filter_map(antecedent).collect();
        for antecedent in antecedents {
            let met = self.decision.valuations.iter().any(|values| self.is_true(antecedent, values));
            let negation = self.question.formulas.not(antecedent);
            let never = self.question.formulas.globally(negation);
            if !met && self.holds(never) {
                let text = self.question.formulas.display(antecedent, Spelling::Spin).to_string();
                return Some(Vacuity::NeverTrue(text));
            }
        }
        None
    }

    /// A proposition that never changes, where the formula would hold with its other value, too. That comes
    /// first: mostly it would not, and that is found out soon.
    fn constant(&mut self, formula: Formula) -> Option<Vacuity> {
        let propositions: Vec<Prop> =
            self.question.watched.claim.propositions().iter().map(|(prop, _)| *prop).collect();
        for (index, prop) in propositions.into_iter().enumerate() {
            let values = &self.decision.valuations;
            let value = values.first()?[index];
            if values.iter().any(|values| values[index] != value) {
                continue;
            }
            let formulas = &mut *self.question.formulas;
            let literal = formulas.prop(prop);
            let literal = if value { literal } else { formulas.not(literal) };
            let always = formulas.globally(literal);
            let (mentioned, other) = (formulas.prop(prop), formulas.constant(!value));
            let otherwise = formulas.replace(formula, mentioned, other);
            if self.holds(otherwise) && (always == formula || self.holds(always)) {
                let text = self.question.formulas.text(prop).to_owned();
                return Some(Vacuity::NeverChanges(text, value));
            }
        }
        None
    }

    fn is_true(&self, formula: Formula, values: &[bool]) -> bool {
        let formulas = &self.question.formulas;
        let holds = |formula: &Formula| self.is_true(*formula, values);
        match formulas.node(formula) {
            Node::True => true,
            Node::Prop(prop) => {
                let position =
                    self.question.watched.claim.propositions().iter().position(|(known, _)| *known == prop);
                // A proposition that the automaton does not look at may be anything.
                position.is_none_or(|index| values[index])
            }
            Node::Not(inside) => !holds(&inside),
            Node::And(operands) => operands.iter().all(holds),
            Node::Or(operands) => operands.iter().any(holds),
            Node::Implies(left, right) => !holds(&left) || holds(&right),
            Node::Equivalent(left, right) => holds(&left) == holds(&right),
            Node::Xor(left, right) => holds(&left) != holds(&right),
            _ => false,
        }
    }

    /// Whether a formula is known to hold of all runs, fair or not.
    pub(super) fn holds(&mut self, formula: Formula) -> bool {
        self.holds_of(formula, &[], self.at_deadlock)
    }

    /// The same of runs that are fair to these.
    pub(super) fn holds_fairly(&mut self, formula: Formula, constraints: &[Constraint]) -> bool {
        self.holds_of(formula, constraints, self.at_deadlock)
    }

    /// The same of all runs, those that end with them.
    pub(super) fn holds_everywhere(&mut self, formula: Formula) -> bool {
        self.holds_of(formula, &[], AtDeadlock::Stutter)
    }

    fn holds_of(&mut self, formula: Formula, fairness: &[Constraint], at_deadlock: AtDeadlock) -> bool {
        let formulas = &mut *self.question.formulas;
        let negation = formulas.not(formula);
        let Ok(tgba) = translate(formulas, negation, self.clock) else { return false };
        let Ok(proof) = formula_proof(formulas, formula, &tgba, self.clock) else { return false };
        let mut propositions = self.question.watched.claim.propositions().to_vec();
        // The automaton of the formula need not look at all of its propositions.
        for &(prop, expr) in &self.question.watched.propositions {
            if !propositions.iter().any(|(known, _)| *known == prop)
                && let Some(number) = self.question.view.system.proposition(expr)
            {
                propositions.push((prop, number));
            }
        }
        self.has_no_run_of(Claim::new(tgba, propositions, proof), fairness, at_deadlock)
    }

    /// Whether it is known that the automaton in question accepts no run that is fair to these.
    pub(super) fn accepts_none(&mut self, fairness: &[Constraint]) -> bool {
        let claim = &self.question.watched.claim;
        let claim = claim.about(claim.propositions().to_vec());
        self.has_no_run_of(claim, fairness, self.at_deadlock)
    }

    /// Whether it is known that a claim accepts no run.
    fn has_no_run_of(&mut self, mut claim: Claim, fairness: &[Constraint], at_deadlock: AtDeadlock) -> bool {
        let ignores_ends = at_deadlock == AtDeadlock::Ignore;
        let fair = !fairness.is_empty();
        let wish = Wish { reduction: self.question.options.reduce, fair, ignores_ends, ..Wish::default() };
        let mut budget = self.clock.budget();
        let choice = match wish.complete(&mut claim, &mut budget) {
            Err(Refusal::Rule(_)) => {
                Wish { fair, ignores_ends, ..Wish::default() }.complete(&mut claim, &mut budget)
            }
            choice => choice,
        };
        let Ok(choice) = choice else { return false };
        let settings = Settings { at_deadlock, fairness, ..Settings::default() };
        budget.max_states = budget.max_states.min(self.states_left);
        // What the question was decided on has the same answers about the same propositions, unless they depend on
        // steps that nobody sees, on fairness or on ends.
        let is_blind = claim.proof().is_some() && !fair && !ignores_ends && !claim.owns_deadlocks();
        let decision = match &self.question.watched.simplified {
            Some(simplified) if is_blind => {
                simplified.search_for_another(&claim, choice.method, &settings, &mut budget)
            }
            _ => {
                let searched =
                    if is_blind { self.question.searched.system() } else { &self.question.view.system };
                claim.search(searched, choice.method, &settings, &mut budget).ok()
            }
        };
        let Some(decision) = decision else { return false };
        self.states_left = self.states_left.saturating_sub(decision.outcome.stats.states);
        if let Some(ProductStop::Fault(error, _)) = &decision.outcome.stop {
            self.question.fault.set(Some(*error));
        }
        decision.outcome.stop.is_none()
    }
}
