//! Degeneralization: from many marks to one, on edges or on states.
//!
//! # Idea
//! Each state is copied for *levels*. At level *i* the run waits for the *i*-th mark of a fixed order;
//! an edge that carries it, and maybe the next ones, leads to a higher level; past the last mark
//! the run has seen all of them and begins anew. A Büchi automaton has one more level than marks, and
//! the copies of the last level are its accepting states.
//!
//! Components help, since levels matter only inside one:
//! - rejecting and trivial components need one level, as do those in which every run is accepting;
//! - whoever enters a component may do so at any level. Among the copies of a component we keep one
//!   closed part, the smallest, and enter only there.
//!
//! If all edges that leave a state carry the mark it waits for, the level is passed on arrival.
//!
//! # References
//! [babiak.13.spin] for the resets at components, level caching (here: entering only the closed part) and
//! passing on arrival.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use crate::clean::trim;
use crate::scc::{Sccs, components};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// Where the single mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// On states, that is, on all edges that leave a state or on none.
    States,
    /// On edges.
    Edges,
}

/// An automaton with the same language and exactly one mark. The levels follow the order of the
/// marks in `order`, which names each of them once.
///
/// # Errors
/// The budget is spent.
pub fn degeneralize(
    tgba: &Tgba,
    placement: Placement,
    order: &[u32],
    budget: &mut Budget<'_>,
) -> Result<Tgba, Limit> {
    debug_assert_eq!(order.len() as u32, tgba.n_marks());
    holding(budget, |budget| Degeneralization::new(tgba, placement, order, budget)?.run(budget))
}

/// How the copies of a component are leveled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rejecting,
    AllAccepting,
    Leveled,
}

/// A copy of a state: the state and its level.
type Copy = (State, usize);

/// A copy is in a list and in a table, has inner edges, and becomes a state.
const BYTES_PER_COPY: usize = 4 * size_of::<(Copy, usize)>() + size_of::<Vec<(Edge, bool, usize)>>();

struct Degeneralization<'a> {
    tgba: &'a Tgba,
    placement: Placement,
    order: &'a [u32],
    sccs: Sccs,
    kinds: Vec<Kind>,
    /// The marks on all inner edges that leave a state.
    common: Vec<Marks>,
    copies: Vec<Copy>,
    numbers: FxHashMap<Copy, usize>,
    /// The inner edges of each copy: the edge, whether it completes a round, the copy it leads to.
    inner: Vec<Vec<(Edge, bool, usize)>>,
}

impl<'a> Degeneralization<'a> {
    fn new(
        tgba: &'a Tgba,
        placement: Placement,
        order: &'a [u32],
        budget: &mut Budget<'_>,
    ) -> Result<Self, Limit> {
        let sccs = Sccs::of(tgba, budget)?;
        let kinds = kinds(tgba, &sccs);
        let inner_marks = |state: State| {
            let inner = tgba.edges(state).iter().filter(|edge| sccs.is_inner(state, edge));
            inner.fold(tgba.all_marks(), |common, edge| common.intersection(edge.marks))
        };
        let common = tgba.states().map(inner_marks).collect();
        let (copies, numbers, inner) = (vec![], FxHashMap::default(), vec![]);
        Ok(Degeneralization { tgba, placement, order, sccs, kinds, common, copies, numbers, inner })
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        for state in self.tgba.states() {
            let level = self.entry_level(state);
            self.copy(state, level);
        }
        let mut next = 0;
        while let Some(&(state, level)) = self.copies.get(next) {
            next += 1;
            let mut inner = vec![];
            for &edge in self.tgba.edges(state) {
                budget.tick()?;
                if !self.sccs.is_inner(state, &edge) {
                    continue;
                }
                let (level, round) = self.next_level(state, level, &edge);
                let target = self.copy(edge.target, level);
                inner.push((edge, round, target));
            }
            budget.hold((BYTES_PER_COPY + size_of_val(&inner[..])) as u64)?;
            self.inner.push(inner);
        }
        let entries = self.entries(budget)?;
        self.build(&entries, budget)
    }

    fn copy(&mut self, state: State, level: usize) -> usize {
        *self.numbers.entry((state, level)).or_insert_with(|| {
            self.copies.push((state, level));
            self.copies.len() - 1
        })
    }

    fn kind(&self, state: State) -> Kind {
        self.kinds[self.sccs.component(state)]
    }

