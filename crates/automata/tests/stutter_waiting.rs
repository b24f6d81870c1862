//! The waiting form: its two promises by brute force, and its language by the reference semantics.

mod common;

use base::Budget;
use common::{config, formula, shown, tape, words};
use generators::random;
use ltl::{Formula, Formulas, Lasso, Prop, satisfies};
use proptest::prelude::*;
use stubborn_automata::complement::separating_word;
use stubborn_automata::stutter::formula_stuttering;
use stubborn_automata::waiting::waiting_form;
use stubborn_automata::{
    Effort, Label, Marks, Placement, State, Tgba, TooLarge, accepts, is_empty, product, translate,
    translate_ba,
};

/// An edge that is not followed by a loop with the same letters.
fn edge_without_loop(tgba: &Tgba) -> Option<(State, State)> {
    let mut labels = tgba.labels().clone();
    for source in tgba.states() {
        for edge in tgba.edges(source) {
            let loops = tgba.edges(edge.target).iter().filter(|next| next.target == edge.target);
            let waiting = loops.fold(Label::FALSE, |sum, next| labels.or(sum, next.label));
            if !labels.implies(edge.label, waiting) {
                return Some((source, edge.target));
            }
        }
    }
    None
}

/// Whether the word has a lazy accepting run: the graph of all lazy runs is an automaton of its own.
fn has_lazy_run(tgba: &Tgba, word: &Lasso) -> bool {
    // One turn more before the cycle: then each position has a single predecessor, as far as letters go.
    let word = Lasso::new([word.prefix(), word.cycle()].concat(), word.cycle().to_vec()).unwrap();
    let letters = word.positions();
    let is_constant = word.cycle().iter().all(|letter| *letter == word.cycle()[0]);
    let n = word.n_positions();
    let node = |state: State, position: usize| State::new(state.index() * n + position);
    let mut runs = Tgba::new(tgba.n_marks());
    (1..tgba.n_states() * n).for_each(|_| _ = runs.add_state());
    runs.set_initial(node(tgba.initial(), 0));
    for state in tgba.states() {
        for position in 0..n {
            let moves = position == 0 || letters[position] != letters[position - 1];
            let is_last_block = is_constant && position >= word.prefix().len();
            for edge in tgba.edges(state) {
                let waits = edge.target == state && (!is_last_block || edge.marks == tgba.all_marks());
                if (moves || waits) && tgba.labels().holds(edge.label, &letters[position]) {
                    let marks = if moves || is_last_block { edge.marks } else { Marks::NONE };
                    let target = node(edge.target, word.next(position));
                    runs.add_edge(node(state, position), Label::TRUE, marks, target);
                }
            }
        }
    }
    !is_empty(&runs, &mut Budget::unlimited()).unwrap()
}

/// Random words, their letters repeated now and then.
fn repeating_words(propositions: &[Prop], n: usize, seed: u64) -> Vec<Lasso> {
    let mut draw = random::seeded(seed + 1);
    let plain = words(propositions, n, seed);
    let others: Vec<Lasso> = plain.iter().map(|word| random::stretched(word, &mut draw)).collect();
    [plain, others].concat()
}

