//! How messages get from one actor to another.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Id;

/// What the network does with messages.
///
/// | | |
/// |---|---|
/// | [`Network::unordered`] | any message that is on its way may arrive next |
/// | [`Network::ordered`] | messages from one actor to another arrive in the order in which they were sent |
/// | [`lossy`](Network::lossy) | a message may get lost: in an ordered network, when it is the next to arrive |
/// | [`duplicating`](Network::duplicating) | a message may arrive more than once |
/// | [`at_most`](Network::at_most) | so many messages can be on their way from one actor to another; who would send more waits |
///
/// In an unordered network that duplicates, a message stays on its way until it is lost: the network is a set of
/// messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    pub(crate) ordered: bool,
    pub(crate) lossy: bool,
    pub(crate) duplicating: bool,
    pub(crate) at_most: usize,
}

impl Network {
    /// Messages overtake each other, and all arrive that can.
    pub fn unordered() -> Network {
        Network { ordered: false, lossy: false, duplicating: false, at_most: usize::MAX }
    }

    /// Messages from one actor to another arrive in the order in which they were sent.
    pub fn ordered() -> Network {
        Network { ordered: true, ..Network::unordered() }
    }

    /// Messages may get lost.
    #[must_use]
    pub fn lossy(self) -> Network {
        Network { lossy: true, ..self }
    }

    /// Messages may arrive more than once.
    #[must_use]
    pub fn duplicating(self) -> Network {
        Network { duplicating: true, ..self }
    }

    /// At most `n` messages are on their way from one actor to another; who would send more waits.
    #[must_use]
    pub fn at_most(self, n: usize) -> Network {
        Network { at_most: n, ..self }
    }

    /// Whether messages are a set: one that was delivered stays.
    pub(crate) fn is_set(self) -> bool {
        self.duplicating && !self.ordered
    }
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope<M> {
    /// Who sent it.
    pub from: Id,
    /// Who gets it.
    pub to: Id,
    /// What it says.
    pub msg: M,
}

/// Messages on their way: in the order of sending, which does not matter for equality where the network is unordered,
/// and matters for messages between the same two actors where it is ordered.
#[derive(Clone, Debug)]
pub(crate) struct Mail<M> {
    pub(crate) network: Network,
    pub(crate) all: Vec<Envelope<M>>,
}

impl<M: Clone + Eq + Hash> Mail<M> {
    /// Whether a message may arrive next, or get lost.
    pub(crate) fn is_next(&self, nth: usize) -> bool {
        let this = &self.all[nth];
        let same_way = |other: &&Envelope<M>| (other.from, other.to) == (this.from, this.to);
        let mut before = self.all[..nth].iter();
        // Of equal messages, the first one stands for all.
        if self.network.ordered {
            !before.any(|other| same_way(&other))
        } else {
            !before.any(|other| other == this)
        }
    }

    /// Puts messages on their way, if there is room.
    pub(crate) fn send(&mut self, from: Id, sent: &[(Id, M)]) -> bool {
        for (to, msg) in sent {
            let envelope = Envelope { from, to: *to, msg: msg.clone() };
            if self.network.is_set() && self.all.contains(&envelope) {
                continue;
            }
            let on_the_way = self.all.iter().filter(|other| (other.from, other.to) == (from, *to)).count();
            if on_the_way >= self.network.at_most {
                return false;
            }
            self.all.push(envelope);
        }
        true
    }

    /// The messages between two actors.
    fn between(&self, from: Id, to: Id) -> impl Iterator<Item = &M> {
        self.all
            .iter()
            .filter(move |other| (other.from, other.to) == (from, to))
            .map(|envelope| &envelope.msg)
    }
}

impl<M: Clone + Eq + Hash> PartialEq for Mail<M> {
    fn eq(&self, other: &Mail<M>) -> bool {
        if self.all.len() != other.all.len() {
            return false;
        }
        let count = |mail: &Mail<M>, envelope| mail.all.iter().filter(|known| *known == envelope).count();
        self.all.iter().all(|envelope| {
            let Envelope { from, to, .. } = *envelope;
            if self.network.ordered {
                self.between(from, to).eq(other.between(from, to))
            } else {
                count(self, envelope) == count(other, envelope)
            }
        })
    }
}

impl<M: Clone + Eq + Hash> Eq for Mail<M> {}

impl<M: Clone + Eq + Hash> Hash for Mail<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // A sum does not depend on the order. Where that matters, equality tells.
        let one = |envelope: &Envelope<M>| {
            let mut own = FxHasher::default();
            envelope.hash(&mut own);
            own.finish()
        };
        self.all.iter().map(one).fold(0u64, u64::wrapping_add).hash(hasher);
    }
}
