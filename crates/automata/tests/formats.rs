//! HOA and never claims: what is written is read back, Spot's automata have the languages of ours, and
//! bad input is refused with a place.

mod common;

use base::Budget;
use common::{
    SOURCE, assert_refused, config, disagreement, formula, hoa_error, mutations, read_tgba, shown, tape,
    words,
};
use generators::{corpus, random};
use ltl::Formulas;
use proptest::prelude::*;
use stubborn_automata::{
    AnyAutomaton, Effort, Placement, hoa, is_empty, never, product, translate, translate_ba,
};

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn what_is_written_is_read_back(tape in tape(), size in 1u32..12) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(3, random::ALL, size, &mut random::from_tape(&tape));
        let words = words(&propositions, 16, 3);
        let tgba = translate(&mut formulas, formula, Effort::Medium, budget).unwrap();
        let ba = translate_ba(&mut formulas, formula, Effort::Medium, Placement::States, budget).unwrap();
        for automaton in [&tgba, &ba] {
            let text = hoa::write(automaton, &formulas, None).to_string();
            let again = read_tgba(&mut formulas, &text);
            prop_assert_eq!(hoa::write(&again, &formulas, None).to_string(), text);
            prop_assert_eq!(disagreement(&formulas, formula, &again, &words), None);
        }
        let text = never::write(&ba, &formulas, Some("*/ tricky")).unwrap().to_string();
        let again = never::read(&mut formulas, &text, SOURCE(), budget).unwrap();
        prop_assert_eq!(disagreement(&formulas, formula, &again, &words), None, "{}", text);
        prop_assert!(again.n_states() <= ba.n_states());
    }
}

/// Every automaton of Spot for the corpus, compared exactly with ours: no word is accepted by Spot's
/// automaton for a negation and by ours for the formula, nor the other way round.
#[test]
fn spots_automata_have_the_same_languages() {
    let budget = &mut Budget::unlimited();
    let Some(rows) = corpus::read() else { return };
    for kind in ["tgba", "ba"] {
        for source in ["dac", "eh", "sb", "p", "hkrss", "random-nox"] {
            let file = format!("{}/hoa/{source}.neg.{kind}.hoa", corpus::FOLDER);
            let text = std::fs::read_to_string(&file).expect("the corpus is complete");
            let mut formulas = Formulas::new();
            let automata = hoa::read_any(&mut formulas, &text, SOURCE(), budget).unwrap();
            assert!(!automata.is_empty());
            for named in automata.iter().step_by(if source == "random-nox" { 4 } else { 1 }) {
                let name = named.name.as_deref().unwrap_or_default();
                let number = name.split(' ').next().unwrap_or_default();
                let number = number.strip_prefix("row=").expect("automata are named by their rows");
                let row = rows.iter().find(|row| row["row"] == number).expect("the row exists");
                let positive = formula(&mut formulas, &row["formula"]);
                let negative = formulas.not(positive);
                let ours = [positive, negative]
                    .map(|f| translate(&mut formulas, f, Effort::Medium, budget).unwrap());
                let AnyAutomaton::Tgba(spot) = &named.automaton else { panic!("not a TGBA: {name}") };
                let both = product(spot, &ours[0], usize::MAX, budget).unwrap();
                assert_eq!(is_empty(&both, budget), Ok(true), "{}", row["formula"]);
                // Spot accepts what satisfies the negation, on samples.
                let words = words(&formulas.propositions(positive), 12, 1);
                assert_eq!(disagreement(&formulas, negative, spot, &words), None, "{}", row["formula"]);
            }
        }
    }
}

const GOOD: &str = "HOA: v1 States: 2 Start: 0 AP: 2 \"a\" \"b\" Alias: @x 0&!1 Acceptance: 2 Inf(0)&Inf(1)
 /* a /* nested */ comment */ properties: trans-labels --BODY--
 State: 0 {0} [@x] 1 [!@x | t] 0 {1} State: 1 \"one\" 0 1 0 1 {1} --END--";

#[test]
fn every_feature_that_is_promised_works() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let tgba = read_tgba(&mut formulas, GOOD);
    // Implicit labels in state 1: !a!b to 0, a!b to 1, !ab to 0, ab to 1 with a mark.
    assert_eq!((tgba.n_states(), tgba.n_edges(), tgba.n_marks()), (2, 5, 2));
    let several = "HOA: v1 Start: 0 Start: 1 AP: 1 \"a\" Acceptance: 1 Inf(0) --BODY--
        State: [0] 0 {0} 0 State: [!0] 1 {0} 1 --END--";
    let several = read_tgba(&mut formulas, several);
    let either = formula(&mut formulas, "G a | G !a");
    let words = words(&formulas.propositions(either), 50, 2);
    assert_eq!(disagreement(&formulas, either, &several, &words), None);
    for (acceptance, expected) in [("0 t", true), ("0 f", false), ("3 (Inf(2)&t)", true)] {
        let text = format!(
            "HOA: v1 States: 1 Start: 0 AP: 0 Acceptance: {acceptance} --BODY-- State: 0 [t] 0 {{{}}} --END--",
            if acceptance.starts_with('3') { "2" } else { "" }
        );
        let tgba = read_tgba(&mut formulas, &text);
        assert_eq!(is_empty(&tgba, budget).unwrap(), !expected, "{acceptance}");
    }
}

