//! The arguments of `stubborn simulate`.

use std::path::PathBuf;

use clap::Args;

use super::{EXIT_CODES, LimitArguments, ModelArguments};

/// Walk through a model step by step, by hand or at random
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Choose at random instead of asking
    #[arg(short, long)]
    pub(crate) random: bool,

    /// Seed of the random choices (default: a new one, which is printed)
    #[arg(long, value_name = "N", requires = "random")]
    pub(crate) seed: Option<u64>,

    /// Number of random steps
    #[arg(long, value_name = "N", default_value_t = 100, requires = "random")]
    pub(crate) length: usize,

    /// Start in this initial state, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) initial: usize,

    /// Follow the run in this file first, which `check --json` or `simulate --json` printed
    ///
    /// The walk goes on from its end, by hand or at random. Of several runs the first is followed, unless
    /// --property names another one. The model and its definitions (-D) must be the same.
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(crate) input: Option<PathBuf>,

    /// Of the runs in the file, follow the one that violates this property
    #[arg(long, value_name = "NAME", requires = "input")]
    pub(crate) property: Option<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  stubborn simulate models/dining.proc
  stubborn simulate models/dining.proc --random --seed 7 --length 20
  stubborn check models/dining.proc --json > run.json; stubborn simulate models/dining.proc --input run.json
  printf '1\\n1\\nstate\\nquit\\n' | stubborn simulate models/dining.proc

With --json the run is printed when it ends, and prompts go to stderr. The limits are on the states
of the run.

At the prompt: the number of a step, or `undo`, `redo`, `goto N`, `random [N]`, `state`, `trace`,
`help`, `quit`. Each may be shortened to its first letter.";
