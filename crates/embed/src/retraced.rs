//! Numbers for states that are not kept: a state can be had again by the step that led to it.
//!
//! # Idea
//! A state of any type takes what it takes, often hundreds of bytes in several pieces. But a model is deterministic, so a
//! state is where it came from and an action. States that are likely to be asked for soon are kept whole,
//! those that are still to be expanded above all; of the others, those whose steps were taken longest ago go first. What
//! was given up is made again when it is asked for, from the nearest state before it that is there. On every way each
//! [`SPACING`]th state stays, so that never more steps than that are taken again; and each [`NEARBY`]th of a way that was
//! gone again stays from then on, so that where that happens often it takes fewer.
//!
//! # Exactness
//! States are told apart by `Eq`. Two that have the same hash are compared, and one that was given up is made again for
//! that: numbers are those that a table of whole states would give. (A model that is not deterministic has no such
//! numbers; searches find that out, whoever keeps states.)
//!
//! # When is it bad?
//! Where many steps lead far back, to states that were expanded long ago, each of them costs a few steps more. Nothing is
//! given up before there are [`FEW`] states.

use std::collections::VecDeque;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pack::Index;

use crate::keeper::{Again, Keeper};
use crate::model::Model;

/// At most so many steps are taken again to have a state.
const SPACING: u8 = 32;
/// And so many where steps were taken again before.
const NEARBY: u8 = 8;
/// So many states are kept anyway, and one of `SHARE` where there are more.
pub(crate) const FEW: usize = 1 << 16;
const SHARE: usize = 10;

/// Numbers for states.
pub(crate) struct Retraced<S>(Mutex<Kept<S>>);

struct Kept<S> {
    index: Index,
    states: States<S>,
}

struct States<S> {
    /// By their numbers.
    made: Vec<Made>,
    /// Those that are there, and places that are free.
    here: Vec<Option<Here<S>>>,
    free: Vec<u32>,
    /// Those whose steps were taken, the oldest first.
    left: VecDeque<u32>,
    /// So many are kept anyway.
    few: usize,
    /// So many stay because a way was gone again.
    n_nearby: usize,
}

/// How a state was come to.
struct Made {
    /// The number of the state before; of initial states, their own.
    before: u32,
    action: u32,
    /// Its place in `here`, if it is there.
    place: u32,
}

const NOWHERE: u32 = u32::MAX;

struct Here<S> {
    state: Arc<S>,
    /// Steps since the last state that stays; such a one has 0.
    steps: u8,
    /// Whether it is in `left`.
    is_left: bool,
}

impl<S> Retraced<S> {
    /// None so far, of which so many will be kept anyway.
    pub(crate) fn new(few: usize) -> Retraced<S> {
        let (made, here, free, left) = (Vec::new(), Vec::new(), Vec::new(), VecDeque::new());
        let states = States { made, here, free, left, few, n_nearby: 0 };
        Retraced(Mutex::new(Kept { index: Index::default(), states }))
    }

    fn lock(&self) -> MutexGuard<'_, Kept<S>> {
        // A panic of a model's code leaves all as it was, but for a state more or less that is there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Eq + Hash> Kept<S> {
    /// The number of a state that has this hash.
    fn number(&mut self, hash: u32, state: S, from: Option<(u32, u32)>, again: &Again<'_, S>) -> u32 {
        let Kept { index, states } = self;
        match index.find(hash, |number| **states.get(number, again) == state) {
            Ok(number) => number,
            Err(slot) => {
                let number = states.add(state, from);
                index.insert(slot, hash, number);
                number
            }
        }
    }

    /// Touches what will be looked at for these hashes, all at each stage, so that it is waited for together.
    fn warm(&mut self, hashes: &[u32]) {
        self.index.reserve(hashes.len());
        let mut numbers = [NOWHERE; 16];
        for hashes in hashes.chunks(numbers.len()) {
            let numbers = &mut numbers[..hashes.len()];
            for (number, &hash) in numbers.iter_mut().zip(hashes) {
                *number = self.index.peek(hash).unwrap_or(NOWHERE);
            }
            for number in &mut *numbers {
                *number = self.states.made.get(*number as usize).map_or(NOWHERE, |made| made.place);
            }
            let is_shared = |place: &&mut u32| {
                let here = self.states.here.get(**place as usize).and_then(Option::as_ref);
                here.is_some_and(|here| Arc::strong_count(&here.state) > 1)
            };
            std::hint::black_box(numbers.iter_mut().filter(is_shared).count());
        }
    }
}

impl<S> States<S> {
    fn here(&self, number: u32) -> Option<&Here<S>> {
        self.here.get(self.made[number as usize].place as usize)?.as_ref()
    }

