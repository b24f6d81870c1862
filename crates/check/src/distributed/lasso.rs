//! Runs through a product of which each process has a part: ways to a state, and accepted cycles.
//!
//! A *way back* goes from a state through the rounds in which states were found: all processes look which of their states of the
//! round before lead there, and take the smallest, by its words. So the run is as short as can be in what was searched, and the same
//! for any number of processes. Nothing has to be kept for it.
//!
//! # Cycles
//! Something is left of the [fixpoint](super::fixpoint). Take a state c of it, of the earliest round. A cycle through c with all marks is a way from c back to c
//! among states that are left, on which the marks come in some order: it is looked for breadth first among pairs of a state and the number of
//! marks that were met, again in rounds, and read off backward. On it, a state may enable a strong constraint
//! that it does not take; then one more mark is required, and the search is done again.
//!
//! If there is no such cycle, c is in no component that nothing outside leads to: such a component has all marks, as the fixpoint
//! shows. So some state is left that c does not lead to. Whatever c leads to is removed, and another state is taken; what is left keeps all of its predecessors.

use base::Limit;
use fixedbitset::FixedBitSet;
use model::{ActionId, Run, System};

use super::exchange::Watch;
use super::fixpoint::{Fixpoint, Scope};
use super::piece::{ABOUT, Phase, Piece};
use crate::fairness::{Acceptance, Block, add};
use crate::observer::Portable;
use crate::search::{Evidence, Violation};

/// A run through a product: its states, and the steps between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    states: Vec<Vec<u32>>,
    /// None is the stuttering of a deadlock.
    actions: Vec<Option<ActionId>>,
}

/// A mark: a word, and a bit of it.
type Mark = (usize, u32);

/// A state, how many marks were met before it, and the step out of it.
type Back = (Vec<u32>, u32, Option<ActionId>);

/// How many of some marks were met after a step with these, if so many were before.
fn met(order: &[Mark], n_met: u32, marks: &[u32]) -> u32 {
    let rest = order[n_met as usize..].iter();
    n_met + rest.take_while(|(word, bit)| marks[*word] & bit != 0).count() as u32
}

