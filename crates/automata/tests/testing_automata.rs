//! Testing automata: the papers' figures, and every stage of every construction against the reference
//! semantics.

mod common;

use base::{Budget, Limit};
use common::{config, formula, shown, tape, words};
use generators::random;
use ltl::{Formula, Formulas, Lasso, Prop, satisfies};
use proptest::prelude::*;
use stubborn_automata::by_change::{
    Explosion, Graph, Limits, PropSet, Reading, Refusal, Step, Ta, Tgta, Waiting, small_ta, small_tgta,
    ta_accepts, tgta_accepts, to_ta, to_tgta, translate_ta, translate_tgta,
};
use stubborn_automata::{Effort, Placement, Tgba, accepts, is_empty, product, translate, translate_ba};

/// Words of many shapes, half of them with stuttering in odd places.
fn many_words(propositions: &[Prop], n: usize, seed: u64) -> Vec<Lasso> {
    let plain = words(propositions, n, seed);
    let double = |letters: &[ltl::Valuation], by: usize| -> Vec<ltl::Valuation> {
        let times = |index: usize| 1 + (index + by) % 3;
        letters.iter().enumerate().flat_map(|(i, letter)| vec![letter.clone(); times(i)]).collect()
    };
    let stuttering = plain.iter().enumerate().filter(|(index, _)| index % 2 == 0).map(|(index, word)| {
        Lasso::new(double(word.prefix(), index), double(word.cycle(), index + 1)).unwrap()
    });
    plain.iter().cloned().chain(stuttering).collect()
}

fn changes_for_ever(word: &Lasso, propositions: &[Prop]) -> bool {
    let letter = |position: usize| PropSet::of(&word.cycle()[position], propositions);
    (0..word.cycle().len()).any(|position| letter(position) != letter(0))
}

/// All stages of the TA of a Büchi automaton, after the first.
fn ta_stages(pairs: Ta) -> Result<Vec<(&'static str, Ta)>, Limit> {
    let budget = &mut Budget::unlimited();
    let advanced = pairs.clone().begin_later(budget)?.without_stuttering(budget)?;
    let livelock = pairs.without_stuttering(budget)?;
    let trimmed = livelock.clone().trim(budget)?;
    let merged = trimmed.clone().merge_bisimilar(budget)?;
    let even = trimmed.clone().even_out(budget)?;
    let finite = trimmed.clone().reduce(budget)?.extract_finite(budget)?;
    Ok(vec![
        ("similar", even.clone().merge_similar(budget)?),
        ("similar, trimmed only", trimmed.clone().merge_similar(budget)?),
        ("redirected", even.clone().redirect_equal(budget)?),
        ("reduced", trimmed.clone().reduce(budget)?),
        ("finite", merged.clone().extract_finite(budget)?),
        ("reduced, finite, reduced", finite.clone().reduce(budget)?),
        ("reduced, finite", finite),
        ("advanced, reduced", advanced.clone().trim(budget)?.reduce(budget)?),
        ("advanced", advanced),
        ("even", even),
        ("livelock", livelock),
        ("trimmed", trimmed),
        ("merged", merged),
    ])
}

/// All stages of a TGTA.
fn tgta_stages(pairs: Tgta) -> Result<Vec<(&'static str, Tgta)>, Limit> {
    let budget = &mut Budget::unlimited();
    let looping = pairs.clone().with_stuttering_loops(budget)?;
    let where_led = pairs.clone().with_own_loops(Waiting::Where, budget)?;
    let apart = pairs.clone().with_own_loops(Waiting::Apart, budget)?;
    let trimmed = looping.clone().trim(budget)?;
    let even = trimmed.clone().even_out(budget)?;
    let first = pairs.clone().read_more(Reading::FirstTwice, budget)?;
    let each = pairs.clone().read_more(Reading::EachTwice, budget)?;
    let thrice = each.clone().read_more(Reading::EachTwice, budget)?;
    let mut reduced_apart =
        |more: &Tgta| more.clone().with_own_loops(Waiting::Apart, budget)?.trim(budget)?.reduce(budget);
    let mut stages = vec![
        ("first twice, apart", reduced_apart(&first)?),
        ("each twice, apart", reduced_apart(&each)?),
        ("each thrice, apart", reduced_apart(&thrice)?),
    ];
    stages.extend([
        ("first twice", first.clone().with_own_loops(Waiting::Where, budget)?),
        ("each twice", each.clone().with_own_loops(Waiting::Where, budget)?),
        ("each thrice", thrice.with_own_loops(Waiting::Where, budget)?),
        ("pairs, first twice", first),
        ("pairs, each twice", each),
        ("pairs", pairs),
        ("merged", trimmed.clone().merge_bisimilar(budget)?),
        ("similar", even.clone().merge_similar(budget)?),
        ("similar, trimmed only", trimmed.clone().merge_similar(budget)?),
        ("redirected", even.clone().redirect_equal(budget)?),
        ("reduced", trimmed.clone().reduce(budget)?),
        ("even", even),
        ("looping", looping),
        ("trimmed", trimmed),
        ("where, reduced", where_led.clone().trim(budget)?.reduce(budget)?),
        ("where", where_led),
        ("apart, reduced", apart.clone().trim(budget)?.reduce(budget)?),
        ("apart", apart),
    ]);
    Ok(stages)
}

