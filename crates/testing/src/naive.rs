//! The slow and obvious explorer: reference semantics and a hash map.

use std::collections::HashMap;

use model::reference::{self, Values};
use model::{ActionId, ActionSystem, Fault};

/// A state space, all of it.
#[derive(Debug)]
pub struct Space {
    /// The states, in the order in which they were found, breadth first.
    pub states: Vec<Values>,
    /// For each state, the length of a shortest run to it.
    pub distance: Vec<u64>,
    /// All transitions.
    pub transitions: Vec<(usize, ActionId, usize)>,
    /// Number of states without successors.
    pub deadlocks: u64,
}

/// Explores a system. `None` if it has more than `max_states` states.
pub fn explore(system: &ActionSystem, max_states: usize) -> Result<Option<Space>, Fault> {
    let mut space = Space { states: Vec::new(), distance: Vec::new(), transitions: Vec::new(), deadlocks: 0 };
    let mut numbers = HashMap::new();
    for state in reference::initial(system) {
        if numbers.insert(state.clone(), space.states.len()).is_none() {
            space.states.push(state);
            space.distance.push(0);
        }
    }
    // A second look: duplicates among the initial states must not renumber the first.
    numbers = space.states.iter().cloned().enumerate().map(|(number, state)| (state, number)).collect();
    let mut next = 0;
    while next < space.states.len() {
        let successors = reference::successors(system, &space.states[next])?;
        space.deadlocks += u64::from(successors.is_empty());
        for (action, target) in successors {
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                space.states.push(target);
                space.distance.push(space.distance[next] + 1);
                space.states.len() - 1
            });
            space.transitions.push((next, action, number));
        }
        if space.states.len() > max_states {
            return Ok(None);
        }
        next += 1;
    }
    Ok(Some(space))
}
