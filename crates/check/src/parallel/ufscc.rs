//! Strong components by several workers at once.
//!
//! # Idea
//! UFSCC of Bloemen, Laarman and van de Pol (PPoPP 2016; for LTL: Bloemen and van de Pol, HVC 2016). Every worker searches
//! depth first from the same states, in an order of its own, with a stack of roots as in Couvreur's algorithm. But the
//! partial components are shared ([`UnionFind`]): what one worker united is one for all, and a state whose edges one
//! worker has looked at need not be looked at by others. So workers share the work inside one large component, too.
//!
//! A worker enters a state, looks at its edges, and leaves it. Edges into finished components are dropped. An edge into a
//! set in which the worker is already closes a cycle: the sets on the way become one. Other targets are entered. When a
//! state is left, all its edges were looked at, and it is a tomb. If the state below is in the same set, the search goes on
//! there; otherwise in any live state of the set, as if that had been reached by the same edge. If none is left, the
//! component is finished.
//!
//! # Marks
//! The marks of an edge belong to a component that holds both of its ends. A worker adds them when it sees that: at once,
//! if the edge leads into its own sets; or, **rule M**, when it goes back over the edge by which it entered a state and finds both
//! ends in one set. Without this rule, and with marks of entered edges on the stack of roots alone, they get lost where another worker
//! unites both ends meanwhile: a wrong *holds* (t: `components`, a graph of three states).
//!
//! *When a state becomes a tomb, each of its edges leads to a finished component, or into its own set, whose word has the edge's
//! marks.* Proof. The worker that makes it a tomb has looked at each edge itself. It dropped the edge because the target was
//! finished; or united both ends and added the marks; or entered the target, and came back. It comes back when the target is in the
//! same set, and then added the marks; or when its component is finished, and with it the target. Live states that are entered
//! instead of the target are in the target's set, and are left under the same conditions, with the same marks. ∎
//!
//! So when a set has no live state any more, none of its edges leaves it for a set that is not finished, it is a component, and it
//! has all of its marks.
//!
//! Marks of states are added by every worker that expands a state, before it looks at the edges. A set of several
//! states was made by workers who had expanded a state of each part, so no such set lacks a state's marks.
//!
//! Any worker may leave whenever it is asked for time: what is live on its path others find on their own way, and it has not said of any state
//! that its edges were looked at. One that goes on is enough.
//!
//! # Rule S
//! All workers must expand a state alike: whoever makes it a tomb speaks for all. So sets of actions depend on the state
//! alone, or are remembered.
//!
//! # Acceptance
//! A worker that adds marks sees all that the set has, and ends the search if these are enough: marks only become more. That is
//! not so for strong fairness, where a larger set may need more than a smaller one has: a set that is only half
//! united with others would be judged as if it were strongly connected. So that is judged when the component is finished.
//!
//! # Differences from the papers
//! - Marks: rule M, and one word per set for marks and workers, so that nothing is ever in a former root.
//! - Edges into what is known are looked at when a state is entered; only the others wait, those to states that nobody has entered
//!   on top.
//! - A state that is a tomb already is not expanded.
//! - A closed set may be opened again ([`Graph::finish`]), which reductions need.
//! - Stacks are packed: a few bytes per state on the path, and per run of edges that wait. States are told by how far their numbers are from that of the
//!   state above, or of the source of the edge, since states that are found together have numbers close to each other. States that are found in one state
//!   for the first time have numbers one after the other: edges to them are one run.

use crate::parallel::rings::{Closed, Pick};
use crate::parallel::union_find::{Claim, UnionFind};
use crate::search::varints::Varints;
use crate::store::shared::arena::Cell;
use crate::sync::{Mutant, is, pause};
use base::Limit;

/// An edge to a state, with the number of its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) target: u32,
    pub(crate) marks: u32,
}

/// What was seen in a state besides its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The number of its own marks, until another state is expanded.
    pub(crate) marks: u32,
    /// Whatever is to be counted once; 0 is nothing.
    pub(crate) note: u32,
}

/// The number of no marks.
pub(crate) const NO_MARKS: u32 = 0;

/// A graph, as one worker sees it.
pub(crate) trait Graph<A> {
    /// Why a search ends early.
    type End: From<Limit>;

    /// Puts the edges of a state into `out`.
    fn expand(&mut self, state: u32, out: &mut Vec<Edge>) -> Result<Seen, Self::End>;

    /// The marks of a number. Number 0 has none.
    fn marks(&self, number: u32) -> &[u32];

    /// Whether a set that has these marks ends the search, however much it grows.
    fn accepts(&self, marks: &[u32]) -> bool;

