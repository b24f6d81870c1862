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
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// A node is in a list and in a table, and has steps.
pub(crate) const BYTES_PER_NODE: usize = 4 * size_of::<(State, usize)>() + size_of::<Vec<(Marks, usize)>>();

/// Whether the automaton accepts the word.
///
/// ```
/// # use automata::{Marks, Tgba, accepts, label::Label};
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
        let steps = product_steps(tgba, states, lasso, budget)?;
        has_cycle(&steps, |_| Marks::NONE, tgba.all_marks(), budget)
    })
}

/// Whether some cycle has all these marks on its steps and nodes.
pub(crate) fn has_cycle(
    steps: &[Vec<(Marks, usize)>],
    of_node: impl Fn(usize) -> Marks,
    all: Marks,
    budget: &mut Budget<'_>,
) -> Result<bool, Limit> {
    let found = components(steps, |_, step| Some(step.1), budget)?;
    let mut seen: Vec<Option<Marks>> = vec![None; found.n];
    for (node, steps) in steps.iter().enumerate() {
        budget.tick()?;
        for &(marks, _) in steps.iter().filter(|step| found.of[step.1] == found.of[node]) {
            let seen = &mut seen[found.of[node]];
            *seen = Some(seen.unwrap_or_default().union(marks).union(of_node(node)));
        }
    }
    Ok(seen.contains(&Some(all)))
}

/// The reachable steps of automaton and word together: for each node the marks and targets.
fn product_steps(
    tgba: &Tgba,
    states: &[State],
    lasso: &Lasso,
    budget: &mut Budget<'_>,
) -> Result<Vec<Vec<(Marks, usize)>>, Limit> {
    let mut numbers: FxHashMap<(State, usize), usize> = FxHashMap::default();
    let mut nodes: Vec<(State, usize)> = vec![];
    let mut steps = vec![];
    for &state in states {
        numbers.insert((state, 0), nodes.len());
        nodes.push((state, 0));
    }
    while let Some(&(state, position)) = nodes.get(steps.len()) {
        budget.tick()?;
        let letter = &lasso.positions()[position];
        let taken = tgba.edges(state).iter().filter(|edge| tgba.labels().holds(edge.label, letter));
        let next = lasso.next(position);
        let step = |edge: &Edge| {
            let number = *numbers.entry((edge.target, next)).or_insert_with(|| {
                nodes.push((edge.target, next));
                nodes.len() - 1
            });
            (edge.marks, number)
        };
        let taken: Vec<(Marks, usize)> = taken.map(step).collect();
        budget.hold((BYTES_PER_NODE + size_of_val(&taken[..])) as u64)?;
        steps.push(taken);
    }
    Ok(steps)
}
