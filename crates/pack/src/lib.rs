//! Rust values as few bits.
//!
//! A type that is [`Pack`] has a fixed number of bits, and equal values are equal bits. `#[derive(Pack)]` (crate
//! `stubborn-derive`) writes it for structs and enums, whose fields may say more about themselves:
//!
//! ```
//! use stubborn_derive::Pack;
//! use stubborn_pack::{Pack, Packing};
//!
//! #[derive(Clone, Debug, PartialEq, Pack)]
//! #[pack(crate = stubborn_pack)] // Not needed with the crate `stubborn`.
//! struct State {
//!     ready: [bool; 3],
//!     #[pack(0..=7)]
//!     count: u8,
//!     #[pack(max = 4, 0..=7)]
//!     queue: Vec<u8>,
//!     #[pack(intern)]
//!     note: String,
//! }
//!
//! let packing = Packing::<State>::default();
//! assert_eq!(State::BITS, 3 + 3 + (3 + 4 * 3) + 32);
//! let state = State { ready: [true, false, true], count: 7, queue: vec![1, 2], note: "a".into() };
//! let mut words = vec![0; packing.words()];
//! packing.encode(&state, &mut words).unwrap();
//! assert_eq!(packing.decode(&words), state);
//!
//! let wrong = State { count: 8, ..state };
//! let refused = packing.encode(&wrong, &mut words).unwrap_err();
//! assert_eq!(refused.to_string(), "`State.count` is 8, which is not in 0..=7");
//! ```
//!
//! | type or attribute | bits |
//! |---|---|
//! | `bool`, integers | 1, or as many as they have |
//! | `#[pack(0..=7)] u8` | as many as the range needs; also inside `[T; N]`, `Option<T>` and collections |
//! | `[T; N]`, tuples, structs | the sum |
//! | `Option<T>`, enums | those that tell the variant, and the largest variant's |
//! | `#[pack(max = 4)] Vec<T>` | those of the length and of four elements; `VecDeque` and `BTreeSet`, too |
//! | `#[pack(intern)] T`, `#[pack(intern = 12)] T` | 32, or as said: the value's number in a [`Table`] |
//!
//! A value that does not fit is no panic: the [`Writer`] keeps the first one, and [`Packing::encode`] names its field.

mod bits;
mod hash;
mod impls;
mod table;

pub use bits::{OutOfRange, Reader, Writer, bits_for, largest, range_bits};
pub use hash::{fingerprint_of, hash_of};
pub use table::{Index, Table};

/// A type with a fixed number of bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fixed number of bits",
    label = "cannot be packed as it is",
    note = "`#[derive(Pack)]` packs structs and enums",
    note = "a `Vec`, `VecDeque` or `BTreeSet` says how long it gets: `#[pack(max = 4)]`",
    note = "anything that is `Clone + Eq + Hash` can be numbered: `#[pack(intern)]`"
)]
pub trait Pack: Sized {
    /// Bits of each value.
    const BITS: u32;

    /// Where values are numbered that have no bits of their own; `()` for most types.
    type Tables: Default + Send + Sync;

    /// Writes exactly [`Pack::BITS`] bits.
    fn pack(&self, tables: &Self::Tables, out: &mut Writer<'_>);

    /// Reads what [`Pack::pack`] wrote.
    fn unpack(tables: &Self::Tables, input: &mut Reader<'_>) -> Self;
}

/// Packs values of one type into words, and has their tables.
pub struct Packing<T: Pack> {
    tables: T::Tables,
}

impl<T: Pack> Default for Packing<T> {
    fn default() -> Packing<T> {
        Packing { tables: T::Tables::default() }
    }
}

impl<T: Pack> Packing<T> {
    /// Words of each value; at least 1.
    pub fn words(&self) -> usize {
        (T::BITS as usize).div_ceil(32).max(1)
    }

    /// Writes a value over `words`.
    ///
    /// # Errors
    /// A field's value is out of its range; `words` are then of no use.
    #[inline]
    pub fn encode(&self, value: &T, words: &mut [u32]) -> Result<(), OutOfRange> {
        let mut out = Writer::new(words);
        value.pack(&self.tables, &mut out);
        out.finish()
    }

    /// The value that was written.
    #[inline]
    pub fn decode(&self, words: &[u32]) -> T {
        T::unpack(&self.tables, &mut Reader::new(words))
    }
}
