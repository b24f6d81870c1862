//! Random tables as models in Rust: every method gives the answer of brute force about the same system, whichever way
//! states are kept, with fairness and without; the environment rests as if that were a step of its own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

use base::Budget;
use check::choice::Wish;
use check::fairness::Constraint;
use check::method::{FairnessBy, Method, ReductionWish, StoreKind};
use embed::{Check, Fair, Footprint, Model, Reason, Tester, Verdict};
use generators::random;
use model::ActionId;
use model::fairness::Interference;
use pack::{Pack, Reader, Writer};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::toys::{kind_of, searched};
use stubborn_testing::{assert_met, methods, networks, run_cases, systems, testers};

/// The state space of a case, as a table.
struct Table<'c> {
    case: &'c Case,
    /// Per action, who does it; all of one process if there are none.
    owners: Option<Vec<Option<usize>>>,
    /// Whether resting is an action.
    rests: bool,
    /// Per action, what interferes with it.
    interference: OnceLock<Vec<Vec<ActionId>>>,
}

/// A state, in a type that searches know nothing of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    at: usize,
    digits: String,
}

impl State {
    fn new(at: usize) -> State {
        State { at, digits: at.to_string() }
    }
}

impl Pack for State {
    const BITS: u32 = 40;
    type Tables = ();

    fn pack(&self, (): &(), out: &mut Writer<'_>) {
        out.put_long(self.at as u64, 40);
    }

    fn unpack((): &(), input: &mut Reader<'_>) -> State {
        State::new(input.take_long(40) as usize)
    }
}

impl Table<'_> {
    fn owner(&self, action: ActionId) -> Option<usize> {
        self.owners.as_ref().and_then(|owners| owners[self.case.system.first(action).index()])
    }

    fn is_up_to_environment(&self, at: usize) -> bool {
        let steps = self.case.transitions(at);
        !steps.is_empty() && steps.iter().all(|(action, _)| self.owner(*action).is_none())
    }
}

impl Model for Table<'_> {
    type State = State;
    type Action = Option<ActionId>;

    fn initial(&self) -> Vec<State> {
        (0..self.case.n_initial()).map(State::new).collect()
    }

    fn actions(&self, state: &State, out: &mut Vec<Option<ActionId>>) {
        out.extend(self.case.transitions(state.at).iter().map(|(action, _)| Some(*action)));
        out.extend((self.rests && self.is_up_to_environment(state.at)).then_some(None));
    }

    fn step(&self, state: &mut State, action: &Option<ActionId>) {
        let Some(action) = action else { return };
        let steps = self.case.transitions(state.at);
        let (_, to) = steps.iter().find(|(known, _)| known == action).expect("it can happen");
        *state = State::new(*to);
    }

    fn processes(&self) -> Vec<String> {
        let n =
            self.owners.as_ref().map_or(0, |owners| owners.iter().flatten().max().map_or(1, |max| max + 1));
        (0..n).map(|process| format!("P{process}")).chain(self.rests.then(|| "rest".to_owned())).collect()
    }

    fn process(&self, action: &Option<ActionId>) -> Option<usize> {
        match action {
            // Where resting is an action, nobody is the environment.
            _ if self.rests => {
                Some(action.and_then(|action| self.owner(action)).unwrap_or(self.processes().len() - 1))
            }
            action => action.and_then(|action| self.owner(action)),
        }
    }
}

/// What interferes with what: an action writes itself, and reads what interferes with it.
impl Footprint for Table<'_> {
    type Part = ActionId;

    fn touches(&self, action: &Option<ActionId>, reads: &mut Vec<ActionId>, writes: &mut Vec<ActionId>) {
        let Some(action) = action.map(|action| self.case.system.first(action)) else { return };
        let interference = self.interference.get_or_init(|| {
            let system = &self.case.system;
            let known = Interference::new(system, &mut Budget::unlimited()).expect("no limit");
            (0..system.actions().len()).map(|action| known.with(ActionId::new(action))).collect()
        });
        reads.extend_from_slice(&interference[action.index()]);
        writes.push(action);
    }

    fn reaches(&self, _: Option<usize>, reads: &mut Vec<ActionId>, writes: &mut Vec<ActionId>) {
        reads.extend((0..self.case.system.actions().len()).map(ActionId::new));
        writes.extend_from_slice(reads);
    }
}

