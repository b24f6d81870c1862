//! The arguments that say on which device states are searched, and those of `stubborn devices`.

use std::path::PathBuf;

use clap::Args;
use gpu::Choice;

use super::ResourceArguments;
use super::values::parse_definition;

/// Where to search.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct DeviceArguments {
    /// Search states on a graphics processor: gpu, gpu:1, cpu, or auto for gpu where there is one
    ///
    /// For counts, deadlocks, invariants, assertions and end states, and to show that formulas and testers hold. All states are
    /// searched; with --reduce, fewer for a deadlock, an invariant or a tester, and with --observer ta --reduce guided for a
    /// formula. Other questions are answered by the processor, and the report says so. Runs are replayed by the
    /// processor. With emulated, the processor does slowly what a card would do. See docs/guide/gpu.md.
    #[arg(long, value_name = "WHERE", default_value = "cpu", hide_default_value = true, hide_short_help = true,
          conflicts_with_all = ["hosts", "local_processes", "checkpoint", "resume"])]
    pub(crate) device: Choice,
}

/// List the graphics processors that states can be searched on
///
/// With a model, it says how many states of its width fit into the memory of each.
#[derive(Debug, Args)]
#[command(after_help = super::EXIT_CODES)]
pub(crate) struct DevicesArguments {
    /// A model: .proc, .pnml or .pml
    pub(crate) file: Option<PathBuf>,

    /// Give a constant or macro a value (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = parse_definition, requires = "file")]
    pub(crate) definitions: Vec<(String, Option<String>)>,

    #[command(flatten)]
    pub(crate) limits: ResourceArguments,
}
