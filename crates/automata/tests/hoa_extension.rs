//! TA, TGTA and extended automata as texts: what is written is read back exactly, what is written by hand
//! means what the documentation says, and bad input is refused with a place.

mod common;

use base::Budget;
use common::{
    SOURCE, assert_refused, config, formula, hoa_error, mutations, read_one, repeated, shown, tape, words,
};
use generators::random;
use ltl::{Formulas, Prop, satisfies};
use proptest::prelude::*;
use stubborn_automata::by_change::{
    Acceptance, Limits, PropSet, Step, Ta, Tgta, ta_accepts, ta_accepts_finite, tgta_accepts, to_ta,
    translate_ta,
};
use stubborn_automata::extended::{Extended, ExtendedState};
use stubborn_automata::{AnyAutomaton, Effort, Marks, State, accepts, hoa, translate};

fn read_ta(formulas: &mut Formulas, text: &str) -> Ta {
    let AnyAutomaton::Ta(ta) = read_one(formulas, text) else { panic!("not a TA: {text}") };
    ta
}

fn read_tgta(formulas: &mut Formulas, text: &str) -> Tgta {
    let AnyAutomaton::Tgta(tgta) = read_one(formulas, text) else { panic!("not a TGTA: {text}") };
    tgta
}

fn read_extended(formulas: &mut Formulas, text: &str) -> Extended {
    let AnyAutomaton::Extended(extended) = read_one(formulas, text) else { panic!("not extended: {text}") };
    extended
}

/// Pairs of valuations and states, some of which are there.
fn random_initial(
    n_propositions: usize,
    n_states: usize,
    draw: &mut impl FnMut(u32) -> u32,
) -> Vec<(PropSet, State)> {
    let mut initial = vec![];
    for valuation in 0..1u32 << n_propositions {
        initial.extend(
            (0..n_states).filter(|_| draw(3) == 1).map(|state| (PropSet(valuation), State::new(state))),
        );
    }
    initial
}

/// Steps that flip something.
fn random_steps(
    n_propositions: usize,
    n_states: usize,
    n_marks: u32,
    draw: &mut impl FnMut(u32) -> u32,
) -> Vec<Vec<Step>> {
    let step = |change, target, marks| Step { change, target, marks };
    let mut steps = vec![vec![]; n_states];
    for steps in &mut steps {
        for change in 1..1u32 << n_propositions {
            for _ in 0..draw(3) {
                let target = State::new(draw(n_states as u32) as usize);
                steps.push(step(PropSet(change), target, Marks(u64::from(draw(1 << n_marks)))));
            }
        }
    }
    steps
}

fn random_ta(propositions: &[Prop], n_states: usize, draw: &mut impl FnMut(u32) -> u32) -> Ta {
    let initial = random_initial(propositions.len(), n_states, draw);
    let steps = random_steps(propositions.len(), n_states, 0, draw);
    let like_stuttering = draw(2) == 0;
    let mut acceptance = || {
        let (buchi, livelock, finite) = (draw(3) == 1, draw(3) == 1, draw(6) == 1);
        let deadlock = if like_stuttering { livelock } else { draw(3) == 1 };
        Acceptance { buchi, livelock, finite, deadlock }
    };
    let acceptance = (0..n_states).map(|_| acceptance()).collect();
    Ta::new(propositions.to_vec(), initial, steps, acceptance)
}

fn random_tgta(propositions: &[Prop], n_states: usize, draw: &mut impl FnMut(u32) -> u32) -> Tgta {
    let n_marks = 1 + draw(2);
    let initial = random_initial(propositions.len(), n_states, draw);
    let mut steps = random_steps(propositions.len(), n_states, n_marks, draw);
    for (state, steps) in steps.iter_mut().enumerate() {
        let marks = if draw(3) == 1 { Marks::all(n_marks) } else { Marks::NONE };
        steps.push(Step { change: PropSet::EMPTY, target: State::new(state), marks });
    }
    Tgta::new(propositions.to_vec(), initial, steps, n_marks)
}

