//! `stubborn reproduce`: the folder it leaves, that it goes on where it stopped, and that its commands say
//! what its tables say. The experiments themselves are tested in `reproduce`.

use std::fs;

use super::{Finished, Scratch, run, start, stubborn};

/// The lines of a table, each as its fields.
fn table(folder: &std::path::Path, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(file)).expect("the table is there");
    text.lines().map(fields).collect()
}

/// The fields of a line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => {
                fields.last_mut().expect("never empty").push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            char => fields.last_mut().expect("never empty").push(char),
        }
    }
    fields
}

#[test]
fn a_folder_is_written_and_used_again() {
    let scratch = Scratch::new();
    let folder = scratch.path("report");
    let arguments = format!("reproduce --tiny --paper 000 --paper 002 --output {}", folder.display());
    let first = run(&arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("confirmed: ") && first.stdout.contains("index.html"), "{}", first.stdout);
    for file in [
        "index.html",
        "000.md",
        "002.md",
        "000-searches.csv",
        "002-peterson-states.svg",
        "models/dining.proc",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let before = fs::read_to_string(folder.join("000-searches.csv")).expect("the table is there");
    let second = run(&arguments);
    assert!(second.stdout.contains("\n0 measurements made, "), "{}", second.stdout);
    assert_eq!(fs::read_to_string(folder.join("000-searches.csv")).expect("still there"), before);
}

#[test]
fn commands_repeat_what_the_tables_say() {
    let scratch = Scratch::new();
    let folder = scratch.path("report");
    let made = run(&format!("reproduce --tiny --output {} --quiet", folder.display()));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let tables = [
        ("000-spaces.csv", "states", 1),
        ("000-searches.csv", "states", 13),
        ("001-growth.csv", "states", 5),
        ("001-supertrace.csv", "states", 5),
        ("002-fairness.csv", "states", 3),
        ("003-formulas.csv", "states", 7),
        ("003-cases.csv", "full states", 3),
        ("004-closure.csv", "states with closure", 1),
    ];
    for (file, column, every) in tables {
        let lines = table(&folder, file);
        let of = |name: &str| lines[0].iter().position(|its| its == name).expect("the column");
        let (states, command) = (of(column), of("command"));
        // Nothing was searched, or something else in the end.
        let is_other =
            |line: &&Vec<String>| line[command].is_empty() || line.iter().any(|field| field == "fallback");
        for line in lines[1..].iter().filter(|line| !is_other(line)).step_by(every) {
            // Quotes are those of a shell, and there are no others.
            let command = line[command].strip_prefix("stubborn ").expect("a command of ours");
            let words = command.split('\'').enumerate().flat_map(|(index, piece)| match index % 2 {
                1 => vec![piece.to_owned()],
                _ => piece.split_whitespace().map(str::to_owned).collect(),
            });
            let words: Vec<String> = words.collect();
            let done =
                stubborn().current_dir(&folder).args(&words).arg("--json").output().expect("it can be run");
            let done = Finished::from(done).json();
            let found = done.pointer("/results/0/stats/states").or(done.get("states"));
            assert_eq!(found.map(ToString::to_string).as_ref(), Some(&line[states]), "{command}");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_a_report() {
    let scratch = Scratch::new();
    let folder = scratch.path("report");
    let child = start(&format!("reproduce --full --paper 003 --output {}", folder.display()));
    // It has begun when the table is there, and takes hours.
    while !folder.join("003-formulas.csv").is_file() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = std::process::Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status();
    assert!(sent.expect("a shell").success());
    let left = Finished::from(child.wait_with_output().expect("it ends"));
    assert_eq!(left.code, 3, "{}", left.stderr);
    assert!(left.stderr.contains("the same command goes on from here"), "{}", left.stderr);
    assert!(folder.join("index.html").is_file());
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let scratch = Scratch::new();
    let file = scratch.file("file", "");
    let failed = run(&format!("reproduce --tiny --paper 002 --output {file}/report"));
    assert_eq!(failed.code, 2);
    assert!(failed.stderr.contains("cannot make the folder"), "{}", failed.stderr);
}
