//! Emptiness of the product with a testing automaton, in two passes.
//!
//! # Idea
//! A testing automaton accepts in two ways. The first pass looks for cycles with all marks, by strong
//! components ([`couvreur`](super::couvreur)). The second looks for livelocks: cycles of silent steps
//! among livelock states, which may hide inside a component that has other steps as well.
//!
//! # When should I use this?
//! For testing automata with Büchi states; those without are better off with
//! [`one_pass`](super::one_pass).
//!
//! # Requirements and limits
//! An exact store. Under fairness both passes look for fair cycles.
//!
//! # Differences from the paper
//! - The second pass starts in the livelock states that the first one found, one after the other,
//!   instead of going through the product again from its initial states (*init* of Algorithm 3). It
//!   looks at silent edges between livelock states only: all states on a cycle of silent steps have the
//!   same observer state, so they are all livelock states, or none is.
//! - If the first pass saw no livelock state, there is no second one (*Gseen*). The optimization for
//!   livelock states without successors is contained in Geldenhuys and Hansen's heuristic, which the first
//!   pass uses.
//! - Both passes are the same search, the second without the observer's marks.
//!
//! # References
//! Algorithms 2 and 3 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

use base::Budget;
use model::System;

use super::couvreur::Search;
use super::evidence::ProductOutcome;
use crate::observer::Observer;
use crate::product::Product;

/// Looks for a run that the observer accepts, in whatever way; if there are fairness constraints, for a
/// fair one.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut first = Search::new(product, budget.max_bytes);
    let end = first.run(budget).err();
    if end.is_some() || !first.saw_livelock {
        return first.outcome(end);
    }
    let mut second = first.for_livelocks();
    let end = second.run_from_all(budget).err();
    second.outcome(end)
}
