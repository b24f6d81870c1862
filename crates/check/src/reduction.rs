//! Which steps of a product are left out: stubborn sets, as products use them.
//!
//! | reduction | observers | what is chosen in a state |
//! |---|---|---|
//! | [`Method::Guided`] | that move with the system (testers, TA, TGTA) | what may move the observer, and what that needs; where waiting is accepted, something that does not move it |
//! | [`Method::Hybrid`] | the same, in depth-first searches | the same, or a smaller set that closes no cycle |
//! | [`Method::Classical`] | any that do not see stuttering, in depth-first searches | a set that nobody sees and that closes no cycle, or everything |
//! | [`Method::Repaired`] | by value or by change, in searches by strong components | a set that nobody sees, or else what is taken above; what is left out for ever along a cycle is taken later (`Repair`) |
//! | [`Method::Fair`] | all but those with labels on states, in searches by strong components | a set that keeps fair runs; the rest is the same |
//!
//! Systems that cannot be looked into know the last two only, by value ([`Dependencies`]).
//!
//! The rules and why they are sound stand at the head of [`por`]. Here they are asked the right
//! questions: which actions an observer may follow or refuses, in its present state and under the
//! present valuation.

use std::sync::Arc;

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use model::{ActionId, ActionSystem, Relations, StepError, System};
use por::steady::{Forgotten, Keeps, Led};
use por::{Constraint, Demand, Effort, Flips, Offer, Outcome, Situation, SteadySets, StubbornSets};
use rustc_hash::FxHashMap;

use crate::observer::{Event, Observer, Stance, Valuations, Watches};
use crate::product::Visits;
use crate::steady::Guided;

/// How a product is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Led by the observer.
    Guided,
    /// Led by the observer, but smaller sets are taken where they close no cycle.
    Hybrid,
    /// Blind to the observer: nothing that is seen is left out or moved.
    Classical,
    /// Small sets whether they close cycles or not; the search repairs its components.
    Repaired,
    /// The same for fair runs: what fairness forces may be seen.
    Fair,
}

/// What a search by strong components must see to where sets were taken whether they close cycles or not: along
/// no cycle may anything that matters be left out in every state. What that means, and why it is enough, is said at
/// the head of the search's module `repair`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repair {
    /// The actions that matter, a bit for each that there is: others may be left out for ever.
    pub(crate) matters: FixedBitSet,
    /// Sets hold no step that the observer sees, so that only cycles count on which it stays where it is.
    pub(crate) silent: bool,
    /// What is taken later in a state: the action that was left out; else all that is taken where no set is accepted.
    pub(crate) by_action: bool,
}

/// A system that cannot be looked into, but knows which of its steps depend on which.
pub trait Dependencies: System {
    /// Chooses some of the steps that are possible in a state, by their indices: a stubborn set, of which no step changes
    /// one of these propositions, in whatever state it happens. All steps that begin with the same action are in it, or
    /// none. Returns whether there is such a set; what is chosen depends on the state alone.
    ///
    /// What *stubborn* means, and what it is good for, is said at the head of the search's module `repair`: whatever
    /// happens without the set enables nothing in it, and commutes with what is chosen. Where only fair runs count, the set
    /// keeps these, too: that is KEY and FLIP at the head of por's module `fair`, whose other rules are met by sets like that.
    ///
    /// # Errors
    /// The system goes wrong when it is asked.
    fn choose(
        &self,
        state: &[u32],
        possible: &[ActionId],
        propositions: &[usize],
        is_fair: bool,
        scratch: &mut Self::Scratch,
        chosen: &mut Vec<u32>,
    ) -> Result<bool, StepError>;
}

/// How a product is reduced whose system has [`Dependencies`]: by sets that are blind to the observer.
pub(crate) struct Own<S: System> {
    pub(crate) repair: Repair,
    /// Whether only fair runs count.
    is_fair: bool,
    choose: Chooses<S>,
}

type Chooses<S> = fn(
    &S,
    &[u32],
    &[ActionId],
    &[usize],
    bool,
    &mut <S as System>::Scratch,
    &mut Vec<u32>,
) -> Result<bool, StepError>;

impl<S: System> Clone for Own<S> {
    fn clone(&self) -> Own<S> {
        Own { repair: self.repair.clone(), is_fair: self.is_fair, choose: self.choose }
    }
}

