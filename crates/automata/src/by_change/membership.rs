//! Membership of a lasso word, or of a finite word, in testing automata, straight from Definitions 5 and 6
//! of 003 and from 000.
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

use ltl::{Lasso, Valuation};
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet};
use super::ta::Ta;
use super::tgta::Tgta;
use crate::scc::components;
use crate::tgba::{Marks, State};

/// Whether the automaton accepts the word.
///
/// ```
/// # use automata::{Effort, by_change::{Limits, to_ta, ta_accepts}, translate};
/// # use ltl::{Formulas, Lasso, Valuation};
/// let mut formulas = Formulas::new();
/// let formula = ltl::parse(&mut formulas, "F G a", base::SourceId::new(0), 0).unwrap().formula;
/// let ta = to_ta(&translate(&mut formulas, formula, Effort::High).unwrap(), &Limits::default()).unwrap();
/// let (yes, no) = (Valuation::from_iter([formulas.proposition("a")]), Valuation::new());
/// assert!(ta_accepts(&ta, &Lasso::new(vec![no.clone()], vec![yes.clone()]).unwrap()));
/// assert!(!ta_accepts(&ta, &Lasso::new(vec![], vec![yes, no]).unwrap()));
/// ```
pub fn ta_accepts(ta: &Ta, lasso: &Lasso) -> bool {
    let product = Product::new(&ta.graph, lasso, true);
    let finite = |&(state, _): &(State, usize)| ta.acceptance(state).finite;
    if product.nodes.iter().any(finite) {
        return true;
    }
    let changes =
        lasso.cycle().iter().any(|letter| product.letter(letter) != product.letter(&lasso.cycle()[0]));
    if !changes {
        // The word stutters in its cycle, and a run may wait in each state that it reaches there.
        let waits = |&(state, position): &(State, usize)| {
            position >= lasso.prefix().len() && ta.acceptance(state).livelock
        };
        return product.nodes.iter().any(waits);
    }
    product.has_cycle(
        |index| if ta.acceptance(product.nodes[index].0).buchi { Marks(1) } else { Marks::NONE },
        Marks(1),
    )
}

/// Whether the automaton accepts the finite word: 000's conditions (iv) and (v). The empty word is never
/// accepted.
pub fn ta_accepts_finite(ta: &Ta, word: &[Valuation]) -> bool {
    let letters: Vec<PropSet> = word.iter().map(|letter| PropSet::of(letter, ta.propositions())).collect();
    let Some(&first) = letters.first() else { return false };
    let begins = ta.initial().iter().filter(|&&(valuation, _)| valuation == first);
    let mut here: Vec<State> = begins.map(|&(_, state)| state).collect();
    for pair in letters.windows(2) {
        if here.iter().any(|&state| ta.acceptance(state).finite) {
            return true;
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
    here.iter().any(|&state| ta.acceptance(state).finite || ta.acceptance(state).deadlock)
}

/// Whether the automaton accepts the word.
pub fn tgta_accepts(tgta: &Tgta, lasso: &Lasso) -> bool {
    let product = Product::new(&tgta.graph, lasso, false);
    product.has_cycle(|_| Marks::NONE, tgta.all_marks())
}

/// The reachable pairs of states and positions, with the steps between them.
struct Product<'a> {
    graph: &'a Graph,
    nodes: Vec<(State, usize)>,
    steps: Vec<Vec<(Marks, usize)>>,
}

impl<'a> Product<'a> {
    /// `may_wait`: whether a state may be kept when nothing changes, without a step.
    fn new(graph: &'a Graph, lasso: &Lasso, may_wait: bool) -> Product<'a> {
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
            let moves = moves.collect();
            product.steps.push(moves);
        }
        product
    }

    fn letter(&self, letter: &Valuation) -> PropSet {
        PropSet::of(letter, &self.graph.propositions)
    }

    /// Whether some cycle has all these marks on its steps and nodes.
    fn has_cycle(&self, of_node: impl Fn(usize) -> Marks, all: Marks) -> bool {
        let successors: Vec<Vec<usize>> =
            self.steps.iter().map(|steps| steps.iter().map(|step| step.1).collect()).collect();
        let found = components(&successors);
        let mut seen: Vec<Option<Marks>> = vec![None; found.n];
        for (node, steps) in self.steps.iter().enumerate() {
            for &(marks, _) in steps.iter().filter(|step| found.of[step.1] == found.of[node]) {
                let seen = &mut seen[found.of[node]];
                *seen = Some(seen.unwrap_or_default().union(marks).union(of_node(node)));
            }
        }
        seen.contains(&Some(all))
    }
}
