//! `cargo xtask soak`: everything that is random, again and again, with new seeds.
//!
//! - all random tests (`stubborn-testing`), each with a new seed;
//! - models with bytes changed, removed and repeated: no command may panic, hang, or end by a signal;
//! - models with small random limits on states, memory and time: an answer is the one without limits, or *unknown*;
//! - commands that write files, killed or stopped (Ctrl-C) at a random moment: the file is there as a whole, as it was, or not
//!   at all.
//!
//! What is found is made small and kept in `target/soak`, with the command that shows it. The next thing to do is to make it a
//! named test. With `--release`, more is tried in the same time, without what only debug builds assert; with `--no-tests`, the
//! random tests, which take long to build, are left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

pub(crate) const USAGE: &str = "       cargo xtask soak [--minutes N] [--seed N] [--release] [--no-tests]";

/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let number = |name: &str| {
        let at = arguments.iter().position(|known| *known == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("--seed").unwrap_or(now);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(mut soak) = Soak::prepare(root, seed, arguments) else { return ExitCode::FAILURE };
    println!("soak: seed {seed}, {} models, {} random tests", soak.models.len(), soak.tests.len());
    let deadline = Instant::now() + Duration::from_secs(60 * number("--minutes").unwrap_or(10));
    let jobs: [fn(&mut Soak); 4] = [Soak::test, Soak::mutant, Soak::limits, Soak::kill];
    // The quick ones more often.
    let turns = [0, 1, 1, 1, 2, 2, 2, 3, 3];
    let mut turn = 0;
    while Instant::now() < deadline {
        jobs[turns[turn % turns.len()]](&mut soak);
        turn += 1;
    }
    let [tests, mutants, limits, kills] = soak.counts;
    println!(
        "soak: {tests} random tests, {mutants} mutants, {limits} limits, {kills} kills; {} findings",
        soak.n_findings
    );
    if soak.n_findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Soak {
    root: PathBuf,
    folder: PathBuf,
    stubborn: PathBuf,
    /// The programs of the random tests.
    tests: Vec<PathBuf>,
    models: Vec<PathBuf>,
    random: u64,
    counts: [u32; 4],
    n_findings: u32,
}

/// What is put into a model that is changed.
const PIECES: &[u8] = b"(){}[];:|&!<>-=0189\"\\\x00\xff,.@*abcx \n";

impl Soak {
    /// Builds what is run, and keeps a copy of it: who goes on to work, and builds again, does not change what is run here.
    fn prepare(root: PathBuf, seed: u64, asked: &[&str]) -> Option<Soak> {
        let folder = root.join("target/soak");
        let programs = folder.join("programs");
        _ = fs::remove_dir_all(&programs);
        fs::create_dir_all(&programs).ok()?;
        let copied = |program: PathBuf| {
            let copy = programs.join(program.file_name()?);
            fs::copy(&program, &copy).ok()?;
            Some(copy)
        };
        let build = |arguments: &[&str]| -> Vec<PathBuf> {
            let output = Command::new(env!("CARGO"))
                .args(arguments)
                .args(asked.contains(&"--release").then_some("--release"))
                .args(["--message-format", "json"])
                .current_dir(&root)
                .stderr(Stdio::inherit())
                .output();
            let lines =
                output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            let executable = |line: &str| {
                Some(PathBuf::from(serde_json::from_str::<Value>(line).ok()?["executable"].as_str()?))
            };
            lines.lines().filter_map(executable).filter_map(copied).collect()
        };
        let tests = match asked.contains(&"--no-tests") {
            true => Vec::new(),
            false => build(&["test", "-p", "stubborn-testing", "--tests", "--no-run"]),
        };
        let stubborn = build(&["build", "-p", "stubborn-cli"]).pop()?;
        let is_model = |path: &PathBuf| {
            path.extension().is_some_and(|end| end == "proc" || end == "pml" || end == "pnml")
        };
        let mut models: Vec<PathBuf> =
            fs::read_dir(root.join("models")).ok()?.flatten().map(|entry| entry.path()).collect();
        models.push(root.join("crates/cli/init/model.pnml"));
        models.retain(is_model);
        models.sort();
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Some(Soak { root, folder, stubborn, tests, models, random, counts: [0; 4], n_findings: 0 })
    }

    /// A random number below a bound (xorshift).
    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % bound.max(1) as u64) as usize
    }

    fn model(&mut self) -> PathBuf {
        let at = self.below(self.models.len());
        self.models[at].clone()
    }

    /// Keeps what was found.
    fn found(&mut self, what: &str, command: &str, text: &[u8], end: &str) {
        self.n_findings += 1;
        let path = self.folder.join(format!("finding-{}-{}.{end}", self.random, self.n_findings));
        _ = fs::write(&path, text);
        println!("soak: FOUND {what}\n  {command}\n  kept in {}", path.display());
    }

    /// Runs the command; nothing if it hangs.
    fn stubborn(&self, arguments: &[String]) -> Option<Output> {
        let mut command = Command::new(&self.stubborn);
        command.args(arguments).current_dir(&self.root).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
        let (mut out, mut err) = (child.stdout.take()?, child.stderr.take()?);
        let read = |pipe: &mut dyn std::io::Read| {
            let mut bytes = Vec::new();
            _ = pipe.read_to_end(&mut bytes);
            bytes
        };
        std::thread::scope(|scope| {
            let (stdout, stderr) = (scope.spawn(|| read(&mut out)), scope.spawn(|| read(&mut err)));
            let start = Instant::now();
            let status = loop {
                match child.try_wait().ok()? {
                    Some(status) => break Some(status),
                    None if start.elapsed() > PATIENCE => {
                        _ = child.kill();
                        _ = child.wait();
                        break None;
                    }
                    None => sleep(Duration::from_millis(5)),
                }
            };
            let (stdout, stderr) = (stdout.join().ok()?, stderr.join().ok()?);
            Some(Output { status: status?, stdout, stderr })
        })
    }

    /// What is wrong with how a command ended.
    fn trouble(output: Option<&Output>) -> Option<String> {
        let Some(output) = output else { return Some("it hangs".to_owned()) };
        let errors = String::from_utf8_lossy(&output.stderr);
        let panicked = errors.lines().find(|line| line.contains("panicked at"));
        match (panicked, output.status.code()) {
            (Some(line), _) => Some(line.to_owned()),
            (None, None) => Some("it ended by a signal".to_owned()),
            (None, Some(0..=3)) => {
                let text = String::from_utf8_lossy(&output.stdout);
                text.contains("internal error").then(|| "internal error".to_owned())
            }
            (None, Some(code)) => Some(format!("exit code {code}")),
        }
    }

    /// A random test with a new seed.
    fn test(&mut self) {
        if self.tests.is_empty() {
            return;
        }
        let at = self.below(self.tests.len());
        let (program, seed) = (self.tests[at].clone(), self.below(usize::MAX >> 1));
        let output = Command::new(&program)
            .env("STUBBORN_SEED", seed.to_string())
            .current_dir(self.root.join("crates/testing"))
            .output();
        self.counts[0] += 1;
        let Ok(output) = output else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Some tests count how often they saw something, which another seed may not reach.
        if !output.status.success() {
            let what =
                text.lines().find(|line| line.starts_with("Test failed")).unwrap_or("a random test fails");
            let what = what.chars().take(300).collect::<String>();
            self.found(&what, &format!("STUBBORN_SEED={seed} {}", program.display()), text.as_bytes(), "txt");
        }
    }

    /// A model with some bytes changed.
    fn mutant(&mut self) {
        let model = self.model();
        let Ok(mut bytes) = fs::read(&model) else { return };
        for _ in 0..=self.below(4) {
            let (at, other) = (self.below(bytes.len()), self.below(bytes.len()));
            let end = (at + self.below(40)).min(bytes.len());
            match self.below(5) {
                0 => _ = bytes.drain(at..end),
                1 => bytes.insert(at, PIECES[other % PIECES.len()]),
                2 => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(other..other, piece);
                }
                3 => bytes.swap(at, other),
                _ => bytes[at] = bytes[at].wrapping_add(1 + (other % 255) as u8),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let end = model.extension().unwrap_or_default().to_string_lossy().into_owned();
        let path = self.folder.join(format!("mutant.{end}"));
        let which = self.below(4);
        let arguments = |path: &Path| -> Vec<String> {
            let path = path.display().to_string();
            let all: &[&str] = match which {
                0 => &["check", &path, "--why"],
                1 => &["explore", &path, "--coverage"],
                2 => &["explain", &path],
                _ => &["check", &path, "--fair", "weak"],
            };
            let limits = ["--quiet", "--timeout", "2s", "--max-memory", "200M", "--max-states", "20000"];
            all.iter().chain(&limits).map(|text| (*text).to_owned()).collect()
        };
        let trouble = |bytes: &[u8]| {
            fs::write(&path, bytes).ok()?;
            Soak::trouble(self.stubborn(&arguments(&path)).as_ref())
        };
        let found = trouble(&bytes);
        let small = found.as_ref().map(|what| smaller(&bytes, |bytes| trouble(bytes).as_ref() == Some(what)));
        self.counts[1] += 1;
        if let (Some(what), Some(small)) = (found, small) {
            let command = arguments(&path).join(" ");
            self.found(&what, &command, &small, &end);
        }
    }

    /// The verdicts of a check, by property.
    fn verdicts(output: &Output) -> Vec<(String, String)> {
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let results = document["results"].as_array().into_iter().flatten();
        results.map(|result| (text(&result["property"]), text(&result["verdict"]))).collect()
    }

    /// A model with small limits.
    fn limits(&mut self) {
        let model = self.model().display().to_string();
        let check = |limits: &[String]| -> Vec<String> {
            let all = ["check", &model, "--json", "--quiet"].map(str::to_owned);
            all.into_iter().chain(limits.iter().cloned()).collect()
        };
        let plain = check(&["--timeout".to_owned(), "20s".to_owned()]);
        let limits = match self.below(3) {
            0 => vec!["--max-states".to_owned(), (1 + self.below(400)).to_string()],
            1 => vec!["--timeout".to_owned(), format!("{}ms", 1 + self.below(60))],
            _ => vec!["--max-memory".to_owned(), format!("{}k", 1 + self.below(3000))],
        };
        let limited = check(&limits);
        self.counts[2] += 1;
        let (known, answer) = (self.stubborn(&plain), self.stubborn(&limited));
        let trouble = Soak::trouble(answer.as_ref());
        let (Some(known), Some(answer)) = (known, answer) else {
            self.found("it hangs", &limited.join(" "), b"", "txt");
            return;
        };
        let known = Soak::verdicts(&known);
        let is_other = |(name, verdict): &(String, String)| {
            let before = known.iter().find(|(known, _)| known == name).map(|(_, verdict)| verdict.as_str());
            verdict != "unknown" && before.is_some_and(|before| before != "unknown" && before != verdict)
        };
        let other = Soak::verdicts(&answer).into_iter().find(is_other);
        let other =
            other.map(|(name, verdict)| format!("`{name}` is {verdict}, which it is not without limits"));
        if let Some(what) = trouble.or(other) {
            self.found(&what, &limited.join(" "), &answer.stdout, "txt");
        }
    }

    /// A command that writes a file, and is killed.
    fn kill(&mut self) {
        let model = self.model().display().to_string();
        let path = self.folder.join("killed.out");
        let old = b"what was there before\n";
        if fs::write(&path, old).is_err() {
            return;
        }
        let file = path.display().to_string();
        let certifies = self.below(2) == 0;
        let arguments = match certifies {
            true => ["check", &model, "--quiet", "--certificate", &file],
            false => ["explore", &model, "--quiet", "--aut", &file],
        };
        let mut command = Command::new(&self.stubborn);
        command.args(arguments).args(["--timeout", "20s"]).current_dir(&self.root);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(mut child) = child else { return };
        sleep(Duration::from_micros(self.below(120_000) as u64));
        // Killed, or asked to stop, as by Ctrl-C.
        let is_asked = self.below(2) == 0
            && Command::new("kill").args(["-INT", &child.id().to_string()]).status().is_ok();
        let start = Instant::now();
        while is_asked && start.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
            sleep(Duration::from_millis(5));
        }
        if is_asked && matches!(child.try_wait(), Ok(None)) {
            self.found("it does not stop after Ctrl-C", &arguments.join(" "), b"", "out");
        }
        _ = child.kill();
        _ = child.wait();
        self.counts[3] += 1;
        let Ok(left) = fs::read(&path) else { return };
        let is_whole = left == old
            || match certifies {
                true => {
                    let judge = ["certify", &model, &file].map(str::to_owned);
                    self.stubborn(&judge).is_some_and(|output| output.status.success())
                }
                false => {
                    let lines = left.iter().filter(|&&byte| byte == b'\n').count();
                    let head = String::from_utf8_lossy(&left[..left.len().min(200)]).into_owned();
                    let n = head.split(", ").nth(1).and_then(|number| number.parse::<usize>().ok());
                    head.starts_with("des (") && n == Some(lines.saturating_sub(1))
                }
            };
        if !is_whole {
            self.found("a file was written in part", &arguments.join(" "), &left, "out");
        }
    }
}

/// Leaves out pieces, as long as what is left does the same.
fn smaller(whole: &[u8], mut still: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let mut size = bytes.len() / 2;
    let start = Instant::now();
    while size > 0 && start.elapsed() < PATIENCE {
        let mut at = 0;
        while at < bytes.len() {
            let end = (at + size).min(bytes.len());
            let rest = [&bytes[..at], &bytes[end..]].concat();
            if still(&rest) {
                bytes = rest;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    bytes
}
