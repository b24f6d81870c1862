//! `cargo xtask soak`: everything that is random, again and again, with new seeds.
//!
//! - all random tests, each with a new seed;
//! - models with bytes changed, removed and repeated: no command may panic, hang, or end by a signal;
//! - models with small random limits on states, memory and time: an answer is the one without limits, or *unknown*;
//! - commands that write files, killed or stopped (Ctrl-C) at a random moment: the file is there as a whole, as it was, or not
//!   at all.
//!
//! What is found is made small and kept in `target/soak/found`, with the command that shows it. The next thing to do is to
//! make it a named test. With `--release`, more is tried in the same time, without what only debug builds assert; with
//! `--no-tests`, the random tests, which take long to build, are left out. `--pack FOLDER` builds all that is needed and runs
//! nothing: the folder has a script that does, on a machine without Rust, and `--built FOLDER` is what the script asks for.
//!
//! Here is who has a turn: each kind has its share of the time, and random tests, of which each was run as often as the others,
//! begin. What is run is made by [`programs`], and [`jobs`] are what is done with it.

mod jobs;
mod programs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::programs::Programs;

pub(crate) const USAGE: &str =
    "       cargo xtask soak [--minutes N | --seconds N] [--jobs N] [--seed N] [--release] [--no-tests]
       cargo xtask soak --pack FOLDER
       cargo xtask soak --built FOLDER [--keep FOLDER] [--minutes N | --seconds N] [--jobs N] [--seed N]";

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tests,
    Mutants,
    Limits,
    Kills,
}

