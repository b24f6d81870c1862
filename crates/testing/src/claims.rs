//! Formulas about random systems, and whether these violate them: by definition, and by every method.

use std::collections::HashMap;
use std::sync::Arc;

use automata::stutter::{Proof, formula_stuttering};
use automata::{Effort, Tgba, translate};
use base::{Budget, SourceMap};
use check::decide::{Claim, Settings};
use check::fairness::Constraint;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::AtDeadlock;
use check::search::{ProductOutcome, ProductStop, Violation};
use generators::random;
use language::{Loader, Model as _};
use ltl::{Formula, Formulas, Lasso, Op, Prop, Valuation, satisfies};
use model::{ActionId, ActionSystem, ExprId, reference};
use proptest::test_runner::TestCaseError;
use replay::{Ending, Question};

use crate::naive;
use crate::networks::Network;
use crate::systems::Recipe;

/// A system, its state space by the reference semantics, and a formula about it.
pub struct Case {
    /// The pool of the formula.
    pub formulas: Formulas,
    /// The system.
    pub system: ActionSystem,
    /// The formula.
    pub formula: Formula,
    /// Its propositions, with their expressions.
    pub propositions: Vec<(Prop, ExprId)>,
    /// The numbers of the propositions in the system.
    numbers: Vec<usize>,
    /// Per state: its successors (a deadlock has itself) and its valuation.
    graph: Vec<(Vec<usize>, Valuation)>,
    /// Per state: its transitions.
    transitions: Vec<Vec<(ActionId, usize)>>,
    /// Per state: whether it is a deadlock.
    is_deadlock: Vec<bool>,
    /// The first so many states are initial.
    n_initial: usize,
}

/// Loads a network that needs no other file.
///
/// # Panics
/// If it is not good.
pub fn load(text: &str) -> process::Model {
    load_with(text, &process::Options::default(), &mut |name: &str| Err(format!("no file `{name}`")))
}

/// Loads a network.
///
/// # Panics
/// If it is not good.
pub fn load_with(text: &str, options: &process::Options, loader: &mut Loader<'_>) -> process::Model {
    let mut sources = SourceMap::new();
    let source = sources.add("test.proc", text.to_owned().into_bytes()).expect("room for a small source");
    process::load(&mut sources, source, options, loader, &mut Budget::unlimited())
        .unwrap_or_else(|trouble| panic!("{text}\n{trouble:?}"))
}

/// How a formula is drawn.
#[derive(Clone, Copy)]
pub struct Draw {
    /// The seed.
    pub seed: u64,
    /// Its size.
    pub size: u32,
    /// The operators it may have.
    pub operators: &'static [Op],
}

impl Draw {
    pub(crate) fn formula(self, formulas: &mut Formulas, props: &[Prop]) -> Formula {
        random::formula(formulas, props, self.operators, self.size, &mut random::seeded(self.seed))
    }
}

impl Case {
    /// A formula about places of two processes of a network; none if that is too large for the naive
    /// search.
    pub fn of_network(network: &Network, draw: Draw) -> Option<Case> {
        let n = network.processes.len();
        let texts = [
            "P0@s0".to_owned(),
            format!("P{}@s{}", n - 1, network.processes[n - 1].n_states - 1),
            format!("P0@s0 == 0 && P{}@s0 == 1", n - 1),
        ];
        let model = load(&network.to_text());
        Case::of_model(model, &texts.each_ref().map(String::as_str), |formulas, props| {
            draw.formula(formulas, props)
        })
    }

    /// A formula about a model, made from propositions with these texts.
    ///
    /// # Panics
    /// If a proposition is not good.
    pub fn of_model(
        mut model: process::Model,
        texts: &[&str],
        make: impl FnOnce(&mut Formulas, &[Prop]) -> Formula,
    ) -> Option<Case> {
        let mut propositions: Vec<(Prop, ExprId)> = Vec::new();
        for text in texts {
            let expr = model.resolve(text, base::SourceId::new(0), 0).expect("a good proposition");
            propositions.push((model.formulas.proposition(text), expr));
        }
        let process::Model { formulas, system, .. } = model;
        Case::of_system(formulas, Arc::unwrap_or_clone(system), propositions, make)
    }

    /// A formula about the propositions of a system with data.
    pub fn of_recipe(recipe: &Recipe, draw: Draw) -> Option<Case> {
        let system = recipe.build();
        let mut formulas = Formulas::new();
        let exprs = system.propositions().iter().map(|known| known.expr);
        let named = exprs.enumerate().map(|(index, expr)| (formulas.proposition(&format!("p{index}")), expr));
        let propositions: Vec<(Prop, ExprId)> = named.collect();
        if propositions.is_empty() {
            return None;
        }
        Case::of_system(formulas, system, propositions, |formulas, props| draw.formula(formulas, props))
    }

