//! How many states models have, beside the figures of Spin: `counts FOLDER [LIMIT]`, where the folder has one
//! folder per model with `model.pml` and `expected.json`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // A command of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use base::{Budget, SourceMap};
use check::{Exact, Stop, search};
use language::Trouble;
use model::System as _;
use stubborn_promela::lower::{Code, Purpose};
use stubborn_promela::{Options, read};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "../shared/promela/dev".to_owned()));
    let limit: u64 = arguments.next().and_then(|limit| limit.parse().ok()).unwrap_or(3_000_000);
    let only = arguments.next().unwrap_or_default();
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let (mut equal, mut all) = (0, 0);
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read(folder.join("model.pml")) else { continue };
        if !name.contains(&only) {
            continue;
        }
        let expected: serde_json::Value = std::fs::read_to_string(folder.join("expected.json"))
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let full = &expected["full_statespace"]["o1o2o3"];
        let spin = full["states"].as_u64().or_else(|| full["states_stored"].as_u64());
        let start = Instant::now();
        let found = count(text, limit);
        let seconds = start.elapsed().as_secs_f64();
        let verdict = match (&found, spin) {
            (Ok((states, true, _)), Some(spin)) => {
                all += 1;
                if *states == spin {
                    equal += 1;
                    "equal"
                } else {
                    "DIFFERENT"
                }
            }
            (Err(_), _) => "FAILED",
            _ => "?",
        };
        println!("{verdict:10} {name:32} {found:?} spin {spin:?} {seconds:.2} s");
    }
    println!("{equal} of {all} equal");
}

/// The number of states, whether these are all, and the words of a state.
fn count(text: Vec<u8>, limit: u64) -> Result<(u64, bool, usize), String> {
    let mut sources = SourceMap::new();
    let source = sources.add("model.pml", text).map_err(|error| error.message)?;
    let join = |trouble: Trouble| match trouble {
        Trouble::Wrong(errors) => {
            errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ")
        }
        Trouble::Limit(limit) => limit.to_string(),
    };
    let (mut loader, mut budget) = (|_: &str| Err("no includes".to_owned()), Budget::unlimited());
    let read = read(&mut sources, source, &Options::default(), &mut loader, &mut budget);
    let (program, _) = read.map_err(join)?;
    let mut code = Code::new(Arc::new(program), Purpose::Formulas, &mut budget).map_err(join)?;
    loop {
        budget.max_states = limit;
        let mut store = Exact::new(code.system.width(), 4_000_000_000);
        let explored = search::bfs::search(&*code.system, &mut store, &[], &mut budget);
        match explored.stop {
            Some(Stop::Fault(error, run)) => match code.extend(&error, &[], &mut budget).map_err(join)? {
                Some(more) => code = more,
                None => {
                    return Err(format!(
                        "{} after {} steps",
                        code.system.describe_fault(&error),
                        run.actions.len()
                    ));
                }
            },
            Some(_) => return Ok((explored.stats.states, false, code.system.width())),
            None => return Ok((explored.stats.states, true, code.system.width())),
        }
    }
}
