//! What is taken of the steps that are possible in a state: everything, or a stubborn set, chosen by the relations
//! between actions or by the system itself; and what searches ask about what was left out.

use std::sync::Arc;

use base::{Budget, Limit};
use model::chain::first;
use model::{ActionId, ActionSystem, StepError, System};
use por::steady::Forgotten;
use por::{Effort, Situation, SteadySets};

use super::pairing::{Pairing, Possible};
use super::{Path, Product, Target, Visits};
use crate::fairness::Constraint;
use crate::observer::{Event, Observer, Stance, Watches};
use crate::reduction::{Dependencies, Method, Observed, Own, Reduction, Repair};

/// Who says what is taken.
pub(super) enum Selection<'a, S: System> {
    /// The relations between the actions of an action system.
    Sets(Box<Reduction<'a>>),
    /// The system itself.
    Own(Own<S>),
}

impl<'a, S: System> Selection<'a, S> {
    pub(super) fn for_worker(&self) -> Selection<'a, S> {
        match self {
            Selection::Sets(sets) => Selection::Sets(Box::new(sets.for_worker())),
            Selection::Own(own) => Selection::Own(own.clone()),
        }
    }

    pub(super) fn begin(&mut self, visits: Visits) {
        if let Selection::Sets(sets) = self {
            sets.begin(visits);
        }
    }

    pub(super) fn method(&self) -> Method {
        match self {
            Selection::Sets(sets) => sets.method(),
            Selection::Own(own) => own.method(),
        }
    }

    pub(super) fn n_actions(&self) -> usize {
        match self {
            Selection::Sets(sets) => sets.n_actions(),
            Selection::Own(own) => own.repair.matters.len(),
        }
    }

    pub(super) fn repair(&self) -> Option<&Repair> {
        match self {
            Selection::Sets(sets) => sets.repair(),
            Selection::Own(own) => Some(&own.repair),
        }
    }

    pub(super) fn gave_up(&self) -> bool {
        matches!(self, Selection::Sets(sets) if sets.gave_up())
    }

    pub(super) fn effort(&self) -> Effort {
        if let Selection::Sets(sets) = self { sets.effort() } else { Effort::Plain }
    }

    pub(super) fn rests(&mut self) -> bool {
        match self {
            Selection::Sets(sets) => sets.rests(),
            Selection::Own(_) => false,
        }
    }
}

impl<'a, S: Dependencies, O: Observer> Product<'a, S, O> {
    /// The same product, of which not everything is explored, by what the system knows: for observers by value that do not
    /// see stuttering, and a search that repairs its components. The system has so many actions. Where only fair runs
    /// count, that must be said.
    #[must_use]
    pub fn reduced_by_itself(mut self, n_actions: usize, is_fair: bool) -> Product<'a, S, O> {
        self.selection = Some(Selection::Own(Own::new(n_actions, is_fair)));
        self
    }
}

impl<'a, O: Observer> Product<'a, ActionSystem, O> {
    /// The same product, of which not everything is explored. Where only runs count that are fair to some
    /// constraints, only [`Method::Fair`] keeps enough of them. What the reduction takes is held.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn reduced(
        mut self,
        method: Method,
        fairness: &[Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a, ActionSystem, O>, Limit> {
        let Pairing { system, observer, valuations, visible, .. } = &mut self.pairing;
        let reduction = match observer.watches() {
            Watches::Actions => {
                let actions = (0..system.actions().len()).map(ActionId::new);
                let event = |action| Event { action: Some(action), ..Event::stuttering(0) };
                let is_seen = |action: &ActionId| !observer.is_silent(event(*action), valuations);
                let seen: Vec<ActionId> = actions.filter(is_seen).collect();
                Reduction::for_actions(system, &seen, method, fairness, budget)?
            }
            watches => {
                let propositions = valuations.propositions();
                Reduction::for_propositions(system, propositions, watches, method, fairness, budget)?
            }
        };
        *visible = reduction.visible();
        self.selection = Some(Selection::Sets(Box::new(reduction)));
        Ok(self)
    }

    /// The same without a rule of its reduction: wrong, for tests.
    #[doc(hidden)]
    pub fn without(
        mut self,
        rule: por::Rule,
        budget: &mut Budget<'_>,
    ) -> Result<Product<'a, ActionSystem, O>, Limit> {
        if let Some(Selection::Sets(reduction)) = self.selection {
            self.selection = Some(Selection::Sets(Box::new(reduction.without(rule, budget)?)));
        }
        Ok(self)
    }
}