    /// A formula about a system; none if that is too large for the naive search, or goes wrong.
    pub fn of_system(
        mut formulas: Formulas,
        mut system: ActionSystem,
        propositions: Vec<(Prop, ExprId)>,
        make: impl FnOnce(&mut Formulas, &[Prop]) -> Formula,
    ) -> Option<Case> {
        let props: Vec<Prop> = propositions.iter().map(|(prop, _)| *prop).collect();
        let formula = make(&mut formulas, &props);
        let space = naive::explore(&system, 300).ok()??;
        let mut graph: Vec<(Vec<usize>, Valuation)> = Vec::new();
        for state in &space.states {
            let mut valuation = Valuation::new();
            for &(prop, expr) in &propositions {
                valuation.set(prop, reference::value(&system, expr, state).ok()? != 0);
            }
            graph.push((Vec::new(), valuation));
        }
        let mut transitions = vec![Vec::new(); graph.len()];
        for &(from, action, to) in &space.transitions {
            graph[from].0.push(to);
            transitions[from].push((action, to));
        }
        let is_deadlock = graph.iter().map(|(successors, _)| successors.is_empty()).collect();
        for (state, (successors, _)) in graph.iter_mut().enumerate() {
            if successors.is_empty() {
                successors.push(state);
            }
            successors.sort_unstable();
            successors.dedup();
        }
        let n_initial = space.distance.iter().filter(|&&distance| distance == 0).count();
        let numbers = propositions.iter().map(|(_, expr)| system.add_proposition("p", *expr)).collect();
        Some(Case {
            formulas,
            system,
            formula,
            propositions,
            numbers,
            graph,
            transitions,
            is_deadlock,
            n_initial,
        })
    }

    /// The formula as text.
    pub fn text(&self) -> String {
        self.formulas.display(self.formula, ltl::Spelling::Spot).to_string()
    }

    /// The transitions of a state.
    pub fn transitions(&self, state: usize) -> &[(ActionId, usize)] {
        &self.transitions[state]
    }

    /// How many states there are.
    pub fn n_states(&self) -> usize {
        self.graph.len()
    }

    /// The first so many states are initial.
    pub fn n_initial(&self) -> usize {
        self.n_initial
    }

    /// What is true in a state.
    pub fn valuation(&self, state: usize) -> &Valuation {
        &self.graph[state].1
    }

    /// The claim that the formula is violated.
    ///
    /// # Panics
    /// If the formula is too large.
    pub fn claim(&mut self, formula: Formula) -> Claim {
        let tgba = self.negation(formula, Effort::High);
        let stuttering =
            formula_stuttering(&mut self.formulas, formula, Effort::High, &mut Budget::unlimited());
        let proof = stuttering.expect("small automata").proof();
        self.claim_of(tgba, proof)
    }

    fn negation(&mut self, formula: Formula, effort: Effort) -> Tgba {
        let negated = self.formulas.not(formula);
        translate(&mut self.formulas, negated, effort, &mut Budget::unlimited()).expect("a small automaton")
    }

    /// The claim of an automaton, maybe with a proof that it does not see stuttering.
    pub fn claim_of(&self, tgba: Tgba, proof: Option<Proof>) -> Claim {
        let propositions = self.propositions.iter().map(|(prop, _)| *prop).zip(self.numbers.iter().copied());
        Claim::new(tgba, propositions.collect(), proof)
    }

    /// Whether a search found a violation; if so, it must stand up to the judge.
    pub fn judge(&self, formula: Formula, outcome: &ProductOutcome) -> Result<bool, TestCaseError> {
        match &outcome.stop {
            None => Ok(false),
            Some(ProductStop::Found(evidence)) => {
                let question =
                    Question::Formula { formulas: &self.formulas, formula, propositions: &self.propositions };
                let (question, run, ending) = match (evidence.violation, evidence.cycle_start) {
                    (Violation::AtOnce, _) => {
                        let continued =
                            check::walk::to_lasso(&self.system, &evidence.run, &mut Budget::unlimited())
                                .ok()
                                .flatten();
                        let (run, start) = continued.ok_or_else(|| TestCaseError::fail("no continuation"))?;
                        (question, run, Ending::Cycle(start))
                    }
                    (_, Some(start)) => (question, evidence.run.clone(), Ending::Cycle(start)),
                    (Violation::Deadlock, None) => {
                        (Question::Deadlock, evidence.run.clone(), Ending::Deadlock)
                    }
                    (violation, None) => {
                        return Err(TestCaseError::fail(format!("{violation:?} without a cycle")));
                    }
                };
                let run = replay::Evidence::new(&run, ending);
                replay::judge(&self.system, &question, &run, &mut Budget::unlimited())
                    .map_err(|error| TestCaseError::fail(format!("{:?}: {error}", evidence.violation)))?;
                Ok(true)
            }
            Some(stop) => Err(TestCaseError::fail(format!("{stop:?}"))),
        }
    }

