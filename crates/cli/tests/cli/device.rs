//! `--device` and `stubborn devices`, wherever there is no graphics processor. What devices find is tested in `crates/testing`.

use crate::run;

/// Whether this machine has a card, so that other things are said.
#[allow(clippy::print_stderr)] // What is skipped is said.
fn has_card() -> bool {
    let listed = run("devices");
    assert_eq!(listed.code, 0);
    let has_card = !listed.stdout.starts_with("no graphics processor can be used: ");
    if has_card {
        eprintln!("skipped: there is a graphics processor");
    }
    has_card
}

#[test]
fn without_a_card_there_is_one_sentence() {
    if has_card() {
        return;
    }
    for command in ["explore models/dining.proc", "check models/dining.proc"] {
        for device in ["gpu", "gpu:1"] {
            let finished = run(&format!("{command} --device {device}"));
            assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{}", finished.stderr);
            assert!(finished.stderr.starts_with("error[no-device]: "), "{}", finished.stderr);
            assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{}", finished.stderr);
        }
    }
}

#[test]
fn without_a_card_auto_is_the_processor() {
    if has_card() {
        return;
    }
    let strip = |text: &str| -> Vec<String> {
        // Times differ.
        text.lines().filter(|line| !line.contains(" s")).map(str::to_owned).collect()
    };
    for command in ["explore models/dining.proc -D N=5", "check models/peterson.proc"] {
        let (plain, auto) = (run(command), run(&format!("{command} --device auto")));
        assert_eq!((plain.code, strip(&plain.stdout)), (auto.code, strip(&auto.stdout)));
        assert_eq!(run(&format!("{command} --device cpu")).code, plain.code);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (arguments, what) in [
        ("check models/dining.proc --device tpu", "expected cpu, gpu, gpu:1 or auto"),
        ("check models/dining.proc --device gpu --store bitstate", "keeps states exactly"),
        ("explore models/dining.proc --device gpu --order dfs", "breadth first"),
        ("explore models/dining.proc --device gpu --local-processes 2", "cannot be used with"),
    ] {
        let finished = run(arguments);
        assert_eq!(finished.code, 2, "{arguments}");
        assert!(finished.stderr.contains(what), "{arguments}: {}", finished.stderr);
    }
}

#[test]
fn devices_tell_about_a_model() {
    let finished = run("devices models/dining.proc -D N=20");
    assert_eq!(finished.code, 0);
    assert!(finished.stdout.contains("models/dining.proc: a state takes 8 bytes"), "{}", finished.stdout);
    let wide = run("devices models/dining.proc -D N=300");
    assert!(wide.stdout.contains("cannot be searched on a device: a state takes"), "{}", wide.stdout);
    assert_eq!(run("devices models/nothing.proc").code, 2);
}
