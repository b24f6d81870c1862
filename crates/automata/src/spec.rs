//! Specifications: a process whose traces, stable failures and divergences are the legal ones.
//!
//! A specification becomes a tester by determinization and Brinksma's canonical tester, as 001
//! suggests at the end of Section 3 [valmari.93.cav]. A state of the tester is the set `D` of all
//! states that the specification can be in after a trace.
//!
//! - No state of `D` can do a letter, even after τ: that letter leads to the reject state.
//! - No state of `D` diverges (lies before a loop of τ): a divergence is illegal, so `D` is a
//!   livelock state.
//! - A refusal is illegal if every stable state of `D` offers something of it. For each minimal set
//!   `B` of letters that meets what every stable state offers, τ leads to a deadlock state that
//!   offers exactly `B`. If `D` has no stable state, that is the empty set: being stable is illegal.
//!
//! After a legal divergence behavior stays constrained; this is not the chaos of CSP.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::tester::{Edge, State, Tester};

/// A process that shows what is legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The visible actions, by name.
    pub letters: Vec<String>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The initial state.
    pub initial: u32,
    /// The transitions; no letter is τ.
    pub edges: Vec<Edge>,
}

/// The tester of a specification would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// A set of specification states may have this many minimal illegal refusals.
const MAX_REFUSALS: usize = 2000;

/// Names of sets show this many states.
const MAX_NAMES: usize = 8;

type Set = BTreeSet<u32>;

impl Spec {
    /// The tester of this specification, if it has at most `max_size` states and transitions and
    /// its states stand for as many states of the specification in all.
    pub fn to_tester(&self, max_size: usize) -> Result<Tester, TooLarge> {
        let moves = Moves::new(self);
        let mut construction = Construction {
            spec: self,
            diverging: moves.diverging(),
            moves,
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            states: vec![State { name: "reject".into(), reject: true, ..State::default() }],
            edges: Vec::new(),
            size: 0,
            max_size,
        };
        let initial = construction.number(construction.moves.closure([self.initial].into()))?;
        let mut next = 0;
        while next < construction.sets.len() {
            construction.expand(next)?;
            next += 1;
        }
        let Construction { states, edges, .. } = construction;
        Ok(Tester { letters: self.letters.clone(), states, initial, edges })
    }
}

/// The transitions of a specification by their source.
struct Moves {
    from: Vec<Vec<Edge>>,
}

impl Moves {
    fn new(spec: &Spec) -> Moves {
        let mut from = vec![Vec::new(); spec.states.len()];
        spec.edges.iter().for_each(|edge| from[edge.from as usize].push(*edge));
        Moves { from }
    }

    fn from(&self, state: u32) -> &[Edge] {
        &self.from[state as usize]
    }

    fn tau_successors(&self, state: u32) -> impl Iterator<Item = u32> {
        self.from(state).iter().filter(|edge| edge.letter.is_none()).map(|edge| edge.to)
    }

    /// All states that τ leads to.
    fn closure(&self, mut set: Set) -> Set {
        let mut work: Vec<u32> = set.iter().copied().collect();
        while let Some(state) = work.pop() {
            for to in self.tau_successors(state) {
                if set.insert(to) {
                    work.push(to);
                }
            }
        }
        set
    }

    /// Per state, whether τ can go on for ever from it.
    fn diverging(&self) -> Vec<bool> {
        // Repeatedly drop states whose τ-successors were all dropped; the others never come to rest.
        let mut n_left: Vec<usize> =
            (0..self.from.len() as u32).map(|state| self.tau_successors(state).count()).collect();
        let mut before = vec![Vec::new(); self.from.len()];
        for state in 0..self.from.len() as u32 {
            self.tau_successors(state).for_each(|to| before[to as usize].push(state));
        }
        let mut work: Vec<u32> =
            (0..self.from.len() as u32).filter(|&state| n_left[state as usize] == 0).collect();
        while let Some(state) = work.pop() {
            for &previous in &before[state as usize] {
                n_left[previous as usize] -= 1;
                if n_left[previous as usize] == 0 {
                    work.push(previous);
                }
            }
        }
        n_left.into_iter().map(|n| n > 0).collect()
    }

    fn is_stable(&self, state: u32) -> bool {
        self.tau_successors(state).next().is_none()
    }
}

struct Construction<'a> {
    spec: &'a Spec,
    moves: Moves,
    diverging: Vec<bool>,
    /// Tester states of sets.
    numbers: FxHashMap<Set, u32>,
    sets: Vec<(u32, Set)>,
    states: Vec<State>,
    edges: Vec<Edge>,
    /// States, transitions and members of sets so far.
    size: usize,
    max_size: usize,
}

