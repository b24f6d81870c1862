//! Formulas and claims, as they are given in files and on the command line: resolved, translated, and
//! ready to be watched.

use std::path::Path;

use automata::complement::complement;
use automata::stutter::{self, Proof};
use automata::translate::{GaveUp, TooLarge, polish, translate_within};
use automata::{AnyAutomaton, Config, Effort, Tgba};
use base::Diagnostics;
use check::decide::Claim;
use ltl::{Formula, Formulas, Prop};
use model::{ActionSystem, ExprId};

use crate::args::Limits;
use crate::check_command::limit_reason;
use crate::input::Input;
use crate::terminal::{self, Clock};

/// To find out whether a property sees stuttering, automata may have this many states.
const MAX_STUTTERING: usize = 2_000;

/// So may the complement of a claim. Each of its states can take long to find.
const MAX_COMPLEMENT: usize = 300;

/// Work that may be spent to make the automaton of a formula small, in the steps of
/// [`automata::Config::fuel`]: about a tenth of a second.
const FUEL: u64 = 3_000_000;

/// A formula about a system with the automaton of its negation; or such an automaton alone.
pub(crate) struct FormulaTask {
    pub(crate) formula: Option<Formula>,
    /// The propositions, each with its expression.
    pub(crate) propositions: Vec<(Prop, ExprId)>,
    /// The propositions, each with its number in the system.
    pub(crate) numbered: Vec<(Prop, usize)>,
    pub(crate) claim: Claim,
    /// Whether only infinite runs count, whatever the user says about runs that end.
    pub(crate) ignores_ends: bool,
}

/// Translates the negation of a formula, and makes its propositions observable. The error says why there
/// is no automaton.
pub(crate) fn formula_task(
    system: &mut ActionSystem,
    formulas: &mut Formulas,
    formula: Formula,
    propositions: &[(Prop, ExprId)],
    limits: &Limits,
    clock: &mut Clock,
) -> Result<FormulaTask, String> {
    let mut translate = |formulas: &mut Formulas, formula: Formula| {
        translate(formulas, formula, limits, clock).map_err(|reason| match reason {
            GaveUp::TooLarge(reason) => reason.to_string(),
            GaveUp::Limit(limit) => format!("{} while it was translated", limit_reason(limit)),
        })
    };
    let negation = formulas.not(formula);
    let negated = translate(formulas, negation)?;
    let mut proof = Proof::of_next_free(formulas, formula);
    if proof.is_none() && negated.n_states() <= MAX_STUTTERING {
        let translated = translate(formulas, formula)?;
        proof = stutter::stuttering(&translated, &negated, MAX_STUTTERING).and_then(|found| found.proof());
    }
    let observe = |&(prop, expr): &(Prop, ExprId)| (prop, system.add_proposition(formulas.text(prop), expr));
    let numbered: Vec<(Prop, usize)> = propositions.iter().map(observe).collect();
    Ok(FormulaTask {
        formula: Some(formula),
        propositions: propositions.to_vec(),
        claim: Claim::new(negated, numbered.clone(), proof),
        numbered,
        ignores_ends: false,
    })
}

/// A small automaton if that is not too hard to find, else any.
pub(crate) fn translate(
    formulas: &mut Formulas,
    formula: Formula,
    limits: &Limits,
    clock: &mut Clock,
) -> Result<Tgba, GaveUp> {
    let config = Config { fuel: FUEL, ..Config::from(Effort::High) };
    match translate_within(formulas, formula, config, &mut clock.budget(limits)) {
        Err(GaveUp::TooLarge(TooLarge::Work)) => {
            translate_within(formulas, formula, Effort::Low, &mut clock.budget(limits))
        }
        translated => translated,
    }
}

/// Resolves the propositions of a claim.
pub(crate) fn claim_task(
    input: &mut Input,
    path: &Path,
    written: AnyAutomaton,
    clock: &Clock,
) -> Result<FormulaTask, Diagnostics> {
    let mut propositions = Vec::new();
    for &prop in written.propositions() {
        let text = input.model.formulas().text(prop).to_owned();
        let name = format!("a proposition of {}", path.display());
        let source = input.sources.add(name, text.clone().into_bytes())?;
        let expr = input.model.resolve(&text, source, 0)?;
        propositions.push((prop, expr));
    }
    let (system, formulas) = input.model.parts();
    Ok(automaton_task(system, formulas, written, propositions, clock))
}

/// Makes the propositions of an automaton observable.
pub(crate) fn automaton_task(
    system: &mut ActionSystem,
    formulas: &Formulas,
    written: AnyAutomaton,
    propositions: Vec<(Prop, ExprId)>,
    clock: &Clock,
) -> FormulaTask {
    let observe = |&(prop, expr): &(Prop, ExprId)| (prop, system.add_proposition(formulas.text(prop), expr));
    let numbered: Vec<(Prop, usize)> = propositions.iter().map(observe).collect();
    let claim = Claim::of_written(written, numbered.clone(), |tgba| prove(tgba.clone(), clock));
    FormulaTask { formula: None, propositions, numbered, claim, ignores_ends: false }
}

/// That an automaton does not see stuttering, if that can be found out in time.
fn prove(tgba: Tgba, clock: &Clock) -> Option<Proof> {
    let found = terminal::give_up_after(clock.remaining(), move || {
        let tgba = polish(tgba, Effort::High);
        let complement = complement(&tgba, MAX_COMPLEMENT)?;
        stutter::stuttering(&tgba, &complement, MAX_STUTTERING)
    });
    found.ok().flatten()?.proof()
}