    /// The search ends: the set of this state is accepted.
    fn accept(&mut self, state: u32) -> Self::End;

    /// The edges of a state were all looked at, of which this was noted; each state is told once, by one worker.
    fn left(&mut self, state: u32, note: u32);

    /// A set was closed. It is finished; or it gets a new state with edges of its own, which is the answer.
    fn finish(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<Option<u32>, Self::End>;

    /// A component is finished, and nobody waits for it any more.
    fn finished(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<(), Self::End>;

    /// Called while there is nothing to do but wait, and now and then otherwise: whether to end.
    fn poll(&mut self, n_path: u64, bytes: u64) -> Result<(), Self::End>;
}

/// A state on the path.
#[derive(Clone, Copy, Default)]
struct Frame {
    state: u32,
    /// The marks of the edge by which it was entered.
    via: u32,
    note: u32,
    n_waiting: u32,
}

/// One worker of a search.
pub(crate) struct Walk<'s, A> {
    sets: &'s UnionFind<A>,
    worker: usize,
    /// The state on top; none if `depth` is 0.
    top: Frame,
    depth: u64,
    longest: u64,
    /// What is below it.
    frames: Varints,
    /// Partial components on the path: a state of each, and the marks of the edge by which that was entered. The one on top, if there is one, and
    /// what is below it.
    root: Edge,
    roots: Varints,
    n_roots: u64,
    /// Edges that wait, of all states on the path.
    waiting: Varints,
    edges: Vec<Edge>,
    sum: Vec<u32>,
    now: Vec<u32>,
    random: u32,
}

impl<'s, A: Cell> Walk<'s, A> {
    /// A worker that has not begun.
    pub(crate) fn new(sets: &'s UnionFind<A>, worker: usize) -> Walk<'s, A> {
        Walk {
            sets,
            worker,
            top: Frame::default(),
            depth: 0,
            longest: 0,
            frames: Varints::default(),
            root: Edge { target: 0, marks: NO_MARKS },
            roots: Varints::default(),
            n_roots: 0,
            waiting: Varints::default(),
            edges: Vec::new(),
            sum: Vec::new(),
            now: Vec::new(),
            random: (worker as u32).wrapping_mul(0x9E37_79B9),
        }
    }

    /// The longest path so far.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    fn bytes(&self) -> u64 {
        self.frames.bytes() + self.roots.bytes() + self.waiting.bytes()
    }

    /// Searches from a state, until its component is finished.
    pub(crate) fn search_from<G: Graph<A>>(&mut self, state: u32, graph: &mut G) -> Result<(), G::End> {
        self.sets.touch(state)?;
        if self.sets.claim(state, self.worker).0 != Claim::New {
            return Ok(());
        }
        self.enter(state, NO_MARKS, graph)?;
        while self.depth > 0 {
            if self.top.n_waiting > 0 && self.sets.is_live(self.top.state) {
                self.top.n_waiting -= 1;
                let Edge { target, marks } = pop_run(&mut self.waiting, self.top.state)?;
                self.sets.touch(target)?;
                match self.sets.claim(target, self.worker) {
                    (Claim::Dead, _) => {}
                    (Claim::New | Claim::Taken, _) => self.enter(target, marks, graph)?,
                    (Claim::Known, root) if root == self.sets.root(self.top.state) => {
                        self.add(self.top.state, marks, graph)?;
                    }
                    (Claim::Known, _) => self.found(self.top.state, target, marks, graph)?,
                }
            } else {
                self.leave(graph)?;
            }
        }
        Ok(())
    }

    /// The search has ended, and nobody is at work any more: what was seen in the states on the path is told, if it ended
    /// early. (Not before: their edges need not have been looked at, and where somebody unites sets, or closes one, that
    /// is what tombs say.)
    pub(crate) fn give_up<G: Graph<A>>(&mut self, graph: &mut G) {
        while self.depth > 0 {
            let Frame { state, note, .. } = self.top;
            self.pop();
            // Others have it on their paths, too, and may have gone on there.
            if note != 0 && self.sets.try_remove(state) {
                graph.left(state, note);
            }
        }
    }

