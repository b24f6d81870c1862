//! An automaton of any kind, as a file may contain it.

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
    pub fn to_tgba(&self) -> Tgba {
        match self {
            AnyAutomaton::Tgba(tgba) => tgba.clone(),
            AnyAutomaton::Ta(ta) => ta.to_tgba(),
            AnyAutomaton::Tgta(tgta) => tgta.to_tgba(),
            AnyAutomaton::Extended(extended) => extended.to_tgba(),
        }
    }

    /// Whether it accepts the infinite word, by the definition of its kind.
    pub fn accepts(&self, lasso: &Lasso) -> bool {
        match self {
            AnyAutomaton::Tgba(tgba) => crate::membership::accepts(tgba, lasso),
            AnyAutomaton::Ta(ta) => ta_accepts(ta, lasso),
            AnyAutomaton::Tgta(tgta) => tgta_accepts(tgta, lasso),
            AnyAutomaton::Extended(extended) => extended.accepts(lasso),
        }
    }

    /// Whether it accepts the finite word of a run that ends, by the definition of its kind; where that says
    /// nothing of ends, the last letter repeats for ever.
    pub fn accepts_finite(&self, word: &[Valuation]) -> bool {
        match self {
            AnyAutomaton::Ta(ta) => ta_accepts_finite(ta, word),
            AnyAutomaton::Extended(extended) => extended.accepts_finite(word),
            AnyAutomaton::Tgba(_) | AnyAutomaton::Tgta(_) => {
                let lasso = word
                    .split_last()
                    .and_then(|(last, prefix)| Lasso::new(prefix.to_vec(), vec![last.clone()]));
                lasso.is_some_and(|lasso| self.accepts(&lasso))
            }
        }
    }

    /// Whether it has nothing of its own to say about deadlocks: a run that ends is accepted iff it would be
    /// with its last state repeated for ever. Then [`AnyAutomaton::to_tgba`] loses nothing.
    pub fn accepts_deadlocks_like_stuttering(&self) -> bool {
        match self {
            AnyAutomaton::Tgba(_) | AnyAutomaton::Tgta(_) => true,
            AnyAutomaton::Ta(ta) => ta.accepts_deadlocks_like_stuttering(),
            AnyAutomaton::Extended(extended) => extended.accepts_deadlocks_like_stuttering(),
        }
    }
}
