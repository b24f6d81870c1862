//! Stubborn sets under fairness: what must come along, so that of every fair run that matters a fair one is left.
//!
//! A constraint `c` has a set of actions `F_c`, and another, `S_c`, that contains it. It is *enabled* in a state if one
//! of `F_c` is, and *taken* by a step that begins with one of `S_c`. A run is fair to a weak constraint if it is taken,
//! or not enabled, infinitely often; to a strong one if it is taken infinitely often, or not enabled from some point
//! on. For these two `S_c` is `F_c`. *Justness* to `F_c` is a weak constraint where `S_c` is all that interferes with
//! `F_c` (`model::fairness`). Fairness does not survive when independent
//! actions change places, so classical sets are unsound here. Rules that are sound have been known for actions that
//! change nobody's enabledness (Holzmann and Peled), or where all that does is kept in order (Peled). What is kept in
//! order here is less.
//!
//! # The rules
//! In a state `(s, q)` of the product a set `T` of actions is chosen; all of it that can happen there is taken.
//! Actions that the observer blocks count as enabled: a constraint may be enabled by them.
//!
//! - *Closed.* Rules 1, 2 and 4 of the crate, with respect to the system: while actions outside `T` happen, enabled
//!   ones of `T` stay enabled and can be moved to the front, with the same effect and flipping the same propositions;
//!   disabled ones stay disabled.
//! - *ORDER.* If an action of `T` flips a proposition now, all actions are in `T` that the observer may follow in
//!   `q`, under the present valuation (`Rule::Order`).
//! - *KEY.* `T` is *led*: no accepted run has the observer stay in `q` for ever without seeing anything, and `T` has all
//!   actions that the observer may follow in `q`, under the present valuation (`Rule::Waiting`); then nothing of it need be enabled.
//!   Or `T` has an enabled action `a`, the *key*, such that (K1) it flips no proposition now, the observer lets
//!   it happen, and it never makes a guard true of an action of an `F_c` that it is not in itself; or (K2) it is
//!   in some `F_c`, and no action of `S_c` outside of `T` can happen before one of `T` has (`Rule::Key`). Let `S_c` be
//!   `F_c`. K2 holds if `F_c` has one action; or if `a` writes a control variable `v` on which all of `F_c` have a guard of their own:
//!   all that use `v` now are in `T`, by rule 2, and until one of them happens `v` keeps its value, so that the
//!   others are disabled. A process that moves is such a case. Otherwise what is missing is added: all that use `v`
//!   now, if all of `F_c` have a guard on `v`; else all of `F_c`. For justness, rule 2 has brought along all of `S_c`
//!   that write a control variable which guards of `a` read, and all that have a guard on one that `a` writes, or they are
//!   disabled until that variable changes; the others are added (`Rule::Shut`).
//! - *FLIP.* Call a guard of `F_c` *frozen* if nobody outside of `S_c` flips it again and again (module `recur`). Let
//!   `B` be the actions of `F_c` whose frozen guards hold now. A *watched set* `κ` has, for a strong constraint, the
//!   other guards of one action of `B`; for a weak one, one other guard of each action of `B`. If an action of `B` has
//!   no other guard, nothing is watched: it is enabled until `c` is taken. If an enabled action
//!   of `T` outside `S_c` may make a guard of `κ` true, again and again, then all are in `T` that may make a guard of
//!   `κ` false, again and again, and are outside of `S_c` (`Rule::Flip`). That is not needed where `q` is *passing*:
//!   no accepted run has the observer there infinitely often. For justness it asks for nothing: whatever writes what
//!   guards of `F_c` read is in `S_c`, so that all guards are frozen.
//! - *CYCLE*, which is up to the search: some states take further actions `E`, and there is no relevant action `b`,
//!   and no cycle of steps of sets `T`, such that `b` can happen in each of its states and is in neither `T` nor `E`
//!   (`Rule::Cycle`). *Relevant* are: actions that may flip a proposition, all of `F_c` and `S_c`, open actions
//!   (rule 4); and whatever writes a variable that a relevant action, or a proposition that may be flipped, reads or
//!   writes. If one of them is quiet (`timeout`), all are.
//!
//! The observer reads *lazily*: a word is accepted iff some accepted run of it moves once for each block of equal
//! letters, and waits otherwise; while it waits it stays in one state, and only if it does so for ever the marks of
//! waiting matter. That is so for automata in waiting form (`automata::waiting`), and for TGTA with a stuttering loop on
//! each state, explicit or made while they watch. A TA is one, too, that accepts in livelock states by staying there; a
//! second pass finds these runs in the graph that the first one explored and repaired. For a tester, read *flips a
//! proposition* as *is watched*; but a set in which it blocks all that is enabled is not taken, since it may be an error that
//! the system ends together with the tester. (docs/fair-reduction.md has the proofs for all of these.)
//!
//! **Theorem.** The full product has a fair accepted run iff the reduced one has.
//!
//! # Proof
//! A run of the reduced product is one of the full product, and whether it is fair is judged by states of the system.
//! For the other direction let `r` be a fair accepted run from an initial state, read lazily; there may be several
//! initial states, all are explored. A run `r′` of the reduced product is built step by step. In `(s_i, q_i)`, with
//! the sets `T` and `E` of that state, `ρ_i` is what is left to be done: a sequence of actions that can happen from
//! there. Call `s_i ρ_i` the run that does it.
//!
//! *What is left.* (A) If `r` ends in a deadlock, `ρ_0` is all of `r`. (B) If `r` has infinitely many relevant
//! actions, `ρ_0` is these. Nothing irrelevant writes what they, or propositions that are flipped, read or write; so
//! they can happen without the others, all guards of constraints and all letters being the same. (C) If `r` goes on
//! for ever, but has finitely many relevant actions, `ρ_0` is all of `r`; in the end no constraint is taken, what is
//! enabled of them does not change, and so, `r` being fair, none is enabled.
//!
//! *Steps.* (0) If the first action of `ρ_i` is in `T` or `E`, it is taken. It can happen in `(s_i, q_i)`; so where `T` has
//! all that can, which is what is taken if no set is found, nothing else is asked of it. (1) Otherwise, if `ρ_i` has actions of
//! `T`, the first of them, `a`, is enabled and is moved to the front. If it flips a proposition then it does so now,
//! and by ORDER nothing before it in `ρ_i` flips one, since the first that does is one that the observer follows in
//! `q_i`: so the observer follows `a` now as it does later. (2) Otherwise the key is taken, and put in front of
//! `ρ_i`. `T` is not led: the observer sees something of `ρ_i`, and the first of that is an action that it follows in `q_i`. K2 is
//! impossible: the key would stay enabled along `s_i ρ_i`, and its constraint would never be taken; but
//! `s_i ρ_i` is fair. So K1: the key commutes with all of `ρ_i`, and flips nothing along it. In each case what is
//! left can happen afterwards, and has the letters that it had, up to stuttering.
//!
//! *`s_i ρ_i` is fair.* Steps (0) and (1) change only a beginning of it. Let (2) take `a`. If `a` is in `F_c`, `c`
//! is enabled for ever along `s_i ρ_i`, so it is taken infinitely often; that does not change. If it is not, though it
//! may be in `S_c`, `a` makes none of the guards of `F_c` true: wherever `c` was disabled before it is so behind `a`.
//! In (A), a key would be enabled at the end, which is a deadlock; so there are no steps (2). In (C) no constraint is
//! enabled at the end, so no key is in any `F_c`, and again none is enabled.
//!
//! *Nothing is lost.* (A) Every step takes an action of `r`, so `r′` comes to the same deadlock. (B) Let `b` be the
//! first action of `ρ_i`. While it is not taken it stays the first, can happen in the product, and is in neither `T`
//! nor `E`; all steps are steps of sets `T`. There are finitely many states, so if `b` were never taken there were a
//! cycle that CYCLE forbids. (C) Let `b` be the first relevant action of `ρ_i`, which can happen now, too, and
//! suppose that none of the relevant ones of `ρ_i` is ever taken. Then from some `j` on, no irrelevant one in front
//! of the last of them is taken, as there are finitely many of these. From there on the action `t_j` of a step is a
//! key, or stands in `ρ_j` behind all relevant ones. Either way those are not in `T`, so `t_j` commutes with the
//! sequence `β` of the relevant actions of `ρ_j`, which can happen by themselves: `t_j t_{j+1} …` can happen after
//! `β`. By CYCLE, as all steps are of sets `T`, in some of these states `b` is in `E`. There let `r′` take `b`, and
//! let `ρ_{j+1}` be the rest of `β` and then `t_j t_{j+1} …`: it has the same letters, since no `t_j` flips anything;
//! it goes on for ever; and in its end no constraint is enabled, since no `t_j` makes a guard of one true. Fillers
//! like these count as irrelevant from now on. So all relevant actions of `r` are taken some day. What remains is an
//! infinite sequence of actions that flip nothing and make no guard of a constraint true, and so is what `r′` does in
//! the end.
//!
//! *Words.* So `r′` ends iff `r` does; it has all actions of `r` that may flip propositions, and what flips stays in
//! order. So it has the word of `r` up to stuttering, and the observer the same moves: it accepts. `T` may depend on
//! `q`, since the moves do not depend on how often letters repeat.
//!
//! *Fairness.* In (A) and (C) `r′` has a point from which on no constraint is enabled. In (B) let `c` be a
//! constraint. If it is taken infinitely often in `ρ_0`, or by keys, so it is in `r′`. Otherwise no key is in `F_c`: it
//! would be enabled for ever. Let `P` be a beginning of `ρ_0`, `s_P` the state behind it, and `X_j` what was taken in `r′` up
//! to `s_j`. By induction on `j`: from `s_P` the actions `X_j∖P` can happen, in the order of `r′`; from `s_j` the
//! actions `P∖X_j`, in that of `ρ_0`; and both lead to the same state `z`. For, `P∖X_j` is a beginning of `ρ_j`. If
//! the next step takes an action of it, that is moved to its front, and `z` remains; if it takes another, that
//! commutes with all of `P∖X_j`, and happens after `z`. Let from now on `j` be so large, and `P` so long, that behind
//! them there is no action any more that happens finitely often, but keys, of those in `S_c`, and of those that can
//! happen only finitely often without `S_c`; that no key in `S_c` comes any more; that no passing state of the observer comes, as `r′` is accepted; and
//! that `P` has all of `ρ_0` that was taken before such a `j`. (To *raise* and to *lower* a watched set is to make
//! one of its guards true, or false.) Then
//!
//! - frozen guards of `F_c` keep their values, in `r` and in `r′`. One that is true in the end of `r′` is so in the
//!   end of `r`: `P∖X_j` leaves it as it is, and `X_j∖P`, keys included, does not make it true. So `B` in the end of
//!   `r′` is part of the `B` in the end of `r`. None of it has frozen guards only: it would be enabled for ever in `r`.
//! - an action that raises a watched set of the end of `r′` overtakes none that lowers it: were it moved to the front
//!   in `s_i` past one that lowers, that one would be in `T` by FLIP, and come first.
//!
//! *Weak.* In `r`, `c` is disabled infinitely often: each action of `B` then has a guard that is false, and as there
//! are finitely many choices, all guards of one of the watched sets of `r` are false infinitely often. Its guards on
//! actions of the `B` of `r′` are a watched set `κ` of `r′`. (If that `B` is empty, `c` is disabled for ever.) Let all of `κ` be false in
//! `s_P`, and suppose first that `ρ_0` lowers `κ` infinitely often. Let `j` be where the last action of `P` that
//! lowers `κ` has just been taken. Nothing behind `P` that raises `κ` has been, or it would have overtaken. So
//! `X_j∖P` does not raise: `κ` is false in `z`. And `P∖X_j` does not lower: `κ` is false in `s_j`. The longer `P`,
//! the larger `j`; so this is so infinitely often. If `ρ_0` lowers `κ` finitely often, then what is false in the end
//! of `r` has been so from some point on. Let `j` be so large that all that lowers has been taken, and `P` have all
//! of `X_j` but keys. Again `κ` is false in `s_P`, in `z`, and in `s_j`.
//!
//! *Strong.* In `r`, each action of `F_c` is disabled from some point on. Let one of the `B` of `r′` be enabled
//! infinitely often there, with the watched set `κ`, all of which is true then; let `s_j` be such a state. If `ρ_0`
//! raises `κ` infinitely often, let `P` end with the last action of `X_j` that raises it. All of `P` that lowers `κ`
//! has been taken, or something would have overtaken it. So `P∖X_j` does not lower, and `X_j∖P` does not raise: `κ`
//! is true in `s_j`, in `z`, and in `s_P`. The larger `j`, the longer `P`; so the action, whose frozen guards are
//! true in `r`, too, is enabled infinitely often in `r`, which is not so. If `ρ_0` raises `κ` finitely often, what is
//! true infinitely often in the end of `r′` has been so from some point on. For every `P` that is long enough there
//! is a `j` with `P ⊆ X_j`; `z` is `s_j`, and `κ` is true in `s_P`: for ever in `r`. ∎
//!
//! *Justness* alone is simpler. All guards of `F_c` are frozen, so in the end of `r` none of `F_c` is enabled; by the
//! first of the two points above none is in the end of `r′`. Nothing is watched, no order is kept, and the rest of the proof
//! is that nothing is lost. Where there is justness to all actions, every enabled action is a key, as soon as
//! what interferes with it cannot happen before the set acts.
//!
//! # What is covered
//! - *Guards and propositions over several variables.* That an action may make a guard true or false is said for all
//!   states ([`Relations::enablers`]); one that may do both counts as both. A proposition's variables count as read:
//!   an action that flips nothing by itself may decide what another one flips.
//! - *Prune.* If the observer blocks all that is enabled of `T`, or `T` is led and has nothing enabled, nothing is taken; that is
//!   right, since what is left has no action of `T` then, and there is no K1.
//! - *Chains* (`atomic`) are actions that may have several results; a result goes along when the action is moved.
//!   *Queues* make sets smaller by the relations alone. *Quiet* is a guard that everything may raise and lower; an action
//!   that waits for it brings along all that can happen, if not what the observer blocks: see (0).
//! - *Open actions, guessed ranges.* An open action is in every set and relevant, so if a run of the whole system
//!   comes to what is not made yet, so does `r′`: steps need no FLIP. Everything else is concluded from
//!   [certain](model::Variable::certain) ranges only.
//! - *Runs that end and do not count* (or are errors, by another search): in (B) and (C) `r′` goes on for ever.
//! - Without constraints the theorem holds, too: a key is silent, then, and all else may be seen.
//!
//! All of this is proved; the tests (`fair_rules.rs`, `fair_sets.rs` and `fairness.rs` of `testing`) look for mistakes in
//! the proof and in the code.
//!
//! # What is different from what was planned
//! - FLIP in one direction is enough. To put off what enables a constraint, or to hurry what disables it, makes runs
//!   fairer.
//! - ORDER asks for what the observer may follow now, not for all that may be seen.
//! - Relevant was too little for propositions over several variables; and that irrelevant actions can be dropped
//!   needed case (C): a run may go on by them alone.
//! - Guards are frozen, not variables; and those count as frozen, too, that others flip finitely often.
//! - That an action outside of `F_c` is disabled until `T` acts is not looked for in each state: it is made sure of
//!   before any search.

