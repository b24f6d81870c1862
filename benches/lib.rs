//! What the benchmarks share: loading models, timing, running Spin beside us.
//!
//! These machines are noisy, so a benchmark prints ratios between methods that were measured in
//! one run, and is never a test. Each method runs several times and the fastest time counts.

pub mod families;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use automata::stutter::Proof;
use automata::{Effort, translate};
use base::{Budget, SourceMap};
use check::decide::Claim;
use language::{Model as _, PropertyKind};
use model::ActionSystem;

/// A model of the `models` folder, with constants replaced.
///
/// # Panics
/// If the model cannot be loaded.
pub fn model(name: &str, constants: &[(&str, i64)]) -> process::Model {
    load(&format!("models/{name}"), "", constants)
}

/// The model in a file of the project, with something added to its text and constants replaced.
fn load(file: &str, added: &str, constants: &[(&str, i64)]) -> process::Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = std::fs::read_to_string(path).expect("the model exists and is text") + added;
    let mut sources = SourceMap::new();
    let source = sources.add(file, text.into_bytes()).expect("the model is text");
    let constants = constants.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = process::Options { constants, ..process::Options::default() };
    let no_files = &mut |name: &str| Err(format!("no file `{name}`"));
    process::load(&mut sources, source, &options, no_files, &mut Budget::unlimited())
        .expect("the model is good")
}

/// The system of a model.
pub fn system(name: &str, constants: &[(&str, i64)]) -> ActionSystem {
    Arc::unwrap_or_clone(model(name, constants).system)
}

/// Goes through formulas about the model in a file: the system, and a claim as often as it is wanted.
///
/// # Panics
/// If the model cannot be loaded, or a formula is not one.
pub fn for_each_claim<'f>(
    file: &str,
    constants: &[(&str, i64)],
    formulas: impl Iterator<Item = &'f str>,
    mut visit: impl FnMut(usize, &ActionSystem, &dyn Fn() -> Claim),
) {
    let rows: Vec<String> =
        formulas.enumerate().map(|(index, formula)| format!("\nltl row_{index} = {formula};")).collect();
    let mut model = load(file, &rows.concat(), constants);
    for index in 0..rows.len() {
        let name = format!("row_{index}");
        let property = model.properties.iter().find(|property| property.name == name);
        let Some(PropertyKind::Ltl(ltl)) = property.map(|property| property.kind.clone()) else {
            panic!("{file} has no formula {name}");
        };
        let proof = Proof::of_next_free(&model.formulas, ltl.formula);
        assert!(proof.is_some(), "all methods may be used");
        let negated = model.formulas.not(ltl.formula);
        let tgba = translate(&mut model.formulas, negated, Effort::High, &mut Budget::unlimited())
            .expect("a small automaton");
        let propositions: Vec<_> = ltl
            .propositions
            .iter()
            .map(|&(prop, expr)| (prop, model.parts().0.add_proposition("p", expr)))
            .collect();
        visit(index, &model.system, &|| Claim::new(tgba.clone(), propositions.clone(), proof));
    }
}

/// The least number of seconds of some runs, and the result of the last.
pub fn fastest<T>(n_runs: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = Instant::now();
        let result = run();
        (start.elapsed().as_secs_f64(), result)
    };
    let mut best = timed();
    for _ in 1..n_runs {
        let next = timed();
        best = (best.0.min(next.0), next.1);
    }
    best
}

/// What Spin says of a model.
#[derive(Clone, Copy, Debug)]
pub struct SpinRun {
    /// States stored.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Verification time alone.
    pub seconds: f64,
    /// Memory in all.
    pub bytes: f64,
}

/// Runs Spin on a Promela text, compiled with these options; `None` if `spin` or `gcc` is missing.
///
/// # Panics
/// If Spin runs but does not say what is expected.
pub fn spin(promela: &str, compiler_options: &[&str], options: &[&str], n_runs: usize) -> Option<SpinRun> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |program: PathBuf, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    std::fs::write(folder.path().join("model.pml"), promela).expect("a writable folder");
    run("spin".into(), &["-a", "model.pml"])?;
    let compile = [&["-O2"], compiler_options, &["-w", "-o", "pan", "pan.c"]].concat();
    run("gcc".into(), &compile)?;
    let runs = (0..n_runs).map(|_| read_spin(&run(folder.path().join("pan"), options).expect("pan runs")));
    runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

fn read_spin(text: &str) -> SpinRun {
    let number = |marker: &str| -> f64 {
        let line = text.lines().find(|line| line.contains(marker)).expect("a line of pan's output");
        line.split_whitespace().find_map(|word| word.parse().ok()).expect("a number")
    };
    SpinRun {
        states: number("states, stored") as u64,
        transitions: number("transitions (=") as u64,
        seconds: number("elapsed time"),
        bytes: number("total actual memory usage") * 1e6,
    }
}
