//! The corpus beside the project: sizes against Spot's, languages against the reference semantics. Every
//! formula from the literature, every other random one; `cargo run --release --example corpus` shows all,
//! with the scalable families, which take longer.

mod common;

use automata::{Effort, Placement, translate, translate_ba};
use common::{Row, corpus, disagreement, formula, words};
use ltl::Formulas;

#[test]
fn automata_are_right_and_no_larger_than_spots() {
    let Some(rows) = corpus() else { return };
    let mut totals = [[0; 2]; 2];
    let is_used = |row: &&Row| match row.source.as_str() {
        "families" => false,
        source => !source.starts_with("random") || row.number.ends_with(['0', '2', '4', '6', '8']),
    };
    for row in rows.iter().filter(is_used) {
        let (Some(spot_tgba), Some(spot_ba)) = (row.tgba, row.ba) else { continue };
        let mut formulas = Formulas::new();
        let positive = formula(&mut formulas, &row.text);
        let negation = formulas.not(positive);
        let tgba = translate(&mut formulas, negation, Effort::High).unwrap();
        let ba = translate_ba(&mut formulas, negation, Effort::High, Placement::States).unwrap();
        let words = words(&formulas.propositions(positive), 10, 4);
        for (which, (ours, spot)) in [(&tgba, spot_tgba), (&ba, spot_ba)].into_iter().enumerate() {
            assert_eq!(disagreement(&formulas, negation, ours, &words), None, "{}", row.text);
            assert!(ours.n_states() <= 2 * spot, "{} for Spot's {spot}: {}", ours.n_states(), row.text);
            totals[which][0] += ours.n_states();
            totals[which][1] += spot;
        }
    }
    let [[tgba, spot_tgba], [ba, spot_ba]] = totals;
    assert!(tgba <= spot_tgba, "TGBA: {tgba} states, Spot's {spot_tgba}");
    assert!(ba <= spot_ba, "BA: {ba} states, Spot's {spot_ba}");
}
