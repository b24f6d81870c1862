//! Walks through a model, looking for states, and the state space as a graph.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use stubborn::{Clock, Destination, Fold, Sought, Threads, Walker};

use super::requests::{FoldBy, Folding, Seeking, Walking, Wandering};
use super::{Answer, Api};
use crate::jobs::lock;
use crate::spec::Spec;
use crate::telling;

/// So many models are kept that somebody walks through.
const MAX_WALKERS: usize = 4;

/// A state space is looked at as far as it has so many states, in so many classes.
const MAX_STATES: u64 = 200_000;
const MAX_CLASSES: usize = 200;

/// At random, no more steps are taken at once.
const MAX_WANDERING: usize = 10_000;

impl Api {
    /// Lets somebody walk through a model. It is kept for the next step, unless it depends on other files.
    fn walking(
        &self,
        model: &Spec,
        walk: impl FnOnce(&mut Walker, &Clock<'_>) -> Result<Value, stubborn::Error>,
    ) -> Value {
        let _inside = self.computing.enter();
        let clock = self.clock();
        let known =
            lock(&self.walkers).iter().find(|(known, _)| known == model).map(|(_, walker)| walker.clone());
        let walked = match known {
            Some(walker) => walk(&mut lock(&walker), &clock),
            None => self.walker(model, &clock).and_then(|walker| walk(&mut lock(&walker), &clock)),
        };
        walked.unwrap_or_else(|error| telling::trouble(&error, None))
    }

    fn walker(&self, model: &Spec, clock: &Clock<'_>) -> Result<Arc<Mutex<Walker>>, stubborn::Error> {
        let (session, has_others) = model.open_and_tell(self.folder.as_deref(), clock)?;
        let walker = Arc::new(Mutex::new(Walker::new(session, clock)?));
        if !has_others {
            let mut walkers = lock(&self.walkers);
            walkers.truncate(MAX_WALKERS - 1);
            walkers.insert(0, (model.clone(), walker.clone()));
        }
        Ok(walker)
    }

    /// Where a path leads.
    pub(super) fn walk(&self, walk: &Walking) -> Value {
        self.walking(&walk.model, |walker, clock| {
            let place = walker.place(&(&walk.path).into(), &walk.watched, clock)?;
            Ok(json!({ "generation": walker.generation(), "place": telling::place(&place) }))
        })
    }

    /// Where chance leads.
    pub(super) fn wander(&self, walk: &Wandering) -> Value {
        let mut random = fastrand::Rng::with_seed(walk.seed);
        self.walking(&walk.model, |walker, clock| {
            let n_steps = walk.steps.min(MAX_WANDERING);
            let choose = &mut |n: usize| random.usize(0..n);
            let (steps, end) =
                walker.wander(&(&walk.path).into(), n_steps, &walk.breakpoints, choose, clock)?;
            Ok(json!({ "steps": telling::steps_text(&steps), "ended": telling::walk_end(&end) }))
        })
    }

    /// The run of a path.
    pub(super) fn trace(&self, walk: &Walking) -> Value {
        self.walking(&walk.model, |walker, clock| {
            let trace = walker.trace(&(&walk.path).into(), &walk.watched, clock)?;
            Ok(telling::walked(trace, walker.session().info()))
        })
    }

    /// Begins to explore the state space, to be looked at.
    pub(super) fn fold(&self, folding: Folding) -> Answer {
        let (folder, limits) = (self.folder.clone(), self.settings.limits.states(MAX_STATES));
        let fold = match folding.by {
            FoldBy::States => Fold::States,
            FoldBy::Parts => Fold::Parts(folding.names),
            FoldBy::Truths => Fold::Truths(folding.names),
            FoldBy::Components => Fold::Components,
        };
        self.begin(move |watched| {
            let clock = Clock::start(&limits).watched_by(watched).with_threads(Threads::ONE);
            let opened = folding.model.open(folder.as_deref(), &clock);
            match opened.and_then(|mut session| session.fold(&fold, &folding.opened, MAX_CLASSES, &clock)) {
                Ok(folded) => telling::folded(&folded),
                Err(error) => telling::trouble(&error, None),
            }
        })
    }

    /// Begins to look for a state.
    pub(super) fn seek(&self, seeking: Seeking) -> Answer {
        let (folder, limits) = (self.folder.clone(), self.settings.limits);
        let destination = seeking.goal.map_or(Destination::Deadlock, Destination::Where);
        self.begin(move |watched| {
            let clock = Clock::start(&limits).watched_by(watched);
            let found = seeking
                .model
                .open(folder.as_deref(), &clock)
                .and_then(|session| Walker::new(session, &clock))
                .and_then(|mut walker| walker.seek(&(&seeking.path).into(), &destination, &clock));
            match found {
                Ok(Sought::Found(steps)) => json!({ "steps": telling::steps_text(&steps) }),
                Ok(Sought::Nowhere(states)) => json!({ "nowhere": states }),
                Ok(Sought::Limit(limit, states)) => json!({ "limit": limit.to_string(), "states": states }),
                Err(error) => telling::trouble(&error, None),
            }
        })
    }
}
