//! Messages in the words of a state: how they are put on their way, and taken from it.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::network::Mail;
use super::tables::{Known, Numbers};
use super::world::Unread;
use super::{Envelope, Message, Network};

/// What the words of a state are read with.
pub(crate) struct Shared<M> {
    pub(crate) network: Network,
    pub(crate) numbers: Numbers<M>,
    pub(crate) known: RwLock<Known>,
}

/// A field is too small: for so many of a message, or for the content of its channel.
pub(crate) struct Full {
    pub(crate) envelope: u32,
    pub(crate) count: u32,
}

impl<M: Message> Shared<M> {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    pub(crate) fn channel(&self, envelope: u32) -> usize {
        let Envelope { from, to, .. } = *self.numbers.envelopes.get(envelope);
        from * self.numbers.places.len() + to
    }

    /// Puts a message on its way.
    #[inline]
    pub(crate) fn put(
        &self,
        known: &Known,
        words: &mut [u32],
        envelope: u32,
        content: &mut Vec<u32>,
    ) -> Result<(), Full> {
        if self.network.ordered {
            content.clear();
            let channel = self.channel(envelope);
            let Some(field) = known.layout.queues[channel] else { return Err(Full { envelope, count: 1 }) };
            content.extend(self.numbers.queues[channel].get(field.get(words)));
            content.push(envelope);
            return self.set_queue(known, words, channel, content).map_err(|()| Full { envelope, count: 1 });
        }
        let field = known.layout.envelopes[envelope as usize];
        let before = field.get(words);
        if self.network.is_set() {
            field.set(words, 1);
        } else if before == field.max {
            return Err(Full { envelope, count: before + 1 });
        } else {
            field.set(words, before + 1);
        }
        Ok(())
    }

    /// Takes a message from its way: in an ordered network, the first of its channel.
    #[inline]
    pub(crate) fn take(
        &self,
        known: &Known,
        words: &mut [u32],
        envelope: u32,
        content: &mut Vec<u32>,
    ) -> Result<(), Full> {
        if self.network.ordered {
            let channel = self.channel(envelope);
            let Some(field) = known.layout.queues[channel] else { return Ok(()) };
            content.clear();
            content.extend(&self.numbers.queues[channel].get(field.get(words))[1..]);
            return self.set_queue(known, words, channel, content).map_err(|()| Full { envelope, count: 1 });
        }
        let field = known.layout.envelopes[envelope as usize];
        field.set(words, field.get(words) - 1);
        Ok(())
    }

    #[inline]
    fn set_queue(
        &self,
        known: &Known,
        words: &mut [u32],
        channel: usize,
        content: &Vec<u32>,
    ) -> Result<(), ()> {
        let number = self.numbers.queues[channel].number(content);
        match known.layout.queues[channel] {
            Some(field) if number <= field.max => {
                field.set(words, number);
                Ok(())
            }
            _ => Err(()),
        }
    }

    /// How many messages are on their way between two actors.
    pub(crate) fn on_the_way(&self, known: &Known, words: &[u32], channel: usize) -> usize {
        if self.network.ordered {
            let number = known.layout.queues[channel].map_or(0, |field| field.get(words));
            return self.numbers.queues[channel].get(number).len();
        }
        let count = |&envelope: &u32| known.layout.envelopes[envelope as usize].get(words) as usize;
        known.layout.by_channel[channel].iter().map(count).sum()
    }

    fn mail(&self, words: &[u32]) -> Mail<M> {
        let known = self.read();
        let mut all = Vec::new();
        let mut add = |number: u32| all.push(self.numbers.envelopes.get(number).clone());
        for (channel, field) in known.layout.queues.iter().enumerate() {
            let content = field.map(|field| self.numbers.queues[channel].get(field.get(words)));
            content.into_iter().flatten().for_each(|number| add(*number));
        }
        for (number, field) in known.layout.envelopes.iter().enumerate() {
            (0..field.get(words)).for_each(|_| add(number as u32));
        }
        Mail { network: self.network, all }
    }
}

/// Messages in the words of a state.
pub(crate) struct Words<M> {
    pub(crate) shared: Arc<Shared<M>>,
    pub(crate) words: Vec<u32>,
}

impl<M: Message> Unread<M> for Words<M> {
    fn read(&self) -> Mail<M> {
        self.shared.mail(&self.words)
    }

    fn turn_to(&mut self, words: &[u32]) {
        self.words.copy_from_slice(words);
    }
}
