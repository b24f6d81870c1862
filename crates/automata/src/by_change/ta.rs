//! Testing automata (TA): steps are changes, and there are two ways to accept.
//!
//! # Idea
//! A TA watches which propositions flip, and stays where it is as long as none does. A word whose valuation
//! changes infinitely often is accepted if a run visits a *Büchi* state (F) infinitely often; a word that
//! stays the same from some point on is accepted if a run waits in a *livelock* state (G). A *finite*
//! acceptance state (F_fin) accepts whatever follows. A finite word, as a system in a deadlock gives, is
//! accepted if a run ends in a *deadlock* state (F_dl).
//!
//! A TA comes from a Büchi automaton in steps that each keep the language, provided that the language does
//! not see stuttering:
//! 1. [`Ta::from_ba`] (Property 2): states become pairs of a state and a valuation;
//! 2. [`Ta::without_stuttering`] (Property 3.1–3.3): a state from which an accepting component of
//!    stuttering steps can be reached over stuttering steps is a livelock state; then all stuttering
//!    steps are dropped;
//! 3. [`Ta::trim`] (Property 3.4): states that no accepting run visits are dropped;
//! 4. [`Ta::merge_bisimilar`]; the initial partition is by acceptance.
//!
//! # Differences from the paper
//! The automaton of Property 2 has no livelock states yet, and Definition 5 lets Büchi states accept only
//! words that change for ever: read strictly, words that end in stuttering are accepted after
//! Property 3.1 and not before, and the equality of languages claimed by Property 2 holds for the others.
//! Only pairs that can be reached and can go on are made. F_fin and F_dl are [hansen.02.fmics]'s;
//! [`Ta::extract_finite`] makes use of the first. The deadlock states of an automaton that is made here are
//! its livelock states: a finite word is accepted iff it is with its last letter repeated for ever. Whoever
//! writes an automaton may choose otherwise. What goes beyond the papers is in [`reduce`](super::reduce).
//!
//! # References
//! [bensalem.12.topnoc], Section 2.3; [hansen.02.fmics], Sections 3 and 4.1; [geldenhuys.06.spin].

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use ltl::Prop;

use super::bisimulation::bisimulation;
use super::expand::{Limits, expand};
use super::graph::{Graph, PropSet, Step};
use crate::degeneralize::{Placement, degeneralize};
use crate::gave_up::GaveUp;
use crate::tgba::{Marks, State, Tgba};

/// How a state of a TA accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Acceptance {
    /// In F: to be visited infinitely often, while the valuation changes infinitely often.
    pub buchi: bool,
    /// In G: to be waited in for ever.
    pub livelock: bool,
    /// In F_fin: to be reached.
    pub finite: bool,
    /// In F_dl: to be in when a finite word ends.
    pub deadlock: bool,
}

impl Acceptance {
    pub(crate) fn color(self) -> u8 {
        u8::from(self.buchi)
            | u8::from(self.livelock) << 1
            | u8::from(self.finite) << 2
            | u8::from(self.deadlock) << 3
    }
}

/// A testing automaton. See the head of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ta {
    pub(crate) graph: Graph,
    pub(crate) acceptance: Vec<Acceptance>,
}

/// Building.
impl Ta {
    /// The automaton of these parts: where runs begin, and for each state its steps and how it accepts. Lists
    /// are sorted. A finished automaton has no stuttering steps.
    ///
    /// # Panics
    /// If the propositions are not sorted, the lists are not of the same length, a step has marks, or a
    /// state or proposition does not exist.
    pub fn new(
        propositions: Vec<Prop>,
        initial: Vec<(PropSet, State)>,
        steps: Vec<Vec<Step>>,
        acceptance: Vec<Acceptance>,
    ) -> Ta {
        assert_eq!(steps.len(), acceptance.len(), "each state has steps and accepts somehow");
        assert!(steps.iter().flatten().all(|step| step.marks == Marks::NONE), "acceptance is on states");
        Ta { graph: Graph::new(propositions, initial, steps), acceptance }
    }
}

/// What it has in common with a TGTA.
impl std::ops::Deref for Ta {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

/// Looking.
impl Ta {
    /// How the state accepts.
    pub fn acceptance(&self, state: State) -> Acceptance {
        self.acceptance[state.index()]
    }

    /// Whether no word is accepted, be it infinite or finite.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_empty(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        Ok(self.clone().trim(budget)?.n_states() == 0)
    }

    /// Whether a finite word is accepted iff it is with its last letter repeated for ever, because a state is
    /// a deadlock state iff it is a livelock state. So it is unless somebody wrote the automaton otherwise.
    pub fn accepts_deadlocks_like_stuttering(&self) -> bool {
        self.acceptance.iter().all(|own| own.finite || own.deadlock == own.livelock)
    }
}

