//! An automaton of any kind, as a file may contain it.

use base::{Budget, Limit};
use ltl::{Lasso, Prop, Valuation};

use crate::by_change::{Ta, Tgta, ta_accepts, ta_accepts_finite, tgta_accepts};
use crate::extended::Extended;
use crate::tgba::Tgba;

/// An automaton of any kind. It comes from a text by [`hoa::read_any`](crate::hoa::read_any).
#[derive(Clone, Debug)]
pub enum AnyAutomaton {
    /// Watches values; a Büchi automaton is one, too.
    Tgba(Tgba),
    /// Watches changes, with acceptance on states.
    Ta(Ta),
    /// Watches changes, with marks on steps.
    Tgta(Tgta),
    /// Carries values on states.
    Extended(Extended),
}

impl AnyAutomaton {
    /// The propositions it may look at, sorted.
    pub fn propositions(&self) -> &[Prop] {
        match self {
            AnyAutomaton::Tgba(tgba) => tgba.propositions(),
            AnyAutomaton::Ta(ta) => ta.propositions(),
            AnyAutomaton::Tgta(tgta) => tgta.propositions(),
            AnyAutomaton::Extended(extended) => &extended.propositions,
        }
    }

    /// The automaton of the infinite words it accepts.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn to_tgba(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        match self {
            AnyAutomaton::Tgba(tgba) => Ok(tgba.clone()),
            AnyAutomaton::Ta(ta) => ta.to_tgba(budget),
            AnyAutomaton::Tgta(tgta) => tgta.to_tgba(budget),
            AnyAutomaton::Extended(extended) => extended.to_tgba(budget),
        }
    }

    /// Whether it accepts the infinite word, by the definition of its kind.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts(&self, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        match self {
            AnyAutomaton::Tgba(tgba) => crate::membership::accepts(tgba, lasso, budget),
            AnyAutomaton::Ta(ta) => ta_accepts(ta, lasso, budget),
            AnyAutomaton::Tgta(tgta) => tgta_accepts(tgta, lasso, budget),
            AnyAutomaton::Extended(extended) => extended.accepts(lasso, budget),
        }
    }

    /// Whether it accepts the finite word of a run that ends, by the definition of its kind; where that says
    /// nothing of ends, the last letter repeats for ever.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts_finite(&self, word: &[Valuation], budget: &mut Budget<'_>) -> Result<bool, Limit> {
        match self {
            AnyAutomaton::Ta(ta) => ta_accepts_finite(ta, word, budget),
            AnyAutomaton::Extended(extended) => extended.accepts_finite(word, budget),
            AnyAutomaton::Tgba(_) | AnyAutomaton::Tgta(_) => match word.split_last() {
                None => Ok(false),
                Some((last, prefix)) => {
                    self.accepts(&Lasso::with_cycle(prefix.to_vec(), last.clone(), []), budget)
                }
            },
        }
    }

    /// Whether it has nothing of its own to say about deadlocks: a run that ends is accepted iff it would be
    /// with its last state repeated for ever. Then [`AnyAutomaton::to_tgba`] loses nothing.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts_deadlocks_like_stuttering(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        match self {
            AnyAutomaton::Tgba(_) | AnyAutomaton::Tgta(_) => Ok(true),
            AnyAutomaton::Ta(ta) => Ok(ta.accepts_deadlocks_like_stuttering()),
            AnyAutomaton::Extended(extended) => extended.accepts_deadlocks_like_stuttering(budget),
        }
    }
}
