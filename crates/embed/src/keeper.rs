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

    /// Writes the words of a state, to which an action led from another one, or nothing.
    ///
    /// # Errors
    /// Why there are none, in a sentence.
    fn encode(
        &self,
        state: M::State,
        from: Option<(&[u32], u32)>,
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), String>;

    /// The same for several states, with the actions that led to them: words one after the other. The states are then
    /// gone.
    ///
    /// # Errors
    /// Which of them has no words, and why.
    fn encode_all(
        &self,
        states: &mut Vec<(u32, M::State)>,
        from: &[u32],
        again: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), (usize, String)> {
        let width = self.width();
        for (index, (action, state)) in states.drain(..).enumerate() {
            let words = &mut words[index * width..][..width];
            self.encode(state, Some((from, action)), again, words).map_err(|why| (index, why))?;
        }
        Ok(())
    }

    /// The state of words that were written.
    fn view(&self, words: &[u32], again: &Again<'_, M::State>) -> Self::View<'_>;

    /// All steps from a state were taken: it is not likely to be asked for soon.
    fn left(&self, words: &[u32]);

    /// The state itself, of which the last step is to be taken, if nobody needs it: it can be had again all the same.
    ///
    /// # Errors
    /// Somebody needs it.
    fn give<'k>(&'k self, words: &[u32], view: Self::View<'k>) -> Result<M::State, Self::View<'k>>;

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
        state: M::State,
        _: Option<(&[u32], u32)>,
        _: &Again<'_, M::State>,
        words: &mut [u32],
    ) -> Result<(), String> {
        self.0.encode(&state, words)
    }

    #[inline]
    fn view(&self, words: &[u32], _: &Again<'_, M::State>) -> C::View<'_> {
        self.0.view(words)
    }

    #[inline]
    fn left(&self, _: &[u32]) {}

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