/// How states are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Whole,
    Packed,
    /// They are made again.
    Hardly,
}

fn kept() -> impl Strategy<Value = Kept> {
    prop_oneof![Just(Kept::Whole), Just(Kept::Packed), Just(Kept::Hardly)]
}

impl<'c> Table<'c> {
    /// Each action has a process of its own, so that runs can be just to it.
    fn alone(case: &Case) -> Table<'_> {
        let owners = (0..case.system.actions().len()).map(Some).collect();
        Table { case, owners: Some(owners), rests: false, interference: OnceLock::new() }
    }

    fn check<'m>(&'m self, kinds: &[u8], kept: Kept) -> Check<'m, Table<'c>> {
        let mut check = Check::new(self);
        for (prop, _) in &self.case.propositions {
            let (name, case) = (self.case.formulas.text(*prop), self.case);
            check = check.prop(name, |state| case.valuation(state.at).holds(*prop));
        }
        for (process, kind) in kinds.iter().enumerate().filter(|(_, kind)| **kind > 0) {
            let system = &self.case.system;
            if *kind == 3 {
                for action in of_process(self.case, process) {
                    check = check.just_to(&format!("P{}", action.index()));
                }
                continue;
            }
            let fair = if *kind == 2 { Fair::Strong } else { Fair::Weak };
            check = check.fair(fair, &format!("fair {process}"), move |action| {
                action.is_some_and(|action| {
                    let owners = &system.actions()[system.first(action).index()].owners;
                    owners.iter().any(|owner| owner.index() == process)
                })
            });
        }
        match kept {
            Kept::Whole => check,
            Kept::Packed => check.packed(),
            Kept::Hardly => check.forgetful(),
        }
    }
}

fn wish(method: Method) -> Wish {
    let Method { observer, search, store, fairness_by, .. } = method;
    let (observer, search) = (Some(observer), Some(search));
    Wish { observer, search, reduction: ReductionWish::None, store, fairness_by, ..Wish::default() }
}

fn fail(text: impl std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(text.to_string())
}

fn of_process(case: &Case, process: usize) -> Vec<ActionId> {
    let actions = case.system.actions().iter().enumerate();
    let owned = actions.filter(|(_, action)| action.owners.iter().any(|owner| owner.index() == process));
    owned.map(|(index, _)| ActionId::new(index)).collect()
}

/// Fairness to some of the processes: per process none, weak, strong, or just.
fn constraints(case: &Case, kinds: &[u8]) -> Vec<Constraint> {
    let fair_to = kinds
        .iter()
        .enumerate()
        .filter_map(|(process, &kind)| Some((kind_of(kind)?, of_process(case, process))));
    let fair_to: Vec<_> = fair_to.filter(|(_, actions)| !actions.is_empty()).collect();
    searched(&case.system, &fair_to)
}

/// All methods, and the questions about states, agree with brute force.
/// What was found: how often formulas hold and are violated, and how often each method has said so, without fairness and
/// with.
#[derive(Default)]
struct Found {
    answers: [u32; 2],
    tried: HashMap<(Method, bool), u32>,
}

impl Found {
    /// Each method that leaves nothing out was tried, wherever it is sound.
    fn assert_each(&self) {
        let plain = |method: &Method| method.reduction.is_none() && method.fairness_by == FairnessBy::Search;
        for method in methods::all().into_iter().filter(plain) {
            let sound = [methods::is_sound(method), methods::is_sound_for_fair_runs(method)];
            for (is_fair, _) in [false, true].into_iter().zip(sound).filter(|(_, sound)| *sound) {
                let n = self.tried.get(&(method, is_fair)).copied().unwrap_or(0);
                assert_met!(n > 0, "{method:?} was never tried, fairly: {is_fair}");
            }
        }
    }
}

