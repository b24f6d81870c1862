//! What several workers of one search may rely on: a state of a product means the same to each of them,
//! whatever it met before; and searches need nothing of the numbers of states but that they are different.
//!
//! A way to get it wrong is tried, too, and must be noticed: states of observers that each worker numbers as it meets them. (Sets that depend on
//! what a worker met before are tried in `schedules.rs` of `check`.)

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use automata::by_change::{Limits, small_ta};
use base::{Budget, Limit};
use check::StateId;
use check::observer::{
    ByChange, ByValue, Event, Kind, Lazy, Observer, ObserverStep, Portable, Stance, Valuations, Watches,
};
use check::product::{AtDeadlock, Path, Product};
use check::reduction::Method;
use check::search::{ProductOutcome, couvreur, one_pass, two_pass};
use check::store::{ExactPlanes, Paired, Products};
use generators::random;
use ltl::Prop;
use model::{ActionId, ActionSystem};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// A step: the state of the product it leads to, its marks and its number.
type Step = (Vec<u32>, u64, Option<ActionId>);

/// The steps out of a state, as one worker sees them.
fn steps<O: Observer>(product: &mut Product<'_, ActionSystem, O>, state: &[u32]) -> Vec<Step> {
    let mut out = product.new_steps();
    let (system, observer) = state.split_at(state.len() - 1);
    product.expand(system, observer[0], Path::Unknown, &mut out).expect("no fault");
    let target = |step: &check::product::ProductStep| {
        let mut target = state.to_vec();
        out.copy_target(step, &mut target);
        (target, step.marks, step.action)
    };
    out.steps.iter().map(target).collect()
}

/// Explores the product, breadth first, and lets another worker expand the states from the last to the first.
/// Returns how many there are.
fn two_workers<O: Portable>(
    observer: &O,
    system: &ActionSystem,
    numbers: &[usize],
    reduction: Option<Method>,
) -> Result<u32, TestCaseError> {
    let product = || {
        let valuations = Valuations::new(numbers.to_vec());
        let product = Product::new(system, observer.clone(), valuations, AtDeadlock::Stutter);
        match reduction {
            Some(method) => product.reduced(method, &[], &mut Budget::unlimited()).expect("no limit"),
            None => product,
        }
    };
    let (mut one, mut other) = (product(), product());
    let mut known: HashMap<Vec<u32>, Vec<Step>> = HashMap::new();
    let mut found: Vec<Vec<u32>> =
        one.initial_states().expect("no fault").into_iter().map(|it| it.1).collect();
    let mut next = 0;
    while next < found.len() && found.len() < 2000 {
        if let Entry::Vacant(entry) = known.entry(found[next].clone()) {
            let steps = entry.insert(steps(&mut one, &found[next]));
            found.extend(steps.iter().map(|step| step.0.clone()));
        }
        next += 1;
    }
    for state in found[..next].iter().rev() {
        prop_assert_eq!(&steps(&mut other, state), &known[state]);
    }
    Ok(known.len() as u32)
}

/// Gives numbers out of order, and leaves some out.
struct Scattered(Paired);

impl Scattered {
    const PLACES: [usize; 4] = [6, 1, 7, 3];

    fn out(id: StateId) -> StateId {
        StateId::new(id.index() / 4 * 8 + Scattered::PLACES[id.index() % 4])
    }

    fn back(id: StateId) -> StateId {
        let place = Scattered::PLACES.iter().position(|&place| place == id.index() % 8).expect("a number");
        StateId::new(id.index() / 8 * 4 + place)
    }
}

impl Products for Scattered {
    fn insert(&mut self, system: &[u32], observer: u32) -> Result<(StateId, bool), Limit> {
        self.0.insert(system, observer).map(|(id, is_new)| (Scattered::out(id), is_new))
    }

