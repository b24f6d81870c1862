//! Actors: models that are made of parts with a state of their own, which react to messages and to timers.
//!
//! A system is some actors, a [`Network`], and what may go wrong:
//!
//! ```
//! use stubborn_embed::actors::{Actor, Actors, Id, Network, Out};
//! use stubborn_embed::{assert_always, assert_holds};
//!
//! /// Asks again and again, until it is answered.
//! struct Client;
//! struct Server;
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! enum Msg {
//!     Ask,
//!     Answer(u8),
//! }
//!
//! impl Actor for Client {
//!     type Local = Option<u8>;
//!     type Msg = Msg;
//!     type Timer = ();
//!
//!     fn start(&self, _: Id, _: &mut Out<Msg>) -> Option<u8> {
//!         None
//!     }
//!     fn timers(&self, _: Id, answer: &Option<u8>, timers: &mut Vec<()>) {
//!         timers.extend(answer.is_none().then_some(()));
//!     }
//!     fn on_timer(&self, _: Id, _: &mut Option<u8>, _: &(), out: &mut Out<Msg>) {
//!         out.send(1, Msg::Ask);
//!     }
//!     fn on_msg(&self, _: Id, answer: &mut Option<u8>, _: Id, msg: &Msg, _: &mut Out<Msg>) {
//!         if let Msg::Answer(value) = msg {
//!             *answer = Some(*value);
//!         }
//!     }
//! }
//!
//! impl Actor for Server {
//!     type Local = ();
//!     type Msg = Msg;
//!     type Timer = ();
//!
//!     fn start(&self, _: Id, _: &mut Out<Msg>) {}
//!     fn on_msg(&self, _: Id, _: &mut (), from: Id, _: &Msg, out: &mut Out<Msg>) {
//!         out.send(from, Msg::Answer(42));
//!     }
//! }
//!
//! let system = Actors::new()
//!     .add("client", Client)
//!     .add("server", Server)
//!     .network(Network::unordered().lossy().at_most(1));
//! let check = system.check().prop("answered", |world| world.local(0) == Some(&Some(42_u8)));
//! assert!(check.weakly_fair().ltl("<> answered").is_violated(), "everything may get lost");
//! assert_holds!(system.check().prop("answered", |world| world.local(0) == Some(&Some(42_u8)))
//!     .weakly_fair().fair_network(), "<> answered");
//! ```
//!
//! Handlers are functions of a local state and an event, so each runs once for these, and a step of the system is a
//! look into tables (`lookup`). A state is a few bits for each actor's local state, and for the messages on their way
//! (`layout`). What is meant is said by `world`, which every counterexample is repeated on. Who may ever send to whom is known
//! before (`reach`), so that [`Check::reduced`] leaves out interleavings, once it is told which [parts](Part) propositions read.

mod actor;
mod equal;
mod layout;
mod lookup;
mod mail_words;
mod network;
mod reach;
mod tables;
mod value;
mod worker;
mod world;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

pub use actor::{Actor, Id, Out};
pub use equal::Rename;
pub use network::{Envelope, Network};
pub use reach::Part;
pub use value::Value;
pub use world::{Event, World};

use actor::AnyActor;
use layout::Hints;
use lookup::Lookup;

use crate::check::Check;
use crate::classes::{Classes, Fair, Fairness, Whom};
use crate::opaque::Recall;

/// What messages must be: `#[derive(Clone, PartialEq, Eq, Hash, Debug)]` gives all of it.
pub trait Message: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Debug + Send + Sync + 'static> Message for T {}

/// Some actors, their network, and what may go wrong.
pub struct Actors<M> {
    pub(crate) actors: Vec<Named<M>>,
    pub(crate) network: Network,
    /// How many crashes there may be.
    pub(crate) crashes: usize,
    pub(crate) restarts: bool,
    /// What searches found out about the room that states need.
    hints: std::sync::Mutex<Hints<M>>,
}

pub(crate) struct Named<M> {
    pub(crate) name: String,
    pub(crate) actor: Arc<dyn AnyActor<M>>,
}

impl<M: Message> Default for Actors<M> {
    fn default() -> Actors<M> {
        Actors::new()
    }
}

impl<M: Message> Actors<M> {
    /// No actors yet, and an unordered network that loses nothing.
    pub fn new() -> Actors<M> {
        Actors {
            actors: Vec::new(),
            network: Network::unordered(),
            crashes: 0,
            restarts: false,
            hints: std::sync::Mutex::default(),
        }
    }

    /// Adds an actor; the first one has number 0. Actors may be of different types.
    #[must_use]
    pub fn add(mut self, name: &str, actor: impl Actor<Msg = M>) -> Actors<M> {
        self.actors.push(Named { name: name.to_owned(), actor: Arc::new(actor) });
        self
    }

    /// Adds several actors that do the same, called `name 0`, `name 1`, …
    #[must_use]
    pub fn add_many(mut self, n: usize, name: &str, actor: impl Actor<Msg = M>) -> Actors<M> {
        let actor: Arc<dyn AnyActor<M>> = Arc::new(actor);
        self.actors.extend((0..n).map(|nth| Named { name: format!("{name} {nth}"), actor: actor.clone() }));
        self
    }

    /// How messages get from one actor to another.
    #[must_use]
    pub fn network(self, network: Network) -> Actors<M> {
        Actors { network, ..self }
    }

    /// At most so many crashes happen in a run.
    #[must_use]
    pub fn crashes(self, n: usize) -> Actors<M> {
        Actors { crashes: n, ..self }
    }

    /// Crashed actors may be started again, with what the crash left. Nothing forces that, unless a run must be fair to
    /// [`Event::Restart`].
    #[must_use]
    pub fn restarts(self) -> Actors<M> {
        Actors { restarts: true, ..self }
    }

    /// The name of an actor.
    pub fn name(&self, actor: Id) -> &str {
        self.actors.get(actor).map_or("nobody", |named| &named.name)
    }
}

impl<M: Message> Actors<M> {
    /// Questions about the system.
    pub fn check(&self) -> Check<'_, Actors<M>> {
        Check::new(self).made(Arc::new(lookup::<M>))
    }
}

fn lookup<'a, M: Message>(
    check: &'a Check<'_, Actors<M>>,
    classes: &'a Classes<'a, Actors<M>>,
    rests: bool,
) -> Box<dyn Recall<Actors<M>> + 'a> {
    Box::new(Lookup::new(check, classes, rests))
}

impl<M: Message> Check<'_, Actors<M>> {
    /// Only infinite runs count in which the network is fair: if messages from one actor to another can arrive again and
    /// again, they do arrive again and again.
    #[must_use]
    pub fn fair_network(mut self) -> Self {
        let n = self.model.actors.len();
        for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
            let name = format!("messages from {} to {}", self.model.name(from), self.model.name(to));
            let arrives = move |event: &Event<M>| match event {
                Event::Deliver(envelope) | Event::DeliverCopy(envelope) => {
                    (envelope.from, envelope.to) == (from, to)
                }
                _ => false,
            };
            let whom = Whom::Within(to, Arc::new(arrives));
            self.fairness.push(Fairness { name, fair: Fair::Strong, whom });
        }
        self
    }
}
