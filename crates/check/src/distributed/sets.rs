//! Sets that must close no cycle, chosen by several processes: *topological sorting*.
//!
//! # Idea
//! Some small sets are valid only if no cycle of them leaves out something for ever (`search::repair` has the condition, CYCLE, and says why
//! it is enough, for every kind of set). A path or a strong component, by which other searches know that, nobody has here. So
//! every state takes its small set at first. When nothing more is found, the steps of small sets that count in cycles are sorted
//! topologically: states without such a predecessor are removed, again and again. What is left are the cycles, and what lies behind
//! them. There, wherever a step leads back to a state that was not found later than the one it leads from, that state is *enlarged*: from now on it takes what it
//! takes where no small set is accepted as well. The search goes on from there, and what it finds is sorted in its turn.
//!
//! # Why it is right
//! Take a cycle of steps that count. None of its states is removed, as each has a predecessor on it. Among its steps is one that
//! leads to a state that was not found later than the one it leads from, or the rounds would go up all along the cycle. So one of its
//! states is enlarged, which is what CYCLE asks for. Steps that a state takes because it was enlarged do not count. So states
//! that were sorted once are looked at no more: a new cycle through one of them would be there already, since all steps of its small set
//! lead to states that were known then.
//!
//! Which states are enlarged depends on rounds and sets alone, so it is the same for any number of processes.
//!
//! # Differences from the paper
//! There, all states that are left are expanded fully; but a diamond behind a cycle is no cycle.
//!
//! # Costs
//! Two bits per state, and while states are sorted what a [fixpoint](super::fixpoint) needs. Each state is expanded twice more at most.
//!
//! # References
//! Barnat, Brim, Ročkai, *Parallel partial order reduction with topological sort proviso* (SEFM 2010).

use base::Limit;
use fixedbitset::FixedBitSet;
use model::System;

use super::exchange::Watch;
use super::fixpoint::Fixpoint;
use super::piece::Piece;
use crate::observer::Portable;
use crate::product::{Expanded, Path, Product};

/// What one process knows of the sets of its states.
pub(super) struct Sets {
    /// Small sets are taken that may close cycles.
    may_close: bool,
    /// Left something out, and were not sorted since.
    open: FixedBitSet,
    enlarged: FixedBitSet,
    /// States that were enlarged together, with the round in which is found where that leads.
    turns: Vec<Turn>,
}

/// A round, and states that were enlarged for it.
pub(super) type Turn = (usize, Vec<u32>);

impl Sets {
    pub(super) fn new<S: System, O: Portable>(product: &Product<'_, S, O>) -> Sets {
        use crate::reduction::Method::Guided;
        let may_close = product.method().is_some_and(|method| method != Guided);
        Sets { may_close, open: FixedBitSet::new(), enlarged: FixedBitSet::new(), turns: Vec::new() }
    }

    /// What a search says of its path where a state takes its small set, or is enlarged.
    pub(super) fn path(&self, is_enlarged: bool) -> Path<'static> {
        match (self.may_close, is_enlarged) {
            (false, _) => Path::Unknown,
            (true, false) => Path::AsBefore,
            (true, true) => Path::Enlarged,
        }
    }

    #[inline]
    pub(super) fn is_enlarged(&self, number: u32) -> bool {
        self.enlarged.contains(number as usize)
    }

    /// Whether a state left something out, and was not sorted since.
    pub(super) fn is_open(&self, number: u32) -> bool {
        self.open.contains(number as usize)
    }

    /// A state was found to leave something out; or it is not known whether it does.
    pub(super) fn open(&mut self, number: u32) {
        if self.may_close {
            self.open.grow_and_insert(number as usize);
        }
    }

    /// States are enlarged; where that leads is found in this round.
    pub(super) fn enlarge(&mut self, round: usize, numbers: Vec<u32>) {
        for &number in &numbers {
            self.enlarged.grow_and_insert(number as usize);
            // What is read was never found open here.
            if self.is_open(number) {
                self.open.set(number as usize, false);
            }
        }
        match self.turns.last_mut() {
            Some(last) if last.0 == round => last.1.extend(numbers),
            _ => self.turns.push((round, numbers)),
        }
    }

    pub(super) fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The states that were enlarged for a round, if some were anywhere.
    pub(super) fn turned_for(&self, round: usize) -> Option<&[u32]> {
        let place = self.turns.binary_search_by_key(&round, |turn| turn.0).ok()?;
        Some(&self.turns[place].1)
    }

    pub(super) fn bytes(&self) -> u64 {
        let turns: usize = self.turns.iter().map(|turn| 4 * turn.1.capacity()).sum();
        (turns + (self.open.len() + self.enlarged.len()) / 8) as u64
    }
}

/// Whether cycles of the set that was taken last may leave something out for ever.
pub(super) fn leaves_out<S: System, O: Portable>(product: &Product<'_, S, O>, expanded: &Expanded) -> bool {
    let matters = || product.repair().is_none() || product.left_out().next().is_some();
    product.is_conditional() && !expanded.is_full && matters()
}

impl<S: System, O: Portable> Piece<'_, '_, '_, S, O> {
    /// Sorts the states that were found since the last time; says whether some are enlarged anywhere, and which are here.
    pub(super) fn sort(&mut self, watch: &mut Watch<'_, '_>) -> Result<Option<Vec<u32>>, Limit> {
        if !self.sets.may_close {
            return Ok(None);
        }
        let numbers = Fixpoint::unsorted(self, watch)?;
        self.more_bytes = 0;
        self.sets.open.clear();
        if self.sums([numbers.len() as u64], watch)? == [0] {
            return Ok(None);
        }
        self.sets.enlarge(self.own.n_rounds(), numbers.clone());
        Ok(Some(numbers))
    }
}

impl<S: System, O: Portable> Piece<'_, '_, '_, S, O> {
    /// States were enlarged for the round that is read now.
    pub(super) fn turned(&mut self, states: &[u32]) {
        let own = states.chunks_exact(self.width()).filter(|state| self.is_own(state));
        let numbers: Vec<u32> = own.filter_map(|state| self.own.find(state)).collect();
        self.sets.enlarge(self.own.n_rounds(), numbers);
    }
}
