//! The corpus beside the project: sizes against Spot's, languages against the reference semantics. Every
//! formula from the literature, every other random one; `cargo bench -p stubborn-benches --bench corpus` shows
//! all, with the scalable families, which take longer.

mod common;

use base::Budget;
use common::{disagreement, formula, words};
use generators::corpus::{self, Row};
use ltl::Formulas;
use stubborn_automata::{Effort, Placement, translate, translate_ba};

#[test]
fn automata_are_right_and_no_larger_than_spots() {
    let budget = &mut Budget::unlimited();
    let Some(rows) = corpus::read() else { return };
    let mut totals = [[0; 2]; 2];
    let is_used = |row: &&Row| match row["source"].as_str() {
        "families" => false,
        source => !source.starts_with("random") || row["row"].ends_with(['0', '2', '4', '6', '8']),
    };
    for row in rows.iter().filter(is_used) {
        let spot = |column: &str| row[column].parse::<usize>();
        let (Ok(spot_tgba), Ok(spot_ba)) = (spot("neg_tgba_states"), spot("neg_ba_states")) else { continue };
        let mut formulas = Formulas::new();
        let positive = formula(&mut formulas, &row["formula"]);
        let negation = formulas.not(positive);
        let tgba = translate(&mut formulas, negation, Effort::High, budget).unwrap();
        let ba = translate_ba(&mut formulas, negation, Effort::High, Placement::States, budget).unwrap();
        let words = words(&formulas.propositions(positive), 10, 4);
        for (which, (ours, spot)) in [(&tgba, spot_tgba), (&ba, spot_ba)].into_iter().enumerate() {
            assert_eq!(disagreement(&formulas, negation, ours, &words), None, "{}", row["formula"]);
            assert!(ours.n_states() <= 2 * spot, "{} for Spot's {spot}: {}", ours.n_states(), row["formula"]);
            totals[which][0] += ours.n_states();
            totals[which][1] += spot;
        }
    }
    let [[tgba, spot_tgba], [ba, spot_ba]] = totals;
    assert!(tgba <= spot_tgba, "TGBA: {tgba} states, Spot's {spot_tgba}");
    assert!(ba <= spot_ba, "BA: {ba} states, Spot's {spot_ba}");
}
