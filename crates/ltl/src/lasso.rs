//! Words: valuations of propositions, and the infinite words u·v^ω made of them.

use crate::formula::Prop;

/// Which propositions hold at one position of a word: a bit set of any width. Propositions that
/// were never set do not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Valuation {
    /// Bit *i* of word *w* is proposition 64*w* + *i*. The last word is never 0, so that equal
    /// sets are equal values.
    words: Vec<u64>,
}

impl Valuation {
    /// Nothing holds.
    pub fn new() -> Valuation {
        Valuation::default()
    }

    /// From the words of a bit set, proposition 0 in the lowest bit of the first.
    pub fn from_words(words: &[u64]) -> Valuation {
        let len = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        Valuation { words: words[..len].to_vec() }
    }

    /// Whether the proposition holds.
    pub fn holds(&self, prop: Prop) -> bool {
        let word = self.words.get(prop.index() / 64).copied().unwrap_or(0);
        word >> (prop.index() % 64) & 1 == 1
    }

    /// Makes the proposition hold or not hold.
    pub fn set(&mut self, prop: Prop, holds: bool) {
        let (word, bit) = (prop.index() / 64, 1 << (prop.index() % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if holds {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<Prop> for Valuation {
    /// Exactly these propositions hold.
    fn from_iter<I: IntoIterator<Item = Prop>>(propositions: I) -> Valuation {
        let mut valuation = Valuation::new();
        propositions.into_iter().for_each(|prop| valuation.set(prop, true));
        valuation
    }
}

/// The infinite word that begins with a prefix (maybe empty) and then repeats a cycle (never empty)
/// for ever. Its *positions* are `0..n_positions()`: the position after the last one is the first of the
/// cycle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    word: Vec<Valuation>,
    /// Where the cycle begins; always a position.
    cycle: usize,
}

impl Lasso {
    /// The word `prefix · cycle^ω`, or nothing if the cycle is empty.
    pub fn new(prefix: Vec<Valuation>, cycle: Vec<Valuation>) -> Option<Lasso> {
        let mut cycle = cycle.into_iter();
        cycle.next().map(|first| Lasso::with_cycle(prefix, first, cycle))
    }

    /// The word `prefix · (first · more)^ω`: its cycle cannot be empty.
    pub fn with_cycle(
        prefix: Vec<Valuation>,
        first: Valuation,
        more: impl IntoIterator<Item = Valuation>,
    ) -> Lasso {
        let cycle = prefix.len();
        let mut word = prefix;
        word.push(first);
        word.extend(more);
        Lasso { word, cycle }
    }

    /// What comes before the cycle.
    pub fn prefix(&self) -> &[Valuation] {
        &self.word[..self.cycle]
    }

    /// What is repeated for ever.
    pub fn cycle(&self) -> &[Valuation] {
        &self.word[self.cycle..]
    }

    /// The valuations at the positions: the prefix and one turn of the cycle.
    pub fn positions(&self) -> &[Valuation] {
        &self.word
    }

    /// Number of positions; at least one.
    pub fn n_positions(&self) -> usize {
        self.word.len()
    }

    /// The position after `position`.
    pub fn next(&self, position: usize) -> usize {
        if position + 1 < self.word.len() { position + 1 } else { self.cycle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_equal_values_whatever_their_history() {
        let mut valuation = Valuation::from_iter([Prop::new(3), Prop::new(200)]);
        assert!(valuation.holds(Prop::new(200)) && !valuation.holds(Prop::new(201)));
        assert!(!valuation.holds(Prop::new(100_000)), "beyond the stored words");
        valuation.set(Prop::new(200), false);
        valuation.set(Prop::new(900), false);
        assert_eq!(valuation, Valuation::from_words(&[8, 0, 0]));
    }

    #[test]
    fn the_last_position_leads_back_to_the_cycle() {
        let letter = Valuation::new;
        let lasso = Lasso::new(vec![letter()], vec![letter(), letter()]).unwrap();
        assert_eq!((0..3).map(|position| lasso.next(position)).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!((lasso.prefix().len(), lasso.cycle().len()), (1, 2));
        assert_eq!(Lasso::new(vec![letter()], vec![]), None);
    }
}
