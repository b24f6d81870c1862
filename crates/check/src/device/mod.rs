//! The search of states on a [device](base::device): a machine with many slow cores and a memory of its own.
//!
//! # Idea
//! The system becomes [tables](model::tables) of plain words, which a fixed kernel interprets: one lane per state. States are found
//! breadth first. What a lane cannot decide (a step that goes wrong, a chain with a choice, a long loop) is *hard*: it
//! notes the state, and the processor asks the system itself. So all systems can be searched whose states are not too wide.
//!
//! | module | does |
//! |---|---|
//! | `memory` | where everything is in the memory of the device, and what a kernel is told |
//! | `job` | the kernels, as functions |
//! | `space` | systems and products, as the processor knows them |
//! | `levels` | all states, level by level |
//! | `states` | the search of a system: goals, faults |
//! | `observer` | any observer as a table of what it does where it sees something |
//! | `products` | the search of a product: what is accepted at once, by its end, or by a cycle |
//! | `fixpoint` | whether a cycle is accepted, by removing states |
//! | `runs` | the run that a sequential search finds, by marking backward |
//! | `cpu` | a device that is this processor: the kernels once more, in plain Rust |
//!
//! A kernel text for real devices (`stubborn-gpu`) does what `cpu` does, on the same memory.
//!
//! # Requirements and limits
//! Something may be left out by sets that depend on the state alone ([`por::steady`]): of a system for a deadlock or a goal, of a product
//! for an observer that moves with the system, without fairness. A table that is full and a device that fails end the search with a
//! [limit](base::Limit), never with a count that looks complete.
//!
//! # References
//! Wijs, Neele and Bošnački, *GPUexplore 2.0*, FM 2016, have work tiles and buckets of a warp. Here a state of one word is
//! its own entry of the table, and takes one compare-and-swap.

mod cpu;
mod fixpoint;
mod job;
mod levels;
mod memory;
mod observer;
pub(crate) mod products;
mod runs;
mod space;
mod states;

pub use cpu::CpuDevice;
pub use memory::{Counter, Place, capacity};

use base::device::{Device, Reduces};
use base::{Budget, Limit};
use model::ActionSystem;
use model::tables::{Refusal, Tables, head};
use por::SteadySets;

use crate::reduced::Reduced;
use crate::search::{Exploration, Goal, Space as _, Stop};

/// Why a device cannot search a system, if it cannot.
pub fn refusal(system: &ActionSystem) -> Option<Refusal> {
    Tables::of(system).err()
}

/// Why a device does not search what is left of a system, if it does not.
pub fn refusal_of_sets(reduced: &Reduced<'_>, device: &dyn Device) -> Option<String> {
    let Some((system, _)) = reduced.for_device() else {
        return Some(
            "the model has too many actions for the sets by which it leaves something out".to_owned(),
        );
    };
    let refused = Tables::with_guards(system).err().map(|why| why.to_string());
    refused.or_else(|| device.reduces(Reduces::Systems).err().map(|why| why.to_string()))
}

/// A search begins with a small part of the memory, and begins again with a larger one where that is full: what goes over a table
/// goes over all of it, most models are small, and a device finds its way in less memory faster. To search again costs more where
/// states have many steps, and less where they are gone over again and again.
const PARTS_FOR_STATES: [u64; 3] = [64, 2, 1];
const PARTS_FOR_PRODUCTS: [u64; 4] = [64, 16, 4, 1];

/// What may have come to its end because the memory was full.
trait MayBeFull {
    fn is_full(&self) -> bool;
}

impl MayBeFull for Exploration {
    fn is_full(&self) -> bool {
        matches!(self.stop, Some(Stop::Limit(Limit::DeviceMemory(_))))
    }
}

/// Explores a system on a device, or what some sets leave of it; nothing if the system has no tables, or the device does not use sets.
pub(crate) fn explore(
    (system, sets): (&ActionSystem, Option<&SteadySets>),
    goals: &[Goal],
    device: &dyn Device,
    budget: &mut Budget<'_>,
) -> Option<Exploration> {
    let words = match sets {
        None => Tables::of(system).ok()?.words().to_vec(),
        Some(sets) => {
            device.reduces(Reduces::Systems).ok()?;
            with_sets(Tables::with_guards(system).ok()?.words(), sets)
        }
    };
    let search = |bytes| states::search((system, sets), &words, goals, (device, bytes), budget);
    Some(
        with_more(device, &PARTS_FOR_STATES, search)
            .unwrap_or_else(|limit| Exploration::limited(goals.len(), limit)),
    )
}

/// The words of a system, and behind them those of its sets.
fn with_sets(tables: &[u32], sets: &SteadySets) -> Vec<u32> {
    let mut words = tables.to_vec();
    words[head::FREE_TOO] = words.len() as u32;
    words.extend(sets.words());
    words
}

/// Searches with as much memory as it takes: parts of it, one after the other.
fn with_more<T: MayBeFull>(
    device: &dyn Device,
    parts: &[u64],
    mut search: impl FnMut(u64) -> T,
) -> Result<T, Limit> {
    // Some of the memory belongs to the driver, or will.
    let most = device.free_bytes().map_err(|_| Limit::Device)? / 10 * 9;
    let (last, parts) = parts.split_last().ok_or(Limit::Device)?;
    for part in parts {
        let found = search(most / part);
        if !found.is_full() {
            return Ok(found);
        }
    }
    Ok(search(most / last))
}
