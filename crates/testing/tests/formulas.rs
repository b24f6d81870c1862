//! Formulas on random networks: every observer, search, reduction and store that may be combined, against
//! a naive search with another automaton, against all short lassos of the system, and against the
//! negated formula. Every counterexample is judged by the semantics of the formula.

use std::cell::Cell;
use std::collections::BTreeSet;

use automata::{Effort, Tgba, translate};
use base::{Budget, SourceMap};
use check::decide::{Claim, Settings, StoreChoice};
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{AtDeadlock, ObserverOrder, Orders};
use check::reduction;
use check::search::one_pass::WorkSet;
use check::search::{ProductOutcome, ProductStop, Violation};
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
    /// Per state: whether it is a deadlock.
    is_deadlock: Vec<bool>,
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
    let is_deadlock = graph.iter().map(|(successors, _)| successors.is_empty()).collect();
    for (state, (successors, _)) in graph.iter_mut().enumerate() {
        if successors.is_empty() {
            successors.push(state);
        }
        successors.sort_unstable();
        successors.dedup();
    }
    Some(Case { model, formula, propositions, graph, is_deadlock })
}

impl Case {
    /// The claim that the formula is violated.
    fn claim(&mut self, formula: Formula) -> Claim {
        let negated = self.model.formulas.not(formula);
        let tgba = translate(&mut self.model.formulas, negated, Effort::High).expect("a small automaton");
        let system = &mut self.model.system;
        let propositions =
            self.propositions.iter().map(|(prop, expr)| (*prop, system.add_proposition("p", *expr)));
        let invariant = self.model.formulas.classes(formula).is_next_free();
        Claim::new(tgba, propositions.collect(), invariant)
    }

    /// Whether a search found a violation; if so, it must stand up to the judge.
    fn judge(&self, formula: Formula, outcome: &ProductOutcome) -> Result<bool, TestCaseError> {
        match &outcome.stop {
            None => Ok(false),
            Some(ProductStop::Found(evidence)) => {
                let question = replay::formula::Question {
                    formulas: &self.model.formulas,
                    formula,
                    propositions: &self.propositions,
                };
                let (run, cycle_start) = match (evidence.violation, evidence.cycle_start) {
                    (Violation::AtOnce, _) => check::walk::to_lasso(&self.model.system, &evidence.run)
                        .ok_or_else(|| TestCaseError::fail("no continuation"))?,
                    (_, Some(cycle_start)) => (evidence.run.clone(), cycle_start),
                    (Violation::Deadlock, None) => {
                        replay::judge(&self.model.system, &evidence.run, replay::Claim::Deadlock)
                            .map_err(|error| TestCaseError::fail(error.to_string()))?;
                        return Ok(true);
                    }
                    (violation, None) => {
                        return Err(TestCaseError::fail(format!("{violation:?} without a cycle")));
                    }
                };
                replay::judge_formula(&self.model.system, &question, &run, cycle_start)
                    .map_err(|error| TestCaseError::fail(format!("{:?}: {error}", evidence.violation)))?;
                Ok(true)
            }
            Some(stop) => Err(TestCaseError::fail(format!("{stop:?}"))),
        }
    }

    /// Whether the default search finds a violation.
    fn is_violated(&mut self, formula: Formula) -> Result<bool, TestCaseError> {
        let method = method(ObserverKind::Tgba, SearchKind::Scc, None);
        let mut claim = self.claim(formula);
        let mut budget = Budget::unlimited();
        let decision = claim.search(&self.model.system, method, &Settings::default(), &mut budget);
        self.judge(formula, &decision.map_err(|error| TestCaseError::fail(error.to_string()))?.outcome)
    }