    fn enter<G: Graph<A>>(&mut self, state: u32, via: u32, graph: &mut G) -> Result<(), G::End> {
        self.push(Frame { state, via, note: 0, n_waiting: 0 })?;
        self.push_root(state, via)?;
        graph.poll(self.depth, self.bytes())?;
        if !self.sets.is_live(state) {
            return Ok(());
        }
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        let seen = graph.expand(state, &mut edges)?;
        self.top.note = seen.note;
        self.add(state, seen.marks, graph)?;
        self.sets.warm_up(edges.iter().map(|edge| edge.target));
        let mut n_kept = 0;
        let mut own = self.sets.root(state);
        for index in 0..edges.len() {
            let edge = edges[index];
            match self.sets.peek(edge.target, self.worker) {
                (Claim::Dead, _) => {}
                (_, root) if root == own => self.add(state, edge.marks, graph)?,
                (Claim::Known, _) => {
                    self.found(state, edge.target, edge.marks, graph)?;
                    own = self.sets.root(state);
                }
                // Where others are, the worker goes last: until then, they may be through.
                (Claim::Taken, _) => {
                    push_run(&mut self.waiting, state, edge, 0)?;
                    self.top.n_waiting += 1;
                }
                (Claim::New, _) => {
                    edges[n_kept] = edge;
                    n_kept += 1;
                }
            }
        }
        edges.truncate(n_kept);
        // The first worker takes edges as they come, the others begin somewhere else.
        let first = if self.worker == 0 { 0 } else { self.random() as usize % n_kept.max(1) };
        // The last edge of a run comes first here.
        let mut run: Option<(Edge, u32)> = None;
        for &edge in edges[..first].iter().rev().chain(edges[first..].iter().rev()) {
            run = match run {
                Some((next, n_more)) if next == (Edge { target: edge.target + 1, ..edge }) => {
                    Some((edge, n_more + 1))
                }
                Some((other, n_more)) => {
                    push_run(&mut self.waiting, state, other, n_more)?;
                    Some((edge, 0))
                }
                None => Some((edge, 0)),
            };
        }
        if let Some((edge, n_more)) = run {
            push_run(&mut self.waiting, state, edge, n_more)?;
        }
        self.top.n_waiting += n_kept as u32;
        self.edges = edges;
        Ok(())
    }

