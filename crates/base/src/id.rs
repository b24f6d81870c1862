//! Typed ids: an index into one particular table, that cannot be used for another.

/// Defines a `u32` id type with `new`, `index`, ordering, hashing and a short `Debug`.
///
/// ```
/// stubborn_base::define_id! {
///     /// A row of the table.
///     pub struct RowId;
/// }
/// let row = RowId::new(3);
/// assert_eq!(row.index(), 3);
/// assert_eq!(format!("{row:?}"), "RowId(3)");
/// ```
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $Name(u32);

        impl $Name {
            /// The id of the table's entry at `index`.
            ///
            /// # Panics
            /// If `index` does not fit 32 bits; tables are bounded well below that.
            #[inline]
            $vis fn new(index: usize) -> Self {
                $Name(u32::try_from(index).expect("a table of fewer than 2^32 entries"))
            }

            /// The index of the entry in its table.
            #[inline]
            $vis fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({})", stringify!($Name), self.0)
            }
        }
    };
}
