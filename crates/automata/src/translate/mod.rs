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
//! Whoever has a clock passes a [`Budget`], which may end a translation at any time.
//! `cargo bench -p stubborn-benches --bench corpus -- families` shows what hard formulas take.

mod candidates;
mod merge;
mod rewrite;
mod tableau;

use std::borrow::Borrow;

use base::{Budget, Limit};
use ltl::{Formula, Formulas};

use crate::clean::{simplify_marks, trim};
use crate::degeneralize::{Placement, degeneralize};
use crate::gave_up::{GaveUp, TooLarge};
use crate::simulation::{Direction, Relation, reduce_with_fuel};
use crate::tgba::Tgba;
use crate::translate::candidates::candidates;
use crate::work::Work;

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
/// # use stubborn_automata::{Effort, accepts, translate};
/// # use base::{Budget, budget::Patience};
/// # use ltl::{Formulas, Lasso, Valuation};
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G F a & G F b", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut Budget::unlimited();
/// let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
/// assert_eq!((tgba.n_states(), tgba.n_marks()), (1, 2));
/// let [a, b] = ["a", "b"].map(|name| Valuation::from_iter([formulas.proposition(name)]));
/// assert_eq!(accepts(&tgba, &Lasso::new(vec![], vec![a.clone(), b]).unwrap(), budget), Ok(true));
/// assert_eq!(accepts(&tgba, &Lasso::new(vec![], vec![a]).unwrap(), budget), Ok(false));
///
/// // A budget that is spent ends it.
/// let watch = Patience::new(0);
/// let budget = &mut Budget::new(u64::MAX, u64::MAX, &watch);
/// assert!(translate(&mut formulas, formula, Effort::High, budget).is_err());
/// ```
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn translate(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    let config = config.into();
    Work::new(budget, config.fuel).holding(|work| {
        let candidates = candidates(formulas, formula, config, work)?;
        smallest(candidates, work.budget)?.ok_or(TooLarge::States.into())
    })
}

/// The same with a single mark, on states or on edges.
///
/// ```
/// # use stubborn_automata::{Effort, Placement, translate_ba};
/// # use ltl::Formulas;
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G F a & G F b", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let ba = translate_ba(&mut formulas, formula, Effort::High, Placement::States, budget).unwrap();
/// assert_eq!((ba.n_states(), ba.n_marks()), (3, 1));
/// assert!(ba.is_state_based());
/// ```
///
/// # Errors
/// The automaton would be too large, or the budget is spent.
pub fn translate_ba(
    formulas: &mut Formulas,
    formula: Formula,
    config: impl Into<Config>,
    placement: Placement,
    budget: &mut Budget<'_>,
) -> Result<Tgba, GaveUp> {
    let config = config.into();
    Work::new(budget, config.fuel).holding(|work| {
        let mut candidates = candidates(formulas, formula, config, work)?;
        candidates.sort_by_key(Tgba::n_states);
        let least = candidates.first().map_or(0, Tgba::n_states);
        let mut found: Vec<Tgba> = vec![];
        for tgba in candidates.iter().filter(|tgba| tgba.n_states() <= least + MAX_EXCESS) {
            found.push(to_ba_with_fuel(tgba, config.effort, placement, work)?);
        }
        smallest(found, work.budget)?.ok_or(TooLarge::States.into())
    })
}

/// An automaton with so many states more than another is not expected to have the smaller BA.
const MAX_EXCESS: usize = 10;

/// The automaton with a single mark, on states or on edges, and reduced.
///
/// # Errors
/// The budget is spent.
pub fn to_ba(
    tgba: &Tgba,
    effort: Effort,
    placement: Placement,
    budget: &mut Budget<'_>,
) -> Result<Tgba, Limit> {
    let mut work = Work::new(budget, Config::default().fuel);
    work.holding(|work| to_ba_with_fuel(tgba, effort, placement, work))
}

fn to_ba_with_fuel(
    tgba: &Tgba,
    effort: Effort,
    placement: Placement,
    work: &mut Work<'_, '_>,
) -> Result<Tgba, Limit> {
    let is_large = tgba.n_states() > ORDERS_MAX_STATES;
    let orders = level_orders(tgba.n_marks(), if is_large { Effort::Low } else { effort });
    let mut found: Vec<Tgba> = vec![];
    for order in orders {
        let ba = degeneralize(tgba, placement, &order, work.budget)?;
        // There is always the order as it is; without fuel the others are no better.
        if !found.is_empty() && GaveUp::optional(work.spend(ba.n_edges() as u64))?.is_none() {
            break;
        }
        found.push(iterate(ba, effort, work)?);
    }
    Ok(smallest(found, work.budget)?.unwrap_or_else(|| tgba.clone()))
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

/// The best automaton: with the fewest states, the least choice, the fewest edges and marks; of equals the
/// first.
fn smallest<T: Borrow<Tgba>>(
    automata: impl IntoIterator<Item = T>,
    budget: &mut Budget<'_>,
) -> Result<Option<T>, Limit> {
    let mut best = None;
    for automaton in automata {
        let tgba = automaton.borrow();
        let choices = tgba.n_nondeterministic_states(budget)?;
        let size = (tgba.n_states(), choices, tgba.n_edges(), tgba.n_marks());
        if best.as_ref().is_none_or(|(least, _)| size < *least) {
            best = Some((size, automaton));
        }
    }
    Ok(best.map(|(_, automaton)| automaton))
}

/// Cleans an automaton, and reduces it by simulation.
///
/// # Errors
/// The budget is spent.
pub fn polish(tgba: Tgba, effort: Effort, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let clean = simplify_marks(trim(tgba, budget)?, budget)?;
    polish_with_fuel(clean, effort, &mut Work::new(budget, Config::default().fuel))
}

fn polish_with_fuel(tgba: Tgba, effort: Effort, work: &mut Work<'_, '_>) -> Result<Tgba, Limit> {
    let clean = simplify_marks(trim(tgba, work.budget)?, work.budget)?;
    simplify_marks(iterate(clean, effort, work)?, work.budget)
}

/// Reductions until nothing changes or the fuel is used up.
fn iterate(tgba: Tgba, effort: Effort, work: &mut Work<'_, '_>) -> Result<Tgba, Limit> {
    let mut tgba = tgba;
    let mut reduce = |tgba: &mut Tgba, direction, relation| -> Result<bool, Limit> {
        let reduced = GaveUp::optional(reduce_with_fuel(tgba, direction, relation, work))?;
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