    /// Adds a state that is new.
    fn add(&mut self, state: S, from: Option<(u32, u32)>) -> u32 {
        let number = self.made.len() as u32;
        let (before, action) = from.unwrap_or((number, 0));
        let steps = from.map_or(0, |_| (self.steps_to(before) + 1) % SPACING);
        self.made.push(Made { before, action, place: NOWHERE });
        self.put(number, Here { state: Arc::new(state), steps, is_left: false });
        number
    }

    fn put(&mut self, number: u32, here: Here<S>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.here.push(None);
            self.here.len() as u32 - 1
        });
        self.here[place as usize] = Some(here);
        self.made[number as usize].place = place;
    }

    /// Steps from a state that stays to this one.
    fn steps_to(&self, mut number: u32) -> u8 {
        let mut steps = 0;
        loop {
            match self.here(number) {
                Some(here) => return here.steps + steps,
                None => (number, steps) = (self.made[number as usize].before, steps + 1),
            }
        }
    }

    /// Says that the steps from a state were taken, and gives up those for which that was said long ago.
    fn leave(&mut self, number: u32) {
        let place = self.made[number as usize].place as usize;
        match self.here.get_mut(place).and_then(Option::as_mut) {
            Some(here) if !here.is_left => here.is_left = true,
            _ => return,
        }
        self.left.push_back(number);
        let room = self.few.max(self.made.len() / SHARE) + self.n_nearby;
        while self.here.len() - self.free.len() > room
            && let Some(oldest) = self.left.pop_front()
        {
            if self.here(oldest).is_some_and(|here| here.steps > 0) {
                let place = std::mem::replace(&mut self.made[oldest as usize].place, NOWHERE);
                self.here[place as usize] = None;
                self.free.push(place);
            }
        }
    }

    /// The state of a number.
    #[inline]
    fn get(&mut self, number: u32, again: &Again<'_, S>) -> &Arc<S> {
        if self.made[number as usize].place == NOWHERE {
            self.make_again(number, again);
        }
        let here = self.here[self.made[number as usize].place as usize].as_ref();
        &here.expect("what has a place is there").state
    }

    /// Makes a state again that was given up. It is then there for a while, as one that was left just now.
    #[cold]
    fn make_again(&mut self, number: u32, again: &Again<'_, S>) {
        let (mut nearest, mut way) = (number, Vec::new());
        let here = loop {
            match self.here(nearest) {
                Some(here) => break here,
                None => {
                    way.push(nearest);
                    nearest = self.made[nearest as usize].before;
                }
            }
        };
        let (mut state, mut steps) = (here.state.clone(), here.steps);
        for (taken, &next) in (1..).zip(way.iter().rev()) {
            state = Arc::new(again(&state, self.made[next as usize].action));
            steps += 1;
            if taken % NEARBY == 0 && next != number {
                steps = 0;
                self.n_nearby += 1;
                self.put(next, Here { state: state.clone(), steps, is_left: true });
            }
        }
        self.put(number, Here { state, steps, is_left: true });
        self.left.push_back(number);
    }
}

impl<M: Model> Keeper<M> for Retraced<M::State> {
    type View<'k>
        = Arc<M::State>
    where
        Self: 'k;

    const COUNTS: bool = true;

    fn width(&self) -> usize {
        1
    }

    fn encode(
        &self,
        state: M::State,
        from: Option<(&[u32], u32)>,
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), String> {
        let hash = pack::hash_of(&state);
        words[0] = self.lock().number(hash, state, from.map(|(before, action)| (before[0], action)), again);
        Ok(())
    }

    fn encode_all(
        &self,
        states: &mut Vec<(u32, M::State)>,
        from: &[u32],
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)> {
        let hashes: Vec<u32> = states.iter().map(|(_, state)| pack::hash_of(state)).collect();
        let kept = &mut *self.lock();
        kept.warm(&hashes);
        for (((action, state), &hash), word) in states.drain(..).zip(&hashes).zip(words) {
            *word = kept.number(hash, state, Some((from[0], action)), again);
        }
        Ok(())
    }

    fn view(&self, words: &[u32], again: &Again<'_, M::State>) -> Arc<M::State> {
        self.lock().states.get(words[0], again).clone()
    }

    fn left(&self, words: &[u32]) {
        self.lock().states.leave(words[0]);
    }

    fn bytes(&self) -> u64 {
        let Kept { index, states } = &*self.lock();
        // What states hold elsewhere is not known; as much again as they take is a guess.
        let state = 2 * size_of::<M::State>() + size_of::<Here<M::State>>() + 16;
        let States { made, here, free, left, .. } = states;
        let others = size_of::<Made>() * made.len() + 4 * (free.len() + left.len());
        (index.bytes() + others + (here.len() - free.len()) * state) as u64
    }
}
