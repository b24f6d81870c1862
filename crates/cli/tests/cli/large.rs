//! Large and nasty inputs under small limits: an answer or *unknown*, whatever takes long.
//!
//! A test tries a slice of them, small enough for a debug build: one second and 60 MB, and the operating system ends a
//! command with a signal that uses twenty times as much of either. A machine that is busy does not matter, since only
//! the processor's time is counted.
//!
//! `STUBBORN_LARGE=all cargo test --release -p stubborn-cli --test cli large -- --nocapture` tries everything at full
//! size, with two seconds and 100 MB, and lists what takes more than 3 s or 150 MB; another word than `all` selects by
//! name. It needs GNU time.
#![expect(clippy::print_stdout, reason = "whoever looks sees what every command took")]

use std::env;
use std::process::{Command, Output, Stdio};

use crate::nasty::{self, Nasty};
use crate::{Finished, Scratch};

/// In how many steps the test goes through all commands: each takes one command of so many.
const STRIDE: usize = 16;

/// The commands of an input, with its files in their places.
fn written(input: &Nasty, scratch: &Scratch) -> Vec<Vec<String>> {
    for (name, text) in &input.files {
        scratch.file(name, text);
    }
    let argument = |part: &String| match part.strip_prefix(['@', '%']) {
        Some(name) => scratch.path(name).to_str().expect("temporary folders have simple names").to_owned(),
        None => part.clone(),
    };
    input.commands.iter().map(|command| command.iter().map(argument).collect()).collect()
}

