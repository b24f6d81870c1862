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
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet};
use super::ta::Ta;
use super::tgta::Tgta;
use crate::membership::{BYTES_PER_NODE, has_cycle};
use crate::tgba::{Marks, State};
use crate::work::holding;

/// Whether the automaton accepts the word.
///
/// ```
/// # use automata::{Effort, by_change::{Limits, to_ta, ta_accepts}, translate};
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
    let product = Product::new(&ta.graph, lasso, true, budget)?;
    let finite = |&(state, _): &(State, usize)| ta.acceptance(state).finite;
    if product.nodes.iter().any(finite) {
        return Ok(true);
    }
    let changes =
        lasso.cycle().iter().any(|letter| product.letter(letter) != product.letter(&lasso.cycle()[0]));
    if !changes {
        // The word stutters in its cycle, and a run may wait in each state that it reaches there.
        let waits = |&(state, position): &(State, usize)| {
            position >= lasso.prefix().len() && ta.acceptance(state).livelock
        };
        return Ok(product.nodes.iter().any(waits));
    }
    let marks = |index: usize| Marks(u64::from(ta.acceptance(product.nodes[index].0).buchi));
    has_cycle(&product.steps, marks, Marks(1), budget)
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
        let product = Product::new(&tgta.graph, lasso, false, budget)?;
        has_cycle(&product.steps, |_| Marks::NONE, tgta.all_marks(), budget)
    })
}

/// The reachable pairs of states and positions, with the steps between them.
struct Product<'a> {
    graph: &'a Graph,
    nodes: Vec<(State, usize)>,
    steps: Vec<Vec<(Marks, usize)>>,
}

impl<'a> Product<'a> {
    /// `may_wait`: whether a state may be kept when nothing changes, without a step.
    fn new(
        graph: &'a Graph,
        lasso: &Lasso,
        may_wait: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a>, Limit> {
        let mut product = Product { graph, nodes: vec![], steps: vec![] };
        let letters: Vec<PropSet> = lasso.positions().iter().map(|letter| product.letter(letter)).collect();
        let mut numbers: FxHashMap<(State, usize), usize> = FxHashMap::default();
        for &(valuation, state) in &graph.initial {
            if valuation == letters[0] {
                numbers.insert((state, 0), product.nodes.len());
                product.nodes.push((state, 0));
            }
        }
        while let Some(&(state, position)) = product.nodes.get(product.steps.len()) {
            budget.tick()?;
            let next = lasso.next(position);
            let change = letters[position].flip(letters[next]);
            let taken = graph.steps[state.index()].iter().filter(|step| step.change == change);
            let mut moves: Vec<(Marks, State)> = taken.map(|step| (step.marks, step.target)).collect();
            if may_wait && change.is_empty() {
                moves.push((Marks::NONE, state));
            }
            let moves = moves.into_iter().map(|(marks, target)| {
                let number = *numbers.entry((target, next)).or_insert_with(|| {
                    product.nodes.push((target, next));
                    product.nodes.len() - 1
                });
                (marks, number)
            });
            let moves: Vec<(Marks, usize)> = moves.collect();
            budget.hold((BYTES_PER_NODE + size_of_val(&moves[..])) as u64)?;
            product.steps.push(moves);
        }
        Ok(product)
    }

    fn letter(&self, letter: &Valuation) -> PropSet {
        PropSet::of(letter, &self.graph.propositions)
    }
}
