//! Exported state spaces, and when there are none.

use std::fs;
use std::process::{Command, Stdio};

use crate::{Scratch, run, stubborn};

#[test]
fn an_exported_space_can_be_read_back() {
    let scratch = Scratch::new();
    let (aut, dot) = (scratch.path("ring.aut"), scratch.path("ring.dot"));
    let finished = run(&format!(
        "explore models/token_ring.proc --json --aut {} --dot {}",
        aut.display(),
        dot.display()
    ));
    assert_eq!(finished.code, 0);
    let first = finished.json();
    let text = fs::read_to_string(&aut).expect("it was written");
    let header = format!("des (0, {}, {})", first["transitions"], first["states"]);
    assert_eq!(text.lines().next(), Some(header.as_str()));
    let text = fs::read_to_string(&dot).expect("it was written");
    assert!(text.starts_with("digraph") && text.trim_end().ends_with('}'));
    assert!(text.contains("Station[0] = token[1]") && text.contains("label=\"enter[0]\""));
    assert_eq!(scratch.listing(), ["ring.aut", "ring.dot"], "no other files are left");

    let file = scratch.file("back.proc", "process Ring = extern \"ring.aut\";");
    let second = run(&format!("explore {file} --json")).json();
    for count in ["states", "transitions", "deadlocks", "depth"] {
        assert_eq!(first[count], second[count], "{count}");
    }
}

#[test]
fn names_that_need_quotes_survive() {
    let scratch = Scratch::new();
    let text = r#"process P { s: "a \ b" -> t | "SEND !1" -> t | tau -> t; t: go[1, 2] -> s; }"#;
    let file = scratch.file("odd.proc", text);
    let (once, twice) = (scratch.path("once.aut"), scratch.path("twice.aut"));
    assert_eq!(run(&format!("explore {file} --aut {}", once.display())).code, 0);
    let back = scratch.file("back.proc", "process P = extern \"once.aut\";");
    assert_eq!(run(&format!("explore {back} --aut {}", twice.display())).code, 0);
    let read = |path| fs::read_to_string(path).expect("it was written");
    assert!(read(&once).contains("\"SEND !1\"") && read(&once).contains("(0, tau, 1)"));
    assert_eq!(read(&once), read(&twice));
}

#[test]
fn nothing_is_written_if_something_is_missing() {
    let scratch = Scratch::new();
    let bad = scratch.file("bad.proc", "process P { s: a -> t; }");
    let before = scratch.listing();
    let (aut, dot) = (scratch.path("x.aut"), scratch.path("x.dot"));
    let exports = format!("--aut {} --dot {}", aut.display(), dot.display());
    for (arguments, code) in [
        ("models/dining.proc --max-states 100", 3),
        ("models/dining.proc --timeout 0", 3),
        ("models/dining.proc --max-memory 2k", 3),
        ("models/dining.proc --store bitstate", 2),
        ("models/dining.proc --order dfs", 2),
        ("models/dining.proc -D M=3", 2),
        ("models/missing.proc", 2),
        (bad.as_str(), 2),
    ] {
        let finished = run(&format!("explore {arguments} {exports}"));
        assert_eq!(finished.code, code, "{arguments}: {}", finished.stderr);
        assert_eq!(scratch.listing(), before, "{arguments}");
    }
}

#[test]
fn a_place_that_cannot_be_written_to_is_an_error() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("folder")).expect("it can be made");
    for name in ["folder", "missing/x.aut"] {
        let finished = run(&format!("explore models/buffer.proc --aut {}", scratch.path(name).display()));
        assert_eq!(finished.code, 2, "{name}");
        assert!(finished.stderr.contains("error[cannot-write]"), "{}", finished.stderr);
        assert_eq!(scratch.listing(), ["folder"], "{name}");
    }
}

/// Ctrl-C stops writing, and nothing is left of what was written.
#[cfg(unix)]
#[test]
fn an_interrupted_export_leaves_nothing() {
    let scratch = Scratch::new();
    let model = scratch.file("many.proc", "process P[i in 0..17] { s: a[i] -> t; t: b[i] -> s; }");
    let before = scratch.listing();
    for n_signals in [1, 2] {
        let aut = scratch.path("many.aut");
        let child = stubborn().args(["explore", &model, "--aut"]).arg(&aut).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the command can be run");
        // It is being written as soon as there is another file.
        while scratch.listing() == before && child.try_wait().expect("it can be asked").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for _ in 0..n_signals {
            _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        }
        let code = child.wait().expect("it ends").code();
        if code == Some(0) {
            // It was faster than the signal.
            fs::remove_file(&aut).expect("it was written");
        }
        assert!(matches!(code, Some(0 | 3 | 130)), "{code:?}");
        assert_eq!(scratch.listing(), before, "{code:?}");
    }
}
