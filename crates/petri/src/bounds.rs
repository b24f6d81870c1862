//! How many tokens each place has room for.
//!
//! A bound need not be right: a place that outgrows its bound is a fault of the lowered system, which
//! names the place, and then the bound is raised and the search starts again. So bounds are guessed,
//! small: a random walk shows how many tokens places can hold at least; weighted sums show how many
//! some can hold at most (`invariants`), and that is certain; those of a safe unit hold one token, which is
//! only believed.

use base::{Budget, Limit};
use fastrand::Rng;

use crate::net::{Net, PlaceId};

/// The greatest number of tokens that fits into each place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    tokens: Vec<i64>,
    /// The most tokens that a place can hold, where that is known.
    most: Vec<Option<i64>>,
    /// The places that hold one token at most, as the file says; none if it is wrong about one.
    safe: Vec<bool>,
}

impl Bounds {
    /// Bounds that are probably large enough, and not much larger.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn guess(net: &Net, budget: &mut Budget<'_>) -> Result<Bounds, Limit> {
        let most = match net.place_bounds(budget) {
            // One can do without sums: then nothing is certain.
            Err(Limit::Memory(_)) => vec![None; net.places.len()],
            most => most?,
        };
        Bounds::guess_knowing(net, most, budget)
    }

    /// The same, where it is known how many tokens some places can hold at most.
    pub(crate) fn guess_knowing(
        net: &Net,
        most: Vec<Option<i64>>,
        budget: &mut Budget<'_>,
    ) -> Result<Bounds, Limit> {
        let is_safe = |place: usize| {
            net.units.as_ref().is_some_and(|units| units.safe && units.of_place[place].is_some())
        };
        let seen = Walk::new(net).run(budget)?;
        let mut safe: Vec<bool> = (0..net.places.len()).map(is_safe).collect();
        if seen.iter().zip(&safe).any(|(&seen, &safe)| safe && seen > 1) {
            safe.fill(false);
        }
        let bound = |(place, (&seen, most)): (usize, (&i64, &Option<i64>))| {
            let claimed = if safe[place] { 1 } else { i64::MAX };
            let most = most.unwrap_or(i64::MAX).min(claimed);
            // A bit to spare is cheaper than to start again.
            if most <= rounded_up(rounded_up(seen).saturating_add(1)) { most } else { rounded_up(seen) }
        };
        let tokens = seen.iter().zip(&most).enumerate().map(bound).collect();
        Ok(Bounds { tokens, most, safe })
    }

    /// The same bound for every place.
    pub fn all(net: &Net, tokens: i64) -> Bounds {
        let n_places = net.places.len();
        Bounds { tokens: vec![tokens; n_places], most: vec![None; n_places], safe: vec![false; n_places] }
    }

    /// The bound of a place.
    pub fn get(&self, place: PlaceId) -> i64 {
        self.tokens[place.index()]
    }

    /// The most tokens that a place can ever hold, where that is known for sure.
    pub(crate) fn most(&self, place: PlaceId) -> Option<i64> {
        self.most[place.index()]
    }

    /// Makes room for so many tokens, and for some more: for all that there can be, if that is
    /// known, else for twice as many.
    pub fn raise(&mut self, place: PlaceId, tokens: i64) {
        let enough = self.most[place.index()].unwrap_or_else(|| rounded_up(tokens.saturating_mul(2)));
        let bound = &mut self.tokens[place.index()];
        *bound = (*bound).max(enough).max(tokens);
        if self.safe[place.index()] {
            self.safe.fill(false);
        }
    }
}

/// The greatest number that takes no more bits than `tokens`; at least 1.
fn rounded_up(tokens: i64) -> i64 {
    let bits = 64 - tokens.max(1).leading_zeros();
    i64::MAX >> (63 - bits.min(63))
}

/// A random walk through the markings, from the initial one and, now and then, from there again.
struct Walk<'n> {
    net: &'n Net,
    marking: Vec<i64>,
    seen: Vec<i64>,
    /// Per place, the transitions that take tokens from it, and how many.
    consumers: Vec<Vec<(u32, i64)>>,
    /// Per transition, how many of its input places have too few tokens.
    missing: Vec<u32>,
    enabled: Vec<u32>,
    /// Per transition, where it is among the enabled ones; `NOWHERE` if it is not.
    position: Vec<u32>,
    /// How much work is left.
    work: usize,
}

