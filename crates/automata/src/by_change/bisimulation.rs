//! Bisimulation of testing automata, in O(*m* log *n*).
//!
//! # Idea
//! Two states are bisimilar if they have the same color (their kind of acceptance), and each step of the
//! one is matched by a step of the other with the same change and marks, to a bisimilar state. The
//! coarsest such partition is found by refinement. *Blocks* are the finest classes so far; *super-blocks*
//! are unions of blocks with respect to which all blocks are known to be stable. As long as some
//! super-block consists of several blocks, one of at most half its size is cut off and all blocks are
//! split by whether they have steps into it, into the rest, or both. Counting steps per state, label and
//! super-block tells the three apart while looking only at the steps into the smaller part, so each
//! step is looked at O(log *n*) times.
//!
//! # References
//! [paige.87.sicomp]; with labels as in [valmari.09.petrinets].

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet};
use crate::tgba::Marks;
use crate::work::holding;

/// The class of each state in the coarsest bisimulation that respects the colors, and the number of
/// classes. Classes are numbered by their first states.
pub(crate) fn bisimulation(
    graph: &Graph,
    color: &[u8],
    budget: &mut Budget<'_>,
) -> Result<(Vec<usize>, usize), Limit> {
    holding(budget, |budget| {
        // Each step is an arrow, comes in somewhere and is counted.
        budget.hold(3 * graph.bytes())?;
        let mut refinement = Refinement::new(graph, color, budget)?;
        while let Some(whole) = refinement.compound.pop() {
            refinement.cut(whole, budget)?;
        }
        Ok(number_by_first(&refinement.blocks.of))
    })
}

/// The same partition with classes numbered in the order of their first members.
pub(crate) fn number_by_first(class: &[usize]) -> (Vec<usize>, usize) {
    let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
    let new = class.iter().map(|&class| {
        let next = numbers.len();
        *numbers.entry(class).or_insert(next)
    });
    let new = new.collect();
    (new, numbers.len())
}

/// A partition of the states `0..n` that can be refined by marking states and splitting off the marked.
struct Blocks {
    /// The states, those of a block next to each other, the marked ones first.
    states: Vec<usize>,
    /// Where each state is in `states`.
    place: Vec<usize>,
    /// The block of each state.
    of: Vec<usize>,
    /// For each block where it begins and ends in `states`, and how many of it are marked.
    bounds: Vec<(usize, usize, usize)>,
    /// The blocks with marked states.
    touched: Vec<usize>,
}

impl Blocks {
    fn new(of: Vec<usize>, n_blocks: usize) -> Blocks {
        let mut states: Vec<usize> = (0..of.len()).collect();
        states.sort_by_key(|&state| of[state]);
        let mut place = vec![0; of.len()];
        let mut bounds = vec![(usize::MAX, 0, 0); n_blocks];
        for (index, &state) in states.iter().enumerate() {
            place[state] = index;
            let bounds = &mut bounds[of[state]];
            *bounds = (bounds.0.min(index), index + 1, 0);
        }
        Blocks { states, place, of, bounds, touched: vec![] }
    }

    fn members(&self, block: usize) -> &[usize] {
        &self.states[self.bounds[block].0..self.bounds[block].1]
    }

    fn mark(&mut self, state: usize) {
        let block = self.of[state];
        let (begin, _, marked) = &mut self.bounds[block];
        let (from, to) = (self.place[state], *begin + *marked);
        if from < to {
            return;
        }
        if *marked == 0 {
            self.touched.push(block);
        }
        *marked += 1;
        let other = self.states[to];
        self.states.swap(from, to);
        (self.place[state], self.place[other]) = (to, from);
    }

    /// Makes the marked states of each block a block of their own, unless all are marked; calls `on_split`
    /// with the old block and the new one.
    fn split(&mut self, mut on_split: impl FnMut(usize, usize)) {
        for block in std::mem::take(&mut self.touched) {
            let (begin, end, marked) = self.bounds[block];
            self.bounds[block].2 = 0;
            if begin + marked < end {
                let new = self.bounds.len();
                self.bounds[block].0 = begin + marked;
                self.bounds.push((begin, begin + marked, 0));
                self.states[begin..begin + marked].iter().for_each(|&state| self.of[state] = new);
                on_split(block, new);
            }
        }
    }
}

/// A step as refinement sees it.
struct Arrow {
    source: usize,
    label: usize,
    /// Which counter counts it: that of its source, label and the super-block of its target.
    counter: usize,
}

struct Refinement {
    blocks: Blocks,
    arrows: Vec<Arrow>,
    /// The arrows into each state.
    incoming: Vec<Vec<usize>>,
    counters: Vec<usize>,
    /// The super-block of each block, and the blocks of each super-block.
    whole: Vec<usize>,
    parts: Vec<Vec<usize>>,
    /// The super-blocks with more than one block.
    compound: Vec<usize>,
    /// Arrows by label, and per state the counter being made; empty between uses.
    buckets: Vec<Vec<usize>>,
    fresh: Vec<Option<usize>>,
}

