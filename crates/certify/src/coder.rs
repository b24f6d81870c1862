//! Numbers as few bits: an adaptive range coder.
//!
//! Each bit is coded with a probability that follows the bits coded before it in the same place, as in Martin, *Range
//! encoding* (1979), in the carryless form that LZMA made known: probabilities have 11 bits and move by 1/32. A number is
//! its length in bits, by decisions whether it is longer, since most are short; then the bits below the first, the upper seven of them adaptive,
//! the others as they are. A [`Context`] keeps the probabilities of one kind of number.

const HALF: u16 = 1 << 10;

/// Where the range is smaller, there is a byte to be had.
pub const TOP: u32 = 1 << 24;

/// What is expected of one kind of number.
#[derive(Clone)]
pub struct Context {
    lengths: [u16; 64],
    bits: [u16; 384],
}

impl Default for Context {
    fn default() -> Context {
        Context { lengths: [HALF; 64], bits: [HALF; 384] }
    }
}

/// Either direction: gives a bit, or takes it.
pub trait Bits {
    /// Codes a bit: 0 is expected with this probability. Whoever decodes ignores the bit and returns what was read.
    fn bit(&mut self, probability: u16, bit: bool) -> bool;

    /// Codes a bit, from which it is learned what to expect.
    fn learned(&mut self, probability: &mut u16, bit: bool) -> bool {
        let bit = self.bit(*probability, bit);
        match bit {
            true => *probability -= *probability >> 5,
            false => *probability += ((1 << 11) - *probability) >> 5,
        }
        bit
    }

    /// Codes a number.
    fn number(&mut self, context: &mut Context, value: u64) -> u64 {
        let mut length = 0;
        while length < 64 && self.learned(&mut context.lengths[length as usize], value >> length != 0) {
            length += 1;
        }
        if length == 0 {
            return 0;
        }
        // Short numbers of different lengths share no probability; of long ones all share those of the upper bits.
        let first = if length <= 8 { 1 << (length - 1) } else { 256 };
        let mut result = 1;
        for at in (0..length - 1).rev() {
            let bit = value >> at & 1 == 1;
            let bit = match result {
                0..128 => self.learned(&mut context.bits[first + result as usize - 1], bit),
                _ => self.bit(HALF, bit),
            };
            result = result << 1 | u64::from(bit);
        }
        result
    }
}

/// Reads numbers. Bytes that are missing are 0.
pub struct Decoder<'b> {
    bytes: &'b [u8],
    code: u32,
    range: u32,
    /// Whether there was less to read than was asked for.
    pub is_short: bool,
}

impl<'b> Decoder<'b> {
    /// What these bytes say.
    pub fn new(bytes: &'b [u8]) -> Decoder<'b> {
        let mut decoder = Decoder { bytes, code: 0, range: u32::MAX, is_short: false };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    /// The next number, of a kind.
    pub fn get(&mut self, context: &mut Context) -> u64 {
        self.number(context, 0)
    }

    fn shift(&mut self) {
        let (byte, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        self.is_short |= self.bytes.is_empty();
        (self.code, self.bytes) = (self.code << 8 | u32::from(*byte), rest);
    }
}

impl Bits for Decoder<'_> {
    fn bit(&mut self, probability: u16, _: bool) -> bool {
        let bound = (self.range >> 11) * u32::from(probability);
        let bit = self.code >= bound;
        if bit {
            self.code -= bound;
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
