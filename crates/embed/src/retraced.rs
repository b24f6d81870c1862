//! Numbers for states that are not kept: a state can be had again by the step that led to it.
//!
//! # Idea
//! A state of any type takes what it takes, often hundreds of bytes in several pieces. But a model is deterministic, so a
//! state is where it came from and an action. States that are likely to be asked for soon are kept whole
//! (`states`), those that are still to be expanded above all; what was given up is made again when it is asked for. Where
//! it is not likely that a state is asked for once its steps were taken, the last of these takes the state
//! itself and not a copy. Who looks at a state takes it from here, and brings it back; meanwhile it is one that was given up.
//!
//! # Exactness
//! States are told apart by `Eq`. Two that have the same hash are compared, and one that was given up is made again for
//! that: numbers are those that a table of whole states would give. (A model that is not deterministic has no such
//! numbers; searches find that out, whoever keeps states.)
//!
//! By fingerprints, states are told apart by 64 bits of their hash, which is believed to depend on all that `Eq`
//! compares. That is looked at now and then, where both states are there.
//!
//! # When is it bad?
//! Where many steps lead far back, to states that were expanded long ago, each of them costs a few steps more.

mod ahead;
mod states;

use std::sync::{Mutex, MutexGuard, PoisonError};

use check::Coverage;
use pack::Index;

use crate::keeper::{Again, From, Keeper, Made};
use crate::model::Model;
use states::{Before, Lent, States};

/// Of hits by fingerprint, so many are looked at, and then one of so many.
const DOUBTED_FIRST: u64 = 4096;
const DOUBTED_EVERY: u64 = 64;

/// So many states are kept anyway.
pub(crate) const FEW: usize = 1 << 16;

/// So many states are looked for together.
const TOGETHER: usize = 16;

/// Numbers for states.
pub(crate) struct Retraced<S>(Mutex<Kept<S>>);

struct Kept<S> {
    index: Index,
    states: States<S>,
    /// Those of all states, if they are told apart by these.
    fingerprints: Option<Fingerprints>,
}

#[derive(Default)]
struct Fingerprints {
    all: Vec<u64>,
    n_hits: u64,
}

impl<S> Retraced<S> {
    /// None so far, of which so many will be kept anyway.
    pub(crate) fn new(few: usize, by_fingerprints: bool) -> Retraced<S> {
        let (index, states) = (Index::default(), States::new(few, by_fingerprints));
        let fingerprints = by_fingerprints.then(Fingerprints::default);
        Retraced(Mutex::new(Kept { index, states, fingerprints }))
    }

    fn lock(&self) -> MutexGuard<'_, Kept<S>> {
        // A panic of a model's code leaves all as it was, but for a state more or less that is there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bits of a fingerprint that an index knows.
fn part(fingerprint: u64) -> u32 {
    (fingerprint >> 32) as u32
}

impl<S: Clone + Eq + std::fmt::Debug> Kept<S> {
    /// The number of a state that has this fingerprint. If it is new, it is taken.
    fn number(
        &mut self,
        fingerprint: u64,
        (action, made): &mut Made<S>,
        from: Option<Before<'_, S>>,
        again: &Again<'_, S>,
    ) -> Result<u32, String> {
        let Kept { index, states, fingerprints } = self;
        let state = made.as_ref().ok_or("a state is gone before it has a number")?;
        let found = match fingerprints {
            None => index.find(part(fingerprint), |number| states.is(number, state, from, again)),
            Some(known) => {
                let found = index.find(part(fingerprint), |number| known.all[number as usize] == fingerprint);
                match found {
                    Ok(number) => known.doubt(states.at_hand(number), state)?,
                    Err(_) => known.all.push(fingerprint),
                }
                found
            }
        };
        Ok(match (found, made) {
            (Ok(number), _) => number,
            (Err(slot), made) => {
                let state = made.take().ok_or("a state is gone before it has a number")?;
                let number = states.add(state, from.map(|before| (before.number, *action)));
                index.insert(slot, part(fingerprint), number);
                number
            }
        })
    }

