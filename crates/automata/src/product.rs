//! Intersection and union of languages.
//!
//! # Idea
//! The product runs two automata side by side, with the marks of both; only reachable pairs are
//! built. The union gets a new initial state, which can do what either of the initial states can.

use rustc_hash::FxHashMap;

use crate::label::Label;
use crate::tgba::{Edge, MAX_MARKS, Marks, State, Tgba};

/// The words that both automata accept, or nothing if that takes more than [`MAX_MARKS`] marks or
/// `max_states` states.
pub fn product(a: &Tgba, b: &Tgba, max_states: usize) -> Option<Tgba> {
    let n_marks = Some(a.n_marks() + b.n_marks()).filter(|&n| n <= MAX_MARKS)?;
    let mut product = Tgba::with_labels(a.labels().clone(), n_marks);
    product.declare(a.propositions().iter().chain(b.propositions()).copied());
    let b_edges = imported_edges(&mut product, b);
    let mut numbers = FxHashMap::from_iter([((a.initial(), b.initial()), product.initial())]);
    let mut pairs = vec![(a.initial(), b.initial())];
    let mut next = 0;
    while let Some(&(left, right)) = pairs.get(next) {
        let source = State::new(next);
        next += 1;
        for one in a.edges(left) {
            for two in &b_edges[right.index()] {
                let label = product.labels_mut().and(one.label, two.label);
                if label == Label::FALSE {
                    continue;
                }
                let target = *numbers.entry((one.target, two.target)).or_insert_with(|| {
                    pairs.push((one.target, two.target));
                    product.add_state()
                });
                let marks = one.marks.union(Marks(two.marks.0.checked_shl(a.n_marks()).unwrap_or(0)));
                product.add_edge(source, label, marks, target);
            }
        }
        if pairs.len() > max_states {
            return None;
        }
    }
    Some(product.compact())
}

/// The words that one of the automata accepts, or both.
#[must_use]
pub fn union(a: &Tgba, b: &Tgba) -> Tgba {
    let n_marks = a.n_marks().max(b.n_marks());
    let mut union = Tgba::with_labels(a.labels().clone(), n_marks);
    union.declare(a.propositions().iter().chain(b.propositions()).copied());
    let b_edges = imported_edges(&mut union, b);
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
                union.add_edge(shifted(State::new(state)), edge.label, marks, target);
                if state == initial.index() {
                    union.add_edge(State::new(0), edge.label, marks, target);
                }
            }
        }
    }
    union.compact()
}

/// The edges of another automaton, with labels of `into`'s pool.
fn imported_edges(into: &mut Tgba, from: &Tgba) -> Vec<Vec<Edge>> {
    let mut memo = FxHashMap::default();
    let mut import = |edge: &Edge| {
        let label = into.labels_mut().import(from.labels(), edge.label, &mut memo);
        Edge { label, ..*edge }
    };
    from.states().map(|state| from.edges(state).iter().map(&mut import).collect()).collect()
}
