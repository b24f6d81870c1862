//! `cargo xtask spin-bench`: questions about Promela models, by Spin and by us, side by side, in one run.
//!
//! | kind | ours | Spin's |
//! |---|---|---|
//! | full | `explore` | `spin -a -o1 -o2 -o3`, without reduction: the same states |
//! | safety | `check` of assertions and end states, up to the first error | `spin -a`, `-DSAFETY` |
//! | ltl | `check` of an `ltl` block | `spin -a`, `pan -a -N` |
//! | fair | the same under weak fairness | the same, `pan -f` |
//!
//! But for the first, both do what they do by default. Compared is CPU time: ours with what it takes to read the model;
//! Spin's without what it takes to make and compile the verifier (`gcc -O2`), and to make room, which is measured on a
//! model without steps. It searches as deep as it does by default, and deeper only where it says that it must. Further
//! states, and for whole spaces bytes. Ratios are
//! ours by Spin's; the median and the worst count questions for which one of the two takes some time. It needs
//! `spin`, `gcc` and `bash`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::mcc::start;
use crate::verifier::{Figures, Spin, timed};

pub(crate) const USAGE: &str = "\
usage: cargo xtask spin-bench [OPTION]...
  --corpus FOLDER     a model per folder, or models (repeatable; default: ../shared/promela/dev and …/perf)
  --model TEXT        only models whose name contains this
  --only KIND         full, safety, ltl or fair (repeatable; default: all)
  --seconds N         for each run (default: 60)
  --threads N         of ours (default: 1, like Spin)
  --from SECONDS      what is summed up: where one of the two takes so long (default: 0.05)";

struct Options {
    corpora: Vec<PathBuf>,
    model: String,
    kinds: Vec<Kind>,
    seconds: u64,
    threads: usize,
    from: f64,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Full,
    Safety,
    Ltl,
    Fair,
}

