//! Pictures of models, of automata and of state spaces, and when there are none.

use std::fs;

use crate::{Scratch, pnml, run};

/// A ring of places and transitions, with one token.
fn ring(n_places: usize) -> String {
    let name = |kind: char, index: usize| format!("{kind}{}", index % n_places);
    let places: Vec<_> = (0..n_places).map(|index| (name('p', index), u64::from(index == 0))).collect();
    let transitions: Vec<_> = (0..n_places).map(|index| name('t', index)).collect();
    let around =
        |index| [(name('p', index), name('t', index), 1), (name('t', index), name('p', index + 1), 1)];
    pnml(&places, &transitions, &(0..n_places).flat_map(around).collect::<Vec<_>>())
}

#[test]
fn the_name_of_the_file_tells_the_format() {
    let scratch = Scratch::new();
    let net = scratch.file("ring.pnml", ring(4));
    for (name, format, start) in [
        ("a.svg", "", "<svg"),
        ("a.SVG", "", "<svg"),
        ("a.dot", "", "digraph"),
        ("a.gv", "", "digraph"),
        ("a.txt", "--format svg", "<svg"),
        ("b.svg", "--format dot", "digraph"),
    ] {
        let path = scratch.path(name);
        let finished = run(&format!("draw {net} {format} --output {}", path.display()));
        assert_eq!((finished.code, finished.stdout.as_str()), (0, ""), "{name}: {}", finished.stderr);
        assert!(fs::read_to_string(&path).expect("it was written").starts_with(start), "{name}");
    }
    let (first, second) = (run(&format!("draw {net}")), run(&format!("draw {net}")));
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(first.stdout, fs::read_to_string(scratch.path("a.svg")).expect("it was written"));
    assert_eq!(first.stdout.matches("<circle class=\"node").count(), 4);
}

#[test]
fn what_cannot_be_drawn_or_written_is_an_error() {
    let scratch = Scratch::new();
    let (small, large) = (scratch.file("small.pnml", ring(2)), scratch.file("large.pnml", ring(251)));
    fs::create_dir(scratch.path("folder.svg")).expect("it can be made");
    let before = scratch.listing();
    let in_scratch = |name: &str| scratch.path(name).display().to_string();
    for (arguments, code) in [
        (format!("{large} --output {}", in_scratch("x.svg")), "error[too-large]"),
        (format!("{small} --output {}", in_scratch("x")), "error[unknown-format]"),
        (format!("{small} --output {}", in_scratch("folder.svg")), "error[cannot-write]"),
        (format!("{small} --output {}", in_scratch("missing/x.svg")), "error[cannot-write]"),
        (format!("{small} -D N=2"), "error[unknown-constant]"),
        (in_scratch("missing.proc"), "error[cannot-read]"),
    ] {
        let finished = run(&format!("draw {arguments}"));
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{arguments}");
        assert!(finished.stderr.contains(code), "{arguments}: {}", finished.stderr);
        assert_eq!(scratch.listing(), before, "{arguments}");
    }
    // There is no limit for DOT.
    let finished = run(&format!("draw {large} --format dot"));
    assert!(finished.code == 0 && finished.stdout.contains("n501 ["), "{}", finished.stderr);
}

#[test]
fn every_model_of_the_project_can_be_drawn() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut n_drawn = 0;
    for entry in fs::read_dir(models).expect("there are models") {
        let name = entry.expect("it can be listed").file_name().into_string().expect("it is text");
        if name.ends_with(".proc") {
            let finished = run(&format!("draw models/{name} --format dot"));
            assert!(
                finished.code == 0 && finished.stdout.starts_with("digraph"),
                "{name}: {}",
                finished.stderr
            );
            n_drawn += 1;
        }
    }
    assert!(n_drawn >= 15);
}

#[test]
fn automata_of_all_kinds_are_drawn() {
    for kind in ["tgba", "ba", "ta", "tgta", "extended"] {
        let finished = run(&format!("translate (a)U(b) --to {kind} --format svg"));
        assert!(finished.code == 0 && finished.stdout.starts_with("<svg"), "{kind}: {}", finished.stderr);
        assert!(finished.stdout.contains("<rect class=\"node"), "{kind}");
    }
}

#[test]
fn a_small_state_space_is_drawn() {
    let scratch = Scratch::new();
    let (dot, svg) = (scratch.path("x.dot"), scratch.path("x.svg"));
    let files = format!("--dot {} --svg {}", dot.display(), svg.display());
    let finished = run(&format!("explore models/dining.proc -D N=2 {files}"));
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let text = fs::read_to_string(&svg).expect("it was written");
    assert_eq!(text.matches("<rect class=\"node").count(), 8, "there are 8 states");
    assert_eq!(text.matches("<rect class=\"node final").count(), 1, "one is a deadlock");

    fs::remove_file(&dot).expect("it was written");
    fs::remove_file(&svg).expect("it was written");
    let finished = run(&format!("explore models/dining.proc -D N=7 {files}"));
    assert!(finished.code == 2 && finished.stderr.contains("error[too-large]"), "{}", finished.stderr);
    assert!(scratch.listing().is_empty(), "nothing is written");
    let finished = run(&format!("explore models/dining.proc --dot {0} --svg {0}", svg.display()));
    assert!(finished.stderr.contains("--dot and --svg name the same file"), "{}", finished.stderr);
}
