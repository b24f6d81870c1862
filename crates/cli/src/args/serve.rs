//! The arguments of `stubborn serve`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::{parse_bytes, parse_definition, parse_duration};

/// Open the workbench in the browser: edit, check, step through runs, simulate
///
/// A page on this machine, served by this program until it is ended by Ctrl+C; nothing is installed, and nothing is
/// fetched from a network. The address that is printed holds a token, without which nothing is answered. Files are
/// opened and saved only in the folder of the model, or in --folder.
#[derive(Debug, Args)]
#[command(after_long_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The model to begin with, or a folder of models (default: an example)
    pub(crate) file: Option<PathBuf>,

    /// Give a constant or macro of the model a value (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = parse_definition)]
    pub(crate) definitions: Vec<(String, Option<String>)>,

    /// The folder whose models can be opened and saved (default: that of the model)
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// The port, 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// The address to listen on; others than this machine's own let other machines in, if they know the token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_short_help = true)]
    pub(crate) address: IpAddr,

    /// Do not ask the desktop to open the page
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Stop each check after this time, like 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,

    /// Stop each check before it uses more memory, like 500M or 4G
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes)]
    pub(crate) max_memory: u64,

    /// How many checks run at once; the others wait
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
}

const SERVE_EXAMPLES: &str = "\
Examples:
  stubborn serve                              an example to begin with; nothing is read or saved
  stubborn serve models/dining.proc -D N=3
  stubborn serve models --no-open             choose a model of the folder; open the page yourself
  stubborn serve --port 8080 --timeout 30s --max-memory 500M

On another machine: ssh -L 8080:localhost:8080 host, and there stubborn serve --port 8080 --no-open.";