fn random_extended(propositions: &[Prop], n_states: usize, draw: &mut impl FnMut(u32) -> u32) -> Extended {
    let mut state = || {
        let valuation = PropSet(draw(1 << propositions.len())).valuation(propositions);
        // In any order.
        let first = draw(n_states as u32) as usize;
        let successors =
            (0..n_states).map(|next| (first + next) % n_states).filter(|_| draw(3) == 1).collect();
        let (initial, infinite, finite, deadlock) = (draw(2) == 1, draw(3) == 1, draw(6) == 1, draw(3) == 1);
        ExtendedState { valuation, successors, initial, infinite, finite, deadlock }
    };
    let states = (0..n_states).map(|_| state()).collect();
    Extended { propositions: propositions.to_vec(), states }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn what_is_written_is_read_back_exactly(
        seed in any::<u64>(), n_propositions in 0usize..4, n_states in 0usize..6,
    ) {
        let mut formulas = Formulas::new();
        // In another pool propositions have other numbers.
        let mut other = Formulas::new();
        other.proposition("p2");
        let propositions = random::propositions(&mut formulas, n_propositions);
        let mut draw = random::seeded(seed);
        let automata = [
            AnyAutomaton::Ta(random_ta(&propositions, n_states, &mut draw)),
            AnyAutomaton::Tgta(random_tgta(&propositions, n_states, &mut draw)),
            AnyAutomaton::Extended(random_extended(&propositions, n_states, &mut draw)),
        ];
        for expected in automata {
            let text = hoa::write_any(&expected, &formulas, Some("a \"name\"")).to_string();
            let expected = format!("{expected:?}");
            prop_assert_eq!(format!("{:?}", read_one(&mut formulas, &text)), &*expected, "{}", text);
            let elsewhere = read_one(&mut other, &text);
            let text = hoa::write_any(&elsewhere, &other, None).to_string();
            prop_assert_eq!(format!("{:?}", read_one(&mut formulas, &text)), expected, "{}", text);
        }
    }

    /// Automata that somebody wrote are not like those that come from formulas: deadlock states are anywhere.
    #[test]
    fn reductions_and_conversions_keep_what_was_written(
        seed in any::<u64>(), n_propositions in 1usize..3, n_states in 1usize..6,
    ) {
        let budget = &mut Budget::unlimited();
        let mut formulas = Formulas::new();
        let propositions = random::propositions(&mut formulas, n_propositions);
        let mut draw = random::seeded(seed);
        let ta = random_ta(&propositions, n_states, &mut draw);
        let tgta = random_tgta(&propositions, n_states, &mut draw);
        let (ta_values, tgta_values) = (ta.to_tgba(budget).unwrap(), tgta.to_tgba(budget).unwrap());
        let smaller = [
            ta.clone().trim(budget).unwrap(),
            ta.clone().merge_bisimilar(budget).unwrap(),
            ta.clone().extract_finite(budget).unwrap(),
            ta.clone().reduce(budget).unwrap(),
            ta.clone().reduce(budget).unwrap().extract_finite(budget).unwrap().reduce(budget).unwrap(),
        ];
        let smaller_tgta = [tgta.clone().trim(budget).unwrap(), tgta.clone().merge_bisimilar(budget).unwrap(), tgta.clone().reduce(budget).unwrap()];
        for word in words(&propositions, 24, 7) {
            let expected = ta_accepts(&ta, &word, budget).unwrap();
            prop_assert_eq!(accepts(&ta_values, &word, budget).unwrap(), expected);
            let finite = word.positions();
            let expected_finite = ta_accepts_finite(&ta, finite, budget).unwrap();
            if ta.accepts_deadlocks_like_stuttering() {
                prop_assert_eq!(expected_finite, ta_accepts(&ta, &repeated(finite), budget).unwrap());
            }
            for (index, smaller) in smaller.iter().enumerate() {
                prop_assert_eq!(ta_accepts(smaller, &word, budget).unwrap(), expected, "{}", index);
                prop_assert_eq!(ta_accepts_finite(smaller, finite, budget).unwrap(), expected_finite, "finite {}", index);
            }
            let expected = tgta_accepts(&tgta, &word, budget).unwrap();
            prop_assert_eq!(accepts(&tgta_values, &word, budget).unwrap(), expected);
            for (index, smaller) in smaller_tgta.iter().enumerate() {
                prop_assert_eq!(tgta_accepts(smaller, &word, budget).unwrap(), expected, "TGTA {}", index);
            }
        }
    }

    /// The deadlock states of an automaton from a formula are those that accept waiting.
    #[test]
    fn finite_words_are_read_with_their_last_letter_repeated(tape in tape(), size in 1u32..8) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(2, random::NEXT_FREE, size, &mut random::from_tape(&tape));
        let tgba = translate(&mut formulas, formula, Effort::Medium, budget).unwrap();
        let ta = to_ta(&tgba, &Limits::default(), budget).unwrap();
        let small = translate_ta(&mut formulas, formula, Effort::Medium, &Limits::default(), budget).unwrap();
        for ta in [&ta, &small, &small.clone().extract_finite(budget).unwrap()] {
            prop_assert!(ta.accepts_deadlocks_like_stuttering());
            for word in words(&propositions, 16, 8) {
                let word = word.positions();
                let expected = satisfies(&formulas, formula, &repeated(word));
                prop_assert_eq!(ta_accepts_finite(ta, word, budget).unwrap(), expected, "{}", shown(&formulas, formula));
            }
        }
    }
}

