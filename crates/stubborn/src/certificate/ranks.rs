//! Ranks: why no run through the product violates the formula. What they promise is said by `certify::rank`.
//!
//! Strong components are numbered in the order in which Tarjan's algorithm finishes them [tarjan.72.sicomp], so that no
//! edge leads up. A component in which edges stay needs a mark that they all lack; if there is only a strong constraint that is
//! never taken, the states that enable it are left out, and the rest is ranked in the same way, one level deeper. A component
//! shares the number of what it leads to where it can: so there are few ranks, and they take few bits.

use base::{Budget, Limit};
use certify::rank::{Level, Rank, Reason};
use rustc_hash::FxHashMap;

use super::Failed;
use super::product::Product;

const UNSEEN: u32 = 0;

/// Per node the number of its rank, and the ranks.
pub(super) fn ranks(product: &Product, budget: &mut Budget<'_>) -> Result<(Vec<u32>, Vec<Rank>), Failed> {
    let n = product.nodes.len();
    budget.hold(36 * n as u64)?;
    let mut ranking = Ranking {
        product,
        seen: vec![Seen::default(); n],
        n_parts: 0,
        n_components: 0,
        deeper: FxHashMap::default(),
    };
    let all: Vec<u32> = (0..n as u32).collect();
    ranking.rank(&all, 0, budget)?;
    let (mut numbers, mut ranks): (FxHashMap<Rank, u32>, Vec<Rank>) = Default::default();
    // Most ranks have one level.
    let mut short: FxHashMap<Level, u32> = FxHashMap::default();
    let mut rank_of = |node: u32| {
        let (first, deeper) = (ranking.seen[node as usize].first, ranking.deeper.get(&node));
        if deeper.is_none()
            && let Some(&known) = short.get(&first)
        {
            return known;
        }
        let mut rank = vec![first];
        rank.extend(deeper.into_iter().flatten());
        let number = *numbers.entry(rank).or_insert_with_key(|rank| {
            ranks.push(rank.clone());
            ranks.len() as u32 - 1
        });
        if deeper.is_none() {
            short.insert(first, number);
        }
        number
    };
    let of_node = (0..n as u32).map(&mut rank_of).collect();
    budget.release(36 * n as u64);
    Ok((of_node, ranks))
}

/// What is known of a node: in one place, since edges lead anywhere.
#[derive(Clone, Copy)]
struct Seen {
    /// Which part of the product it is in: an edge counts if both ends are in the part that is looked at.
    part: u32,
    /// Tarjan's numbers.
    index: u32,
    low: u32,
    /// Components are numbered over all parts.
    component: u32,
    first: Level,
}

impl Default for Seen {
    fn default() -> Seen {
        let first = Level { number: 0, reason: Reason::Leaves };
        Seen { part: 0, index: UNSEEN, low: 0, component: 0, first }
    }
}

struct Ranking<'p> {
    product: &'p Product,
    seen: Vec<Seen>,
    n_parts: u32,
    n_components: u32,
    deeper: FxHashMap<u32, Vec<Level>>,
}

/// What is known of the edges of a component.
struct Edges {
    stays: bool,
    /// Marks on edges that stay in it.
    has: u128,
    takes: u128,
    /// The greatest number that edges lead to, and the mark that they and what they lead to lack.
    below: Option<(u32, Option<u32>)>,
}

