//! Enumerations whose values are written in one way: words that people and programs read, and the tokens of
//! a language.

/// Defines an enumeration with one word for each of its values.
///
/// ```
/// stubborn_base::define_words! {
///     /// A season.
///     pub enum Season {
///         /// Leaves fall.
///         Autumn = "autumn",
///         /// Snow falls.
///         Winter = "winter",
///     }
/// }
/// assert_eq!(Season::ALL, [Season::Autumn, Season::Winter]);
/// assert_eq!(Season::Winter.to_string(), "winter");
/// assert_eq!(Season::named("autumn"), Some(Season::Autumn));
/// ```
#[macro_export]
macro_rules! define_words {
    ($(#[$about:meta])* $vis:vis enum $Name:ident { $($(#[$what:meta])* $Value:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $Name {
            $($(#[$what])* $Value,)*
        }

        #[allow(dead_code, reason = "not everybody needs all of them")]
        impl $Name {
            /// All values, in their order.
            $vis const ALL: [$Name; [$($word),*].len()] = [$($Name::$Value),*];

            /// The word for it.
            $vis fn name(self) -> &'static str {
                match self {
                    $($Name::$Value => $word,)*
                }
            }

            /// The value that the word is for.
            $vis fn named(word: &str) -> Option<$Name> {
                match word {
                    $($word => Some($Name::$Value),)*
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// Defines the kinds of tokens of a language, for `logos` to read: those that may be written in many ways, each
/// with what it is called in messages, and the signs, which are written in one.
#[macro_export]
macro_rules! define_tokens {
    (
        $(#[$about:meta])*
        $vis:vis enum $Kind:ident {
            $($(#[$how:meta])* $Other:ident $(($value:ident: $of:ty))? = $called:expr,)*
        }
        signs {
            $($(#[$what:meta])* $Sign:ident = $sign:tt,)*
        }
    ) => {
        $(#[$about])*
        $vis enum $Kind {
            $($(#[$how])* $Other $(($of))?,)*
            $($(#[$what])* #[token($sign)] $Sign,)*
        }

        impl $Kind {
            /// How it is written, if it is a sign.
            #[allow(dead_code, reason = "not everybody needs it")]
            $vis fn sign(self) -> Option<&'static str> {
                match self {
                    $($Kind::$Sign => Some($sign),)*
                    _ => None,
                }
            }
        }

        impl ::std::fmt::Display for $Kind {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $($Kind::$Other $(($value))? => write!(f, "{}", $called),)*
                    $($Kind::$Sign => write!(f, "`{}`", $sign),)*
                }
            }
        }
    };
}
