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
//! - *Copies.* A state that is entered with a letter for which it has no loop is entered at a copy instead, one
//!   for each such letter: the copy has an unmarked loop with that letter and, with all other letters,
//!   does what the state does.
//!
//! Take an accepted word. The word with one letter for each finite block is also accepted. If there are
//! infinitely many blocks, its run is the lazy one, since it never reads a letter twice in a row. If not, follow
//! it to the last block and take the shortcut. Conversely, of each run of the waiting form drop what was
//! read in copies by waiting, and follow several edges where one stood for them: this is a run of the given
//! automaton on a word that differs only in repetitions.
//!
//! # Requirements and limits
//! The language must not see stuttering. Copies name letters, so there may be many of them if
//! labels leave many propositions open; in practice nearly all states have the loops they need
//! (`cargo run --release -p stubborn-automata --example waiting_corpus`).
//!
//! Reductions by simulation may drop loops; bisimulation keeps them, and is used in the end.
//!
//! # References
//! The form lies between the stutter closure of [holzmann.96.closure], which also has the eager runs, and the
//! testing automata of [geldenhuys.06.spin], whose states know the last letter.

use std::collections::VecDeque;

use ltl::Prop;
use rustc_hash::FxHashMap;

use crate::clean::{simplify_marks, trim};
use crate::label::{FIRST_HIDDEN, Label, Labels};
use crate::scc::{Sccs, components};
use crate::simulation::{Direction, Relation, reduce};
use crate::stutter::with_a_mark;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::translate::TooLarge;

