//! What watches runs: a formula becomes the automaton of its negation, a claim is one already.

use automata::stutter::{self, Proof, Stuttering};
use automata::{Config, Effort, GaveUp, hoa, translate};
use base::{Budget, Diagnostic, Limit, SourceId};
use check::decide::Claim;
use ltl::{Formula, Formulas, Lasso, Node, Prop, Valuation, satisfies};

use crate::check::unknown;
use crate::judge::Claimed;
use crate::model::Model;
use crate::propositions::Propositions;
use crate::searches::Setup;
use crate::verdict::Reason;

/// To find out whether a formula sees stuttering, automata may have this many states.
const MAX_STUTTERING: usize = 2_000;

/// A formula or an automaton, and what a search needs of it.
pub(crate) struct Watched {
    formulas: Formulas,
    formula: Option<Formula>,
    pub(crate) claim: Claim,
    /// What it is about: what the formula calls it, and its number.
    pub(crate) propositions: Vec<(Prop, usize)>,
    /// What a run shows that it accepts.
    pub(crate) what: String,
}

impl Watched {
    /// The negation of a formula.
    pub(crate) fn formula<M: Model>(
        text: &str,
        known: &Propositions<'_, M>,
        setup: &Setup<'_>,
    ) -> Result<Watched, Reason> {
        let mut formulas = Formulas::new();
        let parsed = ltl::parse(&mut formulas, text, SourceId::new(0), 0)
            .map_err(|wrong| Reason::Question(told(text, &wrong)))?;
        let names = parsed.propositions.iter().map(|(prop, _)| *prop);
        let propositions = resolve(&formulas, names, known)?;
        let formula = parsed.formula;
        let negation = formulas.not(formula);
        let budget = &mut setup.clock.budget();
        let config = Config::from(Effort::High);
        let automaton = translate(&mut formulas, negation, config, budget).map_err(|why| gave_up(&why))?;
        let proof = Proof::of_next_free(&formulas, formula);
        let proof = match proof {
            None => find_proof(&mut formulas, formula, budget)?,
            proof => proof,
        };
        let claim = Claim::new(automaton, propositions.clone(), proof);
        let what = format!("`{text}` is violated");
        Ok(Watched { formulas, formula: Some(formula), claim, propositions, what })
    }

    /// An automaton in the HOA format.
    pub(crate) fn automaton<M: Model>(
        text: &str,
        known: &Propositions<'_, M>,
        setup: &Setup<'_>,
    ) -> Result<Watched, Reason> {
        let budget = &mut setup.clock.budget();
        let mut formulas = Formulas::new();
        let mut read = match hoa::read_any(&mut formulas, text, SourceId::new(0), budget) {
            Ok(read) => read,
            Err(automata::Unread::Wrong(wrong)) => return Err(Reason::Question(told(text, &wrong))),
            Err(automata::Unread::Limit(limit)) => return Err(limit.into()),
        };
        if read.len() != 1 {
            return Err(Reason::Question(format!("there are {} automata, not one", read.len())));
        }
        let automaton = read.swap_remove(0).automaton;
        let tgba = automaton.to_tgba(budget)?;
        let propositions = resolve(&formulas, tgba.propositions().iter().copied(), known)?;
        let claim = Claim::of_written(automaton, propositions.clone(), |_| None, budget)?;
        let what = "the claim accepts this run".to_owned();
        Ok(Watched { formulas, formula: None, claim, propositions, what })
    }

    /// Whether it says of all states that they are of some kind: of which, by the values of the propositions, the first of
    /// which is the lowest bit.
    pub(crate) fn always(&self) -> Option<Vec<bool>> {
        const MANY: usize = 8;
        let Node::Globally(body) = self.formulas.node(self.formula?) else { return None };
        if !self.formulas.classes(body).is_propositional() || self.propositions.len() > MANY {
            return None;
        }
        let holds = |bits: usize| {
            let mut values = Valuation::new();
            let props = self.propositions.iter().enumerate();
            props.for_each(|(at, (prop, _))| values.set(*prop, bits >> at & 1 == 1));
            Lasso::new(Vec::new(), vec![values]).map(|word| satisfies(&self.formulas, body, &word))
        };
        (0..1 << self.propositions.len()).map(holds).collect()
    }

    /// What a run is said to show.
    pub(crate) fn claimed<M: Model>(&self) -> Claimed<'_, M> {
        match (self.formula, self.claim.written()) {
            (None, Some(written)) => Claimed::Automaton(written),
            (formula, _) => {
                Claimed::Formula(&self.formulas, formula.unwrap_or_else(|| self.formulas.constant(true)))
            }
        }
    }
}

/// The propositions of a formula, with their numbers.
fn resolve<M: Model>(
    formulas: &Formulas,
    names: impl Iterator<Item = Prop>,
    known: &Propositions<'_, M>,
) -> Result<Vec<(Prop, usize)>, Reason> {
    let number = |prop: Prop| {
        let name = formulas.text(prop);
        let number = known.find(name);
        number.map(|number| (prop, number)).ok_or_else(|| unknown("proposition", name, known.names()))
    };
    names.map(number).collect::<Result<_, String>>().map_err(Reason::Question)
}

/// Whether a formula with X does not see stuttering.
fn find_proof(
    formulas: &mut Formulas,
    formula: Formula,
    budget: &mut Budget<'_>,
) -> Result<Option<Proof>, Limit> {
    let config = Config { max_states: MAX_STUTTERING, ..Config::from(Effort::Medium) };
    match stutter::formula_stuttering(formulas, formula, config, budget) {
        Ok(Stuttering::Invariant(proof)) => Ok(Some(proof)),
        Ok(Stuttering::Sensitive { .. }) | Err(GaveUp::TooLarge(_)) => Ok(None),
        Err(GaveUp::Limit(limit)) => Err(limit),
    }
}

fn gave_up(why: &GaveUp) -> Reason {
    match why {
        GaveUp::Limit(limit) => Reason::Limit(*limit),
        GaveUp::TooLarge(what) => {
            Reason::Refused(format!("the automaton of the formula is too large: {what}"))
        }
    }
}

/// A mistake in a text, with its place.
fn told(text: &str, wrong: &Diagnostic) -> String {
    let mut told = wrong.message.clone();
    if let Some(span) = wrong.span {
        let at = span.start as usize;
        let line_start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let line = text[line_start.min(text.len())..].lines().next().unwrap_or_default();
        let column = text.get(line_start..at).map_or(0, |before| before.chars().count());
        told += &format!("\n  {line}\n  {:column$}^ {}", "", wrong.label);
    }
    if let Some(help) = &wrong.help {
        told += &format!("\n{help}");
    }
    told.trim_end().to_owned()
}
