//! How the command line spells what libraries advise.

use stubborn::base::{Diagnostic, Diagnostics};
use stubborn::check::decide::Refusal;
use stubborn::check::method::{FairnessBy, ObserverKind, SearchKind, StoreKind};
use stubborn::check::rules::{Change, Remedy};
use stubborn::report::Spelling;
use stubborn::{Error, Question, Text};

use crate::exit::Failure;

/// What texts refer to.
pub(crate) const SPELLING: Spelling = Spelling {
    shows_all: "--json shows all",
    weak_fairness: Some("--fair weak"),
    strong_fairness: Some("--fair strong"),
};

/// A text that was given by an option.
pub(crate) fn text(text: &str, option: &str) -> Text {
    Text { text: text.to_owned(), source: option.to_owned() }
}

/// A formula that was given by an option.
pub(crate) fn formula(formula: &str) -> Question {
    Question::Ltl(text(formula, "--ltl"))
}

/// The messages of an error, with what to ask for instead.
pub(crate) fn errors(error: &Error) -> Diagnostics {
    let mut spelled = Diagnostics::new();
    for diagnostic in &error.diagnostics() {
        let mut diagnostic: Diagnostic = diagnostic.clone();
        if let Some(refusal) = error.refusal() {
            diagnostic.message += &hint(&refusal);
            diagnostic.help = None;
        }
        match diagnostic.code {
            "unknown-fairness" => diagnostic.message = format!("--fair: {}", diagnostic.message),
            "bitstate-size" if diagnostic.help.take().is_some() => {
                diagnostic.message += "; choose a smaller --bitstate-size";
            }
            "too-many-states" => {
                diagnostic.code = "too-large";
                diagnostic.message += "; raise --max-states";
            }
            "not-invariant" => diagnostic.message += ": try --stutter-invariant or --stutter-closure",
            "no-claim" => {
                diagnostic.code = "not-supported";
                diagnostic.message += "; use --to ba";
            }
            _ => {}
        }
        spelled.push(diagnostic);
    }
    spelled
}

/// The same for the product with a property.
pub(crate) fn cannot_be_watched(error: Error) -> Failure {
    match Failure::from(error) {
        Failure::Wrong(sources, diagnostics) => {
            let mut spelled = Diagnostics::new();
            for diagnostic in &diagnostics {
                let message =
                    diagnostic.message.replace("cannot be checked this way", "cannot be watched this way");
                spelled.push(Diagnostic { message, ..diagnostic.clone() });
            }
            Failure::Wrong(sources, spelled)
        }
        failure => failure,
    }
}

/// What to ask for instead of what was refused, to be said after the reason.
pub(crate) fn hint(refusal: &Refusal) -> String {
    let separator = if refusal.to_string().contains(": ") { "; " } else { ": " };
    remedy(refusal.remedy()).map_or(String::new(), |remedy| separator.to_owned() + &remedy)
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
        Change::Reduction(wishes) => ("--reduce", wishes.iter().map(|wish| wish.name()).collect()),
        Change::Store(StoreKind::Exact) => ("--store", vec!["exact"]),
        Change::Store(StoreKind::Bitstate { .. } | StoreKind::Fingerprint) => ("--store", vec!["bitstate"]),
        Change::FairnessBy(FairnessBy::Search) => ("--fairness-by", vec!["search"]),
        Change::FairnessBy(FairnessBy::Monitors) => ("--fairness-by", vec!["monitor"]),
    };
    (option, values.join(" or "))
}

#[cfg(test)]
mod tests {
    use stubborn::automata::TooLarge;
    use stubborn::automata::by_change::Explosion;
    use stubborn::check::rules::Rule;

    use super::*;

    fn refusal(refusal: Refusal) -> String {
        refusal.to_string() + &hint(&refusal)
    }

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
            refusal(Refusal::Ta(TooLarge::Explicit(Explosion::States(7)))),
            "the TA is too large: the explicit testing automaton would have more than 7 states; use --observer tgba"
        );
    }
}
