//! Minimal deterministic automata for obligations.
//!
//! # Idea
//! An obligation, a Boolean combination of safety and guarantee properties, has a *weak* deterministic
//! automaton: all cycles of a component are accepting, or none is. Its graph is the subset
//! construction of any automaton for the property, and one word around each component tells
//! whether it is accepting [dax.07.atva]. Weak deterministic automata have a unique smallest
//! form, found by minimizing them like automata on finite words, once the states that lie on no
//! cycle are called accepting or rejecting in the right way [loding.01.ipl].
//!
//! # Requirements and limits
//! For other properties the result is wrong: either the formula is an obligation by its shape, or
//! [`Weak::includes`] must be asked. The subset construction may be exponential, hence a limit.

use std::collections::VecDeque;

use base::{Budget, Limit};
use ltl::{Lasso, Prop, Valuation};
use rustc_hash::FxHashMap;

use crate::clean::{simplify_marks, trim};
use crate::emptiness::is_empty;
use crate::gave_up::GaveUp;
use crate::label::{FIRST_HIDDEN, Label, Labels};
use crate::membership::accepts_from;
use crate::product::product;
use crate::scc::{Components, components};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::Work;

/// A complete, deterministic, weak automaton.
#[derive(Clone, Debug)]
pub(crate) struct Weak {
    labels: Labels,
    propositions: Vec<Prop>,
    /// For each state disjoint labels that cover all letters, with the targets. State 0 is initial.
    edges: Vec<Vec<(Label, usize)>>,
    accepting: Vec<bool>,
}

impl Weak {
    /// The smallest weak deterministic automaton for the language, if it is an obligation, unless the
    /// subset construction has more than `max_states` states.
    pub(crate) fn minimal(
        tgba: &Tgba,
        max_states: usize,
        work: &mut Work<'_, '_>,
    ) -> Result<Option<Weak>, GaveUp> {
        let Some((edges, subsets, labels)) = determinize(tgba, max_states, work)? else { return Ok(None) };
        let parts = components(&edges, |_, edge| Some(edge.1), work.budget)?;
        let accepting = classify(tgba, &edges, &subsets, &labels, &parts, work)?;
        let propositions = tgba.propositions().to_vec();
        Weak { labels, propositions, edges, accepting }.minimize(work).map(Some)
    }

    /// Whether all words of the other automaton are known to be accepted here; with `false` the same is
    /// asked of the complement. It is not known if the product is too large or the fuel used up.
    pub(crate) fn includes(
        &self,
        other: &Tgba,
        color: bool,
        max_states: usize,
        work: &mut Work<'_, '_>,
    ) -> Result<bool, Limit> {
        let outside = self.to_tgba(!color, work.budget)?;
        let steps = (outside.n_edges() as u64).saturating_mul(other.n_edges() as u64) / 4;
        if GaveUp::optional(work.spend(steps))?.is_none() {
            return Ok(false);
        }
        match GaveUp::optional(product(&outside, other, max_states, work.budget))? {
            Some(both) => is_empty(&both, work.budget),
            None => Ok(false),
        }
    }

    /// As an automaton whose accepting states are those with this color; with `false` it is the complement.
    pub(crate) fn to_tgba(&self, color: bool, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let mut tgba = Tgba::with_labels(self.labels.clone(), 1);
        tgba.declare(self.propositions.iter().copied());
        tgba.add_states(self.edges.len() - 1);
        for (state, edges) in self.edges.iter().enumerate() {
            let marks = if self.accepting[state] == color { Marks::single(0) } else { Marks::NONE };
            for &(label, target) in edges {
                let edge = Edge { target: State::new(target), marks, label };
                tgba.add(State::new(state), edge, budget)?;
            }
        }
        simplify_marks(trim(tgba, budget)?, budget)
    }

    /// The automaton of the words that this one does not accept.
    pub(crate) fn complement(mut self) -> Weak {
        self.accepting.iter_mut().for_each(|accepting| *accepting = !*accepting);
        self
    }

    /// Merges states that accept the same words [moore.56.automata].
    fn minimize(mut self, work: &mut Work<'_, '_>) -> Result<Weak, GaveUp> {
        let n = self.edges.len();
        let mut class: Vec<usize> = self.accepting.iter().map(|&accepting| usize::from(accepting)).collect();
        let mut n_classes = 0;
        let signatures = loop {
            let mut numbers: FxHashMap<(usize, Label), usize> = FxHashMap::default();
            let mut signatures = vec![];
            let mut refined = Vec::with_capacity(n);
            for state in 0..n {
                let signature = self.signature(state, &class, work.budget)?;
                work.spend(self.labels.take_steps() + self.edges[state].len() as u64)?;
                refined.push(*numbers.entry((class[state], signature)).or_insert_with(|| {
                    signatures.push((state, signature));
                    signatures.len() - 1
                }));
            }
            class = refined;
            if signatures.len() == n_classes {
                break signatures;
            }
            n_classes = signatures.len();
        };
        // State 0 is the first of its class, so the initial state stays 0.
        let representatives: Vec<usize> = signatures.iter().map(|&(state, _)| state).collect();
        let mut edges = vec![];
        for &state in &representatives {
            edges.push(merge(&mut self.labels, &self.edges[state], &class, work.budget)?);
        }
        let accepting = representatives.iter().map(|&state| self.accepting[state]).collect();
        Ok(Weak { edges, accepting, ..self })
    }

