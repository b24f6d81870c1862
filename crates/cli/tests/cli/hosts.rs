//! Several processes that do one command together: real ones, over the loopback.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Output, Stdio};

use serde_json::Value;

use crate::{Scratch, pnml, stubborn};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn run(arguments: &[&str]) -> Output {
    stubborn().args(arguments).output().unwrap()
}

/// A document without what depends on the machine; and where something was found, without how much was looked at before:
/// several processes finish their round.
fn document(output: &Output) -> Value {
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    strip(&mut document, output.status.code() == Some(1));
    document
}

fn strip(value: &mut Value, is_violated: bool) {
    match value {
        Value::Object(fields) => {
            let of_machine = ["seconds", "peak_bytes", "method"].iter();
            let of_search: &[&str] =
                if is_violated { &["states", "transitions", "system_states", "depth"] } else { &[] };
            of_machine.chain(of_search).for_each(|name| _ = fields.shift_remove(*name));
            fields.values_mut().for_each(|value| strip(value, is_violated));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strip(value, is_violated)),
        _ => {}
    }
}

/// What is said of models of all languages is what one process says.
#[test]
fn several_processes_say_what_one_does() {
    let scratch = Scratch::new();
    let places: Vec<(String, u64)> =
        (0..6).map(|place| (format!("p{place}"), u64::from(place == 0) * 3)).collect();
    let transitions: Vec<String> = (0..6).map(|number| format!("t{number}")).collect();
    let around = (0..6).flat_map(|at| {
        let transition = format!("t{at}");
        [(format!("p{at}"), transition.clone(), 1), (transition, format!("p{}", (at + 1) % 6), 1)]
    });
    let net = scratch.file("ring.pnml", pnml(&places, &transitions, &around.collect::<Vec<_>>()));
    for arguments in [
        &["explore", "models/dining.proc", "-D", "N=5"][..],
        &["explore", &net],
        &["explore", "models/peterson.pml"],
        &["check", "models/dining.proc", "--deadlock-free", "--reduce", "none"],
        &["explore", "models/leader.pml"],
        &["check", &net, "--deadlock-free", "--reduce", "none"],
        &["check", "models/abp.pml", "--property", "assertions", "--reduce", "none"],
    ] {
        let json = [arguments, &["--json", "--quiet", "--threads", "1"]].concat();
        let alone = run(&json);
        for n in ["1", "2", "3"] {
            let several = run(&[&json[..], &["--local-processes", n]].concat());
            assert_eq!(alone.status.code(), several.status.code(), "{arguments:?}, {n}");
            assert_eq!(document(&alone), document(&several), "{arguments:?}, {n}");
        }
    }
}

/// Addresses on this machine that nobody uses.
fn addresses(n: usize) -> String {
    let listeners: Vec<_> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| format!("{}\n", listener.local_addr().unwrap())).collect()
}

fn start(file: &str, process: usize, arguments: &[&str]) -> Child {
    let mut command = stubborn();
    command.args(arguments).args(["--quiet", "--hosts", file, "--process", &process.to_string()]);
    command.env("STUBBORN_SECRET", SECRET).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn said(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn the_same_command_is_started_everywhere() {
    let scratch = Scratch::new();
    let file = &scratch.file("hosts", addresses(2));
    let arguments = ["explore", "models/dining.proc", "-D", "N=6"];
    let [first, second] = [0, 1].map(|process| start(file, process, &arguments));
    let (code, text) = said(first);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("728 states"), "{text}");
    assert_eq!(said(second), (Some(0), String::new()), "the first one reports");

    // They must do the same.
    fs::write(file, addresses(2)).unwrap();
    let first = start(file, 0, &arguments);
    let second = start(file, 1, &["explore", "models/dining.proc", "-D", "N=5"]);
    let (code, text) = said(second);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("process 0 does something else: `model: "), "{text}");
    let (code, text) = said(first);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("process 1 does something else"), "{text}");
}

/// Who is killed ends all others, which say so.
#[test]
fn a_process_that_is_gone_ends_the_others() {
    let scratch = Scratch::new();
    let all = addresses(3);
    let file = &scratch.file("hosts", &all);
    // More states than can be searched while the test runs.
    let arguments = ["explore", "models/dining.proc", "-D", "N=17"];
    let listens = |nth: usize| TcpStream::connect(all.lines().nth(nth).unwrap()).is_ok();
    let wait = |nth: usize, until: bool| {
        while listens(nth) != until {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    // A process listens until everybody is there.
    let [first, mut second] = [0, 1].map(|process| start(file, process, &arguments));
    (0..2).for_each(|nth| wait(nth, true));
    let third = start(file, 2, &arguments);
    (0..2).for_each(|nth| wait(nth, false));
    second.kill().unwrap();
    _ = said(second);
    let (code, text) = said(first);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("is gone"), "{text}");
    let (code, text) = said(third);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.starts_with("process 2 stops: process ") && text.contains(" is gone"), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    let cases: &[(&[&str], &str)] = &[
        (&["explore", "-", "--local-processes", "2"], "standard input"),
        (
            &["explore", "models/dining.proc", "--hosts", "/no/such/file", "--process", "0"],
            "cannot read the list",
        ),
        (&["explore", "models/dining.proc", "--hosts", "slurm"], "SLURM_STEP_NODELIST is not set"),
        (
            &["explore", "models/dining.proc", "--hosts", "kubernetes:x", "--process", "0"],
            "kubernetes:SERVICE:N",
        ),
        (&["explore", "models/dining.proc", "--process", "0"], "--hosts"),
        (
            &["explore", "models/dining.proc", "--local-processes", "1", "--store", "bitstate"],
            "--store exact",
        ),
        (&["check", "models/dining.proc", "--local-processes", "1", "--ltl", "[] true"], "several processes"),
    ];
    for (arguments, expected) in cases {
        let output = stubborn().args(*arguments).env("STUBBORN_SECRET", SECRET).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