    fn random(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// Leaves the state on top. Its edges were looked at, or it is a tomb.
    fn leave<G: Graph<A>>(&mut self, graph: &mut G) -> Result<(), G::End> {
        let Frame { state, via, note, n_waiting } = self.top;
        for _ in 0..n_waiting {
            pop_run(&mut self.waiting, state)?;
        }
        self.pop();
        if self.sets.remove(state) {
            graph.left(state, note);
        }
        let mut n_spins = 0;
        loop {
            if self.depth > 0 && self.sets.same(self.top.state, state) {
                if !is(Mutant::MarksOnRoots) {
                    self.add(self.top.state, via, graph)?;
                }
                return Ok(());
            }
            let next = match self.sets.pick(state) {
                Pick::Live(next) => next,
                Pick::Waits => {
                    graph.poll(self.depth, self.bytes())?;
                    pause(&mut n_spins);
                    continue;
                }
                Pick::Dead => break,
                Pick::Closed(closed) => match graph.finish(self.sets, closed)? {
                    None => {
                        self.sets.bury(closed);
                        graph.finished(self.sets, closed)?;
                        break;
                    }
                    Some(new) => {
                        self.sets.touch(new)?;
                        self.sets.reopen(closed, new);
                        new
                    }
                },
            };
            let via = if is(Mutant::MarksOnRoots) { NO_MARKS } else { via };
            return self.enter(next, via, graph);
        }
        // It is finished. The state below may have been united with it before, by others: then it is left next.
        if self.depth == 0 || !self.sets.same(self.top.state, state) {
            self.pop_roots(state);
        }
        Ok(())
    }

    /// An edge leads from the set on top to a set in which this worker is: what lies between becomes one.
    fn found<G: Graph<A>>(&mut self, from: u32, to: u32, marks: u32, graph: &mut G) -> Result<(), G::End> {
        if self.sets.same(from, to) {
            return self.add(from, marks, graph);
        }
        self.sum.clear();
        self.sum.extend_from_slice(graph.marks(marks));
        while self.n_roots > 0 {
            let (root, via) = self.pop_root();
            self.sets.unite(root, from);
            if self.sets.same(from, to) {
                self.push_root(root, via)?;
                break;
            }
            self.sum.iter_mut().zip(graph.marks(via)).for_each(|(sum, marks)| *sum |= marks);
        }
        let sum = std::mem::take(&mut self.sum);
        self.sets.add(from, &sum, &mut self.now);
        self.sum = sum;
        if graph.accepts(&self.now) { Err(graph.accept(from)) } else { Ok(()) }
    }

    /// Adds marks to the set of a state.
    fn add<G: Graph<A>>(&mut self, state: u32, marks: u32, graph: &mut G) -> Result<(), G::End> {
        if marks == NO_MARKS {
            return Ok(());
        }
        let is_more = self.sets.add(state, graph.marks(marks), &mut self.now);
        if is_more && graph.accepts(&self.now) { Err(graph.accept(state)) } else { Ok(()) }
    }

    fn push(&mut self, frame: Frame) -> Result<(), Limit> {
        if self.depth > 0 {
            let below = self.frames.end();
            if let Err(limit) = self.push_top(frame.state) {
                self.frames.cut(below);
                return Err(limit);
            }
        }
        self.depth += 1;
        self.longest = self.longest.max(self.depth);
        self.top = frame;
        Ok(())
    }

    /// Puts the state that is on top below another one.
    fn push_top(&mut self, above: u32) -> Result<(), Limit> {
        let Frame { state, via, note, n_waiting } = self.top;
        self.frames.push(u64::from(n_waiting))?;
        self.frames.push(u64::from(note))?;
        push_with(&mut self.frames, above, Edge { target: state, marks: via }, false)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        if self.depth > 0 {
            let (Edge { target: state, marks: via }, _) = pop_with(&mut self.frames, self.top.state);
            let [note, n_waiting] = [(); 2].map(|()| self.frames.pop() as u32);
            self.top = Frame { state, via, note, n_waiting };
        }
    }

    fn push_root(&mut self, state: u32, via: u32) -> Result<(), Limit> {
        if self.n_roots > 0 {
            push_with(&mut self.roots, state, self.root, false)?;
        }
        self.n_roots += 1;
        self.root = Edge { target: state, marks: via };
        Ok(())
    }

    fn pop_root(&mut self) -> (u32, u32) {
        self.n_roots -= 1;
        let Edge { target, marks } = self.root;
        if self.n_roots > 0 {
            self.root = pop_with(&mut self.roots, target).0;
        }
        (target, marks)
    }

    /// Forgets the roots in the set of a state, which are on top.
    fn pop_roots(&mut self, state: u32) {
        while self.n_roots > 0 && self.sets.same(self.root.target, state) {
            self.pop_root();
        }
    }
}

/// Puts an edge on a stack, as it is seen from a state, with a bit of somebody else. Most have no marks: then that is one bit, too.
#[inline]
fn push_with(stack: &mut Varints, from: u32, edge: Edge, bit: bool) -> Result<(), Limit> {
    let has_marks = edge.marks != NO_MARKS;
    if has_marks {
        stack.push(u64::from(edge.marks))?;
    }
    let far = i64::from(edge.target) - i64::from(from);
    let far = (far << 1 ^ far >> 63) as u64;
    Ok(stack.push(far << 2 | u64::from(has_marks) << 1 | u64::from(bit))?)
}

/// Takes the edge on top, as it was seen from a state, and the bit.
#[inline]
fn pop_with(stack: &mut Varints, from: u32) -> (Edge, bool) {
    let number = stack.pop();
    let marks = if number & 2 != 0 { stack.pop() as u32 } else { NO_MARKS };
    let far = (number >> 3) as i64 ^ -(number as i64 >> 2 & 1);
    (Edge { target: (i64::from(from) + far) as u32, marks }, number & 1 == 1)
}

/// Puts an edge on a stack, and so many more with the same marks to the numbers after its target.
#[inline]
fn push_run(stack: &mut Varints, from: u32, edge: Edge, n_more: u32) -> Result<(), Limit> {
    if n_more > 0 {
        stack.push(u64::from(n_more))?;
    }
    push_with(stack, from, edge, n_more > 0)
}

/// Takes the first edge of the run on top.
#[inline]
fn pop_run(stack: &mut Varints, from: u32) -> Result<Edge, Limit> {
    let (edge, has_more) = pop_with(stack, from);
    if has_more {
        let n_more = stack.pop() as u32 - 1;
        push_run(stack, from, Edge { target: edge.target + 1, ..edge }, n_more)?;
    }
    Ok(edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_taken_as_they_were_put() {
        let mut random = fastrand::Rng::with_seed(6);
        let (mut stack, mut expected) = (Varints::default(), Vec::new());
        let from = 1 << 20;
        for _ in 0..100_000 {
            if random.bool() {
                let target = random.u32(..) >> random.u32(0..32);
                let marks = random.u32(0..4).saturating_sub(2);
                let n_more = random.u32(0..5).min(u32::MAX - target);
                push_run(&mut stack, from, Edge { target, marks }, n_more).unwrap();
                expected.extend((0..=n_more).rev().map(|more| Edge { target: target + more, marks }));
            } else if let Some(edge) = expected.pop() {
                assert_eq!(pop_run(&mut stack, from).unwrap(), edge);
            }
        }
        while let Some(edge) = expected.pop() {
            assert_eq!(pop_run(&mut stack, from).unwrap(), edge);
        }
        assert_eq!(stack.end(), 0);
    }
}
