//! What was planted in testers, in code and in claims.

use stubborn::report::why::Because;
use stubborn::{Options, Question, Session, Verdict};

use super::{APART, LAMP, PAIR, SEMAPHORE, SWITCH, constant, happens, removable, taken, there, why};

/// What is said of a declared property of a model, which holds.
fn declared(language: &str, model: &str, name: &str, fair: &[&str]) -> Vec<Because> {
    let mut session = Session::of_text(language, model).expect("a good model");
    let fair = fair.iter().map(|text| text.parse().expect("good fairness")).collect();
    let options = Options { why: true, fair, ..Options::default() };
    let report = session.check(&[Question::property(name)], &options).expect("a good question");
    assert_eq!(report.results[0].verdict, Verdict::Holds, "{name} of {model}: {report}");
    report.results[0].why.clone().expect("it was asked")
}

/// The lamp that never breaks, the pair, and testers of both.
const TESTERS: &str = "
    process Lamp { off: press -> on; on: press -> off; broken: mend -> off; }
    tester Twice { watch ask, answer; t0: ask -> t1; t1: answer -> t0 | ask -> t2; t2: ask -> bad; bad: ; reject bad; }
    tester Mends { watch mend; m0: mend -> m1; m1: mend -> bad; bad: ; reject bad; }
    tester Waits { watch ask, answer; calm: ask -> waiting; waiting: answer -> calm; livelock waiting; }";

#[test]
fn what_was_planted_in_testers_is_told() {
    let model = format!("{PAIR} {TESTERS}");
    let twice = declared("process", &model, "Twice", &[]);
    assert_eq!(twice, [there("t2"), removable("Lamp")], "what the lamp never does is no matter");
    let mends = declared("process", &model, "Mends", &[]);
    for expected in [happens("mend"), there("m1"), taken("Lamp", "broken"), removable("Client")] {
        assert!(mends.contains(&expected), "{mends:?} lacks {expected:?}");
    }
    let waits = declared("process", &model, "Waits", &["weak"]);
    let to = |who: &str| Because::UnneededFairnessTo { to: who.to_owned() };
    assert!(waits.contains(&to("Lamp")), "{waits:?}");
    let fair = declared(
        "process",
        &model.replace(
            "process Lamp { off: press -> on; on: press -> off;",
            "process Lamp { off: press -> on; on: ;",
        ),
        "Waits",
        &["weak"],
    );
    assert!(fair.contains(&Because::FairnessUnneeded), "{fair:?}");
}

#[test]
fn sound_testers_are_left_alone() {
    let alternates = "tester Alternates { watch ask, answer; s0: ask -> s1 | answer -> bad; s1: answer -> s0 | ask -> bad; bad: ; reject bad; }";
    let waits = "tester Waits { watch ask, answer; calm: ask -> waiting; waiting: answer -> calm; deadlock waiting; livelock waiting; }";
    let turns = "tester Turns { watch take[0], take[1], give[0], give[1];
        free: take[0] -> zero | take[1] -> one; zero: give[0] -> free | take[1] -> bad;
        one: give[1] -> free | take[0] -> bad; bad: ; reject bad; }";
    for (model, tester, name) in
        [(PAIR, alternates, "Alternates"), (PAIR, waits, "Waits"), (SEMAPHORE, turns, "Turns")]
    {
        assert_eq!(declared("process", &format!("{model} {tester}"), name, &[]), [], "{name}");
    }
}

#[test]
fn what_was_planted_in_code_is_told() {
    let lamp = why(LAMP, &Question::ltl("[] <> Lamp@on"), &[]);
    assert_eq!(lamp, [happens("mend"), taken("Lamp", "broken")]);
    let states = why(LAMP, &Question::DeadlockFree, &[]);
    assert_eq!(states, [happens("mend"), taken("Lamp", "broken")]);
    let beside = format!("{LAMP} process Other {{ a: go -> b; b: go -> a; }}");
    let other = why(&beside, &Question::invariant("Other@a || Other@b"), &[]);
    assert_eq!(other, [removable("Lamp")], "what another process never does is no matter");
    let pml = "byte x; byte y;
        active proctype P() { do :: x < 2 -> x++ :: x > 5 -> x = 0 :: x == 2 -> x = 1 od }
        active proctype Q() { do :: y == 0 -> y = 1 :: y == 1 -> y = 0 :: y > 7 -> y = 0 od }
        ltl low { [] (x < 3) }";
    let low = declared("promela", pml, "low", &[]);
    let told = |line: &str| {
        let is_it =
            |because: &&Because| matches!(because, Because::NeverHappens { what } if what.contains(line));
        low.iter().filter(is_it).count()
    };
    assert!(told("line 2") == 2 && told("line 3") == 0, "{low:?}");
    let pardoned = pml.replace(":: x > 5 -> x = 0", "");
    let sound = declared("promela", &pardoned, "low", &[]);
    assert!(sound.iter().all(|because| matches!(because, Because::Removable { .. })), "{sound:?}");
}

#[test]
fn what_was_planted_in_claims_is_told() {
    let path = std::env::temp_dir().join(format!("stubborn-why-{}.hoa", std::process::id()));
    let claim = |model: &str, proposition: &str, body: &str, fair: &[&str]| {
        let head = format!(
            "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"{proposition}\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n"
        );
        std::fs::write(&path, format!("{head}--BODY--\nState: 0\n[t] 0\n{body}--END--\n")).expect("a file");
        why(model, &Question::ClaimFile(path.clone()), fair)
    };
    let stays = "[!0] 1\nState: 1 {0}\n[!0] 1\n";
    let apart = claim(APART, "P@a", stays, &["weak"]);
    let to = Because::UnneededFairnessTo { to: "Q".to_owned() };
    assert!(apart.contains(&to) && apart.contains(&removable("Q")), "{apart:?}");
    assert_eq!(claim(SWITCH, "Lamp@on", stays, &["weak"]), [Because::FairnessUnneeded]);
    assert_eq!(claim(SWITCH, "Lamp@on", stays, &[]), []);
    let again = "[0] 1\nState: 1 {0}\n[0] 1\n";
    let broken = claim(LAMP, "Lamp@broken", again, &[]);
    assert!(broken.contains(&constant("Lamp@broken", false)), "{broken:?}");
    _ = std::fs::remove_file(&path);
}
