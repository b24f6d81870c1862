//! `cargo xtask spin-bench`: the state spaces of Promela models, by Spin and by us, model by model, in one run.
//!
//! Spin's verifier is made by `spin -a -o1 -o2 -o3` and `gcc -O2`, so that both have the same states to find
//! (statement merging and the elimination of dead variables are off). Compared are the time from the text to
//! the last state, what is explored per second once everything is compiled, bytes per state, and how
//! many states are left with reduction: ours for end states, Spin's with the same options, and by default
//! (with merging and dead variables) as `expected.json` has it. Ratios are ours by Spin's. It needs `spin` and
//! `gcc`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::mcc::start;

pub(crate) const USAGE: &str = "\
usage: cargo xtask spin-bench [OPTION]...
  --corpus FOLDER     a model per folder, or models (repeatable; default: ../shared/promela/dev and …/perf)
  --model TEXT        only models whose name contains this
  --seconds N         for each run (default: 120)
  --from N            rates only of models with so many states (default: 100000)";

struct Options {
    corpora: Vec<PathBuf>,
    model: String,
    seconds: u64,
    from: u64,
}

impl Options {
    fn parse(arguments: &[&str]) -> Option<Options> {
        let mut options = Options { corpora: Vec::new(), model: String::new(), seconds: 120, from: 100_000 };
        for pair in arguments.chunks(2) {
            let [name, value] = *pair else {
                return None;
            };
            match name {
                "--corpus" => options.corpora.push(PathBuf::from(value)),
                "--model" => value.clone_into(&mut options.model),
                "--seconds" => options.seconds = value.parse().ok()?,
                "--from" => options.from = value.parse().ok()?,
                _ => return None,
            }
        }
        if options.corpora.is_empty() {
            options.corpora = ["dev", "perf"].map(|name| Path::new("../shared/promela").join(name)).into();
        }
        Some(options)
    }
}

/// What one of the two needed.
#[derive(Clone, Copy)]
struct Figures {
    states: u64,
    /// From the text to the end.
    total: f64,
    /// The exploration alone, by the tool's own clock.
    exploration: f64,
    bytes: u64,
    /// How many states are left with reduction.
    reduced: Option<u64>,
}

/// The quotients of one model.
struct Ratios {
    total: f64,
    rate: Option<f64>,
    bytes: Option<f64>,
    reduced: Option<f64>,
    reduced_default: Option<f64>,
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
    println!(
        "| model | states | equal | seconds: ours | Spin's | ratio | states/s: ours | Spin's | ratio | \
         bytes/state: ours | Spin's | ratio | reduced: ours | Spin's | Spin's by default |\n|{}",
        "---|".repeat(15)
    );
    let folder = std::env::temp_dir().join(format!("stubborn-spin-{}", std::process::id()));
    let mut ratios = Vec::new();
    for (name, file, expected) in &models {
        match compare(&program, &folder, name, file, expected, &options) {
            Ok((row, found)) => {
                println!("{row}");
                ratios.push(found);
            }
            Err(reason) => println!("| {name} | {reason} |"),
        }
    }
    // Whatever is left there is nobody's.
    _ = std::fs::remove_dir_all(&folder);
    let show = |what: &str, values: Vec<f64>| {
        let n = values.len();
        println!("median of {what}, ours by Spin's: {} ({n} models)", shown(median(values)));
    };
    println!();
    show("seconds from the text", ratios.iter().map(|found| found.total).collect());
    show("states per second", ratios.iter().filter_map(|found| found.rate).collect());
    show("bytes per state", ratios.iter().filter_map(|found| found.bytes).collect());
    let show_reduced = |what: &str, values: Vec<f64>| {
        let most = values.iter().filter(|ratio| **ratio <= 1.0).count();
        println!("at most as many {what}: {most} of {} models", values.len());
        show(what, values);
    };
    let reduced = ratios.iter().filter_map(|found| found.reduced).collect();
    show_reduced("states with reduction", reduced);
    let reduced = ratios.iter().filter_map(|found| found.reduced_default).collect();
    show_reduced("states with reduction, Spin with merging", reduced);
    ExitCode::SUCCESS
}

