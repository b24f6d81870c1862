//! Extended state-labeled automata of [hansen.02.fmics], against the reference semantics.

mod common;

use base::Budget;
use common::{config, repeated, shown, tape, words};
use generators::random;
use ltl::{Formulas, Lasso, Valuation, satisfies};
use proptest::prelude::*;
use stubborn_automata::extended::{Extended, ExtendedState};
use stubborn_automata::{Effort, Placement, translate_ba};

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn extended_automata_accept_what_satisfies_the_formula(tape in tape(), size in 1u32..10) {
        let budget = &mut Budget::unlimited();
        let (mut formulas, propositions, formula) = random::pool(2, random::NEXT_FREE, size, &mut random::from_tape(&tape));
        let ba = translate_ba(&mut formulas, formula, Effort::Medium, Placement::States, budget).unwrap();
        let mut extended = Extended::from_ba(&ba, 10_000, budget).unwrap();
        // States from which everything is accepted may accept at once.
        let everything: Vec<bool> = extended.states.iter().map(|state| accepts_everything(&extended, state)).collect();
        for (state, everything) in extended.states.iter_mut().zip(everything) {
            state.finite = everything;
        }
        let variants = [
            extended.clone(),
            extended.clone().reduce(budget).unwrap(),
            extended.clone().ignore_stuttering(budget).unwrap(),
            extended.without_finite(budget).unwrap(),
            extended.clone().ignore_stuttering(budget).unwrap().without_finite(budget).unwrap(),
        ];
        for word in words(&propositions, 16, 5) {
            let expected = satisfies(&formulas, formula, &word);
            for (index, variant) in variants.iter().enumerate() {
                prop_assert_eq!(variant.accepts(&word, budget).unwrap(), expected, "{} {}", index, shown(&formulas, formula));
            }
            let finite: Vec<Valuation> = word.positions().to_vec();
            let expected = satisfies(&formulas, formula, &repeated(&finite));
            for (index, variant) in variants.iter().enumerate() {
                prop_assert_eq!(variant.accepts_finite(&finite, budget).unwrap(), expected, "finite {} {}", index, shown(&formulas, formula));
            }
        }
    }
}

/// Whether the state is one of a clique of infinite acceptance states, one for each letter: a simple
/// sufficient condition.
fn accepts_everything(extended: &Extended, state: &ExtendedState) -> bool {
    let n_letters = 1 << extended.propositions.len();
    state.infinite
        && state.successors.len() == n_letters
        && state.successors.iter().all(|&next| {
            extended.states[next].infinite && extended.states[next].successors == state.successors
        })
}

/// Trap 16 of the papers: s(p) → f(p) ∈ F_fin and s2(p) → g(!p) ∈ F_fin, both initial. Closing F_fin
/// backwards makes the first accept at once.
#[test]
fn finite_acceptance_is_closed_over_stuttering() {
    let budget = &mut Budget::unlimited();
    let mut formulas = Formulas::new();
    let p = formulas.proposition("p");
    let (holds, fails) = (Valuation::from_iter([p]), Valuation::new());
    let state = |valuation: &Valuation, successors: &[usize], initial, finite| ExtendedState {
        valuation: valuation.clone(),
        successors: successors.to_vec(),
        initial,
        finite,
        ..ExtendedState::default()
    };
    let states = vec![
        state(&holds, &[1], true, false),
        state(&holds, &[], false, true),
        state(&holds, &[3], true, false),
        state(&fails, &[], false, true),
    ];
    let extended = Extended { propositions: vec![p], states };
    let word = Lasso::new(vec![], vec![holds.clone()]).unwrap();
    assert!(
        extended.accepts(&word, budget).unwrap()
            && extended.without_finite(budget).unwrap().accepts(&word, budget).unwrap()
    );
    assert!(!extended.accepts_finite(std::slice::from_ref(&holds), budget).unwrap());
    let closed = extended.clone().ignore_stuttering(budget).unwrap();
    assert_eq!(closed.states.iter().filter(|state| state.finite && state.initial).count(), 1);
    assert!(closed.accepts(&word, budget).unwrap() && closed.accepts_finite(&[holds], budget).unwrap());
}
