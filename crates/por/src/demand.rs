//! What a stubborn set is asked for: the state, what an observer lets happen there, and what must be preserved.

use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem};

/// What an observer that stays where it is lets happen, in one of its states: the actions that may
/// move it, and those that cannot happen before it has moved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    pub(crate) follows: Vec<u32>,
    pub(crate) refuses: FixedBitSet,
}

impl Offer {
    /// An observer that may follow some actions and refuses others. An action must be followed if
    /// it may move the observer in *some* state that is reached without moving it; it may be refused
    /// only if it cannot happen in any of these.
    pub fn new(
        system: &ActionSystem,
        follows: impl IntoIterator<Item = ActionId>,
        refuses: impl IntoIterator<Item = ActionId>,
    ) -> Offer {
        let mut set = FixedBitSet::with_capacity(system.actions().len());
        set.extend(refuses.into_iter().map(ActionId::index));
        let mut follows: Vec<u32> = follows.into_iter().map(|action| action.index() as u32).collect();
        follows.sort_unstable();
        follows.dedup();
        Offer { follows, refuses: set }
    }
}

/// A state of a system and an observer: what can happen there.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The state of the system.
    pub state: &'a [u32],
    /// The actions enabled in it that the observer lets happen.
    pub enabled: &'a [ActionId],
    /// For each of them, whether it moves the observer.
    pub moves: &'a [bool],
    /// The actions enabled in it that the observer does not let happen now.
    pub blocked: &'a [ActionId],
}

/// What must be preserved.
#[derive(Clone, Copy, Debug)]
pub enum Demand<'a> {
    /// Deadlocks.
    Deadlocks,
    /// Deadlocks, faults, and whether a state can be reached that an observer waits for: a set with an action that does
    /// not move the observer and leads ahead, or all. Whether it leads ahead, the caller knows.
    Safety,
    /// Whether an observer that moves with the system finds some error, in its present state.
    Observer {
        /// What it follows and refuses.
        offer: &'a Offer,
        /// A number of the offer: whoever asks has no other of the same number.
        number: u32,
        /// Whether it is an error if it never moves again (S_L of a tester, G of a TA).
        may_wait: bool,
        /// Whether it is an error if the system ends here (S_D of a tester).
        deadlock: bool,
        /// Whether smaller sets may be tried that do not lead the observer on, if the caller accepts
        /// them.
        hybrid: bool,
    },
    /// Whether an observer accepts a fair run, in its present state: see the module `fair`. A set must be accepted, by
    /// somebody who sees to it that nothing [relevant](crate::StubbornSets::relevant) is left out for ever.
    Fair {
        /// What it follows. What it refuses does not count: a constraint may be enabled all the same.
        offer: &'a Offer,
        /// A number of the offer: whoever asks has no other of the same number.
        number: u32,
        /// No accepted run has the observer here infinitely often.
        passing: bool,
        /// An accepted run may have the observer here for ever without seeing anything.
        may_wait: bool,
        /// A run may be an error because it ends where the observer blocks all that is enabled: so if anything can happen,
        /// something does.
        ends: bool,
    },
    /// Whether a state can be reached that is not reached before one of these actions has happened.
    Goal(&'a [u32]),
    /// All words up to stuttering: a set that moves no observer, if the caller accepts it, or all.
    Words,
}

/// A rule that can be left out, to see that tests notice. Without it sets are not sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Rule {
    /// Where waiting is not accepted, all that the observer follows is in the set.
    Progress,
    /// Where waiting is accepted, something silent is in the set, if anything is; no set that keeps fair runs is led there.
    Waiting,
    /// With one action that moves the observer come all that it follows.
    OneMovesAllMove,
    /// The observer is a reason only for what it refuses whatever silent actions do first.
    RefusedForGood,
    /// Smaller sets must close no cycle.
    Proviso,
    /// A set that all words survive moves no observer.
    Invisible,
    /// What decides which propositions an action flips comes along.
    Watched,
    /// A process goes on alone only if all that its actions need is kept by its location.
    Alone,
    /// What makes a constraint enabled does not overtake what disables it.
    Flip,
    /// Something in the set will happen, or does no harm.
    Key,
    /// What makes a constraint a key is all that can take it.
    Shut,
    /// With one action that is seen come all that the observer may follow.
    Order,
    /// Nothing that matters is left out along a whole cycle. (Its user's business.)
    Cycle,
    /// An observer by value waits while what it sees stays the same. (Its user's business.)
    WaitingForm,
}