/// The models that are asked for: name, file, and what is known of them.
fn models(options: &Options) -> Vec<(String, PathBuf, Value)> {
    let mut found = Vec::new();
    for corpus in &options.corpora {
        for path in std::fs::read_dir(corpus).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let folder_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.join("model.pml").is_file() {
                let text = std::fs::read_to_string(path.join("expected.json")).unwrap_or_default();
                let expected = serde_json::from_str(&text).unwrap_or_default();
                found.push((folder_name, path.join("model.pml"), expected));
            } else if path.extension().is_some_and(|extension| extension == "pml") {
                found.push((name, path, Value::Null));
            }
        }
    }
    found.retain(|(name, ..)| name.contains(&options.model));
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn compare(
    program: &Path,
    folder: &Path,
    name: &str,
    file: &Path,
    expected: &Value,
    options: &Options,
) -> Result<(String, Ratios), String> {
    let ours = ours(program, file, options)?;
    let spin = spin(folder, file, options)?;
    let by_default = expected["full_statespace"]["por_default"]["states"].as_u64();
    let is_large = spin.states >= options.from;
    let rate = |figures: Figures| figures.states as f64 / figures.exploration.max(1e-3);
    let per_state = |figures: Figures| figures.bytes as f64 / figures.states.max(1) as f64;
    let quotient = |(ours, spin): (u64, u64)| ours as f64 / spin.max(1) as f64;
    let ratios = Ratios {
        total: ours.total / spin.total,
        rate: is_large.then(|| rate(ours) / rate(spin)),
        bytes: is_large.then(|| per_state(ours) / per_state(spin)),
        reduced: ours.reduced.zip(spin.reduced).map(quotient),
        reduced_default: ours.reduced.zip(by_default).map(quotient),
    };
    let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let row = format!(
        "| {name} | {} | {} | {:.2} | {:.2} | {} | {:.0} | {:.0} | {} | {:.0} | {:.0} | {} | {} | {} | {} |",
        ours.states,
        if ours.states == spin.states { "yes".to_owned() } else { format!("no: {}", spin.states) },
        ours.total,
        spin.total,
        shown(Some(ratios.total)),
        rate(ours),
        rate(spin),
        shown(ratios.rate),
        per_state(ours),
        per_state(spin),
        shown(ratios.bytes),
        number(ours.reduced),
        number(spin.reduced),
        number(by_default),
    );
    Ok((row, ratios))
}

fn ours(program: &Path, file: &Path, options: &Options) -> Result<Figures, String> {
    let start = Instant::now();
    let json = command(program, "explore", file, options);
    let total = start.elapsed().as_secs_f64();
    let json = json.ok_or("we do not take it")?;
    if json["complete"].as_bool() != Some(true) {
        return Err(format!("not finished here: {}", json["reason"].as_str().unwrap_or("?")));
    }
    Ok(Figures {
        states: json["states"].as_u64().unwrap_or(0),
        total,
        exploration: json["seconds"].as_f64().unwrap_or(0.0),
        bytes: json["peak_bytes"].as_u64().unwrap_or(0),
        reduced: reduced(program, file, options),
    })
}

/// The states that are left with reduction.
fn reduced(program: &Path, file: &Path, options: &Options) -> Option<u64> {
    let json = command(program, "check", file, options)?;
    let result = &json["results"][0];
    match result["verdict"].as_str() {
        // A search that has found something has not seen everything.
        Some("holds") => result["stats"]["states"].as_u64(),
        _ => None,
    }
}

fn command(program: &Path, what: &str, file: &Path, options: &Options) -> Option<Value> {
    let mut command = Command::new(program);
    command.arg(what).arg(file).args(["--json", "--quiet", "--max-memory", "8G"]);
    command.args(["--timeout", &format!("{}s", options.seconds)]);
    if what == "check" {
        command.args(["--property", "end-states", "--reduce", "stubborn"]);
    }
    let output = command.stderr(Stdio::null()).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

fn spin(folder: &Path, file: &Path, options: &Options) -> Result<Figures, String> {
    let failed = |what: &str| format!("{what} fails");
    _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    std::fs::copy(file, folder.join("model.pml")).map_err(|error| error.to_string())?;
    let run = |program: &str, arguments: &str| {
        let arguments = arguments.split_whitespace();
        let output = Command::new(program).args(arguments).current_dir(folder).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).map_err(|_| failed(program))
    };
    let start = Instant::now();
    run("spin", "-a -o1 -o2 -o3 model.pml")?;
    run("gcc", "-w -O2 -DNOREDUCE -DSAFETY -DNOCLAIM -DMEMLIM=8000 -o pan pan.c")?;
    let compiled = Instant::now();
    let pan = folder.join("pan");
    let limit = options.seconds.div_ceil(60).max(1);
    let text = run(&pan.to_string_lossy(), &format!("-A -E -c0 -n -m10000000 -Q{limit}"))?;
    let (total, wall) = (start.elapsed().as_secs_f64(), compiled.elapsed().as_secs_f64());
    // Its own clock does not count how long it takes to make room.
    let own_clock =
        text.split_once("elapsed time").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    let exploration = own_clock.filter(|seconds| *seconds > 0.0).unwrap_or(wall);
    let states = states_of(&text).ok_or_else(|| failed("pan"))?;
    let has_stopped = ["max search depth too small", "out of memory", "Time limit of", "pan:1:"];
    if let Some(why) = has_stopped.iter().find(|why| text.contains(**why)) {
        return Err(format!("Spin has not finished: {why}"));
    }
    let bytes =
        number_in(&text, "equivalent memory usage").map_or(0, |megabytes| (megabytes * 1_048_576.0) as u64);
    run("gcc", "-w -O1 -DSAFETY -DNOCLAIM -DXUSAFE -DMEMLIM=8000 -o pan pan.c")?;
    let text = run(&pan.to_string_lossy(), &format!("-A -E -c0 -n -m10000000 -Q{limit}"))?;
    let is_whole = !has_stopped.iter().any(|why| text.contains(why));
    let reduced = states_of(&text).filter(|_| is_whole);
    Ok(Figures { states, total, exploration, bytes, reduced })
}

/// The first number of the line with these words.
fn number_in(text: &str, words: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains(words))?;
    line.split_whitespace().next()?.parse::<f64>().ok()
}

fn states_of(text: &str) -> Option<u64> {
    number_in(text, "states, stored").map(|states| states as u64)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}
