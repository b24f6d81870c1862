//! The way of an automaton along a run that it accepts.
//!
//! Observers of a search may be made on the way, or be another form of the automaton that people know. So
//! the way through the automaton that is drawn is found here, from the values of the propositions alone: in
//! the product of automaton and word, the shortest way into a component that has all marks, and then on
//! inside of it. Like [`automata::membership`], but with the way.

use base::Budget;
use std::collections::VecDeque;

use automata::scc::components;
use automata::{Marks, State, Tgba};
use ltl::Lasso;

/// A larger product is not looked at.
const MAX_NODES: usize = 2_000_000;

/// The states of the automaton along the word: before each position is read, and after the last one. Nothing
/// if the automaton does not accept the word, or if that would take long to find out.
pub(super) fn accepting_path(tgba: &Tgba, word: &Lasso) -> Option<Vec<State>> {
    let (n_states, n_positions) = (tgba.n_states(), word.n_positions());
    if n_states.saturating_mul(n_positions) > MAX_NODES {
        return None;
    }
    // A node is a position and a state.
    let n_nodes = n_states * n_positions;
    let mut steps: Vec<Vec<(Marks, usize)>> = Vec::with_capacity(n_nodes);
    for (position, letter) in word.positions().iter().enumerate() {
        let next = word.next(position) * n_states;
        for state in tgba.states() {
            let edges = tgba.edges(state).iter().filter(|edge| tgba.labels().holds(edge.label, letter));
            steps.push(edges.map(|edge| (edge.marks, next + edge.target.index())).collect());
        }
    }
    let successors: Vec<Vec<usize>> =
        steps.iter().map(|steps| steps.iter().map(|(_, target)| *target).collect()).collect();
    let found = components(&successors, |_, &next| Some(next), &mut Budget::unlimited()).ok()?;
    let mut marks: Vec<Option<Marks>> = vec![None; found.n];
    for (node, steps) in steps.iter().enumerate() {
        for (seen, _) in steps.iter().filter(|(_, target)| found.of[*target] == found.of[node]) {
            let component = &mut marks[found.of[node]];
            *component = Some(component.unwrap_or_default().union(*seen));
        }
    }
    let is_accepting = |node: usize| marks[found.of[node]] == Some(tgba.all_marks());
    let mut way = way_to(&successors, tgba.initial().index(), is_accepting)?;
    // What comes after one turn of the cycle is not shown.
    while way.len() <= n_positions {
        let last = way[way.len() - 1];
        let inside = successors[last].iter().find(|&&next| found.of[next] == found.of[last]);
        way.push(*inside?);
    }
    Some(way.into_iter().take(n_positions + 1).map(|node| State::new(node % n_states)).collect())
}

/// A shortest way from a node to one that is looked for, both included.
fn way_to(successors: &[Vec<usize>], start: usize, is_wanted: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; successors.len()];
    let mut queue = VecDeque::from([start]);
    before[start] = Some(start);
    while let Some(node) = queue.pop_front() {
        if is_wanted(node) {
            let mut way = vec![node];
            let mut last = node;
            while let Some(previous) = before[last].filter(|&previous| previous != last) {
                way.push(previous);
                last = previous;
            }
            way.reverse();
            return Some(way);
        }
        for &next in &successors[node] {
            if before[next].is_none() {
                before[next] = Some(node);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use automata::Effort;
    use base::SourceMap;
    use generators::random;

    use super::*;

    /// Every way is one of the automaton, and there is one exactly where the word is accepted.
    #[test]
    fn there_is_a_way_where_the_word_is_accepted() {
        let mut formulas = ltl::Formulas::new();
        let mut random_number = fastrand::Rng::with_seed(7);
        let mut n_accepted = 0;
        for text in ["[] (p -> <> q)", "<> [] p", "[] <> p && [] <> q", "p U (q U p)", "! [] (p -> <> q)"] {
            let mut sources = SourceMap::new();
            let source = sources.add("test", text.as_bytes().to_vec()).unwrap();
            let formula = ltl::parse(&mut formulas, text, source, 0).unwrap().formula;
            let tgba =
                automata::translate(&mut formulas, formula, Effort::High, &mut Budget::unlimited()).unwrap();
            for _ in 0..200 {
                let word = random::lasso(tgba.propositions(), 4, 3, &mut |n| random_number.u32(0..n));
                let path = accepting_path(&tgba, &word);
                assert_eq!(
                    path.is_some(),
                    automata::accepts(&tgba, &word, &mut Budget::unlimited()).unwrap(),
                    "{text}"
                );
                let Some(path) = path else { continue };
                n_accepted += 1;
                assert_eq!((path.len(), path[0]), (word.n_positions() + 1, tgba.initial()));
                for (letter, pair) in word.positions().iter().zip(path.windows(2)) {
                    let fits = |edge: &automata::Edge| {
                        edge.target == pair[1] && tgba.labels().holds(edge.label, letter)
                    };
                    assert!(tgba.edges(pair[0]).iter().any(fits), "{text}");
                }
            }
        }
        assert!(n_accepted > 100);
    }
}
