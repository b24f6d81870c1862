//! Runs as tests. What `check --emit-test rust` writes is kept here, so that it is compiled and run: the model beside
//! it is one in which the mistake was repaired, so that its run is not possible any more.

#[rustfmt::skip] // It is kept as it is written.
mod lock_exclusive;

use std::fs;
use std::path::Path;

use crate::{Finished, run, run_with, stubborn};

/// The model as it was when the test was written.
const BROKEN: &str = "\
process Lock { free: acquire[i] -> held[i] for i in 0..2; held[i in 0..2]: release[i] -> free; }
process Worker[i in 0..2] {
    idle: acquire[i] -> working | sneak[i] -> working;
    working: release[i] -> idle | leave[i] -> idle;
}
invariant exclusive = Worker[0]@working + Worker[1]@working <= 1;
";

/// A folder with the broken model, under the same name.
fn broken() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("tests/cli/emitted");
    fs::create_dir_all(&place).expect("folders can be made");
    fs::write(place.join("lock.proc"), BROKEN).expect("it can be written");
    folder
}

fn emit(folder: &Path, arguments: &str) -> Finished {
    let mut command = stubborn();
    command.current_dir(folder).args(["check", "tests/cli/emitted/lock.proc", "--property", "exclusive"]);
    Finished::from(command.args(arguments.split_whitespace()).output().expect("it runs"))
}

/// If this fails, what is written has changed: put it in the place of `lock_exclusive.rs`.
#[test]
fn a_test_in_rust_is_what_is_kept() {
    let folder = broken();
    let finished = emit(folder.path(), "--emit-test rust");
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("wrote ./lock_exclusive.rs"), "{}", finished.stderr);
    let written = fs::read_to_string(folder.path().join("lock_exclusive.rs")).expect("it is there");
    assert_eq!(written, include_str!("lock_exclusive.rs"));
}

/// As long as the model is broken, the run can be followed and the property is violated: so the test would fail.
#[test]
fn a_broken_model_still_has_the_run() {
    let run = include_str!("lock_exclusive.rs").split_once("r#\"").expect("it has a run").1;
    let run = run.split_once("\"#;").expect("it ends").0;
    let told = stubborn::Told::of_text(run, None).expect("it can be read");
    let clock = stubborn::Clock::start(&stubborn::Limits::default());
    let mut session = stubborn::Session::of_text("process", BROKEN).expect("it can be read");
    assert_eq!(session.follow(&told, &clock).expect("no limit"), None);
}

/// The run as JSON can be followed, explained, and is replaced when it is written again.
#[test]
fn a_run_as_json_is_followed() {
    let folder = broken();
    for _ in 0..2 {
        assert_eq!(emit(folder.path(), "--emit-test json --test-dir tests").code, 1);
    }
    let file = folder.path().join("tests/lock_exclusive.json").display().to_string();
    let model = folder.path().join("tests/cli/emitted/lock.proc").display().to_string();
    let walked = run_with(["simulate", &model, "--input", &file, "--random", "--length", "0", "--seed", "1"]);
    assert!(walked.code == 0 && walked.stdout.contains("2 steps"), "{}", walked.stdout);
    assert_eq!(run_with(["explain", &model, "--input", &file]).code, 1);
}

#[test]
fn what_cannot_be_written_is_told() {
    assert_eq!(run("check models/dining.proc --emit-test json --test-dir no/such/folder").code, 2);
    assert_eq!(run("check models/dining.proc --test-dir .").code, 2, "it is for --emit-test");
}
