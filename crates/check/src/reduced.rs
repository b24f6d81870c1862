//! A system of which only stubborn sets are explored.
//!
//! It is a [`Space`], so every search of states runs on it. What is preserved is said when it
//! is made: deadlocks; whether some invariant can be violated; or all that questions about states ask at once
//! (*safety*). For one invariant the sets are led by
//! the actions that can make it false from where it is true ([`por::Attractor`]), or by those that can make it
//! false anywhere ([`por::Flips`]), whichever are fewer.
//!
//! # Safety
//! Deadlocks, faults, and for each of some invariants whether it can be violated. An action is *visible* if it may change
//! one of the invariants. A set is taken if it is stubborn and an action in it that is enabled and invisible leads
//! *ahead*: breadth first, or in whatever order that expands states one after the other, to a state that is expanded
//! after this one (the queue proviso of Bošnački and Holzmann, 2005, which does not depend on the queue); depth
//! first, to one that is left before this one. Where there is no such set, all actions are taken.
//!
//! Deadlocks survive any stubborn set, and where nothing else is asked for and nothing can go wrong, any will do. For the rest, let a run of the system lead from a state that is found to one where
//! an invariant is false, or to one where some action goes wrong; of all such runs from the state let it be a shortest.
//! The search will find a violation or a fault, by induction on the length of the run and, for each length, on
//! the order in which states are expanded, from the last to the first (depth first: left, from the first to the last).
//! - An action of the set happens in the run. The first one that does can be moved to the front, where it is taken; the rest
//!   is shorter and ends in the same state. Or else something goes wrong already on this way.
//! - No action of the set happens in the run, but the one that goes wrong in the end is in the set. Then it is enabled now,
//!   as the others do not enable what the set has, and goes wrong now, since they do not write what it reads.
//! - Nothing of the set happens. Then the run is also one of the state ahead. What is true at its end is the same,
//!   since the action that led there is invisible and disturbs none of the run's, nor what goes wrong at its end. That
//!   state comes later in the order.
//!
//! For the same reasons every action that can happen does so somewhere, alone or within a step ([`Reduced::keeps_actions`]): let
//! the run end with it.
//!
//! "Goes wrong" means that a guard or an effect cannot be evaluated, or an assertion in it fails; both depend on what the
//! action reads alone. The exception are effects that add to a variable, which do not disturb each other though their sum may leave
//! its range. Then the one that comes last goes wrong instead.
//!
//! A step to what the front end has not made yet goes wrong, too ([`model::Range::Open`]). So where a search ends without such
//! a fault, no run of the system has one; the states that it can reach are those of the whole system, and what is preserved of the
//! one is preserved of the other. Therefore rule 4 of stubborn sets (see `por`) is not needed here.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{
    ActionId, ActionSystem, ExprId, Guard, Range, Relations, StepError, Steps, Stmt, System, VarId, Variable,
};
use por::steady::{Bits, Forgotten, Keeps};
use por::{Attractor, Demand, Flips, Rule, Situation, SteadySets, StubbornSets};

use crate::search::{Extent, Goal, Space};
use crate::steady;

/// A system and its stubborn sets.
pub struct Reduced<'a> {
    system: &'a ActionSystem,
    sets: StubbornSets<'a>,
    preserves: Preserves,
    /// The sets that are taken, if they are to depend on the state alone.
    steady: Option<SteadySets>,
}

/// What is preserved.
enum Preserves {
    Deadlocks,
    /// Whether an invariant can be violated: what makes it false here, and anywhere.
    Invariant(Attractor, Vec<u32>),
    /// Deadlocks, faults, and whether each of some invariants can be violated, which these actions may change.
    Safety(FixedBitSet),
}

/// Working memory. Where sets remove nothing, they are not looked for in every state, so what is chosen depends on
/// the past.
pub struct Choice {
    por: por::Scratch,
    enabled: Vec<ActionId>,
    moves: Vec<bool>,
    chosen: Vec<u32>,
    attracts: Vec<u32>,
    bits: Box<Bits>,
}

impl Choice {
    fn new(por: por::Scratch) -> Choice {
        let (enabled, moves, chosen, attracts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Choice { por, enabled, moves, chosen, attracts, bits: Box::default() }
    }
}

impl<'a> Reduced<'a> {
    /// Preserves all deadlocks. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_deadlocks(system: &'a ActionSystem, budget: &mut Budget<'_>) -> Result<Reduced<'a>, Limit> {
        // The relations are not kept.
        let mut share = budget.share();
        let sets = StubbornSets::new(system, &Relations::new(system, &mut share)?, &mut share)?;
        budget.hold(sets.bytes())?;
        Ok(Reduced { system, sets, preserves: Preserves::Deadlocks, steady: None })
    }

