//! All states of a space, kept to be looked at when the search is over, by all workers.

use base::{Budget, Limit, Progress, Worker};

use super::Alarm;
use super::levels::Pieces;
use crate::store::owned::Owned;
use crate::store::{Exact, Sequence as _, StateId, Visited as _};
use crate::sync::{Mutex, lock};

/// States that were found by one worker, or by several.
pub struct Kept(Stock);

enum Stock {
    Alone(Exact),
    Together(Owned),
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

impl From<Owned> for Kept {
    fn from(states: Owned) -> Kept {
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
        let segments = match &self.0 {
            Stock::Alone(states) => vec![(0, states.n_states() as u32)],
            Stock::Together(states) => states.segments(),
            // More have no numbers.
            Stock::Apart(_) => vec![(0, u32::try_from(self.n_states()).map_err(|_| Limit::OutOfMemory)?)],
        };
        let pieces = Pieces::of(&segments, budget.team().n_workers());
        let (alarm, all) = (Alarm::new(), Mutex::new(Vec::new()));
        let progress = Progress { states: self.n_states(), bytes: self.bytes(), ..Progress::default() };
        let work = |worker: Worker| {
            let mut budget = budget.for_worker();
            let progress = Progress { workers: worker.of as u32, ..progress };
            let (mut own, mut state) = (new(), vec![0; width]);
            let view = match &self.0 {
                Stock::Together(states) => Some(states.view()),
                Stock::Alone(_) | Stock::Apart(_) => None,
            };
            let mut look_at = |number: u32| {
                match (&self.0, &view) {
                    (Stock::Alone(states), _) => states.nth(StateId::new(number as usize), &mut state),
                    (Stock::Together(_), Some(view)) => view.get(number, &mut state),
                    (Stock::Together(_), None) => {}
                    (Stock::Apart(stores), _) => {
                        let mut number = number as usize;
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
            while let Some(mut piece) = pieces.take().filter(|_| !alarm.is_rung()) {
                if let Err(error) = piece.try_for_each(&mut look_at) {
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
