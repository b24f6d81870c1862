//! Chains: several actions that happen as one step.
//!
//! After some actions one process *goes on* ([`Builder::goes_on`](crate::Builder::goes_on)): nobody else
//! does anything until it has come to an action after which nobody goes on, or cannot do anything more.
//! What lies between is no state of the system: searches, observers and propositions never see it. This
//! is `atomic` of Promela, with its two rules: who blocks loses the privilege, and who meets somebody at
//! a rendezvous may pass it on.
//!
//! To everybody else a chain is one deterministic action. It gets a number when it is met for the first
//! time, above those of the system's own actions ([`ActionSystem::parts`](crate::ActionSystem::parts)
//! tells what it consists of, [`System::first`](crate::System::first) what it begins with);
//! runs, traces and searches need no other notion. The table of chains is shared by all threads.
//!
//! Between the ends of a step every state is passed once: of several ways to it one is taken, and a chain
//! that comes back to where it was, and could go round for ever inside one step, is left out. Where
//! nothing else is left, it is a fault.

use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{ActionId, ProcessId};

/// Longer chains count as endless.
pub(crate) const MAX_LENGTH: usize = 1 << 14;

/// Chains of up to this many actions without a choice are not looked at for rounds.
pub(crate) const UNWATCHED: usize = 32;

/// Who goes on after which action, and the chains that were met.
#[derive(Debug)]
pub(crate) struct Chains {
    /// Per action: who goes on after it.
    pub(crate) next: Vec<Option<ProcessId>>,
    met: RwLock<Met>,
}

/// The chains with numbers.
#[derive(Clone, Debug, Default)]
struct Met {
    parts: Vec<Box<[ActionId]>>,
    numbers: FxHashMap<Box<[ActionId]>, u32>,
}

impl Clone for Chains {
    fn clone(&self) -> Chains {
        let met = self.met.read().unwrap_or_else(PoisonError::into_inner).clone();
        Chains { next: self.next.clone(), met: RwLock::new(met) }
    }
}

impl Chains {
    pub(crate) fn new(next: Vec<Option<ProcessId>>) -> Chains {
        Chains { next, met: RwLock::default() }
    }

    /// The number of a chain; an action alone has its own.
    pub(crate) fn number(&self, parts: &[ActionId]) -> ActionId {
        if let [action] = parts {
            return *action;
        }
        let known = self.met.read().unwrap_or_else(PoisonError::into_inner).numbers.get(parts).copied();
        let number = known.unwrap_or_else(|| {
            let mut met = self.met.write().unwrap_or_else(PoisonError::into_inner);
            let next = met.parts.len() as u32;
            let parts: Box<[ActionId]> = parts.into();
            let number = *met.numbers.entry(parts.clone()).or_insert(next);
            if number == next {
                met.parts.push(parts);
            }
            number
        });
        ActionId::new(self.next.len() + number as usize)
    }

    /// Calls `visit` with the actions of a chain; an action alone is a chain of one.
    pub(crate) fn with_parts<T>(&self, action: ActionId, visit: impl FnOnce(&[ActionId]) -> T) -> T {
        match action.index().checked_sub(self.next.len()) {
            None => visit(&[action]),
            Some(number) => visit(&self.met.read().unwrap_or_else(PoisonError::into_inner).parts[number]),
        }
    }
}

/// Working memory for one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChainScratch {
    /// The states along the chain, one after the other.
    pub(crate) states: Vec<u32>,
    /// The actions between them.
    pub(crate) path: Vec<ActionId>,
    /// What is left to try: at which depth, and what.
    pub(crate) pending: Vec<(u32, ActionId)>,
    /// The states that were passed, each with who goes on there, once somebody looks for rounds.
    pub(crate) passed: FxHashSet<Vec<u32>>,
}
