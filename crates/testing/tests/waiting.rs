//! Certificates in which steps wait: whatever holds is certified by fewer states, and no list that leaves out too much is
//! believed, whoever wrote it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Budget;
use certify::waits::Waits;
use certify::{Certified, Claim, Claimed, Ends, Proof, Refusal, StateReader, Wait, What};
use check::product::AtDeadlock;
use generators::random;
use model::{ActionId, ActionSystem, ExprId, StepError, Steps, System, reference};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use stubborn::certificate::{Failed, StateWriter, prove, words};
use stubborn::{Clock, Limits, Options, Question, Session, Verdict};
use stubborn_testing::claims::{Case, Draw};
use stubborn_testing::{assert_met, naive, networks, run_cases, systems};

/// A system and what may be looked at in it.
fn system() -> impl Strategy<Value = ActionSystem> {
    let of_network = |network: networks::Network| {
        let draw = Draw { seed: 0, size: 1, operators: random::NEXT_FREE };
        let case = Case::of_network(&network, draw)?;
        let mut system = case.system;
        case.propositions.iter().for_each(|(_, expr)| _ = system.add_proposition("", *expr));
        Some(system)
    };
    let recipes = prop_oneof![systems::recipe(true), systems::recipe(false), systems::recipe_with_chains()];
    prop_oneof![
        networks::network().prop_filter_map("too large", of_network),
        recipes.prop_map(|recipe| recipe.build())
    ]
}

/// What is claimed of states, and whether it is true; nothing if there are too many.
fn claims(system: &ActionSystem) -> Option<Vec<(What<'static>, bool)>> {
    let Ok(space) = naive::explore(system, 300) else {
        let exprs = system.propositions().iter().map(|known| What::Invariant(known.expr));
        return Some(exprs.chain([What::DeadlockFree, What::FaultFree]).map(|what| (what, false)).collect());
    };
    let space = space?;
    let is_true = |expr: ExprId| {
        let mut values = space.states.iter().map(|state| reference::value(system, expr, state));
        values.all(|value| value.is_ok_and(|value| value != 0))
    };
    let invariants =
        system.propositions().iter().map(|known| (What::Invariant(known.expr), is_true(known.expr)));
    Some(invariants.chain([(What::DeadlockFree, space.deadlocks == 0), (What::FaultFree, true)]).collect())
}

fn claim<'c>(system: &'c ActionSystem, what: &What<'_>) -> Claim<'c> {
    let what = match what {
        What::Invariant(expr) => What::Invariant(*expr),
        What::DeadlockFree => What::DeadlockFree,
        _ => What::FaultFree,
    };
    Claim { system, what, ends: Ends::Stutter, constraints: &[] }
}

fn judged(claim: Claim<'_>, proof: &Proof) -> Result<Certified, Refusal> {
    certify::check(claim, proof, &mut Budget::unlimited())
}

fn wish(waits: bool) -> Proof {
    Proof { waits, ..words(Claimed::Declared(String::new())) }
}

/// Of all that holds of states there is a proof in which steps wait, if any can; of nothing else.
#[test]
fn what_holds_of_states_is_certified_by_fewer() {
    let counts: RefCell<[u64; 4]> = RefCell::default();
    run_cases(3000, &system(), |system| {
        for (what, is_true) in claims(&system).unwrap_or_default() {
            let proved =
                |waits: bool| prove(&system, claim(&system, &what), wish(waits), &mut Budget::unlimited());
            let (all, fewer) = (proved(false), proved(true));
            prop_assert_eq!(all.is_ok(), is_true);
            prop_assert_eq!(fewer.is_ok(), is_true, "{:?}", fewer.as_ref().err());
            if let (Ok(all), Ok(fewer)) = (all, fewer) {
                let judged = judged(claim(&system, &what), &fewer);
                prop_assert!(judged.is_ok(), "{:?}", judged);
                prop_assert!(fewer.states <= all.states);
                let mut counts = counts.borrow_mut();
                counts[0] += 1;
                counts[1] += u64::from(fewer.waits);
                counts[2] += u64::from(fewer.states < all.states);
            } else {
                counts.borrow_mut()[3] += 1;
            }
        }
        Ok(())
    });
    let [proved, waits, fewer, refuted] = *counts.borrow();
    assert_met!(proved > 3000 && waits > 500 && fewer > 300 && refuted > 3000, "{:?}", counts.borrow());
}

