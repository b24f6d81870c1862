//! Reduction by simulation, forwards and backwards.
//!
//! # Idea
//! A state *q'* simulates *q* if it can do all that *q* can: each edge of *q* is matched, letter by
//! letter, by one of *q'* with the same or more marks, to a state that simulates *q*'s target.
//! States that simulate each other are merged, and an edge is dropped if another one with the
//! same letter is at least as good. Backwards, the same is asked of incoming edges and of being
//! initial; it also keeps the language.
//!
//! The relation is computed by refining classes of states. The *signature* of a state is the list of its best
//! edges: for marks and a class of targets the letters with which there is such an edge, and none that
//! is at least as good. So equal states have equal signatures; and *q'* simulates *q* as far as the classes
//! can tell iff each item of *q*'s signature is covered, as to its letters, by items of that of *q'* which
//! are at least as good. When nothing changes any more, the signatures are the edges of the smaller
//! automaton.
//!
//! With [`Relation::Bisimulation`] a class is at least as good only as itself: less is merged, in
//! less time.
//!
//! # Differences from the paper
//! [babiak.13.spin] writes signatures as decision diagrams over letters, marks and classes. Those over
//! classes explode where states have many edges with a common letter.
//!
//! # References
//! [etessami.01.icalp] for direct simulation and the dropping of edges, [somenzi.00.cav] for the reverse.

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::clean::trim;
use crate::gave_up::GaveUp;
use crate::label::{Label, Labels};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::Work;

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// What can still happen.
    Forward,
    /// What can have happened.
    Backward,
}

/// What makes one class of states at least as good as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Being the same.
    Bisimulation,
    /// Simulating it.
    Simulation,
}

/// A smaller automaton with the same language, and state-based if the given one is.
///
/// # Errors
/// The budget is spent.
pub fn reduce(
    tgba: Tgba,
    direction: Direction,
    relation: Relation,
    budget: &mut Budget<'_>,
) -> Result<Tgba, Limit> {
    let mut work = Work::new(budget, u64::MAX);
    Ok(GaveUp::optional(reduce_with_fuel(&tgba, direction, relation, &mut work))?.unwrap_or(tgba))
}

/// The same, unless the fuel is used up.
pub(crate) fn reduce_with_fuel(
    tgba: &Tgba,
    direction: Direction,
    relation: Relation,
    work: &mut Work<'_, '_>,
) -> Result<Tgba, GaveUp> {
    work.holding(|work| {
        let mut refinement = Refinement::new(tgba, direction, relation, work.budget)?;
        while refinement.refine(work)? {}
        Ok(trim(refinement.quotient(tgba), work.budget)?)
    })
}

/// Edges, seen from the class of one end: with these letters and marks to the class of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    class: usize,
    marks: Marks,
    letters: Label,
}

/// What is known of a state besides its edges, in backward signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Nature {
    /// It is initial.
    initial: bool,
    /// The automaton is state-based, and all edges that leave the state are marked.
    accepting: bool,
}

