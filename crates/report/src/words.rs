//! Enumerations that have one word for each of their values, which is what programs read.

/// Defines such an enumeration.
macro_rules! words {
    ($(#[$about:meta])* $Name:ident { $($values:tt)* }) => {
        base::define_words! {
            $(#[$about])*
            pub enum $Name { $($values)* }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

pub(crate) use words;
