//! `cargo xtask fair-table`: what is left of a product under fairness, beside all of it, and beside Spin's `-f`.
//!
//! Three groups: families of the kinds that `docs/fair-reduction.md` speaks of; models of this repository; and the `ltl` blocks
//! of a corpus. A fourth is about the same families and models without fairness: what is left where sets must close no
//! cycle, and where components are repaired. States are those of the whole product: where a formula is
//! violated, a search stops, and nothing is said. Seconds are CPU time, with what it takes to read the model; ratios of time are told where
//! exploring everything takes some.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::families::{AGAIN, FAMILIES};
use crate::mcc::start;
use crate::verifier::{Figures, Spin, timed};

pub(crate) const USAGE: &str = "\
usage: cargo xtask fair-table [OPTION]...
  --only GROUP        families, models, corpus or unfair (repeatable; default: all)
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
                ["--only", group @ ("families" | "models" | "corpus" | "unfair")] => {
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
            options.groups = ["families", "models", "corpus", "unfair"].map(str::to_owned).into();
        }
        Some(options)
    }
}

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

/// Models of this repository: file, size, inside, before.
const UNFAIR: [(&str, &str, &str, &str); 7] = [
    ("semaphore.proc", "N=10", "Worker[0]@critical[*]", "Worker[0]@trying"),
    ("scheduler.proc", "N=9", "Cell[0]@started", "Cell[0]@turn[1]"),
    ("dining.proc", "N=9", "Phil[0]@eat", "Phil[0]@left"),
    ("token_ring.proc", "N=7", "Customer[0]@using", "Customer[0]@waiting"),
    ("buffer.proc", "K=6", "Consumer[0]@use", "Consumer[0]@take"),
    ("readers_writers.proc", "R=8", "Writer[0]@writing", "Writer[0]@waiting"),
    ("fischer.proc", "N=10", "Server[0]@waiting", "Server[0]@idle"),
];

/// An observer by value and one by change, each with what keeps sets from closing cycles.
const PROVISOS: [(&str, &str); 2] = [("tgba", "classical"), ("lazy-tgta", "hybrid")];

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
        if group == "unfair" {
            table.unfair();
            continue;
        }
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
                with_file(&format!("#define N {size}\n{text}\n"), |file, text| {
                    self.row(&format!("{name} {size}"), file, &["--property", "q"], Some(text), &mut ratios);
                });
            }
            let own = tell(&format!("{name}, geometric mean"), &ratios);
            means.iter_mut().zip(own).for_each(|(all, mean)| all.extend(mean));
        }
        tell("all families, geometric mean", &means);
    }

    /// What is left without fairness, by a condition for each state and by repairing components.
    fn unfair(&mut self) {
        println!(
            "\n| unfair | by value: all | classical | repaired | time | by change: all | hybrid | repaired | time |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (name, sizes, text) in FAMILIES {
            for size in sizes {
                with_file(&format!("#define N {size}\n{text}\n{AGAIN}\n"), |file, _| {
                    self.unfair_row(&format!("{name} {size}"), file, &["--property", "r"]);
                });
            }
        }
        for (file, size, inside, before) in UNFAIR {
            let again = format!("(!{inside} W {before})");
            let formula = format!("[] ({inside} -> ({inside} W {again}))");
            let path = Path::new("models").join(file);
            self.unfair_row(&format!("{file} {size}"), &path, &["-D", size, "--ltl", &formula]);
        }
    }

    fn unfair_row(&mut self, name: &str, file: &Path, asked: &[&str]) {
        if !name.contains(&self.options.name) {
            return;
        }
        let mut cells = Vec::new();
        for (observer, proviso) in PROVISOS {
            let ours = |reduction| {
                let how =
                    ["--fair", "none", "--observer", observer, "--search", "scc", "--reduce", reduction];
                self.ours(file, asked, &how)
            };
            let found = ["none", proviso, "repaired"].map(ours);
            let holds = |found: &Figures| found.holds;
            let is_known = found.iter().flatten().all(holds);
            self.differ |= !is_known && found.iter().flatten().any(holds);
            cells.extend(found.map(|found| match found {
                Some(found) if found.holds => found.states.to_string(),
                Some(_) => "(violated)".to_owned(),
                None => "?".to_owned(),
            }));
            cells.push(match found {
                [Some(all), Some(kept), Some(repaired)] if all.seconds.max(kept.seconds) >= LEAST_SECONDS => {
                    format!("{:.2}", repaired.seconds / kept.seconds)
                }
                _ => "–".to_owned(),
            });
        }
        println!("| {name} | {} |", cells.join(" | "));
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

/// Writes a text into a file for a while.
fn with_file(text: &str, visit: impl FnOnce(&Path, &str)) {
    let file = std::env::temp_dir().join(format!("stubborn-fair-{}.pml", std::process::id()));
    if std::fs::write(&file, text).is_ok() {
        visit(&file, text);
    }
    // Whatever is left there is nobody's.
    _ = std::fs::remove_file(&file);
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
