//! Rounds over an [owned](Owned) store: what a worker finds is posted to the workers that it belongs to.
//!
//! A round is gone through in *turns*. In a turn, each worker expands states, and puts the targets of their steps into letters, by owner, until there
//! is enough in them; nobody adds anything, so everybody may look at everything. Then all meet, and each takes in what was
//! written to it; then all meet again. So states are looked up many at a time, by the one who has them, and letters are short enough to
//! stay in the cache. What a worker has written not long ago it does not write [again](super::recent): so many more states are not looked
//! up at all.
//!
//! It does not matter who expands a state: workers take pieces of the round as they come to them. What belongs to whom is spread
//! evenly by the hash.

use base::{Limit, Room, Worker};
use model::Steps;

use super::expand::{Keep, WIDE};
use super::levels::{Levels, Pieces};
use super::recent::Recent;
use super::rounds::Stock;
use crate::store::Exact;
use crate::store::owned::{Owned, View};
use crate::sync::{AtomicU64, LETTERS, Mutant, Mutex, Ordering, is, lock};

/// States with numbers, in a store whose parts belong to workers, and the levels that they were found in.
pub(crate) struct Posted<'a> {
    store: &'a Owned,
    levels: Mutex<&'a mut Levels>,
    /// What was written to each part by each worker.
    letters: Box<[Mutex<Vec<u32>>]>,
    /// Bytes of letters.
    n_letters: AtomicU64,
    /// Bytes that are held beside it.
    n_beside: u64,
    room: Room,
    /// So many words are enough for one turn of a worker.
    enough: usize,
    /// States that there were a turn ago, and slots that parts should have in this one.
    ahead: Mutex<(u64, usize)>,
}

impl<'a> Posted<'a> {
    /// For as many workers at most as there are parts.
    pub(crate) fn new(store: &'a Owned, levels: &'a mut Levels, n_beside: u64, room: Room) -> Posted<'a> {
        let n_letters = store.n_parts() * store.n_parts();
        let n_beside = n_beside + levels.bytes();
        // A letter and the one that was read before may have twice the room that they need: an eighth of all room at most.
        let enough = (room.part(128 * store.n_parts()).left() as usize).clamp(1, LETTERS);
        Posted {
            store,
            levels: Mutex::new(levels),
            letters: (0..n_letters).map(|_| Mutex::default()).collect(),
            n_letters: AtomicU64::new(0),
            n_beside,
            room,
            enough,
            ahead: Mutex::new((store.n_states(), 0)),
        }
    }

    /// The states of the last level, to be expanded.
    pub(crate) fn last_round(&self, n_workers: usize) -> LevelRound {
        let levels = lock(&self.levels);
        let last = levels.len() - 1;
        LevelRound { pieces: Pieces::of(&levels.level(last), n_workers), known: levels.ends(last).into() }
    }
}

/// The states of a level, and what was known before it was expanded.
pub(crate) struct LevelRound {
    pieces: Pieces,
    /// Per part, how many states it had.
    known: Box<[u32]>,
}

/// What one worker writes letters with.
pub(crate) struct Pen<'h> {
    store: &'h Owned,
    room: Room,
    worker: Worker,
    /// Open while states are expanded.
    view: Option<View<'h>>,
    letters: Vec<Vec<u32>>,
    recent: Recent,
    /// Words in them, and how many are enough.
    n_words: usize,
    enough: usize,
    /// Bytes that were told.
    n_told: u64,
}

impl Pen<'_> {
    /// Writes a state to a part.
    #[inline]
    fn write(&mut self, part: usize, state: &[u32]) {
        let letter = &mut self.letters[part];
        self.n_words += state.len();
        // Short ones without a call.
        match *state {
            [a] => letter.push(a),
            [a, b] => letter.extend_from_slice(&[a, b]),
            [a, b, c] => letter.extend_from_slice(&[a, b, c]),
            [a, b, c, d] => letter.extend_from_slice(&[a, b, c, d]),
            _ => letter.extend_from_slice(state),
        }
    }
}

