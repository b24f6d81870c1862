//! Reads JSON documents that this program has printed.

use std::path::Path;

use serde_json::Value;
use stubborn::Told;
use stubborn::base::{Budget, Diagnostic, SourceMap};
use stubborn::files;

use crate::exit::Failure;

/// Reads a JSON document, if there is room for it: each byte of it takes several in memory.
pub(crate) fn read_json(
    path: &Path,
    budget: &mut Budget<'_>,
    bad: impl FnOnce(String) -> Failure,
) -> Result<Value, Failure> {
    const BYTES_PER_BYTE: u64 = 8;
    let bytes = files::read(path, budget).map_err(|trouble| Failure::new(SourceMap::new(), trouble))?;
    let room = budget.hold(bytes.len() as u64 * BYTES_PER_BYTE);
    room.map_err(|limit| Failure::Limit(format!("{limit} while `{}` was read", path.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))
}

/// Reads a run: of several that of the property, or the first.
pub(crate) fn read_run(
    path: &Path,
    property: Option<&str>,
    budget: &mut Budget<'_>,
) -> Result<Told, Failure> {
    let file = path.display().to_string();
    let bad = |why| Diagnostic::error("bad-run", format!("`{file}` is no JSON: {why}")).into();
    Ok(Told::of_document(&file, read_json(path, budget, bad)?, property)?)
}
