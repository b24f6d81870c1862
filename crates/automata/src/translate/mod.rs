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
//! Any formula, up to limits on subformulas, marks, states, labels and work: see [`TooLarge`]. Automata are
//! exponential in formulas, and so may be the time it takes to make them small. Therefore work is
//! counted (`work`): after [`Config::fuel`] steps an automaton is taken as it is, the same on every machine.
//! Whoever has a clock passes a [`Budget`], which may end a translation at any time:
//! [`translate_within`] and [`translate_ba_within`].
//! `cargo run --release -p stubborn-automata --example families` shows what hard formulas take.

mod candidates;
mod merge;
mod rewrite;
mod tableau;
pub(crate) mod work;

use base::{Budget, Limit};
use ltl::{Formula, Formulas};

use crate::clean::{simplify_marks, trim};
use crate::degeneralize::{Placement, degeneralize};
use crate::simulation::{Direction, Relation, reduce_within};
use crate::tgba::Tgba;
use crate::translate::candidates::candidates;
use crate::translate::work::{Stop, Work, optional};

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
    /// There was not enough [fuel](Config::fuel) to make any automaton.
    Work,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TooLarge::Formula => "the formula has too many different subformulas",
            TooLarge::Marks => "the automaton would need too many acceptance marks",
            TooLarge::States => "the automaton would have too many states",
            TooLarge::Labels => "the labels of the automaton would be too large",
            TooLarge::Work => "the translation would take too long",
        })
    }
}

impl std::error::Error for TooLarge {}

/// Why there is no automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// The formula is too large.
    TooLarge(TooLarge),
    /// The budget is spent.
    Limit(Limit),
}

impl std::fmt::Display for GaveUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GaveUp::TooLarge(reason) => reason.fmt(f),
            GaveUp::Limit(limit) => limit.fmt(f),
        }
    }
}

impl std::error::Error for GaveUp {}

impl From<TooLarge> for GaveUp {
    fn from(reason: TooLarge) -> GaveUp {
        GaveUp::TooLarge(reason)
    }
}

impl From<Limit> for GaveUp {
    fn from(limit: Limit) -> GaveUp {
        GaveUp::Limit(limit)
    }
}

impl From<Stop> for GaveUp {
    fn from(stop: Stop) -> GaveUp {
        match stop {
            Stop::Fuel => GaveUp::TooLarge(TooLarge::Work),
            Stop::Limit(limit) => GaveUp::Limit(limit),
        }
    }
}

/// How to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How hard to try. By default [`Effort::High`].
    pub effort: Effort,
    /// The largest tableau that is made. By default 50 000 states.
    pub max_states: usize,
    /// How much work may be done, in steps, of which there are 10 to 40 million in a second. What only makes
    /// the automaton smaller ends when it is used up. By default 100 million.
    pub fuel: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { effort: Effort::High, max_states: 50_000, fuel: 100_000_000 }
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
    without_limit(|budget| translate_within(formulas, formula, config, budget))
}

/// The same, ended by a budget that is spent.
///
/// ```
/// # use automata::translate::{GaveUp, translate_within};
/// # use automata::Effort;
/// # use base::{Budget, Limit, budget::Patience};
/// let mut formulas = ltl::Formulas::new();
/// let text = (1..=8).map(|i| format!("(G F a{i} | F G b{i})")).collect::<Vec<_>>().join(" & ");
/// let formula = ltl::parse(&mut formulas, &text, base::SourceId::new(0), 0).unwrap().formula;
/// let watch = Patience::new(0);
/// let mut budget = Budget::new(u64::MAX, u64::MAX, &watch);
/// let result = translate_within(&mut formulas, formula, Effort::High, &mut budget);
/// assert_eq!(result.unwrap_err(), GaveUp::Limit(Limit::Interrupt));
/// ```
pub fn translate_within(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    let config = config.into();
    let mut work = Work::new(budget, config.fuel);
    let candidates = candidates(formulas, formula, config, &mut work)?;
    candidates.into_iter().min_by_key(size).ok_or(TooLarge::States.into())
}

