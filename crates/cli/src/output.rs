//! Writes files.

use std::fmt;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use base::{Diagnostic, SourceMap};

use crate::exit::Failure;

/// Writes a file whole or not at all: beside its place first, then moved there. What exists and is
/// not a regular file (a pipe, a device) is written to as it is; links are followed.
pub(crate) fn write<E: fmt::Display>(
    path: &Path,
    json: bool,
    write: impl FnOnce(&mut BufWriter<&fs::File>) -> Result<(), E>,
) -> Result<(), Failure> {
    let failed = |reason: String| {
        let message = format!("cannot write `{}`: {reason}", path.display());
        Failure::new(SourceMap::new(), Diagnostic::error("cannot-write", message), json)
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let fill = |file: &fs::File| {
        let mut out = BufWriter::new(file);
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
    fill(file.as_file())?;
    file.persist(&target).map_err(|error| failed(error.error.to_string()))?;
    Ok(())
}

/// A new file with the permissions that new files have.
fn temporary_file(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.tempfile_in(folder)
}
