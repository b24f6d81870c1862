//! The waiting form: an automaton that moves only when the letter changes.
//!
//! # Idea
//! Whether a word is in a language that does not see [stuttering](crate::stutter) depends only on the
//! order of its letters, not on how often each is repeated. So an automaton may read a block *a a a …* of
//! equal letters by moving with the first one and waiting for the others. In the waiting form
//!
//! 1. every edge is followed by waiting: where an edge leads to *q* with letter *a*, there is a loop on *q*
//!    with letter *a*; and
//! 2. every accepted word has a *lazy* accepting run: the first letter of each block takes an edge, the
//!    others take the loop behind it. Loops in finite blocks contribute no marks that are needed; in a
//!    last, infinite block the loop carries all marks.
//!
//! So whoever watches a system with such an automaton may leave it alone while the letter stays the
//! same. It is made in three steps; the first two add edges that stand for several edges with the same
//! letter in a row, with the marks of all of them, as shrinking does.
//!
//! - *Loops.* A state that lies on a cycle of edges with the same letter gets a loop with that letter.
//!   It carries all marks if the strong component of the edges with that letter does.
//! - *Shortcuts.* If a state can read *a a a …* for ever, accepting, it gets an edge with *a* to a state
//!   whose loop carries *a* and all marks, unless there is one.
//! - *Copies.* A state that is entered with a letter for which it has no loop is entered at a copy instead,
//!   one for each such letter: the copy has an unmarked loop with that letter and, with all other letters,
//!   does what the state does.
//!
//! Take an accepted word. The word with one letter for each finite block is also accepted. If there are
//! infinitely many blocks, its run is the lazy one, since it never reads a letter twice in a row. If not,
//! follow it to the last block and take the shortcut. Conversely, of each run of the waiting form drop what
//! was read in copies by waiting, and follow several edges where one stood for them: this is a run of the
//! given automaton on a word that differs only in repetitions.
//!
//! # Requirements and limits
//! The language must not see stuttering. Copies name letters, so there may be many of them if
//! labels leave many propositions open; in practice nearly all states have the loops they need
//! (`cargo bench -p stubborn-benches --bench corpus`).
//!
//! Reductions by simulation may drop loops; bisimulation keeps them, and is used in the end.
//!
//! # References
//! The form lies between the stutter closure of [holzmann.96.closure], which also has the eager runs, and the
//! testing automata of [geldenhuys.06.spin], whose states know the last letter.

use std::collections::VecDeque;

use base::{Budget, Limit};
use ltl::Prop;
use rustc_hash::FxHashMap;

use crate::clean::{simplify_marks, trim};
use crate::gave_up::{GaveUp, TooLarge};
use crate::label::{Label, Labels};
use crate::scc::{Sccs, components};
use crate::simulation::{Direction, Relation, reduce};
use crate::stutter::{letters, self_loops, with_a_mark};
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

/// An automaton in waiting form with the same language, which must not see stuttering.
///
/// ```
/// # use stubborn_automata::{Effort, translate, waiting::waiting_form};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G (a -> F b)", base::SourceId::new(0), 0).unwrap().formula;
/// let budget = &mut base::Budget::unlimited();
/// let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
/// let waiting = waiting_form(&tgba, 1_000, budget).unwrap();
/// assert_eq!(waiting.n_states(), tgba.n_states());
/// ```
///
/// # Errors
/// It has more than `max_states` states or too large labels, or the budget is spent.
pub fn waiting_form(tgba: &Tgba, max_states: usize, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
    holding(budget, |budget| {
        budget.hold(tgba.bytes())?;
        let mut tgba = trim(with_a_mark(tgba), budget)?;
        let loops = add_loops(&mut tgba, budget)?;
        add_shortcuts(&mut tgba, &loops, budget)?;
        let copied = Copies::new(tgba, loops.any, max_states).run(budget)?;
        let clean = simplify_marks(trim(copied, budget)?, budget)?;
        let reduced = reduce(clean, Direction::Forward, Relation::Bisimulation, budget)?;
        Ok(simplify_marks(reduced, budget)?)
    })
}

/// For each state the letters of its loops.
struct Loops {
    /// Of all of them.
    any: Vec<Label>,
    /// Of those that carry all marks.
    full: Vec<Label>,
}

/// Diagrams of more nodes are given up.
const MAX_NEW_NODES: usize = 1_000_000;