    /// Preserves whether a proposition can become false. Deadlocks are not preserved: a state
    /// without successors here may have some in the system. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_invariant(
        system: &'a ActionSystem,
        proposition: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Reduced<'a>, Limit> {
        let expr = system.propositions()[proposition].expr;
        // Neither the relations nor the flips are kept.
        let mut share = budget.share();
        let relations = Relations::new(system, &mut share)?;
        let attractor = Attractor::new(system, &relations, expr, false, budget)?;
        let flips = Flips::new(system, &relations, &[expr], &mut share)?;
        let anywhere: Vec<u32> = flips.visible().ones().map(|action| action as u32).collect();
        let sets = StubbornSets::new(system, &relations, &mut share)?;
        budget.hold(sets.bytes() + 4 * anywhere.len() as u64)?;
        Ok(Reduced { system, sets, preserves: Preserves::Invariant(attractor, anywhere), steady: None })
    }

    /// Preserves all deadlocks, whether the system can go wrong, and for each of these goals whether it can be
    /// violated. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn for_safety(
        system: &'a ActionSystem,
        goals: &[Goal],
        budget: &mut Budget<'_>,
    ) -> Result<Reduced<'a>, Limit> {
        let invariants = goals.iter().filter_map(|goal| match goal {
            Goal::Invariant(proposition) => Some(system.propositions()[*proposition].expr),
            Goal::Deadlock => None,
        });
        let invariants: Vec<ExprId> = invariants.collect();
        if invariants.is_empty() && !may_go_wrong(system) {
            return Reduced::for_deadlocks(system, budget);
        }
        // Neither the relations nor the flips are kept.
        let mut share = budget.share();
        let relations = Relations::new(system, &mut share)?.for_faults();
        let visible = Flips::new(system, &relations, &invariants, &mut share)?.visible();
        let sets = StubbornSets::new(system, &relations, &mut share)?;
        budget.hold(sets.bytes())?;
        Ok(Reduced { system, sets, preserves: Preserves::Safety(visible), steady: None })
    }

    /// The same by sets that depend on the state alone, which devices find, too. They may be larger. What
    /// needs to know in which order states are met stays as it is, and so does a system that has too many actions.
    ///
    /// # Errors
    /// The budget's limit.
    pub fn by_state_alone(mut self, budget: &mut Budget<'_>) -> Result<Reduced<'a>, Limit> {
        let keeps = match &self.preserves {
            Preserves::Deadlocks => Keeps::Deadlocks,
            Preserves::Invariant(attractor, anywhere) => Keeps::Goal(attractor, anywhere),
            Preserves::Safety(_) => return Ok(self),
        };
        self.steady = SteadySets::new(&self.sets, keeps, budget)?;
        Ok(self)
    }

    /// The same where a part of these sets is forgotten: wrong, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn forgetting(mut self, forgotten: Forgotten) -> Reduced<'a> {
        self.steady = self.steady.map(|sets| sets.without(forgotten));
        self
    }

    /// How far a state is from what is looked for, as a guess: for one invariant, as [`por::Attractor`] says; for
    /// deadlocks, how many actions are enabled.
    pub fn distances(&self) -> impl FnMut(&[u32]) -> u64 {
        let (mut scratch, mut enabled) = (self.system.new_scratch(), Vec::new());
        move |state| match &self.preserves {
            Preserves::Invariant(attractor, _) => attractor.distance(self.system, state),
            Preserves::Deadlocks | Preserves::Safety(_) => {
                enabled.clear();
                // What goes wrong is noticed when the state is expanded.
                _ = self.system.enabled(state, &mut scratch, &mut enabled);
                enabled.len() as u64
            }
        }
    }

    /// Whether every action that can happen happens in what is left.
    pub fn keeps_actions(&self) -> bool {
        matches!(self.preserves, Preserves::Safety(_))
    }

    /// The same without a rule: wrong, for tests.
    ///
    /// # Errors
    /// The budget's limit.
    #[doc(hidden)]
    pub fn without(mut self, rule: Rule, budget: &mut Budget<'_>) -> Result<Reduced<'a>, Limit> {
        let relations = Relations::new(self.system, budget)?;
        let relations = match self.preserves {
            Preserves::Safety(_) => relations.for_faults(),
            Preserves::Deadlocks | Preserves::Invariant(..) => relations,
        };
        self.sets = self.sets.without(rule, &relations, budget)?;
        Ok(self)
    }

    /// Whether everything is taken in this state, without a choice.
    fn rests(&self, choice: &mut Choice) -> bool {
        let may_rest = self.steady.is_none() && !matches!(self.preserves, Preserves::Invariant(..));
        let rests = may_rest && choice.por.rests();
        if rests {
            choice.enabled.clear();
        }
        rests
    }

    /// Which of the enabled actions are to be taken, into `choice.chosen`.
    fn choose(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
    ) -> Result<Extent, StepError> {
        let Choice { por, enabled, moves, chosen, attracts, bits } = choice;
        enabled.clear();
        chosen.clear();
        self.system.enabled(state, scratch, enabled)?;
        if let Some(sets) = &self.steady {
            let chosen = steady::choose((self.system, sets), state, enabled, (scratch, bits), chosen);
            return chosen.map(|()| Extent::Enough).map_err(|fault| StepError { fault, action: None });
        }
        moves.clear();
        let demand = match &self.preserves {
            Preserves::Deadlocks => Demand::Deadlocks,
            Preserves::Invariant(attractor, anywhere) if attractor.attract(self.system, state, attracts) => {
                Demand::Goal(if anywhere.len() < attracts.len() { anywhere } else { attracts })
            }
            // It was found here: nothing more is to be preserved.
            Preserves::Invariant(..) => return Ok(Extent::Enough),
            Preserves::Safety(visible) => {
                let is_visible = |action: &ActionId| visible.contains(self.system.first(*action).index());
                let moves_observer = |action| is_visible(action) && self.sets.has(Rule::Invisible);
                moves.extend(enabled.iter().map(moves_observer));
                Demand::Safety
            }
        };
        moves.resize(enabled.len(), false);
        let situation = Situation { state, enabled, moves, blocked: &[] };
        self.sets
            .choose(&situation, demand, por, &mut |_| true, chosen)
            .map_err(|fault| StepError { fault, action: None })?;
        if !matches!(demand, Demand::Safety) || chosen.len() == enabled.len() || !self.sets.has(Rule::Proviso)
        {
            return Ok(Extent::Enough);
        }
        chosen.sort_by_key(|&index| moves[index as usize]);
        Ok(Extent::IfAhead(chosen.iter().filter(|&&index| !moves[index as usize]).count()))
    }
}

