//! The terminal: output that survives a closed pipe, colors, the progress line, Ctrl-C.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ColorChoice;
use stubborn::Watcher;
use stubborn::base::Progress;
use stubborn::report::progress;

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
            let line = match shown.lanes.len() {
                0 | 1 => progress::line(elapsed, progress),
                _ => progress::lanes(elapsed, &shown.lanes),
            };
            eprint!("\r\x1b[2K{line}");
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
