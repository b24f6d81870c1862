//! Emptiness of the product with a testing automaton, in two passes.
//!
//! # Idea
//! A testing automaton accepts in two ways. The first pass looks for cycles with all marks, by strong
//! components ([`couvreur`](super::couvreur)). The second looks for livelocks: cycles of silent steps
//! among livelock states, which may hide inside a component that has other steps as well.
//!
//! # When should I use this?
//! For testing automata with Büchi states; those without are better off with
//! [`one_pass`](super::one_pass).
//!
//! # Requirements and limits
//! An exact store. Under fairness both passes look for fair cycles.
//!
//! # Differences from the paper
//! - The second pass starts in the livelock states that the first one found, one after the other,
//!   instead of going through the product again from its initial states (*init* of Algorithm 3). It
//!   looks at silent edges between livelock states only: all states on a cycle of silent steps have the
//!   same observer state, so they are all livelock states, or none is. Why other stubborn sets may be taken
//!   than in the first pass is said in [`couvreur`](super::couvreur), where it is done.
//! - If the first pass saw no livelock state, there is no second one (*Gseen*). The optimization for
//!   livelock states without successors is contained in Geldenhuys and Hansen's heuristic, which the first
//!   pass uses.
//! - Both passes are the same search, the second without the observer's marks.
//!
//! # References
//! Algorithms 2 and 3 of [bensalem.12.topnoc]; [geldenhuys.06.spin].

use base::Budget;
use model::System;

use super::couvreur::Search;
use super::evidence::ProductOutcome;
use super::product_graph::exact;
use crate::observer::Observer;
use crate::product::Product;
use crate::store::Products;

/// Looks for a run that the observer accepts, in whatever way; if there are fairness constraints, for a
/// fair one.
pub fn search<S: System, O: Observer>(
    product: &mut Product<'_, S, O>,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let states = exact(product, budget);
    search_over(product, states, budget)
}

/// The same over a store of states, which is empty.
pub fn search_over<S: System, O: Observer, P: Products>(
    product: &mut Product<'_, S, O>,
    states: P,
    budget: &mut Budget<'_>,
) -> ProductOutcome {
    let mut first = Search::new(product, states);
    let end = first.run(budget).err();
    if end.is_some() || first.livelocks.is_clear() {
        return first.outcome(end, budget);
    }
    let mut second = first.for_livelocks();
    let end = second.run_from_livelocks(budget).err();
    second.outcome(end, budget)
}

#[cfg(test)]
mod tests {
    use automata::tester::{Edge, State, Tester};
    use base::Budget;
    use model::{Action, ActionSystem, Builder, Guard, Stmt, Variable};

    use crate::decide::tester::product;
    use crate::search::Violation;

    /// Goes there by any of some labels, and comes back.
    fn there_and_back(labels: &[&str]) -> ActionSystem {
        let mut builder = Builder::new();
        let owners = vec![builder.process("P")];
        let x = builder.variable(Variable::new("x", 0, 1));
        let [here, there] = [0, 1].map(|value| builder.guard(Guard::one_of(x, [value])));
        let steps = labels.iter().map(|&label| (label, here, 1)).chain([("back", there, -1)]);
        for (label, guard, change) in steps {
            let label = builder.label(label);
            let (guards, effect) = (vec![guard], vec![Stmt::Add(x, change)]);
            builder.action(Action { label, guards, effect, owners: owners.clone() });
        }
        builder.initial(&[0]);
        builder.finish().unwrap()
    }

    #[test]
    fn the_marks_of_an_edge_count_though_its_target_is_entered_by_another_edge() {
        for labels in [["go", "walk", "run"], ["walk", "go", "run"], ["walk", "run", "go"]] {
            let system = there_and_back(&labels);
            let state = State {
                name: "t".to_owned(),
                reject: false,
                deadlock: false,
                livelock: false,
                infinite: true,
            };
            let edges = vec![Edge { from: 0, letter: Some(0), to: 0 }];
            let tester = Tester { letters: vec!["go".to_owned()], states: vec![state], initial: 0, edges };
            let go = system.labels().iter().position(|label| label.name == "go").unwrap();
            let mut product =
                product(&system, &tester, &[model::LabelId::new(go)], &mut Budget::unlimited()).unwrap();
            let outcome = super::search(&mut product, &mut Budget::unlimited());
            assert_eq!(outcome.evidence().map(|evidence| evidence.violation), Some(Violation::Cycle));
        }
    }
}
