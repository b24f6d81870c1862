//! Bad input: exit code 2, a message with the place, nothing computed, no panic.

use crate::{Finished, Scratch, run};

/// Runs all commands on a file; all must refuse it with this first error at this place.
fn assert_refused(file: &str, code: &str, place: Option<(u64, u64)>) -> Finished {
    let mut last = None;
    for command in ["explore", "simulate --random", "check"] {
        let finished = run(&format!("{command} {file} --json"));
        assert_eq!(finished.code, 2, "{command} {file}: {}", finished.stdout);
        let document = finished.json();
        let error = &document["errors"][0];
        assert_eq!(error["code"], code, "{command} {file}");
        let found = error["line"].as_u64().zip(error["column"].as_u64());
        if place.is_some() {
            assert_eq!(found, place, "{command} {file}");
        }
        if let Some((line, _)) = found {
            // The name of the file, the line and the column stand above the excerpt.
            let name = error["file"].as_str().expect("a place is in a file");
            assert!(finished.stderr.contains(&format!("--> {name}:{line}:")), "{}", finished.stderr);
        }
        assert!(finished.stderr.len() < 20_000, "{file}: a message of {} bytes", finished.stderr.len());
        last = Some(finished);
    }
    last.expect("there are commands")
}

#[test]
fn mistakes_are_found_at_their_places() {
    let scratch = Scratch::new();
    let cases: &[(&str, &str, &str, (u64, u64))] = &[
        ("unknown-process", "process P { s: a -> s; }\ninvariant x = Q@s;\n", "unknown-process", (2, 15)),
        ("duplicate-state", "process P {\n  s: a -> s;\n  s: b -> s;\n}\n", "duplicate-state", (3, 3)),
        ("nobody-offers", "process P { s: a -> s; alphabet b; }\n", "unknown-action", (1, 33)),
        ("index", "process P { at[k in 0..3]: a -> at[k + 1]; }\n", "out-of-range", (1, 33)),
        (
            "process-index",
            "process P[i in 0..3] { s: a -> s; }\ninvariant x = P[3]@s;\n",
            "out-of-range",
            (2, 15),
        ),
        ("overflow", "const N = 9223372036854775807 + 1;\nprocess P { s: a -> s; }\n", "overflow", (1, 11)),
        ("literal", "const N = 92233720368547758080;\nprocess P { s: a -> s; }\n", "overflow", (1, 11)),
        ("zero", "const N = 0;\nprocess P { s: a[5 % N] -> s; }\n", "division-by-zero", (2, 18)),
        ("processes", "process P[i in 0..1000000000000] { s: a[i] -> s; }\n", "too-large", (1, 16)),
        ("states", "process P { at[i in 0..9000, j in 0..9000]: a -> at[i, j]; }\n", "too-large", (1, 21)),
        ("moves", "process P { s: a[i] -> s for i in 0..1000000000; }\n", "too-large", (1, 35)),
        ("choices", "process P[i in 0..40] { s: go -> s | go -> t; t: b[i] -> s; }\n", "too-large", (1, 28)),
        ("loop", "process P { s: a -> s; }\ntester T { s: tau -> s; }\n", "illegal-tester", (2, 12)),
        ("not-closed", "process P {\n  s: a -> s;\n", "syntax", (3, 1)),
        ("empty", "", "no-process", (1, 1)),
        ("tabs", "process P {\n\ts:\ta -> q;\n}\n", "unknown-state", (2, 10)),
        ("crlf", "process P {\r\n  s: a -> q;\r\n}\r\n", "unknown-state", (2, 11)),
    ];
    for (name, text, code, place) in cases {
        let file = scratch.file(&format!("{name}.proc"), text);
        assert_refused(&file, code, Some(*place));
    }
}

#[test]
fn files_that_cannot_be_read() {
    let scratch = Scratch::new();
    let missing = scratch.path("missing.proc");
    let finished = assert_refused(missing.to_str().expect("a simple name"), "cannot-read", None);
    assert!(finished.stderr.contains("missing.proc"));

    std::fs::create_dir(scratch.path("folder.proc")).expect("it can be made");
    let finished =
        assert_refused(scratch.path("folder.proc").to_str().expect("a simple name"), "cannot-read", None);
    assert!(finished.stderr.contains("folder"));

    let latin1 = scratch.file("latin1.proc", b"process P {\n  s: \xe9 -> s;\n}\n");
    let finished = assert_refused(&latin1, "not-utf8", None);
    assert!(finished.stderr.contains("latin1.proc:2:"));

    assert_refused(&scratch.file("model.txt", "process P { s: a -> s; }"), "unknown-language", None);
    assert_refused(&scratch.file("model.pml", "active proctype P() { skp }"), "unknown-variable", None);
    assert_refused("/dev/null", "unknown-language", None);
}

