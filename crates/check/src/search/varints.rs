//! A stack of numbers of which most are small: each takes as many bytes as it needs.
//!
//! Seven bits of a number stand in a byte; the last byte has the lowest ones, and the eighth bit says that
//! there are more below it. So numbers are read from the top downward.

use crate::paged::{OutOfMemory, Paged};

/// Numbers, the last of which is on top.
pub(crate) struct Varints {
    groups: Paged<u8>,
}

impl Default for Varints {
    fn default() -> Varints {
        Varints { groups: Paged::new(1) }
    }
}

impl Varints {
    pub(crate) fn bytes(&self) -> u64 {
        self.groups.bytes()
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u64) -> Result<(), OutOfMemory> {
        if number < 0x80 {
            return self.groups.push(&[number as u8]);
        }
        let n_above = ((63 - number.leading_zeros()) / 7) as usize;
        let mut groups = [0; 10];
        for (group, byte) in groups[..=n_above].iter_mut().rev().enumerate() {
            *byte = (number >> (7 * group)) as u8 | 0x80;
        }
        // The top seven bits come first; every byte but that one has more below it.
        groups[0] &= 0x7f;
        self.groups.push_all(&groups[..=n_above])
    }

    /// Takes the number on top; 0 if there is none.
    #[inline]
    pub(crate) fn pop(&mut self) -> u64 {
        let mut end = self.end();
        let number = self.before(&mut end);
        self.groups.truncate(end);
        number
    }

    /// The place behind the number on top.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.groups.len()
    }

    /// Takes all numbers above a place.
    pub(crate) fn cut(&mut self, place: usize) {
        self.groups.truncate(place);
    }

    /// The number before a place, which becomes the place behind the number below; 0 if there is none.
    #[inline]
    pub(crate) fn before(&self, place: &mut usize) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some(at) = place.checked_sub(1) {
            let byte = self.groups.get(at)[0];
            *place = at;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_as_they_went_in() {
        let mut random = fastrand::Rng::with_seed(4);
        let (mut varints, mut expected) = (Varints::default(), Vec::new());
        let edges = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX];
        for round in 0..200_000 {
            if random.u32(0..100) < if round < 150_000 { 70 } else { 20 } {
                let number = match random.usize(0..20) {
                    at if at < edges.len() => edges[at],
                    _ => random.u64(..) >> random.u32(0..64),
                };
                varints.push(number).unwrap();
                expected.push(number);
            } else {
                assert_eq!(varints.pop(), expected.pop().unwrap_or(0));
            }
        }
        (0..1000).for_each(|_| varints.push(100).unwrap());
        let before = varints.groups.len();
        (0..1000).for_each(|_| assert_eq!(varints.pop(), 100));
        assert_eq!(before - varints.groups.len(), 1000, "a small number takes a byte");
    }
}