impl<S: Dependencies> Own<S> {
    /// The sets of a system with so many actions.
    pub(crate) fn new(n_actions: usize, is_fair: bool) -> Own<S> {
        let mut matters = FixedBitSet::with_capacity(n_actions);
        matters.insert_range(..);
        Own { repair: Repair { matters, silent: true, by_action: true }, is_fair, choose: S::choose }
    }
}

impl<S: System> Own<S> {
    /// What it is called.
    pub(crate) fn method(&self) -> Method {
        if self.is_fair { Method::Fair } else { Method::Repaired }
    }

    /// Chooses those of the possible steps that must be taken, by their indices, like [`Reduction::choose`]. A set is
    /// taken only if the steps that move the observer are none of it, as is promised.
    pub(crate) fn choose(
        &self,
        system: &S,
        situation: &Situation<'_>,
        propositions: &[usize],
        scratch: &mut S::Scratch,
        closes_no_cycle: &mut dyn FnMut(&[u32], &mut S::Scratch) -> bool,
        chosen: &mut Vec<u32>,
    ) -> Result<(), StepError> {
        chosen.clear();
        let Situation { state, enabled, moves, blocked } = *situation;
        let is_silent = |index: &u32| !moves[*index as usize];
        if blocked.is_empty()
            && (self.choose)(system, state, enabled, propositions, self.is_fair, scratch, chosen)?
            && chosen.iter().all(is_silent)
            && closes_no_cycle(chosen, scratch)
        {
            return Ok(());
        }
        chosen.clear();
        chosen.extend(0..enabled.len() as u32);
        Ok(())
    }
}

/// The stubborn sets of a product.
pub struct Reduction<'a> {
    system: &'a ActionSystem,
    method: Method,
    /// How cycles are dealt with, if that is left to the search.
    repair: Option<Repair>,
    /// Blind to the observer.
    is_blind: bool,
    sets: Arc<StubbornSets<'a>>,
    scratch: por::Scratch,
    /// What actions do to the propositions; nothing if the observer watches actions.
    flips: Option<Arc<Flips>>,
    offers: Vec<Offer>,
    /// Per state of the observer and valuation, its offer.
    offer_of: FxHashMap<(u32, u32), u32>,
    /// The guided sets that are taken, if they are to be those that devices find, too.
    guided: Option<Guided>,
}

/// So much is asked an observer at most before all that it may offer is known.
const MAX_ASKED: u64 = 1 << 24;

/// More propositions are not gone through.
const MAX_WATCHED: usize = 12;

impl<'a> Reduction<'a> {
    /// For testers that see these actions: guided, or for fair runs. Holds about as many bytes as it takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub(crate) fn for_actions(
        system: &'a ActionSystem,
        seen: &[ActionId],
        method: Method,
        fairness: &[Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<Reduction<'a>, Limit> {
        // The relations are not kept.
        let mut share = budget.share();
        let relations = Relations::new(system, &mut share)?;
        let (method, sets) = match method {
            Method::Fair => {
                let sets = StubbornSets::for_fair_runs(system, &relations, seen, fairness, &mut share)?;
                (Method::Fair, sets)
            }
            _ => (Method::Guided, StubbornSets::new(system, &relations, &mut share)?),
        };
        budget.hold(sets.bytes())?;
        Ok(Reduction::new(system, method, false, sets, None))
    }