    fn entry_level(&self, state: State) -> usize {
        match (self.kind(state), self.placement) {
            (Kind::Leveled, Placement::States) => self.pass(0, self.common[state.index()]),
            (Kind::AllAccepting, Placement::States) => self.order.len(),
            _ => 0,
        }
    }

    /// The level after passing the marks that come next in the order.
    fn pass(&self, level: usize, marks: Marks) -> usize {
        level + self.order[level..].iter().take_while(|&&mark| marks.contains(mark)).count()
    }

    /// The level after an inner edge, and whether the edge completes a round.
    fn next_level(&self, source: State, level: usize, edge: &Edge) -> (usize, bool) {
        let last = self.order.len();
        match (self.kind(source), self.placement) {
            (Kind::Rejecting, _) => (0, false),
            (Kind::AllAccepting, Placement::States) => (last, true),
            (Kind::AllAccepting, Placement::Edges) => (0, true),
            (Kind::Leveled, Placement::States) => {
                let level = self.pass(if level == last { 0 } else { level }, edge.marks);
                (self.pass(level, self.common[edge.target.index()]), false)
            }
            (Kind::Leveled, Placement::Edges) => match self.pass(level, edge.marks) {
                level if level < last => (level, false),
                _ => (self.pass(0, edge.marks) % last, true),
            },
        }
    }

    /// For each state the copy by which it is entered.
    fn entries(&self, budget: &mut Budget<'_>) -> Result<Vec<usize>, Limit> {
        let parts = components(&self.inner, |_, edge| Some(edge.2), budget)?;
        let mut size = vec![0; parts.n];
        let mut closed = vec![true; parts.n];
        for (copy, edges) in self.inner.iter().enumerate() {
            budget.tick()?;
            size[parts.of[copy]] += 1;
            if edges.iter().any(|edge| parts.of[edge.2] != parts.of[copy]) {
                closed[parts.of[copy]] = false;
            }
        }
        let mut best: Vec<Option<usize>> = vec![None; self.sccs.n()];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            let part = parts.of[copy];
            let best = &mut best[self.sccs.component(state)];
            if closed[part] && best.is_none_or(|best| (size[part], part) < (size[best], best)) {
                *best = Some(part);
            }
        }
        let mut entries = vec![usize::MAX; self.tgba.n_states()];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            let entry = &mut entries[state.index()];
            if *entry == usize::MAX && best[self.sccs.component(state)] == Some(parts.of[copy]) {
                *entry = copy;
            }
        }
        Ok(entries)
    }

    fn build(self, entries: &[usize], budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let mut result = Tgba::with_labels(self.tgba.labels().clone(), 1);
        result.declare(self.tgba.propositions().iter().copied());
        result.add_states(self.copies.len() - 1);
        result.set_initial(State::new(entries[self.tgba.initial().index()]));
        let mark = |marked: bool| if marked { Marks::single(0) } else { Marks::NONE };
        for (copy, &(state, level)) in self.copies.iter().enumerate() {
            let accepting = self.placement == Placement::States && self.is_accepting(state, level);
            let source = State::new(copy);
            for &(edge, round, target) in &self.inner[copy] {
                let marked = accepting || (self.placement == Placement::Edges && round);
                let edge = Edge { target: State::new(target), marks: mark(marked), ..edge };
                result.add(source, edge, budget)?;
            }
            for edge in self.tgba.edges(state).iter().filter(|edge| !self.sccs.is_inner(state, edge)) {
                let target = State::new(entries[edge.target.index()]);
                result.add(source, Edge { target, marks: mark(accepting), ..*edge }, budget)?;
            }
        }
        trim(result, budget)
    }

    fn is_accepting(&self, state: State, level: usize) -> bool {
        self.kind(state) != Kind::Rejecting && level == self.order.len()
    }
}

fn kinds(tgba: &Tgba, sccs: &Sccs) -> Vec<Kind> {
    let accepting = |component| sccs.is_accepting(component, tgba);
    let mut kinds: Vec<Kind> = (0..sccs.n())
        .map(|component| if accepting(component) { Kind::AllAccepting } else { Kind::Rejecting })
        .collect();
    for state in tgba.states() {
        let mut inner = tgba.edges(state).iter().filter(|edge| sccs.is_inner(state, edge));
        let kind = &mut kinds[sccs.component(state)];
        if *kind == Kind::AllAccepting && inner.any(|edge| edge.marks != tgba.all_marks()) {
            *kind = Kind::Leveled;
        }
    }
    kinds
}
