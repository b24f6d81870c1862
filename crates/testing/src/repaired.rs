//! The slow and obvious search of a product that is reduced for fair runs: the sets alone are taken, then actions that
//! matter and are left out along a cycle are added until there is none, then fair cycles are looked for by brute force.
//! It tests the sets apart from any search.

use std::collections::{BTreeSet, HashMap};

use automata::by_change::{Limits, small_tgta};
use automata::waiting::waiting_form;
use base::Budget;
use check::decide::Claim;
use check::fairness::Constraint;
use check::method::ObserverKind;
use check::observer::{ByChange, ByValue, Kind, Lazy, Observer, Valuations};
use check::product::{AtDeadlock, Orders, Path, Product, StepOrder};
use check::reduction::Method;
use model::{ActionId, ActionSystem, System as _};
use por::Rule;

use crate::claims::{Case, has_component};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// A TGBA (in waiting form), or a TGTA, explicit or made while it watches.
    pub observer: ObserverKind,
    /// Whether the system's steps are taken in reverse.
    pub reverse: bool,
    /// Decides where what is left out is added.
    pub seed: u64,
    /// A rule that is left out.
    pub without: Option<Rule>,
    /// The sets: those that keep fair runs, or others, which do not.
    pub sets: Method,
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Whether there is a fair run that is accepted.
    pub run: bool,
    /// The states of the reduced product.
    pub n_states: usize,
    /// How many actions were added.
    pub n_added: usize,
}

/// Searches the reduced product for a fair run that violates the formula of a case, which must not see stuttering.
///
/// # Panics
/// If the system goes wrong.
pub fn search(case: &Case, claim: &Claim, constraints: &[Constraint], how: How) -> Found {
    assert!(claim.proof().is_some(), "a formula that does not see stuttering");
    let budget = &mut Budget::unlimited();
    let (props, numbers): (Vec<_>, Vec<_>) = claim.propositions().iter().copied().unzip();
    match how.observer {
        ObserverKind::Tgba => {
            let tgba = waiting_form(claim.tgba(), 10_000, budget).expect("a small automaton");
            search_with(&case.system, ByValue::new(&tgba, props), numbers, constraints, how)
        }
        ObserverKind::Tgta => {
            let tgta = small_tgta(claim.tgba(), &Limits::default(), budget).expect("a small automaton");
            search_with(&case.system, ByChange::of_tgta(&tgta, &props), numbers, constraints, how)
        }
        _ => search_with(&case.system, Lazy::new(claim.tgba(), Kind::Tgta, props), numbers, constraints, how),
    }
}

/// A state of the product.
struct Node {
    /// The constraints that it enables, as bits.
    enables: u64,
    /// Per step that is possible: what it begins with, none at a deadlock; its target; the observer's marks.
    steps: Vec<(Option<ActionId>, Vec<u32>, u64)>,
    /// What is taken.
    taken: BTreeSet<Option<ActionId>>,
}

/// Its target, the observer's marks, and what it begins with.
type Edge = (usize, u64, Option<ActionId>);

struct Graph<'a, O> {
    system: &'a ActionSystem,
    product: Product<'a, ActionSystem, O>,
    constraints: &'a [Constraint],
    nodes: Vec<Node>,
    numbers: HashMap<Vec<u32>, usize>,
}

fn search_with<O: Observer>(
    system: &ActionSystem,
    observer: O,
    numbers: Vec<usize>,
    constraints: &[Constraint],
    how: How,
) -> Found {
    let budget = &mut Budget::unlimited();
    let all_marks = observer.all_marks();
    let product = Product::new(system, observer, Valuations::new(numbers), AtDeadlock::Stutter);
    let steps = if how.reverse { StepOrder::Reverse } else { StepOrder::Forward };
    let product = product.in_order(Orders { steps, ..Orders::default() });
    let mut product = product.reduced(how.sets, constraints, budget).expect("no limit");
    if let Some(rule) = how.without {
        product = product.without(rule, budget).expect("no limit");
    }
    let initial = product.initial_states().expect("a good system");
    let mut graph = Graph { system, product, constraints, nodes: Vec::new(), numbers: HashMap::new() };
    for (_, state) in initial {
        graph.number(&state);
    }
    let mut seed = how.seed;
    let mut n_added = 0;
    graph.explore(0);
    while how.without != Some(Rule::Cycle) && graph.repair(&mut seed) {
        n_added += 1;
    }
    Found { run: graph.has_fair_run(all_marks), n_states: graph.nodes.len(), n_added }
}

