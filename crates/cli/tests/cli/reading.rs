//! Where models come from, and what is done to them before a search.

use crate::{Scratch, run, run_with, run_with_input};

const COUNTER: &str =
    "byte x, unread; active proctype P() { do :: x < 5 -> x++; unread++ :: x == 5 -> x = 0 od }";

#[test]
fn models_come_from_the_standard_input_and_languages_have_names() {
    let counted = run_with_input("explore - --static none", COUNTER.as_bytes());
    assert_eq!((counted.code, counted.stderr.as_str()), (0, ""));
    // Nothing in it tells its language.
    let net = "process P { s: a -> s; }";
    let unknown = run_with_input("explore -", net.as_bytes());
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("cannot tell the language"), "{}", unknown.stderr);
    assert_eq!(run_with_input("explore - --language process", net.as_bytes()).code, 0);
    let wrong = run_with_input("explore - --language proces", net.as_bytes());
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean `process`?"), "{}", wrong.stderr);
}

#[test]
fn files_of_any_name_are_read_and_included_from_other_folders() {
    let scratch = Scratch::new();
    let folder = scratch.path("headers");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("sizes.h"), "#define N 3\n").unwrap();
    for name in ["m.prm", "m.pr", "m.spin", "m"] {
        let file = scratch.file(name, "#include \"sizes.h\"\nbyte x;\nactive [N] proctype P() { x++ }\n");
        let missing = run(&format!("explore {file}"));
        assert_eq!(missing.code, 2, "{name}");
        let found = run(&format!("explore {file} -I {} --json", folder.display()));
        assert_eq!(found.json()["model"]["processes"], 3, "{name}");
    }
}

#[test]
fn a_broken_safety_formula_is_shown_by_a_bad_prefix_and_cycles_are_short() {
    let scratch = Scratch::new();
    let file = scratch.file("counter.pml", COUNTER);
    let check = |formula: &str| run_with(["check", &file, "--json", "--ltl", formula]).result();
    let safety = check("[] (x < 3)");
    let shown = &safety["counterexample"];
    assert_eq!((&safety["verdict"], &shown["kind"]), (&"violated".into(), &"prefix".into()));
    let last = shown["prefix"].as_array().and_then(|steps| steps.last()).unwrap();
    assert_eq!(last["state"]["x"], 3, "no further than needed");
    let liveness = check("<> [] (x < 3)");
    assert_eq!(liveness["counterexample"]["kind"], "lasso");
}

const UNREAD: &str = "
chan c = [3] of { byte, byte };
byte got;
active proctype S() { byte i, j; do :: c!i,j; i = (i + 1) % 3; j = (j + 2) % 5 od }
active proctype R() { byte n, v; do :: c?n,v; if :: n == 0 -> got = 1 :: else -> got = 0 fi od }
";

#[test]
fn rules_are_switched_off_by_name_and_counts_are_those_of_the_model() {
    let scratch = Scratch::new();
    let file = scratch.file("counter.pml", COUNTER);
    let states = |arguments: &str| {
        run(&format!("explore {file} --json {arguments}")).json()["states"].as_u64().unwrap()
    };
    assert_eq!(states(""), states("--static none"));
    assert!(states("--static unread-variables") * 20 < states(""));
    assert!(states("--static all") <= states("--static all,-merged-steps"));
    // The second field of a message is read by nobody. It goes as a whole, or what was received would stay in the channel.
    let file = scratch.file("unread.pml", UNREAD);
    let states = |arguments: &str| {
        run(&format!("explore {file} --json {arguments}")).json()["states"].as_u64().unwrap()
    };
    assert!(states("--static unread-variables") < states(""));
    assert!(states("--static all") < states("--static dead-variables"));
    let wrong = run(&format!("check {file} --static dead-variable"));
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean `dead-variables`?"), "{}", wrong.stderr);
}