/// The construction, step by step.
impl Ta {
    /// Property 2: the pairs of states and valuations, without livelock states. The automaton must not see
    /// stuttering. If it has other than one mark, or marks that are not on states, it is degeneralized first.
    ///
    /// # Errors
    /// The automaton would be too large, or the budget is spent.
    pub fn from_ba(ba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Ta, GaveUp> {
        if ba.n_marks() != 1 || !ba.is_state_based() {
            let order: Vec<u32> = (0..ba.n_marks()).collect();
            let ba = degeneralize(ba, Placement::States, &order, budget)?;
            return Ta::from_ba(&ba, limits, budget);
        }
        let (mut graph, states) = expand(ba, limits, budget)?;
        graph.steps.iter_mut().flatten().for_each(|step| step.marks = Marks::NONE);
        graph.normalize(budget)?;
        let buchi = |state: State| ba.common_marks(state) == ba.all_marks();
        let acceptance =
            states.into_iter().map(|state| Acceptance { buchi: buchi(state), ..Acceptance::default() });
        let acceptance = acceptance.collect();
        Ok(Ta { graph, acceptance })
    }

    /// Property 3.1 to 3.3: livelock states, and no stuttering steps.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn without_stuttering(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let stutters = |step: &Step| step.change.is_empty();
        let marks = |state: usize, _: &Step| Marks(self.acceptance[state].buchi.into());
        let accepting = self.graph.accepting_states(stutters, marks, Marks(1), budget)?;
        let livelock = self.graph.can_reach(accepting, stutters, budget)?;
        for state in livelock.ones() {
            self.acceptance[state].livelock = true;
            self.acceptance[state].deadlock = true;
        }
        self.graph.steps.iter_mut().for_each(|steps| steps.retain(|step| !step.change.is_empty()));
        Ok(self)
    }

    /// Property 3.4 and [hansen.02.fmics]'s 2.3: drops states that no accepting run visits, and steps from
    /// finite acceptance states.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn trim(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        for (steps, acceptance) in self.graph.steps.iter_mut().zip(&self.acceptance) {
            if acceptance.finite {
                steps.clear();
            }
        }
        let useful = self.useful_states(budget)?;
        let (graph, order) = self.graph.keep(&useful, budget)?;
        let acceptance = order.iter().map(|&state| self.acceptance(state)).collect();
        Ok(Ta { graph, acceptance })
    }

    /// The states from which some word is accepted.
    fn useful_states(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        let cyclic = self.cyclic_states(budget)?;
        let good = |state: &usize| {
            let acceptance = self.acceptance[*state];
            acceptance.livelock
                || acceptance.finite
                || acceptance.deadlock
                || (acceptance.buchi && cyclic.contains(*state))
        };
        let good = (0..self.n_states()).filter(good).collect();
        self.graph.can_reach(good, |_| true, budget)
    }

    /// The states on cycles with some change.
    pub(crate) fn cyclic_states(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        let changes = |_, step: &Step| Marks((!step.change.is_empty()).into());
        self.graph.accepting_states(|_| true, changes, Marks(1), budget)
    }

    /// Makes bisimilar states one.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn merge_bisimilar(self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let color: Vec<u8> = self.acceptance.iter().map(|acceptance| acceptance.color()).collect();
        let (class, n_classes) = bisimulation(&self.graph, &color, budget)?;
        self.quotient(&class, n_classes, budget)
    }

    /// Each class of states as one; the states of a class accept alike.
    pub(crate) fn quotient(
        self,
        class: &[usize],
        n_classes: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Ta, Limit> {
        let mut acceptance = vec![Acceptance::default(); n_classes];
        class.iter().zip(&self.acceptance).for_each(|(&class, &own)| acceptance[class] = own);
        Ok(Ta { graph: self.graph.quotient(class, n_classes, budget)?, acceptance })
    }

    /// [hansen.02.fmics]'s 3.4: a state that accepts in all ways and has a loop for each change becomes a
    /// finite acceptance state, and loses its steps. Merge bisimilar states first.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn extract_finite(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        let n_changes = (1usize << self.propositions().len()) - 1;
        for state in self.states() {
            let own = self.acceptance(state);
            let loops =
                self.steps(state).iter().filter(|step| step.target == state && !step.change.is_empty());
            if own.buchi && own.livelock && own.deadlock && loops.count() == n_changes {
                self.acceptance[state.index()] = Acceptance { finite: true, ..Acceptance::default() };
            }
        }
        self.trim(budget)?.merge_bisimilar(budget)
    }

    /// The same language without finite acceptance: who accepted at once accepts in all other ways, and has a
    /// loop for each change.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn without_finite(mut self, budget: &mut Budget<'_>) -> Result<Ta, Limit> {
        if !self.states().any(|state| self.acceptance(state).finite) {
            return Ok(self);
        }
        // All states that accept at once are one: only that gets loops.
        self = self.trim(budget)?.merge_bisimilar(budget)?;
        let n_changes = 1u32 << self.propositions().len();
        for state in self.states().filter(|state| self.acceptance[state.index()].finite).collect::<Vec<_>>() {
            self.acceptance[state.index()] =
                Acceptance { buchi: true, livelock: true, finite: false, deadlock: true };
            let loops = (1..n_changes).map(|change| Step {
                change: PropSet(change),
                target: state,
                marks: Marks::NONE,
            });
            budget.hold(u64::from(n_changes) * size_of::<Step>() as u64)?;
            self.graph.steps[state.index()] = loops.collect();
        }
        Ok(self)
    }
}
