//! Stubborn sets: which of the enabled actions must be taken, so that nothing that matters is lost.
//!
//! After Valmari, *On-the-fly verification with stubborn sets* (CAV '93) [valmari.93.cav]:
//! Definition 2.5 (stubborn sets), Theorem 4.1 (what a tester needs) and Algorithm 4.3 (how to
//! find such sets in linear time), for action systems with guards and data instead of processes
//! alone, and for observers of propositions.
//!
//! # The rules
//! A set `A` of actions is *semistubborn* in a state if every action `a` in it satisfies one of
//! these. Here the *control variables* are those that are tested by guards of their own and only
//! set to constants or mapped, never computed: the locations of processes. (Nothing below depends
//! on where the line is drawn; for control variables the lists are short and exact.) An action's
//! *own guard* on a variable is true if the action has none.
//!
//! 1. `a` is disabled, and for one false guard `g` of `a` everything is in `A` that must happen
//!    first: all actions that may make `g` true ([`Relations::enablers`]); where `g` looks at the front of
//!    a queue that is not empty, without those that only put something behind it
//!    ([`Relations::enablers_in_front`]); or, if `g` looks at a
//!    control variable `v` alone, all actions that can write `v` *now* (whose own guard on `v` is
//!    true), or all that lead `v` out of the values that it can get by actions enabled now, if `g`
//!    is false for all of these; or, if an observer refuses `a` for good ([`Offer`]), all actions
//!    that the observer may follow.
//! 2. `a` is enabled, and in `A` are: for each control variable `v` that `a` only reads, all
//!    actions that can write `v` now; for each that `a` writes, all actions whose own guard on `v`
//!    is true now; all actions that interfere with `a` by way of other variables
//!    ([`Relations::interferes`]); for each proposition that `a` may flip, all actions that can
//!    write a variable it reads; and, if `a` moves the observer, all that this may follow.
//! 3. `a` is enabled but for an observer that does not let it happen now, though it might after
//!    other actions that leave the observer where it is: everything of rule 2, and all that the
//!    observer may follow.
//!
//! 4. In every set are all actions that may lead to what is not made yet ([`Relations::open`]). Who looks for faults
//!    needs no such rule ([`Relations::for_faults`]).
//!
//! A set is *stubborn* if an action in it is enabled. With locations as the only variables these
//! are the two rules of Definition 2.5, but for processes that take part without moving: two
//! actions that leave a common process where it is do not disturb each other.
//!
//! # Why they are sound
//! Let `a` be in `A`, and let actions outside `A` happen, one after the other. If `a` is disabled
//! by rule 1, the false guard stays false: by the definition of enablers; or because `v` does not
//! change, since the first action to write `v` must pass its own guard on `v` in the present value,
//! so is one of those in `A`; or because `v` can only wander among the values that enabled actions
//! give it, for all of which `g` is false, until one of those in `A` leads it out. (The observer is
//! one more process, and its state a control variable that all actions write which move it.) If `a`
//! is enabled, then by the same argument its control
//! variables keep their values; no action outside `A` that can happen touches a control variable
//! that `a` writes; and by way of other variables it does not interfere with `a`. So `a` stays
//! enabled and can be moved to the front of the sequence, which then ends in the same state. That
//! is Theorem 2.6 of the paper, from which the rest follows.
//!
//! A front end may not have made everything yet (`model::Range::Open`): there is a whole system, of which this one
//! has some actions, and a step to where others could happen is a fault, after which more is made and everything
//! starts again. Let `Q` be the actions that are missing. None of them can happen before an open action has
//! led there, and none has, or there would have been a fault. So with rule 4, `A` and `Q` together are
//! semistubborn in the whole system, if `A` is so in this one: an action of `Q` is disabled, and what must happen
//! first is in `A`; whatever else an action of `A` would need there is in `Q`, or open. And the same
//! actions of it are enabled. Without rule 4 all that leads to `Q` might be left out, as nothing that is known seems to
//! need it.
//!
//! Propositions: let `a` in `A` be enabled, and `u` outside `A` happen. No variable that is read by a
//! proposition which `a` may flip is written by `u`, by rule 2. So `a` flips the same propositions
//! before and after `u`, and `u` the same before and after `a`: the order of labels cannot become
//! inconsistent, as it can with weaker conditions [neele.20.fossacs]. All sets here are strong.
//!
//! # What is preserved
//! - Any stubborn set in each state: all deadlocks, and whether there is an infinite run (Theorem
//!   2.9). This is [`Demand::Deadlocks`].
//! - [`Demand::Observer`], for a tester: whether there is *some* error C1 to C4 (Theorem 4.1); not
//!   each of them, and an error C4 may survive only as C3.
//! - [`Demand::Observer`], for a testing automaton: whether some run is accepted. The automaton is
//!   a tester, *one more process that takes part in every action that flips a proposition*. It
//!   moves only then, so it can be led by the same theorem: Büchi acceptance is C4, livelock
//!   acceptance C3. A word that changes for ever is accepted by a run whose marks are all on changes,
//!   since a word without stuttering is accepted too; so for TGTA marks on stuttering loops matter
//!   only where the run waits for ever, and there they must be all marks. A deadlock is a livelock,
//!   as its state repeats.
//! - [`Demand::Goal`]: whether a state can be reached where an expression is true. On the way there one of
//!   the actions happens that it is [attracted](Attractor) by; all of these are in `A`, so the first
//!   action of the run that is in `A` can be moved to the front, and the rest is shorter and ends in the
//!   same state. If nothing in the closure is enabled, there is no such run.
//! - [`Demand::Safety`]: deadlocks, and with what `check::reduced` makes sure of, all that can be asked about states.
//! - [`Demand::Words`]: the words of all runs, up to stuttering, for any automaton by value that is in
//!   waiting form (`automata::waiting`).
//! - [`Demand::Fair`]: whether an automaton in waiting form, a testing automaton or a tester accepts a run
//!   that is fair to some constraints. The rules and the proof are at the head of the module `fair`.
//!
//! ## Guided sets
//! Let the observer be in a state where waiting is not accepted. A run that is accepted moves it
//! some day, by an action that it follows; all of these are in `A` (R1). Consider the first action of
//! the run that is in `A`: all before it are outside, so they leave the observer where it is; it can be
//! moved to the front. The rest of the run is still accepted, with one action less before the
//! observer's move. If nothing in the closure is enabled, the observer can never move: nothing is
//! accepted (*prune*). Where waiting is accepted, something enabled that does not move the observer is
//! in `A`, if there is such a thing (R2). If the run never has an action of `A`, that one can be put in
//! front of it; repeated for ever, this is an accepted wait.
//!
//! What the observer may follow or refuses is said for all states with the present valuation, since
//! actions that it does not see may change variables that propositions read: see [`Flips`]. To
//! refuse an action because of what it would flip *now* is wrong.
//!
//! ## Hybrid sets
//! Where waiting is not accepted, the guided set may be large. Any closed set with something enabled may
//! be taken instead if none of its silent steps leads back onto the path of the depth-first search.
//! A cycle of silent steps then has a state that took its guided set: the first of the cycle that the search
//! leaves, as its successor on the cycle was on the path. There the observer's move comes closer; so it is not
//! put off for ever. Where waiting is accepted no such condition is needed: a cycle there is accepted.
//! Instead of asking about the path, a search by strong components may accept all sets, and see to it when a component is finished that each
//! cycle of silent steps has such a state (`check`, module `search::repair`).
//!
//! ## Classical sets
//! A closed set none of whose enabled actions flips a proposition, if none of its steps leads back onto
//! the path; else all actions. The condition for cycles depends on the observer's state. That is
//! unsound for automata whose states see stuttering, even if their languages do not
//! [siegel.19.cav]: in another state of the automaton another set is taken, and the run that was meant is
//! not there. In waiting form every word has a run that moves with the first letter of each block
//! of equal letters and then stays. Moving silent actions about changes the lengths of blocks alone, so that
//! this run of the automaton remains, letter by letter, whatever sets are taken on the way.
//!
//! The condition is there because an action that is left out must be taken some day: it stays enabled until
//! then, and where everything is taken it is. It is enough that no action is left out in all states of a cycle, and a search by
//! strong components can see to that when a component is finished: then all sets are accepted, and what is missing
//! is taken later, one action in one state of the cycle. The proof is with that search (`check`, module `search::repair`).
//!
//! # Beyond the paper
//! - The third choice of rule 1 for control variables is new. In a ring of customers it sees that a
//!   customer cannot get the token by just wanting it, whatever it does on its own; with
//!   Definition 2.5 alone each customer on the way to the token is explored in all its moods.
//! - Actions that happen only where nothing else can (`timeout`) never meet an enabled action of
//!   another kind. One that is disabled for that reason alone needs everything that is enabled.
//! - Of all strong components that qualify, one with the fewest enabled actions is taken, not the
//!   first.
//! - Under fairness, where that set has several enabled actions, smaller ones are grown in which reasons depend on what is
//!   in the set already (module `grow`).
//! - Before any of this a cheap question is asked: whether some process can go on alone (module `rows`). Where a
//!   closed set without moves of the observer will do, or one that the caller accepts, that is the end of it. Otherwise
//!   what was chosen in a state like this is remembered (module `memory`). And where each state is expanded once,
//!   sets are looked for only as long as that pays.

mod attract;
mod choose;
mod components;
mod demand;
mod fair;
mod flips;
mod graph;
mod grow;
mod making;
mod memory;
mod patience;
mod query;
mod reason;
mod recur;
mod rows;
pub mod steady;

pub use attract::Attractor;
pub use choose::{Scratch, StubbornSets};
#[doc(hidden)]
pub use demand::Rule;
pub use demand::{Demand, Offer, Situation};
pub use flips::{Flips, Outcome};
pub use patience::Effort;
#[doc(hidden)]
pub use recur::recurrent;
pub use steady::SteadySets;

pub use fair::Seen;
pub use model::fairness::Constraint;

#[cfg(doc)]
use model::Relations;