    /// The numbers of those of these states that are known, as far as that is seen without making another one again.
    /// What is looked at is touched before, for all of them at each stage, so that it is waited for together.
    fn known(&mut self, fingerprints: &[u64], made: &[Made<S>]) -> [Option<u32>; TOGETHER] {
        self.index.reserve(fingerprints.len());
        let touched = fingerprints.iter().fold(0, |all, &one| all ^ self.index.touch(part(one)));
        std::hint::black_box(touched);
        let mut numbers = [None; TOGETHER];
        for (number, &fingerprint) in numbers.iter_mut().zip(fingerprints) {
            *number = self.index.first(part(fingerprint));
        }
        match &self.fingerprints {
            None => {
                self.states.warm(&numbers);
                for (number, (_, state)) in numbers.iter_mut().zip(made) {
                    let is = |number: &u32| {
                        state.as_ref().is_some_and(|state| self.states.is_at_hand(*number, state))
                    };
                    *number = number.filter(is);
                }
            }
            Some(known) => {
                let of = |number: &Option<u32>| known.all.get((*number)? as usize);
                std::hint::black_box(numbers.iter().filter_map(of).fold(0, |all, one| all ^ one));
                numbers = [None; TOGETHER];
            }
        }
        numbers
    }
}

impl Fingerprints {
    /// Looks now and then whether two states with the same fingerprint are equal.
    fn doubt<S: Eq + std::fmt::Debug>(&mut self, known: Option<&S>, state: &S) -> Result<(), String> {
        self.n_hits += 1;
        if self.n_hits > DOUBTED_FIRST && !self.n_hits.is_multiple_of(DOUBTED_EVERY) {
            return Ok(());
        }
        match known {
            Some(known) if known != state => Err(format!(
                "by fingerprints, states are told apart by `Hash`, which says less than `Eq`: it takes {known:?} and {state:?} \
                 for the same"
            )),
            _ => Ok(()),
        }
    }
}

impl<M: Model> Keeper<M> for Retraced<M::State> {
    type View<'k>
        = Lent<M::State>
    where
        Self: 'k;

    const COUNTS: bool = true;

    fn width(&self) -> usize {
        1
    }

    fn encode(
        &self,
        made: &mut [Made<M::State>],
        from: Option<From<'_, M::State>>,
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)> {
        let from = from.map(|from| Before { number: from.words[0], state: from.state });
        for (nth, (made, words)) in made.chunks_mut(TOGETHER).zip(words.chunks_mut(TOGETHER)).enumerate() {
            let mut fingerprints = [0; TOGETHER];
            for (fingerprint, (_, state)) in fingerprints.iter_mut().zip(&*made) {
                *fingerprint = state.as_ref().map_or(0, pack::fingerprint_of);
            }
            let kept = &mut *self.lock();
            let known = kept.known(&fingerprints[..made.len()], made);
            for (index, (made, word)) in made.iter_mut().zip(words).enumerate() {
                let number = match known[index] {
                    Some(number) => Ok(number),
                    None => kept.number(fingerprints[index], made, from, again),
                };
                *word = number.map_err(|why| (nth * TOGETHER + index, why))?;
            }
        }
        Ok(())
    }

    fn view(&self, words: &[u32], again: &Again<'_, M::State>) -> Lent<M::State> {
        self.lock().states.lend(words[0], again)
    }

    fn bring_back(&self, words: &[u32], lent: Lent<M::State>, was_stepped: bool) {
        self.lock().states.bring_back(words[0], lent, was_stepped);
    }

    fn give(&self, words: &[u32], lent: Lent<M::State>) -> Result<M::State, Lent<M::State>> {
        if self.lock().states.gives(words[0]) { Ok(lent.state) } else { Err(lent) }
    }

    fn look<R>(&self, words: &[u32], read: impl FnOnce(&M::State) -> R) -> Option<R> {
        self.lock().states.at_hand(words[0]).map(read)
    }

    fn bytes(&self) -> u64 {
        let Kept { index, states, fingerprints } = &*self.lock();
        let fingerprints = fingerprints.as_ref().map_or(0, |known| 8 * known.all.capacity());
        (index.bytes() + states.bytes() + fingerprints) as u64
    }

    fn coverage(&self) -> Option<Coverage> {
        let known = &self.lock().fingerprints;
        known.as_ref().map(|known| Coverage::by_fingerprints(known.all.len() as u64))
    }
}
