//! `translate`: a formula becomes an automaton.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stubborn::automata::{Effort, hoa};
use stubborn::report::automaton::{stats, to_dot};
use stubborn::{AutomatonKind, Error, Piece, Text, Workshop};

use super::Workplace;
use crate::asked::{Bounds, usage};

/// Larger automata are not made.
const MAX_STATES: usize = 50_000;

/// Longer texts are not sent.
const MAX_LETTERS: usize = 1_000_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The formula, like "[] (request -> <> answer)" or "G (request -> F answer)".
    formula: String,
    /// The kind of automaton (default tgba).
    #[serde(default)]
    to: Kind,
    /// How it is written (default hoa).
    #[serde(default)]
    format: Format,
    /// Translate the negation, as is done to find runs that violate the formula.
    #[serde(default)]
    negate: bool,
    #[serde(default)]
    limits: Bounds,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// A transition-based generalized Büchi automaton.
    #[default]
    Tgba,
    /// A Büchi automaton.
    Ba,
    /// A testing automaton, which reads changes; not for formulas that see stuttering.
    Ta,
    /// A generalized testing automaton.
    Tgta,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// The Hanoi Omega-Automata format.
    #[default]
    Hoa,
    /// A picture, for Graphviz.
    Dot,
    /// A never claim for Spin, of a Büchi automaton.
    Never,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The formula that was translated, as it was understood.
    formula: String,
    /// The automaton, in the format that was asked for.
    automaton: String,
    /// Figures: states, edges, and so on.
    figures: serde_json::Value,
}

pub(crate) fn translate(arguments: &Arguments, place: &Workplace<'_>) -> Result<Answer, Error> {
    let clock = place.clock(arguments.limits)?;
    let mut workshop = Workshop::new(MAX_STATES, &clock);
    let text = Text { text: arguments.formula.clone(), source: "the formula".to_owned() };
    let line = workshop.line(&text)?;
    let piece = workshop.translate(&line, arguments.negate, arguments.to.into(), Effort::High)?;
    let (Piece { name, automaton, .. }, formulas) = (&piece, workshop.formulas());
    let text = match arguments.format {
        Format::Hoa => written(hoa::write_any(automaton, formulas, Some(name))),
        Format::Dot => written(to_dot(automaton, formulas)),
        Format::Never => workshop.never_claim(&piece, |claim| written(claim))?,
    }?;
    let figures = stats(automaton, &mut clock.budget());
    let figures = figures.map_err(|limit| usage(&limit.to_string(), "allow more by `limits`"))?;
    Ok(Answer { formula: name.clone(), automaton: text, figures })
}

impl From<Kind> for AutomatonKind {
    fn from(kind: Kind) -> AutomatonKind {
        match kind {
            Kind::Tgba => AutomatonKind::Tgba,
            Kind::Ba => AutomatonKind::Ba,
            Kind::Ta => AutomatonKind::Ta,
            Kind::Tgta => AutomatonKind::Tgta,
        }
    }
}

/// The text, if it is not too long to be sent.
fn written(shown: impl fmt::Display) -> Result<String, Error> {
    struct Bounded(String);
    impl fmt::Write for Bounded {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            self.0.push_str(piece);
            if self.0.len() <= MAX_LETTERS { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut text = Bounded(String::new());
    match fmt::write(&mut text, format_args!("{shown}")) {
        Ok(()) => Ok(text.0),
        Err(_) => {
            Err(usage("the automaton is too large to be sent", "use `stubborn translate` in a terminal"))
        }
    }
}
