//! Breadth-first search in rounds.
//!
//! # Idea
//! In a round, the states that were found in the one before are shared out and expanded; what is new is the next round. Workers
//! meet between rounds, and nowhere else. Rounds of few states are done by one worker while the others wait.
//!
//! A round is always finished, whatever is found in it, so what was found does not depend on who was fast: the same states, steps,
//! deadlocks, violations and faults for every number of workers.
//!
//! # Reduction
//! Stubborn sets are chosen by the state alone ([`Space::new_steady_choice`]). Where a set is valid only if a step
//! leads to a state that is expanded later, "later" is "in a later round": a state that was not known when the round
//! began. That is an order in which states are expanded, as `check::reduced` asks for, and it does not depend on who was fast.
//!
//! # References
//! Level-synchronous search with one lockless table is Laarman, van de Pol and Weber's (FMCAD 2010) best for plain reachability;
//! the proviso is that of Bošnački and Holzmann (2005), by levels.

use base::{Budget, Limit, Progress, Worker};
use model::{Steps, System as _};

use super::expand::{Expander, Keep, Report};
use super::levels::{Fresh, Levels, Pieces};
use super::meeting::{Alarm, Meeting};
use crate::search::{Goal, Space};
use crate::store::StateId;
use crate::store::shared::{Handle, Shared};
use crate::sync::{Arc, AtomicU64, Mutant, Mutex, OnceLock, Ordering, is, lock};

/// Where the states of rounds are kept.
pub(crate) trait Stock: Sync {
    /// The states of a round.
    type Round: Send + Sync;

    /// What one worker adds by.
    type Hand<'h>: Keep<Self::Round>
    where
        Self: 'h;

    fn hand(&self) -> Self::Hand<'_>;

    /// Takes over what a worker has found in a round.
    fn hand_in(&self, hand: &mut Self::Hand<'_>);

    /// The states that were found, when all have handed in; nothing if there are none.
    fn next_round(&self, n_workers: usize) -> Option<Self::Round>;

    fn pieces(round: &Self::Round) -> &Pieces;

    /// Copies the state at a place of a round; returns its number.
    fn get(&self, round: &Self::Round, place: u32, out: &mut [u32]) -> u32;

    /// Number of states; exact between rounds.
    fn n_states(&self) -> u64;

    fn bytes(&self) -> u64;
}

/// What several rounds came to.
pub(crate) struct Outcome<R> {
    /// The states that were found and not expanded, if the search can go on.
    pub(crate) next: Option<R>,
    /// What was found in the last one.
    pub(crate) report: Report,
    /// The budget was spent before the end of the last one.
    pub(crate) limit: Option<Limit>,
    /// Per action, whether it happened.
    pub(crate) taken: Vec<bool>,
    /// Bytes held at most.
    pub(crate) peak_bytes: u64,
    /// How many rounds there were.
    pub(crate) n_rounds: u64,
}

/// A search in rounds.
pub(crate) struct Rounds<'a, S, K> {
    pub(crate) space: &'a S,
    pub(crate) stock: &'a K,
    pub(crate) goals: &'a [Goal],
    /// Goals that are looked at no more.
    pub(crate) closed: &'a [bool],
    /// Depth of the first round.
    pub(crate) depth: u64,
    /// Rounds of fewer states are done by one worker.
    pub(crate) n_few: usize,
}

/// What the workers share.
struct Common<'c, S: Space, K: Stock> {
    rounds: &'c Rounds<'c, S, K>,
    now: Mutex<Now<K::Round>>,
    alarm: Alarm<Limit>,
    meeting: OnceLock<Meeting>,
    /// States expanded, steps taken: what is shown.
    n_expanded: AtomicU64,
    n_transitions: AtomicU64,
    max_states: u64,
}

/// What changes between rounds.
struct Now<R> {
    /// None when it is time to stop.
    round: Option<Arc<R>>,
    /// What comes next then.
    next: Option<R>,
    n_rounds: u64,
    /// What was found in this round, by those who are done with it.
    report: Report,
    taken: Vec<bool>,
    peak_bytes: u64,
}

