//! All states of a model as a decision diagram: for questions about states that are too many to be listed.

use base::{Budget, Limit, Natural};
use model::{ExprId, Exprs};

use crate::Enabled;

/// How large a state space is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// States.
    pub states: Natural,
    /// Steps from one of them to another.
    pub transitions: Natural,
    /// The greatest sum of all variables in a state.
    pub most_together: i128,
    /// The greatest value of a variable.
    pub most: i64,
}

/// All states of a model. Whatever it says is so of all of them; nothing is said of what it cannot look at.
pub trait Diagram: Send {
    /// How large the state space is.
    ///
    /// # Errors
    /// The budget is spent.
    fn extent(&mut self, budget: &mut Budget<'_>) -> Result<Extent, Limit>;

    /// Whether an expression has a truth in some state.
    ///
    /// # Errors
    /// The budget is spent.
    fn is_possible(
        &mut self,
        exprs: &Exprs,
        expr: ExprId,
        truth: bool,
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>, Limit>;

    /// Whether nothing is enabled in some state.
    ///
    /// # Errors
    /// The budget is spent.
    fn has_deadlock(&mut self, budget: &mut Budget<'_>) -> Result<bool, Limit>;

    /// The greatest value of an expression.
    ///
    /// # Errors
    /// The budget is spent.
    fn greatest(
        &mut self,
        exprs: &Exprs,
        expr: ExprId,
        budget: &mut Budget<'_>,
    ) -> Result<Option<i64>, Limit>;

    /// Whether from every state one can be reached in which each of these is enabled.
    ///
    /// # Errors
    /// The budget is spent.
    fn are_live(
        &mut self,
        exprs: &Exprs,
        each: &[Enabled],
        budget: &mut Budget<'_>,
    ) -> Result<Option<bool>, Limit>;
}
