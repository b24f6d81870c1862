//! Fairness on random networks: every observer and search that knows it, and monitors, against brute force;
//! every run
//! is judged by the definitions.

use std::cell::RefCell;

use base::Budget;
use check::decide::{Decision, Settings, TesterClaim};
use check::fairness::Constraint;
use check::method::{Method, ObserverKind, SearchKind};
use check::product::{Orders, StepOrder};
use generators::random;
use model::ActionId;
use model::fairness::Kind;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, load};
use stubborn_testing::methods::{self, Tally};
use stubborn_testing::toys::{kind_of, searched};
use stubborn_testing::{assert_met, networks, run_cases, systems, tell_count, testers};

/// Fairness to some of the processes: per process none, weak, strong, or just.
fn constraints(case: &Case, kinds: &[u8]) -> Vec<Constraint> {
    let of_process = |process: usize| -> Vec<ActionId> {
        let actions = case.system.actions().iter().enumerate();
        let owned = actions.filter(|(_, action)| action.owners.iter().any(|owner| owner.index() == process));
        owned.map(|(index, _)| ActionId::new(index)).collect()
    };
    let fair_to =
        kinds.iter().enumerate().filter_map(|(process, &kind)| Some((kind_of(kind)?, of_process(process))));
    let fair_to: Vec<_> = fair_to.filter(|(_, actions)| !actions.is_empty()).collect();
    searched(&case.system, &fair_to)
}

#[test]
fn verdicts_under_fairness_agree_with_brute_force() {
    let (counts, tally) = (RefCell::new([0u32; 3]), Tally::default());
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5));
    run_cases(6000, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        agree(case, &kinds[..network.processes.len()], &counts, &tally)
            .map_err(|error| TestCaseError::fail(format!("{error} on\n{}", network.to_text())))
    });
    let [holds, violated, only_fairly] = *counts.borrow();
    tell_count("networks", holds, violated);
    assert_met!(holds > 500 && violated > 300 && only_fairly > 30, "{counts:?}");
    tally.assert_each(fair_methods(), 300);
}

#[test]
fn verdicts_under_fairness_agree_with_brute_force_where_steps_are_chains() {
    let (counts, tally) = (RefCell::new([0u32; 3]), Tally::default());
    let strategy = (systems::recipe_with_chains(), any::<u64>(), 1..12u32, vec(0..4u8, 3));
    run_cases(4000, &strategy, |(recipe, seed, size, kinds)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(case) => agree(case, &kinds, &counts, &tally),
            None => Ok(()),
        }
    });
    let [holds, violated, only_fairly] = *counts.borrow();
    tell_count("chains", holds, violated);
    assert_met!(holds > 300 && violated > 300 && only_fairly > 1, "{counts:?}");
    tally.assert_each(fair_methods(), 300);
}

fn fair_methods() -> impl Iterator<Item = Method> {
    methods::all().into_iter().filter(|method| methods::is_sound_for_fair_runs(*method))
}

/// All methods give the answer of brute force, and runs that are fair by the definitions.
fn agree(
    mut case: Case,
    kinds: &[u8],
    counts: &RefCell<[u32; 3]>,
    tally: &Tally,
) -> Result<(), TestCaseError> {
    let constraints = constraints(&case, kinds);
    let violated = case.is_violated_fairly(&constraints);
    let unfairly = case.is_violated(case.formula)?;
    prop_assert!(unfairly || !violated, "a fair run is a run");
    counts.borrow_mut()[usize::from(violated)] += 1;
    counts.borrow_mut()[2] += u32::from(unfairly && !violated);
    let formula = case.formula;
    let mut claim = case.claim(formula);
    let settings = Settings { fairness: &constraints, ..Settings::default() };
    for method in methods::all()
        .into_iter()
        .filter(|method| settings.is_fair() || methods::is_sound_for_fair_runs(*method))
    {
        let Some(decision) = tally.search(&mut claim, &case.system, method, &settings)? else { continue };
        let context = || format!("{method:?}, {}, {constraints:?}", case.text());
        let found = case.judge(formula, &decision.outcome);
        let found = found.map_err(|error| TestCaseError::fail(format!("{error}: {}", context())))?;
        prop_assert_eq!(found, violated, "{}", context());
        if let Some(evidence) = decision.outcome.evidence().filter(|_| settings.is_fair()) {
            judge(&case, evidence, &constraints)
                .map_err(|error| TestCaseError::fail(format!("{error}: {}", context())))?;
        }
    }
    Ok(())
}

