//! The arguments of all commands. `-h` fits a screen, `--help` explains with examples.

use std::path::PathBuf;
use std::time::Duration;

use check::choice::ReductionWish;
use check::method::{ObserverKind, SearchKind};
use check::product::{AtDeadlock, ObserverOrder, Orders};
use check::reduction;
use clap::{Args, ColorChoice, Parser, Subcommand, ValueEnum};

use crate::terminal;

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
    Explore(ExploreArguments),
    Simulate(SimulateArguments),
    Mcc(MccArguments),
    Translate(TranslateArguments),
    Automaton(AutomatonArguments),
}

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

    /// Check the declared property of this name (repeatable)
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

    /// What LTL says of a run that comes to a deadlock: its last state repeats for ever, it is
    /// ignored, or it is an error
    #[arg(long, value_enum, default_value_t = Deadlock::Stutter, value_name = "WHAT", hide_short_help = true)]
    pub(crate) deadlock: Deadlock,

    /// Leave out redundant interleavings (auto: for testers, specs and LTL)
    #[arg(long, value_enum, default_value_t = Reduce::Auto, value_name = "HOW")]
    pub(crate) reduce: Reduce,

    /// The automaton that watches a run, for LTL and claims
    #[arg(long, value_enum, default_value_t = ObserverArgument::Auto, value_name = "KIND")]
    pub(crate) observer: ObserverArgument,

    /// How accepted runs are looked for, for LTL and claims
    #[arg(long = "search", value_enum, default_value_t = SearchArgument::Auto, value_name = "HOW")]
    pub(crate) algorithm: SearchArgument,

    /// Only fair runs count: weak, strong, weak:P,Q, strong-action:send, none
    ///
    /// Can be repeated. Without it, what the file says with `fair …;`. A process is treated fairly if it
    /// takes part in a step infinitely often; or, weakly, if it cannot infinitely often; or, strongly, if it
    /// cannot from some point on. `send` means all actions of that name together, `send[*]` each of them.
    #[arg(long, value_name = "KIND[:WHO]", value_parser = parse_fairness)]
    pub(crate) fair: Vec<FairSpec>,

    /// How fairness is decided: inside the search, or by monitors with a nested search
    #[arg(long, value_enum, default_value_t = FairnessBy::Search, value_name = "HOW", hide_short_help = true)]
    pub(crate) fairness_by: FairnessBy,

    /// Say why observer, search and reduction were chosen
    #[arg(long)]
    pub(crate) explain_choice: bool,

    /// Look for the shortest counterexample, for LTL and claims
    ///
    /// The shortest one in the product with an automaton by value, however long that takes.
    #[arg(long)]
    pub(crate) shortest: bool,

    #[command(flatten)]
    pub(crate) orders: OrderArguments,

    /// Check everything with and without reduction, and compare
    #[arg(long, hide_short_help = true)]
    pub(crate) verify_reduction: bool,

    #[command(flatten)]
    pub(crate) search: SearchArguments,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  stubborn check models/dining.proc                  everything the file declares
  stubborn check models/dining.proc -D N=13          with another number of philosophers
  stubborn check models/dining.proc --property fed --json
  stubborn check models/peterson.proc --ltl '[] (P[0]@waiting -> <> P[0]@critical)'
  stubborn check net.proc --deadlock-free --timeout 60s --max-memory 4G
  stubborn check models/semaphore.proc --fair strong:Worker[*]
  stubborn check huge.proc --store bitstate          in little memory, perhaps missing states
  stubborn check net.proc --claim never.txt --reduce closure
  stubborn check net.proc --ltl '<> [] P@idle' --observer ta --search one-pass
  stubborn check net.proc --ltl '[] <> P@idle' --explain-choice --verify-reduction
  stubborn check net.pnml --ltl '[] (Eat_1 >= 1 -> <> fireable(End_1))'
  stubborn check net.pnml --mcc LTLFireability.xml --only 3,7

