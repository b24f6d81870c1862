//! Intersection and union of languages.
//!
//! # Idea
//! The product runs two automata side by side, with the marks of both; only reachable pairs are
//! built. The union gets a new initial state, which can do what either of the initial states can.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::gave_up::{GaveUp, TooLarge};
use crate::label::Label;
use crate::tgba::{Edge, MAX_MARKS, Marks, State, Tgba};
use crate::work::holding;

/// The words that both automata accept.
///
/// # Errors
/// That takes more than [`MAX_MARKS`] marks or `max_states` states, or the budget is spent.
pub fn product(a: &Tgba, b: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    holding(budget, |budget| reachable_pairs(a, b, max_states, budget))
}

fn reachable_pairs(a: &Tgba, b: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    let n_marks = Some(a.n_marks() + b.n_marks()).filter(|&n| n <= MAX_MARKS).ok_or(TooLarge::Marks)?;
    let mut product = Tgba::with_labels(a.labels().clone(), n_marks);
    product.declare(a.propositions().iter().chain(b.propositions()).copied());
    let b_edges = imported_edges(&mut product, b, budget)?;
    let mut numbers = FxHashMap::from_iter([((a.initial(), b.initial()), product.initial())]);
    let mut pairs = vec![(a.initial(), b.initial())];
    let mut next = 0;
    while let Some(&(left, right)) = pairs.get(next) {
        let (source, n_known) = (State::new(next), pairs.len());
        next += 1;
        for one in a.edges(left) {
            for two in &b_edges[right.index()] {
                budget.tick()?;
                let label = product.labels_mut().with(budget).and(one.label, two.label)?;
                if label == Label::FALSE {
                    continue;
                }
                let target = *numbers.entry((one.target, two.target)).or_insert_with(|| {
                    pairs.push((one.target, two.target));
                    product.add_state()
                });
                let marks = one.marks.union(Marks(two.marks.0.checked_shl(a.n_marks()).unwrap_or(0)));
                product.add(source, Edge { target, marks, label }, budget)?;
            }
        }
        if pairs.len() > max_states {
            return Err(TooLarge::States.into());
        }
        budget.hold(((pairs.len() - n_known) * BYTES_PER_PAIR) as u64)?;
    }
    Ok(product.compact(budget)?)
}

/// A pair is in a list, in a table, and is a state.
const BYTES_PER_PAIR: usize = 3 * size_of::<(State, State)>() + size_of::<(State, Vec<Edge>)>();

/// The words that one of the automata accepts, or both.
///
/// # Errors
/// The budget is spent.
pub fn union(a: &Tgba, b: &Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    holding(budget, |budget| side_by_side(a, b, budget))
}

fn side_by_side(a: &Tgba, b: &Tgba, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
    let n_marks = a.n_marks().max(b.n_marks());
    let mut union = Tgba::with_labels(a.labels().clone(), n_marks);
    union.declare(a.propositions().iter().chain(b.propositions()).copied());
    let b_edges = imported_edges(&mut union, b, budget)?;
    let a_edges: Vec<Vec<Edge>> = a.states().map(|state| a.edges(state).to_vec()).collect();
    for (edges, initial, own_marks) in
        [(a_edges, a.initial(), a.n_marks()), (b_edges, b.initial(), b.n_marks())]
    {
        // Marks that only the other automaton has are on every edge of this one.
        let extra = Marks::all(n_marks).minus(Marks::all(own_marks));
        let offset = union.n_states();
        union.add_states(edges.len());
        let shifted = |state: State| State::new(state.index() + offset);
        for (state, edges) in edges.iter().enumerate() {
            for edge in edges {
                let (marks, target) = (edge.marks.union(extra), shifted(edge.target));
                let edge = Edge { target, marks, ..*edge };
                union.add(shifted(State::new(state)), edge, budget)?;
                if state == initial.index() {
                    union.add(State::new(0), edge, budget)?;
                }
            }
        }
    }
    union.compact(budget)
}

/// The edges of another automaton, with labels of `into`'s pool.
fn imported_edges(into: &mut Tgba, from: &Tgba, budget: &mut Budget<'_>) -> Result<Vec<Vec<Edge>>, Limit> {
    budget.hold(from.bytes())?;
    let mut memo = FxHashMap::default();
    let mut import = |edge: &Edge| -> Result<Edge, Limit> {
        budget.tick()?;
        let label = into.labels_mut().import(from.labels(), edge.label, &mut memo);
        into.labels_mut().tell(budget)?;
        Ok(Edge { label, ..*edge })
    };
    from.all_edges().iter().map(|edges| edges.iter().map(&mut import).collect()).collect()
}
