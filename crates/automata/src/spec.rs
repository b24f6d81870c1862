//! Specifications: a process whose traces, stable failures and divergences are the legal ones.
//!
//! A specification becomes a tester by determinization and Brinksma's canonical tester, as [valmari.93.cav]
//! suggests at the end of Section 3. A state of the tester is the set `D` of all
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

use base::{Budget, Limit};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::gave_up::{GaveUp, TooLarge};
use crate::scc::{can_reach, components};
use crate::tester::{Edge, State, Tester};
use crate::tgba::Marks;
use crate::work::holding;

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

/// A set of specification states may have this many minimal illegal refusals.
const MAX_REFUSALS: usize = 2000;

/// A member of a set, in a list and in a table; also more than a transition takes.
const BYTES_PER_MEMBER: usize = 2 * 4 * size_of::<u32>();

/// Names of sets show this many states.
const MAX_NAMES: usize = 8;

type Set = BTreeSet<u32>;

impl Spec {
    /// The tester of this specification.
    ///
    /// # Errors
    /// It has more than `max_size` states and transitions, or its states stand for more states of the
    /// specification in all; or the budget is spent.
    pub fn to_tester(&self, max_size: usize, budget: &mut Budget<'_>) -> Result<Tester, GaveUp> {
        holding(budget, |budget| self.determinize(max_size, budget))
    }

