//! `cargo xtask fair-table`: what is left of a product under fairness, beside all of it, and beside Spin's `-f`.
//!
//! Three groups: families of the kinds that `docs/fair-reduction.md` speaks of, in Promela, so that both tools read the same
//! text; models of this repository; and the `ltl` blocks of a corpus. States are those of the whole product: where a formula is
//! violated, a search stops, and nothing is said. Seconds are CPU time, with what it takes to read the model; ratios of time are told where
//! exploring everything takes some.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::mcc::start;
use crate::verifier::{Figures, Spin, timed};

pub(crate) const USAGE: &str = "\
usage: cargo xtask fair-table [OPTION]...
  --only GROUP        families, models or corpus (repeatable; default: all)
  --name TEXT         only rows whose name contains this
  --corpus FOLDER     a model per folder (default: ../shared/promela/dev)
  --seconds N         for each run (default: 60)
  --program FILE      the command to run (default: it is built)";

/// Where everything takes less, times say nothing.
const LEAST_SECONDS: f64 = 0.05;

const KINDS: [&str; 3] = ["weak", "strong", "just"];

struct Options {
    groups: Vec<String>,
    name: String,
    corpus: PathBuf,
    seconds: u64,
    program: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[&str]) -> Option<Options> {
        let corpus = Path::new("../shared/promela/dev").to_owned();
        let mut options =
            Options { groups: Vec::new(), name: String::new(), corpus, seconds: 60, program: None };
        for pair in arguments.chunks(2) {
            match *pair {
                ["--only", group @ ("families" | "models" | "corpus")] => {
                    options.groups.push(group.to_owned());
                }
                ["--name", name] => name.clone_into(&mut options.name),
                ["--corpus", folder] => options.corpus = PathBuf::from(folder),
                ["--program", file] => options.program = Some(PathBuf::from(file)),
                ["--seconds", number] => options.seconds = number.parse().ok()?,
                _ => return None,
            }
        }
        if options.groups.is_empty() {
            options.groups = ["families", "models", "corpus"].map(str::to_owned).into();
        }
        Some(options)
    }
}

/// A family: its name, some sizes, and a model for `N` with a formula `q`.
const FAMILIES: [(&str, &[u32], &str); 8] = [
    (
        "semaphore",
        &[4, 7, 10, 12],
        "byte sem = 1;
         active [N] proctype W() {
            do :: skip; atomic { sem > 0 -> sem-- }; inside: skip; skip; sem++ od
         }
         ltl q { [] (W[0]@inside -> <> !W[0]@inside) }",
    ),
    (
        "peterson",
        &[2, 3],
        "byte level[N]; byte last[N];
         active [N] proctype P() {
            byte l, k;
            do
            :: skip; l = 1;
               do
               :: l < N -> level[_pid] = l; last[l] = _pid; k = 0;
                  waits: do
                  :: k < N -> (k == _pid || level[k] < l || last[l] != _pid); k++
                  :: else -> break
                  od;
                  l++
               :: else -> break
               od;
               inside: level[_pid] = 0
            od
         }
         ltl q { [] (P[0]@waits -> <> P[0]@inside) }",
    ),
    (
        "philosophers",
        &[5, 7, 9, 10],
        "bool f[N];
         #define A (_pid == N - 1 -> 0 : _pid)
         #define B (_pid == N - 1 -> N - 1 : _pid + 1)
         active [N] proctype P() {
            do :: atomic { !f[A] -> f[A] = 1 }; atomic { !f[B] -> f[B] = 1 }; eats: f[A] = 0; f[B] = 0 od
         }
         ltl q { [] (P[0]@eats -> <> !P[0]@eats) }",
    ),
    (
        "pipeline",
        &[3, 4, 6, 7],
        "bool b[N];
         active proctype First() { do :: skip; skip; atomic { !b[0] -> b[0] = 1 } od }
         active [N - 2] proctype Middle() {
            do :: atomic { b[_pid - 1] -> b[_pid - 1] = 0 }; skip; atomic { !b[_pid] -> b[_pid] = 1 } od
         }
         active proctype Last() { do :: atomic { b[_pid - 1] -> b[_pid - 1] = 0 }; got: skip; skip od }
         ltl q { [] <> Last[N - 1]@got }",
    ),
    (
        "beside",
        &[3, 5, 7, 9],
        "bool lock;
         active [2] proctype L() { do :: skip; atomic { !lock -> lock = 1 }; inside: lock = 0 od }
         active [N] proctype Loop() { do :: skip; skip; skip od }
         ltl q { [] (L[0]@inside -> <> !L[0]@inside) }",
    ),
    (
        "ring",
        &[4, 7, 10, 12],
        "byte t;
         active [N] proctype S() {
            do
            :: skip; waits: t == _pid; uses: t = (_pid + 1) % N
            :: atomic { t == _pid -> t = (_pid + 1) % N }
            od
         }
         ltl q { [] (S[0]@waits -> <> S[0]@uses) }",
    ),
    (
        "clients",
        &[4, 6, 8, 9],
        "chan ask = [0] of { byte };
         chan reply[N] = [0] of { bit };
         active [N] proctype C() { do :: skip; ask!_pid; waits: reply[_pid]?_; skip od }
         active proctype S() { byte who; do :: ask?who; reply[who]!0 od }
         ltl q { [] (C[0]@waits -> <> !C[0]@waits) }",
    ),
    (
        "pairs",
        &[2, 3, 4, 5],
        "bool x[N];
         active [N] proctype Fills() { do :: atomic { !x[_pid] -> x[_pid] = 1 }; skip od }
         active [N] proctype Drains() { do :: atomic { x[_pid - N] -> x[_pid - N] = 0 }; got: skip od }
         ltl q { [] <> Drains[N]@got }",
    ),
];

