//! Extended Büchi automata with valuations on states, as in [hansen.02.fmics].
//!
//! # Idea
//! A state carries a valuation, and a run reads a word if its states carry the letters. Besides the
//! usual *infinite* acceptance there are *finite* acceptance states, which accept whatever follows,
//! and *deadlock* acceptance states, which accept a finite word that ends in them.
//!
//! | here | the paper |
//! |---|---|
//! | [`Extended::from_ba`] | the usual construction: a state for each state and letter of a BA |
//! | [`Extended::reduce`] | 2.3, the heuristics for all automata |
//! | [`Extended::ignore_stuttering`] | 2.3, the heuristic for stutter-insensitive ones |
//! | [`Extended::without_finite`] | Theorem 2.1 |
//!
//! # Requirements and limits
//! Valuations are explicit, so there are up to 2^|AP| copies of each state: hence a limit.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use ltl::{Lasso, Prop, Valuation};
use rustc_hash::FxHashMap;

use crate::by_change::PropSet;
use crate::gave_up::{GaveUp, TooLarge};
use crate::label::Label;
use crate::scc::{can_reach, components};
use crate::stutter::exactly;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// One state of an [`Extended`] automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtendedState {
    /// The letter that a run reads here.
    pub valuation: Valuation,
    /// Where it can go on.
    pub successors: Vec<usize>,
    /// Whether runs can begin here.
    pub initial: bool,
    /// F_inf: a run that comes here infinitely often accepts.
    pub infinite: bool,
    /// F_fin: a run that comes here accepts, whatever follows.
    pub finite: bool,
    /// F_dl: a run of a finite word that ends here accepts.
    pub deadlock: bool,
}

/// A state-labeled Büchi automaton with three kinds of acceptance. See the head of the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extended {
    /// The propositions it speaks about, sorted.
    pub propositions: Vec<Prop>,
    /// The states; successors are places in this list.
    pub states: Vec<ExtendedState>,
}

/// Bytes of a state without its successors.
const STATE: usize = size_of::<ExtendedState>();

/// More propositions are refused.
pub const MAX_PROPOSITIONS: usize = 16;

impl Extended {
    /// The extended automaton of a Büchi automaton with marks on states: a copy of each state for each letter
    /// it can read. There is no finite acceptance. A deadlock is accepted where repeating the last letter
    /// for ever would be.
    ///
    /// # Errors
    /// There are too many propositions or states, or the budget is spent.
    ///
    /// # Panics
    /// If marks do not belong to states, or there are several.
    pub fn from_ba(ba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Extended, GaveUp> {
        holding(budget, |budget| Extended::copies(ba, max_states, budget))
    }

    fn copies(ba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Extended, GaveUp> {
        assert!(ba.n_marks() <= 1 && ba.is_state_based(), "a Büchi automaton with marks on states");
        let propositions = ba.propositions().to_vec();
        if propositions.len() > MAX_PROPOSITIONS {
            return Err(TooLarge::Propositions.into());
        }
        if ba.n_states() << propositions.len() > max_states {
            return Err(TooLarge::States.into());
        }
        let letters: Vec<Valuation> =
            (0..1 << propositions.len()).map(|bits| PropSet(bits).valuation(&propositions)).collect();
        let n_letters = letters.len();
        let mut states = Vec::with_capacity(ba.n_states() * n_letters);
        for state in ba.states() {
            let infinite = ba.edges(state).iter().any(|edge| edge.marks == ba.all_marks());
            for letter in &letters {
                let taken = ba.edges(state).iter().filter(|edge| ba.labels().holds(edge.label, letter));
                let copies =
                    |target: State| (0..n_letters).map(move |copy| target.index() * n_letters + copy);
                let mut targets: Vec<State> = taken.map(|edge| edge.target).collect();
                targets.sort_unstable();
                targets.dedup();
                targets.iter().try_for_each(|_| budget.tick())?;
                budget.hold((targets.len() * n_letters * size_of::<usize>() + STATE) as u64)?;
                let successors: Vec<usize> = targets.into_iter().flat_map(copies).collect();
                let initial = state == ba.initial();
                let (valuation, finite, deadlock) = (letter.clone(), false, false);
                states.push(ExtendedState { valuation, successors, initial, infinite, finite, deadlock });
            }
        }
        let mut extended = Extended { propositions, states };
        extended.accept_deadlocks_like_stuttering(budget)?;
        Ok(extended.reduce(budget)?)
    }

    /// Whether a finite word is accepted iff it is with its last letter repeated for ever, because
    /// [`accept_deadlocks_like_stuttering`](Extended::accept_deadlocks_like_stuttering) would change nothing
    /// that matters.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts_deadlocks_like_stuttering(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let accepting = self.accepting_by_stuttering(budget)?;
        let mut states = self.states.iter().enumerate();
        Ok(states.all(|(state, own)| own.finite || own.deadlock == accepting.contains(state)))
    }

    /// Makes a deadlock accepted exactly where repeating the last letter for ever would be.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accept_deadlocks_like_stuttering(&mut self, budget: &mut Budget<'_>) -> Result<(), Limit> {
        let accepting = self.accepting_by_stuttering(budget)?;
        for (index, state) in self.states.iter_mut().enumerate() {
            state.deadlock = accepting.contains(index);
        }
        Ok(())
    }

