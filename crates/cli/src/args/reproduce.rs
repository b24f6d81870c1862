//! The arguments of `stubborn reproduce`.

use std::path::PathBuf;

use ::reproduce::{Paper, Scale};
use clap::Args;

use super::values::{Named, one_of, parse_bytes, parse_threads};

/// Repeat the experiments of the papers, and write a report that puts our figures beside theirs
///
/// Tables (CSV), texts (Markdown), plots (SVG) and one page, index.html, are written into a folder, with the
/// models and the command that repeats each measurement. Ctrl-C leaves what is done; the same command goes on
/// from there, since a measurement that is in its table already is not made again.
#[derive(Debug, Args)]
#[command(after_long_help = REPRODUCE_EXAMPLES)]
pub(crate) struct ReproduceArguments {
    /// Only the experiments of this paper (repeatable)
    #[arg(long, value_parser = one_of(PAPERS), value_name = "PAPER")]
    paper: Vec<Paper>,

    /// Fewer and smaller systems: a minute or two instead of up to an hour
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// The largest systems and ten times as many formulas: hours
    #[arg(long)]
    pub(crate) full: bool,

    /// The smallest systems: seconds, for tests
    #[arg(long, conflicts_with_all = ["quick", "full"], hide = true)]
    pub(crate) tiny: bool,

    /// The folder to write to
    #[arg(short, long, value_name = "FOLDER", default_value = "reproduction")]
    pub(crate) output: PathBuf,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Let so many threads search at once (default: 1, so that times are those of the algorithms)
    ///
    /// Counts of searches that see everything do not depend on it. Where interleavings are left out, several threads may
    /// explore others than one.
    #[arg(short, long, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<u16>,

    /// No search uses more memory than this, like 500M or 4G (default: most of what is free)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,
}

impl ReproduceArguments {
    /// The papers that were asked for; all if none was.
    pub(crate) fn papers(&self) -> Vec<Paper> {
        let is_asked = |paper: &Paper| self.paper.is_empty() || self.paper.contains(paper);
        Paper::ALL.into_iter().filter(is_asked).collect()
    }

    pub(crate) fn scale(&self) -> Scale {
        match (self.tiny, self.quick, self.full) {
            (true, ..) => Scale::Tiny,
            (_, true, _) => Scale::Quick,
            (_, _, true) => Scale::Full,
            _ => Scale::Standard,
        }
    }
}

const PAPERS: &[Named<Paper>] = &[
    ("000", "Testing automata and the one-pass search (Hansen, Penczek, Valmari 2002)", Paper::P000),
    ("001", "Testers and stubborn sets (Valmari 1993)", Paper::P001),
    ("002", "Fairness (Malinen, Luukkainen 2003)", Paper::P002),
    ("003", "Generalized testing automata (Ben Salem, Duret-Lutz, Kordon 2012)", Paper::P003),
    ("004", "Closure under stuttering (Holzmann, Kupferman 1996)", Paper::P004),
];

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  stubborn reproduce --quick                   all papers, small; then open reproduction/index.html
  stubborn reproduce --paper 000               one paper, as large as in the paper
  stubborn reproduce --full --output evidence  everything; interrupt and go on as you like
  stubborn reproduce -t 8 --output eight       the same by eight threads

Exit codes:
  0  everything was measured
  2  bad usage, or the folder cannot be written to
  3  something is missing: interrupted, or a measurement failed";