impl Stock for Posted<'_> {
    type Round = LevelRound;
    type Hand<'h>
        = Pen<'h>
    where
        Self: 'h;

    const TAKES_TURNS: bool = true;

    fn hand(&self, worker: Worker) -> Pen<'_> {
        let letters = (0..self.store.n_parts()).map(|_| Vec::new()).collect();
        Pen {
            store: self.store,
            room: self.room,
            worker,
            view: None,
            letters,
            recent: Recent::new(self.store.width(), self.store.n_parts(), self.room),
            n_words: 0,
            enough: self.enough,
            n_told: 0,
        }
    }

    fn begin_turn<'h>(&'h self, pen: &mut Pen<'h>) {
        pen.view = Some(self.store.view());
    }

    #[inline]
    fn is_full(pen: &Pen<'_>) -> bool {
        pen.n_words >= pen.enough
    }

    /// If the parts of a store grew one after the other, each as it comes to it, all others would wait at the end of the turn: so all grow in the
    /// same turn, before the first one must.
    fn foresee(&self) {
        let mut ahead = lock(&self.ahead);
        *ahead = (self.store.n_states(), self.store.n_slots_ahead(ahead.0));
    }

    fn post(&self, pen: &mut Pen<'_>) {
        pen.view = None;
        pen.n_words = 0;
        let mut n_bytes = pen.recent.bytes();
        for (part, letter) in pen.letters.iter_mut().enumerate() {
            // What is there was read, and leaves its room to the next one.
            let mut posted = lock(&self.letters[part * self.store.n_parts() + pen.worker.index]);
            std::mem::swap(&mut *posted, letter);
            n_bytes += 4 * (posted.capacity() + letter.capacity()) as u64;
        }
        self.n_letters.fetch_add(n_bytes.wrapping_sub(pen.n_told), Ordering::Relaxed);
        pen.n_told = n_bytes;
    }

    fn take_in(
        &self,
        pen: &Pen<'_>,
        is_alone: bool,
        mut look_at: impl FnMut(u32, &[u32]),
    ) -> Result<(), Limit> {
        let Worker { index, of } = if is_alone { Worker::ONLY } else { pen.worker };
        let n_parts = self.store.n_parts();
        let n_slots = lock(&self.ahead).1;
        for part in (index..n_parts).step_by(of) {
            let mut own = self.store.part(part);
            own.grow_to(n_slots)?;
            for letter in &self.letters[part * n_parts..][..n_parts] {
                let mut letter = lock(letter);
                let added = own.add(&letter, &mut look_at);
                letter.clear();
                added?;
            }
        }
        Ok(())
    }

    fn hand_in(&self, _: &mut Pen<'_>) {}

    fn next_round(&self, n_workers: usize) -> Option<LevelRound> {
        let n_new = lock(&self.levels).push(&self.store.view().ends());
        (n_new > 0).then(|| self.last_round(n_workers))
    }

    fn pieces(round: &LevelRound) -> &Pieces {
        &round.pieces
    }

    #[inline]
    fn get(&self, pen: &Pen<'_>, _: &LevelRound, place: u32, out: &mut [u32]) -> u32 {
        if let Some(view) = &pen.view {
            view.get(place, out);
        }
        place
    }

    #[inline]
    fn n_states(&self) -> u64 {
        self.store.n_states()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.store.bytes() + self.n_letters.load(Ordering::Relaxed) + self.n_beside
    }
}

impl Keep<LevelRound> for Pen<'_> {
    #[inline]
    fn add(
        &mut self,
        round: &LevelRound,
        _: u32,
        steps: &Steps,
        from: usize,
        n_first: usize,
        _: impl FnMut(usize, u32),
    ) -> Result<bool, Limit> {
        let width = self.store.width();
        let targets = &steps.targets()[from * width..];
        let mut leads_ahead = false;
        if let Some(view) = &self.view {
            leads_ahead = targets.chunks_exact(width).take(n_first).any(|target| {
                let part = self.store.part_of(target);
                match view.find_in(part, target) {
                    Some(index) => index >= round.known[part] && !is(Mutant::AheadIfNew),
                    None => true,
                }
            });
        }
        for target in targets.chunks_exact(width) {
            let hash = Exact::hash(target);
            if !self.recent.has(target, hash) {
                self.write(self.store.part_of_hash(hash), target);
            }
        }
        if width > WIDE {
            self.room.fits(4 * self.n_words as u64)?;
        }
        Ok(leads_ahead)
    }
}
