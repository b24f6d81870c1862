//! How states of any type become words, which is what searches know.
//!
//! | codec | a state is | for |
//! |---|---|---|
//! | [`Interned`] | its number in a table of all states | any type |
//! | [`Packed`] | its bits, and numbers of fields that have none | types with `#[derive(Pack)]` |
//!
//! Equal states must become equal words, and words must become the state that they were made of.

use std::borrow::Borrow;
use std::hash::Hash;

use pack::{Pack, Packing, Table};

/// States as words, and back. Words mean the same to all who use the same codec.
pub trait Codec<S>: Send + Sync {
    /// A state that words were made of: itself, or borrowed from where it is kept.
    type View<'c>: Borrow<S> + Send
    where
        Self: 'c;

    /// Words per state; at least 1.
    fn width(&self) -> usize;

    /// Writes the words of a state.
    ///
    /// # Errors
    /// Why there are none, in a sentence: a value is not in the range that was declared for it.
    fn encode(&self, state: &S, words: &mut [u32]) -> Result<(), String>;

    /// The state of words that were written.
    fn view(&self, words: &[u32]) -> Self::View<'_>;

    /// The state itself, if it was made for who looks at it.
    ///
    /// # Errors
    /// It is kept somewhere.
    fn give<'c>(&'c self, view: Self::View<'c>) -> Result<S, Self::View<'c>> {
        Err(view)
    }

    /// Bytes held, as far as that is known.
    fn bytes(&self) -> u64;
}

/// The whole state is one number.
pub struct Interned<S>(Table<S>);

impl<S> Default for Interned<S> {
    fn default() -> Interned<S> {
        Interned(Table::default())
    }
}

impl<S: Clone + Eq + Hash + Send + Sync> Codec<S> for Interned<S> {
    type View<'c>
        = &'c S
    where
        S: 'c;

    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn encode(&self, state: &S, words: &mut [u32]) -> Result<(), String> {
        words[0] = self.0.number(state);
        Ok(())
    }

    #[inline]
    fn view(&self, words: &[u32]) -> &S {
        self.0.get(words[0])
    }

    fn bytes(&self) -> u64 {
        // What states hold elsewhere is not known; as much again as they take is a guess.
        self.0.bytes() as u64 + u64::from(self.0.len()) * size_of::<S>() as u64
    }
}

/// The bits of the state: what `#[derive(Pack)]` writes.
pub struct Packed<S: Pack>(Packing<S>);

impl<S: Pack> Default for Packed<S> {
    fn default() -> Packed<S> {
        Packed(Packing::default())
    }
}

impl<S: Pack + Send + Sync> Codec<S> for Packed<S> {
    type View<'c>
        = S
    where
        S: 'c;

    fn width(&self) -> usize {
        self.0.words()
    }

    #[inline]
    fn encode(&self, state: &S, words: &mut [u32]) -> Result<(), String> {
        self.0.encode(state, words).map_err(|why| why.to_string())
    }

    #[inline]
    fn view(&self, words: &[u32]) -> S {
        self.0.decode(words)
    }

    #[inline]
    fn give(&self, view: S) -> Result<S, S> {
        Ok(view)
    }

    fn bytes(&self) -> u64 {
        0
    }
}
