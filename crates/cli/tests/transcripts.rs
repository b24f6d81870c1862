//! Runs the transcripts of `README.md`, of the documentation and the guide in `docs`, and of `tests/cmd`.
//!
//! They run in a folder that has the project's `models`, and every file that a transcript shows: a
//! fenced block whose first line names a language and a file, like `proc light.proc`, is that file.
//! `TRYCMD=overwrite cargo test -p stubborn-cli --test transcripts` brings those of `tests/cmd` up
//! to date; times and sizes must then be made `[..]` again by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const STUBBORN: &str = env!("CARGO_BIN_EXE_stubborn");

#[test]
fn transcripts() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.join("../..");
    let readme = fs::read_to_string(root.join("README.md")).expect("there is a README");
    let transcripts = files(&package.join("tests/cmd"), "md");
    assert!(!transcripts.is_empty(), "there are transcripts");

    let folder = tempfile::tempdir().expect("a folder can be made");
    let models = folder.path().join("models");
    fs::create_dir(&models).expect("a folder can be made");
    for extension in ["proc", "aut", "pml"] {
        for file in files(&root.join("models"), extension) {
            fs::copy(&file, models.join(file.file_name().expect("it has a name"))).expect("it can be copied");
        }
    }
    let shown = write_shown_files(&readme, folder.path());
    assert!(shown.len() >= 5, "the README shows files");
    for name in shown.iter().filter(|name| *name != "typo.proc") {
        let explored = Command::new(STUBBORN).arg("explore").arg(folder.path().join(name)).output();
        let explored = explored.expect("the command can be run");
        assert!(explored.status.success() && explored.stderr.is_empty(), "{name}: {explored:?}");
    }
    let mut documentation = files(&root.join("docs"), "md");
    documentation.extend(files(&root.join("docs/guide"), "md"));
    for file in transcripts.iter().chain(&documentation) {
        write_shown_files(&fs::read_to_string(file).expect("it can be read"), folder.path());
    }
    let masked = folder.path().join("README.md");
    fs::write(&masked, mask_figures(&readme)).expect("it can be written");

    // The only test of this program: nobody else cares where it runs.
    std::env::set_current_dir(folder.path()).expect("the folder exists");
    let cases = trycmd::TestCases::new();
    cases.register_bin("stubborn", Path::new(STUBBORN));
    for file in &documentation {
        cases.case(file);
    }
    cases.case(&masked).case(package.join("tests/cmd/*.md")).case(package.join("tests/cmd/*.toml"));
    cases.run();
}

/// The files of a folder with an extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    files.sort();
    files
}

/// Writes the files that a text shows in its fenced blocks, and returns their names.
fn write_shown_files(markdown: &str, folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        let Some(("proc" | "aut" | "hoa" | "pnml" | "promela" | "xml", name)) =
            line.strip_prefix("```").and_then(|info| info.split_once(char::is_whitespace))
        else {
            continue;
        };
        let mut text = String::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            text += line;
            text.push('\n');
        }
        let path = folder.join(name.trim());
        assert!(!path.exists(), "two files are called `{name}`");
        fs::write(path, text).expect("it can be written");
        names.push(name.trim().to_owned());
    }
    names
}

/// Replaces times and sizes, which differ from run to run: `0.02 s, 803 kB` becomes `[..]`.
fn mask_figures(markdown: &str) -> String {
    let mut masked = String::new();
    for line in markdown.lines() {
        masked += &masked_line(line).unwrap_or_else(|| line.to_owned());
        masked.push('\n');
    }
    masked
}

fn masked_line(line: &str) -> Option<String> {
    let seconds_end = line.find(" s, ")?;
    let (before, after) = (&line[..seconds_end], &line[seconds_end + " s, ".len()..]);
    let start = before.rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |at| at + 1);
    let unit = ["bytes", "kB", "MB", "GB"].into_iter().find(|unit| after.contains(unit))?;
    let end = after.find(unit)? + unit.len();
    before[start..].parse::<f64>().ok()?;
    Some(format!("{}[..]{}", &before[..start], &after[end..]))
}
