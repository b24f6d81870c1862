//! A product, as one worker of a search by strong components sees it.
//!
//! Each worker has a product of its own, a handle of the shared store, and numbers of marks. Common to all are the
//! sets of states, what was taken besides in components that were repaired, and the alarm.
//!
//! # Reduction
//! All workers must take the same steps in a state ([`ufscc`](super::ufscc), rule S).
//! - Guided sets depend on the state alone.
//! - Hybrid and classical sets are decided once ([`decide`](super::decide)).
//! - Repaired sets depend on the state alone, until its component is closed ([`inner`](super::inner)).

use base::{Budget, Limit, Progress};
use model::{ActionId, System};
use por::Effort;
use rustc_hash::FxHashMap;

use super::Alarm;
use super::decide::{Choice, decide};
use super::marks::{Layout, Numbers};
use super::members::Flag;
use super::parts::{Left, Parts};
use super::rings::Closed;
use super::ufscc::{self, Graph, Seen};
use super::union_find::UnionFind;
use crate::fairness::Acceptance;
use crate::observer::Observer;
use crate::product::{Expanded, Path};
use crate::search::Violation;
use crate::search::found::{Found, Scope};
use crate::search::product_graph::{Edge, ProductGraph, Trouble};
use crate::search::roots::EdgeMarks;
use crate::store::shared::PairsHandle;
use crate::store::shared::arena::Cell;
use crate::store::{Products, StateId};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, lock};

/// How a state's steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choosing {
    /// By the state alone.
    Alone,
    /// By the state alone, and components are repaired.
    Repaired,
    /// As it was in the end, in an earlier pass that repaired its components.
    AsBefore,
    /// By the state alone, and nobody repairs components: wrong, for tests.
    Free,
    /// Once, by who comes first.
    Once,
}

impl Choosing {
    /// How the same steps are chosen in a later pass.
    pub(super) fn again(self) -> Choosing {
        if self == Choosing::Repaired { Choosing::AsBefore } else { self }
    }
}

/// What a pass is about.
pub(super) struct Pass {
    pub(super) scope: Scope,
    pub(super) choosing: Choosing,
    /// What was taken besides in an earlier pass.
    pub(super) repaired: Repaired,
    /// What is looked into, if that is not everything.
    pub(super) parts: Option<Parts>,
}

/// Why the search ends early.
pub(super) enum End {
    /// Somebody else has ended it.
    Stopped,
    /// This worker is of no use, and leaves it to the others.
    Useless,
    /// The set of this state is accepted.
    Accepting(u32),
    Found(Found),
}

impl From<Limit> for End {
    fn from(limit: Limit) -> End {
        End::Found(limit.into())
    }
}

impl End {
    /// Trouble in a state.
    pub(super) fn trouble(trouble: Trouble, state: u32) -> End {
        End::Found(Found::Trouble(trouble, Some(StateId::new(state as usize))))
    }
}

/// What a state takes besides its set, since its component was repaired.
#[derive(Clone)]
pub(super) enum Extra {
    /// All that is taken where no set is accepted.
    All,
    Actions(Vec<ActionId>),
}

/// What was taken besides in components that were repaired.
#[derive(Default)]
pub(super) struct Repaired {
    pub(super) extra: FxHashMap<u32, Extra>,
    /// Per state that was added to a set, the states whose edges it has.
    pub(super) added: Vec<Vec<u32>>,
}

/// What the workers share.
pub(super) struct Common<A> {
    pub(super) sets: UnionFind<A>,
    pub(super) alarm: Alarm<End>,
    pub(super) scope: Scope,
    pub(super) layout: Layout,
    pub(super) acceptance: Acceptance,
    pub(super) choosing: Choosing,
    pub(super) repaired: Mutex<Repaired>,
    parts: Option<Parts>,
    /// Components of at least so many states that lack strong fairness are left to the next pass.
    large: usize,
    pub(super) left: Left,
    /// Some livelock state was entered.
    pub(super) saw_livelock: AtomicBool,
    pub(super) counts: Counts,
}

/// What all workers count. Alone in its lines of the cache, since others look at what is beside it in every state.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Counts {
    pub(super) transitions: AtomicU64,
    pub(super) deadlocks: AtomicU64,
    pub(super) depth: AtomicU64,
    /// How often a state was entered.
    n_entered: AtomicU64,
    /// Workers that have left.
    n_useless: AtomicU64,
    /// Bytes of all stacks, of repairs, and the most that were held in all.
    stack_bytes: AtomicU64,
    pub(super) repair_bytes: AtomicU64,
    pub(super) peak_bytes: AtomicU64,
}

