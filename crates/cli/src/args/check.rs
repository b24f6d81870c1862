//! The arguments of `stubborn check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stubborn::check::method::{FairnessBy, ObserverKind, ReductionWish, SearchKind};
use stubborn::check::product::{AtDeadlock, ObserverOrder, Orders, StepOrder};
use stubborn::check::reduction::Method;
use stubborn::{Fair, Options, Rules};

use super::values::{Named, one_of, parse_errors, parse_fairness, parse_rules, parse_static_rules};
use super::{Auto, EXIT_CODES, EngineArguments, ModelArguments, OBSERVERS};
use crate::exit::Failure;

/// Check the properties of a model, and show a run for each that is violated
///
/// Checked are the properties given by --property, --ltl, --claim, --mcc or --deadlock-free; without these,
/// everything that the file declares, and deadlock freedom if it declares nothing or says `deadlock-free;`.
/// Every run is replayed by an independent interpreter before it is shown.
///
/// A tester says what is illegal: a trace that leads it to a reject state, a system that is stuck
/// while it is in a deadlock state (a stable failure), that runs for ever without watched actions
/// while it is in a livelock state (a divergence), or a run that makes it leave infinite states
/// infinitely often (an infinite trace). A spec says what is legal: the system may do nothing that
/// the spec cannot do, by traces, stable failures and divergences. After a legal divergence
/// behavior stays constrained; this is not the chaos of CSP.
///
/// A formula of linear temporal logic is about every run; a claim is an automaton that accepts what
/// must not happen. An observer watches the run: an automaton by value (tgba, ba, extended) or by change
/// (ta, tgta, and the lazy ones). A search looks for a run that the observer accepts, and a
/// reduction leaves out interleavings that make no difference to it. What is not said is chosen by
/// the property, and what does not fit together is refused with the reason: see docs/methods.md.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Check the property of this name (repeatable)
    #[arg(short, long, value_name = "NAME")]
    pub(crate) property: Vec<String>,

    /// Check this formula of temporal logic (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,

    /// Check that no run is accepted by the automaton in this file: HOA or a never claim (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) claim: Vec<PathBuf>,

    /// Check the formulas of this file of the Model Checking Contest (for nets)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) mcc: Option<PathBuf>,

    /// Of the formulas of --mcc, check those with these numbers or ids, like 3,7
    #[arg(long, value_name = "IDS", requires = "mcc", value_delimiter = ',', hide_short_help = true)]
    pub(crate) only: Vec<String>,

    /// Check that no deadlock can be reached
    #[arg(long)]
    pub(crate) deadlock_free: bool,

    /// Check that no process can avoid its progress labels for ever (for Promela)
    #[arg(long, hide_short_help = true)]
    pub(crate) nonprogress: bool,

    /// Check that no accept label can be passed again and again (for Promela)
    #[arg(long, hide_short_help = true)]
    pub(crate) acceptance: bool,

    /// What LTL says of a run that comes to a deadlock: its last state repeats for ever, it is
    /// ignored, or it is an error
    #[arg(long, value_parser = one_of(AT_DEADLOCK), default_value = "stutter", value_name = "WHAT",
          hide_short_help = true)]
    deadlock: AtDeadlock,

    /// Leave out redundant interleavings (auto: where answers stay the same)
    #[arg(long, value_parser = one_of(REDUCTIONS), default_value = "auto", value_name = "HOW")]
    reduce: ReductionWish,

    /// Make a net simpler first by these rules: all, none, names, or all,-NAME
    ///
    /// Used for formulas that do not see stuttering, without fairness; and with --reduce for deadlocks and
    /// contest files. Runs are shown on the net as it was. The rules are dead-transitions, constant-places,
    /// parallel-places, implicit-places, parallel-transitions, alike-places, neutral-transitions,
    /// irrelevant-transitions, ending-transitions, source-transitions, free-cycles, post-agglomeration,
    /// pre-agglomeration, free-agglomeration, redundant-transitions, post-agglomeration-of-one,
    /// free-agglomeration-of-one and redundant-places.
    #[arg(long, value_name = "RULES", default_value = "all", value_parser = parse_rules, hide_short_help = true)]
    pub(crate) structural: Rules,

    /// Give the model fewer states first by these rules: all, none, names, or all,-NAME
    ///
    /// They look at guards and effects, whatever the language. Runs are shown on the model as it was. The rules
    /// are irrelevant-actions, dead-variables, unread-variables, constant-variables, merged-steps and
    /// merged-choices.
    #[arg(long = "static", value_name = "RULES", default_value = "all", value_parser = parse_static_rules,
        hide_short_help = true)]
    pub(crate) statics: Rules,

    /// The automaton that watches a run, for LTL and claims
    #[arg(long, value_parser = one_of(OBSERVERS), default_value = "auto", value_name = "KIND")]
    observer: Auto<ObserverKind>,

    /// How accepted runs are looked for, for LTL and claims
    #[arg(long = "search", value_parser = one_of(SEARCHES), default_value = "auto", value_name = "HOW")]
    algorithm: Auto<SearchKind>,

    /// Only fair runs count: weak, strong, just, weak:P,Q, strong-action:send, none
    ///
    /// Can be repeated. Without it, what the file says with `fair …;`. A process is treated fairly if it
    /// takes part in a step infinitely often; or, weakly, if it cannot infinitely often; or, strongly, if it
    /// cannot from some point on. `just`: whatever it can do is done some day, or interfered with by somebody who
    /// writes what it tests or moves who takes part. `send` means all actions of that name together, `send[*]` each of
    /// them.
    #[arg(long, value_name = "KIND[:WHO]", value_parser = parse_fairness)]
    pub(crate) fair: Vec<Fair>,

    /// How fairness is decided: inside the search, or by monitors with a nested search
    #[arg(long, value_parser = one_of(FAIRNESS_BY), default_value = "search", value_name = "HOW",
          hide_short_help = true)]
    fairness_by: FairnessBy,

    /// Say why observer, search and reduction were chosen
    #[arg(long)]
    pub(crate) explain_choice: bool,

    /// Look for the shortest counterexample
    ///
    /// For LTL and claims, the shortest one in the product with an automaton by value, however long that takes; for
    /// questions about states, the shortest run there is, so nothing is left out. (Without it, runs to states are
    /// shortest, too, unless there are many states more than with reduction.)
    #[arg(long)]
    pub(crate) shortest: bool,

    /// Show so many different errors for each property, or all of them
    ///
    /// Each with a run of its own. Assertions are different if they stand at different places, and end states if
    /// processes are stuck at different places; those that were found are not looked at any more, and runs go on
    /// behind assertions that failed, as in Spin. Deadlocks and violated invariants are different if they are
    /// different states. Runs that violate a formula are different if none passes through the state in which an
    /// earlier one ends, or again and again through the one in which an earlier cycle begins. For claims, testers and
    /// specs there is one run.
    #[arg(long, visible_alias = "count", value_name = "N|all", default_value = "1", value_parser = parse_errors,
          hide_short_help = true)]
    pub(crate) errors: usize,

    /// Stop after the first property that is violated
    ///
    /// The others are unknown then. Invariants and deadlocks, which share a search, are answered together.
    #[arg(long, conflicts_with = "errors", hide_short_help = true)]
    pub(crate) stop_at_first: bool,

    /// In which order the steps of the system are searched, for LTL and claims
    #[arg(long, value_parser = one_of(SUCCESSORS), default_value = "forward", value_name = "ORDER",
          hide_short_help = true)]
    successors: StepOrder,

    /// In which order the steps of the observer are searched, for LTL and claims
    #[arg(long, value_parser = one_of(OBSERVER_ORDERS), default_value = "as-is", value_name = "ORDER",
          hide_short_help = true)]
    observer_order: ObserverOrder,

    /// Show each run as a message sequence chart, too: in the text, or as SVG in files that begin like this
    ///
    /// `--chart -` shows charts in the text; `--chart run` writes run-1.svg, run-2.svg and so on, one for
    /// each run.
    #[arg(long, value_name = "PREFIX", hide_short_help = true)]
    pub(crate) chart: Option<String>,

    /// Write a page with answers and runs, for a browser
    ///
    /// One file that needs no network: the answers, each run in words and step by step, with the automaton
    /// that watches it, and the model.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Check by every method there is, and compare: observers, searches, reductions, threads
    ///
    /// Prints a table of states, time and verdict. With --timeout, all methods share that time; without, each has ten
    /// seconds and twenty times the time of the first. Should two methods disagree, the model and the formula are made
    /// small, and written to a file to be reported.
    #[arg(long, hide_short_help = true, conflicts_with_all = ["device", "observer", "algorithm", "reduce", "verify_reduction",
          "certificate", "chart", "report", "shortest", "errors", "explain_choice", "format", "watch", "hosts",
          "local_processes", "checkpoint", "resume"])]
    pub(crate) cross: bool,

    /// Say what properties that hold rest on: parts that never mattered, fairness that was not needed, …
    ///
    /// A part of a formula or invariant does not matter if the property holds with `true` in its place, and with `false`.
    /// Also told are propositions that never change, implications that are never triggered, processes that make no
    /// difference, states that a tester never gets to, and what of all that could make a difference never happens: actions,
    /// statements, values. That takes many searches, without reduction. `explore --coverage` says what of the whole model
    /// never happens.
    #[arg(long, hide_short_help = true, conflicts_with_all = ["hosts", "local_processes", "checkpoint", "resume"])]
    pub(crate) why: bool,

    /// Write a certificate of each property that holds to this file, for `stubborn certify`
    ///
    /// States are searched once more for it, without leaving out more than its checker can see. What cannot be certified is said, and why; where
    /// a limit was hit, or Ctrl-C was pressed, the exit code is 3. The file is written whole or not at all.
    #[arg(long, value_name = "FILE", hide_short_help = true,
          conflicts_with_all = ["hosts", "local_processes", "checkpoint", "resume"])]
    pub(crate) certificate: Option<PathBuf>,

    /// What is printed
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json", hide_short_help = true)]
    format: Option<Format>,

    /// Write each run that breaks a property as a test: one file for each, named after model and property
    ///
    /// A test in Rust follows the run through the library `stubborn`; it fails as long as the run is possible and the
    /// property is violated. A JSON document is what `simulate --input` follows.
    #[arg(long, value_enum, value_name = "KIND", hide_short_help = true)]
    pub(crate) emit_test: Option<EmittedTest>,

    /// The folder for --emit-test
    #[arg(long, value_name = "DIR", default_value = ".", requires = "emit_test", hide_short_help = true)]
    pub(crate) test_dir: PathBuf,

    /// Check again whenever the model changes, or a file that it includes; Ctrl-C ends
    #[arg(short, long, hide_short_help = true, conflicts_with_all = ["hosts", "local_processes", "checkpoint", "resume"])]
    pub(crate) watch: bool,

    /// Check everything with and without reduction, and compare
    #[arg(long, hide_short_help = true)]
    pub(crate) verify_reduction: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArguments,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  stubborn check models/dining.proc                  everything the file declares
  stubborn check models/dining.proc -D N=13          with another number of philosophers
  stubborn check models/dining.proc --property fed --json
  stubborn check models/peterson.proc --ltl '[] (Peer[0]@waiting -> <> Peer[0]@critical)'
  stubborn check net.proc --deadlock-free --timeout 60s --max-memory 4G
  stubborn check models/dining.proc --report dining.html
  stubborn check models/peterson.proc --certificate peterson.scert
  stubborn check models/peterson.proc --why          does it hold for a good reason?
  stubborn check models/peterson.proc --cross        every method against every other
  stubborn check models/semaphore.proc --fair strong:Worker[*]
  stubborn check huge.proc --store bitstate          in little memory, perhaps missing states
  stubborn check net.proc --claim never.txt --reduce closure
  stubborn check model.pml --errors all              every assertion that fails, each with a run
  stubborn check net.proc --count 5                  five different runs for what is violated
  stubborn check net.proc --watch                    again, whenever the file changes
  stubborn check net.proc --format sarif > net.sarif what services for continuous integration show
  stubborn check net.proc --emit-test rust --test-dir tests
  stubborn check model.pml --stop-at-first
  stubborn check net.proc --ltl '<> [] P@idle' --observer ta --search one-pass
  stubborn check net.proc --ltl '[] <> P@idle' --explain-choice --verify-reduction
  stubborn check net.pnml --ltl '[] (Eat_1 >= 1 -> <> fireable(End_1))'
  stubborn check net.pnml --mcc LTLFireability.xml --only 3,7
  stubborn check models/dining.proc -D N=13 -p deadlock-free --local-processes 2
  stubborn check model.pml --hosts hosts.txt --process 0    the same on every machine, each its own number
  stubborn check model.pml --checkpoint night        and, after a reboot, the same with --resume night