fn agree(case: &mut Case, kinds: &[u8], kept: Kept, found: &RefCell<Found>) -> Result<(), TestCaseError> {
    let constraints = constraints(case, kinds);
    let violated = case.is_violated_fairly(&constraints);
    let text = case.text();
    let table = if kinds.contains(&3) {
        Table::alone(case)
    } else {
        Table { case, owners: None, rests: false, interference: OnceLock::new() }
    };
    let check = table.check(kinds, kept);
    // Who packs states is alone: threads take time.
    let together = if kept == Kept::Packed { check.clone() } else { check.clone().together(2) };
    for check in [&check, &together, &check.clone().fingerprints()] {
        let count = check.count().map_err(fail)?;
        prop_assert_eq!(count.states as usize, case.n_states());
        prop_assert_eq!(check.deadlock_free().is_violated(), count.deadlocks > 0);
        for (prop, _) in &case.propositions {
            let name = case.formulas.text(*prop);
            let is_ever = |value| (0..case.n_states()).any(|at| case.valuation(at).holds(*prop) == value);
            prop_assert_eq!(check.always(name).holds(), !is_ever(false));
            prop_assert_eq!(check.never(name).holds(), !is_ever(true));
            prop_assert_eq!(check.reachable(name).run().is_some(), is_ever(true));
        }
    }
    let by_many = together.ltl(&text);
    prop_assert_eq!(
        (by_many.is_violated(), by_many.holds()),
        (violated, !violated),
        "{}: {}",
        &text,
        &by_many
    );
    if constraints.is_empty() {
        let hashed = check.clone().fingerprints().ltl(&text);
        let missed = hashed.proof().and_then(|proof| proof.missed);
        prop_assert_eq!(
            (hashed.is_violated(), hashed.holds()),
            (violated, !violated),
            "{}: {}",
            &text,
            &hashed
        );
        prop_assert!(violated || missed.is_some_and(|missed| missed < 1e-9), "its probability is told");
    }
    found.borrow_mut().answers[usize::from(violated)] += 1;
    let by_default = check.ltl(&text);
    prop_assert_eq!(by_default.is_violated(), violated, "{} by default: {}", &text, &by_default);
    prop_assert_eq!(by_default.holds(), !violated);
    for method in methods::all().into_iter().filter(|method| method.reduction.is_none()) {
        let sound = match constraints.is_empty() {
            true => methods::is_sound(method) && method.fairness_by == FairnessBy::Search,
            false => methods::is_sound_for_fair_runs(method),
        };
        let verdict = check.clone().by_method(wish(method)).ltl(&text);
        match verdict {
            Verdict::Unknown(Reason::Refused(_)) => continue,
            _ if !sound => continue,
            Verdict::Unknown(Reason::NotAllSeen(_)) if method.store != StoreKind::Exact && !violated => {}
            Verdict::Holds(_) if !violated => {}
            Verdict::Violated(_) if violated => {}
            verdict => return Err(fail(format!("{method:?}, {text}: {verdict}"))),
        }
        *found.borrow_mut().tried.entry((method, !constraints.is_empty())).or_default() += 1;
    }
    Ok(())
}

#[test]
fn tables_in_rust_agree_with_brute_force() {
    let found = RefCell::<Found>::default();
    let strategy = (networks::network(), any::<u64>(), 1..12u32, vec(0..4u8, 5), kept());
    run_cases(100, &strategy, |(network, seed, size, kinds, kept)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(mut case) = Case::of_network(&network, draw) else { return Ok(()) };
        agree(&mut case, &kinds[..network.processes.len()], kept, &found)
            .map_err(|error| fail(format!("{error} on\n{}", network.to_text())))
    });
    let [holds, violated] = found.borrow().answers;
    assert_met!(holds > 10 && violated > 10, "{holds} hold, {violated} are violated");
    found.borrow().assert_each();
}

#[test]
fn tables_with_data_agree_with_brute_force() {
    let found = RefCell::<Found>::default();
    let strategy = (systems::recipe_with_chains(), any::<u64>(), 1..12u32, vec(0..4u8, 3), kept());
    run_cases(300, &strategy, |(recipe, seed, size, kinds, kept)| {
        match Case::of_recipe(&recipe, Draw { seed, size, operators: random::ALL }) {
            Some(mut case) => agree(&mut case, &kinds, kept, &found),
            None => Ok(()),
        }
    });
    let [holds, violated] = found.borrow().answers;
    assert_met!(holds > 30 && violated > 30, "{holds} hold, {violated} are violated");
}