/// The run is fair, by the definitions.
fn judge(
    case: &Case,
    evidence: &check::search::Evidence,
    constraints: &[Constraint],
) -> Result<(), TestCaseError> {
    let constraint = |known: &Constraint| replay::fairness::Constraint {
        subject: replay::Subject::Process("P".to_owned()),
        kind: match known.strong {
            _ if known.is_just() => Kind::Just,
            true => Kind::Strong,
            false => Kind::Weak,
        },
        actions: known.actions.clone(),
    };
    let constraints: Vec<_> = constraints.iter().map(constraint).collect();
    let cycle_start = evidence.cycle_start.ok_or_else(|| TestCaseError::fail("no cycle"))?;
    let ending = replay::Ending::Cycle(cycle_start);
    let fair = replay::Evidence { run: &evidence.run, ending, fair_to: &constraints };
    let judged = replay::judge(&case.system, &replay::Question::Possible, &fair, &mut Budget::unlimited());
    judged.map_err(|doubt| TestCaseError::fail(doubt.to_string()))?;
    Ok(())
}

/// The only strongly fair cycle, between `x` and `w`, is a part of a component that also has `y`, where
/// `c` is enabled and never taken inside.
#[test]
fn a_part_of_a_component_may_be_strongly_fair() {
    let network = "process P { x: a -> y | d -> w; w: e -> x; y: b -> x | c -> z; z: ; }
        process Q { s: c -> t; t: ; }";
    let mut case = Case::of_model(load(network), &["P@z"], |formulas, props| {
        let z = formulas.prop(props[0]);
        formulas.finally(z)
    })
    .expect("a small network");
    let constraints = constraints(&case, &[0, 2]);
    assert!(case.is_violated_fairly(&constraints));
    let mut claim = case.claim(case.formula);
    for steps in [StepOrder::Forward, StepOrder::Reverse] {
        let orders = Orders { steps, ..Orders::default() };
        let settings = Settings { fairness: &constraints, orders, ..Settings::default() };
        for (observer, search) in [
            (ObserverKind::Tgba, SearchKind::Scc),
            (ObserverKind::LazyTgta, SearchKind::Scc),
            (ObserverKind::LazyTa, SearchKind::TwoPass),
        ] {
            let method = Method::new(observer, search, None);
            let decision = claim.search(&case.system, method, &settings, &mut Budget::unlimited());
            let outcome = decision.expect("allowed").outcome;
            let evidence = outcome.evidence().expect("a fair run");
            judge(&case, evidence, &constraints).expect("a fair run");
        }
    }
}

