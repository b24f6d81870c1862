//! Which interleavings of actors matter: stubborn sets from what handlers do.
//!
//! An actor looks at its own local state and at the messages to it, and changes these; to others it only sends. So what
//! others do disturbs it in one way only: they send it something. Who may ever send to whom, from a local state on, is
//! found out before the search: handlers are run for whatever local state and message there may be (more than there
//! are, since not all of them meet), until nothing new comes of it. Where that is too much, or a handler panics,
//! nothing is known, everything is explored, and the proof says why.
//!
//! In a state, actors are collected from one on until nothing is missing: with an actor all who may ever send to it from where they
//! are now. What can happen to these actors now is a stubborn set: messages that arrive, timers, restarts, and losses of messages to
//! them. For
//! - nothing else can enable anything of it: a new message would have to be sent by one of them. Where a channel takes only so many
//!   messages, a step may wait for room, which is made by who receives: so then all to whom an actor may send are
//!   collected, too;
//! - each of its steps can as well happen before what the others do: they change neither these local states nor the
//!   messages to these actors, and a message that is put on its way comes behind those of others, or beside them. In a
//!   network that is a set it may have been lost before it is sent once more; but then it might as well not have been
//!   lost: nobody can tell that a message is not there, and the shorter run leads to the same state.
//!
//! As long as an actor may crash nothing is left out, since crashes are counted: each may prevent another.
//!
//! What is left out of such sets, and what makes them enough, is the same as for footprints; see `footprint`. Of fair runs, KEY is
//! the same. FLIP: others enable something of an actor by what they send to it, again and again only if that is lost, or
//! arrives, which is what runs are fair to; or by making room for what it sends: then they are collected with it, see above. So in a
//! lossy network, all to whom an actor may send are collected with it, with what is lost on the way to them.

use pack::Table;

use super::world::{Place, Reaction};
use super::{Actors, Envelope, Event, Id, Message};
use crate::footprint::Footprint;
use crate::panics::catch;

/// So often are handlers run before it is too much.
const MAX_REACTIONS: usize = 50_000;

/// Actors, as the bits of a word.
pub(super) type Some64 = u64;

/// To whom actors may ever send.
pub(crate) struct Reach {
    /// Per actor, its local states.
    places: Vec<Table<Place>>,
    /// Per actor and local state, to whom it may send from there on.
    sends: Vec<Vec<Some64>>,
}

impl Reach {
    /// Finds out.
    ///
    /// # Errors
    /// Why it is not known, in a sentence.
    pub(crate) fn new<M: Message>(actors: &Actors<M>) -> Result<Reach, String> {
        let n = actors.actors.len();
        if n > 64 {
            return Err(format!("there are {n} actors, and who may send to whom is found out for up to 64"));
        }
        let tables = || (0..n).map(|_| Table::default()).collect::<Vec<_>>();
        let mut closure = Closure {
            actors,
            places: tables(),
            inboxes: (0..n).map(|_| Table::default()).collect(),
            nodes: (0..n).map(|_| Vec::new()).collect(),
            n_reactions: 0,
        };
        for world in catch(|| crate::model::Model::initial(actors))? {
            for (actor, place) in world.places.iter().enumerate() {
                closure.place(actor, place);
            }
            world.mail().all.iter().for_each(|envelope| _ = closure.inboxes[envelope.to].number(envelope));
        }
        closure.close()?;
        let sends = closure.nodes.iter().map(|nodes| spread(nodes)).collect();
        Ok(Reach { places: closure.places, sends })
    }

    /// To whom an actor may send from a local state on.
    pub(super) fn sends(&self, actor: Id, place: &Place) -> Some64 {
        let known = self.places[actor].number(place) as usize;
        // All are known; whoever is not might send to anybody.
        self.sends[actor].get(known).copied().unwrap_or(u64::MAX)
    }
}

/// A local state.
#[derive(Default)]
struct Node {
    /// To whom something is sent in a step.
    sends: Some64,
    /// Where steps lead, crashes left out.
    next: Vec<u32>,
    /// Whether it is known what timers and turns do.
    is_begun: bool,
    /// So many messages were tried.
    n_tried: u32,
}

struct Closure<'a, M> {
    actors: &'a Actors<M>,
    places: Vec<Table<Place>>,
    /// Per actor, all messages that it may get.
    inboxes: Vec<Table<Envelope<M>>>,
    nodes: Vec<Vec<Node>>,
    n_reactions: usize,
}

