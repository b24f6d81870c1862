//! Declared footprints: what actions look at and change, so that not all interleavings have to be explored.
//!
//! In a state, processes are collected from one on until nothing is missing:
//! - with a process, all that may ever change what it waits for;
//! - with what a process can do now, all that may ever look at what that changes, or change what it looks at.
//!
//! The actions that these processes can do now are a stubborn set (the rules are those at the head of `por`, with a
//! process for a control variable): whatever others do meanwhile, they enable nothing else of the set's processes, and
//! each step of the set can as well happen before. What is taken is the smallest such set that has an invisible action
//! which leads ahead, which keeps all that is asked about states: deadlocks, invariants, and panics that depend on what
//! an action reads (the argument is at the head of `check::reduced`).
//!
//! For formulas that do not see stuttering, all of what the set can do now must be invisible, and the search sees to it
//! that nothing is put off for ever (the argument is at the head of `check::search::repair`, module *sets blind to the
//! observer*). The environment may rest where nobody else can do anything, which is a step that everybody's steps disable.
//! So a set must have something that a process can do: until some of the set happens, that can happen, so that nobody
//! rests before; and where the environment may rest, nothing is left out.
//!
//! Of fair runs (the head of por's module `fair` has the argument; a set has no visible action, so that ORDER is met, and
//! *repair* sees to CYCLE), two things more are needed of a set:
//! - KEY: something that it can do now is an action of a process to which runs are fair. All actions of that process are
//!   in the set, or cannot happen until some of the set does; so a fair run does not put off the whole set for ever.
//! - FLIP: whether a process can do anything, to which runs are fair, depends on what it may look at. If something that the
//!   set can do now writes part of that, all others who may ever write any of it are collected, too: what enables a process
//!   overtakes nothing that disables it. (Who is treated fairly in some of its actions only may disable these itself.)
//!
//! That is said of processes, whatever was met of their actions so far. Where somebody's actions are picked out that may be
//! anybody's, nothing is left out. For justness KEY is enough: whoever interferes with an action writes what it looks at,
//! and so is in the set with it.
//!
//! A wrong footprint makes verdicts wrong. [`Check::verify_footprint`] tests it in all reachable states: that what is
//! said not to disturb each other commutes there, that who waits goes on waiting, and that propositions see no more than they
//! say. Those are all the steps of the argument above, so a footprint that passes gives right verdicts for this model.

use std::fmt::Debug;
use std::hash::Hash;

use base::Progress;
use fixedbitset::FixedBitSet;
use pack::Table;

use crate::check::Check;
use crate::classes::{Favored, Touches};
use crate::model::Model;
use crate::panics::catch;
use crate::program::{Choice, Keeps};
use crate::verdict::Reason;

/// A model whose actions say what they look at and what they change.
pub trait Footprint: Model {
    /// A part of the state: an actor, a channel, a field.
    type Part: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// What an action looks at, to be possible, too, and what it changes.
    fn touches(&self, action: &Self::Action, reads: &mut Vec<Self::Part>, writes: &mut Vec<Self::Part>);

    /// What any action of a process may look at and change, in whatever state. None is the environment; that
    /// is asked for, too, where there is none.
    fn reaches(&self, process: Option<usize>, reads: &mut Vec<Self::Part>, writes: &mut Vec<Self::Part>);

    /// What must change before a process can do anything else than what it can do now; unless more is known, anything
    /// that it may look at.
    fn waits_for(&self, process: Option<usize>, _state: &Self::State, out: &mut Vec<Self::Part>) {
        self.reaches(process, out, &mut Vec::new());
    }
}

/// What is read and what is written.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: FixedBitSet,
    writes: FixedBitSet,
}

impl Touched {
    /// Whether what is done with one of them matters to the other.
    fn disturbs(&self, other: &Touched) -> bool {
        let meets = |one: &FixedBitSet, other: &FixedBitSet| one.intersection(other).next().is_some();
        meets(&self.writes, &other.reads)
            || meets(&self.writes, &other.writes)
            || meets(&self.reads, &other.writes)
    }
}

/// Whom runs are fair to, and what it depends on whether it can do anything.
struct Waking<'d> {
    process: usize,
    looks_at: &'d FixedBitSet,
    /// Runs are fair to all of its actions, so that it does not matter what these enable and disable.
    is_whole: bool,
}

