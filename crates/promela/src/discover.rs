//! Runs a model for a while, to meet the processes that it starts: code for them is made before anybody
//! searches it (see `lower::plan`). What is not met here, a search will meet, and begin again; so this may stop
//! whenever it likes, and may take states for equal that are not.

use std::collections::VecDeque;
use std::hash::BuildHasher as _;

use base::{Budget, Limit, Progress};
use language::Trouble;
use model::{StepError, Steps, System as _};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::lower::Code;

/// How many states are looked at.
const MAX_STATES: usize = 20_000;

/// How many bytes are spent on it, and how much of what is left.
const MAX_BYTES: u64 = 64 << 20;
const SHARE: u64 = 8;

/// Makes the code of the processes that are met soon.
pub(crate) fn discover(mut code: Code, budget: &mut Budget<'_>) -> Result<Code, Trouble> {
    while let Some(error) = missing(&code, budget)? {
        let Some(more) = code.extend(&error, &[], budget)? else { break };
        budget.release(code.bytes());
        code = more;
    }
    Ok(code)
}

/// A fault that says that code is missing, if one is met soon.
fn missing(code: &Code, budget: &mut Budget<'_>) -> Result<Option<StepError>, Limit> {
    let system = &code.system;
    if !code.may_grow() {
        return Ok(None);
    }
    let (width, max_bytes) = (system.width(), MAX_BYTES.min(budget.max_bytes / SHARE));
    // Each process may have a few steps, and each step is a state.
    if (16 * width * system.processes().len()) as u64 > max_bytes {
        return Ok(None);
    }
    let mut scratch = system.new_scratch();
    let mut steps = Steps::new(width);
    let mut pending: VecDeque<u32> = system.initial().flatten().copied().collect();
    let hash = |state: &[u32]| FxBuildHasher.hash_one(state);
    let mut known: FxHashSet<u64> = system.initial().map(hash).collect();
    let mut state = Vec::new();
    while !pending.is_empty() && known.len() < MAX_STATES {
        let bytes = (4 * pending.capacity() + 16 * known.capacity()) as u64;
        if bytes > max_bytes {
            return Ok(None);
        }
        budget.poll(&Progress { bytes, ..Progress::default() })?;
        state.clear();
        state.extend(pending.drain(..width));
        steps.clear();
        if let Err(error) = system.successors(&state, &mut scratch, &mut steps)
            && code.can_extend(&error)
        {
            return Ok(Some(error));
        }
        for (_, target) in steps.iter() {
            if known.insert(hash(target)) {
                pending.extend(target);
            }
        }
    }
    Ok(None)
}
