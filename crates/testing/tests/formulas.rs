//! Formulas on random networks: the search by components against a naive one with another
//! automaton, against all short lassos of the system, and against the negated formula. Every
//! counterexample is judged by the semantics of the formula.

use std::cell::Cell;
use std::collections::BTreeSet;

use automata::{Effort, Tgba, translate};
use base::{Budget, SourceMap};
use check::observer::{ByValue, Valuations};
use check::search::AtDeadlock;
use check::search::couvreur::{self, EmptinessStop};
use ltl::{Formula, Lasso, Prop, Valuation, random, satisfies};
use model::ExprId;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::naive;
use stubborn_testing::networks::{self, Network};
use stubborn_testing::run_cases;

/// A network, its state space by the reference semantics, and a formula about it.
struct Case {
    model: process::Model,
    formula: Formula,
    propositions: Vec<(Prop, ExprId)>,
    /// Per state: its successors (a deadlock has itself) and its valuation.
    graph: Vec<(Vec<usize>, Valuation)>,
}

/// None if the network is too large for the naive search.
fn case(network: &Network, seed: u64, size: u32) -> Option<Case> {
    let mut sources = SourceMap::new();
    let source = sources.add("random.proc", network.to_text().into()).unwrap();
    let no_files = &mut |name: &str| Err(format!("no file `{name}`"));
    let mut model =
        process::load(&mut sources, source, &process::Options::default(), no_files).expect("good");
    let n = network.processes.len();
    let texts = [
        "P0@s0".to_owned(),
        format!("P{}@s{}", n - 1, network.processes[n - 1].n_states - 1),
        "P0@s0 == 0".into(),
    ];
    let mut propositions: Vec<(Prop, ExprId)> = Vec::new();
    for text in texts {
        let expr = model.resolve(&text, source, 0).expect("a good proposition");
        propositions.push((model.formulas.proposition(&text), expr));
    }
    let props: Vec<Prop> = propositions.iter().map(|(prop, _)| *prop).collect();
    let mut draw = random::seeded(seed);
    let formula = random::formula(&mut model.formulas, &props, random::ALL, size, &mut draw);
    let space = naive::explore(&model.system, 300).expect("no faults")?;
    let valuation = |state: &Vec<i64>| -> Valuation {
        let holds = |expr: ExprId| model::reference::value(&model.system, expr, state) != Ok(0);
        propositions.iter().filter(|(_, expr)| holds(*expr)).map(|(prop, _)| *prop).collect()
    };
    let mut graph: Vec<(Vec<usize>, Valuation)> =
        space.states.iter().map(|state| (Vec::new(), valuation(state))).collect();
    space.transitions.iter().for_each(|&(from, _, to)| graph[from].0.push(to));
    for (state, (successors, _)) in graph.iter_mut().enumerate() {
        if successors.is_empty() {
            successors.push(state);
        }
        successors.sort_unstable();
        successors.dedup();
    }
    Some(Case { model, formula, propositions, graph })
}

impl Case {
    /// Whether the search finds a violation; if so, it must stand up to the judge.
    fn is_violated(&mut self, formula: Formula) -> Result<bool, TestCaseError> {
        let negated = self.model.formulas.not(formula);
        let tgba = translate(&mut self.model.formulas, negated, Effort::High).expect("a small automaton");
        let props = self.propositions.iter().map(|(prop, _)| *prop).collect();
        let system = &mut self.model.system;
        let numbers = self.propositions.iter().map(|(_, expr)| system.add_proposition("p", *expr)).collect();
        let observer = ByValue::new(&tgba, props);
        let mut budget = Budget::unlimited();
        let outcome =
            couvreur::search(system, observer, Valuations::new(numbers), AtDeadlock::Stutter, &mut budget);
        match outcome.stop {
            None => Ok(false),
            Some(EmptinessStop::Accepted(accepted)) => {
                let question = replay::formula::Question {
                    formulas: &self.model.formulas,
                    formula,
                    propositions: &self.propositions,
                };
                replay::judge_formula(&self.model.system, &question, &accepted.run, accepted.cycle_start)
                    .map_err(|error| TestCaseError::fail(error.to_string()))?;
                Ok(true)
            }
            Some(stop) => Err(TestCaseError::fail(format!("{stop:?}"))),
        }
    }

