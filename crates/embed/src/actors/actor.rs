//! What a user writes: an actor, and what its handlers can do.

use std::fmt::Debug;
use std::hash::Hash;

use super::value::Value;

/// Who it is: actors are numbered in the order in which they were added.
pub type Id = usize;

/// Something with a state of its own that reacts to messages and to timers.
///
/// Handlers depend on nothing else than what they are given: each runs once for a local state and an event, and what
/// came out is remembered.
pub trait Actor: Send + Sync + 'static {
    /// What the actor keeps.
    type Local: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// What actors tell each other. All actors of a system have the same type of messages.
    type Msg: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// What can make the actor move by itself; `()` if there is one reason only.
    type Timer: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The local state that the actor begins with. It may send messages at once.
    fn start(&self, me: Id, out: &mut Out<Self::Msg>) -> Self::Local;

    /// A message arrives.
    fn on_msg(&self, me: Id, local: &mut Self::Local, from: Id, msg: &Self::Msg, out: &mut Out<Self::Msg>);

    /// Appends the timers that may ring in a local state. How long they take is not said: each may ring now, later, or
    /// never, unless the system is fair to the actor.
    fn timers(&self, _me: Id, _local: &Self::Local, _out: &mut Vec<Self::Timer>) {}

    /// A timer rings.
    fn on_timer(&self, _me: Id, _local: &mut Self::Local, _timer: &Self::Timer, _out: &mut Out<Self::Msg>) {}

    /// What a crash leaves of the local state. By default nothing: the actor is as it was at the start.
    fn crash(&self, me: Id, local: &mut Self::Local) {
        *local = self.start(me, &mut Out::new(me, 0));
    }

    /// The actor is up again, with what the crash left.
    fn restart(&self, _me: Id, _local: &mut Self::Local, _out: &mut Out<Self::Msg>) {}
}

/// Where handlers put the messages that they send.
#[derive(Debug)]
pub struct Out<M> {
    me: Id,
    n_actors: usize,
    pub(crate) sent: Vec<(Id, M)>,
    pub(crate) deferred: bool,
}

impl<M> Out<M> {
    pub(crate) fn new(me: Id, n_actors: usize) -> Out<M> {
        Out { me, n_actors, sent: Vec::new(), deferred: false }
    }

    /// Sends a message to an actor.
    pub fn send(&mut self, to: Id, msg: M) {
        self.sent.push((to, msg));
    }

    /// Sends a message to all others.
    pub fn broadcast(&mut self, msg: M)
    where
        M: Clone,
    {
        let others = (0..self.n_actors).filter(|&to| to != self.me);
        self.sent.extend(others.map(|to| (to, msg.clone())));
    }

    /// Says that the actor does not take the message now: it stays where it is, and whatever the handler did is
    /// forgotten.
    pub fn defer(&mut self) {
        self.deferred = true;
    }

    /// Number of actors in the system.
    pub fn n_actors(&self) -> usize {
        self.n_actors
    }
}

/// An actor of whatever type, which only the messages' type is known of.
pub(crate) trait AnyActor<M>: Send + Sync {
    fn start(&self, me: Id, out: &mut Out<M>) -> Value;
    fn on_msg(&self, me: Id, local: &Value, from: Id, msg: &M, out: &mut Out<M>) -> Value;
    fn timers(&self, me: Id, local: &Value) -> Vec<Value>;
    fn on_timer(&self, me: Id, local: &Value, timer: &Value, out: &mut Out<M>) -> Value;
    fn crash(&self, me: Id, local: &Value) -> Value;
    fn restart(&self, me: Id, local: &Value, out: &mut Out<M>) -> Value;
}

/// The local state, which an actor gets back as it made it.
fn own<T: Clone + 'static>(value: &Value) -> T {
    value.get::<T>().expect("an actor's values are its own").clone()
}

impl<A: Actor> AnyActor<A::Msg> for A {
    fn start(&self, me: Id, out: &mut Out<A::Msg>) -> Value {
        Value::new(Actor::start(self, me, out))
    }

    fn on_msg(&self, me: Id, local: &Value, from: Id, msg: &A::Msg, out: &mut Out<A::Msg>) -> Value {
        let mut local = own::<A::Local>(local);
        Actor::on_msg(self, me, &mut local, from, msg, out);
        Value::new(local)
    }

    fn timers(&self, me: Id, local: &Value) -> Vec<Value> {
        let mut timers = Vec::new();
        Actor::timers(self, me, &own::<A::Local>(local), &mut timers);
        timers.into_iter().map(Value::new).collect()
    }

    fn on_timer(&self, me: Id, local: &Value, timer: &Value, out: &mut Out<A::Msg>) -> Value {
        let mut local = own::<A::Local>(local);
        Actor::on_timer(self, me, &mut local, &own::<A::Timer>(timer), out);
        Value::new(local)
    }

    fn crash(&self, me: Id, local: &Value) -> Value {
        let mut local = own::<A::Local>(local);
        Actor::crash(self, me, &mut local);
        Value::new(local)
    }

    fn restart(&self, me: Id, local: &Value, out: &mut Out<A::Msg>) -> Value {
        let mut local = own::<A::Local>(local);
        Actor::restart(self, me, &mut local, out);
        Value::new(local)
    }
}