/// A command under its own limits and those of the system; before it stands what runs it.
fn limited(
    before: &[&str],
    arguments: &[String],
    limits: [&str; 4],
    [seconds, kilobytes]: [u32; 2],
) -> Output {
    let script = format!("ulimit -t {seconds}; ulimit -v {kilobytes}; exec \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &script, "sh"])
        .args(before)
        .arg(env!("CARGO_BIN_EXE_stubborn"))
        .args(arguments)
        .args(limits)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .stdin(Stdio::null())
        .output();
    output.expect("it can be run")
}

fn shown(input: &Nasty, arguments: &[String]) -> String {
    let short = |part: &String| part.rsplit('/').next().unwrap_or(part).chars().take(40).collect::<String>();
    format!("{}: {}", input.name, arguments.iter().map(short).collect::<Vec<_>>().join(" "))
}

/// It ends by itself, and says what it knows, or what is wrong.
fn is_answered(finished: &Finished) -> bool {
    let says = |what: &[&str]| {
        what.iter().any(|what| finished.stdout.contains(what) || finished.stderr.contains(what))
    };
    match finished.code {
        0 | 1 => true,
        2 => finished.stderr.contains("error"),
        3 => says(&[
            "limit",
            "too large",
            "too many",
            "too long",
            "CANNOT_COMPUTE",
            "coverage",
            "unknown",
            "incomplete",
        ]),
        _ => false,
    }
}

#[test]
fn whatever_takes_long_keeps_to_its_limits() {
    if env::var_os("STUBBORN_LARGE").is_some() {
        return;
    }
    let mut n = 0;
    for input in nasty::all(25) {
        let scratch = Scratch::new();
        for arguments in written(&input, &scratch) {
            n += 1;
            if n % STRIDE != 0 {
                continue;
            }
            let limits = ["--timeout", "1s", "--max-memory", "60M"];
            let finished = Finished::from(limited(&[], &arguments, limits, [20, 1_200_000]));
            let shown = shown(&input, &arguments);
            assert!(
                is_answered(&finished),
                "{shown}: {} {}{}",
                finished.code,
                finished.stdout,
                finished.stderr
            );
        }
    }
    assert!(n > 900, "there are many: {n}");
}

/// What each of many actions may do to a proposition is found by going through 2 800 values, and next to nothing of it
/// is kept. (The room for all of it stayed: 450 MB.)
#[test]
fn what_many_actions_do_to_a_variable_takes_little_memory() {
    let branch = |i| format!(":: x == {i} -> x = {}; a[{}]++\n", (i * 7919 + 13) % 2800, i % 50);
    let branches: String = (0..2800).map(branch).collect();
    let scratch = Scratch::new();
    scratch.file("many.pml", format!("int x; byte a[50]; active [3] proctype P() {{ do\n{branches} od }}"));
    let path = scratch.path("many.pml").to_str().expect("temporary folders have simple names").to_owned();
    let arguments = ["check", &path, "--ltl", "<> (x == 5)", "-t", "1"].map(str::to_owned);
    let limits = ["--timeout", "20s", "--max-memory", "60M"];
    let finished = Finished::from(limited(&[], &arguments, limits, [60, 350_000]));
    assert!(is_answered(&finished), "{} {}{}", finished.code, finished.stdout, finished.stderr);
}

/// The memory of a card that is emulated is this one's. (It was 400 MB, whatever the limit: the device failed.)
#[test]
fn an_emulated_device_takes_no_more_than_it_may() {
    let scratch = Scratch::new();
    let counts = |name: &str| format!("active proctype {name}() {{ do :: {name}x++ od }}\n");
    let text = format!("int Ax, Bx, Cx;\n{}{}{}", counts("A"), counts("B"), counts("C"));
    let path = scratch.file("counters.pml", text);
    let arguments = ["explore", &path, "-t", "1", "--device", "emulated"].map(str::to_owned);
    let limits = ["--timeout", "5s", "--max-memory", "60M"];
    let finished = Finished::from(limited(&[], &arguments, limits, [60, 400_000]));
    assert!(is_answered(&finished), "{} {}{}", finished.code, finished.stdout, finished.stderr);
    assert!(!finished.stdout.contains("the device failed"), "{}", finished.stdout);
}

/// A run through large states is told while it is made, and only what changes is told. (Names of all variables were
/// made for every step, and nobody looked at the clock until there were 8 kB of text: 10 s of processor time.)
#[test]
fn a_run_through_large_states_ends_in_time() {
    let scratch = Scratch::new();
    let n = 100_000;
    let text = format!(
        "bit a[{n}]; bit b[{n}]; int i; active [2] proctype P() {{ do :: a[i] = 1 - a[i]; b[i] = a[i]; \
         i = (i + 7) % {n} od }}"
    );
    let path = scratch.file("bits.pml", text);
    let arguments = ["simulate", &path, "--random", "--seed", "3", "--length", "100000"].map(str::to_owned);
    let limits = ["--timeout", "1s", "--max-memory", "100M"];
    let finished = Finished::from(limited(&[], &arguments, limits, [8, 1_000_000]));
    assert!(is_answered(&finished), "{} {}{}", finished.code, finished.stdout, finished.stderr);
    assert!(finished.stdout.contains(": 0 -> 1"), "{}", finished.stdout);
}

#[test]
fn everything_at_full_size_keeps_to_its_limits() {
    let Ok(which) = env::var("STUBBORN_LARGE") else { return };
    let mut n_over = 0;
    for input in nasty::all(1).iter().filter(|input| which == "all" || input.name.contains(&which)) {
        let scratch = Scratch::new();
        for arguments in written(input, &scratch) {
            let times =
                scratch.path("times").to_str().expect("temporary folders have simple names").to_owned();
            let limits = ["--timeout", "2s", "--max-memory", "100M"];
            let before = ["time", "-f", "%U %S %M", "-o", &times];
            let output = limited(&before, &arguments, limits, [30, 4_000_000]);
            let times = std::fs::read_to_string(&times).expect("GNU time is installed");
            let figures: Vec<f64> = times
                .lines()
                .last()
                .into_iter()
                .flat_map(str::split_whitespace)
                .filter_map(|part| part.parse().ok())
                .collect();
            let [user, system, kilobytes] = figures[..] else { panic!("{times}") };
            let (seconds, megabytes) = (user + system, kilobytes / 1024.0);
            let ended = output.status.code();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_well = ended.is_some_and(|code| code <= 3) && !said.contains("panicked");
            let over =
                seconds > 3.0 || megabytes > 150.0 || !is_well || !is_answered(&Finished::from(output));
            n_over += usize::from(over);
            let (mark, ended) = (if over { "OVER" } else { "ok" }, ended.unwrap_or(-1));
            println!("{mark} {ended} {seconds:.2} s {megabytes:.0} MB: {}", shown(input, &arguments));
            if over {
                println!("  {}", said.chars().take(300).collect::<String>());
            }
        }
    }
    assert_eq!(n_over, 0, "commands that went over");
}