mod making;

use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, GuardId, VarId};

use crate::flips::Flips;
use crate::graph::Graph;
#[cfg(doc)]
use model::Relations;

/// What an observer sees.
#[derive(Clone, Copy)]
pub enum Seen<'r> {
    /// What actions do to propositions.
    Flips(&'r Flips),
    /// These actions, in order.
    Actions(&'r [ActionId]),
}

impl<'r> From<&'r Flips> for Seen<'r> {
    fn from(flips: &'r Flips) -> Seen<'r> {
        Seen::Flips(flips)
    }
}

impl<'r> From<&'r [ActionId]> for Seen<'r> {
    fn from(actions: &'r [ActionId]) -> Seen<'r> {
        Seen::Actions(actions)
    }
}

impl<'r> Seen<'r> {
    /// Whether an action may be seen.
    fn may_see(self, action: ActionId) -> bool {
        match self {
            Seen::Flips(flips) => flips.may_flip(action),
            Seen::Actions(actions) => actions.binary_search(&action).is_ok(),
        }
    }

    /// The variables that decide what is seen of an action.
    pub(crate) fn watched(self, action: ActionId) -> &'r [VarId] {
        match self {
            Seen::Flips(flips) => flips.watched(action),
            Seen::Actions(_) => &[],
        }
    }
}

