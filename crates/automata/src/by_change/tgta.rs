//! Transition-based generalized testing automata (TGTA): steps are changes with marks.
//!
//! # Idea
//! A TGTA reads changes like a [TA](super::ta), but accepts like a [TGBA](crate::tgba): a run must see each
//! mark infinitely often. Stuttering is a step like any other, so every state has a stuttering loop; a state
//! in which one may wait for ever has all marks on it. The search for an accepting run is that for TGBA,
//! in one pass.
//!
//! A TGTA comes from a TGBA in steps that each keep the language, provided that the language does not see
//! stuttering:
//! 1. [`Tgta::from_tgba`] (Property 4): states become pairs of a state and a valuation;
//! 2. [`Tgta::with_stuttering_loops`] (Property 5.1–5.3): states in components of stuttering steps that
//!    together carry all marks get a fully marked stuttering loop; whoever steps into a state from which
//!    such a component can be reached by stuttering may step there directly; all other states get a
//!    stuttering loop without marks, and other stuttering steps are dropped;
//! 3. [`Tgta::trim`] (Property 5.4): states that no accepting run visits are dropped;
//! 4. [`Tgta::merge_bisimilar`], which respects marks.
//!
//! # Differences from the paper
//! Only pairs that can be reached and can go on are made. An automaton without marks, in which every run
//! is accepting, gets one mark on every step first: otherwise the loops that Property 5.3 adds would accept.
//! Of two steps that differ in marks alone, the one with fewer is dropped.
//!
//! # References
//! [bensalem.12.topnoc], Section 3 and Appendix E.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use ltl::Prop;

use super::bisimulation::bisimulation;
use super::expand::{Limits, expand};
use super::graph::{Graph, PropSet, Step};
use crate::gave_up::GaveUp;
use crate::tgba::{MAX_MARKS, Marks, State, Tgba};

/// A transition-based generalized testing automaton. See the head of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tgta {
    pub(crate) graph: Graph,
    pub(crate) n_marks: u32,
}

/// Building.
impl Tgta {
    /// The automaton of these parts: where runs begin, for each state its steps, and the number of marks.
    /// Lists are sorted. A [finished](Tgta::is_finished) automaton has a stuttering loop on every state.
    ///
    /// # Panics
    /// If the propositions are not sorted, there is no mark or more than
    /// [`MAX_MARKS`], or a state, mark or proposition does not exist.
    pub fn new(
        propositions: Vec<Prop>,
        initial: Vec<(PropSet, State)>,
        steps: Vec<Vec<Step>>,
        n_marks: u32,
    ) -> Tgta {
        assert!((1..=MAX_MARKS).contains(&n_marks), "at least one mark, and not too many");
        assert!(steps.iter().flatten().all(|step| Marks::all(n_marks).includes(step.marks)));
        Tgta { graph: Graph::new(propositions, initial, steps), n_marks }
    }
}

/// What it has in common with a TA.
impl std::ops::Deref for Tgta {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

/// Looking.
impl Tgta {
    /// Number of marks, all of which an accepting run sees infinitely often; at least one.
    pub fn n_marks(&self) -> u32 {
        self.n_marks
    }

    /// The set of all marks.
    pub fn all_marks(&self) -> Marks {
        Marks::all(self.n_marks)
    }

    /// Whether one may wait in the state for ever: its stuttering loop has all marks.
    pub fn accepts_stuttering(&self, state: State) -> bool {
        self.steps(state).contains(&Step { change: PropSet::EMPTY, marks: self.all_marks(), target: state })
    }

    /// Whether no word is accepted.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_empty(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        Ok(self.clone().trim(budget)?.n_states() == 0)
    }
}

/// The construction, step by step.
impl Tgta {
    /// Property 4: the pairs of states and valuations. The automaton must not see stuttering.
    ///
    /// # Errors
    /// The automaton would be too large, or the budget is spent.
    pub fn from_tgba(tgba: &Tgba, limits: &Limits, budget: &mut Budget<'_>) -> Result<Tgta, GaveUp> {
        let (mut graph, _) = expand(tgba, limits, budget)?;
        let n_marks = tgba.n_marks().max(1);
        if tgba.n_marks() == 0 {
            graph.steps.iter_mut().flatten().for_each(|step| step.marks = Marks::all(n_marks));
        }
        Ok(Tgta { graph, n_marks })
    }

