//! `check --emit-test promela-trail`: Spin follows what is written, step by step. Where there is no Spin, it is only
//! written.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Finished, stubborn};

/// Models whose runs go through whatever Spin numbers in its own way; each violates what is asked.
const MODELS: [(&str, &str, &str); 9] = [
    // A claim in front: its statements are counted, too.
    (
        "claim",
        "byte x;\nnever { do :: skip :: x == 7 -> break od }\nactive [2] proctype P() { byte t; t = x; x = t + 1 }\nactive proctype Q() {\n  do\n  :: x == 2 -> assert(false)\n  :: x == 1 -> skip; atomic { x == 2; x = 2 }\n  od\n}\n",
        "--property assertions",
    ),
    // Inner sequences, jumps, labels.
    (
        "jumps",
        "byte x;\nactive proctype P() {\n  byte i;\nagain:\n  if\n  :: x < 3 -> x++; goto again\n  :: else -> { i = 1; { skip; i = 2 } }\n  fi;\nprogress_here: goto done;\n  x = 9;\ndone:\n  do :: i < 5 -> i++ :: i == 5 -> break od;\n  assert(i != 5)\n}\n",
        "--property assertions",
    ),
    // Atomic sequences and d_steps, one in the other.
    (
        "atomic",
        "byte x, y;\nactive proctype Q() { y = 1; d_step { y = 2; if :: y == 2 -> y = 3 :: else -> y = 4 fi; y++ }; y = 7 }\nactive proctype P() {\n  atomic { x = 1; x = 2; if :: x == 2 -> x = 3; x = 4 fi; y > 3; x = 5 };\n  assert(x != 5)\n}\n",
        "--property assertions",
    ),
    // Messages with and without room, several processes that start and end.
    (
        "messages",
        "chan c = [0] of { byte };\nchan d = [2] of { byte, byte };\nbyte got;\nproctype S(byte n) { c!n; d!n,n }\ninit {\n  byte a, b;\n  atomic { run S(3); run S(4) };\n  c?a; c?b; got = a + b;\n  d?a,_; d?b,_;\n  assert(got != 7)\n}\n",
        "--property assertions",
    ),
    // Escapes, timeouts.
    (
        "escapes",
        "byte x;\nchan c = [1] of { byte };\nactive proctype P() {\n  { x = 1; x = 2; c?x; x = 9 } unless { x == 2 -> x = 5 };\n  do :: timeout -> break :: x == 6 -> skip od;\n  assert(x != 5)\n}\n",
        "--property assertions",
    ),
    // What other statements are made of.
    (
        "sugar",
        "byte sum, i, k;\nbyte a[3];\ninline twice(v) { v = v + 1; v = v + 1 }\nactive proctype P() {\n  for (i : 1 .. 3) { sum = sum + i };\n  for (i in a) { a[i] = i };\n  select (k : 2 .. 4);\n  twice(sum); twice(k);\n  byte late = 4;\n  printf(\"%d\\n\", sum);\n  assert(sum + k + late < 18)\n}\n",
        "--property assertions",
    ),
    // For ever.
    (
        "cycle",
        "byte x;\nactive proctype P() { do :: x = 1; x = 0 :: x == 0 -> x = 2; break od }\nactive proctype Q() { do :: skip od }\nltl ends { <> (x == 2) }\n",
        "--property ends",
    ),
    // Stuck.
    (
        "stuck",
        "bit a, b;\nactive proctype P() { a == 0; a = 1; b == 0; b = 1; b = 0; a = 0 }\nactive proctype Q() { b == 0; b = 1; a == 0; a = 1; a = 0; b = 0 }\n",
        "--property end-states",
    ),
    (
        "constants",
        "#define N 2\nbyte n;\nactive [N] proctype P() { n++; assert(n < N) }\n",
        "-D N=3 --property assertions",
    ),
];

fn check(folder: &Path, arguments: &str) -> Finished {
    let mut command = stubborn();
    Finished::from(command.current_dir(folder).args(arguments.split_whitespace()).output().expect("it runs"))
}