    /// The same by the definition, with an automaton made another way.
    fn is_violated_naively(&mut self, at_deadlock: AtDeadlock) -> bool {
        if at_deadlock == AtDeadlock::Error && self.is_deadlock.contains(&true) {
            return true;
        }
        let negated = self.model.formulas.not(self.formula);
        let tgba = translate(&mut self.model.formulas, negated, Effort::Low).expect("a small automaton");
        let mut nodes = vec![(0usize, tgba.initial())];
        let mut edges: Vec<Vec<(usize, u64)>> = Vec::new();
        while edges.len() < nodes.len() {
            let (state, q) = nodes[edges.len()];
            let (successors, valuation) = &self.graph[state];
            let mut row = Vec::new();
            let ends = self.is_deadlock[state] && at_deadlock == AtDeadlock::Ignore;
            let successors: &[usize] = if ends { &[] } else { successors };
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

fn method(observer: ObserverKind, search: SearchKind, reduction: Option<reduction::Method>) -> Method {
    Method { observer, search, reduction, bitstate: false }
}

/// All that may be combined, allowed or not.
fn all_methods() -> Vec<(Method, Settings)> {
    let observers = [
        ObserverKind::Tgba,
        ObserverKind::Ba,
        ObserverKind::Ta,
        ObserverKind::Tgta,
        ObserverKind::LazyTa,
        ObserverKind::LazyTgta,
        ObserverKind::Extended,
    ];
    let searches = [SearchKind::Scc, SearchKind::Nested, SearchKind::OnePass, SearchKind::TwoPass];
    let reductions = [
        None,
        Some(reduction::Method::Guided),
        Some(reduction::Method::Hybrid),
        Some(reduction::Method::Classical),
    ];
    let mut methods = Vec::new();
    for observer in observers {
        for search in searches {
            for reduction in reductions {
                for bitstate in [false, true] {
                    let store = if bitstate { StoreChoice::Bitstate(1 << 15, 3) } else { StoreChoice::Exact };
                    let settings = Settings { store, ..Settings::default() };
                    let method = Method { observer, search, reduction, bitstate };
                    methods.push((method, settings));
                    let orders = Orders { reverse: true, observer: ObserverOrder::AcceptingFirst };
                    let work_set = WorkSet::Stack;
                    methods.push((method, Settings { orders, work_set, ..settings }));
                }
            }
        }
    }
    methods
}

/// Every method that is allowed says the same, and what is reduced is not larger.
fn check_all_methods(
    case: &mut Case,
    violated: bool,
    at_deadlock: AtDeadlock,
    n_combinations: &Cell<u32>,
) -> Result<(), TestCaseError> {
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let mut full: std::collections::HashMap<(ObserverKind, bool), u64> = std::collections::HashMap::new();
    for (method, settings) in all_methods() {
        let mut budget = Budget::unlimited();
        let settings = Settings { at_deadlock, ..settings };
        let Ok(decision) = claim.search(&case.model.system, method, &settings, &mut budget) else {
            continue;
        };
        n_combinations.set(n_combinations.get() + 1);
        let outcome = decision.outcome;
        let found = case.judge(formula, &outcome);
        let found =
            found.map_err(|error| TestCaseError::fail(format!("{method:?} {settings:?}: {error}")))?;
        prop_assert_eq!(found, violated, "{:?} {:?}", method, settings);
        if found || method.bitstate || method.reduction == Some(reduction::Method::Classical) {
            continue; // Another automaton is used for the classical reduction.
        }
        let key = (method.observer, false);
        match method.reduction {
            None => {
                let known = *full.entry(key).or_insert(outcome.stats.states);
                prop_assert_eq!(
                    known,
                    outcome.stats.states,
                    "{:?}: the full product is always the same",
                    method
                );
            }
            Some(_) => {
                if let Some(&full) = full.get(&key) {
                    prop_assert!(
                        outcome.stats.states <= full,
                        "{:?}: a reduced space is never larger",
                        method
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn verdicts_agree_with_the_definition_and_counterexamples_are_judged() {
    let counts = Cell::new([0u32; 3]);
    let n_combinations = Cell::new(0);
    let strategy = (networks::network(), any::<u64>(), 1..14u32);
    run_cases(1500, &strategy, |(network, seed, size)| {
        let Some(mut case) = case(&network, seed, size) else { return Ok(()) };
        let violated = case.is_violated(case.formula)?;
        let formula = case.model.formulas.display(case.formula, ltl::Spelling::Spot).to_string();
        prop_assert_eq!(violated, case.is_violated_naively(AtDeadlock::Stutter), "{}", formula);
        let by_lasso = case.short_lasso_violates(6);
        prop_assert!(violated || !by_lasso, "a lasso violates {}", formula);
        let negation = case.model.formulas.not(case.formula);
        let both_hold = !violated && !case.is_violated(negation)?;
        prop_assert!(!both_hold, "{} and its negation hold", formula);
        for at_deadlock in [AtDeadlock::Stutter, AtDeadlock::Ignore, AtDeadlock::Error] {
            let violated = case.is_violated_naively(at_deadlock);
            check_all_methods(&mut case, violated, at_deadlock, &n_combinations)
                .map_err(|error| TestCaseError::fail(format!("{formula}, {at_deadlock:?}: {error}")))?;
        }
        let mut count = counts.get();
        count[usize::from(violated)] += 1;
        count[2] += u32::from(by_lasso);
        counts.set(count);
        Ok(())
    });
    let [holds, violated, by_lasso] = counts.get();
    assert!(holds > 250 && violated > 250 && by_lasso > 150, "{counts:?}");
    assert!(n_combinations.get() > 100_000, "{n_combinations:?} combinations");
}
