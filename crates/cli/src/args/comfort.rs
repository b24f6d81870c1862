//! The arguments of what makes every day easier: `stubborn init`, `completions`, `man` and `lsp`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

/// Write a model to start from, in any of the languages
///
/// The model is small, has one property that holds and shows what the language has. Nothing is overwritten.
#[derive(Debug, Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub(crate) struct InitArguments {
    /// The file to write (default: model, with the ending of the language)
    pub(crate) file: Option<PathBuf>,

    /// The language (default: by the ending of the file, otherwise process)
    #[arg(short, long, value_enum, value_name = "NAME")]
    pub(crate) language: Option<StartingLanguage>,
}

const INIT_EXAMPLES: &str = "\
Examples:
  stubborn init                          writes model.proc
  stubborn init mutex.pml
  stubborn init --language petri net.xml
  stubborn init tests/protocol.rs        a model in Rust, as a test";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartingLanguage {
    /// A process network
    Process,
    /// Promela, as Spin reads it
    Promela,
    /// A Petri net in PNML
    Petri,
    /// A model in Rust, for the library
    Rust,
}

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