    /// The same by the definition, with an automaton made another way.
    fn is_violated_naively(&mut self) -> bool {
        let negated = self.model.formulas.not(self.formula);
        let tgba = translate(&mut self.model.formulas, negated, Effort::Low).expect("a small automaton");
        let mut nodes = vec![(0usize, tgba.initial())];
        let mut edges: Vec<Vec<(usize, u64)>> = Vec::new();
        while edges.len() < nodes.len() {
            let (state, q) = nodes[edges.len()];
            let (successors, valuation) = &self.graph[state];
            let mut row = Vec::new();
            for edge in tgba.edges(q).iter().filter(|edge| tgba.labels().holds(edge.label, valuation)) {
                for &to in successors {
                    let node = (to, edge.target);
                    let number = nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                        nodes.push(node);
                        nodes.len() - 1
                    });
                    row.push((number, edge.marks.0));
                }
            }
            edges.push(row);
        }
        has_accepting_component(&edges, &tgba)
    }

    /// Whether a lasso with at most `max` steps violates the formula; not all are looked at if
    /// there are very many.
    fn short_lasso_violates(&self, max: usize) -> bool {
        let mut budget = 3000;
        self.extend(&mut vec![0], max, &mut budget)
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
                if !satisfies(&self.model.formulas, self.formula, &lasso) {
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

/// Whether the edges inside some strong component have all marks, by plain reachability.
fn has_accepting_component(edges: &[Vec<(usize, u64)>], tgba: &Tgba) -> bool {
    let reachable: Vec<BTreeSet<usize>> = (0..edges.len())
        .map(|from| {
            let mut seen = BTreeSet::new();
            let mut work = vec![from];
            while let Some(node) = work.pop() {
                work.extend(edges[node].iter().map(|edge| edge.0).filter(|&to| seen.insert(to)));
            }
            seen
        })
        .collect();
    (0..edges.len()).any(|node| {
        let component: BTreeSet<usize> =
            reachable[node].iter().copied().filter(|&other| reachable[other].contains(&node)).collect();
        let inside =
            component.iter().flat_map(|&from| edges[from].iter()).filter(|edge| component.contains(&edge.0));
        reachable[node].contains(&node) && inside.fold(0, |marks, edge| marks | edge.1) == tgba.all_marks().0
    })
}

#[test]
fn verdicts_agree_with_the_definition_and_counterexamples_are_judged() {
    let counts = Cell::new([0u32; 3]);
    let strategy = (networks::network(), any::<u64>(), 1..14u32);
    run_cases(3000, &strategy, |(network, seed, size)| {
        let Some(mut case) = case(&network, seed, size) else { return Ok(()) };
        let violated = case.is_violated(case.formula)?;
        let formula = case.model.formulas.display(case.formula, ltl::Spelling::Spot).to_string();
        prop_assert_eq!(violated, case.is_violated_naively(), "{}", formula);
        let by_lasso = case.short_lasso_violates(6);
        prop_assert!(violated || !by_lasso, "a lasso violates {}", formula);
        let negation = case.model.formulas.not(case.formula);
        let both_hold = !violated && !case.is_violated(negation)?;
        prop_assert!(!both_hold, "{} and its negation hold", formula);
        let mut count = counts.get();
        count[usize::from(violated)] += 1;
        count[2] += u32::from(by_lasso);
        counts.set(count);
        Ok(())
    });
    let [holds, violated, by_lasso] = counts.get();
    assert!(holds > 500 && violated > 500 && by_lasso > 300, "{counts:?}");
}