/// What fairness adds to the graph of a system.
#[derive(Clone, Debug)]
pub(crate) struct Fair {
    /// The actions that are in some constraint.
    pub(crate) forced: FixedBitSet,
    /// The actions that make no guard true of a constraint that they are not in.
    pub(crate) harmless: FixedBitSet,
    /// The actions that may matter: no other changes what is seen, what a constraint is like, or what these do.
    pub(crate) relevant: FixedBitSet,
    /// Where the order of actions matters.
    sets: Vec<Watched>,
    /// Per action, where its companions begin; and where the last one's end.
    starts: Vec<u32>,
    companions: Vec<Companion>,
    /// Per action, the control variables that it writes, and the rows where these begin.
    places: Vec<Vec<(u32, u32)>>,
}

/// A watched set: where it counts.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// A control variable has the value of this row, and these guards have these values.
    row: Option<(u32, u32)>,
    pub(crate) conditions: Vec<(GuardId, bool)>,
}

/// A vertex that an enabled action needs, under fairness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Companion {
    action: u32,
    pub(crate) why: Why,
    pub(crate) vertex: u32,
}

/// Why an action needs another vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// So that its constraint cannot be taken without the set.
    Shut,
    /// So that it does not overtake what lowers this watched set, if the set counts.
    Flip(u32),
}

