//! Membership of a lasso word, or of a finite word, in testing automata, straight from the definitions.
//!
//! # Idea
//! Automaton and positions of the word make a finite graph. At a position the automaton takes a step that
//! is labeled by the change to the next position; a TA may also stay where it is if nothing changes. What
//! a run has to do is read off the definitions: the file judges constructions and reductions, so it uses
//! nothing of them.
//!
//! # References
//! [bensalem.12.topnoc], Definitions 5 and 6; [hansen.02.fmics], Section 3.1, for finite acceptance and
//! finite words.

use base::{Budget, Limit};
use ltl::{Lasso, Valuation};

use super::graph::{Graph, PropSet};
use super::ta::Ta;
use super::tgta::Tgta;
use crate::membership::Product;
use crate::tgba::{Marks, State};
use crate::work::holding;

/// Whether the automaton accepts the word.
///
/// ```
/// # use stubborn_automata::{Effort, by_change::{Limits, to_ta, ta_accepts}, translate};
/// # use ltl::{Formulas, Lasso, Valuation};
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "F G a", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
/// let ta = to_ta(&tgba, &Limits::default(), budget).unwrap();
/// let (yes, no) = (Valuation::from_iter([formulas.proposition("a")]), Valuation::new());
/// let mut accepts = |prefix, cycle| ta_accepts(&ta, &Lasso::new(prefix, cycle).unwrap(), budget);
/// assert_eq!(accepts(vec![no.clone()], vec![yes.clone()]), Ok(true));
/// assert_eq!(accepts(vec![], vec![yes, no]), Ok(false));
/// ```
///
/// # Errors
/// The budget is spent.
pub fn ta_accepts(ta: &Ta, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    holding(budget, |budget| accepts(ta, lasso, budget))
}

fn accepts(ta: &Ta, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    let buchi = |state: State| Marks(ta.acceptance(state).buchi.into());
    let product = product(ta, lasso, budget, |state, change| {
        // A state may be kept when nothing changes, without a step.
        let waits = change.is_empty().then_some((buchi(state), state));
        let taken = ta.steps(state).iter().filter(|step| step.change == change);
        taken.map(|step| (buchi(state), step.target)).chain(waits).collect()
    })?;
    if product.nodes.iter().any(|&(state, _)| ta.acceptance(state).finite) {
        return Ok(true);
    }
    let letter = |letter: &Valuation| PropSet::of(letter, ta.propositions());
    if lasso.cycle().iter().all(|own| letter(own) == letter(&lasso.cycle()[0])) {
        // The word stutters in its cycle, and a run may wait in each state that it reaches there.
        let waits = |&(state, position): &(State, usize)| {
            position >= lasso.prefix().len() && ta.acceptance(state).livelock
        };
        return Ok(product.nodes.iter().any(waits));
    }
    product.has_cycle(Marks(1), budget)
}

/// Whether the automaton accepts the finite word: conditions (iv) and (v) of [hansen.02.fmics]. The empty
/// word is never accepted.
///
/// # Errors
/// The budget is spent.
pub fn ta_accepts_finite(ta: &Ta, word: &[Valuation], budget: &mut Budget<'_>) -> Result<bool, Limit> {
    let letters: Vec<PropSet> = word.iter().map(|letter| PropSet::of(letter, ta.propositions())).collect();
    let Some(&first) = letters.first() else { return Ok(false) };
    let begins = ta.initial().iter().filter(|&&(valuation, _)| valuation == first);
    let mut here: Vec<State> = begins.map(|&(_, state)| state).collect();
    for pair in letters.windows(2) {
        here.iter().try_for_each(|_| budget.tick())?;
        if here.iter().any(|&state| ta.acceptance(state).finite) {
            return Ok(true);
        }
        let change = pair[0].flip(pair[1]);
        let steps = here.iter().flat_map(|&state| ta.steps(state));
        let mut next: Vec<State> =
            steps.filter(|step| step.change == change).map(|step| step.target).collect();
        if change.is_empty() {
            next.extend(&here);
        }
        next.sort_unstable();
        next.dedup();
        here = next;
    }
    Ok(here.iter().any(|&state| ta.acceptance(state).finite || ta.acceptance(state).deadlock))
}

/// Whether the automaton accepts the word.
///
/// # Errors
/// The budget is spent.
pub fn tgta_accepts(tgta: &Tgta, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    holding(budget, |budget| {
        let product = product(tgta, lasso, budget, |state, change| {
            let taken = tgta.steps(state).iter().filter(|step| step.change == change);
            taken.map(|step| (step.marks, step.target)).collect()
        })?;
        product.has_cycle(tgta.all_marks(), budget)
    })
}

/// Automaton and word together; `moves` says where a change leads from a state, and with which marks.
fn product(
    graph: &Graph,
    lasso: &Lasso,
    budget: &mut Budget<'_>,
    moves: impl Fn(State, PropSet) -> Vec<(Marks, State)>,
) -> Result<Product, Limit> {
    let letters: Vec<PropSet> =
        lasso.positions().iter().map(|letter| PropSet::of(letter, graph.propositions())).collect();
    let begins = graph.initial().iter().filter(|(valuation, _)| *valuation == letters[0]);
    let moves = |state, position: usize| moves(state, letters[position].flip(letters[lasso.next(position)]));
    Product::new(begins.map(|&(_, state)| state), lasso, moves, budget)
}
