//! Writes files.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stubborn::base::{Budget, Limit};
use stubborn::{Clock, Limits};

use crate::exit::Failure;

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
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(limit) = self.budget.tick() {
            self.limit.set(Some(limit));
            return Err(io::Error::other(limit.to_string()));
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
        let mut out = BufWriter::new(Watched { inner: file, budget: clock.budget(), limit: &limit });
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

/// Writes a text that is there, whoever has had enough: it may be all that is left of the work.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write(path, &Clock::start(&Limits::default()), |out| out.write_all(text.as_bytes()))
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