/// Whether the waiting form of an automaton for the formula is one, and has the same language.
fn check(
    formulas: &mut Formulas,
    formula: Formula,
    tgba: &Tgba,
    words: &[Lasso],
) -> Result<(), TestCaseError> {
    let budget = &mut Budget::unlimited();
    let waiting = waiting_form(tgba, 20_000, budget).unwrap();
    let text = shown(formulas, formula);
    prop_assert_eq!(edge_without_loop(&waiting), None, "{}", text);
    for word in words {
        let expected = satisfies(formulas, formula, word);
        prop_assert_eq!(accepts(&waiting, word, budget).unwrap(), expected, "{} {:?}", text, word);
        prop_assert_eq!(has_lazy_run(&waiting, word), expected, "lazy: {} {:?}", text, word);
    }
    let negation = formulas.not(formula);
    let negated = translate(formulas, negation, Effort::Low, budget).unwrap();
    prop_assert!(
        is_empty(&product(&waiting, &negated, usize::MAX, budget).unwrap(), budget).unwrap(),
        "{}",
        text
    );
    if waiting.n_states() <= 4 {
        prop_assert_eq!(separating_word(tgba, &waiting, 500, budget).ok().flatten(), None, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn waiting_forms_wait_and_keep_the_language(tape in tape(), size in 1u32..13, n in 1usize..4) {
        let budget = &mut Budget::unlimited();
        let mut draw = random::from_tape(&tape);
        let (mut formulas, propositions, formula) = random::pool(n, random::NEXT_FREE, size, &mut draw);
        let words = repeating_words(&propositions, 14, u64::from(size));
        for effort in [Effort::Medium, Effort::High] {
            let tgba = translate(&mut formulas, formula, effort, budget).unwrap();
            check(&mut formulas, formula, &tgba, &words)?;
        }
        // Levels and marks on states spoil loops, so here states are copied.
        let ba = translate_ba(&mut formulas, formula, Effort::Medium, Placement::States, budget).unwrap();
        check(&mut formulas, formula, &ba, &words)?;
    }

    /// With `X` there are automata whose states have no loops at all.
    #[test]
    fn invariant_formulas_with_next_have_waiting_forms(tape in tape(), size in 2u32..9) {
        let budget = &mut Budget::unlimited();
        let mut draw = random::from_tape(&tape);
        let (mut formulas, propositions, formula) = random::pool(2, random::ALL, size, &mut draw);
        if formula_stuttering(&mut formulas, formula, Effort::Low, budget).unwrap().proof().is_some() {
            let tgba = translate(&mut formulas, formula, Effort::Low, budget).unwrap();
            check(&mut formulas, formula, &tgba, &repeating_words(&propositions, 14, 2))?;
        }
    }
}

#[test]
fn a_cycle_with_one_letter_becomes_a_marked_loop() {
    // Two states take turns, and only together they have both marks.
    let mut formulas = Formulas::new();
    let globally = formula(&mut formulas, "G a");
    let mut tgba = Tgba::new(2);
    let a = tgba.labels_mut().prop(formulas.proposition("a"));
    tgba.declare(formulas.propositions(globally));
    let [start, other] = [tgba.initial(), tgba.add_state()];
    tgba.add_edge(start, a, Marks::single(0), other);
    tgba.add_edge(other, a, Marks::single(1), start);
    let words = repeating_words(&formulas.propositions(globally), 20, 1);
    check(&mut formulas, globally, &tgba, &words).unwrap();
    assert_eq!(waiting_form(&tgba, 10, &mut Budget::unlimited()).unwrap().n_states(), 1);
}

#[test]
fn changes_are_followed_step_by_step() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    for text in ["F (a & X (!a & b))", "G F (a & X !a)", "G (a <-> X a)", "G (a & X !a -> X (b U a))"] {
        let formula = formula(&mut formulas, text);
        let found = formula_stuttering(&mut formulas, formula, Effort::High, budget);
        assert!(found.unwrap().proof().is_some());
        let words = repeating_words(&formulas.propositions(formula), 200, 5);
        for effort in [Effort::Low, Effort::High] {
            let tgba = translate(&mut formulas, formula, effort, budget).unwrap();
            check(&mut formulas, formula, &tgba, &words).unwrap();
        }
    }
}

#[test]
fn too_many_copies_are_refused() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let change = formula(&mut formulas, "F (a & X (!a & b))");
    let tgba = translate(&mut formulas, change, Effort::High, budget).unwrap();
    assert!(waiting_form(&tgba, 100, budget).is_ok());
    assert_eq!(waiting_form(&tgba, 2, budget).unwrap_err(), TooLarge::States.into());
}
