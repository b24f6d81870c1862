//! The arguments of all commands: one file per command, and here what several of them take. `-h` fits a
//! screen, `--help` explains with examples.

mod automaton;
mod certify;
mod check;
mod comfort;
mod device;
mod draw;
mod explain;
mod explore;
mod hosts;
mod mcc;
mod reproduce;
mod serve;
mod simulate;
mod translate;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};
use stubborn::Order;
use stubborn::check::method::{ObserverKind, StoreKind};

pub(crate) use self::automaton::{AutomatonArguments, AutomatonFormat};
pub(crate) use self::certify::CertifyArguments;
pub(crate) use self::check::{CheckArguments, EmittedTest, Format};
pub(crate) use self::comfort::{
    CompletionsArguments, InitArguments, LspArguments, ManArguments, McpArguments, STARTS, Start,
};
pub(crate) use self::device::{DeviceArguments, DevicesArguments};
pub(crate) use self::draw::{DrawArguments, DrawFormat};
pub(crate) use self::explain::ExplainArguments;
pub(crate) use self::explore::ExploreArguments;
pub(crate) use self::hosts::{CheckpointArguments, HostArguments};
pub(crate) use self::mcc::MccArguments;
pub(crate) use self::reproduce::ReproduceArguments;
pub(crate) use self::serve::ServeArguments;
pub(crate) use self::simulate::SimulateArguments;
pub(crate) use self::translate::TranslateArguments;
use self::values::{Named, one_of, parse_bytes, parse_definition, parse_duration, parse_threads};

const EXIT_CODES: &str = "\
Exit codes:
  0  every property holds, or the job is done
  1  some property is violated
  2  bad input or usage
  3  undecided: a limit was hit, or an incomplete method found nothing";

/// Model checker for concurrent systems: says that a property holds, or shows the run that breaks it.
#[derive(Debug, Parser)]
#[command(name = "stubborn", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArguments),
    Explain(ExplainArguments),
    Explore(ExploreArguments),
    Simulate(SimulateArguments),
    Certify(CertifyArguments),
    Draw(DrawArguments),
    Serve(ServeArguments),
    Mcc(MccArguments),
    Translate(TranslateArguments),
    Automaton(AutomatonArguments),
    Reproduce(ReproduceArguments),
    Devices(DevicesArguments),
    Lsp(LspArguments),
    Mcp(McpArguments),
    Init(InitArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

impl Command {
    /// Whether one JSON document is wanted.
    pub(crate) fn json(&self) -> bool {
        match self {
            Command::Certify(arguments) => arguments.limits.json,
            Command::Check(arguments) => arguments.format() == Format::Json,
            Command::Explain(arguments) => arguments.check.format() == Format::Json,
            Command::Explore(arguments) => arguments.engine.limits.json,
            Command::Simulate(arguments) => arguments.limits.json,
            Command::Translate(arguments) => arguments.json,
            Command::Automaton(arguments) => arguments.json,
            _ => false,
        }
    }
}

/// The model.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The model: .proc, .pnml, .pml, or - for the standard input
    pub(crate) file: PathBuf,

    /// Give a constant or macro a value (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = parse_definition)]
    pub(crate) definitions: Vec<(String, Option<String>)>,

    /// The language, if neither the name of the file nor how it begins tells: process, petri, promela
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) language: Option<String>,

    /// Where else to look for files that the model includes, after its own folder (repeatable)
    #[arg(short = 'I', long = "include", value_name = "DIR", hide_short_help = true)]
    pub(crate) folders: Vec<String>,

    /// How many processes of Promela may exist at the same time; one more is an error
    #[arg(long, value_name = "N", default_value_t = 255, hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(1..=255))]
    pub(crate) max_processes: u32,
}

