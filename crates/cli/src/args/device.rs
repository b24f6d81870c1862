//! The arguments that say on which device states are searched, and those of `stubborn devices`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::ResourceArguments;
use super::values::parse_definition;

/// Where states are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeviceChoice {
    /// The processor.
    #[default]
    Cpu,
    /// The first graphics processor, if there is one that can be used.
    Auto,
    /// The graphics processor of this number.
    Gpu(usize),
    /// The processor, by the search and the kernels of a graphics processor.
    Emulated,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(DeviceChoice::Cpu),
            None if text == "auto" => Ok(DeviceChoice::Auto),
            None if text == "emulated" => Ok(DeviceChoice::Emulated),
            None if text == "gpu" => Ok(DeviceChoice::Gpu(0)),
            Some(("gpu", number)) if number.parse::<u16>().is_ok() => {
                Ok(DeviceChoice::Gpu(number.parse().unwrap_or(0)))
            }
            _ => Err("expected cpu, gpu, gpu:1 or auto".to_owned()),
        }
    }
}

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
    pub(crate) device: DeviceChoice,
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