impl Ranking<'_> {
    /// Ranks the nodes of a part on a level, and what is left of its components on deeper ones.
    fn rank(&mut self, nodes: &[u32], depth: usize, budget: &mut Budget<'_>) -> Result<(), Failed> {
        let part = self.n_parts;
        for &node in nodes {
            let seen = &mut self.seen[node as usize];
            (seen.part, seen.index) = (part, UNSEEN);
        }
        let (order, ends) = self.components(nodes, part, budget)?;
        let mut start = 0;
        for end in ends {
            budget.tick()?;
            let component = &order[start..end];
            start = end;
            let edges = self.edges(component, part, depth);
            let level = self.level(component, &edges)?;
            component.iter().for_each(|&node| self.set(node, depth, level));
            if let Reason::Never(constraint) = level.reason {
                let is_left = |node: &u32| self.product.enabled(*node).strong >> constraint & 1 == 0;
                let left: Vec<u32> = component.iter().copied().filter(is_left).collect();
                self.n_parts += 1;
                self.rank(&left, depth + 1, budget)?;
                left.iter().for_each(|&node| self.seen[node as usize].part = part);
            }
        }
        Ok(())
    }

    fn set(&mut self, node: u32, depth: usize, level: Level) {
        match depth {
            0 => self.seen[node as usize].first = level,
            _ => self.deeper.entry(node).or_default().push(level),
        }
    }

    fn get(&self, node: u32, depth: usize) -> Level {
        match depth {
            0 => self.seen[node as usize].first,
            _ => self.deeper[&node][depth - 1],
        }
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
        let mut marks = 0..self.product.masks.n_marks;
        if let Some(mark) = marks.find(|&mark| lacks(mark)) {
            return Ok(Level { number, reason: Reason::Lacks(mark) });
        }
        if !edges.stays {
            return Ok(Level { number, reason: Reason::Leaves });
        }
        let enabled = component.iter().fold(0, |all, &node| all | self.product.enabled(node).strong);
        let mut strong = 0..self.product.masks.n_strong;
        let never = strong.find(|&constraint| enabled >> constraint & !edges.takes >> constraint & 1 == 1);
        let reason = Reason::Never(never.ok_or(Failed::Violated)?);
        Ok(Level { number, reason })
    }

    fn edges(&self, component: &[u32], part: u32, depth: usize) -> Edges {
        let mut edges = Edges { stays: false, has: 0, takes: 0, below: None };
        let own = component.first().map(|&node| self.seen[node as usize].component);
        for &node in component {
            for (target, marks) in self.product.marks(node) {
                if self.seen[target as usize].part != part {
                    continue;
                }
                if Some(self.seen[target as usize].component) == own {
                    edges.stays = true;
                    edges.has |= marks.has;
                    edges.takes |= marks.takes;
                    continue;
                }
                let level = self.get(target, depth);
                let lacked = match level.reason {
                    Reason::Lacks(mark) if marks.has >> mark & 1 == 0 => Some(mark),
                    _ => None,
                };
                edges.below = match edges.below {
                    Some((number, _)) if number > level.number => edges.below,
                    Some((number, mark)) if number == level.number => {
                        Some((number, mark.filter(|&mark| lacked == Some(mark))))
                    }
                    _ => Some((level.number, lacked)),
                };
            }
        }
        edges
    }

    /// The nodes of a part by components, those first that lead to no others; and where each of them ends.
    fn components(
        &mut self,
        nodes: &[u32],
        part: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(Vec<u32>, Vec<usize>), Limit> {
        let (mut order, mut ends) = (Vec::with_capacity(nodes.len()), Vec::new());
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        let mut n_seen = 0;
        for &root in nodes {
            if self.seen[root as usize].index != UNSEEN {
                continue;
            }
            path.push((root, 0));
            while let Some((node, edge)) = path.last_mut() {
                let at = *node as usize;
                if self.seen[at].index == UNSEEN {
                    budget.tick()?;
                    n_seen += 1;
                    (self.seen[at].index, self.seen[at].low) = (n_seen, n_seen);
                    open.push(*node);
                }
                if let Some(&target) = self.product.targets(*node).get(*edge as usize) {
                    let there = target as usize;
                    if self.seen[there].part == part && self.seen[there].index == UNSEEN {
                        // The edge is looked at again when the target is finished.
                        path.push((target, 0));
                        continue;
                    }
                    *edge += 1;
                    // A node that is finished has the greatest number of all.
                    if self.seen[there].part == part {
                        self.seen[at].low = self.seen[at].low.min(self.seen[there].low);
                    }
                    continue;
                }
                path.pop();
                if self.seen[at].low < self.seen[at].index {
                    continue;
                }
                self.n_components += 1;
                while let Some(member) = open.pop() {
                    self.seen[member as usize].low = u32::MAX;
                    self.seen[member as usize].component = self.n_components;
                    order.push(member);
                    if member as usize == at {
                        break;
                    }
                }
                ends.push(order.len());
            }
        }
        Ok((order, ends))
    }
}