impl Kind {
    const ALL: [(&'static str, Kind); 4] =
        [("full", Kind::Full), ("safety", Kind::Safety), ("ltl", Kind::Ltl), ("fair", Kind::Fair)];

    fn name(self) -> &'static str {
        Kind::ALL[self as usize].0
    }
}

impl Options {
    fn parse(arguments: &[&str]) -> Option<Options> {
        let (corpora, model, kinds) = (Vec::new(), String::new(), Vec::new());
        let mut options = Options { corpora, model, kinds, seconds: 60, threads: 1, from: 0.05 };
        for pair in arguments.chunks(2) {
            let [name, value] = *pair else {
                return None;
            };
            match name {
                "--corpus" => options.corpora.push(PathBuf::from(value)),
                "--model" => value.clone_into(&mut options.model),
                "--only" => options.kinds.push(Kind::ALL.iter().find(|(name, _)| *name == value)?.1),
                "--seconds" => options.seconds = value.parse().ok()?,
                "--threads" => options.threads = value.parse().ok()?,
                "--from" => options.from = value.parse().ok()?,
                _ => return None,
            }
        }
        if options.corpora.is_empty() {
            options.corpora = ["dev", "perf"].map(|name| Path::new("../shared/promela").join(name)).into();
        }
        if options.kinds.is_empty() {
            options.kinds = Kind::ALL.map(|(_, kind)| kind).into();
        }
        Some(options)
    }
}

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let (options, program) = match start(Options::parse(arguments), USAGE) {
        Ok(started) => started,
        Err(code) => return code,
    };
    let models = models(&options);
    if models.is_empty() {
        eprintln!("no model is asked for, or the corpus is missing");
        return ExitCode::from(2);
    }
    let spin = match Spin::new(options.seconds) {
        Ok(spin) => spin,
        Err(reason) => {
            eprintln!("Spin cannot be run: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let mut bench = Bench { options: &options, program: &program, spin, found: BTreeMap::new() };
    println!(
        "| question | answer | states: ours | Spin's | ratio | seconds: ours | Spin's | ratio |\n|{}",
        "---|".repeat(8)
    );
    for (name, file) in &models {
        for &kind in &options.kinds {
            if let Err(reason) = bench.ask(kind, name, file) {
                println!("| {name} {} | {reason} |", kind.name());
            }
        }
    }
    println!();
    let differ = bench.sum_up();
    if differ { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The models that are asked for: name and file.
fn models(options: &Options) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for corpus in &options.corpora {
        for path in std::fs::read_dir(corpus).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.join("model.pml").is_file() {
                found.push((file_name, path.join("model.pml")));
            } else if path.extension().is_some_and(|extension| extension == "pml") {
                found.push((file_name, path));
            }
        }
    }
    found.retain(|(name, ..)| name.contains(&options.model));
    found.sort();
    found
}

struct Bench<'b> {
    options: &'b Options,
    program: &'b Path,
    spin: Spin,
    /// Per kind: what both have found.
    found: BTreeMap<Kind, Vec<(Figures, Figures)>>,
}

impl Bench<'_> {
    /// Asks all questions of a kind about a model.
    fn ask(&mut self, kind: Kind, name: &str, file: &Path) -> Result<(), String> {
        self.spin.load(std::fs::read(file).map_err(|error| error.to_string())?)?;
        let plain = if kind == Kind::Full { "-o1 -o2 -o3" } else { "" };
        let said = self.spin.run(&format!("spin -a {plain} model.pml"))?.0;
        let claims: Vec<String> = match kind {
            Kind::Full | Kind::Safety => vec![String::new()],
            // It says the name and the formula of each.
            Kind::Ltl | Kind::Fair => said
                .lines()
                .filter_map(|line| Some(line.strip_prefix("ltl ")?.split_once(':')?.0.to_owned()))
                .collect(),
        };
        for claim in &claims {
            let question = format!("{name} {} {claim}", kind.name());
            match self.ours(kind, file, claim).and_then(|ours| Ok((ours, self.spins(kind, claim)?))) {
                Ok((ours, spins)) => self.note(kind, question.trim(), ours, spins),
                Err(reason) => println!("| {} | {reason} |", question.trim()),
            }
        }
        Ok(())
    }

    fn note(&mut self, kind: Kind, question: &str, ours: Figures, spins: Figures) {
        let answer = match (kind, ours.holds, spins.holds) {
            (Kind::Full, ..) if agree(kind, &(ours, spins)) => "equal",
            (Kind::Full, ..) => "DIFFERS: states",
            (_, true, true) => "holds",
            (_, false, false) => "violated",
            (_, true, false) => "DIFFERS: ours holds",
            (_, false, true) => "DIFFERS: Spin's holds",
        };
        println!(
            "| {question} | {answer} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            ours.states,
            spins.states,
            ratio(ours.states as f64, spins.states as f64),
            ours.seconds,
            spins.seconds,
            by_time(&(ours, spins))
        );
        self.found.entry(kind).or_default().push((ours, spins));
    }

    /// Prints medians and the worst; returns whether an answer differs.
    fn sum_up(&self) -> bool {
        let mut differ = false;
        for (kind, found) in &self.found {
            let differing = found.iter().filter(|pair| !agree(*kind, pair)).count();
            differ |= differing > 0;
            let saw_everything =
                |(ours, spins): &&(Figures, Figures)| *kind == Kind::Full || ours.holds && spins.holds;
            let whole: Vec<_> = found.iter().filter(saw_everything).collect();
            let fewer = whole.iter().filter(|(ours, spins)| ours.states <= spins.states).count();
            let equal = whole.iter().filter(|(ours, spins)| ours.states == spins.states).count();
            println!(
                "{}: {} questions, {differing} answered differently; where both have seen everything, as many states as \
                 Spin's or fewer: {fewer} of {} (equal: {equal})",
                kind.name(),
                found.len(),
                whole.len()
            );
            let takes_time =
                |(ours, spins): &&(Figures, Figures)| ours.seconds.max(spins.seconds) >= self.options.from;
            let large: Vec<_> = found.iter().filter(takes_time).collect();
            let show = |what: &str, values: Vec<f64>| {
                let (median, worst) = median_and_largest(values);
                println!("  {what}: median {median:.2}, largest {worst:.2}");
            };
            show(
                &format!("CPU time ({} questions)", large.len()),
                large.iter().map(|pair| by_time(pair)).collect(),
            );
            if *kind == Kind::Full {
                let per_state = |figures: &Figures| ratio(figures.bytes as f64, figures.states as f64);
                let bytes = large.iter().map(|(ours, spins)| ratio(per_state(ours), per_state(spins)));
                show("bytes per state", bytes.collect());
            }
        }
        differ
    }

    /// Our answer.
    fn ours(&self, kind: Kind, file: &Path, claim: &str) -> Result<Figures, String> {
        let what = if kind == Kind::Full { "explore" } else { "check" };
        let mut arguments = vec![what.to_owned(), file.to_string_lossy().into_owned()];
        let (seconds, threads) = (format!("{}s", self.options.seconds), self.options.threads.to_string());
        let limits = ["--max-memory", "8G", "--timeout", &seconds, "--threads", &threads];
        arguments.extend(["--json", "--quiet"].into_iter().chain(limits).map(str::to_owned));
        let options: &[&str] = match kind {
            Kind::Full => &[],
            Kind::Safety => &["--property", "assertions", "--property", "end-states", "--stop-at-first"],
            Kind::Ltl => &["--property", claim],
            Kind::Fair => &["--property", claim, "--fair", "weak"],
        };
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let program = self.program.to_string_lossy();
        let (text, seconds) = timed(Path::new("."), &program, arguments.iter().map(String::as_str))?;
        let json: Value = serde_json::from_str(&text).map_err(|_| "we do not take it")?;
        if kind == Kind::Full {
            let number = |name: &str| json[name].as_u64().unwrap_or(0);
            let is_complete = json["complete"].as_bool() == Some(true);
            let figures =
                Figures { holds: true, states: number("states"), seconds, bytes: number("peak_bytes") };
            return if is_complete { Ok(figures) } else { Err("we have not finished".to_owned()) };
        }
        let results = json["results"].as_array().map_or(&[][..], Vec::as_slice);
        let has = |verdict: &str| results.iter().any(|result| result["verdict"] == verdict);
        let largest = |name: &str| {
            let numbers = results.iter().filter_map(|result| result["stats"][name].as_u64());
            numbers.max().unwrap_or(0)
        };
        match (has("violated"), has("unknown")) {
            (false, true) => Err("we have not finished".to_owned()),
            (is_violated, _) => Ok(Figures {
                holds: !is_violated,
                states: largest("states"),
                seconds,
                bytes: largest("peak_bytes"),
            }),
        }
    }

    /// Spin's answer, of the verifier that it has made.
    fn spins(&self, kind: Kind, claim: &str) -> Result<Figures, String> {
        match kind {
            Kind::Full => self.spin.verify("-DNOREDUCE -DSAFETY -DNOCLAIM", "-A -E -c0"),
            Kind::Safety => self.spin.verify("-DSAFETY -DNOCLAIM", ""),
            Kind::Ltl => self.spin.verify("", &format!("-a -N {claim}")),
            Kind::Fair => self.spin.verify("", &format!("-a -f -N {claim}")),
        }
    }
}

/// Whether both answer the same. Who counts all states does not look for errors, but Spin tells those that it meets.
fn agree(kind: Kind, (ours, spins): &(Figures, Figures)) -> bool {
    match kind {
        Kind::Full => ours.states == spins.states,
        Kind::Safety | Kind::Ltl | Kind::Fair => ours.holds == spins.holds,
    }
}

fn ratio(ours: f64, spins: f64) -> f64 {
    ours / spins.max(f64::MIN_POSITIVE)
}

/// Less than a hundredth of a second is not told apart.
fn by_time((ours, spins): &(Figures, Figures)) -> f64 {
    ours.seconds.max(0.01) / spins.seconds.max(0.01)
}

fn median_and_largest(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let or_nan = |value: Option<&f64>| value.copied().unwrap_or(f64::NAN);
    (or_nan(values.get(values.len() / 2)), or_nan(values.last()))
}
