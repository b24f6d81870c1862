//! From values to changes: the first step of the constructions.
//!
//! # Idea
//! A state of the testing automaton is a state of the given automaton together with the valuation that is
//! read next. Where the given automaton has an edge from *s* to *s'* that can be taken with *k*, there are
//! steps from (*s*, *k*) to all (*s'*, *k'*), labeled by the change from *k* to *k'* (Properties 2 and 4 of
//! [bensalem.12.topnoc]). Pairs that cannot go on are left out, and so are those that cannot be reached.
//!
//! The size is 4^|AP| in the worst case, so it is known before anything is built, and bounded.

use base::{Budget, Limit};
use ltl::Prop;
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet, Step};
use crate::gave_up::GaveUp;
use crate::label::{Label, Labels};
use crate::tgba::{State, Tgba};
use crate::work::holding;

/// No testing automaton is made explicit over more propositions, whatever the limits.
pub const MAX_PROPOSITIONS: usize = 20;

/// How large an explicit testing automaton may be before it is simplified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most propositions; [`MAX_PROPOSITIONS`] is the most that can be asked for. By default 16.
    pub max_propositions: usize,
    /// Most states. By default 65 536.
    pub max_states: usize,
    /// Most steps. By default 2 097 152.
    pub max_steps: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_propositions: 16, max_states: 1 << 16, max_steps: 1 << 21 }
    }
}

/// Why an automaton was not turned into an explicit testing automaton: it would have been too large. Each
/// carries the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explosion {
    /// Too many propositions.
    Propositions(usize),
    /// Too many states.
    States(usize),
    /// Too many steps.
    Steps(usize),
}

impl std::fmt::Display for Explosion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (limit, what) = match self {
            Explosion::Propositions(limit) => (limit, "propositions"),
            Explosion::States(limit) => (limit, "states"),
            Explosion::Steps(limit) => (limit, "steps"),
        };
        write!(f, "the explicit testing automaton would have more than {limit} {what}")
    }
}

impl std::error::Error for Explosion {}

/// A pair is in a list and in a table.
const BYTES_PER_PAIR: usize = 4 * size_of::<(State, u32, State)>() + size_of::<Vec<Step>>();

/// The pairs of states and valuations of the automaton, and for each pair the state.
pub(crate) fn expand(
    tgba: &Tgba,
    limits: &Limits,
    budget: &mut Budget<'_>,
) -> Result<(Graph, Vec<State>), GaveUp> {
    holding(budget, |budget| pairs(tgba, limits, budget))
}

