//! Strong components by several workers, under random schedules: the sources are compiled once more here, over atomics that
//! let `shuttle` decide who goes on after each access.
//!
//! Small random graphs are compared with a search that looks at reachability alone. Known ways to get it wrong are tried, too, and
//! must be noticed.

#![allow(dead_code, unreachable_pub, missing_docs)]

#[path = "../src/paged.rs"]
mod paged;

#[path = "."]
mod search {
    #[path = "../src/search/varints.rs"]
    pub(crate) mod varints;
}

#[path = "."]
mod store {
    #[path = "."]
    pub(crate) mod shared {
        #[path = "../src/store/shared/arena.rs"]
        pub(crate) mod arena;
    }
}

#[path = "."]
mod parallel {
    #[path = "../src/parallel/decide.rs"]
    pub(crate) mod decide;
    #[path = "../src/parallel/members.rs"]
    pub(crate) mod members;
    #[path = "../src/parallel/rings.rs"]
    pub(crate) mod rings;
    #[path = "../src/parallel/ufscc.rs"]
    pub(crate) mod ufscc;
    #[path = "../src/parallel/union_find.rs"]
    pub(crate) mod union_find;
}

/// In place of `check::sync`.
mod sync {
    use std::cell::Cell;

    pub(crate) use shuttle::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
    pub(crate) use shuttle::sync::{Mutex, MutexGuard};

    pub(crate) const BLOCK_BITS: u32 = 6;
    pub(crate) const ROW_BITS: u32 = 13;
    pub(crate) const N_ROWS: usize = 1 << (32 - BLOCK_BITS - ROW_BITS);

    pub(crate) trait Zero: Sized {
        fn zero() -> Self;
    }

    impl Zero for AtomicU8 {
        fn zero() -> AtomicU8 {
            AtomicU8::new(0)
        }
    }

    impl Zero for AtomicU32 {
        fn zero() -> AtomicU32 {
            AtomicU32::new(0)
        }
    }

    impl Zero for AtomicU64 {
        fn zero() -> AtomicU64 {
            AtomicU64::new(0)
        }
    }