impl<A: Cell> Common<A> {
    pub(super) fn new(
        n_workers: usize,
        layout: Layout,
        acceptance: Acceptance,
        pass: Pass,
        large: usize,
    ) -> Common<A> {
        let Pass { scope, choosing, repaired, parts } = pass;
        let has_members = matches!(choosing, Choosing::Repaired | Choosing::Once) || layout.has_strong();
        Common {
            sets: UnionFind::new(n_workers, layout.n_bits(), has_members),
            alarm: Alarm::new(),
            scope,
            layout,
            acceptance,
            choosing,
            repaired: Mutex::new(repaired),
            parts,
            large,
            left: Left::new(),
            saw_livelock: AtomicBool::new(false),
            counts: Counts::default(),
        }
    }
}

/// What one worker has counted and not told yet.
#[derive(Default)]
struct Untold {
    transitions: u64,
    deadlocks: u64,
    n_polls: u32,
    stack_bytes: u64,
}

/// One worker's product.
pub(super) struct Explorer<'e, 'a, S: System, O, A> {
    pub(super) graph: ProductGraph<'e, 'a, S, O, PairsHandle<'e>>,
    pub(super) common: &'e Common<A>,
    pub(super) budget: Budget<'e>,
    pub(super) edges: Vec<Edge>,
    numbers: Numbers,
    pub(super) edge_marks: EdgeMarks,
    now: Vec<u32>,
    untold: Untold,
    /// What it was when it was looked at last, but for the number of states.
    progress: Progress,
    pub(super) n_tries: u64,
    /// Whether it may leave all to the others.
    may_leave: bool,
}

/// Where few states are known, nobody leaves.
const MANY_STATES: u64 = 20_000;

/// The counts of a worker are told after so many states.
const TELL_EVERY: u32 = 64;

/// Bytes are counted in the first of so many.
const COUNT_EVERY: u32 = 16;

impl<'e, 'a, S: System, O: Observer, A: Cell> Explorer<'e, 'a, S, O, A> {
    pub(super) fn new(
        graph: ProductGraph<'e, 'a, S, O, PairsHandle<'e>>,
        common: &'e Common<A>,
        budget: Budget<'e>,
        may_leave: bool,
    ) -> Explorer<'e, 'a, S, O, A> {
        let numbers = Numbers::new(common.layout.clone());
        Explorer {
            graph,
            common,
            budget,
            edges: Vec::new(),
            numbers,
            edge_marks: EdgeMarks::default(),
            now: Vec::new(),
            untold: Untold::default(),
            progress: Progress::default(),
            n_tries: 0,
            may_leave,
        }
    }

    /// Whether a pass that does not begin with the initial states begins in a state: it is in a part that is looked into, or the
    /// observer accepts livelocks there.
    pub(super) fn is_start(&mut self, state: u32) -> Result<bool, End> {
        if let Some(parts) = &self.common.parts {
            return Ok(parts.of(state).is_some());
        }
        let stance = self.graph.stance(StateId::new(state as usize));
        Ok(stance.map_err(|trouble| End::trouble(trouble, state))?.livelock)
    }

    /// Puts the edges of a state into `edges`: the same for every worker.
    pub(super) fn edges_of(&mut self, state: u32) -> Result<Expanded, End> {
        let id = StateId::new(state as usize);
        let Explorer { graph, common, edges, .. } = self;
        let sets = &common.sets;
        let expanded = match common.choosing {
            Choosing::Alone => graph.expand_by(id, Path::Unknown, edges),
            Choosing::Free => {
                graph.expand_by(id, Path::Repaired { extra: &[], again: Some(Effort::Grown) }, edges)
            }
            Choosing::Repaired | Choosing::AsBefore => {
                // In the first pass, only states that were looked at take something besides.
                let may_have = common.choosing == Choosing::AsBefore || sets.has(state, Flag::Second);
                let extra = may_have.then(|| lock(&common.repaired).extra.get(&state).cloned()).flatten();
                match extra {
                    None => {
                        graph.expand_by(id, Path::Repaired { extra: &[], again: Some(Effort::Grown) }, edges)
                    }
                    Some(Extra::All) => {
                        let is_by_action = graph.product_repair().is_some_and(|repair| repair.by_action);
                        let path = if is_by_action { Path::Everything } else { Path::Unknown };
                        graph.expand_by(id, path, edges)
                    }
                    Some(Extra::Actions(extra)) => graph.expand_by(
                        id,
                        Path::Repaired { extra: &extra, again: Some(Effort::Grown) },
                        edges,
                    ),
                }
            }
            Choosing::Once => {
                let is_decided = |other: StateId| {
                    let other = other.index() as u32;
                    sets.touch(other).is_ok() && sets.is_flagged(other) && !sets.is_dead(other)
                };
                let look = || {
                    let expanded = graph.expand_once(id, &is_decided, edges);
                    expanded.map(|(expanded, is_small)| (is_small, expanded))
                };
                match decide(sets, state, look) {
                    Err(trouble) => Err(trouble),
                    Ok((_, Some(expanded))) => Ok(expanded),
                    Ok((Choice::Small, None)) => graph.expand_by(id, Path::AsBefore, edges),
                    Ok((Choice::Large, None)) => graph.expand_by(id, Path::Unknown, edges),
                }
            }
        };
        let expanded = expanded.map_err(|trouble| End::trouble(trouble, state))?;
        if common.scope == Scope::Livelocks {
            // The observer stays where it is, so both ends are livelock states.
            edges.retain(|edge| edge.silent);
        }
        Ok(expanded)
    }

