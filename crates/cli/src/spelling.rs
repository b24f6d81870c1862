//! How the command line spells what libraries advise.

use check::decide::Refusal;
use check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind, StoreKind};
use check::reduction;
use check::rules::{Change, Remedy};

/// A refusal, and what to ask for instead.
pub(crate) fn refusal(refusal: Refusal) -> String {
    let reason = refusal.to_string();
    let separator = if reason.contains(": ") { "; " } else { ": " };
    match remedy(refusal.remedy()) {
        Some(remedy) => reason + separator + &remedy,
        None => reason,
    }
}

/// `use --observer ta or tgta, or --reduce classical`.
fn remedy(remedy: Remedy) -> Option<String> {
    let mut text = String::new();
    let mut last_option = "";
    for way in remedy.ways {
        let (option, values) = option(way.first()?);
        let others: Vec<String> = way[1..].iter().map(spell).collect();
        text += match text.as_str() {
            "" => "use ",
            _ => ", or ",
        };
        // An option that was just named is not named again.
        text += &match option == last_option {
            true => [vec![values], others].concat().join(" with "),
            false => [vec![spell(&way[0])], others].concat().join(" "),
        };
        last_option = option;
    }
    text += if remedy.for_testers { " for testers" } else { "" };
    (!remedy.ways.is_empty()).then_some(text)
}

fn spell(change: &Change) -> String {
    let (option, values) = option(change);
    format!("{option} {values}")
}

/// An option, and the values to choose from.
fn option(change: &Change) -> (&'static str, String) {
    let (option, values): (_, Vec<&str>) = match change {
        Change::Observer(kinds) => {
            ("--observer", kinds.iter().map(|kind| ObserverKind::name(*kind)).collect())
        }
        Change::Search(kinds) => ("--search", kinds.iter().map(|kind| SearchKind::name(*kind)).collect()),
        Change::Reduction(wishes) => ("--reduce", wishes.iter().map(|wish| reduce(*wish)).collect()),
        Change::Store(StoreKind::Exact) => ("--store", vec!["exact"]),
        Change::Store(StoreKind::Bitstate { .. }) => ("--store", vec!["bitstate"]),
        Change::FairnessBy(FairnessBy::Search) => ("--fairness-by", vec!["search"]),
        Change::FairnessBy(FairnessBy::Monitors) => ("--fairness-by", vec!["monitor"]),
    };
    (option, values.join(" or "))
}

fn reduce(wish: ReductionWish) -> &'static str {
    match wish {
        ReductionWish::Auto => "auto",
        ReductionWish::None => "none",
        ReductionWish::Best => "stubborn",
        ReductionWish::Closure => "closure",
        ReductionWish::Fixed(method) => reduction::Method::name(method),
    }
}

#[cfg(test)]
mod tests {
    use automata::testing::Explosion;
    use check::rules::Rule;

    use super::*;

    #[test]
    fn remedies_are_spelled_as_options() {
        let spelled = |rule: Rule| refusal(rule.into());
        assert_eq!(
            spelled(Rule::NoGuide),
            "only a testing automaton can guide the reduction: use --observer ta or tgta, or --reduce classical"
        );
        assert_eq!(
            spelled(Rule::ComponentStore),
            "the bitstate store cannot tell components apart: use --search nested, or one-pass with --observer ta"
        );
        assert_eq!(
            spelled(Rule::Monitors),
            "monitors need a Büchi automaton, a nested search and no reduction: use --observer ba --search nested \
             --reduce none"
        );
        assert_eq!(
            spelled(Rule::TesterReduction),
            "this reduction is for LTL and claims: use --reduce stubborn for testers"
        );
        assert_eq!(
            spelled(Rule::OwnDeadlocks),
            "only the automaton as it was written knows its deadlock states"
        );
        assert_eq!(
            refusal(Refusal::Ta(Explosion::States(7))),
            "the TA is too large: the explicit testing automaton would have more than 7 states; use --observer tgba"
        );
    }
}
