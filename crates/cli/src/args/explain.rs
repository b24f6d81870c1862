//! The arguments of `stubborn explain`.

use std::path::PathBuf;

use clap::Args;

use super::{CheckArguments, EXIT_CODES};

/// Check the properties of a model, and say in words how each that is violated goes wrong
///
/// What happens first and what repeats for ever, who never moves again and why, what never becomes true again;
/// at a deadlock, who waits for what. Takes what `check` takes. With --input, nothing is checked: the runs are
/// those of an earlier check.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) check: CheckArguments,

    /// Explain the runs in this file, which `check --json` has printed for this model
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