/// Who takes the steps of a run. Spin tells more of a d_step than we do, so whoever goes on is told once.
fn movers(run: &Value) -> Vec<String> {
    let told = steps(run).flat_map(|step| step["statements"].as_array().into_iter().flatten());
    let told = told.chain(run["failing"].as_array().into_iter().flatten());
    let mut movers: Vec<String> = told.map(|one| one["process"].as_str().unwrap().to_owned()).collect();
    movers.dedup();
    movers
}

fn steps(run: &Value) -> impl Iterator<Item = &Value> {
    ["prefix", "cycle"].into_iter().flat_map(|part| run[part].as_array().into_iter().flatten())
}

/// Who takes the steps that Spin takes: `  1:  proc  0 (P:1) model.pml:3 (state 1)  [t = x]`.
fn told_movers(output: &str) -> Vec<String> {
    let read = |line: &str| {
        let (number, rest) = line.split_once(":\tproc ")?.1.trim_start().split_once(" (")?;
        let name = rest.trim_start_matches(':').split_once(':')?.0;
        rest.contains("\t[").then(|| format!("{name}({number})"))
    };
    let mut movers: Vec<String> = output.lines().filter_map(read).collect();
    movers.dedup();
    movers
}

/// The global variables at the end, as Spin tells them: `    x = 2`.
fn told_values(output: &str) -> Vec<(String, i64)> {
    let read = |line: &str| {
        let (name, value) = line.strip_prefix("\t\t")?.split_once(" = ")?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    };
    output.lines().filter_map(read).collect()
}

#[test]
#[allow(clippy::print_stderr)] // Whoever looks should know what was not tested.
fn spin_follows_trails() {
    let has_spin = Command::new("spin").arg("-V").output().is_ok();
    if !has_spin {
        eprintln!("SKIPPED: there is no spin: trails are only written");
    }
    for (name, text, arguments) in MODELS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("model.pml"), text).unwrap();
        let emitted =
            check(folder.path(), &format!("check model.pml {arguments} --emit-test promela-trail --json"));
        assert_eq!(emitted.code, 1, "{name}: {} {}", emitted.stdout, emitted.stderr);
        let report: Value = serde_json::from_str(&emitted.stdout).unwrap();
        let run = &report["results"][0]["counterexample"];
        let (_, replay) = emitted.stderr.split_once("try: ").expect("it says how");
        if !has_spin {
            continue;
        }
        let replay: Vec<String> =
            replay.lines().next().unwrap().replace('\'', "").split_whitespace().map(str::to_owned).collect();
        let spin = Command::new(&replay[0]).args(&replay[1..]).current_dir(folder.path()).output().unwrap();
        let output = String::from_utf8_lossy(&spin.stdout).into_owned();
        for bad in
            ["invalid statement", "transition failed", "no matching", "(?)", "stop error", "no process"]
        {
            assert!(!output.contains(bad), "{name}: {output}");
        }
        assert!(output.contains("trail ends after"), "{name}: {output}");
        assert_eq!(movers(run), told_movers(&output), "{name}: {output}");
        let last = &steps(run).last().expect("there is an initial state")["state"];
        let told = told_values(&output);
        assert!(!told.is_empty() || name == "stuck", "{name}: {output}");
        for (variable, value) in told {
            let ours = &last[variable.as_str()];
            assert!(ours.is_null() || ours == value, "{name}: {variable} is {value}, not {ours}: {output}");
        }
        match report["results"][0]["property"].as_str().unwrap() {
            "assertions" => assert!(output.contains("assertion violated"), "{name}: {output}"),
            "ends" => assert!(output.contains("START OF CYCLE"), "{name}: {output}"),
            _ => {}
        }
    }
}

#[test]
fn other_languages_have_no_trails() {
    let refused = crate::run("check models/dining.proc --emit-test promela-trail");
    assert!(refused.code == 2 && refused.stderr.contains("Promela only"), "{}", refused.stderr);
    // Spin splits such a jump after everything was read, so that its numbers are not known.
    let folder = tempfile::tempdir().unwrap();
    let text = "active proctype P() { byte i; again: goto on; on: i++; assert(i == 0) }\n\
                ltl there { [] !P@again }\n";
    fs::write(folder.path().join("model.pml"), text).unwrap();
    let refused = check(folder.path(), "check model.pml --property assertions --emit-test promela-trail");
    assert!(refused.code == 2 && refused.stderr.contains("remote reference"), "{}", refused.stderr);
}