/// How to search.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// Which states come first
    ///
    /// By default the nearest, so that runs are shortest; where interleavings are left out, and they need not be, the
    /// nearest while there are few, then also those that were met last, by turns.
    #[arg(long, value_parser = one_of(ORDERS))]
    pub(crate) order: Option<Order>,

    /// Keep states exactly, or only a few bits of each (then states may be missed)
    #[arg(long, value_enum, default_value_t = StoreArgument::Exact)]
    pub(crate) store: StoreArgument,

    /// Size of the bit array of --store bitstate
    #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = parse_bytes, hide_short_help = true)]
    pub(crate) bitstate_size: u64,

    /// Bits set per state by --store bitstate
    #[arg(long, value_name = "K", default_value_t = 3, hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) bitstate_hashes: u32,
}

/// What an option is if nothing is said: chosen.
pub(crate) type Auto<T> = Option<T>;

const OBSERVERS: &[Named<Auto<ObserverKind>>] = &[
    ("auto", "What suits the property", None),
    ("tgba", "Generalized Büchi automaton", Some(ObserverKind::Tgba)),
    ("ba", "Büchi automaton", Some(ObserverKind::Ba)),
    ("ta", "Testing automaton", Some(ObserverKind::Ta)),
    ("tgta", "Generalized testing automaton", Some(ObserverKind::Tgta)),
    ("lazy-ta", "Testing automaton, made while it watches", Some(ObserverKind::LazyTa)),
    ("lazy-tgta", "Generalized testing automaton, made while it watches", Some(ObserverKind::LazyTgta)),
    ("extended", "Büchi automaton with labels on states", Some(ObserverKind::Extended)),
];

const ORDERS: &[Named<Order>] = &[
    ("bfs", "Breadth first", Order::Bfs),
    ("dfs", "Depth first", Order::Dfs),
    ("mixed", "Breadth first while there are few states, then both by turns", Order::Mixed),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArgument {
    Exact,
    Bitstate,
}

impl SearchArguments {
    /// Whether states are kept exactly, and searched breadth first.
    pub(crate) fn is_plain(&self) -> bool {
        self.store == StoreArgument::Exact && matches!(self.order, None | Some(Order::Bfs))
    }

    pub(crate) fn store(&self) -> StoreKind {
        match self.store {
            StoreArgument::Exact => StoreKind::Exact,
            StoreArgument::Bitstate => {
                StoreKind::Bitstate { bytes: self.bitstate_size, n_hashes: self.bitstate_hashes }
            }
        }
    }
}

/// How many may search at once.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ThreadArguments {
    /// Search with so many threads (default: all cores, where that pays)
    ///
    /// Answers, counts and shortest runs do not depend on it. Several questions are answered at once; where there are
    /// fewer questions than threads, one thread begins each search, and others join when there are many states.
    #[arg(short, long, value_name = "N", env = "STUBBORN_THREADS", hide_env_values = true,
          value_parser = parse_threads)]
    pub(crate) threads: Option<u16>,
}

impl ThreadArguments {
    pub(crate) fn number(self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// How far to go, and how to tell about it.
#[derive(Debug, Default, Args)]
pub(crate) struct LimitArguments {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Stop after this many states
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,

    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

/// What every search takes.
#[derive(Debug, Args)]
pub(crate) struct EngineArguments {
    #[command(flatten)]
    pub(crate) search: SearchArguments,

    #[command(flatten)]
    pub(crate) device: DeviceArguments,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,

    #[command(flatten)]
    pub(crate) hosts: HostArguments,

    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArguments,
}

/// What may be used up.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ResourceArguments {
    /// Stop before using more memory, like 500M or 4G (default: most of what is free)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time, like 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

impl From<&ResourceArguments> for stubborn::Limits {
    fn from(arguments: &ResourceArguments) -> stubborn::Limits {
        stubborn::Limits { states: None, memory: arguments.max_memory, time: arguments.timeout }
    }
}

impl From<&LimitArguments> for stubborn::Limits {
    fn from(arguments: &LimitArguments) -> stubborn::Limits {
        stubborn::Limits { states: arguments.max_states, ..(&arguments.resources).into() }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
