//! Steps of several processes: what is sent in a step arrives in it, and everybody hears what all others say at its end.
//!
//! Records of one kind for one process are collected, and sent when there are many. A process that is done with its step goes on
//! receiving until it has the ends of all others. A faster one may have begun the next step by then: what comes from
//! a process after its end is not taken before the next step begins.

use std::hint::spin_loop;

use base::{Budget, Limit, Packet, Peers, Progress, Worker};

use model::System;

use super::owners::Owners;

/// What a record means is up to the search; this one is for all of them.
const ALARM: u32 = u32::MAX;

/// So many words are sent together.
const MANY: usize = 1 << 14;

/// Who waits looks so often whether something came, before it goes to sleep: among threads, it comes within microseconds.
const N_LOOKS: u32 = 30;

/// Words that were sent to other processes, and in how many records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) records: u64,
    pub(super) words: u64,
}

/// Who looks at limits while a step is done.
pub(super) struct Watch<'a, 'w> {
    pub(super) budget: &'a mut Budget<'w>,
    pub(super) progress: Progress,
}

impl Watch<'_, '_> {
    /// A limit that was reached is told to everybody: the step is ended all the same, by all.
    pub(super) fn look(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Limit> {
        match self.budget.poll(&self.progress) {
            Ok(()) => Ok(()),
            Err(limit) => exchange.ring(limit),
        }
    }
}

/// One process in a step.
pub(super) struct Exchange<'p> {
    peers: &'p dyn Peers,
    me: usize,
    n: usize,
    /// Who has not ended the step.
    open: Vec<bool>,
    n_open: usize,
    /// What the others said at its end.
    ends: Vec<Vec<u32>>,
    /// What is to be sent, by process and kind; the first word is the kind.
    outgoing: Vec<Vec<Vec<u32>>>,
    /// A limit that was reached, here or elsewhere.
    limit: Option<Limit>,
    pub(super) sent: Sent,
    /// Records for each process that were not sent yet.
    n_unsent: Vec<u64>,
    owners: Owners,
}