impl Nature {
    fn is_covered_by(self, other: Nature) -> bool {
        self.initial <= other.initial && self.accepting <= other.accepting
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Signature {
    nature: Nature,
    /// None is at least as good as another with the same letter; sorted by class and marks.
    items: Vec<Item>,
}

struct Refinement {
    labels: Labels,
    direction: Direction,
    relation: Relation,
    /// For each state its edges (forward: outgoing): label, marks, and the other end.
    edges: Vec<Vec<(Label, Marks, usize)>>,
    /// For each state whether no letter leaves a choice between these edges.
    is_deterministic: Vec<bool>,
    nature: Vec<Nature>,
    /// The class of each state.
    class: Vec<usize>,
    /// The classes that are at least as good as a class, itself included.
    better: Vec<FixedBitSet>,
    /// The signature of each class, in terms of the classes before.
    signatures: Vec<Signature>,
}

impl Refinement {
    fn new(
        tgba: &Tgba,
        direction: Direction,
        relation: Relation,
        budget: &mut Budget<'_>,
    ) -> Result<Refinement, Limit> {
        // The edges as they are, and as items of signatures, now and in the next round.
        budget.hold(4 * tgba.bytes())?;
        let n = tgba.n_states();
        let mut labels = tgba.labels().clone();
        let mut edges = vec![vec![]; n];
        for state in tgba.states() {
            for edge in tgba.edges(state) {
                let (source, target) = (state.index(), edge.target.index());
                match direction {
                    Direction::Forward => edges[source].push((edge.label, edge.marks, target)),
                    Direction::Backward => edges[target].push((edge.label, edge.marks, source)),
                }
            }
        }
        let nature = match direction {
            Direction::Forward => vec![Nature::default(); n],
            Direction::Backward => natures(tgba),
        };
        let mut is_deterministic = Vec::with_capacity(n);
        for edges in &edges {
            is_deterministic.push(labels.with(budget).are_disjoint(edges.iter().map(|edge| edge.0))?);
        }
        let (class, better, signatures) = (vec![0; n], vec![FixedBitSet::from_iter([0])], vec![]);
        Ok(Refinement {
            labels,
            direction,
            relation,
            edges,
            is_deterministic,
            nature,
            class,
            better,
            signatures,
        })
    }

    /// One round; whether it changed anything.
    fn refine(&mut self, work: &mut Work<'_, '_>) -> Result<bool, GaveUp> {
        let mut numbers: FxHashMap<Signature, usize> = FxHashMap::default();
        let mut old_class = vec![];
        let mut class = Vec::with_capacity(self.class.len());
        for state in 0..self.class.len() {
            let signature = self.signature(state, work.budget)?;
            work.spend(self.labels.take_steps() + self.edges[state].len() as u64)?;
            class.push(*numbers.entry(signature).or_insert_with(|| {
                old_class.push(self.class[state]);
                old_class.len() - 1
            }));
        }
        self.class = class;
        let mut signatures: Vec<(Signature, usize)> = numbers.into_iter().collect();
        signatures.sort_unstable_by_key(|entry| entry.1);
        self.signatures = signatures.into_iter().map(|entry| entry.0).collect();
        let better = self.order(&old_class, work)?;
        let changed = self.better != better;
        self.better = better;
        Ok(changed)
    }

    fn signature(&mut self, state: usize, budget: &mut Budget<'_>) -> Result<Signature, Limit> {
        let mut items: Vec<Item> = self.edges[state]
            .iter()
            .map(|&(letters, marks, end)| Item { class: self.class[end], marks, letters })
            .collect();
        items.sort_unstable_by_key(|item| (item.class, item.marks, item.letters));
        let mut merged: Vec<Item> = vec![];
        for item in items {
            match merged.last_mut().filter(|kept| (kept.class, kept.marks) == (item.class, item.marks)) {
                Some(kept) => kept.letters = self.labels.with(budget).or(kept.letters, item.letters)?,
                None => merged.push(item),
            }
        }
        if !self.is_deterministic[state] {
            merged = self.best(&merged, budget)?;
        }
        Ok(Signature { nature: self.nature[state], items: merged })
    }

    /// The items, each without the letters of those that are better.
    fn best(&mut self, items: &[Item], budget: &mut Budget<'_>) -> Result<Vec<Item>, Limit> {
        let mut best = vec![];
        for (place, item) in items.iter().enumerate() {
            let mut letters = item.letters;
            for (other_place, other) in items.iter().enumerate() {
                budget.tick()?;
                if place != other_place && letters != Label::FALSE && self.is_as_good(other, item) {
                    letters = self.labels.with(budget).minus(letters, other.letters)?;
                }
            }
            if letters != Label::FALSE {
                best.push(Item { letters, ..*item });
            }
        }
        Ok(best)
    }

    /// Whether an item is at least as good as another, letters apart.
    fn is_as_good(&self, item: &Item, other: &Item) -> bool {
        item.marks.includes(other.marks) && self.better[other.class].contains(item.class)
    }

    /// For each class those at least as good; only pairs that were ordered before can be.
    fn order(&mut self, old_class: &[usize], work: &mut Work<'_, '_>) -> Result<Vec<FixedBitSet>, GaveUp> {
        let n = self.signatures.len();
        work.budget.hold((n * n / 8) as u64)?;
        let mut order = vec![FixedBitSet::with_capacity(n); n];
        (0..n).for_each(|class| order[class].insert(class));
        if self.relation == Relation::Bisimulation {
            return Ok(order);
        }
        let signatures = std::mem::take(&mut self.signatures);
        let mut offers = FxHashMap::default();
        for (b, other) in signatures.iter().enumerate() {
            work.spend(n as u64 / 16 + 1)?;
            offers.clear();
            for (a, signature) in signatures.iter().enumerate().filter(|&(a, _)| a != b) {
                let was = self.better[old_class[a]].contains(old_class[b]);
                if was && self.is_covered(signature, other, &mut offers, work)? {
                    order[a].insert(b);
                }
            }
        }
        self.signatures = signatures;
        Ok(order)
    }

    /// Whether each item of the first has its letters in items of the second that are at least as good.
    /// `offers` remembers, for class and marks, the letters of such items of the second.
    fn is_covered(
        &mut self,
        a: &Signature,
        b: &Signature,
        offers: &mut FxHashMap<(usize, Marks), Label>,
        work: &mut Work<'_, '_>,
    ) -> Result<bool, GaveUp> {
        if !a.nature.is_covered_by(b.nature) {
            return Ok(false);
        }
        for item in &a.items {
            let offer = match offers.get(&(item.class, item.marks)) {
                Some(&known) => known,
                None => {
                    let offer = self.offer(item, &b.items, work.budget)?;
                    offers.insert((item.class, item.marks), offer);
                    offer
                }
            };
            let covered = self.labels.with(work.budget).implies(item.letters, offer)?;
            work.spend(self.labels.take_steps() + 1)?;
            if !covered {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The letters with which one of the items is at least as good as the given one.
    fn offer(&mut self, item: &Item, items: &[Item], budget: &mut Budget<'_>) -> Result<Label, Limit> {
        let mut letters = Label::FALSE;
        for class in self.better[item.class].ones() {
            let first = items.partition_point(|other| other.class < class);
            let same_class = items[first..].iter().take_while(|other| other.class == class);
            for other in same_class.filter(|other| other.marks.includes(item.marks)) {
                letters = self.labels.with(budget).or(letters, other.letters)?;
            }
        }
        Ok(letters)
    }

    /// The automaton of the classes.
    fn quotient(self, tgba: &Tgba) -> Tgba {
        let mut quotient = Tgba::with_labels(self.labels, tgba.n_marks());
        quotient.declare(tgba.propositions().iter().copied());
        quotient.add_states(self.signatures.len() - 1);
        for (class, signature) in self.signatures.iter().enumerate() {
            for item in &signature.items {
                let (source, target) = match self.direction {
                    Direction::Forward => (class, item.class),
                    Direction::Backward => (item.class, class),
                };
                // No other item has the same class and marks.
                let edge = Edge { target: State::new(target), marks: item.marks, label: item.letters };
                quotient.edges_mut(source).push(edge);
            }
        }
        quotient.set_initial(State::new(self.class[tgba.initial().index()]));
        quotient
    }
}

/// Where marks belong to states, a state is only as good as one with the same marks or more.
fn natures(tgba: &Tgba) -> Vec<Nature> {
    let by_state = tgba.n_marks() == 1 && tgba.is_state_based();
    let nature = |state: State| Nature {
        initial: state == tgba.initial(),
        accepting: by_state && tgba.common_marks(state) == tgba.all_marks(),
    };
    tgba.states().map(nature).collect()
}
