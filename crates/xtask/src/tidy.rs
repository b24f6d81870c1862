//! Checks that the texts of the project tell the truth, and that its layers are layers.
//!
//! - Every source file starts with a `//!` head.
//! - Crates use only crates above them, as in the table of `ARCHITECTURE.md` ([`LAYERS`]).
//! - `replay` shares no code with `check`; programs use the engine, and nothing below it ([`ON_THE_ENGINE`]).
//! - No `todo!`, `unimplemented!`, `#[ignore]`, `dbg!` and no absolute paths of somebody's machine.
//! - Every key cited as `[name.year.venue]` is in `docs/references.bib`.
//! - Every crate has a line in `ARCHITECTURE.md`.
//! - No crate but `gpu` has unsafe code, and there one file ([`UNSAFE`]).
//! - The PTX of the kernels is that of their text.
//! - No file is larger than [`LARGEST_FILE`]: what a command can make again is not kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::gpu;

/// The crates from top to bottom; each may use those before it.
const LAYERS: [&str; 30] = [
    "stubborn-derive",
    "stubborn-pack",
    "stubborn-base",
    "stubborn-ltl",
    "stubborn-generators",
    "stubborn-automata",
    "stubborn-model",
    "stubborn-por",
    "stubborn-check",
    "stubborn-embed",
    "stubborn-replay",
    "stubborn-drawing",
    "stubborn-language",
    "stubborn-statics",
    "stubborn-process",
    "stubborn-petri",
    "stubborn-promela",
    "stubborn-certify",
    "stubborn-report",
    "stubborn",
    "stubborn-hosts",
    "stubborn-gpu",
    "stubborn-reproduce",
    "stubborn-workbench",
    "stubborn-lsp",
    "stubborn-mcp",
    "stubborn-cli",
    "stubborn-testing",
    "stubborn-benches",
    "xtask",
];

/// What would be a layer's work, but is forbidden all the same.
const FORBIDDEN_EDGES: [(&str, &[&str]); 9] = [
    (
        "stubborn-certify",
        &[
            "stubborn-automata",
            "stubborn-check",
            "stubborn-por",
            "stubborn-replay",
            "stubborn-statics",
            "stubborn-embed",
        ],
    ),
    ("stubborn-replay", &["stubborn-check", "stubborn-por"]),
    ("stubborn-drawing", &["stubborn-check", "stubborn-replay"]),
    ("stubborn-language", &["stubborn-check", "stubborn-replay"]),
    ("stubborn-statics", &["stubborn-check", "stubborn-replay"]),
    ("stubborn-promela", &["stubborn-check", "stubborn-por", "stubborn-replay"]),
    ("stubborn-process", &["stubborn-check", "stubborn-replay"]),
    ("stubborn-petri", &["stubborn-process", "stubborn-check", "stubborn-replay"]),
    ("stubborn-model", &["stubborn-ltl", "stubborn-automata"]),
];

/// Crates that stand on the engine, and all of ours that they may use.
const ON_THE_ENGINE: [(&str, &[&str]); 7] = [
    ("stubborn-hosts", &["stubborn"]),
    ("stubborn-gpu", &["stubborn"]),
    ("stubborn-reproduce", &["stubborn", "stubborn-generators"]),
    ("stubborn-workbench", &["stubborn"]),
    ("stubborn-lsp", &["stubborn"]),
    ("stubborn-mcp", &["stubborn"]),
    (
        "stubborn-cli",
        &[
            "stubborn",
            "stubborn-hosts",
            "stubborn-gpu",
            "stubborn-reproduce",
            "stubborn-workbench",
            "stubborn-lsp",
            "stubborn-mcp",
        ],
    ),
];

/// The file that calls the driver of graphics processors; all other crates forbid unsafe code, and this one denies it elsewhere.
const UNSAFE: &str = "crates/gpu/src/driver.rs";

/// A text that somebody wrote, or kernels that were made of one, are never that long, in bytes; what a build leaves behind is.
const LARGEST_FILE: u64 = 640 * 1024;

/// Runs all checks and prints what they find.
pub(crate) fn run() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut problems = Vec::new();
    check_layers(&root, &mut problems);
    problems.extend(gpu::problem());
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    for layer in LAYERS {
        let folder = layer.strip_prefix("stubborn-").unwrap_or(layer);
        if !architecture.contains(&format!("`{folder}`")) {
            problems.push(format!("ARCHITECTURE.md does not mention `{folder}`"));
        }
    }
    let bibliography = fs::read_to_string(root.join("docs/references.bib")).unwrap_or_default();
    let files = tracked_files(&root);
    for file in &files {
        if fs::metadata(root.join(file)).is_ok_and(|facts| facts.len() > LARGEST_FILE) {
            problems.push(format!("{}: is larger than {} KiB", file.display(), LARGEST_FILE / 1024));
            continue;
        }
        let Ok(text) = fs::read_to_string(root.join(file)) else { continue };
        check_file(file, &text, &bibliography, &mut problems);
    }
    for problem in &problems {
        println!("{problem}");
    }
    println!("tidy: {} files, {} problems", files.len(), problems.len());
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tracked_files(root: &Path) -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .expect("git is there, since this is a checkout");
    String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect()
}

fn check_file(file: &Path, text: &str, bibliography: &str, problems: &mut Vec<String>) {
    let name = file.display();
    // This file names what it looks for.
    let is_this = file.ends_with("tidy.rs");
    if file.extension().is_some_and(|extension| extension == "rs") {
        if !text.starts_with("//!") {
            problems.push(format!("{name}: does not start with a `//!` head"));
        }
        if text.contains("allow(unsafe_code)") && !is_this && name.to_string() != UNSAFE {
            problems.push(format!("{name}: allows unsafe code"));
        }
        for word in ["todo!(", "unimplemented!(", "#[ignore", "dbg!("] {
            if text.contains(word) && !is_this {
                problems.push(format!("{name}: contains `{word}`"));
            }
        }
        for key in cited_keys(text) {
            if !bibliography.contains(&format!("{{{key},")) {
                problems.push(format!("{name}: cites [{key}], which is not in docs/references.bib"));
            }
        }
    }
    for path in ["/home/", "/root/", "/work/", "/Users/"] {
        if text.contains(path) && !is_this {
            problems.push(format!("{name}: contains the absolute path `{path}…`"));
        }
    }
}

/// The words in brackets that look like `couvreur.99.fm`.
fn cited_keys(text: &str) -> Vec<&str> {
    let is_key = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        let letters = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
        matches!(parts[..], [author, year, venue] if letters(author) && letters(venue)
            && year.len() == 2 && year.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let inside = |part| Some(str::split_once(part, ']')?.0);
    text.split('[').skip(1).filter_map(inside).filter(is_key).collect()
}

fn check_layers(root: &Path, problems: &mut Vec<String>) {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .expect("cargo runs this");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let layer = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(own) = layer(name) else {
            problems.push(format!("{name}: has no place among the layers"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // Tests may use what they like.
            if dependency["kind"] == "dev" {
                continue;
            }
            let used = dependency["name"].as_str().unwrap_or_default();
            let goes_below = |(who, may_use): &(&str, &[&str])| *who == name && !may_use.contains(&used);
            if layer(used).is_some_and(|used| used >= own || ON_THE_ENGINE.iter().any(goes_below))
                || FORBIDDEN_EDGES.iter().any(|(who, what)| *who == name && what.contains(&used))
            {
                problems.push(format!("{name} must not use {used}"));
            }
        }
    }
}