Exit codes:
  0  every property holds
  1  some property is violated, whatever the others are
  2  bad input or usage, or the model goes wrong (division by zero, …)
  3  undecided: a limit was hit, or an incomplete method found nothing";

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

    /// Count the product with the automaton of the negated formula
    #[arg(long, value_name = "FORMULA", conflicts_with_all = ["aut", "dot", "claim"])]
    pub(crate) ltl: Option<String>,

    /// Count the product with the automaton in this file: HOA or a never claim
    #[arg(long, value_name = "FILE", conflicts_with_all = ["aut", "dot"])]
    pub(crate) claim: Option<PathBuf>,

    /// The automaton in the product
    #[arg(long, value_enum, default_value_t = ObserverArgument::Auto, value_name = "KIND")]
    pub(crate) observer: ObserverArgument,

    #[command(flatten)]
    pub(crate) search: SearchArguments,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  stubborn explore models/dining.proc -D N=7
  stubborn explore models/dining.proc -D N=2 --dot dining.dot
  stubborn explore models/dining.proc --aut dining.aut --json
  stubborn explore models/dining.proc --ltl '[] <> Phil[0]@eat' --observer ta
  stubborn explore net.pnml

An .aut file knows one initial state only: a system with several is written with an artificial one
in front, and the command says so. Files are written only if everything was explored.

Exit codes:
  0  everything was explored
  2  bad input or usage
  3  a limit was hit, or the store is incomplete: the counts are lower bounds";

/// Walk through a model step by step, by hand or at random
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Choose at random instead of asking
    #[arg(short, long)]
    pub(crate) random: bool,

    /// Seed of the random choices (default: a new one, which is printed)
    #[arg(long, value_name = "N", requires = "random")]
    pub(crate) seed: Option<u64>,

    /// Number of random steps
    #[arg(long, value_name = "N", default_value_t = 100, requires = "random")]
    pub(crate) length: usize,

    /// Start in this initial state, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) initial: usize,

    #[command(flatten)]
    pub(crate) limits: Limits,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  stubborn simulate models/dining.proc
  stubborn simulate models/dining.proc --random --seed 7 --length 20
  printf '1\\n1\\nstate\\nquit\\n' | stubborn simulate models/dining.proc

With --json the run is printed when it ends, and prompts go to stderr. The limits are on the states
of the run.

At the prompt: the number of a step, or `undo`, `redo`, `goto N`, `random [N]`, `state`, `trace`,
`help`, `quit`. Each may be shortened to its first letter.";

/// Answer an examination of the Model Checking Contest, in its own words
///
/// Every answer is printed as soon as it is known. Time is shared out among the questions: easy ones are
/// answered first, and what is left is divided among the rest. Examinations are StateSpace, OneSafe,
/// StableMarking, QuasiLiveness, Liveness, ReachabilityDeadlock, UpperBounds, ReachabilityCardinality,
/// ReachabilityFireability, LTLCardinality and LTLFireability. For colored nets and for CTL the answer is
/// DO_NOT_COMPETE.
#[derive(Debug, Args)]
#[command(after_long_help = MCC_EXAMPLES)]
pub(crate) struct MccArguments {
    /// The folder with model.pnml and the formula files
    pub(crate) folder: PathBuf,

    /// What is asked, like LTLFireability
    pub(crate) examination: String,

    /// Stop after this time, like 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Stop before using more memory, like 500M or 4G (default: most of what is free)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const MCC_EXAMPLES: &str = "\
Examples:
  stubborn mcc Philosophers-PT-000005 StateSpace
  stubborn mcc Philosophers-PT-000005 LTLFireability --timeout 30s --max-memory 8G

Exit codes:
  0  every question was answered
  2  bad input or usage
  3  some answer is CANNOT_COMPUTE or DO_NOT_COMPETE";

/// Translate a formula of linear temporal logic into an automaton
#[derive(Debug, Args)]
#[command(after_long_help = TRANSLATE_EXAMPLES)]
pub(crate) struct TranslateArguments {
    /// The formula
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) formula: Option<String>,

    /// Translate the formulas of this file, one per line; lines that start with # are comments
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Kind of automaton
    #[arg(long, value_enum, default_value_t = AutomatonKind::Tgba)]
    pub(crate) to: AutomatonKind,

    /// Output format
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa)]
    pub(crate) format: AutomatonFormat,

    /// Print one JSON document, as --format json
    #[arg(long)]
    pub(crate) json: bool,

    /// Translate the negation
    #[arg(long)]
    pub(crate) negate: bool,

    /// How hard to try for a small automaton
    #[arg(long, value_enum, default_value_t = EffortLevel::High)]
    pub(crate) effort: EffortLevel,

    /// Give up where an automaton would have more states
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub(crate) max_states: usize,

    /// Give up on a formula after this time, like 90, 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

const TRANSLATE_EXAMPLES: &str = "\
Examples:
  stubborn translate '[](req -> <>ack)'
  stubborn translate 'a U G b' --to tgta --format dot
  stubborn translate 'G F a & G F b' --to ba --format stats
  stubborn translate '[]<> p' --negate --format spin
  stubborn translate --file formulas.txt --format stats";

