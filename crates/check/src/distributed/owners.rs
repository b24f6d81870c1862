//! Whose a state is: by a hash of all of it, or of a part that changes seldom, so that most steps stay with one process.
//!
//! The part is found by a walk through the system, the same everywhere: the bits that change least often there are taken, one after the other, until
//! the states of the walk are spread evenly enough over the processes. Where that takes bits that change often, little is gained; where few
//! bits suffice, a process has whole regions of the state space, and sends only where these end. The price is that regions may be of
//! different sizes.

use model::{ActionId, System};
use rustc_hash::FxHashSet;

use crate::store::{Exact, hash};

/// Parts of states have hashes of their own.
const SEED: u64 = 0x7374_7562;

/// So many steps are walked, and begun anew after so many.
const N_STEPS: usize = 4_000;
const N_AT_ONCE: usize = 200;

/// A process may have so many times its share of the states of the walk, in hundredths.
const UNEVEN: usize = 125;

/// Who owns which states.
pub(super) struct Owners {
    n: usize,
    /// The bits that count; all if there are none.
    mask: Vec<u32>,
}

impl Owners {
    /// By all bits.
    pub(super) fn by_all(n: usize) -> Owners {
        Owners { n, mask: Vec::new() }
    }

    /// By bits of a system that change seldom.
    pub(super) fn by_part<S: System>(n: usize, system: &S) -> Owners {
        let (states, flips) = walk(system);
        let width = system.width();
        let mut bits: Vec<usize> = (0..32 * width).filter(|&bit| flips[bit] > 0).collect();
        bits.sort_by_key(|&bit| (flips[bit], bit));
        let mut owners = Owners { n, mask: vec![0; width] };
        for bit in bits {
            owners.mask[bit / 32] |= 1 << (bit % 32);
            if owners.is_even(&states) {
                return owners;
            }
        }
        Owners::by_all(n)
    }

    /// Whether states are spread evenly.
    fn is_even(&self, states: &[Vec<u32>]) -> bool {
        let mut counts = vec![0; self.n];
        states.iter().for_each(|state| counts[self.owner(state)] += 1);
        counts.iter().all(|&count| count * 100 * self.n <= UNEVEN * states.len())
    }

    /// Whose state this is.
    #[inline]
    pub(super) fn owner(&self, state: &[u32]) -> usize {
        self.owner_of(state, Exact::hash(state))
    }

    /// The same for a state with this hash. By all bits, the lower half of the hash counts, so that the states of one process are spread in its table.
    #[inline]
    pub(super) fn owner_of(&self, state: &[u32], hash: u64) -> usize {
        let low = if self.mask.is_empty() { hash as u32 } else { self.of_part(state) as u32 };
        ((u64::from(low) * self.n as u64) >> 32) as usize
    }

    /// A hash of the bits that count.
    fn of_part(&self, state: &[u32]) -> u64 {
        // One word after the other, so that nothing has to be copied.
        let parts = state.iter().zip(&self.mask).filter(|(_, mask)| **mask != 0);
        parts.fold(SEED, |seed, (word, mask)| hash(&[word & mask], seed))
    }
}

/// The states of a walk, each once, and per bit how many of the steps out of them change it.
fn walk<S: System>(system: &S) -> (Vec<Vec<u32>>, Vec<u32>) {
    let (mut scratch, width) = (system.new_scratch(), system.width());
    let mut initial = Vec::new();
    system.initial_states(&mut initial);
    let (mut flips, mut states) = (vec![0; 32 * width], Vec::new());
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    let (mut state, mut target, mut next) = (Vec::new(), Vec::new(), Vec::new());
    let mut enabled: Vec<ActionId> = Vec::new();
    let mut random = 1_u64;
    for step in 0..N_STEPS {
        if step % N_AT_ONCE == 0 || next.is_empty() {
            next = initial[..width.min(initial.len())].to_vec();
        }
        std::mem::swap(&mut state, &mut next);
        next.clear();
        enabled.clear();
        if state.len() != width || system.enabled(&state, &mut scratch, &mut enabled).is_err() {
            continue;
        }
        let is_new = seen.insert(state.clone());
        // The constants are Knuth's (MMIX).
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let chosen = (random >> 33) as usize % enabled.len().max(1);
        for (index, &action) in enabled.iter().enumerate() {
            target.clear();
            target.extend_from_slice(&state);
            if system.fire(&mut target, action, &mut scratch).is_err() {
                continue;
            }
            if is_new {
                let changes = state.iter().zip(&target).map(|(before, after)| before ^ after);
                for (word, change) in changes.enumerate().filter(|(_, change)| *change != 0) {
                    (0..32).for_each(|bit| flips[32 * word + bit] += change >> bit & 1);
                }
            }
            if index == chosen {
                next.clone_from(&target);
            }
        }
        if is_new {
            states.push(state.clone());
        }
    }
    (states, flips)
}

#[cfg(test)]
mod tests {
    use model::{Action, Builder, Guard, Stmt, ValueSet, Variable};

    use super::*;

    /// A clock with hands of very different pace.
    #[test]
    fn most_steps_stay_with_one_process() {
        let mut builder = Builder::new();
        let hands: Vec<_> = ["h", "m", "s"].map(|name| builder.variable(Variable::new(name, 0, 19))).into();
        let (label, owner) = (builder.label("tick"), builder.process("P"));
        for (index, &hand) in hands.iter().enumerate() {
            // All hands behind it are at their end.
            let mut guards = vec![builder.guard(Guard::In(hand, ValueSet::Range(0, 18)))];
            let mut effect = vec![Stmt::Add(hand, 1)];
            for &later in &hands[index + 1..] {
                guards.push(builder.guard(Guard::In(later, ValueSet::Range(19, 19))));
                effect.push(Stmt::set(later, 0));
            }
            builder.action(Action { label, guards, effect, owners: vec![owner] });
        }
        builder.initial(&[0, 0, 0]);
        let system = builder.finish().unwrap();
        let share_sent = |owners: &Owners| {
            let (mut state, mut scratch) = (Vec::new(), system.new_scratch());
            system.initial_states(&mut state);
            let (mut n_sent, mut counts) = (0, [0; 3]);
            let mut enabled = Vec::new();
            for _ in 0..7_000 {
                let owner = owners.owner(&state);
                counts[owner] += 1;
                enabled.clear();
                system.enabled(&state, &mut scratch, &mut enabled).unwrap();
                system.fire(&mut state, enabled[0], &mut scratch).unwrap();
                n_sent += u32::from(owners.owner(&state) != owner);
            }
            assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
            n_sent
        };
        let (all, part) = (share_sent(&Owners::by_all(3)), share_sent(&Owners::by_part(3, &system)));
        assert!(all > 4_000 && part < all / 2, "{all} {part}");
    }
}
