//! How long to look for sets that remove little: taking all enabled actions is always valid.
//!
//! Who looks at many vertices must have earned it: every state gives a little, every step that is removed as much as it
//! would have taken, and a state that is not found for it much more. How many are not is estimated by the caller, who
//! looks for some of them later. So looking never takes much longer than what it is compared with, to expand states,
//! unless it keeps states away. Where nothing at all is removed for a while, or so little that to ask takes longer than what
//! it saves, most states are not even looked at. Sets are grown (module `grow`) only while half of what may be earned is left,
//! so that nobody is too poor in the end for the sets that need not be.

/// What was earned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How many vertices may still be looked at.
    credit: i64,
    /// Of so many steps that are removed, how many lead to states that are not found, about.
    n_lost: i64,
    /// What it saved to ask in the last states, without what it takes: the average, in parts of a window.
    worth: i64,
    /// In how many states nothing was removed, or too little on average, one after the other.
    n_idle: u32,
    /// How many states are not looked at.
    rest: u32,
    /// None of this matters now.
    insists: Option<Effort>,
}

/// How a set is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// In one pass.
    Plain,
    /// Then smaller ones are grown, if the demand is one for which that is done.
    Grown,
}

impl Patience {
    /// What there is at first, and at most: a few milliseconds.
    const MOST: i64 = 1 << 19;
    /// What a state gives, what a step gives that need not be fired, hashed and looked up, and what a state that need not be
    /// expanded.
    const PER_STATE: i64 = 4;
    const PER_STEP: i64 = 4;
    const PER_LOST: i64 = 96;
    /// To recall takes as long as so many looks.
    const RECALL: i64 = 4;
    /// To ask at all takes as long as so many looks: what is enabled must be found before it is known what is taken.
    const ASK: i64 = 16;
    /// The average is one of so many states, about; at first, much is hoped for.
    const WINDOW: i64 = 1 << 10;
    const HOPE: i64 = 256;
    /// The steps of the estimate.
    const SCALE: i64 = 256;
    /// Some are lost, as long as nobody says how many.
    const SOME_LOST: i64 = Patience::SCALE / 4;
    /// After so many states without success one is not looked at before the next that is, then two, and so on, up to
    /// so many.
    const IDLE: u32 = 32;
    const MOST_REST: u32 = 15;

    pub(crate) fn new() -> Patience {
        Patience {
            credit: Patience::MOST,
            n_lost: Patience::SOME_LOST,
            worth: Patience::HOPE * Patience::WINDOW,
            n_idle: 0,
            rest: 0,
            insists: None,
        }
    }

    /// Whether to try however long it takes, and how.
    pub(crate) fn insist(&mut self, insists: Option<Effort>) {
        self.insists = insists;
    }

    /// Whether this state is not looked at.
    #[inline]
    pub(crate) fn rests(&mut self) -> bool {
        self.rest = self.rest.saturating_sub(1);
        self.rest > 0
    }

    /// Whether to try in this state.
    pub(crate) fn tries(&mut self) -> bool {
        self.credit += Patience::PER_STATE;
        let tries = self.credit > 0 || self.insists.is_some();
        if !tries {
            self.removed(0);
        }
        tries
    }

    /// How to try.
    pub(crate) fn effort(&self) -> Effort {
        let is_rich = self.credit > Patience::MOST / 2;
        self.insists.unwrap_or(if is_rich { Effort::Grown } else { Effort::Plain })
    }

    /// What so many steps give that are removed.
    fn gain(&self, n_removed: usize) -> i64 {
        n_removed as i64 * (Patience::PER_STEP + Patience::PER_LOST * self.n_lost / Patience::SCALE)
    }

    /// Told how many steps were removed in a state.
    pub(crate) fn removed(&mut self, n_removed: usize) {
        self.worth += self.gain(n_removed) - Patience::ASK - self.worth / Patience::WINDOW;
        let is_some = n_removed > 0 && self.worth > 0;
        self.n_idle = if is_some { 0 } else { self.n_idle.saturating_add(1) };
        self.rest = (self.n_idle / Patience::IDLE).min(Patience::MOST_REST) + 1;
    }

    /// Told what trying has cost.
    pub(crate) fn learn(&mut self, n_chosen: usize, n_enabled: usize, n_looks: u64) {
        let n_removed = n_enabled - n_chosen;
        let cost = Patience::RECALL + n_looks as i64;
        self.credit = (self.credit + self.gain(n_removed) - cost).min(Patience::MOST);
        self.removed(n_removed);
    }

    /// Told whether a state that a removed step leads to was found all the same.
    pub(crate) fn learn_of_state(&mut self, is_known: bool) {
        let n_lost = if is_known { 0 } else { Patience::SCALE };
        self.n_lost += (n_lost - self.n_lost) / 16;
    }

    /// The same where it may be found later: that it was not found says little.
    pub(crate) fn learn_of_state_so_far(&mut self, is_known: bool) {
        self.learn_of_state(is_known);
        self.n_lost = self.n_lost.min(Patience::SOME_LOST);
    }
}