    /// Property 5.1 to 5.3: a stuttering loop on every state, and no other stuttering steps.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn with_stuttering_loops(mut self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let accepting = self.accepting_stuttering_states(budget)?;
        let entries = self.stuttering_entries(&accepting, budget)?;
        self.jump(|state| &entries[state.index()], budget)?;
        let all = self.all_marks();
        let marks = |state| if accepting.contains(state) { all } else { Marks::NONE };
        self.replace_stuttering(marks, budget)?;
        Ok(self)
    }

    /// Property 5.2: whoever can go to a state may go to these ones instead, as may a run that begins there.
    pub(crate) fn jump<'e>(
        &mut self,
        entries: impl Fn(State) -> &'e Vec<State>,
        budget: &mut Budget<'_>,
    ) -> Result<(), Limit> {
        for steps in &mut self.graph.steps {
            let moving: Vec<Step> = steps.iter().filter(|step| !step.change.is_empty()).copied().collect();
            for step in moving {
                budget.tick()?;
                budget.hold((entries(step.target).len() * size_of::<Step>()) as u64)?;
                steps.extend(entries(step.target).iter().map(|&target| Step { target, ..step }));
            }
        }
        let begin = std::mem::take(&mut self.graph.initial);
        for (valuation, state) in begin {
            self.graph.initial.push((valuation, state));
            self.graph.initial.extend(entries(state).iter().map(|&entry| (valuation, entry)));
        }
        Ok(())
    }

    /// Gives each state a stuttering loop with these marks, and drops other stuttering steps.
    pub(crate) fn replace_stuttering(
        &mut self,
        marks: impl Fn(usize) -> Marks,
        budget: &mut Budget<'_>,
    ) -> Result<(), Limit> {
        for (index, steps) in self.graph.steps.iter_mut().enumerate() {
            steps.retain(|step| !step.change.is_empty());
            steps.push(Step { change: PropSet::EMPTY, marks: marks(index), target: State::new(index) });
        }
        self.graph.normalize(budget)
    }

    /// The states in components that have stuttering steps which together carry all marks.
    pub(crate) fn accepting_stuttering_states(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        let stutters = |step: &Step| step.change.is_empty();
        self.graph.accepting_states(stutters, |_, step| step.marks, self.all_marks(), budget)
    }

    /// For each state that is not accepting the accepting ones that stuttering first leads to.
    pub(crate) fn stuttering_entries(
        &self,
        accepting: &FixedBitSet,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Vec<State>>, Limit> {
        let stutters = self.graph.can_reach(accepting.clone(), |step| step.change.is_empty(), budget)?;
        let mut entries = vec![vec![]; self.n_states()];
        // Per state, whether it was seen from the present one: if it is this number + 1.
        let mut seen = vec![0; self.n_states()];
        for first in stutters.ones().filter(|&state| !accepting.contains(state)) {
            let mut stack = vec![State::new(first)];
            while let Some(state) = stack.pop() {
                for step in self.steps(state).iter().take_while(|step| step.change.is_empty()) {
                    budget.tick()?;
                    if std::mem::replace(&mut seen[step.target.index()], first + 1) != first + 1 {
                        let accepts = accepting.contains(step.target.index());
                        if accepts { &mut entries[first] } else { &mut stack }.push(step.target);
                    }
                }
            }
            budget.hold(size_of_val(&entries[first][..]) as u64)?;
        }
        Ok(entries)
    }

    /// Property 5.4: drops states that no accepting run visits.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn trim(self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let all = self.all_marks();
        let good = self.graph.accepting_states(|_| true, |_, step| step.marks, all, budget)?;
        let useful = self.graph.can_reach(good, |_| true, budget)?;
        let (graph, _) = self.graph.keep(&useful, budget)?;
        Ok(Tgta { graph, ..self })
    }

    /// Makes bisimilar states one.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn merge_bisimilar(self, budget: &mut Budget<'_>) -> Result<Tgta, Limit> {
        let (class, n_classes) = bisimulation(&self.graph, &vec![0; self.n_states()], budget)?;
        Ok(Tgta { graph: self.graph.quotient(&class, n_classes, budget)?, ..self })
    }
}
