//! Actors as a [`Program`]: a step is a look into tables, and a few bits that change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use model::{ActionId, LabelId, Steps};

use super::layout::{Hints, Layout};
use super::mail_words::{Full, Shared};
use super::reach::Reach;
use super::tables::{Filler, Known, Numbers, Refused, hints, widen};
use super::worker::LookupWorker;
use super::world::World;
use super::{Actors, Event, Message};
use crate::check::Check;
use crate::classes::{Classes, Fair, Favored};
use crate::footprint::Prints;
use crate::model::Model;
use crate::opaque::Recall;
use crate::panics::catch;
use crate::program::{Program, Worker};
use crate::propositions::Propositions;
use crate::trouble::Troubles;
use crate::verdict::Reason;

/// Actors, with the results of their handlers.
pub(crate) struct Lookup<'a, M: Message> {
    pub(super) actors: &'a Actors<M>,
    pub(super) propositions: &'a Propositions<'a, Actors<M>>,
    pub(super) classes: &'a Classes<'a, Actors<M>>,
    /// Whether the environment may rest.
    pub(super) rests: bool,
    pub(super) hints: Hints<M>,
    width: usize,
    pub(super) shared: Arc<Shared<M>>,
    initial: Vec<u32>,
    pub(super) troubles: Troubles,
    /// What propositions read, and who may send to whom, if that is asked for and known.
    pub(super) reduction: Option<(&'a dyn Prints<Actors<M>>, Reach)>,
    /// Why it is not known, if it is asked for.
    unreduced: Option<String>,
}

/// Walks that find out how much room states need, before the search begins.
const WALKS: u32 = 40;
const WALK_LENGTH: u32 = 250;

impl<'a, M: Message> Lookup<'a, M> {
    pub(crate) fn new<'m: 'a>(
        check: &'a Check<'m, Actors<M>>,
        classes: &'a Classes<'a, Actors<M>>,
        rests: bool,
    ) -> Lookup<'a, M> {
        crate::panics::prepare();
        let lookup = Lookup::with_room(check.model, &check.propositions, classes, rests);
        let is_just = rests && check.fairness.iter().any(|known| known.fair == Fair::Just);
        let reach = || match is_just {
            true => Err("justness asks for more than who may send to whom".to_owned()),
            false => Reach::new(check.model),
        };
        match check.footprint.as_deref().map(|prints| Ok((prints, reach()?))) {
            Some(Ok(known)) => Lookup { reduction: Some(known), ..lookup },
            Some(Err(why)) => Lookup { unreduced: Some(why), ..lookup },
            None => lookup,
        }
    }

    /// With room for what random walks meet.
    fn with_room(
        actors: &'a Actors<M>,
        propositions: &'a Propositions<'a, Actors<M>>,
        classes: &'a Classes<'a, Actors<M>>,
        rests: bool,
    ) -> Lookup<'a, M> {
        loop {
            let hints = lock(&actors.hints).clone();
            let walked = hints.walked;
            let layout = Layout::new(actors.actors.len(), actors.crashes, actors.network, &hints);
            let width = layout.width();
            let shared = Arc::new(Shared {
                network: actors.network,
                numbers: Numbers::new(actors.actors.len()),
                known: RwLock::new(Known::new(layout, actors.actors.len())),
            });
            let mut lookup = Lookup {
                actors,
                propositions,
                classes,
                rests,
                hints,
                width,
                shared,
                initial: Vec::new(),
                troubles: Troubles::default(),
                reduction: None,
                unreduced: None,
            };
            match catch(|| actors.initial()) {
                Ok(worlds) => match lookup.encode(&worlds) {
                    Ok(words) => lookup.initial = words,
                    Err(_) => {
                        lookup.outgrown(None);
                        continue;
                    }
                },
                // There is no initial state: who begins the search says why.
                Err(_) => return lookup,
            }
            if walked {
                return lookup;
            }
            lookup.walk();
            lookup.outgrown(None);
            lock(&actors.hints).walked = true;
        }
    }

    /// Walks at random from the initial state, to meet local states and messages.
    fn walk(&self) {
        let (mut worker, mut steps) = (LookupWorker::new(self), Steps::new(self.width));
        let mut random = 1u64;
        for _ in 0..WALKS {
            let mut state = self.initial.clone();
            for _ in 0..WALK_LENGTH {
                steps.clear();
                if worker.successors(&state, &mut steps).is_err() || steps.is_empty() {
                    break;
                }
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state.copy_from_slice(steps.target((random >> 33) as usize % steps.len()));
            }
        }
    }

    fn encode(&self, worlds: &[World<M>]) -> Result<Vec<u32>, Refused> {
        let known = &mut *self.shared.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for world in worlds {
            let mut words = vec![0; self.width];
            let (actors, numbers, hints) = (self.actors, &self.shared.numbers, &self.hints);
            let mut filler = Filler { actors, numbers, hints, known };
            for (actor, place) in world.places.iter().enumerate() {
                let number = filler.place(actor, place)?;
                filler.known.layout.places[actor].set(&mut words, number);
            }
            let mut sent = Vec::new();
            for envelope in &world.mail().all {
                sent.push(filler.envelope(envelope)?);
            }
            for number in sent {
                let mut content = Vec::new();
                self.shared.put(known, &mut words, number, &mut content).map_err(|full| {
                    self.outgrown(Some(&full));
                    Refused::Outgrown
                })?;
            }
            all.extend(words);
        }
        Ok(all)
    }

    /// Remembers how much room is needed; a message may be counted too often for its field.
    pub(super) fn outgrown(&self, full: Option<&Full>) {
        let mut known = lock(&self.actors.hints);
        *known = hints(&self.shared.numbers, self.actors.network, &known);
        if let Some(full) = full {
            widen(&mut known, self.shared.numbers.envelopes.get(full.envelope), full.count);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Message> Recall<Actors<M>> for Lookup<'_, M> {
    fn action(&self, step: ActionId) -> Option<Event<M>> {
        self.classes.action_of(step).map(|number| self.shared.numbers.events.get(number).clone())
    }

    fn troubles(&self) -> &Troubles {
        &self.troubles
    }

    fn unreduced(&self) -> Option<&str> {
        self.unreduced.as_deref()
    }

    fn begins(&self) -> Result<(), Reason> {
        let worlds = catch(|| self.actors.initial());
        worlds.map(drop).map_err(|text| Reason::Question(format!("`start` panics: {text}")))
    }

    fn as_program(&self) -> &dyn Program {
        self
    }
}

impl<M: Message> Program for Lookup<'_, M> {
    fn width(&self) -> usize {
        self.width
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        out.extend(&self.initial);
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(LookupWorker::new(self))
    }

    fn n_propositions(&self) -> usize {
        self.propositions.len()
    }

    fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn label(&self, class: ActionId) -> Option<LabelId> {
        self.classes.label(class)
    }

    fn is_reduced(&self) -> bool {
        self.reduction.is_some()
    }

    fn favored(&self) -> Option<&Favored> {
        self.classes.favored()
    }

    fn bytes(&self) -> u64 {
        self.shared.numbers.bytes() + self.shared.read().bytes()
    }
}