impl Refinement {
    fn new(graph: &Graph, color: &[u8], budget: &mut Budget<'_>) -> Result<Refinement, Limit> {
        let n = graph.n_states();
        let mut labels: FxHashMap<(PropSet, Marks), usize> = FxHashMap::default();
        let mut groups: FxHashMap<(u8, Vec<usize>), usize> = FxHashMap::default();
        let (mut arrows, mut incoming, mut counters, mut class) = (vec![], vec![vec![]; n], vec![], vec![]);
        for (source, steps) in graph.steps.iter().enumerate() {
            let mut own: FxHashMap<usize, usize> = FxHashMap::default();
            let mut used = vec![];
            for step in steps {
                budget.tick()?;
                let next = labels.len();
                let label = *labels.entry((step.change, step.marks)).or_insert(next);
                let counter = *own.entry(label).or_insert_with(|| {
                    used.push(label);
                    counters.push(0);
                    counters.len() - 1
                });
                counters[counter] += 1;
                incoming[step.target.index()].push(arrows.len());
                arrows.push(Arrow { source, label, counter });
            }
            used.sort_unstable();
            let next = groups.len();
            class.push(*groups.entry((color[source], used)).or_insert(next));
        }
        let n_blocks = groups.len();
        Ok(Refinement {
            blocks: Blocks::new(class, n_blocks),
            arrows,
            incoming,
            counters,
            whole: vec![0; n_blocks],
            parts: vec![(0..n_blocks).collect()],
            compound: if n_blocks > 1 { vec![0] } else { vec![] },
            buckets: vec![vec![]; labels.len()],
            fresh: vec![None; n],
        })
    }

    /// Cuts a small block off a super-block and makes all blocks stable again.
    fn cut(&mut self, whole: usize, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let parts = &mut self.parts[whole];
        let last = parts.len() - 1;
        let size = |part: usize| self.blocks.members(parts[part]).len();
        let small = if size(last) <= size(last - 1) { last } else { last - 1 };
        let splitter = parts.swap_remove(small);
        if parts.len() > 1 {
            self.compound.push(whole);
        }
        self.whole[splitter] = self.parts.len();
        self.parts.push(vec![splitter]);
        for label in self.collect_arrows(splitter) {
            let arrows = std::mem::take(&mut self.buckets[label]);
            arrows.iter().try_for_each(|_| budget.tick())?;
            self.split_by(&arrows);
        }
        Ok(())
    }

    /// Puts the arrows into the block into the buckets, and returns their labels.
    fn collect_arrows(&mut self, block: usize) -> Vec<usize> {
        let mut labels = vec![];
        for &state in self.blocks.members(block) {
            for &arrow in &self.incoming[state] {
                let label = self.arrows[arrow].label;
                if self.buckets[label].is_empty() {
                    labels.push(label);
                }
                self.buckets[label].push(arrow);
            }
        }
        labels
    }

    /// Splits all blocks by these arrows, which are those of one label into what was cut off.
    fn split_by(&mut self, arrows: &[usize]) {
        let mut old = vec![];
        for &arrow in arrows {
            let Arrow { source, counter, .. } = self.arrows[arrow];
            let fresh = *self.fresh[source].get_or_insert_with(|| {
                old.push((source, counter));
                self.counters.push(0);
                self.counters.len() - 1
            });
            self.counters[fresh] += 1;
            self.blocks.mark(source);
        }
        self.split();
        // Those that have no arrow of this label into the rest.
        for &(source, counter) in &old {
            if self.fresh[source].is_some_and(|fresh| self.counters[fresh] == self.counters[counter]) {
                self.blocks.mark(source);
            }
        }
        self.split();
        for &arrow in arrows {
            let Arrow { source, counter, .. } = &mut self.arrows[arrow];
            if let Some(fresh) = self.fresh[*source] {
                self.counters[*counter] -= 1;
                *counter = fresh;
            }
        }
        old.iter().for_each(|&(source, _)| self.fresh[source] = None);
    }

    fn split(&mut self) {
        let (whole, parts, compound) = (&mut self.whole, &mut self.parts, &mut self.compound);
        self.blocks.split(|block, new| {
            let owner = whole[block];
            whole.push(owner);
            parts[owner].push(new);
            if parts[owner].len() == 2 {
                compound.push(owner);
            }
        });
        debug_assert_eq!(self.whole.len(), self.blocks.bounds.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_change::graph::Step;
    use crate::tgba::State;

    /// Refinement by signatures, straight from the definition.
    fn naive(graph: &Graph, color: &[u8]) -> (Vec<usize>, usize) {
        let mut class: Vec<usize> = color.iter().map(|&color| usize::from(color)).collect();
        loop {
            let signature = |state: usize| {
                let steps = graph.steps[state].iter();
                let mut set: Vec<_> =
                    steps.map(|step| (step.change, step.marks, class[step.target.index()])).collect();
                set.sort_unstable();
                set.dedup();
                (class[state], set)
            };
            let mut numbers = FxHashMap::default();
            let finer: Vec<usize> = (0..class.len())
                .map(|state| {
                    let next = numbers.len();
                    *numbers.entry(signature(state)).or_insert(next)
                })
                .collect();
            if finer == class {
                return (finer.clone(), numbers.len());
            }
            class = finer;
        }
    }

    #[test]
    fn the_partition_is_that_of_the_definition() {
        let mut draw = generators::random::seeded(7);
        for round in 0..3_000 {
            let n = 1 + draw(12);
            let n_changes = 1 + draw(3);
            let mut steps = vec![vec![]; n as usize];
            for _ in 0..draw(3 * n + 1) {
                let marks = Marks(u64::from(draw(8) / 7));
                let step =
                    Step { change: PropSet(draw(n_changes)), marks, target: State::new(draw(n) as usize) };
                steps[draw(n) as usize].push(step);
            }
            let mut graph = Graph { propositions: vec![], initial: vec![], steps };
            let budget = &mut Budget::unlimited();
            graph.normalize(budget).unwrap();
            let color: Vec<u8> = (0..n).map(|_| (draw(6) / 5) as u8).collect();
            let (color, _) =
                number_by_first(&color.iter().map(|&color| usize::from(color)).collect::<Vec<_>>());
            let color: Vec<u8> = color.into_iter().map(|color| color as u8).collect();
            let found = bisimulation(&graph, &color, budget).unwrap();
            assert_eq!(found, naive(&graph, &color), "round {round}: {graph:?}");
        }
    }
}
