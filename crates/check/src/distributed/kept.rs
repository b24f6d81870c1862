//! Searches that are kept, so that they can go on after an interruption, by as many processes as there are then.
//!
//! What is kept is the states, round by round, which of them were [enlarged](super::sets) for which round, and a summary of everything else. A piece has the rounds that are complete
//! since the one before, so every state is written once. Nothing is kept of how states are numbered or whose they are: whoever reads them takes
//! those that are its own. A search that is over is kept, too: to go on with it is to read it.

use base::keeper::{Part, Receipt, Record, Words};
use base::{Keeper, Limit, Worker};

use super::exchange::{Exchange, Watch};
use super::sets::Turn;

/// So many words are read together.
const MANY: usize = 1 << 14;

/// A search, as it is known to who keeps it.
pub(super) struct Kept<'k> {
    keeper: &'k dyn Keeper,
    number: u32,
    tag: u64,
    record: Option<Record>,
}

impl<'k> Kept<'k> {
    /// A search begins that says this about itself.
    pub(super) fn begin(keeper: &'k dyn Keeper, tag: u64) -> Kept<'k> {
        let (number, record) = keeper.begin(tag);
        Kept { keeper, number, tag, record }
    }

    /// What was said at last, if it was kept before.
    pub(super) fn summary(&self) -> Option<&[u32]> {
        self.record.as_ref().map(|record| &record.summary[..])
    }
}

/// What one process writes of a search.
pub(super) struct Log<'k> {
    kept: &'k Kept<'k>,
    me: Worker,
    n_pieces: u32,
    /// So many rounds are kept.
    n_rounds: usize,
}

impl<'k> Log<'k> {
    pub(super) fn new(kept: &'k Kept<'k>, me: Worker) -> Log<'k> {
        Log { kept, me, n_pieces: 0, n_rounds: 0 }
    }

    pub(super) fn kept(&self) -> &'k Kept<'k> {
        self.kept
    }

    fn part(&self, piece: u32, worker: Worker) -> Part {
        Part { search: self.kept.number, piece, worker }
    }

    /// Reads all states of so many words that were kept, round by round, some at a time.
    pub(super) fn read(
        &mut self,
        width: usize,
        mut hear: impl FnMut(Heard<'_>) -> Result<(), Limit>,
    ) -> Result<(), Limit> {
        let record = self.kept.record.as_ref().ok_or(Limit::Kept)?;
        let mut words = Vec::new();
        for (piece, &of) in (0..).zip(&record.pieces) {
            let parts = (0..of as usize).map(|index| self.part(piece, Worker { index, of: of as usize }));
            let mut parts =
                parts.map(|part| self.kept.keeper.read(part)).collect::<Result<Vec<_>, Limit>>()?;
            let mut n_rounds = 0;
            for part in &mut parts {
                let [first, n] = next(&mut **part)?;
                if first as usize != self.n_rounds {
                    return Err(Limit::Kept);
                }
                n_rounds = n;
            }
            for _ in 0..n_rounds {
                for part in &mut parts {
                    for is_turned in [true, false] {
                        let [mut n_left] = next(&mut **part)?;
                        while n_left > 0 {
                            let n = n_left.min((MANY / width).max(1) as u32);
                            n_left -= n;
                            words.resize(n as usize * width, 0);
                            if !part.next(&mut words) {
                                return Err(Limit::Kept);
                            }
                            hear(if is_turned { Heard::Turned(&words) } else { Heard::States(&words) })?;
                        }
                    }
                }
                hear(Heard::End)?;
            }
            self.n_rounds += n_rounds as usize;
            self.n_pieces += 1;
        }
        Ok(())
    }

    /// Writes the rounds that were not written yet, which end at these numbers, if it is time or must be. `extra` is told to
    /// who writes the summary.
    pub(super) fn write(
        &mut self,
        rounds: &Rounds<'_>,
        is_last: bool,
        extra: &[u32],
        summary: impl FnOnce(&[Vec<u32>]) -> Vec<u32>,
        exchange: &mut Exchange<'_>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<(), Limit> {
        let is_due = is_last || self.kept.keeper.is_due();
        // The first process decides.
        let said = exchange.all(&[is_due.into()], watch)?;
        if said[0] != [1] {
            return Ok(());
        }
        let part = self.part(self.n_pieces, self.me);
        let receipt = self.kept.keeper.write(part, &mut |sink| rounds.put(self.n_rounds, sink));
        let mut words = match receipt {
            Some(Receipt { n_words, hash }) => [n_words, hash].iter().flat_map(|&it| two(it)).collect(),
            None => vec![0; 4],
        };
        words.extend_from_slice(extra);
        let said = exchange.all(&words, watch)?;
        let receipt = |words: &Vec<u32>| match words[..] {
            [a, b, c, d, ..] if a | b != 0 => Some(Receipt { n_words: one([a, b]), hash: one([c, d]) }),
            _ => None,
        };
        let Some(receipts) = said.iter().map(receipt).collect::<Option<Vec<_>>>() else { return Ok(()) };
        if self.me.index == 0 {
            let extras: Vec<Vec<u32>> = said.iter().map(|words| words[4..].to_vec()).collect();
            self.kept.keeper.commit(self.kept.number, self.kept.tag, &summary(&extras), &receipts);
        }
        self.n_pieces += 1;
        self.n_rounds = rounds.n_rounds;
        Ok(())
    }
}

/// What is read.
pub(super) enum Heard<'h> {
    /// States that were [enlarged](super::sets) for the round that is read.
    Turned(&'h [u32]),
    /// States that were found in it.
    States(&'h [u32]),
    /// The round is over.
    End,
}

/// The states of one process, round by round.
pub(super) struct Rounds<'r> {
    pub(super) n_rounds: usize,
    /// The numbers of the states of a round.
    pub(super) numbers: &'r dyn Fn(usize) -> Box<dyn Iterator<Item = u32> + 'r>,
    /// How many states the first rounds have, so many.
    pub(super) n_states_of: &'r dyn Fn(usize) -> u32,
    /// States that were enlarged for some rounds.
    pub(super) turns: &'r [Turn],
    pub(super) width: usize,
    pub(super) get: &'r dyn Fn(u32, &mut [u32]),
}

impl Rounds<'_> {
    /// Hands on all rounds but so many.
    fn put(&self, n_written: usize, sink: &mut dyn FnMut(&[u32])) {
        let n_rounds = self.n_rounds.saturating_sub(n_written);
        sink(&[n_written as u32, n_rounds as u32]);
        let mut state = vec![0; self.width];
        let mut put = |len: u32, numbers: &mut dyn Iterator<Item = u32>| {
            sink(&[len]);
            for number in numbers {
                (self.get)(number, &mut state);
                sink(&state);
            }
        };
        for round in n_written..self.n_rounds {
            let turned = self.turns.iter().find(|turn| turn.0 == round).map_or(&[][..], |turn| &turn.1);
            put(turned.len() as u32, &mut turned.iter().copied());
            let len = (self.n_states_of)(round + 1) - (self.n_states_of)(round);
            put(len, &mut (self.numbers)(round));
        }
    }
}

fn next<const N: usize>(words: &mut dyn Words) -> Result<[u32; N], Limit> {
    let mut out = [0; N];
    if words.next(&mut out) { Ok(out) } else { Err(Limit::Kept) }
}

/// A number as words.
pub(super) fn two(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The number in words.
pub(super) fn one([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
