//! `stubborn explore`: counts states, and exports the state space.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use base::SourceMap;
use check::{Exact, Exploration, Stop, search};
use model::System as _;
use report::ExploreReport;
use report::outcome::SCHEMA;
use report::space::{ExportError, Space};

use crate::args::{ExploreArguments, Order, StoreKind};
use crate::check_command::{explore, limit_reason};
use crate::exit::{Exit, Failure};
use crate::input::{self, Input};
use crate::terminal::{self, Clock};

pub(crate) fn run(arguments: &ExploreArguments) -> Result<Exit, Failure> {
    let json = arguments.limits.json;
    let exports = arguments.aut.is_some() || arguments.dot.is_some();
    if exports && (arguments.search.store, arguments.search.order) != (StoreKind::Exact, Order::Bfs) {
        let message = "exporting needs all states, numbered breadth first: use --store exact and --order bfs";
        return Err(Failure::plain("cannot-export", message, json));
    }
    if arguments.aut.is_some() && arguments.aut == arguments.dot {
        return Err(Failure::plain("cannot-export", "--aut and --dot name the same file", json));
    }
    let input = input::load(&arguments.model, json)?;
    terminal::catch_interrupts();
    let system = &input.model.system;
    let mut clock = Clock::start(&arguments.limits);
    let (exploration, store) = if exports {
        let mut budget = clock.budget(&arguments.limits);
        let mut store = Exact::new(system.width(), budget.max_bytes);
        (search::bfs::search(system, &mut store, &[], &mut budget), Some(store))
    } else {
        (explore(system, &[], &arguments.search, &arguments.limits, &mut clock)?, None)
    };
    let seconds = clock.seconds();
    drop(clock);
    if let Some(Stop::Fault(error, run)) = &exploration.stop {
        let n_steps = report::count(run.actions.len() as u64, "step");
        let message = format!("after {n_steps}: {}", system.describe_fault(error));
        return Err(Failure::plain("model-error", message, json));
    }
    let mut notes = Vec::new();
    if let (Some(store), None) = (&store, &exploration.stop) {
        let space = Space { system, store, n_transitions: exploration.stats.transitions };
        export(arguments, &space, &mut notes)?;
    } else if exports {
        notes.push("nothing was exported".to_owned());
    }
    let exit = print(arguments, &input, &exploration, seconds, notes);
    Ok(exit)
}

fn print(
    arguments: &ExploreArguments,
    input: &Input,
    exploration: &Exploration,
    seconds: f64,
    mut notes: Vec<String>,
) -> Exit {
    let complete = exploration.stop.is_none() && exploration.coverage.is_none();
    if let Some(Stop::Limit(limit)) = exploration.stop {
        notes.insert(0, limit_reason(limit));
    }
    if let Some(coverage) = exploration.coverage {
        let percent = (coverage * 1e4).floor() / 100.0;
        notes.push(format!("bitstate may miss states: estimated coverage {percent} %"));
    }
    let stats = &exploration.stats;
    let report = ExploreReport {
        schema: SCHEMA,
        model: input.info.clone(),
        complete,
        reason: (!notes.is_empty()).then(|| notes.join("; ")),
        states: stats.states,
        transitions: stats.transitions,
        deadlocks: stats.deadlocks,
        depth: stats.depth,
        seconds,
        peak_bytes: stats.peak_bytes,
        state_bytes: input.info.state_bytes,
    };
    if arguments.limits.json {
        let document = serde_json::to_string_pretty(&report).unwrap_or_default();
        terminal::print_stdout(&(document + "\n"));
    } else {
        terminal::print_stdout(&report.to_text());
    }
    if complete { Exit::Success } else { Exit::Undecided }
}

fn export(arguments: &ExploreArguments, space: &Space<'_>, notes: &mut Vec<String>) -> Result<(), Failure> {
    let json = arguments.limits.json;
    if let Some(path) = &arguments.aut {
        let n_initial = space.initial().len();
        if n_initial > 1 {
            notes.push(format!("{n_initial} initial states: state 0 of the .aut file is artificial"));
        }
        write(path, json, |out| space.write_aut(out))?;
    }
    if let Some(path) = &arguments.dot {
        write(path, json, |out| space.write_dot(out))?;
    }
    Ok(())
}

/// Writes a file whole or not at all: beside its place first, then moved there. What exists and is
/// not a regular file (a pipe, a device) is written to as it is; links are followed.
fn write(
    path: &Path,
    json: bool,
    write: impl FnOnce(&mut BufWriter<&fs::File>) -> Result<(), ExportError>,
) -> Result<(), Failure> {
    let failed = |reason: String| {
        let message = format!("cannot write `{}`: {reason}", path.display());
        Failure::new(SourceMap::new(), base::Diagnostic::error("cannot-write", message), json)
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
