//! Variables and where their bits are.
//!
//! A variable has a declared range `lo..=hi`; it is stored as `value - lo` in as few bits as the
//! range needs. A field never crosses the border of a 32-bit word, except that a field of more
//! than 32 bits takes two whole words. Bits that belong to no field are always 0, so equal states
//! are equal words.
//!
//! A range is room, and often a promise: [`Variable::certain`] says what is known of the values for sure, and is
//! all that conclusions about *other* states may be drawn from. Where there is only a guess ([`Range::Guessed`]),
//! a value that does not fit is a fault, the front end makes more room, and everything starts again. So let a
//! search with reduction end without such a fault. What it left out was left out for reasons that hold for
//! all values that the variable might have; therefore it is a valid search of the system with room for
//! everything, of which it happened to meet states only that have room here. Had a reason been drawn from
//! the guess, it might have left out the very step that does not fit, and nobody would ever know.

use std::sync::Arc;

base::define_id! {
    /// A variable of an action system. The elements of an array have consecutive ids.
    pub struct VarId;
}

/// Where the range of a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// It is declared: a step to another value is a mistake in the model.
    Certain,
    /// It is proved: there is no step to another value.
    Proved,
    /// It is a guess: a step to another value asks for more room. For sure is only this, which may be more.
    Guessed {
        /// No value is less.
        lo: i64,
        /// No value is greater.
        hi: i64,
    },
    /// A step to another value leads to a part of the system that is not made yet: the front end makes it, and
    /// everything starts again. Until then nobody knows what could happen after such a step.
    Open,
}

impl Range {
    /// Whether no variable with this range has a value outside of it, in any state.
    pub fn is_certain(self) -> bool {
        matches!(self, Range::Certain | Range::Proved)
    }
}

/// An integer variable with a range.
#[derive(Clone, Debug)]
pub struct Variable {
    /// What people call it.
    pub name: String,
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
    /// Whether it certainly keeps to that.
    pub range: Range,
    /// Names of the values from `lo` on, where they have names (locations of a process).
    pub value_names: Option<Arc<[String]>>,
}

impl Variable {
    /// A variable with the values `lo..=hi`.
    pub fn new(name: impl Into<String>, lo: i64, hi: i64) -> Variable {
        Variable { name: name.into(), lo, hi, range: Range::Certain, value_names: None }
    }

    /// A variable with room for the values `lo..=hi`, which may get others of those that are possible.
    pub fn guessed(name: impl Into<String>, (lo, hi): (i64, i64), possible: (i64, i64)) -> Variable {
        let range = Range::Guessed { lo: possible.0, hi: possible.1 };
        Variable { range, ..Variable::new(name, lo, hi) }
    }

    /// A variable with one value for each name, counted from 0.
    pub fn named(name: impl Into<String>, value_names: Arc<[String]>) -> Variable {
        let hi = value_names.len() as i64 - 1;
        Variable { value_names: Some(value_names), ..Variable::new(name, 0, hi) }
    }

    /// The least and the greatest value that the variable may ever have, as far as that is known for sure.
    pub fn certain(&self) -> (i64, i64) {
        match self.range {
            Range::Certain | Range::Proved => (self.lo, self.hi),
            Range::Guessed { lo, hi } => (lo, hi),
            Range::Open => (i64::MIN, i64::MAX),
        }
    }

    /// Number of values minus one.
    pub fn span(&self) -> u64 {
        self.hi.wrapping_sub(self.lo) as u64
    }

    /// The value as people read it.
    pub fn show(&self, value: i64) -> String {
        let named =
            usize::try_from(value - self.lo).ok().and_then(|index| self.value_names.as_ref()?.get(index));
        named.map_or_else(|| value.to_string(), Clone::clone)
    }
}

/// Where a variable is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Index of the (first) word.
    pub word: u32,
    /// Lowest bit in the word.
    pub shift: u8,
    /// Number of bits, at most 64.
    pub bits: u8,
    /// The value that is stored as 0.
    pub lo: i64,
    /// The greatest number that may be stored: greatest value minus `lo`.
    pub span: u64,
}

impl Field {
    /// Whether the field takes two whole words.
    #[inline]
    pub fn is_wide(self) -> bool {
        self.bits > 32
    }

    /// The field's bits as a mask of its word. Not for wide fields.
    #[inline]
    pub fn word_mask(self) -> u32 {
        debug_assert!(!self.is_wide());
        (((1u64 << self.bits) - 1) << self.shift) as u32
    }

    /// Where the field's bits are: words and masks.
    pub fn masks(self) -> impl Iterator<Item = (usize, u32)> {
        let mask = if self.is_wide() { u32::MAX } else { self.word_mask() };
        let first = self.word as usize;
        (first..=first + usize::from(self.is_wide())).map(move |word| (word, mask))
    }

    /// The number stored.
    #[inline]
    pub fn raw(self, state: &[u32]) -> u64 {
        let word = self.word as usize;
        if self.is_wide() {
            u64::from(state[word]) | u64::from(state[word + 1]) << 32
        } else {
            (u64::from(state[word]) >> self.shift) & ((1u64 << self.bits) - 1)
        }
    }