/// What comes of something that is ended only if it is too large.
fn without_limit<T>(run: impl FnOnce(&mut Budget<'_>) -> Result<T, GaveUp>) -> Result<T, TooLarge> {
    run(&mut Budget::unlimited()).map_err(|reason| match reason {
        GaveUp::TooLarge(reason) => reason,
        // An unlimited budget is never spent.
        GaveUp::Limit(_) => TooLarge::Work,
    })
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
    without_limit(|budget| translate_ba_within(formulas, formula, config, placement, budget))
}

/// The same, ended by a budget that is spent.
pub fn translate_ba_within(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    placement: Placement,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    let config = config.into();
    let mut work = Work::new(budget, config.fuel);
    let mut candidates = candidates(formulas, formula, config, &mut work)?;
    candidates.sort_by_key(Tgba::n_states);
    let smallest = candidates.first().map_or(0, Tgba::n_states);
    let mut found: Vec<Tgba> = vec![];
    for tgba in candidates.iter().filter(|tgba| tgba.n_states() <= smallest + MAX_EXCESS) {
        found.push(to_ba_within(tgba, config.effort, placement, &mut work)?);
    }
    found.into_iter().min_by_key(size).ok_or(TooLarge::States.into())
}

/// An automaton with so many states more than another is not expected to have the smaller BA.
const MAX_EXCESS: usize = 10;

/// The automaton with a single mark, on states or on edges, and reduced.
#[must_use]
pub fn to_ba(tgba: &Tgba, effort: Effort, placement: Placement) -> Tgba {
    let mut budget = Budget::unlimited();
    let mut work = Work::new(&mut budget, Config::default().fuel);
    to_ba_within(tgba, effort, placement, &mut work).unwrap_or_else(|_| tgba.clone())
}

fn to_ba_within(
    tgba: &Tgba,
    effort: Effort,
    placement: Placement,
    work: &mut Work<'_, '_>,
) -> Result<Tgba, Limit> {
    let is_large = tgba.n_states() > ORDERS_MAX_STATES;
    let orders = level_orders(tgba.n_marks(), if is_large { Effort::Low } else { effort });
    let mut best: Option<Tgba> = None;
    for order in orders {
        let ba = degeneralize(tgba, placement, &order);
        // There is always the order as it is; without fuel the others are no better.
        if best.is_some() && optional(work.spend(ba.n_edges() as u64))?.is_none() {
            break;
        }
        let reduced = iterate(ba, effort, work)?;
        debug_assert_eq!(reduced.n_marks(), 1);
        if best.as_ref().is_none_or(|best| size(&reduced) < size(best)) {
            best = Some(reduced);
        }
    }
    Ok(best.unwrap_or_else(|| tgba.clone()))
}

/// For larger automata one order of the levels must do.
const ORDERS_MAX_STATES: usize = 100;

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

/// Cleans an automaton, and reduces it by simulation.
#[must_use]
pub fn polish(tgba: Tgba, effort: Effort) -> Tgba {
    let mut budget = Budget::unlimited();
    let mut work = Work::new(&mut budget, Config::default().fuel);
    let clean = simplify_marks(trim(tgba));
    polish_within(clean.clone(), effort, &mut work).unwrap_or(clean)
}

fn polish_within(tgba: Tgba, effort: Effort, work: &mut Work<'_, '_>) -> Result<Tgba, Limit> {
    let clean = simplify_marks(trim(tgba));
    Ok(simplify_marks(iterate(clean, effort, work)?))
}

/// Reductions until nothing changes or the fuel is used up.
fn iterate(tgba: Tgba, effort: Effort, work: &mut Work<'_, '_>) -> Result<Tgba, Limit> {
    let mut tgba = tgba;
    let mut reduce = |tgba: &mut Tgba, direction, relation| -> Result<bool, Limit> {
        let reduced = optional(reduce_within(tgba, direction, relation, work))?;
        Ok(reduced.map(|reduced| *tgba = reduced).is_some())
    };
    let mut goes_on = reduce(&mut tgba, Direction::Forward, Relation::Bisimulation)?;
    while goes_on && effort > Effort::Low {
        let before = (tgba.n_states(), tgba.n_edges());
        let relation = if tgba.n_states() <= SIMULATION_MAX_STATES {
            Relation::Simulation
        } else {
            Relation::Bisimulation
        };
        goes_on = reduce(&mut tgba, Direction::Forward, relation)?
            && reduce(&mut tgba, Direction::Backward, relation)?
            && before != (tgba.n_states(), tgba.n_edges());
    }
    Ok(tgba)
}

/// Larger automata are only merged by bisimulation.
const SIMULATION_MAX_STATES: usize = 400;
