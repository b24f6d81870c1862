//! Reads files: models, and everything that is asked in files.

use std::fs;
use std::io::Read;
use std::path::Path;

use automata::{AnyAutomaton, Unread, hoa, never};
use base::{Budget, Diagnostic, SourceMap, suggest};
use language::{File, Trouble};
use ltl::Formulas;

/// Reads a file of bounded size, if there is room for it; `-` is the standard input.
///
/// # Errors
/// Why it cannot be read, with the name of a file beside it that may be meant; or the budget is too small.
pub fn read(path: &Path, budget: &Budget<'_>) -> Result<Vec<u8>, Trouble> {
    // One byte more than allowed is enough to know that there are too many.
    let most = budget.max_bytes.min(SourceMap::MAX_BYTES as u64).saturating_add(1);
    let bytes = read_bytes(path, most).map_err(|reason| {
        let message = format!("cannot read `{}`: {reason}", path.display());
        let diagnostic = Diagnostic::error("cannot-read", message);
        match neighbor(path) {
            Some(name) => diagnostic.with_help(format!("did you mean `{name}`?")),
            None => diagnostic,
        }
    })?;
    budget.room().fits(bytes.len() as u64)?;
    Ok(bytes)
}

/// How a file begins; nothing if it cannot be read.
pub(crate) fn beginning(path: &Path) -> Vec<u8> {
    const LENGTH: u64 = 1 << 12;
    read_bytes(path, LENGTH).unwrap_or_default()
}

/// Reads a file that a model in `folder` names; the error is the reason alone.
pub(crate) fn read_beside(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = folder.join(name);
    read_bytes(&path, SourceMap::MAX_BYTES as u64 + 1).map_err(|reason| match neighbor(&path) {
        Some(near) => format!("{reason} (did you mean `{near}`?)"),
        None => reason,
    })
}

/// Whether a name stands for the standard input.
pub(crate) fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    if is_input(path) {
        return read_all(std::io::stdin().lock(), most);
    }
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("it is a folder".to_owned());
    }
    read_all(file, most)
}

fn read_all(file: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A file beside a missing one with nearly the same name.
fn neighbor(path: &Path) -> Option<String> {
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut names: Vec<String> = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let nearest = suggest::nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.map_or(nearest.into(), |folder| folder.join(nearest)).display().to_string())
}

/// A file with its name.
pub(crate) fn file(path: &Path, budget: &Budget<'_>) -> Result<File, Trouble> {
    Ok(File { name: path.display().to_string(), bytes: read(path, budget)? })
}

/// The automata of a file with their names: several of any kind in the HOA format, or one never claim.
///
/// # Errors
/// The file cannot be read, what is wrong with it, or the budget is spent.
pub fn read_automata(
    path: &Path,
    formulas: &mut Formulas,
    sources: &mut SourceMap,
    budget: &mut Budget<'_>,
) -> Result<Vec<(String, AnyAutomaton)>, Trouble> {
    let name = path.display().to_string();
    let source = sources.add(name.clone(), read(path, budget)?)?;
    let text = &sources.get(source).text;
    let start = text.trim_start();
    if start.starts_with("never") || start.starts_with("/*") {
        return Ok(vec![(
            name,
            AnyAutomaton::Tgba(never::read(formulas, text, source, budget).map_err(unread)?),
        )]);
    }
    let named = |found: hoa::Named| (found.name.unwrap_or_else(|| name.clone()), found.automaton);
    let found = hoa::read_any(formulas, text, source, budget).map_err(unread)?;
    let found: Vec<(String, AnyAutomaton)> = found.into_iter().map(named).collect();
    if found.is_empty() {
        return Err(Diagnostic::error("no-automaton", format!("`{name}` contains no automaton")).into());
    }
    Ok(found)
}

fn unread(why: Unread) -> Trouble {
    match why {
        Unread::Wrong(diagnostic) => diagnostic.into(),
        Unread::Limit(limit) => limit.into(),
    }
}
