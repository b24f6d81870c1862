//! Ranks: why no run through the product violates the formula. What they promise is said by `certify::rank`.
//!
//! Strong components are numbered in the order in which a depth-first search finishes them, so that no edge leads up; they
//! are found by a stack of possible roots (Gabow, *Path-based depth-first search for strong and biconnected components*,
//! 2000), beside which stands what is known of edges. Deviation: a node's edges are looked at once all that they lead to was
//! seen, so that each node has one moment at which marks are asked. A
//! component in which edges stay needs a mark that they all lack; if there is only a strong constraint that is never taken,
//! the states that enable it are left out, and the rest is ranked in the same way, one level deeper. A component
//! shares the number of what it leads to where it can: so there are few ranks, and they take few bits.

use base::Budget;
use certify::rank::{Level, Rank, Reason};
use rustc_hash::FxHashMap;

use super::Failed;
use super::product::Product;

/// What is known of a node, in one number, since edges lead anywhere: nothing; where it is among the nodes of unfinished
/// components, counted from 1; or, with the highest bit, the number of its level.
const UNSEEN: u32 = 0;
const DONE: u32 = 1 << 31;

/// Per node the number of its rank, and the ranks.
pub(super) fn ranks(product: &Product, budget: &mut Budget<'_>) -> Result<(Vec<u32>, Vec<Rank>), Failed> {
    let n = product.nodes.len();
    if n >= DONE as usize {
        return Err(Failed::Unfit("there are too many states".to_owned()));
    }
    budget.hold(36 * n as u64)?;
    let mut ranking =
        Ranking { product, at: vec![UNSEEN; n], levels: Vec::new(), deeper: FxHashMap::default() };
    ranking.rank(0..n as u32, 0, budget)?;
    let Ranking { at, levels, deeper, .. } = ranking;
    let (mut numbers, mut ranks): (FxHashMap<Rank, u32>, Vec<Rank>) = Default::default();
    // Most ranks have one level.
    let mut short: Vec<Option<u32>> = vec![None; levels.len()];
    let rank_of = |node: usize| {
        let first = (at[node] & !DONE) as usize;
        let more = deeper.get(&(node as u32));
        let is_short = more.is_none();
        if let (true, Some(known)) = (is_short, short[first]) {
            return known;
        }
        let more = more.into_iter().flatten().map(|&level| level as usize);
        let rank = std::iter::once(first).chain(more).map(|level| levels[level]).collect();
        let number = *numbers.entry(rank).or_insert_with_key(|rank: &Rank| {
            ranks.push(rank.clone());
            ranks.len() as u32 - 1
        });
        if is_short {
            short[first] = Some(number);
        }
        number
    };
    let of_node = (0..n).map(rank_of).collect();
    budget.release(36 * n as u64);
    Ok((of_node, ranks))
}

struct Ranking<'p> {
    product: &'p Product,
    at: Vec<u32>,
    /// All levels; those of a part of the product come after those of what it is a part of.
    levels: Vec<Level>,
    /// The levels of nodes after their first ones.
    deeper: FxHashMap<u32, Vec<u32>>,
}

/// What is known of the edges of a component.
#[derive(Clone, Copy)]
struct Edges {
    stays: bool,
    /// Marks on edges that stay in it.
    has: u128,
    takes: u128,
    /// The greatest number that edges lead to, and the mark that they and what they lead to lack.
    below: Option<(u32, Option<u32>)>,
}

impl Edges {
    const NONE: Edges = Edges { stays: false, has: 0, takes: 0, below: None };

    fn and(self, other: Edges) -> Edges {
        let below = match (self.below, other.below) {
            (Some((number, mark)), Some((same, lacked))) if number == same => {
                Some((number, mark.filter(|_| mark == lacked)))
            }
            (Some((number, _)), Some((other, _))) if number > other => self.below,
            (below, None) | (_, below) => below,
        };
        Edges {
            stays: self.stays || other.stays,
            has: self.has | other.has,
            takes: self.takes | other.takes,
            below,
        }
    }
}

