//! Certificates as files: what writes what the checker reads (`certify::proof`, `certify::coder`), where the format is.

use certify::coder::{Bits, TOP};
use certify::proof::{Contexts, MAGIC, sum};
use certify::{Pair, Proof, Wait};

/// Writes numbers.
struct Encoder {
    low: u64,
    range: u32,
    /// The last byte, which a carry may still change, and how many bytes 255 follow it.
    cache: u8,
    n_pending: u64,
    is_first: bool,
    out: Vec<u8>,
}

impl Encoder {
    fn new() -> Encoder {
        Encoder { low: 0, range: u32::MAX, cache: 0, n_pending: 0, is_first: true, out: Vec::new() }
    }

    fn finish(mut self) -> Vec<u8> {
        (0..5).for_each(|_| self.shift());
        self.out
    }

    fn shift(&mut self) {
        let carry = (self.low >> 32) as u8;
        if self.low < 0xff00_0000 || carry == 1 {
            if !self.is_first {
                self.out.push(self.cache.wrapping_add(carry));
            }
            let pending = 0xff_u8.wrapping_add(carry);
            self.out.extend(std::iter::repeat_n(pending, self.n_pending as usize));
            (self.n_pending, self.is_first) = (0, false);
            self.cache = (self.low >> 24) as u8;
        } else {
            self.n_pending += 1;
        }
        self.low = self.low << 8 & 0xffff_ffff;
    }
}

impl Bits for Encoder {
    fn bit(&mut self, probability: u16, bit: bool) -> bool {
        let bound = (self.range >> 11) * u32::from(probability);
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
        } else {
            self.range = bound;
        }
        while self.range < TOP {
            self.range <<= 8;
            self.shift();
        }
        bit
    }
}

/// Writes states, one after the other.
pub struct StateWriter {
    encoder: Encoder,
    contexts: Contexts,
    waits: bool,
    has_pairs: bool,
    before: Vec<i64>,
    n_states: u64,
}

impl StateWriter {
    /// The states of a proof with these words.
    pub fn new(words: &Proof) -> StateWriter {
        StateWriter {
            encoder: Encoder::new(),
            contexts: Contexts::new(words.variables),
            waits: words.waits,
            has_pairs: !words.formula.is_empty(),
            before: vec![0; words.variables],
            n_states: 0,
        }
    }

    /// Writes a state; what waits there, if steps may; and what is beside it, for a formula.
    pub fn put(&mut self, values: &[i64], wait: Wait, pairs: &[Pair]) {
        self.put_changed(values.iter().copied().enumerate(), wait, pairs);
    }

    /// Writes a state of which these variables have these values, in order, and the others those that they had.
    pub(super) fn put_changed(
        &mut self,
        values: impl Iterator<Item = (usize, i64)>,
        wait: Wait,
        pairs: &[Pair],
    ) {
        let StateWriter { encoder, contexts, before, .. } = self;
        self.n_states += 1;
        let (mut last, n) = (0, before.len());
        for (index, new) in values {
            let Some(old) = before.get_mut(index).filter(|old| **old != new) else { continue };
            let gap = index + 1 - last;
            encoder.number(contexts.gaps.of(last), gap as u64);
            let change = new.wrapping_sub(*old);
            encoder.number(contexts.changes.of(index), (change << 1 ^ change >> 63) as u64);
            (*old, last) = (new, index + 1);
        }
        if last < n {
            encoder.number(contexts.gaps.of(last), 0);
        }
        if self.waits {
            encoder.number(&mut contexts.wait, u64::from(wait.from));
            if wait.from > 0 {
                encoder.number(&mut contexts.height, u64::from(wait.height));
            }
        }
        if self.has_pairs {
            encoder.number(&mut contexts.n_pairs, pairs.len() as u64);
            for pair in pairs {
                encoder.number(&mut contexts.automaton, u64::from(pair.automaton));
                encoder.number(contexts.ranks.of(pair.automaton as usize), u64::from(pair.rank));
            }
        }
    }

    /// Puts all states that were written into a proof.
    pub fn fill(self, proof: &mut Proof) {
        let body = self.encoder.finish();
        (proof.states, proof.bytes, proof.checksum) = (self.n_states, body.len() as u64, sum(&body));
        proof.body = body;
    }
}

/// Adds a proof to a file.
///
/// # Errors
/// It cannot be written as JSON.
pub fn write(proof: &Proof, file: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    if file.is_empty() {
        file.extend_from_slice(MAGIC.as_bytes());
    }
    serde_json::to_writer(&mut *file, proof)?;
    file.push(b'\n');
    file.extend_from_slice(&proof.body);
    file.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use certify::coder::{Context, Decoder};

    use super::*;

    #[test]
    fn numbers_come_back_and_rare_ones_cost_more() {
        let numbers: Vec<u64> = (0..20_000_u64)
            .map(|n| if n % 50 == 0 { n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 64) } else { n % 3 })
            .chain([0, 1, u64::MAX, 255, 256, 257, 1 << 63])
            .collect();
        let contexts = || [Context::default(), Context::default()];
        let (mut encoder, mut known) = (Encoder::new(), contexts());
        for (index, &number) in numbers.iter().enumerate() {
            assert_eq!(encoder.number(&mut known[index % 2], number), number);
        }
        let bytes = encoder.finish();
        assert!(bytes.len() < 10_000, "{}", bytes.len());
        let (mut decoder, mut known) = (Decoder::new(&bytes), contexts());
        for (index, &number) in numbers.iter().enumerate() {
            assert_eq!(decoder.get(&mut known[index % 2]), number, "{index}");
        }
        assert!(!decoder.is_short);
        let (mut short, mut known) = (Decoder::new(&bytes[..bytes.len() / 2]), contexts());
        (0..numbers.len()).for_each(|index| _ = short.get(&mut known[index % 2]));
        assert!(short.is_short);
    }
}