impl Waking<'_> {
    /// Whether it does not matter what a process does.
    fn spares(&self, process: usize) -> bool {
        self.is_whole && self.process == process
    }
}

/// Footprints without the type of their parts.
pub(crate) trait Prints<M: Model>: Send + Sync {
    /// Which of the actions that can happen are enough. None if all of them must be taken.
    fn choose(
        &self,
        model: &M,
        state: &M::State,
        offered: &[M::Action],
        watched: &[usize],
        keeps: Keeps<'_>,
    ) -> Option<Choice>;

    /// Whether an action may change one of these propositions; nothing if it is not known what they read.
    fn changes(&self, model: &M, action: &M::Action, propositions: &[usize]) -> Option<bool>;

    /// Whether it is known what all of these propositions read.
    fn knows(&self, propositions: &[usize]) -> bool;

    /// What an action reads and writes, by the numbers of parts.
    fn touched(&self, model: &M, action: &M::Action) -> Touches;

    /// What is wrong with them in a state.
    fn doubt(&self, model: &M, state: &M::State, values: &dyn Fn(&M::State) -> Vec<bool>) -> Option<String>;
}

/// The footprint of a model, in numbers.
pub(crate) struct Declared<M: Footprint> {
    parts: Table<M::Part>,
    /// What processes reach, the environment last.
    reaches: Vec<Touched>,
    /// What propositions read, by their numbers; nothing is known of others.
    propositions: Vec<(usize, Vec<M::Part>)>,
}

impl<M: Footprint> Declared<M> {
    pub(crate) fn new(model: &M, propositions: Vec<(usize, Vec<M::Part>)>) -> Declared<M> {
        let mut declared = Declared { parts: Table::default(), reaches: Vec::new(), propositions };
        let n_processes = model.processes().len();
        for process in (0..n_processes).map(Some).chain([None]) {
            let touched = declared.touched(|reads, writes| model.reaches(process, reads, writes));
            declared.reaches.push(touched);
        }
        declared
    }

    fn bits(&self, parts: &[M::Part]) -> FixedBitSet {
        let mut bits = FixedBitSet::new();
        parts.iter().for_each(|part| bits.grow_and_insert(self.parts.number(part) as usize));
        bits
    }

    fn touched(&self, list: impl FnOnce(&mut Vec<M::Part>, &mut Vec<M::Part>)) -> Touched {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        list(&mut reads, &mut writes);
        Touched { reads: self.bits(&reads), writes: self.bits(&writes) }
    }

    fn of(&self, model: &M, action: &M::Action) -> Touched {
        self.touched(|reads, writes| model.touches(action, reads, writes))
    }

    /// Who does it: the environment is the last.
    fn owner(&self, model: &M, action: &M::Action) -> usize {
        let environment = self.reaches.len() - 1;
        model.process(action).filter(|process| *process < environment).unwrap_or(environment)
    }

    fn waits_for(&self, model: &M, process: usize, state: &M::State) -> FixedBitSet {
        let process = (process + 1 < self.reaches.len()).then_some(process);
        let mut parts = Vec::new();
        model.waits_for(process, state, &mut parts);
        self.bits(&parts)
    }

    fn wakings(&self, favored: &Favored) -> Vec<Waking<'_>> {
        let waking =
            |process: usize, is_whole| Waking { process, looks_at: &self.reaches[process].reads, is_whole };
        let wholly = favored.wholly.iter().map(|&process| waking(process, true));
        wholly.chain(favored.partly.iter().map(|&process| waking(process, false))).collect()
    }

    /// What is watched, if that is known of all propositions.
    fn watched(&self, numbers: &[usize]) -> Option<FixedBitSet> {
        let mut watched = FixedBitSet::new();
        for number in numbers {
            let (_, parts) = self.propositions.iter().find(|known| known.0 == *number)?;
            parts.iter().for_each(|part| watched.grow_and_insert(self.parts.number(part) as usize));
        }
        Some(watched)
    }
}

fn meets(one: &FixedBitSet, other: &FixedBitSet) -> bool {
    one.intersection(other).next().is_some()
}

