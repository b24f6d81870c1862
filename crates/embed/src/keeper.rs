//! Who keeps the states of a search: a codec, or a table of how they were come to.
//!
//! A [`Codec`] knows states and words. Who keeps less than states must be told more: where a state came from, and how a
//! step is taken again.

use std::borrow::Borrow;

use check::Coverage;

use crate::codec::Codec;
use crate::model::Model;

/// Takes a step again: the state that is kept after an action, by its number, in a state.
pub(crate) type Again<'a, S> = dyn Fn(&S, u32) -> S + 'a;

/// A state after an action, by its number; none where a keeper has taken it.
pub(crate) type Made<S> = (u32, Option<S>);

/// Where states come from.
pub(crate) struct From<'f, S> {
    /// The words of the state before.
    pub(crate) words: &'f [u32],
    /// That state, unless it was given away.
    pub(crate) state: Option<&'f S>,
}

/// States as words, and back, in a search. Words mean the same to all who use the same keeper.
pub(crate) trait Keeper<M: Model>: Send + Sync {
    /// A state that words were made of: itself, or borrowed from where it is kept.
    type View<'k>: Borrow<M::State> + Send
    where
        Self: 'k;

    /// Whether words are one number, and numbers are given in the order in which states are met.
    const COUNTS: bool;

    /// Words per state; at least 1.
    fn width(&self) -> usize;

    /// Writes the words of states to which actions led from another one, or nothing: one after the other. Some of them
    /// may be taken.
    ///
    /// # Errors
    /// Which of them has no words, and why, in a sentence.
    fn encode(
        &self,
        made: &mut [Made<M::State>],
        from: Option<From<'_, M::State>>,
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)>;

    /// The state of words that were written. Who looked at it brings it back.
    fn view(&self, words: &[u32], again: &Again<'_, M::State>) -> Self::View<'_>;

    /// What was looked at is brought back. Where all steps from it were taken, it is not likely to be asked for soon.
    fn bring_back<'k>(&'k self, words: &[u32], view: Self::View<'k>, was_stepped: bool);

    /// The state itself, of which the last step is to be taken, if nobody needs it: it can be had again all the same.
    ///
    /// # Errors
    /// Somebody needs it.
    fn give<'k>(&'k self, words: &[u32], view: Self::View<'k>) -> Result<M::State, Self::View<'k>>;

    /// Reads a state where it is kept, if it is kept whole.
    fn look<R>(&self, _words: &[u32], _read: impl FnOnce(&M::State) -> R) -> Option<R> {
        None
    }

    /// Bytes held, as far as that is known.
    fn bytes(&self) -> u64;

    /// What may be missing since two states were taken for one; nothing, if that cannot be.
    fn coverage(&self) -> Option<Coverage>;
}

/// A codec that keeps states by itself.
pub(crate) struct ByCodec<C>(pub(crate) C);

impl<M: Model, C: Codec<M::State>> Keeper<M> for ByCodec<C> {
    type View<'k>
        = C::View<'k>
    where
        C: 'k;

    const COUNTS: bool = false;

    fn width(&self) -> usize {
        self.0.width()
    }

    #[inline]
    fn encode(
        &self,
        made: &mut [Made<M::State>],
        _: Option<From<'_, M::State>>,
        _: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)> {
        // A plain loop: tests are built without optimization.
        let (width, mut index) = (self.0.width(), 0);
        while index < made.len() {
            if let (_, Some(state)) = &made[index] {
                let words = &mut words[index * width..(index + 1) * width];
                self.0.encode(state, words).map_err(|why| (index, why))?;
            }
            index += 1;
        }
        Ok(())
    }

    #[inline]
    fn view(&self, words: &[u32], _: &Again<'_, M::State>) -> C::View<'_> {
        self.0.view(words)
    }

    #[inline]
    fn bring_back<'k>(&'k self, _: &[u32], _: C::View<'k>, _: bool) {}

    #[inline]
    fn give<'k>(&'k self, _: &[u32], view: C::View<'k>) -> Result<M::State, C::View<'k>> {
        self.0.give(view)
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn coverage(&self) -> Option<Coverage> {
        None
    }
}
