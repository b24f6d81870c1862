//! How many tokens places can hold at most, as far as weighted sums of tokens show it.
//!
//! # Idea
//! If a sum of tokens, each place with a weight of 0 or more, is never increased by any transition,
//! then it never exceeds its initial value, and a place of weight *w* never holds more than the
//! initial value divided by *w*. Such sums are found by the algorithm of Farkas, as for place
//! invariants (Colom and Silva, *Convex geometry and semiflows in P/T nets*, 1991): start with the
//! tokens of each place alone; take one transition after the other; each sum that it increases is
//! replaced by combinations with sums that it decreases, such that it leaves them alone. This is done
//! twice: sums that are decreased are first dropped too, which finds only those that never change, but
//! many of them; then they are kept.
//!
//! # Limits
//! There may be exponentially many. When there are many combinations, only some are made, and the
//! work is limited: then some bounds are not found, and those that are found are still right.

use base::{Budget, Limit};
use rustc_hash::FxHashSet;

use crate::net::{Net, PlaceId};
use crate::sparse::{Sparse, combine, number_of};

/// Arithmetic operations, roughly, that finding sums may take, each time.
const WORK: usize = 5_000_000;
/// So many combinations are made for one transition.
const MAX_COMBINED: usize = 2_000;

/// A weighted sum of tokens that never exceeds its initial value.
#[derive(Clone, Debug)]
pub(crate) struct TokenSum {
    /// The places and their weights, which are positive, sorted by place.
    pub(crate) places: Sparse,
    /// The initial value.
    pub(crate) total: i128,
    /// Whether it always has that value.
    pub(crate) is_constant: bool,
}

impl TokenSum {
    /// The weight of a place.
    pub(crate) fn weight(&self, place: u32) -> i64 {
        number_of(&self.places, place)
    }

    /// The most tokens that each place can hold by these sums.
    pub(crate) fn place_bounds(sums: &[TokenSum], n_places: usize) -> Vec<Option<i64>> {
        let mut bounds: Vec<Option<i64>> = vec![None; n_places];
        for sum in sums {
            for &(place, weight) in &sum.places {
                let most = i64::try_from(sum.total / i128::from(weight)).ok();
                let known = &mut bounds[place as usize];
                *known = match (*known, most) {
                    (Some(known), Some(most)) => Some(known.min(most)),
                    (known, most) => known.or(most),
                };
            }
        }
        bounds
    }
}

impl Net {
    /// The most tokens that each place can hold, where that is easy to find. Takes some time for
    /// large nets, but not much.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn place_bounds(&self, budget: &mut Budget<'_>) -> Result<Vec<Option<i64>>, Limit> {
        Ok(TokenSum::place_bounds(&self.token_sums(&mut budget.share())?, self.places.len()))
    }

    /// Weighted sums of tokens that never grow, as far as they are easy to find.
    pub(crate) fn token_sums(&self, budget: &mut Budget<'_>) -> Result<Vec<TokenSum>, Limit> {
        let initial = |&(place, weight): &(u32, i64)| {
            i128::from(self.places[place as usize].initial).checked_mul(i128::from(weight))
        };
        let with_total = |sum: Sum| {
            // Of at most 2^32 products below 2^126 none is lost.
            let total = sum.places.iter().try_fold(0i128, |total, term| total.checked_add(initial(term)?))?;
            Some(TokenSum { is_constant: sum.changes.is_empty(), places: sum.places, total })
        };
        let mut all = Vec::new();
        for keeps_losing in [false, true] {
            // What is held on the way is given back with the share.
            let mut part = budget.share();
            let sums = Farkas::new(self, &mut part)?.run(keeps_losing, &mut part)?;
            budget.hold(sums.iter().map(Sum::bytes).sum())?;
            all.extend(sums.into_iter().filter_map(with_total));
        }
        Ok(all)
    }
}