#[test]
fn what_holds_of_runs_is_certified_by_fewer() {
    let counts: RefCell<[u64; 4]> = RefCell::default();
    let recipes = prop_oneof![systems::recipe(true), systems::recipe_with_chains()];
    let strategy = (networks::network(), recipes, any::<bool>(), any::<u64>(), 1..12u32);
    run_cases(3000, &strategy, |(network, recipe, of_network, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let case = if of_network { Case::of_network(&network, draw) } else { Case::of_recipe(&recipe, draw) };
        let Some(mut case) = case else { return Ok(()) };
        for (ends, at_deadlock) in [(Ends::Stutter, AtDeadlock::Stutter), (Ends::Ignore, AtDeadlock::Ignore)]
        {
            let violated = case.is_violated_naively(at_deadlock);
            let system = case.system.clone();
            let mut proved = |waits: bool| {
                prove(&system, of_formula(&mut case, ends), wish(waits), &mut Budget::unlimited())
            };
            let (all, fewer) = (proved(false), proved(true));
            prop_assert_eq!(fewer.is_err(), violated, "{}", case.text());
            if let (Ok(all), Ok(fewer)) = (all, fewer) {
                let judged = judged(of_formula(&mut case, ends), &fewer);
                prop_assert!(judged.is_ok(), "{}: {:?}", case.text(), judged);
                let mut counts = counts.borrow_mut();
                counts[0] += 1;
                counts[1] += u64::from(fewer.waits);
                counts[2] += u64::from(fewer.states < all.states);
            } else {
                counts.borrow_mut()[3] += 1;
            }
        }
        Ok(())
    });
    let [proved, waits, fewer, refuted] = *counts.borrow();
    assert_met!(proved > 2000 && waits > 300 && fewer > 20 && refuted > 500, "{:?}", counts.borrow());
}

fn of_formula(case: &mut Case, ends: Ends) -> Claim<'_> {
    let Case { formulas, formula, propositions, system, .. } = case;
    Claim {
        system,
        what: What::Formula { formulas, formula: *formula, propositions },
        ends,
        constraints: &[],
    }
}

/// Who follows in each state the steps of the set that grows from any action at all, or all steps.
struct Reckless<'s> {
    system: &'s ActionSystem,
    sets: Mutex<Waits<'s>>,
    seed: u64,
    /// In so many of four states, all steps are followed.
    full: u32,
    left_out: AtomicBool,
}