/// Models of this repository: file, size, formula or name.
const MODELS: [(&str, &str, &str); 10] = [
    ("semaphore.proc", "N=12", "[] (Worker[0]@critical[0] -> <> Worker[0]@idle)"),
    ("semaphore.proc", "N=12", "served"),
    ("scheduler.proc", "N=10", "[] (Cell[0]@started -> <> Cell[0]@turn[0])"),
    ("dining.proc", "N=10", "[] (Phil[0]@eat -> <> Phil[0]@think)"),
    ("leader_election.proc", "N=6", "elected"),
    ("readers_writers.proc", "R=8", "[] (Writer[0]@writing -> <> Writer[0]@idle)"),
    ("alternating_bit.proc", "", "[] (Receiver@got[0] -> <> Receiver@answer[0])"),
    ("peterson_n.proc", "N=3", "gets_in"),
    ("peterson_n.proc", "N=4", "gets_in"),
    ("fischer.proc", "N=8", "[] !(Server[0]@waiting && Server[1]@waiting && Number@nobody)"),
];

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let parsed = Options::parse(arguments);
    let known = parsed.as_ref().and_then(|options| options.program.clone());
    let (options, program) = match (parsed, known) {
        (Some(options), Some(program)) => (options, program),
        (parsed, _) => match start(parsed, USAGE) {
            Ok(started) => started,
            Err(code) => return code,
        },
    };
    let spin = Spin::new(options.seconds);
    if let Err(reason) = &spin {
        eprintln!("Spin is not asked: {reason}");
    }
    let mut table = Table { options: &options, program: &program, spin: spin.ok(), differ: false };
    for group in &options.groups {
        println!(
            "\n| {group} | all | weak | strong | just | time: all | weak | strong | just | Spin -f | time |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        match group.as_str() {
            "families" => table.families(),
            "models" => table.models(),
            _ => table.corpus(),
        }
    }
    if table.differ { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Table<'t> {
    options: &'t Options,
    program: &'t Path,
    spin: Option<Spin>,
    /// Some answers are not the same with and without reduction, or Spin's differs.
    differ: bool,
}

/// What is left of all states under each kind of fairness, for each row where that is known.
type Ratios = [Vec<f64>; 3];