impl<M: Message> Closure<'_, M> {
    fn place(&mut self, actor: Id, place: &Place) -> u32 {
        let number = self.places[actor].number(place);
        while self.nodes[actor].len() <= number as usize {
            self.nodes[actor].push(Node::default());
        }
        number
    }

    /// Tries everything until nothing is new.
    fn close(&mut self) -> Result<(), String> {
        loop {
            let before = self.n_reactions;
            for actor in 0..self.nodes.len() {
                let mut at = 0;
                while at < self.nodes[actor].len() {
                    self.visit(actor, at)?;
                    at += 1;
                }
            }
            if self.n_reactions == before {
                return Ok(());
            }
        }
    }

    fn visit(&mut self, actor: Id, at: usize) -> Result<(), String> {
        let here = self.places[actor].get(at as u32).clone();
        if !std::mem::replace(&mut self.nodes[actor][at].is_begun, true) {
            if here.is_up {
                let timers = catch(|| self.actors.actors[actor].actor.timers(actor, &here.local));
                let timers = timers.map_err(|text| self.panics(actor, &text))?;
                for timer in timers {
                    self.react(actor, at, &here, &Event::Timer { at: actor, timer })?;
                }
            }
            if here.is_up && self.actors.crashes > 0 {
                self.react(actor, at, &here, &Event::Crash(actor))?;
            } else if !here.is_up && self.actors.restarts {
                self.react(actor, at, &here, &Event::Restart(actor))?;
            }
        }
        while self.nodes[actor][at].n_tried < self.inboxes[actor].len() {
            let envelope = self.inboxes[actor].get(self.nodes[actor][at].n_tried).clone();
            self.nodes[actor][at].n_tried += 1;
            if self.actors.network.duplicating && self.actors.network.ordered {
                self.react(actor, at, &here, &Event::DeliverCopy(envelope.clone()))?;
            }
            self.react(actor, at, &here, &Event::Deliver(envelope))?;
        }
        Ok(())
    }

    fn panics(&self, actor: Id, text: &str) -> String {
        let name = self.actors.name(actor);
        format!("a handler of {name} panics where it is tried out to learn who may send to whom: {text}")
    }

    fn react(&mut self, actor: Id, at: usize, here: &Place, event: &Event<M>) -> Result<(), String> {
        self.n_reactions += 1;
        if self.n_reactions > MAX_REACTIONS {
            return Err(format!(
                "handlers do more than {MAX_REACTIONS} different things when whatever may ever be sent is tried in any local \
                 state (a queue may then grow for ever), so it is not known who may send to whom"
            ));
        }
        let reaction = catch(|| self.actors.react(here, event)).map_err(|text| self.panics(actor, &text))?;
        let Some(Reaction { place, sent }) = reaction else { return Ok(()) };
        let next = self.place(actor, &place);
        if !matches!(event, Event::Crash(_)) {
            self.nodes[actor][at].next.push(next);
        }
        for (to, msg) in sent {
            self.nodes[actor][at].sends |= 1 << to;
            self.inboxes[to].number(&Envelope { from: actor, to, msg });
        }
        Ok(())
    }
}

/// To whom something is sent from a local state on.
fn spread(nodes: &[Node]) -> Vec<Some64> {
    let mut sends: Vec<Some64> = nodes.iter().map(|node| node.sends).collect();
    loop {
        let mut is_stable = true;
        for (at, node) in nodes.iter().enumerate().rev() {
            let all = node.next.iter().fold(sends[at], |all, &next| all | sends[next as usize]);
            is_stable &= all == sends[at];
            sends[at] = all;
        }
        if is_stable {
            return sends;
        }
    }
}

/// Actors that cannot be left out once one of them is taken: `needs` says whom each brings along.
pub(super) fn collect(first: Id, needs: &[Some64]) -> Some64 {
    let mut set: Some64 = 1 << first;
    loop {
        let more =
            (0..needs.len()).filter(|actor| set >> actor & 1 == 1).fold(set, |all, actor| all | needs[actor]);
        if more == set {
            return set;
        }
        set = more;
    }
}

/// A part of a [`World`](super::World).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The local state of an actor, and whether it is up.
    Actor(Id),
    /// The messages on their way from one actor to another.
    Messages {
        /// Who sends.
        from: Id,
        /// Who receives.
        to: Id,
    },
}

/// What propositions read is told by these parts; what events touch is known.
impl<M: Message> Footprint for Actors<M> {
    type Part = Part;

    fn touches(&self, event: &Event<M>, reads: &mut Vec<Part>, writes: &mut Vec<Part>) {
        let n = self.actors.len();
        match event {
            Event::Deliver(Envelope { from, to, .. })
            | Event::DeliverCopy(Envelope { from, to, .. })
            | Event::Lose(Envelope { from, to, .. }) => writes.push(Part::Messages { from: *from, to: *to }),
            _ => {}
        }
        if let Some(actor) = event.actor() {
            writes.push(Part::Actor(actor));
            if !matches!(event, Event::Crash(_)) {
                writes.extend((0..n).map(|to| Part::Messages { from: actor, to }));
            }
        }
        // Crashes are counted, so each looks at all.
        if matches!(event, Event::Crash(_)) {
            writes.extend((0..n).map(Part::Actor));
        }
        reads.extend_from_slice(writes);
    }

    fn reaches(&self, process: Option<usize>, reads: &mut Vec<Part>, writes: &mut Vec<Part>) {
        let n = self.actors.len();
        match process {
            Some(actor) => {
                writes.push(Part::Actor(actor));
                for other in 0..n {
                    writes.push(Part::Messages { from: other, to: actor });
                    writes.push(Part::Messages { from: actor, to: other });
                }
            }
            None => {
                writes.extend((0..n).map(Part::Actor));
                let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
                writes.extend(pairs.map(|(from, to)| Part::Messages { from, to }));
            }
        }
        reads.extend_from_slice(writes);
    }
}
