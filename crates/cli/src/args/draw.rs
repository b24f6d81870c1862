//! The arguments of `stubborn draw`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ModelArguments, ResourceArguments};

/// Draw a model: a Petri net, or each process of a network as an automaton
///
/// The picture is written as SVG, which any browser shows, or in the language of Graphviz (DOT). A net is
/// drawn with its initial marking, a transition that only looks at a place with an arc that has two heads.
/// In a network, moves that can never happen, since some other process never takes part, are left out.
#[derive(Debug, Args)]
#[command(after_long_help = DRAW_EXAMPLES)]
pub(crate) struct DrawArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Output format (default: by the name of the output file, otherwise svg)
    #[arg(long, value_enum)]
    pub(crate) format: Option<DrawFormat>,

    /// Write the picture to this file (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) resources: ResourceArguments,
}

const DRAW_EXAMPLES: &str = "\
Examples:
  stubborn draw models/dining.proc -D N=2 --output dining.svg
  stubborn draw net.pnml --output net.svg
  stubborn draw net.pnml --format dot | dot -Tpdf > net.pdf

A picture of more than 500 nodes or 2000 edges is refused as SVG; DOT has no limit.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawFormat {
    Dot,
    Svg,
}