impl<S: Space + Sync, K: Stock> Rounds<'_, S, K> {
    /// Goes through a round, and those that follow, until one brings news, or nothing new.
    pub(crate) fn run(&self, first: K::Round, budget: &Budget<'_>) -> Outcome<K::Round> {
        let now = Now {
            round: Some(Arc::new(first)),
            next: None,
            n_rounds: 1,
            report: Report::default(),
            taken: Vec::new(),
            peak_bytes: 0,
        };
        let common = Common {
            rounds: self,
            now: Mutex::new(now),
            alarm: Alarm::new(),
            meeting: OnceLock::new(),
            n_expanded: AtomicU64::new(0),
            n_transitions: AtomicU64::new(0),
            max_states: budget.max_states,
        };
        budget.team().run(&|worker| common.work(worker, budget.for_worker()));
        let limit = common.alarm.take();
        let mut now = lock(&common.now);
        let (report, taken) = (std::mem::take(&mut now.report), std::mem::take(&mut now.taken));
        let next = now.next.take();
        Outcome { next, report, limit, taken, peak_bytes: now.peak_bytes, n_rounds: now.n_rounds }
    }
}

/// What one worker has.
struct Own<'a, 'w, S: Space, K: Stock + 'a> {
    expander: Expander<'a, S>,
    hand: K::Hand<'a>,
    budget: Budget<'w>,
    state: Vec<u32>,
    progress: Progress,
}

impl<'c, S: Space + Sync, K: Stock> Common<'c, S, K> {
    fn work(&self, worker: Worker, budget: Budget<'_>) {
        let Rounds { space, stock, goals, closed, .. } = *self.rounds;
        let mut own = Own {
            expander: Expander::new(space, goals, closed),
            hand: stock.hand(),
            budget,
            state: vec![0; space.whole().width()],
            progress: Progress { workers: worker.of as u32, ..Progress::default() },
        };
        let _at_work = self.alarm.at_work();
        let member = self.meeting.get_or_init(|| Meeting::new(worker.of)).join();
        loop {
            let (round, n_rounds) = {
                let now = lock(&self.now);
                (now.round.clone(), now.n_rounds)
            };
            let Some(round) = round else { break };
            self.expand(&round, n_rounds, &mut own);
            if !is(Mutant::HandInLate) {
                self.hand_in(&mut own, &mut lock(&self.now));
            }
            if is(Mutant::LeadAlone) {
                self.lead(&mut own);
            } else {
                member.meet(|| self.lead(&mut own));
            }
            if is(Mutant::HandInLate) {
                self.hand_in(&mut own, &mut lock(&self.now));
            }
        }
        let mut now = lock(&self.now);
        let taken = own.expander.taken();
        now.taken.resize(taken.len(), false);
        now.taken.iter_mut().zip(taken).for_each(|(all, one)| *all |= one);
    }

    /// Expands states of a round as long as there are some.
    fn expand(&self, round: &K::Round, n_rounds: u64, own: &mut Own<'c, '_, S, K>) {
        own.progress.depth = self.rounds.depth + n_rounds - 1;
        while let Some(piece) = K::pieces(round).take() {
            let n_transitions = own.expander.report.transitions;
            let n_states = piece.len() as u64;
            for place in piece {
                if self.alarm.is_rung() {
                    return;
                }
                if let Err(limit) = self.expand_one(round, place, own) {
                    self.alarm.ring(limit);
                }
            }
            let made = own.expander.report.transitions - n_transitions;
            own.progress.transitions = self.n_transitions.fetch_add(made, Ordering::Relaxed) + made;
            let n_expanded = self.n_expanded.fetch_add(n_states, Ordering::Relaxed) + n_states;
            own.progress.pending = own.progress.states.saturating_sub(n_expanded);
        }
    }

    #[inline]
    fn expand_one(&self, round: &K::Round, place: u32, own: &mut Own<'c, '_, S, K>) -> Result<(), Limit> {
        let stock = self.rounds.stock;
        let Own { expander, hand, budget, state, progress } = own;
        let number = stock.get(round, place, state);
        expander.expand(number, state, hand, round)?;
        (progress.states, progress.bytes) = (stock.n_states(), stock.bytes());
        budget.poll(progress)
    }