impl<M: Footprint> Prints<M> for Declared<M> {
    fn choose(
        &self,
        model: &M,
        state: &M::State,
        offered: &[M::Action],
        watched: &[usize],
        keeps: Keeps<'_>,
    ) -> Option<Choice> {
        let watched = self.watched(watched)?;
        let touched: Vec<Touched> = offered.iter().map(|action| self.of(model, action)).collect();
        let owners: Vec<usize> = offered.iter().map(|action| self.owner(model, action)).collect();
        let is_invisible = |index: &u32| !meets(&touched[*index as usize].writes, &watched);
        let environment = self.reaches.len() - 1;
        let wakings = if let Keeps::FairRuns(favored) = keeps { self.wakings(favored) } else { Vec::new() };
        let mut best: Option<Choice> = None;
        let mut begun = FixedBitSet::with_capacity(self.reaches.len());
        for &first in &owners {
            if begun.put(first) {
                continue;
            }
            let mut set = FixedBitSet::with_capacity(self.reaches.len());
            set.insert(first);
            let mut work = vec![first];
            while let Some(process) = work.pop() {
                let awaited = self.waits_for(model, process, state);
                let its = || owners.iter().zip(&touched).filter(|(owner, _)| **owner == process);
                let wakes = |known: &Waking<'_>| {
                    !known.spares(process) && its().any(|(_, action)| meets(&action.writes, known.looks_at))
                };
                let waking: Vec<&Waking<'_>> = wakings.iter().filter(|known| wakes(known)).collect();
                for (other, reach) in self.reaches.iter().enumerate() {
                    let matters = meets(&awaited, &reach.writes)
                        || its().any(|(_, action)| action.disturbs(reach))
                        || waking
                            .iter()
                            .any(|known| !known.spares(other) && meets(&reach.writes, known.looks_at));
                    if matters && !set.put(other) {
                        work.push(other);
                    }
                }
            }
            let is_in = |index: &u32| set.contains(owners[*index as usize]);
            let (invisible, visible): (Vec<u32>, Vec<u32>) =
                (0..offered.len() as u32).filter(is_in).partition(is_invisible);
            let n_invisible = invisible.len();
            let set: Vec<u32> = invisible.into_iter().chain(visible).collect();
            let is_smaller = set.len() < best.as_ref().map_or(offered.len(), |(known, _)| known.len());
            let is_enough = match keeps {
                Keeps::States => n_invisible > 0,
                Keeps::Runs => {
                    n_invisible == set.len() && set.iter().any(|&index| owners[index as usize] != environment)
                }
                Keeps::FairRuns(favored) => {
                    let is_key = |index: &u32| favored.wholly.contains(&owners[*index as usize]);
                    n_invisible == set.len() && set.iter().any(is_key)
                }
            };
            if is_enough && is_smaller {
                best = Some((set, n_invisible));
            }
        }
        best
    }

    fn changes(&self, model: &M, action: &M::Action, propositions: &[usize]) -> Option<bool> {
        Some(meets(&self.of(model, action).writes, &self.watched(propositions)?))
    }

    fn knows(&self, propositions: &[usize]) -> bool {
        self.watched(propositions).is_some()
    }

    fn touched(&self, model: &M, action: &M::Action) -> Touches {
        let touched = self.of(model, action);
        let numbers = |parts: &FixedBitSet| parts.ones().map(|part| part as u32).collect();
        Touches { reads: numbers(&touched.reads), writes: numbers(&touched.writes) }
    }

    fn doubt(&self, model: &M, state: &M::State, values: &dyn Fn(&M::State) -> Vec<bool>) -> Option<String> {
        let list = |state: &M::State| {
            let mut actions = Vec::new();
            model.actions(state, &mut actions);
            actions
        };
        let after = |state: &M::State, action: &M::Action| {
            let mut after = state.clone();
            model.step(&mut after, action);
            after
        };
        let offered = list(state);
        let touched: Vec<Touched> = offered.iter().map(|action| self.of(model, action)).collect();
        for (action, touched) in offered.iter().zip(&touched) {
            let reach = &self.reaches[self.owner(model, action)];
            if !touched.reads.is_subset(&reach.reads) || !touched.writes.is_subset(&reach.writes) {
                return Some(format!("{action:?} touches more than its process is said to reach"));
            }
            let next = after(state, action);
            let (before, then) = (values(state), values(&next));
            for (number, parts) in &self.propositions {
                if before[*number] != then[*number] && !meets(&self.bits(parts), &touched.writes) {
                    return Some(format!(
                        "in the state {state:?}, {action:?} changes a proposition that is said to read only {parts:?}"
                    ));
                }
            }
            let now_offered = list(&next);
            for process in 0..self.reaches.len() {
                let awaited = self.waits_for(model, process, state);
                if process == self.owner(model, action) {
                    continue;
                }
                let can =
                    |actions: &[M::Action]| actions.iter().any(|action| self.owner(model, action) == process);
                if can(&offered) != can(&now_offered) && !meets(&self.reaches[process].reads, &touched.writes)
                {
                    return Some(format!(
                        "in the state {state:?}, {action:?} changes whether process {process} can do anything, but nothing \
                         that it is said to look at"
                    ));
                }
                if meets(&awaited, &touched.writes) {
                    continue;
                }
                if !self.waits_for(model, process, &next).is_subset(&awaited) {
                    return Some(format!(
                        "in the state {state:?}, {action:?} changes nothing that process {process} waits for, but then it \
                         waits for more"
                    ));
                }
                let its = |actions: &[M::Action]| -> Vec<M::Action> {
                    actions.iter().filter(|action| self.owner(model, action) == process).cloned().collect()
                };
                let (mut one, other) = (its(&offered), its(&now_offered));
                one.retain(|action| !other.contains(action));
                if !one.is_empty() || its(&offered).len() != other.len() {
                    return Some(format!(
                        "in the state {state:?}, {action:?} changes nothing that process {process} waits for, but what \
                         that can do"
                    ));
                }
            }
        }
        for (i, one) in offered.iter().enumerate() {
            for (j, other) in offered.iter().enumerate().skip(i + 1) {
                let same_owner = self.owner(model, one) == self.owner(model, other);
                if same_owner || touched[i].disturbs(&touched[j]) {
                    continue;
                }
                let (first, second) = (after(state, one), after(state, other));
                let both = list(&first).contains(other) && list(&second).contains(one);
                if !both || after(&first, other) != after(&second, one) {
                    return Some(format!(
                        "in the state {state:?}, {one:?} and {other:?} are said not to disturb each other, and do"
                    ));
                }
            }
        }
        None
    }
}

