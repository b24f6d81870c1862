//! All states of a space, kept to be looked at when the search is over, by all workers.

use base::{Budget, Limit, Progress, Worker};

use super::Alarm;
use crate::store::shared::Shared;
use crate::store::{Exact, Sequence as _, StateId, Visited as _};
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// So many numbers of states are looked at together.
const PIECE: usize = 1024;

/// States that were found by one worker, or by several.
pub struct Kept(Stock);

enum Stock {
    Alone(Exact),
    Together(Shared),
    /// Each seat of a search that goes by rounds has some.
    Apart(Vec<Exact>),
}

impl From<Vec<Exact>> for Kept {
    fn from(states: Vec<Exact>) -> Kept {
        Kept(Stock::Apart(states))
    }
}

impl From<Exact> for Kept {
    fn from(states: Exact) -> Kept {
        Kept(Stock::Alone(states))
    }
}

impl From<Shared> for Kept {
    fn from(states: Shared) -> Kept {
        Kept(Stock::Together(states))
    }
}

impl Kept {
    /// Number of states that this process has.
    pub fn n_states(&self) -> u64 {
        match &self.0 {
            Stock::Alone(states) => states.n_states(),
            Stock::Together(states) => states.n_states(),
            Stock::Apart(stores) => stores.iter().map(Exact::n_states).sum(),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Stock::Alone(states) => states.bytes(),
            Stock::Together(states) => states.bytes(),
            Stock::Apart(stores) => stores.iter().map(Exact::bytes).sum(),
        }
    }

    /// Looks at every state that this process has once, with all workers of the budget. Each of them collects something of its own.
    ///
    /// # Errors
    /// Of those that `look` returned, the one of the worker who was first; or the budget is spent.
    pub fn collect<T: Send, E: From<Limit> + Send>(
        &self,
        width: usize,
        budget: &Budget<'_>,
        new: impl Fn() -> T + Sync,
        look: impl Fn(&mut T, &[u32]) -> Result<(), E> + Sync,
    ) -> Result<Vec<T>, E> {
        let (n_ids, unused) = match &self.0 {
            Stock::Alone(states) => (states.n_states() as usize, Vec::new()),
            Stock::Together(states) => (states.n_ids(), states.unused()),
            Stock::Apart(_) => (self.n_states() as usize, Vec::new()),
        };
        let is_unused = |number: usize| {
            let before = unused.partition_point(|range| range.0 as usize <= number);
            before > 0 && number < unused[before - 1].1 as usize
        };
        let (next, alarm, all) = (AtomicU64::new(0), Alarm::new(), Mutex::new(Vec::new()));
        let progress = Progress { states: self.n_states(), bytes: self.bytes(), ..Progress::default() };
        let work = |worker: Worker| {
            let mut budget = budget.for_worker();
            let progress = Progress { workers: worker.of as u32, ..progress };
            let (mut own, mut state) = (new(), vec![0; width]);
            let mut look_at = |number: usize| {
                match &self.0 {
                    Stock::Alone(states) => states.nth(StateId::new(number), &mut state),
                    Stock::Together(states) => states.get(StateId::new(number), &mut state),
                    Stock::Apart(stores) => {
                        let mut number = number;
                        for store in stores {
                            match number.checked_sub(store.n_states() as usize) {
                                Some(rest) => number = rest,
                                None => {
                                    store.nth(StateId::new(number), &mut state);
                                    break;
                                }
                            }
                        }
                    }
                }
                look(&mut own, &state)?;
                Ok(budget.poll(&progress)?)
            };
            loop {
                let first = PIECE * next.fetch_add(1, Ordering::Relaxed) as usize;
                let piece = first..n_ids.min(first + PIECE);
                if piece.is_empty() || alarm.is_rung() {
                    break;
                }
                if let Err(error) = piece.filter(|number| !is_unused(*number)).try_for_each(&mut look_at) {
                    alarm.ring(error);
                }
            }
            lock(&all).push(own);
        };
        budget.team().run(&|worker| {
            let _at_work = alarm.at_work();
            work(worker);
        });
        match alarm.take() {
            Some(error) => Err(error),
            None => Ok(all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)),
        }
    }
}
