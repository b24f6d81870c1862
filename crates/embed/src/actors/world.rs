//! What actors and their network are in, and what can happen to them: the definition.
//!
//! This is a [`Model`] like any other, and slow. Searches use the tables of `lookup`, which do the same; what they find
//! is judged here.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use super::network::Mail;
use super::value::Value;
use super::{Actors, Envelope, Id, Message, Out};
use crate::model::Model;

/// An actor's local state, and whether the actor is up.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) local: Value,
    pub(crate) is_up: bool,
}

impl Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_up { self.local.fmt(f) } else { f.debug_tuple("Down").field(&self.local).finish() }
    }
}

/// All actors, and the messages on their way.
pub struct World<M> {
    pub(crate) places: Vec<Place>,
    /// How often an actor has crashed.
    pub(crate) crashes: usize,
    mail: OnceLock<Mail<M>>,
    /// Where the messages can be read, if nobody did yet.
    unread: Option<Box<dyn Unread<M>>>,
}

/// Messages that nobody has looked at.
pub(crate) trait Unread<M>: Send + Sync {
    fn read(&self) -> Mail<M>;

    /// Other words, in which they are read from now on.
    fn turn_to(&mut self, words: &[u32]);
}

impl<M: Message> World<M> {
    pub(crate) fn new(places: Vec<Place>, crashes: usize, mail: Mail<M>) -> World<M> {
        World { places, crashes, mail: OnceLock::from(mail), unread: None }
    }

    /// A world whose messages are read when they are asked for.
    pub(crate) fn with_unread(places: Vec<Place>, crashes: usize, unread: Box<dyn Unread<M>>) -> World<M> {
        World { places, crashes, mail: OnceLock::new(), unread: Some(unread) }
    }

    /// Makes this another world, whose messages nobody has looked at.
    pub(crate) fn turn_to(&mut self, crashes: usize, words: &[u32]) {
        self.crashes = crashes;
        self.mail = OnceLock::new();
        if let Some(unread) = &mut self.unread {
            unread.turn_to(words);
        }
    }

    pub(crate) fn mail(&self) -> &Mail<M> {
        self.mail
            .get_or_init(|| self.unread.as_ref().expect("a world has messages, or a place for them").read())
    }

    /// The local state of an actor, if it is of this type.
    #[inline]
    pub fn local<L: 'static>(&self, actor: Id) -> Option<&L> {
        self.places.get(actor)?.local.get()
    }

    /// The local states of all actors that have this type, in order, whether they are up or not.
    #[inline]
    pub fn all<L: 'static>(&self) -> impl Iterator<Item = &L> + Clone {
        self.places.iter().filter_map(|place| place.local.get())
    }

    /// Whether an actor is up: it has not crashed, or was started again.
    pub fn is_up(&self, actor: Id) -> bool {
        self.places.get(actor).is_some_and(|place| place.is_up)
    }

    /// The messages on their way.
    pub fn messages(&self) -> &[Envelope<M>] {
        &self.mail().all
    }
}

impl<M: Message> Clone for World<M> {
    fn clone(&self) -> World<M> {
        World::new(self.places.clone(), self.crashes, self.mail().clone())
    }
}

impl<M: Message> PartialEq for World<M> {
    fn eq(&self, other: &World<M>) -> bool {
        (&self.places, self.crashes, self.mail()) == (&other.places, other.crashes, other.mail())
    }
}

impl<M: Message> Eq for World<M> {}

impl<M: Message> Hash for World<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (&self.places, self.crashes, self.mail()).hash(hasher);
    }
}

impl<M: Message> Debug for World<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("World");
        // The order of sending matters between two actors only.
        let mut messages: Vec<&Envelope<M>> = self.messages().iter().collect();
        messages.sort_by_key(|envelope| (envelope.from, envelope.to));
        shown.field("actors", &self.places).field("messages", &messages);
        if self.crashes > 0 {
            shown.field("crashes", &self.crashes);
        }
        shown.finish()
    }
}

/// What happens.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Event<M> {
    /// A message arrives.
    Deliver(Envelope<M>),
    /// A message of an ordered network arrives, and will arrive once more.
    DeliverCopy(Envelope<M>),
    /// A timer rings.
    Timer {
        /// Whose.
        at: Id,
        /// Which.
        timer: Value,
    },
    /// A message gets lost.
    Lose(Envelope<M>),
    /// An actor crashes.
    Crash(Id),
    /// A crashed actor is started again.
    Restart(Id),
}

impl<M> Event<M> {
    /// The actor that it happens to; nobody loses a message.
    pub fn actor(&self) -> Option<Id> {
        match self {
            Event::Deliver(envelope) | Event::DeliverCopy(envelope) => Some(envelope.to),
            Event::Timer { at: actor, .. } | Event::Crash(actor) | Event::Restart(actor) => Some(*actor),
            Event::Lose(_) => None,
        }
    }
}

/// What a handler made of a local state.
pub(crate) struct Reaction<M> {
    pub(crate) place: Place,
    pub(crate) sent: Vec<(Id, M)>,
}

