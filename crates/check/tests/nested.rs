//! Nested depth-first search by several workers, under random schedules: the source is compiled once more here, over atomics that
//! let `shuttle` decide who goes on after each access.
//!
//! Small random graphs are compared with reachability alone. A known way to get it wrong is tried, too, and must be noticed.

#![allow(dead_code, unreachable_pub, missing_docs)]

#[path = "../src/paged.rs"]
mod paged;

#[path = "../src/search"]
mod search {
    pub(crate) mod stack;
}

#[path = "../src/parallel"]
mod parallel {
    pub(crate) mod cndfs;
}

/// In place of `check::store`.
mod store {
    pub(crate) fn hash(state: &[u32], _: u64) -> u64 {
        state.iter().fold(7, |hash: u64, &word| (hash ^ u64::from(word)).wrapping_mul(0x9E37_79B9))
    }
}

/// In place of `check::sync`.
mod sync {
    use std::cell::Cell;

    pub(crate) use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    pub(crate) fn pause(_: &mut u32) {
        shuttle::thread::yield_now();
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Mutant {
        NoWaiting,
    }

    thread_local! {
        /// All workers of a schedule run on one thread.
        pub(crate) static MUTANT: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    pub(crate) fn is(mutant: Mutant) -> bool {
        MUTANT.get() == Some(mutant)
    }
}

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use base::Limit;
use model::ActionId;
use parallel::cndfs::{Color, Colors, Graph, Outgoing, Walk, Way};
use search::stack::Pending;
use shuttle::sync::Mutex;
use sync::{AtomicU32, AtomicU64, MUTANT, Mutant};

/// A graph whose first state is the initial one. Each edge has a target, and may be marked.
#[derive(Clone, Debug)]
struct Example(Vec<Vec<(u32, bool)>>);

impl Example {
    fn random(seed: u64) -> Example {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = random.u32(2..9);
        let mut edges = vec![Vec::new(); n as usize];
        for _ in 0..n + random.u32(0..2 * n) {
            let (from, to) = (random.u32(0..n), random.u32(0..n));
            // Many have no cycle but with the last state.
            let (from, to) = if random.u8(0..3) > 0 { (from.min(to), from.max(to)) } else { (from, to) };
            edges[from as usize].push((to, random.u8(0..4) == 0));
        }
        Example(edges)
    }

    /// The states and edges that are reached, and whether a marked edge lies on a cycle.
    fn truth(&self) -> (Counts, bool) {
        let n = self.0.len();
        let mut reaches = vec![vec![false; n]; n];
        for (from, row) in reaches.iter_mut().enumerate() {
            row[from] = true;
            self.0[from].iter().for_each(|&(to, _)| row[to as usize] = true);
        }
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        let found: Vec<usize> = (0..n).filter(|&state| reaches[0][state]).collect();
        let marked = || found.iter().flat_map(|&from| self.0[from].iter().map(move |edge| (from, *edge)));
        let behind =
            |state: usize| marked().any(|(_, (to, is_marked))| is_marked && reaches[to as usize][state]);
        let n_edges = |states: &mut dyn Iterator<Item = usize>| states.map(|state| self.0[state].len()).sum();
        let counts = Counts {
            n_blue: found.len(),
            n_edges: n_edges(&mut found.iter().copied()),
            n_again: n_edges(&mut found.iter().copied().filter(|&state| behind(state))),
        };
        (counts, marked().any(|(from, (to, is_marked))| is_marked && reaches[to as usize][from]))
    }

    /// Whether a way is one, closes a cycle, and takes a marked edge on it. The number of an action is its place among the edges of a state.
    fn is_cycle(&self, way: &Way, start: usize) -> bool {
        let (mut at, mut has_mark, mut first) = (0, false, None);
        for (index, action) in way.run.actions.iter().enumerate() {
            if index == start {
                first = Some(at);
            }
            let Some(&(to, is_marked)) = self.0[at as usize].get(action.index()) else { return false };
            has_mark |= is_marked && first.is_some();
            at = to;
        }
        has_mark && first == Some(at)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    n_blue: usize,
    n_edges: usize,
    /// Edges that were looked at once more, behind marked ones.
    n_again: usize,
}

/// What the workers share.
#[derive(Default)]
struct Common {
    counts: Mutex<Counts>,
    found: Mutex<bool>,
}

struct Worker<'g> {
    example: &'g Example,
    common: &'g Common,
}

struct Stopped;

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Stopped {
        panic!("{limit}")
    }
}

impl Graph for Worker<'_> {
    type Trouble = ();
    type End = Stopped;

    fn expand(&mut self, state: &[u32], _: bool, out: &mut Outgoing) -> Result<u32, ()> {
        for (index, &(to, flag)) in self.example.0[state[0] as usize].iter().enumerate() {
            out.steps.push(Pending { action: Some(ActionId::new(index)), flag });
            out.targets.push(to);
        }
        Ok(out.steps.len() as u32)
    }

    fn trouble(&mut self, (): (), _: Way) -> Stopped {
        unreachable!("nothing goes wrong")
    }

    fn cycle(&mut self, way: Way, start: usize) -> Stopped {
        assert!(self.example.is_cycle(&way, start), "{:?}: {:?}, {start}", self.example, way.run);
        *self.common.found.lock().unwrap() = true;
        Stopped
    }