impl<'a, S: System, O: Observer> Product<'a, S, O> {
    /// How it is reduced.
    pub fn method(&self) -> Option<Method> {
        self.selection.as_ref().map(Selection::method)
    }

    /// Whether an action may matter: if it does, it must not be left out along a whole cycle.
    pub fn matters(&self, action: ActionId) -> bool {
        self.repair().is_none_or(|repair| repair.matters.contains(action.index()))
    }

    /// What a search by strong components must see to.
    pub(crate) fn repair(&self) -> Option<&Repair> {
        self.selection.as_ref().and_then(Selection::repair)
    }

    /// Whether what was taken in the last state is valid only on some condition about cycles.
    pub(crate) fn is_conditional(&self) -> bool {
        self.is_conditional
    }

    /// Whether everything was taken in the last state because it would take too long to look for a set.
    pub(crate) fn gave_up(&self) -> bool {
        self.selection.as_ref().is_some_and(Selection::gave_up)
    }

    /// How a set was looked for in the last state.
    pub(crate) fn effort(&self) -> Effort {
        self.selection.as_ref().map_or(Effort::Plain, Selection::effort)
    }

    /// After so many states, a search that repairs its components ends as if there could be no more, if it gave up looking for sets in most of them.
    pub(crate) fn hand_over_after(&mut self, n_states: Option<u64>) {
        self.hands_over = n_states;
    }

    /// When that is.
    #[inline]
    pub(crate) fn hands_over(&self) -> Option<u64> {
        self.hands_over
    }

    /// Whether no accepted run is infinitely often in any state that was expanded so far: then whatever is accepted is so at once, or
    /// lies behind what was seen.
    pub(crate) fn only_passes(&self) -> bool {
        self.only_passes
    }

    /// From now on, guided sets are those that devices find, too. Returns whether there are such sets: the product is reduced by guided
    /// sets, and neither the system nor the observer is too large.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn by_state_alone(&mut self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let Pairing { observer, valuations, .. } = &mut self.pairing;
        match &mut self.selection {
            Some(Selection::Sets(reduction)) => reduction.by_state_alone(observer, valuations, budget),
            Some(Selection::Own(_)) | None => Ok(false),
        }
    }

    /// The sets that devices find, too, if it is these that are taken.
    pub(crate) fn steady_sets(&self) -> Option<&Arc<SteadySets>> {
        match &self.selection {
            Some(Selection::Sets(reduction)) => reduction.steady_sets(),
            Some(Selection::Own(_)) | None => None,
        }
    }

    /// From now on, sets are chosen as if no device had been thought of.
    pub(crate) fn by_memory(&mut self) {
        if let Some(Selection::Sets(reduction)) = &mut self.selection {
            reduction.by_memory();
        }
    }

    /// The same where a part of the sets that devices find is forgotten: wrong, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn forgetting(mut self, forgotten: Forgotten) -> Product<'a, S, O> {
        self.selection = self.selection.map(|selection| match selection {
            Selection::Sets(reduction) => Selection::Sets(Box::new(reduction.forgetting(forgotten))),
            own @ Selection::Own(_) => own,
        });
        self
    }

    /// From now on, nothing is left out.
    pub(crate) fn take_everything(&mut self) {
        self.selection = None;
    }

    /// The actions that matter and were left out of the state that was expanded last, where cycles may be closed
    /// without them; and whether the observer sees them. Steps that begin with the same action are one.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (ActionId, bool)> {
        let Possible { actions, moves, .. } = &self.pairing.possible;
        let repair = self.repair().filter(|_| self.is_conditional);
        repair.into_iter().flat_map(move |repair| {
            let left_out = (0..actions.len()).filter(|&index| !self.chosen.contains(&(index as u32)));
            let named = left_out.map(|index| (first(actions[index], repair.matters.len()), moves[index]));
            named.filter(|(action, _)| repair.matters.contains(action.index()))
        })
    }

    /// The unknown states that an action leads to, in the state that was expanded last; none if it goes wrong.
    pub(crate) fn for_each_unknown(
        &mut self,
        state: &[u32],
        action: ActionId,
        is_known: impl Fn(&[u32], u32) -> bool,
        visit: &mut dyn FnMut(Target<'_>),
    ) {
        let n_actions = self.repair().map_or(0, |repair| repair.matters.len());
        let Pairing { system, scratch, possible, .. } = &mut self.pairing;
        let Possible { actions, ranges, observer_steps, targets, .. } = possible;
        for (index, &step) in
            actions.iter().enumerate().filter(|(_, step)| first(**step, n_actions) == action)
        {
            let (from, to) = ranges[index];
            let steps = &observer_steps[from as usize..to as usize];
            match targets.get(index, *system, state, step, scratch) {
                Ok(target) => {
                    let unknown = steps.iter().filter(|step| !is_known(target, step.to));
                    unknown.for_each(|step| visit(Some((target, step.to))));
                }
                // What goes wrong here goes wrong again when the step is taken.
                Err(_) => steps.iter().for_each(|_| visit(None)),
            }
        }
    }

    /// Where one of the steps leads that were left out of the state that was expanded last, if some were: which one, a
    /// number says.
    pub(crate) fn left_out_target(&mut self, state: &[u32], number: usize) -> Option<Vec<u32>> {
        let Pairing { system, scratch, possible, .. } = &mut self.pairing;
        let Possible { actions, ranges, observer_steps, targets, .. } = possible;
        let chosen = &self.chosen;
        let left_out: Vec<usize> =
            (0..actions.len()).filter(|&index| !chosen.contains(&(index as u32))).collect();
        let index = *left_out.get(number % left_out.len().max(1))?;
        let observer_state = observer_steps[ranges[index].0 as usize].to;
        let target = targets.get(index, *system, state, actions[index], scratch).ok()?;
        Some([target, &[observer_state]].concat())
    }

    /// Told of a state that was left out whether it was found on another way so far.
    pub(crate) fn learn(&mut self, is_known: bool) {
        if let Some(Selection::Sets(reduction)) = &mut self.selection {
            reduction.learn(is_known);
        }
    }

    /// Told by a search that begins.
    pub(crate) fn begin(&mut self, visits: Visits) {
        if let Some(selection) = &mut self.selection {
            selection.begin(visits);
        }
    }
}

