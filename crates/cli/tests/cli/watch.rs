//! `check --watch`, with real files and signals.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::{run_with_input, start};

/// The model is checked again when it changes, when what it includes changes, and after mistakes; Ctrl-C ends it.
#[test]
fn changes_are_checked() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (model, included) = (folder.path().join("watched.pml"), folder.path().join("bound.h"));
    fs::write(&included, "#define BOUND 3\n").expect("it can be written");
    let text = "#include \"bound.h\"\nbyte x;\nactive proctype P() { x = 2; assert(x < BOUND) }\n";
    fs::write(&model, text).expect("it can be written");
    let mut child = start(&format!("check {} --watch", model.display()));
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
    let mut messages = BufReader::new(child.stderr.take().expect("stderr is a pipe")).lines();
    let mut heard: Vec<String> = Vec::new();
    let mut wait = |wanted: &str| {
        while let Some(Ok(line)) = messages.next() {
            heard.push(line.clone());
            if line.contains(wanted) {
                return;
            }
        }
        panic!("`{wanted}` is not said: {heard:?}");
    };
    let mut verdict = || {
        let mut found = lines.by_ref().map(|line| line.expect("it is text"));
        found.find(|line| line.starts_with("assertions: ")).expect("there is an answer")
    };
    assert!(verdict().contains("holds"));
    wait("waiting for changes");
    fs::write(&included, "#define BOUND 2\n").expect("it can be written");
    wait("bound.h changed");
    assert!(verdict().contains("VIOLATED"));
    wait("waiting for changes");
    fs::write(&model, "this is no model").expect("it can be written");
    wait("error");
    wait("waiting for changes");
    // Editors put a new file in the place of the old one.
    let new = folder.path().join("new");
    fs::write(&new, text.replace("x = 2", "x = 1")).expect("it can be written");
    fs::rename(&new, &model).expect("it can be moved");
    assert!(verdict().contains("holds"));
    wait("waiting for changes");
    let sent = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status();
    assert!(sent.expect("there is a shell").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_standard_input_cannot_be_watched() {
    assert_eq!(run_with_input("check - --language process --watch", b"process P { a: b -> a; }").code, 2);
}