impl Ranking<'_> {
    /// Ranks the nodes of a part on a level, and what is left of its components on deeper ones. Nodes that are not in the part
    /// have levels already, or are not led to.
    fn rank(
        &mut self,
        nodes: impl Iterator<Item = u32>,
        depth: usize,
        budget: &mut Budget<'_>,
    ) -> Result<(), Failed> {
        let first_level = self.levels.len();
        let mut known: FxHashMap<Level, u32> = FxHashMap::default();
        // The nodes of unfinished components; where their roots are, of whatever may still be a component; and what is known of
        // the edges of these, of nodes that are finished.
        let (mut open, mut roots): (Vec<u32>, Vec<u32>) = Default::default();
        let mut seen: Vec<(u32, Edges)> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        for start in nodes {
            if self.at[start as usize] != UNSEEN {
                continue;
            }
            path.push((start, 0));
            while let Some((node, edge)) = path.last_mut() {
                let node = *node;
                if self.at[node as usize] == UNSEEN {
                    budget.tick()?;
                    open.push(node);
                    self.at[node as usize] = open.len() as u32;
                    roots.push(open.len() as u32);
                }
                let rest = &self.product.targets(node)[*edge as usize..];
                if let Some(more) = rest.iter().position(|&target| self.at[target as usize] == UNSEEN) {
                    let target = rest[more];
                    *edge += more as u32 + 1;
                    path.push((target, 0));
                    continue;
                }
                path.pop();
                // All that it leads to is finished, or in its component.
                let (mut edges, lowest) = self.edges(node, first_level);
                while roots.last().is_some_and(|&root| root > lowest) {
                    roots.pop();
                }
                let root = roots.last().copied().unwrap_or(lowest);
                while let Some((_, others)) = seen.pop_if(|(of, _)| *of >= root) {
                    edges = edges.and(others);
                }
                if root < self.at[node as usize] {
                    seen.push((root, edges));
                    continue;
                }
                roots.pop();
                let component = &open[root as usize - 1..];
                let level = self.level(component, &edges)?;
                let number = *known.entry(level).or_insert_with(|| {
                    self.levels.push(level);
                    self.levels.len() as u32 - 1
                });
                self.finish(component, level, number, depth, budget)?;
                open.truncate(root as usize - 1);
            }
        }
        Ok(())
    }

    /// Gives a component its level, and ranks what is left of it one level deeper.
    fn finish(
        &mut self,
        component: &[u32],
        level: Level,
        number: u32,
        depth: usize,
        budget: &mut Budget<'_>,
    ) -> Result<(), Failed> {
        for &node in component {
            self.at[node as usize] = DONE | number;
            if depth > 0 {
                self.deeper.entry(node).or_default().push(number);
            }
        }
        if let Reason::Never(constraint) = level.reason {
            let is_left = |node: &u32| self.product.enabled(*node) >> constraint & 1 == 0;
            let left: Vec<u32> = component.iter().copied().filter(is_left).collect();
            left.iter().for_each(|&node| self.at[node as usize] = UNSEEN);
            self.rank(left.iter().copied(), depth + 1, budget)?;
            left.iter().for_each(|&node| self.at[node as usize] = DONE | number);
        }
        Ok(())
    }

    /// What is to be said of a component.
    fn level(&self, component: &[u32], edges: &Edges) -> Result<Level, Failed> {
        let lacks = |mark: u32| !edges.stays || edges.has >> mark & 1 == 0;
        if let Some((number, Some(mark))) = edges.below
            && lacks(mark)
        {
            return Ok(Level { number, reason: Reason::Lacks(mark) });
        }
        let number = edges.below.map_or(0, |(number, _)| number + 1);
        if let Some(mark) = self.product.masks.marks().find(|&mark| lacks(mark)) {
            return Ok(Level { number, reason: Reason::Lacks(mark) });
        }
        if !edges.stays {
            return Ok(Level { number, reason: Reason::Leaves });
        }
        let enabled = component.iter().fold(0, |all, &node| all | self.product.enabled(node));
        let is_never = |constraint: &u32| enabled >> constraint & !edges.takes >> constraint & 1 == 1;
        let never = self.product.masks.strong().find(is_never);
        let reason = Reason::Never(never.ok_or(Failed::Violated)?);
        Ok(Level { number, reason })
    }

    /// What is known of the edges of a node, all of whose targets were seen; and the lowest place in `open` that they lead
    /// to, or its own. What has a level from before `first_level` is not in the part.
    fn edges(&self, node: u32, first_level: usize) -> (Edges, u32) {
        let (mut edges, mut lowest) = (Edges::NONE, self.at[node as usize]);
        for (target, marks) in self.product.marks(node) {
            let at = self.at[target as usize];
            if at < DONE {
                lowest = lowest.min(at);
                edges = Edges {
                    stays: true,
                    has: edges.has | marks.has,
                    takes: edges.takes | marks.takes,
                    ..edges
                };
                continue;
            }
            let number = (at & !DONE) as usize;
            if number >= first_level {
                let level = self.levels[number];
                let lacked = match level.reason {
                    Reason::Lacks(mark) if marks.has >> mark & 1 == 0 => Some(mark),
                    _ => None,
                };
                edges = edges.and(Edges { below: Some((level.number, lacked)), ..Edges::NONE });
            }
        }
        (edges, lowest)
    }
}