/// Chooses the steps to be taken. Returns whether they are valid only on some condition about cycles.
pub(super) fn select<S: System, O: Observer>(
    selection: &mut Selection<'_, S>,
    pairing: &mut Pairing<'_, S, O>,
    state: &[u32],
    observer_state: u32,
    stance: Stance,
    mut path: Path<'_>,
    chosen: &mut Vec<u32>,
) -> Result<bool, StepError> {
    let Pairing { system, observer, valuations, scratch, possible, .. } = pairing;
    let Possible { valuation, actions, moves, ranges, observer_steps, blocked, targets, .. } = possible;
    let situation = Situation { state, enabled: actions, moves, blocked };
    let insists = if let Path::Repaired { again, .. } = path { again } else { None };
    let (mut is_conditional, mut n_offers) = (false, 0);
    let mut closes_no_cycle = |candidate: &[u32], n_offers: u32, scratch: &mut S::Scratch| match &mut path {
        Path::Unknown | Path::Everything => false,
        Path::AsBefore | Path::Repaired { .. } | Path::Enlarged => true,
        Path::Offered(_) if n_offers > 1 => false,
        Path::Known(is_on_path) | Path::Offered(is_on_path) => {
            let mut silent = candidate.iter().map(|&index| index as usize).filter(|&index| !moves[index]);
            silent.all(|index| {
                let (from, to) = ranges[index];
                let steps = &observer_steps[from as usize..to as usize];
                // What goes wrong here goes wrong again when the step is taken.
                let target = targets.get(index, *system, state, actions[index], scratch);
                target.is_ok_and(|target| steps.iter().all(|step| !is_on_path(target, step.to)))
            })
        }
    };
    let mut accept = |candidate: &[u32], scratch: &mut S::Scratch| {
        n_offers += 1;
        is_conditional = closes_no_cycle(candidate, n_offers, scratch);
        is_conditional
    };
    match selection {
        Selection::Own(own) => {
            let propositions = valuations.propositions();
            own.choose(*system, &situation, propositions, scratch, &mut accept, chosen)?;
        }
        Selection::Sets(reduction) => {
            let observed =
                Observed { observer, valuations, state: observer_state, valuation: *valuation, stance };
            let mut accept = |candidate: &[u32]| accept(candidate, scratch);
            reduction
                .choose(&situation, observed, insists, &mut accept, chosen)
                .map_err(|fault| StepError { fault, action: None })?;
        }
    }
    Ok(is_conditional)
}
