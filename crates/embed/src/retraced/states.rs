//! States by their numbers: some are there, the others are made again from the nearest one before them that is.
//!
//! Those that are to be expanded are there, in the order of their numbers ([`Ahead`]). Of the others, those whose steps were taken longest ago go first. On every way
//! each [`SPACING`]th state stays, so that never more steps than that are taken again; and each [`NEARBY`]th of a way that
//! was gone again stays from then on, so that where that happens often it takes fewer. Nothing is given up before there are
//! so many states as are kept anyway, unless steps hardly ever lead back: then a state is given away with its last step.

use std::borrow::Borrow;
use std::collections::VecDeque;

use super::ahead::Ahead;
use crate::keeper::Again;

/// At most so many steps are taken again to have a state.
const SPACING: u32 = 32;
/// And so many where steps were taken again before.
const NEARBY: u32 = 8;
/// One of so many states is kept, where there are many.
const SHARE: usize = 10;
/// Of so many steps to known states, at most one leads back where states are given away, once there were some.
const RARELY: u32 = 128;
const SOME: usize = 1024;
const MANY: u32 = 1 << 16;

pub(super) struct States<S> {
    /// By their numbers: where they are, or how they were come to.
    origins: Vec<Origin>,
    /// Those that are to be expanded.
    ahead: Ahead<S>,
    /// Others that are here, and places that are free.
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

/// How a state was come to: the number of the one before, or its own, and a [`Way`]; or its place in `here`, and [`HERE`].
#[derive(Clone, Copy)]
struct Origin {
    number: u32,
    way: Way,
}

/// An action, and the steps since the last state that stays, less than [`SPACING`]; such a one has 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way(u32);

const HERE: Way = Way(u32::MAX);

impl Way {
    fn new(action: u32, steps: u32) -> Way {
        // Whose action has too large a number stays: nobody takes that step again.
        if action < u32::MAX / SPACING { Way(action * SPACING + steps % SPACING) } else { Way(0) }
    }

    fn action(self) -> u32 {
        self.0 / SPACING
    }

    fn steps(self) -> u32 {
        self.0 % SPACING
    }
}

struct Here<S> {
    state: S,
    origin: Origin,
    /// Whether it is in `left`.
    is_left: bool,
}

/// A state that somebody looks at, who brings it back.
pub(crate) struct Lent<S> {
    pub(super) state: S,
    /// Whether its steps were taken before.
    is_left: bool,
}

impl<S> Borrow<S> for Lent<S> {
    fn borrow(&self) -> &S {
        &self.state
    }
}

/// Where a step begins: the number of a state, and the state, unless it was given away.
pub(super) struct Before<'s, S> {
    pub(super) number: u32,
    pub(super) state: Option<&'s S>,
}

impl<S> Clone for Before<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Before<'_, S> {}

