//! The tableau: from a formula in negation normal form to an automaton.
//!
//! # Idea
//! A state stands for a formula that the rest of the word has to satisfy. What a formula asks of the
//! current letter and of the rest is found by the expansion laws, `a U b = b | (a & X (a U b))` and so
//! on, and written as one decision diagram over propositions, *next* variables (the rest of the word
//! satisfies this formula) and *promise* variables (an eventuality was put off) [couvreur.99.fm].
//! Each letter leads to a leaf, a monotone function of next and promise variables; each of its
//! prime implicants is an edge, which leads to the conjunction of the next formulas and carries
//! a mark for each promise that was *not* made: a run in which a promise is missing infinitely
//! often kept it again and again.
//!
//! States are equal iff their diagrams are. So `G F a` and `F a & G F a` are one state, and `F b` and
//! `a U b` share the promise of `b`.
//!
//! # Differences from the paper
//! Letters are split first, as Spot does on demand ("exprop"), so that the automaton has no more
//! choice than the promises need. [`Branching::Late`] goes further: among edges of the same letters
//! and promises the choice is put off, by going to the disjunction of the targets. `F (a | G F c)`
//! needs one state besides those of `a`.

use base::{Budget, Limit};
use ltl::{Formula, Formulas, Node, Prop};
use rustc_hash::FxHashMap;

use crate::gave_up::{GaveUp, TooLarge};
use crate::label::{FIRST_HIDDEN, Label, Labels, MAX_VARIABLES};
use crate::tgba::{Edge, MAX_MARKS, Marks, Tgba};
use crate::work::Work;

/// When to choose between edges with the same letters and promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branching {
    /// At once: one edge for each.
    Early,
    /// In the next state, which is the disjunction.
    Late,
}

/// Promise variables come after next variables.
const FIRST_PROMISE: u32 = FIRST_HIDDEN * 2;

/// The automaton of a formula in negation normal form.
pub(crate) fn tableau(
    formulas: &Formulas,
    formula: Formula,
    branching: Branching,
    max_states: usize,
    work: &mut Work<'_, '_>,
) -> Result<Tgba, GaveUp> {
    work.holding(|work| {
        let mut tableau = Tableau::new(formulas, formula, branching, work)?;
        tableau.explore(formula, max_states, work)
    })
}

struct Tableau<'p> {
    formulas: &'p Formulas,
    labels: Labels,
    /// What each formula asks of the current letter and of the rest.
    diagrams: FxHashMap<Formula, Label>,
    /// The formula of each next variable.
    next: Vec<Formula>,
    next_variables: FxHashMap<Formula, u32>,
    /// The number of the promise of a formula.
    promises: FxHashMap<Formula, u32>,
    branching: Branching,
    /// All edges found, without source and letters: marks, and the diagram of the target.
    edges: Vec<(Marks, Label)>,
    edge_numbers: FxHashMap<(Marks, Label), usize>,
    /// The numbers of the edges of each leaf, in order.
    leaf_edges: FxHashMap<Label, Vec<usize>>,
}

