//! The terminal: output that survives a closed pipe, colors, the progress line, Ctrl-C.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::budget::Watch;
use base::{Budget, Limit, Progress};
use clap::ColorChoice;
use report::{Spelling, grouped, human_bytes};

use crate::args::Limits;

/// How things are spelled here.
pub(crate) const SPELLING: Spelling = Spelling {
    shows_all: "--json shows all",
    weak_fairness: Some("--fair weak"),
    strong_fairness: Some("--fair strong"),
};

static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Prints to stdout. A closed pipe is no error: whoever reads has seen enough.
pub(crate) fn print_stdout(text: &str) {
    let mut stdout = anstream::stdout();
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        STDOUT_IS_CLOSED.store(true, Ordering::Relaxed);
    }
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
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C stop computations instead of the program; a second one stops the program.
pub(crate) fn catch_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
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

/// The clock: shows progress, and stops computations.
pub(crate) struct Clock {
    start: Instant,
    deadline: Option<Instant>,
    shows_progress: bool,
    last_shown: Mutex<Option<Instant>>,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start(limits: &Limits) -> Clock {
        let start = Instant::now();
        let shows_progress = std::io::stderr().is_terminal() && !limits.quiet;
        let deadline = limits.timeout.and_then(|timeout| start.checked_add(timeout));
        Clock { start, deadline, shows_progress, last_shown: Mutex::default() }
    }

    /// A clock for a part of the time that is left.
    pub(crate) fn part(&self, share: f64) -> Clock {
        let now = Instant::now();
        let time = |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share.min(1.0));
        Clock { deadline: self.deadline.map(time), last_shown: Mutex::default(), ..*self }
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The time that is left, if there is a limit.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// The budget that this clock watches over.
    pub(crate) fn budget(&self, limits: &Limits) -> Budget<'_> {
        Budget::new(limits.max_states.unwrap_or(u64::MAX), limits.max_bytes(), self)
    }

    /// Removes the progress line.
    pub(crate) fn clear(&mut self) {
        if self.last_shown().take().is_some() {
            eprint!("\r\x1b[2K");
        }
    }

    fn last_shown(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last_shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, now: Instant, progress: &Progress) {
        let seconds = (now - self.start).as_secs_f64();
        let rate = progress.states as f64 / seconds;
        eprint!(
            "\r\x1b[2K{} states, {} states/s, depth {}, {} pending, {}, {seconds:.0} s",
            grouped(progress.states),
            grouped(rate as u64),
            grouped(progress.depth),
            grouped(progress.pending),
            human_bytes(progress.bytes),
        );
    }
}

impl Watch for Clock {
    fn nanoseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn look(&self, progress: &Progress) -> Result<(), Limit> {
        const FIRST: Duration = Duration::from_secs(1);
        const NEXT: Duration = Duration::from_millis(250);
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err(Limit::Interrupt);
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Limit::Time);
        }
        let mut last_shown = self.last_shown();
        let due = last_shown.map_or(self.start + FIRST, |last| last + NEXT);
        if self.shows_progress && now >= due {
            self.show(now, progress);
            *last_shown = Some(now);
        }
        Ok(())
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Runs something that polls no budget, and gives up on it when its time is over or the user has had
/// enough. What was given up goes on in the background until the program ends.
pub(crate) fn give_up_after<T: Send + 'static>(
    timeout: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Limit> {
    const PATIENCE: Duration = Duration::from_millis(20);
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let (sender, receiver) = std::sync::mpsc::channel();
    // Deep formulas need more stack than a thread has by default.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        _ = sender.send(work());
    });
    if thread.is_err() {
        return Err(Limit::Memory(u64::MAX));
    }
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(Limit::Memory(u64::MAX)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err(Limit::Interrupt);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Limit::Time);
        }
    }
}

/// Bytes of memory that are free, if that can be found out.
pub(crate) fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
