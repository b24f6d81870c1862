//! Figures about an automaton.

use base::{Budget, Limit};

use crate::tgba::Tgba;

/// Figures about an automaton, ready to be printed as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Number of states.
    pub states: usize,
    /// Number of edges.
    pub edges: usize,
    /// Number of edges, each counted once per valuation of the declared propositions it may be
    /// taken with; `u64::MAX` stands for more.
    pub transitions: u64,
    /// Number of marks.
    pub acceptance: u32,
    /// Whether there is never a choice.
    pub deterministic: bool,
}

impl Stats {
    /// The figures of an automaton.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn of(tgba: &Tgba, budget: &mut Budget<'_>) -> Result<Stats, Limit> {
        let n_propositions = tgba.propositions().len();
        let edges = tgba.states().flat_map(|state| tgba.edges(state).iter().map(|edge| edge.label));
        let counts = edges.map(|label| tgba.labels().n_valuations(label, n_propositions));
        Ok(Stats {
            states: tgba.n_states(),
            edges: tgba.n_edges(),
            transitions: counts.fold(0, u64::saturating_add),
            acceptance: tgba.n_marks(),
            deterministic: tgba.is_deterministic(budget)?,
        })
    }
}
