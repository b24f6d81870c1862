//! Reads models, and everything else that comes from a file.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use automata::{AnyAutomaton, hoa, never};
use base::{Diagnostic, SourceMap, suggest};
use ltl::Formulas;
use model::System as _;
use report::{ModelInfo, diagnostic};

use crate::args::ModelArguments;
use crate::exit::Failure;
use crate::terminal;

/// A model, ready to be explored.
pub(crate) struct Input {
    pub(crate) sources: SourceMap,
    pub(crate) model: process::Model,
    pub(crate) info: ModelInfo,
}

/// Reads a model; warnings are printed.
pub(crate) fn load(arguments: &ModelArguments, json: bool) -> Result<Input, Failure> {
    let path = &arguments.file;
    let mut sources = SourceMap::new();
    let fail = |diagnostic: Diagnostic| Failure::new(SourceMap::new(), diagnostic, json);
    check_language(path).map_err(fail)?;
    let bytes = read(path).map_err(fail)?;
    let source = match sources.add(path.display().to_string(), bytes) {
        Ok(source) => source,
        Err(diagnostic) => return Err(Failure::new(sources, diagnostic, json)),
    };
    let options =
        process::Options { constants: arguments.definitions.clone(), ..process::Options::default() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut loader = |name: &str| {
        let path = folder.join(name);
        read_bytes(&path).map_err(|reason| match neighbor(&path) {
            Some(near) => format!("{reason} (did you mean `{near}`?)"),
            None => reason,
        })
    };
    let model = match process::load(&mut sources, source, &options, &mut loader) {
        Ok(model) => model,
        Err(diagnostics) => return Err(Failure::new(sources, diagnostics, json)),
    };
    terminal::print_stderr(&diagnostic::to_text(&sources, &model.warnings, terminal::stderr_has_color()));
    let info = ModelInfo {
        file: path.display().to_string(),
        language: "process",
        processes: model.system.processes().len(),
        actions: model.system.actions().len(),
        state_bytes: 4 * model.system.width(),
    };
    Ok(Input { sources, model, info })
}

/// The language is known by the file's extension.
fn check_language(path: &Path) -> Result<(), Diagnostic> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let not_yet = match extension {
        "proc" => return Ok(()),
        "pml" | "prom" | "promela" | "spin" => "Promela models are",
        "pnml" => "Petri nets in PNML are",
        _ => {
            let message = format!("cannot tell the language of `{}` by its extension", path.display());
            return Err(Diagnostic::error("unknown-language", message)
                .with_help("a process network must be in a file whose name ends in `.proc`"));
        }
    };
    Err(Diagnostic::error("not-supported", format!("{not_yet} not supported yet: `{}`", path.display())))
}

/// Reads a file of bounded size.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    read_bytes(path).map_err(|reason| {
        let message = format!("cannot read `{}`: {reason}", path.display());
        let diagnostic = Diagnostic::error("cannot-read", message);
        match neighbor(path) {
            Some(name) => diagnostic.with_help(format!("did you mean `{name}`?")),
            None => diagnostic,
        }
    })
}

/// The same; the error is the reason alone.
fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("it is a folder".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know that there are too many.
    let limit = SourceMap::MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
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

/// The automata of a file with their names: several of any kind in the HOA format, or one never claim.
pub(crate) fn read_automata(
    path: &Path,
    formulas: &mut Formulas,
    sources: &mut SourceMap,
) -> Result<Vec<(String, AnyAutomaton)>, Diagnostic> {
    let name = path.display().to_string();
    let source = sources.add(name.clone(), read(path)?)?;
    let text = sources.get(source).text.clone();
    let start = text.trim_start();
    if start.starts_with("never") || start.starts_with("/*") {
        return Ok(vec![(name, AnyAutomaton::Tgba(never::read(formulas, &text, source)?))]);
    }
    let named =
        |found: hoa::Named<AnyAutomaton>| (found.name.unwrap_or_else(|| name.clone()), found.automaton);
    let found = hoa::read_any(formulas, &text, source)?;
    let found: Vec<(String, AnyAutomaton)> = found.into_iter().map(named).collect();
    if found.is_empty() {
        return Err(Diagnostic::error("no-automaton", format!("`{name}` contains no automaton")));
    }
    Ok(found)
}