/// Adds a loop with each letter for which a state lies on a cycle.
fn add_loops(tgba: &mut Tgba, budget: &mut Budget<'_>) -> Result<Loops, GaveUp> {
    let sccs = Sccs::of(tgba, budget)?;
    let n = tgba.n_states();
    let mut loops = Loops { any: vec![Label::FALSE; n], full: vec![Label::FALSE; n] };
    for members in sccs.members() {
        let inner: Vec<(State, Edge)> = members
            .iter()
            .flat_map(|&state| tgba.edges(state).iter().map(move |&edge| (state, edge)))
            .filter(|(state, edge)| sccs.is_inner(*state, edge))
            .collect();
        let all_marks = tgba.all_marks();
        let labels = tgba.labels_mut();
        labels.limit_growth(MAX_NEW_NODES);
        // The sets of edges that letters can take.
        let numbered = inner.iter().enumerate().map(|(place, (_, edge))| (edge.label, place as u32));
        for (letters, enabled) in labels.sets_by_letter(numbered, budget)? {
            let edges: Vec<(State, Edge)> = enabled.iter().map(|&edge| inner[edge as usize]).collect();
            for (state, marks) in on_cycles(&members, &edges, budget)? {
                let any = &mut loops.any[state.index()];
                *any = labels.with(budget).or(*any, letters)?;
                if marks == all_marks {
                    let full = &mut loops.full[state.index()];
                    *full = labels.with(budget).or(*full, letters)?;
                }
            }
        }
        if labels.is_exhausted() {
            return Err(TooLarge::Labels.into());
        }
        labels.lift_limit();
    }
    for state in tgba.states() {
        let (any, full) = (loops.any[state.index()], loops.full[state.index()]);
        let has_full = self_loops(tgba, state, tgba.all_marks(), budget)?;
        if !tgba.labels_mut().with(budget).implies(full, has_full)? {
            tgba.add(state, Edge { target: state, marks: tgba.all_marks(), label: full }, budget)?;
        }
        let has_any = self_loops(tgba, state, Marks::NONE, budget)?;
        let missing = tgba.labels_mut().with(budget).minus(any, has_any)?;
        tgba.add(state, Edge { target: state, marks: Marks::NONE, label: missing }, budget)?;
    }
    Ok(loops)
}

/// The states that lie on cycles of these edges, each with the marks of its strong component.
fn on_cycles(
    states: &[State],
    edges: &[(State, Edge)],
    budget: &mut Budget<'_>,
) -> Result<Vec<(State, Marks)>, Limit> {
    // The states are sorted, and the edges lead from one to another.
    let place = |state: State| states.binary_search(&state).unwrap_or(0);
    let mut successors = vec![vec![]; states.len()];
    for (source, edge) in edges {
        successors[place(*source)].push((place(edge.target), edge.marks));
    }
    let found = components(&successors, |_, step| Some(step.0), budget)?;
    let marks = found.marks(&successors, |_, &step| Some(step), budget)?;
    let marks_of = |(place, &state): (usize, &State)| Some((state, marks[found.of[place]]?));
    Ok(states.iter().enumerate().filter_map(marks_of).collect())
}

/// From each state that accepts some *a a a …*, adds an edge with *a* to a state whose loop does, unless
/// there is one.
fn add_shortcuts(tgba: &mut Tgba, loops: &Loops, budget: &mut Budget<'_>) -> Result<(), Limit> {
    let ends = constant_ends(tgba, loops, budget)?;
    budget.hold(tgba.bytes())?;
    let given: Vec<Vec<Edge>> = tgba.states().map(|state| tgba.edges(state).to_vec()).collect();
    for state in tgba.states() {
        let labels = tgba.labels_mut();
        let mut through = |goals: &[Label]| {
            given[state.index()].iter().try_fold(Label::FALSE, |sum, edge| {
                let letters = labels.with(budget).and(edge.label, goals[edge.target.index()])?;
                labels.with(budget).or(sum, letters)
            })
        };
        let (wanted, there) = (through(&ends)?, through(&loops.full)?);
        let missing = labels.with(budget).minus(wanted, there)?;
        for (label, target) in far_loops(labels, &given, loops, state, missing, budget)? {
            tgba.add(state, Edge { target, marks: Marks::NONE, label }, budget)?;
        }
    }
    Ok(())
}

/// For each state the letters *a* for which it accepts *a a a …*: a path with that letter leads to a loop
/// with all marks.
fn constant_ends(tgba: &mut Tgba, loops: &Loops, budget: &mut Budget<'_>) -> Result<Vec<Label>, Limit> {
    let mut ends = loops.full.clone();
    let mut sources: Vec<Vec<(State, Label)>> = vec![vec![]; tgba.n_states()];
    for state in tgba.states() {
        for edge in tgba.edges(state) {
            sources[edge.target.index()].push((state, edge.label));
        }
    }
    let mut queue: VecDeque<State> = tgba.states().collect();
    let mut queued = vec![true; tgba.n_states()];
    while let Some(state) = queue.pop_front() {
        queued[state.index()] = false;
        for &(source, label) in &sources[state.index()] {
            let labels = tgba.labels_mut();
            let letters = labels.with(budget).and(label, ends[state.index()])?;
            let more = labels.with(budget).or(ends[source.index()], letters)?;
            if more != ends[source.index()] {
                ends[source.index()] = more;
                if !std::mem::replace(&mut queued[source.index()], true) {
                    queue.push_back(source);
                }
            }
        }
    }
    Ok(ends)
}

