//! Decision diagrams over the tokens of places: sets of markings, each kept once.
//!
//! A node of a level decides by the number of tokens of the place of that level, and leads to a node of the next one;
//! below the last level there is only [`ONE`]. A marking is in the set of a node if it leads from there to [`ONE`].
//! Every place has a level and no level is left out, so that equal sets are equal nodes. No node is ever given back.
//!
//! # References
//! T. Kam, T. Villa, R. Brayton, A. Sangiovanni-Vincentelli, *Multi-valued decision diagrams: theory and
//! applications* (1998).

use std::hash::{Hash as _, Hasher as _};

use base::{Budget, Limit};
use rustc_hash::{FxHashMap, FxHasher};

/// A set of markings, or of what is left of them below a level.
pub(super) type Node = u32;

/// The set of no marking.
pub(super) const EMPTY: Node = 0;
/// What is below the last level.
pub(super) const ONE: Node = 1;

/// Where a number of tokens leads. Nobody leads to [`EMPTY`].
pub(super) type Arc = (u32, Node);

/// All nodes.
pub(super) struct Forest {
    arcs: Vec<Arc>,
    /// Where the arcs of each node begin, and those of the next one.
    starts: Vec<u32>,
    /// Nodes by their arcs: open addressing, 0 is free.
    table: Vec<Node>,
    unions: FxHashMap<(Node, Node), Node>,
    /// Bytes that were taken from the budget and not used yet.
    reserve: u64,
}

/// So many bytes are taken from the budget at a time.
const PORTION: u64 = 1 << 20;
/// About what an entry of a table of results takes.
pub(super) const ENTRY_BYTES: u64 = 32;

impl Forest {
    pub(super) fn new() -> Forest {
        let starts = vec![0; 3];
        Forest { arcs: Vec::new(), starts, table: vec![0; 1024], unions: FxHashMap::default(), reserve: 0 }
    }

    /// Takes bytes that something is about to need.
    pub(super) fn take(&mut self, bytes: u64, budget: &mut Budget<'_>) -> Result<(), Limit> {
        if self.reserve < bytes {
            budget.hold(PORTION.max(bytes))?;
            self.reserve += PORTION.max(bytes);
        }
        self.reserve -= bytes;
        Ok(())
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn arcs(&self, node: Node) -> &[Arc] {
        let at = node as usize;
        &self.arcs[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How many arcs a node has, and each of them: for who makes nodes on the way.
    pub(super) fn n_arcs(&self, node: Node) -> usize {
        self.arcs(node).len()
    }

    pub(super) fn arc(&self, node: Node, number: usize) -> Arc {
        self.arcs[self.starts[node as usize] as usize + number]
    }

    /// Where a number of tokens leads.
    pub(super) fn child(&self, node: Node, tokens: u32) -> Node {
        let arcs = self.arcs(node);
        arcs.binary_search_by_key(&tokens, |(its, _)| *its).map_or(EMPTY, |at| arcs[at].1)
    }

    /// The node with these arcs, which are sorted and lead to no empty set.
    pub(super) fn node(&mut self, arcs: &[Arc], budget: &mut Budget<'_>) -> Result<Node, Limit> {
        if arcs.is_empty() {
            return Ok(EMPTY);
        }
        budget.tick()?;
        let mask = self.table.len() - 1;
        let mut at = hash(arcs) & mask;
        while self.table[at] != 0 {
            if self.arcs(self.table[at]) == arcs {
                return Ok(self.table[at]);
            }
            at = (at + 1) & mask;
        }
        self.take(16 + 8 * arcs.len() as u64, budget)?;
        let node = self.n_nodes() as Node;
        self.arcs.extend_from_slice(arcs);
        // More do not fit in numbers, and hardly in memory.
        let end = u32::try_from(self.arcs.len()).map_err(|_| Limit::OutOfMemory)?;
        self.starts.push(end);
        self.table[at] = node;
        if 2 * self.n_nodes() > self.table.len() {
            self.grow(budget)?;
        }
        Ok(node)
    }

    fn grow(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        self.take(8 * self.table.len() as u64, budget)?;
        let mask = 2 * self.table.len() - 1;
        self.table = vec![0; mask + 1];
        for node in ONE + 1..self.n_nodes() as Node {
            let mut at = hash(self.arcs(node)) & mask;
            while self.table[at] != 0 {
                at = (at + 1) & mask;
            }
            self.table[at] = node;
        }
        Ok(())
    }

    /// What is in one of two sets of the same level.
    pub(super) fn union(&mut self, a: Node, b: Node, budget: &mut Budget<'_>) -> Result<Node, Limit> {
        if a == b || b == EMPTY {
            return Ok(a);
        }
        if a == EMPTY {
            return Ok(b);
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return Ok(known);
        }
        let (mut of_a, mut of_b) = (0, 0);
        let mut arcs = Vec::with_capacity(self.n_arcs(a).max(self.n_arcs(b)));
        while of_a < self.n_arcs(a) || of_b < self.n_arcs(b) {
            let next = |forest: &Forest, node, at| (at < forest.n_arcs(node)).then(|| forest.arc(node, at));
            let (left, right) = (next(self, a, of_a), next(self, b, of_b));
            match (left, right) {
                (Some(left), Some(right)) if left.0 == right.0 => {
                    arcs.push((left.0, self.union(left.1, right.1, budget)?));
                    (of_a, of_b) = (of_a + 1, of_b + 1);
                }
                (Some(left), right) if right.is_none_or(|right| left.0 < right.0) => {
                    arcs.push(left);
                    of_a += 1;
                }
                (_, right) => {
                    arcs.extend(right);
                    of_b += 1;
                }
            }
        }
        let union = self.node(&arcs, budget)?;
        self.take(ENTRY_BYTES, budget)?;
        self.unions.insert(key, union);
        Ok(union)
    }
}

fn hash(arcs: &[Arc]) -> usize {
    let mut hasher = FxHasher::default();
    arcs.hash(&mut hasher);
    hasher.finish() as usize
}