impl<'p, 'a, 'x, S: System, O: Portable> Piece<'p, 'a, 'x, S, O> {
    /// A way from an initial state to one that was found in a round, which everybody knows.
    pub(super) fn way_to(
        &mut self,
        state: &[u32],
        round: usize,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Way>, Limit> {
        let mut way = Way { states: vec![state.to_vec()], actions: Vec::new() };
        let mut round = round;
        while round > 0 {
            let turned = self.sets.turned_for(round).map(<[u32]>::to_vec);
            let found = || self.own.round(round - 1).map(|place| self.own.number(place)).collect();
            let before = turned.clone().unwrap_or_else(found);
            let items: Vec<[u32; 2]> = before.into_iter().map(|number| [number, 0]).collect();
            let last = [&way.states[way.states.len() - 1][..], &[0]].concat();
            let Some((state, _, action)) = self.step_back(&items, &last, Scope::Cycles, &[], watch)? else {
                return Ok(None);
            };
            round = match turned {
                None => round - 1,
                // It was found in some round before.
                Some(_) => {
                    let mine = self.own.find(&state).filter(|_| self.is_own(&state));
                    let mine = mine.map(|number| vec![self.own.round_of(number) as u32]);
                    let Some(found) = self.first_of(mine, watch)? else { return Ok(None) };
                    found[0] as usize
                }
            };
            way.states.push(state);
            way.actions.push(action);
        }
        way.states.reverse();
        way.actions.reverse();
        Ok(Some(way))
    }

    /// The smallest of some states, each with the number of marks met, from which a step leads to another such pair.
    fn step_back(
        &mut self,
        items: &[[u32; 2]],
        to: &[u32],
        scope: Scope,
        order: &[Mark],
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Back>, Limit> {
        let mut best: Option<Vec<u32>> = None;
        let (to_state, to_met) = to.split_at(to.len() - 1);
        for &[number, n_met] in items {
            if self.exchange.limit().is_some() {
                break;
            }
            watch.look(&mut self.exchange)?;
            if self.expand(number).is_err() {
                continue;
            }
            let mut by = None;
            self.for_each_step(scope, |target, marks, action| {
                if by.is_none() && target == to_state && met(order, n_met, marks) == to_met[0] {
                    by = Some(action.map_or(0, |action| action.index() as u32 + 1));
                }
            });
            let Some(by) = by else { continue };
            let found = [self.state(), &[n_met, by]].concat();
            if best.as_ref().is_none_or(|best| found < *best) {
                best = Some(found);
            }
        }
        let Some(mut words) = self.first_of(best, watch)? else { return Ok(None) };
        let (Some(by), Some(n_met)) = (words.pop(), words.pop()) else { return Ok(None) };
        let action = by.checked_sub(1).map(|index| ActionId::new(index as usize));
        Ok((words.len() == self.width()).then_some((words, n_met, action)))
    }

    /// The initial state of the system that a way begins with, and its steps.
    pub(super) fn run_along(&mut self, way: &Way) -> Option<(Run, Vec<u32>)> {
        let first = way.states.first()?;
        let initial = self.product.initial_states().ok()?;
        let (index, _) = initial.iter().find(|(_, state)| state == first)?;
        let mut run = Run { initial: *index, actions: Vec::new() };
        let mut observers = vec![*first.last()?];
        way.steps().for_each(|(action, observer)| {
            run.actions.push(action);
            observers.push(observer);
        });
        Some((run, observers))
    }

    /// A run to an accepted cycle among what is left of a fixpoint; none if there is a mistake somewhere.
    pub(super) fn lasso(
        &mut self,
        mut left: Fixpoint,
        acceptance: &Acceptance,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<Evidence>, Limit> {
        let required: Vec<Mark> =
            acceptance.blocks().iter().filter(|block| block.where_enabled.is_none()).flat_map(bits).collect();
        loop {
            let Some((round, start)) = self.first_left(&left, watch)? else { return Ok(None) };
            let mut order = required.clone();
            loop {
                let cycle = match self.cycle(&left, &start, &order, watch)? {
                    Ok(cycle) => cycle,
                    Err(reached) => {
                        reached.into_iter().for_each(|number| left.remove(number));
                        break;
                    }
                };
                let marks = self.marks_along(&cycle, left.scope);
                if !acceptance.holds(&marks) {
                    let missing = acceptance.missing(&marks);
                    if missing.is_empty() {
                        return Ok(None);
                    }
                    order.extend(missing);
                    continue;
                }
                let Some(way) = self.way_to(&start, round, watch)? else { return Ok(None) };
                let Some((mut run, mut observer_states)) = self.run_along(&way) else { return Ok(None) };
                let cycle_start = Some(run.actions.len());
                cycle.steps().for_each(|(action, observer)| {
                    run.actions.push(action);
                    observer_states.push(observer);
                });
                let violation = match left.scope {
                    Scope::Cycles | Scope::Sets => Violation::Cycle,
                    Scope::Livelocks => Violation::Livelock,
                };
                return Ok(Some(Evidence { violation, run, cycle_start, observer_states }));
            }
        }
    }

    /// The smallest state that is left, of the earliest round.
    fn first_left(
        &mut self,
        left: &Fixpoint,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Option<(usize, Vec<u32>)>, Limit> {
        let mut first: Option<Vec<u32>> = None;
        let mut state = vec![0; self.width()];
        for number in left.alive() {
            let round = self.own.round_of(number) as u32;
            if first.as_ref().is_some_and(|first| first[0] < round) {
                continue;
            }
            self.own.get(number, &mut state);
            if first.as_ref().is_none_or(|first| (round, &state[..]) < (first[0], &first[1..])) {
                first = Some([&[round], &state[..]].concat());
            }
        }
        let first = self.first_of(first, watch)?.filter(|words| words.len() == self.width() + 1);
        Ok(first.map(|words| (words[0] as usize, words[1..].to_vec())))
    }

    /// A cycle through a state on which some marks come one after the other; if there is none, which own states that state leads to.
    fn cycle(
        &mut self,
        left: &Fixpoint,
        start: &[u32],
        order: &[Mark],
        watch: &mut Watch<'_, '_>,
    ) -> Result<Result<Way, Vec<u32>>, Limit> {
        let own = self.own.find(start).filter(|_| self.is_own(start));
        let n_copies = order.len() + 1;
        let mut walk = Walk {
            left,
            order,
            goal: own,
            visited: FixedBitSet::with_capacity(left.n_states() * n_copies),
            levels: vec![own.map(|number| [number, 0]).into_iter().collect()],
            next: 0,
            new: Vec::new(),
            is_found: false,
        };
        self.more_bytes = left.bytes() + walk.visited.len() as u64 / 8;
        let is_found = loop {
            self.go(&mut walk, watch)?;
            let new = std::mem::take(&mut walk.new);
            let [n_new, n_found] = self.sums([new.len() as u64, walk.is_found.into()], watch)?;
            if n_found > 0 || n_new == 0 {
                break n_found > 0;
            }
            walk.levels.push(new);
            walk.next = 0;
        };
        if !is_found {
            let reached = walk.visited.ones().map(|place| (place / n_copies) as u32);
            return Ok(Err(reached.chain(own).collect()));
        }
        let levels = walk.levels;
        let mut way = Way { states: vec![start.to_vec()], actions: Vec::new() };
        let mut to = [start, &[order.len() as u32]].concat();
        for level in levels.iter().rev() {
            let back = self.step_back(level, &to, left.scope, order, watch)?;
            // There is a mistake somewhere: nothing is told.
            let Some((state, n_met, action)) = back else { return Ok(Err(left.alive().collect())) };
            to = [&state[..], &[n_met]].concat();
            way.states.push(state);
            way.actions.push(action);
        }
        way.states.reverse();
        way.actions.reverse();
        Ok(Ok(way))
    }

    /// All marks of the states and steps of a way.
    fn marks_along(&mut self, way: &Way, scope: Scope) -> Vec<u32> {
        let mut all = vec![0; self.product.fairness().n_words()];
        for (index, &taken) in way.actions.iter().enumerate() {
            // Who does not own a state does not know what it takes.
            for is_enlarged in [false, true] {
                if self.expand_words(&way.states[index], is_enlarged).is_err() {
                    continue;
                }
                // The observer may have several such steps, and take each of them in turn.
                let mut is_met = false;
                self.for_each_step(scope, |target, marks, action| {
                    if action == taken && target == way.states[index + 1] {
                        add(&mut all, marks);
                        is_met = true;
                    }
                });
                if is_met {
                    break;
                }
            }
        }
        all
    }
}

/// The bits of a word that count.
fn bits(block: &Block) -> impl Iterator<Item = Mark> + use<> {
    let Block { word, bits, .. } = *block;
    (0..32).map(|bit| 1 << bit).filter(move |bit| bits & bit != 0).map(move |bit| (word, bit))
}

impl Way {
    /// The steps of the system, each with the observer's state after it. The stuttering of a deadlock is none.
    fn steps(&self) -> impl Iterator<Item = (ActionId, u32)> + '_ {
        let after = self.states.iter().skip(1).filter_map(|state| state.last().copied());
        self.actions.iter().zip(after).filter_map(|(action, observer)| Some(((*action)?, observer)))
    }
}

/// The search for a cycle through a state.
struct Walk<'f> {
    left: &'f Fixpoint,
    order: &'f [Mark],
    /// The state, if it is an own one.
    goal: Option<u32>,
    /// Pairs of a state and the number of marks met.
    visited: FixedBitSet,
    levels: Vec<Vec<[u32; 2]>>,
    /// The next of the last level.
    next: usize,
    new: Vec<[u32; 2]>,
    is_found: bool,
}

impl Walk<'_> {
    fn hear(&mut self, number: u32, n_met: u32) {
        let n = self.order.len();
        if !self.left.is_alive(number) || n_met as usize > n {
            return;
        }
        if !self.visited.put(number as usize * (n + 1) + n_met as usize) {
            self.new.push([number, n_met]);
            self.is_found |= n_met as usize == n && self.goal == Some(number);
        }
    }
}

impl<'p, 'a, 'x, S: System, O: Portable> Phase<'p, 'a, 'x, S, O> for Walk<'_> {
    const KIND: u32 = ABOUT;
    const ONE_STEP: bool = true;

    fn visit(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>) -> Result<bool, Limit> {
        let level = self.levels.last().map_or(&[][..], Vec::as_slice);
        let Some(&[number, n_met]) = level.get(self.next) else { return Ok(false) };
        self.next += 1;
        if piece.expand(number).is_ok() {
            let order = self.order;
            let about = move |marks: &[u32]| Some(met(order, n_met, marks));
            piece.tell(self.left.scope, Some(&about), |to, what| self.hear(to, what))?;
        }
        Ok(true)
    }

    fn arrived(&mut self, piece: &mut Piece<'p, 'a, 'x, S, O>, words: &[u32]) -> Result<(), Limit> {
        piece.told(words, |number, what| self.hear(number, what));
        Ok(())
    }
}