impl<'p> Tableau<'p> {
    fn new(
        formulas: &'p Formulas,
        formula: Formula,
        branching: Branching,
        work: &mut Work<'_, '_>,
    ) -> Result<Tableau<'p>, GaveUp> {
        let subformulas = formulas.subformulas(formula);
        if subformulas.len() > MAX_VARIABLES {
            return Err(TooLarge::Formula.into());
        }
        let mut tableau = Tableau {
            formulas,
            labels: Labels::with_limit(MAX_NODES),
            diagrams: FxHashMap::default(),
            next: vec![],
            next_variables: FxHashMap::default(),
            promises: FxHashMap::default(),
            branching,
            edges: vec![],
            edge_numbers: FxHashMap::default(),
            leaf_edges: FxHashMap::default(),
        };
        for subformula in subformulas {
            let diagram = tableau.expand(subformula, work.budget)?;
            tableau.diagrams.insert(subformula, diagram);
            work.spend(tableau.labels.take_steps())?;
        }
        if tableau.promises.len() as u32 > MAX_MARKS {
            return Err(TooLarge::Marks.into());
        }
        Ok(tableau)
    }

    /// The diagram of a formula whose operands have theirs.
    fn expand(&mut self, formula: Formula, budget: &mut Budget<'_>) -> Result<Label, Limit> {
        Ok(match self.formulas.node(formula) {
            Node::True => Label::TRUE,
            Node::False => Label::FALSE,
            Node::Prop(prop) => self.labels.prop(prop),
            Node::Not(a) => {
                let a = self.diagrams[&a];
                self.labels.with(budget).not(a)?
            }
            Node::And(list) => list
                .iter()
                .try_fold(Label::TRUE, |all, a| self.labels.with(budget).and(all, self.diagrams[a]))?,
            Node::Or(list) => self.labels.with(budget).any(list.iter().map(|a| self.diagrams[a]))?,
            Node::Next(a) => self.next(a, budget)?,
            Node::Finally(b) => self.finally(formula, b, budget)?,
            Node::Until(a, b) => self.until(formula, a, b, Some(b), budget)?,
            Node::WeakUntil(a, b) => self.until(formula, a, b, None, budget)?,
            Node::Globally(b) => self.release(formula, Formula::FALSE, b, None, budget)?,
            Node::Release(a, b) => self.release(formula, a, b, None, budget)?,
            Node::StrongRelease(a, b) => self.release(formula, a, b, Some(a), budget)?,
            Node::Implies(..) | Node::Equivalent(..) | Node::Xor(..) => {
                unreachable!("the formula is in negation normal form")
            }
        })
    }

    /// b | (a & X formula), with a promise for putting off.
    fn until(
        &mut self,
        formula: Formula,
        a: Formula,
        b: Formula,
        promise: Option<Formula>,
        budget: &mut Budget<'_>,
    ) -> Result<Label, Limit> {
        let (a, b) = (self.diagram(a), self.diagram(b));
        let later = self.later(formula, promise, budget)?;
        let stay = self.labels.with(budget).and(a, later)?;
        self.labels.with(budget).or(b, stay)
    }

    /// Eventually b. In `F (a | G F c)` the state that waits for `a` also watches for `c`: staying for
    /// ever is as good as `a` if `c` comes again and again, so the promise is kept whenever it does.
    fn finally(&mut self, formula: Formula, b: Formula, budget: &mut Budget<'_>) -> Result<Label, Limit> {
        let Node::Or(list) = self.formulas.node(b) else {
            return self.until(formula, Formula::TRUE, b, Some(b), budget);
        };
        let (mut leave, mut watched) = (Label::FALSE, Label::FALSE);
        for &part in list {
            match self.recurrence(part) {
                Some(c) => watched = self.labels.with(budget).or(watched, self.diagrams[&c])?,
                None => leave = self.labels.with(budget).or(leave, self.diagrams[&part])?,
            }
        }
        if watched == Label::FALSE {
            return self.until(formula, Formula::TRUE, b, Some(b), budget);
        }
        let promise = self.promise(formula);
        let kept = self.labels.with(budget).or(watched, promise)?;
        let next = self.next(formula, budget)?;
        let stay = self.labels.with(budget).and(next, kept)?;
        self.labels.with(budget).or(leave, stay)
    }

    /// The c of `G F c`, if it is propositional: otherwise watching takes more states than it saves.
    fn recurrence(&self, formula: Formula) -> Option<Formula> {
        let Node::Globally(inner) = self.formulas.node(formula) else { return None };
        match self.formulas.node(inner) {
            Node::Finally(c) if self.formulas.classes(c).is_propositional() => Some(c),
            _ => None,
        }
    }

    /// b & (a | X formula), with a promise for putting off.
    fn release(
        &mut self,
        formula: Formula,
        a: Formula,
        b: Formula,
        promise: Option<Formula>,
        budget: &mut Budget<'_>,
    ) -> Result<Label, Limit> {
        let (a, b) = (self.diagram(a), self.diagram(b));
        let later = self.later(formula, promise, budget)?;
        let go_on = self.labels.with(budget).or(a, later)?;
        self.labels.with(budget).and(b, go_on)
    }

    fn diagram(&self, formula: Formula) -> Label {
        match formula {
            Formula::TRUE => Label::TRUE,
            Formula::FALSE => Label::FALSE,
            _ => self.diagrams[&formula],
        }
    }

    fn later(
        &mut self,
        formula: Formula,
        promise: Option<Formula>,
        budget: &mut Budget<'_>,
    ) -> Result<Label, Limit> {
        let next = self.next(formula, budget)?;
        let Some(promise) = promise else { return Ok(next) };
        let promise = self.promise(promise);
        self.labels.with(budget).and(next, promise)
    }

    /// The variable that says that an eventuality was put off.
    fn promise(&mut self, eventuality: Formula) -> Label {
        let n_promises = self.promises.len() as u32;
        let number = *self.promises.entry(eventuality).or_insert(n_promises);
        self.labels.variable(FIRST_PROMISE + number)
    }

    /// The rest of the word satisfies the formula. A conjunction is split, which makes more states equal.
    fn next(&mut self, formula: Formula, budget: &mut Budget<'_>) -> Result<Label, Limit> {
        if let Node::And(list) = self.formulas.node(formula) {
            return list.iter().try_fold(Label::TRUE, |all, &a| {
                let next = self.next_variable(a);
                self.labels.with(budget).and(all, next)
            });
        }
        Ok(self.next_variable(formula))
    }

    fn next_variable(&mut self, formula: Formula) -> Label {
        let variable = *self.next_variables.entry(formula).or_insert_with(|| {
            self.next.push(formula);
            FIRST_HIDDEN + self.next.len() as u32 - 1
        });
        self.labels.variable(variable)
    }

    fn explore(
        &mut self,
        formula: Formula,
        max_states: usize,
        work: &mut Work<'_, '_>,
    ) -> Result<Tgba, GaveUp> {
        let mut automaton = Tgba::new(self.promises.len() as u32);
        automaton.declare(self.formulas.propositions(formula));
        let start = self.diagram(formula);
        let mut numbers = FxHashMap::from_iter([(start, automaton.initial())]);
        let mut found = vec![start];
        let mut memo = FxHashMap::default();
        let (mut next, mut n_edges) = (0, 0);
        while let Some(&diagram) = found.get(next) {
            let source = next;
            next += 1;
            let edges = self.edges_of(diagram, work)?;
            n_edges += edges.len();
            if self.labels.is_exhausted() {
                return Err(TooLarge::Labels.into());
            }
            if found.len() > max_states || n_edges > MAX_EDGES_PER_STATE * max_states {
                return Err(TooLarge::States.into());
            }
            work.budget.hold((edges.len() * size_of::<Edge>() + BYTES_PER_STATE) as u64)?;
            for (edge, letters) in edges {
                let letters = automaton.labels_mut().import(&self.labels, letters, &mut memo);
                automaton.labels_mut().tell(work.budget)?;
                let (marks, target) = self.edges[edge];
                let target = *numbers.entry(target).or_insert_with(|| {
                    found.push(target);
                    automaton.add_state()
                });
                // No other edge has the same marks and target.
                automaton.edges_mut(source).push(Edge { target, marks, label: letters });
            }
        }
        Ok(automaton)
    }

    /// The numbers of the edges that leave a state, given by its diagram, with their letters.
    fn edges_of(&mut self, diagram: Label, work: &mut Work<'_, '_>) -> Result<Vec<(usize, Label)>, GaveUp> {
        for (_, leaf) in self.labels.leaves(diagram, work.budget)? {
            if !self.leaf_edges.contains_key(&leaf) {
                let edges = self.successors(leaf, work.budget)?;
                work.budget.hold(size_of_val(&edges[..]) as u64)?;
                self.leaf_edges.insert(leaf, edges);
            }
            work.spend(self.labels.take_steps())?;
        }
        let leaf_edges = &self.leaf_edges;
        // A leaf is missing only if the labels are exhausted, which the caller notices.
        let edges_of = |leaf| leaf_edges.get(&leaf).cloned().unwrap_or_default();
        let edges = self.labels.letters_by(diagram, edges_of, work.budget)?;
        work.spend(self.labels.take_steps() + edges.len() as u64)?;
        Ok(edges)
    }

    /// The numbers of the edges of a leaf, in order.
    fn successors(&mut self, leaf: Label, budget: &mut Budget<'_>) -> Result<Vec<usize>, Limit> {
        let mut edges: Vec<(Marks, Label)> = vec![];
        for prime in self.labels.all_primes(leaf, budget)? {
            budget.tick()?;
            let (next, promised) =
                prime.split_at(prime.partition_point(|&variable| variable < FIRST_PROMISE));
            let target = next.iter().try_fold(Label::TRUE, |all, &variable| {
                let formula = self.next[(variable - FIRST_HIDDEN) as usize];
                self.labels.with(budget).and(all, self.diagrams[&formula])
            })?;
            let all = Marks::all(self.promises.len() as u32);
            let marks = promised
                .iter()
                .fold(all, |marks, variable| marks.minus(Marks::single(variable - FIRST_PROMISE)));
            let late = self.branching == Branching::Late;
            match edges.iter_mut().find(|edge| late && edge.0 == marks) {
                Some(edge) => edge.1 = self.labels.with(budget).or(edge.1, target)?,
                None => edges.push((marks, target)),
            }
        }
        edges.retain(|edge| edge.1 != Label::FALSE);
        let mut numbers: Vec<usize> = edges.into_iter().map(|edge| self.number(edge)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    fn number(&mut self, edge: (Marks, Label)) -> usize {
        *self.edge_numbers.entry(edge).or_insert_with(|| {
            self.edges.push(edge);
            self.edges.len() - 1
        })
    }
}

/// A state is in a list, in two tables, and in the automaton.
const BYTES_PER_STATE: usize = 4 * size_of::<(Label, usize)>() + size_of::<Vec<Edge>>();

/// More edges per allowed state are too many.
const MAX_EDGES_PER_STATE: usize = 100;

/// Diagrams of more nodes are given up.
const MAX_NODES: usize = 2_000_000;

/// The propositions of the automaton stay below the hidden variables.
pub(crate) fn fits(propositions: &[Prop]) -> bool {
    propositions.last().is_none_or(|last| last.index() < FIRST_HIDDEN as usize)
}