impl<S> States<S> {
    /// None so far, of which so many will be kept anyway.
    pub(super) fn new(few: usize, nobody_asks: bool) -> States<S> {
        States {
            origins: Vec::new(),
            ahead: Ahead::default(),
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

    /// The place of a state in `here`.
    fn place(&self, number: u32) -> Option<usize> {
        let Origin { number: place, way } = self.origins[number as usize];
        (way == HERE).then_some(place as usize)
    }

    fn here(&self, number: u32) -> Option<&Here<S>> {
        self.here[self.place(number)?].as_ref()
    }

    /// How a state was come to.
    fn origin(&self, number: u32) -> Origin {
        self.here(number).map_or(self.origins[number as usize], |here| here.origin)
    }

    /// A state, if it is here.
    #[inline]
    pub(super) fn at_hand(&self, number: u32) -> Option<&S> {
        self.ahead.get(number).or_else(|| self.here(number).map(|here| &here.state))
    }

    /// Adds a state that is new.
    pub(super) fn add(&mut self, state: S, from: Option<(u32, u32)>) -> u32 {
        let number = self.origins.len() as u32;
        let origin = match from {
            None => Origin { number, way: Way(0) },
            Some((before, action)) => {
                Origin { number: before, way: Way::new(action, self.origin(before).way.steps() + 1) }
            }
        };
        self.origins.push(origin);
        if let Some((first, states)) = self.ahead.push(state) {
            for (number, state) in (first..).zip(states) {
                state.into_iter().for_each(|state| self.put(number, state, false));
            }
        }
        number
    }

    /// Puts a state into `here` that is not at hand.
    fn put(&mut self, number: u32, state: S, is_left: bool) {
        let origin = &mut self.origins[number as usize];
        let here = Some(Here { state, origin: *origin, is_left });
        let place = match self.free.pop() {
            Some(place) => {
                self.here[place as usize] = here;
                place
            }
            None => {
                self.here.push(here);
                self.here.len() as u32 - 1
            }
        };
        *origin = Origin { number: place, way: HERE };
    }

    /// Takes a state from `here`, unless it stays.
    fn take(&mut self, number: u32) -> Option<Here<S>> {
        let place = self.place(number)?;
        let here = self.here[place].take_if(|here| here.origin.way.steps() > 0)?;
        self.origins[number as usize] = here.origin;
        self.free.push(place as u32);
        Some(here)
    }

    /// A state to look at. It is taken away, unless it stays.
    pub(super) fn lend(&mut self, number: u32, again: &Again<'_, S>) -> Lent<S>
    where
        S: Clone,
    {
        let stays = self.origins[number as usize].way.steps() == 0;
        if let Some(state) = self.ahead.get(number) {
            let copy = stays.then(|| state.clone());
            if let Some(state) = copy.or_else(|| self.ahead.take(number)) {
                return Lent { state, is_left: false };
            }
        }
        match self.take(number) {
            Some(Here { state, is_left, .. }) => Lent { state, is_left },
            None => Lent { is_left: self.here(number).is_none(), state: self.made_again(number, again) },
        }
    }

    /// A state that was lent is back. Where its steps were taken, those are given up for which that was so long ago.
    pub(super) fn bring_back(&mut self, number: u32, lent: Lent<S>, was_stepped: bool) {
        if !(lent.is_left || was_stepped) {
            if self.at_hand(number).is_none()
                && let Err(state) = self.ahead.put_back(number, lent.state)
            {
                self.put(number, state, false);
            }
            return;
        }
        let state = self.ahead.take(number).unwrap_or(lent.state);
        match self.place(number).and_then(|place| self.here[place].as_mut()) {
            None => self.put(number, state, true),
            Some(here) if !here.is_left => here.is_left = true,
            Some(_) => return,
        }
        self.left.push_back(number);
        let room = self.few.max(self.origins.len() / SHARE) + self.n_nearby;
        while self.here.len() - self.free.len() + self.ahead.len() > room
            && let Some(oldest) = self.left.pop_front()
        {
            self.forget(oldest);
        }
    }

    /// Forgets a state whose steps were taken, unless it stays.
    fn forget(&mut self, number: u32) {
        if self.here(number).is_some_and(|here| here.is_left) {
            self.take(number);
        }
    }

    /// Whether a state that was lent need not come back before its last step.
    pub(super) fn gives(&self, number: u32) -> bool {
        self.origin(number).way.steps() > 0 && self.leads_ahead()
    }

    /// Whether it is not likely that a state is asked for once its steps were taken.
    fn leads_ahead(&self) -> bool {
        let is_enough = self.n_known as usize >= self.few.min(SOME);
        self.nobody_asks || (is_enough && self.n_back <= self.n_known / RARELY)
    }

    /// Whether the state of a number is this one, which a step leads to, as far as it is at hand.
    #[inline]
    pub(super) fn is_at_hand(&mut self, number: u32, state: &S) -> bool
    where
        S: Eq,
    {
        let (is_it, is_back) = match self.ahead.get(number) {
            Some(ahead) => (ahead == state, false),
            None => self.here(number).map_or((false, false), |here| (here.state == *state, here.is_left)),
        };
        if is_it {
            self.note(is_back);
        }
        is_it
    }

    /// Whether the state of a number is this one, which a step leads to.
    pub(super) fn is(
        &mut self,
        number: u32,
        state: &S,
        from: Option<Before<'_, S>>,
        again: &Again<'_, S>,
    ) -> bool
    where
        S: Eq + Clone,
    {
        if self.at_hand(number).is_some() {
            return self.is_at_hand(number, state);
        }
        let lent = from.filter(|before| before.number == number).and_then(|before| before.state);
        let is_it = match lent {
            Some(lent) => lent == state,
            None => self.make_again(number, again) == state,
        };
        if is_it {
            self.note(true);
        }
        is_it
    }

    /// Notes a step to a known state, and whether the steps of that were taken.
    #[inline]
    fn note(&mut self, is_back: bool) {
        (self.n_known, self.n_back) = (self.n_known + 1, self.n_back + u32::from(is_back));
        if self.n_known == MANY {
            (self.n_known, self.n_back) = (self.n_known / 2, self.n_back / 2);
        }
    }

    /// The state of a number, which is made again if it was given up.
    fn made_again(&mut self, number: u32, again: &Again<'_, S>) -> S
    where
        S: Clone,
    {
        let (mut nearest, mut way) = (number, Vec::new());
        while self.at_hand(nearest).is_none() {
            way.push(nearest);
            nearest = self.origins[nearest as usize].number;
        }
        let mut state = self.at_hand(nearest).expect("where ways begin, states stay").clone();
        for (taken, &next) in (1..).zip(way.iter().rev()) {
            let origin = self.origins[next as usize];
            state = again(&state, origin.way.action());
            if taken % NEARBY == 0 && next != number {
                self.origins[next as usize].way = Way::new(origin.way.action(), 0);
                self.n_nearby += 1;
                self.put(next, state.clone(), true);
            }
        }
        state
    }

    /// The same. It is then here for a while, as one that was left just now.
    #[cold]
    fn make_again(&mut self, number: u32, again: &Again<'_, S>) -> &S
    where
        S: Clone,
    {
        let state = self.made_again(number, again);
        self.put(number, state, true);
        self.left.push_back(number);
        self.at_hand(number).expect("what was put here is here")
    }

    /// Touches what is looked at to compare these, so that it is waited for together.
    #[inline]
    pub(super) fn warm(&self, numbers: &[Option<u32>]) {
        let is_here = |number: &&u32| self.at_hand(**number).is_some();
        std::hint::black_box(numbers.iter().flatten().filter(is_here).count());
    }

    /// Bytes held, as far as that is known.
    pub(super) fn bytes(&self) -> usize {
        // What states hold elsewhere is not known; as much again as they take is a guess.
        let others = size_of::<Origin>() * self.origins.len() + 4 * (self.free.len() + self.left.len());
        let states = size_of::<S>() * (self.here.len() - self.free.len() + self.ahead.len());
        others + states + self.ahead.bytes() + size_of::<Option<Here<S>>>() * self.here.len()
    }
}
