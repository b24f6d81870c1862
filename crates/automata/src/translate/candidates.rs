//! Candidates: several automata for one formula.
//!
//! The first is the tableau of the rewritten formula, reduced. What else is tried depends on the level of
//! effort, and may use only about as much fuel as the first did: what takes much longer is rarely smaller.

use base::{Budget, Limit};
use ltl::{Formula, Formulas, Node, negation_normal_form, simplify};

use crate::clean::{simplify_marks, trim};
use crate::gave_up::{GaveUp, TooLarge};
use crate::product::union;
use crate::tgba::Tgba;
use crate::translate::merge::{self, merge_by_trial};
use crate::translate::rewrite::{drop_redundant, pull_out};
use crate::translate::tableau::{Branching, fits, tableau};
use crate::translate::{Config, Effort, polish_with_fuel, smallest};
use crate::weak::Weak;
use crate::work::Work;

/// Simplified, in negation normal form, and simplified again.
fn normalize(formulas: &mut Formulas, formula: Formula, budget: &mut Budget<'_>) -> Result<Formula, Limit> {
    let simple = simplify(formulas, formula, budget)?;
    let normal = negation_normal_form(formulas, simple, budget)?;
    simplify(formulas, normal, budget)
}

/// Automata for the formula; at least one. If its tableau is too large, a disjunction is translated part by
/// part.
pub(crate) fn candidates(
    formulas: &mut Formulas,
    formula: Formula,
    config: Config,
    work: &mut Work<'_, '_>,
) -> Result<Vec<Tgba>, GaveUp> {
    let reason = match of_whole(formulas, formula, config, work) {
        Err(GaveUp::TooLarge(reason)) => reason,
        found => return found,
    };
    let parts = disjuncts(formulas, formula, work.budget)?;
    if parts.len() > MAX_PARTS {
        return Err(reason.into());
    }
    let mut all: Option<Tgba> = None;
    for &part in &parts {
        let found = of_whole(formulas, part, config, work)?;
        let smallest = smallest(found, work.budget)?.ok_or(reason)?;
        all = Some(match all {
            None => smallest,
            Some(all) => union(&all, &smallest, work.budget)?,
        });
    }
    let all = all.ok_or(reason)?;
    let clean = simplify_marks(trim(all, work.budget)?, work.budget)?;
    Ok(vec![polish_with_fuel(clean, Effort::Low, work)?])
}

/// A disjunction of more parts is not translated part by part.
const MAX_PARTS: usize = 256;

