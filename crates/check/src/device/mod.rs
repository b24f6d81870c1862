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
//! | `states` | the search: levels, goals, faults |
//! | `cycles` | whether a run is accepted by an automaton, by removing states |
//! | `runs` | the run that a sequential search finds, by marking backward |
//! | `cpu` | a device that is this processor: the kernels once more, in plain Rust |
//!
//! A kernel text for real devices (`stubborn-gpu`) does what `cpu` does, on the same memory.
//!
//! # Requirements and limits
//! Everything is explored: nothing is left out. A table that is full and a device that fails end the search with a
//! [limit](base::Limit), never with a count that looks complete.
//!
//! # References
//! Wijs, Neele and Bošnački, *GPUexplore 2.0*, FM 2016, have work tiles and buckets of a warp. Here a state of one word is
//! its own entry of the table, and takes one compare-and-swap.

mod cpu;
pub(crate) mod cycles;
mod job;
mod memory;
mod runs;
mod states;

pub use cpu::CpuDevice;
pub use memory::{Counter, Place, capacity};

use base::device::Device;
use base::{Budget, Limit};
use model::ActionSystem;
use model::tables::{Refusal, Tables};

use crate::search::{Exploration, Goal, Stop};

/// Why a device cannot search a system, if it cannot.
pub fn refusal(system: &ActionSystem) -> Option<Refusal> {
    Tables::of(system).err()
}

/// A search begins with this part of the memory, and begins again with so many times as much where that is full: to find a run in
/// a table is to go through all of it, and most models are small.
const PART: u64 = 64;
const FACTOR: u64 = 8;

/// Explores a system on a device; nothing if the system has no tables.
pub(crate) fn explore(
    system: &ActionSystem,
    goals: &[Goal],
    device: &dyn Device,
    budget: &mut Budget<'_>,
) -> Option<Exploration> {
    let tables = Tables::of(system).ok()?;
    Some(growing(system, &tables, goals, device, budget, |_| ()).0)
}

/// The same with as much memory as it takes; and something else, if all states were found.
fn growing<T>(
    system: &ActionSystem,
    tables: &Tables,
    goals: &[Goal],
    device: &dyn Device,
    budget: &mut Budget<'_>,
    mut then: impl FnMut(&mut states::Search<'_, '_, '_, '_>) -> T,
) -> (Exploration, Option<T>) {
    // Some of the memory belongs to the driver, or will.
    let Ok(free) = device.free_bytes() else {
        return (Exploration::limited(goals.len(), Limit::Device), None);
    };
    let most = free / 10 * 9;
    let mut bytes = most / PART;
    loop {
        let found = states::search(system, tables, goals, (device, bytes), budget, &mut then);
        match found.0.stop {
            Some(Stop::Limit(Limit::DeviceMemory(_))) if bytes < most => bytes = (bytes * FACTOR).min(most),
            _ => return found,
        }
    }
}