impl<'s> Reckless<'s> {
    fn new(system: &'s ActionSystem, seed: u64, full: u32) -> Reckless<'s> {
        let sets = Waits::new(system, &[], &mut Budget::unlimited()).expect("no limit");
        Reckless { system, sets: Mutex::new(sets), seed, full, left_out: AtomicBool::new(false) }
    }

    /// The action that is named in a state, counted from 1, or 0.
    fn from(&self, values: &[i64]) -> u32 {
        let seed = values.iter().fold(self.seed, |seed, &value| {
            (seed ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        let mut draw = random::seeded(seed);
        if draw(4) < self.full { 0 } else { draw(self.system.actions().len() as u32) + 1 }
    }

    /// Where the steps lead that are followed.
    fn followed(&self, values: &[i64]) -> Vec<(ActionId, Vec<i64>)> {
        let mut all = reference::successors(self.system, values).unwrap_or_default();
        let from = self.from(values);
        if from > 0 {
            let mut sets = self.sets.lock().expect("nobody panics");
            let first = |(step, _): &(ActionId, Vec<i64>)| self.system.first(*step);
            sets.enable(all.iter().map(first));
            sets.grow(ActionId::new(from as usize - 1), values);
            let n = all.len();
            all.retain(|step| sets.has(first(step)));
            self.left_out.fetch_or(all.len() < n, Ordering::Relaxed);
        }
        all
    }

    /// A proof of what it found, which says what waits, and how high states are as well as that can be said.
    fn confess(&self, proof: &Proof, is_of_runs: bool) -> Proof {
        let mut reader = StateReader::new(proof);
        let mut list = Vec::new();
        for _ in 0..proof.states {
            reader.advance().expect("a state");
            list.push((reader.values.clone(), reader.pairs.clone()));
        }
        let mut heights: HashMap<Vec<i64>, Option<u32>> =
            list.iter().map(|(values, _)| (values.clone(), (self.from(values) == 0).then_some(0))).collect();
        for _ in 0..=list.len() {
            for (values, _) in list.iter().filter(|(values, _)| self.from(values) > 0) {
                let followed = self.followed(values);
                let mut there = followed.iter().map(|(_, target)| heights.get(target).copied().flatten());
                let height = match is_of_runs {
                    true => there.try_fold(0, |most, height| Some(most.max(height?))),
                    false => there.flatten().min(),
                };
                heights.insert(values.clone(), height.map(|height| height + 1));
            }
        }
        let mut proof = Proof { waits: true, ..proof.clone() };
        let mut writer = StateWriter::new(&proof);
        for (values, pairs) in &list {
            let height = heights[values].unwrap_or(list.len() as u32);
            writer.put(values, Wait { from: self.from(values), height }, pairs);
        }
        writer.fill(&mut proof);
        proof
    }
}

impl System for Reckless<'_> {
    type Scratch = <ActionSystem as System>::Scratch;

    fn new_scratch(&self) -> Self::Scratch {
        self.system.new_scratch()
    }

    fn width(&self) -> usize {
        self.system.width()
    }

    fn initial_states(&self, out: &mut Vec<u32>) {
        self.system.initial_states(out);
    }

    fn successors(&self, state: &[u32], _: &mut Self::Scratch, out: &mut Steps) -> Result<(), StepError> {
        let layout = self.system.layout();
        for (step, target) in self.followed(&layout.decode(state)) {
            let packed = out.push(step, state);
            for (field, &value) in layout.fields().iter().zip(&target) {
                field.set_raw(packed, field.encode(value).expect("a value of its variable"));
            }
        }
        Ok(())
    }

    fn enabled(
        &self,
        state: &[u32],
        scratch: &mut Self::Scratch,
        out: &mut Vec<ActionId>,
    ) -> Result<(), StepError> {
        self.system.enabled(state, scratch, out)
    }

    fn fire(
        &self,
        state: &mut [u32],
        action: ActionId,
        scratch: &mut Self::Scratch,
    ) -> Result<(), StepError> {
        self.system.fire(state, action, scratch)
    }

    fn n_propositions(&self) -> usize {
        self.system.n_propositions()
    }

    fn holds(
        &self,
        proposition: usize,
        state: &[u32],
        scratch: &mut Self::Scratch,
    ) -> Result<bool, StepError> {
        self.system.holds(proposition, state, scratch)
    }
}

/// Counts what the checker says of lists that leave something out.
fn count(
    counts: &RefCell<[u64; 3]>,
    judged: &Result<Certified, Refusal>,
    is_true: bool,
) -> Result<(), TestCaseError> {
    prop_assert!(judged.is_err() || is_true, "certified, but wrong: {:?}", judged);
    let kind = match (judged, is_true) {
        (Ok(_), _) => 0,
        (Err(_), true) => 1,
        (Err(_), false) => 2,
    };
    counts.borrow_mut()[kind] += 1;
    Ok(())
}

/// Whatever sets are taken, the checker believes only what is true; and it believes something.
#[test]
fn no_list_of_states_leaves_out_too_much() {
    let counts: RefCell<[u64; 3]> = RefCell::default();
    run_cases(3000, &(system(), any::<u64>()), |(system, seed)| {
        for (what, is_true) in claims(&system).unwrap_or_default() {
            let reckless = Reckless::new(&system, seed, 1);
            let proof = prove(&reckless, claim(&system, &what), wish(false), &mut Budget::unlimited());
            if let Some(proof) = proof.ok().filter(|_| reckless.left_out.load(Ordering::Relaxed)) {
                let proof = reckless.confess(&proof, false);
                count(&counts, &judged(claim(&system, &what), &proof), is_true)?;
            }
        }
        Ok(())
    });
    let [certified, right, wrong] = *counts.borrow();
    assert_met!(certified > 100 && right > 300 && wrong > 100, "{certified} {right} {wrong}");
}

#[test]
fn no_list_of_runs_leaves_out_too_much() {
    let counts: RefCell<[u64; 3]> = RefCell::default();
    let recipes = prop_oneof![systems::recipe(true), systems::recipe_with_chains()];
    let strategy = (networks::network(), recipes, any::<bool>(), any::<u64>(), 1..12u32);
    run_cases(4000, &strategy, |(network, recipe, of_network, seed, size)| {
        let draw = Draw { seed, size, operators: random::NEXT_FREE };
        let case = if of_network { Case::of_network(&network, draw) } else { Case::of_recipe(&recipe, draw) };
        let Some(mut case) = case else { return Ok(()) };
        for (ends, at_deadlock) in [(Ends::Stutter, AtDeadlock::Stutter), (Ends::Ignore, AtDeadlock::Ignore)]
        {
            let is_true = !case.is_violated_naively(at_deadlock);
            let system = case.system.clone();
            let reckless = Reckless::new(&system, seed, 2);
            let proof = prove(&reckless, of_formula(&mut case, ends), wish(false), &mut Budget::unlimited());
            if let Some(proof) = proof.ok().filter(|_| reckless.left_out.load(Ordering::Relaxed)) {
                let proof = reckless.confess(&proof, true);
                count(&counts, &judged(of_formula(&mut case, ends), &proof), is_true)?;
            }
        }
        Ok(())
    });
    let [certified, right, wrong] = *counts.borrow();
    assert_met!(certified > 3 && right > 100 && wrong > 20, "{certified} {right} {wrong}");
}

/// What the checker asks of a list that leaves something out, one by one.
#[test]
fn what_a_list_must_not_do() {
    use model::{Action, Builder, Guard, Stmt, Variable};
    // One goes round, the other one goes on once, and what it does is looked at.
    let mut builder = Builder::new();
    let (round, once) =
        (builder.variable(Variable::new("round", 0, 1)), builder.variable(Variable::new("once", 0, 1)));
    let label = builder.label("step");
    let mut action = |var, from, to| {
        let guards = vec![builder.guard(Guard::equals(var, from))];
        builder.action(Action { label, guards, effect: vec![Stmt::set(var, to)], owners: vec![] })
    };
    let (forth, back, goes) = (action(round, 0, 1), action(round, 1, 0), action(once, 0, 1));
    builder.initial(&[0, 0]);
    let mut system = builder.finish().expect("a good system");
    let is_0 = system.exprs.var(once);
    let is_0 = system.exprs.unary(model::UnaryOp::Not, is_0);
    let is_any = system.exprs.int(1);
    let proof = |list: &[([i64; 2], u32, u32)]| {
        let mut proof = Proof { variables: 2, ..wish(true) };
        let mut writer = StateWriter::new(&proof);
        // As they are packed: the first variable has the lowest bit.
        let mut list = list.to_vec();
        list.sort_unstable_by_key(|([round, once], ..)| (*once, *round));
        for (values, from, height) in &list {
            writer.put(values, Wait { from: *from, height: *height }, &[]);
        }
        writer.fill(&mut proof);
        proof
    };
    let says = |what: What<'_>, list: &[([i64; 2], u32, u32)]| match judged(
        Claim { system: &system, what, ends: Ends::Stutter, constraints: &[] },
        &proof(list),
    ) {
        Ok(_) => "certified".to_owned(),
        Err(why) => why.to_string(),
    };
    let (forth, back, goes) = (forth.index() as u32 + 1, back.index() as u32 + 1, goes.index() as u32 + 1);
    let rest = [([1, 1], 0, 0), ([0, 1], 0, 0)];
    let with = |first: &[([i64; 2], u32, u32)]| [first, &rest].concat();
    assert_eq!(says(What::Invariant(is_any), &with(&[([0, 0], forth, 1), ([1, 0], 0, 0)])), "certified");
    assert_eq!(says(What::DeadlockFree, &with(&[([0, 0], goes, 1)])), "certified");
    assert_eq!(
        says(What::Invariant(is_0), &[([0, 0], forth, 1), ([1, 0], back, 1)]),
        "steps may wait for ever"
    );
    assert_eq!(
        says(What::Invariant(is_0), &[([0, 0], forth, 1), ([1, 0], back, 2)]),
        "steps may wait for ever"
    );
    assert_eq!(
        says(What::Invariant(is_0), &with(&[([0, 0], goes, 1)])),
        "steps wait for one that changes what is looked at"
    );
    assert_eq!(says(What::Invariant(is_any), &with(&[([0, 0], forth, 1)])), "a successor is missing");
    assert_eq!(
        says(What::DeadlockFree, &with(&[([0, 0], 9, 1)])),
        "a state names an action that there is not"
    );
    assert_eq!(
        says(What::Invariant(is_any), &[([0, 0], 0, 0), ([1, 0], 0, 0), ([1, 1], 0, 0), ([0, 1], goes, 1)]),
        "all steps of a state wait"
    );
    let judged = prove(&system, claim(&system, &What::DeadlockFree), wish(true), &mut Budget::unlimited());
    assert!(judged.is_ok_and(|proof| proof.waits));
    let violated =
        prove(&system, claim(&system, &What::Invariant(is_0)), wish(true), &mut Budget::unlimited());
    assert!(matches!(violated, Err(Failed::Unfit(_))), "it is not observed");
}

/// Without steps that wait there would be 4^40 states; where they must not wait, there are too many.
#[test]
fn a_model_that_is_too_large_otherwise_is_certified() {
    let model =
        "process Counter[i in 0..40] { at[k in 0..4]: step[i, k] -> at[(k + 1) % 4]; } deadlock-free;";
    let seen = Question::ltl("[] (Counter[0]@at[0] -> !Counter[0]@at[1])");
    let vacuous = Question::ltl("[] <> Counter[0]@at[0] || <> [] !Counter[0]@at[0]");
    let limits = || Limits::default().states(5000);
    let clock = Clock::start(&limits());
    let told = |question: Question, fair: &[&str]| {
        let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
        let options = Options { certificates: true, fair, limits: limits(), ..Options::default() };
        let mut session = Session::of_text("process", model).expect("a good model");
        let report = session.check(&[question], &options).expect("a good question");
        let result = &report.results[0];
        assert_eq!(result.verdict, Verdict::Holds);
        let states = result.certificate.as_ref().map(|proof| {
            let certified = session.certify(proof, &clock);
            certified.unwrap_or_else(|why| panic!("{proof}: {why}")).states
        });
        (states, report::Remark::join(&result.remarks).unwrap_or_default())
    };
    let (states, remarks) = told(Question::Declared, &[]);
    assert!(states.is_some(), "{remarks}");
    assert!(remarks.contains("searched again by sets that can be checked"), "{remarks}");
    let (states, remarks) = told(seen, &[]);
    assert!(states.is_some(), "{remarks}");
    let (states, remarks) = told(vacuous, &["weak"]);
    assert_eq!((states, remarks.contains("not certified: limit of 5000 states")), (None, true), "{remarks}");
}

/// An invariant that looks at everything lets nothing wait; a claim beside it has a list of its own then.
#[test]
fn a_claim_that_can_do_with_fewer_states_has_its_own_list() {
    let model = "process Counter[i in 0..6] { at[k in 0..4]: step[i, k] -> at[(k + 1) % 4]; } deadlock-free;
        invariant all = (count i in 0..6: Counter[i]@at[0]) + (count i in 0..6: !Counter[i]@at[0]) == 6;";
    let options = Options { certificates: true, ..Options::default() };
    let mut session = Session::of_text("process", model).expect("a good model");
    let report = session.check(&[Question::Declared], &options).expect("a good question");
    let clock = Clock::start(&Limits::default());
    let mut states = |result: &report::PropertyResult| {
        let proof = result.certificate.as_ref().expect("it holds");
        session.certify(proof, &clock).unwrap_or_else(|why| panic!("{proof}: {why}")).states
    };
    let states: Vec<u64> = report.results.iter().map(&mut states).collect();
    let [first, second] = states[..] else { panic!("two certificates: {states:?}") };
    assert!(first < 200 && second == 4096, "{states:?}");
}
