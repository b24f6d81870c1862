//! Several processes that do one command together: real ones, over the loopback.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

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
    let net = ring(&scratch);
    for arguments in [
        &["explore", "models/dining.proc", "-D", "N=5"][..],
        &["explore", &net],
        &["explore", "models/peterson.pml"],
        &["check", "models/dining.proc", "--deadlock-free", "--reduce", "none"],
        &["explore", "models/leader.pml"],
        &["explore", "models/dining.proc", "--ltl", "[] <> Phil[0]@eat"],
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

/// Verdicts, by name; where everything was searched and nothing was left out, with the figures.
fn verdicts(output: &Output) -> Vec<Value> {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    let results = document["results"].as_array().expect("there are results");
    let told = |result: &Value| {
        let mut said = serde_json::json!({"name": result["name"], "verdict": result["verdict"]});
        if result["verdict"] == "holds" {
            said["states"] = result["stats"]["states"].clone();
        }
        said
    };
    results.iter().map(told).collect()
}

/// A ring of places, around which three tokens go.
fn ring(scratch: &Scratch) -> String {
    let places: Vec<(String, u64)> =
        (0..6).map(|place| (format!("p{place}"), u64::from(place == 0) * 3)).collect();
    let transitions: Vec<String> = (0..6).map(|number| format!("t{number}")).collect();
    let around = (0..6).flat_map(|at| {
        let transition = format!("t{at}");
        [(format!("p{at}"), transition.clone(), 1), (transition, format!("p{}", (at + 1) % 6), 1)]
    });
    scratch.file("ring.pnml", pnml(&places, &transitions, &around.collect::<Vec<_>>()))
}

/// Formulas and testers, with and without fairness, in all languages.
#[test]
fn several_processes_decide_formulas_and_testers_as_one_does() {
    let scratch = Scratch::new();
    let net = &ring(&scratch);
    for (arguments, code) in [
        (&["check", "models/dining.proc", "-D", "N=4"][..], 1),
        (&["check", "models/semaphore.proc"], 1),
        (&["check", "models/peterson.proc", "--fair", "weak"], 0),
        (&["check", "models/peterson.pml"], 1),
        (&["check", "models/leader.pml"], 0),
        (&["check", net, "--ltl", "[] (p0 >= 1 -> <> p3 >= 1)", "--fair", "strong"], 0),
        (&["check", net, "--ltl", "<> [] p0 >= 1"], 1),
    ] {
        for reduce in ["none", "auto"] {
            let json = [arguments, &["--json", "--quiet", "--threads", "1", "--reduce", reduce]].concat();
            let alone = run(&json);
            let n = if reduce == "none" { "3" } else { "2" };
            let several = run(&[&json[..], &["--local-processes", n]].concat());
            assert_eq!(several.status.code(), Some(code), "{arguments:?}: {several:?}");
            assert_eq!(alone.status.code(), Some(code), "{arguments:?}: {alone:?}");
            let [mut alone, mut several] = [verdicts(&alone), verdicts(&several)];
            if reduce == "auto" {
                // Others are left out.
                for result in alone.iter_mut().chain(&mut several) {
                    let fields = result.as_object_mut().unwrap();
                    fields.retain(|name, _| name == "name" || name == "verdict");
                }
            }
            assert_eq!(alone, several, "{arguments:?}, {reduce}, {n}");
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

/// Three processes that have come together.
fn together(scratch: &Scratch, arguments: &[&str]) -> [Child; 3] {
    let all = addresses(3);
    let file = &scratch.file("hosts", &all);
    let listens = |nth: usize| TcpStream::connect(all.lines().nth(nth).unwrap()).is_ok();
    let wait = |nth: usize, until: bool| {
        while listens(nth) != until {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // A process listens until everybody is there.
    let [first, second] = [0, 1].map(|process| start(file, process, arguments));
    (0..2).for_each(|nth| wait(nth, true));
    let third = start(file, 2, arguments);
    (0..2).for_each(|nth| wait(nth, false));
    [first, second, third]
}

/// Who is killed ends all others, which say so.
#[test]
fn a_process_that_is_gone_ends_the_others() {
    let scratch = Scratch::new();
    // More states than can be searched while the test runs.
    let arguments = ["explore", "models/dining.proc", "-D", "N=17"];
    let [first, mut second, third] = together(&scratch, &arguments);
    second.kill().unwrap();
    _ = said(second);
    let (code, text) = said(first);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("is gone"), "{text}");
    let (code, text) = said(third);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.starts_with("process 2 stops: process ") && text.contains(" is gone"), "{text}");
}

/// Who is there, but says nothing any more, is gone after a while.
#[test]
fn a_process_that_is_silent_ends_the_others() {
    let scratch = Scratch::new();
    // It holds, and there are more states than can be searched while the test runs.
    let formula = ["--ltl", "[] !(Phil[0]@eat && Phil[1]@eat)", "--reduce", "none"];
    let arguments =
        [&["check", "models/dining.proc", "-D", "N=17", "--silence", "2s"], &formula[..]].concat();
    let [first, mut second, third] = together(&scratch, &arguments);
    let signal = |signal: &str| {
        let kill = std::process::Command::new("kill").args([signal, &second.id().to_string()]).status();
        kill.is_ok_and(|status| status.success())
    };
    // Any system on which the tests run has this command.
    assert!(signal("-STOP"));
    for (child, nth) in [(first, 0), (third, 2)] {
        let (code, text) = said(child);
        assert_eq!(code, Some(3), "process {nth}: {text}");
        assert!(text.contains("is gone"), "process {nth}: {text}");
    }
    assert!(signal("-CONT"));
    second.kill().unwrap();
    _ = said(second);
}

/// How often searches are killed; more in a hunt.
fn n_kills() -> u64 {
    let factor = std::env::var("STUBBORN_CASES").ok().and_then(|text| text.parse().ok());
    4 * factor.unwrap_or(1_u64)
}

/// A search that is killed at any moment goes on with what it has kept, with other processes or threads, and comes to the same.
#[test]
fn a_search_that_is_killed_goes_on() {
    let commands: [&[&str]; 2] = [
        &["explore", "models/dining.proc", "-D", "N=8"],
        &[
            "check",
            "models/dining.proc",
            "-D",
            "N=6",
            "--ltl",
            "[] <> Phil[0]@eat",
            "--fair",
            "strong:Phil[*]",
            "--deadlock-free",
            "--reduce",
            "none",
        ],
    ];
    let who: [&[&str]; 3] = [&["--local-processes", "2"], &["--threads", "1"], &["--threads", "2"]];
    let seed = std::env::var("STUBBORN_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1993);
    let mut random = fastrand::Rng::with_seed(seed);
    let alone = commands.map(|command| run(&[command, &["--json", "--quiet", "--threads", "1"]].concat()));
    for kill in 0..n_kills() {
        let scratch = Scratch::new();
        let folder = &scratch.path("kept").to_string_lossy().into_owned();
        let index = kill as usize % 2;
        let command = [commands[index], &["--json", "--quiet"]].concat();
        let [first, then] = [kill as usize % 3, (kill as usize + 1) % 3].map(|index| who[index]);
        let keeping = [&command[..], first, &["--checkpoint", folder, "--checkpoint-every", "0s"]].concat();
        let mut child =
            stubborn().args(&keeping).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let list = std::path::Path::new(folder).join("checkpoint");
        // Some have kept nothing yet; of the others, some are over.
        while kill % 4 > 0 && !list.exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(random.u64(0..400)));
        child.kill().unwrap();
        child.wait().unwrap();
        // Those that it started notice.
        std::thread::sleep(Duration::from_millis(300));
        let resumed = run(&[&command[..], then, &["--resume", folder]].concat());
        if !list.exists() {
            assert_eq!(resumed.status.code(), Some(2), "{resumed:?}");
            continue;
        }
        assert_eq!(resumed.status.code(), alone[index].status.code(), "{command:?} {resumed:?}");
        match index {
            0 => assert_eq!(document(&alone[0]), document(&resumed)),
            _ => assert_eq!(names(&alone[1]), names(&resumed)),
        }
    }
}

/// What is violated, and what is not.
fn names(output: &Output) -> Vec<(Value, Value)> {
    let told = |result: Value| (result["name"].clone(), result["verdict"].clone());
    verdicts(output).into_iter().map(told).collect()
}

/// A search that a limit has ended goes on, too; and what does not fit is refused.
#[test]
fn a_search_that_a_limit_ended_goes_on() {
    let scratch = Scratch::new();
    let folder = &scratch.path("kept").to_string_lossy().into_owned();
    let command = ["explore", "models/dining.proc", "-D", "N=8", "--json", "--quiet"];
    let limited = run(&[&command[..], &["--checkpoint", folder, "--max-states", "3000"]].concat());
    assert_eq!(limited.status.code(), Some(3), "{limited:?}");
    let refused = |arguments: &[&str], why: &str| {
        let output = run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(why), "{text}");
    };
    refused(&[&command[..], &["--checkpoint", folder]].concat(), "--resume");
    refused(
        &["explore", "models/dining.proc", "-D", "N=7", "--resume", folder],
        "is of something else: `model: ",
    );
    refused(&["explore", "models/dining.proc", "--resume", "/no/such/folder"], "there is no checkpoint");
    let alone = run(&[&command[..], &["--threads", "1"]].concat());
    for more in [&["--local-processes", "3"][..], &["--threads", "1"]] {
        let resumed = run(&[&command[..], more, &["--resume", folder]].concat());
        assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
        assert_eq!(document(&alone), document(&resumed), "{more:?}");
    }
    let list = std::path::Path::new(folder).join("checkpoint");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, &text[..text.len() / 2]).unwrap();
    refused(&[&command[..], &["--resume", folder]].concat(), "is damaged");
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
        (
            &[
                "check",
                "models/dining.proc",
                "--property",
                "fed",
                "--local-processes",
                "1",
                "--store",
                "bitstate",
            ],
            "--store exact",
        ),
        (&["explore", "models/dining.proc", "--local-processes", "1", "--aut", "-"], "exports"),
    ];
    for (arguments, expected) in cases {
        let output = stubborn().args(*arguments).env("STUBBORN_SECRET", SECRET).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
