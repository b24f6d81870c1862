//! The arguments of commands that several processes can do together.

use std::path::PathBuf;

use clap::Args;

/// Who searches together.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Several processes")]
pub(crate) struct HostArguments {
    /// Search together with other processes: a file with one host:port per line, slurm, or
    /// kubernetes:SERVICE:N
    ///
    /// The same command is started everywhere, each with its own --process. Process 0 reports, as if it were alone. All need the same secret, in
    /// the environment variable STUBBORN_SECRET or in a file. Connections are plain TCP. See docs/guide/hosts.md.
    #[arg(long, value_name = "WHERE", hide_short_help = true)]
    pub(crate) hosts: Option<String>,

    /// Which of the processes of --hosts this is: 0, 1, 2, …
    #[arg(long, value_name = "K", requires = "hosts", hide_short_help = true)]
    pub(crate) process: Option<usize>,

    /// The file with the secret that all processes of --hosts know
    #[arg(long, value_name = "FILE", requires = "hosts", hide_short_help = true)]
    pub(crate) secret_file: Option<PathBuf>,

    /// Start so many processes on this machine, which search together
    #[arg(long, value_name = "N", conflicts_with = "hosts", hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) local_processes: Option<u16>,
}
