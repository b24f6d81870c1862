//! The arguments of commands that several processes can do together, or that can go on after an interruption.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::parse_duration;

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

    /// Give states to processes by a part of them that changes seldom, so that most steps stay with one process
    ///
    /// Less is sent then, but the processes may get more uneven parts. See docs/guide/hosts.md.
    #[arg(long, hide_short_help = true)]
    pub(crate) owners_by_part: bool,

    /// Take a process for gone that was not heard of for so long, like 30s or 2m; 20s if nothing is said
    #[arg(long, value_name = "TIME", value_parser = parse_duration, hide_short_help = true)]
    pub(crate) silence: Option<Duration>,
}

/// Where searches are kept.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Going on after an interruption")]
pub(crate) struct CheckpointArguments {
    /// Keep what is found in this folder, so that --resume can go on with it
    ///
    /// It is written every minute, at the end of a level, and when a limit is reached. States are searched level by level then, and formulas and testers by a search that
    /// all processes or threads do together. Several processes need a folder that all of them see. See docs/guide/hosts.md.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Go on with what is kept in this folder, with as many processes or threads as there are now
    ///
    /// The rest of the command must be the same, but for limits, threads and processes.
    #[arg(long, value_name = "DIR", conflicts_with = "checkpoint", hide_short_help = true)]
    pub(crate) resume: Option<PathBuf>,

    /// How often something is written, like 30s or 10m; never more than a twentieth of the time goes into that
    #[arg(long, value_name = "TIME", value_parser = parse_duration, hide_short_help = true)]
    pub(crate) checkpoint_every: Option<Duration>,
}
