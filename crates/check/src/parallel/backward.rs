//! Runs, found by going backward through the rounds.
//!
//! # Idea
//! Nothing is kept about how a state was found. To find a run to one of some states, all of one round, the rounds before
//! are gone through once more, from the last to the first, by all workers: a state is *marked* if a step leads from it to a
//! marked one. That takes a bit per state, and at most as long as the search. Then the run is read off forward: from the first
//! state that is marked, always by the first step that leads to a marked one.
//!
//! So the run is a shortest, and of all shortest runs to these states the first in the order of steps. That is the one that a
//! sequential breadth-first search finds, whatever the number of workers: there, too, the states of a level stand in the order of
//! their first runs.
//!
//! # Reduction
//! All steps of the system are looked at, also those that were left out; they may lead several rounds ahead, which makes a run
//! shorter. Steps that go wrong are no steps.

use base::{Budget, Limit, Progress, Worker};
use model::{ActionId, Steps, System};

use super::levels::{Levels, Pieces};
use super::meeting::{Alarm, Meeting};
use crate::store::owned::{Numbering, Owned, View};
use crate::sync::{Arc, AtomicU32, Mutex, OnceLock, Ordering, lock, zeros};

/// States of more words than this have their steps taken one by one.
const WIDE: usize = 128;

/// A run through the rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Which of the states of the first round it begins with, and the number of the one that it ends with.
    pub(super) first: usize,
    pub(super) last: u32,
    pub(super) actions: Vec<ActionId>,
    /// Which step of its state each action is: of two runs of one length, the smaller one is found first.
    pub(super) places: Vec<usize>,
}

/// The first run to one of some states of this level. Those of the first level are among `first`, in their order.
pub(super) fn find<S: System>(
    system: &S,
    store: &Owned,
    (first, levels): (&[u32], &Levels),
    level: usize,
    targets: impl Iterator<Item = u32>,
    n_few: usize,
    budget: &Budget<'_>,
) -> Result<Option<Way>, Limit> {
    let marks = Marks::new(store)?;
    targets.for_each(|number| marks.set(number));
    let common = Common {
        system,
        store,
        levels,
        n_few,
        marks,
        now: Mutex::new(Now {
            n_left: level,
            pieces: Arc::new(Pieces::of(&[], 1)),
            is_over: false,
            found: Vec::new(),
        }),
        alarm: Alarm::new(),
        meeting: OnceLock::new(),
    };
    budget.team().run(&|worker| common.work(worker, budget.for_worker()));
    match common.alarm.take() {
        Some(limit) => Err(limit),
        None => Ok(common.first_way(first, level)),
    }
}

/// A bit per state.
struct Marks {
    numbering: Numbering,
    parts: Vec<Box<[AtomicU32]>>,
}

impl Marks {
    fn new(store: &Owned) -> Result<Marks, Limit> {
        let bits = |n_states: u32| zeros(n_states as usize / 32 + 1).ok_or(Limit::OutOfMemory);
        let parts = store.view().ends().into_iter().map(bits).collect::<Result<_, _>>()?;
        Ok(Marks { numbering: store.numbering(), parts })
    }

    #[inline]
    fn word(&self, number: u32) -> &AtomicU32 {
        &self.parts[self.numbering.part(number)][self.numbering.index(number) as usize / 32]
    }

    fn set(&self, number: u32) {
        self.word(number).fetch_or(1 << (number % 32), Ordering::Relaxed);
    }

    #[inline]
    fn has(&self, number: u32) -> bool {
        self.word(number).load(Ordering::Relaxed) >> (number % 32) & 1 == 1
    }

    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| 4 * part.len() as u64).sum()
    }
}

struct Common<'c, S: System> {
    system: &'c S,
    store: &'c Owned,
    levels: &'c Levels,
    /// Rounds of fewer states are done by one worker.
    n_few: usize,
    marks: Marks,
    now: Mutex<Now>,
    alarm: Alarm<Limit>,
    meeting: OnceLock<Meeting>,
}

/// The round that is gone through.
struct Now {
    pieces: Arc<Pieces>,
    /// So many rounds were not gone through yet.
    n_left: usize,
    is_over: bool,
    /// States of this round that will be marked when everybody is done with it: a step within a round does not count.
    found: Vec<u32>,
}

/// What one worker has.
struct Own<'a, 'w, S: System> {
    stepper: Stepper<'a, S>,
    view: View<'a>,
    budget: Budget<'w>,
    state: Vec<u32>,
    progress: Progress,
    found: Vec<u32>,
}

