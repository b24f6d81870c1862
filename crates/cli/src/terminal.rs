//! The terminal: output that survives a closed pipe, colors, the progress line, Ctrl-C.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ColorChoice;
use stubborn::Watcher;
use stubborn::base::Progress;
use stubborn::report::{grouped, human_bytes};

use crate::output;

static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_FAILED: AtomicBool = AtomicBool::new(false);

/// Prints to stdout. A closed pipe is no error: whoever reads has seen enough.
pub(crate) fn print_stdout(text: &str) {
    let mut stdout = anstream::stdout();
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        close_stdout(&error);
    }
}

/// Remembers that nothing more can be printed; why, is told if it is not that nobody reads any more.
pub(crate) fn close_stdout(error: &io::Error) {
    let is_first = !STDOUT_IS_CLOSED.swap(true, Ordering::Relaxed);
    if is_first && error.kind() != io::ErrorKind::BrokenPipe {
        STDOUT_FAILED.store(true, Ordering::Relaxed);
        print_stderr(&format!("error[cannot-write]: cannot write to the standard output: {error}\n"));
    }
}

/// Whether something should have been printed that was not.
pub(crate) fn stdout_failed() -> bool {
    STDOUT_FAILED.load(Ordering::Relaxed)
}

/// Whether nobody reads what is printed to stdout any more.
pub(crate) fn stdout_is_closed() -> bool {
    STDOUT_IS_CLOSED.load(Ordering::Relaxed)
}

/// Prints to stderr.
pub(crate) fn print_stderr(text: &str) {
    _ = anstream::stderr().write_all(text.as_bytes());
}

/// Follows `--color`; the default looks at the terminal and at `NO_COLOR`.
pub(crate) fn set_color(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => {}
        ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Whether messages on stderr may have colors.
pub(crate) fn stderr_has_color() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C stop computations instead of the program; a second one stops the program.
pub(crate) fn catch_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            output::remove_unfinished();
            #[allow(clippy::exit)] // The user insists, and nobody else is left to ask.
            std::process::exit(130);
        }
    };
    // Without a handler Ctrl-C ends the program at once, which is acceptable.
    _ = ctrlc::set_handler(handler);
}

/// Whether the user has had enough.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

static CHANGED: AtomicBool = AtomicBool::new(false);

/// Remembers whether a file has changed that a computation is about, which then is of no use any more.
pub(crate) fn set_changed(changed: bool) {
    CHANGED.store(changed, Ordering::Relaxed);
}

/// Whether a file has changed that a computation is about.
pub(crate) fn has_changed() -> bool {
    CHANGED.load(Ordering::Relaxed)
}

/// Shows progress, and looks whether the user has had enough.
pub(crate) struct Display {
    shows_progress: bool,
    shown: Mutex<Shown>,
}

/// What was shown, and what there is to show.
#[derive(Default)]
struct Shown {
    last: Option<Duration>,
    /// Jobs that are done at once, by their lanes: what each is called, and how far it has come.
    lanes: BTreeMap<usize, (String, Progress)>,
}

impl Display {
    pub(crate) fn new(quiet: bool) -> Display {
        let shows_progress = io::stderr().is_terminal() && !quiet;
        Display { shows_progress, shown: Mutex::default() }
    }

    /// Removes the progress line.
    pub(crate) fn clear(&self) {
        if self.shown().last.take().is_some() {
            eprint!("\r\x1b[2K");
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Display {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        const FIRST: Duration = Duration::from_secs(1);
        const NEXT: Duration = Duration::from_millis(250);
        let mut shown = self.shown();
        let due = shown.last.map_or(FIRST, |last| last + NEXT);
        if self.shows_progress && elapsed >= due {
            match shown.lanes.len() {
                0 | 1 => show(elapsed, progress),
                _ => eprint!("\r\x1b[2K{}", lanes_line(elapsed, &shown.lanes)),
            }
            shown.last = Some(elapsed);
        }
        !is_interrupted() && !has_changed()
    }

    fn look_at_lane(&self, lane: usize, elapsed: Duration, progress: &Progress) -> bool {
        if let Some((_, known)) = self.shown().lanes.get_mut(&lane) {
            *known = *progress;
        }
        self.look(elapsed, progress)
    }

    fn lane_has(&self, lane: usize, job: Option<&str>) {
        let mut shown = self.shown();
        match job {
            Some(job) => _ = shown.lanes.insert(lane, (job.to_owned(), Progress::default())),
            None => _ = shown.lanes.remove(&lane),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.clear();
    }
}

/// What is done at once, in one line: the first few jobs by their names.
fn lanes_line(elapsed: Duration, lanes: &BTreeMap<usize, (String, Progress)>) -> String {
    const MOST: usize = 4;
    const NAME: usize = 16;
    let job = |(name, progress): &(String, Progress)| {
        let dots = if name.chars().count() > NAME { "…" } else { "" };
        let name: String = name.chars().take(NAME).collect();
        match progress.states {
            0 => format!("{name}{dots} preparing"),
            states => format!("{name}{dots} {} states", grouped(states)),
        }
    };
    let jobs: Vec<String> = lanes.values().take(MOST).map(job).collect();
    let others = lanes.len().saturating_sub(MOST);
    let others = if others > 0 { format!("; {others} more") } else { String::new() };
    let bytes = lanes.values().map(|(_, progress)| progress.bytes).sum();
    format!("{}{others}; {}, {:.0} s", jobs.join("; "), human_bytes(bytes), elapsed.as_secs_f64())
}

fn show(elapsed: Duration, progress: &Progress) {
    let seconds = elapsed.as_secs_f64();
    if progress.states == 0 {
        eprint!("\r\x1b[2Kpreparing, {seconds:.0} s");
        return;
    }
    let rate = progress.states as f64 / seconds;
    let workers =
        if progress.workers > 1 { format!(", {} threads", progress.workers) } else { String::new() };
    eprint!(
        "\r\x1b[2K{} states, {} states/s, depth {}, {} pending, {}, {seconds:.0} s{workers}",
        grouped(progress.states),
        grouped(rate as u64),
        grouped(progress.depth),
        grouped(progress.pending),
        human_bytes(progress.bytes),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_what_every_worker_does() {
        let display = Display { shows_progress: false, shown: Mutex::default() };
        for lane in 1..=6 {
            display.lane_has(lane, Some(&format!("some question of number {lane}")));
        }
        display.lane_has(2, Some("short"));
        display.lane_has(1, None);
        let progress = Progress { states: 12_345, bytes: 1_000_000, ..Progress::default() };
        display.look_at_lane(2, Duration::from_secs(3), &progress);
        let line = lanes_line(Duration::from_secs(3), &display.shown().lanes);
        let other = "some question of… preparing";
        assert_eq!(line, format!("short 12 345 states; {other}; {other}; {other}; 1 more; 1.0 MB, 3 s"));
    }
}
