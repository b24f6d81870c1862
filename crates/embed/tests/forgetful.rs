//! States that are not kept are made again: the same numbers, verdicts and runs as if all were kept whole.

use std::hash::{Hash, Hasher};

use stubborn_embed::{Check, Interned, Model, Verdict};

/// Some digits, of which each may be turned on by one; a turn of the last carries nothing. Steps lead back to states of
/// long ago.
struct Digits {
    n: usize,
    base: u8,
    hashed: usize,
}

/// Digits, and how they are hashed: all of them, or hardly.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    digits: Vec<u8>,
    hashed: usize,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digits[..self.hashed].hash(state);
    }
}

impl Model for Digits {
    type State = State;
    type Action = usize;

    fn initial(&self) -> Vec<State> {
        vec![State { digits: vec![0; self.n], hashed: self.hashed }]
    }

    fn actions(&self, _: &State, out: &mut Vec<usize>) {
        out.extend(0..self.n);
    }

    fn step(&self, state: &mut State, &digit: &usize) {
        state.digits[digit] = (state.digits[digit] + 1) % self.base;
    }
}

#[test]
fn states_are_told_apart_by_what_they_are() {
    // With one digit of four in the hash, 125 states share each.
    for (hashed, threads) in [(4, 1), (4, 3), (1, 1), (0, 1)] {
        let model = Digits { n: 4, base: 5, hashed };
        let check = Check::new(&model).prop("small", |state| state.digits != [4, 4, 4, 3]);
        let (whole, few) = (check.clone().codec(Interned::default), check.forgetful());
        let few = if threads > 1 { few.together(threads) } else { few };
        let counts = |check: &Check<'_, Digits>| {
            check.count().map(|proof| (proof.states, proof.transitions, proof.depth)).ok()
        };
        assert_eq!(counts(&few), Some((625, 2_500, 16)));
        assert_eq!(counts(&few), counts(&whole));
        let Verdict::Violated(run) = few.always("small") else { panic!("there is such a state") };
        assert_eq!(run.steps.len(), 15);
        assert!(few.ltl("[] <> small").is_violated() == whole.ltl("[] <> small").is_violated());
        assert!(few.deadlock_free().holds());
    }
}

#[test]
fn little_is_held_where_there_are_many_states() {
    let model = Digits { n: 5, base: 10, hashed: 5 };
    let check = Check::new(&model);
    let bytes = |check: Check<'_, Digits>| check.count().expect("there is room").bytes;
    let (few, whole) = (bytes(check.clone().forgetful()), bytes(check.codec(Interned::default)));
    assert!(2 * few < whole, "{few} instead of {whole}");
}

/// The same, but a digit is never turned back: no step leads to a state whose steps were taken.
struct Ahead(Digits);

impl Model for Ahead {
    type State = State;
    type Action = usize;

    fn initial(&self) -> Vec<State> {
        self.0.initial()
    }

    fn actions(&self, state: &State, out: &mut Vec<usize>) {
        out.extend((0..self.0.n).filter(|&digit| state.digits[digit] + 1 < self.0.base));
    }

    fn step(&self, state: &mut State, digit: &usize) {
        self.0.step(state, digit);
    }
}

#[test]
fn states_may_be_given_away() {
    // Where the hash says little, states that were given away are compared all the same.
    for (hashed, threads) in [(4, 1), (4, 3), (1, 1), (0, 1)] {
        let model = Ahead(Digits { n: 4, base: 6, hashed });
        let check = Check::new(&model).prop("small", |state| state.digits != [5, 5, 5, 4]);
        let (whole, few) = (check.clone().codec(Interned::default), check.forgetful());
        let few = if threads > 1 { few.together(threads) } else { few };
        let counts = |check: &Check<'_, Ahead>| {
            check.count().map(|proof| (proof.states, proof.transitions, proof.deadlocks)).ok()
        };
        assert_eq!(counts(&few), Some((1_296, 4 * 5 * 216, 1)));
        assert_eq!(counts(&few), counts(&whole));
        let Verdict::Violated(run) = few.always("small") else { panic!("there is such a state") };
        assert_eq!(run.steps.len(), 19);
        assert!(few.ltl("<> !small").is_violated() && few.ltl("small U (!small || [] small)").holds());
    }
}

#[test]
fn a_hash_may_stand_for_a_state_if_it_says_enough() {
    for is_few in [false, true] {
        let (whole, part) = (Digits { n: 4, base: 5, hashed: 4 }, Digits { n: 4, base: 5, hashed: 1 });
        let by_hash = |model| {
            let check =
                Check::new(model).fingerprints().prop("small", |state: &State| state.digits != [4, 4, 4, 4]);
            if is_few { check.forgetful() } else { check }
        };
        let proof = by_hash(&whole).count().expect("all bits count");
        assert_eq!((proof.states, proof.transitions, proof.depth), (625, 2_500, 16));
        assert!(proof.missed.is_some_and(|missed| missed > 0.0 && missed < 1e-9), "{proof}");
        assert!(by_hash(&whole).always("small").is_violated());
        assert!(
            by_hash(&whole).ltl("[] <> small").is_violated()
                == Check::new(&whole)
                    .prop("small", |state| state.digits != [4, 4, 4, 4])
                    .ltl("[] <> small")
                    .is_violated()
        );
        let verdict = by_hash(&part).always("small");
        assert!(verdict.is_unknown(), "three digits are not in the hash: {verdict}");
        assert!(verdict.to_string().contains("`Hash`, which says less than `Eq`"), "{verdict}");
    }
}

/// Goes on for ever in one of many ways that never meet, one behind the other: long ways back.
struct Ways(u32);

impl Model for Ways {
    type State = Box<(u32, u32)>;
    type Action = u32;

    fn initial(&self) -> Vec<Box<(u32, u32)>> {
        vec![Box::new((0, 0))]
    }

    fn actions(&self, state: &Box<(u32, u32)>, out: &mut Vec<u32>) {
        match **state {
            (0, _) => out.extend(1..=self.0),
            (_, at) if at < 200 => out.push(0),
            _ => {}
        }
    }

    fn step(&self, state: &mut Box<(u32, u32)>, action: &u32) {
        if *action > 0 {
            state.0 = *action;
        }
        state.1 += 1;
    }
}

#[test]
fn ways_of_any_length_are_found_again() {
    let model = Ways(50);
    let check =
        Check::new(&model).forgetful().prop("end", |state| state.1 == 200).prop("odd", |state| state.0 == 33);
    assert_eq!(check.count().expect("there is room").states, 1 + 50 * 200);
    assert_eq!(check.reachable("end").run().map(|run| run.steps.len()), Some(200));
    assert!(
        check.ltl("<> end").holds()
            && check.ltl("<> (odd || end)").holds()
            && check.ltl("<> odd").is_violated()
    );
}