impl<M: Model> Check<'_, M> {
    /// Whether what was declared of actions and propositions is so, in every reachable state: that what is asked with it
    /// is right. Explores all states, in full.
    ///
    /// # Errors
    /// It is not, or that is not known.
    pub fn verify_footprint(&self) -> Result<(), Reason> {
        let Some(prints) = &self.footprint else { return Ok(()) };
        let values = |state: &M::State| -> Vec<bool> {
            (0..self.propositions.len()).map(|number| self.propositions.holds(number, state)).collect()
        };
        self.in_all_states(|state| prints.doubt(self.model, state, &values))
    }

    /// Looks for a state in which something is wrong, plainly: all states are kept as they are.
    pub(crate) fn in_all_states(&self, doubt: impl Fn(&M::State) -> Option<String>) -> Result<(), Reason> {
        crate::panics::prepare();
        let setup = self.setup();
        let mut budget = setup.clock.budget();
        let states = Table::default();
        let looked = catch(|| {
            self.model.initial().iter().for_each(|state| _ = states.number(state));
            let (mut next, mut actions) = (0, Vec::new());
            while next < states.len() {
                let progress = Progress {
                    states: u64::from(states.len()),
                    bytes: states.bytes() as u64,
                    ..Progress::default()
                };
                budget.poll(&progress)?;
                let state = states.get(next);
                next += 1;
                if let Some(text) = doubt(state) {
                    return Err(Reason::Refused(text));
                }
                actions.clear();
                self.model.actions(state, &mut actions);
                for action in &actions {
                    let mut after = state.clone();
                    self.model.step(&mut after, action);
                    states.number(&after);
                }
            }
            Ok(())
        });
        looked.unwrap_or_else(|text| Err(Reason::Refused(format!("the model panics: {text}"))))
    }
}