/// States with marked loops that can be reached from a state by repeating one of the letters, each with
/// some of the letters; all letters together.
fn far_loops(
    labels: &mut Labels,
    edges: &[Vec<Edge>],
    loops: &Loops,
    from: State,
    letters: Label,
    budget: &mut Budget<'_>,
) -> Result<Vec<(Label, State)>, Limit> {
    let mut missing = letters;
    let mut found = vec![];
    let mut reached: FxHashMap<State, Label> = FxHashMap::default();
    let mut queue = VecDeque::from([(from, letters)]);
    while let Some((state, letters)) = queue.pop_front().filter(|_| missing != Label::FALSE) {
        for edge in &edges[state.index()] {
            let known = reached.entry(edge.target).or_insert(Label::FALSE);
            let letters = labels.with(budget).and(edge.label, letters)?;
            let new = labels.with(budget).minus(letters, *known)?;
            if new == Label::FALSE {
                continue;
            }
            *known = labels.with(budget).or(*known, new)?;
            let here = labels.with(budget).and(loops.full[edge.target.index()], missing)?;
            let here = labels.with(budget).and(here, new)?;
            if here != Label::FALSE {
                found.push((here, edge.target));
                missing = labels.with(budget).minus(missing, here)?;
            }
            queue.push_back((edge.target, new));
        }
    }
    Ok(found)
}

/// A state, or its copy for a letter.
type Copy = (State, Option<Label>);

/// The automaton in which a state is entered with a letter it has no loop for at a copy for that letter.
struct Copies {
    tgba: Tgba,
    /// For each state the letters it has loops for.
    loops: Vec<Label>,
    /// Those that some label depends on.
    propositions: Vec<Prop>,
    max_states: usize,
    result: Tgba,
    found: Vec<Copy>,
    numbers: FxHashMap<Copy, State>,
}

impl Copies {
    fn new(tgba: Tgba, loops: Vec<Label>, max_states: usize) -> Copies {
        let mut result = Tgba::with_labels(tgba.labels().clone(), tgba.n_marks());
        result.declare(tgba.propositions().iter().copied());
        let initial = (tgba.initial(), None);
        let numbers = FxHashMap::from_iter([(initial, result.initial())]);
        let edges = tgba.states().flat_map(|state| tgba.edges(state));
        let propositions = tgba.labels().propositions(edges.map(|edge| edge.label));
        Copies { tgba, loops, propositions, max_states, result, found: vec![initial], numbers }
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Result<Tgba, GaveUp> {
        let mut next = 0;
        while let Some(&(state, letter)) = self.found.get(next) {
            let source = State::new(next);
            next += 1;
            if let Some(letter) = letter {
                self.result.add_edge(source, letter, Marks::NONE, source);
            }
            for edge in self.tgba.edges(state).to_vec() {
                let labels = self.result.labels_mut();
                let label = match letter {
                    Some(letter) => labels.with(budget).minus(edge.label, letter)?,
                    None => edge.label,
                };
                self.add_edge(source, Edge { label, ..edge }, budget)?;
            }
        }
        Ok(self.result)
    }

    /// Adds an edge to a state of the given automaton: to itself where it has a loop, else to its copies.
    fn add_edge(&mut self, source: State, edge: Edge, budget: &mut Budget<'_>) -> Result<(), GaveUp> {
        let loops = self.loops[edge.target.index()];
        let labels = self.result.labels_mut();
        let at_once = labels.with(budget).and(edge.label, loops)?;
        let copied = labels.with(budget).minus(edge.label, loops)?;
        if at_once != Label::FALSE {
            let target = self.copy((edge.target, None), budget)?;
            self.result.add(source, Edge { target, label: at_once, ..edge }, budget)?;
        }
        let labels = self.result.labels_mut();
        for label in letters(labels, &self.propositions, copied, self.max_states, budget)? {
            let target = self.copy((edge.target, Some(label)), budget)?;
            self.result.add(source, Edge { target, label, ..edge }, budget)?;
        }
        Ok(())
    }

    fn copy(&mut self, copy: Copy, budget: &mut Budget<'_>) -> Result<State, GaveUp> {
        if let Some(&number) = self.numbers.get(&copy) {
            return Ok(number);
        }
        if self.found.len() >= self.max_states {
            return Err(TooLarge::States.into());
        }
        budget.hold(3 * size_of::<(Copy, State)>() as u64)?;
        let number = self.result.add_state();
        self.found.push(copy);
        self.numbers.insert(copy, number);
        Ok(number)
    }
}
