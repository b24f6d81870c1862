//! The state space folded into few classes, so that it can be looked at: by the values of some variables, by the truth of
//! expressions, or by strong components. Every class knows a way to one of its states.
//!
//! The space is explored breadth first, so classes come in the order in which they can be reached, and ways are shortest.
//! What a limit cuts off is told.

use std::collections::{BTreeMap, BTreeSet};

use automata::scc::components_by;
use base::{Diagnostic, Limit, Progress};
use check::store::{Store as _, Visited as _};
use check::{Exact, StateId, Stop, graph, search};
use language::{Purpose, View};
use model::{ActionId, ExprId, StepError, System as _, reference};

use crate::answer::told;
use crate::clock::Clock;
use crate::error::Trouble;
use crate::session::{Attempt, Session, refining};
use crate::walk::{id, items};
use crate::{Error, walk};

/// How states are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Not at all.
    States,
    /// Those in which these parts of the state have the same values.
    Parts(Vec<String>),
    /// Those in which the same of these expressions are true.
    Truths(Vec<String>),
    /// Those that can be reached from each other.
    Components,
}

/// A folded state space.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    /// Number of states.
    pub states: u64,
    /// Number of steps between them.
    pub transitions: u64,
    /// Why that is not all of them.
    pub cut: Option<Limit>,
    /// The classes, those that are reached first come first; of very many, the last stands for all others.
    pub classes: Vec<Class>,
    /// How many classes the last one stands for, if it is not one itself.
    pub n_others: usize,
    /// Steps between different classes.
    pub edges: Vec<FoldedEdge>,
}

/// Some states.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// The number by which it can be opened, if it can.
    pub number: Option<usize>,
    /// What they have in common, in lines.
    pub label: Vec<String>,
    /// How many they are.
    pub states: u64,
    /// In how many of them nothing can happen.
    pub deadlocks: u64,
    /// Whether an initial state is among them.
    pub initial: bool,
    /// Whether steps lead from one to another, or to itself.
    pub has_inner_steps: bool,
    /// The id of the state that is reached first.
    pub first: u128,
    /// The shortest way to that state, unless it is very long.
    pub path: Option<walk::Path>,
}

/// Steps from one class to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedEdge {
    /// From here.
    pub from: usize,
    /// To there.
    pub to: usize,
    /// How many.
    pub steps: u64,
    /// What they are called; only the first few.
    pub labels: Vec<String>,
}

/// More labels are not told of steps between two classes.
const MAX_LABELS: usize = 4;

/// A class has no more lines.
const MAX_LINES: usize = 12;

/// Of an opened class, at least so many states are shown.
const MAX_OPENED: usize = 60;

/// Longer ways are not told.
const MAX_WAY: usize = 1_000;

impl Session {
    /// Explores the state space, and folds it into at most so many classes. Classes of these [numbers](Class::number) are
    /// opened: their first states are classes of their own.
    ///
    /// # Errors
    /// A name or an expression is wrong, the model goes wrong, or a limit was reached before there was anything to tell.
    pub fn fold(
        &mut self,
        fold: &Fold,
        opened: &[usize],
        max_classes: usize,
        clock: &Clock<'_>,
    ) -> Result<Folded, Error> {
        let clock = &self.clock(clock);
        let mut expressions = Vec::new();
        if let Fold::Truths(texts) = fold {
            for text in texts {
                let source = self.sources.add("the expression", text.clone().into_bytes());
                expressions.push((text.clone(), source.map_err(|error| self.error(error))?));
            }
        }
        let folded = refining(&mut self.model, clock, |model| {
            // Whatever was made larger must be asked again.
            let mut exprs: Vec<(&str, ExprId)> = Vec::new();
            for (text, source) in &expressions {
                exprs.push((text, model.resolve(text, *source, 0)?));
            }
            let view = model.view(Purpose::Runs, &mut clock.budget())?;
            match Space::explore(&view, clock)? {
                Ok(space) => {
                    Ok(Attempt::Done(space.fold(fold, &exprs, opened, max_classes.max(2), clock)?))
                }
                Err(error) if model.can_refine(&error) => Ok(Attempt::TooSmall(error)),
                Err(error) => Err(Diagnostic::error("model-error", told(&view, &error)).into()),
            }
        });
        self.held = clock.held();
        folded.map_err(|trouble| self.error(trouble))
    }
}

/// All states that were found, and the steps between them.
struct Space<'v> {
    view: &'v View,
    store: Exact,
    cut: Option<Limit>,
    /// Where the steps of each state begin.
    starts: Vec<usize>,
    targets: Vec<(ActionId, u32)>,
    /// The state and the step that each was found by.
    found_by: Vec<Option<(u32, ActionId)>>,
}