    /// For observers of these propositions of the system, by value or by change. Holds about as many bytes as it
    /// takes.
    ///
    /// # Errors
    /// The budget's limit.
    pub(crate) fn for_propositions(
        system: &'a ActionSystem,
        propositions: &[usize],
        watches: Watches,
        method: Method,
        fairness: &[Constraint],
        budget: &mut Budget<'_>,
    ) -> Result<Reduction<'a>, Limit> {
        let mut share = budget.share();
        let relations = Relations::new(system, &mut share)?;
        let exprs: Vec<_> = propositions.iter().map(|&index| system.propositions()[index].expr).collect();
        let flips = Flips::new(system, &relations, &exprs, &mut share)?;
        let sets = match method {
            Method::Fair => StubbornSets::for_fair_runs(system, &relations, &flips, fairness, &mut share)?,
            _ => StubbornSets::for_propositions(system, &relations, &flips, &mut share)?,
        };
        budget.hold(flips.bytes() + sets.bytes())?;
        let is_blind = match method {
            Method::Guided | Method::Hybrid | Method::Fair => false,
            Method::Classical => true,
            Method::Repaired => watches != Watches::Changes,
        };
        Ok(Reduction::new(system, method, is_blind, sets, Some(flips)))
    }

    /// The same without a rule: wrong, for tests.
    pub(crate) fn without(
        mut self,
        rule: por::Rule,
        budget: &mut Budget<'_>,
    ) -> Result<Reduction<'a>, Limit> {
        let relations = Relations::new(self.system, budget)?;
        self.repair = self.repair.filter(|_| !matches!(rule, por::Rule::Proviso | por::Rule::Cycle));
        let sets = Arc::into_inner(self.sets).ok_or(Limit::OutOfMemory)?;
        self.sets = Arc::new(sets.without(rule, &relations, budget)?);
        self.scratch = self.sets.new_scratch();
        Ok(self)
    }

    fn new(
        system: &'a ActionSystem,
        method: Method,
        is_blind: bool,
        sets: StubbornSets<'a>,
        flips: Option<Flips>,
    ) -> Reduction<'a> {
        let scratch = sets.new_scratch();
        let repair = match method {
            Method::Guided | Method::Hybrid | Method::Classical => None,
            Method::Repaired => Some(Repair { matters: sets.relevant(), silent: true, by_action: is_blind }),
            Method::Fair => Some(Repair { matters: sets.relevant(), silent: false, by_action: true }),
        };
        let (offers, offer_of) = (Vec::new(), FxHashMap::default());
        let (sets, flips) = (Arc::new(sets), flips.map(Arc::new));
        Reduction { system, method, repair, is_blind, sets, scratch, flips, offers, offer_of, guided: None }
    }

    /// From now on, guided sets are those that devices find, too. They may be larger. Returns whether there are such sets. Holds about
    /// as many bytes as they take.
    ///
    /// # Errors
    /// The budget's limit.
    pub(crate) fn by_state_alone<O: Observer>(
        &mut self,
        observer: &mut O,
        valuations: &mut Valuations,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Limit> {
        let (n_states, n_propositions) = (observer.n_states(), valuations.propositions().len());
        let n_actions = self.system.actions().len() as u64;
        if self.method != Method::Guided || n_propositions > MAX_WATCHED {
            return Ok(false);
        }
        let n_valuations = 1u64 << n_propositions;
        if n_states.saturating_mul(n_valuations).saturating_mul(n_actions.max(1)) > MAX_ASKED {
            return Ok(false);
        }
        let (mut known, mut offers, mut of) = (FxHashMap::default(), Vec::new(), Vec::new());
        for state in 0..n_states as u32 {
            for bits in 0..n_valuations {
                budget.tick()?;
                let valuation = valuations.number_of_bits(&[bits][..n_propositions.div_ceil(64)]);
                let stance = observer.stance(state, valuation, valuations);
                let offer = self.offer(&mut Observed { observer, valuations, state, valuation, stance });
                let led = Led { offer, may_wait: stance.may_wait, may_end: stance.deadlock };
                of.push(*known.entry(led).or_insert_with_key(|led| {
                    offers.push(led.clone());
                    offers.len() as u32 - 1
                }));
            }
        }
        let sets = SteadySets::new(&self.sets, Keeps::Errors { offers: &offers, of: &of }, budget)?;
        self.guided = sets.map(|sets| Guided::new(Arc::new(sets), self.system));
        Ok(self.guided.is_some())
    }

    /// The guided sets that devices find, too, if it is these that are taken.
    pub(crate) fn steady_sets(&self) -> Option<&Arc<SteadySets>> {
        self.guided.as_ref().map(Guided::sets)
    }

    /// From now on, sets are chosen as if no device had been thought of.
    pub(crate) fn by_memory(&mut self) {
        self.guided = None;
    }

    /// The same where a part of these sets is forgotten: wrong, for tests.
    pub(crate) fn forgetting(mut self, forgotten: Forgotten) -> Reduction<'a> {
        let sets = self.steady_sets().map(|sets| Arc::new((**sets).clone().without(forgotten)));
        self.guided = sets.map(|sets| Guided::new(sets, self.system));
        self
    }

    /// The same for another worker, with a working memory of its own.
    pub(crate) fn for_worker(&self) -> Reduction<'a> {
        Reduction {
            system: self.system,
            method: self.method,
            repair: self.repair.clone(),
            is_blind: self.is_blind,
            sets: Arc::clone(&self.sets),
            scratch: self.sets.new_scratch(),
            flips: self.flips.clone(),
            offers: Vec::new(),
            offer_of: FxHashMap::default(),
            guided: self.steady_sets().map(|sets| Guided::new(Arc::clone(sets), self.system)),
        }
    }

    /// Told by a search that begins. If each state is expanded once, sets need not be looked for in every
    /// state where they remove nothing; otherwise the choice depends on the state alone.
    pub(crate) fn begin(&mut self, visits: Visits) {
        self.scratch = match visits {
            Visits::Once => self.sets.new_adaptive_scratch(),
            Visits::Again => self.sets.new_scratch(),
        };
    }

    /// How the product is reduced.
    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// How many actions there are.
    pub(crate) fn n_actions(&self) -> usize {
        self.system.actions().len()
    }

    /// What a search by strong components must see to.
    pub(crate) fn repair(&self) -> Option<&Repair> {
        self.repair.as_ref()
    }

    /// The actions that may change what propositions the observer watches, if it does.
    pub(crate) fn visible(&self) -> Option<FixedBitSet> {
        self.flips.as_ref().map(|flips| flips.visible())
    }

    /// Whether everything was chosen in the last state because it would take too long to look for sets.
    pub(crate) fn gave_up(&self) -> bool {
        self.scratch.gave_up()
    }

    /// How a set was looked for in the last state.
    pub(crate) fn effort(&self) -> Effort {
        self.scratch.effort()
    }

    /// Told of a state that was left out whether it was found on another way so far.
    pub(crate) fn learn(&mut self, is_known: bool) {
        self.scratch.learn_so_far(is_known);
    }

    /// Whether it is not worth to look for a set in the next state, which is then given up; only where giving up is taking
    /// everything, now and whenever the state is expanded.
    pub(crate) fn rests(&mut self) -> bool {
        self.repair.as_ref().is_some_and(|repair| repair.by_action) && self.scratch.rests_in_state()
    }

    /// Chooses those of the enabled actions that must be taken, by their indices. A set that is valid
    /// only if it closes no cycle is shown to `closes_no_cycle` first. Who `insists` gets what was chosen in this state before,
    /// if that was not given up.
    pub(crate) fn choose<O: Observer>(
        &mut self,
        situation: &Situation<'_>,
        observed: Observed<'_, O>,
        insists: Option<Effort>,
        closes_no_cycle: &mut dyn FnMut(&[u32]) -> bool,
        chosen: &mut Vec<u32>,
    ) -> Result<(), model::Fault> {
        if let Some(guided) = &mut self.guided {
            let bits = observed.valuations.bits(observed.valuation).first().copied().unwrap_or(0);
            let number =
                (observed.state as usize) << observed.valuations.propositions().len() | bits as usize;
            return guided.choose(self.system, situation, number, chosen);
        }
        self.scratch.insist(insists);
        let stance = observed.stance;
        let demand = if self.is_blind {
            Demand::Words
        } else {
            let number = self.offer_of(observed);
            let offer = &self.offers[number];
            let number = number as u32;
            match self.method {
                Method::Fair => {
                    // A tester may call it an error that the system ends together with it.
                    let may_wait = stance.may_wait || stance.deadlock;
                    let (passing, ends) = (stance.passing, self.flips.is_none());
                    Demand::Fair { offer, number, passing, may_wait, ends }
                }
                method => Demand::Observer {
                    offer,
                    number,
                    may_wait: stance.may_wait,
                    deadlock: stance.deadlock,
                    hybrid: method != Method::Guided,
                },
            }
        };
        self.sets.choose(situation, demand, &mut self.scratch, closes_no_cycle, chosen)
    }

    fn offer_of<O: Observer>(&mut self, mut observed: Observed<'_, O>) -> usize {
        let key = (observed.state, observed.valuation);
        if let Some(&known) = self.offer_of.get(&key) {
            return known as usize;
        }
        let offer = self.offer(&mut observed);
        self.offers.push(offer);
        let number = self.offers.len() - 1;
        self.offer_of.insert(key, number as u32);
        number
    }

    /// What the observer may follow and refuses.
    fn offer<O: Observer>(&self, observed: &mut Observed<'_, O>) -> Offer {
        let (mut follows, mut refuses) = (Vec::new(), Vec::new());
        let Observed { observer, valuations, state, valuation, .. } = observed;
        let (state, valuation) = (*state, *valuation);
        for action in (0..self.system.actions().len()).map(ActionId::new) {
            let (may_follow, may_happen) = match &self.flips {
                None => watched(*observer, valuations, state, valuation, action),
                Some(flips) => flipped(*observer, valuations, state, valuation, action, flips),
            };
            if may_follow {
                follows.push(action);
            } else if !may_happen {
                refuses.push(action);
            }
        }
        Offer::new(self.system, follows, refuses)
    }
}