/// An automaton in waiting form with the same language, which must not see stuttering.
///
/// ```
/// # use automata::{Effort, translate, waiting::waiting_form};
/// let mut formulas = ltl::Formulas::new();
/// let formula = ltl::parse(&mut formulas, "G (a -> F b)", base::SourceId::new(0), 0).unwrap().formula;
/// let tgba = translate(&mut formulas, formula, Effort::High).unwrap();
/// let waiting = waiting_form(&tgba, 1_000).unwrap();
/// assert_eq!(waiting.n_states(), tgba.n_states());
/// ```
pub fn waiting_form(tgba: &Tgba, max_states: usize) -> Result<Tgba, TooLarge> {
    let mut tgba = trim(with_a_mark(tgba));
    let loops = add_loops(&mut tgba).ok_or(TooLarge::Labels)?;
    add_shortcuts(&mut tgba, &loops);
    let copied = Copies::new(tgba, loops.any, max_states).run()?;
    let clean = simplify_marks(trim(copied));
    Ok(simplify_marks(reduce(clean, Direction::Forward, Relation::Bisimulation)))
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

/// Adds a loop with each letter for which a state lies on a cycle; nothing if there are too many cases.
fn add_loops(tgba: &mut Tgba) -> Option<Loops> {
    let sccs = Sccs::of(tgba);
    let mut members: Vec<Vec<State>> = vec![vec![]; sccs.n()];
    tgba.states().for_each(|state| members[sccs.component(state)].push(state));
    let n = tgba.n_states();
    let mut loops = Loops { any: vec![Label::FALSE; n], full: vec![Label::FALSE; n] };
    for members in members {
        let inner: Vec<(State, Edge)> = members
            .iter()
            .flat_map(|&state| tgba.edges(state).iter().map(move |&edge| (state, edge)))
            .filter(|(state, edge)| sccs.is_inner(*state, edge))
            .collect();
        let all_marks = tgba.all_marks();
        let labels = tgba.labels_mut();
        labels.limit_growth(MAX_NEW_NODES);
        for (letters, enabled) in cases(labels, &inner) {
            let edges: Vec<(State, Edge)> = enabled.iter().map(|&edge| inner[edge]).collect();
            for (state, marks) in on_cycles(&members, &edges) {
                let any = &mut loops.any[state.index()];
                *any = labels.or(*any, letters);
                if marks == all_marks {
                    let full = &mut loops.full[state.index()];
                    *full = labels.or(*full, letters);
                }
            }
        }
        if labels.is_exhausted() {
            return None;
        }
        labels.lift_limit();
    }
    for state in tgba.states() {
        let (any, full) = (loops.any[state.index()], loops.full[state.index()]);
        let has_full = looping(tgba, state, tgba.all_marks());
        if !tgba.labels_mut().implies(full, has_full) {
            tgba.add_edge(state, full, tgba.all_marks(), state);
        }
        let has_any = looping(tgba, state, Marks::NONE);
        let missing = tgba.labels_mut().minus(any, has_any);
        tgba.add_edge(state, missing, Marks::NONE, state);
    }
    Some(loops)
}

/// The letters with which the state has a loop that carries at least these marks.
fn looping(tgba: &mut Tgba, state: State, marks: Marks) -> Label {
    let loops: Vec<Edge> = tgba.edges(state).iter().filter(|edge| edge.target == state).copied().collect();
    let labels = tgba.labels_mut();
    loops
        .iter()
        .filter(|edge| edge.marks.includes(marks))
        .fold(Label::FALSE, |sum, edge| labels.or(sum, edge.label))
}

/// The sets of edges that letters can take: for each the letters, and the places of the edges in the list.
fn cases(labels: &mut Labels, edges: &[(State, Edge)]) -> Vec<(Label, Vec<usize>)> {
    let mut function = Label::TRUE;
    for (place, (_, edge)) in edges.iter().enumerate() {
        let taken = labels.variable(FIRST_HIDDEN + place as u32);
        let other = labels.not(edge.label);
        let clause = labels.or(other, taken);
        function = labels.and(function, clause);
    }
    let leaves = labels.leaves(function);
    let places = |leaf: Label| {
        let prime = labels.primes(leaf).pop().unwrap_or_default();
        prime.iter().map(|variable| (variable - FIRST_HIDDEN) as usize).collect()
    };
    leaves.into_iter().map(|(letters, leaf)| (letters, places(leaf))).collect()
}

/// The states that lie on cycles of these edges, each with the marks of its strong component.
fn on_cycles(states: &[State], edges: &[(State, Edge)]) -> Vec<(State, Marks)> {
    // The states are sorted, and the edges lead from one to another.
    let place = |state: State| states.binary_search(&state).unwrap_or(0);
    let mut successors = vec![vec![]; states.len()];
    for (source, edge) in edges {
        successors[place(*source)].push(place(edge.target));
    }
    let found = components(&successors);
    let mut marks: Vec<Option<Marks>> = vec![None; found.n];
    for (source, edge) in edges {
        let component = found.of[place(*source)];
        if component == found.of[place(edge.target)] {
            marks[component] = Some(marks[component].unwrap_or_default().union(edge.marks));
        }
    }
    let marks_of = |(place, &state): (usize, &State)| Some((state, marks[found.of[place]]?));
    states.iter().enumerate().filter_map(marks_of).collect()
}

/// From each state that accepts some *a a a …*, adds an edge with *a* to a state whose loop does, unless
/// there is one.
fn add_shortcuts(tgba: &mut Tgba, loops: &Loops) {
    let ends = constant_ends(tgba, loops);
    let given: Vec<Vec<Edge>> = tgba.states().map(|state| tgba.edges(state).to_vec()).collect();
    for state in tgba.states() {
        let labels = tgba.labels_mut();
        let through = |labels: &mut Labels, goals: &[Label]| {
            let edges = given[state.index()].iter();
            edges.fold(Label::FALSE, |sum, edge| {
                let letters = labels.and(edge.label, goals[edge.target.index()]);
                labels.or(sum, letters)
            })
        };
        let (wanted, there) = (through(labels, &ends), through(labels, &loops.full));
        let missing = labels.minus(wanted, there);
        for (letters, goal) in far_loops(labels, &given, loops, state, missing) {
            tgba.add_edge(state, letters, Marks::NONE, goal);
        }
    }
}

/// For each state the letters *a* for which it accepts *a a a …*: a path with that letter leads to a loop
/// with all marks.
fn constant_ends(tgba: &mut Tgba, loops: &Loops) -> Vec<Label> {
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
            let letters = labels.and(label, ends[state.index()]);
            let more = labels.or(ends[source.index()], letters);
            if more != ends[source.index()] {
                ends[source.index()] = more;
                if !std::mem::replace(&mut queued[source.index()], true) {
                    queue.push_back(source);
                }
            }
        }
    }
    ends
}