/// A stage accepts the words that satisfy the formula, of these.
fn check_stage(
    name: &str,
    (formulas, formula): (&Formulas, Formula),
    words: &[Lasso],
    mut accepts: impl FnMut(&Lasso) -> Result<bool, Limit>,
) -> Result<(), TestCaseError> {
    for word in words {
        let context = format!("{name}: {} {word:?}", shown(formulas, formula));
        prop_assert_eq!(accepts(word), Ok(satisfies(formulas, formula, word)), "{}", context);
    }
    Ok(())
}

fn check_ta(of: (&Formulas, Formula), ba: &Tgba, words: &[Lasso]) -> Result<(), TestCaseError> {
    let budget = &mut Budget::unlimited();
    let pairs = Ta::from_ba(ba, &Limits::default(), budget).unwrap();
    // By Definition 5, Büchi acceptance needs changes: livelock acceptance is not there yet.
    let (changing, others): (Vec<Lasso>, Vec<Lasso>) =
        words.iter().cloned().partition(|word| changes_for_ever(word, pairs.propositions()));
    check_stage("pairs", of, &changing, |word| ta_accepts(&pairs, word, budget))?;
    prop_assert!(others.iter().all(|word| ta_accepts(&pairs, word, budget) == Ok(false)));
    let mut stages = ta_stages(pairs).unwrap();
    stages.push(("small", small_ta(ba, &Limits::default(), budget).unwrap()));
    for (name, ta) in stages {
        check_stage(name, of, words, |word| ta_accepts(&ta, word, budget))?;
        let context = format!("{name}: {}", shown(of.0, of.1));
        prop_assert_eq!(ta.is_empty(budget), is_empty(ba, budget), "{}", context);
        prop_assert!(ta.states().all(|state| ta.steps(state).iter().all(|step| !step.change.is_empty())));
    }
    Ok(())
}

fn check_tgta(of: (&Formulas, Formula), tgba: &Tgba, words: &[Lasso]) -> Result<(), TestCaseError> {
    let budget = &mut Budget::unlimited();
    let pairs = Tgta::from_tgba(tgba, &Limits::default(), budget).unwrap();
    for (name, tgta) in tgta_stages(pairs).unwrap() {
        check_stage(name, of, words, |word| tgta_accepts(&tgta, word, budget))?;
        let context = format!("{name}: {}", shown(of.0, of.1));
        prop_assert_eq!(tgta.is_empty(budget), is_empty(tgba, budget), "{}", context);
        prop_assert!(name.starts_with("pairs") || tgta.is_finished(), "{}", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(1_200))]

    #[test]
    fn every_stage_of_a_ta_has_the_language(tape in tape(), size in 1u32..13, n in 1usize..4) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(n, random::NEXT_FREE, size, &mut random::from_tape(&tape));
        let words = many_words(&propositions, 20, u64::from(size));
        let effort = if size % 2 == 0 { Effort::Low } else { Effort::High };
        let ba = translate_ba(&mut formulas, formula, effort, Placement::States, budget).unwrap();
        check_ta((&formulas, formula), &ba, &words)?;
        let effort = if size % 3 == 0 { Effort::Low } else { Effort::High };
        let tgba = translate(&mut formulas, formula, effort, budget).unwrap();
        check_ta((&formulas, formula), &tgba, &words)?;
    }

    #[test]
    fn every_stage_of_a_tgta_has_the_language(tape in tape(), size in 1u32..13, n in 1usize..4) {
        let (mut formulas, propositions, formula) = random::pool(n, random::NEXT_FREE, size, &mut random::from_tape(&tape));
        let words = many_words(&propositions, 20, u64::from(size));
        for effort in [Effort::Low, Effort::High] {
            let tgba = translate(&mut formulas, formula, effort, &mut Budget::unlimited()).unwrap();
            check_tgta((&formulas, formula), &tgba, &words)?;
        }
    }
}