    fn signature(&mut self, state: usize, class: &[usize], budget: &mut Budget<'_>) -> Result<Label, Limit> {
        let mut signature = Label::FALSE;
        for &(label, target) in &self.edges[state] {
            let class = self.labels.variable(FIRST_HIDDEN + class[target] as u32);
            let edge = self.labels.with(budget).and(label, class)?;
            signature = self.labels.with(budget).or(signature, edge)?;
        }
        Ok(signature)
    }
}

/// The edges with targets replaced by their classes, one edge per class.
fn merge(
    labels: &mut Labels,
    edges: &[(Label, usize)],
    class: &[usize],
    budget: &mut Budget<'_>,
) -> Result<Vec<(Label, usize)>, Limit> {
    let mut merged: Vec<(Label, usize)> = vec![];
    for &(label, target) in edges {
        match merged.iter_mut().find(|edge| edge.1 == class[target]) {
            Some(edge) => edge.0 = labels.with(budget).or(edge.0, label)?,
            None => merged.push((label, class[target])),
        }
    }
    Ok(merged)
}

/// Subset constructions with larger labels are given up.
const MAX_NEW_NODES: usize = 400_000;

type Subsets = (Vec<Vec<(Label, usize)>>, Vec<Vec<State>>, Labels);

/// The subset construction: edges, subsets, and the pool of the labels; nothing if it is too large.
fn determinize(tgba: &Tgba, max_states: usize, work: &mut Work<'_, '_>) -> Result<Option<Subsets>, GaveUp> {
    let mut labels = tgba.labels().clone();
    labels.limit_growth(MAX_NEW_NODES);
    let mut subsets = vec![vec![tgba.initial()]];
    let mut numbers = FxHashMap::from_iter([(subsets[0].clone(), 0)]);
    let mut edges: Vec<Vec<(Label, usize)>> = vec![];
    while let Some(subset) = subsets.get(edges.len()) {
        let numbered = |edge: &Edge| (edge.label, edge.target.index() as u32);
        let numbered = subset.iter().flat_map(|&state| tgba.edges(state)).map(numbered);
        let mut out = vec![];
        for (letters, targets) in labels.sets_by_letter(numbered, work.budget)? {
            let target: Vec<State> = targets.iter().map(|&target| State::new(target as usize)).collect();
            work.budget.hold(2 * size_of_val(&target[..]) as u64)?;
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                subsets.push(target);
                subsets.len() - 1
            });
            out.push((letters, number));
        }
        work.spend(labels.take_steps() + out.len() as u64)?;
        edges.push(out);
        if subsets.len() > max_states || labels.is_exhausted() {
            return Ok(None);
        }
    }
    labels.lift_limit();
    Ok(Some((edges, subsets, labels)))
}

/// Which states are accepting: by one word around each component, and for states on no cycle such
/// that as many states as possible can be merged: colors, even for accepting, grow along edges
/// and are as large as they can be.
fn classify(
    tgba: &Tgba,
    edges: &[Vec<(Label, usize)>],
    subsets: &[Vec<State>],
    labels: &Labels,
    parts: &Components,
    work: &mut Work<'_, '_>,
) -> Result<Vec<bool>, GaveUp> {
    let mut first = vec![usize::MAX; parts.n];
    let mut members: Vec<Vec<usize>> = vec![vec![]; parts.n];
    for (state, &part) in parts.of.iter().enumerate() {
        first[part] = first[part].min(state);
        members[part].push(state);
    }
    let largest = 2 * parts.n + 1;
    let mut color = vec![largest; parts.n];
    for part in 0..parts.n {
        let targets = members[part].iter().flat_map(|&state| &edges[state]).map(|edge| parts.of[edge.1]);
        let bound = targets.filter(|&target| target != part).map(|target| color[target]).min();
        let bound = bound.unwrap_or(largest);
        color[part] = match cycle(edges, labels, parts, first[part]) {
            None => bound,
            Some(word) => {
                work.spend((word.n_positions() * tgba.n_edges()) as u64)?;
                let accepts = accepts_from(tgba, &subsets[first[part]], &word, work.budget)?;
                let odd = usize::from(!accepts);
                if bound % 2 == odd { bound } else { bound - 1 }
            }
        };
    }
    Ok(parts.of.iter().map(|&part| color[part].is_multiple_of(2)).collect())
}

/// A word that leads from a state around its component, if it lies on a cycle.
fn cycle(edges: &[Vec<(Label, usize)>], labels: &Labels, parts: &Components, start: usize) -> Option<Lasso> {
    let mut came_by: FxHashMap<usize, (usize, Valuation)> = FxHashMap::default();
    let mut queue = VecDeque::from([start]);
    while let Some(state) = queue.pop_front() {
        for &(label, target) in edges[state].iter().filter(|edge| parts.of[edge.1] == parts.of[start]) {
            if came_by.contains_key(&target) {
                continue;
            }
            came_by.insert(target, (state, labels.pick(label)?));
            if target == start {
                return unwind(&came_by, start);
            }
            queue.push_back(target);
        }
    }
    None
}

fn unwind(came_by: &FxHashMap<usize, (usize, Valuation)>, start: usize) -> Option<Lasso> {
    let mut word = vec![];
    let mut state = start;
    loop {
        let (source, letter) = &came_by[&state];
        word.push(letter.clone());
        state = *source;
        if state == start {
            word.reverse();
            return Lasso::new(vec![], word);
        }
    }
}