impl<M: Message> Actors<M> {
    /// Lets an actor react; nothing if it does not, or if nothing would change. Whether there is room for what it
    /// sends is another question.
    pub(crate) fn react(&self, place: &Place, event: &Event<M>) -> Option<Reaction<M>> {
        let me = event.actor()?;
        // Who is up cannot be started, and who is down cannot do anything else.
        if place.is_up == matches!(event, Event::Restart(_)) {
            return None;
        }
        let mut out = Out::new(me, self.actors.len());
        let (actor, local) = (&self.actors[me].actor, &place.local);
        let after = match event {
            Event::Deliver(Envelope { from, msg, .. }) | Event::DeliverCopy(Envelope { from, msg, .. }) => {
                actor.on_msg(me, local, *from, msg, &mut out)
            }
            Event::Timer { timer, .. } => actor.on_timer(me, local, timer, &mut out),
            Event::Crash(_) => actor.crash(me, local),
            Event::Restart(_) => actor.restart(me, local, &mut out),
            Event::Lose(_) => return None,
        };
        let place_after = Place { local: after, is_up: !matches!(event, Event::Crash(_)) };
        let takes = matches!(event, Event::Deliver(_)) && !self.network.is_set();
        let changes = takes || place_after != *place || !out.sent.is_empty();
        let nobody = out.sent.iter().find(|(to, _)| *to >= self.actors.len());
        if let Some((to, msg)) = nobody {
            panic!("{} sends {msg:?} to actor {to}, and there are {}", self.name(me), self.actors.len());
        }
        (changes && !out.deferred).then_some(Reaction { place: place_after, sent: out.sent })
    }

    /// The world after an event, if it can happen.
    fn after(&self, world: &World<M>, event: &Event<M>) -> Option<World<M>> {
        let mut next = world.clone();
        let mut mail = next.mail().clone();
        if let Event::Deliver(envelope) | Event::Lose(envelope) = event {
            let nth = mail.all.iter().position(|known| known == envelope)?;
            if !self.network.is_set() || matches!(event, Event::Lose(_)) {
                mail.all.remove(nth);
            }
        }
        if let Some(me) = event.actor() {
            let reaction = self.react(&world.places[me], event)?;
            next.places[me] = reaction.place;
            if !mail.send(me, &reaction.sent) {
                return None;
            }
        }
        next.crashes += usize::from(matches!(event, Event::Crash(_)));
        Some(World::new(next.places, next.crashes, mail))
    }

    /// Whatever might happen.
    fn offered(&self, world: &World<M>) -> Vec<Event<M>> {
        let mut offered = Vec::new();
        for (me, place) in world.places.iter().enumerate() {
            if place.is_up {
                let timers = self.actors[me].actor.timers(me, &place.local);
                offered.extend(timers.into_iter().map(|timer| Event::Timer { at: me, timer }));
                if world.crashes < self.crashes {
                    offered.push(Event::Crash(me));
                }
            } else if self.restarts {
                offered.push(Event::Restart(me));
            }
        }
        let mail = world.mail();
        for (_, envelope) in mail.all.iter().enumerate().filter(|(nth, _)| mail.is_next(*nth)) {
            if world.places[envelope.to].is_up {
                offered.push(Event::Deliver(envelope.clone()));
                if self.network.duplicating && self.network.ordered {
                    offered.push(Event::DeliverCopy(envelope.clone()));
                }
            }
            if self.network.lossy {
                offered.push(Event::Lose(envelope.clone()));
            }
        }
        offered
    }
}

impl<M: Message> Model for Actors<M> {
    type State = World<M>;
    type Action = Event<M>;

    fn initial(&self) -> Vec<World<M>> {
        let mut mail = Mail { network: self.network, all: Vec::new() };
        let mut places = Vec::new();
        for (me, named) in self.actors.iter().enumerate() {
            let mut out = Out::new(me, self.actors.len());
            places.push(Place { local: named.actor.start(me, &mut out), is_up: true });
            let nobody = out.sent.iter().find(|(to, _)| *to >= self.actors.len());
            assert!(nobody.is_none(), "{} sends to an actor that does not exist", self.name(me));
            assert!(
                mail.send(me, &out.sent),
                "{} sends more at the start than the network takes",
                self.name(me)
            );
        }
        vec![World::new(places, 0, mail)]
    }

    fn actions(&self, world: &World<M>, out: &mut Vec<Event<M>>) {
        for event in self.offered(world) {
            if !out.contains(&event) && self.after(world, &event).is_some() {
                out.push(event);
            }
        }
    }

    fn step(&self, world: &mut World<M>, event: &Event<M>) {
        *world = self.after(world, event).expect("only what can happen is asked for");
    }

    fn processes(&self) -> Vec<String> {
        self.actors.iter().map(|named| named.name.clone()).collect()
    }

    fn process(&self, event: &Event<M>) -> Option<usize> {
        match event {
            Event::Deliver(_) | Event::DeliverCopy(_) | Event::Timer { .. } => event.actor(),
            Event::Lose(_) | Event::Crash(_) | Event::Restart(_) => None,
        }
    }
}
