//! From changes back to values: the automaton on values of a testing automaton.
//!
//! # Idea
//! A state of the new automaton is a state of the testing automaton with the valuation it is in; only that
//! valuation is read there. Steps become edges. In a TA one may also stay, without a mark; a step that
//! leaves a Büchi state carries the mark, so that it is seen infinitely often iff Büchi states are visited
//! and the valuation changes infinitely often. From a livelock state one may move to a copy that waits for
//! ever; if it is a Büchi state, too, or not on a cycle of steps, staying may carry the mark instead. A
//! finite acceptance state leads to one that accepts everything.
//!
//! # Differences from the paper
//! [hansen.02.fmics] makes a state-labeled automaton with up to four copies of a state, to have acceptance on
//! states; marks on edges need one copy and one that waits.
//!
//! # References
//! [hansen.02.fmics], Theorem 4.2.

use base::{Budget, Limit};
use rustc_hash::FxHashMap;

use super::graph::{Graph, PropSet};
use super::ta::Ta;
use super::tgta::Tgta;
use crate::clean::trim;
use crate::label::Label;
use crate::stutter::exactly;
use crate::tgba::{Edge, Marks, State, Tgba};
use crate::work::holding;

impl Ta {
    /// An automaton that accepts the same infinite words, with one mark. What the TA says about finite words
    /// (deadlock states) is lost.
    ///
    /// ```
    /// # use stubborn_automata::{Effort, is_empty, product, by_change::{Limits, translate_ta}, translate};
    /// # use ltl::Formulas;
    /// let mut formulas = Formulas::new();
    /// let formula = ltl::parse(&mut formulas, "F G a", base::SourceId::new(0), 0).unwrap().formula;
    /// let budget = &mut base::Budget::unlimited();
    /// let ta = translate_ta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
    /// let negation = formulas.not(formula);
    /// let negation = translate(&mut formulas, negation, Effort::High, budget).unwrap();
    /// let both = product(&ta.to_tgba(budget).unwrap(), &negation, usize::MAX, budget).unwrap();
    /// assert_eq!(is_empty(&both, budget), Ok(true));
    /// ```
    ///
    /// # Errors
    /// The budget is spent.
    pub fn to_tgba(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        holding(budget, |budget| self.on_values(budget))
    }

    fn on_values(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        let cyclic = self.cyclic_states(budget)?;
        let mut values = Values::new(&self.graph, 1, budget);
        while let Some((state, valuation, source)) = values.next()? {
            let acceptance = self.acceptance(state);
            let mark = if acceptance.buchi { Marks::single(0) } else { Marks::NONE };
            let waits_here = acceptance.buchi || !cyclic.contains(state.index());
            if acceptance.livelock && waits_here {
                values.edge(source, valuation, Marks::single(0), source)?;
            } else {
                values.edge(source, valuation, Marks::NONE, source)?;
            }
            if acceptance.livelock && !waits_here {
                values.wait(source, valuation)?;
            }
            if acceptance.finite {
                values.accept(source, valuation)?;
            }
            for step in self.steps(state) {
                let target = values.pair(step.target, valuation.flip(step.change))?;
                let mark = if step.change.is_empty() { Marks::NONE } else { mark };
                values.edge(source, valuation, mark, target)?;
            }
        }
        values.finish()
    }
}

impl Tgta {
    /// An automaton with the same language and the same marks.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn to_tgba(&self, budget: &mut Budget<'_>) -> Result<Tgba, Limit> {
        holding(budget, |budget| {
            let mut values = Values::new(&self.graph, self.n_marks, budget);
            while let Some((state, valuation, source)) = values.next()? {
                for step in self.steps(state) {
                    let target = values.pair(step.target, valuation.flip(step.change))?;
                    values.edge(source, valuation, step.marks, target)?;
                }
            }
            values.finish()
        })
    }
}

/// A pair is in a list, in a table, and is a state.
const BYTES_PER_PAIR: u64 = (4 * size_of::<(State, PropSet)>() + size_of::<Vec<Edge>>()) as u64;

struct Values<'g, 'b, 'w> {
    graph: &'g Graph,
    budget: &'b mut Budget<'w>,
    tgba: Tgba,
    pairs: Vec<(State, PropSet)>,
    numbers: FxHashMap<(State, PropSet), State>,
    /// How many initial ones, and how many pairs were looked at.
    n_begun: usize,
    n_done: usize,
    /// The states that wait for ever in a valuation.
    waiting: FxHashMap<PropSet, State>,
    everything: Option<State>,
}

impl<'g, 'b, 'w> Values<'g, 'b, 'w> {
    fn new(graph: &'g Graph, n_marks: u32, budget: &'b mut Budget<'w>) -> Values<'g, 'b, 'w> {
        let mut tgba = Tgba::new(n_marks);
        tgba.declare(graph.propositions.iter().copied());
        let (pairs, numbers, waiting) = (vec![], FxHashMap::default(), FxHashMap::default());
        Values { graph, budget, tgba, pairs, numbers, n_begun: 0, n_done: 0, waiting, everything: None }
    }

    /// The next pair whose edges are to be made, with its state.
    fn next(&mut self) -> Result<Option<(State, PropSet, State)>, Limit> {
        while let Some(&(valuation, state)) = self.graph.initial.get(self.n_begun) {
            self.n_begun += 1;
            self.pair(state, valuation)?;
        }
        let Some(&(state, valuation)) = self.pairs.get(self.n_done) else { return Ok(None) };
        self.n_done += 1;
        Ok(Some((state, valuation, self.numbers[&(state, valuation)])))
    }

    fn pair(&mut self, state: State, valuation: PropSet) -> Result<State, Limit> {
        self.budget.tick()?;
        if let Some(&known) = self.numbers.get(&(state, valuation)) {
            return Ok(known);
        }
        self.budget.hold(BYTES_PER_PAIR)?;
        self.pairs.push((state, valuation));
        let number = self.tgba.add_state();
        self.numbers.insert((state, valuation), number);
        Ok(number)
    }

    fn edge(&mut self, source: State, valuation: PropSet, marks: Marks, target: State) -> Result<(), Limit> {
        let label = self.label(valuation);
        self.tgba.add(source, Edge { target, marks, label }, self.budget)
    }

    /// Exactly this valuation.
    fn label(&mut self, valuation: PropSet) -> Label {
        let propositions = &self.graph.propositions;
        exactly(self.tgba.labels_mut(), propositions, &valuation.valuation(propositions))
    }

    fn wait(&mut self, source: State, valuation: PropSet) -> Result<(), Limit> {
        let waiting = *self.waiting.entry(valuation).or_insert_with(|| self.tgba.add_state());
        self.edge(waiting, valuation, self.tgba.all_marks(), waiting)?;
        self.edge(source, valuation, Marks::NONE, waiting)
    }

    fn accept(&mut self, source: State, valuation: PropSet) -> Result<(), Limit> {
        let everything = *self.everything.get_or_insert_with(|| self.tgba.add_state());
        self.tgba.add_edge(everything, Label::TRUE, self.tgba.all_marks(), everything);
        self.edge(source, valuation, Marks::NONE, everything)
    }

    /// Lets runs begin with the edges of all initial pairs.
    fn finish(mut self) -> Result<Tgba, Limit> {
        let begin = self.tgba.initial();
        for &(valuation, state) in &self.graph.initial {
            let first = self.numbers[&(state, valuation)];
            for edge in self.tgba.edges(first).to_vec() {
                self.tgba.add(begin, edge, self.budget)?;
            }
        }
        trim(self.tgba, self.budget)
    }
}
