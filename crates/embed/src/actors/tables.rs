//! What handlers did: each result is computed once, for an actor, its local state and an event.

use super::layout::{Hints, Layout, bits_for};
use super::world::{Place, Reaction};
use super::{Actors, Envelope, Event, Id, Message, Network};
use crate::panics::catch;
use pack::Table;

/// Values that have numbers. What is numbered can be read without a lock.
pub(crate) struct Numbers<M> {
    /// Per actor.
    pub(crate) places: Vec<Table<Place>>,
    pub(crate) envelopes: Table<Envelope<M>>,
    pub(crate) events: Table<Event<M>>,
    /// Per channel of an ordered network: its contents, as numbers of messages. Number 0 is empty.
    pub(crate) queues: Vec<Table<Vec<u32>>>,
}

impl<M: Message> Numbers<M> {
    pub(crate) fn new(n_actors: usize) -> Numbers<M> {
        let queues: Vec<Table<Vec<u32>>> = (0..n_actors * n_actors).map(|_| Table::default()).collect();
        for queue in &queues {
            queue.number(&Vec::new());
        }
        Numbers {
            places: (0..n_actors).map(|_| Table::default()).collect(),
            envelopes: Table::default(),
            events: Table::default(),
            queues,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        let places: usize = self.places.iter().map(|table| table.bytes() + 32 * table.len() as usize).sum();
        let queues: usize = self.queues.iter().map(|table| table.bytes() + 16 * table.len() as usize).sum();
        (places + queues + self.envelopes.bytes() + self.events.bytes()) as u64
    }
}

/// What an event does to an actor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// The number of the event.
    pub(crate) event: u32,
    /// The number of the actor's local state after it.
    pub(crate) place: u32,
    /// What is sent: a part of [`Known::sent`].
    sent: (u32, u32),
}

/// An entry of a table: nothing yet, nothing happens, or an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

impl Entry {
    const UNKNOWN: Entry = Entry(0);
    const NOTHING: Entry = Entry(1);

    /// The number of the effect, if something happens.
    #[inline]
    pub(crate) fn effect(self) -> Option<u32> {
        self.0.checked_sub(2)
    }

    #[inline]
    pub(crate) fn is_known(self) -> bool {
        self != Entry::UNKNOWN
    }
}

/// What is known about an actor in one of its local states.
#[derive(Debug)]
pub(crate) struct At {
    pub(crate) is_up: bool,
    /// What its timers do.
    pub(crate) timers: Option<Box<[Entry]>>,
    /// What a crash does, or a restart.
    pub(crate) turn: Entry,
    /// What messages do, by their places among those to this actor; and what copies of them do.
    messages: [Vec<Entry>; 2],
}

/// All that is known, and where it is in the words of a state.
pub(crate) struct Known {
    pub(crate) layout: Layout,
    /// Per actor and local state.
    pub(crate) at: Vec<Vec<At>>,
    pub(crate) effects: Vec<Effect>,
    sent: Vec<u32>,
    /// Per message, its place among those to the same actor.
    inbox_place: Vec<u32>,
    n_inbox: Vec<u32>,
}

/// Why something cannot be added.
pub(crate) enum Refused {
    /// States need more room: the search must begin again.
    Outgrown,
    /// A handler panics in an event.
    Panic { event: u32, text: String },
}

impl Known {
    pub(crate) fn new(layout: Layout, n_actors: usize) -> Known {
        Known {
            layout,
            at: (0..n_actors).map(|_| Vec::new()).collect(),
            effects: Vec::new(),
            sent: Vec::new(),
            inbox_place: Vec::new(),
            n_inbox: vec![0; n_actors],
        }
    }

    /// What a message does to an actor in a local state, or a copy of it that is followed by another.
    #[inline]
    pub(crate) fn message(&self, actor: Id, place: u32, envelope: u32, is_copy: bool) -> Entry {
        let entries = &self.at[actor][place as usize].messages[usize::from(is_copy)];
        entries.get(self.inbox_place[envelope as usize] as usize).copied().unwrap_or(Entry::UNKNOWN)
    }

    /// The messages that an effect sends.
    #[inline]
    pub(crate) fn sent(&self, effect: &Effect) -> &[u32] {
        &self.sent[effect.sent.0 as usize..effect.sent.1 as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let entries =
            |at: &At| at.messages.iter().map(Vec::capacity).sum::<usize>() * 4 + size_of::<At>() + 16;
        let at: usize = self.at.iter().flatten().map(entries).sum();
        (at + self.effects.capacity() * size_of::<Effect>() + self.sent.capacity() * 4) as u64
    }
}

/// What a look into the tables missed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Missing {
    Timers { actor: Id, place: u32 },
    Turn { actor: Id, place: u32 },
    Message { actor: Id, place: u32, envelope: u32, is_copy: bool },
}

/// Adds to what is known.
pub(crate) struct Filler<'f, M> {
    pub(crate) actors: &'f Actors<M>,
    pub(crate) numbers: &'f Numbers<M>,
    pub(crate) hints: &'f Hints<M>,
    pub(crate) known: &'f mut Known,
}