Exit codes:
  0  every property holds
  1  some property is violated, whatever the others are
  2  bad input or usage, or the model goes wrong (division by zero, …)
  3  undecided: a limit was hit, or an incomplete method found nothing";

impl CheckArguments {
    /// What is printed.
    pub(crate) fn format(&self) -> Format {
        match self.format {
            Some(format) => format,
            None if self.engine.limits.json => Format::Json,
            None => Format::Text,
        }
    }

    /// How the questions are to be answered.
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        if self.verify_reduction && self.reduce == ReductionWish::None {
            let message = "--verify-reduction needs a reduction: leave out --reduce none";
            return Err(Failure::plain("usage", message));
        }
        Ok(Options {
            limits: (&self.engine.limits).into(),
            threads: self.engine.threads.number(),
            fair: self.fair.clone(),
            fairness_by: self.fairness_by,
            at_deadlock: self.deadlock,
            observer: self.observer,
            search: self.algorithm,
            reduce: self.reduce,
            on_device: false,
            structural: self.structural.clone(),
            statics: Some(self.statics.clone()),
            store: self.engine.search.store(),
            order: self.engine.search.order,
            orders: Orders { steps: self.successors, observer: self.observer_order },
            shortest: self.shortest,
            errors: self.errors,
            stop_at_first: self.stop_at_first,
            verify_reduction: self.verify_reduction,
            certificates: self.certificate.is_some(),
            why: self.why,
            explain_choice: self.explain_choice,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON document, like --json
    Json,
    /// SARIF 2.1.0: results at their places
    Sarif,
    /// XML like JUnit's: a property is a test
    Junit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmittedTest {
    /// A test in Rust
    Rust,
    /// A trail, which Spin follows: `spin -p -k FILE model.pml`
    PromelaTrail,
    /// The run as JSON
    Json,
}

const FAIRNESS_BY: &[Named<FairnessBy>] = &[
    ("search", "By strong components, without another state", FairnessBy::Search),
    ("monitor", "By automata that watch the run, to compare", FairnessBy::Monitors),
];

const AT_DEADLOCK: &[Named<AtDeadlock>] = &[
    ("stutter", "", AtDeadlock::Stutter),
    ("ignore", "", AtDeadlock::Ignore),
    ("error", "", AtDeadlock::Error),
];

const REDUCTIONS: &[Named<ReductionWish>] = &[
    ("auto", "The best there is, if any is sound", ReductionWish::Auto),
    ("none", "None", ReductionWish::None),
    ("stubborn", "The best there is, or an error", ReductionWish::Best),
    ("guided", "For TA and TGTA: led by the automaton", ReductionWish::Fixed(Method::Guided)),
    (
        "hybrid",
        "For TA and TGTA: led by the automaton where it must be",
        ReductionWish::Fixed(Method::Hybrid),
    ),
    ("classical", "For TGBA and BA: blind to the automaton", ReductionWish::Fixed(Method::Classical)),
    (
        "repaired",
        "For searches by components: small sets, and what they leave out for ever is taken later",
        ReductionWish::Fixed(Method::Repaired),
    ),
    ("fair", "Under fairness: for all observers but extended automata", ReductionWish::Fixed(Method::Fair)),
    ("closure", "For claims that see stuttering: through their closure", ReductionWish::Closure),
];

const SEARCHES: &[Named<Auto<SearchKind>>] = &[
    ("auto", "What suits the observer", None),
    ("scc", "Strong components", Some(SearchKind::Scc)),
    ("nested", "Nested depth-first search", Some(SearchKind::Nested)),
    ("one-pass", "One pass, for testing automata that accept livelocks only", Some(SearchKind::OnePass)),
    ("two-pass", "Two passes, for testing automata", Some(SearchKind::TwoPass)),
];

const SUCCESSORS: &[Named<StepOrder>] = &[
    ("forward", "", StepOrder::Forward),
    ("reverse", "", StepOrder::Reverse),
    (
        "led",
        "Those first that seem to lead to an accepted run soonest, for automata by value",
        StepOrder::Led,
    ),
];

const OBSERVER_ORDERS: &[Named<ObserverOrder>] = &[
    ("as-is", "", ObserverOrder::AsIs),
    ("accepting-first", "", ObserverOrder::AcceptingFirst),
    ("accepting-last", "", ObserverOrder::AcceptingLast),
];
