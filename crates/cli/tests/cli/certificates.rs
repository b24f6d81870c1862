//! Certificates through the command: written, checked, refused, and said not to be there.

use crate::{Finished, Scratch, pnml, run, run_with};

/// How many properties hold, how many have a certificate, and what the checker says.
fn certified(scratch: &Scratch, model: &str, more: &[&str]) -> (usize, usize, Finished) {
    let path = scratch.path("proof.scert").display().to_string();
    let arguments = ["check", "--quiet"].into_iter().chain(model.split_whitespace());
    let checked = run_with(arguments.chain(["--certificate", &path]).chain(more.iter().copied()));
    let is_told = |word: &str| checked.stdout.lines().filter(|line| line.contains(word)).count();
    let file = model.split_whitespace().next().unwrap_or(model);
    (is_told(": holds"), is_told("certificate: "), run_with(["certify", file, &path]))
}

#[test]
fn what_holds_of_models_of_all_languages_is_certified() {
    let scratch = Scratch::new();
    // Places have too little room at first: the model is made larger while it is searched.
    let net = pnml(
        &[("here", 0), ("there", 2000)],
        &["come", "go"],
        &[("there", "come", 1), ("come", "here", 1), ("here", "go", 1), ("go", "there", 1)],
    );
    let net = scratch.file("net.pnml", net);
    let models = [
        ("models/peterson.proc", &[][..], 4),
        ("models/peterson.proc", &["--fair", "weak", "--property", "again"][..], 1),
        ("models/semaphore.proc -D N=2", &["--property", "served"][..], 1),
        ("models/peterson.proc", &["--fair", "just", "--ltl", "[] <> Peer[0]@critical"][..], 1),
        ("models/peterson.pml", &[][..], 1),
        ("models/leader.pml", &[][..], 1),
        // Without steps that wait there would be 4^40 states.
        ("models/counters.proc -D N=40", &["--deadlock-free"][..], 1),
        (
            "models/counters.proc -D N=40",
            &["--ltl", "[] <> Counter[0]@at[0] || <> [] !Counter[0]@at[0]"][..],
            1,
        ),
        (&net, &["--ltl", "[] (here == 7 -> X here != 7)", "--deadlock-free"][..], 2),
    ];
    for (model, more, at_least) in models {
        let (holds, written, judged) = certified(&scratch, model, more);
        assert!(
            holds >= at_least && written == holds,
            "{model} {more:?}: {holds} hold, {written} certificates"
        );
        if written > 0 {
            assert_eq!(judged.code, 0, "{model} {more:?}: {}", judged.stdout);
            assert_eq!(judged.stdout.lines().filter(|line| line.contains(": certified (")).count(), written);
        }
    }
}

#[test]
fn another_model_or_a_damaged_file_is_refused() {
    let scratch = Scratch::new();
    let (_, _, judged) = certified(&scratch, "models/dining_asymmetric.proc", &[]);
    assert_eq!(judged.code, 0, "{}", judged.stdout);
    let path = scratch.path("proof.scert");
    let other = run(&format!("certify models/dining.proc {} --json", path.display()));
    assert_eq!(other.code, 1);
    assert_eq!(other.json()["results"][0]["verdict"], "refused");
    let mut bytes = std::fs::read(&path).expect("it was written");
    bytes.pop();
    std::fs::write(&path, &bytes).expect("a scratch file");
    let cut = run(&format!("certify models/dining_asymmetric.proc {}", path.display()));
    assert!(cut.code == 2 && cut.stderr.contains("cut off"), "{}", cut.stderr);
    let limited = run(&format!("certify models/peterson.proc {}", scratch.path("nothing").display()));
    assert_eq!(limited.code, 2);
}

#[test]
fn what_cannot_be_certified_is_said() {
    let scratch = Scratch::new();
    let path = scratch.path("proof.scert").display().to_string();
    let tester = run_with(["check", "models/vending.proc", "--certificate", &path]);
    let not = tester
        .stdout
        .lines()
        .filter(|line| line.contains("not certified: there are no certificates for testers"));
    assert!(not.count() > 0, "{}", tester.stdout);
    let scratch = Scratch::new();
    let path = scratch.path("proof.scert").display().to_string();
    let limited = format!("check models/counters.proc {UNDER_FAIRNESS} --max-states 500 --certificate");
    let limited = limited.split(' ').chain([path.as_str()]);
    let limited = run_with(limited);
    assert!(!limited.stdout.contains("certificate: "), "{}", limited.stdout);
    assert!(limited.stdout.contains("not certified: limit of 500 states"), "{}", limited.stdout);
    assert_eq!(limited.code, 3, "there should be a certificate");
    assert_eq!(scratch.listing(), Vec::<String>::new());
}

/// No word violates the formula, but under fairness a certificate of that has all states.
const UNDER_FAIRNESS: &str = "--ltl []<>Counter[0]@at[0]||<>[]!Counter[0]@at[0] --fair weak";

/// Ctrl-C while a certificate is made leaves no part of one, and what was there before; and it is told.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_certificate_leaves_nothing() {
    let scratch = Scratch::new();
    let path = scratch.file("proof.scert", "");
    let arguments = format!("check models/counters.proc -D N=8 {UNDER_FAIRNESS} --certificate {path}");
    let mut pauses = (0..14).map(|exponent| std::time::Duration::from_millis(1 << exponent));
    let interrupted = pauses.find_map(|pause| {
        std::fs::write(&path, "what was there before").expect("a scratch file");
        let finished = crate::terminal::interrupted_after(pause, &arguments);
        let is_meant = finished.stdout.contains("; not certified: interrupted)");
        assert!(matches!(finished.code, 0 | 3), "{}", finished.stderr);
        is_meant.then_some(finished)
    });
    let interrupted = interrupted.expect("some pause is right");
    assert_eq!(interrupted.code, 3);
    assert!(interrupted.stderr.ends_with("no certificate was written\n"), "{}", interrupted.stderr);
    assert_eq!(scratch.listing(), ["proof.scert"]);
    assert_eq!(std::fs::read(&path).expect("it is there"), b"what was there before");
}