proptest! {
    #![proptest_config(config(500))]

    /// No testing automaton accepts a word that it should not, whatever the word.
    #[test]
    fn testing_automata_are_exact(tape in tape(), size in 1u32..14, n in 1usize..4) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(n, random::NEXT_FREE, size, &mut random::from_tape(&tape));
        let negation = formulas.not(formula);
        let no = translate(&mut formulas, negation, Effort::Medium, budget).unwrap();
        let ta = translate_ta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
        let tgta = translate_tgta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
        let yes = translate(&mut formulas, formula, Effort::High, budget).unwrap();
        let mut stages = vec![("TA", ta.to_tgba(budget).unwrap()), ("TGTA", tgta.to_tgba(budget).unwrap())];
        for (name, ta) in ta_stages(Ta::from_ba(&yes, &Limits::default(), budget).unwrap()).unwrap() {
            stages.push((name, ta.to_tgba(budget).unwrap()));
        }
        for (name, tgta) in tgta_stages(Tgta::from_tgba(&yes, &Limits::default(), budget).unwrap()).unwrap() {
            stages.push((name, tgta.to_tgba(budget).unwrap()));
        }
        for (name, tgba) in stages {
            let both = product(&tgba, &no, usize::MAX, budget).unwrap();
            prop_assert!(is_empty(&both, budget).unwrap(), "{}: {}", name, shown(&formulas, formula));
            let words = many_words(&propositions, 12, 3);
            check_stage(name, (&formulas, formula), &words, |word| accepts(&tgba, word, budget))?;
        }
    }
}

fn automata_for(text: &str) -> (Tgba, Tgba) {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let formula = formula(&mut formulas, text);
    let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
    let ba = translate_ba(&mut formulas, formula, Effort::High, Placement::States, budget).unwrap();
    (tgba, ba)
}

fn size(automaton: &Graph) -> (usize, usize) {
    (automaton.n_states(), automaton.n_steps())
}

/// Whether there is a renaming of states that makes the one the other.
fn isomorphic<Parts: PartialEq>(n: usize, one: &Parts, renamed: impl Fn(&[usize]) -> Parts) -> bool {
    let orders = (0..n).fold(vec![vec![]], |orders, state| {
        let insert = |order: &Vec<usize>, place| [&order[..place], &[state], &order[place..]].concat();
        orders.iter().flat_map(|order| (0..=order.len()).map(move |place| insert(order, place))).collect()
    });
    orders.iter().any(|order| renamed(order) == *one)
}

/// Initial valuations and states, steps with marks, and for each state whether it is in F and in G.
type Parts = (Vec<(u32, usize)>, Vec<(usize, u32, u64, usize)>, Vec<(bool, bool)>);

fn sorted((mut initial, mut steps, acceptance): Parts) -> Parts {
    initial.sort_unstable();
    steps.sort_unstable();
    (initial, steps, acceptance)
}

fn ta_parts(ta: &Ta, new: &[usize]) -> Parts {
    let mut acceptance = vec![(false, false); new.len()];
    for state in ta.states() {
        let own = ta.acceptance(state);
        acceptance[new[state.index()]] = (own.buchi, own.livelock);
    }
    parts(ta, acceptance, new)
}

fn parts(automaton: &Graph, acceptance: Vec<(bool, bool)>, new: &[usize]) -> Parts {
    let initial = automaton.initial().iter().map(|&(valuation, state)| (valuation.0, new[state.index()]));
    let steps = automaton.states().flat_map(|state| {
        let step =
            move |step: &Step| (new[state.index()], step.change.0, step.marks.0, new[step.target.index()]);
        automaton.steps(state).iter().map(step)
    });
    sorted((initial.collect(), steps.collect(), acceptance))
}

const A: u32 = 1;
const B: u32 = 2;
const AB: u32 = 3;

/// The steps that both automata of a U Gb have.
const COMMON: [(usize, u32, u64, usize); 6] =
    [(0, B, 0, 1), (0, AB, 0, 2), (1, B, 0, 0), (1, A, 0, 2), (1, A, 0, 3), (2, A, 0, 3)];