/// Each kind, how it is told, and its share of the time.
const KINDS: [(Kind, &str, u32); 4] = [
    (Kind::Tests, "random tests", 6),
    (Kind::Mutants, "mutants", 3),
    (Kind::Limits, "limits", 2),
    (Kind::Kills, "kills", 1),
];

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let text = |name: &str| {
        let at = arguments.iter().position(|known| *known == name)?;
        arguments.get(at + 1).copied()
    };
    let number = |name: &str| text(name)?.parse::<u64>().ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Some(folder) = text("--pack") {
        return match programs::pack(&root, Path::new(folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                eprintln!("soak: {why}");
                ExitCode::FAILURE
            }
        };
    }
    let programs = match text("--built") {
        Some(folder) => Programs::of_folder(Path::new(folder)),
        None => {
            let folder = root.join("target/soak");
            programs::build(&root, &folder, arguments).and_then(|()| Programs::of_folder(&folder))
        }
    };
    let programs = match programs {
        Ok(programs) => programs,
        Err(why) => {
            eprintln!("soak: {why}");
            return ExitCode::FAILURE;
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("--seed").unwrap_or(now);
    let seconds = number("--seconds").unwrap_or(60 * number("--minutes").unwrap_or(10));
    let keep = text("--keep").map_or_else(|| programs.folder.join("found"), PathBuf::from);
    if let Err(why) = std::fs::create_dir_all(&keep) {
        eprintln!("soak: {}: {why}", keep.display());
        return ExitCode::FAILURE;
    }
    println!("soak: seed {seed}, {} models, {} random tests", programs.models.len(), programs.tests.len());
    let n_jobs = number("--jobs").unwrap_or(1).max(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let known = Mutex::new(Known::new(programs.tests.len()));
    std::thread::scope(|scope| {
        for job in 0..n_jobs {
            let random = seed.wrapping_add(job << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut soak = Soak { programs: &programs, keep: &keep, job, end, random, known: &known };
            scope.spawn(move || {
                while Instant::now() < end {
                    soak.turn();
                }
            });
        }
    });
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    print!("{}", known.summary(&programs));
    if known.n_findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One of those who work.
struct Soak<'s> {
    programs: &'s Programs,
    keep: &'s Path,
    job: u64,
    end: Instant,
    random: u64,
    known: &'s Mutex<Known>,
}

/// What was done, by all.
struct Known {
    /// How often, and for how long.
    counts: [u32; 4],
    spent: [Duration; 4],
    /// How many take their turn.
    busy: [u32; 4],
    /// Per test, how often it was begun, has passed, has failed, and was cut off at the end.
    begun: Vec<u32>,
    passed: Vec<u32>,
    failed: Vec<u32>,
    cut: u32,
    /// What tests say that they counted.
    cases: BTreeMap<String, Vec<u64>>,
    n_findings: u32,
}

impl Known {
    fn new(n_tests: usize) -> Known {
        Known {
            counts: [0; 4],
            spent: [Duration::ZERO; 4],
            busy: [0; 4],
            begun: vec![0; n_tests],
            passed: vec![0; n_tests],
            failed: vec![0; n_tests],
            cut: 0,
            cases: BTreeMap::new(),
            n_findings: 0,
        }
    }

    /// The kind that had least of its share, and so few who are at it.
    fn next(&self, has_tests: bool) -> usize {
        let share = |at: usize| {
            let weight = f64::from(KINDS[at].2);
            (f64::from(self.busy[at]) / weight, self.spent[at].as_secs_f64() / weight)
        };
        let all = (0..KINDS.len()).filter(|&at| has_tests || KINDS[at].0 != Kind::Tests);
        let order = |a: &usize, b: &usize| {
            let ((busy_a, spent_a), (busy_b, spent_b)) = (share(*a), share(*b));
            (spent_a + busy_a).total_cmp(&(spent_b + busy_b))
        };
        all.min_by(order).unwrap_or(1)
    }

    fn summary(&self, programs: &Programs) -> String {
        let mut lines = Vec::new();
        for (at, (program, name)) in programs.tests.iter().enumerate() {
            let (passed, failed) = (self.passed[at], self.failed[at]);
            if failed > 0 || passed == 0 {
                lines.push(format!("{}::{name}: {passed} passed, {failed} failed", programs::name(program)));
            }
        }
        for (what, counted) in &self.cases {
            let counted: Vec<String> = counted.iter().map(u64::to_string).collect();
            lines.push(format!("{what}: {}", counted.join(", ")));
        }
        let sum = |counts: &[u32]| counts.iter().sum::<u32>();
        lines.push(format!(
            "soak: random tests: {} passed, {} failed, {} cut off at the end; {} of {} run",
            sum(&self.passed),
            sum(&self.failed),
            self.cut,
            self.passed.iter().zip(&self.failed).filter(|(passed, failed)| **passed + **failed > 0).count(),
            self.begun.len(),
        ));
        let counted = KINDS.iter().zip(self.counts.iter().zip(&self.spent));
        let counted =
            counted.map(|((_, name, _), (n, spent))| format!("{n} {name} in {} s", spent.as_secs()));
        let counted: Vec<String> = counted.collect();
        lines.push(format!("soak: {}; {} findings", counted.join(", "), self.n_findings));
        lines.join("\n") + "\n"
    }
}

impl Soak<'_> {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what has had least of its share.
    fn turn(&mut self) {
        let kind = {
            let mut known = self.known();
            let kind = known.next(!self.programs.tests.is_empty());
            known.busy[kind] += 1;
            kind
        };
        let start = Instant::now();
        match KINDS[kind].0 {
            Kind::Tests => self.test(),
            Kind::Mutants => self.mutant(),
            Kind::Limits => self.limits(),
            Kind::Kills => self.kill(),
        }
        let mut known = self.known();
        known.busy[kind] -= 1;
        known.counts[kind] += 1;
        known.spent[kind] += start.elapsed();
    }

    /// A random number below a bound (xorshift).
    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % bound.max(1) as u64) as usize
    }

    fn model(&mut self) -> PathBuf {
        let at = self.below(self.programs.models.len());
        self.programs.models[at].clone()
    }

    /// Keeps what was found.
    fn found(&mut self, what: &str, command: &str, text: &[u8], end: &str) {
        let n = {
            let mut known = self.known();
            known.n_findings += 1;
            known.n_findings
        };
        let path = self.keep.join(format!("finding-{}-{n}.{end}", self.random));
        _ = std::fs::write(&path, text);
        println!("soak: FOUND {what}\n  {command}\n  kept in {}", path.display());
    }
}
