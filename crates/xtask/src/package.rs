//! `cargo xtask package`: every crate that would be published is packaged, and can be built from what is in the
//! packages.
//!
//! Nothing of ours is in a registry, so a package cannot be built alone: all are unpacked beside each other, in a
//! workspace where they stand for what the registry would have. Works without a network, if the dependencies were
//! fetched before. `--no-build` only packages, which takes seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

pub(crate) const USAGE: &str = "       cargo xtask package [--no-build]";

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let builds = match arguments {
        [] => true,
        ["--no-build"] => false,
        _ => {
            eprintln!("usage: {}", USAGE.trim_start());
            return ExitCode::from(2);
        }
    };
    match package(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").as_path(), builds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("package: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn package(root: &Path, builds: bool) -> Result<(), String> {
    let folder = root.join("target/xtask-package");
    let _ = fs::remove_dir_all(&folder);
    let source = folder.join("source");
    copy_tracked(root, &source)?;
    let names = published(&source)?;
    let mut cargo = Command::new(env!("CARGO"));
    // Packages are not built here: that is done below, for all at once.
    cargo.args(["package", "--offline", "--no-verify", "--quiet", "--target-dir"]).arg(folder.join("target"));
    names.iter().for_each(|name| _ = cargo.args(["--package", name]));
    run_in(&source, &mut cargo)?;

    let unpacked = folder.join("unpacked");
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_owned();
    for name in &names {
        let archive = archive(&folder.join("target/package"), name)?;
        fs::create_dir_all(&unpacked).map_err(|error| error.to_string())?;
        run_in(&unpacked, Command::new("tar").arg("-xzf").arg(&archive))?;
        let inside = archive.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        manifest += &format!("{name} = {{ path = \"{inside}\" }}\n");
        for needed in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            if !unpacked.join(&inside).join(needed).is_file() {
                return Err(format!("{name} has no {needed}"));
            }
        }
    }
    println!("package: {} packages", names.len());
    if builds {
        fs::write(unpacked.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
        // The same versions of others' crates, which are there already.
        fs::copy(root.join("Cargo.lock"), unpacked.join("Cargo.lock")).map_err(|error| error.to_string())?;
        let target = root.join("target/xtask-package-build");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["check", "--workspace", "--offline", "--quiet", "--target-dir"]).arg(target);
        run_in(&unpacked, &mut cargo)?;
        println!("package: all can be built from their packages");
    }
    Ok(())
}

/// Copies what git knows, with links as what they point to, and without the lines that keep us from publishing.
fn copy_tracked(root: &Path, to: &Path) -> Result<(), String> {
    let listed = Command::new("git").args(["ls-files", "--cached"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    for file in String::from_utf8_lossy(&listed.stdout).lines().map(PathBuf::from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().unwrap_or(to)).map_err(|error| error.to_string())?;
        fs::copy(root.join(&file), &target).map_err(|error| format!("{}: {error}", file.display()))?;
        if file.ends_with("Cargo.toml") {
            let text = fs::read_to_string(&target).map_err(|error| error.to_string())?;
            let is_kept = |line: &&str| *line != "publish = false" && *line != "publish.workspace = true";
            let kept: Vec<&str> = text.lines().filter(is_kept).collect();
            fs::write(&target, kept.join("\n") + "\n").map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// The names of the packages that may be published.
fn published(source: &Path) -> Result<Vec<String>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(source);
    let output = cargo.output().map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let is_published = |package: &&Value| package["publish"].is_null();
    let name = |package: &Value| package["name"].as_str().unwrap_or_default().to_owned();
    Ok(metadata["packages"].as_array().into_iter().flatten().filter(is_published).map(name).collect())
}

fn archive(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let version = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        version.is_some_and(|rest| {
            rest.ends_with(".crate") && rest.starts_with(|char: char| char.is_ascii_digit())
        })
    };
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let found = entries.filter_map(|entry| Some(entry.ok()?.path())).find(is_it);
    found.ok_or_else(|| format!("{name} was not packaged"))
}

/// Runs a command; what it says is shown where it fails.
fn run_in(folder: &Path, command: &mut Command) -> Result<(), String> {
    let output = command.current_dir(folder).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr)))
}