impl<'p> Exchange<'p> {
    pub(super) fn new<S: System>(peers: &'p dyn Peers, n_kinds: u32, system: &S) -> Exchange<'p> {
        let of = peers.me().of;
        let owners = if peers.owns_by_part() { Owners::by_part(of, system) } else { Owners::by_all(of) };
        Exchange::owning(peers, n_kinds, owners)
    }

    /// For what belongs to nobody.
    pub(super) fn of_words(peers: &'p dyn Peers) -> Exchange<'p> {
        Exchange::owning(peers, 0, Owners::by_all(peers.me().of))
    }

    fn owning(peers: &'p dyn Peers, n_kinds: u32, owners: Owners) -> Exchange<'p> {
        let Worker { index, of } = peers.me();
        let kinds = || (0..n_kinds).map(|kind| vec![kind]).collect();
        let mut exchange = Exchange {
            peers,
            me: index,
            n: of,
            open: Vec::new(),
            n_open: 0,
            ends: Vec::new(),
            outgoing: (0..of).map(|_| kinds()).collect(),
            limit: None,
            sent: Sent::default(),
            n_unsent: vec![0; of],
            owners,
        };
        exchange.begin();
        exchange
    }

    pub(super) fn me(&self) -> usize {
        self.me
    }

    pub(super) fn n_processes(&self) -> usize {
        self.n
    }

    /// Whose state this is.
    #[inline]
    pub(super) fn owner(&self, state: &[u32]) -> usize {
        self.owners.owner(state)
    }

    /// The same for a state with this hash, as stores have it.
    #[inline]
    pub(super) fn owner_of(&self, state: &[u32], hash: u64) -> usize {
        self.owners.owner_of(state, hash)
    }

    /// Bytes of what the others have sent and this process has not taken yet.
    pub(super) fn waiting(&self) -> u64 {
        self.peers.waiting()
    }

    /// The limit that was reached, if one was.
    pub(super) fn limit(&self) -> Option<Limit> {
        self.limit
    }

    fn begin(&mut self) {
        self.open = (0..self.n).map(|other| other != self.me).collect();
        self.n_open = self.n - 1;
        self.ends = vec![Vec::new(); self.n];
    }

    /// Sends a record to another process, soon.
    #[inline]
    pub(super) fn put(&mut self, to: usize, kind: u32, record: &[u32]) -> Result<(), Limit> {
        self.put_two(to, kind, record, &[])
    }

    /// The same for a record in two parts.
    #[inline]
    pub(super) fn put_two(
        &mut self,
        to: usize,
        kind: u32,
        first: &[u32],
        second: &[u32],
    ) -> Result<(), Limit> {
        let words = &mut self.outgoing[to][kind as usize];
        words.extend_from_slice(first);
        words.extend_from_slice(second);
        self.sent.records += 1;
        self.n_unsent[to] += 1;
        if words.len() >= MANY { self.flush(to, kind) } else { Ok(()) }
    }

    fn flush(&mut self, to: usize, kind: u32) -> Result<(), Limit> {
        let words = &mut self.outgoing[to][kind as usize];
        if words.len() == 1 {
            return Ok(());
        }
        self.sent.words += words.len() as u64;
        self.peers.count(std::mem::take(&mut self.n_unsent[to]));
        let part = std::mem::replace(words, vec![kind]);
        self.peers.send(to, Packet::Part(part))
    }

    /// Notes a limit that was reached here, and tells everybody.
    pub(super) fn ring(&mut self, limit: Limit) -> Result<(), Limit> {
        if self.limit.is_some() {
            return Ok(());
        }
        self.limit = Some(limit);
        let mut part = vec![ALARM];
        part.extend(words_of(Some(limit)));
        self.others().try_for_each(|to| self.peers.send(to, Packet::Part(part.clone())))
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, n) = (self.me, self.n);
        (0..n).filter(move |&other| other != me)
    }

    /// Takes some records that came in this step: from whom, their kind, and their words behind the first.
    pub(super) fn take(&mut self, waits: bool) -> Result<Option<(usize, u32, Vec<u32>)>, Limit> {
        let mut n_looks = if waits { N_LOOKS } else { 0 };
        while self.n_open > 0 {
            let Some((from, packet)) = self.peers.receive(&self.open, waits && n_looks == 0)? else {
                if n_looks == 0 {
                    return Ok(None);
                }
                n_looks -= 1;
                (0..20).for_each(|_| spin_loop());
                continue;
            };
            match packet {
                Packet::End(words) => {
                    self.open[from] = false;
                    self.n_open -= 1;
                    self.ends[from] = words;
                }
                Packet::Part(words) => match words.first() {
                    Some(&ALARM) => self.limit = self.limit.or(limit_of(&words[1..])),
                    Some(&kind) => return Ok(Some((from, kind, words))),
                    None => return Err(Limit::Apart(from as u32)),
                },
            }
        }
        Ok(None)
    }

    /// Ends the step here; everybody is told this.
    pub(super) fn end(&mut self, words: &[u32]) -> Result<(), Limit> {
        for to in self.others() {
            for kind in 0..self.outgoing[to].len() {
                self.flush(to, kind as u32)?;
            }
            self.peers.send(to, Packet::End(words.to_vec()))?;
        }
        self.ends[self.me] = words.to_vec();
        Ok(())
    }

    /// Whether everybody else has ended the step.
    pub(super) fn is_over(&self) -> bool {
        self.n_open == 0
    }

    /// The step is over for all: what everybody said. The next one begins.
    pub(super) fn next(&mut self) -> Vec<Vec<u32>> {
        debug_assert!(self.is_over());
        let ends = std::mem::take(&mut self.ends);
        self.begin();
        ends
    }

    /// A step in which nothing is sent but what everybody says.
    pub(super) fn all(&mut self, words: &[u32], watch: &mut Watch<'_, '_>) -> Result<Vec<Vec<u32>>, Limit> {
        self.end(words)?;
        loop {
            match self.take(true)? {
                Some((from, ..)) => return Err(Limit::Apart(from as u32)),
                None if self.is_over() => return Ok(self.next()),
                None => watch.look(self)?,
            }
        }
    }
}

/// A limit in three words.
pub(super) fn words_of(limit: Option<Limit>) -> [u32; 3] {
    let (code, value) = match limit {
        None => (0, 0),
        Some(Limit::States(max)) => (1, max),
        Some(Limit::Memory(max)) => (2, max),
        Some(Limit::OutOfMemory) => (3, 0),
        Some(Limit::Time) => (4, 0),
        Some(Limit::Interrupt) => (5, 0),
        Some(Limit::Step) => (6, 0),
        Some(Limit::Process(number)) => (7, number.into()),
        Some(Limit::Apart(number)) => (8, number.into()),
        Some(Limit::Kept) => (9, 0),
        Some(Limit::DeviceMemory(bytes)) => (10, bytes),
        Some(Limit::Device) => (11, 0),
    };
    [code, value as u32, (value >> 32) as u32]
}

/// The limit in these words.
pub(super) fn limit_of(words: &[u32]) -> Option<Limit> {
    let &[code, low, high, ..] = words else { return None };
    let value = u64::from(low) | u64::from(high) << 32;
    match code {
        1 => Some(Limit::States(value)),
        2 => Some(Limit::Memory(value)),
        3 => Some(Limit::OutOfMemory),
        4 => Some(Limit::Time),
        5 => Some(Limit::Interrupt),
        6 => Some(Limit::Step),
        7 => Some(Limit::Process(low)),
        8 => Some(Limit::Apart(low)),
        9 => Some(Limit::Kept),
        10 => Some(Limit::DeviceMemory(value)),
        11 => Some(Limit::Device),
        _ => None,
    }
}