/// An observer in a state, and what it sees.
pub(crate) struct Observed<'o, O> {
    pub(crate) observer: &'o mut O,
    pub(crate) valuations: &'o mut Valuations,
    pub(crate) state: u32,
    pub(crate) valuation: u32,
    pub(crate) stance: Stance,
}

/// Whether an observer of actions may follow one, and whether it lets it happen at all.
fn watched<O: Observer>(
    observer: &mut O,
    valuations: &Valuations,
    state: u32,
    valuation: u32,
    action: ActionId,
) -> (bool, bool) {
    debug_assert_eq!(observer.watches(), Watches::Actions);
    let event = Event { from: valuation, to: valuation, action: Some(action) };
    if observer.is_silent(event, valuations) {
        return (false, true);
    }
    let follows = !observer.steps(state, event, valuations).is_empty();
    (follows, follows)
}

/// More propositions of an action than this, which the observer ignores, are not gone through.
const MAX_IGNORED: usize = 6;

/// Whether an observer of changes may follow an action in some state of the present valuation, and
/// whether the action may happen in one. Propositions that it ignores may have any value: silent steps flip them.
fn flipped<O: Observer>(
    observer: &mut O,
    valuations: &mut Valuations,
    state: u32,
    valuation: u32,
    action: ActionId,
    flips: &Flips,
) -> (bool, bool) {
    if !flips.may_flip(action) {
        return (false, true);
    }
    let propositions = flips.propositions(action);
    let bit = |(index, &proposition): (usize, &usize)| -> u64 {
        u64::from(valuations.holds(valuation, proposition)) << index.min(63)
    };
    let before = propositions.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
    let ignored: Vec<usize> =
        (0..propositions.len()).filter(|&index| observer.ignores(propositions[index])).collect();
    if ignored.len() > MAX_IGNORED {
        return (true, true);
    }
    let (mut may_follow, mut may_happen) = (false, false);
    let mut target = valuations.bits(valuation).to_vec();
    let mut visit = |outcome| match outcome {
        Outcome::Silent => may_happen = true,
        Outcome::Anything => (may_follow, may_happen) = (true, true),
        Outcome::Flip(_) if may_follow => {}
        Outcome::Flip(after) => {
            for (index, &proposition) in propositions.iter().enumerate() {
                let (word, mask) = (proposition / 64, 1 << (proposition % 64));
                if after >> index & 1 == 1 {
                    target[word] |= mask;
                } else {
                    target[word] &= !mask;
                }
            }
            let to = valuations.number_of_bits(&target);
            let event = Event { from: valuation, to, action: Some(action) };
            if observer.is_silent(event, valuations) {
                may_happen = true;
                return;
            }
            may_follow = !observer.steps(state, event, valuations).is_empty();
            may_happen |= may_follow;
        }
    };
    for values in 0..1u64 << ignored.len() {
        let value = |bits, (at, &index): (usize, &usize)| match values >> at & 1 {
            1 => bits | 1u64 << index.min(63),
            _ => bits & !(1u64 << index.min(63)),
        };
        flips.for_each_outcome(action, ignored.iter().enumerate().fold(before, value), &mut visit);
    }
    (may_follow, may_happen)
}