    /// Puts the edges in `edges` into `out`, with the numbers of their marks.
    fn put(&mut self, out: &mut Vec<ufscc::Edge>) {
        let Explorer { graph, edges, numbers, .. } = self;
        out.extend(edges.iter().map(|edge| ufscc::Edge {
            target: edge.target.index() as u32,
            marks: numbers.of_edge(graph.fairness(), edge.marks, edge.action),
        }));
    }

    /// Puts the edges of a state of a part into `out`, as far as they are in the same part; none if the state is bad.
    fn expand_part(&mut self, state: u32, parts: &Parts, out: &mut Vec<ufscc::Edge>) -> Result<Seen, End> {
        let nothing = Seen { marks: ufscc::NO_MARKS, note: 0 };
        self.edges_of(state)?;
        let Some(part) = parts.of(state) else { return Ok(nothing) };
        let marks = self.numbers.of_state(self.graph.state_marks(), false);
        if self.common.layout.is_bad(self.numbers.get(marks), parts.marks(part)) {
            return Ok(nothing);
        }
        self.edges.retain(|edge| parts.of(edge.target.index() as u32) == Some(part));
        self.put(out);
        Ok(Seen { marks, ..nothing })
    }

    /// Whether the state that was expanded last left something out that counts in cycles.
    fn is_noted(&self, state: u32) -> bool {
        let id = StateId::new(state as usize);
        self.common.choosing == Choosing::Repaired
            && self.graph.left_out().next().is_some()
            && self.edges.iter().any(|edge| self.graph.counts(id, edge, &[]))
    }

    /// Whether nearly all workers enter nearly all states, so often were some entered: then nothing is gained by there being more than one. It is so where the
    /// product has one way to go.
    fn is_useless(&self, n_entered: u64) -> bool {
        let n_states = self.graph.states.store().n_states();
        n_states > MANY_STATES && 5 * n_entered > 4 * self.common.sets.n_workers() as u64 * n_states
    }

    /// Asks the clock, while this worker does something of its own.
    pub(super) fn poll_alone(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        if self.common.alarm.is_rung() {
            return Err(End::Stopped);
        }
        Ok(budget.poll(&self.progress(0))?)
    }

    fn progress(&self, depth: u64) -> Progress {
        let common = self.common;
        let states = self.graph.states.store();
        let bytes = states.bytes()
            + common.sets.bytes()
            + common.counts.stack_bytes.load(Ordering::Relaxed)
            + common.counts.repair_bytes.load(Ordering::Relaxed)
            + common.left.bytes()
            + common.parts.as_ref().map_or(0, Parts::bytes);
        Progress {
            states: states.n_states(),
            transitions: common.counts.transitions.load(Ordering::Relaxed),
            depth,
            pending: 0,
            bytes,
            workers: common.sets.n_workers() as u32 - common.counts.n_useless.load(Ordering::Relaxed) as u32,
        }
    }

