//! The arguments of `stubborn mcc`.

use std::path::PathBuf;

use clap::Args;
use stubborn::Rules;

use super::values::parse_rules;
use super::{ResourceArguments, ThreadArguments};

/// Answer an examination of the Model Checking Contest, in its own words
///
/// Every answer is printed as soon as it is known. Time is shared out among the questions: easy ones are
/// answered first, and what is left is divided among the rest. Examinations are StateSpace, OneSafe,
/// StableMarking, QuasiLiveness, Liveness, ReachabilityDeadlock, UpperBounds, ReachabilityCardinality,
/// ReachabilityFireability, LTLCardinality and LTLFireability. For CTL the answer is DO_NOT_COMPETE.
#[derive(Debug, Args)]
#[command(after_long_help = MCC_EXAMPLES)]
pub(crate) struct MccArguments {
    /// The folder with model.pnml and the formula files
    pub(crate) folder: PathBuf,

    /// What is asked, like LTLFireability
    pub(crate) examination: String,

    #[command(flatten)]
    pub(crate) resources: ResourceArguments,

    /// Make nets simpler first by these rules: all, none, names, or all,-NAME
    #[arg(long, value_name = "RULES", default_value = "all", value_parser = parse_rules)]
    pub(crate) structural: Rules,

    /// Make no decision diagrams of all markings
    #[arg(long)]
    pub(crate) no_diagrams: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const MCC_EXAMPLES: &str = "\
Examples:
  stubborn mcc Philosophers-PT-000005 StateSpace
  stubborn mcc Philosophers-PT-000005 LTLFireability --timeout 30s --max-memory 8G

Exit codes:
  0  every question was answered
  2  bad input or usage
  3  some answer is CANNOT_COMPUTE or DO_NOT_COMPETE";
