//! Enumerations that have one word for each of their values: what people and programs read.

/// Defines such an enumeration.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$what])* $value,)*
        }

        impl $name {
            /// The word for it.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$value => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

pub(crate) use words;