    /// Tells what was counted.
    pub(super) fn tell(&mut self, depth: u64, stack_bytes: u64) {
        let common = self.common;
        let Untold { transitions, deadlocks, .. } = self.untold;
        common.counts.transitions.fetch_add(transitions, Ordering::Relaxed);
        common.counts.deadlocks.fetch_add(deadlocks, Ordering::Relaxed);
        common.counts.depth.fetch_max(depth, Ordering::Relaxed);
        common
            .counts
            .stack_bytes
            .fetch_add(stack_bytes.wrapping_sub(self.untold.stack_bytes), Ordering::Relaxed);
        common.counts.peak_bytes.fetch_max(self.progress(depth).bytes, Ordering::Relaxed);
        self.untold = Untold { stack_bytes, ..Untold::default() };
    }
}

impl<S: System, O: Observer, A: Cell> Graph<A> for Explorer<'_, '_, S, O, A> {
    type End = End;

    fn expand(&mut self, state: u32, out: &mut Vec<ufscc::Edge>) -> Result<Seen, End> {
        if let Some(index) = state.checked_sub(UnionFind::<A>::VIRTUAL) {
            let added = lock(&self.common.repaired).added[index as usize].clone();
            for state in added {
                self.edges_of(state)?;
                self.put(out);
            }
            return Ok(Seen { marks: ufscc::NO_MARKS, note: 0 });
        }
        if let Some(parts) = &self.common.parts {
            return self.expand_part(state, parts, out);
        }
        let expanded = self.edges_of(state)?;
        if expanded.stance.at_once {
            return Err(End::Found(Found::State(Violation::AtOnce, StateId::new(state as usize))));
        }
        if expanded.is_error {
            return Err(End::Found(Found::State(Violation::Deadlock, StateId::new(state as usize))));
        }
        if expanded.stance.livelock && !self.common.saw_livelock.load(Ordering::Relaxed) {
            self.common.saw_livelock.store(true, Ordering::Relaxed);
        }
        let is_noted = self.is_noted(state);
        if is_noted {
            self.common.sets.flag(state, Flag::First);
        }
        let marks = self.numbers.of_state(self.graph.state_marks(), is_noted);
        self.put(out);
        Ok(Seen { marks, note: (out.len() as u32) << 1 | u32::from(expanded.is_deadlock) })
    }

    #[inline]
    fn marks(&self, number: u32) -> &[u32] {
        self.numbers.get(number)
    }

    #[inline]
    fn accepts(&self, marks: &[u32]) -> bool {
        !self.common.layout.has_strong() && self.common.layout.may_hold(marks)
    }

    fn accept(&mut self, state: u32) -> End {
        End::Accepting(state)
    }

    fn left(&mut self, _: u32, note: u32) {
        self.untold.transitions += u64::from(note >> 1);
        self.untold.deadlocks += u64::from(note & 1 == 1 && self.common.scope == Scope::All);
    }

    fn finish(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<Option<u32>, End> {
        let mut now = std::mem::take(&mut self.now);
        sets.marks(closed.root(), &mut now);
        let (is_noted, holds) = (self.common.layout.is_noted(&now), self.common.layout.holds(&now));
        self.now = now;
        if holds {
            return Err(End::Accepting(closed.root()));
        }
        if is_noted { self.repair_set(closed.root()) } else { Ok(None) }
    }

    fn finished(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<(), End> {
        if !self.common.layout.has_strong() || !self.common.layout.may_hold(&self.now) {
            return Ok(());
        }
        // A large one is not listed: that would take more memory than all else that is kept about its states.
        if sets.members(closed.root()).take(self.common.large).count() == self.common.large {
            return Ok(self.common.left.leave(sets.members(closed.root()), &self.now)?);
        }
        let states = self.members(closed.root(), |_| true);
        self.look_for_fair_part(&states)
    }

    #[inline]
    fn poll(&mut self, depth: u64, bytes: u64) -> Result<(), End> {
        if self.common.alarm.is_rung() {
            return Err(End::Stopped);
        }
        self.untold.n_polls += 1;
        if self.untold.n_polls == TELL_EVERY {
            self.tell(depth, bytes);
            let entered = self.common.counts.n_entered.fetch_add(u64::from(TELL_EVERY), Ordering::Relaxed);
            if self.may_leave && self.is_useless(entered) {
                self.common.counts.n_useless.fetch_add(1, Ordering::Relaxed);
                return Err(End::Useless);
            }
            if self.graph.states.n_ids() > UnionFind::<A>::VIRTUAL as usize {
                return Err(Limit::States(u64::from(UnionFind::<A>::VIRTUAL)).into());
            }
        }
        if self.untold.n_polls % COUNT_EVERY == 1 {
            self.progress = self.progress(depth);
        }
        self.progress.states = self.graph.states.store().n_states();
        Ok(self.budget.poll(&self.progress)?)
    }
}
