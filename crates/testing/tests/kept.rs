//! Searches that are kept: whatever was kept at whichever moment, by however many processes or threads, a search that goes on from there,
//! with as many as there are then, has the same answer and the same counts.

use std::cell::Cell;
use std::sync::Mutex;

use base::{Budget, Peers};
use check::decide::{Claim, Decision, Settings};
use check::method::{Method, ObserverKind, SearchKind};
use check::reduced::Reduced;
use check::reduction::Method::{Fair, Hybrid, Repaired};
use check::{Exploration, Goal, Space, parallel};
use generators::random;
use model::ActionSystem;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw, load};
use stubborn_testing::crew::Crew;
use stubborn_testing::hall::together;
use stubborn_testing::judged::{constraints, counts, fail, judge_fair};
use stubborn_testing::shelf::{Contents, Shelf};
use stubborn_testing::{assert_met, networks, run_cases, systems};

/// Who searches.
#[derive(Clone, Copy, Debug)]
enum Who {
    Processes(usize),
    Threads(usize),
}

const WHO: [Who; 4] = [Who::Processes(1), Who::Processes(3), Who::Threads(2), Who::Processes(2)];

/// What all of them say, and what was kept at which moments.
fn search<T: Send>(
    who: Who,
    contents: Contents,
    job: impl Fn(usize, &mut Budget<'_>) -> T + Sync,
) -> (Vec<T>, Vec<Contents>) {
    let shelf = Shelf::with(contents);
    let said = match who {
        Who::Processes(n) => together(n, |peers: &dyn Peers| {
            let place = shelf.place();
            let mut budget = Budget::unlimited().with_peers(Some(peers)).with_keeper(Some(&place));
            job(peers.me().index, &mut budget)
        }),
        Who::Threads(n) => {
            let (place, crew) = (shelf.place(), Crew(n));
            vec![job(0, &mut Budget::unlimited().with_team(&crew).with_keeper(Some(&place)))]
        }
    };
    (said, shelf.moments())
}

type States = (Vec<bool>, bool, Option<(u64, u64, u64, u64, Vec<bool>)>);

/// What must be the same: which goals are violated; and where everything was seen, how much that was.
fn of_states(explored: &Exploration) -> States {
    let stats = explored.stats;
    let figures = (stats.states, stats.transitions, stats.deadlocks, stats.depth, explored.taken.clone());
    let violated = explored.violations.iter().map(Option::is_some).collect();
    (violated, explored.stop.is_none(), explored.stop.is_none().then_some(figures))
}

fn check_states<S: Space<Whole = ActionSystem> + Sync>(
    space: &S,
    goals: &[Goal],
    n_moments: &Cell<usize>,
) -> Result<(), TestCaseError> {
    let explore = |who, contents| search(who, contents, |_, budget| parallel::bfs(space, goals, budget));
    let mut expected = None;
    for (index, who) in WHO.into_iter().enumerate() {
        let (said, moments) = explore(who, Contents::default());
        let expected = expected.get_or_insert_with(|| of_states(&said[0]));
        for explored in &said {
            prop_assert_eq!(&*expected, &of_states(explored), "{:?}", who);
        }
        for (moment, contents) in moments.into_iter().enumerate() {
            let next = WHO[(index + moment + 1) % WHO.len()];
            for explored in explore(next, contents).0 {
                prop_assert_eq!(&*expected, &of_states(&explored), "{:?}, then {:?}", who, next);
            }
            n_moments.set(n_moments.get() + 1);
        }
    }
    Ok(())
}

#[test]
fn searches_of_states_go_on_from_any_moment() {
    let n_moments = Cell::new(0);
    let check = |system: &ActionSystem| {
        let invariants = (0..system.propositions().len()).map(Goal::Invariant);
        let goals: Vec<Goal> = std::iter::once(Goal::Deadlock).chain(invariants).collect();
        check_states(system, &[], &n_moments)?;
        check_states(system, &goals, &n_moments)?;
        let reduced = Reduced::for_safety(system, &goals, &mut Budget::unlimited()).unwrap();
        check_states(&reduced, &goals, &n_moments)
    };
    run_cases(12, &networks::network(), |network| check(&load(&network.to_text()).system));
    run_cases(20, &systems::recipe_with_chains(), |recipe| {
        let system = recipe.build();
        let mut budget = Budget::unlimited();
        budget.max_states = 300;
        let is_small = parallel::bfs(&system, &[], &mut budget).stop.is_none();
        if is_small { check(&system) } else { Ok(()) }
    });
    assert_met!(n_moments.get() > 300, "{n_moments:?}");
}

#[test]
fn searches_of_products_go_on_from_any_moment() {
    let (n_moments, n_violated) = (Cell::new(0), Cell::new(0));
    let strategy = (networks::network(), any::<u64>(), 1..12u32, proptest::collection::vec(0..4u8, 5));
    run_cases(60, &strategy, |(network, seed, size, kinds)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        let fairness = match seed % 2 {
            0 => Vec::new(),
            _ => constraints(&case, &kinds[..network.processes.len()]),
        };
        let formula = case.formula;
        let claims: Vec<Mutex<Claim>> = (0..3).map(|_| Mutex::new(case.claim(formula))).collect();
        // Sets that are sorted, too: which states took more is kept.
        let (observer, reduction) = match (fairness.is_empty(), seed >> 1 & 3) {
            _ if claims[0].lock().unwrap().proof().is_none() => (ObserverKind::Tgba, None),
            (_, 0) => (ObserverKind::Tgba, None),
            (true, 1) => (ObserverKind::Tgta, Some(Hybrid)),
            (true, _) => (ObserverKind::Tgba, Some(Repaired)),
            (false, _) => (ObserverKind::Tgba, Some(Fair)),
        };
        let method = Method::new(observer, SearchKind::Scc, reduction);
        let settings = Settings { fairness: &fairness, together: true, ..Settings::default() };
        let decide = |who, contents| {
            search(who, contents, |index, budget| {
                claims[index].lock().unwrap().search(&case.system, method, &settings, budget)
            })
        };
        let judged = |decision: Decision| {
            let found = case.judge(formula, &decision.outcome).map_err(fail)?;
            if let (Some(evidence), false) = (decision.outcome.evidence(), fairness.is_empty()) {
                judge_fair(&case, evidence, &fairness)?;
            }
            Ok::<_, TestCaseError>((found, (!found).then(|| counts(&decision.outcome))))
        };
        let mut expected = None;
        for (index, who) in WHO.into_iter().enumerate() {
            let (said, moments) = decide(who, Contents::default());
            for decision in said {
                let said = judged(decision.map_err(fail)?)?;
                let expected = expected.get_or_insert(said);
                prop_assert_eq!(&*expected, &said, "{:?}", who);
            }
            for (moment, contents) in moments.into_iter().enumerate() {
                let next = WHO[(index + moment + 1) % WHO.len()];
                for decision in decide(next, contents).0 {
                    let said = judged(decision.map_err(fail)?)?;
                    prop_assert_eq!(expected, Some(said), "{:?}, then {:?}", who, next);
                }
                n_moments.set(n_moments.get() + 1);
            }
        }
        n_violated.set(n_violated.get() + u32::from(expected.is_some_and(|expected| expected.0)));
        Ok(())
    });
    assert_met!(n_moments.get() > 100 && n_violated.get() > 3, "{n_moments:?} {n_violated:?}");
}
