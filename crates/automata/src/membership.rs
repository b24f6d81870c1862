//! Membership: does an automaton accept this lasso word?
//!
//! # Idea
//! The product of the automaton with the positions of the word is a finite graph; the word is accepted
//! iff an accepting component can be reached in it. This is the definition of acceptance, read on a
//! lasso, and judges every translation and reduction; it uses nothing of them.

use base::{Budget, Limit};
use ltl::Lasso;
use rustc_hash::FxHashMap;

use crate::scc::components;
use crate::tgba::{Marks, State, Tgba};
use crate::work::holding;

/// A node is in a list and in a table, and has steps.
const BYTES_PER_NODE: usize = 4 * size_of::<(State, usize)>() + size_of::<Vec<(Marks, usize)>>();

/// Whether the automaton accepts the word.
///
/// ```
/// # use stubborn_automata::{Marks, Tgba, accepts, label::Label};
/// # use ltl::{Lasso, Prop, Valuation};
/// // Infinitely often p.
/// let p = Prop::new(0);
/// let mut tgba = Tgba::new(1);
/// let label = tgba.labels_mut().prop(p);
/// tgba.add_edge(tgba.initial(), label, Marks::single(0), tgba.initial());
/// tgba.add_edge(tgba.initial(), Label::TRUE, Marks::NONE, tgba.initial());
/// let (yes, no) = (Valuation::from_iter([p]), Valuation::new());
/// let budget = &mut base::Budget::unlimited();
/// assert_eq!(accepts(&tgba, &Lasso::new(vec![], vec![yes.clone(), no.clone()]).unwrap(), budget), Ok(true));
/// assert_eq!(accepts(&tgba, &Lasso::new(vec![yes], vec![no]).unwrap(), budget), Ok(false));
/// ```
///
/// # Errors
/// The budget is spent.
pub fn accepts(tgba: &Tgba, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
    accepts_from(tgba, &[tgba.initial()], lasso, budget)
}

/// Whether some run that begins in one of the states accepts the word.
pub(crate) fn accepts_from(
    tgba: &Tgba,
    states: &[State],
    lasso: &Lasso,
    budget: &mut Budget<'_>,
) -> Result<bool, Limit> {
    holding(budget, |budget| {
        let edges = |state: State, position: usize| {
            let letter = &lasso.positions()[position];
            let taken = tgba.edges(state).iter().filter(|edge| tgba.labels().holds(edge.label, letter));
            taken.map(|edge| (edge.marks, edge.target)).collect()
        };
        let product = Product::new(states.iter().copied(), lasso, edges, budget)?;
        product.has_cycle(tgba.all_marks(), budget)
    })
}

/// The reachable pairs of states and positions of a word, with the steps between them.
pub(crate) struct Product {
    pub(crate) nodes: Vec<(State, usize)>,
    /// For each node the marks and targets.
    steps: Vec<Vec<(Marks, usize)>>,
}

impl Product {
    /// What can be reached from these states; `moves` says where a state leads at a position, and with which
    /// marks.
    pub(crate) fn new(
        states: impl Iterator<Item = State>,
        lasso: &Lasso,
        moves: impl Fn(State, usize) -> Vec<(Marks, State)>,
        budget: &mut Budget<'_>,
    ) -> Result<Product, Limit> {
        let mut nodes: Vec<(State, usize)> = states.map(|state| (state, 0)).collect();
        let mut numbers: FxHashMap<(State, usize), usize> = nodes.iter().copied().zip(0..).collect();
        let mut steps = vec![];
        while let Some(&(state, position)) = nodes.get(steps.len()) {
            budget.tick()?;
            let next = lasso.next(position);
            let step = |(marks, target): (Marks, State)| {
                let number = *numbers.entry((target, next)).or_insert_with(|| {
                    nodes.push((target, next));
                    nodes.len() - 1
                });
                (marks, number)
            };
            let taken: Vec<(Marks, usize)> = moves(state, position).into_iter().map(step).collect();
            budget.hold((BYTES_PER_NODE + size_of_val(&taken[..])) as u64)?;
            steps.push(taken);
        }
        Ok(Product { nodes, steps })
    }

    /// Whether some cycle has all these marks.
    pub(crate) fn has_cycle(&self, all: Marks, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let found = components(&self.steps, |_, step| Some(step.1), budget)?;
        let seen = found.marks(&self.steps, |_, &(marks, target)| Some((target, marks)), budget)?;
        Ok(seen.contains(&Some(all)))
    }
}