    fn insert_all(
        &mut self,
        systems: &[u32],
        width: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        ids: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Limit> {
        self.0.insert_all(systems, width, pairs, ids)?;
        ids.iter_mut().for_each(|(id, _)| *id = Scattered::out(*id));
        Ok(())
    }

    fn find(&self, system: &[u32], observer: u32) -> Option<StateId> {
        self.0.find(system, observer).map(Scattered::out)
    }

    fn get(&self, id: StateId, system: &mut [u32]) -> u32 {
        self.0.get(Scattered::back(id), system)
    }

    fn observer_state(&self, id: StateId) -> u32 {
        self.0.observer_state(Scattered::back(id))
    }

    fn n_states(&self) -> u64 {
        self.0.n_states()
    }

    fn n_system_states(&self) -> u64 {
        self.0.n_system_states()
    }

    fn n_ids(&self) -> usize {
        2 * self.0.n_ids() + 8
    }

    fn ids(&self) -> impl Iterator<Item = StateId> {
        self.0.ids().map(Scattered::out)
    }

    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

/// Searches in both kinds of stores find the same.
fn two_stores<O: Portable>(
    observer: &O,
    system: &ActionSystem,
    numbers: &[usize],
) -> Result<(), TestCaseError> {
    let new =
        || Product::new(system, observer.clone(), Valuations::new(numbers.to_vec()), AtDeadlock::Stutter);
    let budget = &mut Budget::unlimited();
    let same = |one: ProductOutcome, other: ProductOutcome| {
        let counts = |outcome: &ProductOutcome| {
            let stats = outcome.stats;
            (stats.states, stats.transitions, stats.deadlocks, outcome.system_states)
        };
        prop_assert_eq!(counts(&one), counts(&other));
        prop_assert_eq!(one.stop.is_some(), other.stop.is_some());
        Ok(())
    };
    let store = || Scattered(Paired::new(model::System::width(system), 4, u64::MAX));
    let width = new().width();
    let planes = || ExactPlanes::new(width, u64::MAX);
    if new().observer().has_livelocks() {
        same(two_pass::search(&mut new(), budget), two_pass::search_over(&mut new(), store(), budget))?;
        let queue = one_pass::WorkSet::Queue;
        let one = one_pass::search(&mut new(), queue, &mut planes(), budget);
        same(one, one_pass::search(&mut new(), queue, &mut ExactPlanes::over(store()), budget))?;
    } else {
        same(couvreur::search(&mut new(), budget), couvreur::search_over(&mut new(), store(), budget))?;
    }
    Ok(())
}

/// Both, for all observers of a formula. Returns how many states were met.
fn check(case: &mut Case) -> Result<u32, TestCaseError> {
    let formula = case.formula;
    let claim = case.claim(formula);
    let system = &case.system;
    let (props, numbers): (Vec<Prop>, Vec<usize>) = claim.propositions().iter().copied().unzip();
    let by_value = ByValue::new(claim.tgba(), props.clone());
    let mut n_states = two_workers(&by_value, system, &numbers, None)?;
    two_stores(&by_value, system, &numbers)?;
    for kind in [Kind::Ta, Kind::Tgta] {
        let lazy = Lazy::new(claim.tgba(), kind, props.clone());
        for reduction in [None, Some(Method::Guided), Some(Method::Hybrid)] {
            n_states += two_workers(&lazy, system, &numbers, reduction)?;
        }
        two_stores(&lazy, system, &numbers)?;
    }
    if let Ok(ta) = small_ta(claim.tgba(), &Limits::default(), &mut Budget::unlimited()) {
        n_states += two_workers(&ByChange::of_ta(&ta, &props, false), system, &numbers, None)?;
        two_stores(&ByChange::of_ta(&ta, &props, false), system, &numbers)?;
    }
    Ok(n_states)
}

#[test]
fn a_state_means_the_same_to_every_worker_and_its_number_means_nothing() {
    let n_states = Cell::new(0);
    run_cases(800, &(networks::network(), any::<u64>(), 1..10u32), |(network, seed, size)| {
        let case = Case::of_network(&network, Draw { seed, size, operators: random::ALL });
        n_states.set(n_states.get() + case.map_or(Ok(0), |mut case| check(&mut case))?);
        Ok(())
    });
    run_cases(300, &(systems::recipe_with_chains(), any::<u64>(), 1..10u32), |(recipe, seed, size)| {
        let case = Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL });
        n_states.set(n_states.get() + case.map_or(Ok(0), |mut case| check(&mut case))?);
        Ok(())
    });
    assert_met!(n_states.get() > 20_000, "{n_states:?} states");
}

/// A mistake: the states of an observer, numbered as they are met. Each copy has numbers of its own.
#[derive(Clone)]
struct AsMet<O> {
    observer: O,
    /// The state of each number.
    states: Vec<u32>,
    steps: Vec<ObserverStep>,
}

impl<O: Observer> AsMet<O> {
    fn number(states: &mut Vec<u32>, state: u32) -> u32 {
        let known = states.iter().position(|&known| known == state);
        known.unwrap_or_else(|| {
            states.push(state);
            states.len() - 1
        }) as u32
    }

    /// What another copy has met may be nothing here.
    fn state(&self, number: u32) -> u32 {
        self.states.get(number as usize).copied().unwrap_or(0)
    }
}

impl<O: Observer> Observer for AsMet<O> {
    fn watches(&self) -> Watches {
        self.observer.watches()
    }

    fn all_marks(&self) -> u64 {
        self.observer.all_marks()
    }

    fn n_states(&self) -> u64 {
        self.observer.n_states()
    }

    fn initial(&mut self, valuation: u32, valuations: &Valuations, out: &mut Vec<u32>) {
        let start = out.len();
        self.observer.initial(valuation, valuations, out);
        out[start..].iter_mut().for_each(|state| *state = Self::number(&mut self.states, *state));
    }

    fn steps(&mut self, state: u32, event: Event, valuations: &Valuations) -> &[ObserverStep] {
        let state = self.state(state);
        let AsMet { observer, states, steps } = self;
        let number = |step: &ObserverStep| ObserverStep { to: Self::number(states, step.to), ..*step };
        *steps = observer.steps(state, event, valuations).iter().map(number).collect();
        steps
    }

    fn stance(&mut self, state: u32, valuation: u32, valuations: &Valuations) -> Stance {
        let state = self.state(state);
        self.observer.stance(state, valuation, valuations)
    }
}

impl<O: Portable> Portable for AsMet<O> {}

/// In how many of some networks two workers disagree.
fn n_noticed(two: impl Fn(&mut Case) -> Result<u32, TestCaseError>) -> u32 {
    let n_noticed = Cell::new(0);
    run_cases(150, &(networks::network(), any::<u64>(), 3..10u32), |(network, seed, size)| {
        if let Some(mut case) = Case::of_network(&network, Draw { seed, size, operators: random::ALL }) {
            n_noticed.set(n_noticed.get() + u32::from(two(&mut case).is_err()));
        }
        Ok(())
    });
    n_noticed.get()
}

#[test]
fn numbers_that_each_worker_gives_are_noticed() {
    let n_noticed = n_noticed(|case| {
        let claim = case.claim(case.formula);
        let (props, numbers): (Vec<Prop>, Vec<usize>) = claim.propositions().iter().copied().unzip();
        let observer = ByValue::new(claim.tgba(), props);
        let observer = AsMet { observer, states: Vec::new(), steps: Vec::new() };
        two_workers(&observer, &case.system, &numbers, None)
    });
    assert_met!(n_noticed > 10, "{n_noticed}");
}
