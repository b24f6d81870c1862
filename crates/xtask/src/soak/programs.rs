//! What is run: the command, the programs of the random tests, and models, together in one folder.
//!
//! A folder is made of a checkout ([`build`]), so that who goes on to work there, and builds again, does not change what is run;
//! or to be taken elsewhere ([`pack`]): stripped, without those tests that need the sources, with the program that runs all
//! this, and a script.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A folder with all that is run.
pub(super) struct Programs {
    pub(super) folder: PathBuf,
    pub(super) stubborn: PathBuf,
    /// Each test, with its program.
    pub(super) tests: Vec<(PathBuf, String)>,
    pub(super) models: Vec<PathBuf>,
}

/// Packages with random tests.
const PACKAGES: [&str; 4] = ["stubborn-testing", "stubborn-automata", "stubborn-petri", "stubborn-embed"];
/// How a file shows that it has some; and that they need the sources, and a compiler.
const RANDOM: [&str; 2] = ["proptest", "STUBBORN_SEED"];
const AT_HOME: [&str; 2] = ["CARGO_MANIFEST_DIR", "mod host;"];

const SCRIPT: &str = "#!/bin/sh
# Runs all random tests, mutants, limits and kills for SECONDS_LIMIT seconds (540), JOBS at a time (all cores). What is told, and
# what is found, goes to the folder OUT.
cd \"$(dirname \"$0\")\" || exit 2
OUT=${OUT:-$PWD/found}
mkdir -p \"$OUT\"
./xtask soak --built . --keep \"$OUT\" --seconds \"${SECONDS_LIMIT:-540}\" --jobs \"${JOBS:-$(nproc)}\" > \"$OUT/log.txt\" 2>&1
status=$?
tail -n 200 \"$OUT/log.txt\"
exit $status
";

/// What a program is called, without the sum that is added to names.
pub(super) fn name(program: &Path) -> String {
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once('-').map_or(name.clone(), |(name, _)| name.to_owned())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = found.filter(|path| path.is_file()).collect();
    found.sort();
    found
}

impl Programs {
    /// What is in a folder.
    pub(super) fn of_folder(folder: &Path) -> Result<Programs, String> {
        let folder = fs::canonicalize(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let mut tests = Vec::new();
        for program in files(&folder.join("tests")) {
            let output = Command::new(&program).args(["--list", "--format", "terse"]).output();
            let output = output.map_err(|why| format!("{}: {why}", program.display()))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let named = text.lines().filter_map(|line| line.strip_suffix(": test"));
            tests.extend(named.map(|test| (program.clone(), test.to_owned())));
        }
        let stubborn = folder.join("stubborn");
        let models = files(&folder.join("models"));
        if !stubborn.is_file() || models.is_empty() {
            return Err(format!("{} has no command or no models", folder.display()));
        }
        Ok(Programs { folder, stubborn, tests, models })
    }
}

fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "proc" || end == "pml" || end == "pnml")
}

/// The programs that cargo builds, each with the file that it is made of.
fn built(root: &Path, arguments: &[&str]) -> Result<Vec<(PathBuf, PathBuf)>, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--message-format", "json"])
        // Thirty programs, each optimized as a whole, would take long to build.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| why.to_string())?;
    if !output.status.success() {
        return Err("it cannot be built".to_owned());
    }
    let program = |line: &str| {
        let told = serde_json::from_str::<Value>(line).ok()?;
        let source = told["target"]["src_path"].as_str()?;
        Some((PathBuf::from(told["executable"].as_str()?), PathBuf::from(source)))
    };
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(program).collect())
}

/// Puts all that is run into a folder, as the arguments say.
pub(super) fn build(root: &Path, folder: &Path, asked: &[&str]) -> Result<(), String> {
    let release: &[&str] = if asked.contains(&"--release") { &["--release"] } else { &[] };
    collect(root, folder, release, !asked.contains(&"--no-tests"), |_| true)
}

fn collect(
    root: &Path,
    folder: &Path,
    release: &[&str],
    has_tests: bool,
    fits: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let said = |why: std::io::Error| why.to_string();
    for part in ["tests", "models"] {
        _ = fs::remove_dir_all(folder.join(part));
        fs::create_dir_all(folder.join(part)).map_err(said)?;
    }
    let copy = |from: &Path, to: PathBuf| {
        // A program that runs cannot be overwritten, but its name may be given to another.
        _ = fs::remove_file(&to);
        fs::copy(from, to).map(|_| ()).map_err(said)
    };
    if has_tests {
        let packages = PACKAGES.iter().flat_map(|package| ["-p", package]);
        let arguments: Vec<&str> = ["test", "--tests", "--no-run"].into_iter().chain(packages).collect();
        for (program, source) in built(root, &[&arguments[..], release].concat())? {
            let text = fs::read_to_string(&source).unwrap_or_default();
            if RANDOM.iter().any(|word| text.contains(word)) && fits(&text) {
                copy(&program, folder.join("tests").join(program.file_name().unwrap_or_default()))?;
            }
        }
    }
    let stubborn = built(root, &[&["build", "-p", "stubborn-cli"], release].concat())?;
    let (stubborn, _) = stubborn.last().ok_or("there is no command")?;
    copy(stubborn, folder.join("stubborn"))?;
    let models = files(&root.join("models")).into_iter().chain([root.join("crates/cli/init/model.pnml")]);
    for model in models.filter(|path| is_model(path)) {
        copy(&model, folder.join("models").join(model.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Puts all that is needed on a machine without Rust into a folder.
pub(super) fn pack(root: &Path, folder: &Path) -> Result<(), String> {
    let said = |why: std::io::Error| why.to_string();
    let fits = |text: &str| !AT_HOME.iter().any(|word| text.contains(word));
    collect(root, folder, &["--release"], true, fits)?;
    let own = std::env::current_exe().map_err(said)?;
    let xtask = folder.join("xtask");
    _ = fs::remove_file(&xtask);
    fs::copy(own, &xtask).map_err(said)?;
    let programs = files(&folder.join("tests")).into_iter().chain([folder.join("stubborn"), xtask]);
    for program in programs {
        // Where there is no such command, they are only larger.
        _ = Command::new("strip").arg(&program).stderr(Stdio::null()).status();
    }
    let script = folder.join("run.sh");
    let mut file = fs::File::create(&script).map_err(said)?;
    file.write_all(SCRIPT.as_bytes()).map_err(said)?;
    drop(file);
    let status = Command::new("chmod").arg("+x").arg(&script).status().map_err(said)?;
    if !status.success() {
        return Err("the script cannot be made a program".to_owned());
    }
    println!("soak: {} is ready: run its run.sh anywhere", folder.display());
    Ok(())
}