    pub(crate) fn zeros<A: Zero>(len: usize) -> Option<Box<[A]>> {
        Some((0..len).map(|_| A::zero()).collect())
    }

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect("nobody panics with the lock")
    }

    pub(crate) fn pause(_: &mut u32) {
        shuttle::thread::yield_now();
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Mutant {
        MarksOnRoots,
        ListsAfterSets,
        LookThenFlag,
        /// Who has stopped gives up what is on its path while others are at work: not in the search itself, but here.
        GiveUpAtOnce,
        /// The first worker leaves, too.
        AllLeave,
    }

    thread_local! {
        /// All workers of a schedule run on one thread.
        pub(crate) static MUTANT: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    pub(crate) fn is(mutant: Mutant) -> bool {
        MUTANT.get() == Some(mutant)
    }
}

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use base::Limit;
use parallel::decide::{Choice, decide};
use parallel::members::Flag;
use parallel::rings::Closed;
use parallel::ufscc::{Edge, Graph, NO_MARKS, Seen, Walk};
use parallel::union_find::UnionFind;
use shuttle::sync::Barrier;
use store::shared::arena::Cell;
use sync::{AtomicU32, AtomicU64, MUTANT, Mutant, Mutex};

/// A graph whose first state is the initial one. Edges have marks, as bits of a small number.
#[derive(Clone, Debug)]
struct Example {
    edges: Vec<Vec<(u32, u32)>>,
    /// Edges that are found only when the component of their source seems to be finished.
    late: Vec<Vec<(u32, u32)>>,
    /// Marks 0 and 1 are these.
    marks: [usize; 2],
    n_marks: usize,
}

impl Example {
    fn random(seed: u64) -> Example {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = random.u32(2..9);
        let mut graph = Example::new(n as usize);
        for index in 0..n + random.u32(0..2 * n) {
            let marks = if random.u8(0..4) == 0 { random.u32(1..3) } else { 0 };
            let (from, to) = (random.u32(0..n), random.u32(0..n));
            let is_late = seed.is_multiple_of(3) && index % 3 == 0;
            let list = if is_late { &mut graph.late } else { &mut graph.edges };
            list[from as usize].push((to, marks));
        }
        if random.u8(0..4) == 0 {
            graph.n_marks = random.usize(30..100);
            graph.marks = [random.usize(0..graph.n_marks), 0];
            while graph.marks[1] == graph.marks[0] {
                graph.marks[1] = random.usize(0..graph.n_marks);
            }
        }
        graph
    }

    fn new(n: usize) -> Example {
        Example { edges: vec![Vec::new(); n], late: vec![Vec::new(); n], marks: [0, 1], n_marks: 2 }
    }

    /// The number of states, of components, and whether one has both marks.
    fn truth(&self) -> Found {
        let n = self.edges.len();
        let edges = |from: usize| self.edges[from].iter().chain(&self.late[from]);
        let mut reaches = vec![vec![false; n]; n];
        for (from, row) in reaches.iter_mut().enumerate() {
            row[from] = true;
            edges(from).for_each(|&(to, _)| row[to as usize] = true);
        }
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        let same = |a: usize, b: usize| reaches[a][b] && reaches[b][a];
        let found: Vec<usize> = (0..n).filter(|&state| reaches[0][state]).collect();
        let is_first = |&&state: &&usize| !found.iter().any(|&other| other < state && same(state, other));
        let marks = |root: usize| {
            let inside = found.iter().filter(|&&state| same(root, state));
            let of = |&state: &usize| edges(state).filter(move |edge| same(root, edge.0 as usize));
            inside.flat_map(of).fold(0, |marks, edge| marks | edge.1)
        };
        Found {
            n_states: found.len(),
            n_edges: found.iter().map(|&state| edges(state).count()).sum(),
            n_components: found.iter().filter(is_first).count(),
            accepted: found.iter().any(|&state| marks(state) == 3),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    n_states: usize,
    n_edges: usize,
    n_components: usize,
    accepted: bool,
}

/// What the workers share besides the sets.
#[derive(Default)]
struct Common {
    /// The edges of states that were added to closed sets.
    added: Mutex<Vec<Vec<Edge>>>,
    found: Mutex<Found>,
    stop: Mutex<bool>,
}

struct Worker<'g> {
    example: &'g Example,
    common: &'g Common,
    first_new: u32,
    /// Marks by number: none, the first, the second, both.
    marks: [Vec<u32>; 4],
    /// After how many questions it leaves the search to the others, if it does.
    patience: Option<u32>,
}

struct Stopped;

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Stopped {
        panic!("{limit}")
    }
}

impl<A: Cell> Graph<A> for Worker<'_> {
    type End = Stopped;

    fn expand(&mut self, state: u32, out: &mut Vec<Edge>) -> Result<Seen, Stopped> {
        if state >= self.first_new {
            out.extend(&self.common.added.lock().unwrap()[(state - self.first_new) as usize]);
        } else {
            let edges = self.example.edges[state as usize].iter();
            out.extend(edges.map(|&(target, marks)| Edge { target, marks }));
        }
        Ok(Seen { marks: NO_MARKS, note: out.len() as u32 })
    }

    fn marks(&self, number: u32) -> &[u32] {
        &self.marks[number as usize]
    }

    fn accepts(&self, marks: &[u32]) -> bool {
        self.example.marks.iter().all(|mark| marks[mark / 32] >> (mark % 32) & 1 == 1)
    }

    fn accept(&mut self, _: u32) -> Stopped {
        self.common.found.lock().unwrap().accepted = true;
        *self.common.stop.lock().unwrap() = true;
        Stopped
    }

    fn left(&mut self, state: u32, note: u32) {
        let mut found = self.common.found.lock().unwrap();
        found.n_states += usize::from(state < self.first_new);
        found.n_edges += note as usize;
    }

    fn finish(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<Option<u32>, Stopped> {
        let root = closed.root();
        let (mut state, mut edges) = (root, Vec::new());
        loop {
            assert!(sets.root(state) == root && !sets.is_live(state), "a closed set is whole");
            if state < self.first_new && !sets.has(state, Flag::Second) {
                sets.flag(state, Flag::Second);
                let late = self.example.late[state as usize].iter();
                edges.extend(late.map(|&(target, marks)| Edge { target, marks }));
            }
            state = sets.next_member(state);
            if state == root {
                break;
            }
        }
        if edges.is_empty() {
            self.common.found.lock().unwrap().n_components += 1;
            return Ok(None);
        }
        let mut added = self.common.added.lock().unwrap();
        added.push(edges);
        Ok(Some(self.first_new + added.len() as u32 - 1))
    }

    fn finished(&mut self, sets: &UnionFind<A>, closed: Closed) -> Result<(), Stopped> {
        assert!(sets.is_dead(closed.root()));
        Ok(())
    }

    fn poll(&mut self, _: u64, _: u64) -> Result<(), Stopped> {
        let leaves = self.patience == Some(0);
        self.patience = self.patience.map(|patience| patience.saturating_sub(1));
        if leaves || *self.common.stop.lock().unwrap() { Err(Stopped) } else { Ok(()) }
    }
}

/// Searches a graph with some workers, in whatever order the schedule says.
/// All but the first may leave it to the others, each after so many questions.
fn search<A: Cell + Send + Sync + 'static>(
    example: &Arc<Example>,
    n_workers: usize,
    patience: Option<u32>,
) -> Found {
    let barrier = Arc::new(Barrier::new(n_workers));
    let sets = Arc::new(UnionFind::<A>::new(n_workers, example.n_marks, true));
    let common = Arc::new(Common::default());
    let bits = |numbers: &[usize]| {
        let mut words = vec![0; example.n_marks.div_ceil(32)];
        numbers.iter().for_each(|mark| words[mark / 32] |= 1 << (mark % 32));
        words
    };
    let [one, two] = example.marks;
    let marks = [bits(&[]), bits(&[one]), bits(&[two]), bits(&[one, two])];
    let work = |worker: usize| {
        let (sets, common, example, marks) = (sets.clone(), common.clone(), example.clone(), marks.clone());
        let barrier = barrier.clone();
        move || {
            let first_new = UnionFind::<A>::VIRTUAL;
            let patience = patience.filter(|_| worker > 0 || sync::is(Mutant::AllLeave));
            let mut graph = Worker { example: &example, common: &common, first_new, marks, patience };
            let mut walk = Walk::new(&sets, worker);
            let _ = walk.search_from(0, &mut graph);
            if !sync::is(Mutant::GiveUpAtOnce) {
                barrier.wait();
            }
            walk.give_up(&mut graph);
        }
    };
    let threads: Vec<_> = (0..n_workers).map(|worker| shuttle::thread::spawn(work(worker))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    *common.found.lock().unwrap()
}

/// Compares with the truth; returns whether something is accepted, and was missed.
fn check(example: &Arc<Example>, seed: u64) -> (bool, bool) {
    let n_workers = 2 + (seed >> 20) as usize % 2;
    let truth = example.truth();
    let patience = (seed >> 30 & 1 == 1).then_some((seed >> 32) as u32 % 8);
    let found = match seed >> 10 & 1 {
        0 => search::<AtomicU32>(example, n_workers, patience),
        _ => search::<AtomicU64>(example, n_workers, patience),
    };
    assert!(truth.accepted || !found.accepted, "{example:?} is accepted");
    // An end that comes early is no reason to tell a state twice.
    assert!(found.n_states <= truth.n_states && found.n_edges <= truth.n_edges, "{found:?} of {example:?}");
    if !found.accepted {
        assert_eq!(Found { accepted: truth.accepted, ..found }, truth, "{example:?}");
    }
    (truth.accepted, truth.accepted && !found.accepted)
}

/// So many schedules of each example: how many have an accepted run, and how many miss it.
fn schedules(examples: &[(Arc<Example>, u64)], n: usize) -> (usize, usize) {
    let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    for (example, seed) in examples {
        let (example, seed, counts) = (example.clone(), *seed, counts.clone());
        let once = move || {
            let (accepted, missed) = check(&example, seed);
            counts[0].fetch_add(usize::from(accepted), SeqCst);
            counts[1].fetch_add(usize::from(missed), SeqCst);
        };
        shuttle::check_random(once, n);
    }
    (counts[0].load(SeqCst), counts[1].load(SeqCst))
}

fn examples(n: u64) -> Vec<(Arc<Example>, u64)> {
    let scale = std::env::var("STUBBORN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1);
    let first = std::env::var("STUBBORN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let seed = |index: u64| (first * 1_000_003 + index).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
    (0..n * scale).map(|index| (Arc::new(Example::random(seed(index))), seed(index))).collect()
}

/// Two ways round, and two marks that a single cycle has: the smallest graph on which marks get lost that are on the stack of roots
/// alone.
fn two_ways_round() -> Example {
    let edges = vec![vec![(1, 0), (2, 1)], vec![(0, 0), (1, 0), (2, 2)], vec![(0, 0), (2, 0)]];
    Example { edges, ..Example::new(3) }
}

#[test]
fn components_marks_and_counts_are_right_whatever_the_schedule() {
    let (accepted, missed) = schedules(&examples(700), 25);
    assert!(accepted > 1000 && missed == 0, "{missed} of {accepted} missed");
}

#[test]
fn marks_are_not_lost_where_there_are_two_ways_round() {
    assert_eq!(schedules(&[(Arc::new(two_ways_round()), 0)], 3000), (3000, 0));
}

#[test]
fn marks_on_roots_alone_get_lost() {
    MUTANT.set(Some(Mutant::MarksOnRoots));
    let (_, missed) = schedules(&[(Arc::new(two_ways_round()), 0)], 3000);
    MUTANT.set(None);
    assert!(missed > 0);
}

#[test]
fn sets_that_become_one_before_their_rings_end_too_soon() {
    MUTANT.set(Some(Mutant::ListsAfterSets));
    let examples = examples(700);
    let caught = catch_unwind(AssertUnwindSafe(|| schedules(&examples, 25)));
    MUTANT.set(None);
    assert!(caught.is_err() || caught.is_ok_and(|(_, missed)| missed > 0));
}

#[test]
fn one_worker_must_stay() {
    MUTANT.set(Some(Mutant::AllLeave));
    let examples = examples(60);
    let caught = catch_unwind(AssertUnwindSafe(|| schedules(&examples, 25)));
    MUTANT.set(None);
    assert!(caught.is_err());
}

/// While others are at work, a state on the path of who has stopped is no tomb: they would close its set, or unite one that
/// seems to be finished.
#[test]
fn who_gives_up_before_others_have_stopped_is_noticed() {
    MUTANT.set(Some(Mutant::GiveUpAtOnce));
    let examples = examples(700);
    let caught = catch_unwind(AssertUnwindSafe(|| schedules(&examples, 25)));
    MUTANT.set(None);
    assert!(caught.is_err());
}

/// Workers decide the states of a random graph, all of which would like to take their small sets. Whether those that did have a
/// cycle.
fn leaves_a_cycle(seed: u64) -> bool {
    let mut random = fastrand::Rng::with_seed(seed);
    let n = random.usize(2..7);
    let small: Vec<Vec<u32>> =
        (0..n).map(|_| (0..random.usize(1..3)).map(|_| random.u32(0..n as u32)).collect()).collect();
    let small = Arc::new(small);
    let sets = Arc::new(UnionFind::<AtomicU32>::new(3, 1, true));
    sets.touch(0).unwrap();
    // Two workers come to each state.
    let todo: Vec<u32> = (0..n as u32).chain(0..n as u32).collect();
    let todo = Arc::new(Mutex::new(todo));
    let work = || {
        let (small, sets, todo) = (small.clone(), sets.clone(), todo.clone());
        move || {
            loop {
                let Some(state) = todo.lock().unwrap().pop() else { break };
                let look = || {
                    let is_free = |other: &u32| !sets.is_flagged(*other);
                    Ok::<_, Limit>((small[state as usize].iter().all(is_free), ()))
                };
                let (choice, _) = decide(&sets, state, look).unwrap();
                assert_eq!(sets.choice(state), Some(choice), "what is decided stays so");
            }
        }
    };
    let threads: Vec<_> = (0..3).map(|_| shuttle::thread::spawn(work())).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut reaches = vec![vec![false; n]; n];
    for state in (0..n).filter(|&state| sets.choice(state as u32) == Some(Choice::Small)) {
        small[state].iter().for_each(|&other| reaches[state][other as usize] = true);
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                reaches[from][to] |= reaches[from][via] && reaches[via][to];
            }
        }
    }
    (0..n).any(|state| reaches[state][state])
}

fn n_cycles_left(n: u64) -> usize {
    let n_left = Arc::new(AtomicUsize::new(0));
    for (_, seed) in examples(n) {
        let counts = n_left.clone();
        shuttle::check_random(move || _ = counts.fetch_add(usize::from(leaves_a_cycle(seed)), SeqCst), 25);
    }
    n_left.load(SeqCst)
}

#[test]
fn in_every_cycle_some_state_takes_its_large_set() {
    assert_eq!(n_cycles_left(200), 0);
}

#[test]
fn who_looks_before_it_sets_its_flag_may_leave_a_cycle() {
    MUTANT.set(Some(Mutant::LookThenFlag));
    let n_left = n_cycles_left(200);
    MUTANT.set(None);
    assert!(n_left > 0);
}
