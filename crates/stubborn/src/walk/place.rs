//! Paths, and what there is to see where they lead.

use base::Limit;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Which of the choices it was.
    pub number: usize,
    /// What everybody sees of it.
    pub key: u64,
}

/// The way from an initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Which of the initial states it begins in.
    pub initial: usize,
    /// What happens.
    pub steps: Vec<PathStep>,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub struct Place {
    /// Equal states of one [generation](crate::Walker::generation) have equal ids, and different ones different ids.
    pub id: u128,
    /// The parts of the state, as people read them.
    pub state: Vec<(String, String)>,
    /// Where the processes are, if the language can tell.
    pub positions: Vec<String>,
    /// Variables whose values have names, with these names: where a drawing is to be lit.
    pub lit: Vec<String>,
    /// What can happen.
    pub choices: Vec<Choice>,
    /// Whether each expression that is watched is true; nothing where it cannot be evaluated.
    pub watched: Vec<Option<bool>>,
    /// Whether every process may stay where it is, as far as somebody can tell.
    pub may_end: bool,
}

/// Something that can happen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The step, to be added to the path.
    pub step: PathStep,
    /// Who does it.
    pub processes: Vec<String>,
    /// What it is called.
    pub action: String,
    /// What differs afterwards.
    pub changes: Vec<String>,
    /// The lines of the model's text that are executed, if the language can tell.
    pub lines: Vec<usize>,
    /// The id of the state that it leads to; or how the model goes wrong.
    pub leads_to: Result<u128, String>,
    /// The assertion that fails in it, if one does. Runs go on all the same, as they do for formulas.
    pub fails: Option<String>,
}

/// Why a walk at random ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// There were enough steps.
    Enough,
    /// Nothing can happen.
    Deadlock,
    /// The expression of this number has become true.
    Breakpoint(usize),
    /// The model goes wrong in the next step, or an assertion fails there.
    Fault(String),
}

/// What became of looking for a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A shortest way to it, from where the path leads.
    Found(Vec<PathStep>),
    /// There is none among so many states, which are all that can be reached.
    Nowhere(u64),
    /// None was found before a limit was reached.
    Limit(Limit, u64),
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A state in which an expression is true.
    Where(String),
    /// A state in which nothing can happen.
    Deadlock,
}
