//! The arguments of `stubborn explore`.

use std::path::PathBuf;

use clap::Args;

use stubborn::check::method::ObserverKind;
use stubborn::{Options, Rules};

use super::values::{one_of, parse_static_rules};
use super::{Auto, EXIT_CODES, EngineArguments, ModelArguments, OBSERVERS};

/// Count states, transitions and deadlocks; export the state space
///
/// With --ltl or --claim, the product of the model with the automaton that watches it is counted
/// instead, all of it, whether or not the property holds: the states of the model paired with those of
/// the automaton. A deadlock has a step that repeats it. Where an automaton of a --claim has finite
/// acceptance states, nothing follows these.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = EXPLORE_EXAMPLES)]
pub(crate) struct ExploreArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Write the state space to this file in the Aldebaran format
    #[arg(long, value_name = "FILE")]
    pub(crate) aut: Option<PathBuf>,

    /// Write the state space to this file in the DOT format
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,

    /// Write a picture of the state space to this file as SVG, if it is small
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Say what never happens: actions, statements, values of variables
    #[arg(long, conflicts_with_all = ["aut", "dot", "svg", "ltl", "claim", "store", "order", "device", "hosts",
          "local_processes", "checkpoint", "resume"])]
    pub(crate) coverage: bool,

    /// With --coverage, write the source with a mark before each line that is never executed
    #[arg(long, value_name = "FILE", requires = "coverage", hide_short_help = true)]
    pub(crate) annotated: Option<PathBuf>,

    /// With --coverage, write a page for a browser
    #[arg(long, value_name = "FILE", requires = "coverage", hide_short_help = true)]
    pub(crate) report: Option<PathBuf>,

    /// Count the product with the automaton of the negated formula
    #[arg(long, value_name = "FORMULA", conflicts_with_all = ["aut", "dot", "svg", "claim"])]
    pub(crate) ltl: Option<String>,

    /// Count the product with the automaton in this file: HOA or a never claim
    #[arg(long, value_name = "FILE", conflicts_with_all = ["aut", "dot", "svg"])]
    pub(crate) claim: Option<PathBuf>,

    /// Count what is left by these rules, as `check` uses them: all, none, names, or all,-NAME
    #[arg(long = "static", value_name = "RULES", default_value = "none", value_parser = parse_static_rules,
        hide_short_help = true)]
    pub(crate) statics: Rules,

    /// The automaton in the product
    #[arg(long, value_parser = one_of(OBSERVERS), default_value = "auto", value_name = "KIND")]
    pub(crate) observer: Auto<ObserverKind>,

    #[command(flatten)]
    pub(crate) engine: EngineArguments,
}

impl ExploreArguments {
    pub(crate) fn options(&self) -> Options {
        let (order, store) = (self.engine.search.order, self.engine.search.store());
        let statics = Some(self.statics.clone());
        let (observer, threads) = (self.observer, self.engine.threads.number());
        Options { observer, order, store, statics, threads, ..Options::default() }
    }

    /// The options that name files to be written, with these files.
    pub(crate) fn exports(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let all = [("--aut", &self.aut), ("--dot", &self.dot), ("--svg", &self.svg)];
        all.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)))
    }
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  stubborn explore models/dining.proc -D N=7
  stubborn explore models/dining.proc -D N=2 --dot dining.dot --svg dining.svg
  stubborn explore models/dining.proc --aut dining.aut --json
  stubborn explore models/dining.proc --ltl '[] <> Phil[0]@eat' --observer ta
  stubborn explore net.pnml
  stubborn explore models/dining.proc -D N=13 --local-processes 2
  stubborn explore model.pml --checkpoint night      and, after a reboot, the same with --resume night
  stubborn explore model.pml --coverage --annotated model.txt

An .aut file knows one initial state only: a system with several is written with an artificial one
in front, and the command says so. Files are written only if everything was explored.

Exit codes:
  0  everything was explored
  2  bad input or usage
  3  a limit was hit, or the store is incomplete: the counts are lower bounds";
