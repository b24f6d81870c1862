//! Translation of formulas into automata.
//!
//! # Idea
//! The formula is simplified, brought into negation normal form and simplified again; eventualities
//! and universalities are pulled out of temporal operators (`rewrite`). A tableau (`tableau`) makes an
//! automaton of it, which is cleaned and reduced by [simulation](crate::simulation) in both directions
//! until nothing changes. Obligations also have a smallest deterministic automaton (`weak`); in small
//! automata states are merged by trial (`merge`). Of all candidates the smallest is kept, and among
//! equals the one with less choice.
//!
//! # Levels of effort
//! - [`Effort::Low`]: one tableau, cleaned, and merged by bisimulation.
//! - [`Effort::Medium`]: simulation, and deterministic automata for what is an obligation by its shape.
//! - [`Effort::High`]: also tableaux that choose late, and of the formula as it was; deterministic automata
//!   for what turns out to be an obligation; merging by trial; and several orders of levels when there
//!   must be a single mark.
//!
//! # Requirements and limits
//! Any formula, up to limits on subformulas, marks, states and labels: see [`TooLarge`]. Below the limits
//! a hard formula may still take minutes at high effort: automata are exponential in formulas.

mod merge;
mod rewrite;
mod tableau;

use ltl::{Formula, Formulas, negation_normal_form, simplify};

use crate::clean::{simplify_marks, trim};
use crate::degeneralize::{Placement, degeneralize};
use crate::simulation::{Direction, Relation, reduce};
use crate::tgba::Tgba;
use crate::translate::merge::merge_by_trial;
use crate::translate::rewrite::{drop_redundant, pull_out};
use crate::translate::tableau::{Branching, fits, tableau};
use crate::weak::Weak;

/// How hard to try for a small automaton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Fast.
    Low,
    /// Simulation.
    Medium,
    /// Several candidates, of which the smallest is taken.
    #[default]
    High,
}

/// Why a formula could not be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// The formula has too many different subformulas.
    Formula,
    /// The automaton would need more than [`MAX_MARKS`](crate::tgba::MAX_MARKS) marks.
    Marks,
    /// The automaton would have too many states.
    States,
    /// The labels would be too large.
    Labels,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TooLarge::Formula => "the formula has too many different subformulas",
            TooLarge::Marks => "the automaton would need too many acceptance marks",
            TooLarge::States => "the automaton would have too many states",
            TooLarge::Labels => "the labels of the automaton would be too large",
        })
    }
}

impl std::error::Error for TooLarge {}

/// How to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How hard to try. By default [`Effort::High`].
    pub effort: Effort,
    /// The largest tableau that is made. By default 50 000 states.
    pub max_states: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { effort: Effort::High, max_states: 50_000 }
    }
}

impl From<Effort> for Config {
    fn from(effort: Effort) -> Config {
        Config { effort, ..Config::default() }
    }
}

/// The automaton that accepts exactly the words that satisfy the formula.
///
/// ```
/// # use automata::{Effort, accepts, translate};
/// # use ltl::{Formulas, Lasso, Valuation};
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G F a & G F b", base::SourceId::new(0), 0).unwrap().formula;
/// let tgba = translate(&mut formulas, formula, Effort::High).unwrap();
/// assert_eq!((tgba.n_states(), tgba.n_marks()), (1, 2));
/// let [a, b] = ["a", "b"].map(|name| Valuation::from_iter([formulas.proposition(name)]));
/// assert!(accepts(&tgba, &Lasso::new(vec![], vec![a.clone(), b]).unwrap()));
/// assert!(!accepts(&tgba, &Lasso::new(vec![], vec![a]).unwrap()));
/// ```
pub fn translate(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
) -> Result<Tgba, TooLarge> {
    let candidates = candidates(formulas, formula, config.into())?;
    candidates.into_iter().min_by_key(size).ok_or(TooLarge::States)
}

