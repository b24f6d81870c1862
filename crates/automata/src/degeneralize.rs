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
use crate::scc::{Components, components};
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
pub(crate) enum Kind {
    Rejecting,
    AllAccepting,
    Leveled,
}

/// Copies of the states of a graph, for levels in some order of the marks.
pub(crate) struct Levels<'o> {
    order: &'o [u32],
    pub(crate) found: Components,
    kinds: Vec<Kind>,
    /// The marks on all inner steps of a state.
    pub(crate) common: Vec<Marks>,
    /// For each copy its state and level.
    pub(crate) copies: Vec<(State, usize)>,
    numbers: FxHashMap<(State, usize), State>,
}

impl<'o> Levels<'o> {
    /// Bytes that a copy takes: it is in a list and in a table, has inner steps, and becomes a state.
    pub(crate) const BYTES_PER_COPY: usize = 4 * size_of::<(State, usize, State)>() + size_of::<Vec<Edge>>();

    /// No copies yet, of the graph with these steps and components. `step` says where a step leads and which
    /// marks it has, or that it does not count.
    pub(crate) fn new<E>(
        order: &'o [u32],
        found: Components,
        steps: &[Vec<E>],
        step: impl Fn(usize, &E) -> Option<(usize, Marks)>,
        budget: &mut Budget<'_>,
    ) -> Result<Levels<'o>, Limit> {
        let all = Marks::all(order.len() as u32);
        let kind = |marks| if marks == Some(all) { Kind::AllAccepting } else { Kind::Rejecting };
        let mut kinds: Vec<Kind> = found.marks(steps, &step, budget)?.into_iter().map(kind).collect();
        let mut common = Vec::with_capacity(steps.len());
        for (state, steps) in steps.iter().enumerate() {
            let component = found.of[state];
            let steps = steps.iter().filter_map(|own| step(state, own));
            let inner = steps.filter(|&(target, _)| found.of[target] == component);
            common.push(inner.fold(all, |common, (_, marks)| common.intersection(marks)));
            if kinds[component] == Kind::AllAccepting && common[state] != all {
                kinds[component] = Kind::Leveled;
            }
        }
        Ok(Levels { order, found, kinds, common, copies: vec![], numbers: FxHashMap::default() })
    }

    pub(crate) fn kind(&self, state: State) -> Kind {
        self.kinds[self.found.of[state.index()]]
    }

    /// The level of those who have seen all marks.
    pub(crate) fn last(&self) -> usize {
        self.order.len()
    }

    /// The level after passing the marks that come next in the order.
    pub(crate) fn pass(&self, level: usize, marks: Marks) -> usize {
        level + self.order[level..].iter().take_while(|&&mark| marks.contains(mark)).count()
    }

    pub(crate) fn copy(&mut self, state: State, level: usize) -> State {
        *self.numbers.entry((state, level)).or_insert_with(|| {
            self.copies.push((state, level));
            State::new(self.copies.len() - 1)
        })
    }

    /// For each state the copy by which it is entered from other components: one in the smallest closed part
    /// of the copies of its component. `inner` are the inner steps of each copy.
    pub(crate) fn entries<E>(
        &self,
        inner: &[Vec<E>],
        target: impl Fn(&E) -> State,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<State>, Limit> {
        let parts = components(inner, |_, step| Some(target(step).index()), budget)?;
        let (mut size, mut closed) = (vec![0; parts.n], vec![true; parts.n]);
        for (copy, steps) in inner.iter().enumerate() {
            budget.tick()?;
            let part = parts.of[copy];
            size[part] += 1;
            closed[part] &= steps.iter().all(|step| parts.of[target(step).index()] == part);
        }
        let mut best: Vec<Option<usize>> = vec![None; self.found.n];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            let part = parts.of[copy];
            let best = &mut best[self.found.of[state.index()]];
            if closed[part] && best.is_none_or(|best| (size[part], part) < (size[best], best)) {
                *best = Some(part);
            }
        }
        // The closed part of a component has copies of all its states.
        let mut entries: Vec<Option<State>> = vec![None; self.found.of.len()];
        for (copy, &(state, _)) in self.copies.iter().enumerate() {
            if best[self.found.of[state.index()]] == Some(parts.of[copy]) {
                entries[state.index()].get_or_insert(State::new(copy));
            }
        }
        let entries = entries.into_iter().enumerate();
        Ok(entries.map(|(state, entry)| entry.unwrap_or(State::new(state))).collect())
    }
}