fn pairs(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<(Graph, Vec<State>), GaveUp> {
    let propositions = used_propositions(tgba, limits)?;
    let letters = Letters::new(tgba, &propositions, budget)?;
    let mut pairs: Vec<(State, u32)> =
        letters.alive[tgba.initial().index()].iter().map(|&k| (tgba.initial(), k)).collect();
    let numbered = pairs.iter().enumerate().map(|(index, &pair)| (pair, State::new(index)));
    let mut numbers: FxHashMap<(State, u32), State> = numbered.collect();
    let initial = pairs.iter().enumerate().map(|(index, &(_, k))| (PropSet(k), State::new(index))).collect();
    let mut steps: Vec<Vec<Step>> = vec![];
    let mut n_steps = 0;
    while let Some(&(state, k)) = pairs.get(steps.len()) {
        let taken = tgba.edges(state).iter().filter(|edge| letters.of[&edge.label].binary_search(&k).is_ok());
        let taken: Vec<_> = taken.collect();
        n_steps += taken.iter().map(|edge| letters.alive[edge.target.index()].len()).sum::<usize>();
        if n_steps > limits.max_steps {
            return Err(Explosion::Steps(limits.max_steps).into());
        }
        let mut list = vec![];
        for edge in taken {
            for &next in &letters.alive[edge.target.index()] {
                budget.tick()?;
                let target = *numbers.entry((edge.target, next)).or_insert_with(|| {
                    pairs.push((edge.target, next));
                    State::new(pairs.len() - 1)
                });
                list.push(Step { change: PropSet(k ^ next), marks: edge.marks, target });
            }
        }
        if pairs.len() > limits.max_states {
            return Err(Explosion::States(limits.max_states).into());
        }
        budget.hold((size_of_val(&list[..]) + BYTES_PER_PAIR) as u64)?;
        steps.push(list);
    }
    let mut graph = Graph { propositions, initial, steps };
    graph.normalize(budget)?;
    Ok((graph, pairs.into_iter().map(|(state, _)| state).collect()))
}

/// The propositions that labels depend on, sorted.
fn used_propositions(tgba: &Tgba, limits: &Limits) -> Result<Vec<Prop>, Explosion> {
    let limit = limits.max_propositions.min(MAX_PROPOSITIONS);
    if tgba.propositions().len() > limit {
        return Err(Explosion::Propositions(limit));
    }
    let used = tgba.labels().propositions(distinct_labels(tgba));
    if used.len() > limit { Err(Explosion::Propositions(limit)) } else { Ok(used) }
}

fn distinct_labels(tgba: &Tgba) -> Vec<Label> {
    let mut labels: Vec<Label> =
        tgba.states().flat_map(|state| tgba.edges(state)).map(|edge| edge.label).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Labels and states as sorted lists of valuations.
struct Letters {
    of: FxHashMap<Label, Vec<u32>>,
    /// For each state the letters with which it can go on.
    alive: Vec<Vec<u32>>,
}

impl Letters {
    fn new(tgba: &Tgba, propositions: &[Prop], budget: &mut Budget<'_>) -> Result<Letters, Limit> {
        let mut of: FxHashMap<Label, Vec<u32>> = FxHashMap::default();
        for label in distinct_labels(tgba) {
            let letters = letters(tgba.labels(), label, propositions, budget)?;
            budget.hold(size_of_val(&letters[..]) as u64)?;
            of.insert(label, letters);
        }
        let mut alive = vec![];
        for edges in tgba.all_edges() {
            let mut letters: Vec<u32> = vec![];
            for edge in edges {
                (0..=of[&edge.label].len() / LETTERS_PER_TICK).try_for_each(|_| budget.tick())?;
                letters.extend(&of[&edge.label]);
                // They are sorted as soon as they may be twice as many as there are.
                if letters.len() > 2 << propositions.len() {
                    sort(&mut letters);
                }
            }
            sort(&mut letters);
            budget.hold(size_of_val(&letters[..]) as u64)?;
            alive.push(letters);
        }
        Ok(Letters { of, alive })
    }
}

fn sort(letters: &mut Vec<u32>) {
    letters.sort_unstable();
    letters.dedup();
}

/// Copying and sorting so many letters takes about as long as one tick stands for.
const LETTERS_PER_TICK: usize = 64;

/// The valuations of a label as sets of the propositions in the list, sorted. The label depends on no others.
pub(crate) fn letters(
    labels: &Labels,
    label: Label,
    propositions: &[Prop],
    budget: &mut Budget<'_>,
) -> Result<Vec<u32>, Limit> {
    let all = (1u32 << propositions.len()) - 1;
    let mut letters = vec![];
    for cube in labels.cubes(label) {
        budget.tick()?;
        let (mut fixed, mut value) = (0u32, 0u32);
        for (prop, holds) in cube {
            let bit = propositions.binary_search(&prop).map_or(0, |index| 1 << index);
            fixed |= bit;
            value |= if holds { bit } else { 0 };
        }
        // All sets of the others, in increasing order: subtraction borrows across the fixed bits.
        let free = all & !fixed;
        let mut others = 0u32;
        loop {
            if letters.len().is_multiple_of(LETTERS_PER_TICK) {
                budget.tick()?;
            }
            letters.push(value | others);
            others = others.wrapping_sub(free) & free;
            if others == 0 {
                break;
            }
        }
    }
    letters.sort_unstable();
    Ok(letters)
}
