//! Tests that run the command and look at more than a transcript shows: files, JSON, exit codes,
//! signals, pipes.

mod automata;
mod bad_input;
mod certificates;
mod comfort;
mod device;
mod draw;
mod emitted;
mod explore_product;
mod export;
mod fairness;
mod formulas;
mod hosts;
mod json;
#[cfg(unix)]
mod large;
mod limits;
#[cfg(unix)]
mod mutants;
#[cfg(unix)]
mod nasty;
mod nets;
mod promela;
mod promela_programs;
mod reading;
mod report;
mod reproduce;
mod simulate;
mod terminal;
mod trails;
mod trust;
#[cfg(target_os = "linux")]
mod watch;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The command, run at the root of the project, so that `models/…` can be named.
fn stubborn() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stubborn"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).stdin(Stdio::null());
    command
}

/// Runs the command with arguments that are separated by blanks.
fn run(arguments: &str) -> Finished {
    run_with(arguments.split_whitespace())
}

/// Runs the command with arguments that may have blanks inside.
fn run_with<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Finished {
    Finished::from(stubborn().args(arguments).output().expect("the command can be run"))
}

/// Runs the command on a model with a formula, and further arguments that are separated by blanks.
fn run_ltl(command: &str, model: &str, formula: &str, arguments: &str) -> Finished {
    let model = [command].into_iter().chain(model.split_whitespace()).chain(["--ltl", formula]);
    let finished = run_with(model.chain(arguments.split_whitespace()));
    assert!(!finished.stdout.contains("internal error"), "{formula} {arguments}: {}", finished.stdout);
    finished
}

/// Starts the command with arguments that are separated by blanks; all that goes in and out is a pipe.
fn start(arguments: &str) -> Child {
    let mut command = stubborn();
    command.args(arguments.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command can be run")
}

/// Runs the command with something on stdin.
fn run_with_input(arguments: &str, input: &[u8]) -> Finished {
    let mut child = start(arguments);
    // It may have stopped reading already; what it says then is what is tested.
    _ = child.stdin.take().expect("stdin is a pipe").write_all(input);
    Finished::from(child.wait_with_output().expect("the command ends"))
}

/// What a command left behind. None of them may ever panic.
struct Finished {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Finished {
        let stderr = String::from_utf8(output.stderr).expect("messages are text");
        assert!(!stderr.contains("panicked") && !stderr.contains("internal error"), "{stderr}");
        let stdout = String::from_utf8(output.stdout).expect("results are text");
        let code = output.status.code().unwrap_or_else(|| panic!("ended by a signal: {stderr}"));
        Finished { code, stdout, stderr }
    }
}

impl Finished {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// The first result of a document.
    fn result(&self) -> Value {
        assert!(!self.stdout.contains("internal error"), "{}", self.stdout);
        self.json()["results"][0].clone()
    }

    /// The message of a refusal, which names a rule and a way out.
    fn refusal(&self, what: &str) -> String {
        assert_eq!(self.code, 2, "{what}: {}", self.stdout);
        let error = &self.json()["errors"][0];
        assert_eq!(error["code"], "method", "{what}");
        let message = error["message"].as_str().unwrap_or("").to_owned();
        assert!(
            message.contains("cannot be checked this way: ") && message.contains(": use --"),
            "{message}"
        );
        message
    }
}

const OBSERVERS: [&str; 7] = ["tgba", "ba", "ta", "tgta", "lazy-ta", "lazy-tgta", "extended"];
const SEARCHES: [&str; 4] = ["scc", "nested", "one-pass", "two-pass"];

/// A PNML file: places with their tokens, transitions, and arcs with their weights.
fn pnml<N: AsRef<str>>(places: &[(N, u64)], transitions: &[N], arcs: &[(N, N, u64)]) -> String {
    let mut text = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"net\" \
                    type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"page\">\n"
        .to_owned();
    for (id, tokens) in places {
        let marking = format!("<initialMarking><text>{tokens}</text></initialMarking>");
        text += &format!("<place id=\"{}\">{marking}</place>\n", id.as_ref());
    }
    for id in transitions {
        text += &format!("<transition id=\"{}\"/>\n", id.as_ref());
    }
    for (number, (source, target, weight)) in arcs.iter().enumerate() {
        let (source, target) = (source.as_ref(), target.as_ref());
        let inscription = format!("<inscription><text>{weight}</text></inscription>");
        text +=
            &format!("<arc id=\"arc{number}\" source=\"{source}\" target=\"{target}\">{inscription}</arc>\n");
    }
    text + "</page></net></pnml>\n"
}

/// A folder for one test.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path as an argument.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).expect("it can be written");
        path.to_str().expect("temporary folders have simple names").to_owned()
    }

    /// The names of all files, in order.
    fn listing(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder exists");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}
