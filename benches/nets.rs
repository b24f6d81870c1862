//! Petri nets: places packed by their bounds against 64 bits for each, and deadlocks with reduction against
//! without. Ratios of one run.
//!
//! `cargo bench -p stubborn-benches --bench nets [-- FILE.pnml ...]`; without files, some of `../shared/mcc`
#![allow(clippy::print_stdout)] // Printing is what a benchmark is for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use base::{Budget, SourceMap};
use check::reduced::Reduced;
use check::{Exact, Exploration, Space, search};
use model::System;
use petri::{Bounds, Model, Net};

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|name| !name.starts_with("--")).map(PathBuf::from).collect();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/mcc");
    let usual = ["Philosophers-PT-000010", "Kanban-PT-00005", "FMS-PT-00005", "QuasiCertifProtocol-PT-06"];
    let usual = usual.map(|name| corpus.join(name).join("model.pnml"));
    for path in if given.is_empty() { &usual[..] } else { &given } {
        match load(path) {
            Ok(net) => measure(&net),
            Err(reason) => println!("skipped {}: {reason}", path.display()),
        }
    }
}

fn load(path: &Path) -> Result<Arc<Net>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = SourceMap::new();
    let text = petri::to_utf8("net", bytes).map_err(|error| error.message)?;
    let source = sources.add("net", text).map_err(|error| error.message)?;
    let net = petri::read(&sources.get(source).text, source, &mut Budget::unlimited())
        .map_err(|_| "it is no net".to_owned())?;
    Ok(Arc::new(net))
}

fn measure(net: &Arc<Net>) {
    let guessed = || Model::new(net, &mut Budget::unlimited()).expect("there are no limits");
    let wide = net.lower(Bounds::all(net, i64::MAX), &mut Budget::unlimited());
    let packed = explore(&mut guessed(), false);
    let wide = explore(&mut wide.expect("there are no limits"), false);
    let reduced = explore(&mut guessed(), true);
    println!("{}", net.id);
    for (name, (explored, seconds)) in [("packed", &packed), ("64 bits", &wide), ("reduced", &reduced)] {
        let states = explored.stats.states as f64;
        let (rate, bytes) = (states / seconds, explored.stats.peak_bytes as f64 / states);
        println!(
            "  {name:8} {states:>10} states {rate:>12.0} states/s {bytes:>8.1} bytes/state {seconds:>8.2} s"
        );
    }
    let bytes = |run: &(Exploration, f64)| run.0.stats.peak_bytes as f64;
    println!(
        "  packed ÷ 64 bits: {:.2} of the time, {:.2} of the bytes; reduced ÷ not: {:.4} of the states, {:.2} of the time",
        packed.1 / wide.1,
        bytes(&packed) / bytes(&wide),
        reduced.0.stats.states as f64 / packed.0.stats.states as f64,
        reduced.1 / packed.1
    );
}

/// Explores all states, or those that are needed to know all deadlocks; the time is that of the last try,
/// in which every place has enough room.
fn explore(model: &mut Model, reduces: bool) -> (Exploration, f64) {
    loop {
        let start = Instant::now();
        let explored = match reduces {
            true => bfs(&Reduced::for_deadlocks(&model.system, &mut Budget::unlimited()).expect("no limit")),
            false => bfs(&*model.system),
        };
        let seconds = start.elapsed().as_secs_f64();
        match &explored.stop {
            Some(check::Stop::Fault(error, _))
                if model.widen(error, &mut Budget::unlimited()) == Ok(true) => {}
            _ => return (explored, seconds),
        }
    }
}

fn bfs<S: Space>(space: &S) -> Exploration {
    let mut store = Exact::new(space.whole().width(), u64::MAX);
    search::bfs::search(space, &mut store, &[], &mut Budget::unlimited())
}