impl<M: Message> Filler<'_, M> {
    /// Finds out what was missing.
    pub(crate) fn fill(&mut self, missing: Missing) -> Result<(), Refused> {
        match missing {
            Missing::Timers { actor, place } => {
                let here = self.numbers.places[actor].get(place);
                let timers = catch(|| self.actors.actors[actor].actor.timers(actor, &here.local));
                let timers = timers.map_err(|text| Refused::Panic { event: u32::MAX, text })?;
                let mut events: Vec<Event<M>> = Vec::new();
                for timer in timers {
                    let event = Event::Timer { at: actor, timer };
                    if !events.contains(&event) {
                        events.push(event);
                    }
                }
                let entries: Result<Box<[Entry]>, Refused> =
                    events.iter().map(|event| self.entry(actor, place, event)).collect();
                self.known.at[actor][place as usize].timers = Some(entries?);
            }
            Missing::Turn { actor, place } => {
                let is_up = self.known.at[actor][place as usize].is_up;
                let event = if is_up { Event::Crash(actor) } else { Event::Restart(actor) };
                self.known.at[actor][place as usize].turn = self.entry(actor, place, &event)?;
            }
            Missing::Message { actor, place, envelope, is_copy } => {
                let message = self.numbers.envelopes.get(envelope).clone();
                let event = if is_copy { Event::DeliverCopy(message) } else { Event::Deliver(message) };
                let entry = self.entry(actor, place, &event)?;
                let at = self.known.inbox_place[envelope as usize] as usize;
                let entries = &mut self.known.at[actor][place as usize].messages[usize::from(is_copy)];
                if entries.len() <= at {
                    entries.resize(at + 1, Entry::UNKNOWN);
                }
                entries[at] = entry;
            }
        }
        Ok(())
    }

    /// Runs a handler.
    fn entry(&mut self, actor: Id, place: u32, event: &Event<M>) -> Result<Entry, Refused> {
        let number = self.numbers.events.number(event);
        let here = self.numbers.places[actor].get(place);
        let reaction = catch(|| self.actors.react(here, event));
        let reaction = reaction.map_err(|text| Refused::Panic { event: number, text })?;
        let Some(Reaction { place, sent }) = reaction else { return Ok(Entry::NOTHING) };
        let place = self.place(actor, &place)?;
        let mut numbers = Vec::with_capacity(sent.len());
        for (to, msg) in sent {
            let envelope = self.envelope(&Envelope { from: actor, to, msg })?;
            if !(self.actors.network.is_set() && numbers.contains(&envelope)) {
                numbers.push(envelope);
            }
        }
        let start = self.known.sent.len() as u32;
        self.known.sent.extend(numbers);
        let effect = Effect { event: number, place, sent: (start, self.known.sent.len() as u32) };
        self.known.effects.push(effect);
        Ok(Entry(self.known.effects.len() as u32 + 1))
    }

    /// The number of a local state, which has a field.
    pub(crate) fn place(&mut self, actor: Id, place: &Place) -> Result<u32, Refused> {
        let number = self.numbers.places[actor].number(place);
        if number > self.known.layout.places[actor].max {
            return Err(Refused::Outgrown);
        }
        let at = &mut self.known.at[actor];
        while at.len() <= number as usize {
            let is_up = self.numbers.places[actor].get(at.len() as u32).is_up;
            at.push(At { is_up, timers: None, turn: Entry::UNKNOWN, messages: [Vec::new(), Vec::new()] });
        }
        Ok(number)
    }

    /// The number of a message, which has a place in the words of a state.
    pub(crate) fn envelope(&mut self, envelope: &Envelope<M>) -> Result<u32, Refused> {
        let number = self.numbers.envelopes.number(envelope);
        while self.known.inbox_place.len() <= number as usize {
            let next_one = self.numbers.envelopes.get(self.known.inbox_place.len() as u32);
            let (from, to) = (next_one.from, next_one.to);
            let next = &mut self.known.n_inbox[to];
            self.known.inbox_place.push(*next);
            *next += 1;
            if !self.actors.network.ordered {
                let bits = self.hints.counters.get(next_one).copied().unwrap_or(1);
                if !self.known.layout.add_envelope(from, to, bits) {
                    return Err(Refused::Outgrown);
                }
            }
        }
        if self.actors.network.ordered
            && self.known.layout.queues[envelope.from * self.actors.actors.len() + envelope.to].is_none()
        {
            return Err(Refused::Outgrown);
        }
        Ok(number)
    }
}

/// What the numbers that were given say about the room that is needed.
pub(crate) fn hints<M: Message>(numbers: &Numbers<M>, network: Network, before: &Hints<M>) -> Hints<M> {
    let n_actors = numbers.places.len();
    let at_least = |old: &[usize], at: usize, new: usize| old.get(at).copied().unwrap_or(0).max(new);
    let mut hints = before.clone();
    hints.places = (0..n_actors)
        .map(|actor| at_least(&before.places, actor, numbers.places[actor].len() as usize))
        .collect();
    hints.envelopes = before.envelopes.max(numbers.envelopes.len() as usize);
    if network.ordered {
        let mut queues: Vec<usize> = (0..n_actors * n_actors)
            .map(|channel| match numbers.queues[channel].len() as usize {
                0 | 1 => at_least(&before.queues, channel, 0),
                n => at_least(&before.queues, channel, n),
            })
            .collect();
        for number in 0..numbers.envelopes.len() {
            let Envelope { from, to, .. } = *numbers.envelopes.get(number);
            let used = &mut queues[from * n_actors + to];
            *used = (*used).max(2);
        }
        hints.queues = queues;
    }
    hints
}

/// One more bit to count a message with.
pub(crate) fn widen<M: Message>(hints: &mut Hints<M>, envelope: &Envelope<M>, count: u32) {
    let bits = bits_for(count as usize);
    let known = hints.counters.entry(envelope.clone()).or_insert(1);
    *known = (*known).max(bits);
}
