//! Membership: does an automaton accept this lasso word?
//!
//! # Idea
//! The product of the automaton with the positions of the word is a finite graph; the word is accepted
//! iff an accepting component can be reached in it. This is the definition of acceptance, read on a
//! lasso, and judges every translation and reduction; it uses nothing of them.

use ltl::Lasso;
use rustc_hash::FxHashMap;

use crate::scc::components;
use crate::tgba::{Marks, State, Tgba};

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
/// assert!(accepts(&tgba, &Lasso::new(vec![], vec![yes.clone(), no.clone()]).unwrap()));
/// assert!(!accepts(&tgba, &Lasso::new(vec![yes], vec![no]).unwrap()));
/// ```
pub fn accepts(tgba: &Tgba, lasso: &Lasso) -> bool {
    accepts_from(tgba, &[tgba.initial()], lasso)
}

/// Whether some run that begins in one of the states accepts the word.
pub(crate) fn accepts_from(tgba: &Tgba, states: &[State], lasso: &Lasso) -> bool {
    let steps = product_steps(tgba, states, lasso);
    let successors: Vec<Vec<usize>> =
        steps.iter().map(|steps| steps.iter().map(|step| step.1).collect()).collect();
    let found = components(&successors);
    let mut seen = vec![None; found.n];
    for (node, steps) in steps.iter().enumerate() {
        for &(marks, target) in steps.iter().filter(|step| found.of[step.1] == found.of[node]) {
            debug_assert!(target < successors.len());
            let seen: &mut Option<Marks> = &mut seen[found.of[node]];
            *seen = Some(seen.unwrap_or_default().union(marks));
        }
    }
    seen.contains(&Some(tgba.all_marks()))
}

/// The reachable steps of automaton and word together: for each node the marks and targets.
fn product_steps(tgba: &Tgba, states: &[State], lasso: &Lasso) -> Vec<Vec<(Marks, usize)>> {
    let mut numbers: FxHashMap<(State, usize), usize> = FxHashMap::default();
    let mut nodes: Vec<(State, usize)> = vec![];
    let mut steps = vec![];
    for &state in states {
        numbers.insert((state, 0), nodes.len());
        nodes.push((state, 0));
    }
    while let Some(&(state, position)) = nodes.get(steps.len()) {
        let letter = &lasso.positions()[position];
        let taken = tgba.edges(state).iter().filter(|edge| tgba.labels().holds(edge.label, letter));
        let next = lasso.next(position);
        steps.push(
            taken
                .map(|edge| {
                    let number = *numbers.entry((edge.target, next)).or_insert_with(|| {
                        nodes.push((edge.target, next));
                        nodes.len() - 1
                    });
                    (edge.marks, number)
                })
                .collect(),
        );
    }
    steps
}