impl Construction<'_> {
    const REJECT: u32 = 0;

    fn grow(&mut self, amount: usize) -> Result<(), TooLarge> {
        self.size = self.size.saturating_add(amount);
        if self.size > self.max_size { Err(TooLarge) } else { Ok(()) }
    }

    fn add_state(&mut self, state: State) -> Result<u32, TooLarge> {
        self.grow(1)?;
        self.states.push(state);
        Ok(self.states.len() as u32 - 1)
    }

    /// The tester state of a set that is closed under τ.
    fn number(&mut self, set: Set) -> Result<u32, TooLarge> {
        if let Some(&number) = self.numbers.get(&set) {
            return Ok(number);
        }
        self.grow(set.len() + self.spec.letters.len())?;
        let livelock = set.iter().all(|&state| !self.diverging[state as usize]);
        let number = self.add_state(State { name: self.name(&set), livelock, ..State::default() })?;
        self.numbers.insert(set.clone(), number);
        self.sets.push((number, set));
        Ok(number)
    }

    fn name(&self, set: &Set) -> String {
        list(set.iter().map(|&state| self.spec.states[state as usize].as_str()))
    }

    fn expand(&mut self, index: usize) -> Result<(), TooLarge> {
        let (number, set) = self.sets[index].clone();
        let mut targets = Vec::new();
        for letter in 0..self.spec.letters.len() as u32 {
            let after = set.iter().flat_map(|&state| self.moves.from(state));
            let after: Set = after.filter(|edge| edge.letter == Some(letter)).map(|edge| edge.to).collect();
            let to = if after.is_empty() { Self::REJECT } else { self.number(self.moves.closure(after))? };
            self.edges.push(Edge { from: number, letter: Some(letter), to });
            targets.push(to);
        }
        let offers: BTreeSet<Set> = set
            .iter()
            .filter(|&&state| self.moves.is_stable(state))
            .map(|&state| self.moves.from(state).iter().filter_map(|edge| edge.letter).collect())
            .collect();
        for refusal in minimal_hitting_sets(&offers, MAX_REFUSALS)? {
            let letters = refusal.iter().map(|&letter| self.spec.letters[letter as usize].as_str());
            let set = &self.states[number as usize].name;
            let name = match refusal.len() {
                0 => format!("{set} must not come to rest"),
                _ => format!("{set} must offer one of {}", list(letters)),
            };
            self.grow(refusal.len())?;
            let state = self.add_state(State { name, deadlock: true, ..State::default() })?;
            self.edges.push(Edge { from: number, letter: None, to: state });
            let offered = refusal.iter().map(|&letter| Edge {
                from: state,
                letter: Some(letter),
                to: targets[letter as usize],
            });
            self.edges.extend(offered);
        }
        Ok(())
    }
}

/// The names in braces; of very many only the first.
fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let n_hidden = names.len().saturating_sub(MAX_NAMES);
    let mut shown: Vec<String> = names.take(MAX_NAMES).map(str::to_owned).collect();
    if n_hidden > 0 {
        shown.push(format!("… {n_hidden} more"));
    }
    format!("{{{}}}", shown.join(", "))
}

/// All minimal sets that meet each of the given ones (Berge's algorithm: one set after the other).
fn minimal_hitting_sets(sets: &BTreeSet<Set>, max: usize) -> Result<Vec<Set>, TooLarge> {
    let mut hitting = vec![Set::new()];
    for set in sets {
        let mut extended: Vec<Set> = Vec::new();
        for partial in &hitting {
            if !partial.is_disjoint(set) {
                extended.push(partial.clone());
                continue;
            }
            for &letter in set {
                let mut candidate = partial.clone();
                candidate.insert(letter);
                extended.push(candidate);
            }
            if extended.len() > max {
                return Err(TooLarge);
            }
        }
        // Smaller sets first, so that only minimal ones are kept.
        extended.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        hitting.clear();
        for candidate in extended {
            if !hitting.iter().any(|kept| kept.is_subset(&candidate)) {
                hitting.push(candidate);
            }
        }
    }
    Ok(hitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hitting_sets_are_minimal_and_complete() {
        let sets =
            |sets: &[&[u32]]| sets.iter().map(|set| set.iter().copied().collect()).collect::<BTreeSet<Set>>();
        let hitting = |given: &[&[u32]]| minimal_hitting_sets(&sets(given), 100).unwrap();
        assert_eq!(hitting(&[]), [Set::new()]);
        assert_eq!(hitting(&[&[]]), Vec::<Set>::new());
        assert_eq!(hitting(&[&[1, 2], &[2, 3]]), [[2].into(), Set::from([1, 3])]);
        let many: Vec<Vec<u32>> = (0..20).map(|i| vec![2 * i, 2 * i + 1]).collect();
        let many: Vec<&[u32]> = many.iter().map(Vec::as_slice).collect();
        assert_eq!(minimal_hitting_sets(&sets(&many), 1000), Err(TooLarge));
    }

    #[test]
    fn a_vending_machine_must_offer_a_choice_or_either() {
        // coin, then internally tea or coffee.
        let edge = |from, letter, to| Edge { from, letter, to };
        let spec = Spec {
            letters: ["coin", "tea", "coffee"].map(String::from).into(),
            states: ["idle", "choosing", "brews_tea", "brews_coffee"].map(String::from).into(),
            initial: 0,
            edges: vec![
                edge(0, Some(0), 1),
                edge(1, None, 2),
                edge(1, None, 3),
                edge(2, Some(1), 0),
                edge(3, Some(2), 0),
            ],
        };
        let tester = spec.to_tester(100).unwrap();
        assert_eq!(tester.flaw(), None);
        let names: Vec<&str> =
            tester.states.iter().filter(|state| state.deadlock).map(|state| state.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "{idle} must offer one of {coin}",
                "{choosing, brews_tea, brews_coffee} must offer one of {tea, coffee}"
            ]
        );
        assert!(
            tester.states.iter().filter(|state| !state.deadlock && !state.reject).all(|state| state.livelock)
        );
    }
}