/// Figure 3d of [bensalem.12.topnoc]; states 1 to 4 are 0 to 3.
#[test]
fn the_ta_of_a_until_always_b_is_that_of_the_paper() {
    let budget = &mut Budget::unlimited();
    let (_, ba) = automata_for("a U G b");
    let ta = to_ta(&ba, &Limits::default(), budget).unwrap();
    let steps = [&COMMON[..], &[(3, A, 0, 3)]].concat();
    let acceptance = vec![(false, false), (false, true), (false, true), (true, true)];
    let expected = sorted((vec![(A, 0), (AB, 1), (B, 2)], steps, acceptance));
    assert!(isomorphic(4, &expected, |new| ta_parts(&ta, new)), "{ta:?}");
    let small = small_ta(&ba, &Limits::default(), budget).unwrap();
    assert_eq!(size(&small), (3, 5), "state 3 becomes state 4");
}

/// Figure 4d of [bensalem.12.topnoc].
#[test]
fn the_tgta_of_a_until_always_b_is_that_of_the_paper() {
    let budget = &mut Budget::unlimited();
    let (tgba, _) = automata_for("a U G b");
    let tgta = to_tgta(&tgba, &Limits::default(), budget).unwrap();
    let waiting = [(3, 0, 1, 3), (0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 2)];
    let steps = [&COMMON[..], &[(0, B, 0, 3), (0, AB, 0, 3), (3, A, 1, 3)], &waiting].concat();
    let initial = vec![(A, 0), (AB, 1), (B, 2), (AB, 3), (B, 3)];
    let expected = sorted((initial, steps, vec![]));
    assert_eq!(tgta.n_marks(), 1);
    assert!(isomorphic(4, &expected, |new| parts(&tgta, vec![], new)), "{tgta:?}");
    let small = small_tgta(&tgba, &Limits::default(), budget).unwrap();
    assert_eq!(size(&small), (3, 9), "state 3 becomes state 4");
}

#[test]
fn two_recurrences_are_no_larger_than_in_the_paper() {
    let budget = &mut Budget::unlimited();
    let (tgba, ba) = automata_for("G F a & G F b");
    let ta = to_ta(&ba, &Limits::default(), budget).unwrap();
    assert_eq!(size(&ta), (10, 30), "11 and 64 in the paper, 10 and 30 with Spot 2.12");
    assert_eq!(size(&small_ta(&tgba, &Limits::default(), budget).unwrap()), (6, 18));
    assert_eq!(size(&to_tgta(&tgba, &Limits::default(), budget).unwrap()), (4, 16));
}

/// ¬Φ2 of [bensalem.12.topnoc], Section 4.2: a = RafP, b = MEKP, c = MEKPP, d = ERKPP, e = ERKP. Every state
/// that waits for one of the four disjuncts is a single state, whatever the other propositions are, and so is
/// the one that accepts everything. The paper's automata have others in which runs begin.
///
/// The TGBA has 168 transitions where the paper counts 165, with the same six states: 24 in each of the four
/// states that wait (8 stay, 16 leave), 32 in the one that accepts everything, and in the initial state 28
/// for letters with b, c or d, which decide at once, and 12 for the four others (2 + 4 + 4 + 2). None of
/// these can be left out alone. The paper's figure is 5 * 32 + 5: perhaps its five other states are complete,
/// and the five edges of the initial one were counted once each.
#[test]
fn the_mapk_property_is_smaller_than_in_the_paper() {
    let budget = &mut Budget::unlimited();
    let (tgba, ba) = automata_for("!(!((!a) U b) & !((!b) U c) & !((!c) U d) & !((!e) U d))");
    let edges = tgba.states().flat_map(|state| tgba.edges(state));
    let n_transitions: u64 = edges.map(|edge| tgba.labels().n_valuations(edge.label, 5)).sum();
    assert_eq!((tgba.n_states(), n_transitions), (6, 168));
    let limits = Limits::default();
    assert_eq!(size(&to_ta(&ba, &limits, budget).unwrap()), (10, 342));
    assert_eq!(size(&to_tgta(&tgba, &limits, budget).unwrap()), (10, 520));
    assert_eq!(size(&small_ta(&ba, &limits, budget).unwrap()), (5, 123), "9 and 293 in the paper");
    assert_eq!(size(&small_tgta(&tgba, &limits, budget).unwrap()), (5, 128), "8 and 452 in the paper");
}

#[test]
fn a_state_that_accepts_everything_becomes_finite() {
    let budget = &mut Budget::unlimited();
    let (_, ba) = automata_for("F a");
    let ta = small_ta(&ba, &Limits::default(), budget).unwrap();
    assert_eq!(size(&ta), (2, 2));
    let finite = ta.extract_finite(budget).unwrap();
    assert_eq!(size(&finite), (2, 1));
    assert!(finite.states().any(|state| finite.acceptance(state).finite));
}

