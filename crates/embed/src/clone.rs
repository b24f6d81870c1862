//! Copies into what is there already: a state is copied for nearly every step, and most steps change little of it.

/// Implements `Clone` for a struct, so that `clone_from` copies those fields only that are not equal.
///
/// Searches copy a state into one that nobody needs any more, often one that was the same but for a step. A derived
/// `Clone` makes every collection anew even so; two-phase commit with a `Vec`, another one and a `BTreeSet` is searched
/// faster with this. Fields must be `Clone` and `Eq`; a field that is forgotten is a mistake that the compiler finds.
///
/// ```
/// use std::collections::BTreeSet;
///
/// #[derive(Debug, PartialEq, Eq, Hash)]
/// struct State {
///     working: Vec<bool>,
///     sent: BTreeSet<u8>,
/// }
/// stubborn_embed::clone_in_place!(State { working, sent });
///
/// let (one, mut other) = (
///     State { working: vec![true, false], sent: [1].into() },
///     State { working: vec![true, true], sent: [1].into() },
/// );
/// other.clone_from(&one);
/// assert_eq!(one, other);
/// ```
#[macro_export]
macro_rules! clone_in_place {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl ::std::clone::Clone for $type {
            fn clone(&self) -> Self {
                $type { $($field: ::std::clone::Clone::clone(&self.$field)),* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(
                    if self.$field != source.$field {
                        ::std::clone::Clone::clone_from(&mut self.$field, &source.$field);
                    }
                )*
            }
        }
    };
}
