//! The arguments of `stubborn explain`.

use std::path::PathBuf;

use clap::Args;

use super::CheckArguments;

/// Check the properties of a model, and say in words how each that is violated goes wrong
///
/// What happens first and what repeats for ever, who never moves again and why, what never becomes true again;
/// at a deadlock, who waits for what. Takes what `check` takes, and ends with the same exit codes. With --input,
/// nothing is checked: the runs are those of an earlier check.
#[derive(Debug, Args)]
#[command(after_help = "", after_long_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) check: CheckArguments,

    /// Explain the runs that `check --json` has printed to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ltl", "claim", "mcc", "report"])]
    pub(crate) input: Option<PathBuf>,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  stubborn explain models/dining.proc -D N=3
  stubborn explain models/peterson.proc --property again
  stubborn explain models/semaphore.proc --property served --fair weak
  stubborn check models/dining.proc --json > dining.json
  stubborn explain models/dining.proc --input dining.json";