struct Degeneralization<'a> {
    tgba: &'a Tgba,
    placement: Placement,
    levels: Levels<'a>,
    /// For each copy its inner edges, to copies, and whether they end a round.
    inner: Vec<Vec<(Edge, bool)>>,
}

impl<'a> Degeneralization<'a> {
    fn new(
        tgba: &'a Tgba,
        placement: Placement,
        order: &'a [u32],
        budget: &mut Budget<'_>,
    ) -> Result<Self, Limit> {
        let found = components(tgba.all_edges(), |_, edge| Some(edge.target.index()), budget)?;
        let step = |_, edge: &Edge| Some((edge.target.index(), edge.marks));
        let levels = Levels::new(order, found, tgba.all_edges(), step, budget)?;
        Ok(Degeneralization { tgba, placement, levels, inner: vec![] })
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        // The first copies are those of all states, in order.
        for state in self.tgba.states() {
            let level = self.entry_level(state);
            self.levels.copy(state, level);
        }
        while let Some(&(state, level)) = self.levels.copies.get(self.inner.len()) {
            let mut inner = vec![];
            for edge in self.tgba.edges(state) {
                budget.tick()?;
                if self.is_inner(state, edge) {
                    let (level, round) = self.next_level(state, level, edge);
                    inner.push((Edge { target: self.levels.copy(edge.target, level), ..*edge }, round));
                }
            }
            budget.hold((Levels::BYTES_PER_COPY + size_of_val(&inner[..])) as u64)?;
            self.inner.push(inner);
        }
        let entries = self.levels.entries(&self.inner, |(edge, _)| edge.target, budget)?;
        self.build(&entries, budget)
    }

    fn is_inner(&self, state: State, edge: &Edge) -> bool {
        self.levels.found.of[state.index()] == self.levels.found.of[edge.target.index()]
    }

    /// The level at which a state is entered first.
    fn entry_level(&self, state: State) -> usize {
        match (self.levels.kind(state), self.placement) {
            (Kind::Leveled, Placement::States) => self.levels.pass(0, self.levels.common[state.index()]),
            (Kind::AllAccepting, Placement::States) => self.levels.last(),
            _ => 0,
        }
    }

    /// The level after an inner edge, and whether the edge ends a round.
    fn next_level(&self, source: State, level: usize, edge: &Edge) -> (usize, bool) {
        let last = self.levels.last();
        match (self.levels.kind(source), self.placement) {
            (Kind::Rejecting, _) => (0, false),
            (Kind::AllAccepting, Placement::States) => (last, true),
            (Kind::AllAccepting, Placement::Edges) => (0, true),
            (Kind::Leveled, Placement::States) => {
                let level = self.levels.pass(if level == last { 0 } else { level }, edge.marks);
                (self.levels.pass(level, self.levels.common[edge.target.index()]), false)
            }
            (Kind::Leveled, Placement::Edges) => match self.levels.pass(level, edge.marks) {
                level if level < last => (level, false),
                _ => (self.levels.pass(0, edge.marks) % last, true),
            },
        }
    }

    fn build(self, entries: &[State], budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let mut result = Tgba::with_labels(self.tgba.labels().clone(), 1);
        result.declare(self.tgba.propositions().iter().copied());
        result.add_states(self.levels.copies.len() - 1);
        result.set_initial(entries[self.tgba.initial().index()]);
        let mark = |marked: bool| if marked { Marks::single(0) } else { Marks::NONE };
        for (copy, &(state, level)) in self.levels.copies.iter().enumerate() {
            let accepting = self.placement == Placement::States
                && self.levels.kind(state) != Kind::Rejecting
                && level == self.levels.last();
            let source = State::new(copy);
            for &(edge, round) in &self.inner[copy] {
                let marked = accepting || (self.placement == Placement::Edges && round);
                result.add(source, Edge { marks: mark(marked), ..edge }, budget)?;
            }
            for edge in self.tgba.edges(state).iter().filter(|edge| !self.is_inner(state, edge)) {
                let target = entries[edge.target.index()];
                result.add(source, Edge { target, marks: mark(accepting), ..*edge }, budget)?;
            }
        }
        trim(result, budget)
    }
}