    fn count(&mut self, note: u32, color: Color) {
        let mut counts = self.common.counts.lock().unwrap();
        match color {
            Color::Blue => {
                counts.n_blue += 1;
                counts.n_edges += note as usize;
            }
            _ => counts.n_again += note as usize,
        }
    }

    fn poll(&mut self, _: u64, _: u64) -> Result<(), Stopped> {
        if *self.common.found.lock().unwrap() { Err(Stopped) } else { Ok(()) }
    }
}

/// A word per state; with `LOSSY`, two states are one.
struct Words<const LOSSY: bool>(Arc<Vec<AtomicU32>>);

impl<const LOSSY: bool> Words<LOSSY> {
    fn place(state: &[u32], color: Color) -> (usize, u32) {
        let number = if LOSSY { state[0] / 2 } else { state[0] };
        (number as usize, 1 << color as u32)
    }
}

impl<const LOSSY: bool> Colors for Words<LOSSY> {
    const IS_LOSSY: bool = LOSSY;

    fn has(&mut self, color: Color, state: &[u32]) -> bool {
        let (word, bit) = Self::place(state, color);
        self.0[word].load(SeqCst) & bit != 0
    }

    fn add(&mut self, color: Color, state: &[u32]) -> Result<bool, Limit> {
        let (word, bit) = Self::place(state, color);
        Ok(self.0[word].fetch_or(bit, SeqCst) & bit == 0)
    }
}

/// Searches a graph with some workers; returns what was counted, and whether a cycle was found.
fn search<const LOSSY: bool>(example: &Arc<Example>, n_workers: usize) -> (Counts, bool) {
    let words: Arc<Vec<AtomicU32>> = Arc::new(example.0.iter().map(|_| AtomicU32::new(0)).collect());
    let (common, n_idle) = (Arc::new(Common::default()), Arc::new(AtomicU64::new(0)));
    let work = |worker: usize| {
        let (words, common, example, n_idle) =
            (words.clone(), common.clone(), example.clone(), n_idle.clone());
        move || {
            let mut graph = Worker { example: &example, common: &common };
            let mut walk = Walk::new(1, worker, n_workers, Words::<LOSSY>(words), &n_idle);
            let _ = walk.search(&[(0, vec![0])], &mut graph);
        }
    };
    let threads: Vec<_> = (0..n_workers).map(|worker| shuttle::thread::spawn(work(worker))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let counts = *common.counts.lock().unwrap();
    (counts, *common.found.lock().unwrap())
}

fn seeds(n: u64) -> impl Iterator<Item = u64> {
    let scale = std::env::var("STUBBORN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1);
    let first = std::env::var("STUBBORN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let seed = move |index: u64| (first * 1_000_003 + index).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
    (0..n * scale).map(seed)
}

/// Some schedules of each of some graphs. Returns how many have a cycle, and how many of these were missed.
fn schedules(examples: impl Iterator<Item = (Example, u64)>, n: usize) -> (usize, usize) {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    for (example, seed) in examples {
        let (example, counts) = (Arc::new(example), counts.clone());
        let once = move || {
            let (expected, has_cycle) = example.truth();
            let (counted, found) = search::<false>(&example, 2 + seed as usize % 2);
            counts[0].fetch_add(usize::from(has_cycle), SeqCst);
            counts[1].fetch_add(usize::from(has_cycle && !found), SeqCst);
            assert!(has_cycle || counted == expected, "{example:?}: {counted:?}, not {expected:?}");
        };
        // Few switches, at random moments: what needs one worker to stand still for long is found.
        if n > 1000 { shuttle::check_pct(once, n, 3) } else { shuttle::check_random(once, n) }
    }
    (counts[0].load(SeqCst), counts[1].load(SeqCst))
}

fn random_examples() -> impl Iterator<Item = (Example, u64)> {
    seeds(700).map(|seed| (Example::random(seed), seed))
}

/// A cycle, and another marked edge that leads there: who looks behind that meets the cycle, but not its own path.
fn two_ways_to_a_cycle() -> impl Iterator<Item = (Example, u64)> {
    let edges = vec![vec![(1, false), (3, true)], vec![(2, true)], vec![(1, false)], vec![(2, false)]];
    std::iter::once((Example(edges), 0))
}

#[test]
fn cycles_are_found_and_states_counted_whatever_the_schedule() {
    let (n_cycles, n_missed) = schedules(random_examples(), 25);
    assert!(n_cycles > 1000 && n_missed == 0, "{n_missed} of {n_cycles} missed");
}

/// Where states are taken for others, cycles may be missed, but nobody waits for ever, and what is found is one.
#[test]
fn nobody_waits_for_ever_where_states_are_taken_for_others() {
    for seed in seeds(400) {
        let example = Arc::new(Example::random(seed));
        shuttle::check_random(move || _ = search::<true>(&example, 2 + seed as usize % 2), 15);
    }
}

#[test]
fn who_looks_behind_a_marked_edge_waits_for_others() {
    assert_eq!(schedules(two_ways_to_a_cycle(), 5000), (5000, 0));
    MUTANT.set(Some(Mutant::NoWaiting));
    let (_, n_missed) = schedules(two_ways_to_a_cycle(), 5000);
    MUTANT.set(None);
    assert!(n_missed > 0);
}