/// The same with a single mark, on states or on edges.
///
/// ```
/// # use automata::{Effort, Placement, translate_ba};
/// # use ltl::Formulas;
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G F a & G F b", base::SourceId::new(0), 0).unwrap().formula;
/// let ba = translate_ba(&mut formulas, formula, Effort::High, Placement::States).unwrap();
/// assert_eq!((ba.n_states(), ba.n_marks()), (3, 1));
/// assert!(ba.is_state_based());
/// ```
pub fn translate_ba(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    placement: Placement,
) -> Result<Tgba, TooLarge> {
    let config = config.into();
    let candidates = candidates(formulas, formula, config)?;
    let smallest = candidates.iter().map(Tgba::n_states).min().unwrap_or(0);
    let promising = candidates.iter().filter(|tgba| tgba.n_states() <= smallest + MAX_EXCESS);
    let smaller = promising.map(|tgba| to_ba(tgba, config.effort, placement));
    smaller.min_by_key(size).ok_or(TooLarge::States)
}

/// An automaton with so many states more than another is not expected to have the smaller BA.
const MAX_EXCESS: usize = 10;

/// The automaton with a single mark, on states or on edges, and reduced.
#[must_use]
pub fn to_ba(tgba: &Tgba, effort: Effort, placement: Placement) -> Tgba {
    let is_large = tgba.n_states() > ORDERS_MAX_STATES;
    let orders = level_orders(tgba.n_marks(), if is_large { Effort::Low } else { effort });
    let results = orders.iter().map(|order| reduce_ba(degeneralize(tgba, placement, order), effort));
    // There is always the order as it is.
    results.min_by_key(size).unwrap_or_else(|| tgba.clone())
}

/// For larger automata one order of the levels must do.
const ORDERS_MAX_STATES: usize = 100;

fn reduce_ba(ba: Tgba, effort: Effort) -> Tgba {
    let reduced = iterate(ba, effort);
    debug_assert_eq!(reduced.n_marks(), 1);
    reduced
}

/// Orders of the marks worth trying: all of a few, rotations of more.
fn level_orders(n_marks: u32, effort: Effort) -> Vec<Vec<u32>> {
    let identity: Vec<u32> = (0..n_marks).collect();
    if effort < Effort::High || n_marks < 2 {
        return vec![identity];
    }
    if n_marks <= 3 {
        return permutations(&identity);
    }
    let rotations = (0..identity.len().min(8)).map(|by| {
        let mut order = identity.clone();
        order.rotate_left(by);
        order
    });
    rotations.flat_map(|order| [order.iter().rev().copied().collect(), order]).collect()
}

fn permutations(items: &[u32]) -> Vec<Vec<u32>> {
    items.iter().fold(vec![vec![]], |shorter, &item| {
        let insert = |list: &Vec<u32>, place: usize| {
            let mut list = list.clone();
            list.insert(place, item);
            list
        };
        shorter.iter().flat_map(|list| (0..=list.len()).map(move |place| insert(list, place))).collect()
    })
}

/// What makes an automaton better than another.
fn size(tgba: &Tgba) -> (usize, usize, usize, u32) {
    (tgba.n_states(), tgba.n_nondeterministic_states(), tgba.n_edges(), tgba.n_marks())
}

/// Simplified, in negation normal form, and simplified again.
fn normalize(formulas: &mut Formulas, formula: Formula) -> Formula {
    let simple = simplify(formulas, formula);
    let normal = negation_normal_form(formulas, simple);
    simplify(formulas, normal)
}

