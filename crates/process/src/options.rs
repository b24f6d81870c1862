//! How a file is to be read.

/// How a file is to be read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values that replace those of constants, as `-D N=13` does; of several for one name, the
    /// last counts.
    pub constants: Vec<(String, i64)>,
    /// How large the network may become.
    pub limits: Limits,
}

/// How large a network may become. Nothing larger is ever built: a file that asks for more is
/// refused with the place that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes; testers and specs are counted too. By default one million.
    pub processes: u64,
    /// States of processes, testers and specs; processes that differ only in their parameters
    /// usually share them, and then they count once. By default four million.
    pub states: u64,
    /// Moves of all processes, testers and specs, and entries of their lists. By default three
    /// million.
    pub transitions: u64,
    /// Values that the variables of `for` go through where there is a `when`, also if nothing comes
    /// of it. By default twenty million.
    pub copies: u64,
    /// Actions of the action system. By default two million.
    pub actions: u64,
    /// Participants of all actions, and cells of their tables. By default fifty million.
    pub cells: u64,
    /// Nodes of expressions about states, with quantifiers written out. By default ten million.
    pub nodes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            processes: 1_000_000,
            states: 4_000_000,
            transitions: 3_000_000,
            copies: 20_000_000,
            actions: 2_000_000,
            cells: 50_000_000,
            nodes: 10_000_000,
        }
    }
}
