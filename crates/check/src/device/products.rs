//! The search of a product on a device: from the first state to the answer.
//!
//! All levels are found, by one kernel for whatever [observer](super::observer) there is. Where something is accepted at once, or by
//! its end, there is a run as for [states](super::states). In the end, cycles are looked for by a [fixpoint](super::fixpoint): of
//! marks, weak and strong fairness, and livelocks.
//!
//! # Requirements and limits
//! If the product is reduced by guided sets, those are taken that depend on the state alone ([`por::steady`]): the graph that is searched
//! is then that of any search of the processor by the same sets, so whatever these keep is kept. Otherwise nothing is left out. The observer must number its states beforehand. If there is an accepted cycle, the processor must look for it.

use base::device::Device;
use base::{Budget, Limit};
use model::System;
use model::tables::Tables;

use super::fixpoint::Scope;
use super::job::{Job, Pick};
use super::levels::{Kernels, Levels};
use super::memory::Shape;
use super::observer::{self, Watched};
use super::space::{Paired, Space as _};
use super::{PARTS_FOR_PRODUCTS, with_more, with_sets};
use crate::observer::Observer;
use crate::product::{ExpandError, Product};
use crate::search::{Evidence, ProductOutcome, ProductStop, Stats, Violation};

/// What is looked for in a product, beside what is accepted at once or by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Looks {
    pub(crate) for_marks: bool,
    pub(crate) for_livelocks: bool,
}

/// What a device says about a product.
pub(crate) enum Answer {
    Decided(ProductOutcome),
    /// It must be asked otherwise.
    Left(&'static str),
}

/// Looks for something in a product of an action system.
pub(crate) fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    looks: Looks,
    device: &dyn Device,
    budget: &mut Budget<'_>,
) -> Answer {
    let Some(system) = product.system().as_actions() else {
        return Answer::Left("it searches models of processes, nets and Promela");
    };
    let sets = product.steady_sets().cloned();
    let tables = if sets.is_some() { Tables::with_guards(system) } else { Tables::of(system) };
    let Ok(tables) = tables else {
        return Answer::Left("the model is too wide or too large for it");
    };
    let mut scopes = Vec::new();
    let observer = product.observer();
    if looks.for_livelocks && observer.has_livelocks() {
        scopes.push((Scope::Livelocks, product.fairness().acceptance(0)));
    }
    if looks.for_marks && observer.has_marks() {
        scopes.push((Scope::Cycles, product.fairness().acceptance(observer.all_marks())));
    }
    let has_marks = scopes.iter().any(|(_, acceptance)| !acceptance.blocks().is_empty());
    let n_cycle_words = if scopes.is_empty() { 0 } else { 1 + u64::from(has_marks) };
    let shape = Shape { n_cycle_words, ..Shape::of(system) };
    let Some(mut watched) = observer::words(product, &tables, shape) else {
        return Answer::Left("the automaton has too many states or propositions for it");
    };
    if let Some(sets) = sets {
        watched.words = with_sets(&watched.words, &sets);
    }
    let outcome = with_more(device, &PARTS_FOR_PRODUCTS, |bytes| {
        let job = Job::new(&watched.shape, &watched.words, device, bytes);
        job.map_or_else(
            |limit| Tried::Outcome(ProductOutcome::limited(limit)),
            |job| try_once(product, &watched, &scopes, job, budget),
        )
    });
    match outcome {
        Err(_) | Ok(Tried::Outcome(ProductOutcome { stop: Some(ProductStop::Limit(Limit::Device)), .. })) => {
            Answer::Left("it failed")
        }
        Ok(Tried::Outcome(ProductOutcome {
            stop: Some(ProductStop::Limit(Limit::DeviceMemory(_))), ..
        })) => Answer::Left("its memory is full"),
        Ok(Tried::Outcome(outcome)) => Answer::Decided(outcome),
        Ok(Tried::HasCycle) => Answer::Left("it found that there is a run, and not which"),
    }
}

/// What a search with some memory came to.
enum Tried {
    Outcome(ProductOutcome),
    HasCycle,
}

impl super::MayBeFull for Tried {
    fn is_full(&self) -> bool {
        let Tried::Outcome(ProductOutcome { stop: Some(ProductStop::Limit(limit)), .. }) = self else {
            return false;
        };
        matches!(limit, Limit::DeviceMemory(_))
    }
}