/// Convert, combine and compare automata (HOA files and never claims)
///
/// Without a question the automata are shown, converted by --to in the given --format. Questions are
/// --equivalent, --accepts, --empty and --stutter-invariant.
#[derive(Debug, Args)]
#[command(after_long_help = AUTOMATON_EXAMPLES)]
pub(crate) struct AutomatonArguments {
    /// Files with automata: HOA (several in a file, also testing automata: docs/hoa-extension.md) or
    /// a never claim
    #[arg(required_unless_present = "ltl")]
    pub(crate) files: Vec<PathBuf>,

    /// Also take the automaton of this formula (can be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,

    /// Take the product of all automata first
    #[arg(long)]
    pub(crate) product: bool,

    /// Close the automata under stuttering first
    #[arg(long)]
    pub(crate) stutter_closure: bool,

    /// Complement the automata first
    #[arg(long)]
    pub(crate) complement: bool,

    /// Simplify the automata first
    #[arg(long)]
    pub(crate) simplify: bool,

    /// Do two automata accept the same words? If not, show a word that tells them apart
    #[arg(long)]
    pub(crate) equivalent: bool,

    /// Do all automata accept this word, like 'a; !a & b; cycle{b}'?
    #[arg(long, value_name = "WORD")]
    pub(crate) accepts: Option<String>,

    /// Does an automaton accept nothing? If not, show a word that it accepts
    #[arg(long)]
    pub(crate) empty: bool,

    /// Does stuttering make no difference? If it does, show two words that differ only by it
    #[arg(long)]
    pub(crate) stutter_invariant: bool,

    /// Kind of automaton to convert to
    #[arg(long, value_enum)]
    pub(crate) to: Option<AutomatonKind>,

    /// Output format
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa)]
    pub(crate) format: AutomatonFormat,

    /// Print figures, as --format stats
    #[arg(long)]
    pub(crate) stats: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Give up where something would take more states
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) max_states: usize,
}

const AUTOMATON_EXAMPLES: &str = "\
Examples:
  stubborn automaton spec.hoa --to ba --format spin
  stubborn automaton a.hoa b.hoa --equivalent
  stubborn automaton claim.never --accepts 'req; cycle{!ack}'
  stubborn automaton a.hoa b.hoa --product --empty

Exit codes:
  0  yes to every question, or the automata were shown
  1  no to some question
  2  bad input or usage
  3  unknown: an answer takes more states than --max-states";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonKind {
    Tgba,
    Ba,
    Ta,
    Tgta,
    Extended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonFormat {
    Hoa,
    Dot,
    Spin,
    Json,
    Stats,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffortLevel {
    Low,
    Medium,
    High,
}

/// The model.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The model: a .proc file, or a Petri net in a .pnml file
    pub(crate) file: PathBuf,

    /// Give a constant another value (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = parse_definition)]
    pub(crate) definitions: Vec<(String, i64)>,
}

/// How to search.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// Breadth first (shortest runs) or depth first
    #[arg(long, value_enum, default_value_t = Order::Bfs)]
    pub(crate) order: Order,

    /// Keep states exactly, or only a few bits of each (then states may be missed)
    #[arg(long, value_enum, default_value_t = StoreKind::Exact)]
    pub(crate) store: StoreKind,

    /// Size of the bit array of --store bitstate
    #[arg(long, value_name = "BYTES", default_value = "128M", value_parser = parse_bytes, hide_short_help = true)]
    pub(crate) bitstate_size: u64,

    /// Bits set per state by --store bitstate
    #[arg(long, value_name = "K", default_value_t = 3, hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) bitstate_hashes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deadlock {
    Stutter,
    Ignore,
    Error,
}

