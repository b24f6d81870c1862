//! Numbers as few bits: an adaptive range coder.
//!
//! Each bit is coded with a probability that follows the bits coded before it in the same place, as in Martin, *Range
//! encoding* (1979), in the carryless form that LZMA made known: probabilities have 11 bits and move by 1/32. A number is
//! its length in bits, by a tree of seven decisions; then the bits below the first, the upper seven of them adaptive,
//! the others as they are. A [`Context`] keeps the probabilities of one kind of number.

const HALF: u16 = 1 << 10;
const SPEED: u32 = 5;
const TOP: u32 = 1 << 24;

/// What is expected of one kind of number.
#[derive(Clone)]
pub(crate) struct Context {
    lengths: [u16; 128],
    bits: [u16; 384],
}

impl Context {
    pub(crate) fn new() -> Context {
        Context { lengths: [HALF; 128], bits: [HALF; 384] }
    }
}

/// Either direction: gives a bit, or takes it.
trait Bits {
    /// Codes a bit that is expected with a probability. Whoever decodes ignores the bit and returns what was read.
    fn bit(&mut self, probability: &mut u16, bit: bool) -> bool;

    /// The same for a bit that nothing is known about.
    fn even(&mut self, bit: bool) -> bool {
        self.bit(&mut { HALF }, bit)
    }

    /// Codes a number.
    fn number(&mut self, context: &mut Context, value: u64) -> u64 {
        let length = 64 - value.leading_zeros();
        let mut node = 1_usize;
        for at in (0..7).rev() {
            let bit = self.bit(&mut context.lengths[node], length >> at & 1 == 1);
            node = 2 * node + usize::from(bit);
        }
        let length = (node as u32 & 127).min(64);
        if length == 0 {
            return 0;
        }
        // Short numbers of different lengths share no probability; of long ones all share those of the upper bits.
        let first = if length <= 8 { 1 << (length - 1) } else { 256 };
        let mut result = 1_u64;
        for at in (0..length - 1).rev() {
            let bit = value >> at & 1 == 1;
            let bit = match usize::try_from(result) {
                Ok(known) if known < 128 => self.bit(&mut context.bits[first + known - 1], bit),
                _ => self.even(bit),
            };
            result = result << 1 | u64::from(bit);
        }
        result
    }
}

/// Writes numbers.
pub(crate) struct Encoder {
    low: u64,
    range: u32,
    /// The last byte, which a carry may still change, and how many bytes 255 follow it.
    cache: u8,
    n_pending: u64,
    is_first: bool,
    out: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder { low: 0, range: u32::MAX, cache: 0, n_pending: 0, is_first: true, out: Vec::new() }
    }

    pub(crate) fn put(&mut self, context: &mut Context, value: u64) {
        self.number(context, value);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
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
    fn bit(&mut self, probability: &mut u16, bit: bool) -> bool {
        let bound = (self.range >> 11) * u32::from(*probability);
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
            *probability -= *probability >> SPEED;
        } else {
            self.range = bound;
            *probability += ((1 << 11) - *probability) >> SPEED;
        }
        while self.range < TOP {
            self.range <<= 8;
            self.shift();
        }
        bit
    }
}

/// Reads numbers. Bytes that are missing are 0, and counted.
pub(crate) struct Decoder<'b> {
    bytes: std::slice::Iter<'b, u8>,
    code: u32,
    range: u32,
    n_missing: u32,
}

impl<'b> Decoder<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Decoder<'b> {
        let mut decoder = Decoder { bytes: bytes.iter(), code: 0, range: u32::MAX, n_missing: 0 };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    pub(crate) fn get(&mut self, context: &mut Context) -> u64 {
        self.number(context, 0)
    }

    /// Whether there was less to read than was asked for.
    pub(crate) fn is_short(&self) -> bool {
        self.n_missing > 0
    }

    fn shift(&mut self) {
        let byte = self.bytes.next();
        self.n_missing += u32::from(byte.is_none());
        self.code = self.code << 8 | u32::from(byte.copied().unwrap_or(0));
    }
}

impl Bits for Decoder<'_> {
    fn bit(&mut self, probability: &mut u16, _: bool) -> bool {
        let bound = (self.range >> 11) * u32::from(*probability);
        let bit = self.code >= bound;
        if bit {
            self.code -= bound;
            self.range -= bound;
            *probability -= *probability >> SPEED;
        } else {
            self.range = bound;
            *probability += ((1 << 11) - *probability) >> SPEED;
        }
        while self.range < TOP {
            self.range <<= 8;
            self.shift();
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_rare_ones_cost_more() {
        let numbers: Vec<u64> = (0..20_000_u64)
            .map(|n| if n % 50 == 0 { n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 64) } else { n % 3 })
            .chain([0, 1, u64::MAX, 255, 256, 257, 1 << 63])
            .collect();
        let (mut encoder, mut contexts) = (Encoder::new(), [Context::new(), Context::new()]);
        for (index, &number) in numbers.iter().enumerate() {
            encoder.put(&mut contexts[index % 2], number);
        }
        let bytes = encoder.finish();
        assert!(bytes.len() < 10_000, "{}", bytes.len());
        let (mut decoder, mut contexts) = (Decoder::new(&bytes), [Context::new(), Context::new()]);
        for (index, &number) in numbers.iter().enumerate() {
            assert_eq!(decoder.get(&mut contexts[index % 2]), number, "{index}");
        }
        assert!(!decoder.is_short());
        let mut short = Decoder::new(&bytes[..bytes.len() / 2]);
        let mut contexts = [Context::new(), Context::new()];
        (0..numbers.len()).for_each(|index| _ = short.get(&mut contexts[index % 2]));
        assert!(short.is_short());
    }
}
