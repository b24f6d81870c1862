//! Spin's verifiers: made, compiled and run, with the seconds of CPU time that they take.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What one of the two has found, and what it needed.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    /// Whether there is no error.
    pub(crate) holds: bool,
    pub(crate) states: u64,
    /// Seconds of CPU time.
    pub(crate) seconds: f64,
    pub(crate) bytes: u64,
}

/// Spin, in a folder of its own.
pub(crate) struct Spin {
    folder: PathBuf,
    /// For each run.
    seconds: u64,
    /// Per depth, seconds that a verifier takes before it begins.
    room: [f64; DEPTHS.len()],
}

/// How deep a verifier may go: Spin's default, and more where that is too small.
const DEPTHS: [u64; 3] = [10_000, 1_000_000, 20_000_000];

impl Drop for Spin {
    fn drop(&mut self) {
        // Whatever is left there is nobody's.
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Spin {
    /// Looks whether it can be run, and what it takes for a model without steps.
    pub(crate) fn new(seconds: u64) -> Result<Spin, String> {
        let folder = std::env::temp_dir().join(format!("stubborn-spin-{}", std::process::id()));
        let mut spin = Spin { folder, seconds, room: [0.0; DEPTHS.len()] };
        spin.load("init { skip }")?;
        spin.run("spin -a model.pml")?;
        spin.run("gcc -w -O2 -DMEMLIM=8000 -DSAFETY -DNOCLAIM -o pan pan.c")?;
        for (at, depth) in DEPTHS.into_iter().enumerate() {
            // The least of some runs.
            let runs = (0..5).map(|_| Ok(spin.run(&format!("./pan -n -m{depth}"))?.1));
            let seconds: Result<Vec<f64>, String> = runs.collect();
            spin.room[at] = seconds?.into_iter().fold(f64::INFINITY, f64::min);
        }
        Ok(spin)
    }

    /// Takes a model, and forgets all others.
    pub(crate) fn load(&self, text: impl AsRef<[u8]>) -> Result<(), String> {
        _ = std::fs::remove_dir_all(&self.folder);
        std::fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        std::fs::write(self.folder.join("model.pml"), text).map_err(|error| error.to_string())
    }

    /// What the verifier says that was made, compiled with these flags and run with these options.
    pub(crate) fn verify(&self, flags: &str, options: &str) -> Result<Figures, String> {
        let (mut more, mut at, mut made) = (String::new(), 0, None);
        // It says what it needs.
        for _ in 0..6 {
            if made.as_ref() != Some(&more) {
                self.run(&format!("gcc -w -O2 -DMEMLIM=8000 {flags} {more} -o pan pan.c"))?;
                made = Some(more.clone());
            }
            let minutes = self.seconds.div_ceil(60).max(1);
            let (text, seconds) = self.run(&format!("./pan {options} -n -m{} -Q{minutes}", DEPTHS[at]))?;
            let refuses = |words: &str| !more.contains("-DNOREDUCE") && text.contains(words);
            if refuses("recompile with -DNOREDUCE") || refuses("partial order reduction invalid") {
                more += " -DNOREDUCE";
            } else if let Some((_, number)) = text.split_once("recompile with -DNFAIR=") {
                more += &format!(" -DNFAIR={}", number.split_whitespace().next().unwrap_or("3"));
            } else if text.contains("max search depth too small") && at + 1 < DEPTHS.len() {
                at += 1;
            } else {
                return figures_of(&text, (seconds - self.room[at]).max(0.0));
            }
        }
        Err("Spin's verifier cannot be made".to_owned())
    }

    /// What a command says, in the folder, and its seconds.
    pub(crate) fn run(&self, command: &str) -> Result<(String, f64), String> {
        let mut words = command.split_whitespace();
        timed(&self.folder, words.next().unwrap_or_default(), words)
    }
}

/// Runs a command; returns what it says, and the seconds of CPU time that it takes.
pub(crate) fn timed<'a>(
    folder: &Path,
    program: &str,
    arguments: impl Iterator<Item = &'a str>,
) -> Result<(String, f64), String> {
    // The times come last, in a line of their own.
    let script = "TIMEFORMAT=$'\\n%3U %3S'; { time \"$@\" 2>/dev/null; } 2>&1";
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-c", script, "bash", program]).args(arguments);
    let output = command.output().map_err(|error| format!("bash: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (said, times) = text.trim_end().rsplit_once('\n').ok_or_else(|| format!("{program} fails"))?;
    let seconds = times.split_whitespace().filter_map(|time| time.parse::<f64>().ok()).sum();
    Ok((said.to_owned(), seconds))
}

/// What Spin's verifier says.
fn figures_of(text: &str, seconds: f64) -> Result<Figures, String> {
    let stops = ["max search depth too small", "out of memory", "Time limit of", "pan: reached"];
    if let Some(why) = stops.iter().find(|why| text.contains(**why)) {
        return Err(format!("Spin has not finished: {why}"));
    }
    // It looks at assertions of the model along with a formula; a formula `[] p` is one itself, in these words.
    let is_about_formula = text.contains("pan: ltl formula ");
    if is_about_formula && text.contains("assertion violated") && !text.contains("assertion violated  !(") {
        return Err("Spin stops at an assertion, not at the formula".to_owned());
    }
    let first_number = |words: &str| {
        let line = text.lines().find(|line| line.contains(words))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let states = first_number("states, stored").ok_or("Spin's verifier fails")? as u64;
    let bytes =
        first_number("equivalent memory usage").map_or(0, |megabytes| (megabytes * 1_048_576.0) as u64);
    Ok(Figures { holds: text.contains("errors: 0"), states, seconds, bytes })
}