    fn determinize(&self, max_size: usize, budget: &mut Budget<'_>) -> Result<Tester, GaveUp> {
        let moves = Moves::new(self);
        let mut construction = Construction {
            spec: self,
            diverging: moves.diverging(budget)?,
            moves,
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            states: vec![State { name: "reject".into(), reject: true, ..State::default() }],
            edges: Vec::new(),
            size: 0,
            max_size,
        };
        let first = construction.moves.closure([self.initial].into(), budget)?;
        let initial = construction.number(first, budget)?;
        let mut next = 0;
        while next < construction.sets.len() {
            construction.expand(next, budget)?;
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
    fn closure(&self, mut set: Set, budget: &mut Budget<'_>) -> Result<Set, Limit> {
        let mut work: Vec<u32> = set.iter().copied().collect();
        while let Some(state) = work.pop() {
            budget.tick()?;
            for to in self.tau_successors(state) {
                if set.insert(to) {
                    work.push(to);
                }
            }
        }
        Ok(set)
    }

    /// The states from which τ can go on for ever.
    fn diverging(&self, budget: &mut Budget<'_>) -> Result<FixedBitSet, Limit> {
        let tau = |edge: &Edge| edge.letter.is_none().then_some(edge.to as usize);
        let found = components(&self.from, |_, edge| tau(edge), budget)?;
        let loops = found.marks(&self.from, |_, edge| Some((tau(edge)?, Marks::NONE)), budget)?;
        let on_loops = (0..self.from.len()).filter(|&state| loops[found.of[state]].is_some());
        can_reach(&self.from, tau, on_loops.collect(), budget)
    }

    fn is_stable(&self, state: u32) -> bool {
        self.tau_successors(state).next().is_none()
    }
}

struct Construction<'a> {
    spec: &'a Spec,
    moves: Moves,
    diverging: FixedBitSet,
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

    fn grow(&mut self, amount: usize, budget: &mut Budget<'_>) -> Result<(), GaveUp> {
        self.size = self.size.saturating_add(amount);
        if self.size > self.max_size {
            return Err(TooLarge::States.into());
        }
        Ok(budget.hold((amount * BYTES_PER_MEMBER) as u64)?)
    }

    fn add_state(&mut self, state: State, budget: &mut Budget<'_>) -> Result<u32, GaveUp> {
        self.grow(1, budget)?;
        budget.hold((size_of::<State>() + state.name.len()) as u64)?;
        self.states.push(state);
        Ok(self.states.len() as u32 - 1)
    }

    /// The tester state of a set that is closed under τ.
    fn number(&mut self, set: Set, budget: &mut Budget<'_>) -> Result<u32, GaveUp> {
        if let Some(&number) = self.numbers.get(&set) {
            return Ok(number);
        }
        self.grow(set.len() + self.spec.letters.len(), budget)?;
        let livelock = set.iter().all(|&state| !self.diverging.contains(state as usize));
        let state = State { name: self.name(&set), livelock, ..State::default() };
        let number = self.add_state(state, budget)?;
        self.numbers.insert(set.clone(), number);
        self.sets.push((number, set));
        Ok(number)
    }

    fn name(&self, set: &Set) -> String {
        list(set.iter().map(|&state| self.spec.states[state as usize].as_str()))
    }

    fn expand(&mut self, index: usize, budget: &mut Budget<'_>) -> Result<(), GaveUp> {
        let (number, set) = self.sets[index].clone();
        let mut after: Vec<Set> = vec![Set::new(); self.spec.letters.len()];
        for edge in set.iter().flat_map(|&state| self.moves.from(state)) {
            budget.tick()?;
            edge.letter.map(|letter| after[letter as usize].insert(edge.to));
        }
        let mut targets = Vec::new();
        for (letter, after) in (0..).zip(after) {
            budget.tick()?;
            let to = match after.is_empty() {
                true => Self::REJECT,
                false => self.number(self.moves.closure(after, budget)?, budget)?,
            };
            self.edges.push(Edge { from: number, letter: Some(letter), to });
            targets.push(to);
        }
        let offers: BTreeSet<Set> = set
            .iter()
            .filter(|&&state| self.moves.is_stable(state))
            .map(|&state| self.moves.from(state).iter().filter_map(|edge| edge.letter).collect())
            .collect();
        for refusal in minimal_hitting_sets(&offers, MAX_REFUSALS, budget)? {
            let letters = refusal.iter().map(|&letter| self.spec.letters[letter as usize].as_str());
            let set = &self.states[number as usize].name;
            let name = match refusal.len() {
                0 => format!("{set} must not come to rest"),
                _ => format!("{set} must offer one of {}", list(letters)),
            };
            self.grow(refusal.len(), budget)?;
            let state = self.add_state(State { name, deadlock: true, ..State::default() }, budget)?;
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
fn minimal_hitting_sets(
    sets: &BTreeSet<Set>,
    max: usize,
    budget: &mut Budget<'_>,
) -> Result<Vec<Set>, GaveUp> {
    let mut hitting = vec![Set::new()];
    for set in sets {
        let mut extended: Vec<Set> = Vec::new();
        for partial in &hitting {
            if !partial.is_disjoint(set) {
                extended.push(partial.clone());
                continue;
            }
            for &letter in set {
                budget.tick()?;
                let mut candidate = partial.clone();
                candidate.insert(letter);
                extended.push(candidate);
            }
            if extended.len() > max {
                return Err(TooLarge::States.into());
            }
        }
        // Smaller sets first, so that only minimal ones are kept.
        extended.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        hitting.clear();
        for candidate in extended {
            let mut is_minimal = true;
            for kept in &hitting {
                budget.tick()?;
                is_minimal &= !kept.is_subset(&candidate);
            }
            if is_minimal {
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
        let budget = &mut Budget::unlimited();
        let mut hitting = |given: &[&[u32]]| minimal_hitting_sets(&sets(given), 100, budget).unwrap();
        assert_eq!(hitting(&[]), [Set::new()]);
        assert_eq!(hitting(&[&[]]), Vec::<Set>::new());
        assert_eq!(hitting(&[&[1, 2], &[2, 3]]), [[2].into(), Set::from([1, 3])]);
        let many: Vec<Vec<u32>> = (0..20).map(|i| vec![2 * i, 2 * i + 1]).collect();
        let many: Vec<&[u32]> = many.iter().map(Vec::as_slice).collect();
        let found = minimal_hitting_sets(&sets(&many), 1000, &mut Budget::unlimited());
        assert_eq!(found, Err(TooLarge::States.into()));
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
        let tester = spec.to_tester(100, &mut Budget::unlimited()).unwrap();
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
