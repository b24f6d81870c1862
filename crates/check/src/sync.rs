//! What workers share memory by. Everything that several workers touch at once takes its locks and atomics from here, so that
//! tests can put in others, which try out schedules (`tests/schedules.rs`).

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};

/// A block of numbers for one worker has so many, as a power of two; so has a chunk of memory.
pub(crate) const BLOCK_BITS: u32 = 10;

/// Chunks are kept in rows of so many, as a power of two, and there are so many rows: enough for all numbers. (Few rows, since they are there
/// whether anything is kept or not.)
pub(crate) const ROW_BITS: u32 = 12;
pub(crate) const N_ROWS: usize = 1 << (32 - BLOCK_BITS - ROW_BITS);

/// The smallest table has so many slots.
pub(crate) const MIN_SLOTS: usize = 1 << 13;

/// A worker posts what it has found when it has so many words.
pub(crate) const LETTERS: usize = 1 << 16;

/// Who waits for others looks so often whether they are there, before it goes to sleep: some microseconds.
pub(crate) const N_SPINS: u32 = 2000;

/// What zeros are a value of.
pub(crate) use bytemuck::Zeroable as Zero;

/// So many zeros; none if the memory is not to be had. The system gives zeros for nothing.
pub(crate) fn zeros<A: Zero>(len: usize) -> Option<Box<[A]>> {
    bytemuck::allocation::try_zeroed_slice_box(len).ok()
}

/// Locks, whatever happened to others who had the lock: what they leave behind is always whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks for looking at what is there.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks for changing it.
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits until somebody calls.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits a little for another worker, and longer if it was called often.
#[inline]
pub(crate) fn pause(n_spins: &mut u32) {
    *n_spins += 1;
    if *n_spins < 100 { std::hint::spin_loop() } else { std::thread::yield_now() }
}

/// Known ways to get it wrong. Tests try each, and must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // Only the copies that tests make can be wrong.
pub(crate) enum Mutant {
    /// A state is written after its number was published.
    PublishFirst,
    /// Who loses the race for a slot goes on to the next one, without a look at what is there now.
    SkipAfterRace,
    /// A table grows while others add to it.
    GrowAtOnce,
    /// The marks of an edge by which a state was entered are on the stack of roots alone.
    MarksOnRoots,
    /// Sets become one before their rings do.
    ListsAfterSets,
    /// A state looks whether its successors were decided before it says that it is.
    LookThenFlag,
    /// Two workers may take the same states of a round.
    TakeTwice,
    /// What was found in a round is told when everybody is there, not before.
    HandInLate,
    /// Who is done with a round begins the next one, while others may be at work.
    LeadAlone,
    /// Who has posted what it found takes in what others have posted, though some have not.
    TakeInAtOnce,
    /// A round is over when all its states were taken, though some were not expanded in this turn.
    ForgetRest,
    /// Only a state that nobody has found before is expanded later.
    AheadIfNew,
    /// What a worker takes in a state depends on what it met before.
    AdaptiveScratch,
    /// Nobody waits for others who may be about to find a cycle.
    NoWaiting,
}

/// Whether this copy of the code is wrong in this way.
#[inline(always)]
pub(crate) const fn is(_: Mutant) -> bool {
    false
}