impl From<Deadlock> for AtDeadlock {
    fn from(deadlock: Deadlock) -> AtDeadlock {
        match deadlock {
            Deadlock::Stutter => AtDeadlock::Stutter,
            Deadlock::Ignore => AtDeadlock::Ignore,
            Deadlock::Error => AtDeadlock::Error,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reduce {
    /// The best there is, if any is sound
    Auto,
    /// None
    None,
    /// The best there is, or an error
    Stubborn,
    /// For TA and TGTA: led by the automaton
    Guided,
    /// For TA and TGTA: led by the automaton where it must be
    Hybrid,
    /// For TGBA and BA: blind to the automaton
    Classical,
    /// For claims that see stuttering: through their closure
    Closure,
}

impl From<Reduce> for ReductionWish {
    fn from(reduce: Reduce) -> ReductionWish {
        match reduce {
            Reduce::Auto => ReductionWish::Auto,
            Reduce::None => ReductionWish::None,
            Reduce::Stubborn | Reduce::Closure => ReductionWish::Best,
            Reduce::Guided => ReductionWish::Fixed(reduction::Method::Guided),
            Reduce::Hybrid => ReductionWish::Fixed(reduction::Method::Hybrid),
            Reduce::Classical => ReductionWish::Fixed(reduction::Method::Classical),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObserverArgument {
    /// What suits the property
    Auto,
    /// Generalized Büchi automaton
    Tgba,
    /// Büchi automaton
    Ba,
    /// Testing automaton
    Ta,
    /// Generalized testing automaton
    Tgta,
    /// Testing automaton, made while it watches
    LazyTa,
    /// Generalized testing automaton, made while it watches
    LazyTgta,
    /// Büchi automaton with labels on states
    Extended,
}

impl ObserverArgument {
    /// The kind, if one was asked for.
    pub(crate) fn kind(self) -> Option<ObserverKind> {
        match self {
            ObserverArgument::Auto => None,
            ObserverArgument::Tgba => Some(ObserverKind::Tgba),
            ObserverArgument::Ba => Some(ObserverKind::Ba),
            ObserverArgument::Ta => Some(ObserverKind::Ta),
            ObserverArgument::Tgta => Some(ObserverKind::Tgta),
            ObserverArgument::LazyTa => Some(ObserverKind::LazyTa),
            ObserverArgument::LazyTgta => Some(ObserverKind::LazyTgta),
            ObserverArgument::Extended => Some(ObserverKind::Extended),
        }
    }
}

/// A fairness assumption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FairSpec {
    pub(crate) strong: bool,
    pub(crate) set: FairSet,
}

/// Who is treated fairly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FairSet {
    Nobody,
    AllProcesses,
    Processes(Vec<String>),
    Actions(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FairnessBy {
    /// By strong components, without another state
    Search,
    /// By automata that watch the run, to compare
    Monitor,
}

fn parse_fairness(text: &str) -> Result<FairSpec, String> {
    let (kind, names) = match text.split_once(':') {
        Some((kind, names)) => (kind, Some(split_names(names)?)),
        None => (text, None),
    };
    let spec = |strong, set| Ok(FairSpec { strong, set });
    match (kind, names) {
        ("none", None) => spec(false, FairSet::Nobody),
        ("weak" | "strong", None) => spec(kind == "strong", FairSet::AllProcesses),
        ("weak" | "strong", Some(names)) => spec(kind == "strong", FairSet::Processes(names)),
        ("weak-action" | "strong-action", Some(names)) => {
            spec(kind == "strong-action", FairSet::Actions(names))
        }
        ("weak-action" | "strong-action", None) => Err(format!("say which actions, as in {kind}:send")),
        _ => Err("expected weak, strong, weak:P,Q, strong-action:send, or none".to_owned()),
    }
}

/// Names between commas. Commas in brackets separate indices, and those in quotation marks are part of
/// the name. `P[0][1]` is `P[0,1]`.
fn split_names(text: &str) -> Result<Vec<String>, String> {
    let mut names = vec![String::new()];
    let (mut depth, mut is_quoted) = (0_usize, false);
    for letter in text.chars() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                continue;
            }
            _ if is_quoted => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(String::new());
                continue;
            }
            _ if letter.is_whitespace() && depth > 0 => continue,
            _ => {}
        }
        if let Some(name) = names.last_mut() {
            name.push(letter);
        }
    }
    let names: Vec<String> = names.iter().map(|name| name.trim().replace("][", ",")).collect();
    if names.iter().any(String::is_empty) { Err("a name is missing".to_owned()) } else { Ok(names) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchArgument {
    /// What suits the observer
    Auto,
    /// Strong components
    Scc,
    /// Nested depth-first search
    Nested,
    /// One pass, for testing automata that accept livelocks only
    OnePass,
    /// Two passes, for testing automata
    TwoPass,
}

impl SearchArgument {
    /// The kind, if one was asked for.
    pub(crate) fn kind(self) -> Option<SearchKind> {
        match self {
            SearchArgument::Auto => None,
            SearchArgument::Scc => Some(SearchKind::Scc),
            SearchArgument::Nested => Some(SearchKind::Nested),
            SearchArgument::OnePass => Some(SearchKind::OnePass),
            SearchArgument::TwoPass => Some(SearchKind::TwoPass),
        }
    }
}

/// In which order the steps of a product are searched.
#[derive(Debug, Args)]
pub(crate) struct OrderArguments {
    /// In which order the steps of the system are searched, for LTL and claims
    #[arg(long, value_enum, default_value_t = Successors::Forward, value_name = "ORDER", hide_short_help = true)]
    pub(crate) successors: Successors,

    /// In which order the steps of the observer are searched, for LTL and claims
    #[arg(long, value_enum, default_value_t = ObserverOrderArgument::AsIs, value_name = "ORDER",
          hide_short_help = true)]
    pub(crate) observer_order: ObserverOrderArgument,
}

impl OrderArguments {
    pub(crate) fn orders(&self) -> Orders {
        let observer = match self.observer_order {
            ObserverOrderArgument::AsIs => ObserverOrder::AsIs,
            ObserverOrderArgument::AcceptingFirst => ObserverOrder::AcceptingFirst,
            ObserverOrderArgument::AcceptingLast => ObserverOrder::AcceptingLast,
        };
        Orders { reverse: self.successors == Successors::Reverse, observer }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Successors {
    Forward,
    Reverse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObserverOrderArgument {
    AsIs,
    AcceptingFirst,
    AcceptingLast,
}

impl CheckArguments {
    /// Whether testers are checked with reduction; none if the reduction asked for is not for them.
    pub(crate) fn reduces_testers(&self) -> Option<bool> {
        match self.reduce {
            Reduce::None => Some(false),
            Reduce::Auto | Reduce::Stubborn | Reduce::Guided => Some(true),
            Reduce::Hybrid | Reduce::Classical | Reduce::Closure => None,
        }
    }

    /// Whether deadlocks and invariants are. By default not: runs are then shortest, and all of
    /// them are found in one exploration.
    pub(crate) fn reduces_safety(&self) -> bool {
        !matches!(self.reduce, Reduce::Auto | Reduce::None) || self.verify_reduction
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    Bfs,
    Dfs,
}

impl Order {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::Bfs => "bfs",
            Order::Dfs => "dfs",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Exact,
    Bitstate,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            StoreKind::Exact => "exact",
            StoreKind::Bitstate => "bitstate",
        }
    }
}

/// How far to go, and how to tell about it.
#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// Print one JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Stop after this many states
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,

    /// Stop before using more memory, like 500M or 4G (default: most of what is free)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Stop after this time, like 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

impl Limits {
    /// What may be used: by default four fifths of what is free now.
    pub(crate) fn max_bytes(&self) -> u64 {
        let default = || terminal::available_memory().map_or(u64::MAX, |bytes| bytes / 5 * 4);
        self.max_memory.unwrap_or_else(default)
    }
}

fn parse_definition(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, like N=13")?;
    let value = value.trim();
    let number = value.parse().map_err(|_| format!("`{value}` is not a 64-bit integer"))?;
    Ok((name.trim().to_owned(), number))
}

/// A number with an optional unit k, M, G or T (powers of 1000) or Ki, Mi, … (of 1024).
fn parse_bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let (unit, binary) = match unit.trim().trim_end_matches(['B', 'b']) {
        unit if unit.ends_with('i') => (&unit[..unit.len() - 1], true),
        unit => (unit, false),
    };
    let power = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err("expected a number of bytes, like 500M or 4G".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a number of bytes, like 500M or 4G".to_owned())?;
    let bytes = number * f64::powi(if binary { 1024.0 } else { 1000.0 }, power);
    if bytes < 1.0 { Err("expected at least one byte".to_owned()) } else { Ok(bytes as u64) }
}

/// A number of seconds, or a number with the unit ms, s, m or h.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time, like 90, 30s, 5m or 1.5h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a time, like 90, 30s, 5m or 1.5h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "that time is too long".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_times_and_definitions_are_read() {
        assert_eq!(parse_bytes("500M"), Ok(500_000_000));
        assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_bytes("64"), Ok(64));
        assert!(parse_bytes("lots").is_err() && parse_bytes("0").is_err() && parse_bytes("1X").is_err());
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("soon").is_err() && parse_duration("1e99h").is_err());
        assert_eq!(parse_definition("N=13"), Ok(("N".into(), 13)));
        assert_eq!(parse_definition("N = -1"), Ok(("N".into(), -1)));
        assert!(parse_definition("N").is_err() && parse_definition("N=x").is_err());
    }
}