    /// Per state, whether repeating its letter for ever is accepted there.
    fn accepting_by_stuttering(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        holding(budget, |budget| {
            let stuttering = self.steps(true, budget)?;
            let parts = components(&stuttering, |_, &next| Some(next), budget)?;
            let good = self.states.iter().enumerate().filter(|&(state, own)| {
                let on_cycle = || stuttering[state].iter().any(|&next| parts.of[next] == parts.of[state]);
                own.finite || (own.infinite && on_cycle())
            });
            let good = good.map(|(state, _)| state).collect();
            can_reach(&stuttering, |&next| Some(next), good, budget)
        })
    }

    /// The successors of each state, or only those with the same valuation.
    fn steps(&self, stuttering: bool, budget: &mut Budget<'_>) -> Result<Vec<Vec<usize>>, Limit> {
        let mut steps = Vec::with_capacity(self.states.len());
        for here in &self.states {
            let mut found = vec![];
            for &next in &here.successors {
                budget.tick()?;
                if !stuttering || self.states[next].valuation == here.valuation {
                    found.push(next);
                }
            }
            budget.hold((size_of_val(&found[..]) + STATE) as u64)?;
            steps.push(found);
        }
        Ok(steps)
    }

    /// Whether the infinite word is accepted, by the definition.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts(&self, lasso: &Lasso, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        crate::membership::accepts(&self.to_tgba(budget)?, lasso, budget)
    }

    /// Whether the finite word is accepted, by the definition.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn accepts_finite(&self, word: &[Valuation], budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut here: Vec<usize> = self.those(|state| state.initial).ones().collect();
        for (position, letter) in word.iter().enumerate() {
            here.iter().try_for_each(|_| budget.tick())?;
            here.retain(|&state| self.reads(state, letter));
            if here.iter().any(|&state| self.states[state].finite) {
                return Ok(true);
            }
            if position + 1 < word.len() {
                here = here.iter().flat_map(|&state| self.states[state].successors.iter().copied()).collect();
                here.sort_unstable();
                here.dedup();
            }
        }
        Ok(!word.is_empty() && here.iter().any(|&state| self.states[state].deadlock))
    }

    fn those(&self, are: impl Fn(&ExtendedState) -> bool) -> FixedBitSet {
        (0..self.states.len()).filter(|&state| are(&self.states[state])).collect()
    }

    fn reads(&self, state: usize, letter: &Valuation) -> bool {
        let valuation = &self.states[state].valuation;
        self.propositions.iter().all(|&prop| valuation.holds(prop) == letter.holds(prop))
    }

    /// The reductions of 2.3 that keep any language: states that cannot be reached or cannot accept go,
    /// as do edges of finite acceptance states, and infinite acceptance off cycles.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reduce(self, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        holding(budget, |budget| self.drop_useless(budget))
    }

    fn drop_useless(mut self, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        for state in self.states.iter_mut().filter(|state| state.finite) {
            state.successors.clear();
            state.infinite = false;
        }
        let successors = self.steps(false, budget)?;
        let parts = components(&successors, |_, &next| Some(next), budget)?;
        for (state, next) in successors.iter().enumerate() {
            self.states[state].infinite &= next.iter().any(|&next| parts.of[next] == parts.of[state]);
        }
        let accepting = self.those(|state| state.infinite || state.finite || state.deadlock);
        let useful = can_reach(&successors, |&next| Some(next), accepting, budget)?;
        self.keep(&useful, budget)
    }

    /// Closes finite and deadlock acceptance backwards over steps that repeat the letter, and reduces. Only
    /// for stutter-insensitive automata.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn ignore_stuttering(mut self, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        let (finite, deadlock) = holding(budget, |budget| {
            let stuttering = self.steps(true, budget)?;
            let mut lead_to = |goal| can_reach(&stuttering, |&next| Some(next), goal, budget);
            Ok((lead_to(self.those(|state| state.finite))?, lead_to(self.those(|state| state.deadlock))?))
        })?;
        for (index, state) in self.states.iter_mut().enumerate() {
            (state.finite, state.deadlock) = (finite.contains(index), deadlock.contains(index));
        }
        self.reduce(budget)
    }

    /// The reachable ones of these states.
    fn keep(&self, useful: &FixedBitSet, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut order: Vec<usize> = vec![];
        let visit = |state: usize, numbers: &mut FxHashMap<usize, usize>, order: &mut Vec<usize>| {
            if useful.contains(state) && !numbers.contains_key(&state) {
                numbers.insert(state, order.len());
                order.push(state);
            }
        };
        for state in self.those(|state| state.initial).ones() {
            visit(state, &mut numbers, &mut order);
        }
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for &target in &self.states[state].successors {
                budget.tick()?;
                visit(target, &mut numbers, &mut order);
            }
        }
        let mut states = Vec::with_capacity(order.len());
        for &state in &order {
            let old = &self.states[state];
            budget.hold((size_of_val(&old.successors[..]) + STATE) as u64)?;
            let mut successors = vec![];
            for target in &old.successors {
                budget.tick()?;
                successors.extend(numbers.get(target));
            }
            states.push(ExtendedState { valuation: old.valuation.clone(), successors, ..*old });
        }
        Ok(Extended { propositions: self.propositions.clone(), states })
    }

    /// Theorem 2.1: the same language without finite acceptance. States that accept at once lead into a
    /// clique of one state per valuation, all of which accept in every way.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn without_finite(&self, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        if self.states.iter().all(|state| !state.finite) || self.propositions.len() > MAX_PROPOSITIONS {
            return Ok(self.clone());
        }
        holding(budget, |budget| self.with_clique(budget))
    }

    fn with_clique(&self, budget: &mut Budget<'_>) -> Result<Extended, Limit> {
        let n = self.states.len();
        let n_letters = 1usize << self.propositions.len();
        let bits = |valuation: &Valuation| PropSet::of(valuation, &self.propositions).0 as usize;
        let mut result = self.clone();
        for (index, state) in result.states.iter_mut().enumerate() {
            for target in &mut state.successors {
                if self.states[*target].finite {
                    *target = n + bits(&self.states[*target].valuation);
                }
            }
            state.successors.sort_unstable();
            state.successors.dedup();
            state.initial &= !self.states[index].finite;
        }
        for letter in 0..n_letters {
            let valuation = PropSet(letter as u32).valuation(&self.propositions);
            let starts =
                |state: &ExtendedState| state.initial && state.finite && state.valuation == valuation;
            let initial = self.states.iter().any(starts);
            budget.tick()?;
            budget.hold((n_letters * size_of::<usize>() + STATE) as u64)?;
            let successors = (n..n + n_letters).collect();
            let accepting = ExtendedState { infinite: true, deadlock: true, ..ExtendedState::default() };
            result.states.push(ExtendedState { valuation, successors, initial, ..accepting });
        }
        result.states.iter_mut().for_each(|state| state.finite = false);
        result.reduce(budget)
    }

    /// The automaton of the infinite words it accepts, with letters on edges. What it says about finite words
    /// (deadlock states) is lost.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn to_tgba(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        holding(budget, |budget| self.with_letters_on_edges(budget))
    }

    fn with_letters_on_edges(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let mut tgba = Tgba::new(1);
        tgba.declare(self.propositions.iter().copied());
        // State 0 is before the first letter, the last accepts everything.
        let n = self.states.len();
        tgba.add_states(n + 1);
        let everything = State::new(n + 1);
        tgba.add_edge(everything, Label::TRUE, Marks::single(0), everything);
        let letters: Vec<Label> = self
            .states
            .iter()
            .map(|state| exactly(tgba.labels_mut(), &self.propositions, &state.valuation))
            .collect();
        let mut enter = |source: usize, target: usize| {
            let state = &self.states[target];
            let marks = if state.infinite { Marks::single(0) } else { Marks::NONE };
            let goal = if state.finite { everything } else { State::new(target + 1) };
            tgba.add(State::new(source), Edge { target: goal, marks, label: letters[target] }, budget)
        };
        for (index, state) in self.states.iter().enumerate() {
            if state.initial {
                enter(0, index)?;
            }
            state.successors.iter().try_for_each(|&target| enter(index + 1, target))?;
        }
        tgba.compact(budget)
    }
}
