//! Testing automata of formulas.
//!
//! # Idea
//! The smallest Büchi automaton of a formula need not give the smallest testing automaton: one that chooses
//! early looks at fewer propositions in each state, and so has fewer pairs with valuations that differ. So
//! automata of several [efforts](Effort) are tried, and the smallest result is kept.

use base::{Budget, Limit};
use ltl::{Formula, Formulas};

use super::expand::{Limits, MAX_PROPOSITIONS};
use super::reduce::{small_ta, small_tgta};
use super::ta::Ta;
use super::tgta::Tgta;
use crate::degeneralize::Placement;
use crate::gave_up::{GaveUp, TooLarge};
use crate::stutter::formula_stuttering;
use crate::tgba::{Edge, State, Tgba};
use crate::translate::{Config, Effort, to_ba, translate};

/// Why there is no testing automaton for a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The formula contains `X`, and its words are told apart by stuttering.
    Stuttering,
    /// An automaton would be too large, or the budget is spent.
    GaveUp(GaveUp),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Stuttering => {
                f.write_str("the formula sees stuttering by its X, and testing automata do not")
            }
            Refusal::GaveUp(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<GaveUp> for Refusal {
    fn from(reason: GaveUp) -> Refusal {
        Refusal::GaveUp(reason)
    }
}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Refusal {
        Refusal::GaveUp(limit.into())
    }
}

/// A TA that accepts exactly the words that satisfy the formula, which must not see stuttering.
///
/// ```
/// # use stubborn_automata::{Effort, by_change::{Limits, translate_ta}};
/// # use ltl::Formulas;
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "a U G b", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let ta = translate_ta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
/// assert_eq!((ta.n_states(), ta.n_steps()), (3, 5));
/// ```
///
/// # Errors
/// The formula sees stuttering, an automaton would be too large, or the budget is spent.
pub fn translate_ta(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    limits: &Limits,
    budget: &mut Budget<'_>,
) -> Result<Ta, Refusal> {
    let config = config.into();
    let automata = automata(formulas, formula, config, budget)?;
    let mut inputs: Vec<Tgba> = vec![];
    for (tgba, effort) in automata {
        if effort == config.effort {
            inputs.push(to_ba(&tgba, effort, Placement::States, budget)?);
        }
        inputs.push(tgba);
    }
    smallest(&inputs, |tgba| small_ta(tgba, limits, budget), |ta| (ta.n_states(), ta.n_steps()))
}

/// A TGTA that accepts exactly the words that satisfy the formula, which must not see stuttering.
///
/// # Errors
/// The formula sees stuttering, an automaton would be too large, or the budget is spent.
pub fn translate_tgta(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    limits: &Limits,
    budget: &mut Budget<'_>,
) -> Result<Tgta, Refusal> {
    let automata = automata(formulas, formula, config.into(), budget)?;
    let inputs: Vec<Tgba> = automata.into_iter().map(|(tgba, _)| tgba).collect();
    smallest(&inputs, |tgba| small_tgta(tgba, limits, budget), |tgta| (tgta.n_states(), tgta.n_steps()))
}

/// Automata to begin with; at least one.
fn automata(
    formulas: &mut Formulas,
    formula: Formula,
    config: Config,
    budget: &mut Budget<'_>,
) -> Result<Vec<(Tgba, Effort)>, Refusal> {
    if formula_stuttering(formulas, formula, config, budget)?.proof().is_none() {
        return Err(Refusal::Stuttering);
    }
    let efforts: &[Effort] = match config.effort {
        Effort::Low => &[Effort::Low],
        Effort::Medium => &[Effort::Low, Effort::Medium],
        Effort::High => &[Effort::Low, Effort::High],
    };
    let tgbas = efforts.iter().map(|&effort| {
        translate(formulas, formula, Config { effort, ..config }, budget).map(|tgba| (tgba, effort))
    });
    Ok(any(tgbas)?)
}

/// The smallest of what can be made of the automata.
fn smallest<T>(
    automata: &[Tgba],
    make: impl FnMut(&Tgba) -> Result<T, GaveUp>,
    size: impl Fn(&T) -> (usize, usize),
) -> Result<T, Refusal> {
    let different =
        |&(index, tgba): &(usize, &Tgba)| !automata[..index].iter().any(|known| same(known, tgba));
    let different = automata.iter().enumerate().filter(different).map(|(_, tgba)| tgba);
    let made = any(different.map(make))?;
    // Nothing was tried only if nothing was given.
    Ok(made.into_iter().min_by_key(size).ok_or(GaveUp::TooLarge(TooLarge::States))?)
}

/// Whether the automata are the same, down to the order of edges. Labels of more propositions than any
/// explicit testing automaton has are not compared.
fn same(one: &Tgba, other: &Tgba) -> bool {
    let comparable = one.propositions().len() <= MAX_PROPOSITIONS;
    let shape = |tgba: &Tgba| (tgba.n_states(), tgba.n_marks(), tgba.n_edges(), tgba.initial());
    let same_edge = |(a, b): (&Edge, &Edge)| {
        (a.target, a.marks) == (b.target, b.marks)
            && one.labels().cubes(a.label).eq(other.labels().cubes(b.label))
    };
    let same_edges = |state: State| {
        let (a, b) = (one.edges(state), other.edges(state));
        a.len() == b.len() && a.iter().zip(b).all(same_edge)
    };
    comparable && shape(one) == shape(other) && one.states().all(same_edges)
}

/// All successes, or the first failure if there are none. A spent budget ends everything.
fn any<T>(results: impl Iterator<Item = Result<T, GaveUp>>) -> Result<Vec<T>, GaveUp> {
    let (mut found, mut failure) = (vec![], None);
    for result in results {
        match result {
            Ok(result) => found.push(result),
            Err(GaveUp::Limit(limit)) => return Err(limit.into()),
            Err(reason) => failure = failure.or(Some(reason)),
        }
    }
    match failure {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}