/// States with marked loops that can be reached from a state by repeating one of the letters, each with
/// some of the letters; all letters together.
fn far_loops(
    labels: &mut Labels,
    edges: &[Vec<Edge>],
    loops: &Loops,
    from: State,
    letters: Label,
) -> Vec<(Label, State)> {
    let mut missing = letters;
    let mut found = vec![];
    let mut reached: FxHashMap<State, Label> = FxHashMap::default();
    let mut queue = VecDeque::from([(from, letters)]);
    while let Some((state, letters)) = queue.pop_front().filter(|_| missing != Label::FALSE) {
        for edge in &edges[state.index()] {
            let known = reached.entry(edge.target).or_insert(Label::FALSE);
            let letters = labels.and(edge.label, letters);
            let new = labels.minus(letters, *known);
            if new == Label::FALSE {
                continue;
            }
            *known = labels.or(*known, new);
            let here = labels.and(loops.full[edge.target.index()], missing);
            let here = labels.and(here, new);
            if here != Label::FALSE {
                found.push((here, edge.target));
                missing = labels.minus(missing, here);
            }
            queue.push_back((edge.target, new));
        }
    }
    found
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

    fn run(mut self) -> Result<Tgba, TooLarge> {
        let mut next = 0;
        while let Some(&(state, letter)) = self.found.get(next) {
            let source = State::new(next);
            next += 1;
            if let Some(letter) = letter {
                self.result.add_edge(source, letter, Marks::NONE, source);
            }
            for edge in self.tgba.edges(state).to_vec() {
                let labels = self.result.labels_mut();
                let label = letter.map_or(edge.label, |letter| labels.minus(edge.label, letter));
                self.add_edge(source, Edge { label, ..edge })?;
            }
        }
        Ok(self.result)
    }

    /// Adds an edge to a state of the given automaton: to itself where it has a loop, else to its copies.
    fn add_edge(&mut self, source: State, edge: Edge) -> Result<(), TooLarge> {
        let loops = self.loops[edge.target.index()];
        let labels = self.result.labels_mut();
        let at_once = labels.and(edge.label, loops);
        let copied = labels.minus(edge.label, loops);
        if at_once != Label::FALSE {
            let target = self.copy((edge.target, None))?;
            self.result.add_edge(source, at_once, edge.marks, target);
        }
        let labels = self.result.labels_mut();
        let letters = letters(labels, &self.propositions, copied, self.max_states);
        for letter in letters.ok_or(TooLarge::States)? {
            let target = self.copy((edge.target, Some(letter)))?;
            self.result.add_edge(source, letter, edge.marks, target);
        }
        Ok(())
    }

    fn copy(&mut self, copy: Copy) -> Result<State, TooLarge> {
        if let Some(&number) = self.numbers.get(&copy) {
            return Ok(number);
        }
        if self.found.len() >= self.max_states {
            return Err(TooLarge::States);
        }
        let number = self.result.add_state();
        self.found.push(copy);
        self.numbers.insert(copy, number);
        Ok(number)
    }
}

/// The letters of a set, one label each; nothing if there are more than `max`.
fn letters(labels: &mut Labels, propositions: &[Prop], set: Label, max: usize) -> Option<Vec<Label>> {
    let mut found = vec![set];
    for &prop in propositions {
        let holds = labels.prop(prop);
        let fails = labels.not(holds);
        found = found.iter().flat_map(|&set| [labels.and(set, fails), labels.and(set, holds)]).collect();
        found.retain(|&set| set != Label::FALSE);
        if found.len() > max {
            return None;
        }
    }
    found.retain(|&set| set != Label::FALSE);
    Some(found)
}
