//! Places whose tokens are proportional to those of another place.
//!
//! # Idea
//! If every transition changes *p* in the same proportion as *q*, then `a·p - b·q` never changes. Where
//! every transition that needs *p* needs so much of *q* that *p* then has enough, *p* can go
//! ([`implicit`](super::implicit) has the check and says why it is right). Such pairs are found fast,
//! by hashing what transitions do to each place, divided by the greatest common divisor.
//!
//! # What it preserves
//! Everything, as [`implicit`](super::implicit). A cycle of the reduced net is one of the original, since
//! the tokens of *p* are determined by those of *q*.
//!
//! # References
//! Parallel places: rule C of Bønneland, Dyhr, Jensen, Johannsen and Srba, *Stubborn versus structural
//! reductions for Petri nets* (JLAMP 2019), where the arcs themselves must be proportional; here the
//! changes must, and arcs that only test may differ.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::implicit::{Proof, is_implicit};
use super::work::{PlaceState, Work};
use crate::sparse::{Sparse, number_of};

/// Each place is compared with so many of those that change as it does.
const MAX_COMPARED: usize = 16;

pub(super) fn apply(work: &mut Work<'_>, budget: &mut Budget<'_>) -> Result<(), Limit> {
    work.tidy_up();
    let mut alike: FxHashMap<Sparse, Vec<(u32, i64)>> = FxHashMap::default();
    for place in work.place_list() {
        budget.tick()?;
        let (changes, factor) = normalized(work, place);
        if changes.is_empty() {
            continue;
        }
        let others = alike.entry(changes).or_default();
        let mut is_removed = false;
        others.retain(|&(other, its_factor)| {
            let (new, old) = ((place, factor), (other, its_factor));
            if !is_removed && is_parallel(work, new, old) {
                is_removed = true;
            } else if !is_removed && is_parallel(work, old, new) {
                work.remove_place(other, PlaceState::Removed);
                work.n_applied += 1;
                return false;
            }
            true
        });
        if is_removed {
            work.remove_place(place, PlaceState::Removed);
            work.n_applied += 1;
        } else if others.len() < MAX_COMPARED {
            others.push((place, factor));
        }
    }
    Ok(())
}

/// Whether the first place, which changes in proportion to the second, always has enough tokens.
fn is_parallel(work: &Work<'_>, (place, factor): (u32, i64), (other, its_factor): (u32, i64)) -> bool {
    // Both are multiples of the same: p = factor · x and q = its_factor · x.
    !work.is_observed(place)
        && is_implicit(work, place, &Proof { times: its_factor, others: vec![(other, factor)] })
}

/// By how much each transition changes a place, divided by the greatest common divisor, and that.
fn normalized(work: &Work<'_>, place: u32) -> (Sparse, i64) {
    let change = |(index, step): (u32, &super::work::Step)| (index, number_of(&step.changes, place));
    let mut changes: Sparse = work.neighbors(place).map(change).filter(|(_, change)| *change != 0).collect();
    changes.sort_unstable();
    let divisor = changes.iter().fold(0, |divisor, (_, change)| crate::invariants::gcd(divisor, *change));
    changes.iter_mut().for_each(|(_, change)| *change /= divisor.max(1));
    (changes, divisor.max(1))
}