    /// Whether the default search finds a violation.
    pub fn is_violated(&mut self, formula: Formula) -> Result<bool, TestCaseError> {
        let method = Method::new(ObserverKind::Tgba, SearchKind::Scc, None);
        let mut claim = self.claim(formula);
        let mut budget = Budget::unlimited();
        let decision = claim.search(&self.system, method, &Settings::default(), &mut budget);
        self.judge(formula, &decision.map_err(|error| TestCaseError::fail(error.to_string()))?.outcome)
    }

    /// The same by the definition, with an automaton made another way.
    ///
    /// # Panics
    /// If the formula is too large.
    pub fn is_violated_naively(&mut self, at_deadlock: AtDeadlock) -> bool {
        if at_deadlock == AtDeadlock::Error && self.is_deadlock.contains(&true) {
            return true;
        }
        let tgba = self.negation(self.formula, Effort::Low);
        let ignores = at_deadlock == AtDeadlock::Ignore;
        // What ends is not on a cycle, unless its last state repeats.
        let (nodes, mut edges) = self.product(&tgba, &|_, _| 0);
        for (node, row) in edges.iter_mut().enumerate() {
            if ignores && self.is_deadlock[nodes[node]] {
                row.clear();
            }
        }
        has_component(&edges, tgba.all_marks().0)
    }

    /// Whether a fair run violates the formula, by brute force: for each set of strong constraints that is
    /// never enabled in the end, is there a component without such states that takes all others?
    ///
    /// # Panics
    /// If the formula is too large.
    pub fn is_violated_fairly(&mut self, constraints: &[Constraint]) -> bool {
        let tgba = self.negation(self.formula, Effort::Low);
        let strong: Vec<&Constraint> = constraints.iter().filter(|known| known.strong).collect();
        let is_in = |constraint: &Constraint, action: ActionId| {
            constraint.actions.contains(&self.system.first(action))
        };
        let takes = |constraint: &Constraint, action: ActionId| {
            constraint.takers().contains(&self.system.first(action))
        };
        let enables = |state: usize, constraint: &Constraint| {
            self.transitions[state].iter().any(|(action, _)| is_in(constraint, *action))
        };
        (0..1u32 << strong.len()).any(|never| {
            let is_never = |index: usize| never >> index & 1 == 1;
            let is_bad = |state: usize| {
                (0..strong.len()).any(|index| is_never(index) && enables(state, strong[index]))
            };
            // The marks of an edge: the automaton's, and from bit 32 on one for each constraint.
            let marks = |state: usize, action: Option<ActionId>| {
                let mut marks = 0u64;
                let mut n_strong = 0;
                for (index, constraint) in constraints.iter().enumerate() {
                    let taken = action.is_some_and(|action| takes(constraint, action));
                    let has_mark = if constraint.strong {
                        n_strong += 1;
                        taken || is_never(n_strong - 1)
                    } else {
                        taken || !enables(state, constraint)
                    };
                    marks |= u64::from(has_mark) << (32 + index);
                }
                marks
            };
            let (nodes, edges) = self.product(&tgba, &marks);
            let inside: Vec<Vec<(usize, u64)>> = edges
                .iter()
                .enumerate()
                .map(|(node, row)| {
                    let is_good = |node: usize| !is_bad(nodes[node]);
                    row.iter().copied().filter(|edge| is_good(node) && is_good(edge.0)).collect()
                })
                .collect();
            let all = tgba.all_marks().0 | ((1u64 << constraints.len()) - 1) << 32;
            has_component(&inside, all)
        })
    }