#[test]
fn components_that_cannot_be_used() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("folder")).expect("it can be made");
    scratch.file("header.aut", "dse (0, 1, 1)\n(0, \"a\", 0)\n");
    scratch.file("count.aut", "des (0, 2, 1)\n(0, \"a\", 0)\n");
    scratch.file("range.aut", "des (0, 1, 1)\n(0, \"a\", 5)\n");
    scratch.file("initial.aut", "des (7, 0, 1)\n");
    scratch.file("huge.aut", "des (0, 0, 99999999999)\n");
    scratch.file("large.aut", "des (0, 0, 4000000000)\n");
    scratch.file("empty.aut", "");
    scratch.file("latin1.aut", b"des (0, 1, 1)\n(0, \"\xe9\", 0)\n");
    for (name, code, place) in [
        ("missing.aut", "cannot-read", (1, 20)),
        ("folder", "cannot-read", (1, 20)),
        ("header.aut", "aut-syntax", (1, 1)),
        ("count.aut", "aut-header", (1, 1)),
        ("range.aut", "aut-state", (2, 10)),
        ("initial.aut", "aut-header", (1, 1)),
        ("huge.aut", "aut-header", (1, 1)),
        ("large.aut", "too-large", (1, 20)),
        ("empty.aut", "aut-syntax", (1, 1)),
        ("latin1.aut", "not-utf8", (1, 20)),
    ] {
        let file = scratch.file("model.proc", format!("process X = extern \"{name}\";\n"));
        let finished = assert_refused(&file, code, Some(place));
        assert!(finished.stderr.contains(name), "{}", finished.stderr);
    }
}

/// The message shows only the part of the line that matters.
#[test]
fn a_line_of_ten_megabytes() {
    const LENGTH: usize = 10_000_000;
    let scratch = Scratch::new();
    let blanks = " ".repeat(LENGTH);
    let file = scratch.file("long.proc", format!("process P {{ s: a -> s{blanks}t; }}\n"));
    assert_refused(&file, "syntax", Some((1, LENGTH as u64 + 22)));
    assert_refused(&scratch.file("word.proc", "x".repeat(LENGTH)), "syntax", Some((1, 1)));
    assert_refused(&scratch.file("signs.proc", "?".repeat(LENGTH)), "unknown-character", Some((1, 1)));
    let text = format!("process P {{ s: \"{}", "x".repeat(LENGTH));
    assert_refused(&scratch.file("text.proc", text), "unterminated-text", Some((1, 16)));
    let comment = format!("process P {{ s: a -> s; }} // {}\n", "x".repeat(LENGTH));
    assert_eq!(run(&format!("check {}", scratch.file("comment.proc", comment))).code, 0);
}

#[test]
fn expressions_without_end() {
    const DEPTH: usize = 100_000;
    let scratch = Scratch::new();
    let texts = [
        format!("process P {{ s: a -> s when {}1{}; }}", "(".repeat(DEPTH), ")".repeat(DEPTH)),
        format!("process P {{ s: a -> s; }} invariant x = {}P@s;", "!".repeat(DEPTH)),
        format!("process P {{ s: a -> s; }} invariant x = {}P@s;", "P@s -> ".repeat(DEPTH)),
        format!("process P {{ s: a -> s; }} ltl x = {}P@s;", "[] ".repeat(DEPTH)),
        format!("const N = {}1; process P {{ s: a -> s; }}", "- ".repeat(DEPTH)),
    ];
    for (number, text) in texts.iter().enumerate() {
        assert_refused(&scratch.file(&format!("deep{number}.proc"), text), "too-deep", None);
    }
}

#[test]
fn editors_may_write_what_they_like() {
    let scratch = Scratch::new();
    for text in [
        "\u{feff}process P { s: a -> s; }",
        "process P {\r\n\ts: a -> s;\r\n}\r\n",
        "process P { s: a -> s; }",
    ] {
        assert_eq!(run(&format!("check {}", scratch.file("model.proc", text))).code, 0, "{text:?}");
    }
}

#[test]
fn bad_usage() {
    for arguments in [
        "",
        "frobnicate models/dining.proc",
        "check",
        "check models/dining.proc models/buffer.proc",
        "check models/dining.proc --frobnicate",
        "check models/dining.proc -D N",
        "check models/dining.proc -D N=ten",
        "check models/dining.proc -D N=99999999999999999999",
        "check models/dining.proc -D =3",
        "check models/dining.proc -D M=3",
        "check models/dining.proc -D N=0",
        "check models/dining.proc -D N=-1",
        "check models/dining.proc -D N=1000000000000",
        "check models/dining.proc --property nothing",
        "check models/dining.proc --max-states many",
        "check models/dining.proc --max-states -1",
        "check models/dining.proc --max-memory 0",
        "check models/dining.proc --max-memory lots",
        "check models/dining.proc --timeout soon",
        "check models/dining.proc --timeout -1",
        "check models/dining.proc --order sideways",
        "check models/dining.proc --store attic",
        "check models/dining.proc --reduce everything",
        "check models/dining.proc --bitstate-hashes 0",
        "simulate models/dining.proc --random --length -1",
    ] {
        let finished = run(arguments);
        assert_eq!(finished.code, 2, "{arguments}: {}", finished.stdout);
        assert!(!finished.stderr.is_empty() && finished.stdout.is_empty(), "{arguments}");
    }
}
