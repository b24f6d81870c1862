//! Writes files, and to stdout what may be long: as it is made, until the clock stops.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use stubborn::base::{Budget, Limit};
use stubborn::{Clock, Limits};

use crate::exit::Failure;
use crate::terminal;

/// The file that is being written, beside its place: it goes if the user insists on stopping.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes what was written only in part.
pub(crate) fn remove_unfinished() {
    if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        _ = fs::remove_file(path);
    }
}

/// A writer that stops when the clock does, or when the user has had enough.
pub(crate) struct Watched<'w, W> {
    inner: W,
    budget: Budget<'w>,
    /// Why it stopped.
    limit: &'w Cell<Option<Limit>>,
    /// Whoever is told that it is time to come to an end: then it does not stop by itself.
    told: Option<&'w AtomicBool>,
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.budget.tick(), self.told) {
            (Ok(()), _) => {}
            (Err(_), Some(told)) => told.store(true, Ordering::Relaxed),
            (Err(limit), None) => {
                self.limit.set(Some(limit));
                return Err(io::Error::other(limit.to_string()));
            }
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What files are written through.
pub(crate) type Out<'w, 'f> = BufWriter<Watched<'w, &'f fs::File>>;

/// Writes a file whole or not at all: beside its place first, then moved there. What exists and is
/// not a regular file (a pipe, a device) is written to as it is; links are followed.
pub(crate) fn write<E: fmt::Display>(
    path: &Path,
    clock: &Clock<'_>,
    write: impl FnOnce(&mut Out<'_, '_>) -> Result<(), E>,
) -> Result<(), Failure> {
    let limit = Cell::new(None);
    let failed = |reason: String| match limit.get() {
        Some(limit) => Failure::Limit(format!("{limit} while `{}` was written", path.display())),
        None => Failure::plain("cannot-write", format!("cannot write `{}`: {reason}", path.display())),
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let fill = |file: &fs::File| {
        let mut out =
            BufWriter::new(Watched { inner: file, budget: clock.budget(), limit: &limit, told: None });
        write(&mut out).map_err(|error| failed(error.to_string()))?;
        out.flush().map_err(|error| failed(error.to_string()))
    };
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        let file = fs::OpenOptions::new().write(true).open(&target);
        return fill(&file.map_err(|error| failed(error.to_string()))?);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(failed(format!("there is no folder `{}`", folder.display())));
    }
    let file = temporary_file(folder).map_err(|error| failed(error.kind().to_string()))?;
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.path().to_owned());
    let filled = fill(file.as_file());
    let persisted = filled
        .and_then(|()| file.persist(&target).map(drop).map_err(|error| failed(error.error.to_string())));
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    persisted
}

/// Prints a text while it is made.
pub(crate) fn print(clock: &Clock<'_>, text: impl fmt::Display) -> Result<(), Failure> {
    to_stdout(clock, None, |out| write!(out, "{text}"))
}

/// Prints what can be told in both ways: as one JSON document, or as a text.
pub(crate) fn tell(
    clock: &Clock<'_>,
    json: bool,
    told: &(impl Serialize + fmt::Display),
) -> Result<(), Failure> {
    if json { print_json(clock, told, None) } else { print(clock, told) }
}

/// Prints a document while it is made. Who wants to be told that it is time to come to an end has to do so.
pub(crate) fn print_json(
    clock: &Clock<'_>,
    document: &impl Serialize,
    told: Option<&AtomicBool>,
) -> Result<(), Failure> {
    to_stdout(clock, told, |out| {
        serde_json::to_writer_pretty(&mut *out, document)?;
        out.write_all(b"\n")
    })
}

fn to_stdout(
    clock: &Clock<'_>,
    told: Option<&AtomicBool>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let limit = Cell::new(None);
    // What was found in time may be told. Who ended the search wants to know what it found; a second time ends this, too.
    let clock =
        if terminal::is_interrupted() { Clock::start(&Limits::default()) } else { clock.with_grace() };
    // The clock is looked at before anything is gathered: it may take long until there is much.
    let inner = BufWriter::new(io::stdout().lock());
    let mut out = Watched { inner, budget: clock.budget(), limit: &limit, told };
    let written = write(&mut out).and_then(|()| out.flush());
    match limit.get() {
        Some(limit) => Err(Failure::Cut(limit)),
        None => {
            if let Err(error) = written {
                terminal::close_stdout(&error);
            }
            Ok(())
        }
    }
}

/// Writes a text that is there, whoever has had enough: it may be all that is left of the work.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// The same for what is no text.
pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write(path, &Clock::start(&Limits::default()), |out| out.write_all(bytes))
}

/// A new file with the permissions that new files have.
fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.tempfile_in(folder)
}