/// The automata of the documentation, in order.
fn documented() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hoa-extension.md");
    let text = std::fs::read_to_string(path).expect("the documentation exists");
    let mut found = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```hoa") {
            found.push(lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n"));
        }
    }
    found
}

#[test]
fn the_documented_automata_mean_what_is_said() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let documented = documented();
    let [starves, starves_tgta, neighbors, ..] = &documented[..] else { panic!("some automata are shown") };
    let ta = read_ta(&mut formulas, starves);
    assert_eq!((ta.n_states(), ta.n_steps()), (2, 2));
    let tgta = read_tgta(&mut formulas, starves_tgta);
    // Two stuttering loops are not written.
    assert_eq!((tgta.n_states(), tgta.n_steps(), tgta.is_finished()), (3, 6, true));
    let starves = formula(&mut formulas, "F G \"Customer[0]@waiting\"");
    for word in words(&formulas.propositions(starves), 100, 11) {
        let expected = satisfies(&formulas, starves, &word);
        assert_eq!(
            (ta_accepts(&ta, &word, budget).unwrap(), tgta_accepts(&tgta, &word, budget).unwrap()),
            (expected, expected)
        );
        let finite = word.positions();
        let expected = satisfies(&formulas, starves, &repeated(finite));
        assert_eq!(ta_accepts_finite(&ta, finite, budget).unwrap(), expected);
    }
    let extended = read_extended(&mut formulas, neighbors);
    assert_eq!(extended.states.len(), 4);
    let neighbors = formula(&mut formulas, "F (\"Phil[0]@eat\" && \"Phil[1]@eat\")");
    for word in words(&formulas.propositions(neighbors), 100, 12) {
        assert_eq!(extended.accepts(&word, budget).unwrap(), satisfies(&formulas, neighbors, &word));
        let finite = word.positions();
        assert_eq!(
            extended.accepts_finite(finite, budget).unwrap(),
            satisfies(&formulas, neighbors, &repeated(finite))
        );
    }
}

const TA: &str = "HOA: v1 stubborn-kind: TA States: 2 Start: 0 Start: 1 AP: 2 \"a\" \"b\" Alias: @x 0&!1
 Sets: livelock buchi deadlock Acceptance: 3 Inf(1) --BODY--
 State: [!0 & !1] 0 \"zero\" {2} [@x] 1 [t] 0 State: [1] 1 {0 1} [0|1] 0 --END--";

const TGTA: &str = "HOA: v1 stubborn-kind: TGTA States: 2 Start: 0 Start: 1 AP: 2 \"a\" \"b\"
 Acceptance: 2 Inf(0)&Inf(1) --BODY--
 State: 0 [0] 1 {1} [!0&!1] 0 {0 1} State: [1] 1 [0|1] 0 --END--";

const EXTENDED: &str = "HOA: v1 stubborn-kind: extended States: 3 Start: 0 AP: 2 \"a\" \"b\"
 Sets: buchi deadlock Acceptance: 2 Inf(0) --BODY--
 State: [!0 & !1] 0 1 2 State: [1] 1 {0} 1 2 State: [0&!1] 2 {1} 0 --END--";

#[test]
fn labels_are_expanded() {
    let mut formulas = Formulas::new();
    let ta = read_ta(&mut formulas, TA);
    let (zero, one) = (State::new(0), State::new(1));
    assert_eq!(ta.initial(), [(PropSet(0), zero), (PropSet(2), one), (PropSet(3), one)]);
    let steps = |state| -> Vec<(u32, State)> {
        ta.steps(state).iter().map(|step| (step.change.0, step.target)).collect()
    };
    // `t` is any change, but not that nothing flips.
    assert_eq!(steps(zero), [(1, zero), (1, one), (2, zero), (3, zero)]);
    assert_eq!(steps(one), [(1, zero), (2, zero), (3, zero)]);
    assert_eq!(ta.acceptance(zero), Acceptance { deadlock: true, ..Acceptance::default() });
    assert_eq!(ta.acceptance(one), Acceptance { livelock: true, buchi: true, ..Acceptance::default() });
    assert!(!ta.accepts_deadlocks_like_stuttering());
    let default = TA.replace(" deadlock Acc", " Acc").replace(": 3 Inf", ": 2 Inf").replace("{2}", "");
    let ta = read_ta(&mut formulas, &default);
    assert!(ta.acceptance(one).deadlock && !ta.acceptance(zero).deadlock);

    let tgta = read_tgta(&mut formulas, TGTA);
    // Runs begin in state 0 with any values, and state 1 gets a loop.
    assert_eq!((tgta.initial().len(), tgta.n_steps(), tgta.n_marks()), (6, 7, 2));
    assert!(tgta.accepts_stuttering(zero) && !tgta.accepts_stuttering(one));

    let extended = read_extended(&mut formulas, EXTENDED);
    let successors: Vec<&[usize]> = extended.states.iter().map(|state| &state.successors[..]).collect();
    assert_eq!(successors, [&[1, 2, 3][..], &[1, 2, 3], &[1, 2, 3], &[0]]);
    let infinite: Vec<bool> = extended.states.iter().map(|state| state.infinite).collect();
    assert_eq!(infinite, [false, true, true, false]);
    let default = EXTENDED.replace(" deadlock Acc", " Acc").replace(": 2 Inf", ": 1 Inf").replace("{1}", "");
    let extended = read_extended(&mut formulas, &default);
    let deadlock: Vec<bool> = extended.states.iter().map(|state| state.deadlock).collect();
    assert_eq!(deadlock, infinite);
    assert!(extended.accepts_deadlocks_like_stuttering(&mut Budget::unlimited()).unwrap());
}

#[test]
fn bad_automata_are_refused_with_a_place() {
    assert_refused(
        TA,
        &[
            ("kind: TA", "kind: Ta", "did you mean `TA`?"),
            ("kind: TA", "kind: 7", "expected one of TA, TGTA, extended"),
            ("stubborn-kind", "stubborn-kinds", "did you mean `stubborn-kind`?"),
            ("kind: TA", "kind: TA stubborn-kind: TA", "given twice"),
            ("stubborn-kind: TA", "", "`Sets:` belongs to `stubborn-kind: TA`"),
            ("kind: TA", "kind: TGTA", "a TGTA has no acceptance sets with names"),
            ("kind: TA", "kind: extended", "an extended automaton has no set `livelock`"),
            ("livelock buchi deadlock", "livelock buchi deadlok", "did you mean `deadlock`?"),
            ("livelock buchi deadlock", "livelock buchi buchi", "named twice"),
            ("livelock buchi deadlock", "livelock buchi", "write `Acceptance: 2 Inf(1)`"),
            ("livelock buchi deadlock", "livelock finite deadlock", "write `Acceptance: 3 f`"),
            ("Inf(1)", "Inf(0)", "write `Acceptance: 3 Inf(1)`"),
            ("Inf(1)", "Inf(1)&Inf(2)", "write `Acceptance: 3 Inf(1)`"),
            ("Inf(1)", "t", "write `Acceptance: 3 Inf(1)`"),
            ("Inf(1)", "Fin(1)", "without `Fin`"),
            ("Sets: livelock buchi deadlock", "", "`Sets:` is missing"),
            ("Sets:", "Sets: buchi Sets:", "given twice"),
            ("Start: 1", "", "no `Start:` names it"),
            ("Start: 1", "Start: 7", "state 7 is never defined"),
            ("[@x] 1", "1", "expected a label, found `1`"),
            ("[@x] 1", "[@x] 1 {0}", "the acceptance sets of a TA are on its states"),
            ("[@x] 1", "[!0&!1] 1", "stays where it is when nothing changes"),
            ("[@x] 1", "[@y] 1", "`@y` is not defined"),
            ("[@x] 1", "[0&!2] 1", "no proposition 2"),
            ("[@x] 1", "[@x] 2", "there is no state 2"),
            ("{0 1}", "{0 3}", "no acceptance set 3"),
            ("[1] 1", "[1&!1] 1", "no valuation fits"),
            ("States: 2", "States: 3", "announces 3 states, but 2 are defined"),
            ("State: [1] 1", "State: [1] 0", "defined twice"),
        ],
    );
    assert_refused(
        TGTA,
        &[
            ("Acceptance: 2 Inf(0)&Inf(1)", "Acceptance: 0 t", "needs at least one acceptance set"),
            ("[!0&!1] 0", "[!0&!1] 1", "must be a loop"),
            ("[0] 1", "[t] 1", "must be a loop"),
            ("{0 1}", "{0}", "has all marks or none"),
            ("State: [1] 1", "State: [1] 1 {0}", "the marks of a TGTA are on its steps"),
            ("[0] 1", "1", "expected a label"),
            ("AP:", "Sets: buchi AP:", "a TGTA has no acceptance sets with names"),
        ],
    );
    assert_refused(
        EXTENDED,
        &[
            ("State: [1] 1", "State: 1", "needs a label"),
            ("State: [1] 1", "State: [f] 1", "no valuation fits"),
            ("State: [!0 & !1] 0 1 2", "State: [!0 & !1] 0 [1] 1 2", "are on states, not on edges"),
            ("State: [!0 & !1] 0 1 2", "State: [!0 & !1] 0 1 {0} 2", "are on its states"),
            ("buchi deadlock", "buchi livelock", "an extended automaton has no set `livelock`"),
        ],
    );
}

#[test]
fn what_explodes_is_refused() {
    let budget = &mut Budget::unlimited();
    let names = |n: usize| (0..n).map(|index| format!(" \"p{index}\"")).collect::<String>();
    let ta = |n: usize, edges: &str| {
        let names = names(n);
        format!(
            "HOA: v1 stubborn-kind: TA Start: 0 AP: {n}{names} Sets: buchi Acceptance: 1 Inf(0) --BODY--
             State: [0] 0 {edges} State: 1 State: 2 --END--"
        )
    };
    assert!(hoa::read_any(&mut Formulas::new(), &ta(20, "[0]1"), SOURCE(), budget).is_ok());
    assert!(hoa_error(&ta(20, "[t]0 [t]1 [t]2")).contains("more than 2097152 steps"));
    assert!(hoa_error(&ta(21, "[0]1")).contains("at most 20 propositions"));
    let extended = |n: usize| {
        let names = names(n);
        format!(
            "HOA: v1 stubborn-kind: extended Start: 0 AP: {n}{names} Sets: buchi Acceptance: 1 Inf(0) --BODY--
             State: [t] 0 0 --END--"
        )
    };
    assert!(hoa::read_any(&mut Formulas::new(), &extended(8), SOURCE(), budget).is_ok());
    assert!(hoa_error(&extended(16)).contains("more than 2097152 edges"));
    assert!(hoa_error(&extended(17)).contains("at most 16 propositions"));
}

#[test]
fn each_kind_answers_as_its_tgba_does() {
    let budget = &mut Budget::unlimited();
    for text in [TA, TGTA, EXTENDED] {
        let mut formulas = Formulas::new();
        let automata = hoa::read_any(&mut formulas, &format!("{text}\n{text}"), SOURCE(), budget).unwrap();
        assert_eq!(automata.len(), 2);
        for word in words(automata[0].automaton.propositions(), 40, 13) {
            let any = &automata[0].automaton;
            let tgba = any.to_tgba(budget).unwrap();
            assert_eq!(any.accepts(&word, budget), accepts(&tgba, &word, budget), "{text}");
        }
    }
    let tgba =
        "HOA: v1 stubborn-kind: TGBA Start: 0 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: 0 [0] 0 --END--";
    assert!(matches!(read_one(&mut Formulas::new(), tgba), AnyAutomaton::Tgba(_)));
}

#[test]
fn no_prefix_and_no_mutation_makes_the_reader_panic() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    for text in [TA, TGTA, EXTENDED] {
        for end in 1..text.len() {
            assert!(hoa::read_any(&mut formulas, &text[..end], SOURCE(), budget).is_err());
        }
        for text in mutations(text, 4_000) {
            if let Ok(found) = hoa::read_any(&mut formulas, &text, SOURCE(), budget) {
                // What was read can be used, written and read.
                for named in found {
                    named.automaton.to_tgba(budget).unwrap();
                    let text = hoa::write_any(&named.automaton, &formulas, named.name.as_deref()).to_string();
                    hoa::read_any(&mut formulas, &text, SOURCE(), budget).expect(&text);
                }
            }
        }
    }
}
