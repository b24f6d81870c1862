//! Sets that depend on the state alone, and are chosen by plain words: for machines that know no Rust, and for who wants to find
//! what these find.
//!
//! [`StubbornSets::choose`] remembers, and looks for sets as long as that pays. Here the same rules (the head of this crate) are
//! followed by something much simpler, which a lane of a graphics processor can do, too: [`Words::choose`] is the definition, and
//! a kernel is a second reading of it. So a device and the processor take the same steps out of every state, in whatever order states are
//! met.
//!
//! - Of a disabled action, all guards on single variables are looked at that are false, and of each of them up to three reasons: who may
//!   make it true, who can write its control variable now, and who leads this out of the values that it can get by enabled
//!   actions. The one with the fewest enabled actions in it is taken, and the first of these. If no such guard is false, it is the
//!   first expression that is; and if nothing is, the action waits until nothing else can happen.
//! - For deadlocks, the closure of each enabled action is made. The one with the fewest enabled actions is taken, and the
//!   first of these. (Each closed set with something enabled contains such a closure, so none is smaller, by these reasons.)
//! - For a goal, the closure is taken of the actions that it is attracted by ([`Attractor`]), or of those that may make it true
//!   anywhere, if these are fewer. Of an expression, only a disjunction of conjunctions is looked into.
//! - For an observer that moves with the system, it is a guided set (the head of this crate): where waiting is accepted, the smallest
//!   closure of an enabled action that does not move it, or of any if there is none; elsewhere the closure of all that it may follow. What it
//!   follows and refuses is said by its state and by what it sees ([`Led`]).
//!
//! # The words
//! Places are counted from the first word; what it stands for is in [`part`]. A list is where it begins and where it ends. Its items
//! are vertices, that is actions and behind them hubs, or with [`USERS`] or [`WRITERS`] a control variable, which stands for its
//! list in the present row. A guard has 8 words: its enablers; a variable and a list that holds instead while it is not 0; a control
//! variable, and in two words the rows of it where the guard is true. A control variable has 3: the variable, where its rows are, how many;
//! a row has three lists: users, writers, moves (actions and rows, by turns). An offer has 4: flags ([`MAY_WAIT`], [`MAY_END`]), the list of what
//! the observer may follow, and where a bit for each action is that it refuses for good.
//!
//! # Limits
//! A system with more than [`MAX_VERTICES`] actions and hubs has no such words, nor has one with very long lists.

mod choosing;
mod making;

pub use choosing::{Bits, Facts, Words, has};

use base::{Budget, Limit};

use crate::attract::Attractor;
use crate::choose::StubbornSets;
use crate::demand::Offer;

/// There are at most so many actions and hubs.
pub const MAX_VERTICES: usize = 4096;

/// What the first words are.
#[allow(missing_docs)] // The names say it.
pub mod part {
    pub const N_ACTIONS: usize = 0;
    pub const N_VERTICES: usize = 1;
    /// Per action, a list.
    pub const NEEDS: usize = 2;
    /// Per hub, a list.
    pub const HUBS: usize = 3;
    /// Per action, where its guards on single variables begin, where its expressions do, and where they end.
    pub const GUARDS_OF: usize = 4;
    pub const GUARDS: usize = 5;
    pub const CONTROLS: usize = 6;
    /// The hub that is in every set, plus 1.
    pub const OPEN: usize = 7;
    /// Where the goal is; 0 for deadlocks. There it is how many conjunctions there are; then for each how many parts, and these.
    pub const GOAL: usize = 8;
    /// The list of all that may make the goal true: where it begins, and where it ends.
    pub const ANYWHERE: usize = 9;
    /// Whether a step may be several actions.
    pub const HAS_CHAINS: usize = 11;
    /// Where the offers are: for each number that an observer's state may have together with what it sees, where its offer is. 0 if there
    /// is no observer. If there is, the last vertex is what it follows.
    pub const OFFERS: usize = 12;
    pub const LEN: usize = 13;
}

/// Words of a part of a goal: how many terms a sum has, where they are (a variable and a factor of two words each), a constant of
/// two words, for which signs it is true, and lists of who can change that if it is negative, 0, positive.
const PART: usize = 11;