/// A weighted sum of tokens.
struct Sum {
    /// The places and their weights, which are positive.
    places: Sparse,
    /// By how much each transition changes it.
    changes: Sparse,
}

impl Sum {
    fn change(&self, transition: u32) -> i64 {
        number_of(&self.changes, transition)
    }

    fn size(&self) -> usize {
        self.places.len() + self.changes.len()
    }

    fn bytes(&self) -> u64 {
        (size_of::<Sum>() + 16 * self.size()) as u64
    }

    /// The combination of two sums that a transition does not change; nothing if numbers get too
    /// large.
    fn combine(gaining: &Sum, losing: &Sum, transition: u32) -> Option<Sum> {
        let (gain, loss) = (gaining.change(transition), losing.change(transition).checked_neg()?);
        let common = gcd(gain, loss);
        let (x, y) = (loss / common, gain / common);
        let add = |a: i64, b: i64| a.checked_mul(x)?.checked_add(b.checked_mul(y)?);
        let mut sum = Sum {
            places: combine(&gaining.places, &losing.places, add)?,
            changes: combine(&gaining.changes, &losing.changes, add)?,
        };
        let numbers = || sum.places.iter().chain(&sum.changes).map(|(_, number)| *number);
        let common = numbers().fold(0, gcd);
        if common > 1 {
            sum.places.iter_mut().chain(&mut sum.changes).for_each(|(_, number)| *number /= common);
        }
        Some(sum)
    }
}

/// The greatest common divisor of the absolute values, as far as 63 bits go; 0 for two zeros.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

struct Farkas {
    sums: Vec<Sum>,
    /// Per transition, how many sums it increases and decreases.
    gaining: Vec<usize>,
    losing: Vec<usize>,
    work: usize,
}

impl Farkas {
    fn new(net: &Net, budget: &mut Budget<'_>) -> Result<Farkas, Limit> {
        let mut changes: Vec<Sparse> = vec![Vec::new(); net.places.len()];
        for (index, transition) in net.transitions.iter().enumerate() {
            for (place, change) in transition.changes() {
                changes[PlaceId::index(place)].push((index as u32, change));
            }
        }
        let n_transitions = net.transitions.len();
        let mut farkas = Farkas {
            sums: Vec::new(),
            gaining: vec![0; n_transitions],
            losing: vec![0; n_transitions],
            work: WORK,
        };
        for (place, changes) in changes.into_iter().enumerate() {
            farkas.push(Sum { places: vec![(place as u32, 1)], changes }, budget)?;
        }
        Ok(farkas)
    }

    /// Sums that no transition increases; those that some decrease are kept on the way, or not.
    fn run(mut self, keeps_losing: bool, budget: &mut Budget<'_>) -> Result<Vec<Sum>, Limit> {
        let mut known: FxHashSet<Sparse> = FxHashSet::default();
        while let Some(transition) = self.easiest() {
            budget.tick()?;
            let gaining = self.remove(|sum| sum.change(transition) > 0, budget);
            let mut losing: Vec<usize> =
                (0..self.sums.len()).filter(|&index| self.sums[index].change(transition) < 0).collect();
            // The smallest are the most useful ones.
            losing.sort_by_key(|&index| self.sums[index].size());
            losing.truncate((MAX_COMBINED / gaining.len().max(1)).max(1));
            for sum in &gaining {
                for &index in &losing {
                    self.work = self.work.saturating_sub(sum.size() + self.sums[index].size());
                    if self.work == 0 {
                        return Ok(self.finish());
                    }
                    if let Some(combined) = Sum::combine(sum, &self.sums[index], transition)
                        && known.insert(combined.places.clone())
                    {
                        budget.hold(16 * combined.places.len() as u64)?;
                        self.push(combined, budget)?;
                    }
                }
            }
            if !keeps_losing {
                self.remove(|sum| sum.change(transition) < 0, budget);
            }
        }
        Ok(self.finish())
    }

