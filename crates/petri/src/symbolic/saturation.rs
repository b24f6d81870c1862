//! All markings that can be reached, by saturation.
//!
//! # Idea
//! A transition is a list of what it needs and changes, level by level. A node is *saturated* if no transition that
//! begins at its level or below leads out of its set. A node is saturated from below: first the nodes it leads to, then
//! the transitions that begin at its own level, until none adds a marking; whatever a transition leads to below is
//! saturated before it is used. At the top, that is all that can be reached. No set is ever made that is not closed
//! below, which keeps nodes few.
//!
//! Steps can also be taken backward, within a set: what is outside is left out level by level.
//!
//! # References
//! G. Ciardo, G. Lüttgen, R. Siminiceanu, *Saturation: an efficient iteration strategy for symbolic state-space
//! generation* (TACAS 2001); within a set: Y. Zhao, G. Ciardo, *Symbolic CTL model checking of asynchronous systems
//! using constrained saturation* (ATVA 2009).

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::forest::{EMPTY, ENTRY_BYTES, Forest, Node, ONE};
use crate::net::Net;

/// What a step does from some level on.
pub(super) type Tail = u32;

/// What does nothing more.
pub(super) const DONE: Tail = 0;

/// What a step needs and changes at a level, and what it does below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) level: u32,
    pub(super) needs: i64,
    pub(super) change: i64,
    pub(super) next: Tail,
}

/// Steps, by what they do; those that do the same from some level on share that.
pub(super) struct Moves {
    cells: Vec<Cell>,
    /// The steps that begin at each level.
    pub(super) from: Vec<Vec<Tail>>,
    /// The step of each transition, in the order of the net.
    pub(super) of: Vec<Tail>,
}

impl Moves {
    /// The transitions of a net; or the way back through them.
    pub(super) fn new(net: &Net, level_of: &[u32], is_backward: bool) -> Moves {
        let first = Cell { level: u32::MAX, needs: 0, change: 0, next: DONE };
        let mut known: FxHashMap<Cell, Tail> = FxHashMap::default();
        let mut moves = Moves { cells: vec![first], from: vec![Vec::new(); level_of.len()], of: Vec::new() };
        for transition in &net.transitions {
            let mut cells: Vec<Cell> = Vec::new();
            for (place, taken, given) in crate::sparse::pairs(&transition.inputs, &transition.outputs) {
                let (needs, gives) = if is_backward { (given, taken) } else { (taken, given) };
                let level = level_of[place.index()];
                cells.push(Cell { level, needs, change: gives - needs, next: DONE });
            }
            cells.sort_unstable_by_key(|cell| std::cmp::Reverse(cell.level));
            let is_idle = cells.iter().all(|cell| cell.change == 0);
            let mut tail = DONE;
            for cell in cells {
                let cell = Cell { next: tail, ..cell };
                tail = *known.entry(cell).or_insert_with(|| {
                    moves.cells.push(cell);
                    moves.cells.len() as Tail - 1
                });
            }
            moves.of.push(tail);
            if !is_idle {
                let level = moves.cells[tail as usize].level;
                moves.from[level as usize].push(tail);
            }
        }
        for from in &mut moves.from {
            from.sort_unstable();
            from.dedup();
        }
        moves
    }

    pub(super) fn cell(&self, tail: Tail) -> Cell {
        self.cells[tail as usize]
    }
}

/// Where steps must stay: everywhere.
pub(super) const ANYWHERE: Node = Node::MAX;

/// Takes steps until nothing is added. Nodes lead down level by level: a call is nested no deeper than there are levels.
pub(super) struct Saturation<'m> {
    moves: &'m Moves,
    saturated: FxHashMap<(Node, Node), Node>,
    fired: FxHashMap<(Tail, Node, Node), Node>,
}

