//! That there is no deadlock, or that everything is live, by siphons and traps.
//!
//! # Idea
//! A *siphon* is a set of places such that whoever gives a token to it takes one from it: once empty, it stays so. A *trap* is a set such
//! that whoever takes a token from it gives one to it: once marked, it stays so. A siphon that contains a marked trap is never empty.
//!
//! # Deadlocks
//! In a marking in which nothing is enabled, every transition has an input place with too few tokens. Where all its arcs have
//! weight 1, that place is empty. The empty places contain no trap that was marked at first. The places that
//! are not empty have a token at least, so that no sum of tokens which never grows is exceeded by one token in each. If there is no
//! set of places that may be empty so, there is no deadlock.
//!
//! # Liveness
//! Let all arcs to transitions have weight 1, and of two places with a common consumer, let one have all consumers of the other (*asymmetric
//! choice*). If every siphon contains a trap that is marked at first, every transition is live: otherwise there is a marking from
//! which as many transitions as possible are dead. The input places of a dead one are a chain p₁, p₂, … in which each has the consumers of
//! those before. If p₁ is ever marked, it stays so: its consumers need all of the chain, and where that is marked the dead transition
//! is enabled. Then the same is true of p₂, and so on; so some place of the chain is never marked from some marking on. From a marking where
//! this has come true for all dead transitions, let S be the places with consumers that are never marked again. Who gives a token to S is dead, so
//! takes one from S: it is a siphon, and empty.
//!
//! # How
//! Such sets are looked for one transition after the other, by trying which of its input places is in the set; those that were tried
//! before are not. All is counted in integers, and nothing is left out: there is no certificate but the search itself.
//!
//! # Limits
//! The number of sets may be exponential, so the work is limited. For deadlocks, a transition with an arc of a greater weight may be
//! disabled by tokens that are there: it forbids nothing.
//!
//! # References
//! F. Commoner; T. Murata, *Petri nets: properties, analysis and applications* (1989).

use base::{Budget, Limit};

use super::Facts;
use crate::net::{PlaceId, Transition};

/// Arcs and sums that are looked at.
const WORK: u64 = 20_000_000;

/// What is thought of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Open,
    /// It is in the set of places that are empty.
    Empty,
    /// It is not: if deadlocks are looked for, it is marked.
    Other,
}

/// A transition one of whose input places must be in the set: always, or where one of those is that it gives tokens to.
struct Need {
    inputs: Vec<u32>,
    gives: Option<Vec<u32>>,
}

/// A transition that has one of these places in the set, in turn.
struct Choice {
    candidates: Vec<u32>,
    next: usize,
    /// How many places were decided before.
    n_decided: usize,
}

struct Search<'f> {
    facts: &'f Facts,
    needs: Vec<Need>,
    /// Whether sums are looked at.
    counts: bool,
    places: Vec<Place>,
    decided: Vec<u32>,
    /// Per sum, what the places that are marked have of it at least.
    taken: Vec<i128>,
    work: u64,
}

impl Facts {
    /// Whether it is shown that some transition is enabled in every marking.
    pub(super) fn has_no_deadlock(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let transitions = &self.net.transitions;
        let plain = transitions.iter().filter(|transition| is_plain(transition));
        let needs = plain.map(|its| Need { inputs: numbers(&its.inputs), gives: None }).collect();
        let mut search = self.siphons(needs, true);
        for (place, _) in self.least.iter().enumerate().filter(|(_, least)| **least > 0) {
            search.set(place as u32, Place::Other);
        }
        Ok(!transitions.is_empty() && search.finds_none(budget)?)
    }