/// Whether a product of a system and a tester has a fair cycle: of silent steps in a livelock state, or
/// with a marked step. By brute force over what is never enabled.
fn has_fair_cycle(
    case: &Case,
    tester: &automata::Tester,
    labels: &[model::LabelId],
    constraints: &[Constraint],
    livelock: bool,
) -> bool {
    let free = automata::TauFree::new(tester, &mut Budget::unlimited()).expect("a small tester");
    let letter = |action: ActionId| {
        labels.iter().position(|label| *label == case.system.action(action).label).map(|at| at as u32)
    };
    let mut nodes: Vec<(usize, u32)> = free.initial().iter().map(|&state| (0, state)).collect();
    // Target, action, and whether the tester moves and the step is marked.
    let mut edges: Vec<Vec<(usize, ActionId, bool, bool)>> = Vec::new();
    while edges.len() < nodes.len() {
        let (state, tester_state) = nodes[edges.len()];
        let mut row = Vec::new();
        for &(action, to) in case.transitions(state) {
            let steps: Vec<(u32, bool, bool)> = match letter(action) {
                None => vec![(tester_state, false, false)],
                Some(letter) => {
                    free.steps(tester_state, letter).iter().map(|step| (step.to, true, step.marked)).collect()
                }
            };
            for (next, moves, marked) in steps {
                let node = (to, next);
                let number = nodes.iter().position(|known| *known == node).unwrap_or_else(|| {
                    nodes.push(node);
                    nodes.len() - 1
                });
                row.push((number, action, moves, marked));
            }
        }
        edges.push(row);
    }
    let enables = |node: usize, constraint: &Constraint| {
        case.transitions(nodes[node].0).iter().any(|(action, _)| constraint.actions.contains(action))
    };
    let is_livelock = |node: usize| tester.states[nodes[node].1 as usize].livelock;
    (0..1u32 << constraints.len()).any(|never| {
        let is_never = |index: usize| constraints[index].strong && never >> index & 1 == 1;
        let is_bad = |node: usize| {
            (0..constraints.len()).any(|index| is_never(index) && enables(node, &constraints[index]))
        };
        let mut graph: Vec<Vec<(usize, u64)>> = vec![Vec::new(); nodes.len()];
        for (node, row) in edges.iter().enumerate() {
            for &(to, action, moves, marked) in row {
                if is_bad(node) || is_bad(to) || livelock && (moves || !is_livelock(node)) {
                    continue;
                }
                let mut marks = u64::from(livelock || marked);
                for (index, constraint) in constraints.iter().enumerate() {
                    let is_fair = constraint.takers().contains(&action)
                        || is_never(index)
                        || !constraint.strong && !enables(node, constraint);
                    marks |= u64::from(is_fair) << (index + 1);
                }
                graph[node].push((to, marks));
            }
        }
        stubborn_testing::claims::has_component(&graph, (1 << (constraints.len() + 1)) - 1)
    })
}

#[test]
fn testers_under_fairness_agree_with_brute_force() {
    let (counts, tally) = (RefCell::new([0u32; 3]), Tally::default());
    let strategy = (networks::network(), testers::recipe(), vec(0..4u8, 5));
    run_cases(3000, &strategy, |(network, recipe, kinds)| {
        let draw = Draw { seed: 0, size: 1, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let (tester, labels) = (recipe.tester(&network), recipe.labels(&network));
        let constraints = constraints(&case, &kinds[..network.processes.len()]);
        let ids = testers::label_ids(&case.system, &tester.letters);
        let [c1, c2, c3, c4] = testers::conditions(&network.explore(), &tester, &labels);
        let cycle = |livelock| has_fair_cycle(&case, &tester, &ids, &constraints, livelock);
        let (fair_c3, fair_c4) = (cycle(true), cycle(false));
        prop_assert!((c3 || !fair_c3) && (c4 || !fair_c4), "a fair run is a run");
        let violated = c1 || c2 || fair_c3 || fair_c4;
        counts.borrow_mut()[usize::from(violated)] += 1;
        counts.borrow_mut()[2] += u32::from(!violated && (c3 || c4));
        let claim = TesterClaim::new(&tester, &ids);
        let settings = Settings { fairness: &constraints, ..Settings::default() };
        for method in methods::all() {
            let decision = tally.search_tester(&claim, &case.system, method, &settings)?;
            let Some(Decision { outcome, .. }) = decision else { continue };
            let Some(evidence) = outcome.evidence() else {
                let conditions = [c1, c2, fair_c3, fair_c4];
                prop_assert!(!violated, "{:?}, {:?} on\n{}", method, conditions, network.to_text());
                continue;
            };
            prop_assert!(violated, "{method:?}: {evidence:?}");
            if evidence.cycle_start.is_some() {
                judge(&case, evidence, &constraints)?;
            }
        }
        Ok(())
    });
    let [holds, violated, only_fairly] = *counts.borrow();
    tell_count("testers", holds, violated);
    assert_met!(holds > 300 && violated > 300 && only_fairly > 30, "{counts:?}");
    let is_sound = |method: &Method| {
        methods::is_sound_for_testers(*method, false) || methods::is_sound_for_fair_testers(*method)
    };
    let sound = methods::all().into_iter().filter(is_sound);
    tally.assert_each(sound, 100);
}