#[test]
fn bad_automata_are_refused_with_a_place() {
    let cases = [
        ("States: 2", "States: 3", "announces 3 states, but 2 are defined"),
        ("States: 2", "States: 1", "there is no state 1"),
        ("States: 2", "States: 99999999999999999999999", "too large"),
        ("States: 2", "States: 4000000000", "more than"),
        ("[@x]", "[@y]", "`@y` is not defined"),
        ("Inf(0)&Inf(1)", "Fin(0)&Inf(1)", "without `Fin`"),
        ("Inf(0)&Inf(1)", "Inf(0)|Inf(1)", "without `|`"),
        ("Inf(0)&Inf(1)", "Inf(0)&Inf(!1)", "complemented"),
        ("Inf(0)&Inf(1)", "Inf(0)&Inf(7)", "no acceptance set 7"),
        ("{1} State", "{5} State", "no acceptance set 5"),
        ("[@x] 1", "[@x] 1&0", "alternating"),
        ("Start: 0", "Start: 0&1", "alternating"),
        ("Start: 0", "Start: 5", "never defined"),
        ("0&!1", "0&!2", "no proposition 2"),
        ("AP: 2", "AP: 3", "3 propositions are announced"),
        ("0 1 0 1 {1}", "0 1 0", "4 edges without labels are needed"),
        ("State: 1", "State: 0", "defined twice"),
        ("--END--", "", "`--END--` is missing"),
        ("--END--", "--ABORT--", "aborted"),
        ("HOA: v1", "HOA: v2", "only version `v1`"),
        ("properties:", "Properties:", "not supported"),
        ("Acceptance: 2 Inf(0)&Inf(1)", "", "`Acceptance:` is missing"),
        ("*/ comment */", "", "never closed"),
        ("\"b\"", "\"b", ""),
        ("[@x]", "[#]", "unexpected character"),
    ];
    assert_refused(GOOD, &cases);
    let deep = format!("HOA: v1 Alias: @x {}0{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(hoa_error(&deep).contains("nested deeper"));
}

#[test]
fn no_prefix_and_no_mutation_makes_the_readers_panic() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let claim = "never { T0_init: if :: (a && !(b)) -> goto accept_S1 :: atomic { (b) -> assert(!(b)) } fi;
        accept_S1: do :: (x > 1) -> goto T0_init :: (1) -> break od; accept_all: skip }";
    never::read(&mut formulas, claim, SOURCE(), budget).unwrap();
    for text in [GOOD, claim] {
        for end in 1..text.len() {
            assert!(hoa::read_any(&mut formulas, &text[..end], SOURCE(), budget).is_err());
            assert!(never::read(&mut formulas, &text[..end], SOURCE(), budget).is_err());
        }
        for text in mutations(text, 3_000) {
            let _ = hoa::read_any(&mut formulas, &text, SOURCE(), budget);
            let _ = never::read(&mut formulas, &text, SOURCE(), budget);
        }
    }
}

#[test]
fn claims_in_the_styles_of_other_tools_are_read() {
    let budget = &mut Budget::unlimited();
    for (text, claim) in [
        (
            "F a",
            "never { T0_init: do :: atomic { ((a)) -> assert(!((a))) } :: (1) -> goto T0_init od; accept_all: skip }",
        ),
        (
            "F a",
            "never { T0_init: if :: (a) -> goto accept_all :: (1) -> goto T0_init fi; accept_all: skip }",
        ),
        (
            "F G !a",
            "never { T0_init: if :: (!(a)) -> goto accept_S4 :: (true) -> goto T0_init fi;
            accept_S4: if :: (! a) -> goto accept_S4 fi; }",
        ),
        ("G (x > 1 -> b)", "never { accept_init: do :: (!(x > 1) || b) od }"),
        ("false", "never { T0_init: false }"),
    ] {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let tgba = never::read(&mut formulas, claim, SOURCE(), budget).unwrap();
        let words = words(&formulas.propositions(formula), 60, 9);
        let wrong = disagreement(&formulas, formula, &tgba, &words);
        assert_eq!(wrong, None, "{} {claim}", shown(&formulas, formula));
    }
    let error = never::read(
        &mut Formulas::new(),
        "never { a: if :: (1) -> goto accept_al fi; accept_all: skip }",
        SOURCE(),
        budget,
    );
    assert!(error.unwrap_err().to_string().contains("no state `accept_al`"));
}
