//! All reachable markings as a decision diagram: where they are too many to be listed, but much alike.
//!
//! [`Symbolic::new`] finds them by saturation ([`saturation`]) in an order of the places that is guessed ([`order`]);
//! [`values`] counts them and answers questions about them. A diagram may need much more memory than the markings, or
//! a small part of it: nobody knows before, so that both are tried, within limits. A net whose markings are not
//! finitely many is not finished.
//!
//! Nothing here is approximate: a diagram that is finished has the reachable markings and no others, and numbers that
//! do not fit are told as limits.

mod forest;
mod order;
mod saturation;
mod values;

use std::sync::Arc;

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::invariants::TokenSum;
use crate::net::Net;
use forest::{Forest, Node, ONE};
use saturation::{ANYWHERE, Moves, Saturation};

/// Steps are nested as deep as there are levels.
const MAX_LEVELS: usize = 1_500;

/// All reachable markings of a net.
pub(crate) struct Symbolic {
    net: Arc<Net>,
    /// The place of each level.
    places: Vec<u32>,
    /// The level of each place.
    level_of: Vec<u32>,
    moves: Moves,
    forest: Forest,
    initial: Node,
    all: Node,
}

impl Symbolic {
    /// Finds all markings; nothing if the net has too many places or tokens for that.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn new(
        net: Arc<Net>,
        sums: &[TokenSum],
        budget: &mut Budget<'_>,
    ) -> Result<Option<Symbolic>, Limit> {
        if net.places.len() > MAX_LEVELS {
            return Ok(None);
        }
        let places = order::order(&net, sums, budget)?;
        let mut level_of = vec![0; places.len()];
        places.iter().enumerate().for_each(|(level, &place)| level_of[place as usize] = level as u32);
        let moves = Moves::new(&net, &level_of, false);
        let mut forest = Forest::new();
        let mut initial = ONE;
        for &place in places.iter().rev() {
            let Ok(tokens) = u32::try_from(net.places[place as usize].initial) else { return Ok(None) };
            initial = forest.node(&[(tokens, initial)], budget)?;
        }
        let all = Saturation::new(&moves).close(&mut forest, 0, initial, ANYWHERE, budget)?;
        Ok(Some(Symbolic { net, places, level_of, moves, forest, initial, all }))
    }

    /// From which markings some of these can be reached.
    fn before(&mut self, some: Node, budget: &mut Budget<'_>) -> Result<Node, Limit> {
        let back = Moves::new(&self.net, &self.level_of, true);
        Saturation::new(&back).close(&mut self.forest, 0, some, self.all, budget)
    }

    /// The set of a level of all nodes that can be reached from one, level by level.
    fn levels(&self, node: Node) -> Vec<Vec<Node>> {
        let mut levels = vec![vec![node]];
        for _ in &self.places {
            let above = &levels[levels.len() - 1];
            let mut below: Vec<Node> =
                above.iter().flat_map(|&node| self.forest.arcs(node)).map(|(_, child)| *child).collect();
            below.sort_unstable();
            below.dedup();
            levels.push(below);
        }
        levels
    }

    /// Computes something for a set from what it is for the sets that it leads to, from the last level up.
    fn fold<T: Clone>(&self, one: T, of: impl Fn(u32, &mut dyn Iterator<Item = (u32, &T)>) -> T) -> T {
        let mut known: FxHashMap<Node, T> = FxHashMap::default();
        known.insert(ONE, one.clone());
        for (level, nodes) in self.levels(self.all).iter().enumerate().rev().skip(1) {
            let next = nodes.iter().map(|&node| {
                let mut arcs = self.forest.arcs(node).iter().map(|&(tokens, child)| (tokens, &known[&child]));
                (node, of(self.places[level], &mut arcs))
            });
            known = next.collect();
        }
        known.remove(&self.all).unwrap_or(one)
    }
}