/// Whether something in a system may go wrong, as far as can be seen without looking at values. (Where a variable has
/// less room than it may need, the system is made larger: that is no fault.)
fn may_go_wrong(system: &ActionSystem) -> bool {
    let fits = |var: VarId, value: i64| {
        let Variable { lo, hi, .. } = system.variables()[var.index()];
        (lo..=hi).contains(&value)
    };
    let is_safe = |stmt: &Stmt| match stmt {
        Stmt::Set(var, value) => fits(*var, *value),
        Stmt::Map(var, table) => {
            let span = system.variables()[var.index()].span();
            table.len() as u64 > span && table.iter().all(|to| to.is_some_and(|to| fits(*var, to)))
        }
        Stmt::Add(var, _) => matches!(system.variables()[var.index()].range, Range::Guessed { .. }),
        _ => false,
    };
    let is_simple = |guard: &Guard| !matches!(guard, Guard::True(_));
    let all_safe = system.actions().iter().all(|action| action.effect.iter().all(is_safe));
    system.has_chains() || !all_safe || !system.guards().iter().all(is_simple)
}

impl Space for Reduced<'_> {
    type Whole = ActionSystem;
    type Choice = Choice;

    fn whole(&self) -> &ActionSystem {
        self.system
    }

    fn new_choice(&self) -> Choice {
        Choice::new(self.sets.new_adaptive_scratch())
    }

    fn new_steady_choice(&self) -> Choice {
        Choice::new(self.sets.new_scratch())
    }

    fn actions(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<Extent, StepError> {
        if self.rests(choice) {
            return self.system.enabled(state, scratch, out).map(|()| Extent::Enough);
        }
        let extent = self.choose(state, choice, scratch)?;
        out.extend(choice.chosen.iter().map(|&index| choice.enabled[index as usize]));
        Ok(extent)
    }

    fn steps(
        &self,
        state: &[u32],
        choice: &mut Choice,
        scratch: &mut model::Scratch,
        out: &mut Steps,
    ) -> Result<Extent, StepError> {
        if self.rests(choice) {
            return self.system.successors(state, scratch, out).map(|()| Extent::Enough);
        }
        let extent = self.choose(state, choice, scratch)?;
        for &index in &choice.chosen {
            let action = choice.enabled[index as usize];
            self.system.fire(out.push(action, state), action, scratch)?;
        }
        Ok(extent)
    }

    fn others(&self, choice: &Choice, out: &mut Vec<ActionId>) {
        let Choice { enabled, chosen, .. } = choice;
        let is_left = |index: &usize| !chosen.contains(&(*index as u32));
        out.extend((0..enabled.len()).filter(is_left).map(|index| enabled[index]));
    }

    fn for_device(&self) -> Option<(&ActionSystem, Option<&SteadySets>)> {
        self.steady.as_ref().map(|sets| (self.system, Some(sets)))
    }

    fn learn(&self, choice: &mut Choice, is_known: bool) {
        choice.por.learn(is_known);
    }
}