fn try_once<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    watched: &Watched,
    scopes: &[(Scope, crate::fairness::Acceptance)],
    job: Job<'_>,
    budget: &mut Budget<'_>,
) -> Tried {
    let space = Paired::new(product, watched.seat, watched.shape.masks.len());
    let kernels = if space.product.steady_sets().is_some() { Kernels::LED } else { Kernels::PRODUCT };
    let mut search = Search { levels: Levels::new(space, job, kernels, budget) };
    let stop = search.run().unwrap_or_else(|limit| Some(ProductStop::Limit(limit)));
    let mut has_cycle = false;
    let mut stop = stop.map_or(Ok(None), |stop| Ok(Some(stop)));
    if matches!(stop, Ok(None)) {
        for (scope, acceptance) in scopes {
            match search.levels.has_cycle(*scope, acceptance) {
                Ok(false) => {}
                Ok(true) => has_cycle = true,
                Err(limit) => stop = Err(limit),
            }
            if has_cycle || stop.is_err() {
                break;
            }
        }
    }
    let stop = stop.unwrap_or_else(|limit| Some(ProductStop::Limit(limit)));
    if has_cycle {
        return Tried::HasCycle;
    }
    let (stats, met) = (search.levels.stats(), search.levels.job.taken());
    match met {
        Ok(met) => {
            search.absorb(&met);
            Tried::Outcome(outcome(stats, stop))
        }
        Err(limit) => Tried::Outcome(ProductOutcome::limited(limit)),
    }
}

fn outcome(stats: Stats, stop: Option<ProductStop>) -> ProductOutcome {
    ProductOutcome { stats, system_states: None, stop, coverage: None }
}

struct Search<'p, 'a, 'd, 'b, 'w, S: System, O> {
    levels: Levels<'d, 'b, 'w, Paired<'p, 'a, S, O>>,
}

impl<S: System, O: Observer> Search<'_, '_, '_, '_, '_, S, O> {
    /// Goes from level to level.
    fn run(&mut self) -> Result<Option<ProductStop>, Limit> {
        let initial = match self.levels.space.initial() {
            Ok(initial) => initial,
            Err(error) => return Ok(Some(error.into())),
        };
        self.levels.begin(&initial)?;
        while let Some(news) = self.levels.expand()? {
            if !news.has_wrong && news.faults.is_empty() {
                continue;
            }
            let level = self.levels.ends.len() - 2;
            let way = self.levels.way(level, |levels| {
                levels.job.mark(&news.faults, 1)?;
                let is_wrong = |space: &mut Paired<'_, '_, S, O>, state: &[u32]| {
                    space.expand(state).is_ok_and(|found| found.is_wrong)
                };
                levels.pick_out(level, Pick::Wrong, 1, is_wrong).map(|_| ())
            })?;
            return match way {
                None => Err(Limit::Device),
                Some(way) => Ok(Some(self.explain(&way))),
            };
        }
        Ok(None)
    }

    /// What goes wrong where a way leads.
    fn explain(&mut self, way: &super::runs::Way) -> ProductStop {
        let space = &mut self.levels.space;
        let Ok(initial) = space.product.initial_states() else { return ProductStop::NoRun };
        let Some((index, _)) = initial.get(way.initial) else { return ProductStop::NoRun };
        let run = model::Run { initial: *index, ..way.run() };
        let violation = match space.expand(way.last()) {
            Err(ExpandError::Step(error)) => return ProductStop::Fault(error, run),
            Ok(found) if found.is_deadlock => Violation::Deadlock,
            Ok(found) if found.is_wrong => Violation::AtOnce,
            Ok(_) | Err(ExpandError::Limit(_)) => return ProductStop::NoRun,
        };
        // The end of a run that repeats is no step of it.
        let moves = way.actions.iter().zip(way.states.iter().skip(1)).filter(|(action, _)| action.is_some());
        let states = way.states.iter().take(1).chain(moves.map(|(_, state)| state));
        let observer_states = states.map(|state| space.part(state).1).collect();
        ProductStop::Found(Evidence { violation, run, cycle_start: None, observer_states })
    }

    /// Takes note of the valuations that were met.
    fn absorb(&mut self, met: &[bool]) {
        let n_propositions = self.levels.space.product.valuations().propositions().len();
        if n_propositions == 0 {
            return;
        }
        let words: Vec<u32> =
            (0..met.len() as u32).filter(|&bits| met[bits as usize]).flat_map(|bits| [bits, 0]).collect();
        self.levels.space.product.absorb_words(&words);
    }
}