impl Fair {
    pub(crate) fn bytes(&self) -> u64 {
        let conditions = self.sets.iter().map(|set| 40 + 8 * set.conditions.len());
        let places = self.places.iter().map(|places| 24 + 8 * places.len());
        (16 * self.companions.len() + 4 * self.starts.len()) as u64
            + (conditions.sum::<usize>() + places.sum::<usize>()) as u64
    }

    /// Number of watched sets.
    pub(crate) fn n_sets(&self) -> usize {
        self.sets.len()
    }

    /// A watched set, if it may count where control variables have these values.
    pub(crate) fn set_in(
        &self,
        system: &ActionSystem,
        graph: &Graph,
        state: &[u32],
        set: u32,
    ) -> Option<&Watched> {
        let set = &self.sets[set as usize];
        let is_here = |(control, row)| graph.row(system, state, control) == row as usize;
        set.row.is_none_or(is_here).then_some(set)
    }

    /// Where the companions of an action are.
    #[inline]
    pub(crate) fn companions_of(&self, action: u32) -> (u32, u32) {
        (self.starts[action as usize], self.starts[action as usize + 1])
    }

    #[inline]
    pub(crate) fn companion(&self, at: u32) -> Companion {
        self.companions[at as usize]
    }

    /// Whether all that an action moves is where it began. Who is away goes on first: so cycles are closed
    /// where many begin, and there is less to be repaired.
    pub(crate) fn is_at_home(
        &self,
        system: &ActionSystem,
        graph: &Graph,
        state: &[u32],
        action: u32,
    ) -> bool {
        let mut places = self.places[action as usize].iter();
        places.all(|&(control, first)| graph.row(system, state, control) == first as usize)
    }
}
