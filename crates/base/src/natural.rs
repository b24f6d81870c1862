//! Natural numbers of any size, which are added and printed: counts of things that nobody lists one by one.

use std::fmt;

/// A natural number.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Natural {
    /// Decimal digits, eighteen at a time, the last first; nothing leads with 0.
    limbs: Limbs,
}

/// Ordered as numbers are: the longer one is greater.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Limbs(Vec<u64>);

/// What a limb is below.
const BASE: u64 = 1_000_000_000_000_000_000;

impl Natural {
    /// Adds another one.
    pub fn add(&mut self, other: &Natural) {
        let (limbs, other) = (&mut self.limbs.0, &other.limbs.0);
        let mut carry = 0;
        for at in 0..other.len().max(limbs.len()) {
            if at >= other.len() && carry == 0 {
                return;
            }
            if at == limbs.len() {
                limbs.push(0);
            }
            let sum = limbs[at] + other.get(at).copied().unwrap_or(0) + carry;
            limbs[at] = sum % BASE;
            carry = sum / BASE;
        }
        limbs.extend((carry > 0).then_some(carry));
    }

    /// The bytes that it takes, about.
    pub fn bytes(&self) -> u64 {
        (size_of::<Natural>() + 8 * self.limbs.0.len()) as u64
    }
}

impl PartialOrd for Limbs {
    fn partial_cmp(&self, other: &Limbs) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limbs {
    fn cmp(&self, other: &Limbs) -> std::cmp::Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl From<u64> for Natural {
    fn from(number: u64) -> Natural {
        let mut limbs = vec![number % BASE, number / BASE];
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Natural { limbs: Limbs(limbs) }
    }
}

impl fmt::Display for Natural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.limbs.0.split_last() else { return f.write_str("0") };
        write!(f, "{first}")?;
        rest.iter().rev().try_for_each(|limb| write!(f, "{limb:018}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Natural;

    #[test]
    fn sums_are_those_of_shorter_numbers() {
        let mut rng = 1_u64;
        for _ in 0..2_000 {
            let mut number = || {
                rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                rng >> (rng % 64)
            };
            let numbers: Vec<u64> = (0..5).map(|_| number()).collect();
            let (mut sum, mut known) = (Natural::default(), 0_u128);
            for &number in &numbers {
                sum.add(&number.into());
                known += u128::from(number);
            }
            assert_eq!(sum.to_string(), known.to_string(), "{numbers:?}");
        }
    }

    #[test]
    fn powers_of_two_are_doubled() {
        let mut number = Natural::from(1);
        for _ in 0..200 {
            let same = number.clone();
            number.add(&same);
            assert!(same < number);
        }
        assert_eq!(number.to_string(), "1606938044258990275541962092341162602522202993782792835301376");
    }
}
