//! The figures of [bensalem.12.topnoc] for the net MAPK with scale 8 (Table 2): the full products with the
//! automata of ¬Φ2.

mod common;

use automata::by_change::{Limits, to_ta, to_tgta};
use automata::stutter::Proof;
use automata::{AnyAutomaton, Effort, Placement, translate, translate_ba};
use base::Budget;
use check::decide::{Claim, Settings};
use check::method::ObserverKind;
use common::{corpus, lower, name, net};
use language::Model as _;

/// Φ2, as it is printed.
const PHI_2: &str = "!((!RafP) U MEKP) && !((!MEKP) U MEKPP) && !((!MEKPP) U ERKPP) && !((!ERKP) U ERKPP)";

#[test]
fn the_products_have_as_many_states_as_the_paper_says() {
    let Some(folder) = corpus("").into_iter().find(|folder| name(folder) == "MAPK-PT-00008") else {
        return; // `corpus` has said that it is not there.
    };
    let mut model = lower(&net(&folder));
    let source = base::SourceId::new(0);
    let parsed = ltl::parse(&mut model.formulas, PHI_2, source, 0).expect("a good formula");
    let negation = model.formulas.not(parsed.formula);
    let tgba = translate(&mut model.formulas, negation, Effort::High, &mut Budget::unlimited())
        .expect("a small automaton");
    let ba = translate_ba(
        &mut model.formulas,
        negation,
        Effort::High,
        Placement::States,
        &mut Budget::unlimited(),
    )
    .expect("a small one");
    let mut propositions = Vec::new();
    for prop in model.formulas.propositions(negation) {
        let text = model.formulas.text(prop).to_owned();
        let expr = model.resolve(&text, source, 0).expect("a place");
        propositions.push((prop, model.parts().0.add_proposition(text, expr)));
    }
    let proof = Proof::of_next_free(&model.formulas, parsed.formula);
    let limits = Limits::default();
    let count = |observer: ObserverKind, is_papers: bool| {
        let budget = &mut Budget::unlimited();
        let papers = is_papers.then(|| match observer {
            ObserverKind::Ta => AnyAutomaton::Ta(to_ta(&ba, &limits, budget).expect("a small automaton")),
            _ => AnyAutomaton::Tgta(to_tgta(&tgba, &limits, budget).expect("a small automaton")),
        });
        let mut claim = match papers {
            Some(papers) => {
                Claim::of_written(papers, propositions.clone(), |_| proof, budget).expect("no limit")
            }
            None => Claim::new(tgba.clone(), propositions.clone(), proof),
        };
        let decision = claim.count(&*model.system, observer, &Settings::default(), &mut Budget::unlimited());
        let outcome = decision.expect("allowed").outcome;
        assert!(outcome.stop.is_none(), "{:?}", outcome.stop);
        (outcome.stats.states, outcome.stats.transitions)
    };
    assert_eq!(count(ObserverKind::Tgba, false), (46_494, 302_350));
    for observer in [ObserverKind::Ta, ObserverKind::Tgta] {
        assert_eq!(count(observer, true), (33_376, 289_235), "{observer:?}");
        // Smaller automata do not make a smaller product here, but for a few steps.
        assert_eq!(count(observer, false), (33_376, 289_229), "{observer:?}");
    }
    for observer in [ObserverKind::LazyTa, ObserverKind::LazyTgta] {
        assert_eq!(count(observer, false), (33_376, 289_235), "{observer:?}");
    }
}
