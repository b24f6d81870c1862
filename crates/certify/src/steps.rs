//! What can happen in states, by the reference semantics, and where that leads, as packed words.
//!
//! Neighbors in a list are alike. So an action is asked whether it is enabled only if a variable has changed that its guards
//! mention, since the state before; and of where it leads, only those variables are packed that it may write.

use std::rc::Rc;

use base::{Budget, Limit};
use model::layout::Field;
use model::{ActionId, ActionSystem, Fault, Layout, VarId, reference};

use crate::waits::{reads_of, touched};

/// The state that is looked at.
pub(crate) struct Stepper<'s> {
    system: &'s ActionSystem,
    /// Per variable, the actions whose guards mention it.
    readers: Vec<Vec<ActionId>>,
    /// Per action, what it may write; whether it is enabled, and whether to ask that again.
    writes: Vec<Rc<[VarId]>>,
    is_enabled: Vec<bool>,
    is_asked: Vec<bool>,
    pub(crate) values: Vec<i64>,
    target: Vec<i64>,
}

impl<'s> Stepper<'s> {
    /// Looks at no state yet.
    pub(crate) fn new(system: &'s ActionSystem, budget: &mut Budget<'_>) -> Result<Stepper<'s>, Limit> {
        let (n_actions, n_variables) = (system.actions().len(), system.variables().len());
        let all: Rc<[VarId]> = (0..n_variables).map(VarId::new).collect();
        let (mut readers, mut writes) = (vec![Vec::new(); n_variables], Vec::new());
        for id in (0..n_actions).map(ActionId::new) {
            let (mut read, mut written) = (Vec::new(), Vec::new());
            touched(system, &system.action(id).effect, &mut Vec::new(), &mut written);
            system.action(id).guards.iter().for_each(|guard| reads_of(system, *guard, &mut read));
            budget.hold(4 * (read.len() + written.len()) as u64 + 32)?;
            read.iter().for_each(|var| readers[var.index()].push(id));
            // Where others follow in the same step, anything may be written.
            writes.push(if system.next_process(id).is_none() { written.into() } else { all.clone() });
        }
        let (is_enabled, is_asked) = (vec![false; n_actions], vec![true; n_actions]);
        let (values, target) = (vec![0; n_variables], Vec::new());
        Ok(Stepper { system, readers, writes, is_enabled, is_asked, values, target })
    }

    /// Goes to a state. (At first, all actions are asked, whatever has changed.)
    pub(crate) fn go_to(&mut self, state: &[u32]) {
        let Stepper { system, readers, is_asked, values, .. } = self;
        for (field, (value, readers)) in system.layout().fields().iter().zip(values.iter_mut().zip(readers)) {
            let new = field.value(state);
            if std::mem::replace(value, new) != new {
                readers.iter().for_each(|action| is_asked[action.index()] = true);
            }
        }
    }

    /// All steps of the state: the actions that they begin with, and the words of where they lead; and whether all values
    /// there are such that their variables can have them.
    pub(crate) fn steps(
        &mut self,
        words: &[u32],
        begun: &mut Vec<ActionId>,
        packed: &mut Vec<u32>,
    ) -> Result<bool, Fault> {
        let Stepper { system, writes, is_enabled, is_asked, values, target, .. } = self;
        let mut fit = true;
        packed.clear();
        for action in (0..writes.len()).map(ActionId::new) {
            if std::mem::take(&mut is_asked[action.index()]) {
                is_enabled[action.index()] = reference::is_enabled(system, system.action(action), values)?;
            }
            if !is_enabled[action.index()] {
                continue;
            }
            let visit = |_, target: &[i64]| {
                let start = packed.len();
                packed.extend_from_slice(words);
                begun.push(action);
                fit &= writes[action.index()].iter().all(|&var| {
                    let new = target[var.index()];
                    let field = system.layout().field(var);
                    new == values[var.index()] || put(field, new, &mut packed[start..])
                });
            };
            reference::for_each_successor_by(system, values, action, target, &mut |_| Ok(()), visit)?;
        }
        Ok(fit)
    }
}

/// Puts a value into the words of a state; whether its variable can have it.
pub(crate) fn put(field: Field, value: i64, state: &mut [u32]) -> bool {
    let raw = field.encode(value).inspect(|&raw| field.set_raw(state, raw));
    raw.is_some() && field.value(state) == value
}

/// Whether no two variables share a bit: so states with different values are different words, and what is put into one
/// field stays away from the others.
pub(crate) fn is_sound(layout: &Layout) -> bool {
    let mut taken = vec![0; layout.width()];
    layout.fields().iter().flat_map(|field| field.masks()).all(|(word, mask)| {
        let is_free = taken[word] & mask == 0;
        taken[word] |= mask;
        is_free
    })
}