    /// Whether it is shown that every transition can be made enabled again, from every marking.
    pub(super) fn is_live(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let transitions = &self.net.transitions;
        let is_dead = self.is_dead.contains(&true);
        if is_dead || !transitions.iter().all(is_plain) || !self.has_asymmetric_choice(budget)? {
            return Ok(false);
        }
        let need =
            |its: &Transition| Need { inputs: numbers(&its.inputs), gives: Some(numbers(&its.outputs)) };
        let mut search = self.siphons(transitions.iter().map(need).collect(), false);
        let mut seeds: Vec<u32> = transitions.iter().flat_map(|its| numbers(&its.inputs)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        for place in (0..self.initial.len() as u32).filter(|place| seeds.binary_search(place).is_err()) {
            search.set(place, Place::Other);
        }
        // Every siphon contains one of them; those that contain an earlier one were looked at.
        for seed in seeds {
            let n_decided = search.decided.len();
            search.set(seed, Place::Empty);
            if !search.finds_none(budget)? {
                return Ok(false);
            }
            search.undo(n_decided);
            search.set(seed, Place::Other);
        }
        Ok(true)
    }

    /// Whether of two places with a common consumer, one has all consumers of the other.
    fn has_asymmetric_choice(&self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut consumers: Vec<Vec<u32>> = vec![Vec::new(); self.initial.len()];
        for (number, transition) in self.net.transitions.iter().enumerate() {
            transition.inputs.iter().for_each(|(place, _)| consumers[place.index()].push(number as u32));
        }
        let is_within = |a: &[u32], b: &[u32]| a.iter().all(|its| b.binary_search(its).is_ok());
        for transition in &self.net.transitions {
            budget.tick()?;
            // A chain, if sorted, is one from each place to the next.
            let mut chain: Vec<&[u32]> =
                transition.inputs.iter().map(|(place, _)| consumers[place.index()].as_slice()).collect();
            chain.sort_by_key(|its| its.len());
            if !chain.windows(2).all(|pair| is_within(pair[0], pair[1])) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn siphons(&self, mut needs: Vec<Need>, counts: bool) -> Search<'_> {
        needs.sort_by_key(|need| need.inputs.len());
        Search {
            facts: self,
            needs,
            counts,
            places: vec![Place::Open; self.initial.len()],
            decided: Vec::new(),
            taken: vec![0; self.sums.len()],
            work: WORK,
        }
    }
}

/// Whether it takes one token from each of its input places.
fn is_plain(transition: &Transition) -> bool {
    transition.inputs.iter().all(|(_, weight)| *weight == 1)
}

fn numbers(arcs: &[(PlaceId, i64)]) -> Vec<u32> {
    arcs.iter().map(|(place, _)| place.index() as u32).collect()
}

impl Search<'_> {
    /// Whether there is no set of places that may be empty, with what is decided already. If there is none, that is still decided.
    fn finds_none(&mut self, budget: &mut Budget<'_>) -> Result<bool, Limit> {
        let mut choices: Vec<Choice> = Vec::new();
        loop {
            budget.tick()?;
            let is_possible = self.has_no_marked_trap();
            if self.work == 0 {
                return Ok(false);
            }
            if is_possible {
                let Some(candidates) = self.undecided() else { return Ok(false) };
                choices.push(Choice { candidates, next: 0, n_decided: self.decided.len() });
            }
            // On to the next candidate of the last choice that has one.
            loop {
                let Some(choice) = choices.last_mut() else { return Ok(true) };
                if let Some(before) = choice.next.checked_sub(1) {
                    let (place, n_decided) = (choice.candidates[before], choice.n_decided);
                    // It was tried as empty, after those before it as not.
                    self.undo(n_decided + before);
                    if !self.set(place, Place::Other) {
                        self.undo(n_decided);
                        choices.pop();
                        continue;
                    }
                }
                match choice.candidates.get(choice.next) {
                    Some(&place) => {
                        choice.next += 1;
                        self.set(place, Place::Empty);
                        break;
                    }
                    None => {
                        let n_decided = choice.n_decided;
                        self.undo(n_decided);
                        choices.pop();
                    }
                }
            }
        }
    }

    /// Decides about a place that is open; returns whether that is possible by sums. It is noted in any case.
    fn set(&mut self, place: u32, to: Place) -> bool {
        self.places[place as usize] = to;
        self.decided.push(place);
        if to != Place::Other || !self.counts {
            return true;
        }
        let mut is_possible = true;
        for &sum in &self.facts.sums_of[place as usize] {
            self.work = self.work.saturating_sub(1);
            let its = &self.facts.sums[sum as usize];
            let taken = &mut self.taken[sum as usize];
            *taken = taken.saturating_add(its.weight(place).into());
            is_possible &= *taken <= its.total;
        }
        is_possible
    }

    /// Forgets all but the first decisions.
    fn undo(&mut self, n_decided: usize) {
        for place in self.decided.split_off(n_decided) {
            let known = std::mem::replace(&mut self.places[place as usize], Place::Open);
            if known == Place::Other && self.counts {
                for &sum in &self.facts.sums_of[place as usize] {
                    let weight = self.facts.sums[sum as usize].weight(place);
                    let taken = &mut self.taken[sum as usize];
                    *taken = taken.saturating_sub(weight.into());
                }
            }
        }
    }

    /// The places that may be in the set for a transition which needs one, of one that has the fewest; nothing if there is no
    /// such transition.
    fn undecided(&mut self) -> Option<Vec<u32>> {
        let mut best: Option<Vec<u32>> = None;
        for Need { inputs, gives } in &self.needs {
            self.work = self.work.saturating_sub(inputs.len() as u64);
            let is_empty = |place: &u32| self.places[*place as usize] == Place::Empty;
            if inputs.iter().any(is_empty) || gives.as_ref().is_some_and(|its| !its.iter().any(is_empty)) {
                continue;
            }
            let open = || inputs.iter().copied().filter(|place| self.places[*place as usize] == Place::Open);
            let n_open = open().count();
            if best.as_ref().is_none_or(|best| n_open < best.len()) {
                best = Some(open().collect());
            }
            if n_open == 0 {
                break;
            }
        }
        best
    }

    /// Whether no trap among the empty places was marked at first.
    fn has_no_marked_trap(&mut self) -> bool {
        let mut is_in: Vec<bool> = self.places.iter().map(|place| *place == Place::Empty).collect();
        let is_marked = |is_in: &[bool]| {
            is_in.iter().zip(&self.facts.initial).any(|(is_in, initial)| *is_in && *initial > 0)
        };
        let mut has_changed = true;
        while has_changed && is_marked(&is_in) {
            has_changed = false;
            for transition in &self.facts.net.transitions {
                let (inputs, outputs) = (&transition.inputs, &transition.outputs);
                self.work = self.work.saturating_sub((inputs.len() + outputs.len()) as u64);
                let contains = |(place, _): &(PlaceId, i64)| is_in[place.index()];
                if inputs.iter().any(contains) && !outputs.iter().any(contains) {
                    inputs.iter().for_each(|(place, _)| is_in[place.index()] = false);
                    has_changed = true;
                }
            }
        }
        !is_marked(&is_in)
    }
}
