//! What the caller may choose: definitions, and how large a model may be.

/// How a model is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Macros as by `-D name=text`, in order; the text may be empty.
    pub defines: Vec<(String, String)>,
    /// How large the model may be.
    pub limits: Limits,
}

/// How large a model may be. A model that is larger is refused with a message that names the limit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tokens after all macros and inlines are expanded, and steps of macro expansion.
    pub tokens: usize,
    /// How deep `#include`, macros and inlines may be nested, each on its own.
    pub nesting: usize,
    /// Scalars in one array, all levels of a typedef multiplied out.
    pub array: usize,
    /// Scalars in all variables together.
    pub variables: usize,
    /// Messages in one channel.
    pub capacity: usize,
    /// Scalars in one message.
    pub message: usize,
    /// Processes that exist at the same time: more cannot be active from the start, and `run` waits.
    pub processes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            tokens: 1_000_000,
            nesting: 64,
            array: 100_000,
            variables: 1_000_000,
            capacity: 255,
            message: 512,
            processes: 255,
        }
    }
}
