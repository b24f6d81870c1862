//! The valuations that were met, numbered: what observers of propositions see of a state.
//!
//! Propositions depend on few bits of a state, and these change seldom. So what was found for the same bits before is
//! remembered, in a table in which newer entries replace older ones.

use model::{StepError, System};
use rustc_hash::FxHashMap;

/// Up to this many propositions, numbers are found in a table.
const MAX_TABLE: usize = 12;

/// The valuations met so far.
#[derive(Clone, Debug)]
pub struct Valuations {
    /// The system's propositions, in the order of the bits.
    propositions: Vec<usize>,
    /// Number plus one, by the bits; empty if there are too many propositions.
    table: Vec<u32>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    list: Vec<Box<[u64]>>,
    /// Per valuation, whether a state has it; others were only asked about.
    is_met: Vec<bool>,
    current: Vec<u64>,
    /// Made when the system is known.
    memo: Option<Memo>,
}

/// What was found before.
#[derive(Clone, Debug, Default)]
struct Memo {
    /// The bits that the propositions depend on: words and masks. Too many, or nobody knows: none, and nothing is kept.
    parts: Vec<(u32, u32)>,
    /// Per place, the bits and the number plus one.
    places: Vec<([u32; MAX_PARTS], u32)>,
    /// What is asked for, and its place.
    key: [u32; MAX_PARTS],
    place: usize,
}

/// More words are not worth looking at.
const MAX_PARTS: usize = 6;
/// How much is remembered.
const N_PLACES: usize = 1 << 10;

impl Memo {
    fn new<S: System>(system: &S, propositions: &[usize]) -> Memo {
        let mut masks: Vec<u32> = vec![0; system.width()];
        for &proposition in propositions {
            let Some(reads) = system.reads(proposition) else { return Memo::default() };
            reads.into_iter().for_each(|(word, mask)| masks[word] |= mask);
        }
        let parts: Vec<(u32, u32)> = (0..).zip(masks).filter(|(_, mask)| *mask != 0).collect();
        if parts.len() > MAX_PARTS {
            return Memo::default();
        }
        let n_places = if parts.is_empty() { 0 } else { N_PLACES };
        Memo { parts, places: vec![([0; MAX_PARTS], 0); n_places], ..Memo::default() }
    }

    /// The number that was found for a state like this.
    #[inline]
    fn recall(&mut self, state: &[u32]) -> Option<u32> {
        let mut hash = 0u32;
        for (key, &(word, mask)) in self.key.iter_mut().zip(&self.parts) {
            *key = state[word as usize] & mask;
            hash = (hash.rotate_left(5) ^ *key).wrapping_mul(0x9e37_79b9);
        }
        self.place = (hash >> 22) as usize % N_PLACES;
        let (key, number) = self.places.get(self.place)?;
        if *key == self.key { number.checked_sub(1) } else { None }
    }

    /// Keeps the number of the state that was asked for.
    fn keep(&mut self, number: u32) {
        if let Some(place) = self.places.get_mut(self.place) {
            *place = (self.key, number + 1);
        }
    }
}

impl Valuations {
    /// No valuations of these propositions of a system.
    pub fn new(propositions: Vec<usize>) -> Valuations {
        let n = propositions.len();
        let current = vec![0; n.div_ceil(64)];
        let table = if n <= MAX_TABLE { vec![0; 1 << n] } else { Vec::new() };
        Valuations {
            propositions,
            table,
            numbers: FxHashMap::default(),
            list: Vec::new(),
            is_met: Vec::new(),
            current,
            memo: None,
        }
    }

    /// The system's propositions, in the order of the bits.
    pub fn propositions(&self) -> &[usize] {
        &self.propositions
    }

    /// The number of the valuation of a state.
    #[inline]
    pub fn number_of<S: System>(
        &mut self,
        system: &S,
        state: &[u32],
        scratch: &mut S::Scratch,
    ) -> Result<u32, StepError> {
        let memo = self.memo.get_or_insert_with(|| Memo::new(system, &self.propositions));
        if let Some(number) = memo.recall(state) {
            return Ok(number);
        }
        self.current.fill(0);
        for (bit, &proposition) in self.propositions.iter().enumerate() {
            if system.holds(proposition, state, scratch)? {
                self.current[bit / 64] |= 1 << (bit % 64);
            }
        }
        let number = self.number();
        self.is_met[number as usize] = true;
        if let Some(memo) = &mut self.memo {
            memo.keep(number);
        }
        Ok(number)
    }

