//! `stubborn reproduce`: the papers' experiments. What is measured and written is up to `reproduce`; here are
//! the clock, the files, Ctrl-C and the progress line.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reproduce::{Host, Outcome, Status};
use stubborn::base::Progress;
use stubborn::{Clock, Limits, Watcher};

use crate::args::ReproduceArguments;
use crate::exit::{Exit, Failure};
use crate::{output, terminal};

/// Runs the command.
pub(crate) fn run(arguments: &ReproduceArguments) -> Result<Exit, Failure> {
    terminal::catch_interrupts();
    let mut desk = Desk {
        folder: arguments.output.clone(),
        start: Instant::now(),
        max_bytes: Clock::start(&Limits { memory: arguments.max_memory, ..Limits::default() }).max_bytes(),
        threads: arguments.threads.map_or(1, usize::from),
        progress: Line::new(arguments.quiet),
        failure: None,
    };
    let papers = arguments.papers();
    let result = reproduce::run(&papers, arguments.scale(), &mut desk);
    desk.progress.clear();
    match (result, desk.failure) {
        (_, Some(failure)) => Err(failure),
        (Err(why), None) => Err(Failure::plain("reproduce", why)),
        (Ok(outcome), None) => Ok(tell(&outcome, arguments)),
    }
}

/// Says what came of it.
fn tell(outcome: &Outcome, arguments: &ReproduceArguments) -> Exit {
    let page = arguments.output.join("index.html");
    terminal::print_stdout(&format!("{outcome}; the report is {}\n", page.display()));
    for trouble in &outcome.troubles {
        terminal::print_stderr(&format!("not measured: {trouble}\n"));
    }
    if outcome.interrupted {
        terminal::print_stderr("interrupted: the same command goes on from here\n");
    }
    if outcome.missing > 0 { Exit::Undecided } else { Exit::Success }
}

/// Where the report is written.
struct Desk {
    folder: PathBuf,
    start: Instant,
    max_bytes: u64,
    threads: usize,
    progress: Line,
    /// What the operating system refused.
    failure: Option<Failure>,
}

/// The progress line: on a terminal one line that changes, otherwise a line now and then.
struct Line {
    is_quiet: bool,
    is_terminal: bool,
    last: Option<Instant>,
    text: String,
}

impl Line {
    fn new(is_quiet: bool) -> Line {
        Line { is_quiet, is_terminal: std::io::stderr().is_terminal(), last: None, text: String::new() }
    }

    fn show(&mut self) {
        let pause = if self.is_terminal { Duration::from_millis(250) } else { Duration::from_secs(30) };
        if self.is_quiet || self.last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.last = Some(Instant::now());
        if self.is_terminal {
            eprint!("\r\x1b[2K{}", self.text);
        } else {
            eprintln!("{}", self.text);
        }
    }

    fn clear(&mut self) {
        if self.is_terminal && !self.is_quiet && self.last.is_some() {
            eprint!("\r\x1b[2K");
        }
    }
}

impl Watcher for Desk {
    fn look(&self, _: Duration, _: &Progress) -> bool {
        !terminal::is_interrupted()
    }
}

impl Host for Desk {
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn read(&mut self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    fn write(&mut self, file: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        let folder = path.parent().unwrap_or(&self.folder);
        let written = match fs::create_dir_all(folder) {
            Ok(()) => output::write_text(&path, text),
            Err(error) => {
                let message = format!("cannot make the folder `{}`: {}", folder.display(), error.kind());
                Err(Failure::plain("cannot-write", message))
            }
        };
        written.map_err(|failure| {
            self.failure = Some(failure);
            format!("cannot write `{}`", path.display())
        })
    }

    fn append(&mut self, file: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(file);
        let file = fs::OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| format!("cannot write `{}`: {}", path.display(), error.kind()))
    }

    fn show(&mut self, status: &Status) {
        self.progress.text = status.to_string();
        self.progress.show();
    }
}
