//! Choices that were made before, by what they depend on.
//!
//! A choice depends on little of a state: the values of control variables, what is enabled, what the observer offers
//! ([`Demand`]), how much is done for it ([`Effort`]); and whether some guards on other variables hold, those that were asked for on the way. All of this is
//! kept with a choice, the answers of guards as *facts*. Where the former is the same again, and the same guards have the
//! same answers, so is the choice. So remembering changes nothing but the time it takes, whatever is forgotten: the table
//! has few places for each hash, and is emptied when it has grown too large.

use model::{ActionSystem, Guard, GuardId};

use crate::demand::{Demand, Situation};
use crate::graph::Graph;
use crate::patience::Effort;

/// The sets that may be taken in a state, by the indices of their enabled actions: some that somebody must accept, in the
/// order in which they are offered; and in the end one that is always valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Sets {
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, set: impl IntoIterator<Item = u32>) {
        self.items.extend(set);
        self.ends.push(self.items.len() as u32);
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.items[start as usize..end as usize])
    }

    /// The first that is accepted, or the last.
    pub(crate) fn pick(&self, accept: &mut dyn FnMut(&[u32]) -> bool) -> &[u32] {
        let mut sets = self.iter().peekable();
        while let Some(set) = sets.next() {
            if sets.peek().is_none() || accept(set) {
                return set;
            }
        }
        &[]
    }
}

/// The memory of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// Per word of a state, the bits of control variables.
    masks: Vec<u32>,
    /// By hash: where a record begins, plus one.
    table: Vec<u32>,
    /// Records: the lengths of key, facts and ends; key, facts, ends, items.
    records: Vec<u32>,
    max_words: usize,
    /// What the choice in question depends on.
    key: Vec<u32>,
    home: usize,
    /// Which place of a hash is used next.
    turn: usize,
    /// A guard, whether it holds, and whether the queue that it looks at is not empty: two bits.
    facts: Vec<u32>,
}

impl Memory {
    const N_HASHES: usize = 1 << 12;
    const PLACES: usize = 4;

    pub(crate) fn new(system: &ActionSystem, graph: &Graph) -> Memory {
        let mut masks = vec![0; system.layout().width()];
        for control in &graph.controls {
            // A control variable has a list for each value, so it is not so wide that it would take two words.
            let field = system.layout().field(control.var);
            debug_assert!(!field.is_wide());
            masks[field.word as usize] |= field.word_mask();
        }
        let max_words = Memory::max_bytes(graph) as usize / 4;
        Memory {
            masks,
            table: vec![0; Memory::N_HASHES * Memory::PLACES],
            records: Vec::new(),
            max_words,
            key: Vec::new(),
            home: 0,
            turn: 0,
            facts: Vec::new(),
        }
    }

    /// How many bytes are taken at most: more for systems for which a choice takes longer.
    pub(crate) fn max_bytes(graph: &Graph) -> u64 {
        (4 * graph.bytes()).clamp(1 << 17, 1 << 21)
    }

    /// Finds the sets that were found before in a state like this.
    pub(crate) fn recall(
        &mut self,
        (system, graph): (&ActionSystem, &Graph),
        situation: &Situation<'_>,
        (demand, effort): (Demand<'_>, Effort),
        scratch: &mut model::Scratch,
        sets: &mut Sets,
    ) -> bool {
        self.ask(situation, demand, effort);
        let places = &self.table[self.home..self.home + Memory::PLACES];
        for start in places.iter().filter_map(|place| (*place as usize).checked_sub(1)) {
            let [n_key, n_facts, n_ends] = [0, 1, 2].map(|at| self.records[start + at] as usize);
            let key = start + 3;
            let facts = key + n_key;
            let ends = facts + n_facts;
            let items = ends + n_ends;
            let is_true = |&fact: &u32| {
                let guard = GuardId::new((fact >> 2) as usize);
                let holds = system.guard_holds(guard, situation.state, scratch);
                holds.is_ok_and(|holds| fact_of(system, graph, situation.state, guard, holds) == fact)
            };
            if self.records[key..facts] == self.key && self.records[facts..ends].iter().all(is_true) {
                sets.clear();
                sets.ends.extend_from_slice(&self.records[ends..items]);
                let n_items = sets.ends.last().map_or(0, |&end| end as usize);
                sets.items.extend_from_slice(&self.records[items..items + n_items]);
                return true;
            }
        }
        false
    }

    /// What is asked about, into `self.key`.
    fn ask(&mut self, situation: &Situation<'_>, demand: Demand<'_>, effort: Effort) {
        self.facts.clear();
        self.key.clear();
        self.key.extend(situation.state.iter().zip(&self.masks).map(|(word, mask)| word & mask));
        self.key.push(situation.enabled.len() as u32);
        self.key.extend(situation.enabled.iter().map(|action| action.index() as u32));
        self.key.extend(situation.blocked.iter().map(|action| action.index() as u32));
        for moves in situation.moves.chunks(32) {
            let bit = |bits: u32, (at, &moves): (usize, &bool)| bits | u32::from(moves) << at;
            self.key.push(moves.iter().enumerate().fold(0, bit));
        }
        let (kind, number) = match demand {
            Demand::Deadlocks => (0, 0),
            Demand::Safety => (1, 0),
            Demand::Words => (2, 0),
            Demand::Goal(_) => (3, 0),
            Demand::Observer { number, may_wait, deadlock, hybrid, .. } => {
                let flags = [may_wait, deadlock, hybrid].map(u32::from);
                (8 | flags[0] << 2 | flags[1] << 1 | flags[2], number)
            }
            Demand::Fair { number, passing, may_wait, ends, .. } => {
                let flags = [effort == Effort::Plain, passing, may_wait, ends].map(u32::from);
                (16 | flags[0] << 3 | flags[1] << 2 | flags[2] << 1 | flags[3], number)
            }
        };
        self.key.extend([kind, number]);
        // Multiplicative hashing, word by word.
        let mix = |hash: u64, &word: &u32| {
            (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
        };
        let hash = self.key.iter().fold(0, mix);
        self.home = (hash >> 52) as usize % Memory::N_HASHES * Memory::PLACES;
    }

    /// Told what a guard that looks at more than a control variable has answered.
    pub(crate) fn note(
        &mut self,
        (system, graph): (&ActionSystem, &Graph),
        state: &[u32],
        guard: GuardId,
        holds: bool,
    ) {
        if graph.control_of_guard(guard).is_none() && system.guards()[guard.index()] != Guard::Quiet {
            self.facts.push(fact_of(system, graph, state, guard, holds));
        }
    }

    /// Keeps the sets that were found for what was asked last.
    pub(crate) fn keep(&mut self, sets: &Sets) {
        if self.records.len() > self.max_words {
            self.records.clear();
            self.table.fill(0);
        }
        self.table[self.home + self.turn] = self.records.len() as u32 + 1;
        self.turn = (self.turn + 1) % Memory::PLACES;
        let lengths = [self.key.len(), self.facts.len(), sets.ends.len()];
        self.records.extend(lengths.map(|length| length as u32));
        for part in [&self.key, &self.facts, &sets.ends, &sets.items] {
            self.records.extend_from_slice(part);
        }
    }
}

fn fact_of(system: &ActionSystem, graph: &Graph, state: &[u32], guard: GuardId, holds: bool) -> u32 {
    let has_front = match graph.in_front[guard.index()] {
        Some((len, _)) => system.layout().field(len).raw(state) > 0,
        None => false,
    };
    (guard.index() as u32) << 2 | u32::from(holds) << 1 | u32::from(has_front)
}