const NOWHERE: u32 = u32::MAX;

impl<'n> Walk<'n> {
    /// Tests of arcs, all in all.
    const WORK: usize = 2_000_000;
    const STEPS: usize = 20_000;
    const STEPS_PER_START: usize = 2_000;

    fn new(net: &'n Net) -> Walk<'n> {
        let mut consumers = vec![Vec::new(); net.places.len()];
        for (index, transition) in net.transitions.iter().enumerate() {
            for &(place, weight) in &transition.inputs {
                consumers[place.index()].push((index as u32, weight));
            }
        }
        let initial: Vec<i64> = net.places.iter().map(|place| place.initial).collect();
        Walk {
            net,
            seen: initial.clone(),
            marking: initial,
            consumers,
            missing: Vec::new(),
            enabled: Vec::new(),
            position: Vec::new(),
            work: Walk::WORK,
        }
    }

    /// The greatest number of tokens met in each place.
    fn run(mut self, budget: &mut Budget<'_>) -> Result<Vec<i64>, Limit> {
        let mut random = Rng::with_seed(0);
        for step in 0..Walk::STEPS {
            budget.tick()?;
            if step % Walk::STEPS_PER_START == 0 || self.enabled.is_empty() {
                self.start();
            }
            if self.enabled.is_empty()
                || self.work == 0
                || self.fire(self.enabled[random.usize(..self.enabled.len())]).is_none()
            {
                break;
            }
        }
        Ok(self.seen)
    }

    fn start(&mut self) {
        let Walk { net, marking, missing, enabled, position, .. } = self;
        marking.clear();
        marking.extend(net.places.iter().map(|place| place.initial));
        missing.clear();
        enabled.clear();
        position.clear();
        for (index, transition) in net.transitions.iter().enumerate() {
            let lacks = |(place, weight): &&(PlaceId, i64)| marking[place.index()] < *weight;
            let n_missing = transition.inputs.iter().filter(lacks).count() as u32;
            missing.push(n_missing);
            position.push(if n_missing == 0 { enabled.len() as u32 } else { NOWHERE });
            if n_missing == 0 {
                enabled.push(index as u32);
            }
        }
        self.work = self.work.saturating_sub(net.n_arcs());
    }

    /// Fires an enabled transition; nothing if a place would have to hold too many tokens.
    fn fire(&mut self, transition: u32) -> Option<()> {
        let net = self.net;
        for (place, change) in net.transitions[transition as usize].changes() {
            let before = self.marking[place.index()];
            let after = before.checked_add(change)?;
            self.marking[place.index()] = after;
            let seen = &mut self.seen[place.index()];
            *seen = (*seen).max(after);
            self.work = self.work.saturating_sub(self.consumers[place.index()].len());
            for index in 0..self.consumers[place.index()].len() {
                let (consumer, weight) = self.consumers[place.index()][index];
                match (before >= weight, after >= weight) {
                    (true, false) => self.lose(consumer),
                    (false, true) => self.gain(consumer),
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn lose(&mut self, transition: u32) {
        let missing = &mut self.missing[transition as usize];
        *missing += 1;
        if *missing == 1 {
            let at = std::mem::replace(&mut self.position[transition as usize], NOWHERE);
            self.enabled.swap_remove(at as usize);
            if let Some(&moved) = self.enabled.get(at as usize) {
                self.position[moved as usize] = at;
            }
        }
    }

    fn gain(&mut self, transition: u32) {
        let missing = &mut self.missing[transition as usize];
        *missing -= 1;
        if *missing == 0 {
            self.position[transition as usize] = self.enabled.len() as u32;
            self.enabled.push(transition);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn bounds_fill_their_bits() {
        let rounded = [0, 1, 2, 3, 4, 5, 100, 1 << 40, i64::MAX].map(rounded_up);
        assert_eq!(rounded, [1, 1, 3, 3, 7, 7, 127, (1 << 41) - 1, i64::MAX]);
    }
}