    /// The valuations that states were found to have, as the values of the propositions.
    pub fn met(&self) -> impl Iterator<Item = Vec<bool>> {
        let met = (0..self.list.len()).filter(|&number| self.is_met[number]);
        met.map(|number| (0..self.propositions.len()).map(|index| self.holds(number as u32, index)).collect())
    }

    /// Takes note of what another one of the same propositions has met.
    pub(crate) fn absorb(&mut self, other: &Valuations) {
        for (bits, _) in other.list.iter().zip(&other.is_met).filter(|(_, is_met)| **is_met) {
            let number = self.number_of_bits(bits);
            self.is_met[number as usize] = true;
        }
    }

    /// The valuations that states were found to have, as words for another process.
    pub(crate) fn met_words(&self) -> Vec<u32> {
        let met = self.list.iter().zip(&self.is_met).filter(|(_, is_met)| **is_met);
        met.flat_map(|(bits, _)| bits.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])).collect()
    }

    /// Takes note of what another process has met.
    pub(crate) fn absorb_words(&mut self, words: &[u32]) {
        let n_words = self.current.len();
        if n_words == 0 {
            return;
        }
        for words in words.chunks_exact(2 * n_words) {
            let words = words.chunks_exact(2).map(|two| u64::from(two[0]) | u64::from(two[1]) << 32);
            let bits: Vec<u64> = words.collect();
            let number = self.number_of_bits(&bits);
            self.is_met[number as usize] = true;
        }
    }

    /// The number of a valuation, by its bits.
    pub fn number_of_bits(&mut self, bits: &[u64]) -> u32 {
        self.current.copy_from_slice(bits);
        self.number()
    }

    #[inline]
    fn number(&mut self) -> u32 {
        let index = self.current.first().copied().unwrap_or(0) as usize;
        if let Some(&number) = self.table.get(index)
            && number != 0
            && self.current.len() <= 1
        {
            return number - 1;
        }
        self.look_up(index)
    }

    fn look_up(&mut self, index: usize) -> u32 {
        if let Some(&number) = self.numbers.get(self.current.as_slice()) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(self.current.clone().into());
        self.is_met.push(false);
        self.numbers.insert(self.current.clone().into(), number);
        if !self.table.is_empty() {
            self.table[index] = number + 1;
        }
        number
    }

    /// The bits of a valuation.
    pub fn bits(&self, number: u32) -> &[u64] {
        &self.list[number as usize]
    }

    /// Whether a proposition is true in a valuation.
    #[inline]
    pub fn holds(&self, number: u32, proposition: usize) -> bool {
        self.list[number as usize][proposition / 64] >> (proposition % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use model::{Builder, Variable};

    use super::*;

    #[test]
    fn what_is_remembered_is_what_is_true() {
        // Variables of two words, of one, and of a few bits.
        let mut builder = Builder::new();
        let his = [1 << 40, u32::MAX.into(), 9, 3, 200_000];
        let vars = his.map(|hi| builder.variable(Variable::new("v", 0, hi)));
        builder.initial(&[0; 5]);
        let mut system = builder.finish().unwrap();
        // The last variable is not looked at.
        let propositions: Vec<usize> = (vars[..4].iter().zip([1 << 39, 5, 4, 2]))
            .map(|(&var, least)| {
                let (var, least) = (system.exprs.var(var), system.exprs.int(least));
                let expr = system.exprs.binary(model::BinaryOp::Ge, var, least);
                system.add_proposition("p", expr)
            })
            .collect();
        let mut valuations = Valuations::new(propositions.clone());
        let mut scratch = system.new_scratch();
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..20_000 {
            // Few values, so that they are met again; some places of the table are shared all the same.
            let values = his.map(|hi| [0, 1, 4, 5, hi / 2, hi][random.usize(0..6)].min(hi));
            let state = system.layout().encode(&values).unwrap();
            let number = valuations.number_of(&system, &state, &mut scratch).unwrap();
            for (bit, &proposition) in propositions.iter().enumerate() {
                let holds = system.holds(proposition, &state, &mut scratch).unwrap();
                assert_eq!(valuations.holds(number, bit), holds, "{values:?}");
            }
        }
        let memo = valuations.memo.unwrap();
        assert!(memo.parts.len() > 2 && memo.places.iter().any(|(_, number)| *number != 0));
    }
}
