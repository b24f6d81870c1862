//! The transitions of a space that was explored.
//!
//! They are not stored while exploring: this goes through the states again and looks their
//! successors up.

use model::{ActionId, StepError, Steps, System};

use crate::store::{Sequence, StateId, Store};

/// Calls `visit(source, action, target)` for every transition between stored states, by source in
/// the order of their numbers. Targets that were not stored are passed over.
pub fn for_each_transition<S: System, St: Store + Sequence, E>(
    system: &S,
    store: &St,
    mut visit: impl FnMut(StateId, ActionId, StateId) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<StepError>,
{
    let mut state = vec![0; system.width()];
    let mut steps = Steps::new(system.width());
    let mut scratch = system.new_scratch();
    for source in 0..store.n_states() as usize {
        let source = StateId::new(source);
        store.get(source, &mut state);
        steps.clear();
        system.successors(&state, &mut scratch, &mut steps)?;
        for (action, target) in steps.iter() {
            if let Some(target) = store.find(target) {
                visit(source, action, target)?;
            }
        }
    }
    Ok(())
}
