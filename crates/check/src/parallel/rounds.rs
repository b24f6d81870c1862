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

use std::ops::Range;

use base::{Budget, Limit, Progress, Worker};
use model::System as _;

use super::expand::{Expander, Keep, Report};
use super::levels::Pieces;
use super::meeting::{Alarm, Meeting};
use crate::search::{Goal, Space};
use crate::sync::{Arc, AtomicU64, Mutant, Mutex, OnceLock, Ordering, is, lock};

/// Where the states of rounds are kept.
pub(crate) trait Stock: Sync {
    /// The states of a round.
    type Round: Send + Sync;

    /// What one worker adds by.
    type Hand<'h>: Keep<Self::Round>
    where
        Self: 'h;

    /// Whether states are added by others than those who find them. Then a round is gone through in turns: everybody expands
    /// states, posts what was found, and takes in what belongs to it.
    const TAKES_TURNS: bool;

    fn hand(&self, worker: Worker) -> Self::Hand<'_>;

    /// A turn begins for a worker.
    fn begin_turn<'h>(&'h self, _: &mut Self::Hand<'h>) {}

    /// Whether a worker has found as much as it should in one turn.
    fn is_full(_: &Self::Hand<'_>) -> bool {
        false
    }

    /// Everybody has posted what was found, and nobody takes anything in yet.
    fn foresee(&self) {}

    /// Makes what a worker has found in this turn known to others.
    fn post(&self, _: &mut Self::Hand<'_>) {}

    /// Adds what was posted and belongs to a worker, or to anybody if it is alone. Calls `look_at` with the number and the words of each new
    /// state.
    fn take_in(
        &self,
        _: &Self::Hand<'_>,
        _is_alone: bool,
        _look_at: impl FnMut(u32, &[u32]),
    ) -> Result<(), Limit> {
        Ok(())
    }

    /// Takes over what a worker has found in a round.
    fn hand_in(&self, hand: &mut Self::Hand<'_>);

    /// The states that were found, when all have handed in; nothing if there are none.
    fn next_round(&self, n_workers: usize) -> Option<Self::Round>;

    fn pieces(round: &Self::Round) -> &Pieces;

    /// Copies the state at a place of a round; returns its number.
    fn get(&self, hand: &Self::Hand<'_>, round: &Self::Round, place: u32, out: &mut [u32]) -> u32;

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
    shown: Shown,
    max_states: u64,
}

/// States expanded, steps taken: what is shown. Alone in its lines of the cache, since others look at what is beside it in every state.
#[derive(Default)]
#[repr(align(128))]
struct Shown {
    n_expanded: AtomicU64,
    n_transitions: AtomicU64,
}

/// What changes between rounds.
struct Now<R> {
    /// None when it is time to stop.
    round: Option<Arc<R>>,
    /// What comes next then.
    next: Option<R>,
    n_rounds: u64,
    /// Whether somebody has not expanded all states that it took.
    is_left: bool,
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
            is_left: false,
            report: Report::default(),
            taken: Vec::new(),
            peak_bytes: 0,
        };
        let common = Common {
            rounds: self,
            now: Mutex::new(now),
            alarm: Alarm::new(),
            meeting: OnceLock::new(),
            shown: Shown::default(),
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
    /// States that were taken and not expanded yet.
    rest: Range<u32>,
    progress: Progress,
}

impl<'c, S: Space + Sync, K: Stock> Common<'c, S, K> {
    fn work(&self, worker: Worker, budget: Budget<'_>) {
        let Rounds { space, stock, goals, closed, .. } = *self.rounds;
        let mut own = Own {
            expander: Expander::new(space, goals, closed),
            hand: stock.hand(worker),
            budget,
            state: vec![0; space.whole().width()],
            rest: 0..0,
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
            if K::TAKES_TURNS {
                stock.post(&mut own.hand);
                if !is(Mutant::TakeInAtOnce) {
                    member.meet(|| stock.foresee());
                }
                self.take_in(false, &mut own);
            }
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

    /// Expands states of a round as long as there are some, and there is room in this turn.
    fn expand(&self, round: &K::Round, n_rounds: u64, own: &mut Own<'c, '_, S, K>) {
        own.progress.depth = self.rounds.depth + n_rounds - 1;
        self.rounds.stock.begin_turn(&mut own.hand);
        while !K::is_full(&own.hand) {
            if own.rest.is_empty() {
                let Some(piece) = K::pieces(round).take() else { return };
                own.rest = piece;
            }
            let (n_transitions, n_before) = (own.expander.report.transitions, own.rest.len());
            while !K::is_full(&own.hand) && !self.alarm.is_rung() {
                let Some(place) = own.rest.next() else { break };
                if let Err(limit) = self.expand_one(round, place, own) {
                    self.alarm.ring(limit);
                }
            }
            let made = own.expander.report.transitions - n_transitions;
            own.progress.transitions = self.shown.n_transitions.fetch_add(made, Ordering::Relaxed) + made;
            let n_states = (n_before - own.rest.len()) as u64;
            let n_expanded = self.shown.n_expanded.fetch_add(n_states, Ordering::Relaxed) + n_states;
            own.progress.pending = own.progress.states.saturating_sub(n_expanded);
            if self.alarm.is_rung() {
                return;
            }
        }
    }

    /// Adds what was found in this turn and belongs to this worker, or to anybody.
    fn take_in(&self, is_alone: bool, own: &mut Own<'c, '_, S, K>) {
        let Own { expander, hand, .. } = own;
        let taken =
            self.rounds.stock.take_in(hand, is_alone, |number, state| expander.look_at(number, state));
        if let Err(limit) = taken {
            self.alarm.ring(limit);
        }
    }

    #[inline]
    fn expand_one(&self, round: &K::Round, place: u32, own: &mut Own<'c, '_, S, K>) -> Result<(), Limit> {
        let stock = self.rounds.stock;
        let Own { expander, hand, budget, state, progress, .. } = own;
        let number = stock.get(hand, round, place, state);
        expander.expand(number, state, hand, round)?;
        (progress.states, progress.bytes) = (stock.n_states(), stock.bytes());
        budget.poll(progress)
    }

    /// Tells what was found.
    fn hand_in(&self, own: &mut Own<'c, '_, S, K>, now: &mut Now<K::Round>) {
        self.rounds.stock.hand_in(&mut own.hand);
        now.is_left |= !own.rest.is_empty() && !is(Mutant::ForgetRest);
        now.report.append(&mut own.expander.report);
    }

    /// Everybody is done with a turn: begins the next one, or the next round. Those of few states are done at once.
    fn lead(&self, own: &mut Own<'c, '_, S, K>) {
        let Rounds { stock, n_few, .. } = *self.rounds;
        let mut now = lock(&self.now);
        loop {
            let is_left = std::mem::take(&mut now.is_left);
            let is_over = |round: &Arc<K::Round>| !is_left && K::pieces(round).is_empty();
            if !self.alarm.is_rung() && now.round.as_ref().is_some_and(|round| !is_over(round)) {
                return;
            }
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
            let is_left = |rest: &Range<u32>| !rest.is_empty() || !K::pieces(&round).is_empty();
            while is_left(&own.rest) && !self.alarm.is_rung() {
                self.expand(&round, now.n_rounds, own);
                stock.post(&mut own.hand);
                self.take_in(true, own);
            }
            self.hand_in(own, &mut now);
        }
    }
}