    /// The reachable product with an automaton: the system state of each node, and edges with marks, to
    /// which `marks` adds some of its own.
    fn product(
        &self,
        tgba: &Tgba,
        marks: &dyn Fn(usize, Option<ActionId>) -> u64,
    ) -> (Vec<usize>, Vec<Vec<(usize, u64)>>) {
        let mut nodes: Vec<_> = (0..self.n_initial).map(|state| (state, tgba.initial())).collect();
        let mut numbers: HashMap<_, usize> =
            nodes.iter().enumerate().map(|(number, &node)| (node, number)).collect();
        let mut edges: Vec<Vec<(usize, u64)>> = Vec::new();
        while edges.len() < nodes.len() {
            let (state, q) = nodes[edges.len()];
            let mut steps: Vec<(Option<ActionId>, usize)> =
                self.transitions[state].iter().map(|&(action, to)| (Some(action), to)).collect();
            if steps.is_empty() {
                steps.push((None, state));
            }
            let mut row = Vec::new();
            let valuation = &self.graph[state].1;
            for edge in tgba.edges(q).iter().filter(|edge| tgba.labels().holds(edge.label, valuation)) {
                for &(action, to) in &steps {
                    let node = (to, edge.target);
                    let number = *numbers.entry(node).or_insert_with(|| {
                        nodes.push(node);
                        nodes.len() - 1
                    });
                    row.push((number, edge.marks.0 | marks(state, action)));
                }
            }
            edges.push(row);
        }
        (nodes.into_iter().map(|node| node.0).collect(), edges)
    }

    /// Whether a lasso with at most `max` steps violates the formula; not all are looked at if
    /// there are very many.
    pub fn short_lasso_violates(&self, max: usize) -> bool {
        let mut budget = 3000;
        (0..self.n_initial).any(|state| self.extend(&mut vec![state], max, &mut budget))
    }

    fn extend(&self, path: &mut Vec<usize>, max: usize, budget: &mut u32) -> bool {
        let last = path[path.len() - 1];
        for &next in &self.graph[last].0 {
            if *budget == 0 {
                return false;
            }
            for start in (0..path.len()).filter(|&start| path[start] == next) {
                *budget = budget.saturating_sub(1);
                let word = |range: &[usize]| range.iter().map(|&state| self.graph[state].1.clone()).collect();
                let lasso = Lasso::new(word(&path[..start]), word(&path[start..])).expect("a cycle");
                if !satisfies(&self.formulas, self.formula, &lasso) {
                    return true;
                }
            }
            if path.len() < max {
                path.push(next);
                let found = self.extend(path, max, budget);
                path.pop();
                if found {
                    return true;
                }
            }
        }
        false
    }
}

/// Whether the edges inside some strong component have all these marks.
pub fn has_component(edges: &[Vec<(usize, u64)>], all: u64) -> bool {
    let found = automata::scc::components(edges, |_, edge| Some(edge.0), &mut Budget::unlimited());
    let found = found.expect("no limit");
    let mut marks: Vec<Option<u64>> = vec![None; found.n];
    for (from, row) in edges.iter().enumerate() {
        for &(to, seen) in row.iter().filter(|edge| found.of[edge.0] == found.of[from]) {
            *marks[found.of[to]].get_or_insert(0) |= seen;
        }
    }
    marks.iter().any(|marks| marks.is_some_and(|marks| marks & all == all))
}

/// A formula about places of a network. In the text `P0_1` is `P0@s1`.
///
/// # Panics
/// If one of them is not good.
pub fn about_places(network: &str, formula: &str) -> Case {
    let mut texts: Vec<String> = Vec::new();
    let mut quoted = String::new();
    for (index, part) in formula.split("P").enumerate() {
        if index == 0 {
            quoted += part;
            continue;
        }
        let (name, rest) = part.split_at(3);
        let text = format!("P{}", name.replace('_', "@s"));
        quoted += &format!("\"{text}\"{rest}");
        texts.push(text);
    }
    texts.sort();
    texts.dedup();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let parsed = |formulas: &mut Formulas, _: &[_]| {
        ltl::parse(formulas, &quoted, base::SourceId::new(0), 0).expect("a good formula").formula
    };
    Case::of_model(load(network), &texts, parsed).expect("a small network")
}

/// The network without all moves that a violation does not need: then there is hardly another
/// violation, and a reduction that loses it is noticed. None if nothing is violated.
pub fn critical(network: &Network, draw: Draw) -> Option<Network> {
    let is_violated = |network: &Network| {
        Case::of_network(network, draw).is_some_and(|mut case| case.is_violated_naively(AtDeadlock::Ignore))
    };
    let mut network = network.clone();
    if !is_violated(&network) {
        return None;
    }
    for process in 0..network.processes.len() {
        let mut edge = 0;
        while edge < network.processes[process].edges.len() {
            let mut smaller = network.clone();
            smaller.processes[process].edges.remove(edge);
            // A label that nobody offers any more must not be in an alphabet.
            let offered = smaller.offered();
            smaller
                .processes
                .iter_mut()
                .for_each(|process| process.extra_alphabet.retain(|label| offered.contains(label)));
            if is_violated(&smaller) {
                network = smaller;
            } else {
                edge += 1;
            }
        }
    }
    Some(network)
}