/// The formulas whose disjunction a formula is: of `a | b`, and of `F (a | b)`. None if it is no such
/// formula.
fn disjuncts(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Vec<Formula>, Limit> {
    let normal = normalize(formulas, formula, budget)?;
    let (list, is_finally) = match formulas.node(normal) {
        Node::Or(list) => (list.to_vec(), false),
        Node::Finally(inside) => match formulas.node(inside) {
            Node::Or(list) => (list.to_vec(), true),
            _ => return Ok(vec![]),
        },
        _ => return Ok(vec![]),
    };
    Ok(list.into_iter().map(|part| if is_finally { formulas.finally(part) } else { part }).collect())
}

fn of_whole(
    formulas: &mut Formulas,
    formula: Formula,
    config: Config,
    work: &mut Work<'_, '_>,
) -> Result<Vec<Tgba>, GaveUp> {
    let normal = normalize(formulas, formula, work.budget)?;
    if !fits(&formulas.propositions(normal)) {
        return Err(TooLarge::Formula.into());
    }
    let effort = config.effort;
    let normal = drop_redundant(formulas, normal, work.budget)?;
    let pulled = pull_out(formulas, normal, work.budget)?;
    let pulled = simplify(formulas, pulled, work.budget)?;
    let pulled = pull_out(formulas, pulled, work.budget)?;
    let mut found = vec![];
    let mut refusal = None;
    let fuel = work.fuel();
    match tableau(formulas, pulled, Branching::Early, config.max_states, work) {
        Ok(tgba) => found.push(polish_with_fuel(tgba, effort, work)?),
        Err(GaveUp::TooLarge(reason)) => refusal = Some(reason),
        Err(GaveUp::Limit(limit)) => return Err(limit.into()),
    }
    let fuel = MIN_FUEL + (fuel - work.fuel()).min(MAX_FUEL);
    if effort == Effort::High {
        for (formula, branching) in
            [(pulled, Branching::Late), (normal, Branching::Early), (normal, Branching::Late)]
        {
            if formula == normal && normal == pulled && branching == Branching::Early {
                break;
            }
            // A tableau much larger than what we have will not be reduced to less.
            let smallest = found.iter().map(Tgba::n_states).min().unwrap_or(LATE_MAX_STATES);
            let max_states = LATE_MAX_STATES.min(5 * smallest + 30);
            let other = work
                .with_at_most(fuel, |work| another(formulas, formula, branching, max_states, effort, work));
            found.extend(other?);
        }
    }
    let Some(best) = smallest(&found, work.budget)?.cloned() else {
        return Err(refusal.unwrap_or(TooLarge::States).into());
    };
    let mut negation = Negation { formula: normal, fuel, automaton: None };
    if effort >= Effort::Medium
        && let Some(weak) = weak_candidate(formulas, &mut negation, &best, effort, work)?
    {
        found.push(polish_with_fuel(weak.clone(), effort, work)?);
        found.push(weak);
    }
    if effort == Effort::High
        && let Some(best) = smallest(&found, work.budget)?
        && merge::is_worth_trying(best)
        && let Some(negation) = negation.automaton(formulas, work)?
    {
        let merged = merge_by_trial(best.clone(), negation, work)?;
        found.push(polish_with_fuel(merged, effort, work)?);
    }
    Ok(found)
}

/// An automaton that is not needed may take so much fuel, and as much as the first did,
const MIN_FUEL: u64 = 1_000_000;
/// but not more than this.
const MAX_FUEL: u64 = 10_000_000;

/// An automaton that is not needed; nothing if it is too large.
fn another(
    formulas: &Formulas,
    formula: Formula,
    branching: Branching,
    max_states: usize,
    effort: Effort,
    work: &mut Work<'_, '_>,
) -> Result<Option<Tgba>, Limit> {
    match GaveUp::optional(tableau(formulas, formula, branching, max_states, work))? {
        Some(tgba) => polish_with_fuel(tgba, effort, work).map(Some),
        None => Ok(None),
    }
}

/// An automaton for the negation of a formula, made when it is first needed; inside nothing if it is too
/// large.
struct Negation {
    formula: Formula,
    /// It may take no more than this.
    fuel: u64,
    automaton: Option<Option<Tgba>>,
}

impl Negation {
    fn automaton(
        &mut self,
        formulas: &mut Formulas,
        work: &mut Work<'_, '_>,
    ) -> Result<Option<&Tgba>, Limit> {
        if self.automaton.is_none() {
            let negation = formulas.not(self.formula);
            let negation = normalize(formulas, negation, work.budget)?;
            let automaton = work.with_at_most(self.fuel, |work| {
                another(formulas, negation, Branching::Early, LATE_MAX_STATES, Effort::Medium, work)
            });
            self.automaton = Some(automaton?);
        }
        Ok(self.automaton.as_ref().and_then(Option::as_ref))
    }
}

const LATE_MAX_STATES: usize = 2_000;

/// The smallest deterministic automaton, if the formula is an obligation. It is made from an automaton
/// for the formula or from one for its negation, whichever is easier to determinize.
fn weak_candidate(
    formulas: &mut Formulas,
    negation: &mut Negation,
    tgba: &Tgba,
    effort: Effort,
    work: &mut Work<'_, '_>,
) -> Result<Option<Tgba>, Limit> {
    let by_shape = formulas.classes(negation.formula).is_obligation();
    if !by_shape && effort < Effort::High {
        return Ok(None);
    }
    let weak = GaveUp::optional(Weak::minimal(tgba, WEAK_MAX_STATES, work))?.flatten();
    let is_known = weak.is_some();
    match &weak {
        Some(weak) if by_shape => return weak.to_tgba(true, work.budget).map(Some),
        // Most formulas that are no obligations are found out without their negation.
        Some(weak) if !weak.includes(tgba, true, PRODUCT_MAX_STATES, work)? => return Ok(None),
        _ => {}
    }
    let Some(negation) = negation.automaton(formulas, work)? else { return Ok(None) };
    let weak = match weak {
        Some(weak) => weak,
        None => match GaveUp::optional(Weak::minimal(negation, WEAK_MAX_STATES, work))?.flatten() {
            Some(weak) => weak.complement(),
            None => return Ok(None),
        },
    };
    let exact = by_shape
        || weak.includes(negation, false, PRODUCT_MAX_STATES, work)?
            && (is_known || weak.includes(tgba, true, PRODUCT_MAX_STATES, work)?);
    if exact { weak.to_tgba(true, work.budget).map(Some) } else { Ok(None) }
}

/// Larger products are not searched.
const PRODUCT_MAX_STATES: usize = 20_000;

/// Larger subset constructions are given up.
const WEAK_MAX_STATES: usize = 2_000;