/// Automata for the formula; at least one.
fn candidates(formulas: &mut Formulas, formula: Formula, config: Config) -> Result<Vec<Tgba>, TooLarge> {
    let normal = normalize(formulas, formula);
    if !fits(&formulas.propositions(normal)) {
        return Err(TooLarge::Formula);
    }
    let effort = config.effort;
    let normal = drop_redundant(formulas, normal);
    let pulled = pull_out(formulas, normal);
    let pulled = simplify(formulas, pulled);
    let pulled = pull_out(formulas, pulled);
    let early = tableau(formulas, pulled, Branching::Early, config.max_states);
    let mut found: Vec<Tgba> = early.clone().into_iter().map(|tgba| polish(tgba, effort)).collect();
    if effort == Effort::High {
        for (formula, branching) in
            [(pulled, Branching::Late), (normal, Branching::Early), (normal, Branching::Late)]
        {
            if formula == normal && normal == pulled && branching == Branching::Early {
                break;
            }
            // A tableau much larger than what we have will not be reduced to less.
            let smallest = found.iter().map(Tgba::n_states).min().unwrap_or(LATE_MAX_STATES);
            let tgba = tableau(formulas, formula, branching, LATE_MAX_STATES.min(5 * smallest + 30));
            found.extend(tgba.into_iter().map(|tgba| polish(tgba, effort)));
        }
    }
    let Some(smallest) = found.iter().min_by_key(|tgba| size(tgba)).cloned() else {
        return Err(early.err().unwrap_or(TooLarge::States));
    };
    let mut negation = Negation { formula: normal, automaton: None };
    if effort >= Effort::Medium
        && let Some(weak) = weak_candidate(formulas, &mut negation, &smallest, effort)
    {
        found.push(polish(weak.clone(), effort));
        found.push(weak);
    }
    if effort == Effort::High
        && let Some(smallest) = found.iter().min_by_key(|tgba| size(tgba))
        && merge::is_worth_trying(smallest)
        && let Some(negation) = negation.automaton(formulas)
    {
        let merged = merge_by_trial(smallest.clone(), negation);
        found.push(polish(merged, effort));
    }
    Ok(found)
}

/// An automaton for the negation of a formula, made when it is first needed; inside nothing if it is too
/// large.
struct Negation {
    formula: Formula,
    automaton: Option<Option<Tgba>>,
}

impl Negation {
    fn automaton(&mut self, formulas: &mut Formulas) -> Option<&Tgba> {
        let formula = self.formula;
        let automaton = self.automaton.get_or_insert_with(|| {
            let negation = formulas.not(formula);
            let negation = normalize(formulas, negation);
            let tgba = tableau(formulas, negation, Branching::Early, LATE_MAX_STATES).ok()?;
            Some(polish(tgba, Effort::Medium))
        });
        automaton.as_ref()
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
) -> Option<Tgba> {
    let by_shape = formulas.classes(negation.formula).is_obligation();
    if !by_shape && effort < Effort::High {
        return None;
    }
    let weak = Weak::minimal(tgba, WEAK_MAX_STATES);
    if by_shape && let Some(weak) = weak {
        return Some(weak.to_tgba(true));
    }
    let negation = negation.automaton(formulas)?;
    let weak = match weak {
        Some(weak) => weak,
        None => Weak::minimal(negation, WEAK_MAX_STATES)?.complement(),
    };
    let exact = by_shape || weak.is_exact(tgba, negation, PRODUCT_MAX_STATES) == Some(true);
    exact.then(|| weak.to_tgba(true))
}

/// Larger products are not searched.
const PRODUCT_MAX_STATES: usize = 20_000;

/// Larger subset constructions are given up.
const WEAK_MAX_STATES: usize = 2_000;

/// Cleans an automaton, and reduces it by simulation.
#[must_use]
pub fn polish(tgba: Tgba, effort: Effort) -> Tgba {
    let clean = simplify_marks(trim(tgba));
    simplify_marks(iterate(clean, effort))
}

/// Reductions until nothing changes.
fn iterate(tgba: Tgba, effort: Effort) -> Tgba {
    let mut tgba = reduce(tgba, Direction::Forward, Relation::Bisimulation);
    if effort == Effort::Low {
        return tgba;
    }
    loop {
        let before = (tgba.n_states(), tgba.n_edges());
        let relation = if tgba.n_states() <= SIMULATION_MAX_STATES {
            Relation::Simulation
        } else {
            Relation::Bisimulation
        };
        tgba = reduce(tgba, Direction::Forward, relation);
        tgba = reduce(tgba, Direction::Backward, relation);
        if before == (tgba.n_states(), tgba.n_edges()) {
            return tgba;
        }
    }
}

/// Larger automata are only merged by bisimulation.
const SIMULATION_MAX_STATES: usize = 400;