impl<S: System> Common<'_, S> {
    fn work(&self, worker: Worker, mut budget: Budget<'_>) {
        // What was stored is stored; nothing is added.
        (budget.max_states, budget.max_bytes) = (u64::MAX, u64::MAX);
        let bytes = self.store.bytes() + self.marks.bytes();
        let mut own = Own {
            stepper: Stepper::new(self.system),
            view: self.store.view(),
            budget,
            state: vec![0; self.system.width()],
            progress: Progress {
                states: self.store.n_states(),
                bytes,
                workers: worker.of as u32,
                ..Progress::default()
            },
            found: Vec::new(),
        };
        let _at_work = self.alarm.at_work();
        let member = self.meeting.get_or_init(|| Meeting::new(worker.of)).join();
        loop {
            member.meet(|| self.lead(&mut own));
            let (pieces, is_over) = {
                let now = lock(&self.now);
                (Arc::clone(&now.pieces), now.is_over)
            };
            if is_over {
                return;
            }
            self.mark(&pieces, &mut own);
            lock(&self.now).found.append(&mut own.found);
        }
    }

    /// Looks which states lead to a marked one.
    fn mark(&self, pieces: &Pieces, own: &mut Own<'_, '_, S>) {
        let Own { stepper, view, budget, state, progress, found } = own;
        while let Some(piece) = pieces.take() {
            for number in piece {
                if self.alarm.is_rung() {
                    return;
                }
                view.get(number, state);
                let leads_on = |_, _, target: &[u32]| {
                    self.find(view, target).is_some_and(|number| self.marks.has(number))
                };
                if stepper.find(state, leads_on) {
                    found.push(number);
                }
                if let Err(limit) = budget.poll(progress) {
                    self.alarm.ring(limit);
                }
            }
        }
    }

    /// Everybody is done with a round: goes on to the one before. Those of few states are done at once.
    fn lead(&self, own: &mut Own<'_, '_, S>) {
        let mut now = lock(&self.now);
        loop {
            now.found.drain(..).for_each(|number| self.marks.set(number));
            if now.n_left == 0 || self.alarm.is_rung() {
                now.is_over = true;
                return;
            }
            now.n_left -= 1;
            let pieces = Pieces::of(&self.levels.level(now.n_left), own.progress.workers as usize);
            if pieces.n_states() >= self.n_few {
                now.pieces = Arc::new(pieces);
                return;
            }
            self.mark(&pieces, own);
            now.found.append(&mut own.found);
        }
    }

    /// The number of a state.
    #[inline]
    fn find(&self, view: &View<'_>, state: &[u32]) -> Option<u32> {
        let part = self.store.part_of(state);
        view.find_in(part, state).map(|index| self.store.numbering().number(part, index))
    }

    /// Goes from the first marked state always by the first step to a marked one, up to a level.
    fn first_way(&self, first: &[u32], level: usize) -> Option<Way> {
        let place = first.iter().position(|&number| self.marks.has(number))?;
        let (mut stepper, view) = (Stepper::new(self.system), self.store.view());
        let mut way = Way { first: place, last: first[place], actions: Vec::new(), places: Vec::new() };
        let (mut at, mut state) = (0, vec![0; self.system.width()]);
        while at < level {
            view.get(way.last, &mut state);
            let leads_on = |place, action, target: &[u32]| {
                let Some(number) = self.find(&view, target) else { return false };
                let next = if self.marks.has(number) { self.levels.level_of(number, at + 1) } else { None };
                if let Some(next) = next {
                    (at, way.last) = (next, number);
                    way.actions.push(action);
                    way.places.push(place);
                }
                next.is_some()
            };
            if !stepper.find(&state, leads_on) {
                return None;
            }
        }
        Some(way)
    }
}

/// Takes the steps out of a state, in their order.
pub(crate) struct Stepper<'a, S: System> {
    system: &'a S,
    scratch: S::Scratch,
    steps: Steps,
    enabled: Vec<ActionId>,
    target: Vec<u32>,
}

impl<'a, S: System> Stepper<'a, S> {
    pub(crate) fn new(system: &'a S) -> Stepper<'a, S> {
        let steps = Steps::new(system.width());
        Stepper { system, scratch: system.new_scratch(), steps, enabled: Vec::new(), target: Vec::new() }
    }

    /// Whether there is a step that is wanted: which one of the state's, its action, and where it leads. The first that is
    /// wanted is the last that is asked about.
    pub(crate) fn find(
        &mut self,
        state: &[u32],
        mut is_wanted: impl FnMut(usize, ActionId, &[u32]) -> bool,
    ) -> bool {
        let Stepper { system, scratch, steps, enabled, target } = self;
        steps.clear();
        if state.len() <= WIDE && system.successors(state, scratch, steps).is_ok() {
            return steps
                .iter()
                .enumerate()
                .any(|(place, (action, target))| is_wanted(place, action, target));
        }
        enabled.clear();
        // What is enabled before something goes wrong was enabled in the search, too.
        _ = system.enabled(state, scratch, enabled);
        enabled.iter().enumerate().any(|(place, &action)| {
            target.clear();
            target.extend(state);
            system.fire(target, action, scratch).is_ok() && is_wanted(place, action, target)
        })
    }
}
