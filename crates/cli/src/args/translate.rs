//! The arguments of `stubborn translate`.

use std::path::PathBuf;

use clap::Args;
use stubborn::AutomatonKind;
use stubborn::automata::Effort;

use super::automaton::KINDS;
use super::values::{Named, one_of};
use super::{AutomatonFormat, ResourceArguments};

/// Translate a formula of linear temporal logic into an automaton
#[derive(Debug, Args)]
#[command(after_long_help = TRANSLATE_EXAMPLES)]
pub(crate) struct TranslateArguments {
    /// The formula
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) formula: Option<String>,

    /// Translate the formulas of this file, one per line; lines that start with # are comments
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Kind of automaton
    #[arg(long, value_parser = one_of(KINDS), default_value = "tgba")]
    pub(crate) to: AutomatonKind,

    /// Output format
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa)]
    pub(crate) format: AutomatonFormat,

    /// Print one JSON document, as --format json
    #[arg(long)]
    pub(crate) json: bool,

    /// Translate the negation
    #[arg(long)]
    pub(crate) negate: bool,

    /// How hard to try for a small automaton
    #[arg(long, value_parser = one_of(EFFORTS), default_value = "high")]
    pub(crate) effort: Effort,

    /// Give up where an automaton would have more states
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub(crate) max_states: usize,

    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

const TRANSLATE_EXAMPLES: &str = "\
Examples:
  stubborn translate '[](req -> <>ack)'
  stubborn translate 'a U G b' --to tgta --format dot
  stubborn translate 'G F a & G F b' --to ba --format stats
  stubborn translate '[]<> p' --negate --format spin
  stubborn translate --file formulas.txt --format stats";

const EFFORTS: &[Named<Effort>] =
    &[("low", "", Effort::Low), ("medium", "", Effort::Medium), ("high", "", Effort::High)];