/// Testers, by one worker and by several, with and without reduction of what they are made of.
#[test]
fn testers_of_tables_say_what_the_definitions_say() {
    let counts = RefCell::new([0u32; 2]);
    run_cases(500, &(networks::network(), testers::recipe()), |(network, recipe)| {
        let draw = Draw { seed: 0, size: 1, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let (explicit, labels) = (recipe.tester(&network), recipe.labels(&network));
        let is_illegal = testers::conditions(&network.explore(), &explicit, &labels).contains(&true);
        let mut tester = Tester::new(&explicit.states[explicit.initial as usize].name);
        for letter in &explicit.letters {
            tester = tester.watching(letter);
        }
        for edge in &explicit.edges {
            let [from, to] = [edge.from, edge.to].map(|state| &explicit.states[state as usize].name);
            tester = match edge.letter {
                Some(letter) => tester.on(from, &explicit.letters[letter as usize], to),
                None => tester.by_itself(from, to),
            };
        }
        for state in &explicit.states {
            if state.reject {
                tester = tester.reject(&state.name);
            }
            if state.deadlock {
                tester = tester.deadlock(&state.name);
            }
            if state.livelock {
                tester = tester.livelock(&state.name);
            }
            if state.infinite {
                tester = tester.infinite(&state.name);
            }
        }
        let system = &case.system;
        let label = |action: &Option<ActionId>| {
            let label = &system.labels()[system.actions()[system.first((*action)?).index()].label.index()];
            (!label.internal).then(|| label.name.clone())
        };
        let table = Table { case: &case, owners: None, rests: false, interference: OnceLock::new() };
        for check in [Check::new(&table), Check::new(&table).together(2), Check::new(&table).fingerprints()] {
            let verdict = check.tester(&tester, label);
            prop_assert_eq!(verdict.is_violated(), is_illegal, "{} on\n{}", verdict, network.to_text());
            prop_assert_eq!(verdict.holds(), !is_illegal, "{} on\n{}", verdict, network.to_text());
        }
        counts.borrow_mut()[usize::from(is_illegal)] += 1;
        Ok(())
    });
    let [legal, illegal] = *counts.borrow();
    assert_met!(legal > 50 && illegal > 50, "{counts:?}");
}

/// An environment that may rest is one that has a step which changes nothing, where nobody else can do anything.
#[test]
fn the_environment_rests_as_if_that_were_a_step() {
    let counts = RefCell::new([0u32; 3]);
    let strategy = (networks::network(), any::<u64>(), 1..10u32, vec(0..3u8, 5), vec(0..4usize, 40));
    run_cases(400, &strategy, |(network, seed, size, kinds, owners)| {
        let draw = Draw { seed, size, operators: random::ALL };
        let Some(case) = Case::of_network(&network, draw) else { return Ok(()) };
        let owner = |action: usize| owners[action % owners.len()].checked_sub(2);
        let owners: Vec<Option<usize>> = (0..case.system.actions().len()).map(owner).collect();
        let text = case.text();
        let kinds = &kinds[..network.processes.len()];
        let verdict = |rests| {
            let table =
                Table { case: &case, owners: Some(owners.clone()), rests, interference: OnceLock::new() };
            let verdict = table.check(kinds, Kept::Hardly).ltl(&text);
            let rested = verdict
                .counterexample()
                .is_some_and(|run| run.steps.iter().any(|step| step.action.is_none()));
            (verdict.holds(), verdict.is_violated(), rested, verdict.to_string())
        };
        let (resting, explicit) = (verdict(false), verdict(true));
        prop_assert!(resting.0 || resting.1, "{}", resting.3);
        prop_assert_eq!(
            (resting.0, resting.1),
            (explicit.0, explicit.1),
            "{}\n{}\n{}",
            text,
            resting.3,
            explicit.3
        );
        counts.borrow_mut()[usize::from(resting.1)] += 1;
        counts.borrow_mut()[2] += u32::from(resting.2);
        Ok(())
    });
    let [holds, violated, rested] = *counts.borrow();
    assert_met!(holds > 50 && violated > 50 && rested > 2, "{counts:?}");
}
