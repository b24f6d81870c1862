//! The arguments of what makes every day easier: `stubborn init`, `completions`, `man`, `lsp` and `mcp`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap_complete::Shell;

use super::values::{Named, one_of, parse_bytes, parse_duration};

/// Write a model to start from, in any of the languages
///
/// The model is small, has one property that holds and shows what the language has. Nothing is overwritten.
/// A name of a language alone stands for the language: `stubborn init promela` writes model.pml.
#[derive(Debug, Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub(crate) struct InitArguments {
    /// The file to write, or a language: process, promela, petri or rust (default: model.proc)
    #[arg(value_name = "FILE|LANGUAGE")]
    pub(crate) file: Option<PathBuf>,

    /// The language (default: by the ending of the file, otherwise process)
    #[arg(short, long, value_parser = one_of(STARTS), value_name = "NAME")]
    pub(crate) language: Option<Start>,
}

const INIT_EXAMPLES: &str = "\
Examples:
  stubborn init                          writes model.proc
  stubborn init promela                  writes model.pml
  stubborn init mutex.pml
  stubborn init --language petri net.xml
  stubborn init tests/protocol.rs        a model in Rust, as a test";

/// A model to start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// How its file ends.
    pub(crate) ending: &'static str,
    /// What it is.
    pub(crate) what: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const STARTS: &[Named<Start>] = &[
    (
        "process",
        "A process network",
        Start { ending: "proc", what: "a process network", text: include_str!("../../init/model.proc") },
    ),
    (
        "promela",
        "Promela, as Spin reads it",
        Start { ending: "pml", what: "a model in Promela", text: include_str!("../../init/model.pml") },
    ),
    (
        "petri",
        "A Petri net in PNML",
        Start { ending: "pnml", what: "a Petri net", text: include_str!("../../init/model.pnml") },
    ),
    (
        "rust",
        "A model in Rust, for the library",
        Start { ending: "rs", what: "a model in Rust", text: include_str!("../../init/model.rs") },
    ),
];

/// Serve an editor: a language server on the standard input and output
///
/// Mistakes as one types, what names are, definitions, references, rename, completion, outline, formatting, and lenses
/// that check a property. Editors start it by themselves: see docs/guide/editors.md and the folder editors.
#[derive(Debug, Args)]
pub(crate) struct LspArguments {
    /// Talk on the standard input and output, which it does in any case: editors like to say so
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Serve an agent: tools of the Model Context Protocol on the standard input and output
///
/// The tools are check, explore, simulate, explain and translate. Models are sent as texts, or named by a path within
/// --folder; nothing else is read, and nothing is written. Every call has limits of time and memory: what it asks for, but
/// at most what is said here. Clients start it by themselves, see docs/guide/agents.md.
#[derive(Debug, Args)]
#[command(after_long_help = MCP_EXAMPLES)]
pub(crate) struct McpArguments {
    /// The folder whose models can be named (default: none can)
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// The longest time that a call may ask for, like 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// The most memory that a call may ask for, like 500M or 4G
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes)]
    pub(crate) max_memory: u64,

    /// How many calls compute at once; the others wait
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
}

const MCP_EXAMPLES: &str = r#"To register it, most clients want a document like this:
  {
    "mcpServers": {
      "stubborn": { "command": "stubborn", "args": ["mcp", "--folder", "models"] }
    }
  }

Or by a command, as in:
  claude mcp add stubborn -- stubborn mcp --folder models
  codex mcp add stubborn -- stubborn mcp --folder models"#;

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  stubborn completions bash > ~/.local/share/bash-completion/completions/stubborn
  stubborn completions zsh > ~/.zfunc/_stubborn
  stubborn completions fish > ~/.config/fish/completions/stubborn.fish";

/// Write manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub(crate) struct ManArguments {
    /// The folder to write them to; it must exist
    pub(crate) folder: PathBuf,
}

const MAN_EXAMPLES: &str = "\
Examples:
  stubborn man ~/.local/share/man/man1; man stubborn-check";