    /// Tells what was found.
    fn hand_in(&self, own: &mut Own<'c, '_, S, K>, now: &mut Now<K::Round>) {
        self.rounds.stock.hand_in(&mut own.hand);
        now.report.append(&mut own.expander.report);
    }

    /// Everybody is done with a round: begins the next one. Those of few states are done at once.
    fn lead(&self, own: &mut Own<'c, '_, S, K>) {
        let Rounds { stock, n_few, .. } = *self.rounds;
        let mut now = lock(&self.now);
        loop {
            let next = stock.next_round(own.progress.workers as usize);
            now.peak_bytes = now.peak_bytes.max(stock.bytes());
            if stock.n_states() > self.max_states {
                self.alarm.ring(Limit::States(self.max_states));
            }
            if self.alarm.is_rung() || now.report.has_news() {
                (now.round, now.next) = (None, next);
                return;
            }
            now.round = next.map(Arc::new);
            let Some(round) = now.round.clone() else { return };
            now.n_rounds += 1;
            if K::pieces(&round).n_states() >= n_few {
                return;
            }
            self.expand(&round, now.n_rounds, own);
            self.hand_in(own, &mut now);
        }
    }
}

/// States with numbers, in a shared store, and the levels that they were found in.
pub(crate) struct Stored<'a> {
    store: &'a Shared,
    levels: Mutex<&'a mut Levels>,
    found: Mutex<Vec<(u32, u32)>>,
    /// Bytes that are held beside it.
    n_beside: u64,
}

impl<'a> Stored<'a> {
    pub(crate) fn new(store: &'a Shared, levels: &'a mut Levels, n_beside: u64) -> Stored<'a> {
        Stored { store, levels: Mutex::new(levels), found: Mutex::default(), n_beside }
    }

    /// The states of the last level, to be expanded.
    pub(crate) fn last_round(&self, n_workers: usize) -> LevelRound {
        let levels = lock(&self.levels);
        let pieces = Pieces::of(levels.level(levels.len() - 1), n_workers);
        LevelRound { pieces, fresh: Fresh::from_now_on(self.store) }
    }
}

/// The states of a level, and what was known before it was expanded.
pub(crate) struct LevelRound {
    pieces: Pieces,
    fresh: Fresh,
}

impl Stock for Stored<'_> {
    type Round = LevelRound;
    type Hand<'h>
        = Handle<'h>
    where
        Self: 'h;

    fn hand(&self) -> Handle<'_> {
        self.store.handle()
    }

    fn hand_in(&self, hand: &mut Handle<'_>) {
        lock(&self.found).append(&mut hand.take_segments());
    }

    fn next_round(&self, n_workers: usize) -> Option<LevelRound> {
        let found = std::mem::take(&mut *lock(&self.found));
        let is_empty = found.is_empty();
        lock(&self.levels).push(found);
        (!is_empty).then(|| self.last_round(n_workers))
    }

    fn pieces(round: &LevelRound) -> &Pieces {
        &round.pieces
    }

    #[inline]
    fn get(&self, _: &LevelRound, place: u32, out: &mut [u32]) -> u32 {
        self.store.get(StateId::new(place as usize), out);
        place
    }

    #[inline]
    fn n_states(&self) -> u64 {
        self.store.n_states()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.store.bytes() + self.n_beside
    }
}

impl Keep<LevelRound> for Handle<'_> {
    #[inline]
    fn add(
        &mut self,
        round: &LevelRound,
        _: u32,
        steps: &Steps,
        from: usize,
        mut each: impl FnMut(usize, u32, bool, bool),
    ) -> Result<(), Limit> {
        let width = self.store().width();
        self.insert_each(&steps.targets()[from * width..], width, |index, id, is_new| {
            let number = id.index() as u32;
            let is_ahead = is_new || !is(Mutant::AheadIfNew) && round.fresh.contains(number);
            each(from + index, number, is_new, is_ahead);
        })
    }
}