    /// Removes some of the sums.
    fn remove(&mut self, is_removed: impl Fn(&Sum) -> bool, budget: &mut Budget<'_>) -> Vec<Sum> {
        self.work = self.work.saturating_sub(self.sums.len());
        let (removed, kept): (Vec<Sum>, Vec<Sum>) =
            std::mem::take(&mut self.sums).into_iter().partition(is_removed);
        for sum in &removed {
            self.count(sum, false);
            budget.release(sum.bytes());
        }
        self.sums = kept;
        removed
    }

    /// A transition that increases sums, with the fewest combinations.
    fn easiest(&mut self) -> Option<u32> {
        self.work = self.work.saturating_sub(self.gaining.len());
        if self.work == 0 {
            return None;
        }
        let open = (0..self.gaining.len()).filter(|&index| self.gaining[index] > 0);
        open.min_by_key(|&index| self.gaining[index] * self.losing[index]).map(|index| index as u32)
    }

    fn push(&mut self, sum: Sum, budget: &mut Budget<'_>) -> Result<(), Limit> {
        budget.tick()?;
        budget.hold(sum.bytes())?;
        self.count(&sum, true);
        self.sums.push(sum);
        Ok(())
    }

    fn count(&mut self, sum: &Sum, is_new: bool) {
        for &(transition, change) in &sum.changes {
            let counts = if change > 0 { &mut self.gaining } else { &mut self.losing };
            let count = &mut counts[transition as usize];
            *count = if is_new { *count + 1 } else { *count - 1 };
        }
    }

    fn finish(mut self) -> Vec<Sum> {
        self.sums.retain(|sum| sum.changes.iter().all(|(_, change)| *change < 0));
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use base::{Budget, SourceId};

    /// The bounds of a net with these markings and transitions, places by number.
    fn bounds(initial: &[i64], transitions: &[(&[usize], &[usize])]) -> Vec<Option<i64>> {
        let mut text = String::from("<pnml><net id='n'>");
        for (place, tokens) in initial.iter().enumerate() {
            text += &format!(
                "<place id='p{place}'><initialMarking><text>{tokens}</text></initialMarking></place>"
            );
        }
        for (index, (inputs, outputs)) in transitions.iter().enumerate() {
            text += &format!("<transition id='t{index}'/>");
            inputs.iter().for_each(|place| text += &format!("<arc source='p{place}' target='t{index}'/>"));
            outputs.iter().for_each(|place| text += &format!("<arc source='t{index}' target='p{place}'/>"));
        }
        text += "</net></pnml>";
        let budget = &mut Budget::unlimited();
        crate::read(&text, SourceId::new(0), budget).unwrap().place_bounds(budget).unwrap()
    }

    #[test]
    fn weighted_sums_bound_places() {
        let (a, b, c) = (0, 1, 2);
        assert_eq!(bounds(&[3, 0], &[(&[a], &[b]), (&[b], &[a])]), [Some(3), Some(3)]);
        assert_eq!(bounds(&[5, 0], &[(&[a, a], &[b])]), [Some(5), Some(2)], "two for one, and one is left");
        assert_eq!(bounds(&[1, 0], &[(&[a], &[b, b, b])]), [Some(1), Some(3)]);
        assert_eq!(bounds(&[1, 0], &[(&[a], &[a, b])]), [Some(1), None], "b grows for ever");
        assert_eq!(bounds(&[1, 0, 2], &[(&[a], &[a, b]), (&[b, c], &[c])]), [Some(1), None, Some(2)]);
        assert_eq!(bounds(&[4, 0], &[(&[a], &[b]), (&[b], &[])]), [Some(4), Some(4)], "tokens may be lost");
        assert_eq!(bounds(&[7], &[]), [Some(7)]);
        assert_eq!(bounds(&[i64::MAX, i64::MAX], &[(&[a], &[b])]), [Some(i64::MAX), None], "beyond 63 bits");
        assert_eq!(bounds(&[], &[(&[], &[])]), []);
    }
}