    /// The variable's value.
    #[inline]
    pub fn value(self, state: &[u32]) -> i64 {
        (self.raw(state) as i64).wrapping_add(self.lo)
    }

    /// The number that stands for a value, if the value is in range.
    #[inline]
    pub fn encode(self, value: i64) -> Option<u64> {
        let raw = value.wrapping_sub(self.lo) as u64;
        (value >= self.lo && raw <= self.span).then_some(raw)
    }

    /// Stores a number, which must be at most `span`.
    #[inline]
    pub fn set_raw(self, state: &mut [u32], raw: u64) {
        debug_assert!(raw <= self.span);
        let word = self.word as usize;
        if self.is_wide() {
            state[word] = raw as u32;
            state[word + 1] = (raw >> 32) as u32;
        } else {
            state[word] = state[word] & !self.word_mask() | (raw << self.shift) as u32;
        }
    }
}

/// The fields of all variables.
#[derive(Clone, Debug)]
pub struct Layout {
    fields: Vec<Field>,
    width: usize,
}

impl Layout {
    /// Packs variables: each goes into the fullest word that still has room for it.
    pub fn pack(variables: &[Variable]) -> Layout {
        let mut width = 0u32;
        // Words by number of free bits; among equals the one opened last, next to its neighbors.
        let mut by_room: [Vec<u32>; 33] = std::array::from_fn(|_| Vec::new());
        let mut fields = Vec::with_capacity(variables.len());
        for variable in variables {
            let span = variable.span();
            let bits = 64 - span.leading_zeros();
            let (word, shift) = if bits > 32 {
                width += 2;
                (width - 2, 0)
            } else {
                let room = (bits as usize..=32).find(|&room| !by_room[room].is_empty());
                let (word, room) = match room.and_then(|room| Some((by_room[room].pop()?, room))) {
                    Some(found) => found,
                    None => {
                        width += 1;
                        (width - 1, 32)
                    }
                };
                let left = room - bits as usize;
                if left > 0 {
                    by_room[left].push(word);
                }
                (word, 32 - room)
            };
            fields.push(Field { word, shift: shift as u8, bits: bits as u8, lo: variable.lo, span });
        }
        // A system without variables still has states: one word keeps every slice non-empty.
        Layout { fields, width: (width as usize).max(1) }
    }

    /// Words per state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Where a variable is stored.
    #[inline]
    pub fn field(&self, var: VarId) -> Field {
        self.fields[var.index()]
    }

    /// All fields, by variable.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Packs one value per variable. `Err` names the first variable whose value is out of range.
    pub fn encode(&self, values: &[i64]) -> Result<Vec<u32>, VarId> {
        let mut state = vec![0; self.width];
        for (index, (&field, &value)) in self.fields.iter().zip(values).enumerate() {
            field.set_raw(&mut state, field.encode(value).ok_or_else(|| VarId::new(index))?);
        }
        Ok(state)
    }

    /// The values of all variables.
    pub fn decode(&self, state: &[u32]) -> Vec<i64> {
        self.fields.iter().map(|field| field.value(state)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philosophers_take_two_words_and_wide_fields_take_two_each() {
        let fields = |ranges: &[(i64, i64)]| {
            Layout::pack(&ranges.iter().map(|&(lo, hi)| Variable::new("v", lo, hi)).collect::<Vec<_>>())
        };
        let forks_and_philosophers: Vec<_> = [(0, 1); 13].into_iter().chain([(0, 3); 13]).collect();
        assert_eq!(fields(&forks_and_philosophers).width(), 2);
        assert_eq!(fields(&[(0, 1 << 40), (0, 1), (i64::MIN, i64::MAX)]).width(), 5);
        assert_eq!(fields(&[]).width(), 1);
        assert_eq!(fields(&[(5, 5); 100]).width(), 1, "constants take no bits");
    }

    #[test]
    fn values_survive_packing_and_fields_do_not_overlap() {
        let ranges =
            [(0, 1), (-3, 3), (0, 4_000_000_000), (i64::MIN, i64::MAX), (7, 7), (0, 1 << 33), (0, 20)];
        let variables: Vec<_> = ranges.iter().map(|&(lo, hi)| Variable::new("v", lo, hi)).collect();
        let layout = Layout::pack(&variables);
        let lows: Vec<i64> = ranges.iter().map(|r| r.0).collect();
        let highs: Vec<i64> = ranges.iter().map(|r| r.1).collect();
        for values in [&lows, &highs] {
            assert_eq!(&layout.decode(&layout.encode(values).unwrap()), values);
        }
        for index in 0..ranges.len() {
            let mut state = layout.encode(&lows).unwrap();
            let field = layout.fields()[index];
            field.set_raw(&mut state, field.span);
            let mut expected = lows.clone();
            expected[index] = highs[index];
            assert_eq!(layout.decode(&state), expected);
            field.set_raw(&mut state, 0);
            assert_eq!(layout.decode(&state), lows);
        }
        assert_eq!(layout.encode(&[2, 0, 0, 0, 7, 0, 0]), Err(VarId::new(0)));
    }
}
