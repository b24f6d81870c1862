//! The arguments of `stubborn automaton`, and the kinds and formats of automata.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stubborn::AutomatonKind;

use super::ResourceArguments;
use super::values::{Named, one_of};

/// Convert, combine and compare automata (HOA files and never claims)
///
/// Without a question the automata are shown, converted by --to in the given --format. Questions are
/// --equivalent, --accepts, --empty and --stutter-invariant.
#[derive(Debug, Args)]
#[command(after_long_help = AUTOMATON_EXAMPLES)]
pub(crate) struct AutomatonArguments {
    /// Files with automata: HOA (several in a file, also testing automata: docs/hoa-extension.md) or
    /// a never claim
    #[arg(required_unless_present = "ltl")]
    pub(crate) files: Vec<PathBuf>,

    /// Also take the automaton of this formula (can be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,

    /// Take the product of all automata first
    #[arg(long)]
    pub(crate) product: bool,

    /// Close the automata under stuttering first
    #[arg(long)]
    pub(crate) stutter_closure: bool,

    /// Complement the automata first
    #[arg(long)]
    pub(crate) complement: bool,

    /// Simplify the automata first
    #[arg(long)]
    pub(crate) simplify: bool,

    /// Do two automata accept the same words? If not, show a word that tells them apart
    #[arg(long)]
    pub(crate) equivalent: bool,

    /// Do all automata accept this word, like 'a; !a & b; cycle{b}'?
    #[arg(long, value_name = "WORD")]
    pub(crate) accepts: Option<String>,

    /// Does an automaton accept nothing? If not, show a word that it accepts
    #[arg(long)]
    pub(crate) empty: bool,

    /// Does stuttering make no difference? If it does, show two words that differ only by it
    #[arg(long)]
    pub(crate) stutter_invariant: bool,

    /// Kind of automaton to convert to
    #[arg(long, value_parser = one_of(KINDS))]
    pub(crate) to: Option<AutomatonKind>,

    /// Output format
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa)]
    pub(crate) format: AutomatonFormat,

    /// Print figures, as --format stats
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Give up where something would take more states
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) max_states: usize,

    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

const AUTOMATON_EXAMPLES: &str = "\
Examples:
  stubborn automaton spec.hoa --to ba --format spin
  stubborn automaton a.hoa b.hoa --equivalent
  stubborn automaton claim.never --accepts 'req; cycle{!ack}'
  stubborn automaton a.hoa b.hoa --product --empty

Exit codes:
  0  yes to every question, or the automata were shown
  1  no to some question
  2  bad input or usage
  3  unknown: a limit was reached, or an answer takes more states than --max-states";

pub(super) const KINDS: &[Named<AutomatonKind>] = &[
    ("tgba", "", AutomatonKind::Tgba),
    ("ba", "", AutomatonKind::Ba),
    ("ta", "", AutomatonKind::Ta),
    ("tgta", "", AutomatonKind::Tgta),
    ("extended", "", AutomatonKind::Extended),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonFormat {
    Hoa,
    Dot,
    Svg,
    Spin,
    Json,
    Stats,
}