/// Trap 17: without marks, the stuttering loops that Property 5.3 adds would accept.
#[test]
fn a_safety_property_has_a_mark() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let weak = formula(&mut formulas, "a W b");
    let tgba = translate(&mut formulas, weak, Effort::High, budget).unwrap();
    let looping =
        Tgta::from_tgba(&tgba, &Limits::default(), budget).unwrap().with_stuttering_loops(budget).unwrap();
    assert_eq!(looping.n_marks(), 1);
    let never_a = Lasso::new(vec![], vec![ltl::Valuation::new()]).unwrap();
    assert_eq!(tgta_accepts(&looping, &never_a, budget), Ok(false));
}

#[test]
fn what_explodes_is_refused() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let wide = (0..18).map(|index| format!("G F p{index}")).collect::<Vec<_>>().join(" | ");
    let wide = formula(&mut formulas, &wide);
    let limits = Limits::default();
    let refused = translate_ta(&mut formulas, wide, Effort::Low, &limits, budget).unwrap_err();
    assert_eq!(refused, Refusal::GaveUp(Explosion::Propositions(16).into()));
    assert_eq!(refused.to_string(), "the explicit testing automaton would have more than 16 propositions");
    let few = formula(&mut formulas, "G F a & G F b & G F c");
    let tgba = translate(&mut formulas, few, Effort::High, budget).unwrap();
    assert_eq!(
        to_tgta(&tgba, &Limits { max_states: 7, ..limits }, budget).unwrap_err(),
        Explosion::States(7).into()
    );
    assert_eq!(
        to_ta(&tgba, &Limits { max_steps: 63, ..limits }, budget).unwrap_err(),
        Explosion::Steps(63).into()
    );
    assert_eq!(
        to_tgta(&tgba, &Limits { max_steps: 64, max_states: 8, ..limits }, budget)
            .map(|tgta| tgta.n_states()),
        Ok(8)
    );
    let next = formula(&mut formulas, "X a");
    assert_eq!(
        translate_tgta(&mut formulas, next, Effort::Low, &limits, budget).unwrap_err(),
        Refusal::Stuttering
    );
}

/// What contains `X` but does not see stuttering has testing automata, too.
#[test]
fn next_without_stuttering() {
    let budget = &mut Budget::unlimited();
    for text in ["F X G a", "G F X a", "F (a & X (!a & b))", "(X F a) U (b & F a)"] {
        let mut formulas = Formulas::new();
        let formula = formula(&mut formulas, text);
        let ta = translate_ta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
        let tgta = translate_tgta(&mut formulas, formula, Effort::High, &Limits::default(), budget).unwrap();
        let propositions: Vec<Prop> = ["a", "b"].map(|name| formulas.proposition(name)).to_vec();
        let words = many_words(&propositions, 12, 3);
        for (name, tgba) in [("TA", ta.to_tgba(budget).unwrap()), ("TGTA", tgta.to_tgba(budget).unwrap())] {
            check_stage(name, (&formulas, formula), &words, |word| accepts(&tgba, word, budget)).unwrap();
        }
    }
}

/// Once, jumps led to states that were waited in themselves, and closed cycles that had not been looked at.
#[test]
fn jumps_close_no_accepting_cycle() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let formula = formula(&mut formulas, "F G !F (!(!(p0 U p1) R p0) W F G (p1 <-> G p0))");
    let negation = formulas.not(formula);
    let tgba = translate(&mut formulas, formula, Effort::High, budget).unwrap();
    let no = translate(&mut formulas, negation, Effort::High, budget).unwrap();
    let pairs = Tgta::from_tgba(&tgba, &Limits::default(), budget).unwrap();
    for (name, tgta) in tgta_stages(pairs).unwrap() {
        let both = product(&tgta.to_tgba(budget).unwrap(), &no, usize::MAX, budget).unwrap();
        assert_eq!(is_empty(&both, budget), Ok(true), "{name}");
    }
}

#[test]
fn constants_have_testing_automata() {
    let budget = &mut Budget::unlimited();
    for (text, n_states) in [("true", 1), ("false", 0)] {
        let mut formulas = Formulas::new();
        let constant = formula(&mut formulas, text);
        let ta = translate_ta(&mut formulas, constant, Effort::High, &Limits::default(), budget).unwrap();
        let tgta = translate_tgta(&mut formulas, constant, Effort::High, &Limits::default(), budget).unwrap();
        assert_eq!((ta.n_states(), tgta.n_states()), (n_states, n_states), "{text}");
    }
}