impl<O: Observer> Graph<'_, O> {
    fn number(&mut self, state: &[u32]) -> usize {
        if let Some(&known) = self.numbers.get(state) {
            return known;
        }
        let number = self.nodes.len();
        self.numbers.insert(state.to_vec(), number);
        let (words, observer) = state.split_at(state.len() - 1);
        let mut enabled = Vec::new();
        self.system.enabled(words, &mut self.system.new_scratch(), &mut enabled).expect("a good system");
        let is_in = |constraint: &Constraint| {
            enabled.iter().any(|&action| constraint.actions.contains(&self.system.first(action)))
        };
        let bit = |bits, (index, constraint)| bits | u64::from(is_in(constraint)) << index;
        let enables = self.constraints.iter().enumerate().fold(0, bit);
        let mut out = self.product.new_steps();
        self.product.expand_fully(words, observer[0], &mut out).expect("a good system");
        let first = |action: Option<ActionId>| action.map(|action| self.system.first(action));
        let mut target = vec![0; state.len()];
        let mut steps = Vec::new();
        for step in &out.steps {
            out.copy_target(step, &mut target);
            steps.push((first(step.action), target.clone(), step.marks));
        }
        self.product
            .expand(words, observer[0], Path::Repaired { extra: &[], again: None }, &mut out)
            .expect("a good system");
        let taken = out.steps.iter().map(|step| first(step.action)).collect();
        self.nodes.push(Node { enables, steps, taken });
        number
    }

    /// Follows all that is taken in a state.
    fn follow(&mut self, node: usize) {
        let Node { steps, taken, .. } = &self.nodes[node];
        let targets = steps.iter().filter(|step| taken.contains(&step.0)).map(|step| step.1.clone());
        for target in targets.collect::<Vec<_>>() {
            self.number(&target);
        }
    }

    /// Follows all that is taken, from a state on.
    fn explore(&mut self, first: usize) {
        let mut next = first;
        while next < self.nodes.len() {
            self.follow(next);
            next += 1;
        }
    }

    /// The edges that are taken, from and to states for which `keeps` is true.
    fn edges(&self, keeps: &dyn Fn(&Node) -> bool) -> Vec<Vec<Edge>> {
        let row = |node: &Node| {
            let taken = node.steps.iter().filter(|step| keeps(node) && node.taken.contains(&step.0));
            let edge = |step: &(Option<ActionId>, Vec<u32>, u64)| {
                let to = self.numbers[&step.1];
                keeps(&self.nodes[to]).then_some((to, step.2, step.0))
            };
            taken.filter_map(edge).collect()
        };
        self.nodes.iter().map(row).collect()
    }

    /// Adds one action that matters in one state of a cycle along which it is left out. Returns whether there is one.
    fn repair(&mut self, seed: &mut u64) -> bool {
        for action in (0..self.system.actions().len()).map(ActionId::new) {
            if !self.product.matters(action) {
                continue;
            }
            let leaves_out = |node: &Node| {
                !node.taken.contains(&Some(action)) && node.steps.iter().any(|step| step.0 == Some(action))
            };
            let edges = self.edges(&leaves_out);
            let found = automata::scc::components(&edges, |_, edge| Some(edge.0), &mut Budget::unlimited());
            let found = found.expect("no limit");
            let on_cycle = |&node: &usize| edges[node].iter().any(|edge| found.of[edge.0] == found.of[node]);
            let nodes: Vec<usize> = (0..edges.len()).filter(on_cycle).collect();
            if !nodes.is_empty() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let node = nodes[(*seed >> 33) as usize % nodes.len()];
                self.nodes[node].taken.insert(Some(action));
                let n_nodes = self.nodes.len();
                self.follow(node);
                self.explore(n_nodes);
                return true;
            }
        }
        false
    }

    /// By brute force over what is never enabled in the end.
    fn has_fair_run(&self, all_marks: u64) -> bool {
        let strong = self.constraints.iter().enumerate().filter(|(_, known)| known.strong);
        let strong: Vec<usize> = strong.map(|(index, _)| index).collect();
        (0..1u32 << strong.len()).any(|choice| {
            let chosen = strong.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            let never = chosen.fold(0u64, |bits, (_, &index)| bits | 1 << index);
            let edges = self.edges(&|node| node.enables & never == 0);
            let with_marks = |(number, row): (usize, &Vec<Edge>)| {
                let enables = self.nodes[number].enables;
                let edge = |&(to, marks, action): &Edge| {
                    let is_fair = |index: usize| {
                        let constraint = &self.constraints[index];
                        let is_off = if constraint.strong { never } else { !enables } >> index & 1 == 1;
                        is_off || action.is_some_and(|action| constraint.takers().contains(&action))
                    };
                    let bits = (0..self.constraints.len()).filter(|&index| is_fair(index));
                    (to, bits.fold(marks, |marks, index| marks | 1 << (32 + index)))
                };
                row.iter().map(edge).collect()
            };
            let edges: Vec<Vec<(usize, u64)>> = edges.iter().enumerate().map(with_marks).collect();
            has_component(&edges, all_marks | ((1u64 << self.constraints.len()) - 1) << 32)
        })
    }
}
