//! States by their numbers: some are there, the others are made again from the nearest one before them that is.
//!
//! Those that are to be expanded are there. Of the others, those whose steps were taken longest ago go first. On every way
//! each [`SPACING`]th state stays, so that never more steps than that are taken again; and each [`NEARBY`]th of a way that
//! was gone again stays from then on, so that where that happens often it takes fewer. Nothing is given up before there are
//! so many states as are kept anyway, unless steps hardly ever lead back: then a state is given away with its last step.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::keeper::Again;

/// At most so many steps are taken again to have a state.
const SPACING: u8 = 32;
/// And so many where steps were taken again before.
const NEARBY: u8 = 8;
/// One of so many states is kept, where there are many.
const SHARE: usize = 10;
/// Of so many steps to known states, at most one leads back where states are given away, once there were some.
const RARELY: u32 = 128;
const SOME: usize = 1024;
const MANY: u32 = 1 << 16;

pub(super) struct States<S> {
    /// By their numbers.
    made: Vec<Made>,
    /// Steps since the last state that stays; such a one has 0.
    steps: Vec<u8>,
    /// Those that are there, and places that are free.
    here: Vec<Option<Here<S>>>,
    free: Vec<u32>,
    /// Those whose steps were taken, the oldest first.
    left: VecDeque<u32>,
    /// So many are kept anyway.
    few: usize,
    /// So many stay because a way was gone again.
    n_nearby: usize,
    /// Nobody asks whether a state is equal to one that was given away.
    nobody_asks: bool,
    /// Steps to known states of late, and those of them to states whose steps were taken.
    n_known: u32,
    n_back: u32,
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
    /// Whether it is in `left`.
    is_left: bool,
}

impl<S> States<S> {
    /// None so far, of which so many will be kept anyway.
    pub(super) fn new(few: usize, nobody_asks: bool) -> States<S> {
        States {
            made: Vec::new(),
            steps: Vec::new(),
            here: Vec::new(),
            free: Vec::new(),
            left: VecDeque::new(),
            few,
            n_nearby: 0,
            nobody_asks,
            n_known: 0,
            n_back: 0,
        }
    }

    fn here(&self, number: u32) -> Option<&Here<S>> {
        self.here.get(self.made[number as usize].place as usize)?.as_ref()
    }

    /// A state, if it is there.
    pub(super) fn at_hand(&self, number: u32) -> Option<&S> {
        self.here(number).map(|here| &*here.state)
    }

    /// Adds a state that is new.
    pub(super) fn add(&mut self, state: S, from: Option<(u32, u32)>) -> u32 {
        let number = self.made.len() as u32;
        let (before, action) = from.unwrap_or((number, 0));
        let steps = from.map_or(0, |_| (self.steps[before as usize] + 1) % SPACING);
        self.made.push(Made { before, action, place: NOWHERE });
        self.steps.push(steps);
        self.put(number, Here { state: Arc::new(state), is_left: false });
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

    /// Forgets a state, unless it stays.
    fn drop(&mut self, number: u32) {
        if self.steps[number as usize] > 0 && self.here(number).is_some() {
            let place = std::mem::replace(&mut self.made[number as usize].place, NOWHERE);
            self.here[place as usize] = None;
            self.free.push(place);
        }
    }

    /// Says that the steps from a state were taken, and gives up those for which that was said long ago.
    pub(super) fn leave(&mut self, number: u32) {
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
            self.drop(oldest);
        }
    }

    /// Gives a state away with its last step, if that is a good idea.
    pub(super) fn give(&mut self, number: u32) -> bool {
        let is_to_be_left = self.here(number).is_some_and(|here| !here.is_left);
        let is_given = is_to_be_left && self.steps[number as usize] > 0 && self.leads_ahead();
        if is_given {
            self.drop(number);
        }
        is_given
    }

    /// Whether it is not likely that a state is asked for once its steps were taken.
    fn leads_ahead(&self) -> bool {
        let is_enough = self.n_known as usize >= self.few.min(SOME);
        self.nobody_asks || (is_enough && self.n_back <= self.n_known / RARELY)
    }

    /// Whether the state of a number is this one, which a step leads to.
    #[inline]
    pub(super) fn is(&mut self, number: u32, state: &S, again: &Again<'_, S>) -> bool
    where
        S: Eq,
    {
        let is_back = self.here(number).is_none_or(|here| here.is_left);
        let is_it = **self.get(number, again) == *state;
        if is_it {
            (self.n_known, self.n_back) = (self.n_known + 1, self.n_back + u32::from(is_back));
            if self.n_known == MANY {
                (self.n_known, self.n_back) = (self.n_known / 2, self.n_back / 2);
            }
        }
        is_it
    }

    /// The state of a number.
    #[inline]
    pub(super) fn get(&mut self, number: u32, again: &Again<'_, S>) -> &Arc<S> {
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
        let mut state = loop {
            match self.here(nearest) {
                Some(here) => break here.state.clone(),
                None => {
                    way.push(nearest);
                    nearest = self.made[nearest as usize].before;
                }
            }
        };
        for (taken, &next) in (1..).zip(way.iter().rev()) {
            state = Arc::new(again(&state, self.made[next as usize].action));
            if taken % NEARBY == 0 && next != number {
                self.steps[next as usize] = 0;
                self.n_nearby += 1;
                self.put(next, Here { state: state.clone(), is_left: true });
            }
        }
        self.put(number, Here { state, is_left: true });
        self.left.push_back(number);
    }

    /// Touches what is looked at to compare these, so that it is waited for together.
    pub(super) fn warm(&self, numbers: &[Option<u32>]) {
        let mut places = [NOWHERE; 16];
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number.map_or(NOWHERE, |number| self.made[number as usize].place);
        }
        let is_shared = |place: &&u32| {
            let here = self.here.get(**place as usize).and_then(Option::as_ref);
            here.is_some_and(|here| Arc::strong_count(&here.state) > 1)
        };
        std::hint::black_box(places.iter().filter(is_shared).count());
    }

    /// Bytes held, as far as that is known.
    pub(super) fn bytes(&self) -> usize {
        // What states hold elsewhere is not known; as much again as they take is a guess.
        let state = 2 * size_of::<S>() + size_of::<Here<S>>() + 16;
        let others = (size_of::<Made>() + 1) * self.made.len() + 4 * (self.free.len() + self.left.len());
        others + (self.here.len() - self.free.len()) * state
    }
}
