//! Where in the words of a state things are.
//!
//! An actor's local state is a number, and so is the content of each ordered channel. In an unordered network, each
//! message that was ever sent has bits of its own: one where messages are a set, else enough to count how often it is
//! on its way. No field crosses the border of a word.
//!
//! How many numbers there will be is not known before: fields have room for what was met so far, and a little more
//! ([`Hints`]). Where that turns out to be too little, the search begins again, with more.

use rustc_hash::FxHashMap;

use super::{Envelope, Id, Network};

/// Some bits of one word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field {
    word: u32,
    shift: u32,
    /// The largest value.
    pub(crate) max: u32,
}

impl Field {
    #[inline]
    pub(crate) fn get(self, words: &[u32]) -> u32 {
        words[self.word as usize] >> self.shift & self.max
    }

    #[inline]
    pub(crate) fn set(self, words: &mut [u32], value: u32) {
        debug_assert!(value <= self.max, "{value} does not fit {self:?}");
        let word = &mut words[self.word as usize];
        *word = *word & !(self.max << self.shift) | value << self.shift;
    }

    /// Its bits of its word.
    #[inline]
    pub(crate) fn mask(self) -> u32 {
        self.max << self.shift
    }
}

/// What searches found out about the room that states need. Less than that is never right, more is never wrong.
#[derive(Clone, Debug)]
pub(crate) struct Hints<M> {
    /// Whether somebody walked around to find out.
    pub(crate) walked: bool,
    /// Per actor, how many local states it has.
    pub(crate) places: Vec<usize>,
    /// How many messages there are.
    pub(crate) envelopes: usize,
    /// Per channel, how many contents it has; none if it is not used.
    pub(crate) queues: Vec<usize>,
    /// How many bits are needed to count a message, if not one.
    pub(crate) counters: FxHashMap<Envelope<M>, u32>,
}

impl<M> Default for Hints<M> {
    fn default() -> Hints<M> {
        let counters = FxHashMap::default();
        Hints { walked: false, places: Vec::new(), envelopes: 0, queues: Vec::new(), counters }
    }
}

/// The fields of a state.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Per actor, the number of its local state.
    pub(crate) places: Vec<Field>,
    /// How many crashes there were, if there may be any.
    pub(crate) crashes: Option<Field>,
    /// Per channel, the number of its content, if the network is ordered and the channel is used.
    pub(crate) queues: Vec<Option<Field>>,
    /// Per message of an unordered network, how often it is on its way.
    pub(crate) envelopes: Vec<Field>,
    /// Per channel of an unordered network, its messages.
    pub(crate) by_channel: Vec<Vec<u32>>,
    /// Per actor and word, the bits of messages to it.
    pub(crate) inbox: Vec<Vec<u32>>,
    /// Per bit, the message that it belongs to.
    owner: Vec<u32>,
    /// Per word, the bits that are in use.
    used: Vec<u32>,
}

/// Some more than there are.
fn with_slack(n: usize) -> usize {
    n + n / 8
}

impl Layout {
    pub(crate) fn new<M>(n_actors: usize, n_crashes: usize, network: Network, hints: &Hints<M>) -> Layout {
        let mut layout = Layout {
            places: Vec::new(),
            crashes: None,
            queues: vec![None; n_actors * n_actors],
            envelopes: Vec::new(),
            by_channel: vec![Vec::new(); n_actors * n_actors],
            inbox: Vec::new(),
            owner: Vec::new(),
            used: Vec::new(),
        };
        for actor in 0..n_actors {
            let n = hints.places.get(actor).copied().unwrap_or(0).max(2);
            let field = layout.add_field(bits_for(with_slack(n)));
            layout.places.push(field);
        }
        if n_crashes > 0 {
            layout.crashes = Some(layout.add_field(bits_for(n_crashes)));
        }
        if network.ordered {
            for (channel, &n) in hints.queues.iter().enumerate().filter(|(_, n)| **n > 0) {
                layout.queues[channel] = Some(layout.add_field(bits_for(with_slack(n.max(2)))));
            }
        } else {
            let counters: u32 = hints.counters.values().map(|bits| bits - 1).sum();
            let wanted = with_slack(hints.envelopes) + 4 + counters as usize;
            while layout.used.iter().map(|word| word.count_zeros() as usize).sum::<usize>() < wanted {
                layout.used.push(0);
            }
        }
        if layout.used.is_empty() {
            layout.used.push(0);
        }
        layout.owner = vec![u32::MAX; 32 * layout.used.len()];
        layout.inbox = vec![vec![0; layout.used.len()]; n_actors];
        layout
    }

    pub(crate) fn width(&self) -> usize {
        self.used.len()
    }

    /// The message that a bit belongs to.
    #[inline]
    pub(crate) fn owner(&self, word: usize, bit: u32) -> u32 {
        self.owner[32 * word + bit as usize]
    }

    /// A place for a new field, where there is one.
    fn find(&self, bits: u32) -> Option<Field> {
        let max = u32::MAX >> (32 - bits);
        let fits = |used: u32| (0..=32 - bits).find(|shift| used & max << shift == 0);
        let found = self.used.iter().enumerate().find_map(|(word, &used)| Some((word, fits(used)?)));
        found.map(|(word, shift)| Field { word: word as u32, shift, max })
    }

    fn take(&mut self, field: Field) {
        self.used[field.word as usize] |= field.mask();
    }

    fn add_field(&mut self, bits: u32) -> Field {
        let field = self.find(bits).unwrap_or_else(|| {
            self.used.push(0);
            Field { word: self.used.len() as u32 - 1, shift: 0, max: u32::MAX >> (32 - bits) }
        });
        self.take(field);
        field
    }

    /// Bits for the next message of an unordered network, if there is room.
    pub(crate) fn add_envelope(&mut self, from: Id, to: Id, bits: u32) -> bool {
        let Some(field) = self.find(bits) else { return false };
        self.take(field);
        let number = self.envelopes.len() as u32;
        for bit in field.shift..field.shift + bits {
            self.owner[32 * field.word as usize + bit as usize] = number;
        }
        self.inbox[to][field.word as usize] |= field.mask();
        self.by_channel[from * self.places.len() + to].push(number);
        self.envelopes.push(field);
        true
    }
}

/// Bits for the numbers from 0 to `last`; at least one.
pub(crate) fn bits_for(last: usize) -> u32 {
    (usize::BITS - last.leading_zeros()).clamp(1, 32)
}