impl<'m> Saturation<'m> {
    pub(super) fn new(moves: &'m Moves) -> Saturation<'m> {
        Saturation { moves, saturated: FxHashMap::default(), fired: FxHashMap::default() }
    }

    /// Whatever can be reached from a set of this level by steps that begin there or below, within another set.
    pub(super) fn close(
        &mut self,
        forest: &mut Forest,
        level: usize,
        node: Node,
        within: Node,
        budget: &mut Budget<'_>,
    ) -> Result<Node, Limit> {
        if node == EMPTY || node == ONE {
            return Ok(node);
        }
        if let Some(&known) = self.saturated.get(&(node, within)) {
            return Ok(known);
        }
        let mut arcs = Vec::with_capacity(forest.n_arcs(node));
        for number in 0..forest.n_arcs(node) {
            let (tokens, child) = forest.arc(node, number);
            let within = inside(forest, within, tokens);
            if within != EMPTY {
                arcs.push((tokens, self.close(forest, level + 1, child, within, budget)?));
            }
        }
        let closed = self.exhaust(forest, level, arcs, within, budget)?;
        forest.take(2 * ENTRY_BYTES, budget)?;
        self.saturated.insert((node, within), closed);
        self.saturated.insert((closed, within), closed);
        Ok(closed)
    }

    /// Takes the steps that begin at a level until nothing is added; everything below is saturated.
    fn exhaust(
        &mut self,
        forest: &mut Forest,
        level: usize,
        mut arcs: Vec<(u32, Node)>,
        within: Node,
        budget: &mut Budget<'_>,
    ) -> Result<Node, Limit> {
        let moves = self.moves;
        let mut open: Vec<u32> = match moves.from[level].is_empty() {
            true => Vec::new(),
            false => arcs.iter().map(|(tokens, _)| *tokens).collect(),
        };
        while let Some(tokens) = open.pop() {
            for &tail in &moves.from[level] {
                let cell = moves.cell(tail);
                let Some(after) = cell.after(tokens)? else { continue };
                let below = inside(forest, within, after);
                if below == EMPTY {
                    continue;
                }
                let Ok(at) = arcs.binary_search_by_key(&tokens, |(its, _)| *its) else { continue };
                let led = self.step(forest, level + 1, cell.next, arcs[at].1, below, budget)?;
                if led == EMPTY {
                    continue;
                }
                match arcs.binary_search_by_key(&after, |(its, _)| *its) {
                    Ok(at) => {
                        let all = forest.union(arcs[at].1, led, budget)?;
                        if all == arcs[at].1 {
                            continue;
                        }
                        arcs[at].1 = all;
                    }
                    Err(at) => arcs.insert(at, (after, led)),
                }
                if !open.contains(&after) {
                    open.push(after);
                }
            }
        }
        forest.node(&arcs, budget)
    }

    /// Where a step leads from a saturated set, saturated.
    fn step(
        &mut self,
        forest: &mut Forest,
        level: usize,
        tail: Tail,
        node: Node,
        within: Node,
        budget: &mut Budget<'_>,
    ) -> Result<Node, Limit> {
        if tail == DONE && within == ANYWHERE {
            return Ok(node);
        }
        if node == EMPTY || node == ONE {
            return Ok(node);
        }
        if let Some(&known) = self.fired.get(&(tail, node, within)) {
            return Ok(known);
        }
        let cell = self.moves.cell(tail);
        let is_here = cell.level as usize == level;
        let mut arcs = Vec::with_capacity(forest.n_arcs(node));
        for number in 0..forest.n_arcs(node) {
            let (tokens, child) = forest.arc(node, number);
            let (after, next) = match is_here {
                true => (cell.after(tokens)?, cell.next),
                false => (Some(tokens), tail),
            };
            let Some(after) = after else { continue };
            let below = inside(forest, within, after);
            if below != EMPTY {
                let led = self.step(forest, level + 1, next, child, below, budget)?;
                arcs.extend((led != EMPTY).then_some((after, led)));
            }
        }
        let led = match arcs.is_empty() {
            true => EMPTY,
            false => self.exhaust(forest, level, arcs, within, budget)?,
        };
        forest.take(ENTRY_BYTES, budget)?;
        self.fired.insert((tail, node, within), led);
        Ok(led)
    }
}

/// What steps must stay within after so many tokens.
fn inside(forest: &Forest, within: Node, tokens: u32) -> Node {
    if within == ANYWHERE { ANYWHERE } else { forest.child(within, tokens) }
}

impl Cell {
    /// The tokens that are there afterwards; nothing if there are too few.
    fn after(self, tokens: u32) -> Result<Option<u32>, Limit> {
        if i64::from(tokens) < self.needs {
            return Ok(None);
        }
        // So many tokens are not counted; there would be no memory for them anyway.
        let after = i64::from(tokens).checked_add(self.change).and_then(|after| u32::try_from(after).ok());
        after.map(Some).ok_or(Limit::OutOfMemory)
    }
}
