//! The valuations that were met, numbered: what observers of propositions see of a state.

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
        self.current.fill(0);
        for (bit, &proposition) in self.propositions.iter().enumerate() {
            if system.holds(proposition, state, scratch)? {
                self.current[bit / 64] |= 1 << (bit % 64);
            }
        }
        let number = self.number();
        self.is_met[number as usize] = true;
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