impl<'v> Space<'v> {
    fn explore(view: &'v View, clock: &Clock<'_>) -> Result<Result<Space<'v>, StepError>, Trouble> {
        let system = &*view.system;
        let mut budget = clock.budget();
        // Half of the memory is for the steps.
        budget.max_bytes /= 2;
        let mut store = Exact::new(system.width(), budget.room());
        let explored = search::bfs::search(system, &mut store, &[], &mut budget);
        let cut = match explored.stop {
            Some(Stop::Fault(error, _)) => return Ok(Err(error)),
            Some(Stop::Limit(limit @ (Limit::Interrupt | Limit::Step))) => return Err(limit.into()),
            Some(Stop::Limit(limit)) => Some(limit),
            Some(Stop::AllViolated) | None => None,
        };
        let n_states = store.n_states() as usize;
        let mut starts = Vec::with_capacity(n_states + 1);
        let mut targets: Vec<(ActionId, u32)> = Vec::new();
        let mut found_by = vec![None; n_states];
        // What was found in time is looked at in any case.
        let grace = clock.with_grace();
        let mut budget = grace.budget();
        let ended: Result<(), Stopped> = graph::for_each_transition(system, &store, |from, action, to| {
            let bytes = targets.len() * 8 + n_states * 20;
            budget.poll(&Progress { bytes: bytes as u64, ..Progress::default() })?;
            while starts.len() <= from.index() {
                starts.push(targets.len());
            }
            targets.push((action, to.index() as u32));
            let known: &mut Option<(u32, ActionId)> = &mut found_by[to.index()];
            if to.index() > from.index() && known.is_none() {
                *known = Some((from.index() as u32, action));
            }
            Ok(())
        });
        match ended {
            Ok(()) => {}
            // States at the edge of what was found were not expanded before.
            Err(Stopped::Fault(error)) => return Ok(Err(error)),
            Err(Stopped::Limit(limit)) => return Err(limit.into()),
        }
        starts.resize(n_states + 1, targets.len());
        Ok(Ok(Space { view, store, cut, starts, targets, found_by }))
    }

    fn n_states(&self) -> usize {
        self.starts.len() - 1
    }

    fn words(&self, state: usize) -> Vec<u32> {
        let mut words = vec![0; self.view.system.width()];
        self.store.get(StateId::new(state), &mut words);
        words
    }

    fn values(&self, state: usize) -> Vec<i64> {
        self.view.system.layout().decode(&self.words(state))
    }

    /// What a state has in common with those of its class.
    fn label(&self, state: usize, fold: &Fold, exprs: &[(&str, ExprId)]) -> Vec<String> {
        let values = self.values(state);
        let show = |(name, value): (String, String)| format!("{name} = {value}");
        match fold {
            Fold::States | Fold::Components => items(self.view, &values).into_iter().map(show).collect(),
            Fold::Parts(names) => {
                let all = items(self.view, &values);
                all.into_iter().filter(|(name, _)| names.contains(name)).map(show).collect()
            }
            Fold::Truths(_) => {
                let holds = |expr| reference::value(&self.view.system, expr, &values).is_ok_and(|it| it != 0);
                exprs.iter().map(|(text, expr)| format!("{text}: {}", holds(*expr))).collect()
            }
        }
    }

    /// The classes, numbered as they are met first.
    fn classes(
        &self,
        fold: &Fold,
        exprs: &[(&str, ExprId)],
        opened: &[usize],
        max: usize,
        clock: &Clock<'_>,
    ) -> Result<Numbered, Trouble> {
        let grace = clock.with_grace();
        let mut budget = grace.budget();
        let components = match fold {
            Fold::Components => {
                let target = |node: usize, at: usize| {
                    let steps = &self.targets[self.starts[node]..self.starts[node + 1]];
                    steps.get(at).map(|(_, to)| Some(*to as usize))
                };
                Some(components_by(self.n_states(), target, &mut budget)?)
            }
            _ => None,
        };
        // First without opened classes, which are named by their numbers; then with them.
        let mut of_class: Vec<u32> = Vec::with_capacity(self.n_states());
        let mut labels: Vec<Vec<String>> = Vec::new();
        let mut known: BTreeMap<Vec<String>, u32> = BTreeMap::new();
        let mut by_component: BTreeMap<usize, u32> = BTreeMap::new();
        for state in 0..self.n_states() {
            budget.tick()?;
            let new = labels.len() as u32;
            let number = match (&components, fold) {
                (Some(found), _) => *by_component.entry(found.of[state]).or_insert(new),
                (None, Fold::States) => new,
                (None, _) => *known.entry(self.label(state, fold, exprs)).or_insert(new),
            };
            if number == new {
                let is_shown = labels.len() < max.saturating_mul(2);
                labels.push(if is_shown { self.label(state, fold, exprs) } else { Vec::new() });
            }
            of_class.push(number);
        }
        let n_closed = labels.len();
        if !opened.is_empty() {
            let mut room = max.saturating_sub(labels.len()).max(MAX_OPENED);
            for (state, class) in of_class.iter_mut().enumerate() {
                if room > 0 && opened.contains(&(*class as usize)) {
                    room -= 1;
                    *class = labels.len() as u32;
                    labels.push(self.label(state, &Fold::States, exprs));
                }
            }
        }
        Ok(Numbered { of_class, labels, n_closed })
    }

    fn fold(
        &self,
        fold: &Fold,
        exprs: &[(&str, ExprId)],
        opened: &[usize],
        max: usize,
        clock: &Clock<'_>,
    ) -> Result<Folded, Trouble> {
        if let Fold::Parts(names) = fold {
            let all = items(self.view, &self.values(0));
            for name in names {
                if !all.iter().any(|(known, _)| known == name) {
                    let message = format!("the states of the model have no part `{name}`");
                    let error = Diagnostic::error("unknown-part", message);
                    return Err(error.suggesting(name, all.iter().map(|(known, _)| known.as_str())).into());
                }
            }
        }
        let Numbered { of_class, labels, n_closed } = self.classes(fold, exprs, opened, max, clock)?;
        // Classes that are empty, since all their states are classes of their own, are left out; the last ones of very
        // many are put together.
        let mut shown: BTreeMap<u32, usize> = BTreeMap::new();
        let mut n_others = 0;
        for &class in &of_class {
            let next = shown.len();
            shown.entry(class).or_insert(next);
        }
        if shown.len() > max {
            n_others = shown.len() - (max - 1);
            shown.values_mut().for_each(|place| *place = (*place).min(max - 1));
        }
        let place = |state: usize| shown[&of_class[state]];
        let n_classes = shown.len().min(max);
        let mut classes: Vec<Class> = vec![Class::default(); n_classes];
        let initial: Vec<usize> = self.initial();
        for state in 0..self.n_states() {
            let class = &mut classes[place(state)];
            if class.states == 0 {
                class.label = labels[of_class[state] as usize].clone();
                class.number = Some(of_class[state] as usize).filter(|&number| number < n_closed);
                class.first = id(&self.words(state));
                class.path = self.way(state, &initial);
                if class.label.len() > MAX_LINES {
                    let n_more = class.label.len() - MAX_LINES;
                    class.label.truncate(MAX_LINES);
                    class.label.push(format!("… {n_more} more"));
                }
            }
            class.states += 1;
            class.initial |= initial.contains(&state);
            // Where something is cut off, steps may be missing.
            let has_steps = self.starts[state] < self.starts[state + 1];
            class.deadlocks += u64::from(self.cut.is_none() && !has_steps);
        }
        if n_others > 0 {
            let others = &mut classes[n_classes - 1];
            (others.label, others.path) = (vec![format!("{n_others} more classes")], None);
            others.number = None;
        }
        let mut edges: BTreeMap<(usize, usize), FoldedEdge> = BTreeMap::new();
        let mut seen: BTreeSet<(usize, usize, ActionId)> = BTreeSet::new();
        let grace = clock.with_grace();
        let mut budget = grace.budget();
        for from_state in 0..self.n_states() {
            budget.tick()?;
            let from = place(from_state);
            for &(action, target) in &self.targets[self.starts[from_state]..self.starts[from_state + 1]] {
                let to = place(target as usize);
                if from == to {
                    classes[from].has_inner_steps = true;
                    continue;
                }
                let new = FoldedEdge { from, to, steps: 0, labels: Vec::new() };
                let edge = edges.entry((from, to)).or_insert(new);
                edge.steps += 1;
                // Equal actions are called the same almost always, and chains are told by their first one.
                if edge.labels.len() < MAX_LABELS && seen.insert((from, to, action)) {
                    let label = reference::label(&self.view.system, action, &self.values(from_state));
                    if !edge.labels.contains(&label) {
                        edge.labels.push(label);
                    }
                }
            }
        }
        Ok(Folded {
            states: self.n_states() as u64,
            transitions: self.targets.len() as u64,
            cut: self.cut,
            classes,
            n_others,
            edges: edges.into_values().collect(),
        })
    }

    /// The numbers of the initial states.
    fn initial(&self) -> Vec<usize> {
        let mut words = Vec::new();
        self.view.system.initial_states(&mut words);
        let states = words.chunks_exact(self.view.system.width());
        states.filter_map(|state| Some(self.store.find(state)?.index())).collect()
    }

    /// The shortest way to a state.
    fn way(&self, state: usize, initial: &[usize]) -> Option<walk::Path> {
        let mut actions = Vec::new();
        let mut at = state;
        while let Some((before, action)) = self.found_by[at] {
            actions.push(action);
            at = before as usize;
            if actions.len() > MAX_WAY {
                return None;
            }
        }
        actions.reverse();
        let initial = initial.iter().position(|&first| first == at)?;
        walk::told_path(self.view, initial, &actions)
    }
}

/// Classes by their numbers.
struct Numbered {
    /// That of each state.
    of_class: Vec<u32>,
    labels: Vec<Vec<String>>,
    /// Classes with larger numbers are single states, of classes that were opened.
    n_closed: usize,
}

/// Why the steps were not all looked at.
enum Stopped {
    Fault(StepError),
    Limit(Limit),
}

impl From<StepError> for Stopped {
    fn from(error: StepError) -> Stopped {
        Stopped::Fault(error)
    }
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Stopped {
        Stopped::Limit(limit)
    }
}
