//! Formulas and claims, as they are given in files and on the command line: resolved, translated, and
//! ready to be watched.

use std::path::Path;

use automata::complement::complement;
use automata::stutter::{self, Stuttering};
use automata::translate::polish;
use automata::{AnyAutomaton, Config, Effort, GaveUp, Tgba, TooLarge};
use base::{Budget, Diagnostics, Limit};
use check::choice::{Choice, ReductionWish, Wish};
use check::decide::{Claim, Refusal};
use check::method::ObserverKind;
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
    /// The automaton as the user wrote it, if there is no formula.
    pub(crate) written: Option<AnyAutomaton>,
    /// The propositions, each with its expression.
    pub(crate) propositions: Vec<(Prop, ExprId)>,
    /// The propositions, each with its number in the system.
    pub(crate) numbered: Vec<(Prop, usize)>,
    pub(crate) claim: Claim,
    /// Whether only infinite runs count, whatever the user says about runs that end.
    pub(crate) ignores_ends: bool,
}

impl FormulaTask {
    /// Whether the automaton says itself which runs that end are accepted.
    pub(crate) fn owns_deadlocks(&self) -> bool {
        self.claim.forms.owns_deadlocks
    }

    /// The kind of automaton that was written, if it has to be used or can be.
    fn written_kind(&self, reduction: ReductionWish) -> Option<ObserverKind> {
        let reduces = !matches!(reduction, ReductionWish::Auto | ReductionWish::None);
        match &self.written {
            Some(AnyAutomaton::Ta(_)) => Some(ObserverKind::Ta),
            Some(AnyAutomaton::Tgta(_)) if self.claim.stutter_invariant => Some(ObserverKind::Tgta),
            // There is no reduction for it.
            Some(AnyAutomaton::Extended(_)) if self.owns_deadlocks() || !reduces => {
                Some(ObserverKind::Extended)
            }
            _ => None,
        }
    }

    /// Fills in what the user left open. An automaton that was written in some form is used in that form.
    pub(crate) fn choose(&mut self, wish: Wish) -> Result<Choice, Refusal> {
        let written = self.written_kind(wish.reduction);
        if self.owns_deadlocks() && wish.observer.is_some_and(|observer| Some(observer) != written) {
            return Err(Refusal::Rule("only the automaton as it was written knows its deadlock states"));
        }
        let (None, Some(kind)) = (wish.observer, written) else {
            return wish.complete(&mut self.claim, &mut Budget::unlimited());
        };
        match (Wish { observer: written, ..wish }).complete(&mut self.claim, &mut Budget::unlimited()) {
            Ok(mut choice) => {
                let reason = choice.reasons.iter_mut().find(|reason| reason.starts_with("observer: "));
                if let Some(reason) = reason {
                    *reason = format!("observer: {}, as it was written", kind.name());
                }
                Ok(choice)
            }
            // What the user asked for is more important than how the automaton was written.
            Err(Refusal::Rule(_)) if !self.owns_deadlocks() => {
                wish.complete(&mut self.claim, &mut Budget::unlimited())
            }
            Err(refusal) => Err(refusal),
        }
    }
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
    let translate = |formulas: &mut Formulas, formula: Formula, clock: &mut Clock| {
        translate(formulas, formula, limits, clock).map_err(|reason| match reason {
            GaveUp::TooLarge(reason) => reason.to_string(),
            GaveUp::Limit(limit) => format!("{} while it was translated", limit_reason(limit)),
        })
    };
    let negation = formulas.not(formula);
    let negated = translate(formulas, negation, clock)?;
    let mut invariant = formulas.classes(formula).is_next_free();
    if !invariant && negated.n_states() <= MAX_STUTTERING {
        let translated = translate(formulas, formula, clock)?;
        let budget = &mut clock.budget(limits);
        let found = stutter::stuttering(&translated, &negated, MAX_STUTTERING, budget);
        invariant = found == Ok(Stuttering::Invariant);
    }
    let observe = |&(prop, expr): &(Prop, ExprId)| (prop, system.add_proposition(formulas.text(prop), expr));
    let numbered: Vec<(Prop, usize)> = propositions.iter().map(observe).collect();
    Ok(FormulaTask {
        formula: Some(formula),
        written: None,
        propositions: propositions.to_vec(),
        claim: Claim::new(negated, numbered.clone(), invariant),
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
    match automata::translate(formulas, formula, config, &mut clock.budget(limits)) {
        Err(GaveUp::TooLarge(TooLarge::Work)) => {
            automata::translate(formulas, formula, Effort::Low, &mut clock.budget(limits))
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
    let tgba = match &written {
        AnyAutomaton::Tgba(tgba) => tgba.clone(),
        _ => small(&written).expect("a budget without limits is never spent"),
    };
    // A TA never sees stuttering.
    let invariant = matches!(written, AnyAutomaton::Ta(_)) || is_stutter_invariant(tgba.clone(), clock);
    let mut claim = Claim::new(tgba, numbered.clone(), invariant);
    // The automaton may look at propositions that the TGBA could do without.
    claim.propositions.clone_from(&numbered);
    let budget = &mut Budget::unlimited();
    claim.forms.owns_deadlocks = written.accepts_deadlocks_like_stuttering(budget) != Ok(true);
    match &written {
        AnyAutomaton::Tgba(_) => {}
        AnyAutomaton::Ta(ta) => claim.forms.ta = Some(ta.clone()),
        AnyAutomaton::Tgta(tgta) => claim.forms.tgta = Some(tgta.clone()),
        AnyAutomaton::Extended(extended) => claim.forms.extended = Some(extended.clone()),
    }
    FormulaTask { formula: None, written: Some(written), propositions, numbered, claim, ignores_ends: false }
}

/// Whether it can be found out in time that an automaton does not see stuttering.
fn is_stutter_invariant(tgba: Tgba, clock: &Clock) -> bool {
    let found = terminal::give_up_after(clock.remaining(), move || {
        let budget = &mut Budget::unlimited();
        let tgba = polish(tgba, Effort::High, budget)?;
        let complement = complement(&tgba, MAX_COMPLEMENT, budget)?;
        stutter::stuttering(&tgba, &complement, MAX_STUTTERING, budget)
    });
    matches!(found, Ok(Ok(Stuttering::Invariant)))
}

/// A small automaton of the infinite words that one of another kind accepts.
fn small(written: &AnyAutomaton) -> Result<Tgba, Limit> {
    let budget = &mut Budget::unlimited();
    polish(written.to_tgba(budget)?, Effort::High, budget)
}
