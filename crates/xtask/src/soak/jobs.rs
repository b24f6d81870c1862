//! What is done in a turn: a random test, a mutant, small limits, a kill.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Soak, programs};

/// A command that takes longer hangs; and so does a test.
const PATIENCE: Duration = Duration::from_secs(60);
const PATIENCE_WITH_TESTS: Duration = Duration::from_secs(1800);

/// What is put into a model that is changed.
const PIECES: &[u8] = b"(){}[];:|&!<>-=0189\"\\\x00\xff,.@*abcx \n";

/// Runs a command; nothing if it takes longer than that, and is killed.
fn output(command: &mut Command, patience: Duration) -> Option<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
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
                None if start.elapsed() > patience => {
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

/// What a test says of how much it looked at: `1000 cases`, or `of formulas: 900 judged, 500 hold, 400 are violated`.
fn counted(line: &str) -> Option<(&str, Vec<u64>)> {
    let number = |text: &str| text.split(' ').next()?.parse::<u64>().ok();
    match line.rsplit_once(": ") {
        Some((what, counts)) if counts.contains(" judged, ") => {
            Some((what, counts.split(", ").map(number).collect::<Option<_>>()?))
        }
        _ => line.strip_suffix(" cases").and_then(|n| Some(("", vec![n.parse().ok()?]))),
    }
}

/// The verdicts of a check, by property.
fn verdicts(output: &Output) -> Vec<(String, String)> {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = document["results"].as_array().into_iter().flatten();
    results.map(|result| (text(&result["property"]), text(&result["verdict"]))).collect()
}

impl Soak<'_> {
    /// Runs the command; nothing if it hangs.
    fn stubborn(&self, arguments: &[String]) -> Option<Output> {
        let mut command = Command::new(&self.programs.stubborn);
        output(command.args(arguments).current_dir(&self.programs.folder), PATIENCE)
    }

    /// A file of one's own.
    fn scratch(&self, name: &str) -> PathBuf {
        self.keep.join(format!("scratch-{}-{name}", self.job))
    }

    /// The random test that was begun least often, with a new seed.
    pub(super) fn test(&mut self) {
        let first = self.below(self.programs.tests.len());
        let at = {
            let mut known = self.known();
            let n = known.begun.len();
            let all = (first..n).chain(0..first);
            let Some(at) = all.min_by_key(|&at| known.begun[at]) else { return };
            known.begun[at] += 1;
            at
        };
        let (program, name) = &self.programs.tests[at];
        // All tests understand seeds of 32 bits.
        let seed = self.below(1 << 31);
        let mut command = Command::new(program);
        command
            .args(["--exact", name, "--nocapture", "--test-threads", "1"])
            .env("STUBBORN_SEED", seed.to_string())
            .env("STUBBORN_CASES", "1")
            .current_dir(&self.programs.folder);
        let left = self.end.saturating_duration_since(Instant::now());
        let ended = output(&mut command, left.min(PATIENCE_WITH_TESTS));
        let test = format!("{}::{name}", programs::name(program));
        let command = format!("STUBBORN_CASES=1 STUBBORN_SEED={seed} {} --exact {name}", program.display());
        let Some(ended) = ended else {
            if left < PATIENCE_WITH_TESTS {
                self.known().cut += 1;
            } else {
                self.found(&format!("{test} hangs"), &command, b"", "txt");
            }
            return;
        };
        let text = [&ended.stdout[..], &ended.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        if ended.status.success() {
            let mut known = self.known();
            known.passed[at] += 1;
            for (what, counts) in text.lines().filter_map(counted) {
                let what = format!("{test} {what}");
                let sums = known.cases.entry(what.trim_end().to_owned()).or_default();
                sums.resize(sums.len().max(counts.len()), 0);
                sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
            }
            return;
        }
        self.known().failed[at] += 1;
        let what = text.lines().find(|line| line.starts_with("Test failed")).unwrap_or("a random test fails");
        let what: String = what.chars().take(300).collect();
        self.found(&format!("{test}: {what}"), &command, text.as_bytes(), "txt");
    }

    /// A model with some bytes changed.
    pub(super) fn mutant(&mut self) {
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
        let path = self.scratch(&format!("mutant.{end}"));
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
        let shows = |bytes: &[u8]| {
            fs::write(&path, bytes).ok()?;
            trouble(self.stubborn(&arguments(&path)).as_ref())
        };
        let found = shows(&bytes);
        let small = found.as_ref().map(|what| smaller(&bytes, |bytes| shows(bytes).as_ref() == Some(what)));
        if let (Some(what), Some(small)) = (found, small) {
            let command = arguments(&path).join(" ");
            self.found(&what, &command, &small, &end);
        }
    }

    /// A model with small limits.
    pub(super) fn limits(&mut self) {
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
        let (known, answer) = (self.stubborn(&plain), self.stubborn(&limited));
        let wrong = trouble(answer.as_ref());
        let (Some(known), Some(answer)) = (known, answer) else {
            self.found("it hangs", &limited.join(" "), b"", "txt");
            return;
        };
        let known = verdicts(&known);
        let is_other = |(name, verdict): &(String, String)| {
            let before = known.iter().find(|(known, _)| known == name).map(|(_, verdict)| verdict.as_str());
            verdict != "unknown" && before.is_some_and(|before| before != "unknown" && before != verdict)
        };
        let other = verdicts(&answer).into_iter().find(is_other);
        let other =
            other.map(|(name, verdict)| format!("`{name}` is {verdict}, which it is not without limits"));
        if let Some(what) = wrong.or(other) {
            self.found(&what, &limited.join(" "), &answer.stdout, "txt");
        }
    }

    /// A command that writes a file, and is killed.
    pub(super) fn kill(&mut self) {
        let model = self.model().display().to_string();
        let path = self.scratch("killed.out");
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
        let mut command = Command::new(&self.programs.stubborn);
        command.args(arguments).args(["--timeout", "20s"]).current_dir(&self.programs.folder);
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