impl Table<'_> {
    fn families(&mut self) {
        let mut means: Ratios = Default::default();
        for (name, sizes, text) in FAMILIES {
            let mut ratios: Ratios = Default::default();
            for size in sizes {
                let text = format!("#define N {size}\n{text}\n");
                let file = std::env::temp_dir().join(format!("stubborn-fair-{}.pml", std::process::id()));
                if std::fs::write(&file, &text).is_ok() {
                    self.row(
                        &format!("{name} {size}"),
                        &file,
                        &["--property", "q"],
                        Some(&text),
                        &mut ratios,
                    );
                }
                // Whatever is left there is nobody's.
                _ = std::fs::remove_file(&file);
            }
            let own = tell(&format!("{name}, geometric mean"), &ratios);
            means.iter_mut().zip(own).for_each(|(all, mean)| all.extend(mean));
        }
        tell("all families, geometric mean", &means);
    }

    fn models(&mut self) {
        let mut ratios: Ratios = Default::default();
        for (file, size, formula) in MODELS {
            let path = Path::new("models").join(file);
            let mut asked =
                if formula.contains('@') { vec!["--ltl", formula] } else { vec!["--property", formula] };
            if !size.is_empty() {
                asked.extend(["-D", size]);
            }
            self.row(
                &format!("{file} {size} `{}`", formula.replace('|', "\\|")),
                &path,
                &asked,
                None,
                &mut ratios,
            );
        }
        tell("models, geometric mean", &ratios);
    }

    fn corpus(&mut self) {
        let mut ratios: Ratios = Default::default();
        let entries = std::fs::read_dir(&self.options.corpus).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let file = folder.join("model.pml");
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let model = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let blocks = text.lines().filter_map(|line| line.trim().strip_prefix("ltl "));
            for block in blocks {
                let name: String = block
                    .trim()
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                    .collect();
                if !name.is_empty() {
                    self.row(
                        &format!("{model} {name}"),
                        &file,
                        &["--property", &name],
                        Some(&text),
                        &mut ratios,
                    );
                }
            }
        }
        tell("corpus, geometric mean", &ratios);
    }

    /// One question.
    fn row(&mut self, name: &str, file: &Path, asked: &[&str], promela: Option<&str>, ratios: &mut Ratios) {
        if !name.contains(&self.options.name) {
            return;
        }
        let all = KINDS.map(|kind| self.ours(file, asked, &["--fair", kind, "--reduce", "none"]));
        let left = KINDS.map(|kind| self.ours(file, asked, &["--fair", kind]));
        let holds = |found: &Option<Figures>| found.is_some_and(|found| found.holds);
        let spins = promela.zip(self.spin.as_ref()).and_then(|(text, spin)| {
            spin.load(text).ok()?;
            spin.run("spin -a model.pml").ok()?;
            let claim = asked.last()?;
            spin.verify("", &format!("-a -f -N {claim}")).ok()
        });
        let mut remarks = Vec::new();
        for (at, kind) in KINDS.iter().enumerate() {
            if let (Some(all), Some(left)) = (all[at], left[at])
                && all.holds != left.holds
            {
                remarks.push(format!("{kind} DIFFERS"));
            }
        }
        if let (Some(ours), Some(spins)) = (left[0], spins)
            && ours.holds != spins.holds
        {
            remarks.push("Spin DIFFERS".to_owned());
        }
        self.differ |= !remarks.is_empty();
        let of_all = all.iter().flatten().find(|found| found.holds);
        let states = |found: &Option<Figures>| match found {
            Some(found) if found.holds => found.states.to_string(),
            Some(_) => "(violated)".to_owned(),
            None => "?".to_owned(),
        };
        let seconds =
            |found: Option<Figures>| found.map_or("?".to_owned(), |found| format!("{:.2}", found.seconds));
        let times = [0, 1, 2].map(|at| match (all[at], left[at]) {
            (Some(all), Some(left)) if all.holds && all.seconds >= LEAST_SECONDS => {
                format!("{:.2}", left.seconds / all.seconds)
            }
            _ => "–".to_owned(),
        });
        for (at, ratios) in ratios.iter_mut().enumerate() {
            if let (Some(all), Some(left)) = (all[at], left[at])
                && holds(&Some(all))
                && left.holds
            {
                ratios.push(left.states as f64 / all.states.max(1) as f64);
            }
        }
        let remarks = if remarks.is_empty() { String::new() } else { format!(" **{}**", remarks.join(", ")) };
        println!(
            "| {name}{remarks} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            of_all.map_or("?".to_owned(), |found| found.states.to_string()),
            states(&left[0]),
            states(&left[1]),
            states(&left[2]),
            seconds(of_all.copied()),
            times[0],
            times[1],
            times[2],
            spins.map_or("–".to_owned(), |found| found.states.to_string()),
            spins.map_or("–".to_owned(), |found| format!("{:.2}", found.seconds)),
        );
    }

    /// Our answer, if there is one in time.
    fn ours(&self, file: &Path, asked: &[&str], how: &[&str]) -> Option<Figures> {
        let (file, seconds) = (file.to_string_lossy(), format!("{}s", self.options.seconds));
        let fixed = ["check", &file, "--json", "--quiet", "--max-memory", "8G", "--timeout", &seconds];
        let arguments = fixed.into_iter().chain(asked.iter().copied()).chain(how.iter().copied());
        let (text, seconds) = timed(Path::new("."), &self.program.to_string_lossy(), arguments).ok()?;
        let json: Value = serde_json::from_str(&text).ok()?;
        let result = &json["results"][0];
        let number = |name: &str| result["stats"][name].as_u64().unwrap_or(0);
        let is_known = result["verdict"] == "holds" || result["verdict"] == "violated";
        is_known.then(|| Figures {
            holds: result["verdict"] == "holds",
            states: number("states"),
            seconds,
            bytes: number("peak_bytes"),
        })
    }
}

/// Tells the geometric means; returns them.
fn tell(what: &str, ratios: &Ratios) -> [Option<f64>; 3] {
    let mean = |ratios: &Vec<f64>| {
        let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
    };
    let means = [&ratios[0], &ratios[1], &ratios[2]].map(mean);
    let text = means.map(|mean| mean.map_or("–".to_owned(), |mean| format!("{mean:.4}")));
    println!("| *{what}* | | {} | {} | {} | | | | | | |", text[0], text[1], text[2]);
    means
}
