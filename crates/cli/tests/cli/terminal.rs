//! Pipes and signals.

use std::io::{BufRead as _, BufReader, Read as _};

use crate::{run, start, stubborn};

/// Like `| head -1`: who reads has seen enough after a line.
#[test]
fn a_closed_pipe_is_no_error() {
    for (arguments, code) in [
        ("check models/dining.proc", 1),
        ("check models/dining.proc --json", 1),
        ("explore models/dining.proc -D N=5", 0),
        ("simulate models/peterson.proc --random --seed 1 --length 20000", 0),
        ("check models/missing.proc --json", 2),
        ("check --help", 0),
    ] {
        let mut child = start(arguments);
        let mut line = String::new();
        let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("stdout is a pipe"));
        reader.read_line(&mut line).expect("it says something");
        drop(reader);
        let mut stderr = String::new();
        child.stderr.take().expect("stderr is a pipe").read_to_string(&mut stderr).expect("it is text");
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{arguments}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
    }
}

#[test]
fn nobody_listens_at_all() {
    for arguments in
        ["check models/dining.proc", "explore models/dining.proc -D N=3", "simulate models/dining.proc"]
    {
        let mut child = start(arguments);
        drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
        let code = child.wait().expect("it ends").code();
        assert!(matches!(code, Some(0 | 1)), "{arguments}: {code:?}");
    }
}

/// Ctrl-C stops a long search, and what was found so far is told.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_gives_a_partial_result() {
    use std::time::Duration;

    // The property holds, so that nothing is found before.
    let check =
        "check models/dining.proc -D N=16 --property neighbors_never_eat_together --reduce none --json";
    for arguments in ["explore models/dining.proc -D N=16 --json", check] {
        // It may come before the search begins, which is told as well; then wait longer.
        let mut pauses = (0..12).map(|exponent| Duration::from_millis(1 << exponent));
        let result = pauses.find_map(|pause| {
            let finished = interrupted_after(pause, arguments);
            assert_eq!(finished.code, 3, "{}", finished.stderr);
            let document = finished.json();
            let result = if arguments.starts_with("check") { &document["results"][0] } else { &document };
            let reason = result["reason"].as_str().expect("there is a reason");
            assert!(reason == "interrupted" || reason.starts_with("interrupted while "), "{reason}");
            let stats = if arguments.starts_with("check") { &result["stats"] } else { result };
            (reason == "interrupted").then(|| stats["states"].as_u64())
        });
        assert!(result.expect("the search begins within seconds") >= Some(1));
    }
    // What is known is told as a whole.
    let text = interrupted_after(Duration::from_millis(50), check.trim_end_matches(" --json"));
    assert!(
        text.stdout.contains("interrupted") && !text.stderr.contains("not everything"),
        "{}",
        text.stderr
    );
}

/// What a command tells that is interrupted so long after it has begun to catch the signal, which would end it
/// before.
#[cfg(target_os = "linux")]
pub(crate) fn interrupted_after(pause: std::time::Duration, arguments: &str) -> crate::Finished {
    use std::fs;
    use std::process::Command;

    let mut child = start(arguments);
    let status = format!("/proc/{}/status", child.id());
    let catches_interrupts = || {
        let status = fs::read_to_string(&status).expect("the command is running");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("it is listed");
        u64::from_str_radix(mask.trim(), 16).expect("it is a number") & 0b10 != 0
    };
    while !catches_interrupts() {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it takes longer than that");
        std::thread::yield_now();
    }
    std::thread::sleep(pause);
    let sent = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status();
    assert!(sent.expect("there is a shell").success());
    crate::Finished::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn colors_only_where_they_are_wanted() {
    let stderr = |arguments: &str| run(arguments).stderr;
    assert!(!stderr("check models/missing.proc").contains('\x1b'));
    assert!(!stderr("check models/missing.proc --color never").contains('\x1b'));
    assert!(stderr("check models/missing.proc --color always").contains('\x1b'));
}

/// `-h` fits a screen of 80 columns and 50 lines.
#[test]
fn short_help_fits_a_screen() {
    for command in ["", "check", "explain", "explore", "simulate", "draw", "mcc", "translate", "automaton"] {
        let mut short = stubborn();
        let output = short.args(command.split_whitespace()).arg("-h").env("COLUMNS", "80").output();
        let text = String::from_utf8(output.expect("the command can be run").stdout).expect("it is text");
        assert!(text.lines().count() <= 49, "{command}: {} lines", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