/// The signs for which a part is true, as bits: negative, 0, positive. With this bit, nobody knows.
const UNKNOWN: u32 = 8;

/// Nothing.
pub const NONE: u32 = u32::MAX;
/// Marks a control variable whose users are meant.
pub const USERS: u32 = 1 << 30;
/// Marks a control variable whose writers are meant.
pub const WRITERS: u32 = 1 << 31;

/// Flags of an offer: it is an error if the observer never moves again.
pub const MAY_WAIT: u32 = 1;
/// It is an error if the system ends here.
pub const MAY_END: u32 = 2;

/// What sets are to keep.
#[derive(Clone, Copy, Debug)]
pub enum Keeps<'k> {
    /// All deadlocks.
    Deadlocks,
    /// Whether a goal can be reached, which all of these actions may make true.
    Goal(&'k Attractor, &'k [u32]),
    /// Whether an observer that moves with the system finds some error.
    Errors {
        /// What it may offer.
        offers: &'k [Led],
        /// Which of these it does, by a number for its state and what it sees.
        of: &'k [u32],
    },
}

/// What an observer offers in a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Led {
    /// What it follows and refuses.
    pub offer: Offer,
    /// Whether it is an error if it never moves again.
    pub may_wait: bool,
    /// Whether it is an error if the system ends here.
    pub may_end: bool,
}

/// The words by which sets are chosen.
#[derive(Clone, Debug)]
pub struct SteadySets {
    words: Vec<u32>,
    n_guards: usize,
}

/// A part of a set that can be forgotten, to see that tests notice. Without it sets are not sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Forgotten {
    /// What comes with an enabled action.
    Needs,
    /// What must happen before a disabled one can.
    Enablers,
    /// Who leads a control variable out of the values that it can get.
    Moves,
    /// What leads to a goal.
    Goal,
    /// What an observer may follow.
    Follows,
    /// That an observer must move on where waiting is not accepted.
    Progress,
    /// That something must not move the observer where waiting is accepted.
    Waiting,
    /// That an observer refuses only what it refuses whatever happens first.
    ForGood,
}

impl SteadySets {
    /// The words for what is to be kept. Nothing if there are too many.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn new(
        sets: &StubbornSets<'_>,
        keeps: Keeps<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<SteadySets>, Limit> {
        making::make(sets, keeps, budget)
    }

    /// All words. What they mean is said by [`Words`].
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The same without a part: wrong, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, forgotten: Forgotten) -> SteadySets {
        let words = &mut self.words;
        let guards = words[part::GUARDS] as usize..words[part::GUARDS] as usize + 8 * self.n_guards;
        match forgotten {
            Forgotten::Needs => {
                let (start, n) = (words[part::NEEDS] as usize, words[part::N_ACTIONS] as usize);
                words[start..start + 2 * n].fill(0);
            }
            Forgotten::Enablers => {
                words[guards].chunks_exact_mut(8).for_each(|guard| guard[..3].copy_from_slice(&[0, 0, NONE]));
            }
            Forgotten::Moves => {
                words[guards].chunks_exact_mut(8).for_each(|guard| guard[6..].fill(0));
            }
            Forgotten::Goal => {
                words[part::ANYWHERE + 1] = words[part::ANYWHERE];
            }
            Forgotten::Follows | Forgotten::Progress | Forgotten::Waiting | Forgotten::ForGood => {
                self.change_offers(forgotten);
            }
        }
        self
    }

    fn change_offers(&mut self, forgotten: Forgotten) {
        let words = &mut self.words;
        let n_bits = words[part::N_ACTIONS].div_ceil(32) as usize;
        // They are the last words.
        for at in words[part::OFFERS] as usize..words.len() {
            let offer = words[at] as usize;
            match forgotten {
                Forgotten::Follows => words[offer + 2] = words[offer + 1],
                Forgotten::Progress => words[offer] |= MAY_WAIT,
                Forgotten::Waiting => words[offer] &= !MAY_WAIT,
                _ => {
                    let refused = words[offer + 3] as usize;
                    words[refused..refused + n_bits].fill(u32::MAX);
                }
            }
        }
    }
}
