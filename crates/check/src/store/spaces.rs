//! Two growing sequences that share one range of numbers.
//!
//! Numbers are given out in chunks, each of which belongs to one of the sequences. So at any moment all
//! numbers but those at the ends of two chunks are in use, and it takes one look to go from a place in a
//! sequence to its number, or back.

/// Which numbers belong to which sequence.
#[derive(Clone, Debug, Default)]
pub(super) struct Spaces {
    /// Per sequence: the chunks of numbers that belong to it, in order.
    chunks: [Vec<u32>; 2],
    lens: [usize; 2],
    /// Per chunk of numbers: which chunk of its sequence it is, and in the lowest bit, of which.
    owners: Vec<u32>,
}

const SHIFT: u32 = 8;
const CHUNK: usize = 1 << SHIFT;

impl Spaces {
    pub(super) fn bytes(&self) -> u64 {
        4 * (self.chunks[0].capacity() + self.chunks[1].capacity() + self.owners.capacity()) as u64
    }

    /// How long each of the two sequences is.
    pub(super) fn lens(&self) -> [usize; 2] {
        self.lens
    }

    /// How long the two sequences are together.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.lens[0] + self.lens[1]
    }

    /// All numbers are smaller than this.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.owners.len() << SHIFT
    }

    /// Whether a number is in use.
    pub(super) fn contains(&self, number: usize) -> bool {
        let (sequence, place) = self.place(number);
        place < self.lens[usize::from(sequence)]
    }

    /// The number of a place in a sequence.
    #[inline]
    pub(super) fn number(&self, sequence: bool, place: usize) -> usize {
        (self.chunks[usize::from(sequence)][place >> SHIFT] as usize) << SHIFT | place & (CHUNK - 1)
    }

    /// The sequence that a number belongs to, and its place there.
    #[inline]
    pub(super) fn place(&self, number: usize) -> (bool, usize) {
        let owner = self.owners[number >> SHIFT];
        (owner & 1 == 1, (owner as usize >> 1) << SHIFT | number & (CHUNK - 1))
    }

    /// Makes a sequence longer by one; returns the number, unless there is none left.
    #[inline]
    pub(super) fn push(&mut self, sequence: bool) -> Option<u32> {
        let index = usize::from(sequence);
        let place = self.lens[index];
        if place >> SHIFT == self.chunks[index].len() {
            let chunk = u32::try_from(self.owners.len()).ok().filter(|&chunk| chunk < u32::MAX >> SHIFT)?;
            self.owners.push((self.chunks[index].len() as u32) << 1 | u32::from(sequence));
            self.chunks[index].push(chunk);
        }
        self.lens[index] += 1;
        Some(self.number(sequence, place) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_own_number_and_few_numbers_are_unused() {
        let mut random = fastrand::Rng::with_seed(6);
        for percent in [0, 3, 50, 99, 100] {
            let mut spaces = Spaces::default();
            let mut known = Vec::new();
            for _ in 0..5000 {
                let sequence = random.u32(0..100) < percent;
                let place = spaces.lens[usize::from(sequence)];
                known.push((spaces.push(sequence).unwrap() as usize, sequence, place));
                let (number, sequence, place) = known[random.usize(0..known.len())];
                assert_eq!(spaces.place(number), (sequence, place));
                assert_eq!(spaces.number(sequence, place), number);
            }
            assert_eq!(spaces.len(), known.len());
            assert!(spaces.end() < spaces.len() + 2 * CHUNK);
            let used: Vec<usize> = (0..spaces.end()).filter(|&number| spaces.contains(number)).collect();
            let mut numbers: Vec<usize> = known.iter().map(|known| known.0).collect();
            numbers.sort_unstable();
            assert_eq!(used, numbers);
        }
    }
}
